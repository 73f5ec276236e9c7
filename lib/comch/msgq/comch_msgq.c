/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * MsgQ: creation, start, stop and destruction of queues, consumers and producers.
 * Wake-ups are in comch_msgq_sleep.c, bursts in comch_msgq_dp.c.
 */

#include <errno.h>
#include <sched.h>
#include <string.h>

#include <rte_dmadev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_string_fns.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "msgq/comch_msgq.h"

/* Number of checks of a producer's burst before the waiting thread yields the CPU. */
#define SPINS 1000

/* MsgQ */

COMCH_REGISTRY_TYPE(comch_msgq_registry, NULL)

struct rte_comch_msgq *
rte_comch_msgq_create(const struct rte_comch_msgq_conf *user_conf)
{
	struct rte_comch_msgq_conf conf = { .socket_id = SOCKET_ID_ANY };
	struct rte_comch_msgq *q;
	int ret = 0;

	if (user_conf != NULL)
		ret = comch_obj_conf(&conf, sizeof(conf), user_conf, "MsgQ");
	if (ret == 0 && (conf.max_producers > RTE_COMCH_MSGQ_MAX_ENDS ||
			conf.max_consumers > RTE_COMCH_MSGQ_MAX_ENDS)) {
		COMCH_LOG(ERR, "MsgQ: %u producers and %u consumers, the limit is %u of each",
			conf.max_producers, conf.max_consumers, RTE_COMCH_MSGQ_MAX_ENDS);
		ret = -EINVAL;
	}
	if (ret != 0)
		goto err;
	ret = -ENOMEM;
	q = rte_zmalloc_socket("comch_msgq", sizeof(*q), COMCH_MSGQ_ALIGN, conf.socket_id);
	if (q == NULL)
		goto err;
	q->max_producers = conf.max_producers != 0 ? conf.max_producers :
		COMCH_MSGQ_DEFAULT_ENDS;
	q->max_consumers = conf.max_consumers != 0 ? conf.max_consumers :
		COMCH_MSGQ_DEFAULT_ENDS;
	q->socket_id = conf.socket_id;
	q->consumers = rte_zmalloc_socket("comch_msgq", q->max_consumers * sizeof(*q->consumers),
		COMCH_MSGQ_ALIGN, conf.socket_id);
	if (q->consumers == NULL)
		goto err_free;
	pthread_mutex_init(&q->lock, NULL);
	TAILQ_INIT(&q->consumer_list);
	TAILQ_INIT(&q->producer_list);
	if (conf.name != NULL)
		rte_strscpy(q->name, conf.name, sizeof(q->name));
	comch_registry_add(&comch_msgq_registry, &q->entry);
	return q;

err_free:
	rte_free(q);
err:
	rte_errno = -ret;
	return NULL;
}

