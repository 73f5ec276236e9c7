/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Completion channels and completion queues. */

#include "fv_private.h"

static struct fv_comp_channel *
channel_of(const struct ibv_comp_channel *channel)
{
	return FV_OF(channel, struct fv_comp_channel, ibv);
}

struct ibv_comp_channel *
fv_create_comp_channel(struct ibv_context *ctx)
{
	struct fv_comp_channel *ch;
	int err;

	fv_lock();
	err = fv_call_err(FV_CALL_CREATE_COMP_CHANNEL);
	if (err == 0 && fv_dev_of(ctx)->dead)
		err = EIO;
	if (err != 0)
		goto fail;
	ch = fv_new(FV_COMP_CHANNEL, sizeof(*ch));
	if (fv_evq_open(&ch->events) != 0) {
		err = errno;
		fv_free(ch, sizeof(*ch));
		goto fail;
	}
	ch->ibv.context = ctx;
	ch->ibv.fd = ch->events.fd;
	fv_unlock();
	return &ch->ibv;
fail:
	fv_unlock();
	errno = err;
	return NULL;
}

int
fv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct fv_comp_channel *ch = channel_of(ibv);

	fv_lock();
	FV_CHECK(ch, FV_COMP_CHANNEL);
	if (ibv->refcnt > 0) {
		FV_SAY("%d completion queues use this channel", ibv->refcnt);
		fv_unlock();
		return EBUSY;
	}
	fv_evq_close(&ch->events);
	fv_free(ch, sizeof(*ch));
	fv_unlock();
	return 0;
}

static void
event_put(struct fv_cq *cq)
{
	struct fv_cq_ev *ev = calloc(1, sizeof(*ev));

	if (ev == NULL)
		FV_DIE("out of memory");
	ev->cq = cq;
	fv_evq_put(&channel_of(cq->ibv.channel)->events, &ev->ev);
	fv.stats.events++;
}

void
fv_event_spurious(struct ibv_cq *cq)
{
	fv_lock();
	if (cq->channel == NULL)
		FV_DIE("a completion queue without a channel has no events");
	event_put(fv_cq_of(cq));
	fv_unlock();
}

int
fv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_ctx)
{
	struct fv_comp_channel *ch = channel_of(ibv);
	struct fv_cq_ev *ev;
	struct fv_ev *e;

	fv_lock();
	FV_CHECK(ch, FV_COMP_CHANNEL);
	e = fv_evq_take(&ch->events);
	if (e == NULL) {
		fv_unlock();
		return -1;
	}
	ev = FV_OF(e, struct fv_cq_ev, ev);
	*cq = &ev->cq->ibv;
	*cq_ctx = ev->cq->ibv.cq_context;
	ev->cq->unacked++;
	free(ev);
	fv_unlock();
	return 0;
}

void
fv_ack_cq_events(struct ibv_cq *ibv, unsigned int n)
{
	struct fv_cq *cq = fv_cq_of(ibv);

	fv_lock();
	FV_CHECK(cq, FV_CQ);
	if (n > cq->unacked)
		FV_DIE("%u events acknowledged, %u were got", n, cq->unacked);
	cq->unacked -= n;
	fv_unlock();
}

static int
create_err(struct fv_dev *dev, int cqe, int vector)
{
	int err = fv_call_err(FV_CALL_CREATE_CQ);

	if (err != 0)
		return err;
	if (dev->dead)
		return EIO;
	if (cqe < 1 || cqe > fv.conf.max_cqe || vector < 0 ||
			vector >= dev->ctx.num_comp_vectors)
		return EINVAL;
	return dev->nb_cq >= fv.conf.max_cq ? ENOMEM : 0;
}

struct ibv_cq *
fv_create_cq(struct ibv_context *ctx, int cqe, void *cq_ctx, struct ibv_comp_channel *channel,
		int vector)
{
	struct fv_dev *dev = fv_dev_of(ctx);
	struct fv_cq *cq;
	int err;

	fv_lock();
	err = create_err(dev, cqe, vector);
	if (err != 0) {
		fv_unlock();
		errno = err;
		return NULL;
	}
	cq = fv_new(FV_CQ, sizeof(*cq));
	TAILQ_INIT(&cq->cqes);
	cq->ibv.context = ctx;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_ctx;
	cq->ibv.cqe = cqe;
	if (channel != NULL) {
		FV_CHECK(channel_of(channel), FV_COMP_CHANNEL);
		channel->refcnt++;
	}
	TAILQ_INSERT_TAIL(&fv.cqs, cq, next);
	dev->nb_cq++;
	fv_unlock();
	return &cq->ibv;
}

