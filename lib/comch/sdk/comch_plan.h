/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PLAN_H
#define COMCH_PLAN_H

/*
 * What a send does whatever the transport: check operations, read the descriptors of
 * posted buffers, and say how many operations go into which of them.
 *
 * A driver embeds struct comch_tx in its producer and struct comch_target in its
 * remote, and calls comch_plan_send() with its own step, which sends operations to one
 * consumer. All is inline and the step a constant, so that the compiler makes one
 * function of it.
 *
 * Nothing in the posted descriptors is trusted: each is copied once and checked against
 * the table of imports.
 */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "rte_comch_dp.h"
#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_done.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"
#include "sdk/comch_rec.h"

/* Positions that one plan takes at most. */
#define COMCH_PLAN_GROUP 32
/* A verdict that is no error: the buffer in line is in memory that was not shown. */
#define COMCH_PLAN_STAGED 1

/* A consumer of the peer, as a plan sees it; shared by all local producers. */
struct comch_target {
	struct rte_comch_remote base;                /* first */
	const struct comch_post_shared *post_shared; /* descriptors: the peer's, or copies */
	uint64_t *claim;                             /* positions taken */
	struct rte_comch_region *const *imports;     /* by number; NULL: none */
	uint32_t mask;
	/* Written by all producers. */
	uint64_t tail_seen __rte_aligned(COMCH_LINE); /* a tail that was checked */
};

/*
 * Descriptors of one consumer that were read before they were needed: those of
 * posted positions stay as they are until they are claimed. A line of them is
 * fetched once, not again after each post that the consumer adds to it.
 */
#define COMCH_AHEAD 32
struct comch_ahead {
	uint64_t pos; /* of the first */
	uint32_t n;
	uint32_t id;  /* the consumer's; 0: none */
	struct comch_desc desc[COMCH_AHEAD]; /* by position */
};

/* A producer, whatever the transport. */
struct comch_tx {
	/* hot */
	struct comch_dir *dir;
	struct comch_epoch epoch;
	uint32_t last_slot;     /* of the directory */
	uint32_t halt;          /* enum rte_comch_halt; set by any thread */
	uint32_t id;
	uint32_t short_id;      /* whom the last short send waited for; its thread only */
	struct comch_done_ring done;
	struct comch_ahead ahead;
	uint32_t guard;         /* see comch_guard.h */
	struct rte_comch_producer_stats stats;
	/* to the owner */
	void (*fault)(void *ctx, int err, const char *text);
	void *ctx;
};

/* Send some of n operations, all to one consumer. Returns how many were taken. */
typedef uint16_t (*comch_plan_step_t)(struct comch_tx *tx, struct comch_target *to,
		const struct rte_comch_op *ops, uint32_t n);
/* Is something else under way that new operations have to wait for? */
typedef bool (*comch_plan_blocked_t)(const struct comch_tx *tx);

/* The base is first: NULL stays NULL. */
static inline struct comch_target *
comch_plan_find(const struct comch_tx *tx, uint32_t id, uint32_t *slot)
{
	static_assert(offsetof(struct comch_target, base) == 0, "the base is first");
	return (struct comch_target *)comch_dir_find(tx->dir, id, slot);
}

/* Checks */

static int __rte_unused
comch_plan_check_sges(const struct rte_comch_op *op)
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
comch_plan_check_op(const struct comch_target *to, const struct rte_comch_op *op)
{
	if (unlikely(op->imm_len > to->base.imm_size || op->len > COMCH_MAX_MSG_LEN))
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
		return comch_plan_check_sges(op);
	if (unlikely(op->mr == NULL))
		return -EINVAL;
	if (unlikely(!comch_mem_within(op->mr, op->addr, op->len)))
		return -EFAULT;
	return 0;
}

/* Read descriptors from pos on, of which so many are posted. */
static void __rte_unused
comch_plan_fill_ahead(struct comch_ahead *ahead, const struct comch_target *to, uint64_t pos,
		uint32_t posted)
{
	uint32_t i, n = RTE_MIN(posted, (uint32_t)COMCH_AHEAD);
	const struct comch_desc *desc;

	for (i = 0; i < n; i++) {
		desc = &to->post_shared->desc[(pos + i) & to->mask];
		peer_copy_words((uint64_t *)&ahead->desc[(pos + i) % COMCH_AHEAD],
			(const uint64_t *)desc, sizeof(*desc) / sizeof(uint64_t));
	}
	ahead->pos = pos;
	ahead->n = n;
}

/* Our copy of the descriptor at pos. */
static inline const struct comch_desc *
comch_plan_desc(struct comch_ahead *ahead, const struct comch_target *to, uint64_t pos,
		uint32_t posted)
{
	if (unlikely(pos - ahead->pos >= ahead->n))
		comch_plan_fill_ahead(ahead, to, pos, posted);
	return &ahead->desc[pos % COMCH_AHEAD];
}

/* The import that the last descriptor lay in: the next one mostly does, too. */
struct comch_import_cache {
	uint32_t region;
	uint8_t *addr;
	uint64_t size;
};

