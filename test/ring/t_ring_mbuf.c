/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* mbufs that are handed over, those that are copied, and peers of another EAL. */

#include <rte_memzone.h>

#include "u_ring.h"

static struct rte_comch_producer_stats
prod_stats(const struct u_ring *u)
{
	struct rte_comch_producer_stats st;

	T_EQ(rte_comch_producer_stats_get(u->prod, &st), 0);
	return st;
}

static void
send_one(struct u_ring *u, struct rte_mbuf *m)
{
	T_UNTIL(rte_comch_tx_burst(u->prod, u->id, &m, 1) == 1);
}

T_CASE(same_pointer)
{
	struct rte_mbuf *out[32], *in[32];
	struct u_ring u;
	unsigned int i, round;
	uint16_t got;

	u_ring_open(&u, 64, 0);
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 32; i++) {
			out[i] = u_ring_mbuf(u.tx_pool, (uint16_t)(i + 1), round + i);
			/* What an ethdev has set stays. */
			out[i]->vlan_tci = (uint16_t)i;
			out[i]->hash.rss = round;
			out[i]->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_RSS_HASH;
			out[i]->port = 7;
			memset(rte_mbuf_to_priv(out[i]), (int)i, 64);
		}
		T_EQ(rte_comch_tx_burst(u.prod, u.id, out, 32), 32);
		for (got = 0; got < 32; )
			got += rte_comch_rx_burst(u.cons, &in[got], 32 - got);
		for (i = 0; i < 32; i++) {
			T_CHECK(in[i] == out[i]);
			T_EQ(in[i]->vlan_tci, i);
			T_EQ(in[i]->hash.rss, round);
			T_EQ(in[i]->ol_flags, RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_RSS_HASH);
			T_EQ(in[i]->port, 7);
			T_EQ(*(uint8_t *)rte_mbuf_to_priv(in[i]), i);
			T_VERIFY(rte_pktmbuf_mtod(in[i], void *), i + 1, round + i);
		}
		rte_pktmbuf_free_bulk(in, 32);
	}
	T_EQ(prod_stats(&u).msgs, 3200);
	T_EQ(prod_stats(&u).bytes, 100 * 32 * 33 / 2);
	T_EQ(prod_stats(&u).copies, 0);
	u_ring_close(&u);
}

/* Three segments, 300 bytes. */
static struct rte_mbuf *
chain(struct u_ring *u)
{
	struct rte_mbuf *m = u_ring_mbuf(u->tx_pool, 100, 1);

	T_EQ(rte_pktmbuf_chain(m, u_ring_mbuf(u->tx_pool, 100, 2)), 0);
	T_EQ(rte_pktmbuf_chain(m, u_ring_mbuf(u->tx_pool, 100, 3)), 0);
	return m;
}

T_CASE(chains_are_copied)
{
	struct rte_mbuf *in;
	struct u_ring u;

	u_ring_open(&u, 64, 0);
	send_one(&u, chain(&u));
	T_CHECK(rte_mempool_full(u.tx_pool));
	in = u_ring_recv(&u);
	T_CHECK(in->pool == u.rx_pool);
	T_EQ(in->nb_segs, 1);
	T_EQ(in->pkt_len, 300);
	T_VERIFY(rte_pktmbuf_mtod(in, uint8_t *), 100, 1);
	T_VERIFY(rte_pktmbuf_mtod(in, uint8_t *) + 200, 100, 3);
	rte_pktmbuf_free(in);
	T_EQ(prod_stats(&u).copies, 1);
	u_ring_close(&u);
}

T_CASE(chains_are_taken)
{
	struct rte_mbuf *in, *out;
	struct u_ring u;

	u_ring_open(&u, 64, RTE_COMCH_CONSUMER_F_CHAINS);
	out = chain(&u);
	send_one(&u, out);
	in = u_ring_recv(&u);
	T_CHECK(in == out);
	T_EQ(in->nb_segs, 3);
	rte_pktmbuf_free(in);
	T_EQ(prod_stats(&u).copies, 0);
	u_ring_close(&u);
}

