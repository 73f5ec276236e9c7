/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_LAT_H
#define ENGINE_LAT_H

/**
 * @file
 * What the latency tests share: when a round trip counts, and when there
 * were enough. One look at the clock ends a round trip and begins the next,
 * as in the floor that they are compared with.
 *
 * With --wait event it is the waking of a sleeper that is to be measured. An
 * answer often comes before its receiver has gone to sleep, and an
 * unslept side answers at once, so both may well stay awake for good: there
 * is a pause before each round trip, in which the other side falls asleep.
 */

#include <stdbool.h>
#include <unistd.h>

#include "engine/run.h"
#include "engine/window.h"

/** The pause of --wait event. */
#define LAT_PAUSE_US 50

/** The clock of the side that leads. */
struct lat {
	struct hist *hist;
	bool pause;
	uint64_t rounds;
	uint64_t warm_rounds; /**< By number: those that do not count. */
	uint64_t total_rounds;
	uint64_t open_tsc;    /**< By duration: when they begin to count. */
	uint64_t close_tsc;
	uint64_t first_tsc;   /**< Begin of the first that counts. */
	uint64_t last_tsc;    /**< End of the latest. */
};

/** Start the clock. */
static inline void
lat_init(struct lat *lat, struct perf_run *run)
{
	const struct perf_params *p = &run->params;
	uint64_t now = clock_tsc();

	*lat = (struct lat){
		.hist = run->hist,
		.pause = p->wait == PERF_WAIT_EVENT,
		.total_rounds = UINT64_MAX,
		.close_tsc = UINT64_MAX,
		.first_tsc = now,
		.last_tsc = now,
	};
	hist_reset(lat->hist);
	if (p->iters > 0) {
		lat->warm_rounds = p->iters / WINDOW_WARM_DIVISOR;
		lat->total_rounds = p->iters + lat->warm_rounds;
	} else {
		lat->open_tsc = now + window_warm_cycles(p);
		lat->close_tsc = lat->open_tsc + clock_us_to_cycles(p->duration_us);
	}
}

/** A round trip begins. */
static inline void
lat_begin(struct lat *lat)
{
	if (!lat->pause)
		return;
	usleep(LAT_PAUSE_US);
	lat->last_tsc = clock_tsc();
}

/** A round trip is complete. @return true: that was the last one. */
static inline bool
lat_round(struct lat *lat)
{
	uint64_t now = clock_tsc();

	if (lat->rounds++ >= lat->warm_rounds && now >= lat->open_tsc) {
		if (lat->hist->count == 0)
			lat->first_tsc = lat->last_tsc;
		hist_add(lat->hist, now - lat->last_tsc);
	}
	lat->last_tsc = now;
	return lat->rounds == lat->total_rounds || now >= lat->close_tsc;
}

/** Put down what was measured. */
static inline void
lat_finish(const struct lat *lat, struct perf_run *run)
{
	run->result.messages = lat->hist->count;
	run->result.window_ns = (uint64_t)clock_cycles_to_ns(
			(double)(lat->last_tsc - lat->first_tsc));
}

#endif /* ENGINE_LAT_H */
