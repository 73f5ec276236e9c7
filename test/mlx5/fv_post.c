/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Posting to queue pairs. What is posted is looked at when it is due (fv_wire.c). */

#include "fv_private.h"

static bool
opcode_ok(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
			opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static int
send_err(const struct fv_qp *qp, const struct ibv_send_wr *wr)
{
	size_t len = 0;
	int i;

	if (qp->ibv.state != IBV_QPS_RTS && qp->ibv.state != IBV_QPS_ERR)
		return EINVAL;
	if (!opcode_ok(wr->opcode) || wr->num_sge < 0 ||
			(uint32_t)wr->num_sge > qp->cap.max_send_sge)
		return EINVAL;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if ((wr->send_flags & IBV_SEND_INLINE) && len > qp->cap.max_inline_data)
		return EINVAL;
	return qp->s_posted - qp->s_freed >= qp->cap.max_send_wr ? ENOMEM : 0;
}

static int
send_one(struct fv_qp *qp, const struct ibv_send_wr *wr)
{
	struct fv_swr *s;
	size_t at = 0;
	int i, err;

	err = send_err(qp, wr);
	if (err != 0)
		return err;
	s = fv_swr(qp, qp->s_posted);
	s->wr = *wr;
	s->len = 0;
	s->status = IBV_WC_SUCCESS;
	s->due = fv_wire_due(&qp->last_due);
	s->ack_due = 0;
	for (i = 0; i < wr->num_sge; i++) {
		s->sges[i] = wr->sg_list[i];
		s->len += wr->sg_list[i].length;
		if ((wr->send_flags & IBV_SEND_INLINE) && wr->sg_list[i].length > 0) {
			memcpy(&s->inl[at], (const void *)(uintptr_t)wr->sg_list[i].addr,
					wr->sg_list[i].length);
			at += wr->sg_list[i].length;
		}
	}
	qp->s_posted++;
	fv_death_step();
	fv.stats.sends++;
	return 0;
}

/* How many work requests this call takes. */
static unsigned int
post_limit(const struct ibv_send_wr *wr)
{
	unsigned int nb = 0;

	if (fv.short_post > 0) {
		nb = fv.short_post - 1;
		fv.short_post = 0;
		return nb;
	}
	if (fv_random(100) >= fv.conf.short_posts)
		return UINT32_MAX;
	for (; wr != NULL; wr = wr->next)
		nb++;
	return fv_random(nb);
}

int
fv_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fv_qp *qp = fv_qp_of(ibv);
	unsigned int limit;
	uint64_t before;
	int err;

	fv_lock();
	FV_CHECK(qp, FV_QP);
	before = qp->s_posted;
	limit = post_limit(wr);
	err = fv_call_err(FV_CALL_POST_SEND);
	for (; wr != NULL && err == 0; wr = wr->next) {
		err = limit-- > 0 ? send_one(qp, wr) : ENOMEM;
		if (err != 0)
			break;
	}
	if (err != 0)
		*bad = wr;
	if (qp->s_posted != before) {
		fv.stats.doorbells++;
		if (ibv->state == IBV_QPS_ERR)
			qp->flush_due = fv_wire_due(&qp->last_due);
		fv_qp_busy(qp);
		fv_wire_run();
	}
	fv_unlock();
	return err;
}

static int
recv_err(const struct fv_qp *qp, const struct ibv_recv_wr *wr)
{
	if (qp->ibv.state == IBV_QPS_RESET || wr->num_sge < 0 ||
			(uint32_t)wr->num_sge > qp->cap.max_recv_sge)
		return EINVAL;
	return qp->r_posted - qp->r_freed >= qp->cap.max_recv_wr ? ENOMEM : 0;
}

/* Litmus: what is read before the completion is poison. */
static void
poison(const struct fv_qp *qp, struct fv_rwr *r)
{
	struct fv_iov iov[FV_MAX_SGE];
	int i, nb;

	/* What is not allowed fails when it is used. */
	r->poisoned = fv.conf.late_recv && fv_mr_resolve(qp->ibv.pd, r->sges, r->num_sge,
			IBV_ACCESS_LOCAL_WRITE, iov, &nb);
	if (!r->poisoned)
		return;
	for (i = 0; i < nb; i++)
		memset(iov[i].addr, FV_POISON, iov[i].len);
}

void
fv_recv_over(const struct fv_qp *qp, const struct fv_rwr *r)
{
	struct fv_iov iov[FV_MAX_SGE];
	int i, nb;
	size_t k;

	if (!r->poisoned || !fv_mr_resolve(qp->ibv.pd, r->sges, r->num_sge,
			IBV_ACCESS_LOCAL_WRITE, iov, &nb))
		return;
	for (i = 0; i < nb; i++) {
		for (k = 0; k < iov[i].len && iov[i].addr[k] == FV_POISON; k++)
			;
		if (k < iov[i].len)
			FV_DIE("queue pair %#x: byte %zu of piece %d of receive %#llx was written "
					"while it was posted", qp->ibv.qp_num, k, i,
					(unsigned long long)r->wr_id);
	}
}

static int
recv_one(struct fv_qp *qp, const struct ibv_recv_wr *wr)
{
	struct fv_rwr *r;
	int err;

	err = recv_err(qp, wr);
	if (err != 0)
		return err;
	r = fv_rwr(qp, qp->r_posted);
	r->wr_id = wr->wr_id;
	r->num_sge = wr->num_sge;
	if (wr->num_sge > 0)
		memcpy(r->sges, wr->sg_list, (size_t)wr->num_sge * sizeof(*r->sges));
	poison(qp, r);
	qp->r_posted++;
	fv_death_step();
	fv.stats.recvs++;
	return 0;
}

int
fv_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fv_qp *qp = fv_qp_of(ibv);
	int err;

	fv_lock();
	FV_CHECK(qp, FV_QP);
	err = fv_call_err(FV_CALL_POST_RECV);
	for (; wr != NULL && err == 0; wr = wr->next) {
		err = recv_one(qp, wr);
		if (err != 0)
			break;
	}
	if (err != 0)
		*bad = wr;
	if (ibv->state == IBV_QPS_ERR) {
		qp->flush_due = fv_wire_due(&qp->last_due);
		fv_qp_busy(qp);
		fv_wire_run();
	}
	fv_unlock();
	return err;
}
