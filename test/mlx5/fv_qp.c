/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* RC queue pairs: creation, states, and which fits which. */

#include <stdio.h>

#include "fv_private.h"

#define REMOTE_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		IBV_ACCESS_REMOTE_ATOMIC)
#define PSN_MASK 0xffffff

/* What a transition needs, and what it may have beside that. */
static const struct {
	enum ibv_qp_state from, to;
	int need, may;
} transitions[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT,
		IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT,
		0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_INIT, IBV_QPS_RTR,
		IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC,
		IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_RTS,
		0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
};

static struct fv_qps *
bucket(uint32_t num)
{
	return &fv.qp_hash[num % FV_NB_BUCKETS];
}

static int
caps_err(const struct ibv_qp_cap *cap)
{
	const struct fv_conf *conf = &fv.conf;

	if (cap->max_send_wr > (uint32_t)conf->max_qp_wr ||
			cap->max_recv_wr > (uint32_t)conf->max_qp_wr ||
			cap->max_send_sge > (uint32_t)conf->max_sge ||
			cap->max_recv_sge > (uint32_t)conf->max_sge ||
			cap->max_inline_data > conf->max_inline)
		return EINVAL;
	return 0;
}

static int
create_err(struct fv_dev *dev, const struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	int err = fv_call_err(FV_CALL_CREATE_QP);

	if (err != 0)
		return err;
	if (dev->dead)
		return EIO;
	if (attr->qp_type != IBV_QPT_RC || attr->srq != NULL)
		return EOPNOTSUPP;
	if (attr->send_cq == NULL || attr->recv_cq == NULL ||
			attr->send_cq->context != pd->context ||
			attr->recv_cq->context != pd->context)
		return EINVAL;
	FV_CHECK(fv_cq_of(attr->send_cq), FV_CQ);
	FV_CHECK(fv_cq_of(attr->recv_cq), FV_CQ);
	if (caps_err(&attr->cap) != 0)
		return EINVAL;
	return dev->nb_qp >= fv.conf.max_qp ? ENOMEM : 0;
}

static void *
zalloc(size_t nb, size_t size)
{
	void *p = calloc(nb == 0 ? 1 : nb, size == 0 ? 1 : size);

	if (p == NULL)
		FV_DIE("out of memory");
	return p;
}

static void
alloc_queues(struct fv_qp *qp)
{
	const struct ibv_qp_cap *cap = &qp->cap;
	uint32_t i;

	qp->sq = zalloc(cap->max_send_wr, sizeof(*qp->sq));
	qp->rq = zalloc(cap->max_recv_wr, sizeof(*qp->rq));
	qp->sq_sges = zalloc(cap->max_send_wr, cap->max_send_sge * sizeof(*qp->sq_sges));
	qp->rq_sges = zalloc(cap->max_recv_wr, cap->max_recv_sge * sizeof(*qp->rq_sges));
	qp->inl = zalloc(cap->max_send_wr, cap->max_inline_data);
	for (i = 0; i < cap->max_send_wr; i++) {
		qp->sq[i].sges = &qp->sq_sges[(size_t)i * cap->max_send_sge];
		qp->sq[i].inl = &qp->inl[(size_t)i * cap->max_inline_data];
	}
	for (i = 0; i < cap->max_recv_wr; i++)
		qp->rq[i].sges = &qp->rq_sges[(size_t)i * cap->max_recv_sge];
}

