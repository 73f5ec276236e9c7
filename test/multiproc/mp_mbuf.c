/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "mp_mbuf.h"

static uint32_t
peer_consumer(const struct mp_mbuf *m)
{
	const struct t_ev *ev = t_find(m->e->node, RTE_COMCH_EVENT_CONSUMER_NEW, m->conn, 0);

	return ev == NULL ? 0 : ev->e.consumer.id;
}

void
mp_mbuf_open(struct mp_mbuf *m, struct mp_end *e, struct rte_comch_conn *conn,
		struct rte_mempool *pool, uint32_t depth, uint32_t flags)
{
	const struct rte_comch_consumer_conf conf = { .queue_size = depth, .flags = flags };

	*m = (struct mp_mbuf){ .e = e, .conn = conn };
	m->cons = t_consumer_new(conn, &conf, rte_comch_mempool_mr(pool));
	t_consumer_run(m->cons);
	T_EQ(rte_comch_consumer_rx_setup(m->cons, pool), 0);
	m->prod = t_producer_new(conn, NULL);
	T_UNTIL((m->id = peer_consumer(m)) != 0);
}

void
mp_mbuf_send(struct mp_mbuf *m, struct rte_mbuf **mbufs, unsigned int n)
{
	unsigned int sent = 0;

	T_UNTIL((sent += rte_comch_tx_burst(m->prod, m->id, &mbufs[sent],
		(uint16_t)(n - sent))) == n);
}

void
mp_mbuf_recv(struct mp_mbuf *m, struct rte_mbuf **mbufs, unsigned int n)
{
	unsigned int got = 0;

	T_UNTIL((got += rte_comch_rx_burst(m->cons, &mbufs[got], (uint16_t)(n - got))) == n);
}

struct rte_comch_producer_stats
mp_mbuf_stats(const struct mp_mbuf *m)
{
	struct rte_comch_producer_stats st;

	T_EQ(rte_comch_producer_stats_get(m->prod, &st), 0);
	return st;
}

static bool
is_drained(const struct mp_mbuf *m)
{
	struct rte_mbuf *mbufs[MP_BURST];
	uint16_t n = rte_comch_rx_burst(m->cons, mbufs, MP_BURST);

	rte_pktmbuf_free_bulk(mbufs, n);
	return n == 0 && rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_IDLE;
}

void
mp_mbuf_close(struct mp_mbuf *m)
{
	t_producer_end(m->prod);
	/* It may be on its way to IDLE after a disconnect. */
	if (rte_comch_consumer_state(m->cons) == RTE_COMCH_STATE_RUNNING)
		rte_comch_consumer_stop(m->cons);
	T_UNTIL(is_drained(m));
	T_EQ(rte_comch_consumer_destroy(m->cons), 0);
	t_settle();
}
