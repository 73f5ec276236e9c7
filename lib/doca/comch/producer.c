/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Tasks of producers, and producers of connections.
 *
 * A send that the native channel accepts is in the consumer's buffer, or has failed, and the
 * next progress completes its task; if a DMA device copies it, a later one does.
 *
 * Submits in callbacks are batched, which is several times as fast. If the channel does
 * not accept the whole batch, the rest is sent before anything else, and submits return
 * AGAIN until then. Each submit retries it, since a program may call nothing else.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_prefetch.h>

#include "base/err.h"
#include "comch/cc_names.h"
#include "comch/data_path.h"
#include "mem/mem.h"

#define BURST IMPL_CTX_BURST

/* A producer of a connection. */
struct conn_producer {
	struct doca_comch_producer base;
	struct doca_comch_connection *conn;
};

static inline const struct impl_producer_ops *
ops_of(const struct doca_comch_producer *p)
{
	return (const struct impl_producer_ops *)(const void *)p->ctx.ops;
}

/* Context of a producer of a connection */

static doca_error_t
producer_start(struct doca_ctx *ctx)
{
	struct conn_producer *p = (struct conn_producer *)ctx;
	const struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = ctx->pe->poll,
		.queue_size = ctx->nb_tasks,
		.user_data = (uintptr_t)ctx,
		/* A burst is what callbacks submit. */
		.flags = RTE_COMCH_PRODUCER_F_PAUSES,
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
		/* The connection has ended meanwhile. */
		return ret == -EBADFD || ret == -ECONNRESET ? DOCA_ERROR_NOT_CONNECTED :
			impl_err(ret);
	}
	ctx->native = native;
	impl_ctx_wants_progress(ctx);
	p->base.id = rte_comch_producer_id(native);
	p->base.has_backlog = false;
	p->base.taken.nb_next = 0;
	p->base.end = DOCA_ERROR_SHUTDOWN;
	return DOCA_SUCCESS;
}

static doca_error_t
producer_stop(struct doca_ctx *ctx)
{
	int ret;

	/* The connection has ended; its event is pending. */
	if (rte_comch_producer_state(ctx->native) != RTE_COMCH_STATE_RUNNING)
		return DOCA_ERROR_IN_PROGRESS;
	ret = rte_comch_producer_stop(ctx->native);
	return ret == -EBADFD ? DOCA_ERROR_IN_PROGRESS : impl_err(ret);
}

static void
producer_release(struct doca_ctx *ctx)
{
	rte_comch_producer_destroy(ctx->native);
	ctx->native = NULL;
	((struct doca_comch_producer *)ctx)->id = 0;
}

static void
producer_event(struct doca_ctx *ctx, const struct rte_comch_event *event)
{
	struct doca_comch_producer *p = (struct doca_comch_producer *)ctx;

	if (event->type != RTE_COMCH_EVENT_STATE || event->obj.ptr != ctx->native)
		return;
	if (event->status != 0)
		p->end = impl_err(event->status);
	impl_ctx_on_state(ctx, event);
}

/* Common to all producers with tasks */

static struct doca_comch_producer_task_send *
task_of(uint64_t cookie)
{
	return (struct doca_comch_producer_task_send *)(uintptr_t)cookie;
}

static void
task_done(struct doca_comch_producer *p, struct doca_comch_producer_task_send *send,
		doca_error_t status)
{
	if (!impl_task_complete(&send->task, status))
		return;
	if (likely(status == DOCA_SUCCESS))
		p->sent_cb(send, send->task.user_data, p->ctx.user_data);
	else
		p->error_cb(send, send->task.user_data, p->ctx.user_data);
}

void
impl_producer_task_fail(struct doca_task *task, doca_error_t status)
{
	task_done((struct doca_comch_producer *)task->ctx,
		(struct doca_comch_producer_task_send *)(void *)task, status);
}

/* Do not send tasks that were freed meanwhile: their buffers may be freed as well. */
static void
drop_orphans(struct doca_comch_producer *p)
{
	struct doca_comch_producer_task_send *send;
	uint16_t i, n = 0;

	for (i = 0; i < p->nb_batched; i++) {
		send = task_of(p->batch[i].cookie);
		if (unlikely(send->task.state == IMPL_TASK_ORPHAN))
			impl_task_complete(&send->task, DOCA_ERROR_SHUTDOWN);
		else if (n++ != i)
			p->batch[n - 1] = p->batch[i];
	}
	p->nb_batched = n;
}

void
impl_producer_flush(struct doca_ctx *ctx)
{
	struct doca_comch_producer *p = (struct doca_comch_producer *)ctx;
	uint16_t n;

	if (p->nb_batched == 0 || ctx->state != DOCA_CTX_STATE_RUNNING)
		return;
	/* Some of them may be in the batch. */
	if (unlikely(ctx->nb_orphans > 0))
		drop_orphans(p);
	n = ops_of(p)->send(ctx->native, p->batch, p->nb_batched);
	p->nb_batched -= n;
	p->has_backlog = p->nb_batched > 0;
	if (unlikely(p->has_backlog))
		memmove(p->batch, p->batch + n, p->nb_batched * sizeof(p->batch[0]));
}

