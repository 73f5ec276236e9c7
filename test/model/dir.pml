/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The directory of consumers, comch_dir.h, and the epochs of its users, comch_epoch.h: an
 * entry is complete when it is found, and freed only when no producer uses it. Its slot may
 * be reused before that.
 *
 *   producer                        connection's thread
 *   epoch = odd                     entry, slot's pointer, slot's id
 *   light fence                     id = 0; perhaps the next entry, in the same slot
 *   id is wanted? pointer:          heavy fence
 *     use the entry, if it has      seen = epoch
 *     this id                       seen even, or epoch changed: free the first entry
 *   epoch = even
 *
 * FULL: without membarrier(2) both fences are full.
 */

#define THREADS 2
#define LOCS 3
#define PLAIN 3
#define STORES 5
#define EPOCH 0
#define ID 1
#define SLOT 2
#define ENTRY(id) (2 + (id))

#include "memory.h"

#define BURSTS 2

active proctype producer()
{
	byte me = 0, i, id, entry, wanted;

	for (i : 1 .. BURSTS) {
		store_relaxed(EPOCH, 2 * i - 1);
#ifdef FULL
enter:		fence_full();
#endif
		if
		:: wanted = 1
		:: wanted = 2
		fi;
look:		load_acquire(ID, id);
		if
		:: id == wanted ->
slot:			load_acquire(SLOT, entry);
			touch(ENTRY(entry))
		:: else
		fi;
leave:		store_release(EPOCH, 2 * i)
	}
}

active proctype connection()
{
	byte me = 1, seen, now;
	bool freed, added;

	touch(ENTRY(1));
	store_release(SLOT, 1);
	store_release(ID, 1);
	store_relaxed(ID, 0);
	do
	:: !added ->
		touch(ENTRY(2));
put:		store_release(SLOT, 2);
add:		store_release(ID, 2);
		added = true
	:: !freed ->
#ifdef FULL
hide:		fence_full();
#else
hide:		fence_heavy();
#endif
watch:		load_acquire(EPOCH, seen);
		now = seen;
		do
		:: seen % 2 == 0 || now != seen -> break
		:: else ->
passed:			load_acquire(EPOCH, now)
		od;
		touch(ENTRY(1));
		freed = true
	:: added && freed -> break
	od
}
