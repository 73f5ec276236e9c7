/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * doca_dev.h as programs of DOCA 1.2 to 2.2 see it, on the built-in table; built
 * once for each side.
 */

#include <doca_dev.h>

#include "common/result.h"
#include "t_main.h"

#ifdef DOCA_ARCH_DPU
#define IS_DPU 1
#define NB_DEVS 1
#define BUS 0x03
#define PCI "0000:03:00.0"
#else
#define IS_DPU 0
#define NB_DEVS 5
#define BUS 0xb1
#define PCI "b1:00.0"
#endif

static struct doca_dev *
open_dev(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t nb;

	T_GETS(doca_devinfo_list_create(&list, &nb), nb, NB_DEVS);
	T_OK(doca_dev_open(list[0], &dev));
	T_OK(doca_devinfo_list_destroy(list));
	return dev;
}

T_CASE(lists)
{
	struct doca_devinfo **list;
	uint32_t nb;

	T_REFUSES_NULL(doca_devinfo_list_create, &list, &nb);
	T_INVALID(doca_devinfo_list_destroy(NULL));
	T_OK(doca_dev_close(open_dev()));
}

T_CASE(addresses)
{
	struct doca_pci_bdf bdf = { .raw = 0xffff };
	struct doca_devinfo *info;
	struct doca_dev *dev = open_dev();
	uint8_t equal = 7;

	info = doca_dev_as_devinfo(dev);
	T_EQ(sizeof(bdf), 2);
	T_OK(doca_devinfo_get_pci_addr(info, &bdf));
	T_EQ(bdf.bus, BUS);
	T_EQ(bdf.device, 0);
	T_EQ(bdf.function, 0);
	bdf.bus = PCI_BUS_MAX_VALUE - 1;
	bdf.device = PCI_DEVICE_MAX_VALUE - 1;
	bdf.function = PCI_FUNCTION_MAX_VALUE - 1;
	T_EQ(bdf.raw, 0xffff);
	T_REFUSES_NULL(doca_devinfo_get_pci_addr, info, &bdf);
	T_GETS(doca_devinfo_get_is_pci_addr_equal(info, PCI, &equal), equal, 1);
	T_GETS(doca_devinfo_get_is_pci_addr_equal(info, "ff:00.0", &equal), equal, 0);
	T_INVALID(doca_devinfo_get_is_pci_addr_equal(info, "ff", &equal));
	T_INVALID(doca_devinfo_get_is_pci_addr_equal(NULL, PCI, &equal));
	T_INVALID(doca_devinfo_get_is_pci_addr_equal(info, PCI, NULL));
	T_OK(doca_dev_close(dev));
}

T_CASE(capabilities)
{
	struct doca_dev *dev = open_dev();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint8_t yes = 7;

	T_GETS(doca_devinfo_get_is_hotplug_manager_supported(info, &yes), yes, 0);
	T_GETS(doca_devinfo_get_is_mmap_export_supported(info, &yes), yes, 1);
	yes = 7;
	T_GETS(doca_devinfo_get_is_mmap_from_export_supported(info, &yes), yes, 1);
	T_REFUSES_NULL(doca_devinfo_get_is_hotplug_manager_supported, info, &yes);
	T_REFUSES_NULL(doca_devinfo_get_is_mmap_export_supported, info, &yes);
	T_REFUSES_NULL(doca_devinfo_get_is_mmap_from_export_supported, info, &yes);
	T_OK(doca_dev_close(dev));
}

static void
check_reps(struct doca_devinfo_rep **reps)
{
	enum doca_pci_func_type type;
	struct doca_dev_rep *rep;
	struct doca_pci_bdf bdf;
	uint8_t equal = 7;

	T_OK(doca_devinfo_rep_get_pci_addr(reps[0], &bdf));
	T_EQ(bdf.bus, 0xb1);
	T_EQ(bdf.device, 0);
	T_EQ(bdf.function, 0);
	T_REFUSES_NULL(doca_devinfo_rep_get_pci_addr, reps[0], &bdf);
	T_GETS(doca_devinfo_rep_get_is_pci_addr_equal(reps[0], "B1:00.0", &equal), equal, 1);
	T_GETS(doca_devinfo_rep_get_is_pci_addr_equal(reps[0], "b1:00.7", &equal), equal, 0);
	T_INVALID(doca_devinfo_rep_get_is_pci_addr_equal(reps[0], "", &equal));
	T_INVALID(doca_devinfo_rep_get_is_pci_addr_equal(NULL, "b1:00.0", &equal));
	T_INVALID(doca_devinfo_rep_get_is_pci_addr_equal(reps[0], "b1:00.0", NULL));
	T_GETS(doca_devinfo_rep_get_pci_func_type(reps[0], &type), type, DOCA_PCI_FUNC_PF);
	T_EQ(DOCA_PCI_FUNC_VF, 1);
	T_EQ(DOCA_PCI_FUNC_SF, 2);
	T_OK(doca_dev_rep_open(reps[0], &rep));
	T_OK(doca_devinfo_rep_list_destroy(reps));
	T_OK(doca_dev_rep_close(rep));
}

T_CASE(representors)
{
	static const struct {
		int filter;
		bool net;
	} filters[] = {
		{ DOCA_DEV_REP_FILTER_ALL, true },
		{ DOCA_DEV_REP_FILTER_NET, true },
		{ DOCA_DEV_REP_FILTER_NET | DOCA_DEV_REP_FILTER_NVME, true },
		{ DOCA_DEV_REP_FILTER_VIRTIO_FS, false },
		{ DOCA_DEV_REP_FILTER_VIRTIO_NET, false },
		{ DOCA_DEV_REP_FILTER_VIRTIO_BLK, false },
		{ DOCA_DEV_REP_FILTER_NVME, false },
	};
	struct doca_dev *dev = open_dev();
	struct doca_devinfo_rep **reps;
	doca_error_t ret;
	unsigned int i;
	uint32_t nb;

	for (i = 0; i < RTE_DIM(filters); i++) {
		ret = doca_devinfo_rep_list_create(dev, filters[i].filter, &reps, &nb);
		T_EQ(ret, IS_DPU ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
		if (ret != DOCA_SUCCESS)
			continue;
		T_EQ(nb > 0, filters[i].net);
		if (nb > 0)
			check_reps(reps);
		else
			T_OK(doca_devinfo_rep_list_destroy(reps));
	}
	T_INVALID(doca_devinfo_rep_list_create(dev, 1, &reps, &nb));
	T_INVALID(doca_devinfo_rep_list_create(dev, 1 << 6, &reps, &nb));
	T_INVALID(doca_devinfo_rep_list_create(dev, 1 | DOCA_DEV_REP_FILTER_NVME, &reps, &nb));
	T_INVALID(doca_devinfo_rep_list_create(NULL, 0, &reps, &nb));
	T_INVALID(doca_devinfo_rep_list_create(dev, 0, NULL, &nb));
	T_INVALID(doca_devinfo_rep_list_create(dev, 0, &reps, NULL));
	T_INVALID(doca_devinfo_rep_list_destroy(NULL));
	T_OK(doca_dev_close(dev));
}
