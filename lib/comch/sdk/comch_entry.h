/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ENTRY_H
#define COMCH_ENTRY_H

/*
 * What a consumer does whatever the transport: posted buffers, refusals, and records
 * that are checked and turned into completions.
 *
 * A driver embeds struct comch_rx in its consumer. It calls comch_entry_post() and
 * comch_entry_recv() with its own steps, as constants, so that the compiler makes one
 * function of it.
 *
 * What the peer says is one record per position, copied out once and checked:
 * how many positions it speaks for (no more than are posted), how long each
 * message is (no longer than the buffer), how much immediate data there is
 * (no more than we take). Everything else is known from our own books.
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

/* What a posted buffer is to its consumer. */
struct comch_posted {
	uint64_t cookie;
	uint8_t *addr;
	uint32_t len;
	/*
	 * The longest message that the peer may have put in by itself: len, 0
	 * for a staged buffer, or a negative errno for one that was never
	 * posted and comes back with that.
	 */
	int32_t room;
};

/* A consumer, whatever the transport. Its thread's, but for what is said otherwise. */
struct comch_rx {
	/* hot */
	uint32_t mask;
	uint32_t depth;
	uint32_t imm_size;
	uint32_t halt;          /* enum rte_comch_halt; set by any thread */
	uint64_t tail;          /* positions posted */
	uint64_t head;          /* positions received */
	uint64_t entry_tail;    /* entries taken, positions and refusals */
	uint64_t entry_head;    /* entries given back */
	struct comch_posted *entry; /* depth of them */
	uint32_t nb_refused;    /* entries that were never posted */
	uint32_t last_mr;       /* where the last posted buffer was found */
	const struct comch_cons_mrs *mrs; /* the owner's */
	uint32_t rec_idx;       /* next message within cur */
	bool flushing;          /* nothing is delivered any more */
	struct comch_rec cur;   /* private copy of the record in work, but for seq */
	uint32_t guard;         /* see comch_guard.h */
	uint32_t drained;       /* all is given back: the memory may go (release) */
	struct rte_comch_consumer_stats stats;
	/* to the owner */
	void (*fault)(void *ctx, int err, const char *text);
	void (*drained_cb)(void *ctx);
	void *ctx;
};

/* The steps of a transport. */
struct comch_rx_steps {
	/* The record of the position at head, in its place. */
	const struct comch_rec *(*at_head)(const struct comch_rx *rx);
	/* Is that record there? */
	bool (*is_there)(const struct comch_rx *rx);
	/* Copy the message at head into its buffer. 1: complete, 0: later, or an errno. */
	int (*pull)(struct comch_rx *rx, const struct comch_posted *e, uint32_t len);
	/* An orderly stop: is something still under way? */
	bool (*waits)(struct comch_rx *rx);
	void (*halt)(struct comch_rx *rx, enum rte_comch_halt why);
};

/* Write the descriptor of a position. */
typedef void (*comch_rx_put_t)(struct comch_rx *rx, uint64_t pos, uint64_t where, uint32_t len);
/* Tell the peer of rx->tail. */
typedef void (*comch_rx_publish_t)(struct comch_rx *rx);
/* The transport's comch_entry_recv_all(), not inline. */
typedef uint16_t (*comch_rx_rest_t)(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n);

/* depth: a power of two. */
static inline int
comch_entry_init(struct comch_rx *rx, uint32_t depth, int socket_id)
{
	rx->entry = rte_zmalloc_socket("comch_posted", depth * sizeof(*rx->entry),
			COMCH_LINE, socket_id);
	if (rx->entry == NULL)
		return -ENOMEM;
	rx->depth = depth;
	rx->mask = depth - 1;
	rx->halt = RTE_COMCH_HALT_STOP;
	rx->drained = 1;
	return 0;
}

static inline void
comch_entry_fini(struct comch_rx *rx)
{
	rte_free(rx->entry);
}

/* Begin at position 0: what the transport needs is in its place. */
static inline void
comch_entry_begin(struct comch_rx *rx)
{
	rx->head = 0;
	rx->tail = 0;
	rx->rec_idx = 0;
	rx->cur.head.count = 0;
	rx->flushing = false;
	comch_store_release(&rx->drained, 0);
	/* Release: the consumer's thread, seeing no halt, sees all of the above. */
	comch_store_release(&rx->halt, RTE_COMCH_HALT_NONE);
}

/* Posts */

