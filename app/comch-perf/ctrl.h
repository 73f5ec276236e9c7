/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef CTRL_H
#define CTRL_H

/**
 * @file
 * Control messages under test: one connection, driven by the main thread of
 * each side.
 */

#include "perf_test.h"
#include "window.h"

/** One side of the busy connection. */
struct ctrl {
	void *conn;               /**< The API's. */
	uint32_t sender;          /**< For stamps of ours. */
	uint32_t peer_sender;     /**< For stamps of theirs. */
	/* Sending: a ring of messages, some of which lie ready. */
	struct rte_comch_msg *msgs;
	uint32_t nb_msgs;
	uint8_t *bufs;
	uint64_t seq;             /**< Next number. */
	uint64_t left;            /**< Messages yet to be prepared. */
	uint64_t sent;
	uint32_t head;            /**< Next to be offered. */
	uint32_t ready;           /**< Stamped from there on. */
	bool tx_done;
	bool counts_sent;
	/* Receiving. */
	uint64_t count;
	uint64_t next;            /**< Expected number. */
	uint64_t expected;        /**< How many there will be; UINT64_MAX: not said yet. */
	uint64_t disorder;
	uint64_t torn;
	bool rx_done;
	bool over;                /**< The run is to be given up; since the last tick. */
	struct window window;
	/* The outside world. */
	uint32_t loops;
	uint64_t next_sync;
	uint64_t tx_end;          /**< When to stop sending, TSC. */
	uint64_t progress;
	uint64_t progress_tsc;
};

/** A test's setup and teardown. */
int ctrl_setup(struct perf_run *run);
void ctrl_teardown(struct perf_run *run);

/** A test's check. */
int ctrl_check(const struct perf_params *params,
		const struct rte_comch_dev_info *info, char *error);

/** Begin: start the clocks. */
void ctrl_start(struct perf_run *run);

/** Offer up to n messages. @return how many were taken */
uint16_t ctrl_send(struct perf_run *run, uint16_t n);

/** Look at the clock and at the session; every now and then. */
void ctrl_tick(struct perf_run *run, uint64_t now);

/** Collect what was counted; 0, or negative if the run has failed. */
int ctrl_finish(struct perf_run *run);

#endif /* CTRL_H */
