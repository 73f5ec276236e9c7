/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Producers. A submit is one native send: what the native channel takes is in
 * the consumer's buffer, or failed; its completion waits for the next progress.
 *
 * What callbacks of several completions submit goes as one native send, when
 * the last of them has returned: a message by itself costs the two sides some
 * cache lines more than one of many. What the consumer then has no buffer for
 * stays here, submitted, and is first in line.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_comch_dp.h>
#include <rte_errno.h>

#include "dface_comch.h"
#include "dface_err.h"
#include "dface_mem.h"

/* Completions that one progress takes. */
#define BURST 32

struct doca_comch_producer {
	struct doca_ctx ctx;
	struct doca_comch_connection *conn;
	doca_comch_producer_task_send_completion_cb_t sent_cb, error_cb;
	bool gathers;                   /* callbacks of several completions run */
	uint16_t nb_ops;                /* gathered, and not taken yet */
	struct rte_comch_op ops[BURST];
};

struct doca_comch_producer_task_send {
	struct doca_task task;
	const struct doca_buf *buf;
	uint32_t consumer_id;
	uint32_t imm_len;
	uint8_t imm[DFACE_MAX_IMM];
};

/* Context */

static doca_error_t
producer_start(struct doca_ctx *ctx)
{
	struct doca_comch_producer *p = (struct doca_comch_producer *)ctx;
	const struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = ctx->pe->poll,
		.queue_size = ctx->nb_tasks,
		.user_data = (uintptr_t)ctx,
	};
	struct rte_comch_producer *native = NULL;
	int ret = -ECONNRESET;

	pthread_mutex_lock(&p->conn->lock);
	if (p->conn->native != NULL) {
		native = rte_comch_producer_create(p->conn->native, &conf);
		ret = native == NULL ? -rte_errno : rte_comch_producer_start(native);
	}
	pthread_mutex_unlock(&p->conn->lock);
	if (ret != 0) {
		rte_comch_producer_destroy(native);
		/* It has ended meanwhile. */
		return ret == -EBADFD || ret == -ECONNRESET ? DOCA_ERROR_NOT_CONNECTED :
			dface_err(ret);
	}
	ctx->native = native;
	ctx->poll_me = true;
	return DOCA_SUCCESS;
}

static doca_error_t
producer_stop(struct doca_ctx *ctx)
{
	int ret;

	/* The connection has ended; that event is on its way. */
	if (rte_comch_producer_state(ctx->native) != RTE_COMCH_STATE_RUNNING)
		return DOCA_ERROR_IN_PROGRESS;
	ret = rte_comch_producer_stop(ctx->native);
	return ret == -EBADFD ? DOCA_ERROR_IN_PROGRESS : dface_err(ret);
}

static void
producer_release(struct doca_ctx *ctx)
{
	rte_comch_producer_destroy(ctx->native);
	ctx->native = NULL;
}

static void
producer_event(struct doca_ctx *ctx, const struct rte_comch_event *event)
{
	if (event->type == RTE_COMCH_EVENT_STATE && event->obj.ptr == ctx->native)
		dface_ctx_on_state(ctx, event);
}

/* Offer what was gathered. */
static void
send_gathered(struct doca_comch_producer *p)
{
	uint16_t n = rte_comch_producer_send_burst(p->ctx.native, p->ops, p->nb_ops);

	p->nb_ops -= n;
	if (unlikely(n > 0 && p->nb_ops > 0))
		memmove(p->ops, &p->ops[n], p->nb_ops * sizeof(p->ops[0]));
}

/* The context stops: what was not taken comes back. */
static bool
cancel_gathered(struct doca_comch_producer *p)
{
	struct doca_comch_producer_task_send *send;
	uint16_t i, n = p->nb_ops;

	p->nb_ops = 0;
	for (i = 0; i < n; i++) {
		send = (struct doca_comch_producer_task_send *)(uintptr_t)p->ops[i].cookie;
		if (dface_task_back(&send->task, dface_err(-ECANCELED)))
			p->error_cb(send, send->task.user_data, p->ctx.user_data);
	}
	return n > 0;
}

