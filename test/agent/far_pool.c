/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Pools and their twins, and bursts of mbufs. */

#include <stdlib.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "far.h"
#include "far_wrap.h"

/** Of the far pools of one case. */
#define MAX_POOLS 32
#define MAX_COMCH_POOLS 32

struct far_pool {
	struct rte_mempool *mp; /**< The near one. */
	uint64_t handle;        /**< 0: free. */
	uint64_t mr;            /**< Of its registration. */
};

static struct far_pool pools[MAX_POOLS];
/* Pools of rte_comch_pktmbuf_pool_create(), with twins or without. */
static struct rte_mempool *comch_pools[MAX_COMCH_POOLS];

unsigned int __real_rte_mempool_avail_count(const struct rte_mempool *mp);

/* mbufs that the case has: those that the far end has are of the twin. */
static uint64_t
nb_used(const struct rte_mempool *mp)
{
	return mp->size - __real_rte_mempool_avail_count(mp);
}

static bool
is_comch(const struct rte_mempool *mp)
{
	unsigned int i;

	for (i = 0; i < MAX_COMCH_POOLS; i++)
		if (comch_pools[i] == mp)
			return true;
	return false;
}

FAR_WRAP(struct rte_mempool *, rte_comch_pktmbuf_pool_create, const char *name, unsigned int n,
		unsigned int cache_size, uint16_t priv_size, uint16_t data_room_size,
		int socket_id)
{
	struct rte_mempool *mp = __real_rte_comch_pktmbuf_pool_create(name, n, cache_size,
			priv_size, data_room_size, socket_id);
	unsigned int i;

	if (!far_on() || mp == NULL)
		return mp;
	for (i = 0; comch_pools[i] != NULL; i++)
		T_LT(i + 1, MAX_COMCH_POOLS);
	comch_pools[i] = mp;
	return mp;
}

static struct far_pool *
find(const struct rte_mempool *mp)
{
	unsigned int i;

	for (i = 0; i < MAX_POOLS && mp != NULL; i++)
		if (pools[i].mp == mp)
			return &pools[i];
	return NULL;
}

/* The twin of a pool, which is made now if there is none. */
static struct far_pool *
pool_of(struct rte_mempool *mp)
{
	struct far_pool *p = find(mp);
	struct wire *w;

	if (p != NULL)
		return p;
	for (p = pools; p->mp != NULL; p++)
		T_LT(p + 1 - pools, MAX_POOLS);
	w = far_begin(CALL_POOL_NEW);
	wire_u64(w, mp->size);
	wire_u64(w, rte_pktmbuf_priv_size(mp));
	wire_u64(w, rte_pktmbuf_data_room_size(mp));
	wire_u64(w, is_comch(mp));
	wire_u64(w, rte_comch_mempool_mr(mp) != NULL);
	p->handle = (uint64_t)far_do(w);
	p->mr = wire_get_u64(w);
	far_end();
	p->mp = mp;
	return p;
}

struct of_mr {
	const struct rte_comch_mr *mr;
	struct rte_mempool *mp;
};

static void
find_mr(struct rte_mempool *mp, void *arg)
{
	struct of_mr *of = arg;

	if (rte_comch_mempool_mr(mp) == of->mr)
		of->mp = mp;
}

uint64_t
far_pool_mr(const struct rte_comch_mr *mr)
{
	struct of_mr of = { .mr = mr };

	rte_mempool_walk(find_mr, &of);
	return of.mp == NULL ? 0 : pool_of(of.mp)->mr;
}

/* 0, or why the twin cannot be freed. */
static int
free_twin(struct rte_mempool *mp)
{
	struct far_pool *p = far_on() ? find(mp) : NULL;
	int rc;

	if (p == NULL)
		return 0;
	rc = (int)far_call2(CALL_POOL_FREE, p->handle, nb_used(mp));
	if (rc != 0)
		return rc;
	if (rte_comch_mempool_mr(mp) != NULL)
		far_mem_forget(rte_comch_mempool_mr(mp));
	memset(p, 0, sizeof(*p));
	return 0;
}

FAR_WRAP(int, rte_comch_pktmbuf_pool_free, struct rte_mempool *mp)
{
	int rc = free_twin(mp);
	unsigned int i;

	if (rc == 0)
		rc = __real_rte_comch_pktmbuf_pool_free(mp);
	for (i = 0; i < MAX_COMCH_POOLS && rc == 0; i++)
		if (comch_pools[i] == mp)
			comch_pools[i] = NULL;
	return rc;
}

