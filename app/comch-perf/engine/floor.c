/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The flow of the test "floor". */

#include "engine/run.h"

/* Measure a floor between two measurements of the same floor: how far its ratio
 * is from 1 shows how far to trust the other ratios.
 */
static int
floor_launch(struct perf_run *run)
{
	struct floor_req req = run->floor_req;
	double value;

	if (req.cpu_b < 0)
		return perf_run_fail(run, "both sides must run on one machine");
	req.ms = (uint32_t)(run->params.duration_us / 1000);
	value = floor_measure(&req).value;
	if (value <= 0)
		return perf_run_fail(run, "%s %s: no figure", floor_program(req.kind),
				floor_name(req.kind));
	run->floor_value = value;
	run->result.window_ns = run->params.duration_us * 1000;
	return 0;
}

const struct perf_flow perf_flow_floor = { .launch = floor_launch };
