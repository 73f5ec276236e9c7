/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The stop of a consumer: pair C of comch_chan.h. Once the consumer has found
 * all that was claimed committed, nobody writes payload any more.
 *
 *   producer                           consumer
 *   claim a position (CAS)             closed = 1
 *   fence                              fence
 *   closed? commit an ABORT            receive what is committed
 *   else copy payload, commit          claimed = received: flush, free
 *
 * Store buffers as in wake.pml. A locked CAS drains them on x86, and a fence
 * does elsewhere: a claim is modelled as a store that waits and a fence.
 *
 * NO_CLAIM_FENCE, NO_CLOSE_FENCE: broken.
 * NO_WAIT: broken: the consumer flushes without waiting for what is claimed.
 */

#define DEPTH 3
#define PRODS 2

byte claim;             /* memory, as the consumer sees it */
byte claim_now;         /* the coherent value that a CAS works on */
byte waiting[PRODS];    /* claim that is in a producer's buffer; 0: none */
bool closed;            /* memory */
bool close_waits;       /* in the consumer's buffer */
bool committed[DEPTH];
bool aborted[DEPTH];
byte copying;           /* producers within a copy */
bool given_back;        /* the consumer's buffers are the application's */

active proctype drain()
{
end:	do
	:: atomic { waiting[0] != 0 ->
		claim = (waiting[0] > claim -> waiting[0] : claim); waiting[0] = 0 }
	:: atomic { waiting[1] != 0 ->
		claim = (waiting[1] > claim -> waiting[1] : claim); waiting[1] = 0 }
	:: atomic { close_waits -> closed = true; close_waits = false }
	od
}

active [PRODS] proctype producer()
{
	byte me = _pid - 1, pos;

	do
	:: true -> break
	:: atomic { claim_now < DEPTH && waiting[me] == 0 ->
			pos = claim_now; claim_now++; waiting[me] = claim_now }
#ifndef NO_CLAIM_FENCE
		waiting[me] == 0;
#endif
		if
		:: closed -> aborted[pos] = true; committed[pos] = true
		:: else ->
			copying++;
			/* The copy takes its time. */
			assert(!given_back);
			skip;
			assert(!given_back);
			copying--;
			/* A commit is seen after the claim before it. */
			waiting[me] == 0;
			committed[pos] = true
		fi
	od
}

active proctype consumer()
{
	byte head = 0, c;

	close_waits = true;
#ifndef NO_CLOSE_FENCE
	!close_waits;
#endif
	do
	:: head < DEPTH && committed[head] -> head++
	:: else ->
		c = claim;
		if
#ifdef NO_WAIT
		:: true -> break
#else
		:: c == head || head == DEPTH -> break
		:: else -> (committed[head])
#endif
		fi
	od;
	given_back = true;
	assert(copying == 0)
}
