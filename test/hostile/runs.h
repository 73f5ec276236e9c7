/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RUNS_H
#define RUNS_H

/*
 * How long the runs of a victim's poll take: wall clock without the wait for a
 * CPU, so that blocking counts. A shared machine pauses now and then, which
 * looks the same as blocking: one run may take up to RUNS_ONE_MS.
 */

#include "t_node.h"

#define RUNS_MAX_MS (t_sanitized() ? 200 : 20)
#define RUNS_ONE_MS 500

struct runs {
	uint64_t longest[2]; /* ns */
};

static inline void
runs_note(struct runs *r, uint64_t ns)
{
	if (ns > r->longest[0]) {
		r->longest[1] = r->longest[0];
		r->longest[0] = ns;
	} else if (ns > r->longest[1]) {
		r->longest[1] = ns;
	}
}

/* One run of a poll. */
static inline void
runs_step(struct runs *r, struct t_node *node)
{
	uint64_t ns = t_own_ns();

	t_step(node);
	runs_note(r, t_own_since(ns));
}

static inline void
runs_check(const struct runs *r)
{
	T_TIME_LE(r->longest[0] / 1000, RUNS_ONE_MS * 1000);
	T_TIME_LE(r->longest[1] / 1000, RUNS_MAX_MS * 1000);
}

#endif /* RUNS_H */
