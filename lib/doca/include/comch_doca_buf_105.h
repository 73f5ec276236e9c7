/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_BUF_105_H
#define COMCH_DOCA_BUF_105_H

/**
 * @file
 * Functions of doca_buf.h until DOCA 2.2 whose names have changed since. doca_buf.h
 * includes this header in these generations.
 *
 * "As" means: an older name of that function, with the same errors and thread rule.
 */

#include <stdint.h>

#include <doca_buf.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As doca_buf_inc_refcount(). */
DOCA_STABLE
doca_error_t doca_buf_refcount_add(struct doca_buf *buf, uint16_t *refcount)
		COMCH_DOCA_SYMBOL(doca_buf_inc_refcount);

/** As doca_buf_dec_refcount(). */
DOCA_STABLE
doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount)
		COMCH_DOCA_SYMBOL(doca_buf_dec_refcount);

/** As doca_buf_get_next_in_list(). */
DOCA_STABLE
doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next_buf)
		COMCH_DOCA_SYMBOL(doca_buf_get_next_in_list);

/** As doca_buf_get_last_in_list(). */
DOCA_STABLE
doca_error_t doca_buf_list_last(struct doca_buf *buf, struct doca_buf **last_buf)
		COMCH_DOCA_SYMBOL(doca_buf_get_last_in_list);

/** As doca_buf_is_last_in_list(). */
DOCA_STABLE
doca_error_t doca_buf_list_is_last(const struct doca_buf *buf, uint8_t *is_last)
		COMCH_DOCA_SYMBOL(doca_buf_is_last_in_list);

/** As doca_buf_is_first_in_list(). */
DOCA_STABLE
doca_error_t doca_buf_list_is_first(const struct doca_buf *buf, uint8_t *is_first)
		COMCH_DOCA_SYMBOL(doca_buf_is_first_in_list);

/** As doca_buf_is_in_list(). */
DOCA_STABLE
doca_error_t doca_buf_list_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list)
		COMCH_DOCA_SYMBOL(doca_buf_is_in_list);

/** As doca_buf_chain_list(). */
DOCA_STABLE
doca_error_t doca_buf_list_chain(struct doca_buf *list1, struct doca_buf *list2)
		COMCH_DOCA_SYMBOL(doca_buf_chain_list);

/** As doca_buf_unchain_list(). */
DOCA_STABLE
doca_error_t doca_buf_list_unchain(struct doca_buf *list1, struct doca_buf *list2)
		COMCH_DOCA_SYMBOL(doca_buf_unchain_list);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_BUF_105_H */
