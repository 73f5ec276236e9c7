/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What telemetry serves of MsgQs: numbered by their place among those that live,
 * their ends as dictionaries within. Under the registry's lock, and of the ends
 * under the MsgQ's own.
 */

#include <errno.h>

#include "comch_msgq.h"
#include "comch_registry.h"
#include "comch_telemetry.h"

static struct rte_comch_msgq *
find_msgq(uint32_t place)
{
	struct rte_comch_msgq *q;

	TAILQ_FOREACH(q, &comch_registry.msgqs, next)
		if (place-- == 0)
			return q;
	return NULL;
}

int
comch_tel_msgq_list(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_msgq *q;
	uint32_t nb = 0;

	TAILQ_FOREACH(q, &comch_registry.msgqs, next)
		nb++;
	comch_tel_places(args, d, nb);
	return 0;
}

static void
consumer_info(struct rte_tel_data *d, const struct rte_comch_msgq_consumer *c)
{
	/* First: what was given later only makes more of them. */
	uint64_t claim = comch_load_acquire(&c->claim);

	comch_tel_text(d, "state", rte_comch_state_name(rte_comch_msgq_consumer_state(c)));
	comch_tel_u64(d, "depth", c->mask + UINT64_C(1));
	comch_tel_u64(d, "imm_size", c->imm_size);
	comch_tel_u64(d, "credits", comch_load_relaxed(&c->posted) - claim);
	rte_tel_data_add_dict_int(d, "completion_queue", c->cq != NULL);
}

static void
producer_info(struct rte_tel_data *d, const struct rte_comch_msgq_producer *p)
{
	comch_tel_u64(d, "depth", p->mask + UINT64_C(1));
	rte_tel_data_add_dict_int(d, "dma_device", p->has_dma ? p->dma.dev_id : -1);
}

static void
consumer_stats(struct rte_tel_data *d, const struct rte_comch_msgq_consumer *c)
{
	struct rte_comch_consumer_stats stats;

	rte_comch_msgq_consumer_stats_get(c, &stats);
	comch_tel_consumer_counters(d, &stats);
}

static void
producer_stats(struct rte_tel_data *d, const struct rte_comch_msgq_producer *p)
{
	struct rte_comch_producer_stats stats;

	rte_comch_msgq_producer_stats_get(p, &stats);
	comch_tel_producer_counters(d, &stats);
}

static int
reply(const struct comch_tel_args *args, struct rte_tel_data *d,
		void (*of_producer)(struct rte_tel_data *, const struct rte_comch_msgq_producer *),
		void (*of_consumer)(struct rte_tel_data *, const struct rte_comch_msgq_consumer *))
{
	struct rte_comch_msgq *q = find_msgq(args->val[0]);
	struct rte_comch_msgq_consumer *c;
	struct rte_comch_msgq_producer *p;
	struct rte_tel_data *in, *end;

	if (q == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	comch_tel_text(d, "name", q->name);
	pthread_mutex_lock(&q->lock);
	in = comch_tel_dict(d, "producers");
	TAILQ_FOREACH(p, &q->producer_list, next)
		if (in != NULL && (end = comch_tel_numbered(in, p->id)) != NULL)
			of_producer(end, p);
	in = comch_tel_dict(d, "consumers");
	TAILQ_FOREACH(c, &q->consumer_list, next)
		if (in != NULL && (end = comch_tel_numbered(in, c->id)) != NULL)
			of_consumer(end, c);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

int
comch_tel_msgq_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	return reply(args, d, producer_info, consumer_info);
}

int
comch_tel_msgq_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	return reply(args, d, producer_stats, consumer_stats);
}
