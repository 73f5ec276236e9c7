/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DPA code. build_device_code.sh compiles it with comch-dpacc. */

#include <doca_dpa_dev.h>
#include <doca_dpa_dev_comch_msgq.h>

#include "doca_msgq_common.h"

/* Acknowledge completed sends, which frees their queue entries. */
static void
reap(struct thread_arg *args)
{
	doca_dpa_dev_completion_element_t element;

	while (doca_dpa_dev_get_completion(args->producer_completion, &element)) {
		if (doca_dpa_dev_get_completion_type(element) != DOCA_DPA_DEV_COMP_SEND)
			args->nb_failed++;
		doca_dpa_dev_completion_ack(args->producer_completion, 1);
	}
}

/* The host has posted a receive for each message. */
static void
answer(struct thread_arg *args, struct msg msg)
{
	const uint8_t *imm = (const uint8_t *)&msg;

	if (msg.kind == COPY) {
		/* The message arrives after the data. */
		doca_dpa_dev_comch_producer_dma_copy(args->producer, args->to, args->copy_mmap,
				args->copy, args->source_mmap, args->source, msg.value, imm,
				sizeof(msg), DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
		return;
	}
	msg.value = value_for(msg.value);
	doca_dpa_dev_comch_producer_post_send_imm_only(args->producer, args->to, imm, sizeof(msg),
			DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
}

/* Kernel: runs when messages arrive, until the queue is empty. */
__dpa_global__ void
serve(uint64_t arg)
{
	struct thread_arg *args = (struct thread_arg *)arg;
	doca_dpa_dev_comch_consumer_completion_element_t element;
	const uint8_t *imm;
	struct msg msg;
	uint32_t len;

	args->nb_activations++;
	while (doca_dpa_dev_comch_consumer_get_completion(args->consumer_completion, &element)) {
		imm = doca_dpa_dev_comch_consumer_get_completion_imm(element, &len);
		/* Copy it: it is valid only until it is acknowledged. */
		__builtin_memcpy(&msg, imm, sizeof(msg));
		doca_dpa_dev_comch_consumer_completion_ack(args->consumer_completion, 1);
		/* Give credit for one more message. */
		doca_dpa_dev_comch_consumer_ack(args->consumer, 1);
		args->nb_msgs++;
		reap(args);
		if (len == sizeof(msg))
			answer(args, msg);
		else
			args->nb_failed++;
	}
	doca_dpa_dev_comch_consumer_completion_request_notification(args->consumer_completion);
	doca_dpa_dev_thread_reschedule();
}

/* Give the first credits. The host calls this once before it sends. */
__dpa_rpc__ uint64_t
open_consumer(doca_dpa_dev_comch_consumer_t consumer, uint32_t nb_msgs)
{
	doca_dpa_dev_comch_consumer_ack(consumer, nb_msgs);
	DOCA_DPA_DEV_LOG_INFO("credit for %u messages\n", nb_msgs);
	return 0;
}
