/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_LOOP_H
#define ENGINE_LOOP_H

/**
 * @file
 * The loop of the latency tests. Inlined with constant operations, it adds no
 * overhead between the calls of the API, as the floor has none between its loads
 * and stores. As in the floor, one clock read ends a round trip and starts the
 * next.
 */

#include <rte_comch_poll.h>

#include "engine/data.h"

/* Idle loops between two clock reads. */
#define LOOP_TICK_LOOKS 4096
/* From this size on, a message may cross a staging ring in pieces, which the
 * sender must keep moving.
 */
#define LOOP_PIECES     (UINT64_C(64) << 10)

/** No progress: idle. @return false: the run is over or no more messages will arrive */
static __rte_always_inline bool
loop_wait(struct data_worker *w, uint32_t cls)
{
	if (unlikely(!w->spins))
		worker_idle(w, cls);
	if (unlikely(++w->loops % LOOP_TICK_LOOKS == 0))
		worker_tick(w, clock_tsc());
	return !w->over && !((cls & RTE_COMCH_POLL_RX) != 0 && w->rx_done);
}

/** Send one message; waits for a posted buffer. @return false: give up */
static __rte_always_inline bool
loop_send(struct data_worker *w, const struct data_ops *ops)
{
	while (ops->send(w->tx, 1) == 0) {
		ops->reap(w->tx);
		if (!loop_wait(w, RTE_COMCH_POLL_TX))
			return false;
	}
	return true;
}

/** Receive one message. @return false: give up */
static __rte_always_inline bool
loop_recv(struct data_worker *w, const struct data_ops *ops)
{
	bool push = w->run->params.size >= LOOP_PIECES;

	while (ops->recv(w->rx, 1) == 0) {
		if (unlikely(push))
			ops->reap(w->tx);
		if (!loop_wait(w, RTE_COMCH_POLL_RX | (push ? RTE_COMCH_POLL_TX : 0)))
			return false;
	}
	return true;
}

/** Housekeeping while a message is in flight. */
static __rte_always_inline void
loop_tidy(struct data_worker *w, const struct data_ops *ops)
{
	if (w->rx->unposted > 0)
		ops->repost(w->rx);
	if (w->tx->in_flight * 2 >= w->tx->nb_slots)
		ops->reap(w->tx);
	ops->prepare(w->tx, 1);
}

/** The host side, which measures. */
static __rte_always_inline void
loop_ping(struct data_worker *w, const struct data_ops *ops)
{
	struct perf_run *run = w->run;
	const bool pause = run->params.wait == PERF_WAIT_EVENT;
	struct laps laps;

	laps_init(&laps, run->hist, run->params.duration_us, run->params.iters);
	do {
		if (pause)
			laps_pause(&laps);
		if (!loop_send(w, ops))
			break;
		loop_tidy(w, ops);
		if (!loop_recv(w, ops))
			break;
	} while (!laps_round(&laps));
	run->result.messages = run->hist->count;
	run->result.window_ns = laps_ns(&laps);
	worker_tx_done(w);
}

/** Body of a worker. The clock of the host side ends the test. */
static __rte_always_inline int
loop_pingpong(struct data_worker *w, const struct data_ops *ops)
{
	w->tx_end = UINT64_MAX;
	w->tx->left = UINT64_MAX;
	ops->prepare(w->tx, 1);
	if (w->host) {
		loop_ping(w, ops);
		return 0;
	}
	while (loop_recv(w, ops) && loop_send(w, ops))
		loop_tidy(w, ops);
	return 0;
}

#endif /* ENGINE_LOOP_H */
