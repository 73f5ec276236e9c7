/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MEM_BUF_H
#define IMPL_MEM_BUF_H

/* Owner of buffers: the common part of inventories and pools. */

#include "mem/mmap.h"

struct impl_buf_owner {
	struct doca_buf **free; /* a stack, so that recently used ones are reused first */
	uint32_t nb_free;
	uint32_t nb;
};

/* Add nb free buffers, as an array at *bufs. An error changes nothing. */
doca_error_t impl_buf_owner_grow(struct impl_buf_owner *owner, uint32_t nb,
		struct doca_buf **bufs);

/* Take a buffer for a started mmap; the caller sets its ranges. NULL: none left. */
static inline struct doca_buf *
impl_buf_take(struct impl_buf_owner *owner, struct doca_mmap *mmap)
{
	struct doca_buf *buf;

	if (owner->nb_free == 0)
		return NULL;
	buf = owner->free[--owner->nb_free];
	buf->mr = mmap->mr;
	buf->refcount = 1;
	buf->nb_uses++;
	buf->mmap = mmap;
	/* Threads share such an mmap, so do not count its buffers. */
	buf->is_counted = !mmap->is_thread_safe;
	if (buf->is_counted)
		mmap->nb_bufs++;
	return buf;
}

/* Return a buffer and those that follow it in its list. */
void impl_buf_put_list(struct doca_buf *buf);

#endif /* IMPL_MEM_BUF_H */
