/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TCC_H
#define TCC_H

/*
 * Programs of doca_cc for tests, as td.h has them of doca_comch. t_cc.c is
 * built for DOCA 2.5 and for 2.6; what has another name or type in the two is in
 * tcc_205.c and tcc_206.c.
 */

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>

#include "t_main.h"
#include "comch/pair.h"

/* A server or a client. It is its context's user data. */
struct tcc_side {
	struct doca_cc_server *server; /* one of the two */
	struct doca_cc_client *client;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_cc_connection *conn;
	unsigned int nb_connects, nb_disconnects;
	unsigned int nb_msgs, nb_sent, nb_send_errors;
	char msg[128];                 /* the last */
	size_t msg_len;
	unsigned int nb_new, nb_gone;
	uint32_t new_id;
};

/* A producer or a consumer, on the engine of its side. */
struct tcc_queue {
	struct doca_cc_producer *producer; /* one of the two */
	struct doca_cc_consumer *consumer;
	struct doca_ctx *ctx;
	unsigned int nb_done, nb_errors;
};

/* Progress of two engines until the condition is true. */
#define TCC_UNTIL(pe1, pe2, cond) \
	do { \
		const uint64_t tcc_end_ = t_now_ms() + T_TIMEOUT_MS; \
		while (!(cond)) { \
			doca_pe_progress(pe1); \
			doca_pe_progress(pe2); \
			if (t_now_ms() > tcc_end_) \
				T_FAIL("waiting for %s", #cond); \
		} \
	} while (0)

/* t_cc.c: a server and a client, configured, not started; their end. */
void tcc_server_create(struct tcc_side *s);
void tcc_client_create(struct tcc_side *s);
void tcc_side_destroy(struct tcc_side *s);
struct tcc_side *tcc_side_of(const struct doca_cc_connection *conn);
/* A connected pair; its end. */
void tcc_open(struct tcc_side *server, struct tcc_side *client);
void tcc_close(struct tcc_side *server, struct tcc_side *client);
/* Configured, not started. */
void tcc_producer_create(struct tcc_queue *q, struct tcc_side *s);
void tcc_consumer_create(struct tcc_queue *q, struct tcc_side *s, struct doca_mmap *mmap);
void tcc_queue_destroy(struct tcc_queue *q, struct doca_pe *pe1, struct doca_pe *pe2);

/* tcc_205.c, tcc_206.c */

/* Callbacks, and this many tasks. */
void tcc_server_conf(struct tcc_side *s);
void tcc_client_conf(struct tcc_side *s);
#define TCC_NB_TASKS 4
void tcc_producer_conf(struct tcc_queue *q);
void tcc_consumer_conf(struct tcc_queue *q);
/* Tasks; the callback frees them. */
void tcc_send(struct tcc_side *s, const char *text);
void tcc_post(struct tcc_queue *q, struct doca_buf *buf);
struct doca_task *tcc_put_task(struct tcc_queue *q, struct doca_buf *buf, uint32_t id);
/* Cases of the generation. */
extern const struct t_case tcc_cases[];
extern const unsigned int tcc_nb_cases;

#endif /* TCC_H */
