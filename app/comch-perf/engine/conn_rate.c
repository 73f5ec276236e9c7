/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The flow of conn-rate: --connections clients connect, disconnect and are created
 * again. It times each client from its start to RUNNING.
 */

#include <errno.h>
#include <stdlib.h>

#include "base/window.h"
#include "engine/run.h"
#include "engine/sync.h"

#define TICK_LOOPS 64
#define SYNC_US    1000
#define STUCK_US   15000000

struct conn_rate {
	uint64_t *started;    /* start of each client, TSC */
	uint64_t nb_started;
	uint64_t nb_up;
	uint64_t nb_failed;
	uint64_t nb_open;     /* clients not IDLE */
	uint64_t expected;    /* follower: number of the leader's connections */
	uint64_t total;
	struct window window;
	uint64_t next_sync;
	uint64_t progress;
	uint64_t progress_tsc;
	uint32_t loops;
};

static void
start_one(struct perf_run *run, uint32_t i)
{
	struct link *link = &run->links[0];
	struct conn_rate *cr = run->priv;

	cr->started[i] = clock_tsc();
	if (link->ops->connect(link, i) != 0)
		return;
	cr->nb_started++;
	cr->nb_open++;
}

static void
on_up(struct link *link, uint32_t i)
{
	struct perf_run *run = link->owner;
	struct conn_rate *cr = run->priv;
	uint64_t now = clock_tsc();

	cr->nb_up++;
	if (window_counts(&cr->window, now)) {
		if (run->hist->count == 0)
			cr->window.tsc[0] = cr->started[i];
		hist_add(run->hist, now - cr->started[i]);
		cr->window.tsc[1] = now;
	}
	link->ops->stop(link, i);
}

static void
on_down(struct link *link, uint32_t i, const char *why)
{
	struct perf_run *run = link->owner;
	struct conn_rate *cr = run->priv;

	cr->nb_open--;
	if (why != NULL) {
		cr->nb_failed++;
		perf_run_fail(run, "connect: %s", why);
	}
	link_destroy(link, i);
	if (cr->nb_started < cr->total && clock_tsc() < cr->window.close_tsc && !perf_run_over(run))
		start_one(run, i);
}

static int
conn_rate_setup(struct perf_run *run)
{
	struct conn_rate *cr = calloc(1, sizeof(*cr));

	run->priv = cr;
	if (cr != NULL)
		cr->started = calloc(run->params.connections, sizeof(cr->started[0]));
	if (cr == NULL || cr->started == NULL)
		return perf_run_fail(run, "not enough memory for %u clients",
				run->params.connections);
	cr->expected = UINT64_MAX;
	run->links[0].on_up = on_up;
	run->links[0].on_down = on_down;
	return 0;
}

static void
conn_rate_teardown(struct perf_run *run)
{
	struct conn_rate *cr = run->priv;

	if (cr == NULL)
		return;
	run->priv = NULL;
	run->links[0].on_up = NULL;
	run->links[0].on_down = NULL;
	free(cr->started);
	free(cr);
}

static void
tick(struct perf_run *run)
{
	struct conn_rate *cr = run->priv;
	uint64_t progress = cr->nb_up + cr->nb_started + run->links[0].nb_joined;
	uint64_t now = clock_tsc();

	if (now < cr->next_sync)
		return;
	cr->next_sync = now + clock_us_to_cycles(SYNC_US);
	perf_run_sync(run);
	sync_take(run->sync, SYNC_COUNTS, &cr->expected, sizeof(cr->expected));
	if (progress != cr->progress)
		cr->progress_tsc = now;
	cr->progress = progress;
	if (now - cr->progress_tsc > clock_us_to_cycles(STUCK_US))
		perf_run_fail(run, "no connection opened or closed for %d s",
				STUCK_US / 1000000);
}

/* Poll once. @return false: the run is over */
static bool
poll_once(struct perf_run *run)
{
	struct conn_rate *cr = run->priv;

	if (link_poll(&run->links[0]) == 0)
		link_idle(&run->links[0], RTE_COMCH_POLL_ANY);
	if (++cr->loops % TICK_LOOPS == 0 || run->params.wait == PERF_WAIT_EVENT)
		tick(run);
	return !perf_run_over(run);
}

static void
connect_all(struct perf_run *run)
{
	const struct perf_params *p = &run->params;
	struct conn_rate *cr = run->priv;
	uint32_t i;

	hist_reset(run->hist);
	cr->total = p->iters > 0 ? p->iters : UINT64_MAX;
	window_init(&cr->window, clock_tsc(), p->duration_us, p->iters > 0);
	for (i = 0; i < p->connections && cr->nb_started < cr->total; i++)
		start_one(run, i);
	while (cr->nb_open > 0 && poll_once(run))
		;
	run->result.messages = run->hist->count;
	run->result.window_ns = window_ns(&cr->window);
	run->result.faults.failed = cr->nb_failed;
	sync_send(run->sync, SYNC_COUNTS, &cr->nb_up, sizeof(cr->nb_up));
}

static int
conn_rate_launch(struct perf_run *run)
{
	const struct link *link = &run->links[0];
	struct conn_rate *cr = run->priv;

	cr->progress_tsc = clock_tsc();
	if (run->leader)
		connect_all(run);
	while (!run->leader && link->nb_joined < cr->expected && poll_once(run))
		;
	if (!run->leader && link->nb_joined > cr->expected)
		run->result.faults.disorder = link->nb_joined - cr->expected;
	return perf_run_end(run);
}

const struct perf_flow perf_flow_conn = {
	.setup = conn_rate_setup, .launch = conn_rate_launch, .teardown = conn_rate_teardown,
};
