/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tests of the core on an asynchronous driver: the driver in memory with a delay. */

#include <criterion/criterion.h>

#include <rte_comch_mbuf.h>

#include "t_pair.h"

#include "fake_private.h"

static const struct t_driver driver_fake = { .name = "comch_fake" };
static const struct t_pair_conf slow = { .dpu_args = ",delay=20", .host_args = ",delay=20" };

static void
start(void)
{
	t_driver = &driver_fake;
	t_eal_start(1);
}

static void
stop(void)
{
	T_EQ(rte_comch_dev_count(), 0);
	t_eal_stop();
	t_dir_remove();
}

TestSuite(async, .init = start, .fini = stop);

/* A send completes after its payload was read, which is not read again. */
Test(async, payload_is_read_before_done)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, &slow);
	t_flow_open(&f, &p, NULL);
	t_fill(f.src.addr, 64, 1);
	T_EQ(t_post(&f, 0, 64, 1), 1);
	t_submit(&f, 0, 64, 1);
	/* The payload is not read yet: what is written now is sent. */
	t_fill(f.src.addr, 64, 2);
	t_done(f.prod, &cpl);
	T_EQ(cpl.status, 0);
	t_fill(f.src.addr, 64, 3);
	t_recv(f.cons, &cpl);
	T_VERIFY(f.dst.addr, 64, 2);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Memory of any kind is exported: no copy, no staging. */
Test(async, heap_is_shown)
{
	struct t_flow_conf fc = { .kind = RTE_COMCH_MEM_HEAP };
	struct rte_comch_consumer_stats st;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, &slow);
	t_flow_open(&f, &p, &fc);
	t_flow_once(&f, 5000, 1);
	T_EQ(rte_comch_consumer_stats_get(f.cons, &st), 0);
	T_EQ(st.staged, 0);
	T_EQ(st.copies, 0);
	t_flow_close(&f);
	t_pair_close(&p);
}

/*
 * A consumer stops with messages in flight. Its final position says which of them
 * arrived; its memory is not written after it is IDLE.
 */
static void
stop_in_flight(unsigned int steps)
{
	enum { NB = 8 };
	unsigned int i, whole = 0, sent = 0;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, &slow);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < NB; i++)
		T_EQ(t_post(&f, i * 64, 64, i), 1);
	t_settle();
	for (i = 0; i < NB; i++) {
		t_submit(&f, i * 64, 64, i);
		if (i == NB / 2)
			while (steps-- > 0)
				t_step_all();
	}
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	for (i = 0; i < NB; i++) {
		t_recv(f.cons, &cpl);
		T_EQ(cpl.cookie, i);
		whole += cpl.status == 0;
		if (i >= whole)
			T_EQ(cpl.status, -ECANCELED);
	}
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	memset(f.dst.addr, 0xee, NB * 64);
	for (i = 0; i < NB; i++) {
		t_done(f.prod, &cpl);
		T_EQ(cpl.cookie, i);
		sent += cpl.status == 0;
		T_EQ(cpl.status, i < whole ? 0 : -ENOENT);
	}
	T_EQ(sent, whole);
	t_settle();
	for (i = 0; i < NB * 64; i++)
		T_EQ(f.dst.addr[i], 0xee);
	t_flow_close(&f);
	t_pair_close(&p);
}

Test(async, stop_of_consumer)
{
	unsigned int steps;

	for (steps = 0; steps < 30; steps += 3)
		stop_in_flight(steps);
}

static bool
is_idle(const struct rte_comch_consumer *cons)
{
	return rte_comch_consumer_state(cons) == RTE_COMCH_STATE_IDLE;
}

/*
 * A consumer is stopped while the driver shows its memory, makes its queue, connects it,
 * or hides the memory for an earlier stop. It is IDLE when nothing is shown any more, and
 * starts again.
 */
Test(async, stop_in_each_step)
{
	unsigned int steps, i, nb_started = 0;
	struct rte_comch_consumer *cons;
	struct t_mem mem;
	struct t_pair p;

	t_pair_open(&p, &slow);
	t_mem_new(&mem, RTE_COMCH_MEM_HEAP, 4096, 0);
	cons = t_consumer_new(p.sconn, NULL, mem.mr);
	for (steps = 0; nb_started < 3; steps += 2) {
		T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
		for (i = 0; i < steps; i++)
			t_step_all();
		nb_started += rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING;
		T_EQ(rte_comch_consumer_stop(cons), -EINPROGRESS);
		T_UNTIL(is_idle(cons));
		T_EQ(fake_mems_shown(), 0);
	}
	t_consumer_run(cons);
	T_EQ(fake_mems_shown(), 1);
	t_consumer_end(cons);
	t_mem_free(&mem);
	t_pair_close(&p);
}

