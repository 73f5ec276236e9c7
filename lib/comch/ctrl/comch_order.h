/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_ORDER_H
#define COMCH_ORDER_H

/*
 * Messages of several clients in the order of their sending: what a poll and
 * a connection of an ordered server have for it. The how and why: comch_order.c.
 */

#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

struct comch_run;
struct rte_comch_conn;
struct comch_links;

/* Of an ordered connection. All: the poll's thread. */
struct comch_order {
	RB_ENTRY(comch_order) node; /* while it holds a message */
	struct rte_comch_conn *conn;
	uint64_t clock;       /* of the message held, or of the last one */
	uint32_t len;         /* its payload */
	bool holds;
	uint32_t round;       /* the last in which it was looked at */
	uint32_t left;        /* frames that it may have read in this round */
	uint32_t left_round;  /* which round that is */
	/* No message from here on is older than that: see comch_order_told(). */
	uint64_t floor;
	uint64_t next_floor;  /* the same for message next_from and all behind it */
	uint32_t next_from;
	bool has_next;
	uint32_t size;        /* of buf */
	uint8_t buf[];        /* a frame */
};

RB_HEAD(comch_order_tree, comch_order);
TAILQ_HEAD(comch_order_conns, rte_comch_conn);

/* Of all ordered connections of a poll. */
struct comch_order_links {
	struct comch_order_conns conns; /* that are established and ordered */
	struct comch_order_tree held;
	uint64_t until;       /* all links are looked at after this clock */
	uint32_t round;
	bool open;            /* the round is not over: a run was full */
};

void comch_order_init(struct comch_order_links *op);
/* A connection is about to be accepted. 0 or -ENOMEM. */
int comch_order_join(struct rte_comch_conn *conn);
/* It ends: what it holds is lost. */
void comch_order_leave(struct rte_comch_conn *conn);
/* The peer is about to be told of conn->rx_done: before rx_told moves. */
void comch_order_told(struct rte_comch_conn *conn);
/* A MSG_AT of so many payload bytes is in its buffer. */
void comch_order_hold(struct rte_comch_conn *conn, uint32_t len);
/* Receive from all, and deliver what is due. */
void comch_order_run(struct comch_links *links, struct comch_run *run);

#endif /* COMCH_ORDER_H */
