/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Send path of a connection: frames, messages and credits. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_fork.h"
#include "base/comch_trace.h"
#include "ctrl/comch_clock.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_order.h"
#include "ctrl/comch_unacked.h"

/* Frames */

static inline int
frame_tx(struct rte_comch_conn *conn, const struct rte_comch_frame *frame)
{
	int ret = conn->ops->frame_tx(conn->link, frame);

	comch_store_relaxed(&conn->stats.wakes, conn->link->wakes);
	/* The link is down: the service function ends the connection. */
	if (unlikely(ret == -ENOTCONN))
		comch_poll_note(&conn->obj);
	return ret;
}

static int
tx_now(struct rte_comch_conn *conn, const void *buf, uint32_t len, const int *fds,
		uint32_t nb_fds)
{
	struct rte_comch_frame frame = {
		.hdr = buf, .hdr_len = len, .nb_fds = nb_fds,
		.is_credit = comch_wire_type_of(buf) == COMCH_WIRE_CREDIT,
	};
	uint32_t i;

	for (i = 0; i < nb_fds; i++)
		frame.fds[i] = fds[i];
	return frame_tx(conn, &frame);
}

static uint32_t
load_of(const struct comch_tx_wait *w)
{
	switch (comch_wire_type_of(w->buf)) {
	case COMCH_WIRE_MR_ADD:
	case COMCH_WIRE_MR_DEL:
	case COMCH_WIRE_CONSUMER_NEW:
	case COMCH_WIRE_CONSUMER_GONE:
	case COMCH_WIRE_PRODUCER_NEW:
	case COMCH_WIRE_PRODUCER_GONE:
		return 0;
	default:
		return 1 + w->nb_fds * COMCH_TX_WAIT_FD;
	}
}

/* Queue a frame until the link has space; its descriptors are duplicated. */
static int
tx_queue(struct rte_comch_conn *conn, const void *buf, uint32_t len, const int *fds,
		uint32_t nb_fds)
{
	struct comch_tx_wait *w = calloc(1, sizeof(*w));
	uint32_t i;

	if (w == NULL)
		return -ENOMEM;
	for (i = 0; i < nb_fds; i++) {
		w->fds[i] = dup(fds[i]);
		if (w->fds[i] < 0)
			goto err_close;
	}
	w->nb_fds = nb_fds;
	w->len = len;
	memcpy(w->buf, buf, len);
	STAILQ_INSERT_TAIL(&conn->tx_wait, w, next);
	conn->tx_wait_load += load_of(w);
	comch_poll_note(&conn->obj);
	return 0;

err_close:
	while (i > 0)
		close(w->fds[--i]);
	free(w);
	return -EMFILE;
}

/* Call before rx_acked is updated: ordering records the acknowledgement. */
static inline void
before_ack(struct rte_comch_conn *conn)
{
	if (unlikely(conn->order != NULL))
		comch_order_note_ack(conn);
}

/* A frame is lost: the connection ends. */
static void
check_sent(struct rte_comch_conn *conn, int ret)
{
	if (ret != 0 && ret != -ENOTCONN)
		comch_conn_fault(conn, ret, "no descriptor or memory to send a frame");
}

void
comch_tx_frame(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const int *fds, uint32_t nb_fds)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME] __rte_aligned(8);
	struct comch_wire_frame f = *frame;
	uint32_t len;
	int ret = -EAGAIN;

	/*
	 * Do not acknowledge messages of the current run yet: the application gets them when it
	 * returns. DISCONNECT acknowledges all, since no frame follows.
	 */
	if (!conn->is_credit_due || f.type == COMCH_WIRE_DISCONNECT) {
		before_ack(conn);
		conn->rx_acked = conn->rx_done;
	}
	f.acked = conn->rx_acked;
	len = comch_wire_build(&f, buf);
	if (STAILQ_EMPTY(&conn->tx_wait))
		ret = tx_now(conn, buf, len, fds, nb_fds);
	if (ret == -EAGAIN)
		ret = tx_queue(conn, buf, len, fds, nb_fds);
	check_sent(conn, ret);
}

void
comch_tx_ticket(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const struct rte_comch_ticket *ticket)
{
	struct comch_wire_frame f = *frame;

	f.ticket_len = ticket->len;
	f.ticket = ticket->data;
	comch_tx_frame(conn, &f, ticket->fds, ticket->nb_fds);
	comch_tx_ticket_drop(ticket);
}

void
comch_tx_ticket_drop(const struct rte_comch_ticket *ticket)
{
	uint32_t i;

	for (i = 0; i < ticket->nb_fds; i++)
		if ((ticket->to_close & UINT32_C(1) << i) != 0)
			close(ticket->fds[i]);
}

static void
tx_wait_free(struct rte_comch_conn *conn, struct comch_tx_wait *w)
{
	uint32_t i;

	STAILQ_REMOVE_HEAD(&conn->tx_wait, next);
	conn->tx_wait_load -= load_of(w);
	for (i = 0; i < w->nb_fds; i++)
		close(w->fds[i]);
	free(w);
}

void
comch_tx_drop(struct rte_comch_conn *conn)
{
	while (!STAILQ_EMPTY(&conn->tx_wait))
		tx_wait_free(conn, STAILQ_FIRST(&conn->tx_wait));
}

