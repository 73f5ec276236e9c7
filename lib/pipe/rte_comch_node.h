/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_NODE_H
#define RTE_COMCH_NODE_H

/**
 * @file
 * Nodes of rte_graph over producers and consumers.
 *
 *     rte_comch_node_source_create("lan0", &source_conf)    "comch_source-lan0"
 *     rte_comch_node_sink_create("lan0", &sink_conf)        "comch_sink-lan0"
 *     graph = rte_graph_create("worker0", patterns with these names)
 *     for (;;)
 *             rte_comch_pipe_flush(&out), rte_graph_walk(graph)
 *
 * A source passes each received burst to one next node. A sink sends all mbufs that it gets
 * in a walk; if the peer is slow, it queues the rest (rte_comch_pipe.h). It runs only in
 * walks in which it gets mbufs, so call rte_comch_pipe_flush() in each round.
 *
 * A node can be in one graph at a time. rte_graph has no way to delete a node: it exists
 * until the process ends, and its end must, too. After rte_graph_destroy() the node can be
 * used in another graph; the mbufs that a sink had queued are sent or freed.
 *
 * Threads: creating nodes is not thread-safe, like the rest of rte_graph's control path. The
 * ends belong to the thread that walks the graph.
 */

#include <stddef.h>

#include <rte_graph.h>

#include <rte_comch_pipe.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Configuration of a source node. Zero means default. */
struct rte_comch_node_source_conf {
	size_t conf_size;             /**< sizeof(struct rte_comch_node_source_conf) */
	struct rte_comch_pipe_in *in; /**< The application's; used until the process ends. */
	const char *next;             /**< Name of the next node. */
	uint16_t burst_size;          /**< Mbufs per walk, 1 to RTE_GRAPH_BURST_SIZE; default 32. */
};

/**
 * Create a source node.
 *
 * @param name
 *   The node is named "comch_source-" followed by this.
 * @param conf
 *   Its configuration.
 * @return
 *   The node, or RTE_NODE_ID_INVALID with rte_errno: EINVAL, EBUSY (the end has a port or
 *   node already), EEXIST (the name is in use), ENOMEM.
 */
rte_node_t rte_comch_node_source_create(const char *name,
		const struct rte_comch_node_source_conf *conf);

/** Configuration of a sink node. Zero means default. */
struct rte_comch_node_sink_conf {
	size_t conf_size;               /**< sizeof(struct rte_comch_node_sink_conf) */
	struct rte_comch_pipe_out *out; /**< The application's; used until the process ends. */
	uint32_t queue_size;            /**< Mbufs that can wait, 1 to 32768; default 512. */
};

/**
 * Create a sink node.
 *
 * @param name
 *   The node is named "comch_sink-" followed by this.
 * @param conf
 *   Its configuration.
 * @return
 *   The node, or RTE_NODE_ID_INVALID with rte_errno as rte_comch_node_source_create().
 */
rte_node_t rte_comch_node_sink_create(const char *name,
		const struct rte_comch_node_sink_conf *conf);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_NODE_H */
