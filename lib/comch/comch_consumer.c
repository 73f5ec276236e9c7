/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Consumers: how they come and go. Bursts are the driver's.
 *
 *   start()  SHOW      each registration to the peer, as far as it can be
 *            ANNOUNCE  CONSUMER_NEW with the driver's ticket
 *            WAIT      for CONSUMER_ACK with the ticket of the peer's
 *            LIVE      RUNNING
 *   stop()   closed; recv_burst() drains, then flushes
 *            RETIRE    CONSUMER_GONE; IDLE
 *
 * The steps are the connection's thread's; start, stop and destroy come from
 * anywhere and only leave a word under the connection's lock.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "comch_private.h"
#include "comch_trace.h"

static bool
consumer_service(struct comch_obj *obj, struct comch_run *run)
{
	struct rte_comch_consumer *c = container_of(COMCH_OBJ_OF(comch_queue, obj),
			struct rte_comch_consumer, q);
	struct rte_comch_event *event;
	bool more;
	uint32_t i;

	if (comch_obj_is_dead(obj))
		return false;
	more = !comch_obj_events(obj, run, c->q.conn);
	for (i = 0; i < COMCH_MAX_IMPORTS && !comch_run_full(run); i++) {
		/* Acquire: pairs with the release that sets it. */
		if (!__atomic_load_n(&c->mr_event[i], __ATOMIC_ACQUIRE))
			continue;
		c->mr_event[i] = false;
		event = comch_run_add(run, RTE_COMCH_EVENT_MR_ADDED, obj, c->q.conn);
		event->status = c->mr_status[i];
		event->mr.mr = c->mrs.mr[i].mr;
	}
	return more || comch_run_full(run);
}

static void
consumer_free(struct comch_obj *obj)
{
	struct rte_comch_consumer *c = container_of(COMCH_OBJ_OF(comch_queue, obj),
			struct rte_comch_consumer, q);

	comch_queue_ops(&c->q)->dq_destroy(c->q.dq);
	rte_free(c);
}

/* Create */

static const char *
conn_func(const struct rte_comch_conn *conn)
{
	return conn->dev->reps[conn->rep].name;
}

static void
release_mrs(struct rte_comch_consumer *c)
{
	uint32_t n = c->mrs.nb;

	while (n > 0) {
		/* Telemetry may look: see explain_consumer(). */
		comch_store_relaxed(&c->mrs.nb, --n);
		comch_mem_release(c->mrs.mr[n].mr);
	}
}

/* Is its memory shown to the peer, as far as the driver can? */
static bool
shows_memory(const struct rte_comch_consumer *c)
{
	return (c->conf_flags & RTE_COMCH_CONSUMER_F_SNAPSHOT) == 0;
}

static int
claim_mr(struct rte_comch_consumer *c, struct rte_comch_mr *mr)
{
	struct rte_comch_conn *conn = c->q.conn;
	uint32_t i;
	int ret;

	if (mr == NULL)
		return -EINVAL;
	for (i = 0; i < c->mrs.nb; i++)
		if (c->mrs.mr[i].mr == mr)
			return -EEXIST;
	if (c->mrs.nb == COMCH_MAX_IMPORTS)
		return -ENOSPC;
	ret = comch_mem_claim(mr, shows_memory(c), conn->peer.uid, conn_func(conn));
	if (ret != 0)
		return ret;
	c->mrs.mr[i] = (struct comch_cons_mr){ .mr = mr, .addr = mr->addr, .len = mr->len };
	c->export[i] = -1;
	/* Release: a post that sees the count sees the entry. */
	comch_store_release(&c->mrs.nb, i + 1);
	return 0;
}

