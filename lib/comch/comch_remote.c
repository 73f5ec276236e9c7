/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The peer's consumers, that we send to, and its producers, that we wake. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "comch_budget.h"
#include "comch_compat.h"
#include "comch_dir.h"
#include "comch_foreign.h"
#include "comch_log.h"
#include "comch_memfd.h"
#include "comch_private.h"

/* Of record regions that one run makes, if it is more than one. */
#define MAX_RUN_BYTES (UINT64_C(256) << 10)

static bool
consumer_new_is_valid(const struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	const struct rte_comch_dev_info *info = &conn->dev->info;

	uint32_t slot = 0;

	return f->id != 0 && comch_dir_find(&conn->dir, f->id, &slot) == NULL && f->depth > 0 &&
		f->depth <= info->max_dp_queue && rte_is_power_of_2(f->depth) &&
		f->imm_size <= RTE_COMCH_IMM_SIZE && f->staging_size <= COMCH_MAX_STAGING &&
		(f->staging_size == 0 || (rte_is_power_of_2(f->staging_size) &&
			f->staging_size >= COMCH_LINE));
}

/* Count a record region before it is made: the peer says how large it is. */
static int
take_staging(struct rte_comch_conn *conn, uint64_t len)
{
	const struct rte_comch_dev_info *info = &conn->dev->info;

	if (comch_budget_take(&conn->staged, info->max_staging, len)) {
		if (comch_budget_take(conn->dev->staged, info->total_staging, len))
			return 0;
		comch_budget_give(&conn->staged, len);
	}
	if (!conn->said_refused)
		COMCH_LOG(WARNING, "connection %u: a consumer of the peer wants %" PRIu64
			" bytes: the connection has %" PRIu64 " of max_staging=%" PRIu64
			", the device %" PRIu64 " of total_staging=%" PRIu64, conn->id, len,
			conn->staged, info->max_staging,
			comch_load_relaxed(conn->dev->staged), info->total_staging);
	return -EDQUOT;
}

static int
rec_create(struct rte_comch_conn *conn, struct comch_rcons *rc, size_t len)
{
	int ret = take_staging(conn, len);

	if (ret != 0)
		return ret;
	ret = conn->ops->region_create(conn->link, len, &rc->rec_region);
	if (ret != 0) {
		comch_budget_give(&conn->staged, len);
		comch_budget_give(conn->dev->staged, len);
		return ret;
	}
	/* Until it is unmapped. */
	rc->rec_region.used = conn->dev->staged;
	return 0;
}

static int
rcons_map(struct rte_comch_conn *conn, struct comch_rcons *rc, int post_fd)
{
	size_t post_len = comch_memfd_round(comch_chan_post_len(rc->depth));
	size_t rec_len = comch_memfd_round(comch_chan_rec_len(rc->depth, rc->staging_size));
	int ret;

	ret = conn->ops->region_map(conn->link, post_fd, post_len, &rc->post_region);
	if (ret != 0)
		return ret;
	ret = rec_create(conn, rc, rec_len);
	if (ret != 0) {
		conn->ops->region_free(conn->link, &rc->post_region);
		return ret;
	}
	rc->post_shared = rc->post_region.addr;
	rc->rec = rc->rec_region.addr;
	if (rc->staging_size > 0)
		rc->staging = (uint8_t *)&rc->rec->rec[rc->depth];
	return 0;
}

void
comch_remote_rcons_free(struct rte_comch_conn *conn, struct comch_rcons *rc)
{
	conn->ops->region_free(conn->link, &rc->post_region);
	comch_budget_give(&conn->staged, rc->rec_region.len);
	conn->ops->region_free(conn->link, &rc->rec_region);
	if (rc->wake_fd >= 0)
		comch_foreign_close(rc->wake_fd);
	comch_count(&conn->nb_rcons, -1);
	rte_free(rc);
}

