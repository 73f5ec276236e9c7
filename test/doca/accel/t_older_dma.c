/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA DMA of 2.0 to 2.2, and work queues with jobs. */

#include <poll.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "common/result.h"
#include "t_main.h"

#define LEN 4096
#define DEPTH 3

/* What a program of that time has. */
struct copier {
	struct doca_dev *dev;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv;
	struct doca_buf *src, *dst;
	uint8_t mem[2 * LEN];
};

static void
copier_create(struct copier *c)
{
	struct doca_devinfo **list;
	uint32_t nb;

	memset(c, 0, sizeof(*c));
	T_OK(doca_dma_create(&c->dma));
	c->ctx = doca_dma_as_ctx(c->dma);
	T_OK(doca_devinfo_list_create(&list, &nb));
	T_OK(doca_dma_job_get_supported(list[0], DOCA_DMA_JOB_MEMCPY));
	T_OK(doca_dev_open(list[0], &c->dev));
	T_OK(doca_devinfo_list_destroy(list));
	T_OK(doca_mmap_create(NULL, &c->mmap));
	T_OK(doca_mmap_dev_add(c->mmap, c->dev));
	T_OK(doca_mmap_set_memrange(c->mmap, c->mem, sizeof(c->mem)));
	T_OK(doca_mmap_start(c->mmap));
	T_OK(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &c->inv));
	T_OK(doca_buf_inventory_start(c->inv));
	T_OK(doca_buf_inventory_buf_by_addr(c->inv, c->mmap, c->mem, LEN, &c->src));
	T_OK(doca_buf_inventory_buf_by_addr(c->inv, c->mmap, c->mem + LEN, LEN, &c->dst));
	memset(c->mem, 0x5a, LEN);
	T_OK(doca_workq_create(DEPTH, &c->workq));
}

static void
copier_start(struct copier *c)
{
	T_OK(doca_ctx_dev_add(c->ctx, c->dev));
	T_OK(doca_ctx_start(c->ctx));
	T_OK(doca_ctx_workq_add(c->ctx, c->workq));
}

static void
copier_destroy(struct copier *c)
{
	T_OK(doca_buf_refcount_rm(c->src, NULL));
	T_OK(doca_buf_refcount_rm(c->dst, NULL));
	T_OK(doca_workq_destroy(c->workq));
	T_OK(doca_buf_inventory_destroy(c->inv));
	T_OK(doca_mmap_destroy(c->mmap));
}

/* In the order of the programs. */
static void
copier_close(struct copier *c)
{
	T_OK(doca_ctx_workq_rm(c->ctx, c->workq));
	copier_destroy(c);
	T_OK(doca_ctx_stop(c->ctx));
	T_OK(doca_ctx_dev_rm(c->ctx, c->dev));
	T_OK(doca_dev_close(c->dev));
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
			.ctx = c->ctx,
			.user_data = { .u64 = user_data },
		},
		.src_buff = c->src,
		.dst_buff = c->dst,
	};

	T_OK(doca_workq_submit(c->workq, &job.base));
}

