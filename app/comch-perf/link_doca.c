/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections and control messages by DOCA's calls. As programs of DOCA do, a
 * message takes a task from its context, whose callback gives it back.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "link_doca.h"
#include "perf_test.h"

/* Tasks of a side that only says a few words. */
#define FEW_TASKS 8

struct link_doca_client {
	struct perf_run *run;
	uint32_t number;
	struct doca_comch_client *client;
};

/* The run that a connection belongs to. */
static struct perf_run *
run_of(const struct doca_comch_connection *conn)
{
	return doca_comch_connection_get_user_data(conn).ptr;
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		struct doca_comch_connection *conn)
{
	(void)event;
	link_got_msg(run_of(conn), conn, data, len);
}

static void
on_consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	(void)event;
	link_got_consumer(run_of(conn), conn, id);
}

static void
on_consumer_gone(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	(void)event;
	(void)conn;
	(void)id;
}

static void
on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void
on_server_unsent(struct doca_comch_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct perf_run *run = ctx_data.ptr;

	(void)task_data;
	run->link.nb_unsent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void
on_client_unsent(struct doca_comch_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	const struct link_doca_client *c = ctx_data.ptr;

	(void)task_data;
	c->run->link.nb_unsent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* A client has come. */
static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	union doca_data data = { .ptr = NULL };
	struct perf_run *run;

	(void)event;
	(void)is_good;
	doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &data);
	doca_comch_connection_set_user_data(conn, data);
	run = data.ptr;
	run->link.doca->nb_up++;
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct perf_run *run = run_of(conn);

	(void)event;
	(void)is_good;
	run->link.doca->nb_up--;
	if (!run->link.closing)
		perf_run_fail(run, "a connection ended");
}

/* A client is connected, or not any more. */
static void
on_client_state(const union doca_data user_data, struct doca_ctx *ctx,
		enum doca_ctx_states prev, enum doca_ctx_states next)
{
	const struct link_doca_client *c = user_data.ptr;
	const union doca_data conn_data = { .ptr = c->run };
	struct doca_comch_connection *conn;

	(void)ctx;
	if (next == DOCA_CTX_STATE_RUNNING) {
		if (!dev_doca_ok(c->run, doca_comch_client_get_connection(c->client, &conn),
				"a client's connection"))
			return;
		doca_comch_connection_set_user_data(conn, conn_data);
		link_client_up(c->run, c->number, conn);
	} else if (next != DOCA_CTX_STATE_STARTING && !c->run->link.closing) {
		perf_run_fail(c->run, "%s", prev == DOCA_CTX_STATE_STARTING ?
				"a client does not connect" : "a connection ended");
	}
}

static int
doca_link_open(struct perf_run *run)
{
	struct link *link = &run->link;
	struct link_doca *l = calloc(1, sizeof(*l));

	link->doca = l;
	if (l == NULL)
		return perf_run_fail(run, "no memory");
	l->clients = calloc(link->nb_conns, sizeof(l->clients[0]));
	if (l->clients == NULL)
		return perf_run_fail(run, "no memory for %u connections", link->nb_conns);
	if (dev_doca_open(run, &l->dev, run->leader) != 0 ||
			!dev_doca_ok(run, doca_pe_create(&l->pe), "a progress engine") ||
			!dev_doca_ok(run, doca_pe_get_notification_handle(l->pe, &link->fd),
				"a progress engine's handle"))
		return -ECANCELED;
	return 0;
}

/* What servers and clients have alike: their engine, and whose they are. */
static doca_error_t
begin(struct link_doca *l, struct doca_ctx *ctx, void *owner)
{
	const union doca_data data = { .ptr = owner };
	doca_error_t ret;

	ret = doca_pe_connect_ctx(l->pe, ctx);
	if (ret == DOCA_SUCCESS)
		ret = doca_ctx_set_user_data(ctx, data);
	return ret == DOCA_SUCCESS ? doca_ctx_start(ctx) : ret;
}

static uint32_t
nb_tasks(const struct perf_run *run)
{
	return RTE_MAX(link_ctrl_queue(run), (uint32_t)FEW_TASKS);
}

static int
doca_listen(struct perf_run *run)
{
	struct link_doca *l = run->link.doca;
	uint32_t queue = link_ctrl_queue(run);
	struct doca_comch_server *s;

	if (!dev_doca_ok(run, doca_comch_server_create(l->dev.dev, l->dev.rep,
			LINK_SERVER_NAME, &l->server), "a server"))
		return -ECANCELED;
	s = l->server;
	return dev_doca_ok(run, doca_comch_server_set_max_msg_size(s, link_ctrl_size(run)),
			"--size") &&
		(queue == 0 || dev_doca_ok(run, doca_comch_server_set_recv_queue_size(s, queue),
			"--queue")) &&
		dev_doca_ok(run, doca_comch_server_task_send_set_conf(s, on_sent,
			on_server_unsent, nb_tasks(run)), "a server's tasks") &&
		dev_doca_ok(run, doca_comch_server_event_msg_recv_register(s, on_msg),
			"a server's messages") &&
		dev_doca_ok(run, doca_comch_server_event_connection_status_changed_register(s,
			on_connected, on_disconnected), "a server's connections") &&
		dev_doca_ok(run, doca_comch_server_event_consumer_register(s, on_consumer_new,
			on_consumer_gone), "a server's consumers") &&
		dev_doca_ok(run, begin(l, doca_comch_server_as_ctx(s), run), "listening") ?
		0 : -ECANCELED;
}

