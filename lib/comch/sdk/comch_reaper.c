/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The thread that unmaps memory. */

#include <stdlib.h>
#include <sys/mman.h>

#include <rte_common.h>

#include "sdk/comch_budget.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "sdk/comch_reaper.h"
#include "sdk/comch_worker.h"

/* Unmapping less than this takes less time than waking the thread. */
#define INLINE_LEN ((size_t)256 << 10)

struct unmap_job {
	struct comch_job base; /* first */
	void *addr;
	size_t len;
	uint64_t *used;
};

static struct comch_worker reaper;

RTE_INIT(comch_reaper_init)
{
	comch_worker_init(&reaper, "comch-reaper");
}

static void
unmap(void *addr, size_t len, uint64_t *used)
{
	munmap(addr, len);
	if (used != NULL)
		comch_budget_give(used, len);
}

static void
run(struct comch_job *base)
{
	struct unmap_job *job = (struct unmap_job *)base;

	unmap(job->addr, job->len, job->used);
	free(job);
}

static bool
hand_over(struct unmap_job *job)
{
	static bool is_told;

	if (comch_worker_put(&reaper, &job->base))
		return true;
	if (!__atomic_exchange_n(&is_told, true, __ATOMIC_RELAXED))
		COMCH_LOG(NOTICE, "no thread to unmap memory: polls unmap it themselves");
	return false;
}

void
comch_reaper_unmap(void *addr, size_t len, uint64_t *used)
{
	struct unmap_job *job = NULL;

	/* A forked child has neither the thread nor the memory (MADV_DONTFORK). */
	if (len > INLINE_LEN && !comch_forked)
		job = malloc(sizeof(*job));
	if (job != NULL) {
		*job = (struct unmap_job){
			.base.run = run, .addr = addr, .len = len, .used = used,
		};
		if (hand_over(job))
			return;
		free(job);
	}
	unmap(addr, len, used);
}

void
comch_reaper_wait(void)
{
	if (!comch_forked)
		comch_worker_wait(&reaper);
}

uint64_t
comch_reaper_mark(void)
{
	return comch_forked ? 0 : comch_worker_mark(&reaper);
}

bool
comch_reaper_passed(uint64_t mark)
{
	return comch_forked || comch_worker_passed(&reaper, mark);
}
