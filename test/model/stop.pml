/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The stop of a consumer: pair C of comch_chan.h. Once the consumer has found all that was
 * claimed committed, no payload is written any more. A halt is read before the records.
 *
 *   producer                      connection's thread       consumer
 *   claim a position (CAS)        closed = 1                halt?
 *   fence                         fence                     receive what is committed
 *   closed? commit an ABORT       halt (release)            halt: claimed = received?
 *   else copy payload, commit                               flush, free
 *
 * DOWN: the link is down since the peer's process died, perhaps within a claim. The stop
 * does not wait for it, but what it committed is delivered.
 *
 * NO_WAIT: broken: the consumer flushes without waiting for what is claimed.
 * LATE:    broken: the consumer reads the halt after the records.
 */

#define THREADS 4
#define LOCS 5
#define PLAIN 2
#define STORES 3

#define CLAIM 0
#define CLOSED 1
#define HALT 2
#define SEQ(pos) (3 + (pos))
#define BUFFER(pos) (5 + (pos))

#include "memory.h"

#define DEPTH 2

byte dead;              /* producers that have ended */

active [2] proctype producer()
{
	byte me = _pid, pos, closed;

	do
	:: true -> break
	:: atomic { LATEST(CLAIM) < DEPTH -> rmw_relaxed(CLAIM, pos, pos + 1) };
#ifdef DOWN
		/* Death within a claim. */
		if
		:: break
		:: true
		fi;
#endif
claim:		fence_full();
		load_relaxed(CLOSED, closed);
		if
		:: closed == 0 -> touch(BUFFER(pos))
		:: else
		fi;
		store_release(SEQ(pos), 1)
	od;
	dead++
}

active proctype connection()
{
	byte me = 2;

#ifdef DOWN
	/* The kernel tells of a death after all stores. */
	dead == 2;
	fence_heavy();
#endif
	store_relaxed(CLOSED, 1);
close:	fence_full();
halt:	store_release(HALT, 1)
}

active proctype consumer()
{
	byte me = 3, head, seq, halt, claim;

	do
	:: true ->
#ifndef LATE
halted:		load_acquire(HALT, halt);
#endif
		do
		:: head < DEPTH ->
			load_acquire(SEQ(head), seq);
			if
			:: seq == 0 -> break
			:: else -> touch(BUFFER(head)); head++
			fi
		:: else -> break
		od;
#ifdef LATE
		load_acquire(HALT, halt);
#endif
		if
		:: halt == 1 ->
#if defined(DOWN) || defined(NO_WAIT)
			break;
#endif
			load_relaxed(CLAIM, claim);
			if
			:: claim == head -> break
			:: else
			fi
		:: else
		fi
	od;
#ifdef DOWN
	assert(head == DEPTH || LATEST(SEQ(head)) == 0);
#else
	/* The buffers are the application's again. */
	touch(BUFFER(0));
	touch(BUFFER(1))
#endif
}
