/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* comch-perf-floor measures one floor between this process and one that it
 * forks, and prints the figure. It links no library but the C library.
 */

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "floor/run.h"

#define USAGE "Usage: comch-perf-floor line|slot|memcpy|wake CPU-A CPU-B MS [SIZE [TSC-HZ]]\n"

/* End with the parent: it may be killed while this process spins. */
static void
die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/* Pin a process; 0: this one. */
static void
pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) != 0)
		perror("comch-perf-floor: sched_setaffinity");
}

/* Fork the partner, run both halves. @return the figure, or negative */
static double
measure(const struct floor_req *req)
{
	struct floor_job job;
	pid_t self = getpid();
	double value;
	pid_t pid;

	if (floor_job_open(&job, req) != 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		die_with_parent(self);
		floor_job_meet(&job, false);
		floor_bodies[req->kind].b(&job);
		_exit(0);
	}
	/* The partner starts on our CPU, which we are about to spin on. */
	pin(pid, req->cpu_b);
	pin(0, req->cpu_a);
	floor_job_meet(&job, true);
	value = floor_bodies[req->kind].a(&job);
	waitpid(pid, NULL, 0);
	return value;
}

static int
parse(struct floor_req *req, int argc, char **argv)
{
	if (argc < 5 || argc > 7)
		return -1;
	while (req->kind < FLOOR_NONE && strcmp(argv[1], floor_name(req->kind)) != 0)
		req->kind++;
	req->cpu_a = atoi(argv[2]);
	req->cpu_b = atoi(argv[3]);
	req->ms = (uint32_t)strtoul(argv[4], NULL, 0);
	req->size = argc > 5 ? strtoull(argv[5], NULL, 0) : 0;
	return req->kind == FLOOR_NONE || req->ms == 0 ||
		(req->kind == FLOOR_MEMCPY && req->size == 0) ? -1 : 0;
}

int
main(int argc, char **argv)
{
	struct floor_req req = { .kind = FLOOR_LINE };
	double value;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(USAGE, stdout);
		return 0;
	}
	die_with_parent(getppid());
	if (parse(&req, argc, argv) != 0) {
		fputs(USAGE, stderr);
		return 2;
	}
	if (argc > 6)
		clock_set_hz(strtoull(argv[6], NULL, 0));
	else
		clock_calibrate();
	value = measure(&req);
	printf("%.17g\n", value);
	return value < 0;
}
