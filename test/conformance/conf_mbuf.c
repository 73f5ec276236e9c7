/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* mbufs over producers and consumers. */

#include <stdlib.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_comch_mbuf.h>

#include "conf.h"

#define ROOM 2048

/** A pair, a consumer in mbuf mode and a producer. */
struct mflow {
	struct t_pair p;
	struct rte_mempool *rx_pool;
	struct rte_mempool *tx_pool;
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	uint32_t id;
	bool hands_over;               /* what is received is what was sent */
	const struct rte_mempool *from; /* the pool of received mbufs */
};

static struct rte_mempool *
shared_pool(const char *name, unsigned int n)
{
	struct rte_mempool *mp;

	mp = rte_comch_pktmbuf_pool_create(name, n, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM,
			SOCKET_ID_ANY);
	if (mp == NULL)
		T_FAIL("pool %s: %s", name, strerror(rte_errno));
	T_EQ(rte_mempool_avail_count(mp), n);
	return mp;
}

/* A registered pool whose data are not in shareable memory. */
static struct rte_mempool *
plain_pool(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create("plain", 63, 0, 0, ROOM, SOCKET_ID_ANY);

	T_CHECK(mp != NULL);
	T_CHECK(rte_comch_mempool_register(mp, 0) != NULL);
	return mp;
}

static void
plain_pool_free(struct rte_mempool *mp)
{
	T_EQ(rte_comch_mempool_unregister(mp), 0);
	rte_mempool_free(mp);
}

static void
mflow_open(struct mflow *m, unsigned int rx_mbufs, uint32_t queue)
{
	struct rte_comch_consumer_conf cc = { .queue_size = queue };
	struct rte_comch_dev_info info;

	t_pair_open(&m->p, NULL);
	m->rx_pool = shared_pool("rx", rx_mbufs);
	m->tx_pool = shared_pool("tx", 255);
	m->hands_over = (rte_comch_dev_info_get(m->p.dpu_dev, &info) == 0 &&
		(info.capa & RTE_COMCH_CAPA_HANDOVER) != 0);
	m->from = m->hands_over ? m->tx_pool : m->rx_pool;
	m->cons = t_consumer_new(m->p.sconn, &cc, rte_comch_mempool_mr(m->rx_pool));
	t_consumer_run(m->cons);
	m->prod = t_producer_new(m->p.cconn, NULL);
	m->id = rte_comch_consumer_id(m->cons);
	T_UNTIL(t_knows_consumer(m->p.host, m->p.cconn, m->id));
	T_EQ(rte_comch_consumer_rx_setup(m->cons, m->rx_pool), 0);
}

/* Are all mbufs of a pool that were sent back? They come with later calls at the latest. */
static bool
all_freed(struct mflow *m, const struct rte_mempool *mp)
{
	struct rte_mbuf *none;

	T_EQ(rte_comch_tx_burst(m->prod, m->id, &none, 0), 0);
	return rte_mempool_full(mp);
}

/* Send one mbuf, once there is room. */
static void
submit(struct mflow *m, struct rte_mbuf *mbuf)
{
	T_UNTIL(rte_comch_tx_burst(m->prod, m->id, &mbuf, 1) == 1);
}

/* Stop and destroy the producer: mbufs that it still had are back. out: the consumer's. */
static void
producer_end(struct mflow *m, unsigned int out)
{
	struct rte_mbuf *none;
	int rc = rte_comch_producer_stop(m->prod);

	/* A disconnect may have stopped it. */
	if (rc != 0 && rc != -EBADFD)
		T_EQ(rc, -EINPROGRESS);
	T_UNTIL(rte_comch_tx_burst(m->prod, m->id, &none, 0) == 0 &&
		rte_comch_producer_state(m->prod) == RTE_COMCH_STATE_IDLE);
	/* Nothing is left for done_burst(). */
	t_producer_end(m->prod);
	T_EQ(rte_mempool_in_use_count(m->tx_pool), out);
}

/* All mbufs are back where they came from. */
static bool
all_home(struct mflow *m)
{
	struct rte_mbuf *mbuf;

	if (rte_comch_rx_burst(m->cons, &mbuf, 1) == 1)
		rte_pktmbuf_free(mbuf);
	return rte_mempool_full(m->rx_pool) && rte_mempool_full(m->tx_pool);
}

