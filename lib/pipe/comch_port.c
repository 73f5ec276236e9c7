/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Ports of rte_pipeline. They need no function of librte_port, only its header. */

#include <errno.h>

#include <rte_malloc.h>

#include "rte_comch_port.h"
#include "comch_outq.h"

/* Counters of an end at the last time that the statistics were cleared. */
struct port_in {
	struct rte_comch_pipe_in *in;
	uint64_t cleared_received;
};

struct port_out {
	struct comch_outq *q;
	uint64_t cleared_given;
	uint64_t cleared_dropped;
};

static void *
port_in_create(void *params, int socket_id)
{
	const struct rte_comch_port_in_params *p = params;
	struct port_in *port;

	port = rte_zmalloc_socket("comch_port_in", sizeof(*port), RTE_CACHE_LINE_SIZE, socket_id);
	if (port == NULL) {
		COMCH_PIPE_LOG(ERR, "input port: no memory");
		return NULL;
	}
	if (comch_in_take(p == NULL ? NULL : p->in, port, "input port") < 0) {
		rte_free(port);
		return NULL;
	}
	port->in = p->in;
	port->cleared_received = p->in->nb_received;
	return port;
}

static int
port_in_free(void *port)
{
	struct port_in *p = port;

	if (p == NULL)
		return -EINVAL;
	p->in->reserved = NULL;
	rte_free(p);
	return 0;
}

static int
port_in_rx(void *port, struct rte_mbuf **pkts, uint32_t n_pkts)
{
	struct port_in *p = port;

	return comch_in_recv(p->in, pkts, (uint16_t)n_pkts);
}

static int
port_in_stats(void *port, struct rte_port_in_stats *stats, int clear)
{
	struct port_in *p = port;
	const uint64_t received = p->in->nb_received;

	if (stats != NULL) {
		stats->n_pkts_in = received - p->cleared_received;
		stats->n_pkts_drop = 0;
	}
	if (clear)
		p->cleared_received = received;
	return 0;
}

struct rte_port_in_ops rte_comch_port_in_ops = {
	.f_create = port_in_create,
	.f_free = port_in_free,
	.f_rx = port_in_rx,
	.f_stats = port_in_stats,
};

/* Mbufs given to the port so far. */
static uint64_t
given(const struct port_out *p)
{
	const struct rte_comch_pipe_out *out = p->q->out;

	return out->nb_sent + out->nb_pending + out->nb_dropped;
}

static void *
port_out_create(void *params, int socket_id)
{
	const struct rte_comch_port_out_params *p = params;
	struct port_out *port;

	port = rte_zmalloc_socket("comch_port_out", sizeof(*port), RTE_CACHE_LINE_SIZE, socket_id);
	if (port == NULL) {
		COMCH_PIPE_LOG(ERR, "output port: no memory");
		return NULL;
	}
	port->q = comch_outq_create(p == NULL ? NULL : p->out, p == NULL ? 0 : p->burst_size,
			p == NULL ? 0 : p->queue_size, socket_id, "output port");
	if (port->q == NULL) {
		rte_free(port);
		return NULL;
	}
	port->cleared_given = given(port);
	port->cleared_dropped = p->out->nb_dropped;
	return port;
}

static int
port_out_free(void *port)
{
	struct port_out *p = port;

	if (p == NULL)
		return -EINVAL;
	comch_outq_free(p->q);
	rte_free(p);
	return 0;
}

static int
port_out_tx(void *port, struct rte_mbuf *pkt)
{
	struct port_out *p = port;

	comch_outq_send_one(p->q, pkt);
	return 0;
}

static int
port_out_tx_bulk(void *port, struct rte_mbuf **pkts, uint64_t pkts_mask)
{
	struct comch_outq *q = ((struct port_out *)port)->q;

	/* The usual mask: the first n packets. */
	if (likely((pkts_mask & (pkts_mask + 1)) == 0)) {
		comch_outq_send(q, pkts, (uint32_t)__builtin_popcountll(pkts_mask));
		return 0;
	}
	for (; pkts_mask != 0; pkts_mask &= pkts_mask - 1)
		comch_outq_send_one(q, pkts[__builtin_ctzll(pkts_mask)]);
	return 0;
}

static int
port_out_flush(void *port)
{
	comch_outq_flush(((struct port_out *)port)->q);
	return 0;
}

static int
port_out_stats(void *port, struct rte_port_out_stats *stats, int clear)
{
	struct port_out *p = port;
	const uint64_t dropped = p->q->out->nb_dropped;

	if (stats != NULL) {
		stats->n_pkts_in = given(p) - p->cleared_given;
		stats->n_pkts_drop = dropped - p->cleared_dropped;
	}
	if (clear) {
		p->cleared_given = given(p);
		p->cleared_dropped = dropped;
	}
	return 0;
}

struct rte_port_out_ops rte_comch_port_out_ops = {
	.f_create = port_out_create,
	.f_free = port_out_free,
	.f_tx = port_out_tx,
	.f_tx_bulk = port_out_tx_bulk,
	.f_flush = port_out_flush,
	.f_stats = port_out_stats,
};
