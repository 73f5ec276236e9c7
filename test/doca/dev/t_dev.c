/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * doca_dev.h on the built-in table; built once for each side, of which the
 * program's role object makes it one.
 */

#include <pthread.h>
#include <stdlib.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <rte_comch.h>
#include <rte_comch_poll.h>

#include "common/capture.h"
#include "common/file.h"
#include "common/result.h"
#include "dev/dev.h"
#include "t_main.h"

#ifdef DOCA_ARCH_DPU
#define IS_DPU true
#define NB_DEVS 1
#define PCI "0000:03:00.0"
#define PCI_SHORT "03:00.0"
#define IFACE "p0"
#define IPV4 { 192, 168, 100, 2 }
#else
#define IS_DPU false
#define NB_DEVS 5
#define PCI "0000:b1:00.0"
#define PCI_SHORT "B1:00.0"
#define IFACE "ens1f0np0"
#define IPV4 { 192, 168, 100, 1 }
#endif

#define INVALID DOCA_ERROR_INVALID_VALUE

static struct doca_devinfo **
list_devs(void)
{
	struct doca_devinfo **list;
	uint32_t nb;

	T_GETS(doca_devinfo_create_list(&list, &nb), nb, NB_DEVS);
	T_CHECK(list[nb] == NULL);
	return list;
}

static struct doca_dev *
open_dev(unsigned int i)
{
	struct doca_devinfo **list = list_devs();
	struct doca_dev *dev;

	T_OK(doca_dev_open(list[i], &dev));
	T_OK(doca_devinfo_destroy_list(list));
	return dev;
}

/* behaviour: D1, D9 */
T_CASE(opened_devices_survive_the_list)
{
	struct doca_dev *dev = open_dev(0);
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];

	T_OK(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), pci));
	T_STR_EQ(pci, PCI);
	T_CHECK(doca_dev_as_devinfo(NULL) == NULL);
	T_CHECK(doca_dev_rep_as_devinfo(NULL) == NULL);
	T_EQ(impl_dev_is_dpu(dev), IS_DPU);
	T_EQ(impl_devinfo_is_dpu(doca_dev_as_devinfo(dev)), IS_DPU);
	T_OK(doca_dev_close(dev));
}

/* behaviour: D2 */
T_CASE(opened_twice_is_the_same)
{
	struct doca_dev *dev = open_dev(0), *again = open_dev(0);
	int16_t id = impl_dev_id(dev);
	struct rte_comch_dev_info info;

	T_CHECK(dev == again);
	T_OK(doca_dev_close(dev));
	T_EQ(rte_comch_dev_info_get(id, &info), 0);
	T_STR_EQ(info.name, "comch_shm0");
	T_EQ(info.role, IS_DPU ? RTE_COMCH_ROLE_DPU : RTE_COMCH_ROLE_HOST);
	T_OK(doca_dev_close(dev));
	T_EQ(rte_comch_dev_info_get(id, &info), -ENODEV);
	T_INVALID(doca_dev_close(dev));
	/* And anew. */
	dev = open_dev(0);
	T_OK(doca_dev_close(dev));
}

/* behaviour: D3, D4 */
T_CASE(pci_addresses)
{
	static const char *const bad[] = {
		"", "03:00", "3:00.0", "03:00.8", "03:20.0", "03-00.0", "03:00.0 ", " 3:00.0",
		"0000:03:00.", "000:03:00.0", "0000:03:00.00", "0000:0g:00.0", "-1:00.0",
	};
	struct doca_devinfo **list = list_devs();
	unsigned int i;
	uint8_t equal = 7;

	T_GETS(doca_devinfo_is_equal_pci_addr(list[0], PCI, &equal), equal, 1);
	T_GETS(doca_devinfo_is_equal_pci_addr(list[0], PCI_SHORT, &equal), equal, 1);
	T_GETS(doca_devinfo_is_equal_pci_addr(list[0], "0001:03:00.0", &equal), equal, 0);
	equal = 7;
	for (i = 0; i < RTE_DIM(bad); i++)
		if (doca_devinfo_is_equal_pci_addr(list[0], bad[i], &equal) != INVALID)
			T_FAIL("taken: '%s'", bad[i]);
	T_EQ(equal, 7);
	T_REFUSES_NULLS(doca_devinfo_is_equal_pci_addr, list[0], PCI, &equal);
	T_INVALID(doca_devinfo_get_pci_addr_str(NULL, (char *)&equal));
	T_INVALID(doca_devinfo_get_pci_addr_str(list[0], NULL));
	doca_devinfo_destroy_list(list);
}