struct ibv_qp *
fv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fv_dev *dev = fv_dev_of(pd->context);
	struct fv_qp *qp;
	int err;

	fv_call_wait(FV_CALL_CREATE_QP);
	fv_lock();
	err = create_err(dev, pd, attr);
	if (err != 0) {
		fv_unlock();
		errno = err;
		return NULL;
	}
	qp = fv_new(FV_QP, sizeof(*qp));
	qp->ibv.context = pd->context;
	qp->ibv.qp_context = attr->qp_context;
	qp->ibv.pd = pd;
	qp->ibv.send_cq = attr->send_cq;
	qp->ibv.recv_cq = attr->recv_cq;
	qp->ibv.qp_num = fv.next_qpn++ & PSN_MASK;
	qp->ibv.state = IBV_QPS_RESET;
	qp->ibv.qp_type = attr->qp_type;
	qp->sq_sig_all = attr->sq_sig_all != 0;
	qp->cap = attr->cap;
	TAILQ_INIT(&qp->aside);
	alloc_queues(qp);
	fv_pd_use(pd, 1);
	fv_cq_of(attr->send_cq)->nb_qps++;
	fv_cq_of(attr->recv_cq)->nb_qps++;
	dev->nb_qp++;
	TAILQ_INSERT_TAIL(&fv.qps, qp, next);
	TAILQ_INSERT_TAIL(bucket(qp->ibv.qp_num), qp, hash_next);
	fv_wire_start();
	fv_unlock();
	return &qp->ibv;
}

/* As in a provider: completions of the queue pair go, too. */
static void
qp_clear(struct fv_qp *qp)
{
	fv_cq_drop_qp(fv_cq_of(qp->ibv.send_cq), qp);
	fv_cq_drop_qp(fv_cq_of(qp->ibv.recv_cq), qp);
	fv_aside_apply(&qp->aside);
	if (qp->busy)
		TAILQ_REMOVE(&fv.busy, qp, busy_next);
	qp->busy = false;
	qp->doomed = false;
	qp->s_freed = qp->s_done = qp->s_delivered = qp->s_posted = 0;
	qp->r_freed = qp->r_taken = qp->r_posted = 0;
	qp->blocked_since = qp->ack_blocked_since = 0;
	qp->rnr_until = 0;
	qp->rnr_tries = 0;
}

int
fv_destroy_qp(struct ibv_qp *ibv)
{
	struct fv_qp *qp = fv_qp_of(ibv);

	fv_call_wait(FV_CALL_DESTROY_QP);
	fv_lock();
	FV_CHECK(qp, FV_QP);
	if (!fv_await_acks(&qp->unacked_async))
		FV_DIE("blocks for ever: %u asynchronous events of queue pair %#x are not "
				"acknowledged", qp->unacked_async, ibv->qp_num);
	qp_clear(qp);
	fv_async_drop(fv_dev_of(ibv->context), ibv);
	fv_pd_use(ibv->pd, -1);
	fv_cq_of(ibv->send_cq)->nb_qps--;
	fv_cq_of(ibv->recv_cq)->nb_qps--;
	fv_dev_of(ibv->context)->nb_qp--;
	TAILQ_REMOVE(&fv.qps, qp, next);
	TAILQ_REMOVE(bucket(ibv->qp_num), qp, hash_next);
	free(qp->sq);
	free(qp->rq);
	free(qp->sq_sges);
	free(qp->rq_sges);
	free(qp->inl);
	fv_free(qp, sizeof(*qp));
	fv_unlock();
	return 0;
}

void
fv_qp_busy(struct fv_qp *qp)
{
	if (!qp->busy)
		TAILQ_INSERT_TAIL(&fv.busy, qp, busy_next);
	qp->busy = true;
}

void
fv_qp_error(struct fv_qp *qp)
{
	if (qp->ibv.state == IBV_QPS_ERR)
		return;
	qp->ibv.state = IBV_QPS_ERR;
	qp->flush_due = fv_wire_due(&qp->last_due);
	fv_qp_busy(qp);
}

