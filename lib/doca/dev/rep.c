/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Representors: the list, their properties, and open ones. An open representor uses its
 * device.
 */

#include <stdlib.h>

#include "dev/dev.h"
#include "dev/devinfo.h"
#include "dev/lock.h"
#include "dev/table.h"

#define ALL_FILTERS (DOCA_DEVINFO_REP_FILTER_NET | DOCA_DEVINFO_REP_FILTER_EMULATED)

doca_error_t
doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
		struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep)
{
	bool has_net = filter == DOCA_DEVINFO_REP_FILTER_ALL ||
		(filter & DOCA_DEVINFO_REP_FILTER_NET) != 0;
	struct doca_devinfo_rep **list;
	struct impl_table *table;
	struct impl_entry *e;
	uint32_t nb = 0;
	doca_error_t ret;

	if (!impl_dev_is_one(dev) || dev_list_rep == NULL || nb_devs_rep == NULL ||
			(filter & ~ALL_FILTERS) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (!dev->info->is_dpu)
		return DOCA_ERROR_NOT_SUPPORTED;
	ret = impl_table_get(&table);
	if (ret != DOCA_SUCCESS)
		return ret;
	list = calloc(dev->info->nb_reps + 1u, sizeof(*list));
	if (list == NULL)
		return DOCA_ERROR_NO_MEMORY;
	IMPL_TABLE_FOREACH(e, table)
		if (has_net && e->is_func && e->rep.owner == dev->info)
			list[nb++] = &e->rep;
	*dev_list_rep = list;
	*nb_devs_rep = nb;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_list_create(struct doca_dev *dev, int filter,
		struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep)
{
	const int emulated = DOCA_DEV_REP_FILTER_VIRTIO_FS | DOCA_DEV_REP_FILTER_VIRTIO_NET |
		DOCA_DEV_REP_FILTER_VIRTIO_BLK | DOCA_DEV_REP_FILTER_NVME;

	/* Map the emulated kinds of older releases to the one of today; other values stay. */
	if ((filter & emulated) != 0)
		filter = (filter & ~emulated) | DOCA_DEVINFO_REP_FILTER_EMULATED;
	return doca_devinfo_rep_create_list(dev, filter, dev_list_rep, nb_devs_rep);
}

doca_error_t
doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	if (dev_list_rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	/* The infos are part of the table. */
	free(dev_list_rep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
	doca_error_t ret = DOCA_ERROR_INVALID_VALUE;
	struct doca_dev *dev;

	if (!IMPL_TABLE_HAS(devinfo, rep) || dev_rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	dev = &devinfo->owner->dev;
	pthread_mutex_lock(&impl_dev_lock);
	if (dev->nb_opens > 0) {
		if (devinfo->rep.nb_opens++ == 0)
			dev->nb_users++;
		*dev_rep = &devinfo->rep;
		ret = DOCA_SUCCESS;
	}
	pthread_mutex_unlock(&impl_dev_lock);
	return ret;
}

static doca_error_t
close_locked(struct doca_dev_rep *rep)
{
	if (rep->nb_opens == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (rep->nb_opens == 1 && rep->nb_users > 0)
		return DOCA_ERROR_IN_USE;
	if (--rep->nb_opens == 0)
		rep->info->owner->dev.nb_users--;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dev_rep_close(struct doca_dev_rep *dev)
{
	doca_error_t ret;

	if (!impl_rep_is_one(dev))
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&impl_dev_lock);
	ret = close_locked(dev);
	pthread_mutex_unlock(&impl_dev_lock);
	return ret;
}

struct doca_devinfo_rep *
doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
	return dev_rep == NULL ? NULL : dev_rep->info;
}

doca_error_t
doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
		uint32_t size)
{
	if (devinfo_rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_copy(devinfo_rep->vuid, sizeof(devinfo_rep->vuid),
		DOCA_DEVINFO_REP_VUID_SIZE, rep_vuid, size);
}

doca_error_t
doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str)
{
	if (devinfo_rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_get_pci(&devinfo_rep->host->pci, pci_addr_str);
}

doca_error_t
doca_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo,
		struct doca_pci_bdf *pci_addr)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_get_bdf(&devinfo->host->pci, pci_addr);
}

doca_error_t
doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
		enum doca_pci_func_type *pci_func_type)
{
	if (devinfo_rep == NULL || pci_func_type == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*pci_func_type = devinfo_rep->host->type;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_host_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *host_index)
{
	if (devinfo_rep == NULL || host_index == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*host_index = devinfo_rep->host_index;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_pf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *pf_index)
{
	if (devinfo_rep == NULL || pf_index == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*pf_index = devinfo_rep->host->pf;
	return DOCA_SUCCESS;
}

/* The index of a function of this type. */
static doca_error_t
get_index(const struct doca_devinfo_rep *devinfo_rep, enum doca_pci_func_type type,
		uint32_t *index)
{
	if (devinfo_rep == NULL || index == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (devinfo_rep->host->type != type)
		return DOCA_ERROR_NOT_SUPPORTED;
	*index = devinfo_rep->host->index;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_vf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *vf_index)
{
	return get_index(devinfo_rep, DOCA_PCI_FUNC_TYPE_VF, vf_index);
}

doca_error_t
doca_devinfo_rep_get_sf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *sf_index)
{
	return get_index(devinfo_rep, DOCA_PCI_FUNC_TYPE_SF, sf_index);
}

doca_error_t
doca_devinfo_rep_get_iface_index(const struct doca_devinfo_rep *devinfo_rep,
		uint32_t *iface_index)
{
	if (devinfo_rep == NULL || iface_index == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*iface_index = devinfo_rep->iface_index;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id)
{
	if (devinfo_rep == NULL || vhca_id == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*vhca_id = devinfo_rep->host->vhca_id;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_hotplug)
{
	if (devinfo_rep == NULL || is_hotplug == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*is_hotplug = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name,
		uint32_t size)
{
	if (devinfo_rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_copy(devinfo_rep->iface, sizeof(devinfo_rep->iface),
		DOCA_DEVINFO_IFACE_NAME_SIZE, iface_name, size);
}

doca_error_t
doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
		const char *pci_addr_str, uint8_t *is_equal)
{
	if (devinfo_rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_cmp_pci(&devinfo_rep->host->pci, pci_addr_str, is_equal);
}

bool
impl_rep_is_one(const struct doca_dev_rep *rep)
{
	return IMPL_TABLE_HAS(rep, rep.rep);
}

struct doca_dev *
impl_rep_dev(const struct doca_dev_rep *rep)
{
	return &rep->info->owner->dev;
}

uint16_t
impl_rep_id(const struct doca_dev_rep *rep)
{
	return rep->info->id;
}

void
impl_rep_hold(struct doca_dev_rep *rep)
{
	pthread_mutex_lock(&impl_dev_lock);
	rep->nb_users++;
	pthread_mutex_unlock(&impl_dev_lock);
}

void
impl_rep_drop(struct doca_dev_rep *rep)
{
	pthread_mutex_lock(&impl_dev_lock);
	rep->nb_users--;
	pthread_mutex_unlock(&impl_dev_lock);
}
