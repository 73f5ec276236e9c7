/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DMA devices: what they must be able to do, and how they are started. */

#include <errno.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_dmadev.h>

#include "sdk/comch_dma_dev.h"

/* Copies in flight per queue that are asked for. */
#define QUEUE_DESCS 64

static int
dma_find(const char *name)
{
	return rte_dma_get_dev_id_by_name(name);
}

static const char *
dma_next(int *id)
{
	struct rte_dma_info info;

	*id = rte_dma_next_dev((int16_t)*id);
	return *id >= 0 && rte_dma_info_get((int16_t)*id, &info) == 0 ? info.dev_name : NULL;
}

static int
check_capa(const struct rte_dma_info *info, char *why, size_t size)
{
	const uint64_t need = RTE_DMA_CAPA_MEM_TO_MEM | RTE_DMA_CAPA_OPS_COPY;

	if ((info->dev_capa & need) != need) {
		snprintf(why, size, "it does not copy from memory to memory");
		return -ENOTSUP;
	}
	if ((info->dev_capa & RTE_DMA_CAPA_SVA) == 0) {
		snprintf(why, size, "it does not work on virtual addresses (RTE_DMA_CAPA_SVA)");
		return -ENOTSUP;
	}
	return 0;
}

static int
setup_queues(int16_t id, const struct rte_dma_info *info, uint16_t nb_queues)
{
	struct rte_dma_vchan_conf vchan = { .direction = RTE_DMA_DIR_MEM_TO_MEM };
	struct rte_dma_conf conf = { .nb_vchans = nb_queues };
	int ret = rte_dma_configure(id, &conf);
	uint16_t i;

	vchan.nb_desc = (uint16_t)RTE_MAX((uint32_t)info->min_desc,
		RTE_MIN((uint32_t)info->max_desc, (uint32_t)QUEUE_DESCS));
	for (i = 0; i < nb_queues && ret == 0; i++)
		ret = rte_dma_vchan_setup(id, i, &vchan);
	return ret != 0 ? ret : rte_dma_start(id);
}

static int
dma_start(int id, uint16_t *nb_queues, char *why, size_t size)
{
	struct rte_dma_info info;
	int ret = rte_dma_info_get((int16_t)id, &info);

	if (ret == 0)
		ret = check_capa(&info, why, size);
	if (ret != 0)
		return ret;
	*nb_queues = RTE_MIN(*nb_queues, info.max_vchans);
	return setup_queues((int16_t)id, &info, *nb_queues);
}

static void
dma_stop(int id)
{
	rte_dma_stop((int16_t)id);
}

const struct comch_eal_dev_class comch_dma_dev_class = {
	.what = "DMA device",
	.find = dma_find,
	.next = dma_next,
	.start = dma_start,
	.stop = dma_stop,
};
