/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Contexts of accelerators. */

#include <stdlib.h>

#include <rte_common.h>

#include "accel/accel.h"
#include "dev/dev.h"
#include "log/log.h"

static struct impl_accel *
accel_of(const struct doca_ctx *ctx)
{
	/* ctx is the first member of its object. */
	return (struct impl_accel *)(uintptr_t)ctx;
}

static struct impl_accel_task *
accel_task(const struct doca_task *task)
{
	return (struct impl_accel_task *)(uintptr_t)task;
}

static const struct impl_accel_kind *
kind_of(const struct impl_accel_task *task)
{
	return &accel_of(task->task.ctx)->kinds[task->kind];
}

/* Context */

static void
queue_clear(struct impl_accel *accel)
{
	accel->queue = NULL;
	accel->queue_end = &accel->queue;
}

doca_error_t
impl_accel_start(struct doca_ctx *ctx)
{
	queue_clear(accel_of(ctx));
	return DOCA_SUCCESS;
}

doca_error_t
impl_accel_stop(struct doca_ctx *ctx)
{
	/* The tasks that are left fail in the next progress. */
	RTE_SET_USED(ctx);
	return DOCA_SUCCESS;
}

void
impl_accel_release(struct doca_ctx *ctx)
{
	RTE_SET_USED(ctx);
}

void
impl_accel_event(struct doca_ctx *ctx, const struct rte_comch_event *event)
{
	RTE_SET_USED(ctx);
	RTE_SET_USED(event);
}

void
impl_accel_fini(struct doca_ctx *ctx)
{
	if (accel_of(ctx)->dev != NULL)
		impl_dev_drop(accel_of(ctx)->dev);
}

doca_error_t
impl_accel_create_without(const struct impl_ctx_ops *ops, const struct impl_accel_kind *kinds,
		uint32_t nb_kinds, size_t size, struct impl_accel **accel)
{
	static const struct impl_manners none;
	struct impl_accel *a;

	a = calloc(1, size);
	if (a == NULL)
		return DOCA_ERROR_NO_MEMORY;
	impl_ctx_init(&a->ctx, ops, &none);
	a->kinds = kinds;
	a->nb_kinds = nb_kinds;
	a->max_tasks = IMPL_MAX_ACCEL_TASKS;
	queue_clear(a);
	*accel = a;
	return DOCA_SUCCESS;
}

void
impl_accel_set_dev(struct impl_accel *accel, struct doca_dev *dev)
{
	impl_ctx_init(&accel->ctx, accel->ctx.ops, impl_dev_manners(dev));
	accel->dev = dev;
	impl_dev_hold(dev);
}

doca_error_t
impl_accel_create(struct doca_dev *dev, const struct impl_ctx_ops *ops,
		const struct impl_accel_kind *kinds, uint32_t nb_kinds, size_t size,
		struct impl_accel **accel)
{
	doca_error_t ret;

