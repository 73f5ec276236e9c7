/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <string.h>

#include "comch/pair.h"

#define DPU_PCI "03:00.0"
#define HOST_PCI "b1:00.0"
#define SECOND_PCI "b1:00.1"

/* Callbacks of servers and clients */

static struct side *
side_of(struct doca_comch_connection *conn)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(conn);
	union doca_data data;

	T_CHECK((server == NULL) != (client == NULL));
	T_OK(doca_ctx_get_user_data(server != NULL ? doca_comch_server_as_ctx(server) :
		doca_comch_client_as_ctx(client), &data));
	return data.ptr;
}

static void
on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	struct side *side = user_data.ptr;

	state_log_note(user_data, ctx, prev, next);
	if (side->client != NULL && next == DOCA_CTX_STATE_RUNNING)
		T_OK(doca_comch_client_get_connection(side->client, &side->conn));
	if (side->hooks.state != NULL)
		side->hooks.state(side, next);
}

static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	struct side *side = side_of(conn);

	T_CHECK(event != NULL);
	T_EQ(change_successful, 1);
	if (side->nb_connects < SIDE_CONNS)
		side->conns[side->nb_connects] = conn;
	side->nb_connects++;
	side->conn = conn;
	if (side->hooks.connected != NULL)
		side->hooks.connected(side, conn);
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	struct side *side = side_of(conn);

	T_CHECK(event != NULL);
	T_EQ(change_successful, 1);
	side->nb_disconnects++;
	if (side->hooks.disconnected != NULL)
		side->hooks.disconnected(side, conn);
	if (side->conn == conn)
		side->conn = NULL;
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len,
		struct doca_comch_connection *conn)
{
	struct side *side = side_of(conn);

	T_CHECK(event != NULL);
	T_LE(msg_len, sizeof(side->msg));
	memcpy(side->msg, recv_buffer, msg_len);
	/* It may be written to. */
	memset(recv_buffer, 0xee, msg_len);
	side->msg_len = msg_len;
	side->nb_msgs++;
	side->msg_bytes += msg_len;
	if (side->hooks.msg != NULL)
		side->hooks.msg(side, conn, side->msg, msg_len);
}

static void
task_back(struct side *side, struct doca_comch_task_send *task, union doca_data task_data)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);

	T_CHECK(doca_task_get_ctx(t) == side->ctx);
	T_EQ(doca_task_get_user_data(t).u64, task_data.u64);
	side->send_status = doca_task_get_status(t);
	side->sent_data = task_data;
	if (side->hooks.sent != NULL)
		side->hooks.sent(side, task);
	else if (!side->keep_tasks)
		doca_task_free(t);
}

static void
on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct side *side = ctx_data.ptr;

	side->nb_sent++;
	T_OK(doca_task_get_status(doca_comch_task_send_as_task(task)));
	task_back(side, task, task_data);
}

static void
on_send_error(struct doca_comch_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct side *side = ctx_data.ptr;

	side->nb_send_errors++;
	T_NE(doca_task_get_status(doca_comch_task_send_as_task(task)), DOCA_SUCCESS);
	task_back(side, task, task_data);
}

static void
on_consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	struct side *side = side_of(conn);

	T_CHECK(event != NULL);
	side->nb_new++;
	side->new_id = id;
	if (side->hooks.consumer != NULL)
		side->hooks.consumer(side, id);
}

static void
on_consumer_gone(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	struct side *side = side_of(conn);

	T_CHECK(event != NULL);
	side->nb_gone++;
	side->gone_id = id;
	if (side->hooks.consumer_gone != NULL)
		side->hooks.consumer_gone(side, id);
}

/* Servers and clients */

static void
side_ready(struct side *side, struct doca_ctx *ctx, struct doca_pe *pe)
{
	const union doca_data data = { .ptr = side };

	side->ctx = ctx;
	side->pe = pe;
	side->shares_pe = pe != NULL;
	if (pe == NULL)
		T_OK(doca_pe_create(&side->pe));
	T_OK(doca_pe_connect_ctx(side->pe, ctx));
	T_OK(doca_ctx_set_user_data(ctx, data));
	T_OK(doca_ctx_set_state_changed_cb(ctx, on_state));
}

