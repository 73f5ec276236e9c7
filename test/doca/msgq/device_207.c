/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Compiled as device code of DOCA 2.7, whose sends say whether they want an element. */

#include "msgq/device_207.h"

uint64_t
msgq_send_207(void *arg)
{
	const struct msgq_send_207 *s = arg;

	doca_dpa_dev_comch_producer_post_send_imm_only(s->producer, 1, (const uint8_t *)"x", 1,
		s->completion_requested);
	return 0;
}

uint64_t
msgq_copy_207(void *arg)
{
	const struct msgq_send_207 *s = arg;

	doca_dpa_dev_comch_producer_dma_copy(s->producer, 1, s->dst_mmap, s->dst, s->src_mmap,
		s->src, s->len, NULL, 0, s->completion_requested);
	return 0;
}
