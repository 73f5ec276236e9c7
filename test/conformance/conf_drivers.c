/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What the conformance suite has to know of drivers. */

#include <stdlib.h>

#include "conf.h"

static void
unlink_sockets(const char *func, const char *name __rte_unused)
{
	t_place_lose(func, "sock");
}

#define SHM \
	.lose = unlink_sockets, .name = "comch_shm", .has_dir = true, .has_total_import = true, \
	.has_kernel_peer = true, .has_export_eal = true, .maps_memory = true

const struct t_driver conf_driver_shm = { SHM };

static void
dma_args(char *buf, size_t size, const char *args)
{
	snprintf(buf, size, "%s,dma=%s,dma_min=1", args, getenv("T_VDEV"));
}

/* Every direct message is one for the DMA device, which EAL opens by T_VDEV. */
const struct t_driver conf_driver_shm_dma = { SHM, .args = dma_args, .has_dma = true };

const struct t_driver conf_driver_ring = {
	.lose = unlink_sockets,
	.name = "comch_ring",
	.has_dir = true,
	.has_total_import = true,
	.has_kernel_peer = true,
	.shows_heap = true,
	.maps_memory = true,
};

const struct t_driver conf_driver_mlx5 = {
	.lose = t_place_take,
	.give_back = t_place_give_back,
	.name = "comch_mlx5",
	.has_dir = true,
	.has_total_import = true,
	.shows_heap = true,
	.wakes_itself = true,
};
