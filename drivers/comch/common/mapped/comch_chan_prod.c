/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The sending half of a channel.
 *
 * A send checks each operation, looks at the descriptors from the claim
 * position on, claims by one CAS as many as fit, copies, and commits. It
 * trusts nothing in the post region: a descriptor is copied once and checked
 * against the import table before a byte is written.
 */

#include <errno.h>

#include <rte_malloc.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "comch_chan.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"

/* Positions that one claim takes at most. */
#define SEND_GROUP 32
/* Beyond this the libc's copy, which streams past the caches, is the better one. */
#define COPY_INLINE_MAX 2048
/* A verdict that is no error: the buffer in line wants staging. */
#define VERDICT_STAGED 1

int
comch_chan_prod_init(struct comch_chan_prod *p, uint32_t queue_size, int socket_id)
{
	uint32_t size = rte_align32pow2(queue_size);

	p->done = rte_zmalloc_socket("comch_done", size * sizeof(*p->done),
			COMCH_LINE, socket_id);
	if (p->done == NULL)
		return -ENOMEM;
	p->done_mask = size - 1;
	p->done_size = queue_size;
	p->halt = RTE_COMCH_HALT_STOP;
	return 0;
}

void
comch_chan_prod_fini(struct comch_chan_prod *p)
{
	rte_free(p->done);
}

/* The base is first: NULL stays NULL. */
static inline struct comch_rcons *
find_rcons(const struct comch_chan_prod *p, uint32_t id, uint32_t *slot)
{
	static_assert(offsetof(struct comch_rcons, base) == 0, "the base is first");
	return (struct comch_rcons *)comch_dir_find(p->dir, id, slot);
}

static int
check_sges(const struct rte_comch_op *op)
{
	const struct rte_comch_sge *sge = op->addr;
	uint64_t sum = 0;
	uint16_t i;

	if (op->nb_sges == 0)
		return -EINVAL;
	for (i = 0; i < op->nb_sges; i++) {
		if (sge[i].len > 0 && (sge[i].mr == NULL || sge[i].addr == NULL))
			return -EINVAL;
		if (sge[i].len > 0 && !comch_mem_within(sge[i].mr, sge[i].addr, sge[i].len))
			return -EFAULT;
		sum += sge[i].len;
	}
	return sum == op->len ? 0 : -EINVAL;
}

/* What is wrong with an operation by itself? */
static __rte_always_inline int
check_op(const struct comch_rcons *rc, const struct rte_comch_op *op)
{
	if (unlikely(op->imm_len > rc->base.imm_size || op->len > COMCH_MAX_MSG_LEN))
		return -EMSGSIZE;
	if (unlikely(op->imm_len > 0 && op->imm == NULL))
		return -EINVAL;
	if (unlikely((op->flags & ~(RTE_COMCH_OP_F_SILENT | RTE_COMCH_OP_F_SGL)) != 0))
		return -EINVAL;
	if (op->len == 0)
		return 0;
	if (unlikely(op->addr == NULL))
		return -EINVAL;
	if (op->flags & RTE_COMCH_OP_F_SGL)
		return check_sges(op);
	if (unlikely(op->mr == NULL))
		return -EINVAL;
	if (unlikely(!comch_mem_within(op->mr, op->addr, op->len)))
		return -EFAULT;
	return 0;
}

/* The import that the last descriptor lay in: the next one mostly does, too. */
struct import_cache {
	uint32_t region;
	uint8_t *addr;
	uint64_t size;
};

/* Read descriptors from pos on, of which so many are posted. */
static void
ahead_fill(struct comch_ahead *ahead, const struct comch_rcons *rc, uint64_t pos, uint32_t posted)
{
	uint32_t i, n = RTE_MIN(posted, (uint32_t)COMCH_AHEAD);
	const struct comch_desc *desc;

	for (i = 0; i < n; i++) {
		desc = &rc->post_shared->desc[(pos + i) & rc->mask];
		peer_copy_words((uint64_t *)&ahead->desc[(pos + i) % COMCH_AHEAD],
			(const uint64_t *)desc, sizeof(*desc) / sizeof(uint64_t));
	}
	ahead->pos = pos;
	ahead->n = n;
}

