/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Queue pairs with receive slots and a ring of send buffers.
 *
 * The number of a send work request counts from 0, and its buffer is that number modulo
 * the ring. Requests complete in order: the completion of number n frees all up to n,
 * also those that asked for none. Completions say so by wr_id: number << 1 | 1 for a
 * send, slot << 1 for a receive.
 */

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_random.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

#define PSN_MASK UINT32_C(0xffffff)
/* 0.64 ms, encoded: how long a peer without a receive slot makes us wait. */
#define RNR_TIMER 12
/* RDMA READ is not used. */
#define RD_ATOMIC 0

static uint8_t *
tx_buf(const struct mlx5_qp *qp, uint64_t number)
{
	return qp->slab + (size_t)qp->conf.nb_rx * qp->conf.rx_size +
		(size_t)(number % qp->conf.nb_tx) * qp->conf.tx_size;
}

/* Slots and send buffers */

static int
slab_create(struct mlx5_qp *qp, struct ibv_pd *pd)
{
	const struct mlx5_qp_conf *c = &qp->conf;
	size_t len = (size_t)c->nb_rx * c->rx_size + (size_t)c->nb_tx * c->tx_size;
	void *slab;
	int ret;

	len = RTE_ALIGN_CEIL(len, (size_t)4096);
	ret = mlx5_dev_pin(qp->dev, len);
	if (ret != 0)
		return -ENOMEM;
	slab = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slab == MAP_FAILED)
		goto err_unpin;
	/* A forked child must not make the kernel copy pages that the device writes. */
	(void)madvise(slab, len, MADV_DONTFORK);
	qp->slab_mr = mlx5_glue->reg_mr(pd, slab, len, IBV_ACCESS_LOCAL_WRITE);
	if (qp->slab_mr == NULL)
		goto err_unmap;
	qp->slab = slab;
	qp->slab_len = len;
	return 0;

err_unmap:
	MLX5_LOG(ERR, "device %s: cannot register %zu bytes of receive slots: %s%s",
		qp->dev->dev->info.name, len, strerror(errno),
		errno == ENOMEM ? "; the limit of locked memory may be too low (ulimit -l)" : "");
	munmap(slab, len);
err_unpin:
	mlx5_dev_unpin(qp->dev, len);
	return -ENOMEM;
}

static void
slab_destroy(struct mlx5_qp *qp)
{
	if (qp->slab == NULL)
		return;
	mlx5_glue->dereg_mr(qp->slab_mr);
	munmap(qp->slab, qp->slab_len);
	mlx5_dev_unpin(qp->dev, qp->slab_len);
	qp->slab = NULL;
}

/* Counters */

#define XSTAT(name) { #name, offsetof(struct mlx5_qp_stats, name) }
static const struct {
	const char *name;
	size_t offset;
} xstats_of_qp[] = {
	XSTAT(sends), XSTAT(writes), XSTAT(doorbells), XSTAT(signalled), XSTAT(inlined),
	XSTAT(recvs), XSTAT(rx_doorbells), XSTAT(cqes), XSTAT(polls), XSTAT(rnr), XSTAT(retries),
};
static_assert(RTE_DIM(xstats_of_qp) * sizeof(uint64_t) == sizeof(struct mlx5_qp_stats),
	"each counter has a name");

static void
add_stats(struct mlx5_qp_stats *sum, const struct mlx5_qp_stats *stats)
{
	const uint64_t *from = (const uint64_t *)stats;
	uint64_t *to = (uint64_t *)sum;
	size_t i;

	for (i = 0; i < RTE_DIM(xstats_of_qp); i++)
		to[i] += comch_load_relaxed(&from[i]);
}

static void
qp_list(struct mlx5_qp *qp)
{
	pthread_mutex_lock(&qp->dev->lock);
	TAILQ_INSERT_TAIL(&qp->dev->qps, qp, next);
	qp->is_listed = true;
	pthread_mutex_unlock(&qp->dev->lock);
}

