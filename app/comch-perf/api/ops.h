/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_OPS_H
#define API_OPS_H

/**
 * @file
 * A ring of prefilled operations with their payload, for descriptors and MsgQs:
 * the send loop only stamps a message.
 */

#include <rte_comch_dp.h>

#include "app_mem.h"
#include "engine/data.h"

/** Signalled operations per round of the ring. */
#define OPS_SIGNALS 4

/** The ring of a producer. */
struct ops_ring {
	struct rte_comch_op *ops;
	uint8_t *imms;
	uint32_t head;  /**< Next to send; `ready` stamped ones start here. */
	uint32_t tail;  /**< Oldest in flight. */
	struct app_mem mem;
};

int ops_open(struct perf_run *run, struct data_tx *tx, struct ops_ring *ring);
void ops_close(struct ops_ring *ring);

/** Stamp the next burst, all to one consumer. */
void ops_prepare(struct data_tx *tx, struct ops_ring *ring, uint16_t n);

/** Process completions. */
void ops_done(struct data_tx *tx, struct ops_ring *ring, const struct rte_comch_cpl *cpls,
		uint16_t n);

/** Account for *taken* accepted operations. @return *taken* */
static inline uint16_t
ops_sent(struct data_tx *tx, struct ops_ring *ring, uint16_t taken)
{
	ring->head += taken;
	if (ring->head == tx->nb_slots)
		ring->head = 0;
	tx->ready -= taken;
	tx->in_flight += taken;
	tx->sent += taken;
	return taken;
}

#endif /* API_OPS_H */