static doca_error_t
retrieve(struct copier *c, struct doca_event *event)
{
	doca_error_t ret = DOCA_ERROR_AGAIN;

	T_WAIT(0, (ret = doca_workq_progress_retrieve(c->workq, event,
		DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) != DOCA_ERROR_AGAIN);
	T_EQ(event->type, DOCA_DMA_JOB_MEMCPY);
	return ret;
}

/* behaviour: B7, Y6, Y7 */
T_CASE(copies)
{
	struct doca_event event;
	struct copier c;
	unsigned int i;
	size_t len;

	copier_create(&c);
	copier_start(&c);
	T_IS(doca_workq_progress_retrieve(c.workq, &event, 0), DOCA_ERROR_AGAIN);
	T_OK(doca_buf_set_data(c.src, c.mem, 100));
	for (i = 0; i < DEPTH; i++)
		submit(&c, i);
	for (i = 0; i < DEPTH; i++) {
		T_OK(retrieve(&c, &event));
		T_EQ(event.user_data.u64, i);
		T_EQ(event.result.u64, DOCA_SUCCESS);
	}
	T_IS(doca_workq_progress_retrieve(c.workq, &event, 0), DOCA_ERROR_AGAIN);
	T_GETS(doca_buf_get_data_len(c.dst, &len), len, 300);
	T_EQ(c.mem[LEN + 299], 0x5a);
	T_EQ(c.mem[LEN + 300], 0);
	copier_close(&c);
}

/* A failed job has its error in the event, and the next one runs. behaviour: B7 */
T_CASE(fails)
{
	struct doca_dma_memcpy_result *result;
	struct doca_event event;
	struct copier c;

	copier_create(&c);
	copier_start(&c);
	submit(&c, 7);
	T_IS(retrieve(&c, &event), DOCA_ERROR_IO_FAILED);
	T_EQ(event.user_data.u64, 7);
	result = (struct doca_dma_memcpy_result *)&event.result;
	T_EQ(result->result, DOCA_ERROR_INVALID_VALUE);
	T_OK(doca_buf_set_data(c.src, c.mem, LEN));
	submit(&c, 8);
	T_OK(retrieve(&c, &event));
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
	T_IS(doca_dma_job_get_supported(doca_dev_as_devinfo(c.dev), (enum doca_dma_job_types)1),
		DOCA_ERROR_NOT_SUPPORTED);
	job.base.ctx = c.ctx;
	T_INVALID(doca_ctx_start(c.ctx));
	T_INVALID(doca_ctx_dev_add(c.ctx, (struct doca_dev *)(void *)&c));
	T_IS(doca_ctx_dev_rm(c.ctx, c.dev), DOCA_ERROR_NOT_FOUND);
	T_IS(doca_ctx_workq_add(c.ctx, c.workq), DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_workq_rm(c.ctx, c.workq), DOCA_ERROR_NOT_FOUND);
	copier_start(&c);
	T_IS(doca_ctx_dev_add(c.ctx, c.dev), DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_dev_rm(c.ctx, c.dev), DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_workq_add(c.ctx, c.workq), DOCA_ERROR_ALREADY_EXIST);
	T_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_USE);
	T_IS(doca_workq_destroy(c.workq), DOCA_ERROR_IN_USE);
	/* Neither a source nor a destination; another type of job. */
	T_INVALID(doca_workq_submit(c.workq, &job.base));
	job.base.type = 1;
	T_INVALID(doca_workq_submit(c.workq, &job.base));
	T_OK(doca_buf_set_data(c.src, c.mem, 1));
	for (i = 0; i < DEPTH; i++)
		submit(&c, i);
	job = (struct doca_dma_job_memcpy){
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = c.ctx },
		.src_buff = c.src,
		.dst_buff = c.dst,
	};
	T_IS(doca_workq_submit(c.workq, &job.base), DOCA_ERROR_NO_MEMORY);
	T_IS(doca_ctx_workq_rm(c.ctx, c.workq), DOCA_ERROR_IN_USE);
	for (i = 0; i < DEPTH; i++)
		T_OK(retrieve(&c, &event));
	T_OK(doca_ctx_workq_rm(c.ctx, c.workq));
	T_IS(doca_workq_submit(c.workq, &job.base), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_workq_add(c.ctx, c.workq));
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
	T_OK(doca_workq_set_event_driven_enable(c.workq, 1));
	T_OK(doca_workq_get_event_handle(c.workq, &fd));
	copier_start(&c);
	T_OK(doca_buf_set_data(c.src, c.mem, 1));
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	T_OK(doca_workq_event_handle_arm(c.workq));
	T_EQ(poll(&p, 1, 0), 0);
	submit(&c, 0);
	T_EQ(poll(&p, 1, 0), 1);
	T_OK(doca_workq_event_handle_clear(c.workq, fd));
	T_EQ(poll(&p, 1, 0), 0);
	T_OK(doca_workq_event_handle_arm(c.workq));
	T_EQ(poll(&p, 1, 0), 1);
	T_OK(doca_workq_event_handle_clear(c.workq, fd));
	T_OK(retrieve(&c, &event));
	T_OK(doca_workq_event_handle_arm(c.workq));
	T_EQ(poll(&p, 1, 0), 0);
	copier_close(&c);
}
