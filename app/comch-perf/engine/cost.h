/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_COST_H
#define ENGINE_COST_H

/**
 * @file
 * The rows of doca-cost.
 */

/** Messages of a burst. */
#define COST_BURST_LEN 32

/** What is timed: perf_params.kind of this test. */
enum cost_kind {
	COST_IDLE,  /**< A progress call that has nothing to do. */
	COST_BURST, /**< A message of a burst, sent and received. */
	COST_SEND,  /**< One message, from the submit to the callback. */
};

#endif /* ENGINE_COST_H */
