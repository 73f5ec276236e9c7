/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Contexts: start, stop, states and properties. The kinds of contexts differ in their ops. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "ctx/ctx.h"
#include "log/log.h"

const char *
impl_ctx_state_name(uint8_t state)
{
	static const char *const names[] = {
		[DOCA_CTX_STATE_IDLE] = "IDLE",
		[DOCA_CTX_STATE_STARTING] = "STARTING",
		[DOCA_CTX_STATE_RUNNING] = "RUNNING",
		[DOCA_CTX_STATE_STOPPING] = "STOPPING",
	};

	return names[state];
}

void
impl_ctx_init(struct doca_ctx *ctx, const struct impl_ctx_ops *ops,
		const struct impl_manners *manners)
{
	ctx->ops = ops;
	ctx->manners = manners;
	ctx->faults = manners->faults;
	ctx->burst = manners->single_progress ? 1 : IMPL_CTX_BURST;
	ctx->keeps_freed_tasks = manners->keeps_freed_tasks;
	ctx->deferred_end = &ctx->deferred;
	__atomic_store_n(&ctx->state, (uint8_t)DOCA_CTX_STATE_IDLE, __ATOMIC_RELAXED);
}

/*
 * The callback may destroy the context: do not use it afterwards, except within a
 * progress, which keeps the memory.
 */
static void
set_state(struct doca_ctx *ctx, enum doca_ctx_states next)
{
	enum doca_ctx_states prev = (enum doca_ctx_states)ctx->state;

	__atomic_store_n(&ctx->state, (uint8_t)next, __ATOMIC_RELAXED);
	/* Its end may need a progress. */
	if (next == DOCA_CTX_STATE_STOPPING && ctx->pe != NULL)
		impl_pe_activate(ctx->pe, ctx);
	if (ctx->state_cb != NULL)
		ctx->state_cb(ctx->user_data, ctx, prev, next);
}

/* Tasks */

static void
tasks_free(struct doca_ctx *ctx)
{
	free(ctx->tasks);
	ctx->tasks = NULL;
	ctx->free_tasks = NULL;
	ctx->deferred = NULL;
	ctx->deferred_end = &ctx->deferred;
	ctx->late_until = 0;
}

static doca_error_t
tasks_create(struct doca_ctx *ctx)
{
	const size_t size = RTE_ALIGN_CEIL(ctx->ops->task_size, (size_t)RTE_CACHE_LINE_SIZE);
	struct doca_task *task;
	uint32_t i;

	/* Those of the last start, which the program may still name: to_idle(). */
	tasks_free(ctx);
	if (ctx->nb_tasks == 0)
		return DOCA_SUCCESS;
	ctx->tasks = aligned_alloc(RTE_CACHE_LINE_SIZE, ctx->nb_tasks * size);
	if (ctx->tasks == NULL)
		return DOCA_ERROR_NO_MEMORY;
	memset(ctx->tasks, 0, ctx->nb_tasks * size);
	/* Tasks are allocated in the order of their addresses. */
	for (i = ctx->nb_tasks; i > 0; i--) {
		task = (struct doca_task *)(void *)(ctx->tasks + (i - 1) * size);
		task->ctx = ctx;
		task->next = ctx->free_tasks;
		ctx->free_tasks = task;
	}
	ctx->nb_taken = 0;
	ctx->nb_inflight = 0;
	ctx->nb_orphans = 0;
	return DOCA_SUCCESS;
}

/* States */

doca_error_t
impl_ctx_flush(struct doca_ctx *ctx)
{
	ctx->ops->flush(ctx);
	return DOCA_SUCCESS;
}

void
impl_ctx_wants_progress(struct doca_ctx *ctx)
{
	ctx->needs_progress = true;
	impl_pe_activate(ctx->pe, ctx);
}

/* The context is no longer in use: make it IDLE. */
static void
to_idle(struct doca_ctx *ctx)
{
	ctx->needs_progress = false;
	ctx->ops->release(ctx);
	/* The tasks are refused from here on, but their memory stays: some programs use it. */
	set_state(ctx, DOCA_CTX_STATE_IDLE);
}

bool
impl_ctx_settle(struct doca_ctx *ctx)
{
	/* The end of a connection may be pending behind events not yet handled. */
	if (!impl_ctx_can_settle(ctx) || impl_pe_has_events(ctx->pe, ctx))
		return false;
	to_idle(ctx);
	return true;
}

void
impl_ctx_on_running(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_STARTING)
		return;
	impl_task_submit_deferred(ctx);
	/* An error callback may have stopped it. */
	if (ctx->state != DOCA_CTX_STATE_STARTING)
		return;
	set_state(ctx, DOCA_CTX_STATE_RUNNING);
}

void
impl_ctx_fail(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return;
	ctx->native_idle = true;
	set_state(ctx, DOCA_CTX_STATE_STOPPING);
}

void
impl_ctx_on_state(struct doca_ctx *ctx, const struct rte_comch_event *event)
{
	if (event->status != 0 && event->text != NULL)
		IMPL_INFO("%s: %s: %s", ctx->ops->name,
			rte_comch_state_name(event->state.next), event->text);
	switch (event->state.next) {
	case RTE_COMCH_STATE_RUNNING:
		impl_ctx_on_running(ctx);
		return;
	case RTE_COMCH_STATE_STOPPING:
		if (ctx->state == DOCA_CTX_STATE_RUNNING)
			set_state(ctx, DOCA_CTX_STATE_STOPPING);
		return;
	case RTE_COMCH_STATE_IDLE:
		ctx->native_idle = true;
		/* Tasks submitted while STARTING must fail first. */
		if (ctx->state == DOCA_CTX_STATE_STARTING && impl_ctx_is_free(ctx)) {
			to_idle(ctx);
			return;
		}
		if (ctx->state != DOCA_CTX_STATE_STOPPING)
			set_state(ctx, DOCA_CTX_STATE_STOPPING);
		/* A progress makes it IDLE when all tasks have completed. */
		return;
	default:
		return;
	}
}

