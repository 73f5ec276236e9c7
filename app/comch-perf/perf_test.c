/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "perf_test.h"
#include "proc.h"
#include "sync.h"

/* A step of the other side may take so long, and longer where it has to get
 * memory for large messages: 1 ms for 16 KiB, up to an hour.
 */
#define STEP_MS      30000
#define STEP_SHIFT   14
#define STEP_MAX_MS  UINT64_C(3600000)
/* After so long, people want to know what is waited for. */
#define TELL_MS      3000

static struct perf_test *tests;

void
perf_test_register(struct perf_test *test)
{
	struct perf_test **at = &tests;

	while (*at != NULL && (*at)->order < test->order)
		at = &(*at)->next;
	test->next = *at;
	*at = test;
}

const struct perf_test *
perf_test_next(const struct perf_test *test)
{
	return test == NULL ? tests : test->next;
}

const struct perf_test *
perf_test_find(const char *name)
{
	const struct perf_test *test = tests;

	while (test != NULL && strcmp(test->name, name) != 0)
		test = test->next;
	return test;
}

int
perf_run_fail(struct perf_run *run, const char *format, ...)
{
	va_list ap;

	atomic_store_explicit(&run->abort, true, memory_order_relaxed);
	if (run->error[0] != '\0')
		return -ECANCELED;
	va_start(ap, format);
	vsnprintf(run->error, sizeof(run->error), format, ap);
	va_end(ap);
	return -ECANCELED;
}

bool
perf_run_over(struct perf_run *run)
{
	return atomic_load_explicit(&run->abort, memory_order_relaxed) || proc_quit();
}

static uint64_t
result_errors(const struct perf_result *r)
{
	return r->lost + r->disorder + r->torn + r->failed;
}

uint64_t
perf_run_errors(const struct perf_run *run)
{
	return result_errors(&run->result) + result_errors(&run->peer);
}

void
perf_run_sync(struct perf_run *run)
{
	int rc = sync_poll(run->sync);

	if (rc == -ECANCELED)
		run->error_sent = true; /* they know */
	if (rc != 0)
		perf_run_fail(run, "the other side: %s", sync_error(run->sync));
}

/* Bytes of buffers of all consumers. */
static uint64_t
posted_bytes(const struct perf_params *p)
{
	return p->size * RTE_MAX(p->queue, 1u) * RTE_MAX(p->consumers, 1u);
}

int
perf_run_step_ms(const struct perf_run *run)
{
	return STEP_MS + (int)RTE_MIN(posted_bytes(&run->params) >> STEP_SHIFT, STEP_MAX_MS);
}

/* What the leader waits for, and when to say so. */
struct await {
	struct perf_run *run;
	const char *what;
	uint64_t tell_ns;    /* 0: never, or not again */
};

static int
await_pump(void *arg)
{
	struct await *a = arg;

	if (a->tell_ns != 0 && clock_mono_ns() > a->tell_ns) {
		fprintf(stderr, "%scomch-perf: %s: %s: waiting for the other side, whose "
				"buffers take %llu MiB\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
				a->run->test->name, a->what,
				(unsigned long long)(posted_bytes(&a->run->params) >> 20));
		a->tell_ns = 0;
	}
	return link_pump(a->run);
}

int
perf_run_await(struct perf_run *run, int type, void *data, size_t size,
		const char *what)
{
	int timeout_ms = perf_run_step_ms(run);
	struct await a = { .run = run, .what = what };
	int rc;

	/* The results come when the time of measuring is over. */
	if (run->leader && type != SYNC_RESULT)
		a.tell_ns = clock_mono_ns() + TELL_MS * UINT64_C(1000000);
	rc = sync_wait(run->sync, (enum sync_type)type, data, size, timeout_ms,
			run->link.ops != NULL ? await_pump : NULL, &a);
	if (rc >= 0)
		return 0;
	/* The pump gave up: why is noted already, if it was not a signal. */
	if (perf_run_over(run))
		return perf_run_fail(run, "interrupted");
	switch (rc) {
	case -EPIPE:
		return perf_run_fail(run, "the other side is gone: %s",
				sync_error(run->sync));
	case -ECANCELED:
		run->error_sent = true; /* they know */
		return perf_run_fail(run, "%s: the other side: %s", what,
				sync_error(run->sync));
	case -EINTR:
		return perf_run_fail(run, "interrupted");
	default:
		return perf_run_fail(run, "%s: the other side has not answered in %d s", what,
				timeout_ms / 1000);
	}
}

