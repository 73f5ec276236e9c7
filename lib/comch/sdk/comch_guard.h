/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_GUARD_H
#define COMCH_GUARD_H

/*
 * -Ddebug_checks=true: a program that breaks a thread rule stops at once and
 * says where, instead of losing a message much later. Otherwise nothing.
 *
 * What belongs to one thread at a time has a guard: entered twice at the same
 * time, it panics. The word is there in both builds, so that objects have the
 * same layout.
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
