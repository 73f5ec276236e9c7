/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Updates of the directory of the peer's consumers. */

#include <errno.h>

#include "sdk/comch_dir.h"

int
comch_dir_add(struct comch_dir *dir, struct rte_comch_remote *remote)
{
	uint32_t i, s;

	for (i = 0; i < COMCH_MAX_CONSUMERS; i++) {
		s = (remote->id + i) % COMCH_MAX_CONSUMERS;
		if (dir->id[s] != 0)
			continue;
		comch_store_release(&dir->remote[s], remote); /* dir.pml, put */
		/*
		 * Release: pairs with the acquire in comch_dir_at(), which then reads the entry.
		 * Model: dir.pml, add.
		 */
		comch_store_release(&dir->id[s], remote->id);
		return 0;
	}
	return -ENOSPC;
}

struct rte_comch_remote *
comch_dir_remove(struct comch_dir *dir, uint32_t id)
{
	uint32_t slot = id % COMCH_MAX_CONSUMERS;
	struct rte_comch_remote *remote = comch_dir_find(dir, id, &slot);

	/* The pointer stays until the slot is reused: a producer may still use it. */
	if (remote != NULL)
		comch_store_relaxed(&dir->id[slot], 0);
	return remote;
}
