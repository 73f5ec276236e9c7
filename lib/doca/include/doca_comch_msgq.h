/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMCH_MSGQ_H
#define DOCA_COMCH_MSGQ_H

/**
 * @file
 * DOCA Comch MsgQ: messages between a program on the CPU and its code on the DPA.
 *
 * There is no server, client or connection: consumers and producers are created
 * from a MsgQ, which has one direction.
 *
 *     CPU -> DPA   doca_comch_msgq_set_dpa_consumer()
 *                  producers are on the CPU: tasks, as of a connection's producer
 *                  consumers are on the DPA: doca_dpa_dev_comch_consumer_*()
 *     DPA -> CPU   doca_comch_msgq_set_dpa_producer()
 *                  producers are on the DPA: doca_dpa_dev_comch_producer_*()
 *                  consumers are on the CPU: tasks, as of a connection's consumer
 *     CPU -> CPU   neither: both are on the CPU (comch only)
 *
 * For both directions create two. Messages are up to 32 bytes of immediate data;
 * tasks of a MsgQ's consumers and producers have no doca_buf.
 *
 * Call order (each end is a doca_ctx, whose start is over at once):
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
 * Ids of consumers, and of producers, count up from 1 in the order of their
 * creation; one that was destroyed leaves its id to the next.
 *
 * Thread rule: a MsgQ belongs to any thread at a time; its ends on the CPU to
 * those of their progress engines, its ends on the DPA to code on the DPA.
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
 * Create a MsgQ on a device, which stays open until the MsgQ is destroyed.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq);

/**
 * Destroy a MsgQ.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq);

/**
 * Consumers are on a DPA, producers on the CPU.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, or the DPA is on another
 *   device), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa);

/**
 * How many consumers there may be at a time: 1 to 256, 1 at first.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, or out of range),
 *   DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq,
		uint32_t max_num_consumers);

/** Producers are on a DPA, consumers on the CPU. @return as of set_dpa_consumer. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa);

/** How many producers there may be at a time. @return as of set_max_num_consumers. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq,
		uint32_t max_num_producers);

/**
 * Start a MsgQ: then consumers and producers may be created.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, or both ends are on a DPA),
 *   DOCA_ERROR_BAD_STATE (started already, or its DPA is not),
 *   DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq);

/**
 * Stop a MsgQ.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not
 *   started), DOCA_ERROR_IN_USE (it has consumers or producers).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq);

/**
 * Create a consumer; doca_comch_consumer_destroy() destroys it. The immediate
 * data that it takes are 32 bytes unless doca_comch_consumer_set_imm_data_len()
 * says less.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not
 *   started), DOCA_ERROR_FULL (as many as there may be), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq,
		struct doca_comch_consumer **consumer);

/** Create a producer; doca_comch_producer_destroy() destroys it. @return as of consumers. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq,
		struct doca_comch_producer **producer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_MSGQ_H */
