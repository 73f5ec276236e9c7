/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_MMAP_105_H
#define COMCH_DOCA_MMAP_105_H

/**
 * @file
 * What doca_mmap.h was until DOCA 2.2, and has other names since: included by
 * it, in these generations. There, doca_mmap_create() has the data of
 * doca_mmap_set_user_data() as its first argument, which may be NULL.
 *
 * From 2.0 to 2.2 all the rest is as it is now. In 1.5, one call says which
 * memory it is and who may use it, and it may come after the start:
 *
 *     doca_mmap_create(NULL, &mmap)
 *     doca_mmap_start(mmap)
 *     doca_mmap_dev_add(mmap, dev)
 *     doca_mmap_populate(mmap, addr, len, 4096, NULL, NULL)
 *     ... bufs, or doca_mmap_export()
 *     doca_mmap_destroy(mmap)
 *
 * No public document says in which order these calls come, so the start waits
 * for the memory: until doca_mmap_populate(), a started mmap can still be set
 * up. Each mmap covers one range.
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
 * Set the memory, which this side and the other one may read and write; if the
 * mmap was started before, it starts now. Can be done once.
 *
 * @param mmap
 *   The mmap.
 * @param addr
 *   Start; any alignment.
 * @param len
 *   Bytes.
 * @param pg_sz
 *   Bytes of a page of it; not looked at.
 * @param free_cb
 *   As of doca_mmap_set_free_cb(); NULL: no callback.
 * @param opaque
 *   The callback's cookie; may be NULL.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE,
 *     DOCA_ERROR_NOT_PERMITTED: as doca_mmap_set_memrange()
 *   - others: as doca_mmap_start(); then the mmap has its memory, and another
 *     doca_mmap_start() tries again
 */
DOCA_STABLE
doca_error_t doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
		doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/**
 * Describe an mmap for the other side of a device: of 1.5.
 *
 * @param mmap
 *   Started and populated.
 * @param dev
 *   One of its devices.
 * @param[out] export_desc
 *   The descriptor, a copy for the caller, who may free() it at any time.
 * @param[out] export_desc_len
 *   Its bytes.
 * @return
 *   As doca_mmap_export_pci().
 */
DOCA_STABLE
doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev,
		void **export_desc, size_t *export_desc_len);

/** As doca_mmap_export_pci(): of 2.0 to 2.2. */
DOCA_STABLE
doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev,
		const void **export_desc, size_t *export_desc_len)
		COMCH_DOCA_SYMBOL(doca_mmap_export_pci);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_MMAP_105_H */
