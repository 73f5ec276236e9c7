/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Messages between two pinned processes over a Unix socket: a peer that perf-peers.sh
 * compiles. Prints one figure, like comch-perf-floor.
 *
 * usage: perf_peers_unix TEST CPU-A CPU-B MS SIZE
 *
 *   lat     SOCK_SEQPACKET ping-pong, both spin; half a round trip, p50, ns
 *   wake    the same, both sleep; A pauses before each round trip, so that B sleeps
 *   rate    SOCK_SEQPACKET from A to B, up to 32 messages per call; messages/s
 *   stream  SOCK_STREAM from A to B, SIZE bytes per call; bytes/s
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/window.h"

#define BURST 32
/* Memory that large messages cycle through, as in comch-perf. */
#define WINDOW_BYTES ((size_t)16 << 20)
/* As comch-perf --wait event. */
#define PAUSE_US 50

struct job {
	int fd;
	int flags; /* of each call: MSG_DONTWAIT to spin */
	bool pause;
	uint32_t ms;
	size_t size;
	uint8_t *window;
	uint32_t nb_msgs; /* that fit into the window */
};

/* Send or receive all of a message of a stream, or a packet. @return false: end or error */
static bool
transfer(const struct job *job, uint8_t *data, bool is_send)
{
	size_t done = 0;
	ssize_t n;

	while (done < job->size) {
		n = is_send ? send(job->fd, data + done, job->size - done,
				job->flags | MSG_NOSIGNAL) :
			recv(job->fd, data + done, job->size - done, job->flags);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return false;
	}
	return true;
}

static double
ping_a(struct job *job)
{
	static struct hist hist;
	struct laps laps;

	laps_init(&laps, &hist, job->ms * UINT64_C(1000), 0);
	do {
		if (job->pause) {
			usleep(PAUSE_US);
			laps.last_tsc = clock_tsc();
		}
		if (!transfer(job, job->window, true) || !transfer(job, job->window, false))
			return -1;
	} while (!laps_round(&laps));
	return clock_cycles_to_ns(hist_quantile(&hist, 0.5)) / 2;
}

static bool
ping_b(struct job *job)
{
	while (transfer(job, job->window, false)) {
		if (!transfer(job, job->window, true))
			break;
	}
	return true;
}

static double
per_second(const struct window *w)
{
	return (double)window_msgs(w) * 1e9 / (double)window_ns(w);
}

static void
fill_burst(const struct job *job, struct mmsghdr *msgs, struct iovec *iov)
{
	uint32_t i;

	memset(msgs, 0, BURST * sizeof(msgs[0]));
	for (i = 0; i < BURST; i++) {
		iov[i].iov_base = job->window + i * job->size;
		iov[i].iov_len = job->size;
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
}

/* Each message carries its number. */
static double
rate_a(struct job *job)
{
	struct mmsghdr msgs[BURST];
	struct iovec iov[BURST];
	uint64_t pos = 0, number;
	struct window w;
	uint32_t i;
	int n;

	fill_burst(job, msgs, iov);
	window_init(&w, clock_tsc(), job->ms * UINT64_C(1000), false);
	while (!w.closed) {
		for (i = 0; i < BURST; i++) {
			number = pos + i;
			memcpy(iov[i].iov_base, &number, sizeof(number));
		}
		n = sendmmsg(job->fd, msgs, BURST, job->flags | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		pos += n > 0 ? (uint64_t)n : 0;
		window_update(&w, clock_tsc(), pos);
	}
	return per_second(&w);
}

static bool
rate_b(struct job *job)
{
	struct mmsghdr msgs[BURST];
	struct iovec iov[BURST];
	uint64_t pos = 0, number;
	int n, i;

	fill_burst(job, msgs, iov);
	for (;;) {
		n = recvmmsg(job->fd, msgs, BURST, job->flags | MSG_WAITFORONE, NULL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		for (i = 0; i < n; i++, pos++) {
			if (msgs[i].msg_len == 0)
				return true; /* A has finished */
			memcpy(&number, iov[i].iov_base, sizeof(number));
			if (msgs[i].msg_len != job->size || number != pos)
				return false;
		}
	}
}

static double
stream_a(struct job *job)
{
	struct window w;
	uint64_t pos = 0;

	window_init(&w, clock_tsc(), job->ms * UINT64_C(1000), false);
	while (!w.closed) {
		if (!transfer(job, job->window, true))
			return -1;
		window_update(&w, clock_tsc(), ++pos);
	}
	return per_second(&w) * (double)job->size;
}

static bool
stream_b(struct job *job)
{
	uint64_t pos;

	for (pos = 0; ; pos++) {
		if (!transfer(job, job->window + pos % job->nb_msgs * job->size, false))
			return true;
	}
}

static const struct {
	const char *name;
	int type;
	int flags;
	double (*a)(struct job *job); /* returns the figure, negative: failed */
	bool (*b)(struct job *job);
} tests[] = {
	{ "lat", SOCK_SEQPACKET, MSG_DONTWAIT, ping_a, ping_b },
	{ "wake", SOCK_SEQPACKET, 0, ping_a, ping_b },
	{ "rate", SOCK_SEQPACKET, 0, rate_a, rate_b },
	{ "stream", SOCK_STREAM, 0, stream_a, stream_b },
};
#define NB_TESTS (sizeof(tests) / sizeof(tests[0]))

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		perror("perf_peers_unix: sched_setaffinity");
}

/* Process B. */
static void
child(struct job *job, size_t test, int cpu, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	pin(cpu);
	_exit(tests[test].b(job) ? 0 : 1);
}

static double
run(struct job *job, size_t test, int cpu_a, int cpu_b)
{
	pid_t self = getpid(), pid;
	int fds[2], status = 0;
	double value;

	if (socketpair(AF_UNIX, tests[test].type, 0, fds) != 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	job->fd = fds[pid == 0];
	close(fds[pid != 0]);
	if (pid == 0)
		child(job, test, cpu_b, self);
	pin(cpu_a);
	value = tests[test].a(job);
	close(job->fd);
	waitpid(pid, &status, 0);
	return status == 0 ? value : -1;
}

int
main(int argc, char **argv)
{
	struct job job = { .fd = -1 };
	size_t test = 0;
	double value;

	while (argc == 6 && test < NB_TESTS && strcmp(argv[1], tests[test].name) != 0)
		test++;
	if (argc == 6) {
		job.ms = (uint32_t)strtoul(argv[4], NULL, 0);
		job.size = strtoul(argv[5], NULL, 0);
	}
	if (argc != 6 || test == NB_TESTS || job.ms == 0 || job.size < sizeof(uint64_t) ||
			job.size * BURST > 2 * WINDOW_BYTES) {
		fprintf(stderr, "usage: perf_peers_unix lat|wake|rate|stream CPU-A CPU-B MS "
				"SIZE\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	clock_calibrate();
	job.flags = tests[test].flags;
	job.pause = strcmp(argv[1], "wake") == 0;
	job.nb_msgs = (uint32_t)(WINDOW_BYTES / job.size);
	job.window = malloc(2 * WINDOW_BYTES);
	if (job.window == NULL)
		return 1;
	memset(job.window, 1, 2 * WINDOW_BYTES);
	value = run(&job, test, atoi(argv[2]), atoi(argv[3]));
	if (value < 0)
		fprintf(stderr, "perf_peers_unix: %s failed\n", argv[1]);
	else
		printf("%.17g\n", value);
	return value < 0;
}
