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

#include "app_eal.h"
#include "info.h"

/* Memory of EAL, MiB. */
#define EAL_MB 16

/* Start EAL without hugepages, output and persistent files. */
static int
start_eal(char *dir, size_t size)
{
	static char line[] = "comch-info --no-huge -m " RTE_STR(EAL_MB) " --no-pci --no-shconf "
		"--no-telemetry "
		"--iova-mode=va --log-level=*:4 --file-prefix=comch-info";
	static char *argv[16];
	char *arg, *rest;
	int argc = 0, ret;

	ret = app_eal_check_file_size(EAL_MB);
	if (ret != 0)
		return ret;
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
	o = json_pack("{s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b}",
		"name", i->name, "driver", i->driver,
		"role", i->role == RTE_COMCH_ROLE_DPU ? "dpu" : "host", "functions", functions,
		"can_server", (i->capa & RTE_COMCH_CAPA_SERVER) != 0,
		"can_client", (i->capa & RTE_COMCH_CAPA_CLIENT) != 0,
		"can_data", (i->capa & RTE_COMCH_CAPA_DATA) != 0,
		"can_direct", (i->capa & RTE_COMCH_CAPA_DIRECT) != 0,
		"can_event_fd", (i->capa & RTE_COMCH_CAPA_EVENT_FD) != 0,
		"can_sync_send", (i->capa & RTE_COMCH_CAPA_SYNC_SEND) != 0,
		"can_order", (i->capa & RTE_COMCH_CAPA_ORDERED) != 0,
		"can_hand_over", (i->capa & RTE_COMCH_CAPA_HANDOVER) != 0,
		"can_export_eal", (i->capa & RTE_COMCH_CAPA_EXPORT_EAL) != 0);
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

/* Properties of the driver, as an object for each unit; those of no unit are in "". */
static void
add_prop(void *ctx, const char *unit, const char *key, const char *value)
{
	json_t *units = ctx, *o, *list;

	unit = unit != NULL ? unit : "";
	o = json_object_get(units, unit);
	if (o == NULL) {
		o = json_object();
		json_object_set_new(units, unit, o);
	}
	list = json_object_get(o, key);
	if (list == NULL) {
		list = json_array();
		json_object_set_new(o, key, list);
	}
	json_array_append_new(list, json_string(value));
}

/* What the driver says of an open device: strings, of which each key has one. */
static void
add_dev_prop(void *ctx, const char *unit, const char *key, const char *value)
{
	RTE_SET_USED(unit);
	json_object_set_new(ctx, key, json_string(value));
}

/* One property per line. */
static void
print_device(const json_t *device)
{
	json_t *val, *name;
	const char *key;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)device, key, val) {
		if (json_is_object(val)) {
			print_device(val);
			continue;
		}
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
	json_t *device, *props;
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
		props = json_object();
		rte_comch_dev_props(dev, add_dev_prop, props);
		if (json_object_size(props) > 0)
			json_object_set(device, "transport", props);
		json_decref(props);
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

/* A unit's name, then its properties, one value per line. */
static void
print_units(const json_t *units)
{
	const char *unit, *key;
	json_t *o, *list, *val;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)units, unit, o) {
		if (unit[0] != '\0')
			printf("%s\n", unit);
		json_object_foreach(o, key, list)
			json_array_foreach(list, i, val)
				printf("%s%-14s%s\n", unit[0] != '\0' ? "  " : "", key,
					json_string_value(val));
	}
}

/* Is any unit usable? Its value begins with "yes". */
static bool
any_usable(const json_t *units)
{
	const char *unit;
	json_t *o, *val;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)units, unit, o)
		json_array_foreach(json_object_get(o, "usable"), i, val)
			if (strncmp(json_string_value(val), "yes", 3) == 0)
				return true;
	return false;
}

static int
scan(const char *driver, bool as_json)
{
	json_t *units = json_object();
	int ret = rte_comch_dev_scan(driver, add_prop, units);
	bool usable = any_usable(units);

	if (ret == -ENOTSUP)
		INFO_ERR("%s uses no hardware", driver);
	else if (ret != 0)
		INFO_ERR("%s: %s", driver, strerror(-ret));
	else if (as_json)
		json_dumpf(units, stdout, JSON_COMPACT);
	else
		print_units(units);
	if (ret == 0 && as_json)
		printf("\n");
	json_decref(units);
	return ret == 0 && usable ? 0 : INFO_FAILED;
}

/* With EAL: nothing is opened without it. */
static int
with_eal(int (*fn)(const char *arg, bool as_json), const char *arg, bool as_json)
{
	char dir[64];
	int ret;

	ret = start_eal(dir, sizeof(dir));
	if (ret != 0) {
		INFO_ERR("start EAL: %s", strerror(-ret));
		ret = INFO_FAILED;
	} else {
		ret = fn(arg, as_json);
		rte_eal_cleanup();
	}
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return ret;
}

int
info_device(const char *devargs, bool as_json)
{
	return with_eal(show, devargs, as_json);
}

int
info_scan(const char *driver, bool as_json)
{
	return with_eal(scan, driver, as_json);
}
