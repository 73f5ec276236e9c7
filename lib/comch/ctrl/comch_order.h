/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ORDER_H
#define COMCH_ORDER_H

/*
 * Delivers messages of several clients in the order in which they were sent: state
 * of a poll and of a connection to an ordered server. The algorithm: comch_order.c.
 */

#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

struct comch_run;
struct rte_comch_conn;
struct comch_sched;

/* State of an ordered connection. Used by the poll's thread only. */
struct comch_order {
	RB_ENTRY(comch_order) node; /* in the tree while a message is held */
	struct rte_comch_conn *conn;
	uint64_t clock;       /* stamp of the held message, else of the last one */
	uint32_t len;         /* payload bytes of the held message */
	bool is_held;         /* buf has a message that waits for its turn */
	uint32_t round;       /* last round in which the link was read */
	uint32_t share;       /* frames that may still be read in share_round */
	uint32_t share_round;
	/* Lower bound of the stamps of following messages: see comch_order_note_ack(). */
	uint64_t floor;
	uint64_t next_floor;  /* lower bound from message number next_from on */
	uint32_t next_from;
	bool has_next;
	uint32_t size;        /* of buf */
	uint8_t buf[];        /* a frame */
};

RB_HEAD(comch_order_tree, comch_order);
TAILQ_HEAD(comch_order_conns, rte_comch_conn);

/* The ordered connections of a poll. */
struct comch_order_set {
	struct comch_order_conns conns; /* established and ordered */
	struct comch_order_tree held;
	uint64_t cutoff;                /* all links are read after this clock value */
	uint32_t round;
	bool round_open;                /* a full run interrupted the round */
};

void comch_order_init(struct comch_order_set *set);
/* Make a connection ordered, before ACCEPT is sent. Returns 0 or -ENOMEM. */
int comch_order_join(struct rte_comch_conn *conn);
/* The connection ends: drop its held message. */
void comch_order_leave(struct rte_comch_conn *conn);
/* Call before a frame acknowledges conn->rx_done, while rx_acked has its old value. */
void comch_order_note_ack(struct rte_comch_conn *conn);
/* Hold the MSG_AT in the connection's buffer, with len payload bytes. */
void comch_order_hold(struct rte_comch_conn *conn, uint32_t len);
/* Receive from all ordered connections, and deliver the messages that are due. */
void comch_order_run(struct comch_sched *sched, struct comch_run *run);

#endif /* COMCH_ORDER_H */
