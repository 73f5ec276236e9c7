/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DPA memory: memory of this process. The context records its allocations, so that
 * copies by the host can be checked against them.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "dpa/core.h"
#include "log/log.h"

#define ALIGNMENT 64

/* Index of the first allocation above addr. */
static size_t
find_above(const struct impl_dpa_mem *mem, uintptr_t addr)
{
	size_t low = 0, high = mem->nb, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (mem->ranges[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The allocation that contains or precedes addr; NULL: none. */
static struct impl_dpa_range *
find(const struct impl_dpa_mem *mem, uintptr_t addr)
{
	size_t above = find_above(mem, addr);

	return above == 0 ? NULL : &mem->ranges[above - 1];
}

static bool
insert(struct impl_dpa_mem *mem, uintptr_t addr, size_t size)
{
	size_t room = mem->room == 0 ? 16 : 2 * mem->room, i;
	struct impl_dpa_range *ranges;

	if (mem->nb == mem->room) {
		ranges = reallocarray(mem->ranges, room, sizeof(*ranges));
		if (ranges == NULL)
			return false;
		mem->ranges = ranges;
		mem->room = room;
	}
	i = find_above(mem, addr);
	memmove(&mem->ranges[i + 1], &mem->ranges[i], (mem->nb - i) * sizeof(mem->ranges[0]));
	mem->ranges[i] = (struct impl_dpa_range){ addr, size };
	mem->nb++;
	return true;
}

doca_error_t
doca_dpa_mem_alloc(struct doca_dpa *dpa, size_t size, doca_dpa_dev_uintptr_t *dev_ptr)
{
	void *mem = NULL;
	bool ok;

	if (dev_ptr != NULL)
		*dev_ptr = 0;
	if (dpa == NULL || dev_ptr == NULL || size == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_dpa_is_started(dpa))
		return DOCA_ERROR_BAD_STATE;
	if (posix_memalign(&mem, ALIGNMENT, size) != 0) {
		IMPL_ERR("out of DPA memory: %zu bytes", size);
		return DOCA_ERROR_DRIVER;
	}
	pthread_mutex_lock(&dpa->root->lock);
	ok = insert(&dpa->root->mem, (uintptr_t)mem, size);
	pthread_mutex_unlock(&dpa->root->lock);
	if (!ok) {
		free(mem);
		return DOCA_ERROR_DRIVER;
	}
	*dev_ptr = (uintptr_t)mem;
	return DOCA_SUCCESS;
}

static bool
take_out(struct impl_dpa_mem *mem, uintptr_t addr)
{
	struct impl_dpa_range *range = find(mem, addr);

	if (range == NULL || range->addr != addr)
		return false;
	mem->nb--;
	memmove(range, range + 1, (size_t)(&mem->ranges[mem->nb] - range) * sizeof(*range));
	return true;
}

doca_error_t
doca_dpa_mem_free(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr)
{
	bool ok;

	if (dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_dpa_is_started(dpa))
		return DOCA_ERROR_BAD_STATE;
	pthread_mutex_lock(&dpa->root->lock);
	ok = take_out(&dpa->root->mem, dev_ptr);
	pthread_mutex_unlock(&dpa->root->lock);
	if (!ok) {
		IMPL_ERR("0x%" PRIx64 " is not an allocation of DPA memory", dev_ptr);
		return DOCA_ERROR_DRIVER;
	}
	free((void *)(uintptr_t)dev_ptr);
	return DOCA_SUCCESS;
}

/* Check that [addr, addr + size) is in an allocation, and log why not. */
static doca_error_t
check_range(struct doca_dpa *dpa, uint64_t addr, size_t size, const char *what)
{
	struct impl_dpa_range *found, range = { 0, 0 };
	uint64_t off;

	pthread_mutex_lock(&dpa->root->lock);
	found = find(&dpa->root->mem, addr);
	if (found != NULL)
		range = *found;
	pthread_mutex_unlock(&dpa->root->lock);
	off = addr - range.addr;
	if (off < range.size && size <= range.size - off)
		return DOCA_SUCCESS;
	if (off < range.size)
		IMPL_ERR("%s: %zu bytes at 0x%" PRIx64 " exceed the allocation of %zu bytes "
			"at 0x%" PRIxPTR, what, size, addr, range.size, range.addr);
	else
		IMPL_ERR("%s: %zu bytes at 0x%" PRIx64 " are not in an allocation of DPA memory",
			what, size, addr);
	return DOCA_ERROR_DRIVER;
}

/* Common checks of all copies. */
static doca_error_t
check(struct doca_dpa *dpa, uint64_t addr, size_t size, const char *what)
{
	if (dpa == NULL || addr == 0 || size == 0)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_dpa_is_started(dpa) ? check_range(dpa, addr, size, what) :
		DOCA_ERROR_BAD_STATE;
}

doca_error_t
doca_dpa_h2d_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr, void *src_ptr,
		size_t size)
{
	doca_error_t ret;

	if (src_ptr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = check(dpa, dst_ptr, size, __func__);
	if (ret == DOCA_SUCCESS)
		memcpy((void *)(uintptr_t)dst_ptr, src_ptr, size);
	return ret;
}

doca_error_t
doca_dpa_d2h_memcpy(struct doca_dpa *dpa, void *dst_ptr, doca_dpa_dev_uintptr_t src_ptr,
		size_t size)
{
	doca_error_t ret;

	if (dst_ptr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = check(dpa, src_ptr, size, __func__);
	if (ret == DOCA_SUCCESS)
		memcpy(dst_ptr, (const void *)(uintptr_t)src_ptr, size);
	return ret;
}

doca_error_t
doca_dpa_memset(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr, int value, size_t size)
{
	doca_error_t ret = check(dpa, dev_ptr, size, __func__);

	if (ret == DOCA_SUCCESS)
		memset((void *)(uintptr_t)dev_ptr, value, size);
	return ret;
}

void
impl_dpa_mem_fini(struct impl_dpa_mem *mem)
{
	size_t i;

	if (mem->nb > 0)
		IMPL_WARN("DPA context: freeing %zu allocations that were not freed",
			mem->nb);
	for (i = 0; i < mem->nb; i++)
		free((void *)mem->ranges[i].addr);
	free(mem->ranges);
}
