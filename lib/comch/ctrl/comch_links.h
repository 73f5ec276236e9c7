/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_LINKS_H
#define COMCH_LINKS_H

/*
 * Schedules the connections of a poll: which of them a run reads, which have a
 * deadline, and which have a credit to send. A task of the poll; all functions but
 * comch_links_get() run in the poll's thread.
 */

#include <bsd/sys/queue.h>

#include "base/comch_poll.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_order.h"

TAILQ_HEAD(comch_conn_list, rte_comch_conn);
TAILQ_HEAD(comch_server_list, rte_comch_server);

struct comch_links {
	struct comch_poll_task task;
	struct rte_comch_poll *poll;
	struct comch_conn_list hot;       /* recently active: read in each run */
	struct comch_conn_list cold;      /* a few are read in each run, round robin */
	struct comch_order_links order;   /* of ordered servers, neither hot nor cold */
	struct comch_conn_list credit_due; /* a CREDIT must be sent in the next run */
	struct comch_conn_list waiting;   /* handshakes, closes and frames that wait */
	struct comch_server_list accepting; /* clients are left in the listener's queue */
};

/* The links of a poll, created on first use; NULL: no memory. Any thread. */
struct comch_links *comch_links_get(struct rte_comch_poll *poll);
/* The connection has a link now. */
void comch_links_add(struct rte_comch_conn *conn);
/* The connection ends. */
void comch_links_del(struct rte_comch_conn *conn);
/* Call comch_conn_wait_step() until comch_links_wait_end(). */
void comch_links_wait(struct rte_comch_conn *conn);
void comch_links_wait_end(struct rte_comch_conn *conn);
/* Call comch_server_accept() at the next scan. */
void comch_links_accept_again(struct comch_links *links, struct rte_comch_server *server);
void comch_links_accept_end(struct comch_links *links, struct rte_comch_server *server);

/* The connection has frames to receive: make it hot. */
static inline void
comch_links_active(struct rte_comch_conn *conn)
{
	struct comch_links *links = conn->links;

	conn->last_active = links->poll->run_no;
	if (conn->is_hot)
		return;
	conn->is_hot = true;
	TAILQ_REMOVE(&links->cold, conn, link_next);
	TAILQ_INSERT_TAIL(&links->hot, conn, link_next);
}

/* Acknowledge processed messages to the peer in the next run. */
static inline void
comch_links_credit_due(struct rte_comch_conn *conn)
{
	if (conn->is_credit_due)
		return;
	conn->is_credit_due = true;
	TAILQ_INSERT_TAIL(&conn->links->credit_due, conn, credit_next);
}

#endif /* COMCH_LINKS_H */
