/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DIR_H
#define COMCH_DIR_H

/*
 * The peer's consumers by id. Producers look them up without locks; the
 * connection's thread adds and removes.
 *
 * A producer that may hold a pointer out of the directory says so by an odd
 * `busy`. Removal hides the entry, fences, and frees it only after each
 * producer was seen not busy, or busy with something later. Ids never come
 * back, so a stale id finds nothing.
 *
 *   producer                        connection's thread
 *   busy = odd                      id[slot] = 0
 *   light fence                     heavy fence
 *   load id[slot], use rcons        load busy
 *   busy = even (release)
 */

#include "comch_asym.h"
#include "comch_chan.h"
#include "comch_compat.h"

static inline void
comch_dir_enter(struct comch_chan_prod *p)
{
	comch_store_relaxed(&p->busy, p->busy + 1);
	comch_fence_light();
}

static inline void
comch_dir_leave(struct comch_chan_prod *p)
{
	/* Release: our use of the entry ends before its owner sees us leave. */
	comch_store_release(&p->busy, p->busy + 1);
}

/* The consumer in a slot, if it is the one of that id: slots are used again. */
static inline struct comch_rcons *
comch_dir_at(const struct comch_dir *dir, uint32_t slot, uint32_t id)
{
	struct comch_rcons *rc;

	/* Acquire, both: pair with the releases in comch_dir_add(). */
	if (comch_load_acquire(&dir->id[slot]) != id)
		return NULL;
	rc = comch_load_acquire(&dir->rcons[slot]);
	return likely(rc->id == id) ? rc : NULL;
}

/* Look an id up; *slot is a guess and is updated. Within enter and leave. */
static inline struct comch_rcons *
comch_dir_find(const struct comch_dir *dir, uint32_t id, uint32_t *slot)
{
	struct comch_rcons *rc;
	uint32_t i, s = *slot;

	if (unlikely(id == 0))
		return NULL;
	rc = comch_dir_at(dir, s, id);
	for (i = 0; unlikely(rc == NULL) && i < COMCH_MAX_CONSUMERS; i++) {
		s = (id + i) % COMCH_MAX_CONSUMERS;
		rc = comch_dir_at(dir, s, id);
	}
	if (likely(rc != NULL))
		*slot = s;
	return rc;
}

/* Publish. Returns 0 or -ENOSPC. */
int comch_dir_add(struct comch_dir *dir, struct comch_rcons *rcons);
/* Hide; the caller frees it after quiescence. NULL if there is none. */
struct comch_rcons *comch_dir_remove(struct comch_dir *dir, uint32_t id);

/* Begin to wait for a producer: note where it is. After comch_fence_heavy(). */
static inline void
comch_dir_quiesce_begin(struct comch_chan_prod *p)
{
	p->busy_seen = comch_load_acquire(&p->busy);
}

/* Has it left what it was in? */
static inline bool
comch_dir_quiesced(const struct comch_chan_prod *p)
{
	return (p->busy_seen & 1) == 0 || comch_load_acquire(&p->busy) != p->busy_seen;
}

#endif /* COMCH_DIR_H */