/* A consumer starts with memory that is being hidden: it is shown again, afterwards. */
Test(async, shown_again_while_hidden)
{
	struct rte_comch_consumer *first, *second;
	struct t_mem mem;
	unsigned int i;
	struct t_pair p;

	t_pair_open(&p, &slow);
	t_mem_new(&mem, RTE_COMCH_MEM_HEAP, 4096, 0);
	first = t_consumer_new(p.sconn, NULL, mem.mr);
	second = t_consumer_new(p.sconn, NULL, mem.mr);
	t_consumer_run(first);
	T_EQ(rte_comch_consumer_stop(first), -EINPROGRESS);
	for (i = 0; i < 3; i++)
		t_step_all();
	/* The driver hides it. */
	T_CHECK(!is_idle(first));
	T_EQ(rte_comch_consumer_start(second), -EINPROGRESS);
	T_UNTIL(is_idle(first));
	T_UNTIL(rte_comch_consumer_state(second) == RTE_COMCH_STATE_RUNNING);
	T_EQ(fake_mems_shown(), 1);
	T_EQ(rte_comch_consumer_stop(second), -EINPROGRESS);
	T_UNTIL(is_idle(second));
	T_EQ(fake_mems_shown(), 0);
	t_consumer_end(first);
	t_consumer_end(second);
	t_mem_free(&mem);
	t_pair_close(&p);
}

/* The link breaks at each of the frames that a start needs: the driver was at work. */
Test(async, end_in_each_step)
{
	struct rte_comch_consumer *cons;
	unsigned int frame;
	char args[64];
	struct t_mem mem;
	struct t_pair p;

	t_mem_new(&mem, RTE_COMCH_MEM_HEAP, 4096, RTE_COMCH_MEM_F_SHARED);
	for (frame = 4; frame < 12; frame++) {
		snprintf(args, sizeof(args), ",delay=20,drop_at=%u", frame);
		t_pair_open(&p, &(struct t_pair_conf){
			.dpu_args = args, .host_args = ",delay=20" });
		cons = t_consumer_new(p.sconn, NULL, mem.mr);
		T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
		T_UNTIL(is_idle(cons) ||
			rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING);
		if (is_idle(cons))
			T_EQ(fake_mems_shown(), 0);
		t_consumer_end(cons);
		T_EQ(fake_mems_shown(), 0);
		t_pair_close(&p);
	}
	t_mem_free(&mem);
}

/* A producer is IDLE after all its sends have completed. */
Test(async, stop_of_producer)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, &slow);
	t_flow_open(&f, &p, NULL);
	T_EQ(t_post(&f, 0, 64, 1), 1);
	t_submit(&f, 0, 64, 1);
	T_EQ(rte_comch_producer_stop(f.prod), -EINPROGRESS);
	T_EQ(rte_comch_producer_destroy(f.prod), -EBUSY);
	T_UNTIL(t_state_is(f.prod_node, f.prod, RTE_COMCH_STATE_IDLE));
	t_done(f.prod, &cpl);
	T_EQ(cpl.status, 0);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.status, 0);
	t_flow_close(&f);
	t_pair_close(&p);
}

/** A consumer in mbuf mode and a producer. */
struct mflow {
	struct t_pair p;
	struct rte_mempool *mp;
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	uint32_t id;
};

static void
mflow_open(struct mflow *m, const struct t_pair_conf *conf)
{
	t_pair_open(&m->p, conf);
	m->mp = rte_comch_pktmbuf_pool_create("pool", 127, 0, 0, 2048, SOCKET_ID_ANY);
	T_CHECK(m->mp != NULL);
	m->cons = t_consumer_new(m->p.sconn, &(struct rte_comch_consumer_conf){
		.queue_size = 16 }, rte_comch_mempool_mr(m->mp));
	t_consumer_run(m->cons);
	m->prod = t_producer_new(m->p.cconn, NULL);
	m->id = rte_comch_consumer_id(m->cons);
	T_UNTIL(t_knows_consumer(m->p.host, m->p.cconn, m->id));
	T_EQ(rte_comch_consumer_rx_setup(m->cons, m->mp), 0);
	t_settle();
}

/* Receive the rest from a consumer that stops, until it is IDLE. */
static bool
cons_is_idle(struct mflow *m)
{
	struct rte_mbuf *mbuf;

	if (rte_comch_rx_burst(m->cons, &mbuf, 1) == 1)
		rte_pktmbuf_free(mbuf);
	return rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_IDLE;
}

static void
mflow_close(struct mflow *m)
{
	if (m->prod != NULL)
		t_producer_end(m->prod);
	T_EQ(rte_comch_consumer_stop(m->cons), -EINPROGRESS);
	T_UNTIL(cons_is_idle(m));
	t_consumer_end(m->cons);
	t_settle();
	T_CHECK(rte_mempool_full(m->mp));
	T_EQ(rte_comch_pktmbuf_pool_free(m->mp), 0);
	t_pair_close(&m->p);
}

static struct rte_mbuf *
filled(struct mflow *m, uint32_t len, uint64_t seed)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(m->mp);

	T_CHECK(mbuf != NULL);
	t_fill(rte_pktmbuf_append(mbuf, (uint16_t)len), len, seed);
	return mbuf;
}

static void
receive(struct mflow *m, uint32_t len, uint64_t seed)
{
	struct rte_mbuf *mbuf;

	T_UNTIL(rte_comch_rx_burst(m->cons, &mbuf, 1) == 1);
	T_EQ(mbuf->pkt_len, len);
	T_VERIFY(rte_pktmbuf_mtod(mbuf, void *), len, seed);
	rte_pktmbuf_free(mbuf);
}

