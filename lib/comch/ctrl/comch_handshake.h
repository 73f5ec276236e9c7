/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_HANDSHAKE_H
#define COMCH_HANDSHAKE_H

/* How a connection comes up; see comch_handshake.c. The poll's thread. */

#include <stdbool.h>

struct comch_wire_frame;
struct rte_comch_conn;

/* DIALLING: try to connect. */
void comch_handshake_dial(struct rte_comch_conn *conn);
/* LINKING: the link is up. */
void comch_handshake_link(struct rte_comch_conn *conn);
void comch_handshake_hello(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
void comch_handshake_accept(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
void comch_handshake_reject(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
/* FULL: is there a place now? all_seen: no link that is down is still to be looked at. */
void comch_handshake_room(struct rte_comch_conn *conn, bool all_seen);
/* LINKING, HELLO: its time is over. */
void comch_handshake_timeout(struct rte_comch_conn *conn);

#endif /* COMCH_HANDSHAKE_H */