/* A getter: what it gives, and that it wants room for all. */
#define GETTER(get, info, buf, min) \
	do { \
		T_INVALID(get(NULL, (void *)(buf), sizeof(buf))); \
		T_INVALID(get(info, NULL, sizeof(buf))); \
		T_INVALID(get(info, (void *)(buf), (min) - 1)); \
		T_INVALID(get(info, (void *)(buf), 0)); \
		T_OK(get(info, (void *)(buf), min)); \
	} while (0)

/* behaviour: D8 */
T_CASE(what_a_device_is)
{
	static const uint8_t ipv4[] = IPV4;
	struct doca_devinfo **list = list_devs();
	struct doca_devinfo *info = list[0];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], ip[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];

	GETTER(doca_devinfo_get_iface_name, info, name, DOCA_DEVINFO_IFACE_NAME_SIZE);
	T_STR_EQ(name, IFACE);
	GETTER(doca_devinfo_get_ibdev_name, info, name, DOCA_DEVINFO_IBDEV_NAME_SIZE);
	T_STR_EQ(name, "mlx5_0");
	GETTER(doca_devinfo_get_mac_addr, info, mac, DOCA_DEVINFO_MAC_ADDR_SIZE);
	T_EQ(mac[0], 0x02);
	GETTER(doca_devinfo_get_ipv6_addr, info, ip, DOCA_DEVINFO_IPV6_ADDR_SIZE);
	T_EQ(ip[0], 0xfe);
	T_EQ(ip[1], 0x80);
	GETTER(doca_devinfo_get_ipv4_addr, info, ip, DOCA_DEVINFO_IPV4_ADDR_SIZE);
	T_EQ(memcmp(ip, ipv4, sizeof(ipv4)), 0);
	if (NB_DEVS > 1)
		T_IS(doca_devinfo_get_ipv4_addr(list[1], ip, sizeof(ip)), DOCA_ERROR_NOT_FOUND);
	doca_devinfo_destroy_list(list);
}

T_CASE(numbers_of_a_device)
{
	struct doca_devinfo **list = list_devs();
	enum doca_pci_func_type type;
	uint16_t lid = 7, vhca = 0;
	uint64_t rate = 0;
	uint32_t sf = 7;

	T_GETS(doca_devinfo_get_lid(list[0], &lid), lid, 0);
	T_REFUSES_NULL(doca_devinfo_get_lid, list[0], &lid);
	T_GETS(doca_devinfo_get_active_rate(list[0], &rate), rate, 100000000000);
	T_REFUSES_NULL(doca_devinfo_get_active_rate, list[0], &rate);
	T_GETS(doca_devinfo_get_vhca_id(list[NB_DEVS - 1], &vhca), vhca, IS_DPU ? 0 : 5);
	T_REFUSES_NULL(doca_devinfo_get_vhca_id, list[0], &vhca);
	T_GETS(doca_devinfo_get_pci_func_type(list[0], &type), type, DOCA_PCI_FUNC_TYPE_PF);
	T_REFUSES_NULL(doca_devinfo_get_pci_func_type, list[0], &type);
	T_IS(doca_devinfo_get_sf_index(list[0], &sf), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_devinfo_get_sf_index, list[0], &sf);
	if (!IS_DPU) {
		T_GETS(doca_devinfo_get_pci_func_type(list[2], &type), type, DOCA_PCI_FUNC_TYPE_VF);
		T_GETS(doca_devinfo_get_pci_func_type(list[4], &type), type, DOCA_PCI_FUNC_TYPE_SF);
		T_GETS(doca_devinfo_get_sf_index(list[4], &sf), sf, 0);
	}
	doca_devinfo_destroy_list(list);
}

