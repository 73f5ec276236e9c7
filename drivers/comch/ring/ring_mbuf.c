/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Bursts of mbufs.
 *
 * A producer marks the consumer's queue as busy, looks once more whether the consumer is
 * open, and puts its mbufs there if it is. A consumer that stops is closed first, then
 * waits until no producer is busy. So each mbuf is either received, or stays with its
 * producer, which frees it and counts an error:
 *
 *   C  producer: busy, fence, state           | consumer: state, fence, busy
 *   W  publisher: the ring's tail, fence, armed | sleeper: armed, fence, the ring
 *
 * The mark has a cache line that the consumer reads only to stop. A ring with many
 * producers would claim places in the line that the consumer polls, and wait for it in each
 * burst.
 *
 * An mbuf that cannot be handed over is copied to one of the consumer's pool: a chain to a
 * consumer that does not take chains, and, to another process, data outside of the EAL's
 * memory. So is the payload of operations.
 */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "sdk/comch_guard.h"
#include "ring_private.h"

/* Put */

static __rte_always_inline void
set_busy(struct ring_hand *h)
{
	uint32_t free = 0;

	/* Acquire: pairs with the release in put(), of another producer. Model: lock.pml, lock. */
	while (unlikely(!__atomic_compare_exchange_n(&h->busy, &free, 1, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))) {
		free = 0;
		rte_pause();
	}
	/* C: on x86 the locked CAS is the fence. */
#ifndef RTE_ARCH_X86
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* stop.pml, claim */
#endif
}

/* Put mbufs. Returns the number put, or -ENOENT: the consumer takes no more. */
static __rte_always_inline int
put(struct ring_hand *h, struct rte_mbuf **mbufs, unsigned int n)
{
	int ret = -ENOENT;

	set_busy(h);
	/* Acquire: pairs with the release in open_hand(). Model: publish.pml, find. */
	if (likely(comch_load_acquire(&h->state) == RING_OPEN))
		ret = (int)rte_ring_sp_enqueue_burst(&h->ring, (void **)mbufs, n, NULL);
	/*
	 * Release: pairs with the acquires in set_busy() and ring_recv_end().
	 * Model: lock.pml, unlock.
	 */
	comch_store_release(&h->busy, 0);
	return ret;
}

/* Put an mbuf of the driver's own. 1, 0: the queue is full, or -ENOENT. Else it is freed. */
static int
put_copy(struct comch_chan_prod *p, struct comch_chan_remote *rc, struct rte_mbuf *copy)
{
	int ret = put(rc->ext, &copy, 1);

	if (likely(ret == 1))
		comch_chan_wake(p, rc);
	else
		rte_pktmbuf_free(copy);
	return ret;
}

/* Sends of mbufs */

static bool
is_eal(struct ring_prod *rp, const void *addr)
{
	const struct rte_memseg_list *list;

	if (likely((uintptr_t)addr - rp->eal_base < rp->eal_len))
		return true;
	list = rte_mem_virt2memseg_list(addr);
	if (list == NULL || list->external)
		return false;
	rp->eal_base = (uintptr_t)list->base_va;
	rp->eal_len = list->len;
	return true;
}

/* Can another process read all of it? */
static bool
is_shared(struct ring_prod *rp, const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		if (RTE_MBUF_HAS_EXTBUF(m) || !is_eal(rp, m) || !is_eal(rp, m->buf_addr))
			return false;
	return true;
}

/* The same, of an mbuf to another process. */
static bool
can_cross(struct ring_prod *rp, const struct rte_mbuf *m)
{
	if (unlikely(m->pool != rp->seen_pool)) {
		rp->seen_pool = m->pool;
		ring_pool_crosses(m->pool);
	}
	return is_shared(rp, m);
}

static __rte_always_inline bool
can_hand_over(struct ring_prod *rp, const struct ring_hand *h, const struct rte_mbuf *m)
{
	return (likely(m->nb_segs == 1) ? m->pkt_len <= h->room : h->takes_chains) &&
		(likely(rp->same_process) || can_cross(rp, m));
}

static __rte_always_inline void
count_sent(struct comch_chan_prod *p, unsigned int n, uint64_t bytes)
{
	comch_count(&p->tx.stats.msgs, n);
	comch_count(&p->tx.stats.bytes, bytes);
}

/* mbufs that cannot be delivered are accepted, freed and counted as errors. */
static void
fail(struct comch_chan_prod *p, struct rte_mbuf **mbufs, unsigned int n)
{
	rte_pktmbuf_free_bulk(mbufs, n);
	comch_count(&p->tx.stats.errors, n);
}

/* The leading mbufs that can be handed over, and the sum of their lengths. */
static __rte_always_inline unsigned int
plan(struct ring_prod *rp, const struct ring_hand *h, struct rte_mbuf *const *mbufs,
		unsigned int n, uint64_t *bytes)
{
	unsigned int i;

	*bytes = 0;
	for (i = 0; i < n && likely(can_hand_over(rp, h, mbufs[i])); i++)
		*bytes += mbufs[i]->pkt_len;
	return i;
}

