/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* rte_graph: a source whose next node is a sink. */

#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_malloc.h>

#include <rte_comch_node.h>

#include "u_pipe.h"

struct node_pipe {
	rte_graph_t id;
	struct rte_graph *graph;
	struct u_pipe *u;
};

static bool
nodes_create(struct u_pipe *u, uint32_t queue_size)
{
	struct rte_comch_node_source_conf source = {
		.conf_size = sizeof(source), .in = &u->in, .next = "comch_sink-u",
	};
	struct rte_comch_node_sink_conf sink = {
		.conf_size = sizeof(sink), .out = &u->out, .queue_size = queue_size,
	};

	return !rte_node_is_invalid(rte_comch_node_sink_create("u", &sink)) &&
		!rte_node_is_invalid(rte_comch_node_source_create("u", &source));
}

static void *
node_create(struct u_pipe *u, uint32_t queue_size)
{
	static const char *patterns[] = { "comch_source-u", "comch_sink-u" };
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY, .node_patterns = patterns,
		.nb_node_patterns = RTE_DIM(patterns),
	};
	struct node_pipe *np;

	if (!nodes_create(u, queue_size))
		return NULL;
	np = rte_zmalloc("node_pipe", sizeof(*np), 0);
	T_CHECK(np != NULL);
	np->u = u;
	np->id = rte_graph_create("u", &params);
	T_CHECK(!rte_graph_is_invalid(np->id));
	np->graph = rte_graph_lookup("u");
	T_CHECK(np->graph != NULL);
	return np;
}

static void
node_run(void *pipeline)
{
	struct node_pipe *np = pipeline;

	rte_comch_pipe_flush(&np->u->out);
	rte_graph_walk(np->graph);
}

static void
node_stats(void *pipeline, struct u_pipe_stats *st)
{
	const struct u_pipe *u = ((struct node_pipe *)pipeline)->u;

	st->received = u->in.nb_received;
	st->sent = u->out.nb_sent;
	st->dropped = u->out.nb_dropped;
}

static void
node_free(void *pipeline)
{
	struct node_pipe *np = pipeline;

	T_EQ(rte_graph_destroy(np->id), 0);
	rte_free(np);
}

const struct u_pipe_kind u_pipe_node = {
	.create = node_create,
	.run = node_run,
	.stats = node_stats,
	.free = node_free,
};
