/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PLAN_H
#define PLAN_H

/**
 * @file
 * The tests, and the plan: the rows to measure, from the command line or a sweep
 * file. A row is a test with all its parameters.
 */

#include "engine/run.h"
#include "plan/options.h"

/** The test after *test* in the table; NULL: the first. @return NULL at the end */
const struct perf_test *tests_next(const struct perf_test *test);

/** Find a test by name. @return the test, or NULL */
const struct perf_test *tests_find(const char *name);

/** A row to measure. */
struct plan_row {
	const struct perf_test *test;
	struct perf_params params;
};

/** All rows, and the maximum that they need. */
struct plan {
	struct plan_row *rows;
	uint32_t nb_rows;
	uint32_t capacity;
	bool by_default;       /**< No TEST given: must take less than a minute. */
	enum perf_place place;
	uint32_t workers[2];   /**< Threads of the DPU side [0] and the host side [1]. */
	uint32_t eal_mb;       /**< EAL memory of a side, MiB. */
	bool shares_eal;       /**< Receive buffers are in EAL memory. */
};

/** Make the plan. @return 0, or -EINVAL with the reason on stderr */
int plan_make(struct plan *plan, const struct options *opts);

/** Add the rows of one test, for sweeps. @return 0, or -EINVAL with the reason on stderr */
int plan_add(struct plan *plan, const struct perf_test *test, const struct options *opts);

/** Number of threads that a side needs for a run. */
uint32_t plan_workers(const struct perf_params *params, bool host);

/**
 * Add the rows of a sweep file. A section names a test; its keys are options
 * without dashes; comma lists multiply:
 *
 *     [data-rate]
 *     size  = 64,256
 *     burst = 1,8,32
 *     api   = desc,mbuf
 *
 * makes twelve rows. Options of the command line apply to all sections; a section
 * overrides them.
 *
 * @return 0, or -EINVAL with the reason on stderr
 */
int sweep_load(struct plan *plan, const struct options *opts);

/** Add the rows of --plot without tests. */
int sweep_pictures(struct plan *plan, const struct options *opts);

#endif /* PLAN_H */
