/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA sync events: contexts, tasks, and jobs until 2.2. */

#include <rte_common.h>

#include <comch_doca_sync_event_200.h>
#include <doca_sync_event.h>

#include "accel/sync.h"
#include "dev/dev.h"

/* Of a kind for which the program asks for none. */
#define DEFAULT_TASKS 16

enum kind {
	KIND_GET,
	KIND_SET,
	KIND_ADD,
	KIND_WAIT_EQ,
	KIND_WAIT_NEQ,
	KIND_WAIT_GT, /* jobs only */
};

struct sync_task {
	struct impl_accel_task base;
	uint64_t value, mask;
	uint64_t *out;
};

static struct doca_sync_event *
event_of(const struct doca_ctx *ctx)
{
	return (struct doca_sync_event *)(uintptr_t)ctx;
}

static const struct sync_task *
sync_task_of(const struct impl_accel_task *task)
{
	return (const struct sync_task *)task;
}

static struct rte_comch_counter *
counter_of(const struct impl_accel_task *task)
{
	return event_of(task->task.ctx)->word->counter;
}

/* Kinds */

static doca_error_t
check_out(const struct impl_accel_task *task)
{
	return sync_task_of(task)->out == NULL ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

static doca_error_t
run_get(struct impl_accel_task *task)
{
	*sync_task_of(task)->out = rte_comch_counter_get(counter_of(task));
	return DOCA_SUCCESS;
}

static doca_error_t
run_set(struct impl_accel_task *task)
{
	rte_comch_counter_set(counter_of(task), sync_task_of(task)->value);
	return DOCA_SUCCESS;
}

static doca_error_t
run_add(struct impl_accel_task *task)
{
	const struct sync_task *t = sync_task_of(task);
	uint64_t before = rte_comch_counter_add(counter_of(task), t->value);

	if (t->out != NULL)
		*t->out = before;
	return DOCA_SUCCESS;
}

static bool
is_met(const struct impl_accel_task *task)
{
	static const enum rte_comch_counter_cond conds[] = {
		[KIND_WAIT_EQ] = RTE_COMCH_COUNTER_EQ,
		[KIND_WAIT_NEQ] = RTE_COMCH_COUNTER_NE,
		[KIND_WAIT_GT] = RTE_COMCH_COUNTER_GT,
	};
	const struct sync_task *t = sync_task_of(task);

	return rte_comch_counter_is(counter_of(task), conds[task->kind], t->value, t->mask);
}

static doca_error_t
run_wait(struct impl_accel_task *task)
{
	return is_met(task) ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

static const struct impl_accel_kind kinds[] = {
	[KIND_GET] = { .has_no_bufs = true, .check = check_out, .run = run_get },
	[KIND_SET] = { .has_no_bufs = true, .run = run_set },
	[KIND_ADD] = { .has_no_bufs = true, .run = run_add },
	[KIND_WAIT_EQ] = { .has_no_bufs = true, .run = run_wait, .is_met = is_met },
	[KIND_WAIT_NEQ] = { .has_no_bufs = true, .run = run_wait, .is_met = is_met },
	[KIND_WAIT_GT] = { .has_no_bufs = true, .run = run_wait, .is_met = is_met },
};

_Static_assert(RTE_DIM(kinds) <= IMPL_ACCEL_MAX_KINDS, "have a place");

/* Context */

static doca_error_t
sync_start(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = event_of(ctx);
	doca_error_t ret;

	if (event->is_alone)
		return DOCA_ERROR_BAD_STATE;
	ret = impl_sync_begin(event);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_accel_start(ctx);
	if (ret != DOCA_SUCCESS)
		impl_sync_end(event);
	return ret;
}

static doca_error_t
sync_stop(struct doca_ctx *ctx)
{
	doca_error_t ret = impl_sync_may_stop(event_of(ctx));

	return ret == DOCA_SUCCESS ? impl_accel_stop(ctx) : ret;
}

static void
sync_release(struct doca_ctx *ctx)
{
	impl_accel_release(ctx);
	impl_sync_end(event_of(ctx));
}

static void
sync_fini(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = event_of(ctx);

	if (event->dpa_ops != NULL)
		event->dpa_ops->destroying(event);
	impl_accel_fini(ctx);
}

/* Before a sleep: have an update end it. */
static bool
sync_has_work(const struct doca_ctx *ctx)
{
	const struct doca_sync_event *event = event_of(ctx);
	uint64_t seen;

	if (impl_accel_has_work(ctx))
		return true;
	if (event->accel.waiting.first == NULL)
		return false;
	/* Before the look, so that no update is missed. */
	seen = rte_comch_counter_get(event->word->counter);
	return impl_accel_has_met(&event->accel) ||
		rte_comch_counter_watch(event->word->counter, seen, ctx->pe->poll) != 0;
}

#define SYNC_OPS \
	IMPL_ACCEL_SHARED_OPS, \
	.name = "sync event", \
	.task_size = sizeof(struct sync_task), \
	.start = sync_start, \
	.stop = sync_stop, \
	.release = sync_release, \
	.has_work = sync_has_work, \
	.task_put = impl_accel_task_put, \
	.fini = sync_fini

static const struct impl_ctx_ops sync_ops = { SYNC_OPS };

doca_error_t
doca_sync_event_create(struct doca_sync_event **event)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create_without(&sync_ops, kinds, RTE_DIM(kinds), sizeof(**event), &accel);
	if (ret == DOCA_SUCCESS)
		*event = (struct doca_sync_event *)accel;
	return ret;
}

static doca_error_t
import(doca_error_t (*create)(struct doca_sync_event **event), struct doca_dev *dev,
		const uint8_t *data, size_t sz, struct doca_sync_event **event)
{
	struct doca_sync_event *e;
	doca_error_t ret;

	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = create(&e);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_sync_import(dev, data, sz, e);
	if (ret != DOCA_SUCCESS)
		doca_sync_event_destroy(e);
	else
		*event = e;
	return ret;
}

doca_error_t
doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
		struct doca_sync_event **event)
{
	return import(doca_sync_event_create, dev, data, sz, event);
}

