/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Functions of mmaps that differ until DOCA 2.2. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <comch_doca_mmap_105.h>

#include "mem/mmap.h"

doca_error_t doca_mmap_create_105(const union doca_data *user_data, struct doca_mmap **mmap);
doca_error_t doca_mmap_start_105(struct doca_mmap *mmap);

/* doca_mmap_create() until DOCA 2.2. */
doca_error_t
doca_mmap_create_105(const union doca_data *user_data, struct doca_mmap **mmap)
{
	doca_error_t ret = doca_mmap_create(mmap);

	if (ret == DOCA_SUCCESS && user_data != NULL)
		(*mmap)->user_data = *user_data;
	return ret;
}

/* doca_mmap_start() until DOCA 1.5: the memory may be set later. */
doca_error_t
doca_mmap_start_105(struct doca_mmap *mmap)
{
	if (mmap == NULL || mmap->addr != NULL || mmap->is_imported)
		return doca_mmap_start(mmap);
	if (mmap->starts_later)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->starts_later = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
		doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	doca_error_t ret = doca_mmap_set_memrange(mmap, addr, len);

	RTE_SET_USED(pg_sz);
	if (ret != DOCA_SUCCESS)
		return ret;
	mmap->permissions = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE;
	if (free_cb != NULL)
		doca_mmap_set_free_cb(mmap, free_cb, opaque);
	if (!mmap->starts_later)
		return DOCA_SUCCESS;
	mmap->starts_later = false;
	return doca_mmap_start(mmap);
}

doca_error_t
doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev, void **export_desc,
		size_t *export_desc_len)
{
	const void *desc;
	doca_error_t ret;
	size_t len;
	void *copy;

	if (export_desc == NULL || export_desc_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = doca_mmap_export_pci(mmap, dev, &desc, &len);
	if (ret != DOCA_SUCCESS)
		return ret;
	copy = malloc(len);
	if (copy == NULL)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(copy, desc, len);
	*export_desc = copy;
	*export_desc_len = len;
	return DOCA_SUCCESS;
}
