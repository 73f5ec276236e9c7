/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Pools: buffers of one size, each with fixed memory in an mmap. */

#include <stdlib.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include <doca_buf_pool.h>

#include "log/log.h"
#include "mem/buf.h"

struct doca_buf_pool {
	struct impl_buf_owner owner;
	struct doca_buf *bufs;
	struct doca_mmap *mmap; /* held while started */
	size_t size;
	size_t alignment;
	bool is_started;
	union doca_data user_data;
};

doca_error_t
doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
		struct doca_buf_pool **buf_pool)
{
	struct doca_buf_pool *pool;
	doca_error_t ret;

	if (mmap == NULL || buf_pool == NULL || num_elements == 0 || num_elements > UINT32_MAX ||
			element_size == 0) {
		IMPL_ERR("buffer pool: invalid: %zu elements of %zu bytes",
			num_elements, element_size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	pool = calloc(1, sizeof(*pool));
	if (pool == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = impl_buf_owner_grow(&pool->owner, (uint32_t)num_elements, &pool->bufs);
	if (ret != DOCA_SUCCESS) {
		IMPL_ERR("buffer pool: out of memory for %zu elements", num_elements);
		free(pool);
		return ret;
	}
	/* Not const: the mmap counts the buffers of the pool, and the pool. */
	pool->mmap = (struct doca_mmap *)(uintptr_t)mmap;
	pool->size = element_size;
	pool->alignment = 1;
	*buf_pool = pool;
	return DOCA_SUCCESS;
}

static bool
is_in_use(const struct doca_buf_pool *pool)
{
	if (pool->owner.nb_free == pool->owner.nb)
		return false;
	IMPL_ERR("buffer pool: cannot stop: %u buffers are in use",
		pool->owner.nb - pool->owner.nb_free);
	return true;
}

doca_error_t
doca_buf_pool_stop(struct doca_buf_pool *buf_pool)
{
	if (buf_pool == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_in_use(buf_pool))
		return DOCA_ERROR_IN_USE;
	if (buf_pool->is_started)
		impl_mmap_drop(buf_pool->mmap);
	buf_pool->is_started = false;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_destroy(struct doca_buf_pool *buf_pool)
{
	doca_error_t ret = doca_buf_pool_stop(buf_pool);

	if (ret != DOCA_SUCCESS)
		return ret;
	free(buf_pool->bufs);
	free(buf_pool->owner.free);
	free(buf_pool);
	return DOCA_SUCCESS;
}

/* Lay the elements out; false if they do not fit. */
static bool
carve(struct doca_buf_pool *pool)
{
	const struct doca_mmap *mmap = pool->mmap;
	size_t mask = pool->alignment - 1;
	size_t first = -(uintptr_t)mmap->addr & mask;
	size_t stride;
	uint32_t i;

	if (first > mmap->len || pool->size > mmap->len - first)
		return false;
	/* This does not wrap: one element fits into memory at an aligned address other
	 * than 0.
	 */
	stride = (pool->size + mask) & ~mask;
	if (pool->owner.nb - 1 > (mmap->len - first - pool->size) / stride)
		return false;
	for (i = 0; i < pool->owner.nb; i++) {
		pool->bufs[i].head = mmap->addr + first + i * stride;
		pool->bufs[i].len = pool->size;
	}
	return true;
}

doca_error_t
doca_buf_pool_start(struct doca_buf_pool *buf_pool)
{
	if (buf_pool == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf_pool->is_started || !buf_pool->mmap->is_started) {
		IMPL_ERR("buffer pool: %s", buf_pool->is_started ? "started already" :
			"cannot start: its mmap is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!carve(buf_pool)) {
		IMPL_ERR("buffer pool: mmap of %zu bytes is too small for %u elements of %zu "
			"bytes, aligned to %zu", buf_pool->mmap->len, buf_pool->owner.nb,
			buf_pool->size, buf_pool->alignment);
		return DOCA_ERROR_INITIALIZATION;
	}
	impl_mmap_hold(buf_pool->mmap);
	buf_pool->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf)
{
	struct doca_buf *b;

	if (unlikely(buf_pool == NULL || buf == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	if (unlikely(!buf_pool->is_started))
		return DOCA_ERROR_BAD_STATE;
	b = impl_buf_take(&buf_pool->owner, buf_pool->mmap);
	if (unlikely(b == NULL))
		return DOCA_ERROR_EMPTY;
	b->data = b->head;
	b->data_len = 0;
	*buf = b;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data)
{
	if (buf_pool == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf_pool->is_started)
		return DOCA_ERROR_BAD_STATE;
	buf_pool->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment)
{
	if (buf_pool == NULL || element_alignment == 0 ||
			(element_alignment & (element_alignment - 1)) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf_pool->is_started)
		return DOCA_ERROR_BAD_STATE;
	buf_pool->alignment = element_alignment;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_elements)
{
	if (buf_pool == NULL || num_of_elements == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_of_elements = buf_pool->owner.nb;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool,
		uint32_t *num_of_free_elements)
{
	if (buf_pool == NULL || num_of_free_elements == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_of_free_elements = buf_pool->owner.nb_free;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data)
{
	if (buf_pool == NULL || user_data == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = buf_pool->user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool,
		size_t *element_alignment)
{
	if (buf_pool == NULL || element_alignment == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*element_alignment = buf_pool->alignment;
	return DOCA_SUCCESS;
}
