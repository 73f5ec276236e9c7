/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <string.h>

#include "comch/queue.h"

/* Producers and consumers */

static void
on_queue_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	struct queue *q = user_data.ptr;

	state_log_note(user_data, ctx, prev, next);
	if (q->state != NULL)
		q->state(q, next);
}

static void
queue_task_back(struct queue *q, struct doca_task *task)
{
	T_CHECK(doca_task_get_ctx(task) == q->ctx);
	q->status = doca_task_get_status(task);
	if (q->done != NULL)
		q->done(q, task);
	else if (!q->keep_tasks)
		doca_task_free(task);
}

static void
on_put(struct doca_comch_producer_task_send *task, union doca_data task_data __rte_unused,
		union doca_data ctx_data)
{
	struct queue *q = ctx_data.ptr;

	q->nb_done++;
	queue_task_back(q, doca_comch_producer_task_send_as_task(task));
	T_OK(q->status);
}

static void
on_put_error(struct doca_comch_producer_task_send *task, union doca_data task_data __rte_unused,
		union doca_data ctx_data)
{
	struct queue *q = ctx_data.ptr;

	q->nb_errors++;
	queue_task_back(q, doca_comch_producer_task_send_as_task(task));
	T_NE(q->status, DOCA_SUCCESS);
}

static void
on_got(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data __rte_unused,
		union doca_data ctx_data)
{
	struct queue *q = ctx_data.ptr;

	q->nb_done++;
	q->producer_id = doca_comch_consumer_task_post_recv_get_producer_id(task);
	q->imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	T_EQ(doca_comch_consumer_task_post_recv_get_imm_data(task) == NULL, q->imm_len == 0);
	if (q->imm_len > 0)
		memcpy(q->imm, doca_comch_consumer_task_post_recv_get_imm_data(task), q->imm_len);
	queue_task_back(q, doca_comch_consumer_task_post_recv_as_task(task));
	T_OK(q->status);
}

static void
on_got_error(struct doca_comch_consumer_task_post_recv *task,
		union doca_data task_data __rte_unused, union doca_data ctx_data)
{
	struct queue *q = ctx_data.ptr;

	q->nb_errors++;
	queue_task_back(q, doca_comch_consumer_task_post_recv_as_task(task));
	T_NE(q->status, DOCA_SUCCESS);
}

static void
queue_ready(struct queue *q, struct doca_ctx *ctx, struct doca_pe *pe)
{
	const union doca_data data = { .ptr = q };

	q->ctx = ctx;
	if (pe == NULL) {
		T_OK(doca_pe_create(&q->pe));
		pe = q->pe;
	}
	T_OK(doca_pe_connect_ctx(pe, ctx));
	T_OK(doca_ctx_set_user_data(ctx, data));
	T_OK(doca_ctx_set_state_changed_cb(ctx, on_queue_state));
}

void
producer_create(struct queue *q, struct doca_comch_connection *conn, struct doca_pe *pe,
		uint32_t nb_tasks)
{
	memset(q, 0, sizeof(*q));
	T_OK(doca_comch_producer_create(conn, &q->producer));
	queue_ready(q, doca_comch_producer_as_ctx(q->producer), pe);
	T_OK(doca_comch_producer_task_send_set_conf(q->producer, on_put, on_put_error, nb_tasks));
}

void
consumer_create(struct queue *q, struct doca_comch_connection *conn,
		struct doca_mmap *mmap, struct doca_pe *pe, uint32_t nb_tasks)
{
	memset(q, 0, sizeof(*q));
	T_OK(doca_comch_consumer_create(conn, mmap, &q->consumer));
	queue_ready(q, doca_comch_consumer_as_ctx(q->consumer), pe);
	T_OK(doca_comch_consumer_task_post_recv_set_conf(q->consumer, on_got, on_got_error,
		nb_tasks));
}

