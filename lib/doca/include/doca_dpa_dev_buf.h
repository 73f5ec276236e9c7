/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_BUF_H
#define DOCA_DPA_DEV_BUF_H

/**
 * @file
 * Device code: memory of mmaps.
 *
 * A doca_mmap has a handle for the accelerator (doca_mmap_dev_get_dpa_handle(), on
 * the host), good until the mmap stops. With it and an address, device code gets a
 * pointer to the memory, or has it copied:
 *
 *     doca_dpa_dev_mmap_get_external_ptr(mmap, addr)    load and store
 *     doca_dpa_dev_post_memcpy(async, dst, ..., src, ..., length, flags)
 *                               an element on the completion of the async ops
 *
 * A buf of device code is an mmap handle, an address and a length in one place;
 * its handle is the address of a struct doca_dpa_dev_buf. Nothing is checked
 * before the buf is used.
 *
 * An address or a range outside of its mmap, or a write to an mmap without
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

/** A buf: the address of a struct doca_dpa_dev_buf. */
typedef uint64_t doca_dpa_dev_buf_t;
/** An array of bufs: the address of a struct doca_dpa_dev_buf_arr. */
typedef uint64_t doca_dpa_dev_buf_arr_t;

/** A buf. */
struct doca_dpa_dev_buf {
	uintptr_t addr;           /**< Where it begins. */
	uint64_t len;             /**< Bytes. */
	doca_dpa_dev_mmap_t mmap; /**< Whose memory it is. */
	unsigned char reserved[12];
} __attribute__((__packed__));

/** An array of bufs. */
struct doca_dpa_dev_buf_arr {
	struct doca_dpa_dev_buf *bufs; /**< The first one. */
	unsigned char reserved[20];
} __attribute__((__packed__, aligned(64)));

/** A buf of an array, which is not asked how many it has. */
__forceinline doca_dpa_dev_buf_t
doca_dpa_dev_buf_array_get_buf(doca_dpa_dev_buf_arr_t buf_arr, const uint64_t buf_idx)
{
	const struct doca_dpa_dev_buf_arr *arr =
			(const struct doca_dpa_dev_buf_arr *)(uintptr_t)buf_arr;

	return (doca_dpa_dev_buf_t)(uintptr_t)(arr->bufs + buf_idx);
}

/** Set where a buf begins. */
__forceinline void
doca_dpa_dev_buf_set_addr(doca_dpa_dev_buf_t buf, uintptr_t addr)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->addr = addr;
}

/** Set a buf's bytes. */
__forceinline void
doca_dpa_dev_buf_set_len(doca_dpa_dev_buf_t buf, size_t len)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->len = len;
}

/** Set whose memory a buf is. */
__forceinline void
doca_dpa_dev_buf_set_mmap(doca_dpa_dev_buf_t buf, doca_dpa_dev_mmap_t mmap)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->mmap = mmap;
}

/** Where a buf begins. */
__forceinline uintptr_t
doca_dpa_dev_buf_get_addr(doca_dpa_dev_buf_t buf)
{
	return ((const struct doca_dpa_dev_buf *)(uintptr_t)buf)->addr;
}

/** A buf's bytes. */
__forceinline uint64_t
doca_dpa_dev_buf_get_len(doca_dpa_dev_buf_t buf)
{
	return ((const struct doca_dpa_dev_buf *)(uintptr_t)buf)->len;
}

/** Whose memory a buf is. */
__forceinline doca_dpa_dev_mmap_t
doca_dpa_dev_buf_get_mmap(doca_dpa_dev_buf_t buf)
{
	return ((const struct doca_dpa_dev_buf *)(uintptr_t)buf)->mmap;
}

/**
 * A pointer to a buf's memory, all of which is in its mmap. As of
 * doca_dpa_dev_mmap_get_external_ptr().
 */
doca_dpa_dev_uintptr_t doca_dpa_dev_buf_get_external_ptr(doca_dpa_dev_buf_t buf);

/**
 * A pointer to memory of an mmap, for as long as that is not stopped. Whether a
 * store through it is allowed, or leaves the mmap, is not checked.
 *
 * A card needs 64-byte alignment: an address without it works here, and is logged.
 *
 * @param mmap_handle
 *   The mmap.
 * @param addr
 *   Address in it, as the host knows it.
 * @return
 *   The pointer.
 */
doca_dpa_dev_uintptr_t doca_dpa_dev_mmap_get_external_ptr(doca_dpa_dev_mmap_t mmap_handle,
		uint64_t addr);

/**
 * Copy the bytes of a buf to the beginning of another, which has at least as
 * many. As doca_dpa_dev_post_memcpy().
 */
void doca_dpa_dev_post_buf_memcpy(doca_dpa_dev_async_ops_t async_ops_handle,
		doca_dpa_dev_buf_t dst_buf_handle, doca_dpa_dev_buf_t src_buf_handle,
		uint32_t flags)
#if COMCH_DOCA_GENERATION < 209
		COMCH_DOCA_SYMBOL(doca_dpa_dev_post_buf_memcpy_207)
#endif
		;

/**
 * Copy memory. The element on the completion, of type DOCA_DPA_DEV_COMP_SEND and
 * with the user data of the async ops, says that the copy can be seen by all.
 *
 * More operations without an acknowledged element than the completion has room for
 * are a fault.
 *
 * @param async_ops_handle
 *   From doca_dpa_async_ops_get_dpa_handle().
 * @param dst_mmap_handle, dst_addr
 *   Where to.
 * @param src_mmap_handle, src_addr
 *   Where from.
 * @param length
 *   Bytes; the ranges do not overlap.
 * @param flags
 *   Of enum doca_dpa_dev_submit_flag. Until DOCA 2.8: 1 for an element on the
 *   completion, 0 for none.
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
