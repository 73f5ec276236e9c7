/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include <rte_comch_stats.h>

#include "msgq.h"

/* Does a worker sleep? Then its ends have its poll, which costs others a look. */
static struct rte_comch_poll *
sleeper(const struct perf_run *run, const struct data_worker *w)
{
	return run->params.wait == PERF_WAIT_EVENT ? w->poll : NULL;
}

/* A consumer has a MsgQ to itself. */
static int
rx_create(struct perf_run *run, struct data_rx *rx, struct data_worker *w)
{
	const struct rte_comch_msgq_conf msgq = {
		.conf_size = sizeof(msgq),
		.name = run->test->name,
		.max_producers = run->params.producers,
		.max_consumers = 1,
		.socket_id = SOCKET_ID_ANY,
	};
	const struct rte_comch_msgq_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = rx->nb_bufs,
		.imm_size = run->params.imm,
		.poll = sleeper(run, w),
	};

	rx->msgq = rte_comch_msgq_create(&msgq);
	if (rx->msgq != NULL)
		rx->msgq_consumer = rte_comch_msgq_consumer_create(rx->msgq, &conf);
	return rx->msgq_consumer != NULL ? 0 :
		perf_run_fail(run, "no consumer: %s", rte_strerror(rte_errno));
}

static int
tx_create(struct perf_run *run, struct data_tx *tx, struct data_worker *w)
{
	const struct rte_comch_msgq_producer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = RTE_MAX(run->params.queue, run->params.burst),
		.poll = sleeper(run, w),
	};

	tx->msgq_producer = rte_comch_msgq_producer_create(tx->to->msgq, &conf);
	return tx->msgq_producer != NULL ? 0 :
		perf_run_fail(run, "no producer: %s", rte_strerror(rte_errno));
}

static bool
rx_running(const struct data_rx *rx)
{
	return rte_comch_msgq_consumer_state(rx->msgq_consumer) == RTE_COMCH_STATE_RUNNING;
}

static uint32_t
rx_id(const struct data_rx *rx)
{
	return rte_comch_msgq_consumer_id(rx->msgq_consumer);
}

static void
rx_stop(struct data_rx *rx)
{
	rte_comch_msgq_consumer_stop(rx->msgq_consumer);
}

static bool
rx_idle(const struct data_rx *rx)
{
	return rte_comch_msgq_consumer_state(rx->msgq_consumer) == RTE_COMCH_STATE_IDLE;
}

static void
rx_destroy(struct data_rx *rx)
{
	rte_comch_msgq_consumer_destroy(rx->msgq_consumer);
}

/* A producer is either there or not. */
static void
tx_stop(struct data_tx *tx)
{
	(void)tx;
}

static bool
tx_idle(const struct data_tx *tx)
{
	(void)tx;
	return true;
}

static void
tx_destroy(struct data_tx *tx)
{
	rte_comch_msgq_producer_destroy(tx->msgq_producer);
}

static void
rx_stats(const struct data_rx *rx, struct perf_result *r)
{
	struct rte_comch_consumer_stats stats = { 0 };

	rte_comch_msgq_consumer_stats_get(rx->msgq_consumer, &stats);
	r->copies += stats.copies;
}

static void
tx_stats(const struct data_tx *tx, struct perf_result *r)
{
	struct rte_comch_producer_stats stats = { 0 };

	rte_comch_msgq_producer_stats_get(tx->msgq_producer, &stats);
	r->copies += stats.copies;
	r->copied_msgs += stats.msgs;
	r->failed += RTE_MAX(tx->failed, stats.errors);
}

static const struct data_ends ends = {
	.worker_open = data_poll_open,
	.worker_close = data_poll_close,
	.worker_poll = data_poll_run,
	.worker_sleep = data_poll_sleep,
	.rx_create = rx_create,
	.tx_create = tx_create,
	.rx_running = rx_running,
	.rx_id = rx_id,
	.rx_stop = rx_stop,
	.tx_stop = tx_stop,
	.rx_idle = rx_idle,
	.tx_idle = tx_idle,
	.rx_destroy = rx_destroy,
	.tx_destroy = tx_destroy,
	.rx_stats = rx_stats,
	.tx_stats = tx_stats,
};

