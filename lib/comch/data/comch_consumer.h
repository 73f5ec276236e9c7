/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CONSUMER_H
#define COMCH_CONSUMER_H

/* Consumers. For their states see comch_consumer_steps.c. */

#include "data/comch_queue.h"

/* Steps of a consumer's start and stop, run by the connection's thread. lock. */
enum comch_cons_step {
	COMCH_CONS_IDLE,
	COMCH_CONS_SHOW,     /* export its memory */
	COMCH_CONS_ANNOUNCE, /* send CONSUMER_NEW */
	COMCH_CONS_WAIT,     /* wait for CONSUMER_ACK */
	COMCH_CONS_BIND,     /* the driver connects */
	COMCH_CONS_LIVE,
	COMCH_CONS_RETIRE,   /* drained: send CONSUMER_GONE, free the regions */
	COMCH_CONS_HIDE,     /* wait until the peer's devices have lost the memory */
};

struct rte_comch_consumer {
	struct rte_comch_consumer_core core; /* first member: rte_comch_dp.h reads it */
	struct comch_queue q;
	enum comch_cons_step step;           /* lock */
	bool announced;                      /* lock: CONSUMER_NEW is sent */
	bool cancel;                         /* lock: stopped while starting */
	bool started;                        /* lock: started before, so its id is used */
	int fail;                            /* lock: why the start failed */
	uint32_t conf_flags;
	uint32_t staging_conf;               /* as configured */
	uint32_t staging_size;               /* as announced */
	uint32_t imm_size;
	struct comch_cons_mrs mrs;
	int16_t export[COMCH_MAX_IMPORTS];   /* lock: by registration, -1: not exported */
	int32_t mr_status[COMCH_MAX_IMPORTS];
	bool mr_added[COMCH_MAX_IMPORTS];    /* lock: mr_add() is in progress */
	bool mr_event[COMCH_MAX_IMPORTS];    /* atomic: an MR_ADDED is due */
	struct rte_mempool *rx_pool;         /* queue: mbuf mode */
	struct rte_comch_mr *rx_mr;
	bool is_handed;                      /* queue: the driver hands mbufs over */
	uint32_t rx_room;                    /* atomic: bytes in its mbufs; 0: no hand-over */
	TAILQ_ENTRY(rte_comch_consumer) next;
};

static inline struct rte_comch_consumer_stats *
comch_consumer_stats(const struct rte_comch_consumer *c)
{
	return c->q.dq->stats;
}

/* comch_consumer_steps.c: the connection's thread */
int comch_consumer_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);
/* Continue all starts and stops. */
void comch_consumer_steps(struct rte_comch_conn *conn);
/* The connection has ended: halt all consumers. */
void comch_consumer_halt_all(struct rte_comch_conn *conn);
/* The consumer is IDLE: end the use of its registrations. Any thread. */
void comch_consumer_use_end(const struct rte_comch_consumer *c);
/* Does it show its memory to the peer, as far as the driver can? Any thread. */
bool comch_consumer_exports(const struct rte_comch_consumer *c);

#endif /* COMCH_CONSUMER_H */
