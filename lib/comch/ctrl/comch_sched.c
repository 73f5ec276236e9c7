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
/*
 * Number of cold connections that one run checks: few, since hot ones wait for it. And number of
 * events for which it checks another one, whose cost is small beside theirs.
 */
#define COLD_PER_RUN 2
#define EVENTS_PER_COLD 4
/* The same in a run after a full one. */
#define COLD_PER_FULL_RUN 8
/* Number of connections that are not established yet, which one run checks. */
#define FRESH_PER_RUN 2

static void
sched_init(struct comch_poll_task *task, struct rte_comch_poll *poll)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);

	sched->poll = poll;
	TAILQ_INIT(&sched->hot);
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
	struct comch_sched *sched = conn->sched;

	conn->last_active = (uint32_t)sched->poll->run_no;
	comch_cold_join(&sched->cold, conn);
	comch_sched_heat(conn);
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
	comch_cold_leave(&sched->cold, conn);
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

static __rte_noinline void
make_cold(struct rte_comch_conn *conn)
{
	struct comch_sched *sched = conn->sched;
	const bool is_fresh = conn->phase < COMCH_PHASE_UP;

	/* Without memory it stays hot. */
	if (!is_fresh && !comch_cold_add(&sched->cold, conn))
		return;
	TAILQ_REMOVE(&sched->hot, conn, link_next);
	sched->nb_hot--;
	conn->is_hot = false;
	conn->is_fresh = is_fresh;
	if (is_fresh)
		TAILQ_INSERT_TAIL(&sched->fresh, conn, link_next);
}

/* A hot connection that has been silent. */
static inline void
cool_down(struct rte_comch_conn *conn, const struct comch_run *run)
{
	if (unlikely((uint32_t)run->poll->run_no - conn->last_active > HOT_RUNS && conn->is_hot))
		make_cold(conn);
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

/* Receive from a connection, up to its share if there is one. */
static __rte_noinline void
receive_one(struct rte_comch_conn *conn, struct comch_run *run, const struct share *share)
{
	if (share == NULL)
		check_conn(conn, run);
	else
		receive_share(conn, run, share);
}

/* One that the run has no room for keeps its turn. */
static __rte_always_inline void
receive_cold(struct comch_sched *sched, struct comch_run *run, uint32_t left,
		const struct share *share)
{
	struct comch_cold_set *set = &sched->cold;
	const struct comch_cold *cold;

	left = RTE_MIN(left, set->nb);
	/* One that speaks is not cold any more. */
	for (; left > 0 && set->nb > 0 && !comch_run_full(run); left--) {
		cold = comch_cold_next(set);
		if (unlikely(comch_cold_may_have(cold)))
			receive_one(cold->conn, run, share);
	}
}

/* Each once: a look may miss on a cache line that the peer owns. */
static __rte_always_inline void
receive_fresh(struct comch_sched *sched, struct comch_run *run, const struct share *share)
{
	struct rte_comch_conn *conn = TAILQ_FIRST(&sched->fresh);
	const struct rte_comch_conn *first = conn;
	unsigned int i;

	for (i = 0; conn != NULL && i < FRESH_PER_RUN && !is_run_full(sched, run); i++) {
		TAILQ_REMOVE(&sched->fresh, conn, link_next);
		TAILQ_INSERT_TAIL(&sched->fresh, conn, link_next);
		receive_one(conn, run, share);
		conn = TAILQ_FIRST(&sched->fresh);
		if (conn == first)
			return;
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
	receive_cold(sched, run, COLD_PER_RUN + run->n / EVENTS_PER_COLD, NULL);
	receive_fresh(sched, run, NULL);
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
	const uint32_t n = sched->nb_hot + COLD_PER_FULL_RUN;
	const struct share rest = { UINT16_MAX, UINT32_MAX }, share = {
		.events = (uint16_t)RTE_MAX((uint32_t)(run->max - run->n) / n, 1u),
		.bytes = (run->poll->arena_size - run->poll->arena_used) / n,
	};
	struct rte_comch_conn *first, *next, *none;

	receive_cold(sched, run, COLD_PER_FULL_RUN, &share);
	receive_fresh(sched, run, &share);
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

/* *visit* may make a connection hot: it is not visited again. */
static __rte_always_inline void
for_each_conn(const struct comch_sched *sched,
		void (*visit)(struct rte_comch_conn *conn, void *arg), void *arg)
{
	struct rte_comch_conn *conn, *tmp;
	uint32_t i, slot = 0;

	TAILQ_FOREACH(conn, &sched->hot, link_next)
		visit(conn, arg);
	for (i = sched->cold.nb; i > 0; i--) {
		slot = comch_cold_find(&sched->cold, slot);
		visit(sched->cold.slots[slot++].conn, arg);
	}
	TAILQ_FOREACH_SAFE(conn, &sched->fresh, link_next, tmp)
		visit(conn, arg);
	TAILQ_FOREACH(conn, &sched->order.conns, link_next)
		visit(conn, arg);
}

struct arm_arg {
	bool for_sends;
	bool heavy;
};

/* Ask for a wake-up by frames; also by credits, if sends or a drain wait for them. */
static void
arm_conn(struct rte_comch_conn *conn, void *arg)
{
	struct arm_arg *a = arg;

	a->heavy |= conn->ops->link_arm(conn->link,
		a->for_sends || conn->phase == COMCH_PHASE_DRAINING);
}

static bool
sched_arm(struct comch_poll_task *task, uint32_t cls, bool *heavy)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);
	struct arm_arg a = { .for_sends = (cls & RTE_COMCH_POLL_TX) != 0 };

	/* Send credits before sleeping: peers may wait for them. */
	send_credits(sched);
	for_each_conn(sched, arm_conn, &a);
	*heavy |= a.heavy;
	return !TAILQ_EMPTY(&sched->waiting) || !TAILQ_EMPTY(&sched->accepting);
}

static void
rest_conn(struct rte_comch_conn *conn, void *unused __rte_unused)
{
	conn->ops->link_rest(conn->link);
}

static void
sched_rest(struct comch_poll_task *task)
{
	for_each_conn(container_of(task, struct comch_sched, task), rest_conn, NULL);
}

/*
 * A frame that is not read yet waits, too: its connection is noted when that changes. The next run
 * is to read it, and not to look for it among the idle ones.
 */
static void
find_frame(struct rte_comch_conn *conn, void *arg)
{
	bool *pending = arg;

	if (!conn->ops->frame_pending(conn->link) || !comch_rx_allowed(conn))
		return;
	*pending = true;
	if (conn->order == NULL)
		comch_sched_active(conn);
}

static bool
sched_pending(struct comch_poll_task *task)
{
	struct comch_sched *sched = container_of(task, struct comch_sched, task);
	/* A held message is pending even if its link is empty. */
	bool pending = !RB_EMPTY(&sched->order.held);

	for_each_conn(sched, find_frame, &pending);
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
