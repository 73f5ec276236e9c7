/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Run comch-perf-floor from the directory of this program, and read its figure. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "floor/floor.h"
#include "floor/lines.h"

/* Extra time that a measurement may take. */
#define GRACE_MS 10000

/* Path of a program in the directory of this one. */
static int
find_program(const char *name, char *path, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", path, size - strlen(name) - 1);

	if (len <= 0)
		return -errno;
	path[len] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
	return 0;
}

/* Start the program with its standard output on *fd*. */
static int
start(const struct floor_req *req, int fd, pid_t *pid)
{
	char cpu_a[16], cpu_b[16], ms[16], size[32], hz[32], burst[16], queue[16], lines[16];
	char path[PATH_MAX];
	char *argv[] = {
		path, (char *)(uintptr_t)floor_name(req->kind), cpu_a, cpu_b, ms, size, hz, burst,
		queue, lines, NULL,
	};
	posix_spawn_file_actions_t actions;
	extern char **environ;
	int rc;

	rc = find_program(floor_program(req->kind), path, sizeof(path));
	if (rc != 0)
		return rc;
	snprintf(cpu_a, sizeof(cpu_a), "%d", req->cpu_a);
	snprintf(cpu_b, sizeof(cpu_b), "%d", req->cpu_b);
	snprintf(ms, sizeof(ms), "%u", req->ms);
	snprintf(size, sizeof(size), "%llu", (unsigned long long)req->size);
	snprintf(hz, sizeof(hz), "%llu", (unsigned long long)clock_hz());
	snprintf(burst, sizeof(burst), "%u", req->burst);
	snprintf(queue, sizeof(queue), "%u", req->queue);
	snprintf(lines, sizeof(lines), "%g", (double)req->lines / FLOOR_ONE_LINE);
	rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return -rc;
	rc = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn(pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		fprintf(stderr, "comch-perf: start %s: %s\n", path, strerror(rc));
	return -rc;
}

static const struct floor_figure failed = { .value = -1, .p999_ns = NAN };

/* Read what the program prints. */
static struct floor_figure
read_figure(int fd, uint32_t ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct floor_figure figure;
	char text[64];
	ssize_t len;

	if (poll(&pfd, 1, (int)ms + GRACE_MS) != 1)
		return failed;
	len = read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return failed;
	text[len] = '\0';
	switch (sscanf(text, "%lf %lf", &figure.value, &figure.p999_ns)) {
	case 2:
		return figure;
	case 1:
		figure.p999_ns = NAN;
		return figure;
	default:
		return failed;
	}
}

struct floor_figure
floor_measure(const struct floor_req *req)
{
	struct floor_figure figure = failed;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return failed;
	if (start(req, fds[1], &pid) == 0) {
		figure = read_figure(fds[0], req->ms);
		if (figure.value < 0)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(fds[0]);
	close(fds[1]);
	return figure;
}
