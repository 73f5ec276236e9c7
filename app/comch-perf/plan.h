/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PLAN_H
#define PLAN_H

/**
 * @file
 * The rows to measure, made from the command line or a sweep file: each is a
 * test with all its parameters.
 */

#include "engine/run.h"
#include "options.h"

/** One row. */
struct plan_row {
	const struct perf_test *test;
	struct perf_params params;
};

/** All rows. */
struct plan {
	struct plan_row *rows;
	uint32_t nb_rows;
	uint32_t capacity;
	bool by_default; /**< No TEST was named: to be done in under a minute. */
	enum perf_place place; /**< What the most demanding row needs. */
};

/**
 * Make the plan; complains on stderr.
 *
 * @return
 *   0 or -EINVAL.
 */
int plan_make(struct plan *plan, const struct options *opts);

/** Add the rows of one test. Used by sweeps. @return 0 or -EINVAL. */
int plan_add(struct plan *plan, const struct perf_test *test,
		const struct options *opts);

/** Give its memory back. */
void plan_free(struct plan *plan);

/** Threads that one side needs for a run: the host's or the DPU's. */
uint32_t plan_workers(const struct perf_params *params, bool host);

/** Most threads that a side needs for any row. */
uint32_t plan_max_workers(const struct plan *plan, bool host);

/** Does any row receive into EAL memory? */
bool plan_shares_eal(const struct plan *plan);

/** EAL memory that a side needs for any row, MiB. */
uint32_t plan_eal_mem(const struct plan *plan);

#endif /* PLAN_H */
