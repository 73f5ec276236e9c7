/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

/* Memory for buffers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

/* Memory with an mmap and an inventory over it. */
struct memory {
	uint8_t *addr;
	size_t len;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv;
	bool is_shared;            /* with the peer, which writes into it */
};
void memory_create(struct memory *mem, struct doca_dev *dev, size_t len, uint32_t access);
/* With the permissions of a new mmap. */
void memory_create_new(struct memory *mem, struct doca_dev *dev, size_t len);
/* In memory of rte_comch_mem_alloc(). */
void memory_create_shared(struct memory *mem, struct doca_dev *dev, size_t len, uint32_t access);
void memory_destroy(struct memory *mem);
/* A buf of len bytes at offset off; with data, or empty. */
struct doca_buf *memory_buf(struct memory *mem, size_t off, size_t len, bool data);

#endif /* COMMON_MEMORY_H */
