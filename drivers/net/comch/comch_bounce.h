/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_BOUNCE_H
#define COMCH_BOUNCE_H

/*
 * Bounce buffers: receive buffers for a peer that cannot write to the application's pool.
 * They are memory that is shared with this peer alone, for one connection, and packets are
 * copied from there to mbufs. Without mbufs of their own: a packet costs one copy more, and
 * no second allocation.
 *
 * Set up and freed by the control thread. Otherwise used with the lock of the queue held.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include <rte_comch.h>
#include <rte_comch_dp.h>

/* Most packets that are received, or buffers that are posted, at a time. */
#define COMCH_BOUNCE_BURST 32

struct comch_bounce {
	uint8_t *mem;              /* NULL: not used */
	struct rte_comch_mr *mr;
	uint32_t nb;               /* buffers */
	uint16_t room;             /* bytes of a buffer */
	uint16_t group;            /* buffers to post together */
	uint16_t nb_spare;         /* copied from, to be posted again */
	uint16_t nb_held;          /* received, and not copied yet */
	uint16_t next_held;
	struct rte_comch_buf spare[COMCH_BOUNCE_BURST];
	struct rte_comch_cpl held[COMCH_BOUNCE_BURST];
};

/* Make nb buffers of room bytes. 0, or a negative errno. */
int comch_bounce_create(struct comch_bounce *b, uint32_t nb, uint16_t room);

/* 0, or -EBUSY: a consumer still uses the buffers. */
int comch_bounce_free(struct comch_bounce *b);

/* Post all buffers to a RUNNING consumer. */
void comch_bounce_post(struct comch_bounce *b, struct rte_comch_consumer *cons);

/* Receive, unless packets are held. Returns how many of them can be copied, at most n. */
uint16_t comch_bounce_fetch(struct comch_bounce *b, struct rte_comch_consumer *cons, uint16_t n);

/* Copy n packets that are held to mbufs of the pool. False: it has too few. */
bool comch_bounce_copy(struct comch_bounce *b, struct rte_comch_consumer *cons,
		struct rte_mempool *mp, struct rte_mbuf **pkts, uint16_t n);

/*
 * Drop the packets that are held, of a consumer that ends. Returns the number of frames that
 * end among them: a message that fills its buffer is followed by the rest of its frame.
 */
uint16_t comch_bounce_drop(struct comch_bounce *b);

#endif /* COMCH_BOUNCE_H */
