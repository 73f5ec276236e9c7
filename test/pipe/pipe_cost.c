/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What ports and nodes add to the bursts that they wrap: a measurement, not a test.
 *
 * One thread has both sides, so nothing waits. The host sends a burst; the DPU forwards it
 * in one of several ways, which alone is timed; the host receives it. The ways take turns,
 * burst by burst, so that whatever disturbs the machine disturbs all of them. Printed is
 * the median time per mbuf and its ratio to that of the bare bursts. rte_swx has an
 * indirect call per packet each way; what that costs alone, with ports that do no more than
 * its interface requires, is a way of its own.
 *
 * usage: pipe_cost [rounds [burst [length]]]
 */

#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_graph_worker.h>
#include <rte_mbuf.h>

#include <rte_comch_node.h>
#include <rte_comch_port.h>

#include "u_pipe.h"

#define BURST_MAX 64

/** A way to forward a burst. */
struct way {
	const char *name;
	void (*create)(struct way *w);
	/* From the DPU's consumer to its producer. */
	void (*forward)(struct way *w);
	struct rte_comch_pipe_in in;
	struct rte_comch_pipe_out out;
	void *port_in, *port_out;
	const struct rte_swx_port_in_ops *in_ops;
	const struct rte_swx_port_out_ops *out_ops;
	struct rte_graph *graph;
	uint64_t *cycles; /* of each round */
};

static uint16_t burst = 32, length = 64;

static void
burst_create(struct way *w)
{
	RTE_SET_USED(w);
}

static void
burst_forward(struct way *w)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t n;

	n = rte_comch_rx_burst(w->in.consumer, mbufs, burst);
	T_EQ(rte_comch_tx_burst(w->out.producer, w->out.consumer_id, mbufs, n), n);
}

static void
port_create(struct way *w)
{
	struct rte_comch_port_in_params in = { .in = &w->in };
	struct rte_comch_port_out_params out = { .out = &w->out };

	w->port_in = rte_comch_port_in_ops.f_create(&in, 0);
	w->port_out = rte_comch_port_out_ops.f_create(&out, 0);
	T_CHECK(w->port_in != NULL && w->port_out != NULL);
}

static void
port_forward(struct way *w)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	int n;

	n = rte_comch_port_in_ops.f_rx(w->port_in, mbufs, burst);
	if (n > 0)
		rte_comch_port_out_ops.f_tx_bulk(w->port_out, mbufs, UINT64_MAX >> (64 - n));
	rte_comch_port_out_ops.f_flush(w->port_out);
}

static void
swx_create(struct way *w)
{
	struct rte_comch_port_in_params in = { .in = &w->in, .burst_size = burst };
	struct rte_comch_port_out_params out = { .out = &w->out };

	w->in_ops = &rte_comch_swx_port_in_ops;
	w->out_ops = &rte_comch_swx_port_out_ops;
	w->port_in = w->in_ops->create(&in);
	w->port_out = w->out_ops->create(&out);
	T_CHECK(w->port_in != NULL && w->port_out != NULL);
}

static void
swx_forward(struct way *w)
{
	struct rte_swx_pkt pkt;
	uint16_t i;

	for (i = 0; i < burst && w->in_ops->pkt_rx(w->port_in, &pkt); i++)
		w->out_ops->pkt_tx(w->port_out, &pkt);
	w->out_ops->flush(w->port_out);
}

/** The least port: no queue, no counters, no packet that is left over. */
struct least {
	const struct way *way;
	struct rte_mbuf *mbufs[BURST_MAX];
	uint32_t next, count;
};

static int
least_rx(void *port, struct rte_swx_pkt *pkt)
{
	struct least *p = port;
	struct rte_mbuf *m;

	if (unlikely(p->next == p->count)) {
		p->next = 0;
		p->count = rte_comch_rx_burst(p->way->in.consumer, p->mbufs, burst);
		if (p->count == 0)
			return 0;
	}
	m = p->mbufs[p->next++];
	pkt->handle = m;
	pkt->pkt = m->buf_addr;
	pkt->offset = m->data_off;
	pkt->length = m->pkt_len;
	return 1;
}

static void
least_flush(void *port)
{
	struct least *p = port;
	const struct rte_comch_pipe_out *out = &p->way->out;

	T_EQ(rte_comch_tx_burst(out->producer, out->consumer_id, p->mbufs, (uint16_t)p->count),
			p->count);
	p->count = 0;
}

static void
least_tx(void *port, struct rte_swx_pkt *pkt)
{
	struct rte_mbuf *m = pkt->handle;
	struct least *p = port;

	m->data_len = (uint16_t)(m->data_len + pkt->length - m->pkt_len);
	m->pkt_len = pkt->length;
	m->data_off = (uint16_t)pkt->offset;
	p->mbufs[p->count++] = m;
	if (unlikely(p->count == burst))
		least_flush(p);
}

