/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Host side of a MsgQ's ends on the DPA. */

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_errno.h>

#include "base/alias.h"
#include "base/err.h"
#include "log/log.h"
#include "msgq/msgq.h"

#define USER_DATA_MASK ((UINT32_C(1) << DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA) - 1)

/* Whether a MsgQ has its ends of a kind on this DPA. */
static doca_error_t
dpa_check(const struct doca_dpa *of_msgq, const struct doca_dpa *dpa, const char *what)
{
	if (of_msgq != NULL && impl_dpa_is_same(of_msgq, dpa))
		return DOCA_SUCCESS;
	IMPL_ERR("MsgQ: its %ss are not on %s DPA", what, of_msgq == NULL ? "a" : "this");
	return DOCA_ERROR_INVALID_VALUE;
}

/* Whether settings of an end on the DPA can change. */
static doca_error_t
may_set(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_IDLE && ctx->dpa != NULL ? DOCA_SUCCESS :
		DOCA_ERROR_BAD_STATE;
}

static doca_error_t
set_depth(const struct doca_ctx *ctx, uint32_t *place, uint32_t depth)
{
	if (depth == 0 || depth > IMPL_MSGQ_MAX_DEPTH)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	/* NULL: an end of a connection, which is never on a DPA. */
	if (place != NULL)
		*place = rte_align32pow2(depth);
	return DOCA_SUCCESS;
}

/* Consumers */

/* NULL: an end of a connection. */
static struct impl_msgq_consumer *
consumer_of(struct doca_comch_consumer *consumer)
{
	const struct impl_ctx_ops *ops = consumer->ctx.ops;

	return ops == &impl_msgq_consumer_cpu_ops.ctx || ops == &impl_msgq_consumer_dpa_ops.ctx ?
		(struct impl_msgq_consumer *)consumer : NULL;
}

static doca_error_t
consumer_create_native(struct impl_msgq_consumer *c)
{
	const struct rte_comch_msgq_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.id = c->base.id,
		.queue_size = c->dpa.max_recv,
		.imm_size = c->base.imm_len,
		.cq = c->dpa.comp->cq,
		.user_data = (uintptr_t)c,
	};

	c->base.ctx.native = rte_comch_msgq_consumer_create(c->msgq->native, &conf);
	if (c->base.ctx.native == NULL)
		return impl_err(-rte_errno);
	c->dpa.handle = impl_dpa_handle_create(IMPL_DPA_CONSUMER, c);
	if (c->dpa.handle != 0)
		return DOCA_SUCCESS;
	rte_comch_msgq_consumer_stop(c->base.ctx.native);
	rte_comch_msgq_consumer_destroy(c->base.ctx.native);
	c->base.ctx.native = NULL;
	return DOCA_ERROR_NO_MEMORY;
}

static doca_error_t
consumer_start(struct doca_ctx *ctx)
{
	struct impl_msgq_consumer *c = (struct impl_msgq_consumer *)ctx;
	doca_error_t ret;

	if (c->dpa.comp == NULL || c->dpa.max_recv == 0) {
		IMPL_ERR("MsgQ consumer on the DPA: cannot start without %s", c->dpa.comp == NULL ?
			"a consumer completion" : "a number of receives");
		return DOCA_ERROR_INVALID_VALUE;
	}
	ret = impl_dpa_join(ctx->dpa);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_consumer_completion_join(c->dpa.comp, c->dpa.max_recv,
			c->base.imm_len);
	if (ret != DOCA_SUCCESS)
		goto err_drop;
	ret = consumer_create_native(c);
	if (ret != DOCA_SUCCESS)
		goto err_leave;
	return DOCA_SUCCESS;

err_leave:
	impl_consumer_completion_leave(c->dpa.comp);
err_drop:
	impl_dpa_drop(ctx->dpa);
	return ret;
}

