/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Memory maps: creation, settings, start and stop. */

#include <stdlib.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "base/err.h"
#include "dev/dev.h"
#include "dev/eal.h"
#include "log/log.h"
#include "mem/mmap.h"

/* As many as there can be host functions. */
#define DEFAULT_MAX_DEVS 256

static LIST_HEAD(, doca_mmap) mmaps = LIST_HEAD_INITIALIZER(mmaps);
static pthread_mutex_t mmaps_lock = PTHREAD_MUTEX_INITIALIZER;

bool
impl_mmap_exists(const struct doca_mmap *mmap)
{
	const struct doca_mmap *m;

	pthread_mutex_lock(&mmaps_lock);
	LIST_FOREACH(m, &mmaps, all)
		if (m == mmap)
			break;
	pthread_mutex_unlock(&mmaps_lock);
	return m != NULL;
}

doca_error_t
doca_mmap_create(struct doca_mmap **mmap)
{
	struct doca_mmap *m;

	if (mmap == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return DOCA_ERROR_NO_MEMORY;
	m->permissions = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	m->max_devs = DEFAULT_MAX_DEVS;
	SLIST_INIT(&m->exports);
	pthread_mutex_lock(&mmaps_lock);
	LIST_INSERT_HEAD(&mmaps, m, all);
	pthread_mutex_unlock(&mmaps_lock);
	*mmap = m;
	return DOCA_SUCCESS;
}

void
impl_mmap_hold(struct doca_mmap *mmap)
{
	__atomic_fetch_add(&mmap->nb_holds, 1, __ATOMIC_RELAXED);
}

void
impl_mmap_drop(struct doca_mmap *mmap)
{
	/* Release: uses of the mmap happen before a stop that reads 0 (acquire). */
	__atomic_fetch_sub(&mmap->nb_holds, 1, __ATOMIC_RELEASE);
}

struct rte_comch_mr *
impl_mmap_mr(const struct doca_mmap *mmap)
{
	return mmap->mr;
}

bool
impl_mmap_is_writable(const struct doca_mmap *mmap)
{
	return (mmap->permissions & DOCA_ACCESS_FLAG_PCI_READ_WRITE) != 0;
}

bool
impl_mmap_is_ours_to_write(const struct doca_mmap *mmap)
{
	return !mmap->is_imported && (mmap->permissions & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE) != 0;
}

bool
impl_mmap_is_started(const struct doca_mmap *mmap)
{
	return mmap->is_started;
}

struct rte_comch_import *
impl_mmap_import(const struct doca_mmap *mmap)
{
	return mmap->import;
}

/* Stop; no buffers and objects may be left. The memory may be gone already. */
static doca_error_t
halt(struct doca_mmap *mmap)
{
	uint32_t nb_holds = __atomic_load_n(&mmap->nb_holds, __ATOMIC_ACQUIRE);
	int ret;

	if (mmap->nb_bufs > 0 || nb_holds > 0) {
		IMPL_ERR("mmap [%p, +%zu): cannot stop: in use by %u buffers and %u objects",
			(void *)mmap->addr, mmap->len, mmap->nb_bufs, nb_holds);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (mmap->mr != NULL) {
		ret = rte_comch_mem_unregister(mmap->mr);
		if (ret != 0) {
			IMPL_ERR("mmap [%p, +%zu): unregister: %s", (void *)mmap->addr,
				mmap->len, rte_strerror(-ret));
			return DOCA_ERROR_NOT_PERMITTED;
		}
		mmap->mr = NULL;
	}
	impl_mmap_free_exports(mmap);
	if (mmap->dpa_handle != 0)
		mmap->dpa_ops->revoke(mmap);
	mmap->is_started = false;
	mmap->starts_later = false;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_destroy(struct doca_mmap *mmap)
{
	doca_error_t ret;
	uint32_t i;

	if (mmap == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = halt(mmap);
	if (ret != DOCA_SUCCESS)
		return ret;
	for (i = 0; i < mmap->nb_devs; i++)
		impl_dev_drop(mmap->devs[i]);
	rte_comch_import_destroy(mmap->import);
	if (mmap->calls_free_cb && mmap->free_cb != NULL)
		mmap->free_cb(mmap->addr, mmap->len, mmap->free_cookie);
	free(mmap->devs);
	pthread_mutex_lock(&mmaps_lock);
	LIST_REMOVE(mmap, all);
	pthread_mutex_unlock(&mmaps_lock);
	free(mmap);
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_start(struct doca_mmap *mmap)
{
	doca_error_t ret;

	if (mmap == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->is_started || mmap->is_imported) {
		IMPL_ERR("mmap: %s", mmap->is_imported ? "an imported mmap does not start" :
			"started already");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (mmap->addr == NULL) {
		IMPL_ERR("mmap: cannot start: no memory range set");
		return DOCA_ERROR_INVALID_VALUE;
	}
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	mmap->mr = rte_comch_mem_register(mmap->addr, mmap->len, 0);
	if (mmap->mr == NULL) {
		IMPL_ERR("mmap [%p, +%zu): register: %s", (void *)mmap->addr,
			mmap->len, rte_strerror(rte_errno));
		return impl_err(-rte_errno);
	}
	mmap->is_started = true;
	mmap->was_started = true;
	mmap->calls_free_cb = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_stop(struct doca_mmap *mmap)
{
	return mmap == NULL ? DOCA_ERROR_INVALID_VALUE : halt(mmap);
}

static uint32_t
find_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	uint32_t i;

	for (i = 0; i < mmap->nb_devs && mmap->devs[i] != dev; i++)
		;
	return i;
}

bool
impl_mmap_has_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	return find_dev(mmap, dev) < mmap->nb_devs;
}

doca_error_t
impl_mmap_push_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct doca_dev **devs;

	devs = reallocarray(mmap->devs, (size_t)mmap->nb_devs + 1, sizeof(*devs));
	if (devs == NULL)
		return DOCA_ERROR_NO_MEMORY;
	mmap->devs = devs;
	devs[mmap->nb_devs++] = dev;
	impl_dev_hold(dev);
	return DOCA_SUCCESS;
}

/* Whether devices cannot be changed. */
static bool
is_fixed(const struct doca_mmap *mmap)
{
	return mmap->is_started || mmap->is_imported;
}

doca_error_t
doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	if (mmap == NULL || !impl_dev_is_one(dev))
		return DOCA_ERROR_INVALID_VALUE;
	if (is_fixed(mmap))
		return DOCA_ERROR_NOT_PERMITTED;
	if (impl_mmap_has_dev(mmap, dev))
		return DOCA_ERROR_ALREADY_EXIST;
	if (mmap->nb_devs >= mmap->max_devs) {
		IMPL_ERR("mmap: limit of %u devices reached", mmap->max_devs);
		return DOCA_ERROR_NO_MEMORY;
	}
	return impl_mmap_push_dev(mmap, dev);
}

doca_error_t
doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	uint32_t i;

	if (mmap == NULL || dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_fixed(mmap))
		return DOCA_ERROR_NOT_PERMITTED;
	i = find_dev(mmap, dev);
	if (i == mmap->nb_devs)
		return DOCA_ERROR_NOT_FOUND;
	mmap->devs[i] = mmap->devs[--mmap->nb_devs];
	impl_dev_drop(dev);
	return DOCA_SUCCESS;
}

/* Check that the memory range can be set now. */
static doca_error_t
can_set_memrange(const struct doca_mmap *mmap)
{
	if (is_fixed(mmap))
		return DOCA_ERROR_BAD_STATE;
	return mmap->addr == NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t
doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	doca_error_t ret;

	if (mmap == NULL || !impl_range_is_valid(addr, len)) {
		IMPL_ERR("mmap: invalid memory range [%p, +%zu)", addr, len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	ret = can_set_memrange(mmap);
	if (ret != DOCA_SUCCESS) {
		IMPL_ERR("mmap: cannot set the memory range: set before, or started");
		return ret;
	}
	mmap->addr = addr;
	mmap->len = len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
		size_t dmabuf_offset, size_t len)
{
	doca_error_t ret;

	if (mmap == NULL || dmabuf_fd < 0 || !impl_range_is_valid(addr, len) ||
			len > SIZE_MAX - dmabuf_offset)
		return DOCA_ERROR_INVALID_VALUE;
	ret = can_set_memrange(mmap);
	return ret == DOCA_SUCCESS ? DOCA_ERROR_NOT_SUPPORTED : ret;
}

doca_error_t
doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
	if (mmap == NULL || addr == NULL || len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->addr == NULL)
		return DOCA_ERROR_BAD_STATE;
	*addr = mmap->addr;
	*len = mmap->len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	if (mmap == NULL || free_cb == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_fixed(mmap))
		return DOCA_ERROR_BAD_STATE;
	mmap->free_cb = free_cb;
	mmap->free_cookie = opaque;
	mmap->calls_free_cb = false;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
	if (mmap == NULL || max_num_devices == 0 || max_num_devices < mmap->nb_devs)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->was_started || mmap->is_imported)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->max_devs = max_num_devices;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	if (mmap == NULL || !impl_access_is_valid(access_mask)) {
		IMPL_ERR("mmap: invalid permissions %#x", access_mask);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (is_fixed(mmap))
		return DOCA_ERROR_BAD_STATE;
	mmap->permissions = access_mask;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data)
{
	if (mmap == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_fixed(mmap))
		return DOCA_ERROR_BAD_STATE;
	mmap->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_enable_thread_safety(struct doca_mmap *mmap)
{
	if (mmap == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_fixed(mmap))
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->is_thread_safe = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data)
{
	if (mmap == NULL || user_data == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = mmap->user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices)
{
	if (mmap == NULL || max_num_devices == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_num_devices = mmap->max_devs;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs)
{
	if (mmap == NULL || num_bufs == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_bufs = mmap->nb_bufs;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported)
{
	if (mmap == NULL || exported == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*exported = !SLIST_EMPTY(&mmap->exports);
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export)
{
	if (mmap == NULL || from_export == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*from_export = mmap->is_imported;
	return DOCA_SUCCESS;
}
