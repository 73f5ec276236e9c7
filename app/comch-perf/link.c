/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>

#include "clock.h"
#include "perf_test.h"
#include "proc.h"

#define EVENTS       32
#define NAP_US       50
/* Fruitless runs before a side without a CPU of its own gives it away. */
#define SPINS        64
/* A lost wake-up must not hang a measurement. */
#define SLEEP_MS     10
#define MAX_ANNS     (2 * PERF_MAX_WORKERS)
/* Connecting at once: a listening socket holds about twice as many. */
#define MAX_STARTING 64
#define NUMBER_MAGIC UINT32_C(0x4e554d42)

/* A client's first message. */
struct number_msg {
	uint32_t magic;
	uint32_t number;
};

static void
on_number(struct perf_run *run, const struct rte_comch_event *ev)
{
	struct link *link = &run->link;
	struct number_msg msg;

	if (ev->msg.len != sizeof(msg)) {
		perf_run_fail(run, "a connection does not say its number");
		return;
	}
	memcpy(&msg, ev->msg.data, sizeof(msg));
	if (msg.magic != NUMBER_MAGIC || msg.number >= link->nb_conns ||
			link->conns[msg.number] != NULL) {
		perf_run_fail(run, "a connection says a wrong number");
		return;
	}
	link->conns[msg.number] = ev->conn;
	link->nb_up++;
}

static void
on_connected(struct perf_run *run, const struct rte_comch_event *ev)
{
	struct link *link = &run->link;
	struct number_msg number = { .magic = NUMBER_MAGIC };
	struct rte_comch_msg msg = {
		.data = &number,
		.len = sizeof(number),
		.flags = RTE_COMCH_MSG_F_SILENT,
	};

	if (!run->leader)
		return; /* it has yet to say its number */
	number.number = (uint32_t)rte_comch_conn_user_data_get(ev->conn);
	if (number.number >= link->nb_conns ||
			rte_comch_conn_send_burst(ev->conn, &msg, 1) != 1) {
		perf_run_fail(run, "a new connection takes no message");
		return;
	}
	link->conns[number.number] = ev->conn;
	link->nb_up++;
}

static void
on_announced(struct perf_run *run, const struct rte_comch_event *ev)
{
	struct link *link = &run->link;

	if (link->nb_anns == MAX_ANNS) {
		perf_run_fail(run, "more consumers were announced than there are");
		return;
	}
	link->anns[link->nb_anns].conn = ev->conn;
	link->anns[link->nb_anns++].id = ev->consumer.id;
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
		if (!run->leader && link->nb_up < link->nb_conns)
			on_number(run, ev);
		else if (link->on_msg != NULL)
			link->on_msg(run, ev->conn, ev->msg.data, ev->msg.len);
		else if (!link->closing)
			perf_run_fail(run, "a control message that nobody expected");
		break;
	case RTE_COMCH_EVENT_SENT:
		link->nb_unsent += ev->status != 0;
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		on_announced(run, ev);
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

uint16_t
link_poll(struct perf_run *run)
{
	struct rte_comch_event evs[EVENTS];
	uint16_t n;
	uint16_t i;

	n = rte_comch_poll_run(run->link.poll, evs, EVENTS);
	for (i = 0; i < n; i++)
		on_event(run, &evs[i]);
	return n;
}

void
link_idle(struct perf_run *run, uint32_t cls)
{
	struct link *link = &run->link;
	struct pollfd pfd = { .fd = link->fd, .events = POLLIN };

	if (run->params.wait == PERF_WAIT_EVENT) {
		if (rte_comch_poll_arm(link->poll, cls | RTE_COMCH_POLL_LINK) == 0)
			poll(&pfd, 1, SLEEP_MS);
	} else if (run->params.crowded && ++link->idle % SPINS == 0) {
		sched_yield();
	}
}

int
link_pump(void *arg)
{
	struct perf_run *run = arg;

	link_poll(run);
	return perf_run_over(run) ? -ECANCELED : 0;
}

int
link_wait(struct perf_run *run, const char *what, int timeout_ms,
		bool (*done)(struct perf_run *run), void (*step)(struct perf_run *run))
{
	uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * 1000000;

	while (!done(run)) {
		if (link_poll(run) == 0)
			usleep(NAP_US);
		if (step != NULL)
			step(run);
		if (!run->link.closing)
			perf_run_sync(run);
		if (!run->link.closing && perf_run_over(run))
			return -ECANCELED;
		if (clock_mono_ns() > end)
			return perf_run_fail(run, "%s: not in %d ms", what, timeout_ms);
	}
	return 0;
}

bool
link_announced(const struct link *link, const struct rte_comch_conn *conn,
		uint32_t id)
{
	uint32_t i;

	for (i = 0; i < link->nb_anns; i++) {
		if (link->anns[i].conn == conn && link->anns[i].id == id)
			return true;
	}
	return false;
}

/* Is it control messages that are measured? Others carry their number only. */
static bool
is_ctrl(const struct perf_run *run)
{
	return (run->test->options & PERF_OPT_API) == 0;
}

/* Depth of the control queues: as asked, but no more than the device has. */
static uint32_t
ctrl_queue(const struct perf_run *run)
{
	uint32_t most = RTE_MIN(run->info.max_recv_queue, run->info.max_send_queue);

	return is_ctrl(run) ? RTE_MIN(run->params.queue, most) : 0;
}

static uint32_t
ctrl_size(const struct perf_run *run)
{
	uint64_t size = is_ctrl(run) ? run->params.size : 0;

	return (uint32_t)RTE_MAX(size, sizeof(struct number_msg));
}

static int
listen_for_clients(struct perf_run *run)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf),
		.poll = run->link.poll,
		.name = LINK_SERVER_NAME,
		.rep = run->rep,
		.max_msg_size = ctrl_size(run),
		.recv_queue = ctrl_queue(run),
		.send_queue = ctrl_queue(run),
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

