/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Start and stop of a MsgQ's ends on the CPU. Both complete at once, except for posted
 * receives, which fail as those of any consumer. A native MsgQ has no events, so these
 * contexts have no event handler.
 */

#include <errno.h>

#include <rte_errno.h>

#include "base/err.h"
#include "log/log.h"
#include "msgq/msgq.h"

static doca_error_t
is_for_cpu(const struct doca_dpa *dpa, const char *what)
{
	if (dpa == NULL)
		return DOCA_SUCCESS;
	IMPL_ERR("MsgQ: its %ss are on the DPA: call doca_ctx_set_datapath_on_dpa() first",
		what);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t
consumer_start(struct doca_ctx *ctx)
{
	struct impl_msgq_consumer *c = (struct impl_msgq_consumer *)ctx;
	const struct rte_comch_msgq_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.id = c->base.id,
		.queue_size = ctx->nb_tasks,
		.imm_size = c->base.imm_len,
		.poll = ctx->pe->poll,
		.user_data = (uintptr_t)ctx,
	};
	doca_error_t ret = is_for_cpu(c->msgq->dpa_consumer, "consumer");

	if (ret != DOCA_SUCCESS)
		return ret;
	ctx->native = rte_comch_msgq_consumer_create(c->msgq->native, &conf);
	if (ctx->native == NULL)
		return impl_err(-rte_errno);
	impl_ctx_wants_progress(ctx);
	c->base.taken.nb_next = 0;
	return DOCA_SUCCESS;
}

static doca_error_t
consumer_stop(struct doca_ctx *ctx)
{
	/* Post the batch, so that the stop returns its tasks, too. */
	impl_consumer_flush(ctx);
	return impl_err(rte_comch_msgq_consumer_stop(ctx->native));
}

static bool
consumer_progress(struct doca_ctx *ctx)
{
	bool done = impl_consumer_progress(ctx);

	if (unlikely(ctx->state == DOCA_CTX_STATE_STOPPING && !ctx->native_idle &&
			rte_comch_msgq_consumer_state(ctx->native) == RTE_COMCH_STATE_IDLE)) {
		ctx->native_idle = true;
		return true;
	}
	return done;
}

static void
consumer_release(struct doca_ctx *ctx)
{
	rte_comch_msgq_consumer_destroy(ctx->native);
	ctx->native = NULL;
}

static uint16_t
consumer_post(void *native, const struct rte_comch_buf *bufs, uint16_t n)
{
	return rte_comch_msgq_post_burst(native, bufs, n);
}

static uint16_t
consumer_recv(void *native, struct rte_comch_cpl *cpls, uint16_t n)
{
	return rte_comch_msgq_recv_burst(native, cpls, n);
}

const struct impl_consumer_ops impl_msgq_consumer_cpu_ops = {
	.ctx = {
		.name = "MsgQ consumer",
		.task_size = sizeof(struct doca_comch_consumer_task_post_recv),
		.start = consumer_start,
		.stop = consumer_stop,
		.release = consumer_release,
		.progress = consumer_progress,
		.has_work = impl_consumer_has_work,
		.submit = impl_consumer_submit,
		.task_report = impl_consumer_task_fail,
		.task_revive = impl_consumer_task_revive,
		.task_unrevive = impl_consumer_task_unrevive,
		.flush = impl_consumer_flush,
		.set_dpa = impl_msgq_consumer_set_dpa,
	},
	.destroy = impl_msgq_consumer_destroy,
	.post = consumer_post,
	.recv = consumer_recv,
};

static doca_error_t
producer_start(struct doca_ctx *ctx)
{
	struct impl_msgq_producer *p = (struct impl_msgq_producer *)ctx;
	const struct rte_comch_msgq_producer_conf conf = {
		.conf_size = sizeof(conf),
		.id = p->base.id,
		.queue_size = ctx->nb_tasks,
		.poll = ctx->pe->poll,
	};
	doca_error_t ret = is_for_cpu(p->msgq->dpa_producer, "producer");

	if (ret != DOCA_SUCCESS)
		return ret;
	ctx->native = rte_comch_msgq_producer_create(p->msgq->native, &conf);
	if (ctx->native == NULL)
		return impl_err(-rte_errno);
	impl_ctx_wants_progress(ctx);
	p->base.has_backlog = false;
	p->base.taken.nb_next = 0;
	return DOCA_SUCCESS;
}

/* All sends have arrived; only their completions are left. */
static doca_error_t
producer_stop(struct doca_ctx *ctx)
{
	RTE_SET_USED(ctx);
	return DOCA_SUCCESS;
}

static void
producer_release(struct doca_ctx *ctx)
{
	rte_comch_msgq_producer_destroy(ctx->native);
	ctx->native = NULL;
}

static uint16_t
producer_send(void *native, const struct rte_comch_op *ops, uint16_t n)
{
	return rte_comch_msgq_send_burst(native, ops, n);
}

static uint16_t
producer_done(void *native, struct rte_comch_cpl *cpls, uint16_t n)
{
	return rte_comch_msgq_done_burst(native, cpls, n);
}

const struct impl_producer_ops impl_msgq_producer_cpu_ops = {
	.ctx = {
		.name = "MsgQ producer",
		.task_size = sizeof(struct doca_comch_producer_task_send),
		.start = producer_start,
		.stop = producer_stop,
		.release = producer_release,
		.progress = impl_producer_progress,
		.has_work = impl_producer_has_work,
		.submit = impl_producer_submit,
		.task_report = impl_producer_task_fail,
		.task_revive = impl_producer_task_revive,
		.task_unrevive = impl_producer_task_unrevive,
		.flush = impl_producer_flush,
		.set_dpa = impl_msgq_producer_set_dpa,
	},
	.destroy = impl_msgq_producer_destroy,
	.send = producer_send,
	.done = producer_done,
};
