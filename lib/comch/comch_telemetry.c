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
 * clients and polls are numbered by their place among those that live, the
 * oldest being 0.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "comch_private.h"
#include "comch_registry.h"

#define MAX_ARGS 2
/* Of one reply to explain: EAL cuts replies at 16 KiB. */
#define EXPLAIN_QUEUES 16
#define EXPLAIN_MRS 48

struct tel_args {
	uint32_t val[MAX_ARGS];
	uint32_t nb;
};

typedef int (*tel_fn)(const struct tel_args *args, struct rte_tel_data *d);

struct tel_cmd {
	const char *cmd;
	uint32_t min_args;
	uint32_t max_args;
	tel_fn fn;
	const char *help;
};

/* Replies */

/* Text that a peer or an application made: what is not ASCII is shown as '?'. */
static void
add_text(struct rte_tel_data *d, const char *name, const char *text)
{
	char buf[RTE_TEL_MAX_STRING_LEN];
	char *c;

	rte_strscpy(buf, text, sizeof(buf));
	for (c = buf; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	rte_tel_data_add_dict_string(d, name, buf);
}

static void
add_state(struct rte_tel_data *d, const struct comch_obj *obj)
{
	add_text(d, "state", rte_comch_state_name(comch_obj_state(obj)));
}

/* A container within d; NULL if there is no memory or no room for it. */
static struct rte_tel_data *
add_dict(struct rte_tel_data *d, const char *name)
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

static struct rte_tel_data *
add_numbered_dict(struct rte_tel_data *d, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%" PRIu32, number);
	return add_dict(d, name);
}

static struct rte_tel_data *
add_strings(struct rte_tel_data *d, const char *name)
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

static void
list_start(struct rte_tel_data *d)
{
	rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
}

static void
list_places(const struct tel_args *args, struct rte_tel_data *d, uint32_t nb)
{
	uint32_t i;

	list_start(d);
	for (i = args->nb > 0 ? args->val[0] : 0; i < nb; i++)
		if (rte_tel_data_add_array_int(d, (int)i) != 0)
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

/* One reply of all counters of an object of a type. */
#define STATS_REPLY(type, obj, d) \
	do { \
		struct rte_comch_##type##_stats stats_; \
		rte_comch_##type##_stats_get(obj, &stats_); \
		rte_tel_data_start_dict(d); \
		add_counters(d, type##_counters, RTE_DIM(type##_counters), &stats_); \
	} while (0)

/* Devices: these have a lock of their own. */

static void
add_capa(struct rte_tel_data *d, uint64_t capa)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
		{ RTE_COMCH_CAPA_SERVER, "server" },
		{ RTE_COMCH_CAPA_CLIENT, "client" },
		{ RTE_COMCH_CAPA_DATA, "data" },
		{ RTE_COMCH_CAPA_DIRECT, "direct" },
		{ RTE_COMCH_CAPA_EVENT_FD, "event_fd" },
	};
	struct rte_tel_data *list = add_strings(d, "capabilities");
	uint32_t i;

	for (i = 0; list != NULL && i < RTE_DIM(names); i++)
		if ((capa & names[i].bit) != 0)
			rte_tel_data_add_array_string(list, names[i].name);
}

static int
dev_list(const struct tel_args *args, struct rte_tel_data *d)
{
	int16_t id = 0;

	list_start(d);
	if (args->nb > 0)
		id = (int16_t)RTE_MIN(args->val[0], (uint32_t)INT16_MAX);
	for (id = rte_comch_dev_next(id); id >= 0; id = rte_comch_dev_next((int16_t)(id + 1)))
		if (rte_tel_data_add_array_int(d, id) != 0)
			break;
	return 0;
}

static int
dev_info(const struct tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_rep_info rep;
	struct rte_comch_dev_info info;
	struct rte_tel_data *list;
	uint16_t i;
	int16_t id;

	if (args->val[0] > INT16_MAX)
		return -EINVAL;
	id = (int16_t)args->val[0];
	if (rte_comch_dev_info_get(id, &info) != 0)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_int(d, "id", id);
	add_text(d, "name", info.name);
	add_text(d, "driver", info.driver);
	add_text(d, "role", info.role == RTE_COMCH_ROLE_DPU ? "dpu" : "host");
	add_capa(d, info.capa);
	list = add_strings(d, "functions");
	for (i = 0; list != NULL && rte_comch_dev_rep_info_get(id, i, &rep) == 0; i++)
		rte_tel_data_add_array_string(list, rep.name);
	comch_tel_u64(d, "max_name_size", info.max_name_size);
	comch_tel_u64(d, "max_msg_size", info.max_msg_size);
	comch_tel_u64(d, "max_recv_queue", info.max_recv_queue);
	comch_tel_u64(d, "max_send_queue", info.max_send_queue);
	comch_tel_u64(d, "max_clients", info.max_clients);
	comch_tel_u64(d, "max_producers", info.max_producers);
	comch_tel_u64(d, "max_consumers", info.max_consumers);
	comch_tel_u64(d, "max_dp_queue", info.max_dp_queue);
	comch_tel_u64(d, "max_imm_len", info.max_imm_len);
	comch_tel_u64(d, "max_buf_len", info.max_buf_len);
	return 0;
}

/* Servers, clients and polls, by their place in the registry */

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
type##_list(const struct tel_args *args, struct rte_tel_data *d) \
{ \
	struct rte_comch_##type *o; \
	uint32_t nb = 0; \
	TAILQ_FOREACH(o, &comch_registry.type##s, next) \
		nb++; \
	list_places(args, d, nb); \
	return 0; \
}

PLACE_FUNCS(server)
PLACE_FUNCS(client)
PLACE_FUNCS(poll)

static void
add_place(struct rte_tel_data *d, const struct rte_comch_dev *dev, uint16_t rep)
{
	add_text(d, "device", dev->info.name);
	add_text(d, "function", dev->reps[rep].name);
}

static int
server_info(const struct tel_args *args, struct rte_tel_data *d)
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
	add_text(d, "name", s->name);
	add_place(d, s->dev, s->conf.rep);
	add_state(d, &s->obj);
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
	add_text(d, "poll", s->obj.poll->name);
	return 0;
}

static int
server_stats(const struct tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_server *s = find_server(args->val[0]);

	if (s == NULL)
		return -EINVAL;
	STATS_REPLY(server, s, d);
	return 0;
}

static int
client_info(const struct tel_args *args, struct rte_tel_data *d)
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
	add_text(d, "name", c->name);
	add_place(d, c->dev, 0);
	add_text(d, "state", rte_comch_state_name(state));
	if (conn != NULL)
		comch_tel_u64(d, "conn", conn->id);
	comch_tel_u64(d, "max_msg_size", c->conf.max_msg_size);
	comch_tel_u64(d, "recv_queue", c->conf.recv_queue);
	comch_tel_u64(d, "send_queue", c->conf.send_queue);
	comch_tel_u64(d, "connect_timeout_ms", c->conf.connect_timeout_ms);
	/* Why the last connection ended; written before the state. */
	if (state == RTE_COMCH_STATE_IDLE)
		add_text(d, "reason", c->reason);
	add_text(d, "poll", c->obj.poll->name);
	return 0;
}

