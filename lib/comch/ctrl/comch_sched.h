/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_SCHED_H
#define COMCH_SCHED_H

/*
 * Schedules the connections of a poll: which of them a run reads, which have a
 * deadline, and which have a credit to send. A task of the poll; all functions but
 * comch_sched_get() run in the poll's thread.
 */

#include <bsd/sys/queue.h>

#include "base/comch_poll.h"
#include "ctrl/comch_cold.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_order.h"

TAILQ_HEAD(comch_conn_list, rte_comch_conn);
TAILQ_HEAD(comch_server_list, rte_comch_server);

struct comch_sched {
	struct comch_poll_task task;
	struct rte_comch_poll *poll;
	struct comch_conn_list hot;       /* recently active: read in each run */
	uint32_t nb_hot;
	bool was_full;                    /* the last run had no room for all frames */
	struct comch_cold_set cold;       /* each run looks at a few, round robin */
	struct comch_conn_list fresh;     /* the same, not established: as many as peers like */
	struct comch_order_set order;   /* of ordered servers, neither hot nor cold */
	struct comch_conn_list credit_due; /* a CREDIT must be sent in the next run */
	struct comch_conn_list waiting;   /* handshakes, closes and frames that wait */
	struct comch_conn_list unread;    /* their links have left a wake-up unread */
	struct comch_server_list accepting; /* clients are left in the listener's queue */
	uint64_t redial_at;               /* TSC: the latest attempt to dial a full server */
};

/* The schedule of a poll, created on first use; NULL: no memory. Any thread. */
struct comch_sched *comch_sched_get(struct rte_comch_poll *poll);
/* The connection has a link now. */
void comch_sched_add(struct rte_comch_conn *conn);
/* The connection ends. */
void comch_sched_del(struct rte_comch_conn *conn);
/* Call comch_conn_wait_step() until comch_sched_wait_end(). */
void comch_sched_wait(struct rte_comch_conn *conn);
void comch_sched_wait_end(struct rte_comch_conn *conn);
/* Whether to poll its link at the next scan that is not part of a sleep, or of a long one. */
void comch_sched_unread(struct rte_comch_conn *conn, bool is_unread);
/* Call comch_server_accept() at the end of this scan, or else at that of the next one. */
void comch_sched_accept_again(struct comch_sched *sched, struct rte_comch_server *server);
void comch_sched_accept_end(struct comch_sched *sched, struct rte_comch_server *server);

/* Take the connection off the list that it is on. */
static inline void
comch_sched_unlist(struct rte_comch_conn *conn)
{
	struct comch_sched *sched = conn->sched;

	sched->nb_hot -= conn->is_hot;
	if (conn->is_hot)
		TAILQ_REMOVE(&sched->hot, conn, link_next);
	else if (conn->is_fresh)
		TAILQ_REMOVE(&sched->fresh, conn, link_next);
	else
		comch_cold_del(&sched->cold, conn);
}

/* A connection that is on no list. */
static inline void
comch_sched_heat(struct rte_comch_conn *conn)
{
	conn->is_hot = true;
	conn->sched->nb_hot++;
	TAILQ_INSERT_TAIL(&conn->sched->hot, conn, link_next);
}

/* The connection has frames to receive: make it hot. */
static inline void
comch_sched_active(struct rte_comch_conn *conn)
{
	conn->last_active = (uint32_t)conn->sched->poll->run_no;
	if (conn->is_hot)
		return;
	comch_sched_unlist(conn);
	comch_sched_heat(conn);
}

/* Acknowledge processed messages to the peer in the next run. */
static inline void
comch_sched_credit_due(struct rte_comch_conn *conn)
{
	if (conn->is_credit_due)
		return;
	conn->is_credit_due = true;
	TAILQ_INSERT_TAIL(&conn->sched->credit_due, conn, credit_next);
}

#endif /* COMCH_SCHED_H */