/* Where does a buffer lie, and does len fit? peer_desc is our copy. */
static __rte_always_inline int
comch_plan_check_desc(const struct comch_target *to, const struct comch_desc *peer_desc,
		uint32_t len, struct comch_import_cache *cache, uint8_t **dst)
{
	uint32_t peer_region = (uint32_t)(peer_desc->where >> COMCH_DESC_OFF_BITS);
	uint64_t peer_off = peer_desc->where & COMCH_DESC_OFF_MASK, off;
	uint32_t peer_len = peer_desc->len, region;
	const struct rte_comch_region *import;

	if (unlikely(len > peer_len))
		return -EMSGSIZE;
	if (unlikely(peer_region != cache->region)) {
		if (peer_region >= COMCH_MAX_IMPORTS)
			return peer_region == COMCH_REGION_STAGED && to->base.staging_size > 0 ?
				COMCH_PLAN_STAGED : -EPROTO;
		region = peer_region;
		cache->region = region;
		/* Acquire, both ways: pairs with import_add() and comch_import_on_del(). */
		import = comch_load_acquire(&to->imports[region]);
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
comch_plan_posted(struct comch_target *to, uint64_t pos, uint32_t want)
{
	/* Acquire: another producer may have read the tail for us. */
	uint64_t tail = comch_load_acquire(&to->tail_seen);
	uint64_t peer_tail, claim;

	if ((int64_t)(tail - pos) >= (int64_t)want)
		return (int64_t)(tail - pos);
	peer_tail = peer_load_acquire_u64(&to->post_shared->tail); /* T */
	claim = comch_load_relaxed(to->claim);
	if (unlikely((int64_t)(peer_tail - claim) > (int64_t)to->base.depth))
		return -EPROTO;
	comch_store_release(&to->tail_seen, peer_tail);
	return RTE_MAX((int64_t)(peer_tail - pos), 0);
}

/*
 * How many of n operations can go into the buffers from pos on, and where to?
 * The verdict on the first that cannot is in *err; 0: there was just no buffer.
 */
static __rte_always_inline uint32_t
comch_plan_group(struct comch_ahead *ahead, struct comch_target *to, uint64_t pos,
		const struct rte_comch_op *ops, uint32_t n, uint8_t **dst, int *err)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	const struct comch_desc *desc;
	int64_t posted;
	uint32_t i;

	*err = comch_plan_check_op(to, &ops[0]);
	if (unlikely(*err != 0))
		return 0;
	posted = comch_plan_posted(to, pos, n);
	if (unlikely(posted <= 0)) {
		*err = (int)posted;
		return 0;
	}
	n = (uint32_t)RTE_MIN((int64_t)n, posted);
	if (unlikely(ahead->id != to->base.id)) {
		ahead->id = to->base.id;
		ahead->n = 0;
	}
	for (i = 0; i < n; i++) {
		if (i > 0)
			*err = comch_plan_check_op(to, &ops[i]);
		dst[i] = NULL;
		/* Nothing to copy: the buffer may be anywhere. */
		if (likely(*err == 0 && ops[i].len > 0)) {
			desc = comch_plan_desc(ahead, to, pos + i, (uint32_t)posted - i);
			*err = comch_plan_check_desc(to, desc, ops[i].len, &cache, &dst[i]);
		}
		if (unlikely(*err != 0))
			return i;
	}
	return n;
}

/* Sends */

/* An operation is over. */
static __rte_always_inline void
comch_plan_done(struct comch_tx *tx, const struct rte_comch_op *op, int status)
{
	if (unlikely(status != 0))
		comch_count(&tx->stats.errors, 1);
	if ((op->flags & RTE_COMCH_OP_F_SILENT) == 0)
		comch_done_put(&tx->done, op, status);
}

/* An operation failed for good before anything was claimed for it. */
static inline uint16_t
comch_plan_fail(struct comch_tx *tx, const struct rte_comch_op *op, int err)
{
	if (unlikely(err == -EPROTO))
		tx->fault(tx->ctx, -EPROTO, "peer posted a buffer outside its memory");
	comch_plan_done(tx, op, err);
	return 1;
}

static inline uint32_t
comch_plan_same_consumer(const struct rte_comch_op *ops, uint32_t n)
{
	uint32_t i;

	n = RTE_MIN(n, (uint32_t)COMCH_PLAN_GROUP);
	for (i = 1; i < n; i++)
		if (ops[i].consumer_id != ops[0].consumer_id)
			break;
	return i;
}

/* Send operations until one has to wait. Within comch_epoch_enter() and leave. */
static __rte_always_inline uint16_t
comch_plan_send(struct comch_tx *tx, const struct rte_comch_op *ops, uint16_t n,
		comch_plan_step_t step, comch_plan_blocked_t blocked)
{
	uint32_t room = comch_done_room(&tx->done);
	uint32_t halt = comch_load_acquire(&tx->halt);
	struct comch_target *to;
	uint16_t i = 0, took;

	n = (uint16_t)RTE_MIN((uint32_t)n, room);
	while (i < n && !blocked(tx)) {
		if (unlikely(halt != RTE_COMCH_HALT_NONE)) {
			i += comch_plan_fail(tx, &ops[i],
				halt == RTE_COMCH_HALT_DOWN ? -ECONNRESET : -EBADFD);
			continue;
		}
		to = comch_plan_find(tx, ops[i].consumer_id, &tx->last_slot);
		if (unlikely(to == NULL)) {
			i += comch_plan_fail(tx, &ops[i], -ENOENT);
			continue;
		}
		took = step(tx, to, &ops[i], n - i);
		if (took == 0) {
			tx->short_id = ops[i].consumer_id;
			break;
		}
		i += took;
	}
	return i;
}

#endif /* COMCH_PLAN_H */