static void
mflow_close(struct mflow *m)
{
	struct rte_mbuf *mbuf;

	producer_end(m, 0);
	if (rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_RUNNING)
		T_EQ(rte_comch_consumer_stop(m->cons), -EINPROGRESS);
	T_UNTIL(rte_comch_rx_burst(m->cons, &mbuf, 1) == 0 &&
		rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(all_home(m));
	t_consumer_end(m->cons);
	t_settle();
	T_EQ(rte_comch_pktmbuf_pool_free(m->rx_pool), 0);
	T_EQ(rte_comch_pktmbuf_pool_free(m->tx_pool), 0);
	t_pair_close(&m->p);
}

/* Another consumer in place of the first, which is stopped. */
static void
mflow_to(struct mflow *m, const struct rte_comch_consumer_conf *cc, struct rte_mempool *mp)
{
	struct rte_mbuf *mbuf;

	T_EQ(rte_comch_consumer_stop(m->cons), -EINPROGRESS);
	T_UNTIL(rte_comch_rx_burst(m->cons, &mbuf, 1) == 0 &&
		rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_IDLE);
	t_consumer_end(m->cons);
	m->cons = t_consumer_new(m->p.sconn, cc, rte_comch_mempool_mr(mp));
	t_consumer_run(m->cons);
	m->id = rte_comch_consumer_id(m->cons);
	T_UNTIL(t_knows_consumer(m->p.host, m->p.cconn, m->id));
	T_EQ(rte_comch_consumer_rx_setup(m->cons, mp), 0);
}

static struct rte_mbuf *
filled(struct rte_mempool *mp, uint32_t len, uint64_t seed)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(mp);
	char *data;

	T_CHECK(mbuf != NULL);
	data = rte_pktmbuf_append(mbuf, (uint16_t)len);
	T_CHECK(data != NULL);
	t_fill(data, len, seed);
	return mbuf;
}

static struct rte_mbuf *
receive(struct mflow *m)
{
	struct rte_mbuf *mbuf = NULL;

	T_UNTIL(rte_comch_rx_burst(m->cons, &mbuf, 1) == 1);
	T_CHECK(mbuf != NULL);
	return mbuf;
}

static void
check_mbuf(struct rte_mbuf *mbuf, const struct rte_mempool *mp, uint32_t len, uint64_t seed)
{
	T_CHECK(mbuf->pool == mp);
	T_EQ(mbuf->nb_segs, 1);
	T_EQ(rte_pktmbuf_pkt_len(mbuf), len);
	T_EQ(rte_pktmbuf_data_len(mbuf), len);
	T_EQ(rte_mbuf_refcnt_read(mbuf), 1);
	T_VERIFY(rte_pktmbuf_mtod(mbuf, void *), len, seed);
	rte_pktmbuf_free(mbuf);
}

void
conf_mbuf_pool(void)
{
	struct rte_comch_mr_info info;
	struct rte_mempool *mp, *plain;
	struct rte_mbuf *mbuf;

	mp = shared_pool("pool", 63);
	T_CHECK(rte_comch_mempool_mr(mp) != NULL);
	T_EQ(rte_comch_mem_info_get(rte_comch_mempool_mr(mp), &info), 0);
	T_EQ(info.kind, RTE_COMCH_MEM_SEALED);
	mbuf = rte_pktmbuf_alloc(mp);
	T_CHECK(mbuf != NULL);
	/* Data in shareable memory, headers not. */
	T_CHECK((uint8_t *)mbuf->buf_addr >= (uint8_t *)info.addr);
	T_CHECK((uint8_t *)mbuf->buf_addr + mbuf->buf_len <=
			(uint8_t *)info.addr + info.len);
	T_CHECK((uint8_t *)mbuf < (uint8_t *)info.addr ||
			(uint8_t *)mbuf >= (uint8_t *)info.addr + info.len);
	T_GE(rte_pktmbuf_tailroom(mbuf), ROOM);
	T_EQ(rte_comch_pktmbuf_pool_free(mp), -EBUSY);
	rte_pktmbuf_free(mbuf);
	T_EQ(rte_comch_pktmbuf_pool_free(NULL), -EINVAL);
	T_EQ(rte_comch_pktmbuf_pool_dma_map(NULL, 0), -EINVAL);
	T_EQ(rte_comch_pktmbuf_pool_dma_map(mp, 0), -EINVAL); /* no such port */
	T_EQ(rte_comch_pktmbuf_pool_free(mp), 0);
	plain = rte_pktmbuf_pool_create("plain", 63, 0, 0, ROOM, SOCKET_ID_ANY);
	T_CHECK(plain != NULL);
	T_EQ(rte_comch_pktmbuf_pool_free(plain), -EINVAL);
	T_EQ(rte_comch_pktmbuf_pool_dma_map(plain, 0), -EINVAL);
	rte_mempool_free(plain);
}

