/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Servers: each accepts clients of one representor, with a connection for each client. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "base/alias.h"
#include "base/err.h"
#include "comch/cc_names.h"
#include "comch/comch.h"
#include "dev/dev.h"
#include "log/log.h"

static doca_error_t
server_start(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = (struct doca_comch_server *)ctx;
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf),
		.poll = ctx->pe->poll,
		.name = server->ctrl.name,
		.rep = impl_rep_id(server->rep),
		.flags = RTE_COMCH_SERVER_F_EXACT,
		.max_msg_size = server->ctrl.max_msg_size,
		.recv_queue = server->ctrl.recv_queue,
		.send_queue = impl_ctrl_send_queue(&server->ctrl),
		.user_data = (uintptr_t)ctx,
	};
	struct rte_comch_server *native;
	doca_error_t ret;
	int err;

	ret = impl_ctrl_check(&server->ctrl);
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_set_max_clients(&conf, server->ctrl.dev);
	native = rte_comch_server_create(impl_dev_id(server->ctrl.dev), &conf);
	if (native == NULL)
		return impl_err(-rte_errno);
	err = rte_comch_server_start(native);
	if (err != 0) {
		IMPL_ERR("server %s: %s", server->ctrl.name, err == -EADDRINUSE ?
			"name is in use on this representor" : rte_strerror(-err));
		rte_comch_server_destroy(native);
		return impl_err(err);
	}
	ctx->native = native;
	return DOCA_SUCCESS;
}

static doca_error_t
server_stop(struct doca_ctx *ctx)
{
	int ret;

	/* The server has ended already; its event is pending. */
	if (rte_comch_server_state(ctx->native) != RTE_COMCH_STATE_RUNNING)
		return DOCA_ERROR_IN_PROGRESS;
	ret = rte_comch_server_stop(ctx->native);
	return ret == -EBADFD ? DOCA_ERROR_IN_PROGRESS : impl_err(ret);
}

static void
server_release(struct doca_ctx *ctx)
{
	rte_comch_server_destroy(ctx->native);
	ctx->native = NULL;
}

static void
on_connected(struct impl_ctrl *ctrl, const struct rte_comch_event *event)
{
	struct doca_comch_connection *conn = impl_conn_create(ctrl);

	if (conn == NULL) {
		IMPL_ERR("server %s: out of memory, refusing a connection", ctrl->name);
		rte_comch_conn_disconnect(event->conn, "no memory");
		return;
	}
	impl_conn_bind(conn, event->conn);
	impl_ctrl_event(ctrl, event);
}

static void
server_event(struct doca_ctx *ctx, const struct rte_comch_event *event)
{
	struct impl_ctrl *ctrl = (struct impl_ctrl *)ctx;

	if (event->type == RTE_COMCH_EVENT_STATE)
		impl_ctx_on_state(ctx, event);
	else if (event->type == RTE_COMCH_EVENT_CONNECTED)
		on_connected(ctrl, event);
	else
		impl_ctrl_event(ctrl, event);
}

static const struct impl_ctx_ops server_ops = {
	.name = "server",
	.task_size = sizeof(struct doca_comch_task_send),
	.start = server_start,
	.stop = server_stop,
	.release = server_release,
	.event = server_event,
	.progress = impl_send_progress,
	.submit = impl_send_submit,
	.reset = impl_send_reset,
	.task_report = impl_send_task_report,
	.task_put = impl_send_put,
	.task_revive = impl_send_revive,
};

doca_error_t
doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
		struct doca_comch_server **comch_server)
{
	struct doca_comch_server *server;
	doca_error_t ret;

