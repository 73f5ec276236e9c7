/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections of one side: open, number, wait and close; common to all APIs. */

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_branch_prediction.h>

#include "base/clock.h"
#include "engine/link.h"

#define MAX_ANNS     (2 * PERF_MAX_WORKERS)
/* Limit of concurrent connects, about half the backlog of a listening socket. */
#define MAX_STARTING 64
#define NUMBER_MAGIC UINT32_C(0x4e554d42)

int
link_fail(struct link *link, const char *format, ...)
{
	char text[PERF_ERROR_SIZE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	link->on_fail(link, text);
	return -ECANCELED;
}

static void
got_number(struct link *link, void *conn, const void *data, uint32_t len)
{
	struct link_number msg = { 0 };

	if (len == sizeof(msg))
		memcpy(&msg, data, sizeof(msg));
	if (msg.magic != NUMBER_MAGIC || msg.number >= link->nb_conns ||
			link->conns[msg.number] != NULL) {
		link_fail(link, "invalid first message of a connection: expected its number");
		return;
	}
	link->conns[msg.number] = conn;
	link->nb_up++;
}

void
link_client_up(struct link *link, uint32_t i, void *conn)
{
	struct link_number *number = &link->numbers[i];
	struct rte_comch_msg msg = {
		.data = number, .len = sizeof(*number), .flags = RTE_COMCH_MSG_F_SILENT,
	};

	if (link->on_up != NULL) {
		link->on_up(link, i);
		return;
	}
	*number = (struct link_number){ .magic = NUMBER_MAGIC, .number = i };
	if (link->ops->send(link, conn, &msg, 1) != 1) {
		link_fail(link, "connection %u: the first message was not accepted", i);
		return;
	}
	link->conns[i] = conn;
	link->nb_up++;
}

void
link_client_down(struct link *link, uint32_t i, const char *why)
{
	if (link->on_down != NULL)
		link->on_down(link, i, why);
	else if (why != NULL && !link->closing)
		link_fail(link, "%s", why);
}

void
link_lost(struct link *link, const char *why)
{
	if (link->on_down == NULL && !link->closing)
		link_fail(link, "connection ended%s%s", why != NULL ? ": " : "",
				why != NULL ? why : "");
}

void
link_got_msg(struct link *link, void *conn, const void *data, uint32_t len)
{
	if (unlikely(!link->host && link->nb_up < link->nb_conns))
		got_number(link, conn, data, len);
	else if (likely(link->on_msg != NULL))
		link->on_msg(link->msg_arg, conn, data, len);
	else if (!link->closing)
		link_fail(link, "unexpected control message");
}

void
link_got_consumer(struct link *link, const void *conn, uint32_t id)
{
	if (link->nb_anns == MAX_ANNS) {
		link_fail(link, "peer announced more than %u consumers", MAX_ANNS);
		return;
	}
	link->anns[link->nb_anns].conn = conn;
	link->anns[link->nb_anns++].id = id;
}

bool
link_announced(const struct link *link, const void *conn, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < link->nb_anns; i++) {
		if (link->anns[i].conn == conn && link->anns[i].id == id)
			return true;
	}
	return false;
}

void
link_sleep(const struct link *link, struct link_poll *poll_on, uint32_t cls)
{
	link->ops->poll_sleep(poll_on, cls, LINK_SLEEP_MS);
}

void
link_idle(struct link *link, uint32_t cls)
{
	if (link->sleeps)
		link_sleep(link, link->poll, cls);
	else if (link->crowded && ++link->nb_idle % LINK_SPINS == 0)
		sched_yield();
}

int
link_until(struct link *link, int timeout_ms, bool (*done)(struct link *link, void *arg),
		void *arg)
{
	uint64_t end = clock_deadline(timeout_ms);
	int n;

	while (!done(link, arg)) {
		n = link->pump(link);
		if (n < 0)
			return -ECANCELED;
		if (n == 0)
			usleep(LINK_NAP_US);
		if (clock_mono_ns() > end)
			return -ETIMEDOUT;
	}
	return 0;
}

int
link_wait(struct link *link, const char *what, int timeout_ms,
		bool (*done)(struct link *link, void *arg))
{
	int rc = link_until(link, timeout_ms, done, NULL);

	return rc != -ETIMEDOUT ? rc : link_fail(link, "%s: timeout after %d ms", what, timeout_ms);
}

int
link_open(struct link *link)
{
	link->opened = true;
	link->priv = calloc(1, link->ops->priv_size + link->nb_conns * link->ops->client_size);
	link->conns = calloc(link->nb_conns + 1, sizeof(link->conns[0]));
	link->numbers = calloc(link->nb_conns + 1, sizeof(link->numbers[0]));
	link->anns = calloc(MAX_ANNS, sizeof(link->anns[0]));
	if (link->priv == NULL || link->conns == NULL || link->numbers == NULL ||
			link->anns == NULL) {
		free(link->priv);
		link->priv = NULL;
		return link_fail(link, "not enough memory for %u connections", link->nb_conns);
	}
	if (link->ops->open(link) != 0)
		return -ECANCELED;
	if (link->sleeps && link->poll->fd < 0)
		return link_fail(link, "--wait: the device has no event descriptor");
	return link->host || link->nb_conns == 0 ? 0 : link->ops->listen(link);
}

/* Are all connections up? The host side starts more, up to MAX_STARTING at a time. */
static bool
is_up(struct link *link, void *unused)
{
	(void)unused;
	while (link->host && link->nb_started < link->nb_conns &&
			link->nb_started - link->nb_up < MAX_STARTING) {
		if (link->ops->connect(link, link->nb_started) != 0)
			break;
		link->nb_started++;
	}
	return link->nb_up == link->nb_conns;
}

int
link_up(struct link *link)
{
	return link_wait(link, "connect", LINK_TIMEOUT_MS + (int)link->nb_conns, is_up);
}

void
link_destroy(struct link *link, uint32_t i)
{
	if (link->ops->destroy != NULL)
		link->ops->destroy(link, i);
}

static bool
all_disconnected(struct link *link, void *unused)
{
	(void)unused;
	return link->ops->drained(link);
}

/* Number of clients; the DPU side has one server. */
static uint32_t
nb_objects(const struct link *link)
{
	return link->host ? link->nb_conns : 1;
}

static bool
is_idle(struct link *link, void *unused)
{
	uint32_t i;

	(void)unused;
	for (i = 0; i < nb_objects(link); i++) {
		if (!link->ops->idle(link, i))
			return false;
	}
	return true;
}

void
link_close(struct link *link, bool peer_lost)
{
	uint32_t i;

	if (!link->opened)
		return;
	link->opened = false;
	link->closing = true;
	link->on_msg = NULL;
	link->on_up = NULL;
	link->on_down = NULL;
	if (link->priv != NULL && link->nb_conns > 0) {
		/* The host side disconnects first, unless it already exited. */
		if (!link->host && !peer_lost)
			link_wait(link, "wait for clients to disconnect", LINK_TIMEOUT_MS,
					all_disconnected);
		for (i = 0; i < nb_objects(link); i++)
			link->ops->stop(link, i);
		link_wait(link, link->host ? "disconnect" : "stop the server",
				LINK_TIMEOUT_MS, is_idle);
		for (i = 0; link->host && i < link->nb_conns; i++)
			link_destroy(link, i);
	}
	if (link->priv != NULL)
		link->ops->close(link);
	free(link->priv);
	link->priv = NULL;
	link->poll = NULL;
	free(link->anns);
	free(link->numbers);
	free(link->conns);
}
