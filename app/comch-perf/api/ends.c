/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers of librte_comch: create, start, stop and statistics. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "api/native.h"

static struct rte_comch_producer *
producer(struct data_tx *tx)
{
	return container_of(tx, struct ends_tx, base)->producer;
}

static struct rte_comch_consumer *
consumer(struct data_rx *rx)
{
	return container_of(rx, struct ends_rx, base)->consumer;
}

int
ends_rx_open(struct perf_run *run, struct data_rx *rx, struct rte_comch_mr *mr)
{
	struct ends_rx *e = container_of(rx, struct ends_rx, base);
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = native_poll(rx->worker->poll),
		.queue_size = run->params.queue,
		.imm_size = run->params.imm,
		.mrs = &mr,
		.nb_mrs = mr != NULL,
	};
	int rc;

	e->consumer = rte_comch_consumer_create(rx->conn, &conf);
	if (e->consumer == NULL)
		return perf_run_fail(run, "create a consumer: %s", rte_strerror(rte_errno));
	rc = rte_comch_consumer_start(e->consumer);
	return rc == -EINPROGRESS ? 0 :
		perf_run_fail(run, "start a consumer: %s", strerror(-rc));
}

int
ends_tx_open(struct perf_run *run, struct data_tx *tx)
{
	struct ends_tx *e = container_of(tx, struct ends_tx, base);
	struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = native_poll(tx->worker->poll),
		.queue_size = RTE_MAX(run->params.queue, run->params.burst),
	};
	int rc;

	e->producer = rte_comch_producer_create(tx->conn, &conf);
	if (e->producer == NULL)
		return perf_run_fail(run, "create a producer: %s", rte_strerror(rte_errno));
	rc = rte_comch_producer_start(e->producer);
	return rc == 0 ? 0 :
		perf_run_fail(run, "start a producer: %s", strerror(-rc));
}

bool
ends_rx_running(struct data_rx *rx)
{
	struct rte_comch_consumer *c = consumer(rx);

	rx->id = rte_comch_consumer_id(c);
	return rte_comch_consumer_state(c) == RTE_COMCH_STATE_RUNNING;
}

/* Producers and consumers stop on their own when the peer disconnects. */

bool
ends_tx_stop(struct data_tx *tx)
{
	struct rte_comch_producer *p = producer(tx);

	if (rte_comch_producer_state(p) == RTE_COMCH_STATE_RUNNING)
		rte_comch_producer_stop(p);
	return rte_comch_producer_state(p) == RTE_COMCH_STATE_IDLE;
}

bool
ends_rx_stop(struct data_rx *rx)
{
	struct rte_comch_consumer *c = consumer(rx);

	if (rte_comch_consumer_state(c) == RTE_COMCH_STATE_RUNNING)
		rte_comch_consumer_stop(c);
	return rte_comch_consumer_state(c) == RTE_COMCH_STATE_IDLE;
}

void
ends_tx_stats(struct data_tx *tx, struct perf_result *r)
{
	struct rte_comch_producer_stats stats = { 0 };

	rte_comch_producer_stats_get(producer(tx), &stats);
	ends_count(tx, &stats, r);
}

void
ends_rx_stats(struct data_rx *rx, struct perf_result *r)
{
	struct rte_comch_consumer_stats stats = { 0 };

	rte_comch_consumer_stats_get(consumer(rx), &stats);
	r->copies += stats.copies;
}
