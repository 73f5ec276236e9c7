/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Bursts of mbufs over producers and consumers.
 *
 * An mbuf that was sent is freed when the driver no longer reads its payload. With
 * RTE_COMCH_CAPA_SYNC_SEND that is on return of the send, except for the last mbuf of a
 * burst if it streams through a staging ring. Without it, that is when the send has
 * completed: each later burst, and the destruction of the producer, check for that.
 */

#include <errno.h>

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "rte_comch_mbuf.h"
#include "sdk/comch_log.h"
#include "sdk/comch_mbuf.h"
#include "data/comch_consumer.h"
#include "data/comch_producer.h"
#include "mem/comch_mem.h"

/* mbufs per call of the driver. */
#define MBUF_GROUP 32
/* Segments of all chains in flight; a chain that does not fit allocates its own. */
#define MBUF_SEGS 256

static inline void
fill_buf(const struct rte_comch_consumer *c, struct rte_comch_buf *buf, struct rte_mbuf *m)
{
	rte_pktmbuf_reset_headroom(m);
	buf->addr = rte_pktmbuf_mtod(m, void *);
	buf->mr = c->rx_mr;
	buf->cookie = (uint64_t)(uintptr_t)m;
	buf->len = m->buf_len - m->data_off;
	buf->reserved = 0;
}

/* Allocate up to n mbufs. */
static uint32_t
alloc_some(struct rte_comch_consumer *c, struct rte_mbuf **mbufs, uint32_t n)
{
	if (likely(rte_mempool_get_bulk(c->rx_pool, (void **)mbufs, n) == 0))
		return n;
	comch_count(&comch_consumer_stats(c)->no_mbuf, 1);
	while ((n /= 2) > 0)
		if (rte_mempool_get_bulk(c->rx_pool, (void **)mbufs, n) == 0)
			return n;
	return 0;
}

/* Post mbufs until the queue is full or the pool is empty. */
static void
refill(struct rte_comch_consumer *c)
{
	struct rte_comch_buf bufs[MBUF_GROUP];
	struct rte_mbuf *mbufs[MBUF_GROUP];
	/* 0 after a halt. */
	uint32_t room = comch_queue_ops(&c->q)->cons_room(c->q.dq);
	/* In groups: single descriptors would cost the peer a cache line each. */
	uint32_t least = RTE_MIN((uint32_t)MBUF_GROUP, RTE_MAX(c->q.depth / 4, 1u));
	uint32_t i, k;

	while (room >= least) {
		k = alloc_some(c, mbufs, RTE_MIN(room, (uint32_t)MBUF_GROUP));
		if (unlikely(k == 0))
			return;
		for (i = 0; i < k; i++)
			fill_buf(c, &bufs[i], mbufs[i]);
		c->core.post(c->core.queue, bufs, (uint16_t)k);
		room -= k;
	}
}

int
rte_comch_consumer_rx_setup(struct rte_comch_consumer *c, struct rte_mempool *mp)
{
	const struct rte_comch_data_ops *ops;
	struct rte_comch_mr *mr;

	if (c == NULL || mp == NULL)
		return -EINVAL;
	ops = comch_queue_ops(&c->q);
	mr = rte_comch_mempool_mr(mp);
	if (mr == NULL) {
		COMCH_LOG(ERR, "consumer %u: mempool %s is not registered", c->q.id, mp->name);
		return -EINVAL;
	}
	if (comch_obj_state(&c->q.obj) != RTE_COMCH_STATE_RUNNING ||
			ops->cons_room(c->q.dq) != c->q.depth) {
		COMCH_LOG(ERR, "consumer %u: mbuf mode requires a RUNNING consumer "
			"with nothing posted", c->q.id);
		return -EBADFD;
	}
	c->rx_pool = mp;
	c->rx_mr = mr;
	c->is_handed = ops->rx_setup != NULL && ops->rx_setup(c->q.dq, mp,
			(c->conf_flags & RTE_COMCH_CONSUMER_F_CHAINS) != 0) == 0;
	/* Telemetry reads it. */
	comch_store_relaxed(&c->rx_room, !c->is_handed ? 0 :
		(uint32_t)rte_pktmbuf_data_room_size(mp) - RTE_PKTMBUF_HEADROOM);
	if (!c->is_handed)
		refill(c);
	return 0;
}

