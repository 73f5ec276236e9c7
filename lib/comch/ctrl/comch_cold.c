/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Cold connections, see comch_cold.h. */

#include <stdlib.h>

#include <rte_common.h>

#include "ctrl/comch_cold.h"

/* Make room for more slots. False: no memory. */
static bool
grow(struct comch_cold_set *set)
{
	const uint32_t words = RTE_MAX(2 * set->max_words, UINT32_C(1));
	struct comch_cold *slots;
	uint64_t *bits;
	uint32_t i;

	/* The used ones lie behind the cold ones. */
	bits = calloc(2 * (size_t)words, sizeof(*bits));
	if (bits == NULL)
		return false;
	slots = realloc(set->slots, (size_t)words * 64 * sizeof(*slots));
	if (slots == NULL) {
		free(bits);
		return false;
	}
	for (i = 0; i < set->nb_words; i++) {
		bits[i] = set->cold[i];
		bits[words + i] = set->used[i];
	}
	free(set->cold);
	set->slots = slots;
	set->cold = bits;
	set->used = bits + words;
	set->max_words = words;
	return true;
}

/* The lowest free slot, so that those in use are close to one another. */
void
comch_cold_join(struct comch_cold_set *set, struct rte_comch_conn *conn)
{
	uint32_t word, bit;

	conn->cold_slot = COMCH_COLD_NO_SLOT;
	for (word = 0; word < set->nb_words && set->used[word] == UINT64_MAX; word++)
		;
	if (word == set->max_words && !grow(set))
		return;
	set->nb_words = RTE_MAX(set->nb_words, word + 1);
	bit = (uint32_t)__builtin_ctzll(~set->used[word]);
	set->used[word] |= UINT64_C(1) << bit;
	conn->cold_slot = word * 64 + bit;
}

void
comch_cold_leave(struct comch_cold_set *set, const struct rte_comch_conn *conn)
{
	const uint32_t slot = conn->cold_slot;

	if (slot == COMCH_COLD_NO_SLOT)
		return;
	set->used[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	while (set->nb_words > 0 && set->used[set->nb_words - 1] == 0)
		set->nb_words--;
	if (set->nb_words > 0)
		return;
	free(set->slots);
	free(set->cold);
	*set = (struct comch_cold_set){ 0 };
}

bool
comch_cold_add(struct comch_cold_set *set, struct rte_comch_conn *conn)
{
	const uint32_t slot = conn->cold_slot;
	struct comch_cold *cold;

	if (slot == COMCH_COLD_NO_SLOT)
		return false;
	cold = &set->slots[slot];
	cold->peer_word = conn->ops->frame_word(conn->link, &cold->value);
	cold->conn = conn;
	set->cold[slot / 64] |= UINT64_C(1) << (slot % 64);
	set->nb++;
	return true;
}

void
comch_cold_del(struct comch_cold_set *set, const struct rte_comch_conn *conn)
{
	set->cold[conn->cold_slot / 64] &= ~(UINT64_C(1) << (conn->cold_slot % 64));
	set->nb--;
}
