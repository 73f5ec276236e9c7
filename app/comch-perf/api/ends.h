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

/** Create and start; 0 or perf_run_fail(). */
int ends_producer_open(struct perf_run *run, struct data_tx *tx, struct rte_comch_producer **p);
int ends_consumer_open(struct perf_run *run, struct data_rx *rx, struct rte_comch_mr *mr,
		struct rte_comch_consumer **c);

/** Stop it if it is RUNNING. @return is it IDLE? */
bool ends_producer_stop(struct rte_comch_producer *p);
bool ends_consumer_stop(struct rte_comch_consumer *c);

/** Add what the library has counted. */
void ends_producer_stats(const struct data_tx *tx, const struct rte_comch_producer *p,
		struct perf_result *r);
void ends_consumer_stats(const struct rte_comch_consumer *c, struct perf_result *r);

#endif /* API_ENDS_H */