T_CASE(caps)
{
	static const struct {
		doca_error_t (*get)(const struct doca_devinfo *devinfo, uint8_t *value);
		uint8_t value;
	} all[] = {
		{ doca_devinfo_cap_is_hotplug_manager_supported, 0 },
		{ doca_devinfo_cap_is_notification_moderation_supported, 0 },
		{ doca_devinfo_cap_is_accelerate_resource_reclaim_supported, 0 },
		{ doca_devinfo_rep_cap_is_filter_all_supported, IS_DPU },
		{ doca_devinfo_rep_cap_is_filter_net_supported, IS_DPU },
		{ doca_devinfo_rep_cap_is_filter_emulated_supported, IS_DPU },
	};
	struct doca_devinfo **list = list_devs();
	unsigned int i;
	uint8_t value;

	for (i = 0; i < RTE_DIM(all); i++) {
		value = 7;
		T_INVALID(all[i].get(NULL, &value));
		T_INVALID(all[i].get(list[0], NULL));
		T_OK(all[i].get(list[0], &value));
		T_EQ(value, all[i].value);
	}
	doca_devinfo_destroy_list(list);
}

T_CASE(null_is_refused)
{
	struct doca_devinfo **list = list_devs();
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint32_t nb;

	T_REFUSES_NULL(doca_devinfo_create_list, &list, &nb);
	T_INVALID(doca_devinfo_destroy_list(NULL));
	T_REFUSES_NULL(doca_dev_open, list[0], &dev);
	/* Programs close what they did not open. behaviour: Y6 */
	T_OK(doca_dev_close(NULL));
	T_INVALID(doca_dev_accelerate_resource_reclaim(NULL));
	T_INVALID(doca_devinfo_rep_create_list(NULL, 0, &reps, &nb));
	T_INVALID(doca_devinfo_rep_destroy_list(NULL));
	T_INVALID(doca_dev_rep_open(NULL, &rep));
	T_INVALID(doca_dev_rep_close(NULL));
	T_INVALID(doca_devinfo_rep_get_vuid(NULL, (char *)&nb, 128));
	T_INVALID(doca_devinfo_rep_get_iface_name(NULL, (char *)&nb, 256));
	T_INVALID(doca_devinfo_rep_get_pci_addr_str(NULL, (char *)&nb));
	T_INVALID(doca_devinfo_rep_get_pci_func_type(NULL, (enum doca_pci_func_type *)&nb));
	T_INVALID(doca_devinfo_rep_get_is_hotplug(NULL, (uint8_t *)&nb));
	T_INVALID(doca_devinfo_rep_is_equal_pci_addr(NULL, PCI, (uint8_t *)&nb));
	T_INVALID(doca_devinfo_rep_get_vf_index(NULL, &nb));
	T_INVALID(doca_devinfo_rep_get_sf_index(NULL, &nb));
	doca_devinfo_destroy_list(list);
	dev = open_dev(0);
	T_INVALID(doca_devinfo_rep_create_list(dev, 0, NULL, &nb));
	T_INVALID(doca_devinfo_rep_create_list(dev, 0, &reps, NULL));
	T_IS(doca_dev_accelerate_resource_reclaim(dev), DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_dev_close(dev));
}

/* Our devices, and those of the native API in the same program. behaviour: X6 */
T_CASE(a_device_in_use_stays_open)
{
	struct doca_dev *dev = open_dev(0);
	struct rte_comch_poll *poll;
	struct rte_comch_server_conf server = { .conf_size = sizeof(server), .name = "x" };
	struct rte_comch_client_conf client = { .conf_size = sizeof(client), .name = "x" };
	struct rte_comch_server *s = NULL;
	struct rte_comch_client *c = NULL;

	impl_dev_hold(dev);
	T_IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	T_CHECK(open_dev(0) == dev);
	T_OK(doca_dev_close(dev));
	T_IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	impl_dev_drop(dev);
	server.poll = client.poll = poll = rte_comch_poll_create(NULL);
	if (IS_DPU)
		s = rte_comch_server_create(impl_dev_id(dev), &server);
	else
		c = rte_comch_client_create(impl_dev_id(dev), &client);
	T_CHECK(s != NULL || c != NULL);
	T_IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	T_EQ(s != NULL ? rte_comch_server_destroy(s) : rte_comch_client_destroy(c), 0);
	T_OK(doca_dev_close(dev));
	rte_comch_poll_destroy(poll);
}