/* Nothing for copies: a burst ends before the mbuf that needs one, which is kept. */
T_CASE(no_mbuf_for_a_copy)
{
	struct rte_mbuf *kept[U_NB_RX], *out[3], *in;
	struct u_ring u;

	u_ring_open(&u, 64, 0);
	T_EQ(rte_pktmbuf_alloc_bulk(u.rx_pool, kept, U_NB_RX), 0);
	out[0] = u_ring_mbuf(u.tx_pool, 10, 0);
	out[1] = chain(&u);
	out[2] = u_ring_mbuf(u.tx_pool, 10, 2);
	T_EQ(rte_comch_tx_burst(u.prod, u.id, out, 3), 1);
	T_EQ(rte_comch_tx_burst(u.prod, u.id, &out[1], 2), 0);
	rte_pktmbuf_free_bulk(kept, U_NB_RX);
	T_EQ(rte_comch_tx_burst(u.prod, u.id, &out[1], 2), 2);
	in = u_ring_recv(&u);
	T_CHECK(in == out[0]);
	rte_pktmbuf_free(in);
	in = u_ring_recv(&u);
	T_EQ(in->pkt_len, 300);
	rte_pktmbuf_free(in);
	in = u_ring_recv(&u);
	T_CHECK(in == out[2]);
	rte_pktmbuf_free(in);
	u_ring_close(&u);
}

/* A full queue: copies that were made for it are freed, the originals are kept. */
T_CASE(full_queue)
{
	struct rte_mbuf *out[8], *in;
	struct u_ring u;
	unsigned int i;

	u_ring_open(&u, 4, 0);
	for (i = 0; i < 8; i++)
		out[i] = i % 2 == 0 ? u_ring_mbuf(u.tx_pool, 10, i) : chain(&u);
	T_EQ(rte_comch_tx_burst(u.prod, u.id, out, 8), 4);
	T_EQ(rte_mempool_in_use_count(u.rx_pool), 2);
	T_EQ(rte_comch_tx_burst(u.prod, u.id, &out[4], 4), 0);
	T_EQ(rte_mempool_in_use_count(u.rx_pool), 2);
	for (i = 0; i < 8; i++) {
		in = u_ring_recv(&u);
		T_EQ(in->pkt_len, i % 2 == 0 ? 10 : 300);
		T_CHECK(i % 2 != 0 || in == out[i]);
		rte_pktmbuf_free(in);
		if (i < 4)
			send_one(&u, out[4 + i]);
	}
	T_EQ(prod_stats(&u).bytes, 4 * 10 + 4 * 300);
	T_EQ(prod_stats(&u).copies, 4);
	u_ring_close(&u);
}

/* An error in the middle of a burst costs that mbuf only. */
T_CASE(too_long)
{
	struct rte_mbuf *out[3], *in;
	struct rte_mempool *big;
	struct u_ring u;

	u_ring_open(&u, 64, 0);
	big = rte_pktmbuf_pool_create("big", 15, 0, 0, 4 * U_ROOM, SOCKET_ID_ANY);
	T_CHECK(big != NULL);
	out[0] = u_ring_mbuf(u.tx_pool, 10, 0);
	out[1] = u_ring_mbuf(big, U_ROOM + 1, 1);
	out[2] = u_ring_mbuf(u.tx_pool, 10, 2);
	T_EQ(rte_comch_tx_burst(u.prod, u.id, out, 3), 3);
	T_CHECK(rte_mempool_full(big));
	in = u_ring_recv(&u);
	T_CHECK(in == out[0]);
	rte_pktmbuf_free(in);
	in = u_ring_recv(&u);
	T_CHECK(in == out[2]);
	rte_pktmbuf_free(in);
	T_EQ(prod_stats(&u).errors, 1);
	T_EQ(prod_stats(&u).msgs, 2);
	rte_mempool_free(big);
	u_ring_close(&u);
}

/* Operations to a consumer in mbuf mode: their payload in mbufs of its pool. */
T_CASE(operations)
{
	struct rte_comch_op ops[3];
	struct rte_comch_cpl cpl;
	struct rte_mbuf *in;
	struct t_mem src;
	struct u_ring u;
	unsigned int i;

	u_ring_open(&u, 64, 0);
	t_mem_new(&src, RTE_COMCH_MEM_HEAP, 4096, 0);
	t_fill(src.addr, 4096, 9);
	for (i = 0; i < 3; i++)
		ops[i] = (struct rte_comch_op){
			.addr = src.addr, .mr = src.mr, .len = i == 1 ? U_ROOM + 1 : 1000,
			.consumer_id = u.id, .cookie = i,
		};
	t_submit_ops(u.prod, ops, 3);
	for (i = 0; i < 3; i++) {
		t_done(u.prod, &cpl);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, i == 1 ? -EMSGSIZE : 0);
	}
	for (i = 0; i < 2; i++) {
		in = u_ring_recv(&u);
		T_CHECK(in->pool == u.rx_pool);
		T_EQ(in->pkt_len, 1000);
		T_VERIFY(rte_pktmbuf_mtod(in, void *), 1000, 9);
		rte_pktmbuf_free(in);
	}
	T_CHECK(rte_mempool_full(u.rx_pool));
	t_mem_free(&src);
	u_ring_close(&u);
}

