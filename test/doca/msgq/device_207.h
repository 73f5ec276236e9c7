/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MSGQ_DEVICE_207_H
#define MSGQ_DEVICE_207_H

#include <doca_dpa_dev_comch_msgq.h>

struct msgq_send_207 {
	doca_dpa_dev_comch_producer_t producer;
	uint32_t completion_requested;
	doca_dpa_dev_mmap_t dst_mmap, src_mmap;
	uint64_t dst, src;
	size_t len;
};

uint64_t msgq_send_207(void *arg);
uint64_t msgq_copy_207(void *arg);

#endif /* MSGQ_DEVICE_207_H */