int
link_open(struct perf_run *run)
{
	struct link *link = &run->link;

	link->fd = -1;
	link->nb_conns = run->params.connections;
	link->poll = rte_comch_poll_create(NULL);
	link->conns = calloc(link->nb_conns, sizeof(link->conns[0]));
	link->clients = calloc(link->nb_conns, sizeof(link->clients[0]));
	link->anns = calloc(MAX_ANNS, sizeof(link->anns[0]));
	if (link->poll == NULL || link->conns == NULL || link->clients == NULL ||
			link->anns == NULL)
		return perf_run_fail(run, "no memory for %u connections",
				link->nb_conns);
	if ((run->info.capa & RTE_COMCH_CAPA_EVENT_FD) != 0)
		link->fd = rte_comch_poll_fd(link->poll, RTE_COMCH_POLL_ANY);
	if (run->params.wait == PERF_WAIT_EVENT && link->fd < 0)
		return perf_run_fail(run, "--wait event: the device cannot sleep");
	return run->leader ? 0 : listen_for_clients(run);
}

static int
start_client(struct perf_run *run, uint32_t i)
{
	struct link *link = &run->link;
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.poll = link->poll,
		.name = LINK_SERVER_NAME,
		.max_msg_size = ctrl_size(run),
		.recv_queue = ctrl_queue(run),
		.send_queue = ctrl_queue(run),
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
is_up(struct perf_run *run)
{
	return run->link.nb_up == run->link.nb_conns;
}

/* A few at a time. */
static void
start_more(struct perf_run *run)
{
	struct link *link = &run->link;

	while (link->nb_started < link->nb_conns &&
			link->nb_started - link->nb_up < MAX_STARTING) {
		if (start_client(run, link->nb_started) != 0)
			break;
		link->nb_started++;
	}
}

int
link_up(struct perf_run *run)
{
	int timeout_ms = LINK_TIMEOUT_MS + (int)run->link.nb_conns;

	return link_wait(run, "connecting", timeout_ms, is_up,
			run->leader ? start_more : NULL);
}

static bool
all_idle(struct perf_run *run)
{
	struct link *link = &run->link;
	uint32_t i;

	for (i = 0; run->leader && i < link->nb_conns; i++) {
		if (rte_comch_client_state(link->clients[i]) != RTE_COMCH_STATE_IDLE)
			return false;
	}
	return link->server == NULL ||
		rte_comch_server_state(link->server) == RTE_COMCH_STATE_IDLE;
}

static bool
all_left(struct perf_run *run)
{
	return rte_comch_server_nb_conns(run->link.server) == 0;
}

static void
close_clients(struct perf_run *run)
{
	struct link *link = &run->link;
	uint32_t i;

	for (i = 0; i < link->nb_conns; i++) {
		enum rte_comch_state state = rte_comch_client_state(link->clients[i]);

		/* It stops by itself when the other side has gone. */
		if (state == RTE_COMCH_STATE_STARTING ||
				state == RTE_COMCH_STATE_RUNNING)
			rte_comch_client_stop(link->clients[i]);
	}
	link_wait(run, "disconnecting", LINK_TIMEOUT_MS, all_idle, NULL);
	for (i = 0; i < link->nb_conns; i++) {
		if (link->clients[i] != NULL)
			rte_comch_client_destroy(link->clients[i]);
	}
}

static void
close_server(struct perf_run *run)
{
	struct link *link = &run->link;

	/* The host side leads here too; it is not waited for if it is gone. */
	if (!proc_quit() && run->error[0] == '\0')
		link_wait(run, "waiting for clients to leave", LINK_TIMEOUT_MS,
				all_left, NULL);
	rte_comch_server_stop(link->server);
	link_wait(run, "closing the server", LINK_TIMEOUT_MS, all_idle, NULL);
	rte_comch_server_destroy(link->server);
}

void
link_close(struct perf_run *run)
{
	struct link *link = &run->link;

	link->closing = true;
	link->on_msg = NULL;
	link->on_event = NULL;
	if (link->poll != NULL && link->clients != NULL && run->leader)
		close_clients(run);
	if (link->server != NULL)
		close_server(run);
	if (link->poll != NULL) {
		/* What was destroyed is freed by the next run. */
		rte_comch_poll_run(link->poll, NULL, 0);
		rte_comch_poll_destroy(link->poll);
	}
	free(link->anns);
	free(link->clients);
	free(link->conns);
	memset(link, 0, sizeof(*link));
}
