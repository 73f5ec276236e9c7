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
 *     doca_ctx_start()          IN_PROGRESS; RUNNING needs progress of both sides'
 *                               connections and of the consumer's engine
 *     ..._task_post_recv_alloc_init(), doca_task_submit()
 *     completion callback       the message is in the task's buffer
 *     doca_ctx_stop()           IN_PROGRESS; posted tasks fail with their error
 *                               callback, then IDLE
 *
 * Buffers are filled in the order of submission, one message each. Freeing a task or
 * stopping the consumer are the only ways to cancel it.
 *
 * With comch:
 *   - receives submitted while the consumer is STARTING are posted just before its
 *     RUNNING callback;
 *   - the mmap needs no export: the library shares its memory with the producers;
 *   - a consumer gets a new id at each start.
 *
 * Threads: a consumer and its tasks belong to the thread of its progress engine, which
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

/** Handles for device code. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;
typedef uint64_t doca_dpa_dev_comch_consumer_t;

/**
 * Create a consumer.
 *
 * @param comch_connection
 *   An established connection.
 * @param buf_mmap
 *   Memory of all its buffers: started, with DOCA_ACCESS_FLAG_PCI_READ_WRITE. In use
 *   until the consumer is destroyed.
 * @param[out] consumer
 *   The consumer.
 * @return
 *   - DOCA_ERROR_BAD_STATE: the connection is not established, or the mmap is not
 *     started.
 *   - DOCA_ERROR_NOT_PERMITTED: the mmap lacks the permission, or the peer has no fast
 *     path.
 *   - DOCA_ERROR_NO_MEMORY: no memory, or the connection's limit of consumers is
 *     reached.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
		struct doca_mmap *buf_mmap, struct doca_comch_consumer **consumer);

/** Destroy a consumer. @return DOCA_ERROR_IN_USE: not IDLE. */
DOCA_STABLE
doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/** @name Capabilities
 * @{
 */
/** Whether the device supports consumers: all devices of both sides do. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);
/** Maximum number of tasks per consumer. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks);
/** Longest message, in bytes. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size);
/** Longest list of buffers: 1, that is, no chains. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len);
/** Maximum number of consumers per connection, on this side. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
		uint32_t *max_consumers);
/** Longest immediate data, in bytes. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
		uint32_t *max_imm_data_len);
/** @} */

/**
 * The consumer's id, as the peer's new-consumer callback reports it: unique in the
 * connection, never 0, and new after each start. A consumer of a MsgQ keeps one id for
 * its life.
 *
 * @return DOCA_ERROR_BAD_STATE: IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id);

/** Longest immediate data that the consumer accepts, in bytes; default 32. */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
		uint32_t *imm_data_len);

/**
 * Set the longest immediate data that the consumer accepts, in bytes. Longer ones fail
 * at the producer.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: over the capability.
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
		uint32_t imm_data_len);

/** The consumer as a doca_ctx; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/** A message has arrived, or the buffer is returned without one. */
typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(
		struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/**
 * Configure tasks. Mandatory unless the consumer is on the DPA, where it has none.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no tasks, or over the capability.
 *   - DOCA_ERROR_BAD_STATE: not IDLE, or on the DPA.
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
 *   The consumer, not IDLE.
 * @param buf
 *   Receive buffer; the message goes behind the data that it has. NULL for messages of
 *   immediate data only, which all messages of a MsgQ are.
 * @param[out] task
 *   The task; it can be submitted again after each completion.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: a chain, or a buffer outside the consumer's mmap.
 *   - DOCA_ERROR_NO_MEMORY: all tasks are allocated.
 *   - DOCA_ERROR_BAD_STATE: IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer,
		struct doca_buf *buf, struct doca_comch_consumer_task_post_recv **task);

/** The task's buffer. In the completion callback its data length includes the message. */
DOCA_STABLE
struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(
		const struct doca_comch_consumer_task_post_recv *task);

/** Set the buffer of the next submit, which checks it. */
DOCA_STABLE
void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
		struct doca_buf *buf);

/** Id of the producer that sent the message; 0 before a message. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
		const struct doca_comch_consumer_task_post_recv *task);

/** Immediate data of the message, valid until the next submit or free; NULL if it had none. */
DOCA_STABLE
const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
		const struct doca_comch_consumer_task_post_recv *task);

