/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include <rte_comch_mem.h>
#include <rte_memory.h>

#include "common/memory.h"
#include "common/result.h"

/* NULL: with the permissions of a new mmap. */
static void
memory_map(struct memory *mem, struct doca_dev *dev, size_t len, const uint32_t *access)
{
	T_CHECK(mem->addr != NULL);
	mem->len = len;
	T_OK(doca_mmap_create(&mem->mmap));
	T_OK(doca_mmap_add_dev(mem->mmap, dev));
	if (access != NULL)
		T_OK(doca_mmap_set_permissions(mem->mmap, *access));
	T_OK(doca_mmap_set_memrange(mem->mmap, mem->addr, len));
	T_OK(doca_mmap_start(mem->mmap));
	T_OK(doca_buf_inventory_create(2048, &mem->inv));
	T_OK(doca_buf_inventory_start(mem->inv));
}

void
memory_create(struct memory *mem, struct doca_dev *dev, size_t len, uint32_t access)
{
	mem->is_shared = false;
	mem->addr = calloc(1, len);
	memory_map(mem, dev, len, &access);
}

void
memory_create_new(struct memory *mem, struct doca_dev *dev, size_t len)
{
	mem->is_shared = false;
	mem->addr = calloc(1, len);
	memory_map(mem, dev, len, NULL);
}

void
memory_create_shared(struct memory *mem, struct doca_dev *dev, size_t len, uint32_t access)
{
	mem->is_shared = true;
	mem->addr = rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	memory_map(mem, dev, len, &access);
}

void
memory_destroy(struct memory *mem)
{
	T_OK(doca_mmap_destroy(mem->mmap));
	T_OK(doca_buf_inventory_destroy(mem->inv));
	if (mem->is_shared)
		T_EQ(rte_comch_mem_free(mem->addr), 0);
	else
		free(mem->addr);
}

struct doca_buf *
memory_buf(struct memory *mem, size_t off, size_t len, bool data)
{
	struct doca_buf *buf;

	if (data)
		T_OK(doca_buf_inventory_buf_get_by_data(mem->inv, mem->mmap, mem->addr + off,
			len, &buf));
	else
		T_OK(doca_buf_inventory_buf_get_by_addr(mem->inv, mem->mmap, mem->addr + off,
			len, &buf));
	return buf;
}