/* Events that were not read yet go with their queue. */
static void
drop_events(struct fv_cq *cq)
{
	struct fv_comp_channel *ch = channel_of(cq->ibv.channel);
	struct fv_ev *e, *tmp;

	FV_FOREACH_SAFE(e, &ch->events.list, next, tmp) {
		struct fv_cq_ev *ev = FV_OF(e, struct fv_cq_ev, ev);

		if (ev->cq != cq)
			continue;
		fv_evq_remove(&ch->events, e);
		free(ev);
	}
	ch->ibv.refcnt--;
}

static void
cqe_free(struct fv_cq *cq, struct fv_cqe *cqe)
{
	TAILQ_REMOVE(&cq->cqes, cqe, next);
	cq->nb_cqes--;
	fv_aside_apply(&cqe->aside);
	free(cqe);
}

int
fv_destroy_cq(struct ibv_cq *ibv)
{
	struct fv_cq *cq = fv_cq_of(ibv);

	fv_lock();
	FV_CHECK(cq, FV_CQ);
	if (cq->nb_qps > 0) {
		FV_SAY("%u queue pairs use this completion queue", cq->nb_qps);
		fv_unlock();
		return EBUSY;
	}
	if (!fv_await_acks(&cq->unacked) || !fv_await_acks(&cq->unacked_async))
		FV_DIE("blocks for ever: %u events of this completion queue and %u asynchronous "
				"ones are not acknowledged", cq->unacked, cq->unacked_async);
	if (ibv->channel != NULL)
		drop_events(cq);
	fv_async_drop(fv_dev_of(ibv->context), ibv);
	while (!TAILQ_EMPTY(&cq->cqes))
		cqe_free(cq, TAILQ_FIRST(&cq->cqes));
	TAILQ_REMOVE(&fv.cqs, cq, next);
	fv_dev_of(ibv->context)->nb_cq--;
	fv_free(cq, sizeof(*cq));
	fv_unlock();
	return 0;
}

void
fv_cq_break(struct fv_cq *cq)
{
	struct fv_qp *qp;

	if (cq->broken)
		return;
	cq->broken = true;
	fv_async_put(fv_dev_of(cq->ibv.context), IBV_EVENT_CQ_ERR, &cq->ibv);
	TAILQ_FOREACH(qp, &fv.qps, next) {
		if (qp->ibv.send_cq != &cq->ibv && qp->ibv.recv_cq != &cq->ibv)
			continue;
		fv_async_put(fv_dev_of(cq->ibv.context), IBV_EVENT_QP_FATAL, &qp->ibv);
		fv_qp_error(qp);
	}
}

void
fv_cq_put(struct fv_cq *cq, struct fv_cqe *cqe, bool solicited)
{
	if (!cq->broken && cq->nb_cqes == cq->ibv.cqe) {
		FV_SAY("overrun of a completion queue of %d", cq->ibv.cqe);
		fv_cq_break(cq);
	}
	TAILQ_INSERT_TAIL(&cq->cqes, cqe, next);
	cq->nb_cqes++;
	if (cq->broken) {
		cqe_free(cq, cqe);
		return;
	}
	if (cq->ibv.channel == NULL || cq->armed == FV_UNARMED)
		return;
	if (cq->armed == FV_ARMED || solicited || cqe->wc.status != IBV_WC_SUCCESS) {
		cq->armed = FV_UNARMED;
		event_put(cq);
	}
}

void
fv_cq_drop_qp(struct fv_cq *cq, const struct fv_qp *qp)
{
	struct fv_cqe *cqe, *tmp;

	FV_FOREACH_SAFE(cqe, &cq->cqes, next, tmp)
		if (cqe->qp == qp)
			cqe_free(cq, cqe);
}

int
fv_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct fv_cq *cq = fv_cq_of(ibv);
	struct fv_cqe *cqe;
	int nb = 0;

	fv_lock();
	FV_CHECK(cq, FV_CQ);
	if (fv_dev_of(ibv->context)->dead)
		n = 0;
	while (nb < n && (cqe = TAILQ_FIRST(&cq->cqes)) != NULL) {
		wc[nb++] = cqe->wc;
		fv.stats.cqes++;
		fv_death_step();
		if (cqe->recv) {
			fv_recv_over(cqe->qp, fv_rwr(cqe->qp, cqe->frees - 1));
			cqe->qp->r_freed = cqe->frees;
		} else {
			fv.stats.cqes_send++;
			cqe->qp->s_freed = cqe->frees;
		}
		cqe_free(cq, cqe);
	}
	fv_unlock();
	return nb;
}

int
fv_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
	struct fv_cq *cq = fv_cq_of(ibv);

	fv_lock();
	FV_CHECK(cq, FV_CQ);
	if (ibv->channel == NULL)
		FV_DIE("a completion queue without a channel is armed");
	if (!solicited_only)
		cq->armed = FV_ARMED;
	else if (cq->armed == FV_UNARMED)
		cq->armed = FV_SOLICITED;
	fv.stats.arms++;
	if (fv_random(100) < fv.conf.spurious)
		event_put(cq);
	fv_unlock();
	return 0;
}
