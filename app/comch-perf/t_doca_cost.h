/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_DOCA_COST_H
#define T_DOCA_COST_H

/**
 * @file
 * The two halves of the test doca-cost: by DOCA's calls, and by librte_comch's.
 */

#include "perf_test.h"

/** Messages of a burst, and their size. */
#define COST_BURST 32
#define COST_SIZE  64

/** Time calls of *once*, which says how many things it has done. */
void cost_measure(struct perf_run *run, uint32_t (*once)(void *arg), void *arg);

/** Bursts of descriptors; a failure is that of the run. */
void cost_native(struct perf_run *run);

#endif /* T_DOCA_COST_H */
