/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The peer's consumers: the destinations of our producers. */

#include <errno.h>
#include <string.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_log.h"
#include "sdk/comch_reaper.h"
#include "data/comch_producer.h"
#include "data/comch_remote.h"
#include "data/comch_reclaim.h"

static bool
consumer_new_is_valid(const struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	const struct rte_comch_dev_info *info = &conn->dev->info;
	const struct comch_dir *dir = &conn->fast->dir;
	uint32_t slot = 0;

	return f->id != 0 && comch_dir_find(dir, f->id, &slot) == NULL && f->depth > 0 &&
		f->depth <= info->max_dp_queue && rte_is_power_of_2(f->depth) &&
		f->imm_size <= RTE_COMCH_IMM_SIZE && f->staging_size <= COMCH_MAX_STAGING &&
		(f->staging_size == 0 || (rte_is_power_of_2(f->staging_size) &&
			f->staging_size >= COMCH_LINE));
}

static void
remote_args(const struct rte_comch_conn *conn, const struct comch_new_cons *nc,
		struct rte_comch_remote_args *args)
{
	*args = (struct rte_comch_remote_args){
		.id = nc->id, .depth = nc->depth, .imm_size = nc->imm_size,
		.staging_size = nc->staging_size, .imports = conn->fast->imports,
	};
}

/* Create the sending end. Returns 0 or a negative errno. */
static int
remote_create(struct rte_comch_conn *conn, struct comch_new_cons *nc,
		struct rte_comch_ticket *mine, struct rte_comch_remote **remote)
{
	struct rte_comch_remote_args args;
	int ret;

	if (conn->fast->nb_remotes >= conn->dev->info.max_consumers)
		return -ENOSPC;
	remote_args(conn, nc, &args);
	ret = conn->ops->data->remote_create(conn->link, &args, &nc->ticket, mine, remote);
	if (ret == 0) {
		comch_count(&conn->fast->nb_remotes, 1);
		conn->fast->remote_bytes += conn->ops->data->remote_size(&args);
	}
	return ret;
}

int
comch_remote_free(struct rte_comch_conn *conn, struct rte_comch_remote *remote)
{
	const struct rte_comch_remote_args args = {
		.id = remote->id, .depth = remote->depth, .imm_size = remote->imm_size,
		.staging_size = remote->staging_size,
	};
	int ret = conn->ops->data->remote_free(conn->link, remote);

	if (ret == 0) {
		comch_count(&conn->fast->nb_remotes, -1);
		conn->fast->remote_bytes -= conn->ops->data->remote_size(&args);
	}
	return ret;
}

static int
consumer_new(struct rte_comch_conn *conn, struct comch_new_cons *nc, struct comch_run *run)
{
	struct comch_wire_frame ack = { .type = COMCH_WIRE_CONSUMER_ACK, .id = nc->id };
	struct rte_comch_ticket mine = { 0 };
	struct rte_comch_remote *remote;
	struct rte_comch_event *event;

	ack.status = remote_create(conn, nc, &mine, &remote);
	if (ack.status == -EINPROGRESS)
		return -EINPROGRESS;
	if (ack.status != 0) {
		if (comch_fast_path_refused(conn, "consumer", nc->id, ack.status) != 0)
			return -EPROTO;
		conn->fast->nb_refused++;
		comch_tx_frame(conn, &ack, NULL, 0);
		return ack.status == -EPROTO ? -EPROTO : 0;
	}
	/* Before CONSUMER_ACK: after it the consumer is RUNNING, and producers may use its id. */
	pthread_mutex_lock(&conn->lock);
	/* Never full: nb_remotes is at most max_consumers of the device: see comch_dir.h. */
	comch_dir_add(&conn->fast->dir, remote);
	pthread_mutex_unlock(&conn->lock);
	comch_tx_ticket(conn, &ack, &mine);
	event = comch_run_add(run, RTE_COMCH_EVENT_CONSUMER_NEW, &conn->obj, conn);
	event->consumer.id = nc->id;
	event->consumer.imm_size = nc->imm_size;
	event->consumer.depth = nc->depth;
	return 0;
}

/*
 * Consumers that are gone keep their memory until each producer has left its burst and the reaper
 * has unmapped it: long, if a thread has lost its CPU. A peer that has given them back is not
 * refused for their memory. It waits for threads of this process alone, and of the reaper only for
 * what that was given before.
 */
