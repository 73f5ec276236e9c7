/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers of MsgQs under test. Each consumer has a MsgQ of its own;
 * both ends are in this process.
 */

#include <errno.h>

#include <rte_comch_msgq.h>
#include <rte_errno.h>

#include "api/api.h"
#include "api/native.h"
#include "api/ops.h"
#include "engine/loop.h"

struct msgq_tx {
	struct data_tx base;
	struct ops_ring ring;
	struct rte_comch_msgq_producer *producer;
};

struct msgq_rx {
	struct data_rx base;
	struct rte_comch_msgq *msgq;
	struct rte_comch_msgq_consumer *consumer;
	uint32_t nb_slots;  /* credits, and slots of the copy window */
	struct app_mem window;
};

static inline struct msgq_tx *
msgq_tx(struct data_tx *tx)
{
	return container_of(tx, struct msgq_tx, base);
}

static inline struct msgq_rx *
msgq_rx(struct data_rx *rx)
{
	return container_of(rx, struct msgq_rx, base);
}

/* The poll for the ends of a worker that sleeps: it costs each burst a check, so
 * the ends of a spinning worker have none.
 */
static struct rte_comch_poll *
sleep_poll(const struct data_worker *w)
{
	return w->sleeps ? native_poll(w->poll) : NULL;
}

static int
msgq_rx_open(struct perf_run *run, struct data_rx *rx)
{
	const struct perf_params *p = &run->params;
	struct msgq_rx *m = msgq_rx(rx);
	const struct rte_comch_msgq_conf msgq = {
		.conf_size = sizeof(msgq),
		.name = run->test->name,
		.max_producers = p->producers,
		.max_consumers = 1,
		.socket_id = SOCKET_ID_ANY,
	};
	const struct rte_comch_msgq_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = p->queue,
		.imm_size = p->imm,
		.poll = sleep_poll(rx->worker),
	};

	m->nb_slots = p->queue;
	if (p->size > 0 && app_mem_get(&m->window, m->nb_slots * data_stride(p), p->memory) != 0)
		return perf_run_fail(run, "copy window: not enough memory for %u of %llu bytes",
				m->nb_slots, (unsigned long long)data_stride(p));
	m->msgq = rte_comch_msgq_create(&msgq);
	if (m->msgq != NULL)
		m->consumer = rte_comch_msgq_consumer_create(m->msgq, &conf);
	return m->consumer != NULL ? 0 :
		perf_run_fail(run, "create a MsgQ consumer: %s", rte_strerror(rte_errno));
}

static bool
msgq_rx_running(struct data_rx *rx)
{
	struct rte_comch_msgq_consumer *c = msgq_rx(rx)->consumer;

	rx->id = rte_comch_msgq_consumer_id(c);
	return rte_comch_msgq_consumer_state(c) == RTE_COMCH_STATE_RUNNING;
}

/* Return the credits of received messages. */
static void
msgq_repost(struct data_rx *rx)
{
	rx->unposted -= rte_comch_msgq_credit(msgq_rx(rx)->consumer, rx->unposted);
}

/* Slot of a message in the copy window: credits and slots wrap in the same order. */
static inline uint8_t *
copy_slot(struct msgq_rx *m, uint64_t number)
{
	return (uint8_t *)m->window.addr + number % m->nb_slots * data_stride(m->base.params);
}

static __rte_always_inline uint16_t
receive(struct data_rx *rx, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct msgq_rx *m = msgq_rx(rx);
	uint16_t i;

	n = rte_comch_msgq_recv_burst(m->consumer, cpls, n);
	for (i = 0; i < n; i++) {
		rx->unposted++;
		data_take(rx, cpls[i].status, cpls[i].len, cpls[i].imm_len,
				rx->params->size == 0 ? NULL :
				copy_slot(m, rx->count), cpls[i].imm);
	}
	return n;
}

static uint16_t
msgq_recv(struct data_rx *rx, uint16_t n)
{
	struct rte_comch_cpl cpls[PERF_MAX_BURST];

	return receive(rx, cpls, n);
}

static bool
msgq_rx_stop(struct data_rx *rx)
{
	struct msgq_rx *m = msgq_rx(rx);

	if (rte_comch_msgq_consumer_state(m->consumer) == RTE_COMCH_STATE_RUNNING)
		rte_comch_msgq_consumer_stop(m->consumer);
	return rte_comch_msgq_consumer_state(m->consumer) == RTE_COMCH_STATE_IDLE;
}

