/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQs, and how their ends are created and destroyed. */

#include <stdlib.h>

#include <rte_errno.h>

#include "base/err.h"
#include "dev/dev.h"
#include "dev/eal.h"
#include "log/log.h"
#include "msgq/msgq.h"

doca_error_t
doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq)
{
	struct doca_comch_msgq *q;

	if (!impl_dev_is_one(dev) || msgq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	q = calloc(1, sizeof(*q));
	if (q == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_init(&q->lock, NULL);
	q->dev = dev;
	q->max_consumers = 1;
	q->max_producers = 1;
	impl_dev_hold(dev);
	*msgq = q;
	return DOCA_SUCCESS;
}

static bool
is_started(struct doca_comch_msgq *q)
{
	bool is;

	pthread_mutex_lock(&q->lock);
	is = q->native != NULL;
	pthread_mutex_unlock(&q->lock);
	return is;
}

doca_error_t
doca_comch_msgq_destroy(struct doca_comch_msgq *msgq)
{
	if (msgq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_started(msgq)) {
		IMPL_ERR("MsgQ: cannot destroy while started");
		return DOCA_ERROR_IN_USE;
	}
	if (msgq->dpa_consumer != NULL)
		impl_dpa_drop(msgq->dpa_consumer);
	if (msgq->dpa_producer != NULL)
		impl_dpa_drop(msgq->dpa_producer);
	impl_dev_drop(msgq->dev);
	pthread_mutex_destroy(&msgq->lock);
	free(msgq);
	return DOCA_SUCCESS;
}

static doca_error_t
set_dpa(struct doca_comch_msgq *q, struct doca_dpa **place, struct doca_dpa *dpa)
{
	if (is_started(q))
		return DOCA_ERROR_BAD_STATE;
	if (impl_dpa_dev(dpa) != q->dev) {
		IMPL_ERR("MsgQ: the DPA is on another device");
		return DOCA_ERROR_INVALID_VALUE;
	}
	impl_dpa_hold(dpa);
	if (*place != NULL)
		impl_dpa_drop(*place);
	*place = dpa;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	return msgq == NULL || dpa == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_dpa(msgq, &msgq->dpa_consumer, dpa);
}

doca_error_t
doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	return msgq == NULL || dpa == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_dpa(msgq, &msgq->dpa_producer, dpa);
}

static doca_error_t
set_max(struct doca_comch_msgq *q, uint32_t *place, uint32_t max)
{
	if (max == 0 || max > IMPL_MSGQ_MAX_ENDS)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_started(q))
		return DOCA_ERROR_BAD_STATE;
	*place = max;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq, uint32_t max_num_consumers)
{
	return msgq == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_max(msgq, &msgq->max_consumers, max_num_consumers);
}

doca_error_t
doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq, uint32_t max_num_producers)
{
	return msgq == NULL ? DOCA_ERROR_INVALID_VALUE :
		set_max(msgq, &msgq->max_producers, max_num_producers);
}

