/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_log.h>

#include "link.h"

DOCA_LOG_REGISTER(LINK);

/* Callbacks of servers and clients */

/* The connection's server or client has the link as user data of its context. */
static struct link *
link_of(const struct doca_comch_connection *conn)
{
	union doca_data data = { .ptr = NULL };

#ifdef DOCA_ARCH_DPU
	doca_ctx_get_user_data(doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(conn)),
			&data);
#else
	doca_ctx_get_user_data(doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(conn)),
			&data);
#endif
	return data.ptr;
}

static void
come_up(struct link *link, struct doca_comch_connection *conn)
{
	link->conn = conn;
	link->was_up = true;
	if (link->on_up != NULL)
		link->on_up(link);
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		struct doca_comch_connection *conn)
{
	struct link *link = link_of(conn);

	(void)event;
	/* The data is valid during this call only. */
	if (link->conn == conn && link->on_msg != NULL)
		link->on_msg(link, data, len);
}

static void
on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct link *link = ctx_data.ptr;

	(void)task_data;
	doca_task_free(doca_comch_task_send_as_task(task));
	if (link->on_sent != NULL)
		link->on_sent(link);
}

static void
on_unsent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct link *link = ctx_data.ptr;
	struct doca_task *t = doca_comch_task_send_as_task(task);

	(void)task_data;
	/* Expected after a disconnect. */
	if (link->conn != NULL)
		side_check(&link->side, doca_task_get_status(t), "send message");
	doca_task_free(t);
}

static void
on_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	struct link *link = link_of(conn);

	(void)event;
	if (link->conn == conn && link->on_consumer != NULL)
		link->on_consumer(link, id);
}

static void
on_consumer_gone(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	(void)event;
	(void)conn;
	(void)id;
}

#ifdef DOCA_ARCH_DPU

static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct link *link = link_of(conn);

	(void)event;
	/* These examples serve only one client. */
	if (is_good && !link->was_up)
		come_up(link, conn);
	else
		doca_comch_server_disconnect(link->server, conn);
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct link *link = link_of(conn);

	(void)event;
	(void)is_good;
	if (link->conn == conn)
		link->conn = NULL;
}

static doca_error_t
open_end(struct link *link)
{
	struct doca_comch_server *s;
	doca_error_t result;

	result = doca_comch_server_create(link->side.dev, link->side.rep, link->side.name, &s);
	if (result != DOCA_SUCCESS)
		return result;
	link->server = s;
	link->ctx = doca_comch_server_as_ctx(s);
	result = doca_comch_server_task_send_set_conf(s, on_sent, on_unsent, LINK_TASKS);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(s, on_msg);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(s,
				on_connected, on_disconnected);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_consumer_register(s, on_consumer,
				on_consumer_gone);
	return result == DOCA_SUCCESS ? engine_start(link->pe, link->ctx, link) : result;
}

#else /* the host */

static void
on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states before,
		enum doca_ctx_states state)
{
	struct link *link = user_data.ptr;
	struct doca_comch_connection *conn;

	(void)ctx;
	(void)before;
	if (state != DOCA_CTX_STATE_RUNNING)
		link->conn = NULL;
	else if (side_check(&link->side, doca_comch_client_get_connection(link->client, &conn),
			"get connection"))
		come_up(link, conn);
}

static doca_error_t
open_end(struct link *link)
{
	struct doca_comch_client *c;
	doca_error_t result;

	result = doca_comch_client_create(link->side.dev, link->side.name, &c);
	if (result != DOCA_SUCCESS)
		return result;
	link->client = c;
	link->ctx = doca_comch_client_as_ctx(c);
	result = doca_comch_client_task_send_set_conf(c, on_sent, on_unsent, LINK_TASKS);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(c, on_msg);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_consumer_register(c, on_consumer,
				on_consumer_gone);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(link->ctx, on_state);
	return result == DOCA_SUCCESS ? engine_connect(link->pe, link->ctx, link) : result;
}

#endif

doca_error_t
link_open(struct link *link)
{
	if (side_open(&link->side) == DOCA_SUCCESS &&
			side_check(&link->side, doca_pe_create(&link->pe), "create engine"))
		side_check(&link->side, open_end(link), SIDE_IS_DPU ? "listen" : "connect");
	return link->side.error;
}

doca_error_t
link_send(struct link *link, const void *data, size_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

#ifdef DOCA_ARCH_DPU
	result = doca_comch_server_task_send_alloc_init(link->server, link->conn, data,
			(uint32_t)len, &task);
#else
	result = doca_comch_client_task_send_alloc_init(link->client, link->conn, data,
			(uint32_t)len, &task);
#endif
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
	return result;
}

void
link_run(struct link *link)
{
	uint8_t is_busy;

	while (!side_is_ending() && link->side.error == DOCA_SUCCESS && !link->is_done(link) &&
			!(link->was_up && link->conn == NULL)) {
		is_busy = doca_pe_progress(link->pe);
		if (link->on_turn != NULL)
			link->on_turn(link);
		if (!is_busy)
			engine_sleep(link->pe, &link->side);
	}
	if (side_is_ending())
		DOCA_LOG_INFO("Interrupted");
}

void
link_close(struct link *link)
{
	engine_stop(link->pe, link->ctx);
	if (link->server != NULL)
		doca_comch_server_destroy(link->server);
	if (link->client != NULL)
		doca_comch_client_destroy(link->client);
	if (link->pe != NULL)
		doca_pe_destroy(link->pe);
	side_close(&link->side);
}
