/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_YIELD_H
#define DFACE_YIELD_H

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

struct dface_yield {
	uint32_t fruitless; /* calls in a row */
	uint32_t limit;     /* when to yield; 0: not set yet */
};

extern __thread struct dface_yield dface_yield_self __attribute__((tls_model("initial-exec")));

void dface_yield_now(void);

/* A call was in vain. */
static inline void
dface_yield_fruitless(void)
{
	if (unlikely(++dface_yield_self.fruitless > dface_yield_self.limit))
		dface_yield_now();
}

/* A call had a result. */
static inline void
dface_yield_fruitful(void)
{
	dface_yield_self.fruitless = 0;
}

#endif /* DFACE_YIELD_H */
