/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DEV_105_H
#define COMCH_DOCA_DEV_105_H

/**
 * @file
 * Functions of doca_dev.h until DOCA 2.2 whose names or arguments have changed since.
 * doca_dev.h includes this header in these generations.
 *
 *     doca_devinfo_list_create(&list, &n)
 *     ... doca_devinfo_get_pci_addr(list[i], &bdf)                        1.5
 *     ... doca_devinfo_get_is_pci_addr_equal(list[i], "03:00.0", &equal)  2.0 to 2.2
 *     doca_dev_open(list[i], &dev)
 *     doca_devinfo_list_destroy(list)
 *     doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &reps, &n)   DPU only
 *
 * "As" means: an older name of that function, with the same errors and thread rule.
 */

#include <stdint.h>

#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Exclusive upper bounds of the parts of a PCI address
 * @{
 */
#define PCI_FUNCTION_MAX_VALUE 8
#define PCI_DEVICE_MAX_VALUE 32
#define PCI_BUS_MAX_VALUE 256
/** @} */

/** A PCI address without its domain. */
struct doca_pci_bdf {
	__extension__ union {
		uint16_t raw; /**< The whole address; the bit order depends on the compiler. */
		__extension__ struct {
			__extension__ uint16_t bus : 8;
			__extension__ uint16_t device : 5;
			__extension__ uint16_t function : 3;
		};
	};
};

/** Representors to list; all but ALL can be combined with "|". */
enum doca_dev_rep_filter {
	DOCA_DEV_REP_FILTER_ALL = 0,             /**< All representors. */
	DOCA_DEV_REP_FILTER_NET = 1 << 1,        /**< Network functions, as in the device table. */
	DOCA_DEV_REP_FILTER_VIRTIO_FS = 1 << 2,  /**< Emulated; comch has none. */
	DOCA_DEV_REP_FILTER_VIRTIO_NET = 1 << 3, /**< Emulated; comch has none. */
	DOCA_DEV_REP_FILTER_VIRTIO_BLK = 1 << 4, /**< Emulated; comch has none. */
	DOCA_DEV_REP_FILTER_NVME = 1 << 5,       /**< Emulated; comch has none. */
};

/** As doca_devinfo_create_list(). */
DOCA_STABLE
doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
		COMCH_DOCA_SYMBOL(doca_devinfo_create_list);

/** As doca_devinfo_destroy_list(). */
DOCA_STABLE
doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list)
		COMCH_DOCA_SYMBOL(doca_devinfo_destroy_list);

/**
 * List the representors of an open device of the DPU.
 *
 * @param dev
 *   The device.
 * @param filter
 *   Of enum doca_dev_rep_filter.
 * @param[out] dev_list_rep
 *   As for doca_devinfo_rep_create_list(); doca_devinfo_rep_list_destroy() frees it.
 * @param[out] nb_devs_rep
 *   Number of representors.
 * @return As doca_devinfo_rep_create_list().
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter,
		struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep);

/** As doca_devinfo_rep_destroy_list(). */
DOCA_STABLE
doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **dev_list_rep)
		COMCH_DOCA_SYMBOL(doca_devinfo_rep_destroy_list);

/** PCI address of a device. An SF has the address of its PF. */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo,
		struct doca_pci_bdf *pci_addr);

/** PCI address of the function on the host. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo,
		struct doca_pci_bdf *pci_addr);

/** As doca_devinfo_is_equal_pci_addr(). */
DOCA_STABLE
doca_error_t doca_devinfo_get_is_pci_addr_equal(const struct doca_devinfo *devinfo,
		const char *pci_addr_str, uint8_t *is_equal)
		COMCH_DOCA_SYMBOL(doca_devinfo_is_equal_pci_addr);

/** As doca_devinfo_rep_is_equal_pci_addr(). */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep,
		const char *pci_addr_str, uint8_t *is_equal)
		COMCH_DOCA_SYMBOL(doca_devinfo_rep_is_equal_pci_addr);

/** As doca_devinfo_cap_is_hotplug_manager_supported(). */
DOCA_STABLE
doca_error_t doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
		uint8_t *supported)
		COMCH_DOCA_SYMBOL(doca_devinfo_cap_is_hotplug_manager_supported);

/** As doca_mmap_cap_is_export_pci_supported(). */
DOCA_STABLE
doca_error_t doca_devinfo_get_is_mmap_export_supported(const struct doca_devinfo *devinfo,
		uint8_t *supported) COMCH_DOCA_SYMBOL(doca_mmap_cap_is_export_pci_supported);

/** As doca_mmap_cap_is_create_from_export_pci_supported(). */
DOCA_STABLE
doca_error_t doca_devinfo_get_is_mmap_from_export_supported(const struct doca_devinfo *devinfo,
		uint8_t *supported)
		COMCH_DOCA_SYMBOL(doca_mmap_cap_is_create_from_export_pci_supported);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_DEV_105_H */
