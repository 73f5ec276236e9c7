/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An object is freed when no user is left: each takes itself off a count, or sets a flag, as
 * its last access.
 *
 *   user                               owner
 *   use the object                     count 0 (or flag)?
 *   leave: take off the count          left: free it
 *
 * LAST: the last user frees it.
 */

#define THREADS 3
#define LOCS 1
#define PLAIN 2
#define STORES 4
#define USERS 0
#define PART(i) (1 + (i))

#include "memory.h"

active [2] proctype user()
{
	byte me = _pid, was;

	touch(PART(me));
#ifdef LAST
leave_last: rmw_acq_rel(USERS, was, was + 1);
	if
	:: was == 1 -> touch(PART(0)); touch(PART(1))
	:: else
	fi
#else
leave:	rmw_release(USERS, was, was + 1)
#endif
}

#ifndef LAST
active proctype owner()
{
	byte me = 2, gone;

left:	load_acquire(USERS, gone);
	if
	:: gone == 2 -> touch(PART(0)); touch(PART(1))
	:: else
	fi
}
#endif
