/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "base/clock.h"
#include "ctrl.h"

#define TICK_LOOPS 64

static int
ctrl_rate_launch(struct perf_run *run)
{
	uint16_t burst = (uint16_t)run->params.burst;
	struct ctrl *c = run->priv;

	ctrl_start(run);
	c->tx_done = !run->leader && !run->params.bidir;
	c->rx_done = run->leader && !run->params.bidir;
	if (c->tx_done)
		c->left = 0;
	while (!(c->tx_done && c->rx_done) && !c->over) {
		uint32_t n = 0;

		if (!c->tx_done)
			n += ctrl_send(run, burst);
		n += link_poll(run);
		if (n == 0)
			link_idle(run, (c->tx_done ? 0 : RTE_COMCH_POLL_TX) |
					(c->rx_done ? 0 : RTE_COMCH_POLL_RX));
		if (++c->loops % TICK_LOOPS == 0 || (n == 0 &&
				run->params.wait == PERF_WAIT_EVENT))
			ctrl_tick(run, clock_tsc());
	}
	return ctrl_finish(run);
}

static enum floor_kind
ctrl_rate_floor(const struct perf_params *params)
{
	(void)params;
	return FLOOR_SLOT;
}

static struct perf_test ctrl_rate = {
	.name = "ctrl-rate",
	.what = "control messages streamed from the host to the DPU",
	.order = 30,
	.by_default = true,
	.connects = true,
	.options = PERF_OPT_SIZE | PERF_OPT_ITERS | PERF_OPT_DURATION |
			PERF_OPT_BURST | PERF_OPT_QUEUE | PERF_OPT_CONNECTIONS |
			PERF_OPT_WAIT | PERF_OPT_BIDIR | PERF_OPT_VERIFY |
			PERF_OPT_API,
	.base = {
		.size = 64, .duration_us = 1000000, .burst = 32, .queue = 1024,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.floor = ctrl_rate_floor,
	.check = ctrl_check,
	.setup = ctrl_setup,
	.launch = ctrl_rate_launch,
	.teardown = ctrl_teardown,
};

PERF_TEST_REGISTER(ctrl_rate)
