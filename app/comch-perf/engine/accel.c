/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The flow of tests of accelerators: one task at a time, or as many as there are slots. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/window.h"
#include "engine/accel.h"
#include "engine/sync.h"

/* Time between two looks at the session. */
#define SYNC_US 1000
/* The follower looks after a signal so often. */
#define NAP_MS  200

const char *const accel_work_names[ACCEL_NB_WORKS + 1] = {
	[ACCEL_COPY] = "local",
	[ACCEL_COPY_FROM] = "from-peer",
	[ACCEL_COPY_TO] = "to-peer",
	[ACCEL_SHA1] = "sha1",
	[ACCEL_SHA256] = "sha256",
	[ACCEL_SHA512] = "sha512",
	[ACCEL_DEFLATE] = "deflate",
	[ACCEL_INFLATE] = "inflate",
	[ACCEL_LZ4] = "lz4",
};

static const enum floor_kind floors[ACCEL_NB_WORKS] = {
	[ACCEL_COPY] = FLOOR_MEMCPY,
	[ACCEL_COPY_FROM] = FLOOR_MEMCPY,
	[ACCEL_COPY_TO] = FLOOR_MEMCPY,
	[ACCEL_SHA1] = FLOOR_SHA1,
	[ACCEL_SHA256] = FLOOR_SHA256,
	[ACCEL_SHA512] = FLOOR_SHA512,
	[ACCEL_DEFLATE] = FLOOR_DEFLATE,
	[ACCEL_INFLATE] = FLOOR_INFLATE,
	[ACCEL_LZ4] = FLOOR_LZ4,
};

/* A copy from or to the peer wakes a thread of that side, and is woken by none. */
enum floor_kind
accel_floor(const struct perf_test *test, const struct perf_params *params)
{
	if (test->hops == 0)
		return floors[params->kind];
	return accel_has_peer(params) ? FLOOR_WAKE : FLOOR_LINE;
}

static const struct accel_ops *
ops_of(const struct perf_run *run)
{
	return run->test->calls[run->params.api].accel;
}

/* The follower lends memory, if it is asked to; the leader has the accelerator. */
static int
setup_end(struct perf_run *run, struct accel *accel)
{
	const bool has_peer = accel_has_peer(&run->params);
	int rc;

	if (run->leader) {
		if (has_peer && perf_run_await(run, SYNC_EXPORT, &accel->peer,
				sizeof(accel->peer), "export") != 0)
			return -ECANCELED;
		return ops_of(run)->open(accel);
	}
	if (!has_peer)
		return 0;
	if (ops_of(run)->lend(accel) != 0)
		return -ECANCELED;
	rc = sync_send(run->sync, SYNC_EXPORT, &accel->peer, sizeof(accel->peer));
	return rc == 0 ? 0 : perf_run_fail(run, "send EXPORT to the peer: %s", strerror(-rc));
}

static int
accel_setup(struct perf_run *run)
{
	struct accel *accel = calloc(1, ops_of(run)->size);

	if (accel == NULL)
		return perf_run_fail(run, "not enough memory for an accelerator");
	run->priv = accel;
	accel->run = run;
	accel->link = &run->links[0];
	accel->nb_slots = run->params.queue;
	return setup_end(run, accel);
}

static void
accel_teardown(struct perf_run *run)
{
	struct accel *accel = run->priv;

	if (accel == NULL)
		return;
	run->priv = NULL;
	ops_of(run)->close(accel);
	free(accel);
}

/* What the leader watches while tasks are worked on. */
struct watch {
	uint64_t next_sync;
	uint64_t progress;      /* tasks done at the last progress */
	uint64_t progress_tsc;
	uint64_t stuck_cycles;
};

static void
watch_init(struct watch *w, const struct perf_run *run, uint64_t now)
{
	*w = (struct watch){
		.next_sync = now,
		.progress_tsc = now,
		.stuck_cycles = clock_us_to_cycles((uint64_t)perf_run_stuck_ms(run) * 1000),
	};
}