static void
msgq_reap(struct data_tx *tx)
{
	struct rte_comch_cpl cpls[DATA_OPS_SIGNALS];

	data_ops_done(tx, cpls, rte_comch_msgq_done_burst(tx->msgq_producer, cpls,
			DATA_OPS_SIGNALS));
}

static uint16_t
msgq_send(struct data_tx *tx, uint16_t n)
{
	if (tx->ready == 0)
		data_ops_prepare(tx, n);
	if (tx->ready == 0)
		return 0;
	return data_ops_sent(tx, rte_comch_msgq_send_burst(tx->msgq_producer,
			&tx->ops[tx->head], (uint16_t)tx->ready));
}

static uint16_t
copy_send(struct data_tx *tx, uint16_t n)
{
	struct rte_comch_msgq_copy copies[PERF_MAX_BURST];
	uint32_t i;

	if (tx->ready == 0)
		data_ops_prepare(tx, n);
	for (i = 0; i < tx->ready; i++) {
		const struct rte_comch_op *op = &tx->ops[tx->head + i];

		copies[i] = (struct rte_comch_msgq_copy){
			.dst = msgq_place(tx->to, tx->sent + i),
			.src = op->addr,
			.len = op->len,
			.cookie = op->cookie,
			.consumer_id = op->consumer_id,
			.imm = op->imm,
			.imm_len = op->imm_len,
			.flags = op->flags,
		};
	}
	if (tx->ready == 0)
		return 0;
	return data_ops_sent(tx, rte_comch_msgq_copy_burst(tx->msgq_producer, copies,
			(uint16_t)tx->ready));
}

static int
msgq_rx_open(struct perf_run *run, struct data_rx *rx)
{
	const struct perf_params *p = rx->params;

	rx->nb_bufs = p->queue;
	if (p->size == 0 || data_mem_get(&rx->mem, rx->nb_bufs * data_stride(p),
			p->memory) == 0)
		return 0;
	return perf_run_fail(run, "no memory to receive into");
}

static void
msgq_rx_close(struct data_rx *rx)
{
	rte_comch_msgq_destroy(rx->msgq);
	data_mem_close(&rx->mem);
}

/* Give credits for what was received. */
static void
msgq_repost(struct data_rx *rx)
{
	rx->owed -= rte_comch_msgq_credit(rx->msgq_consumer, rx->owed);
}

static int
msgq_rx_start(struct perf_run *run, struct data_rx *rx)
{
	rx->owed = rx->nb_bufs;
	msgq_repost(rx);
	return rx->owed == 0 ? 0 : perf_run_fail(run, "a consumer takes %u credits only",
			rx->nb_bufs - rx->owed);
}

static uint16_t
msgq_recv(struct data_rx *rx, uint16_t n)
{
	struct rte_comch_cpl cpls[PERF_MAX_BURST];
	uint16_t i;

	n = rte_comch_msgq_recv_burst(rx->msgq_consumer, cpls, n);
	for (i = 0; i < n; i++)
		msgq_take(rx, &cpls[i]);
	return n;
}

static void
msgq_rx_drain(struct data_rx *rx)
{
	msgq_recv(rx, PERF_MAX_BURST);
}

static const struct data_api api_send = {
	.ends = &ends,
	.tx_open = data_ops_open,
	.tx_close = data_ops_close,
	.prepare = data_ops_prepare,
	.send = msgq_send,
	.reap = msgq_reap,
	.rx_open = msgq_rx_open,
	.rx_start = msgq_rx_start,
	.recv = msgq_recv,
	.repost = msgq_repost,
	.rx_drain = msgq_rx_drain,
	.rx_close = msgq_rx_close,
};

