/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Inventories: buffers for any range of any mmap. */

#include <stdlib.h>

#include <rte_branch_prediction.h>

#include <bsd/sys/queue.h>

#include <doca_buf_inventory.h>

#include "log/log.h"
#include "mem/buf.h"

/* Buffers that were allocated together. */
struct chunk {
	struct doca_buf *bufs;
	SLIST_ENTRY(chunk) next;
};

struct doca_buf_inventory {
	struct impl_buf_owner owner;
	bool is_started;
	union doca_data user_data;
	SLIST_HEAD(, chunk) chunks;
};

static doca_error_t
add_chunk(struct doca_buf_inventory *inventory, uint32_t nb)
{
	struct chunk *chunk;
	doca_error_t ret;

	chunk = calloc(1, sizeof(*chunk));
	if (chunk == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = impl_buf_owner_grow(&inventory->owner, nb, &chunk->bufs);
	if (ret != DOCA_SUCCESS) {
		IMPL_ERR("buffer inventory: out of memory for %u elements", nb);
		free(chunk);
		return ret;
	}
	SLIST_INSERT_HEAD(&inventory->chunks, chunk, next);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory)
{
	struct doca_buf_inventory *inv;
	doca_error_t ret;

	if (inventory == NULL || num_elements == 0 || num_elements > UINT32_MAX) {
		IMPL_ERR("buffer inventory: invalid number of elements: %zu", num_elements);
		return DOCA_ERROR_INVALID_VALUE;
	}
	inv = calloc(1, sizeof(*inv));
	if (inv == NULL)
		return DOCA_ERROR_NO_MEMORY;
	SLIST_INIT(&inv->chunks);
	ret = add_chunk(inv, (uint32_t)num_elements);
	if (ret != DOCA_SUCCESS) {
		free(inv);
		return ret;
	}
	*inventory = inv;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_create_105(const union doca_data *user_data, size_t num_elements,
		uint32_t extensions, struct doca_buf_inventory **inventory);

/* doca_buf_inventory_create() until DOCA 2.2. */
doca_error_t
doca_buf_inventory_create_105(const union doca_data *user_data, size_t num_elements,
		uint32_t extensions, struct doca_buf_inventory **inventory)
{
	doca_error_t ret;

	if (extensions != 0) {
		IMPL_ERR("buffer inventory: extensions are not supported: %#x", extensions);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	ret = doca_buf_inventory_create(num_elements, inventory);
	if (ret == DOCA_SUCCESS && user_data != NULL)
		(*inventory)->user_data = *user_data;
	return ret;
}

doca_error_t
doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	struct chunk *chunk;

	if (inventory == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (inventory->owner.nb_free < inventory->owner.nb) {
		IMPL_ERR("buffer inventory: cannot destroy: %u buffers are in use",
			inventory->owner.nb - inventory->owner.nb_free);
		return DOCA_ERROR_IN_USE;
	}
	while ((chunk = SLIST_FIRST(&inventory->chunks)) != NULL) {
		SLIST_REMOVE_HEAD(&inventory->chunks, next);
		free(chunk->bufs);
		free(chunk);
	}
	free(inventory->owner.free);
	free(inventory);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
	if (inventory == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	inventory->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
	if (inventory == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	inventory->is_started = false;
	return DOCA_SUCCESS;
}

static doca_error_t
refuse_range(const struct doca_mmap *mmap, const void *addr, size_t len, const void *data,
		size_t data_len)
{
	IMPL_ERR("buffer [%p, +%zu) with data [%p, +%zu) is out of range of mmap [%p, +%zu)",
		addr, len, data, data_len, (void *)mmap->addr, mmap->len);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t
doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		void *addr, size_t len, void *data, size_t data_len, struct doca_buf **buf)
{
	struct doca_buf *b;

	if (unlikely(inventory == NULL || mmap == NULL || addr == NULL || data == NULL ||
			buf == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	if (unlikely(!inventory->is_started || !mmap->is_started))
		return DOCA_ERROR_BAD_STATE;
	if (unlikely(!impl_range_has(mmap->addr, mmap->len, addr, len) ||
			!impl_range_has(addr, len, data, data_len)))
		return refuse_range(mmap, addr, len, data, data_len);
	b = impl_buf_take(&inventory->owner, mmap);
	if (unlikely(b == NULL))
		return DOCA_ERROR_NO_MEMORY;
	b->head = addr;
	b->len = len;
	b->data = data;
	b->data_len = data_len;
	*buf = b;
	return DOCA_SUCCESS;
}

/* Take a buffer for each of a list; the caller has checked that there are enough. */
static struct doca_buf *
copy_list(struct doca_buf_inventory *inventory, const struct doca_buf *src)
{
	struct doca_buf *first = NULL, *last = NULL, *b;

	for (; src != NULL; src = src->next) {
		b = impl_buf_take(&inventory->owner, src->mmap);
		b->head = src->head;
		b->len = src->len;
		b->data = src->data;
		b->data_len = src->data_len;
		b->prev = last;
		if (last == NULL)
			first = b;
		else
			last->next = b;
		last = b;
	}
	return first;
}

doca_error_t
doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
		struct doca_buf **dst_buf)
{
	const struct doca_buf *b;
	uint32_t nb = 0;

	if (inventory == NULL || src_buf == NULL || dst_buf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!inventory->is_started || src_buf->refcount == 0)
		return DOCA_ERROR_BAD_STATE;
	if (src_buf->prev != NULL)
		return DOCA_ERROR_NOT_PERMITTED;
	for (b = src_buf; b != NULL; b = b->next) {
		if (!b->mmap->is_started)
			return DOCA_ERROR_BAD_STATE;
		nb++;
	}
	if (nb > inventory->owner.nb_free)
		return DOCA_ERROR_NO_MEMORY;
	*dst_buf = copy_list(inventory, src_buf);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data)
{
	if (inventory == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!inventory->is_started)
		return DOCA_ERROR_BAD_STATE;
	inventory->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
		uint32_t *num_of_elements)
{
	if (inventory == NULL || num_of_elements == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_of_elements = inventory->owner.nb;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
		uint32_t *num_of_free_elements)
{
	if (inventory == NULL || num_of_free_elements == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_of_free_elements = inventory->owner.nb_free;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory,
		union doca_data *user_data)
{
	if (inventory == NULL || user_data == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = inventory->user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements)
{
	if (inventory == NULL || num_elements == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (!inventory->is_started)
		return DOCA_ERROR_BAD_STATE;
	return add_chunk(inventory, num_elements);
}
