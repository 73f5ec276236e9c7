/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_HANDSHAKE_H
#define COMCH_HANDSHAKE_H

/* The handshake of a connection. Runs in the poll's thread. */

#include <stdbool.h>

struct comch_wire_frame;
struct rte_comch_conn;

/* DIALLING: try to connect. */
void comch_handshake_dial(struct rte_comch_conn *conn);
/*
 * The link is DOWN. True: a driver has searched for the server in vain, and the client
 * dials again or has ended. False: there is another reason.
 */
bool comch_handshake_dial_over(struct rte_comch_conn *conn);
/* LINKING: the link is up. */
void comch_handshake_link(struct rte_comch_conn *conn);
void comch_handshake_hello(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
void comch_handshake_accept(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
void comch_handshake_reject(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
/* FULL: retry admission of a client. all_seen: every link that is down has been noticed. */
void comch_handshake_retry_admit(struct rte_comch_conn *conn, bool all_seen);
/* LINKING, HELLO, FULL: end it, as a newer client needs its place in the handshake. */
void comch_handshake_give_way(struct rte_comch_conn *conn);
/* LINKING, HELLO: the deadline has passed. */
void comch_handshake_timeout(struct rte_comch_conn *conn);

#endif /* COMCH_HANDSHAKE_H */
