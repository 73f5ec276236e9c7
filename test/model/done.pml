/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The ring of a producer's completions, comch_done.h, over RDMA: the producer adds an open
 * completion, and any thread that reaps the device closes it. Its application reuses the
 * payload afterwards. The completion that is taken frees an entry. When a stopped producer
 * has none in flight, it is freed.
 *
 *   producer's thread                  reaper
 *   payload, entry open, tail          the device has read the payload
 *   in flight + 1                      status (release), in flight - 1 (release)
 *   status closed? take                last access to the producer
 *   in flight 0? free
 */

#define THREADS 2
#define LOCS 3
#define PLAIN 2
#define STORES 5
#define STATUS 0
#define IN_FLIGHT 1
#define SENT 2       /* the device: orders what it is given */
#define PAYLOAD 3
#define PRODUCER 4

#include "memory.h"

#define MSGS 2

active proctype producer()
{
	byte me = 0, i, status, n;

	for (i : 1 .. MSGS) {
		touch(PAYLOAD);
		store_relaxed(STATUS, 1);
		rmw_relaxed(IN_FLIGHT, n, n + 1);
		store_release(SENT, i);
		do
		:: status == 2 -> break
		:: else ->
closed:			load_acquire(STATUS, status)
		od;
		status = 0
	}
	touch(PAYLOAD);
	n = 1;
	do
	:: n == 0 -> break
	:: else ->
landed:		load_acquire(IN_FLIGHT, n)
	od;
	touch(PRODUCER)
}

active proctype reaper()
{
	byte me = 1, i, sent, n;

	for (i : 1 .. MSGS) {
		do
		:: sent == i -> break
		:: else -> load_acquire(SENT, sent)
		od;
		touch(PAYLOAD);
close:		store_release(STATUS, 2);
		touch(PRODUCER);
land:		rmw_release(IN_FLIGHT, n, n - 1)
	}
}
