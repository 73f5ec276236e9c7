/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_PE_H
#define DOCA_PE_H

/**
 * @file
 * Progress engines and tasks.
 *
 *     doca_pe_create(&pe); doca_pe_connect_ctx(pe, ctx); doca_ctx_start(ctx);
 *     for (;;)
 *         doca_pe_progress(pe);
 *
 * To sleep in between, without losing a wake-up:
 *
 *     doca_pe_get_notification_handle(pe, &fd);
 *     for (;;) {
 *         doca_pe_request_notification(pe);
 *         poll, select or epoll_wait on fd (level- or edge-triggered)
 *         doca_pe_clear_notification(pe, fd);
 *         while (doca_pe_progress(pe) != 0)
 *             ;
 *     }
 *
 * The library owns a task from a successful submit until its callback, which may free,
 * keep or resubmit it. Exactly one of its two callbacks runs for each successful
 * submit.
 *
 * With comch:
 *   - everything that runs a callback wakes the handle, including the start of a
 *     consumer;
 *   - freeing a submitted task cancels it: no callback runs, and another task can be
 *     allocated once the channel has returned it;
 *   - submits of producers and consumers within callbacks are batched, and go out after
 *     the callbacks have returned or when a submit returns DOCA_ERROR_AGAIN;
 *   - after 64 idle calls in a row (doca_pe_progress() without progress, submits that
 *     return DOCA_ERROR_AGAIN) a thread yields its core, and less and less often while
 *     no other thread needs it. COMCH_YIELD=0 disables this.
 *
 * In a forked child the contexts of its parent are IDLE, without their callbacks: a progress
 * does nothing, and submits return DOCA_ERROR_BAD_STATE.
 *
 * Threads: an engine, its contexts and their tasks belong to one thread at a time.
 * doca_pe_progress() does nothing if called from a callback.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Core guide 2.10, "DOCA Progress Engine".
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_task_batch;
struct doca_devinfo;

/** Maximum number of tasks of a batch. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3,
};

/** Number of events of a batch. */
enum doca_event_batch_events_number {
#if COMCH_DOCA_GENERATION < 209
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 0,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 1,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 2,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 3,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 4,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 5,
#else
	DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7,
#endif
};

/** How to submit a task. With comch each task is sent at once: flags have no effect. */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0U,
	DOCA_TASK_SUBMIT_FLAG_FLUSH = (1U << 0),
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = (1U << 1),
};

/** How an engine progresses after a notification. With comch both modes process all events. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0,
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,
};

/** A task has completed or failed. */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/** @name Engines
 * @{
 */

/**
 * Create an engine.
 *
 * @return
 *   - DOCA_ERROR_NO_MEMORY.
 *   - DOCA_ERROR_INITIALIZATION: EAL failed to start.
 *   - DOCA_ERROR_OPERATING_SYSTEM: no free file descriptor.
 */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Destroy an engine.
 *
 * @return DOCA_ERROR_IN_USE: a connected object still exists, or called from a
 * callback.
 */
DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Advance the contexts of the engine and run their callbacks.
 *
 * With comch: of messages, completed sends of messages, and changes of connections, states and
 * consumers, a call reports one, and the next ones keep for the next calls: a program may have
 * room for one message only. Of completed tasks of each producer, consumer and MsgQ end, a call
 * reports up to 32. Tasks that fail because their context or connection ends may all be reported
 * by one call.
 *
 * @return 1 if anything happened, else 0. NULL: 0.
 */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * The descriptor to sleep on: readable when an armed engine has work. The engine owns
 * it and it never changes.
 */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
		doca_notification_handle_t *handle);

/**
 * Make the descriptor unreadable again, and disarm.
 *
 * @param pe
 *   The engine.
 * @param handle
 *   Ignored.
 * @return DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/**
 * Arm: the descriptor becomes readable at the next event, and at once if one is already
 * pending.
 *
 * @return DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/** Number of tasks in flight of all contexts. */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
		size_t *num_inflight_tasks);

/**
 * Connect a context. It stays connected until its object is destroyed.
 *
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: it has an engine.
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/** Set the event mode; it has no effect. */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

/** @} */
/** @name Tasks
 * @{
 */

/**
 * Submit a task. If that fails, the caller still owns the task and may submit it again.
 *
 * @return
 *   - DOCA_SUCCESS: one of its callbacks will run.
 *   - DOCA_ERROR_AGAIN: producers and consumers only: the peer's consumer has no buffer
 *     posted, or a queue is full. Try again; no doca_pe_progress() is needed on this
 *     side.
 *   - DOCA_ERROR_BAD_STATE: its context is IDLE, or STARTING unless it is a consumer.
 *   - DOCA_ERROR_NOT_CONNECTED: the connection of a message has ended.
 *   - DOCA_ERROR_INVALID_VALUE: NULL, submitted already or freed, or an invalid buffer:
 *     chained, or outside the consumer's mmap.
 */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

/** As doca_task_submit(), and DOCA_ERROR_INVALID_VALUE for unknown flags. */
DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/** As doca_task_submit(), with the same checks. */
DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

/** Return a task to its context; NULL is allowed. */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/**
 * Result of a task, from its callback until its next submit: DOCA_SUCCESS, or
 *
 * | status                         | reason                                       |
 * |--------------------------------|----------------------------------------------|
 * | DOCA_ERROR_SHUTDOWN            | its context was stopped                      |
 * | DOCA_ERROR_CONNECTION_RESET    | the connection has ended                     |
 * | DOCA_ERROR_INVALID_VALUE       | longer than the posted buffer, longer        |
 * |                                | immediate data than the consumer accepts, or |
 * |                                | a message longer than the server agreed to   |
 * | DOCA_ERROR_NOT_FOUND           | the peer has no consumer of this id          |
 *
 * DOCA_SUCCESS before the first submit; DOCA_ERROR_INVALID_VALUE for NULL.
 */
DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

/** Set a task's user data, the second argument of its callbacks. */
DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/** A task's user data; 0 at first. */
DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

/** The context of a task; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/** @} */
/** @name Batches
 * Present so that programs that use them link. The library never creates a batch: these
 * functions return DOCA_ERROR_NOT_SUPPORTED or have no effect.
 * @{
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);
DOCA_EXPERIMENTAL
void doca_task_batch_free(struct doca_task_batch *task_batch);
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);
DOCA_EXPERIMENTAL
void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);
DOCA_EXPERIMENTAL
struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);
DOCA_EXPERIMENTAL
uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H */
