/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The wire: what was posted is delivered and completed, in its time. */

#include <pthread.h>
#include <time.h>

#include "fv_private.h"

/* Undefined fields of a completion. */
#define GARBAGE 0xdb

static pthread_cond_t wake;
static bool started;

/* Microseconds of the codes of min_rnr_timer; 0 is the longest. */
static const uint32_t rnr_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880,
	163840, 245760, 327680, 491520,
};

/* When something arrives that is sent now; not before what was sent earlier. */
uint64_t
fv_wire_due(uint64_t *last)
{
	uint64_t due = fv_now() + fv.conf.delay_us + fv_random(fv.conf.jitter_us);

	if (fv.conf.delay_us == 0 && fv.conf.jitter_us == 0)
		due = 0;
	*last = FV_MAX(*last, due);
	return *last;
}

bool
fv_wire_is_held(void)
{
	return fv.held && fv.steps == 0;
}

void
fv_step_take(void)
{
	if (fv.held)
		fv.steps--;
	fv_death_step();
}

static struct fv_cqe *
cqe_new(struct fv_qp *qp, uint64_t wr_id, enum ibv_wc_status status)
{
	struct fv_cqe *cqe = malloc(sizeof(*cqe));

	if (cqe == NULL)
		FV_DIE("out of memory");
	memset(cqe, GARBAGE, sizeof(*cqe));
	TAILQ_INIT(&cqe->aside);
	cqe->qp = qp;
	cqe->wc.wr_id = wr_id;
	cqe->wc.status = status;
	cqe->wc.qp_num = qp->ibv.qp_num;
	cqe->wc.vendor_err = status == IBV_WC_SUCCESS ? 0 : 0x80u + (unsigned int)status;
	return cqe;
}

/* The oldest send that is not done. */
static void
complete_send(struct fv_qp *qp, enum ibv_wc_status status)
{
	const struct fv_swr *s = fv_swr(qp, qp->s_done);
	struct fv_cqe *cqe;

	qp->s_done++;
	if (status == IBV_WC_SUCCESS && !qp->sq_sig_all &&
			(s->wr.send_flags & IBV_SEND_SIGNALED) == 0)
		return;
	cqe = cqe_new(qp, s->wr.wr_id, status);
	cqe->recv = false;
	cqe->frees = qp->s_done;
	if (status == IBV_WC_SUCCESS) {
		cqe->wc.opcode = s->wr.opcode == IBV_WR_SEND ||
				s->wr.opcode == IBV_WR_SEND_WITH_IMM ?
				IBV_WC_SEND : IBV_WC_RDMA_WRITE;
		cqe->wc.wc_flags = 0;
	}
	fv_cq_put(fv_cq_of(qp->ibv.send_cq), cqe, false);
}

/* The oldest receive that is not taken; cqe->aside were filled by the caller. */
static void
complete_recv(struct fv_qp *qp, struct fv_cqe *cqe, bool solicited)
{
	qp->r_taken++;
	cqe->recv = true;
	cqe->frees = qp->r_taken;
	/* What was written before is there with this completion. */
	TAILQ_CONCAT(&qp->aside, &cqe->aside, next);
	TAILQ_CONCAT(&cqe->aside, &qp->aside, next);
	fv_cq_put(fv_cq_of(qp->ibv.recv_cq), cqe, solicited);
}

static void
fail_recv(struct fv_qp *qp, enum ibv_wc_status status)
{
	complete_recv(qp, cqe_new(qp, fv_rwr(qp, qp->r_taken)->wr_id, status), true);
}

static void
flush(struct fv_qp *qp)
{
	while (qp->s_done < qp->s_posted)
		complete_send(qp, IBV_WC_WR_FLUSH_ERR);
	qp->s_delivered = qp->s_done;
	while (qp->r_taken < qp->r_posted)
		fail_recv(qp, IBV_WC_WR_FLUSH_ERR);
}

