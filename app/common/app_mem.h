/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef APP_MEM_H
#define APP_MEM_H

/**
 * @file
 * Memory for messages.
 */

#include <rte_comch_mem.h>

/** Where memory comes from. */
enum app_memory {
	APP_MEMORY_SHARED, /**< rte_comch_mem_alloc() */
	APP_MEMORY_HEAP,
	APP_MEMORY_EAL,
};

/** Names of enum app_memory; the last one is NULL. */
extern const char *const app_memory_names[];

/** A block of memory. */
struct app_mem {
	void *addr;
	uint64_t len;
	uint8_t memory; /**< enum app_memory */
	struct rte_comch_mr *mr;
};

/** Allocate a block, zeroed and with its pages faulted in. @return 0 or -ENOMEM */
int app_mem_get(struct app_mem *mem, uint64_t len, uint8_t memory);

/** As app_mem_get(), and register it with librte_comch. @return 0 or a negative errno */
int app_mem_open(struct app_mem *mem, uint64_t len, uint8_t memory);

/** Unregister and free; tolerates a failed open. */
void app_mem_close(struct app_mem *mem);

#endif /* APP_MEM_H */