static void
server_create_all(struct side *side, const char *name, const char *rep, struct doca_pe *pe)
{
	memset(side, 0, sizeof(*side));
	side->dev = dev_open("dpu", DPU_PCI);
	side->rep = rep_open(side->dev, rep);
	T_OK(doca_comch_server_create(side->dev, side->rep, name, &side->server));
	side_ready(side, doca_comch_server_as_ctx(side->server), pe);
	T_OK(doca_comch_server_task_send_set_conf(side->server, on_sent, on_send_error, 1024));
	T_OK(doca_comch_server_event_msg_recv_register(side->server, on_msg));
	T_OK(doca_comch_server_event_connection_status_changed_register(side->server, on_connected,
		on_disconnected));
	T_OK(doca_comch_server_event_consumer_register(side->server, on_consumer_new,
		on_consumer_gone));
}

static void
client_create_all(struct side *side, const char *name, const char *pci, struct doca_pe *pe)
{
	memset(side, 0, sizeof(*side));
	side->dev = dev_open("host", pci);
	T_OK(doca_comch_client_create(side->dev, name, &side->client));
	side_ready(side, doca_comch_client_as_ctx(side->client), pe);
	T_OK(doca_comch_client_task_send_set_conf(side->client, on_sent, on_send_error, 1024));
	T_OK(doca_comch_client_event_msg_recv_register(side->client, on_msg));
	T_OK(doca_comch_client_event_consumer_register(side->client, on_consumer_new,
		on_consumer_gone));
}

void
server_create(struct side *side, const char *name)
{
	server_create_all(side, name, HOST_PCI, NULL);
}

void
client_create(struct side *side, const char *name)
{
	client_create_all(side, name, HOST_PCI, NULL);
}

void
server_create_on(struct side *side, const char *name, struct doca_pe *pe)
{
	server_create_all(side, name, HOST_PCI, pe);
}

void
client_create_on(struct side *side, const char *name, struct doca_pe *pe)
{
	client_create_all(side, name, HOST_PCI, pe);
}

void
server_create_second(struct side *side, const char *name)
{
	server_create_all(side, name, SECOND_PCI, NULL);
}

void
client_create_second(struct side *side, const char *name)
{
	client_create_all(side, name, SECOND_PCI, NULL);
}

void
side_cleanup(struct side *side)
{
	if (!side->shares_pe)
		T_OK(doca_pe_destroy(side->pe));
	if (side->rep != NULL)
		T_OK(doca_dev_rep_close(side->rep));
	T_OK(doca_dev_close(side->dev));
}

void
side_destroy(struct side *side)
{
	T_EQ(ctx_state(side->ctx), DOCA_CTX_STATE_IDLE);
	if (side->server != NULL)
		T_OK(doca_comch_server_destroy(side->server));
	else
		T_OK(doca_comch_client_destroy(side->client));
	side_cleanup(side);
}

/* Pairs */

void
pair_create(struct pair *t)
{
	server_create(&t->server, PAIR_NAME);
	client_create(&t->client, PAIR_NAME);
}

bool
pair_progress(struct pair *t)
{
	bool done = doca_pe_progress(t->server.pe) != 0;

	return (doca_pe_progress(t->client.pe) != 0) | done;
}

void
pair_connect(struct pair *t)
{
	unsigned int before = t->server.nb_connects;

	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_running(t->client.ctx) && t->server.nb_connects > before);
}

void
pair_open(struct pair *t)
{
	pair_create(t);
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
}

void
pair_close(struct pair *t)
{
	if (!ctx_is_idle(t->client.ctx))
		T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	if (!ctx_is_idle(t->server.ctx))
		doca_ctx_stop(t->server.ctx);
	T_WAIT(pair_progress(t), ctx_is_idle(t->server.ctx));
	side_destroy(&t->client);
	side_destroy(&t->server);
}

struct doca_comch_task_send *
side_task(struct side *side, const void *msg, uint32_t len)
{
	struct doca_comch_task_send *task;

	if (side->server != NULL)
		T_OK(doca_comch_server_task_send_alloc_init(side->server, side->conn, msg, len,
			&task));
	else
		T_OK(doca_comch_client_task_send_alloc_init(side->client, side->conn, msg, len,
			&task));
	return task;
}

void
side_send(struct side *side, const void *msg, uint32_t len)
{
	T_OK(doca_task_submit(doca_comch_task_send_as_task(side_task(side, msg, len))));
}

void
pair_traffic(struct pair *t)
{
	unsigned int i;

	for (i = 0; i < 40; i++) {
		side_send(&t->client, "to the server", 13);
		side_send(&t->server, "to the client", 13);
	}
}
