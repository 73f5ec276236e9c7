/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The receiving half of a channel.
 *
 * What the peer says is one record per position, copied out once and checked:
 * how many positions it speaks for (no more than are posted), how long each
 * message is (no longer than the buffer), how much immediate data there is
 * (no more than we take). Everything else is known from our own books.
 */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "sdk/comch_asym.h"
#include "comch_chan.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_peer.h"

int
comch_chan_cons_init(struct comch_chan_cons *c, uint32_t depth, int socket_id)
{
	c->entry = rte_zmalloc_socket("comch_posted", depth * sizeof(*c->entry),
			COMCH_LINE, socket_id);
	if (c->entry == NULL)
		return -ENOMEM;
	c->depth = depth;
	c->mask = depth - 1;
	c->halt = RTE_COMCH_HALT_STOP;
	c->drained = 1;
	return 0;
}

void
comch_chan_cons_fini(struct comch_chan_cons *c)
{
	rte_free(c->entry);
}

void
comch_chan_cons_bind(struct comch_chan_cons *c, struct comch_post_shared *post,
		const struct comch_rec_shared *rec_shared, uint32_t staging_size)
{
	c->post = post;
	c->rec_shared = rec_shared;
	c->staging_size = staging_size;
	c->staging = (const uint8_t *)&rec_shared->rec[c->depth];
	c->head = 0;
	c->tail = 0;
	c->rec_idx = 0;
	c->cur.head.count = 0;
	c->pulling = false;
	c->flushing = false;
	c->stage_tail = 0;
	c->tx_told = 0;
	comch_store_release(&c->drained, 0);
	/* Release: the consumer's thread, seeing no halt, sees all of the above. */
	comch_store_release(&c->halt, RTE_COMCH_HALT_NONE);
}

/* Find the registration that a buffer names among those of the consumer. */
static const struct comch_cons_mr *
find_mr(struct comch_chan_cons *c, const struct rte_comch_mr *mr)
{
	/* Acquire: pairs with the release that adds one. */
	uint32_t i, n = comch_load_acquire(&c->mrs->nb);

	for (i = 0; i < n; i++) {
		if (c->mrs->mr[i].mr != mr)
			continue;
		c->last_mr = i;
		return &c->mrs->mr[i];
	}
	return NULL;
}

