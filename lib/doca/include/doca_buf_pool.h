/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUF_POOL_H
#define DOCA_BUF_POOL_H

/**
 * @file
 * Pools: buffers of one size, each with fixed memory in an mmap.
 *
 *     doca_buf_pool_create(64, 2048, mmap, &pool)
 *     doca_buf_pool_set_element_alignment(pool, 64)
 *     doca_buf_pool_start(pool)
 *     doca_buf_pool_buf_alloc(pool, &buf)
 *     ... tasks
 *     doca_buf_dec_refcount(buf, NULL)           returns it
 *     doca_buf_pool_destroy(pool)
 *
 * doca_buf_pool_start() lays the elements out from the start of the mmap. Two pools on
 * one mmap, or a pool and an inventory, overlap.
 *
 * Threads: a pool and its buffers belong to one thread at a time.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Core guide 2.10, section "DOCA Memory Subsystem".
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
/** A set of buffers of one size. */
struct doca_buf_pool;

/**
 * Create a pool; doca_buf_pool_destroy() frees it.
 *
 * @param num_elements
 *   Number of buffers: 1 to UINT32_MAX.
 * @param element_size
 *   Bytes of each; not 0.
 * @param mmap
 *   Memory of the buffers. It may be started later, and must exist when the pool is
 *   started, which keeps it: it is neither stopped nor destroyed before the pool.
 * @param[out] buf_pool
 *   The pool.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: a number is out of range
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_STABLE
doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size,
		const struct doca_mmap *mmap, struct doca_buf_pool **buf_pool);

/**
 * Destroy a pool; it is stopped first. The mmap of a stopped pool may be gone already.
 *
 * @return DOCA_ERROR_IN_USE: not all buffers were returned
 */
DOCA_STABLE
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/**
 * Lay out the elements and let them be taken.
 *
 * @return
 *   - DOCA_ERROR_INITIALIZATION: the mmap is too small, including the padding for
 *     alignment before the first element and between elements
 *   - DOCA_ERROR_BAD_STATE: started already, or the mmap is not started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/**
 * Stop a pool: no more buffers can be taken. No effect if it is not started.
 *
 * @return DOCA_ERROR_IN_USE: not all buffers were returned
 */
DOCA_STABLE
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/**
 * Get an empty buffer: head and data are the start of its element, len is the element
 * size, data_len 0.
 *
 * @param buf_pool
 *   Started.
 * @param[out] buf
 *   The buffer, with 1 reference; doca_buf_dec_refcount() returns it.
 * @return
 *   - DOCA_ERROR_BAD_STATE: the pool is not started
 *   - DOCA_ERROR_EMPTY: all buffers are in use
 */
DOCA_STABLE
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/** Set the user data. @return DOCA_ERROR_BAD_STATE: started. */
DOCA_STABLE
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool,
		union doca_data user_data);

/**
 * Set the alignment of the elements.
 *
 * @param buf_pool
 *   The pool.
 * @param element_alignment
 *   Bytes, a power of two; default 1.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not a power of two
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool,
		size_t element_alignment);

/** Number of buffers, free or in use. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool,
		uint32_t *num_of_elements);

/** Number of free buffers. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool,
		uint32_t *num_of_free_elements);

/** The user data; 0 at first. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool,
		union doca_data *user_data);

/** Alignment of the elements, in bytes. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool,
		size_t *element_alignment);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_POOL_H */
