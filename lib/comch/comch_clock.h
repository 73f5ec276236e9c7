/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CLOCK_H
#define COMCH_CLOCK_H

/*
 * The clock that orders messages of different processes: the TSC, which all
 * cores of a machine share (invariant and synchronous, as rte_cycles.h wants).
 *
 * The processor may read it early or late, as it may do with any load. What
 * keeps it in its place is rte_rmb(), on x86 an lfence: it waits until all
 * loads before it have their value, and nothing behind it begins earlier.
 *
 * It does not wait for stores. What another thread has stored, it has published
 * before we can know of it; what we have stored ourselves may still be on its way
 * when we read the clock. So a thread that has sent on another connection just
 * before waits for its stores, too.
 */

#include <stdint.h>

#include <rte_atomic.h>
#include <rte_cycles.h>

/* Not earlier than the publication of anything that this thread has stored. */
static inline void
comch_clock_wait_stores(void)
{
	rte_mb();
}

/* Not earlier than anything that this thread has seen before. */
static inline uint64_t
comch_clock_after(void)
{
	rte_rmb();
	return rte_rdtsc();
}

/* Not later than anything that this thread looks at from here on. */
static inline uint64_t
comch_clock_before(void)
{
	uint64_t t = rte_rdtsc();

	rte_rmb();
	return t;
}

#endif /* COMCH_CLOCK_H */
