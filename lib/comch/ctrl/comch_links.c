/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Schedules the connections of a poll. A run receives from all hot connections, from
 * a few cold ones, round robin, and from all ordered ones.
 */

#include "ctrl/comch_links.h"
#include "ctrl/comch_server.h"

/* Number of runs that a connection stays hot after its last frame. */
#define HOT_RUNS 64
/* Number of cold connections that one run checks. */
#define COLD_PER_RUN 8

static void
links_init(struct comch_poll_task *task, struct rte_comch_poll *poll)
{
	struct comch_links *links = container_of(task, struct comch_links, task);

	links->poll = poll;
	TAILQ_INIT(&links->hot);
	TAILQ_INIT(&links->cold);
	comch_order_init(&links->order);
	TAILQ_INIT(&links->credit_due);
	TAILQ_INIT(&links->waiting);
	TAILQ_INIT(&links->accepting);
}

/* Lists */

void
comch_links_add(struct rte_comch_conn *conn)
{
	conn->is_hot = true;
	conn->last_active = conn->links->poll->run_no;
	TAILQ_INSERT_TAIL(&conn->links->hot, conn, link_next);
}

void
comch_links_del(struct rte_comch_conn *conn)
{
	struct comch_links *links = conn->links;

	comch_links_wait_end(conn);
	if (conn->is_credit_due) {
		conn->is_credit_due = false;
		TAILQ_REMOVE(&links->credit_due, conn, credit_next);
	}
	if (conn->link == NULL)
		return;
	if (conn->order != NULL)
		comch_order_leave(conn);
	else
		TAILQ_REMOVE(conn->is_hot ? &links->hot : &links->cold, conn, link_next);
}

void
comch_links_wait(struct rte_comch_conn *conn)
{
	if (conn->is_waiting)
		return;
	conn->is_waiting = true;
	TAILQ_INSERT_TAIL(&conn->links->waiting, conn, waiting_next);
	comch_poll_scan_soon(conn->links->poll);
}

void
comch_links_wait_end(struct rte_comch_conn *conn)
{
	if (!conn->is_waiting)
		return;
	conn->is_waiting = false;
	TAILQ_REMOVE(&conn->links->waiting, conn, waiting_next);
}

void
comch_links_accept_again(struct comch_links *links, struct rte_comch_server *server)
{
	if (server->is_accepting)
		return;
	server->is_accepting = true;
	TAILQ_INSERT_TAIL(&links->accepting, server, accepting_next);
}

void
comch_links_accept_end(struct comch_links *links, struct rte_comch_server *server)
{
	if (!server->is_accepting)
		return;
	server->is_accepting = false;
	TAILQ_REMOVE(&links->accepting, server, accepting_next);
}

/* Each run */

static inline void
send_credits(struct comch_links *links)
{
	struct rte_comch_conn *conn;

	while ((conn = TAILQ_FIRST(&links->credit_due)) != NULL) {
		TAILQ_REMOVE(&links->credit_due, conn, credit_next);
		conn->is_credit_due = false;
		comch_tx_credit(conn);
	}
}

/* Receive from a connection, if it has frames. */
static inline void
check_conn(struct rte_comch_conn *conn, struct comch_run *run)
{
	if (comch_rx_has_room(conn, run) && conn->ops->frame_pending(conn->link))
		comch_rx(conn, run);
}

/* A full run goes on while handshakes wait: these return no events. */
static inline bool
is_run_full(const struct comch_links *links, const struct comch_run *run)
{
	return comch_run_full(run) && TAILQ_EMPTY(&links->waiting);
}

static inline void
run_cold(struct comch_links *links, struct comch_run *run)
{
	struct rte_comch_conn *conn, *first = TAILQ_FIRST(&links->cold);
	unsigned int i;

	for (i = 0; i < COLD_PER_RUN && !is_run_full(links, run); i++) {
		conn = TAILQ_FIRST(&links->cold);
		/* Each once: checking may miss on a cache line that the peer owns. */
		if (conn == NULL || (i > 0 && conn == first))
			break;
		if (TAILQ_NEXT(conn, link_next) != NULL) {
			TAILQ_REMOVE(&links->cold, conn, link_next);
			TAILQ_INSERT_TAIL(&links->cold, conn, link_next);
		}
		check_conn(conn, run);
	}
}

