/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUF_H
#define DOCA_BUF_H

/**
 * @file
 * Buffers: pieces of an mmap, described for tasks.
 *
 *      head          data                                   head + len
 *       |             |<------ data_len ------>|                |
 *       [-------------[########################]----------------]
 *
 * A task sends [data, data + data_len), or receives behind that and increases data_len.
 * Buffers come from an inventory (doca_buf_inventory.h) or a pool (doca_buf_pool.h)
 * with one reference and return there when the last is dropped.
 *
 * With comch:
 *   - a buffer may be returned while a task with it is submitted; its memory must
 *     remain valid;
 *   - the tasks of doca_comch refuse lists;
 *   - a list has the references of its first element: dropping the last returns *all*
 *     elements.
 *
 * Threads: a buffer belongs to one thread at a time, together with its inventory or
 * pool and its mmap (see doca_mmap_enable_thread_safety()).
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

#ifdef __cplusplus
extern "C" {
#endif

/** A piece of memory for a task. */
struct doca_buf;

/**
 * Add a reference.
 *
 * @param buf
 *   A buffer in use; the first of its list.
 * @param[out] refcount
 *   References before the call; may be NULL.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: free, or not the first of its list
 *   - DOCA_ERROR_TOO_BIG: it has 65535 references
 */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Drop a reference. Dropping the last returns the buffer and all that follow in its
 * list.
 *
 * @param buf
 *   The first of its list.
 * @param[out] refcount
 *   References before the call; may be NULL.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not the first of its list
 *   - DOCA_ERROR_BAD_STATE: the buffer was returned before
 */
DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/** Number of references. */
DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/** Length of the memory in bytes, with or without data. */
DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/** Start of the memory. */
DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/** Length of the data in bytes. */
DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/** Start of the data. */
DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/**
 * Set the data.
 *
 * @param buf
 *   The buffer.
 * @param data
 *   Start of the data.
 * @param data_len
 *   Bytes.
 * @return DOCA_ERROR_INVALID_VALUE: not within [head, head + len)
 */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/**
 * Set the length of the data, in bytes.
 *
 * @return DOCA_ERROR_INVALID_VALUE: the data would end behind the memory
 */
DOCA_STABLE
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/** Set the length of the data to 0; the start of the data is kept. */
DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/** Next buffer of the list; NULL after the last. */
DOCA_STABLE
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

/** Last buffer of the list; *buf* itself outside of a list. */
DOCA_STABLE
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/** 1 if no buffer follows, else 0. */
DOCA_STABLE
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

/** 1 if no buffer precedes, else 0. */
DOCA_STABLE
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/** 1 if it is in a list of several, else 0. */
DOCA_STABLE
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

/**
 * Length of a list.
 *
 * @param buf
 *   Its first element; a single buffer is a list of 1.
 * @param[out] num_elements
 *   Number of elements.
 * @return DOCA_ERROR_NOT_PERMITTED: not the first of its list
 */
DOCA_STABLE
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Append a list to another.
 *
 * @param list1
 *   First element of the list to extend.
 * @param list2
 *   First element of the list to append. Its only reference becomes the list's.
 * @return DOCA_ERROR_NOT_PERMITTED: one is free or not the first of its list, both are
 * the same, or *list2* has several references
 */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * Append a list to another, given the last element. It is checked, so this is not
 * faster than doca_buf_chain_list().
 *
 * @param list1_head
 *   As list1 of doca_buf_chain_list().
 * @param list1_tail
 *   Last element of that list.
 * @param list2
 *   As list2 of doca_buf_chain_list().
 * @return DOCA_ERROR_NOT_PERMITTED: as doca_buf_chain_list(), or *list1_tail* is not
 * the last element
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail,
		struct doca_buf *list2);

/**
 * Split a list in two. The second list has 1 reference.
 *
 * @param list1
 *   First element of the list.
 * @param list2
 *   Element that becomes the first of the second list.
 * @return DOCA_ERROR_INVALID_VALUE: *list1* is not the first of its list, or *list2*
 * does not follow it
 */
DOCA_STABLE
doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_buf_105.h>
#endif

#endif /* DOCA_BUF_H */