/* Both sides meet; 0 or perf_run_fail(). */
static int
meet(struct perf_run *run, const char *what)
{
	int rc = sync_send(run->sync, SYNC_GO, NULL, 0);

	if (rc != 0)
		return perf_run_fail(run, "%s: cannot tell the other side: %s", what,
				strerror(-rc));
	return perf_run_await(run, SYNC_GO, NULL, 0, what);
}

/* The steps that both sides take alike. */
static int
climb(struct perf_run *run)
{
	if (run->test->connects && link_up(run) != 0)
		return -ECANCELED;
	if (run->test->setup != NULL && run->test->setup(run) != 0)
		return -ECANCELED;
	if (meet(run, "launching") != 0)
		return -ECANCELED;
	return run->test->launch(run);
}

/* Come down, having told the other side if we are the one who failed. */
static void
come_down(struct perf_run *run)
{
	if (run->error[0] != '\0' && !run->error_sent) {
		run->error_sent = true;
		sync_send(run->sync, SYNC_ERROR, run->error, strlen(run->error) + 1);
	}
	/* After a failure nobody waits: disconnecting is no error now. */
	run->link.closing = true;
	if (run->test->teardown != NULL)
		run->test->teardown(run);
	if (run->error[0] == '\0')
		meet(run, "closing");
	link_close(run);
}

static int
lead(struct perf_run *run)
{
	struct sync_run msg = { .params = run->params };

	snprintf(msg.test, sizeof(msg.test), "%s", run->test->name);
	if (sync_send(run->sync, SYNC_RUN, &msg, sizeof(msg)) != 0)
		return perf_run_fail(run, "the other side is gone: %s",
				sync_error(run->sync));
	if (perf_run_await(run, SYNC_READY, NULL, 0, "preparing") != 0 ||
			link_open(run) != 0)
		return -ECANCELED;
	if (climb(run) != 0)
		return -ECANCELED;
	return perf_run_await(run, SYNC_RESULT, &run->peer, sizeof(run->peer),
			"results");
}

static int
lead_alone(struct perf_run *run)
{
	int rc = run->test->setup != NULL ? run->test->setup(run) : 0;

	if (rc == 0)
		rc = run->test->launch(run);
	if (run->test->teardown != NULL)
		run->test->teardown(run);
	return rc;
}

int
perf_run_check(struct perf_run *run)
{
	char error[PERF_ERROR_SIZE];

	if (run->test->alone || run->test->check == NULL ||
			run->test->check(&run->params, &run->info, error) == 0)
		return 0;
	run->refused = true;
	return perf_run_fail(run, "%s", error);
}

int
perf_run_lead(struct perf_run *run)
{
	int timeout_ms = perf_run_step_ms(run);

	if (run->test->alone)
		return lead_alone(run);
	sync_run_set(run->sync, sync_run_get(run->sync) + 1);
	lead(run);
	come_down(run);
	if (proc_quit())
		return -EPIPE;
	if (sync_wait(run->sync, SYNC_CLOSED, NULL, 0, timeout_ms, NULL, NULL) == -ECANCELED) {
		/* It failed after we had finished, and closes next. */
		perf_run_fail(run, "the other side: %s", sync_error(run->sync));
		sync_forgive(run->sync);
		sync_wait(run->sync, SYNC_CLOSED, NULL, 0, timeout_ms, NULL, NULL);
	}
	if (sync_poll(run->sync) == -EPIPE)
		return -EPIPE;
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}

static int
follow(struct perf_run *run)
{
	int rc;

	if (perf_run_check(run) != 0 || link_open(run) != 0)
		return -ECANCELED;
	rc = sync_send(run->sync, SYNC_READY, NULL, 0);
	if (rc != 0)
		return perf_run_fail(run, "cannot answer: %s", strerror(-rc));
	if (climb(run) != 0)
		return -ECANCELED;
	rc = sync_send(run->sync, SYNC_RESULT, &run->result, sizeof(run->result));
	return rc == 0 ? 0 : perf_run_fail(run, "cannot answer: %s", strerror(-rc));
}

int
perf_run_follow(struct perf_run *run)
{
	follow(run);
	come_down(run);
	if (sync_send(run->sync, SYNC_CLOSED, NULL, 0) != 0)
		return -EPIPE;
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}