static int
conf_check(const struct rte_comch_conn *conn, struct rte_comch_consumer_conf *c)
{
	const struct rte_comch_dev_info *info = &conn->dev->info;

	if (c->queue_size == 0)
		c->queue_size = RTE_MIN((uint32_t)COMCH_DEFAULT_DP_QUEUE, info->max_dp_queue);
	if (c->imm_size == 0)
		c->imm_size = info->max_imm_len;
	if (c->queue_size > info->max_dp_queue || c->imm_size > info->max_imm_len ||
			c->staging_size > COMCH_MAX_STAGING || c->nb_mrs > COMCH_MAX_IMPORTS ||
			(c->nb_mrs > 0 && c->mrs == NULL) ||
			(c->flags & ~RTE_COMCH_CONSUMER_F_SNAPSHOT) != 0) {
		COMCH_LOG(ERR, "connection %u: consumer of depth %u (limit %u), immediate size %u "
			"(limit %u), staging %u (limit %u), %u registrations (limit %u), flags %#x",
			conn->id, c->queue_size, info->max_dp_queue, c->imm_size,
			info->max_imm_len, c->staging_size, COMCH_MAX_STAGING, c->nb_mrs,
			COMCH_MAX_IMPORTS, c->flags);
		return -EINVAL;
	}
	c->queue_size = rte_align32pow2(c->queue_size);
	if (c->staging_size > 0)
		c->staging_size = rte_align32pow2(RTE_MAX(c->staging_size, COMCH_MIN_STAGING));
	return 0;
}

/* Give it an id and a place in the connection. */
static int
join_conn(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (!comch_conn_is_up(conn)) {
		COMCH_LOG(ERR, "connection %u: consumer, but it is not established", conn->id);
		ret = -EBADFD;
	} else if (conn->nb_consumers >= conn->dev->info.max_consumers) {
		COMCH_LOG(ERR, "connection %u: it has its limit of %u consumers", conn->id,
			conn->nb_consumers);
		ret = -ENOSPC;
	} else {
		c->q.id = ++conn->next_consumer_id;
		conn->nb_consumers++;
		TAILQ_INSERT_TAIL(&conn->consumers, c, next);
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

static void
leave_conn(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	pthread_mutex_lock(&conn->lock);
	TAILQ_REMOVE(&conn->consumers, c, next);
	conn->nb_consumers--;
	/* Within the lock: the connection may be freed once it is seen empty. */
	comch_poll_note(&conn->obj);
	pthread_mutex_unlock(&conn->lock);
}

static int
consumer_alloc(struct rte_comch_conn *conn, const struct rte_comch_consumer_conf *conf,
		struct rte_comch_consumer **cons, struct rte_comch_dq **dq)
{
	struct rte_comch_cons_args args = {
		.depth = conf->queue_size, .imm_size = conf->imm_size, .stop_ms = COMCH_STOP_MS,
		.socket_id = conn->obj.poll->socket_id,
		.fault = comch_queue_on_fault, .news = comch_queue_on_news,
	};
	struct rte_comch_consumer *c;
	int ret;

	c = rte_zmalloc_socket("comch_consumer", sizeof(*c), COMCH_LINE, args.socket_id);
	if (c == NULL)
		return -ENOMEM;
	args.mrs = &c->mrs;
	args.ctx = &c->q;
	ret = conn->ops->data->cons_create(conn->link, &args, &c->core, dq);
	if (ret != 0) {
		rte_free(c);
		return ret;
	}
	c->q.depth = conf->queue_size;
	c->imm_size = conf->imm_size;
	c->conf_flags = conf->flags;
	c->staging_conf = conf->staging_size;
	*cons = c;
	return 0;
}

struct rte_comch_consumer *
rte_comch_consumer_create(struct rte_comch_conn *conn,
		const struct rte_comch_consumer_conf *user_conf)
{
	struct rte_comch_consumer_conf conf;
	struct rte_comch_consumer *c;
	struct rte_comch_dq *dq;
	uint16_t i;
	int ret;

	ret = comch_obj_conf(&conf, sizeof(conf), user_conf, "consumer");
	if (ret == 0 && conn == NULL)
		ret = -EINVAL;
	if (ret == 0)
		ret = comch_queue_check(conn, "consumer");
	if (ret == 0)
		ret = conf_check(conn, &conf);
	if (ret != 0)
		goto err;
	ret = consumer_alloc(conn, &conf, &c, &dq);
	if (ret != 0)
		goto err;
	c->q.conn = conn;
	for (i = 0; i < conf.nb_mrs && ret == 0; i++)
		ret = claim_mr(c, conf.mrs[i]);
	if (ret != 0)
		goto err_release;
	ret = comch_queue_init(&c->q, RTE_COMCH_OBJ_CONSUMER, c, conn, conf.poll,
			conf.user_data, dq);
	if (ret != 0)
		goto err_release;
	c->q.obj.service = consumer_service;
	c->q.obj.free = consumer_free;
	ret = join_conn(conn, c);
	if (ret != 0)
		goto err_detach;
	return c;

err_detach:
	comch_queue_detach(&c->q);
	__atomic_fetch_sub(&c->q.obj.poll->nb_attached, 1, __ATOMIC_RELAXED);
err_release:
	release_mrs(c);
	dq->ops->dq_destroy(dq);
	rte_free(c);
err:
	rte_errno = -ret;
	return NULL;
}

/* Steps, in the connection's thread */

/* Show one registration. True: it is settled, one way or the other. */
static bool
show_mr(struct rte_comch_conn *conn, struct rte_comch_consumer *c, uint32_t i)
{
	const struct comch_export *e;
	int id;

	c->mr_status[i] = 0;
	c->mrs.mr[i].region = COMCH_REGION_STAGED;
	if (!shows_memory(c))
		return true;
	if (c->export[i] < 0) {
		id = comch_export_get(conn, c->mrs.mr[i].mr);
		/* No place in the peer's table: it can still be staged. */
		if (id < 0)
			return true;
		c->export[i] = (int16_t)id;
	}
	e = &conn->exports[c->export[i]];
	if (e->state == COMCH_EXPORT_SENT)
		return false;
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

static void
step_announce(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	struct comch_wire_frame f = {
		.type = COMCH_WIRE_CONSUMER_NEW, .id = c->q.id, .depth = c->q.depth,
		.imm_size = c->imm_size, .staging_size = c->staging_size,
	};
	struct rte_comch_ticket ticket = { 0 };

	c->fail = comch_queue_ops(&c->q)->cons_offer(c->q.dq, c->staging_size, &ticket);
	if (c->fail != 0) {
		c->step = COMCH_CONS_RETIRE;
		return;
	}
	comch_proto_tx_ticket(conn, &f, &ticket);
	c->announced = true;
	c->step = COMCH_CONS_WAIT;
}

static void
use_begin(const struct rte_comch_consumer *c)
{
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++)
		comch_mem_use_begin(c->mrs.mr[i].mr, shows_memory(c));
}

static void
use_end(const struct rte_comch_consumer *c)
{
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++)
		comch_mem_use_end(c->mrs.mr[i].mr);
}

/* Release: pairs with the acquire of a post, which may come from another thread. */
static void
mrs_ready(struct rte_comch_consumer *c, uint16_t ready)
{
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++)
		comch_store_release(&c->mrs.mr[i].ready, ready);
}

