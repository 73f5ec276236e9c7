/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Makes the device strings of the sides. */

#include <stdio.h>
#include <string.h>

#include "plan/device.h"
#include "plan/options.h"

#define DEFAULT_DEVICE "comch_shm0"

/* Drivers whose ends are lcores of one process, or processes of one EAL. */
static const char *const one_eal_drivers[] = { "comch_ring", NULL };

bool
device_needs_one_eal(const char *dev)
{
	const char *const *name;
	size_t len;

	for (name = one_eal_drivers; dev != NULL && *name != NULL; name++) {
		len = strlen(*name);
		if (strncmp(dev, *name, len) == 0 &&
				strchr(",0123456789", dev[len]) != NULL) /* or the end */
			return true;
	}
	return false;
}

/* Add `,KEY=VALUE` unless the key is present. */
static void
add_key(char *buf, size_t size, const char *key, const char *value)
{
	size_t len = strlen(buf);
	char pattern[32];

	snprintf(pattern, sizeof(pattern), ",%s=", key);
	if (value != NULL && strstr(buf, pattern) == NULL)
		snprintf(buf + len, size - len, "%s%s", pattern, value);
}

void
device_string(const struct options *opts, const struct device_side *side, char *buf, size_t size)
{
	const char *dev = opts->dev != NULL ? opts->dev : DEFAULT_DEVICE;
	int name_len = (int)strcspn(dev, ",");
	bool both = opts->role == PERF_ROLE_BOTH;

	/* The names of a process's devices differ: comch_ring0 and comch_ring01. */
	snprintf(buf, size, "%.*s%s%s", name_len, dev,
			opts->same_process && side->host ? "1" : "", dev + name_len);
	if (both || opts->dev == NULL) {
		add_key(buf, size, "role", side->host ? "host" : "dpu");
		add_key(buf, size, side->host ? "func" : "rep", "pf0");
	}
	if (!both)
		return;
	add_key(buf, size, "dir", side->dir);
	if (side->shares_eal && !device_needs_one_eal(dev)) {
		add_key(buf, size, "export_eal", "1");
		add_key(buf, size, "trust_peer", "1");
	}
}
