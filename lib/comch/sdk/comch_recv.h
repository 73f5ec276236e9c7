/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_RECV_H
#define COMCH_RECV_H

/*
 * The part of a consumer that is common to all transports: posted buffers, refused
 * buffers, and records, which are checked and become completions.
 *
 * A driver embeds struct comch_recv in its consumer. It calls comch_recv_burst(), and
 * comch_recv_post() of comch_recv_post.h, with its own steps, as constants, so that the
 * compiler generates one function.
 *
 * The peer's records are untrusted. Each is copied once and checked: the number of
 * positions that it covers (at most those posted), the length of each message (at most
 * that of the buffer), the length of immediate data (at most imm_size). All other
 * values come from local state.
 */

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_malloc.h>

#include "rte_comch_dp.h"
#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"
#include "sdk/comch_rec.h"

/* A buffer given to post: posted, or refused. */
struct comch_posted {
	uint64_t cookie;
	uint8_t *addr;
	uint32_t len;
	/*
	 * The longest message that the peer may write to the buffer: its length, or 0
	 * if it is staged. A negative errno marks a refused buffer, which was never
	 * posted and is returned with this status.
	 */
	int32_t room;
};

/* The registration of the last buffer posted, which is usually that of the next one, too. */
struct comch_recv_mr {
	const struct rte_comch_mr *mr; /* NULL: none since the start */
	uintptr_t addr;
	uint64_t len;
	uint64_t where;                /* of a descriptor of its first byte */
	bool is_staged;
};

/* The common part of a consumer. Used by the consumer's thread except where noted. */
struct comch_recv {
	/* hot */
	uint32_t mask;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t halt;          /* enum rte_comch_halt; set by any thread */
	uint64_t tail;          /* positions posted */
	uint64_t head;          /* positions received */
	uint64_t entry_tail;    /* entries accepted: positions and refusals */
	uint64_t entry_head;    /* entries returned */
	struct comch_posted *entry; /* depth elements */
	uint32_t nb_refused;    /* refused buffers to return */
	struct comch_recv_mr last; /* posted from */
	const struct comch_cons_mrs *mrs; /* of the owner */
	uint32_t rec_idx;       /* next message within cur */
	bool flushing;          /* deliver no more messages */
	bool awaits_peer;       /* a peer of a link that is down may still write to buffers */
	struct comch_rec cur;   /* private copy of the current record, without seq */
	uint32_t guard;         /* see comch_guard.h */
	uint32_t drained;       /* all buffers returned: memory may be freed (release) */
	struct rte_comch_consumer_stats stats;
	/* callbacks of the owner */
	void (*fault)(void *ctx, int err, const char *text);
	void (*drained_cb)(void *ctx);
	void *ctx;
};

/* The transport's part of a receive. */
struct comch_recv_steps {
	/* The record of the position at head, in shared memory. */
	const struct comch_rec *(*at_head)(const struct comch_recv *rx);
	/* Is that record committed? */
	bool (*is_committed)(const struct comch_recv *rx);
	/* Copy the message at head into its buffer. 1: complete, 0: not yet, or an errno. */
	int (*pull)(struct comch_recv *rx, const struct comch_posted *e, uint32_t len);
	/*
	 * CPU copies on this side of each payload of a direct record. head: as at_head()
	 * returned it. NULL: none.
	 */
	uint16_t (*copies)(const struct comch_rec_head *head);
	/* Is a message in flight that an orderly stop waits for? */
	bool (*in_flight)(struct comch_recv *rx);
	void (*halt)(struct comch_recv *rx, enum rte_comch_halt why);
};

/* The transport's out-of-line comch_recv_all(). */
typedef uint16_t (*comch_recv_rest_t)(struct comch_recv *rx, struct rte_comch_cpl *cpls,
		uint16_t n);

/*
 * Prepare a consumer and its base, whose ops and link the driver sets. Both are zeroed.
 * 0 or -ENOMEM.
 */
static inline int
comch_recv_init(struct comch_recv *rx, struct rte_comch_dq *dq,
		const struct rte_comch_cons_args *args)
{
	rx->entry = rte_zmalloc_socket("comch_posted", args->depth * sizeof(*rx->entry),
			COMCH_LINE, args->socket_id);
	if (rx->entry == NULL)
		return -ENOMEM;
	rx->depth = args->depth;
	rx->mask = args->depth - 1;
	rx->imm_size = args->imm_size;
	rx->mrs = args->mrs;
	rx->halt = RTE_COMCH_HALT_STOP;
	rx->drained = 1;
	rx->fault = args->fault;
	rx->drained_cb = args->drained_cb;
	rx->ctx = args->ctx;
	dq->stats = &rx->stats;
	dq->fault = args->fault;
	dq->ctx = args->ctx;
	return 0;
}

