/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A DOCA program does not know EAL, so it is started when first needed, without side
 * effects: no hugepages, no root, no output, and in a separate thread, since
 * rte_eal_init() pins its caller to a CPU. All signals are blocked in that thread, and so
 * in those that EAL starts: the program's handlers run in the program's threads.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_string_fns.h>

#include "dev/eal.h"
#include "dev/eal_dir.h"
#include "dev/eal_log.h"
#include "dev/report.h"
#include "log/log.h"

/** Including those of $COMCH_EAL_ARGS. */
#define MAX_ARGS 64

struct eal_args {
	int argc;
	char *argv[MAX_ARGS + 1];
	char prefix[64];
	char lcores[4096];
	char *given; /* copy of $COMCH_EAL_ARGS, split into words */
	int ret;     /* result of rte_eal_init() */
	int err;
};

static struct {
	pthread_mutex_t lock;
	_Atomic pid_t owner;     /* process of the first call; 0: none */
	atomic_bool is_done;     /* ret is valid */
	doca_error_t ret;
	bool is_own;
	char dir[PATH_MAX];      /* EAL's runtime directory, if set here */
} eal = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static void
add_arg(struct eal_args *args, const char *arg)
{
	if (args->argc < MAX_ARGS)
		args->argv[args->argc++] = (char *)(uintptr_t)arg;
}

/* Whether $COMCH_EAL_ARGS has one of these options, each between spaces. */
static bool
is_given(const struct eal_args *args, const char *options)
{
	char word[64];
	size_t len;
	int i;

	for (i = 0; i < args->argc; i++) {
		len = strcspn(args->argv[i], "=");
		/* "-l0-1" is "-l 0-1" */
		if (args->argv[i][0] == '-' && args->argv[i][1] != '-')
			len = RTE_MIN(len, 2u);
		snprintf(word, sizeof(word), " %.*s ", (int)RTE_MIN(len, sizeof(word) - 3),
			args->argv[i]);
		if (strstr(options, word) != NULL)
			return true;
	}
	return false;
}

/* One lcore, on all CPUs that the program may use. */
static const char *
lcores_arg(struct eal_args *args)
{
	const char *sep = "";
	cpu_set_t set;
	size_t off;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return "--lcores=0";
	off = (size_t)snprintf(args->lcores, sizeof(args->lcores), "--lcores=0@(");
	for (cpu = 0; cpu < CPU_SETSIZE && off < sizeof(args->lcores) - 16; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		off += (size_t)snprintf(args->lcores + off, sizeof(args->lcores) - off, "%s%d",
			sep, cpu);
		sep = ",";
	}
	snprintf(args->lcores + off, sizeof(args->lcores) - off, ")");
	return args->lcores;
}

static void
add_given(struct eal_args *args, const char *env)
{
	char *word, *save = NULL;

	if (env == NULL)
		return;
	args->given = strdup(env);
	if (args->given == NULL)
		return;
	for (word = strtok_r(args->given, " \t\n", &save); word != NULL;
			word = strtok_r(NULL, " \t\n", &save))
		add_arg(args, word);
}

