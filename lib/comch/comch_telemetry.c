/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What telemetry serves of the objects of this process.
 *
 * The callbacks run in EAL's telemetry thread. They see an object only while
 * it is in the registry and they hold the registry's lock; of a connection's
 * producers, consumers, exports and directory only under its lock as well.
 * Counters and states are atomics. Nothing is kept from one request to the
 * next.
 *
 * A request is "/comch/CLASS/WHAT" with numbers after commas. Connections have
 * ids of their own, and so have registrations and devices; producers and
 * consumers are CONNECTION,ID (or CONNECTION.ID, as lists show them). Servers,
 * clients, polls and MsgQs are numbered by their place among those that live, the
 * oldest being 0.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "comch_msgq.h"
#include "comch_private.h"
#include "comch_registry.h"
#include "comch_telemetry.h"

struct tel_cmd {
	const char *cmd;
	uint32_t min_args;
	uint32_t max_args;
	int (*fn)(const struct comch_tel_args *args, struct rte_tel_data *d);
	const char *help;
};

/* Replies: rte_tel_data is filled as far as it goes; what finds no room is left out. */

/* Text that a peer or an application made: what is not ASCII is shown as '?'. */
void
comch_tel_text(struct rte_tel_data *d, const char *name, const char *text)
{
	char buf[RTE_TEL_MAX_STRING_LEN];
	char *c;

	rte_strscpy(buf, text, sizeof(buf));
	for (c = buf; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	rte_tel_data_add_dict_string(d, name, buf);
}

void
comch_tel_state(struct rte_tel_data *d, const struct comch_obj *obj)
{
	comch_tel_text(d, "state", rte_comch_state_name(comch_obj_state(obj)));
}

/* A container within d; NULL if there is no memory or no room for it. */
struct rte_tel_data *
comch_tel_dict(struct rte_tel_data *d, const char *name)
{
	struct rte_tel_data *in = rte_tel_data_alloc();

	if (in == NULL)
		return NULL;
	rte_tel_data_start_dict(in);
	if (rte_tel_data_add_dict_container(d, name, in, 0) == 0)
		return in;
	rte_tel_data_free(in);
	return NULL;
}

struct rte_tel_data *
comch_tel_numbered(struct rte_tel_data *d, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%" PRIu32, number);
	return comch_tel_dict(d, name);
}

struct rte_tel_data *
comch_tel_strings(struct rte_tel_data *d, const char *name)
{
	struct rte_tel_data *in = rte_tel_data_alloc();

	if (in == NULL)
		return NULL;
	rte_tel_data_start_array(in, RTE_TEL_STRING_VAL);
	if (rte_tel_data_add_dict_container(d, name, in, 0) == 0)
		return in;
	rte_tel_data_free(in);
	return NULL;
}

/* Lists: a reply holds 512 entries; those after it are asked for by the first number. */

void
comch_tel_places(const struct comch_tel_args *args, struct rte_tel_data *d, uint32_t nb)
{
	uint32_t i;

	comch_tel_list(d);
	for (i = args->nb > 0 ? args->val[0] : 0; i < nb; i++)
		if (comch_tel_list_add(d, i) != 0)
			break;
}

/* Figures: all structures of counters are u64 throughout. */

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

/* One reply of all counters of an object of a type. */
#define STATS_REPLY(type, obj, d) \
	do { \
		struct rte_comch_##type##_stats stats_; \
		rte_comch_##type##_stats_get(obj, &stats_); \
		rte_tel_data_start_dict(d); \
		add_counters(d, type##_counters, RTE_DIM(type##_counters), &stats_); \
	} while (0)

/* Servers, clients, polls and MsgQs, by their place in the registry */

#define PLACE_FUNCS(type) \
static struct rte_comch_##type * \
find_##type(uint32_t place) \
{ \
	struct rte_comch_##type *o; \
	TAILQ_FOREACH(o, &comch_registry.type##s, next) \
		if (place-- == 0) \
			return o; \
	return NULL; \
} \
static int \
type##_list(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	struct rte_comch_##type *o; \
	uint32_t nb = 0; \
	TAILQ_FOREACH(o, &comch_registry.type##s, next) \
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

static int
server_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_server *s = find_server(args->val[0]);
	uint32_t half_open, nb_conns;

	if (s == NULL)
		return -EINVAL;
	/* Two counters of a thread that does not wait for us: they need not match. */
	half_open = comch_load_relaxed(&s->nb_half_open);
	nb_conns = comch_load_relaxed(&s->nb_conns);
	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "id", args->val[0]);
	comch_tel_text(d, "name", s->name);
	add_place(d, s->dev, s->conf.rep);
	comch_tel_state(d, &s->obj);
	comch_tel_u64(d, "conns", nb_conns > half_open ? nb_conns - half_open : 0);
	comch_tel_u64(d, "half_open", half_open);
	comch_tel_u64(d, "pending", comch_load_relaxed(&s->nb_pending));
	comch_tel_u64(d, "max_clients", s->conf.max_clients);
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

static int
server_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_server *s = find_server(args->val[0]);

	if (s == NULL)
		return -EINVAL;
	STATS_REPLY(server, s, d);
	return 0;
}

static int
client_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_client *c = find_client(args->val[0]);
	const struct rte_comch_conn *conn;
	enum rte_comch_state state;

	if (c == NULL)
		return -EINVAL;
	state = comch_obj_state(&c->obj);
	/* It leaves the client before it leaves the registry. */
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

static int
poll_info(const struct comch_tel_args *args, struct rte_tel_data *d)
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

static int
poll_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
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

	TAILQ_FOREACH(conn, &comch_registry.conns, next)
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

static int
conn_list(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_conn *conn;

	comch_tel_list(d);
	TAILQ_FOREACH(conn, &comch_registry.conns, next) {
		if (args->nb > 0 && conn->id < args->val[0])
			continue;
		if (comch_tel_list_add(d, conn->id) != 0)
			break;
	}
	return 0;
}

/* What is the same for info and explain. */
void
comch_tel_conn(struct rte_tel_data *d, const struct rte_comch_conn *conn)
{
	struct rte_comch_conn_info info;

	rte_comch_conn_info_get(conn, &info);
	comch_tel_u64(d, "id", info.id);
	comch_tel_text(d, "name", info.name);
	comch_tel_text(d, "side", comch_load_relaxed(&conn->server) != NULL ? "server" : "client");
	add_place(d, conn->dev, info.rep);
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

static int
conn_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_conn *conn = comch_tel_find_conn(args->val[0]);

	if (conn == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	comch_tel_conn(d, conn);
	pthread_mutex_lock(&conn->lock);
	comch_tel_u64(d, "producers", conn->nb_producers);
	comch_tel_u64(d, "consumers", conn->nb_consumers);
	pthread_mutex_unlock(&conn->lock);
	comch_tel_u64(d, "peer_consumers", comch_load_relaxed(&conn->nb_remotes));
	comch_tel_text(d, "poll", conn->obj.poll->name);
	return 0;
}

static int
conn_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_conn *conn = comch_tel_find_conn(args->val[0]);

	if (conn == NULL)
		return -EINVAL;
	STATS_REPLY(conn, conn, d);
	return 0;
}

/* Producers and consumers: under their connection's lock */

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

	if (type == RTE_COMCH_OBJ_CONSUMER) {
		c = q == NULL ? TAILQ_FIRST(&conn->consumers) :
			TAILQ_NEXT(container_of(q, const struct rte_comch_consumer, q), next);
		return c == NULL ? NULL : &c->q;
	}
	p = q == NULL ? TAILQ_FIRST(&conn->producers) :
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

/* Those of all connections, or of one. */
static int
queue_list(const struct comch_tel_args *args, enum rte_comch_obj_type type,
		struct rte_tel_data *d)
{
	struct rte_comch_conn *conn;

	if (args->nb > 0 && comch_tel_find_conn(args->val[0]) == NULL)
		return -EINVAL;
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	TAILQ_FOREACH(conn, &comch_registry.conns, next) {
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
	comch_tel_u64(d, "registrations", comch_load_acquire(&c->mrs.nb));
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
	if (is_consumer(q))
		STATS_REPLY(consumer, q->obj.self, d);
	else
		STATS_REPLY(producer, q->obj.self, d);
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
static int \
type##_list(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	return queue_list(args, RTE_COMCH_OBJ_##TYPE, d); \
} \
static int \
type##_info(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	return queue_reply(args, RTE_COMCH_OBJ_##TYPE, d, queue_info); \
} \
static int \
type##_stats(const struct comch_tel_args *args, struct rte_tel_data *d) \
{ \
	return queue_reply(args, RTE_COMCH_OBJ_##TYPE, d, queue_stats); \
}

QUEUE_FUNCS(producer, PRODUCER)
QUEUE_FUNCS(consumer, CONSUMER)

/* MsgQs: what is said of one is comch_telemetry_msgq.c's */

static int
msgq_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_msgq *q = find_msgq(args->val[0]);

	if (q == NULL)
		return -EINVAL;
	comch_tel_msgq_info(q, d);
	return 0;
}

static int
msgq_stats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_msgq *q = find_msgq(args->val[0]);

	if (q == NULL)
		return -EINVAL;
	comch_tel_msgq_stats(q, d);
	return 0;
}

/* Requests */

#define FROM " Parameter: the first to list (optional)"
#define OF_CONN " Parameter: a connection (optional)"
#define ID " Parameter: its number"
#define PAIR " Parameters: CONNECTION,ID"

static const struct tel_cmd cmds[] = {
	{ "/comch/driver/list", 0, 1, comch_tel_driver_list, "Numbers of the drivers." FROM },
	{ "/comch/driver/info", 1, 1, comch_tel_driver_info,
		"Name and device string keys of a driver." ID },
	{ "/comch/dev/list", 0, 1, comch_tel_dev_list, "Numbers of the open devices." FROM },
	{ "/comch/dev/info", 1, 1, comch_tel_dev_info,
		"Role, functions and limits of a device." ID },
	{ "/comch/server/list", 0, 1, server_list, "Numbers of the servers." FROM },
	{ "/comch/server/info", 1, 1, server_info, "State and sizes of a server." ID },
	{ "/comch/server/stats", 1, 1, server_stats, "Counters of a server." ID },
	{ "/comch/client/list", 0, 1, client_list, "Numbers of the clients." FROM },
	{ "/comch/client/info", 1, 1, client_info, "State and sizes of a client." ID },
	{ "/comch/conn/list", 0, 1, conn_list, "Numbers of the connections." FROM },
	{ "/comch/conn/info", 1, 1, conn_info, "Peer, state and sizes of a connection." ID },
	{ "/comch/conn/stats", 1, 1, conn_stats, "Counters of a connection." ID },
	{ "/comch/producer/list", 0, 1, producer_list,
		"CONNECTION.ID of the producers." OF_CONN },
	{ "/comch/producer/info", 2, 2, producer_info, "State of a producer." PAIR },
	{ "/comch/producer/stats", 2, 2, producer_stats, "Counters of a producer." PAIR },
	{ "/comch/consumer/list", 0, 1, consumer_list,
		"CONNECTION.ID of the consumers." OF_CONN },
	{ "/comch/consumer/info", 2, 2, consumer_info, "State of a consumer." PAIR },
	{ "/comch/consumer/stats", 2, 2, consumer_stats, "Counters of a consumer." PAIR },
	{ "/comch/poll/list", 0, 1, poll_list, "Numbers of the polls." FROM },
	{ "/comch/poll/info", 1, 1, poll_info, "Name and objects of a poll." ID },
	{ "/comch/poll/stats", 1, 1, poll_stats, "Counters of a poll." ID },
	{ "/comch/msgq/list", 0, 1, msgq_list, "Numbers of the MsgQs." FROM },
	{ "/comch/msgq/info", 1, 1, msgq_info,
		"Producers and consumers of a MsgQ." ID },
	{ "/comch/msgq/stats", 1, 1, msgq_stats,
		"Counters of a MsgQ's producers and consumers." ID },
	{ "/comch/mem/list", 0, 1, comch_tel_mem_list, "Numbers of the registrations." FROM },
	{ "/comch/mem/info", 1, 1, comch_tel_mem_info, "Kind and size of a registration." ID },
	{ "/comch/explain", 1, 2, comch_explain, "Why a connection copies as it does."
		" Parameters: CONNECTION[,CONSUMER]" },
};

/* Decimal numbers with a comma or a dot between them, and nothing else. */
static int
parse_args(const char *params, struct comch_tel_args *args)
{
	const char *p = params;
	uint64_t val;

	args->nb = 0;
	if (params == NULL)
		return 0;
	do {
		if (args->nb == COMCH_TEL_MAX_ARGS || *p < '0' || *p > '9')
			return -EINVAL;
		for (val = 0; *p >= '0' && *p <= '9' && val <= UINT32_MAX; p++)
			val = 10 * val + (uint64_t)(*p - '0');
		if (val > UINT32_MAX)
			return -EINVAL;
		args->val[args->nb++] = (uint32_t)val;
	} while (*p != '\0' && strchr(",.", *p++) != NULL);
	return *p == '\0' && p[-1] >= '0' && p[-1] <= '9' ? 0 : -EINVAL;
}

static int
on_request(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct comch_tel_args args = { .nb = 0 };
	uint32_t i;
	int ret;

	for (i = 0; i < RTE_DIM(cmds) && strcmp(cmds[i].cmd, cmd) != 0; i++)
		;
	if (i == RTE_DIM(cmds) || parse_args(params, &args) != 0 ||
			args.nb < cmds[i].min_args || args.nb > cmds[i].max_args)
		return -EINVAL;
	pthread_mutex_lock(&comch_registry.lock);
	ret = cmds[i].fn(&args, d);
	pthread_mutex_unlock(&comch_registry.lock);
	return ret;
}

RTE_INIT(comch_telemetry_init)
{
	uint32_t i;

	for (i = 0; i < RTE_DIM(cmds); i++)
		rte_telemetry_register_cmd(cmds[i].cmd, on_request, cmds[i].help);
}