/* Make the sending end. Returns 0 or why not. */
static int
rcons_create(struct rte_comch_conn *conn, struct comch_new_cons *nc, struct comch_rcons **rcons)
{
	struct comch_rcons *rc;
	int ret;

	if (conn->nb_rcons >= conn->dev->info.max_consumers)
		return -ENOSPC;
	rc = rte_zmalloc("comch_rcons", sizeof(*rc), COMCH_LINE);
	if (rc == NULL)
		return -ENOMEM;
	rc->id = nc->id;
	rc->depth = nc->depth;
	rc->mask = nc->depth - 1;
	rc->imm_size = nc->imm_size;
	rc->staging_size = nc->staging_size;
	rc->imports = conn->imports;
	rc->light = conn->link->light;
	ret = rcons_map(conn, rc, nc->fds[0]);
	if (ret != 0) {
		rte_free(rc);
		return ret;
	}
	rc->wake_fd = nc->fds[1];
	nc->fds[1] = -1;
	comch_count(&conn->nb_rcons, 1);
	*rcons = rc;
	return 0;
}

static int
consumer_new(struct rte_comch_conn *conn, struct comch_new_cons *nc, struct comch_run *run)
{
	struct comch_wire_frame ack = { .type = COMCH_WIRE_CONSUMER_ACK, .id = nc->id };
	struct rte_comch_event *event;
	struct comch_rcons *rc;

	ack.status = rcons_create(conn, nc, &rc);
	if (ack.status != 0) {
		/* Who is over a limit was told of by who keeps it. */
		if (!conn->said_refused && ack.status != -EDQUOT)
			COMCH_LOG(WARNING, "connection %u: consumer %u of the peer refused: %s",
				conn->id, nc->id, strerror(-ack.status));
		conn->said_refused = true;
		comch_conn_tx(conn, &ack, NULL, 0);
		return ack.status == -EPERM ? -EPROTO : 0;
	}
	/* First: with the answer the consumer is RUNNING, and producers may know its id. */
	pthread_mutex_lock(&conn->lock);
	/* There is room: the directory has as many places as there may be consumers. */
	comch_dir_add(&conn->dir, rc);
	pthread_mutex_unlock(&conn->lock);
	comch_conn_tx(conn, &ack, &rc->rec_region.fd, 1);
	close(rc->rec_region.fd);
	rc->rec_region.fd = -1;
	event = comch_run_add(run, RTE_COMCH_EVENT_CONSUMER_NEW, &conn->obj, conn);
	event->consumer.id = nc->id;
	event->consumer.imm_size = nc->imm_size;
	event->consumer.depth = nc->depth;
	return 0;
}

static void
close_fds(struct comch_new_cons *nc)
{
	uint32_t i;

	for (i = 0; i < RTE_DIM(nc->fds); i++)
		if (nc->fds[i] >= 0)
			comch_foreign_close(nc->fds[i]);
}

/*
 * One a run, or a few small ones, whichever connection they are of: the region
 * of each is allocated and zeroed here, and the peer says how large it is.
 */
static bool
may_create(struct rte_comch_poll *poll, const struct comch_new_cons *nc)
{
	uint64_t len = comch_chan_rec_len(nc->depth, nc->staging_size);

	if (poll->region_run == poll->run_no && poll->region_bytes + len > MAX_RUN_BYTES)
		return false;
	poll->region_bytes = len + (poll->region_run == poll->run_no ? poll->region_bytes : 0);
	poll->region_run = poll->run_no;
	return true;
}

/* One that this run may not make is put off; the frames behind it wait as well. */
int
comch_remote_on_consumer_new(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		int *fds, struct comch_run *run)
{
	struct rte_comch_poll *poll = conn->obj.poll;
	struct comch_new_cons nc = {
		.id = f->id, .depth = f->depth, .imm_size = f->imm_size,
		.staging_size = f->staging_size, .fds = { fds[0], fds[1] },
	};
	int ret;

	if (!consumer_new_is_valid(conn, f) || !comch_foreign_is_unix(fds[1]))
		return -EPROTO;
	if (!TAILQ_EMPTY(&poll->new_cons) || !may_create(poll, &nc)) {
		conn->new_cons = nc;
		conn->put_off = true;
		TAILQ_INSERT_TAIL(&poll->new_cons, conn, new_cons_next);
		fds[0] = -1;
		fds[1] = -1;
		return 0;
	}
	ret = consumer_new(conn, &nc, run);
	fds[1] = nc.fds[1];
	return ret;
}

