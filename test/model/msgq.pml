/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A ring that consumers of a MsgQ share: pairs MT and MR of comch_msgq.h. A credit of one
 * consumer may free a line that another consumer's message gets: each producer adds to the
 * ring's tail after it has loaded the credit that it uses.
 *
 *   producer                             consumers' thread
 *   credit (MT)? claim it                line's sequence (MR)? line
 *   add to tail: its line                give credit to any consumer (MT)
 *   line, sequence (MR)
 *
 * A message to consumer A, two to B, whose second credit comes after A's message.
 */

#define THREADS 4
#define LOCS 5
#define PLAIN 2
#define STORES 5
#define CREDIT 0
#define CLAIM 1
#define TAIL 2
#define SEQ(pos) (3 + (pos) % 2)
#define LINE(pos) (5 + (pos) % 2)

#include "memory.h"

#define MSGS 3

byte to[MSGS];       /* the consumer of the message at a position */

active [3] proctype producer()
{
	byte me = _pid, credit, claim, pos;

	/* The first sends to A, and needs no more credit. */
	if
	:: me > 0 ->
		do
		:: credit > LATEST(CLAIM) -> break
		:: else ->
granted:			load_acquire(CREDIT, credit)
		od;
		atomic {
			credit > LATEST(CLAIM);
			rmw_relaxed(CLAIM, claim, claim + 1)
		}
	:: else
	fi;
line:	rmw_acq_rel(TAIL, pos, pos + 1);
	touch(LINE(pos));
	to[pos] = (me > 0 -> 1 : 0);
publish: store_release(SEQ(pos), pos + 1)
}

active proctype consumers()
{
	byte me = 3, head, seq;

	store_release(CREDIT, 1);
	do
	:: head < MSGS ->
look:		load_acquire(SEQ(head), seq);
		if
		:: seq == head + 1 ->
			touch(LINE(head));
			head++;
			if
			:: to[head - 1] == 0 ->
give:				store_release(CREDIT, 2)
			:: else
			fi
		:: else
		fi
	:: else -> break
	od
}
