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
 * One of them sees the other's store, so no wake-up is lost. Between processes only the
 * sleeper's process writes its armed word: any new value asks, and the publisher remembers
 * the last value that it answered. Within a process the publisher takes the word back.
 * mlx5_prod.c has an armed word of its own: there the publisher is the device.
 *
 * Between processes the publisher publishes all the time, and its fence is light if both ends
 * can (comch_asym.h): then the sleeper's is heavy. That one interrupts all CPUs that run either
 * process, which takes up to 50 us on a virtual machine. So a sleeper that sleeps often asks
 * for fences as well, by a flag in its word:
 *
 *   sleeper                             publisher
 *   arm, with the flag                  publish
 *   heavy fence if the flag is new,     light fence
 *     else a fence                      flag? fence, and look again
 *   look for what was published         armed? wake the sleeper
 *
 * A publisher that saw the word without the flag saw it before the heavy fence, so that fence
 * has made visible what it published before. Model: wake.pml, ASKED. A sleeper that stays awake
 * for some time takes the flag away.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "sdk/comch_asym.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_peer.h"

/* How publishers of a link fence; with none of these they always do. */
#define COMCH_FENCES_LIGHT UINT8_C(1) /* they do not: the peer's sleepers make up for it */
#define COMCH_FENCES_ASKED UINT8_C(2) /* also: they do while the word has the flag */

/* Flags of armed words. Any change of the other bits asks for a wake-up. */
#define COMCH_ARMED_CREDITS UINT32_C(1) /* of links: credits wake it, too */
#define COMCH_ARMED_FENCE   UINT32_C(2)
#define COMCH_ARMED_STEP    UINT32_C(4)

/* Those of both ends; heeds: both know COMCH_ARMED_FENCE. */
static inline uint8_t
comch_armed_fences(bool light, bool heeds)
{
	return light ? COMCH_FENCES_LIGHT | (heeds ? COMCH_FENCES_ASKED : 0) : 0;
}

/* Ask for a wake-up. True: the caller's fence must be heavy. */
static inline bool
comch_armed_ask(uint32_t *word, uint8_t fences, uint32_t flags)
{
	const uint32_t before = *word;
	const bool asks = (fences & COMCH_FENCES_ASKED) != 0;

	if (asks)
		flags |= COMCH_ARMED_FENCE;
	comch_store_relaxed(word,
		((before & ~(COMCH_ARMED_STEP - 1)) + COMCH_ARMED_STEP) | flags);
	return asks ? (before & COMCH_ARMED_FENCE) == 0 : fences != 0;
}

/*
 * The same for a word of several sleepers. It has no flags: one that finds FENCE would have to know
 * that the heavy fence of the one that set it is over.
 */
static inline bool
comch_armed_ask_shared(uint32_t *word, uint8_t fences)
{
	__atomic_fetch_add(word, COMCH_ARMED_STEP, __ATOMIC_RELAXED);
	return fences != 0;
}

/* The sleeper stays awake: publishers need not fence. Words of idle links stay untouched. */
static inline void
comch_armed_rest(uint32_t *word)
{
	if ((*word & COMCH_ARMED_FENCE) != 0)
		comch_store_relaxed(word, *word & ~COMCH_ARMED_FENCE);
}

/* After publishing. Is there a value that was not answered? It is in *value then, less the flag. */
static __rte_always_inline bool
comch_armed_asks(const uint32_t *peer_word, uint8_t fences, const uint32_t *answered,
		uint32_t *value)
{
	/* W: the publication is visible before the word is read. Model: wake.pml, publish. */
	comch_fence_publish(fences != 0);
	*value = peer_load_relaxed_u32(peer_word);
	/* An answered value is without the flag. */
	if (likely(*value == comch_load_relaxed(answered)))
		return false;
	if ((fences & COMCH_FENCES_ASKED) == 0)
		return true;
	if ((*value & COMCH_ARMED_FENCE) != 0) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* wake.pml, publish */
		/* peer-read: the first value has said only that the fence was missing. */
		*value = peer_load_relaxed_u32(peer_word);
	}
	*value &= ~COMCH_ARMED_FENCE;
	return *value != comch_load_relaxed(answered);
}

/* The same for a publisher of one thread, which answers it now. */
static __rte_always_inline bool
comch_armed_answer(const uint32_t *peer_word, uint8_t fences, uint32_t *answered)
{
	uint32_t value;

	if (likely(!comch_armed_asks(peer_word, fences, answered, &value)))
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