T_CASE(what_the_driver_refuses_is_said)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t nb;

	device_table_write("[device d]\npci=03:00.0\nargs=colour=red\n"
		"[function pf0]\npci=b1:00.0\n");
	T_OK(doca_devinfo_create_list(&list, &nb));
	t_capture_begin();
	T_IS(doca_dev_open(list[0], &dev), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(t_capture_end(), "colour");
	T_CHECK(dev == NULL);
	doca_devinfo_destroy_list(list);
}

static void *
open_and_close(void *arg)
{
	struct doca_dev **dev = arg;
	unsigned int i;

	*dev = open_dev(0);
	for (i = 0; i < 100; i++) {
		T_CHECK(open_dev(0) == *dev);
		T_OK(doca_dev_close(*dev));
	}
	return NULL;
}

/* Four threads at once, the first open of all among them. */
T_CASE(any_thread_may_open)
{
	struct doca_dev *devs[4];
	pthread_t threads[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		T_EQ(pthread_create(&threads[i], NULL, open_and_close, &devs[i]), 0);
	for (i = 0; i < 4; i++)
		T_EQ(pthread_join(threads[i], NULL), 0);
	for (i = 0; i < 4; i++) {
		T_CHECK(devs[i] == devs[0]);
		T_OK(doca_dev_close(devs[i]));
	}
	T_EQ(rte_comch_dev_count(), 0);
}

#ifndef DOCA_ARCH_DPU

/* behaviour: D5 */
T_CASE(a_host_has_no_representors)
{
	struct doca_dev *dev = open_dev(0);
	struct doca_devinfo_rep **reps;
	uint32_t nb;

	T_IS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &nb),
		DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &nb),
		DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_dev_close(dev));
}

/* Each function is a device of its own; the first with a PCI address is its PF. */
T_CASE(each_function_is_a_device)
{
	static const char *const names[] = { "pf0", "pf1", "pf0vf0", "pf0vf1", "pf0sf0" };
	struct doca_devinfo **list = list_devs();
	struct rte_comch_rep_info rep;
	struct doca_dev *devs[NB_DEVS];
	uint8_t equal;
	unsigned int i;

	for (i = 0; i < NB_DEVS; i++) {
		T_OK(doca_dev_open(list[i], &devs[i]));
		T_EQ(rte_comch_dev_rep_info_get(impl_dev_id(devs[i]), 0, &rep), 0);
		T_STR_EQ(rep.name, names[i]);
		T_OK(doca_devinfo_is_equal_pci_addr(list[i], PCI, &equal));
		T_EQ(equal, i == 0 || i == 4);
	}
	for (i = 0; i < NB_DEVS; i++)
		T_OK(doca_dev_close(devs[i]));
	doca_devinfo_destroy_list(list);
}

#else

static struct doca_devinfo_rep **
list_reps(struct doca_dev *dev, int filter, uint32_t want)
{
	struct doca_devinfo_rep **reps;
	uint32_t nb = 77;

	T_GETS(doca_devinfo_rep_create_list(dev, filter, &reps, &nb), nb, want);
	T_CHECK(reps[nb] == NULL);
	return reps;
}

/* behaviour: D6 */
T_CASE(filters)
{
	static const struct {
		int filter;
		uint32_t nb;
	} all[] = { { 0, 5 }, { 2, 5 }, { 4, 0 }, { 6, 5 } };
	static const int bad[] = { 1, 3, 8, -1, 1 << 30 };
	struct doca_dev *dev = open_dev(0);
	struct doca_devinfo_rep **reps;
	unsigned int i;
	uint32_t nb;

	for (i = 0; i < RTE_DIM(all); i++) {
		reps = list_reps(dev, all[i].filter, all[i].nb);
		T_OK(doca_devinfo_rep_destroy_list(reps));
	}
	for (i = 0; i < RTE_DIM(bad); i++)
		T_INVALID(doca_devinfo_rep_create_list(dev, bad[i], &reps, &nb));
	T_OK(doca_dev_close(dev));
}

