/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DEV_H
#define DOCA_DEV_H

/**
 * @file
 * Devices, and representors: what the DPU sees of the host's functions.
 *
 * With comch there is no hardware to ask: the device table defines devices and
 * representors with their addresses and names. A file can replace the built-in table:
 * see doc/guides/doca/devices.md. A program for the DPU sees the DPU's devices and
 * their representors; a program for the host sees the host's functions.
 *
 *     doca_devinfo_create_list(&list, &n)
 *     ... doca_devinfo_is_equal_pci_addr(list[i], "03:00.0", &equal)
 *     doca_dev_open(list[i], &dev)
 *     doca_devinfo_destroy_list(list)
 *     doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &n)   DPU only
 *     doca_dev_rep_open(reps[i], &rep)
 *     doca_devinfo_rep_destroy_list(reps)
 *     ...
 *     doca_dev_rep_close(rep)
 *     doca_dev_close(dev)
 *
 * Threads: any, for all functions. Call them during set-up: the first doca_dev_open()
 * of a process starts EAL, in a separate thread, which takes about 100 ms.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Core guide 2.10, section "DOCA Device".
 */

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device that can be opened. */
struct doca_devinfo;
/** A representor that can be opened. */
struct doca_devinfo_rep;
/** An open device. */
struct doca_dev;
/** An open representor. */
struct doca_dev_rep;

/** Representors to list; all but ALL can be combined with "|". */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,           /**< All representors. */
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,      /**< Network functions, from the table. */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2, /**< Emulated devices: comch has none. */
};

/** @name Minimum sizes of the getters' buffers in bytes; texts include their NUL
 * @{
 */
#define DOCA_DEVINFO_VUID_SIZE 128
#define DOCA_DEVINFO_IPV4_ADDR_SIZE 4
#define DOCA_DEVINFO_IPV6_ADDR_SIZE 16
#define DOCA_DEVINFO_MAC_ADDR_SIZE 6
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64
/** "0000:03:00.0" */
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13
/** "03:00.0" */
#define DOCA_DEVINFO_PCI_BDF_SIZE 8
#define DOCA_DEVINFO_REP_VUID_SIZE 128
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE 8
/** @} */

/** @name Lists
 * @{
 */

/**
 * List the devices of this side, in the order of the device table.
 *
 * @param[out] dev_list
 *   The list: *nb_devs* pointers and a NULL. doca_devinfo_destroy_list() frees it;
 *   devices opened from it stay open.
 * @param[out] nb_devs
 *   Number of devices.
 * @return
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_BAD_CONFIG: the device table is unreadable or invalid; a line on
 *     stderr says where.
 *   - DOCA_ERROR_INITIALIZATION: the program's side, host or DPU, is unknown; a line on
 *     stderr says how to set it.
 */
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/** Free a list of devices. */
DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * List the representors of an open device of the DPU.
 *
 * @param dev
 *   The device.
 * @param filter
 *   Of enum doca_devinfo_rep_filter.
 * @param[out] dev_list_rep
 *   The list: *nb_devs_rep* pointers, possibly none, and a NULL.
 *   doca_devinfo_rep_destroy_list() frees it.
 * @param[out] nb_devs_rep
 *   Number of representors.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: unknown filter.
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_NOT_SUPPORTED: a device of the host, which has none.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
		struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep);

/** Free a list of representors; those that were opened stay open. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/** @} */
/** @name Open and close
 * @{
 */

/**
 * Open a device; doca_dev_close() closes it. Opening an open device returns the same
 * object, which must then be closed once more.
 *
 * @return
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_INITIALIZATION: EAL or the device failed to start; a line on stderr
 *     says why.
 *   - DOCA_ERROR_NOT_SUPPORTED: this process is a fork of one that had started EAL.
 */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Close a device, once for each time it was opened. No effect on NULL.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not open.
 *   - DOCA_ERROR_IN_USE: the last close, while representors, mmaps, servers, clients or
 *     other objects use it.
 *   - DOCA_ERROR_NOT_SUPPORTED: as doca_dev_open().
 */
DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Reclaim resources sooner. comch's devices do not delay that.
 *
 * @return DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/**
 * Open a representor; doca_dev_rep_close() closes it. Opening an open one returns the
 * same object, which must then be closed once more. Its device cannot be closed before
 * it.
 *
 * @return DOCA_ERROR_INVALID_VALUE: its device is not open.
 */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * Close a representor, once for each time it was opened.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not open.
 *   - DOCA_ERROR_IN_USE: the last close, while a server uses it.
 */
DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/** Properties of an open device, valid until its last close; NULL for NULL. */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/** Properties of an open representor, valid until its last close; NULL for NULL. */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/** @} */
/** @name Properties of devices
 * @{
 */

/**
 * PCI address of a device, such as "0000:03:00.0". An SF has the address of its PF.
 *
 * @param devinfo
 *   The device.
 * @param[out] pci_addr_str
 *   Buffer of DOCA_DEVINFO_PCI_ADDR_SIZE bytes.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
		char *pci_addr_str);

/**
 * Whether a device has a PCI address.
 *
 * @param devinfo
 *   The device.
 * @param pci_addr_str
 *   "0000:03:00.0", or "03:00.0" for domain 0; hex digits of either case.
 * @param[out] is_equal
 *   1 or 0.
 * @return DOCA_ERROR_INVALID_VALUE: malformed address.
 */
DOCA_STABLE
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
		const char *pci_addr_str, uint8_t *is_equal);

/**
 * IPv4 address of a device, in network byte order.
 *
 * @param devinfo
 *   The device.
 * @param[out] ipv4_addr
 *   DOCA_DEVINFO_IPV4_ADDR_SIZE bytes are written.
 * @param size
 *   Size of *ipv4_addr* in bytes.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: buffer too small.
 *   - DOCA_ERROR_NOT_FOUND: the device has no IPv4 address.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
		uint32_t size);

/**
 * IPv6 address of a device, in network byte order; every device has one.
 *
 * @param devinfo
 *   The device.
 * @param[out] ipv6_addr
 *   DOCA_DEVINFO_IPV6_ADDR_SIZE bytes are written.
 * @param size
 *   Size of *ipv6_addr* in bytes.
 * @return DOCA_ERROR_INVALID_VALUE: buffer too small.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
		uint32_t size);

/**
 * MAC address of a device.
 *
 * @param devinfo
 *   The device.
 * @param[out] mac_addr
 *   DOCA_DEVINFO_MAC_ADDR_SIZE bytes are written.
 * @param size
 *   Size of *mac_addr* in bytes.
 * @return DOCA_ERROR_INVALID_VALUE: buffer too small.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
		uint32_t size);

/**
 * Name of a device's network interface, such as "p0". It is from the device table and
 * need not exist in this system.
 *
 * @param devinfo
 *   The device.
 * @param[out] iface_name
 *   The name with its NUL.
 * @param size
 *   Size of *iface_name* in bytes, at least DOCA_DEVINFO_IFACE_NAME_SIZE.
 * @return DOCA_ERROR_INVALID_VALUE: buffer too small.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
		uint32_t size);

/**
 * Name of a device for RDMA programs, such as "mlx5_0".
 *
 * @param devinfo
 *   The device.
 * @param[out] ibdev_name
 *   The name with its NUL.
 * @param size
 *   Size of *ibdev_name* in bytes, at least DOCA_DEVINFO_IBDEV_NAME_SIZE.
 * @return DOCA_ERROR_INVALID_VALUE: buffer too small.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
		uint32_t size);

/** InfiniBand local identifier of a device: 0, as for any Ethernet port. */
DOCA_STABLE
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/** Rate of a device's port from the device table, in bits per second. It limits nothing. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo,
		uint64_t *active_rate);

#if COMCH_DOCA_GENERATION >= 300

/** Index of a device among all functions of the device table, both sides included. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/** Type of a device's function. Devices of the DPU are PFs. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
		enum doca_pci_func_type *pci_func_type);

/**
 * Index of an SF: 7 for "pf0sf7".
 *
 * @return DOCA_ERROR_NOT_SUPPORTED: not an SF.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

#endif /* COMCH_DOCA_GENERATION >= 300 */

