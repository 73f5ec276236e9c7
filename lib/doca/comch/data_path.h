/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_COMCH_DATA_PATH_H
#define IMPL_COMCH_DATA_PATH_H

/*
 * Producers and consumers: of a connection, of a MsgQ on the CPU, or of a MsgQ
 * on a DPA. The first two share their tasks; the kinds differ in the operations
 * of their contexts.
 */

#include <rte_comch_msgq.h>

#include "comch/comch.h"

struct doca_comch_msgq;
struct doca_dpa_completion;
struct doca_comch_consumer_completion;

/* Completions that one progress takes, submits that one progress puts by. */
#define IMPL_PATH_BURST 32

/* What one has whose data path is on a DPA. */
struct impl_dpa_consumer {
	uint32_t max_recv;            /* 0: not set */
	struct doca_comch_consumer_completion *comp;
	uint64_t handle;              /* 0: not started */
};

struct impl_dpa_producer {
	uint32_t max_send;            /* 0: not set */
	uint32_t user_data;           /* of its completions */
	uint32_t nb_deferred;         /* completions that come with a later one */
	bool has_warned;              /* that nothing was posted */
	struct doca_dpa_completion *comp;
	uint64_t handle;              /* 0: not started */
};

struct doca_comch_consumer {
	struct doca_ctx ctx;
	struct doca_comch_connection *conn; /* or */
	struct doca_comch_msgq *msgq;
	struct doca_mmap *mmap;       /* of a connection only */
	struct rte_comch_mr *mr;
	uint32_t id;                  /* of a MsgQ only */
	uint32_t imm_len;
	uint16_t nb_put_by;
	struct rte_comch_buf put_by[IMPL_PATH_BURST]; /* submitted within a progress */
	doca_comch_consumer_task_post_recv_completion_cb_t recv_cb, error_cb;
	struct impl_dpa_consumer dpa;
};

struct doca_comch_consumer_task_post_recv {
	struct doca_task task;
	struct doca_buf *buf;
	void *tail;          /* where the message goes */
	uint32_t producer_id;
	uint32_t imm_len;
	uint8_t imm[IMPL_MAX_IMM];
};

struct doca_comch_producer {
	struct doca_ctx ctx;
	struct doca_comch_connection *conn; /* or */
	struct doca_comch_msgq *msgq;
	doca_comch_producer_task_send_completion_cb_t sent_cb, error_cb;
	doca_error_t end;             /* of what is put by, if it does not go any more */
	bool is_short;                /* the channel did not take all of it */
	uint32_t id;                  /* of a MsgQ only */
	uint16_t nb_put_by;
	struct rte_comch_op put_by[IMPL_PATH_BURST];
	struct impl_dpa_producer dpa;
};

struct doca_comch_producer_task_send {
	struct doca_task task;
	const struct doca_buf *buf;
	uint32_t consumer_id;
	uint32_t imm_len;
	uint8_t imm[IMPL_MAX_IMM];
};

/* consumer.c, producer.c: operations of contexts on the CPU */
bool impl_consumer_progress(struct doca_ctx *ctx);
doca_error_t impl_consumer_submit(struct doca_task *task);
void impl_consumer_task_back(struct doca_task *task, doca_error_t status);
void impl_consumer_flush(struct doca_ctx *ctx);
bool impl_producer_progress(struct doca_ctx *ctx);
doca_error_t impl_producer_submit(struct doca_task *task);
void impl_producer_task_back(struct doca_task *task, doca_error_t status);
void impl_producer_flush(struct doca_ctx *ctx);

#endif /* IMPL_COMCH_DATA_PATH_H */
