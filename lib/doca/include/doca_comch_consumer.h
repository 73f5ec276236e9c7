/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMCH_CONSUMER_H
#define DOCA_COMCH_CONSUMER_H

/**
 * @file
 * DOCA Comch: consumers, which receive on the fast path.
 *
 *     doca_comch_consumer_create(connection, mmap, &consumer)
 *     doca_pe_connect_ctx(), ..._task_post_recv_set_conf()
 *     doca_ctx_start()          IN_PROGRESS; RUNNING needs the progress of both
 *                               sides' connections, and of the consumer's engine
 *     ..._task_post_recv_alloc_init(), doca_task_submit()
 *     completion callback       the message is in the task's buffer
 *     doca_ctx_stop()           IN_PROGRESS; posted tasks come back by their
 *                               error callback, then IDLE
 *
 * Buffers are filled in the order of their submits, one message each. Tasks
 * cannot be cancelled but by freeing them or by a stop.
 *
 * With comch:
 *   - receives may be submitted while the consumer is STARTING; they are posted
 *     with RUNNING, before its callback;
 *   - the mmap needs no export: what a producer may write to, it is shown;
 *   - a consumer has a new id after each start.
 *
 * Threads: a consumer and its tasks belong to the thread of its progress engine,
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
struct doca_mmap;
struct doca_ctx;
struct doca_task;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa_thread;
struct doca_comch_connection;
struct doca_comch_consumer;
struct doca_comch_consumer_completion;
struct doca_comch_consumer_task_post_recv;

/** Handles on a DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;
typedef uint64_t doca_dpa_dev_comch_consumer_t;

/**
 * Create a consumer.
 *
 * @param comch_connection
 *   An established connection.
 * @param buf_mmap
 *   The memory of all its buffers: started, with
 *   DOCA_ACCESS_FLAG_PCI_READ_WRITE. It is in use until the consumer is
 *   destroyed.
 * @param[out] consumer
 *   The consumer.
 * @return
 *   - DOCA_SUCCESS.
 *   - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 *   - DOCA_ERROR_BAD_STATE: the connection is not established, or the mmap is
 *     not started.
 *   - DOCA_ERROR_NOT_PERMITTED: the other side may not write to the mmap, or
 *     the connection's peer has no fast path.
 *   - DOCA_ERROR_NO_MEMORY: no memory, or the connection has its limit of
 *     consumers.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
		struct doca_mmap *buf_mmap, struct doca_comch_consumer **consumer);

/**
 * Destroy a consumer.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_IN_USE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/** @name Capabilities
 * All return DOCA_SUCCESS or DOCA_ERROR_INVALID_VALUE.
 * @{
 */
/** Are there consumers on the device? On both sides. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);
/** Tasks of one consumer. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks);
/** Longest message, bytes. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size);
/** Bufs of a list: 1, that is, no chains. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len);
/** Consumers of one connection, on this side. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
		uint32_t *max_consumers);
/** Longest immediate data, bytes. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
		uint32_t *max_imm_data_len);
/** @} */

/**
 * The consumer's id, as the peer's new-consumer callback tells it: unique in
 * the connection, never 0, another one after each start. That of a MsgQ's is its
 * own from its creation on.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id);

/**
 * Immediate data that it takes, bytes; 32 by default.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
		uint32_t *imm_data_len);

/**
 * Set the immediate data that it takes, bytes. A message with more fails at its
 * producer.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (over the capability),
 *   DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
		uint32_t imm_data_len);

/** The consumer as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/** A message has arrived, or the buffer came back without one. */
typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(
		struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/**
 * Configure tasks. Mandatory.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (NULL, 0 or over the capability),
 *   DOCA_ERROR_BAD_STATE (not IDLE, or on the DPA, where there are none).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_set_conf(struct doca_comch_consumer *consumer,
		doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
		doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb,
		uint32_t num_post_recv_tasks);

/**
 * Allocate a task.
 *
 * @param consumer
 *   The consumer, started. While it is STARTING its receives are kept, and posted
 *   with RUNNING.
 * @param buf
 *   Where a message goes: behind the data that the buf has. NULL: for a
 *   message of immediate data only, as those of a MsgQ always are.
 * @param[out] task
 *   The task, for doca_task_submit() as often as wanted.
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, a buf outside the consumer's
 *   mmap, a chain), DOCA_ERROR_NO_MEMORY (all tasks are allocated),
 *   DOCA_ERROR_BAD_STATE (IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer,
		struct doca_buf *buf, struct doca_comch_consumer_task_post_recv **task);

/** The task's buf; in the completion callback its data length has grown by the message. */
DOCA_STABLE
struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(
		const struct doca_comch_consumer_task_post_recv *task);

/** Set the buf for the next submit, which checks it. */
DOCA_STABLE
void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
		struct doca_buf *buf);

