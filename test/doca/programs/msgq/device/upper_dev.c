/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_dpa_dev.h>
#include <doca_dpa_dev_comch_msgq.h>

#include "upper_common.h"

/* The same names as in upper.c: they are two programs. */
static int
is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

int num_texts;

void convert(uint8_t *text, uint32_t len);

void
convert(uint8_t *text, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (is_lower((char)text[i]))
			text[i] = (uint8_t)(text[i] - 'a' + 'A');
	num_texts++;
}

__dpa_global__ void upper_thread(uint64_t arg)
{
	struct upper_thread_arg *thread_arg = (struct upper_thread_arg *)arg;
	doca_dpa_dev_comch_consumer_completion_element_t element;
	doca_dpa_dev_completion_element_t sent;
	uint8_t text[UPPER_IMM_LEN];
	const uint8_t *imm;
	uint32_t len;

	while (doca_dpa_dev_comch_consumer_get_completion(thread_arg->consumer_comp, &element)) {
		imm = doca_dpa_dev_comch_consumer_get_completion_imm(element, &len);
		for (uint32_t i = 0; i < len; i++)
			text[i] = imm[i];
		doca_dpa_dev_comch_consumer_completion_ack(thread_arg->consumer_comp, 1);
		doca_dpa_dev_comch_consumer_ack(thread_arg->consumer, 1);
		convert(text, len);
		thread_arg->num_texts++;
		while (doca_dpa_dev_comch_producer_is_consumer_empty(thread_arg->producer,
				thread_arg->host_consumer_id))
			;
		doca_dpa_dev_comch_producer_post_send_imm_only(thread_arg->producer,
				thread_arg->host_consumer_id, text, len,
				DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
	}
	while (doca_dpa_dev_get_completion(thread_arg->producer_comp, &sent))
		doca_dpa_dev_completion_ack(thread_arg->producer_comp, 1);
	doca_dpa_dev_completion_request_notification(thread_arg->producer_comp);
	doca_dpa_dev_comch_consumer_completion_request_notification(thread_arg->consumer_comp);
	doca_dpa_dev_thread_reschedule();
}

/* A struct by value, as RPCs may have. */
__dpa_rpc__ uint64_t upper_init_rpc(struct upper_thread_arg thread_arg)
{
	doca_dpa_dev_comch_consumer_ack(thread_arg.consumer, UPPER_NUM_RECV);
	return 0;
}

__dpa_rpc__ uint64_t upper_count_rpc(void)
{
	return (uint64_t)num_texts;
}
