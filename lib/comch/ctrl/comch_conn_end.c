/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How a connection ends: the last frame, the last events, and freeing it. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_string_fns.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_trace.h"
#include "ctrl/comch_client.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_dev.h"
#include "ctrl/comch_fast_path_ops.h"
#include "ctrl/comch_retry.h"
#include "ctrl/comch_sched.h"
#include "ctrl/comch_server.h"
#include "ctrl/comch_unacked.h"

/* Enter CLOSING or ENDING: from here on the connection can only end. */
static void
conn_enter_end(struct rte_comch_conn *conn, enum comch_phase next)
{
	uint32_t old = conn->phase;

	/* A client that is rejected keeps its place of the handshake until it has hung up. */
	if (conn->server != NULL && next == COMCH_PHASE_ENDING)
		comch_holder_settle(&conn->server->holders, conn);
	if (conn->server != NULL && old == COMCH_PHASE_PENDING) {
		comch_count(&conn->server->nb_pending, -1);
		/* The application has not heard of it, and never does. */
		conn->connect_event_due = false;
	}
	comch_store_release(&conn->phase, next); /* No model: only UP publishes */
	comch_server_conn_ending(conn);
}

/*
 * Is it what somebody has to mend, on this side or the other? Everyday reasons are that the
 * application or the peer has ended the connection.
 */
static bool
is_trouble(int status)
{
	switch (-status) {
	case EPROTO:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOSPC:
	case EFBIG:
	case EDQUOT:
	case EPERM:
	case EACCES:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

/* Its level in the log; times: how many times in a row a client has failed so. */
static uint32_t
reason_level(const struct rte_comch_conn *conn, int status, uint64_t *times)
{
	static uint64_t next;

	*times = 0;
	if (!is_trouble(status) || conn->is_reported)
		return RTE_LOG_INFO;
	if (conn->client == NULL ||
			comch_obj_state(&conn->client->obj) != RTE_COMCH_STATE_STARTING)
		return comch_log_is_due(&next) ? RTE_LOG_WARNING : RTE_LOG_INFO;
	*times = comch_retry_failed(conn->client, status);
	return *times > 0 ? RTE_LOG_WARNING : RTE_LOG_INFO;
}

/* The copy is as long as its readers accept: RTE_COMCH_REASON_SIZE. */
static void
set_reason(struct rte_comch_conn *conn, int status, const char *reason)
{
	char in_a_row[COMCH_RETRY_TEXT];
	uint32_t level;
	uint64_t times;

	conn->end_status = status;
	conn->reason = strndup(reason, RTE_COMCH_REASON_SIZE - 1);
	level = reason_level(conn, status, &times);
	COMCH_LOG_AT(level, "connection %u of %s: %s%s", conn->id,
		comch_conn_name(conn), comch_conn_reason(conn), comch_retry_text(times, in_a_row));
}

void
comch_conn_end(struct rte_comch_conn *conn, int status, const char *fmt, ...)
{
	char reason[RTE_COMCH_REASON_SIZE];
	va_list ap;

	if (conn->phase >= COMCH_PHASE_ENDING)
		return;
	/* A closed connection already has a reason. */
	if (conn->phase < COMCH_PHASE_DRAINING) {
		va_start(ap, fmt);
		vsnprintf(reason, sizeof(reason), fmt, ap);
		va_end(ap);
		set_reason(conn, status, reason);
	}
	comch_trace_conn_end(conn->id, comch_conn_name(conn), conn->end_status,
		comch_conn_reason(conn));
	conn_enter_end(conn, COMCH_PHASE_ENDING);
	comch_server_conn_ended(conn);
	comch_tx_drop(conn);
	comch_sched_del(conn);
	comch_poll_fd_del(conn->obj.poll, &conn->fd);
	if (conn->link != NULL)
		conn->ops->link_shutdown(conn->link);
	/* Pairs with comch_fast_path_get(). Model: publish.pml, find. */
	if (comch_load_acquire(&conn->fast) != NULL)
		comch_fast_path_ops.halt(conn);
	if (conn->client != NULL)
		comch_client_conn_ended(conn->client);
	comch_poll_note(&conn->obj);
}

void
comch_conn_link_lost(struct rte_comch_conn *conn)
{
	comch_conn_end(conn, conn->link->error != 0 ? conn->link->error : -ECONNRESET, "%s",
		conn->link->text != NULL ? conn->link->text : "peer disconnected");
}

/* Has the peer received the last frame, or will it never? */
static bool
last_frame_delivered(const struct rte_comch_conn *conn)
{
	return conn->link->state == RTE_COMCH_LINK_DOWN ||
		(STAILQ_EMPTY(&conn->tx_wait) && conn->ops->link_idle(conn->link));
}

void
comch_conn_enter_closing(struct rte_comch_conn *conn, int status, const char *reason)
{
	if (conn->phase >= COMCH_PHASE_CLOSING)
		return;
	if (conn->phase < COMCH_PHASE_DRAINING)
		set_reason(conn, status, reason);
	conn_enter_end(conn, COMCH_PHASE_CLOSING);
	conn->deadline = comch_conn_in_ms(COMCH_CLOSE_MS);
	comch_sched_wait(conn);
	comch_poll_note(&conn->obj);
}

void
comch_conn_close_step(struct rte_comch_conn *conn)
{
	if (last_frame_delivered(conn) || rte_rdtsc() > conn->deadline)
		comch_conn_end(conn, conn->end_status, "closed");
}

static void
send_disconnect(struct rte_comch_conn *conn, int status, const char *reason)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_DISCONNECT, .status = status };

	rte_strscpy(f.text, reason, sizeof(f.text));
	comch_tx_frame(conn, &f, NULL, 0);
	comch_conn_enter_closing(conn, status, reason);
}