static doca_error_t
consumer_stop(struct doca_ctx *ctx)
{
	struct impl_msgq_consumer *c = (struct impl_msgq_consumer *)ctx;

	impl_dpa_handle_destroy(c->dpa.handle);
	c->dpa.handle = 0;
	/* Received messages stay in the completion. */
	impl_consumer_completion_stop_native(c->dpa.comp, ctx->native);
	return DOCA_SUCCESS;
}

static void
consumer_release(struct doca_ctx *ctx)
{
	struct impl_msgq_consumer *c = (struct impl_msgq_consumer *)ctx;

	rte_comch_msgq_consumer_destroy(ctx->native);
	ctx->native = NULL;
	impl_consumer_completion_leave(c->dpa.comp);
	impl_dpa_drop(ctx->dpa);
}

const struct impl_consumer_ops impl_msgq_consumer_dpa_ops = {
	.ctx = {
		.name = "MsgQ consumer on the DPA",
		.start = consumer_start,
		.stop = consumer_stop,
		.release = consumer_release,
		.set_dpa = impl_msgq_consumer_set_dpa,
	},
	.destroy = impl_msgq_consumer_destroy,
};

doca_error_t
impl_msgq_consumer_set_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa)
{
	struct impl_msgq_consumer *c = (struct impl_msgq_consumer *)ctx;
	doca_error_t ret = dpa_check(c->msgq->dpa_consumer, dpa, "consumer");

	if (ret != DOCA_SUCCESS)
		return ret;
	ctx->dpa = dpa;
	ctx->ops = &impl_msgq_consumer_dpa_ops.ctx;
	ctx->nb_tasks = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer,
		uint32_t dev_num_recv)
{
	struct impl_msgq_consumer *c;

	if (consumer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	c = consumer_of(consumer);
	return set_depth(&consumer->ctx, c == NULL ? NULL : &c->dpa.max_recv, dev_num_recv);
}

IMPL_ALIAS(doca_comch_consumer_set_dev_num_recv, doca_comch_consumer_set_dev_max_num_recv);

void
impl_msgq_drop_completion(struct doca_comch_consumer_completion *comp)
{
	/* Release: pairs with the acquire in doca_comch_consumer_completion_destroy(). */
	if (comp != NULL)
		__atomic_fetch_sub(&comp->nb_users, 1, __ATOMIC_RELEASE);
}

doca_error_t
doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
		struct doca_comch_consumer_completion *consumer_comp, uint32_t user_data)
{
	struct impl_msgq_consumer *c;

