/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Device arguments of a port. Keys that are not the port's own go into the device string
 * of its comch device, whose driver checks them.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_kvargs.h>
#include <rte_string_fns.h>

#include "comch_ethdev.h"

#define ARGS_SIZE 1024
/* Low numbers are left to the application's own devices. */
#define FIRST_NUMBER 1000
#define NB_NUMBERS 1000

/* Arguments while they are parsed. */
struct port_args {
	struct comch_port *port;
	const char *role;
	const char *driver;
	const char *dev;
	const char *func;        /* rep= or func= */
	const char *func_key;
	const char *mac;
	const char *queues;
	const char *name;
	char rest[ARGS_SIZE];    /* for the device string; begins with a comma */
};

static int
add_rest(struct port_args *a, const char *key, const char *value)
{
	size_t len = strlen(a->rest);
	int n;

	n = snprintf(a->rest + len, sizeof(a->rest) - len, ",%s=%s", key, value);
	return n < 0 || (size_t)n >= sizeof(a->rest) - len ? -EINVAL : 0;
}

static int
sort_arg(const char *key, const char *value, void *ctx)
{
	struct port_args *a = ctx;
	const struct {
		const char *key;
		const char **to;
	} own[] = {
		{ "role", &a->role }, { "driver", &a->driver }, { "dev", &a->dev },
		{ "rep", &a->func }, { "func", &a->func }, { "mac", &a->mac },
		{ "queues", &a->queues }, { "name", &a->name },
	};
	unsigned int i;

	if (value == NULL || *value == '\0') {
		PMD_LOG(ERR, "%s: no value", key);
		return -EINVAL;
	}
	for (i = 0; i < RTE_DIM(own); i++) {
		if (strcmp(key, own[i].key) != 0)
			continue;
		if (*own[i].to != NULL) {
			PMD_LOG(ERR, "%s: given twice", key);
			return -EINVAL;
		}
		*own[i].to = value;
		/* The name of a representor or function has another key on each side. */
		if (own[i].to == &a->func)
			a->func_key = own[i].key;
		return 0;
	}
	return add_rest(a, key, value);
}

static int
check_role(struct port_args *a)
{
	if (a->role == NULL || (strcmp(a->role, "dpu") != 0 && strcmp(a->role, "host") != 0)) {
		PMD_LOG(ERR, "role=%s: expected dpu or host", a->role != NULL ? a->role : "");
		return -EINVAL;
	}
	a->port->role = strcmp(a->role, "dpu") == 0 ? RTE_COMCH_ROLE_DPU : RTE_COMCH_ROLE_HOST;
	return 0;
}

static int
check_rest(struct port_args *a)
{
	struct comch_port *port = a->port;
	unsigned long queues = 1;
	char *end = NULL;

	if (a->name == NULL || strlen(a->name) >= sizeof(port->name)) {
		PMD_LOG(ERR, "name=%s: expected a link name of at most %zu characters",
			a->name != NULL ? a->name : "", sizeof(port->name) - 1);
		return -EINVAL;
	}
	rte_strscpy(port->name, a->name, sizeof(port->name));
	if (a->queues != NULL)
		queues = strtoul(a->queues, &end, 10);
	if (queues == 0 || queues > COMCH_HELLO_MAX_QUEUES || (end != NULL && *end != '\0')) {
		PMD_LOG(ERR, "queues=%s: expected 1 to %d", a->queues, COMCH_HELLO_MAX_QUEUES);
		return -EINVAL;
	}
	port->max_queues = (uint16_t)queues;
	if (a->mac == NULL) {
		rte_eth_random_addr(port->mac.addr_bytes);
	} else if (rte_ether_unformat_addr(a->mac, &port->mac) != 0 ||
			!rte_is_valid_assigned_ether_addr(&port->mac)) {
		PMD_LOG(ERR, "mac=%s: expected a unicast address", a->mac);
		return -EINVAL;
	}
	return 0;
}

/* Use a device of the application. */
static int
find_dev(struct port_args *a)
{
	struct rte_comch_dev_info info;
	int id = rte_comch_dev_by_name(a->dev), rep = 0;

	if (id < 0 || rte_comch_dev_info_get((int16_t)id, &info) != 0) {
		PMD_LOG(ERR, "dev=%s: no open comch device of that name", a->dev);
		return -ENODEV;
	}
	if (a->driver != NULL || a->rest[0] != '\0') {
		PMD_LOG(ERR, "dev=%s: the device is open, its keys cannot be set here:%s%s%s",
			a->dev, a->driver != NULL ? " driver=" : "",
			a->driver != NULL ? a->driver : "", a->rest);
		return -EINVAL;
	}
	if (info.role != a->port->role) {
		PMD_LOG(ERR, "dev=%s: the device's role is not %s", a->dev, a->role);
		return -EINVAL;
	}
	if (a->func != NULL)
		rep = rte_comch_dev_rep_by_name((int16_t)id, a->func);
	if (rep < 0) {
		PMD_LOG(ERR, "dev=%s: no representor or function %s", a->dev, a->func);
		return rep;
	}
	a->port->dev_id = (int16_t)id;
	a->port->rep = (uint16_t)rep;
	return 0;
}

/* Open a device of the port's own. */
static int
open_dev(struct port_args *a)
{
	const char *driver = a->driver != NULL ? a->driver : "comch_shm";
	char name[RTE_COMCH_DEV_NAME_SIZE], devargs[ARGS_SIZE + 128];
	int number, ret;

	if (a->func != NULL && add_rest(a, a->func_key, a->func) != 0)
		return -EINVAL;
	for (number = FIRST_NUMBER; number < FIRST_NUMBER + NB_NUMBERS; number++) {
		snprintf(name, sizeof(name), "%s%d", driver, number);
		if (rte_comch_dev_by_name(name) >= 0)
			continue;
		snprintf(devargs, sizeof(devargs), "%s,role=%s%s", name, a->role, a->rest);
		ret = rte_comch_dev_probe(devargs, &a->port->dev_id);
		/* Another thread may have opened it since. */
		if (ret == -EEXIST)
			continue;
		a->port->owns_dev = ret == 0;
		if (ret != 0)
			PMD_LOG(ERR, "cannot open comch device %s: %s", devargs,
				rte_strerror(-ret));
		return ret;
	}
	return -ENOSPC;
}

int
comch_ethdev_args(struct comch_port *port, const char *args)
{
	struct port_args a = { .port = port };
	struct rte_kvargs *list;
	int ret;

	list = rte_kvargs_parse(args, NULL);
	if (list == NULL) {
		PMD_LOG(ERR, "malformed arguments: %s", args);
		return -EINVAL;
	}
	ret = rte_kvargs_process(list, NULL, sort_arg, &a) == 0 ? 0 : -EINVAL;
	if (ret == 0)
		ret = check_role(&a);
	if (ret == 0)
		ret = check_rest(&a);
	if (ret == 0)
		ret = a.dev != NULL ? find_dev(&a) : open_dev(&a);
	rte_kvargs_free(list);
	return ret;
}
