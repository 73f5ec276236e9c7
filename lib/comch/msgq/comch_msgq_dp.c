/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Bursts of a MsgQ. For the protocol and memory order see comch_msgq.h. */

#include <errno.h>
#include <string.h>

#include <rte_prefetch.h>

#include "sdk/comch_guard.h"
#include "msgq/comch_msgq.h"

/* Number of lines of a burst that are prefetched for writing. */
#define AHEAD 4

/* Producers */

static inline void
burst_enter(struct rte_comch_msgq_producer *p)
{
	comch_guard_enter(&p->guard, "bursts of a MsgQ's producer");
	comch_epoch_enter(&p->burst); /* MQ */
}

static inline void
burst_leave(struct rte_comch_msgq_producer *p)
{
	comch_epoch_leave(&p->burst);
	comch_guard_leave(&p->guard);
}

/* Begin a burst that sends: an earlier shortage of credit no longer counts. */
static inline void
send_enter(struct rte_comch_msgq_producer *p)
{
	burst_enter(p);
	p->short_id = 0;
}

/* Copy one word, which the compiler must not merge into a wider copy. */
static inline void
copy_word(uint8_t *dst, const uint8_t *src)
{
	uint64_t word;

	memcpy(&word, src, sizeof(word));
	__asm__("" : "+r"(word));
	memcpy(dst, &word, sizeof(word));
}

/*
 * Inlined for the usual lengths. Word by word: the sender has just written words, and
 * a wider load would wait until they leave the store buffer.
 */
static inline void
copy_imm(uint8_t *dst, const uint8_t *src, uint16_t len)
{
	uint16_t i;

	if (likely(len == RTE_COMCH_IMM_SIZE))
		for (i = 0; i < RTE_COMCH_IMM_SIZE; i += sizeof(uint64_t))
			copy_word(dst + i, src + i);
	else if (len == sizeof(uint64_t))
		copy_word(dst, src);
	else if (len > 0)
		memcpy(dst, src, len);
}

/* The available credits, up to n; reloads `posted` if the cached value is too low. */
static inline uint32_t
credit_for(struct rte_comch_msgq_producer *p, const struct rte_comch_msgq_consumer *c,
		uint64_t at, uint32_t n)
{
	struct comch_msgq_seen *seen = &p->seen[c->id - 1];
	int64_t room = (int64_t)(seen->posted - at);

	/* Other producers may have claimed beyond the cached value. */
	if (unlikely(seen->serial != c->serial || room < (int64_t)n)) {
		seen->serial = c->serial;
		seen->posted = comch_load_acquire(&c->posted); /* MT: msgq.pml, granted */
		room = (int64_t)(seen->posted - at);
	}
	return room <= 0 ? 0 : (uint32_t)RTE_MIN(room, (int64_t)n);
}

/* Prefetch the line of a position for writing: it is in the consumer's cache. */
static inline void
prefetch_line(const struct comch_msgq_ring *ring, uint64_t pos)
{
	comch_prefetch_write(&ring->lines[pos & ring->mask]);
}

/* Claim up to n positions in the consumer's ring. Returns their number; 0: no credit. */
static inline uint32_t
claim(struct rte_comch_msgq_producer *p, struct rte_comch_msgq_consumer *c, uint32_t n,
		uint64_t *pos)
{
	uint64_t at = comch_load_relaxed(&c->claim);
	uint32_t k;

	/* Relaxed: MT orders accesses to the line, MR publishes it. */
	if (likely(comch_load_relaxed(&p->is_single) != 0)) {
		k = credit_for(p, c, at, n);
		comch_store_relaxed(&c->claim, at + k);
	} else {
		do {
			k = credit_for(p, c, at, n);
		} while (k != 0 && unlikely(!__atomic_compare_exchange_n(&c->claim, &at, at + k,
				true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)));
	}
	if (unlikely(k == 0))
		return 0;
	/*
	 * The credit of another consumer may have freed a line of a shared ring. The
	 * producer that used that credit loaded it (MT) before its addition to `tail`.
	 * Model: msgq.pml, line.
	 */
	*pos = unlikely(c->ring->is_shared) ?
		__atomic_fetch_add(&c->ring->tail, k, __ATOMIC_ACQ_REL) : at;
	return k;
}

