/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_WINDOW_H
#define BASE_WINDOW_H

/**
 * @file
 * The measured part of a run, for floors and tests alike. A run by duration opens
 * it after a warm-up and closes it when the duration ends.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_pause.h>

#include "base/clock.h"
#include "base/hist.h"

/** The warm-up precedes the window and takes this fraction of its duration. */
#define WINDOW_WARM_DIVISOR 10

/**
 * Measures a rate: messages between two clock reads. A run by message count
 * has no warm-up: the window lasts from the start of the run to the first clock
 * read after the last message.
 */
struct window {
	bool by_count;
	bool open;
	bool closed;
	uint64_t open_tsc;  /**< Scheduled start and end. */
	uint64_t close_tsc;
	uint64_t tsc[2];    /**< Measured start and end. */
	uint64_t msgs[2];   /**< Message counts at these times. */
};

/** Prepare a window for a run that starts now. */
static inline void
window_init(struct window *w, uint64_t now, uint64_t duration_us, bool by_count)
{
	*w = (struct window){
		.by_count = by_count,
		.open_tsc = now,
		.close_tsc = UINT64_MAX,
		.tsc = { now, now },
	};
	if (by_count)
		return;
	w->open_tsc = now + clock_us_to_cycles(duration_us / WINDOW_WARM_DIVISOR);
	w->close_tsc = w->open_tsc + clock_us_to_cycles(duration_us);
}

/** Record the time and the number of messages so far. */
static inline void
window_update(struct window *w, uint64_t now, uint64_t msgs)
{
	if (w->by_count) {
		if (msgs != w->msgs[1])
			w->tsc[1] = now;
		w->msgs[1] = msgs;
		return;
	}
	if (w->closed || now < w->open_tsc)
		return;
	w->tsc[1] = now;
	w->msgs[1] = msgs;
	/* Close on a later update than the opening one, or the window would be empty. */
	w->closed = w->open && now >= w->close_tsc;
	if (!w->open) {
		w->tsc[0] = now;
		w->msgs[0] = msgs;
		w->open = true;
	}
}

/** Is this time within the window? */
static inline bool
window_counts(const struct window *w, uint64_t now)
{
	return now >= w->open_tsc && now < w->close_tsc;
}

/** Messages in the window. */
static inline uint64_t
window_msgs(const struct window *w)
{
	return w->msgs[1] - w->msgs[0];
}

/** Length of the window, ns. */
static inline uint64_t
window_ns(const struct window *w)
{
	return (uint64_t)clock_cycles_to_ns((double)(w->tsc[1] - w->tsc[0]));
}

/** Back-to-back round trips: each starts when the previous one ends. */
struct laps {
	struct hist *hist;    /**< Latencies after the warm-up. */
	uint64_t rounds;
	uint64_t warm_rounds; /**< Run by count: rounds of the warm-up. */
	uint64_t total_rounds;
	uint64_t open_tsc;    /**< Run by duration: end of the warm-up. */
	uint64_t close_tsc;
	uint64_t first_tsc;   /**< Start of the first measured one. */
	uint64_t last_tsc;    /**< End of the latest one. */
};

/** Start the clock. *rounds* 0: run by duration. */
static inline void
laps_init(struct laps *l, struct hist *hist, uint64_t duration_us, uint64_t rounds)
{
	uint64_t now = clock_tsc();
	struct window w;

	window_init(&w, now, duration_us, rounds > 0);
	*l = (struct laps){
		.hist = hist,
		.warm_rounds = rounds / WINDOW_WARM_DIVISOR,
		.total_rounds = rounds > 0 ? rounds + rounds / WINDOW_WARM_DIVISOR : UINT64_MAX,
		.open_tsc = w.open_tsc,
		.close_tsc = w.close_tsc,
		.first_tsc = now,
		.last_tsc = now,
	};
	hist_reset(hist);
}

/** The next round trip starts now, not at the end of the last one. */
static inline void
laps_begin(struct laps *l)
{
	l->last_tsc = clock_tsc();
}

/** Record a complete round trip. @return true: it was the last one */
static inline bool
laps_round(struct laps *l)
{
	uint64_t now = clock_tsc();

	if (l->rounds++ >= l->warm_rounds && now >= l->open_tsc) {
		if (l->hist->count == 0)
			l->first_tsc = l->last_tsc;
		hist_add(l->hist, now - l->last_tsc);
	}
	l->last_tsc = now;
	return l->rounds == l->total_rounds || now >= l->close_tsc;
}

/*
 * An answer often arrives before its receiver sleeps, and a side that is awake answers at
 * once, so both sides could stay awake for the whole test. A pause before each round trip
 * lets the peer fall asleep. It does not sleep: while no CPU of a core works, the host of a
 * virtual machine gives the core to others or lets it sleep deeply, and a wake-up takes four
 * times as long in some runs, and not in others.
 */
#define LAPS_PAUSE_US 20

/** Let the peer fall asleep; the next round trip starts afterwards. */
static inline void
laps_pause(struct laps *l)
{
	const uint64_t end = clock_tsc() + clock_us_to_cycles(LAPS_PAUSE_US);

	while (clock_tsc() < end)
		rte_pause();
	laps_begin(l);
}

/** Duration of the measured round trips, ns. */
static inline uint64_t
laps_ns(const struct laps *l)
{
	return (uint64_t)clock_cycles_to_ns((double)(l->last_tsc - l->first_tsc));
}

#endif /* BASE_WINDOW_H */