static const struct data_api api_copy = {
	.ends = &ends,
	.tx_open = data_ops_open,
	.tx_close = data_ops_close,
	.prepare = data_ops_prepare,
	.send = copy_send,
	.reap = msgq_reap,
	.rx_open = msgq_rx_open,
	.rx_start = msgq_rx_start,
	.recv = msgq_recv,
	.repost = msgq_repost,
	.rx_drain = msgq_rx_drain,
	.rx_close = msgq_rx_close,
};

/* Who has an end: of a pair both have two, else the last one is the consumer's. */
static int
open_workers(struct perf_run *run, struct data *d)
{
	uint32_t i;

	for (i = 0; i < d->nb_workers; i++) {
		struct data_worker *w = &d->workers[i];

		w->run = run;
		w->data = d;
		w->number = i;
		w->own_poll = true;
		w->has_thread = i + 1 == d->nb_workers;
		w->cpu = run->floor_req.cpu_b;
		w->tx = i < d->nb_tx ? &d->txs[i] : NULL;
		if (run->params.bidir)
			w->rx = &d->rxs[!i];
		else if (w->has_thread)
			w->rx = &d->rxs[0];
		if (d->api->ends->worker_open(run, w) != 0)
			return -ECANCELED;
	}
	return 0;
}

static int
open_rx(struct perf_run *run, struct data_worker *w)
{
	struct data_rx *rx = w->rx;

	rx->api = w->data->api;
	rx->params = &run->params;
	rx->number = (uint32_t)(rx - w->data->rxs);
	rx->nb_senders = run->params.bidir ? 1 : run->params.producers;
	if (rx->api->rx_open(run, rx) != 0 || rx->api->ends->rx_create(run, rx, w) != 0)
		return -ECANCELED;
	return rx->api->rx_start(run, rx);
}

static int
open_tx(struct perf_run *run, struct data_worker *w)
{
	struct data_tx *tx = w->tx;

	tx->api = w->data->api;
	tx->params = &run->params;
	tx->number = w->number;
	/* Each of a pair is the only one who sends to its consumer. */
	tx->to = &w->data->rxs[run->params.bidir ? w->number : 0];
	tx->sender = run->params.bidir ? 0 : w->number;
	tx->left = run->params.iters > 0 ? run->params.iters : UINT64_MAX;
	tx->nb_targets = 1;
	tx->targets[0].number = tx->to->number;
	tx->targets[0].id = tx->api->ends->rx_id(tx->to);
	return tx->api->ends->tx_create(run, tx, w) != 0 ? -ECANCELED :
		tx->api->tx_open(run, tx);
}

static int
setup(struct perf_run *run, const struct data_api *api)
{
	const struct perf_params *p = &run->params;
	struct data *d;
	uint32_t i;

	if (run->floor_req.cpu_b < 0)
		return perf_run_fail(run, "the sides are not on one machine");
	if (p->producers > rte_lcore_count())
		return perf_run_fail(run, "%u lcores are needed, and there are %u",
				p->producers, rte_lcore_count());
	if (data_alloc(run, api, p->bidir ? 2 : p->producers, p->bidir ? 2 : 1,
			p->producers + 1) != 0)
		return -ECANCELED;
	d = run->priv;
	/* Of a pair, one decides when to end. */
	atomic_store_explicit(&d->nb_sending, p->producers, memory_order_relaxed);
	if (open_workers(run, d) != 0)
		return -ECANCELED;
	for (i = 0; i < d->nb_workers; i++) {
		if (d->workers[i].rx != NULL && open_rx(run, &d->workers[i]) != 0)
			return -ECANCELED;
	}
	for (i = 0; i < d->nb_workers; i++) {
		if (d->workers[i].tx != NULL && open_tx(run, &d->workers[i]) != 0)
			return -ECANCELED;
	}
	return 0;
}

int
msgq_setup(struct perf_run *run)
{
	return setup(run, &api_send);
}

int
msgq_setup_copy(struct perf_run *run)
{
	return setup(run, &api_copy);
}
