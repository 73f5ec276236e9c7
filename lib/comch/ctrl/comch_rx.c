/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Receive path of a connection: read a frame, check it, return an event or dispatch it. */

#include <errno.h>
#include <string.h>

#include "sdk/comch_foreign.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_trace.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_sched.h"
#include "ctrl/comch_order.h"
#include "ctrl/comch_proto.h"
#include "ctrl/comch_unacked.h"

int
rte_comch_conn_msgs_done(struct rte_comch_conn *conn, uint32_t n)
{
	if (conn == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (!conn->manual_credit || n > conn->rx_seq - conn->rx_done) {
		if (conn->manual_credit)
			COMCH_LOG(ERR, "connection %u: msgs_done(%u): only %u received and not "
				"done", conn->id, n, conn->rx_seq - conn->rx_done);
		else
			COMCH_LOG(ERR, "connection %u: msgs_done(%u): requires MANUAL_CREDIT",
				conn->id, n);
		return -EINVAL;
	}
	conn->rx_done += n;
	if (n > 0 && comch_conn_is_up(conn))
		comch_sched_credit_due(conn);
	return 0;
}

static inline void
on_msg(struct rte_comch_conn *conn, struct comch_run *run, void *data, uint32_t len)
{
	struct rte_comch_event *event;

	event = comch_run_add(run, RTE_COMCH_EVENT_MSG, &conn->obj, conn);
	event->msg.data = data;
	event->msg.len = len;
	comch_trace_msg_rx(conn->id, len, conn->rx_seq);
	conn->rx_seq++;
	comch_count(&conn->stats.rx_msgs, 1);
	comch_count(&conn->stats.rx_bytes, len);
	if (unlikely(conn->manual_credit))
		return;
	conn->rx_done = conn->rx_seq;
	comch_sched_credit_due(conn);
}

/* The peer may send recv_queue messages beyond the acknowledged ones. */
static inline bool
msg_is_allowed(const struct rte_comch_conn *conn, uint32_t len)
{
	return conn->phase >= COMCH_PHASE_UP && len <= conn->max_msg_size &&
		conn->rx_seq - conn->rx_acked < conn->recv_queue;
}

/* How rx_frame() passes a message on. */
enum rx_how {
	RX_DELIVER,    /* return MSG as an event, the data in place */
	RX_DELIVER_AT, /* return MSG_AT as an event, the data in place */
	RX_HOLD,    /* hold MSG_AT until its turn */
};

/*
 * Receive one frame. Returns 1, 0 (none) or a negative errno that ends the
 * connection. `how` is a constant: the compiler makes three functions of this one.
 */
static __rte_always_inline int
rx_frame(struct rte_comch_conn *conn, struct comch_run *run, uint8_t *buf, uint32_t size,
		enum rx_how how)
{
	const enum comch_wire_type msg_type = how == RX_DELIVER ? COMCH_WIRE_MSG :
		COMCH_WIRE_MSG_AT;
	const uint32_t skip = how == RX_DELIVER ? 0 : COMCH_WIRE_CLOCK_SIZE;
	int fds[RTE_COMCH_FRAME_FDS];
	struct comch_wire_frame f;
	uint32_t nb_fds = 0;
	int len, ret;

	len = conn->ops->frame_rx(conn->link, buf, size, fds, &nb_fds);
	if (len == -EAGAIN)
		return 0;
	if (unlikely(len < 0))
		return len;
	ret = comch_wire_parse(buf, (uint32_t)len, &f);
	if (likely(ret == 0))
		ret = comch_unacked_ack(conn, f.acked);
	if (likely(ret == 0 && f.type == msg_type && msg_is_allowed(conn, f.len - skip))) {
		if (how == RX_HOLD) {
			comch_order_hold(conn, f.len - skip);
		} else {
			on_msg(conn, run, buf + COMCH_WIRE_HDR_SIZE + skip, f.len - skip);
			comch_poll_arena_keep(conn->obj.poll, (uint32_t)len);
		}
	} else if (ret == 0) {
		ret = comch_proto_dispatch(conn, &f, fds, nb_fds, run);
		nb_fds = 0;
	}
	while (nb_fds > 0)
		comch_foreign_close(fds[--nb_fds]);
	return ret == 0 ? 1 : ret;
}

static __rte_always_inline int
rx_one(struct rte_comch_conn *conn, struct comch_run *run, enum rx_how how)
{
	uint32_t size = comch_rx_size(conn);
	uint8_t *buf = comch_poll_arena_get(conn->obj.poll, size);

	if (likely(buf != NULL))
		return rx_frame(conn, run, buf, size, how);
	conn->sched->was_full = true;
	return 0;
}

/* Return the SENT events of an acknowledgement; in the next run if this one is full. */
static inline void
report_acked(struct rte_comch_conn *conn, struct comch_run *run)
{
	if (conn->unacked_head != conn->unacked_ready && !comch_unacked_report(conn, run))
		comch_poll_note(&conn->obj);
}

int
comch_rx_ordered(struct rte_comch_conn *conn, struct comch_run *run)
{
	int ret = rx_frame(conn, run, conn->order->buf, conn->order->size, RX_HOLD);

	if (ret > 0)
		report_acked(conn, run);
	return ret;
}

void
comch_rx_msg(struct rte_comch_conn *conn, struct comch_run *run, void *data, uint32_t len)
{
	on_msg(conn, run, data, len);
}

void
comch_rx_finish(struct rte_comch_conn *conn, int ret)
{
	if (ret < 0 && conn->link->state == RTE_COMCH_LINK_DOWN && ret == conn->link->error)
		comch_conn_link_lost(conn);
	else if (ret == -EMFILE)
		comch_conn_end(conn, ret,
			"peer has used up its share of this process's descriptors");
	else if (ret < 0)
		comch_conn_end(conn, ret, "%s: %s", ret == -EPROTO ? "protocol violation by peer" :
			"cannot handle the peer's frame", strerror(-ret));
	else if (conn->link->state == RTE_COMCH_LINK_DOWN)
		/* The service function ends it after the last frame. */
		comch_poll_note(&conn->obj);
}

void
comch_rx(struct rte_comch_conn *conn, struct comch_run *run)
{
	unsigned int left = COMCH_RX_BURST;
	int ret = 1;

	comch_sched_active(conn);
	/* The bound is for a peer that writes as fast as we read. */
	while (left-- > 0 && comch_rx_allowed(conn) && comch_rx_has_room(conn, run)) {
		ret = rx_one(conn, run, RX_DELIVER);
		/* The connection became ordered: comch_order_run() reads the rest. */
		if (ret <= 0 || unlikely(conn->order != NULL))
			break;
		report_acked(conn, run);
	}
	comch_rx_finish(conn, ret);
}

void
comch_rx_single(struct rte_comch_conn *conn, struct comch_run *run)
{
	unsigned int left = COMCH_RX_BURST;
	int ret = 1;

	while (left-- > 0 && comch_rx_allowed(conn) && !comch_run_full(run) &&
			conn->ops->frame_pending(conn->link)) {
		ret = rx_one(conn, run, RX_DELIVER_AT);
		if (ret <= 0)
			break;
		report_acked(conn, run);
	}
	comch_rx_finish(conn, ret);
}