/* Find the registration that a buffer names among those of the consumer. */
static inline const struct comch_cons_mr *
comch_entry_find_mr(struct comch_rx *rx, const struct rte_comch_mr *mr)
{
	/* Acquire: pairs with the release that adds one. */
	uint32_t i, n = comch_load_acquire(&rx->mrs->nb);

	for (i = 0; i < n; i++) {
		if (rx->mrs->mr[i].mr != mr)
			continue;
		rx->last_mr = i;
		return &rx->mrs->mr[i];
	}
	return NULL;
}

/* Where is the buffer for the peer? Its room, or why it cannot be posted. */
static inline int32_t
comch_entry_place(struct comch_rx *rx, const struct rte_comch_buf *buf, uint64_t *where)
{
	const struct comch_cons_mr *m = &rx->mrs->mr[rx->last_mr];
	uint64_t off;

	if (buf->addr == NULL && buf->len == 0) {
		*where = (uint64_t)COMCH_REGION_NONE << COMCH_DESC_OFF_BITS;
		return 0;
	}
	if (unlikely(buf->mr == NULL || buf->addr == NULL))
		return -EINVAL;
	if (unlikely(m->mr != buf->mr || rx->mrs->nb == 0)) {
		m = comch_entry_find_mr(rx, buf->mr);
		if (m == NULL)
			return -EINVAL;
	}
	/* Acquire: pairs with the release of the thread that heard of the import. */
	if (unlikely(comch_load_acquire(&m->ready) == 0))
		return -EINVAL;
	off = (uint64_t)((uintptr_t)buf->addr - (uintptr_t)m->addr);
	if (unlikely(off > m->len || buf->len > m->len - off))
		return -EFAULT;
	*where = (uint64_t)m->region << COMCH_DESC_OFF_BITS;
	if (m->region == COMCH_REGION_STAGED)
		return 0;
	*where |= off;
	return (int32_t)RTE_MIN(buf->len, (uint32_t)INT32_MAX);
}

static __rte_always_inline uint16_t
comch_entry_post(struct comch_rx *rx, const struct rte_comch_buf *bufs, uint16_t n,
		comch_rx_put_t put, comch_rx_publish_t publish)
{
	bool halted = comch_load_acquire(&rx->halt) != RTE_COMCH_HALT_NONE;
	uint64_t room = rx->depth - (rx->entry_tail - rx->entry_head);
	uint64_t tail = rx->tail, entry_tail = rx->entry_tail, where = 0;
	const uint32_t mask = rx->mask;
	struct comch_posted *e;
	uint16_t i;

	n = (uint16_t)RTE_MIN((uint64_t)n, room);
	for (i = 0; i < n; i++) {
		e = &rx->entry[entry_tail++ & mask];
		e->cookie = bufs[i].cookie;
		e->addr = bufs[i].addr;
		e->len = bufs[i].len;
		e->room = unlikely(halted) ? -EBADFD : comch_entry_place(rx, &bufs[i], &where);
		if (unlikely(e->room < 0)) {
			rx->nb_refused++;
			continue;
		}
		put(rx, tail++, where, bufs[i].len);
	}
	rx->entry_tail = entry_tail;
	if (rx->tail != tail) {
		comch_count(&rx->stats.posted, tail - rx->tail);
		rx->tail = tail;
		publish(rx);
	}
	return n;
}

/* Buffers that a post would take now. */
static inline uint32_t
comch_entry_room(const struct comch_rx *rx)
{
	if (comch_load_relaxed(&rx->halt) != RTE_COMCH_HALT_NONE)
		return 0;
	return rx->depth - (uint32_t)(rx->entry_tail - rx->entry_head);
}

/* Completions */

static inline void
comch_entry_take(struct comch_rx *rx, struct rte_comch_cpl *cpl, int status)
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

/* Give back refusals that are next in line. */
static inline uint16_t
comch_entry_refused(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t i = 0;
	int32_t room;

	while (unlikely(rx->nb_refused > 0) && i < n) {
		room = rx->entry[rx->entry_head & rx->mask].room;
		if (room >= 0)
			break;
		comch_entry_take(rx, &cpls[i++], room);
		rx->nb_refused--;
	}
	return i;
}

static inline void
comch_entry_count(struct comch_rx *rx, const struct rte_comch_cpl *cpl)
{
	comch_count(&rx->stats.msgs, 1);
	comch_count(&rx->stats.bytes, cpl->len);
	if (cpl->imm_len > 0)
		comch_count(&rx->stats.imm_msgs, 1);
	if (unlikely(cpl->copies > 0)) {
		comch_count(&rx->stats.copies, cpl->copies);
		comch_count(&rx->stats.staged, 1);
	}
}