static inline void
publish(const struct rte_comch_msgq_producer *p, struct rte_comch_msgq_consumer *c,
		uint64_t pos, const void *imm, uint16_t imm_len, uint32_t len)
{
	struct comch_msgq_line *line = &c->ring->lines[pos & c->ring->mask];

	line->producer = p->id;
	line->len = len;
	line->consumer = c;
	line->imm_len = imm_len;
	copy_imm(line->imm, imm, imm_len);
	comch_store_release(&line->seq, pos + 1); /* MR: msgq.pml, publish */
}

static inline void
wake_consumer(struct rte_comch_msgq_producer *p, struct rte_comch_msgq_consumer *c)
{
	struct comch_msgq_sleep *sleep = &c->ring->sleep;

	if (sleep->notify == NULL)
		return;
	comch_fence_light(); /* MW: wake.pml, publish */
	if (unlikely(comch_msgq_wake(sleep) != 0))
		comch_count(&p->stats.wakes, 1);
}

static inline int
imm_check(const struct rte_comch_msgq_consumer *c, const void *imm, uint16_t imm_len)
{
	if (unlikely(imm_len > c->imm_size))
		return -EMSGSIZE;
	return unlikely(imm_len > 0 && imm == NULL) ? -EINVAL : 0;
}

static inline int
op_check(const struct rte_comch_msgq_consumer *c, const struct rte_comch_op *op)
{
	if (unlikely(op->addr != NULL || op->mr != NULL || op->len != 0 ||
			(op->flags & ~RTE_COMCH_OP_F_SILENT) != 0))
		return -EINVAL;
	return imm_check(c, op->imm, op->imm_len);
}

int
comch_msgq_check(const struct rte_comch_msgq_producer *p, uint32_t consumer_id,
		const void *imm, uint16_t imm_len)
{
	const struct rte_comch_msgq_consumer *c = comch_msgq_find(p, consumer_id);

	return c == NULL ? -ENOENT : imm_check(c, imm, imm_len);
}

int
comch_msgq_check_op(const struct rte_comch_msgq_producer *p, const struct rte_comch_op *op)
{
	const struct rte_comch_msgq_consumer *c = comch_msgq_find(p, op->consumer_id);

	return c == NULL ? -ENOENT : op_check(c, op);
}

static inline void
op_complete(struct rte_comch_msgq_producer *p, const struct rte_comch_op *op, int status)
{
	comch_msgq_complete(p, op->cookie, op->consumer_id, op->flags, status);
}

/* Send the leading operations of one consumer. Returns their number; 0: retry later. */
static inline uint16_t
send_run(struct rte_comch_msgq_producer *p, const struct rte_comch_op *ops, uint16_t n)
{
	struct rte_comch_msgq_consumer *c = comch_msgq_find(p, ops->consumer_id);
	uint64_t pos, imms = 0;
	int status = likely(c != NULL) ? op_check(c, ops) : -ENOENT;
	uint32_t k, i;

	if (unlikely(status != 0)) {
		op_complete(p, ops, status);
		return 1;
	}
	for (i = 1; i < n && ops[i].consumer_id == ops->consumer_id; i++)
		if (unlikely(op_check(c, &ops[i]) != 0))
			break;
	k = claim(p, c, i, &pos);
	if (unlikely(k == 0)) {
		p->short_id = ops->consumer_id;
		return 0;
	}
	for (i = 0; i < k; i++) {
		if (i + AHEAD < k)
			prefetch_line(c->ring, pos + i + AHEAD);
		publish(p, c, pos + i, ops[i].imm, ops[i].imm_len, 0);
		imms += ops[i].imm_len > 0;
		op_complete(p, &ops[i], 0);
	}
	comch_count(&p->stats.msgs, k);
	comch_count(&p->stats.imm_msgs, imms);
	wake_consumer(p, c);
	return (uint16_t)k;
}