/* 0, or the errno of what is wrong with the values of a transition. */
static int
values_err(const struct fv_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	const struct fv_dev *dev = fv_dev_of(qp->ibv.context);

	if ((mask & IBV_QP_PORT) && a->port_num != 1)
		return EINVAL;
	if ((mask & IBV_QP_PKEY_INDEX) && a->pkey_index != 0)
		return EINVAL;
	if ((mask & IBV_QP_ACCESS_FLAGS) &&
			(a->qp_access_flags & ~(REMOTE_ACCESS | IBV_ACCESS_LOCAL_WRITE)) != 0)
		return EINVAL;
	if ((mask & IBV_QP_PATH_MTU) &&
			(a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_1024))
		return EINVAL;
	if ((mask & IBV_QP_AV) != 0) {
		const struct ibv_global_route *grh = &a->ah_attr.grh;

		if (a->ah_attr.port_num != 1 || a->ah_attr.sl > 15)
			return EINVAL;
		if (!a->ah_attr.is_global || fv_gid_at(dev, grh->sgid_index) == NULL)
			return EINVAL;
		if (fv_dev_of_gid(&grh->dgid, NULL) == NULL)
			return EHOSTUNREACH;
	}
	if (((mask & IBV_QP_TIMEOUT) && a->timeout > 31) ||
			((mask & IBV_QP_RETRY_CNT) && a->retry_cnt > 7) ||
			((mask & IBV_QP_RNR_RETRY) && a->rnr_retry > 7) ||
			((mask & IBV_QP_MIN_RNR_TIMER) && a->min_rnr_timer > 31) ||
			((mask & IBV_QP_RQ_PSN) && a->rq_psn > PSN_MASK) ||
			((mask & IBV_QP_SQ_PSN) && a->sq_psn > PSN_MASK) ||
			((mask & IBV_QP_DEST_QPN) && a->dest_qp_num > PSN_MASK) ||
			((mask & IBV_QP_MAX_QP_RD_ATOMIC) && a->max_rd_atomic > 128) ||
			((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && a->max_dest_rd_atomic > 128))
		return EINVAL;
	return 0;
}

/* 0, or EINVAL with the attributes that lack or are too many. */
static int
transition_err(const struct fv_qp *qp, enum ibv_qp_state to, int mask)
{
	unsigned int i;

	mask &= ~IBV_QP_STATE;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask == 0 ? 0 : EINVAL;
	for (i = 0; i < FV_DIM(transitions); i++)
		if (transitions[i].from == qp->ibv.state && transitions[i].to == to)
			break;
	if (i == FV_DIM(transitions)) {
		FV_SAY("queue pair %#x: from state %d to %d", qp->ibv.qp_num, qp->ibv.state, to);
		return EINVAL;
	}
	if ((mask & transitions[i].need) == transitions[i].need &&
			(mask & ~(transitions[i].need | transitions[i].may)) == 0)
		return 0;
	FV_SAY("queue pair %#x to state %d: attributes %#x lack, %#x are too many",
			qp->ibv.qp_num, to, transitions[i].need & ~mask,
			mask & ~(transitions[i].need | transitions[i].may));
	return EINVAL;
}

static void
apply(struct ibv_qp_attr *to, const struct ibv_qp_attr *a, int mask)
{
#define TAKE(bit, field) \
	do { \
		if (mask & (bit)) \
			to->field = a->field; \
	} while (0)
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_AV, ah_attr);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
	TAKE(IBV_QP_RQ_PSN, rq_psn);
	TAKE(IBV_QP_SQ_PSN, sq_psn);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
#undef TAKE
}

int
fv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	struct fv_qp *qp = fv_qp_of(ibv);
	enum ibv_qp_state to;
	int err;

	fv_lock();
	FV_CHECK(qp, FV_QP);
	to = (mask & IBV_QP_STATE) ? attr->qp_state : ibv->state;
	err = fv_call_err(FV_CALL_MODIFY_QP);
	if (err == 0 && fv_dev_of(ibv->context)->dead)
		err = EIO;
	if (err == 0 && (mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != ibv->state)
		err = EINVAL;
	if (err == 0)
		err = transition_err(qp, to, mask);
	if (err == 0)
		err = values_err(qp, attr, mask);
	if (err == 0) {
		apply(&qp->attr, attr, mask);
		if (to == IBV_QPS_RESET)
			qp_clear(qp);
		if (to == IBV_QPS_ERR)
			fv_qp_error(qp);
		ibv->state = to;
		fv_wire_run();
	}
	fv_unlock();
	return err;
}