/** @} */
/** @name Capabilities of devices
 * @{
 */

/** Whether the device manages hot-plugged functions: 0. */
DOCA_STABLE
doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
		uint8_t *is_hotplug_manager);

/** Whether the device can moderate notifications: 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
		const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported);

/** Whether DOCA_DEVINFO_REP_FILTER_ALL is supported: 1 on the DPU, 0 on the host. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
		uint8_t *filter_all_supported);

/** Whether DOCA_DEVINFO_REP_FILTER_NET is supported: 1 on the DPU, 0 on the host. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
		uint8_t *filter_net_supported);

/**
 * Whether DOCA_DEVINFO_REP_FILTER_EMULATED is supported: 1 on the DPU, where the list
 * is empty; 0 on the host.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(
		const struct doca_devinfo *devinfo, uint8_t *filter_emulated_supported);

/** Whether doca_dev_accelerate_resource_reclaim() is supported: 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
		const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim);

/** @} */
/** @name Properties of representors
 * @{
 */

/**
 * Unique text identifier of the function.
 *
 * @param devinfo_rep
 *   The representor.
 * @param[out] rep_vuid
 *   The text with its NUL.
 * @param size
 *   Size of *rep_vuid* in bytes, at least DOCA_DEVINFO_REP_VUID_SIZE.
 * @return DOCA_ERROR_INVALID_VALUE: buffer too small.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep,
		char *rep_vuid, uint32_t size);

/**
 * PCI address of the function on the host, such as "0000:b1:00.2". An SF has the
 * address of its PF.
 *
 * @param devinfo_rep
 *   The representor.
 * @param[out] pci_addr_str
 *   Buffer of DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
		char *pci_addr_str);

/** Type of the function. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
		enum doca_pci_func_type *pci_func_type);

/** Whether the function was hot-plugged: 0. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
		uint8_t *is_hotplug);

/**
 * Index of the host that the function belongs to, which the device table sets: by default 1.
 * 0 would be the DPU itself.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_host_index(const struct doca_devinfo_rep *devinfo_rep,
		uint32_t *host_index);

/** Index of the PF that the function is or belongs to: 0 for "pf0", "pf0vf3" and "pf0sf7". */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pf_index(const struct doca_devinfo_rep *devinfo_rep,
		uint32_t *pf_index);

/**
 * Index of a VF: 3 for "pf0vf3".
 *
 * @return DOCA_ERROR_NOT_SUPPORTED: not a VF.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vf_index(const struct doca_devinfo_rep *devinfo_rep,
		uint32_t *vf_index);

/**
 * Index of an SF: 7 for "pf0sf7".
 *
 * @return DOCA_ERROR_NOT_SUPPORTED: not an SF.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_sf_index(const struct doca_devinfo_rep *devinfo_rep,
		uint32_t *sf_index);

/**
 * Index of the representor's network interface on the DPU, which the device table sets: by
 * default its number among the representors of its device, from 1. None exists in the system.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_index(const struct doca_devinfo_rep *devinfo_rep,
		uint32_t *iface_index);

/** Index of the function among all functions of the device table, both sides included. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep,
		uint16_t *vhca_id);

/**
 * Name of the representor's network interface on the DPU, such as "pf0hpf".
 *
 * @param devinfo_rep
 *   The representor.
 * @param[out] iface_name
 *   The name with its NUL.
 * @param size
 *   Size of *iface_name* in bytes, at least DOCA_DEVINFO_IFACE_NAME_SIZE.
 * @return DOCA_ERROR_INVALID_VALUE: buffer too small.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
		char *iface_name, uint32_t size);

/**
 * Whether the function has a PCI address on the host.
 *
 * @param devinfo_rep
 *   The representor.
 * @param pci_addr_str
 *   "0000:b1:00.2", or "b1:00.2" for domain 0; hex digits of either case.
 * @param[out] is_equal
 *   1 or 0.
 * @return DOCA_ERROR_INVALID_VALUE: malformed address.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
		const char *pci_addr_str, uint8_t *is_equal);

/** @} */

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_dev_105.h>
#endif

#endif /* DOCA_DEV_H */