/* Our copy of the descriptor at pos. */
static inline const struct comch_desc *
ahead_at(struct comch_ahead *ahead, const struct comch_rcons *rc, uint64_t pos, uint32_t posted)
{
	if (unlikely(pos - ahead->pos >= ahead->n))
		ahead_fill(ahead, rc, pos, posted);
	return &ahead->desc[pos % COMCH_AHEAD];
}

/* Where does a buffer lie, and does len fit? peer_desc is our copy. */
static __rte_always_inline int
check_desc(const struct comch_rcons *rc, const struct comch_desc *peer_desc, uint32_t len,
		struct import_cache *cache, uint8_t **dst)
{
	uint32_t peer_region = (uint32_t)(peer_desc->where >> COMCH_DESC_OFF_BITS);
	uint64_t peer_off = peer_desc->where & COMCH_DESC_OFF_MASK, off;
	uint32_t peer_len = peer_desc->len, region;
	const struct rte_comch_region *import;

	if (unlikely(len > peer_len))
		return -EMSGSIZE;
	if (unlikely(peer_region != cache->region)) {
		if (peer_region >= COMCH_MAX_IMPORTS)
			return peer_region == COMCH_REGION_STAGED && rc->staging != NULL ?
				VERDICT_STAGED : -EPROTO;
		region = peer_region;
		cache->region = region;
		/* Acquire, both ways: pairs with import_add() and comch_import_on_del(). */
		import = comch_load_acquire(&rc->imports[region]);
		cache->size = import != NULL ? import->len : 0;
		cache->addr = import != NULL ? import->addr : NULL;
	}
	if (unlikely(peer_off > cache->size || peer_len > cache->size - peer_off))
		return -EPROTO;
	off = peer_off;
	*dst = cache->addr + off;
	return 0;
}

/*
 * How many buffers are posted from pos on? -EPROTO if the peer's tail cannot be.
 * pos may be stale: then the claim that follows fails, and that is all.
 */
static __rte_always_inline int64_t
chan_posted(struct comch_rcons *rc, uint64_t pos, uint32_t want)
{
	/* Acquire: another producer may have read the tail for us. */
	uint64_t tail = comch_load_acquire(&rc->tail_seen);
	uint64_t peer_tail, claim;

	if ((int64_t)(tail - pos) >= (int64_t)want)
		return (int64_t)(tail - pos);
	peer_tail = peer_load_acquire_u64(&rc->post_shared->tail); /* T */
	claim = comch_load_relaxed(&rc->rec->claim);
	if (unlikely((int64_t)(peer_tail - claim) > (int64_t)rc->base.depth))
		return -EPROTO;
	comch_store_release(&rc->tail_seen, peer_tail);
	return RTE_MAX((int64_t)(peer_tail - pos), 0);
}

/* Publish n positions, as many as possible by one record. */
static __rte_always_inline void
commit_group(struct comch_chan_prod *p, struct comch_rcons *rc, uint64_t pos,
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
		comch_store_release(&rec->seq, pos + i + 1); /* R */
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
	} else if (op->len <= COPY_INLINE_MAX) {
		rte_memcpy(dst, op->addr, op->len);
	} else {
		memcpy(dst, op->addr, op->len);
	}
}

/* The consumer closed between our look and our claim: tell it that nothing comes. */
static void
abort_group(struct comch_chan_prod *p, struct comch_rcons *rc, uint64_t pos,
		const struct rte_comch_op *ops, uint32_t n)
{
	struct comch_rec *rec;
	uint32_t i;

	for (i = 0; i < n; i++) {
		rec = comch_rec_begin(p, rc, pos + i, 1, COMCH_REC_ABORT);
		comch_store_release(&rec->seq, pos + i + 1); /* R */
		comch_chan_done_put(p, &ops[i], -ENOENT);
	}
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
		comch_chan_done_put(p, &ops[i], 0);
	}
	comch_count(&p->stats.msgs, n);
	comch_count(&p->stats.bytes, bytes);
	comch_count(&p->stats.imm_msgs, imms);
	comch_count(&p->stats.copies, copies);
}

/* An operation failed for good before anything was claimed for it. */
static uint16_t
fail_op(struct comch_chan_prod *p, const struct rte_comch_op *op, int err)
{
	if (unlikely(err == -EPROTO))
		p->fault(p->ctx, -EPROTO, "peer posted a buffer outside its memory");
	comch_chan_done_put(p, op, err);
	return 1;
}

