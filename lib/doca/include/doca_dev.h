/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DEV_H
#define DOCA_DEV_H

/**
 * @file
 * Devices, and what the DPU sees of the host: representors.
 *
 * With comch there is no hardware to ask: the device table names the devices and
 * representors, their addresses and names. One is built in, and a file can replace
 * it: see doc/guides/doca/devices.md. A program for the DPU sees the DPU's devices
 * and their representors, one for the host the host's functions.
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
 * Threads: any, for all functions. They are meant for set-up: the first
 * doca_dev_open() of a process starts EAL, in a thread of its own, which takes
 * some 100 ms.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE also says that a pointer is NULL.
 * A function whose @return names no more than DOCA_ERROR_INVALID_VALUE has
 * no other error.
 */

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device that may be opened. */
struct doca_devinfo;
/** A representor that may be opened. */
struct doca_devinfo_rep;
/** An open device. */
struct doca_dev;
/** An open representor. */
struct doca_dev_rep;

/** Which representors to list; those but ALL may be combined by "|". */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,           /**< All that there are. */
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,      /**< Network functions: those of the table. */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2, /**< Emulated devices: comch has none. */
};

/** @name Sizes that getters want at least, bytes; of texts, with their NUL
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
 * Reference: DOCA Core guide 2.10, section "DOCA Device".
 *
 * @param[out] dev_list
 *   The list: *nb_devs* pointers and a NULL. End it by
 *   doca_devinfo_destroy_list(); what was opened from it stays open.
 * @param[out] nb_devs
 *   Number of devices.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_BAD_CONFIG: the device table cannot be read or is wrong; a
 *     line on stderr says where.
 *   - DOCA_ERROR_INITIALIZATION: nothing says whether this is a program for the
 *     host or for the DPU; a line on stderr says how to.
 */
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/**
 * End a list of devices.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * List the representors of an open device of the DPU.
 *
 * Reference: DOCA Core guide 2.10, section "DOCA Device".
 *
 * @param dev
 *   The device.
 * @param filter
 *   Of enum doca_devinfo_rep_filter.
 * @param[out] dev_list_rep
 *   The list: *nb_devs_rep* pointers, maybe none, and a NULL. End it by
 *   doca_devinfo_rep_destroy_list().
 * @param[out] nb_devs_rep
 *   Number of representors.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: an unknown filter, too.
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_NOT_SUPPORTED: a device of the host has none.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
		struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep);

/**
 * End a list of representors; those that were opened stay open.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/** @} */
/** @name Open and close
 * @{
 */

/**
 * Open a device. Who opens a device that is open gets the same object, and has
 * to close it once more.
 *
 * Reference: DOCA Core guide 2.10, section "DOCA Device".
 *
 * @param devinfo
 *   Which.
 * @param[out] dev
 *   The device; end it by doca_dev_close().
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_INITIALIZATION: EAL or the device does not start. A line on
 *     stderr says why.
 *   - DOCA_ERROR_NOT_SUPPORTED: this process was forked by one that had
 *     started EAL.
 */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Close a device, once for each time it was opened.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: it is not open, too.
 *   - DOCA_ERROR_IN_USE: it is the last close, but representors, mmaps,
 *     servers, clients or others still use it.
 *   - DOCA_ERROR_NOT_SUPPORTED: as doca_dev_open().
 */
DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Give resources back sooner. No device of comch holds any back.
 *
 * @return DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/**
 * Open a representor. Who opens one that is open gets the same object, and has
 * to close it once more. Its device cannot be closed before it.
 *
 * @param devinfo
 *   Which.
 * @param[out] dev_rep
 *   The representor; end it by doca_dev_rep_close().
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: its device is not open, too.
 */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * Close a representor, once for each time it was opened.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: it is not open, too.
 *   - DOCA_ERROR_IN_USE: it is the last close, but a server still uses it.
 */
DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/** What an open device is; until its last close. NULL of NULL. */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/** What an open representor is; until its last close. NULL of NULL. */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/** @} */
/** @name What a device is
 * @{
 */

