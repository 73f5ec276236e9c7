/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Telemetry of servers, clients, connections, polls and MsgQs. The registry is locked.
 */

#include <errno.h>
#include <string.h>

#include <rte_telemetry.h>

#include "ctrl/comch_client.h"
#include "ctrl/comch_server.h"
#include "observe/comch_telemetry.h"

/* Counters: all members of the structures are u64. */

struct tel_counter {
	const char *name;
	size_t offset;
};

#define COUNTER(type, field) { #field, offsetof(struct rte_comch_##type##_stats, field) }

static const struct tel_counter server_counters[] = {
	COUNTER(server, accepted),
	COUNTER(server, refused),
	COUNTER(server, disconnected),
	COUNTER(server, accept_errors),
};

static const struct tel_counter conn_counters[] = {
	COUNTER(conn, tx_msgs),
	COUNTER(conn, tx_bytes),
	COUNTER(conn, rx_msgs),
	COUNTER(conn, rx_bytes),
	COUNTER(conn, tx_full),
	COUNTER(conn, tx_errors),
	COUNTER(conn, in_flight),
	COUNTER(conn, wakes),
	COUNTER(conn, refused),
};

static const struct tel_counter producer_counters[] = {
	COUNTER(producer, msgs),
	COUNTER(producer, bytes),
	COUNTER(producer, imm_msgs),
	COUNTER(producer, copies),
	COUNTER(producer, staged),
	COUNTER(producer, later),
	COUNTER(producer, errors),
	COUNTER(producer, wakes),
	COUNTER(producer, offload_errors),
};

static const struct tel_counter consumer_counters[] = {
	COUNTER(consumer, posted),
	COUNTER(consumer, msgs),
	COUNTER(consumer, bytes),
	COUNTER(consumer, imm_msgs),
	COUNTER(consumer, copies),
	COUNTER(consumer, staged),
	COUNTER(consumer, errors),
	COUNTER(consumer, no_mbuf),
	COUNTER(consumer, wakes),
};

static const struct tel_counter poll_counters[] = {
	COUNTER(poll, runs),
	COUNTER(poll, busy_runs),
	COUNTER(poll, events),
	COUNTER(poll, arms),
	COUNTER(poll, wakes),
	COUNTER(poll, longest_run_ns),
};

static void
add_counters(struct rte_tel_data *d, const struct tel_counter *counters, uint32_t nb,
		const void *stats)
{
	uint64_t val;
	uint32_t i;

	for (i = 0; i < nb; i++) {
		memcpy(&val, RTE_PTR_ADD(stats, counters[i].offset), sizeof(val));
		comch_tel_u64(d, counters[i].name, val);
	}
}

void
comch_tel_producer_counters(struct rte_tel_data *d, const struct rte_comch_producer_stats *stats)
{
	add_counters(d, producer_counters, RTE_DIM(producer_counters), stats);
}

void
comch_tel_consumer_counters(struct rte_tel_data *d, const struct rte_comch_consumer_stats *stats)
{
	add_counters(d, consumer_counters, RTE_DIM(consumer_counters), stats);
}

