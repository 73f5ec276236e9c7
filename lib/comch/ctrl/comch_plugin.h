/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PLUGIN_H
#define COMCH_PLUGIN_H

/*
 * Load the driver of a device from a shared library, librte_comch_NAME.so of the same
 * version, beside librte_comch. Its constructor registers the driver. True: something
 * was loaded. False: the name is not that of a plugin, or a log line says why not.
 */
#include <stdbool.h>

bool comch_plugin_load(const char *dev_name);

#endif /* COMCH_PLUGIN_H */
