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
#include <stdbool.h>

#include "floor/floor.h"

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
	void *source;                /**< FLOOR_MEMCPY, shared. */
	int event[2];                /**< Eventfds to A and to B. */
};

/** What the two processes do: A sends and returns the figure, B receives. */
struct floor_body {
	double (*a)(struct floor_job *job);
	void (*b)(struct floor_job *job);
};

/** By enum floor_kind. */
extern const struct floor_body floor_bodies[];

/** Map what a measurement needs; it goes with the process. @return 0 or -ENOMEM */
int floor_job_open(struct floor_job *job, const struct floor_req *req);

/** The two processes meet: A knows that B runs before it starts its clock. */
void floor_job_meet(struct floor_job *job, bool is_a);

#endif /* FLOOR_RUN_H */
