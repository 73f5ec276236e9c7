/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_BUDGET_H
#define COMCH_BUDGET_H

/* Bytes in use on the word of peers, against a limit. Any thread. */

#include <stdbool.h>
#include <stdint.h>

/* Take n bytes. False: over the limit, and nothing was taken. */
static inline bool
comch_budget_take(uint64_t *used, uint64_t limit, uint64_t n)
{
	uint64_t old = __atomic_load_n(used, __ATOMIC_RELAXED);

	do {
		if (old > limit || n > limit - old)
			return false;
	} while (!__atomic_compare_exchange_n(used, &old, old + n, true, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED));
	return true;
}

static inline void
comch_budget_give(uint64_t *used, uint64_t n)
{
	__atomic_fetch_sub(used, n, __ATOMIC_RELAXED);
}

#endif /* COMCH_BUDGET_H */
