/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What of servers, clients and connections had another name or type in DOCA 2.5. */

#include <rte_common.h>

#include "cc/cc_205.h"

/* A length that 32 bits do not hold is too long in any case. */
static uint32_t
message_len(size_t len)
{
	return (uint32_t)RTE_MIN(len, UINT32_MAX);
}

doca_error_t
doca_cc_cap_is_producer_supported(const struct doca_devinfo *devinfo)
{
	return doca_comch_producer_cap_is_supported(devinfo);
}

doca_error_t
doca_cc_cap_is_consumer_supported(const struct doca_devinfo *devinfo)
{
	return doca_comch_consumer_cap_is_supported(devinfo);
}

doca_error_t
doca_cc_server_send_task_set_conf(struct doca_cc_server *cc_server,
		doca_cc_send_task_completion_cb_t task_completion_cb,
		doca_cc_send_task_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	return doca_comch_server_task_send_set_conf(impl_comch(cc_server),
			(doca_comch_task_send_completion_cb_t)task_completion_cb,
			(doca_comch_task_send_completion_cb_t)task_error_cb, num_send_tasks);
}

doca_error_t
doca_cc_client_send_task_set_conf(struct doca_cc_client *cc_client,
		doca_cc_send_task_completion_cb_t task_completion_cb,
		doca_cc_send_task_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	return doca_comch_client_task_send_set_conf(impl_comch(cc_client),
			(doca_comch_task_send_completion_cb_t)task_completion_cb,
			(doca_comch_task_send_completion_cb_t)task_error_cb, num_send_tasks);
}

doca_error_t
doca_cc_server_send_task_alloc_init(struct doca_cc_server *cc_server,
		struct doca_cc_connection *peer, const void *msg, size_t len,
		struct doca_cc_send_task **task)
{
	return doca_comch_server_task_send_alloc_init(impl_comch(cc_server), impl_comch(peer),
			msg, message_len(len), impl_comch(task));
}

doca_error_t
doca_cc_client_send_task_alloc_init(struct doca_cc_client *cc_client,
		struct doca_cc_connection *peer, const void *msg, size_t len,
		struct doca_cc_send_task **task)
{
	return doca_comch_client_task_send_alloc_init(impl_comch(cc_client), impl_comch(peer),
			msg, message_len(len), impl_comch(task));
}

struct doca_task *
doca_cc_send_task_as_task(struct doca_cc_send_task *task)
{
	return doca_comch_task_send_as_task(impl_comch(task));
}

/* Callbacks whose arguments are now of other types */

static const struct impl_cc_cbs_205 *
cbs_of(const struct doca_comch_connection *conn)
{
	return &((const struct impl_ctrl *)conn->head.ctx)->cc_cbs;
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len,
		struct doca_comch_connection *conn)
{
	cbs_of(conn)->msg((struct doca_cc_event_msg_recv *)event, recv_buffer, msg_len,
		(struct doca_cc_connection *)conn);
}

static void
on_connect(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	cbs_of(conn)->connect((struct doca_cc_event_connection_status_changed *)event,
		(struct doca_cc_connection *)conn, change_successful != 0);
}

static void
on_disconnect(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	cbs_of(conn)->disconnect((struct doca_cc_event_connection_status_changed *)event,
		(struct doca_cc_connection *)conn, change_successful != 0);
}

doca_error_t
doca_cc_server_event_msg_recv_register(struct doca_cc_server *cc_server,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	struct doca_comch_server *server = impl_comch(cc_server);
	doca_error_t ret = doca_comch_server_event_msg_recv_register(server,
			recv_event_cb == NULL ? NULL : on_msg);

	if (ret == DOCA_SUCCESS)
		server->ctrl.cc_cbs.msg = recv_event_cb;
	return ret;
}

doca_error_t
doca_cc_client_event_msg_recv_register(struct doca_cc_client *cc_client,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	struct doca_comch_client *client = impl_comch(cc_client);
	doca_error_t ret = doca_comch_client_event_msg_recv_register(client,
			recv_event_cb == NULL ? NULL : on_msg);

	if (ret == DOCA_SUCCESS)
		client->ctrl.cc_cbs.msg = recv_event_cb;
	return ret;
}

doca_error_t
doca_cc_server_event_connection_register(struct doca_cc_server *cc_server,
		doca_cc_event_connection_status_changed_cb_t connect_event_cb,
		doca_cc_event_connection_status_changed_cb_t disconnect_event_cb)
{
	struct doca_comch_server *server = impl_comch(cc_server);
	doca_error_t ret = doca_comch_server_event_connection_status_changed_register(server,
			connect_event_cb == NULL ? NULL : on_connect,
			disconnect_event_cb == NULL ? NULL : on_disconnect);

	if (ret != DOCA_SUCCESS)
		return ret;
	server->ctrl.cc_cbs.connect = connect_event_cb;
	server->ctrl.cc_cbs.disconnect = disconnect_event_cb;
	return DOCA_SUCCESS;
}
