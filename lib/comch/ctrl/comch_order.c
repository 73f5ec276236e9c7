/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Delivers the messages of all ordered servers of a poll in the order in which they
 * were sent.
 *
 * The guarantee: if A's send returned before B's send began, in another thread or
 * process that learned of it in any way, A's message comes first. Sends that
 * overlap have no order.
 *
 * It needs one clock, and frames that are visible to the receiver when the send returns:
 * RTE_COMCH_CAPA_ORDERED.
 *
 * A client of an ordered server sends MSG_AT, which begins with a stamp: the clock
 * (comch_clock.h), read within the send:
 *
 *   sender                                receiver
 *   earlier loads of the program          cutoff = clock
 *   fence                                 fence
 *   stamp = clock                         read every link without held message
 *   store the frames, publish them        deliver held messages, lowest stamp
 *   commit: wait until clock > stamp      first, while stamp < cutoff; each time
 *   return                                read that link again
 *
 * A burst needs one stamp and one wait: the link keeps the order within it. The
 * wait, known as commit wait, is for clocks whose tick is longer than a send. It
 * makes the order strict: B's stamp is read after A's send returned, so
 * stamp(A) < stamp(B). A counter in the sender that runs ahead of the tick would
 * order the sends of one process only.
 *
 * Proof: consider B's message when it is due, with stamp(B) < cutoff. B's stamp was
 * read before `cutoff`, because the clock is monotonic, and A's frame was visible
 * before B's stamp was read. So each read of A's link after `cutoff` finds A's
 * message, or an earlier one of A, whose stamp is at most stamp(A) < stamp(B) and
 * which goes first. A stamp equal to `cutoff` proves nothing: within that tick A's
 * frame may have arrived after the read. Such a message, and later ones, wait for
 * the next run.
 *
 * A round reads every link once after one `cutoff`. It takes several runs if a run
 * is full of other events before all links are read; delivery starts when the round
 * is complete. A round skips a link whose peer does not read our frames
 * (COMCH_MAX_TX_WAIT), a link with more than COMCH_RX_BURST other frames before
 * its next message, and one whose next frame has descriptors that are still to be received,
 * which takes as long as the peer likes: only their own messages are late.
 *
 * Stamps are not trusted. One ahead of our clock counts as now, and one below the
 * connection's last stamp as that stamp. A stamp that is always 0 would always come
 * first: comch_order_note_ack() records the earliest time at which a message can have
 * been sent, so a false stamp gains two receive queues of messages at most.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/comch_clock.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_sched.h"
#include "ctrl/comch_order.h"

/* Frames that a run of waiting for a blocked connection takes off its share of a round. */
#define WAIT_COST 16

/* The result of reading a link. */
enum order_read {
	READ_DONE,  /* a message is held, the link is empty, or the connection has ended */
	READ_SPENT, /* the connection's share of the round is used up */
	READ_BLOCKED,  /* the run is full, or the link must not be read yet */
};

static int
order_cmp(const struct comch_order *a, const struct comch_order *b)
{
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return a->conn->id < b->conn->id ? -1 : a->conn->id > b->conn->id;
}

/* RB_GENERATE_STATIC() needs a macro that only BSD has. */
RB_GENERATE_INTERNAL(comch_order_tree, comch_order, node, order_cmp, __rte_unused static)

void
comch_order_init(struct comch_order_set *set)
{
	TAILQ_INIT(&set->conns);
	RB_INIT(&set->held);
}

int
comch_order_join(struct rte_comch_conn *conn)
{
	uint32_t size = COMCH_WIRE_HDR_SIZE + RTE_MAX(conn->max_msg_size + COMCH_WIRE_CLOCK_SIZE,
			(uint32_t)COMCH_WIRE_MAX_FRAME);
	struct comch_sched *sched = conn->sched;
	struct comch_order *o;

	o = malloc(sizeof(*o) + size);
	if (o == NULL)
		return -ENOMEM;
	/* No message is older than this: a client sends none before ACCEPT. */
	*o = (struct comch_order){
		.conn = conn, .floor = comch_clock_before(), .round = sched->order.round - 1,
		.size = size,
	};
	conn->order = o;
	comch_sched_unlist(conn);
	TAILQ_INSERT_TAIL(&sched->order.conns, conn, link_next);
	return 0;
}

void
comch_order_leave(struct rte_comch_conn *conn)
{
	struct comch_order_set *set = &conn->sched->order;
	struct comch_order *o = conn->order;

	TAILQ_REMOVE(&set->conns, conn, link_next);
	if (o->is_held)
		RB_REMOVE(comch_order_tree, &set->held, o);
	o->is_held = false;
}

