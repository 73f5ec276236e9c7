/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_OPS_H
#define API_OPS_H

/**
 * @file
 * What the descriptor calls and those of MsgQs share: a ring of operations
 * that lie ready with their payload, so that the loop does no more for a
 * message than stamp it.
 */

#include <rte_comch_dp.h>

#include "api/mem.h"

/** Completions wanted for each turn of the ring. */
#define OPS_SIGNALS 4

/** The ring of a producer. */
struct ops_ring {
	struct rte_comch_op *ops;
	uint8_t *imms;
	uint32_t head;  /**< Next to be offered; `ready` are stamped from there on. */
	uint32_t tail;  /**< Oldest of those in flight. */
	struct mem mem;
};

int ops_open(struct perf_run *run, struct data_tx *tx, struct ops_ring *ring);
void ops_close(struct ops_ring *ring);

/** Stamp the next ones: one burst, all to one consumer. */
void ops_prepare(struct data_tx *tx, struct ops_ring *ring, uint16_t n);

/** Completions have come. */
void ops_done(struct data_tx *tx, struct ops_ring *ring, const struct rte_comch_cpl *cpls,
		uint16_t n);

/** Of those that were ready, *taken* were taken. @return that */
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
