/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LIFE_H
#define LIFE_H

/*
 * A whole life of a channel, both ends in this process, while any call of the library may
 * fail: a step that fails returns an error or ends the connection with an event, the rest is
 * left out, and what exists is brought down in order.
 */

#include "t_pair.h"

/** What a life consists of. */
struct life_conf {
	enum rte_comch_mem_kind kind; /**< Of the consumers' memory. */
	bool mbufs;                   /**< Send mbufs, too. */
	bool sleeps;                  /**< Wait on the descriptors of the polls. */
	bool misleads;                /**< A peer's good descriptor may look like a bad one. */
	/** Does a step give up that takes long? NULL: one that hangs fails the test. */
	bool (*gives_up)(void);
};

/* Live one life. Returns 0, or the error of the step that failed; *step is its text. */
int life_run(const struct life_conf *conf, const char **step);

#endif /* LIFE_H */
