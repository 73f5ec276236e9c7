/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TD_H
#define TD_H

/*
 * Programs of DOCA for tests: a server, a client, producers and consumers that
 * count what happens to them. Both sides live in one process: $COMCH_ROLE is
 * asked whenever devices are listed.
 */

#include <stdbool.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "t.h"

/* A DOCA function that has to return this. */
#define TD_IS(expr, error) \
	do { \
		const doca_error_t td_r_ = (expr); \
		if (td_r_ != (error)) \
			T_FAIL("%s is %s, not %s", #expr, doca_error_get_name(td_r_), #error); \
	} while (0)
#define TD_OK(expr) TD_IS(expr, DOCA_SUCCESS)

#define TD_STATES 16
#define TD_CONNS 8

/* The states that a context went through. */
struct td_states {
	unsigned int nb;
	enum doca_ctx_states prev[TD_STATES];
	enum doca_ctx_states next[TD_STATES];
	union doca_data user_data;
	struct doca_ctx *ctx;
};

struct td_node;

/* What a test wants done within a callback, besides counting. */
struct td_hooks {
	void (*connected)(struct td_node *node, struct doca_comch_connection *conn);
	void (*disconnected)(struct td_node *node, struct doca_comch_connection *conn);
	void (*msg)(struct td_node *node, struct doca_comch_connection *conn, uint8_t *msg,
			uint32_t len);
	void (*sent)(struct td_node *node, struct doca_comch_task_send *task);
	void (*state)(struct td_node *node, enum doca_ctx_states next);
	void (*consumer)(struct td_node *node, uint32_t id);
	void (*consumer_gone)(struct td_node *node, uint32_t id);
};

/* A server or a client. It is its context's user data. */
struct td_node {
	struct td_states states;   /* first */
	struct doca_pe *pe;
	bool shares_pe;            /* it is another's */
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_comch_server *server; /* one of the two */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *conn; /* the newest */
	struct doca_comch_connection *conns[TD_CONNS];
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
	struct td_hooks hooks;
	void *arg;
};

/* Both sides, each with an engine. */
struct td {
	struct td_node server, client;
};

/* A device of a role by its PCI address, and a representor of it. */
struct doca_dev *td_dev_open(const char *role, const char *pci);
struct doca_dev_rep *td_rep_open(struct doca_dev *dev, const char *pci);

/* A server or client, configured, connected to an engine of its own, not started. */
void td_server_create(struct td_node *node, const char *name);
void td_client_create(struct td_node *node, const char *name);
/* The same on an engine that there is. */
void td_server_create_on(struct td_node *node, const char *name, struct doca_pe *pe);
void td_client_create_on(struct td_node *node, const char *name, struct doca_pe *pe);
/* IDLE, and gone, with engine and devices. */
void td_node_destroy(struct td_node *node);
/* The server or client is gone already: the rest. */
void td_node_cleanup(struct td_node *node);

/* A pair that is not started; one that is connected; its orderly end. */
void td_create(struct td *t);
void td_connect(struct td *t);
void td_open(struct td *t);
void td_close(struct td *t);

/* A progress of both; whether anything happened. */
bool td_progress(struct td *t);
#define TD_UNTIL(t, cond) \
	do { \
		const uint64_t td_end_ = t_now_ms() + T_TIMEOUT_MS; \
		while (!(cond)) { \
			td_progress(t); \
			if (t_now_ms() > td_end_) \
				T_FAIL("waiting for %s", #cond); \
		} \
	} while (0)

enum doca_ctx_states td_state(struct doca_ctx *ctx);

/* Send over a node's newest connection; the task comes back to be freed. */
struct doca_comch_task_send *td_task(struct td_node *node, const void *msg, uint32_t len);
void td_send(struct td_node *node, const void *msg, uint32_t len);

/* Memory with an mmap and an inventory over it. */
struct td_mem {
	uint8_t *addr;
	size_t len;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv;
};
void td_mem_create(struct td_mem *mem, struct doca_dev *dev, size_t len, uint32_t access);
void td_mem_destroy(struct td_mem *mem);
/* A buf of len bytes at offset off; with data, or empty. */
struct doca_buf *td_buf(struct td_mem *mem, size_t off, size_t len, bool data);

/* A producer or a consumer. It is its context's user data. */
struct td_queue {
	struct td_states states;   /* first */
	struct doca_pe *pe;
	struct doca_comch_producer *producer; /* one of the two */
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;
	unsigned int nb_done, nb_errors;
	doca_error_t status;       /* of the last */
	uint32_t producer_id;      /* consumer: of the last */
	uint32_t imm_len;
	uint8_t imm[32];
	bool keep_tasks;
	void (*done)(struct td_queue *q, struct doca_task *task);
	void (*state)(struct td_queue *q, enum doca_ctx_states next);
	void *arg;
};

/* On an engine, or on one of its own if pe is NULL; not started. */
void td_producer_create(struct td_queue *q, struct doca_comch_connection *conn,
		struct doca_pe *pe, uint32_t nb_tasks);
void td_consumer_create(struct td_queue *q, struct doca_comch_connection *conn,
		struct doca_mmap *mmap, struct doca_pe *pe, uint32_t nb_tasks);
/* Start a consumer and wait for RUNNING; id as the peer was told. */
uint32_t td_consumer_start(struct td *t, struct td_queue *q);
void td_post(struct td_queue *q, struct doca_buf *buf);
struct doca_task *td_put_task(struct td_queue *q, const struct doca_buf *buf, const void *imm,
		uint32_t imm_len, uint32_t id);
/* Submit until it is taken, with the progress of both sides. */
void td_put(struct td *t, struct td_queue *q, const struct doca_buf *buf, uint32_t id);
/* Stop, wait for IDLE, destroy. */
void td_queue_destroy(struct td *t, struct td_queue *q);

/* A pair with a consumer on the server's side and a producer on the client's,
 * each with an engine of its own.
 */
struct td_flow {
	struct td t;
	struct td_mem dst, src;
	struct td_queue c, p;
	uint32_t id;         /* of the consumer */
};
void td_flow_open(struct td_flow *f, size_t len, uint32_t nb_tasks);
void td_flow_close(struct td_flow *f);
bool td_flow_progress(struct td_flow *f);
#define TD_FLOW_UNTIL(f, cond) TD_UNTIL(&(f)->t, (td_flow_progress(f), (cond)))

#endif /* TD_H */
