/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_HOLDER_H
#define COMCH_HOLDER_H

/*
 * Counts the places of a server that each peer holds. A peer is a process (pid and uid). Clients of
 * unknown processes count as one peer: over RDMA, or per user in another pid namespace. Each peer
 * with connections, in any phase, has one holder. Runs in the poll's thread.
 *
 * A handshake costs a peer only a connect(), so it must not let one peer keep out others. If all
 * places are taken, the peer with the most loses its oldest handshake to the new client; of several
 * with equally many, the one that reached that number first. So a peer that opens silent
 * connections displaces its own, and one that uses many processes must take all places again before
 * a newcomer loses its place. No handshake is displaced within COMCH_HALF_OPEN_MIN_MS, as a process
 * may connect thousands of clients at once; until then new clients wait in the listener's queue.
 *
 * After the handshake, a client keeps its place as long as it likes. So the last places, the
 * reserve, are for processes that have none, and half of them for users that have none.
 */

#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "rte_comch_driver.h"

/*
 * Limit of a server's clients in the handshake; less if the process may have few
 * descriptors.
 */
#define COMCH_MAX_HALF_OPEN 4096
/* Time that each of them has at least, ms. */
#define COMCH_HALF_OPEN_MIN_MS 25

struct comch_holder {
	struct rte_comch_peer_id id;
	struct comch_quota *quota; /* NULL: the peer's process is unknown */
	uint32_t nb_conns;     /* in any phase */
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
	/* Holders with this many handshakes, in order of reaching it. */
	TAILQ_HEAD(, comch_holder) *rank;
};

/* Returns 0 or -ENOMEM. */
int comch_holders_init(struct comch_holders *holders, uint32_t max_half_open);
/* No connection is left. */
void comch_holders_free(struct comch_holders *holders);
/* A new connection of conn->peer, in the handshake. 0 or -ENOMEM. */
int comch_holder_join(struct comch_holders *holders, struct rte_comch_conn *conn);
/* Must a handshake end before another client can join? */
bool comch_holders_crowded(const struct comch_holders *holders);
/* The handshake to end first; NULL: none is old enough. */
struct rte_comch_conn *comch_holders_first(const struct comch_holders *holders);
/* Is a place free, or a handshake old enough to be displaced? */
bool comch_holders_can_join(const struct comch_holders *holders);
/* The handshake of the connection is over. Nothing happens if it was. */
void comch_holder_settle(struct comch_holders *holders, struct rte_comch_conn *conn);
enum comch_holder_answer {
	COMCH_HOLDER_YES,
	COMCH_HOLDER_FULL,          /* no place is left */
	COMCH_HOLDER_OTHER_PROCESS, /* the rest is reserved for others */
	COMCH_HOLDER_OTHER_USER,
	COMCH_HOLDER_NO_FD,         /* its share of descriptors is used up */
};
/*
 * The handshake is over: may the connection have one of *max* places, of which *reserve* are
 * reserved? If so, it keeps the place until it leaves.
 */
enum comch_holder_answer comch_holder_admit(struct comch_holders *holders,
		struct rte_comch_conn *conn, uint32_t max, uint32_t reserve);
/* The connection is freed. */
void comch_holder_leave(struct comch_holders *holders, struct rte_comch_conn *conn);

#endif /* COMCH_HOLDER_H */
