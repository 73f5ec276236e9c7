/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Schedules the connections of a poll. A run receives from all hot connections, from
 * a few cold ones, round robin, and from all ordered ones.
 *
 * Shares. A run has room for a limited number of events and bytes, and one connection may
 * fill it. So after a run without room for all, each has an equal share first, and what is
 * left over goes to those that have more. Cold connections come before the hot ones, which
 * would otherwise keep them waiting for as long as they are busy. A run that ends before all
 * had their turn begins the next with those that had none.
 */

#include "ctrl/comch_sched.h"
#include "ctrl/comch_server.h"

/* Number of runs that a connection stays hot after its last frame. */
#define HOT_RUNS 64
/* Number of cold connections that one run checks. */
#define COLD_PER_RUN 8
/* And of those that are not established yet. */
#define FRESH_PER_RUN 2

static void
sched_init(struct comch_poll_task *task, struct rte_comch_poll *poll)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);

	sched->poll = poll;
	TAILQ_INIT(&sched->hot);
	TAILQ_INIT(&sched->cold);
	TAILQ_INIT(&sched->fresh);
	comch_order_init(&sched->order);
	TAILQ_INIT(&sched->credit_due);
	TAILQ_INIT(&sched->waiting);
	TAILQ_INIT(&sched->unread);
	TAILQ_INIT(&sched->accepting);
}

/* Lists */

void
comch_sched_add(struct rte_comch_conn *conn)
{
	conn->last_active = conn->sched->poll->run_no;
	comch_sched_list(conn, true);
}

void
comch_sched_del(struct rte_comch_conn *conn)
{
	struct comch_sched *sched = conn->sched;

	comch_sched_wait_end(conn);
	comch_sched_unread(conn, false);
	if (conn->is_credit_due) {
		conn->is_credit_due = false;
		TAILQ_REMOVE(&sched->credit_due, conn, credit_next);
	}
	if (conn->link == NULL)
		return;
	if (conn->order != NULL)
		comch_order_leave(conn);
	else
		comch_sched_unlist(conn);
}

void
comch_sched_wait(struct rte_comch_conn *conn)
{
	if (conn->is_waiting)
		return;
	conn->is_waiting = true;
	TAILQ_INSERT_TAIL(&conn->sched->waiting, conn, waiting_next);
	comch_poll_scan_soon(conn->sched->poll);
}

void
comch_sched_wait_end(struct rte_comch_conn *conn)
{
	if (!conn->is_waiting)
		return;
	conn->is_waiting = false;
	TAILQ_REMOVE(&conn->sched->waiting, conn, waiting_next);
}

void
comch_sched_unread(struct rte_comch_conn *conn, bool is_unread)
{
	struct comch_sched *sched = conn->sched;

	if (conn->is_unread == is_unread)
		return;
	conn->is_unread = is_unread;
	if (!is_unread) {
		sched->poll->nb_unread--;
		TAILQ_REMOVE(&sched->unread, conn, unread_next);
		return;
	}
	if (sched->poll->nb_unread++ == 0)
		sched->poll->unread_until = comch_conn_in_ms(sched->poll->unread_ms);
	TAILQ_INSERT_TAIL(&sched->unread, conn, unread_next);
}

void
comch_sched_accept_again(struct comch_sched *sched, struct rte_comch_server *server)
{
	if (server->is_accepting)
		return;
	server->is_accepting = true;
	TAILQ_INSERT_TAIL(&sched->accepting, server, accepting_next);
}

void
comch_sched_accept_end(struct comch_sched *sched, struct rte_comch_server *server)
{
	if (!server->is_accepting)
		return;
	server->is_accepting = false;
	TAILQ_REMOVE(&sched->accepting, server, accepting_next);
}

/* Each run */

