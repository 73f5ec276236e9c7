/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_LINKS_H
#define COMCH_LINKS_H

/*
 * All connections of a poll: which of them a run looks at, which wait for
 * something, which owe their peer a credit. A task of the poll; the poll's thread,
 * all but comch_links_get().
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
	struct comch_conn_list hot;       /* received from lately: looked at in each run */
	struct comch_conn_list cold;      /* a few of them in each run, in turn */
	struct comch_order_links order;   /* those of ordered servers, which are neither */
	struct comch_conn_list owing;     /* owe the peer a credit */
	struct comch_conn_list waiting;   /* handshakes and others with a deadline */
	struct comch_server_list accepting; /* could not accept all who are there */
};

/* Those of a poll; NULL: no memory. Any thread. */
struct comch_links *comch_links_get(struct rte_comch_poll *poll);
/* It has a link now. */
void comch_links_add(struct rte_comch_conn *conn);
/* It ends. */
void comch_links_del(struct rte_comch_conn *conn);
/* Call comch_conn_wait_step() until comch_links_wait_end(). */
void comch_links_wait(struct rte_comch_conn *conn);
void comch_links_wait_end(struct rte_comch_conn *conn);
/* Call comch_server_accept() with the next look. */
void comch_links_accept_again(struct comch_links *links, struct rte_comch_server *server);
void comch_links_accept_end(struct comch_links *links, struct rte_comch_server *server);

/* There is something to receive. */
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

/* The peer is to be told, in the next run, that messages are done with. */
static inline void
comch_links_owe(struct rte_comch_conn *conn)
{
	if (conn->is_owing)
		return;
	conn->is_owing = true;
	TAILQ_INSERT_TAIL(&conn->links->owing, conn, owing_next);
}

#endif /* COMCH_LINKS_H */
