/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TMSGQ_H
#define TMSGQ_H

/* A MsgQ in tests: ends on the CPU that count, ends on the DPA, device calls by RPC. */

#include <doca_comch_msgq.h>
#include <doca_dpa_dev_comch_msgq.h>

#include "dpa/program.h"

#define TMSGQ_TASKS 64

/* An end on the CPU, or the handles of one on the DPA. */
struct tmsgq_consumer {
	struct doca_pe *pe;
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;
	uint32_t id;
	struct doca_comch_consumer_task_post_recv *tasks[TMSGQ_TASKS];
	unsigned int nb_recv, nb_errors;
	uint8_t imm[32];                     /* the last */
	uint32_t imm_len, producer_id;
	void (*on_recv)(struct tmsgq_consumer *c);
	void *arg;
	/* on the DPA */
	struct doca_comch_consumer_completion *comp;
	doca_dpa_dev_comch_consumer_t handle;
	doca_dpa_dev_comch_consumer_completion_t comp_handle;
};

struct tmsgq_producer {
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

enum tmsgq_way {
	TMSGQ_CPU,
	TMSGQ_TO_DPA,
	TMSGQ_FROM_DPA,
};

struct tmsgq {
	enum tmsgq_way way;
	struct doca_dpa *dpa;
	struct doca_comch_msgq *msgq;
	struct doca_dpa_thread *thread;      /* of what is on the DPA */
	struct tmsgq_consumer c;
	struct tmsgq_producer p;
};

/* A MsgQ that is started, with as many ends as asked for. */
struct doca_comch_msgq *tmsgq_create(struct doca_dev *dev, struct doca_dpa *dpa,
		enum tmsgq_way way, uint32_t nb_consumers, uint32_t nb_producers);
/* Ends of it, running. The completions belong to the caller. */
void tmsgq_consumer_on_cpu(struct tmsgq_consumer *c, struct doca_comch_msgq *msgq,
		struct doca_pe *pe);
void tmsgq_consumer_on_dpa(struct tmsgq_consumer *c, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_comch_consumer_completion *comp,
		uint32_t max_recv);
void tmsgq_producer_on_cpu(struct tmsgq_producer *p, struct doca_comch_msgq *msgq,
		struct doca_pe *pe);
void tmsgq_producer_on_dpa(struct tmsgq_producer *p, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_dpa_completion *comp);
void tmsgq_consumer_end(struct tmsgq_consumer *c);
void tmsgq_producer_end(struct tmsgq_producer *p);
/* Completions, started. */
struct doca_comch_consumer_completion *tmsgq_consumer_completion(struct doca_dpa_thread *thread,
		uint32_t nb_consumers, uint32_t max_recv);
struct doca_dpa_completion *tmsgq_completion(struct doca_dpa *dpa,
		struct doca_dpa_thread *thread);

/* All of it: one end each, on a DPA whose thread runs a kernel (of one argument). */
void tmsgq_open(struct tmsgq *m, struct doca_dpa_app *app, enum tmsgq_way way,
		doca_dpa_func_t *kernel, uint64_t arg);
void tmsgq_close(struct tmsgq *m);

/* Post receives of a consumer on the CPU; send a message from one. AGAIN: as submit. */
void tmsgq_post(struct tmsgq_consumer *c, unsigned int n);
doca_error_t tmsgq_send(struct tmsgq_producer *p, uint32_t consumer_id, const void *imm,
		uint32_t len);
doca_error_t tmsgq_send_u64(struct tmsgq_producer *p, uint32_t consumer_id, uint64_t val);
/* Until it is taken. */
void tmsgq_send_all(struct tmsgq_producer *p, uint32_t consumer_id, uint64_t val);

/* Run a function as device code, in an RPC: its result, or a fault. */
struct tmsgq_call {
	uint64_t (*fn)(void *arg);
	void *arg;
};
uint64_t tmsgq_rpc(uint64_t call);
doca_error_t tmsgq_run(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg, uint64_t *ret);

/* The function is a fault, the first one of the context. */
void tmsgq_is_fault(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg);

#define TMSGQ_RUN(dpa, fn, arg) \
	({ \
		uint64_t ret_ = 0; \
		TD_OK(tmsgq_run(dpa, fn, arg, &ret_)); \
		ret_; \
	})

#endif /* TMSGQ_H */
