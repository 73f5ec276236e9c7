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

doca_error_t
impl_fault_submit(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;
	struct impl_faults *faults = ctx->faults;
	doca_error_t fails = DOCA_SUCCESS;
	bool late;

	impl_fault_step(faults, "submit or message");
	if (impl_fault_hits(faults, IMPL_FAULT_AGAIN, "submit")) {
		impl_pe_flush_outer();
		impl_yield_idle();
		return DOCA_ERROR_AGAIN;
	}
	/* Each is counted, whatever the others say. */
	if (impl_fault_hits(faults, IMPL_FAULT_ERROR, "submit"))
		fails = DOCA_ERROR_IO_FAILED;
	late = impl_fault_hits(faults, IMPL_FAULT_LATE, "submit");
	if (ctx->ops->reset != NULL && impl_fault_hits(faults, IMPL_FAULT_RESET, "message")) {
		ctx->ops->reset(task);
		fails = DOCA_ERROR_CONNECTION_RESET;
	}
	if (fails != DOCA_SUCCESS) {
		impl_task_submitted(task);
		impl_pe_complete_later(ctx->pe, task, fails);
		return DOCA_SUCCESS;
	}
	if (!late && ctx->deferred == NULL)
		return impl_task_submit_now(task);
	keep_late(task);
	return DOCA_SUCCESS;
}

bool
impl_fault_progress(struct doca_ctx *ctx)
{
	struct doca_task *task, *next;
	doca_error_t ret;

	if (rte_rdtsc() < ctx->late_until)
		return false;
	/* A callback may stop the context, which fails the rest. */
	while ((task = ctx->deferred) != NULL && ctx->state == DOCA_CTX_STATE_RUNNING) {
		next = task->next;
		/* One that was freed ends unsent. */
		ret = task->state == IMPL_TASK_ORPHAN ? DOCA_ERROR_SHUTDOWN :
			ctx->ops->submit(task);
		/* The channel is full: the next progress goes on. */
		if (ret == DOCA_ERROR_AGAIN)
			return true;
		ctx->deferred = next;
		if (next == NULL)
			ctx->deferred_end = &ctx->deferred;
		if (ret != DOCA_SUCCESS)
			ctx->ops->task_report(task, ret);
	}
	ctx->late_until = 0;
	return true;
}
