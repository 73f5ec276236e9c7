/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The main loop: the poll, the keys, signals, and streams on the main lcore. */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "lcore.h"
#include "stream.h"
#include "tc.h"

#define EVENTS    32
/** Limit of the tear-down, seconds. */
#define PATIENCE  5
/** Interval at which stdin is polled while streams of the main lcore run, seconds. */
#define KEYS_EACH 0.001

struct tc tc = { .show_messages = true, .piece = 2048 };

static int signal_fd = -1;
static volatile sig_atomic_t signalled;
static double next_period;

double
tc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
on_signal(int sig)
{
	const uint64_t one = 1;
	int saved = errno;

	(void)sig;
	signalled = 1;
	/* Also wakes a loop that looked at the flag just before and then sleeps. */
	if (write(signal_fd, &one, sizeof(one)) < 0)
		_exit(TC_EXIT_FAILED);
	errno = saved;
}

int
tc_loop_open(void)
{
	struct sigaction sa;

	signal_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (signal_fd < 0)
		return -errno;
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	/* A second signal ends the program at once. */
	sa.sa_flags = (int)SA_RESETHAND;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	tc.poll = rte_comch_poll_create(NULL);
	return tc.poll != NULL ? 0 : -rte_errno;
}

void
tc_loop_close(void)
{
	rte_comch_poll_destroy(tc.poll);
	tc.poll = NULL;
}

static uint16_t
run_poll(void)
{
	struct rte_comch_event events[EVENTS];
	uint16_t n, i;

	n = rte_comch_poll_run(tc.poll, events, EVENTS);
	for (i = 0; i < n; i++)
		tc_event(&events[i]);
	return n;
}

/* Milliseconds to sleep at most; -1: for good. */
static int
time_left(double until)
{
	double now = tc_now();

	if (tc.period > 0 && (until == 0 || next_period < until))
		until = next_period;
	if (until == 0)
		return -1;
	/* Rounded up, so that it is not woken before. */
	return until <= now ? 0 : (int)RTE_MIN((until - now) * 1e3 + 1, 1e6);
}

/* Print what is due. */
static void
run_period(void)
{
	double now;

	if (tc.period <= 0)
		return;
	now = tc_now();
	if (next_period == 0)
		next_period = now + tc.period;
	if (now < next_period)
		return;
	next_period = now + tc.period;
	tc_prompt_hide();
	tc_stream_stats(true);
	tc_prompt_restore();
}

/* Sleep until there is something to do. @return whether stdin is readable */
static bool
sleep_until(bool watch_stdin, int timeout_ms)
{
	struct pollfd fds[3] = {
		{ .fd = rte_comch_poll_fd(tc.poll, RTE_COMCH_POLL_ANY), .events = POLLIN },
		{ .fd = signalled ? -1 : signal_fd, .events = POLLIN },
		{ .fd = watch_stdin ? STDIN_FILENO : -1, .events = POLLIN },
	};
	int ret = timeout_ms == 0 ? 0 : rte_comch_poll_arm(tc.poll, RTE_COMCH_POLL_ANY);

	/* Poll a device without an event descriptor every millisecond. */
	if (ret == -ENOTSUP)
		timeout_ms = timeout_ms < 0 ? 1 : RTE_MIN(timeout_ms, 1);
	else if (ret != 0)
		timeout_ms = 0;
	if (poll(fds, RTE_DIM(fds), timeout_ms) <= 0)
		return false;
	return (fds[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

/* When the loop has to run again. */
enum pace {
	PACE_SLEEP, /* nothing */
	PACE_SOON,  /* something is about to end: look again in a millisecond */
	PACE_NOW,
};

/* Advance everything once. */
static enum pace
advance(void)
{
	enum pace pace = run_poll() == EVENTS ? PACE_NOW : PACE_SLEEP;

	tc_streams_step();
	if (tc_queues_step() && pace == PACE_SLEEP)
		pace = PACE_SOON;
	run_period();
	return lcore_main_pass() ? PACE_NOW : pace;
}

/*
 * Sleep until there is something to do. *until* limits it (0: no limit).
 *
 * @return whether stdin is readable
 */
static bool
rest(enum pace pace, bool watch_stdin, double until)
{
	static double last_look;

	if (pace != PACE_NOW)
		return sleep_until(watch_stdin, pace == PACE_SOON ? 1 : time_left(until));
	if (tc_now() - last_look < KEYS_EACH)
		return false;
	last_look = tc_now();
	return sleep_until(watch_stdin, 0);
}

void
tc_loop(bool input)
{
	while (!tc.quit && !signalled) {
		if (input)
			tc_prompt_show();
		if (input && (tc_prompt_has_input() || rest(advance(), true, 0)))
			input = tc_prompt_input();
		else if (!input && tc.period > 0)
			rest(advance(), false, 0);
		/* After the end of the input, only periodic statistics keep the loop running. */
		if (!input && tc.period <= 0)
			tc.quit = true;
	}
}

int
tc_loop_until(bool (*cond)(void *arg), void *arg, double seconds)
{
	double until = tc_now() + seconds;
	enum pace pace;

	for (;;) {
		pace = advance();
		if (cond != NULL && cond(arg))
			return 0;
		if (signalled)
			return -EINTR;
		if (tc_now() >= until)
			return -ETIMEDOUT;
		if (rest(pace, tc_prompt_watches(), until) && tc_prompt_interrupted())
			return -EINTR;
	}
}

static bool
queues_gone(void *arg)
{
	(void)arg;
	return tc_obj_next(TC_PRODUCER, 0) == NULL && tc_obj_next(TC_CONSUMER, 0) == NULL;
}

static bool
links_idle(void *arg)
{
	struct tc_server *s;
	struct tc_client *c;

	(void)arg;
	TC_FOREACH(TC_SERVER, s)
		if (rte_comch_server_state(s->server) != RTE_COMCH_STATE_IDLE)
			return false;
	TC_FOREACH(TC_CLIENT, c)
		if (rte_comch_client_state(c->client) != RTE_COMCH_STATE_IDLE)
			return false;
	return true;
}

static void
destroy_links(void)
{
	struct tc_server *s;
	struct tc_client *c;
	int16_t dev;

	TC_FOREACH(TC_SERVER, s)
		rte_comch_server_stop(s->server);
	TC_FOREACH(TC_CLIENT, c)
		rte_comch_client_stop(c->client);
	tc_loop_until(links_idle, NULL, PATIENCE);
	TC_FOREACH(TC_SERVER, s) {
		rte_comch_server_destroy(s->server);
		tc_obj_free(&s->obj);
	}
	TC_FOREACH(TC_CLIENT, c) {
		rte_comch_client_destroy(c->client);
		tc_obj_free(&c->obj);
	}
	rte_comch_poll_run(tc.poll, NULL, 0);
	RTE_COMCH_DEV_FOREACH(dev)
		rte_comch_dev_close(dev);
}

void
tc_tear_down(void)
{
	struct tc_producer *p;
	struct tc_consumer *c;

	/* The signal that ended the loop does not end this. */
	signalled = 0;
	tc.period = 0;
	tc_streams_destroy();
	TC_FOREACH(TC_PRODUCER, p)
		p->destroy = true;
	TC_FOREACH(TC_CONSUMER, c)
		c->destroy = true;
	tc_loop_until(queues_gone, NULL, PATIENCE);
	destroy_links();
}
