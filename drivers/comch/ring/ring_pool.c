/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Mempools of mbufs that other processes use: can they, and is it safe if one is killed?
 *
 * A burst sees that mbufs of another pool cross, but it must not log. It leaves the pool's
 * name here, for the poll's thread.
 */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_memory.h>

#include "ring_private.h"

/* Pools that were warned of. */
#define MAX_WARNED 32

enum {
	NOTE_NONE,
	NOTE_BUSY,
	NOTE_READY,
};

/* A pool may be gone when the poll's thread looks. */
static struct {
	uint32_t state;
	char name[RTE_MEMPOOL_NAMESIZE];
} note;

bool
ring_pool_is_shared(struct rte_mempool *mp)
{
	const struct rte_mempool_memhdr *hdr;
	const struct rte_memseg_list *list;

	if (rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF)
		return false;
	STAILQ_FOREACH(hdr, &mp->mem_list, next) {
		list = rte_mem_virt2memseg_list(hdr->addr);
		if (list == NULL || list->external)
			return false;
	}
	return true;
}

/* True once for each name. */
static bool
is_new(const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char warned[MAX_WARNED][RTE_MEMPOOL_NAMESIZE];
	bool found = false;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_WARNED && warned[i][0] != '\0' && !found; i++)
		found = strcmp(warned[i], name) == 0;
	if (!found && i < MAX_WARNED)
		snprintf(warned[i], sizeof(warned[i]), "%s", name);
	pthread_mutex_unlock(&lock);
	return !found && i < MAX_WARNED;
}

static bool
is_ring(const struct rte_mempool *mp)
{
	return strncmp(rte_mempool_get_ops(mp->ops_index)->name, "ring_", 5) == 0;
}

static void
warn(const char *name)
{
	if (is_new(name))
		RING_LOG(WARNING, "mempool %s is shared with another process and has a ring "
			"handler: a process that is killed while it allocates blocks the others. "
			"Use lf_stack: rte_comch_pktmbuf_pool_create_multiproc()", name);
}

void
ring_pool_check(const struct rte_mempool *mp)
{
	if (is_ring(mp))
		warn(mp->name);
}

void
ring_pool_crosses(const struct rte_mempool *mp)
{
	uint32_t none = NOTE_NONE;

	/*
	 * Acquire: pairs with the release in ring_pool_warn(), which has read the name.
	 * Model: lock.pml, lock.
	 */
	if (!is_ring(mp) || !__atomic_compare_exchange_n(&note.state, &none, NOTE_BUSY,
			false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	memcpy(note.name, mp->name, sizeof(note.name));
	/* Release: pairs with the acquire in ring_pool_warn(). Model: publish.pml, publish. */
	comch_store_release(&note.state, NOTE_READY);
}

void
ring_pool_warn(void)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	/* Pairs with ring_pool_crosses(). Model: publish.pml, find. */
	if (likely(comch_load_acquire(&note.state) != NOTE_READY))
		return;
	memcpy(name, note.name, sizeof(name));
	/* Pairs with ring_pool_crosses(). Model: lock.pml, unlock. */
	comch_store_release(&note.state, NOTE_NONE);
	warn(name);
}
