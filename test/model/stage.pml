/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The staging ring, comch_chan_stage.c: pairs H, S and A. A message that is longer than the
 * ring streams through it, and may be aborted. The next one begins where it stopped.
 * Producers that own the ring in turn are one thread here: lock.pml has the hand-over.
 *
 *   producers                         consumer
 *   space, by the tail (S)?           head (H)
 *   bytes, head (H)                   aborted (A)? skip to where it stopped
 *   aborted: stop_at (A), head (H)    copy up to the head, tail (S)
 *   the next message, its record
 *
 * What was stopped is seen with the head of the message that follows: A needs no order of its
 * own.
 *
 * STOP_LATE: broken: the consumer copies up to the head before it looks for an abort.
 */

#define THREADS 2
#define LOCS 4
#define PLAIN 1
#define STORES 5
#define HEAD 0
#define TAIL 1
#define STOP_AT 2
#define SEQ 3        /* the next message's record */
#define RING 4       /* one line */

#include "memory.h"

#define LINES 2      /* of the message */

byte content;        /* of the ring: 1: the message, 2: the next one */

active proctype producers()
{
	byte me = 0, head, tail;

	do
	:: head < LINES && tail < head ->
space:		load_acquire(TAIL, tail)
	:: head < LINES && tail == head ->
		touch(RING);
		content = 1;
		head++;
put:		store_release(HEAD, head)
	:: head < LINES ->
		store_relaxed(STOP_AT, head + 1);
		store_release(HEAD, head);
		break
	:: head == LINES -> break
	od;
	do
	:: tail == head -> break
	:: else -> load_acquire(TAIL, tail)
	od;
	touch(RING);
	content = 2;
	store_release(HEAD, head + 1);
	store_release(SEQ, 1)
}

active proctype consumer()
{
	byte me = 1, head, pulled, stop_at, seq;

	do
	:: pulled < LINES ->
get:		load_acquire(HEAD, head);
#ifndef STOP_LATE
		load_relaxed(STOP_AT, stop_at);
		if
		:: stop_at != 0 -> break
		:: else
		fi;
#endif
		if
		:: head > pulled ->
			touch(RING);
			assert(content == 1);
			pulled++;
consumed:		store_release(TAIL, pulled)
		:: else
		fi;
#ifdef STOP_LATE
		if
		:: pulled < LINES ->
			load_relaxed(STOP_AT, stop_at);
			if
			:: stop_at != 0 -> break
			:: else
			fi
		:: else
		fi
#endif
	:: else -> break
	od;
	if
	:: stop_at != 0 ->
		assert(stop_at - 1 >= pulled);
		pulled = stop_at - 1;
		store_release(TAIL, pulled)
	:: else
	fi;
	do
	:: seq == 1 -> break
	:: else -> load_acquire(SEQ, seq)
	od;
	load_acquire(HEAD, head);
	assert(head == pulled + 1);
	touch(RING);
	assert(content == 2)
}
