/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Bursts of mbufs without operations and completions: what goes that way, and what is left to
 * them, with nothing changed.
 */

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_comch_mbuf.h>

#include "sdk/comch_mbuf.h"
#include "t_main.h"
#include "u_chan.h"

#define DEPTH 64
#define LEN 100
#define ROOM 512
#define NB_MBUFS 63
/* Messages of the longest record, and of a burst of several. */
#define BATCH COMCH_REC_BATCH
#define MANY (2 * BATCH + 5)

struct mbuf_case {
	struct u_chan *u;
	struct rte_mempool *tx_pool, *rx_pool, *other_pool;
	struct rte_comch_mr mr;    /* of tx_pool */
	struct rte_mbuf *posted[DEPTH];
	uint32_t nb_posted;
};

static struct rte_mempool *
pool(const char *name)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create(name, NB_MBUFS, 0, 0,
		ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);

	T_CHECK(mp != NULL);
	return mp;
}

static void
begin(struct mbuf_case *c)
{
	const struct rte_mempool_memhdr *mem;

	t_eal_start(1);
	c->u = u_chan_create(&(struct u_conf){
		.depth = DEPTH, .staging_size = 4096, .mem_size = DEPTH * LEN,
		.timeout_cycles = UINT64_MAX / 4,
	});
	c->tx_pool = pool("tx");
	c->rx_pool = pool("rx");
	c->other_pool = pool("other");
	mem = STAILQ_FIRST(&c->tx_pool->mem_list);
	c->mr = (struct rte_comch_mr){ .addr = mem->addr, .len = mem->len };
}

static void
end(struct mbuf_case *c)
{
	uint32_t i;

	for (i = 0; i < c->nb_posted; i++)
		rte_mempool_put(c->rx_pool, c->posted[i]);
	T_CHECK(rte_mempool_full(c->tx_pool));
	T_CHECK(rte_mempool_full(c->rx_pool));
	T_CHECK(rte_mempool_full(c->other_pool));
	T_EQ(c->u->prod[0].tx.epoch.now & 1, 0u);
	T_EQ(c->u->prod_faults + c->u->cons_faults, 0);
	rte_mempool_free(c->tx_pool);
	rte_mempool_free(c->rx_pool);
	rte_mempool_free(c->other_pool);
	u_chan_free(c->u);
	t_eal_stop();
}

#define MBUF_CASE(name) T_CASE_OF(struct mbuf_case, begin, end, name, c)

/* Post n buffers, each with an mbuf that had another use before. */
static void
post(struct mbuf_case *c, uint32_t n)
{
	struct rte_mbuf *m;
	void *obj;

	for (; n > 0; n--) {
		T_EQ(rte_mempool_get(c->rx_pool, &obj), 0);
		m = obj;
		m->port = 7;
		m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_RSS_HASH;
		m->packet_type = RTE_PTYPE_L2_ETHER;
		m->vlan_tci = 9;
		m->data_len = 3;
		m->pkt_len = 4;
		T_CHECK(u_post(c->u, U_MR_DIRECT, c->nb_posted * LEN, LEN, (uintptr_t)m));
		c->posted[c->nb_posted++] = m;
	}
}

static uint32_t
length(uint32_t i)
{
	return 1 + i * 7 % LEN;
}

static struct rte_mbuf *
frame_of(struct rte_mempool *mp, uint32_t i)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	T_CHECK(m != NULL);
	t_fill(rte_pktmbuf_append(m, (uint16_t)length(i)), length(i), i);
	return m;
}

static struct rte_mbuf *
frame(struct mbuf_case *c, uint32_t i)
{
	return frame_of(c->tx_pool, i);
}

/* Send a burst: checks the result and the number sent, and frees these. */
static void
sends(struct mbuf_case *c, struct rte_mbuf **mbufs, uint16_t n, uint16_t done, int ret)
{
	const uint64_t claim = c->u->rec->claim;
	uint16_t k = 0;

	T_EQ(comch_chan_send_mbufs(&c->u->prod[0], U_CONS_ID, &c->mr, mbufs, n, &k), ret);
	T_EQ(k, done);
	T_EQ(c->u->rec->claim, claim + done);
	comch_mbuf_free_bulk(mbufs, k);
}

