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
 *   load id[slot], use remote        load busy
 *   busy = even (release)
 */

#include <rte_branch_prediction.h>

#include "rte_comch_driver.h"
#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"

/* Consumers and producers of one side of a connection. */
#define COMCH_MAX_CONSUMERS 256
#define COMCH_MAX_PRODUCERS 256

/* The peer's consumers by id, for lookup without locks. */
struct comch_dir {
	uint32_t id[COMCH_MAX_CONSUMERS];           /* 0: free; published last */
	struct rte_comch_remote *remote[COMCH_MAX_CONSUMERS];
};

/* A producer, as far as the directory goes. */
struct comch_dir_reader {
	uint32_t busy;      /* odd: within a burst */
	uint32_t busy_seen; /* the connection's thread's, while it reclaims */
};

static inline void
comch_dir_enter(struct comch_dir_reader *r)
{
	comch_store_relaxed(&r->busy, r->busy + 1);
	comch_fence_light();
}

static inline void
comch_dir_leave(struct comch_dir_reader *r)
{
	/* Release: our use of the entry ends before its owner sees us leave. */
	comch_store_release(&r->busy, r->busy + 1);
}

/* The consumer in a slot, if it is the one of that id: slots are used again. */
static inline struct rte_comch_remote *
comch_dir_at(const struct comch_dir *dir, uint32_t slot, uint32_t id)
{
	struct rte_comch_remote *rc;

	/* Acquire, both: pair with the releases in comch_dir_add(). */
	if (comch_load_acquire(&dir->id[slot]) != id)
		return NULL;
	rc = comch_load_acquire(&dir->remote[slot]);
	return likely(rc->id == id) ? rc : NULL;
}

/* Look an id up; *slot is a guess and is updated. Within enter and leave. */
static inline struct rte_comch_remote *
comch_dir_find(const struct comch_dir *dir, uint32_t id, uint32_t *slot)
{
	struct rte_comch_remote *rc;
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
int comch_dir_add(struct comch_dir *dir, struct rte_comch_remote *remote);
/* Hide; the caller frees it after quiescence. NULL if there is none. */
struct rte_comch_remote *comch_dir_remove(struct comch_dir *dir, uint32_t id);

/* Begin to wait for a producer: note where it is. After comch_fence_heavy(). */
static inline void
comch_dir_quiesce_begin(struct comch_dir_reader *r)
{
	r->busy_seen = comch_load_acquire(&r->busy);
}

/* Has it left what it was in? */
static inline bool
comch_dir_quiesced(const struct comch_dir_reader *r)
{
	return (r->busy_seen & 1) == 0 || comch_load_acquire(&r->busy) != r->busy_seen;
}

#endif /* COMCH_DIR_H */