/* Receive up to n messages as completions. Returns the number of mbufs. */
static uint16_t
recv_cpls(struct rte_comch_consumer *c, struct rte_mbuf **mbufs, uint16_t n)
{
	struct rte_comch_cpl cpls[MBUF_GROUP];
	uint16_t got, i, k = 0;
	struct rte_mbuf *m;

	do {
		got = c->core.recv(c->core.queue, cpls,
			(uint16_t)RTE_MIN(n - k, MBUF_GROUP));
		for (i = 0; i < got; i++) {
			m = (struct rte_mbuf *)(uintptr_t)cpls[i].cookie;
			if (unlikely(cpls[i].status != 0)) {
				rte_mbuf_raw_free(m);
				continue;
			}
			comch_mbuf_received(m, cpls[i].len);
			mbufs[k++] = m;
		}
	} while (got == MBUF_GROUP && k < n);
	return k;
}

uint16_t
rte_comch_rx_burst(struct rte_comch_consumer *c, struct rte_mbuf **mbufs, uint16_t n)
{
	const struct rte_comch_data_ops *ops;
	uint16_t k = 0;

	if (unlikely(c == NULL || c->rx_pool == NULL))
		return 0;
	ops = comch_queue_ops(&c->q);
	if (ops->recv_mbufs == NULL || ops->recv_mbufs(c->q.dq, mbufs, n, &k) != 0)
		k += recv_cpls(c, &mbufs[k], n - k);
	rte_comch_trace_recv(c, n, k);
	if (!c->is_handed)
		refill(c);
	return k;
}

/* Sending */

/* An mbuf whose send is in progress. */
struct mbuf_out {
	struct rte_mbuf *mbuf;
	struct rte_comch_sge *own_sges; /* its segments, if they did not fit into the ring */
	uint32_t sge_end;               /* where the segments of the next mbuf begin */
};

/* Rings of mbufs and segments in flight; allocated by a producer's first burst. */
struct comch_mbuf_tx {
	uint32_t mask;
	uint32_t head;
	uint32_t tail;
	uint32_t sge_head;         /* free-running: indices are modulo MBUF_SEGS */
	uint32_t sge_tail;
	struct rte_comch_sge sges[MBUF_SEGS];
	struct mbuf_out out[];
};

static struct comch_mbuf_tx *
tx_create(const struct rte_comch_producer *p)
{
	uint32_t size = p->sync_send ? 1 : rte_align32pow2(p->q.depth);
	struct comch_mbuf_tx *tx;

	tx = rte_zmalloc("comch_mbuf_tx", sizeof(*tx) + size * sizeof(tx->out[0]), 0);
	if (tx != NULL)
		tx->mask = size - 1;
	return tx;
}

static inline uint32_t
tx_room(const struct comch_mbuf_tx *tx)
{
	return tx->mask + 1 - (tx->tail - tx->head);
}

/* The oldest send has completed: free its mbuf. */
static void
tx_pop(struct comch_mbuf_tx *tx)
{
	struct mbuf_out *out = &tx->out[tx->head++ & tx->mask];

	tx->sge_head = out->sge_end;
	rte_free(out->own_sges);
	rte_pktmbuf_free(out->mbuf);
}

static void
tx_push(struct comch_mbuf_tx *tx, struct rte_mbuf *mbuf, struct rte_comch_sge *own_sges,
		uint32_t sge_end)
{
	tx->out[tx->tail++ & tx->mask] = (struct mbuf_out){ mbuf, own_sges, sge_end };
	tx->sge_tail = sge_end;
}