/* Receive as many as there should be, from the message with this number on. */
static void
receives(struct mbuf_case *c, uint32_t first, uint16_t n, uint16_t done, int ret)
{
	struct rte_mbuf *mbufs[DEPTH];
	const struct rte_mbuf *m;
	uint16_t k = 0;
	uint32_t i;

	T_EQ(comch_chan_recv_mbufs(&c->u->c, mbufs, n, &k), ret);
	T_EQ(k, done);
	for (i = first; i < first + done; i++) {
		m = mbufs[i - first];
		T_CHECK(m == c->posted[i]);
		T_EQ(m->data_len, length(i));
		T_EQ(m->pkt_len, length(i));
		T_EQ(m->port, RTE_MBUF_PORT_INVALID);
		T_EQ(m->ol_flags, 0);
		T_EQ(m->packet_type, 0);
		T_EQ(m->vlan_tci, 0);
		T_VERIFY(c->u->direct.addr + i * LEN, length(i), i);
	}
}

MBUF_CASE(bursts)
{
	const struct rte_comch_producer_stats *tx = &c->u->prod[0].tx.stats;
	const struct rte_comch_consumer_stats *rx = &c->u->c.rx.stats;
	struct rte_mbuf *mbufs[MANY];
	uint64_t bytes = 0;
	uint32_t i;

	post(c, MANY + 1);
	for (i = 0; i < MANY; i++) {
		mbufs[i] = frame(c, i);
		bytes += length(i);
	}
	sends(c, mbufs, MANY, MANY, 0);
	T_CHECK(rte_mempool_full(c->tx_pool));
	/* Within a record, and over its end. */
	receives(c, 0, 5, 5, 0);
	receives(c, 5, BATCH, BATCH, 0);
	receives(c, 5 + BATCH, DEPTH, MANY - BATCH - 5, 0);
	receives(c, MANY, DEPTH, 0, 0);
	T_EQ(tx->msgs, MANY);
	T_EQ(tx->bytes, bytes);
	T_EQ(tx->copies, MANY);
	T_EQ(rx->msgs, MANY);
	T_EQ(rx->bytes, bytes);
	/* One alone. */
	mbufs[0] = frame(c, MANY);
	sends(c, mbufs, 1, 1, 0);
	receives(c, MANY, 1, 1, 0);
}

/* Data in external memory, where a pool has them all: the flag stays. */
MBUF_CASE(external_data)
{
	struct rte_mbuf *m = frame_of(c->rx_pool, 0);

	m->ol_flags = RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_RX_VLAN;
	comch_mbuf_received(m, 5);
	T_EQ(m->ol_flags, RTE_MBUF_F_EXTERNAL);
	m->ol_flags = 0;
	rte_pktmbuf_free(m);
}

MBUF_CASE(fewer_are_posted)
{
	struct rte_mbuf *mbufs[4];
	uint32_t i;

	for (i = 0; i < 4; i++)
		mbufs[i] = frame(c, i);
	sends(c, mbufs, 4, 0, 0);
	T_CHECK(!comch_chan_prod_pending(&c->u->prod[0]));
	post(c, 3);
	T_CHECK(comch_chan_prod_pending(&c->u->prod[0]));
	sends(c, mbufs, 4, 3, 0);
	T_EQ(c->u->prod[0].tx.stats.later, 2);
	T_EQ(rte_mempool_in_use_count(c->tx_pool), 1);
	receives(c, 0, 4, 3, 0);
	rte_pktmbuf_free(mbufs[3]);
}

/* Mbufs of the third message that are sent as operations. */

static struct rte_mbuf *
a_chain(struct mbuf_case *c)
{
	struct rte_mbuf *m = frame(c, 2);

	T_EQ(rte_pktmbuf_chain(m, frame(c, 3)), 0);
	return m;
}

static struct rte_mbuf *
an_empty_one(struct mbuf_case *c)
{
	return rte_pktmbuf_alloc(c->tx_pool);
}

static struct rte_mbuf *
one_with_a_request(struct mbuf_case *c)
{
	struct rte_mbuf *m = frame(c, 2);

	m->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
	return m;
}

static struct rte_mbuf *
of_another_pool(struct mbuf_case *c)
{
	return frame_of(c->other_pool, 2);
}

static struct rte_mbuf *
one_too_long(struct mbuf_case *c)
{
	struct rte_mbuf *m = frame(c, 2);

	T_CHECK(rte_pktmbuf_append(m, LEN) != NULL);
	return m;
}

/* What can never be sent does not wait for a buffer. */
MBUF_CASE(nothing_is_posted_for_others)
{
	struct rte_mbuf *m = one_with_a_request(c);

	sends(c, &m, 1, 0, -ENOTSUP);
	rte_pktmbuf_free(m);
}

