/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Counters that a sync event and launches of kernels hold. */

#include <pthread.h>
#include <stdlib.h>

#include "accel/sync.h"

/* For nb_holders of all. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct impl_sync_word *
impl_sync_word_create(struct rte_comch_counter *counter)
{
	struct impl_sync_word *word = malloc(sizeof(*word));

	if (word == NULL)
		return NULL;
	word->counter = counter;
	word->nb_holders = 1;
	return word;
}

void
impl_sync_word_hold(struct impl_sync_word *word)
{
	pthread_mutex_lock(&lock);
	word->nb_holders++;
	pthread_mutex_unlock(&lock);
}

/* With the lock, which this releases. */
static void
drop_locked(struct impl_sync_word *word)
{
	bool is_last = --word->nb_holders == 0;

	pthread_mutex_unlock(&lock);
	if (!is_last)
		return;
	rte_comch_counter_free(word->counter);
	free(word);
}

void
impl_sync_word_drop(struct impl_sync_word *word)
{
	pthread_mutex_lock(&lock);
	drop_locked(word);
}

void
impl_sync_word_drop_set(struct impl_sync_word *word, uint64_t value)
{
	pthread_mutex_lock(&lock);
	rte_comch_counter_set(word->counter, value);
	drop_locked(word);
}

void
impl_sync_word_drop_add(struct impl_sync_word *word, uint64_t value)
{
	pthread_mutex_lock(&lock);
	rte_comch_counter_add(word->counter, value);
	drop_locked(word);
}

uint32_t
impl_sync_word_nb_holders(const struct impl_sync_word *word)
{
	uint32_t nb;

	pthread_mutex_lock(&lock);
	nb = word->nb_holders;
	pthread_mutex_unlock(&lock);
	return nb;
}
