/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_MMAP_105_H
#define COMCH_DOCA_MMAP_105_H

/**
 * @file
 * Functions of doca_mmap.h until DOCA 2.2 whose names have changed since. doca_mmap.h
 * includes this header in these generations, in which doca_mmap_create() has the user
 * data as its first argument, which may be NULL.
 *
 * DOCA 2.0 to 2.2 otherwise work as later releases do. In DOCA 1.5 one call sets the
 * memory and the permissions, and it may come after the start:
 *
 *     doca_mmap_create(NULL, &mmap)
 *     doca_mmap_start(mmap)
 *     doca_mmap_dev_add(mmap, dev)
 *     doca_mmap_populate(mmap, addr, len, 4096, NULL, NULL)
 *     ... buffers, or doca_mmap_export()
 *     doca_mmap_destroy(mmap)
 *
 * No public document gives the order of these calls. With comch an mmap therefore
 * starts when it has been started and populated, in either order, and can be changed
 * until then. An mmap has one range of memory.
 */

#include <stddef.h>

#include <doca_mmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As doca_mmap_add_dev(). */
DOCA_STABLE
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
		COMCH_DOCA_SYMBOL(doca_mmap_add_dev);

/** As doca_mmap_rm_dev(). */
DOCA_STABLE
doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
		COMCH_DOCA_SYMBOL(doca_mmap_rm_dev);

/**
 * Set the memory, once, readable and writable by both sides. If doca_mmap_start() was
 * called before, the mmap starts now.
 *
 * @param mmap
 *   The mmap.
 * @param addr
 *   Start; any alignment.
 * @param len
 *   Bytes.
 * @param pg_sz
 *   Page size in bytes; ignored.
 * @param free_cb
 *   As for doca_mmap_set_free_cb(); may be NULL.
 * @param opaque
 *   Argument of the callback; may be NULL.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE, DOCA_ERROR_NOT_PERMITTED: as
 *     doca_mmap_set_memrange()
 *   - others: as doca_mmap_start(); the memory is set, and doca_mmap_start() can be
 *     called again
 */
DOCA_STABLE
doca_error_t doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
		doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/**
 * Create an export descriptor for the other side of a device, in DOCA 1.5.
 *
 * @param mmap
 *   Started and populated.
 * @param dev
 *   One of its devices.
 * @param[out] export_desc
 *   The descriptor; the caller frees it with free().
 * @param[out] export_desc_len
 *   Bytes of the descriptor.
 * @return As doca_mmap_export_pci().
 */
DOCA_STABLE
doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev,
		void **export_desc, size_t *export_desc_len);

/** As doca_mmap_export_pci(), in DOCA 2.0 to 2.2. */
DOCA_STABLE
doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev,
		const void **export_desc, size_t *export_desc_len)
		COMCH_DOCA_SYMBOL(doca_mmap_export_pci);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_MMAP_105_H */
