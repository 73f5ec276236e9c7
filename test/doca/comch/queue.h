/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_QUEUE_H
#define COMCH_QUEUE_H

/* Producers and consumers of doca_comch for tests: they count what happens to them. */

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "comch/pair.h"
#include "common/memory.h"

/* A producer or a consumer. It is its context's user data. */
struct queue {
	struct state_log states;   /* first */
	struct doca_pe *pe;
	struct doca_comch_producer *producer; /* one of the two */
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;
	struct memory mem;         /* of consumer_open() */
	unsigned int nb_done, nb_errors;
	doca_error_t status;       /* of the last */
	uint32_t producer_id;      /* consumer: of the last */
	uint32_t imm_len;
	uint8_t imm[32];
	bool keep_tasks;
	void (*done)(struct queue *q, struct doca_task *task);
	void (*state)(struct queue *q, enum doca_ctx_states next);
	void *arg;
};

/* On an engine, or on one of its own if pe is NULL; not started. */
void producer_create(struct queue *q, struct doca_comch_connection *conn,
		struct doca_pe *pe, uint32_t nb_tasks);
void consumer_create(struct queue *q, struct doca_comch_connection *conn,
		struct doca_mmap *mmap, struct doca_pe *pe, uint32_t nb_tasks);
/* The same for a consumer of a side's connection with 4096 bytes of its own. */
void consumer_open(struct queue *q, struct side *side, struct doca_pe *pe, uint32_t nb_tasks);
/* Start a consumer and wait for RUNNING; id as the peer was told. */
uint32_t consumer_start(struct pair *t, struct queue *q);
/* A progress of its own engine, if it has one. */
bool queue_progress(struct queue *q);
void queue_post(struct queue *q, struct doca_buf *buf);
struct doca_task *queue_put_task(struct queue *q, const struct doca_buf *buf, const void *imm,
		uint32_t imm_len, uint32_t id);
/* Submit a send until it is taken, with the progress of both sides: what the consumer
 * posted may arrive later.
 */
void queue_submit(struct pair *t, struct doca_task *task);
void queue_put(struct pair *t, struct queue *q, const struct doca_buf *buf, uint32_t id);
/* Stop, wait for IDLE, destroy, with its memory. */
void queue_destroy(struct pair *t, struct queue *q);

/* A pair with a consumer on the server's side and a producer on the client's,
 * each with an engine of its own.
 */
struct flow {
	struct pair t;
	struct memory dst, src;
	struct queue c, p;
	uint32_t id;         /* of the consumer */
};
void flow_open(struct flow *f, size_t len, uint32_t nb_tasks);
/* The producer writes into the consumer's memory itself. */
void flow_open_shared(struct flow *f, size_t len, uint32_t nb_tasks);
void flow_close(struct flow *f);
/* FLOW_CASE(name, f, len, nb_tasks) { ... }: a case with one. */
#define FLOW_CASE(name, f, len, nb_tasks) \
	static void name##_begin(struct flow *f) \
	{ \
		flow_open(f, len, nb_tasks); \
	} \
	T_CASE_OF(struct flow, name##_begin, flow_close, name, f)
bool flow_progress(struct flow *f);

#endif /* COMCH_QUEUE_H */