bool
comch_tx_flush(struct rte_comch_conn *conn)
{
	struct comch_tx_wait *w;
	int ret;

	while ((w = STAILQ_FIRST(&conn->tx_wait)) != NULL) {
		ret = tx_now(conn, w->buf, w->len, w->fds, w->nb_fds);
		if (ret == -EAGAIN)
			return false;
		tx_wait_free(conn, w);
		check_sent(conn, ret);
	}
	comch_tx_credit(conn);
	return STAILQ_EMPTY(&conn->tx_wait);
}

void
comch_tx_credit(struct rte_comch_conn *conn)
{
	static const struct comch_wire_frame credit = { .type = COMCH_WIRE_CREDIT };

	if (conn->rx_acked == conn->rx_done || conn->is_credit_due || !comch_conn_is_up(conn))
		return;
	/* One credit covers all: it follows what waits, see comch_tx_flush(). */
	if (!STAILQ_EMPTY(&conn->tx_wait))
		comch_poll_note(&conn->obj);
	else
		comch_tx_frame(conn, &credit, NULL, 0);
}

uint32_t
comch_tx_nb_waiting(const struct rte_comch_conn *conn, enum comch_wire_type type)
{
	const struct comch_tx_wait *w;
	uint32_t n = 0;

	STAILQ_FOREACH(w, &conn->tx_wait, next)
		n += comch_wire_type_of(w->buf) == type;
	return n;
}

/* Messages */

static int
msg_check(const struct rte_comch_conn *conn, const struct rte_comch_msg *msg)
{
	if (unlikely(conn->phase != COMCH_PHASE_UP))
		return -EBADFD;
	if (unlikely(msg->len > conn->max_msg_size))
		return -EMSGSIZE;
	if (unlikely((msg->len > 0 && msg->data == NULL) ||
			(msg->flags & ~(RTE_COMCH_MSG_F_SILENT | RTE_COMCH_MSG_F_NO_SENT)) != 0))
		return -EINVAL;
	return 0;
}

/* The id of the connection on which this thread last sent a stamped message. */
static __thread uint32_t last_stamped __attribute__((tls_model("initial-exec")));

/* One stamp per burst: the link keeps the order within it. */
static uint64_t
burst_stamp(const struct rte_comch_conn *conn)
{
	if (unlikely(last_stamped != conn->id)) {
		comch_clock_next_link();
		last_stamped = conn->id;
	}
	return comch_clock_after();
}

/* *stamp: the stamp of this burst; 0: not taken yet. */
static inline int
msg_tx(struct rte_comch_conn *conn, const struct rte_comch_msg *msg, uint64_t *stamp)
{
	uint64_t hdr[(COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE) / sizeof(uint64_t)];
	struct rte_comch_frame frame = {
		.hdr = hdr, .hdr_len = COMCH_WIRE_HDR_SIZE,
		.payload = msg->data, .payload_len = msg->len,
	};
	int ret;

	if (unlikely(!STAILQ_EMPTY(&conn->tx_wait)) ||
			conn->tx_seq - conn->tx_acked >= conn->tx_credits)
		return -EAGAIN;
	before_ack(conn);
	if (unlikely(conn->sends_stamps)) {
		if (*stamp == 0)
			*stamp = burst_stamp(conn);
		frame.hdr_len = sizeof(hdr);
		comch_wire_msg_at_hdr(hdr, msg->len, conn->rx_done, *stamp);
	} else {
		comch_wire_msg_hdr(hdr, msg->len, conn->rx_done);
	}
	ret = frame_tx(conn, &frame);
	if (ret != 0)
		return ret;
	conn->rx_acked = conn->rx_done;
	comch_trace_msg_tx(conn->id, msg->len, conn->tx_seq);
	comch_count(&conn->tx_seq, 1);
	comch_count(&conn->stats.tx_msgs, 1);
	comch_count(&conn->stats.tx_bytes, msg->len);
	return 0;
}

uint16_t
rte_comch_conn_send_burst(struct rte_comch_conn *conn, const struct rte_comch_msg *msgs,
		uint16_t n)
{
	uint64_t stamp = 0;
	uint16_t i;
	int ret;

	/* Refuse sends while ending, or DISCONNECTED could starve. */
	if (unlikely(conn == NULL || msgs == NULL || conn->phase >= COMCH_PHASE_ENDING ||
			conn->phase == COMCH_PHASE_DRAINING || comch_forked))
		return 0;
	for (i = 0; i < n; i++) {
		if (comch_unacked_full(conn))
			break;
		ret = msg_check(conn, &msgs[i]);
		if (likely(ret == 0))
			ret = msg_tx(conn, &msgs[i], &stamp);
		/*
		 * A link that is down counts as full: an application that retries failed
		 * sends would fill each run with SENT, and starve the peer's last messages
		 * and DISCONNECTED.
		 */
		if (ret == -EAGAIN || ret == -ENOTCONN)
			break;
		comch_unacked_put(conn, &msgs[i], ret);
	}
	if (unlikely(stamp != 0))
		comch_clock_commit(stamp);
	if (i < n)
		comch_count(&conn->stats.tx_full, 1);
	return i;
}
