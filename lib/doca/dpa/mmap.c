/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * mmaps on a DPA: their handles and memory.
 *
 * A handle has the index of an entry in its low bits and a generation above. An mmap
 * that stops invalidates its handle and waits for device calls that may have found it,
 * so an mmap stays valid during a call. The lock protects which entries are free.
 */

#include <pthread.h>

#include <rte_common.h>

#include "dpa/dpa.h"
#include "log/log.h"
#include "mem/mmap.h"

/* As many entries as registrations. */
#define INDEX_BITS 12
#define NB_ENTRIES (1u << INDEX_BITS)
#define INDEX(handle) ((handle) & (NB_ENTRIES - 1))

struct entry {
	doca_dpa_dev_mmap_t handle; /* atomic; 0: none */
	doca_dpa_dev_mmap_t last;   /* previous handle, for the next generation */
	struct doca_mmap *mmap;     /* atomic; NULL: free */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[NB_ENTRIES];
/* Start of the search for a free entry, so that each is reused as late as possible. */
static uint32_t next_entry;

/* Invalidate the handle; device calls no longer use the memory afterwards. */
static void
revoke(struct doca_mmap *mmap)
{
	struct entry *e = &entries[INDEX(mmap->dpa_handle)];

	__atomic_store_n(&e->handle, 0, __ATOMIC_RELAXED);
	impl_dpa_gate_wait();
	pthread_mutex_lock(&lock);
	__atomic_store_n(&e->mmap, NULL, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	mmap->dpa_handle = 0;
}

static const struct impl_mmap_dpa_ops dpa_ops = {
	.revoke = revoke,
};

/* NULL: all entries are in use. */
static struct entry *
find_free(void)
{
	uint32_t i;

	for (i = 0; i < NB_ENTRIES; i++, next_entry++)
		if (entries[INDEX(next_entry)].mmap == NULL)
			return &entries[INDEX(next_entry++)];
	return NULL;
}

static doca_error_t
take_entry(struct doca_mmap *mmap)
{
	struct entry *e = find_free();
	doca_dpa_dev_mmap_t handle;

	if (e == NULL) {
		IMPL_ERR("mmap: limit of %u DPA handles reached", NB_ENTRIES);
		return DOCA_ERROR_NO_MEMORY;
	}
	handle = ((e->last >> INDEX_BITS) + 1) << INDEX_BITS;
	/* Skip 0, when the generations wrap. */
	if (handle == 0)
		handle = 1u << INDEX_BITS;
	handle |= (uint32_t)(e - entries);
	e->last = handle;
	__atomic_store_n(&e->mmap, mmap, __ATOMIC_RELAXED);
	__atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE);
	mmap->dpa_ops = &dpa_ops;
	mmap->dpa_handle = handle;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
		doca_dpa_dev_mmap_t *dpa_mmap_handle)
{
	doca_error_t ret = DOCA_SUCCESS;

	if (mmap == NULL || dev == NULL || dpa_mmap_handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->is_started) {
		IMPL_ERR("mmap: no DPA handle: not started");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!impl_mmap_has_dev(mmap, dev)) {
		IMPL_ERR("mmap: no DPA handle: the device was not added");
		return DOCA_ERROR_NOT_FOUND;
	}
	pthread_mutex_lock(&lock);
	if (mmap->dpa_handle == 0)
		ret = take_entry(mmap);
	if (ret == DOCA_SUCCESS)
		*dpa_mmap_handle = mmap->dpa_handle;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* DPA memory is memory of this process. */
doca_error_t
doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t dpa_addr,
		size_t len)
{
	if (dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_mmap_set_memrange(mmap, (void *)(uintptr_t)dpa_addr, len);
}

void *
impl_dpa_mmap_range(struct impl_dpa_self *self, doca_dpa_dev_mmap_t mmap, uint64_t addr,
		size_t len, bool write, const char *what)
{
	const struct entry *e = &entries[INDEX(mmap)];
	const struct doca_mmap *m;

	if (mmap == 0 || __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE) != mmap) {
		impl_dpa_fault(self, what, "0x%x is not the handle of a started mmap", mmap);
		return NULL;
	}
	m = __atomic_load_n(&e->mmap, __ATOMIC_RELAXED);
	if (m->is_imported || (write && !impl_mmap_is_ours_to_write(m))) {
		impl_dpa_fault(self, what, "mmap 0x%x: %s", mmap, m->is_imported ?
			"imported: memory of another process" : "read-only");
		return NULL;
	}
	if (!impl_range_has(m->addr, m->len, (const void *)(uintptr_t)addr, len)) {
		impl_dpa_fault(self, what, "mmap 0x%x [%p, +%zu): [0x%llx, +%zu) is out of range",
			mmap, (void *)m->addr, m->len, (unsigned long long)addr, len);
		return NULL;
	}
	return (void *)(uintptr_t)addr;
}
