/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * /comch/explain: why a connection's messages are direct or staged, and which mbufs are
 * handed over or copied. The connection's lock is held.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>

#include "data/comch_producer.h"
#include "mem/comch_mem.h"
#include "observe/comch_telemetry.h"

/* Limit of one reply: EAL cuts replies at 16 KiB. */
#define MAX_QUEUES 16
#define MAX_SHOWN_MRS 48

/* Find a registration by its address; it may have been unregistered. */
struct mr_walk {
	const struct rte_comch_mr *mr;
	uint32_t id;
	uint32_t kind;
	bool found;
};

static int
on_mem_kind(const struct rte_comch_mr *mr, void *arg)
{
	struct mr_walk *w = arg;

	if (mr != w->mr)
		return 0;
	w->found = true;
	w->id = mr->id;
	w->kind = mr->kind;
	return 1;
}

enum explain_path { PATH_NONE, PATH_PENDING, PATH_DIRECT, PATH_STAGED, PATH_HANDOVER };

/* Does the consumer receive the mbufs that were sent? */
static bool
takes_mbufs(const struct rte_comch_conn *conn, const struct rte_comch_consumer *c)
{
	return (conn->dev->info.capa & RTE_COMCH_CAPA_HANDOVER) != 0 &&
		comch_load_relaxed(&c->rx_room) > 0;
}

/* The path to memory that was exported to the peer. */
static enum explain_path
explain_export(const struct comch_export *e, uint32_t kind, char *why, size_t size)
{
	switch (e->state) {
	case COMCH_EXPORT_DIRECT:
		snprintf(why, size, "the peer writes into it");
		return PATH_DIRECT;
	case COMCH_EXPORT_STAGED:
		if (e->refusal == 0 && kind == RTE_COMCH_MEM_HEAP)
			snprintf(why, size, "heap memory: not shareable");
		else if (e->refusal == -ENOTSUP && kind == RTE_COMCH_MEM_EAL)
			snprintf(why, size, "EAL memory: needs export_eal=1 and a single file");
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

	if (c->step == COMCH_CONS_IDLE || c->step >= COMCH_CONS_RETIRE) {
		snprintf(why, size, "the consumer is not started");
		return PATH_NONE;
	}
	if (takes_mbufs(conn, c)) {
		snprintf(why, size, "mbufs are handed over: its own mbufs are for copies");
		return PATH_HANDOVER;
	}
	if ((c->conf_flags & RTE_COMCH_CONSUMER_F_SNAPSHOT) != 0)
		snprintf(why, size, "SNAPSHOT: nothing is exported");
	else if (c->export[i] >= 0)
		path = explain_export(&conn->fast->exports[c->export[i]], kind, why, size);
	else if (c->step == COMCH_CONS_SHOW || c->mr_added[i])
		path = PATH_PENDING;
	else
		snprintf(why, size, "not exported: limit of %d registrations per connection",
			COMCH_MAX_IMPORTS);
	if (path == PATH_PENDING && c->export[i] < 0)
		snprintf(why, size, "not exported yet");
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
		[PATH_HANDOVER] = "handover",
	};
	struct mr_walk w = { .mr = c->mrs.mr[i].mr };
	enum explain_path path;
	char why[RTE_TEL_MAX_STRING_LEN];

	/* A consumer releases its registrations before it leaves the connection. */
	comch_mem_walk(on_mem_kind, &w);
	d = w.found ? comch_tel_numbered(d, w.id) : NULL;
	if (d == NULL)
		return;
	path = explain_mr(conn, c, i, w.kind, why, sizeof(why));
	comch_tel_text(d, "kind", rte_comch_mem_kind_name(w.kind));
	comch_tel_u64(d, "len", c->mrs.mr[i].len);
	comch_tel_text(d, "path", paths[path]);
	comch_tel_text(d, "why", why);
}

/* What happens to each kind of mbuf. Without a copy, the peer must be able to read it. */
static void
explain_mbufs(struct rte_tel_data *d, const struct rte_comch_conn *conn,
		const struct rte_comch_consumer *c)
{
	static const char *const ways[] = { "copied", "handed over" };
	struct rte_comch_conn_info info;

	d = comch_tel_dict(d, "mbufs");
	if (d == NULL)
		return;
	rte_comch_conn_info_get(conn, &info);
	comch_tel_u64(d, "room", comch_load_relaxed(&c->rx_room));
	comch_tel_text(d, "chains", ways[(c->conf_flags & RTE_COMCH_CONSUMER_F_CHAINS) != 0]);
	comch_tel_text(d, "not_eal_memory", ways[info.peer_pid == getpid()]);
}

/* Our consumer, for received messages: at most *room registrations. */
static void
explain_consumer(struct rte_tel_data *d, const struct rte_comch_conn *conn,
		const struct rte_comch_consumer *c, uint32_t *room)
{
	uint32_t i, nb_mrs = comch_load_acquire(&c->mrs.nb); /* publish.pml, find */
	uint32_t shown = RTE_MIN(nb_mrs, *room);
	struct rte_tel_data *in;

	comch_tel_state(d, &c->q.obj);
	comch_tel_consumer(d, c);
	comch_tel_u64(d, "msgs", comch_load_relaxed(&comch_consumer_stats(c)->msgs));
	comch_tel_u64(d, "staged_msgs", comch_load_relaxed(&comch_consumer_stats(c)->staged));
	if (takes_mbufs(conn, c))
		explain_mbufs(d, conn, c);
	in = shown > 0 ? comch_tel_dict(d, "memory") : NULL;
	for (i = 0; in != NULL && i < shown; i++)
		add_mr(in, conn, c, i);
	if (nb_mrs > shown)
		comch_tel_u64(d, "memory_left_out", nb_mrs - shown);
	*room -= shown;
}

