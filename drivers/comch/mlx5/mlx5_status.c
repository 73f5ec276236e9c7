/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What a failed completion means. */

#include <errno.h>

#include "mlx5_qp.h"

enum ibv_wc_status
mlx5_qp_status_of(const struct ibv_wc *wc)
{
	/*
	 * Soft-RoCE reports a too long message by this status; a receive has no other cause for
	 * it.
	 */
	if (wc->status == IBV_WC_LOC_QP_OP_ERR && mlx5_qp_is_recv(wc))
		return IBV_WC_LOC_LEN_ERR;
	return wc->status;
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