/* A send goes on from a consumer in mbuf mode to one with posted buffers, and back. */
T_CASE(operations_to_several)
{
	static const bool in_mbufs[] = { true, true, false, false, true, false, true };
	struct rte_comch_op ops[RTE_DIM(in_mbufs)];
	struct rte_comch_cpl cpls[RTE_DIM(in_mbufs)];
	struct t_flow f = { .prod = NULL };
	struct rte_mbuf *in;
	struct u_ring u;
	unsigned int i;

	u_ring_open(&u, 64, 0);
	t_flow_open(&f, &u.p, NULL);
	t_producer_end(f.prod);
	f.prod = u.prod;
	for (i = 0; i < RTE_DIM(ops); i++)
		ops[i] = (struct rte_comch_op){
			.addr = f.src.addr, .mr = f.src.mr, .len = 100 + i,
			.consumer_id = in_mbufs[i] ? u.id : f.id, .cookie = i,
		};
	for (i = 0; i < 3; i++)
		T_EQ(t_post(&f, i * 1000, 1000, i), 1);
	T_EQ(rte_comch_producer_send_burst(u.prod, ops, RTE_DIM(ops)), RTE_DIM(ops));
	t_done_n(u.prod, cpls, RTE_DIM(ops));
	for (i = 0; i < RTE_DIM(ops); i++) {
		T_EQ(cpls[i].cookie, i);
		T_EQ(cpls[i].status, 0);
		if (in_mbufs[i]) {
			in = u_ring_recv(&u);
			T_EQ(in->pkt_len, 100 + i);
			rte_pktmbuf_free(in);
		} else {
			t_recv(f.cons, cpls);
			T_EQ(cpls[0].len, 100 + i);
		}
	}
	f.prod = NULL;
	t_flow_close(&f);
	u_ring_close(&u);
}

/* A send that a full queue cut short waits for that queue. */
T_CASE(operations_sleep)
{
	struct rte_comch_op ops[8];
	struct rte_comch_cpl cpl;
	struct rte_mbuf *in;
	struct t_mem src;
	struct u_ring u;
	unsigned int i;
	uint16_t sent;

	u_ring_open(&u, 4, 0);
	t_mem_new(&src, RTE_COMCH_MEM_HEAP, 4096, 0);
	for (i = 0; i < RTE_DIM(ops); i++)
		ops[i] = (struct rte_comch_op){
			.addr = src.addr, .mr = src.mr, .len = 64, .consumer_id = u.id,
		};
	sent = rte_comch_producer_send_burst(u.prod, ops, RTE_DIM(ops));
	T_EQ(sent, 4);
	for (i = 0; i < RTE_DIM(ops); i++) {
		T_SLEEP_UNTIL(rte_comch_rx_burst(u.cons, &in, 1) == 1);
		rte_pktmbuf_free(in);
		t_done(u.prod, &cpl);
		if (sent == RTE_DIM(ops))
			continue;
		T_SLEEP_UNTIL(rte_comch_producer_send_burst(u.prod, &ops[sent], 1) == 1);
		sent++;
	}
	t_mem_free(&src);
	u_ring_close(&u);
}

/* A consumer that is started again takes mbufs at once, with what it was set up for. */
T_CASE(started_again)
{
	struct rte_mbuf *out, *in;
	struct u_ring u;
	unsigned int i;

	u_ring_open(&u, 64, 0);
	for (i = 0; i < 20; i++) {
		out = u_ring_mbuf(u.tx_pool, 100, i);
		send_one(&u, out);
		if (i % 2 == 0) {
			in = u_ring_recv(&u);
			T_CHECK(in == out);
			rte_pktmbuf_free(in);
		}
		T_EQ(rte_comch_consumer_stop(u.cons), -EINPROGRESS);
		T_UNTIL(u_ring_drained(&u));
		T_CHECK(rte_mempool_full(u.tx_pool));
		t_consumer_run(u.cons);
		u.id = rte_comch_consumer_id(u.cons);
		T_UNTIL(t_knows_consumer(u.p.host, u.p.cconn, u.id));
		T_EQ(rte_comch_rx_burst(u.cons, &in, 1), 0);
	}
	u_ring_close(&u);
}

