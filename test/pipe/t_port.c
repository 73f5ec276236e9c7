/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The operations of ports that pipelines use rarely, and their errors. */

#include <rte_mbuf.h>

#include <rte_comch_node.h>
#include <rte_comch_port.h>

#include "t_main.h"
#include "u_pipe.h"

/* Receive n mbufs at the DPU: numbers 0 to n - 1. */
static void
receive(struct u_pipe *u, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t k = 0;

	while (u->sent < n)
		u_pipe_send(u, (uint16_t)(n - u->sent));
	T_UNTIL((k += rte_comch_rx_burst(u->dpu_cons, &mbufs[k], n - k)) == n);
}

/* What comes back to the host next. */
static struct rte_mbuf *
come_back(struct u_pipe *u)
{
	struct rte_mbuf *mbuf = NULL;

	T_UNTIL(rte_comch_rx_burst(u->from_dpu, &mbuf, 1) == 1);
	return mbuf;
}

/* A mask with holes sends just these packets; fewer than a burst wait for a flush. */
T_CASE(port_masks)
{
	struct rte_comch_port_out_params params = { .burst_size = 4 };
	struct rte_mbuf *mbufs[20], *bulk[64] = { 0 };
	struct rte_port_out_stats st;
	struct u_pipe u;
	unsigned int i;
	void *port;

	u_pipe_open(&u, U_PIPE_POSTED);
	params.out = &u.out;
	port = rte_comch_port_out_ops.f_create(&params, 0);
	T_CHECK(port != NULL);
	receive(&u, mbufs, 20);
	bulk[1] = mbufs[0];
	bulk[5] = mbufs[1];
	bulk[63] = mbufs[2];
	T_EQ(rte_comch_port_out_ops.f_tx_bulk(port, bulk,
			UINT64_C(1) << 1 | UINT64_C(1) << 5 | UINT64_C(1) << 63), 0);
	T_EQ(u.out.nb_pending, 3);
	T_EQ(u.out.nb_sent, 0);
	T_EQ(rte_comch_port_out_ops.f_flush(port), 0);
	T_EQ(u.out.nb_sent, 3);
	T_EQ(rte_comch_port_out_ops.f_stats(port, &st, 1), 0);
	T_EQ(st.n_pkts_in, 3);
	for (i = 3; i < 6; i++)
		T_EQ(rte_comch_port_out_ops.f_tx(port, mbufs[i]), 0);
	T_EQ(u.out.nb_pending, 3);
	T_EQ(rte_comch_port_out_ops.f_tx(port, mbufs[6]), 0);
	T_EQ(u.out.nb_pending, 0);
	/* A full mask of at least a burst is sent at once, after what waits. */
	T_EQ(rte_comch_port_out_ops.f_tx(port, mbufs[7]), 0);
	T_EQ(rte_comch_port_out_ops.f_tx(port, mbufs[8]), 0);
	T_EQ(u.out.nb_pending, 2);
	T_EQ(rte_comch_port_out_ops.f_tx_bulk(port, &mbufs[9], (UINT64_C(1) << 11) - 1), 0);
	T_EQ(u.out.nb_pending, 0);
	T_EQ(rte_comch_port_out_ops.f_stats(port, &st, 0), 0);
	T_EQ(st.n_pkts_in, 17);
	T_EQ(st.n_pkts_drop, 0);
	T_EQ(rte_comch_port_out_ops.f_free(port), 0);
	T_WAIT(t_step_all() + u_pipe_recv(&u), u.got == 20);
	u_pipe_close(&u);
}

/* Cleared statistics of an input port begin anew; the end counts on. */
/* Numbers of mbufs that were given to a port and not dropped. */
struct kept {
	uint64_t numbers[512];
	uint32_t nb;
	uint32_t got; /* by the host, in order */
};

