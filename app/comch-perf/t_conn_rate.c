/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Clients connect, disconnect and are made anew, a number of them at once.
 * What is timed is the start of a client up to its RUNNING.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "base/clock.h"
#include "proc.h"
#include "sync.h"
#include "window.h"

#define TICK_LOOPS 64
#define SYNC_US    1000
#define STUCK_US   15000000

struct conn_rate {
	struct hist *hist;
	uint64_t *started;    /* by client: TSC of its start */
	uint64_t nb_started;
	uint64_t nb_up;
	uint64_t nb_failed;
	uint64_t nb_open;     /* clients that are not IDLE yet */
	uint64_t expected;    /* the follower's: how many the leader had */
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t open_tsc;
	uint64_t close_tsc;
	uint64_t total;
	uint64_t next_sync;
	uint64_t progress_tsc;
	uint32_t loops;
};

static void
start_one(struct perf_run *run, uint32_t i)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.poll = run->link.poll,
		.name = LINK_SERVER_NAME,
		.connect_timeout_ms = LINK_TIMEOUT_MS,
		.user_data = i,
	};
	struct conn_rate *cr = run->priv;

	cr->started[i] = clock_tsc();
	run->link.clients[i] = rte_comch_client_create(run->dev_id, &conf);
	if (run->link.clients[i] == NULL) {
		perf_run_fail(run, "no client: %s", rte_strerror(rte_errno));
		return;
	}
	if (rte_comch_client_start(run->link.clients[i]) != -EINPROGRESS) {
		perf_run_fail(run, "a client does not start");
		return;
	}
	cr->nb_started++;
	cr->nb_open++;
}

static bool
is_enough(const struct conn_rate *cr)
{
	return cr->nb_started >= cr->total || clock_tsc() >= cr->close_tsc;
}

static void
on_up(struct perf_run *run, struct rte_comch_client *client, uint64_t i)
{
	struct conn_rate *cr = run->priv;
	uint64_t now = clock_tsc();

	cr->nb_up++;
	if (now >= cr->open_tsc && now < cr->close_tsc) {
		if (cr->hist->count == 0)
			cr->first_tsc = cr->started[i];
		hist_add(cr->hist, now - cr->started[i]);
		cr->last_tsc = now;
	}
	if (rte_comch_client_stop(client) != -EINPROGRESS)
		perf_run_fail(run, "a client does not stop");
}

static void
on_idle(struct perf_run *run, const struct rte_comch_event *ev)
{
	struct conn_rate *cr = run->priv;
	uint32_t i = (uint32_t)ev->user_data;

	cr->nb_open--;
	if (ev->status < 0) {
		cr->nb_failed++;
		perf_run_fail(run, "connecting: %s", ev->text != NULL ? ev->text :
				strerror(-ev->status));
	}
	rte_comch_client_destroy(ev->obj.client);
	run->link.clients[i] = NULL;
	if (!is_enough(cr) && !perf_run_over(run))
		start_one(run, i);
}

/* Nothing of what happens on these connections is for link.c. */
static bool
on_event(struct perf_run *run, const struct rte_comch_event *ev)
{
	struct conn_rate *cr = run->priv;

	if (cr == NULL)
		return true;
	cr->progress_tsc = clock_tsc();
	if (!run->leader) {
		cr->nb_up += ev->type == RTE_COMCH_EVENT_CONNECTED;
		return true;
	}
	if (ev->type != RTE_COMCH_EVENT_STATE)
		return true;
	if (ev->state.next == RTE_COMCH_STATE_RUNNING)
		on_up(run, ev->obj.client, ev->user_data);
	else if (ev->state.next == RTE_COMCH_STATE_IDLE)
		on_idle(run, ev);
	return true;
}

static int
conn_rate_setup(struct perf_run *run)
{
	struct conn_rate *cr = calloc(1, sizeof(*cr));

	run->priv = cr;
	if (cr == NULL)
		return perf_run_fail(run, "no memory");
	cr->hist = run->hist;
	cr->expected = UINT64_MAX;
	cr->started = calloc(run->params.connections, sizeof(cr->started[0]));
	if (cr->started == NULL)
		return perf_run_fail(run, "no memory");
	run->link.on_event = on_event;
	return 0;
}