int
fv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask,
		struct ibv_qp_init_attr *init)
{
	struct fv_qp *qp = fv_qp_of(ibv);

	(void)mask;
	fv_lock();
	FV_CHECK(qp, FV_QP);
	*attr = qp->attr;
	attr->qp_state = ibv->state;
	attr->cur_qp_state = ibv->state;
	attr->cap = qp->cap;
	*init = (struct ibv_qp_init_attr) {
		.qp_context = ibv->qp_context,
		.send_cq = ibv->send_cq,
		.recv_cq = ibv->recv_cq,
		.cap = qp->cap,
		.qp_type = ibv->qp_type,
		.sq_sig_all = qp->sq_sig_all,
	};
	fv_unlock();
	return 0;
}

struct fv_qp *
fv_qp_by_num(uint32_t num)
{
	struct fv_qp *qp;

	TAILQ_FOREACH(qp, bucket(num), hash_next)
		if (qp->ibv.qp_num == num)
			return qp;
	return NULL;
}

const struct ibv_gid_entry *
fv_qp_gid(const struct fv_qp *qp)
{
	return fv_gid_at(fv_dev_of(qp->ibv.context), qp->attr.ah_attr.grh.sgid_index);
}

/* Why a queue pair does not take this one's messages, though both are there. */
static const char *
misfit(const struct fv_qp *qp, const struct fv_qp *peer)
{
	const struct ibv_gid_entry *mine = fv_qp_gid(qp), *theirs = fv_qp_gid(peer);

	if (peer->attr.dest_qp_num != qp->ibv.qp_num)
		return "it is connected to another";
	if (memcmp(&theirs->gid, &qp->attr.ah_attr.grh.dgid, sizeof(theirs->gid)) != 0)
		return "it has not this destination's GID";
	if (memcmp(&mine->gid, &peer->attr.ah_attr.grh.dgid, sizeof(mine->gid)) != 0)
		return "it expects another GID";
	if (mine->gid_type != theirs->gid_type)
		return "types of GIDs differ";
	if (qp->attr.sq_psn != peer->attr.rq_psn)
		return "sq_psn is not its rq_psn";
	if (qp->attr.path_mtu != peer->attr.path_mtu)
		return "path_mtu differs";
	return NULL;
}

struct fv_qp *
fv_qp_find_peer(struct fv_qp *qp, bool complain)
{
	struct fv_qp *peer = fv_qp_by_num(qp->attr.dest_qp_num);
	const char *why;

	if (peer == NULL || (peer->ibv.state != IBV_QPS_RTR && peer->ibv.state != IBV_QPS_RTS))
		return NULL;
	why = misfit(qp, peer);
	if (why == NULL)
		return peer;
	if (complain && !qp->complained)
		FV_SAY("queue pair %#x drops messages of %#x: %s", peer->ibv.qp_num,
				qp->ibv.qp_num, why);
	qp->complained = true;
	return NULL;
}

struct ibv_qp *
fv_qp(unsigned int n)
{
	struct fv_qp *qp;

	fv_lock();
	TAILQ_FOREACH(qp, &fv.qps, next)
		if (n-- == 0)
			break;
	fv_unlock();
	return qp == NULL ? NULL : &qp->ibv;
}

struct ibv_qp *
fv_qp_peer(const struct ibv_qp *ibv)
{
	struct fv_qp *peer;

	fv_lock();
	peer = fv_qp_find_peer(fv_qp_of(ibv), false);
	fv_unlock();
	return peer == NULL ? NULL : &peer->ibv;
}
