/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DMA_200_H
#define COMCH_DOCA_DMA_200_H

/**
 * @file
 * DOCA DMA from 2.0 to 2.2: jobs for a work queue. doca_dma.h includes this header in that
 * generation.
 *
 *     doca_dma_create(&dma), doca_dma_as_ctx()
 *     doca_ctx_dev_add(ctx, dev), doca_ctx_start(ctx)
 *     doca_workq_create(1, &workq), doca_ctx_workq_add(ctx, workq)
 *     doca_workq_submit(workq, &job.base)
 *     doca_workq_progress_retrieve(workq, &event, 0)   while DOCA_ERROR_AGAIN
 *     doca_ctx_workq_rm(), doca_workq_destroy(), doca_ctx_stop(), doca_ctx_dev_rm()
 *     doca_dma_destroy(dma)
 *
 * The errors of a job are those of a task in doca_dma.h. doca_workq_progress_retrieve() returns
 * DOCA_ERROR_IO_FAILED for such a job, and the event's result has the error. The context goes on.
 *
 * Reference: DOCA DMA programming guide 2.2.
 */

#include <doca_ctx.h>
#include <doca_error.h>
#include <comch_doca_workq_105.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_devinfo;
struct doca_dma;

/** Types of jobs. */
enum doca_dma_job_types {
	DOCA_DMA_JOB_MEMCPY = 0x100, /**< A struct doca_dma_job_memcpy. */
};

/** Copy memory: the data of a source, to where the data of a destination ends. */
struct doca_dma_job_memcpy {
	struct doca_job base;            /**< Type DOCA_DMA_JOB_MEMCPY. */
	struct doca_buf *dst_buff;       /**< Where it is appended. */
	struct doca_buf const *src_buff; /**< Whose data is copied. */
};

/** What the result of an event holds. */
struct doca_dma_memcpy_result {
	doca_error_t result; /**< DOCA_SUCCESS, or why the job failed. */
};

/**
 * Whether the device runs jobs of a type: all devices of both sides do.
 *
 * @return DOCA_ERROR_NOT_SUPPORTED: unknown type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_job_get_supported(struct doca_devinfo *devinfo,
		enum doca_dma_job_types job_type);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_DMA_200_H */
