/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CTX_YIELD_H
#define IMPL_CTX_YIELD_H

/*
 * More spinning threads than cores: who has called in vain for a while gives
 * its core to another one.
 *
 * Nobody says how many threads spin, so a yield is an experiment: one that
 * took long has let somebody run, and the next follows after as few fruitless
 * calls; one that came back at once was for nothing, and the next has to wait
 * twice as long. So a thread that has its core to itself loses next to nothing.
 */

#include <stdint.h>

#include <rte_branch_prediction.h>

struct impl_yield {
	uint32_t fruitless; /* calls in a row */
	uint32_t limit;     /* when to yield; 0: not set yet */
};

extern __thread struct impl_yield impl_yield_self __attribute__((tls_model("initial-exec")));

void impl_yield_now(void);

/* A call was in vain. */
static inline void
impl_yield_fruitless(void)
{
	if (unlikely(++impl_yield_self.fruitless > impl_yield_self.limit))
		impl_yield_now();
}

/* A call had a result. */
static inline void
impl_yield_fruitful(void)
{
	impl_yield_self.fruitless = 0;
}

#endif /* IMPL_CTX_YIELD_H */
