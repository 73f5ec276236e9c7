/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MEM_MEM_H
#define IMPL_MEM_MEM_H

/*
 * mmaps and buffers for the data path, which reads fields directly. Any thread may use an
 * mmap if its set-up happens before. A buffer belongs to one thread at a time; several
 * tasks of that thread may read it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include <doca_mmap.h>
#include <doca_buf.h>
#include <rte_comch_mem.h>
#include <rte_comch_remote.h>

struct impl_buf_owner;

/* The data path uses the first cache line only. The comments are for a buffer in use; a
 * free one has no mr, refcount or neighbors.
 */
struct doca_buf {
	struct rte_comch_mr *mr;  /* of its mmap; NULL: imported, not accessible here */
	void *head;
	size_t len;
	void *data;
	size_t data_len;
	struct doca_buf *next;    /* in a list; NULL: the last */
	struct doca_buf *prev;    /* in a list; NULL: the first */
	uint16_t refcount;        /* 0: free */
	bool is_counted;          /* counted by its mmap */
	uint16_t nb_uses;         /* how often it was given to the program */
	struct doca_mmap *mmap;
	struct impl_buf_owner *owner; /* its inventory or pool */
} __rte_cache_aligned;

/* The end of the data. */
static inline uint8_t *
impl_buf_tail(const struct doca_buf *buf)
{
	return (uint8_t *)buf->data + buf->data_len;
}

/* Room for a message: bytes behind the data. */
static inline size_t
impl_buf_room(const struct doca_buf *buf)
{
	return (size_t)((uint8_t *)buf->head + buf->len - impl_buf_tail(buf));
}

/* Which use of a buf this is: tells whether it was freed and given away again. NULL: 0. */
static inline uint16_t
impl_buf_use(const struct doca_buf *buf)
{
	return buf == NULL ? 0 : buf->nb_uses;
}

/*
 * Make a buf that was freed the program's again, unless it was given away since this use, or its
 * mmap is gone. Its inventory must be there. False: it is not.
 */
bool impl_buf_revive(struct doca_buf *buf, uint16_t use);

/* The registration of a started mmap; NULL: not started, or imported. */
struct rte_comch_mr *impl_mmap_mr(const struct doca_mmap *mmap);
/* Whether the other side may write to it: DOCA_ACCESS_FLAG_PCI_READ_WRITE. */
bool impl_mmap_is_writable(const struct doca_mmap *mmap);
/* Whether it is local with DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. */
bool impl_mmap_is_ours_to_write(const struct doca_mmap *mmap);
bool impl_mmap_is_started(const struct doca_mmap *mmap);
/* The memory of an imported mmap; NULL: it is memory of this process. */
struct rte_comch_import *impl_mmap_import(const struct doca_mmap *mmap);

/* Use the mmap, until impl_mmap_drop(): doca_mmap_stop() and doca_mmap_destroy() return
 * DOCA_ERROR_NOT_PERMITTED. Any thread.
 */
void impl_mmap_hold(struct doca_mmap *mmap);
void impl_mmap_drop(struct doca_mmap *mmap);

#endif /* IMPL_MEM_MEM_H */