/* Where is the buffer for the peer? Its room, or why it cannot be posted. */
static inline int32_t
place_buf(struct comch_chan_cons *c, const struct rte_comch_buf *buf, uint64_t *where)
{
	const struct comch_cons_mr *m = &c->mrs->mr[c->last_mr];
	uint64_t off;

	if (buf->addr == NULL && buf->len == 0) {
		*where = (uint64_t)COMCH_REGION_NONE << COMCH_DESC_OFF_BITS;
		return 0;
	}
	if (unlikely(buf->mr == NULL || buf->addr == NULL))
		return -EINVAL;
	if (unlikely(m->mr != buf->mr || c->mrs->nb == 0)) {
		m = find_mr(c, buf->mr);
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

static void
publish_tail(struct comch_chan_cons *c)
{
	uint32_t peer_armed;

	comch_store_release(&c->post->tail, c->tail); /* T */
	comch_fence_publish(c->light); /* W */
	peer_armed = peer_load_relaxed_u32(&c->rec_shared->armed);
	if (likely(peer_armed == c->tx_told))
		return;
	c->tx_told = peer_armed;
	comch_count(&c->stats.wakes, 1);
	c->wake_peer(c->ctx);
}

uint16_t
comch_chan_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n)
{
	struct comch_chan_cons *c = queue;
	bool halted = comch_load_acquire(&c->halt) != RTE_COMCH_HALT_NONE;
	uint64_t room = c->depth - (c->entry_tail - c->entry_head);
	uint64_t tail = c->tail, entry_tail = c->entry_tail, where = 0;
	const uint32_t mask = c->mask;
	struct comch_posted *e;
	struct comch_desc *desc;
	uint16_t i;

	n = (uint16_t)RTE_MIN((uint64_t)n, room);
	for (i = 0; i < n; i++) {
		e = &c->entry[entry_tail++ & mask];
		e->cookie = bufs[i].cookie;
		e->addr = bufs[i].addr;
		e->len = bufs[i].len;
		e->room = unlikely(halted) ? -EBADFD : place_buf(c, &bufs[i], &where);
		if (unlikely(e->room < 0)) {
			c->nb_refused++;
			continue;
		}
		desc = &c->post->desc[tail++ & mask];
		comch_store_relaxed(&desc->where, where);
		comch_store_relaxed(&desc->len, bufs[i].len);
	}
	c->entry_tail = entry_tail;
	if (c->tail != tail) {
		comch_count(&c->stats.posted, tail - c->tail);
		c->tail = tail;
		publish_tail(c);
	}
	return n;
}

static inline void
take_entry(struct comch_chan_cons *c, struct rte_comch_cpl *cpl, int status)
{
	const struct comch_posted *e = &c->entry[c->entry_head++ & c->mask];

	cpl->cookie = e->cookie;
	cpl->status = status;
	cpl->len = 0;
	cpl->peer_id = 0;
	cpl->imm_len = 0;
	cpl->copies = 0;
	if (unlikely(status != 0))
		comch_count(&c->stats.errors, 1);
}

/* Give back refusals that are next in line. */
static inline uint16_t
take_refused(struct comch_chan_cons *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t i = 0;
	int32_t room;

	while (unlikely(c->nb_refused > 0) && i < n) {
		room = c->entry[c->entry_head & c->mask].room;
		if (room >= 0)
			break;
		take_entry(c, &cpls[i++], room);
		c->nb_refused--;
	}
	return i;
}

/* Is the record at head there? */
static inline bool
rec_is_there(const struct comch_chan_cons *c)
{
	const struct comch_rec *rec = &c->rec_shared->rec[c->head & c->mask];

	return c->head != c->tail && peer_load_acquire_u64(&rec->seq) == c->head + 1; /* R */
}

static inline bool
head_is_sane(const struct comch_chan_cons *c, const struct comch_rec_head *head)
{
	if (unlikely(head->imm_len > c->imm_size || head->kind > COMCH_REC_ABORT))
		return false;
	if (likely(head->count == 1))
		return true;
	return head->count > 1 && head->count <= COMCH_REC_BATCH &&
		head->count <= c->tail - c->head &&
		head->imm_len == 0 && head->kind == COMCH_REC_DIRECT;
}

static inline void
count_msg(struct comch_chan_cons *c, const struct rte_comch_cpl *cpl)
{
	comch_count(&c->stats.msgs, 1);
	comch_count(&c->stats.bytes, cpl->len);
	if (cpl->imm_len > 0)
		comch_count(&c->stats.imm_msgs, 1);
	if (unlikely(cpl->copies > 0)) {
		comch_count(&c->stats.copies, cpl->copies);
		comch_count(&c->stats.staged, 1);
	}
}

/* Messages of the record in work, all in their buffers. How many, or -EPROTO. */
static inline int
take_direct(struct comch_chan_cons *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	const struct comch_rec *rec = &c->cur;
	const uint64_t head = c->entry_head;
	const uint32_t mask = c->mask, idx = c->rec_idx;
	const struct comch_posted *e;
	uint64_t bytes = 0;
	uint32_t len;
	uint16_t i;

	n = (uint16_t)RTE_MIN((uint32_t)n, (uint32_t)rec->head.count - idx);
	for (i = 0; i < n; i++) {
		e = &c->entry[(head + i) & mask];
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
	c->entry_head = head + i;
	c->head += i;
	c->rec_idx = idx + i;
	comch_count(&c->stats.msgs, i);
	comch_count(&c->stats.bytes, bytes);
	return likely(i > 0) ? i : -EPROTO;
}

/*
 * Immediate data goes by words: a wider load of what was just stored by words
 * would have to wait until the stores are in the cache.
 */
static inline void
take_imm(struct rte_comch_cpl *cpl, const struct comch_rec *rec)
{
	static_assert(RTE_COMCH_IMM_SIZE % sizeof(uint64_t) == 0 &&
		offsetof(struct comch_rec, imm) % sizeof(uint64_t) == 0 &&
		offsetof(struct rte_comch_cpl, imm) % sizeof(uint64_t) == 0, "whole words");
	peer_copy_words((uint64_t *)cpl->imm, (const uint64_t *)rec->imm,
		RTE_COMCH_IMM_SIZE / sizeof(uint64_t));
}

/* The only message of its record, in its buffer: straight from the record. 1 or -EPROTO. */
static inline int
take_single(struct comch_chan_cons *c, const struct comch_rec_head *head,
		struct rte_comch_cpl *cpl)
{
	const struct comch_rec *rec = &c->rec_shared->rec[c->head & c->mask];
	const struct comch_posted *e = &c->entry[c->entry_head & c->mask];
	uint32_t peer_len = peer_load_relaxed_u32(&rec->len0);

	if (unlikely((int64_t)peer_len > e->room))
		return -EPROTO;
	cpl->cookie = e->cookie;
	cpl->status = 0;
	cpl->len = peer_len;
	cpl->peer_id = head->producer;
	cpl->imm_len = head->imm_len;
	cpl->copies = 0;
	if (head->imm_len > 0)
		take_imm(cpl, rec);
	c->head++;
	c->entry_head++;
	count_msg(c, cpl);
	return 1;
}

/* The only message of the record in work, not in its buffer. 1, 0 (half-way) or -EPROTO. */
static int
take_staged(struct comch_chan_cons *c, struct rte_comch_cpl *cpl)
{
	const struct comch_posted *e = &c->entry[c->entry_head & c->mask];
	const struct comch_rec *rec = &c->cur;
	int ret = -ECANCELED;

	if (rec->head.kind == COMCH_REC_STAGED) {
		if (rec->len0 > e->len || e->room != 0 || e->addr == NULL || c->staging_size == 0)
			return -EPROTO;
		ret = comch_stage_pull(c, e, rec->len0);
		if (ret == 0 || ret == -EPROTO)
			return ret;
	}
	take_entry(c, cpl, ret < 0 ? ret : 0);
	c->head++;
	c->rec_idx++;
	if (ret < 0)
		return 1;
	cpl->len = rec->len0;
	cpl->peer_id = rec->head.producer;
	cpl->copies = 1;
	cpl->imm_len = rec->head.imm_len;
	if (cpl->imm_len > 0)
		take_imm(cpl, rec);
	count_msg(c, cpl);
	return 1;
}

/* Will anything claimed still arrive? Only an orderly stop waits for that. */
static bool
drain_waits(struct comch_chan_cons *c, enum rte_comch_halt halt)
{
	uint64_t peer_claim;

	if (halt != RTE_COMCH_HALT_STOP)
		return false;
	peer_claim = peer_load_acquire_u64(&c->rec_shared->claim); /* C */
	/* A claim that cannot be is a lie: nothing to wait for. */
	if (peer_claim - c->head == 0 || peer_claim - c->head > c->tail - c->head)
		return false;
	if (rte_rdtsc() < comch_load_relaxed(&c->halt_deadline))
		return true;
	c->fault(c->ctx, -ETIMEDOUT, "peer stalled within a message while we stopped");
	return false;
}

/* Nothing is left to deliver: give the posted buffers back, and the regions up. */
static uint16_t
drain(struct comch_chan_cons *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	enum rte_comch_halt halt = comch_load_acquire(&c->halt);
	uint16_t i = 0;
	int status;

	if (halt == RTE_COMCH_HALT_NONE || (!c->flushing && drain_waits(c, halt)))
		return 0;
	/* What arrives from now on would meet the wrong buffer. */
	c->flushing = true;
	while (i < n && c->entry_head != c->entry_tail) {
		status = c->entry[c->entry_head & c->mask].room;
		if (status >= 0) {
			status = -ECANCELED;
			c->head++;
		} else {
			c->nb_refused--;
		}
		take_entry(c, &cpls[i++], status);
	}
	if (c->entry_head == c->entry_tail) {
		/* Release: we are out of the regions for good. */
		comch_store_release(&c->drained, 1);
		c->drained_cb(c->ctx);
	}
	return i;
}

/* The header of the record at head, copied and checked. */
static inline bool
read_head(const struct comch_chan_cons *c, struct comch_rec_head *head)
{
	const struct comch_rec *rec = &c->rec_shared->rec[c->head & c->mask];
	struct comch_rec_head peer_head;

	peer_copy_words((uint64_t *)&peer_head, (const uint64_t *)&rec->head, 1);
	if (unlikely(!head_is_sane(c, &peer_head)))
		return false;
	*head = peer_head;
	return true;
}

/* Copy the record at head, whose messages are taken one by one. */
static inline void
begin_record(struct comch_chan_cons *c, const struct comch_rec_head *head)
{
	const struct comch_rec *rec = &c->rec_shared->rec[c->head & c->mask];

	peer_copy_words((uint64_t *)c->cur.len, (const uint64_t *)rec->len,
		sizeof(rec->len) / (sizeof(uint64_t)));
	c->cur.head = *head;
	c->rec_idx = 0;
}

/* Take what the record at head has. How many messages, 0: later, or -EPROTO. */
static inline int
take_some(struct comch_chan_cons *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_rec_head head;

	if (likely(c->rec_idx == c->cur.head.count)) {
		if (!rec_is_there(c))
			return 0;
		if (unlikely(!read_head(c, &head)))
			return -EPROTO;
		if (likely(head.count == 1 && head.kind == COMCH_REC_DIRECT))
			return take_single(c, &head, cpls);
		begin_record(c, &head);
	}
	if (likely(c->cur.head.kind == COMCH_REC_DIRECT))
		return take_direct(c, cpls, n);
	return take_staged(c, cpls);
}

/* Deliver what there is. 1: no room for more, 0: nothing more, or -EPROTO. */
static inline int
deliver(struct comch_chan_cons *c, struct rte_comch_cpl *cpls, uint16_t n, uint16_t *taken)
{
	uint16_t i = 0;
	int ret = 1;

	while (ret > 0) {
		i += take_refused(c, &cpls[i], n - i);
		if (i == n)
			break;
		ret = take_some(c, &cpls[i], n - i);
		i += RTE_MAX(ret, 0);
	}
	*taken = i;
	return ret;
}

/* The whole of a look that finds something, or an end. */
static __rte_noinline uint16_t
recv_all(struct comch_chan_cons *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t i = 0;
	int ret = 0;

	if (unlikely(comch_load_relaxed(&c->drained) != 0))
		return take_refused(c, cpls, n);
	if (likely(!c->flushing))
		ret = deliver(c, cpls, n, &i);
	if (unlikely(ret == -EPROTO)) {
		c->fault(c->ctx, -EPROTO, "peer's record does not fit what was posted");
		c->flushing = true;
		comch_chan_cons_halt(c, RTE_COMCH_HALT_DOWN);
	}
	if (unlikely(comch_load_relaxed(&c->halt) != RTE_COMCH_HALT_NONE) &&
			(ret <= 0 || c->entry_head == c->entry_tail))
		i += drain(c, &cpls[i], n - i);
	return i;
}

uint16_t
comch_chan_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_cons *c = queue;
	struct comch_rec_head head;

	/* Mostly there is nothing, or one message that somebody spins for. */
	if (unlikely(comch_load_acquire(&c->halt) != RTE_COMCH_HALT_NONE || c->nb_refused > 0 ||
			c->rec_idx != c->cur.head.count || n == 0))
		return recv_all(c, cpls, n);
	if (!rec_is_there(c))
		return 0;
	if (!read_head(c, &head) || head.count != 1 || head.kind != COMCH_REC_DIRECT ||
			take_single(c, &head, cpls) < 0)
		return recv_all(c, cpls, n);
	return n == 1 ? 1 : 1 + recv_all(c, &cpls[1], n - 1);
}

void
comch_chan_cons_halt(struct comch_chan_cons *c, enum rte_comch_halt why)
{
	if (comch_load_relaxed(&c->drained) != 0 || comch_load_relaxed(&c->halt) >= (uint32_t)why)
		return;
	comch_store_relaxed(&c->halt_deadline, rte_rdtsc() + c->timeout_cycles);
	comch_store_release(&c->post->closed, 1);
	/* C: the door is closed before anybody asks who had come in. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	comch_store_release(&c->halt, why);
}

void
comch_chan_cons_drain_empty(struct comch_chan_cons *c)
{
	if (comch_load_relaxed(&c->drained) == 0 && c->entry_head == c->entry_tail)
		drain(c, NULL, 0);
}

bool
comch_chan_cons_pending(const struct comch_chan_cons *c)
{
	const struct comch_rec *rec;

	if (c->entry_head != c->entry_tail && c->entry[c->entry_head & c->mask].room < 0)
		return true;
	if (comch_load_acquire(&c->drained) != 0)
		return false;
	if (comch_load_acquire(&c->halt) != RTE_COMCH_HALT_NONE)
		return true;
	rec = &c->rec_shared->rec[c->head & c->mask];
	if (c->pulling)
		return peer_load_acquire_u64(&c->rec_shared->staging_head) !=
			c->stage_tail + c->pulled ||
			peer_load_acquire_u64(&rec->stop_at) != 0;
	if (c->rec_idx != c->cur.head.count)
		return true;
	return c->head != c->tail && peer_load_acquire_u64(&rec->seq) == c->head + 1;
}

void
comch_chan_cons_arm(struct comch_chan_cons *c)
{
	if (comch_load_acquire(&c->drained) != 0)
		return;
	/* Any new value asks for one wake-up. */
	comch_store_relaxed(&c->post->armed, c->post->armed + 1);
}
