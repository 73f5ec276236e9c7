/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Consumers of the driver in memory. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_private.h"

static struct fake_cons *
cons_of(struct rte_comch_dq *dq)
{
	return container_of(dq, struct fake_cons, dq.base);
}

static struct fake_cons *
cons_of_rx(struct comch_recv *rx)
{
	return container_of(rx, struct fake_cons, rx);
}

/* Consumers of all links that are offered to a peer. */
static TAILQ_HEAD(, fake_dq) offered = TAILQ_HEAD_INITIALIZER(offered);

struct fake_cons *
fake_cons_find(uint64_t key)
{
	struct fake_cons *c;
	struct fake_dq *dq;

	TAILQ_FOREACH(dq, &offered, next) {
		c = container_of(dq, struct fake_cons, dq);
		if (c->key == key)
			return c;
	}
	return NULL;
}

/* Steps of comch_recv.h, called in bursts */

static const struct comch_rec *
at_head(const struct comch_recv *rx)
{
	const struct fake_cons *c = container_of(rx, const struct fake_cons, rx);

	return &c->rec[rx->head & rx->mask];
}

static bool
is_committed(const struct comch_recv *rx)
{
	return rx->head != rx->tail && at_head(rx)->seq == rx->head + 1;
}

/* The payload arrived with the message: copy it into the buffer. */
static int
pull(struct comch_recv *rx, const struct comch_posted *e, uint32_t len)
{
	uint8_t **payload = &cons_of_rx(rx)->staged[rx->head & rx->mask];

	memcpy(e->addr, *payload, len);
	free(*payload);
	*payload = NULL;
	return 1;
}

static bool
in_flight(struct comch_recv *rx)
{
	return fake_now < cons_of_rx(rx)->flush_at;
}

static void
close_cons(struct fake_cons *c, enum rte_comch_halt why)
{
	struct comch_recv *rx = &c->rx;

	if (rx->drained != 0 || rx->halt >= (uint32_t)why)
		return;
	c->closed = true;
	c->flush_at = fake_due(c->dq.base.link);
	comch_store_release(&rx->halt, why);
}

static void
halt(struct comch_recv *rx, enum rte_comch_halt why)
{
	close_cons(cons_of_rx(rx), why);
}

static const struct comch_recv_steps steps = {
	.at_head = at_head,
	.is_committed = is_committed,
	.pull = pull,
	.in_flight = in_flight,
	.halt = halt,
};

static void
put_desc(struct comch_recv *rx, uint64_t pos, uint64_t where, uint32_t len)
{
	struct fake_cons *c = cons_of_rx(rx);

	if (c->remote != NULL)
		fake_net_post(c->remote, pos, where, len);
}

static void
publish(struct comch_recv *rx)
{
	struct fake_cons *c = cons_of_rx(rx);

	if (c->remote != NULL)
		fake_dq_wake_producers(c->remote->data->link);
}

/* Bursts */

static uint16_t
cons_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n)
{
	struct fake_cons *c = queue;

	pthread_mutex_lock(&fake_lock);
	n = comch_recv_post(&c->rx, bufs, n, put_desc, publish);
	pthread_mutex_unlock(&fake_lock);
	return n;
}

static uint16_t
cons_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct fake_cons *c = queue;

	pthread_mutex_lock(&fake_lock);
	if (c->remote != NULL)
		fake_net_run(c->remote);
	n = comch_recv_all(&c->rx, cpls, n, &steps);
	fake_poll_again(fake_dev_of(c->dq.base.link), &c->dq.empty[0], n > 0);
	pthread_mutex_unlock(&fake_lock);
	return n;
}

void
fake_cons_drain(struct fake_cons *c)
{
	if (c->rx.drained == 0)
		comch_recv_drain(&c->rx, NULL, 0, comch_load_acquire(&c->rx.halt), &steps);
}

/* Creation and end */

int
fake_cons_create(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
		struct rte_comch_consumer_core *core, struct rte_comch_dq **dq)
{
	struct fake_cons *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return -ENOMEM;
	if (fake_in_create != NULL)
		fake_in_create();
	c->dq.event_fd = -1;
	c->rec = calloc(args->depth, sizeof(*c->rec));
	c->staged = calloc(args->depth, sizeof(*c->staged));
	if (c->rec == NULL || c->staged == NULL ||
			comch_recv_init(&c->rx, &c->dq.base, args) != 0)
		goto err_free;
	if (fake_dev_of(link)->mbufs) {
		c->mbufs = fake_mbuf_queue_new(args->depth);
		if (c->mbufs == NULL)
			goto err_free;
	}
	if (fake_dq_init(&c->dq, link, true) != 0)
		goto err_free;
	core->post = cons_post;
	core->recv = cons_recv;
	core->queue = c;
	*dq = &c->dq.base;
	return 0;

err_free:
	fake_cons_free(c);
	return -ENOMEM;
}

