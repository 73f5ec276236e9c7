/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_SLEEPER_H
#define COMCH_SLEEPER_H

/*
 * Engines that are asleep: one thread, one epoll set. Only the engine whose
 * descriptor is readable is progressed, until it returns 0; so an event that
 * does not wake its engine is never seen.
 */

#include "comch/queue.h"

#define SLEEPER_PES 8

/* Arm when about to wait, not before: what was done meanwhile happened unarmed. */
#define SLEEPER_LATE     (1u << 0)
#define SLEEPER_EDGE     (1u << 1)
/* DOCA_PE_EVENT_MODE_PROGRESS_ALL, without clearing. */
#define SLEEPER_NO_CLEAR (1u << 2)
/* Clear with handle 0. */
#define SLEEPER_ZERO     (1u << 3)
/* Each descriptor is in a second set, too, which has to tell the same. */
#define SLEEPER_TWO_SETS (1u << 4)

struct sleeper {
	unsigned int flags;
	int ep, ep2;
	unsigned int nb;
	struct doca_pe *pes[SLEEPER_PES];
	int fds[SLEEPER_PES];
	bool armed[SLEEPER_PES];
	unsigned int wakes;
};

void sleeper_open(struct sleeper *ev, unsigned int flags);
void sleeper_close(struct sleeper *ev);
/* An engine sleeps here from now on; and no more. */
void sleeper_add(struct sleeper *ev, struct doca_pe *pe);
void sleeper_del(struct sleeper *ev, struct doca_pe *pe);
/* Sleep until one of the engines wakes, and progress those that do. False: time-out. */
bool sleeper_step(struct sleeper *ev, int timeout_ms);
/* Sleep until woken, or for T_TIMEOUT_MS: the step of T_WAIT(). */
void sleeper_sleep(struct sleeper *ev);
/* They come to rest: after a bounded number of wake-ups, none comes any more. */
void sleeper_rest(struct sleeper *ev);

#endif /* COMCH_SLEEPER_H */
