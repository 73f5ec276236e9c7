/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A try-lock: exchange a word for 1. The thread that gets 0 owns it and sees all that the previous
 * owner did.
 */

#define THREADS 2
#define LOCS 1
#define PLAIN 1
#define STORES 9
#define LOCKED 0
#define OBJECT 1

#include "memory.h"

active [2] proctype user()
{
	byte me = _pid, was, i;

	for (i : 1 .. 2) {
lock:		rmw_acquire(LOCKED, was, 1);
		if
		:: was == 0 ->
			touch(OBJECT);
unlock:			store_release(LOCKED, 0)
		:: else
		fi
	}
}
