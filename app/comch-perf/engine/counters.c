/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Counters of drivers. */

#include <rte_common.h>

#include <rte_comch.h>
#include <rte_comch_stats.h>

#include "engine/counters.h"

/* Read the counters of a device. @return their number */
static uint32_t
read_dev(int16_t id, struct rte_comch_xstat *xstats)
{
	int n = rte_comch_dev_xstats_get(id, xstats, COUNTERS_MAX);

	return (uint32_t)RTE_MIN(RTE_MAX(n, 0), COUNTERS_MAX);
}

/* The counter of that number of any device. False: there is none. */
static bool
find(uint32_t number, struct rte_comch_xstat *xstat)
{
	struct rte_comch_xstat xstats[COUNTERS_MAX];
	int16_t id;

	RTE_COMCH_DEV_FOREACH(id) {
		if (number >= read_dev(id, xstats))
			continue;
		*xstat = xstats[number];
		return true;
	}
	return false;
}

void
counters_read(struct counters *now, int16_t dev_id)
{
	struct rte_comch_xstat xstats[COUNTERS_MAX];
	uint32_t i, n;
	int16_t id;

	*now = (struct counters){ .nb = 0 };
	RTE_COMCH_DEV_FOREACH(id) {
		if (dev_id != COUNTERS_ANY_DEV && id != dev_id)
			continue;
		n = read_dev(id, xstats);
		for (i = 0; i < n; i++)
			now->value[i] += xstats[i].value;
		now->nb = RTE_MAX(now->nb, n);
	}
}

void
counters_since(struct counters *before, int16_t dev_id)
{
	struct counters now;
	uint32_t i;

	counters_read(&now, dev_id);
	for (i = 0; i < now.nb; i++)
		if (!counters_is_level(i))
			now.value[i] -= before->value[i];
	*before = now;
}

const char *
counters_name(uint32_t number)
{
	struct rte_comch_xstat xstat;

	return find(number, &xstat) ? xstat.name : NULL;
}

bool
counters_is_level(uint32_t number)
{
	struct rte_comch_xstat xstat;

	return find(number, &xstat) && xstat.is_level;
}
