/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tasks that programs submit after they have freed them. */

#include <stdlib.h>

#include "comch/queue.h"
#include "common/capture.h"
#include "common/file.h"
#include "t_main.h"

#define NB 4
#define LENIENT "[device dpu]\npci = 03:00.0\nlenient = freed_tasks\n" \
	"[function pf0]\npci = b1:00.0\n"

/* The only task of a queue, that of the last callback. */
static struct doca_task *last;

static void
free_task(struct queue *q __rte_unused, struct doca_task *task)
{
	last = task;
	doca_task_free(task);
}

/* Free the task and its buf, as programs do that allocate both for each message. */
static void
free_both(struct queue *q, struct doca_task *task)
{
	struct doca_buf *buf = q->arg;

	free_task(q, task);
	T_OK(doca_buf_dec_refcount(buf, NULL));
}

/* behaviour: P19 */
FLOW_CASE(refused_and_told, f, 4096, NB)
{
	const char *text;
	unsigned int i;

	f->c.done = free_task;
	queue_post(&f->c, NULL);
	queue_submit(&f->t, queue_put_task(&f->p, NULL, "x", 1, f->id));
	T_WAIT(flow_progress(f), f->c.nb_done == 1 && f->p.nb_done == 1);
	t_capture_begin();
	for (i = 0; i < 3; i++)
		T_INVALID(doca_task_submit(last));
	text = t_capture_end();
	T_STR_HAS(text, "a task of a consumer was submitted after doca_task_free(): refused");
	/* Once. */
	T_CHECK(strstr(strstr(text, "doca_task_free()") + 1, "doca_task_free()") == NULL);
}

static void
lenient_open(struct flow *f)
{
	device_table_write(LENIENT);
	flow_open(f, 4096, NB);
}

#define LENIENT_CASE(name, f) T_CASE_OF(struct flow, lenient_open, flow_close, name, f)

/* A message through the task that came back last. */
static void
again(struct queue *q, const char *want)
{
	const char *text;

	t_capture_begin();
	T_OK(doca_task_submit(last));
	text = t_capture_end();
	if (want != NULL)
		T_STR_HAS(text, want);
	else
		T_CHECK(strstr(text, "doca_task_free()") == NULL);
	T_INVALID(doca_task_submit(last));
	T_EQ(q->nb_errors, 0);
}

/* behaviour: P19 */
LENIENT_CASE(receives, f)
{
	struct doca_buf *buf = memory_buf(&f->dst, 0, 64, false);
	struct doca_buf *from = memory_buf(&f->src, 0, 48, true);
	unsigned int i;

	f->c.done = free_both;
	f->c.arg = buf;
	queue_post(&f->c, buf);
	for (i = 1; i <= 5; i++) {
		/* Each message is where the first one was: 64 bytes have no room for two. */
		t_fill(f->src.addr, 48, i);
		queue_put(&f->t, &f->p, from, f->id);
		T_WAIT(flow_progress(f), f->c.nb_done == i && f->p.nb_done == i);
		T_VERIFY(f->dst.addr, 48, i);
		again(&f->c, i == 1 ? "of a consumer was submitted after doca_task_free(): "
			"accepted" : NULL);
	}
	f->c.done = NULL;
	T_OK(doca_buf_dec_refcount(buf, NULL));
	T_OK(doca_buf_dec_refcount(from, NULL));
}

/* behaviour: P19 */
LENIENT_CASE(sends, f)
{
	struct doca_buf *to, *from = memory_buf(&f->src, 0, 48, true);
	unsigned int i;

	f->p.done = free_both;
	f->p.arg = from;
	t_fill(f->src.addr, 48, 7);
	for (i = 1; i <= 5; i++) {
		to = memory_buf(&f->dst, 0, 64, false);
		queue_post(&f->c, to);
		if (i == 1)
			queue_put(&f->t, &f->p, from, f->id);
		else
			again(&f->p, i == 2 ? "accepted" : NULL);
		T_WAIT(flow_progress(f), f->c.nb_done == i && f->p.nb_done == i);
		T_VERIFY(f->dst.addr, 48, 7);
		T_OK(doca_buf_dec_refcount(to, NULL));
	}
}

