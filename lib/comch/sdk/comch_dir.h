/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DIR_H
#define COMCH_DIR_H

/*
 * The peer's consumers by id. Producers look them up without locks; the
 * connection's thread adds and removes.
 *
 * Producers look up and use a consumer within an epoch (comch_epoch.h): a consumer
 * that was removed is freed once each producer has left the epoch that it was in. Ids
 * are not reused, so a stale id finds nothing.
 */

#include <rte_branch_prediction.h>

#include "rte_comch_driver.h"
#include "sdk/comch_epoch.h"
#include "sdk/comch_compat.h"

/* Limits of one side of a connection. No driver's device offers more. */
#define COMCH_MAX_CONSUMERS 256
#define COMCH_MAX_PRODUCERS 256

/* The peer's consumers by id, for lookup without locks. */
struct comch_dir {
	uint32_t id[COMCH_MAX_CONSUMERS];           /* 0: free; published last */
	struct rte_comch_remote *remote[COMCH_MAX_CONSUMERS];
};

/* The consumer in a slot, if it has this id: slots are reused. */
static inline struct rte_comch_remote *
comch_dir_at(const struct comch_dir *dir, uint32_t slot, uint32_t id)
{
	struct rte_comch_remote *rc;

	/* Acquire, both: pair with the releases in comch_dir_add(). Model: dir.pml, look. */
	if (comch_load_acquire(&dir->id[slot]) != id)
		return NULL;
	rc = comch_load_acquire(&dir->remote[slot]); /* dir.pml, slot */
	return likely(rc->id == id) ? rc : NULL;
}

/* Look up an id; *slot is a hint and is updated. Call between enter and leave. */
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

/* Publish a consumer. Returns 0 or -ENOSPC. */
int comch_dir_add(struct comch_dir *dir, struct rte_comch_remote *remote);
/* Hide a consumer; the caller frees it once producers have passed. NULL: unknown id. */
struct rte_comch_remote *comch_dir_remove(struct comch_dir *dir, uint32_t id);

#endif /* COMCH_DIR_H */
