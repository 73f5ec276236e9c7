/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_MEM_MMAP_H
#define IMPL_MEM_MMAP_H

/* Definition of an mmap, for this folder and for dpa/, which gives it handles. */

#include <bsd/sys/queue.h>

#include <doca_dev.h>

#include "mem/mem.h"

/* Export descriptor for one device. */
struct impl_mmap_export {
	const struct doca_dev *dev;
	struct rte_comch_export *export; /* NULL: its device connects two machines */
	SLIST_ENTRY(impl_mmap_export) next;
	size_t len;
	uint8_t desc[];
};

/* Callbacks of a DPA that has given a handle to an mmap. */
struct impl_mmap_dpa_ops {
	/* The mmap stops: invalidate its handle and wait for device calls that use it. */
	void (*revoke)(struct doca_mmap *mmap);
};

struct doca_mmap {
	/* Read when a buffer is taken. */
	uint8_t *addr;
	size_t len;
	struct rte_comch_mr *mr;
	uint32_t nb_bufs;      /* not counted if is_thread_safe */
	bool is_started;
	bool is_thread_safe;
	bool was_started;
	bool is_imported;
	bool starts_later;     /* started before its memory is set, in DOCA 1.5 */
	bool calls_free_cb;    /* started since free_cb was set */
	uint32_t permissions;
	uint32_t nb_holds;     /* atomic, as objects start and stop in any thread */
	uint32_t nb_devs;
	uint32_t max_devs;
	struct doca_dev **devs;
	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	union doca_data user_data;
	SLIST_HEAD(, impl_mmap_export) exports;
	struct rte_comch_import *import; /* of an imported one */
	doca_dpa_dev_mmap_t dpa_handle; /* 0: none since the start */
	const struct impl_mmap_dpa_ops *dpa_ops; /* set along with the handle */
	LIST_ENTRY(doca_mmap) all; /* of the process */
};

/* Whether this mmap was created and not destroyed; the pointer is not followed. */
bool impl_mmap_exists(const struct doca_mmap *mmap);

/* Whether [part, part + part_len) is in [addr, addr + len), which does not wrap. */
static inline bool
impl_range_has(const void *addr, size_t len, const void *part, size_t part_len)
{
	/* If part is below addr, this wraps to more than any len. */
	size_t off = (size_t)((uintptr_t)part - (uintptr_t)addr);

	return off <= len && part_len <= len - off;
}

/* Whether the range is not empty and does not wrap. */
static inline bool
impl_range_is_valid(const void *addr, size_t len)
{
	return addr != NULL && len > 0 && len <= UINTPTR_MAX - (uintptr_t)addr;
}

/* Whether all flags are known and at most one of the PCI flags is set. */
static inline bool
impl_access_is_valid(uint32_t mask)
{
	const uint32_t all = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
		DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC |
		DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE |
		DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING;
	const uint32_t both = DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE;

	return (mask & ~all) == 0 && (mask & both) != both;
}

bool impl_mmap_has_dev(const struct doca_mmap *mmap, const struct doca_dev *dev);
/* Append a device, and use it. */
doca_error_t impl_mmap_push_dev(struct doca_mmap *mmap, struct doca_dev *dev);
/* Free the export descriptors. */
void impl_mmap_free_exports(struct doca_mmap *mmap);

#endif /* IMPL_MEM_MMAP_H */
