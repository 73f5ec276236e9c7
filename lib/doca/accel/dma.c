/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA DMA: copies of memory. */

#include <rte_common.h>

#include <comch_doca_dma_200.h>
#include <doca_dma.h>

#include "accel/accel.h"
#include "accel/copy.h"
#include "dev/dev.h"
#include "log/log.h"

/* A shorter copy takes no longer than to wake a worker, bytes. */
#define WORKER_MIN (UINT32_C(128) << 10)

struct doca_dma {
	struct impl_accel accel;
	struct impl_offload copy_dev; /* while it runs */
};

struct doca_dma_task_memcpy {
	struct impl_accel_task base;
	struct impl_copy copy; /* once it has begun */
};

/* The copy */

static doca_error_t
copy_admit(const struct impl_accel_task *task)
{
	const struct impl_limits *limits = &task->task.ctx->manners->limits;

	if (impl_list_len(task->src) + impl_list_len(task->dst) > limits->dma_max_buf_list_len ||
			impl_list_data(task->src) > limits->dma_max_buf_size)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

static doca_error_t
copy_check(const struct impl_accel_task *task)
{
	const size_t len = impl_list_data(task->src);
	doca_error_t ret = impl_list_check_source(task->src, true);

	if (ret == DOCA_SUCCESS && len == 0)
		ret = DOCA_ERROR_INVALID_VALUE;
	if (ret == DOCA_SUCCESS)
		ret = impl_list_check_room(task->dst, len, true);
	if (ret == DOCA_SUCCESS && impl_list_overlaps(task->src, task->dst, len))
		ret = DOCA_ERROR_INVALID_VALUE;
	return ret;
}

static struct doca_dma *
dma_of(const struct doca_ctx *ctx)
{
	return (struct doca_dma *)impl_accel_of(ctx);
}

static struct impl_copy *
copy_of(struct impl_accel_task *task)
{
	return &((struct doca_dma_task_memcpy *)task)->copy;
}

static bool
has_remote(const struct impl_accel_task *task)
{
	return impl_list_has_remote(task->src) || impl_list_has_remote(task->dst);
}

static doca_error_t
copy_begin(struct impl_accel_task *task)
{
	static struct impl_offload none;

	impl_copy_begin(copy_of(task), task->src, task->dst,
		has_remote(task) ? &none : &dma_of(task->task.ctx)->copy_dev);
	return DOCA_SUCCESS;
}

static doca_error_t
copy_run(struct impl_accel_task *task)
{
	doca_error_t ret = impl_copy_run(copy_of(task), &task->budget);

	if (ret == DOCA_SUCCESS)
		impl_list_fill(task->dst, copy_of(task)->len);
	return ret;
}

static void
copy_end(struct impl_accel_task *task)
{
	struct impl_observed *o = &impl_accel_of(task->task.ctx)->observed;

	impl_observe_count(o, &o->counters.offloaded, copy_of(task)->by_dev.bytes);
	impl_copy_end(copy_of(task));
}

/* The other side's process may take its time. */
static bool
copy_suits_worker(const struct impl_accel_task *task)
{
	return impl_list_data(task->src) >= WORKER_MIN && !has_remote(task) &&
		dma_of(task->task.ctx)->copy_dev.dev == NULL;
}

static const struct impl_accel_kind copy_kind = {
	.admit = copy_admit,
	.check = copy_check,
	.begin = copy_begin,
	.run = copy_run,
	.end = copy_end,
	.suits_worker = copy_suits_worker,
};

static doca_error_t
dma_start(struct doca_ctx *ctx)
{
	doca_error_t ret = impl_accel_start(ctx);

	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_copy_dev_open(&dma_of(ctx)->copy_dev, ctx);
	if (ret != DOCA_SUCCESS)
		impl_accel_release(ctx);
	return ret;
}

static void
dma_release(struct doca_ctx *ctx)
{
	impl_offload_close(&dma_of(ctx)->copy_dev);
	impl_accel_release(ctx);
}

#define DMA_OPS \
	.name = "DMA", \
	.task_size = sizeof(struct doca_dma_task_memcpy), \
	IMPL_ACCEL_CTX_OPS(dma_start, dma_release, impl_accel_task_put, impl_accel_fini)

static const struct impl_ctx_ops dma_ops = {
	DMA_OPS,
};

/* Object */

doca_error_t
doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (dma == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create(dev, &dma_ops, &copy_kind, 1, sizeof(**dma), &accel);
	if (ret != DOCA_SUCCESS)
		return ret;
	accel->max_tasks = accel->ctx.manners->limits.dma_max_num_tasks;
	*dma = (struct doca_dma *)accel;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dma_destroy(struct doca_dma *dma)
{
	return dma == NULL ? DOCA_ERROR_INVALID_VALUE : impl_ctx_destroy(&dma->accel.ctx);
}

struct doca_ctx *
doca_dma_as_ctx(struct doca_dma *dma)
{
	return dma == NULL ? NULL : &dma->accel.ctx;
}

/* Until DOCA 2.2 */

static void
fill_memcpy(const struct doca_job *job, struct impl_accel_task *task)
{
	const struct doca_dma_job_memcpy *copy = (const struct doca_dma_job_memcpy *)job;

	task->src = copy->src_buff;
	task->dst = copy->dst_buff;
}

static const struct impl_accel_job dma_jobs[] = {
	{ DOCA_DMA_JOB_MEMCPY, 0, fill_memcpy },
};

static const struct impl_ctx_ops dma_job_ops = {
	DMA_OPS,
	.jobs = &impl_accel_job_ops,
};

doca_error_t doca_dma_create_200(struct doca_dma **dma);

/* doca_dma_create() until DOCA 2.2. */
doca_error_t
doca_dma_create_200(struct doca_dma **dma)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (dma == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create_for_jobs(&dma_job_ops, &copy_kind, dma_jobs,
		RTE_DIM(dma_jobs), sizeof(**dma), &accel);
	if (ret == DOCA_SUCCESS)
		*dma = (struct doca_dma *)accel;
	return ret;
}

doca_error_t
doca_dma_job_get_supported(struct doca_devinfo *devinfo, enum doca_dma_job_types job_type)
{
	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return job_type == DOCA_DMA_JOB_MEMCPY ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

/* Capabilities */

doca_error_t
doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}

doca_error_t
doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint64_t *max_buf_size)
{
	if (devinfo == NULL || max_buf_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_buf_size = impl_devinfo_limits(devinfo)->dma_max_buf_size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len)
{
	if (devinfo == NULL || max_buf_list_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_buf_list_len = impl_devinfo_limits(devinfo)->dma_max_buf_list_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks)
{
	if (dma == NULL || max_num_tasks == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_num_tasks = dma->accel.max_tasks;
	return DOCA_SUCCESS;
}

/* Settings */

doca_error_t
doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
		doca_dma_task_memcpy_completion_cb_t task_completion_cb,
		doca_dma_task_memcpy_completion_cb_t task_error_cb, uint32_t num_tasks)
{
	return impl_accel_set_conf((struct impl_accel *)dma, 0,
		(doca_task_completion_cb_t)task_completion_cb,
		(doca_task_completion_cb_t)task_error_cb, num_tasks);
}

doca_error_t
doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t enable)
{
	/* They always are. */
	RTE_SET_USED(enable);
	return dma == NULL ? DOCA_ERROR_INVALID_VALUE : impl_ctx_may_set(&dma->accel.ctx);
}

doca_error_t
doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma)
{
	if (dma == NULL || gpu_dma == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	IMPL_ERR("DMA: a data path on a GPU is not supported");
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* Tasks */

doca_error_t
doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src,
		struct doca_buf *dst, union doca_data user_data,
		struct doca_dma_task_memcpy **task)
{
	return impl_accel_take((struct impl_accel *)dma, 0, src, dst, user_data,
		(struct impl_accel_task **)task);
}

struct doca_task *
doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
	return (struct doca_task *)task;
}

const struct doca_buf *
doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
	return task == NULL ? NULL : task->base.src;
}

struct doca_buf *
doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
	return task == NULL ? NULL : task->base.dst;
}

void
doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src)
{
	if (task != NULL)
		task->base.src = src;
}

void
doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst)
{
	if (task != NULL)
		task->base.dst = dst;
}
