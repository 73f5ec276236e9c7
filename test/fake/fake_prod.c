/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers of the driver in memory. */

#include <errno.h>
#include <stdlib.h>

#include "fake_private.h"

static struct fake_prod *
prod_of(struct rte_comch_dq *dq)
{
	return container_of(dq, struct fake_prod, dq.base);
}

/* Steps of comch_send.h, called in bursts */

static uint16_t
step(struct comch_send *tx, struct comch_send_remote *to, const struct rte_comch_op *ops,
		uint32_t n)
{
	struct fake_remote *r = container_of(to, struct fake_remote, to);
	struct fake_prod *p = container_of(tx, struct fake_prod, tx);
	uint8_t *dst[COMCH_SEND_GROUP];
	uint32_t i, k;
	bool staged;
	int err;

	fake_net_run(r);
	/* A slot is free when its message has completed. */
	n = RTE_MIN(comch_send_same_consumer(ops, n),
		to->base.depth - (uint32_t)(r->claim - r->completed));
	if (n == 0)
		return 0;
	k = comch_send_group(&tx->ahead, to, r->claim, ops, n, dst, &err);
	staged = k == 0 && err == COMCH_SEND_STAGED;
	if (staged) {
		k = 1;
		dst[0] = NULL;
	}
	if (k == 0)
		return err < 0 ? comch_send_fail(tx, &ops[0], err) : 0;
	for (i = 0; i < k; i++)
		fake_net_send(p, r, &ops[i], dst[i], staged);
	if (staged)
		comch_count(&tx->stats.staged, 1);
	if (r->cons != NULL)
		fake_net_wake(&r->cons->dq);
	return (uint16_t)k;
}

static bool
never_blocked(const struct comch_send *tx __rte_unused)
{
	return false;
}

/* Bursts */

static uint16_t
prod_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct fake_prod *p = queue;
	struct comch_send *tx = &p->tx;
	uint16_t took;

	pthread_mutex_lock(&fake_lock);
	tx->short_id = 0;
	comch_epoch_enter(&tx->epoch);
	took = comch_send_burst(tx, ops, n, step, never_blocked);
	comch_epoch_leave(&tx->epoch);
	if (took < n)
		comch_count(&tx->stats.later, 1);
	fake_poll_again(fake_dev_of(p->dq.base.link), &p->dq.empty[0], took > 0 || n == 0);
	pthread_mutex_unlock(&fake_lock);
	return took;
}

/* Perform the due actions of all consumers of the link. */
static void
run_all(struct fake_prod *p)
{
	struct fake_data *data = p->dq.base.link->data;
	struct fake_remote *r;

	TAILQ_FOREACH(r, &data->remotes, next)
		fake_net_run(r);
}

static uint16_t
prod_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct fake_prod *p = queue;

	pthread_mutex_lock(&fake_lock);
	run_all(p);
	n = comch_done_closed(&p->tx.done, n);
	comch_done_take(&p->tx.done, cpls, n);
	fake_poll_again(fake_dev_of(p->dq.base.link), &p->dq.empty[1], n > 0);
	pthread_mutex_unlock(&fake_lock);
	return n;
}

/* Creation and end */

int
fake_prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq)
{
	struct fake_prod *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return -ENOMEM;
	if (fake_in_create != NULL)
		fake_in_create();
	if (comch_send_init(&p->tx, &p->dq.base, args) != 0)
		goto err_free;
	if (fake_dq_init(&p->dq, link, false) != 0)
		goto err_fini;
	core->send = prod_send;
	core->done = prod_done;
	core->queue = p;
	*dq = &p->dq.base;
	return 0;

err_fini:
	comch_send_fini(&p->tx);
err_free:
	free(p);
	return -ENOMEM;
}

void
fake_prod_free(struct fake_prod *p)
{
	comch_send_fini(&p->tx);
	free(p);
}

void
fake_prod_begin(struct rte_comch_dq *dq, uint32_t id)
{
	struct fake_prod *p = prod_of(dq);

	p->tx.id = id;
	p->tx.ahead.id = 0;
	comch_store_release(&p->tx.halt, RTE_COMCH_HALT_NONE);
}

/* The peer needs no PRODUCER_NEW. */
bool
fake_prod_offer(struct rte_comch_dq *dq __rte_unused, struct rte_comch_ticket *mine __rte_unused)
{
	return false;
}

void
fake_prod_halt(struct rte_comch_dq *dq, enum rte_comch_halt why)
{
	struct fake_prod *p = prod_of(dq);

	pthread_mutex_lock(&fake_lock);
	comch_store_release(&p->tx.halt, why);
	if (why == RTE_COMCH_HALT_DOWN) {
		run_all(p);
		fake_net_abort(p, -ECONNRESET);
	}
	pthread_mutex_unlock(&fake_lock);
}

bool
fake_prod_idle(const struct rte_comch_dq *dq)
{
	/* The driver's own object: asking lets its operations continue. */
	struct fake_prod *p = (struct fake_prod *)(uintptr_t)container_of(dq,
			const struct fake_prod, dq.base);
	bool idle;

	pthread_mutex_lock(&fake_lock);
	run_all(p);
	idle = p->nb_in_flight == 0;
	pthread_mutex_unlock(&fake_lock);
	return idle;
}

bool
fake_prod_abort(struct rte_comch_dq *dq, int err)
{
	pthread_mutex_lock(&fake_lock);
	fake_net_abort(prod_of(dq), err);
	pthread_mutex_unlock(&fake_lock);
	return true;
}

struct comch_epoch *
fake_prod_epoch(struct rte_comch_dq *dq)
{
	return &prod_of(dq)->tx.epoch;
}

void
fake_prod_arm(struct fake_prod *p)
{
	struct fake_data *data = p->dq.base.link->data;
	struct fake_remote *r;

	p->dq.armed = true;
	TAILQ_FOREACH(r, &data->remotes, next)
		if (fake_net_has_replies(r))
			fake_net_wake(&p->dq);
}

bool
fake_prod_pending(struct fake_prod *p)
{
	struct comch_send_remote *to;
	uint32_t slot = 0;

	run_all(p);
	if (comch_done_closed(&p->tx.done, 1) > 0)
		return true;
	if (p->tx.short_id == 0)
		return false;
	to = comch_send_find(&p->tx, p->tx.short_id, &slot);
	/* Without the consumer the send completes, with -ENOENT. */
	return to == NULL || comch_send_posted(to, *to->claim, 1) != 0;
}