void
consumer_open(struct queue *q, struct side *side, struct doca_pe *pe, uint32_t nb_tasks)
{
	struct memory mem;

	memory_create(&mem, side->dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	consumer_create(q, side->conn, mem.mmap, pe, nb_tasks);
	q->mem = mem;
}

bool
queue_progress(struct queue *q)
{
	return q->pe != NULL && doca_pe_progress(q->pe) != 0;
}

uint32_t
consumer_start(struct pair *t, struct queue *q)
{
	uint32_t id;

	T_IS(doca_ctx_start(q->ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(t), queue_progress(q)), ctx_is_running(q->ctx));
	T_OK(doca_comch_consumer_get_id(q->consumer, &id));
	/* The peer hears of it before or after. */
	T_WAIT(pair_progress(t), t->server.new_id == id || t->client.new_id == id);
	return id;
}

void
queue_post(struct queue *q, struct doca_buf *buf)
{
	struct doca_comch_consumer_task_post_recv *task;

	T_OK(doca_comch_consumer_task_post_recv_alloc_init(q->consumer, buf, &task));
	T_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

struct doca_task *
queue_put_task(struct queue *q, const struct doca_buf *buf, const void *imm, uint32_t imm_len,
		uint32_t id)
{
	struct doca_comch_producer_task_send *task;

	T_OK(doca_comch_producer_task_send_alloc_init(q->producer, buf,
		(uint8_t *)(uintptr_t)imm, imm_len, id, &task));
	return doca_comch_producer_task_send_as_task(task);
}

void
queue_submit(struct pair *t, struct doca_task *task)
{
	doca_error_t ret;

	T_WAIT(pair_progress(t), (ret = doca_task_submit(task)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
}

void
queue_put(struct pair *t, struct queue *q, const struct doca_buf *buf, uint32_t id)
{
	queue_submit(t, queue_put_task(q, buf, NULL, 0, id));
}

void
queue_destroy(struct pair *t, struct queue *q)
{
	if (ctx_is_running(q->ctx) ||
			ctx_state(q->ctx) == DOCA_CTX_STATE_STARTING)
		doca_ctx_stop(q->ctx);
	T_WAIT((pair_progress(t), queue_progress(q)), ctx_is_idle(q->ctx));
	if (q->producer != NULL)
		T_OK(doca_comch_producer_destroy(q->producer));
	else
		T_OK(doca_comch_consumer_destroy(q->consumer));
	if (q->pe != NULL)
		T_OK(doca_pe_destroy(q->pe));
	if (q->mem.mmap != NULL)
		memory_destroy(&q->mem);
}

/* Flows */

static void
flow_open_into(struct flow *f, size_t len, uint32_t nb_tasks,
		void (*create_dst)(struct memory *mem, struct doca_dev *dev, size_t len,
			uint32_t access))
{
	pair_open(&f->t);
	create_dst(&f->dst, f->t.server.dev, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memory_create(&f->src, f->t.client.dev, len, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	consumer_create(&f->c, f->t.server.conn, f->dst.mmap, NULL, nb_tasks);
	f->id = consumer_start(&f->t, &f->c);
	producer_create(&f->p, f->t.client.conn, NULL, nb_tasks);
	T_OK(doca_ctx_start(f->p.ctx));
}

void
flow_open(struct flow *f, size_t len, uint32_t nb_tasks)
{
	flow_open_into(f, len, nb_tasks, memory_create);
}

void
flow_open_shared(struct flow *f, size_t len, uint32_t nb_tasks)
{
	flow_open_into(f, len, nb_tasks, memory_create_shared);
}

void
flow_close(struct flow *f)
{
	queue_destroy(&f->t, &f->p);
	queue_destroy(&f->t, &f->c);
	memory_destroy(&f->src);
	memory_destroy(&f->dst);
	pair_close(&f->t);
}

bool
flow_progress(struct flow *f)
{
	bool done = doca_pe_progress(f->c.pe) != 0;

	done |= doca_pe_progress(f->p.pe) != 0;
	return pair_progress(&f->t) | done;
}
