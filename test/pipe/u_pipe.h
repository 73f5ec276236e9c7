/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_PIPE_H
#define U_PIPE_H

/*
 * A pair whose host sends mbufs and receives what comes back, and whose DPU runs a pipeline
 * between the ends `in` and `out`. What the pipeline is made of is its kind; the tests are
 * the same for each.
 *
 *     host                      DPU
 *     to_dpu -------------> in.consumer
 *                             pipeline
 *     from_dpu <----------- out.producer
 */

#include <rte_comch_pipe.h>

#include "t_pair.h"

#define U_PIPE_ROOM 2048
/** mbufs in each pool; the most that a consumer posts. */
#define U_PIPE_MBUFS 1023
#define U_PIPE_POSTED 256

struct u_pipe {
	struct t_pair p;
	struct rte_mempool *host_tx, *host_rx, *dpu_rx;
	struct rte_comch_producer *to_dpu;
	struct rte_comch_consumer *from_dpu;
	struct rte_comch_consumer *dpu_cons;
	struct rte_comch_producer *dpu_prod;
	uint32_t dpu_cons_id, host_cons_id;
	struct rte_comch_pipe_in in;
	struct rte_comch_pipe_out out;
	uint64_t sent, sent_bytes; /**< By the host. */
	uint64_t got, got_bytes;   /**< Received by it, in order. */
};

/** What a port or node counts. */
struct u_pipe_stats {
	uint64_t received, sent, dropped;
	uint64_t rx_bytes, tx_bytes; /**< 0 if they are not counted. */
};

/** A kind of pipeline. */
struct u_pipe_kind {
	/** Forward all of *in* to *out*. NULL: refused. */
	void *(*create)(struct u_pipe *u, uint32_t queue_size);
	void (*run)(void *pipeline);
	void (*stats)(void *pipeline, struct u_pipe_stats *st);
	void (*free)(void *pipeline);
	bool counts_bytes;
};

extern const struct u_pipe_kind u_pipe_port, u_pipe_swx, u_pipe_node;

/* posted: buffers of the host's consumer. */
void u_pipe_open(struct u_pipe *u, uint32_t posted);
/* All mbufs must be back in their pools. */
void u_pipe_close(struct u_pipe *u);

/* Length of message i. */
uint32_t u_pipe_len(uint64_t i);
/* Send up to n more numbered mbufs to the DPU; how many were taken. */
uint16_t u_pipe_send(struct u_pipe *u, uint16_t n);
/* Receive what came back; numbers must count up. How many there were. */
uint16_t u_pipe_recv(struct u_pipe *u);
/* The host's consumer and producer end, whether it has received all or not. */
void u_pipe_host_stop(struct u_pipe *u);

#endif /* U_PIPE_H */
