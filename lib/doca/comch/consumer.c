/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Tasks of consumers, and consumers of connections. A submit posts one native buffer,
 * which the native receive burst completes.
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

/* A consumer of a connection. */
struct conn_consumer {
	struct doca_comch_consumer base;
	struct doca_comch_connection *conn;
	struct doca_mmap *mmap;
};

static inline const struct impl_consumer_ops *
ops_of(const struct doca_comch_consumer *c)
{
	return (const struct impl_consumer_ops *)(const void *)c->ctx.ops;
}

/* Context of a consumer of a connection */

static int
start_native(struct conn_consumer *c, struct rte_comch_consumer **native)
{
	const struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.poll = c->base.ctx.pe->poll,
		.queue_size = c->base.ctx.nb_tasks,
		/* 0 would be the native default. */
		.imm_size = c->base.imm_len > 0 ? c->base.imm_len :
			c->base.ctx.manners->limits.max_imm_data_len,
		.mrs = &c->base.mr,
		.nb_mrs = 1,
		.user_data = (uintptr_t)&c->base.ctx,
	};

	*native = NULL;
	if (c->conn->native == NULL)
		return -ECONNRESET;
	*native = rte_comch_consumer_create(c->conn->native, &conf);
	return *native == NULL ? -rte_errno : rte_comch_consumer_start(*native);
}

static doca_error_t
consumer_start(struct doca_ctx *ctx)
{
	struct conn_consumer *c = (struct conn_consumer *)ctx;
	struct rte_comch_consumer *native;
	int ret;

	pthread_mutex_lock(&c->conn->lock);
	ret = start_native(c, &native);
	pthread_mutex_unlock(&c->conn->lock);
	if (ret != -EINPROGRESS) {
		rte_comch_consumer_destroy(native);
		/* The connection has ended meanwhile. */
		return ret == -EBADFD || ret == -ECONNRESET ? DOCA_ERROR_NOT_CONNECTED :
			impl_err(ret);
	}
	ctx->native = native;
	c->base.taken.nb_next = 0;
	c->base.id = rte_comch_consumer_id(native);
	return DOCA_ERROR_IN_PROGRESS;
}

/* Whether the native consumer stops because its connection has ended. */
static bool
is_ending(const struct doca_ctx *ctx)
{
	const enum rte_comch_state state = rte_comch_consumer_state(ctx->native);

	return state == RTE_COMCH_STATE_STOPPING || state == RTE_COMCH_STATE_IDLE;
}

static doca_error_t
consumer_stop(struct doca_ctx *ctx)
{
	int ret;

	/* Post the batch, so that the stop returns its tasks, too. */
	impl_consumer_flush(ctx);
	/* The connection has ended; its event is pending. */
	if (is_ending(ctx))
		return DOCA_ERROR_IN_PROGRESS;
	ret = rte_comch_consumer_stop(ctx->native);
	return ret == -EBADFD ? DOCA_ERROR_IN_PROGRESS : impl_err(ret);
}

static void
consumer_release(struct doca_ctx *ctx)
{
	rte_comch_consumer_destroy(ctx->native);
	ctx->native = NULL;
	((struct doca_comch_consumer *)ctx)->id = 0;
}

static void
consumer_event(struct doca_ctx *ctx, const struct rte_comch_event *event)
{
	if (event->type != RTE_COMCH_EVENT_STATE || event->obj.ptr != ctx->native)
		return;
	/* Even if it was stopped meanwhile: the native consumer must be drained. */
	if (event->state.next == RTE_COMCH_STATE_RUNNING)
		impl_ctx_wants_progress(ctx);
	impl_ctx_on_state(ctx, event);
}

/* Common to all consumers with tasks */

/* This always fits: the queue is as deep as there are tasks. */
void
impl_consumer_flush(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *c = (struct doca_comch_consumer *)ctx;

	if (c->nb_batched == 0)
		return;
	ops_of(c)->post(ctx->native, c->batch, c->nb_batched);
	c->nb_batched = 0;
}

