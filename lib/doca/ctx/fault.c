/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Contexts of a device that has faults. A late task waits in the list of deferred ones, and those
 * that are submitted meanwhile behind it: messages keep their order.
 */

#include <rte_cycles.h>

#include "ctx/ctx.h"
#include "ctx/yield.h"

static void
keep_late(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	if (ctx->late_until == 0)
		ctx->late_until = rte_rdtsc() + rte_get_tsc_hz() / 1000 * ctx->faults->late_ms + 1;
	impl_task_keep(task);
	impl_pe_activate(ctx->pe, ctx);
}

/* What is to become of a submit: DOCA_SUCCESS, or how its task fails. */
static doca_error_t
count_submit(struct doca_task *task, bool *late)
{
	struct impl_faults *faults = task->ctx->faults;
	doca_error_t ret = DOCA_SUCCESS;

	/* Each is counted, whatever the others say. */
	if (impl_fault_hits(faults, IMPL_FAULT_ERROR, "submit"))
		ret = DOCA_ERROR_IO_FAILED;
	*late = impl_fault_hits(faults, IMPL_FAULT_LATE, "submit");
	if (task->ctx->ops->reset == NULL ||
			!impl_fault_hits(faults, IMPL_FAULT_RESET, "message"))
		return ret;
	task->ctx->ops->reset(task);
	return DOCA_ERROR_CONNECTION_RESET;
}

doca_error_t
impl_fault_submit(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;
	doca_error_t ret;
	bool late;

	impl_fault_step(ctx->faults, "submit or message");
	if (impl_fault_hits(ctx->faults, IMPL_FAULT_AGAIN, "submit")) {
		/* Nothing else may happen that would wake a program that waits. */
		ctx->pe->has_refused = true;
		impl_pe_flush_outer();
		impl_yield_idle();
		return DOCA_ERROR_AGAIN;
	}
	ret = count_submit(task, &late);
	if (ret != DOCA_SUCCESS) {
		impl_task_submitted(task);
		impl_pe_complete_later(ctx->pe, task, ret);
		return DOCA_SUCCESS;
	}
	/* Behind a late one: its messages keep their order. */
	if (!late && ctx->late_until == 0)
		return impl_task_submit_now(task);
	keep_late(task);
	return DOCA_SUCCESS;
}

/* Put tasks back before those that were kept meanwhile. */
static void
put_back(struct doca_ctx *ctx, struct doca_task *tasks)
{
	struct doca_task **end;

	for (end = &tasks; *end != NULL; end = &(*end)->next)
		;
	*end = ctx->deferred;
	if (ctx->deferred == NULL)
		ctx->deferred_end = end == &tasks ? &ctx->deferred : end;
	ctx->deferred = tasks;
}

/* Submit one that was late. DOCA_ERROR_AGAIN: the channel is full. */
static doca_error_t
submit_late(struct doca_task *task)
{
	/* One that was freed ends unsent. */
	doca_error_t ret = task->state == IMPL_TASK_ORPHAN ? DOCA_ERROR_SHUTDOWN :
		task->ctx->ops->submit(task);

	if (ret != DOCA_SUCCESS && ret != DOCA_ERROR_AGAIN)
		task->ctx->ops->task_report(task, ret);
	return ret;
}

bool
impl_fault_progress(struct doca_ctx *ctx)
{
	struct doca_task *task, *next;
	doca_error_t ret = DOCA_SUCCESS;
	bool done = false;

	/* Its tasks have failed, or are about to. */
	if (ctx->state != DOCA_CTX_STATE_RUNNING) {
		ctx->late_until = 0;
		return false;
	}
	if (rte_rdtsc() < ctx->late_until)
		return false;
	/* What callbacks submit is for the next progress; and they may stop the context. */
	task = ctx->deferred;
	ctx->deferred = NULL;
	ctx->deferred_end = &ctx->deferred;
	for (; task != NULL && ctx->state == DOCA_CTX_STATE_RUNNING; task = next) {
		next = task->next;
		ret = submit_late(task);
		if (ret == DOCA_ERROR_AGAIN) {
			task->next = next;
			break;
		}
		done = true;
		/* One callback in a progress of such a device. */
		if (ret != DOCA_SUCCESS && ctx->burst == 1) {
			task = next;
			break;
		}
	}
	put_back(ctx, task);
	if (ctx->deferred == NULL)
		ctx->late_until = 0;
	return done;
}
