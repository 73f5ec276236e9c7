/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_POOL_H
#define BASE_POOL_H

/**
 * @file
 * Sizes of mbuf pools, for floors and tests alike.
 */

#include <stdint.h>

/** Mbufs in the cache of an lcore; EAL lets it grow to one and a half times as many. */
#define POOL_CACHE 256

/** What one thread keeps: its cache, and a burst that it fills or checks. */
static inline uint32_t
pool_mbufs_per_thread(uint32_t burst)
{
	return 2 * POOL_CACHE + burst;
}

/**
 * Mbufs of a producer's pool. If they are handed over, each of *receivers* threads has a full
 * queue of them, a burst, and what it freed, and the producer still finds some.
 */
static inline uint32_t
pool_mbufs_to_send(uint32_t queue, uint32_t burst, uint32_t receivers)
{
	return receivers * (queue + pool_mbufs_per_thread(burst)) + pool_mbufs_per_thread(burst);
}

#endif /* BASE_POOL_H */