/* Both ends sleep in turn: a full queue, and an empty one. */
T_CASE(sleep)
{
	struct rte_mbuf *out, *in;
	struct u_ring u;
	unsigned int i, sent = 0;

	u_ring_open(&u, 4, 0);
	for (i = 0; i < 50; i++) {
		out = u_ring_mbuf(u.tx_pool, 100, i);
		while (rte_comch_tx_burst(u.prod, u.id, &out, 1) == 1) {
			out = u_ring_mbuf(u.tx_pool, 100, i);
			sent++;
		}
		T_SLEEP_UNTIL(rte_comch_rx_burst(u.cons, &in, 1) == 1);
		rte_pktmbuf_free(in);
		T_SLEEP_UNTIL(rte_comch_tx_burst(u.prod, u.id, &out, 1) == 1);
		sent++;
		while (rte_comch_rx_burst(u.cons, &in, 1) == 1)
			rte_pktmbuf_free(in);
	}
	T_GE(sent, 250);
	u_ring_close(&u);
}

/* The number of the EAL changes between the opening of the two devices. */
T_CASE(peer_of_another_eal)
{
	const struct rte_memzone *zone;
	const struct t_ev *ev;
	struct t_pair p;

	t_eal_start(1);
	t_driver = &u_ring_driver;
	p.dpu_dev = t_dev_open(0, "role=dpu,rep=pf0");
	zone = rte_memzone_lookup("comch_ring_eal");
	T_CHECK(zone != NULL);
	*(uint32_t *)zone->addr ^= 2;
	p.host_dev = t_dev_open(1, "role=host,func=pf0");
	p.dpu = t_node_new();
	p.host = t_node_new();
	p.server = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0, NULL);
	p.client = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	ev = t_state_ev(p.host, p.client);
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_IDLE);
	T_EQ(ev->e.status, -EXDEV);
	T_STR_HAS(ev->text, "peer is not a process of this EAL");
	t_client_end(p.client);
	t_server_end(p.server);
	t_node_free(p.host);
	t_node_free(p.dpu);
	T_EQ(rte_comch_dev_close(p.host_dev), 0);
	T_EQ(rte_comch_dev_close(p.dpu_dev), 0);
	t_eal_stop();
}

/* The pool for several processes is like others of the library, but for its memory and ops. */
T_CASE(pool_of_processes)
{
	struct rte_comch_mr_info info;
	struct rte_mempool *mp;
	struct rte_mbuf *m;

	t_eal_start(1);
	T_NULL_ERRNO(rte_comch_pktmbuf_pool_create_multiproc(NULL, 63, 0, 0, U_ROOM,
		SOCKET_ID_ANY), EINVAL);
	T_NULL_ERRNO(rte_comch_pktmbuf_pool_create_multiproc("several", 0, 0, 0, U_ROOM,
		SOCKET_ID_ANY), EINVAL);
	T_NULL_ERRNO(rte_comch_pktmbuf_pool_create_multiproc("several", 63, 0, 0, 0,
		SOCKET_ID_ANY), EINVAL);
	mp = rte_comch_pktmbuf_pool_create_multiproc("several", 63, 0, 8, U_ROOM, SOCKET_ID_ANY);
	T_CHECK(mp != NULL);
	T_NULL_ERRNO(rte_comch_pktmbuf_pool_create_multiproc("several", 63, 0, 0, U_ROOM,
		SOCKET_ID_ANY), EEXIST);
	T_STR_EQ(rte_mempool_get_ops(mp->ops_index)->name, "lf_stack");
	T_EQ(rte_pktmbuf_data_room_size(mp), U_ROOM);
	T_EQ(rte_comch_mem_info_get(rte_comch_mempool_mr(mp), &info), 0);
	T_EQ(info.kind, RTE_COMCH_MEM_EAL);
	T_NULL_ERRNO(rte_comch_mempool_register(mp, 0), EEXIST);
	T_EQ(rte_comch_mempool_unregister(mp), -EINVAL);
	T_EQ(rte_comch_pktmbuf_pool_dma_map(mp, 0), -EINVAL); /* no such port */
	m = rte_pktmbuf_alloc(mp);
	T_CHECK(m != NULL);
	T_EQ(rte_comch_pktmbuf_pool_free(mp), -EBUSY);
	rte_pktmbuf_free(m);
	T_EQ(rte_comch_pktmbuf_pool_free(mp), 0);
	T_CHECK(rte_mempool_lookup("several") == NULL);
	t_eal_stop();
}