/* Hand over mbufs. Returns the number accepted. */
static __rte_always_inline unsigned int
hand_over(struct comch_chan_prod *p, struct comch_chan_remote *rc, struct rte_mbuf **mbufs,
		unsigned int n, uint64_t bytes)
{
	int k = put(rc->ext, mbufs, n);
	unsigned int i;

	if (unlikely(k <= 0)) {
		if (k == 0)
			return 0;
		fail(p, mbufs, n);
		return n;
	}
	/* Those that were put are the consumer's. */
	for (i = (unsigned int)k; unlikely(i < n); i++)
		bytes -= mbufs[i]->pkt_len;
	count_sent(p, (unsigned int)k, bytes);
	comch_chan_wake(p, rc);
	return (unsigned int)k;
}

/* Send a copy of an mbuf that cannot be handed over. 1: accepted, 0: later. */
static unsigned int
send_copy(struct comch_chan_prod *p, struct comch_chan_remote *rc, struct rte_mbuf *m)
{
	const struct ring_hand *h = rc->ext;
	uint32_t len = m->pkt_len;
	struct rte_mbuf *copy;
	int ret;

	if (len > h->room && (m->nb_segs == 1 || !h->takes_chains)) {
		fail(p, &m, 1);
		return 1;
	}
	copy = rte_pktmbuf_copy(m, h->pool, 0, UINT32_MAX);
	if (copy == NULL)
		return 0;
	ret = put_copy(p, rc, copy);
	if (ret == 0)
		return 0;
	if (ret < 0) {
		fail(p, &m, 1);
		return 1;
	}
	rte_pktmbuf_free(m);
	count_sent(p, 1, len);
	comch_count(&p->tx.stats.copies, 1);
	return 1;
}

/* Send up to n mbufs to a consumer in mbuf mode. Returns the number accepted. */
static uint16_t
send_all(struct comch_map_prod *mp, struct comch_chan_remote *rc, struct rte_mbuf **mbufs,
		uint16_t n)
{
	struct comch_chan_prod *p = &mp->chan;
	unsigned int sent = 0, k, run;
	uint64_t bytes;

	while (sent < n) {
		run = plan(mp->dq.ext, rc->ext, &mbufs[sent], n - sent, &bytes);
		k = likely(run > 0) ? hand_over(p, rc, &mbufs[sent], run, bytes) :
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
	/* Model: publish.pml, find; leave.pml, left. */
	return comch_load_acquire(&p->tx.halt) == RTE_COMCH_HALT_NONE &&
		(likely(comch_load_acquire(&p->stream) == NULL) || comch_stage_push(p));
}

int
ring_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id,
		struct rte_comch_mr *mr __rte_unused, struct rte_mbuf **mbufs, uint16_t n,
		uint16_t *done)
{
	struct comch_map_prod *mp = ring_map_prod(dq);
	struct ring_prod *rp = mp->dq.ext;
	struct comch_send *tx = &mp->chan.tx;
	struct comch_send_remote *to;
	int ret = -ENOTSUP;

	comch_guard_enter(&tx->guard, "bursts of a producer");
	comch_epoch_enter(&tx->epoch);
	to = comch_send_find(tx, consumer_id, &tx->last_slot);
	if (likely(to != NULL && ring_hand_of(to) != NULL && may_send(&mp->chan))) {
		*done = send_all(mp, container_of(to, struct comch_chan_remote, to), mbufs, n);
		ret = 0;
		tx->short_id = 0;
		mp->chan.short_space = 0;
		if (unlikely(*done < n)) {
			tx->short_id = consumer_id;
			comch_count(&tx->stats.later, 1);
		}
	}
	comch_epoch_leave(&tx->epoch);
	comch_guard_leave(&tx->guard);
	/* The core sends them as operations: not by copies to a queue that is opened meanwhile. */
	if (unlikely(ret != 0))
		rp->as_channel = true;
	return ret;
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

/*
 * Send one operation to a consumer in mbuf mode. 1: sent or failed; 0: its pool is empty, its
 * queue is full, or it is not in mbuf mode: then the channel sends.
 */
static uint16_t
send_op(struct comch_send *tx, struct comch_send_remote *to, const struct rte_comch_op *ops,
		uint32_t n __rte_unused)
{
	struct comch_chan_prod *p = container_of(tx, struct comch_chan_prod, tx);
	const struct ring_hand *h = ring_hand_of(to);
	struct rte_mbuf *m;
	int ret;

	if (h == NULL)
		return 0;
	ret = comch_send_check_op(to, ops);
	if (ret == 0 && ops->len > h->room)
		ret = -EMSGSIZE;
	if (ret != 0)
		return comch_send_fail(tx, ops, ret);
	m = mbuf_of_op(h, ops);
	if (m == NULL)
		return 0;
	ret = put_copy(p, container_of(to, struct comch_chan_remote, to), m);
	if (ret == 0)
		return 0;
	if (ret < 0)
		return comch_send_fail(tx, ops, ret);
	count_sent(p, 1, ops->len);
	comch_count(&tx->stats.imm_msgs, ops->imm_len > 0);
	comch_count(&tx->stats.copies, ops->len > 0);
	comch_send_done(tx, ops, 0, 1);
	return 1;
}

static bool
never_blocked(const struct comch_send *tx __rte_unused)
{
	return false;
}

/* Send the leading operations whose consumers are in mbuf mode. Returns their number. */
static uint16_t
send_ops(struct comch_chan_prod *p, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_send_remote *to;
	uint16_t took = 0;

	comch_guard_enter(&p->tx.guard, "bursts of a producer");
	comch_epoch_enter(&p->tx.epoch);
	to = comch_send_find(&p->tx, ops[0].consumer_id, &p->tx.last_slot);
	if (unlikely(to != NULL && ring_hand_of(to) != NULL && may_send(p)))
		took = comch_send_burst(&p->tx, ops, n, send_op, never_blocked);
	comch_epoch_leave(&p->tx.epoch);
	comch_guard_leave(&p->tx.guard);
	return took;
}

uint16_t
ring_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct comch_chan_prod *p = queue;
	struct ring_prod *rp = container_of(p, struct comch_map_prod, chan)->dq.ext;
	uint16_t sent = 0, begin;

	/*
	 * The channel stops at a consumer in mbuf mode, to which nothing is posted. It comes
	 * last, so that short_id names the consumer that a short send waits for.
	 */
	do {
		begin = sent;
		if (likely(sent < n && !rp->as_channel))
			sent += send_ops(p, &ops[sent], n - sent);
		if (likely(sent < n))
			sent += rp->send(queue, &ops[sent], n - sent);
	} while (unlikely(sent < n && sent > begin));
	rp->as_channel = false;
	return sent;
}

