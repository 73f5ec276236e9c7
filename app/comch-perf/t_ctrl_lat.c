/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "base/clock.h"
#include "ctrl.h"
#include "lat.h"

/* Fruitless runs of the poll between two looks at the clock. */
#define TICK_LOOPS 4096

/* Send one message, which may have to wait for credit. */
static bool
send_one(struct perf_run *run)
{
	struct ctrl *c = run->priv;

	while (ctrl_send(run, 1) == 0) {
		link_poll(run);
		if (++c->loops % TICK_LOOPS == 0)
			ctrl_tick(run, clock_tsc());
		if (c->over)
			return false;
	}
	return true;
}

/* Wait until *count* messages have come; false: no more will. */
static bool
recv_until(struct perf_run *run, uint64_t count)
{
	bool event = run->params.wait == PERF_WAIT_EVENT;
	struct ctrl *c = run->priv;

	while (c->count < count) {
		if (link_poll(run) > 0)
			continue;
		if (event || run->params.crowded)
			link_idle(run, RTE_COMCH_POLL_RX);
		if (event || ++c->loops % TICK_LOOPS == 0)
			ctrl_tick(run, clock_tsc());
		if (c->over || c->rx_done)
			return false;
	}
	return true;
}

static void
ping(struct perf_run *run)
{
	struct ctrl *c = run->priv;
	struct lat lat;

	lat_init(&lat, run);
	do {
		lat_begin(&lat);
		if (!send_one(run) || !recv_until(run, c->sent))
			break;
	} while (!lat_round(&lat));
	lat_finish(&lat, run);
	c->left = 0;
	c->tx_done = true;
}

static void
pong(struct perf_run *run)
{
	struct ctrl *c = run->priv;

	while (recv_until(run, c->sent + 1) && send_one(run))
		;
}

static int
ctrl_lat_launch(struct perf_run *run)
{
	struct ctrl *c = run->priv;

	ctrl_start(run);
	/* It is the leader's clock that ends a latency test. */
	c->left = UINT64_MAX;
	c->tx_end = UINT64_MAX;
	if (run->leader)
		ping(run);
	else
		pong(run);
	return ctrl_finish(run);
}

static struct perf_test ctrl_lat = {
	.name = "ctrl-lat",
	.what = "control message ping-pong; one way is half a round trip",
	.order = 20,
	.by_default = true,
	.ways = 2,
	.connects = true,
	.options = PERF_OPT_SIZE | PERF_OPT_ITERS | PERF_OPT_DURATION |
			PERF_OPT_QUEUE | PERF_OPT_CONNECTIONS | PERF_OPT_WAIT |
			PERF_OPT_VERIFY | PERF_OPT_HISTOGRAM | PERF_OPT_API,
	.base = {
		.size = 64, .duration_us = 1000000, .burst = 1, .queue = 64,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.floor = lat_floor,
	.check = ctrl_check,
	.setup = ctrl_setup,
	.launch = ctrl_lat_launch,
	.teardown = ctrl_teardown,
};

PERF_TEST_REGISTER(ctrl_lat)