static void
conn_rate_teardown(struct perf_run *run)
{
	struct conn_rate *cr = run->priv;

	if (cr == NULL)
		return;
	run->priv = NULL;
	run->link.on_event = NULL;
	free(cr->started);
	free(cr);
}

static void
tick(struct perf_run *run)
{
	struct conn_rate *cr = run->priv;
	uint64_t now = clock_tsc();

	if (now < cr->next_sync)
		return;
	cr->next_sync = now + clock_us_to_cycles(SYNC_US);
	perf_run_sync(run);
	sync_take(run->sync, SYNC_COUNTS, &cr->expected, sizeof(cr->expected));
	if (now - cr->progress_tsc > clock_us_to_cycles(STUCK_US))
		perf_run_fail(run, "no connection has come or gone for %d s",
				STUCK_US / 1000000);
}

static void
connect_all(struct perf_run *run)
{
	const struct perf_params *p = &run->params;
	struct conn_rate *cr = run->priv;
	uint64_t now = clock_tsc();
	uint32_t i;

	hist_reset(cr->hist);
	cr->total = p->iters > 0 ? p->iters : UINT64_MAX;
	cr->open_tsc = p->iters > 0 ? now : now + window_warm_cycles(p);
	cr->close_tsc = p->iters > 0 ? UINT64_MAX :
			cr->open_tsc + clock_us_to_cycles(p->duration_us);
	for (i = 0; i < p->connections && cr->nb_started < cr->total; i++)
		start_one(run, i);
	while (cr->nb_open > 0 && !perf_run_over(run)) {
		if (link_poll(run) == 0)
			link_idle(run, RTE_COMCH_POLL_ANY);
		if (++cr->loops % TICK_LOOPS == 0 || p->wait == PERF_WAIT_EVENT)
			tick(run);
	}
	run->result.messages = cr->hist->count;
	run->result.window_ns = (uint64_t)clock_cycles_to_ns(
			(double)(cr->last_tsc - cr->first_tsc));
	run->result.failed = cr->nb_failed;
	sync_send(run->sync, SYNC_COUNTS, &cr->nb_up, sizeof(cr->nb_up));
}

static void
serve_all(struct perf_run *run)
{
	struct conn_rate *cr = run->priv;

	while (cr->nb_up < cr->expected && !perf_run_over(run)) {
		if (link_poll(run) == 0)
			link_idle(run, RTE_COMCH_POLL_ANY);
		if (++cr->loops % TICK_LOOPS == 0 ||
				run->params.wait == PERF_WAIT_EVENT)
			tick(run);
	}
	if (cr->nb_up > cr->expected)
		run->result.disorder = cr->nb_up - cr->expected;
}

static int
conn_rate_launch(struct perf_run *run)
{
	struct conn_rate *cr = run->priv;

	cr->progress_tsc = clock_tsc();
	if (run->leader)
		connect_all(run);
	else
		serve_all(run);
	if (proc_quit())
		return perf_run_fail(run, "interrupted");
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}

static enum floor_kind
conn_rate_floor(const struct perf_params *params)
{
	(void)params;
	return FLOOR_WAKE;
}

static struct perf_test conn_rate = {
	.name = "conn-rate",
	.what = "clients that connect and disconnect; the time is that of connecting",
	.order = 70,
	.ways = 1,
	.options = PERF_OPT_ITERS | PERF_OPT_DURATION | PERF_OPT_CONNECTIONS |
			PERF_OPT_WAIT | PERF_OPT_HISTOGRAM,
	.base = {
		.duration_us = 1000000, .burst = 1,
		.producers = 1, .consumers = 1, .connections = 1,
	},
	.floor = conn_rate_floor,
	.setup = conn_rate_setup,
	.launch = conn_rate_launch,
	.teardown = conn_rate_teardown,
};

PERF_TEST_REGISTER(conn_rate)