	if (!impl_dev_is_one(dev) || !impl_rep_is_one(repr) || name == NULL || comch_server == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_dev_is_dpu(dev))
		return DOCA_ERROR_NOT_SUPPORTED;
	if (impl_rep_dev(repr) != dev)
		return DOCA_ERROR_INVALID_VALUE;
	server = calloc(1, sizeof(*server));
	if (server == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = impl_ctrl_init(&server->ctrl, &server_ops, dev, name);
	if (ret != DOCA_SUCCESS) {
		free(server);
		return ret;
	}
	server->ctrl.is_server = true;
	server->rep = repr;
	impl_rep_hold(repr);
	*comch_server = server;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_destroy(struct doca_comch_server *comch_server)
{
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	doca_error_t ret;

	if (comch_server == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	rep = comch_server->rep;
	dev = comch_server->ctrl.dev;
	ret = impl_ctx_destroy(&comch_server->ctrl.ctx);
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_rep_drop(rep);
	impl_dev_drop(dev);
	return DOCA_SUCCESS;
}

struct doca_ctx *
doca_comch_server_as_ctx(struct doca_comch_server *comch_server)
{
	return comch_server == NULL ? NULL : &comch_server->ctrl.ctx;
}

static bool
has_conn(const struct doca_comch_server *server, const struct doca_comch_connection *connection)
{
	const struct doca_comch_connection *conn;

	TAILQ_FOREACH(conn, &server->ctrl.conns, next)
		if (conn == connection)
			return true;
	return false;
}

doca_error_t
doca_comch_server_disconnect(struct doca_comch_server *comch_server,
		struct doca_comch_connection *connection)
{
	int ret;

	if (comch_server == NULL || connection == NULL || !has_conn(comch_server, connection) ||
			connection->state != IMPL_CONN_UP)
		return DOCA_ERROR_INVALID_VALUE;
	ret = rte_comch_conn_disconnect(connection->native, "disconnected by the server");
	/* The connection may have ended already; its event is pending. */
	if (ret != -EINPROGRESS && ret != -EBADFD)
		return impl_err(ret);
	impl_conn_set_state(connection, IMPL_CONN_ENDED);
	connection->silent = true;
	return DOCA_SUCCESS;
}

/* Configuration */

static struct impl_ctrl *
ctrl_of(struct doca_comch_server *server)
{
	return server == NULL ? NULL : &server->ctrl;
}

doca_error_t
doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server, uint32_t size)
{
	return impl_ctrl_set_max_msg_size(ctrl_of(comch_server), size);
}

doca_error_t
doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server, uint32_t *size)
{
	if (comch_server == NULL || size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*size = comch_server->ctrl.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t size)
{
	return impl_ctrl_set_recv_queue(ctrl_of(comch_server), size);
}

doca_error_t
doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
		uint32_t *size)
{
	if (comch_server == NULL || size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*size = comch_server->ctrl.recv_queue;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_get_device(const struct doca_comch_server *comch_server, struct doca_dev **dev)
{
	if (comch_server == NULL || dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*dev = comch_server->ctrl.dev;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
		struct doca_dev_rep **rep)
{
	if (comch_server == NULL || rep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*rep = comch_server->rep;
	return DOCA_SUCCESS;
}

IMPL_ALIAS(doca_comch_server_get_device_repr, doca_comch_server_get_device_rep);

doca_error_t
doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
		doca_comch_task_send_completion_cb_t task_completion_cb,
		doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	return impl_send_set_conf(ctrl_of(comch_server), task_completion_cb, task_error_cb,
			num_send_tasks);
}

doca_error_t
doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
		struct doca_comch_connection *peer, const void *msg, uint32_t len,
		struct doca_comch_task_send **task)
{
	return impl_send_alloc(ctrl_of(comch_server), peer, msg, len, task);
}

doca_error_t
doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
		doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return impl_ctrl_set_msg_cb(ctrl_of(comch_server), recv_event_cb);
}

doca_error_t
doca_comch_server_event_connection_status_changed_register(
		struct doca_comch_server *comch_server,
		doca_comch_event_connection_status_changed_cb_t connect_event_cb,
		doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
	struct impl_ctrl *ctrl = ctrl_of(comch_server);

	if (ctrl == NULL || connect_event_cb == NULL || disconnect_event_cb == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_ctx_may_set(&ctrl->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	ctrl->connect_cb = connect_event_cb;
	ctrl->disconnect_cb = disconnect_event_cb;
	return DOCA_SUCCESS;
}

IMPL_ALIAS(doca_comch_server_event_connection_register,
	doca_comch_server_event_connection_status_changed_register);

doca_error_t
doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
		doca_comch_event_consumer_cb_t new_consumer_event_cb,
		doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	return impl_ctrl_set_consumer_cbs(ctrl_of(comch_server), new_consumer_event_cb,
			expired_consumer_event_cb);
}

IMPL_CC_NAMES_SERVER(IMPL_CC_NAME)
