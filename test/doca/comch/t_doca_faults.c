/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Faults on demand, fault.* of the device table: each comes when it is to come, and is told. */

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "comch/queue.h"
#include "common/capture.h"
#include "common/file.h"
#include "t_main.h"

#define NB 4
#define TABLE(dpu, host) "[device dpu]\npci = 03:00.0\n" dpu \
	"[function pf0]\npci = b1:00.0\n" host

/* PAIR_WITH(name, t, dpu, host) { ... }: a connected pair whose devices have these keys. */
#define PAIR_WITH(name, t, dpu, host) \
	static void name##_begin(struct pair *t) \
	{ \
		device_table_write(TABLE(dpu, host)); \
		pair_open(t); \
	} \
	T_CASE_OF(struct pair, name##_begin, pair_close, name, t)
#define FLOW_WITH(name, f, dpu, host) \
	static void name##_begin(struct flow *f) \
	{ \
		device_table_write(TABLE(dpu, host)); \
		flow_open(f, 4096, NB); \
	} \
	T_CASE_OF(struct flow, name##_begin, flow_close, name, f)

static doca_error_t
try_send(struct side *side, const char *msg)
{
	struct doca_task *task = doca_comch_task_send_as_task(side_task(side, msg, strlen(msg)));
	doca_error_t ret = doca_task_submit(task);

	if (ret != DOCA_SUCCESS)
		doca_task_free(task);
	return ret;
}

static void
last_is(const struct side *side, const char *msg)
{
	T_EQ(side->msg_len, strlen(msg));
	T_CHECK(memcmp(side->msg, msg, side->msg_len) == 0);
}

PAIR_WITH(again, t, "", "fault.again = 2-3\n")
{
	const char *text;

	t_capture_begin();
	T_OK(try_send(&t->client, "1"));
	T_IS(try_send(&t->client, "2"), DOCA_ERROR_AGAIN);
	T_IS(try_send(&t->client, "3"), DOCA_ERROR_AGAIN);
	T_OK(try_send(&t->client, "4"));
	text = t_capture_end();
	T_STR_HAS(text, "fault.again of the device table, host side: submit 2 returns AGAIN");
	T_STR_HAS(text, "fault.again of the device table, host side: submit 3 returns AGAIN");
	T_WAIT(pair_progress(t), t->server.nb_msgs == 2 && t->client.nb_sent == 2);
	last_is(&t->server, "4");
	/* It is the other side's alone. */
	T_OK(try_send(&t->server, "1"));
	T_OK(try_send(&t->server, "2"));
	T_WAIT(pair_progress(t), t->client.nb_msgs == 2);
}

PAIR_WITH(error, t, "", "fault.error = 2\n")
{
	T_OK(try_send(&t->client, "1"));
	T_OK(try_send(&t->client, "2"));
	T_OK(try_send(&t->client, "3"));
	T_WAIT(pair_progress(t), t->client.nb_sent == 2 && t->client.nb_send_errors == 1);
	T_EQ(t->client.nb_disconnects, 0);
	T_WAIT(pair_progress(t), t->server.nb_msgs == 2);
	last_is(&t->server, "3");
}

/* Later messages do not overtake it. */
PAIR_WITH(late, t, "", "fault.late = 2\nfault.late_ms = 1\n")
{
	unsigned int i;

	t_capture_begin();
	for (i = 0; i < 8; i++)
		T_OK(try_send(&t->client, &"12345678"[i]));
	T_STR_HAS(t_capture_end(), "fault.late of the device table, host side: submit 2 is late");
	T_WAIT(pair_progress(t), t->client.nb_sent == 8 && t->server.nb_msgs == 8);
	/* 8 + 7 + ... + 1 bytes; the last is the shortest. */
	T_EQ(t->server.msg_bytes, 36);
	last_is(&t->server, "8");
}

/* A task that is still late when its context stops fails, and so do the tasks behind it. */
PAIR_WITH(late_at_the_stop, t, "", "fault.late = 2\nfault.late_ms = 3600000\n")
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		T_OK(try_send(&t->client, "late"));
	T_WAIT(pair_progress(t), t->client.nb_sent == 1 && t->server.nb_msgs == 1);
	for (i = 0; i < 100; i++)
		pair_progress(t);
	T_EQ(t->server.nb_msgs, 1);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->client.nb_send_errors, 3);
	T_IS(t->client.send_status, DOCA_ERROR_SHUTDOWN);
}

/* An engine that is to sleep does not, while a task is late. */
PAIR_WITH(late_and_asleep, t, "", "fault.late = 1\nfault.late_ms = 1\n")
{
	struct pollfd fd = { .events = POLLIN };

	T_OK(doca_pe_get_notification_handle(t->client.pe, &fd.fd));
	T_OK(try_send(&t->client, "late"));
	while (t->client.nb_sent == 0) {
		T_OK(doca_pe_request_notification(t->client.pe));
		/* Without a limit: the alarm of the test would end it. */
		T_EQ(poll(&fd, 1, -1), 1);
		T_OK(doca_pe_clear_notification(t->client.pe, fd.fd));
		while (doca_pe_progress(t->client.pe))
			;
	}
	T_WAIT(pair_progress(t), t->server.nb_msgs == 1);
}

