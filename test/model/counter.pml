/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A counter that is waited for: comch_counter.h. No wake-up is lost, and who has seen a value
 * sees what was written before it.
 *
 * The kernel compares the word of a futex and puts the thread to sleep in one step. A sleeper that
 * nobody wakes is an invalid end state.
 */

#define THREADS 2
#define LOCS 3
#define PLAIN 1
#define STORES 4
#define VALUE 0
#define WAITERS 1
#define CHANGES 2
#define DATA 3
#define UPDATES 2

#include "memory.h"

bool asleep;

active proctype updater()
{
	byte me = 0, x, i;

	touch(DATA);
	for (i : 1 .. UPDATES) {
update:		store_release(VALUE, i);
publish:	fence_full();
		load_relaxed(WAITERS, x);
		if
		:: x > 0 ->
change:			rmw_release(CHANGES, x, x + 1);
			asleep = false
		:: else
		fi
	}
}

active proctype sleeper()
{
	byte me = 1, got, seen, x;

	rmw_relaxed(WAITERS, x, x + 1);
sleep:	fence_full();
	do
	:: true ->
changes:	load_acquire(CHANGES, seen);
read:		load_acquire(VALUE, got);
		if
		:: got == UPDATES -> break
		:: else
		fi;
		atomic {
			if
			:: LATEST(CHANGES) == seen -> asleep = true
			:: else
			fi
		}
		!asleep
	od;
	rmw_relaxed(WAITERS, x, x - 1);
	touch(DATA)
}
