/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_UNACKED_H
#define COMCH_UNACKED_H

/*
 * The queue of sent messages, until SENT is returned: entries from head to ready are
 * acknowledged or failed, those from ready to tail wait for the peer. Used by the poll's
 * thread.
 */

#include <errno.h>

#include "sdk/comch_compat.h"
#include "ctrl/comch_conn.h"

static inline bool
comch_unacked_full(const struct rte_comch_conn *conn)
{
	return conn->unacked_tail - conn->unacked_head >= conn->unacked_size;
}

/* Advance `ready` over failed entries. */
static inline void
comch_unacked_skip(struct rte_comch_conn *conn)
{
	while (conn->unacked_ready != conn->unacked_tail &&
			conn->unacked[conn->unacked_ready & conn->unacked_mask].status != 0)
		conn->unacked_ready++;
}

/* The peer acknowledges the first `acked` messages. Returns 0 or -EPROTO. */
static inline int
comch_unacked_ack(struct rte_comch_conn *conn, uint32_t acked)
{
	uint32_t n = acked - conn->tx_acked;

	if (n == 0)
		return 0;
	if (n > conn->tx_seq - conn->tx_acked)
		return -EPROTO;
	comch_store_relaxed(&conn->tx_acked, acked);
	for (; n > 0; n--) {
		conn->unacked_ready++;
		comch_unacked_skip(conn);
	}
	return 0;
}

/* Add a message; status not 0: the send failed. */
static inline void
comch_unacked_put(struct rte_comch_conn *conn, const struct rte_comch_msg *msg, int status)
{
	struct comch_unacked *u = &conn->unacked[conn->unacked_tail++ & conn->unacked_mask];

	u->cookie = msg->cookie;
	u->status = status;
	u->silent = (msg->flags & (RTE_COMCH_MSG_F_SILENT | RTE_COMCH_MSG_F_NO_SENT)) != 0;
	u->is_awaited = (msg->flags & RTE_COMCH_MSG_F_SILENT) == 0;
	if (unlikely(status != 0)) {
		comch_count(&conn->stats.tx_errors, 1);
		comch_unacked_skip(conn);
		comch_poll_note(&conn->obj);
	}
}

/* Return SENT events. True: none is left. */
static inline bool
comch_unacked_report(struct rte_comch_conn *conn, struct comch_run *run)
{
	struct rte_comch_event *event;
	const struct comch_unacked *u;

	while (conn->unacked_head != conn->unacked_ready) {
		u = &conn->unacked[conn->unacked_head & conn->unacked_mask];
		if (!u->silent || u->status != 0) {
			if (comch_run_full(run))
				return false;
			event = comch_run_add(run, RTE_COMCH_EVENT_SENT, &conn->obj, conn);
			event->status = u->status;
			event->sent.cookie = u->cookie;
		}
		conn->unacked_head++;
	}
	return true;
}

/* Does a disconnect wait for a message that is still unacknowledged? */
static inline bool
comch_unacked_pending(const struct rte_comch_conn *conn)
{
	const struct comch_unacked *u;
	uint32_t i;

	for (i = conn->unacked_ready; i != conn->unacked_tail; i++) {
		u = &conn->unacked[i & conn->unacked_mask];
		if (u->status == 0 && u->is_awaited)
			return true;
	}
	return false;
}

/* The link is down: fail all messages that are not acknowledged. */
static inline void
comch_unacked_fail(struct rte_comch_conn *conn)
{
	struct comch_unacked *u;

	while (conn->unacked_ready != conn->unacked_tail) {
		u = &conn->unacked[conn->unacked_ready++ & conn->unacked_mask];
		if (u->status == 0) {
			u->status = -ECONNRESET;
			comch_count(&conn->stats.tx_errors, 1);
		}
	}
}

#endif /* COMCH_UNACKED_H */
