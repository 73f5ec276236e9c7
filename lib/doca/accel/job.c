/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Jobs of accelerators, in DOCA until 2.2: tasks in the memory of a work queue. */

#include <string.h>

#include <comch_doca_workq_105.h>

#include "accel/accel.h"
#include "dev/dev.h"
#include "log/log.h"

doca_error_t
impl_accel_create_for_jobs(const struct impl_ctx_ops *ops, const struct impl_accel_kind *kinds,
		const struct impl_accel_job *jobs, uint32_t nb_jobs, size_t size,
		struct impl_accel **accel)
{
	doca_error_t ret = impl_accel_create_without(ops, kinds, 0, size, accel);

	if (ret != DOCA_SUCCESS)
		return ret;
	(*accel)->jobs = jobs;
	(*accel)->nb_jobs = nb_jobs;
	return DOCA_SUCCESS;
}

static doca_error_t
add_dev(struct doca_ctx *ctx, struct doca_dev *dev)
{
	struct impl_accel *accel = impl_accel_of(ctx);

	if (!impl_dev_is_one(dev))
		return DOCA_ERROR_INVALID_VALUE;
	if (accel->dev == dev)
		return DOCA_ERROR_ALREADY_EXIST;
	if (accel->dev != NULL) {
		IMPL_ERR("%s: cannot add a second device", ctx->ops->name);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	impl_accel_set_dev(accel, dev);
	return DOCA_SUCCESS;
}

static doca_error_t
rm_dev(struct doca_ctx *ctx, struct doca_dev *dev)
{
	struct impl_accel *accel = impl_accel_of(ctx);

	if (accel->dev != dev)
		return DOCA_ERROR_NOT_FOUND;
	impl_accel_unset_dev(accel);
	return DOCA_SUCCESS;
}

static doca_error_t
may_start(const struct doca_ctx *ctx)
{
	if (impl_accel_of(ctx)->dev != NULL)
		return DOCA_SUCCESS;
	IMPL_ERR("%s: cannot start: no device (call doca_ctx_dev_add())", ctx->ops->name);
	return DOCA_ERROR_INVALID_VALUE;
}

static const struct impl_accel_job *
find(const struct impl_accel *accel, int type)
{
	uint32_t i;

	for (i = 0; i < accel->nb_jobs; i++)
		if (accel->jobs[i].type == type)
			return &accel->jobs[i];
	IMPL_ERR("%s: unknown type of job: %#x", accel->ctx.ops->name, (unsigned int)type);
	return NULL;
}

static doca_error_t
begin(const struct doca_job *job, void *work)
{
	const struct impl_accel_job *type = find(impl_accel_of(job->ctx), job->type);
	struct impl_accel_task *task = work;
	void (*enter)(struct impl_accel_task *task);
	doca_error_t ret;

	if (type == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	memset(work, 0, job->ctx->ops->task_size);
	task->task.ctx = job->ctx;
	task->kind = type->kind;
	type->fill(job, task);
	ret = impl_accel_admit(task);
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_accel_count_submit(task);
	enter = impl_accel_kind_of(task)->enter;
	if (enter != NULL)
		enter(task);
	return DOCA_SUCCESS;
}

static doca_error_t
run(void *work)
{
	struct impl_accel_task *task = work;
	doca_error_t ret;

	task->budget = IMPL_ACCEL_BUDGET;
	ret = impl_accel_work(task);
	if (ret == DOCA_ERROR_IN_PROGRESS)
		return ret;
	impl_accel_end(task);
	impl_accel_count_end(task, ret);
	if (impl_accel_kind_of(task)->leave != NULL)
		impl_accel_kind_of(task)->leave(task);
	return ret;
}

static bool
is_waiting(const void *work)
{
	const struct impl_accel_task *task = work;

	/* Others are done in the order of their submits. */
	return impl_accel_kind_of(task)->is_met != NULL;
}

const struct impl_job_ops impl_accel_job_ops = {
	.add_dev = add_dev,
	.rm_dev = rm_dev,
	.may_start = may_start,
	.begin = begin,
	.run = run,
	.is_waiting = is_waiting,
};
