/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "perf_test.h"

/* A floor measured between two measurements of the same floor: its ratio says
 * how much to trust the other ratios.
 */
static int
floor_launch(struct perf_run *run)
{
	struct floor_req req = run->floor_req;
	double value;

	if (req.cpu_b < 0)
		return perf_run_fail(run, "the sides are not on one machine");
	req.ms = (uint32_t)(run->params.duration_us / 1000);
	value = floor_measure(&req);
	if (value <= 0)
		return perf_run_fail(run, "could not be measured");
	run->floor_value = value;
	run->result.window_ns = run->params.duration_us * 1000;
	return 0;
}

static enum floor_kind
floor_floor(const struct perf_params *params)
{
	return (enum floor_kind)params->kind;
}

static const char *
floor_label(const struct perf_params *params)
{
	return floor_name((enum floor_kind)params->kind);
}

static int
floor_check(const struct perf_params *params,
		const struct rte_comch_dev_info *info, char *error)
{
	(void)info;
	if (params->kind != FLOOR_MEMCPY || params->size > 0)
		return 0;
	snprintf(error, PERF_ERROR_SIZE, "--size: a copy takes a byte at least");
	return -1;
}

static const struct perf_variant floor_variants[] = {
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_LINE, .size = 64 } },
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_SLOT, .size = 64 } },
	{ PERF_OPT_KIND, 0, { .kind = FLOOR_MEMCPY } },
	{ PERF_OPT_KIND, PERF_OPT_SIZE, { .kind = FLOOR_WAKE, .size = 0 } },
};

static struct perf_test floor_test = {
	.name = "floor",
	.what = "what two processes reach that share memory and run no library code",
	.order = 10,
	.by_default = true,
	.alone = true,
	.options = PERF_OPT_SIZE | PERF_OPT_DURATION,
	.base = {
		.size = 1 << 20, .duration_us = 150000, .burst = 1,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.variants = floor_variants,
	.nb_variants = RTE_DIM(floor_variants),
	.label = floor_label,
	.floor = floor_floor,
	.check = floor_check,
	.launch = floor_launch,
};

PERF_TEST_REGISTER(floor_test)