/* mbufs are freed after their sends have completed: by a later burst, or by destroy. */
Test(async, mbufs_until_done)
{
	struct rte_mbuf *mbuf, *none;
	unsigned int before, i;
	struct mflow m;

	mflow_open(&m, &slow);
	before = rte_mempool_avail_count(m.mp);
	mbuf = filled(&m, 100, 1);
	/* A chain, whose segment list must stay valid until the send has completed. */
	T_EQ(rte_pktmbuf_chain(mbuf, filled(&m, 7, 2)), 0);
	T_UNTIL(rte_comch_tx_burst(m.prod, m.id, &mbuf, 1) == 1);
	T_EQ(rte_mempool_avail_count(m.mp), before - 2);
	T_UNTIL(rte_comch_tx_burst(m.prod, m.id, &none, 0) == 0 &&
		rte_mempool_avail_count(m.mp) == before);
	T_UNTIL(rte_comch_rx_burst(m.cons, &mbuf, 1) == 1);
	T_VERIFY(rte_pktmbuf_mtod(mbuf, uint8_t *), 100, 1);
	T_VERIFY(rte_pktmbuf_mtod(mbuf, uint8_t *) + 100, 7, 2);
	rte_pktmbuf_free(mbuf);
	t_settle();
	before = rte_mempool_avail_count(m.mp);
	for (i = 0; i < 5; i++) {
		mbuf = filled(&m, 100, i);
		T_UNTIL(rte_comch_tx_burst(m.prod, m.id, &mbuf, 1) == 1);
	}
	T_LT(rte_mempool_avail_count(m.mp), before);
	T_EQ(rte_comch_producer_stop(m.prod), -EINPROGRESS);
	T_UNTIL(rte_comch_producer_state(m.prod) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_producer_destroy(m.prod), 0);
	m.prod = NULL;
	T_EQ(rte_mempool_avail_count(m.mp), before);
	for (i = 0; i < 5; i++)
		receive(&m, 100, i);
	mflow_close(&m);
}

/* A pool of exactly one burst never runs dry: no further send is needed to free mbufs. */
Test(async, mbufs_one_burst)
{
	enum { BURST = 16 };
	struct rte_mbuf *mbufs[BURST];
	struct rte_mempool *all, *one;
	unsigned int i, sent, round;
	struct mflow m;

	mflow_open(&m, &slow);
	all = m.mp;
	one = rte_comch_pktmbuf_pool_create("one", BURST, 0, 0, 2048, SOCKET_ID_ANY);
	T_CHECK(one != NULL);
	T_EQ(rte_comch_tx_done_cleanup(NULL, 0), -EINVAL);
	T_EQ(rte_comch_tx_done_cleanup(m.prod, 0), 0);
	for (round = 0; round < 20; round++) {
		m.mp = one;
		for (i = 0; i < BURST; i++)
			mbufs[i] = filled(&m, 100, i);
		m.mp = all;
		for (sent = 0; sent < BURST;) {
			T_UNTIL((i = rte_comch_tx_burst(m.prod, m.id, &mbufs[sent],
				(uint16_t)(BURST - sent))) > 0);
			sent += i;
		}
		for (i = 0; i < BURST; i++)
			receive(&m, 100, i);
		t_settle();
		/* Completed, and not free yet: the last send is long ago. */
		T_LT(rte_mempool_avail_count(one), BURST);
		i = rte_mempool_avail_count(one);
		T_EQ(rte_comch_tx_done_cleanup(m.prod, 1), 1);
		T_EQ(rte_mempool_avail_count(one), i + 1);
		T_EQ(rte_comch_tx_done_cleanup(m.prod, 0), (int)(BURST - i - 1));
		T_CHECK(rte_mempool_full(one));
	}
	mflow_close(&m);
	T_EQ(rte_comch_pktmbuf_pool_free(one), 0);
}

/* A driver's own bursts of mbufs are used if it has them. */
Test(async, mbufs_of_the_driver)
{
	const struct t_pair_conf conf = {
		.dpu_args = ",delay=3,mbufs=1", .host_args = ",delay=3,mbufs=1",
	};
	uint64_t sent = fake_mbufs_sent(), received = fake_mbufs_received();
	struct rte_mbuf *mbuf;
	struct mflow m;
	unsigned int i;

	mflow_open(&m, &conf);
	/* The core posts none. */
	T_CHECK(rte_mempool_full(m.mp));
	for (i = 0; i < 40; i++) {
		mbuf = filled(&m, 100, i);
		T_EQ(rte_comch_tx_burst(m.prod, m.id, &mbuf, 1), 1);
		receive(&m, 100, i);
	}
	T_EQ(fake_mbufs_sent() - sent, 40);
	T_EQ(fake_mbufs_received() - received, 40);
	mbuf = filled(&m, 100, 1);
	T_EQ(rte_comch_tx_burst(m.prod, m.id, &mbuf, 1), 1);
	mflow_close(&m);
}
