/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Servers, clients, connections, messages: as those of doca_comch. */

#include <doca_cc.h>

#include "cc/cc.h"

doca_error_t
doca_cc_connection_set_user_data(struct doca_cc_connection *connection, union doca_data user_data)
{
	return doca_comch_connection_set_user_data(impl_comch(connection), user_data);
}

union doca_data
doca_cc_connection_get_user_data(const struct doca_cc_connection *connection)
{
	return doca_comch_connection_get_user_data(impl_comch(connection));
}

struct doca_cc_server *
doca_cc_server_get_server_ctx(const struct doca_cc_connection *connection)
{
	return (struct doca_cc_server *)doca_comch_server_get_server_ctx(impl_comch(connection));
}

struct doca_cc_client *
doca_cc_client_get_client_ctx(const struct doca_cc_connection *connection)
{
	return (struct doca_cc_client *)doca_comch_client_get_client_ctx(impl_comch(connection));
}

doca_error_t
doca_cc_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len)
{
	return doca_comch_cap_get_max_name_len(devinfo, max_name_len);
}

doca_error_t
doca_cc_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
	return doca_comch_cap_get_max_msg_size(devinfo, size);
}

doca_error_t
doca_cc_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
	return doca_comch_cap_get_max_recv_queue_size(devinfo, size);
}

doca_error_t
doca_cc_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients)
{
	return doca_comch_cap_get_max_clients(devinfo, num_clients);
}

doca_error_t
doca_cc_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, uint32_t *max_send_tasks)
{
	return doca_comch_cap_get_max_send_tasks(devinfo, max_send_tasks);
}

doca_error_t
doca_cc_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
	return doca_comch_cap_server_is_supported(devinfo);
}

doca_error_t
doca_cc_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
	return doca_comch_cap_client_is_supported(devinfo);
}

doca_error_t
doca_cc_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
		struct doca_cc_server **cc_server)
{
	return doca_comch_server_create(dev, repr, name, impl_comch(cc_server));
}

doca_error_t
doca_cc_server_destroy(struct doca_cc_server *cc_server)
{
	return doca_comch_server_destroy(impl_comch(cc_server));
}

doca_error_t
doca_cc_server_set_max_msg_size(struct doca_cc_server *cc_server, uint32_t size)
{
	return doca_comch_server_set_max_msg_size(impl_comch(cc_server), size);
}

doca_error_t
doca_cc_server_get_max_msg_size(const struct doca_cc_server *cc_server, uint32_t *size)
{
	return doca_comch_server_get_max_msg_size(impl_comch(cc_server), size);
}

doca_error_t
doca_cc_server_set_recv_queue_size(struct doca_cc_server *cc_server, uint32_t size)
{
	return doca_comch_server_set_recv_queue_size(impl_comch(cc_server), size);
}

doca_error_t
doca_cc_server_get_recv_queue_size(const struct doca_cc_server *cc_server, uint32_t *size)
{
	return doca_comch_server_get_recv_queue_size(impl_comch(cc_server), size);
}

doca_error_t
doca_cc_server_get_device(const struct doca_cc_server *cc_server, struct doca_dev **dev)
{
	return doca_comch_server_get_device(impl_comch(cc_server), dev);
}

doca_error_t
doca_cc_server_get_device_repr(const struct doca_cc_server *cc_server, struct doca_dev_rep **repr)
{
	return doca_comch_server_get_device_rep(impl_comch(cc_server), repr);
}

struct doca_ctx *
doca_cc_server_as_ctx(struct doca_cc_server *cc_server)
{
	return doca_comch_server_as_ctx(impl_comch(cc_server));
}

doca_error_t
doca_cc_client_create(struct doca_dev *dev, const char *name, struct doca_cc_client **cc_client)
{
	return doca_comch_client_create(dev, name, impl_comch(cc_client));
}

doca_error_t
doca_cc_client_destroy(struct doca_cc_client *cc_client)
{
	return doca_comch_client_destroy(impl_comch(cc_client));
}

doca_error_t
doca_cc_client_set_max_msg_size(struct doca_cc_client *cc_client, uint32_t size)
{
	return doca_comch_client_set_max_msg_size(impl_comch(cc_client), size);
}

doca_error_t
doca_cc_client_get_max_msg_size(const struct doca_cc_client *cc_client, uint32_t *size)
{
	return doca_comch_client_get_max_msg_size(impl_comch(cc_client), size);
}

doca_error_t
doca_cc_client_set_recv_queue_size(struct doca_cc_client *cc_client, uint32_t size)
{
	return doca_comch_client_set_recv_queue_size(impl_comch(cc_client), size);
}

doca_error_t
doca_cc_client_get_recv_queue_size(const struct doca_cc_client *cc_client, uint32_t *size)
{
	return doca_comch_client_get_recv_queue_size(impl_comch(cc_client), size);
}