/* One whose submit was refused may sleep: nothing else might wake it. */
PAIR_WITH(again_and_asleep, t, "", "fault.again = 1\n")
{
	struct pollfd fd = { .events = POLLIN };

	T_OK(doca_pe_get_notification_handle(t->client.pe, &fd.fd));
	T_IS(try_send(&t->client, "1"), DOCA_ERROR_AGAIN);
	while (doca_pe_progress(t->client.pe))
		;
	T_OK(doca_pe_request_notification(t->client.pe));
	T_EQ(poll(&fd, 1, -1), 1);
	T_OK(doca_pe_clear_notification(t->client.pe, fd.fd));
	T_OK(try_send(&t->client, "2"));
	T_WAIT(pair_progress(t), t->server.nb_msgs == 1);
}

static void
send_again(struct side *side, struct doca_comch_task_send *task)
{
	if (side->nb_send_errors < 100)
		T_OK(doca_task_submit(doca_comch_task_send_as_task(task)));
	else
		doca_task_free(doca_comch_task_send_as_task(task));
}

/* Late tasks whose callbacks submit them again: each of them once in a progress, which ends. */
PAIR_WITH(late_again_and_again, t, "fault.late = 1-\nfault.late_ms = 1\n", "")
{
	unsigned int before;

	t->server.hooks.sent = send_again;
	T_OK(try_send(&t->server, "1"));
	T_OK(try_send(&t->server, "2"));
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(t->client.pe), ctx_is_idle(t->client.ctx));
	while (t->server.nb_send_errors < 100) {
		before = t->server.nb_send_errors;
		doca_pe_progress(t->server.pe);
		T_LE(t->server.nb_send_errors, before + 2);
	}
	T_EQ(t->server.nb_disconnects, 1);
}

/* Messages of both directions are counted, at each end. */
PAIR_WITH(reset, t, "fault.reset = 3\n", "")
{
	const char *text;

	t_capture_begin();
	T_OK(try_send(&t->server, "1"));
	T_OK(try_send(&t->client, "2"));
	T_WAIT(pair_progress(t), t->server.nb_msgs == 1 && t->client.nb_msgs == 1);
	T_EQ(t->server.nb_disconnects, 0);
	T_OK(try_send(&t->client, "3"));
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1 && ctx_is_idle(t->client.ctx));
	text = t_capture_end();
	T_STR_HAS(text, "fault.reset of the device table, DPU side: message 3 ends its connection");
	/* The server goes on. */
	pair_connect(t);
	T_OK(try_send(&t->client, "4"));
	T_WAIT(pair_progress(t), t->server.nb_msgs == 3);
}

/* With a producer and a consumer on it, whose tasks come back. */
FLOW_WITH(reset_of_a_flow, f, "", "fault.reset = 1\n")
{
	queue_post(&f->c, NULL);
	T_OK(try_send(&f->t.client, "lost"));
	T_WAIT((pair_progress(&f->t), flow_progress(f)),
		f->t.server.nb_disconnects == 1 && f->c.nb_errors == 1 &&
		f->t.client.nb_send_errors == 1);
	T_IS(f->t.client.send_status, DOCA_ERROR_CONNECTION_RESET);
	T_EQ(f->t.server.nb_msgs, 0);
}

FLOW_WITH(data_path, f, "fault.again = 2\n", "fault.error = 2\n")
{
	struct doca_comch_consumer_task_post_recv *second;
	struct doca_task *task;

	queue_post(&f->c, NULL);
	queue_submit(&f->t, queue_put_task(&f->p, NULL, "x", 1, f->id));
	T_WAIT(flow_progress(f), f->p.nb_done == 1 && f->c.nb_done == 1);
	T_OK(doca_task_submit(queue_put_task(&f->p, NULL, "x", 1, f->id)));
	T_WAIT(flow_progress(f), f->p.nb_errors == 1);
	T_IS(f->p.status, DOCA_ERROR_IO_FAILED);
	T_OK(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, NULL, &second));
	task = doca_comch_consumer_task_post_recv_as_task(second);
	T_IS(doca_task_submit(task), DOCA_ERROR_AGAIN);
	T_OK(doca_task_submit(task));
	queue_submit(&f->t, queue_put_task(&f->p, NULL, "x", 1, f->id));
	T_WAIT(flow_progress(f), f->p.nb_done == 2 && f->c.nb_done == 2);
}

/* A progress that did something takes so long at least. */
PAIR_WITH(slow, t, "", "fault.slow_ms = 5\n")
{
	struct timespec from, to;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &from);
	T_OK(try_send(&t->server, "1"));
	T_OK(try_send(&t->server, "2"));
	T_WAIT(pair_progress(t), t->client.nb_msgs == 2);
	clock_gettime(CLOCK_MONOTONIC, &to);
	ns = (to.tv_sec - from.tv_sec) * INT64_C(1000000000) + to.tv_nsec - from.tv_nsec;
	T_GE(ns, 10000000);
}

static void
die_at_the_second(void)
{
	static struct pair t;

	device_table_write(TABLE("", "fault.exit = 2\n"));
	pair_open(&t);
	T_OK(try_send(&t.client, "1"));
	T_WAIT(pair_progress(&t), t.server.nb_msgs == 1);
	/* Nothing of it arrives, and the process is not here any more. */
	try_send(&t.client, "2");
	_exit(1);
}

T_CASE(exit_of_the_process)
{
	int status;
	pid_t pid = fork();

	T_CHECK(pid >= 0);
	if (pid == 0)
		die_at_the_second();
	T_EQ(waitpid(pid, &status, 0), pid);
	T_CHECK(WIFSIGNALED(status));
	T_EQ(WTERMSIG(status), SIGKILL);
}
