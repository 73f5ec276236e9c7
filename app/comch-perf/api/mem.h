/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_MEM_H
#define API_MEM_H

/**
 * @file
 * Memory for messages.
 */

#include <rte_comch_mem.h>

#include "engine/data.h"

/** A block of memory. */
struct mem {
	void *addr;
	uint64_t len;
	uint8_t memory; /**< enum perf_memory */
	struct rte_comch_mr *mr;
};

/** Allocate a block, zeroed and with its pages faulted in. @return 0 or -ENOMEM */
int mem_get(struct mem *mem, uint64_t len, uint8_t memory);

/** As mem_get(), and register it with librte_comch. @return 0 or a negative errno */
int mem_open(struct mem *mem, uint64_t len, uint8_t memory);

/** Unregister and free; tolerates a failed open. */
void mem_close(struct mem *mem);

#endif /* API_MEM_H */
