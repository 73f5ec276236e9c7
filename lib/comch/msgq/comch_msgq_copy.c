/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * MsgQ: copies with a message after them.
 *
 * The CPU copies within the call, and the message goes out at once if there is
 * credit. A DMA device copies by itself; until it is done the operation waits
 * in `pending`, and so does all that the producer sends after it, since
 * messages stay in order. Credit is only claimed when the message can go: a
 * place that waits for a copy would hold up the messages of others.
 */

#include <errno.h>
#include <string.h>

#include <rte_dmadev.h>

#include "msgq/comch_msgq.h"

/* Copies that one look asks the device for. */
#define DMA_BURST 64

static struct comch_msgq_pending *
pending_head(struct rte_comch_msgq_producer *p)
{
	return &p->pending[p->pending_head & p->mask];
}

static void
pending_complete(struct rte_comch_msgq_producer *p, int status)
{
	const struct comch_msgq_pending *m = pending_head(p);
	struct comch_msgq_done *d;

	p->pending_head++;
	d = comch_msgq_complete(p, m->cookie, m->consumer_id, m->flags, status);
	if (d == NULL)
		return;
	d->len = status == 0 ? m->len : 0;
	d->copies = m->copies;
}

/* Has the device done the first copy? It does them in their order. */
static bool
dma_is_done(struct rte_comch_msgq_producer *p, int *status)
{
	enum rte_dma_status_code code = RTE_DMA_STATUS_SUCCESSFUL;
	bool has_error = false;
	uint16_t last;

	*status = 0;
	if (p->nb_dma_done == 0)
		p->nb_dma_done = rte_dma_completed(p->dma.dev_id, p->dma.vchan, DMA_BURST,
			&last, &has_error);
	if (p->nb_dma_done == 0 && has_error) {
		p->nb_dma_done = rte_dma_completed_status(p->dma.dev_id, p->dma.vchan, 1, &last,
			&code);
		if (code != RTE_DMA_STATUS_SUCCESSFUL)
			*status = -EIO;
	}
	if (p->nb_dma_done == 0)
		return false;
	p->nb_dma_done--;
	return true;
}

bool
comch_msgq_push(struct rte_comch_msgq_producer *p)
{
	struct comch_msgq_pending *m;
	int ret;

	while (p->pending_head != p->pending_tail) {
		m = pending_head(p);
		if (m->in_dma) {
			if (!dma_is_done(p, &m->status))
				return false;
			m->in_dma = false;
		}
		ret = m->status != 0 ? m->status : comch_msgq_send_pending(p, m);
		if (ret == 0)
			return false;
		pending_complete(p, ret > 0 ? 0 : ret);
	}
	return true;
}

static struct comch_msgq_pending *
pending_add(struct rte_comch_msgq_producer *p, const void *imm, uint16_t imm_len)
{
	struct comch_msgq_pending *m = &p->pending[p->pending_tail++ & p->mask];

	memset(m, 0, sizeof(*m));
	m->imm_len = imm_len;
	if (imm_len > 0 && imm_len <= sizeof(m->imm) && imm != NULL)
		memcpy(m->imm, imm, imm_len);
	return m;
}

uint16_t
comch_msgq_defer(struct rte_comch_msgq_producer *p, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_msgq_pending *m;
	uint16_t i;

	for (i = 0; i < n; i++) {
		m = pending_add(p, ops[i].imm, ops[i].imm_len);
		m->cookie = ops[i].cookie;
		m->consumer_id = ops[i].consumer_id;
		m->flags = ops[i].flags;
		m->status = comch_msgq_check_op(p, &ops[i]);
	}
	return n;
}

static bool
overlaps(const struct rte_comch_msgq_copy *op)
{
	uintptr_t dst = (uintptr_t)op->dst, src = (uintptr_t)op->src;

	return dst < src ? src - dst < op->len : dst - src < op->len;
}

static int
copy_check(const struct rte_comch_msgq_producer *p, const struct rte_comch_msgq_copy *op)
{
	if ((op->flags & ~RTE_COMCH_OP_F_SILENT) != 0)
		return -EINVAL;
	if (op->len > COMCH_MSGQ_MAX_COPY)
		return -EMSGSIZE;
	if (op->len > 0 && (op->dst == NULL || op->src == NULL || overlaps(op)))
		return -EINVAL;
	return comch_msgq_check(p, op->consumer_id, op->imm, op->imm_len);
}

/* Have the data copied. 1: done or under way; 0: the device has no room. */
static int
copy_data(struct rte_comch_msgq_producer *p, const struct rte_comch_msgq_copy *op,
		struct comch_msgq_pending *m)
{
	int ret;

	if (op->len == 0)
		return 1;
	if (!p->has_dma) {
		memcpy(op->dst, op->src, op->len);
		m->copies = 1;
		return 1;
	}
	/* Addresses are virtual: see create. */
	ret = rte_dma_copy(p->dma.dev_id, p->dma.vchan, (uintptr_t)op->src, (uintptr_t)op->dst,
		op->len, RTE_DMA_OP_FLAG_SUBMIT);
	if (ret == -ENOSPC)
		return 0;
	m->in_dma = ret >= 0;
	m->status = ret >= 0 ? 0 : -EIO;
	return 1;
}

/* True: taken. */
static bool
copy_one(struct rte_comch_msgq_producer *p, const struct rte_comch_msgq_copy *op)
{
	int status = copy_check(p, op);
	struct comch_msgq_pending *m;

	/* Nobody wants to copy twice because there was no credit. */
	if (status == 0 && !p->has_dma && !comch_msgq_can_send(p, op->consumer_id)) {
		p->short_id = op->consumer_id;
		return false;
	}
	m = pending_add(p, op->imm, op->imm_len);
	m->cookie = op->cookie;
	m->consumer_id = op->consumer_id;
	m->len = op->len;
	m->flags = op->flags;
	m->status = status;
	if (status == 0 && copy_data(p, op, m) == 0) {
		p->pending_tail--;
		return false;
	}
	return true;
}

uint16_t
comch_msgq_copy(struct rte_comch_msgq_producer *p, const struct rte_comch_msgq_copy *ops,
		uint16_t n)
{
	uint16_t i;

	n = (uint16_t)RTE_MIN((uint32_t)n, comch_msgq_room(p));
	comch_msgq_push(p);
	for (i = 0; i < n; i++) {
		/* By the CPU: what could not be sent yet is in the way. */
		if (!p->has_dma && p->pending_head != p->pending_tail)
			break;
		if (!copy_one(p, &ops[i]))
			break;
		comch_msgq_push(p);
	}
	return i;
}
