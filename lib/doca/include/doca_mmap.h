/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_MMAP_H
#define DOCA_MMAP_H

/**
 * @file
 * Memory maps: which memory bufs may describe, and who may use it.
 *
 *     doca_mmap_create()
 *     doca_mmap_set_memrange(), _set_permissions(), _add_dev()
 *     doca_mmap_start()         from here on it cannot be changed
 *     ... bufs, tasks, or doca_mmap_export_pci()
 *     doca_mmap_stop()
 *     doca_mmap_destroy()       stops by itself
 *
 * With comch:
 *   - the memory must exist from doca_mmap_start() until the last task on it has
 *     completed; start, stop and destroy do not touch it;
 *   - what kind of memory it is decides how often a message is copied: see
 *     doc/guides/doca/memory.md;
 *   - the mmap of a doca_comch_consumer needs #DOCA_ACCESS_FLAG_PCI_READ_WRITE, and
 *     no export;
 *   - doca_mmap_create_from_export() makes an mmap that names the exporter's
 *     memory. It has its queries and bufs, but tasks refuse these bufs: this
 *     process cannot reach the memory, nor can the accelerator, which is emulated.
 *
 * Threads: an mmap is set up by one thread. Taking and returning its bufs changes
 * it, so that is the same thread's, unless doca_mmap_enable_thread_safety().
 *
 * All functions return #DOCA_ERROR_INVALID_VALUE for a NULL argument, unless
 * it says that it may be NULL.
 *
 * Reference: DOCA Core guide 2.10, section DOCA Memory Subsystem.
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <comch_doca_dpa_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
/** A memory map. */
struct doca_mmap;

/** The memory is the program's again: addr and len are those of the mmap. */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/**
 * Create an mmap: no memory, no device, #DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, up
 * to 64 devices.
 *
 * @param[out] mmap
 *   The mmap; doca_mmap_destroy() frees it.
 * @return
 *   - DOCA_ERROR_NO_MEMORY
 */
#if COMCH_DOCA_GENERATION < 205
DOCA_STABLE
doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
		COMCH_DOCA_SYMBOL(doca_mmap_create_105);
#else
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);
#endif

/**
 * Destroy an mmap. It is stopped before, and its descriptors are freed. Calls
 * the callback of doca_mmap_set_free_cb().
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: bufs of it are in use, or a context is
 */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Start an mmap: from now on bufs can be made, and nothing can be set.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no memory range was set
 *   - DOCA_ERROR_NOT_PERMITTED: already started, or imported
 *   - DOCA_ERROR_NO_MEMORY: or the 4096 registrations of a process are used up
 *   - DOCA_ERROR_INITIALIZATION: EAL cannot be started
 *   - DOCA_ERROR_NOT_SUPPORTED: this process was forked by one that had EAL
 */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap)
#if COMCH_DOCA_GENERATION < 200
		COMCH_DOCA_SYMBOL(doca_mmap_start_105)
#endif
		;

/**
 * Stop an mmap; one that is not started stays so. Descriptors of it are freed
 * and name nothing any more. It may be set up further and started again,
 * except an imported one.
 *
 * With doca_mmap_enable_thread_safety() bufs are not counted: then the caller
 * sees to it that no task uses one that was made before.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: bufs of it are in use, or a context is
 */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Add a device that works on the memory. It cannot be closed for good until
 * it is removed, or the mmap destroyed.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: started, or imported
 *   - DOCA_ERROR_ALREADY_EXIST: it was added before
 *   - DOCA_ERROR_NO_MEMORY: or doca_mmap_get_max_num_devices() are added
 */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Remove a device.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: started, or imported
 *   - DOCA_ERROR_NOT_FOUND: it was not added
 */
DOCA_STABLE
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Describe an mmap for the other side of a device. The descriptor has less
 * than 4080 bytes without any pointer to follow, and can be copied anywhere.
 * The same device gives the same descriptor again.
 *
 * @param mmap
 *   Started, with #DOCA_ACCESS_FLAG_PCI_READ_ONLY or
 *   #DOCA_ACCESS_FLAG_PCI_READ_WRITE.
 * @param dev
 *   One of its devices.
 * @param[out] export_desc
 *   The descriptor; the mmap's, until it is stopped or destroyed.
 * @param[out] export_desc_len
 *   Its bytes.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not started, imported, or without permission
 *   - DOCA_ERROR_NOT_FOUND: the device was not added
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_DRIVER: the device has no address
 */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
		const void **export_desc, size_t *export_desc_len);

/**
 * Describe an mmap for an RDMA peer: this library has no RDMA.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not started, imported, or no permission of
 *     DOCA_ACCESS_FLAG_RDMA_*
 *   - DOCA_ERROR_NOT_FOUND: the device was not added
 *   - DOCA_ERROR_NOT_SUPPORTED: else
 */
DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
		const void **export_desc, size_t *export_desc_len);

