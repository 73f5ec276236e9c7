/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_GUARD_H
#define COMCH_GUARD_H

/*
 * Checks of the threading rules, compiled in by -Ddebug_checks=true: a violation
 * panics at once instead of corrupting data.
 *
 * An object that only one thread may use at a time has a guard, which panics if two
 * threads enter it. The member exists in all builds, so the layout is the same.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_debug.h>

#ifdef COMCH_DEBUG_CHECKS
#define COMCH_GUARDS true

static inline void
comch_guard_enter(uint32_t *guard, const char *what)
{
	if (__atomic_exchange_n(guard, 1, __ATOMIC_RELAXED) != 0)
		rte_panic("comch: %s: two threads at once\n", what);
}

static inline void
comch_guard_leave(uint32_t *guard)
{
	__atomic_store_n(guard, 0, __ATOMIC_RELAXED);
}

#else
#define COMCH_GUARDS false

static inline void
comch_guard_enter(uint32_t *guard, const char *what)
{
	(void)guard;
	(void)what;
}

static inline void
comch_guard_leave(uint32_t *guard)
{
	(void)guard;
}

#endif

#endif /* COMCH_GUARD_H */
