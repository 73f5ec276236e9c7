/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Registrations of the application's mempools. A pool is registered when a port first
 * sends from it, for all ports, and until the pool is freed: a producer may cache it.
 *
 * A transmit queue remembers a pool that is registered, and one that could not be. Both may
 * be wrong once a pool was freed, whether it was registered or not: another one may be at its
 * address, or there is room for one more.
 */

#include <errno.h>

#include <rte_errno.h>
#include <rte_mempool.h>

#include <rte_comch_mem.h>

#include "comch_ethdev.h"

#define MAX_POOLS 256

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rte_mempool *pools[MAX_POOLS]; /* registered here */
/* Not within pools_lock, which on_mempool() takes with EAL's list of callbacks locked. */
static pthread_mutex_t ports_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int nb_ports;
static uint32_t nb_changes; /* atomic */

static void
on_mempool(enum rte_mempool_event event, struct rte_mempool *mp, void *arg __rte_unused)
{
	unsigned int i;

	if (event != RTE_MEMPOOL_EVENT_DESTROY)
		return;
	pthread_mutex_lock(&pools_lock);
	for (i = 0; i < MAX_POOLS; i++) {
		if (pools[i] != mp)
			continue;
		if (rte_comch_mempool_unregister(mp) != 0)
			PMD_LOG(ERR, "mempool %s is freed while a port uses it", mp->name);
		pools[i] = NULL;
	}
	pthread_mutex_unlock(&pools_lock);
	/* Its memory is not free yet: no other pool is at its address. */
	__atomic_fetch_add(&nb_changes, 1, __ATOMIC_RELAXED);
}

uint32_t
comch_ethdev_pool_changes(void)
{
	/* Relaxed: who sends from a new pool has synchronised with who freed the old one. */
	return __atomic_load_n(&nb_changes, __ATOMIC_RELAXED);
}

bool
comch_ethdev_pool_register(struct rte_mempool *mp)
{
	unsigned int i = 0;
	bool ret = true;

	pthread_mutex_lock(&pools_lock);
	if (rte_comch_mempool_mr(mp) != NULL)
		goto unlock;
	while (i < MAX_POOLS && pools[i] != NULL)
		i++;
	/* Shared: several ports may use it, each with another peer. */
	ret = i < MAX_POOLS &&
		rte_comch_mempool_register(mp, RTE_COMCH_MEM_F_SHARED) != NULL;
	if (ret)
		pools[i] = mp;
	else
		PMD_LOG(ERR, "cannot register mempool %s: %s", mp->name,
			i == MAX_POOLS ? "too many pools" : rte_strerror(rte_errno));
unlock:
	pthread_mutex_unlock(&pools_lock);
	return ret;
}

void
comch_ethdev_pools_open(void)
{
	pthread_mutex_lock(&ports_lock);
	if (nb_ports++ == 0 && rte_mempool_event_callback_register(on_mempool, NULL) != 0)
		PMD_LOG(WARNING, "no callback for freed mempools, which stay registered: %s",
			rte_strerror(rte_errno));
	pthread_mutex_unlock(&ports_lock);
}

void
comch_ethdev_pools_close(void)
{
	unsigned int i;

	pthread_mutex_lock(&ports_lock);
	if (--nb_ports == 0) {
		rte_mempool_event_callback_unregister(on_mempool, NULL);
		pthread_mutex_lock(&pools_lock);
		for (i = 0; i < MAX_POOLS; i++)
			if (pools[i] != NULL && rte_comch_mempool_unregister(pools[i]) == 0)
				pools[i] = NULL;
		pthread_mutex_unlock(&pools_lock);
	}
	pthread_mutex_unlock(&ports_lock);
}
