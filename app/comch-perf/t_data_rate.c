/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "data.h"

static int
data_rate_launch(struct perf_run *run)
{
	return data_launch(run, worker_stream);
}

static enum floor_kind
data_rate_floor(const struct perf_params *params)
{
	(void)params;
	return FLOOR_SLOT;
}

static const struct perf_variant data_rate_variants[] = {
	{ PERF_OPT_API, 0, { .api = PERF_API_DESC } },
	{ PERF_OPT_API, 0, { .api = PERF_API_MBUF } },
#ifdef COMCH_APP_DOCA
	{ PERF_OPT_API, 0, { .api = PERF_API_DOCA } },
#endif
};

static struct perf_test data_rate = {
	.name = "data-rate",
	.what = "small fast-path messages from producers to consumers",
	.order = 50,
	.by_default = true,
	.connects = true,
	.options = PERF_OPT_SIZE | PERF_OPT_ITERS | PERF_OPT_DURATION |
			PERF_OPT_BURST | PERF_OPT_QUEUE | PERF_OPT_PRODUCERS |
			PERF_OPT_CONSUMERS | PERF_OPT_CONNECTIONS | PERF_OPT_IMM |
			PERF_OPT_API | PERF_OPT_MEMORY | PERF_OPT_WAIT |
			PERF_OPT_BIDIR | PERF_OPT_VERIFY,
	.base = {
		.size = 64, .duration_us = 1000000, .burst = 32, .queue = 1024,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.variants = data_rate_variants,
	.nb_variants = RTE_DIM(data_rate_variants),
	.floor = data_rate_floor,
	.check = data_check,
	.setup = data_setup,
	.launch = data_rate_launch,
	.teardown = data_teardown,
};

PERF_TEST_REGISTER(data_rate)
