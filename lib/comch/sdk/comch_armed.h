/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ARMED_H
#define COMCH_ARMED_H

/*
 * How a sleeper asks for one wake-up.
 *
 *   sleeper                             publisher
 *   arm                                 publish
 *   fence                               fence
 *   look for what was published         armed? wake the sleeper
 *
 * One of them sees the other's store, so no wake-up is lost (comch_asym.h has the
 * fences). Between processes only the sleeper's process writes its armed word: any new
 * value asks, and the publisher remembers the last value that it answered. Within a
 * process the publisher takes the word back. mlx5_prod.c has an armed word of its
 * own: there the publisher is the device.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_peer.h"

/* Between processes. The bits of mask carry flags; a new value differs in the others. */
static inline void
comch_armed_ask(uint32_t *word, uint32_t mask, uint32_t flags)
{
	comch_store_relaxed(word, ((*word | mask) + 1) | flags);
}

/* The same for a word of several sleepers. Without flags. */
static inline void
comch_armed_ask_shared(uint32_t *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

/* Is there a value that was not answered? It is in *value then. */
static inline bool
comch_armed_asks(const uint32_t *peer_word, const uint32_t *answered, uint32_t *value)
{
	*value = peer_load_relaxed_u32(peer_word);
	return unlikely(*value != comch_load_relaxed(answered));
}

/* The same for a publisher of one thread, which answers it now. */
static inline bool
comch_armed_answer(const uint32_t *peer_word, uint32_t *answered)
{
	uint32_t value;

	if (likely(!comch_armed_asks(peer_word, answered, &value)))
		return false;
	*answered = value;
	return true;
}

/* Within a process: the sleeper's word is 1. */
static inline void
comch_armed_set(uint32_t *word, uint32_t armed)
{
	comch_store_relaxed(word, armed);
}

/* Take it: one publisher of all wakes the sleeper. */
static inline bool
comch_armed_take(uint32_t *word)
{
	return unlikely(comch_load_relaxed(word) != 0) &&
		__atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL) != 0; /* publish.pml, find */
}

#endif /* COMCH_ARMED_H */
