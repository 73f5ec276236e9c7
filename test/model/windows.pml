/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Two honest ends never wait for each other. An end whose answers find no room in the link
 * queues them, and from a limit on (COMCH_MAX_TX_WAIT) it does not read, which frees no room
 * for the peer. So each end asks for few answers at a time:
 *
 *   CONSUMER_NEW: COMCH_MAX_OFFERS; an answer has a descriptor, so it weighs more
 *   MR_ADD:       COMCH_MAX_SHOWN, also those of exports that ended meanwhile
 *   messages:     one CREDIT at a time waits for room; it covers all
 *
 * and what an end begins itself does not count against its limit. The proof: the load of
 * answers stays below the limit. A link has room for ROOM frames in each direction.
 *
 * NO_OFFERS, NO_SHOWN: broken: no limit of questions.
 * NO_CREDIT: broken: each message has a CREDIT of its own.
 * NO_OWN:    broken: questions count against the limit as well.
 */

mtype = { OFFER, OFFER_ACK, SHOW, SHOW_ACK, MSG, CREDIT };

#define ROOM 1
#define LIMIT 5           /* > 2 * MAX_OFFERS + MAX_SHOWN + 1 */
#define MAX_OFFERS 1
#define MAX_SHOWN 1
/* What each end wants to begin. One kind at a time is enough to break a variant. */
#if defined(NO_OFFERS)
#define OFFERS 5
#define SHOWS 0
#define MSGS 0
#elif defined(NO_SHOWN)
#define OFFERS 0
#define SHOWS 8
#define MSGS 0
#elif defined(NO_CREDIT)
#define OFFERS 0
#define SHOWS 0
#define MSGS 8
#elif defined(NO_OWN)
#define OFFERS 1
#define SHOWS 1
#define MSGS 1
#else
#define OFFERS 2
#define SHOWS 1
#define MSGS 1
#define HAS_WINDOWS
#endif
#ifdef NO_OWN
#undef LIMIT
#define LIMIT 2
#endif

#define WEIGHT(f) (f == OFFER_ACK -> 2 : \
	(f == SHOW_ACK || f == CREDIT -> 1 : (f == MSG -> 0 : OWN)))
#ifdef NO_OWN
#define OWN 1
#else
#define OWN 0
#endif

chan link[2] = [ROOM] of { mtype };
chan wait[2] = [16] of { mtype };
bool done[2];

inline tx(f)
{
	if
	:: empty(wait[me]) && nfull(link[me]) -> link[me]!f
	:: nempty(wait[me]) || full(link[me]) -> wait[me]!f; load = load + WEIGHT(f)
	fi
}

active [2] proctype side()
{
	byte me = _pid, peer = 1 - _pid;
	byte load, offers, shows, msgs;     /* begun */
	byte offered, shown, unacked;       /* without an answer */
	byte due;                           /* messages without CREDIT */
	mtype f;

	do
	/* Begin. */
#ifdef NO_OFFERS
	:: atomic { offers < OFFERS -> tx(OFFER); offers++; offered++ }
#else
	:: atomic { offers < OFFERS && offered < MAX_OFFERS -> tx(OFFER); offers++; offered++ }
#endif
#ifdef NO_SHOWN
	:: atomic { shows < SHOWS -> tx(SHOW); shows++; shown++ }
#else
	:: atomic { shows < SHOWS && shown < MAX_SHOWN -> tx(SHOW); shows++; shown++ }
#endif
	:: atomic { msgs < MSGS && empty(wait[me]) && nfull(link[me]) ->
		link[me]!MSG; msgs++; unacked++ }
	/* Send what waits, and the CREDIT behind it. */
	:: atomic { nempty(wait[me]) && nfull(link[me]) ->
		wait[me]?f; link[me]!f; load = load - WEIGHT(f); f = 0 }
#ifdef NO_CREDIT
	:: atomic { due > 0 -> tx(CREDIT); due-- }
#else
	:: atomic { due > 0 && empty(wait[me]) -> tx(CREDIT); due = 0 }
#endif
	/* Read. */
	:: atomic { load < LIMIT && nempty(link[peer]) ->
		link[peer]?f;
		if
		:: f == OFFER -> tx(OFFER_ACK)
		:: f == SHOW -> tx(SHOW_ACK)
		:: f == MSG -> due++
		:: f == OFFER_ACK -> offered--
		:: f == SHOW_ACK -> shown--
#ifdef NO_CREDIT
		:: f == CREDIT -> unacked--
#else
		:: f == CREDIT -> unacked = 0
#endif
		fi;
#ifdef HAS_WINDOWS
		assert(load < LIMIT);
#endif
		f = 0 }
	:: atomic { !done[me] && offers == OFFERS && shows == SHOWS && msgs == MSGS &&
		offered + shown + unacked + due == 0 && empty(wait[me]) -> done[me] = true }
	/* The peer may still ask. */
	:: atomic { done[0] && done[1] && due == 0 && empty(wait[me]) && empty(link[peer]) ->
		break }
	od
}
