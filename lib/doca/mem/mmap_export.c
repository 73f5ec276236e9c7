/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Export descriptors of mmaps for a process on the other side. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_errno.h>

#include "base/err.h"
#include "dev/dev.h"
#include "log/log.h"
#include "mem/desc.h"
#include "mem/mmap.h"

/* Format of a descriptor; addresses are not dereferenced by importers. */
struct mmap_desc {
	struct impl_desc_head head;
	/* Identifies the export in messages and dumps, even if the pid is reused. */
	uint8_t id[16];
	rte_le64_t addr;
	rte_le64_t len;
	rte_le32_t permissions;
	rte_le32_t pid;
	char pci[16];
	/* For rte_comch_import_create(). All 0: the memory cannot be reached. */
	uint8_t remote[RTE_COMCH_EXPORT_DESC_LEN];
	rte_le32_t zero;
	/* Against accidental damage only: the exporter checks each request. */
	rte_le32_t check;
};

static const struct impl_desc_kind desc_kind = { "mmap", "comchmm", 2, sizeof(struct mmap_desc) };

_Static_assert(sizeof(struct mmap_desc) == 224, "the format is fixed");
_Static_assert(offsetof(struct mmap_desc, id) == 16, "the format is fixed");
_Static_assert(offsetof(struct mmap_desc, addr) == 32, "the format is fixed");
_Static_assert(offsetof(struct mmap_desc, permissions) == 48, "the format is fixed");
_Static_assert(offsetof(struct mmap_desc, pci) == 56, "the format is fixed");
_Static_assert(offsetof(struct mmap_desc, check) == 220, "the format is fixed");
_Static_assert(sizeof(struct mmap_desc) <= 256, "programs read as much from a file");
_Static_assert(DOCA_DEVINFO_PCI_ADDR_SIZE <= sizeof(((struct mmap_desc *)0)->pci), "room");

/* One of these is needed to export the memory. */
#define PCI_ACCESS (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)
#define RDMA_ACCESS (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
		DOCA_ACCESS_FLAG_RDMA_ATOMIC)

void
impl_mmap_free_exports(struct doca_mmap *mmap)
{
	struct impl_mmap_export *e;

	while ((e = SLIST_FIRST(&mmap->exports)) != NULL) {
		SLIST_REMOVE_HEAD(&mmap->exports, next);
		rte_comch_export_destroy(e->export);
		free(e);
	}
}

/* Common checks of all exports. */
static doca_error_t
can_export(const struct doca_mmap *mmap, const struct doca_dev *dev, uint32_t access)
{
	if (!mmap->is_started || mmap->is_imported) {
		IMPL_ERR("mmap: cannot export: %s", mmap->is_imported ? "imported" :
			"not started");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if ((mmap->permissions & access) == 0) {
		IMPL_ERR("mmap: cannot export: permissions %#x have none of %#x",
			mmap->permissions, access);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!impl_mmap_has_dev(mmap, dev)) {
		IMPL_ERR("mmap: cannot export: the device was not added");
		return DOCA_ERROR_NOT_FOUND;
	}
	return DOCA_SUCCESS;
}

static doca_error_t
describe(const struct doca_mmap *mmap, const struct doca_dev *dev,
		const struct rte_comch_export *export, struct mmap_desc *d)
{
	*d = (struct mmap_desc){
		.addr = rte_cpu_to_le_64((uintptr_t)mmap->addr),
		.len = rte_cpu_to_le_64(mmap->len),
		.permissions = rte_cpu_to_le_32(mmap->permissions),
		.pid = rte_cpu_to_le_32((uint32_t)getpid()),
	};
	arc4random_buf(d->id, sizeof(d->id));
	rte_comch_export_desc(export, d->remote);
	if (doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), d->pci) != DOCA_SUCCESS)
		return DOCA_ERROR_DRIVER;
	impl_desc_seal(&desc_kind, d);
	return DOCA_SUCCESS;
}

/* A device that connects two machines has descriptors, too, but their memory cannot be reached. */
static doca_error_t
export_native(const struct doca_mmap *mmap, const struct doca_dev *dev,
		struct rte_comch_export **export)
{
	*export = rte_comch_export_create(impl_dev_id(dev), mmap->addr, mmap->len,
		impl_mmap_is_writable(mmap) ? RTE_COMCH_EXPORT_F_WRITE : 0);
	return *export != NULL || rte_errno == ENOTSUP ? DOCA_SUCCESS : impl_err(-rte_errno);
}

