/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* To be loaded before librte_comch (LD_PRELOAD): how long the runs of a program's
 * polls take. A process that ends appends the longest, in ns, to the file that the
 * variable RUNS names.
 *
 * A run's time is wall clock less what its thread waited for a CPU, so that
 * whatever blocks it counts, and being preempted does not.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rte_comch_poll.h>

typedef uint16_t (*run_t)(struct rte_comch_poll *poll, struct rte_comch_event *events,
		uint16_t max);

static _Atomic uint64_t longest;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* What this thread has waited for a CPU so far. */
static uint64_t
waited_ns(void)
{
	static _Thread_local int fd = -1;
	unsigned long long ran, waited;
	char text[128];
	ssize_t n;

	if (fd < 0)
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

static void
note(uint64_t ns)
{
	uint64_t most = atomic_load_explicit(&longest, memory_order_relaxed);

	while (ns > most && !atomic_compare_exchange_weak_explicit(&longest, &most, ns,
			memory_order_relaxed, memory_order_relaxed))
		;
}

uint16_t
rte_comch_poll_run(struct rte_comch_poll *poll, struct rte_comch_event *events,
		uint16_t max)
{
	static _Atomic(run_t) real;
	run_t run = atomic_load_explicit(&real, memory_order_relaxed);
	uint64_t begin, waited, wall;
	uint16_t n;

	if (run == NULL) {
		run = (run_t)(uintptr_t)dlsym(RTLD_NEXT, "rte_comch_poll_run");
		atomic_store_explicit(&real, run, memory_order_relaxed);
	}
	waited = waited_ns();
	begin = now_ns();
	n = run(poll, events, max);
	wall = now_ns() - begin;
	waited = waited_ns() - waited;
	note(wall > waited ? wall - waited : 0);
	return n;
}

/* The sides of comch-perf leave by _exit(). */
void
_exit(int status)
{
	void (*leave)(int) = (void (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "_exit");
	const char *name = getenv("RUNS");
	FILE *f = name != NULL ? fopen(name, "ae") : NULL;

	if (f != NULL) {
		fprintf(f, "%llu\n", (unsigned long long)atomic_load(&longest));
		fclose(f);
	}
	leave(status);
	__builtin_unreachable();
}
