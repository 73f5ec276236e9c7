/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Clients. Each start dials a new connection; the object of the previous one is kept
 * until then, or until the destroy, since the program may still use it.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "base/err.h"
#include "comch/cc_names.h"
#include "comch/comch.h"
#include "dev/dev.h"

/* How long a client retries if there is no server: it may be starting. */
#define CONNECT_TIMEOUT_MS 500

/* Drop the connection of the last start, to which the program may still have a pointer. */
static void
drop_conn(struct doca_comch_client *client)
{
	if (client->conn != NULL) {
		client->conn->head.ctx = NULL;
		impl_conn_drop(client->conn);
	}
	client->conn = NULL;
}

static doca_error_t
dial(struct doca_comch_client *client)
{
	struct doca_ctx *ctx = &client->ctrl.ctx;
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.poll = ctx->pe->poll,
		.name = client->ctrl.name,
		.max_msg_size = client->ctrl.max_msg_size,
		.recv_queue = client->ctrl.recv_queue,
		.send_queue = impl_ctrl_send_queue(&client->ctrl),
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.user_data = (uintptr_t)ctx,
	};
	struct rte_comch_client *native;
	int ret;

	native = rte_comch_client_create(impl_dev_id(client->ctrl.dev), &conf);
	if (native == NULL)
		return impl_err(-rte_errno);
	ret = rte_comch_client_start(native);
	if (ret != -EINPROGRESS) {
		rte_comch_client_destroy(native);
		return impl_err(ret);
	}
	ctx->native = native;
	impl_conn_bind(client->conn, rte_comch_client_conn(native));
	return DOCA_ERROR_IN_PROGRESS;
}

static doca_error_t
client_start(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;
	doca_error_t ret;

	ret = impl_ctrl_check(&client->ctrl);
	if (ret != DOCA_SUCCESS)
		return ret;
	drop_conn(client);
	client->conn = impl_conn_create(&client->ctrl);
	if (client->conn == NULL)
		return DOCA_ERROR_NO_MEMORY;
	impl_conn_hold(client->conn);
	client->was_up = false;
	ret = dial(client);
	if (ret != DOCA_ERROR_IN_PROGRESS) {
		impl_conn_end(client->conn);
		drop_conn(client);
	}
	return ret;
}

static doca_error_t
client_stop(struct doca_ctx *ctx)
{
	const enum rte_comch_state state = rte_comch_client_state(ctx->native);
	int ret;

	/* The connection has ended already; its event is pending. */
	if (state == RTE_COMCH_STATE_STOPPING || state == RTE_COMCH_STATE_IDLE)
		return DOCA_ERROR_IN_PROGRESS;
	ret = rte_comch_client_stop(ctx->native);
	return ret == -EBADFD ? DOCA_ERROR_IN_PROGRESS : impl_err(ret);
}

static void
client_release(struct doca_ctx *ctx)
{
	rte_comch_client_destroy(ctx->native);
	ctx->native = NULL;
}

static void
client_event(struct doca_ctx *ctx, const struct rte_comch_event *event)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;

	if (event->type != RTE_COMCH_EVENT_STATE) {
		impl_ctrl_event(&client->ctrl, event);
		client->was_up |= event->type == RTE_COMCH_EVENT_CONNECTED;
		/* RUNNING precedes the first message; the native STATE event may not. */
		if (event->type == RTE_COMCH_EVENT_CONNECTED)
			impl_ctx_on_running(ctx);
		return;
	}
	/* A connection that was never established has no DISCONNECTED event. */
	if (event->state.next == RTE_COMCH_STATE_IDLE && !TAILQ_EMPTY(&client->ctrl.conns))
		impl_ctrl_conn_ended(client->conn);
	impl_ctx_on_state(ctx, event);
}

static void
client_fini(struct doca_ctx *ctx)
{
	drop_conn((struct doca_comch_client *)ctx);
}

static const struct impl_ctx_ops client_ops = {
	.name = "client",
	.task_size = sizeof(struct doca_comch_task_send),
	.start = client_start,
	.stop = client_stop,
	.release = client_release,
	.event = client_event,
	.progress = impl_send_progress,
	.submit = impl_send_submit,
	.reset = impl_send_reset,
	.task_report = impl_send_task_report,
	.task_put = impl_send_put,
	.task_revive = impl_send_revive,
	.fini = client_fini,
};

doca_error_t
doca_comch_client_create(struct doca_dev *dev, const char *name,
		struct doca_comch_client **comch_client)
{
	struct doca_comch_client *client;
	doca_error_t ret;

	if (!impl_dev_is_one(dev) || name == NULL || comch_client == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_dev_is_dpu(dev))
		return DOCA_ERROR_NOT_SUPPORTED;
	client = calloc(1, sizeof(*client));
	if (client == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = impl_ctrl_init(&client->ctrl, &client_ops, dev, name);
	if (ret != DOCA_SUCCESS) {
		free(client);
		return ret;
	}
	*comch_client = client;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_client_destroy(struct doca_comch_client *comch_client)
{
	struct doca_dev *dev;
	doca_error_t ret;

	if (comch_client == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	dev = comch_client->ctrl.dev;
	ret = impl_ctx_destroy(&comch_client->ctrl.ctx);
	if (ret == DOCA_SUCCESS)
		impl_dev_drop(dev);
	return ret;
}

struct doca_ctx *
doca_comch_client_as_ctx(struct doca_comch_client *comch_client)
{
	return comch_client == NULL ? NULL : &comch_client->ctrl.ctx;
}

doca_error_t
doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
		struct doca_comch_connection **connection)
{
	if (comch_client == NULL || connection == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	/* Programs poll this until it succeeds, and then send. */
	if (comch_client->ctrl.ctx.state == DOCA_CTX_STATE_IDLE || !comch_client->was_up)
		return DOCA_ERROR_BAD_STATE;
	*connection = comch_client->conn;
	return DOCA_SUCCESS;
}

/* Configuration */

static struct impl_ctrl *
ctrl_of(struct doca_comch_client *client)
{
	return client == NULL ? NULL : &client->ctrl;
}

doca_error_t
doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size)
{
	return impl_ctrl_set_max_msg_size(ctrl_of(comch_client), size);
}

doca_error_t
doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client, uint32_t *size)
{
	if (comch_client == NULL || size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*size = comch_client->ctrl.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size)
{
	return impl_ctrl_set_recv_queue(ctrl_of(comch_client), size);
}

doca_error_t
doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
		uint32_t *size)
{
	if (comch_client == NULL || size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*size = comch_client->ctrl.recv_queue;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_client_get_device(const struct doca_comch_client *comch_client, struct doca_dev **dev)
{
	if (comch_client == NULL || dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*dev = comch_client->ctrl.dev;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
		doca_comch_task_send_completion_cb_t task_completion_cb,
		doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	return impl_send_set_conf(ctrl_of(comch_client), task_completion_cb, task_error_cb,
			num_send_tasks);
}

doca_error_t
doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
		struct doca_comch_connection *peer, const void *msg, uint32_t len,
		struct doca_comch_task_send **task)
{
	return impl_send_alloc(ctrl_of(comch_client), peer, msg, len, task);
}

doca_error_t
doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
		doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return impl_ctrl_set_msg_cb(ctrl_of(comch_client), recv_event_cb);
}

doca_error_t
doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
		doca_comch_event_consumer_cb_t new_consumer_event_cb,
		doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	return impl_ctrl_set_consumer_cbs(ctrl_of(comch_client), new_consumer_event_cb,
			expired_consumer_event_cb);
}

IMPL_CC_NAMES_CLIENT(IMPL_CC_NAME)