static void
step_retire(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_CONSUMER_GONE, .id = c->q.id };
	int status = c->fail;
	uint32_t i;

	use_end(c);
	f.has_final = comch_queue_ops(&c->q)->cons_retire(c->q.dq, &f.final);
	if (c->announced && comch_conn_is_up(conn))
		comch_conn_tx(conn, &f, NULL, 0);
	c->announced = false;
	for (i = 0; i < c->mrs.nb; i++) {
		if (c->export[i] >= 0)
			comch_export_put(conn, c->export[i]);
		c->export[i] = -1;
	}
	mrs_ready(c, 0);
	c->step = COMCH_CONS_IDLE;
	if (!comch_conn_is_up(conn))
		status = -ECONNRESET;
	comch_obj_state_event(&c->q.obj, RTE_COMCH_STATE_IDLE, status,
		status == -ECONNRESET ? conn->reason : status != 0 ? "start failed" : NULL);
}

/* Registrations named while it runs. */
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
		else
			comch_store_release(&c->mrs.mr[i].ready, 1);
		/* Release: pairs with consumer_service(). */
		__atomic_store_n(&c->mr_event[i], true, __ATOMIC_RELEASE);
		comch_poll_note(&c->q.obj);
	}
}

static void
consumer_step(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	bool up = comch_conn_is_up(conn);

	if ((c->step == COMCH_CONS_SHOW || c->step == COMCH_CONS_ANNOUNCE ||
			c->step == COMCH_CONS_WAIT) && (c->cancel || !up)) {
		c->fail = up ? 0 : -ECONNRESET;
		c->step = COMCH_CONS_RETIRE;
	}
	if (c->step == COMCH_CONS_SHOW && !step_show(conn, c))
		return;
	if (c->step == COMCH_CONS_ANNOUNCE)
		step_announce(conn, c);
	if (c->step == COMCH_CONS_LIVE) {
		if (comch_queue_ops(&c->q)->cons_drained(c->q.dq))
			c->step = COMCH_CONS_RETIRE;
		else if (up)
			step_live(conn, c);
	}
	if (c->step == COMCH_CONS_RETIRE)
		step_retire(conn, c);
}

