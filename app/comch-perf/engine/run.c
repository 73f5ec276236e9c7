/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* One run of one test: the steps of both sides, and waiting for the peer. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/run.h"
#include "engine/sync.h"

/* Time limits of a step of the peer, and of a message. Bytes to allocate and to move add
 * 1 ms per 4 KiB, up to an hour: an emulated machine is not faster.
 */
#define STEP_MS      30000
#define STUCK_MS     5000
#define STEP_SHIFT   12
#define STEP_MAX_MS  UINT64_C(3600000)
/* Waiting time before stderr says what the leader waits for. */
#define NOTICE_MS    3000

/* Lock-free, so that signal handlers may set it. */
static atomic_bool quit;

bool
perf_quit(void)
{
	return atomic_load_explicit(&quit, memory_order_relaxed);
}

void
perf_quit_set(void)
{
	atomic_store_explicit(&quit, true, memory_order_relaxed);
}

int
perf_refuse(char *error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, PERF_ERROR_SIZE, format, ap);
	va_end(ap);
	return -EINVAL;
}

int
perf_run_fail(struct perf_run *run, const char *format, ...)
{
	va_list ap;

	atomic_store_explicit(&run->abort, true, memory_order_relaxed);
	if (run->error[0] != '\0')
		return -ECANCELED;
	/* What fails after a signal fails because of it, maybe first on the other side. */
	if (perf_quit()) {
		snprintf(run->error, sizeof(run->error), "interrupted");
		return -ECANCELED;
	}
	va_start(ap, format);
	vsnprintf(run->error, sizeof(run->error), format, ap);
	va_end(ap);
	return -ECANCELED;
}

bool
perf_run_over(struct perf_run *run)
{
	return atomic_load_explicit(&run->abort, memory_order_relaxed) || perf_quit();
}

int
perf_run_end(struct perf_run *run)
{
	if (perf_quit())
		return perf_run_fail(run, "interrupted");
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}

uint16_t
perf_run_poll(struct perf_run *run)
{
	uint16_t n = 0;
	uint32_t i;

	for (i = 0; i < run->nb_links; i++)
		n += link_poll(&run->links[i]);
	return n;
}

void
perf_run_sync(struct perf_run *run)
{
	int rc = sync_poll(run->sync);

	if (rc == -ECANCELED)
		run->error_sent = true; /* the peer reported it */
	if (rc != 0)
		perf_run_fail(run, "peer: %s", run->sync->error);
}

/* Buffers of all consumers, bytes. */
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

int
perf_run_stuck_ms(const struct perf_run *run)
{
	return STUCK_MS + (int)RTE_MIN(run->params.size >> STEP_SHIFT, STEP_MAX_MS);
}

/* What a side waits for, and when to print a notice. */
struct await {
	struct perf_run *run;
	const char *what;
	uint64_t notice_ns;  /* 0: never, or already printed */
};

static int
await_pump(void *arg)
{
	struct await *a = arg;

	if (a->notice_ns != 0 && clock_mono_ns() > a->notice_ns) {
		fprintf(stderr, "%scomch-perf: %s: %s: waiting for the peer, which "
				"allocates %llu MiB of buffers\n",
				isatty(STDERR_FILENO) ? "\r\033[K" : "",
				a->run->test->name, a->what,
				(unsigned long long)(posted_bytes(&a->run->params) >> 20));
		a->notice_ns = 0;
	}
	perf_run_poll(a->run);
	return perf_run_over(a->run) ? -ECANCELED : 0;
}

int
perf_run_await(struct perf_run *run, int type, void *data, size_t size, const char *what)
{
	int timeout_ms = perf_run_step_ms(run);
	struct await a = { .run = run, .what = what };
	int rc;

	/* The result follows only after the measured time. */
	if (run->leader && type != SYNC_RESULT)
		a.notice_ns = clock_mono_ns() + NOTICE_MS * UINT64_C(1000000);
	rc = sync_wait(run->sync, (enum sync_type)type, data, size, timeout_ms,
			run->links[0].opened ? await_pump : NULL, &a);
	if (rc >= 0)
		return 0;
	/* The pump aborted: either the reason is recorded, or it was a signal. */
	if (perf_run_over(run))
		return perf_run_fail(run, "interrupted");
	if (rc == -EPIPE)
		return perf_run_fail(run, "%s: peer disconnected: %s", what,
				run->sync->error);
	if (rc != -ECANCELED)
		return perf_run_fail(run, "%s: no answer from the peer within %d s", what,
				timeout_ms / 1000);
	run->error_sent = true; /* the peer reported it */
	return perf_run_fail(run, "%s: peer: %s", what, run->sync->error);
}

/* Barrier of the two processes, if there are two. @return 0 or perf_run_fail() */
static int
barrier(struct perf_run *run, const char *what)
{
	int rc = sync_send(run->sync, SYNC_GO, NULL, 0);

	if (run->sync == NULL)
		return 0;
	if (rc != 0)
		return perf_run_fail(run, "%s: send GO to the peer: %s", what,
				strerror(-rc));
	return perf_run_await(run, SYNC_GO, NULL, 0, what);
}

static void
on_link_fail(struct link *link, const char *text)
{
	perf_run_fail(link->owner, "%s", text);
}

static int
pump(struct link *link)
{
	struct perf_run *run = link->owner;
	int n = perf_run_poll(run);

	if (link->closing)
		return n;
	perf_run_sync(run);
	return perf_run_over(run) ? -ECANCELED : n;
}

