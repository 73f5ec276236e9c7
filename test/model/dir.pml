/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The directory of consumers, comch_dir.h: an entry is freed only when no
 * producer uses it.
 *
 *   producer                        connection's thread
 *   busy = odd                      id = 0
 *   light fence                     heavy fence: drains the producer's buffer
 *   id? use the entry               seen = busy
 *   busy = even                     seen even, or busy changed: free
 *
 * Store buffers as in wake.pml. With membarrier(2) the heavy fence drains all;
 * without it both fences are full.
 *
 * NO_HEAVY, NO_LIGHT (with FULL): broken. FULL: without membarrier(2).
 */

#define BURSTS 3

byte busy;           /* memory */
bool busy_waits;
byte busy_buf;
bool id = true;      /* memory */
bool id_waits;
bool freed;

active proctype drain()
{
end:	do
	:: atomic { busy_waits -> busy = busy_buf; busy_waits = false }
	:: atomic { id_waits -> id = false; id_waits = false }
	od
}

active proctype producer()
{
	byte i;

	for (i : 1 .. BURSTS) {
		atomic { !busy_waits -> busy_buf = 2 * i - 1; busy_waits = true }
#if defined(FULL) && !defined(NO_LIGHT)
		!busy_waits;
#endif
		if
		:: id ->
			assert(!freed);
			skip;
			assert(!freed)
		:: else
		fi;
		/* Release: what was done before is done. */
		atomic { !busy_waits -> busy_buf = 2 * i; busy_waits = true }
	}
}

active proctype owner()
{
	byte seen;

	id_waits = true;
#ifndef NO_HEAVY
	!id_waits;
#ifndef FULL
	!busy_waits;
#endif
#endif
	seen = busy;
	(seen % 2 == 0 || busy != seen);
	freed = true
}
