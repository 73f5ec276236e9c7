/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA DMA of 2.0 to 2.2, and work queues with jobs. */

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <doca_dma.h>

#include "accel/worker.h"
#include "common/result.h"
#include "t_main.h"
#include "t_tel.h"

#define LEN 4096
#define DEPTH 3

struct copier {
	struct worker w;
	struct doca_dma *dma;
};

static void
copier_create(struct copier *c)
{
	T_OK(doca_dma_create(&c->dma));
	worker_create(&c->w, doca_dma_as_ctx(c->dma), LEN, DEPTH);
	T_OK(doca_dma_job_get_supported(doca_dev_as_devinfo(c->w.dev), DOCA_DMA_JOB_MEMCPY));
	memset(c->w.mem, 0x5a, LEN);
}

static void
copier_close(struct copier *c)
{
	worker_close(&c->w);
	T_OK(doca_dma_destroy(c->dma));
}

static void
submit(struct copier *c, uint64_t user_data)
{
	/* On the stack: it is not there any more when it is done. */
	const struct doca_dma_job_memcpy job = {
		.base = {
			.type = DOCA_DMA_JOB_MEMCPY,
			.flags = DOCA_JOB_FLAGS_NONE,
			.ctx = c->w.ctx,
			.user_data = { .u64 = user_data },
		},
		.src_buff = c->w.in,
		.dst_buff = c->w.out,
	};

	T_OK(doca_workq_submit(c->w.workq, &job.base));
}

/* behaviour: B7, Y6, Y7 */
T_CASE(copies)
{
	struct doca_event event;
	struct copier c;
	unsigned int i;
	size_t len;

	copier_create(&c);
	worker_start(&c.w);
	T_IS(doca_workq_progress_retrieve(c.w.workq, &event, 0), DOCA_ERROR_AGAIN);
	T_OK(doca_buf_set_data(c.w.in, c.w.mem, 100));
	for (i = 0; i < DEPTH; i++)
		submit(&c, i);
	for (i = 0; i < DEPTH; i++) {
		T_OK(worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event));
		T_EQ(event.user_data.u64, i);
		T_EQ(event.result.u64, DOCA_SUCCESS);
	}
	T_IS(doca_workq_progress_retrieve(c.w.workq, &event, 0), DOCA_ERROR_AGAIN);
	T_GETS(doca_buf_get_data_len(c.w.out, &len), len, 300);
	T_EQ(c.w.mem[LEN + 299], 0x5a);
	T_EQ(c.w.mem[LEN + 300], 0);
	copier_close(&c);
}

/* A failed job has its error in the event, and the next one runs. behaviour: B7 */
T_CASE(fails)
{
	struct doca_dma_memcpy_result *result;
	struct doca_event event;
	struct copier c;

	copier_create(&c);
	worker_start(&c.w);
	submit(&c, 7);
	T_IS(worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event), DOCA_ERROR_IO_FAILED);
	T_EQ(event.user_data.u64, 7);
	result = (struct doca_dma_memcpy_result *)&event.result;
	T_EQ(result->result, DOCA_ERROR_INVALID_VALUE);
	T_OK(doca_buf_set_data(c.w.in, c.w.mem, LEN));
	submit(&c, 8);
	T_OK(worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event));
	copier_close(&c);
}

T_CASE(counted)
{
	struct doca_event event;
	struct copier c;
	json_t *stats;
	int fd;

	copier_create(&c);
	worker_start(&c.w);
	fd = t_tel_open();
	submit(&c, 0);
	T_IS(worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event), DOCA_ERROR_IO_FAILED);
	T_OK(doca_buf_set_data(c.w.in, c.w.mem, LEN));
	submit(&c, 1);
	T_OK(worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event));
	submit(&c, 2);
	stats = t_tel_ask(fd, "/comch/accel/stats,0");
	T_EQ(t_tel_number(stats, "submitted"), 3);
	T_EQ(t_tel_number(stats, "done"), 1);
	T_EQ(t_tel_number(stats, "failed"), 1);
	T_EQ(t_tel_number(stats, "bytes"), LEN);
	json_decref(stats);
	T_EQ(close(fd), 0);
	(void)worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event);
	copier_close(&c);
}

