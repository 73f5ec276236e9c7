/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_CTX_H
#define DOCA_CTX_H

/**
 * @file
 * Contexts: the common states of servers, clients, producers and consumers.
 *
 *     create -> IDLE --start--> STARTING --> RUNNING --stop--> STOPPING --> IDLE -> destroy
 *               configure       progress     submit, receive   progress
 *
 * Call order: create the object, doca_pe_connect_ctx(), configure it,
 * doca_ctx_set_user_data(), doca_ctx_set_state_changed_cb(), doca_ctx_start(). At the
 * end doca_ctx_stop(), doca_pe_progress() until it is IDLE, destroy.
 *
 * A start or stop that completes at once returns DOCA_SUCCESS, and the state callback
 * has run within the call. Otherwise it returns DOCA_ERROR_IN_PROGRESS and
 * doca_pe_progress() completes it. Within a callback a stop always returns IN_PROGRESS.
 * With comch:
 *
 * | object                        | start       | stop                         |
 * |-------------------------------|-------------|------------------------------|
 * | server                        | SUCCESS     | SUCCESS without connections  |
 * | client                        | IN_PROGRESS | IN_PROGRESS                  |
 * | producer                      | SUCCESS     | SUCCESS without tasks        |
 * | consumer                      | IN_PROGRESS | IN_PROGRESS                  |
 * | consumer of a MsgQ            | SUCCESS     | SUCCESS without tasks        |
 * | consumer, producer on the DPA | SUCCESS     | SUCCESS                      |
 *
 * A context leaves STOPPING when all its tasks have completed and the application has
 * freed them. Tasks submitted in STOPPING fail with their error callback and
 * DOCA_ERROR_SHUTDOWN.
 *
 * Threads: a context belongs to the thread of its progress engine. Any thread may call
 * doca_ctx_get_state().
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Core guide 2.10, "DOCA Context".
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
struct doca_devinfo;
struct doca_gpu;
struct doca_dpa;

/** States of a context. */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,     /**< Configure, start, destroy. */
	DOCA_CTX_STATE_STARTING = 1, /**< Progress, or stop; consumers may post. */
	DOCA_CTX_STATE_RUNNING = 2,  /**< Allocate and submit tasks, receive events. */
	DOCA_CTX_STATE_STOPPING = 3, /**< Progress, and free completed tasks. */
};

/**
 * The state has changed; doca_ctx_get_state() already returns *next_state*. The object
 * may be destroyed in the callback when that is IDLE.
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
		struct doca_ctx *ctx, enum doca_ctx_states prev_state,
		enum doca_ctx_states next_state);

/**
 * Start a context.
 *
 * @return
 *   - DOCA_SUCCESS: RUNNING.
 *   - DOCA_ERROR_IN_PROGRESS: STARTING; the state callback reports RUNNING, or IDLE if
 *     the start failed.
 *   - DOCA_ERROR_INVALID_VALUE: a mandatory setting is missing (callbacks of tasks,
 *     messages or connections).
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 *   - DOCA_ERROR_NOT_CONNECTED: no progress engine, or the connection of a producer or
 *     consumer has ended.
 *   - DOCA_ERROR_IN_USE: another server of this name runs on the representor.
 *   - DOCA_ERROR_NO_MEMORY.
 *   - DOCA_ERROR_OPERATING_SYSTEM: no free file descriptor.
 *   An error leaves the context IDLE.
 */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Stop a context: tasks fail with their error callback unless they have completed
 * already.
 *
 * @return
 *   - DOCA_SUCCESS: IDLE, also if it was IDLE before.
 *   - DOCA_ERROR_IN_PROGRESS: STOPPING; progress until IDLE.
 *   - DOCA_ERROR_IN_USE: the connection of a server or client has producers or
 *     consumers that are not IDLE; the state is unchanged.
 */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/** Number of tasks submitted and not yet completed. */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
		size_t *num_inflight_tasks);

/**
 * Move the data path of a context to a GPU. Not supported.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 *   - DOCA_ERROR_NOT_SUPPORTED: otherwise.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/** Set the user data, an argument of the state callback and all task callbacks, in any state. */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/** The user data; 0 at first. */
DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/**
 * Set the state callback, in any state; NULL removes it. It runs once for each change:
 * in doca_pe_progress(), or in doca_ctx_start() and doca_ctx_stop() for a change within
 * the call.
 */
DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
		doca_ctx_state_changed_callback_t cb);

/** The current state. Any thread may call this. */
DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/**
 * Send the tasks that doca_task_submit_ex() held back. Submits never hold tasks back,
 * so this has no effect.
 */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/**
 * Move the data path of a MsgQ's consumer or producer to the DPA (doca_comch_msgq.h).
 * It then needs no progress engine and has no tasks.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the MsgQ does not have this end on that DPA.
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 *   - DOCA_ERROR_NOT_SUPPORTED: another kind of context.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

/**
 * Choose the interrupt of completions. Not supported.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 *   - DOCA_ERROR_NOT_SUPPORTED: otherwise.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/** Number of completion interrupts: 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
		uint32_t *num_comp_vectors);

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_workq_105.h>
#endif

#endif /* DOCA_CTX_H */
