/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The sending half of a channel.
 *
 * A send plans (comch_send.h), claims as many positions as it can use by one CAS,
 * copies the payloads, and commits the records.
 */

#include <errno.h>

#include <rte_prefetch.h>

#include "comch_chan_group.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"

static struct comch_chan_prod *
prod_of(struct comch_send *tx)
{
	return container_of(tx, struct comch_chan_prod, tx);
}

static struct comch_chan_remote *
chan_remote_of(struct comch_send_remote *to)
{
	return container_of(to, struct comch_chan_remote, to);
}

/* Publish n positions with as few records as possible. */
static __rte_always_inline void
commit_group(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct rte_comch_op *ops, uint32_t n)
{
	struct comch_rec *rec;
	uint32_t i = 0, k;

	while (i < n) {
		if (ops[i].imm_len > 0) {
			comch_chan_commit_one(p, rc, pos + i, &ops[i], COMCH_REC_DIRECT);
			i++;
			continue;
		}
		rec = comch_rec_begin(p, rc, pos + i, 0, COMCH_REC_DIRECT);
		for (k = 0; k < COMCH_REC_BATCH && i + k < n && ops[i + k].imm_len == 0; k++)
			rec->len[k] = ops[i + k].len;
		rec->head.count = (uint8_t)k;
		comch_store_release(&rec->seq, pos + i + 1); /* R: ring.pml, commit */
		i += k;
	}
}

static __rte_always_inline void
copy_payload(uint8_t *dst, const struct rte_comch_op *op)
{
	struct comch_gather g;

	if (op->flags & RTE_COMCH_OP_F_SGL) {
		comch_gather_init(&g, op);
		comch_gather_copy(&g, dst, op->len);
	} else {
		comch_chan_copy(dst, op->addr, op->len);
	}
}

void
comch_chan_abort_positions(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		uint32_t n)
{
	struct comch_rec *rec;
	uint32_t i;

	for (i = 0; i < n; i++) {
		rec = comch_rec_begin(p, rc, pos + i, 1, COMCH_REC_ABORT);
		comch_store_release(&rec->seq, pos + i + 1); /* R: ring.pml, commit */
	}
}

void
comch_chan_abort_group(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct rte_comch_op *ops, uint32_t n)
{
	uint32_t i;

	comch_chan_abort_positions(p, rc, pos, n);
	for (i = 0; i < n; i++)
		comch_send_done(&p->tx, &ops[i], -ENOENT, 0);
}

static __rte_always_inline void
count_group(struct comch_chan_prod *p, const struct rte_comch_op *ops, uint32_t n)
{
	uint64_t bytes = 0, imms = 0, copies = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		bytes += ops[i].len;
		imms += ops[i].imm_len > 0;
		copies += ops[i].len > 0;
		comch_send_done(&p->tx, &ops[i], 0, 1);
	}
	comch_count(&p->tx.stats.msgs, n);
	comch_count(&p->tx.stats.bytes, bytes);
	comch_count(&p->tx.stats.imm_msgs, imms);
	comch_count(&p->tx.stats.copies, copies);
}

static bool
remote_is_retiring(const struct comch_chan_remote *rc)
{
	return comch_load_relaxed(&rc->retired) != 0 ||
		peer_load_relaxed_u32(&rc->to.post_shared->closed) != 0;
}

/*
 * An error in a descriptor counts only if the position is still free. Otherwise
 * another producer claimed it, and the copy may mix the descriptors of two laps.
 */
