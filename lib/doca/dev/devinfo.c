/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The list of devices, and their properties.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "dev/devinfo.h"
#include "dev/role.h"
#include "dev/table.h"

doca_error_t
doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	struct doca_devinfo **list;
	struct impl_table *table;
	struct impl_entry *e;
	uint32_t nb = 0;
	doca_error_t ret;
	bool is_dpu;

	if (dev_list == NULL || nb_devs == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_role_is_dpu(&is_dpu);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_table_get(&table);
	if (ret != DOCA_SUCCESS)
		return ret;
	list = calloc((is_dpu ? table->nb_devs : table->nb_funcs) + 1u, sizeof(*list));
	if (list == NULL)
		return DOCA_ERROR_NO_MEMORY;
	IMPL_TABLE_FOREACH(e, table)
		if (e->info.is_dpu == is_dpu)
			list[nb++] = &e->info;
	*dev_list = list;
	*nb_devs = nb;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	if (dev_list == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	/* The infos are part of the table. */
	free(dev_list);
	return DOCA_SUCCESS;
}

doca_error_t
impl_devinfo_copy(const void *what, size_t len, size_t min_size, void *out, uint32_t size)
{
	if (out == NULL || size < min_size)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(out, what, len);
	return DOCA_SUCCESS;
}

doca_error_t
impl_devinfo_get_pci(const struct rte_pci_addr *pci, char *text)
{
	if (text == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	rte_pci_device_name(pci, text, PCI_PRI_STR_SIZE);
	return DOCA_SUCCESS;
}

doca_error_t
impl_devinfo_cmp_pci(const struct rte_pci_addr *pci, const char *text, uint8_t *is_equal)
{
	struct rte_pci_addr other;

	if (text == NULL || is_equal == NULL || !impl_pci_parse(text, &other))
		return DOCA_ERROR_INVALID_VALUE;
	*is_equal = rte_pci_addr_cmp(pci, &other) == 0;
	return DOCA_SUCCESS;
}

doca_error_t
impl_devinfo_get_bdf(const struct rte_pci_addr *pci, struct doca_pci_bdf *bdf)
{
	if (bdf == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	bdf->bus = pci->bus;
	bdf->device = pci->devid;
	bdf->function = pci->function;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo, struct doca_pci_bdf *pci_addr)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_get_bdf(&devinfo->pci, pci_addr);
}

doca_error_t
doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_get_pci(&devinfo->pci, pci_addr_str);
}

doca_error_t
doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str,
		uint8_t *is_equal)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_cmp_pci(&devinfo->pci, pci_addr_str, is_equal);
}

doca_error_t
doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size)
{
	if (devinfo == NULL || ipv4_addr == NULL || size < DOCA_DEVINFO_IPV4_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	if (!devinfo->has_ipv4)
		return DOCA_ERROR_NOT_FOUND;
	memcpy(ipv4_addr, devinfo->ipv4, sizeof(devinfo->ipv4));
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_copy(devinfo->ipv6, sizeof(devinfo->ipv6),
		DOCA_DEVINFO_IPV6_ADDR_SIZE, ipv6_addr, size);
}

doca_error_t
doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_copy(devinfo->mac, sizeof(devinfo->mac),
		DOCA_DEVINFO_MAC_ADDR_SIZE, mac_addr, size);
}

doca_error_t
doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_copy(devinfo->iface, sizeof(devinfo->iface),
		DOCA_DEVINFO_IFACE_NAME_SIZE, iface_name, size);
}

doca_error_t
doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_devinfo_copy(devinfo->ibdev, sizeof(devinfo->ibdev),
		DOCA_DEVINFO_IBDEV_NAME_SIZE, ibdev_name, size);
}

doca_error_t
doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
	if (devinfo == NULL || lid == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*lid = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate)
{
	if (devinfo == NULL || active_rate == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*active_rate = devinfo->active_rate;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id)
{
	if (devinfo == NULL || vhca_id == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*vhca_id = devinfo->vhca_id;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
		enum doca_pci_func_type *pci_func_type)
{
	if (devinfo == NULL || pci_func_type == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*pci_func_type = devinfo->type;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index)
{
	if (devinfo == NULL || sf_index == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (devinfo->type != DOCA_PCI_FUNC_TYPE_SF)
		return DOCA_ERROR_NOT_SUPPORTED;
	*sf_index = devinfo->index;
	return DOCA_SUCCESS;
}

static doca_error_t
get_cap(const struct doca_devinfo *devinfo, bool value, uint8_t *cap)
{
	if (devinfo == NULL || cap == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*cap = value;
	return DOCA_SUCCESS;
}

/* Filters are for representors, so only devices of the DPU support them. */
static doca_error_t
get_filter_cap(const struct doca_devinfo *devinfo, uint8_t *cap)
{
	return get_cap(devinfo, devinfo != NULL && devinfo->is_dpu, cap);
}

doca_error_t
doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
		uint8_t *is_hotplug_manager)
{
	return get_cap(devinfo, false, is_hotplug_manager);
}

doca_error_t
doca_devinfo_cap_is_notification_moderation_supported(const struct doca_devinfo *devinfo,
		uint8_t *is_notification_moderation_supported)
{
	return get_cap(devinfo, false, is_notification_moderation_supported);
}

doca_error_t
doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
		uint8_t *filter_all_supported)
{
	return get_filter_cap(devinfo, filter_all_supported);
}

doca_error_t
doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
		uint8_t *filter_net_supported)
{
	return get_filter_cap(devinfo, filter_net_supported);
}

doca_error_t
doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
		uint8_t *filter_emulated_supported)
{
	return get_filter_cap(devinfo, filter_emulated_supported);
}

doca_error_t
doca_devinfo_cap_is_accelerate_resource_reclaim_supported(const struct doca_devinfo *devinfo,
		uint8_t *is_accelerate_resource_reclaim)
{
	return get_cap(devinfo, false, is_accelerate_resource_reclaim);
}
