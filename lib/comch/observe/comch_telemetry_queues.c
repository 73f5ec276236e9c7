/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Telemetry of producers and consumers, with their connection's lock held. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_telemetry.h>

#include "data/comch_producer.h"
#include "observe/comch_telemetry.h"

static bool
is_consumer(const struct comch_queue *q)
{
	return q->obj.type == RTE_COMCH_OBJ_CONSUMER;
}

/* The queue of a type after q; NULL: the first. */
static const struct comch_queue *
queue_next(const struct rte_comch_conn *conn, enum rte_comch_obj_type type,
		const struct comch_queue *q)
{
	const struct rte_comch_consumer *c;
	const struct rte_comch_producer *p;

	if (conn->fast == NULL)
		return NULL;
	if (type == RTE_COMCH_OBJ_CONSUMER) {
		c = q == NULL ? TAILQ_FIRST(&conn->fast->consumers) :
			TAILQ_NEXT(container_of(q, const struct rte_comch_consumer, q), next);
		return c == NULL ? NULL : &c->q;
	}
	p = q == NULL ? TAILQ_FIRST(&conn->fast->producers) :
		TAILQ_NEXT(container_of(q, const struct rte_comch_producer, q), next);
	return p == NULL ? NULL : &p->q;
}

/* Returns 0, or -1 once the reply is full. */
static int
list_queues(struct rte_comch_conn *conn, enum rte_comch_obj_type type, struct rte_tel_data *d)
{
	const struct comch_queue *q = NULL;
	char id[32];
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	while (ret == 0 && (q = queue_next(conn, type, q)) != NULL) {
		snprintf(id, sizeof(id), "%" PRIu32 ".%" PRIu32, conn->id, q->id);
		ret = rte_tel_data_add_array_string(d, id) == 0 ? 0 : -1;
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

/* List the queues of all connections, or of one. */
static int
queue_list(const struct comch_tel_args *args, enum rte_comch_obj_type type,
		struct rte_tel_data *d)
{
	struct rte_comch_conn *conn;

	if (args->nb > 0 && comch_tel_find_conn(args->val[0]) == NULL)
		return -EINVAL;
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	COMCH_REGISTRY_FOREACH(conn, &comch_conn_registry) {
		if (args->nb > 0 && conn->id != args->val[0])
			continue;
		if (list_queues(conn, type, d) != 0)
			break;
	}
	return 0;
}

void
comch_tel_consumer(struct rte_tel_data *d, const struct rte_comch_consumer *c)
{
	comch_tel_u64(d, "depth", c->q.depth);
	comch_tel_u64(d, "imm_size", c->imm_size);
	comch_tel_u64(d, "staging_size", c->staging_size);
	comch_tel_u64(d, "registrations", comch_load_acquire(&c->mrs.nb)); /* No model: a figure */
	rte_tel_data_add_dict_int(d, "snapshot",
		(c->conf_flags & RTE_COMCH_CONSUMER_F_SNAPSHOT) != 0);
}

static void
queue_info(struct rte_tel_data *d, const struct comch_queue *q)
{
	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "conn", q->conn->id);
	comch_tel_u64(d, "id", q->id);
	comch_tel_state(d, &q->obj);
	if (is_consumer(q))
		comch_tel_consumer(d, q->obj.self);
	else
		comch_tel_u64(d, "depth", q->depth);
	comch_tel_text(d, "poll", q->obj.poll->name);
}

static void
queue_stats(struct rte_tel_data *d, const struct comch_queue *q)
{
	struct rte_comch_consumer_stats cons;
	struct rte_comch_producer_stats prod;

	rte_tel_data_start_dict(d);
	if (is_consumer(q)) {
		rte_comch_consumer_stats_get(q->obj.self, &cons);
		comch_tel_consumer_counters(d, &cons);
	} else {
		rte_comch_producer_stats_get(q->obj.self, &prod);
		comch_tel_producer_counters(d, &prod);
	}
}

static int
queue_reply(const struct comch_tel_args *args, enum rte_comch_obj_type type,
		struct rte_tel_data *d, void (*reply)(struct rte_tel_data *d,
			const struct comch_queue *q))
{
	struct rte_comch_conn *conn = comch_tel_find_conn(args->val[0]);
	const struct comch_queue *q = NULL;

	if (conn == NULL)
		return -EINVAL;
	pthread_mutex_lock(&conn->lock);
	while ((q = queue_next(conn, type, q)) != NULL && q->id != args->val[1])
		;
	if (q != NULL)
		reply(d, q);
	pthread_mutex_unlock(&conn->lock);
	return q != NULL ? 0 : -EINVAL;
}

#define QUEUE_FUNCS(type, TYPE) \
int \
comch_tel_##type##_list(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	return queue_list(args, RTE_COMCH_OBJ_##TYPE, d); \
} \
int \
comch_tel_##type##_info(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	return queue_reply(args, RTE_COMCH_OBJ_##TYPE, d, queue_info); \
} \
int \
comch_tel_##type##_stats(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	return queue_reply(args, RTE_COMCH_OBJ_##TYPE, d, queue_stats); \
}

QUEUE_FUNCS(producer, PRODUCER)
QUEUE_FUNCS(consumer, CONSUMER)
