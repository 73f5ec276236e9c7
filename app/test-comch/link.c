/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Servers, clients and connections, and the events of all objects. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "app_text.h"
#include "stream.h"
#include "tc.h"

/** Messages that are printed in a second. */
#define MAX_PRINTED 50

int
tc_server_make(struct tc_server *s)
{
	struct rte_comch_server *server;

	s->conf.conf_size = sizeof(s->conf);
	s->conf.poll = tc.poll;
	s->conf.name = s->listen;
	s->conf.user_data = (uintptr_t)s;
	server = rte_comch_server_create(s->dev_id, &s->conf);
	if (server == NULL)
		return -rte_errno;
	if (s->server != NULL)
		rte_comch_server_destroy(s->server);
	s->server = server;
	return 0;
}

int
tc_client_make(struct tc_client *c)
{
	struct rte_comch_client *client;

	c->conf.conf_size = sizeof(c->conf);
	c->conf.poll = tc.poll;
	c->conf.name = c->connect;
	c->conf.user_data = (uintptr_t)c;
	client = rte_comch_client_create(c->dev_id, &c->conf);
	if (client == NULL)
		return -rte_errno;
	if (c->client != NULL)
		rte_comch_client_destroy(c->client);
	c->client = client;
	return 0;
}

static struct tc_conn *
conn_of(struct rte_comch_conn *conn)
{
	return (struct tc_conn *)(uintptr_t)rte_comch_conn_user_data_get(conn);
}

struct tc_obj *
tc_conn_child(const struct tc_conn *c)
{
	struct tc_producer *p;
	struct tc_consumer *q;

	TC_FOREACH(TC_PRODUCER, p)
		if (p->conn == c)
			return &p->obj;
	TC_FOREACH(TC_CONSUMER, q)
		if (q->conn == c)
			return &q->obj;
	return NULL;
}

void
tc_conn_reap(struct tc_conn *c)
{
	if (c->conn == NULL && tc_conn_child(c) == NULL)
		tc_obj_free(&c->obj);
}

/* The server or client of a connection. */
static struct tc_obj *
owner_of(struct rte_comch_conn *conn)
{
	struct tc_server *s;
	struct tc_client *c;

	TC_FOREACH(TC_SERVER, s)
		if (s->server != NULL && s->server == rte_comch_conn_server(conn))
			return &s->obj;
	TC_FOREACH(TC_CLIENT, c)
		if (c->client != NULL && c->client == rte_comch_conn_client(conn))
			return &c->obj;
	return NULL;
}

