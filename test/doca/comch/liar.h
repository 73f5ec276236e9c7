/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_LIAR_H
#define COMCH_LIAR_H

/*
 * A malicious server attacks a client of doca_comch. Another client, on the same engine, is
 * connected to a correct server. Whatever the attacked program is told is compared with the
 * promises of the headers.
 */

#include "comch/queue.h"
#include "lies.h"
#include "runs.h"
#include "t_figures.h"

#define LIAR "liar"
/*
 * Progresses of the engine that a message to the honest client may take: ten runs, whose events
 * are handled one by one, 16 at most each.
 */
#define LIAR_MAX_RUNS (10 * 16)
/* Messages that the client sends, of which one waits for a credit; receives that its consumer
 * posts.
 */
#define LIAR_SENDS 3
#define LIAR_CREDITS 2
#define LIAR_POSTS 4
#define LIAR_TASKS 64
/* The length of each buffer. */
#define LIAR_LEN 256
/* What the producer can send at most. */
#define LIAR_SRC_LEN 65536
#define LIAR_MAX_CONSUMERS 1024

struct liar {
	struct pair honest;
	int listener;
	struct raw_peer a;
	struct side client;          /* attacked; client.client is NULL: not created */
	unsigned int nb_starts;      /* of this object */
	struct queue cons, prod;     /* on its connection */
	bool has_queues;
	unsigned int nb_puts;        /* sends to each consumer that is announced, if accepted */
	unsigned int nb_accepted;    /* of those, so far */
	struct memory mem;           /* of the consumer, which the attacker may map */
	struct memory src;           /* of the producer */
	struct doca_buf *to[LIAR_POSTS];
	struct doca_buf *from;       /* LIAR_LEN bytes */
	struct doca_task *out[LIAR_TASKS]; /* submitted, by number */
	uint32_t ids[LIAR_MAX_CONSUMERS];  /* that the program was told of */
	unsigned int nb_ids;
	bool answers;                /* the client: each message */
	bool is_shorter;             /* the server agreed to shorter messages */
	bool is_timed;               /* note how long each progress takes */
	struct runs runs;
	struct t_figures figures;    /* when all was honest */
	unsigned int raw_maps;       /* mappings of the attacker's memory */
	uint64_t heap;
};

/* The honest ones, and a socket to listen on; their end: nothing is left over. */
void liar_open(struct liar *l);
void liar_end(struct liar *l);
/* LIAR_CASE(name, l) { ... }: a case between both. */
#define LIAR_CASE(name, l) T_CASE_OF(struct liar, liar_open, liar_end, name, l)

/* One progress of both engines. */
bool liar_progress(struct liar *l);

/* Before the first of enum lie_step: connected to the liar's socket, and nothing was said. */
#define LIE_CONNECTED (-1)
/*
 * A client that is as far as the step says: from LIE_UP on it has sent LIAR_SENDS messages, from
 * LIE_SHOWN on it has a producer, and a consumer with LIAR_POSTS receives submitted.
 */
void liar_reach(struct liar *l, int step);
/* Its producer, and its consumer, which waits for answers. */
void liar_start_queues(struct liar *l);
/* The program stops both, and they become IDLE. */
void liar_stop_queues(struct liar *l);
/* Wait for a frame of this type; others are thrown away. */
void liar_hear(struct liar *l, struct raw_frame *f, uint32_t type);
/* A task whose end is awaited. It is freed if the submit fails. */
doca_error_t liar_submit(struct liar *l, struct doca_task *task);
/* One of the client's messages. */
void liar_send(struct liar *l, const void *msg, uint32_t len);
/* The server acknowledges all LIAR_SENDS, so that a stop does not wait for it. */
void liar_ack(struct liar *l);

/* Is the client IDLE? */
bool liar_is_over(const struct liar *l);
/* A message from the honest server reaches its client soon, and one comes back. */
void liar_check_honest(struct liar *l);
/* All is over without the program's doing: each task has come back, and the objects can be
 * destroyed. Closes the liar's end: before that, or (stop) after the program has stopped all.
 */
void liar_close(struct liar *l);
void liar_stop(struct liar *l);

#endif /* COMCH_LIAR_H */