/* The producer no longer runs: complete the batch with an error. */
static void
fail_batch(struct doca_comch_producer *p)
{
	uint16_t i, n = p->nb_batched;

	p->nb_batched = 0;
	for (i = 0; i < n; i++)
		task_done(p, task_of(p->batch[i].cookie), p->end);
}

bool
impl_producer_task_revive(struct doca_task *task)
{
	const struct doca_comch_producer_task_send *send =
		(const struct doca_comch_producer_task_send *)(const void *)task;

	return impl_task_revive_buf(task, (struct doca_buf *)(uintptr_t)send->buf);
}

void
impl_producer_task_unrevive(struct doca_task *task)
{
	const struct doca_comch_producer_task_send *send =
		(const struct doca_comch_producer_task_send *)(const void *)task;

	impl_task_unrevive_buf(task, (struct doca_buf *)(uintptr_t)send->buf);
}

bool
impl_producer_has_work(const struct doca_ctx *ctx)
{
	return ((const struct doca_comch_producer *)ctx)->taken.nb_next > 0;
}

/* The buffers of tasks that callbacks submit again. */
#define FETCH_AHEAD 4

bool
impl_producer_progress(struct doca_ctx *ctx)
{
	struct doca_comch_producer *p = (struct doca_comch_producer *)ctx;
	const struct rte_comch_cpl *cpls;
	uint16_t i, n;

	if (impl_ctx_nb_busy(ctx) == 0)
		return false;
	impl_producer_flush(ctx);
	cpls = impl_taken_get(&p->taken, ctx, ops_of(p)->done, &n);
	for (i = 0; i < n; i++) {
		if (i + FETCH_AHEAD < n)
			rte_prefetch0(task_of(cpls[i + FETCH_AHEAD].cookie)->buf);
		task_done(p, task_of(cpls[i].cookie), impl_err(cpls[i].status));
	}
	if (unlikely(ctx->state != DOCA_CTX_STATE_RUNNING && p->nb_batched > 0 && n == 0)) {
		fail_batch(p);
		return true;
	}
	return n > 0;
}

/* A buffer to send is a single piece of memory of this process. */
static bool
buf_is_valid(const struct doca_comch_producer *p, const struct doca_buf *buf)
{
	return buf == NULL || (p->max_buf_size > 0 && buf->mr != NULL && buf->next == NULL &&
		buf->prev == NULL && buf->data_len <= p->max_buf_size);
}

/*
 * Fill in the next operation of the batch. There, and not by way of the stack: written by
 * member, and read whole at once, a copy would wait until every store before it, also to
 * lines of the peer, is out of the CPU.
 */
static void
fill_next(struct doca_comch_producer *p, const struct doca_comch_producer_task_send *send)
{
	struct rte_comch_op *op = &p->batch[p->nb_batched];
	const struct doca_buf *buf = send->buf;

	if (likely(buf != NULL)) {
		op->addr = buf->data;
		op->mr = buf->mr;
		op->len = (uint32_t)buf->data_len;
	} else {
		op->addr = NULL;
		op->mr = NULL;
		op->len = 0;
	}
	op->cookie = (uintptr_t)send;
	op->consumer_id = send->consumer_id;
	op->imm = send->imm;
	op->imm_len = (uint16_t)send->imm_len;
	op->flags = 0;
	op->nb_sges = 0;
}

/* The rare ends of a submit, which therefore has no frame. */