static void
qp_unlist(struct mlx5_qp *qp)
{
	pthread_mutex_lock(&qp->dev->lock);
	TAILQ_REMOVE(&qp->dev->qps, qp, next);
	add_stats(&qp->dev->qp_total, &qp->stats);
	pthread_mutex_unlock(&qp->dev->lock);
}

unsigned int
mlx5_qp_xstats(struct mlx5_dev *dev, struct rte_comch_xstat *xstats, unsigned int n)
{
	struct mlx5_qp_stats sum;
	const struct mlx5_qp *qp;
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	sum = dev->qp_total;
	TAILQ_FOREACH(qp, &dev->qps, next)
		add_stats(&sum, &qp->stats);
	pthread_mutex_unlock(&dev->lock);
	for (i = 0; i < RTE_MIN(n, (unsigned int)RTE_DIM(xstats_of_qp)); i++) {
		xstats[i].name = xstats_of_qp[i].name;
		memcpy(&xstats[i].value, (const uint8_t *)&sum + xstats_of_qp[i].offset,
			sizeof(xstats[i].value));
	}
	return RTE_DIM(xstats_of_qp);
}

/* Life */

/* No attribute of a device says how much data a work request can hold: ask for less. */
static struct ibv_qp *
create_qp(struct mlx5_dev *dev, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct ibv_qp_cap cap = attr->cap;
	struct ibv_qp *qp = mlx5_glue->create_qp(pd, attr);

	while (qp == NULL && errno != ENOMEM && attr->cap.max_inline_data > 0) {
		dev->max_inline = attr->cap.max_inline_data / 2;
		attr->cap = cap;
		attr->cap.max_inline_data = dev->max_inline;
		qp = mlx5_glue->create_qp(pd, attr);
	}
	return qp;
}

static int
queues_create(struct mlx5_qp *qp, struct ibv_pd *pd)
{
	const struct mlx5_qp_conf *c = &qp->conf;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = c->nb_tx,
			.max_recv_wr = c->nb_rx,
			.max_send_sge = RTE_MIN(MLX5_QP_SGES, qp->dev->attr.max_sge),
			.max_recv_sge = 1,
			.max_inline_data = qp->dev->max_inline,
		},
	};

	/* All that can complete at a time fits: an overrun is not possible. */
	qp->cq = mlx5_glue->create_cq(qp->dev->ctx, (int)(c->nb_rx + c->nb_tx), c->cq_ctx,
			c->channel, 0);
	if (qp->cq == NULL)
		return -errno;
	attr.send_cq = qp->cq;
	attr.recv_cq = qp->cq;
	qp->qp = create_qp(qp->dev, pd, &attr);
	if (qp->qp == NULL)
		return -errno;
	qp->max_inline = attr.cap.max_inline_data;
	qp->max_sges = RTE_MIN((uint32_t)MLX5_QP_SGES, attr.cap.max_send_sge);
	return 0;
}

int
mlx5_qp_create(struct mlx5_qp *qp, struct mlx5_dev *dev, struct ibv_pd *pd,
		const struct mlx5_qp_conf *conf)
{
	int ret;

	*qp = (struct mlx5_qp){
		.dev = dev, .pd = pd, .conf = *conf, .status = IBV_WC_SUCCESS,
		.psn = (uint32_t)rte_rand() & PSN_MASK,
	};
	ret = slab_create(qp, pd);
	if (ret != 0)
		return ret;
	ret = queues_create(qp, pd);
	if (ret == 0) {
		qp_list(qp);
		return 0;
	}
	MLX5_LOG(ERR, "device %s: cannot create a queue pair of %u slots and %u work requests: %s",
		dev->dev->info.name, conf->nb_rx, conf->nb_tx, strerror(-ret));
	mlx5_qp_destroy(qp);
	return ret;
}

