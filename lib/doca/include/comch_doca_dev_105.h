/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DEV_105_H
#define COMCH_DOCA_DEV_105_H

/**
 * @file
 * What doca_dev.h was until DOCA 2.2, and has other names or arguments since:
 * included by it, in these generations.
 *
 *     doca_devinfo_list_create(&list, &n)
 *     ... doca_devinfo_get_pci_addr(list[i], &bdf)                        1.5
 *     ... doca_devinfo_get_is_pci_addr_equal(list[i], "03:00.0", &equal)  2.0 to 2.2
 *     doca_dev_open(list[i], &dev)
 *     doca_devinfo_list_destroy(list)
 *     doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &reps, &n)   DPU only
 *
 * A function that says "as" is the newer one under another name, with the same
 * errors and the same rule for threads.
 */

#include <stdint.h>

#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Numbers that the parts of a PCI address stay below
 * @{
 */
#define PCI_FUNCTION_MAX_VALUE 8
#define PCI_DEVICE_MAX_VALUE 32
#define PCI_BUS_MAX_VALUE 256
/** @} */

/** A PCI address, without its domain. */
struct doca_pci_bdf {
	__extension__ union {
		uint16_t raw; /**< All of it; how it is put together is the compiler's. */
		__extension__ struct {
			__extension__ uint16_t bus : 8;
			__extension__ uint16_t device : 5;
			__extension__ uint16_t function : 3;
		};
	};
};

/** Which representors to list; those but ALL may be combined by "|". */
enum doca_dev_rep_filter {
	DOCA_DEV_REP_FILTER_ALL = 0,             /**< All that there are. */
	DOCA_DEV_REP_FILTER_NET = 1 << 1,        /**< Network functions: those of the table. */
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
 *   As of doca_devinfo_rep_create_list(); end it by
 *   doca_devinfo_rep_list_destroy().
 * @param[out] nb_devs_rep
 *   Number of representors.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: an unknown filter, too.
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_NOT_SUPPORTED: a device of the host has none.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter,
		struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep);

/** As doca_devinfo_rep_destroy_list(). */
DOCA_STABLE
doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **dev_list_rep)
		COMCH_DOCA_SYMBOL(doca_devinfo_rep_destroy_list);

/**
 * PCI address of a device; an SF has that of its PF.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo,
		struct doca_pci_bdf *pci_addr);

/**
 * PCI address that the function has on the host.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
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