static void
on_message(struct doca_comch_consumer *c, struct doca_comch_consumer_task_post_recv *recv,
		const struct rte_comch_cpl *cpl)
{
	struct doca_buf *buf = recv->buf;

	/* Skip if the application has changed the buffer meanwhile. */
	if (likely(buf != NULL && impl_buf_tail(buf) == recv->tail &&
			cpl->len <= impl_buf_room(buf)))
		buf->data_len += cpl->len;
	recv->producer_id = cpl->peer_id;
	recv->imm_len = cpl->imm_len;
	if (cpl->imm_len > 0)
		memcpy(recv->imm, cpl->imm, sizeof(recv->imm));
	c->recv_cb(recv, recv->task.user_data, c->ctx.user_data);
}

void
impl_consumer_task_fail(struct doca_task *task, doca_error_t status)
{
	struct doca_comch_consumer *c = (struct doca_comch_consumer *)task->ctx;

	if (impl_task_complete(task, status))
		c->error_cb((struct doca_comch_consumer_task_post_recv *)(void *)task,
			task->user_data, c->ctx.user_data);
}

/* It receives where it did before. */
bool
impl_consumer_task_revive(struct doca_task *task)
{
	const struct doca_comch_consumer_task_post_recv *recv =
		(const struct doca_comch_consumer_task_post_recv *)(const void *)task;
	struct doca_buf *buf = recv->buf;

	if (!impl_task_revive_buf(task, buf))
		return false;
	if (task->has_revived_buf && recv->tail >= buf->data &&
			(uint8_t *)recv->tail <= (uint8_t *)buf->head + buf->len)
		buf->data_len = (size_t)((uint8_t *)recv->tail - (uint8_t *)buf->data);
	return true;
}

void
impl_consumer_task_unrevive(struct doca_task *task)
{
	impl_task_unrevive_buf(task,
		((struct doca_comch_consumer_task_post_recv *)(void *)task)->buf);
}

static inline struct doca_comch_consumer_task_post_recv *
task_of(const struct rte_comch_cpl *cpl)
{
	return (struct doca_comch_consumer_task_post_recv *)(uintptr_t)cpl->cookie;
}

bool
impl_consumer_has_work(const struct doca_ctx *ctx)
{
	return ((const struct doca_comch_consumer *)ctx)->taken.nb_next > 0;
}

/*
 * A callback reads its message, which is in the cache of the peer's CPU. Ask for those of the
 * callbacks that follow: more than this many, and the CPU waits before it asks.
 */
#define FETCH_AHEAD 16

/* Ask for message i of this progress, or, behind its n, of the next one. */
static __rte_always_inline void
fetch_payload(const struct impl_taken *t, const struct rte_comch_cpl *cpls, uint16_t n, uint16_t i)
{
	const struct rte_comch_cpl *cpl;

	if (i < n)
		cpl = &cpls[i];
	else if (i - n < t->nb_next)
		cpl = &t->cpls[t->turn % 2][i - n];
	else
		return;
	if (cpl->len > 0)
		rte_prefetch0(task_of(cpl)->tail);
}

bool
impl_consumer_progress(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *c = (struct doca_comch_consumer *)ctx;
	/* Those taken before were asked for, too. */
	uint16_t i = c->taken.nb_next, n;
	struct doca_comch_consumer_task_post_recv *recv;
	const struct rte_comch_cpl *cpls;
	doca_error_t status;

	cpls = impl_taken_get(&c->taken, ctx, ops_of(c)->recv, &n);
	for (; i < n && i < FETCH_AHEAD; i++)
		fetch_payload(&c->taken, cpls, n, i);
	for (i = 0; i < n; i++) {
		fetch_payload(&c->taken, cpls, n, i + FETCH_AHEAD);
		if (i + 1 < n)
			rte_prefetch0(task_of(&cpls[i + 1])->buf);
		recv = task_of(&cpls[i]);
		status = impl_err(cpls[i].status);
		if (!impl_task_complete(&recv->task, status))
			continue;
		if (likely(status == DOCA_SUCCESS))
			on_message(c, recv, &cpls[i]);
		else
			c->error_cb(recv, recv->task.user_data, ctx->user_data);
	}
	return n > 0;
}

static bool
buf_is_valid(const struct doca_comch_consumer *c, const struct doca_buf *buf)
{
	return buf == NULL || (c->max_buf_size > 0 && buf->mr == c->mr && buf->next == NULL &&
		buf->prev == NULL);
}