/* Arguments of the user come first and replace conflicting defaults. */
static void
make_args(struct eal_args *args)
{
	const char *base = impl_eal_dir_base();
	bool writable = impl_eal_dir_is_writable(base);
	size_t off;

	add_arg(args, program_invocation_short_name);
	add_given(args, getenv("COMCH_EAL_ARGS"));
	if (!is_given(args, " --no-huge --huge-dir --huge-unlink --socket-mem "))
		add_arg(args, "--no-huge");
	/* Enough for 1,000 connections; unused memory only costs address space. */
	if (!is_given(args, " -m --socket-mem --huge-dir "))
		add_arg(args, "-m256");
	if (!is_given(args, " -l -c -s -S --lcores "))
		add_arg(args, lcores_arg(args));
	if (!is_given(args, " -a --allow -b --block --no-pci "))
		add_arg(args, "--no-pci");
	if (!is_given(args, " --iova-mode "))
		add_arg(args, "--iova-mode=va");
	if (!is_given(args, " --proc-type --no-shconf --in-memory "))
		add_arg(args, "--no-shconf");
	if (!is_given(args, " --log-level ")) {
		add_arg(args, "--log-level=*:error");
		add_arg(args, "--log-level=*comch*:warning");
	}
	if (writable)
		impl_eal_dir_sweep(base);
	if (!is_given(args, " --file-prefix --in-memory ")) {
		off = strlcpy(args->prefix, "--file-prefix=", sizeof(args->prefix));
		impl_eal_dir_take(base, args->prefix + off, sizeof(args->prefix) - off);
		add_arg(args, args->prefix);
	}
	if (!writable && !is_given(args, " --telemetry --no-telemetry ")) {
		/* There is no directory for its socket; comch-info cannot see this program. */
		IMPL_WARN("%s/dpdk is not writable: no telemetry, comch-info does not see this "
			"program (RUNTIME_DIRECTORY names another directory)", base);
		add_arg(args, "--no-telemetry");
		add_arg(args, "--log-level=lib.eal:3");
	}
	args->argv[args->argc] = NULL;
}

static void *
init_eal(void *arg)
{
	struct eal_args *args = arg;

	args->ret = rte_eal_init(args->argc, args->argv);
	args->err = rte_errno;
	return NULL;
}

/* Run rte_eal_init() in a temporary thread; EAL's own threads stay. */
static int
init_eal_apart(struct eal_args *args)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	int ret;

	sigfillset(&all);
	ret = pthread_attr_init(&attr);
	if (ret != 0)
		return ret;
	ret = pthread_attr_setsigmask_np(&attr, &all);
	if (ret == 0)
		ret = pthread_create(&thread, &attr, init_eal, args);
	pthread_attr_destroy(&attr);
	if (ret != 0)
		return ret;
	pthread_join(thread, NULL);
	return args->ret < 0 ? args->err : 0;
}

static doca_error_t
start_own(void)
{
	static struct eal_args args; /* static as it is large */
	int err;

	make_args(&args);
	err = init_eal_apart(&args);
	free(args.given);
	if (err != 0) {
		impl_report("EAL failed to start: %s; COMCH_EAL_ARGS can override its arguments",
			rte_strerror(err));
		return DOCA_ERROR_INITIALIZATION;
	}
	impl_eal_log_open();
	strlcpy(eal.dir, rte_eal_get_runtime_dir(), sizeof(eal.dir));
	IMPL_INFO("EAL started (a program's own EAL must start before the first device is opened)");
	return DOCA_SUCCESS;
}

doca_error_t
impl_eal_start(void)
{
	pid_t pid = getpid(), before = 0;

	if (!atomic_compare_exchange_strong(&eal.owner, &before, pid) && before != pid) {
		IMPL_ERR("a forked process cannot use the devices of process %d", (int)before);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (atomic_load_explicit(&eal.is_done, memory_order_acquire))
		return eal.ret;
	pthread_mutex_lock(&eal.lock);
	if (!atomic_load(&eal.is_done)) {
		/* Use the program's own EAL if it has started one. */
		eal.is_own = rte_lcore_count() == 0;
		eal.ret = eal.is_own ? start_own() : DOCA_SUCCESS;
		atomic_store_explicit(&eal.is_done, true, memory_order_release);
	}
	pthread_mutex_unlock(&eal.lock);
	return eal.ret;
}

bool
impl_eal_is_own(void)
{
	return atomic_load_explicit(&eal.is_done, memory_order_acquire) && eal.is_own &&
		eal.ret == DOCA_SUCCESS;
}

/* Runs after atexit() handlers, of which telemetry's removes its socket. */
__attribute__((destructor)) static void
remove_dir(void)
{
	if (eal.dir[0] != '\0' && atomic_load(&eal.owner) == getpid())
		rmdir(eal.dir);
}