static void
msgq_rx_stats(struct data_rx *rx, struct perf_result *r)
{
	struct rte_comch_consumer_stats stats = { 0 };

	rte_comch_msgq_consumer_stats_get(msgq_rx(rx)->consumer, &stats);
	r->copies += stats.copies;
}

static void
msgq_rx_close(struct data_rx *rx)
{
	struct msgq_rx *m = msgq_rx(rx);

	rte_comch_msgq_consumer_destroy(m->consumer);
	rte_comch_msgq_destroy(m->msgq);
	app_mem_close(&m->window);
}

static int
msgq_tx_open(struct perf_run *run, struct data_tx *tx)
{
	const struct rte_comch_msgq_producer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = RTE_MAX(run->params.queue, run->params.burst),
		.poll = sleep_poll(tx->worker),
	};
	struct msgq_tx *m = msgq_tx(tx);

	m->producer = rte_comch_msgq_producer_create(msgq_rx(tx->to)->msgq, &conf);
	return m->producer != NULL ? ops_open(run, tx, &m->ring) :
		perf_run_fail(run, "create a MsgQ producer: %s", rte_strerror(rte_errno));
}

static void
msgq_reap(struct data_tx *tx)
{
	struct rte_comch_cpl cpls[OPS_SIGNALS];

	ops_done(tx, &msgq_tx(tx)->ring, cpls, rte_comch_msgq_done_burst(msgq_tx(tx)->producer,
			cpls, OPS_SIGNALS));
}

static void
msgq_prepare(struct data_tx *tx, uint16_t n)
{
	ops_prepare(tx, &msgq_tx(tx)->ring, n);
}

static uint16_t
msgq_send(struct data_tx *tx, uint16_t n)
{
	struct msgq_tx *m = msgq_tx(tx);

	if (tx->ready == 0)
		ops_prepare(tx, &m->ring, n);
	if (tx->ready == 0)
		return 0;
	return ops_sent(tx, &m->ring, rte_comch_msgq_send_burst(m->producer,
			&m->ring.ops[m->ring.head], (uint16_t)tx->ready));
}

static uint16_t
copy_send(struct data_tx *tx, uint16_t n)
{
	struct rte_comch_msgq_copy copies[PERF_MAX_BURST];
	struct msgq_tx *m = msgq_tx(tx);
	uint32_t i;

	if (tx->ready == 0)
		ops_prepare(tx, &m->ring, n);
	for (i = 0; i < tx->ready; i++) {
		const struct rte_comch_op *op = &m->ring.ops[m->ring.head + i];

		copies[i] = (struct rte_comch_msgq_copy){
			.dst = copy_slot(msgq_rx(tx->to), tx->sent + i),
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
	return ops_sent(tx, &m->ring, rte_comch_msgq_copy_burst(m->producer, copies,
			(uint16_t)tx->ready));
}

static void
msgq_tx_stats(struct data_tx *tx, struct perf_result *r)
{
	struct rte_comch_producer_stats stats = { 0 };

	rte_comch_msgq_producer_stats_get(msgq_tx(tx)->producer, &stats);
	ends_count(tx, &stats, r);
}

static void
msgq_tx_close(struct data_tx *tx)
{
	rte_comch_msgq_producer_destroy(msgq_tx(tx)->producer);
	ops_close(&msgq_tx(tx)->ring);
}

/* Receive one message, for the latency loop. */
static __rte_always_inline uint16_t
recv_one(struct data_rx *rx, uint16_t n)
{
	struct rte_comch_cpl cpl;

	(void)n;
	return receive(rx, &cpl, 1);
}

static int msgq_pingpong(void *worker);

#define COMMON \
	.tx_size = sizeof(struct msgq_tx), \
	.rx_size = sizeof(struct msgq_rx), \
	.rx_open = msgq_rx_open, \
	.rx_running = msgq_rx_running, \
	.repost = msgq_repost, \
	.rx_stop = msgq_rx_stop, \
	.rx_stats = msgq_rx_stats, \
	.rx_close = msgq_rx_close, \
	.tx_open = msgq_tx_open, \
	.prepare = msgq_prepare, \
	.reap = msgq_reap, \
	.tx_stats = msgq_tx_stats, \
	.tx_close = msgq_tx_close

const struct data_ops data_ops_msgq = {
	COMMON, .send = msgq_send, .recv = msgq_recv, .pingpong = msgq_pingpong,
};

const struct data_ops data_ops_msgq_copy = {
	COMMON, .send = copy_send, .recv = msgq_recv,
};

static const struct data_ops one_by_one = {
	COMMON, .send = msgq_send, .recv = recv_one,
};

static int
msgq_pingpong(void *worker)
{
	return loop_pingpong(worker, &one_by_one);
}
