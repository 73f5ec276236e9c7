/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Allocate, populate and register message memory. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "app_mem.h"

#define PAGE UINT64_C(4096)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

const char *const app_memory_names[] = { "shared", "heap", "eal", NULL };

static void *
allocate(uint64_t len, uint8_t memory)
{
	switch (memory) {
	case APP_MEMORY_SHARED:
		return rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	case APP_MEMORY_EAL:
		return rte_zmalloc("app_mem", len, PAGE);
	default:
		return aligned_alloc(PAGE, RTE_ALIGN_CEIL(len, PAGE));
	}
}

static void
release(void *addr, uint8_t memory)
{
	switch (memory) {
	case APP_MEMORY_SHARED:
		rte_comch_mem_free(addr);
		break;
	case APP_MEMORY_EAL:
		rte_free(addr);
		break;
	default:
		free(addr);
		break;
	}
}

/* Zero the memory and fault its pages in, so that no page fault is measured.
 * Shareable and EAL memory is already zero: its pages only need mapping.
 */
static void
populate(const struct app_mem *mem)
{
	if (mem->memory == APP_MEMORY_HEAP || madvise(mem->addr, RTE_ALIGN_CEIL(mem->len, PAGE),
			MADV_POPULATE_WRITE) != 0)
		memset(mem->addr, 0, mem->len);
}

int
app_mem_get(struct app_mem *mem, uint64_t len, uint8_t memory)
{
	mem->len = len;
	mem->memory = memory;
	mem->addr = allocate(len, memory);
	if (mem->addr == NULL)
		return -ENOMEM;
	populate(mem);
	return 0;
}

int
app_mem_open(struct app_mem *mem, uint64_t len, uint8_t memory)
{
	if (app_mem_get(mem, len, memory) != 0)
		return -ENOMEM;
	mem->mr = rte_comch_mem_register(mem->addr, mem->len, 0);
	if (mem->mr != NULL)
		return 0;
	release(mem->addr, memory);
	mem->addr = NULL;
	return -rte_errno;
}

void
app_mem_close(struct app_mem *mem)
{
	if (mem->addr == NULL)
		return;
	if (mem->mr != NULL)
		rte_comch_mem_unregister(mem->mr);
	release(mem->addr, mem->memory);
	memset(mem, 0, sizeof(*mem));
}