static void
least_create(struct way *w)
{
	static const struct rte_swx_port_out_ops out_ops = {
		.pkt_tx = least_tx, .flush = least_flush,
	};
	static const struct rte_swx_port_in_ops in_ops = { .pkt_rx = least_rx };
	static struct least in, out;

	in.way = out.way = w;
	w->in_ops = &in_ops;
	w->out_ops = &out_ops;
	w->port_in = &in;
	w->port_out = &out;
}

static void
node_create(struct way *w)
{
	static const char *patterns[] = { "comch_source-cost", "comch_sink-cost" };
	struct rte_comch_node_source_conf source = {
		.conf_size = sizeof(source), .in = &w->in, .next = "comch_sink-cost",
		.burst_size = burst,
	};
	struct rte_comch_node_sink_conf sink = { .conf_size = sizeof(sink), .out = &w->out };
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY, .node_patterns = patterns,
		.nb_node_patterns = RTE_DIM(patterns),
	};

	T_NE(rte_comch_node_sink_create("cost", &sink), RTE_NODE_ID_INVALID);
	T_NE(rte_comch_node_source_create("cost", &source), RTE_NODE_ID_INVALID);
	T_CHECK(!rte_graph_is_invalid(rte_graph_create("cost", &params)));
	w->graph = rte_graph_lookup("cost");
}

static void
node_forward(struct way *w)
{
	rte_graph_walk(w->graph);
}

static struct way ways[] = {
	{ .name = "bursts", .create = burst_create, .forward = burst_forward },
	{ .name = "rte_port", .create = port_create, .forward = port_forward },
	{ .name = "rte_swx", .create = swx_create, .forward = swx_forward },
	{ .name = "least swx", .create = least_create, .forward = swx_forward },
	{ .name = "rte_graph", .create = node_create, .forward = node_forward },
};

/* A burst there and back. Returns the cycles of the way. */
static uint64_t
once(struct u_pipe *u, struct way *w)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint64_t begin, cycles;
	uint16_t i, n = 0;

	T_EQ(rte_pktmbuf_alloc_bulk(u->host_tx, mbufs, burst), 0);
	for (i = 0; i < burst; i++)
		T_CHECK(rte_pktmbuf_append(mbufs[i], length) != NULL);
	T_EQ(rte_comch_tx_burst(u->to_dpu, u->dpu_cons_id, mbufs, burst), burst);
	begin = rte_rdtsc_precise();
	w->forward(w);
	cycles = rte_rdtsc_precise() - begin;
	n = rte_comch_rx_burst(u->from_dpu, mbufs, burst);
	T_EQ(n, burst);
	rte_pktmbuf_free_bulk(mbufs, n);
	return cycles;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double
median_ns(struct way *w, size_t rounds)
{
	qsort(w->cycles, rounds, sizeof(w->cycles[0]), compare);
	return (double)w->cycles[rounds / 2] / burst * 1e9 / (double)rte_get_tsc_hz();
}

int
main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000, r, i;
	static struct u_pipe u;
	double ns, bare = 0;

	burst = argc > 2 ? (uint16_t)atoi(argv[2]) : burst;
	length = argc > 3 ? (uint16_t)atoi(argv[3]) : length;
	if (rounds < 1 || burst < 1 || burst > BURST_MAX || length < 1 || length > U_PIPE_ROOM) {
		fprintf(stderr, "usage: %s [rounds [burst (1-%u) [length (1-%u)]]]\n", argv[0],
				BURST_MAX, U_PIPE_ROOM);
		return 1;
	}
	u_pipe_open(&u, U_PIPE_POSTED);
	for (i = 0; i < RTE_DIM(ways); i++) {
		ways[i].in.consumer = u.dpu_cons;
		ways[i].out.producer = u.dpu_prod;
		ways[i].out.consumer_id = u.host_cons_id;
		ways[i].create(&ways[i]);
		ways[i].cycles = calloc(rounds, sizeof(ways[i].cycles[0]));
		T_CHECK(ways[i].cycles != NULL);
	}
	for (r = 0; r < rounds; r++)
		for (i = 0; i < RTE_DIM(ways); i++)
			ways[i].cycles[r] = once(&u, &ways[i]);
	printf("%zu bursts of %u mbufs of %u bytes\n", rounds, burst, length);
	for (i = 0; i < RTE_DIM(ways); i++) {
		ns = median_ns(&ways[i], rounds);
		bare = i == 0 ? ns : bare;
		printf("%-10s %7.2f ns/mbuf  %5.3f\n", ways[i].name, ns, ns / bare);
	}
	u_pipe_close(&u);
	return 0;
}
