/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_FAULT_H
#define IMPL_DEV_FAULT_H

/*
 * Faults on demand: keys fault.* of the device table have the library fail where a card seldom
 * does, so that the error paths of a program can be tested. Each process counts by itself, and a
 * device that has none costs its contexts one comparison per submit.
 *
 * Threads: any, since producers and consumers of a device may have threads of their own. The
 * counters are atomic; whether a count is hit depends on it, the key and the seed only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

/* Faults, and what each counts. */
enum impl_fault {
	IMPL_FAULT_AGAIN, /* submits: AGAIN is returned */
	IMPL_FAULT_ERROR, /* submits: the task fails, unsent */
	IMPL_FAULT_LATE,  /* submits: they wait for late_ms */
	IMPL_FAULT_RESET, /* control messages of both directions: the connection ends */
	IMPL_FAULT_EXIT,  /* submits and received control messages: the process is killed */
	IMPL_NB_FAULTS,
};

/* Those from `first` to `last`, or one of `one_of` at random; all 0: never. */
struct impl_fault_when {
	uint64_t first;
	uint64_t last;
	uint64_t one_of;
	uint64_t count; /* atomic */
	uint32_t told;  /* atomic: reports */
};

struct impl_faults {
	struct impl_fault_when when[IMPL_NB_FAULTS];
	uint32_t late_ms;
	uint32_t slow_ms; /* what a progress that did something takes longer */
	uint64_t seed;
	const char *side; /* of the device: "DPU" or "host" */
	bool is_used;     /* this process has opened the device */
};

struct impl_table;
struct impl_entry;

/* Parse a line, fault.NAME = VALUE, of a section. */
doca_error_t impl_faults_set(struct impl_table *table, struct impl_entry *entry,
		unsigned int line, const char *name, const char *value);
/* Fill in what is not given. Returns them, or NULL: the device has none. */
struct impl_faults *impl_faults_fill(struct impl_entry *entry);

/* Count one, of something that `what` names. True: it is hit; that is reported. */
bool impl_fault_hits(struct impl_faults *faults, enum impl_fault fault, const char *what);
/* Count a submit or a received message for IMPL_FAULT_EXIT, which does not return. */
void impl_fault_step(struct impl_faults *faults, const char *what);
/* Of a peer that is slow. */
void impl_fault_slow(const struct impl_faults *faults);

#endif /* IMPL_DEV_FAULT_H */