static inline void
send_credits(struct comch_sched *sched)
{
	struct rte_comch_conn *conn;

	while ((conn = TAILQ_FIRST(&sched->credit_due)) != NULL) {
		TAILQ_REMOVE(&sched->credit_due, conn, credit_next);
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
is_run_full(const struct comch_sched *sched, const struct comch_run *run)
{
	return comch_run_full(run) && TAILQ_EMPTY(&sched->waiting);
}

static inline void
cool_down(struct rte_comch_conn *conn, const struct comch_run *run)
{
	if (run->poll->run_no - conn->last_active <= HOT_RUNS || !conn->is_hot)
		return;
	comch_sched_unlist(conn);
	comch_sched_list(conn, false);
}

/*
 * Rotate a cold or fresh list and return its first connection, the i-th of this run. NULL: max
 * is reached, all had their turn, or the run is full: an established connection that it has no
 * room for keeps its turn.
 */
static inline struct rte_comch_conn *
next_in_turn(struct comch_sched *sched, struct comch_conn_list *list, const struct comch_run *run,
		unsigned int i, unsigned int max, const struct rte_comch_conn *first)
{
	struct rte_comch_conn *conn = TAILQ_FIRST(list);

	/* Each once: checking may miss on a cache line that the peer owns. */
	if (i == max || conn == NULL || (i > 0 && conn == first) ||
			(list == &sched->fresh ? is_run_full(sched, run) : comch_run_full(run)))
		return NULL;
	if (TAILQ_NEXT(conn, link_next) != NULL) {
		TAILQ_REMOVE(list, conn, link_next);
		TAILQ_INSERT_TAIL(list, conn, link_next);
	}
	return conn;
}

/* What a connection may use of a run. */
struct share {
	uint16_t events;
	uint32_t bytes;
};

static bool
has_room_for_frame(const struct rte_comch_conn *conn, const struct comch_run *run)
{
	return !comch_run_full(run) &&
		comch_poll_arena_get(run->poll, comch_rx_size(conn)) != NULL;
}

/* Receive from a connection up to its share. True: it may have more. */
static bool
receive_share(struct rte_comch_conn *conn, struct comch_run *run, const struct share *share)
{
	struct rte_comch_poll *poll = run->poll;
	const uint32_t size = poll->arena_size;
	const uint16_t max = run->max;
	uint64_t end = poll->arena_used + (uint64_t)RTE_MAX(share->bytes, comch_rx_size(conn));
	bool more;

	run->max = (uint16_t)RTE_MIN((uint32_t)max, (uint32_t)run->n + share->events);
	/* Whole lines: that is what a frame keeps. */
	end = RTE_ALIGN_CEIL(end, (uint64_t)RTE_CACHE_LINE_SIZE);
	poll->arena_size = (uint32_t)RTE_MIN((uint64_t)size, end);
	check_conn(conn, run);
	more = !has_room_for_frame(conn, run);
	run->max = max;
	/* A handshake may have raised it: comch_poll_arena_want(). */
	poll->arena_size = RTE_MAX(size, poll->arena_size);
	return more;
}

/*
 * Receive from at most max connections of the cold or fresh list; share: NULL, or the limit of
 * each.
 */
static __rte_always_inline void
receive_in_turn(struct comch_sched *sched, struct comch_conn_list *list, struct comch_run *run,
		unsigned int max, const struct share *share)
{
	const struct rte_comch_conn *first = TAILQ_FIRST(list);
	struct rte_comch_conn *conn;
	unsigned int i;

	for (i = 0; (conn = next_in_turn(sched, list, run, i, max, first)) != NULL; i++) {
		if (share == NULL)
			check_conn(conn, run);
		else
			receive_share(conn, run, share);
	}
}

/* First come, first served. */
static __rte_always_inline void
receive_freely(struct comch_sched *sched, struct comch_run *run)
{
	struct rte_comch_conn *conn, *tmp;

	TAILQ_FOREACH_SAFE(conn, &sched->hot, link_next, tmp) {
		if (is_run_full(sched, run))
			break;
		check_conn(conn, run);
		cool_down(conn, run);
	}
	receive_in_turn(sched, &sched->cold, run, COLD_PER_RUN, NULL);
	receive_in_turn(sched, &sched->fresh, run, FRESH_PER_RUN, NULL);
	if (unlikely(comch_run_full(run)))
		sched->was_full = true;
}

/*
 * Receive from the hot connections up to this share. True: some may have more. *next: the
 * first that found no room in the run.
 */
static bool
run_shares(struct comch_sched *sched, struct comch_run *run, const struct share *share,
		struct rte_comch_conn **next)
{
	struct rte_comch_conn *conn, *tmp;
	bool more = false;

	*next = NULL;
	TAILQ_FOREACH_SAFE(conn, &sched->hot, link_next, tmp) {
		if (*next == NULL && !has_room_for_frame(conn, run))
			*next = conn;
		if (*next != NULL && TAILQ_EMPTY(&sched->waiting))
			break;
		more |= receive_share(conn, run, share);
		cool_down(conn, run);
	}
	return more || *next != NULL;
}

/* Begin the next run with this connection. */
static void
begin_with(struct comch_sched *sched, const struct rte_comch_conn *next)
{
	struct rte_comch_conn *conn;
	uint32_t i;

	for (i = 0; i < sched->nb_hot && TAILQ_FIRST(&sched->hot) != next; i++) {
		conn = TAILQ_FIRST(&sched->hot);
		TAILQ_REMOVE(&sched->hot, conn, link_next);
		TAILQ_INSERT_TAIL(&sched->hot, conn, link_next);
	}
}

static __rte_noinline void
receive_shares(struct comch_sched *sched, struct comch_run *run)
{
	const uint32_t n = sched->nb_hot + COLD_PER_RUN;
	const struct share rest = { UINT16_MAX, UINT32_MAX }, share = {
		.events = (uint16_t)RTE_MAX((uint32_t)(run->max - run->n) / n, 1u),
		.bytes = (run->poll->arena_size - run->poll->arena_used) / n,
	};
	struct rte_comch_conn *first, *next, *none;

	receive_in_turn(sched, &sched->cold, run, COLD_PER_RUN, &share);
	receive_in_turn(sched, &sched->fresh, run, FRESH_PER_RUN, &share);
	first = TAILQ_FIRST(&sched->hot);
	sched->was_full = run_shares(sched, run, &share, &next);
	if (sched->was_full && next == NULL && first != NULL) {
		/* All had their share: the order in which they have the rest changes. */
		next = TAILQ_NEXT(first, link_next);
		sched->was_full = run_shares(sched, run, &rest, &none);
	}
	if (next != NULL)
		begin_with(sched, next);
}

static __rte_always_inline void
receive_new(struct comch_sched *sched, struct comch_run *run)
{
	if (likely(!sched->was_full))
		receive_freely(sched, run);
	else
		receive_shares(sched, run);
}

static __rte_noinline void
receive(struct comch_sched *sched, struct comch_run *run)
{
	/* The application has processed the events of the last run. */
	if (!TAILQ_EMPTY(&sched->credit_due))
		send_credits(sched);
	receive_new(sched, run);
}

/* Fairness: ordered and other connections alternate in filling a run first. */
static __rte_noinline void
receive_both(struct comch_sched *sched, struct comch_run *run)
{
	/* First of all: events of this run are not processed yet. */
	send_credits(sched);
	if (run->poll->run_no % 2 == 0)
		receive_new(sched, run);
	comch_order_run(sched, run);
	if (run->poll->run_no % 2 != 0)
		receive_new(sched, run);
}

static void
sched_run(struct comch_poll_task *task, struct comch_run *run)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);

	if (likely(TAILQ_EMPTY(&sched->order.conns)))
		receive(sched, run);
	else
		receive_both(sched, run);
}