static inline void
comch_recv_fini(struct comch_recv *rx)
{
	rte_free(rx->entry);
}

/* Start at position 0. The transport is ready for bursts. */
static inline void
comch_recv_begin(struct comch_recv *rx)
{
	rx->head = 0;
	rx->tail = 0;
	rx->rec_idx = 0;
	rx->cur.head.count = 0;
	rx->flushing = false;
	/* Its region may be another one than at the last start. */
	rx->last.mr = NULL;
	comch_store_release(&rx->drained, 0); /* No model: halt follows */
	/* Release: pairs with comch_recv_post() and _burst(). Model: publish.pml, publish. */
	comch_store_release(&rx->halt, RTE_COMCH_HALT_NONE);
}

/* Completions */

static inline void
comch_recv_take(struct comch_recv *rx, struct rte_comch_cpl *cpl, int status)
{
	const struct comch_posted *e = &rx->entry[rx->entry_head++ & rx->mask];

	cpl->cookie = e->cookie;
	cpl->status = status;
	cpl->len = 0;
	cpl->peer_id = 0;
	cpl->imm_len = 0;
	cpl->copies = 0;
	if (unlikely(status != 0))
		comch_count(&rx->stats.errors, 1);
}

/* Return refused buffers at the head of the queue. */
static inline uint16_t
comch_recv_refused(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t i = 0;
	int32_t room;

	while (unlikely(rx->nb_refused > 0) && i < n) {
		room = rx->entry[rx->entry_head & rx->mask].room;
		if (room >= 0)
			break;
		comch_recv_take(rx, &cpls[i++], room);
		rx->nb_refused--;
	}
	return i;
}

static inline void
comch_recv_count(struct comch_recv *rx, const struct rte_comch_cpl *cpl)
{
	comch_count(&rx->stats.msgs, 1);
	comch_count(&rx->stats.bytes, cpl->len);
	if (cpl->imm_len > 0)
		comch_count(&rx->stats.imm_msgs, 1);
	if (unlikely(cpl->copies > 0))
		comch_count(&rx->stats.copies, cpl->copies);
}

/*
 * Copy immediate data by words. It may have been stored by words just before: a wider
 * load would stall until those stores have reached the cache.
 */
static inline void
comch_recv_imm(struct rte_comch_cpl *cpl, const struct comch_rec *rec)
{
	static_assert(RTE_COMCH_IMM_SIZE % sizeof(uint64_t) == 0 &&
		offsetof(struct comch_rec, imm) % sizeof(uint64_t) == 0 &&
		offsetof(struct rte_comch_cpl, imm) % sizeof(uint64_t) == 0, "whole words");
	peer_copy_words((uint64_t *)cpl->imm, (const uint64_t *)rec->imm,
		RTE_COMCH_IMM_SIZE / sizeof(uint64_t));
}

static inline bool
comch_recv_head_is_sane(const struct comch_recv *rx, const struct comch_rec_head *head)
{
	if (unlikely(head->imm_len > rx->imm_size || head->kind > COMCH_REC_ABORT))
		return false;
	if (likely(head->count == 1))
		return true;
	return head->count > 1 && head->count <= COMCH_REC_BATCH &&
		head->count <= rx->tail - rx->head &&
		head->imm_len == 0 && head->kind == COMCH_REC_DIRECT;
}

/* Copy and check the header of the record at head. */
static __rte_always_inline bool
comch_recv_read_head(const struct comch_recv *rx, const struct comch_rec *rec_shared,
		struct comch_rec_head *head)
{
	struct comch_rec_head peer_head;

	peer_copy_words((uint64_t *)&peer_head, (const uint64_t *)&rec_shared->head, 1);
	if (unlikely(!comch_recv_head_is_sane(rx, &peer_head)))
		return false;
	*head = peer_head;
	return true;
}

/* Copy the record at head to rx->cur, which several calls may deliver. */
static inline void
comch_recv_begin_rec(struct comch_recv *rx, const struct comch_rec *rec_shared,
		const struct comch_rec_head *head)
{
	peer_copy_words((uint64_t *)rx->cur.len, (const uint64_t *)rec_shared->len,
		sizeof(rec_shared->len) / (sizeof(uint64_t)));
	rx->cur.head = *head;
	rx->rec_idx = 0;
}

/* A constant 0 without the step. */
static __rte_always_inline uint16_t
comch_recv_copies(const struct comch_recv_steps *steps, const struct comch_rec_head *head)
{
	return steps->copies != NULL ? steps->copies(head) : 0;
}

