/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Bursts of mbufs.
 *
 * A producer claims places in the consumer's queue, looks once more whether the consumer
 * is open, and puts its mbufs there, or nothing (NULL) if it is not. A consumer that stops
 * is closed first, then waits until no claim is left. So each mbuf is either received, or
 * stays with its producer, which frees it and counts an error:
 *
 *   C  producer: claim (HTS head), fence, state | consumer: state, fence, claims
 *   W  publisher: the ring's tail, fence, armed | sleeper: armed, fence, the ring
 *
 * An mbuf that cannot be handed over is copied to one of the consumer's pool: a chain to a
 * consumer that does not take chains, and, to another process, data outside of the EAL's
 * memory. So is the payload of operations.
 */

#include <errno.h>

#include <rte_cycles.h>

#include "sdk/comch_guard.h"
#include "ring_private.h"

/* Put */

/* Put mbufs. Returns the number of places claimed; *closed: nothing was put there. */
static __rte_always_inline unsigned int
put(struct ring_hand *h, struct rte_mbuf **mbufs, unsigned int n, bool *closed)
{
	struct rte_ring_zc_data zcd;

	n = rte_ring_enqueue_zc_burst_start(&h->ring, n, &zcd, NULL);
	if (unlikely(n == 0))
		return 0;
	/* C: on x86 the ring's locked CAS is the fence. */
#ifndef RTE_ARCH_X86
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	*closed = comch_load_acquire(&h->state) != RING_OPEN;
	if (unlikely(*closed)) {
		memset(zcd.ptr1, 0, zcd.n1 * sizeof(*mbufs));
		if (zcd.n1 < n)
			memset(zcd.ptr2, 0, (n - zcd.n1) * sizeof(*mbufs));
	} else {
		memcpy(zcd.ptr1, mbufs, zcd.n1 * sizeof(*mbufs));
		if (unlikely(zcd.n1 < n))
			memcpy(zcd.ptr2, &mbufs[zcd.n1], (n - zcd.n1) * sizeof(*mbufs));
	}
	rte_ring_enqueue_zc_finish(&h->ring, n);
	return n;
}

/* Sends of mbufs */

static bool
pool_is_eal(struct ring_prod *rp, const struct rte_mbuf *m)
{
	const struct rte_memseg_list *list;

	if (m->pool != rp->last_pool) {
		list = rte_mem_virt2memseg_list(m->buf_addr);
		rp->last_is_eal = list != NULL && !list->external;
		rp->last_pool = m->pool;
	}
	return rp->last_is_eal;
}

/* Can another process read all of it? */
static bool
is_shared(struct ring_prod *rp, const struct rte_mbuf *m)
{
	const struct rte_mbuf *owner;

	for (; m != NULL; m = m->next) {
		owner = RTE_MBUF_CLONED(m) ?
			rte_mbuf_from_indirect((struct rte_mbuf *)(uintptr_t)m) : m;
		if (RTE_MBUF_HAS_EXTBUF(m) || !pool_is_eal(rp, owner))
			return false;
	}
	return true;
}

static __rte_always_inline bool
can_hand_over(struct ring_prod *rp, const struct ring_hand *h, const struct rte_mbuf *m)
{
	return (likely(m->nb_segs == 1) ? m->pkt_len <= h->room : h->takes_chains) &&
		(likely(rp->same_process) || is_shared(rp, m));
}

static __rte_always_inline void
count_sent(struct comch_chan_prod *p, unsigned int n, uint64_t bytes)
{
	comch_count(&p->tx.stats.msgs, n);
	comch_count(&p->tx.stats.bytes, bytes);
}

/* Nobody receives them: they are accepted, freed and counted. */
static void
fail(struct comch_chan_prod *p, struct rte_mbuf **mbufs, unsigned int n)
{
	rte_pktmbuf_free_bulk(mbufs, n);
	comch_count(&p->tx.stats.errors, n);
}