static doca_error_t
make_export(struct doca_mmap *mmap, const struct doca_dev *dev, struct impl_mmap_export **out)
{
	struct impl_mmap_export *e;
	struct mmap_desc d;
	doca_error_t ret;

	e = calloc(1, sizeof(*e) + sizeof(d));
	if (e == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = export_native(mmap, dev, &e->export);
	if (ret == DOCA_SUCCESS)
		ret = describe(mmap, dev, e->export, &d);
	if (ret != DOCA_SUCCESS) {
		rte_comch_export_destroy(e->export);
		free(e);
		return ret;
	}
	e->dev = dev;
	e->len = sizeof(d);
	memcpy(e->desc, &d, sizeof(d));
	SLIST_INSERT_HEAD(&mmap->exports, e, next);
	*out = e;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
		size_t *export_desc_len)
{
	struct impl_mmap_export *e;
	doca_error_t ret;

	if (mmap == NULL || dev == NULL || export_desc == NULL || export_desc_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = can_export(mmap, dev, PCI_ACCESS);
	if (ret != DOCA_SUCCESS)
		return ret;
	SLIST_FOREACH(e, &mmap->exports, next)
		if (e->dev == dev)
			break;
	if (e == NULL) {
		ret = make_export(mmap, dev, &e);
		if (ret != DOCA_SUCCESS)
			return ret;
	}
	*export_desc = e->desc;
	*export_desc_len = e->len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
		size_t *export_desc_len)
{
	doca_error_t ret;

	if (mmap == NULL || dev == NULL || export_desc == NULL || export_desc_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = can_export(mmap, dev, RDMA_ACCESS);
	return ret == DOCA_SUCCESS ? DOCA_ERROR_NOT_SUPPORTED : ret;
}

/* What is wrong with a descriptor that is whole, or NULL. */
static const char *
fault_of(const struct mmap_desc *d)
{
	uint32_t permissions = rte_le_to_cpu_32(d->permissions);
	uint64_t addr = rte_le_to_cpu_64(d->addr), len = rte_le_to_cpu_64(d->len);

	if (addr == 0 || len == 0 || len > UINT64_MAX - addr)
		return "invalid memory range";
	if (!impl_access_is_valid(permissions) || (permissions & PCI_ACCESS) == 0)
		return "invalid permissions";
	if (d->zero != 0 || strnlen(d->pci, sizeof(d->pci)) == sizeof(d->pci))
		return "invalid device";
	return NULL;
}

/* NULL: it cannot be reached, which tasks find out. */
static doca_error_t
import_native(const struct mmap_desc *d, struct rte_comch_import **import)
{
	static const uint8_t nowhere[sizeof(d->remote)];

	*import = NULL;
	if (memcmp(d->remote, nowhere, sizeof(nowhere)) == 0)
		return DOCA_SUCCESS;
	*import = rte_comch_import_create(d->remote);
	return *import != NULL ? DOCA_SUCCESS : impl_err(-rte_errno);
}

static doca_error_t
import(const struct mmap_desc *d, const union doca_data *user_data, struct doca_dev *dev,
		struct doca_mmap **mmap)
{
	struct doca_mmap *m;
	doca_error_t ret;

	ret = doca_mmap_create(&m);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = import_native(d, &m->import);
	if (ret == DOCA_SUCCESS)
		ret = impl_mmap_push_dev(m, dev);
	if (ret != DOCA_SUCCESS) {
		doca_mmap_destroy(m);
		return ret;
	}
	m->addr = (void *)(uintptr_t)rte_le_to_cpu_64(d->addr);
	m->len = (size_t)rte_le_to_cpu_64(d->len);
	m->permissions = rte_le_to_cpu_32(d->permissions);
	if (user_data != NULL)
		m->user_data = *user_data;
	m->is_imported = true;
	m->is_started = true;
	*mmap = m;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
		size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap)
{
	struct mmap_desc d;
	const char *fault;
	doca_error_t ret;

	if (export_desc == NULL || !impl_dev_is_one(dev) || mmap == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_desc_read(&desc_kind, export_desc, export_desc_len, &d);
	if (ret != DOCA_SUCCESS)
		return ret;
	fault = fault_of(&d);
	if (fault != NULL) {
		IMPL_ERR("mmap descriptor: %s", fault);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return import(&d, user_data, dev, mmap);
}

/* All devices support export and import. */
static doca_error_t
say_supported(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	if (devinfo == NULL || supported == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*supported = 1;
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
{
	return say_supported(devinfo, mmap_export);
}

doca_error_t
doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
		uint8_t *from_export)
{
	return say_supported(devinfo, from_export);
}
