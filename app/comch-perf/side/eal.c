/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* EAL of a side: CPUs, arguments, start, and cleanup of its files. */

#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "side/side.h"

#define MAX_ARGS  64
#define TEXT_SIZE 1024
#define MAX_CPU   1023

/* EAL arguments under construction. */
struct args {
	char *argv[MAX_ARGS + 1];
	int argc;
	bool full;
};

/* Did the user give an argument (`-x VALUE`, `-xVALUE`, `--xx VALUE`, `--xx=VALUE`)? */
static bool
is_given(const struct options *opts, const char *name, const char **value)
{
	size_t len = strlen(name);
	int i;

	for (i = 0; i < opts->nb_eal_args; i++) {
		const char *arg = opts->eal_args[i];
		const char *rest = arg + len;

		if (strncmp(arg, name, len) != 0)
			continue;
		if (name[1] == '-' && *rest != '\0' && *rest != '=')
			continue; /* prefix of a longer name */
		if (value != NULL && *rest == '\0')
			*value = i + 1 < opts->nb_eal_args ? opts->eal_args[i + 1] : "";
		else if (value != NULL)
			*value = *rest == '=' ? rest + 1 : rest;
		return true;
	}
	return false;
}

/* Default arguments, and those of the user that replace them. */
static const struct {
	const char *arg;
	const char *unless[4];
} default_args[] = {
	{ "--no-pci", { "--no-pci", "-a", "--allow" } },
	{ "--no-telemetry", { "--telemetry", "--no-telemetry" } },
	{ "--log-level=*:4", { "--log-level" } },
	{ "--iova-mode=va", { "--iova-mode" } },
};
static const char *const cpu_args[] = { "-l", "-c", "--lcores", NULL };
static const char *const memory_args[] = {
	"-m", "--socket-mem", "--no-huge", "--in-memory", "--huge-dir", NULL,
};

static bool
any_given(const struct options *opts, const char *const *names)
{
	while (*names != NULL && !is_given(opts, *names, NULL))
		names++;
	return *names != NULL;
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
	const char *list;
	cpu_set_t set;
	uint16_t cpu;

	cpus->nb = 0;
	if (opts->role == PERF_ROLE_BOTH && (is_given(opts, "-c", NULL) ||
			is_given(opts, "--lcores", NULL))) {
		fprintf(stderr, "comch-perf: -c and --lcores require one role; "
				"with --role both, -l names the CPUs\n");
		return -EINVAL;
	}
	if (opts->role == PERF_ROLE_BOTH && is_given(opts, "-l", &list)) {
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
	const char *given;

	if (!is_given(side->opts, "--file-prefix", &given))
		snprintf(side->prefix, sizeof(side->prefix), "comch-perf-%d-%s", getpid(),
				side_name(side));
	else if (side->opts->role == PERF_ROLE_BOTH)
		snprintf(side->prefix, sizeof(side->prefix), "%s-%s", given, side_name(side));
	else
		snprintf(side->prefix, sizeof(side->prefix), "%s", given);
}

__attribute__((format(printf, 2, 3)))
static void
add(struct args *args, const char *format, ...)
{
	va_list ap;
	int rc;

	if (args->argc == MAX_ARGS) {
		args->full = true;
		return;
	}
	va_start(ap, format);
	rc = vasprintf(&args->argv[args->argc], format, ap);
	va_end(ap);
	if (rc < 0)
		args->full = true;
	else
		args->argc++;
	args->argv[args->argc] = NULL;
}

/* Free memory in huge pages of 2 MiB, MiB. */
static uint64_t
free_huge_mb(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "re");
	unsigned long long nb = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu", &nb) != 1)
		nb = 0;
	fclose(f);
	return nb * 2;
}

static void
add_lcores(struct args *args, const struct side *side)
{
	char text[TEXT_SIZE] = "--lcores=";
	size_t len = strlen(text);
	uint32_t i;

	for (i = 0; i < side->plan->workers[side->host] && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u@%u",
				i == 0 ? "" : ",", i, eal_worker_cpu(side->cpus, side->host, i));
	add(args, "%s", text);
}

/* Add the user's arguments, except those set for each side. */
static void
add_given(struct args *args, const struct options *opts)
{
	bool both = opts->role == PERF_ROLE_BOTH;
	int i;

	for (i = 0; i < opts->nb_eal_args; i++) {
		const char *arg = opts->eal_args[i];
		bool replaced = strncmp(arg, "--file-prefix", 13) == 0 ||
			(both && strncmp(arg, "-l", 2) == 0);

		if (!replaced)
			add(args, "%s", arg);
		else if (strcmp(arg, "--file-prefix") == 0 || strcmp(arg, "-l") == 0)
			i++;
	}
}

static void
add_memory(struct args *args, const struct side *side)
{
	const struct options *opts = side->opts;

	if (any_given(opts, memory_args))
		return;
	/* Both sides allocate from the same free pages. */
	if (free_huge_mb() >= 2 * (uint64_t)side->plan->eal_mb + 64)
		add(args, "--in-memory");
	else
		add(args, "--no-huge");
	/* Export to a peer requires EAL memory with a single descriptor. */
	if (side->plan->shares_eal && !is_given(opts, "--single-file-segments", NULL))
		add(args, "--single-file-segments");
	add(args, "-m%u", side->plan->eal_mb);
}

static void
make_args(struct args *args, const struct side *side)
{
	const struct options *opts = side->opts;
	uint32_t i;

	add(args, "comch-perf");
	add(args, "--file-prefix=%s", side->prefix);
	for (i = 0; i < RTE_DIM(default_args); i++) {
		if (!any_given(opts, default_args[i].unless))
			add(args, "%s", default_args[i].arg);
	}
	if (opts->role == PERF_ROLE_BOTH || !any_given(opts, cpu_args))
		add_lcores(args, side);
	add_memory(args, side);
	add_given(args, opts);
}

int
eal_start(const struct side *side)
{
	struct args args = { .argc = 0 };
	/* EAL reorders its arguments and keeps pointers to them. */
	static char *argv[MAX_ARGS + 1];
	int rc;

	make_args(&args, side);
	if (args.full)
		return -E2BIG;
	memcpy(argv, args.argv, sizeof(argv));
	rc = rte_eal_init(args.argc, argv);
	return rc < 0 ? -rte_errno : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void
eal_remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void
eal_clean(const struct side *side)
{
	const char *base = getenv("RUNTIME_DIRECTORY");
	char path[TEXT_SIZE];

	/* The runtime directory of EAL 22.11: see eal_create_runtime_dir(). */
	if (base == NULL && getuid() == 0)
		base = "/var/run";
	if (base == NULL)
		base = getenv("XDG_RUNTIME_DIR");
	if (base == NULL)
		base = "/tmp";
	snprintf(path, sizeof(path), "%s/dpdk/%s", base, side->prefix);
	if (side->prefix[0] != '\0' && strchr(side->prefix, '/') == NULL)
		eal_remove_tree(path);
}
