/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The receiving half of a channel: the steps of comch_recv.h for mapped memory. */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_recv_mbufs.h"
#include "sdk/comch_peer.h"
#include "comch_chan.h"

static __rte_always_inline struct comch_chan_cons *
cons_of(struct comch_recv *rx)
{
	return container_of(rx, struct comch_chan_cons, rx);
}

static __rte_always_inline const struct comch_chan_cons *
cons_of_const(const struct comch_recv *rx)
{
	return container_of(rx, const struct comch_chan_cons, rx);
}

void
comch_chan_cons_bind(struct comch_chan_cons *c, struct comch_post_shared *post,
		const struct comch_rec_shared *rec_shared, uint32_t staging_size)
{
	c->post = post;
	c->rec_shared = rec_shared;
	c->staging_size = staging_size;
	c->staging = (const uint8_t *)&rec_shared->rec[c->rx.depth];
	c->pulling = false;
	c->stage_lost = false;
	c->has_freed_space = false;
	c->stage_tail = c->stage_filled = 0;
	c->armed_answered = 0;
	c->looks = false;
	c->nb_empty = 0;
	c->last_len = 0;
	comch_recv_begin(&c->rx);
}

/* Posts */

static __rte_always_inline void
put_desc(struct comch_recv *rx, uint64_t pos, uint64_t where, uint32_t len)
{
	struct comch_desc *desc = &cons_of(rx)->post->desc[pos & rx->mask];

	comch_store_relaxed(&desc->where, where);
	comch_store_relaxed(&desc->len, len);
}

static void
publish_tail(struct comch_recv *rx)
{
	struct comch_chan_cons *c = cons_of(rx);

	comch_store_release(&c->post->tail, rx->tail); /* T: ring.pml, post */
	comch_chan_wake_producers(c);
}

/* Else it may have no regions. Acquire, as in comch_recv_burst(). Model: publish.pml, find. */
static __rte_always_inline bool
is_running(const struct comch_chan_cons *c)
{
	return comch_load_acquire(&c->rx.halt) == RTE_COMCH_HALT_NONE;
}

/* Lines are fetched for bursts of as many messages. */
#define FETCH_MAX 32

/*
 * After a post of n buffers, the lines of those that the next one is to write: the producer's CPU
 * has them, and a store waits until each store before it has got its line.
 */
static __rte_always_inline void
fetch_posts(const struct comch_chan_cons *c, uint32_t n)
{
	uint32_t i;

	n = RTE_MIN(n, (uint32_t)FETCH_MAX);
	for (i = 0; i < n; i += COMCH_LINE / sizeof(struct comch_desc))
		comch_prefetch_write(&c->post->desc[(c->rx.tail + i) & c->rx.mask]);
}

uint16_t
comch_chan_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n)
{
	struct comch_chan_cons *c = queue;

	n = comch_recv_post(&c->rx, bufs, n, put_desc, publish_tail);
	if (n > 1 && is_running(c))
		fetch_posts(c, n);
	return n;
}

/* Records */

static __rte_always_inline const struct comch_rec *
rec_at_head(const struct comch_recv *rx)
{
	return &cons_of_const(rx)->rec_shared->rec[rx->head & rx->mask];
}

static __rte_always_inline bool
rec_is_committed(const struct comch_recv *rx)
{
	const struct comch_rec *rec_shared = rec_at_head(rx);

	return rx->head != rx->tail &&
		peer_load_acquire_u64(&rec_shared->seq) == rx->head + 1; /* R: ring.pml, record */
}

static int
pull(struct comch_recv *rx, const struct comch_posted *e, uint32_t len)
{
	struct comch_chan_cons *c = cons_of(rx);

	return c->staging_size == 0 ? -EPROTO : comch_stage_pull(c, e, len);
}

