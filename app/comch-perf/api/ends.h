/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_ENDS_H
#define API_ENDS_H

/**
 * @file
 * Producers and consumers of librte_comch, which descriptors and mbufs share.
 */

#include <rte_comch_dp.h>

#include "engine/data.h"

struct ends_tx {
	struct data_tx base;
	struct rte_comch_producer *producer;
};

struct ends_rx {
	struct data_rx base;
	struct rte_comch_consumer *consumer;
};

static inline struct ends_tx *
ends_tx(struct data_tx *tx)
{
	return container_of(tx, struct ends_tx, base);
}

static inline struct ends_rx *
ends_rx(struct data_rx *rx)
{
	return container_of(rx, struct ends_rx, base);
}

/** Create and start; 0 or perf_run_fail(). */
int ends_tx_open(struct perf_run *run, struct data_tx *tx);
int ends_rx_open(struct perf_run *run, struct data_rx *rx, struct rte_comch_mr *mr);

/** @name Those of struct data_ops
 * @{
 */
bool ends_rx_running(struct data_rx *rx);
uint32_t ends_rx_id(struct data_rx *rx);
bool ends_tx_stop(struct data_tx *tx);
bool ends_rx_stop(struct data_rx *rx);
void ends_tx_stats(struct data_tx *tx, struct perf_result *r);
void ends_rx_stats(struct data_rx *rx, struct perf_result *r);
/** @} */

#endif /* API_ENDS_H */