/* Free the mbufs of completed sends, at most max. Returns their number. */
static uint32_t
tx_reap(struct rte_comch_producer *p, struct comch_mbuf_tx *tx, uint32_t max)
{
	const uint32_t head = tx->head;
	struct rte_comch_cpl cpls[MBUF_GROUP];
	uint16_t n, k;

	if (p->sync_send) {
		/* Only a message that streams is left: a burst advances it. */
		p->core.done(p->core.queue, cpls, 0);
		if (comch_queue_ops(&p->q)->prod_idle(p->q.dq))
			tx_pop(tx);
		return tx->head - head;
	}
	do {
		k = (uint16_t)RTE_MIN(max - (tx->head - head), (uint32_t)MBUF_GROUP);
		n = p->core.done(p->core.queue, cpls, k);
		for (uint16_t i = 0; i < n && tx->head != tx->tail; i++)
			tx_pop(tx);
	} while (n == MBUF_GROUP);
	return tx->head - head;
}

void
comch_mbuf_tx_free(struct rte_comch_producer *p)
{
	struct comch_mbuf_tx *tx = p->mbuf_tx;

	if (tx == NULL)
		return;
	/* The producer is idle: no send is in progress. */
	while (tx->head != tx->tail)
		tx_pop(tx);
	rte_free(tx);
	p->mbuf_tx = NULL;
}

/* Index of n adjacent segments, or -1. Advances *end, where the next ones begin. */
static int32_t
sge_place(const struct comch_mbuf_tx *tx, uint32_t n, uint32_t *end)
{
	uint32_t at = *end, off = at % MBUF_SEGS;

	if (off + n > MBUF_SEGS)
		at += MBUF_SEGS - off;
	if (n > MBUF_SEGS || at + n - tx->sge_head > MBUF_SEGS)
		return -1;
	*end = at + n;
	return (int32_t)(at % MBUF_SEGS);
}

static inline bool
asks_for_offload(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_COMCH_MBUF_TX_OFFLOADS) != 0;
}

static inline struct rte_comch_mr *
pool_mr(struct rte_comch_producer *p, const struct rte_mempool *mp)
{
	if (unlikely(mp != p->last_pool)) {
		p->last_pool = mp;
		p->last_mr = rte_comch_mempool_mr(mp);
	}
	return p->last_mr;
}

/* The registration of an mbuf's data. */
static inline struct rte_comch_mr *
mbuf_mr(struct rte_comch_producer *p, struct rte_mbuf *m)
{
	return pool_mr(p, unlikely(RTE_MBUF_CLONED(m)) ? rte_mbuf_from_indirect(m)->pool :
		m->pool);
}

static void
fill_sges(struct rte_comch_producer *p, struct rte_mbuf *m, struct rte_comch_sge *sges)
{
	for (; m != NULL; m = m->next, sges++) {
		sges->mr = mbuf_mr(p, m);
		sges->addr = rte_pktmbuf_mtod(m, void *);
		sges->len = m->data_len;
	}
}

static inline uint16_t
op_flags(const struct rte_comch_producer *p)
{
	return p->sync_send ? RTE_COMCH_OP_F_SILENT : 0;
}

static inline void
fill_op(struct rte_comch_op *op, struct rte_mbuf *m, struct rte_comch_mr *mr,
		uint32_t consumer_id, uint16_t flags)
{
	op->addr = rte_pktmbuf_mtod(m, void *);
	op->mr = mr;
	op->len = m->data_len;
	op->consumer_id = consumer_id;
	op->imm_len = 0;
	op->flags = flags;
	op->nb_sges = 0;
}

