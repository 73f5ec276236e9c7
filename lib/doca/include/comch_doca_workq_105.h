/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_WORKQ_105_H
#define COMCH_DOCA_WORKQ_105_H

/**
 * @file
 * Work queues and jobs, which progress engines and tasks replaced in DOCA 2.5.
 * doca_ctx.h includes this header in older generations.
 *
 * A work queue runs *jobs* on contexts of accelerators, such as DMA, and returns an
 * *event* for each completed job:
 *
 *     doca_workq_create(16, &workq)
 *     doca_ctx_dev_add(ctx, dev), doca_ctx_start(ctx), doca_ctx_workq_add(ctx, workq)
 *     doca_workq_submit(workq, &job)
 *     ... doca_workq_progress_retrieve(workq, &event, 0) while DOCA_ERROR_AGAIN
 *     doca_ctx_workq_rm(ctx, workq), doca_workq_destroy(workq)
 *     doca_ctx_stop(ctx), doca_ctx_dev_rm(ctx, dev)
 *
 * With comch the accelerators of DOCA 2.0 to 2.2 are contexts; the Comm Channel of these releases
 * is not, and programs that use only that often link these functions. A retrieve does
 * the work, a piece of the oldest job each time, and jobs complete in the order of their submits.
 *
 * Threads: a work queue belongs to one thread at a time.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 */

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
/** A work queue. */
struct doca_workq;

/** Flags of jobs. */
enum doca_job_flags {
	DOCA_JOB_FLAGS_NONE = 0,
};

/** Flags of retrieves. */
enum doca_workq_retrieve_flags {
	DOCA_WORKQ_RETRIEVE_FLAGS_NONE = 0,
};

/** A job: first member of each accelerator's own type of job. */
struct doca_job {
	int type;                  /**< Type of job, defined by the accelerator. */
	int flags;                 /**< Flags, defined by the accelerator. */
	struct doca_ctx *ctx;      /**< Accelerator that runs the job. */
	union doca_data user_data; /**< Returned with the event. */
};

/** A completed job. */
struct doca_event {
	int type;                  /**< From the job. */
	union doca_data user_data; /**< From the job. */
	union doca_data result;    /**< From the accelerator. */
};

/**
 * Create a work queue; doca_workq_destroy() frees it.
 *
 * @param depth
 *   Maximum number of jobs in flight. 0 is 1, since programs of 2.2 for sync events pass it.
 * @param[out] workq
 *   The queue.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *workq* is NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq);

/**
 * Destroy a work queue and close its event handle.
 *
 * @return DOCA_ERROR_IN_USE: a context has it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_destroy(struct doca_workq *workq);

/**
 * Submit a job. It is copied.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the job has no context, another type than those of its context,
 *     or is invalid in a way that its accelerator says
 *   - DOCA_ERROR_BAD_STATE: the context does not have the queue
 *   - DOCA_ERROR_NO_MEMORY: as many jobs as the queue is deep are in flight
 *   - DOCA_ERROR_NOT_SUPPORTED: the context has no jobs
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job);

/**
 * Work on the jobs, and take the event of a completed one.
 *
 * @param workq
 *   The queue.
 * @param[out] ev
 *   The event. Its result is DOCA_SUCCESS, or why the job failed.
 * @param flags
 *   Ignored.
 * @return
 *   - DOCA_SUCCESS: a job is done
 *   - DOCA_ERROR_IO_FAILED: a job has failed; there is an event as well
 *   - DOCA_ERROR_AGAIN: none is done yet
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev,
		int flags);

/**
 * Open or close the event handle of a work queue.
 *
 * @param workq
 *   The queue.
 * @param enable
 *   0: close the handle. Otherwise: open one if there is none.
 * @return DOCA_ERROR_OPERATING_SYSTEM: no free file descriptor
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable);

/**
 * The descriptor for poll(), select() and epoll: readable when a retrieve has something to do,
 * after doca_workq_event_handle_arm(). The queue owns it.
 *
 * @return DOCA_ERROR_BAD_STATE: event-driven mode is not enabled
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle);

/**
 * Make the descriptor readable when a job can be worked on, which it is at once if one is in
 * flight.
 *
 * @return DOCA_ERROR_BAD_STATE: event-driven mode is not enabled
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq);

/**
 * Make the descriptor unreadable again.
 *
 * @param workq
 *   The queue.
 * @param handle
 *   Ignored.
 * @return DOCA_ERROR_BAD_STATE: event-driven mode is not enabled
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle);

/**
 * Add the device of a context, before its start; one only.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is started
 *   - DOCA_ERROR_ALREADY_EXIST: it was added before
 *   - DOCA_ERROR_NOT_SUPPORTED: a second device, or the context has no jobs
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev);

/**
 * Remove the device of a context, which is stopped.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is started
 *   - DOCA_ERROR_NOT_FOUND: it was not added
 *   - DOCA_ERROR_NOT_SUPPORTED: the context has no jobs
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev);

/**
 * Have a work queue submit jobs to a context, which cannot be stopped until it is removed. A
 * context can have several queues, of several threads.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_ALREADY_EXIST: it has the queue
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_NOT_SUPPORTED: the context has no jobs
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq);

/**
 * Remove a work queue from a context.
 *
 * @return
 *   - DOCA_ERROR_IN_USE: its jobs are in flight
 *   - DOCA_ERROR_NOT_FOUND: the context does not have it
 *   - DOCA_ERROR_NOT_SUPPORTED: the context has no jobs
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_WORKQ_105_H */