/* Hand over mbufs that can be. Returns the number accepted. */
static __rte_always_inline unsigned int
hand_over(struct comch_chan_prod *p, struct comch_chan_remote *rc, struct rte_mbuf **mbufs,
		unsigned int n)
{
	unsigned int i, k;
	uint64_t bytes = 0;
	bool closed = false;

	/* Before: once they are put, they are the consumer's. */
	for (i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len;
	k = put(rc->ext, mbufs, n, &closed);
	for (i = k; unlikely(i < n); i++)
		bytes -= mbufs[i]->pkt_len;
	if (unlikely(closed)) {
		fail(p, mbufs, k);
	} else if (likely(k > 0)) {
		count_sent(p, k, bytes);
		comch_chan_wake(p, rc);
	}
	return k;
}

/* Send a copy of an mbuf that cannot be handed over. 1: accepted, 0: later. */
static unsigned int
send_copy(struct comch_chan_prod *p, struct comch_chan_remote *rc, struct rte_mbuf *m)
{
	struct ring_hand *h = rc->ext;
	uint32_t len = m->pkt_len;
	struct rte_mbuf *copy;
	bool closed = false;

	if (len > h->room && (m->nb_segs == 1 || !h->takes_chains)) {
		fail(p, &m, 1);
		return 1;
	}
	copy = rte_pktmbuf_copy(m, h->pool, 0, UINT32_MAX);
	if (copy == NULL)
		return 0;
	if (put(h, &copy, 1, &closed) == 0) {
		rte_pktmbuf_free(copy);
		return 0;
	}
	if (closed) {
		rte_pktmbuf_free(copy);
		fail(p, &m, 1);
		return 1;
	}
	rte_pktmbuf_free(m);
	count_sent(p, 1, len);
	comch_count(&p->tx.stats.copies, 1);
	comch_chan_wake(p, rc);
	return 1;
}

/* Send up to n mbufs to a consumer in mbuf mode. Returns the number accepted. */
static uint16_t
send_all(struct comch_map_prod *mp, struct comch_chan_remote *rc, struct rte_mbuf **mbufs,
		uint16_t n)
{
	struct comch_chan_prod *p = &mp->chan;
	unsigned int sent = 0, k, run;

	while (sent < n) {
		for (run = 0; sent + run < n; run++)
			if (unlikely(!can_hand_over(mp->dq.ext, rc->ext, mbufs[sent + run])))
				break;
		k = likely(run > 0) ? hand_over(p, rc, &mbufs[sent], run) :
			send_copy(p, rc, mbufs[sent]);
		sent += k;
		if (k < RTE_MAX(run, 1u))
			break;
	}
	return (uint16_t)sent;
}

/* Messages are delivered in order: one that streams goes first. */
static bool
may_send(struct comch_chan_prod *p)
{
	return comch_load_acquire(&p->tx.halt) == RTE_COMCH_HALT_NONE &&
		(likely(comch_load_acquire(&p->stream) == NULL) || comch_stage_push(p));
}

int
ring_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id, struct rte_mbuf **mbufs,
		uint16_t n)
{
	struct comch_map_prod *mp = ring_map_prod(dq);
	struct comch_send *tx = &mp->chan.tx;
	struct comch_send_remote *to;
	int sent = -ENOTSUP;

	comch_guard_enter(&tx->guard, "bursts of a producer");
	comch_epoch_enter(&tx->epoch);
	to = comch_send_find(tx, consumer_id, &tx->last_slot);
	if (likely(to != NULL && ring_hand_of(to) != NULL && may_send(&mp->chan))) {
		sent = send_all(mp, container_of(to, struct comch_chan_remote, to), mbufs, n);
		tx->short_id = 0;
		mp->chan.short_space = 0;
		if (unlikely(sent < n)) {
			tx->short_id = consumer_id;
			comch_count(&tx->stats.later, 1);
		}
	}
	comch_epoch_leave(&tx->epoch);
	comch_guard_leave(&tx->guard);
	return sent;
}

/* Operations */

/* Copy a payload to an mbuf of the consumer's pool. */
static struct rte_mbuf *
mbuf_of_op(const struct ring_hand *h, const struct rte_comch_op *op)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
	struct comch_gather g;

	if (m == NULL)
		return NULL;
	comch_gather_init(&g, op);
	comch_gather_copy(&g, rte_pktmbuf_mtod(m, uint8_t *), op->len);
	m->data_len = (uint16_t)op->len;
	m->pkt_len = op->len;
	return m;
}

/* Send one operation to a consumer in mbuf mode. 1, or 0: later. */
static uint16_t
send_op(struct comch_send *tx, struct comch_send_remote *to, const struct rte_comch_op *ops,
		uint32_t n __rte_unused)
{
	struct comch_chan_remote *rc = container_of(to, struct comch_chan_remote, to);
	struct comch_chan_prod *p = container_of(tx, struct comch_chan_prod, tx);
	struct ring_hand *h = rc->ext;
	int err = comch_send_check_op(to, ops);
	struct rte_mbuf *m;
	bool closed = false;

	if (err == 0 && ops->len > h->room)
		err = -EMSGSIZE;
	if (err != 0)
		return comch_send_fail(tx, ops, err);
	m = mbuf_of_op(h, ops);
	if (m == NULL)
		return 0;
	if (put(h, &m, 1, &closed) == 0) {
		rte_pktmbuf_free(m);
		return 0;
	}
	if (closed) {
		rte_pktmbuf_free(m);
		return comch_send_fail(tx, ops, -ENOENT);
	}
	comch_chan_wake(p, rc);
	comch_count(&tx->stats.msgs, 1);
	comch_count(&tx->stats.bytes, ops->len);
	comch_count(&tx->stats.imm_msgs, ops->imm_len > 0);
	comch_count(&tx->stats.copies, ops->len > 0);
	comch_send_done(tx, ops, 0);
	return 1;
}

static bool
never_blocked(const struct comch_send *tx __rte_unused)
{
	return false;
}

