/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The driver's operations, and its device strings. */

#include <errno.h>
#include <stdlib.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_memfd.h"
#include "sdk/comch_reaper.h"
#include "comch_args.h"
#include "shm_private.h"

RTE_LOG_REGISTER(comch_shm_logtype, pmd.comch.shm, NOTICE);

#define KEY_TRUST_PEER "trust_peer"
#define KEY_EXPORT_EAL "export_eal"
#define KEY_DMA "dma"
#define KEY_DMA_MIN "dma_min"
#define KEY_DMA_MAX "dma_max"

static const char *const valid_keys[] = {
	COMCH_ARGS_KEYS, KEY_TRUST_PEER, KEY_EXPORT_EAL, KEY_DMA, KEY_DMA_MIN,
	KEY_DMA_MAX, NULL,
};

/* Minimum number of frames of the maximum size that a ring holds. */
#define RING_FRAMES 3
#define DEFAULT_STAGING (UINT64_C(8) << 20)

static int
parse_dma(const struct comch_args *a, const char *key, const char *value, void *arg)
{
	struct comch_dma *dma = arg;
	char why[512];

	if (dma->dev != NULL)
		return comch_args_bad(a, key, value, "one DMA device");
	if (comch_dma_open(dma, value, why, sizeof(why)) == 0)
		return 0;
	rte_log(RTE_LOG_ERR, a->logtype, "%s: %s=%s: %s\n", a->tag, key, value, why);
	return -EINVAL;
}

/* After all else: what fails later would have to close it. */
static int
open_dma(const struct comch_args *a, struct comch_dma *dma)
{
	if (rte_kvargs_count(a->kv, KEY_DMA_MIN) + rte_kvargs_count(a->kv, KEY_DMA_MAX) > 0 &&
			rte_kvargs_count(a->kv, KEY_DMA) == 0) {
		rte_log(RTE_LOG_ERR, a->logtype, "%s: %s and %s need %s=NAME, the DMA device\n",
			a->tag, KEY_DMA_MIN, KEY_DMA_MAX, KEY_DMA);
		return -EINVAL;
	}
	dma->min = COMCH_DMA_DEFAULT_MIN;
	dma->max = UINT32_MAX;
	if (comch_args_u32(a, KEY_DMA_MIN, 1, UINT32_MAX, &dma->min) != 0 ||
			comch_args_u32(a, KEY_DMA_MAX, 1, UINT32_MAX, &dma->max) != 0)
		return -EINVAL;
	return comch_args_each(a, KEY_DMA, parse_dma, dma);
}

static int
parse_all(struct rte_comch_dev *dev, struct rte_kvargs *kv)
{
	struct shm_dev *shm = dev->priv;
	const struct comch_args a = {
		.dev = dev, .kv = kv, .logtype = *shm->kind->logtype, .tag = shm->kind->tag,
	};
	int ret = comch_place_init(&shm->place, &a);

	if (ret != 0)
		return ret;
	if (comch_args_role(&a) != 0 ||
			comch_args_bool(&a, KEY_TRUST_PEER, &shm->trust_peer) != 0 ||
			comch_args_bool(&a, KEY_EXPORT_EAL, &shm->export_eal) != 0 ||
			comch_args_limits(&a) != 0)
		return -EINVAL;
	ret = comch_args_funcs(&a);
	return ret == 0 ? open_dma(&a, &shm->dma) : ret;
}

static uint32_t
ring_cells(uint32_t max_msg_size)
{
	uint32_t frame = sizeof(struct shm_frame_prefix) + RTE_COMCH_FRAME_OVERHEAD + max_msg_size;
	uint32_t cells = (frame + SHM_CELL_DATA - 1) / SHM_CELL_DATA;

	return rte_align32pow2(RTE_MAX(RING_FRAMES * cells, (uint32_t)SHM_MIN_CELLS));
}