static bool
awaits_free(const struct rte_comch_conn *conn, struct comch_new_cons *nc, uint64_t size)
{
	const struct rte_comch_dev_info *info = &conn->dev->info;
	bool over_total = comch_load_relaxed(conn->dev->staged) + size > info->total_staging;

	if (!over_total && conn->fast->remote_bytes + size <= info->max_staging)
		return false;
	if (comch_reclaim_pending(conn))
		return true;
	if (!nc->has_mark)
		nc->mark = comch_reaper_mark();
	nc->has_mark = true;
	return over_total && !comch_reaper_passed(nc->mark);
}

/*
 * Limit the memory that a run of the poll allocates for new consumers of all its
 * connections: the peer chooses the size, and the thread allocates and zeroes it.
 */
static bool
alloc_is_allowed(const struct rte_comch_conn *conn, struct comch_new_cons *nc)
{
	struct rte_comch_remote_args args;
	uint64_t size;

	remote_args(conn, nc, &args);
	size = conn->ops->data->remote_size(&args);
	return !awaits_free(conn, nc, size) && comch_poll_allow_alloc(conn->obj.poll, size);
}

/* The frame is continued in a later run, and the frames behind it wait. */
static void
defer(struct rte_comch_conn *conn, const struct comch_new_cons *nc, bool in_progress)
{
	conn->fast->new_cons = *nc;
	conn->fast->new_cons.in_progress = in_progress;
	conn->rx_deferred = true;
}

/* Deferred while the driver is at work on it, memory is to be freed, or over the limit of a run. */
int
comch_remote_on_consumer_new(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run)
{
	struct comch_new_cons nc = {
		.id = f->id, .depth = f->depth, .imm_size = f->imm_size,
		.staging_size = f->staging_size,
	};
	int ret;

	if (!consumer_new_is_valid(conn, f))
		return -EPROTO;
	nc.ticket = *ticket;
	ticket->nb_fds = 0;
	if (!alloc_is_allowed(conn, &nc)) {
		defer(conn, &nc, false);
		comch_poll_note(&conn->obj);
		return 0;
	}
	ret = consumer_new(conn, &nc, run);
	if (ret == -EINPROGRESS) {
		defer(conn, &nc, true);
		return 0;
	}
	comch_foreign_close_ticket(&nc.ticket);
	return ret;
}

void
comch_remote_drop_new(struct rte_comch_conn *conn)
{
	if (!conn->rx_deferred)
		return;
	conn->rx_deferred = false;
	comch_foreign_close_ticket(&conn->fast->new_cons.ticket);
}

bool
comch_remote_step(struct rte_comch_conn *conn, struct comch_run *run)
{
	struct comch_new_cons nc;
	int ret;

	if (comch_run_full(run))
		return true;
	if (!conn->fast->new_cons.in_progress && !alloc_is_allowed(conn, &conn->fast->new_cons))
		return true;
	nc = conn->fast->new_cons;
	/* First: if it ends the connection, the ticket is ours to close. */
	conn->rx_deferred = false;
	ret = consumer_new(conn, &nc, run);
	if (ret == -EINPROGRESS) {
		defer(conn, &nc, true);
		return false;
	}
	comch_foreign_close_ticket(&nc.ticket);
	comch_rx_finish(conn, ret);
	return false;
}

/* Producers that wait for it may sleep in other polls. Call with conn->lock held. */
static void
note_producers(struct rte_comch_conn *conn)
{
	struct rte_comch_producer *p;

	TAILQ_FOREACH(p, &conn->fast->producers, next)
		comch_poll_note(&p->q.obj);
}

int
comch_remote_on_consumer_gone(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket __rte_unused, struct comch_run *run)
{
	struct rte_comch_remote *remote;
	struct rte_comch_event *event;

	pthread_mutex_lock(&conn->lock);
	remote = comch_dir_remove(&conn->fast->dir, f->id);
	if (remote != NULL) {
		remote->ops->remote_retire(remote, f->has_final ? f->final : 0);
		comch_reclaim_later(conn, remote, NULL);
		note_producers(conn);
	}
	pthread_mutex_unlock(&conn->lock);
	if (remote == NULL) {
		/* Stopped before the peer had received our refusal. */
		if (conn->fast->nb_refused == 0)
			return -EPROTO;
		conn->fast->nb_refused--;
		return 0;
	}
	event = comch_run_add(run, RTE_COMCH_EVENT_CONSUMER_GONE, &conn->obj, conn);
	event->consumer.id = f->id;
	return 0;
}

void
comch_remote_free_all(struct rte_comch_conn *conn)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_CONSUMERS; i++) {
		if (conn->fast->dir.id[i] == 0)
			continue;
		conn->fast->dir.id[i] = 0;
		comch_remote_free(conn, conn->fast->dir.remote[i]);
	}
}