static void
take_some(struct u_pipe *u, struct kept *kept, uint16_t most)
{
	struct rte_mbuf *mbufs[8];
	uint16_t i, n;

	n = rte_comch_rx_burst(u->from_dpu, mbufs, RTE_MIN(most, RTE_DIM(mbufs)));
	for (i = 0; i < n; i++, kept->got++) {
		const uint64_t number = kept->numbers[kept->got];

		T_EQ(rte_pktmbuf_pkt_len(mbufs[i]), u_pipe_len(number));
		T_VERIFY(rte_pktmbuf_mtod(mbufs[i], void *), u_pipe_len(number), number);
	}
	rte_pktmbuf_free_bulk(mbufs, n);
}

/* Give single mbufs, three to two that the host takes. */
static void
overload(struct u_pipe *u, struct kept *kept, void *port, uint32_t queue_size)
{
	const uint64_t before = u->out.nb_sent + u->out.nb_dropped;
	struct rte_mbuf *m;
	uint64_t dropped;
	uint32_t i;

	for (i = 1; i <= 60; i++) {
		T_UNTIL(u_pipe_send(u, 1) == 1);
		T_UNTIL(rte_comch_rx_burst(u->dpu_cons, &m, 1) == 1);
		dropped = u->out.nb_dropped;
		T_EQ(rte_comch_port_out_ops.f_tx(port, m), 0);
		if (u->out.nb_dropped == dropped)
			kept->numbers[kept->nb++] = u->sent - 1;
		T_LE(u->out.nb_pending, queue_size);
		T_EQ(u->out.nb_sent + u->out.nb_pending + u->out.nb_dropped, before + i);
		if (i % 9 == 0)
			take_some(u, kept, 6);
	}
}

/* Queues that are hardly longer than a burst: only what is counted is lost, in any place. */
T_CASE(port_overload)
{
	struct rte_comch_port_out_params params = { .burst_size = 4 };
	static struct kept kept;
	struct u_pipe u;
	uint32_t size;
	void *port;

	u_pipe_open(&u, 6);
	params.out = &u.out;
	for (size = 4; size <= 9; size++) {
		params.queue_size = size;
		port = rte_comch_port_out_ops.f_create(&params, 0);
		T_CHECK(port != NULL);
		overload(&u, &kept, port, size);
		T_WAIT(t_step_all() + rte_comch_pipe_flush(&u.out) +
				(take_some(&u, &kept, 8), 0), kept.got == kept.nb);
		T_EQ(u.out.nb_pending, 0);
		T_EQ(rte_comch_port_out_ops.f_free(port), 0);
	}
	T_GT(u.out.nb_dropped, 0);
	u_pipe_close(&u);
}

T_CASE(port_in_clear)
{
	struct rte_comch_port_in_params params;
	struct rte_port_in_stats st;
	struct rte_mbuf *mbufs[20];
	struct u_pipe u;
	uint16_t n = 0;
	void *port;

	u_pipe_open(&u, U_PIPE_POSTED);
	params = (struct rte_comch_port_in_params){ .in = &u.in };
	port = rte_comch_port_in_ops.f_create(&params, 0);
	T_CHECK(port != NULL);
	while (u.sent < 20)
		u_pipe_send(&u, (uint16_t)(20 - u.sent));
	T_UNTIL((n += (uint16_t)rte_comch_port_in_ops.f_rx(port, &mbufs[n], 20 - n)) == 20);
	rte_pktmbuf_free_bulk(mbufs, 20);
	T_EQ(rte_comch_port_in_ops.f_stats(port, &st, 1), 0);
	T_EQ(st.n_pkts_in, 20);
	T_EQ(rte_comch_port_in_ops.f_stats(port, &st, 0), 0);
	T_EQ(st.n_pkts_in, 0);
	T_EQ(u.in.nb_received, 20);
	T_EQ(rte_comch_port_in_ops.f_free(port), 0);
	T_EQ(rte_comch_port_in_ops.f_free(NULL), -EINVAL);
	u_pipe_close(&u);
}

