/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Our registrations that are exported to the peer, by a number that both ends know. */

#include <errno.h>
#include <string.h>

#include "sdk/comch_log.h"
#include "ctrl/comch_dev.h"
#include "data/comch_export.h"
#include "mem/comch_mem.h"

/* Show the memory to the peer; NEW: the driver continues later. */
static void
export_show(struct rte_comch_conn *conn, int id)
{
	struct comch_export *e = &conn->fast->exports[id];
	struct comch_wire_frame f = { .type = COMCH_WIRE_MR_ADD, .id = (uint32_t)id };
	struct rte_comch_mem_desc desc = { .fd = -1 };
	struct rte_comch_ticket ticket = { 0 };
	int ret;

	/* Stays NEW: limit unanswered MR_ADDs, or both sides could stop reading. */
	if (conn->fast->nb_shown >= COMCH_MAX_SHOWN)
		return;
	/* A client exports its memory to one server, a server to several clients. */
	if (conn->server != NULL)
		comch_mem_share(e->mr);
	ret = conn->ops->data->mem_show(conn->link, e->mr, &desc, &ticket);
	e->is_exported = ret == 0 || ret == -EINPROGRESS;
	if (ret == -EINPROGRESS)
		return;
	if (ret != 0) {
		e->state = COMCH_EXPORT_STAGED;
		/* Expected: few drivers can export heap memory. Do not report it. */
		e->refusal = ret == -ENOTSUP && e->mr->kind == RTE_COMCH_MEM_HEAP ? 0 : ret;
		return;
	}
	f.kind = desc.kind;
	f.offset = desc.offset;
	f.size = desc.len;
	e->state = COMCH_EXPORT_SENT;
	conn->fast->nb_shown++;
	comch_tx_ticket(conn, &f, &ticket);
}

static void
export_begin(struct rte_comch_conn *conn, int id)
{
	conn->fast->exports[id].state = COMCH_EXPORT_NEW;
	conn->fast->exports[id].refusal = 0;
	export_show(conn, id);
}

/* Withdraw the memory; HIDING: the driver continues later. */
static void
export_hide(struct rte_comch_conn *conn, int id)
{
	struct comch_export *e = &conn->fast->exports[id];

	e->state = COMCH_EXPORT_HIDING;
	/* Also if the peer refused it. */
	if (e->is_exported && conn->ops->data->mem_hide(conn->link, e->mr) == -EINPROGRESS)
		return;
	e->is_exported = false;
	if (e->refs > 0) {
		export_begin(conn, id);
		return;
	}
	e->state = COMCH_EXPORT_FREE;
	e->mr = NULL;
}

enum comch_export_state
comch_export_step(struct rte_comch_conn *conn, int id)
{
	struct comch_export *e = &conn->fast->exports[id];

	if (e->state == COMCH_EXPORT_NEW)
		export_show(conn, id);
	else if (e->state == COMCH_EXPORT_HIDING)
		export_hide(conn, id);
	return e->state;
}

int
comch_export_get(struct rte_comch_conn *conn, struct rte_comch_mr *mr)
{
	struct comch_fast_path *fast = conn->fast;
	struct comch_export *e;
	uint32_t i;
	int id;

	for (id = 0; id < COMCH_MAX_IMPORTS; id++) {
		e = &fast->exports[id];
		if (e->state == COMCH_EXPORT_FREE || e->mr != mr)
			continue;
		e->refs++;
		return id;
	}
	/* Round robin: the peer may keep the import of a freed number for a while. */
	for (i = 0; i < COMCH_MAX_IMPORTS; i++) {
		id = (int)((fast->next_export + i) % COMCH_MAX_IMPORTS);
		e = &fast->exports[id];
		if (e->state != COMCH_EXPORT_FREE)
			continue;
		fast->next_export = (uint32_t)id + 1;
		e->mr = mr;
		e->refs = 1;
		export_begin(conn, id);
		return id;
	}
	return -ENOSPC;
}

void
comch_export_put(struct rte_comch_conn *conn, int id)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_MR_DEL, .id = (uint32_t)id };
	struct comch_export *e = &conn->fast->exports[id];

	if (--e->refs > 0 || e->state == COMCH_EXPORT_HIDING)
		return;
	/* The MR_ACK that is outstanding must not count for the next MR_ADD. */
	if (e->state == COMCH_EXPORT_SENT)
		e->stale_acks++;
	if ((e->state == COMCH_EXPORT_DIRECT || e->state == COMCH_EXPORT_SENT) &&
			comch_conn_is_up(conn))
		comch_tx_frame(conn, &f, NULL, 0);
	export_hide(conn, id);
}

void
comch_mem_gone(const struct rte_comch_mr *mr)
{
	comch_dev_mr_gone(mr);
}

int
comch_export_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket __rte_unused, struct comch_run *run __rte_unused)
{
	struct comch_export *e;

	/* All unanswered MR_ADDs are still queued here: this ACK answers none of them. */
	if (conn->fast->nb_shown > 0 &&
			conn->fast->nb_shown <= comch_tx_nb_waiting(conn, COMCH_WIRE_MR_ADD))
		return -EPROTO;
	pthread_mutex_lock(&conn->lock);
	e = f->id < COMCH_MAX_IMPORTS ? &conn->fast->exports[f->id] : NULL;
	/* MR_ACKs arrive in the order of the MR_ADDs. */
	if (e != NULL && e->stale_acks > 0) {
		e->stale_acks--;
		conn->fast->nb_shown--;
	} else if (e != NULL && e->state == COMCH_EXPORT_SENT) {
		conn->fast->nb_shown--;
		e->state = f->status == 0 ? COMCH_EXPORT_DIRECT : COMCH_EXPORT_STAGED;
		e->refusal = f->status;
		if (f->status != 0)
			COMCH_LOG(NOTICE, "connection %u: peer refused registration %u (%s): "
				"messages are staged", conn->id, e->mr->id,
				f->status == -EPERM && comch_mem_is_taken(e->mr) ?
				"mapped by another process; see RTE_COMCH_MEM_F_SHARED" :
				strerror(-f->status));
	}
	pthread_mutex_unlock(&conn->lock);
	comch_poll_note(&conn->obj);
	return 0;
}
