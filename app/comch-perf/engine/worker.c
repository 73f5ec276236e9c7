/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Worker threads: the loops of the data tests, and their start and end. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "base/clock.h"
#include "engine/data.h"
#include "engine/loop.h"
#include "engine/sync.h"

/* Interval at which a spinning worker runs its poll. */
#define POLL_US    100
/* Loops between two clock reads; one for messages of TICK_SIZE and more. */
#define TICK_LOOPS 64
#define TICK_SIZE  (UINT64_C(64) << 10)

/* Take the peer's counts of sent messages. */
static void
take_counts(struct perf_run *run)
{
	struct data *d = run->priv;
	uint64_t counts[PERF_MAX_WORKERS] = { 0 };
	uint32_t i;

	if (sync_take(run->sync, SYNC_COUNTS, counts, sizeof(counts)) < 0)
		return;
	for (i = 0; i < d->nb_rx; i++)
		atomic_store_explicit(&d->rxs[i]->expected, counts[i], memory_order_relaxed);
}

/* Send the message counts to the peer once all producers of this side are done. */
static void
send_counts(struct perf_run *run)
{
	struct data *d = run->priv;
	uint64_t counts[PERF_MAX_WORKERS];
	uint32_t i;
	int rc;

	/* Pairs with the release in worker_tx_done(). */
	if (d->nb_tx == 0 || d->counts_sent ||
			atomic_load_explicit(&d->nb_sending, memory_order_acquire) > 0)
		return;
	d->counts_sent = true;
	for (i = 0; i < RTE_DIM(counts); i++)
		counts[i] = atomic_load_explicit(&d->counts[i], memory_order_relaxed);
	for (i = 0; i < d->nb_rx && run->sync == NULL; i++) {
		if (!d->rxs[i]->worker->host)
			atomic_store_explicit(&d->rxs[i]->expected,
					counts[d->rxs[i]->number], memory_order_relaxed);
	}
	rc = sync_send(run->sync, SYNC_COUNTS, counts, run->params.consumers * sizeof(counts[0]));
	if (rc != 0)
		perf_run_fail(run, "send the message counts to the peer: %s", strerror(-rc));
}

/* Exchange counts with the peer during a run; worker 0. */
static void
sync_counts(struct perf_run *run)
{
	perf_run_sync(run);
	take_counts(run);
	send_counts(run);
}

void
worker_tx_done(struct data_worker *w)
{
	const struct data_tx *tx = w->tx;
	uint32_t i;

	w->tx_done = true;
	for (i = 0; i < tx->nb_targets; i++) {
		const struct data_target *to = &tx->targets[i];

		/* Without messages that were stamped but not sent. */
		atomic_fetch_add_explicit(&w->data->counts[to->number],
				to->seq - (i == tx->target ? tx->ready : 0), memory_order_relaxed);
	}
	/* Releases the producer's counts to send_counts(). */
	atomic_fetch_sub_explicit(&w->data->nb_sending, 1, memory_order_release);
}

static void
tick_rx(struct data_worker *w, uint64_t now, bool stuck)
{
	struct data_rx *rx = w->rx;
	uint64_t expected = atomic_load_explicit(&rx->expected, memory_order_relaxed);

	window_update(&rx->window, now, rx->count);
	if (rx->count < expected && !(stuck && expected != UINT64_MAX))
		return;
	if (rx->count < expected)
		rx->faults.lost = expected - rx->count;
	else
		rx->faults.disorder += rx->count - expected;
	w->rx_done = true;
}

void
worker_tick(struct data_worker *w, uint64_t now)
{
	uint64_t progress = (w->tx != NULL ? w->tx->sent : 0) +
			(w->rx != NULL ? w->rx->count : 0);
	bool stuck;

	w->over = perf_run_over(w->run);
	if (now >= w->next_poll) {
		w->next_poll = now + clock_us_to_cycles(POLL_US);
		w->link->ops->poll_run(w->poll);
		if (w->number == 0)
			sync_counts(w->run);
	}
	if (progress != w->progress) {
		w->progress = progress;
		w->progress_tsc = now;
	}
	stuck = now - w->progress_tsc > w->stuck_cycles;
	if (!w->tx_done && now >= w->tx_end && w->tx->left > 1)
		w->tx->left = 1;
	if (!w->rx_done)
		tick_rx(w, now, stuck);
	if (!stuck || (w->tx_done && w->rx_done))
		return;
	snprintf(w->error, sizeof(w->error), "no message has moved for %d s",
			perf_run_stuck_ms(w->run) / 1000);
	atomic_store_explicit(&w->run->abort, true, memory_order_relaxed);
}

