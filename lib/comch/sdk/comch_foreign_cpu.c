/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The CPU of the receivers. A receiver works for some 15 us, but to wake it on another CPU takes
 * five times as long, and longer where that CPU has a poll, too. So the thread that hands it a
 * message has it run on its own CPU, at once, or else yields it, once.
 *
 * A peer must not get more of a poll's CPU by this: a receiver that is not done by then, or in a
 * millisecond, or that drops descriptors, goes back to the other CPUs, and for a while no receiver
 * is pulled.
 */

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "sdk/comch_foreign_private.h"

/* After a slow message, ms. */
#define STAY_AWAY_MS 100
/* Of the helper threads, ns: the shortest that the kernel accepts. */
#define SLICE 100000

static struct comch_foreign_pool *const pool = &comch_foreign_pool;

/* All of it is protected by the pool's lock. */
static cpu_set_t home; /* the CPUs of the threads, unless they are pulled */
static bool has_home;

/* For sched_setattr(2), which glibc has since 2.41. */
struct slice_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/*
 * Since Linux 6.6 a thread that wakes waits for the slice of the one that runs, and since 6.12 not
 * if its own is shorter. A poll that yielded its CPU instead would give it away for a tick.
 */
void
comch_foreign_cpu_slice(void)
{
	struct slice_attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0 ||
			attr.policy != SCHED_OTHER)
		return;
	attr.runtime = SLICE;
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

void
comch_foreign_cpu_home(void)
{
	has_home = sched_getaffinity(0, sizeof(home), &home) == 0;
}

/* tid: 0 for this thread. */
static void
set_home(int tid)
{
	cpu_set_t all;

	if (sched_setaffinity(tid, sizeof(home), &home) == 0)
		return;
	/* The process has other CPUs by now: the kernel takes those that it may have. */
	memset(&all, 0xff, sizeof(all));
	(void)sched_setaffinity(tid, sizeof(all), &all);
}

static void
send_home(struct comch_foreign_slot *slot)
{
	if (slot->cpu < 0)
		return;
	slot->cpu = -1;
	set_home(slot->tid);
}

/* False: it stays where it is. */
static bool
pull(struct comch_foreign_slot *slot, int cpu)
{
	cpu_set_t set;

	if (slot->cpu == cpu)
		return true;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(slot->tid, sizeof(set), &set) != 0)
		return false;
	slot->cpu = cpu;
	return true;
}

/*
 * A thread of a real-time policy would let no receiver run on its CPU, and one of SCHED_IDLE does
 * not keep it for itself.
 */
static bool
shares_its_cpu(void)
{
	const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	return policy == SCHED_OTHER || policy == SCHED_BATCH;
}

bool
comch_foreign_cpu_pull(void)
{
	const int cpu = sched_getcpu();
	const bool pulls = has_home && cpu >= 0 && cpu < CPU_SETSIZE &&
		rte_rdtsc() >= pool->away_until && shares_its_cpu();
	struct comch_foreign_slot *slot;
	bool any = false;

	for (slot = pool->slot; slot < pool->slot + COMCH_FOREIGN_SLOTS; slot++) {
		if (!slot->used || slot->kind != COMCH_FOREIGN_RECEIVER || slot->tid == 0)
			continue;
		if (!pulls)
			send_home(slot);
		else if (!slot->busy)
			any |= pull(slot, cpu);
	}
	return any;
}

void
comch_foreign_cpu_leave(void)
{
	(void)comch_foreign_cpu_leave_others(NULL);
}

bool
comch_foreign_cpu_leave_others(struct comch_foreign_slot *self)
{
	const bool is_pulled = self != NULL && self->cpu >= 0;
	struct comch_foreign_slot *slot;

	if (is_pulled)
		self->cpu = -1;
	pool->away_until = RTE_MAX(pool->away_until,
		rte_rdtsc() + rte_get_tsc_hz() / MS_PER_S * STAY_AWAY_MS);
	for (slot = pool->slot; slot < pool->slot + COMCH_FOREIGN_SLOTS; slot++)
		if (slot->used && slot->tid != 0)
			send_home(slot);
	return is_pulled;
}

void
comch_foreign_cpu_go_home(void)
{
	set_home(0);
}
