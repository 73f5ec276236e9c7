/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_BUF_H
#define DOCA_DPA_DEV_BUF_H

/**
 * @file
 * Device code: memory of mmaps.
 *
 * A doca_mmap has a handle for device code (doca_mmap_dev_get_dpa_handle(), on the
 * host), valid until the mmap stops. With the handle and an address, device code gets a
 * pointer to the memory, or copies it:
 *
 *     doca_dpa_dev_mmap_get_external_ptr(mmap, addr)    load and store
 *     doca_dpa_dev_post_memcpy(async, dst, ..., src, ..., length, flags)
 *                               an element on the completion of the async ops
 *
 * A buffer of device code combines an mmap handle, an address and a length. Its handle
 * is the address of a struct doca_dpa_dev_buf. It is checked only when it is used.
 *
 * An address or range outside of its mmap, or a write to an mmap without
 * #DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, is a fault.
 *
 * Reference: DOCA DPA guide 2.10, section "Device-Side API".
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_dpa_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A buffer: the address of a struct doca_dpa_dev_buf. */
typedef uint64_t doca_dpa_dev_buf_t;
/** An array of buffers: the address of a struct doca_dpa_dev_buf_arr. */
typedef uint64_t doca_dpa_dev_buf_arr_t;

/** A buffer. */
struct doca_dpa_dev_buf {
	uintptr_t addr;           /**< Start. */
	uint64_t len;             /**< Bytes. */
	doca_dpa_dev_mmap_t mmap; /**< Handle of its mmap. */
	unsigned char reserved[12];
} __attribute__((__packed__));

/** An array of buffers. */
struct doca_dpa_dev_buf_arr {
	struct doca_dpa_dev_buf *bufs; /**< First element. */
	unsigned char reserved[20];
} __attribute__((__packed__, aligned(64)));

/** An element of an array. The index is not checked. */
__forceinline doca_dpa_dev_buf_t
doca_dpa_dev_buf_array_get_buf(doca_dpa_dev_buf_arr_t buf_arr, const uint64_t buf_idx)
{
	const struct doca_dpa_dev_buf_arr *arr =
			(const struct doca_dpa_dev_buf_arr *)(uintptr_t)buf_arr;

	return (doca_dpa_dev_buf_t)(uintptr_t)(arr->bufs + buf_idx);
}

/** Set the start of a buffer. */
__forceinline void
doca_dpa_dev_buf_set_addr(doca_dpa_dev_buf_t buf, uintptr_t addr)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->addr = addr;
}

/** Set the length of a buffer, in bytes. */
__forceinline void
doca_dpa_dev_buf_set_len(doca_dpa_dev_buf_t buf, size_t len)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->len = len;
}

/** Set the mmap of a buffer. */
__forceinline void
doca_dpa_dev_buf_set_mmap(doca_dpa_dev_buf_t buf, doca_dpa_dev_mmap_t mmap)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->mmap = mmap;
}

/** Start of a buffer. */
__forceinline uintptr_t
doca_dpa_dev_buf_get_addr(doca_dpa_dev_buf_t buf)
{
	return ((const struct doca_dpa_dev_buf *)(uintptr_t)buf)->addr;
}

/** Length of a buffer, in bytes. */
__forceinline uint64_t
doca_dpa_dev_buf_get_len(doca_dpa_dev_buf_t buf)
{
	return ((const struct doca_dpa_dev_buf *)(uintptr_t)buf)->len;
}

/** The mmap of a buffer. */
__forceinline doca_dpa_dev_mmap_t
doca_dpa_dev_buf_get_mmap(doca_dpa_dev_buf_t buf)
{
	return ((const struct doca_dpa_dev_buf *)(uintptr_t)buf)->mmap;
}

/**
 * A pointer to a buffer's memory, which must lie within its mmap. As
 * doca_dpa_dev_mmap_get_external_ptr().
 */
doca_dpa_dev_uintptr_t doca_dpa_dev_buf_get_external_ptr(doca_dpa_dev_buf_t buf);

/**
 * A pointer to memory of an mmap, valid until that is stopped. Accesses through it are
 * not checked against the range and permissions of the mmap.
 *
 * Hardware requires 64-byte alignment; other addresses work with comch and are logged.
 *
 * @param mmap_handle
 *   The mmap.
 * @param addr
 *   Address within it, as on the host.
 * @return The pointer.
 */
doca_dpa_dev_uintptr_t doca_dpa_dev_mmap_get_external_ptr(doca_dpa_dev_mmap_t mmap_handle,
		uint64_t addr);

/**
 * Copy a buffer to the start of another that is at least as long. As
 * doca_dpa_dev_post_memcpy().
 */
void doca_dpa_dev_post_buf_memcpy(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
		uint32_t flags)
#if COMCH_DOCA_GENERATION < 209
		COMCH_DOCA_SYMBOL(doca_dpa_dev_post_buf_memcpy_207)
#endif
		;

/**
 * Copy memory. Once its completion element arrives, the copy is visible to all. The
 * element has type DOCA_DPA_DEV_COMP_SEND and the user data of the async ops.
 *
 * Having more unacknowledged operations than the completion has elements is a fault.
 *
 * @param async_ops_handle
 *   From doca_dpa_async_ops_get_dpa_handle().
 * @param dst_mmap_handle, dst_addr
 *   Destination.
 * @param src_mmap_handle, src_addr
 *   Source.
 * @param length
 *   Bytes. The ranges must not overlap.
 * @param flags
 *   Of enum doca_dpa_dev_submit_flag. Until DOCA 2.8: 1 for a completion element, 0 for
 *   none.
 */
void doca_dpa_dev_post_memcpy(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_mmap_t dst_mmap_handle, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
		uint32_t flags)
#if COMCH_DOCA_GENERATION < 209
		COMCH_DOCA_SYMBOL(doca_dpa_dev_post_memcpy_207)
#endif
		;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_DEV_BUF_H */
