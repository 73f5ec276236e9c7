/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Start and stop of a consumer.
 *
 *   start()  SHOW      export the registrations; others are staged
 *            ANNOUNCE  send CONSUMER_NEW with the driver's ticket
 *            WAIT      for CONSUMER_ACK with the ticket of the peer's driver
 *            BIND      the driver connects, if that takes it long
 *            LIVE      RUNNING
 *   stop()             halt; recv_burst() drains the ring, then flushes the posts
 *            RETIRE    send CONSUMER_GONE and MR_DEL
 *            HIDE      until no device of the peer reaches the memory; IDLE
 *
 * The connection's thread runs the steps. start(), stop() and destroy() may be called
 * by any thread: with the connection's lock held, they only set flags for the steps.
 */

#include <errno.h>
#include <string.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_log.h"
#include "data/comch_consumer.h"
#include "data/comch_export.h"
#include "mem/comch_mem.h"

bool
comch_consumer_exports(const struct rte_comch_consumer *c)
{
	return (c->conf_flags & RTE_COMCH_CONSUMER_F_SNAPSHOT) == 0;
}

/* Export one registration. True: decided, the registration is exported or staged. */
static bool
show_mr(struct rte_comch_conn *conn, struct rte_comch_consumer *c, uint32_t i)
{
	const struct comch_export *e;
	int id;

	c->mr_status[i] = 0;
	c->mrs.mr[i].region = COMCH_REGION_STAGED;
	if (!comch_consumer_exports(c))
		return true;
	if (c->export[i] < 0) {
		id = comch_export_get(conn, c->mrs.mr[i].mr);
		/* The peer's table is full: stage. */
		if (id < 0)
			return true;
		c->export[i] = (int16_t)id;
	}
	switch (comch_export_step(conn, c->export[i])) {
	case COMCH_EXPORT_NEW:
	case COMCH_EXPORT_HIDING:
	case COMCH_EXPORT_SENT:
		return false;
	default:
		break;
	}
	e = &conn->fast->exports[c->export[i]];
	if (e->state == COMCH_EXPORT_DIRECT)
		c->mrs.mr[i].region = (uint16_t)c->export[i];
	else
		c->mr_status[i] = e->refusal;
	return true;
}

static bool
step_show(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	bool settled = true, staged = c->mrs.nb == 0;
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++) {
		settled &= show_mr(conn, c, i);
		staged |= c->mrs.mr[i].region == COMCH_REGION_STAGED;
	}
	if (!settled)
		return false;
	c->staging_size = c->staging_conf;
	if (c->staging_size == 0 && staged && c->mrs.nb > 0)
		c->staging_size = COMCH_DEFAULT_STAGING;
	c->step = COMCH_CONS_ANNOUNCE;
	return true;
}

/* cons_offer, which may renew the file of the descriptor that the poll waits for. */
static int
offer(struct rte_comch_consumer *c, struct rte_comch_ticket *mine)
{
	int ret, err;

	comch_poll_fd_suspend(c->q.obj.poll, &c->q.fd);
	ret = comch_queue_ops(&c->q)->cons_offer(c->q.dq, c->staging_size, mine);
	err = comch_poll_fd_resume(c->q.obj.poll, &c->q.fd);
	if (err == 0 || (ret != 0 && ret != -EINPROGRESS))
		return ret;
	comch_tx_ticket_drop(mine);
	return err;
}

static void
step_announce(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	struct comch_wire_frame f = {
		.type = COMCH_WIRE_CONSUMER_NEW, .id = c->q.id, .depth = c->q.depth,
		.imm_size = c->imm_size, .staging_size = c->staging_size,
	};
	struct rte_comch_ticket ticket = { 0 };

	if (conn->fast->nb_offers >= COMCH_MAX_OFFERS)
		return;
	c->q.dq->id = c->q.id;
	c->fail = offer(c, &ticket);
	if (c->fail == -EINPROGRESS) {
		c->fail = 0;
		return;
	}
	if (c->fail != 0) {
		c->step = COMCH_CONS_RETIRE;
		return;
	}
	comch_tx_ticket(conn, &f, &ticket);
	conn->fast->nb_offers++;
	c->announced = true;
	c->step = COMCH_CONS_WAIT;
}

