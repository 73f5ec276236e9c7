/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The transport of the driver in memory: posted buffers go one way, messages the other
 * way, and completions come back. A call that polls a queue performs what is due.
 */

#include <errno.h>
#include <stdlib.h>

#include "fake_private.h"

uint64_t
fake_new_key(void)
{
	static uint64_t last;

	return ++last;
}

void
fake_net_wake(struct fake_dq *dq)
{
	if (!dq->armed)
		return;
	dq->armed = false;
	fake_signal(dq->event_fd);
}

/* Posted buffers */

void
fake_net_post(struct fake_remote *r, uint64_t pos, uint64_t where, uint32_t len)
{
	struct fake_post *post = &r->wire[pos & r->to.mask];

	post->desc = (struct comch_desc){ .where = where, .len = len };
	post->due = fake_due(r->cons->dq.base.link);
	r->posted = pos + 1;
}

static void
deliver_posts(struct fake_remote *r)
{
	const struct fake_post *post;
	uint64_t tail = r->post->tail;

	for (; tail != r->posted; tail++) {
		post = &r->wire[tail & r->to.mask];
		if (post->due > fake_now)
			break;
		r->post->desc[tail & r->to.mask] = post->desc;
	}
	comch_store_release(&r->post->tail, tail);
}

/* Messages */

void
fake_net_send(struct fake_prod *p, struct fake_remote *r, const struct rte_comch_op *op,
		uint8_t *to, bool staged)
{
	struct fake_work *w = &r->work[r->claim & r->to.mask];

	*w = (struct fake_work){
		.state = FAKE_WORK_PENDING, .prod = p, .to = to,
		.due = fake_due(r->data->link),
		.rec = {
			.head = {
				.producer = p->tx.id, .count = 1, .imm_len = (uint8_t)op->imm_len,
				.kind = staged ? COMCH_REC_STAGED : COMCH_REC_DIRECT,
			},
			.len0 = op->len,
		},
	};
	if (op->imm_len > 0)
		memcpy(w->rec.imm, op->imm, op->imm_len);
	comch_gather_init(&w->from, op);
	if ((op->flags & RTE_COMCH_OP_F_SILENT) == 0)
		w->done = comch_done_put(&p->tx.done, op, COMCH_DONE_OPEN, 0);
	p->nb_in_flight++;
	r->claim++;
}

/* Copy the payload to the buffer, or aside if that is staged. 0, -ENOMEM or -EPROTO. */
static int
deliver_payload(struct fake_cons *c, struct fake_work *w, uint64_t pos)
{
	uint32_t len = w->rec.len0;
	uint8_t *to = w->to;

	if (len == 0)
		return 0;
	if (to == NULL) {
		to = malloc(len);
		if (to == NULL)
			return -ENOMEM;
		c->staged[pos & c->rx.mask] = to;
	} else if (!fake_mem_is_exported(c->dq.base.link, to, len)) {
		return -EPROTO;
	}
	comch_gather_copy(&w->from, to, len);
	return 0;
}

static void
deliver(struct fake_remote *r)
{
	struct fake_work *w = &r->work[r->delivered & r->to.mask];
	struct comch_rec *rec = &r->cons->rec[r->delivered & r->to.mask];

	*rec = w->rec;
	/* The position of an aborted send is skipped. */
	if (w->state == FAKE_WORK_COMPLETED) {
		rec->head.kind = COMCH_REC_ABORT;
	} else {
		w->status = deliver_payload(r->cons, w, r->delivered);
		if (w->status == -EPROTO)
			w->prod->tx.fault(w->prod->tx.ctx, -EPROTO,
				"buffer is in memory that the peer no longer exports");
		if (w->status != 0)
			rec->head.kind = COMCH_REC_ABORT;
		w->state = FAKE_WORK_DELIVERED;
		w->due = fake_due(r->data->link);
	}
	rec->seq = ++r->delivered;
	r->cons->nb_arrived = r->delivered;
	fake_net_wake(&r->cons->dq);
}

/* Complete the send: from now on the application owns the payload. */
static void
complete(struct fake_work *w)
{
	struct rte_comch_producer_stats *stats = &w->prod->tx.stats;
	struct fake_prod *p = w->prod;

	if (w->status != 0) {
		comch_count(&stats->errors, 1);
	} else {
		comch_count(&stats->msgs, 1);
		comch_count(&stats->bytes, w->rec.len0);
		comch_count(&stats->imm_msgs, w->rec.head.imm_len > 0);
	}
	if (w->done != NULL)
		comch_done_close(w->done, w->status);
	w->state = FAKE_WORK_COMPLETED;
	fake_net_wake(&p->dq);
	if (--p->nb_in_flight == 0)
		p->dq.base.idle_cb(p->dq.base.ctx);
}

static bool
can_deliver(const struct fake_remote *r)
{
	return r->delivered != r->claim && r->cons != NULL && !r->cons->closed;
}

void
fake_net_run(struct fake_remote *r)
{
	struct fake_work *w;

	deliver_posts(r);
	while (can_deliver(r) && r->work[r->delivered & r->to.mask].due <= fake_now)
		deliver(r);
	for (; r->completed != r->claim; r->completed++) {
		w = &r->work[r->completed & r->to.mask];
		if (w->state == FAKE_WORK_PENDING ||
				(w->state == FAKE_WORK_DELIVERED && w->due > fake_now))
			break;
		if (w->state == FAKE_WORK_DELIVERED)
			complete(w);
	}
}

bool
fake_net_has_sends(const struct fake_remote *r)
{
	return can_deliver(r);
}

bool
fake_net_has_replies(const struct fake_remote *r)
{
	return r->post->tail != r->posted || can_deliver(r) ||
		(r->completed != r->claim &&
		 r->work[r->completed & r->to.mask].state == FAKE_WORK_DELIVERED);
}

void
fake_net_settle(struct fake_remote *r, uint64_t final)
{
	struct fake_work *w;
	uint64_t pos;

	for (pos = r->completed; pos != r->claim; pos++) {
		w = &r->work[pos & r->to.mask];
		if (w->state == FAKE_WORK_COMPLETED)
			continue;
		if (pos >= final)
			w->status = -ENOENT;
		w->state = FAKE_WORK_DELIVERED;
		w->due = fake_due(r->data->link);
	}
	r->delivered = r->claim;
	fake_dq_wake_producers(r->data->link);
}

void
fake_net_abort(struct fake_prod *p, int err)
{
	struct fake_data *data = p->dq.base.link->data;
	struct fake_remote *r;
	struct fake_work *w;
	uint64_t pos;

	TAILQ_FOREACH(r, &data->remotes, next) {
		for (pos = r->completed; pos != r->claim; pos++) {
			w = &r->work[pos & r->to.mask];
			if (w->prod != p || w->state == FAKE_WORK_COMPLETED)
				continue;
			if (w->state == FAKE_WORK_PENDING)
				w->status = err;
			complete(w);
		}
	}
}
