/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_HOLDER_H
#define COMCH_HOLDER_H

/*
 * Which peer holds how many places of a server: a peer is a process, by pid and uid, or all
 * clients of unknown processes: over RDMA, or a user's in another pid namespace. There is one
 * holder per peer that has connections, in whatever phase. Runs in the poll's thread.
 *
 * Places of the handshake cost a peer nothing but a connect(), so they must not decide
 * who gets in. If all are taken, the peer that holds the most gives way: the oldest of
 * its handshakes ends, and the new one has its place. Of several that hold as many, the
 * one that came to hold so many first. So a peer that opens connections and says nothing
 * takes places from itself, and one that spreads them over many processes gives each
 * newcomer the time that it needs to take all places once more. Nobody gives way within
 * COMCH_HALF_OPEN_MIN_MS: a process may well connect thousands of clients at once. Until
 * then new clients wait in the listener's queue.
 *
 * Places after the handshake are for as long as a client likes. So the last ones, the
 * reserve, are for processes that have none; and half of the reserve, for users that have
 * none.
 */

#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "rte_comch_driver.h"

/*
 * Limit of clients of one server that are within the handshake; less if the process may
 * have few descriptors.
 */
#define COMCH_MAX_HALF_OPEN 4096
/* How long each of them has at least, ms. */
#define COMCH_HALF_OPEN_MIN_MS 25

struct comch_holder {
	struct rte_comch_peer_id id;
	struct comch_quota *quota; /* NULL: the peer is no process */
	uint32_t nb_conns;     /* in whatever phase */
	uint32_t nb_half_open; /* of nb_conns */
	uint32_t nb_places;    /* of nb_conns */
	TAILQ_HEAD(, rte_comch_conn) half_open; /* oldest first */
	RB_ENTRY(comch_holder) next;
	TAILQ_ENTRY(comch_holder) rank_next; /* in holders.rank[nb_half_open] */
};

/* The holders of a server. */
struct comch_holders {
	RB_HEAD(comch_holder_tree, comch_holder) all;
	uint32_t nb_half_open;
	uint32_t max_half_open;
	uint32_t nb_places;    /* taken by clients that were admitted */
	uint32_t most;         /* the highest rank in use */
	/* Those with as many handshakes, up to max_half_open; the one that came first, first. */
	TAILQ_HEAD(, comch_holder) *rank;
};

/* Returns 0 or -ENOMEM. */
int comch_holders_init(struct comch_holders *holders, uint32_t max_half_open);
/* All have left. */
void comch_holders_free(struct comch_holders *holders);
/* A new connection of conn->peer, within the handshake. 0 or -ENOMEM. */
int comch_holder_join(struct comch_holders *holders, struct rte_comch_conn *conn);
/* Must one go before another one joins? */
bool comch_holders_crowded(const struct comch_holders *holders);
/* Which one goes first, if one must? NULL: none may go yet. */
struct rte_comch_conn *comch_holders_first(const struct comch_holders *holders);
/* Is there room for another one, or one that may go? */
bool comch_holders_can_join(const struct comch_holders *holders);
/* The handshake of the connection is over. Nothing happens if it was. */
void comch_holder_settle(struct comch_holders *holders, struct rte_comch_conn *conn);
enum comch_holder_answer {
	COMCH_HOLDER_YES,
	COMCH_HOLDER_FULL,          /* no place is left */
	COMCH_HOLDER_OTHER_PROCESS, /* those left are for others */
	COMCH_HOLDER_OTHER_USER,
	COMCH_HOLDER_NO_FD,         /* it has its share of this process's descriptors */
};
/*
 * Its handshake is over: may the connection have one of *max* places, of which some are a
 * reserve? If so it has it until it leaves.
 */
enum comch_holder_answer comch_holder_admit(struct comch_holders *holders,
		struct rte_comch_conn *conn, uint32_t max, uint32_t reserve);
/* The connection is freed. */
void comch_holder_leave(struct comch_holders *holders, struct rte_comch_conn *conn);

#endif /* COMCH_HOLDER_H */
