/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "data.h"
#include "sync.h"

/* How often a spinning worker looks after its poll. */
#define POLL_US    100
/* Loops between two looks at the clock, unless messages are large. */
#define TICK_LOOPS 64
#define TICK_SIZE  (UINT64_C(64) << 10)
/* Fruitless loops before a worker without a CPU of its own gives it away. */
#define SPINS      64
/* Nothing has moved for so long: what is missing is lost. */
#define STUCK_US   5000000

static void
run_poll(struct data_worker *w)
{
	if (!w->own_poll)
		link_poll(w->run);
	else
		w->data->api->ends->worker_poll(w);
}

/* Numbers of messages that the other side has sent us. */
static void
take_counts(struct perf_run *run)
{
	struct data *d = run->priv;
	uint64_t counts[PERF_MAX_WORKERS] = { 0 };
	uint32_t i;

	if (sync_take(run->sync, SYNC_COUNTS, counts, sizeof(counts)) < 0)
		return;
	for (i = 0; i < d->nb_rx; i++)
		atomic_store_explicit(&d->expected[i], counts[i], memory_order_relaxed);
}

/* Tell the other side what was sent, once nobody here sends any more. */
static void
send_counts(struct perf_run *run)
{
	struct data *d = run->priv;
	uint64_t counts[PERF_MAX_WORKERS];
	uint32_t i;

	/* Pairs with the release in worker_tx_done(). */
	if (d->nb_tx == 0 || d->counts_sent ||
			atomic_load_explicit(&d->nb_sending, memory_order_acquire) > 0)
		return;
	d->counts_sent = true;
	for (i = 0; i < RTE_DIM(counts); i++)
		counts[i] = atomic_load_explicit(&d->counts[i], memory_order_relaxed);
	if (run->test->alone) {
		for (i = 0; i < d->nb_rx; i++)
			atomic_store_explicit(&d->expected[i], counts[i],
					memory_order_relaxed);
		return;
	}
	if (sync_send(run->sync, SYNC_COUNTS, counts,
			run->params.consumers * sizeof(counts[0])) != 0)
		perf_run_fail(run, "the other side is gone");
}

void
worker_sync(struct perf_run *run)
{
	if (!run->test->alone) {
		perf_run_sync(run);
		take_counts(run);
	}
	send_counts(run);
}

/* Count what a producer has sent to a consumer. */
static void
add_count(struct data *d, const struct data_target *to, uint64_t n)
{
	atomic_fetch_add_explicit(&d->counts[to->number], n, memory_order_relaxed);
}

void
worker_tx_done(struct data_worker *w)
{
	const struct data_tx *tx = w->tx;
	uint32_t i;

	w->tx_done = true;
	for (i = 0; i < tx->nb_targets; i++) {
		const struct data_target *to = &tx->targets[i];

		/* Those that were stamped but never offered do not count. */
		add_count(w->data, to, to->seq - (i == tx->target ? tx->ready : 0));
	}
	/* Releases the producer's counts to send_counts(). */
	atomic_fetch_sub_explicit(&w->data->nb_sending, 1, memory_order_release);
}

static void
tick_rx(struct data_worker *w, uint64_t now, bool stuck)
{
	struct data_rx *rx = w->rx;
	uint64_t expected = atomic_load_explicit(&w->data->expected[rx->number],
			memory_order_relaxed);

	window_update(&rx->window, now, rx->count);
	if (rx->count < expected && !(stuck && expected != UINT64_MAX))
		return;
	if (rx->count < expected)
		rx->lost = expected - rx->count;
	else
		rx->disorder += rx->count - expected;
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
		run_poll(w);
		if (w->number == 0)
			worker_sync(w->run);
	}
	if (progress != w->progress) {
		w->progress = progress;
		w->progress_tsc = now;
	}
	stuck = now - w->progress_tsc > clock_us_to_cycles(STUCK_US);
	if (!w->tx_done && now >= w->tx_end && w->tx->left > 1)
		w->tx->left = 1;
	if (!w->rx_done)
		tick_rx(w, now, stuck);
	if (!stuck || (w->tx_done && w->rx_done))
		return;
	snprintf(w->error, sizeof(w->error), "no message has moved for %d s",
			STUCK_US / 1000000);
	atomic_store_explicit(&w->run->abort, true, memory_order_relaxed);
}

static void
go_to_sleep(struct data_worker *w, uint32_t cls)
{
	w->data->api->ends->worker_sleep(w, cls);
	run_poll(w);
}

void
worker_idle(struct data_worker *w, uint32_t cls)
{
	if (w->run->params.wait == PERF_WAIT_EVENT) {
		go_to_sleep(w, cls);
		worker_tick(w, clock_tsc());
	} else if (w->run->params.crowded && ++w->idle % SPINS == 0) {
		sched_yield();
	}
}

/* Send one burst; take completions when there are some to be expected. */
static uint16_t
stream_tx(struct data_worker *w, uint16_t burst)
{
	struct data_tx *tx = w->tx;
	uint16_t n = tx->api->send(tx, burst);

	if (n == 0 || tx->in_flight * 2 >= tx->nb_slots)
		tx->api->reap(tx);
	if (unlikely(tx->flushed))
		worker_tx_done(w);
	return n;
}

int
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
			uint16_t got = w->rx->api->recv(w->rx, burst);

			if (got > 0)
				w->rx->api->repost(w->rx);
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
