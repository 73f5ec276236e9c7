/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How a connection ends: the last words, the last events, and the burial. */

#include <stdarg.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_string_fns.h>

#include "sdk/comch_log.h"
#include "comch_private.h"
#include "comch_trace.h"

/* How long a last frame may wait for room, ms. */
#define CLOSE_MS 1000

static void
conn_leave_lists(struct rte_comch_conn *conn)
{
	struct rte_comch_poll *poll = conn->obj.poll;

	comch_conn_wait_end(conn);
	if (conn->owing) {
		conn->owing = false;
		TAILQ_REMOVE(&poll->owing, conn, owing_next);
	}
	comch_poll_fd_del(poll, &conn->fd);
	if (conn->link == NULL)
		return;
	if (conn->order != NULL)
		comch_order_leave(conn);
	else
		TAILQ_REMOVE(conn->is_hot ? &poll->hot : &poll->cold, conn, link_next);
	conn->ops->link_shutdown(conn->link);
}

void
comch_conn_end(struct rte_comch_conn *conn, int status, const char *fmt, ...)
{
	uint32_t old = conn->phase;
	va_list ap;

	if (old >= COMCH_PHASE_ENDING)
		return;
	if (conn->server != NULL && old < COMCH_PHASE_PENDING)
		comch_count(&conn->server->nb_half_open, -1);
	if (conn->server != NULL && old == COMCH_PHASE_PENDING)
		comch_count(&conn->server->nb_pending, -1);
	/* A reason that is there already was given by whoever closed it. */
	if (conn->reason[0] == '\0') {
		va_start(ap, fmt);
		vsnprintf(conn->reason, sizeof(conn->reason), fmt, ap);
		va_end(ap);
		conn->end_status = status;
		COMCH_LOG(INFO, "connection %u of %s: %s", conn->id, comch_conn_name(conn),
			conn->reason);
	}
	comch_trace_conn_end(conn->id, comch_conn_name(conn), conn->end_status, conn->reason);
	comch_store_release(&conn->phase, COMCH_PHASE_ENDING);
	comch_server_conn_leaves(conn);
	comch_conn_tx_forget(conn);
	comch_remote_forget_new(conn);
	conn_leave_lists(conn);
	comch_consumer_halt_all(conn);
	comch_producer_halt_all(conn);
	if (conn->client != NULL)
		comch_client_conn_gone(conn->client);
	comch_poll_note(&conn->obj);
}

void
comch_conn_last_word(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	uint32_t old = conn->phase;

	comch_conn_wait_end(conn);
	comch_conn_tx(conn, f, NULL, 0);
	if (conn->phase >= COMCH_PHASE_ENDING)
		return;
	if (conn->server != NULL && old < COMCH_PHASE_PENDING)
		comch_count(&conn->server->nb_half_open, -1);
	if (conn->server != NULL && old == COMCH_PHASE_PENDING)
		comch_count(&conn->server->nb_pending, -1);
	comch_store_release(&conn->phase, COMCH_PHASE_CLOSING);
	comch_server_conn_leaves(conn);
	conn->dial_deadline = rte_rdtsc() + rte_get_tsc_hz() / 1000 * CLOSE_MS;
	comch_poll_note(&conn->obj);
}

static void
conn_say_goodbye(struct rte_comch_conn *conn)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_DISCONNECT, .status = conn->end_status };

	comch_store_relaxed(&conn->draining, false);
	rte_strscpy(f.text, conn->reason, sizeof(f.text));
	comch_conn_last_word(conn, &f);
}

/*
 * Does a message wait for the word that the peer's application was given it? Of
 * a silent one nobody wants to know.
 */
static bool
waits_for_word(const struct rte_comch_conn *conn)
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

void
comch_conn_drain(struct rte_comch_conn *conn)
{
	if (waits_for_word(conn) && rte_rdtsc() < conn->dial_deadline)
		return;
	comch_conn_wait_end(conn);
	conn_say_goodbye(conn);
}

void
comch_conn_close(struct rte_comch_conn *conn, int status, const char *reason)
{
	if (conn->phase >= COMCH_PHASE_CLOSING || conn->draining)
		return;
	if (conn->phase <= COMCH_PHASE_LINKING || conn->link->state != RTE_COMCH_LINK_UP) {
		comch_conn_end(conn, status, "%s", reason != NULL ? reason : "disconnected");
		return;
	}
	rte_strscpy(conn->reason, reason != NULL ? reason : "disconnected",
		sizeof(conn->reason));
	conn->end_status = status;
	if (conn->phase != COMCH_PHASE_UP || !waits_for_word(conn)) {
		conn_say_goodbye(conn);
		return;
	}
	/* Relaxed: others only show it. */
	comch_store_relaxed(&conn->draining, true);
	conn->dial_deadline = rte_rdtsc() + rte_get_tsc_hz() / 1000 * CLOSE_MS;
	comch_conn_wait_begin(conn, CLOSE_MS);
}

/* Nothing can be known of what the peer had not taken. */
static bool
conn_report_lost(struct rte_comch_conn *conn, struct comch_run *run)
{
	struct comch_unacked *u;

	if (!comch_conn_report_sent(conn, run))
		return false;
	while (conn->unacked_ready != conn->unacked_tail) {
		u = &conn->unacked[conn->unacked_ready++ & conn->unacked_mask];
		if (u->status == 0) {
			u->status = -ECONNRESET;
			comch_count(&conn->stats.tx_errors, 1);
		}
	}
	return comch_conn_report_sent(conn, run);
}

bool
comch_conn_report_end(struct rte_comch_conn *conn, struct comch_run *run)
{
	struct rte_comch_event *event;

	if (!conn->known)
		return true;
	if (!conn_report_lost(conn, run) || comch_run_full(run))
		return false;
	event = comch_run_add(run, RTE_COMCH_EVENT_DISCONNECTED, &conn->obj, conn);
	event->status = conn->end_status;
	event->text = conn->reason;
	conn->known = false;
	return true;
}

void
comch_conn_bury(struct rte_comch_conn *conn)
{
	if (conn->link != NULL) {
		comch_reclaim_free_all(conn);
		comch_remote_free_all(conn);
		comch_import_free_all(conn);
		if (conn->link->data != NULL)
			conn->ops->data->close(conn->link);
		conn->ops->link_close(conn->link);
		conn->link = NULL;
	}
	if (conn->server != NULL) {
		comch_count(&conn->server->stats.disconnected, 1);
		comch_server_conn_ended(conn);
	}
	if (conn->client != NULL)
		comch_client_conn_freed(conn->client);
	comch_registry_del_conn(conn);
	comch_dev_put(conn->dev);
	comch_obj_bury(&conn->obj);
}