void
worker_idle(struct data_worker *w, uint32_t cls)
{
	if (w->sleeps) {
		link_sleep(w->link, w->poll, cls);
		w->link->ops->poll_run(w->poll);
		worker_tick(w, clock_tsc());
	} else if (w->run->params.crowded && ++w->idle % LINK_SPINS == 0) {
		sched_yield();
	}
}

/* Send one burst; reap if none was accepted or half of the slots are in flight. */
static uint16_t
stream_tx(struct data_worker *w, uint16_t burst)
{
	struct data_tx *tx = w->tx;
	uint16_t n = tx->ops->send(tx, burst);

	if (n == 0 || tx->in_flight * 2 >= tx->nb_slots)
		tx->ops->reap(tx);
	if (unlikely(tx->flushed))
		worker_tx_done(w);
	return n;
}

/* The loop of the rate and bandwidth tests. */
static int
worker_stream(void *worker)
{
	struct data_worker *w = worker;
	uint16_t burst = (uint16_t)w->run->params.burst;
	uint32_t every = w->run->params.size >= TICK_SIZE ? 1 : TICK_LOOPS;

	while (!(w->tx_done && w->rx_done) && !w->over) {
		uint32_t cls = 0;
		uint16_t n = 0;

		if (!w->tx_done) {
			n += stream_tx(w, burst);
			cls |= RTE_COMCH_POLL_TX;
		}
		if (!w->rx_done) {
			uint16_t got = w->rx->ops->recv(w->rx, burst);

			if (w->rx->unposted > 0)
				w->rx->ops->repost(w->rx);
			n += got;
			cls |= RTE_COMCH_POLL_RX;
		}
		if (n == 0)
			worker_idle(w, cls);
		if (++w->loops % every == 0)
			worker_tick(w, clock_tsc());
	}
	return 0;
}

static int
worker_pingpong(void *worker)
{
	struct data_worker *w = worker;

	return loop_pingpong(w, w->data->ops);
}

void
data_collect(struct perf_run *run)
{
	struct perf_result *r = &run->result;
	struct data *d = run->priv;
	uint32_t i;

	for (i = 0; i < d->nb_tx; i++) {
		if (d->ops->tx_stats != NULL)
			d->ops->tx_stats(d->txs[i], r);
		r->faults.failed += d->txs[i]->failed;
	}
	for (i = 0; i < d->nb_rx; i++) {
		struct data_rx *rx = d->rxs[i];

		if (d->ops->rx_stats != NULL)
			d->ops->rx_stats(rx, r);
		r->faults.lost += rx->faults.lost;
		r->faults.disorder += rx->faults.disorder;
		r->faults.torn += rx->faults.torn;
		r->faults.failed += rx->faults.failed;
		if (run->test->hops > 0)
			continue;
		r->messages += window_msgs(&rx->window);
		r->window_ns = RTE_MAX(r->window_ns, window_ns(&rx->window));
	}
}

static void
start_worker(struct data_worker *w, uint64_t now)
{
	const struct perf_params *p = &w->run->params;
	struct window window;

	window_init(&window, now, p->duration_us, p->iters > 0);
	if (w->rx != NULL)
		w->rx->window = window;
	/* Send longer than the receivers measure: they may start later. */
	w->tx_end = p->iters > 0 ? UINT64_MAX : window.close_tsc +
			(window.open_tsc - now) + (window.close_tsc - window.open_tsc) / 20;
	w->tx_done = w->tx == NULL;
	w->rx_done = w->rx == NULL;
	w->progress_tsc = now;
	w->stuck_cycles = clock_us_to_cycles((uint64_t)perf_run_stuck_ms(w->run) * 1000);
}

