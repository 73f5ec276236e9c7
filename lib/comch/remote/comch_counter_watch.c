/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Watches: a thread that sleeps for updates of many counters, and wakes polls.
 *
 * It begins with the first watch, and ends with the process. It sleeps by futex_waitv(2), in all
 * counters and in a word of its own, which says that there is another watch; where that call does
 * not exist (Linux 5.16) or is filtered, and beyond its limit, it looks each millisecond. Without a
 * watch it sleeps.
 *
 * A watch ends with its wake-up. A child of fork() has no watches, and a thread of its own.
 */

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_comch_poll.h>

#include "base/comch_fork_notes.h"
#include "remote/comch_counter.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_fork.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
/* Of the kernel: FUTEX_WAITV_MAX, FUTEX_32, and its structure, which older headers do not have. */
#define WAITS 128
#define SIZE_32 2
struct wait_word {
	uint64_t expected;
	uint64_t addr;
	uint32_t flags;
	uint32_t zero;
};

#define NS_PER_MS 1000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, rte_comch_counter) watched = TAILQ_HEAD_INITIALIZER(watched);
/* The thread's own word. */
static uint32_t renewed;
/* Watches that have ended, with the lock. */
static uint64_t nb_ended;
static bool runs;

static void
reset(void *arg)
{
	RTE_SET_USED(arg);
	pthread_mutex_init(&lock, NULL);
	TAILQ_INIT(&watched);
	runs = false;
}

static void
watches_before_fork(struct comch_registry_entry *entry)
{
	RTE_SET_USED(entry);
	comch_fork_note_call(reset, NULL);
}

static COMCH_REGISTRY_SERVICE(watches, watches_before_fork)

/* With the lock. */
static void
end_watch(struct rte_comch_counter *counter)
{
	TAILQ_REMOVE(&watched, counter, next_watched);
	counter->poll = NULL;
	nb_ended++;
	comch_counter_sleep_end(counter->page);
}

static struct wait_word
word_of(uint32_t *word, uint32_t expected)
{
	return (struct wait_word){
		.expected = expected, .addr = (uintptr_t)word, .flags = SIZE_32,
	};
}

/*
 * Wake those whose counter has changed; of the others, what to sleep for. Returns the number of
 * counters, which may be more than words.
 */
static unsigned int
look(struct wait_word *words)
{
	struct rte_comch_counter *counter, *next;
	unsigned int nb = 0;
	uint32_t changes;

	TAILQ_FOREACH_SAFE(counter, &watched, next_watched, next) {
		changes = comch_counter_changes(counter->page);
		if (rte_comch_counter_get(counter) != counter->seen) {
			rte_comch_poll_notify(counter->poll);
			end_watch(counter);
			continue;
		}
		if (nb < WAITS - 1)
			words[nb] = word_of(&counter->page->changes, changes);
		nb++;
	}
	return nb;
}

/*
 * Sleep in these words of counters and in ours, which was own; with others, not for long. True: as
 * long as that.
 */
static bool
sleep_in(struct wait_word *words, unsigned int nb, uint32_t own)
{
	struct timespec until;

	if (nb == 0) {
		syscall(SYS_futex, &renewed, FUTEX_WAIT, own, NULL, NULL, 0);
		return false;
	}
	words[nb] = word_of(&renewed, own);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)RTE_COMCH_COUNTER_LOOK_MS * NS_PER_MS;
	until.tv_sec += until.tv_nsec / (1000 * NS_PER_MS);
	until.tv_nsec %= 1000 * NS_PER_MS;
	if (syscall(SYS_futex_waitv, words, nb + 1, 0, &until, CLOCK_MONOTONIC) >= 0)
		return false;
	if (errno == EAGAIN || errno == EINTR)
		return false;
	if (errno != ETIMEDOUT)
		comch_counter_rest();
	return true;
}

static comch_thread_ret_t
serve(void *arg)
{
	struct comch_counter_naps naps = { 0 };
	struct wait_word words[WAITS];
	unsigned int nb;
	uint64_t ends;
	bool was_full;
	uint32_t own;

	RTE_SET_USED(arg);
	for (;;) {
		pthread_mutex_lock(&lock);
		own = renewed;
		nb = look(words);
		ends = nb_ended + own;
		pthread_mutex_unlock(&lock);
		was_full = nb > WAITS - 1;
		if (was_full)
			comch_counter_rest();
		else
			was_full = sleep_in(words, nb, own);
		/* Who only makes it look again does not get all of a core, and the lock. */
		comch_counter_nap(&naps, ends, was_full);
	}
	return (comch_thread_ret_t)0;
}

/* With the lock. */
static int
start(void)
{
	int ret;

	if (runs)
		return 0;
	ret = comch_ctrl_thread("comch-counter", serve, NULL);
	runs = ret == 0;
	return ret == 0 ? 0 : -EAGAIN;
}

int
rte_comch_counter_watch(struct rte_comch_counter *counter, uint64_t seen,
		struct rte_comch_poll *poll)
{
	int ret;

	if (counter == NULL || counter->page == NULL || poll == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	pthread_mutex_lock(&lock);
	ret = start();
	if (ret == 0 && counter->poll == NULL) {
		comch_counter_sleep_begin(counter->page);
		TAILQ_INSERT_TAIL(&watched, counter, next_watched);
	}
	if (ret == 0) {
		counter->poll = poll;
		counter->seen = seen;
		/* The lock orders it, and the kernel compares it. */
		__atomic_fetch_add(&renewed, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	if (ret == 0)
		syscall(SYS_futex, &renewed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return ret;
}

void
rte_comch_counter_unwatch(struct rte_comch_counter *counter)
{
	if (counter == NULL || comch_forked)
		return;
	pthread_mutex_lock(&lock);
	if (counter->poll != NULL)
		end_watch(counter);
	pthread_mutex_unlock(&lock);
}