FAR_WRAP(int, rte_comch_mempool_unregister, struct rte_mempool *mp)
{
	int rc = free_twin(mp);

	return rc != 0 ? rc : __real_rte_comch_mempool_unregister(mp);
}

FAR_WRAP(void, rte_mempool_free, struct rte_mempool *mp)
{
	T_EQ(free_twin(mp), 0);
	__real_rte_mempool_free(mp);
}

FAR_WRAP(unsigned int, rte_mempool_avail_count, const struct rte_mempool *mp)
{
	const struct far_pool *p = far_on() ? find(mp) : NULL;
	unsigned int avail;
	struct wire *w;

	if (p == NULL)
		return __real_rte_mempool_avail_count(mp);
	w = far_begin(CALL_POOL_AVAIL);
	wire_u64(w, p->handle);
	wire_u64(w, nb_used(mp));
	avail = (unsigned int)far_do(w);
	/* Those that the case has received count here and there. */
	avail += (unsigned int)wire_get_u64(w);
	far_end();
	return avail - (unsigned int)nb_used(mp);
}

FAR_WRAP(int, rte_comch_consumer_rx_setup, struct rte_comch_consumer *cons,
		struct rte_mempool *mp)
{
	struct far_obj *o = (void *)cons;
	uint64_t handle;
	int rc;

	if (!far_is(cons))
		return __real_rte_comch_consumer_rx_setup(cons, mp);
	handle = mp == NULL ? 0 : pool_of(mp)->handle;
	rc = (int)far_call2(CALL_RX_SETUP, far_handle(cons), handle);
	if (rc == 0)
		o->mp = mp;
	return rc;
}

/* A message of the far end, as an mbuf of the near pool. */
static struct rte_mbuf *
get_mbuf(struct wire *w, struct rte_mempool *mp)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);
	uint32_t len;
	const void *data = wire_get_bytes(w, &len);
	void *at;

	T_CHECK(m != NULL);
	at = rte_pktmbuf_append(m, (uint16_t)len);
	T_CHECK(at != NULL);
	memcpy(at, data, len);
	return m;
}

FAR_WRAP(uint16_t, rte_comch_rx_burst, struct rte_comch_consumer *cons,
		struct rte_mbuf **mbufs, uint16_t n)
{
	const struct far_obj *o = (const void *)cons;
	const struct far_pool *p;
	struct wire *w;
	uint16_t i, got;

	if (!far_is(cons))
		return __real_rte_comch_rx_burst(cons, mbufs, n);
	p = find(o->mp);
	T_CHECK(p != NULL);
	w = far_begin(CALL_RX);
	wire_u64(w, o->handle);
	wire_u64(w, n);
	wire_u64(w, p->handle);
	wire_u64(w, nb_used(o->mp));
	got = (uint16_t)far_do(w);
	for (i = 0; i < got; i++)
		mbufs[i] = get_mbuf(w, o->mp);
	far_end();
	return got;
}

static void
put_chain(struct wire *w, const struct rte_mbuf *m)
{
	wire_u64(w, m->nb_segs);
	wire_u64(w, m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK);
	for (; m != NULL; m = m->next) {
		wire_u64(w, find(m->pool)->handle);
		wire_bytes(w, rte_pktmbuf_mtod(m, const void *), m->data_len);
	}
}

FAR_WRAP(uint16_t, rte_comch_tx_burst, struct rte_comch_producer *prod, uint32_t consumer_id,
		struct rte_mbuf **mbufs, uint16_t n)
{
	const struct rte_mbuf *m;
	struct wire *w;
	uint16_t i, sent;

	if (!far_is(prod))
		return __real_rte_comch_tx_burst(prod, consumer_id, mbufs, n);
	T_LE(n, FAR_BURST);
	for (i = 0; i < n; i++)
		for (m = mbufs[i]; m != NULL; m = m->next)
			pool_of(m->pool);
	w = far_begin(CALL_TX);
	wire_u64(w, far_handle(prod));
	wire_u64(w, consumer_id);
	wire_u64(w, n);
	for (i = 0; i < n; i++)
		put_chain(w, mbufs[i]);
	sent = (uint16_t)far_do(w);
	far_end();
	rte_pktmbuf_free_bulk(mbufs, sent);
	return sent;
}
