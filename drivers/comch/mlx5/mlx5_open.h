/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_OPEN_H
#define MLX5_OPEN_H

/* Finding an RDMA device, and checking that it can be used. */

#include "mlx5_private.h"

/* Why a device is refused, in a sentence. */
struct mlx5_why {
	char text[640];
};

/*
 * Check the port of dev->ctx, and set what is chosen for it: GID, partition, longest inline
 * data. 0, or an errno and the reason.
 */
int mlx5_open_check(struct mlx5_dev *dev, struct mlx5_why *why);
/* The PCI address of a device. False: it has none. */
bool mlx5_open_pci(struct ibv_context *ctx, char *pci, size_t size);
/* "active" */
const char *mlx5_open_state_text(enum ibv_port_state state);

#endif /* MLX5_OPEN_H */