void
fake_cons_free(struct fake_cons *c)
{
	comch_recv_fini(&c->rx);
	fake_mbuf_queue_free(c->mbufs);
	free(c->staged);
	free(c->rec);
	free(c);
}

/* Detach the consumer from the peer. */
static void
hide(struct fake_cons *c)
{
	uint32_t i;

	if (c->key != 0)
		TAILQ_REMOVE(&offered, &c->dq, next);
	c->key = 0;
	if (c->remote != NULL)
		c->remote->cons = NULL;
	c->remote = NULL;
	for (i = 0; i < c->rx.depth; i++) {
		free(c->staged[i]);
		c->staged[i] = NULL;
	}
}

static const char op_offer[] = "cons_offer";
static const char op_bind[] = "cons_bind";

int
fake_cons_offer(struct rte_comch_dq *dq, uint32_t staging_size __rte_unused,
		struct rte_comch_ticket *mine)
{
	struct fake_cons *c = cons_of(dq);
	int ret;

	if (fake_dev_of(dq->link)->no_queue)
		return -ENOMEM;
	pthread_mutex_lock(&fake_lock);
	ret = fake_late(dq->link, op_offer, (uintptr_t)c);
	if (ret != 0)
		goto unlock;
	hide(c);
	memset(c->rec, 0, c->rx.depth * sizeof(*c->rec));
	c->nb_arrived = 0;
	c->closed = false;
	c->key = fake_new_key();
	TAILQ_INSERT_TAIL(&offered, &c->dq, next);
	fake_ticket_put(mine, c->key);
unlock:
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

int
fake_cons_bind(struct rte_comch_dq *dq, struct rte_comch_ticket *peers)
{
	struct fake_cons *c = cons_of(dq);
	int ret = 0;

	pthread_mutex_lock(&fake_lock);
	if (peers != NULL && fake_ticket_get(peers) != c->key)
		ret = -EPROTO;
	else
		ret = fake_late(dq->link, op_bind, (uintptr_t)c);
	if (ret == 0)
		comch_recv_begin(&c->rx);
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

void
fake_cons_halt(struct rte_comch_dq *dq, enum rte_comch_halt why)
{
	struct fake_cons *c = cons_of(dq);

	pthread_mutex_lock(&fake_lock);
	close_cons(c, why);
	/* With nothing posted, drain without a burst. */
	if (why == RTE_COMCH_HALT_STOP && c->rx.drained == 0 &&
			c->rx.entry_head == c->rx.entry_tail &&
			fake_mbuf_queue_is_empty(c->mbufs)) {
		c->flush_at = 0;
		fake_cons_drain(c);
	}
	fake_net_wake(&c->dq);
	pthread_mutex_unlock(&fake_lock);
}

bool
fake_cons_drained(const struct rte_comch_dq *dq)
{
	/* Acquire: pairs with comch_recv_drain(). */
	return comch_load_acquire(&container_of(dq, const struct fake_cons,
		dq.base)->rx.drained) != 0;
}

bool
fake_cons_retire(struct rte_comch_dq *dq, uint64_t *final)
{
	struct fake_cons *c = cons_of(dq);

	pthread_mutex_lock(&fake_lock);
	*final = c->nb_arrived;
	fake_late_cancel(dq->link, op_offer, (uintptr_t)c);
	fake_late_cancel(dq->link, op_bind, (uintptr_t)c);
	hide(c);
	pthread_mutex_unlock(&fake_lock);
	return true;
}

uint32_t
fake_cons_room(const struct rte_comch_dq *dq)
{
	return comch_recv_room(&container_of(dq, const struct fake_cons, dq.base)->rx);
}

void
fake_cons_arm(struct fake_cons *c)
{
	c->dq.armed = true;
	if (c->remote != NULL && fake_net_has_sends(c->remote))
		fake_net_wake(&c->dq);
}

bool
fake_cons_pending(struct fake_cons *c)
{
	if (c->remote != NULL)
		fake_net_run(c->remote);
	if (comch_recv_has_refusal(&c->rx))
		return true;
	if (c->rx.drained != 0)
		return false;
	return c->rx.halt != RTE_COMCH_HALT_NONE || is_committed(&c->rx) ||
		!fake_mbuf_queue_is_empty(c->mbufs);
}
