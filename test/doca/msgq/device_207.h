/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TMSGQ_207_H
#define TMSGQ_207_H

#include <doca_dpa_dev_comch_msgq.h>

struct tmsgq_send_207 {
	doca_dpa_dev_comch_producer_t producer;
	uint32_t completion_requested;
	doca_dpa_dev_mmap_t dst_mmap, src_mmap;
	uint64_t dst, src;
	size_t len;
};

uint64_t tmsgq_send_207(void *arg);
uint64_t tmsgq_copy_207(void *arg);

#endif /* TMSGQ_207_H */
