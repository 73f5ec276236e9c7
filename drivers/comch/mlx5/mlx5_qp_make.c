/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The handles of a queue pair: creation, connection and destruction, each of which may take
 * the device milliseconds. The helper thread does it: mlx5_job.h. The connection manager
 * connects control queue pairs: mlx5_cm.c.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_random.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

#define PSN_MASK UINT32_C(0xffffff)
/* 0.64 ms, encoded: how long a peer without a receive slot makes us wait. */
#define RNR_TIMER 12
/* RDMA READ is not used. */
#define RD_ATOMIC 0

static struct mlx5_qp_hw *
hw_of(struct mlx5_job *job)
{
	return (struct mlx5_qp_hw *)job;
}

/* Slots and send buffers */

static size_t
slab_len(const struct mlx5_qp_conf *c)
{
	size_t len = (size_t)c->nb_rx * c->rx_size + (size_t)c->nb_tx * c->tx_size;

	return RTE_ALIGN_CEIL(len, (size_t)4096);
}

static int
slab_create(struct mlx5_qp_hw *hw)
{
	void *slab;

	slab = mmap(NULL, hw->slab_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		0);
	if (slab == MAP_FAILED)
		return -ENOMEM;
	/* A forked child must not make the kernel copy pages that the device writes. */
	(void)madvise(slab, hw->slab_len, MADV_DONTFORK);
	hw->slab = slab;
	hw->slab_mr = mlx5_verbs->reg_mr(hw->pd, slab, hw->slab_len, IBV_ACCESS_LOCAL_WRITE);
	if (hw->slab_mr != NULL)
		return 0;
	MLX5_LOG(ERR, "device %s: cannot register %zu bytes of receive slots: %s%s",
		hw->job.dev->dev->info.name, hw->slab_len, strerror(errno),
		errno == ENOMEM ? "; the limit of locked memory may be too low (ulimit -l)" : "");
	return -ENOMEM;
}

static void
slab_destroy(struct mlx5_qp_hw *hw)
{
	if (hw->slab_mr != NULL)
		mlx5_verbs->dereg_mr(hw->slab_mr);
	if (hw->slab != NULL)
		munmap(hw->slab, hw->slab_len);
	mlx5_dev_unpin(hw->job.dev, hw->slab_len);
}

/* Creation */

/* No attribute of a device says how much data a work request can hold: ask for less. */
static struct ibv_qp *
create_qp(struct mlx5_dev *dev, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct ibv_qp_cap cap = attr->cap;
	struct ibv_qp *qp = mlx5_verbs->create_qp(pd, attr);
	uint32_t max_inline;

	while (qp == NULL && errno != ENOMEM && attr->cap.max_inline_data > 0) {
		max_inline = attr->cap.max_inline_data / 2;
		comch_store_relaxed(&dev->max_inline, max_inline);
		attr->cap = cap;
		attr->cap.max_inline_data = max_inline;
		qp = mlx5_verbs->create_qp(pd, attr);
	}
	return qp;
}

static int
queues_create(struct mlx5_qp_hw *hw)
{
	const struct mlx5_qp_conf *c = &hw->conf;
	struct mlx5_dev *dev = hw->job.dev;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = c->nb_tx,
			.max_recv_wr = c->nb_rx,
			.max_send_sge = RTE_MIN(MLX5_QP_SGES, dev->attr.max_sge),
			.max_recv_sge = 1,
			.max_inline_data = comch_load_relaxed(&dev->max_inline),
		},
	};

	/* All that can complete at a time fits: an overrun is not possible. */
	hw->cq = mlx5_verbs->create_cq(dev->ctx, (int)(c->nb_rx + c->nb_tx), c->cq_ctx,
			c->channel != NULL ? c->channel->ibv : NULL, 0);
	if (hw->cq == NULL)
		return -errno;
	attr.send_cq = hw->cq;
	attr.recv_cq = hw->cq;
	hw->qp = create_qp(dev, hw->pd, &attr);
	if (hw->qp == NULL)
		return -errno;
	hw->max_inline = attr.cap.max_inline_data;
	hw->max_sges = RTE_MIN((uint32_t)MLX5_QP_SGES, attr.cap.max_send_sge);
	return 0;
}

/* Connection */

static int
to_init(struct mlx5_qp_hw *hw)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = hw->to.path.pkey_index,
		.port_num = hw->to.path.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return mlx5_verbs->modify_qp(hw->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int
to_rtr(struct mlx5_qp_hw *hw)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = hw->to.path.ah,
		.path_mtu = hw->to.path.mtu,
		.dest_qp_num = hw->to.qpn,
		.rq_psn = hw->to.psn & PSN_MASK,
		.max_dest_rd_atomic = RD_ATOMIC,
		.min_rnr_timer = RNR_TIMER,
	};

	return mlx5_verbs->modify_qp(hw->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER);
}

