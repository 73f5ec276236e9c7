/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RUNS_H
#define RUNS_H

/*
 * No run of a victim's poll may block: wall clock without the wait for a CPU. How short the runs
 * are is not tested here, devtools/siege.sh measures it: a loaded machine takes the CPU away
 * in ways that no counter shows.
 */

#include "t_node.h"

#define RUNS_MAX_MS (1000 * t_patience())

struct runs {
	uint64_t longest; /* ns */
};

static inline void
runs_note(struct runs *r, uint64_t ns)
{
	r->longest = RTE_MAX(r->longest, ns);
}

/* One run of a poll. */
static inline void
runs_step(struct runs *r, struct t_node *node)
{
	uint64_t ns = t_own_ns();

	t_step(node);
	runs_note(r, t_own_since(ns));
}

static inline void
runs_check(const struct runs *r)
{
	if (r->longest > RUNS_MAX_MS * UINT64_C(1000000))
		T_FAIL("the longest run of the victim took %u us",
			(unsigned int)(r->longest / 1000));
}

#endif /* RUNS_H */