/* Separate from the code of one message, which is optimised for latency. */
static __rte_noinline uint16_t
send_many(struct rte_comch_msgq_producer *p, const struct rte_comch_op *ops, uint16_t n)
{
	uint16_t done = 0, k, max;

	send_enter(p);
	max = (uint16_t)RTE_MIN((uint32_t)n, comch_msgq_room(p));
	if (unlikely(p->pending_head != p->pending_tail) && !comch_msgq_push(p)) {
		done = comch_msgq_defer(p, ops, max);
	} else {
		while (done < max) {
			k = send_run(p, &ops[done], (uint16_t)(max - done));
			if (unlikely(k == 0))
				break;
			done += k;
		}
	}
	if (unlikely(done < n))
		comch_count(&p->stats.later, 1);
	burst_leave(p);
	return done;
}

/* Send one message in the common case. False: call send_many(). */
static inline bool
send_one(struct rte_comch_msgq_producer *p, const struct rte_comch_op *op)
{
	struct rte_comch_msgq_consumer *c;
	uint64_t pos;

	if (unlikely(p->pending_head != p->pending_tail || comch_msgq_room(p) == 0))
		return false;
	c = comch_msgq_find(p, op->consumer_id);
	if (unlikely(c == NULL))
		return false;
	/* Prefetch its likely line before the checks. */
	if (likely(!c->ring->is_shared))
		prefetch_line(c->ring, comch_load_relaxed(&c->claim));
	if (unlikely(op_check(c, op) != 0 || claim(p, c, 1, &pos) == 0))
		return false;
	publish(p, c, pos, op->imm, op->imm_len, 0);
	op_complete(p, op, 0);
	comch_count(&p->stats.msgs, 1);
	comch_count(&p->stats.imm_msgs, op->imm_len > 0);
	wake_consumer(p, c);
	return true;
}

uint16_t
rte_comch_msgq_send_burst(struct rte_comch_msgq_producer *p, const struct rte_comch_op *ops,
		uint16_t n)
{
	bool is_sent;

	if (unlikely(p == NULL || ops == NULL || n == 0))
		return 0;
	if (n == 1) {
		send_enter(p);
		is_sent = send_one(p, ops);
		burst_leave(p);
		if (likely(is_sent))
			return 1;
	}
	return send_many(p, ops, n);
}

uint16_t
rte_comch_msgq_copy_burst(struct rte_comch_msgq_producer *p,
		const struct rte_comch_msgq_copy *ops, uint16_t n)
{
	uint16_t done;

	if (unlikely(p == NULL || ops == NULL || n == 0))
		return 0;
	send_enter(p);
	done = comch_msgq_copy(p, ops, n);
	if (unlikely(done < n))
		comch_count(&p->stats.later, 1);
	burst_leave(p);
	return done;
}

int
comch_msgq_send_pending(struct rte_comch_msgq_producer *p, const struct comch_msgq_pending *m)
{
	struct rte_comch_msgq_consumer *c = comch_msgq_find(p, m->consumer_id);
	uint64_t pos;
	uint32_t k;
	int ret;

	if (c == NULL)
		return -ENOENT;
	/* The id may belong to a new consumer. */
	ret = imm_check(c, m->imm, m->imm_len);
	if (ret != 0)
		return ret;
	k = claim(p, c, 1, &pos);
	if (k == 0) {
		p->short_id = m->consumer_id;
		return 0;
	}
	publish(p, c, pos, m->imm, m->imm_len, m->len);
	comch_count(&p->stats.msgs, 1);
	comch_count(&p->stats.bytes, m->len);
	comch_count(&p->stats.imm_msgs, m->imm_len > 0);
	comch_count(&p->stats.copies, m->copies);
	wake_consumer(p, c);
	return 1;
}

bool
comch_msgq_can_send(const struct rte_comch_msgq_producer *p, uint32_t consumer_id)
{
	const struct rte_comch_msgq_consumer *c = comch_msgq_find(p, consumer_id);

	/* MT. Model: msgq.pml, granted. */
	return c == NULL || comch_load_acquire(&c->posted) != comch_load_relaxed(&c->claim);
}

int
rte_comch_msgq_consumer_empty(struct rte_comch_msgq_producer *p, uint32_t consumer_id)
{
	struct rte_comch_msgq_consumer *c;
	int ret = -ENOENT;

	if (p == NULL)
		return -EINVAL;
	burst_enter(p);
	c = comch_msgq_find(p, consumer_id);
	if (c != NULL)
		ret = credit_for(p, c, comch_load_relaxed(&c->claim), 1) == 0;
	burst_leave(p);
	return ret;
}