static int
run_body(void *arg)
{
	struct data_worker *w = arg;
	int rc = w->body(w);

	/* Pairs with the acquire in workers_running(). */
	atomic_store_explicit(&w->running, false, memory_order_release);
	return rc;
}

static void *
run_thread(void *arg)
{
	run_body(arg);
	return NULL;
}

/* As run_thread(), with caches of mempools, as lcores have them. */
static void *
run_registered_thread(void *arg)
{
	struct data_worker *w = arg;

	if (rte_thread_register() != 0) {
		snprintf(w->error, sizeof(w->error), "register the thread with EAL: %s",
				rte_strerror(rte_errno));
		atomic_store_explicit(&w->run->abort, true, memory_order_relaxed);
		atomic_store_explicit(&w->running, false, memory_order_release);
		return NULL;
	}
	run_body(w);
	rte_thread_unregister();
	return NULL;
}

static int
start_thread(struct data_worker *w)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	rc = pthread_attr_init(&attr);
	if (rc != 0)
		return -rc;
	rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (rc == 0)
		rc = pthread_create(&w->thread, &attr, w->run->sync == NULL ?
				run_thread : run_registered_thread, w);
	pthread_attr_destroy(&attr);
	return -rc;
}

static bool
workers_running(struct data *d)
{
	uint32_t i;

	for (i = 1; i < d->nb_workers; i++) {
		if (atomic_load_explicit(&d->workers[i].running, memory_order_acquire))
			return true;
	}
	return false;
}

/* Start all workers but the main thread. */
static void
launch_workers(struct perf_run *run)
{
	struct data *d = run->priv;
	unsigned int lcore = rte_lcore_id();
	uint32_t i;
	int rc;

	for (i = 1; i < d->nb_workers; i++) {
		struct data_worker *w = &d->workers[i];

		atomic_store_explicit(&w->running, true, memory_order_relaxed);
		if (w->has_thread) {
			rc = start_thread(w);
		} else {
			w->lcore = lcore = rte_get_next_lcore(lcore, 1, 1);
			rc = rte_eal_remote_launch(run_body, w, lcore);
		}
		w->launched = rc == 0;
		if (w->launched)
			continue;
		atomic_store_explicit(&w->running, false, memory_order_relaxed);
		perf_run_fail(run, "start worker %u: %s", i, strerror(-rc));
	}
}

static void
join_worker(struct data_worker *w)
{
	if (w->launched && w->has_thread)
		pthread_join(w->thread, NULL);
	else if (w->launched)
		rte_eal_wait_lcore(w->lcore);
}

/* Run worker 0 on this thread, the others on lcores or their own threads. */
static void
run_workers(struct perf_run *run, int (*body)(void *worker))
{
	struct data *d = run->priv;
	uint32_t i;

	for (i = 0; i < d->nb_workers; i++)
		d->workers[i].body = body;
	launch_workers(run);
	body(&d->workers[0]);
	while (workers_running(d)) {
		perf_run_poll(run);
		sync_counts(run);
		usleep(LINK_NAP_US);
	}
	for (i = 1; i < d->nb_workers; i++)
		join_worker(&d->workers[i]);
}

int
data_launch(struct perf_run *run)
{
	struct data *d = run->priv;
	uint64_t now = clock_tsc();
	uint32_t i;

	for (i = 0; i < d->nb_workers; i++)
		start_worker(&d->workers[i], now);
	run_workers(run, run->test->hops == 0 ? worker_stream :
			d->ops->pingpong != NULL ? d->ops->pingpong : worker_pingpong);
	sync_counts(run);
	for (i = 0; i < d->nb_workers; i++) {
		if (d->workers[i].error[0] != '\0')
			perf_run_fail(run, "worker %u: %s", i, d->workers[i].error);
	}
	data_collect(run);
	return perf_run_end(run);
}

const struct perf_flow perf_flow_data = {
	.setup = data_setup, .launch = data_launch, .teardown = data_teardown,
	.connects = true,
};

const struct perf_flow perf_flow_ctrl = {
	.setup = data_setup, .launch = data_launch, .teardown = data_teardown,
	.connects = true, .control = true,
};

const struct perf_flow perf_flow_local = {
	.setup = data_setup, .launch = data_launch, .teardown = data_teardown,
};
