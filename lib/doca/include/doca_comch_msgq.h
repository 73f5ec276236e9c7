/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMCH_MSGQ_H
#define DOCA_COMCH_MSGQ_H

/**
 * @file
 * DOCA Comch MsgQ: messages between a program on the CPU and its code on the DPA.
 *
 * A MsgQ needs no server, client or connection. Consumers and producers are created
 * from it, and it has one direction:
 *
 *     CPU -> DPA   doca_comch_msgq_set_dpa_consumer()
 *                  producers are on the CPU: tasks, as of a connection's producer
 *                  consumers are on the DPA: doca_dpa_dev_comch_consumer_*()
 *     DPA -> CPU   doca_comch_msgq_set_dpa_producer()
 *                  producers are on the DPA: doca_dpa_dev_comch_producer_*()
 *                  consumers are on the CPU: tasks, as of a connection's consumer
 *     CPU -> CPU   neither: both are on the CPU (comch only)
 *
 * Create two for both directions. A message is up to 32 bytes of immediate data; tasks
 * of a MsgQ's consumers and producers have no doca_buf.
 *
 * Call order (consumers and producers are contexts, which start at once):
 *
 *     doca_comch_msgq_create(), ..._set_max_num_consumers(), ..._set_max_num_producers(),
 *     ..._set_dpa_consumer() or ..._set_dpa_producer(), doca_comch_msgq_start()
 *     doca_comch_msgq_consumer_create()
 *         on the DPA: doca_ctx_set_datapath_on_dpa(),
 *                     doca_comch_consumer_set_completion(),
 *                     doca_comch_consumer_set_dev_max_num_recv()
 *         on the CPU: doca_pe_connect_ctx(),
 *                     doca_comch_consumer_task_post_recv_set_conf()
 *         doca_ctx_start(), on the DPA doca_comch_consumer_get_dpa_handle()
 *     doca_comch_msgq_producer_create()
 *         on the DPA: doca_ctx_set_datapath_on_dpa(),
 *                     doca_comch_producer_set_dev_max_num_send(),
 *                     doca_comch_producer_dpa_completion_attach()
 *         on the CPU: doca_pe_connect_ctx(), doca_comch_producer_task_send_set_conf()
 *         doca_ctx_start(), on the DPA doca_comch_producer_get_dpa_handle()
 *     ...
 *     stop and destroy producers and consumers, doca_comch_msgq_stop(), ..._destroy()
 *
 * Ids of consumers, and of producers, count from 1 in the order of creation. The id of
 * a destroyed one is used again.
 *
 * Threads: a MsgQ may be used by one thread at a time. A consumer or producer on the CPU
 * belongs to the thread of its progress engine, one on the DPA to device code.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Comch guide 2.10, "MsgQ (DPA Communication)".
 */

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comch_msgq;
struct doca_comch_producer;
struct doca_comch_consumer;
struct doca_dev;
struct doca_dpa;

/**
 * Create a MsgQ on a device, which must stay open until the MsgQ is destroyed.
 *
 * @return DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq);

/** Destroy a MsgQ. @return DOCA_ERROR_IN_USE: started. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq);

/**
 * Put the consumers on a DPA; the producers are on the CPU.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the DPA is on another device.
 *   - DOCA_ERROR_BAD_STATE: started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa);

/**
 * Set the maximum number of consumers: 1 to 256; default 1.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: out of range.
 *   - DOCA_ERROR_BAD_STATE: started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq,
		uint32_t max_num_consumers);

/**
 * Put the producers on a DPA; the consumers are on the CPU.
 *
 * @return As doca_comch_msgq_set_dpa_consumer().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa);

/**
 * Set the maximum number of producers: 1 to 256; default 1.
 *
 * @return As doca_comch_msgq_set_max_num_consumers().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq,
		uint32_t max_num_producers);

/**
 * Start a MsgQ; consumers and producers can then be created.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: both ends are on a DPA.
 *   - DOCA_ERROR_BAD_STATE: started already, or its DPA is not started.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq);

/**
 * Stop a MsgQ.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started.
 *   - DOCA_ERROR_IN_USE: it has consumers or producers.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq);

/**
 * Create a consumer; doca_comch_consumer_destroy() destroys it. It accepts 32 bytes of
 * immediate data unless doca_comch_consumer_set_imm_data_len() sets less.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started.
 *   - DOCA_ERROR_FULL: the maximum number of consumers is reached.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq,
		struct doca_comch_consumer **consumer);

/**
 * Create a producer; doca_comch_producer_destroy() destroys it.
 *
 * @return As doca_comch_msgq_consumer_create().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq,
		struct doca_comch_producer **producer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_MSGQ_H */
