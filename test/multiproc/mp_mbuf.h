/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MP_MBUF_H
#define MP_MBUF_H

/* mbufs between two processes of an EAL: a producer and a consumer at each end. */

#include <rte_comch_mbuf.h>
#include <rte_comch_stats.h>

#include "mp_eal.h"

#define MP_BURST 32

struct mp_mbuf {
	struct mp_end *e;
	struct rte_comch_conn *conn;
	struct rte_comch_producer *prod;
	struct rte_comch_consumer *cons;
	uint32_t id;        /* of the peer's consumer */
};

/*
 * A consumer in mbuf mode with the pool, and a producer; waits for the peer's consumer.
 * What is sent before the peer has called this may fail: let it say so first.
 */
void mp_mbuf_open(struct mp_mbuf *m, struct mp_end *e, struct rte_comch_conn *conn,
		struct rte_mempool *pool, uint32_t depth, uint32_t flags);
/* Send all, stepping the nodes. */
void mp_mbuf_send(struct mp_mbuf *m, struct rte_mbuf **mbufs, unsigned int n);
/* Receive exactly n, stepping the nodes. */
void mp_mbuf_recv(struct mp_mbuf *m, struct rte_mbuf **mbufs, unsigned int n);
struct rte_comch_producer_stats mp_mbuf_stats(const struct mp_mbuf *m);
/* Free what is left, and end both. */
void mp_mbuf_close(struct mp_mbuf *m);

#endif /* MP_MBUF_H */
