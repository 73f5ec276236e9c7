/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_SEND_H
#define COMCH_SEND_H

/*
 * The part of a send that is common to all transports: check operations, read the
 * descriptors of posted buffers, and assign operations to buffers.
 *
 * A driver embeds struct comch_send in its producer and struct comch_send_remote in its
 * remote, and calls comch_send_burst() with a step function that sends operations to one
 * consumer. All functions are inline and the step is a constant, so that the compiler
 * generates one function.
 *
 * Posted descriptors are untrusted: each is copied once and checked against the table
 * of imports.
 */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include "rte_comch_dp.h"
#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_done.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"
#include "sdk/comch_rec.h"

/* Maximum positions of one plan. */
#define COMCH_SEND_GROUP 32
/* A result, not an error: the next buffer is in memory that the peer did not export. */
#define COMCH_SEND_STAGED 1

/* A consumer of the peer, shared by all local producers. */
struct comch_send_remote {
	struct rte_comch_remote base;                /* first */
	const struct comch_post_shared *post_shared; /* descriptors: the peer's memory, or copies */
	uint64_t *claim;                             /* positions claimed */
	struct rte_comch_region *const *imports;     /* by region number; NULL: none */
	uint32_t mask;
	/* Written by all producers. */
	uint64_t tail_seen __rte_aligned(COMCH_LINE); /* the peer's last tail, checked */
};

/*
 * Descriptors of one consumer, read ahead: those of posted positions do not change
 * until they are claimed. A cache line of descriptors is fetched once, not again after
 * each post that the consumer adds to the line.
 */
#define COMCH_AHEAD 32
struct comch_ahead {
	uint64_t pos; /* position of the first */
	uint32_t n;
	uint32_t id;  /* the consumer's; 0: none */
	struct comch_desc desc[COMCH_AHEAD];
};

/* The part of a producer that is common to all transports. */
struct comch_send {
	/* hot */
	struct comch_dir *dir;
	struct comch_epoch epoch;
	uint32_t last_slot;     /* hint for the directory */
	uint32_t halt;          /* enum rte_comch_halt; set by any thread */
	uint32_t id;
	uint32_t short_id;      /* consumer of the last short send; the producer's thread only */
	uint32_t flags;         /* RTE_COMCH_PRODUCER_F_* */
	struct comch_done_ring done;
	struct comch_ahead ahead;
	uint32_t guard;         /* see comch_guard.h */
	struct rte_comch_producer_stats stats;
	/* callback of the owner */
	void (*fault)(void *ctx, int err, const char *text);
	void *ctx;
};

/*
 * Prepare a producer and its base, whose ops and link the driver sets. Both are zeroed.
 * 0 or -ENOMEM.
 */
static inline int
comch_send_init(struct comch_send *tx, struct rte_comch_dq *dq,
		const struct rte_comch_prod_args *args)
{
	int ret = comch_done_init(&tx->done, args->queue_size, args->socket_id);

	if (ret != 0)
		return ret;
	tx->dir = args->dir;
	tx->flags = args->flags;
	tx->halt = RTE_COMCH_HALT_STOP;
	tx->fault = args->fault;
	tx->ctx = args->ctx;
	dq->stats = &tx->stats;
	dq->fault = args->fault;
	dq->idle_cb = args->idle_cb;
	dq->ctx = args->ctx;
	return 0;
}

static inline void
comch_send_fini(struct comch_send *tx)
{
	comch_done_fini(&tx->done);
}

/* Send up to n operations to one consumer. Returns the number accepted. */
typedef uint16_t (*comch_send_step_t)(struct comch_send *tx, struct comch_send_remote *to,
		const struct rte_comch_op *ops, uint32_t n);
/* Must new operations wait for one in progress? */
typedef bool (*comch_send_blocked_t)(const struct comch_send *tx);

/* The base is first: NULL stays NULL. */
static inline struct comch_send_remote *
comch_send_find(const struct comch_send *tx, uint32_t id, uint32_t *slot)
{
	static_assert(offsetof(struct comch_send_remote, base) == 0, "base must be first");
	return (struct comch_send_remote *)comch_dir_find(tx->dir, id, slot);
}

