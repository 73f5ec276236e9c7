/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA Compress: objects, tasks, and jobs until 2.2. */

#include <rte_common.h>
#include <rte_mbuf.h>

#include <comch_doca_compress_200.h>
#include <doca_compress.h>

#include "accel/compress.h"
#include "dev/dev.h"

/* A shorter source takes no longer than to wake a worker, bytes. */
#define WORKER_MIN 1024

const struct impl_compress_format impl_compress_formats[IMPL_COMPRESS_KINDS] = {
	[IMPL_COMPRESS_DEFLATE] = { impl_deflate_begin, impl_deflate_run, impl_zstream_end },
	[IMPL_DECOMPRESS_DEFLATE] = { impl_inflate_begin, impl_inflate_run, impl_zstream_end },
	[IMPL_DECOMPRESS_LZ4_STREAM] = { impl_lz4_begin, impl_lz4_stream_run, impl_lz4_end },
	[IMPL_DECOMPRESS_LZ4_BLOCK] = { impl_lz4_begin, impl_lz4_block_run, impl_lz4_end },
};

/* Kinds */

static doca_error_t
admit(const struct impl_accel_task *task)
{
	const struct impl_limits *limits = &task->task.ctx->manners->limits;

	if (task->dst->next != NULL ||
			impl_list_len(task->src) > limits->compress_max_buf_list_len ||
			impl_list_data(task->src) > limits->compress_max_buf_size)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

static doca_error_t
check(const struct impl_accel_task *task)
{
	doca_error_t ret = impl_list_check_source(task->src, false);

	if (ret == DOCA_SUCCESS && task->kind != IMPL_COMPRESS_DEFLATE &&
			impl_list_data(task->src) == 0)
		ret = DOCA_ERROR_INVALID_VALUE;
	if (ret == DOCA_SUCCESS)
		ret = impl_list_check_room(task->dst, 0, false);
	if (ret == DOCA_SUCCESS && impl_list_overlaps(task->src, task->dst, SIZE_MAX))
		ret = DOCA_ERROR_INVALID_VALUE;
	return ret;
}

static bool
is_inflate(const struct impl_accel_task *task)
{
	return task->kind == IMPL_DECOMPRESS_DEFLATE;
}

static bool
is_for_device(const struct impl_accel_task *task)
{
	const struct doca_compress *compress = (const struct doca_compress *)task->task.ctx;

	return (task->kind == IMPL_COMPRESS_DEFLATE || is_inflate(task)) &&
		impl_deflate_dev_wants(&compress->deflate_dev, is_inflate(task),
			impl_list_data(task->src));
}

static doca_error_t
begin_on_core(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	doca_error_t ret = impl_compress_formats[task->kind].begin(task);

	t->is_on_core = ret == DOCA_SUCCESS;
	return ret;
}

static doca_error_t
begin(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);

	t->place = (struct impl_place){ .buf = task->src };
	t->out = impl_buf_tail(task->dst);
	t->room = impl_buf_room(task->dst);
	t->len = 0;
	t->crc = t->adler = t->xxh = 0;
	t->is_on_core = t->dev_has_failed = false;
	t->by_dev = (struct impl_dev_deflate){ .dev = NULL };
	if (is_for_device(task) && impl_dev_deflate_begin(&t->by_dev,
			&impl_compress_of(t)->deflate_dev, is_inflate(task), task->src, t->room))
		return DOCA_SUCCESS;
	return begin_on_core(task);
}