/* Tasks */

static doca_error_t
set_conf(struct doca_sync_event *event, enum kind kind, doca_task_completion_cb_t done_cb,
		doca_task_completion_cb_t error_cb, uint32_t nb_tasks)
{
	return impl_accel_set_conf((struct impl_accel *)event, kind, done_cb, error_cb,
		nb_tasks == 0 ? DEFAULT_TASKS : nb_tasks);
}

static doca_error_t
take(struct doca_sync_event *event, enum kind kind, const struct sync_task *what,
		union doca_data user_data, struct sync_task **task)
{
	struct impl_accel_task *base;
	doca_error_t ret;

	if (task == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_take((struct impl_accel *)event, kind, NULL, NULL, user_data, &base);
	if (ret != DOCA_SUCCESS)
		return ret;
	*task = (struct sync_task *)base;
	(*task)->value = what->value;
	(*task)->mask = what->mask;
	(*task)->out = what->out;
	return DOCA_SUCCESS;
}

/* What all kinds have. */
#define TASK(name, kind) \
	doca_error_t \
	doca_sync_event_cap_task_##name##_is_supported(const struct doca_devinfo *devinfo) \
	{ \
		return impl_devinfo_supports(devinfo); \
	} \
	doca_error_t \
	doca_sync_event_task_##name##_set_conf(struct doca_sync_event *event, \
			doca_sync_event_task_##name##_completion_cb_t completion_cb, \
			doca_sync_event_task_##name##_completion_cb_t error_cb, \
			uint32_t num_tasks) \
	{ \
		return set_conf(event, kind, (doca_task_completion_cb_t)completion_cb, \
			(doca_task_completion_cb_t)error_cb, num_tasks); \
	} \
	struct doca_task * \
	doca_sync_event_task_##name##_as_doca_task(struct doca_sync_event_task_##name *task) \
	{ \
		return (struct doca_task *)task; \
	}

TASK(get, KIND_GET)
TASK(notify_set, KIND_SET)
TASK(notify_add, KIND_ADD)
TASK(wait_eq, KIND_WAIT_EQ)
TASK(wait_neq, KIND_WAIT_NEQ)

doca_error_t
doca_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *value,
		union doca_data user_data, struct doca_sync_event_task_get **task)
{
	const struct sync_task what = { .out = value };

