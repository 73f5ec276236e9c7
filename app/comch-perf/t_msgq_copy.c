/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "msgq.h"

static int
msgq_copy_launch(struct perf_run *run)
{
	return data_launch(run, worker_stream);
}

static enum floor_kind
msgq_copy_floor(const struct perf_params *params)
{
	(void)params;
	return FLOOR_MEMCPY;
}

static const struct perf_variant msgq_copy_variants[] = {
	{ PERF_OPT_SIZE, 0, { .size = 64 << 10 } },
	{ PERF_OPT_SIZE, 0, { .size = 1 << 20 } },
};

static struct perf_test msgq_copy = {
	.name = "msgq-copy",
	.what = "blocks copied into a window of 16 MiB, with a message of a MsgQ after each",
	.order = 76,
	.by_default = true,
	.alone = true,
	.library = true,
	.options = PERF_OPT_SIZE | PERF_OPT_ITERS | PERF_OPT_DURATION | PERF_OPT_BURST |
			PERF_OPT_QUEUE | PERF_OPT_IMM | PERF_OPT_MEMORY | PERF_OPT_WAIT |
			PERF_OPT_VERIFY,
	.base = {
		.size = 1 << 20, .duration_us = 500000, .burst = 1, .queue = 1024,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.variants = msgq_copy_variants,
	.nb_variants = RTE_DIM(msgq_copy_variants),
	.floor = msgq_copy_floor,
	.check = data_check_bw,
	.setup = msgq_setup_copy,
	.launch = msgq_copy_launch,
	.teardown = data_teardown,
};

PERF_TEST_REGISTER(msgq_copy)
