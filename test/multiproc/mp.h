/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MP_H
#define MP_H

/*
 * What the tests of several processes share: the two ends of a connection,
 * each an actor with an EAL and a node of its own, and one-line traffic.
 */

#include "t_main.h"
#include "t_pair.h"
#include "t_proc.h"

#define MP_NAME "multiproc"

/** One end, in its process. */
struct mp_end {
	struct t_node *node;
	int16_t dev;
	struct rte_comch_server *server; /**< One of the two. */
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;     /**< The first one. */
};

/* EAL, unless this process has joined one (mp_eal.h), device and node. */
void mp_node_open(struct mp_end *e, unsigned int number, const char *args);
/* The same and a server that runs. */
void mp_server_open(struct mp_end *e, const struct rte_comch_server_conf *conf);
/* Wait until one more client than *before* has connected: its connection. */
struct rte_comch_conn *mp_server_accept(struct mp_end *e, unsigned int before);
/* EAL, device, node and a client that is connected; it waits for a server. */
void mp_client_open(struct mp_end *e, const struct rte_comch_client_conf *conf);
void mp_client_connect(struct mp_end *e);
/* The one or the other, with a connection. */
void mp_end_open(struct mp_end *e, bool is_server);
void mp_close(struct mp_end *e);

/* Step all nodes until the director says so; the value said. */
uint64_t mp_hear(int fd, char code);

/* Send counted messages from *next* to *end*; stops when not taken. */
void mp_count_up(struct rte_comch_conn *conn, uint32_t *next, uint32_t end);
/* How many MSG events there are; they must count up from 0 without a gap. */
uint32_t mp_counted(const struct t_node *node, const struct rte_comch_conn *conn);
/* Each of the *taken* messages of a connection (NULL: of all) was reported: sent, unknown, or
 * too late. How many were sent.
 */
uint32_t mp_check_sent(const struct t_node *node, const struct rte_comch_conn *conn,
		uint32_t taken);

/** One end of a stream of counted, verified messages. */
struct mp_data {
	struct t_mem mem;
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	uint32_t id;      /**< Of the peer's consumer. */
	uint32_t len;     /**< Of each message; of the longest, if mixed. */
	bool mixed;       /**< Short ones, long ones, immediate data; set after opening. */
	uint32_t depth;
	uint64_t posted, got, flushed;
	uint64_t filled, sent, done, failed;
};

void mp_consumer_open(struct mp_data *d, struct mp_end *e, enum rte_comch_mem_kind kind,
		uint32_t len, uint32_t depth);
void mp_producer_open(struct mp_data *d, struct mp_end *e, uint32_t len);
/* The same to this consumer, not to the first one. */
void mp_producer_open_to(struct mp_data *d, struct mp_end *e, uint32_t len, uint32_t id);
/* Post up to *end* in all and take what is there, each verified. */
void mp_consume(struct mp_data *d, uint64_t end);
/* Write the contents up to message *end*, as far as there is room. */
void mp_fill(struct mp_data *d, uint64_t end);
/* Send up to *end* in all and take completions. */
void mp_produce(struct mp_data *d, uint64_t end);
void mp_data_close(struct mp_data *d);

#endif /* MP_H */
