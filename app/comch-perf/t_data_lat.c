/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "base/clock.h"
#include "data.h"
#include "lat.h"

/* Fruitless looks between two looks at the clock. */
#define TICK_LOOPS 4096
/* A message of this size may go through a staging ring piece by piece, and
 * then its sender has to help.
 */
#define PIECES     (UINT64_C(64) << 10)

/* Send one message, which may have to wait for a buffer. */
static bool
send_one(struct data_worker *w)
{
	while (w->tx->api->send(w->tx, 1) == 0) {
		w->tx->api->reap(w->tx);
		worker_idle(w, RTE_COMCH_POLL_TX);
		if (++w->loops % TICK_LOOPS == 0)
			worker_tick(w, clock_tsc());
		if (w->over)
			return false;
	}
	return true;
}

/* Receive one message; false: no more will come. */
static bool
recv_one(struct data_worker *w)
{
	const struct perf_params *p = &w->run->params;
	bool spin = p->wait == PERF_WAIT_POLL && !p->crowded;
	bool push = p->size >= PIECES;

	while (w->rx->api->recv(w->rx, 1) == 0) {
		if (push)
			w->tx->api->reap(w->tx);
		if (!spin)
			worker_idle(w, RTE_COMCH_POLL_RX |
					(push ? RTE_COMCH_POLL_TX : 0));
		if (++w->loops % TICK_LOOPS == 0)
			worker_tick(w, clock_tsc());
		if (w->over || w->rx_done)
			return false;
	}
	return true;
}

static int
ping(void *worker)
{
	struct data_worker *w = worker;
	struct lat lat;

	w->tx_end = UINT64_MAX;
	w->tx->left = UINT64_MAX;
	lat_init(&lat, w->run);
	do {
		lat_begin(&lat);
		if (!send_one(w))
			break;
		worker_tidy(w);
		if (!recv_one(w))
			break;
	} while (!lat_round(&lat));
	lat_finish(&lat, w->run);
	worker_tx_done(w);
	return 0;
}

static int
pong(void *worker)
{
	struct data_worker *w = worker;

	w->tx_end = UINT64_MAX;
	w->tx->left = UINT64_MAX;
	while (recv_one(w) && send_one(w))
		worker_tidy(w);
	return 0;
}

static int
data_lat_launch(struct perf_run *run)
{
	return data_launch(run, run->leader ? ping : pong);
}

/* Each side has a producer and a consumer. */
static int
data_lat_setup(struct perf_run *run)
{
	run->params.bidir = 1;
	return data_setup(run);
}

static const struct perf_variant data_lat_variants[] = {
	{ PERF_OPT_SIZE | PERF_OPT_IMM, 0, { .size = 0, .imm = 32 } },
	{ PERF_OPT_SIZE | PERF_OPT_IMM, 0, { .size = 64, .imm = 0 } },
};

static struct perf_test data_lat = {
	.name = "data-lat",
	.what = "fast-path ping-pong; one way is half a round trip",
	.order = 40,
	.by_default = true,
	.ways = 2,
	.connects = true,
	.options = PERF_OPT_SIZE | PERF_OPT_ITERS | PERF_OPT_DURATION |
			PERF_OPT_QUEUE | PERF_OPT_CONNECTIONS | PERF_OPT_IMM |
			PERF_OPT_API | PERF_OPT_MEMORY | PERF_OPT_WAIT |
			PERF_OPT_VERIFY | PERF_OPT_HISTOGRAM,
	.base = {
		.size = 64, .duration_us = 1000000, .burst = 1, .queue = 64,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.variants = data_lat_variants,
	.nb_variants = RTE_DIM(data_lat_variants),
	.floor = lat_floor,
	.check = data_check,
	.setup = data_lat_setup,
	.launch = data_lat_launch,
	.teardown = data_teardown,
};

PERF_TEST_REGISTER(data_lat)
