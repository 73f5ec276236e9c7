/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_BUF_H
#define DOCA_BUF_H

/**
 * @file
 * Bufs: descriptions of pieces of an mmap, for tasks.
 *
 *      head          data                                   head + len
 *       |             |<------ data_len ------>|                |
 *       [-------------[########################]----------------]
 *
 * A task sends [data, data + data_len), or receives into what follows it and adds
 * to data_len. Bufs come from an inventory (doca_buf_inventory.h) or a pool
 * (doca_buf_pool.h) with one reference, and go back when the last is dropped.
 *
 * With comch:
 *   - a submitted task goes on if its buf is given back; its memory must stay;
 *   - the tasks of doca_comch take no lists;
 *   - a list's references are those of its first element: dropping the last one
 *     returns *all* elements.
 *
 * Threads: a buf belongs to one thread at a time, together with its inventory or
 * pool, and its mmap (see doca_mmap_enable_thread_safety()).
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

#ifdef __cplusplus
extern "C" {
#endif

/** A description of memory. */
struct doca_buf;

/**
 * Add a reference.
 *
 * @param buf
 *   A buf in use; the first of its list.
 * @param[out] refcount
 *   How many there were before; may be NULL.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: free, or not the first of its list
 *   - DOCA_ERROR_TOO_BIG: there are 65535 already
 */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Take off a reference. With the last one the buf, and all that follow it in
 * its list, are given back.
 *
 * @param buf
 *   The first of its list.
 * @param[out] refcount
 *   How many there were before; may be NULL.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not the first of its list
 *   - DOCA_ERROR_BAD_STATE: there is none: it was given back before
 */
DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/** The references. */
DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/** Bytes of the whole piece of memory, with data or without. */
DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/** Where the piece of memory begins. */
DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/** Bytes of the data. */
DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/** Where the data begin. */
DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/**
 * Say where the data are.
 *
 * @param buf
 *   The buf.
 * @param data
 *   Where they begin.
 * @param data_len
 *   Bytes.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also not within [head, head + len)
 */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/**
 * Say how long the data are.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also longer than what follows their begin
 */
DOCA_STABLE
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/** Make the data empty; where they begin stays. */
DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/** The next one of the list; NULL after the last. */
DOCA_STABLE
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

/** The last one of the list; *buf* itself if it is alone. */
DOCA_STABLE
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/** 1 if nothing follows, else 0. */
DOCA_STABLE
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

/** 1 if it follows nothing, else 0. */
DOCA_STABLE
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/** 1 if it has neighbours, 0 if it is alone. */
DOCA_STABLE
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

/**
 * Elements of a list.
 *
 * @param buf
 *   Its first element; a buf that is alone is a list of 1.
 * @param[out] num_elements
 *   How many.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: not the first of its list
 */
DOCA_STABLE
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Append a list to another one.
 *
 * @param list1
 *   First element of the list that becomes longer.
 * @param list2
 *   First element of the list that goes to its end; with 1 reference, which
 *   becomes the list's.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: one of them is free or not the first of its
 *     list, they are the same, or *list2* has several references
 */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * Append a list to another one, whose last element the caller knows.
 *
 * @param list1_head
 *   As list1 of doca_buf_chain_list().
 * @param list1_tail
 *   Its last element. This is checked, which takes a walk through the list.
 * @param list2
 *   As list2 of doca_buf_chain_list().
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: as doca_buf_chain_list(), or the last element
 *     is another one
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail,
		struct doca_buf *list2);

/**
 * Cut a list in two. The second one has 1 reference.
 *
 * @param list1
 *   First element of the list.
 * @param list2
 *   The element of it that becomes the first of the second list.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also *list1* is not the first of its list, or
 *     *list2* does not follow in it
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