	return value == NULL ? DOCA_ERROR_INVALID_VALUE :
		take(event, KIND_GET, &what, user_data, (struct sync_task **)task);
}

doca_error_t
doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t value,
		union doca_data user_data, struct doca_sync_event_task_notify_set **task)
{
	const struct sync_task what = { .value = value };

	return take(event, KIND_SET, &what, user_data, (struct sync_task **)task);
}

doca_error_t
doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t value,
		uint64_t *fetched, union doca_data user_data,
		struct doca_sync_event_task_notify_add **task)
{
	const struct sync_task what = { .value = value, .out = fetched };

	return take(event, KIND_ADD, &what, user_data, (struct sync_task **)task);
}

doca_error_t
doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event, uint64_t value,
		uint64_t mask, union doca_data user_data,
		struct doca_sync_event_task_wait_eq **task)
{
	const struct sync_task what = { .value = value, .mask = mask };

	return take(event, KIND_WAIT_EQ, &what, user_data, (struct sync_task **)task);
}

doca_error_t
doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event, uint64_t value,
		uint64_t mask, union doca_data user_data,
		struct doca_sync_event_task_wait_neq **task)
{
	const struct sync_task what = { .value = value, .mask = mask };

	return take(event, KIND_WAIT_NEQ, &what, user_data, (struct sync_task **)task);
}

/* Until DOCA 2.2 */

static struct sync_task *
filled(struct impl_accel_task *task)
{
	return (struct sync_task *)task;
}

static void
fill_get(const struct doca_job *job, struct impl_accel_task *task)
{
	filled(task)->out = ((const struct doca_sync_event_job_get *)job)->value;
}

static void
fill_set(const struct doca_job *job, struct impl_accel_task *task)
{
	filled(task)->value = ((const struct doca_sync_event_job_update_set *)job)->value;
}

static void
fill_add(const struct doca_job *job, struct impl_accel_task *task)
{
	const struct doca_sync_event_job_update_add *add =
		(const struct doca_sync_event_job_update_add *)job;

	filled(task)->value = add->value;
	filled(task)->out = add->fetched;
}

static void
fill_wait(const struct doca_job *job, struct impl_accel_task *task)
{
	const struct doca_sync_event_job_wait *wait =
		(const struct doca_sync_event_job_wait *)job;

	filled(task)->value = wait->value;
	filled(task)->mask = wait->mask;
}

static const struct impl_accel_job jobs[] = {
	{ DOCA_SYNC_EVENT_JOB_GET, KIND_GET, fill_get },
	{ DOCA_SYNC_EVENT_JOB_UPDATE_SET, KIND_SET, fill_set },
	{ DOCA_SYNC_EVENT_JOB_UPDATE_ADD, KIND_ADD, fill_add },
	{ DOCA_SYNC_EVENT_JOB_WAIT_GT, KIND_WAIT_GT, fill_wait },
};

static const struct impl_ctx_ops sync_job_ops = {
	SYNC_OPS,
	.jobs = &impl_accel_job_ops,
};

doca_error_t doca_sync_event_create_200(struct doca_sync_event **event);
doca_error_t doca_sync_event_create_from_export_200(struct doca_dev *dev, const uint8_t *data,
		size_t sz, struct doca_sync_event **event);

/* doca_sync_event_create() until DOCA 2.2. */
doca_error_t
doca_sync_event_create_200(struct doca_sync_event **event)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (event == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create_for_jobs(&sync_job_ops, kinds, jobs, RTE_DIM(jobs),
		sizeof(**event), &accel);
	if (ret == DOCA_SUCCESS)
		*event = (struct doca_sync_event *)accel;
	return ret;
}

/* doca_sync_event_create_from_export() until DOCA 2.2. */
doca_error_t
doca_sync_event_create_from_export_200(struct doca_dev *dev, const uint8_t *data, size_t sz,
		struct doca_sync_event **event)
{
	return import(doca_sync_event_create_200, dev, data, sz, event);
}

doca_error_t
doca_sync_event_job_get_supported(struct doca_devinfo *devinfo,
		enum doca_sync_event_job_types job_type)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return job_type >= DOCA_SYNC_EVENT_JOB_GET && job_type <= DOCA_SYNC_EVENT_JOB_WAIT_GT ?
		DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}