/*
 * Immediate data goes by words: a wider load of what was just stored by words
 * would have to wait until the stores are in the cache.
 */
static inline void
comch_entry_imm(struct rte_comch_cpl *cpl, const struct comch_rec *rec)
{
	static_assert(RTE_COMCH_IMM_SIZE % sizeof(uint64_t) == 0 &&
		offsetof(struct comch_rec, imm) % sizeof(uint64_t) == 0 &&
		offsetof(struct rte_comch_cpl, imm) % sizeof(uint64_t) == 0, "whole words");
	peer_copy_words((uint64_t *)cpl->imm, (const uint64_t *)rec->imm,
		RTE_COMCH_IMM_SIZE / sizeof(uint64_t));
}

static inline bool
comch_entry_head_is_sane(const struct comch_rx *rx, const struct comch_rec_head *head)
{
	if (unlikely(head->imm_len > rx->imm_size || head->kind > COMCH_REC_ABORT))
		return false;
	if (likely(head->count == 1))
		return true;
	return head->count > 1 && head->count <= COMCH_REC_BATCH &&
		head->count <= rx->tail - rx->head &&
		head->imm_len == 0 && head->kind == COMCH_REC_DIRECT;
}

/* The header of the record at head, copied and checked. */
static __rte_always_inline bool
comch_entry_read_head(const struct comch_rx *rx, const struct comch_rec *rec_shared,
		struct comch_rec_head *head)
{
	struct comch_rec_head peer_head;

	peer_copy_words((uint64_t *)&peer_head, (const uint64_t *)&rec_shared->head, 1);
	if (unlikely(!comch_entry_head_is_sane(rx, &peer_head)))
		return false;
	*head = peer_head;
	return true;
}

/* Copy the record at head, whose messages are taken one by one. */
static inline void
comch_entry_begin_rec(struct comch_rx *rx, const struct comch_rec *rec_shared,
		const struct comch_rec_head *head)
{
	peer_copy_words((uint64_t *)rx->cur.len, (const uint64_t *)rec_shared->len,
		sizeof(rec_shared->len) / (sizeof(uint64_t)));
	rx->cur.head = *head;
	rx->rec_idx = 0;
}

/* Messages of the record in work, all in their buffers. How many, or -EPROTO. */
static inline int
comch_entry_direct(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n)
{
	const struct comch_rec *rec = &rx->cur;
	const uint64_t head = rx->entry_head;
	const uint32_t mask = rx->mask, idx = rx->rec_idx;
	const struct comch_posted *e;
	uint64_t bytes = 0;
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
		cpls[i].copies = 0;
		bytes += len;
	}
	rx->entry_head = head + i;
	rx->head += i;
	rx->rec_idx = idx + i;
	comch_count(&rx->stats.msgs, i);
	comch_count(&rx->stats.bytes, bytes);
	return likely(i > 0) ? i : -EPROTO;
}

/* The only message of its record, in its buffer: straight from the record. 1 or -EPROTO. */
static __rte_always_inline int
comch_entry_single(struct comch_rx *rx, const struct comch_rec *rec_shared,
		const struct comch_rec_head *head, struct rte_comch_cpl *cpl)
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
	cpl->copies = 0;
	if (head->imm_len > 0)
		comch_entry_imm(cpl, rec_shared);
	rx->head++;
	rx->entry_head++;
	comch_entry_count(rx, cpl);
	return 1;
}

/* The only message of the record in work, not in its buffer. 1, 0 (half-way) or -EPROTO. */
static __rte_always_inline int
comch_entry_staged(struct comch_rx *rx, struct rte_comch_cpl *cpl,
		const struct comch_rx_steps *steps)
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
	comch_entry_take(rx, cpl, ret < 0 ? ret : 0);
	rx->head++;
	rx->rec_idx++;
	if (ret < 0)
		return 1;
	cpl->len = rec->len0;
	cpl->peer_id = rec->head.producer;
	cpl->copies = 1;
	cpl->imm_len = rec->head.imm_len;
	if (cpl->imm_len > 0)
		comch_entry_imm(cpl, rec);
	comch_entry_count(rx, cpl);
	return 1;
}

