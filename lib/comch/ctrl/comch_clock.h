/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CLOCK_H
#define COMCH_CLOCK_H

/*
 * The clock that orders messages of different processes: a counter that all
 * cores of a machine share. What is built on it: comch_order.c.
 *
 * On x86 it is the TSC (invariant and synchronous, as rte_cycles.h requires). It
 * moves by 1, or by up to 40 (10 ns) on some processors: less than passes between
 * the stamps of two sends, one after the other. On arm64 it is the virtual count
 * of the generic timer, which ticks every 1 to 40 ns, so a send has to wait for
 * the tick; rte_rdtsc() may be the cycle counter of one core there.
 *
 * Three orders are needed. None comes for free, because a processor may read the
 * counter earlier or later than it does what is before or behind.
 *
 * 1. comch_clock_after(): the loads before it, then the counter.
 *    x86: lfence starts nothing behind it until all loads before it have their
 *    values. arm64: dmb does not order the counter, which is not memory, and isb
 *    alone waits for loads only if a branch depends on them. So dsb ishld
 *    completes the loads; dsb lets reads of system registers pass, and isb does
 *    not.
 *
 * 2. comch_clock_before(): the counter, then the loads and stores behind it.
 *    x86: lfence again. arm64: an mrs before an isb is done when the isb is, and
 *    nothing behind the isb starts before that.
 *
 * 3. The stores of a send, then the next stamp of any thread that knows that the
 *    send returned.
 *    x86: what tells another thread is stored, too, and stores become visible in
 *    their order. Only a thread that stamps for another link itself needs a fence
 *    that empties the store buffer: comch_clock_next_link().
 *    arm64: dsb ish completes when all cores see the stores, in
 *    comch_clock_commit(). The counter that is read there needs no fence: it
 *    does not go back, so if a read that was too early is past the stamp, the
 *    counter is past it at the return.
 *
 * Stores behind a stamp need no fence of their own: a frame holds the stamp, and
 * it is published with release order after its bytes are stored.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_cycles.h>
#include <rte_pause.h>

/* Low bits that read as 0, for tests: a clock that is coarser than this machine's. */
#ifndef COMCH_CLOCK_MASK_BITS
#define COMCH_CLOCK_MASK_BITS 0
#endif

#if defined(RTE_ARCH_ARM64)

static inline uint64_t
comch_clock_counter(void)
{
	uint64_t t;

	asm volatile("mrs %0, cntvct_el0" : "=r" (t) : : "memory");
	return t;
}

#define comch_clock_fence_loads()  asm volatile("dsb ishld\n\tisb" : : : "memory")
#define comch_clock_fence_read()   asm volatile("isb" : : : "memory")
#define comch_clock_fence_stores() asm volatile("dsb ish" : : : "memory")

#elif defined(RTE_ARCH_X86)

#define comch_clock_counter()      rte_rdtsc()
#define comch_clock_fence_loads()  rte_rmb()
#define comch_clock_fence_read()   rte_rmb()
#define comch_clock_fence_stores() rte_mb()

#else
#error "comch_clock.h: how does this processor order the reads of its counter?"
#endif

/* Is a tick shorter than a send? */
#if defined(RTE_ARCH_X86) && COMCH_CLOCK_MASK_BITS == 0
#define COMCH_CLOCK_IS_FINE true
#else
#define COMCH_CLOCK_IS_FINE false
#endif

static inline uint64_t
comch_clock_now(void)
{
	return comch_clock_counter() & ~((UINT64_C(1) << COMCH_CLOCK_MASK_BITS) - 1);
}

/* Not earlier than anything that this thread has seen before. */
static inline uint64_t
comch_clock_after(void)
{
	comch_clock_fence_loads();
	return comch_clock_now();
}

/* Not later than anything that this thread looks at or stores from here on. */
static inline uint64_t
comch_clock_before(void)
{
	uint64_t t = comch_clock_now();

	comch_clock_fence_read();
	return t;
}

/* Before a stamp, if this thread's last one was for another link. */
static inline void
comch_clock_next_link(void)
{
	if (COMCH_CLOCK_IS_FINE)
		comch_clock_fence_stores();
}

/*
 * Before a send returns: what it stored is visible to all, and whatever is
 * stamped after the return has a later stamp.
 */
static inline void
comch_clock_commit(uint64_t stamp)
{
	if (COMCH_CLOCK_IS_FINE)
		return;
	comch_clock_fence_stores();
	while (comch_clock_now() <= stamp)
		rte_pause();
}

#endif /* COMCH_CLOCK_H */
