/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "engine/run.h"

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

const struct perf_flow perf_flow_floor = { .launch = floor_launch };