/* Take what the device has made. */
static void
take_result(struct impl_compress_task *t)
{
	struct impl_observed *o = &impl_compress_of(t)->accel.observed;
	const struct rte_mbuf *m = impl_dev_deflate_result(&t->by_dev, &t->len);

	impl_chain_read(m, t->out, t->len);
	t->adler = 1;
	if (is_inflate(&t->base))
		impl_deflate_checksum(t, t->out, t->len);
	else
		for (m = impl_dev_deflate_source(&t->by_dev); m != NULL; m = m->next)
			impl_deflate_checksum(t, rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
	impl_observe_count(o, &o->counters.offloaded, t->by_dev.len);
	impl_accel_pay(&t->base, t->by_dev.len + t->len, 1);
}

static doca_error_t
run_on_device(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	doca_error_t ret = impl_dev_deflate_poll(&t->by_dev);

	if (ret == DOCA_ERROR_IN_PROGRESS)
		return ret;
	if (ret == DOCA_SUCCESS) {
		take_result(t);
		return ret;
	}
	t->dev_has_failed = ret == DOCA_ERROR_IO_FAILED;
	impl_dev_deflate_end(&t->by_dev);
	ret = begin_on_core(task);
	return ret == DOCA_SUCCESS ? DOCA_ERROR_IN_PROGRESS : ret;
}

static doca_error_t
run(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	doca_error_t ret = t->by_dev.dev != NULL ? run_on_device(task) :
		impl_compress_formats[task->kind].run(task);

	if (ret != DOCA_SUCCESS)
		return ret;
	/* Not of corrupt data, which the core does not do either. */
	if (t->dev_has_failed)
		impl_offload_tell(&impl_compress_of(t)->deflate_dev.offload);
	/* The program may have changed the buffer. */
	if (impl_buf_tail(task->dst) != t->out || impl_buf_room(task->dst) < t->len)
		return DOCA_ERROR_INVALID_VALUE;
	impl_list_fill(task->dst, t->len);
	if (t->both_out != NULL)
		*t->both_out = (uint64_t)t->adler << 32 | t->crc;
	return DOCA_SUCCESS;
}

static void
end(struct impl_accel_task *task)
{
	impl_dev_deflate_end(&impl_compress_task_of(task)->by_dev);
	if (impl_compress_task_of(task)->is_on_core)
		impl_compress_formats[task->kind].end(task);
}

static bool
suits_worker(const struct impl_accel_task *task)
{
	return impl_list_data(task->src) >= WORKER_MIN && !is_for_device(task);
}

#define KIND { .admit = admit, .check = check, .begin = begin, .run = run, .end = end, \
	.suits_worker = suits_worker }

static const struct impl_accel_kind kinds[IMPL_COMPRESS_KINDS] = {
	[IMPL_COMPRESS_DEFLATE] = KIND,
	[IMPL_DECOMPRESS_DEFLATE] = KIND,
	[IMPL_DECOMPRESS_LZ4_STREAM] = KIND,
	[IMPL_DECOMPRESS_LZ4_BLOCK] = KIND,
};

void
impl_compress_free_idle(struct doca_compress *compress)
{
	impl_zstream_free(compress->idle[IMPL_DEFLATE]);
	impl_zstream_free(compress->idle[IMPL_INFLATE]);
	impl_lz4_free(compress->idle[IMPL_LZ4]);
}

static doca_error_t
compress_start(struct doca_ctx *ctx)
{
	doca_error_t ret = impl_accel_start(ctx);

	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_deflate_dev_open(&((struct doca_compress *)ctx)->deflate_dev, ctx);
	if (ret != DOCA_SUCCESS)
		impl_accel_release(ctx);
	return ret;
}

static void
compress_release(struct doca_ctx *ctx)
{
	impl_deflate_dev_close(&((struct doca_compress *)ctx)->deflate_dev);
	impl_accel_release(ctx);
}

static void
compress_fini(struct doca_ctx *ctx)
{
	impl_compress_free_idle((struct doca_compress *)ctx);
	impl_accel_fini(ctx);
}

#define COMPRESS_OPS \
	IMPL_ACCEL_CTX_OPS(compress_start, compress_release, impl_accel_task_put, compress_fini), \
	.name = "compress", \
	.task_size = sizeof(struct impl_compress_task)

static const struct impl_ctx_ops compress_ops = { COMPRESS_OPS };

/* Object */

