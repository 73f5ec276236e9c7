/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An rte_pipeline on the DPU that receives packets from the host, swaps their addresses and
 * sends them back:
 *
 *     input port --> action: swap --> table (default entry: output port) --> output port
 *
 * The pipeline is built once. Clients come and go: ../mbuf_common/pipe.c binds the ends of the
 * ports to the consumer and producer of the present one, and calls run().
 */

#include <rte_pipeline.h>
#include <rte_table_stub.h>

#include <rte_comch_port.h>

#include "../mbuf_common/packet.h"
#include "../mbuf_common/pipe.h"

static struct rte_pipeline *pipeline;
static uint32_t port_in, port_out, table;

/* The action of the input port. */
static int
swap(struct rte_pipeline *p, struct rte_mbuf **pkts, uint32_t n, void *arg)
{
	uint64_t bad = 0;
	uint32_t i;

	RTE_SET_USED(arg);
	for (i = 0; i < n; i++)
		if (!packet_swap(pkts[i]))
			bad |= UINT64_C(1) << i;
	return bad == 0 ? 0 : rte_pipeline_ah_packet_drop(p, bad);
}

static int
create_ports(void)
{
	struct rte_comch_port_in_params in_arg = { .in = &pipe_in };
	struct rte_comch_port_out_params out_arg = { .out = &pipe_out };
	struct rte_pipeline_port_in_params in_params = {
		.ops = &rte_comch_port_in_ops, .arg_create = &in_arg,
		.f_action = swap, .burst_size = ENDS_BURST,
	};
	struct rte_pipeline_port_out_params out_params = {
		.ops = &rte_comch_port_out_ops, .arg_create = &out_arg,
	};
	int ret = rte_pipeline_port_in_create(pipeline, &in_params, &port_in);

	return ret != 0 ? ret : rte_pipeline_port_out_create(pipeline, &out_params, &port_out);
}

/* A table without entries: its default entry decides. */
static int
create_table(void)
{
	struct rte_pipeline_table_params params = { .ops = &rte_table_stub_ops };
	struct rte_pipeline_table_entry entry = { .action = RTE_PIPELINE_ACTION_PORT };
	struct rte_pipeline_table_entry *stored;
	int ret = rte_pipeline_table_create(pipeline, &params, &table);

	entry.port_id = port_out;
	return ret != 0 ? ret :
		rte_pipeline_table_default_entry_add(pipeline, table, &entry, &stored);
}

static int
build(void)
{
	struct rte_pipeline_params params = { .name = "pipeline", .socket_id = 0 };

	pipeline = rte_pipeline_create(&params);
	if (pipeline == NULL)
		return example_error("create pipeline", ENOMEM);
	if (create_ports() != 0 || create_table() != 0 ||
			rte_pipeline_port_in_connect_to_table(pipeline, port_in, table) != 0 ||
			rte_pipeline_port_in_enable(pipeline, port_in) != 0 ||
			rte_pipeline_check(pipeline) != 0)
		return example_error("build pipeline", EINVAL);
	return 0;
}

static void
run(void)
{
	rte_pipeline_run(pipeline);
}

static void
destroy(void)
{
	if (pipeline != NULL)
		rte_pipeline_free(pipeline);
}

int
main(int argc, char **argv)
{
	static const struct pipe_ops ops = { .build = build, .run = run, .destroy = destroy };

	return pipe_main(argc, argv, &ops);
}
