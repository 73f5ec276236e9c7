/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TRIAL_H
#define TRIAL_H

/*
 * Lives in which more and more works: in the first one the first thing fails, in the last one
 * nothing. A life whose step fails is brought down in order, a further one in the same process
 * works, and nothing is left over: descriptors, mappings, memory.
 *
 * Each life has a fresh process, forked before the library has started its threads, so
 * that what is done once per process fails, too.
 */

#include <limits.h>

#include "life.h"

/** The number of a life in which nothing fails. */
#define TRIAL_NONE UINT_MAX

struct trial {
	int (*run)(const struct life_conf *conf, const char **step);
	struct life_conf life;
	/* From here on the nth life's calls fail. */
	void (*begin)(const struct trial *t, unsigned int n);
	/* No more. Has any failed, given the result of the life? */
	bool (*end)(const struct trial *t, int ret);
	/* What it was; the parent of the life asks, too. */
	const char *(*text)(void);
	unsigned int kinds; /**< Of begin(): of calls. */
	bool from;          /**< Of begin(): all from the nth on. */
};

/* All lives of it. EAL runs, and the driver is chosen. */
void trial_run(const struct trial *t);

#endif /* TRIAL_H */