/* The number of leading operations for one consumer. */
static uint16_t
same_consumer(const struct rte_comch_op *ops, uint16_t n)
{
	uint16_t i;

	for (i = 1; i < n && ops[i].consumer_id == ops[0].consumer_id; i++)
		;
	return i;
}

/* Send the leading operations if their consumer is in mbuf mode. -ENOTSUP: it is not. */
static int
send_ops(struct comch_chan_prod *p, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_send_remote *to;
	int took = -ENOTSUP;

	comch_epoch_enter(&p->tx.epoch);
	to = comch_send_find(&p->tx, ops[0].consumer_id, &p->tx.last_slot);
	if (unlikely(to != NULL && ring_hand_of(to) != NULL && may_send(p))) {
		p->tx.short_id = 0;
		p->short_space = 0;
		n = same_consumer(ops, n);
		took = comch_send_burst(&p->tx, ops, n, send_op, never_blocked);
		if (took < n)
			comch_count(&p->tx.stats.later, 1);
	}
	comch_epoch_leave(&p->tx.epoch);
	return took;
}

uint16_t
ring_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_chan_prod *p = queue;
	struct ring_prod *rp = container_of(p, struct comch_map_prod, chan)->dq.ext;
	int took = -ENOTSUP;

	if (likely(n > 0)) {
		comch_guard_enter(&p->tx.guard, "bursts of a producer");
		took = send_ops(p, ops, n);
		comch_guard_leave(&p->tx.guard);
	}
	/* It stops at an operation for a consumer in mbuf mode, to which nothing is posted. */
	return took >= 0 ? (uint16_t)took : rp->send(queue, ops, n);
}

/* Receives */

static void
open_hand(struct comch_map_cons *c)
{
	struct ring_cons *rc = c->dq.ext;

	rc->hand->pool = rc->pool;
	rc->hand->room = rte_pktmbuf_data_room_size(rc->pool) - RTE_PKTMBUF_HEADROOM;
	rc->hand->takes_chains = rc->takes_chains;
	/* Release: pairs with the acquire in ring_hand_of(). */
	comch_store_release(&rc->hand->state, RING_OPEN);
	rc->is_open = true;
	comch_chan_wake_producers(&c->chan);
}

void
ring_rx_setup(struct rte_comch_dq *dq, struct rte_mempool *mp, bool takes_chains)
{
	struct comch_map_cons *c = ring_map_cons(dq);
	struct ring_cons *rc = c->dq.ext;

	rc->pool = mp;
	rc->takes_chains = takes_chains;
	open_hand(c);
}

/* After a halt: drop the places of producers that were too late. */
static unsigned int
drop_nulls(struct rte_mbuf **mbufs, unsigned int n)
{
	unsigned int i, k = 0;

	for (i = 0; i < n; i++)
		if (mbufs[i] != NULL)
			mbufs[k++] = mbufs[i];
	return k;
}

void
ring_recv_end(struct comch_map_cons *c)
{
	const struct ring_cons *rc = c->dq.ext;

	if (comch_load_relaxed(&c->chan.rx.drained) != 0)
		return;
	/* A peer that was killed in the middle of a burst puts no more. */
	if (ring_hand_is_busy(rc->hand) && rte_rdtsc() < rc->deadline)
		return;
	if (ring_hand_count(rc->hand) == 0)
		comch_chan_cons_drain_empty(&c->chan);
}

static __rte_always_inline void
count_received(struct comch_recv *rx, struct rte_mbuf *const *mbufs, unsigned int n)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len;
	comch_count(&rx->stats.msgs, n);
	comch_count(&rx->stats.bytes, bytes);
}

static __rte_always_inline uint16_t
recv_open(struct comch_map_cons *c, struct rte_mbuf **mbufs, uint16_t n)
{
	struct ring_cons *rc = c->dq.ext;
	struct comch_recv *rx = &c->chan.rx;
	/* Before the queue: what was put before the halt is seen. */
	uint32_t halt = comch_load_acquire(&rx->halt);
	unsigned int k = ring_hand_take(rc->hand, mbufs, n);

	if (likely(k > 0)) {
		if (unlikely(halt != RTE_COMCH_HALT_NONE))
			k = drop_nulls(mbufs, k);
		count_received(rx, mbufs, k);
		comch_chan_wake_producers(&c->chan);
	} else if (unlikely(halt != RTE_COMCH_HALT_NONE)) {
		ring_recv_end(c);
	}
	return (uint16_t)k;
}

uint16_t
ring_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n)
{
	struct comch_map_cons *c = ring_map_cons(dq);
	struct comch_recv *rx = &c->chan.rx;
	uint16_t k = 0;

	comch_guard_enter(&rx->guard, "bursts of a consumer");
	if (likely(comch_load_acquire(&rx->drained) == 0)) {
		/* Started again. */
		if (unlikely(!((struct ring_cons *)c->dq.ext)->is_open))
			open_hand(c);
		k = recv_open(c, mbufs, n);
	}
	comch_guard_leave(&rx->guard);
	return k;
}