static int
doca_start_client(struct perf_run *run, uint32_t i)
{
	struct link_doca_client *c = &run->link.doca->clients[i];
	struct link_doca *l = run->link.doca;
	uint32_t queue = link_ctrl_queue(run);
	struct doca_ctx *ctx;

	c->run = run;
	c->number = i;
	if (!dev_doca_ok(run, doca_comch_client_create(l->dev.dev, LINK_SERVER_NAME,
			&c->client), "a client"))
		return -ECANCELED;
	ctx = doca_comch_client_as_ctx(c->client);
	return dev_doca_ok(run, doca_comch_client_set_max_msg_size(c->client,
			link_ctrl_size(run)), "--size") &&
		(queue == 0 || dev_doca_ok(run, doca_comch_client_set_recv_queue_size(c->client,
			queue), "--queue")) &&
		dev_doca_ok(run, doca_comch_client_task_send_set_conf(c->client, on_sent,
			on_client_unsent, nb_tasks(run)), "a client's tasks") &&
		dev_doca_ok(run, doca_comch_client_event_msg_recv_register(c->client, on_msg),
			"a client's messages") &&
		dev_doca_ok(run, doca_comch_client_event_consumer_register(c->client,
			on_consumer_new, on_consumer_gone), "a client's consumers") &&
		dev_doca_ok(run, doca_ctx_set_state_changed_cb(ctx, on_client_state),
			"a client's states") &&
		dev_doca_ok(run, begin(l, ctx, c), "connecting") ? 0 : -ECANCELED;
}

static uint16_t
doca_send(struct perf_run *run, void *conn, const struct rte_comch_msg *msgs, uint16_t n)
{
	struct link_doca *l = run->link.doca;
	struct doca_comch_client *client = run->leader ?
			doca_comch_client_get_client_ctx(conn) : NULL;
	struct doca_comch_task_send *task;
	doca_error_t ret = DOCA_SUCCESS;
	uint16_t i;

	for (i = 0; i < n; i++) {
		ret = run->leader ?
			doca_comch_client_task_send_alloc_init(client, conn, msgs[i].data,
				msgs[i].len, &task) :
			doca_comch_server_task_send_alloc_init(l->server, conn, msgs[i].data,
				msgs[i].len, &task);
		if (ret != DOCA_SUCCESS)
			break;
		ret = doca_task_submit(doca_comch_task_send_as_task(task));
		if (ret != DOCA_SUCCESS) {
			doca_task_free(doca_comch_task_send_as_task(task));
			break;
		}
	}
	/* All tasks are on their way, or the channel is full: later. */
	if (ret != DOCA_ERROR_NO_MEMORY && ret != DOCA_ERROR_AGAIN)
		dev_doca_ok(run, ret, "sending a message");
	return i;
}

static uint16_t
doca_poll(struct perf_run *run)
{
	return run->link.doca->pe == NULL ? 0 : doca_pe_progress(run->link.doca->pe);
}

void
link_doca_sleep(struct doca_pe *pe, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (doca_pe_request_notification(pe) == DOCA_SUCCESS)
		poll(&pfd, 1, LINK_SLEEP_MS);
	doca_pe_clear_notification(pe, fd);
}

static void
doca_sleep(struct perf_run *run, uint32_t cls)
{
	(void)cls;
	link_doca_sleep(run->link.doca->pe, run->link.fd);
}

static void
doca_stop_clients(struct perf_run *run)
{
	struct link_doca *l = run->link.doca;
	uint32_t i;

	for (i = 0; l != NULL && l->clients != NULL && i < run->link.nb_conns; i++)
		doca_ctx_stop(doca_comch_client_as_ctx(l->clients[i].client));
}

static bool
doca_all_left(struct perf_run *run)
{
	return run->link.doca == NULL || run->link.doca->nb_up == 0;
}

static void
doca_stop_server(struct perf_run *run)
{
	if (run->link.doca != NULL)
		doca_ctx_stop(doca_comch_server_as_ctx(run->link.doca->server));
}

static bool
doca_all_idle(struct perf_run *run)
{
	const struct link_doca *l = run->link.doca;
	uint32_t i;

	for (i = 0; l != NULL && l->clients != NULL && i < run->link.nb_conns; i++) {
		if (link_doca_state(doca_comch_client_as_ctx(l->clients[i].client)) !=
				DOCA_CTX_STATE_IDLE)
			return false;
	}
	return l == NULL || link_doca_state(doca_comch_server_as_ctx(l->server)) ==
			DOCA_CTX_STATE_IDLE;
}

static void
doca_link_close(struct perf_run *run)
{
	struct link_doca *l = run->link.doca;
	uint32_t i;

	if (l == NULL)
		return;
	for (i = 0; l->clients != NULL && i < run->link.nb_conns; i++)
		doca_comch_client_destroy(l->clients[i].client);
	doca_comch_server_destroy(l->server);
	doca_pe_destroy(l->pe);
	dev_doca_close(&l->dev);
	free(l->clients);
	free(l);
}

const struct link_ops link_ops_doca = {
	.open = doca_link_open,
	.listen = doca_listen,
	.start_client = doca_start_client,
	.send = doca_send,
	.poll = doca_poll,
	.sleep = doca_sleep,
	.stop_clients = doca_stop_clients,
	.all_left = doca_all_left,
	.stop_server = doca_stop_server,
	.all_idle = doca_all_idle,
	.close = doca_link_close,
};
