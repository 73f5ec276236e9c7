/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ASYM_H
#define COMCH_ASYM_H

/*
 * A fence that costs nothing on the frequent side.
 *
 * Two threads each store a flag and then load the other's. The frequent side
 * uses comch_fence_light() in between, the rare side comch_fence_heavy(), and
 * at least one of them sees the other's store. With membarrier(2) light is a
 * compiler barrier; without it both are full fences. Both sides are threads
 * of this process.
 */

#include <stdbool.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>

/* Set once, before any object exists. */
extern bool comch_asym_membarrier;

static inline void
comch_fence_light(void)
{
	if (likely(comch_asym_membarrier))
		rte_compiler_barrier();
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void comch_fence_heavy(void);

/*
 * The same between processes: the publisher's fence before it looks whether
 * the peer sleeps, and the sleeper's after it said so. A process whose
 * publications are light must be one that the kernel lets others interrupt
 * (registered), and its peer must be able to ask for that: the two tell each
 * other when a link comes up. A peer that lies there misses its own wake-ups.
 */
extern bool comch_asym_global;

static inline void
comch_fence_publish(bool light)
{
	if (likely(light))
		rte_compiler_barrier();
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void comch_fence_sleep(void);

#endif /* COMCH_ASYM_H */
