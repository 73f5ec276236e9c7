/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Yields the core of an idle polling thread, and adapts how often; see yield.h. */

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "ctx/yield.h"

/* Idle calls before a yield: at first, and if no other thread needs the core. */
#define FEW 64
#define MANY 4096
/* If a yield took longer, another thread has run. */
#define SWITCH_NS 1500

__thread struct impl_yield impl_yield_self;

/* Cycles of SWITCH_NS; 0: never yield. */
static uint64_t switch_cycles;

RTE_INIT(impl_yield_init)
{
	const char *env = getenv("COMCH_YIELD");

	if (env == NULL || strcmp(env, "0") != 0)
		switch_cycles = 1;
}

/* EAL knows the TSC rate once it is started. Before, every yield counts as long. */
static uint64_t
threshold(void)
{
	uint64_t hz, cycles = __atomic_load_n(&switch_cycles, __ATOMIC_RELAXED);

	if (cycles != 1)
		return cycles;
	hz = rte_get_tsc_hz();
	if (hz == 0)
		return cycles;
	/* Several threads may get here: all store the same value. */
	cycles = hz / 1000 * SWITCH_NS / 1000000;
	__atomic_store_n(&switch_cycles, cycles, __ATOMIC_RELAXED);
	return cycles;
}

void
impl_yield_now(void)
{
	struct impl_yield *y = &impl_yield_self;
	uint64_t begin, limit = threshold();

	y->idle_calls = 0;
	if (limit == 0) {
		y->limit = UINT32_MAX;
		return;
	}
	if (y->limit == 0) {
		/* First idle call of this thread. */
		y->limit = FEW;
		return;
	}
	begin = rte_rdtsc();
	sched_yield();
	if (rte_rdtsc() - begin > limit)
		y->limit = FEW;
	else
		y->limit = RTE_MIN(2 * y->limit, (uint32_t)MANY);
}
