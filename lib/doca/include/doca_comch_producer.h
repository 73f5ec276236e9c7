/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMCH_PRODUCER_H
#define DOCA_COMCH_PRODUCER_H

/**
 * @file
 * DOCA Comch: producers, which send on the fast path.
 *
 *     doca_comch_producer_create(connection, &producer)
 *     doca_pe_connect_ctx(), ..._task_send_set_conf()
 *     doca_ctx_start()          SUCCESS, RUNNING
 *     ..._task_send_alloc_init(), doca_task_submit()
 *                               AGAIN: the consumer has no buffer posted; submit
 *                               again, no progress is needed in between
 *     completion callback       the message is in the consumer's buffer
 *     doca_ctx_stop()
 *
 * A task names its consumer by the id from the new-consumer callback. Messages of one
 * producer to one consumer arrive in the order of submission.
 *
 * With comch:
 *   - the submitting thread copies the message, so submitting a large one takes time, unless
 *     the device has a DMA device (key dma=), which copies while the engine makes progress;
 *   - submits within callbacks are sent together after the callbacks have returned;
 *   - a message that does not fit the consumer's next buffer fails with the error
 *     callback and leaves that buffer posted.
 *
 * Threads: a producer and its tasks belong to the thread of its progress engine, which
 * may differ from the connection's.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Comch guide 2.10, "DOCA Comch Fast Path".
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_task;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa_thread;
struct doca_dpa_completion;
struct doca_comch_connection;
struct doca_comch_producer;
struct doca_comch_producer_task_send;

/** Handle for device code. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/**
 * Create a producer.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the connection is not established.
 *   - DOCA_ERROR_NOT_PERMITTED: the peer has no fast path.
 *   - DOCA_ERROR_NO_MEMORY: no memory, or the connection's limit of producers is
 *     reached.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
		struct doca_comch_producer **producer);

/** Destroy a producer. @return DOCA_ERROR_IN_USE: not IDLE. */
DOCA_STABLE
doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/** @name Capabilities
 * @{
 */
/** Whether the device supports producers: all devices of both sides do. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);
/** Maximum number of tasks per producer. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks);
/** Longest message, in bytes. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size);
/** Longest list of buffers: 1, that is, no chains. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len);
/** Maximum number of producers per connection, on this side. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
		uint32_t *max_producers);
/** @} */

/**
 * The producer's id, unique among those of this side of the connection.
 *
 * @return DOCA_ERROR_BAD_STATE: IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id);

/** The producer as a doca_ctx; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/** A send task has completed or failed: see doca_task_get_status(). */
typedef void (*doca_comch_producer_task_send_completion_cb_t)(
		struct doca_comch_producer_task_send *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/**
 * Configure tasks. Mandatory unless the producer is on the DPA, where it has none.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no tasks, or over the capability.
 *   - DOCA_ERROR_BAD_STATE: not IDLE, or on the DPA.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
		doca_comch_producer_task_send_completion_cb_t task_completion_cb,
		doca_comch_producer_task_send_completion_cb_t task_error_cb,
		uint32_t num_send_tasks);

/**
 * Allocate a task.
 *
 * @param producer
 *   The producer, not IDLE.
 * @param buf
 *   The message: the data of a buffer of any started mmap. It is not modified, and
 *   several tasks may send it at the same time. NULL to send immediate data only.
 * @param imm_data
 *   Immediate data; copied. May be NULL.
 * @param imm_data_len
 *   Its length in bytes, up to what the consumer accepts.
 * @param consumer_id
 *   From the new-consumer callback.
 * @param[out] task
 *   The task; it can be submitted again after each completion.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: neither a buffer nor immediate data, too much immediate
 *     data, a chain, or an imported or stopped mmap.
 *   - DOCA_ERROR_NO_MEMORY: all tasks are allocated.
 *   - DOCA_ERROR_BAD_STATE: IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer,
		const struct doca_buf *buf, uint8_t *imm_data, uint32_t imm_data_len,
		uint32_t consumer_id, struct doca_comch_producer_task_send **task);

/** The task's buffer. */
DOCA_STABLE
const struct doca_buf *doca_comch_producer_task_send_get_buf(
		const struct doca_comch_producer_task_send *task);

/** Set the buffer of the next submit, which checks it. */
DOCA_STABLE
void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
		const struct doca_buf *buf);

/** Id of the task's consumer. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_consumer_id(
		const struct doca_comch_producer_task_send *task);

/** Set the consumer of the next submit. */
DOCA_STABLE
void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
		const uint32_t consumer_id);

/** The task's copy of its immediate data; NULL if it has none. */
DOCA_STABLE
uint8_t *doca_comch_producer_task_send_get_imm_data(
		const struct doca_comch_producer_task_send *task);

/** Length of the immediate data in bytes; 0 if it has none. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_imm_data_len(
		const struct doca_comch_producer_task_send *task);

/** Set the immediate data of the next submit; copied. That submit fails if it is too long. */
DOCA_STABLE
void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
		uint8_t *imm_data, uint32_t imm_data_len);

/** The task as a doca_task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_producer_task_send_as_task(
		struct doca_comch_producer_task_send *task);

/** @name Producers on the DPA
 * These belong to a MsgQ with its producers on the DPA (doca_comch_msgq.h). Sends
 * complete on a DPA completion (doca_dpa.h), whose elements carry the low 24 bits of
 * the context's user data.
 *
 * Reference: DOCA Comch guide 2.10, "MsgQ (DPA Communication)", "DPA".
 * @{
 */

#if COMCH_DOCA_GENERATION >= 209
/**
 * Set the maximum number of sends in flight: 1 to 65536, rounded up to a power of two.
 * Mandatory on the DPA.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: out of range.
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer,
		uint32_t dev_num_send);
#endif

/** Name of doca_comch_producer_set_dev_max_num_send() in DOCA 2.7 and 2.8. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_num_send(struct doca_comch_producer *producer,
		uint32_t dev_num_send);

/** Name of doca_comch_producer_set_dev_max_num_send() in the guide. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_num_recv(struct doca_comch_producer *producer,
		uint32_t dev_num_send);

/**
 * Attach the completion that reports sends. Mandatory on the DPA. The completion cannot
 * be stopped until the producer is destroyed.
 *
 * @return DOCA_ERROR_BAD_STATE: not IDLE, before doca_ctx_set_datapath_on_dpa(), or the
 * completion is not started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
		struct doca_dpa_completion *dpa_comp);

/**
 * The handle of a producer for device code; new after each start.
 *
 * @return DOCA_ERROR_BAD_STATE: IDLE, or not on the DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
		doca_dpa_dev_comch_producer_t *dpa_producer);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_PRODUCER_H */