/* behaviour: D7 */
T_CASE(what_a_representor_is)
{
	static const struct {
		const char *pci, *iface, *vuid;
		enum doca_pci_func_type type;
	} all[] = {
		{ "0000:b1:00.0", "pf0hpf", "COMCH-dpu0-pf0", DOCA_PCI_FUNC_TYPE_PF },
		{ "0000:b1:00.1", "pf1hpf", "COMCH-dpu0-pf1", DOCA_PCI_FUNC_TYPE_PF },
		{ "0000:b1:00.2", "pf0vf0", "COMCH-dpu0-pf0vf0", DOCA_PCI_FUNC_TYPE_VF },
		{ "0000:b1:00.3", "pf0vf1", "COMCH-dpu0-pf0vf1", DOCA_PCI_FUNC_TYPE_VF },
		{ "0000:b1:00.0", "en3f0pf0sf0", "COMCH-dpu0-pf0sf0", DOCA_PCI_FUNC_TYPE_SF },
	};
	struct doca_dev *dev = open_dev(0);
	struct doca_devinfo_rep **reps = list_reps(dev, DOCA_DEVINFO_REP_FILTER_NET, 5);
	char pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;
	uint8_t value;
	unsigned int i;

	for (i = 0; i < RTE_DIM(all); i++) {
		T_OK(doca_devinfo_rep_get_pci_addr_str(reps[i], pci));
		T_STR_EQ(pci, all[i].pci);
		GETTER(doca_devinfo_rep_get_iface_name, reps[i], iface,
			DOCA_DEVINFO_IFACE_NAME_SIZE);
		T_STR_EQ(iface, all[i].iface);
		GETTER(doca_devinfo_rep_get_vuid, reps[i], vuid, DOCA_DEVINFO_REP_VUID_SIZE);
		T_STR_EQ(vuid, all[i].vuid);
		T_GETS(doca_devinfo_rep_get_pci_func_type(reps[i], &type), type, all[i].type);
		T_GETS(doca_devinfo_rep_get_is_hotplug(reps[i], &value), value, 0);
		T_GETS(doca_devinfo_rep_is_equal_pci_addr(reps[i], all[i].pci, &value), value, 1);
		T_OK(doca_devinfo_rep_is_equal_pci_addr(reps[i], "B1:00.2", &value));
		T_EQ(value, i == 2);
	}
	T_INVALID(doca_devinfo_rep_is_equal_pci_addr(reps[0], "b1:00", &value));
	T_INVALID(doca_devinfo_rep_is_equal_pci_addr(reps[0], NULL, &value));
	T_INVALID(doca_devinfo_rep_is_equal_pci_addr(reps[0], "b1:00.0", NULL));
	T_INVALID(doca_devinfo_rep_get_pci_addr_str(reps[0], NULL));
	T_INVALID(doca_devinfo_rep_get_pci_func_type(reps[0], NULL));
	T_INVALID(doca_devinfo_rep_get_is_hotplug(reps[0], NULL));
	doca_devinfo_rep_destroy_list(reps);
	T_OK(doca_dev_close(dev));
}

/* A device or representor that is another object, cast. behaviour: D16 */
T_CASE(others_are_refused)
{
	struct doca_dev *dev = open_dev(0), *again;
	struct doca_devinfo_rep **reps = list_reps(dev, DOCA_DEVINFO_REP_FILTER_NET, 5);
	struct doca_dev_rep *rep;
	struct doca_mmap *mmap;
	uint32_t nb;

	T_OK(doca_dev_rep_open(reps[0], &rep));
	T_INVALID(doca_dev_rep_open((struct doca_devinfo_rep *)(void *)dev, &rep));
	T_INVALID(doca_dev_rep_close((struct doca_dev_rep *)(void *)dev));
	T_INVALID(doca_dev_open((struct doca_devinfo *)(void *)reps[0], &again));
	T_INVALID(doca_dev_open((struct doca_devinfo *)(void *)&nb, &again));
	T_INVALID(doca_dev_close((struct doca_dev *)(void *)rep));
	T_INVALID(doca_devinfo_rep_create_list((struct doca_dev *)(void *)rep, 0, &reps, &nb));
	T_OK(doca_mmap_create(&mmap));
	T_INVALID(doca_mmap_create_from_export(NULL, &nb, sizeof(nb),
		(struct doca_dev *)(void *)rep, &mmap));
	T_INVALID(doca_mmap_add_dev(mmap, (struct doca_dev *)(void *)rep));
	T_OK(doca_mmap_destroy(mmap));
	doca_devinfo_rep_destroy_list(reps);
	T_OK(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(dev));
}