doca_error_t
doca_comch_msgq_start(struct doca_comch_msgq *msgq)
{
	struct rte_comch_msgq_conf conf = { .conf_size = sizeof(conf), .socket_id = -1 };
	struct doca_dpa *dpa;
	doca_error_t ret;

	if (msgq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (msgq->dpa_consumer != NULL && msgq->dpa_producer != NULL) {
		IMPL_ERR("MsgQ: consumers and producers cannot both be on a DPA");
		return DOCA_ERROR_INVALID_VALUE;
	}
	dpa = msgq->dpa_consumer != NULL ? msgq->dpa_consumer : msgq->dpa_producer;
	if (dpa != NULL && !impl_dpa_is_started(dpa)) {
		IMPL_ERR("MsgQ: cannot start: its DPA is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	conf.max_consumers = msgq->max_consumers;
	conf.max_producers = msgq->max_producers;
	pthread_mutex_lock(&msgq->lock);
	if (msgq->native != NULL) {
		ret = DOCA_ERROR_BAD_STATE;
	} else {
		msgq->native = rte_comch_msgq_create(&conf);
		if (msgq->native == NULL)
			ret = impl_err(-rte_errno);
	}
	pthread_mutex_unlock(&msgq->lock);
	return ret;
}

doca_error_t
doca_comch_msgq_stop(struct doca_comch_msgq *msgq)
{
	doca_error_t ret = DOCA_SUCCESS;

	if (msgq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&msgq->lock);
	if (msgq->native == NULL) {
		ret = DOCA_ERROR_BAD_STATE;
	} else if (msgq->nb_consumers + msgq->nb_producers > 0) {
		IMPL_ERR("MsgQ: cannot stop with %u consumers and %u producers",
			msgq->nb_consumers, msgq->nb_producers);
		ret = DOCA_ERROR_IN_USE;
	} else {
		rte_comch_msgq_destroy(msgq->native);
		msgq->native = NULL;
	}
	pthread_mutex_unlock(&msgq->lock);
	return ret;
}

/* Ends: consumers and producers */

/* Allocate an id: an index into a table, plus 1. */
static doca_error_t
join(struct doca_comch_msgq *q, bool *ids, uint32_t *nb, uint32_t max, uint32_t *id)
{
	doca_error_t ret = DOCA_SUCCESS;
	uint32_t i = 0;

	pthread_mutex_lock(&q->lock);
	if (q->native == NULL) {
		IMPL_ERR("MsgQ: cannot create a consumer or producer: not started");
		ret = DOCA_ERROR_BAD_STATE;
	} else if (*nb == max) {
		IMPL_ERR("MsgQ: limit of %u reached (doca_comch_msgq_set_max_num_...())", max);
		ret = DOCA_ERROR_FULL;
	} else {
		while (ids[i])
			i++;
		ids[i] = true;
		++*nb;
		*id = i + 1;
	}
	pthread_mutex_unlock(&q->lock);
	return ret;
}

static void
leave(struct doca_comch_msgq *q, bool *ids, uint32_t *nb, uint32_t id)
{
	pthread_mutex_lock(&q->lock);
	ids[id - 1] = false;
	--*nb;
	pthread_mutex_unlock(&q->lock);
}

doca_error_t
doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq,
		struct doca_comch_consumer **consumer)
{
	struct impl_msgq_consumer *c;
	doca_error_t ret;

	if (msgq == NULL || consumer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = join(msgq, msgq->consumers, &msgq->nb_consumers, msgq->max_consumers,
		&c->base.id);
	if (ret != DOCA_SUCCESS) {
		free(c);
		return ret;
	}
	impl_ctx_init(&c->base.ctx, &impl_msgq_consumer_cpu_ops.ctx, impl_dev_manners(msgq->dev));
	c->msgq = msgq;
	c->base.imm_len = c->base.ctx.manners->limits.max_imm_data_len;
	*consumer = &c->base;
	return DOCA_SUCCESS;
}

doca_error_t
impl_msgq_consumer_destroy(struct doca_comch_consumer *consumer)
{
	const struct impl_msgq_consumer *c = (const struct impl_msgq_consumer *)consumer;
	struct doca_comch_consumer_completion *comp = c->dpa.comp;
	struct doca_comch_msgq *q = c->msgq;
	uint32_t id = consumer->id;
	doca_error_t ret = impl_ctx_destroy(&consumer->ctx);

	if (ret != DOCA_SUCCESS)
		return ret;
	impl_msgq_drop_completion(comp);
	leave(q, q->consumers, &q->nb_consumers, id);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq,
		struct doca_comch_producer **producer)
{
	struct impl_msgq_producer *p;
	doca_error_t ret;

	if (msgq == NULL || producer == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = join(msgq, msgq->producers, &msgq->nb_producers, msgq->max_producers,
		&p->base.id);
	if (ret != DOCA_SUCCESS) {
		free(p);
		return ret;
	}
	impl_ctx_init(&p->base.ctx, &impl_msgq_producer_cpu_ops.ctx, impl_dev_manners(msgq->dev));
	p->msgq = msgq;
	p->base.end = DOCA_ERROR_SHUTDOWN;
	*producer = &p->base;
	return DOCA_SUCCESS;
}

doca_error_t
impl_msgq_producer_destroy(struct doca_comch_producer *producer)
{
	const struct impl_msgq_producer *p = (const struct impl_msgq_producer *)producer;
	struct doca_dpa_completion *comp = p->dpa.comp;
	struct doca_comch_msgq *q = p->msgq;
	uint32_t id = producer->id;
	doca_error_t ret = impl_ctx_destroy(&producer->ctx);

	if (ret != DOCA_SUCCESS)
		return ret;
	if (comp != NULL)
		impl_dpa_completion_detach(comp);
	leave(q, q->producers, &q->nb_producers, id);
	return DOCA_SUCCESS;
}
