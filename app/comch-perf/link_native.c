/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections of librte_comch itself. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "perf_test.h"

#define EVENTS   32

static uint16_t
native_send(struct perf_run *run, void *conn, const struct rte_comch_msg *msgs, uint16_t n)
{
	(void)run;
	return rte_comch_conn_send_burst(conn, msgs, n);
}

static void
on_connected(struct perf_run *run, const struct rte_comch_event *ev)
{
	/* The other side's has yet to say its number. */
	if (run->leader)
		link_client_up(run, rte_comch_conn_user_data_get(ev->conn), ev->conn);
}

/* Why something ended, in words. */
static const char *
reason(const struct rte_comch_event *ev)
{
	return ev->text != NULL ? ev->text : strerror(-ev->status);
}

static void
on_event(struct perf_run *run, const struct rte_comch_event *ev)
{
	struct link *link = &run->link;

	if (link->on_event != NULL && link->on_event(run, ev))
		return;
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		on_connected(run, ev);
		break;
	case RTE_COMCH_EVENT_MSG:
		link_got_msg(run, ev->conn, ev->msg.data, ev->msg.len);
		break;
	case RTE_COMCH_EVENT_SENT:
		link->nb_unsent += ev->status != 0;
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		link_got_consumer(run, ev->conn, ev->consumer.id);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		if (!link->closing)
			perf_run_fail(run, "a connection ended: %s", reason(ev));
		break;
	case RTE_COMCH_EVENT_STATE:
		if (ev->status < 0 && !link->closing)
			perf_run_fail(run, "%s", reason(ev));
		break;
	default:
		break;
	}
}

static uint16_t
native_poll(struct perf_run *run)
{
	struct rte_comch_event evs[EVENTS];
	uint16_t n;
	uint16_t i;

	n = rte_comch_poll_run(run->link.poll, evs, EVENTS);
	for (i = 0; i < n; i++)
		on_event(run, &evs[i]);
	return n;
}

static void
native_sleep(struct perf_run *run, uint32_t cls)
{
	struct link *link = &run->link;
	struct pollfd pfd = { .fd = link->fd, .events = POLLIN };

	if (rte_comch_poll_arm(link->poll, cls | RTE_COMCH_POLL_LINK) == 0)
		poll(&pfd, 1, LINK_SLEEP_MS);
}

static int
native_open(struct perf_run *run)
{
	struct link *link = &run->link;

	link->poll = rte_comch_poll_create(NULL);
	link->clients = calloc(link->nb_conns, sizeof(link->clients[0]));
	if (link->poll == NULL || link->clients == NULL)
		return perf_run_fail(run, "no memory for %u connections",
				link->nb_conns);
	if ((run->info.capa & RTE_COMCH_CAPA_EVENT_FD) != 0)
		link->fd = rte_comch_poll_fd(link->poll, RTE_COMCH_POLL_ANY);
	return 0;
}

static int
native_listen(struct perf_run *run)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf),
		.poll = run->link.poll,
		.name = LINK_SERVER_NAME,
		.rep = run->rep,
		.max_msg_size = link_ctrl_size(run),
		.recv_queue = link_ctrl_queue(run),
		.send_queue = link_ctrl_queue(run),
	};
	int rc;

	run->link.server = rte_comch_server_create(run->dev_id, &conf);
	if (run->link.server == NULL)
		return perf_run_fail(run, "no server: %s", strerror(rte_errno));
	rc = rte_comch_server_start(run->link.server);
	if (rc != 0)
		return perf_run_fail(run, "cannot listen: %s", strerror(-rc));
	return 0;
}

static int
native_start_client(struct perf_run *run, uint32_t i)
{
	struct link *link = &run->link;
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.poll = link->poll,
		.name = LINK_SERVER_NAME,
		.max_msg_size = link_ctrl_size(run),
		.recv_queue = link_ctrl_queue(run),
		.send_queue = link_ctrl_queue(run),
		.connect_timeout_ms = LINK_TIMEOUT_MS,
		.user_data = i,
	};
	int rc;

	link->clients[i] = rte_comch_client_create(run->dev_id, &conf);
	if (link->clients[i] == NULL)
		return perf_run_fail(run, "no client: %s", strerror(rte_errno));
	rc = rte_comch_client_start(link->clients[i]);
	if (rc != -EINPROGRESS)
		return perf_run_fail(run, "a client does not start: %s", strerror(-rc));
	rte_comch_conn_user_data_set(rte_comch_client_conn(link->clients[i]), i);
	return 0;
}

static bool
native_all_idle(struct perf_run *run)
{
	struct link *link = &run->link;
	uint32_t i;

	for (i = 0; link->clients != NULL && i < link->nb_conns; i++) {
		if (rte_comch_client_state(link->clients[i]) != RTE_COMCH_STATE_IDLE)
			return false;
	}
	return link->server == NULL ||
		rte_comch_server_state(link->server) == RTE_COMCH_STATE_IDLE;
}

static bool
native_all_left(struct perf_run *run)
{
	return run->link.server == NULL ||
		rte_comch_server_nb_conns(run->link.server) == 0;
}

static void
native_stop_clients(struct perf_run *run)
{
	struct link *link = &run->link;
	uint32_t i;

	for (i = 0; link->clients != NULL && i < link->nb_conns; i++) {
		enum rte_comch_state state = rte_comch_client_state(link->clients[i]);

		/* It stops by itself when the other side has gone. */
		if (state == RTE_COMCH_STATE_STARTING ||
				state == RTE_COMCH_STATE_RUNNING)
			rte_comch_client_stop(link->clients[i]);
	}
}

static void
native_stop_server(struct perf_run *run)
{
	if (run->link.server != NULL)
		rte_comch_server_stop(run->link.server);
}

static void
native_close(struct perf_run *run)
{
	struct link *link = &run->link;
	uint32_t i;

	for (i = 0; link->clients != NULL && i < link->nb_conns; i++) {
		if (link->clients[i] != NULL)
			rte_comch_client_destroy(link->clients[i]);
	}
	if (link->server != NULL)
		rte_comch_server_destroy(link->server);
	if (link->poll != NULL) {
		/* What was destroyed is freed by the next run. */
		rte_comch_poll_run(link->poll, NULL, 0);
		rte_comch_poll_destroy(link->poll);
	}
	free(link->clients);
}

const struct link_ops link_ops_native = {
	.open = native_open,
	.listen = native_listen,
	.start_client = native_start_client,
	.send = native_send,
	.poll = native_poll,
	.sleep = native_sleep,
	.stop_clients = native_stop_clients,
	.all_left = native_all_left,
	.stop_server = native_stop_server,
	.all_idle = native_all_idle,
	.close = native_close,
};
