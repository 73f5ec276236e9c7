/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Devices. The library keeps them; this finds them by name. */

#include <stdio.h>
#include <string.h>

#include "tc.h"

void
tc_dev_name(int16_t dev_id, char *name, size_t size)
{
	struct rte_comch_dev_info info;

	if (rte_comch_dev_info_get(dev_id, &info) != 0)
		snprintf(name, size, "?");
	else
		snprintf(name, size, "%s", info.name);
}

int
tc_dev_find(const char *name)
{
	char names[1024] = "", one[RTE_COMCH_DEV_NAME_SIZE];
	int ret = rte_comch_dev_by_name(name);
	size_t len = 0;
	int16_t dev;

	if (ret >= 0)
		return ret;
	RTE_COMCH_DEV_FOREACH(dev) {
		tc_dev_name(dev, one, sizeof(one));
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", one);
	}
	if (len == 0)
		tc_fail("%s: unknown device; none is open: \"dev open DEVARGS\"", name);
	else
		tc_fail("%s: unknown device; expected one of:%s", name, names);
	return -1;
}