/* Deliver messages of a direct record. Returns their number, or -EPROTO. */
static __rte_always_inline int
comch_recv_direct(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_recv_steps *steps)
{
	const uint16_t copies = comch_recv_copies(steps, &rx->cur.head);
	const struct comch_rec *rec = &rx->cur;
	const uint64_t head = rx->entry_head;
	const uint32_t mask = rx->mask, idx = rx->rec_idx;
	const struct comch_posted *e;
	uint64_t bytes = 0, copied = 0;
	uint32_t len;
	uint16_t i;

	n = (uint16_t)RTE_MIN((uint32_t)n, (uint32_t)rec->head.count - idx);
	for (i = 0; i < n; i++) {
		e = &rx->entry[(head + i) & mask];
		len = rec->len[idx + i];
		if (unlikely((int64_t)len > e->room))
			break;
		cpls[i].cookie = e->cookie;
		cpls[i].status = 0;
		cpls[i].len = len;
		cpls[i].peer_id = rec->head.producer;
		cpls[i].imm_len = 0;
		cpls[i].copies = len > 0 ? copies : 0;
		bytes += len;
		copied += cpls[i].copies;
	}
	rx->entry_head = head + i;
	rx->head += i;
	rx->rec_idx = idx + i;
	comch_count(&rx->stats.msgs, i);
	comch_count(&rx->stats.bytes, bytes);
	if (copies > 0)
		comch_count(&rx->stats.copies, copied);
	return likely(i > 0) ? i : -EPROTO;
}

/* Deliver the only message of a direct record, without a copy of it. 1 or -EPROTO. */
static __rte_always_inline int
comch_recv_single(struct comch_recv *rx, const struct comch_rec *rec_shared,
		const struct comch_rec_head *head, struct rte_comch_cpl *cpl,
		const struct comch_recv_steps *steps)
{
	const struct comch_posted *e = &rx->entry[rx->entry_head & rx->mask];
	uint32_t peer_len = peer_load_relaxed_u32(&rec_shared->len0);

	if (unlikely((int64_t)peer_len > e->room))
		return -EPROTO;
	cpl->cookie = e->cookie;
	cpl->status = 0;
	cpl->len = peer_len;
	cpl->peer_id = head->producer;
	cpl->imm_len = head->imm_len;
	cpl->copies = peer_len > 0 ? comch_recv_copies(steps, head) : 0;
	if (head->imm_len > 0)
		comch_recv_imm(cpl, rec_shared);
	rx->head++;
	rx->entry_head++;
	comch_recv_count(rx, cpl);
	return 1;
}

/* Deliver the message of a staged or aborted record. 1, 0 (incomplete) or -EPROTO. */
static __rte_always_inline int
comch_recv_staged(struct comch_recv *rx, struct rte_comch_cpl *cpl,
		const struct comch_recv_steps *steps)
{
	const struct comch_posted *e = &rx->entry[rx->entry_head & rx->mask];
	const struct comch_rec *rec = &rx->cur;
	int ret = -ECANCELED;

	if (rec->head.kind == COMCH_REC_STAGED) {
		if (rec->len0 > e->len || e->room != 0 || e->addr == NULL)
			return -EPROTO;
		ret = steps->pull(rx, e, rec->len0);
		if (ret == 0 || ret == -EPROTO)
			return ret;
	}
	comch_recv_take(rx, cpl, ret < 0 ? ret : 0);
	rx->head++;
	rx->rec_idx++;
	if (ret < 0)
		return 1;
	cpl->len = rec->len0;
	cpl->peer_id = rec->head.producer;
	cpl->copies = 1;
	cpl->imm_len = rec->head.imm_len;
	if (cpl->imm_len > 0)
		comch_recv_imm(cpl, rec);
	comch_recv_count(rx, cpl);
	comch_count(&rx->stats.staged, 1);
	return 1;
}

/* After the last message: return posted buffers, then set drained. */
static __rte_always_inline uint16_t
comch_recv_drain(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n,
		enum rte_comch_halt halt, const struct comch_recv_steps *steps)
{
	uint16_t i = 0;
	int status;

	if (halt == RTE_COMCH_HALT_NONE ||
			(!rx->flushing && (halt == RTE_COMCH_HALT_STOP || rx->awaits_peer) &&
			steps->in_flight(rx)))
		return 0;
	/* Positions no longer match buffers: ignore records that still arrive. */
	rx->flushing = true;
	while (i < n && rx->entry_head != rx->entry_tail) {
		status = rx->entry[rx->entry_head & rx->mask].room;
		if (status >= 0) {
			status = -ECANCELED;
			rx->head++;
		} else {
			rx->nb_refused--;
		}
		comch_recv_take(rx, &cpls[i++], status);
	}
	if (rx->entry_head == rx->entry_tail) {
		/* Release: the last access. Pairs with cons_drained(). leave.pml, leave */
		comch_store_release(&rx->drained, 1);
		rx->drained_cb(rx->ctx);
	}
	return i;
}