/* Describe a chain: a message of several segments. */
static void
fill_chain(struct rte_comch_producer *p, struct rte_comch_op *op, struct rte_mbuf *m,
		struct rte_comch_sge *sges)
{
	fill_sges(p, m, sges);
	op->addr = sges;
	op->mr = NULL;
	op->len = m->pkt_len;
	op->nb_sges = m->nb_segs;
	op->flags |= RTE_COMCH_OP_F_SGL;
}

/* Describe up to n mbufs, and stop at one for send_special(). Returns their number. */
static uint16_t
fill_ops(struct rte_comch_producer *p, struct rte_comch_op *ops, uint32_t *sge_end,
		uint32_t consumer_id, struct rte_mbuf **mbufs, uint16_t n)
{
	const uint16_t flags = op_flags(p);
	struct comch_mbuf_tx *tx = p->mbuf_tx;
	uint32_t end = tx->sge_tail;
	struct rte_comch_mr *mr;
	struct rte_mbuf *m;
	uint32_t i;
	int32_t at;

	for (i = 0; i < n; i++) {
		m = mbufs[i];
		/* One test for both. */
		if (unlikely((m->ol_flags &
				(RTE_MBUF_F_INDIRECT | RTE_COMCH_MBUF_TX_OFFLOADS)) != 0)) {
			if (asks_for_offload(m))
				break;
			mr = mbuf_mr(p, m);
		} else {
			mr = pool_mr(p, m->pool);
		}
		fill_op(&ops[i], m, mr, consumer_id, flags);
		if (unlikely(m->nb_segs > 1)) {
			at = sge_place(tx, m->nb_segs, &end);
			if (at < 0)
				break;
			fill_chain(p, &ops[i], m, &tx->sges[at]);
		}
		sge_end[i] = end;
	}
	return (uint16_t)i;
}

/* The driver accepted n mbufs: free them, or keep them until their sends complete. */
static inline void
tx_sent(struct rte_comch_producer *p, struct rte_mbuf **mbufs, const uint32_t *sge_end,
		struct rte_comch_sge *own_sges, uint16_t n)
{
	struct comch_mbuf_tx *tx = p->mbuf_tx;
	uint16_t i, nb_free = 0;

	if (unlikely(n == 0))
		return;
	if (likely(p->sync_send)) {
		/* Only the last message may stream. */
		nb_free = n - !comch_queue_ops(&p->q)->prod_idle(p->q.dq);
		comch_mbuf_free_bulk(mbufs, nb_free);
	}
	for (i = nb_free; i < n; i++)
		tx_push(tx, mbufs[i], own_sges, sge_end[i]);
	if (nb_free == n)
		rte_free(own_sges);
}

/* Send a chain whose segments do not fit into the ring: allocate them. */
static uint16_t
send_long_chain(struct rte_comch_producer *p, uint32_t consumer_id, struct rte_mbuf *m)
{
	const uint32_t sge_end = p->mbuf_tx->sge_tail;
	struct rte_comch_sge *sges;
	struct rte_comch_op op;
	uint16_t took;

	sges = rte_malloc("comch_sges", m->nb_segs * sizeof(*sges), 0);
	if (sges == NULL)
		return 0;
	fill_op(&op, m, NULL, consumer_id, op_flags(p));
	fill_chain(p, &op, m, sges);
	took = p->core.send(p->core.queue, &op, 1);
	if (took == 0)
		rte_free(sges);
	tx_sent(p, &m, &sge_end, sges, took);
	return took;
}

/* Accept and drop an mbuf that asks for an offload. 0: the producer accepts nothing. */
static uint16_t
drop_offload(struct rte_comch_producer *p, struct rte_mbuf *m)
{
	struct rte_comch_producer_stats *stats = comch_producer_stats(p);

	if (comch_obj_state(&p->q.obj) != RTE_COMCH_STATE_RUNNING)
		return 0;
	rte_pktmbuf_free(m);
	comch_count(&stats->errors, 1);
	comch_count(&stats->offload_errors, 1);
	return 1;
}

