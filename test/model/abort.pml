/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A producer begins to stream a message while the poll's thread gives up waiting for its
 * stop, comch_chan_stage.c: what was aborted is marked so in its record.
 *
 *   producer's thread                  poll's thread, with the stream's lock
 *   what streams, and where            a stream? its record: stop_at
 *   record, with stop_at = 0           no stream any more
 *   there is a stream
 *
 * EARLY: broken: there is a stream before its record is written.
 */

#define THREADS 2
#define LOCS 2
#define PLAIN 1
#define STORES 3
#define STREAM 0
#define STOP_AT 1
#define WHERE 2

#include "memory.h"

bool aborted, done;

active proctype producer()
{
	byte me = 0;

	touch(WHERE);
#ifdef EARLY
	store_release(STREAM, 1);
	store_relaxed(STOP_AT, 1);
#else
	store_relaxed(STOP_AT, 1);
begin:	store_release(STREAM, 1);
#endif
	done = true
}

active proctype poll()
{
	byte me = 1, stream;

found:	load_acquire(STREAM, stream);
	if
	:: stream == 1 ->
		touch(WHERE);
		store_relaxed(STOP_AT, 2);
		store_release(STREAM, 0);
		aborted = true
	:: else
	fi;
	done;
	assert(!aborted || LATEST(STOP_AT) == 2)
}