/* Their links may not leave anything now. */
static void
read_unread(struct comch_sched *sched)
{
	struct rte_comch_conn *conn;

	while ((conn = TAILQ_FIRST(&sched->unread)) != NULL) {
		comch_sched_unread(conn, false);
		comch_conn_poll_link(conn);
	}
}

static bool
sched_scanned(struct comch_poll_task *task, uint64_t now, bool all)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);
	struct comch_server_list accepting = TAILQ_HEAD_INITIALIZER(accepting);
	struct rte_comch_server *server;
	struct rte_comch_conn *conn, *tmp;

	if (!sched->poll->sleeps)
		read_unread(sched);
	TAILQ_CONCAT(&accepting, &sched->accepting, accepting_next);
	while ((server = TAILQ_FIRST(&accepting)) != NULL) {
		TAILQ_REMOVE(&accepting, server, accepting_next);
		server->is_accepting = false;
		comch_server_accept(server);
	}
	TAILQ_FOREACH_SAFE(conn, &sched->waiting, waiting_next, tmp)
		comch_conn_wait_step(conn, now, all);
	return !TAILQ_EMPTY(&sched->waiting);
}

/* Sleep */

/* Ask for a wake-up by frames; also by credits, if sends or a drain wait for them. */
static bool
conn_arm(struct rte_comch_conn *conn, uint32_t cls)
{
	return conn->ops->link_arm(conn->link, (cls & RTE_COMCH_POLL_TX) != 0 ||
		conn->phase == COMCH_PHASE_DRAINING);
}

