/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_NATIVE_H
#define API_NATIVE_H

/**
 * @file
 * Polls, producers and consumers of librte_comch, shared by the backends for
 * descriptors, mbufs and MsgQs.
 */

#include <rte_comch_dp.h>
#include <rte_comch_stats.h>

#include "engine/data.h"

struct native_poll {
	struct link_poll base;
	struct rte_comch_poll *poll;
	struct link *link; /**< NULL: ignore events, the object states suffice. */
};

static inline struct rte_comch_poll *
native_poll(struct link_poll *poll)
{
	return ((struct native_poll *)poll)->poll;
}

struct ends_tx {
	struct data_tx base;
	struct rte_comch_producer *producer;
};

struct ends_rx {
	struct data_rx base;
	struct rte_comch_consumer *consumer;
};

/** Create and start. @return 0 or perf_run_fail() */
int ends_tx_open(struct perf_run *run, struct data_tx *tx);
int ends_rx_open(struct perf_run *run, struct data_rx *rx, struct rte_comch_mr *mr);

/** @name Callbacks of struct data_ops
 * @{
 */
bool ends_rx_running(struct data_rx *rx);
bool ends_tx_stop(struct data_tx *tx);
bool ends_rx_stop(struct data_rx *rx);
void ends_tx_stats(struct data_tx *tx, struct perf_result *r);
void ends_rx_stats(struct data_rx *rx, struct perf_result *r);
/** @} */

/** Add the library's statistics of a producer to the result. */
static inline void
ends_count(struct data_tx *tx, const struct rte_comch_producer_stats *stats,
		struct perf_result *r)
{
	r->copies += stats->copies;
	r->copied_msgs += stats->msgs;
	/* Only the statistics count failures of silent operations. */
	tx->failed = RTE_MAX(tx->failed, stats->errors);
}

#endif /* API_NATIVE_H */