static bool
producer_progress(struct doca_ctx *ctx)
{
	struct doca_comch_producer *p = (struct doca_comch_producer *)ctx;
	struct doca_comch_producer_task_send *send;
	struct rte_comch_cpl cpls[BURST];
	uint16_t i, n;

	if (ctx->nb_busy == 0)
		return false;
	if (unlikely(p->nb_ops > 0 && ctx->state == DOCA_CTX_STATE_RUNNING))
		send_gathered(p);
	n = rte_comch_producer_done_burst(ctx->native, cpls, BURST);
	p->gathers = n > 1;
	for (i = 0; i < n; i++) {
		send = (struct doca_comch_producer_task_send *)(uintptr_t)cpls[i].cookie;
		if (!dface_task_back(&send->task, dface_err(cpls[i].status)))
			continue;
		if (likely(cpls[i].status == 0))
			p->sent_cb(send, send->task.user_data, ctx->user_data);
		else
			p->error_cb(send, send->task.user_data, ctx->user_data);
	}
	p->gathers = false;
	if (p->nb_ops == 0)
		return n > 0;
	if (unlikely(ctx->state != DOCA_CTX_STATE_RUNNING))
		return cancel_gathered(p) || n > 0;
	send_gathered(p);
	return n > 0;
}

/* A message's buf: one piece of memory of this process. */
static bool
buf_is_good(const struct doca_buf *buf)
{
	return buf == NULL || (buf->mr != NULL && buf->next == NULL && buf->prev == NULL &&
		buf->data_len <= UINT32_MAX);
}

/* One more for the end of the progress, or behind what waits from the last one. */
static doca_error_t
gather(struct doca_comch_producer *p, const struct rte_comch_op *op)
{
	if (!p->gathers || p->nb_ops == BURST)
		send_gathered(p);
	if (p->nb_ops == BURST || (!p->gathers && p->nb_ops > 0))
		return DOCA_ERROR_AGAIN;
	p->ops[p->nb_ops++] = *op;
	if (!p->gathers)
		send_gathered(p);
	return DOCA_SUCCESS;
}

