/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* EAL of a side: CPUs, arguments, and start. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "app_eal.h"
#include "side/side.h"

#define TEXT_SIZE 1024
#define MAX_CPU   1023

/* The user's arguments. */
static struct app_eal_args
given_args(const struct options *opts)
{
	return (struct app_eal_args){
		.given = opts->eal_args,
		.nb_given = opts->nb_eal_args,
	};
}

/* Parse a list of CPUs in the format of -l: "0,2-3". */
static int
parse_cpus(const char *text, struct side_cpus *cpus)
{
	const char *p = text;
	char *end;

	do {
		unsigned long first = strtoul(p, &end, 10);
		unsigned long last = first;

		if (end != p && *end == '-') {
			p = end + 1;
			last = strtoul(p, &end, 10);
		}
		if (end == p || last > MAX_CPU || first > last)
			return -EINVAL;
		for (; first <= last && cpus->nb < RTE_DIM(cpus->ids); first++)
			cpus->ids[cpus->nb++] = (uint16_t)first;
		p = end + 1;
	} while (*end == ',');
	return *end == '\0' ? 0 : -EINVAL;
}

int
eal_cpus_find(const struct options *opts, struct side_cpus *cpus)
{
	const struct app_eal_args args = given_args(opts);
	const char *list;
	cpu_set_t set;
	uint16_t cpu;

	cpus->nb = 0;
	if (opts->role == PERF_ROLE_BOTH && (app_eal_is_given(&args, "-c", NULL) ||
			app_eal_is_given(&args, "--lcores", NULL))) {
		fprintf(stderr, "comch-perf: -c and --lcores require one role; "
				"with --role both, -l names the CPUs\n");
		return -EINVAL;
	}
	if (opts->role == PERF_ROLE_BOTH && app_eal_is_given(&args, "-l", &list)) {
		if (parse_cpus(list, cpus) == 0)
			return 0;
		fprintf(stderr, "comch-perf: -l %s: expected a list of CPUs such as 0,2-3\n", list);
		return -EINVAL;
	}
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_SET(0, &set);
	for (cpu = 0; cpu <= MAX_CPU && cpus->nb < RTE_DIM(cpus->ids); cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus->ids[cpus->nb++] = cpu;
	}
	return 0;
}

uint16_t
eal_worker_cpu(const struct side_cpus *cpus, bool host, uint32_t worker)
{
	return cpus->ids[(2 * worker + !host) % cpus->nb];
}

void
eal_prefix(struct side *side)
{
	const struct app_eal_args args = given_args(side->opts);
	const char *given;

	if (!app_eal_is_given(&args, "--file-prefix", &given))
		snprintf(side->prefix, sizeof(side->prefix), "comch-perf-%d-%s", getpid(),
				side_name(side));
	else if (side->opts->role == PERF_ROLE_BOTH)
		snprintf(side->prefix, sizeof(side->prefix), "%s-%s", given, side_name(side));
	else
		snprintf(side->prefix, sizeof(side->prefix), "%s", given);
}

static void
add_lcores(struct app_eal_args *args, const struct side *side)
{
	char text[TEXT_SIZE] = "--lcores=";
	size_t len = strlen(text);
	uint32_t i;

	for (i = 0; i < side->plan->workers[side->host] && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u@%u",
				i == 0 ? "" : ",", i, eal_worker_cpu(side->cpus, side->host, i));
	app_eal_add(args, "%s", text);
}

/*
 * The two sides stand for two machines: what a side does beside its workers (a control thread of
 * EAL, one that serves importers) stays off the CPUs of the other side's workers.
 */
static void
keep_apart(const struct side *side)
{
	cpu_set_t set;
	uint32_t i;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (i = 0; i < side->plan->workers[!side->host]; i++)
		CPU_CLR(eal_worker_cpu(side->cpus, !side->host, i), &set);
	for (i = 0; i < side->plan->workers[side->host]; i++)
		CPU_SET(eal_worker_cpu(side->cpus, side->host, i), &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		perror("comch-perf: sched_setaffinity");
}

/* Those that are set for each side. */
static bool
is_replaced(const char *arg, void *ctx)
{
	const bool *both = ctx;

	return strncmp(arg, "--file-prefix", 13) == 0 || (*both && strncmp(arg, "-l", 2) == 0);
}

int
eal_start(const struct side *side)
{
	const struct options *opts = side->opts;
	struct app_eal_args args = given_args(opts);
	bool both = opts->role == PERF_ROLE_BOTH;
	uint32_t mb = side->plan->eal_mb;

	if (both && side->dpu == NULL)
		keep_apart(side);
	app_eal_add(&args, "comch-perf");
	app_eal_add(&args, "--file-prefix=%s", side->prefix);
	app_eal_add_defaults(&args);
	if (both || !app_eal_lcores_given(&args))
		add_lcores(&args, side);
	/* Both sides allocate from the same free pages, or from one EAL. */
	app_eal_add_memory(&args, side->dpu != NULL ? 2 * mb : mb, 2 * (uint64_t)mb + 64,
			side->plan->shares_eal);
	app_eal_add_given(&args, is_replaced, &both);
	return app_eal_start(&args);
}

void
eal_clean(const struct side *side)
{
	app_eal_clean(side->prefix);
}
