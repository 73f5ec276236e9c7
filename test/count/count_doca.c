/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * doca_comch: tasks that are submitted again and again, as programs do that
 * are in a hurry. The callbacks only count.
 */

#include <poll.h>

#include "comch/queue.h"
#include "count.h"

#define LEN 64
#define TASKS 32
#define MAX_PROGRESS (2 * TASKS)

static struct flow flow;
static struct doca_task *send_tasks[TASKS], *recv_tasks[TASKS];
static struct doca_buf *send_bufs[TASKS], *recv_bufs[TASKS];

static void
back(struct queue *q, struct doca_task *task)
{
	RTE_SET_USED(q);
	RTE_SET_USED(task);
}

static void
make_tasks(void)
{
	unsigned int i;

	flow.c.done = back;
	flow.p.done = back;
	for (i = 0; i < TASKS; i++) {
		struct doca_comch_consumer_task_post_recv *task;

		recv_bufs[i] = memory_buf(&flow.dst, i * LEN, LEN, false);
		T_OK(doca_comch_consumer_task_post_recv_alloc_init(flow.c.consumer, recv_bufs[i],
			&task));
		recv_tasks[i] = doca_comch_consumer_task_post_recv_as_task(task);
		send_bufs[i] = memory_buf(&flow.src, i * LEN, LEN, true);
		send_tasks[i] = queue_put_task(&flow.p, send_bufs[i], NULL, 0, flow.id);
	}
}

static void
open_data(void)
{
	flow_open(&flow, TASKS * LEN, TASKS);
	make_tasks();
}

static void
close_data(void)
{
	unsigned int i;

	for (i = 0; i < TASKS; i++) {
		doca_task_free(send_tasks[i]);
		doca_task_free(recv_tasks[i]);
		T_OK(doca_buf_dec_refcount(send_bufs[i], NULL));
		T_OK(doca_buf_dec_refcount(recv_bufs[i], NULL));
	}
	flow_close(&flow);
}

/* An engine makes progress until the count is there: so often as it always takes. */
static void
progress(enum count_side side, struct doca_pe *pe, const unsigned int *count, unsigned int want)
{
	unsigned int i;

	for (i = 0; i < MAX_PROGRESS && *count != want; i++)
		COUNT(side, doca_pe_progress(pe));
	T_EQ(*count, want);
}

static void
move(unsigned int nb)
{
	const unsigned int nb_recv = flow.c.nb_done, nb_sent = flow.p.nb_done;
	unsigned int i;
	doca_error_t ret;

	for (i = 0; i < nb; i++) {
		COUNT(COUNT_RECV, ret = doca_buf_reset_data_len(recv_bufs[i]));
		T_OK(ret);
		COUNT(COUNT_RECV, ret = doca_task_submit(recv_tasks[i]));
		T_OK(ret);
	}
	for (i = 0; i < nb; i++) {
		COUNT(COUNT_SEND, ret = doca_task_submit(send_tasks[i]));
		T_OK(ret);
	}
	progress(COUNT_RECV, flow.c.pe, &flow.c.nb_done, nb_recv + nb);
	progress(COUNT_SEND, flow.p.pe, &flow.p.nb_done, nb_sent + nb);
}

static void
step_one(void)
{
	move(1);
}

static void
step_many(void)
{
	move(TASKS);
}

static void
receive_again(struct queue *q, struct doca_task *task)
{
	RTE_SET_USED(q);
	T_OK(doca_buf_reset_data_len(recv_bufs[doca_task_get_user_data(task).u64]));
	T_OK(doca_task_submit(task));
}

static void
send_again(struct queue *q, struct doca_task *task)
{
	RTE_SET_USED(q);
	T_OK(doca_task_submit(task));
}

/* Every task is under way all the time: callbacks submit it again. */
static void
open_again(void)
{
	unsigned int i;

	flow_open_shared(&flow, TASKS * LEN, TASKS);
	make_tasks();
	flow.c.done = receive_again;
	flow.p.done = send_again;
	for (i = 0; i < TASKS; i++) {
		const union doca_data number = { .u64 = i };

		doca_task_set_user_data(recv_tasks[i], number);
		T_OK(doca_task_submit(recv_tasks[i]));
		T_OK(doca_task_submit(send_tasks[i]));
	}
}