/*
 * How many of n operations can go into the buffers from pos on, and where to?
 * The verdict on the first that cannot is in *err; 0: there was just no buffer.
 */
static __rte_always_inline uint32_t
plan_group(struct comch_ahead *ahead, struct comch_rcons *rc, uint64_t pos,
		const struct rte_comch_op *ops, uint32_t n, uint8_t **dst, int *err)
{
	struct import_cache cache = { .region = UINT32_MAX };
	const struct comch_desc *desc;
	int64_t posted;
	uint32_t i;

	*err = check_op(rc, &ops[0]);
	if (unlikely(*err != 0))
		return 0;
	posted = chan_posted(rc, pos, n);
	if (unlikely(posted <= 0)) {
		*err = (int)posted;
		return 0;
	}
	n = (uint32_t)RTE_MIN((int64_t)n, posted);
	if (unlikely(ahead->id != rc->base.id)) {
		ahead->id = rc->base.id;
		ahead->n = 0;
	}
	for (i = 0; i < n; i++) {
		if (i > 0)
			*err = check_op(rc, &ops[i]);
		dst[i] = NULL;
		/* Nothing to copy: the buffer may be anywhere. */
		if (likely(*err == 0 && ops[i].len > 0)) {
			desc = ahead_at(ahead, rc, pos + i, (uint32_t)posted - i);
			*err = check_desc(rc, desc, ops[i].len, &cache, &dst[i]);
		}
		if (unlikely(*err != 0))
			return i;
	}
	return n;
}

static bool
rcons_retires(const struct comch_rcons *rc)
{
	return comch_load_relaxed(&rc->gone) != 0 ||
		peer_load_relaxed_u32(&rc->post_shared->closed) != 0;
}

/*
 * A verdict on a descriptor counts only if the position was still free: else
 * another producer took it, and what we read may be of two laps.
 */
static bool
claim_moved(const struct comch_rcons *rc, uint64_t pos)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return comch_load_relaxed(&rc->rec->claim) != pos;
}

/* Send operations that go to one consumer. Returns how many were taken. */
static __rte_always_inline uint16_t
send_group(struct comch_chan_prod *p, struct comch_rcons *rc, const struct rte_comch_op *ops,
		uint32_t n)
{
	uint8_t *dst[SEND_GROUP];
	uint64_t pos;
	uint32_t i, k;
	int err;

	do {
		pos = comch_load_relaxed(&rc->rec->claim);
		k = plan_group(&p->ahead, rc, pos, ops, n, dst, &err);
		if (k == 0) {
			if (err != 0 && claim_moved(rc, pos))
				continue;
			if (err == VERDICT_STAGED)
				err = comch_stage_send(p, rc, &ops[0], pos);
			/* One that retires takes its memory with it: no lie in that. */
			if (err == -EPROTO && rcons_retires(rc))
				err = -ENOENT;
			return err < 0 ? fail_op(p, &ops[0], err) : (uint16_t)err;
		}
	} while (unlikely(k == 0 || !comch_chan_claim(rc, pos, k)));

	if (unlikely(peer_load_relaxed_u32(&rc->post_shared->closed) != 0)) { /* C */
		abort_group(p, rc, pos, ops, k);
		return (uint16_t)k;
	}
	for (i = 0; i < k; i++)
		if (ops[i].len > 0)
			copy_payload(dst[i], &ops[i]);
	commit_group(p, rc, pos, ops, k);
	comch_chan_wake(p, rc);
	count_group(p, ops, k);
	/* While the peer works on these, fetch what the next send reads first. */
	if (pos + k - p->ahead.pos == p->ahead.n)
		rte_prefetch0(&rc->post_shared->desc[(pos + k) & rc->mask]);
	return (uint16_t)k;
}

static inline uint32_t
same_consumer(const struct rte_comch_op *ops, uint32_t n)
{
	uint32_t i;

	n = RTE_MIN(n, (uint32_t)SEND_GROUP);
	for (i = 1; i < n; i++)
		if (ops[i].consumer_id != ops[0].consumer_id)
			break;
	return i;
}

/*
 * The same in two shapes: the second is for a lone message, whose latency
 * counts, and has no loop in it.
 */