static bool
claim_moved(const struct comch_chan_remote *rc, uint64_t pos)
{
	/* Pairs with the consumer's put_desc(). Model: ring.pml, moved. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return comch_load_relaxed(&rc->rec->claim) != pos;
}

/* A burst has many lines: the first of each payload, and of commit_group()'s usual records. */
static __rte_always_inline void
fetch_group(const struct comch_chan_remote *rc, uint64_t pos, const struct rte_comch_op *ops,
		uint8_t *const *dst, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (ops[i].len > 0)
			comch_prefetch_write(dst[i]);
	for (i = 0; i < n; i += ops[0].imm_len > 0 ? 1 : COMCH_REC_BATCH)
		comch_chan_fetch_rec(rc, pos + i);
}

/* Send operations to one consumer. Returns the number accepted. */
static __rte_always_inline uint16_t
send_group(struct comch_chan_prod *p, struct comch_chan_remote *rc, const struct rte_comch_op *ops,
		uint32_t n)
{
	uint8_t *dst[COMCH_SEND_GROUP];
	uint64_t pos;
	uint32_t i, k;
	int err;

	do {
		pos = comch_load_relaxed(&rc->rec->claim);
		k = comch_send_group(&p->tx.ahead, &rc->to, pos, ops, n, dst, &err);
		if (k == 0) {
			if (err != 0 && claim_moved(rc, pos))
				continue;
			if (err == COMCH_SEND_STAGED)
				err = comch_stage_send(p, rc, ops, n, pos);
			/* A retiring consumer unmaps its memory: not a protocol error. */
			if (err == -EPROTO && remote_is_retiring(rc))
				err = -ENOENT;
			return err < 0 ? comch_send_fail(&p->tx, &ops[0], err) : (uint16_t)err;
		}
	} while (unlikely(k == 0 || !comch_chan_claim(rc, pos, k)));

	if (unlikely(peer_load_relaxed_u32(&rc->to.post_shared->closed) != 0)) { /* C */
		comch_chan_abort_group(p, rc, pos, ops, k);
		return (uint16_t)k;
	}
	/* Not before the claim: another producer may have won it, and write there now. */
	if (n > 1)
		fetch_group(rc, pos, ops, dst, k);
	for (i = 0; i < k; i++)
		if (ops[i].len > 0)
			copy_payload(dst[i], &ops[i]);
	commit_group(p, rc, pos, ops, k);
	comch_chan_wake(p, rc);
	count_group(p, ops, k);
	if (n == 1)
		comch_chan_fetch_next(p, rc, pos, ops[0].len);
	else
		comch_chan_fetch_burst(p, rc, pos + k, ops[k - 1].len, k);
	comch_chan_fetch_desc(p, rc, pos + k);
	return (uint16_t)k;
}

/*
 * send_group() compiled twice: send_one() has no loop before it publishes, for the latency of
 * a single message.
 */
static __rte_noinline uint16_t
send_many(struct comch_chan_prod *p, struct comch_chan_remote *rc, const struct rte_comch_op *ops,
		uint32_t n)
{
	return send_group(p, rc, ops, n);
}

static __rte_noinline uint16_t
send_one(struct comch_chan_prod *p, struct comch_chan_remote *rc, const struct rte_comch_op *op)
{
	return send_group(p, rc, op, 1);
}

static __rte_always_inline bool
is_simple(const struct rte_comch_op *op)
{
	return comch_load_relaxed(&op->imm_len) == 0 && comch_load_relaxed(&op->flags) == 0 &&
		op->len - 1 < COMCH_MAX_MSG_LEN && op->mr != NULL &&
		comch_mem_within(op->mr, op->addr, op->len);
}

/*
 * Leading operations of a burst that are simple messages. They are often written just before:
 * fields are read as they were written, one by one, as comch_done.h says.
 */
static __rte_always_inline uint32_t
plan_simple(struct comch_chan_prod *p, const struct comch_chan_remote *rc, uint64_t pos,
		uint32_t posted, const void *source, uint32_t n, struct comch_group *g)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	const struct rte_comch_op *ops = source;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (unlikely(!is_simple(&ops[i]) || ops[i].consumer_id != ops[0].consumer_id ||
				!comch_group_add(p, rc, pos, posted, &cache, g, i, ops[i].addr,
					ops[i].len)))
			break;
	return i;
}

/* Returns the number accepted. 0: no buffer is posted, or it is for send_many(). */
static __rte_noinline uint16_t
send_simple(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n)
{
	struct comch_group g;
	int k = comch_group_send(p, rc, plan_simple, ops,
		RTE_MIN(n, (uint32_t)COMCH_SEND_GROUP), &g);

	if (unlikely(k <= 0))
		return 0;
	comch_done_put_all(&p->tx.done, ops, (uint32_t)k, g.status, g.status == 0);
	return (uint16_t)k;
}

