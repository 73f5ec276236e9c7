/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The DMA device of a comch device. */

#include <string.h>

#include <rte_common.h>

#include "comch_dma.h"
#include "sdk/comch_compat.h"

int
comch_dma_open(struct comch_dma *dma, const char *name, char *why, size_t size)
{
	int ret = comch_eal_dev_open(&comch_dma_dev_class, name, &dma->dev, why, size);

	if (ret == 0)
		dma->id = (int16_t)comch_eal_dev_id(dma->dev);
	return ret;
}

void
comch_dma_close(struct comch_dma *dma)
{
	if (dma->dev != NULL)
		comch_eal_dev_close(dma->dev);
	dma->dev = NULL;
}

unsigned int
comch_dma_xstats(const struct comch_dma *dma, struct rte_comch_xstat *xstats, unsigned int n)
{
	const struct rte_comch_xstat all[COMCH_DMA_XSTATS] = {
		{ .name = "dma_copies", .value = comch_load_relaxed(&dma->copies) },
		{ .name = "dma_bytes", .value = comch_load_relaxed(&dma->bytes) },
		{ .name = "dma_errors", .value = comch_load_relaxed(&dma->errors) },
		{ .name = "dma_busy", .value = comch_load_relaxed(&dma->busy) },
	};

	if (dma->dev == NULL)
		return 0;
	if (n > 0)
		memcpy(xstats, all, RTE_MIN(n, RTE_DIM(all)) * sizeof(all[0]));
	return RTE_DIM(all);
}