uint16_t
rte_comch_msgq_done_burst(struct rte_comch_msgq_producer *p, struct rte_comch_cpl *cpls,
		uint16_t n)
{
	const struct comch_msgq_done *d;
	uint16_t i;

	if (unlikely(p == NULL || cpls == NULL))
		return 0;
	if (unlikely(p->pending_head != p->pending_tail)) {
		send_enter(p);
		comch_msgq_push(p);
		burst_leave(p);
	}
	n = (uint16_t)RTE_MIN((uint32_t)n, p->done_tail - p->done_head);
	for (i = 0; i < n; i++) {
		d = &p->done[(p->done_head + i) & p->mask];
		cpls[i].cookie = d->cookie;
		cpls[i].status = d->status;
		cpls[i].len = d->len;
		cpls[i].peer_id = d->consumer_id;
		cpls[i].imm_len = 0;
		cpls[i].copies = d->copies;
		cpls[i].user_data = 0;
	}
	comch_store_relaxed(&p->done_head, p->done_head + n);
	return n;
}

/* Consumers */

/* All messages of a stopped consumer are received from a shared ring. */
static void
settle_shared(struct rte_comch_msgq_consumer *c)
{
	if (c->taken != c->final)
		return;
	/* Return unused credits to the ring. */
	c->ring->posted -= c->posted - c->final;
	comch_store_release(&c->state, RTE_COMCH_STATE_IDLE); /* leave.pml, leave */
}

/* The line of a position; NULL: not published yet. */
static inline const struct comch_msgq_line *
line_at(const struct comch_msgq_line *lines, uint64_t pos, uint32_t mask)
{
	const struct comch_msgq_line *line = &lines[pos & mask];

	/* MR. Model: msgq.pml, look. */
	return comch_load_acquire(&line->seq) == pos + 1 ? line : NULL;
}

static inline void
line_read(const struct comch_msgq_line *line, struct rte_comch_cpl *cpl)
{
	cpl->status = 0;
	cpl->len = line->len;
	cpl->peer_id = line->producer;
	cpl->imm_len = line->imm_len;
	cpl->copies = 0;
	memcpy(cpl->imm, line->imm, RTE_COMCH_IMM_SIZE);
}

static inline void
count_received(struct rte_comch_msgq_consumer *c, uint64_t msgs, uint64_t bytes, uint64_t imms)
{
	c->taken += msgs;
	comch_count(&c->stats.msgs, msgs);
	comch_count(&c->stats.bytes, bytes);
	comch_count(&c->stats.imm_msgs, imms);
}

/* Receive from the ring of one consumer. */
static inline uint16_t
own_recv(struct rte_comch_msgq_consumer *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	const struct comch_msgq_line *line, *const lines = c->own.lines;
	const uint64_t head = c->own.head, user_data = c->user_data;
	const uint32_t mask = c->own.mask;
	uint64_t bytes = 0, imms = 0;
	uint16_t i, k;

	for (i = 0; i < n && (line = line_at(lines, head + i, mask)) != NULL; i++) {
		line_read(line, &cpls[i]);
		cpls[i].cookie = 0;
		cpls[i].user_data = user_data;
		bytes += cpls[i].len;
		imms += cpls[i].imm_len > 0;
	}
	if (i == 0)
		return 0;
	for (k = 0; unlikely(c->has_cookies) && k < i; k++)
		cpls[k].cookie = c->cookies[(c->taken + k) & c->mask];
	count_received(c, i, bytes, imms);
	comch_store_relaxed(&c->own.head, head + i);
	return i;
}

/* Receive from a shared ring. */
static inline uint16_t
shared_recv(struct comch_msgq_ring *ring, struct rte_comch_cpl *cpls, uint16_t n)
{
	const struct comch_msgq_line *line;
	struct rte_comch_msgq_consumer *c;
	const uint64_t head = ring->head;
	uint16_t i;

	for (i = 0; i < n && (line = line_at(ring->lines, head + i, ring->mask)) != NULL; i++) {
		c = line->consumer;
		line_read(line, &cpls[i]);
		cpls[i].cookie = unlikely(c->has_cookies) ?
			c->cookies[c->taken & c->mask] : 0;
		cpls[i].user_data = c->user_data;
		count_received(c, 1, cpls[i].len, cpls[i].imm_len > 0);
		if (unlikely(c->state != RTE_COMCH_STATE_RUNNING))
			settle_shared(c);
	}
	comch_store_relaxed(&ring->head, head + i);
	return i;
}

