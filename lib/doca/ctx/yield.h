/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CTX_YIELD_H
#define IMPL_CTX_YIELD_H

/*
 * If there are more polling threads than cores, a thread yields its core after a number
 * of idle calls.
 *
 * The number of polling threads is unknown, so each yield is an experiment. If it took
 * long, another thread has run, and the next yield follows after as few idle calls. If
 * it returned at once, twice as many idle calls are needed for the next. A thread with
 * a core to itself therefore loses next to nothing.
 */

#include <stdint.h>

#include <rte_branch_prediction.h>

struct impl_yield {
	uint32_t idle_calls; /* in a row */
	uint32_t limit;     /* idle calls before a yield; 0: not set yet */
};

extern __thread struct impl_yield impl_yield_self __attribute__((tls_model("initial-exec")));

void impl_yield_now(void);

/* A call had no result. */
static inline void
impl_yield_idle(void)
{
	if (unlikely(++impl_yield_self.idle_calls > impl_yield_self.limit))
		impl_yield_now();
}

/* A call had a result. */
static inline void
impl_yield_busy(void)
{
	impl_yield_self.idle_calls = 0;
}

#endif /* IMPL_CTX_YIELD_H */
