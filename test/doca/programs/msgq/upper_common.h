/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef UPPER_COMMON_H
#define UPPER_COMMON_H

/* What host and device share; the includer has included the handles' headers. */

#define UPPER_IMM_LEN 32
#define UPPER_NUM_RECV 8

struct upper_thread_arg {
	doca_dpa_dev_comch_consumer_t consumer;
	doca_dpa_dev_comch_consumer_completion_t consumer_comp;
	doca_dpa_dev_comch_producer_t producer;
	doca_dpa_dev_completion_t producer_comp;
	uint32_t host_consumer_id;
	uint32_t num_texts;
} __dpa_global__;

#endif /* UPPER_COMMON_H */
