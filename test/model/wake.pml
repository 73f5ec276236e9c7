/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * No lost wake-up: pair W of comch_chan.h, and the same of shm_layout.h and of
 * comch_poll_note().
 *
 *   publisher                          sleeper
 *   publish (seq, tail, ...)           armed = armed + 1
 *   fence                              fence
 *   if armed is not what I told last:  look again; nothing? sleep
 *     told = armed, send a byte
 *
 * Memory: each process has a store buffer of one word. A store waits there
 * until it drains, which may be at any time; the process itself reads through
 * it. A fence waits until the own buffer is empty. This is TSO; loads are not
 * reordered here (both loads that matter come right after a fence).
 *
 * Two publishers share `told`, as the producers of one consumer do, one of
 * which may be slow between its load of armed and its exchange of told.
 *
 * CREDITS:    the second publisher's are credits, which wake only sleepers that ask
 *             for them: by the lowest bit of armed. The sleeper asks by chance, but
 *             always when nothing else can come.
 * LIGHT:      the publishers do not fence; the sleeper's fence drains their
 *             buffers too (membarrier).
 * NO_PUBLISH: broken: publishers without a fence, and no substitute for it.
 * NO_SLEEP:   broken: the sleeper has no fence.
 * NO_LOOK:    broken: the sleeper does not look again.
 * ANSWERED:   broken, with CREDITS: a credit that wakes no sleeper counts as the
 *             answer to the armed word.
 */

#define MSGS 2       /* of each publisher */
#define PUBS 2

byte pub[PUBS];      /* memory: what each has published */
byte armed;          /* memory */
byte told;           /* exchanged atomically: no buffer */
byte bytes;          /* in the socket */

/* Store buffers: full, and what for. */
bool pub_full[PUBS];
byte pub_buf[PUBS];
bool arm_full;
byte arm_buf;

byte taken;          /* the sleeper's */

/* The hardware: any waiting store may become visible at any time. */
active proctype drain()
{
end:	do
	:: atomic { pub_full[0] -> pub[0] = pub_buf[0]; pub_full[0] = false }
	:: atomic { pub_full[1] -> pub[1] = pub_buf[1]; pub_full[1] = false }
	:: atomic { arm_full -> armed = arm_buf; arm_full = false }
	od
}

proctype publisher(byte me)
{
	byte i, a, old;

	for (i : 1 .. MSGS) {
		atomic { !pub_full[me] -> pub_full[me] = true; pub_buf[me] = i }
#if !defined(NO_PUBLISH) && !defined(LIGHT)
publish:	!pub_full[me];
#endif
		a = armed;
		if
#ifdef CREDITS
		:: a != told && me == 1 && (a & 1) == 0 ->
#ifdef ANSWERED
			told = a
#else
			skip
#endif
		:: a != told && !(me == 1 && (a & 1) == 0) ->
#else
		:: a != told ->
#endif
			atomic { old = told; told = a }
			if
			:: old != a -> atomic { bytes < 8 -> bytes++ }
			:: else
			fi
		:: else
		fi
	}
}

active proctype sleeper()
{
	byte a = 0;

	run publisher(0);
	run publisher(1);
	do
	:: taken == PUBS * MSGS -> break
	:: taken < PUBS * MSGS ->
		if
		:: pub[0] + pub[1] > taken -> taken = pub[0] + pub[1]
		:: else ->
#ifdef CREDITS
			/* The next even number, or the odd one after that. */
			a = (a | 1) + 1;
			if
			:: pub[0] < MSGS
			:: a++
			fi;
#else
			a++;
#endif
			atomic { !arm_full -> arm_full = true; arm_buf = a }
#ifndef NO_SLEEP
sleep:			!arm_full;
#endif
#ifdef LIGHT
			!pub_full[0];
			!pub_full[1];
#endif
#ifndef NO_LOOK
			if
			:: pub[0] + pub[1] > taken -> taken = pub[0] + pub[1]
			:: else ->
				/* Asleep. A lost wake-up is an invalid end state here. */
				atomic { bytes > 0 -> bytes = 0 }
			fi
#else
			atomic { bytes > 0 -> bytes = 0 }
#endif
		fi
	od
}
