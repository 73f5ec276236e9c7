/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_OBSERVE_H
#define IMPL_ACCEL_OBSERVE_H

/*
 * What accelerators show to EAL's telemetry, and so to comch-info: /comch/accel/list, info, stats.
 *
 * An object is in a list from its creation to its end. EAL's telemetry thread reads it with the
 * list's lock, which creators and destroyers hold as well. What the object's own thread changes
 * meanwhile, its state and its counters, is atomic; a task takes no lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

#include <doca_dev.h>

/* Of all tasks, or jobs, since the object was created. */
struct impl_counters {
	uint64_t submitted;
	uint64_t done;
	uint64_t failed;
	uint64_t bytes;   /* of the sources of those that have begun */
	uint64_t offloaded; /* of these, those given to a device of DPDK */
};

struct impl_observed {
	TAILQ_ENTRY(impl_observed) next;
	const struct doca_ctx *ctx;
	const char *kind;
	uint32_t id;                           /* of no other object of the process */
	char dev[DOCA_DEVINFO_PCI_ADDR_SIZE];  /* empty: none yet */
	bool has_threads;                      /* its work queues can have one each */
	struct impl_counters counters;
};

/* Show a new object, all zero, of which the context was initialized. */
void impl_observe_begin(struct impl_observed *o, const struct doca_ctx *ctx);
void impl_observe_end(struct impl_observed *o);
/* It has another device, or none. */
void impl_observe_dev(struct impl_observed *o, const struct doca_dev *dev);

/* Add to one of its counters. */
static inline void
impl_observe_count(const struct impl_observed *o, uint64_t *counter, uint64_t n)
{
	/* A locked instruction costs more than the copy of a small message. */
	if (o->has_threads)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
	else
		__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

#endif /* IMPL_ACCEL_OBSERVE_H */
