/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_PE_H
#define DOCA_PE_H

/**
 * @file
 * The progress engine, and tasks.
 *
 *     doca_pe_create(&pe); doca_pe_connect_ctx(pe, ctx); doca_ctx_start(ctx);
 *     for (;;)
 *         doca_pe_progress(pe);
 *
 * Or asleep in between; no wake-up is lost, whatever happened first:
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
 * A task is the library's from a successful submit until its callback; there it
 * may be freed, kept, or submitted again. Exactly one of its two callbacks runs
 * for each successful submit.
 *
 * With comch:
 *   - everything that has a callback wakes the handle, also a consumer's start;
 *   - a task that is freed while it is submitted is cancelled: it has no callback,
 *     and its place is free when the channel has returned it;
 *   - submits of producers and consumers within callbacks are collected, and go
 *     together when the callbacks have returned, or as soon as a submit returns
 *     DOCA_ERROR_AGAIN;
 *   - after 64 calls in a row in vain (of doca_pe_progress(), and submits that
 *     returned DOCA_ERROR_AGAIN) a thread yields its core, and more and more
 *     rarely if no other thread wants it. COMCH_YIELD=0 turns that off.
 *
 * Threads: an engine, its contexts and their tasks belong to one thread at a time.
 * doca_pe_progress() does nothing if it is called from a callback.
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

/** Tasks of a batch, at most. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3,
};

/** Events of a batch. */
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

/** How to submit. Here each task goes at once: the flags have no effect. */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0U,
	DOCA_TASK_SUBMIT_FLAG_FLUSH = (1U << 0),
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = (1U << 1),
};

/** How an engine progresses after it was armed. Here both do all there is to do. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0,
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,
};

/** A task has come back. */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/** @name Engines
 * @{
 */

/**
 * Create an engine.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NO_MEMORY;
 *   DOCA_ERROR_INITIALIZATION if EAL does not start,
 *   DOCA_ERROR_OPERATING_SYSTEM without file descriptors.
 */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Destroy an engine.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_IN_USE (objects that
 *   are connected to it were not destroyed, or within a callback).
 */
DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Advance all contexts of the engine and run their callbacks.
 *
 * @return
 *   1 if anything happened, else 0. NULL: 0.
 */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * The descriptor to sleep on: readable when an armed engine has something to
 * do. It stays the same for the engine's life, and belongs to it.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
		doca_notification_handle_t *handle);

/**
 * Take back what made the descriptor readable, and disarm.
 *
 * @param pe
 *   The engine.
 * @param handle
 *   Not looked at.
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/**
 * Arm: the descriptor becomes readable for anything that happens from now on,
 * and at once for what has happened already.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/** Tasks in flight of all contexts. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
		size_t *num_inflight_tasks);

/**
 * Connect a context. Only the destruction of its object ends that.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NOT_PERMITTED (it has
 *   an engine), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/** Choose how to progress. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

/** @} */
/** @name Tasks
 * @{
 */

/**
 * Submit a task. After an error it still belongs to the caller, who may submit
 * it again.
 *
 * @return
 *   - DOCA_SUCCESS: one of its callbacks will run.
 *   - DOCA_ERROR_AGAIN: producers and consumers: not now. A producer's consumer
 *     has no buffer posted, or a queue is full. No doca_pe_progress() of this
 *     side is needed before the next try.
 *   - DOCA_ERROR_BAD_STATE: its context is IDLE, or STARTING and no consumer.
 *   - DOCA_ERROR_NOT_CONNECTED: the peer of a message is gone.
 *   - DOCA_ERROR_INVALID_VALUE: no task, one that is submitted or freed, or
 *     its buffer does not fit: chained, or not in the consumer's mmap.
 */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

/** As doca_task_submit(); DOCA_ERROR_INVALID_VALUE for unknown flags, too. */
DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/** As doca_task_submit(), which checks as much. */
DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

/** Give a task back to its context; NULL is allowed. */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/**
 * What became of a task, in its callback and until it is submitted again:
 * DOCA_SUCCESS, or
 *
 * | status                         | why                                          |
 * |--------------------------------|----------------------------------------------|
 * | DOCA_ERROR_SHUTDOWN            | its context was stopped                      |
 * | DOCA_ERROR_CONNECTION_RESET    | the connection has ended                     |
 * | DOCA_ERROR_INVALID_VALUE       | longer than the buffer posted, or longer     |
 * |                                | immediate data than the consumer takes       |
 * | DOCA_ERROR_NOT_FOUND           | no consumer has that id (any more)           |
 *
 * Before the first submit, and for NULL: DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

/** Set a task's data: the second argument of its callbacks. */
DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/** A task's data; 0 after its allocation. */
DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

/** The context that a task was allocated from; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/** @} */
/** @name Batches
 * No object of this library makes batches, so there is never one to pass: these
 * functions are here for programs that name them. They return
 * DOCA_ERROR_NOT_SUPPORTED, or nothing.
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
