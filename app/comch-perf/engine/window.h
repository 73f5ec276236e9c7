/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_WINDOW_H
#define ENGINE_WINDOW_H

/**
 * @file
 * The part of a run that counts. By duration it opens after a warm-up and
 * closes when the time is up, whatever still follows; by number of messages
 * it is all of them, from the start of the run to the first look that saw the
 * last one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "engine/params.h"

/** The warm-up takes this part of the duration, in front of it. */
#define WINDOW_WARM_DIVISOR 10

/** One observer's window. */
struct window {
	bool by_count;
	bool open;
	bool closed;
	uint64_t open_tsc;  /**< By duration: when to open and close. */
	uint64_t close_tsc;
	uint64_t tsc[2];    /**< First and last time that counts. */
	uint64_t msgs[2];   /**< Messages at these times. */
};

/** Warm-up of a run by duration, cycles. */
static inline uint64_t
window_warm_cycles(const struct perf_params *p)
{
	return clock_us_to_cycles(p->duration_us / WINDOW_WARM_DIVISOR);
}

/** Prepare a window for a run that starts now. */
static inline void
window_init(struct window *w, const struct perf_params *p, uint64_t now)
{
	*w = (struct window){
		.by_count = p->iters > 0,
		.open_tsc = now + window_warm_cycles(p),
		.tsc = { now, now },
	};
	w->close_tsc = w->open_tsc + clock_us_to_cycles(p->duration_us);
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
	if (!w->open) {
		w->tsc[0] = now;
		w->msgs[0] = msgs;
		w->open = true;
	}
	w->closed = now >= w->close_tsc;
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

#endif /* ENGINE_WINDOW_H */
