/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* main() of test-comch: EAL, the commands that were given, the prompt, the end. tc.h
 * explains the design.
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "app_eal.h"
#include "stream.h"
#include "tc.h"

#define EAL_MB    128
#define NB_LCORES 4

static char prefix[64];

/* @return 0 or a negative errno */
static int
eal_start(const struct tc_options *opts)
{
	static struct app_eal_args args;
	long nb_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	args.given = opts->eal_args;
	args.nb_given = opts->nb_eal_args;
	app_eal_add(&args, "test-comch");
	if (!app_eal_is_given(&args, "--file-prefix", NULL)) {
		snprintf(prefix, sizeof(prefix), "test-comch-%d", getpid());
		app_eal_add(&args, "--file-prefix=%s", prefix);
	}
	app_eal_add_defaults(&args);
	/* Not bound: two programs on one machine would share the first CPUs. */
	if (!app_eal_lcores_given(&args))
		app_eal_add(&args, "--lcores=(0-%u)@(0-%ld)", NB_LCORES - 1,
			RTE_MAX(nb_cpus, 1) - 1);
	app_eal_add_memory(&args, EAL_MB, 2 * EAL_MB, false);
	app_eal_add_given(&args, NULL, NULL);
	return app_eal_start(&args);
}

/* Run the commands of the command line. @return 0, or -1 if one failed */
static int
run_given(const struct tc_options *opts)
{
	int i;

	if (opts->file != NULL && tc_run_file(opts->file) != 0)
		return -1;
	for (i = 0; i < opts->nb_commands && !tc.quit; i++)
		if (tc_run(opts->commands[i]) != 0)
			return -1;
	return 0;
}

static int
run(const struct tc_options *opts)
{
	bool given = opts->file != NULL || opts->nb_commands > 0;

	tc_out_open(opts->plain);
	if (tc_prompt_open(opts->plain) != 0 || tc_loop_open() != 0) {
		fprintf(stderr, "test-comch: %s\n", rte_strerror(rte_errno));
		return TC_EXIT_FAILED;
	}
	tc.period = opts->period;
	if ((run_given(opts) == 0 || opts->interactive) && !tc.quit)
		tc_loop(!given || opts->interactive);
	tc_tear_down();
	tc_prompt_close();
	tc_ports_close();
	tc_pools_reap();
	tc_loop_close();
	return tc.any_failed ? TC_EXIT_FAILED : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	struct tc_options opts;
	int ret;

	ret = tc_options_parse(&opts, argc, argv);
	if (ret != 0)
		return ret > 0 ? EXIT_SUCCESS : TC_EXIT_USAGE;
	app_raise_nofile();
	ret = eal_start(&opts);
	if (ret < 0) {
		fprintf(stderr, "test-comch: EAL: %s\n", rte_strerror(-ret));
		return TC_EXIT_FAILED;
	}
	ret = run(&opts);
	rte_eal_cleanup();
	app_eal_clean(prefix);
	return ret;
}
