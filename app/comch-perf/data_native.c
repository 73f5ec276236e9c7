/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers of librte_comch itself. */

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <rte_comch_stats.h>
#include <rte_errno.h>

#include "data.h"

int
data_poll_open(struct perf_run *run, struct data_worker *w)
{
	w->poll = run->link.poll;
	w->fd = run->link.fd;
	if (!w->own_poll)
		return 0;
	w->poll = rte_comch_poll_create(NULL);
	if (w->poll == NULL)
		return perf_run_fail(run, "no poll: %s", rte_strerror(rte_errno));
	if (run->params.wait == PERF_WAIT_EVENT)
		w->fd = rte_comch_poll_fd(w->poll, RTE_COMCH_POLL_ANY);
	return 0;
}

void
data_poll_close(struct data_worker *w)
{
	if (w->poll == NULL)
		return;
	rte_comch_poll_run(w->poll, NULL, 0);
	rte_comch_poll_destroy(w->poll);
}

void
data_poll_run(struct data_worker *w)
{
	struct rte_comch_event evs[8];

	rte_comch_poll_run(w->poll, evs, RTE_DIM(evs));
}

void
data_poll_sleep(struct data_worker *w, uint32_t cls)
{
	struct pollfd pfd = { .fd = w->fd, .events = POLLIN };

	if (rte_comch_poll_arm(w->poll, cls | RTE_COMCH_POLL_LINK) == 0)
		poll(&pfd, 1, LINK_SLEEP_MS);
}

static int
native_rx_create(struct perf_run *run, struct data_rx *rx, struct data_worker *w)
{
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = w->poll,
		.queue_size = run->params.queue,
		.imm_size = run->params.imm,
		.mrs = &rx->mr,
		.nb_mrs = rx->mr != NULL,
	};
	int rc;

	rx->consumer = rte_comch_consumer_create(run->link.conns[rx->conn], &conf);
	if (rx->consumer == NULL)
		return perf_run_fail(run, "no consumer: %s", rte_strerror(rte_errno));
	rc = rte_comch_consumer_start(rx->consumer);
	return rc == -EINPROGRESS ? 0 :
		perf_run_fail(run, "a consumer does not start: %s", strerror(-rc));
}

static int
native_tx_create(struct perf_run *run, struct data_tx *tx, struct data_worker *w)
{
	struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = w->poll,
		.queue_size = RTE_MAX(run->params.queue, run->params.burst),
	};
	int rc;

	tx->producer = rte_comch_producer_create(
			run->link.conns[tx->number % run->params.connections], &conf);
	if (tx->producer == NULL)
		return perf_run_fail(run, "no producer: %s", rte_strerror(rte_errno));
	rc = rte_comch_producer_start(tx->producer);
	return rc == 0 ? 0 :
		perf_run_fail(run, "a producer does not start: %s", strerror(-rc));
}

static bool
native_rx_running(const struct data_rx *rx)
{
	return rte_comch_consumer_state(rx->consumer) == RTE_COMCH_STATE_RUNNING;
}

static uint32_t
native_rx_id(const struct data_rx *rx)
{
	return rte_comch_consumer_id(rx->consumer);
}

/* They stop by themselves when the other side has gone. */

static void
native_rx_stop(struct data_rx *rx)
{
	if (rte_comch_consumer_state(rx->consumer) == RTE_COMCH_STATE_RUNNING)
		rte_comch_consumer_stop(rx->consumer);
}

static void
native_tx_stop(struct data_tx *tx)
{
	if (rte_comch_producer_state(tx->producer) == RTE_COMCH_STATE_RUNNING)
		rte_comch_producer_stop(tx->producer);
}

static bool
native_rx_idle(const struct data_rx *rx)
{
	return rte_comch_consumer_state(rx->consumer) == RTE_COMCH_STATE_IDLE;
}

static bool
native_tx_idle(const struct data_tx *tx)
{
	return rte_comch_producer_state(tx->producer) == RTE_COMCH_STATE_IDLE;
}

static void
native_rx_destroy(struct data_rx *rx)
{
	rte_comch_consumer_destroy(rx->consumer);
}

static void
native_tx_destroy(struct data_tx *tx)
{
	rte_comch_producer_destroy(tx->producer);
}

static void
native_rx_stats(const struct data_rx *rx, struct perf_result *r)
{
	struct rte_comch_consumer_stats stats = { 0 };

	rte_comch_consumer_stats_get(rx->consumer, &stats);
	r->copies += stats.copies;
}

static void
native_tx_stats(const struct data_tx *tx, struct perf_result *r)
{
	struct rte_comch_producer_stats stats = { 0 };

	rte_comch_producer_stats_get(tx->producer, &stats);
	r->copies += stats.copies;
	r->copied_msgs += stats.msgs;
	/* Failures of silent operations are in the statistics only. */
	r->failed += RTE_MAX(tx->failed, stats.errors);
}

const struct data_ends data_ends_native = {
	.worker_open = data_poll_open,
	.worker_close = data_poll_close,
	.worker_poll = data_poll_run,
	.worker_sleep = data_poll_sleep,
	.rx_create = native_rx_create,
	.tx_create = native_tx_create,
	.rx_running = native_rx_running,
	.rx_id = native_rx_id,
	.rx_stop = native_rx_stop,
	.tx_stop = native_tx_stop,
	.rx_idle = native_rx_idle,
	.tx_idle = native_tx_idle,
	.rx_destroy = native_rx_destroy,
	.tx_destroy = native_tx_destroy,
	.rx_stats = native_rx_stats,
	.tx_stats = native_tx_stats,
};
