/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Copies between buffers and DPA memory. */

#include <doca_buf.h>

#include "dpa/dpa.h"
#include "log/log.h"
#include "mem/mem.h"

/* Check a buffer for a copy of size bytes, of which it holds or can hold room. */
static doca_error_t
check(const struct doca_buf *buf, size_t size, size_t room)
{
	const char *why = NULL;

	if (buf->mr == NULL)
		why = "memory of another process";
	else if (buf->next != NULL || buf->prev != NULL)
		why = "in a list";
	else if (size == 0 || size > room)
		why = "invalid size";
	if (why == NULL)
		return DOCA_SUCCESS;
	IMPL_ERR("copy of %zu bytes between the DPA and a buffer of %zu bytes: %s", size, room,
		why);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t
doca_dpa_h2d_buf_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr,
		struct doca_buf *buf, size_t size)
{
	doca_error_t ret;

	if (dpa == NULL || dst_ptr == 0 || buf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = check(buf, size, buf->data_len);
	return ret == DOCA_SUCCESS ? doca_dpa_h2d_memcpy(dpa, dst_ptr, buf->data, size) : ret;
}

doca_error_t
doca_dpa_d2h_buf_memcpy(struct doca_dpa *dpa, struct doca_buf *buf,
		doca_dpa_dev_uintptr_t src_ptr, size_t size)
{
	doca_error_t ret;

	if (dpa == NULL || buf == NULL || src_ptr == 0)
		return DOCA_ERROR_INVALID_VALUE;
	ret = check(buf, size, buf->data_len + impl_buf_room(buf));
	if (ret != DOCA_SUCCESS)
		return ret;
	if (!impl_mmap_is_ours_to_write(buf->mmap)) {
		IMPL_ERR("copy from the DPA to a buffer: its mmap is read-only");
		return DOCA_ERROR_INVALID_VALUE;
	}
	ret = doca_dpa_d2h_memcpy(dpa, buf->data, src_ptr, size);
	if (ret == DOCA_SUCCESS && buf->data_len < size)
		buf->data_len = size;
	return ret;
}
