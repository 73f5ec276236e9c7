/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <poll.h>
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

#include "clock.h"
#include "floor.h"
#include "floor_run.h"
#include "proc.h"

static const struct {
	const char *name;
	const char *what;
	floor_run_t run;
} kinds[] = {
	[FLOOR_LINE] = { "line",
		"one 64-byte line written, seen by the other CPU, answered; one way",
		floor_run_line },
	[FLOOR_SLOT] = { "slot",
		"64-byte slots {56 bytes, sequence} through a ring of 4,096",
		floor_run_slot },
	[FLOOR_MEMCPY] = { "memcpy",
		"copies of this size between shared mappings, warm source, 16 MiB window",
		floor_run_memcpy },
	[FLOOR_WAKE] = { "wake",
		"eventfd and epoll ping-pong between sleeping processes; one way",
		floor_run_wake },
	[FLOOR_NONE] = { "none", "no floor", NULL },
};

/* How much longer than asked for a measurement may take. */
#define GRACE_MS 10000

uint32_t
floor_window_msgs(uint64_t size)
{
	uint64_t n = size == 0 ? FLOOR_WINDOW : FLOOR_WINDOW / size;

	return n < 2 ? 2 : (uint32_t)n;
}

const char *
floor_name(enum floor_kind kind)
{
	return kinds[kind].name;
}

const char *
floor_what(enum floor_kind kind)
{
	return kinds[kind].what;
}

/* Pin a process; 0: this one. */
static void
pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) != 0)
		perror("comch-perf: floor: sched_setaffinity");
}

/* Measure once: fork the partner, run both halves, collect the figure. */
static double
serve_one(const struct floor_req *req)
{
	const struct floor_req r = *req;
	struct floor_job job;
	pid_t self = getpid();
	double value;
	pid_t pid;

	if (r.kind >= FLOOR_NONE || floor_job_open(&job, &r) != 0)
		return -1;
	pid = fork();
	if (pid < 0) {
		floor_job_close(&job);
		return -1;
	}
	if (pid == 0) {
		proc_die_with_parent(self, SIGKILL);
		kinds[r.kind].run(&job, false);
		_exit(0);
	}
	/* It starts on our CPU, which we are about to spin on. */
	pin(pid, r.cpu_b);
	pin(0, r.cpu_a);
	value = kinds[r.kind].run(&job, true);
	waitpid(pid, NULL, 0);
	floor_job_close(&job);
	return value;
}

static void
serve(int fd)
{
	struct floor_req req;
	double value;

	while (read(fd, &req, sizeof(req)) == (ssize_t)sizeof(req)) {
		value = serve_one(&req);
		if (write(fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
			break;
	}
}

int
floor_start(struct floor *floor)
{
	pid_t self = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return -errno;
	floor->pid = fork();
	if (floor->pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return -errno;
	}
	if (floor->pid == 0) {
		proc_die_with_parent(self, SIGKILL);
		proc_name("comch-perf-flr");
		close(fds[0]);
		serve(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	floor->fd = fds[0];
	return 0;
}

double
floor_measure(const struct floor *floor, const struct floor_req *req)
{
	struct pollfd pfd = { .fd = floor->fd, .events = POLLIN };
	double value;

	if (write(floor->fd, req, sizeof(*req)) != (ssize_t)sizeof(*req))
		return -1;
	if (poll(&pfd, 1, (int)req->ms + GRACE_MS) != 1)
		return -1;
	if (read(floor->fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
		return -1;
	return value;
}

void
floor_stop(struct floor *floor)
{
	if (floor->pid <= 0)
		return;
	close(floor->fd);
	kill(floor->pid, SIGKILL);
	waitpid(floor->pid, NULL, 0);
	floor->pid = -1;
}
