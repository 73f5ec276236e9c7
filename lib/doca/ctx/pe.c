/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Progress engines: each drives its contexts from one native poll. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "base/err.h"
#include "ctx/ctx.h"
#include "ctx/yield.h"
#include "dev/eal.h"

/*
 * A forked child has a copy of all engines and contexts, but not the memory of the channel.
 * There all contexts are IDLE: a progress has nothing to do, and submits are refused. So no
 * call of the parent's has to ask whether it is in a child.
 */
static TAILQ_HEAD(, doca_pe) engines = TAILQ_HEAD_INITIALIZER(engines);
static pthread_mutex_t engines_lock = PTHREAD_MUTEX_INITIALIZER;

static void
forget_completed(struct doca_pe *pe)
{
	pe->completed = NULL;
	pe->completed_end = &pe->completed;
	pe->nb_completed = pe->nb_before = 0;
}

static void
before_fork(void)
{
	pthread_mutex_lock(&engines_lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&engines_lock);
}

static void
in_child(void)
{
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	TAILQ_FOREACH(pe, &engines, all) {
		/* They may refer to the channel. */
		pe->ev_next = pe->nb_ev = 0;
		forget_completed(pe);
		TAILQ_INIT(&pe->active);
		/* Another thread may have been changing the list: forwards it is complete. */
		TAILQ_FOREACH(ctx, &pe->ctxs, next) {
			ctx->state = DOCA_CTX_STATE_IDLE;
			ctx->needs_progress = false;
			ctx->is_active = false;
		}
	}
	pthread_mutex_unlock(&engines_lock);
}

static void
watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

static void
engine_add(struct doca_pe *pe)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&engines_lock);
	TAILQ_INSERT_TAIL(&engines, pe, all);
	pthread_mutex_unlock(&engines_lock);
}

static void
engine_del(struct doca_pe *pe)
{
	pthread_mutex_lock(&engines_lock);
	TAILQ_REMOVE(&engines, pe, all);
	pthread_mutex_unlock(&engines_lock);
}