/*
 * A client needs an acknowledgement beyond rx_acked to send message number rx_acked +
 * recv_queue. So that message, and those that follow, are not older than the clock
 * read here, before the acknowledgement is sent. Each such bound applies from its
 * first message on; then the next one is recorded. A correct sender reads its clock
 * after its credit, so its stamps do not change.
 */
void
comch_order_note_ack(struct rte_comch_conn *conn)
{
	struct comch_order *o = conn->order;

	if (o->has_next || conn->rx_acked == conn->rx_done)
		return;
	o->has_next = true;
	o->next_from = conn->rx_acked + conn->recv_queue;
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
	/* A stamp in the future must not delay the message beyond a later run. */
	if (clock > conn->sched->order.cutoff)
		clock = RTE_MIN(clock, comch_clock_after());
	clock = RTE_MAX(clock, o->floor);
	/* o->clock is the stamp of the connection's last message. */
	o->clock = RTE_MAX(clock, o->clock);
	o->len = len;
	o->is_held = true;
	RB_INSERT(comch_order_tree, &conn->sched->order.held, o);
}

/*
 * The next frame waits for a later run, and a message behind it may be older than
 * held ones: deliver nothing, for as many runs as the connection's share allows.
 */
static enum order_read
read_blocked(struct comch_order *o)
{
	if (o->share < WAIT_COST) {
		o->share = 0;
		return READ_SPENT;
	}
	o->share -= WAIT_COST;
	return READ_BLOCKED;
}

/* Read a link until a message is held. */
static enum order_read
order_read(struct rte_comch_conn *conn, struct comch_run *run)
{
	const struct comch_order_set *set = &conn->sched->order;
	struct comch_order *o = conn->order;
	int ret = 1;

	/* One share per round, however many runs the round takes. */
	if (o->share_round != set->round) {
		o->share_round = set->round;
		o->share = COMCH_RX_BURST;
	}
	if (conn->connect_event_due)
		return READ_BLOCKED;
	if (conn->rx_deferred)
		return read_blocked(o);
	while (!o->is_held && comch_rx_allowed(conn) && conn->ops->frame_pending(conn->link)) {
		if (comch_run_full(run))
			return READ_BLOCKED;
		if (o->share-- == 0) {
			o->share = 0;
			return READ_SPENT;
		}
		ret = comch_rx_ordered(conn, run);
		if (ret <= 0)
			break;
	}
	comch_rx_finish(conn, ret);
	return conn->rx_deferred ? read_blocked(o) : READ_DONE;
}

/* Read all links without a held message. True: the round is complete. */
static bool
order_round(struct comch_order_set *set, struct comch_run *run)
{
	struct rte_comch_conn *conn, *tmp;

	if (!set->round_open) {
		set->round_open = true;
		set->round++;
		set->cutoff = comch_clock_before();
	}
	TAILQ_FOREACH_SAFE(conn, &set->conns, link_next, tmp) {
		if (conn->order->is_held || conn->order->round == set->round)
			continue;
		if (order_read(conn, run) == READ_BLOCKED)
			return false;
		/* If the connection has ended, its memory is valid until the next run. */
		conn->order->round = set->round;
	}
	set->round_open = false;
	return true;
}

/* A single connection is in order already. */
static bool
is_single(const struct rte_comch_conn *conn)
{
	return conn != NULL && TAILQ_NEXT(conn, link_next) == NULL && !conn->order->is_held;
}

void
comch_order_run(struct comch_sched *sched, struct comch_run *run)
{
	struct comch_order_set *set = &sched->order;
	struct rte_comch_conn *conn = TAILQ_FIRST(&set->conns);
	struct comch_order *o;
	uint8_t *data;

	if (conn == NULL)
		return;
	if (is_single(conn)) {
		set->round_open = false;
		comch_rx_single(conn, run);
		return;
	}
	if (!order_round(set, run))
		return;
	while (!comch_run_full(run)) {
		o = RB_MIN(comch_order_tree, &set->held);
		if (o == NULL || o->clock >= set->cutoff)
			break;
		data = comch_poll_arena_get(run->poll, o->len);
		if (data == NULL)
			break;
		memcpy(data, o->buf + COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE, o->len);
		comch_poll_arena_keep(run->poll, o->len);
		RB_REMOVE(comch_order_tree, &set->held, o);
		o->is_held = false;
		conn = o->conn;
		comch_rx_msg(conn, run, data, o->len);
		/* Its next message may be older than the held ones. */
		if (order_read(conn, run) != READ_DONE)
			break;
	}
}