void
comch_remote_forget_new(struct rte_comch_conn *conn)
{
	if (!conn->put_off)
		return;
	conn->put_off = false;
	TAILQ_REMOVE(&conn->obj.poll->new_cons, conn, new_cons_next);
	close_fds(&conn->new_cons);
}

static bool
new_cons_step(struct rte_comch_poll *poll, struct comch_run *run)
{
	struct rte_comch_conn *conn = TAILQ_FIRST(&poll->new_cons);
	struct comch_new_cons nc = conn->new_cons;
	int ret;

	if (comch_run_full(run) || !may_create(poll, &nc))
		return false;
	conn->put_off = false;
	TAILQ_REMOVE(&poll->new_cons, conn, new_cons_next);
	ret = comch_conn_is_up(conn) ? consumer_new(conn, &nc, run) : 0;
	close_fds(&nc);
	comch_conn_rx_over(conn, ret);
	return true;
}

void
comch_remote_step(struct rte_comch_poll *poll, struct comch_run *run)
{
	while (!TAILQ_EMPTY(&poll->new_cons) && new_cons_step(poll, run))
		;
}

int
comch_remote_on_consumer_gone(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct comch_run *run)
{
	struct rte_comch_event *event;
	struct comch_rcons *rc;

	pthread_mutex_lock(&conn->lock);
	rc = comch_dir_remove(&conn->dir, f->id);
	if (rc != NULL)
		comch_reclaim_rcons(conn, rc);
	pthread_mutex_unlock(&conn->lock);
	if (rc == NULL)
		return -EPROTO;
	event = comch_run_add(run, RTE_COMCH_EVENT_CONSUMER_GONE, &conn->obj, conn);
	event->consumer.id = f->id;
	return 0;
}

static struct comch_peer_prod *
find_peer_prod(struct rte_comch_conn *conn, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_PRODUCERS; i++)
		if (conn->peer_prod[i].id == id)
			return &conn->peer_prod[i];
	return NULL;
}

int
comch_remote_on_producer_new(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		int *fds)
{
	struct comch_peer_prod *pp;

	if (f->id == 0 || find_peer_prod(conn, f->id) != NULL || !comch_foreign_is_unix(fds[0]))
		return -EPROTO;
	pp = find_peer_prod(conn, 0);
	if (pp == NULL)
		return -EPROTO;
	rte_spinlock_lock(&conn->wake_lock);
	pp->id = f->id;
	pp->wake_fd = fds[0];
	rte_spinlock_unlock(&conn->wake_lock);
	fds[0] = -1;
	/* It may have gone to sleep before we could have woken it. */
	(void)send(pp->wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

int
comch_remote_on_producer_gone(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	struct comch_peer_prod *pp;
	int fd;

	pp = f->id != 0 ? find_peer_prod(conn, f->id) : NULL;
	if (pp == NULL)
		return -EPROTO;
	rte_spinlock_lock(&conn->wake_lock);
	fd = pp->wake_fd;
	pp->id = 0;
	rte_spinlock_unlock(&conn->wake_lock);
	comch_foreign_close(fd);
	return 0;
}

void
comch_remote_wake_producers(struct rte_comch_conn *conn)
{
	uint32_t i;

	rte_spinlock_lock(&conn->wake_lock);
	for (i = 0; i < COMCH_MAX_PRODUCERS; i++)
		if (conn->peer_prod[i].id != 0)
			(void)send(conn->peer_prod[i].wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	rte_spinlock_unlock(&conn->wake_lock);
}

void
comch_remote_free_all(struct rte_comch_conn *conn)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_CONSUMERS; i++) {
		if (conn->dir.id[i] == 0)
			continue;
		conn->dir.id[i] = 0;
		comch_remote_rcons_free(conn, conn->dir.rcons[i]);
	}
	for (i = 0; i < COMCH_MAX_PRODUCERS; i++) {
		if (conn->peer_prod[i].id == 0)
			continue;
		conn->peer_prod[i].id = 0;
		comch_foreign_close(conn->peer_prod[i].wake_fd);
	}
}