void
comch_consumer_steps(struct rte_comch_conn *conn)
{
	struct rte_comch_consumer *c;

	pthread_mutex_lock(&conn->lock);
	TAILQ_FOREACH(c, &conn->consumers, next)
		if (c->step != COMCH_CONS_IDLE)
			consumer_step(conn, c);
	pthread_mutex_unlock(&conn->lock);
}

static struct rte_comch_consumer *
find_consumer(struct rte_comch_conn *conn, uint32_t id)
{
	struct rte_comch_consumer *c;

	TAILQ_FOREACH(c, &conn->consumers, next)
		if (c->q.id == id)
			return c;
	return NULL;
}

/* The peer allocates the staging ring, and has a limit: a smaller one will do. */
static bool
ask_for_less(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	if (c->staging_size <= COMCH_MIN_STAGING) {
		COMCH_LOG(WARNING, "consumer %u of connection %u: the peer has no memory for "
			"%u records and a staging ring of %u bytes (its max_staging, "
			"total_staging)", c->q.id, conn->id, c->q.depth, c->staging_size);
		return false;
	}
	COMCH_LOG(NOTICE, "consumer %u of connection %u: the peer has no %u bytes for a staging "
		"ring: it is asked for %u", c->q.id, conn->id, c->staging_size,
		RTE_MAX(c->staging_size / 4, COMCH_MIN_STAGING));
	c->staging_size = RTE_MAX(c->staging_size / 4, COMCH_MIN_STAGING);
	c->step = COMCH_CONS_ANNOUNCE;
	return true;
}