static int
poll_info(const struct tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_poll *p = find_poll(args->val[0]);

	if (p == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "id", args->val[0]);
	add_text(d, "name", p->name);
	comch_tel_u64(d, "objects", comch_load_relaxed(&p->nb_attached));
	rte_tel_data_add_dict_int(d, "asleep", comch_load_relaxed(&p->sleeping) != 0);
	rte_tel_data_add_dict_int(d, "socket_id", p->socket_id);
	return 0;
}

static int
poll_stats(const struct tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_poll *p = find_poll(args->val[0]);

	if (p == NULL)
		return -EINVAL;
	STATS_REPLY(poll, p, d);
	return 0;
}

/* Connections */

/* Registered just now: it does not know yet whose it is. */
static bool
conn_is_new(const struct rte_comch_conn *conn)
{
	return comch_load_relaxed(&conn->server) == NULL &&
		comch_load_relaxed(&conn->client) == NULL;
}

static struct rte_comch_conn *
find_conn(uint32_t id)
{
	struct rte_comch_conn *conn;

	TAILQ_FOREACH(conn, &comch_registry.conns, next)
		if (conn->id == id && !conn_is_new(conn))
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
conn_list(const struct tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_conn *conn;

	list_start(d);
	TAILQ_FOREACH(conn, &comch_registry.conns, next) {
		if (conn_is_new(conn) || (args->nb > 0 && conn->id < args->val[0]))
			continue;
		if (rte_tel_data_add_array_int(d, (int)conn->id) != 0)
			break;
	}
	return 0;
}

/* What is the same for info and explain. */
static void
add_conn(struct rte_tel_data *d, const struct rte_comch_conn *conn)
{
	struct rte_comch_conn_info info;

	rte_comch_conn_info_get(conn, &info);
	comch_tel_u64(d, "id", info.id);
	add_text(d, "name", info.name);
	add_text(d, "side", comch_load_relaxed(&conn->server) != NULL ? "server" : "client");
	add_place(d, conn->dev, info.rep);
	add_text(d, "state", conn_state(comch_load_acquire(&conn->phase)));
	if (info.established) {
		comch_tel_u64(d, "max_msg_size", info.max_msg_size);
		comch_tel_u64(d, "send_credits", info.send_credits);
	}
	comch_tel_u64(d, "recv_queue", info.recv_queue);
	rte_tel_data_add_dict_int(d, "peer_pid", info.peer_pid);
	rte_tel_data_add_dict_int(d, "peer_uid", info.peer_uid);
	rte_tel_data_add_dict_int(d, "peer_gid", info.peer_gid);
	if (info.reason[0] != '\0')
		add_text(d, "reason", info.reason);
}

static int
conn_info(const struct tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_conn *conn = find_conn(args->val[0]);

	if (conn == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	add_conn(d, conn);
	pthread_mutex_lock(&conn->lock);
	comch_tel_u64(d, "producers", conn->nb_producers);
	comch_tel_u64(d, "consumers", conn->nb_consumers);
	pthread_mutex_unlock(&conn->lock);
	comch_tel_u64(d, "peer_consumers", comch_load_relaxed(&conn->nb_rcons));
	add_text(d, "poll", conn->obj.poll->name);
	return 0;
}

static int
conn_stats(const struct tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_conn *conn = find_conn(args->val[0]);

	if (conn == NULL)
		return -EINVAL;
	STATS_REPLY(conn, conn, d);
	return 0;
}

/* Producers and consumers: their connection's lock is held by these */

static void
producer_info(struct rte_tel_data *d, const struct rte_comch_producer *p)
{
	comch_tel_u64(d, "depth", p->chan.done_size);
}

static void
consumer_info(struct rte_tel_data *d, const struct rte_comch_consumer *c)
{
	comch_tel_u64(d, "depth", c->chan.depth);
	comch_tel_u64(d, "imm_size", c->chan.imm_size);
	comch_tel_u64(d, "staging_size", c->staging_size);
	comch_tel_u64(d, "registrations", comch_load_acquire(&c->chan.nb_mrs));
	rte_tel_data_add_dict_int(d, "snapshot",
		(c->conf_flags & RTE_COMCH_CONSUMER_F_SNAPSHOT) != 0);
}

/* Of all connections, or of one. Returns -1 when the reply is full. */
#define QUEUE_FUNCS(type) \
static int \
type##_list_conn(struct rte_comch_conn *conn, struct rte_tel_data *d) \
{ \
	const struct rte_comch_##type *o; \
	char id[32]; \
	int ret = 0; \
	pthread_mutex_lock(&conn->lock); \
	TAILQ_FOREACH(o, &conn->type##s, next) { \
		snprintf(id, sizeof(id), "%" PRIu32 ".%" PRIu32, conn->id, o->q.id); \
		if (ret == 0) \
			ret = rte_tel_data_add_array_string(d, id); \
	} \
	pthread_mutex_unlock(&conn->lock); \
	return ret; \
} \
static int \
type##_list(const struct tel_args *args, struct rte_tel_data *d) \
{ \
	struct rte_comch_conn *conn; \
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL); \
	if (args->nb > 0) { \
		conn = find_conn(args->val[0]); \
		if (conn == NULL) \
			return -EINVAL; \
		type##_list_conn(conn, d); \
		return 0; \
	} \
	TAILQ_FOREACH(conn, &comch_registry.conns, next) \
		if (type##_list_conn(conn, d) != 0) \
			break; \
	return 0; \
} \
static const struct rte_comch_##type * \
find_##type(struct rte_comch_conn *conn, uint32_t id) \
{ \
	const struct rte_comch_##type *o; \
	TAILQ_FOREACH(o, &conn->type##s, next) \
		if (o->q.id == id) \
			return o; \
	return NULL; \
} \
static int \
type##_reply(const struct tel_args *args, struct rte_tel_data *d, bool want_stats) \
{ \
	struct rte_comch_conn *conn = find_conn(args->val[0]); \
	const struct rte_comch_##type *o; \
	if (conn == NULL) \
		return -EINVAL; \
	pthread_mutex_lock(&conn->lock); \
	o = find_##type(conn, args->val[1]); \
	if (o != NULL && want_stats) { \
		STATS_REPLY(type, o, d); \
	} else if (o != NULL) { \
		rte_tel_data_start_dict(d); \
		comch_tel_u64(d, "conn", conn->id); \
		comch_tel_u64(d, "id", o->q.id); \
		add_state(d, &o->q.obj); \
		type##_info(d, o); \
		add_text(d, "poll", o->q.obj.poll->name); \
	} \
	pthread_mutex_unlock(&conn->lock); \
	return o != NULL ? 0 : -EINVAL; \
} \
static int \
type##_info_reply(const struct tel_args *args, struct rte_tel_data *d) \
{ \
	return type##_reply(args, d, false); \
} \
static int \
type##_stats_reply(const struct tel_args *args, struct rte_tel_data *d) \
{ \
	return type##_reply(args, d, true); \
}

QUEUE_FUNCS(producer)
QUEUE_FUNCS(consumer)

/* Registrations: their table has a lock of its own, held while it is walked */

struct mem_walk {
	struct rte_tel_data *d;
	const struct rte_comch_mr *mr; /* looked for */
	uint32_t id;                   /* looked for, or the first wanted */
	uint32_t kind;
	bool found;
};

static int
on_mem_list(const struct rte_comch_mr *mr, void *arg)
{
	struct mem_walk *w = arg;

	return mr->id < w->id ? 0 : rte_tel_data_add_array_int(w->d, (int)mr->id);
}

static int
mem_list(const struct tel_args *args, struct rte_tel_data *d)
{
	struct mem_walk w = { .d = d, .id = args->nb > 0 ? args->val[0] : 0 };

	list_start(d);
	comch_mem_walk(on_mem_list, &w);
	return 0;
}

static int
on_mem_info(const struct rte_comch_mr *mr, void *arg)
{
	struct mem_walk *w = arg;
	char addr[32];

	if (mr->id != w->id)
		return 0;
	w->found = true;
	snprintf(addr, sizeof(addr), "%p", (void *)mr->addr);
	rte_tel_data_start_dict(w->d);
	comch_tel_u64(w->d, "id", mr->id);
	add_text(w->d, "addr", addr);
	comch_tel_u64(w->d, "len", mr->len);
	add_text(w->d, "kind", rte_comch_mem_kind_name(mr->kind));
	rte_tel_data_add_dict_int(w->d, "pool", mr->mp != NULL);
	rte_tel_data_add_dict_int(w->d, "shared", (mr->flags & RTE_COMCH_MEM_F_SHARED) != 0);
	comch_tel_u64(w->d, "users", mr->nb_users);
	if (mr->bound) {
		rte_tel_data_add_dict_int(w->d, "shown_to_uid", mr->bound_uid);
		add_text(w->d, "shown_to_function", mr->bound_func);
	}
	return 1;
}

static int
mem_info(const struct tel_args *args, struct rte_tel_data *d)
{
	struct mem_walk w = { .d = d, .id = args->val[0] };

	comch_mem_walk(on_mem_info, &w);
	return w.found ? 0 : -EINVAL;
}

static int
on_mem_kind(const struct rte_comch_mr *mr, void *arg)
{
	struct mem_walk *w = arg;

	if (mr != w->mr)
		return 0;
	w->found = true;
	w->id = mr->id;
	w->kind = mr->kind;
	return 1;
}

/* Explain: why a connection copies as it does */

enum explain_path { PATH_NONE, PATH_PENDING, PATH_DIRECT, PATH_STAGED };

/* The way to memory that was offered to the peer. */
static enum explain_path
explain_export(const struct comch_export *e, uint32_t kind, char *why, size_t size)
{
	switch (e->state) {
	case COMCH_EXPORT_DIRECT:
		snprintf(why, size, "the peer writes into it");
		return PATH_DIRECT;
	case COMCH_EXPORT_STAGED:
		if (e->refusal == -ENOTSUP && kind == RTE_COMCH_MEM_EAL)
			snprintf(why, size, "EAL memory: not shown without export_eal=1, "
				"nor if it spans several files");
		else
			snprintf(why, size, "the peer refused it: %s", rte_strerror(-e->refusal));
		return PATH_STAGED;
	default:
		snprintf(why, size, "the peer has not answered yet");
		return PATH_PENDING;
	}
}

static enum explain_path
explain_mr(const struct rte_comch_conn *conn, const struct rte_comch_consumer *c, uint32_t i,
		uint32_t kind, char *why, size_t size)
{
	enum explain_path path = PATH_STAGED;

	if (c->step == COMCH_CONS_IDLE || c->step == COMCH_CONS_RETIRE) {
		snprintf(why, size, "the consumer is not started");
		return PATH_NONE;
	}
	if (kind == RTE_COMCH_MEM_HEAP)
		snprintf(why, size, "heap memory: it has no file that a peer could map");
	else if ((c->conf_flags & RTE_COMCH_CONSUMER_F_SNAPSHOT) != 0)
		snprintf(why, size, "SNAPSHOT: no memory is shown");
	else if (c->export[i] >= 0)
		path = explain_export(&conn->exports[c->export[i]], kind, why, size);
	else if (c->step == COMCH_CONS_SHOW || c->mr_added[i])
		path = PATH_PENDING;
	else
		snprintf(why, size, "not shown: the connection shows its limit of %d",
			COMCH_MAX_IMPORTS);
	if (path == PATH_PENDING && c->export[i] < 0)
		snprintf(why, size, "not shown yet");
	if (path == PATH_STAGED && c->step == COMCH_CONS_LIVE && c->staging_size == 0)
		path = PATH_NONE;
	return path;
}

static void
add_mr(struct rte_tel_data *d, const struct rte_comch_conn *conn,
		const struct rte_comch_consumer *c, uint32_t i)
{
	static const char *const paths[] = {
		[PATH_NONE] = "none", [PATH_PENDING] = "pending",
		[PATH_DIRECT] = "direct", [PATH_STAGED] = "staged",
	};
	struct mem_walk w = { .mr = c->mrs[i].mr };
	enum explain_path path;
	char why[RTE_TEL_MAX_STRING_LEN];

	/* A consumer that is being destroyed gives them back before it goes. */
	comch_mem_walk(on_mem_kind, &w);
	d = w.found ? add_numbered_dict(d, w.id) : NULL;
	if (d == NULL)
		return;
	path = explain_mr(conn, c, i, w.kind, why, sizeof(why));
	add_text(d, "kind", rte_comch_mem_kind_name(w.kind));
	comch_tel_u64(d, "len", c->mrs[i].len);
	add_text(d, "path", paths[path]);
	add_text(d, "why", why);
}

/* Our consumer: how messages come to us. At most *room registrations. */
static void
explain_consumer(struct rte_tel_data *d, const struct rte_comch_conn *conn,
		const struct rte_comch_consumer *c, uint32_t *room)
{
	uint32_t i, nb_mrs = comch_load_acquire(&c->chan.nb_mrs);
	uint32_t shown = RTE_MIN(nb_mrs, *room);
	struct rte_tel_data *in;

	add_state(d, &c->q.obj);
	consumer_info(d, c);
	comch_tel_u64(d, "msgs", comch_load_relaxed(&c->chan.stats.msgs));
	comch_tel_u64(d, "staged_msgs", comch_load_relaxed(&c->chan.stats.staged));
	in = shown > 0 ? add_dict(d, "memory") : NULL;
	for (i = 0; in != NULL && i < shown; i++)
		add_mr(in, conn, c, i);
	if (nb_mrs > shown)
		comch_tel_u64(d, "memory_left_out", nb_mrs - shown);
	*room -= shown;
}

/* Consumers of the peer: how our messages go. Its lock is held. */
static void
explain_remote(struct rte_tel_data *d, const struct rte_comch_conn *conn)
{
	uint64_t len, bytes = 0;
	uint32_t i, nb = 0, nb_mrs = 0;
	const struct comch_rcons *rc;
	struct rte_tel_data *in;

	/* The end of a connection waits for the lock before it empties the directory. */
	if (!comch_conn_is_up(conn))
		return;
	for (i = 0; i < COMCH_MAX_IMPORTS; i++) {
		len = comch_load_relaxed(&conn->imports[i].len);
		nb_mrs += len > 0;
		bytes += len;
	}
	comch_tel_u64(d, "peer_memory", nb_mrs);
	comch_tel_u64(d, "peer_memory_bytes", bytes);
	d = add_dict(d, "peer_consumers");
	for (i = 0; d != NULL && i < COMCH_MAX_CONSUMERS && nb < EXPLAIN_QUEUES; i++) {
		if (comch_load_acquire(&conn->dir.id[i]) == 0)
			continue;
		rc = comch_load_acquire(&conn->dir.rcons[i]);
		in = add_numbered_dict(d, rc->id);
		if (in == NULL)
			return;
		nb++;
		comch_tel_u64(in, "depth", rc->depth);
		comch_tel_u64(in, "imm_size", rc->imm_size);
		comch_tel_u64(in, "staging_size", rc->staging_size);
	}
}

static int
explain(const struct tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_conn *conn = find_conn(args->val[0]);
	uint32_t room = args->nb > 1 ? COMCH_MAX_IMPORTS : EXPLAIN_MRS, nb = 0, left_out = 0;
	const struct rte_comch_consumer *c;
	struct rte_tel_data *list, *in;

	if (conn == NULL)
		return -EINVAL;
	pthread_mutex_lock(&conn->lock);
	if (args->nb > 1 && find_consumer(conn, args->val[1]) == NULL) {
		pthread_mutex_unlock(&conn->lock);
		return -EINVAL;
	}
	rte_tel_data_start_dict(d);
	add_conn(d, conn);
	comch_tel_u64(d, "max_imm_len", conn->dev->info.max_imm_len);
	comch_tel_u64(d, "max_buf_len", conn->dev->info.max_buf_len);
	list = add_dict(d, "consumers");
	TAILQ_FOREACH(c, &conn->consumers, next) {
		if (list == NULL || (args->nb > 1 && c->q.id != args->val[1]))
			continue;
		left_out += nb >= EXPLAIN_QUEUES;
		in = nb < EXPLAIN_QUEUES ? add_numbered_dict(list, c->q.id) : NULL;
		if (in == NULL)
			continue;
		nb++;
		explain_consumer(in, conn, c, &room);
	}
	if (left_out > 0)
		comch_tel_u64(d, "consumers_left_out", left_out);
	if (args->nb < 2)
		explain_remote(d, conn);
	pthread_mutex_unlock(&conn->lock);
	return 0;
}

/* Requests */

#define FROM " Parameter: the first to list (optional)"
#define OF_CONN " Parameter: a connection (optional)"
#define ID " Parameter: its number"
#define PAIR " Parameters: CONNECTION,ID"

static const struct tel_cmd cmds[] = {
	{ "/comch/dev/list", 0, 1, dev_list, "Numbers of the open devices." FROM },
	{ "/comch/dev/info", 1, 1, dev_info, "Role, functions and limits of a device." ID },
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
	{ "/comch/producer/info", 2, 2, producer_info_reply, "State of a producer." PAIR },
	{ "/comch/producer/stats", 2, 2, producer_stats_reply, "Counters of a producer." PAIR },
	{ "/comch/consumer/list", 0, 1, consumer_list,
		"CONNECTION.ID of the consumers." OF_CONN },
	{ "/comch/consumer/info", 2, 2, consumer_info_reply, "State of a consumer." PAIR },
	{ "/comch/consumer/stats", 2, 2, consumer_stats_reply, "Counters of a consumer." PAIR },
	{ "/comch/poll/list", 0, 1, poll_list, "Numbers of the polls." FROM },
	{ "/comch/poll/info", 1, 1, poll_info, "Name and objects of a poll." ID },
	{ "/comch/poll/stats", 1, 1, poll_stats, "Counters of a poll." ID },
	{ "/comch/mem/list", 0, 1, mem_list, "Numbers of the registrations." FROM },
	{ "/comch/mem/info", 1, 1, mem_info, "Kind and size of a registration." ID },
	{ "/comch/explain", 1, 2, explain, "Why a connection copies as it does."
		" Parameters: CONNECTION[,CONSUMER]" },
};

/* Decimal numbers with a comma or a dot between them, and nothing else. */
static int
parse_args(const char *params, struct tel_args *args)
{
	const char *p = params;
	uint64_t val;

	args->nb = 0;
	if (params == NULL)
		return 0;
	do {
		if (args->nb == MAX_ARGS || *p < '0' || *p > '9')
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
	struct tel_args args = { .nb = 0 };
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
