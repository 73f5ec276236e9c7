/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What is done with the word of a counter. */

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_branch_prediction.h>
#include <rte_pause.h>

#include "remote/comch_counter.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_peer.h"

/* Looks before a sleep: some microseconds. */
#define LOOKS 200
/*
 * Sleepers that an update wakes, at most: who has the page may put many others into the kernel's
 * queue. Those that are left look by themselves.
 */
#define WAKES 64
/* Wake-ups with the same value, in a row: then a peer makes them, and the thread naps. */
#define FUTILE 64
#define NS_PER_MS 1000000

/* Pairs with comch_counter_sleep_begin(). */
static void
wake(struct comch_counter_page *page)
{
	/* Model: counter.pml, publish. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (peer_load_relaxed_u32(&page->waiters) == 0)
		return;
	/* Release: a reader of it also sees the value. Model: counter.pml, change. */
	__atomic_fetch_add(&page->changes, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &page->changes, FUTEX_WAKE, WAKES, NULL, NULL, 0);
}

void
comch_counter_sleep_begin(struct comch_counter_page *page)
{
	__atomic_fetch_add(&page->waiters, 1, __ATOMIC_RELAXED);
	/* Pairs with wake(). Model: counter.pml, sleep. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

uint32_t
comch_counter_changes(const struct comch_counter_page *page)
{
	/* Acquire: pairs with wake(). Model: counter.pml, changes. */
	return peer_load_acquire_u32(&page->changes);
}

void
comch_counter_sleep_end(struct comch_counter_page *page)
{
	__atomic_fetch_sub(&page->waiters, 1, __ATOMIC_RELAXED);
}

uint64_t
rte_comch_counter_get(const struct rte_comch_counter *counter)
{
	if (unlikely(comch_forked))
		return 0;
	/* Acquire: pairs with set and add. Model: counter.pml, read. */
	return peer_load_acquire_u64(&counter->page->value);
}

/*
 * An update begins and ends. In between, somebody may see it and free the counter, which waits for
 * its end; so the end is the last touch. No model: a count.
 */
static void
begin(struct rte_comch_counter *counter)
{
	/* Before the update, which is a release. */
	__atomic_fetch_add(&counter->nb_updates, 1, __ATOMIC_RELAXED);
}

static void
end(struct rte_comch_counter *counter)
{
	/* Release: pairs with comch_counter_wait_updates(). No model: a count. */
	__atomic_fetch_sub(&counter->nb_updates, 1, __ATOMIC_RELEASE);
}

void
comch_counter_wait_updates(const struct rte_comch_counter *counter)
{
	/* Acquire: pairs with end(). No model: a count. */
	while (__atomic_load_n(&counter->nb_updates, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

void
rte_comch_counter_set(struct rte_comch_counter *counter, uint64_t value)
{
	if (unlikely(comch_forked))
		return;
	begin(counter);
	/* Release: pairs with get. Model: counter.pml, update. */
	__atomic_store_n(&counter->page->value, value, __ATOMIC_RELEASE);
	wake(counter->page);
	end(counter);
}

uint64_t
rte_comch_counter_add(struct rte_comch_counter *counter, uint64_t value)
{
	uint64_t before;

	if (unlikely(comch_forked))
		return 0;
	begin(counter);
	/* Pairs with get, and with other adds. Model: counter.pml, update. */
	before = __atomic_fetch_add(&counter->page->value, value, __ATOMIC_ACQ_REL);
	wake(counter->page);
	end(counter);
	return before;
}

bool
rte_comch_counter_is(const struct rte_comch_counter *counter, enum rte_comch_counter_cond cond,
		uint64_t value, uint64_t mask)
{
	const uint64_t now = rte_comch_counter_get(counter) & mask;

	if (unlikely(comch_forked))
		return false;
	switch (cond) {
	case RTE_COMCH_COUNTER_EQ:
		return now == value;
	case RTE_COMCH_COUNTER_NE:
		return now != value;
	default:
		return now > value;
	}
}

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

/* Sleep for an update, or as long. True: as long. */
static bool
sleep_ns(struct comch_counter_page *page, uint32_t changes, int64_t ns)
{
	const int64_t most = (int64_t)RTE_COMCH_COUNTER_LOOK_MS * NS_PER_MS;
	struct timespec ts = { .tv_nsec = ns < most ? (long)ns : (long)most };

	return syscall(SYS_futex, &page->changes, FUTEX_WAIT, changes, &ts, NULL, 0) != 0 &&
		errno == ETIMEDOUT;
}

/* What is asked for of a counter. */
struct question {
	const struct rte_comch_counter *counter;
	enum rte_comch_counter_cond cond;
	uint64_t value, mask;
};

static bool
is_met(const struct question *q)
{
	return rte_comch_counter_is(q->counter, q->cond, q->value, q->mask);
}

void
comch_counter_rest(void)
{
	const struct timespec ts = { .tv_nsec = NS_PER_MS };

	nanosleep(&ts, NULL);
}

void
comch_counter_nap(struct comch_counter_naps *naps, uint64_t value, bool was_full)
{
	if (was_full || value != naps->value)
		naps->nb_futile = 0;
	naps->value = value;
	if (++naps->nb_futile > FUTILE)
		comch_counter_rest();
}

static int
sleep_until(const struct question *q, int64_t end)
{
	struct comch_counter_page *page = q->counter->page;
	struct comch_counter_naps naps = { 0 };
	uint32_t changes;
	bool was_full;
	int64_t left;
	int ret = 0;

	comch_counter_sleep_begin(page);
	do {
		changes = comch_counter_changes(page);
		left = end - now_ns();
		if (is_met(q))
			left = 0;
		else if (left <= 0)
			ret = -ETIMEDOUT;
		if (left > 0) {
			was_full = sleep_ns(page, changes, left);
			comch_counter_nap(&naps, rte_comch_counter_get(q->counter), was_full);
		}
	} while (left > 0);
	comch_counter_sleep_end(page);
	return ret;
}

int
rte_comch_counter_wait(struct rte_comch_counter *counter, enum rte_comch_counter_cond cond,
		uint64_t value, uint64_t mask, int timeout_ms)
{
	const struct question q = { counter, cond, value, mask };
	unsigned int i;

	if (comch_forked)
		return -EBADFD;
	for (i = 0; i < LOOKS; i++) {
		if (is_met(&q))
			return 0;
		rte_pause();
	}
	return sleep_until(&q, timeout_ms < 0 ? INT64_MAX :
		now_ns() + (int64_t)timeout_ms * NS_PER_MS);
}
