/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_SHA_200_H
#define COMCH_DOCA_SHA_200_H

/**
 * @file
 * DOCA SHA from 2.0 to 2.2: jobs for a work queue. doca_sha.h includes this header in that
 * generation.
 *
 *     doca_sha_create(&sha), doca_sha_as_ctx()
 *     doca_ctx_dev_add(ctx, dev), doca_ctx_start(ctx)
 *     doca_workq_create(1, &workq), doca_ctx_workq_add(ctx, workq)
 *     doca_workq_submit(workq, &job.base)
 *     doca_workq_progress_retrieve(workq, &event, 0)   while DOCA_ERROR_AGAIN
 *     doca_ctx_workq_rm(), doca_workq_destroy(), doca_ctx_stop(), doca_ctx_dev_rm()
 *     doca_sha_destroy(sha)
 *
 * A message in several parts has a session, which is created before the first part and destroyed
 * after the last, which has #DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL. Its parts are submitted one
 * after the other, all of one type. The next part begins another message.
 *
 * The errors of a job are those of a task in doca_sha.h. doca_workq_progress_retrieve() returns
 * DOCA_ERROR_IO_FAILED for such a job, and the event's result has the error. The context goes on,
 * but a session of which a job has failed does not: a digest would lack its part. Further jobs of
 * it, also those that were submitted before, get DOCA_ERROR_BAD_STATE.
 *
 * A submit also returns:
 *   - DOCA_ERROR_INVALID_VALUE: unknown type; no session; a session whose message has begun with
 *     another algorithm
 *   - DOCA_ERROR_BAD_STATE: a job of the session has failed
 *   - DOCA_ERROR_NOT_SUPPORTED: libcrypto is configured without the algorithm
 *
 * Reference: DOCA SHA programming guide 2.2.
 */

#include <doca_ctx.h>
#include <doca_error.h>
#include <comch_doca_workq_105.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_devinfo;
struct doca_sha;
struct doca_workq;

/** @name Bytes of a digest
 * @{
 */
#define DOCA_SHA1_BYTE_COUNT 20
#define DOCA_SHA256_BYTE_COUNT 32
#define DOCA_SHA512_BYTE_COUNT 64
/** @} */

/** Types of jobs. */
enum doca_sha_job_type {
	DOCA_SHA_JOB_SHA1 = 0x200,   /**< A struct doca_sha_job. */
	DOCA_SHA_JOB_SHA256,         /**< The same. */
	DOCA_SHA_JOB_SHA512,         /**< The same. */
	DOCA_SHA_JOB_SHA1_PARTIAL,   /**< A struct doca_sha_partial_job. */
	DOCA_SHA_JOB_SHA256_PARTIAL, /**< The same. */
	DOCA_SHA_JOB_SHA512_PARTIAL, /**< The same. */
};

/** Flags of a job. */
enum doca_sha_job_flags {
	DOCA_SHA_JOB_FLAGS_NONE = 0,
	DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL = 1, /**< The last part. */
};

/** A message in several parts. */
struct doca_sha_partial_session;

/** Compute the digest of the data of a buffer. */
struct doca_sha_job {
	struct doca_job base;      /**< Its type is the algorithm. */
	struct doca_buf *resp_buf; /**< Gets the digest. */
	struct doca_buf *req_buf;  /**< Whose data it is of. */
	uint64_t flags;            /**< enum doca_sha_job_flags. */
};

/** A part of a message. */
struct doca_sha_partial_job {
	struct doca_sha_job sha_job;               /**< The part; submit sha_job.base. */
	struct doca_sha_partial_session *session;  /**< The message. */
};

/**
 * Whether the device runs jobs of a type: all devices of both sides do.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NOT_SUPPORTED: unknown type, or libcrypto is configured without the algorithm
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_job_get_supported(struct doca_devinfo *devinfo,
		enum doca_sha_job_type job_type);

/** Whether a device computes digests itself. All say so: programs insist on it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_hardware_supported(struct doca_devinfo *devinfo);

/**
 * Create a session, for jobs of this work queue.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_create(struct doca_sha *sha, struct doca_workq *workq,
		struct doca_sha_partial_session **session);

/**
 * Destroy a session.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_IN_USE: a submitted job has it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_destroy(struct doca_sha *sha, struct doca_workq *workq,
		struct doca_sha_partial_session *session);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_SHA_200_H */
