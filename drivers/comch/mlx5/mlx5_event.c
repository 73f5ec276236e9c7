/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Event channels of the device and of the connection manager: they never block. */

#include <errno.h>
#include <fcntl.h>

#include "mlx5_private.h"

int
mlx5_event_set_up(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
			fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return -errno;
	return 0;
}

int
mlx5_event_open_cm(struct rdma_event_channel **channel)
{
	int ret;

	*channel = mlx5_glue->create_event_channel();
	if (*channel == NULL)
		return -errno;
	ret = mlx5_event_set_up((*channel)->fd);
	if (ret != 0)
		mlx5_event_close_cm(channel);
	return ret;
}

void
mlx5_event_close_cm(struct rdma_event_channel **channel)
{
	if (*channel != NULL)
		mlx5_glue->destroy_event_channel(*channel);
	*channel = NULL;
}

int
mlx5_event_open_comp(const struct mlx5_dev *dev, struct ibv_comp_channel **channel)
{
	int ret;

	*channel = mlx5_glue->create_comp_channel(dev->ctx);
	if (*channel == NULL)
		return errno == EMFILE || errno == ENFILE ? -EMFILE : -ENOMEM;
	ret = mlx5_event_set_up((*channel)->fd);
	if (ret == 0)
		return 0;
	mlx5_event_close_comp(channel);
	return -ENOMEM;
}

void
mlx5_event_close_comp(struct ibv_comp_channel **channel)
{
	if (*channel != NULL)
		mlx5_glue->destroy_comp_channel(*channel);
	*channel = NULL;
}
