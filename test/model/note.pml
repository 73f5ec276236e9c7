/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Notes to a poll, comch_poll.c: an object that has work is in its poll's mailbox, once, and
 * whatever was to be done before a note is seen by the service that follows it.
 *
 *   any thread                          poll's thread
 *   work                                take the mailbox
 *   IN set? it is in the mailbox        clear IN
 *   else link it, push                  serve the object
 */

#define THREADS 3
#define LOCS 4
#define PLAIN 1
#define STORES 6
#define NOTED 0
#define MAILBOX 1
#define WORK(i) (2 + (i))
#define NEXT 4      /* the object's link */

#include "memory.h"

byte nb_noted;

active [2] proctype thread()
{
	byte me = _pid, was;

	store_relaxed(WORK(me), 1);
note:	rmw_acq_rel(NOTED, was, 1);
	if
	:: was == 0 ->
		touch(NEXT);
push:		rmw_release(MAILBOX, was, 1)
	:: else
	fi;
	nb_noted++
}

active proctype poll()
{
	byte me = 2, obj, was, work, seen;

	do
	:: LATEST(MAILBOX) == 1 ->
take:		rmw_acquire(MAILBOX, obj, 0);
		touch(NEXT);
out:		rmw_acq_rel(NOTED, was, 0);
		load_relaxed(WORK(0), work);
		seen = seen | work;
		load_relaxed(WORK(1), work);
		seen = seen | (work << 1);
		work = 0
	:: atomic { nb_noted == 2 && LATEST(MAILBOX) == 0 -> break }
	od;
	assert(seen == 3)
}