doca_error_t
doca_compress_create(struct doca_dev *dev, struct doca_compress **compress)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (compress == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create(dev, &compress_ops, kinds, RTE_DIM(kinds), sizeof(**compress),
		&accel);
	if (ret == DOCA_SUCCESS)
		*compress = (struct doca_compress *)accel;
	return ret;
}

doca_error_t
doca_compress_destroy(struct doca_compress *compress)
{
	return compress == NULL ? DOCA_ERROR_INVALID_VALUE : impl_ctx_destroy(&compress->accel.ctx);
}

struct doca_ctx *
doca_compress_as_ctx(struct doca_compress *compress)
{
	return compress == NULL ? NULL : &compress->accel.ctx;
}

/* Tasks */

static doca_error_t
get_max_size(const struct doca_devinfo *devinfo, uint64_t *max_buf_size)
{
	if (devinfo == NULL || max_buf_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_buf_size = impl_devinfo_limits(devinfo)->compress_max_buf_size;
	return DOCA_SUCCESS;
}

static doca_error_t
get_max_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
{
	if (devinfo == NULL || max_buf_list_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_buf_list_len = impl_devinfo_limits(devinfo)->compress_max_buf_list_len;
	return DOCA_SUCCESS;
}

static doca_error_t
take(struct doca_compress *compress, enum impl_compress_kind kind, const struct doca_buf *src,
		struct doca_buf *dst, union doca_data user_data, struct impl_compress_task **task)
{
	struct impl_accel_task *base;
	doca_error_t ret;

	if (task == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_take((struct impl_accel *)compress, kind, src, dst, user_data, &base);
	if (ret != DOCA_SUCCESS)
		return ret;
	*task = impl_compress_task_of(base);
	(*task)->both_out = NULL;
	(*task)->has_block_checksum = (*task)->is_linked = false;
	(*task)->crc = (*task)->adler = (*task)->xxh = 0;
	return DOCA_SUCCESS;
}

/* What all kinds have. */
#define TASK(name, kind) \
	doca_error_t \
	doca_compress_cap_task_##name##_is_supported(const struct doca_devinfo *devinfo) \
	{ \
		return impl_devinfo_supports(devinfo); \
	} \
	doca_error_t \
	doca_compress_cap_task_##name##_get_max_buf_size(const struct doca_devinfo *devinfo, \
			uint64_t *max_buf_size) \
	{ \
		return get_max_size(devinfo, max_buf_size); \
	} \
	doca_error_t \
	doca_compress_cap_task_##name##_get_max_buf_list_len(const struct doca_devinfo *devinfo, \
			uint32_t *max_buf_list_len) \
	{ \
		return get_max_list_len(devinfo, max_buf_list_len); \
	} \
	doca_error_t \
	doca_compress_task_##name##_set_conf(struct doca_compress *compress, \
			doca_compress_task_##name##_completion_cb_t task_completion_cb, \
			doca_compress_task_##name##_completion_cb_t task_error_cb, \
			uint32_t num_tasks) \
	{ \
		return impl_accel_set_conf((struct impl_accel *)compress, kind, \
			(doca_task_completion_cb_t)task_completion_cb, \
			(doca_task_completion_cb_t)task_error_cb, num_tasks); \
	} \
	struct doca_task * \
	doca_compress_task_##name##_as_task(struct doca_compress_task_##name *task) \
	{ \
		return (struct doca_task *)task; \
	} \
	const struct doca_buf * \
	doca_compress_task_##name##_get_src(const struct doca_compress_task_##name *task) \
	{ \
		return task == NULL ? NULL : ((const struct impl_accel_task *)task)->src; \
	} \
	struct doca_buf * \
	doca_compress_task_##name##_get_dst(const struct doca_compress_task_##name *task) \
	{ \
		return task == NULL ? NULL : ((const struct impl_accel_task *)task)->dst; \
	}

#define ALLOC(name, kind) \
	doca_error_t \
	doca_compress_task_##name##_alloc_init(struct doca_compress *compress, \
			const struct doca_buf *src, struct doca_buf *dst, \
			union doca_data user_data, struct doca_compress_task_##name **task) \
	{ \
		return take(compress, kind, src, dst, user_data, \
			(struct impl_compress_task **)task); \
	}

