/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CLOCK_H
#define COMCH_CLOCK_H

/*
 * The clock that orders messages of different processes, for comch_order.c: a
 * counter that all cores of a machine share.
 *
 * On x86 it is the TSC (invariant and synchronous, as rte_cycles.h requires). It
 * moves by 1, or by up to 40 (10 ns) on some processors: less than passes between
 * the stamps of two sends, one after the other. On arm64 it is the virtual count
 * of the generic timer, which ticks every 1 to 40 ns, so a send has to wait for
 * the tick; rte_rdtsc() may be the cycle counter of one core there.
 *
 * Three orderings are needed, each with fences: a processor may read the counter
 * before preceding, or after following instructions.
 *
 * 1. comch_clock_after(): preceding loads, then the counter.
 *    x86: lfence starts no following instruction until all preceding loads have
 *    their values. arm64: dmb does not order the counter, which is not memory, and
 *    isb alone waits for loads only if a branch depends on them. So dsb ishld
 *    completes the loads; reads of system registers pass a dsb, but not an isb.
 *
 * 2. comch_clock_before(): the counter, then following loads and stores.
 *    x86: lfence again. arm64: an isb completes after a preceding mrs, and no
 *    following instruction starts before that.
 *
 * 3. The stores of a send, then the next stamp of any thread that knows that the
 *    send returned.
 *    x86: another thread learns of the send by a store, and stores become visible
 *    in program order. Only a thread that stamps for another link itself needs a
 *    fence that drains the store buffer: comch_clock_next_link().
 *    arm64: dsb ish in comch_clock_commit() completes when all cores see the
 *    stores. The counter read there needs no fence: the counter is monotonic, so
 *    if an early read is past the stamp, so is the counter at the return.
 *
 * Stores after a stamp need no fence: the stamp is part of a frame, and the frame
 * is published with release order after its bytes are stored.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_cycles.h>
#include <rte_pause.h>

/* Tests set this to emulate a coarser clock: the number of low bits that read as 0. */
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
#error "comch_clock.h: define the counter and its fences for this architecture"
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

/* A stamp not earlier than any preceding load of this thread. */
static inline uint64_t
comch_clock_after(void)
{
	comch_clock_fence_loads(); /* No model: it orders the clock */
	return comch_clock_now();
}

/* A stamp not later than any following load or store of this thread. */
static inline uint64_t
comch_clock_before(void)
{
	uint64_t t = comch_clock_now();

	comch_clock_fence_read(); /* No model: it orders the clock */
	return t;
}

/* Call before a stamp if this thread's last one was for another link. */
static inline void
comch_clock_next_link(void)
{
	if (COMCH_CLOCK_IS_FINE)
		comch_clock_fence_stores(); /* No model: it orders the clock */
}

/*
 * Call before a send returns: its stores are visible to all cores, and any stamp
 * taken after the return is later.
 */
static inline void
comch_clock_commit(uint64_t stamp)
{
	if (COMCH_CLOCK_IS_FINE)
		return;
	comch_clock_fence_stores(); /* No model: it orders the clock */
	while (comch_clock_now() <= stamp)
		rte_pause();
}

#endif /* COMCH_CLOCK_H */