/** A pair with two ports of rte_swx. */
struct swx {
	struct u_pipe u;
	void *in;
	void *out;
};

static void
swx_open(struct swx *s)
{
	struct rte_comch_port_out_params out = { .burst_size = 1 };
	struct rte_comch_port_in_params in = { 0 };

	u_pipe_open(&s->u, U_PIPE_POSTED);
	in.in = &s->u.in;
	out.out = &s->u.out;
	s->in = rte_comch_swx_port_in_ops.create(&in);
	s->out = rte_comch_swx_port_out_ops.create(&out);
	T_CHECK(s->in != NULL && s->out != NULL);
}

static void
swx_close(struct swx *s)
{
	rte_comch_swx_port_in_ops.free(s->in);
	rte_comch_swx_port_out_ops.free(s->out);
	u_pipe_close(&s->u);
}

/* The next packet, number s->u.sent - 1 or one that waits in the port. */
static void
swx_next(struct swx *s, struct rte_swx_pkt *pkt)
{
	T_UNTIL(rte_comch_swx_port_in_ops.pkt_rx(s->in, pkt) == 1);
}

/* The length and place of a packet's data, as the pipeline has left them, are sent. */
T_CASE_OF(struct swx, swx_open, swx_close, swx_edit, s)
{
	const uint32_t len = u_pipe_len(0);
	struct rte_swx_port_out_stats st;
	struct rte_swx_pkt pkt;
	struct rte_mbuf *mbuf;
	uint8_t data[2048];

	T_UNTIL(u_pipe_send(&s->u, 1) == 1);
	swx_next(s, &pkt);
	T_EQ(pkt.length, len);
	t_fill(data, len, 0);
	T_EQ(memcmp(pkt.pkt + pkt.offset, data, len), 0);
	/* Pop 10 bytes, push 14. */
	pkt.offset -= 4;
	pkt.length += 4;
	memset(pkt.pkt + pkt.offset, 0xee, 14);
	rte_comch_swx_port_out_ops.pkt_tx(s->out, &pkt);
	mbuf = come_back(&s->u);
	T_EQ(rte_pktmbuf_pkt_len(mbuf), len + 4);
	T_EQ(*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 13), 0xee);
	T_EQ(memcmp(rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 14), data + 10, len - 10), 0);
	rte_pktmbuf_free(mbuf);
	rte_comch_swx_port_out_ops.stats_read(s->out, &st);
	T_EQ(st.n_pkts, 1);
	T_EQ(st.n_bytes, len + 4);
}

/* A clone, one that shares the data, and the packet itself. */
T_CASE_OF(struct swx, swx_open, swx_close, swx_clones, s)
{
	const uint32_t lens[] = { 20, u_pipe_len(0), u_pipe_len(0) };
	struct rte_swx_port_out_stats st;
	struct rte_swx_pkt pkt;
	struct rte_mbuf *mbuf;
	uint8_t data[2048];
	unsigned int i;

	T_UNTIL(u_pipe_send(&s->u, 1) == 1);
	swx_next(s, &pkt);
	rte_comch_swx_port_out_ops.pkt_clone_tx(s->out, &pkt, 20);
	rte_comch_swx_port_out_ops.pkt_fast_clone_tx(s->out, &pkt);
	rte_comch_swx_port_out_ops.pkt_tx(s->out, &pkt);
	t_fill(data, sizeof(data), 0);
	for (i = 0; i < RTE_DIM(lens); i++) {
		mbuf = come_back(&s->u);
		T_EQ(rte_pktmbuf_pkt_len(mbuf), lens[i]);
		T_EQ(memcmp(rte_pktmbuf_mtod(mbuf, void *), data, lens[i]), 0);
		rte_pktmbuf_free(mbuf);
	}
	rte_comch_swx_port_out_ops.stats_read(s->out, &st);
	T_EQ(st.n_pkts, 3);
	T_EQ(st.n_pkts_clone, 2);
	T_EQ(st.n_pkts_clone_err, 0);
	T_EQ(st.n_bytes, lens[0] + lens[1] + lens[2]);
}

