/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Streams of mbufs: source, sink, drop, echo, relay and io. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "stream.h"

#define SPARE      1023
#define POOL_CACHE 64

int
tc_source_pool(struct tc_producer *p, uint32_t size)
{
	struct rte_mempool *mp = p->pool;
	int ret;

	if (mp != NULL)
		return rte_pktmbuf_data_room_size(mp) >= RTE_PKTMBUF_HEADROOM + size ? 0 : -EBUSY;
	if (size > UINT16_MAX - RTE_PKTMBUF_HEADROOM)
		return -EMSGSIZE;
	mp = rte_pktmbuf_pool_create(p->obj.name, p->queue + SPARE, POOL_CACHE, 0,
			(uint16_t)(RTE_PKTMBUF_HEADROOM + size), SOCKET_ID_ANY);
	if (mp == NULL)
		return -rte_errno;
	if (rte_comch_mempool_register(mp, 0) == NULL) {
		ret = -rte_errno;
		rte_mempool_free(mp);
		return ret;
	}
	p->pool = mp;
	return 0;
}

static void
free_waiting(struct tc_mbufs *w)
{
	if (w->nb > 0)
		rte_pktmbuf_free_bulk(&w->m[w->head], w->nb);
	w->nb = 0;
}

static void
mbufs_stop(struct tc_stream *s)
{
	free_waiting(&s->to_tx);
	free_waiting(&s->to_port);
}

static uint64_t
nb_bytes(struct rte_mbuf *const *m, uint16_t n)
{
	uint64_t bytes = 0;
	uint16_t i;

	for (i = 0; i < n; i++)
		bytes += m[i]->pkt_len;
	return bytes;
}

/* Offer what waits for the producer. @return mbufs accepted */
static uint16_t
send_waiting(struct tc_stream *s)
{
	struct tc_mbufs *w = &s->to_tx;
	uint16_t offered = w->nb, taken;
	uint64_t bytes;

	/* Accepted mbufs may be freed at once: count before. */
	bytes = nb_bytes(&w->m[w->head], w->nb);
	taken = rte_comch_tx_burst(s->tx->producer, s->target_id, &w->m[w->head], w->nb);
	w->head += taken;
	w->nb -= taken;
	bytes -= nb_bytes(&w->m[w->head], w->nb);
	tc_count(&s->n.tx_msgs, taken);
	tc_count(&s->n.tx_bytes, bytes);
	if (taken < offered)
		tc_count(&s->n.later, 1);
	return taken;
}

static uint16_t
receive_mbufs(struct tc_stream *s, struct rte_mbuf **m, uint16_t max)
{
	uint16_t n = rte_comch_rx_burst(s->rx->consumer, m, max);

	tc_count(&s->n.rx_msgs, n);
	tc_count(&s->n.rx_bytes, nb_bytes(m, n));
	return n;
}

static uint32_t
source_pass(struct tc_stream *s)
{
	uint16_t n = (uint16_t)RTE_MIN((uint64_t)s->burst, s->left), i;
	struct tc_mbufs *w = &s->to_tx;

	if (w->nb == 0 && n > 0 && rte_pktmbuf_alloc_bulk(s->tx->pool, w->m, n) == 0) {
		for (i = 0; i < n; i++) {
			w->m[i]->data_len = (uint16_t)s->size;
			w->m[i]->pkt_len = s->size;
			tc_stamp_write(s, rte_pktmbuf_mtod(w->m[i], void *), s->size);
		}
		w->head = 0;
		w->nb = n;
		s->left -= n;
	}
	n = send_waiting(s);
	if (w->nb == 0 && s->left == 0)
		tc_stream_done(s);
	return n;
}

static inline uint32_t
receive_pass(struct tc_stream *s, bool check)
{
	uint16_t max = (uint16_t)RTE_MIN((uint64_t)s->burst, s->left), n, i;
	struct rte_mbuf **m = s->to_tx.m;

	n = receive_mbufs(s, m, max);
	for (i = 0; check && i < n; i++)
		tc_stamp_check(s, rte_pktmbuf_mtod(m[i], const void *), m[i]->data_len);
	rte_pktmbuf_free_bulk(m, n);
	s->left -= n;
	if (s->left == 0)
		tc_stream_done(s);
	return n;
}

static uint32_t
sink_pass(struct tc_stream *s)
{
	return receive_pass(s, true);
}

static uint32_t
drop_pass(struct tc_stream *s)
{
	return receive_pass(s, false);
}

static uint32_t
forward_pass(struct tc_stream *s)
{
	uint16_t max = (uint16_t)RTE_MIN((uint64_t)s->burst, s->left), n = 0;
	struct tc_mbufs *w = &s->to_tx;

	if (w->nb == 0) {
		n = receive_mbufs(s, w->m, max);
		w->head = 0;
		w->nb = n;
		s->left -= n;
	}
	n += send_waiting(s);
	if (w->nb == 0 && s->left == 0)
		tc_stream_done(s);
	return n;
}

/* Offer what waits for the port. What it does not take is offered again. */
static uint16_t
send_port(struct tc_stream *s)
{
	struct tc_mbufs *w = &s->to_port;
	uint16_t taken;

	if (w->nb == 0)
		return 0;
	taken = rte_eth_tx_burst(s->port, 0, &w->m[w->head], w->nb);
	w->head += taken;
	w->nb -= taken;
	if (w->nb > 0)
		tc_count(&s->n.later, 1);
	return taken;
}

/* A burst each way. Neither way receives more while it has something to send. */
static uint32_t
io_pass(struct tc_stream *s)
{
	struct tc_mbufs *tx = &s->to_tx, *port = &s->to_port;
	uint32_t moved = 0;

	if (tx->nb == 0) {
		tx->head = 0;
		tx->nb = rte_eth_rx_burst(s->port, 0, tx->m, (uint16_t)s->burst);
		moved += tx->nb;
	}
	moved += send_waiting(s);
	if (port->nb == 0) {
		port->head = 0;
		port->nb = receive_mbufs(s, port->m, (uint16_t)s->burst);
		moved += port->nb;
	}
	return moved + send_port(s);
}

const struct tc_engine tc_engine_source_mbuf = { source_pass, mbufs_stop };
const struct tc_engine tc_engine_sink_mbuf = { sink_pass, mbufs_stop };
const struct tc_engine tc_engine_drop_mbuf = { drop_pass, mbufs_stop };
const struct tc_engine tc_engine_pass_mbuf = { forward_pass, mbufs_stop };
const struct tc_engine tc_engine_io = { io_pass, mbufs_stop };