/* Reply with all counters of an object of a type. */
#define STATS_REPLY(type, obj, d) \
	do { \
		struct rte_comch_##type##_stats stats_; \
		rte_comch_##type##_stats_get(obj, &stats_); \
		rte_tel_data_start_dict(d); \
		add_counters(d, type##_counters, RTE_DIM(type##_counters), &stats_); \
	} while (0)

/* Servers, clients, polls and MsgQs, by their position in the registry */

#define PLACE_FUNCS(type) \
static struct rte_comch_##type * \
find_##type(uint32_t place) \
{ \
	struct rte_comch_##type *o; \
	COMCH_REGISTRY_FOREACH(o, &comch_##type##_registry) \
		if (place-- == 0) \
			return o; \
	return NULL; \
} \
int \
comch_tel_##type##_list(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	struct rte_comch_##type *o; \
	uint32_t nb = 0; \
	COMCH_REGISTRY_FOREACH(o, &comch_##type##_registry) \
		nb++; \
	comch_tel_places(args, d, nb); \
	return 0; \
}

PLACE_FUNCS(server)
PLACE_FUNCS(client)
PLACE_FUNCS(poll)
PLACE_FUNCS(msgq)

static void
add_place(struct rte_tel_data *d, const struct rte_comch_dev *dev, uint16_t rep)
{
	comch_tel_text(d, "device", dev->info.name);
	comch_tel_text(d, "function", dev->reps[rep].name);
}

int
comch_tel_server_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_server *s = find_server(args->val[0]);

	if (s == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "id", args->val[0]);
	comch_tel_text(d, "name", s->name);
	add_place(d, s->dev, s->conf.rep);
	comch_tel_state(d, &s->obj);
	comch_tel_u64(d, "conns", comch_load_relaxed(&s->holders.nb_places));
	comch_tel_u64(d, "half_open", comch_load_relaxed(&s->holders.nb_half_open));
	comch_tel_u64(d, "pending", comch_load_relaxed(&s->nb_pending));
	comch_tel_u64(d, "max_clients", s->conf.max_clients);
	comch_tel_u64(d, "reserve", s->conf.reserve);
	comch_tel_u64(d, "max_msg_size", s->conf.max_msg_size);
	comch_tel_u64(d, "recv_queue", s->conf.recv_queue);
	comch_tel_u64(d, "send_queue", s->conf.send_queue);
	rte_tel_data_add_dict_int(d, "manual_accept",
		(s->conf.flags & RTE_COMCH_SERVER_F_MANUAL_ACCEPT) != 0);
	rte_tel_data_add_dict_int(d, "exact",
		(s->conf.flags & RTE_COMCH_SERVER_F_EXACT) != 0);
	rte_tel_data_add_dict_int(d, "ordered",
		(s->conf.flags & RTE_COMCH_SERVER_F_ORDERED) != 0);
	rte_tel_data_add_dict_int(d, "ctrl_only",
		(s->conf.flags & RTE_COMCH_SERVER_F_CTRL_ONLY) != 0);
	rte_tel_data_add_dict_int(d, "manual_credit",
		(s->conf.flags & RTE_COMCH_SERVER_F_MANUAL_CREDIT) != 0);
	comch_tel_text(d, "poll", s->obj.poll->name);
	return 0;
}

int
comch_tel_server_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_server *s = find_server(args->val[0]);

	if (s == NULL)
		return -EINVAL;
	STATS_REPLY(server, s, d);
	return 0;
}

int
comch_tel_client_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_client *c = find_client(args->val[0]);
	const struct rte_comch_conn *conn;
	enum rte_comch_state state;

	if (c == NULL)
		return -EINVAL;
	state = comch_obj_state(&c->obj);
	/* A connection leaves its client before it leaves the registry, so it is valid. */
	conn = comch_load_relaxed(&c->conn);
	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "id", args->val[0]);
	comch_tel_text(d, "name", c->name);
	add_place(d, c->dev, 0);
	comch_tel_text(d, "state", rte_comch_state_name(state));
	if (conn != NULL)
		comch_tel_u64(d, "conn", conn->id);
	comch_tel_u64(d, "max_msg_size", c->conf.max_msg_size);
	comch_tel_u64(d, "recv_queue", c->conf.recv_queue);
	comch_tel_u64(d, "send_queue", c->conf.send_queue);
	comch_tel_u64(d, "connect_timeout_ms", c->conf.connect_timeout_ms);
	rte_tel_data_add_dict_int(d, "ctrl_only",
		(c->conf.flags & RTE_COMCH_CLIENT_F_CTRL_ONLY) != 0);
	rte_tel_data_add_dict_int(d, "manual_credit",
		(c->conf.flags & RTE_COMCH_CLIENT_F_MANUAL_CREDIT) != 0);
	/* Why the last connection ended; written before the state. */
	if (state == RTE_COMCH_STATE_IDLE)
		comch_tel_text(d, "reason", c->reason);
	comch_tel_text(d, "poll", c->obj.poll->name);
	return 0;
}