/**
 * PCI address of a device, as "0000:03:00.0". An SF has that of its PF.
 *
 * @param devinfo
 *   The device.
 * @param[out] pci_addr_str
 *   Room for DOCA_DEVINFO_PCI_ADDR_SIZE bytes.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
		char *pci_addr_str);

/**
 * Is this the PCI address of a device?
 *
 * @param devinfo
 *   The device.
 * @param pci_addr_str
 *   "0000:03:00.0", or "03:00.0" for domain 0; digits of either case.
 * @param[out] is_equal
 *   1 or 0.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: malformed, too.
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
 *   Of *ipv4_addr*, bytes.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: too small, too.
 *   - DOCA_ERROR_NOT_FOUND: it has none.
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
 *   Of *ipv6_addr*, bytes.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (too small, too).
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
 *   Of *mac_addr*, bytes.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (too small, too).
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
		uint32_t size);

/**
 * Name of a device's network interface, as "p0". The table's: there need be no
 * such interface in this system.
 *
 * @param devinfo
 *   The device.
 * @param[out] iface_name
 *   The name, with its NUL.
 * @param size
 *   Of *iface_name*, bytes: DOCA_DEVINFO_IFACE_NAME_SIZE at least.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (too small, too).
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
		uint32_t size);

/**
 * Name of a device as RDMA programs know it, as "mlx5_0".
 *
 * @param devinfo
 *   The device.
 * @param[out] ibdev_name
 *   The name, with its NUL.
 * @param size
 *   Of *ibdev_name*, bytes: DOCA_DEVINFO_IBDEV_NAME_SIZE at least.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (too small, too).
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
		uint32_t size);

/**
 * InfiniBand's local identifier of a device: 0, as of any Ethernet port.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/**
 * Rate of a device's port, bits a second. The table's; nothing is limited to it.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo,
		uint64_t *active_rate);

#if COMCH_DOCA_GENERATION >= 300

/**
 * Number of a device among all functions of the table, those of the other side
 * too.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/**
 * What kind of function a device is; that of the DPU is a PF.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
		enum doca_pci_func_type *pci_func_type);

/**
 * Number of an SF: 7 of "pf0sf7".
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE
 *   - DOCA_ERROR_NOT_SUPPORTED: it is no SF.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

#endif /* COMCH_DOCA_GENERATION >= 300 */

/** @} */
/** @name What a device can do
 * @{
 */

/**
 * Can functions be plugged in through it? 0.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
		uint8_t *is_hotplug_manager);

/**
 * Can it hold notifications back? 0.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
		const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported);

/**
 * Does it take DOCA_DEVINFO_REP_FILTER_ALL? 1 on the DPU, 0 on the host.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
		uint8_t *filter_all_supported);

/**
 * Does it take DOCA_DEVINFO_REP_FILTER_NET? 1 on the DPU, 0 on the host.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
		uint8_t *filter_net_supported);

/**
 * Does it take DOCA_DEVINFO_REP_FILTER_EMULATED? 1 on the DPU, where the list
 * is empty; 0 on the host.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(
		const struct doca_devinfo *devinfo, uint8_t *filter_emulated_supported);

/**
 * Does it take doca_dev_accelerate_resource_reclaim()? 0.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
		const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim);

/** @} */
/** @name What a representor is
 * @{
 */

/**
 * A text that tells this function from all others.
 *
 * @param devinfo_rep
 *   The representor.
 * @param[out] rep_vuid
 *   The text, with its NUL.
 * @param size
 *   Of *rep_vuid*, bytes: DOCA_DEVINFO_REP_VUID_SIZE at least.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (too small, too).
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep,
		char *rep_vuid, uint32_t size);

/**
 * PCI address that the function has on the host, as "0000:b1:00.2". An SF has
 * that of its PF.
 *
 * @param devinfo_rep
 *   The representor.
 * @param[out] pci_addr_str
 *   Room for DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
		char *pci_addr_str);

/**
 * What kind of function it is.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
		enum doca_pci_func_type *pci_func_type);

/**
 * Was it plugged in? 0.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
		uint8_t *is_hotplug);

/**
 * Name of the representor's network interface on the DPU, as "pf0hpf".
 *
 * @param devinfo_rep
 *   The representor.
 * @param[out] iface_name
 *   The name, with its NUL.
 * @param size
 *   Of *iface_name*, bytes: DOCA_DEVINFO_IFACE_NAME_SIZE at least.
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (too small, too).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
		char *iface_name, uint32_t size);

/**
 * Is this the PCI address that the function has on the host?
 *
 * @param devinfo_rep
 *   The representor.
 * @param pci_addr_str
 *   "0000:b1:00.2", or "b1:00.2" for domain 0; digits of either case.
 * @param[out] is_equal
 *   1 or 0.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: malformed, too.
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
