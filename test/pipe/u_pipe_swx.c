/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* rte_swx: a program of two instructions that sends packets to the port of their number. */

#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>

#include <rte_comch_port.h>

#include "u_pipe.h"

/* Instructions per run: some bursts of packets. */
#define RUN_INSTRUCTIONS 1000

static void
program(struct rte_swx_pipeline *p)
{
	struct rte_swx_field_params fields[] = { { .name = "port", .n_bits = 32 } };
	const char *instructions[] = { "rx m.port", "tx m.port" };

	T_EQ(rte_swx_pipeline_struct_type_register(p, "meta_t", fields, RTE_DIM(fields), 0), 0);
	T_EQ(rte_swx_pipeline_packet_metadata_register(p, "meta_t"), 0);
	T_EQ(rte_swx_pipeline_instructions_config(p, instructions, RTE_DIM(instructions)), 0);
	T_EQ(rte_swx_pipeline_build(p), 0);
}

static void *
swx_create(struct u_pipe *u, uint32_t queue_size)
{
	struct rte_comch_port_in_params in = { .in = &u->in };
	struct rte_comch_port_out_params out = { .out = &u->out, .queue_size = queue_size };
	static unsigned int number;
	struct rte_swx_pipeline *p;
	char name[32];

	/* A name is not used twice. */
	snprintf(name, sizeof(name), "u_pipe%u", number++);
	T_EQ(rte_swx_pipeline_config(&p, name, 0), 0);
	T_EQ(rte_swx_pipeline_port_in_type_register(p, "comch", &rte_comch_swx_port_in_ops), 0);
	T_EQ(rte_swx_pipeline_port_out_type_register(p, "comch", &rte_comch_swx_port_out_ops), 0);
	if (rte_swx_pipeline_port_in_config(p, 0, "comch", &in) != 0 ||
			rte_swx_pipeline_port_out_config(p, 0, "comch", &out) != 0) {
		rte_swx_pipeline_free(p);
		return NULL;
	}
	program(p);
	return p;
}

static void
swx_run(void *pipeline)
{
	rte_swx_pipeline_run(pipeline, RUN_INSTRUCTIONS);
	rte_swx_pipeline_flush(pipeline);
}

static void
swx_stats(void *pipeline, struct u_pipe_stats *st)
{
	struct rte_swx_port_out_stats out;
	struct rte_swx_port_in_stats in;

	T_EQ(rte_swx_ctl_pipeline_port_in_stats_read(pipeline, 0, &in), 0);
	T_EQ(rte_swx_ctl_pipeline_port_out_stats_read(pipeline, 0, &out), 0);
	T_GT(in.n_empty, 0);
	T_EQ(out.n_pkts_clone + out.n_pkts_clone_err, 0);
	st->received = in.n_pkts;
	st->rx_bytes = in.n_bytes;
	st->sent = out.n_pkts;
	st->tx_bytes = out.n_bytes;
	st->dropped = out.n_pkts_drop;
}

static void
swx_free(void *pipeline)
{
	rte_swx_pipeline_free(pipeline);
}

const struct u_pipe_kind u_pipe_swx = {
	.create = swx_create,
	.run = swx_run,
	.stats = swx_stats,
	.free = swx_free,
	.counts_bytes = true,
};