static bool
sched_arm(struct comch_poll_task *task, uint32_t cls, bool *heavy)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);
	struct rte_comch_conn *conn;

	/* Send credits before sleeping: peers may wait for them. */
	send_credits(sched);
	TAILQ_FOREACH(conn, &sched->hot, link_next)
		*heavy |= conn_arm(conn, cls);
	TAILQ_FOREACH(conn, &sched->cold, link_next)
		*heavy |= conn_arm(conn, cls);
	TAILQ_FOREACH(conn, &sched->fresh, link_next)
		*heavy |= conn_arm(conn, cls);
	TAILQ_FOREACH(conn, &sched->order.conns, link_next)
		*heavy |= conn_arm(conn, cls);
	return !TAILQ_EMPTY(&sched->waiting) || !TAILQ_EMPTY(&sched->accepting);
}

static void
sched_rest(struct comch_poll_task *task)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);
	struct rte_comch_conn *conn;

	TAILQ_FOREACH(conn, &sched->hot, link_next)
		conn->ops->link_rest(conn->link);
	TAILQ_FOREACH(conn, &sched->cold, link_next)
		conn->ops->link_rest(conn->link);
	TAILQ_FOREACH(conn, &sched->fresh, link_next)
		conn->ops->link_rest(conn->link);
	TAILQ_FOREACH(conn, &sched->order.conns, link_next)
		conn->ops->link_rest(conn->link);
}

/* A frame that is not read yet waits, too: its connection is noted when that changes. */
static bool
has_frame(const struct rte_comch_conn *conn)
{
	return conn->ops->frame_pending(conn->link) && comch_rx_allowed(conn);
}

static bool
sched_pending(const struct comch_poll_task *task)
{
	const struct comch_sched *sched = container_of(task, const struct comch_sched, task);
	const struct rte_comch_conn *conn;
	bool pending;

	/* A held message is pending even if its link is empty. */
	pending = !RB_EMPTY(&sched->order.held);
	TAILQ_FOREACH(conn, &sched->hot, link_next)
		pending |= has_frame(conn);
	TAILQ_FOREACH(conn, &sched->cold, link_next)
		pending |= has_frame(conn);
	TAILQ_FOREACH(conn, &sched->fresh, link_next)
		pending |= has_frame(conn);
	TAILQ_FOREACH(conn, &sched->order.conns, link_next)
		pending |= has_frame(conn);
	return pending;
}

static const struct comch_poll_task_ops sched_ops = {
	.size = sizeof(struct comch_sched),
	.init = sched_init,
	.run = sched_run,
	.scanned = sched_scanned,
	.arm = sched_arm,
	.rest = sched_rest,
	.pending = sched_pending,
};

struct comch_sched *
comch_sched_get(struct rte_comch_poll *poll)
{
	struct comch_poll_task *task = comch_poll_task_get(poll, &sched_ops);

	return task != NULL ? container_of(task, struct comch_sched, task) : NULL;
}