/* Checks */

static int __rte_unused
comch_send_check_sges(const struct rte_comch_op *op)
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

/* Check an operation, without regard to the buffer that it goes to. */
static __rte_always_inline int
comch_send_check_op(const struct comch_send_remote *to, const struct rte_comch_op *op)
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
		return comch_send_check_sges(op);
	if (unlikely(op->mr == NULL))
		return -EINVAL;
	if (unlikely(!comch_mem_within(op->mr, op->addr, op->len)))
		return -EFAULT;
	return 0;
}

/*
 * Read descriptors from pos on, up to the end of the ring; posted: number of buffers posted there.
 * Those that are read next come into the cache meanwhile.
 */
static void __rte_unused
comch_send_fill_ahead(struct comch_ahead *ahead, const struct comch_send_remote *to, uint64_t pos,
		uint32_t posted)
{
	const uint32_t at = (uint32_t)pos & to->mask;
	const uint32_t n = RTE_MIN(RTE_MIN(posted, (uint32_t)COMCH_AHEAD), to->mask + 1 - at);
	const struct comch_desc *desc = &to->post_shared->desc[at];
	uint32_t i;

	for (i = 0; i < n; i++)
		peer_copy_words((uint64_t *)&ahead->desc[i], (const uint64_t *)&desc[i],
			sizeof(*desc) / sizeof(uint64_t));
	ahead->pos = pos;
	ahead->n = n;
	for (i = n; i < posted && i < n + COMCH_AHEAD; i += COMCH_LINE / sizeof(*desc))
		rte_prefetch0(&to->post_shared->desc[(at + i) & to->mask]);
}

/* Descriptors of this consumer are read next. */
static __rte_always_inline void
comch_send_begin_ahead(struct comch_ahead *ahead, const struct comch_send_remote *to)
{
	if (likely(ahead->id == to->base.id))
		return;
	ahead->id = to->base.id;
	ahead->n = 0;
}

/* The private copy of the descriptor at pos. */
static inline const struct comch_desc *
comch_send_desc(struct comch_ahead *ahead, const struct comch_send_remote *to, uint64_t pos,
		uint32_t posted)
{
	if (unlikely(pos - ahead->pos >= ahead->n))
		comch_send_fill_ahead(ahead, to, pos, posted);
	return &ahead->desc[pos - ahead->pos];
}

/* The import of the last descriptor, which is usually that of the next one, too. */
struct comch_import_cache {
	uint32_t region;
	uint8_t *addr;
	uint64_t size;
};

