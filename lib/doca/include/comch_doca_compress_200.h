/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_COMPRESS_200_H
#define COMCH_DOCA_COMPRESS_200_H

/**
 * @file
 * DOCA Compress from 2.0 to 2.2: jobs for a work queue. doca_compress.h includes this header in
 * that generation.
 *
 *     doca_compress_create(&compress), doca_compress_as_ctx()
 *     doca_ctx_dev_add(ctx, dev), doca_ctx_start(ctx)
 *     doca_workq_create(1, &workq), doca_ctx_workq_add(ctx, workq)
 *     doca_workq_submit(workq, &job.base)
 *     doca_workq_progress_retrieve(workq, &event, 0)   while DOCA_ERROR_AGAIN
 *     doca_ctx_workq_rm(), doca_workq_destroy(), doca_ctx_stop(), doca_ctx_dev_rm()
 *     doca_compress_destroy(compress)
 *
 * The errors of a job are those of a task in doca_compress.h. doca_workq_progress_retrieve()
 * returns DOCA_ERROR_IO_FAILED for such a job, and the event's result has the error. The context
 * goes on. A submit also returns DOCA_ERROR_INVALID_VALUE for an unknown type.
 *
 * Reference: DOCA Compress programming guide 2.2.
 */

#include <doca_ctx.h>
#include <doca_error.h>
#include <comch_doca_workq_105.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_compress;
struct doca_devinfo;

/** Types of jobs. */
enum doca_compress_job_types {
	DOCA_DECOMPRESS_DEFLATE_JOB = 0x300, /**< A struct doca_compress_deflate_job. */
	DOCA_COMPRESS_DEFLATE_JOB,           /**< The same. */
};

/** Compress or decompress: the data of a source, to where the data of a destination ends. */
struct doca_compress_deflate_job {
	struct doca_job base;            /**< Its type says which. */
	struct doca_buf *dst_buff;       /**< Where it is appended. */
	struct doca_buf const *src_buff; /**< Whose data is worked on. */
	/**
	 * Gets the checksums of what is not compressed when the job is done: Adler-32 in the upper
	 * half, CRC-32 in the lower one. May be NULL.
	 */
	uint64_t *output_chksum;
};

/**
 * Whether the device runs jobs of a type: all devices of both sides do.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NOT_SUPPORTED: unknown type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_job_get_supported(struct doca_devinfo *devinfo,
		enum doca_compress_job_types job_type);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_COMPRESS_200_H */
