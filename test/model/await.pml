/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Local producers share a staging ring. One that finds it owned marks it, looks again, and
 * sleeps; the owner of a marked ring wakes the others when it frees it. Nobody sleeps for ever.
 *
 *   UNMARKED  the sleeper does not mark the ring: nobody wakes it
 *   OWNED     it also sleeps if the ring was free when it came to mark it, and is owned again
 *
 * One word, of which each thread sees the changes in one order: no weak memory.
 */

#define PRODUCERS 3
#define MESSAGES 2

#define FREE 0
#define TAKEN 1
#define AWAITED 2

byte ring = FREE;
bool noted[PRODUCERS];

/* Compare and exchange: did it succeed? */
inline cas(from, to, did)
{
	atomic {
		did = ring == from;
		if
		:: did -> ring = to
		:: else
		fi
	}
}

inline look(sees)
{
	sees = ring
}

inline release(was)
{
	atomic { was = ring; ring = FREE }
	for (j : 0 .. PRODUCERS - 1) {
		if
		:: was == AWAITED && j != me -> noted[j] = true
		:: else
		fi
	}
}

/* Does the sleeper go to sleep on this look? */
#if defined(OWNED) || defined(UNMARKED)
#define SLEEPS(word) ((word) != FREE)
#else
#define SLEEPS(word) ((word) == AWAITED)
#endif

proctype producer(byte me)
{
	byte sent = 0, word, j;
	bool did;

	do
	:: sent == MESSAGES -> break
	:: else ->
		cas(FREE, TAKEN, did);
		if
		:: did ->
			sent++;
			release(word)
		:: else ->
#ifndef UNMARKED
			cas(TAKEN, AWAITED, did);
#endif
			look(word);
			if
			:: SLEEPS(word) ->
				noted[me];
				noted[me] = false
			:: else
			fi
		fi
	od
}

init {
	byte i;

	atomic {
		for (i : 0 .. PRODUCERS - 1) {
			run producer(i)
		}
	}
}
