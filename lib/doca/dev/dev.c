/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Open devices: each is a native device, opened with a device string from the device
 * table.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "base/err.h"
#include "dev/dev.h"
#include "dev/eal.h"
#include "dev/lock.h"
#include "dev/table.h"
#include "log/log.h"

pthread_mutex_t impl_dev_lock = PTHREAD_MUTEX_INITIALIZER;

/* ",rep=[pf0,pf0vf0@10.0.0.2]", or ",func=pf0" */
static void
print_functions(FILE *f, const struct doca_devinfo *info, const struct impl_table *table)
{
	const struct impl_entry *e;
	const char *sep = "";

	if (info->is_dpu)
		fprintf(f, ",rep=[");
	IMPL_TABLE_FOREACH(e, table) {
		if (!e->is_func || (info->is_dpu ? e->rep.owner : &e->info) != info)
			continue;
		fprintf(f, "%s%s", info->is_dpu ? sep : ",func=", e->func);
		if (info->is_dpu && e->address[0] != '\0')
			fprintf(f, "@%s", e->address);
		sep = ",";
	}
	if (info->is_dpu)
		fprintf(f, "]");
}

/* A number unused by the driver's devices: the program may have opened some natively. */
static unsigned int
free_number(const struct doca_devinfo *info)
{
	char name[sizeof(info->driver) + 16];
	unsigned int number = info->number;

	do {
		snprintf(name, sizeof(name), "%s%u", info->driver, number++);
	} while (rte_comch_dev_by_name(name) >= 0);
	return number - 1;
}

/* The caller frees it; NULL: out of memory. */
static char *
device_string(const struct doca_devinfo *info)
{
	struct impl_table *table;
	char *text = NULL;
	size_t size;
	FILE *f;

	if (impl_table_get(&table) != DOCA_SUCCESS)
		return NULL;
	f = open_memstream(&text, &size);
	if (f == NULL)
		return NULL;
	fprintf(f, "%s%u,role=%s", info->driver, free_number(info), info->is_dpu ? "dpu" : "host");
	print_functions(f, info, table);
	if (info->args[0] != '\0')
		fprintf(f, ",%s", info->args);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static doca_error_t
open_native(struct doca_dev *dev)
{
	char *text = device_string(dev->info);
	int ret;

	if (text == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = rte_comch_dev_probe(text, &dev->id);
	if (ret != 0)
		IMPL_ERR("open device %s: %s", text, rte_strerror(-ret));
	free(text);
	/* Other errors are not the caller's: the device string is from the table. */
	return ret == 0 ? DOCA_SUCCESS : ret == -ENOMEM || ret == -ENOSPC ?
		DOCA_ERROR_NO_MEMORY : DOCA_ERROR_INITIALIZATION;
}

doca_error_t
doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	doca_error_t ret;

	if (!IMPL_TABLE_HAS(devinfo, info) || dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	pthread_mutex_lock(&impl_dev_lock);
	if (devinfo->dev.nb_opens == 0)
		ret = open_native(&devinfo->dev);
	if (ret == DOCA_SUCCESS) {
		devinfo->dev.nb_opens++;
		devinfo->faults.is_used = true;
		*dev = &devinfo->dev;
	}
	pthread_mutex_unlock(&impl_dev_lock);
	return ret;
}

static doca_error_t
close_locked(struct doca_dev *dev)
{
	int ret = 0;

	if (dev->nb_opens == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (dev->nb_opens == 1) {
		ret = dev->nb_users > 0 ? -EBUSY : rte_comch_dev_close(dev->id);
		if (ret != 0)
			return impl_err(ret);
	}
	dev->nb_opens--;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dev_close(struct doca_dev *dev)
{
	doca_error_t ret;

	if (dev == NULL)
		return DOCA_SUCCESS;
	if (!impl_dev_is_one(dev))
		return DOCA_ERROR_INVALID_VALUE;
	/* Fails in a forked process, which does not own the device. */
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	pthread_mutex_lock(&impl_dev_lock);
	ret = close_locked(dev);
	pthread_mutex_unlock(&impl_dev_lock);
	return ret;
}

doca_error_t
doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
	return dev == NULL ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
}

struct doca_devinfo *
doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return dev == NULL ? NULL : dev->info;
}

bool
impl_dev_is_one(const struct doca_dev *dev)
{
	return IMPL_TABLE_HAS(dev, info.dev);
}

int16_t
impl_dev_id(const struct doca_dev *dev)
{
	return dev->id;
}

bool
impl_dev_is_dpu(const struct doca_dev *dev)
{
	return dev->info->is_dpu;
}

bool
impl_devinfo_is_dpu(const struct doca_devinfo *devinfo)
{
	return devinfo->is_dpu;
}

const struct impl_manners *
impl_dev_manners(const struct doca_dev *dev)
{
	return &dev->info->manners;
}

const struct impl_limits *
impl_devinfo_limits(const struct doca_devinfo *devinfo)
{
	return &devinfo->manners.limits;
}

const cpu_set_t *
impl_dev_dpa_cpus(const struct doca_dev *dev)
{
	return &dev->info->dpa_cpus;
}

uint32_t
impl_dev_dpa_max_run_ms(const struct doca_dev *dev)
{
	return dev->info->dpa_max_run_ms;
}

void
impl_dev_hold(struct doca_dev *dev)
{
	pthread_mutex_lock(&impl_dev_lock);
	dev->nb_users++;
	pthread_mutex_unlock(&impl_dev_lock);
}

void
impl_dev_drop(struct doca_dev *dev)
{
	pthread_mutex_lock(&impl_dev_lock);
	dev->nb_users--;
	pthread_mutex_unlock(&impl_dev_lock);
}