/* Release: pairs with the acquire of a post, in any thread. */
static void
mrs_ready(struct rte_comch_consumer *c, uint16_t ready)
{
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++)
		comch_store_release(&c->mrs.mr[i].ready, ready); /* publish.pml, publish */
}

void
comch_consumer_use_end(const struct rte_comch_consumer *c)
{
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++)
		comch_mem_use_end(c->mrs.mr[i].mr);
}

static void
step_retire(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_CONSUMER_GONE, .id = c->q.id };
	uint32_t i;

	f.has_final = comch_queue_ops(&c->q)->cons_retire(c->q.dq, &f.final);
	if (c->announced && comch_conn_is_up(conn))
		comch_tx_frame(conn, &f, NULL, 0);
	c->announced = false;
	for (i = 0; i < c->mrs.nb; i++) {
		if (c->export[i] >= 0)
			comch_export_put(conn, c->export[i]);
		/* Else it would be exported again, while the next start uses it. */
		c->mr_added[i] = false;
	}
	mrs_ready(c, 0);
	c->step = COMCH_CONS_HIDE;
}

/* True: the peer's access has ended. Another consumer may have exported it again. */
static bool
is_hidden(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	bool hidden = true;
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++) {
		if (c->export[i] < 0)
			continue;
		if (comch_export_step(conn, c->export[i]) == COMCH_EXPORT_HIDING)
			hidden = false;
		else
			c->export[i] = -1;
	}
	return hidden;
}

static void
step_hide(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	int status = c->fail;

	if (!is_hidden(conn, c))
		return;
	comch_consumer_use_end(c);
	c->step = COMCH_CONS_IDLE;
	if (!comch_conn_is_up(conn))
		status = -ECONNRESET;
	comch_obj_state_event(&c->q.obj, RTE_COMCH_STATE_IDLE, status,
		status == -ECONNRESET ? comch_conn_reason(conn) :
		status != 0 ? "start failed" : NULL);
}

/* What cons_bind returned. */
static void
bound(struct rte_comch_consumer *c, int ret)
{
	if (ret == -EINPROGRESS) {
		c->step = COMCH_CONS_BIND;
	} else if (ret == 0) {
		c->step = COMCH_CONS_LIVE;
		comch_obj_state_event(&c->q.obj, RTE_COMCH_STATE_RUNNING, 0, NULL);
	} else {
		c->fail = ret;
		c->step = COMCH_CONS_RETIRE;
	}
}

/* Export the registrations that mr_add() added to a running consumer. */
static void
step_live(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++) {
		if (!c->mr_added[i] || !show_mr(conn, c, i))
			continue;
		c->mr_added[i] = false;
		if (c->mrs.mr[i].region == COMCH_REGION_STAGED && c->staging_size == 0)
			c->mr_status[i] = c->mr_status[i] != 0 ? c->mr_status[i] : -ENOTSUP;
		/* Pairs with comch_recv_use_mr(). Model: publish.pml, publish. */
		else
			comch_store_release(&c->mrs.mr[i].ready, 1);
		/*
		 * Release: pairs with the acquire in consumer_service().
		 * Model: publish.pml, publish.
		 */
		__atomic_store_n(&c->mr_event[i], true, __ATOMIC_RELEASE);
		comch_poll_note(&c->q.obj);
	}
}

static void
consumer_step(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	bool up = comch_conn_is_up(conn);

	if (c->step > COMCH_CONS_IDLE && c->step < COMCH_CONS_LIVE && (c->cancel || !up)) {
		c->fail = up ? 0 : -ECONNRESET;
		c->step = COMCH_CONS_RETIRE;
	}
	if (c->step == COMCH_CONS_SHOW && !step_show(conn, c))
		return;
	if (c->step == COMCH_CONS_ANNOUNCE)
		step_announce(conn, c);
	if (c->step == COMCH_CONS_BIND)
		bound(c, comch_queue_ops(&c->q)->cons_bind(c->q.dq, NULL));
	if (c->step == COMCH_CONS_LIVE) {
		if (comch_queue_ops(&c->q)->cons_drained(c->q.dq))
			c->step = COMCH_CONS_RETIRE;
		else if (up)
			step_live(conn, c);
	}
	if (c->step == COMCH_CONS_RETIRE)
		step_retire(conn, c);
	if (c->step == COMCH_CONS_HIDE)
		step_hide(conn, c);
}

