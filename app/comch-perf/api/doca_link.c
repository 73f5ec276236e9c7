/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections and control messages, with the calls of DOCA Comch. As in DOCA
 * programs, a message takes a task of its context, which the completion callback
 * frees.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include <rte_common.h>

#include "api/api.h"
#include "api/doca.h"

/* Tasks of a side that sends few control messages. */
#define FEW_TASKS 8

struct client {
	struct link *link;
	uint32_t number;
	struct doca_comch_client *client;
};

struct doca_link {
	struct doca_device dev;
	struct doca_comch_server *server; /* DPU side */
	uint32_t nb_up;                   /* DPU side: connections */
	struct client clients[];          /* host side */
};

struct doca_dev *
doca_link_dev(const struct link *link)
{
	return ((const struct doca_link *)link->priv)->dev.dev;
}

/* The link that a connection belongs to. */
static struct link *
link_of(const struct doca_comch_connection *conn)
{
	return doca_comch_connection_get_user_data(conn).ptr;
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		struct doca_comch_connection *conn)
{
	(void)event;
	link_got_msg(link_of(conn), conn, data, len);
}

static void
on_consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	(void)event;
	link_got_consumer(link_of(conn), conn, id);
}

static void
on_consumer_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
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

/* The link comes from the task: the user data of a context may be a client. */
static void
on_unsent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct link *link = task_data.ptr;

	(void)ctx_data;
	link->nb_unsent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* Server: a client connected. */
static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	union doca_data data = { .ptr = NULL };
	struct link *link;

	(void)event;
	(void)is_good;
	doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &data);
	doca_comch_connection_set_user_data(conn, data);
	link = data.ptr;
	link->nb_joined++;
	((struct doca_link *)link->priv)->nb_up++;
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct link *link = link_of(conn);

	(void)event;
	(void)is_good;
	((struct doca_link *)link->priv)->nb_up--;
	link_lost(link, NULL);
}

/* A client context changed its state: it connected or stopped. */
static void
on_client_state(const union doca_data user_data, struct doca_ctx *ctx,
		enum doca_ctx_states prev, enum doca_ctx_states next)
{
	const struct client *c = user_data.ptr;
	const union doca_data data = { .ptr = c->link };
	struct doca_comch_connection *conn;

	(void)ctx;
	if (next == DOCA_CTX_STATE_RUNNING) {
		if (!doca_ok(c->link, doca_comch_client_get_connection(c->client, &conn),
				"get the connection of a client"))
			return;
		doca_comch_connection_set_user_data(conn, data);
		link_client_up(c->link, c->number, conn);
	} else if (next != DOCA_CTX_STATE_STARTING) {
		link_client_down(c->link, c->number, prev == DOCA_CTX_STATE_STARTING ?
				"client: connect failed" : "connection ended");
	}
}

static void
doca_poll_close(struct link_poll *base)
{
	struct doca_poll *p = (struct doca_poll *)base;

	doca_pe_destroy(p->pe);
	free(p);
}

static struct link_poll *
doca_poll_open(struct link *link)
{
	struct doca_poll *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		link_fail(link, "progress engine: not enough memory");
		return NULL;
	}
	if (doca_ok(link, doca_pe_create(&p->pe), "create a progress engine") &&
			doca_ok(link, doca_pe_get_notification_handle(p->pe, &p->base.fd),
				"get the notification handle of a progress engine"))
		return &p->base;
	doca_poll_close(&p->base);
	return NULL;
}

static uint16_t
doca_poll_run(struct link_poll *base)
{
	return doca_pe_progress(((struct doca_poll *)base)->pe);
}

static void
doca_poll_sleep(struct link_poll *base, uint32_t cls, int timeout_ms)
{
	struct doca_pe *pe = ((struct doca_poll *)base)->pe;
	struct pollfd pfd = { .fd = base->fd, .events = POLLIN };

	(void)cls;
	if (doca_pe_request_notification(pe) == DOCA_SUCCESS)
		poll(&pfd, 1, timeout_ms);
	doca_pe_clear_notification(pe, base->fd);
}

static int
doca_open(struct link *link)
{
	struct doca_link *l = link->priv;

	if (doca_device_open(link, &l->dev) != 0)
		return -ECANCELED;
	link->poll = doca_poll_open(link);
	return link->poll != NULL ? 0 : -ECANCELED;
}

static void
doca_close(struct link *link)
{
	struct doca_link *l = link->priv;

	doca_comch_server_destroy(l->server);
	if (link->poll != NULL)
		doca_poll_close(link->poll);
	doca_device_close(&l->dev);
}

bool
doca_start(struct link *link, struct link_poll *poll, struct doca_ctx *ctx, void *owner,
		const char *what)
{
	const union doca_data data = { .ptr = owner };

	return doca_ok(link, doca_pe_connect_ctx(((struct doca_poll *)poll)->pe, ctx), what) &&
		doca_ok(link, doca_ctx_set_user_data(ctx, data), what) &&
		doca_ok(link, doca_ctx_start(ctx), what);
}

static uint32_t
nb_tasks(const struct link *link)
{
	return RTE_MAX(link->queue, (uint32_t)FEW_TASKS);
}

