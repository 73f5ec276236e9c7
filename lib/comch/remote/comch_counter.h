/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_COUNTER_H
#define COMCH_COUNTER_H

/*
 * Counters.
 *
 * comch_counter.c has their life, comch_counter_ops.c what is done with the word, and
 * comch_counter_watch.c the thread that wakes polls.
 *
 * Sleeping (test/model/counter.pml):
 *
 *   who updates                        who waits
 *   value = ...                        waiters++
 *   fence                              fence
 *   if waiters > 0:                    seen = changes; look at the value; not yet?
 *     changes++, futex wake            futex wait, unless changes != seen; again
 *                                      waiters--
 *
 * A waiter that is killed leaves its mark: updates then cost a system call each.
 */

#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

#include <rte_common.h>
#include <rte_comch_counter.h>

#include "base/comch_registry.h"
#include "remote/comch_remote_wire.h"

/* What the processes share. Each may write all of it. */
struct comch_counter_page {
	uint64_t value;
	uint32_t changes;
	uint32_t waiters;
};

struct comch_foreign_job;

struct rte_comch_counter {
	struct comch_registry_entry entry;
	struct comch_counter_page *page; /* NULL: not connected yet */
	int page_fd;                     /* of an owner; -1 */
	struct rte_comch_export *export; /* of an owner; NULL: not exported */
	int16_t dev_id;                  /* of the export */
	uint32_t nb_updates;             /* under way in this process */

	/* Of an importer */
	bool is_imported;
	bool has_told;                   /* why the owner cannot be reached */
	int sock;                        /* -1: not connecting */
	struct comch_foreign_job *job;   /* receives the page */
	struct comch_remote_desc desc;

	/* comch_counter_watch.c; with its lock */
	TAILQ_ENTRY(rte_comch_counter) next_watched;
	struct rte_comch_poll *poll;     /* NULL: not watched */
	uint64_t seen;
};

/* comch_counter_ops.c */

/* Have updates wake sleepers, from now on; or no more. */
void comch_counter_sleep_begin(struct comch_counter_page *page);
void comch_counter_sleep_end(struct comch_counter_page *page);
/* Wait for updates that others have seen already. */
void comch_counter_wait_updates(const struct rte_comch_counter *counter);

/* Of a thread that sleeps again and again for a value; all zero at first. */
struct comch_counter_naps {
	uint64_t value;
	unsigned int nb_futile;
};

/* Sleep for a millisecond. */
void comch_counter_rest(void);
/* After a sleep, full or not: nap, if a peer wakes this thread again and again for nothing. */
void comch_counter_nap(struct comch_counter_naps *naps, uint64_t value, bool was_full);
/* The futex word, to be read before the value; it is compared with what was read. */
uint32_t comch_counter_changes(const struct comch_counter_page *page);

#endif /* COMCH_COUNTER_H */
