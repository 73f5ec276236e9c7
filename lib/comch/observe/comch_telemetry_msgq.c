/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Telemetry of a MsgQ: its producers and consumers as nested dictionaries. Needs the
 * registry's lock, and the MsgQ's lock for producers and consumers.
 */

#include "observe/comch_telemetry.h"

static void
consumer_info(struct rte_tel_data *d, const struct rte_comch_msgq_consumer *c)
{
	/*
	 * Read claim before posted: later posts can only increase the difference.
	 * No model: statistics only.
	 */
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

static void
reply(struct rte_comch_msgq *q, struct rte_tel_data *d,
		void (*of_producer)(struct rte_tel_data *, const struct rte_comch_msgq_producer *),
		void (*of_consumer)(struct rte_tel_data *, const struct rte_comch_msgq_consumer *))
{
	struct rte_comch_msgq_consumer *c;
	struct rte_comch_msgq_producer *p;
	struct rte_tel_data *in, *end;

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
}

void
comch_tel_one_msgq_info(struct rte_comch_msgq *q, struct rte_tel_data *d)
{
	reply(q, d, producer_info, consumer_info);
}

void
comch_tel_one_msgq_stats(struct rte_comch_msgq *q, struct rte_tel_data *d)
{
	reply(q, d, producer_stats, consumer_stats);
}
