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
 */

#include <stdint.h>

#include <rte_atomic.h>
#include <rte_cycles.h>

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