static bool
is_write(const struct fv_swr *s)
{
	return s->wr.opcode == IBV_WR_RDMA_WRITE || s->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool
has_imm(const struct fv_swr *s)
{
	return s->wr.opcode == IBV_WR_SEND_WITH_IMM ||
			s->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* The message is dealt with: the sender gets to know its status in some time. */
static void
answer(struct fv_qp *qp, struct fv_swr *s, enum ibv_wc_status status)
{
	s->status = status;
	s->ack_due = fv_wire_due(&qp->last_ack);
	qp->s_delivered++;
	qp->doomed = status != IBV_WC_SUCCESS;
	qp->blocked_since = 0;
	qp->rnr_tries = 0;
	qp->rnr_until = 0;
}

/* The responder refuses: it is over, too. */
static void
refuse(struct fv_qp *qp, struct fv_swr *s, struct fv_qp *peer, enum ibv_wc_status status)
{
	struct fv_dev *dev = fv_dev_of(peer->ibv.context);

	if (status == IBV_WC_REM_ACCESS_ERR)
		fv_async_put(dev, IBV_EVENT_QP_ACCESS_ERR, &peer->ibv);
	else if (status == IBV_WC_REM_INV_REQ_ERR)
		fv_async_put(dev, IBV_EVENT_QP_REQ_ERR, &peer->ibv);
	fv_qp_error(peer);
	answer(qp, s, status);
}

static void
put_recv(struct fv_qp *qp, const struct fv_swr *s, struct fv_qp *peer, struct fv_asides *aside)
{
	struct fv_cqe *cqe = cqe_new(peer, fv_rwr(peer, peer->r_taken)->wr_id, IBV_WC_SUCCESS);

	TAILQ_CONCAT(&cqe->aside, aside, next);
	cqe->wc.opcode = is_write(s) ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	cqe->wc.byte_len = (uint32_t)s->len;
	cqe->wc.src_qp = qp->ibv.qp_num;
	cqe->wc.wc_flags = has_imm(s) ? IBV_WC_WITH_IMM : 0;
	if (has_imm(s))
		cqe->wc.imm_data = s->wr.imm_data;
	complete_recv(peer, cqe, (s->wr.send_flags & IBV_SEND_SOLICITED) != 0);
}

/* A message that the sender could send, and for which there is a receive if it needs one. */
static void
deliver(struct fv_qp *qp, struct fv_swr *s, struct fv_qp *peer, const struct fv_iov *from,
		int nb_from)
{
	struct fv_asides aside = TAILQ_HEAD_INITIALIZER(aside);
	const struct ibv_pd *pd = peer->ibv.pd;
	struct fv_iov to[FV_MAX_SGE];
	size_t room = 0;
	int i, nb_to = 0;

	if (is_write(s) && (peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0) {
		refuse(qp, s, peer, IBV_WC_REM_INV_REQ_ERR);
		return;
	}
	if (is_write(s)) {
		to[0] = (struct fv_iov) {
			.addr = (uint8_t *)(uintptr_t)s->wr.wr.rdma.remote_addr,
			.len = s->len,
			.key = s->wr.wr.rdma.rkey,
		};
		nb_to = s->len > 0;
		if (nb_to > 0 && fv_mr_check(pd, to[0].key, true, s->wr.wr.rdma.remote_addr,
				s->len, IBV_ACCESS_REMOTE_WRITE) == NULL) {
			refuse(qp, s, peer, IBV_WC_REM_ACCESS_ERR);
			return;
		}
		fv_iov_copy(to, nb_to, from, nb_from, s->len,
				fv.conf.late_write ? &peer->aside : NULL);
	} else {
		const struct fv_rwr *r = fv_rwr(peer, peer->r_taken);

		if (!fv_mr_resolve(pd, r->sges, r->num_sge, IBV_ACCESS_LOCAL_WRITE, to, &nb_to)) {
			fail_recv(peer, IBV_WC_LOC_PROT_ERR);
			refuse(qp, s, peer, IBV_WC_REM_OP_ERR);
			return;
		}
		for (i = 0; i < nb_to; i++)
			room += to[i].len;
		if (s->len > room) {
			fail_recv(peer, IBV_WC_LOC_LEN_ERR);
			refuse(qp, s, peer, IBV_WC_REM_INV_REQ_ERR);
			return;
		}
		fv_iov_copy(to, nb_to, from, nb_from, s->len,
				fv.conf.late_recv ? &aside : NULL);
	}
	if (!is_write(s) || has_imm(s))
		put_recv(qp, s, peer, &aside);
	answer(qp, s, IBV_WC_SUCCESS);
}

/* Time after which a message that gets no answer has failed. */
static uint64_t
retry_us(const struct fv_qp *qp)
{
	if (qp->attr.timeout == 0)
		return FV_NEVER;
	return ((4096ull << qp->attr.timeout) / 1000) * (qp->attr.retry_cnt + 1u);
}

/* Nothing gets through since this time; true: for too long. */
static bool
blocked(struct fv_qp *qp, uint64_t *since, uint64_t now, uint64_t *next)
{
	const uint64_t us = retry_us(qp);

	if (*since == 0) {
		*since = now;
		fv.stats.retries++;
	}
	if (us == FV_NEVER) {
		*next = FV_MIN(*next, now + 1000);
		return false;
	}
	if (now - *since >= us)
		return true;
	/* The peer may appear meanwhile. */
	*next = FV_MIN(*next, FV_MIN(*since + us, now + 1000));
	return false;
}

static bool
path_ok(const struct fv_qp *qp)
{
	return fv_path_ok(&fv_qp_gid(qp)->gid, &qp->attr.ah_attr.grh.dgid);
}

/* No receive is there. True: it was decided. */
static bool
wait_rnr(struct fv_qp *qp, struct fv_swr *s, const struct fv_qp *peer, uint64_t now,
		uint64_t *next)
{
	fv.stats.rnr++;
	if (qp->attr.rnr_retry != 7 && qp->rnr_tries == qp->attr.rnr_retry) {
		answer(qp, s, IBV_WC_RNR_RETRY_EXC_ERR);
		return true;
	}
	qp->rnr_tries++;
	qp->rnr_until = now + rnr_us[peer->attr.min_rnr_timer];
	*next = FV_MIN(*next, qp->rnr_until);
	return false;
}

/* Returns true if the fault was the end of this message. */
static bool
inject(struct fv_qp *qp, struct fv_swr *s, struct fv_qp *peer, const struct fv_iov *from,
		int nb_from)
{
	const struct fv_fault *f = fv_fault_of(qp, false, (int)s->wr.opcode);

	if (f == NULL)
		return false;
	if (f->delivered) {
		deliver(qp, s, peer, from, nb_from);
		s->status = f->status;
		qp->doomed = true;
	} else if (f->status == IBV_WC_REM_ACCESS_ERR || f->status == IBV_WC_REM_OP_ERR ||
			f->status == IBV_WC_REM_INV_REQ_ERR) {
		refuse(qp, s, peer, f->status);
	} else {
		answer(qp, s, f->status);
	}
	return true;
}

/* One message of a send queue. True: it was dealt with. */
static bool
run_send(struct fv_qp *qp, uint64_t now, uint64_t *next)
{
	struct fv_swr *s = fv_swr(qp, qp->s_delivered);
	const struct fv_fault *f;
	struct fv_iov from[FV_MAX_SGE];
	struct fv_qp *peer;
	int nb_from;

	if (FV_MAX(s->due, qp->rnr_until) > now) {
		*next = FV_MIN(*next, FV_MAX(s->due, qp->rnr_until));
		return false;
	}
	if (s->len > fv.conf.max_msg_sz) {
		answer(qp, s, IBV_WC_LOC_LEN_ERR);
		return true;
	}
	if ((s->wr.send_flags & IBV_SEND_INLINE) != 0) {
		from[0] = (struct fv_iov) { .addr = s->inl, .len = s->len };
		nb_from = 1;
	} else if (!fv_mr_resolve(qp->ibv.pd, s->sges, s->wr.num_sge, 0, from, &nb_from)) {
		answer(qp, s, IBV_WC_LOC_PROT_ERR);
		return true;
	}
	if (fv_wire_is_held())
		return false;
	peer = path_ok(qp) ? fv_qp_find_peer(qp, true) : NULL;
	if (peer == NULL) {
		if (!blocked(qp, &qp->blocked_since, now, next))
			return false;
		answer(qp, s, IBV_WC_RETRY_EXC_ERR);
		return true;
	}
	if ((!is_write(s) || has_imm(s)) && peer->r_taken == peer->r_posted)
		return wait_rnr(qp, s, peer, now, next);
	fv_step_take();
	if (peer->ibv.state == IBV_QPS_RTR && !peer->established) {
		fv_async_put(fv_dev_of(peer->ibv.context), IBV_EVENT_COMM_EST, &peer->ibv);
		peer->established = true;
	}
	if (inject(qp, s, peer, from, nb_from))
		return true;
	f = peer->r_taken < peer->r_posted ? fv_fault_of(peer, true, -1) : NULL;
	if (f != NULL) {
		fail_recv(peer, f->status);
		refuse(qp, s, peer, IBV_WC_REM_OP_ERR);
		return true;
	}
	deliver(qp, s, peer, from, nb_from);
	return true;
}

/* One answer. True: the sender got it. */
static bool
run_ack(struct fv_qp *qp, uint64_t now, uint64_t *next)
{
	struct fv_swr *s = fv_swr(qp, qp->s_done);
	const bool from_peer = s->status == IBV_WC_SUCCESS ||
			s->status == IBV_WC_REM_ACCESS_ERR || s->status == IBV_WC_REM_OP_ERR ||
			s->status == IBV_WC_REM_INV_REQ_ERR;

	if (s->ack_due > now) {
		*next = FV_MIN(*next, s->ack_due);
		return false;
	}
	/* Without a delay the answer comes with the message. */
	if (s->ack_due != 0 && fv_wire_is_held())
		return false;
	if (from_peer && !path_ok(qp)) {
		if (!blocked(qp, &qp->ack_blocked_since, now, next))
			return false;
		s->status = IBV_WC_RETRY_EXC_ERR;
	}
	if (s->ack_due != 0)
		fv_step_take();
	qp->ack_blocked_since = 0;
	if (s->status != IBV_WC_SUCCESS)
		fv_qp_error(qp);
	complete_send(qp, s->status);
	return true;
}

static bool
is_idle(const struct fv_qp *qp)
{
	if (qp->ibv.state == IBV_QPS_ERR)
		return qp->s_done == qp->s_posted && qp->r_taken == qp->r_posted;
	return qp->s_done == qp->s_posted;
}

/* True: something moved. */
static bool
run_qp(struct fv_qp *qp, uint64_t now, uint64_t *next)
{
	bool moved = false;

	if (qp->ibv.state == IBV_QPS_ERR) {
		if (qp->flush_due > now) {
			*next = FV_MIN(*next, qp->flush_due);
			return false;
		}
		if (is_idle(qp))
			return false;
		flush(qp);
		return true;
	}
	if (qp->ibv.state != IBV_QPS_RTS)
		return false;
	if (qp->s_done < qp->s_delivered)
		moved = run_ack(qp, now, next);
	if (qp->ibv.state == IBV_QPS_RTS && !qp->doomed && qp->s_delivered < qp->s_posted)
		moved |= run_send(qp, now, next);
	return moved || qp->ibv.state == IBV_QPS_ERR;
}

/* All that is due; returns when the next will be. */
static uint64_t
run(void)
{
	const uint64_t now = fv_now();
	struct fv_qp *qp, *tmp;
	uint64_t next;
	bool moved;

	do {
		next = FV_NEVER;
		moved = fv_cm_run(now, &next);
		FV_FOREACH_SAFE(qp, &fv.busy, busy_next, tmp) {
			if (fv_dev_of(qp->ibv.context)->dead)
				continue;
			moved |= run_qp(qp, now, &next);
			if (!is_idle(qp))
				continue;
			TAILQ_REMOVE(&fv.busy, qp, busy_next);
			qp->busy = false;
		}
	} while (moved);
	return next;
}

void
fv_wire_run(void)
{
	if (run() != FV_NEVER)
		pthread_cond_signal(&wake);
}

static void *
wire_thread(void *arg)
{
	(void)arg;
	fv_lock();
	for (;;) {
		uint64_t next = run();
		struct timespec ts = {
			.tv_sec = (time_t)(next / 1000000),
			.tv_nsec = (long)(next % 1000000) * 1000,
		};

		if (next == FV_NEVER)
			pthread_cond_wait(&wake, fv_lock_of_cond());
		else
			pthread_cond_timedwait(&wake, fv_lock_of_cond(), &ts);
	}
	return NULL;
}

/* It stays, asleep, until the process ends. */
void
fv_wire_start(void)
{
	pthread_condattr_t attr;
	pthread_t thread;

	if (started)
		return;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&thread, NULL, wire_thread, NULL) != 0)
		FV_DIE("thread of the wire");
	pthread_detach(thread);
	started = true;
}

void
fv_hold(void)
{
	fv_lock();
	fv.held = true;
	fv.steps = 0;
	fv_unlock();
}

void
fv_step(unsigned int nb)
{
	fv_lock();
	fv.steps += nb;
	fv_wire_run();
	fv_unlock();
}

void
fv_release(void)
{
	fv_lock();
	fv.held = false;
	fv.steps = 0;
	fv_wire_run();
	fv_unlock();
}