static doca_error_t
start_check(const struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE) {
		IMPL_ERR("%s: cannot start while %s", ctx->ops->name,
			impl_ctx_state_name(ctx->state));
		return DOCA_ERROR_BAD_STATE;
	}
	if (ctx->dpa != NULL)
		return DOCA_SUCCESS;
	if (ctx->ops->jobs != NULL)
		return ctx->ops->jobs->may_start(ctx);
	if (ctx->pe == NULL) {
		IMPL_ERR("%s: cannot start: no progress engine (call doca_pe_connect_ctx())",
			ctx->ops->name);
		return DOCA_ERROR_NOT_CONNECTED;
	}
	if (ctx->nb_tasks == 0) {
		IMPL_ERR("%s: cannot start: tasks are not configured (call ..._set_conf())",
			ctx->ops->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t
doca_ctx_start(struct doca_ctx *ctx)
{
	doca_error_t ret;

	if (ctx == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = start_check(ctx);
	if (ret == DOCA_SUCCESS)
		ret = tasks_create(ctx);
	if (ret != DOCA_SUCCESS)
		return ret;
	ctx->native_idle = false;
	ret = ctx->ops->start(ctx);
	/* A client may need a retry timer, which a sleeping engine has not set. */
	impl_pe_wake(ctx->pe);
	if (ret == DOCA_SUCCESS)
		set_state(ctx, DOCA_CTX_STATE_RUNNING);
	else if (ret == DOCA_ERROR_IN_PROGRESS)
		set_state(ctx, DOCA_CTX_STATE_STARTING);
	else
		tasks_free(ctx);
	return ret;
}

doca_error_t
doca_ctx_stop(struct doca_ctx *ctx)
{
	doca_error_t ret;

	if (ctx == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	if (ctx->state == DOCA_CTX_STATE_STOPPING)
		return DOCA_ERROR_IN_PROGRESS;
	if (__atomic_load_n(&ctx->nb_workqs, __ATOMIC_ACQUIRE) > 0) {
		IMPL_ERR("%s: cannot stop: it has a work queue (call doca_ctx_workq_rm())",
			ctx->ops->name);
		return DOCA_ERROR_IN_USE;
	}
	ret = ctx->ops->stop(ctx);
	if (ret != DOCA_SUCCESS && ret != DOCA_ERROR_IN_PROGRESS) {
		IMPL_ERR("%s: stop failed: %s", ctx->ops->name, doca_error_get_descr(ret));
		return ret;
	}
	ctx->native_idle = ret == DOCA_SUCCESS;
	impl_pe_wake(ctx->pe);
	if (impl_ctx_is_free(ctx) && (ctx->pe == NULL ||
			(!ctx->pe->running && !impl_pe_has_events(ctx->pe, ctx)))) {
		to_idle(ctx);
		return DOCA_SUCCESS;
	}
	set_state(ctx, DOCA_CTX_STATE_STOPPING);
	return DOCA_ERROR_IN_PROGRESS;
}

void
impl_ctx_free(struct doca_ctx *ctx)
{
	if (ctx->ops->fini != NULL)
		ctx->ops->fini(ctx);
	tasks_free(ctx);
	/* ctx is the first member of its object. */
	free(ctx);
}

doca_error_t
impl_ctx_destroy(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE) {
		IMPL_ERR("%s: cannot destroy while %s", ctx->ops->name,
			impl_ctx_state_name(ctx->state));
		return DOCA_ERROR_IN_USE;
	}
	if (ctx->is_dead)
		return DOCA_ERROR_INVALID_VALUE;
	ctx->is_dead = true;
	if (ctx->pe != NULL)
		impl_pe_remove(ctx->pe, ctx);
	else
		impl_ctx_free(ctx);
	return DOCA_SUCCESS;
}

/* Properties */

doca_error_t
doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks)
{
	if (ctx == NULL || num_inflight_tasks == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_inflight_tasks = ctx->nb_inflight;
	return DOCA_SUCCESS;
}

doca_error_t
doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
	if (ctx == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ctx->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
	if (ctx == NULL || user_data == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = ctx->user_data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb)
{
	if (ctx == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ctx->state_cb = cb;
	return DOCA_SUCCESS;
}

doca_error_t
doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
	if (ctx == NULL || state == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*state = (enum doca_ctx_states)__atomic_load_n(&ctx->state, __ATOMIC_RELAXED);
	return DOCA_SUCCESS;
}

/* Not supported by comch's devices */

void
doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	RTE_SET_USED(ctx);
}

static doca_error_t
not_supported(const struct doca_ctx *ctx, const char *what)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	IMPL_ERR("%s: %s is not supported", ctx->ops->name, what);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t
doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	if (ctx == NULL || gpu_dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return not_supported(ctx, "a data path on a GPU");
}

doca_error_t
doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev)
{
	if (ctx == NULL || dpa_dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->ops->set_dpa == NULL)
		return not_supported(ctx, "a data path on a DPA");
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	return ctx->ops->set_dpa(ctx, dpa_dev);
}

doca_error_t
doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector)
{
	RTE_SET_USED(comp_vector);
	if (ctx == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return not_supported(ctx, "a completion vector");
}

doca_error_t
doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
		uint32_t *num_comp_vectors)
{
	if (devinfo == NULL || num_comp_vectors == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_comp_vectors = 0;
	return DOCA_SUCCESS;
}
