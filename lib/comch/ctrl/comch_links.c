/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Whose turn it is. A run receives from the hot connections, all of them, from a few
 * cold ones in turn, and from all that are ordered.
 */

#include "ctrl/comch_links.h"
#include "ctrl/comch_server.h"

/* A connection stays hot for so many runs after its last frame. */
#define HOT_RUNS 64
/* Cold connections that one run looks at. */
#define COLD_PER_RUN 8

static void
links_init(struct comch_poll_task *task, struct rte_comch_poll *poll)
{
	struct comch_links *links = container_of(task, struct comch_links, task);

	links->poll = poll;
	TAILQ_INIT(&links->hot);
	TAILQ_INIT(&links->cold);
	comch_order_init(&links->order);
	TAILQ_INIT(&links->owing);
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
	if (conn->is_owing) {
		conn->is_owing = false;
		TAILQ_REMOVE(&links->owing, conn, owing_next);
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
	comch_poll_look_soon(conn->links->poll);
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
pay_credits(struct comch_links *links)
{
	struct rte_comch_conn *conn;

	while ((conn = TAILQ_FIRST(&links->owing)) != NULL) {
		TAILQ_REMOVE(&links->owing, conn, owing_next);
		conn->is_owing = false;
		comch_tx_credit(conn);
	}
}

/* Is there anything on a connection for this run? */
static inline void
check(struct rte_comch_conn *conn, struct comch_run *run)
{
	if (comch_rx_has_room(conn, run) && conn->ops->frame_pending(conn->link))
		comch_rx(conn, run);
}

/* Handshakes go on without an event. */
static inline bool
is_over(const struct comch_links *links, const struct comch_run *run)
{
	return comch_run_full(run) && TAILQ_EMPTY(&links->waiting);
}

static inline void
run_cold(struct comch_links *links, struct comch_run *run)
{
	struct rte_comch_conn *conn, *first = TAILQ_FIRST(&links->cold);
	unsigned int i;

	for (i = 0; i < COLD_PER_RUN && !is_over(links, run); i++) {
		conn = TAILQ_FIRST(&links->cold);
		/* Each once: a look is a line that the peer may have. */
		if (conn == NULL || (i > 0 && conn == first))
			break;
		if (TAILQ_NEXT(conn, link_next) != NULL) {
			TAILQ_REMOVE(&links->cold, conn, link_next);
			TAILQ_INSERT_TAIL(&links->cold, conn, link_next);
		}
		check(conn, run);
	}
}

static __rte_noinline void
receive(struct comch_links *links, struct comch_run *run)
{
	struct rte_comch_conn *conn, *tmp;

	/* What the last run returned is done with. */
	if (!TAILQ_EMPTY(&links->owing))
		pay_credits(links);
	TAILQ_FOREACH_SAFE(conn, &links->hot, link_next, tmp) {
		if (is_over(links, run))
			break;
		check(conn, run);
		if (run->poll->run_no - conn->last_active > HOT_RUNS && conn->is_hot) {
			conn->is_hot = false;
			TAILQ_REMOVE(&links->hot, conn, link_next);
			TAILQ_INSERT_TAIL(&links->cold, conn, link_next);
		}
	}
	/* The first of the hot ones must not always be served first. */
	if (comch_run_full(run) && (conn = TAILQ_FIRST(&links->hot)) != NULL) {
		TAILQ_REMOVE(&links->hot, conn, link_next);
		TAILQ_INSERT_TAIL(&links->hot, conn, link_next);
	}
	run_cold(links, run);
}

/* With ordered connections: both kinds are the first to fill a run by turns. */
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
links_look(struct comch_poll_task *task, uint64_t now, bool all)
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

/* Ask for a wake-up, by credits too if somebody waits for them. */
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

	/* No peer has to wait for a credit while we sleep. */
	pay_credits(links);
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

	/* One that waits for its turn is there, though its link may be empty. */
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
	.look = links_look,
	.arm = links_arm,
	.pending = links_pending,
};

struct comch_links *
comch_links_get(struct rte_comch_poll *poll)
{
	struct comch_poll_task *task = comch_poll_task_get(poll, &links_ops);

	return task != NULL ? container_of(task, struct comch_links, task) : NULL;
}
