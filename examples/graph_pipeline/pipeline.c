/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A graph on the DPU that receives packets from the host, swaps their addresses and sends
 * them back:
 *
 *     comch_source-host --> swap --> comch_sink-host
 *
 * The graph is built once. Clients come and go: the ends of the graph are bound to the
 * consumer and producer of the present one.
 */

#include <rte_graph.h>
#include <rte_graph_worker.h>

#include <rte_comch_node.h>

#include "../mbuf_common/packet.h"
#include "../mbuf_common/serve.h"

static struct rte_comch_pipe_in in;
static struct rte_comch_pipe_out out;
static rte_graph_t graph_id = RTE_GRAPH_ID_INVALID;
static struct rte_graph *graph;

/* The program's own node: all packets go on to its only edge. */
static uint16_t
swap_process(struct rte_graph *g, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	uint16_t i;

	for (i = 0; i < nb_objs; i++)
		packet_swap(objs[i]);
	rte_node_next_stream_move(g, node, 0);
	return nb_objs;
}

static struct rte_node_register swap_node = {
	.name = "swap",
	.process = swap_process,
	.nb_edges = 1,
	.next_nodes = { "comch_sink-host" },
};

RTE_NODE_REGISTER(swap_node);

static int
build(void)
{
	const struct rte_comch_node_source_conf source = {
		.conf_size = sizeof(source), .in = &in, .next = "swap",
	};
	const struct rte_comch_node_sink_conf sink = {
		.conf_size = sizeof(sink), .out = &out,
	};
	const char *patterns[] = { "comch_source-host", "swap", "comch_sink-host" };
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY,
		.node_patterns = patterns,
		.nb_node_patterns = RTE_DIM(patterns),
	};

	if (rte_node_is_invalid(rte_comch_node_source_create("host", &source)) ||
			rte_node_is_invalid(rte_comch_node_sink_create("host", &sink)))
		return example_error("create nodes", rte_errno);
	graph_id = rte_graph_create("pipeline", &params);
	if (rte_graph_is_invalid(graph_id))
		return example_error("create graph", rte_errno);
	graph = rte_graph_lookup("pipeline");
	return 0;
}

/* One walk. Nothing is read while packets wait to be sent, so none are dropped. */
static uint64_t
work(const struct ends *e)
{
	const uint64_t before = in.nb_received + out.nb_sent;

	in.consumer = e->consumer;
	out.producer = e->producer;
	out.consumer_id = e->consumer_id;
	if (rte_comch_pipe_flush(&out) == 0)
		rte_graph_walk(graph);
	return in.nb_received + out.nb_sent - before;
}

static void
unbind(void)
{
	in.consumer = NULL;
	out.producer = NULL;
	/* The next client does not get the rest. */
	rte_comch_pipe_drop(&out);
}

static void
destroy(void)
{
	if (!rte_graph_is_invalid(graph_id))
		rte_graph_destroy(graph_id);
	printf("%" PRIu64 " packets received, %" PRIu64 " sent, %" PRIu64 " dropped\n",
			in.nb_received, out.nb_sent, out.nb_dropped);
}

int
main(int argc, char **argv)
{
	static const struct serve_ops ops = {
		.build = build, .work = work, .unbind = unbind, .destroy = destroy,
	};

	return serve_main(argc, argv, &ops);
}
