/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* mbufs over producers and consumers. */

#include <errno.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "rte_comch_mbuf.h"
#include "sdk/comch_log.h"
#include "data/comch_consumer.h"
#include "data/comch_producer.h"

/* mbufs that one inner round handles. */
#define MBUF_GROUP 32
/* Segments of all mbufs of a group together; longer chains go alone. */
#define MBUF_SEGS 256

int
rte_comch_consumer_rx_setup(struct rte_comch_consumer *c, struct rte_mempool *mp)
{
	struct rte_comch_mr *mr;

	if (c == NULL || mp == NULL)
		return -EINVAL;
	mr = rte_comch_mempool_mr(mp);
	if (mr == NULL) {
		COMCH_LOG(ERR, "consumer %u: mempool %s is not registered", c->q.id, mp->name);
		return -EINVAL;
	}
	if (comch_obj_state(&c->q.obj) != RTE_COMCH_STATE_RUNNING ||
			comch_queue_ops(&c->q)->cons_room(c->q.dq) != c->q.depth) {
		COMCH_LOG(ERR, "consumer %u: mbuf mode wants it RUNNING with nothing posted",
			c->q.id);
		return -EBADFD;
	}
	c->rx_pool = mp;
	c->rx_mr = mr;
	rte_comch_rx_burst(c, NULL, 0);
	return 0;
}

static inline void
fill_buf(const struct rte_comch_consumer *c, struct rte_comch_buf *buf, struct rte_mbuf *m)
{
	buf->addr = rte_pktmbuf_mtod(m, void *);
	buf->mr = c->rx_mr;
	buf->cookie = (uint64_t)(uintptr_t)m;
	buf->len = rte_pktmbuf_tailroom(m);
	buf->reserved = 0;
}

/* As many mbufs as the pool gives, at most n. */
static uint32_t
alloc_some(struct rte_comch_consumer *c, struct rte_mbuf **mbufs, uint32_t n)
{
	if (likely(rte_pktmbuf_alloc_bulk(c->rx_pool, mbufs, n) == 0))
		return n;
	comch_count(&comch_consumer_stats(c)->no_mbuf, 1);
	while ((n /= 2) > 0)
		if (rte_pktmbuf_alloc_bulk(c->rx_pool, mbufs, n) == 0)
			return n;
	return 0;
}

/* Post as many mbufs as there is room for and the pool gives. */
static void
refill(struct rte_comch_consumer *c)
{
	struct rte_comch_buf bufs[MBUF_GROUP];
	struct rte_mbuf *mbufs[MBUF_GROUP];
	/* None once it is halted. */
	uint32_t room = comch_queue_ops(&c->q)->cons_room(c->q.dq);
	/* In groups: a descriptor at a time would cost the peer a line each. */
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

uint16_t
rte_comch_rx_burst(struct rte_comch_consumer *c, struct rte_mbuf **mbufs, uint16_t n)
{
	struct rte_comch_cpl cpls[MBUF_GROUP];
	uint16_t got, i, k = 0;
	struct rte_mbuf *m;

	if (unlikely(c == NULL || c->rx_pool == NULL))
		return 0;
	do {
		got = c->core.recv(c->core.queue, cpls,
			(uint16_t)RTE_MIN(n - k, MBUF_GROUP));
		for (i = 0; i < got; i++) {
			m = (struct rte_mbuf *)(uintptr_t)cpls[i].cookie;
			if (unlikely(cpls[i].status != 0)) {
				rte_pktmbuf_free(m);
				continue;
			}
			m->data_len = (uint16_t)cpls[i].len;
			m->pkt_len = cpls[i].len;
			mbufs[k++] = m;
		}
	} while (got == MBUF_GROUP && k < n);
	rte_comch_trace_recv(c, n, k);
	refill(c);
	return k;
}

/* The registration of the memory that an mbuf's data lies in. */
static inline struct rte_comch_mr *
mbuf_mr(struct rte_comch_producer *p, struct rte_mbuf *m)
{
	const struct rte_mempool *mp = RTE_MBUF_CLONED(m) ?
		rte_mbuf_from_indirect(m)->pool : m->pool;

	if (unlikely(mp != p->last_pool)) {
		p->last_pool = mp;
		p->last_mr = rte_comch_mempool_mr(mp);
	}
	return p->last_mr;
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

static inline void
fill_op(struct rte_comch_producer *p, struct rte_comch_op *op, struct rte_mbuf *m,
		uint32_t consumer_id)
{
	op->addr = rte_pktmbuf_mtod(m, void *);
	op->mr = mbuf_mr(p, m);
	op->len = m->data_len;
	op->consumer_id = consumer_id;
	op->imm = NULL;
	op->imm_len = 0;
	op->flags = RTE_COMCH_OP_F_SILENT;
	op->nb_sges = 0;
}

/* Describe up to n mbufs; returns how many found room for their segments. */
static uint16_t
fill_ops(struct rte_comch_producer *p, struct rte_comch_op *ops, struct rte_comch_sge *sges,
		uint32_t consumer_id, struct rte_mbuf **mbufs, uint16_t n)
{
	uint32_t used = 0;
	uint16_t i;

	for (i = 0; i < n; i++) {
		fill_op(p, &ops[i], mbufs[i], consumer_id);
		if (likely(mbufs[i]->nb_segs == 1))
			continue;
		if (used + mbufs[i]->nb_segs > MBUF_SEGS)
			break;
		fill_sges(p, mbufs[i], &sges[used]);
		ops[i].addr = &sges[used];
		ops[i].mr = NULL;
		ops[i].len = mbufs[i]->pkt_len;
		ops[i].nb_sges = mbufs[i]->nb_segs;
		ops[i].flags |= RTE_COMCH_OP_F_SGL;
		used += mbufs[i]->nb_segs;
	}
	return i;
}

/* A chain with more segments than a group has: its description needs memory. */
static uint16_t
send_long_chain(struct rte_comch_producer *p, uint32_t consumer_id, struct rte_mbuf *m)
{
	struct rte_comch_op op;
	struct rte_comch_sge *sges;
	uint16_t took;

	sges = rte_malloc("comch_sges", m->nb_segs * sizeof(*sges), 0);
	if (sges == NULL)
		return 0;
	fill_op(p, &op, m, consumer_id);
	fill_sges(p, m, sges);
	op.addr = sges;
	op.mr = NULL;
	op.len = m->pkt_len;
	op.nb_sges = m->nb_segs;
	op.flags |= RTE_COMCH_OP_F_SGL;
	took = p->core.send(p->core.queue, &op, 1);
	rte_free(sges);
	return took;
}

uint16_t
rte_comch_tx_burst(struct rte_comch_producer *p, uint32_t consumer_id,
		struct rte_mbuf **mbufs, uint16_t n)
{
	struct rte_comch_sge sges[MBUF_SEGS];
	struct rte_comch_op ops[MBUF_GROUP];
	uint16_t sent = 0, k, took;

	if (unlikely(p == NULL || mbufs == NULL))
		return 0;
	while (sent < n) {
		k = fill_ops(p, ops, sges, consumer_id, &mbufs[sent],
				(uint16_t)RTE_MIN(n - sent, MBUF_GROUP));
		if (unlikely(k == 0)) {
			k = 1;
			took = send_long_chain(p, consumer_id, mbufs[sent]);
		} else {
			took = p->core.send(p->core.queue, ops, k);
		}
		rte_pktmbuf_free_bulk(&mbufs[sent], took);
		sent += took;
		if (took < k)
			break;
	}
	rte_comch_trace_send(p, n, sent);
	return sent;
}
