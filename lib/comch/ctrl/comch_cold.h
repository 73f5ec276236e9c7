/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_COLD_H
#define COMCH_COLD_H

/*
 * The connections of a poll that have been silent for a while. Each run looks at some of them, by
 * turns. Of a connection and its link, a look would touch six cache lines on four pages, which with
 * a thousand connections are in no cache. So what it needs lies here, side by side: where the next
 * frame will be, and the word that says that it is there. The poll's thread owns all of it.
 *
 * A queue: a look takes the first one and puts it at the end. Nobody gets ahead of those that wait,
 * so whatever other connections do, each has its turn when those have had theirs that were cold
 * before it. Where a connection is in the queue, a table of numbers says, and not the connection,
 * which a look does not touch. One that is not cold any more leaves a gap, which ends at its turn.
 */

#include <stdbool.h>
#include <stdint.h>

#include "ctrl/comch_conn.h"
#include "sdk/comch_peer.h"

#define COMCH_COLD_NO_SLOT UINT32_MAX

struct comch_cold {
	/* No frame is pending while the peer's word is not this value; NULL: ask the driver. */
	const uint64_t *peer_word;
	uint64_t value;
	struct rte_comch_conn *conn; /* NULL: a gap */
	uint32_t slot;               /* conn->cold_slot */
};

struct comch_cold_set {
	struct comch_cold *queue; /* a ring: head and tail are free-running */
	uint32_t *where;          /* by slot: the position in the queue; or the next free slot */
	uint32_t size;            /* of the queue, a power of two; of the table, half of it */
	uint32_t head;
	uint32_t tail;
	uint32_t nb;              /* cold connections: not gaps */
	uint32_t nb_slots;        /* in use at some time */
	uint32_t nb_users;        /* connections with a slot */
	uint32_t first_free;      /* slot that was in use */
};

void comch_cold_init(struct comch_cold_set *set);
/* Give the connection a slot; without memory it has none. It is not cold. */
void comch_cold_join(struct comch_cold_set *set, struct rte_comch_conn *conn);
/* Take the slot back, of a connection that is not cold. */
void comch_cold_leave(struct comch_cold_set *set, const struct rte_comch_conn *conn);
/* The connection is cold now. False: it has no slot. */
bool comch_cold_add(struct comch_cold_set *set, struct rte_comch_conn *conn);
/* It is not any more. */
void comch_cold_del(struct comch_cold_set *set, const struct rte_comch_conn *conn);

static inline struct comch_cold *
comch_cold_at(const struct comch_cold_set *set, uint32_t pos)
{
	return &set->queue[pos & (set->size - 1)];
}

/*
 * Whose turn it is, of a set with cold connections; NULL: it was a gap. Valid until a connection
 * joins, leaves or becomes cold.
 */
static inline const struct comch_cold *
comch_cold_next(struct comch_cold_set *set)
{
	const struct comch_cold *first = comch_cold_at(set, set->head++);
	struct comch_cold *last;

	if (first->conn == NULL)
		return NULL;
	/* The queue may be full: then it is the same place. */
	last = comch_cold_at(set, set->tail);
	*last = *first;
	set->where[last->slot] = set->tail++;
	return last;
}

/* Whether to ask the driver. It reads the word again, with acquire, before it reads a frame. */
static inline bool
comch_cold_may_have(const struct comch_cold *cold)
{
	return cold->peer_word == NULL || peer_load_relaxed_u64(cold->peer_word) == cold->value;
}

#endif /* COMCH_COLD_H */
