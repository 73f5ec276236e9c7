/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MP_EAL_H
#define MP_EAL_H

/*
 * One EAL of several processes: a primary and secondaries, which share hugepages. The
 * director, which has no EAL, names it; its actors join it.
 */

#include <stdbool.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "mp.h"

#define MP_ROOM 2048  /* bytes of data in an mbuf of the pools below */

struct mp_eal {
	char prefix[48];
	char huge_dir[128];
};

/* The director: name an EAL. Skips the test, and says why, where there are no hugepages. */
void mp_eal_new(struct mp_eal *eal);
/* The director, when all actors have ended: remove what killed ones have left. */
void mp_eal_remove(struct mp_eal *eal);
/*
 * An actor joins, on the ring driver. The first one is the primary; lcores differ. A
 * secondary waits for the primary.
 */
void mp_eal_join(const struct mp_eal *eal, bool is_primary, unsigned int lcore);

/* A pool for all processes, made by one, and the same in another; registered. */
struct rte_mempool *mp_pool_new(const char *name, unsigned int n);
struct rte_mempool *mp_pool_find(const char *name);

#endif /* MP_EAL_H */