/* Programs post as soon as the peer's consumer is announced, maybe before RUNNING. */
static doca_error_t
submit_early(const struct doca_task *task)
{
	const struct doca_comch_consumer_task_post_recv *recv =
		(const struct doca_comch_consumer_task_post_recv *)(const void *)task;

	return buf_is_valid((const struct doca_comch_consumer *)task->ctx, recv->buf) ?
		DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* Fill in the next buffer of the batch: there, as fill_next() of producer.c. */
static void
fill_next(struct doca_comch_consumer *c, struct doca_comch_consumer_task_post_recv *recv)
{
	struct rte_comch_buf *post = &c->batch[c->nb_batched];
	const struct doca_buf *buf = recv->buf;
	size_t room = 0;

	post->cookie = (uintptr_t)recv;
	post->reserved = 0;
	if (likely(buf != NULL)) {
		recv->tail = impl_buf_tail(buf);
		room = impl_buf_room(buf);
	}
	post->addr = room > 0 ? recv->tail : NULL;
	post->mr = room > 0 ? buf->mr : NULL;
	post->len = (uint32_t)RTE_MIN(room, c->max_buf_size);
}

/* Out of the frame of a submit, as in producer.c. */
static __rte_noinline doca_error_t
post_next(struct doca_comch_consumer *c)
{
	return likely(ops_of(c)->post(c->ctx.native, &c->batch[c->nb_batched], 1) == 1) ?
		DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

doca_error_t
impl_consumer_submit(struct doca_task *task)
{
	struct doca_comch_consumer_task_post_recv *recv =
		(struct doca_comch_consumer_task_post_recv *)(void *)task;
	struct doca_comch_consumer *c = (struct doca_comch_consumer *)task->ctx;

	if (unlikely(!buf_is_valid(c, recv->buf)))
		return DOCA_ERROR_INVALID_VALUE;
	recv->producer_id = 0;
	recv->imm_len = 0;
	fill_next(c, recv);
	if (!c->ctx.pe->running)
		return post_next(c);
	c->ctx.pe->has_batch = true;
	return unlikely(++c->nb_batched == BURST) ? impl_ctx_flush(&c->ctx) : DOCA_SUCCESS;
}

/* Consumers of connections */

static uint16_t
conn_post(void *native, const struct rte_comch_buf *bufs, uint16_t n)
{
	return rte_comch_consumer_post_burst(native, bufs, n);
}

static uint16_t
conn_recv(void *native, struct rte_comch_cpl *cpls, uint16_t n)
{
	return rte_comch_consumer_recv_burst(native, cpls, n);
}

static doca_error_t
conn_destroy(struct doca_comch_consumer *consumer)
{
	struct doca_comch_connection *conn = ((struct conn_consumer *)consumer)->conn;
	struct doca_mmap *mmap = ((struct conn_consumer *)consumer)->mmap;
	doca_error_t ret = impl_ctx_destroy(&consumer->ctx);

	if (ret != DOCA_SUCCESS)
		return ret;
	impl_mmap_drop(mmap);
	impl_conn_leave(conn, &conn->nb_consumers);
	return DOCA_SUCCESS;
}

static const struct impl_consumer_ops conn_ops = {
	.ctx = {
		.name = "consumer",
		.task_size = sizeof(struct doca_comch_consumer_task_post_recv),
		.start = consumer_start,
		.stop = consumer_stop,
		.release = consumer_release,
		.event = consumer_event,
		.progress = impl_consumer_progress,
		.has_work = impl_consumer_has_work,
		.submit = impl_consumer_submit,
		.submit_early = submit_early,
		.task_report = impl_consumer_task_fail,
		.task_revive = impl_consumer_task_revive,
		.task_unrevive = impl_consumer_task_unrevive,
		.flush = impl_consumer_flush,
	},
	.destroy = conn_destroy,
	.post = conn_post,
	.recv = conn_recv,
};

doca_error_t
doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
		struct doca_mmap *buf_mmap, struct doca_comch_consumer **consumer)
{
	struct conn_consumer *c;
	doca_error_t ret;

	if (comch_connection == NULL || buf_mmap == NULL || consumer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_mmap_mr(buf_mmap) == NULL)
		return DOCA_ERROR_BAD_STATE;
	if (!impl_mmap_is_writable(buf_mmap))
		return DOCA_ERROR_NOT_PERMITTED;
	ret = impl_conn_join(comch_connection, &comch_connection->nb_consumers,
		comch_connection->manners->limits.max_consumers);
	if (ret != DOCA_SUCCESS)
		return ret;
	c = calloc(1, sizeof(*c));
	if (c == NULL) {
		impl_conn_leave(comch_connection, &comch_connection->nb_consumers);
		return DOCA_ERROR_NO_MEMORY;
	}
	impl_ctx_init(&c->base.ctx, &conn_ops.ctx, comch_connection->manners);
	c->base.mr = impl_mmap_mr(buf_mmap);
	c->base.max_buf_size = comch_connection->manners->limits.max_buf_size;
	c->base.imm_len = comch_connection->manners->limits.max_imm_data_len;
	c->conn = comch_connection;
	c->mmap = buf_mmap;
	impl_mmap_hold(buf_mmap);
	*consumer = &c->base;
	return DOCA_SUCCESS;
}

/* All consumers */

doca_error_t
doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
	return consumer == NULL ? DOCA_ERROR_INVALID_VALUE : ops_of(consumer)->destroy(consumer);
}