static __rte_noinline doca_error_t
send_next(struct doca_comch_producer *p)
{
	return likely(ops_of(p)->send(p->ctx.native, &p->batch[p->nb_batched], 1) == 1) ?
		DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

/* If the channel is too full for another operation, so may be the batch. */
static __rte_noinline doca_error_t
submit_behind(struct doca_task *task)
{
	const struct doca_comch_producer *p = (const struct doca_comch_producer *)task->ctx;

	impl_producer_flush(task->ctx);
	return p->has_backlog ? DOCA_ERROR_AGAIN : impl_producer_submit(task);
}

doca_error_t
impl_producer_submit(struct doca_task *task)
{
	const struct doca_comch_producer_task_send *send =
		(const struct doca_comch_producer_task_send *)(const void *)task;
	struct doca_comch_producer *p = (struct doca_comch_producer *)task->ctx;

	if (unlikely(send->imm_len > IMPL_MAX_IMM || !buf_is_valid(p, send->buf) ||
			(send->buf == NULL && send->imm_len == 0)))
		return DOCA_ERROR_INVALID_VALUE;
	if (unlikely(p->has_backlog))
		return submit_behind(task);
	fill_next(p, send);
	if (!p->ctx.pe->running)
		return send_next(p);
	p->ctx.pe->has_batch = true;
	return unlikely(++p->nb_batched == BURST) ? impl_ctx_flush(&p->ctx) : DOCA_SUCCESS;
}

/* Producers of connections */

static uint16_t
conn_send(void *native, const struct rte_comch_op *ops, uint16_t n)
{
	return rte_comch_producer_send_burst(native, ops, n);
}

static uint16_t
conn_done(void *native, struct rte_comch_cpl *cpls, uint16_t n)
{
	return rte_comch_producer_done_burst(native, cpls, n);
}

static doca_error_t
conn_destroy(struct doca_comch_producer *producer)
{
	struct doca_comch_connection *conn = ((struct conn_producer *)producer)->conn;
	doca_error_t ret = impl_ctx_destroy(&producer->ctx);

	if (ret == DOCA_SUCCESS)
		impl_conn_leave(conn, &conn->nb_producers);
	return ret;
}

static const struct impl_producer_ops conn_ops = {
	.ctx = {
		.name = "producer",
		.task_size = sizeof(struct doca_comch_producer_task_send),
		.start = producer_start,
		.stop = producer_stop,
		.release = producer_release,
		.event = producer_event,
		.progress = impl_producer_progress,
		.has_work = impl_producer_has_work,
		.submit = impl_producer_submit,
		.task_report = impl_producer_task_fail,
		.task_revive = impl_producer_task_revive,
		.task_unrevive = impl_producer_task_unrevive,
		.flush = impl_producer_flush,
	},
	.destroy = conn_destroy,
	.send = conn_send,
	.done = conn_done,
};

doca_error_t
doca_comch_producer_create(struct doca_comch_connection *comch_connection,
		struct doca_comch_producer **producer)
{
	struct conn_producer *p;
	doca_error_t ret;

	if (comch_connection == NULL || producer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_conn_join(comch_connection, &comch_connection->nb_producers,
		comch_connection->manners->limits.max_producers);
	if (ret != DOCA_SUCCESS)
		return ret;
	p = calloc(1, sizeof(*p));
	if (p == NULL) {
		impl_conn_leave(comch_connection, &comch_connection->nb_producers);
		return DOCA_ERROR_NO_MEMORY;
	}
	impl_ctx_init(&p->base.ctx, &conn_ops.ctx, comch_connection->manners);
	p->base.max_buf_size = comch_connection->manners->limits.max_buf_size;
	p->conn = comch_connection;
	*producer = &p->base;
	return DOCA_SUCCESS;
}

/* All producers */

doca_error_t
doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	return producer == NULL ? DOCA_ERROR_INVALID_VALUE : ops_of(producer)->destroy(producer);
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
	if (producer->id == 0)
		return DOCA_ERROR_BAD_STATE;
	*id = producer->id;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
		doca_comch_producer_task_send_completion_cb_t task_completion_cb,
		doca_comch_producer_task_send_completion_cb_t task_error_cb,
		uint32_t num_send_tasks)
{
	if (producer == NULL || task_completion_cb == NULL || task_error_cb == NULL ||
			num_send_tasks == 0 ||
			num_send_tasks > producer->ctx.manners->limits.max_num_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	/* A producer on the DPA has no tasks. */
	if (impl_ctx_may_set(&producer->ctx) != DOCA_SUCCESS || producer->ctx.dpa != NULL)
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

	if (producer == NULL || task == NULL || imm_data_len > IMPL_MAX_IMM ||
			(imm_data == NULL && imm_data_len > 0) || !buf_is_valid(producer, buf) ||
			(buf == NULL && imm_data_len == 0))
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_ctx_has_tasks(&producer->ctx, false))
		return DOCA_ERROR_BAD_STATE;
	send = (struct doca_comch_producer_task_send *)(void *)impl_task_take(&producer->ctx);
	if (send == NULL)
		return DOCA_ERROR_NO_MEMORY;
	send->buf = buf;
	send->task.buf_use = impl_buf_use(buf);
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
	if (task == NULL)
		return;
	task->buf = buf;
	task->task.buf_use = impl_buf_use(buf);
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
	/* Not const: the application may modify the data of its task. */
	return task == NULL || task->imm_len == 0 || task->imm_len > IMPL_MAX_IMM ? NULL :
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
	/* This function returns no error: let the submit refuse invalid data. */
	if (imm_data == NULL && imm_data_len > 0)
		imm_data_len = UINT32_MAX;
	task->imm_len = imm_data_len;
	if (imm_data_len > 0 && imm_data_len <= IMPL_MAX_IMM)
		memcpy(task->imm, imm_data, imm_data_len);
}

struct doca_task *
doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
	return task == NULL ? NULL : &task->task;
}

IMPL_CC_NAMES_PRODUCER(IMPL_CC_NAME)
