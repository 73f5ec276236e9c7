/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_MMAP_H
#define DOCA_MMAP_H

/**
 * @file
 * Memory maps: memory that buffers may describe, and access rights to it.
 *
 *     doca_mmap_create()
 *     doca_mmap_set_memrange(), _set_permissions(), _add_dev()
 *     doca_mmap_start()         no changes from here on
 *     ... buffers, tasks, or doca_mmap_export_pci()
 *     doca_mmap_stop()
 *     doca_mmap_destroy()       also stops
 *
 * With comch:
 *   - the memory must exist from doca_mmap_start() until the last task on it has
 *     completed; start, stop and destroy do not touch it;
 *   - the kind of memory decides how often a message is copied: see
 *     doc/guides/doca/memory.md;
 *   - the mmap of a doca_comch_consumer needs #DOCA_ACCESS_FLAG_PCI_READ_WRITE but no
 *     export;
 *   - an mmap from doca_mmap_create_from_export() describes memory of another process. DMA
 *     (doca_dma.h) copies it; tasks of the channel and the emulated data-path accelerator refuse
 *     its buffers.
 *
 * Threads: an mmap belongs to one thread, which also gets and returns its buffers;
 * doca_mmap_enable_thread_safety() allows others to do so.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument unless NULL is allowed; each names its other errors.
 *
 * Reference: DOCA Core guide 2.10, section "DOCA Memory Subsystem".
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

/** The library no longer uses the memory of an mmap, *len* bytes at *addr*. */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/**
 * Create an mmap; doca_mmap_destroy() frees it. It has no memory and no device, is
 * #DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, and takes up to 256 devices.
 *
 * @return DOCA_ERROR_NO_MEMORY
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
 * Destroy an mmap. It is stopped first, its export descriptors are freed, and the
 * callback of doca_mmap_set_free_cb() runs.
 *
 * @return DOCA_ERROR_NOT_PERMITTED: its buffers, a started pool or a context still use it
 */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Start an mmap: buffers can be created, and settings can no longer change.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no memory range was set
 *   - DOCA_ERROR_NOT_PERMITTED: started already, or imported
 *   - DOCA_ERROR_NO_MEMORY: no memory, or the process has 4096 registrations
 *   - DOCA_ERROR_INITIALIZATION: EAL failed to start
 *   - DOCA_ERROR_NOT_SUPPORTED: this process is a fork of one that had started EAL
 */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap)
#if COMCH_DOCA_GENERATION < 200
		COMCH_DOCA_SYMBOL(doca_mmap_start_105)
#endif
		;

/**
 * Stop an mmap. Its export descriptors are freed and become invalid. It can be changed
 * and started again unless it is imported. No effect if it is not started.
 *
 * With doca_mmap_enable_thread_safety() buffers are not counted: the caller must make
 * sure that no task uses one of them.
 *
 * @return DOCA_ERROR_NOT_PERMITTED: its buffers, a started pool or a context still use it
 */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Add a device that may use the memory. It cannot be closed until it is removed or the
 * mmap is destroyed.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: started, or imported
 *   - DOCA_ERROR_ALREADY_EXIST: it was added before
 *   - DOCA_ERROR_NO_MEMORY: no memory, or doca_mmap_get_max_num_devices() are added
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
 * Create an export descriptor for the other side of a device: less than 4080 bytes
 * without pointers, which can be copied anywhere. Calls for the same device return the
 * same descriptor.
 *
 * @param mmap
 *   Started, with #DOCA_ACCESS_FLAG_PCI_READ_ONLY or #DOCA_ACCESS_FLAG_PCI_READ_WRITE.
 * @param dev
 *   One of its devices.
 * @param[out] export_desc
 *   The descriptor; the mmap owns it, until it is stopped or destroyed.
 * @param[out] export_desc_len
 *   Bytes of the descriptor.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not started, imported, or without the permission
 *   - DOCA_ERROR_NOT_FOUND: the device was not added
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_DRIVER: the device has no address
 */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
		const void **export_desc, size_t *export_desc_len);

/**
 * Create an export descriptor for an RDMA peer. Not supported.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not started, imported, or without
 *     DOCA_ACCESS_FLAG_RDMA_*
 *   - DOCA_ERROR_NOT_FOUND: the device was not added
 *   - DOCA_ERROR_NOT_SUPPORTED: otherwise
 */
DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
		const void **export_desc, size_t *export_desc_len);