void
conf_mbuf_register(void)
{
	struct rte_mempool *mp;
	struct rte_comch_mr *mr;

	mp = rte_pktmbuf_pool_create("plain", 63, 0, 0, ROOM, SOCKET_ID_ANY);
	T_CHECK(mp != NULL);
	T_CHECK(rte_comch_mempool_mr(mp) == NULL);
	T_CHECK(rte_comch_mempool_mr(NULL) == NULL);
	T_NULL_ERRNO(rte_comch_mempool_register(NULL, 0), EINVAL);
	T_NULL_ERRNO(rte_comch_mempool_register(mp, UINT32_C(1) << 31), EINVAL);
	T_EQ(rte_comch_mempool_unregister(NULL), -EINVAL);
	T_EQ(rte_comch_mempool_unregister(mp), -ENOENT);
	mr = rte_comch_mempool_register(mp, 0);
	T_CHECK(mr != NULL);
	T_CHECK(rte_comch_mempool_mr(mp) == mr);
	T_NULL_ERRNO(rte_comch_mempool_register(mp, 0), EEXIST);
	T_EQ(rte_comch_mempool_unregister(mp), 0);
	T_CHECK(rte_comch_mempool_mr(mp) == NULL);
	T_EQ(rte_comch_mempool_unregister(mp), -ENOENT);
	rte_mempool_free(mp);
}

void
conf_mbuf_single(void)
{
	static const uint32_t lens[] = { 1, 60, 64, 65, 1000, 1500, ROOM };
	struct rte_mbuf *mbuf;
	struct mflow m;
	unsigned int i;

	mflow_open(&m, 63, 32);
	for (i = 0; i < 20 * RTE_DIM(lens); i++) {
		mbuf = filled(m.tx_pool, lens[i % RTE_DIM(lens)], i);
		submit(&m, mbuf);
		check_mbuf(receive(&m), m.from, lens[i % RTE_DIM(lens)], i);
	}
	mflow_close(&m);
}

void
conf_mbuf_bursts(void)
{
	struct rte_mbuf *out[32], *in[32];
	uint64_t sent = 0, got = 0;
	uint16_t i, n;
	struct mflow m;

	mflow_open(&m, 127, 64);
	while (got < 5000) {
		/* Those sent before may still be out. */
		T_UNTIL(rte_comch_tx_burst(m.prod, m.id, out, 0) == 0 &&
			rte_mempool_avail_count(m.tx_pool) >= 32);
		for (i = 0; i < 32; i++)
			out[i] = filled(m.tx_pool, 100 + (uint32_t)(sent + i) % 1000,
					sent + i);
		n = rte_comch_tx_burst(m.prod, m.id, out, 32);
		sent += n;
		rte_pktmbuf_free_bulk(out + n, 32U - n);
		n = rte_comch_rx_burst(m.cons, in, 32);
		for (i = 0; i < n; i++, got++)
			check_mbuf(in[i], m.from, 100 + (uint32_t)got % 1000, got);
		t_step_all();
	}
	while (got < sent)
		check_mbuf(receive(&m), m.from, 100 + (uint32_t)got % 1000, got), got++;
	mflow_close(&m);
}

void
conf_mbuf_segments(void)
{
	struct rte_mbuf *head, *mbuf;
	struct rte_mempool *plain;
	struct mflow m;
	unsigned int i;

	mflow_open(&m, 63, 32);
	plain = plain_pool();
	for (i = 0; i < 10; i++) {
		/* Segments of two pools. */
		head = filled(m.tx_pool, 100, 1);
		T_EQ(rte_pktmbuf_chain(head, filled(plain, 7, 2)), 0);
		T_EQ(rte_pktmbuf_chain(head, filled(m.tx_pool, 1000, 3)), 0);
		submit(&m, head);
		mbuf = receive(&m);
		T_EQ(rte_pktmbuf_pkt_len(mbuf), 1107);
		T_EQ(mbuf->nb_segs, 1);
		T_VERIFY(rte_pktmbuf_mtod(mbuf, uint8_t *), 100, 1);
		T_VERIFY(rte_pktmbuf_mtod(mbuf, uint8_t *) + 100, 7, 2);
		T_VERIFY(rte_pktmbuf_mtod(mbuf, uint8_t *) + 107, 1000, 3);
		rte_pktmbuf_free(mbuf);
	}
	T_UNTIL(all_freed(&m, plain));
	mflow_close(&m);
	plain_pool_free(plain);
}

