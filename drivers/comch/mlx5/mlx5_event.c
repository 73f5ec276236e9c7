/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Event channels of the device and of the connection manager: they never block. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

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

	*channel = mlx5_verbs->create_event_channel();
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
		mlx5_verbs->destroy_event_channel(*channel);
	*channel = NULL;
}

/* Completion channels */

int
mlx5_channel_open(struct mlx5_dev *dev, struct mlx5_channel **channel)
{
	struct mlx5_channel *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return -ENOMEM;
	c->refs = 1;
	c->ibv = mlx5_verbs->create_comp_channel(dev->ctx);
	if (c->ibv == NULL) {
		free(c);
		return errno == EMFILE || errno == ENFILE ? -EMFILE : -ENOMEM;
	}
	if (mlx5_event_set_up(c->ibv->fd) != 0) {
		mlx5_channel_put(c);
		return -ENOMEM;
	}
	*channel = c;
	return 0;
}

void
mlx5_channel_ref(struct mlx5_channel *channel)
{
	__atomic_fetch_add(&channel->refs, 1, __ATOMIC_RELAXED);
}

void
mlx5_channel_put(struct mlx5_channel *channel)
{
	/*
	 * Acquire and release: pair with each other; all completion queues are destroyed.
	 * Model: leave.pml, leave_last.
	 */
	if (channel == NULL || __atomic_sub_fetch(&channel->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	mlx5_verbs->destroy_comp_channel(channel->ibv);
	free(channel);
}