/* Locate a buffer and check that len bytes fit. peer_desc is a private copy, unchecked. */
static __rte_always_inline int
comch_send_check_desc(const struct comch_send_remote *to, const struct comch_desc *peer_desc,
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
				COMCH_SEND_STAGED : -EPROTO;
		region = peer_region;
		cache->region = region;
		/*
		 * Acquire, both ways: pairs with import_add() and comch_import_on_del().
		 * Model: publish.pml, find.
		 */
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
 * Number of buffers posted from pos on, or -EPROTO if the peer's tail is out of range.
 * pos may be stale: then only the claim that follows fails.
 */
static __rte_always_inline int64_t
comch_send_posted(struct comch_send_remote *to, uint64_t pos, uint32_t want)
{
	/*
	 * Acquire: pairs with the release below, in another producer that read the tail.
	 * Model: ring.pml, seen.
	 */
	uint64_t tail = comch_load_acquire(&to->tail_seen);
	uint64_t peer_tail, claim;

	if ((int64_t)(tail - pos) >= (int64_t)want)
		return (int64_t)(tail - pos);
	/* T of comch_chan.h: ring.pml, posted */
	peer_tail = peer_load_acquire_u64(&to->post_shared->tail);
	claim = comch_load_relaxed(to->claim);
	if (unlikely((int64_t)(peer_tail - claim) > (int64_t)to->base.depth))
		return -EPROTO;
	comch_store_release(&to->tail_seen, peer_tail); /* ring.pml, told */
	return RTE_MAX((int64_t)(peer_tail - pos), 0);
}

/*
 * Assign up to n operations to the buffers from pos on: set dst to their addresses and
 * return their number. *err is the result for the first operation left out; 0: no buffer.
 */
static __rte_always_inline uint32_t
comch_send_group(struct comch_ahead *ahead, struct comch_send_remote *to, uint64_t pos,
		const struct rte_comch_op *ops, uint32_t n, uint8_t **dst, int *err)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	const struct comch_desc *desc;
	int64_t posted;
	uint32_t i;

	*err = comch_send_check_op(to, &ops[0]);
	if (unlikely(*err != 0))
		return 0;
	posted = comch_send_posted(to, pos, n);
	if (unlikely(posted <= 0)) {
		*err = (int)posted;
		return 0;
	}
	n = (uint32_t)RTE_MIN((int64_t)n, posted);
	comch_send_begin_ahead(ahead, to);
	for (i = 0; i < n; i++) {
		if (i > 0)
			*err = comch_send_check_op(to, &ops[i]);
		dst[i] = NULL;
		/* An empty payload is not copied: the buffer's address does not matter. */
		if (likely(*err == 0 && ops[i].len > 0)) {
			desc = comch_send_desc(ahead, to, pos + i, (uint32_t)posted - i);
			*err = comch_send_check_desc(to, desc, ops[i].len, &cache, &dst[i]);
		}
		if (unlikely(*err != 0))
			return i;
	}
	return n;
}

/* Sends */

/* Complete an operation. copies: as comch_done_put(). */
static __rte_always_inline void
comch_send_done(struct comch_send *tx, const struct rte_comch_op *op, int status, uint16_t copies)
{
	if (unlikely(status != 0))
		comch_count(&tx->stats.errors, 1);
	if ((op->flags & RTE_COMCH_OP_F_SILENT) == 0)
		comch_done_put(&tx->done, op, status, copies);
}

/* Fail an operation for which no position was claimed. */
static inline uint16_t
comch_send_fail(struct comch_send *tx, const struct rte_comch_op *op, int err)
{
	if (unlikely(err == -EPROTO))
		tx->fault(tx->ctx, -EPROTO, "peer posted a buffer outside its exported memory");
	comch_send_done(tx, op, err, 0);
	return 1;
}

/* The number of leading operations for one consumer, within one plan. */
static inline uint32_t
comch_send_same_consumer(const struct rte_comch_op *ops, uint32_t n)
{
	uint32_t i;

	n = RTE_MIN(n, (uint32_t)COMCH_SEND_GROUP);
	for (i = 1; i < n; i++)
		if (ops[i].consumer_id != ops[0].consumer_id)
			break;
	return i;
}

/* Send operations until one must wait. Call between comch_epoch_enter() and leave. */
static __rte_always_inline uint16_t
comch_send_burst(struct comch_send *tx, const struct rte_comch_op *ops, uint16_t n,
		comch_send_step_t step, comch_send_blocked_t blocked)
{
	uint32_t room = comch_done_room(&tx->done);
	/* Pairs with the driver's start. Model: publish.pml, find. */
	uint32_t halt = comch_load_acquire(&tx->halt);
	struct comch_send_remote *to;
	uint16_t i = 0, took;

	n = (uint16_t)RTE_MIN((uint32_t)n, room);
	while (i < n && !blocked(tx)) {
		if (unlikely(halt != RTE_COMCH_HALT_NONE)) {
			i += comch_send_fail(tx, &ops[i],
				halt == RTE_COMCH_HALT_DOWN ? -ECONNRESET : -EBADFD);
			continue;
		}
		to = comch_send_find(tx, ops[i].consumer_id, &tx->last_slot);
		if (unlikely(to == NULL)) {
			i += comch_send_fail(tx, &ops[i], -ENOENT);
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

#endif /* COMCH_SEND_H */