enum { CHAINS = 11, SEGS_SHORT = 30, SEGS_LONG = 300, SEG_LEN = 5 };

static struct rte_mbuf *
chain(struct rte_mempool *mp, unsigned int nb_segs, uint64_t seed)
{
	struct rte_mbuf *head = filled(mp, SEG_LEN, seed);
	unsigned int i;

	for (i = 1; i < nb_segs; i++)
		T_EQ(rte_pktmbuf_chain(head, filled(mp, SEG_LEN, seed + i)), 0);
	return head;
}

/* Send what is left of the burst, and check one chain. Returns whether it was the last. */
static bool
pass_chain(struct mflow *m, struct rte_mbuf **out, uint16_t *sent, uint16_t *got)
{
	struct rte_mbuf *mbuf;
	unsigned int i, segs;

	*sent += rte_comch_tx_burst(m->prod, m->id, out + *sent, (uint16_t)(CHAINS - *sent));
	if (rte_comch_rx_burst(m->cons, &mbuf, 1) == 0)
		return false;
	segs = *got == CHAINS - 1 ? SEGS_LONG : SEGS_SHORT;
	T_EQ(mbuf->nb_segs, 1);
	T_EQ(rte_pktmbuf_pkt_len(mbuf), segs * SEG_LEN);
	for (i = 0; i < segs; i++)
		T_VERIFY(rte_pktmbuf_mtod(mbuf, uint8_t *) + i * SEG_LEN, SEG_LEN, *got + i);
	rte_pktmbuf_free(mbuf);
	return ++*got == CHAINS;
}

/* Chains in one burst that together have more segments than a producer keeps; the last one
 * alone has more.
 */
void
conf_mbuf_many_segments(void)
{
	struct rte_mbuf *out[CHAINS];
	struct rte_mempool *plain;
	uint16_t i, sent, got;
	unsigned int round;
	struct mflow m;

	mflow_open(&m, 63, 32);
	plain = rte_pktmbuf_pool_create("plain", 1023, 0, 0, ROOM, SOCKET_ID_ANY);
	T_CHECK(plain != NULL);
	T_CHECK(rte_comch_mempool_register(plain, 0) != NULL);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < CHAINS; i++)
			out[i] = chain(plain, i == CHAINS - 1 ? SEGS_LONG : SEGS_SHORT, i);
		sent = got = 0;
		T_UNTIL(pass_chain(&m, out, &sent, &got));
		T_EQ(sent, CHAINS);
		T_UNTIL(all_freed(&m, plain));
	}
	mflow_close(&m);
	plain_pool_free(plain);
}

/* A producer has sent mbufs of a pool whose registration ends and begins again. */
void
conf_mbuf_registered_again(void)
{
	struct rte_mempool *plain;
	struct t_mem other[5];
	struct mflow m;
	unsigned int i;

	mflow_open(&m, 63, 32);
	plain = rte_pktmbuf_pool_create("plain", 63, 0, 0, ROOM, SOCKET_ID_ANY);
	T_CHECK(plain != NULL);
	for (i = 0; i < RTE_DIM(other); i++) {
		T_CHECK(rte_comch_mempool_register(plain, 0) != NULL);
		submit(&m, filled(plain, 1000, i));
		check_mbuf(receive(&m), m.hands_over ? plain : m.from, 1000, i);
		T_UNTIL(all_freed(&m, plain));
		T_UNTIL(rte_comch_mempool_unregister(plain) == 0);
		/* The next one is not at the same place. */
		t_mem_new(&other[i], RTE_COMCH_MEM_HEAP, 4096, 0);
	}
	for (i = 0; i < RTE_DIM(other); i++)
		t_mem_free(&other[i]);
	mflow_close(&m);
	rte_mempool_free(plain);
}

