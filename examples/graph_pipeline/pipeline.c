/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A graph on the DPU that receives packets from the host, swaps their addresses and sends
 * them back:
 *
 *     comch_source-host --> swap --> comch_sink-host
 *
 * The graph is built once. Clients come and go: ../mbuf_common/pipe.c binds the ends of the
 * graph to the consumer and producer of the present one, and calls run().
 */

#include <rte_graph.h>
#include <rte_graph_worker.h>

#include <rte_comch_node.h>

#include "../mbuf_common/packet.h"
#include "../mbuf_common/pipe.h"

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
		.conf_size = sizeof(source), .in = &pipe_in, .next = "swap",
	};
	const struct rte_comch_node_sink_conf sink = {
		.conf_size = sizeof(sink), .out = &pipe_out,
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

static void
run(void)
{
	rte_graph_walk(graph);
}

static void
destroy(void)
{
	if (!rte_graph_is_invalid(graph_id))
		rte_graph_destroy(graph_id);
}

int
main(int argc, char **argv)
{
	static const struct pipe_ops ops = { .build = build, .run = run, .destroy = destroy };

	return pipe_main(argc, argv, &ops);
}
