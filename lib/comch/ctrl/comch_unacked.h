/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_UNACKED_H
#define COMCH_UNACKED_H

/*
 * Messages that were sent, in their order, until their SENT is returned: head..ready
 * have their answer, ready..tail wait for the peer's. The poll's thread.
 */

#include <errno.h>

#include "sdk/comch_compat.h"
#include "ctrl/comch_conn.h"

static inline bool
comch_unacked_full(const struct rte_comch_conn *conn)
{
	return conn->unacked_tail - conn->unacked_head >= conn->unacked_size;
}

/* Pass entries that have their answer. */
static inline void
comch_unacked_skip(struct rte_comch_conn *conn)
{
	while (conn->unacked_ready != conn->unacked_tail &&
			conn->unacked[conn->unacked_ready & conn->unacked_mask].status != 0)
		conn->unacked_ready++;
}

/* The peer's application was given so many of our messages. 0 or -EPROTO. */
static inline int
comch_unacked_take(struct rte_comch_conn *conn, uint32_t acked)
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

/* Remember a message; status not 0: it was not sent. */
static inline void
comch_unacked_put(struct rte_comch_conn *conn, const struct rte_comch_msg *msg, int status)
{
	struct comch_unacked *u = &conn->unacked[conn->unacked_tail++ & conn->unacked_mask];

	u->cookie = msg->cookie;
	u->status = status;
	u->silent = (msg->flags & RTE_COMCH_MSG_F_SILENT) != 0;
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

/* Does a message wait for its answer? Of a silent one no SENT is wanted. */
static inline bool
comch_unacked_waits(const struct rte_comch_conn *conn)
{
	const struct comch_unacked *u;
	uint32_t i;

	for (i = conn->unacked_ready; i != conn->unacked_tail; i++) {
		u = &conn->unacked[i & conn->unacked_mask];
		if (u->status == 0 && !u->silent)
			return true;
	}
	return false;
}

/* The link is gone: what has no answer fails. */
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
