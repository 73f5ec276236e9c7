/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "app_eal.h"

#define PATH_SIZE 1024
/* What EAL takes without hugepages if it is not told how much. */
#define DEFAULT_MB 64

static const char *const telemetry_args[] = { "--telemetry", "--no-telemetry", NULL };
static const char *const lcore_args[] = { "-l", "-c", "--lcores", NULL };
static const char *const memory_args[] = {
	"-m", "--socket-mem", "--no-huge", "--in-memory", "--huge-dir", NULL,
};
/* Default arguments, and those of the user that replace them. */
static const struct {
	const char *arg;
	const char *unless[4];
} default_args[] = {
	{ "--no-pci", { "--no-pci", "-a", "--allow" } },
	{ "--log-level=*:4", { "--log-level" } },
	{ "--iova-mode=va", { "--iova-mode" } },
};

bool
app_eal_is_given(const struct app_eal_args *args, const char *name, const char **value)
{
	size_t len = strlen(name);
	int i;

	for (i = 0; i < args->nb_given; i++) {
		const char *arg = args->given[i];
		const char *rest = arg + len;

		if (strncmp(arg, name, len) != 0)
			continue;
		if (name[1] == '-' && *rest != '\0' && *rest != '=')
			continue; /* prefix of a longer name */
		if (value != NULL && *rest == '\0')
			*value = i + 1 < args->nb_given ? args->given[i + 1] : "";
		else if (value != NULL)
			*value = *rest == '=' ? rest + 1 : rest;
		return true;
	}
	return false;
}

bool
app_eal_any_given(const struct app_eal_args *args, const char *const *names)
{
	while (*names != NULL && !app_eal_is_given(args, *names, NULL))
		names++;
	return *names != NULL;
}

bool
app_eal_lcores_given(const struct app_eal_args *args)
{
	return app_eal_any_given(args, lcore_args);
}

void
app_eal_add(struct app_eal_args *args, const char *format, ...)
{
	va_list ap;
	int rc;

	if (args->argc == APP_EAL_MAX_ARGS) {
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

void
app_eal_add_given(struct app_eal_args *args, bool (*skip)(const char *name, void *ctx),
		void *ctx)
{
	int i;

	for (i = 0; i < args->nb_given; i++) {
		const char *arg = args->given[i];

		if (skip == NULL || !skip(arg, ctx))
			app_eal_add(args, "%s", arg);
		else if (strcmp(arg, "--file-prefix") == 0 || strcmp(arg, "-l") == 0)
			i++; /* its value */
	}
}

/* Can EAL make its files there? */
static bool
is_usable(const char *base)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/dpdk", base);
	if (access(path, W_OK | X_OK) == 0)
		return true;
	return errno == ENOENT && access(base, W_OK | X_OK) == 0;
}

/* As in eal_create_runtime_dir() of EAL 22.11. */
const char *
app_eal_base(void)
{
	const char *base = getenv("RUNTIME_DIRECTORY");

	if (base != NULL)
		return base;
	base = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	return base != NULL && is_usable(base) ? base : "/tmp";
}

void
app_eal_add_defaults(struct app_eal_args *args)
{
	uint32_t i;

	for (i = 0; i < RTE_DIM(default_args); i++) {
		if (!app_eal_any_given(args, default_args[i].unless))
			app_eal_add(args, "%s", default_args[i].arg);
	}
	/* Its thread sleeps until comch-info asks, but its socket has to be somewhere. */
	if (!is_usable(app_eal_base()) && !app_eal_any_given(args, telemetry_args))
		app_eal_add(args, "--no-telemetry");
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

void
app_eal_add_memory(struct app_eal_args *args, uint32_t mb, uint64_t free_mb, bool one_file)
{
	if (app_eal_any_given(args, memory_args))
		return;
	if (free_huge_mb() >= free_mb)
		app_eal_add(args, "--in-memory");
	else
		app_eal_add(args, "--no-huge");
	if (one_file && !app_eal_is_given(args, "--single-file-segments", NULL))
		app_eal_add(args, "--single-file-segments");
	app_eal_add(args, "-m%u", mb);
}

int
app_eal_check_file_size(uint64_t mb)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >> 20 >= mb)
		return 0;
	fprintf(stderr, "EAL's memory is a file of %" PRIu64 " MiB, but RLIMIT_FSIZE is %" PRIu64
		" bytes: raise it (ulimit -f)\n", mb, (uint64_t)limit.rlim_cur);
	return -EFBIG;
}

/* The memory of the arguments, "-m 64" or "-m64", MiB. */
static uint64_t
memory_of(const struct app_eal_args *args)
{
	uint64_t mb = DEFAULT_MB;
	int i;

	for (i = 0; i < args->argc; i++) {
		if (strncmp(args->argv[i], "-m", 2) != 0)
			continue;
		if (args->argv[i][2] != '\0')
			mb = strtoull(args->argv[i] + 2, NULL, 10);
		else if (i + 1 < args->argc)
			mb = strtoull(args->argv[i + 1], NULL, 10);
	}
	return mb;
}

int
app_eal_start(const struct app_eal_args *args)
{
	/* EAL reorders its arguments and keeps pointers to them. */
	static char *argv[APP_EAL_MAX_ARGS + 1];
	int rc;

	if (args->full)
		return -E2BIG;
	rc = app_eal_check_file_size(memory_of(args));
	if (rc != 0)
		return rc;
	if (setenv("RUNTIME_DIRECTORY", app_eal_base(), 0) != 0)
		return -errno;
	memcpy(argv, args->argv, sizeof(argv));
	rc = rte_eal_init(args->argc, argv);
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
app_remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void
app_eal_clean(const char *prefix)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/dpdk/%s", app_eal_base(), prefix);
	if (prefix[0] != '\0' && strchr(prefix, '/') == NULL)
		app_remove_tree(path);
}

void
app_raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
