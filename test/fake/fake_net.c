/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What moves between the ends: posted buffers one way, messages the other way, and
 * the word that a message has arrived. Whoever looks at a queue moves what is due.
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
	fake_ring(dq->event_fd);
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
arrive_posts(struct fake_remote *r)
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
		.state = FAKE_WORK_WAITS, .prod = p, .to = to,
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
		w->done = comch_done_put(&p->tx.done, op, COMCH_DONE_OPEN);
	p->nb_under_way++;
	r->claim++;
}

/* Read the payload and write it to where it belongs. 0, -ENOMEM or -EPROTO. */
static int
carry_payload(struct fake_cons *c, struct fake_work *w, uint64_t pos)
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
	} else if (!fake_mem_is_shown(c->dq.base.link, to, len)) {
		return -EPROTO;
	}
	comch_gather_copy(&w->from, to, len);
	return 0;
}

static void
carry(struct fake_remote *r)
{
	struct fake_work *w = &r->work[r->carried & r->to.mask];
	struct comch_rec *rec = &r->cons->rec[r->carried & r->to.mask];

	*rec = w->rec;
	/* One that was given up leaves a hole. */
	if (w->state == FAKE_WORK_OVER) {
		rec->head.kind = COMCH_REC_ABORT;
	} else {
		w->status = carry_payload(r->cons, w, r->carried);
		if (w->status == -EPROTO)
			w->prod->tx.fault(w->prod->tx.ctx, -EPROTO,
				"a buffer is in memory that is not shown any more");
		if (w->status != 0)
			rec->head.kind = COMCH_REC_ABORT;
		w->state = FAKE_WORK_CARRIED;
		w->due = fake_due(r->data->link);
	}
	rec->seq = ++r->carried;
	r->cons->nb_arrived = r->carried;
	fake_net_wake(&r->cons->dq);
}

/* The producer is told what became of it: the payload is the application's again. */
static void
tell(struct fake_work *w)
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
	w->state = FAKE_WORK_OVER;
	fake_net_wake(&p->dq);
	if (--p->nb_under_way == 0)
		p->dq.base.news(p->dq.base.ctx);
}

static bool
may_carry(const struct fake_remote *r)
{
	return r->carried != r->claim && r->cons != NULL && !r->cons->closed;
}

void
fake_net_run(struct fake_remote *r)
{
	struct fake_work *w;

	arrive_posts(r);
	while (may_carry(r) && r->work[r->carried & r->to.mask].due <= fake_now)
		carry(r);
	for (; r->told != r->claim; r->told++) {
		w = &r->work[r->told & r->to.mask];
		if (w->state == FAKE_WORK_WAITS ||
				(w->state == FAKE_WORK_CARRIED && w->due > fake_now))
			break;
		if (w->state == FAKE_WORK_CARRIED)
			tell(w);
	}
}

bool
fake_net_sends(const struct fake_remote *r)
{
	return may_carry(r);
}

bool
fake_net_answers(const struct fake_remote *r)
{
	return r->post->tail != r->posted || may_carry(r) ||
		(r->told != r->claim &&
		 r->work[r->told & r->to.mask].state == FAKE_WORK_CARRIED);
}

void
fake_net_settle(struct fake_remote *r, uint64_t final)
{
	struct fake_work *w;
	uint64_t pos;

	for (pos = r->told; pos != r->claim; pos++) {
		w = &r->work[pos & r->to.mask];
		if (w->state == FAKE_WORK_OVER)
			continue;
		if (pos >= final)
			w->status = -ENOENT;
		w->state = FAKE_WORK_CARRIED;
		w->due = fake_due(r->data->link);
	}
	r->carried = r->claim;
	fake_dq_wake_producers(r->data->link);
}

void
fake_net_give_up(struct fake_prod *p, int err)
{
	struct fake_data *data = p->dq.base.link->data;
	struct fake_remote *r;
	struct fake_work *w;
	uint64_t pos;

	TAILQ_FOREACH(r, &data->remotes, next) {
		for (pos = r->told; pos != r->claim; pos++) {
			w = &r->work[pos & r->to.mask];
			if (w->prod != p || w->state == FAKE_WORK_OVER)
				continue;
			if (w->state == FAKE_WORK_WAITS)
				w->status = err;
			tell(w);
		}
	}
}
