/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_RING_H
#define U_RING_H

/* A pair on the driver for one EAL, a producer, and a consumer in mbuf mode. */

#include <pthread.h>
#include <stdlib.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_comch_mbuf.h>
#include <rte_comch_stats.h>

#include "t_main.h"
#include "t_pair.h"

#define U_ROOM 2048
#define U_NB_TX 511
#define U_NB_RX 63

struct u_ring {
	struct t_pair p;
	struct rte_mempool *tx_pool;
	struct rte_mempool *rx_pool;
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	uint32_t id;
};

static const struct t_driver u_ring_driver = {
	.name = "comch_ring", .has_dir = true, .has_kernel_peer = true, .shows_heap = true,
	.maps_memory = true,
};

/* A mempool of this program's own code: TSan does not see into DPDK's libraries. */
struct u_locked {
	pthread_mutex_t lock;
	unsigned int nb;
	void *objs[];
};

static int
u_locked_alloc(struct rte_mempool *mp)
{
	struct u_locked *l = calloc(1, sizeof(*l) + mp->size * sizeof(l->objs[0]));

	pthread_mutex_init(&l->lock, NULL);
	mp->pool_data = l;
	return 0;
}

static void
u_locked_free(struct rte_mempool *mp)
{
	free(mp->pool_data);
}

static int
u_locked_put(struct rte_mempool *mp, void * const *objs, unsigned int n)
{
	struct u_locked *l = mp->pool_data;

	pthread_mutex_lock(&l->lock);
	memcpy(&l->objs[l->nb], objs, n * sizeof(objs[0]));
	l->nb += n;
	pthread_mutex_unlock(&l->lock);
	return 0;
}

static int
u_locked_get(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct u_locked *l = mp->pool_data;
	bool has;

	pthread_mutex_lock(&l->lock);
	has = l->nb >= n;
	if (has) {
		l->nb -= n;
		memcpy(objs, &l->objs[l->nb], n * sizeof(objs[0]));
	}
	pthread_mutex_unlock(&l->lock);
	return has ? 0 : -ENOBUFS;
}

static unsigned int
u_locked_count(const struct rte_mempool *mp)
{
	struct u_locked *l = mp->pool_data;
	unsigned int nb;

	pthread_mutex_lock(&l->lock);
	nb = l->nb;
	pthread_mutex_unlock(&l->lock);
	return nb;
}

static const struct rte_mempool_ops u_locked_ops = {
	.name = "locked", .alloc = u_locked_alloc, .free = u_locked_free,
	.enqueue = u_locked_put, .dequeue = u_locked_get, .get_count = u_locked_count,
};

RTE_MEMPOOL_REGISTER_OPS(u_locked_ops)

static inline struct rte_mempool *
u_ring_pool(const char *name, unsigned int n)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops(name, n, 0, 64,
			U_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY, "locked");

	T_CHECK(mp != NULL);
	T_CHECK(rte_comch_mempool_register(mp, 0) != NULL);
	return mp;
}

static inline void
u_ring_pool_free(struct rte_mempool *mp)
{
	T_CHECK(rte_mempool_full(mp));
	T_EQ(rte_comch_mempool_unregister(mp), 0);
	rte_mempool_free(mp);
}

/* Start the consumer and put it in mbuf mode; the producer's side knows it. */
static inline void
u_ring_run(struct u_ring *u)
{
	t_consumer_run(u->cons);
	u->id = rte_comch_consumer_id(u->cons);
	T_UNTIL(t_knows_consumer(u->p.host, u->p.cconn, u->id));
	T_EQ(rte_comch_consumer_rx_setup(u->cons, u->rx_pool), 0);
}

static inline void
u_ring_open(struct u_ring *u, uint32_t queue, uint32_t flags)
{
	const struct rte_comch_consumer_conf cc = { .queue_size = queue, .flags = flags };

	t_eal_start(1);
	t_driver = &u_ring_driver;
	t_pair_open(&u->p, NULL);
	u->tx_pool = u_ring_pool("tx", U_NB_TX);
	u->rx_pool = u_ring_pool("rx", U_NB_RX);
	u->cons = t_consumer_new(u->p.sconn, &cc, rte_comch_mempool_mr(u->rx_pool));
	u->prod = t_producer_new(u->p.cconn, NULL);
	u_ring_run(u);
}

/* Take and free what is left of a consumer that was halted, until it is IDLE. */
static inline bool
u_ring_drained(struct u_ring *u)
{
	struct rte_mbuf *mbufs[32];
	uint16_t n = rte_comch_rx_burst(u->cons, mbufs, RTE_DIM(mbufs));

	rte_pktmbuf_free_bulk(mbufs, n);
	return n == 0 && rte_comch_consumer_state(u->cons) == RTE_COMCH_STATE_IDLE;
}

static inline void
u_ring_close(struct u_ring *u)
{
	t_producer_end(u->prod);
	if (rte_comch_consumer_state(u->cons) == RTE_COMCH_STATE_RUNNING)
		T_EQ(rte_comch_consumer_stop(u->cons), -EINPROGRESS);
	T_UNTIL(u_ring_drained(u));
	T_EQ(rte_comch_consumer_destroy(u->cons), 0);
	t_settle();
	u_ring_pool_free(u->rx_pool);
	u_ring_pool_free(u->tx_pool);
	t_pair_close(&u->p);
	t_eal_stop();
}

static inline struct rte_mbuf *
u_ring_mbuf(struct rte_mempool *mp, uint16_t len, uint64_t seed)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	T_CHECK(m != NULL);
	t_fill(rte_pktmbuf_append(m, len), len, seed);
	return m;
}

static inline struct rte_mbuf *
u_ring_recv(struct u_ring *u)
{
	struct rte_mbuf *m = NULL;

	T_UNTIL(rte_comch_rx_burst(u->cons, &m, 1) == 1);
	return m;
}

#endif /* U_RING_H */