doca_error_t
doca_pe_create(struct doca_pe **pe)
{
	struct doca_pe *p;
	doca_error_t ret;

	if (pe == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return DOCA_ERROR_NO_MEMORY;
	p->poll = rte_comch_poll_create(NULL);
	if (p->poll == NULL) {
		ret = impl_err(-rte_errno);
		free(p);
		return ret;
	}
	TAILQ_INIT(&p->ctxs);
	TAILQ_INIT(&p->active);
	TAILQ_INIT(&p->dead);
	forget_completed(p);
	engine_add(p);
	*pe = p;
	return DOCA_SUCCESS;
}

/* Free objects that were destroyed in callbacks of the last progress. */
static void
free_dead(struct doca_pe *pe)
{
	struct doca_ctx *ctx;

	while ((ctx = TAILQ_FIRST(&pe->dead)) != NULL) {
		TAILQ_REMOVE(&pe->dead, ctx, next);
		impl_ctx_free(ctx);
	}
}

doca_error_t
doca_pe_destroy(struct doca_pe *pe)
{
	if (pe == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (pe->running || !TAILQ_EMPTY(&pe->ctxs))
		return DOCA_ERROR_IN_USE;
	free_dead(pe);
	if (rte_comch_poll_destroy(pe->poll) != 0)
		return DOCA_ERROR_IN_USE;
	engine_del(pe);
	free(pe);
	return DOCA_SUCCESS;
}

doca_error_t
doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (pe == NULL || ctx == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	if (ctx->pe != NULL)
		return DOCA_ERROR_NOT_PERMITTED;
	ctx->pe = pe;
	pe->is_single |= ctx->burst == 1;
	if (ctx->faults != NULL)
		pe->slow = ctx->faults;
	TAILQ_INSERT_TAIL(&pe->ctxs, ctx, next);
	return DOCA_SUCCESS;
}

void
impl_pe_activate(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (ctx->is_active)
		return;
	ctx->is_active = true;
	TAILQ_INSERT_TAIL(&pe->active, ctx, next_active);
}

static void
deactivate(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (!ctx->is_active)
		return;
	if (pe->cursor == ctx)
		pe->cursor = TAILQ_NEXT(ctx, next_active);
	ctx->is_active = false;
	TAILQ_REMOVE(&pe->active, ctx, next_active);
}

void
impl_pe_remove(struct doca_pe *pe, struct doca_ctx *ctx)
{
	uint16_t i;

	deactivate(pe, ctx);
	TAILQ_REMOVE(&pe->ctxs, ctx, next);
	TAILQ_INSERT_TAIL(&pe->dead, ctx, next);
	for (i = pe->ev_next; i < pe->nb_ev; i++)
		if (pe->ev[i].user_data == (uintptr_t)ctx)
			pe->ev[i].user_data = 0;
	if (!pe->running)
		free_dead(pe);
}

/* Progress */

static struct doca_ctx *
event_ctx(const struct doca_pe *pe, const struct rte_comch_event *event)
{
	const struct impl_conn_head *head;
	struct rte_comch_server *server;
	struct doca_ctx *ctx;

	if (event->obj_type != RTE_COMCH_OBJ_CONN)
		return (struct doca_ctx *)(uintptr_t)event->user_data;
	/* event->user_data may predate rte_comch_conn_user_data_set(). */
	head = (const struct impl_conn_head *)(uintptr_t)
		rte_comch_conn_user_data_get(event->conn);
	if (head != NULL)
		return head->ctx;
	/* A new connection of a server. */
	server = rte_comch_conn_server(event->conn);
	TAILQ_FOREACH(ctx, &pe->ctxs, next)
		if (ctx->native == server && server != NULL)
			return ctx;
	return NULL;
}

bool
impl_pe_has_events(const struct doca_pe *pe, const struct doca_ctx *ctx)
{
	uint16_t i;

	for (i = pe->ev_next; i < pe->nb_ev; i++)
		if (event_ctx(pe, &pe->ev[i]) == ctx)
			return true;
	return false;
}

void
impl_pe_complete_later(struct doca_pe *pe, struct doca_task *task, doca_error_t status)
{
	task->status = status;
	task->next = NULL;
	*pe->completed_end = task;
	pe->completed_end = &task->next;
	pe->nb_completed++;
}

static void
report_completed(struct doca_pe *pe)
{
	struct doca_task *task = pe->completed;

	pe->completed = task->next;
	if (pe->completed == NULL)
		pe->completed_end = &pe->completed;
	pe->nb_completed--;
	if (pe->nb_before > 0)
		pe->nb_before--;
	task->ctx->ops->task_report(task, task->status);
}

/*
 * Tasks that had completed before an event came are reported before it, such as the end of their
 * connection; but messages take turns with all, and other events with later tasks, or a program
 * that sends in each completion would be told of none.
 */
static bool
completed_is_next(struct doca_pe *pe)
{
	bool has_event = pe->ev_next < pe->nb_ev;
	bool is_before = has_event && pe->nb_before > 0 &&
		pe->ev[pe->ev_next].type != RTE_COMCH_EVENT_MSG;

	pe->completed_last = !has_event || is_before || !pe->completed_last;
	return pe->completed_last;
}

/* Handle the next event in hand that is anybody's. */
static __rte_always_inline bool
handle_event(struct doca_pe *pe)
{
	const struct rte_comch_event *event;
	struct doca_ctx *ctx;

	do {
		event = &pe->ev[pe->ev_next++];
		ctx = event_ctx(pe, event);
		if (likely(ctx != NULL)) {
			ctx->ops->event(ctx, event);
			return true;
		}
	} while (pe->ev_next < pe->nb_ev);
	return true;
}

static __rte_always_inline void
run_poll(struct doca_pe *pe)
{
	pe->ev_next = 0;
	pe->nb_ev = rte_comch_poll_run(pe->poll, pe->ev, IMPL_PE_EVENTS);
}

/* Report a completed task, or an event. Of many tasks, not each one costs a run of the poll. */
static __rte_noinline bool
progress_completed(struct doca_pe *pe)
{
	if (pe->ev_next == pe->nb_ev &&
			(pe->nb_completed == 1 || ++pe->nb_not_run == IMPL_PE_EVENTS)) {
		pe->nb_not_run = 0;
		run_poll(pe);
		pe->nb_before = pe->nb_completed;
	}
	if (!completed_is_next(pe))
		return handle_event(pe);
	report_completed(pe);
	return true;
}

/*
 * Handle one event of the poll: programs take a progress for one completion, and may have room
 * for one. The others stay in hand.
 */
static __rte_always_inline bool
progress_events(struct doca_pe *pe)
{
	if (unlikely(pe->completed != NULL))
		return progress_completed(pe);
	if (pe->ev_next == pe->nb_ev) {
		run_poll(pe);
		if (likely(pe->nb_ev == 0))
			return false;
	}
	return handle_event(pe);
}

/* The next progress begins behind this context, if that still is one. */
static void
move_to_end(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (!ctx->is_active)
		return;
	TAILQ_REMOVE(&pe->active, ctx, next_active);
	TAILQ_INSERT_TAIL(&pe->active, ctx, next_active);
}

static __rte_always_inline bool
progress_ctxs(struct doca_pe *pe)
{
	struct doca_ctx *ctx;
	bool done = false;

	/* A callback may destroy the next context: impl_pe_remove() moves the cursor. */
	for (ctx = TAILQ_FIRST(&pe->active); ctx != NULL; ctx = pe->cursor) {
		pe->cursor = TAILQ_NEXT(ctx, next_active);
		if (ctx->needs_progress)
			done |= ctx->ops->progress(ctx);
		if (unlikely(ctx->late_until != 0))
			done |= impl_fault_progress(ctx);
		if (unlikely(ctx->state == DOCA_CTX_STATE_STOPPING)) {
			done |= impl_task_fail_deferred(ctx);
			done |= impl_ctx_settle(ctx);
		}
		if (unlikely(!ctx->needs_progress && ctx->late_until == 0 &&
				ctx->state != DOCA_CTX_STATE_STOPPING))
			deactivate(pe, ctx);
		if (unlikely(pe->is_single && done)) {
			move_to_end(pe, ctx);
			break;
		}
	}
	return done;
}

/* One completion, of an event or of a context: by turns, so that neither waits for ever. */
static __rte_noinline bool
progress_single(struct doca_pe *pe)
{
	pe->ctxs_first = !pe->ctxs_first;
	if (pe->ctxs_first)
		return progress_ctxs(pe) || progress_events(pe);
	return progress_events(pe) || progress_ctxs(pe);
}

/* The engine whose progress runs in this thread. */
static __thread struct doca_pe *innermost __attribute__((tls_model("initial-exec")));

static void
flush(struct doca_pe *pe)
{
	struct doca_ctx *ctx;

	pe->has_batch = false;
	TAILQ_FOREACH(ctx, &pe->active, next_active)
		if (ctx->ops->flush != NULL)
			ctx->ops->flush(ctx);
}

void
impl_pe_flush_outer(void)
{
	struct doca_pe *pe;

	for (pe = innermost; pe != NULL; pe = pe->outer)
		if (pe->has_batch)
			flush(pe);
}

uint8_t
doca_pe_progress(struct doca_pe *pe)
{
	bool done;

	if (unlikely(pe == NULL || pe->running))
		return 0;
	if (unlikely(!TAILQ_EMPTY(&pe->dead)))
		free_dead(pe);
	pe->armed = false;
	pe->running = true;
	pe->outer = innermost;
	innermost = pe;
	if (likely(!pe->is_single)) {
		done = progress_events(pe);
		done |= progress_ctxs(pe);
	} else {
		done = progress_single(pe);
	}
	if (pe->has_batch)
		flush(pe);
	innermost = pe->outer;
	pe->running = false;
	if (unlikely(pe->slow != NULL) && done)
		impl_fault_slow(pe->slow);
	if (done)
		impl_yield_busy();
	else
		impl_yield_idle();
	return done;
}

doca_error_t
doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks)
{
	const struct doca_ctx *ctx;
	size_t n = 0;

	if (pe == NULL || num_inflight_tasks == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	TAILQ_FOREACH(ctx, &pe->ctxs, next)
		n += ctx->nb_inflight;
	*num_inflight_tasks = n;
	return DOCA_SUCCESS;
}

/* Sleeping */

doca_error_t
doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle)
{
	if (pe == NULL || handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*handle = rte_comch_poll_fd(pe->poll, RTE_COMCH_POLL_ANY);
	return *handle >= 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t
doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle)
{
	RTE_SET_USED(handle);
	if (pe == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pe->armed = false;
	return rte_comch_poll_clear(pe->poll) == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

/*
 * Whether the end of a STOPPING context waits for a progress only. The native object is IDLE:
 * nothing happens to it any more, but a progress has tasks to complete, such as sends that
 * found no room.
 */
static bool
is_ending(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_STOPPING && (impl_ctx_can_settle(ctx) ||
		ctx->deferred != NULL || (ctx->native_idle && impl_ctx_nb_busy(ctx) > 0));
}

/* Whether there is work that the poll does not know of. */
static bool
has_work(struct doca_pe *pe)
{
	const struct doca_ctx *ctx;
	bool refused = pe->has_refused;

	pe->has_refused = false;
	if (pe->ev_next < pe->nb_ev || pe->completed != NULL || refused)
		return true;
	TAILQ_FOREACH(ctx, &pe->active, next_active)
		if (is_ending(ctx) || ctx->late_until != 0 ||
				(ctx->ops->has_work != NULL && ctx->ops->has_work(ctx)))
			return true;
	return false;
}

doca_error_t
doca_pe_request_notification(struct doca_pe *pe)
{
	int ret;

	if (pe == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = has_work(pe) ? -EAGAIN : rte_comch_poll_arm(pe->poll, RTE_COMCH_POLL_ANY);
	pe->armed = true;
	if (ret == -EAGAIN)
		ret = rte_comch_poll_notify(pe->poll);
	return ret == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t
doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode)
{
	if (pe == NULL || (event_mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE &&
			event_mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL))
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}
