/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MEM_BUF_H
#define IMPL_MEM_BUF_H

/* Where bufs come from and go back to: what inventories and pools share. */

#include "mem/mmap.h"

struct impl_buf_owner {
	struct doca_buf **free; /* a stack: the one used last is the warmest */
	uint32_t nb_free;
	uint32_t nb;
};

/* Make nb more bufs, all free: one array, at *bufs. On an error nothing has
 * changed.
 */
doca_error_t impl_buf_owner_grow(struct impl_buf_owner *owner, uint32_t nb,
		struct doca_buf **bufs);

/* A buf on a started mmap; the caller sets its ranges. NULL: none is left. */
static inline struct doca_buf *
impl_buf_take(struct impl_buf_owner *owner, struct doca_mmap *mmap)
{
	struct doca_buf *buf;

	if (owner->nb_free == 0)
		return NULL;
	buf = owner->free[--owner->nb_free];
	buf->mr = mmap->mr;
	buf->refcount = 1;
	buf->mmap = mmap;
	/* Threads share such an mmap: it is only read. */
	buf->is_counted = !mmap->is_thread_safe;
	if (buf->is_counted)
		mmap->nb_bufs++;
	return buf;
}

/* Give back a buf and those that follow it in its list. */
void impl_buf_put_list(struct doca_buf *buf);

#endif /* IMPL_MEM_BUF_H */