/** The sender's id, after a message; 0 before. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
		const struct doca_comch_consumer_task_post_recv *task);

/** Immediate data of the message, until the next submit or free; NULL: it had none. */
DOCA_STABLE
const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
		const struct doca_comch_consumer_task_post_recv *task);

/** Bytes of immediate data; 0: none. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
		const struct doca_comch_consumer_task_post_recv *task);

/** The task as any task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_consumer_task_post_recv_as_task(
		struct doca_comch_consumer_task_post_recv *task);

/** @name Consumers on the DPA
 *
 * Those of a MsgQ whose consumers are there (doca_comch_msgq.h). What arrives for
 * them is taken from a *consumer completion*, which activates a DPA thread:
 *
 *     doca_comch_consumer_completion_create(), ..._set_*(), ..._set_dpa_thread(),
 *     ..._start(), ..._get_dpa_handle()
 *     for each consumer: doca_ctx_set_datapath_on_dpa(),
 *         doca_comch_consumer_set_completion(),
 *         doca_comch_consumer_set_dev_max_num_recv(), doca_ctx_start(),
 *         doca_comch_consumer_get_dpa_handle()
 *     ...
 *     doca_ctx_stop() of all its consumers, ..._completion_stop(), ..._destroy()
 *
 * A stop of a consumer is over at once; what has arrived stays in the completion.
 *
 * Reference: DOCA Comch guide 2.10, "MsgQ (DPA Communication)", "DPA".
 * @{
 */

/** Create a consumer completion. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE,
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_create(
		struct doca_comch_consumer_completion **consumer_comp);

/**
 * Set the DPA thread that elements activate, which is kept until the completion is
 * destroyed. Mandatory.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_dpa_thread(
		struct doca_comch_consumer_completion *consumer_comp,
		struct doca_dpa_thread *dpa_thread);

/** Destroy a consumer completion. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE,
 * DOCA_ERROR_IN_USE (started, or set in a consumer that is not destroyed).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_destroy(
		struct doca_comch_consumer_completion *consumer_comp);

/**
 * Start a consumer completion. It asks for an activation of its thread by itself
 * this once: the first element activates it.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, no DPA thread, consumers times
 *   receives over 524288), DOCA_ERROR_BAD_STATE (started already, or its thread is
 *   not), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_start(
		struct doca_comch_consumer_completion *consumer_comp);

/**
 * Stop a consumer completion: elements that are left are lost, its handle is bad.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not
 *   started), DOCA_ERROR_IN_USE (consumers that are not IDLE have it).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_stop(
		struct doca_comch_consumer_completion *consumer_comp);

/**
 * The handle for device code. Another one after each start.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (not started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_dpa_handle(
		struct doca_comch_consumer_completion *consumer_comp,
		doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle);

/**
 * Set how many consumers may have it: 1 to 256, raised to a power of two; 1 at
 * first.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, or out of range),
 *   DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_consumers(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_consumers);

/** The number as it was raised. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_consumers(
		const struct doca_comch_consumer_completion *consumer_comp,
		uint32_t *max_num_consumers);

/**
 * Set how many receives each consumer may have: 1 to 65536, raised to a power of
 * two; 1024 at first. @return as of set_max_num_consumers.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_recv(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_recv);

/** The number as it was raised. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_recv(
		const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_recv);

#if COMCH_DOCA_GENERATION >= 209
/**
 * Set the longest immediate data of its consumers, 1 to 32 bytes; 32 at first.
 * @return as of set_max_num_consumers.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_imm_data_len(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t imm_data_len);

/** The longest immediate data. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_imm_data_len(
		const struct doca_comch_consumer_completion *consumer_comp,
		uint32_t *imm_data_len);

/**
 * Set how many messages may be on their way to a consumer: 1 to 65536, raised to
 * a power of two. Mandatory on the DPA.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, or out of range),
 *   DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer,
		uint32_t dev_num_recv);
#endif

/** Another name of doca_comch_consumer_set_dev_max_num_recv(): that of DOCA 2.7 and 2.8. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_num_recv(struct doca_comch_consumer *consumer,
		uint32_t dev_num_recv);

/**
 * Set where what arrives for a consumer is taken. Mandatory on the DPA. Its start
 * fails with DOCA_ERROR_BAD_STATE unless the completion is started, and with
 * DOCA_ERROR_INVALID_VALUE if the completion has as many consumers as it may, or
 * takes fewer receives or less immediate data than the consumer.
 *
 * @param consumer
 *   The consumer.
 * @param consumer_comp
 *   The completion.
 * @param user_data
 *   No effect: device code has no way to ask for it.
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE,
 *   or before doca_ctx_set_datapath_on_dpa()).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
		struct doca_comch_consumer_completion *consumer_comp, uint32_t user_data);

/**
 * The handle of a consumer for device code. Another one after each start.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (IDLE, or
 *   not on the DPA).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
		doca_dpa_dev_comch_consumer_t *dpa_consumer);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_CONSUMER_H */
