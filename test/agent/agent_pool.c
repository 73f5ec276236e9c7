/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Calls about mbufs: each pool of the run that is used here has a twin. */

#include <stdlib.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_comch_mbuf.h>

#include "agent.h"

/** mbufs of one burst at most. */
#define MAX_BURST 64

/** A twin. */
struct pool {
	struct rte_mempool *mp;
	bool is_comch;          /**< Of rte_comch_pktmbuf_pool_create(). */
	/** Received mbufs that the run's application still has, the oldest first. */
	struct rte_mbuf **held;
	uint32_t nb_held;
};

static struct pool *
pool_of(struct wire *w)
{
	struct pool *p = wire_get_ptr(w);

	if (p == NULL)
		T_FAIL("%s: no pool", wire_call_name(w->call));
	return p;
}

/* The application has nb_used mbufs of the pool: it has freed the others. */
static void
release(struct pool *p, uint64_t nb_used)
{
	uint32_t nb = p->nb_held > nb_used ? p->nb_held - (uint32_t)nb_used : 0;

	rte_pktmbuf_free_bulk(p->held, nb);
	p->nb_held -= nb;
	memmove(p->held, p->held + nb, p->nb_held * sizeof(p->held[0]));
}

static struct rte_mempool *
make(const struct pool *p, uint32_t n, uint16_t priv, uint16_t room)
{
	static unsigned int number;
	char name[32];

	snprintf(name, sizeof(name), "twin%u", number++);
	if (p->is_comch)
		return rte_comch_pktmbuf_pool_create(name, n, 0, priv, room, SOCKET_ID_ANY);
	return rte_pktmbuf_pool_create(name, n, 0, priv, room, SOCKET_ID_ANY);
}

static void
pool_new(struct wire *w)
{
	const uint32_t n = (uint32_t)wire_get_u64(w);
	const uint16_t priv = (uint16_t)wire_get_u64(w);
	const uint16_t room = (uint16_t)wire_get_u64(w);
	struct pool *p = calloc(1, sizeof(*p));

	if (p == NULL)
		T_FAIL("no memory");
	p->is_comch = wire_get_u64(w) != 0;
	p->held = calloc(n, sizeof(p->held[0]));
	p->mp = make(p, n, priv, room);
	if (p->held == NULL || p->mp == NULL)
		T_FAIL("pool: %s", strerror(rte_errno));
	if (wire_get_u64(w) != 0 && !p->is_comch &&
			rte_comch_mempool_register(p->mp, 0) == NULL)
		T_FAIL("mempool_register: %s", strerror(rte_errno));
	wire_reply(w, (int64_t)(uintptr_t)p);
	wire_ptr(w, rte_comch_mempool_mr(p->mp));
}

static int
unmake(struct pool *p)
{
	int rc;

	if (p->is_comch)
		return rte_comch_pktmbuf_pool_free(p->mp);
	rc = rte_comch_mempool_mr(p->mp) == NULL ? 0 : rte_comch_mempool_unregister(p->mp);
	if (rc == 0)
		rte_mempool_free(p->mp);
	return rc;
}

static void
pool_free(struct wire *w)
{
	struct pool *p = pool_of(w);
	int rc;

	release(p, wire_get_u64(w));
	rc = unmake(p);
	if (rc == 0) {
		free(p->held);
		free(p);
	}
	wire_reply(w, rc);
}

static void
pool_avail(struct wire *w)
{
	struct pool *p = pool_of(w);

	release(p, wire_get_u64(w));
	wire_reply(w, rte_mempool_avail_count(p->mp));
	wire_u64(w, p->nb_held);
}

static void
rx_setup(struct wire *w)
{
	struct rte_comch_consumer *cons = wire_get_ptr(w);
	const struct pool *p = wire_get_ptr(w);

	wire_reply(w, rte_comch_consumer_rx_setup(cons, p == NULL ? NULL : p->mp));
}

static void
rx(struct wire *w)
{
	struct rte_comch_consumer *cons = wire_get_ptr(w);
	const uint16_t max = (uint16_t)RTE_MIN(wire_get_u64(w), (uint64_t)MAX_BURST);
	struct pool *p = pool_of(w);
	struct rte_mbuf *mbufs[MAX_BURST];
	uint16_t i, n;

	release(p, wire_get_u64(w));
	n = rte_comch_rx_burst(cons, mbufs, max);
	wire_reply(w, n);
	for (i = 0; i < n; i++) {
		T_EQ(mbufs[i]->nb_segs, 1);
		T_CHECK(mbufs[i]->pool == p->mp);
		wire_bytes(w, rte_pktmbuf_mtod(mbufs[i], void *), mbufs[i]->data_len);
		p->held[p->nb_held++] = mbufs[i];
	}
}

/* One segment; NULL if the twin has no mbuf left. */
static struct rte_mbuf *
get_segment(struct wire *w)
{
	struct pool *p = pool_of(w);
	uint32_t len;
	const void *data = wire_get_bytes(w, &len);
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->mp);
	void *at;

	if (m == NULL)
		return NULL;
	at = rte_pktmbuf_append(m, (uint16_t)len);
	T_CHECK(at != NULL);
	memcpy(at, data, len);
	return m;
}

static struct rte_mbuf *
get_chain(struct wire *w)
{
	uint64_t nb = wire_get_u64(w), flags = wire_get_u64(w);
	struct rte_mbuf *head = get_segment(w), *m;

	while (--nb > 0) {
		m = get_segment(w);
		if (head == NULL || m == NULL) {
			rte_pktmbuf_free(head);
			rte_pktmbuf_free(m);
			head = NULL;
			continue;
		}
		T_EQ(rte_pktmbuf_chain(head, m), 0);
	}
	if (head != NULL)
		head->ol_flags |= flags;
	return head;
}

static void
tx(struct wire *w)
{
	struct rte_comch_producer *prod = wire_get_ptr(w);
	const uint32_t id = (uint32_t)wire_get_u64(w);
	const uint16_t n = (uint16_t)wire_get_u64(w);
	struct rte_mbuf *mbufs[MAX_BURST];
	uint16_t i, nb = 0, sent;
	bool all = true;

	T_LE(n, RTE_DIM(mbufs));
	for (i = 0; i < n; i++) {
		mbufs[nb] = get_chain(w);
		all &= mbufs[nb] != NULL;
		/* Keep the order: after the first that is missing, the rest wait too. */
		if (all)
			nb++;
		else
			rte_pktmbuf_free(mbufs[nb]);
	}
	sent = rte_comch_tx_burst(prod, id, mbufs, nb);
	wire_reply(w, sent);
	rte_pktmbuf_free_bulk(mbufs + sent, (unsigned int)nb - sent);
}

const agent_handler agent_pool_calls[NB_CALLS] = {
	[CALL_POOL_NEW] = pool_new,
	[CALL_POOL_FREE] = pool_free,
	[CALL_POOL_AVAIL] = pool_avail,
	[CALL_RX_SETUP] = rx_setup,
	[CALL_RX] = rx,
	[CALL_TX] = tx,
};