/* Return the credits of a stopped consumer, after its last message. */
static uint16_t
recv_cancelled(struct rte_comch_msgq_consumer *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n && c->taken >= c->final && c->taken != c->posted; i++, c->taken++)
		cpls[i] = (struct rte_comch_cpl){
			.cookie = c->has_cookies ? c->cookies[c->taken & c->mask] : 0,
			.status = -ECANCELED, .user_data = c->user_data,
		};
	comch_count(&c->stats.errors, i);
	if (c->taken == c->posted)
		comch_store_release(&c->state, RTE_COMCH_STATE_IDLE); /* leave.pml, leave */
	return i;
}

uint16_t
rte_comch_msgq_recv_burst(struct rte_comch_msgq_consumer *c, struct rte_comch_cpl *cpls,
		uint16_t n)
{
	uint16_t got;

	if (unlikely(c == NULL || cpls == NULL || c->cq != NULL))
		return 0;
	comch_guard_enter(&c->own.guard, "bursts of a MsgQ's consumer");
	got = own_recv(c, cpls, n);
	if (unlikely(c->state == RTE_COMCH_STATE_STOPPING))
		got += recv_cancelled(c, cpls + got, (uint16_t)(n - got));
	comch_guard_leave(&c->own.guard);
	return got;
}

uint16_t
rte_comch_msgq_cq_recv_burst(struct rte_comch_msgq_cq *cq, struct rte_comch_cpl *cpls,
		uint16_t n)
{
	if (unlikely(cq == NULL || cpls == NULL))
		return 0;
	comch_guard_enter(&cq->ring.guard, "bursts of a MsgQ's completion queue");
	n = shared_recv(&cq->ring, cpls, n);
	comch_guard_leave(&cq->ring.guard);
	return n;
}

/* The number of credits that may be posted: each needs an entry in both queues. */
static inline uint32_t
credit_room(const struct rte_comch_msgq_consumer *c)
{
	const struct comch_msgq_ring *ring = c->ring;
	uint64_t own = c->mask + UINT64_C(1) - (c->posted - c->taken);
	uint64_t all = ring->mask + UINT64_C(1) - (ring->posted - ring->head);

	if (unlikely(c->state != RTE_COMCH_STATE_RUNNING))
		return 0;
	return (uint32_t)RTE_MIN(own, all);
}

static inline void
credit_give(struct rte_comch_msgq_consumer *c, uint32_t n)
{
	c->ring->posted += n;
	comch_count(&c->stats.posted, n);
	comch_store_release(&c->posted, c->posted + n); /* MT: msgq.pml, give */
	comch_fence_light(); /* MW: wake.pml, publish */
	if (unlikely(comch_load_relaxed(&c->tx_armed) != 0))
		comch_msgq_wake_producers(c);
}

uint32_t
rte_comch_msgq_credit(struct rte_comch_msgq_consumer *c, uint32_t n)
{
	uint32_t i;

	if (unlikely(c == NULL))
		return 0;
	n = RTE_MIN(n, credit_room(c));
	if (n == 0)
		return 0;
	for (i = 0; unlikely(c->has_cookies) && i < n; i++)
		c->cookies[(c->posted + i) & c->mask] = 0;
	credit_give(c, n);
	return n;
}

uint16_t
rte_comch_msgq_post_burst(struct rte_comch_msgq_consumer *c, const struct rte_comch_buf *bufs,
		uint16_t n)
{
	uint16_t i;

	if (unlikely(c == NULL || bufs == NULL))
		return 0;
	n = (uint16_t)RTE_MIN((uint32_t)n, credit_room(c));
	for (i = 0; i < n; i++) {
		if (unlikely(bufs[i].addr != NULL || bufs[i].mr != NULL || bufs[i].len != 0))
			break;
		c->cookies[(c->posted + i) & c->mask] = bufs[i].cookie;
	}
	if (i == 0)
		return 0;
	c->has_cookies = true;
	credit_give(c, i);
	return i;
}
