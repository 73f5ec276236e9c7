/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * No lost wake-up: pair W of comch_chan.h, and the same of shm_layout.h and of
 * comch_poll_note().
 *
 *   publisher                          sleeper
 *   publish (seq, tail, ...)           armed = armed + STEP
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
 * ASKED:      as LIGHT, but the sleeper's fence drains them only if its word had no FENCE
 *             flag before. While it has, publishers fence, and read the word again. The
 *             sleeper takes the flag away by chance.
 * NO_PUBLISH: broken: publishers without a fence, and no substitute for it.
 * NO_SLEEP:   broken: the sleeper has no fence.
 * NO_LOOK:    broken: the sleeper does not look again.
 * ANSWERED:   broken, with CREDITS: a credit that wakes no sleeper counts as the
 *             answer to the armed word.
 * NO_HEAVY:   broken, with ASKED: the flag is new, and nothing drains the publishers.
 * NO_AGAIN:   broken, with ASKED: publishers fence, but do not read the word again.
 */

#define MSGS 2       /* of each publisher */
#define PUBS 2
/* Of the armed word, as in comch_armed.h. */
#define CREDIT 1
#define FENCE 2
#define STEP 4
#ifdef ASKED
#define FLAGS FENCE
#else
#define FLAGS 0
#endif
/* The word without the flag that does not ask. */
#define ASKS(w) ((w) - ((w) & FLAGS))

byte pub[PUBS];      /* memory: what each has published */
short armed;         /* memory */
short told;          /* exchanged atomically: no buffer */
byte bytes;          /* in the socket */

/* Store buffers: full, and what for. */
bool pub_full[PUBS];
byte pub_buf[PUBS];
bool arm_full;
short arm_buf;

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
	byte i;
	short a, old;

	for (i : 1 .. MSGS) {
		atomic { !pub_full[me] -> pub_full[me] = true; pub_buf[me] = i }
#if !defined(NO_PUBLISH) && !defined(LIGHT) && !defined(ASKED)
publish:	!pub_full[me];
#endif
		a = armed;
#ifdef ASKED
		if
		:: (a & FENCE) != 0 ->
			!pub_full[me];
#ifndef NO_AGAIN
			a = armed
#endif
		:: else
		fi;
#endif
		if
#ifdef CREDITS
		:: ASKS(a) != ASKS(told) && me == 1 && (a & CREDIT) == 0 ->
#ifdef ANSWERED
			told = a
#else
			skip
#endif
		:: ASKS(a) != ASKS(told) && !(me == 1 && (a & CREDIT) == 0) ->
#else
		:: ASKS(a) != ASKS(told) ->
#endif
			atomic { old = told; told = a }
			if
			:: ASKS(old) != ASKS(a) -> atomic { bytes < 8 -> bytes++ }
			:: else
			fi
		:: else
		fi
	}
}

active proctype sleeper()
{
	short a = 0;
	bool heavy;

	run publisher(0);
	run publisher(1);
	do
	:: taken == PUBS * MSGS -> break
	:: taken < PUBS * MSGS ->
		if
		:: pub[0] + pub[1] > taken -> taken = pub[0] + pub[1]
		:: else ->
			heavy = (a & FENCE) == 0;
			a = (a - (a & (STEP - 1))) + STEP;
#ifdef CREDITS
			if
			:: pub[0] < MSGS
			:: a = a + CREDIT
			fi;
#endif
#ifdef ASKED
			a = a + FENCE;
#endif
			atomic { !arm_full -> arm_full = true; arm_buf = a }
#ifndef NO_SLEEP
sleep:			!arm_full;
#endif
#ifdef LIGHT
			!pub_full[0];
			!pub_full[1];
#endif
#if defined(ASKED) && !defined(NO_HEAVY)
			if
			:: heavy ->
				!pub_full[0];
				!pub_full[1]
			:: else
			fi;
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
#ifdef ASKED
			;
			/* Awake for long, or not: comch_armed_rest(). */
			if
			:: (a & FENCE) != 0 ->
				a = a - FENCE;
				atomic { !arm_full -> arm_full = true; arm_buf = a }
			:: true
			fi
#endif
		fi
	od
}