T_CASE(order_of_calls)
{
	struct doca_dma_job_memcpy job = { .base.type = DOCA_DMA_JOB_MEMCPY };
	struct doca_event event;
	struct copier c;
	unsigned int i;

	T_INVALID(doca_dma_create(NULL));
	T_INVALID(doca_dma_job_get_supported(NULL, DOCA_DMA_JOB_MEMCPY));
	copier_create(&c);
	T_IS(doca_dma_job_get_supported(doca_dev_as_devinfo(c.w.dev), (enum doca_dma_job_types)1),
		DOCA_ERROR_NOT_SUPPORTED);
	job.base.ctx = c.w.ctx;
	T_INVALID(doca_ctx_start(c.w.ctx));
	T_INVALID(doca_ctx_dev_add(c.w.ctx, (struct doca_dev *)(void *)&c));
	T_IS(doca_ctx_dev_rm(c.w.ctx, c.w.dev), DOCA_ERROR_NOT_FOUND);
	T_IS(doca_ctx_workq_add(c.w.ctx, c.w.workq), DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_workq_rm(c.w.ctx, c.w.workq), DOCA_ERROR_NOT_FOUND);
	worker_start(&c.w);
	T_IS(doca_ctx_dev_add(c.w.ctx, c.w.dev), DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_dev_rm(c.w.ctx, c.w.dev), DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_workq_add(c.w.ctx, c.w.workq), DOCA_ERROR_ALREADY_EXIST);
	T_IS(doca_ctx_stop(c.w.ctx), DOCA_ERROR_IN_USE);
	T_IS(doca_workq_destroy(c.w.workq), DOCA_ERROR_IN_USE);
	/* Neither a source nor a destination; another type of job. */
	T_INVALID(doca_workq_submit(c.w.workq, &job.base));
	job.base.type = 1;
	T_INVALID(doca_workq_submit(c.w.workq, &job.base));
	T_OK(doca_buf_set_data(c.w.in, c.w.mem, 1));
	for (i = 0; i < DEPTH; i++)
		submit(&c, i);
	job = (struct doca_dma_job_memcpy){
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = c.w.ctx },
		.src_buff = c.w.in,
		.dst_buff = c.w.out,
	};
	T_IS(doca_workq_submit(c.w.workq, &job.base), DOCA_ERROR_NO_MEMORY);
	T_IS(doca_ctx_workq_rm(c.w.ctx, c.w.workq), DOCA_ERROR_IN_USE);
	for (i = 0; i < DEPTH; i++)
		T_OK(worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event));
	T_OK(doca_ctx_workq_rm(c.w.ctx, c.w.workq));
	T_IS(doca_workq_submit(c.w.workq, &job.base), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_workq_add(c.w.ctx, c.w.workq));
	copier_close(&c);
}

/* The handle is readable while a job is in flight. */
T_CASE(sleeping)
{
	doca_event_handle_t fd;
	struct doca_event event;
	struct pollfd p;
	struct copier c;

	copier_create(&c);
	T_OK(doca_workq_set_event_driven_enable(c.w.workq, 1));
	T_OK(doca_workq_get_event_handle(c.w.workq, &fd));
	worker_start(&c.w);
	T_OK(doca_buf_set_data(c.w.in, c.w.mem, 1));
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	T_OK(doca_workq_event_handle_arm(c.w.workq));
	T_EQ(poll(&p, 1, 0), 0);
	submit(&c, 0);
	T_EQ(poll(&p, 1, 0), 1);
	T_OK(doca_workq_event_handle_clear(c.w.workq, fd));
	T_EQ(poll(&p, 1, 0), 0);
	T_OK(doca_workq_event_handle_arm(c.w.workq));
	T_EQ(poll(&p, 1, 0), 1);
	T_OK(doca_workq_event_handle_clear(c.w.workq, fd));
	T_OK(worker_retrieve(&c.w, DOCA_DMA_JOB_MEMCPY, &event));
	T_OK(doca_workq_event_handle_arm(c.w.workq));
	T_EQ(poll(&p, 1, 0), 0);
	copier_close(&c);
}