/* Deliver messages of the record at head. Returns their number, or -EPROTO. */
static __rte_always_inline int
comch_recv_deliver_rec(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_recv_steps *steps)
{
	const struct comch_rec *rec_shared;
	struct comch_rec_head head;

	if (likely(rx->rec_idx == rx->cur.head.count)) {
		if (!steps->is_committed(rx))
			return 0;
		rec_shared = steps->at_head(rx);
		if (unlikely(!comch_recv_read_head(rx, rec_shared, &head)))
			return -EPROTO;
		if (likely(head.count == 1 && head.kind == COMCH_REC_DIRECT))
			return comch_recv_single(rx, rec_shared, &head, cpls, steps);
		comch_recv_begin_rec(rx, rec_shared, &head);
	}
	if (likely(rx->cur.head.kind == COMCH_REC_DIRECT))
		return comch_recv_direct(rx, cpls, n, steps);
	return comch_recv_staged(rx, cpls, steps);
}

/* Deliver all there is. 1: cpls is full, 0: no more messages, or -EPROTO. */
static __rte_always_inline int
comch_recv_deliver(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n, uint16_t *taken,
		const struct comch_recv_steps *steps)
{
	uint16_t i = 0;
	int ret = 1;

	while (ret > 0) {
		i += comch_recv_refused(rx, &cpls[i], n - i);
		if (i == n)
			break;
		ret = comch_recv_deliver_rec(rx, &cpls[i], n - i, steps);
		i += RTE_MAX(ret, 0);
	}
	*taken = i;
	return ret;
}

/* Deliver, unless the consumer is flushing. 1: cpls is full, 0: no more messages. */
static __rte_always_inline int
comch_recv_msgs(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n, uint16_t *taken,
		const struct comch_recv_steps *steps)
{
	int ret;

	if (unlikely(rx->flushing))
		return 0;
	ret = comch_recv_deliver(rx, cpls, n, taken, steps);
	if (likely(ret != -EPROTO))
		return ret;
	rx->fault(rx->ctx, -EPROTO, "peer's record does not match the posted buffers");
	rx->flushing = true;
	steps->halt(rx, RTE_COMCH_HALT_DOWN);
	return 0;
}

/* After a halt: receive records published before it, then drain. */
static __rte_noinline uint16_t
comch_recv_halted(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_recv_steps *steps)
{
	/* Acquire: see what was published before the halt. Model: stop.pml, halted. */
	enum rte_comch_halt halt = comch_load_acquire(&rx->halt);
	uint16_t i = 0;
	int ret = comch_recv_msgs(rx, cpls, n, &i, steps);

	if (ret == 0 || rx->entry_head == rx->entry_tail)
		i += comch_recv_drain(rx, &cpls[i], n - i, halt, steps);
	return i;
}

/* General receive: deliver, then drain if the consumer is halted. */
static __rte_always_inline uint16_t
comch_recv_all(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_recv_steps *steps)
{
	uint16_t i = 0;

	if (unlikely(comch_load_relaxed(&rx->drained) != 0))
		return comch_recv_refused(rx, cpls, n);
	comch_recv_msgs(rx, cpls, n, &i, steps);
	if (likely(comch_load_relaxed(&rx->halt) == RTE_COMCH_HALT_NONE))
		return i;
	return i + comch_recv_halted(rx, &cpls[i], n - i, steps);
}

/* A receive whose fast path is an empty queue or a single message. */
static __rte_always_inline uint16_t
comch_recv_burst(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_recv_steps *steps, comch_recv_rest_t rest)
{
	const struct comch_rec *rec_shared;
	struct comch_rec_head head;

	/* Mostly the queue is empty or has one message. Model: publish.pml, find. */
	if (unlikely(comch_load_acquire(&rx->halt) != RTE_COMCH_HALT_NONE ||
			rx->nb_refused > 0 || rx->rec_idx != rx->cur.head.count || n == 0))
		goto all;
	if (!steps->is_committed(rx))
		return 0;
	rec_shared = steps->at_head(rx);
	if (!comch_recv_read_head(rx, rec_shared, &head) || head.count != 1 ||
			head.kind != COMCH_REC_DIRECT ||
			comch_recv_single(rx, rec_shared, &head, cpls, steps) < 0)
		goto all;
	return n == 1 ? 1 : 1 + rest(rx, &cpls[1], n - 1);
all:
	return rest(rx, cpls, n);
}

/* Is a refused buffer next in the queue? */
static inline bool
comch_recv_has_refusal(const struct comch_recv *rx)
{
	return rx->entry_head != rx->entry_tail &&
		rx->entry[rx->entry_head & rx->mask].room < 0;
}

#endif /* COMCH_RECV_H */