void
comch_consumer_steps(struct rte_comch_conn *conn)
{
	struct rte_comch_consumer *c;

	pthread_mutex_lock(&conn->lock);
	TAILQ_FOREACH(c, &conn->fast->consumers, next)
		if (c->step != COMCH_CONS_IDLE)
			consumer_step(conn, c);
	pthread_mutex_unlock(&conn->lock);
}

static struct rte_comch_consumer *
find_consumer(struct rte_comch_conn *conn, uint32_t id)
{
	struct rte_comch_consumer *c;

	TAILQ_FOREACH(c, &conn->fast->consumers, next)
		if (c->q.id == id)
			return c;
	return NULL;
}

/* The peer, which allocates the staging ring, is at its limit: retry with a smaller one. */
static bool
retry_smaller_staging(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	if (c->staging_size <= COMCH_MIN_STAGING) {
		COMCH_LOG_PEER(COMCH_LOG, "consumer %u of connection %u: peer refused %u records "
			"and a staging ring of %u bytes: exceeds its max_staging or total_staging",
			c->q.id, conn->id, c->q.depth, c->staging_size);
		return false;
	}
	COMCH_LOG(NOTICE, "consumer %u of connection %u: peer refused a staging ring of %u "
		"bytes: retrying with %u", c->q.id, conn->id, c->staging_size,
		RTE_MAX(c->staging_size / 4, COMCH_MIN_STAGING));
	c->staging_size = RTE_MAX(c->staging_size / 4, COMCH_MIN_STAGING);
	c->step = COMCH_CONS_ANNOUNCE;
	return true;
}

int
comch_consumer_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run __rte_unused)
{
	struct rte_comch_consumer *c;
	int ret = 0;

	/*
	 * An ACK without a CONSUMER_NEW: a peer could otherwise make us send one frame after the
	 * other.
	 */
	if (conn->fast->nb_offers <= comch_tx_nb_waiting(conn, COMCH_WIRE_CONSUMER_NEW))
		return -EPROTO;
	conn->fast->nb_offers--;
	pthread_mutex_lock(&conn->lock);
	c = find_consumer(conn, f->id);
	/* The peer does not know a consumer that it refused. */
	if (c != NULL && f->status != 0)
		c->announced = false;
	/* Stopped or destroyed meanwhile: CONSUMER_GONE is sent. */
	if (c == NULL || c->step != COMCH_CONS_WAIT || c->cancel)
		goto unlock;
	if (f->status != 0) {
		if (f->status == -EDQUOT && retry_smaller_staging(conn, c))
			goto unlock;
		c->fail = f->status;
		c->step = COMCH_CONS_RETIRE;
		goto unlock;
	}
	mrs_ready(c, 1);
	ret = comch_queue_ops(&c->q)->cons_bind(c->q.dq, ticket);
	if (ret != -EPROTO) {
		bound(c, ret);
		ret = 0;
	}
unlock:
	pthread_mutex_unlock(&conn->lock);
	comch_poll_note(&conn->obj);
	return ret;
}

void
comch_consumer_halt_all(struct rte_comch_conn *conn)
{
	struct rte_comch_consumer *c;

	pthread_mutex_lock(&conn->lock);
	TAILQ_FOREACH(c, &conn->fast->consumers, next) {
		if (c->step != COMCH_CONS_LIVE)
			continue;
		comch_queue_ops(&c->q)->cons_halt(c->q.dq, RTE_COMCH_HALT_DOWN);
		if (comch_obj_state(&c->q.obj) == RTE_COMCH_STATE_RUNNING)
			comch_obj_state_event(&c->q.obj, RTE_COMCH_STATE_STOPPING,
				-ECONNRESET, comch_conn_reason(conn));
	}
	pthread_mutex_unlock(&conn->lock);
}
