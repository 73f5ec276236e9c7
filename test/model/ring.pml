/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Posts and records of a channel: pairs T and R of comch_chan.h. One buffer is posted twice;
 * two producers send to it, and each may die at any time.
 *
 *   consumer                           producers
 *   descriptor, tail (T)               tail, or what another one saw of it
 *   sequence (R)? record, payload      descriptor
 *   post again                         CAS of claim; payload, record, sequence (R)
 *
 * A producer reads the descriptor before it claims. If another one claims the position, the
 * consumer may post the buffer again meanwhile, so that the descriptor is no longer that of
 * the position: it is the peer's error only if the position is still free.
 *
 * The consumer's relaxed stores to descriptors are seen after its acquire of the record that
 * freed the buffer: MULTI_COPY. C11 alone does not promise it.
 *
 * C11:      without MULTI_COPY; descriptors are stored with a release instead.
 * C11_ONLY: broken: without either.
 * NO_MOVED: broken: the descriptor's error counts although the position was claimed.
 */

#define THREADS 3
#define LOCS 5
#define PLAIN 2
#define STORES 5
#define ACQUIRE_FENCES
#if !defined(C11) && !defined(C11_ONLY)
#define MULTI_COPY
#endif

#define TAIL 0
#define CLAIM 1
#define SEEN 2    /* comch_send_remote.tail_seen */
#define SEQ 3
#define DESC 4    /* the position that it is for, + 1 */
#define RECORD 5
#define BUFFER 6

#include "memory.h"

#define POSTS 2

active proctype consumer()
{
	byte me = 0, head, seq;

	for (head : 0 .. POSTS - 1) {
		touch(BUFFER);
#ifdef C11
		store_release(DESC, head + 1);
#else
		store_relaxed(DESC, head + 1);
#endif
post:		store_release(TAIL, head + 1);
		do
		:: seq == head + 1 -> break
		:: else ->
record:			load_acquire(SEQ, seq)
		od;
		touch(RECORD)
	}
	touch(BUFFER)
}

active [2] proctype producer()
{
	byte me = _pid, pos, tail, desc, now, won;

	do
	:: break
	:: true ->
		load_relaxed(CLAIM, pos);
seen:		load_acquire(SEEN, tail);
		if
		:: tail > pos
		:: else ->
posted:			load_acquire(TAIL, tail);
told:			store_release(SEEN, tail)
		fi;
		if
		:: tail <= pos -> break
		:: else
		fi;
		load_relaxed(DESC, desc);
		if
		:: desc != pos + 1 ->
#ifndef NO_MOVED
moved:			fence_acquire();
			load_relaxed(CLAIM, now);
#else
			now = pos;
#endif
			assert(now != pos);
			break
		:: else
		fi;
		atomic {
			if
			:: LATEST(CLAIM) == pos -> rmw_relaxed(CLAIM, now, pos + 1); won = 1
			:: else -> won = 0
			fi
		}
		if
		:: won == 0 -> break
		:: else
		fi;
		/* Death within a claim. */
		if
		:: break
		:: true
		fi;
		touch(BUFFER);
		touch(RECORD);
commit:		store_release(SEQ, pos + 1);
		won = 0; now = 0; desc = 0; tail = 0
	od
}