/* Overwrite what was freed, and the stack: neither may be read any more. */
static void
scribble(struct rte_mempool *mp)
{
	uint8_t junk[32 * 1024];
	struct rte_mbuf *mbufs[64];
	unsigned int n = RTE_MIN(rte_mempool_avail_count(mp), RTE_DIM(mbufs)), i;

	memset(junk, 0x5a, sizeof(junk));
	T_EQ(t_verify(junk, 0, 0), -1);
	T_EQ(rte_pktmbuf_alloc_bulk(mp, mbufs, n), 0);
	for (i = 0; i < n; i++)
		memset(rte_pktmbuf_append(mbufs[i], ROOM), 0x5a, ROOM);
	rte_pktmbuf_free_bulk(mbufs, n);
}

/* A chain that is longer than the staging ring: it is read after the call returned. */
void
conf_mbuf_long_chain(void)
{
	enum { SEGS = 20, LEN = 2000 };
	struct rte_comch_consumer_conf cc = {
		.queue_size = 4, .staging_size = 4096, .flags = RTE_COMCH_CONSUMER_F_SNAPSHOT,
	};
	struct rte_mempool *big;
	struct rte_mbuf *head, *mbuf;
	struct mflow m;
	unsigned int i, round;

	mflow_open(&m, 63, 32);
	big = rte_comch_pktmbuf_pool_create("big", 15, 0, 0, 48 * 1024, SOCKET_ID_ANY);
	T_CHECK(big != NULL);
	mflow_to(&m, &cc, big);
	for (round = 0; round < 3; round++) {
		head = filled(m.tx_pool, LEN, 0);
		for (i = 1; i < SEGS; i++)
			T_EQ(rte_pktmbuf_chain(head, filled(m.tx_pool, LEN, i)), 0);
		submit(&m, head);
		scribble(m.tx_pool);
		T_UNTIL(all_freed(&m, m.tx_pool) || rte_comch_rx_burst(m.cons, &mbuf, 1) == 1);
		if (rte_mempool_full(m.tx_pool))
			mbuf = receive(&m);
		T_EQ(rte_pktmbuf_pkt_len(mbuf), SEGS * LEN);
		for (i = 0; i < SEGS; i++)
			T_VERIFY(rte_pktmbuf_mtod(mbuf, uint8_t *) + i * LEN, LEN, i);
		rte_pktmbuf_free(mbuf);
		T_UNTIL(all_freed(&m, m.tx_pool));
	}
	mflow_close(&m);
	T_EQ(rte_comch_pktmbuf_pool_free(big), 0);
}

/* Of mbufs that are handed over, as many as the queue has places are under way. */
static void
queue_full(struct mflow *m, unsigned int places)
{
	struct rte_mbuf *mbuf;
	unsigned int i;

	for (i = 0; i < places; i++)
		submit(m, filled(m->tx_pool, 100, i));
	mbuf = filled(m->tx_pool, 100, i);
	T_NEVER(rte_comch_tx_burst(m->prod, m->id, &mbuf, 1) != 0);
	check_mbuf(receive(m), m->from, 100, 0);
	submit(m, mbuf);
	for (i = 1; i <= places; i++)
		check_mbuf(receive(m), m->from, 100, i);
}

/* The application keeps what it received: refills are cut short, then go on. */
void
conf_mbuf_pool_exhausted(void)
{
	enum { NB = 15 };
	struct rte_comch_consumer_stats st;
	struct rte_mbuf *kept[NB], *mbuf;
	struct mflow m;
	unsigned int i;

	mflow_open(&m, NB, 8);
	if (m.hands_over) {
		queue_full(&m, 8);
		mflow_close(&m);
		return;
	}
	for (i = 0; i < NB; i++) {
		mbuf = filled(m.tx_pool, 100, i);
		submit(&m, mbuf);
		kept[i] = receive(&m);
	}
	mbuf = filled(m.tx_pool, 100, 100);
	T_NEVER(rte_comch_tx_burst(m.prod, m.id, &mbuf, 1) != 0);
	T_EQ(rte_comch_rx_burst(m.cons, kept, 0), 0);
	T_EQ(rte_comch_consumer_stats_get(m.cons, &st), 0);
	T_GE(st.no_mbuf, 1);
	T_EQ(st.msgs, NB);
	for (i = 0; i < NB; i++)
		check_mbuf(kept[i], m.from, 100, i);
	/* The next receive posts again. */
	T_UNTIL(rte_comch_rx_burst(m.cons, kept, 1) == 0 &&
			rte_comch_tx_burst(m.prod, m.id, &mbuf, 1) == 1);
	check_mbuf(receive(&m), m.from, 100, 100);
	mflow_close(&m);
}

