/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PRODUCER_H
#define COMCH_PRODUCER_H

/* Producers. */

#include "data/comch_queue.h"

struct rte_comch_producer {
	struct rte_comch_producer_core core;
	struct comch_queue q;
	bool announce;                       /* lock: PRODUCER_NEW is due */
	bool announced;                      /* lock */
	uint64_t stop_deadline;              /* lock until STOPPING; then queue */
	bool is_lost;                        /* set before STOPPING: its connection has ended */
	bool is_overdue;                     /* queue: that its stop takes long is logged */
	bool sync_send;                      /* RTE_COMCH_CAPA_SYNC_SEND */
	struct comch_mbuf_tx *mbuf_tx;       /* queue: mbufs under way; NULL: it had none */
	const struct rte_mempool *last_pool; /* queue: of the last mbuf sent */
	struct rte_comch_mr *last_mr;
	uint32_t pool_changes;               /* queue: comch_mem_pool_changes of that lookup */
	TAILQ_ENTRY(rte_comch_producer) next;
};

static inline struct rte_comch_producer_stats *
comch_producer_stats(const struct rte_comch_producer *p)
{
	return p->q.dq->stats;
}

/* Send PRODUCER_NEW and PRODUCER_GONE. Runs in the connection's thread. */
void comch_producer_steps(struct rte_comch_conn *conn);
/* The connection has ended: halt all producers. */
void comch_producer_halt_all(struct rte_comch_conn *conn);
/* Free what is left of the mbufs that it sent; nothing is under way. comch_mbuf.c. */
void comch_mbuf_tx_free(struct rte_comch_producer *p);

#endif /* COMCH_PRODUCER_H */