/* Our producers: how many of their messages were copied. */
static void
explain_producers(struct rte_tel_data *d, const struct rte_comch_conn *conn)
{
	const struct rte_comch_producer *p;
	struct rte_comch_producer_stats st;
	struct rte_tel_data *in;
	uint32_t nb = 0;

	d = conn->fast != NULL ? comch_tel_dict(d, "producers") : NULL;
	if (d == NULL)
		return;
	TAILQ_FOREACH(p, &conn->fast->producers, next) {
		in = nb < MAX_QUEUES ? comch_tel_numbered(d, p->q.id) : NULL;
		if (in == NULL || rte_comch_producer_stats_get(p, &st) != 0)
			return;
		nb++;
		comch_tel_u64(in, "msgs", st.msgs);
		comch_tel_u64(in, "copies", st.copies);
		comch_tel_u64(in, "staged_msgs", st.staged);
		comch_tel_u64(in, "errors", st.errors);
	}
}

/* The peer's consumers, for sent messages. The connection's lock is held. */
static void
explain_remote(struct rte_tel_data *d, const struct rte_comch_conn *conn)
{
	uint64_t len, bytes = 0;
	uint32_t i, nb = 0, nb_mrs = 0;
	const struct rte_comch_region *region;
	const struct rte_comch_remote *remote;
	struct rte_tel_data *in;

	/* An ending connection takes the lock before it empties the directory. */
	if (conn->fast == NULL || !comch_conn_is_up(conn))
		return;
	for (i = 0; i < COMCH_MAX_IMPORTS; i++) {
		region = comch_load_acquire(&conn->fast->imports[i]); /* publish.pml, find */
		len = region != NULL ? region->len : 0;
		nb_mrs += len > 0;
		bytes += len;
	}
	comch_tel_u64(d, "peer_memory", nb_mrs);
	comch_tel_u64(d, "peer_memory_bytes", bytes);
	d = comch_tel_dict(d, "peer_consumers");
	for (i = 0; d != NULL && i < COMCH_MAX_CONSUMERS && nb < MAX_QUEUES; i++) {
		if (comch_load_acquire(&conn->fast->dir.id[i]) == 0) /* dir.pml, look */
			continue;
		remote = comch_load_acquire(&conn->fast->dir.remote[i]); /* dir.pml, slot */
		in = comch_tel_numbered(d, remote->id);
		if (in == NULL)
			return;
		nb++;
		comch_tel_u64(in, "depth", remote->depth);
		comch_tel_u64(in, "imm_size", remote->imm_size);
		comch_tel_u64(in, "staging_size", remote->staging_size);
	}
}

static const struct rte_comch_consumer *
find_consumer(const struct rte_comch_conn *conn, uint32_t id)
{
	const struct rte_comch_consumer *c;

	if (conn->fast == NULL)
		return NULL;
	TAILQ_FOREACH(c, &conn->fast->consumers, next)
		if (c->q.id == id)
			return c;
	return NULL;
}

/* All our consumers, or the one with the given id. */
static void
explain_consumers(struct rte_tel_data *d, const struct rte_comch_conn *conn,
		const struct comch_tel_args *args)
{
	uint32_t room = args->nb > 1 ? COMCH_MAX_IMPORTS : MAX_SHOWN_MRS, nb = 0, left_out = 0;
	struct rte_tel_data *list = comch_tel_dict(d, "consumers"), *in;
	const struct rte_comch_consumer *c;

	if (conn->fast == NULL || list == NULL)
		return;
	TAILQ_FOREACH(c, &conn->fast->consumers, next) {
		if (args->nb > 1 && c->q.id != args->val[1])
			continue;
		left_out += nb >= MAX_QUEUES;
		in = nb < MAX_QUEUES ? comch_tel_numbered(list, c->q.id) : NULL;
		if (in == NULL)
			continue;
		nb++;
		explain_consumer(in, conn, c, &room);
	}
	if (left_out > 0)
		comch_tel_u64(d, "consumers_left_out", left_out);
}

int
comch_explain(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_conn *conn = comch_tel_find_conn(args->val[0]);

	if (conn == NULL)
		return -EINVAL;
	pthread_mutex_lock(&conn->lock);
	if (args->nb > 1 && find_consumer(conn, args->val[1]) == NULL) {
		pthread_mutex_unlock(&conn->lock);
		return -EINVAL;
	}
	rte_tel_data_start_dict(d);
	comch_tel_conn(d, conn);
	comch_tel_u64(d, "max_imm_len", conn->dev->info.max_imm_len);
	comch_tel_u64(d, "max_buf_len", conn->dev->info.max_buf_len);
	explain_consumers(d, conn, args);
	if (args->nb < 2) {
		explain_producers(d, conn);
		explain_remote(d, conn);
	}
	pthread_mutex_unlock(&conn->lock);
	return 0;
}