/* Nothing is left to deliver: give the posted buffers back, and the memory up. */
static __rte_always_inline uint16_t
comch_entry_drain(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_rx_steps *steps)
{
	enum rte_comch_halt halt = comch_load_acquire(&rx->halt);
	uint16_t i = 0;
	int status;

	if (halt == RTE_COMCH_HALT_NONE ||
			(!rx->flushing && halt == RTE_COMCH_HALT_STOP && steps->waits(rx)))
		return 0;
	/* What arrives from now on would meet the wrong buffer. */
	rx->flushing = true;
	while (i < n && rx->entry_head != rx->entry_tail) {
		status = rx->entry[rx->entry_head & rx->mask].room;
		if (status >= 0) {
			status = -ECANCELED;
			rx->head++;
		} else {
			rx->nb_refused--;
		}
		comch_entry_take(rx, &cpls[i++], status);
	}
	if (rx->entry_head == rx->entry_tail) {
		/* Release: we are out of the memory for good. */
		comch_store_release(&rx->drained, 1);
		rx->drained_cb(rx->ctx);
	}
	return i;
}

/* Take what the record at head has. How many messages, 0: later, or -EPROTO. */
static __rte_always_inline int
comch_entry_some(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_rx_steps *steps)
{
	const struct comch_rec *rec_shared;
	struct comch_rec_head head;

	if (likely(rx->rec_idx == rx->cur.head.count)) {
		if (!steps->is_there(rx))
			return 0;
		rec_shared = steps->at_head(rx);
		if (unlikely(!comch_entry_read_head(rx, rec_shared, &head)))
			return -EPROTO;
		if (likely(head.count == 1 && head.kind == COMCH_REC_DIRECT))
			return comch_entry_single(rx, rec_shared, &head, cpls);
		comch_entry_begin_rec(rx, rec_shared, &head);
	}
	if (likely(rx->cur.head.kind == COMCH_REC_DIRECT))
		return comch_entry_direct(rx, cpls, n);
	return comch_entry_staged(rx, cpls, steps);
}

/* Deliver what there is. 1: no room for more, 0: nothing more, or -EPROTO. */
static __rte_always_inline int
comch_entry_deliver(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n, uint16_t *taken,
		const struct comch_rx_steps *steps)
{
	uint16_t i = 0;
	int ret = 1;

	while (ret > 0) {
		i += comch_entry_refused(rx, &cpls[i], n - i);
		if (i == n)
			break;
		ret = comch_entry_some(rx, &cpls[i], n - i, steps);
		i += RTE_MAX(ret, 0);
	}
	*taken = i;
	return ret;
}

/* The whole of a look that finds something, or an end. */
static __rte_always_inline uint16_t
comch_entry_recv_all(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_rx_steps *steps)
{
	uint16_t i = 0;
	int ret = 0;

	if (unlikely(comch_load_relaxed(&rx->drained) != 0))
		return comch_entry_refused(rx, cpls, n);
	if (likely(!rx->flushing))
		ret = comch_entry_deliver(rx, cpls, n, &i, steps);
	if (unlikely(ret == -EPROTO)) {
		rx->fault(rx->ctx, -EPROTO, "peer's record does not fit what was posted");
		rx->flushing = true;
		steps->halt(rx, RTE_COMCH_HALT_DOWN);
	}
	if (unlikely(comch_load_relaxed(&rx->halt) != RTE_COMCH_HALT_NONE) &&
			(ret <= 0 || rx->entry_head == rx->entry_tail))
		i += comch_entry_drain(rx, &cpls[i], n - i, steps);
	return i;
}

static __rte_always_inline uint16_t
comch_entry_recv(struct comch_rx *rx, struct rte_comch_cpl *cpls, uint16_t n,
		const struct comch_rx_steps *steps, comch_rx_rest_t rest)
{
	const struct comch_rec *rec_shared;
	struct comch_rec_head head;

	/* Mostly there is nothing, or one message that somebody spins for. */
	if (unlikely(comch_load_acquire(&rx->halt) != RTE_COMCH_HALT_NONE ||
			rx->nb_refused > 0 || rx->rec_idx != rx->cur.head.count || n == 0))
		goto all;
	if (!steps->is_there(rx))
		return 0;
	rec_shared = steps->at_head(rx);
	if (!comch_entry_read_head(rx, rec_shared, &head) || head.count != 1 ||
			head.kind != COMCH_REC_DIRECT ||
			comch_entry_single(rx, rec_shared, &head, cpls) < 0)
		goto all;
	return n == 1 ? 1 : 1 + rest(rx, &cpls[1], n - 1);
all:
	return rest(rx, cpls, n);
}

/* Is there something to give back that needs no look at the transport? */
static inline bool
comch_entry_is_due(const struct comch_rx *rx)
{
	return rx->entry_head != rx->entry_tail &&
		rx->entry[rx->entry_head & rx->mask].room < 0;
}

#endif /* COMCH_ENTRY_H */
