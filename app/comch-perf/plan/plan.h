/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PLAN_H
#define PLAN_H

/**
 * @file
 * The tests, and the rows to measure, made from the command line or a sweep
 * file: each is a test with all its parameters.
 */

#include "engine/run.h"
#include "plan/options.h"

/** The test behind *test* in the table's order, the first for NULL; or NULL. */
const struct perf_test *tests_next(const struct perf_test *test);

/** Find a test by name, or NULL. */
const struct perf_test *tests_find(const char *name);

/** One row. */
struct plan_row {
	const struct perf_test *test;
	struct perf_params params;
};

/** All rows, and what the most demanding of them needs. */
struct plan {
	struct plan_row *rows;
	uint32_t nb_rows;
	uint32_t capacity;
	bool by_default;       /**< No TEST was named: to be done in under a minute. */
	enum perf_place place;
	uint32_t workers[2];   /**< Threads of the DPU side and of the host side. */
	uint32_t eal_mb;       /**< EAL memory of a side, MiB. */
	bool shares_eal;       /**< EAL memory is received into. */
};

/** Make the plan; complains on stderr. @return 0 or -EINVAL */
int plan_make(struct plan *plan, const struct options *opts);

/** Add the rows of one test. Used by sweeps. @return 0 or -EINVAL */
int plan_add(struct plan *plan, const struct perf_test *test, const struct options *opts);

/** Threads that one side needs for a run: the host's or the DPU's. */
uint32_t plan_workers(const struct perf_params *params, bool host);

/**
 * Add the rows of a sweep file. A section names a test, its keys are options
 * without dashes, and comma lists multiply:
 *
 *     [data-rate]
 *     size  = 64,256
 *     burst = 1,8,32
 *     api   = desc,mbuf
 *
 * makes twelve rows. What the command line says counts for all sections,
 * unless a section says otherwise.
 *
 * @return 0 or -EINVAL, having complained on stderr
 */
int sweep_load(struct plan *plan, const struct options *opts);

#endif /* PLAN_H */
