/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections and control messages, with the calls of librte_comch. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "api/api.h"
#include "api/native.h"

#define EVENTS 32

struct native {
	int16_t own_dev; /* -1: none, the caller opened the device */
	int16_t dev_id;
	struct rte_comch_server *server;    /* DPU side */
	struct rte_comch_client *clients[]; /* host side */
};

static void
native_poll_close(struct link_poll *base)
{
	struct native_poll *p = (struct native_poll *)base;

	/* A run frees the objects destroyed before it. */
	rte_comch_poll_run(p->poll, NULL, 0);
	rte_comch_poll_destroy(p->poll);
	free(p);
}

static struct link_poll *
native_poll_open(struct link *link)
{
	struct native_poll *p = calloc(1, sizeof(*p));

	if (p == NULL || (p->poll = rte_comch_poll_create(NULL)) == NULL) {
		link_fail(link, "create a poll: %s", rte_strerror(p == NULL ? ENOMEM : rte_errno));
		free(p);
		return NULL;
	}
	p->base.fd = link->sleeps && (link->info == NULL ||
			(link->info->capa & RTE_COMCH_CAPA_EVENT_FD) != 0) ?
		rte_comch_poll_fd(p->poll, RTE_COMCH_POLL_ANY) : -1;
	return &p->base;
}

static void
native_poll_sleep(struct link_poll *poll, uint32_t cls, int timeout_ms)
{
	rte_comch_poll_wait(native_poll(poll), cls | RTE_COMCH_POLL_LINK, timeout_ms);
}

/* The reason of an event, as text. */
static const char *
reason(const struct rte_comch_event *ev)
{
	return ev->text != NULL ? ev->text : strerror(-ev->status);
}

/* State event of a client, or of another object on this poll. */
static void
on_state(struct link *link, const struct rte_comch_event *ev)
{
	struct native *l = link->priv;
	uint64_t i = ev->user_data;

	if (link->host && i < link->nb_conns && ev->obj.client == l->clients[i]) {
		if (ev->state.next == RTE_COMCH_STATE_RUNNING)
			link_client_up(link, (uint32_t)i, rte_comch_client_conn(l->clients[i]));
		else if (ev->state.next == RTE_COMCH_STATE_IDLE)
			link_client_down(link, (uint32_t)i, ev->status < 0 ? reason(ev) : NULL);
	} else if (ev->status < 0 && !link->closing) {
		link_fail(link, "%s", reason(ev));
	}
}

static void
on_event(struct link *link, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_MSG:
		link_got_msg(link, ev->conn, ev->msg.data, ev->msg.len);
		break;
	case RTE_COMCH_EVENT_CONNECTED:
		link->nb_joined += !link->host;
		break;
	case RTE_COMCH_EVENT_SENT:
		link->nb_unsent += ev->status != 0;
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		link_got_consumer(link, ev->conn, ev->consumer.id);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		link_lost(link, reason(ev));
		break;
	case RTE_COMCH_EVENT_STATE:
		on_state(link, ev);
		break;
	default:
		break;
	}
}

static uint16_t
native_poll_run(struct link_poll *base)
{
	struct native_poll *p = (struct native_poll *)base;
	struct rte_comch_event evs[EVENTS];
	uint16_t n = rte_comch_poll_run(p->poll, evs, EVENTS);
	uint16_t i;

	for (i = 0; i < n && p->link != NULL; i++)
		on_event(p->link, &evs[i]);
	return n;
}

/* Open a device for one side of a pair within this process. */
static int
probe(struct link *link, int16_t *dev_id)
{
	int rc = rte_comch_dev_probe(link->host ? "comch_shm9,role=host,func=pf0" :
			"comch_shm8,role=dpu,rep=pf0", dev_id);

	return rc == 0 ? 0 : link_fail(link, "probe a device: %s", strerror(-rc));
}

