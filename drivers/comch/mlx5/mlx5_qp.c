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

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

static uint8_t *
tx_buf(const struct mlx5_qp *qp, uint64_t number)
{
	return qp->slab + (size_t)qp->conf.nb_rx * qp->conf.rx_size +
		(size_t)(number % qp->conf.nb_tx) * qp->conf.tx_size;
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
		xstats[i] = (struct rte_comch_xstat){ .name = xstats_of_qp[i].name };
		memcpy(&xstats[i].value, (const uint8_t *)&sum + xstats_of_qp[i].offset,
			sizeof(xstats[i].value));
	}
	return RTE_DIM(xstats_of_qp);
}

/* Life */

static void
count_slots(struct mlx5_qp *qp)
{
	comch_count(&qp->stats.recvs, qp->conf.nb_rx);
	comch_count(&qp->stats.rx_doorbells,
		(qp->conf.nb_rx + MLX5_QP_REPOST - 1) / MLX5_QP_REPOST);
}

/* The handles were made: use them. */
static void
adopt(struct mlx5_qp *qp)
{
	const struct mlx5_qp_hw *hw = qp->hw;

	qp->qp = hw->qp;
	qp->cq = hw->cq;
	qp->pd = hw->pd;
	qp->slab = hw->slab;
	qp->lkey = hw->slab_mr->lkey;
	qp->psn = hw->psn;
	qp->max_inline = hw->max_inline;
	qp->max_sges = hw->max_sges;
	qp_list(qp);
}

/* What the last step made of it. */
static int
step_done(struct mlx5_qp *qp)
{
	int ret = qp->hw->ret;

	if (ret != 0) {
		mlx5_qp_destroy(qp);
		return ret;
	}
	if (qp->qp == NULL)
		adopt(qp);
	if (qp->hw->to.qpn != 0)
		count_slots(qp);
	return 0;
}

int
mlx5_qp_begin(struct mlx5_qp *qp, struct mlx5_link *link, const struct mlx5_qp_conf *conf,
		const struct mlx5_qp_to *to)
{
	int ret;

	*qp = (struct mlx5_qp){ .dev = link->dev, .conf = *conf, .status = IBV_WC_SUCCESS };
	ret = mlx5_qp_hw_new(link, conf, &qp->hw);
	if (ret != 0)
		return ret;
	if (to != NULL)
		qp->hw->to = *to;
	mlx5_qp_hw_create(qp->hw);
	return 0;
}

void
mlx5_qp_begin_connect(struct mlx5_qp *qp, const struct mlx5_qp_to *to)
{
	mlx5_qp_hw_connect(qp->hw, to);
}

int
mlx5_qp_poll_step(struct mlx5_qp *qp)
{
	return mlx5_job_is_busy(&qp->hw->job) ? -EINPROGRESS : step_done(qp);
}

void
mlx5_qp_destroy(struct mlx5_qp *qp)
{
	if (qp->is_listed)
		qp_unlist(qp);
	qp->is_listed = false;
	if (qp->hw == NULL)
		return;
	qp->hw->nb_events = qp->nb_events;
	mlx5_job_end(&qp->hw->job);
	qp->hw = NULL;
	qp->qp = NULL;
	qp->cq = NULL;
	qp->slab = NULL;
}

void
mlx5_qp_destroy_now(struct mlx5_qp *qp)
{
	mlx5_verbs->destroy_qp(qp->qp);
	qp->qp = qp->hw->qp = NULL;
}

void
mlx5_qp_error(struct mlx5_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (qp->qp == NULL)
		return;
	/* Pairs with mlx5_remote_is_err(). Model: publish.pml, publish. */
	comch_store_release(&qp->is_err, true);
	(void)mlx5_verbs->modify_qp(qp->qp, &attr, IBV_QP_STATE);
}

/* Receives */

int
mlx5_qp_post_slots(struct mlx5_qp *qp)
{
	count_slots(qp);
	return mlx5_qp_hw_post_all(qp->hw);
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
	comch_count(&qp->stats.recvs, qp->nb_repost);
	comch_count(&qp->stats.rx_doorbells, 1);
	(void)mlx5_qp_hw_post(qp->hw, qp->repost, qp->nb_repost);
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
		.lkey = qp->lkey,
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
	ret = mlx5_verbs->post_send(qp->qp, qp->wr, &bad);
	if (likely(ret == 0)) {
		qp->tx_posted = qp->tx_tail;
		return 0;
	}
	ret = mlx5_glue_error(ret);
	/* Those before *bad were posted; all from it on never will be. */
	qp->tx_posted = bad != NULL ? bad->wr_id >> 1 : qp->tx_posted;
	if (qp->status == IBV_WC_SUCCESS)
		qp->status = IBV_WC_GENERAL_ERR;
	mlx5_qp_error(qp);
	return ret;
}

/* Completions */

/* Fetch completions. False: there are none. */
static bool
fetch(struct mlx5_qp *qp)
{
	int n;

	comch_count(&qp->stats.polls, 1);
	n = mlx5_verbs->poll_cq(qp->cq, MLX5_QP_STASH, qp->stash);
	qp->stash_at = 0;
	qp->nb_stash = n > 0 ? (uint32_t)n : 0;
	comch_count(&qp->stats.cqes, qp->nb_stash);
	return n > 0;
}

static void
note_failure(struct mlx5_qp *qp, const struct ibv_wc *wc)
{
	enum ibv_wc_status status = mlx5_qp_status_of(wc);

	comch_count(&qp->stats.rnr, status == IBV_WC_RNR_RETRY_EXC_ERR);
	comch_count(&qp->stats.retries, status == IBV_WC_RETRY_EXC_ERR);
	if (qp->status == IBV_WC_SUCCESS || qp->status == IBV_WC_WR_FLUSH_ERR)
		qp->status = status;
	/* Pairs with mlx5_remote_is_err(). Model: publish.pml, publish. */
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
		note_failure(qp, wc);
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
mlx5_qp_skip_sends(struct mlx5_qp *qp)
{
	const struct ibv_wc *wc;

	while (mlx5_qp_pending(qp)) {
		wc = &qp->stash[qp->stash_at];
		if (wc->status != IBV_WC_SUCCESS || mlx5_qp_is_recv(wc))
			return true;
		mlx5_qp_next(qp);
	}
	return false;
}

bool
mlx5_qp_is_flushed(const struct mlx5_qp *qp)
{
	return qp->tx_head == qp->tx_posted;
}

int
mlx5_qp_arm(struct mlx5_qp *qp)
{
	return mlx5_verbs->req_notify_cq(qp->cq, 0);
}

int
mlx5_qp_arm_solicited(struct mlx5_qp *qp)
{
	return mlx5_verbs->req_notify_cq(qp->cq, 1);
}

bool
mlx5_qp_stuck(struct mlx5_qp *qp, uint64_t now_ms, uint64_t max_ms)
{
	uint64_t head = comch_load_relaxed(&qp->tx_head);

	if (head >= comch_load_relaxed(&qp->tx_signalled)) {
		qp->watched = 0;
		return false;
	}
	/* Time counts from the first look at this work request, not from the last one before. */
	if (qp->watched != head + 1) {
		qp->watched = head + 1;
		qp->watch_ms = now_ms;
	}
	return now_ms - qp->watch_ms >= max_ms;
}
