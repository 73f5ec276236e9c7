/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "msgq.h"

static int
msgq_rate_launch(struct perf_run *run)
{
	return data_launch(run, worker_stream);
}

static enum floor_kind
msgq_rate_floor(const struct perf_params *params)
{
	(void)params;
	return FLOOR_SLOT;
}

static const struct perf_variant msgq_rate_variants[] = {
	{ PERF_OPT_BURST, 0, { .burst = 32 } },
	{ PERF_OPT_BURST, 0, { .burst = 1 } },
};

static struct perf_test msgq_rate = {
	.name = "msgq-rate",
	.what = "messages of a MsgQ from one thread (or more) to another",
	.order = 74,
	.by_default = true,
	.alone = true,
	.library = true,
	.options = PERF_OPT_ITERS | PERF_OPT_DURATION | PERF_OPT_BURST | PERF_OPT_QUEUE |
			PERF_OPT_PRODUCERS | PERF_OPT_IMM | PERF_OPT_WAIT | PERF_OPT_VERIFY,
	.base = {
		.imm = RTE_COMCH_IMM_SIZE, .duration_us = 500000, .burst = 32, .queue = 1024,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.variants = msgq_rate_variants,
	.nb_variants = RTE_DIM(msgq_rate_variants),
	.floor = msgq_rate_floor,
	.check = data_check,
	.setup = msgq_setup,
	.launch = msgq_rate_launch,
	.teardown = data_teardown,
};

PERF_TEST_REGISTER(msgq_rate)
