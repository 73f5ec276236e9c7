/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What servers and clients share: configuration and events. */

#include <string.h>

#include <rte_string_fns.h>

#include "base/err.h"
#include "comch/comch.h"
#include "dev/dev.h"
#include "dev/report.h"
#include "log/log.h"

/* Event handles carry no data, but must not be NULL. */
static char handle;

doca_error_t
impl_name_check(const char *what, const char *name)
{
	size_t len = name == NULL ? 0 : strnlen(name, IMPL_MAX_NAME);

	if (len > 0 && len < IMPL_MAX_NAME)
		return DOCA_SUCCESS;
	if (len == 0)
		IMPL_ERR("%s: name is empty", what);
	else
		IMPL_ERR("%s: name is longer than %u bytes", what, IMPL_MAX_NAME - 1);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t
impl_ctrl_init(struct impl_ctrl *ctrl, const struct impl_ctx_ops *ops, struct doca_dev *dev,
		const char *name)
{
	doca_error_t ret = impl_name_check(ops->name, name);

	if (ret != DOCA_SUCCESS)
		return ret;
	impl_ctx_init(&ctrl->ctx, ops, impl_dev_manners(dev));
	rte_strscpy(ctrl->name, name, sizeof(ctrl->name));
	ctrl->max_msg_size = impl_dev_manners(dev)->limits.max_msg_size;
	ctrl->recv_queue = RTE_MIN((uint32_t)IMPL_DEFAULT_RECV_QUEUE,
		impl_dev_manners(dev)->limits.max_recv_queue_size);
	TAILQ_INIT(&ctrl->conns);
	ctrl->dev = dev;
	impl_dev_hold(dev);
	return DOCA_SUCCESS;
}

doca_error_t
impl_ctrl_check(const struct impl_ctrl *ctrl)
{
	const char *lacks = NULL;

	if (ctrl->msg_cb == NULL)
		lacks = "message";
	else if (ctrl->is_server && ctrl->connect_cb == NULL)
		lacks = "connection";
	if (lacks == NULL)
		return DOCA_SUCCESS;
	IMPL_ERR("%s %s: cannot start: no %s callback is registered", ctrl->ctx.ops->name,
		ctrl->name, lacks);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t
set_u32(struct impl_ctrl *ctrl, uint32_t *field, uint32_t value, uint32_t max, const char *what)
{
	if (value == 0 || value > max) {
		impl_report_few("%s %s: %s of %u: expected 1 to %u, which is the device's limit",
			ctrl->ctx.ops->name, ctrl->name, what, value, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (impl_ctx_may_set(&ctrl->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	*field = value;
	return DOCA_SUCCESS;
}

doca_error_t
impl_ctrl_set_max_msg_size(struct impl_ctrl *ctrl, uint32_t size)
{
	return ctrl == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_u32(ctrl, &ctrl->max_msg_size, size,
			ctrl->ctx.manners->limits.max_msg_size, "message size");
}

doca_error_t
impl_ctrl_set_recv_queue(struct impl_ctrl *ctrl, uint32_t size)
{
	return ctrl == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_u32(ctrl, &ctrl->recv_queue, size,
			ctrl->ctx.manners->limits.max_recv_queue_size, "receive queue");
}

doca_error_t
impl_ctrl_set_msg_cb(struct impl_ctrl *ctrl, doca_comch_event_msg_recv_cb_t cb)
{
	if (ctrl == NULL || cb == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_ctx_may_set(&ctrl->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	ctrl->msg_cb = cb;
	return DOCA_SUCCESS;
}

doca_error_t
impl_ctrl_set_consumer_cbs(struct impl_ctrl *ctrl, doca_comch_event_consumer_cb_t new_cb,
		doca_comch_event_consumer_cb_t gone_cb)
{
	if (ctrl == NULL || new_cb == NULL || gone_cb == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_ctx_may_set(&ctrl->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	ctrl->consumer_new_cb = new_cb;
	ctrl->consumer_gone_cb = gone_cb;
	return DOCA_SUCCESS;
}

/* Events */

/* Of a device that has faults. */
static __rte_noinline void
count_msg(const struct impl_ctrl *ctrl, struct doca_comch_connection *conn)
{
	impl_fault_step(ctrl->ctx.faults, "submit or message");
	if (impl_fault_hits(ctrl->ctx.faults, IMPL_FAULT_RESET, "message"))
		impl_conn_abort(conn);
}

static void
on_msg(struct impl_ctrl *ctrl, struct doca_comch_connection *conn,
		const struct rte_comch_event *event)
{
	if (unlikely(ctrl->ctx.faults != NULL))
		count_msg(ctrl, conn);
	/* The poll's copy, which the application may modify. */
	ctrl->msg_cb((struct doca_comch_event_msg_recv *)(void *)&handle,
		(uint8_t *)(uintptr_t)event->msg.data, event->msg.len, conn);
}

static void
on_consumer(struct doca_comch_connection *conn, const struct rte_comch_event *event,
		doca_comch_event_consumer_cb_t cb)
{
	if (cb != NULL)
		cb((struct doca_comch_event_consumer *)(void *)&handle, conn, event->consumer.id);
}

void
impl_ctrl_conn_ended(struct doca_comch_connection *conn)
{
	struct impl_ctrl *ctrl = (struct impl_ctrl *)conn->head.ctx;

	impl_conn_set_state(conn, IMPL_CONN_ENDED);
	impl_conn_snapshot(conn);
	impl_conn_hold(conn);
	impl_send_flush(conn, DOCA_ERROR_CONNECTION_RESET);
	if (ctrl->disconnect_cb != NULL && !conn->silent)
		ctrl->disconnect_cb((struct doca_comch_event_connection_status_changed *)
			(void *)&handle, conn, 1);
	impl_conn_end(conn);
	impl_conn_drop(conn);
}

static uint32_t
agreed_size(const struct doca_comch_connection *conn)
{
	struct rte_comch_conn_info info;

	return rte_comch_conn_info_get(conn->native, &info) == 0 ? info.max_msg_size : 0;
}

static void
on_conn_event(struct impl_ctrl *ctrl, struct doca_comch_connection *conn,
		const struct rte_comch_event *event)
{
	switch (event->type) {
	case RTE_COMCH_EVENT_MSG:
		if (!conn->silent)
			on_msg(ctrl, conn, event);
		return;
	case RTE_COMCH_EVENT_CONNECTED:
		conn->max_msg_size = agreed_size(conn);
		impl_conn_set_state(conn, IMPL_CONN_UP);
		if (ctrl->connect_cb != NULL)
			ctrl->connect_cb((struct doca_comch_event_connection_status_changed *)
				(void *)&handle, conn, 1);
		return;
	case RTE_COMCH_EVENT_DISCONNECTED:
		impl_ctrl_conn_ended(conn);
		return;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		if (!conn->silent)
			on_consumer(conn, event, ctrl->consumer_new_cb);
		return;
	case RTE_COMCH_EVENT_CONSUMER_GONE:
		if (!conn->silent)
			on_consumer(conn, event, ctrl->consumer_gone_cb);
		return;
	default:
		return;
	}
}

void
impl_ctrl_event(struct impl_ctrl *ctrl, const struct rte_comch_event *event)
{
	struct doca_comch_connection *conn;

	conn = (struct doca_comch_connection *)(uintptr_t)
		rte_comch_conn_user_data_get(event->conn);
	if (conn != NULL)
		on_conn_event(ctrl, conn, event);
}