/* After a burst that was short, one that the core ends: no buffer is awaited any more. */
MBUF_CASE(awaits_nothing_afterwards)
{
	struct rte_mbuf *mbufs[2] = { frame(c, 0), one_with_a_request(c) };

	sends(c, mbufs, 1, 0, 0);
	post(c, 3);
	T_CHECK(comch_chan_prod_pending(&c->u->prod[0]));
	sends(c, mbufs, 2, 1, -ENOTSUP);
	T_CHECK(!comch_chan_prod_pending(&c->u->prod[0]));
	rte_pktmbuf_free(mbufs[1]);
}

MBUF_CASE(others_are_operations)
{
	struct rte_mbuf *(*const make[])(struct mbuf_case *c) = {
		a_chain, an_empty_one, one_with_a_request, of_another_pool, one_too_long,
	};
	struct rte_mbuf *mbufs[4];
	uint32_t i;

	post(c, 3 * RTE_DIM(make));
	for (i = 0; i < RTE_DIM(make); i++) {
		mbufs[0] = frame(c, 3 * i);
		mbufs[1] = frame(c, 3 * i + 1);
		mbufs[2] = make[i](c);
		mbufs[3] = frame(c, 3 * i + 2);
		sends(c, mbufs, 4, 2, -ENOTSUP);
		sends(c, &mbufs[2], 2, 0, -ENOTSUP);
		sends(c, &mbufs[3], 1, 1, 0);
		receives(c, 3 * i, 4, 3, 0);
		rte_pktmbuf_free(mbufs[2]);
	}
}

/* What counts is where the data are. */
static struct rte_mbuf *
clone_of(struct rte_mbuf *m, struct rte_mempool *mp)
{
	struct rte_mbuf *clone = rte_pktmbuf_clone(m, mp);

	T_CHECK(clone != NULL);
	rte_pktmbuf_free(m);
	return clone;
}

MBUF_CASE(clones)
{
	struct rte_mbuf *mbufs[3] = {
		clone_of(frame(c, 0), c->tx_pool), clone_of(frame(c, 1), c->other_pool),
		clone_of(frame_of(c->other_pool, 2), c->tx_pool),
	};

	post(c, 3);
	sends(c, mbufs, 3, 2, -ENOTSUP);
	receives(c, 0, 3, 2, 0);
	rte_pktmbuf_free(mbufs[2]);
}

MBUF_CASE(memory_is_not_registered)
{
	struct rte_mbuf *m = frame(c, 0);
	uint16_t k = 0;

	post(c, 1);
	T_EQ(comch_chan_send_mbufs(&c->u->prod[0], U_CONS_ID, NULL, &m, 1, &k), -ENOTSUP);
	c->mr.len = (size_t)(rte_pktmbuf_mtod(m, uint8_t *) - c->mr.addr);
	sends(c, &m, 1, 0, -ENOTSUP);
	rte_pktmbuf_free(m);
}

MBUF_CASE(no_consumer)
{
	struct rte_mbuf *m = frame(c, 0);
	uint16_t k = 0;

	post(c, 1);
	T_EQ(comch_chan_send_mbufs(&c->u->prod[0], U_CONS_ID + 1, &c->mr, &m, 1, &k), -ENOTSUP);
	c->u->prod[0].tx.halt = RTE_COMCH_HALT_STOP;
	sends(c, &m, 1, 0, -ENOTSUP);
	rte_pktmbuf_free(m);
}

/* Of a peer that posts what it did not export, or more than its queue holds. */
MBUF_CASE(hostile_posts)
{
	struct comch_desc *desc = c->u->post->desc;
	struct rte_mbuf *mbufs[2] = { frame(c, 0), frame(c, 1) };

	post(c, 2);
	desc[1].where += c->u->mem_size;
	sends(c, mbufs, 2, 1, -ENOTSUP);
	sends(c, &mbufs[1], 1, 0, -ENOTSUP);
	desc[1].where = (uint64_t)COMCH_REGION_STAGED << COMCH_DESC_OFF_BITS;
	c->u->prod[0].tx.ahead.n = 0;
	sends(c, &mbufs[1], 1, 0, -ENOTSUP);
	c->u->post->tail = 1 + DEPTH + 1;
	c->u->rc.to.tail_seen = 1;
	sends(c, &mbufs[1], 1, 0, -ENOTSUP);
	rte_pktmbuf_free(mbufs[1]);
}