int
rte_comch_msgq_destroy(struct rte_comch_msgq *q)
{
	bool busy;

	if (q == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	pthread_mutex_lock(&q->lock);
	busy = q->nb_consumers + q->nb_producers > 0;
	if (busy)
		COMCH_LOG(ERR, "MsgQ %s: destroy while it has %u consumers and %u producers",
			q->name, q->nb_consumers, q->nb_producers);
	pthread_mutex_unlock(&q->lock);
	if (busy)
		return -EBUSY;
	comch_registry_del(&comch_msgq_registry, &q->entry);
	pthread_mutex_destroy(&q->lock);
	rte_free(q->consumers);
	rte_free(q);
	return 0;
}

/* Rings */

static int
queue_size_check(const char *what, uint32_t *size)
{
	if (*size == 0)
		*size = COMCH_MSGQ_DEFAULT_QUEUE;
	if (*size > COMCH_MSGQ_MAX_QUEUE) {
		COMCH_LOG(ERR, "MsgQ: %s of size %u, the limit is %u", what, *size,
			COMCH_MSGQ_MAX_QUEUE);
		return -EINVAL;
	}
	*size = rte_align32pow2(*size);
	return 0;
}

static int
ring_init(struct comch_msgq_ring *ring, uint32_t size, bool is_shared, int socket_id)
{
	ring->lines = rte_zmalloc_socket("comch_msgq_ring", size * sizeof(*ring->lines),
		COMCH_MSGQ_ALIGN, socket_id);
	if (ring->lines == NULL)
		return -ENOMEM;
	ring->mask = size - 1;
	ring->is_shared = is_shared;
	return 0;
}

struct rte_comch_msgq_cq *
rte_comch_msgq_cq_create(const struct rte_comch_msgq_cq_conf *user_conf)
{
	struct rte_comch_msgq_cq_conf conf;
	struct rte_comch_msgq_cq *cq = NULL;
	int ret;

	ret = comch_obj_conf(&conf, sizeof(conf), user_conf, "MsgQ's completion queue");
	if (ret == 0)
		ret = queue_size_check("completion queue", &conf.size);
	if (ret == 0)
		ret = comch_msgq_sleep_check("completion queue", conf.poll, conf.notify);
	if (ret != 0)
		goto err;
	ret = -ENOMEM;
	cq = rte_zmalloc_socket("comch_msgq_cq", sizeof(*cq), COMCH_MSGQ_ALIGN, conf.socket_id);
	if (cq == NULL || ring_init(&cq->ring, conf.size, true, conf.socket_id) != 0)
		goto err;
	comch_msgq_sleep_init(&cq->ring.sleep, RTE_COMCH_POLL_RX, conf.poll, conf.notify,
		conf.notify_arg);
	return cq;

err:
	rte_free(cq);
	rte_errno = -ret;
	return NULL;
}

int
rte_comch_msgq_cq_destroy(struct rte_comch_msgq_cq *cq)
{
	uint32_t n;

	if (cq == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	n = comch_load_acquire(&cq->nb_consumers); /* leave.pml, left */
	if (n > 0) {
		COMCH_LOG(ERR, "MsgQ: destroy of a completion queue with %u consumers", n);
		return -EBUSY;
	}
	comch_msgq_sleep_fini(&cq->ring.sleep);
	rte_free(cq->ring.lines);
	rte_free(cq);
	return 0;
}

/* Consumers */

/* Assign an id: the requested one, or the lowest free one. lock held. */
static int
take_id(const struct rte_comch_msgq *q, const char *what, uint32_t nb, uint32_t max,
		bool (*is_taken)(const struct rte_comch_msgq *q, uint32_t id), uint32_t *id)
{
	if (nb == max) {
		COMCH_LOG(ERR, "MsgQ %s: limit of %u %ss reached", q->name, max, what);
		return -ENOSPC;
	}
	if (*id > max) {
		COMCH_LOG(ERR, "MsgQ %s: %s with id %u, the limit is %u", q->name, what, *id,
			max);
		return -EINVAL;
	}
	if (*id == 0) {
		do {
			++*id;
		} while (is_taken(q, *id));
		return 0;
	}
	if (!is_taken(q, *id))
		return 0;
	COMCH_LOG(ERR, "MsgQ %s: %s id %u is in use", q->name, what, *id);
	return -EEXIST;
}

static bool
consumer_id_is_taken(const struct rte_comch_msgq *q, uint32_t id)
{
	return q->consumers[id - 1] != NULL;
}

static int
consumer_conf_check(struct rte_comch_msgq_consumer_conf *conf)
{
	if (conf->imm_size == 0)
		conf->imm_size = RTE_COMCH_IMM_SIZE;
	if (conf->imm_size > RTE_COMCH_IMM_SIZE) {
		COMCH_LOG(ERR, "MsgQ: consumer of %u bytes of immediate data, the limit is %u",
			conf->imm_size, RTE_COMCH_IMM_SIZE);
		return -EINVAL;
	}
	if (conf->cq != NULL && (conf->poll != NULL || conf->notify != NULL)) {
		COMCH_LOG(ERR, "MsgQ: set poll or notify on the completion queue, not on its "
			"consumer");
		return -EINVAL;
	}
	if (comch_msgq_sleep_check("consumer", conf->poll, conf->notify) != 0)
		return -EINVAL;
	return queue_size_check("consumer", &conf->queue_size);
}

static struct rte_comch_msgq_consumer *
consumer_alloc(struct rte_comch_msgq *q, const struct rte_comch_msgq_consumer_conf *conf)
{
	struct rte_comch_msgq_consumer *c;

	c = rte_zmalloc_socket("comch_msgq_consumer", sizeof(*c), COMCH_MSGQ_ALIGN, q->socket_id);
	if (c == NULL)
		return NULL;
	c->cookies = rte_zmalloc_socket("comch_msgq_consumer",
		conf->queue_size * sizeof(*c->cookies), COMCH_MSGQ_ALIGN, q->socket_id);
	if (c->cookies == NULL)
		goto err_free;
	if (conf->cq == NULL && ring_init(&c->own, conf->queue_size, false, q->socket_id) != 0)
		goto err_cookies;
	c->mask = conf->queue_size - 1;
	c->imm_size = conf->imm_size;
	c->user_data = conf->user_data;
	c->state = RTE_COMCH_STATE_RUNNING;
	c->msgq = q;
	c->cq = conf->cq;
	c->ring = conf->cq != NULL ? &conf->cq->ring : &c->own;
	return c;

err_cookies:
	rte_free(c->cookies);
err_free:
	rte_free(c);
	return NULL;
}

static void
consumer_free(struct rte_comch_msgq_consumer *c)
{
	rte_free(c->own.lines);
	rte_free(c->cookies);
	rte_free(c);
}

static int
consumer_join(struct rte_comch_msgq *q, struct rte_comch_msgq_consumer *c, uint32_t id)
{
	int ret;

	pthread_mutex_lock(&q->lock);
	ret = take_id(q, "consumer", q->nb_consumers, q->max_consumers, consumer_id_is_taken,
		&id);
	if (ret == 0) {
		c->id = id;
		c->serial = ++q->next_serial;
		q->nb_consumers++;
		TAILQ_INSERT_TAIL(&q->consumer_list, c, next);
		if (c->cq != NULL)
			__atomic_fetch_add(&c->cq->nb_consumers, 1, __ATOMIC_RELAXED);
		/*
		 * Release: pairs with the acquire of the producers' lookup.
		 * Model: publish.pml, publish.
		 */
		comch_store_release(&q->consumers[id - 1], c);
	}
	pthread_mutex_unlock(&q->lock);
	return ret;
}

struct rte_comch_msgq_consumer *
rte_comch_msgq_consumer_create(struct rte_comch_msgq *q,
		const struct rte_comch_msgq_consumer_conf *user_conf)
{
	struct rte_comch_msgq_consumer_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_msgq_consumer *c;
	int ret = q == NULL ? -EINVAL : 0;

	if (ret == 0 && user_conf != NULL)
		ret = comch_obj_conf(&conf, sizeof(conf), user_conf, "MsgQ's consumer");
	if (ret == 0)
		ret = consumer_conf_check(&conf);
	if (ret != 0)
		goto err;
	ret = -ENOMEM;
	c = consumer_alloc(q, &conf);
	if (c == NULL)
		goto err;
	if (c->cq == NULL)
		comch_msgq_sleep_init(&c->own.sleep, RTE_COMCH_POLL_RX, conf.poll, conf.notify,
			conf.notify_arg);
	ret = consumer_join(q, c, conf.id);
	if (ret != 0)
		goto err_free;
	return c;

err_free:
	comch_msgq_sleep_fini(&c->own.sleep);
	consumer_free(c);
err:
	rte_errno = -ret;
	return NULL;
}

/* MQ: wait until each producer has left the burst that it was in. lock held. */
static void
wait_for_bursts(struct rte_comch_msgq *q)
{
	struct rte_comch_msgq_producer *p;
	uint32_t i;

	comch_fence_heavy(); /* pairs with comch_epoch_enter(): dir.pml, hide */
	TAILQ_FOREACH(p, &q->producer_list, next) {
		comch_epoch_watch(&p->burst);
		for (i = 0; !comch_epoch_passed(&p->burst); i++) {
			rte_pause();
			if (i > SPINS)
				sched_yield();
		}
	}
}

int
rte_comch_msgq_consumer_stop(struct rte_comch_msgq_consumer *c)
{
	if (c == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (c->state != RTE_COMCH_STATE_RUNNING) {
		COMCH_LOG(ERR, "MsgQ %s: stop of consumer %u while %s", c->msgq->name, c->id,
			rte_comch_state_name(c->state));
		return -EBADFD;
	}
	pthread_mutex_lock(&c->msgq->lock);
	comch_store_relaxed(&c->closed, 1);
	wait_for_bursts(c->msgq);
	pthread_mutex_unlock(&c->msgq->lock);
	/* All claimed credits are sent, and none is claimed any more. */
	c->final = comch_load_relaxed(&c->claim);
	comch_store_release(&c->state, RTE_COMCH_STATE_STOPPING); /* publish.pml, publish */
	/* MW: producers that wait for credit must check again: wake.pml, publish */
	comch_fence_light();
	comch_msgq_wake_producers(c);
	if (c->taken != c->final || (c->cq == NULL && c->final != c->posted))
		return -EINPROGRESS;
	c->ring->posted -= c->posted - c->final;
	comch_store_release(&c->state, RTE_COMCH_STATE_IDLE); /* leave.pml, leave */
	return 0;
}

int
rte_comch_msgq_consumer_destroy(struct rte_comch_msgq_consumer *c)
{
	struct rte_comch_msgq *q;

	if (c == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	q = c->msgq;
	if (rte_comch_msgq_consumer_state(c) != RTE_COMCH_STATE_IDLE) {
		COMCH_LOG(ERR, "MsgQ %s: destroy of consumer %u while %s", q->name, c->id,
			rte_comch_state_name(rte_comch_msgq_consumer_state(c)));
		return -EBUSY;
	}
	pthread_mutex_lock(&q->lock);
	comch_store_relaxed(&q->consumers[c->id - 1], NULL);
	wait_for_bursts(q);
	TAILQ_REMOVE(&q->consumer_list, c, next);
	q->nb_consumers--;
	pthread_mutex_unlock(&q->lock);
	/* Model: leave.pml, leave. */
	if (c->cq != NULL)
		__atomic_fetch_sub(&c->cq->nb_consumers, 1, __ATOMIC_RELEASE);
	else
		comch_msgq_sleep_fini(&c->own.sleep);
	consumer_free(c);
	return 0;
}

enum rte_comch_state
rte_comch_msgq_consumer_state(const struct rte_comch_msgq_consumer *c)
{
	return c == NULL ? RTE_COMCH_STATE_IDLE :
		(enum rte_comch_state)comch_load_acquire(&c->state); /* leave.pml, left */
}

uint32_t
rte_comch_msgq_consumer_id(const struct rte_comch_msgq_consumer *c)
{
	return c == NULL ? 0 : c->id;
}

/* Producers */

static bool
producer_id_is_taken(const struct rte_comch_msgq *q, uint32_t id)
{
	const struct rte_comch_msgq_producer *p;

	TAILQ_FOREACH(p, &q->producer_list, next)
		if (p->id == id)
			return true;
	return false;
}

static int
dma_check(const struct rte_comch_msgq_dma *dma)
{
	struct rte_dma_info info;

	if (dma == NULL)
		return 0;
	if (rte_dma_info_get(dma->dev_id, &info) != 0) {
		COMCH_LOG(ERR, "MsgQ: DMA device %d does not exist", dma->dev_id);
		return -EINVAL;
	}
	if ((info.dev_capa & RTE_DMA_CAPA_MEM_TO_MEM) == 0 ||
			(info.dev_capa & RTE_DMA_CAPA_OPS_COPY) == 0 ||
			dma->vchan >= info.nb_vchans) {
		COMCH_LOG(ERR, "MsgQ: DMA device %s: channel %u of %u, copies of memory: %s",
			info.dev_name, dma->vchan, info.nb_vchans,
			(info.dev_capa & RTE_DMA_CAPA_MEM_TO_MEM) != 0 ? "yes" : "no");
		return -EINVAL;
	}
	if (rte_eal_iova_mode() == RTE_IOVA_VA)
		return 0;
	COMCH_LOG(ERR, "MsgQ: DMA device %s: needs virtual addresses: run EAL with "
		"--iova-mode=va", info.dev_name);
	return -ENOTSUP;
}

static struct rte_comch_msgq_producer *
producer_alloc(struct rte_comch_msgq *q, uint32_t size)
{
	struct rte_comch_msgq_producer *p;

	p = rte_zmalloc_socket("comch_msgq_producer", sizeof(*p), COMCH_MSGQ_ALIGN, q->socket_id);
	if (p == NULL)
		return NULL;
	p->seen = rte_zmalloc_socket("comch_msgq_producer", q->max_consumers * sizeof(*p->seen),
		COMCH_MSGQ_ALIGN, q->socket_id);
	p->done = rte_zmalloc_socket("comch_msgq_producer", size * sizeof(*p->done),
		COMCH_MSGQ_ALIGN, q->socket_id);
	p->pending = rte_zmalloc_socket("comch_msgq_producer", size * sizeof(*p->pending),
		COMCH_MSGQ_ALIGN, q->socket_id);
	p->mask = size - 1;
	p->msgq = q;
	p->consumers = q->consumers;
	p->max_consumers = q->max_consumers;
	return p;
}

static void
producer_free(struct rte_comch_msgq_producer *p)
{
	rte_free(p->seen);
	rte_free(p->done);
	rte_free(p->pending);
	rte_free(p);
}

static int
producer_join(struct rte_comch_msgq *q, struct rte_comch_msgq_producer *p, uint32_t id)
{
	int ret;

	pthread_mutex_lock(&q->lock);
	ret = take_id(q, "producer", q->nb_producers, q->max_producers, producer_id_is_taken,
		&id);
	if (ret == 0) {
		p->id = id;
		/* Let an existing single producer use CAS before the new one can send. */
		p->is_single = q->nb_producers++ == 0;
		if (q->nb_producers == 2) {
			comch_store_relaxed(&TAILQ_FIRST(&q->producer_list)->is_single, 0);
			wait_for_bursts(q);
		}
		TAILQ_INSERT_TAIL(&q->producer_list, p, next);
	}
	pthread_mutex_unlock(&q->lock);
	return ret;
}

struct rte_comch_msgq_producer *
rte_comch_msgq_producer_create(struct rte_comch_msgq *q,
		const struct rte_comch_msgq_producer_conf *user_conf)
{
	struct rte_comch_msgq_producer_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_msgq_producer *p;
	int ret = q == NULL ? -EINVAL : 0;

	if (ret == 0 && user_conf != NULL)
		ret = comch_obj_conf(&conf, sizeof(conf), user_conf, "MsgQ's producer");
	if (ret == 0)
		ret = queue_size_check("producer", &conf.queue_size);
	if (ret == 0)
		ret = comch_msgq_sleep_check("producer", conf.poll, conf.notify);
	if (ret == 0)
		ret = dma_check(conf.dma);
	if (ret != 0)
		goto err;
	ret = -ENOMEM;
	p = producer_alloc(q, conf.queue_size);
	if (p == NULL)
		goto err;
	if (p->seen == NULL || p->done == NULL || p->pending == NULL)
		goto err_free;
	if (conf.dma != NULL) {
		p->has_dma = true;
		p->dma = *conf.dma;
	}
	comch_msgq_sleep_init(&p->sleep, RTE_COMCH_POLL_TX, conf.poll, conf.notify,
		conf.notify_arg);
	ret = producer_join(q, p, conf.id);
	if (ret != 0)
		goto err_detach;
	return p;

err_detach:
	comch_msgq_sleep_fini(&p->sleep);
err_free:
	producer_free(p);
err:
	rte_errno = -ret;
	return NULL;
}

int
rte_comch_msgq_producer_destroy(struct rte_comch_msgq_producer *p)
{
	struct rte_comch_msgq *q;

	if (p == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	q = p->msgq;
	if (p->pending_head != p->pending_tail) {
		COMCH_LOG(ERR, "MsgQ %s: destroy of producer %u with %u operations that are not "
			"done", q->name, p->id, p->pending_tail - p->pending_head);
		return -EBUSY;
	}
	pthread_mutex_lock(&q->lock);
	TAILQ_REMOVE(&q->producer_list, p, next);
	/* A remaining producer keeps using CAS: it may not see the claims of others yet. */
	q->nb_producers--;
	pthread_mutex_unlock(&q->lock);
	comch_msgq_sleep_fini(&p->sleep);
	producer_free(p);
	return 0;
}

uint32_t
rte_comch_msgq_producer_id(const struct rte_comch_msgq_producer *p)
{
	return p == NULL ? 0 : p->id;
}
