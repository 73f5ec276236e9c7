/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What the conformance suite has to know of drivers. */

#include "conf.h"

static void
unlink_sockets(const char *func, const char *name __rte_unused)
{
	t_place_lose(func, "sock");
}

const struct t_driver conf_driver_shm = {
	.lose = unlink_sockets,
	.name = "comch_shm",
	.has_dir = true,
	.has_total_import = true,
	.has_kernel_peer = true,
	.has_export_eal = true,
	.maps_memory = true,
};

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
