/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sdk/comch_budget.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "sdk/comch_reaper.h"

/* Less than this takes no longer than to wake the thread. */
#define INLINE_LEN ((size_t)256 << 10)

struct job {
	void *addr;
	size_t len;
	uint64_t *used;
	struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static struct job *jobs;
static bool busy;
static enum { NO_THREAD, HAS_THREAD, REFUSED } thread;

static void
unmap(void *addr, size_t len, uint64_t *used)
{
	munmap(addr, len);
	if (used != NULL)
		comch_budget_give(used, len);
}

static comch_thread_ret_t
reaper_main(void *arg __rte_unused)
{
	struct job *job;

	pthread_mutex_lock(&lock);
	for (;;) {
		while ((job = jobs) == NULL) {
			busy = false;
			pthread_cond_broadcast(&idle);
			pthread_cond_wait(&wake, &lock);
		}
		jobs = job->next;
		busy = true;
		pthread_mutex_unlock(&lock);
		unmap(job->addr, job->len, job->used);
		free(job);
		pthread_mutex_lock(&lock);
	}
	return 0;
}

static bool
hand_over(struct job *job)
{
	pthread_mutex_lock(&lock);
	if (thread == NO_THREAD) {
		thread = comch_ctrl_thread("comch-reaper", reaper_main, NULL) == 0 ?
			HAS_THREAD : REFUSED;
		if (thread == REFUSED)
			COMCH_LOG(NOTICE, "no thread to unmap memory: polls do it themselves");
	}
	if (thread == HAS_THREAD) {
		job->next = jobs;
		jobs = job;
		pthread_cond_signal(&wake);
	}
	pthread_mutex_unlock(&lock);
	return thread == HAS_THREAD;
}

void
comch_reaper_unmap(void *addr, size_t len, uint64_t *used)
{
	struct job *job = NULL;

	/* A forked child does not have the thread, nor the memory (MADV_DONTFORK). */
	if (len > INLINE_LEN && !comch_forked)
		job = malloc(sizeof(*job));
	if (job != NULL) {
		*job = (struct job){ .addr = addr, .len = len, .used = used };
		if (hand_over(job))
			return;
		free(job);
	}
	unmap(addr, len, used);
}

void
comch_reaper_wait(void)
{
	if (comch_forked)
		return;
	pthread_mutex_lock(&lock);
	while (jobs != NULL || busy)
		pthread_cond_wait(&idle, &lock);
	pthread_mutex_unlock(&lock);
}
