/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Contexts of accelerators. */

#include <stdlib.h>

#include <rte_common.h>

#include "accel/accel.h"
#include "accel/list.h"
#include "dev/dev.h"
#include "log/log.h"

/* Lists of tasks */

static void
list_clear(struct impl_accel_list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

static void
list_add(struct impl_accel_list *list, struct doca_task *task)
{
	task->next = NULL;
	*list->end = task;
	list->end = &task->next;
}

/* NULL: it is empty. */
static struct doca_task *
list_pop(struct impl_accel_list *list)
{
	struct doca_task *task = list->first;

	if (task == NULL)
		return NULL;
	list->first = task->next;
	if (list->first == NULL)
		list->end = &list->first;
	return task;
}

/* Move all tasks of one list to the end of another. */
static void
list_append(struct impl_accel_list *to, struct impl_accel_list *from)
{
	if (from->first == NULL)
		return;
	*to->end = from->first;
	to->end = from->end;
	list_clear(from);
}

/* Context */

static void
queue_clear(struct impl_accel *accel)
{
	list_clear(&accel->queue);
	list_clear(&accel->waiting);
	accel->next_to_give = NULL;
	accel->nb_given = 0;
}

doca_error_t
impl_accel_start(struct doca_ctx *ctx)
{
	/* Jobs are done by the threads of their work queues. */
	const uint32_t nb = ctx->ops->jobs == NULL ? ctx->manners->workers : 0;
	struct impl_accel *accel = impl_accel_of(ctx);
	doca_error_t ret = impl_workers_begin(nb);

	if (ret != DOCA_SUCCESS)
		return ret;
	accel->nb_workers = nb;
	queue_clear(accel);
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
	impl_workers_end(impl_accel_of(ctx)->nb_workers);
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
	struct impl_accel *accel = impl_accel_of(ctx);

	impl_observe_end(&accel->observed);
	if (accel->dev != NULL)
		impl_dev_drop(accel->dev);
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
	impl_observe_begin(&a->observed, &a->ctx);
	*accel = a;
	return DOCA_SUCCESS;
}

void
impl_accel_set_dev(struct impl_accel *accel, struct doca_dev *dev)
{
	impl_ctx_init(&accel->ctx, accel->ctx.ops, impl_dev_manners(dev));
	accel->dev = dev;
	impl_dev_hold(dev);
	impl_observe_dev(&accel->observed, dev);
}

void
impl_accel_unset_dev(struct impl_accel *accel)
{
	impl_observe_dev(&accel->observed, NULL);
	impl_dev_drop(accel->dev);
	accel->dev = NULL;
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

	if (accel == NULL || task == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!accel->kinds[kind].has_no_bufs && (src == NULL || dst == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_ctx_has_tasks(&accel->ctx, false))
		return DOCA_ERROR_BAD_STATE;
	conf = &accel->conf[kind];
	if (conf->nb_taken == conf->nb_tasks)
		return DOCA_ERROR_NO_MEMORY;
	/* The pool has as many as all kinds together. */
	t = impl_accel_task_of(impl_task_take(&accel->ctx));
	conf->nb_taken++;
	t->task.user_data = user_data;
	t->src = src;
	t->dst = dst;
	t->kind = (uint8_t)kind;
	t->has_begun = false;
	t->is_counted = false;
	t->work.phase = IMPL_WORKER_NONE;
	*task = t;
	return DOCA_SUCCESS;
}

void
impl_accel_task_put(struct doca_task *task)
{
	impl_accel_of(task->ctx)->conf[impl_accel_task_of(task)->kind].nb_taken--;
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
	const struct impl_accel_kind *kind = impl_accel_kind_of(task);

	/* The program can set them to NULL. */
	if (!kind->has_no_bufs && (task->src == NULL || task->dst == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	return kind->admit == NULL ? DOCA_SUCCESS : kind->admit(task);
}

static void
count_bytes(const struct impl_accel_task *task)
{
	struct impl_observed *o = &impl_accel_of(task->task.ctx)->observed;

	if (!impl_accel_kind_of(task)->has_no_bufs)
		impl_observe_count(o, &o->counters.bytes, impl_list_data(task->src));
}

doca_error_t
impl_accel_begin(struct impl_accel_task *task)
{
	const struct impl_accel_kind *kind = impl_accel_kind_of(task);
	/* Its buffers may be others than at the submit. */
	doca_error_t ret = impl_accel_admit(task);

	if (ret == DOCA_SUCCESS && kind->check != NULL)
		ret = kind->check(task);
	if (ret == DOCA_SUCCESS && kind->begin != NULL)
		ret = kind->begin(task);
	if (ret != DOCA_SUCCESS)
		return ret;
	task->has_begun = true;
	count_bytes(task);
	return DOCA_SUCCESS;
}

static void
queue_add(struct impl_accel *accel, struct doca_task *task)
{
	list_add(&accel->queue, task);
	if (accel->nb_workers == 0)
		return;
	if (accel->next_to_give == NULL)
		accel->next_to_give = task;
	impl_accel_give(accel);
}

/* Whether a worker may be at its buffers. Then they are checked when it is its turn. */
static bool
may_be_busy(const struct impl_accel_task *task)
{
	const struct impl_accel *accel = impl_accel_of(task->task.ctx);

	return accel->nb_given > 0 && impl_accel_is_bound(accel, task);
}

doca_error_t
impl_accel_submit(struct doca_task *task)
{
	struct impl_accel *accel = impl_accel_of(task->ctx);
	doca_error_t ret = DOCA_SUCCESS;

	if (!may_be_busy(impl_accel_task_of(task)))
		ret = impl_accel_admit(impl_accel_task_of(task));
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_accel_count_submit(impl_accel_task_of(task));
	if (impl_accel_kind_of(impl_accel_task_of(task))->is_met != NULL)
		list_add(&accel->waiting, task);
	else
		queue_add(accel, task);
	impl_ctx_wants_progress(&accel->ctx);
	return DOCA_SUCCESS;
}

doca_error_t
impl_accel_check(const struct doca_task *task)
{
	const struct impl_accel_task *t = impl_accel_task_of(task);
	const struct impl_accel_kind *kind = impl_accel_kind_of(t);
	doca_error_t ret;

	if (may_be_busy(t))
		return DOCA_SUCCESS;
	ret = impl_accel_admit(t);
	return ret == DOCA_SUCCESS && kind->check != NULL ? kind->check(t) : ret;
}

/* A task that the program has freed ends. */
static void
end_orphan(struct doca_task *task, doca_error_t status)
{
	impl_accel_count_end(impl_accel_task_of(task), status);
	impl_task_complete(task, status);
}

/* A submitted task that is not in the queue any more is done or has failed. */
void
impl_accel_report(struct doca_task *task, doca_error_t status)
{
	struct impl_accel *accel = impl_accel_of(task->ctx);
	const struct impl_accel_conf *conf = &accel->conf[impl_accel_task_of(task)->kind];

	impl_accel_count_end(impl_accel_task_of(task), status);
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
	doca_error_t ret = task->has_begun ? DOCA_SUCCESS : impl_accel_begin(task);

	return ret == DOCA_SUCCESS ? impl_accel_kind_of(task)->run(task) : ret;
}

void
impl_accel_end(struct impl_accel_task *task)
{
	if (task->has_begun && impl_accel_kind_of(task)->end != NULL)
		impl_accel_kind_of(task)->end(task);
	task->has_begun = false;
}

void
impl_accel_task_cancel(struct doca_task *task)
{
	struct impl_accel_task *t = impl_accel_task_of(task);

	/* A task of an IDLE context: in a child of fork(). What works on it is its parent's. */
	if (task->ctx->state == DOCA_CTX_STATE_IDLE)
		return;
	impl_accel_take_back(t);
	impl_accel_end(t);
	/* Its buffers are the program's again, which may free them. */
	t->src = NULL;
	t->dst = NULL;
	/* Those behind it may have waited for its worker. */
	impl_pe_wake(task->ctx->pe);
}

/* Take the oldest task out of the queue. */
static struct doca_task *
queue_pop(struct impl_accel *accel)
{
	struct doca_task *task = list_pop(&accel->queue);
	struct impl_accel_task *t = impl_accel_task_of(task);

	if (accel->next_to_give == task)
		accel->next_to_give = accel->queue.first;
	impl_accel_take_back(t);
	if (t->work.phase != IMPL_WORKER_NONE)
		accel->nb_given--;
	t->work.phase = IMPL_WORKER_NONE;
	impl_accel_end(t);
	return task;
}

/* Fail the tasks that were submitted before now. */
static bool
fail_all(struct impl_accel *accel)
{
	uint16_t n;

	if (accel->nb_given > 0)
		impl_accel_call_off_all(accel);
	/* A callback may fork: in the child, the context is IDLE, and no worker is there. */
	for (n = 0; n < accel->ctx.burst && accel->queue.first != NULL &&
			accel->ctx.state != DOCA_CTX_STATE_IDLE; n++)
		impl_accel_report(queue_pop(accel), DOCA_ERROR_SHUTDOWN);
	for (; n < accel->ctx.burst && accel->waiting.first != NULL; n++)
		impl_accel_report(list_pop(&accel->waiting), DOCA_ERROR_SHUTDOWN);
	return n > 0;
}

static bool
is_met(const struct doca_task *task)
{
	return impl_accel_kind_of(impl_accel_task_of(task))->is_met(impl_accel_task_of(task));
}

/*
 * Look at each task that waits, once, the oldest first, and report those that are met, as many as
 * there may be. Those that callbacks submit have their turn next time. Returns the reports.
 */
static uint16_t
report_met(struct impl_accel *accel, uint16_t most)
{
	struct impl_accel_list old, kept;
	struct doca_task *task;
	uint16_t n = 0;

	list_clear(&old);
	list_clear(&kept);
	list_append(&old, &accel->waiting);
	while ((task = list_pop(&old)) != NULL) {
		if (task->state == IMPL_TASK_ORPHAN) {
			end_orphan(task, DOCA_ERROR_SHUTDOWN);
		} else if (n < most && accel->ctx.state == DOCA_CTX_STATE_RUNNING && is_met(task)) {
			impl_accel_report(task, DOCA_SUCCESS);
			n++;
		} else {
			list_add(&kept, task);
		}
	}
	list_append(&kept, &accel->waiting);
	list_append(&accel->waiting, &kept);
	return n;
}

/* Work on the oldest task, or see how far its worker is. */
static doca_error_t
status_of_oldest(struct impl_accel_task *task, size_t *budget)
{
	doca_error_t status;

	/* One that the program has freed is not worked on any more. */
	if (task->task.state == IMPL_TASK_ORPHAN)
		return DOCA_ERROR_SHUTDOWN;
	switch (impl_workers_phase(&task->work)) {
	case IMPL_WORKER_GIVEN:
		return DOCA_ERROR_IN_PROGRESS;
	case IMPL_WORKER_ENDED:
		return task->work.status;
	default:
		task->budget = *budget;
		status = impl_accel_work(task);
		*budget = task->budget;
		return status;
	}
}

/* Report the oldest task if it is done, after some work on it. True: it is. */
static bool
run_oldest(struct impl_accel *accel, size_t *budget)
{
	struct impl_accel_task *task = impl_accel_task_of(accel->queue.first);
	const doca_error_t status = status_of_oldest(task, budget);

	if (status == DOCA_ERROR_IN_PROGRESS)
		return false;
	if (task->task.state == IMPL_TASK_ORPHAN)
		end_orphan(queue_pop(accel), status);
	else
		impl_accel_report(queue_pop(accel), status);
	return true;
}

/* Work on the queue; no more reports than that. Returns their number. */
static uint16_t
run_queue(struct impl_accel *accel, uint16_t most)
{
	size_t budget = IMPL_ACCEL_BUDGET;
	uint16_t n = 0;

	while (n < most && budget > 0 && accel->queue.first != NULL &&
			accel->ctx.state == DOCA_CTX_STATE_RUNNING && run_oldest(accel, &budget)) {
		n++;
		/* There may be room for one more, unless a callback has stopped the context. */
		if (accel->ctx.state == DOCA_CTX_STATE_RUNNING)
			impl_accel_give(accel);
	}
	return n;
}

bool
impl_accel_progress(struct doca_ctx *ctx)
{
	struct impl_accel *accel = impl_accel_of(ctx);
	uint16_t n;

	if (ctx->state != DOCA_CTX_STATE_RUNNING) {
		n = fail_all(accel);
	} else if (accel->is_turn_of_waiting) {
		/* By turns, since the first may leave nothing to the second. */
		n = report_met(accel, ctx->burst);
		n += run_queue(accel, (uint16_t)(ctx->burst - n));
	} else {
		n = run_queue(accel, ctx->burst);
		n += report_met(accel, (uint16_t)(ctx->burst - n));
	}
	accel->is_turn_of_waiting = !accel->is_turn_of_waiting;
	ctx->needs_progress = accel->queue.first != NULL || accel->waiting.first != NULL;
	return n > 0;
}

bool
impl_accel_has_work(const struct doca_ctx *ctx)
{
	const struct doca_task *oldest = impl_accel_of(ctx)->queue.first;

	/* The end of one that a worker has notifies the poll. */
	return oldest != NULL &&
		impl_workers_phase(&impl_accel_task_of(oldest)->work) != IMPL_WORKER_GIVEN;
}

bool
impl_accel_has_met(const struct impl_accel *accel)
{
	const struct doca_task *task;

	for (task = accel->waiting.first; task != NULL; task = task->next)
		if (task->state == IMPL_TASK_ORPHAN || is_met(task))
			return true;
	return false;
}