/* Is a message in flight that a stop waits for? */
static bool
claims_in_flight(struct comch_recv *rx)
{
	struct comch_chan_cons *c = cons_of(rx);
	/* C. No model: halt was acquired before. */
	uint64_t peer_claim = peer_load_acquire_u64(&c->rec_shared->claim);

	/* Nothing claimed, or more claimed than posted, which is invalid: do not wait. */
	if (peer_claim - rx->head == 0 || peer_claim - rx->head > rx->tail - rx->head)
		return false;
	if (rte_rdtsc() < comch_load_relaxed(&c->halt_deadline))
		return true;
	rx->fault(rx->ctx, -ETIMEDOUT, "peer stalled in the middle of a message during stop");
	return false;
}

static void
halt(struct comch_recv *rx, enum rte_comch_halt why)
{
	comch_chan_cons_halt(cons_of(rx), why);
}

static const struct comch_recv_steps steps = {
	.at_head = rec_at_head,
	.is_committed = rec_is_committed,
	.pull = pull,
	.in_flight = claims_in_flight,
	.halt = halt,
};

/*
 * Publish once per burst all the staging space that it freed, and wake producers. Otherwise a peer
 * that keeps changing its armed word would cost one wake-up per producer and message. After
 * draining, the regions may be unmapped, and no producer waits for space.
 */
static void
free_space(struct comch_chan_cons *c)
{
	c->has_freed_space = false;
	if (comch_load_relaxed(&c->rx.drained) != 0)
		return;
	comch_stage_free_space(c);
	comch_chan_wake_producers(c);
}

/*
 * After a burst that took n messages, all that it could: there are probably more. The lines of
 * their records come while the program is at these messages. Without this they would come one
 * after the other, as only a record tells where the next one is.
 */
static __rte_always_inline void
fetch_records(const struct comch_chan_cons *c, uint32_t n)
{
	const struct comch_recv *rx = &c->rx;
	uint32_t i;

	n = RTE_MIN(n, (uint32_t)FETCH_MAX);
	for (i = 0; i < n; i += COMCH_REC_BATCH)
		rte_prefetch0(&c->rec_shared->rec[(rx->head + i) & rx->mask]);
}

static __rte_noinline uint16_t
recv_all(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_cons *c = cons_of(rx);
	const uint16_t k = comch_recv_all(rx, cpls, n, &steps);

	if (k == n && is_running(c))
		fetch_records(c, k);
	if (unlikely(c->has_freed_space))
		free_space(c);
	return k;
}

/*
 * Bytes. The stores of a longer message would wait, one after the other, for the lines that
 * looking takes from the peer's CPU.
 */
#define LOOK_MAX (2 * COMCH_LINE)

/*
 * A message has lines besides its record, which is published last: look for them, too, so that
 * they are on the way when the record comes. But not in a stream of messages, whose producer writes
 * these lines now. Where messages were staged, others will be; and the next one will be as long
 * as the last one.
 */
static void
look_for_payload(const struct comch_chan_cons *c)
{
	const struct comch_posted *e = &c->rx.entry[c->rx.entry_head & c->rx.mask];
	const uint8_t *at;

	if (c->stage_tail != 0) {
		rte_prefetch0(c->staging + (c->stage_tail & (c->staging_size - 1)));
		rte_prefetch0(&c->rec_shared->staging_head);
		return;
	}
	if (c->last_len > LOOK_MAX || (int64_t)c->last_len > e->room ||
			c->rx.entry_head == c->rx.entry_tail)
		return;
	for (at = RTE_PTR_ALIGN_FLOOR(e->addr, COMCH_LINE); at < e->addr + c->last_len;
			at += COMCH_LINE)
		rte_prefetch0(at);
}

/* Reading the clock takes as long as two receives. In a stream, no more in a row find nothing. */
#define FEW_EMPTY 8

/* A receive has found nothing. */
static void
await_payload(struct comch_chan_cons *c)
{
	if (++c->nb_empty < FEW_EMPTY)
		return;
	if (c->nb_empty == FEW_EMPTY)
		c->look_at = rte_rdtsc() + c->look_cycles;
	else
		c->looks = rte_rdtsc() >= c->look_at;
}

/* A receive has found n messages, the last of this length. */
static __rte_always_inline void
received(struct comch_chan_cons *c, uint16_t n, uint32_t last_len)
{
	if (n > 0) {
		c->last_len = last_len;
		c->nb_empty = 0;
		c->looks = false;
	} else if (!c->looks) {
		await_payload(c);
	}
}