/**
 * The mmap's handle for device code (doca_dpa_dev_buf.h), which may read the memory,
 * and write it with #DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. It is the same for all devices
 * and valid until the mmap is stopped or destroyed; both wait for device calls that
 * access its memory.
 *
 * Device code cannot use the handle of an imported mmap, whose memory belongs to
 * another process.
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
 * Create an mmap for memory of the other side; doca_mmap_destroy() frees it. It is
 * started and cannot be changed. doca_mmap_get_memrange() returns the address in the
 * exporting process, which must not be dereferenced here. The exporter does not notify
 * this mmap when it stops its own.
 *
 * @param user_data
 *   User data of the mmap; may be NULL.
 * @param export_desc
 *   The descriptor, at any alignment. It is copied and then validated.
 * @param export_desc_len
 *   Its exact length in bytes.
 * @param dev
 *   The device on this side; in use as after doca_mmap_add_dev().
 * @param[out] mmap
 *   The mmap.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: truncated, corrupt, or of another version
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
		const void *export_desc, size_t export_desc_len, struct doca_dev *dev,
		struct doca_mmap **mmap);

/**
 * Set the memory, once.
 *
 * @param mmap
 *   The mmap.
 * @param addr
 *   Start; any alignment.
 * @param len
 *   Bytes.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no bytes, or the range exceeds the address space
 *   - DOCA_ERROR_BAD_STATE: started, or imported
 *   - DOCA_ERROR_NOT_PERMITTED: the memory was set before
 */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * Set memory of a DMA buffer of the kernel. Not supported.
 *
 * @param mmap
 *   The mmap.
 * @param dmabuf_fd
 *   The DMA buffer; not negative.
 * @param addr
 *   Address at which it is mapped.
 * @param dmabuf_offset
 *   Offset of the range in it, in bytes.
 * @param len
 *   Bytes.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE, DOCA_ERROR_NOT_PERMITTED: as
 *     doca_mmap_set_memrange()
 *   - DOCA_ERROR_NOT_SUPPORTED: otherwise
 */
DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
		size_t dmabuf_offset, size_t len);

/**
 * Set memory of a DPA. As it is emulated, the result is an ordinary mmap.
 *
 * @param mmap
 *   The mmap.
 * @param dpa
 *   Owner of the memory.
 * @param dpa_addr
 *   Start: in memory of doca_dpa_mem_alloc().
 * @param len
 *   Bytes.
 * @return As doca_mmap_set_memrange().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa,
		uint64_t dpa_addr, size_t len);

/** The memory that was set. @return DOCA_ERROR_BAD_STATE: not set. */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/**
 * Set a callback for doca_mmap_destroy(), which runs once, and only if the mmap was
 * started after this call.
 *
 * @param mmap
 *   The mmap.
 * @param free_cb
 *   Called when the mmap is no longer registered; it may free the memory and must not
 *   call functions of the mmap.
 * @param opaque
 *   Argument of the callback; may be NULL.
 * @return DOCA_ERROR_BAD_STATE: started, or imported
 */
DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
		doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/** The user data; 0 at first. */
DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/** Maximum number of devices. */
DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap,
		uint32_t *max_num_devices);

/** Number of buffers in use; 0 with doca_mmap_enable_thread_safety(). */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/** 1 if it has a valid export descriptor, else 0. */
DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/** 1 if it is from doca_mmap_create_from_export(), else 0. */
DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

/**
 * Set the maximum number of devices.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: 0, or fewer than were added
 *   - DOCA_ERROR_NOT_PERMITTED: it was started before, or imported
 */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/**
 * Set access rights.
 *
 * @param mmap
 *   The mmap.
 * @param access_mask
 *   Flags of enum doca_access_flag.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: an unknown flag, or both
 *     #DOCA_ACCESS_FLAG_PCI_READ_ONLY and #DOCA_ACCESS_FLAG_PCI_READ_WRITE
 *   - DOCA_ERROR_BAD_STATE: started, or imported
 */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/** Set the user data. @return DOCA_ERROR_BAD_STATE: started, or imported. */
DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/** Whether doca_mmap_export_pci() supports the device: 1 for all devices. */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
		uint8_t *mmap_export);

/** Whether doca_mmap_create_from_export() supports the device: 1 for all devices. */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(
		const struct doca_devinfo *devinfo, uint8_t *from_export);

/**
 * Let several threads get buffers of this mmap at the same time, each from another
 * inventory. Buffers are no longer counted: see doca_mmap_stop().
 *
 * @return DOCA_ERROR_NOT_PERMITTED: started, or imported
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
