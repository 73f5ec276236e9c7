/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Control messages.
 *
 * A task completes when its message is in the queue of the peer, who gets it whenever it
 * looks: not when it has looked. The native channel would say that, so its SENT is not asked for.
 *
 * A submit never returns AGAIN because the peer is slow: public programs treat that as
 * an error. If the native channel is full, a copy of the message waits here, in order,
 * and each progress tries to send it.
 */

#include <stdlib.h>
#include <string.h>

#include "comch/cc_names.h"
#include "comch/comch.h"
#include "dev/report.h"

doca_error_t
impl_send_set_conf(struct impl_ctrl *ctrl, doca_comch_task_send_completion_cb_t sent_cb,
		doca_comch_task_send_completion_cb_t error_cb, uint32_t nb_tasks)
{
	if (ctrl == NULL || sent_cb == NULL || error_cb == NULL || nb_tasks == 0 ||
			nb_tasks > ctrl->ctx.manners->limits.max_send_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_ctx_may_set(&ctrl->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	ctrl->sent_cb = sent_cb;
	ctrl->send_error_cb = error_cb;
	ctrl->ctx.nb_tasks = nb_tasks;
	return DOCA_SUCCESS;
}

/*
 * One reference for all tasks: an atomic operation waits until the messages just written have
 * reached the other CPU.
 */
static void
hold_conn(struct doca_comch_connection *conn)
{
	if (conn->nb_sends++ == 0)
		impl_conn_hold(conn);
}

static void
drop_conn(struct doca_comch_connection *conn)
{
	if (--conn->nb_sends == 0)
		impl_conn_drop(conn);
}

doca_error_t
impl_send_alloc(struct impl_ctrl *ctrl, struct doca_comch_connection *peer, const void *msg,
		uint32_t len, struct doca_comch_task_send **task)
{
	struct doca_comch_task_send *send;

	if (ctrl == NULL || peer == NULL || msg == NULL || task == NULL ||
			peer->head.ctx != &ctrl->ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (len > ctrl->max_msg_size) {
		impl_report_few("%s %s: message of %u bytes: it takes up to %u, as its "
			"set_max_msg_size() or the device has it", ctrl->ctx.ops->name, ctrl->name,
			len, ctrl->max_msg_size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!impl_ctx_has_tasks(&ctrl->ctx, false))
		return DOCA_ERROR_BAD_STATE;
	send = (struct doca_comch_task_send *)(void *)impl_task_take(&ctrl->ctx);
	if (send == NULL)
		return DOCA_ERROR_NO_MEMORY;
	hold_conn(peer);
	send->conn = peer;
	send->msg = msg;
	send->len = len;
	*task = send;
	return DOCA_SUCCESS;
}

void
impl_send_put(struct doca_task *task)
{
	struct doca_comch_task_send *send = (struct doca_comch_task_send *)(void *)task;
	bool keep = task->ctx->keeps_freed_tasks && send->conn->state != IMPL_CONN_ENDED;

	drop_conn(send->conn);
	/* Until impl_send_forget(), which is before the connection is freed. */
	if (likely(!keep))
		send->conn = NULL;
}

bool
impl_send_revive(struct doca_task *task)
{
	struct doca_comch_task_send *send = (struct doca_comch_task_send *)(void *)task;

	if (send->conn == NULL)
		return false;
	hold_conn(send->conn);
	return true;
}

void
impl_send_forget(struct impl_ctrl *ctrl, const struct doca_comch_connection *conn)
{
	struct doca_comch_task_send *send;
	struct doca_task *task;

	for (task = ctrl->ctx.free_tasks; task != NULL; task = task->next) {
		send = (struct doca_comch_task_send *)(void *)task;
		if (send->conn == conn)
			send->conn = NULL;
	}
}

struct doca_task *
doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	return task == NULL ? NULL : &task->task;
}

/* False: the channel is full. */
static bool
send_now(struct doca_comch_task_send *send, const void *msg)
{
	const struct rte_comch_msg m = {
		.data = msg, .len = send->len, .flags = RTE_COMCH_MSG_F_NO_SENT,
	};
	/* The two ends agreed on the smaller size. */
	bool fits = send->len <= send->conn->max_msg_size;

	if (fits && rte_comch_conn_send_burst(send->conn->native, &m, 1) == 0)
		return false;
	impl_pe_complete_later(send->task.ctx->pe, &send->task,
		fits ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	return true;
}

static doca_error_t
send_later(struct impl_ctrl *ctrl, struct doca_comch_task_send *send)
{
	/* At least one byte: malloc(0) may return NULL. */
	send->copy = malloc(send->len + 1);
	if (send->copy == NULL)
		return DOCA_ERROR_AGAIN;
	memcpy(send->copy, send->msg, send->len);
	STAILQ_INSERT_TAIL(&send->conn->waiting, send, next);
	ctrl->nb_waiting++;
	impl_ctx_wants_progress(&ctrl->ctx);
	return DOCA_SUCCESS;
}

doca_error_t
impl_send_submit(struct doca_task *task)
{
	struct doca_comch_task_send *send = (struct doca_comch_task_send *)(void *)task;

	if (send->conn->state != IMPL_CONN_UP)
		return DOCA_ERROR_NOT_CONNECTED;
	if (STAILQ_EMPTY(&send->conn->waiting) && send_now(send, send->msg))
		return DOCA_SUCCESS;
	return send_later((struct impl_ctrl *)task->ctx, send);
}

void
impl_send_reset(struct doca_task *task)
{
	impl_conn_abort(((struct doca_comch_task_send *)(void *)task)->conn);
}

/* Remove the first waiting task. */
static struct doca_comch_task_send *
take_waiting(struct doca_comch_connection *conn)
{
	struct impl_ctrl *ctrl = (struct impl_ctrl *)conn->head.ctx;
	struct doca_comch_task_send *send = STAILQ_FIRST(&conn->waiting);

	STAILQ_REMOVE_HEAD(&conn->waiting, next);
	free(send->copy);
	send->copy = NULL;
	if (--ctrl->nb_waiting == 0)
		ctrl->ctx.needs_progress = false;
	return send;
}

void
impl_send_done(struct doca_comch_task_send *send, doca_error_t status)
{
	struct impl_ctrl *ctrl = (struct impl_ctrl *)send->task.ctx;

	if (!impl_task_complete(&send->task, status))
		return;
	if (status == DOCA_SUCCESS)
		ctrl->sent_cb(send, send->task.user_data, ctrl->ctx.user_data);
	else
		ctrl->send_error_cb(send, send->task.user_data, ctrl->ctx.user_data);
}

void
impl_send_task_report(struct doca_task *task, doca_error_t status)
{
	impl_send_done((struct doca_comch_task_send *)(void *)task, status);
}

void
impl_send_flush(struct doca_comch_connection *conn, doca_error_t status)
{
	while (!STAILQ_EMPTY(&conn->waiting))
		impl_send_done(take_waiting(conn), status);
}

bool
impl_send_progress(struct doca_ctx *ctx)
{
	struct impl_ctrl *ctrl = (struct impl_ctrl *)ctx;
	struct doca_comch_connection *conn;
	struct doca_comch_task_send *send;
	bool done = false;

	TAILQ_FOREACH(conn, &ctrl->conns, next) {
		if (ctx->state == DOCA_CTX_STATE_STOPPING && !STAILQ_EMPTY(&conn->waiting)) {
			impl_send_flush(conn, DOCA_ERROR_SHUTDOWN);
			return true;
		}
		while ((send = STAILQ_FIRST(&conn->waiting)) != NULL &&
				conn->state == IMPL_CONN_UP && send_now(send, send->copy)) {
			take_waiting(conn);
			done = true;
		}
	}
	return done;
}

IMPL_CC_NAMES_SEND(IMPL_CC_NAME)