	if (!impl_dev_is_one(dev) || accel == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create_without(ops, kinds, nb_kinds, size, accel);
	if (ret == DOCA_SUCCESS)
		impl_accel_set_dev(*accel, dev);
	return ret;
}

doca_error_t
impl_accel_set_conf(struct impl_accel *accel, uint32_t kind, doca_task_completion_cb_t done_cb,
		doca_task_completion_cb_t error_cb, uint32_t nb_tasks)
{
	uint32_t i, nb = 0;

	if (accel == NULL || done_cb == NULL || error_cb == NULL || nb_tasks == 0 ||
			nb_tasks > accel->max_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_ctx_may_set(&accel->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	accel->conf[kind] = (struct impl_accel_conf){
		.done_cb = done_cb,
		.error_cb = error_cb,
		.nb_tasks = nb_tasks,
	};
	for (i = 0; i < accel->nb_kinds; i++)
		nb += accel->conf[i].nb_tasks;
	accel->ctx.nb_tasks = nb;
	return DOCA_SUCCESS;
}

/* Tasks */

doca_error_t
impl_accel_take(struct impl_accel *accel, uint32_t kind, const struct doca_buf *src,
		struct doca_buf *dst, union doca_data user_data, struct impl_accel_task **task)
{
	struct impl_accel_conf *conf;
	struct impl_accel_task *t;

	if (accel == NULL || src == NULL || dst == NULL || task == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_ctx_has_tasks(&accel->ctx, false))
		return DOCA_ERROR_BAD_STATE;
	conf = &accel->conf[kind];
	if (conf->nb_taken == conf->nb_tasks)
		return DOCA_ERROR_NO_MEMORY;
	/* The pool has as many as all kinds together. */
	t = accel_task(impl_task_take(&accel->ctx));
	conf->nb_taken++;
	t->task.user_data = user_data;
	t->src = src;
	t->dst = dst;
	t->kind = (uint8_t)kind;
	t->has_begun = false;
	*task = t;
	return DOCA_SUCCESS;
}

void
impl_accel_task_put(struct doca_task *task)
{
	accel_of(task->ctx)->conf[accel_task(task)->kind].nb_taken--;
}

bool
impl_accel_task_revive(struct doca_task *task)
{
	/* Its buffers may be others by now. */
	RTE_SET_USED(task);
	return false;
}

doca_error_t
impl_accel_admit(const struct impl_accel_task *task)
{
	/* The program can set them to NULL. */
	return task->src == NULL || task->dst == NULL ? DOCA_ERROR_INVALID_VALUE :
		kind_of(task)->admit(task);
}

doca_error_t
impl_accel_submit(struct doca_task *task)
{
	struct impl_accel *accel = accel_of(task->ctx);
	doca_error_t ret = impl_accel_admit(accel_task(task));

	if (ret != DOCA_SUCCESS)
		return ret;
	task->next = NULL;
	*accel->queue_end = task;
	accel->queue_end = &task->next;
	impl_ctx_wants_progress(&accel->ctx);
	return DOCA_SUCCESS;
}

doca_error_t
impl_accel_check(const struct doca_task *task)
{
	const struct impl_accel_task *t = accel_task(task);
	doca_error_t ret = impl_accel_admit(t);

	return ret == DOCA_SUCCESS ? kind_of(t)->check(t) : ret;
}

/* A submitted task that is not in the queue any more is done or has failed. */
void
impl_accel_report(struct doca_task *task, doca_error_t status)
{
	struct impl_accel *accel = accel_of(task->ctx);
	const struct impl_accel_conf *conf = &accel->conf[accel_task(task)->kind];

	if (impl_task_complete(task, status)) {
		if (status == DOCA_SUCCESS)
			conf->done_cb(task, task->user_data, accel->ctx.user_data);
		else
			conf->error_cb(task, task->user_data, accel->ctx.user_data);
	}
	if (status != DOCA_SUCCESS)
		impl_ctx_fail(&accel->ctx);
}

doca_error_t
impl_accel_work(struct impl_accel_task *task)
{
	const struct impl_accel_kind *kind = kind_of(task);
	doca_error_t ret;

	if (!task->has_begun) {
		/* Its buffers may be others than at the submit. */
		ret = impl_accel_admit(task);
		if (ret == DOCA_SUCCESS)
			ret = kind->check(task);
		if (ret == DOCA_SUCCESS && kind->begin != NULL)
			ret = kind->begin(task);
		if (ret != DOCA_SUCCESS)
			return ret;
		task->has_begun = true;
	}
	return kind->run(task);
}

void
impl_accel_end(struct impl_accel_task *task)
{
	if (task->has_begun && kind_of(task)->end != NULL)
		kind_of(task)->end(task);
	task->has_begun = false;
}

/* Take the oldest task out of the queue. */
static struct doca_task *
queue_pop(struct impl_accel *accel)
{
	struct doca_task *task = accel->queue;

	accel->queue = task->next;
	if (accel->queue == NULL)
		queue_clear(accel);
	impl_accel_end(accel_task(task));
	return task;
}

/* Fail the tasks that were submitted before now. */
static bool
fail_all(struct impl_accel *accel)
{
	uint16_t n;

	for (n = 0; n < accel->ctx.burst && accel->queue != NULL; n++)
		impl_accel_report(queue_pop(accel), DOCA_ERROR_SHUTDOWN);
	return n > 0;
}

/* Work on the oldest task. True: it is done. */
static bool
run_oldest(struct impl_accel *accel, size_t *budget)
{
	struct impl_accel_task *task = accel_task(accel->queue);
	doca_error_t status = DOCA_ERROR_SHUTDOWN;

	/* One that the program has freed is not worked on any more. */
	if (task->task.state != IMPL_TASK_ORPHAN) {
		task->budget = *budget;
		status = impl_accel_work(task);
		*budget = task->budget;
	}
	if (status == DOCA_ERROR_IN_PROGRESS)
		return false;
	if (task->task.state == IMPL_TASK_ORPHAN)
		impl_task_complete(queue_pop(accel), status);
	else
		impl_accel_report(queue_pop(accel), status);
	return true;
}

bool
impl_accel_progress(struct doca_ctx *ctx)
{
	struct impl_accel *accel = accel_of(ctx);
	size_t budget = IMPL_ACCEL_BUDGET;
	bool done = false;
	uint16_t n;

	if (ctx->state != DOCA_CTX_STATE_RUNNING) {
		done = fail_all(accel);
	} else {
		for (n = 0; n < ctx->burst && budget > 0 && accel->queue != NULL &&
				ctx->state == DOCA_CTX_STATE_RUNNING &&
				run_oldest(accel, &budget); n++)
			done = true;
	}
	ctx->needs_progress = accel->queue != NULL;
	return done;
}

bool
impl_accel_has_work(const struct doca_ctx *ctx)
{
	return accel_of(ctx)->queue != NULL;
}
