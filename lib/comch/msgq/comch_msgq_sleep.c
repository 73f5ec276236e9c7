/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Wake-ups of a MsgQ's consumers and producers: by a poll or by a notify function. */

#include <errno.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_log.h"
#include "msgq/comch_msgq.h"

static bool
ring_has(const struct comch_msgq_ring *ring)
{
	uint64_t head = comch_load_relaxed(&ring->head);

	/* MR. Model: msgq.pml, look. */
	return comch_load_acquire(&ring->lines[head & ring->mask].seq) == head + 1;
}

static void
notify_poll(void *arg)
{
	rte_comch_poll_notify(arg);
}

/* light_fence: the poll knows which fence it takes. */
static bool
source_arm(struct comch_poll_source *source)
{
	struct comch_msgq_sleep *sleep = container_of(source, struct comch_msgq_sleep, source);

	comch_armed_set(&sleep->armed, 1);
	return false;
}

/* Has a consumer with a ring of its own anything to receive? */
static bool
own_pending(const struct rte_comch_msgq_consumer *c)
{
	/* A stop returns credits. */
	return ring_has(&c->own) ||
		rte_comch_msgq_consumer_state(c) == RTE_COMCH_STATE_STOPPING;
}

static bool
ring_pending(struct comch_poll_source *source)
{
	struct comch_msgq_ring *ring = container_of(source, struct comch_msgq_ring, sleep.source);

	return ring->is_shared ? ring_has(ring) :
		own_pending(container_of(ring, struct rte_comch_msgq_consumer, own));
}

/* Arm the consumer whose credit the producer waits for. lock held: it stays valid. */
static void
producer_arm_locked(struct rte_comch_msgq_producer *p)
{
	struct rte_comch_msgq_consumer *c = comch_msgq_find(p, p->short_id);

	p->waits_for = p->short_id;
	comch_armed_set(&p->sleep.armed, 1);
	/*
	 * Release: pairs with the acquire in comch_msgq_wake_producers().
	 * Model: publish.pml, publish.
	 */
	if (c != NULL)
		comch_store_release(&c->tx_armed, 1);
}

/* Report a shortened send once: the caller may not retry it. lock held. */
static bool
producer_pending_locked(struct rte_comch_msgq_producer *p)
{
	if (p->done_head != p->done_tail || p->pending_head != p->pending_tail)
		return true;
	if (p->short_id == 0 || !comch_msgq_can_send(p, p->short_id))
		return false;
	p->short_id = 0;
	return true;
}

static bool
producer_arm(struct comch_poll_source *source)
{
	struct rte_comch_msgq_producer *p = container_of(source, struct rte_comch_msgq_producer,
			sleep.source);

	pthread_mutex_lock(&p->msgq->lock);
	producer_arm_locked(p);
	pthread_mutex_unlock(&p->msgq->lock);
	return false;
}

static bool
producer_pending(struct comch_poll_source *source)
{
	struct rte_comch_msgq_producer *p = container_of(source, struct rte_comch_msgq_producer,
			sleep.source);
	bool pending;

	pthread_mutex_lock(&p->msgq->lock);
	pending = producer_pending_locked(p);
	pthread_mutex_unlock(&p->msgq->lock);
	return pending;
}

int
comch_msgq_sleep_check(const char *what, struct rte_comch_poll *poll,
		rte_comch_msgq_notify_t notify)
{
	if (poll == NULL || notify == NULL)
		return 0;
	COMCH_LOG(ERR, "MsgQ: %s: set either poll or notify, not both", what);
	return -EINVAL;
}

void
comch_msgq_sleep_init(struct comch_msgq_sleep *sleep, uint32_t cls, struct rte_comch_poll *poll,
		rte_comch_msgq_notify_t notify, void *arg)
{
	const bool rx = cls == RTE_COMCH_POLL_RX;

	sleep->notify = notify;
	sleep->arg = arg;
	sleep->poll = poll;
	if (poll == NULL)
		return;
	sleep->notify = notify_poll;
	sleep->arg = poll;
	sleep->source.classes = cls;
	sleep->source.arm = rx ? source_arm : producer_arm;
	sleep->source.pending = rx ? ring_pending : producer_pending;
	sleep->source.light_fence = true;
	comch_poll_source_add(poll, &sleep->source);
	comch_poll_attach(poll);
	/* A poll that already sleeps has not armed this source: wake it. */
	rte_comch_poll_notify(poll);
}

void
comch_msgq_sleep_fini(struct comch_msgq_sleep *sleep)
{
	if (sleep->poll == NULL)
		return;
	comch_poll_source_del(sleep->poll, &sleep->source);
	comch_poll_detach(sleep->poll);
}

static bool
may_arm(const struct comch_msgq_sleep *sleep)
{
	return sleep->notify != NULL && sleep->poll == NULL;
}

/* notify may be called nevertheless, if a publisher saw the end armed. */
static int
disarm(struct comch_msgq_sleep *sleep)
{
	comch_armed_set(&sleep->armed, 0);
	return -EAGAIN;
}

int
rte_comch_msgq_cq_arm(struct rte_comch_msgq_cq *cq)
{
	if (cq == NULL || !may_arm(&cq->ring.sleep))
		return -EINVAL;
	comch_armed_set(&cq->ring.sleep.armed, 1);
	comch_fence_heavy(); /* MW: wake.pml, sleep */
	return ring_has(&cq->ring) ? disarm(&cq->ring.sleep) : 0;
}

int
rte_comch_msgq_consumer_arm(struct rte_comch_msgq_consumer *c)
{
	if (c == NULL || c->cq != NULL || !may_arm(&c->own.sleep))
		return -EINVAL;
	comch_armed_set(&c->own.sleep.armed, 1);
	comch_fence_heavy(); /* MW: wake.pml, sleep */
	return own_pending(c) ? disarm(&c->own.sleep) : 0;
}

int
rte_comch_msgq_producer_arm(struct rte_comch_msgq_producer *p)
{
	bool pending;

	if (p == NULL || !may_arm(&p->sleep))
		return -EINVAL;
	pthread_mutex_lock(&p->msgq->lock);
	producer_arm_locked(p);
	comch_fence_heavy(); /* MW: wake.pml, sleep */
	pending = producer_pending_locked(p);
	pthread_mutex_unlock(&p->msgq->lock);
	return pending ? disarm(&p->sleep) : 0;
}

void
comch_msgq_wake_producers(struct rte_comch_msgq_consumer *c)
{
	struct rte_comch_msgq *q = c->msgq;
	struct rte_comch_msgq_producer *p;
	uint32_t n = 0;

	/* Acquire: pairs with the release of the arming producer; a later one sets it again. */
	if (!comch_armed_take(&c->tx_armed))
		return;
	pthread_mutex_lock(&q->lock);
	TAILQ_FOREACH(p, &q->producer_list, next)
		if (p->waits_for == c->id)
			n += comch_msgq_wake(&p->sleep);
	pthread_mutex_unlock(&q->lock);
	comch_count(&c->stats.wakes, n);
}
