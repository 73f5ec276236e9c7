/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_COMCH_MSGQ_H
#define DOCA_DPA_DEV_COMCH_MSGQ_H

/**
 * @file
 * DOCA Comch MsgQ for device code.
 *
 * Receiving: messages for the consumers of a consumer completion are taken from the
 * completion, in the order of arrival.
 *
 *     doca_dpa_dev_comch_consumer_ack(consumer, 16)          allow 16 messages
 *     while (doca_dpa_dev_comch_consumer_get_completion(comp, &element)) {
 *         imm = doca_dpa_dev_comch_consumer_get_completion_imm(element, &len)
 *         ...
 *         n++
 *     }
 *     doca_dpa_dev_comch_consumer_completion_ack(comp, n)    return the elements
 *     doca_dpa_dev_comch_consumer_ack(consumer, n)           allow as many again
 *     doca_dpa_dev_comch_consumer_completion_request_notification(comp)
 *     doca_dpa_dev_thread_reschedule()                       until the next message
 *
 * Sending: the consumer on the CPU must have posted a receive task for each message.
 *
 * The host passes the handles: doca_comch_consumer_get_dpa_handle() and similar. The
 * handle of a destroyed object or a length over the limit is a fault: the kernel ends,
 * and doca_dpa_peek_at_last_error() reports it.
 *
 * Threads: a producer, a consumer or a consumer completion belongs to one thread at a
 * time.
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
/** A completion on which messages for consumers on the DPA arrive. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;
/** A received message. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_element_t;
/** A producer on the DPA. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/**
 * Allow more messages for a consumer. A producer's submit returns AGAIN when none are
 * left.
 *
 * @param consumer
 *   The consumer.
 * @param num_msg
 *   Number of messages to add. More than doca_comch_consumer_set_dev_max_num_recv() in
 *   total is a fault.
 */
void doca_dpa_dev_comch_consumer_ack(doca_dpa_dev_comch_consumer_t consumer, uint32_t num_msg);

/**
 * Take the next element.
 *
 * @return 1, and *comp_element* is valid until it is acknowledged; or 0 if there is
 * none.
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
 *   Length of the message, 0 to 32 bytes.
 * @return The message, valid until the element is acknowledged.
 */
const uint8_t *doca_dpa_dev_comch_consumer_get_completion_imm(
		doca_dpa_dev_comch_consumer_completion_element_t comp_element,
		uint32_t *imm_length);

/** Id of the producer that sent the message, as of doca_comch_producer_get_id(). */
uint32_t doca_dpa_dev_comch_consumer_get_completion_producer_id(
		doca_dpa_dev_comch_consumer_completion_element_t comp_element);

/** Return elements, the oldest first. More than were taken is a fault. */
void doca_dpa_dev_comch_consumer_completion_ack(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle, uint64_t num_comp);

/**
 * Activate the completion's thread when there is an element not yet taken, at once if
 * there already is one. The start of a completion requests this itself, once.
 */
void doca_dpa_dev_comch_consumer_completion_request_notification(
		doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle);

/**
 * Whether a consumer on the CPU has no receive task posted. This check is optional and
 * has a cost.
 *
 * @return 1 if it has none, else 0.
 */
int doca_dpa_dev_comch_producer_is_consumer_empty(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id);

#if COMCH_DOCA_GENERATION < 209
/**
 * Send a message. With *completion_requested* 1 the producer's completion gets an element
 * when the message has reached the consumer, with 0 it does not.
 */
void doca_dpa_dev_comch_producer_post_send_imm_only(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, const uint8_t *imm, uint32_t imm_length,
		uint32_t completion_requested)
	COMCH_DOCA_SYMBOL(doca_dpa_dev_comch_producer_post_send_imm_only_207);
/** Copy memory, then send a message; see above, and below for the arguments. */
void doca_dpa_dev_comch_producer_dma_copy(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr,
		doca_dpa_dev_mmap_t src_mmap, uint64_t src_addr, size_t length, const uint8_t *imm,
		uint32_t imm_length, uint32_t completion_requested)
	COMCH_DOCA_SYMBOL(doca_dpa_dev_comch_producer_dma_copy_207);
#else
/**
 * Send a message to a consumer on the CPU. It is sent at once, with any flags.
 *
 * On hardware the result is undefined if the consumer has posted nothing. With comch the
 * call waits until it has, and logs that the first time.
 *
 * @param producer
 *   The producer.
 * @param consumer_id
 *   Id of the consumer. If it does not exist or accepts less immediate data, the element
 *   has type DOCA_DPA_DEV_COMP_SEND_ERR.
 * @param imm
 *   The message; copied.
 * @param imm_length
 *   Its length in bytes. More than 32 is a fault.
 * @param flags
 *   Of enum doca_dpa_dev_submit_flag. The producer's completion gets an element when the
 *   message has reached the consumer; with DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS
 *   together with that of the next message without this flag.
 */
void doca_dpa_dev_comch_producer_post_send_imm_only(doca_dpa_dev_comch_producer_t producer,
		uint32_t consumer_id, const uint8_t *imm, uint32_t imm_length, uint32_t flags);

/**
 * Copy memory, then send a message. The receiver of the message sees the data.
 *
 * @param producer, consumer_id, imm, imm_length, flags
 *   As for doca_dpa_dev_comch_producer_post_send_imm_only().
 * @param dst_mmap, dst_addr
 *   Destination: handle of an mmap (doca_mmap_dev_get_dpa_handle()) with
 *   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, and an address within it.
 * @param src_mmap, src_addr
 *   Source: handle of an mmap, and an address within it.
 * @param length
 *   Bytes, up to 1 GiB. A range outside its mmap, read-only memory, or ranges that overlap
 *   are faults.
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
