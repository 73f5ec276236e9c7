/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* rte_pipeline: an input port, a table whose default entry is the output port. */

#include <rte_malloc.h>
#include <rte_pipeline.h>
#include <rte_table_stub.h>

#include <rte_comch_port.h>

#include "u_pipe.h"

struct port_pipe {
	struct rte_pipeline *p;
	struct u_pipe *u;
	uint32_t in, out, table;
};

static void
create_table(struct port_pipe *pp)
{
	struct rte_pipeline_table_params params = { .ops = &rte_table_stub_ops };
	struct rte_pipeline_table_entry entry = { .action = RTE_PIPELINE_ACTION_PORT };
	struct rte_pipeline_table_entry *stored;

	entry.port_id = pp->out;
	T_EQ(rte_pipeline_table_create(pp->p, &params, &pp->table), 0);
	T_EQ(rte_pipeline_table_default_entry_add(pp->p, pp->table, &entry, &stored), 0);
	T_EQ(rte_pipeline_port_in_connect_to_table(pp->p, pp->in, pp->table), 0);
	T_EQ(rte_pipeline_port_in_enable(pp->p, pp->in), 0);
	T_EQ(rte_pipeline_check(pp->p), 0);
}

static void *
port_create(struct u_pipe *u, uint32_t queue_size)
{
	struct rte_pipeline_params params = { .name = "u_pipe", .socket_id = 0 };
	struct rte_comch_port_in_params in = { .in = &u->in };
	struct rte_comch_port_out_params out = { .out = &u->out, .queue_size = queue_size };
	struct rte_pipeline_port_in_params in_params = {
		.ops = &rte_comch_port_in_ops, .arg_create = &in, .burst_size = 32,
	};
	struct rte_pipeline_port_out_params out_params = {
		.ops = &rte_comch_port_out_ops, .arg_create = &out,
	};
	struct port_pipe *pp = rte_zmalloc("port_pipe", sizeof(*pp), 0);

	T_CHECK(pp != NULL);
	pp->u = u;
	pp->p = rte_pipeline_create(&params);
	T_CHECK(pp->p != NULL);
	if (rte_pipeline_port_in_create(pp->p, &in_params, &pp->in) != 0 ||
			rte_pipeline_port_out_create(pp->p, &out_params, &pp->out) != 0) {
		rte_pipeline_free(pp->p);
		rte_free(pp);
		return NULL;
	}
	create_table(pp);
	return pp;
}

static void
port_run(void *pipeline)
{
	struct port_pipe *pp = pipeline;

	rte_pipeline_run(pp->p);
	rte_pipeline_flush(pp->p);
}

static void
port_stats(void *pipeline, struct u_pipe_stats *st)
{
	struct port_pipe *pp = pipeline;
	struct rte_pipeline_port_out_stats out;
	struct rte_pipeline_port_in_stats in;

	T_EQ(rte_pipeline_port_in_stats_read(pp->p, pp->in, &in, 0), 0);
	T_EQ(rte_pipeline_port_out_stats_read(pp->p, pp->out, &out, 0), 0);
	T_EQ(in.stats.n_pkts_drop, 0);
	st->received = in.stats.n_pkts_in;
	st->dropped = out.stats.n_pkts_drop;
	st->sent = out.stats.n_pkts_in - out.stats.n_pkts_drop - pp->u->out.nb_pending;
}

static void
port_free(void *pipeline)
{
	struct port_pipe *pp = pipeline;

	T_EQ(rte_pipeline_free(pp->p), 0);
	rte_free(pp);
}

const struct u_pipe_kind u_pipe_port = {
	.create = port_create,
	.run = port_run,
	.stats = port_stats,
	.free = port_free,
};