static __rte_noinline uint16_t
send_many(struct comch_chan_prod *p, struct comch_rcons *rc, const struct rte_comch_op *ops,
		uint32_t n)
{
	return send_group(p, rc, ops, n);
}

static __rte_noinline uint16_t
send_one(struct comch_chan_prod *p, struct comch_rcons *rc, const struct rte_comch_op *op)
{
	return send_group(p, rc, op, 1);
}

static inline uint16_t
send_all(struct comch_chan_prod *p, const struct rte_comch_op *ops, uint16_t n)
{
	uint32_t room = p->done_size - (uint32_t)(p->done_tail - p->done_head);
	uint32_t halt = comch_load_acquire(&p->halt);
	struct comch_rcons *rc;
	uint16_t i = 0, took;

	n = (uint16_t)RTE_MIN((uint32_t)n, room);
	/* Acquire, and below: the poll's thread may have ended the stream. */
	while (i < n && comch_load_acquire(&p->stream) == NULL) {
		if (unlikely(halt != RTE_COMCH_HALT_NONE)) {
			i += fail_op(p, &ops[i],
				halt == RTE_COMCH_HALT_DOWN ? -ECONNRESET : -EBADFD);
			continue;
		}
		rc = find_rcons(p, ops[i].consumer_id, &p->last_slot);
		if (unlikely(rc == NULL)) {
			i += fail_op(p, &ops[i], -ENOENT);
			continue;
		}
		took = n - i == 1 ? send_one(p, rc, &ops[i]) :
			send_many(p, rc, &ops[i], same_consumer(&ops[i], n - i));
		if (took == 0) {
			p->short_id = ops[i].consumer_id;
			break;
		}
		i += took;
	}
	return i;
}

uint16_t
comch_chan_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_chan_prod *p = queue;
	uint16_t took = 0;

	p->short_id = 0;
	p->short_room = 0;
	comch_dir_enter(&p->reader);
	if (likely(comch_load_acquire(&p->stream) == NULL) || comch_stage_push(p))
		took = send_all(p, ops, n);
	comch_dir_leave(&p->reader);
	if (took < n)
		comch_count(&p->stats.later, 1);
	return took;
}

uint16_t
comch_chan_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_prod *p = queue;
	const struct comch_done *d;
	uint16_t i;

	if (unlikely(comch_load_acquire(&p->stream) != NULL)) {
		comch_dir_enter(&p->reader);
		comch_stage_push(p);
		comch_dir_leave(&p->reader);
	}
	n = (uint16_t)RTE_MIN((uint64_t)n, comch_load_acquire(&p->done_tail) - p->done_head);
	for (i = 0; i < n; i++) {
		d = &p->done[p->done_head++ & p->done_mask];
		cpls[i].cookie = d->cookie;
		cpls[i].status = d->status;
		cpls[i].len = d->len;
		cpls[i].peer_id = d->consumer_id;
		cpls[i].imm_len = 0;
		cpls[i].copies = d->status == 0 && d->len > 0;
	}
	return n;
}

/* Could a send to the consumer that was short get further now? */
static bool
short_is_over(struct comch_chan_prod *p)
{
	uint32_t slot = 0;
	struct comch_rcons *rc = find_rcons(p, p->short_id, &slot);

	/* A retired consumer ends the wait as well: the send says -ENOENT. */
	if (rc == NULL)
		return true;
	if (p->short_room > 0 && (comch_load_relaxed(&rc->streaming) != 0 ||
			!comch_stage_room(rc, p->short_room)))
		return false;
	return chan_posted(rc, comch_load_relaxed(&rc->rec->claim), 1) != 0;
}

bool
comch_chan_prod_pending(struct comch_chan_prod *p)
{
	if (p->done_tail != p->done_head)
		return true;
	if (p->stream != NULL)
		return comch_stage_room(p->stream, 1);
	return p->short_id != 0 && short_is_over(p);
}

void
comch_chan_prod_arm(struct comch_chan_prod *p)
{
	struct comch_rcons *rc = p->stream;
	uint32_t slot = 0;

	if (rc == NULL && p->short_id != 0)
		rc = find_rcons(p, p->short_id, &slot);
	/* Any new value asks for one wake-up; several producers may ask. */
	if (rc != NULL)
		__atomic_fetch_add(&rc->rec->armed, 1, __ATOMIC_RELAXED);
}