uint16_t
comch_chan_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct comch_chan_cons *c = queue;

	/*
	 * Acquire, as in comch_recv_burst(): what is read after it is bound. It may be bound by
	 * another thread now. Model: publish.pml, find.
	 */
	if (unlikely(comch_load_acquire(&c->rx.halt) != RTE_COMCH_HALT_NONE))
		return recv_all(&c->rx, cpls, n);
	if (c->looks)
		look_for_payload(c);
	n = comch_recv_burst(&c->rx, cpls, n, &steps, recv_all);
	received(c, n, n > 0 ? cpls[n - 1].len : 0);
	return n;
}

int
comch_chan_recv_mbufs(struct comch_chan_cons *c, struct rte_mbuf **mbufs, uint16_t n,
		uint16_t *done)
{
	struct comch_recv *rx = &c->rx;
	uint16_t i = 0;
	int k = 1;

	/* Acquire: as in comch_chan_recv(). Model: publish.pml, find. */
	if (unlikely(comch_load_acquire(&rx->halt) != RTE_COMCH_HALT_NONE || rx->nb_refused > 0))
		return -ENOTSUP;
	if (c->looks)
		look_for_payload(c);
	while (i < n && (k = comch_recv_mbufs(rx, &mbufs[i], n - i, &steps)) > 0)
		i += (uint16_t)k;
	*done = i;
	if (unlikely(k < 0))
		return k;
	received(c, i, i > 0 ? mbufs[i - 1]->data_len : 0);
	if (i == n && n > 1)
		fetch_records(c, n);
	return 0;
}

/* Stop and wake-up */

void
comch_chan_cons_halt(struct comch_chan_cons *c, enum rte_comch_halt why)
{
	if (comch_load_relaxed(&c->rx.drained) != 0 ||
			comch_load_relaxed(&c->rx.halt) >= (uint32_t)why)
		return;
	comch_store_relaxed(&c->halt_deadline, rte_rdtsc() + c->timeout_cycles);
	comch_store_release(&c->post->closed, 1); /* No model: the fence orders it */
	/* C: `closed` is visible before `claim` is read. Model: stop.pml, close. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	comch_store_release(&c->rx.halt, why); /* pairs with comch_recv_all(): stop.pml, halt */
}

void
comch_chan_cons_drain_empty(struct comch_chan_cons *c)
{
	/* Model: stop.pml, halted. */
	if (comch_load_relaxed(&c->rx.drained) == 0 && c->rx.entry_head == c->rx.entry_tail)
		comch_recv_drain(&c->rx, NULL, 0, comch_load_acquire(&c->rx.halt), &steps);
}

bool
comch_chan_cons_pending(const struct comch_chan_cons *c)
{
	const struct comch_recv *rx = &c->rx;
	const struct comch_rec *rec_shared;

	if (comch_recv_has_refusal(rx))
		return true;
	if (comch_load_acquire(&rx->drained) != 0) /* leave.pml, left */
		return false;
	if (comch_load_acquire(&rx->halt) != RTE_COMCH_HALT_NONE) /* stop.pml, halted */
		return true;
	rec_shared = rec_at_head(rx);
	if (c->pulling)
		return peer_load_acquire_u64(&c->rec_shared->staging_head) !=
			c->stage_tail + c->pulled ||
			peer_load_acquire_u64(&rec_shared->stop_at) != 0; /* H: stage.pml, get */
	return rx->rec_idx != rx->cur.head.count || rec_is_committed(rx);
}

bool
comch_chan_cons_arm(struct comch_chan_cons *c)
{
	return comch_load_acquire(&c->rx.drained) == 0 && /* leave.pml, left */
		comch_armed_ask(&c->post->armed, c->fences, 0);
}

void
comch_chan_cons_rest(struct comch_chan_cons *c)
{
	if (comch_load_acquire(&c->rx.drained) == 0) /* leave.pml, left */
		comch_armed_rest(&c->post->armed);
}