static int
native_open(struct link *link)
{
	struct native *l = link->priv;

	l->own_dev = -1;
	l->dev_id = link->dev_id;
	if (link->dev_id < 0 && link->nb_conns > 0) {
		if (probe(link, &l->own_dev) != 0)
			return -ECANCELED;
		l->dev_id = l->own_dev;
	}
	link->poll = native_poll_open(link);
	if (link->poll == NULL)
		return -ECANCELED;
	((struct native_poll *)link->poll)->link = link;
	return 0;
}

static void
native_close(struct link *link)
{
	struct native *l = link->priv;

	rte_comch_server_destroy(l->server);
	if (link->poll != NULL)
		native_poll_close(link->poll);
	if (l->own_dev >= 0)
		rte_comch_dev_close(l->own_dev);
}

static int
native_listen(struct link *link)
{
	struct native *l = link->priv;
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf),
		.poll = native_poll(link->poll),
		.name = link->name,
		.max_msg_size = link->max_msg_size,
		.recv_queue = link->queue,
		.send_queue = link->queue,
		.max_clients = link->max_clients,
	};
	int rc;

	l->server = rte_comch_server_create(l->dev_id, &conf);
	if (l->server == NULL)
		return link_fail(link, "create a server: %s", rte_strerror(rte_errno));
	rc = rte_comch_server_start(l->server);
	return rc == 0 ? 0 : link_fail(link, "start the server: %s", strerror(-rc));
}

static int
native_connect(struct link *link, uint32_t i)
{
	struct native *l = link->priv;
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.poll = native_poll(link->poll),
		.name = link->name,
		.max_msg_size = link->max_msg_size,
		.recv_queue = link->queue,
		.send_queue = link->queue,
		.connect_timeout_ms = link->timeout_ms,
		.user_data = i,
	};
	int rc;

	l->clients[i] = rte_comch_client_create(l->dev_id, &conf);
	if (l->clients[i] == NULL)
		return link_fail(link, "create a client: %s", rte_strerror(rte_errno));
	rc = rte_comch_client_start(l->clients[i]);
	return rc == -EINPROGRESS ? 0 :
		link_fail(link, "start a client: %s", strerror(-rc));
}

static void
native_stop(struct link *link, uint32_t i)
{
	struct native *l = link->priv;
	enum rte_comch_state state = rte_comch_client_state(l->clients[i]);

	/* A client stops on its own when the peer disconnects. */
	if (!link->host && l->server != NULL)
		rte_comch_server_stop(l->server);
	else if (link->host && (state == RTE_COMCH_STATE_STARTING ||
			state == RTE_COMCH_STATE_RUNNING))
		rte_comch_client_stop(l->clients[i]);
}

static bool
native_idle(struct link *link, uint32_t i)
{
	const struct native *l = link->priv;

	return (link->host ? rte_comch_client_state(l->clients[i]) :
		rte_comch_server_state(l->server)) == RTE_COMCH_STATE_IDLE;
}

static void
native_destroy(struct link *link, uint32_t i)
{
	struct native *l = link->priv;

	rte_comch_client_destroy(l->clients[i]);
	l->clients[i] = NULL;
}

static uint16_t
native_send(struct link *link, void *conn, const struct rte_comch_msg *msgs, uint16_t n)
{
	(void)link;
	return rte_comch_conn_send_burst(conn, msgs, n);
}

static bool
native_drained(struct link *link)
{
	struct native *l = link->priv;

	return l->server == NULL || rte_comch_server_nb_conns(l->server) == 0;
}

const struct link_ops link_ops_native = {
	.priv_size = sizeof(struct native),
	.client_size = sizeof(struct rte_comch_client *),
	.open = native_open,
	.poll_open = native_poll_open,
	.poll_close = native_poll_close,
	.poll_run = native_poll_run,
	.poll_sleep = native_poll_sleep,
	.listen = native_listen,
	.connect = native_connect,
	.stop = native_stop,
	.idle = native_idle,
	.destroy = native_destroy,
	.send = native_send,
	.drained = native_drained,
	.close = native_close,
};
