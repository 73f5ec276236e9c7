/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Lists of buffers. */

#include <rte_common.h>

#include "accel/list.h"

size_t
impl_list_data(const struct doca_buf *list)
{
	size_t len = 0;

	for (; list != NULL; list = list->next)
		len += list->data_len;
	return len;
}

size_t
impl_list_room(const struct doca_buf *list)
{
	size_t len = 0;

	for (; list != NULL; list = list->next)
		len += impl_buf_room(list);
	return len;
}

uint32_t
impl_list_len(const struct doca_buf *list)
{
	uint32_t n = 0;

	for (; list != NULL; list = list->next)
		n++;
	return n;
}

/* A list begins with its first buffer, and all are the program's. */
static bool
is_whole(const struct doca_buf *list)
{
	if (list->prev != NULL)
		return false;
	for (; list != NULL; list = list->next)
		if (list->refcount == 0 || !impl_mmap_is_started(list->mmap))
			return false;
	return true;
}

/* Of this process; or of the other side, on this machine. */
static bool
is_within_reach(const struct doca_buf *buf, bool also_remote)
{
	return buf->mr != NULL || (also_remote && impl_mmap_import(buf->mmap) != NULL);
}

doca_error_t
impl_list_check_source(const struct doca_buf *list, bool also_remote)
{
	if (!is_whole(list))
		return DOCA_ERROR_INVALID_VALUE;
	for (; list != NULL; list = list->next)
		if (!is_within_reach(list, also_remote))
			return DOCA_ERROR_NOT_SUPPORTED;
	return DOCA_SUCCESS;
}

/* Whether a task may write to it. */
static bool
may_write(const struct doca_buf *buf)
{
	return buf->mr != NULL ? impl_mmap_is_ours_to_write(buf->mmap) :
		impl_mmap_is_writable(buf->mmap);
}

doca_error_t
impl_list_check_room(const struct doca_buf *list, size_t len, bool also_remote)
{
	const struct doca_buf *buf;

	if (!is_whole(list))
		return DOCA_ERROR_INVALID_VALUE;
	for (buf = list; buf != NULL; buf = buf->next) {
		if (!is_within_reach(buf, also_remote))
			return DOCA_ERROR_NOT_SUPPORTED;
		if (!may_write(buf))
			return DOCA_ERROR_NOT_PERMITTED;
	}
	return impl_list_room(list) >= len ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* Whether the data of a list has one of the first bytes of a buffer's room. */
static bool
has_byte_of(const struct doca_buf *src, const struct doca_buf *dst, size_t len)
{
	const uintptr_t to = (uintptr_t)impl_buf_tail(dst);
	uintptr_t from;

	for (; src != NULL; src = src->next) {
		from = (uintptr_t)src->data;
		if (src->data_len > 0 && from < to + len && to < from + src->data_len &&
				impl_mmap_import(src->mmap) == impl_mmap_import(dst->mmap))
			return true;
	}
	return false;
}

bool
impl_list_overlaps(const struct doca_buf *src, const struct doca_buf *dst, size_t most)
{
	size_t len, left = most;

	for (; dst != NULL && left > 0; dst = dst->next) {
		len = RTE_MIN(left, impl_buf_room(dst));
		left -= len;
		if (len > 0 && has_byte_of(src, dst, len))
			return true;
	}
	return false;
}

bool
impl_list_has_remote(const struct doca_buf *list)
{
	for (; list != NULL; list = list->next)
		if (list->mr == NULL)
			return true;
	return false;
}

size_t
impl_place_data(struct impl_place *place, const uint8_t **data)
{
	while (place->buf != NULL && place->off >= place->buf->data_len)
		*place = (struct impl_place){ .buf = place->buf->next };
	if (place->buf == NULL)
		return 0;
	*data = (const uint8_t *)place->buf->data + place->off;
	return place->buf->data_len - place->off;
}

size_t
impl_place_room(struct impl_place *place, uint8_t **room)
{
	while (place->buf != NULL && place->off >= impl_buf_room(place->buf))
		*place = (struct impl_place){ .buf = place->buf->next };
	if (place->buf == NULL)
		return 0;
	*room = impl_buf_tail(place->buf) + place->off;
	return impl_buf_room(place->buf) - place->off;
}

void
impl_list_fill(struct doca_buf *list, size_t len)
{
	size_t n;

	for (; list != NULL && len > 0; list = list->next) {
		n = RTE_MIN(len, impl_buf_room(list));
		list->data_len += n;
		len -= n;
	}
}