struct doca_ctx *
doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
	return consumer == NULL ? NULL : &consumer->ctx;
}

doca_error_t
doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id)
{
	if (consumer == NULL || id == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (consumer->id == 0)
		return DOCA_ERROR_BAD_STATE;
	*id = consumer->id;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
		uint32_t *imm_data_len)
{
	if (consumer == NULL || imm_data_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*imm_data_len = consumer->imm_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer, uint32_t imm_data_len)
{
	if (consumer == NULL || imm_data_len > consumer->ctx.manners->limits.max_imm_data_len)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_ctx_may_set(&consumer->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	consumer->imm_len = imm_data_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_task_post_recv_set_conf(struct doca_comch_consumer *consumer,
		doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
		doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb,
		uint32_t num_post_recv_tasks)
{
	if (consumer == NULL || task_completion_cb == NULL || task_error_cb == NULL ||
			num_post_recv_tasks == 0 ||
			num_post_recv_tasks > consumer->ctx.manners->limits.max_num_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	/* A consumer on the DPA has no tasks. */
	if (impl_ctx_may_set(&consumer->ctx) != DOCA_SUCCESS || consumer->ctx.dpa != NULL)
		return DOCA_ERROR_BAD_STATE;
	consumer->recv_cb = task_completion_cb;
	consumer->error_cb = task_error_cb;
	consumer->ctx.nb_tasks = num_post_recv_tasks;
	return DOCA_SUCCESS;
}

/* Tasks */

doca_error_t
doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer,
		struct doca_buf *buf, struct doca_comch_consumer_task_post_recv **task)
{
	struct doca_comch_consumer_task_post_recv *recv;

	if (consumer == NULL || task == NULL || !buf_is_valid(consumer, buf))
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_ctx_has_tasks(&consumer->ctx, true))
		return DOCA_ERROR_BAD_STATE;
	recv = (struct doca_comch_consumer_task_post_recv *)(void *)
		impl_task_take(&consumer->ctx);
	if (recv == NULL)
		return DOCA_ERROR_NO_MEMORY;
	recv->buf = buf;
	recv->task.buf_use = impl_buf_use(buf);
	recv->tail = NULL;
	recv->producer_id = 0;
	recv->imm_len = 0;
	*task = recv;
	return DOCA_SUCCESS;
}

struct doca_buf *
doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task)
{
	return task == NULL ? NULL : task->buf;
}

void
doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
		struct doca_buf *buf)
{
	if (task == NULL)
		return;
	task->buf = buf;
	task->task.buf_use = impl_buf_use(buf);
	task->tail = NULL;
}

uint32_t
doca_comch_consumer_task_post_recv_get_producer_id(
		const struct doca_comch_consumer_task_post_recv *task)
{
	return task == NULL ? 0 : task->producer_id;
}

const uint8_t *
doca_comch_consumer_task_post_recv_get_imm_data(
		const struct doca_comch_consumer_task_post_recv *task)
{
	return task == NULL || task->imm_len == 0 ? NULL : task->imm;
}

uint32_t
doca_comch_consumer_task_post_recv_get_imm_data_len(
		const struct doca_comch_consumer_task_post_recv *task)
{
	return task == NULL ? 0 : task->imm_len;
}

struct doca_task *
doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task)
{
	return task == NULL ? NULL : &task->task;
}

IMPL_CC_NAMES_CONSUMER(IMPL_CC_NAME)
