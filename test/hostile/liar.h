/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LIAR_H
#define LIAR_H

/*
 * A malicious server attacks a client of the library. Another client, on the same poll, is
 * connected to a correct server: see victim.h.
 */

#include "victim.h"

#define LIAR "liar"
/* Runs of the clients' poll that a message to the honest one may take. */
#define LIAR_MAX_RUNS 10

struct liar {
	struct victim v;
	int listener;
	struct rte_comch_client *client; /* the attacked one */
	struct rte_comch_conn *conn;     /* its connection, once it is up */
	struct rte_comch_consumer *cons; /* on it, or NULL */
	struct t_mem mem;                /* of consumers */
	struct raw_peer a;
};

/* The honest ones, and a socket to listen on; their end. */
void liar_begin(struct liar *l);
void liar_end(struct liar *l);

/* A client that has connected to the liar's socket. */
void liar_connect(struct liar *l);
/* It has also said hello and sent its HELLO. */
void liar_link(struct liar *l);
/* It has also been accepted. */
void liar_up(struct liar *l);
/* It has also a consumer, whose memory it has shown; which it has announced. */
void liar_shown(struct liar *l);
void liar_offered(struct liar *l);

/* Has the client found out? */
bool liar_is_over(const struct liar *l);
/* The client ends with an error, which is returned, and a sentence. Closes the liar's end. */
int liar_close(struct liar *l);
/* A message from the honest server reaches its client soon, counted in runs. */
void liar_check_honest(struct liar *l);

#endif /* LIAR_H */