	/* Device code has no function to read it. */
	RTE_SET_USED(user_data);
	if (consumer == NULL || consumer_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	c = consumer_of(consumer);
	if (c == NULL || may_set(&consumer->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	__atomic_fetch_add(&consumer_comp->nb_users, 1, __ATOMIC_RELAXED);
	impl_msgq_drop_completion(c->dpa.comp);
	c->dpa.comp = consumer_comp;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
		doca_dpa_dev_comch_consumer_t *dpa_consumer)
{
	const struct impl_msgq_consumer *c;

	if (consumer == NULL || dpa_consumer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	c = consumer_of(consumer);
	if (c == NULL || c->dpa.handle == 0)
		return DOCA_ERROR_BAD_STATE;
	*dpa_consumer = c->dpa.handle;
	return DOCA_SUCCESS;
}

/* Producers */

/* NULL: an end of a connection. */
static struct impl_msgq_producer *
producer_of(struct doca_comch_producer *producer)
{
	const struct impl_ctx_ops *ops = producer->ctx.ops;

	return ops == &impl_msgq_producer_cpu_ops.ctx || ops == &impl_msgq_producer_dpa_ops.ctx ?
		(struct impl_msgq_producer *)producer : NULL;
}

static doca_error_t
producer_create_native(struct impl_msgq_producer *p)
{
	const struct rte_comch_msgq_producer_conf conf = {
		.conf_size = sizeof(conf),
		.id = p->base.id,
		.queue_size = p->dpa.max_send,
	};

	p->base.ctx.native = rte_comch_msgq_producer_create(p->msgq->native, &conf);
	if (p->base.ctx.native == NULL)
		return impl_err(-rte_errno);
	p->dpa.handle = impl_dpa_handle_create(IMPL_DPA_PRODUCER, p);
	if (p->dpa.handle != 0)
		return DOCA_SUCCESS;
	rte_comch_msgq_producer_destroy(p->base.ctx.native);
	p->base.ctx.native = NULL;
	return DOCA_ERROR_NO_MEMORY;
}

static doca_error_t
producer_start(struct doca_ctx *ctx)
{
	struct impl_msgq_producer *p = (struct impl_msgq_producer *)ctx;
	doca_error_t ret;

	if (p->dpa.comp == NULL || p->dpa.max_send == 0) {
		IMPL_ERR("MsgQ producer on the DPA: cannot start without %s", p->dpa.comp == NULL ?
			"a DPA completion" : "a number of sends");
		return DOCA_ERROR_INVALID_VALUE;
	}
	p->dpa.user_data = (uint32_t)ctx->user_data.u64 & USER_DATA_MASK;
	p->dpa.nb_deferred = 0;
	p->dpa.has_warned = false;
	ret = impl_dpa_join(ctx->dpa);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = producer_create_native(p);
	if (ret != DOCA_SUCCESS)
		impl_dpa_drop(ctx->dpa);
	return ret;
}

static doca_error_t
producer_stop(struct doca_ctx *ctx)
{
	struct impl_msgq_producer *p = (struct impl_msgq_producer *)ctx;

	impl_dpa_handle_destroy(p->dpa.handle);
	p->dpa.handle = 0;
	return DOCA_SUCCESS;
}

static void
producer_release(struct doca_ctx *ctx)
{
	rte_comch_msgq_producer_destroy(ctx->native);
	ctx->native = NULL;
	impl_dpa_drop(ctx->dpa);
}

const struct impl_producer_ops impl_msgq_producer_dpa_ops = {
	.ctx = {
		.name = "MsgQ producer on the DPA",
		.start = producer_start,
		.stop = producer_stop,
		.release = producer_release,
		.set_dpa = impl_msgq_producer_set_dpa,
	},
	.destroy = impl_msgq_producer_destroy,
};

doca_error_t
impl_msgq_producer_set_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa)
{
	struct impl_msgq_producer *p = (struct impl_msgq_producer *)ctx;
	doca_error_t ret = dpa_check(p->msgq->dpa_producer, dpa, "producer");

	if (ret != DOCA_SUCCESS)
		return ret;
	ctx->dpa = dpa;
	ctx->ops = &impl_msgq_producer_dpa_ops.ctx;
	ctx->nb_tasks = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer,
		uint32_t dev_num_send)
{
	struct impl_msgq_producer *p;

	if (producer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	p = producer_of(producer);
	return set_depth(&producer->ctx, p == NULL ? NULL : &p->dpa.max_send, dev_num_send);
}

IMPL_ALIAS(doca_comch_producer_set_dev_num_send, doca_comch_producer_set_dev_max_num_send);

IMPL_ALIAS(doca_comch_producer_set_dev_num_recv, doca_comch_producer_set_dev_max_num_send);

doca_error_t
doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
		struct doca_dpa_completion *dpa_comp)
{
	struct impl_msgq_producer *p;
	doca_error_t ret;

	if (producer == NULL || dpa_comp == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	p = producer_of(producer);
	if (p == NULL || may_set(&producer->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	ret = impl_dpa_completion_attach(dpa_comp);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (p->dpa.comp != NULL)
		impl_dpa_completion_detach(p->dpa.comp);
	p->dpa.comp = dpa_comp;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
		doca_dpa_dev_comch_producer_t *dpa_producer)
{
	const struct impl_msgq_producer *p;

	if (producer == NULL || dpa_producer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	p = producer_of(producer);
	if (p == NULL || p->dpa.handle == 0)
		return DOCA_ERROR_BAD_STATE;
	*dpa_producer = p->dpa.handle;
	return DOCA_SUCCESS;
}
