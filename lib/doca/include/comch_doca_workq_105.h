/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_WORKQ_105_H
#define COMCH_DOCA_WORKQ_105_H

/**
 * @file
 * Work queues and jobs: what doca_ctx.h had until DOCA 2.2, where there are
 * progress engines and tasks now. Included by it, in these generations.
 *
 * A work queue takes *jobs* of accelerators, as DMA, which are contexts, and
 * gives an *event* for each that is done:
 *
 *     doca_workq_create(16, &workq)
 *     doca_ctx_dev_add(ctx, dev), doca_ctx_start(ctx), doca_ctx_workq_add(ctx, workq)
 *     doca_workq_submit(workq, &job)
 *     ... doca_workq_progress_retrieve(workq, &event, 0) while DOCA_ERROR_AGAIN
 *     doca_workq_destroy(workq)
 *
 * Programs of the Comm Channel share code with such programs, so they link
 * these functions and may create a queue. But the channel of that time is no
 * context, and comch has no accelerator: no context of these generations
 * exists. What takes one says DOCA_ERROR_NOT_SUPPORTED; a queue works, and
 * nothing ever happens in it.
 *
 * Thread rule: a work queue belongs to one thread at a time.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for NULL. One whose @return
 * names no more has no other error.
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

/** Work for an accelerator: the begin of its own type of job. */
struct doca_job {
	int type;                  /**< What to do: the accelerator's. */
	int flags;                 /**< How. */
	struct doca_ctx *ctx;      /**< Who. */
	union doca_data user_data; /**< Comes back with its event. */
};

/** A job is done. */
struct doca_event {
	int type;                  /**< The job's. */
	union doca_data user_data; /**< The job's. */
	union doca_data result;    /**< The accelerator's. */
};

/**
 * Create a work queue.
 *
 * @param depth
 *   Jobs that it takes at once: 1 or more.
 * @param[out] workq
 *   The queue; doca_workq_destroy() frees it.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: no depth, too
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq);

/** Destroy a work queue; its event handle is closed. @return DOCA_SUCCESS. */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_destroy(struct doca_workq *workq);

/**
 * Submit a job.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: a job without a context, too
 *   - DOCA_ERROR_NOT_SUPPORTED: else
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job);

/**
 * Take the event of a job that is done. Here, none ever is.
 *
 * @param workq
 *   The queue.
 * @param[out] ev
 *   Not written to.
 * @param flags
 *   Not looked at.
 * @return
 *   - DOCA_ERROR_AGAIN: no job is done
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev,
		int flags);

/**
 * Let one sleep on a work queue, or no longer.
 *
 * @param workq
 *   The queue.
 * @param enable
 *   0: no longer; the handle is closed. Else: make the handle, if there is none.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_OPERATING_SYSTEM: no file descriptor
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable);

/**
 * The descriptor to sleep on, with poll(), select() or epoll: readable when a
 * job is done after doca_workq_event_handle_arm(). It belongs to the queue.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: without doca_workq_set_event_driven_enable()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle);

/**
 * Have the descriptor become readable for the next job that is done.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: without doca_workq_set_event_driven_enable()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq);

/**
 * Take back what made the descriptor readable.
 *
 * @param workq
 *   The queue.
 * @param handle
 *   Not looked at.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_BAD_STATE: without doca_workq_set_event_driven_enable()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle);

/** Let a context use a device. @return DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev);

/** Take a device from a context. @return DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev);

/** Let a work queue take a context's jobs. @return DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq);

/** Take a work queue from a context. @return DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_WORKQ_105_H */
