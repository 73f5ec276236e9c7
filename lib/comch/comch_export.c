/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Memory that we show to the peer, memory that we are shown, and when what
 * producers use without locks may be freed. The connection's thread.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/comch_asym.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_log.h"
#include "comch_private.h"

/* Exports */

static int
export_send(struct rte_comch_conn *conn, int id)
{
	struct comch_export *e = &conn->exports[id];
	struct comch_wire_frame f = { .type = COMCH_WIRE_MR_ADD, .id = (uint32_t)id };
	struct rte_comch_mem_desc desc = { .fd = -1 };
	struct rte_comch_ticket ticket = { 0 };
	int ret;

	/* A client's memory goes to one server; a server's to any number of clients. */
	if (conn->server != NULL)
		comch_mem_share(e->mr);
	ret = conn->ops->data->mem_show(conn->link, e->mr, &desc, &ticket);
	e->shown = ret == 0;
	if (ret != 0) {
		e->state = COMCH_EXPORT_STAGED;
		/* Few drivers can show heap memory: no news to anybody. */
		e->refusal = ret == -ENOTSUP && e->mr->kind == RTE_COMCH_MEM_HEAP ? 0 : ret;
		return 0;
	}
	f.kind = desc.kind;
	f.offset = desc.offset;
	f.size = desc.len;
	e->state = COMCH_EXPORT_SENT;
	comch_proto_tx_ticket(conn, &f, &ticket);
	return 0;
}

int
comch_export_get(struct rte_comch_conn *conn, struct rte_comch_mr *mr)
{
	struct comch_export *e;
	uint32_t i;
	int id;

	for (id = 0; id < COMCH_MAX_IMPORTS; id++) {
		if (conn->exports[id].state == COMCH_EXPORT_FREE || conn->exports[id].mr != mr)
			continue;
		conn->exports[id].refs++;
		return id;
	}
	/* In turn: for a while a peer may have to hold on to one that was freed last. */
	for (i = 0; i < COMCH_MAX_IMPORTS; i++) {
		id = (int)((conn->next_export + i) % COMCH_MAX_IMPORTS);
		e = &conn->exports[id];
		if (e->state != COMCH_EXPORT_FREE)
			continue;
		conn->next_export = (uint32_t)id + 1;
		e->mr = mr;
		e->state = COMCH_EXPORT_NEW;
		e->refs = 1;
		e->refusal = 0;
		export_send(conn, id);
		return id;
	}
	return -ENOSPC;
}

void
comch_export_put(struct rte_comch_conn *conn, int id)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_MR_DEL, .id = (uint32_t)id };
	struct comch_export *e = &conn->exports[id];

	if (--e->refs > 0)
		return;
	/* An answer to MR_ADD may be under way: it is not the answer to the next one. */
	if (e->state == COMCH_EXPORT_SENT)
		e->stale_acks++;
	if ((e->state == COMCH_EXPORT_DIRECT || e->state == COMCH_EXPORT_SENT) &&
			comch_conn_is_up(conn))
		comch_conn_tx(conn, &f, NULL, 0);
	/* Also if the peer refused it. */
	if (e->shown)
		conn->ops->data->mem_hide(conn->link, e->mr);
	e->state = COMCH_EXPORT_FREE;
	e->mr = NULL;
}

void
comch_export_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	struct comch_export *e;

	pthread_mutex_lock(&conn->lock);
	e = f->id < COMCH_MAX_IMPORTS ? &conn->exports[f->id] : NULL;
	/* Answers come in the order of the questions. */
	if (e != NULL && e->stale_acks > 0) {
		e->stale_acks--;
	} else if (e != NULL && e->state == COMCH_EXPORT_SENT) {
		e->state = f->status == 0 ? COMCH_EXPORT_DIRECT : COMCH_EXPORT_STAGED;
		e->refusal = f->status;
		if (f->status != 0)
			COMCH_LOG(NOTICE, "connection %u: the peer did not map registration %u "
				"(%s): its messages are staged", conn->id, e->mr->id,
				f->status == -EPERM && comch_mem_is_taken(e->mr) ?
				"another process has; see RTE_COMCH_MEM_F_SHARED" :
				strerror(-f->status));
	}
	pthread_mutex_unlock(&conn->lock);
	comch_poll_note(&conn->obj);
}

/* Imports */

/* The number is free again at once: what producers may still use is elsewhere. */
static struct rte_comch_region *
import_room(struct rte_comch_conn *conn)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_IMPORT_REGIONS; i++)
		if (conn->import_region[i].addr == NULL)
			return &conn->import_region[i];
	return NULL;
}

static int
import_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket)
{
	struct rte_comch_mem_desc desc = {
		.kind = f->kind, .offset = f->offset, .len = f->size, .fd = -1,
	};
	struct rte_comch_region *region;
	int ret;

	region = conn->imports[f->id] == NULL ? import_room(conn) : NULL;
	if (region == NULL)
		return -EBUSY;
	ret = conn->ops->data->mem_take(conn->link, &desc, ticket, region);
	if (ret != 0) {
		COMCH_LOG(WARNING, "connection %u: memory of the peer refused: %s", conn->id,
			strerror(-ret));
		region->addr = NULL;
		return ret;
	}
	/* Release: pairs with check_desc(), which reads what it leads to. */
	comch_store_release(&conn->imports[f->id], region);
	return 0;
}

