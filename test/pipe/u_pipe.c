/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_comch_mbuf.h>

#include "u_pipe.h"

static const struct t_driver driver = { .name = "comch_shm", .has_dir = true };

static struct rte_mempool *
pool_new(const char *name)
{
	struct rte_mempool *mp;

	mp = rte_comch_pktmbuf_pool_create(name, U_PIPE_MBUFS, 0, 0,
			U_PIPE_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (mp == NULL)
		T_FAIL("pool %s: %s", name, strerror(rte_errno));
	return mp;
}

static struct rte_comch_consumer *
consumer_new(struct rte_comch_conn *conn, struct rte_mempool *mp, uint32_t posted)
{
	struct rte_comch_consumer_conf cc = { .queue_size = posted };
	struct rte_comch_consumer *cons;

	cons = t_consumer_new(conn, &cc, rte_comch_mempool_mr(mp));
	t_consumer_run(cons);
	T_EQ(rte_comch_consumer_rx_setup(cons, mp), 0);
	return cons;
}

void
u_pipe_open(struct u_pipe *u, uint32_t posted)
{
	memset(u, 0, sizeof(*u));
	t_driver = &driver;
	t_eal_start(1);
	t_pair_open(&u->p, NULL);
	u->host_tx = pool_new("host_tx");
	u->host_rx = pool_new("host_rx");
	u->dpu_rx = pool_new("dpu_rx");
	u->from_dpu = consumer_new(u->p.cconn, u->host_rx, posted);
	u->dpu_cons = consumer_new(u->p.sconn, u->dpu_rx, U_PIPE_POSTED);
	u->to_dpu = t_producer_new(u->p.cconn, NULL);
	u->dpu_prod = t_producer_new(u->p.sconn, NULL);
	u->dpu_cons_id = rte_comch_consumer_id(u->dpu_cons);
	u->host_cons_id = rte_comch_consumer_id(u->from_dpu);
	T_UNTIL(t_knows_consumer(u->p.host, u->p.cconn, u->dpu_cons_id) &&
		t_knows_consumer(u->p.dpu, u->p.sconn, u->host_cons_id));
	u->in.consumer = u->dpu_cons;
	u->out.producer = u->dpu_prod;
	u->out.consumer_id = u->host_cons_id;
}

/* The posted mbufs go back to the pool. */
static void
consumer_end(struct rte_comch_consumer *cons)
{
	struct rte_mbuf *mbuf;

	if (rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING)
		T_EQ(rte_comch_consumer_stop(cons), -EINPROGRESS);
	while (rte_comch_consumer_state(cons) != RTE_COMCH_STATE_IDLE) {
		if (rte_comch_rx_burst(cons, &mbuf, 1) == 1)
			rte_pktmbuf_free(mbuf);
		t_step_all();
	}
	t_consumer_end(cons);
}

/* Mbufs that it still has are freed. */
static void
producer_end(struct rte_comch_producer *prod)
{
	struct rte_mbuf *none;
	int rc = rte_comch_producer_stop(prod);

	if (rc != 0 && rc != -EBADFD)
		T_EQ(rc, -EINPROGRESS);
	T_UNTIL(rte_comch_tx_burst(prod, 0, &none, 0) == 0 &&
		rte_comch_producer_state(prod) == RTE_COMCH_STATE_IDLE);
	t_producer_end(prod);
}

void
u_pipe_host_stop(struct u_pipe *u)
{
	consumer_end(u->from_dpu);
	u->from_dpu = NULL;
	producer_end(u->to_dpu);
	u->to_dpu = NULL;
}

void
u_pipe_close(struct u_pipe *u)
{
	if (u->from_dpu != NULL)
		u_pipe_host_stop(u);
	producer_end(u->dpu_prod);
	consumer_end(u->dpu_cons);
	t_settle();
	/* -EBUSY if an mbuf is missing. */
	T_EQ(rte_comch_pktmbuf_pool_free(u->host_tx), 0);
	T_EQ(rte_comch_pktmbuf_pool_free(u->host_rx), 0);
	T_EQ(rte_comch_pktmbuf_pool_free(u->dpu_rx), 0);
	t_pair_close(&u->p);
	t_eal_stop();
}

uint32_t
u_pipe_len(uint64_t i)
{
	return 60 + (uint32_t)(i * 7 % 1440);
}

uint16_t
u_pipe_send(struct u_pipe *u, uint16_t n)
{
	struct rte_mbuf *mbufs[64];
	uint16_t i, taken;
	uint32_t len;

	n = RTE_MIN(n, (uint16_t)RTE_DIM(mbufs));
	/* Those sent before may still be out. */
	T_EQ(rte_comch_tx_burst(u->to_dpu, u->dpu_cons_id, mbufs, 0), 0);
	if (rte_pktmbuf_alloc_bulk(u->host_tx, mbufs, n) != 0)
		return 0;
	for (i = 0; i < n; i++) {
		len = u_pipe_len(u->sent + i);
		t_fill(rte_pktmbuf_append(mbufs[i], (uint16_t)len), len, u->sent + i);
	}
	taken = rte_comch_tx_burst(u->to_dpu, u->dpu_cons_id, mbufs, n);
	rte_pktmbuf_free_bulk(&mbufs[taken], n - taken);
	for (i = 0; i < taken; i++)
		u->sent_bytes += u_pipe_len(u->sent++);
	return taken;
}

uint16_t
u_pipe_recv(struct u_pipe *u)
{
	struct rte_mbuf *mbufs[64];
	uint16_t i, n;

	n = rte_comch_rx_burst(u->from_dpu, mbufs, RTE_DIM(mbufs));
	for (i = 0; i < n; i++, u->got++) {
		T_EQ(rte_pktmbuf_pkt_len(mbufs[i]), u_pipe_len(u->got));
		T_EQ(mbufs[i]->nb_segs, 1);
		T_VERIFY(rte_pktmbuf_mtod(mbufs[i], void *), u_pipe_len(u->got), u->got);
		u->got_bytes += u_pipe_len(u->got);
	}
	rte_pktmbuf_free_bulk(mbufs, n);
	return n;
}