void
conf_mbuf_rx_setup_errors(void)
{
	struct rte_mempool *mp, *plain;
	struct rte_comch_consumer *c;
	struct rte_comch_cpl cpl;
	struct t_pair p;

	t_pair_open(&p, NULL);
	mp = shared_pool("rx", 63);
	plain = rte_pktmbuf_pool_create("plain", 63, 0, 0, ROOM, SOCKET_ID_ANY);
	T_CHECK(plain != NULL);
	T_EQ(rte_comch_consumer_rx_setup(NULL, mp), -EINVAL);
	c = t_consumer_new(p.sconn, NULL, rte_comch_mempool_mr(mp));
	T_EQ(rte_comch_consumer_rx_setup(c, mp), -EBADFD);
	t_consumer_run(c);
	T_EQ(rte_comch_consumer_rx_setup(c, NULL), -EINVAL);
	T_EQ(rte_comch_consumer_rx_setup(c, plain), -EINVAL);
	T_EQ(rte_comch_consumer_post_burst(c, &(struct rte_comch_buf){ 0 }, 1), 1);
	T_EQ(rte_comch_consumer_rx_setup(c, mp), -EBADFD);
	T_EQ(rte_comch_consumer_stop(c), -EINPROGRESS);
	t_recv(c, &cpl);
	T_EQ(cpl.status, -ECANCELED);
	T_EQ(rte_comch_pktmbuf_pool_free(mp), -EBUSY);
	t_consumer_end(c);
	T_EQ(rte_comch_pktmbuf_pool_free(mp), 0);
	rte_mempool_free(plain);
	t_pair_close(&p);
}

/* What can never be sent is taken, freed and counted. */
void
conf_mbuf_tx_errors(void)
{
	struct rte_comch_producer_stats st;
	struct rte_mempool *plain, *big;
	struct rte_mbuf *mbuf;
	struct mflow m;

	mflow_open(&m, 63, 32);
	plain = rte_pktmbuf_pool_create("plain", 63, 0, 0, ROOM, SOCKET_ID_ANY);
	big = rte_comch_pktmbuf_pool_create("big", 15, 0, 0, 16384, SOCKET_ID_ANY);
	T_CHECK(plain != NULL && big != NULL);
	submit(&m, filled(plain, 10, 1)); /* not registered, which handing over does not need */
	if (m.hands_over)
		check_mbuf(receive(&m), plain, 10, 1);
	submit(&m, filled(big, 10000, 1)); /* too long */
	mbuf = filled(m.tx_pool, 10, 1); /* nobody */
	T_UNTIL(rte_comch_tx_burst(m.prod, 4711, &mbuf, 1) == 1);
	T_UNTIL(all_freed(&m, plain) && all_freed(&m, big) && all_freed(&m, m.tx_pool));
	t_settle();
	T_EQ(rte_comch_producer_stats_get(m.prod, &st), 0);
	T_EQ(st.errors, 3u - m.hands_over);
	T_EQ(st.msgs, 0u + m.hands_over);
	submit(&m, filled(m.tx_pool, 10, 5));
	check_mbuf(receive(&m), m.from, 10, 5);
	mflow_close(&m);
	rte_mempool_free(plain);
	T_EQ(rte_comch_pktmbuf_pool_free(big), 0);
}

/* An mbuf with metadata of its own, and flags. */
static struct rte_mbuf *
described(struct mflow *m, uint64_t seed, uint64_t flags)
{
	struct rte_mbuf *mbuf = filled(m->tx_pool, 100, seed);

	mbuf->ol_flags |= RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_TX_IPV4 | flags;
	mbuf->vlan_tci = 7;
	mbuf->hash.rss = (uint32_t)seed;
	mbuf->l2_len = 14;
	return mbuf;
}

/* All of it is there, or none. */
static void
check_metadata(struct mflow *m, uint64_t seed, uint64_t flags)
{
	struct rte_mbuf *mbuf = receive(m);
	/* Not where the data is. */
	const uint64_t got = mbuf->ol_flags & ~RTE_MBUF_F_EXTERNAL;

	if (m->hands_over) {
		T_EQ(got, RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_TX_IPV4 | flags);
		T_EQ(mbuf->vlan_tci, 7);
		T_EQ(mbuf->hash.rss, seed);
		T_EQ(mbuf->l2_len, 14);
	} else {
		T_EQ(got, 0);
	}
	check_mbuf(mbuf, m->from, 100, seed);
}

