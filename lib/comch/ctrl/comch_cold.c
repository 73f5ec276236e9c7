/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Cold connections, see comch_cold.h. */

#include <stdlib.h>

#include "ctrl/comch_cold.h"

#define SIZE_MIN 16

void
comch_cold_init(struct comch_cold_set *set)
{
	*set = (struct comch_cold_set){ .first_free = COMCH_COLD_NO_SLOT };
}

/* Move the queue to this memory, a ring of so many, without its gaps. It may be its own. */
static void
repack(struct comch_cold_set *set, struct comch_cold *queue, uint32_t size)
{
	const struct comch_cold *from;
	uint32_t pos, end = set->head;

	for (pos = set->head; pos != set->tail; pos++) {
		from = comch_cold_at(set, pos);
		if (from->conn == NULL)
			continue;
		set->where[from->slot] = end;
		queue[end++ & (size - 1)] = *from;
	}
	set->tail = end;
}

/* Make room for more slots, if there is memory. */
static void
grow(struct comch_cold_set *set)
{
	const uint32_t size = RTE_MAX(2 * set->size, (uint32_t)SIZE_MIN);
	struct comch_cold *queue;
	uint32_t *where;

	where = realloc(set->where, size / 2 * sizeof(*where));
	if (where == NULL)
		return;
	set->where = where;
	queue = malloc(size * sizeof(*queue));
	if (queue == NULL)
		return;
	repack(set, queue, size);
	free(set->queue);
	set->queue = queue;
	set->size = size;
}

void
comch_cold_join(struct comch_cold_set *set, struct rte_comch_conn *conn)
{
	uint32_t slot = set->first_free;

	conn->cold_slot = COMCH_COLD_NO_SLOT;
	if (slot != COMCH_COLD_NO_SLOT) {
		set->first_free = set->where[slot];
	} else {
		if (set->nb_slots == set->size / 2)
			grow(set);
		if (set->nb_slots == set->size / 2)
			return;
		slot = set->nb_slots++;
	}
	set->nb_users++;
	conn->cold_slot = slot;
}

void
comch_cold_leave(struct comch_cold_set *set, const struct rte_comch_conn *conn)
{
	if (conn->cold_slot == COMCH_COLD_NO_SLOT)
		return;
	set->where[conn->cold_slot] = set->first_free;
	set->first_free = conn->cold_slot;
	if (--set->nb_users > 0)
		return;
	free(set->queue);
	free(set->where);
	comch_cold_init(set);
}

bool
comch_cold_add(struct comch_cold_set *set, struct rte_comch_conn *conn)
{
	struct comch_cold *cold;

	if (conn->cold_slot == COMCH_COLD_NO_SLOT)
		return false;
	/* At least half of it are gaps: no more connections are cold than have a slot. */
	if (set->tail - set->head == set->size)
		repack(set, set->queue, set->size);
	cold = comch_cold_at(set, set->tail);
	cold->peer_word = conn->ops->frame_word(conn->link, &cold->value);
	cold->conn = conn;
	cold->slot = conn->cold_slot;
	set->where[conn->cold_slot] = set->tail++;
	set->nb++;
	return true;
}

void
comch_cold_del(struct comch_cold_set *set, const struct rte_comch_conn *conn)
{
	comch_cold_at(set, set->where[conn->cold_slot])->conn = NULL;
	set->nb--;
}
