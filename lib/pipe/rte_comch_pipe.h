/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_PIPE_H
#define RTE_COMCH_PIPE_H

/**
 * @file
 * Ends of a pipeline: which consumer feeds it, and which producer it sends to.
 *
 * A port (rte_comch_port.h) or a graph node (rte_comch_node.h) is created once and stays,
 * but a consumer or producer ends with its connection. So ports and nodes refer to an
 * *end*, which the application owns, and use what the end names at each burst:
 *
 *     static struct rte_comch_pipe_in in;
 *     static struct rte_comch_pipe_out out;
 *
 *     create the port or node with &in or &out
 *     ... connected:     in.consumer = consumer; out.producer = producer; out.consumer_id = id;
 *     ... disconnected:  in.consumer = NULL; out.producer = NULL; rte_comch_pipe_drop(&out);
 *
 * An output end queues what the peer has no buffers for, up to the queue size of its port or
 * node, and sends it in order before later mbufs. Mbufs beyond that are freed and counted
 * in nb_dropped. So at any time
 *
 *     mbufs given to the port or node == nb_sent + nb_pending + nb_dropped
 *
 * and a pipeline that must not drop stops reading its input while nb_pending is not 0:
 *
 *     if (rte_comch_pipe_flush(&out) == 0)
 *             rte_graph_walk(graph);
 *
 * Threads: an end belongs to the thread that runs its pipeline, and so do the consumer and
 * producer that it names. Any thread may read the counters.
 *
 * The library is librte_comch_pipe (pkg-config librte_comch_pipe).
 */

#include <rte_comch_mbuf.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where a pipeline receives. Set all fields to 0 first. */
struct rte_comch_pipe_in {
	/** In mbuf mode, see rte_comch_consumer_rx_setup(). NULL: nothing is received. */
	struct rte_comch_consumer *consumer;
	uint64_t nb_received; /**< Mbufs received. */
	void *reserved;       /**< @internal The port or node. */
};

/** Where a pipeline sends. Set all fields to 0 first. */
struct rte_comch_pipe_out {
	struct rte_comch_producer *producer; /**< NULL: mbufs wait in the queue. */
	uint32_t consumer_id; /**< Destination, from RTE_COMCH_EVENT_CONSUMER_NEW. */
	uint32_t nb_pending;  /**< Mbufs in the queue. */
	/**
	 * Mbufs that rte_comch_tx_burst() accepted. Those of them that could not be sent
	 * are in rte_comch_producer_stats.errors.
	 */
	uint64_t nb_sent;
	/** Mbufs freed: the queue was full, rte_comch_pipe_drop(), or the port was freed. */
	uint64_t nb_dropped;
	void *reserved;       /**< @internal The queue. */
};

/**
 * Send what is queued. Call it regularly while nothing else is sent: it also lets the
 * library free mbufs whose sends have completed.
 *
 * @param out
 *   The end; of no port or node: nothing is queued.
 * @return
 *   Number of mbufs that are still queued.
 */
uint32_t rte_comch_pipe_flush(struct rte_comch_pipe_out *out);

/**
 * Free what is queued, and count it in nb_dropped: at the end of a connection, so that the
 * next peer does not get the rest.
 *
 * @param out
 *   The end.
 * @return
 *   Number of mbufs freed.
 */
uint32_t rte_comch_pipe_drop(struct rte_comch_pipe_out *out);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_PIPE_H */
