/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUF_POOL_H
#define DOCA_BUF_POOL_H

/**
 * @file
 * Pools: bufs of one size, each with a place of its own in an mmap.
 *
 *     doca_buf_pool_create(64, 2048, mmap, &pool)
 *     doca_buf_pool_set_element_alignment(pool, 64)
 *     doca_buf_pool_start(pool)
 *     doca_buf_pool_buf_alloc(pool, &buf)
 *     ... tasks
 *     doca_buf_dec_refcount(buf, NULL)           goes back
 *     doca_buf_pool_destroy(pool)
 *
 * The elements are laid out from the begin of the mmap, at doca_buf_pool_start().
 * Two pools on one mmap, or a pool and an inventory, overlap.
 *
 * Thread rule: a pool and its bufs belong to one thread at a time.
 *
 * All functions return #DOCA_ERROR_INVALID_VALUE for a NULL argument.
 *
 * Reference: DOCA Core guide 2.10, section DOCA Memory Subsystem.
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_mmap;
/** A store of bufs of one size. */
struct doca_buf_pool;

/**
 * Create a pool.
 *
 * @param num_elements
 *   How many bufs: 1 to UINT32_MAX.
 * @param element_size
 *   Bytes of each; at least 1.
 * @param mmap
 *   Where they lie. It need not be started yet, and has to outlive the use of
 *   the bufs.
 * @param[out] buf_pool
 *   The pool; doca_buf_pool_destroy() frees it.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also a number out of range
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_STABLE
doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size,
		const struct doca_mmap *mmap, struct doca_buf_pool **buf_pool);

/**
 * Destroy a pool; it is stopped before. The mmap may be gone already.
 *
 * @return
 *   - DOCA_ERROR_IN_USE: not all bufs came back
 */
DOCA_STABLE
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/**
 * Lay the elements out and let them be taken.
 *
 * @return
 *   - DOCA_ERROR_INITIALIZATION: the mmap is too small, with what the
 *     alignment wastes before the first and between all elements
 *   - DOCA_ERROR_BAD_STATE: started already, or the mmap is not started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/**
 * Let no more bufs be taken. One that is not started stays so.
 *
 * @return
 *   - DOCA_ERROR_IN_USE: not all bufs came back
 */
DOCA_STABLE
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/**
 * Take a buf without data: head and data are its element's begin, len is the
 * element size, data_len 0.
 *
 * @param buf_pool
 *   Started.
 * @param[out] buf
 *   The buf, with 1 reference; doca_buf_dec_refcount() gives it back.
 * @return
 *   - DOCA_ERROR_BAD_STATE: the pool or its mmap is not started
 *   - DOCA_ERROR_EMPTY: all bufs are in use
 */
DOCA_STABLE
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/**
 * Keep data of the program with the pool.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool,
		union doca_data user_data);

/**
 * Set what the addresses of the elements are multiples of.
 *
 * @param buf_pool
 *   The pool.
 * @param element_alignment
 *   Bytes, a power of two; 1 without this call.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also no power of two
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool,
		size_t element_alignment);

/** How many bufs it has, free or in use. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool,
		uint32_t *num_of_elements);

/** How many bufs can be taken. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool,
		uint32_t *num_of_free_elements);

/** The data of doca_buf_pool_set_user_data(); 0 before. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool,
		union doca_data *user_data);

/** What the addresses of the elements are multiples of, in bytes. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool,
		size_t *element_alignment);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_POOL_H */
