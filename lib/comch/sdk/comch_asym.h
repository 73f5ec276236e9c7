/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ASYM_H
#define COMCH_ASYM_H

/*
 * Asymmetric fences, which are free on the frequent side.
 *
 * Two threads of this process each store a flag and then load the other's flag. The
 * frequent side calls comch_fence_light() in between, the rare side
 * comch_fence_heavy(); then at least one of them sees the other's store. With
 * membarrier(2) the light fence is a compiler barrier; without it, both are full
 * fences.
 */

#include <stdbool.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>

/* Set by a constructor. */
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
 * The same between processes: the publisher's fence before it checks whether the
 * peer sleeps, and the sleeper's after it stored that. Light publications need two
 * things: the publisher is registered with membarrier(2), and its peer can use
 * membarrier(2). Both sides tell each other when a link comes up. A peer with false
 * information misses its own wake-ups.
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
