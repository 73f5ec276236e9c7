/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_EPOCH_H
#define COMCH_EPOCH_H

/*
 * When may an owner free what readers use without locks? A reader's epoch is odd
 * while it may hold a pointer. The owner hides the object, fences, and frees it once
 * each reader was seen in an even or in a later epoch.
 *
 *   reader                           owner
 *   comch_epoch_enter(): odd         hide the object
 *     light fence                    comch_fence_heavy()
 *   load the pointer, use it         comch_epoch_watch(): load the epoch
 *   comch_epoch_leave(): even        until comch_epoch_passed()
 */

#include <stdbool.h>
#include <stdint.h>

#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"

struct comch_epoch {
	uint32_t now;     /* written by the reader, read by any thread */
	uint32_t watched; /* the owner's */
};

static inline void
comch_epoch_enter(struct comch_epoch *e)
{
	comch_store_relaxed(&e->now, e->now + 1);
	comch_fence_light(); /* pairs with the heavy fence: dir.pml, enter */
}

static inline void
comch_epoch_leave(struct comch_epoch *e)
{
	/*
	 * Release: pairs with the acquires below; our use of the object has ended.
	 * Model: dir.pml, leave.
	 */
	comch_store_release(&e->now, e->now + 1);
}

/* Begin to wait for a reader, after comch_fence_heavy(). */
static inline void
comch_epoch_watch(struct comch_epoch *e)
{
	/* dir.pml, watch */
	comch_store_relaxed(&e->watched, comch_load_acquire(&e->now));
}

/* For the reader: does, perhaps, an owner wait for it to leave this epoch? */
static inline bool
comch_epoch_is_watched(const struct comch_epoch *e)
{
	return comch_load_relaxed(&e->watched) == e->now;
}

/* Has the reader left the epoch in which comch_epoch_watch() saw it? */
static inline bool
comch_epoch_passed(const struct comch_epoch *e)
{
	/* Model: dir.pml, passed. */
	return (e->watched & 1) == 0 || comch_load_acquire(&e->now) != e->watched;
}

#endif /* COMCH_EPOCH_H */
