/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MSGQ_ENDS_H
#define MSGQ_ENDS_H

/* A MsgQ in tests: ends on the CPU that count, ends on the DPA, device calls by RPC. */

#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dpa_dev_comch_msgq.h>
#include <doca_pe.h>

#include "common/context.h"
#include "dpa/program.h"

#define MSGQ_TASKS 64

/* An end on the CPU, or the handles of one on the DPA. */
struct msgq_consumer {
	struct doca_pe *pe;
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;
	uint32_t id;
	struct doca_comch_consumer_task_post_recv *tasks[MSGQ_TASKS];
	unsigned int nb_recv, nb_errors;
	uint8_t imm[32];                     /* the last */
	uint32_t imm_len, producer_id;
	void (*on_recv)(struct msgq_consumer *c);
	void *arg;
	/* on the DPA */
	struct doca_comch_consumer_completion *comp;
	doca_dpa_dev_comch_consumer_t handle;
	doca_dpa_dev_comch_consumer_completion_t comp_handle;
};

struct msgq_producer {
	struct doca_pe *pe;
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;
	uint32_t id;
	unsigned int nb_sent, nb_errors;
	doca_error_t status;                 /* the last */
	/* on the DPA */
	struct doca_dpa_completion *comp;
	doca_dpa_dev_comch_producer_t handle;
	doca_dpa_dev_completion_t comp_handle;
};

enum msgq_way {
	MSGQ_CPU,
	MSGQ_TO_DPA,
	MSGQ_FROM_DPA,
};

struct msgq {
	enum msgq_way way;
	struct doca_dpa *dpa;
	struct doca_comch_msgq *msgq;
	struct doca_dpa_thread *thread;      /* of what is on the DPA */
	struct msgq_consumer c;
	struct msgq_producer p;
};

/* A MsgQ that is started, with as many ends as asked for. */
struct doca_comch_msgq *msgq_create(struct doca_dev *dev, struct doca_dpa *dpa,
		enum msgq_way way, uint32_t nb_consumers, uint32_t nb_producers);
/* Ends of it, running. The completions belong to the caller. */
void msgq_consumer_on_cpu(struct msgq_consumer *c, struct doca_comch_msgq *msgq,
		struct doca_pe *pe);
void msgq_consumer_on_dpa(struct msgq_consumer *c, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_comch_consumer_completion *comp,
		uint32_t max_recv);
void msgq_producer_on_cpu(struct msgq_producer *p, struct doca_comch_msgq *msgq,
		struct doca_pe *pe);
void msgq_producer_on_dpa(struct msgq_producer *p, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_dpa_completion *comp);
void msgq_consumer_end(struct msgq_consumer *c);
void msgq_producer_end(struct msgq_producer *p);
/* Completions, started. */
struct doca_comch_consumer_completion *msgq_consumer_completion(struct doca_dpa_thread *thread,
		uint32_t nb_consumers, uint32_t max_recv);
struct doca_dpa_completion *msgq_completion(struct doca_dpa *dpa,
		struct doca_dpa_thread *thread);

/* All of it: one end each, on a DPA whose thread runs a kernel (of one argument). */
void msgq_open(struct msgq *m, struct doca_dpa_app *app, enum msgq_way way,
		doca_dpa_func_t *kernel, uint64_t arg);
void msgq_close(struct msgq *m);

/* Post receives of a consumer on the CPU; send a message from one. AGAIN: as submit. */
void msgq_post(struct msgq_consumer *c, unsigned int n);
doca_error_t msgq_send(struct msgq_producer *p, uint32_t consumer_id, const void *imm,
		uint32_t len);
doca_error_t msgq_send_u64(struct msgq_producer *p, uint32_t consumer_id, uint64_t val);
/* Until it is taken. */
void msgq_send_all(struct msgq_producer *p, uint32_t consumer_id, uint64_t val);

/* Run a function as device code, in an RPC: its result, or a fault. */
struct msgq_call {
	uint64_t (*fn)(void *arg);
	void *arg;
};
uint64_t msgq_rpc(uint64_t call);
doca_error_t msgq_run(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg, uint64_t *ret);

/* The function is a fault, the first one of the context. */
void msgq_is_fault(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg);

#define MSGQ_RUN(dpa, fn, arg) \
	({ \
		uint64_t ret_ = 0; \
		T_OK(msgq_run(dpa, fn, arg, &ret_)); \
		ret_; \
	})

#endif /* MSGQ_ENDS_H */