void
mlx5_qp_destroy(struct mlx5_qp *qp)
{
	if (qp->is_listed)
		qp_unlist(qp);
	qp->is_listed = false;
	if (qp->qp != NULL)
		mlx5_glue->destroy_qp(qp->qp);
	qp->qp = NULL;
	if (qp->cq != NULL) {
		if (qp->nb_events > 0)
			mlx5_glue->ack_cq_events(qp->cq, qp->nb_events);
		mlx5_glue->destroy_cq(qp->cq);
	}
	qp->cq = NULL;
	slab_destroy(qp);
}

static int
to_init(struct mlx5_qp *qp, const struct mlx5_path *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = path->pkey_index,
		.port_num = path->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return mlx5_glue->modify_qp(qp->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int
to_rtr(struct mlx5_qp *qp, const struct mlx5_path *path, uint32_t peer_qpn, uint32_t peer_psn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = path->ah,
		.path_mtu = path->mtu,
		.dest_qp_num = peer_qpn,
		.rq_psn = peer_psn & PSN_MASK,
		.max_dest_rd_atomic = RD_ATOMIC,
		.min_rnr_timer = RNR_TIMER,
	};

	return mlx5_glue->modify_qp(qp->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER);
}

static int
to_rts(struct mlx5_qp *qp, const struct mlx5_path *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = qp->psn,
		.timeout = path->timeout,
		.retry_cnt = path->retry,
		.rnr_retry = path->rnr_retry,
		.max_rd_atomic = RD_ATOMIC,
	};

	return mlx5_glue->modify_qp(qp->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int
mlx5_qp_connect(struct mlx5_qp *qp, const struct mlx5_path *path, uint32_t peer_qpn,
		uint32_t peer_psn)
{
	int ret = to_init(qp, path);

	if (ret == 0)
		ret = mlx5_qp_post_slots(qp);
	if (ret == 0)
		ret = to_rtr(qp, path, peer_qpn, peer_psn);
	if (ret == 0)
		ret = to_rts(qp, path);
	if (ret == 0)
		return 0;
	/* Verbs return a positive errno, or -1 with errno. */
	return ret > 0 ? -ret : ret == -1 ? -errno : ret;
}

void
mlx5_qp_error(struct mlx5_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (qp->qp == NULL)
		return;
	comch_store_release(&qp->is_err, true);
	(void)mlx5_glue->modify_qp(qp->qp, &attr, IBV_QP_STATE);
}

/* Receives */

/* Post slots as one chain. */
static int
post_recvs(struct mlx5_qp *qp, const uint32_t *slots, uint32_t n)
{
	struct ibv_recv_wr wr[MLX5_QP_REPOST], *bad;
	struct ibv_sge sge[MLX5_QP_REPOST];
	uint32_t i;

	for (i = 0; i < n; i++) {
		sge[i].addr = (uintptr_t)(qp->slab + (size_t)slots[i] * qp->conf.rx_size);
		sge[i].length = qp->conf.rx_size;
		sge[i].lkey = qp->slab_mr->lkey;
		wr[i].wr_id = (uint64_t)slots[i] << 1;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
	}
	comch_count(&qp->stats.recvs, n);
	comch_count(&qp->stats.rx_doorbells, 1);
	return mlx5_glue->post_recv(qp->qp, wr, &bad);
}

int
mlx5_qp_post_slots(struct mlx5_qp *qp)
{
	uint32_t slots[MLX5_QP_REPOST];
	uint32_t i, k, n;
	int ret;

	for (i = 0; i < qp->conf.nb_rx; i += n) {
		n = RTE_MIN(qp->conf.nb_rx - i, (uint32_t)MLX5_QP_REPOST);
		for (k = 0; k < n; k++)
			slots[k] = i + k;
		ret = post_recvs(qp, slots, n);
		if (ret != 0)
			return ret > 0 ? -ret : ret;
	}
	return 0;
}

void
mlx5_qp_repost(struct mlx5_qp *qp, uint64_t wr_id)
{
	qp->repost[qp->nb_repost++] = (uint32_t)(wr_id >> 1);
	if (qp->nb_repost == MLX5_QP_REPOST)
		mlx5_qp_repost_flush(qp);
}

void
mlx5_qp_repost_flush(struct mlx5_qp *qp)
{
	if (qp->nb_repost == 0)
		return;
	/* It cannot be full: each slot has one place. In state ERR slots are flushed. */
	(void)post_recvs(qp, qp->repost, qp->nb_repost);
	qp->nb_repost = 0;
}

/* Sends */

void *
mlx5_qp_tx_buf(struct mlx5_qp *qp)
{
	return tx_buf(qp, qp->tx_tail);
}

/* The next work request, appended to the chain. */
static struct ibv_send_wr *
next_wr(struct mlx5_qp *qp, const struct ibv_sge *sge, uint32_t nb_sges)
{
	uint32_t i = qp->nb_chain++;
	struct ibv_send_wr *wr = &qp->wr[i];

	memcpy(qp->sge[i], sge, nb_sges * sizeof(*sge));
	wr->wr_id = qp->tx_tail << 1 | 1;
	wr->next = NULL;
	wr->sg_list = qp->sge[i];
	wr->num_sge = (int)nb_sges;
	wr->send_flags = 0;
	if (i > 0)
		qp->wr[i - 1].next = wr;
	comch_store_relaxed(&qp->tx_tail, qp->tx_tail + 1);
	return wr;
}

uint64_t
mlx5_qp_send(struct mlx5_qp *qp, uint32_t len)
{
	const struct ibv_sge sge = {
		.addr = (uintptr_t)tx_buf(qp, qp->tx_tail), .length = len,
		.lkey = qp->slab_mr->lkey,
	};
	struct ibv_send_wr *wr = next_wr(qp, &sge, 1);

	wr->opcode = IBV_WR_SEND;
	if (len <= qp->max_inline) {
		wr->send_flags = IBV_SEND_INLINE;
		comch_count(&qp->stats.inlined, 1);
	}
	comch_count(&qp->stats.sends, 1);
	return qp->tx_tail - 1;
}

uint64_t
mlx5_qp_write(struct mlx5_qp *qp, const struct ibv_sge *sge, uint32_t nb_sges, uint64_t addr,
		uint32_t rkey)
{
	struct ibv_send_wr *wr = next_wr(qp, sge, nb_sges);

	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->wr.rdma.remote_addr = addr;
	wr->wr.rdma.rkey = rkey;
	comch_count(&qp->stats.writes, 1);
	return qp->tx_tail - 1;
}

void
mlx5_qp_signal(struct mlx5_qp *qp)
{
	struct ibv_send_wr *wr = &qp->wr[qp->nb_chain - 1];

	if (wr->send_flags & IBV_SEND_SIGNALED)
		return;
	wr->send_flags |= IBV_SEND_SIGNALED;
	comch_count(&qp->stats.signalled, 1);
	comch_store_relaxed(&qp->tx_signalled, qp->tx_tail);
}

int
mlx5_qp_flush(struct mlx5_qp *qp, bool signal)
{
	struct ibv_send_wr *bad = NULL;
	int ret;

	if (qp->nb_chain == 0)
		return 0;
	if (signal || qp->tx_tail - qp->tx_signalled >= qp->conf.nb_tx / 4)
		mlx5_qp_signal(qp);
	qp->nb_chain = 0;
	comch_count(&qp->stats.doorbells, 1);
	ret = mlx5_glue->post_send(qp->qp, qp->wr, &bad);
	if (likely(ret == 0)) {
		qp->tx_posted = qp->tx_tail;
		return 0;
	}
	/* Those before *bad were posted; all from it on never will be. */
	qp->tx_posted = bad != NULL ? bad->wr_id >> 1 : qp->tx_posted;
	if (qp->status == IBV_WC_SUCCESS)
		qp->status = IBV_WC_GENERAL_ERR;
	mlx5_qp_error(qp);
	return ret > 0 ? -ret : -errno;
}

/* Completions */

/* Fetch completions. False: there are none. */
static bool
fetch(struct mlx5_qp *qp)
{
	int n;

	comch_count(&qp->stats.polls, 1);
	n = mlx5_glue->poll_cq(qp->cq, MLX5_QP_STASH, qp->stash);
	qp->stash_at = 0;
	qp->nb_stash = n > 0 ? (uint32_t)n : 0;
	comch_count(&qp->stats.cqes, qp->nb_stash);
	return n > 0;
}

static void
note_failure(struct mlx5_qp *qp, enum ibv_wc_status status)
{
	comch_count(&qp->stats.rnr, status == IBV_WC_RNR_RETRY_EXC_ERR);
	comch_count(&qp->stats.retries, status == IBV_WC_RETRY_EXC_ERR);
	if (qp->status == IBV_WC_SUCCESS || qp->status == IBV_WC_WR_FLUSH_ERR)
		qp->status = status;
	comch_store_release(&qp->is_err, true);
}

const struct ibv_wc *
mlx5_qp_next(struct mlx5_qp *qp)
{
	const struct ibv_wc *wc;

	if (qp->stash_at == qp->nb_stash && !fetch(qp))
		return NULL;
	wc = &qp->stash[qp->stash_at++];
	if (unlikely(wc->status != IBV_WC_SUCCESS))
		note_failure(qp, wc->status);
	if (!mlx5_qp_is_recv(wc))
		comch_store_relaxed(&qp->tx_head, mlx5_qp_send_number(wc) + 1);
	return wc;
}

bool
mlx5_qp_pending(struct mlx5_qp *qp)
{
	return qp->stash_at != qp->nb_stash || fetch(qp);
}

bool
mlx5_qp_is_flushed(const struct mlx5_qp *qp)
{
	return qp->tx_head == qp->tx_posted;
}

int
mlx5_qp_arm(struct mlx5_qp *qp)
{
	return mlx5_glue->req_notify_cq(qp->cq, 0);
}

int
mlx5_qp_arm_solicited(struct mlx5_qp *qp)
{
	return mlx5_glue->req_notify_cq(qp->cq, 1);
}

bool
mlx5_qp_stuck(struct mlx5_qp *qp, uint64_t now_ms, uint64_t max_ms)
{
	uint64_t head = comch_load_relaxed(&qp->tx_head);

	if (head != qp->watch_head || head >= comch_load_relaxed(&qp->tx_signalled)) {
		qp->watch_head = head;
		qp->watch_ms = now_ms;
		return false;
	}
	return now_ms - qp->watch_ms >= max_ms;
}

const char *
mlx5_qp_status_text(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return "success";
	case IBV_WC_WR_FLUSH_ERR:
		return "the queue pair was closed";
	case IBV_WC_RETRY_EXC_ERR:
		return "peer does not respond: all retries failed";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "peer has no receive buffer posted: all retries failed";
	case IBV_WC_REM_ACCESS_ERR:
		return "peer's memory does not allow the access";
	case IBV_WC_REM_INV_REQ_ERR:
		return "peer's device refused the request as invalid";
	case IBV_WC_REM_OP_ERR:
		return "peer's device failed to perform the request";
	case IBV_WC_LOC_LEN_ERR:
		return "peer sent a message that is longer than a receive slot";
	case IBV_WC_LOC_PROT_ERR:
		return "local memory is not registered for the access";
	case IBV_WC_LOC_QP_OP_ERR:
		return "the local device refused a work request";
	case IBV_WC_GENERAL_ERR:
		return "a work request could not be posted";
	default:
		return "the local device failed";
	}
}

int
mlx5_qp_status_errno(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return 0;
	case IBV_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_LOC_LEN_ERR:
		return -EPROTO;
	default:
		return -EIO;
	}
}
