/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PAIR_H
#define COMCH_PAIR_H

/*
 * Servers and clients of doca_comch for tests: they count what happens to them. Both
 * sides live in one process, and COMCH_ROLE is read whenever devices are listed.
 */

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_pe.h>

#include "common/context.h"
#include "common/device.h"
#include "common/result.h"
#include "t_main.h"

/* The server of a pair. */
#define PAIR_NAME "pair"
#define SIDE_CONNS 8

struct side;

/* What a test wants done within a callback, besides counting. */
struct side_hooks {
	void (*connected)(struct side *side, struct doca_comch_connection *conn);
	void (*disconnected)(struct side *side, struct doca_comch_connection *conn);
	void (*msg)(struct side *side, struct doca_comch_connection *conn, uint8_t *msg,
			uint32_t len);
	void (*sent)(struct side *side, struct doca_comch_task_send *task);
	void (*state)(struct side *side, enum doca_ctx_states next);
	void (*consumer)(struct side *side, uint32_t id);
	void (*consumer_gone)(struct side *side, uint32_t id);
};

/* A server or a client. It is its context's user data. */
struct side {
	struct state_log states;   /* first */
	struct doca_pe *pe;
	bool shares_pe;            /* it is another's */
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_comch_server *server; /* one of the two */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *conn; /* the newest */
	struct doca_comch_connection *conns[SIDE_CONNS];
	unsigned int nb_connects, nb_disconnects;
	unsigned int nb_msgs;
	uint64_t msg_bytes;
	uint8_t msg[4096];         /* the last */
	uint32_t msg_len;
	unsigned int nb_sent, nb_send_errors;
	doca_error_t send_status;  /* the last */
	union doca_data sent_data; /* its task's */
	bool keep_tasks;           /* tasks that come back are not freed */
	unsigned int nb_new, nb_gone;
	uint32_t new_id, gone_id;
	struct side_hooks hooks;
	void *arg;
};

/* Both sides, each with an engine. */
struct pair {
	struct side server, client;
};

/* A server or client, configured, connected to an engine of its own, not started. */
void server_create(struct side *side, const char *name);
void client_create(struct side *side, const char *name);
/* The same on an engine that there is. */
void server_create_on(struct side *side, const char *name, struct doca_pe *pe);
void client_create_on(struct side *side, const char *name, struct doca_pe *pe);
/* The same of the second function of the host. */
void server_create_second(struct side *side, const char *name);
void client_create_second(struct side *side, const char *name);
/* IDLE, and gone, with engine and devices. */
void side_destroy(struct side *side);
/* The server or client is gone already: the rest. */
void side_cleanup(struct side *side);

/* A pair that is not started; one that is connected; its orderly end. */
void pair_create(struct pair *t);
void pair_connect(struct pair *t);
void pair_open(struct pair *t);
void pair_close(struct pair *t);

/* PAIR_CASE(name, t) { ... }: a case with a pair that is connected; with one that is not
 * started. In the end it is closed.
 */
#define PAIR_CASE(name, t) T_CASE_OF(struct pair, pair_open, pair_close, name, t)
#define PAIR_CASE_CREATED(name, t) T_CASE_OF(struct pair, pair_create, pair_close, name, t)

/* A progress of both; whether anything happened. */
bool pair_progress(struct pair *t);
/* Send over a side's newest connection; the task comes back to be freed. */
struct doca_comch_task_send *side_task(struct side *side, const void *msg, uint32_t len);
void side_send(struct side *side, const void *msg, uint32_t len);
/* Forty messages each way, on their way. */
void pair_traffic(struct pair *t);

#endif /* COMCH_PAIR_H */
