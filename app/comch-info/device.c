/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_comch.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "info.h"

/* Start EAL without hugepages, output and persistent files. */
static int
start_eal(char *dir, size_t size)
{
	static char line[] = "comch-info --no-huge -m 16 --no-pci --no-shconf --no-telemetry "
		"--iova-mode=va --log-level=*:4 --file-prefix=comch-info";
	static char *argv[16];
	char *arg, *rest;
	int argc = 0;

	snprintf(dir, size, "/tmp/comch-info-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -errno;
	if (setenv("RUNTIME_DIRECTORY", dir, 1) != 0)
		return -errno;
	for (arg = strtok_r(line, " ", &rest); arg != NULL; arg = strtok_r(NULL, " ", &rest))
		argv[argc++] = arg;
	return rte_eal_init(argc, argv) < 0 ? -rte_errno : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	RTE_SET_USED(st);
	RTE_SET_USED(type);
	RTE_SET_USED(ftw);
	(void)remove(path);
	return 0;
}

static json_t *
device_json(int16_t dev, const struct rte_comch_dev_info *i)
{
	struct rte_comch_rep_info rep;
	json_t *o, *functions = json_array();
	uint16_t r;

	for (r = 0; rte_comch_dev_rep_info_get(dev, r, &rep) == 0; r++)
		json_array_append_new(functions, json_string(rep.name));
	o = json_pack("{s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:b, s:b, s:b, s:b}",
		"name", i->name, "driver", i->driver,
		"role", i->role == RTE_COMCH_ROLE_DPU ? "dpu" : "host", "functions", functions,
		"can_server", (i->capa & RTE_COMCH_CAPA_SERVER) != 0,
		"can_client", (i->capa & RTE_COMCH_CAPA_CLIENT) != 0,
		"can_data", (i->capa & RTE_COMCH_CAPA_DATA) != 0,
		"can_direct", (i->capa & RTE_COMCH_CAPA_DIRECT) != 0,
		"can_event_fd", (i->capa & RTE_COMCH_CAPA_EVENT_FD) != 0,
		"can_sync_send", (i->capa & RTE_COMCH_CAPA_SYNC_SEND) != 0,
		"can_order", (i->capa & RTE_COMCH_CAPA_ORDERED) != 0);
#define ADD(field) json_object_set_new(o, #field, json_integer((json_int_t)i->field))
	ADD(max_name_size);
	ADD(max_msg_size);
	ADD(max_recv_queue);
	ADD(max_send_queue);
	ADD(max_clients);
	ADD(max_producers);
	ADD(max_consumers);
	ADD(max_dp_queue);
	ADD(max_imm_len);
	ADD(max_buf_len);
	ADD(max_import);
	ADD(total_import);
	ADD(max_staging);
	ADD(total_staging);
#undef ADD
	return o;
}

/* One property per line. */
static void
print_device(const json_t *device)
{
	json_t *val, *name;
	const char *key;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)device, key, val) {
		printf("%-16s", key);
		if (json_is_string(val))
			printf("%s", json_string_value(val));
		else if (json_is_boolean(val))
			printf("%s", json_is_true(val) ? "yes" : "no");
		else if (json_is_integer(val))
			printf("%" JSON_INTEGER_FORMAT, json_integer_value(val));
		json_array_foreach(val, i, name)
			printf("%s%s", i > 0 ? "," : "", json_string_value(name));
		printf("\n");
	}
}

static int
show(const char *devargs, bool as_json)
{
	struct rte_comch_dev_info info;
	json_t *device;
	int16_t dev;
	int ret;

	/* On failure, the library has logged the reason and the valid values. */
	ret = rte_comch_dev_probe(devargs, &dev);
	if (ret != 0) {
		INFO_ERR("%s: %s", devargs, strerror(-ret));
		return INFO_FAILED;
	}
	ret = rte_comch_dev_info_get(dev, &info);
	if (ret == 0) {
		device = device_json(dev, &info);
		if (as_json)
			json_dumpf(device, stdout, JSON_COMPACT);
		else
			print_device(device);
		if (as_json)
			printf("\n");
		json_decref(device);
	}
	rte_comch_dev_close(dev);
	return ret == 0 ? 0 : INFO_FAILED;
}

int
info_device(const char *devargs, bool as_json)
{
	char dir[64];
	int ret;

	ret = start_eal(dir, sizeof(dir));
	if (ret != 0) {
		INFO_ERR("start EAL: %s", strerror(-ret));
		ret = INFO_FAILED;
	} else {
		ret = show(devargs, as_json);
		rte_eal_cleanup();
	}
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return ret;
}