static __rte_noinline void
receive(struct comch_links *links, struct comch_run *run)
{
	struct rte_comch_conn *conn, *tmp;

	/* The application has processed the events of the last run. */
	if (!TAILQ_EMPTY(&links->credit_due))
		send_credits(links);
	TAILQ_FOREACH_SAFE(conn, &links->hot, link_next, tmp) {
		if (is_run_full(links, run))
			break;
		check_conn(conn, run);
		if (run->poll->run_no - conn->last_active > HOT_RUNS && conn->is_hot) {
			conn->is_hot = false;
			TAILQ_REMOVE(&links->hot, conn, link_next);
			TAILQ_INSERT_TAIL(&links->cold, conn, link_next);
		}
	}
	/* Fairness: after a full run, the first connection goes last. */
	if (comch_run_full(run) && (conn = TAILQ_FIRST(&links->hot)) != NULL) {
		TAILQ_REMOVE(&links->hot, conn, link_next);
		TAILQ_INSERT_TAIL(&links->hot, conn, link_next);
	}
	run_cold(links, run);
}

/* Fairness: ordered and other connections alternate in filling a run first. */
static __rte_noinline void
receive_both(struct comch_links *links, struct comch_run *run)
{
	if (run->poll->run_no % 2 == 0)
		receive(links, run);
	comch_order_run(links, run);
	if (run->poll->run_no % 2 != 0)
		receive(links, run);
}

static void
links_run(struct comch_poll_task *task, struct comch_run *run)
{
	struct comch_links *links = container_of(task, struct comch_links, task);

	if (likely(TAILQ_EMPTY(&links->order.conns)))
		receive(links, run);
	else
		receive_both(links, run);
}

static bool
links_scanned(struct comch_poll_task *task, uint64_t now, bool all)
{
	struct comch_links *links = container_of(task, struct comch_links, task);
	struct comch_server_list accepting = TAILQ_HEAD_INITIALIZER(accepting);
	struct rte_comch_server *server;
	struct rte_comch_conn *conn, *tmp;

	TAILQ_CONCAT(&accepting, &links->accepting, accepting_next);
	while ((server = TAILQ_FIRST(&accepting)) != NULL) {
		TAILQ_REMOVE(&accepting, server, accepting_next);
		server->is_accepting = false;
		comch_server_accept(server);
	}
	TAILQ_FOREACH_SAFE(conn, &links->waiting, waiting_next, tmp)
		comch_conn_wait_step(conn, now, all);
	return !TAILQ_EMPTY(&links->waiting);
}

/* Sleep */

/* Ask for a wake-up by frames; also by credits, if sends or a drain wait for them. */
static void
conn_arm(struct rte_comch_conn *conn, uint32_t cls)
{
	conn->ops->link_arm(conn->link, (cls & RTE_COMCH_POLL_TX) != 0 ||
		conn->phase == COMCH_PHASE_DRAINING);
}

static bool
links_arm(struct comch_poll_task *task, uint32_t cls)
{
	struct comch_links *links = container_of(task, struct comch_links, task);
	struct rte_comch_conn *conn;

	/* Send credits before sleeping: peers may wait for them. */
	send_credits(links);
	TAILQ_FOREACH(conn, &links->hot, link_next)
		conn_arm(conn, cls);
	TAILQ_FOREACH(conn, &links->cold, link_next)
		conn_arm(conn, cls);
	TAILQ_FOREACH(conn, &links->order.conns, link_next)
		conn_arm(conn, cls);
	return !TAILQ_EMPTY(&links->waiting) || !TAILQ_EMPTY(&links->accepting);
}

static bool
links_pending(const struct comch_poll_task *task)
{
	const struct comch_links *links = container_of(task, const struct comch_links, task);
	const struct rte_comch_conn *conn;
	bool pending;

	/* A held message is pending even if its link is empty. */
	pending = !RB_EMPTY(&links->order.held);
	TAILQ_FOREACH(conn, &links->hot, link_next)
		pending |= conn->ops->frame_pending(conn->link);
	TAILQ_FOREACH(conn, &links->cold, link_next)
		pending |= conn->ops->frame_pending(conn->link);
	TAILQ_FOREACH(conn, &links->order.conns, link_next)
		pending |= conn->ops->frame_pending(conn->link);
	return pending;
}

static const struct comch_poll_task_ops links_ops = {
	.size = sizeof(struct comch_links),
	.init = links_init,
	.run = links_run,
	.scanned = links_scanned,
	.arm = links_arm,
	.pending = links_pending,
};

struct comch_links *
comch_links_get(struct rte_comch_poll *poll)
{
	struct comch_poll_task *task = comch_poll_task_get(poll, &links_ops);

	return task != NULL ? container_of(task, struct comch_links, task) : NULL;
}
