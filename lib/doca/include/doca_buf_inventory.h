/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUF_INVENTORY_H
#define DOCA_BUF_INVENTORY_H

/**
 * @file
 * Inventories: bufs for any piece of any mmap.
 *
 *     doca_buf_inventory_create(16, &inventory)
 *     doca_buf_inventory_start(inventory)
 *     doca_buf_inventory_buf_get_by_addr(inventory, mmap, addr, len, &buf)
 *     ... tasks
 *     doca_buf_dec_refcount(buf, NULL)           goes back
 *     doca_buf_inventory_destroy(inventory)
 *
 * All bufs are allocated at the start of it: taking one and giving it back
 * takes constant time. Pieces may overlap, and one piece may have many bufs.
 *
 * Thread rule: an inventory and its bufs belong to one thread at a time.
 *
 * All functions return #DOCA_ERROR_INVALID_VALUE for a NULL argument.
 *
 * Reference: DOCA Core guide 2.10, section DOCA Memory Subsystem.
 */

#include <stddef.h>
#include <stdint.h>

/* Programs of DOCA 2.5 expect it here. */
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mmap;
/** A store of bufs. */
struct doca_buf_inventory;

#if COMCH_DOCA_GENERATION < 205
/** What else the bufs of an inventory are to have. */
enum doca_buf_extension {
	DOCA_BUF_EXTENSION_NONE = 0,
};
#endif

/**
 * Create an inventory.
 *
 * @param num_elements
 *   How many bufs: 1 to UINT32_MAX.
 * @param[out] inventory
 *   The inventory; doca_buf_inventory_destroy() frees it.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also *num_elements* out of range
 *   - DOCA_ERROR_NO_MEMORY
 */
#if COMCH_DOCA_GENERATION < 205
/* user_data, which may be NULL, is kept with it; extensions other than NONE say
 * DOCA_ERROR_NOT_SUPPORTED.
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
 * Destroy an inventory; it is stopped before. Mmaps whose bufs it gave out may
 * be gone already.
 *
 * @return
 *   - DOCA_ERROR_IN_USE: not all bufs came back
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/** Let bufs be taken. One that is started stays so. */
DOCA_STABLE
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/** Let no more bufs be taken. Those that are in use can be given back. */
DOCA_STABLE
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Take a buf, with 1 reference.
 *
 * @param inventory
 *   Started.
 * @param mmap
 *   Started, or imported.
 * @param addr
 *   The piece of memory: its begin.
 * @param len
 *   Bytes of it; may be 0.
 * @param data
 *   The data in it: their begin.
 * @param data_len
 *   Bytes of them; may be 0.
 * @param[out] buf
 *   The buf; doca_buf_dec_refcount() gives it back.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also the piece is not within the mmap, or the
 *     data are not within the piece
 *   - DOCA_ERROR_NO_MEMORY: all bufs are in use
 *   - DOCA_ERROR_BAD_STATE: the inventory or the mmap is not started
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
		struct doca_mmap *mmap, void *addr, size_t len, void *data, size_t data_len,
		struct doca_buf **buf);

/**
 * Take a buf without data, to receive into: data is *addr*, data_len 0.
 *
 * @return
 *   As doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t
doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/**
 * Take a buf full of data, to send: the piece of memory is the data.
 *
 * @return
 *   As doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t
doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len,
		buf);
}

/**
 * Take a buf that describes the same as another one; of a list, a list of as
 * many. The bytes themselves are not copied.
 *
 * @param inventory
 *   Where it is taken from; may be another one than that of *src_buf*.
 * @param src_buf
 *   The first of its list.
 * @param[out] dst_buf
 *   The buf, with 1 reference; doca_buf_dec_refcount() gives it back.
 * @return
 *   - DOCA_ERROR_BAD_STATE: the inventory or an mmap is not started, or
 *     *src_buf* is free
 *   - DOCA_ERROR_NOT_PERMITTED: *src_buf* is not the first of its list
 *   - DOCA_ERROR_NO_MEMORY: not enough bufs are left; none was taken
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
		const struct doca_buf *src_buf, struct doca_buf **dst_buf);

/**
 * Keep data of the program with the inventory.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
		union doca_data user_data);

/** How many bufs it has, free or in use. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
		uint32_t *num_of_elements);

/** How many bufs can be taken. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_free_elements(
		const struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements);

/** The data of doca_buf_inventory_set_user_data(); 0 before. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory,
		union doca_data *user_data);

/**
 * Add bufs. Those that exist stay where they are.
 *
 * @param inventory
 *   Started.
 * @param num_elements
 *   How many more; at least 1.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also 0
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_NO_MEMORY: or more than UINT32_MAX in all
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
