/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TD_EV_H
#define TD_EV_H

/*
 * Engines that are asleep: one thread, one epoll set. Only the engine whose
 * descriptor is readable is progressed, until it returns 0; so an event that
 * does not wake its engine is never seen.
 */

#include "comch/pair.h"

#define TD_EV_PES 8

/* Arm when about to wait, not before: what was done meanwhile happened unarmed. */
#define TD_EV_LATE     (1u << 0)
#define TD_EV_EDGE     (1u << 1)
/* DOCA_PE_EVENT_MODE_PROGRESS_ALL, and nobody clears. */
#define TD_EV_NO_CLEAR (1u << 2)
/* Clear with handle 0. */
#define TD_EV_ZERO     (1u << 3)
/* Each descriptor is in a second set, too, which has to tell the same. */
#define TD_EV_TWO_SETS (1u << 4)

struct td_ev {
	unsigned int flags;
	int ep, ep2;
	unsigned int nb;
	struct doca_pe *pes[TD_EV_PES];
	int fds[TD_EV_PES];
	bool armed[TD_EV_PES];
	unsigned int wakes;
};

void td_ev_open(struct td_ev *ev, unsigned int flags);
void td_ev_close(struct td_ev *ev);
/* An engine sleeps here from now on; and no more. */
void td_ev_add(struct td_ev *ev, struct doca_pe *pe);
void td_ev_del(struct td_ev *ev, struct doca_pe *pe);
/* Sleep until one of the engines wakes, and progress those that do. False: time-out. */
bool td_ev_step(struct td_ev *ev, int timeout_ms);
/* They come to rest: after a bounded number of wake-ups, none comes any more. */
void td_ev_rest(struct td_ev *ev);

#define TD_EV_UNTIL(ev, cond) \
	do { \
		while (!(cond)) \
			if (!td_ev_step(ev, T_TIMEOUT_MS)) \
				T_FAIL("nothing woke who waits for %s", #cond); \
	} while (0)

/* Forty messages each way, on their way. */
void td_traffic(struct td *t);

#endif /* TD_EV_H */