/* Which function of the host it is. behaviour: D15 */
T_CASE(representor_indexes)
{
	struct doca_dev *dev = open_dev(0);
	struct doca_devinfo_rep **reps = list_reps(dev, DOCA_DEVINFO_REP_FILTER_NET, 5);
	uint16_t vhca_id;
	uint32_t value;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		T_GETS(doca_devinfo_rep_get_host_index(reps[i], &value), value, 1);
		T_GETS(doca_devinfo_rep_get_pf_index(reps[i], &value), value, i == 1 ? 1 : 0);
		T_GETS(doca_devinfo_rep_get_iface_index(reps[i], &value), value, i + 1);
		T_GETS(doca_devinfo_rep_get_vhca_id(reps[i], &vhca_id), vhca_id, i + 1);
	}
	T_IS(doca_devinfo_rep_get_vf_index(reps[0], &value), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_devinfo_rep_get_sf_index(reps[0], &value), DOCA_ERROR_NOT_SUPPORTED);
	T_GETS(doca_devinfo_rep_get_vf_index(reps[3], &value), value, 1);
	T_IS(doca_devinfo_rep_get_sf_index(reps[3], &value), DOCA_ERROR_NOT_SUPPORTED);
	T_GETS(doca_devinfo_rep_get_sf_index(reps[4], &value), value, 0);
	T_IS(doca_devinfo_rep_get_vf_index(reps[4], &value), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_devinfo_rep_get_host_index, reps[0], &value);
	T_REFUSES_NULL(doca_devinfo_rep_get_pf_index, reps[0], &value);
	T_REFUSES_NULL(doca_devinfo_rep_get_vf_index, reps[3], &value);
	T_REFUSES_NULL(doca_devinfo_rep_get_sf_index, reps[4], &value);
	T_REFUSES_NULL(doca_devinfo_rep_get_iface_index, reps[0], &value);
	T_REFUSES_NULL(doca_devinfo_rep_get_vhca_id, reps[0], &vhca_id);
	doca_devinfo_rep_destroy_list(reps);
	T_OK(doca_dev_close(dev));
}

/* behaviour: X6 */
T_CASE(an_open_representor_keeps_its_device)
{
	struct doca_dev *dev = open_dev(0);
	struct doca_devinfo_rep **reps = list_reps(dev, 0, 5);
	struct doca_devinfo_rep *info = reps[3];
	struct doca_dev_rep *rep, *again;
	int id;

	T_INVALID(doca_dev_rep_open(info, NULL));
	T_OK(doca_dev_rep_open(info, &rep));
	T_OK(doca_dev_rep_open(info, &again));
	T_OK(doca_devinfo_rep_destroy_list(reps));
	T_CHECK(rep == again);
	T_CHECK(doca_dev_rep_as_devinfo(rep) == info);
	T_CHECK(impl_rep_dev(rep) == dev);
	id = rte_comch_dev_rep_by_name(impl_dev_id(dev), "pf0vf1");
	T_EQ(impl_rep_id(rep), id);
	T_IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	T_OK(doca_dev_rep_close(rep));
	impl_rep_hold(rep);
	T_IS(doca_dev_rep_close(rep), DOCA_ERROR_IN_USE);
	impl_rep_drop(rep);
	T_IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	T_OK(doca_dev_rep_close(rep));
	T_INVALID(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(dev));
	/* The device is closed. */
	T_INVALID(doca_dev_rep_open(info, &rep));
}

#endif