static __rte_always_inline uint16_t
send_step(struct comch_send *tx, struct comch_send_remote *to, const struct rte_comch_op *ops,
		uint32_t n)
{
	struct comch_chan_prod *p = prod_of(tx);
	struct comch_chan_remote *rc = chan_remote_of(to);

	uint16_t took;

	if (n == 1 || ops[1].consumer_id != ops[0].consumer_id)
		return send_one(p, rc, ops);
	took = send_simple(p, rc, ops, n);
	return likely(took > 0) ? took :
		send_many(p, rc, ops, comch_send_same_consumer(ops, n));
}

uint16_t
comch_chan_send_to(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n)
{
	return send_step(&p->tx, &rc->to, ops, n);
}

uint16_t
comch_chan_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_chan_prod *p = queue;
	uint16_t took = 0;

	p->tx.short_id = 0;
	p->short_space = 0;
	comch_epoch_enter(&p->tx.epoch);
	if (likely(!comch_chan_is_streaming(&p->tx)) || comch_stage_push(p))
		took = comch_send_burst(&p->tx, ops, n, send_step, comch_chan_is_streaming);
	comch_epoch_leave(&p->tx.epoch);
	if (took < n)
		comch_count(&p->tx.stats.later, 1);
	return took;
}

uint16_t
comch_chan_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_prod *p = queue;

	if (unlikely(comch_chan_is_streaming(&p->tx))) {
		comch_epoch_enter(&p->tx.epoch);
		comch_stage_push(p);
		comch_epoch_leave(&p->tx.epoch);
	}
	n = comch_done_ready(&p->tx.done, n);
	comch_done_take(&p->tx.done, cpls, n);
	return n;
}

/* Would a send to the consumer of the short send make progress? */
static bool
short_can_continue(struct comch_chan_prod *p)
{
	uint32_t slot = 0;
	struct comch_send_remote *to = comch_send_find(&p->tx, p->tx.short_id, &slot);

	/* Without the consumer the send completes, with -ENOENT. */
	if (to == NULL)
		return true;
	if (p->short_space > 0 && !comch_stage_can_continue(chan_remote_of(to), p->short_space))
		return false;
	return comch_send_posted(to, comch_load_relaxed(to->claim), 1) != 0;
}

/* Would a burst write more of the message that streams, or end it? */
static bool
stream_can_continue(const struct comch_chan_prod *p, const struct comch_chan_remote *rc)
{
	/* No model: a stale value is followed by a note of the producer. */
	return comch_load_relaxed(&rc->retired) != 0 ||
		comch_load_relaxed(&p->tx.halt) == RTE_COMCH_HALT_DOWN ||
		comch_stage_has_space(rc, 1);
}

bool
comch_chan_prod_pending(struct comch_chan_prod *p)
{
	/* Pairs with stream_end(): leave.pml, left. */
	const struct comch_chan_remote *rc = comch_load_acquire(&p->stream);

	/* No interrupt tells that a copy of a DMA device is complete. */
	if (p->tx.done.tail != p->tx.done.head || comch_chan_is_copying(p))
		return true;
	if (rc != NULL)
		return stream_can_continue(p, rc);
	return p->tx.short_id != 0 && short_can_continue(p);
}

bool
comch_chan_prod_idle(struct comch_chan_prod *p)
{
	return p->dma != NULL ? comch_chan_dma_idle(p) : !comch_chan_is_streaming(&p->tx);
}

bool
comch_chan_prod_abort(struct comch_chan_prod *p, int err)
{
	return p->dma != NULL ? comch_chan_dma_abort(p, err) : comch_stage_abort(p, err);
}

bool
comch_chan_prod_arm(struct comch_chan_prod *p)
{
	/* Pairs with stream_end(): leave.pml, left. */
	struct comch_chan_remote *rc = comch_load_acquire(&p->stream);
	struct comch_send_remote *to;
	uint32_t slot = 0;

	if (rc == NULL && p->tx.short_id != 0) {
		to = comch_send_find(&p->tx, p->tx.short_id, &slot);
		rc = to != NULL ? chan_remote_of(to) : NULL;
		if (rc != NULL && p->short_space > 0)
			comch_stage_await(rc);
	}
	return rc != NULL && comch_armed_ask_shared(&rc->rec->armed, rc->fences);
}
