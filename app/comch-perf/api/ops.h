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

/** A producer with a ring; its first is next to be offered. */
struct ops_tx {
	struct data_tx base;
	struct rte_comch_op *ops;
	uint8_t *imms;
	uint32_t head;  /**< Next to be offered; `ready` are stamped from there on. */
	uint32_t tail;  /**< Oldest of those in flight. */
	struct mem mem;
};

int ops_open(struct perf_run *run, struct ops_tx *tx);
void ops_close(struct ops_tx *tx);

/** Stamp the next ones: one burst, all to one consumer. */
void ops_prepare(struct data_tx *tx, uint16_t n);

/** Completions have come. */
void ops_done(struct ops_tx *tx, const struct rte_comch_cpl *cpls, uint16_t n);

/** So many of those that were ready were taken. @return that */
static inline uint16_t
ops_sent(struct ops_tx *tx, uint16_t taken)
{
	tx->head += taken;
	if (tx->head == tx->base.nb_slots)
		tx->head = 0;
	tx->base.ready -= taken;
	tx->base.in_flight += taken;
	tx->base.sent += taken;
	return taken;
}

#endif /* API_OPS_H */