doca_error_t
doca_cc_client_get_device(const struct doca_cc_client *cc_client, struct doca_dev **dev)
{
	return doca_comch_client_get_device(impl_comch(cc_client), dev);
}

struct doca_ctx *
doca_cc_client_as_ctx(struct doca_cc_client *cc_client)
{
	return doca_comch_client_as_ctx(impl_comch(cc_client));
}

doca_error_t
doca_cc_client_get_connection(const struct doca_cc_client *cc_client,
		struct doca_cc_connection **connection)
{
	return doca_comch_client_get_connection(impl_comch(cc_client), impl_comch(connection));
}

doca_error_t
doca_cc_server_task_send_set_conf(struct doca_cc_server *cc_server,
		doca_cc_task_send_completion_cb_t task_completion_cb,
		doca_cc_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	return doca_comch_server_task_send_set_conf(impl_comch(cc_server),
			(doca_comch_task_send_completion_cb_t)task_completion_cb,
			(doca_comch_task_send_completion_cb_t)task_error_cb, num_send_tasks);
}

doca_error_t
doca_cc_client_task_send_set_conf(struct doca_cc_client *cc_client,
		doca_cc_task_send_completion_cb_t task_completion_cb,
		doca_cc_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	return doca_comch_client_task_send_set_conf(impl_comch(cc_client),
			(doca_comch_task_send_completion_cb_t)task_completion_cb,
			(doca_comch_task_send_completion_cb_t)task_error_cb, num_send_tasks);
}

doca_error_t
doca_cc_server_task_send_alloc_init(struct doca_cc_server *cc_server,
		struct doca_cc_connection *peer, const void *msg, uint32_t len,
		struct doca_cc_task_send **task)
{
	return doca_comch_server_task_send_alloc_init(impl_comch(cc_server), impl_comch(peer),
			msg, len, impl_comch(task));
}

doca_error_t
doca_cc_client_task_send_alloc_init(struct doca_cc_client *cc_client,
		struct doca_cc_connection *peer, const void *msg, uint32_t len,
		struct doca_cc_task_send **task)
{
	return doca_comch_client_task_send_alloc_init(impl_comch(cc_client), impl_comch(peer),
			msg, len, impl_comch(task));
}

struct doca_task *
doca_cc_task_send_as_task(struct doca_cc_task_send *task)
{
	return doca_comch_task_send_as_task(impl_comch(task));
}

doca_error_t
doca_cc_server_event_msg_recv_register(struct doca_cc_server *cc_server,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	return doca_comch_server_event_msg_recv_register(impl_comch(cc_server),
			(doca_comch_event_msg_recv_cb_t)recv_event_cb);
}

doca_error_t
doca_cc_client_event_msg_recv_register(struct doca_cc_client *cc_client,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	return doca_comch_client_event_msg_recv_register(impl_comch(cc_client),
			(doca_comch_event_msg_recv_cb_t)recv_event_cb);
}

doca_error_t
doca_cc_server_event_connection_register(struct doca_cc_server *cc_server,
		doca_cc_event_connection_status_changed_cb_t connect_event_cb,
		doca_cc_event_connection_status_changed_cb_t disconnect_event_cb)
{
	return doca_comch_server_event_connection_status_changed_register(impl_comch(cc_server),
			(doca_comch_event_connection_status_changed_cb_t)connect_event_cb,
			(doca_comch_event_connection_status_changed_cb_t)disconnect_event_cb);
}

doca_error_t
doca_cc_server_event_consumer_register(struct doca_cc_server *cc_server,
		doca_cc_event_consumer_cb_t new_consumer_event_cb,
		doca_cc_event_consumer_cb_t expired_consumer_event_cb)
{
	return doca_comch_server_event_consumer_register(impl_comch(cc_server),
			(doca_comch_event_consumer_cb_t)new_consumer_event_cb,
			(doca_comch_event_consumer_cb_t)expired_consumer_event_cb);
}

doca_error_t
doca_cc_client_event_consumer_register(struct doca_cc_client *cc_client,
		doca_cc_event_consumer_cb_t new_consumer_event_cb,
		doca_cc_event_consumer_cb_t expired_consumer_event_cb)
{
	return doca_comch_client_event_consumer_register(impl_comch(cc_client),
			(doca_comch_event_consumer_cb_t)new_consumer_event_cb,
			(doca_comch_event_consumer_cb_t)expired_consumer_event_cb);
}

doca_error_t
doca_cc_connection_update_info(struct doca_cc_connection *cc_connection)
{
	return doca_comch_connection_update_info(impl_comch(cc_connection));
}

doca_error_t
doca_cc_connection_get_counter(const struct doca_cc_connection *cc_connection,
		enum doca_cc_counter counter_type, uint64_t *counter_value)
{
	return doca_comch_connection_get_counter(impl_comch(cc_connection),
			(enum doca_comch_counter)counter_type, counter_value);
}
