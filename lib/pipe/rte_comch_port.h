/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_PORT_H
#define RTE_COMCH_PORT_H

/**
 * @file
 * Ports of rte_pipeline and rte_swx over producers and consumers.
 *
 * For rte_pipeline:
 *
 *     struct rte_comch_port_in_params arg = { .in = &in };
 *     struct rte_pipeline_port_in_params params = {
 *             .ops = &rte_comch_port_in_ops, .arg_create = &arg, .burst_size = 32,
 *     };
 *     rte_pipeline_port_in_create(pipeline, &params, &port_id);
 *
 * For rte_swx:
 *
 *     rte_swx_pipeline_port_in_type_register(pipeline, "comch", &rte_comch_swx_port_in_ops);
 *     rte_swx_pipeline_port_in_config(pipeline, 0, "comch", &arg);
 *
 * A port takes over an end (rte_comch_pipe.h). Creating one logs the reason and returns NULL
 * if a parameter is invalid or another port or node has the end. Freeing one frees the mbufs
 * that it still has.
 *
 * Output ports send full bursts. Call rte_pipeline_flush() or rte_swx_pipeline_flush()
 * regularly: it sends what is left and frees completed mbufs.
 *
 * Threads: a port belongs to the thread that runs its pipeline.
 */

/* DPDK's rings use ssize_t without it. */
#include <sys/types.h>

#include <rte_port.h>
#include <rte_swx_port.h>

#include <rte_comch_pipe.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of an input port. Zero means default. */
struct rte_comch_port_in_params {
	struct rte_comch_pipe_in *in; /**< The application's; must outlive the port. */
	/** rte_swx only: mbufs per receive, 1 to 64; default 32. */
	uint32_t burst_size;
};

/** Parameters of an output port. Zero means default. */
struct rte_comch_port_out_params {
	struct rte_comch_pipe_out *out; /**< The application's; must outlive the port. */
	uint32_t burst_size; /**< Mbufs per send, a power of 2, 1 to 64; default 32. */
	uint32_t queue_size; /**< Mbufs that can wait, burst_size to 32768; default 512. */
};

/**
 * Input port of rte_pipeline. arg_create is a struct rte_comch_port_in_params. Statistics:
 * n_pkts_in counts received packets, n_pkts_drop is 0.
 */
extern struct rte_port_in_ops rte_comch_port_in_ops;

/**
 * Output port of rte_pipeline. arg_create is a struct rte_comch_port_out_params. Statistics:
 * n_pkts_in counts packets given to the port, n_pkts_drop those for which the queue had no
 * room.
 */
extern struct rte_port_out_ops rte_comch_port_out_ops;

/** Input port of rte_swx. args is a struct rte_comch_port_in_params. */
extern struct rte_swx_port_in_ops rte_comch_swx_port_in_ops;

/**
 * Output port of rte_swx. args is a struct rte_comch_port_out_params. n_pkts and n_bytes
 * count packets that rte_comch_tx_burst() accepted.
 */
extern struct rte_swx_port_out_ops rte_comch_swx_port_out_ops;

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_PORT_H */
