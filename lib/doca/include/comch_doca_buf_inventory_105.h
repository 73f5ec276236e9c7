/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_BUF_INVENTORY_105_H
#define COMCH_DOCA_BUF_INVENTORY_105_H

/**
 * @file
 * Functions of doca_buf_inventory.h until DOCA 2.2 whose names have changed since.
 * doca_buf_inventory.h includes this header in these generations, in which
 * doca_buf_inventory_create() has two more arguments.
 *
 * "As" means: an older name of that function, with the same errors and thread rule.
 */

#include <stddef.h>

#include <doca_buf_inventory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As doca_buf_inventory_buf_get_by_args(). */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory,
		struct doca_mmap *mmap, void *addr, size_t len, void *data, size_t data_len,
		struct doca_buf **buf) COMCH_DOCA_SYMBOL(doca_buf_inventory_buf_get_by_args);

/** As doca_buf_inventory_buf_get_by_addr(). */
static inline doca_error_t
doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_addr(inventory, mmap, addr, len, buf);
}

/** As doca_buf_inventory_buf_get_by_data(). */
static inline doca_error_t
doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_data(inventory, mmap, data, data_len, buf);
}

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_BUF_INVENTORY_105_H */