/** Length of the immediate data in bytes; 0 if the message had none. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
		const struct doca_comch_consumer_task_post_recv *task);

/** The task as a doca_task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_consumer_task_post_recv_as_task(
		struct doca_comch_consumer_task_post_recv *task);

/** @name Consumers on the DPA
 * These belong to a MsgQ with its consumers on the DPA (doca_comch_msgq.h). Their
 * messages arrive on a *consumer completion*, which activates a DPA thread:
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
 * A consumer stops at once; messages that have arrived stay in the completion.
 *
 * Reference: DOCA Comch guide 2.10, "MsgQ (DPA Communication)", "DPA".
 * @{
 */

/** Create a consumer completion. @return DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_create(
		struct doca_comch_consumer_completion **consumer_comp);

/**
 * Set the DPA thread that messages activate; it is in use until the completion is
 * destroyed. Mandatory.
 *
 * @return DOCA_ERROR_BAD_STATE: started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_dpa_thread(
		struct doca_comch_consumer_completion *consumer_comp,
		struct doca_dpa_thread *dpa_thread);

/**
 * Destroy a consumer completion. @return DOCA_ERROR_IN_USE: started, or a consumer
 * still has it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_destroy(
		struct doca_comch_consumer_completion *consumer_comp);

/**
 * Start a consumer completion. Its thread is activated by the first message; later
 * activations must be requested by device code.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no DPA thread, or consumers times receives is over
 *     524288.
 *   - DOCA_ERROR_BAD_STATE: started already, or its thread is not started.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_start(
		struct doca_comch_consumer_completion *consumer_comp);

/**
 * Stop a consumer completion. Remaining messages are lost and its handle becomes
 * invalid.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started.
 *   - DOCA_ERROR_IN_USE: one of its consumers is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_stop(
		struct doca_comch_consumer_completion *consumer_comp);

/**
 * The handle for device code; new after each start.
 *
 * @return DOCA_ERROR_BAD_STATE: not started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_dpa_handle(
		struct doca_comch_consumer_completion *consumer_comp,
		doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle);

/**
 * Set the maximum number of consumers: 1 to 256, rounded up to a power of two; default
 * 1.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: out of range.
 *   - DOCA_ERROR_BAD_STATE: started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_consumers(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_consumers);

/** The maximum number of consumers, after rounding. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_consumers(
		const struct doca_comch_consumer_completion *consumer_comp,
		uint32_t *max_num_consumers);

/**
 * Set the maximum number of receives per consumer: 1 to 65536, rounded up to a power of
 * two; default 1024.
 *
 * @return As doca_comch_consumer_completion_set_max_num_consumers().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_recv(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_recv);

/** The maximum number of receives per consumer, after rounding. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_recv(
		const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_recv);

#if COMCH_DOCA_GENERATION >= 209
/**
 * Set the longest immediate data of its consumers, 1 to 32 bytes; default 32.
 *
 * @return As doca_comch_consumer_completion_set_max_num_consumers().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_imm_data_len(
		struct doca_comch_consumer_completion *consumer_comp, uint32_t imm_data_len);

/** The longest immediate data of its consumers, in bytes. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_imm_data_len(
		const struct doca_comch_consumer_completion *consumer_comp,
		uint32_t *imm_data_len);

/**
 * Set the maximum number of messages in flight to a consumer: 1 to 65536, rounded up to
 * a power of two. Mandatory on the DPA.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: out of range.
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer,
		uint32_t dev_num_recv);
#endif

/** Name of doca_comch_consumer_set_dev_max_num_recv() in DOCA 2.7 and 2.8. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_num_recv(struct doca_comch_consumer *consumer,
		uint32_t dev_num_recv);

/**
 * Set the completion on which a consumer's messages arrive. Mandatory on the DPA.
 *
 * The consumer's start fails with DOCA_ERROR_BAD_STATE if the completion is not
 * started. It fails with DOCA_ERROR_INVALID_VALUE if the completion has its maximum
 * number of consumers, or allows fewer receives or less immediate data than the
 * consumer.
 *
 * @param consumer
 *   The consumer.
 * @param consumer_comp
 *   The completion.
 * @param user_data
 *   Ignored: device code has no function to read it.
 * @return DOCA_ERROR_BAD_STATE: not IDLE, or before doca_ctx_set_datapath_on_dpa().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
		struct doca_comch_consumer_completion *consumer_comp, uint32_t user_data);

/**
 * The handle of a consumer for device code; new after each start.
 *
 * @return DOCA_ERROR_BAD_STATE: IDLE, or not on the DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
		doca_dpa_dev_comch_consumer_t *dpa_consumer);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_CONSUMER_H */
