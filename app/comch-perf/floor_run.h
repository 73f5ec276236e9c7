/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FLOOR_RUN_H
#define FLOOR_RUN_H

/**
 * @file
 * The bodies of the floors: what each of the two processes does.
 */

#include <stdatomic.h>

#include "floor.h"

/* What both ends share is laid out by our own constant, whatever the CPU's. */
#define FLOOR_LINE_SIZE 64

/** Seven words and a sequence number: what one line of memory carries. */
struct floor_slot {
	uint64_t payload[7];
	_Atomic uint64_t seq;
} __attribute__((aligned(FLOOR_LINE_SIZE)));

/** Shared by the two processes; each line has one writer. */
struct floor_shared {
	struct floor_slot a; /**< Written by process A. */
	struct floor_slot b; /**< Written by process B. */
	struct floor_slot sink; /**< Keeps reads from being optimised away. */
};

/** One measurement. */
struct floor_job {
	struct floor_req req;
	bool crowded;                /**< Both share a CPU: spinning must yield. */
	struct floor_shared *shared;
	void *window;                /**< Ring or destination, shared. */
	size_t window_len;
	void *source;                /**< FLOOR_MEMCPY, shared. */
	size_t source_len;
	int event[2];                /**< FLOOR_WAKE: eventfds to A and to B. */
};

/** One half of a floor; A's returns the figure. */
typedef double (*floor_run_t)(struct floor_job *job, bool is_a);

/** Map what a measurement needs. @return 0 or a negative errno. */
int floor_job_open(struct floor_job *job, const struct floor_req *req);

/** Undo floor_job_open(). */
void floor_job_close(struct floor_job *job);

double floor_run_line(struct floor_job *job, bool is_a);
double floor_run_slot(struct floor_job *job, bool is_a);
double floor_run_memcpy(struct floor_job *job, bool is_a);
double floor_run_wake(struct floor_job *job, bool is_a);

#endif /* FLOOR_RUN_H */
