/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SIDE_H
#define SIDE_H

/**
 * @file
 * One side: its EAL, its device, the session, and what it does in it. The
 * host side leads; the DPU side follows.
 */

#include "eal.h"
#include "plan.h"
#include "engine/sync.h"

/** What a side is made of. */
struct side {
	const struct options *opts;
	const struct plan *plan;
	bool host;
	const char *dir;            /**< Private directory; NULL: none. */
	struct eal_setup eal;
	/* While it runs: */
	int16_t dev_id;
	struct rte_comch_dev_info info;
	struct sync_hello hello;
	struct sync *sync;          /**< NULL: nothing needs the other side. */
};

/** Run a side from beginning to end. @return the exit status of its process */
int side_run(struct side *side);

/** Be the leader: measure all rows of the plan. @return exit status */
int lead_all(struct side *side);

/** The prefix of a run on this side; the caller fills in the rest. */
void side_run_init(const struct side *side, struct perf_run *run,
		const struct perf_test *test, const struct perf_params *params);

#endif /* SIDE_H */
