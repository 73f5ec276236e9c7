/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Messages of all ordered servers of a poll, in the order of their sending.
 *
 * What is promised: if A's send had returned before B's send began (B knows of
 * it by whatever way), A's message comes first. Who did not know of each other
 * have no order.
 *
 * A client of an ordered server sends MSG_AT, which begins with the clock of
 * its sending (comch_clock.h), read within the send:
 *
 *   sender                                receiver
 *   what the program had seen             until = clock
 *   fence                                 fence
 *   clock                                 look at every link that holds nothing
 *   store the frame, publish it           deliver what is held, lowest clock
 *   return                                first, while clock <= until; each time
 *                                         look at that link again
 *
 * The sender's fence keeps the clock behind what it had seen: so a message
 * that knows of another has a later clock. The frame's stores are behind the
 * clock, because the clock is one of the things stored and x86 publishes
 * stores in their order: so clock < publication. If A and B are sent by one
 * thread, the sender waits for the stores of A before it reads B's clock; if B's
 * thread has heard of A from another, that word was published behind A.
 *
 * Let B's message be about to be delivered, with clock(B) <= until, and A's
 * send have returned before B's began. Then A's frame was published before
 * clock(B), so before until, and the receiver's fence makes each look at A's
 * link since then find it. So A's link does not look empty: it holds A's
 * message or an earlier one of A, whose clock is less than clock(A) < clock(B)
 * and which goes first. What has a clock beyond until may have an elder
 * brother on a link that was looked at too early: it waits for the next run.
 *
 * A round is one look at every link after one `until`. It takes more than one
 * run if a run is full of other events before all were looked at; nothing is
 * delivered before it is over. A link whose peer does not take our frames
 * (COMCH_MAX_TX_WAIT) is passed over, and one with more than COMCH_RX_BURST frames
 * that are no message before its next message: their messages are late, and
 * nobody else's.
 *
 * Clients may lie. A clock ahead of ours counts as now. One behind the last of
 * its connection counts as that. One that says 0 for ever would come first for
 * ever: comch_order_told() says when a message cannot have been sent before,
 * so he gets ahead by two of his receive queues at most.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comch_clock.h"
#include "comch_private.h"

/* Frames of a connection's share in a round that one run of waiting costs it. */
#define WAIT_COST 16

/* What became of a look at a link. */
enum look {
	LOOK_DONE,  /* it holds a message, or it is empty, or it has ended */
	LOOK_SPENT, /* it had its share of this round */
	LOOK_FULL,  /* no room for what its frames say, or it must not be read yet */
};

static int
order_cmp(const struct comch_order *a, const struct comch_order *b)
{
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return a->conn->id < b->conn->id ? -1 : a->conn->id > b->conn->id;
}

/* RB_GENERATE_STATIC() wants a macro that only BSD has. */
RB_GENERATE_INTERNAL(comch_order_tree, comch_order, node, order_cmp, __rte_unused static)

void
comch_order_init(struct comch_order_poll *op)
{
	TAILQ_INIT(&op->conns);
	RB_INIT(&op->held);
}

int
comch_order_join(struct rte_comch_conn *conn)
{
	uint32_t size = COMCH_WIRE_HDR_SIZE + RTE_MAX(conn->max_msg_size + COMCH_WIRE_CLOCK_SIZE,
			(uint32_t)COMCH_WIRE_MAX_FRAME);
	struct rte_comch_poll *poll = conn->obj.poll;
	struct comch_order *o;

	o = malloc(sizeof(*o) + size);
	if (o == NULL)
		return -ENOMEM;
	/* Nobody sends before he was accepted. */
	*o = (struct comch_order){
		.conn = conn, .floor = rte_rdtsc(), .round = poll->order.round - 1, .size = size,
	};
	conn->order = o;
	TAILQ_REMOVE(conn->is_hot ? &poll->hot : &poll->cold, conn, link_next);
	TAILQ_INSERT_TAIL(&poll->order.conns, conn, link_next);
	return 0;
}

void
comch_order_leave(struct rte_comch_conn *conn)
{
	struct comch_order_poll *op = &conn->obj.poll->order;
	struct comch_order *o = conn->order;

	TAILQ_REMOVE(&op->conns, conn, link_next);
	if (o->holds)
		RB_REMOVE(comch_order_tree, &op->held, o);
	o->holds = false;
}

/*
 * Message number told + recv_queue may only be sent by who knows of more than
 * `told`. So it, and all behind it, are not older than this moment, before we
 * say more. One such moment counts until its first message was read; then the
 * next one is chosen. An honest sender reads its clock after its credit, and
 * never meets this.
 */