static int
open_link(struct perf_run *run, bool host)
{
	const struct perf_params *p = &run->params;
	bool control = run->test->flow->control;
	bool local = run->test->place == PERF_PROCESS;
	uint32_t max_queue = RTE_MIN(run->info.max_recv_queue, run->info.max_send_queue);
	struct link *link = &run->links[run->nb_links++];

	*link = (struct link){
		.ops = run->test->calls[p->api].link,
		.name = LINK_SERVER_NAME,
		.host = host,
		.dev_id = local ? -1 : run->dev_id,
		.info = local ? NULL : &run->info,
		.nb_conns = local && !run->test->flow->connects ? 0 : p->connections,
		.queue = control ? RTE_MIN(p->queue, max_queue) : 0,
		/* Unless control messages are under test, the only one is the number. */
		.max_msg_size = RTE_MAX(control ? (uint32_t)p->size : 0,
				(uint32_t)sizeof(struct link_number)),
		.burst = p->burst,
		.timeout_ms = LINK_TIMEOUT_MS,
		.sleeps = p->wait != PERF_WAIT_POLL,
		.crowded = p->crowded,
		.owner = run,
		.on_fail = on_link_fail,
		.pump = pump,
	};
	return link_open(link);
}

static void
close_links(struct perf_run *run)
{
	uint32_t i;

	/* The host's first: the DPU's waits for its clients to disconnect. */
	for (i = 0; i < run->nb_links; i++)
		link_close(&run->links[i], perf_quit() || run->error[0] != '\0');
	run->nb_links = 0;
}

/* The device to read counters of. The DOCA APIs open their own, so by default it is any. */
static int16_t
counted_dev(const struct perf_run *run)
{
	return run->same_process ? run->dev_id : COUNTERS_ANY_DEV;
}

/* The steps that are the same on both sides. */
static int
run_steps(struct perf_run *run)
{
	const struct perf_flow *flow = run->test->flow;
	uint32_t i;
	int rc;

	for (i = 0; flow->connects && i < run->nb_links; i++) {
		if (link_up(&run->links[i]) != 0)
			return -ECANCELED;
	}
	if (flow->setup != NULL && flow->setup(run) != 0)
		return -ECANCELED;
	if (barrier(run, "launch") != 0)
		return -ECANCELED;
	counters_read(&run->result.counters, counted_dev(run));
	rc = flow->launch(run);
	counters_since(&run->result.counters, counted_dev(run));
	return rc;
}

/* Send the error, if any, to the peer, and undo the steps. */
static void
run_unwind(struct perf_run *run)
{
	uint32_t i;

	if (run->error[0] != '\0' && !run->error_sent) {
		run->error_sent = true;
		sync_send(run->sync, SYNC_ERROR, run->error, strlen(run->error) + 1);
	}
	/* From here on, disconnects are expected. */
	for (i = 0; i < run->nb_links; i++)
		run->links[i].closing = true;
	if (run->test->flow->teardown != NULL)
		run->test->flow->teardown(run);
	if (run->error[0] == '\0')
		barrier(run, "close");
	close_links(run);
}

static int
lead(struct perf_run *run)
{
	struct sync_run msg = { .params = run->params };

	snprintf(msg.test, sizeof(msg.test), "%s", run->test->name);
	if (sync_send(run->sync, SYNC_RUN, &msg, sizeof(msg)) != 0)
		return perf_run_fail(run, "send RUN to the peer: %s", run->sync->error);
	if (perf_run_await(run, SYNC_READY, NULL, 0, "prepare") != 0 ||
			open_link(run, true) != 0)
		return -ECANCELED;
	if (run_steps(run) != 0)
		return -ECANCELED;
	return perf_run_await(run, SYNC_RESULT, &run->peer, sizeof(run->peer), "results");
}

/* Run a test with both sides in this process. */
static int
lead_local(struct perf_run *run)
{
	int rc = 0;

	run->sync = NULL;
	if (run->test->calls != NULL) {
		rc = open_link(run, true);
		if (rc == 0 && run->test->flow->connects)
			rc = open_link(run, false);
	}
	if (rc == 0)
		rc = run_steps(run);
	run_unwind(run);
	return rc;
}

int
perf_run_check(struct perf_run *run)
{
	char error[PERF_ERROR_SIZE];

	if (run->test->place != PERF_TWO_SIDES || run->test->check == NULL ||
			run->test->check(&run->params, &run->info, error) == 0)
		return 0;
	return perf_run_fail(run, "%s", error);
}

int
perf_run_lead(struct perf_run *run)
{
	int timeout_ms = perf_run_step_ms(run);

	if (run->test->place != PERF_TWO_SIDES)
		return lead_local(run);
	sync_run_begin(run->sync);
	lead(run);
	run_unwind(run);
	if (perf_quit())
		return -EPIPE;
	if (sync_wait(run->sync, SYNC_CLOSED, NULL, 0, timeout_ms, NULL, NULL) == -ECANCELED) {
		/* The peer failed after this side finished; its CLOSED follows. */
		perf_run_fail(run, "peer: %s", run->sync->error);
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

	if (perf_run_check(run) != 0 || open_link(run, false) != 0)
		return -ECANCELED;
	rc = sync_send(run->sync, SYNC_READY, NULL, 0);
	if (rc != 0)
		return perf_run_fail(run, "send READY to the peer: %s", strerror(-rc));
	if (run_steps(run) != 0)
		return -ECANCELED;
	rc = sync_send(run->sync, SYNC_RESULT, &run->result, sizeof(run->result));
	return rc == 0 ? 0 : perf_run_fail(run, "send RESULT to the peer: %s", strerror(-rc));
}

int
perf_run_follow(struct perf_run *run)
{
	follow(run);
	run_unwind(run);
	if (sync_send(run->sync, SYNC_CLOSED, NULL, 0) != 0)
		return -EPIPE;
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}