/* Send an mbuf that fill_ops() does not describe. */
static uint16_t
send_special(struct rte_comch_producer *p, uint32_t consumer_id, struct rte_mbuf *m)
{
	return asks_for_offload(m) ? drop_offload(p, m) : send_long_chain(p, consumer_id, m);
}

/* Forget the last pool if some have changed: it may be registered now, or another one. */
static inline void
forget_pool(struct rte_comch_producer *p)
{
	const uint32_t changes = comch_load_relaxed(&comch_mem_pool_changes);

	if (likely(p->pool_changes == changes))
		return;
	p->pool_changes = changes;
	p->last_pool = NULL;
}

/* Before operations. Returns whether more can be sent. */
static bool
tx_ready(struct rte_comch_producer *p)
{
	if (unlikely(p->mbuf_tx == NULL))
		p->mbuf_tx = tx_create(p);
	if (unlikely(p->mbuf_tx == NULL))
		return false;
	return !p->sync_send || p->mbuf_tx->head == p->mbuf_tx->tail;
}

/* Send as operations. Returns the number accepted. */
static uint16_t
send_ops(struct rte_comch_producer *p, uint32_t consumer_id, struct rte_mbuf **mbufs, uint16_t n)
{
	struct rte_comch_op ops[MBUF_GROUP];
	uint32_t sge_end[MBUF_GROUP];
	uint16_t sent = 0, k, took;

	if (unlikely(!tx_ready(p)))
		return 0;
	while (sent < n) {
		k = (uint16_t)RTE_MIN(n - sent, MBUF_GROUP);
		if (!p->sync_send)
			k = (uint16_t)RTE_MIN((uint32_t)k, tx_room(p->mbuf_tx));
		if (unlikely(k == 0))
			break;
		k = fill_ops(p, ops, sge_end, consumer_id, &mbufs[sent], k);
		if (unlikely(k == 0)) {
			k = 1;
			took = send_special(p, consumer_id, mbufs[sent]);
		} else {
			took = p->core.send(p->core.queue, ops, k);
			tx_sent(p, &mbufs[sent], sge_end, NULL, took);
		}
		sent += took;
		if (took < k)
			break;
	}
	return sent;
}

/* Let the driver send. False: the rest, from *sent on, are operations. */
static bool
send_direct(struct rte_comch_producer *p, uint32_t consumer_id, struct rte_mbuf **mbufs,
		uint16_t n, uint16_t *sent)
{
	const struct rte_comch_data_ops *ops = comch_queue_ops(&p->q);

	return ops->send_mbufs != NULL && n > 0 && ops->send_mbufs(p->q.dq, consumer_id,
		mbuf_mr(p, mbufs[0]), mbufs, n, sent) == 0;
}

uint16_t
rte_comch_tx_burst(struct rte_comch_producer *p, uint32_t consumer_id,
		struct rte_mbuf **mbufs, uint16_t n)
{
	struct comch_mbuf_tx *tx;
	uint16_t sent = 0;

	if (unlikely(p == NULL || mbufs == NULL))
		return 0;
	forget_pool(p);
	tx = p->mbuf_tx;
	if (tx != NULL && unlikely(tx->head != tx->tail))
		tx_reap(p, tx, UINT32_MAX);
	if (!send_direct(p, consumer_id, mbufs, n, &sent))
		sent += send_ops(p, consumer_id, &mbufs[sent], n - sent);
	rte_comch_trace_send(p, n, sent);
	return sent;
}

int
rte_comch_tx_done_cleanup(struct rte_comch_producer *p, uint32_t free_cnt)
{
	struct comch_mbuf_tx *tx;

	if (p == NULL)
		return -EINVAL;
	tx = p->mbuf_tx;
	if (tx == NULL || tx->head == tx->tail)
		return 0;
	return (int)tx_reap(p, tx, free_cnt != 0 ? free_cnt : UINT32_MAX);
}
