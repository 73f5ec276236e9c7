/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENDS_H
#define ENDS_H

/*
 * One side of a connection that carries mbufs both ways: a server or a client, a consumer in
 * mbuf mode and a producer to the peer's consumer. The examples that embed the channel in a
 * pipeline share it; what they do with the mbufs is their own.
 *
 *     ends_open(&e, &conf)
 *     while (!ends_over(&e)) {
 *             ends_run(&e);
 *             if (ends_ready(&e))
 *                     use e.consumer and e.producer, with e.consumer_id
 *             else
 *                     stop using them, then:
 *                     ends_retire(&e);
 *     }
 *     ends_close(&e)
 *
 * A server serves one client after the other. All functions are for one thread; the
 * consumer and the producer may be used by others between the first ends_ready() that
 * returns true and the next one that returns false.
 */

#include <rte_comch_mbuf.h>

#include "../common/example.h"

/* Mbufs per burst. */
#define ENDS_BURST 32
/* Data per mbuf, without the headroom. */
#define ENDS_ROOM 2048

struct ends_conf {
	const char *dev;     /* Device string. */
	const char *name;    /* Of the server. */
	bool server;
	uint64_t nb_clients; /* Server: stop after this number of clients; 0: never. */
	uint64_t wait_ms;    /* Client: how long to wait for a server. */
	uint64_t queue;      /* Posted mbufs. */
};

struct ends {
	const struct ends_conf *conf;
	int16_t dev_id;
	struct rte_comch_poll *poll;
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;
	/* Of shareable memory: the peer writes straight into these mbufs. */
	struct rte_mempool *pool;
	struct rte_comch_consumer *consumer;
	struct rte_comch_producer *producer;
	uint32_t consumer_id; /* The peer's. */
	uint64_t nb_served;   /* Connections that have ended. */
	bool running;         /* The consumer can receive. */
	bool closing;
	bool idle;            /* The server or client has ended. */
	bool failed;
};

/* What both sides' programs have in common: defaults and options. */
#define ENDS_DEFAULTS \
	.name = "pipeline", .queue = 1024
#define ENDS_CLIENT_DEFAULTS \
	ENDS_DEFAULTS, .dev = "comch_shm0,role=host,func=pf0", .wait_ms = 10000
#define ENDS_OPTIONS_SERVER(conf) \
	EXAMPLE_TEXT('d', "dev", "DEVARGS", "device string", &(conf)->dev), \
	EXAMPLE_TEXT('n', "name", "NAME", "server name", &(conf)->name)
#define ENDS_OPTION_BUFFERS(conf) \
	EXAMPLE_NUMBER('B', "buffers", "N", "posted mbufs", &(conf)->queue, 32, 1 << 14)
#define ENDS_OPTION_WAIT(conf) \
	EXAMPLE_NUMBER('w', "wait", "MS", "how long to retry without a server, ms", \
			&(conf)->wait_ms, 0, UINT32_MAX)

/* Returns 0, or -1 after printing an error; call ends_close() in either case. */
int ends_open(struct ends *e, const struct ends_conf *conf);
void ends_close(struct ends *e);

/* Run the poll. Returns the number of events. */
uint16_t ends_run(struct ends *e);

/* Can consumer and producer be used? */
static inline bool
ends_ready(const struct ends *e)
{
	return e->running && e->consumer_id != 0 && !e->closing;
}

/* End the connection; a client ends with it. Returns at once. */
void ends_finish(struct ends *e);

/* While not ready: bring down what has ended, a step at a time. */
void ends_retire(struct ends *e);

static inline bool
ends_over(const struct ends *e)
{
	return e->idle;
}

#endif /* ENDS_H */
