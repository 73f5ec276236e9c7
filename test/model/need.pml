/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A buffer that was posted before a control message was sent is visible to the receiver of that
 * message, although the two travel over different queue pairs. The message names the position
 * up to which buffers are posted, and the receiver holds it until they have arrived. If the
 * consumer halts in between, its posts may never arrive: its halt is announced in the header of
 * a later message, which is read while the first is held.
 *
 *   consumer's side              receiver
 *   post                         message: hold until the posts are there
 *   message, needs the post      read headers of later messages meanwhile:
 *   stop: queue pair to ERR        halted: do not wait for its posts
 *   header: halted               deliver the message, then what follows
 *
 * NO_HALTED:  broken: halts are not announced in headers.
 * NO_LOOK:    broken: later headers are not read while a message is held.
 * NO_NEED:    broken: messages are not held.
 */

#define MSGS 2

byte posted;            /* by the consumer */
byte arrived;           /* posts at the receiver */
bool is_err;            /* the consumer's queue pair: posts are lost */
chan ctrl = [4] of { byte, bool };  /* needs posts up to; halted */

active proctype network()
{
end:	do
	:: atomic { arrived < posted && !is_err -> arrived++ }
	od
}

active proctype sender()
{
	byte i;
	bool halted = false;

	for (i : 1 .. MSGS) {
		if
		:: !halted -> posted++
		:: true
		fi;
		ctrl!posted, halted;
		if
		:: !halted -> is_err = true; halted = true
		:: true
		fi
	}
	/* A message of its own, if no frame follows. */
#ifndef NO_HALTED
	ctrl!posted, halted
#else
	ctrl!posted, false
#endif
}

active proctype receiver()
{
	byte need, i, nb = 0, held = 0;
	byte needs[MSGS + 1];
	bool halted = false, h;

	do
	:: nb == MSGS + 1 && held == 0 -> break
#ifdef NO_LOOK
	:: held == 0 && nb < MSGS + 1 ->
#else
	:: nb < MSGS + 1 ->
#endif
		ctrl?need, h;
#ifndef NO_HALTED
		halted = halted || h;
#endif
		needs[held] = need; held++; nb++
#ifdef NO_NEED
	:: held > 0 ->
#else
	:: held > 0 && (arrived >= needs[0] || halted) ->
#endif
		/* Delivered: its posts are here, or their consumer has ended. */
		assert(arrived >= needs[0] || halted || is_err);
#ifdef NO_NEED
		assert(arrived >= needs[0] || halted);
#endif
		for (i : 1 .. MSGS) {
			needs[i - 1] = needs[i]
		}
		held--
	od
}
