/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An object is complete before others find it.
 *
 *   maker                              user
 *   fill the object                    pointer (or number, or flag) there?
 *   publish: store the pointer         find: use the object
 *
 * Taking the pointer back is no part of this: see dir.pml.
 */

#define THREADS 2
#define LOCS 1
#define PLAIN 1
#define STORES 2
#define POINTER 0
#define OBJECT 1

#include "memory.h"

active proctype maker()
{
	byte me = 0;

	touch(OBJECT);
publish: store_release(POINTER, 1)
}

active proctype user()
{
	byte me = 1, p;

find:	load_acquire(POINTER, p);
	if
	:: p == 1 -> touch(OBJECT)
	:: else
	fi
}
