/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_COMCH_DATA_PATH_H
#define IMPL_COMCH_DATA_PATH_H

/*
 * Producers and consumers. Each has three kinds:
 *
 *   of a connection (consumer.c, producer.c)
 *   of a MsgQ, on the CPU (msgq/cpu.c)
 *   of a MsgQ, on a DPA (msgq/dpa.c), used by device code and without tasks
 *
 * A kind is a table of operations. The first member of its structure is a
 * doca_comch_consumer or doca_comch_producer, and all kinds have the same tasks.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_comch_dp.h>
#include <rte_prefetch.h>

#include "comch/comch.h"
#include "mem/mem.h"

/* The buf of a task that was freed: see task_revive() and task_unrevive() of the operations. */
static inline bool
impl_task_revive_buf(struct doca_task *task, struct doca_buf *buf)
{
	/* It may be the program's still, which frees it as often as before. */
	task->has_revived_buf = buf != NULL && buf->refcount == 0;
	if (!task->has_revived_buf)
		return impl_buf_use(buf) == task->buf_use;
	return impl_buf_revive(buf, task->buf_use);
}

static inline void
impl_task_unrevive_buf(const struct doca_task *task, struct doca_buf *buf)
{
	if (task->has_revived_buf)
		doca_buf_dec_refcount(buf, NULL);
}

/*
 * Completions of a progress, and, if they are a whole burst, those of the next one: in a stream of
 * tasks, their lines come while the callbacks of this one run.
 */
struct impl_taken {
	struct rte_comch_cpl cpls[2][IMPL_CTX_BURST];
	uint32_t turn;                /* which are those of this progress, or of the next */
	uint16_t nb_next;
};

/* A native burst that takes completions. */
typedef uint16_t (*impl_take_t)(void *native, struct rte_comch_cpl *cpls, uint16_t n);

/*
 * Take completions of this turn, behind n that were taken, and ask for the lines of their tasks.
 * Returns how many there are then.
 */
static __rte_always_inline uint16_t
impl_taken_add(struct impl_taken *t, const struct doca_ctx *ctx, impl_take_t take, uint16_t n)
{
	struct rte_comch_cpl *cpls = t->cpls[t->turn % 2];
	const uint16_t end = n + take(ctx->native, &cpls[n], ctx->burst - n);

	for (; n < end; n++)
		rte_prefetch0((void *)(uintptr_t)cpls[n].cookie);
	return end;
}

/* The completions of this progress, which are *n. */
static __rte_always_inline const struct rte_comch_cpl *
impl_taken_get(struct impl_taken *t, const struct doca_ctx *ctx, impl_take_t take, uint16_t *n)
{
	const struct rte_comch_cpl *cpls = t->cpls[t->turn % 2];

	*n = t->nb_next;
	if (*n < ctx->burst)
		*n = impl_taken_add(t, ctx, take, *n);
	t->nb_next = 0;
	if (*n == IMPL_CTX_BURST) {
		t->turn++;
		t->nb_next = impl_taken_add(t, ctx, take, 0);
	}
	return cpls;
}

/* A kind of consumer. */
struct impl_consumer_ops {
	/* First: doca_ctx.ops points to it. */
	struct impl_ctx_ops ctx;
	doca_error_t (*destroy)(struct doca_comch_consumer *consumer);
	/* Native bursts; NULL: a consumer without tasks. */
	uint16_t (*post)(void *native, const struct rte_comch_buf *bufs, uint16_t n);
	impl_take_t recv;
};

struct doca_comch_consumer {
	struct doca_ctx ctx;
	struct rte_comch_mr *mr;      /* of its buffers */
	size_t max_buf_size;          /* of what it receives into a buffer; 0: it takes none */
	uint32_t id;                  /* 0: not started */
	uint32_t imm_len;
	uint32_t nb_batched;
	struct rte_comch_buf batch[IMPL_CTX_BURST]; /* submitted in callbacks; and room for one */
	struct impl_taken taken;
	doca_comch_consumer_task_post_recv_completion_cb_t recv_cb, error_cb;
};

struct doca_comch_consumer_task_post_recv {
	struct doca_task task;
	struct doca_buf *buf;
	void *tail;          /* where the message goes */
	uint32_t producer_id;
	uint32_t imm_len;
	uint8_t imm[IMPL_MAX_IMM];
};

/* A kind of producer. */
struct impl_producer_ops {
	/* First: doca_ctx.ops points to it. */
	struct impl_ctx_ops ctx;
	doca_error_t (*destroy)(struct doca_comch_producer *producer);
	/* Native bursts; NULL: a producer without tasks. */
	uint16_t (*send)(void *native, const struct rte_comch_op *ops, uint16_t n);
	impl_take_t done;
};

struct doca_comch_producer {
	struct doca_ctx ctx;
	doca_comch_producer_task_send_completion_cb_t sent_cb, error_cb;
	doca_error_t end;             /* status of batched tasks when the producer ends */
	bool has_backlog;             /* the channel was too full for the last batch */
	size_t max_buf_size;          /* of the data of a buffer; 0: it sends none */
	uint32_t id;                  /* 0: not started */
	uint32_t nb_batched;
	struct rte_comch_op batch[IMPL_CTX_BURST];
	struct impl_taken taken;
};

struct doca_comch_producer_task_send {
	struct doca_task task;
	const struct doca_buf *buf;
	uint32_t consumer_id;
	uint32_t imm_len;
	uint8_t imm[IMPL_MAX_IMM];
};

/* consumer.c, producer.c: operations of all consumers and producers with tasks */
bool impl_consumer_progress(struct doca_ctx *ctx);
bool impl_consumer_has_work(const struct doca_ctx *ctx);
doca_error_t impl_consumer_submit(struct doca_task *task);
bool impl_consumer_task_revive(struct doca_task *task);
void impl_consumer_task_unrevive(struct doca_task *task);
void impl_consumer_task_fail(struct doca_task *task, doca_error_t status);
void impl_consumer_flush(struct doca_ctx *ctx);
bool impl_producer_progress(struct doca_ctx *ctx);
bool impl_producer_has_work(const struct doca_ctx *ctx);
doca_error_t impl_producer_submit(struct doca_task *task);
bool impl_producer_task_revive(struct doca_task *task);
void impl_producer_task_unrevive(struct doca_task *task);
void impl_producer_task_fail(struct doca_task *task, doca_error_t status);
void impl_producer_flush(struct doca_ctx *ctx);

#endif /* IMPL_COMCH_DATA_PATH_H */
