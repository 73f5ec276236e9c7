/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_WINDOW_H
#define BASE_WINDOW_H

/**
 * @file
 * The part of a run that counts, for floors and tests alike. By duration it
 * opens after a warm-up and closes when the time is up, whatever still follows.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/hist.h"

/** The warm-up takes this part of the duration, in front of it. */
#define WINDOW_WARM_DIVISOR 10

/**
 * A rate: messages between two looks at the clock. By number of messages all
 * count, from the start of the run to the first look that saw the last one.
 */
struct window {
	bool by_count;
	bool open;
	bool closed;
	uint64_t open_tsc;  /**< When to open and close. */
	uint64_t close_tsc;
	uint64_t tsc[2];    /**< First and last time that counts. */
	uint64_t msgs[2];   /**< Messages at these times. */
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

/** Look at the clock and at the number of messages so far. */
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
	/* However late the first look is, there is one after it. */
	w->closed = w->open && now >= w->close_tsc;
	if (!w->open) {
		w->tsc[0] = now;
		w->msgs[0] = msgs;
		w->open = true;
	}
}

/** Does something that happens now count? */
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

/** Round trips, each of which begins when the one before it has ended. */
struct laps {
	struct hist *hist;    /**< Those that count. */
	uint64_t rounds;
	uint64_t warm_rounds; /**< By number: those that do not count. */
	uint64_t total_rounds;
	uint64_t open_tsc;    /**< By duration: when they begin to count. */
	uint64_t close_tsc;
	uint64_t first_tsc;   /**< Begin of the first that counts. */
	uint64_t last_tsc;    /**< End of the latest. */
};

/** Start the clock. By number if *rounds* is not 0. */
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

/** A round trip is complete. @return was that the last one? */
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

/** From the first that counts to the end of the latest, ns. */
static inline uint64_t
laps_ns(const struct laps *l)
{
	return (uint64_t)clock_cycles_to_ns((double)(l->last_tsc - l->first_tsc));
}

#endif /* BASE_WINDOW_H */
