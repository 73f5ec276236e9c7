/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "lat.h"
#include "msgq.h"

static int
ping_or_pong(void *worker)
{
	const struct data_worker *w = worker;

	return w->number == 0 ? worker_ping(worker) : worker_pong(worker);
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