static int
to_rts(struct mlx5_qp_hw *hw)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = hw->psn,
		.timeout = hw->to.path.timeout,
		.retry_cnt = hw->to.path.retry,
		.rnr_retry = hw->to.path.rnr_retry,
		.max_rd_atomic = RD_ATOMIC,
	};

	return mlx5_verbs->modify_qp(hw->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int
mlx5_qp_hw_post(const struct mlx5_qp_hw *hw, const uint32_t *slots, uint32_t n)
{
	struct ibv_recv_wr wr[MLX5_QP_REPOST], *bad;
	struct ibv_sge sge[MLX5_QP_REPOST];
	uint32_t i;

	for (i = 0; i < n; i++) {
		sge[i].addr = (uintptr_t)(hw->slab + (size_t)slots[i] * hw->conf.rx_size);
		sge[i].length = hw->conf.rx_size;
		sge[i].lkey = hw->slab_mr->lkey;
		wr[i].wr_id = (uint64_t)slots[i] << 1;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
	}
	return mlx5_verbs->post_recv(hw->qp, wr, &bad);
}

int
mlx5_qp_hw_post_all(const struct mlx5_qp_hw *hw)
{
	uint32_t slots[MLX5_QP_REPOST];
	uint32_t i, k, n;
	int ret;

	for (i = 0; i < hw->conf.nb_rx; i += n) {
		n = RTE_MIN(hw->conf.nb_rx - i, (uint32_t)MLX5_QP_REPOST);
		for (k = 0; k < n; k++)
			slots[k] = i + k;
		ret = mlx5_qp_hw_post(hw, slots, n);
		if (ret != 0)
			return mlx5_glue_error(ret);
	}
	return 0;
}

static void
hw_connect(struct mlx5_job *job)
{
	struct mlx5_qp_hw *hw = hw_of(job);
	int ret = to_init(hw);

	if (ret == 0)
		ret = mlx5_qp_hw_post_all(hw);
	if (ret == 0)
		ret = to_rtr(hw);
	if (ret == 0)
		ret = to_rts(hw);
	hw->ret = mlx5_glue_error(ret);
	if (hw->ret != 0)
		MLX5_LOG(ERR, "device %s: cannot connect queue pair %#x to %#x of the peer: %s",
			job->dev->dev->info.name, hw->qp->qp_num, hw->to.qpn, strerror(-hw->ret));
}

static void
hw_create(struct mlx5_job *job)
{
	struct mlx5_qp_hw *hw = hw_of(job);

	hw->ret = slab_create(hw);
	if (hw->ret != 0)
		return;
	hw->ret = queues_create(hw);
	if (hw->ret != 0)
		MLX5_LOG(ERR, "device %s: cannot create a queue pair of %u slots and %u work "
			"requests: %s", job->dev->dev->info.name, hw->conf.nb_rx, hw->conf.nb_tx,
			strerror(-hw->ret));
	else if (hw->to.qpn != 0)
		hw_connect(job);
}

static void
hw_end(struct mlx5_job *job)
{
	struct mlx5_qp_hw *hw = hw_of(job);

	if (hw->qp != NULL)
		mlx5_verbs->destroy_qp(hw->qp);
	if (hw->cq != NULL) {
		if (hw->nb_events > 0)
			mlx5_verbs->ack_cq_events(hw->cq, hw->nb_events);
		mlx5_verbs->destroy_cq(hw->cq);
	}
	slab_destroy(hw);
	mlx5_channel_put(hw->conf.channel);
	free(hw);
}

/* For mlx5_qp.c */

int
mlx5_qp_hw_new(struct mlx5_link *link, const struct mlx5_qp_conf *conf, struct mlx5_qp_hw **new)
{
	struct mlx5_qp_hw *hw = calloc(1, sizeof(*hw));

	if (hw == NULL)
		return -ENOMEM;
	hw->slab_len = slab_len(conf);
	if (mlx5_dev_pin(link->dev, hw->slab_len) != 0) {
		free(hw);
		return -ENOMEM;
	}
	mlx5_job_init(&hw->job, link->dev, link, hw_end);
	hw->pd = link->pd;
	hw->conf = *conf;
	hw->psn = (uint32_t)rte_rand() & PSN_MASK;
	if (conf->channel != NULL)
		mlx5_channel_ref(conf->channel);
	*new = hw;
	return 0;
}

void
mlx5_qp_hw_create(struct mlx5_qp_hw *hw)
{
	mlx5_job_start(&hw->job, hw_create);
}

void
mlx5_qp_hw_connect(struct mlx5_qp_hw *hw, const struct mlx5_qp_to *to)
{
	hw->to = *to;
	mlx5_job_start(&hw->job, hw_connect);
}
