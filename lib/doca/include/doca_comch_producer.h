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
 *                               AGAIN: the consumer has nothing posted; submit
 *                               the task again, no progress is needed between
 *     completion callback       the message is in the consumer's buffer
 *     doca_ctx_stop()
 *
 * A task names its consumer by the id that the new-consumer callback told.
 * Messages of a producer to one consumer arrive in the order of their submits.
 *
 * With comch:
 *   - the submitting thread copies the message, so a large one takes its time;
 *   - submits within callbacks are collected and sent together, when the
 *     callbacks have returned;
 *   - a message that does not fit the consumer's next buffer comes back by the
 *     error callback, and leaves that buffer posted.
 *
 * Threads: a producer and its tasks belong to the thread of its progress engine,
 * which may be another one than the connection's.
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

/** Handle on a DPA. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/**
 * Create a producer.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (an argument is NULL),
 *   DOCA_ERROR_BAD_STATE (the connection is not established),
 *   DOCA_ERROR_NOT_PERMITTED (the connection's peer has no fast path),
 *   DOCA_ERROR_NO_MEMORY (no memory, or the connection has its limit of
 *   producers).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
		struct doca_comch_producer **producer);

/**
 * Destroy a producer.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_IN_USE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/** @name Capabilities
 * All return DOCA_SUCCESS or DOCA_ERROR_INVALID_VALUE.
 * @{
 */
/** Are there producers on the device? On both sides. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);
/** Tasks of one producer. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks);
/** Longest message, bytes. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size);
/** Bufs of a list: 1, that is, no chains. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len);
/** Producers of one connection, on this side. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
		uint32_t *max_producers);
/** @} */

/**
 * The producer's id, unique among those of this side of the connection.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id);

/** The producer as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/** A message was sent, or was not: see doca_task_get_status(). */
typedef void (*doca_comch_producer_task_send_completion_cb_t)(
		struct doca_comch_producer_task_send *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/**
 * Configure tasks. Mandatory.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (NULL, 0 or over the capability),
 *   DOCA_ERROR_BAD_STATE (not IDLE, or on the DPA, where there are none).
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
 *   The producer, started.
 * @param buf
 *   The message: the data of a buf in any started mmap. Not changed, and free
 *   for other tasks at the same time. NULL: immediate data only.
 * @param imm_data
 *   Immediate data; copied. NULL: none.
 * @param imm_data_len
 *   Bytes of it, 0 to what the consumer takes.
 * @param consumer_id
 *   From the new-consumer callback.
 * @param[out] task
 *   The task, for doca_task_submit() as often as wanted.
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, neither a buf nor immediate
 *   data, too much of it, a chain, an imported or stopped mmap),
 *   DOCA_ERROR_NO_MEMORY (all tasks are allocated), DOCA_ERROR_BAD_STATE (IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer,
		const struct doca_buf *buf, uint8_t *imm_data, uint32_t imm_data_len,
		uint32_t consumer_id, struct doca_comch_producer_task_send **task);

/** The task's buf. */
DOCA_STABLE
const struct doca_buf *doca_comch_producer_task_send_get_buf(
		const struct doca_comch_producer_task_send *task);

/** Set the buf for the next submit, which checks it. */
DOCA_STABLE
void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
		const struct doca_buf *buf);

/** The task's consumer. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_consumer_id(
		const struct doca_comch_producer_task_send *task);

/** Set the consumer for the next submit. */
DOCA_STABLE
void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
		const uint32_t consumer_id);

/** The task's own copy of its immediate data; NULL: none. */
DOCA_STABLE
uint8_t *doca_comch_producer_task_send_get_imm_data(
		const struct doca_comch_producer_task_send *task);

/** Bytes of immediate data; 0: none. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_imm_data_len(
		const struct doca_comch_producer_task_send *task);

/** Set the immediate data for the next submit; copied. Too much fails there. */
DOCA_STABLE
void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
		uint8_t *imm_data, uint32_t imm_data_len);

/** The task as any task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_producer_task_send_as_task(
		struct doca_comch_producer_task_send *task);

/** @name Producers on the DPA
 *
 * Those of a MsgQ whose producers are there (doca_comch_msgq.h). What has been sent
 * is told by elements of a DPA completion (doca_dpa.h), with the low 24 bits of the
 * context's user data.
 *
 * Reference: DOCA Comch guide 2.10, "MsgQ (DPA Communication)", "DPA".
 * @{
 */

#if COMCH_DOCA_GENERATION >= 209
/**
 * Set how many sends a producer may have under way: 1 to 65536, raised to a power
 * of two. Mandatory on the DPA.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, or out of range),
 *   DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer,
		uint32_t dev_num_send);
#endif

/** Another name of doca_comch_producer_set_dev_max_num_send(): that of DOCA 2.7 and 2.8. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_num_send(struct doca_comch_producer *producer,
		uint32_t dev_num_send);

/** Another name of doca_comch_producer_set_dev_max_num_send(): that of the guide. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_num_recv(struct doca_comch_producer *producer,
		uint32_t dev_num_send);

/**
 * Attach the completion that tells what has been sent. Mandatory on the DPA. Until
 * the producer is destroyed, the completion cannot be stopped.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE,
 *   before doca_ctx_set_datapath_on_dpa(), or the completion is not started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
		struct doca_dpa_completion *dpa_comp);

/**
 * The handle of a producer for device code. Another one after each start.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (IDLE, or
 *   not on the DPA).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
		doca_dpa_dev_comch_producer_t *dpa_producer);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_PRODUCER_H */