/*
 * A device that hands over keeps the metadata, also requests for offloads. Others carry the
 * data, and refuse what asks for work: it is taken, freed and counted, the rest is sent.
 */
void
conf_mbuf_metadata(void)
{
	static const uint64_t flags[] = {
		RTE_MBUF_F_TX_UDP_CKSUM, 0, RTE_MBUF_F_TX_TCP_SEG, RTE_MBUF_F_TX_VLAN, 0, 0,
		RTE_MBUF_F_TX_IP_CKSUM,
	};
	struct rte_mbuf *mbufs[RTE_DIM(flags)];
	struct rte_comch_producer_stats st;
	uint16_t i, nb_refused = 0, sent = 0;
	struct mflow m;

	mflow_open(&m, 63, 32);
	for (i = 0; i < RTE_DIM(flags); i++) {
		mbufs[i] = described(&m, i, flags[i]);
		nb_refused += !m.hands_over && flags[i] != 0;
	}
	T_UNTIL((sent += rte_comch_tx_burst(m.prod, m.id, &mbufs[sent],
			(uint16_t)(RTE_DIM(flags) - sent))) == RTE_DIM(flags));
	for (i = 0; i < RTE_DIM(flags); i++)
		if (m.hands_over || flags[i] == 0)
			check_metadata(&m, i, flags[i]);
	T_UNTIL(all_freed(&m, m.tx_pool));
	t_settle();
	T_EQ(rte_comch_producer_stats_get(m.prod, &st), 0);
	T_EQ(st.errors, nb_refused);
	T_EQ(st.offload_errors, nb_refused);
	T_EQ(st.msgs, RTE_DIM(flags) - nb_refused);
	/* A producer that was stopped takes nothing. */
	T_EQ(rte_comch_producer_stop(m.prod), 0);
	mbufs[0] = described(&m, 0, RTE_MBUF_F_TX_UDP_CKSUM);
	T_EQ(rte_comch_tx_burst(m.prod, m.id, mbufs, 1), 0);
	rte_pktmbuf_free(mbufs[0]);
	mflow_close(&m);
}

/* What an earlier use has left in an mbuf is not in the message that it has next. */
void
conf_mbuf_reused(void)
{
	struct rte_mbuf *mbuf;
	struct mflow m;
	uint64_t i;

	mflow_open(&m, 31, 16);
	for (i = 0; i < 100; i++) {
		submit(&m, filled(m.tx_pool, 100, i));
		mbuf = receive(&m);
		T_EQ(mbuf->ol_flags & ~RTE_MBUF_F_EXTERNAL, 0);
		T_EQ(mbuf->packet_type, 0);
		T_EQ(mbuf->vlan_tci, 0);
		T_EQ(mbuf->port, RTE_MBUF_PORT_INVALID);
		T_EQ(rte_pktmbuf_headroom(mbuf), RTE_PKTMBUF_HEADROOM);
		mbuf->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_RSS_HASH;
		mbuf->packet_type = RTE_PTYPE_L2_ETHER;
		mbuf->vlan_tci = 7;
		mbuf->port = 3;
		T_CHECK(rte_pktmbuf_adj(mbuf, 50) != NULL);
		rte_pktmbuf_free(mbuf);
	}
	mflow_close(&m);
}

static void
send_another(void *addr, void *arg)
{
	struct mflow *m = arg;
	struct rte_mbuf *mbuf = filled(m->tx_pool, 65, 1);

	T_CHECK(addr != NULL);
	submit(m, mbuf);
}

