/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef QUEUE_H
#define QUEUE_H

/* The fast path between the victim and the attacker, which owns one half of each channel. */

#include "victim.h"

#define DEPTH 64
#define MEM_LEN 65536
#define STAGING 4096
/* The buffer that the victim posts, within its memory. */
#define IN_OFF 4096
#define IN_LEN 256

/* The victim's producer sends to the attacker's consumer. */
struct to_attacker {
	struct victim v;
	struct raw_peer a;
	struct rte_comch_conn *conn;
	struct rte_comch_producer *prod;
	struct t_mem src;
	struct raw_cons c;
	struct raw_mem m;        /* what the attacker shows: import 3 */
};

/* Shows the memory and the consumer, whose staging ring has this size. */
void out_open(struct to_attacker *t, uint32_t staging);
void out_close(struct to_attacker *t);
/* Send len bytes to the attacker's consumer: how many messages were taken, 0 or 1. */
uint16_t out_send(struct to_attacker *t, uint32_t len);

/* The attacker's producer sends to the victim's consumer. */
struct to_victim {
	struct victim v;
	struct raw_peer a;
	struct rte_comch_conn *conn;
	struct rte_comch_consumer *cons;
	struct t_mem dst;
	struct raw_mem rec;
	struct comch_rec_shared *shared;
	bool heap;
};

/* Until the consumer runs. heap: messages are staged. */
void in_open(struct to_victim *t, bool heap);
struct rte_comch_buf in_buf(const struct to_victim *t);
/* Post it n times, one by one. */
void in_post(struct to_victim *t, unsigned int n);
/* All has come back, and nothing but that buffer was written. */
void in_close(struct to_victim *t);

#endif /* QUEUE_H */