void
comch_conn_drain(struct rte_comch_conn *conn)
{
	if (!comch_unacked_pending(conn) || rte_rdtsc() > conn->deadline)
		send_disconnect(conn, conn->end_status, comch_conn_reason(conn));
}

void
comch_conn_close(struct rte_comch_conn *conn, int status, const char *reason)
{
	if (conn->phase >= COMCH_PHASE_DRAINING)
		return;
	if (reason == NULL)
		reason = "disconnected";
	if (conn->phase <= COMCH_PHASE_LINKING || conn->link->state != RTE_COMCH_LINK_UP) {
		comch_conn_end(conn, status, "%s", reason);
		return;
	}
	if (conn->phase != COMCH_PHASE_UP || !comch_unacked_pending(conn)) {
		send_disconnect(conn, status, reason);
		return;
	}
	set_reason(conn, status, reason);
	/* Pairs with comch_conn_is_up(). Model: publish.pml, publish. */
	comch_store_release(&conn->phase, COMCH_PHASE_DRAINING);
	conn->deadline = comch_conn_in_ms(COMCH_CLOSE_MS);
	comch_sched_wait(conn);
}

/* Fail the messages that are not acknowledged: the peer may or may not have them. */
static bool
conn_report_lost(struct rte_comch_conn *conn, struct comch_run *run)
{
	if (!comch_unacked_report(conn, run))
		return false;
	comch_unacked_fail(conn);
	return comch_unacked_report(conn, run);
}

bool
comch_conn_report_end(struct rte_comch_conn *conn, struct comch_run *run)
{
	struct rte_comch_event *event;

	if (!conn->announced)
		return true;
	if (!conn_report_lost(conn, run) || comch_run_full(run))
		return false;
	event = comch_run_add(run, RTE_COMCH_EVENT_DISCONNECTED, &conn->obj, conn);
	event->status = conn->end_status;
	event->text = comch_conn_reason(conn);
	conn->announced = false;
	return true;
}

void
comch_conn_free(struct rte_comch_conn *conn)
{
	if (conn->link != NULL) {
		if (conn->fast != NULL)
			comch_fast_path_ops.free(conn);
		conn->ops->link_close(conn->link);
		conn->link = NULL;
	}
	if (conn->server != NULL) {
		comch_count(&conn->server->stats.disconnected, 1);
		comch_server_conn_freed(conn);
	}
	if (conn->client != NULL)
		comch_client_conn_freed(conn->client);
	comch_registry_del(&comch_conn_registry, &conn->entry);
	comch_dev_put(conn->dev);
	comch_obj_free_later(&conn->obj);
}

int
rte_comch_conn_disconnect(struct rte_comch_conn *conn, const char *reason)
{
	if (conn == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (conn->client != NULL) {
		COMCH_LOG(ERR, "connection %u: disconnect is for servers; stop the client instead",
			conn->id);
		return -ENOTSUP;
	}
	if (conn->phase != COMCH_PHASE_UP)
		return -EBADFD;
	if (comch_conn_nb_queues(conn) > 0) {
		COMCH_LOG(ERR, "connection %u: disconnect while it has producers or consumers",
			conn->id);
		return -EBUSY;
	}
	comch_conn_close(conn, 0, reason);
	return -EINPROGRESS;
}

int
rte_comch_conn_abort(struct rte_comch_conn *conn)
{
	if (conn == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	comch_conn_fault(conn, -ECONNRESET, "aborted by its program");
	return 0;
}
