/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef CC_PROGRAM_H
#define CC_PROGRAM_H

/*
 * Programs of doca_cc for tests. All is built for DOCA 2.5 and for 2.6 and written with the
 * names of 2.6; names_205.h has those that are others in 2.5.
 */

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>

#include "comch/queue.h"
#include "t_main.h"

#if COMCH_DOCA_GENERATION == 205
#include "cc/names_205.h"

typedef bool flag_t;
typedef size_t msg_len_t;
/* Tasks of producers and consumers are counted by logarithms. */
#define CC_QUEUE_TASKS 2
#else
typedef uint8_t flag_t;
typedef uint32_t msg_len_t;
#define CC_QUEUE_TASKS 4
#endif
#define CC_NB_TASKS 4

/* A server or a client. It is its context's user data. */
struct cc_side {
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
struct cc_queue {
	struct doca_cc_producer *producer; /* one of the two */
	struct doca_cc_consumer *consumer;
	struct doca_ctx *ctx;
	unsigned int nb_done, nb_errors;
};

/* A progress of two engines. */
static inline void
cc_progress(struct doca_pe *pe1, struct doca_pe *pe2)
{
	doca_pe_progress(pe1);
	doca_pe_progress(pe2);
}

/* t_cc.c: a server and a client, configured, not started; their end. */
void cc_server_create(struct cc_side *s);
void cc_client_create(struct cc_side *s);
void cc_side_destroy(struct cc_side *s);
struct cc_side *cc_side_of(const struct doca_cc_connection *conn);
/* A connected pair; its end. */
void cc_open(struct cc_side *server, struct cc_side *client);
void cc_close(struct cc_side *server, struct cc_side *client);
/* Configured, not started. */
void cc_producer_create(struct cc_queue *q, struct cc_side *s);
void cc_consumer_create(struct cc_queue *q, struct cc_side *s, struct doca_mmap *mmap);
void cc_queue_destroy(struct cc_queue *q, struct doca_pe *pe1, struct doca_pe *pe2);

/* program.c */

/* Callbacks, and CC_NB_TASKS tasks. */
void cc_server_conf(struct cc_side *s);
void cc_client_conf(struct cc_side *s);
void cc_producer_conf(struct cc_queue *q);
void cc_consumer_conf(struct cc_queue *q);
/* Tasks; the callback frees them. */
void cc_send(struct cc_side *s, const char *text);
void cc_post(struct cc_queue *q, struct doca_buf *buf);
struct doca_task *cc_put_task(struct cc_queue *q, struct doca_buf *buf, uint32_t id);

#endif /* CC_PROGRAM_H */
