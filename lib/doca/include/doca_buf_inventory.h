/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUF_INVENTORY_H
#define DOCA_BUF_INVENTORY_H

/**
 * @file
 * Inventories: buffers for any piece of any mmap.
 *
 *     doca_buf_inventory_create(16, &inventory)
 *     doca_buf_inventory_start(inventory)
 *     doca_buf_inventory_buf_get_by_addr(inventory, mmap, addr, len, &buf)
 *     ... tasks
 *     doca_buf_dec_refcount(buf, NULL)           returns it
 *     doca_buf_inventory_destroy(inventory)
 *
 * All buffers are allocated when the inventory starts, so getting and returning one
 * takes constant time. Pieces may overlap, and a piece may have many buffers.
 *
 * Threads: an inventory and its buffers belong to one thread at a time.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Core guide 2.10, section "DOCA Memory Subsystem".
 */

#include <stddef.h>
#include <stdint.h>

/* Programs for DOCA 2.5 rely on this include. */
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mmap;
/** A set of buffers. */
struct doca_buf_inventory;

#if COMCH_DOCA_GENERATION < 205
/** Extensions of an inventory's buffers. */
enum doca_buf_extension {
	DOCA_BUF_EXTENSION_NONE = 0,
};
#endif

/**
 * Create an inventory; doca_buf_inventory_destroy() frees it.
 *
 * @param num_elements
 *   Number of buffers: 1 to UINT32_MAX.
 * @param[out] inventory
 *   The inventory.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *num_elements* is out of range
 *   - DOCA_ERROR_NO_MEMORY
 */
#if COMCH_DOCA_GENERATION < 205
/* user_data is that of doca_buf_inventory_set_user_data() and may be NULL. Extensions
 * other than NONE return DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements,
		uint32_t extensions, struct doca_buf_inventory **inventory)
		COMCH_DOCA_SYMBOL(doca_buf_inventory_create_105);
#else
DOCA_STABLE
doca_error_t doca_buf_inventory_create(size_t num_elements,
		struct doca_buf_inventory **inventory);
#endif

/**
 * Destroy an inventory; it is stopped first. The mmaps of its buffers may be gone
 * already.
 *
 * @return DOCA_ERROR_IN_USE: not all buffers were returned
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/** Start an inventory: buffers can be taken. No effect if it is started. */
DOCA_STABLE
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/** Stop an inventory: no more buffers can be taken. Those in use can still be returned. */
DOCA_STABLE
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Get a buffer, with 1 reference; doca_buf_dec_refcount() returns it.
 *
 * @param inventory
 *   Started.
 * @param mmap
 *   Started or imported.
 * @param addr
 *   Start of the memory.
 * @param len
 *   Its bytes; may be 0.
 * @param data
 *   Start of the data in it.
 * @param data_len
 *   Bytes of data; may be 0.
 * @param[out] buf
 *   The buffer.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the memory is not within the mmap, or the data is not
 *     within the memory
 *   - DOCA_ERROR_NO_MEMORY: all buffers are in use
 *   - DOCA_ERROR_BAD_STATE: the inventory or the mmap is not started
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
		struct doca_mmap *mmap, void *addr, size_t len, void *data, size_t data_len,
		struct doca_buf **buf);

/**
 * Get an empty buffer, to receive into: data is *addr*, data_len 0.
 *
 * @return As doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t
doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/**
 * Get a buffer full of data, to send: the data fills the memory.
 *
 * @return As doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t
doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len,
		buf);
}

/**
 * Get a buffer that describes the same memory and data as another, or a list for a
 * list. The data itself is not copied.
 *
 * @param inventory
 *   The inventory to take from; it may differ from that of *src_buf*.
 * @param src_buf
 *   The first of its list.
 * @param[out] dst_buf
 *   The buffer, with 1 reference; doca_buf_dec_refcount() returns it.
 * @return
 *   - DOCA_ERROR_BAD_STATE: the inventory or an mmap is not started, or *src_buf* is
 *     free
 *   - DOCA_ERROR_NOT_PERMITTED: *src_buf* is not the first of its list
 *   - DOCA_ERROR_NO_MEMORY: not enough free buffers; none was taken
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
		const struct doca_buf *src_buf, struct doca_buf **dst_buf);

/** Set the user data. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_STABLE
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
		union doca_data user_data);

/** Number of buffers, free or in use. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
		uint32_t *num_of_elements);

/** Number of free buffers. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_free_elements(
		const struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements);

/** The user data; 0 at first. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory,
		union doca_data *user_data);

/**
 * Add buffers. Existing ones do not move.
 *
 * @param inventory
 *   Started.
 * @param num_elements
 *   Number of buffers to add; not 0.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *num_elements* is 0
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_NO_MEMORY: no memory, or more than UINT32_MAX in total
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory,
		uint32_t num_elements);

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_buf_inventory_105.h>
#endif

#endif /* DOCA_BUF_INVENTORY_H */