int
comch_import_on_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket)
{
	struct comch_wire_frame ack = { .type = COMCH_WIRE_MR_ACK, .id = f->id };

	if (f->id >= COMCH_MAX_IMPORTS || f->size == 0)
		return -EPROTO;
	pthread_mutex_lock(&conn->lock);
	ack.status = import_add(conn, f, ticket);
	pthread_mutex_unlock(&conn->lock);
	if (ack.status == -EPROTO)
		return -EPROTO;
	comch_conn_tx(conn, &ack, NULL, 0);
	return 0;
}

static void
reclaim_later(struct rte_comch_conn *conn, struct rte_comch_remote *remote,
		struct rte_comch_region *import)
{
	struct comch_reclaim *r = calloc(1, sizeof(*r));

	/* Without memory it stays until the connection ends; nobody finds it any more. */
	if (r == NULL)
		return;
	r->remote = remote;
	r->import = import;
	r->next = conn->reclaim_new;
	conn->reclaim_new = r;
	comch_poll_note(&conn->obj);
}

int
comch_import_on_del(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	struct rte_comch_region *region;

	if (f->id >= COMCH_MAX_IMPORTS)
		return -EPROTO;
	pthread_mutex_lock(&conn->lock);
	region = conn->imports[f->id];
	if (region != NULL) {
		/* Release: who misses it in check_desc() sees which consumers went before. */
		comch_store_release(&conn->imports[f->id], NULL);
		reclaim_later(conn, NULL, region);
	}
	pthread_mutex_unlock(&conn->lock);
	return 0;
}

void
comch_import_free_all(struct rte_comch_conn *conn)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_IMPORTS; i++)
		comch_store_relaxed(&conn->imports[i], NULL);
	for (i = 0; i < COMCH_MAX_IMPORT_REGIONS; i++) {
		if (conn->import_region[i].addr == NULL)
			continue;
		conn->ops->data->mem_drop(conn->link, &conn->import_region[i]);
		conn->import_region[i].addr = NULL;
	}
}

/* Reclaiming */

uint32_t
comch_export_nb_regions(const struct rte_comch_conn *conn)
{
	uint32_t i, n = 2 * conn->nb_remotes;

	for (i = 0; i < COMCH_MAX_IMPORT_REGIONS; i++)
		n += conn->import_region[i].addr != NULL;
	return n;
}

void
comch_reclaim_remote(struct rte_comch_conn *conn, struct rte_comch_remote *remote)
{
	reclaim_later(conn, remote, NULL);
}

static struct comch_dir_reader *
producer_reader(const struct rte_comch_producer *p)
{
	return comch_queue_ops(&p->q)->prod_reader(p->q.dq);
}

static bool
producers_quiesced(struct rte_comch_conn *conn)
{
	struct rte_comch_producer *p;

	TAILQ_FOREACH(p, &conn->producers, next)
		if (!comch_dir_quiesced(producer_reader(p)))
			return false;
	return true;
}

/* False: later. */
static bool
reclaim_free(struct rte_comch_conn *conn, struct comch_reclaim *r)
{
	if (!comch_poll_may_free(conn->obj.poll, r->remote != NULL ? 2 : 1))
		return false;
	if (r->remote != NULL) {
		if (comch_remote_free(conn, r->remote) != 0) {
			comch_poll_not_freed(conn->obj.poll, 2);
			return false;
		}
	} else {
		conn->ops->data->mem_drop(conn->link, r->import);
		r->import->addr = NULL;
	}
	free(r);
	return true;
}

static void
reclaim_fence(struct rte_comch_conn *conn)
{
	struct rte_comch_producer *p;

	conn->reclaim_wait = conn->reclaim_new;
	conn->reclaim_new = NULL;
	comch_fence_heavy();
	TAILQ_FOREACH(p, &conn->producers, next)
		comch_dir_quiesce_begin(producer_reader(p));
}

bool
comch_reclaim_step(struct rte_comch_conn *conn)
{
	struct comch_reclaim **link, *r;
	bool done;

	/* Both lists are changed by this thread only. */
	if (conn->reclaim_wait == NULL && conn->reclaim_new == NULL)
		return true;
	pthread_mutex_lock(&conn->lock);
	if (conn->reclaim_wait == NULL)
		reclaim_fence(conn);
	if (producers_quiesced(conn)) {
		for (link = &conn->reclaim_wait; (r = *link) != NULL; ) {
			struct comch_reclaim *next = r->next;

			if (reclaim_free(conn, r))
				*link = next;
			else
				link = &r->next;
		}
	}
	done = conn->reclaim_wait == NULL && conn->reclaim_new == NULL;
	pthread_mutex_unlock(&conn->lock);
	return done;
}

void
comch_reclaim_free_all(struct rte_comch_conn *conn)
{
	struct comch_reclaim *r;

	/* No producer is left: nothing to wait for. */
	while ((r = conn->reclaim_new) != NULL || (r = conn->reclaim_wait) != NULL) {
		if (conn->reclaim_new != NULL)
			conn->reclaim_new = r->next;
		else
			conn->reclaim_wait = r->next;
		if (r->remote != NULL)
			comch_remote_free(conn, r->remote);
		free(r);
	}
}