int
comch_tel_poll_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_poll *p = find_poll(args->val[0]);

	if (p == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "id", args->val[0]);
	comch_tel_text(d, "name", p->name);
	comch_tel_u64(d, "objects", comch_load_relaxed(&p->nb_attached));
	rte_tel_data_add_dict_int(d, "asleep", comch_load_relaxed(&p->sleeping) != 0);
	rte_tel_data_add_dict_int(d, "socket_id", p->socket_id);
	return 0;
}

int
comch_tel_poll_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_poll *p = find_poll(args->val[0]);

	if (p == NULL)
		return -EINVAL;
	STATS_REPLY(poll, p, d);
	return 0;
}

/* Connections */

struct rte_comch_conn *
comch_tel_find_conn(uint32_t id)
{
	struct rte_comch_conn *conn;

	COMCH_REGISTRY_FOREACH(conn, &comch_conn_registry)
		if (conn->id == id)
			return conn;
	return NULL;
}

static const char *
conn_state(uint32_t phase)
{
	if (phase < COMCH_PHASE_PENDING)
		return "connecting";
	if (phase == COMCH_PHASE_PENDING)
		return "pending";
	return phase == COMCH_PHASE_UP ? "up" : "ending";
}

int
comch_tel_conn_list(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_conn *conn;

	comch_tel_list(d);
	COMCH_REGISTRY_FOREACH(conn, &comch_conn_registry) {
		if (args->nb > 0 && conn->id < args->val[0])
			continue;
		if (comch_tel_list_add(d, conn->id) != 0)
			break;
	}
	return 0;
}

/* The values that info and explain have in common. */
void
comch_tel_conn(struct rte_tel_data *d, const struct rte_comch_conn *conn)
{
	struct rte_comch_conn_info info;

	rte_comch_conn_info_get(conn, &info);
	comch_tel_u64(d, "id", info.id);
	comch_tel_text(d, "name", info.name);
	comch_tel_text(d, "side", comch_load_relaxed(&conn->server) != NULL ? "server" : "client");
	add_place(d, conn->dev, info.rep);
	/* No model: statistics only. */
	comch_tel_text(d, "state", conn_state(comch_load_acquire(&conn->phase)));
	if (info.established) {
		comch_tel_u64(d, "max_msg_size", info.max_msg_size);
		comch_tel_u64(d, "send_credits", info.send_credits);
		rte_tel_data_add_dict_int(d, "ctrl_only", info.ctrl_only);
	}
	comch_tel_u64(d, "recv_queue", info.recv_queue);
	rte_tel_data_add_dict_int(d, "peer_pid", info.peer_pid);
	rte_tel_data_add_dict_int(d, "peer_uid", info.peer_uid);
	rte_tel_data_add_dict_int(d, "peer_gid", info.peer_gid);
	if (info.reason[0] != '\0')
		comch_tel_text(d, "reason", info.reason);
}

int
comch_tel_conn_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_conn *conn = comch_tel_find_conn(args->val[0]);
	const struct comch_fast_path *fast;

	if (conn == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	comch_tel_conn(d, conn);
	pthread_mutex_lock(&conn->lock);
	fast = conn->fast;
	comch_tel_u64(d, "producers", fast != NULL ? fast->nb_producers : 0);
	comch_tel_u64(d, "consumers", fast != NULL ? fast->nb_consumers : 0);
	comch_tel_u64(d, "peer_consumers",
		fast != NULL ? comch_load_relaxed(&fast->nb_remotes) : 0);
	pthread_mutex_unlock(&conn->lock);
	comch_tel_text(d, "poll", conn->obj.poll->name);
	return 0;
}

int
comch_tel_conn_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_conn *conn = comch_tel_find_conn(args->val[0]);

	if (conn == NULL)
		return -EINVAL;
	STATS_REPLY(conn, conn, d);
	return 0;
}

/* MsgQs; for one MsgQ see comch_telemetry_msgq.c */

int
comch_tel_msgq_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_msgq *q = find_msgq(args->val[0]);

	if (q == NULL)
		return -EINVAL;
	comch_tel_one_msgq_info(q, d);
	return 0;
}

int
comch_tel_msgq_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_msgq *q = find_msgq(args->val[0]);

	if (q == NULL)
		return -EINVAL;
	comch_tel_one_msgq_stats(q, d);
	return 0;
}
