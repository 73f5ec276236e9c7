/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_CTX_H
#define DOCA_CTX_H

/**
 * @file
 * Contexts: the states of servers, clients, producers and consumers.
 *
 *     create -> IDLE --start--> STARTING --> RUNNING --stop--> STOPPING --> IDLE -> destroy
 *               configure       progress     submit, receive   progress
 *
 * Call order: create the object, doca_pe_connect_ctx(), configure it,
 * doca_ctx_set_user_data(), doca_ctx_set_state_changed_cb(), doca_ctx_start();
 * at the end doca_ctx_stop(), doca_pe_progress() until it is IDLE, destroy.
 *
 * A start or stop that is done at once returns DOCA_SUCCESS, and the state
 * callback has run within the call; else it returns DOCA_ERROR_IN_PROGRESS, and
 * doca_pe_progress() does the rest. Within a callback a stop is always
 * IN_PROGRESS. With comch:
 *
 * | object                        | start       | stop                         |
 * |-------------------------------|-------------|------------------------------|
 * | server                        | SUCCESS     | SUCCESS without connections  |
 * | client                        | IN_PROGRESS | IN_PROGRESS                  |
 * | producer                      | SUCCESS     | SUCCESS without tasks        |
 * | consumer                      | IN_PROGRESS | IN_PROGRESS                  |
 * | consumer of a MsgQ            | SUCCESS     | SUCCESS without tasks        |
 * | either, on the DPA            | SUCCESS     | SUCCESS                      |
 *
 * A context leaves STOPPING when all its tasks have come back and the application
 * has freed them. Tasks that are submitted in STOPPING come back by their error
 * callbacks with SHUTDOWN.
 *
 * Threads: a context belongs to the thread that drives its progress engine; any
 * may call doca_ctx_get_state().
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
	DOCA_CTX_STATE_STARTING = 1, /**< Progress, or stop; a consumer: post. */
	DOCA_CTX_STATE_RUNNING = 2,  /**< Allocate and submit tasks; events come. */
	DOCA_CTX_STATE_STOPPING = 3, /**< Progress, and free what comes back. */
};

/**
 * The state has changed. doca_ctx_get_state() says *next_state* already.
 * The object may be destroyed in the callback if that is IDLE.
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
		struct doca_ctx *ctx, enum doca_ctx_states prev_state,
		enum doca_ctx_states next_state);

/**
 * Start a context.
 *
 * @return
 *   - DOCA_SUCCESS: RUNNING.
 *   - DOCA_ERROR_IN_PROGRESS: STARTING; the state callback tells the end:
 *     RUNNING, or IDLE if it failed.
 *   - DOCA_ERROR_INVALID_VALUE: no context, or a mandatory configuration is
 *     missing (task callbacks, message and connection callbacks).
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 *   - DOCA_ERROR_NOT_CONNECTED: no progress engine, or (producers, consumers)
 *     the connection has ended.
 *   - DOCA_ERROR_IN_USE: a server of that name runs on that representor.
 *   - DOCA_ERROR_NO_MEMORY, DOCA_ERROR_OPERATING_SYSTEM: no memory, no file
 *     descriptor.
 *   After an error nothing has changed.
 */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Stop a context: tasks come back, with their error callback unless they were
 * done already.
 *
 * @return
 *   - DOCA_SUCCESS: IDLE, as it may have been before.
 *   - DOCA_ERROR_IN_PROGRESS: STOPPING; progress until IDLE.
 *   - DOCA_ERROR_INVALID_VALUE: no context.
 *   - DOCA_ERROR_IN_USE: a server or client whose connection has producers or
 *     consumers that are not IDLE; nothing has changed.
 */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/** Tasks submitted and not completed yet. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
		size_t *num_inflight_tasks);

/**
 * The data path of a context on a GPU: not on this library.
 *
 * @return
 *   DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (not IDLE),
 *   DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/**
 * Set the application's data: an argument of the state callback and of all
 * task callbacks. In any state. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/** The application's data; 0 at first. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/**
 * Set the state callback; NULL: none. In any state. Once for each change, in
 * doca_pe_progress(), or in doca_ctx_start() and doca_ctx_stop() for the
 * change that they make at once.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
		doca_ctx_state_changed_callback_t cb);

/** The state. Any thread. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/**
 * Hand over tasks that doca_task_submit_ex() held back. Here none is ever held
 * back: no effect.
 */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/**
 * Put the data path of a context on the DPA: of consumers and producers of a MsgQ
 * (doca_comch_msgq.h). It then needs no progress engine and has no tasks.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, or the MsgQ's ends of this kind
 *   are not on that DPA), DOCA_ERROR_BAD_STATE (not IDLE),
 *   DOCA_ERROR_NOT_SUPPORTED (another kind of context).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

/**
 * Choose an interrupt: there are none to choose from.
 *
 * @return
 *   DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (not IDLE),
 *   DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/** Interrupts to choose from: 0. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
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