int
comch_consumer_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket)
{
	struct rte_comch_consumer *c;
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	c = find_consumer(conn, f->id);
	/* Stopped or destroyed meanwhile: CONSUMER_GONE is on its way. */
	if (c == NULL || c->step != COMCH_CONS_WAIT || c->cancel)
		goto unlock;
	if (f->status != 0) {
		c->announced = false;
		if (f->status == -EDQUOT && ask_for_less(conn, c))
			goto unlock;
		c->fail = f->status;
		c->step = COMCH_CONS_RETIRE;
		goto unlock;
	}
	mrs_ready(c, 1);
	ret = comch_queue_ops(&c->q)->cons_bind(c->q.dq, ticket);
	if (ret == 0) {
		c->step = COMCH_CONS_LIVE;
		comch_obj_state_event(&c->q.obj, RTE_COMCH_STATE_RUNNING, 0, NULL);
	} else if (ret != -EPROTO) {
		c->fail = ret;
		c->step = COMCH_CONS_RETIRE;
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
	TAILQ_FOREACH(c, &conn->consumers, next) {
		if (c->step != COMCH_CONS_LIVE)
			continue;
		comch_queue_ops(&c->q)->cons_halt(c->q.dq, RTE_COMCH_HALT_DOWN);
		if (comch_obj_state(&c->q.obj) == RTE_COMCH_STATE_RUNNING)
			comch_obj_state_event(&c->q.obj, RTE_COMCH_STATE_STOPPING,
				-ECONNRESET, conn->reason);
	}
	pthread_mutex_unlock(&conn->lock);
}

/* The application's calls */

int
rte_comch_consumer_start(struct rte_comch_consumer *c)
{
	struct rte_comch_conn *conn;
	int ret = -EINPROGRESS;

	if (c == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	conn = c->q.conn;
	/* Without the lock: it may copy all of the memory. */
	use_begin(c);
	pthread_mutex_lock(&conn->lock);
	if (comch_obj_state(&c->q.obj) != RTE_COMCH_STATE_IDLE) {
		COMCH_LOG(ERR, "consumer %u of connection %u: start while %s", c->q.id, conn->id,
			rte_comch_state_name(comch_obj_state(&c->q.obj)));
		ret = -EBADFD;
	} else if (!comch_conn_is_up(conn)) {
		ret = -ECONNRESET;
	} else {
		/* An id is not used again: a restart is a new consumer to the peer. */
		if (c->started)
			comch_store_relaxed(&c->q.id, ++conn->next_consumer_id);
		c->started = true;
		c->cancel = false;
		c->fail = 0;
		c->step = COMCH_CONS_SHOW;
		comch_obj_state_set(&c->q.obj, RTE_COMCH_STATE_STARTING);
		comch_trace_consumer_start(conn->id, c->q.id, c->q.depth);
		comch_poll_note(&conn->obj);
	}
	pthread_mutex_unlock(&conn->lock);
	if (ret != -EINPROGRESS)
		use_end(c);
	return ret;
}

int
rte_comch_consumer_stop(struct rte_comch_consumer *c)
{
	enum rte_comch_state state;
	struct rte_comch_conn *conn;

	if (c == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	conn = c->q.conn;
	pthread_mutex_lock(&conn->lock);
	state = comch_obj_state(&c->q.obj);
	if (state != RTE_COMCH_STATE_STARTING && state != RTE_COMCH_STATE_RUNNING) {
		pthread_mutex_unlock(&conn->lock);
		COMCH_LOG(ERR, "consumer %u of connection %u: stop while %s", c->q.id, conn->id,
			rte_comch_state_name(state));
		return -EBADFD;
	}
	comch_trace_consumer_stop(conn->id, c->q.id);
	comch_obj_state_set(&c->q.obj, RTE_COMCH_STATE_STOPPING);
	if (state == RTE_COMCH_STATE_STARTING) {
		c->cancel = true;
	} else {
		comch_queue_ops(&c->q)->cons_halt(c->q.dq, RTE_COMCH_HALT_STOP);
	}
	comch_poll_note(&conn->obj);
	pthread_mutex_unlock(&conn->lock);
	return -EINPROGRESS;
}

int
rte_comch_consumer_destroy(struct rte_comch_consumer *c)
{
	if (c == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (comch_obj_state(&c->q.obj) != RTE_COMCH_STATE_IDLE) {
		COMCH_LOG(ERR, "consumer %u of connection %u: destroy while %s", c->q.id,
			c->q.conn->id, rte_comch_state_name(comch_obj_state(&c->q.obj)));
		return -EBUSY;
	}
	release_mrs(c);
	comch_queue_detach(&c->q);
	leave_conn(c->q.conn, c);
	comch_obj_bury(&c->q.obj);
	return 0;
}

int
rte_comch_consumer_mr_add(struct rte_comch_consumer *c, struct rte_comch_mr *mr)
{
	struct rte_comch_conn *conn;
	int ret;

	if (c == NULL || mr == NULL)
		return -EINVAL;
	conn = c->q.conn;
	/* Without the lock: it may copy all of the memory. */
	comch_mem_use_begin(mr, shows_memory(c));
	pthread_mutex_lock(&conn->lock);
	ret = comch_obj_state(&c->q.obj) == RTE_COMCH_STATE_RUNNING ? 0 : -EBADFD;
	if (ret == 0)
		ret = claim_mr(c, mr);
	if (ret == 0) {
		c->mr_added[c->mrs.nb - 1] = true;
		comch_poll_note(&conn->obj);
	}
	pthread_mutex_unlock(&conn->lock);
	if (ret != 0)
		comch_mem_use_end(mr);
	return ret;
}

enum rte_comch_state
rte_comch_consumer_state(const struct rte_comch_consumer *c)
{
	return c == NULL ? RTE_COMCH_STATE_IDLE : comch_obj_state(&c->q.obj);
}

uint32_t
rte_comch_consumer_id(const struct rte_comch_consumer *c)
{
	return c == NULL ? 0 : comch_load_relaxed(&c->q.id);
}

struct rte_comch_conn *
rte_comch_consumer_conn(const struct rte_comch_consumer *c)
{
	return c == NULL ? NULL : c->q.conn;
}

uint16_t
rte_comch_consumer_post(struct rte_comch_consumer *consumer,
		const struct rte_comch_buf *bufs, uint16_t n)
{
	return rte_comch_consumer_post_burst(consumer, bufs, n);
}

uint16_t
rte_comch_consumer_recv(struct rte_comch_consumer *consumer, struct rte_comch_cpl *cpls,
		uint16_t n)
{
	return rte_comch_consumer_recv_burst(consumer, cpls, n);
}