void
comch_order_told(struct rte_comch_conn *conn)
{
	struct comch_order *o = conn->order;

	if (o->has_next || conn->rx_told == conn->rx_done)
		return;
	o->has_next = true;
	o->next_from = conn->rx_told + conn->recv_queue;
	o->next_floor = rte_rdtsc();
}

void
comch_order_hold(struct rte_comch_conn *conn, uint32_t len)
{
	struct comch_order *o = conn->order;
	uint64_t clock = comch_wire_clock(o->buf);

	if (o->has_next && (int32_t)(conn->rx_seq - o->next_from) >= 0) {
		o->floor = o->next_floor;
		o->has_next = false;
	}
	/* Beyond that it waits anyhow; but not for a day that never comes. */
	if (clock > conn->obj.poll->order.until)
		clock = RTE_MIN(clock, comch_clock_after());
	clock = RTE_MAX(clock, o->floor);
	/* What it was before is that of the last one. */
	o->clock = RTE_MAX(clock, o->clock);
	o->len = len;
	o->holds = true;
	RB_INSERT(comch_order_tree, &conn->obj.poll->order.held, o);
}

/*
 * Its next frame waits for a later run, and messages behind it may be older than
 * what others hold: so do they, for as many runs as its share allows.
 */
static enum look
look_waits(struct comch_order *o)
{
	if (o->left < WAIT_COST) {
		o->left = 0;
		return LOOK_SPENT;
	}
	o->left -= WAIT_COST;
	return LOOK_FULL;
}

/* Read until it holds a message. */
static enum look
order_look(struct rte_comch_conn *conn, struct comch_run *run)
{
	const struct comch_order_poll *op = &run->poll->order;
	struct comch_order *o = conn->order;
	int ret = 1;

	/* A round's share, however many runs that takes: each may be full of its events. */
	if (o->left_round != op->round) {
		o->left_round = op->round;
		o->left = COMCH_RX_BURST;
	}
	if (conn->hold)
		return LOOK_FULL;
	if (conn->put_off)
		return look_waits(o);
	while (!o->holds && comch_conn_may_rx(conn) && conn->ops->frame_pending(conn->link)) {
		if (comch_run_full(run))
			return LOOK_FULL;
		if (o->left-- == 0) {
			o->left = 0;
			return LOOK_SPENT;
		}
		ret = comch_conn_rx_held(conn, run);
		if (ret <= 0)
			break;
	}
	comch_conn_rx_over(conn, ret);
	return conn->put_off ? look_waits(o) : LOOK_DONE;
}

/* Look at all that hold nothing. True: the round is over. */
static bool
order_round(struct comch_order_poll *op, struct comch_run *run)
{
	struct rte_comch_conn *conn, *tmp;

	if (!op->open) {
		op->open = true;
		op->round++;
		op->until = comch_clock_before();
	}
	TAILQ_FOREACH_SAFE(conn, &op->conns, link_next, tmp) {
		if (conn->order->holds || conn->order->round == op->round)
			continue;
		if (order_look(conn, run) == LOOK_FULL)
			return false;
		/* It may have ended, and lives until the next run all the same. */
		conn->order->round = op->round;
	}
	op->open = false;
	return true;
}

/* Who is alone needs no order. */
static bool
is_alone(const struct rte_comch_conn *conn)
{
	return conn != NULL && TAILQ_NEXT(conn, link_next) == NULL && !conn->order->holds;
}

void
comch_order_run(struct rte_comch_poll *poll, struct comch_run *run)
{
	struct comch_order_poll *op = &poll->order;
	struct rte_comch_conn *conn = TAILQ_FIRST(&op->conns);
	struct comch_order *o;
	uint8_t *data;

	if (conn == NULL)
		return;
	if (is_alone(conn)) {
		op->open = false;
		comch_conn_rx_alone(conn, run);
		return;
	}
	if (!order_round(op, run))
		return;
	while (!comch_run_full(run)) {
		o = RB_MIN(comch_order_tree, &op->held);
		if (o == NULL || o->clock > op->until)
			break;
		data = comch_poll_room(poll, o->len);
		if (data == NULL)
			break;
		memcpy(data, o->buf + COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE, o->len);
		comch_poll_keep(poll, o->len);
		RB_REMOVE(comch_order_tree, &op->held, o);
		o->holds = false;
		conn = o->conn;
		comch_conn_on_msg(conn, run, data, o->len);
		/* What it has next may be older than what others hold. */
		if (order_look(conn, run) != LOOK_DONE)
			break;
	}
}
