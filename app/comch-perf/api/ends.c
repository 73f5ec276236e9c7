/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <string.h>

#include <rte_comch_stats.h>
#include <rte_errno.h>

#include "api/ends.h"
#include "api/native.h"

int
ends_rx_open(struct perf_run *run, struct data_rx *rx, struct rte_comch_mr *mr)
{
	struct rte_comch_consumer **c = &ends_rx(rx)->consumer;
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = native_poll(rx->worker->poll),
		.queue_size = run->params.queue,
		.imm_size = run->params.imm,
		.mrs = &mr,
		.nb_mrs = mr != NULL,
	};
	int rc;

	*c = rte_comch_consumer_create(rx->conn, &conf);
	if (*c == NULL)
		return perf_run_fail(run, "no consumer: %s", rte_strerror(rte_errno));
	rc = rte_comch_consumer_start(*c);
	return rc == -EINPROGRESS ? 0 :
		perf_run_fail(run, "a consumer does not start: %s", strerror(-rc));
}

int
ends_tx_open(struct perf_run *run, struct data_tx *tx)
{
	struct rte_comch_producer **p = &ends_tx(tx)->producer;
	struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = native_poll(tx->worker->poll),
		.queue_size = RTE_MAX(run->params.queue, run->params.burst),
	};
	int rc;

	*p = rte_comch_producer_create(tx->conn, &conf);
	if (*p == NULL)
		return perf_run_fail(run, "no producer: %s", rte_strerror(rte_errno));
	rc = rte_comch_producer_start(*p);
	return rc == 0 ? 0 :
		perf_run_fail(run, "a producer does not start: %s", strerror(-rc));
}

bool
ends_rx_running(struct data_rx *rx)
{
	return rte_comch_consumer_state(ends_rx(rx)->consumer) == RTE_COMCH_STATE_RUNNING;
}

uint32_t
ends_rx_id(struct data_rx *rx)
{
	return rte_comch_consumer_id(ends_rx(rx)->consumer);
}

/* Both stop by themselves when the other side has gone. */

bool
ends_tx_stop(struct data_tx *tx)
{
	struct rte_comch_producer *p = ends_tx(tx)->producer;

	if (rte_comch_producer_state(p) == RTE_COMCH_STATE_RUNNING)
		rte_comch_producer_stop(p);
	return rte_comch_producer_state(p) == RTE_COMCH_STATE_IDLE;
}

bool
ends_rx_stop(struct data_rx *rx)
{
	struct rte_comch_consumer *c = ends_rx(rx)->consumer;

	if (rte_comch_consumer_state(c) == RTE_COMCH_STATE_RUNNING)
		rte_comch_consumer_stop(c);
	return rte_comch_consumer_state(c) == RTE_COMCH_STATE_IDLE;
}

void
ends_tx_stats(struct data_tx *tx, struct perf_result *r)
{
	struct rte_comch_producer_stats stats = { 0 };

	rte_comch_producer_stats_get(ends_tx(tx)->producer, &stats);
	r->copies += stats.copies;
	r->copied_msgs += stats.msgs;
	/* Failures of silent operations are in the statistics only. */
	r->failed += RTE_MAX(tx->failed, stats.errors);
}

void
ends_rx_stats(struct data_rx *rx, struct perf_result *r)
{
	struct rte_comch_consumer_stats stats = { 0 };

	rte_comch_consumer_stats_get(ends_rx(rx)->consumer, &stats);
	r->copies += stats.copies;
}
