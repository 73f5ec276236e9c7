/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Functions of doca_cc in DOCA 2.5 that differ from doca_comch in more than their names. */

#include <stddef.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "comch/cc_names.h"
#include "comch/comch.h"

#include "cc/types.h"

/* Declare them as for programs of DOCA 2.5: functions whose names DOCA 2.6 reuses get
 * their own symbols.
 */
#undef COMCH_DOCA_GENERATION
#define COMCH_DOCA_GENERATION 205

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>

#define CHECK_SAME(name, of)
#define CHECK_NEARLY(name, of)
#define CHECK_OLD_SAME(name, of) IMPL_CC_CHECK(name, of)
#define CHECK_OLD_NEARLY(name, of)
#define CHECK(how, name, of) CHECK_##how(name, of)

IMPL_CC_NAMES(CHECK)

/* A length over UINT32_MAX is refused anyway, so clamp it. */
static uint32_t
message_len(size_t len)
{
	return (uint32_t)RTE_MIN(len, UINT32_MAX);
}

doca_error_t
doca_cc_server_send_task_alloc_init(struct doca_comch_server *server,
		struct doca_comch_connection *peer, const void *msg, size_t len,
		struct doca_comch_task_send **task)
{
	return doca_comch_server_task_send_alloc_init(server, peer, msg, message_len(len), task);
}

doca_error_t
doca_cc_client_send_task_alloc_init(struct doca_comch_client *client,
		struct doca_comch_connection *peer, const void *msg, size_t len,
		struct doca_comch_task_send **task)
{
	return doca_comch_client_task_send_alloc_init(client, peer, msg, message_len(len), task);
}

/* Callbacks with other argument types */

static const struct impl_cc_cbs_205 *
cbs_of(const struct doca_comch_connection *conn)
{
	return &((const struct impl_ctrl *)conn->head.ctx)->cc_cbs;
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len,
		struct doca_comch_connection *conn)
{
	cbs_of(conn)->msg(event, recv_buffer, msg_len, conn);
}

static void
on_connect(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	cbs_of(conn)->connect(event, conn, change_successful != 0);
}

static void
on_disconnect(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	cbs_of(conn)->disconnect(event, conn, change_successful != 0);
}

doca_error_t
doca_cc_server_event_msg_recv_register(struct doca_comch_server *server,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	doca_error_t ret = doca_comch_server_event_msg_recv_register(server,
			recv_event_cb == NULL ? NULL : on_msg);

	if (ret == DOCA_SUCCESS)
		server->ctrl.cc_cbs.msg = recv_event_cb;
	return ret;
}

doca_error_t
doca_cc_client_event_msg_recv_register(struct doca_comch_client *client,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	doca_error_t ret = doca_comch_client_event_msg_recv_register(client,
			recv_event_cb == NULL ? NULL : on_msg);

	if (ret == DOCA_SUCCESS)
		client->ctrl.cc_cbs.msg = recv_event_cb;
	return ret;
}

doca_error_t
doca_cc_server_event_connection_register(struct doca_comch_server *server,
		doca_cc_event_connection_status_changed_cb_t connect_event_cb,
		doca_cc_event_connection_status_changed_cb_t disconnect_event_cb)
{
	doca_error_t ret = doca_comch_server_event_connection_status_changed_register(server,
			connect_event_cb == NULL ? NULL : on_connect,
			disconnect_event_cb == NULL ? NULL : on_disconnect);

	if (ret != DOCA_SUCCESS)
		return ret;
	server->ctrl.cc_cbs.connect = connect_event_cb;
	server->ctrl.cc_cbs.disconnect = disconnect_event_cb;
	return DOCA_SUCCESS;
}

/* 2.5 passes the logarithm of a number of tasks. Too large: 0, which is refused. */
static uint32_t
count(uint32_t log_count)
{
	return log_count < 32 ? UINT32_C(1) << log_count : 0;
}

doca_error_t
doca_cc_producer_send_task_set_conf(struct doca_comch_producer *producer,
		doca_cc_producer_send_task_completion_cb_t task_completion_cb,
		doca_cc_producer_send_task_completion_cb_t task_error_cb,
		uint32_t log_num_send_tasks)
{
	return doca_comch_producer_task_send_set_conf(producer, task_completion_cb, task_error_cb,
			count(log_num_send_tasks));
}

doca_error_t
doca_cc_producer_send_task_alloc_init(struct doca_comch_producer *producer, struct doca_buf *buf,
		uint32_t consumer_id, struct doca_comch_producer_task_send **task)
{
	return doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, consumer_id, task);
}

doca_error_t
doca_cc_consumer_post_recv_task_set_conf(struct doca_comch_consumer *consumer,
		doca_cc_consumer_post_recv_task_completion_cb_t task_completion_cb,
		doca_cc_consumer_post_recv_task_completion_cb_t task_error_cb,
		uint32_t log_num_post_recv_tasks)
{
	return doca_comch_consumer_task_post_recv_set_conf(consumer, task_completion_cb,
			task_error_cb, count(log_num_post_recv_tasks));
}

doca_error_t
doca_cc_consumer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_log_num_tasks)
{
	uint32_t max;
	doca_error_t ret;

	ret = doca_comch_consumer_cap_get_max_num_tasks(devinfo,
			max_log_num_tasks == NULL ? NULL : &max);
	if (ret == DOCA_SUCCESS)
		*max_log_num_tasks = rte_fls_u32(max) - 1;
	return ret;
}
