/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#include "base/clock.h"
#include "perf_test.h"
#include "proc.h"

#define NAP_US       50
/* Fruitless runs before a side without a CPU of its own gives it away. */
#define SPINS        64
#define MAX_ANNS     (2 * PERF_MAX_WORKERS)
/* Connecting at once: a listening socket holds about twice as many. */
#define MAX_STARTING 64
#define NUMBER_MAGIC UINT32_C(0x4e554d42)

static const struct link_ops *const all_ops[] = {
	[PERF_API_DESC] = &link_ops_native,
	[PERF_API_MBUF] = &link_ops_native,
#ifdef COMCH_APP_DOCA
	[PERF_API_DOCA] = &link_ops_doca,
	[PERF_API_COMM_CHANNEL] = &link_ops_cchan,
#endif
};

/* A client's first message. */
struct link_number {
	uint32_t magic;
	uint32_t number;
};

static void
on_number(struct perf_run *run, void *conn, const void *data, uint32_t len)
{
	struct link *link = &run->link;
	struct link_number msg;

	if (len != sizeof(msg)) {
		perf_run_fail(run, "a connection does not say its number");
		return;
	}
	memcpy(&msg, data, sizeof(msg));
	if (msg.magic != NUMBER_MAGIC || msg.number >= link->nb_conns ||
			link->conns[msg.number] != NULL) {
		perf_run_fail(run, "a connection says a wrong number");
		return;
	}
	link->conns[msg.number] = conn;
	link->nb_up++;
}

void
link_client_up(struct perf_run *run, uint64_t number, void *conn)
{
	struct link *link = &run->link;
	struct rte_comch_msg msg = {
		.data = &link->numbers[number],
		.len = sizeof(link->numbers[number]),
		.flags = RTE_COMCH_MSG_F_SILENT,
	};

	if (number >= link->nb_conns) {
		perf_run_fail(run, "a connection of no client");
		return;
	}
	link->numbers[number].magic = NUMBER_MAGIC;
	link->numbers[number].number = (uint32_t)number;
	if (link->ops->send(run, conn, &msg, 1) != 1) {
		perf_run_fail(run, "a new connection takes no message");
		return;
	}
	link->conns[number] = conn;
	link->nb_up++;
}

void
link_got_msg(struct perf_run *run, void *conn, const void *data, uint32_t len)
{
	struct link *link = &run->link;

	if (unlikely(!run->leader && link->nb_up < link->nb_conns))
		on_number(run, conn, data, len);
	else if (likely(link->on_msg != NULL))
		link->on_msg(run, conn, data, len);
	else if (!link->closing)
		perf_run_fail(run, "a control message that nobody expected");
}

void
link_got_consumer(struct perf_run *run, const void *conn, uint32_t id)
{
	struct link *link = &run->link;

	if (link->nb_anns == MAX_ANNS) {
		perf_run_fail(run, "more consumers were announced than there are");
		return;
	}
	link->anns[link->nb_anns].conn = conn;
	link->anns[link->nb_anns++].id = id;
}

uint16_t
link_poll(struct perf_run *run)
{
	/* A test that is alone has none. */
	return run->link.ops == NULL ? 0 : run->link.ops->poll(run);
}

void
link_idle(struct perf_run *run, uint32_t cls)
{
	struct link *link = &run->link;

	if (run->params.wait == PERF_WAIT_EVENT)
		link->ops->sleep(run, cls);
	else if (run->params.crowded && ++link->idle % SPINS == 0)
		sched_yield();
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
link_announced(const struct link *link, const void *conn, uint32_t id)
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
	return (run->test->options & PERF_OPT_MEMORY) == 0;
}

/* Depth of the control queues: as asked, but no more than the device has. */
uint32_t
link_ctrl_queue(const struct perf_run *run)
{
	uint32_t most = RTE_MIN(run->info.max_recv_queue, run->info.max_send_queue);

	return is_ctrl(run) ? RTE_MIN(run->params.queue, most) : 0;
}

uint32_t
link_ctrl_size(const struct perf_run *run)
{
	uint64_t size = is_ctrl(run) ? run->params.size : 0;

	return (uint32_t)RTE_MAX(size, sizeof(struct link_number));
}

int
link_open(struct perf_run *run)
{
	struct link *link = &run->link;

	link->ops = all_ops[run->params.api];
	link->fd = -1;
	link->nb_conns = run->params.connections;
	link->conns = calloc(link->nb_conns, sizeof(link->conns[0]));
	link->numbers = calloc(link->nb_conns, sizeof(link->numbers[0]));
	link->anns = calloc(MAX_ANNS, sizeof(link->anns[0]));
	if (link->conns == NULL || link->numbers == NULL || link->anns == NULL)
		return perf_run_fail(run, "no memory for %u connections",
				link->nb_conns);
	if (link->ops->open(run) != 0)
		return -ECANCELED;
	if (run->params.wait == PERF_WAIT_EVENT && link->fd < 0)
		return perf_run_fail(run, "--wait event: the device cannot sleep");
	return run->leader ? 0 : link->ops->listen(run);
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
		if (link->ops->start_client(run, link->nb_started) != 0)
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

static void
close_clients(struct perf_run *run)
{
	run->link.ops->stop_clients(run);
	link_wait(run, "disconnecting", LINK_TIMEOUT_MS, run->link.ops->all_idle, NULL);
}

static void
close_server(struct perf_run *run)
{
	const struct link_ops *ops = run->link.ops;

	/* The host side leads here too; it is not waited for if it is gone. */
	if (!proc_quit() && run->error[0] == '\0')
		link_wait(run, "waiting for clients to leave", LINK_TIMEOUT_MS,
				ops->all_left, NULL);
	ops->stop_server(run);
	link_wait(run, "closing the server", LINK_TIMEOUT_MS, ops->all_idle, NULL);
}

void
link_close(struct perf_run *run)
{
	struct link *link = &run->link;

	link->closing = true;
	link->on_msg = NULL;
	link->on_event = NULL;
	if (link->ops != NULL) {
		if (run->leader)
			close_clients(run);
		else
			close_server(run);
		link->ops->close(run);
	}
	free(link->anns);
	free(link->numbers);
	free(link->conns);
	memset(link, 0, sizeof(*link));
}
