/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What queue pairs report: counters, summed for their device, and failures in words. */

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

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

void
mlx5_qp_list(struct mlx5_qp *qp)
{
	pthread_mutex_lock(&qp->dev->lock);
	TAILQ_INSERT_TAIL(&qp->dev->qps, qp, next);
	qp->is_listed = true;
	pthread_mutex_unlock(&qp->dev->lock);
}

void
mlx5_qp_unlist(struct mlx5_qp *qp)
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

/* Failures */

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
