/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Messages between two pinned processes by what has no program of its own to measure it: peers
 * that peers.sh compiles. Prints one figure, like comch-perf-floor.
 *
 * usage: perf_peers_bare TEST CPU-A CPU-B MS SIZE
 *
 *   unix-lat     SOCK_SEQPACKET ping-pong, both spin; half a round trip, p50, ns
 *   unix-wake    the same, both sleep; A pauses before each round trip, so that B sleeps
 *   unix-rate    SOCK_SEQPACKET from A to B, up to 32 messages per call; messages/s
 *   unix-stream  SOCK_STREAM from A to B, SIZE bytes per call; bytes/s
 *   ck-lat       ck_ring of Concurrency Kit, one ring each way; half a round trip, p50, ns
 *   ck-rate      ck_ring from A to B; messages of 64 bytes per second
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare.h"

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		perror("perf_peers_bare: sched_setaffinity");
}

/* Process B. */
static void
child(struct bare_job *job, const struct bare_test *test, int cpu, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	pin(cpu);
	_exit(test->b(job) ? 0 : 1);
}

static double
run(struct bare_job *job, const struct bare_test *test, int cpu_a, int cpu_b)
{
	pid_t self = getpid(), pid;
	int fds[2] = { -1, -1 }, status = 0;
	double value;

	if (test->type != 0 && socketpair(AF_UNIX, test->type, 0, fds) != 0)
		return -1;
	if (test->shared != 0)
		job->shared = mmap(NULL, test->shared, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pid = job->shared == MAP_FAILED ? -1 : fork();
	if (pid < 0)
		return -1;
	job->fd = fds[pid == 0];
	if (test->type != 0)
		close(fds[pid != 0]);
	if (pid == 0)
		child(job, test, cpu_b, self);
	pin(cpu_a);
	value = test->a(job);
	if (test->type != 0)
		close(job->fd);
	waitpid(pid, &status, 0);
	return status == 0 ? value : -1;
}

static const struct bare_test *
find(const char *name)
{
	static const struct bare_test *const all[] = { bare_unix_tests, bare_ck_tests };
	const struct bare_test *test;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (test = all[i]; test->name != NULL; test++)
			if (strcmp(test->name, name) == 0)
				return test;
	return NULL;
}

int
main(int argc, char **argv)
{
	const struct bare_test *test = argc == 6 ? find(argv[1]) : NULL;
	struct bare_job job = { .fd = -1 };
	double value;

	if (test != NULL) {
		job.ms = (uint32_t)strtoul(argv[4], NULL, 0);
		job.size = strtoul(argv[5], NULL, 0);
	}
	if (job.ms == 0 || job.size < sizeof(uint64_t) ||
			job.size * BARE_BURST > 2 * BARE_WINDOW) {
		fprintf(stderr, "usage: perf_peers_bare TEST CPU-A CPU-B MS SIZE\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	clock_calibrate();
	job.flags = test->flags;
	job.pause = strcmp(argv[1], "unix-wake") == 0;
	job.nb_msgs = (uint32_t)(BARE_WINDOW / job.size);
	job.window = malloc(2 * BARE_WINDOW);
	if (job.window == NULL)
		return 1;
	memset(job.window, 1, 2 * BARE_WINDOW);
	value = run(&job, test, atoi(argv[2]), atoi(argv[3]));
	if (value < 0)
		fprintf(stderr, "perf_peers_bare: %s failed\n", argv[1]);
	else
		printf("%.17g\n", value);
	return value < 0;
}
