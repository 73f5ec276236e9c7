/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MEM_MEM_H
#define IMPL_MEM_MEM_H

/*
 * mmaps and bufs as the data path sees them: fields are read without a call.
 * An mmap belongs to any thread that orders its set-up before its use; a buf
 * to one thread at a time, but a buf may be read by many tasks of a thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include <doca_mmap.h>
#include <doca_buf.h>
#include <rte_comch_mem.h>

struct impl_buf_owner;

/* The data path stays within the first cache line. What is said of a buf that
 * is in use: a free one has no mr, no refcount and no neighbours.
 */
struct doca_buf {
	struct rte_comch_mr *mr;  /* its mmap's; NULL: imported, not for this CPU */
	void *head;
	size_t len;
	void *data;
	size_t data_len;
	struct doca_buf *next;    /* in a chain; NULL: the last */
	struct doca_buf *prev;    /* in a chain; NULL: the first */
	uint16_t refcount;        /* 0: free */
	bool is_counted;          /* by its mmap, which outlives it */
	struct doca_mmap *mmap;
	struct impl_buf_owner *owner; /* the inventory or pool it goes back to */
} __rte_cache_aligned;

/* Bytes that a message may still take: what follows the data. */
static inline size_t
impl_buf_room(const struct doca_buf *buf)
{
	return buf->len - (size_t)((const char *)buf->data - (const char *)buf->head) -
		buf->data_len;
}

/* The registration of a started mmap; NULL: not started, or imported. */
struct rte_comch_mr *impl_mmap_mr(const struct doca_mmap *mmap);
/* May the other side write to it? (DOCA_ACCESS_FLAG_PCI_READ_WRITE) */
bool impl_mmap_is_writable(const struct doca_mmap *mmap);
/* May this side write to it, and is it here? (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE) */
bool impl_mmap_is_ours_to_write(const struct doca_mmap *mmap);
bool impl_mmap_is_started(const struct doca_mmap *mmap);

/* An object uses the mmap: impl_mmap_drop() ends it. Any thread. Until then
 * doca_mmap_stop() and doca_mmap_destroy() say DOCA_ERROR_NOT_PERMITTED.
 */
void impl_mmap_hold(struct doca_mmap *mmap);
void impl_mmap_drop(struct doca_mmap *mmap);

#endif /* IMPL_MEM_MEM_H */