/**
 * The mmap as a DPA sees it: a handle for device code (doca_dpa_dev_buf.h), which
 * reads the memory, and writes it with #DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. The
 * same for all devices, until the mmap is stopped or destroyed; both wait for
 * device calls that are in the middle of its memory.
 *
 * The handle of an imported mmap cannot be used: its memory is another process's.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not started
 *   - DOCA_ERROR_NOT_FOUND: the device was not added
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
		doca_dpa_dev_mmap_t *dpa_mmap_handle);

/**
 * Make an mmap of the other side's memory. It is started, and nothing of it
 * can be set. doca_mmap_get_memrange() tells the address that the memory has
 * in the exporter: not to be followed here. When the exporter stops its mmap,
 * this one is not told.
 *
 * @param user_data
 *   Kept with the mmap; or NULL.
 * @param export_desc
 *   The descriptor, at any alignment. It is copied first and not trusted.
 * @param export_desc_len
 *   Its bytes, exactly.
 * @param dev
 *   The device here; held as by doca_mmap_add_dev().
 * @param[out] mmap
 *   The mmap; doca_mmap_destroy() frees it.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also truncated, corrupt, or of another version
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
		const void *export_desc, size_t export_desc_len, struct doca_dev *dev,
		struct doca_mmap **mmap);

/**
 * Set the memory. Can be done once.
 *
 * @param mmap
 *   The mmap.
 * @param addr
 *   Start; any alignment.
 * @param len
 *   Bytes.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also no bytes, or more than follow *addr*
 *   - DOCA_ERROR_BAD_STATE: started, or imported
 *   - DOCA_ERROR_NOT_PERMITTED: it has memory already
 */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * Set memory of a DMA buffer of the kernel: not supported here.
 *
 * @param mmap
 *   The mmap.
 * @param dmabuf_fd
 *   The DMA buffer; not negative.
 * @param addr
 *   Where it is mapped.
 * @param dmabuf_offset
 *   Where the range begins in it, in bytes.
 * @param len
 *   Bytes.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE,
 *     DOCA_ERROR_NOT_PERMITTED: as doca_mmap_set_memrange()
 *   - DOCA_ERROR_NOT_SUPPORTED: else
 */
DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
		size_t dmabuf_offset, size_t len);

/**
 * Set memory of a DPA, which is emulated: an mmap like any other.
 *
 * @param mmap
 *   The mmap.
 * @param dpa
 *   Whose memory it is.
 * @param dpa_addr
 *   Start: in memory of doca_dpa_mem_alloc().
 * @param len
 *   Bytes.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE,
 *     DOCA_ERROR_NOT_PERMITTED: as doca_mmap_set_memrange()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa,
		uint64_t dpa_addr, size_t len);

/**
 * The memory that was set.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: none was
 */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/**
 * Say who is told at doca_mmap_destroy() that the memory is free. It is called
 * once, and only if the mmap was started since.
 *
 * @param mmap
 *   The mmap.
 * @param free_cb
 *   Runs in doca_mmap_destroy(), when the mmap is no longer registered: the
 *   memory may be freed in it. Not to call the mmap's functions.
 * @param opaque
 *   The callback's cookie; may be NULL.
 * @return
 *   - DOCA_ERROR_BAD_STATE: started, or imported
 */
DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
		doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/** The data of doca_mmap_set_user_data(); 0 before. */
DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/** How many devices may be added. */
DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap,
		uint32_t *max_num_devices);

/** Bufs in use; 0 with doca_mmap_enable_thread_safety(). */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/** 1 if a descriptor of this mmap is valid, else 0. */
DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/** 1 if it was made by doca_mmap_create_from_export(), else 0. */
DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

/**
 * Set how many devices may be added.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also 0, or less than are added
 *   - DOCA_ERROR_NOT_PERMITTED: it was started before, or imported
 */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/**
 * Set who may do what.
 *
 * @param mmap
 *   The mmap.
 * @param access_mask
 *   Several of enum doca_access_flag.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also an unknown flag, or both of
 *     #DOCA_ACCESS_FLAG_PCI_READ_ONLY and #DOCA_ACCESS_FLAG_PCI_READ_WRITE
 *   - DOCA_ERROR_BAD_STATE: started, or imported
 */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/**
 * Keep data of the program with the mmap.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started, or imported
 */
DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/**
 * Can memory be exported to the other side of the device? On this library, of
 * all devices.
 *
 * @param devinfo
 *   The device.
 * @param[out] mmap_export
 *   1: yes.
 * @return
 *   - DOCA_SUCCESS
 */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
		uint8_t *mmap_export);

/** Does doca_mmap_create_from_export() take the device? As above: 1 for all. */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(
		const struct doca_devinfo *devinfo, uint8_t *from_export);

/**
 * Let several threads take bufs of this mmap at once, each from an inventory
 * of its own. Bufs are not counted then: see doca_mmap_stop().
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: started, or imported
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_mmap_105.h>
#endif

#endif /* DOCA_MMAP_H */