/* A program that sends from the function that frees its external memory. */
void
conf_mbuf_send_within_free(void)
{
	struct rte_mbuf *mbuf, *room;
	struct rte_mbuf_ext_shared_info shinfo = { .free_cb = send_another };
	struct rte_mempool *plain;
	struct mflow m;

	mflow_open(&m, 63, 32);
	plain = plain_pool();
	/* Its data are in the memory of its pool: where another mbuf has its room. */
	room = filled(plain, 64, 0);
	mbuf = rte_pktmbuf_alloc(plain);
	T_CHECK(mbuf != NULL);
	shinfo.fcb_opaque = &m;
	rte_mbuf_ext_refcnt_set(&shinfo, 1);
	rte_pktmbuf_attach_extbuf(mbuf, rte_pktmbuf_mtod(room, void *), 0, 64, &shinfo);
	mbuf->data_len = 64;
	mbuf->pkt_len = 64;
	submit(&m, mbuf);
	mbuf = receive(&m);
	T_EQ(rte_pktmbuf_pkt_len(mbuf), 64);
	rte_pktmbuf_free(mbuf);
	T_UNTIL(all_freed(&m, plain) || rte_mbuf_ext_refcnt_read(&shinfo) == 0);
	mbuf = receive(&m);
	T_EQ(rte_pktmbuf_pkt_len(mbuf), 65);
	rte_pktmbuf_free(mbuf);
	rte_pktmbuf_free(room);
	T_UNTIL(all_freed(&m, plain));
	mflow_close(&m);
	plain_pool_free(plain);
}

/* Mbufs of all sorts in one burst arrive in its order, and are freed. */
void
conf_mbuf_mixed(void)
{
	uint32_t lens[] = { 64, 100, 65, 107, 64, 0, 33, 1000, 64 };
	struct rte_mbuf *mbufs[RTE_DIM(lens)], *of;
	struct rte_mempool *plain;
	uint8_t copy[1000];
	uint16_t i, sent = 0;
	struct mflow m;

	mflow_open(&m, 63, 32);
	plain = plain_pool();
	for (i = 0; i < RTE_DIM(lens); i++)
		mbufs[i] = filled(m.tx_pool, lens[i], i);
	/* A clone, a chain, one of another pool, and a shared one. */
	rte_pktmbuf_free(mbufs[1]);
	of = filled(plain, lens[1], 1);
	mbufs[1] = rte_pktmbuf_clone(of, plain);
	T_CHECK(mbufs[1] != NULL);
	rte_pktmbuf_free(of);
	T_EQ(rte_pktmbuf_trim(mbufs[3], 7), 0);
	T_EQ(rte_pktmbuf_chain(mbufs[3], filled(plain, 7, 30)), 0);
	rte_pktmbuf_free(mbufs[4]);
	mbufs[4] = filled(plain, lens[4], 4);
	rte_mbuf_refcnt_update(mbufs[6], 1);
	T_UNTIL((sent += rte_comch_tx_burst(m.prod, m.id, &mbufs[sent],
			(uint16_t)(RTE_DIM(lens) - sent))) == RTE_DIM(lens));
	for (i = 0; i < RTE_DIM(lens); i++) {
		of = receive(&m);
		T_EQ(rte_pktmbuf_pkt_len(of), lens[i]);
		if (lens[i] > 0)
			T_VERIFY(rte_pktmbuf_read(of, 0, RTE_MIN(lens[i], 100u), copy),
				RTE_MIN(lens[i], 100u), i);
		if (i == 3)
			T_VERIFY(rte_pktmbuf_read(of, 100, 7, copy), 7, 30);
		rte_pktmbuf_free(of);
	}
	T_UNTIL(all_freed(&m, plain) && rte_mbuf_refcnt_read(mbufs[6]) == 1);
	rte_pktmbuf_free(mbufs[6]);
	mflow_close(&m);
	plain_pool_free(plain);
}

/* After a disconnect the posted mbufs go home. */
void
conf_mbuf_disconnect(void)
{
	struct mflow m;
	unsigned int i;

	mflow_open(&m, 63, 32);
	for (i = 0; i < 3; i++)
		submit(&m, filled(m.tx_pool, 100, i));
	/* Freed: they are done, and so published. */
	T_UNTIL(m.hands_over || all_freed(&m, m.tx_pool));
	producer_end(&m, m.hands_over ? 3 : 0);
	T_EQ(rte_comch_client_stop(m.p.client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(m.p.client) == RTE_COMCH_STATE_IDLE);
	/* What was published goes first. */
	for (i = 0; i < 3; i++)
		check_mbuf(receive(&m), m.from, 100, i);
	T_UNTIL(all_home(&m) &&
		rte_comch_consumer_state(m.cons) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_count(m.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	t_consumer_end(m.cons);
	t_settle();
	T_EQ(rte_comch_pktmbuf_pool_free(m.rx_pool), 0);
	T_EQ(rte_comch_pktmbuf_pool_free(m.tx_pool), 0);
	t_pair_close(&m.p);
}
