/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* main() of comch-perf, which measures a channel between two processes, or between
 * threads of one: it makes the plan and supervises the processes, which run side.c.
 */

#include <stdlib.h>

#include "app_eal.h"
#include "base/clock.h"
#include "side/side.h"

int
main(int argc, char **argv)
{
	static struct options opts;
	static struct side_cpus cpus;
	static struct plan plan;
	int rc;

	rc = options_parse(&opts, argc, argv);
	if (rc != 0)
		return rc > 0 ? EXIT_SUCCESS : EXIT_USAGE;
	if (plan_make(&plan, &opts) != 0 || eal_cpus_find(&opts, &cpus) != 0)
		return EXIT_USAGE;
	app_raise_nofile();
	clock_calibrate();
	return proc_supervise(&opts, &plan, &cpus);
}
