/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Messages of all ordered servers of a poll, in the order of their sending.
 *
 * The promise: if A's send had returned before B's send began, in another thread
 * or process that learned of it in any way, A's message comes first. Sends that
 * overlap have no order.
 *
 * A client of an ordered server sends MSG_AT, which begins with the clock of
 * its sending (comch_clock.h), read within the send:
 *
 *   sender                                receiver
 *   what the program has seen             until = clock
 *   fence                                 fence
 *   stamp = clock                         look at every link that holds nothing
 *   store the frames, publish them        deliver what is held, lowest stamp
 *   commit: wait until clock > stamp      first, while stamp < until; each time
 *   return                                look at that link again
 *
 * One stamp and one wait serve a burst: the link keeps the order within it. The
 * wait, known as commit wait, is for clocks whose tick is longer than a send. It
 * makes the order strict: B's stamp is read after A's send returned, so
 * stamp(A) < stamp(B). A counter of the sender's own that runs ahead of the tick
 * would order the sends of one process only.
 *
 * Now let B's message be about to be delivered, with stamp(B) < until. B's stamp
 * was read before `until`, because the clock does not go back; and A's frame
 * was visible before B's stamp was read. So each look at A's link since then
 * finds it: the link does not look empty, but holds A's message or an earlier
 * one of A, whose stamp is at most stamp(A) < stamp(B) and which goes first.
 * A stamp equal to `until` says nothing: within that tick A's frame may have come
 * after the look. Such a message and those beyond wait for the next run.
 *
 * A round is one look at every link after one `until`. It takes more than one
 * run if a run is full of other events before all were looked at; nothing is
 * delivered before it is over. A link whose peer does not take our frames
 * (COMCH_MAX_TX_WAIT) is passed over, and one with more than COMCH_RX_BURST other
 * frames before its next message: only their own messages are late.
 *
 * Clients may lie. A stamp ahead of our clock counts as now, and one behind the
 * last of its connection as that. A stamp that is always 0 would always come
 * first: comch_order_told() notes the earliest moment at which a message can have
 * been sent, so a liar gets ahead by two of its receive queues at most.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/comch_clock.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_links.h"
#include "ctrl/comch_order.h"

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
comch_order_init(struct comch_order_links *op)
{
	TAILQ_INIT(&op->conns);
	RB_INIT(&op->held);
}

int
comch_order_join(struct rte_comch_conn *conn)
{
	uint32_t size = COMCH_WIRE_HDR_SIZE + RTE_MAX(conn->max_msg_size + COMCH_WIRE_CLOCK_SIZE,
			(uint32_t)COMCH_WIRE_MAX_FRAME);
	struct comch_links *links = conn->links;
	struct comch_order *o;

	o = malloc(sizeof(*o) + size);
	if (o == NULL)
		return -ENOMEM;
	/* A client sends nothing before it is accepted. */
	*o = (struct comch_order){
		.conn = conn, .floor = comch_clock_before(), .round = links->order.round - 1,
		.size = size,
	};
	conn->order = o;
	TAILQ_REMOVE(conn->is_hot ? &links->hot : &links->cold, conn, link_next);
	TAILQ_INSERT_TAIL(&links->order.conns, conn, link_next);
	return 0;
}

void
comch_order_leave(struct rte_comch_conn *conn)
{
	struct comch_order_links *op = &conn->links->order;
	struct comch_order *o = conn->order;

	TAILQ_REMOVE(&op->conns, conn, link_next);
	if (o->holds)
		RB_REMOVE(comch_order_tree, &op->held, o);
	o->holds = false;
}

/*
 * A client needs to know of more than `told` to send message number told +
 * recv_queue. So that message, and all behind it, are not older than this moment,
 * before we say more. One such moment counts until its first message was read;
 * then the next one is chosen. An honest sender reads its clock after its credit,
 * so its stamps are not changed.
 */
void
comch_order_told(struct rte_comch_conn *conn)
{
	struct comch_order *o = conn->order;

	if (o->has_next || conn->rx_told == conn->rx_done)
		return;
	o->has_next = true;
	o->next_from = conn->rx_told + conn->recv_queue;
	o->next_floor = comch_clock_before();
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
	/* It waits for a later run, but not for a clock that no run reaches. */
	if (clock > conn->links->order.until)
		clock = RTE_MIN(clock, comch_clock_after());
	clock = RTE_MAX(clock, o->floor);
	/* What it was before is that of the last one. */
	o->clock = RTE_MAX(clock, o->clock);
	o->len = len;
	o->holds = true;
	RB_INSERT(comch_order_tree, &conn->links->order.held, o);
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
	const struct comch_order_links *op = &conn->links->order;
	struct comch_order *o = conn->order;
	int ret = 1;

	/* A round's share, however many runs that takes: each may be full of its events. */
	if (o->left_round != op->round) {
		o->left_round = op->round;
		o->left = COMCH_RX_BURST;
	}
	if (conn->tell)
		return LOOK_FULL;
	if (conn->put_off)
		return look_waits(o);
	while (!o->holds && comch_rx_may(conn) && conn->ops->frame_pending(conn->link)) {
		if (comch_run_full(run))
			return LOOK_FULL;
		if (o->left-- == 0) {
			o->left = 0;
			return LOOK_SPENT;
		}
		ret = comch_rx_held(conn, run);
		if (ret <= 0)
			break;
	}
	comch_rx_over(conn, ret);
	return conn->put_off ? look_waits(o) : LOOK_DONE;
}

/* Look at all that hold nothing. True: the round is over. */
static bool
order_round(struct comch_order_links *op, struct comch_run *run)
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
comch_order_run(struct comch_links *links, struct comch_run *run)
{
	struct comch_order_links *op = &links->order;
	struct rte_comch_conn *conn = TAILQ_FIRST(&op->conns);
	struct comch_order *o;
	uint8_t *data;

	if (conn == NULL)
		return;
	if (is_alone(conn)) {
		op->open = false;
		comch_rx_alone(conn, run);
		return;
	}
	if (!order_round(op, run))
		return;
	while (!comch_run_full(run)) {
		o = RB_MIN(comch_order_tree, &op->held);
		if (o == NULL || o->clock >= op->until)
			break;
		data = comch_poll_room(run->poll, o->len);
		if (data == NULL)
			break;
		memcpy(data, o->buf + COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE, o->len);
		comch_poll_keep(run->poll, o->len);
		RB_REMOVE(comch_order_tree, &op->held, o);
		o->holds = false;
		conn = o->conn;
		comch_rx_msg(conn, run, data, o->len);
		/* What it has next may be older than what others hold. */
		if (order_look(conn, run) != LOOK_DONE)
			break;
	}
}
