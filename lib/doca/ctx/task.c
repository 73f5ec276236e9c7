/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tasks: submitting, deferring, freeing. Batches are unsupported. */

#include <rte_common.h>

#include "ctx/ctx.h"
#include "ctx/yield.h"
#include "dev/report.h"

static inline void
submitted(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	task->state = IMPL_TASK_SUBMITTED;
	ctx->nb_inflight++;
	/* Completing it may need a progress that no native event wakes. */
	impl_pe_wake(ctx->pe);
}

void
impl_task_submitted(struct doca_task *task)
{
	submitted(task);
}

void
impl_task_keep(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	task->next = NULL;
	*ctx->deferred_end = task;
	ctx->deferred_end = &task->next;
	submitted(task);
}

/*
 * Defer a task while the channel accepts none. Rare, so keep it out of the frame
 * of a submit.
 */
static __rte_noinline doca_error_t
defer(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;
	doca_error_t ret = DOCA_SUCCESS;

	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	if (ctx->state == DOCA_CTX_STATE_STARTING)
		ret = ctx->ops->submit_early == NULL ? DOCA_ERROR_BAD_STATE :
			ctx->ops->submit_early(task);
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_task_keep(task);
	return DOCA_SUCCESS;
}

/* Detach the list of deferred tasks. */
static struct doca_task *
take_deferred(struct doca_ctx *ctx)
{
	struct doca_task *first = ctx->deferred;

	ctx->deferred = NULL;
	ctx->deferred_end = &ctx->deferred;
	return first;
}

void
impl_task_submit_deferred(struct doca_ctx *ctx)
{
	struct doca_task *task, *next;
	doca_error_t ret;

	for (task = take_deferred(ctx); task != NULL; task = next) {
		next = task->next;
		ret = task->state == IMPL_TASK_ORPHAN ? DOCA_ERROR_SHUTDOWN :
			ctx->ops->submit(task);
		if (ret != DOCA_SUCCESS)
			ctx->ops->task_report(task, ret);
	}
}

bool
impl_task_fail_deferred(struct doca_ctx *ctx)
{
	struct doca_task *task, *next, *first = take_deferred(ctx);

	/* Tasks that the callbacks submit are for the next progress. */
	for (task = first; task != NULL; task = next) {
		next = task->next;
		ctx->ops->task_report(task, DOCA_ERROR_SHUTDOWN);
	}
	return first != NULL;
}

/* Take a task out of the list of free ones. It stays there if what it names is gone. */
static bool
revive(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;
	struct doca_task **link;

	for (link = &ctx->free_tasks; *link != NULL && *link != task; link = &(*link)->next)
		;
	if (*link == NULL || !ctx->ops->task_revive(task))
		return false;
	*link = task->next;
	ctx->nb_taken++;
	task->state = IMPL_TASK_OWNED;
	return true;
}

static void
unrevive(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	if (ctx->ops->task_unrevive != NULL)
		ctx->ops->task_unrevive(task);
	ctx->nb_taken--;
	impl_task_put(task);
}

/*
 * Say once for each object that the program submits what it has freed, which other
 * implementations may not notice.
 */
static void
tell_of_freed(struct doca_ctx *ctx, const char *what)
{
	if (ctx->told_of_freed_task)
		return;
	ctx->told_of_freed_task = true;
	impl_report("a task of a %s was submitted after doca_task_free(): %s; allocate a task for "
		"each submit, or free it later", ctx->ops->name, what);
}

static __rte_always_inline doca_error_t
submit_now(struct doca_task *task)
{
	doca_error_t ret = task->ctx->ops->submit(task);

	if (unlikely(ret != DOCA_SUCCESS)) {
		if (ret == DOCA_ERROR_AGAIN) {
			impl_pe_flush_outer();
			impl_yield_idle();
		}
		return ret;
	}
	submitted(task);
	impl_yield_busy();
	return DOCA_SUCCESS;
}

doca_error_t
impl_task_submit_now(struct doca_task *task)
{
	return submit_now(task);
}

