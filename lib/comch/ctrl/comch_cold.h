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
 * A connection has a slot for as long as it has a link. Turns go from slot to slot, and a bitmap
 * skips those whose connections are not cold. Nothing moves: between two turns of one connection,
 * each other one has at most one, whatever they do.
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
	struct rte_comch_conn *conn;
};

/* conn->cold_slot is the slot of a connection. */
struct comch_cold_set {
	struct comch_cold *slots;
	uint64_t *cold;     /* bitmap of slots: the connection is cold */
	uint64_t *used;     /* bitmap of slots: there is a connection */
	uint32_t max_words; /* of each bitmap, that there is memory for */
	uint32_t nb_words;  /* of each bitmap, up to the last slot in use */
	uint32_t next;      /* slot: whose turn it is */
	uint32_t nb;        /* cold connections */
};

/* Give the connection a slot; without memory it has none. It is not cold. */
void comch_cold_join(struct comch_cold_set *set, struct rte_comch_conn *conn);
/* Take the slot back, of a connection that is not cold. */
void comch_cold_leave(struct comch_cold_set *set, const struct rte_comch_conn *conn);
/* The connection is cold now. False: it has no slot. */
bool comch_cold_add(struct comch_cold_set *set, struct rte_comch_conn *conn);
/* It is not any more. */
void comch_cold_del(struct comch_cold_set *set, const struct rte_comch_conn *conn);

/* The first cold one from this slot on, round robin, of a set with cold connections. */
static inline uint32_t
comch_cold_find(const struct comch_cold_set *set, uint32_t slot)
{
	uint32_t word = slot / 64;
	uint64_t bits = 0;

	if (word < set->nb_words)
		bits = set->cold[word] & (UINT64_MAX << (slot % 64));
	while (bits == 0) {
		word = word + 1 < set->nb_words ? word + 1 : 0;
		bits = set->cold[word];
	}
	return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* Whose turn it is, of a set with cold connections; valid until one joins or leaves. */
static inline const struct comch_cold *
comch_cold_next(struct comch_cold_set *set)
{
	const uint32_t slot = comch_cold_find(set, set->next);

	set->next = slot + 1;
	return &set->slots[slot];
}

/* Whether to ask the driver. It reads the word again, with acquire, before it reads a frame. */
static inline bool
comch_cold_may_have(const struct comch_cold *cold)
{
	return cold->peer_word == NULL || peer_load_relaxed_u64(cold->peer_word) == cold->value;
}

#endif /* COMCH_COLD_H */