static doca_error_t
producer_submit(struct doca_task *task)
{
	struct doca_comch_producer *p = (struct doca_comch_producer *)task->ctx;
	const struct doca_comch_producer_task_send *send =
		(const struct doca_comch_producer_task_send *)(const void *)task;
	const struct doca_buf *buf = send->buf;
	struct rte_comch_op op = {
		.cookie = (uintptr_t)task,
		.consumer_id = send->consumer_id,
		.imm = send->imm,
		.imm_len = (uint16_t)send->imm_len,
	};

	if (unlikely(send->imm_len > DFACE_MAX_IMM || !buf_is_good(buf) ||
			(buf == NULL && send->imm_len == 0)))
		return DOCA_ERROR_INVALID_VALUE;
	if (likely(buf != NULL)) {
		op.addr = buf->data;
		op.mr = buf->mr;
		op.len = (uint32_t)buf->data_len;
	}
	if (p->gathers || unlikely(p->nb_ops > 0))
		return gather(p, &op);
	return likely(rte_comch_producer_send_burst(p->ctx.native, &op, 1) == 1) ?
		DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

static void
producer_free(struct doca_ctx *ctx)
{
	free(ctx);
}

static const struct dface_ctx_ops producer_ops = {
	.name = "producer",
	.task_size = sizeof(struct doca_comch_producer_task_send),
	.start = producer_start,
	.stop = producer_stop,
	.release = producer_release,
	.event = producer_event,
	.progress = producer_progress,
	.submit = producer_submit,
	.free = producer_free,
};

doca_error_t
doca_comch_producer_create(struct doca_comch_connection *comch_connection,
		struct doca_comch_producer **producer)
{
	struct doca_comch_producer *p;
	doca_error_t ret;

	if (comch_connection == NULL || producer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = dface_conn_join(comch_connection, &comch_connection->nb_producers);
	if (ret != DOCA_SUCCESS)
		return ret;
	p = calloc(1, sizeof(*p));
	if (p == NULL) {
		dface_conn_leave(comch_connection, &comch_connection->nb_producers);
		return DOCA_ERROR_NO_MEMORY;
	}
	dface_ctx_init(&p->ctx, &producer_ops);
	p->conn = comch_connection;
	*producer = p;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	struct doca_comch_connection *conn;
	doca_error_t ret;

	if (producer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	conn = producer->conn;
	ret = dface_ctx_destroy(&producer->ctx);
	if (ret == DOCA_SUCCESS)
		dface_conn_leave(conn, &conn->nb_producers);
	return ret;
}

struct doca_ctx *
doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
	return producer == NULL ? NULL : &producer->ctx;
}

doca_error_t
doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id)
{
	if (producer == NULL || id == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (producer->ctx.native == NULL)
		return DOCA_ERROR_BAD_STATE;
	*id = rte_comch_producer_id(producer->ctx.native);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
		doca_comch_producer_task_send_completion_cb_t task_completion_cb,
		doca_comch_producer_task_send_completion_cb_t task_error_cb,
		uint32_t num_send_tasks)
{
	if (producer == NULL || task_completion_cb == NULL || task_error_cb == NULL ||
			num_send_tasks == 0 || num_send_tasks > DFACE_MAX_DP_TASKS)
		return DOCA_ERROR_INVALID_VALUE;
	if (dface_ctx_may_set(&producer->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	producer->sent_cb = task_completion_cb;
	producer->error_cb = task_error_cb;
	producer->ctx.nb_tasks = num_send_tasks;
	return DOCA_SUCCESS;
}

/* Tasks */

doca_error_t
doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer,
		const struct doca_buf *buf, uint8_t *imm_data, uint32_t imm_data_len,
		uint32_t consumer_id, struct doca_comch_producer_task_send **task)
{
	struct doca_comch_producer_task_send *send;

	if (producer == NULL || task == NULL || imm_data_len > DFACE_MAX_IMM ||
			(imm_data == NULL && imm_data_len > 0) || !buf_is_good(buf) ||
			(buf == NULL && imm_data_len == 0))
		return DOCA_ERROR_INVALID_VALUE;
	if (producer->ctx.state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	send = (struct doca_comch_producer_task_send *)(void *)dface_task_take(&producer->ctx);
	if (send == NULL)
		return DOCA_ERROR_NO_MEMORY;
	send->buf = buf;
	send->consumer_id = consumer_id;
	doca_comch_producer_task_send_set_imm_data(send, imm_data, imm_data_len);
	*task = send;
	return DOCA_SUCCESS;
}

const struct doca_buf *
doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task)
{
	return task == NULL ? NULL : task->buf;
}

void
doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
		const struct doca_buf *buf)
{
	if (task != NULL)
		task->buf = buf;
}

uint32_t
doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task)
{
	return task == NULL ? 0 : task->consumer_id;
}

void
doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
		const uint32_t consumer_id)
{
	if (task != NULL)
		task->consumer_id = consumer_id;
}

uint8_t *
doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task)
{
	/* The application may change its own task's data. */
	return task == NULL || task->imm_len == 0 || task->imm_len > DFACE_MAX_IMM ? NULL :
		(uint8_t *)(uintptr_t)task->imm;
}

uint32_t
doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task)
{
	return task == NULL ? 0 : task->imm_len;
}

void
doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
		uint8_t *imm_data, uint32_t imm_data_len)
{
	if (task == NULL)
		return;
	/* Too much, or none where there should be some: for the submit to refuse. */
	if (imm_data == NULL && imm_data_len > 0)
		imm_data_len = UINT32_MAX;
	task->imm_len = imm_data_len;
	if (imm_data_len > 0 && imm_data_len <= DFACE_MAX_IMM)
		memcpy(task->imm, imm_data, imm_data_len);
}

struct doca_task *
doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
	return task == NULL ? NULL : &task->task;
}