static struct tc_conn *
conn_new(struct rte_comch_conn *conn)
{
	struct tc_conn *c = tc_obj_new(TC_CONN, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->conn = conn;
	c->owner = owner_of(conn);
	rte_comch_conn_user_data_set(conn, (uintptr_t)c);
	return c;
}

static void
on_connect(const struct rte_comch_event *ev)
{
	bool pending = ev->type == RTE_COMCH_EVENT_CONNECT_REQUEST;
	struct rte_comch_conn_info info;
	struct tc_conn *c = conn_of(ev->conn);

	if (c == NULL)
		c = conn_new(ev->conn);
	if (c == NULL || rte_comch_conn_info_get(ev->conn, &info) != 0)
		return;
	c->pending = pending;
	if (pending)
		tc_notice("%s: request to %s from pid %d, uid %d; \"conn accept %s\" or "
			"\"conn reject %s REASON\"", c->obj.name, c->owner->name, info.peer_pid,
			info.peer_uid, c->obj.name, c->obj.name);
	else
		tc_notice("%s: up with %s, messages of up to %u bytes", c->obj.name,
			c->owner->name, info.max_msg_size);
}

/* End what uses a connection, which is gone after the next run of the poll. */
static void
on_disconnected(const struct rte_comch_event *ev)
{
	char reason[4 * RTE_COMCH_REASON_SIZE];
	struct tc_conn *c = conn_of(ev->conn);
	struct tc_producer *p;
	struct tc_consumer *q;

	if (c == NULL)
		return;
	app_printable(ev->text, ev->text != NULL ? strlen(ev->text) : 0, reason, sizeof(reason));
	tc_notice("%s: ended: %s", c->obj.name, *reason != '\0' ? reason :
		ev->status < 0 ? rte_strerror(-ev->status) : "closed");
	c->conn = NULL;
	TC_FOREACH(TC_PRODUCER, p)
		if (p->conn == c) {
			p->destroy = true;
			tc_stream_end(p->stream, c->obj.name);
		}
	TC_FOREACH(TC_CONSUMER, q)
		if (q->conn == c) {
			q->destroy = true;
			tc_stream_end(q->stream, c->obj.name);
		}
	tc_conn_reap(c);
}

/* Limit what is printed: a peer may send faster than a person can read. */
static bool
may_print(void)
{
	static unsigned int printed, dropped;
	static double since;
	double now = tc_now();

	if (!tc.show_messages)
		return false;
	if (now - since >= 1) {
		if (dropped > 0)
			tc_notice("(%u more messages were not printed)", dropped);
		since = now;
		printed = dropped = 0;
	}
	if (printed < MAX_PRINTED) {
		printed++;
		return true;
	}
	dropped++;
	return false;
}

static void
on_message(const struct rte_comch_event *ev)
{
	struct tc_conn *c = conn_of(ev->conn);
	char text[1024];

	if (c == NULL)
		return;
	c->rx_msgs++;
	if (!may_print())
		return;
	app_printable(ev->msg.data, ev->msg.len, text, sizeof(text));
	tc_notice("%s: received %u bytes: %s", c->obj.name, ev->msg.len, text);
}

static void
on_sent(const struct rte_comch_event *ev)
{
	struct tc_conn *c = conn_of(ev->conn);

	if (ev->status < 0 && c != NULL)
		tc_notice("%s: message not delivered: %s", c->obj.name,
			rte_strerror(-ev->status));
}

static void
on_target(const struct rte_comch_event *ev)
{
	bool new = ev->type == RTE_COMCH_EVENT_CONSUMER_NEW;
	struct tc_conn *c = conn_of(ev->conn);
	uint32_t id = ev->consumer.id, i;

	if (c == NULL)
		return;
	if (new && c->nb_targets < TC_MAX_TARGETS)
		c->targets[c->nb_targets++] = id;
	for (i = 0; !new && i < c->nb_targets; i++)
		if (c->targets[i] == id) {
			memmove(&c->targets[i], &c->targets[i + 1],
				(--c->nb_targets - i) * sizeof(c->targets[0]));
			break;
		}
	if (new)
		tc_notice("%s: the peer has consumer %u, queue %u", c->obj.name, id,
			ev->consumer.depth);
	else
		tc_notice("%s: the peer's consumer %u is gone", c->obj.name, id);
	if (!new)
		tc_stream_target_gone(c, id);
}

static void
on_state(const struct rte_comch_event *ev)
{
	const struct tc_obj *obj = (const struct tc_obj *)(uintptr_t)ev->user_data;
	char reason[4 * RTE_COMCH_REASON_SIZE];
	const char *text = ev->text;

	/* tc_queues_step() reports producers and consumers, but not why a start failed. */
	if (ev->obj_type != RTE_COMCH_OBJ_SERVER && ev->obj_type != RTE_COMCH_OBJ_CLIENT &&
			(ev->status == 0 || ev->state.prev != RTE_COMCH_STATE_STARTING))
		return;
	if (ev->obj_type == RTE_COMCH_OBJ_CLIENT)
		((struct tc_client *)(uintptr_t)ev->user_data)->told = ev->state.next;
	if (ev->status < 0 && text == NULL)
		text = rte_strerror(-ev->status);
	app_printable(text, text != NULL ? strlen(text) : 0, reason, sizeof(reason));
	tc_notice("%s: %s%s%s", obj->name, rte_comch_state_name(ev->state.next),
		*reason != '\0' ? ": " : "", reason);
}

void
tc_event(const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECT_REQUEST:
	case RTE_COMCH_EVENT_CONNECTED:
		on_connect(ev);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		on_disconnected(ev);
		break;
	case RTE_COMCH_EVENT_MSG:
		on_message(ev);
		break;
	case RTE_COMCH_EVENT_SENT:
		on_sent(ev);
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
	case RTE_COMCH_EVENT_CONSUMER_GONE:
		on_target(ev);
		break;
	case RTE_COMCH_EVENT_STATE:
		on_state(ev);
		break;
	default:
		break;
	}
}