/* @return false: the run is over */
static bool
watch_run(struct watch *w, struct perf_run *run, uint64_t now)
{
	const struct accel *accel = run->priv;

	if (now < w->next_sync)
		return true;
	w->next_sync = now + clock_us_to_cycles(SYNC_US);
	perf_run_sync(run);
	if (accel->done != w->progress)
		w->progress_tsc = now;
	w->progress = accel->done;
	if (now - w->progress_tsc > w->stuck_cycles)
		perf_run_fail(run, "no task completed within %d ms", perf_run_stuck_ms(run));
	return !perf_run_over(run);
}

static void
work(struct perf_run *run)
{
	struct link *link = &run->links[0];

	if (link_poll(link) == 0)
		link_idle(link, RTE_COMCH_POLL_ANY);
}

/* Until all that was submitted is done. @return false: the run is over */
static bool
drain(struct perf_run *run, struct watch *watch)
{
	const struct accel *accel = run->priv;

	while (accel->done < accel->submitted) {
		work(run);
		if (!watch_run(watch, run, clock_tsc()))
			return false;
	}
	return true;
}

static void
one_by_one(struct perf_run *run, struct watch *watch)
{
	struct accel *accel = run->priv;
	struct laps laps;

	laps_init(&laps, run->hist, run->params.duration_us, run->params.iters);
	do {
		if (!watch_run(watch, run, laps.last_tsc))
			return;
		laps_begin(&laps);
		if (ops_of(run)->submit(accel) != 0)
			return;
		while (accel->done < accel->submitted) {
			work(run);
			if (accel->done < accel->submitted && !watch_run(watch, run, clock_tsc()))
				return;
		}
	} while (!laps_round(&laps));
	run->result.messages = run->hist->count;
	run->result.window_ns = laps_ns(&laps);
}

static void
in_a_row(struct perf_run *run, struct watch *watch)
{
	const uint64_t total = run->params.iters > 0 ? run->params.iters : UINT64_MAX;
	struct accel *accel = run->priv;
	uint64_t now = clock_tsc();
	struct window w;

	window_init(&w, now, run->params.duration_us, run->params.iters > 0);
	while (!w.closed && accel->done < total) {
		while (accel->submitted < total &&
				accel->submitted - accel->done < accel->nb_slots)
			if (ops_of(run)->submit(accel) != 0)
				return;
		work(run);
		now = clock_tsc();
		window_update(&w, now, accel->done);
		if (!watch_run(watch, run, now))
			return;
	}
	run->result.messages = window_msgs(&w);
	run->result.window_ns = window_ns(&w);
	drain(run, watch);
}

static int
lead(struct perf_run *run)
{
	struct accel *accel = run->priv;
	struct watch watch;

	watch_init(&watch, run, clock_tsc());
	if (run->test->hops > 0)
		one_by_one(run, &watch);
	else
		in_a_row(run, &watch);
	run->result.faults.torn = accel->torn;
	sync_send(run->sync, SYNC_COUNTS, &accel->done, sizeof(accel->done));
	return perf_run_end(run);
}

/* Sleep until the leader has done its tasks: a thread of the library serves them. */
static int
follow(struct perf_run *run)
{
	struct accel *accel = run->priv;
	uint64_t done = 0;
	int rc;

	do
		rc = sync_wait(run->sync, SYNC_COUNTS, &done, sizeof(done), NAP_MS, NULL, NULL);
	while (rc == -ETIMEDOUT && !perf_run_over(run));
	perf_run_sync(run);
	if (rc >= 0 && run->params.verify && run->params.kind == ACCEL_COPY_TO)
		run->result.faults.torn = ops_of(run)->check_lent(accel,
			(uint32_t)RTE_MIN(done, (uint64_t)accel->peer.nb_slots));
	return perf_run_end(run);
}

static int
accel_launch(struct perf_run *run)
{
	return run->leader || run->test->place == PERF_PROCESS ? lead(run) : follow(run);
}

const struct perf_flow perf_flow_accel = {
	.setup = accel_setup, .launch = accel_launch, .teardown = accel_teardown,
};