/* It closed before the claim: they fail, and the consumer skips their positions. */
MBUF_CASE(closed)
{
	struct rte_mbuf *mbufs[3];
	uint32_t i;

	post(c, 3);
	for (i = 0; i < 3; i++)
		mbufs[i] = frame(c, i);
	c->u->post->closed = 1;
	sends(c, mbufs, 3, 3, 0);
	T_EQ(c->u->prod[0].tx.stats.errors, 3);
	T_EQ(c->u->prod[0].tx.stats.msgs, 0);
	receives(c, 0, 3, 0, -ENOTSUP);
	T_EQ(u_recv_all(c->u, -ECANCELED), 3);
}

/* Records that completions are for, or that are none: nothing of them is taken. */
MBUF_CASE(other_records)
{
	static const struct {
		uint8_t kind, count, imm_len;
		uint32_t len;
	} recs[] = {
		{ COMCH_REC_DIRECT, 1, 32, 5 }, { COMCH_REC_DIRECT, 1, 255, 5 },
		{ COMCH_REC_DIRECT, 0, 0, 5 }, { COMCH_REC_DIRECT, BATCH + 1, 0, 5 },
		{ COMCH_REC_DIRECT, 4, 0, 5 }, { COMCH_REC_DIRECT, 1, 0, LEN + 1 },
		{ COMCH_REC_DIRECT, 1, 0, UINT32_MAX }, { COMCH_REC_STAGED, 1, 0, 5 },
		{ COMCH_REC_ABORT, 1, 0, 5 }, { 200, 1, 0, 5 },
	};
	struct comch_recv *rx = &c->u->c.rx;
	uint32_t i;

	post(c, 3);
	for (i = 0; i < RTE_DIM(recs); i++) {
		u_publish(c->u, 0, recs[i].kind, recs[i].count, recs[i].len);
		u_rec(c->u, 0)->head.imm_len = recs[i].imm_len;
		receives(c, 0, 3, 0, -ENOTSUP);
		T_EQ(rx->head, 0);
		T_EQ(rx->entry_head, 0);
		/* As it is before a record. */
		rx->rec_idx = rx->cur.head.count = 0;
	}
}

/* The first two of a record are delivered, before the third is found to be too long. */
MBUF_CASE(one_of_a_record_is_too_long)
{
	struct rte_comch_cpl cpl;

	post(c, 4);
	t_fill(c->u->direct.addr, length(0), 0);
	t_fill(c->u->direct.addr + LEN, length(1), 1);
	u_publish(c->u, 0, COMCH_REC_DIRECT, 4, length(0));
	u_rec(c->u, 0)->len[1] = length(1);
	u_rec(c->u, 0)->len[2] = LEN + 1;
	receives(c, 0, 4, 2, -ENOTSUP);
	receives(c, 2, 4, 0, -ENOTSUP);
	/* The receive of completions says so. */
	while (u_recv(c->u, &cpl))
		T_EQ(cpl.status, -ECANCELED);
	T_EQ(c->u->cons_faults, 1);
	T_EQ(c->u->last_fault, -EPROTO);
	c->u->cons_faults = 0;
}

MBUF_CASE(halted)
{
	struct rte_mbuf *m = frame(c, 0);

	post(c, 1);
	sends(c, &m, 1, 1, 0);
	comch_chan_cons_halt(&c->u->c, RTE_COMCH_HALT_STOP);
	receives(c, 0, 1, 0, -ENOTSUP);
	T_EQ(u_recv_all(c->u, 0), 1);
}

/* Freed one by one or together, each once: shared ones, chains, and those of several pools. */
MBUF_CASE(frees)
{
	struct rte_mbuf *mbufs[] = {
		frame(c, 0), frame(c, 1), a_chain(c), frame_of(c->other_pool, 0),
		frame_of(c->other_pool, 1), clone_of(frame(c, 4), c->other_pool), frame(c, 2),
		frame(c, 3),
	};
	struct rte_mbuf *shared = mbufs[1];

	rte_mbuf_refcnt_update(shared, 1);
	comch_mbuf_free_bulk(mbufs, RTE_DIM(mbufs));
	T_CHECK(rte_mempool_full(c->other_pool));
	T_EQ(rte_mempool_in_use_count(c->tx_pool), 1);
	T_EQ(rte_mbuf_refcnt_read(shared), 1);
	rte_pktmbuf_free(shared);
}
