/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Statistics and information calls of the API, and the dump. */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include <rte_string_fns.h>

#include "ctrl/comch_client.h"
#include "ctrl/comch_dev.h"
#include "ctrl/comch_server.h"
#include "data/comch_consumer.h"
#include "data/comch_producer.h"
#include "msgq/comch_msgq.h"

/* All counters of a structure are u64: copy each atomically. */
static void
copy_counters(void *dst, const void *src, size_t size)
{
	const uint64_t *from = src;
	uint64_t *to = dst;
	size_t i;

	for (i = 0; i < size / sizeof(*to); i++)
		to[i] = comch_load_relaxed(&from[i]);
}

int
rte_comch_server_stats_get(const struct rte_comch_server *server,
		struct rte_comch_server_stats *stats)
{
	if (server == NULL || stats == NULL)
		return -EINVAL;
	copy_counters(stats, &server->stats, sizeof(*stats));
	return 0;
}

int
rte_comch_conn_stats_get(const struct rte_comch_conn *conn, struct rte_comch_conn_stats *stats)
{
	if (conn == NULL || stats == NULL)
		return -EINVAL;
	copy_counters(stats, &conn->stats, sizeof(*stats));
	stats->in_flight = comch_load_relaxed(&conn->tx_seq) -
		comch_load_relaxed(&conn->tx_acked);
	return 0;
}

int
rte_comch_producer_stats_get(const struct rte_comch_producer *producer,
		struct rte_comch_producer_stats *stats)
{
	if (producer == NULL || stats == NULL)
		return -EINVAL;
	copy_counters(stats, comch_producer_stats(producer), sizeof(*stats));
	return 0;
}

int
rte_comch_consumer_stats_get(const struct rte_comch_consumer *consumer,
		struct rte_comch_consumer_stats *stats)
{
	if (consumer == NULL || stats == NULL)
		return -EINVAL;
	copy_counters(stats, comch_consumer_stats(consumer), sizeof(*stats));
	return 0;
}

int
rte_comch_msgq_producer_stats_get(const struct rte_comch_msgq_producer *producer,
		struct rte_comch_producer_stats *stats)
{
	if (producer == NULL || stats == NULL)
		return -EINVAL;
	copy_counters(stats, &producer->stats, sizeof(*stats));
	return 0;
}

int
rte_comch_msgq_consumer_stats_get(const struct rte_comch_msgq_consumer *consumer,
		struct rte_comch_consumer_stats *stats)
{
	if (consumer == NULL || stats == NULL)
		return -EINVAL;
	copy_counters(stats, &consumer->stats, sizeof(*stats));
	return 0;
}

static const char *
phase_name(uint32_t phase)
{
	static const char *const names[COMCH_NB_PHASES] = {
		"dialling", "linking", "hello", "full", "pending", "up", "draining", "closing",
		"ending", "ended",
	};

	return phase < COMCH_NB_PHASES ? names[phase] : "?";
}

static void
dump_queues(FILE *f, const struct comch_fast_path *fast)
{
	const struct rte_comch_consumer *c;
	const struct rte_comch_producer *p;

	TAILQ_FOREACH(c, &fast->consumers, next)
		fprintf(f, "  consumer %u: %s, depth %u, %" PRIu64 " messages, %" PRIu64
			" bytes\n", c->q.id, rte_comch_state_name(comch_obj_state(&c->q.obj)),
			c->q.depth, comch_load_relaxed(&comch_consumer_stats(c)->msgs),
			comch_load_relaxed(&comch_consumer_stats(c)->bytes));
	TAILQ_FOREACH(p, &fast->producers, next)
		fprintf(f, "  producer %u: %s, depth %u, %" PRIu64 " messages, %" PRIu64
			" bytes\n", p->q.id, rte_comch_state_name(comch_obj_state(&p->q.obj)),
			p->q.depth, comch_load_relaxed(&comch_producer_stats(p)->msgs),
			comch_load_relaxed(&comch_producer_stats(p)->bytes));
}

static void
dump_conn(FILE *f, struct rte_comch_conn *conn)
{
	fprintf(f, "connection %u of %s: %s, peer pid %d uid %d, %" PRIu64 " messages out, %"
		PRIu64 " in\n", conn->id, comch_conn_name(conn), phase_name(conn->phase),
		conn->peer.pid, conn->peer.uid, comch_load_relaxed(&conn->stats.tx_msgs),
		comch_load_relaxed(&conn->stats.rx_msgs));
	pthread_mutex_lock(&conn->lock);
	if (conn->fast != NULL)
		dump_queues(f, conn->fast);
	pthread_mutex_unlock(&conn->lock);
}

void
rte_comch_dump(FILE *f)
{
	struct rte_comch_dev_info info;
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;
	int16_t id;

	RTE_COMCH_DEV_FOREACH(id) {
		if (rte_comch_dev_info_get(id, &info) == 0)
			fprintf(f, "device %d %s: %s side, %u functions\n", id, info.name,
				info.role == RTE_COMCH_ROLE_DPU ? "DPU" : "host", info.nb_reps);
	}
	pthread_mutex_lock(&comch_registry.lock);
	COMCH_REGISTRY_FOREACH(server, &comch_server_registry)
		fprintf(f, "server %s: %s, %u connections\n", server->name,
			rte_comch_state_name(comch_obj_state(&server->obj)), server->nb_conns);
	COMCH_REGISTRY_FOREACH(client, &comch_client_registry)
		fprintf(f, "client of %s: %s\n", client->name,
			rte_comch_state_name(comch_obj_state(&client->obj)));
	COMCH_REGISTRY_FOREACH(conn, &comch_conn_registry)
		dump_conn(f, conn);
	pthread_mutex_unlock(&comch_registry.lock);
}