/* The channel is full: the task and its buf are as free as before, and the queue can end. */
LENIENT_CASE(not_accepted, f)
{
	struct doca_buf *to = memory_buf(&f->dst, 0, 64, false);
	struct doca_buf *from = memory_buf(&f->src, 0, 48, true);
	uint32_t nb_free, nb_all;
	unsigned int i;

	f->p.done = free_both;
	f->p.arg = from;
	queue_post(&f->c, to);
	queue_put(&f->t, &f->p, from, f->id);
	T_WAIT(flow_progress(f), f->c.nb_done == 1 && f->p.nb_done == 1);
	for (i = 0; i < 3; i++)
		T_IS(doca_task_submit(last), DOCA_ERROR_AGAIN);
	T_OK(doca_buf_inventory_get_num_elements(f->src.inv, &nb_all));
	T_OK(doca_buf_inventory_get_num_free_elements(f->src.inv, &nb_free));
	T_EQ(nb_free, nb_all);
	T_OK(doca_buf_dec_refcount(to, NULL));
	/* It is accepted once there is room. */
	to = memory_buf(&f->dst, 0, 64, false);
	queue_post(&f->c, to);
	T_WAIT(flow_progress(f), doca_task_submit(last) == DOCA_SUCCESS);
	T_WAIT(flow_progress(f), f->c.nb_done == 2 && f->p.nb_done == 2);
	T_OK(doca_buf_dec_refcount(to, NULL));
}

/* The mmap of the buf is gone. */
LENIENT_CASE(mmap_is_gone, f)
{
	struct doca_buf *to = memory_buf(&f->dst, 0, 64, false), *from;
	struct memory other;

	memory_create(&other, f->t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	from = memory_buf(&other, 0, 48, true);
	f->p.done = free_both;
	f->p.arg = from;
	queue_post(&f->c, to);
	queue_put(&f->t, &f->p, from, f->id);
	T_WAIT(flow_progress(f), f->c.nb_done == 1 && f->p.nb_done == 1);
	T_OK(doca_mmap_destroy(other.mmap));
	T_INVALID(doca_task_submit(last));
	T_OK(doca_buf_inventory_destroy(other.inv));
	free(other.addr);
	T_OK(doca_buf_dec_refcount(to, NULL));
}

/* A task that is submitted when its context is IDLE again; and it was another memory's. */
FLOW_CASE(after_the_end, f, 4096, NB)
{
	f->c.done = free_task;
	queue_post(&f->c, NULL);
	queue_submit(&f->t, queue_put_task(&f->p, NULL, "x", 1, f->id));
	T_WAIT(flow_progress(f), f->c.nb_done == 1 && f->p.nb_done == 1);
	doca_ctx_stop(f->c.ctx);
	T_WAIT(flow_progress(f), ctx_is_idle(f->c.ctx));
	T_INVALID(doca_task_submit(last));
}

/* The buf, or the task, is in use for something else by now. */
LENIENT_CASE(given_away, f)
{
	struct doca_buf *from = memory_buf(&f->src, 0, 48, true), *other;
	struct doca_buf *to = memory_buf(&f->dst, 0, 64, false);
	struct doca_comch_producer_task_send *task[NB];
	unsigned int i;

	f->p.done = free_both;
	f->p.arg = from;
	queue_post(&f->c, to);
	queue_put(&f->t, &f->p, from, f->id);
	T_WAIT(flow_progress(f), f->p.nb_done == 1 && f->c.nb_done == 1);
	T_OK(doca_buf_dec_refcount(to, NULL));
	/* The freed one is given away first. */
	other = memory_buf(&f->src, 100, 48, true);
	T_CHECK(other == from);
	t_capture_begin();
	T_INVALID(doca_task_submit(last));
	T_STR_HAS(t_capture_end(), "refused, since what it names is gone");
	/* Given away and freed again: still not what the task named. */
	T_OK(doca_buf_dec_refcount(other, NULL));
	T_INVALID(doca_task_submit(last));
	for (i = 0; i < NB; i++)
		T_OK(doca_comch_producer_task_send_alloc_init(f->p.producer, NULL,
			(uint8_t *)(uintptr_t)"x", 1, f->id, &task[i]));
	f->p.done = NULL;
	for (i = 0; i < NB; i++)
		doca_task_free(doca_comch_producer_task_send_as_task(task[i]));
}

static void
note_send(struct side *side __rte_unused, struct doca_comch_task_send *task)
{
	free_task(NULL, doca_comch_task_send_as_task(task));
}

/* behaviour: P19 */
T_CASE(messages)
{
	static struct pair t;
	unsigned int i;

	device_table_write(LENIENT);
	pair_open(&t);
	t.server.hooks.sent = note_send;
	side_send(&t.server, "again", 5);
	for (i = 1; i <= 5; i++) {
		T_WAIT(pair_progress(&t), t.client.nb_msgs == i && t.server.nb_sent == i);
		T_EQ(memcmp(t.client.msg, "again", 5), 0);
		if (i < 5)
			T_OK(doca_task_submit(last));
	}
	/* Its connection is gone, and so is what the task named. */
	T_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), t.server.nb_disconnects == 1 && ctx_is_idle(t.client.ctx));
	T_INVALID(doca_task_submit(last));
	t.server.hooks.sent = NULL;
	pair_close(&t);
}
