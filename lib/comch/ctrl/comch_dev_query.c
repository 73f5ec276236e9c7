/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Questions about devices, answered through the calls of comch_dev.c. */

#include <errno.h>
#include <string.h>

#include "rte_comch_stats.h"
#include "ctrl/comch_dev.h"

uint16_t
rte_comch_dev_count(void)
{
	uint16_t n = 0;
	int16_t id;

	RTE_COMCH_DEV_FOREACH(id)
		n++;
	return n;
}

int
rte_comch_dev_xstats_get(int16_t dev_id, struct rte_comch_xstat *xstats, unsigned int n)
{
	struct rte_comch_dev *dev;
	unsigned int found;

	if (xstats == NULL && n > 0)
		return -EINVAL;
	dev = comch_dev_look(dev_id);
	if (dev == NULL)
		return -ENODEV;
	found = dev->ops->dev_xstats(dev, xstats, n);
	comch_dev_look_end();
	return (int)found;
}

int
rte_comch_dev_props(int16_t dev_id, rte_comch_dev_prop_t prop, void *ctx)
{
	struct rte_comch_dev *dev;

	if (prop == NULL)
		return -EINVAL;
	dev = comch_dev_get(dev_id);
	if (dev == NULL)
		return -ENODEV;
	if (dev->ops->props != NULL)
		dev->ops->props(dev, prop, ctx);
	comch_dev_put(dev);
	return 0;
}

int
rte_comch_dev_rep_by_name(int16_t dev_id, const char *name)
{
	struct rte_comch_rep_info info;
	uint16_t i;
	int ret;

	if (name == NULL)
		return -EINVAL;
	for (i = 0; (ret = rte_comch_dev_rep_info_get(dev_id, i, &info)) == 0; i++)
		if (strcmp(info.name, name) == 0)
			return i;
	return ret;
}
