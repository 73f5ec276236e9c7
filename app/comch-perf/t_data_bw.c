/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "data.h"

static int
data_bw_launch(struct perf_run *run)
{
	return data_launch(run, worker_stream);
}

static enum floor_kind
data_bw_floor(const struct perf_params *params)
{
	(void)params;
	return FLOOR_MEMCPY;
}

static const struct perf_variant data_bw_variants[] = {
	{ PERF_OPT_MEMORY, 0, { .memory = PERF_MEMORY_SHARED } },
	{ PERF_OPT_MEMORY, 0, { .memory = PERF_MEMORY_HEAP } },
};

static struct perf_test data_bw = {
	.name = "data-bw",
	.what = "large fast-path messages from producers to consumers",
	.order = 60,
	.by_default = true,
	.connects = true,
	.options = PERF_OPT_SIZE | PERF_OPT_ITERS | PERF_OPT_DURATION |
			PERF_OPT_BURST | PERF_OPT_QUEUE | PERF_OPT_PRODUCERS |
			PERF_OPT_CONSUMERS | PERF_OPT_CONNECTIONS | PERF_OPT_IMM |
			PERF_OPT_API | PERF_OPT_MEMORY | PERF_OPT_WAIT |
			PERF_OPT_BIDIR | PERF_OPT_VERIFY,
	.base = {
		.size = 1 << 20, .duration_us = 1000000, .burst = 1, .queue = 1024,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.variants = data_bw_variants,
	.nb_variants = RTE_DIM(data_bw_variants),
	.floor = data_bw_floor,
	.check = data_check_bw,
	.setup = data_setup,
	.launch = data_bw_launch,
	.teardown = data_teardown,
};

PERF_TEST_REGISTER(data_bw)
