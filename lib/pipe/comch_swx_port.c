/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Ports of rte_swx, which takes and gives one packet at a time. */

#include <errno.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "rte_comch_port.h"
#include "comch_outq.h"

#define SWX_BURST_MAX 64u

struct swx_in {
	struct rte_comch_pipe_in *in;
	uint32_t burst;
	uint32_t next; /* to hand out, of count received ones */
	uint32_t count;
	uint64_t begin_received; /* of the end, when the port was created */
	uint64_t handed_bytes;
	uint64_t nb_empty;
	struct rte_mbuf *mbufs[SWX_BURST_MAX + 1]; /* the last one is there twice */
};

struct swx_out {
	struct comch_outq *q;
	uint64_t begin_sent;    /* of the end, when the port was created */
	uint64_t begin_dropped; /* likewise */
	uint64_t given_bytes;
	struct rte_swx_port_out_stats stats; /* clones */
};

static void *
swx_in_create(void *args)
{
	const struct rte_comch_port_in_params *params = args;
	struct swx_in *p;

	if (params != NULL && params->burst_size > SWX_BURST_MAX) {
		COMCH_PIPE_LOG(ERR, "rte_swx input port: burst_size %u is not from 1 to %u",
				params->burst_size, SWX_BURST_MAX);
		return NULL;
	}
	p = rte_zmalloc("comch_swx_in", sizeof(*p), RTE_CACHE_LINE_SIZE);
	if (p == NULL) {
		COMCH_PIPE_LOG(ERR, "rte_swx input port: no memory");
		return NULL;
	}
	if (comch_in_take(params == NULL ? NULL : params->in, p, "rte_swx input port") < 0) {
		rte_free(p);
		return NULL;
	}
	p->in = params->in;
	p->begin_received = params->in->nb_received;
	p->burst = params->burst_size == 0 ? COMCH_PIPE_BURST : params->burst_size;
	return p;
}

static void
swx_in_free(void *port)
{
	struct swx_in *p = port;

	if (p == NULL)
		return;
	rte_pktmbuf_free_bulk(&p->mbufs[p->next], p->count - p->next);
	p->in->reserved = NULL;
	rte_free(p);
}

/* Receive a burst. Not inlined: what is done for each packet is a few instructions. */
static __rte_noinline bool
swx_in_refill(struct swx_in *p)
{
	p->next = 0;
	p->count = comch_in_recv(p->in, p->mbufs, (uint16_t)p->burst);
	if (p->count == 0) {
		p->nb_empty++;
		return false;
	}
	p->mbufs[p->count] = p->mbufs[p->count - 1];
	rte_prefetch0(rte_pktmbuf_mtod(p->mbufs[0], void *));
	return true;
}

static int
swx_in_rx(void *port, struct rte_swx_pkt *pkt)
{
	struct swx_in *p = port;
	struct rte_mbuf *m;

	if (unlikely(p->next == p->count) && !swx_in_refill(p))
		return 0;
	m = p->mbufs[p->next++];
	rte_prefetch0(rte_pktmbuf_mtod(p->mbufs[p->next], void *));
	pkt->handle = m;
	pkt->pkt = m->buf_addr;
	pkt->offset = m->data_off;
	pkt->length = m->pkt_len;
	p->handed_bytes += m->pkt_len;
	return 1;
}

static void
swx_in_stats(void *port, struct rte_swx_port_in_stats *stats)
{
	const struct swx_in *p = port;

	*stats = (struct rte_swx_port_in_stats){
		.n_pkts = p->in->nb_received - p->begin_received - (p->count - p->next),
		.n_bytes = p->handed_bytes,
		.n_empty = p->nb_empty,
	};
}

struct rte_swx_port_in_ops rte_comch_swx_port_in_ops = {
	.create = swx_in_create,
	.free = swx_in_free,
	.pkt_rx = swx_in_rx,
	.stats_read = swx_in_stats,
};

static void *
swx_out_create(void *args)
{
	const struct rte_comch_port_out_params *params = args;
	struct swx_out *p;

	p = rte_zmalloc("comch_swx_out", sizeof(*p), RTE_CACHE_LINE_SIZE);
	if (p == NULL) {
		COMCH_PIPE_LOG(ERR, "rte_swx output port: no memory");
		return NULL;
	}
	p->q = comch_outq_create(params == NULL ? NULL : params->out,
			params == NULL ? 0 : params->burst_size,
			params == NULL ? 0 : params->queue_size,
			SOCKET_ID_ANY, "rte_swx output port");
	if (p->q == NULL) {
		rte_free(p);
		return NULL;
	}
	p->begin_sent = params->out->nb_sent;
	p->begin_dropped = params->out->nb_dropped;
	return p;
}

static void
swx_out_free(void *port)
{
	struct swx_out *p = port;

	if (p == NULL)
		return;
	comch_outq_free(p->q);
	rte_free(p);
}

/* The pipeline has edited the headers, which are in the first segment. */
static inline struct rte_mbuf *
swx_mbuf(const struct rte_swx_pkt *pkt)
{
	struct rte_mbuf *m = pkt->handle;

	m->data_len = (uint16_t)(m->data_len + pkt->length - m->pkt_len);
	m->pkt_len = pkt->length;
	m->data_off = (uint16_t)pkt->offset;
	return m;
}

static inline void
swx_send(struct swx_out *p, struct rte_mbuf *m)
{
	p->given_bytes += m->pkt_len;
	comch_outq_send_one(p->q, m);
}

static void
swx_out_tx(void *port, struct rte_swx_pkt *pkt)
{
	swx_send(port, swx_mbuf(pkt));
}

static void
swx_out_fast_clone_tx(void *port, struct rte_swx_pkt *pkt)
{
	struct swx_out *p = port;
	struct rte_mbuf *m = swx_mbuf(pkt);

	rte_pktmbuf_refcnt_update(m, 1);
	p->stats.n_pkts_clone++;
	swx_send(p, m);
}

static void
swx_out_clone_tx(void *port, struct rte_swx_pkt *pkt, uint32_t truncation_length)
{
	struct swx_out *p = port;
	struct rte_mbuf *m = swx_mbuf(pkt), *clone;

	clone = rte_pktmbuf_copy(m, m->pool, 0, truncation_length);
	if (clone == NULL) {
		p->stats.n_pkts_clone_err++;
		return;
	}
	p->stats.n_pkts_clone++;
	swx_send(p, clone);
}

static void
swx_out_flush(void *port)
{
	comch_outq_flush(((struct swx_out *)port)->q);
}

static void
swx_out_stats(void *port, struct rte_swx_port_out_stats *stats)
{
	const struct swx_out *p = port;
	const struct comch_outq *q = p->q;
	uint64_t pending_bytes = 0;
	uint32_t i;

	for (i = 0; i < q->count; i++)
		pending_bytes += q->mbufs[q->head + i]->pkt_len;
	*stats = p->stats;
	stats->n_pkts = q->out->nb_sent - p->begin_sent;
	stats->n_bytes = p->given_bytes - pending_bytes - q->dropped_bytes;
	stats->n_pkts_drop = q->out->nb_dropped - p->begin_dropped;
	stats->n_bytes_drop = q->dropped_bytes;
}

struct rte_swx_port_out_ops rte_comch_swx_port_out_ops = {
	.create = swx_out_create,
	.free = swx_out_free,
	.pkt_tx = swx_out_tx,
	.pkt_fast_clone_tx = swx_out_fast_clone_tx,
	.pkt_clone_tx = swx_out_clone_tx,
	.flush = swx_out_flush,
	.stats_read = swx_out_stats,
};
