/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <stdint.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "lcore.h"
#include "stream.h"

#define MAX_STREAMS 16

/** An lcore. Only the main lcore writes *streams*, *nb* and *quit*. */
struct lcore {
	struct tc_stream *streams[MAX_STREAMS];
	unsigned int nb;
	bool quit;
	uint64_t passes; /* written by the lcore itself */
} __rte_cache_aligned;

static struct lcore lcores[RTE_MAX_LCORE];

unsigned int
lcore_default(void)
{
	unsigned int worker = rte_get_next_lcore(-1, 1, 0);

	return worker < RTE_MAX_LCORE ? worker : rte_get_main_lcore();
}

unsigned int
lcore_nb_streams(unsigned int lcore)
{
	return lcores[lcore].nb;
}

/* Call each stream once. @return messages moved */
static uint32_t
pass(struct lcore *l)
{
	struct tc_stream *s;
	uint32_t moved = 0;
	unsigned int i;

	for (i = 0; i < MAX_STREAMS; i++) {
		/* Pairs with the release in lcore_add(): what the stream consists of. */
		s = __atomic_load_n(&l->streams[i], __ATOMIC_ACQUIRE);
		if (s != NULL)
			moved += tc_stream_pass(s);
	}
	/* Pairs with the acquire in lcore_remove(): the bursts of this pass. */
	__atomic_store_n(&l->passes, l->passes + 1, __ATOMIC_RELEASE);
	return moved;
}

static int
worker(void *arg)
{
	struct lcore *l = arg;

	while (!__atomic_load_n(&l->quit, __ATOMIC_RELAXED))
		if (pass(l) == 0)
			rte_pause();
	return 0;
}

int
lcore_add(unsigned int lcore, struct tc_stream *s)
{
	struct lcore *l = &lcores[lcore];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < MAX_STREAMS && l->streams[i] != NULL; i++)
		;
	if (i == MAX_STREAMS)
		return -ENOSPC;
	/* Pairs with the acquire in pass(). */
	__atomic_store_n(&l->streams[i], s, __ATOMIC_RELEASE);
	if (l->nb++ == 0 && lcore != rte_get_main_lcore()) {
		__atomic_store_n(&l->quit, false, __ATOMIC_RELAXED);
		ret = rte_eal_remote_launch(worker, l, lcore);
	}
	if (ret != 0) {
		l->streams[i] = NULL;
		l->nb--;
	}
	return ret;
}

void
lcore_remove(unsigned int lcore, struct tc_stream *s)
{
	struct lcore *l = &lcores[lcore];
	uint64_t seen;
	unsigned int i;

	for (i = 0; i < MAX_STREAMS && l->streams[i] != s; i++)
		;
	if (i == MAX_STREAMS)
		return;
	__atomic_store_n(&l->streams[i], NULL, __ATOMIC_SEQ_CST);
	l->nb--;
	if (lcore == rte_get_main_lcore())
		return;
	if (l->nb == 0) {
		/* EAL orders the end of worker() before the return. */
		__atomic_store_n(&l->quit, true, __ATOMIC_RELAXED);
		rte_eal_wait_lcore(lcore);
		return;
	}
	/* The pass that runs now may still use it, and the next one begins after the
	 * store. Pairs with the release in pass().
	 */
	seen = __atomic_load_n(&l->passes, __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&l->passes, __ATOMIC_ACQUIRE) < seen + 2)
		rte_pause();
}

bool
lcore_main_pass(void)
{
	struct lcore *l = &lcores[rte_get_main_lcore()];

	if (l->nb == 0)
		return false;
	pass(l);
	return true;
}