int
shm_driver_probe(struct rte_comch_dev *dev, struct rte_kvargs *kv, const struct shm_kind *kind,
		uint32_t magic)
{
	struct shm_dev *shm;
	int ret;

	shm = calloc(1, sizeof(*shm));
	if (shm == NULL)
		return -ENOMEM;
	shm->kind = kind;
	shm->magic = magic;
	dev->priv = shm;
	dev->where = shm->place.dir;
	ret = parse_all(dev, kv);
	if (ret == 0 && dev->info.role == RTE_COMCH_ROLE_DPU)
		ret = comch_place_make(&shm->place, dev);
	if (ret != 0) {
		comch_dma_close(&shm->dma);
		free(shm);
		dev->priv = NULL;
		return ret;
	}
	shm->cells = ring_cells(dev->info.max_msg_size);
	shm->grows = comch_memfd_can_populate();
	comch_args_fill_info(&dev->info, DEFAULT_STAGING);
	dev->info.capa |= RTE_COMCH_CAPA_ORDERED;
	if (shm->dma.dev == NULL)
		dev->info.capa |= RTE_COMCH_CAPA_SYNC_SEND;
	if (shm->export_eal)
		dev->info.capa |= RTE_COMCH_CAPA_EXPORT_EAL;
	return 0;
}

static const struct shm_kind shm_kind = {
	.tag = SHM_TAG, .logtype = &comch_shm_logtype, .sock_suffix = "sock", .lock_suffix = "lock",
};

static int
shm_probe(struct rte_comch_dev *dev, struct rte_kvargs *kv)
{
	return shm_driver_probe(dev, kv, &shm_kind, SHM_HELLO_MAGIC);
}

static void
shm_remove(struct rte_comch_dev *dev)
{
	/* Memory that is not unmapped yet counts against this device. */
	comch_reaper_wait();
	comch_dma_close(&((struct shm_dev *)dev->priv)->dma);
	free(dev->priv);
}

static unsigned int
shm_xstats(struct rte_comch_dev *dev, struct rte_comch_xstat *xstats, unsigned int n)
{
	return comch_dma_xstats(&((struct shm_dev *)dev->priv)->dma, xstats, n);
}

static struct comch_dma *
shm_dma(const struct rte_comch_link *link)
{
	struct comch_dma *dma = &shm_dev_of(link)->dma;

	return dma->dev != NULL ? dma : NULL;
}

static const struct rte_comch_region_ops shm_regions = {
	.mem_export = shm_mem_export,
	.mem_import = shm_mem_import,
	.region_free = shm_mem_region_free,
	.region_create = shm_mem_region_create,
	.region_map = shm_mem_region_map,
	.dma = shm_dma,
};

const struct rte_comch_driver_ops shm_driver_ops = {
	.name = "comch_shm",
	.valid_keys = valid_keys,
	.probe = shm_probe,
	.remove = shm_remove,
	.dev_xstats = shm_xstats,
	.listen = shm_sock_listen,
	.unlisten = shm_sock_unlisten,
	.accept = shm_sock_accept,
	.listener_forked = shm_sock_listener_forked,
	.listener_fd = shm_sock_listener_fd,
	.listener_watch_fd = shm_sock_watch_fd,
	.listener_check = shm_sock_check,
	.connect = shm_sock_connect,
	.link_poll = shm_link_poll,
	.link_close = shm_link_close,
	.link_shutdown = shm_link_shutdown,
	.link_peer = shm_link_peer,
	.link_fd = shm_link_fd,
	.link_arm = shm_link_arm,
	.link_rest = shm_link_rest,
	.link_prepare = shm_ring_prepare,
	.frame_tx = shm_frame_tx,
	.frame_rx = shm_frame_rx,
	.frame_pending = shm_frame_pending,
	.frame_word = shm_frame_word,
	.data = &rte_comch_data_mapped,
	.regions = &shm_regions,
};

RTE_COMCH_DRIVER_REGISTER(shm, shm_driver_ops)