/* Receives */

static void
open_hand(struct comch_map_cons *c)
{
	struct ring_cons *rc = c->dq.ext;

	rc->hand->pool = rc->pool;
	rc->hand->room = rte_pktmbuf_data_room_size(rc->pool) - RTE_PKTMBUF_HEADROOM;
	rc->hand->takes_chains = rc->takes_chains;
	/* Release: pairs with the acquire in ring_hand_of(). Model: publish.pml, publish. */
	comch_store_release(&rc->hand->state, RING_OPEN);
	rc->is_open = true;
	comch_chan_wake_producers(&c->chan);
}

int
ring_rx_setup(struct rte_comch_dq *dq, struct rte_mempool *mp, bool takes_chains)
{
	struct comch_map_cons *c = ring_map_cons(dq);
	struct ring_cons *rc = c->dq.ext;

	rc->pool = NULL;
	if (rc->hand->peer_pid != rc->hand->pid) {
		if (!ring_pool_is_shared(mp)) {
			RING_LOG(NOTICE, "mempool %s is not in EAL memory: another process cannot "
				"hand over mbufs, so each is copied", mp->name);
			return -ENOTSUP;
		}
		ring_pool_check(mp);
	}
	rc->pool = mp;
	rc->takes_chains = takes_chains;
	open_hand(c);
	return 0;
}

void
ring_recv_end(struct comch_map_cons *c)
{
	const struct ring_cons *rc = c->dq.ext;

	if (comch_load_relaxed(&c->chan.rx.drained) != 0)
		return;
	/*
	 * Acquire: pairs with the release in put(), whose mbufs are seen. A peer that was
	 * killed in the middle of a burst puts no more. Model: publish.pml, find.
	 */
	if (comch_load_acquire(&rc->hand->busy) != 0 && rte_rdtsc() < rc->deadline)
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
	/* Before the queue: what was put before the halt is seen. Model: stop.pml, halted. */
	uint32_t halt = comch_load_acquire(&rx->halt);
	unsigned int k = rte_ring_sc_dequeue_burst(&rc->hand->ring, (void **)mbufs, n, NULL);

	if (likely(k > 0)) {
		count_received(rx, mbufs, k);
		comch_chan_wake_producers(&c->chan);
	} else if (unlikely(halt != RTE_COMCH_HALT_NONE)) {
		ring_recv_end(c);
	}
	return (uint16_t)k;
}

int
ring_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n, uint16_t *done)
{
	struct comch_map_cons *c = ring_map_cons(dq);
	const struct ring_cons *rc = c->dq.ext;
	struct comch_recv *rx = &c->chan.rx;

	if (unlikely(rc->pool == NULL))
		return -ENOTSUP;
	comch_guard_enter(&rx->guard, "bursts of a consumer");
	if (likely(comch_load_acquire(&rx->drained) == 0)) { /* leave.pml, left */
		/* Started again. */
		if (unlikely(!rc->is_open))
			open_hand(c);
		*done = recv_open(c, mbufs, n);
	}
	comch_guard_leave(&rx->guard);
	return 0;
}
