/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MSGQ_H
#define MSGQ_H

/**
 * @file
 * Producers and consumers of MsgQs. A MsgQ has no other side, so both ends are
 * of this process, on the CPUs on which the two sides of other tests would be:
 *
 *     CPUs of the host side                    first CPU of the DPU side
 *     worker 0, the main thread --- MsgQ ----> the last worker, a thread that
 *     workers 1 ..., lcores     ---'           is not an lcore
 *
 * With `bidir` there is one worker at each end, and a MsgQ each way. Workers,
 * their loops and what they check are those of data.h.
 */

#include "data.h"

/** Step of the ladder: producers to one consumer, or `bidir`. */
int msgq_setup(struct perf_run *run);

/** The same for blocks that are copied into a window before each message. */
int msgq_setup_copy(struct perf_run *run);

/** A credit is a place in the window of copies, and they go round in the same order. */
static inline uint8_t *
msgq_place(const struct data_rx *rx, uint64_t number)
{
	return (uint8_t *)rx->mem.addr + number % rx->nb_bufs * data_stride(rx->params);
}

/** Check what was received; a credit is owed for it. */
static inline void
msgq_take(struct data_rx *rx, const struct rte_comch_cpl *cpl)
{
	const struct perf_params *p = rx->params;

	rx->owed++;
	if (unlikely(cpl->status != 0)) {
		rx->failed += !rx->stopping;
	} else if (unlikely(cpl->len != p->size || cpl->imm_len != p->imm)) {
		rx->count++;
		rx->torn++;
	} else {
		data_check_msg(rx, p->size == 0 ? NULL : msgq_place(rx, rx->count), cpl->imm);
	}
}

#endif /* MSGQ_H */
