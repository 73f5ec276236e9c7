/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Receive slots of the control path of an RDMA link: a sender never sends without a
 * posted slot at the peer (no RNR), and two sides never wait for each other's slots for ever.
 *
 * Each message takes a slot of the receiver, which posts it again and reports that, by a count
 * in its next message, or in a separate message once half of the slots are owed. Only
 * such messages may take the last RESERVED slots.
 *
 * NO_RESERVE:  broken: frames may take all slots.
 * NO_RETURN:   broken: slots are returned by frames only.
 */

#define SLOTS 4
#ifdef NO_RESERVE
#define RESERVED 0
#else
#define RESERVED 2
#endif
#define FRAMES 5     /* each end wants to send so many */

/* Messages on the way to each end: the count that each carries. */
chan wire[2] = [SLOTS] of { byte, bit };  /* returned, is a frame */
byte got[2];         /* frames received by each end */

active [2] proctype end_of_link()
{
	byte me = _pid, peer = 1 - _pid;
	byte sent = 0;       /* messages sent */
	byte posted = SLOTS; /* slots that the peer has posted, cumulative */
	byte owed = 0;       /* slots that we have posted again, cumulative */
	byte told = 0;       /* and told the peer */
	byte frames = 0, r;
	bit is_frame;

	do
	/* All done, and nothing to be received any more. */
	:: atomic { frames == FRAMES && got[me] == FRAMES -> break }
	:: atomic { frames < FRAMES && posted - sent > RESERVED ->
		assert(nfull(wire[peer]));
		wire[peer]!owed, 1; told = owed; sent++; frames++ }
#ifndef NO_RETURN
	:: atomic { owed - told >= SLOTS / 2 && posted - sent > 0 ->
		assert(nfull(wire[peer]));
		wire[peer]!owed, 0; told = owed; sent++ }
#endif
	:: atomic { wire[me]?r, is_frame ->
		posted = SLOTS + r; owed++;
		if
		:: is_frame -> got[me]++
		:: else
		fi }
	od
}