#define CHECKSUM(name, sum) \
	uint32_t \
	doca_compress_task_##name##_get_##sum##_cs(const struct doca_compress_task_##name *task) \
	{ \
		return task == NULL ? 0 : ((const struct impl_compress_task *)task)->sum; \
	}

TASK(compress_deflate, IMPL_COMPRESS_DEFLATE)
ALLOC(compress_deflate, IMPL_COMPRESS_DEFLATE)
CHECKSUM(compress_deflate, crc)
CHECKSUM(compress_deflate, adler)

TASK(decompress_deflate, IMPL_DECOMPRESS_DEFLATE)
ALLOC(decompress_deflate, IMPL_DECOMPRESS_DEFLATE)
CHECKSUM(decompress_deflate, crc)
CHECKSUM(decompress_deflate, adler)

TASK(decompress_lz4_stream, IMPL_DECOMPRESS_LZ4_STREAM)
CHECKSUM(decompress_lz4_stream, crc)
CHECKSUM(decompress_lz4_stream, xxh)

doca_error_t
doca_compress_task_decompress_lz4_stream_alloc_init(struct doca_compress *compress,
		uint8_t has_block_checksum, uint8_t are_blocks_independent,
		const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
		struct doca_compress_task_decompress_lz4_stream **task)
{
	struct impl_compress_task *t;
	doca_error_t ret;

	if (task == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = take(compress, IMPL_DECOMPRESS_LZ4_STREAM, src, dst, user_data, &t);
	if (ret != DOCA_SUCCESS)
		return ret;
	t->has_block_checksum = has_block_checksum != 0;
	t->is_linked = are_blocks_independent == 0;
	*task = (struct doca_compress_task_decompress_lz4_stream *)t;
	return DOCA_SUCCESS;
}

TASK(decompress_lz4_block, IMPL_DECOMPRESS_LZ4_BLOCK)
ALLOC(decompress_lz4_block, IMPL_DECOMPRESS_LZ4_BLOCK)
CHECKSUM(decompress_lz4_block, crc)
CHECKSUM(decompress_lz4_block, xxh)

/* Until DOCA 2.2 */

static void
fill(const struct doca_job *job, struct impl_accel_task *task)
{
	const struct doca_compress_deflate_job *deflate =
		(const struct doca_compress_deflate_job *)job;

	task->src = deflate->src_buff;
	task->dst = deflate->dst_buff;
	impl_compress_task_of(task)->both_out = deflate->output_chksum;
}

static const struct impl_accel_job jobs[] = {
	{ DOCA_DECOMPRESS_DEFLATE_JOB, IMPL_DECOMPRESS_DEFLATE, fill },
	{ DOCA_COMPRESS_DEFLATE_JOB, IMPL_COMPRESS_DEFLATE, fill },
};

static const struct impl_ctx_ops compress_job_ops = {
	COMPRESS_OPS,
	.jobs = &impl_accel_job_ops,
};

doca_error_t doca_compress_create_200(struct doca_compress **compress);

/* doca_compress_create() until DOCA 2.2. */
doca_error_t
doca_compress_create_200(struct doca_compress **compress)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (compress == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create_for_jobs(&compress_job_ops, kinds, jobs, RTE_DIM(jobs),
		sizeof(**compress), &accel);
	if (ret == DOCA_SUCCESS)
		*compress = (struct doca_compress *)accel;
	return ret;
}

doca_error_t
doca_compress_job_get_supported(struct doca_devinfo *devinfo, enum doca_compress_job_types job_type)
{
	doca_error_t ret = impl_devinfo_supports(devinfo);

	if (ret == DOCA_SUCCESS && job_type != DOCA_COMPRESS_DEFLATE_JOB &&
			job_type != DOCA_DECOMPRESS_DEFLATE_JOB)
		ret = DOCA_ERROR_NOT_SUPPORTED;
	return ret;
}