/* Submit a task that is not the program's. */
static __rte_noinline doca_error_t
submit_freed(struct doca_task *task)
{
	struct doca_ctx *ctx;
	doca_error_t ret;

	if (task == NULL || task->state != IMPL_TASK_FREE)
		return DOCA_ERROR_INVALID_VALUE;
	ctx = task->ctx;
	if (!ctx->keeps_freed_tasks) {
		tell_of_freed(ctx, "refused, and so are further ones (lenient = freed_tasks in the "
			"device table accepts them)");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	if (!revive(task)) {
		tell_of_freed(ctx, "refused, since what it names is gone");
		return DOCA_ERROR_INVALID_VALUE;
	}
	tell_of_freed(ctx, "accepted, as lenient = freed_tasks says");
	ret = ctx->faults != NULL ? impl_fault_submit(task) : impl_task_submit_now(task);
	if (ret != DOCA_SUCCESS)
		unrevive(task);
	return ret;
}

doca_error_t
doca_task_submit(struct doca_task *task)
{
	const struct doca_ctx *ctx;

	if (unlikely(task == NULL || task->state != IMPL_TASK_OWNED))
		return submit_freed(task);
	ctx = task->ctx;
	if (unlikely(ctx->state != DOCA_CTX_STATE_RUNNING))
		return defer(task);
	if (unlikely(ctx->faults != NULL))
		return impl_fault_submit(task);
	return submit_now(task);
}

doca_error_t
doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	if ((flags & ~(DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS)) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_task_submit(task);
}

doca_error_t
doca_task_try_submit(struct doca_task *task)
{
	doca_error_t ret;

	if (task != NULL && task->state == IMPL_TASK_OWNED && task->ctx->ops->check != NULL) {
		ret = task->ctx->ops->check(task);
		if (ret != DOCA_SUCCESS)
			return ret;
	}
	return doca_task_submit(task);
}

void
doca_task_free(struct doca_task *task)
{
	struct doca_ctx *ctx;

	if (task == NULL)
		return;
	ctx = task->ctx;
	switch (task->state) {
	case IMPL_TASK_OWNED:
		impl_task_put(task);
		break;
	case IMPL_TASK_SUBMITTED:
		/* Canceled: freed when the channel completes it. */
		task->state = IMPL_TASK_ORPHAN;
		ctx->nb_inflight--;
		ctx->nb_orphans++;
		if (ctx->ops->task_cancel != NULL)
			ctx->ops->task_cancel(task);
		break;
	default:
		return;
	}
	ctx->nb_taken--;
	if (unlikely(impl_ctx_can_settle(ctx)))
		impl_pe_wake(ctx->pe);
}

doca_error_t
doca_task_get_status(const struct doca_task *task)
{
	return task == NULL ? DOCA_ERROR_INVALID_VALUE : task->status;
}

void
doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
	if (task != NULL)
		task->user_data = user_data;
}

union doca_data
doca_task_get_user_data(const struct doca_task *task)
{
	return task == NULL ? (union doca_data){ .u64 = 0 } : task->user_data;
}

struct doca_ctx *
doca_task_get_ctx(const struct doca_task *task)
{
	return task == NULL ? NULL : task->ctx;
}

/* Batches: the library never creates one. */

doca_error_t
doca_task_batch_submit(struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t
doca_task_batch_try_submit(struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
	return DOCA_ERROR_NOT_SUPPORTED;
}

void
doca_task_batch_free(struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
}

doca_error_t
doca_task_batch_get_status(const struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
	return DOCA_ERROR_NOT_SUPPORTED;
}

void
doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data)
{
	RTE_SET_USED(task_batch);
	RTE_SET_USED(user_data);
}

union doca_data
doca_task_batch_get_user_data(const struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
	return (union doca_data){ .u64 = 0 };
}

struct doca_ctx *
doca_task_batch_get_ctx(const struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
	return NULL;
}

union doca_data
doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
	return (union doca_data){ .u64 = 0 };
}

uint16_t
doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch)
{
	RTE_SET_USED(task_batch);
	return 0;
}