static void
step_again(void)
{
	progress(COUNT_RECV, flow.c.pe, &flow.c.nb_done, flow.c.nb_done + TASKS);
	progress(COUNT_SEND, flow.p.pe, &flow.p.nb_done, flow.p.nb_done + TASKS);
}

static void
close_again(void)
{
	flow.c.done = back;
	flow.p.done = back;
	step_again();
	close_data();
}

/* Before it has asked for a notification: what is there would be one. */
static void
open_sleep(void)
{
	open_data();
	T_SETTLE(doca_pe_progress(flow.c.pe) + doca_pe_progress(flow.p.pe));
}

/* The consumer's engine sleeps, and the producer's wakes it. */
static void
step_sleep(void)
{
	const unsigned int nb_recv = flow.c.nb_done, nb_sent = flow.p.nb_done;
	doca_notification_handle_t handle;
	struct pollfd pfd = { .events = POLLIN };
	doca_error_t ret;
	int n;

	T_OK(doca_pe_get_notification_handle(flow.c.pe, &handle));
	pfd.fd = handle;
	COUNT(COUNT_RECV, ret = doca_buf_reset_data_len(recv_bufs[0]));
	T_OK(ret);
	COUNT(COUNT_RECV, ret = doca_task_submit(recv_tasks[0]));
	T_OK(ret);
	COUNT(COUNT_RECV, ret = doca_pe_request_notification(flow.c.pe));
	T_OK(ret);
	T_EQ(poll(&pfd, 1, 0), 0);
	COUNT(COUNT_SEND, ret = doca_task_submit(send_tasks[0]));
	T_OK(ret);
	progress(COUNT_SEND, flow.p.pe, &flow.p.nb_done, nb_sent + 1);
	COUNT(COUNT_RECV, n = poll(&pfd, 1, 0));
	T_EQ(n, 1);
	COUNT(COUNT_RECV, ret = doca_pe_clear_notification(flow.c.pe, handle));
	T_OK(ret);
	progress(COUNT_RECV, flow.c.pe, &flow.c.nb_done, nb_recv + 1);
}

static struct pair pair;

static void
open_ctrl(void)
{
	pair_open(&pair);
}

static void
close_ctrl(void)
{
	pair_close(&pair);
}

/* Allocated, sent, freed in its callback, as the guide's example does. */
static void
move_msg(struct side *from, struct side *to)
{
	static const uint8_t msg[LEN];
	const unsigned int nb_msgs = to->nb_msgs, nb_sent = from->nb_sent;
	struct doca_comch_task_send *task;
	doca_error_t ret;

	COUNT(COUNT_SEND, task = side_task(from, msg, LEN));
	COUNT(COUNT_SEND, ret = doca_task_submit(doca_comch_task_send_as_task(task)));
	T_OK(ret);
	/* It is in the peer's queue, which the engine says. */
	progress(COUNT_SEND, from->pe, &from->nb_sent, nb_sent + 1);
	progress(COUNT_RECV, to->pe, &to->nb_msgs, nb_msgs + 1);
	/* Credits go back with the next one. */
	COUNT(COUNT_RECV, doca_pe_progress(to->pe));
}

static void
step_to_server(void)
{
	move_msg(&pair.client, &pair.server);
}

static void
step_to_client(void)
{
	move_msg(&pair.server, &pair.client);
}

const struct count_row count_rows_doca[] = {
	{ "doca", "a DOCA task of 64 bytes, alone", 1, open_data, step_one, close_data },
	{ "doca-burst", "DOCA tasks of 64 bytes, 32 at a time", TASKS, open_data, step_many,
		close_data },
	{ "doca-again", "DOCA tasks of 64 bytes to shared memory, submitted by their callbacks",
		TASKS, open_again, step_again, close_again },
	{ "sleep-doca", "a DOCA task of 64 bytes that wakes a sleeping engine", 1, open_sleep,
		step_sleep, close_data },
	{ "doca-to-server", "a DOCA message of 64 bytes to the server", 1, open_ctrl,
		step_to_server, close_ctrl },
	{ "doca-to-client", "a DOCA message of 64 bytes to a client", 1, open_ctrl,
		step_to_client, close_ctrl },
	{ .name = NULL },
};
