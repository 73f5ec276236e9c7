/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* As a program would write it: its own loops around the calls of the library,
 * with nothing in between, as the floor's are around the loads and stores.
 */

#include "base/clock.h"
#include "lat.h"
#include "msgq.h"

/* Fruitless looks between two looks at the clock. */
#define TICK_LOOKS 4096

/* There is nothing to be done; false: and there never will be. */
static bool
wait(struct data_worker *w, uint32_t cls, uint32_t *looks)
{
	const struct perf_params *p = &w->run->params;

	if (unlikely(p->wait != PERF_WAIT_POLL || p->crowded))
		worker_idle(w, cls);
	if (++*looks % TICK_LOOKS == 0)
		worker_tick(w, clock_tsc());
	return !w->over && !(cls == RTE_COMCH_POLL_RX && w->rx_done);
}

/* Send the one that is ready. */
static inline bool
send_one(struct data_worker *w)
{
	struct data_tx *tx = w->tx;
	uint32_t looks = 0;

	while (rte_comch_msgq_send_burst(tx->msgq_producer, &tx->ops[tx->head], 1) == 0) {
		if (!wait(w, RTE_COMCH_POLL_TX, &looks))
			return false;
	}
	data_ops_sent(tx, 1);
	return true;
}

static inline bool
receive_one(struct data_worker *w)
{
	struct data_rx *rx = w->rx;
	struct rte_comch_cpl cpl;
	uint32_t looks = 0;

	while (rte_comch_msgq_recv_burst(rx->msgq_consumer, &cpl, 1) == 0) {
		if (!wait(w, RTE_COMCH_POLL_RX, &looks))
			return false;
	}
	msgq_take(rx, &cpl);
	return true;
}

static void
ping(struct data_worker *w)
{
	struct lat lat;

	lat_init(&lat, w->run);
	do {
		lat_begin(&lat);
		if (!send_one(w))
			break;
		worker_tidy(w);
		if (!receive_one(w))
			break;
	} while (!lat_round(&lat));
	lat_finish(&lat, w->run);
	worker_tx_done(w);
}

static int
ping_or_pong(void *worker)
{
	struct data_worker *w = worker;

	w->tx_end = UINT64_MAX;
	w->tx->left = UINT64_MAX;
	w->tx->api->prepare(w->tx, 1);
	if (w->number == 0) {
		ping(w);
		return 0;
	}
	while (receive_one(w) && send_one(w))
		worker_tidy(w);
	return 0;
}

static int
msgq_lat_launch(struct perf_run *run)
{
	return data_launch(run, ping_or_pong);
}

/* A MsgQ each way. */
static int
msgq_lat_setup(struct perf_run *run)
{
	run->params.bidir = 1;
	return msgq_setup(run);
}

static struct perf_test msgq_lat = {
	.name = "msgq-lat",
	.what = "ping-pong of two threads over two MsgQs; one way is half a round trip",
	.order = 72,
	.by_default = true,
	.alone = true,
	.library = true,
	.ways = 2,
	.options = PERF_OPT_ITERS | PERF_OPT_DURATION | PERF_OPT_QUEUE | PERF_OPT_IMM |
			PERF_OPT_WAIT | PERF_OPT_VERIFY | PERF_OPT_HISTOGRAM,
	.base = {
		.imm = RTE_COMCH_IMM_SIZE, .duration_us = 500000, .burst = 1, .queue = 64,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.floor = lat_floor,
	.check = data_check,
	.setup = msgq_lat_setup,
	.launch = msgq_lat_launch,
	.teardown = data_teardown,
};

PERF_TEST_REGISTER(msgq_lat)
