/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_COMCH_MSGQ_H
#define DOCA_DPA_DEV_COMCH_MSGQ_H

/**
 * @file
 * DOCA Comch MsgQ, as code on the DPA uses it.
 *
 * Receiving: what arrives for the consumers of a consumer completion is taken
 * from that, in the order of arrival.
 *
 *     doca_dpa_dev_comch_consumer_ack(consumer, 16)          16 may come
 *     while (doca_dpa_dev_comch_consumer_get_completion(comp, &element)) {
 *         imm = doca_dpa_dev_comch_consumer_get_completion_imm(element, &len)
 *         ...
 *         n++
 *     }
 *     doca_dpa_dev_comch_consumer_completion_ack(comp, n)    the elements are gone
 *     doca_dpa_dev_comch_consumer_ack(consumer, n)           as many more may come
 *     doca_dpa_dev_comch_consumer_completion_request_notification(comp)
 *     doca_dpa_dev_thread_reschedule()                       until one comes
 *
 * Sending: the consumer on the CPU must have posted a receive task for each
 * message.
 *
 * Handles come from the host: doca_comch_consumer_get_dpa_handle() and its kind.
 * A handle whose object was destroyed, a length over the limit and so on are
 * faults: the kernel ends, and doca_dpa_peek_at_last_error() says so.
 *
 * Thread rule: an end, and a consumer completion, belongs to one thread at a time.
 *
 * Reference: DOCA Comch guide 2.10, "MsgQ (DPA Communication)", "DPA".
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_dpa_dev.h>
#include <doca_dpa_dev_buf.h>
#include <doca_dpa_dev_sync_event.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A consumer on the DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_t;
/** Where messages for consumers on the DPA arrive. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;
/** A message that has arrived. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_element_t;
/** A producer on the DPA. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/**
 * Let more messages come to a consumer. Without, a producer's submit says AGAIN.
 *
 * @param consumer
 *   The consumer.
 * @param num_msg
 *   How many more; with those that may come already at most
 *   doca_comch_consumer_set_dev_max_num_recv(), else a fault.
 */
void doca_dpa_dev_comch_consumer_ack(doca_dpa_dev_comch_consumer_t consumer, uint32_t num_msg);

/**
 * Take the next element.
 *
 * @return
 *   1: *comp_element* is set, and good until it is acknowledged; 0: there is none.
 */
int doca_dpa_dev_comch_consumer_get_completion(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle,
		doca_dpa_dev_comch_consumer_completion_element_t *comp_element);

/**
 * The message of an element.
 *
 * @param comp_element
 *   The element.
 * @param[out] imm_length
 *   Its bytes, 0 to 32.
 * @return
 *   The bytes, until the element is acknowledged: copy what is needed longer.
 */
const uint8_t *doca_dpa_dev_comch_consumer_get_completion_imm(
		doca_dpa_dev_comch_consumer_completion_element_t comp_element,
		uint32_t *imm_length);

/** Id of the producer that sent it, as doca_comch_producer_get_id() says it. */
uint32_t doca_dpa_dev_comch_consumer_get_completion_producer_id(
		doca_dpa_dev_comch_consumer_completion_element_t comp_element);

/**
 * Give elements back, the oldest first. More than were taken: a fault.
 */
void doca_dpa_dev_comch_consumer_completion_ack(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle, uint64_t num_comp);

/**
 * Have the thread of the completion activated when there is an element that was
 * not taken; there may be one already. A completion asks by itself when it is
 * started, and afterwards only by this call.
 */
void doca_dpa_dev_comch_consumer_completion_request_notification(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle);

/**
 * Has a consumer on the CPU no receive task posted? Optional, and not for nothing.
 *
 * @return
 *   1: none, 0: some.
 */
int doca_dpa_dev_comch_producer_is_consumer_empty(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id);

#if COMCH_DOCA_GENERATION < 209
/**
 * Send a message: *completion_requested* 1: an element comes to the producer's
 * completion when the message has reached the consumer; 0: none does.
 */
void doca_dpa_dev_comch_producer_post_send_imm_only(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, const uint8_t *imm, uint32_t imm_length,
		uint32_t completion_requested)
	COMCH_DOCA_SYMBOL(doca_dpa_dev_comch_producer_post_send_imm_only_207);
/** Copy, then send a message; see above, and below for the arguments. */
void doca_dpa_dev_comch_producer_dma_copy(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap, uint64_t src_addr, size_t length, const uint8_t *imm,
		uint32_t imm_length, uint32_t completion_requested)
	COMCH_DOCA_SYMBOL(doca_dpa_dev_comch_producer_dma_copy_207);
#else
/**
 * Send a message to a consumer on the CPU.
 *
 * If it has posted nothing a card promises nothing. Here the call waits until it
 * has, and the first time says so in the log.
 *
 * @param producer
 *   The producer.
 * @param consumer_id
 *   Of the consumer. One that does not exist, or takes less immediate data: an
 *   element of type DOCA_DPA_DEV_COMP_SEND_ERR.
 * @param imm
 *   The message; copied.
 * @param imm_length
 *   Its bytes, at most 32: more is a fault.
 * @param flags
 *   enum doca_dpa_dev_submit_flag. The message always goes at once. An element
 *   comes to the producer's completion when it has reached the consumer; with
 *   DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS it comes with that of the next
 *   message without.
 */
void doca_dpa_dev_comch_producer_post_send_imm_only(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, const uint8_t *imm, uint32_t imm_length, uint32_t flags);

/**
 * Copy a block, then send a message: who has received it sees the data.
 *
 * @param producer
 *   The producer.
 * @param consumer_id
 *   As above.
 * @param dst_mmap
 *   Handle of the memory to copy to (doca_mmap_dev_get_dpa_handle()), with
 *   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE.
 * @param dst_addr
 *   Address within.
 * @param src_mmap
 *   Handle of the memory to copy from.
 * @param src_addr
 *   Address within.
 * @param length
 *   Bytes, up to 1 GiB. A range outside its mmap, memory that may not be written,
 *   or ranges that overlap are faults.
 * @param imm
 *   As above.
 * @param imm_length
 *   As above.
 * @param flags
 *   As above.
 */
void doca_dpa_dev_comch_producer_dma_copy(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap, uint64_t src_addr, size_t length, const uint8_t *imm,
		uint32_t imm_length, uint32_t flags);
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_DEV_COMCH_MSGQ_H */
