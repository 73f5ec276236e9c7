/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Keys of memory to send from, mlx5_mem.c: a burst that finds none asks for it, and the
 * connection's thread makes it. No request is lost.
 *
 *   bursts                               connection's thread
 *   key? use it                          any requests? forget that there are
 *   place free? put the registration     place: make the key, publish it
 *   there are requests (exchange)        free the place
 *
 * STORE: broken: a burst stores that there are requests, over what another one stored, whose
 * request is not seen then.
 */

#define THREADS 3
#define LOCS 5
#define PLAIN 4
#define STORES 5
#define HAS_WANTS 0
#define WANT(i) (1 + (i))
#define KEY(i) (3 + (i))
#define MR(i) (5 + (i))
#define ENTRY(i) (7 + (i))

#include "memory.h"

byte nb_asked;

active [2] proctype burst()
{
	byte me = _pid, key, was;

	touch(MR(me));
ask:	rmw_release(WANT(me), was, 1);
#ifdef STORE
	store_release(HAS_WANTS, 1);
#else
tell:	rmw_release(HAS_WANTS, was, 1);
#endif
	nb_asked++;
find:	load_acquire(KEY(me), key);
	if
	:: key == 1 -> touch(ENTRY(me))
	:: else
	fi
}

active proctype connection()
{
	byte me = 2, has, want, i;

	do
	:: LATEST(HAS_WANTS) == 1 ->
hear:		rmw_acquire(HAS_WANTS, has, 0);
		for (i : 0 .. 1) {
take:			load_acquire(WANT(i), want);
			if
			:: want == 1 ->
				touch(MR(i));
				touch(ENTRY(i));
make:				store_release(KEY(i), 1);
				store_release(WANT(i), 0)
			:: else
			fi
		}
	:: atomic { nb_asked == 2 && LATEST(HAS_WANTS) == 0 -> break }
	od;
	assert(LATEST(WANT(0)) == 0 && LATEST(WANT(1)) == 0)
}
