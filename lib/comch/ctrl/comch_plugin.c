/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Drivers in shared libraries of their own. */

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "sdk/comch_log.h"
#include "ctrl/comch_plugin.h"

/* Drivers that need libraries which most programs do not need. */
static const char *const plugins[] = { "mlx5" };

static const char *
find_plugin(const char *dev_name)
{
	const char *rest = dev_name + strlen("comch_");
	unsigned int i;

	if (strncmp(dev_name, "comch_", strlen("comch_")) != 0)
		return NULL;
	for (i = 0; i < RTE_DIM(plugins); i++)
		if (strncmp(rest, plugins[i], strlen(plugins[i])) == 0)
			return plugins[i];
	return NULL;
}

/* "DIRECTORY/librte_comch_mlx5.so.0", in the directory of this library. */
static bool
plugin_path(const char *plugin, char *path, size_t size)
{
	const char *slash;
	Dl_info info;
	int n;

	if (dladdr(&plugins, &info) == 0 || info.dli_fname == NULL)
		return false;
	slash = strrchr(info.dli_fname, '/');
	n = snprintf(path, size, "%.*slibrte_comch_%s.so.%s",
			slash == NULL ? 0 : (int)(slash + 1 - info.dli_fname), info.dli_fname,
			plugin, COMCH_SOVERSION);
	return n > 0 && (size_t)n < size;
}

bool
comch_plugin_load(const char *dev_name)
{
	const char *plugin = find_plugin(dev_name);
	char path[PATH_MAX];

	if (plugin == NULL || !plugin_path(plugin, path, sizeof(path)))
		return false;
	/* For good: the driver's operations stay registered. */
	if (dlopen(path, RTLD_NOW | RTLD_NODELETE) != NULL)
		return true;
	COMCH_LOG(ERR, "device %s: driver comch_%s cannot be loaded: %s", dev_name, plugin,
		dlerror());
	return false;
}
