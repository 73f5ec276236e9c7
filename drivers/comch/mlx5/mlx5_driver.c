/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The driver's operations, and what a device is capable of. */

#include <errno.h>
#include <stdlib.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

RTE_LOG_REGISTER(comch_mlx5_logtype, pmd.comch.mlx5, NOTICE);

/* Work requests of a queue pair beside those of its depth: reposts and pieces. */
#define SPARE_WRS 128u
/* 256 consumers of the peer with usual depths. */
#define DEFAULT_STAGING (UINT64_C(32) << 20)
/* Of a link: its epoll, the connection manager's channel, that of completions, a timer. */
#define LINK_FDS 4

/* The power of two, at most *most*, that leaves room for SPARE_WRS. */
static uint32_t
max_dp_queue(const struct ibv_device_attr *attr, uint32_t most)
{
	/* Its completion queue holds what both directions can complete. */
	uint32_t wrs = (uint32_t)RTE_MIN(attr->max_qp_wr, attr->max_cqe / 2);

	if (wrs <= SPARE_WRS)
		return 1;
	return RTE_MIN(rte_align32prevpow2(wrs - SPARE_WRS), most);
}

static void
free_dev(struct rte_comch_dev *dev)
{
	struct mlx5_dev *mdev = dev->priv;

	free(mdev->reps);
	free(mdev);
	dev->priv = NULL;
}

static int
mlx5_probe(struct rte_comch_dev *dev, struct rte_kvargs *kv)
{
	struct mlx5_dev *mdev;
	int ret;

	mdev = calloc(1, sizeof(*mdev));
	if (mdev == NULL)
		return -ENOMEM;
	dev->priv = mdev;
	mdev->dev = dev;
	mdev->reps = calloc(RTE_COMCH_MAX_REPS, sizeof(*mdev->reps));
	ret = mdev->reps != NULL ? mlx5_args_parse(dev, kv) : -ENOMEM;
	if (ret != 0)
		goto err_free;
	if (dev->info.role == RTE_COMCH_ROLE_DPU)
		ret = comch_place_make(&mdev->place, dev);
	if (ret == 0)
		ret = mlx5_device_open(mdev);
	if (ret != 0)
		goto err_free;
	comch_args_fill_info(&dev->info, DEFAULT_STAGING);
	dev->link_fds = LINK_FDS;
	dev->info.max_dp_queue = max_dp_queue(&mdev->attr, dev->info.max_dp_queue);
	return 0;

err_free:
	free_dev(dev);
	return ret;
}

static void
mlx5_remove(struct rte_comch_dev *dev)
{
	mlx5_device_close(dev->priv);
	free_dev(dev);
}

static unsigned int
mlx5_xstats(struct rte_comch_dev *dev, struct rte_comch_xstat *xstats, unsigned int n)
{
	struct mlx5_dev *mdev = dev->priv;
	const struct rte_comch_xstat own[] = {
		{ "pinned", atomic_load_explicit(&mdev->pinned, memory_order_relaxed), true },
		{ "key_misses", atomic_load_explicit(&mdev->key_misses, memory_order_relaxed),
			false },
		{ "held", atomic_load_explicit(&mdev->held, memory_order_relaxed), false },
		{ "jobs", comch_load_relaxed(&mdev->worker.nb_done), false },
	};
	unsigned int i, at = mlx5_qp_xstats(mdev, xstats, n);

	for (i = 0; i < RTE_DIM(own) && at + i < n; i++)
		xstats[at + i] = own[i];
	return at + RTE_DIM(own);
}

static const struct rte_comch_driver_ops mlx5_ops = {
	.name = "comch_mlx5",
	.valid_keys = mlx5_args_keys,
	.probe = mlx5_probe,
	.remove = mlx5_remove,
	.dev_xstats = mlx5_xstats,
	.props = mlx5_scan_props,
	.listen = mlx5_cm_listen,
	.unlisten = mlx5_cm_unlisten,
	.accept = mlx5_cm_accept,
	.listener_forked = mlx5_cm_listener_forked,
	.listener_fd = mlx5_cm_listener_fd,
	.listener_watch_fd = mlx5_cm_watch_fd,
	.listener_check = mlx5_cm_check,
	.connect = mlx5_dial_connect,
	.link_poll = mlx5_link_poll,
	.link_close = mlx5_link_close,
	.link_shutdown = mlx5_link_shutdown,
	.link_peer = mlx5_link_peer,
	.link_fd = mlx5_link_fd,
	.link_arm = mlx5_link_arm,
	.link_idle = mlx5_frame_idle,
	.frame_tx = mlx5_frame_tx,
	.frame_rx = mlx5_frame_rx,
	.frame_pending = mlx5_frame_pending,
	.data = &mlx5_data_ops,
};

RTE_COMCH_DRIVER_REGISTER(mlx5, mlx5_ops)
