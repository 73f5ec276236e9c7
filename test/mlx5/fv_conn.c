/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connection manager: calls that make and end connections. */

#include "fv_private.h"

static void
param_of(struct fv_id *id, const struct rdma_conn_param *param)
{
	if (id->rdma.qp != NULL)
		FV_DIE("ids with a queue pair of their own are not made here");
	id->mine.qpn = param->qp_num;
	id->mine.responder_resources = param->responder_resources;
	id->mine.initiator_depth = param->initiator_depth;
	id->mine.retry_count = param->retry_count & 7;
	id->mine.rnr_retry_count = param->rnr_retry_count & 7;
	id->mine.flow_control = param->flow_control;
	id->mine.srq = param->srq;
}

static int
param_err(const struct fv_id *id, const struct rdma_conn_param *param, uint8_t max)
{
	if (param->private_data_len > max || (param->private_data == NULL &&
			param->private_data_len > 0))
		return EINVAL;
	if (id->dev == NULL || id->dev->dead)
		return ENODEV;
	return param->responder_resources > 128 || param->initiator_depth > 128 ? EINVAL : 0;
}

/* A request or the answer to one: with what the end wants, and data of its program. */
static struct fv_msg *
send_param(struct fv_id *id, enum fv_msg_type type, const struct rdma_conn_param *param,
		uint8_t len)
{
	struct fv_msg *m = fv_msg_new(id, type);

	param_of(id, param);
	m->param = id->mine;
	m->len = len;
	if (param->private_data_len > 0)
		memcpy(m->data, param->private_data, param->private_data_len);
	return m;
}

int
fv_connect(struct rdma_cm_id *rdma, struct rdma_conn_param *param)
{
	struct fv_id *id = fv_id_of(rdma);
	struct fv_msg *m;
	int err;

	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_CONNECT);
	if (err == 0 && id->state != FV_ID_ROUTE)
		err = EINVAL;
	if (err == 0)
		err = param_err(id, param, FV_REQ_DATA);
	if (err == 0) {
		id->state = FV_ID_REQ_SENT;
		m = send_param(id, FV_MSG_REQ, param, FV_REQ_DATA);
		m->to = 0;
		m->sport = fv_id_port(&rdma->route.addr.src_storage);
		m->dport = fv_id_port(&rdma->route.addr.dst_storage);
		fv_wire_run();
	}
	fv_unlock();
	return fv_cm_ret(err);
}

int
fv_accept(struct rdma_cm_id *rdma, struct rdma_conn_param *param)
{
	struct fv_id *id = fv_id_of(rdma);
	int err;

	if (param == NULL)
		FV_DIE("without a queue pair of the id, its number must be told");
	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_ACCEPT);
	if (err == 0 && id->state != FV_ID_REQ_RCVD)
		err = EINVAL;
	if (err == 0)
		err = param_err(id, param, FV_REP_DATA);
	if (err == 0) {
		id->state = FV_ID_REP_SENT;
		(void)send_param(id, FV_MSG_REP, param, FV_REP_DATA);
		fv_wire_run();
	}
	fv_unlock();
	return fv_cm_ret(err);
}

int
fv_establish(struct rdma_cm_id *rdma)
{
	struct fv_id *id = fv_id_of(rdma);
	int err;

	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_ESTABLISH);
	if (err == 0 && id->state != FV_ID_REP_RCVD)
		err = EINVAL;
	if (err == 0) {
		id->state = FV_ID_UP;
		fv_msg_new(id, FV_MSG_RTU);
		fv_wire_run();
	}
	fv_unlock();
	return fv_cm_ret(err);
}

int
fv_reject(struct rdma_cm_id *rdma, const void *data, uint8_t len)
{
	struct fv_id *id = fv_id_of(rdma);
	int err = 0;

	fv_lock();
	FV_CHECK(id, FV_ID);
	if ((id->state != FV_ID_REQ_RCVD && id->state != FV_ID_REP_RCVD) || len > FV_REJ_DATA)
		err = EINVAL;
	if (err == 0) {
		fv_send_rej(id, FV_REJ_CONSUMER, data, len);
		id->state = FV_ID_OVER;
		fv_wire_run();
	}
	fv_unlock();
	return fv_cm_ret(err);
}

int
fv_disconnect(struct rdma_cm_id *rdma)
{
	struct fv_id *id = fv_id_of(rdma);
	int err = 0;

	fv_lock();
	FV_CHECK(id, FV_ID);
	if (id->peer == 0 && id->state != FV_ID_REQ_SENT) {
		err = EINVAL;
	} else if (id->state == FV_ID_UP) {
		id->state = FV_ID_DREQ_SENT;
		fv_msg_new(id, FV_MSG_DREQ);
	} else if (id->state == FV_ID_DREQ_RCVD) {
		id->state = FV_ID_OVER;
		fv_msg_new(id, FV_MSG_DREP);
		fv_msg_local(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, fv.conf.timewait_ms);
	}
	fv_wire_run();
	fv_unlock();
	return fv_cm_ret(err);
}

/* As ib_cm: what is not known yet is not told. */
static int
attr_of(const struct fv_id *id, struct ibv_qp_attr *a, int *mask)
{
	const bool has_peer = id->state >= FV_ID_REQ_RCVD;

	*mask = IBV_QP_STATE;
	switch (a->qp_state) {
	case IBV_QPS_INIT:
		a->pkey_index = 0;
		a->port_num = 1;
		a->qp_access_flags = has_peer ? IBV_ACCESS_REMOTE_WRITE : 0;
		*mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		return 0;
	case IBV_QPS_RTR:
		if (!has_peer)
			return EINVAL;
		memset(&a->ah_attr, 0, sizeof(a->ah_attr));
		a->ah_attr.is_global = 1;
		a->ah_attr.port_num = 1;
		a->ah_attr.sl = id->tos >> 5;
		a->ah_attr.grh.dgid = id->dgid;
		a->ah_attr.grh.sgid_index = (uint8_t)id->gid_index;
		a->ah_attr.grh.hop_limit = 64;
		a->ah_attr.grh.traffic_class = id->tos;
		a->path_mtu = IBV_MTU_1024;
		a->dest_qp_num = id->theirs.qpn;
		a->rq_psn = id->mine.psn;
		a->max_dest_rd_atomic = id->mine.responder_resources;
		/* The longest, 655 ms. */
		a->min_rnr_timer = 0;
		*mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		return 0;
	case IBV_QPS_RTS:
		if (!has_peer)
			return EINVAL;
		a->sq_psn = id->theirs.psn;
		a->timeout = id->ack_timeout;
		a->retry_cnt = id->state == FV_ID_REQ_RCVD || id->state == FV_ID_REP_SENT ?
				id->theirs.retry_count : id->mine.retry_count;
		a->rnr_retry = id->theirs.rnr_retry_count;
		a->max_rd_atomic = id->mine.initiator_depth;
		*mask |= IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC;
		return 0;
	default:
		return EINVAL;
	}
}

int
fv_init_qp_attr(struct rdma_cm_id *rdma, struct ibv_qp_attr *attr, int *mask)
{
	struct fv_id *id = fv_id_of(rdma);
	int err;

	fv_lock();
	FV_CHECK(id, FV_ID);
	err = fv_call_err(FV_CALL_INIT_QP_ATTR);
	if (err == 0 && id->dev == NULL)
		err = EINVAL;
	if (err == 0)
		err = attr_of(id, attr, mask);
	fv_unlock();
	return fv_cm_ret(err);
}
