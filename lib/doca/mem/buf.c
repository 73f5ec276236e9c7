/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Buffers, lists of them, and their owners: inventories and pools. */

#include <stdlib.h>

#include <rte_branch_prediction.h>

#include "mem/buf.h"

doca_error_t
impl_buf_owner_grow(struct impl_buf_owner *owner, uint32_t nb, struct doca_buf **bufs)
{
	struct doca_buf *more, **stack;
	uint32_t i;

	if (nb > UINT32_MAX - owner->nb)
		return DOCA_ERROR_NO_MEMORY;
	/* Buffers never move; only the stack of free ones is reallocated. */
	more = aligned_alloc(RTE_CACHE_LINE_SIZE, nb * sizeof(*more));
	if (more == NULL)
		return DOCA_ERROR_NO_MEMORY;
	stack = reallocarray(owner->free, owner->nb + nb, sizeof(*stack));
	if (stack == NULL) {
		free(more);
		return DOCA_ERROR_NO_MEMORY;
	}
	owner->free = stack;
	for (i = nb; i > 0; i--) {
		more[i - 1] = (struct doca_buf){ .owner = owner };
		owner->free[owner->nb_free++] = &more[i - 1];
	}
	owner->nb += nb;
	*bufs = more;
	return DOCA_SUCCESS;
}

void
impl_buf_put_list(struct doca_buf *buf)
{
	struct doca_buf *next;

	for (; buf != NULL; buf = next) {
		next = buf->next;
		if (buf->is_counted)
			buf->mmap->nb_bufs--;
		buf->mr = NULL;
		buf->next = NULL;
		buf->prev = NULL;
		buf->refcount = 0;
		buf->owner->free[buf->owner->nb_free++] = buf;
	}
}

bool
impl_buf_revive(struct doca_buf *buf, uint16_t use)
{
	struct impl_buf_owner *owner = buf->owner;
	const struct doca_mmap *mmap = buf->mmap;
	uint32_t i;

	/* Another mmap may be where its own was. */
	if (buf->refcount > 0 || buf->nb_uses != use || !impl_mmap_exists(mmap) ||
			!impl_mmap_is_started(mmap) ||
			!impl_range_has(mmap->addr, mmap->len, buf->head, buf->len))
		return false;
	for (i = owner->nb_free; i > 0 && owner->free[i - 1] != buf; i--)
		;
	if (i == 0)
		return false;
	/* The last one takes its place in the stack. */
	owner->free[i - 1] = owner->free[--owner->nb_free];
	buf->mr = mmap->mr;
	buf->refcount = 1;
	if (buf->is_counted)
		buf->mmap->nb_bufs++;
	return true;
}

doca_error_t
doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	if (buf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf->refcount == 0 || buf->prev != NULL)
		return DOCA_ERROR_NOT_PERMITTED;
	if (buf->refcount == UINT16_MAX)
		return DOCA_ERROR_TOO_BIG;
	if (refcount != NULL)
		*refcount = buf->refcount;
	buf->refcount++;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	if (unlikely(buf == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	if (unlikely(buf->refcount == 0))
		return DOCA_ERROR_BAD_STATE;
	if (unlikely(buf->prev != NULL))
		return DOCA_ERROR_NOT_PERMITTED;
	if (refcount != NULL)
		*refcount = buf->refcount;
	if (--buf->refcount == 0)
		impl_buf_put_list(buf);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount)
{
	if (buf == NULL || refcount == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*refcount = buf->refcount;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_get_len(const struct doca_buf *buf, size_t *len)
{
	if (buf == NULL || len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*len = buf->len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_get_head(const struct doca_buf *buf, void **head)
{
	if (buf == NULL || head == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*head = buf->head;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len)
{
	if (buf == NULL || data_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*data_len = buf->data_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_get_data(const struct doca_buf *buf, void **data)
{
	if (buf == NULL || data == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*data = buf->data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
{
	if (buf == NULL || data == NULL ||
			!impl_range_has(buf->head, buf->len, data, data_len))
		return DOCA_ERROR_INVALID_VALUE;
	buf->data = data;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_set_data_len(struct doca_buf *buf, size_t data_len)
{
	if (buf == NULL || !impl_range_has(buf->head, buf->len, buf->data, data_len))
		return DOCA_ERROR_INVALID_VALUE;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_reset_data_len(struct doca_buf *buf)
{
	if (buf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	buf->data_len = 0;
	return DOCA_SUCCESS;
}

static struct doca_buf *
last_of(struct doca_buf *buf)
{
	while (buf->next != NULL)
		buf = buf->next;
	return buf;
}

doca_error_t
doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf)
{
	if (buf == NULL || next_buf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*next_buf = buf->next;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf)
{
	if (buf == NULL || last_buf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*last_buf = last_of(buf);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last)
{
	if (buf == NULL || is_last == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*is_last = buf->next == NULL;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first)
{
	if (buf == NULL || is_first == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*is_first = buf->prev == NULL;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list)
{
	if (buf == NULL || is_in_list == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*is_in_list = buf->prev != NULL || buf->next != NULL;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements)
{
	uint32_t nb = 0;

	if (buf == NULL || num_elements == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf->prev != NULL)
		return DOCA_ERROR_NOT_PERMITTED;
	for (; buf != NULL; buf = buf->next)
		nb++;
	*num_elements = nb;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	if (list1 == NULL || list2 == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_buf_chain_list_tail(list1, last_of(list1), list2);
}

doca_error_t
doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail,
		struct doca_buf *list2)
{
	if (list1_head == NULL || list1_tail == NULL || list2 == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (list1_head->refcount == 0 || list1_head->prev != NULL || list1_head == list2 ||
			list2->refcount != 1 || list2->prev != NULL)
		return DOCA_ERROR_NOT_PERMITTED;
	/* If the tail were in list2, the lists would form a ring. */
	if (list1_tail->next != NULL || last_of(list1_head) != list1_tail)
		return DOCA_ERROR_NOT_PERMITTED;
	list1_tail->next = list2;
	list2->prev = list1_tail;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	struct doca_buf *buf;

	if (list1 == NULL || list2 == NULL || list1->prev != NULL || list1 == list2)
		return DOCA_ERROR_INVALID_VALUE;
	for (buf = list1; buf != NULL && buf->next != list2; buf = buf->next)
		;
	if (buf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	buf->next = NULL;
	list2->prev = NULL;
	return DOCA_SUCCESS;
}