static int
doca_listen(struct link *link)
{
	struct doca_link *l = link->priv;
	struct doca_comch_server *s;
	bool ok;

	if (!doca_ok(link, doca_comch_server_create(l->dev.dev, l->dev.rep, link->name,
			&l->server), "create a server"))
		return -ECANCELED;
	s = l->server;
	ok = doca_ok(link, doca_comch_server_set_max_msg_size(s, link->max_msg_size), "--size");
	if (link->queue > 0)
		ok &= doca_ok(link, doca_comch_server_set_recv_queue_size(s, link->queue),
				"--queue");
	ok &= doca_ok(link, doca_comch_server_task_send_set_conf(s, on_sent, on_unsent,
			nb_tasks(link)), "configure the tasks of a server");
	ok &= doca_ok(link, doca_comch_server_event_msg_recv_register(s, on_msg),
			"register the message callback of a server");
	ok &= doca_ok(link, doca_comch_server_event_connection_status_changed_register(s,
			on_connected, on_disconnected),
			"register the connection callbacks of a server");
	ok &= doca_ok(link, doca_comch_server_event_consumer_register(s, on_consumer_new,
			on_consumer_expired), "register the consumer callbacks of a server");
	return ok && doca_start(link, link->poll, doca_comch_server_as_ctx(s), link,
			"listen") ? 0 : -ECANCELED;
}

static int
doca_connect(struct link *link, uint32_t i)
{
	struct doca_link *l = link->priv;
	struct client *client = &l->clients[i];
	struct doca_comch_client *c;
	struct doca_ctx *ctx;
	bool ok;

	client->link = link;
	client->number = i;
	if (!doca_ok(link, doca_comch_client_create(l->dev.dev, link->name, &client->client),
			"create a client"))
		return -ECANCELED;
	c = client->client;
	ctx = doca_comch_client_as_ctx(c);
	ok = doca_ok(link, doca_comch_client_set_max_msg_size(c, link->max_msg_size), "--size");
	if (link->queue > 0)
		ok &= doca_ok(link, doca_comch_client_set_recv_queue_size(c, link->queue),
				"--queue");
	ok &= doca_ok(link, doca_comch_client_task_send_set_conf(c, on_sent, on_unsent,
			nb_tasks(link)), "configure the tasks of a client");
	ok &= doca_ok(link, doca_comch_client_event_msg_recv_register(c, on_msg),
			"register the message callback of a client");
	ok &= doca_ok(link, doca_comch_client_event_consumer_register(c, on_consumer_new,
			on_consumer_expired), "register the consumer callbacks of a client");
	ok &= doca_ok(link, doca_ctx_set_state_changed_cb(ctx, on_client_state),
			"register the state callback of a client");
	return ok && doca_start(link, link->poll, ctx, client, "connect") ? 0 : -ECANCELED;
}

/* The context of client i, or of the server on the DPU side. */
static struct doca_ctx *
ctx_of(const struct link *link, uint32_t i)
{
	const struct doca_link *l = link->priv;

	return link->host ? doca_comch_client_as_ctx(l->clients[i].client) :
		doca_comch_server_as_ctx(l->server);
}

static void
doca_stop(struct link *link, uint32_t i)
{
	doca_ctx_stop(ctx_of(link, i));
}

static bool
doca_idle(struct link *link, uint32_t i)
{
	return doca_state(ctx_of(link, i)) == DOCA_CTX_STATE_IDLE;
}

static void
doca_destroy(struct link *link, uint32_t i)
{
	struct doca_link *l = link->priv;

	doca_comch_client_destroy(l->clients[i].client);
}

/* Submit a task for a message; its user data is the link. */
static doca_error_t
submit(struct link *link, struct doca_comch_connection *conn, const struct rte_comch_msg *msg)
{
	struct doca_link *l = link->priv;
	const union doca_data data = { .ptr = link };
	struct doca_comch_task_send *send;
	struct doca_task *task;
	doca_error_t ret;

	ret = link->host ?
		doca_comch_client_task_send_alloc_init(doca_comch_client_get_client_ctx(conn),
			conn, msg->data, msg->len, &send) :
		doca_comch_server_task_send_alloc_init(l->server, conn, msg->data, msg->len,
			&send);
	if (ret != DOCA_SUCCESS)
		return ret;
	task = doca_comch_task_send_as_task(send);
	doca_task_set_user_data(task, data);
	ret = doca_task_submit(task);
	if (ret != DOCA_SUCCESS)
		doca_task_free(task);
	return ret;
}

static uint16_t
doca_send(struct link *link, void *conn, const struct rte_comch_msg *msgs, uint16_t n)
{
	doca_error_t ret = DOCA_SUCCESS;
	uint16_t i;

	for (i = 0; i < n; i++) {
		ret = submit(link, conn, &msgs[i]);
		if (ret != DOCA_SUCCESS)
			break;
	}
	/* No free task, or the channel is full: the caller retries. */
	if (ret != DOCA_ERROR_NO_MEMORY && ret != DOCA_ERROR_AGAIN)
		doca_ok(link, ret, "send a message");
	return i;
}

static bool
doca_drained(struct link *link)
{
	return ((struct doca_link *)link->priv)->nb_up == 0;
}

const struct link_ops link_ops_doca = {
	.priv_size = sizeof(struct doca_link),
	.client_size = sizeof(struct client),
	.open = doca_open,
	.poll_open = doca_poll_open,
	.poll_close = doca_poll_close,
	.poll_run = doca_poll_run,
	.poll_sleep = doca_poll_sleep,
	.listen = doca_listen,
	.connect = doca_connect,
	.stop = doca_stop,
	.idle = doca_idle,
	.destroy = doca_destroy,
	.send = doca_send,
	.drained = doca_drained,
	.close = doca_close,
};