/* Packets that were received in a burst, but not handed out, go back to their pool. */
T_CASE_OF(struct swx, swx_open, swx_close, swx_in_free_rest, s)
{
	struct rte_swx_pkt pkt;

	while (s->u.sent < 20)
		u_pipe_send(&s->u, (uint16_t)(20 - s->u.sent));
	t_settle();
	swx_next(s, &pkt);
	T_GT(s->u.in.nb_received, 1);
	rte_pktmbuf_free(pkt.handle);
}

/* What a port or node refuses. */
T_CASE(refused)
{
	struct rte_comch_pipe_out out = { 0 };
	struct rte_comch_pipe_in in = { 0 };
	struct rte_comch_port_out_params op = { .out = &out };
	struct rte_comch_port_in_params ip = { .in = &in, .burst_size = 65 };
	struct rte_comch_node_source_conf source = { .in = &in, .next = "comch_sink" };
	struct rte_comch_node_sink_conf sink = { .out = &out };

	t_eal_start(1);
	T_CHECK(rte_comch_port_in_ops.f_create(NULL, 0) == NULL);
	T_CHECK(rte_comch_port_out_ops.f_create(NULL, 0) == NULL);
	T_CHECK(rte_comch_swx_port_in_ops.create(NULL) == NULL);
	T_CHECK(rte_comch_swx_port_out_ops.create(NULL) == NULL);
	T_CHECK(rte_comch_swx_port_in_ops.create(&ip) == NULL);
	ip = (struct rte_comch_port_in_params){ 0 };
	T_CHECK(rte_comch_port_in_ops.f_create(&ip, 0) == NULL);
	op.burst_size = 33;
	T_CHECK(rte_comch_port_out_ops.f_create(&op, 0) == NULL);
	op.burst_size = 128;
	T_CHECK(rte_comch_port_out_ops.f_create(&op, 0) == NULL);
	op.burst_size = 64;
	op.queue_size = 63;
	T_CHECK(rte_comch_port_out_ops.f_create(&op, 0) == NULL);
	T_CHECK(out.reserved == NULL);
	T_EQ(rte_comch_pipe_flush(&out), 0);

	T_EQ(rte_comch_node_source_create("x", NULL), RTE_NODE_ID_INVALID);
	T_EQ(rte_comch_node_source_create("x", &source), RTE_NODE_ID_INVALID);
	T_EQ(rte_errno, EINVAL);
	T_EQ(rte_comch_node_sink_create("x", &sink), RTE_NODE_ID_INVALID);
	T_EQ(rte_errno, EINVAL);
	source.conf_size = sizeof(source);
	sink.conf_size = sizeof(sink);
	source.burst_size = RTE_GRAPH_BURST_SIZE + 1;
	T_EQ(rte_comch_node_source_create("x", &source), RTE_NODE_ID_INVALID);
	source.burst_size = 0;
	T_CHECK(in.reserved == NULL);
	T_NE(rte_comch_node_source_create("x", &source), RTE_NODE_ID_INVALID);
	T_EQ(rte_comch_node_source_create("y", &source), RTE_NODE_ID_INVALID);
	T_EQ(rte_errno, EBUSY);
	T_NE(rte_comch_node_sink_create("x", &sink), RTE_NODE_ID_INVALID);
	/* The name is in use: the end stays free. */
	sink.out = &(struct rte_comch_pipe_out){ 0 };
	T_EQ(rte_comch_node_sink_create("x", &sink), RTE_NODE_ID_INVALID);
	T_EQ(rte_errno, EEXIST);
	T_CHECK(sink.out->reserved == NULL);
	t_eal_stop();
}
