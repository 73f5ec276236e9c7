/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The consumer API, but for the bursts, which the driver implements. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_trace.h"
#include "data/comch_consumer.h"
#include "mem/comch_mem.h"

#define ALL_FLAGS (RTE_COMCH_CONSUMER_F_SNAPSHOT | RTE_COMCH_CONSUMER_F_CHAINS)

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
		/* Acquire: pairs with the release in step_live(). Model: publish.pml, find. */
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
rep_name(const struct rte_comch_conn *conn)
{
	return conn->dev->reps[conn->rep].name;
}

static void
release_mrs(struct rte_comch_consumer *c)
{
	uint32_t n = c->mrs.nb;

	while (n > 0) {
		/* Atomic: telemetry may read it, see explain_consumer(). */
		comch_store_relaxed(&c->mrs.nb, --n);
		comch_mem_release(c->mrs.mr[n].mr);
	}
}

/* May the peer get access to the registration? */
static bool
may_export(const struct rte_comch_consumer *c, const struct rte_comch_mr *mr)
{
	return comch_consumer_exports(c) &&
		(mr->kind != RTE_COMCH_MEM_HEAP || c->q.conn->ops->data->shows_heap);
}

static int
claim_mr(struct rte_comch_consumer *c, struct rte_comch_mr *mr)
{
	struct rte_comch_conn *conn = c->q.conn;
	uint32_t i;
	int ret;

	if (mr == NULL) {
		COMCH_LOG(ERR, "connection %u: consumer: mrs[%u] is NULL", conn->id, c->mrs.nb);
		return -EINVAL;
	}
	for (i = 0; i < c->mrs.nb; i++) {
		if (c->mrs.mr[i].mr == mr) {
			COMCH_LOG(ERR, "connection %u: consumer already has registration %u of %p",
				conn->id, mr->id, mr->addr);
			return -EEXIST;
		}
	}
	if (c->mrs.nb == COMCH_MAX_IMPORTS) {
		COMCH_LOG(ERR, "connection %u: consumer: limit of %u registrations reached",
			conn->id, COMCH_MAX_IMPORTS);
		return -ENOSPC;
	}
	ret = comch_mem_claim(mr, may_export(c, mr), conn->peer.uid, rep_name(conn));
	if (ret != 0)
		return ret;
	c->mrs.mr[i] = (struct comch_cons_mr){ .mr = mr, .addr = mr->addr, .len = mr->len };
	c->export[i] = -1;
	/*
	 * Release: pairs with the acquire of a post, which then sees the entry.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&c->mrs.nb, i + 1);
	return 0;
}

static bool
is_over(const struct rte_comch_conn *conn, const char *what, uint32_t value, uint32_t limit)
{
	if (value <= limit)
		return false;
	COMCH_LOG(ERR, "connection %u: consumer: %s %u exceeds the limit of %u", conn->id, what,
		value, limit);
	return true;
}

static int
conf_check(const struct rte_comch_conn *conn, struct rte_comch_consumer_conf *c)
{
	const struct rte_comch_dev_info *info = &conn->dev->info;

	if (c->queue_size == 0)
		c->queue_size = RTE_MIN((uint32_t)COMCH_DEFAULT_DP_QUEUE, info->max_dp_queue);
	if (c->imm_size == 0)
		c->imm_size = info->max_imm_len;
	if (is_over(conn, "queue_size", c->queue_size, info->max_dp_queue) ||
			is_over(conn, "imm_size", c->imm_size, info->max_imm_len) ||
			is_over(conn, "staging_size", c->staging_size, COMCH_MAX_STAGING) ||
			is_over(conn, "nb_mrs", c->nb_mrs, COMCH_MAX_IMPORTS))
		return -EINVAL;
	if (c->nb_mrs > 0 && c->mrs == NULL) {
		COMCH_LOG(ERR, "connection %u: consumer: mrs is NULL with nb_mrs %u", conn->id,
			c->nb_mrs);
		return -EINVAL;
	}
	if ((c->flags & ~ALL_FLAGS) != 0) {
		COMCH_LOG(ERR, "connection %u: consumer: unknown flags %#x", conn->id,
			c->flags & ~ALL_FLAGS);
		return -EINVAL;
	}
	c->queue_size = rte_align32pow2(c->queue_size);
	if (c->staging_size > 0)
		c->staging_size = rte_align32pow2(RTE_MAX(c->staging_size, COMCH_MIN_STAGING));
	return 0;
}

/* Assign an id and add the consumer to the connection. */
static int
join_conn(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (!comch_conn_is_up(conn)) {
		COMCH_LOG(ERR, "connection %u: create consumer: connection is not established",
			conn->id);
		ret = -EBADFD;
	} else if (conn->fast->nb_consumers >= conn->dev->info.max_consumers) {
		COMCH_LOG(ERR, "connection %u: limit of %u consumers reached", conn->id,
			conn->fast->nb_consumers);
		ret = -ENOSPC;
	} else {
		c->q.id = ++conn->fast->next_consumer_id;
		conn->fast->nb_consumers++;
		TAILQ_INSERT_TAIL(&conn->fast->consumers, c, next);
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

static void
leave_conn(struct rte_comch_conn *conn, struct rte_comch_consumer *c)
{
	pthread_mutex_lock(&conn->lock);
	TAILQ_REMOVE(&conn->fast->consumers, c, next);
	conn->fast->nb_consumers--;
	comch_queue_unreserve(conn);
	pthread_mutex_unlock(&conn->lock);
}

/* Drained: the connection's thread continues the stop. Any thread. */
static void
on_drained(void *ctx)
{
	const struct comch_queue *q = ctx;

	comch_poll_note(&q->conn->obj);
}

static int
consumer_alloc(struct rte_comch_conn *conn, const struct rte_comch_consumer_conf *conf,
		struct rte_comch_consumer **cons, struct rte_comch_dq **dq)
{
	struct rte_comch_cons_args args = {
		.depth = conf->queue_size, .imm_size = conf->imm_size, .stop_ms = COMCH_STOP_MS,
		.socket_id = conn->obj.poll->socket_id,
		.fault = comch_queue_on_fault, .drained_cb = on_drained,
	};
	struct rte_comch_consumer *c;
	int ret;

	c = rte_zmalloc_socket("comch_consumer", sizeof(*c), COMCH_LINE, args.socket_id);
	if (c == NULL) {
		COMCH_LOG(ERR, "connection %u: create consumer: no memory", conn->id);
		return -ENOMEM;
	}
	args.mrs = &c->mrs;
	args.ctx = &c->q;
	ret = conn->ops->data->cons_create(conn->link, &args, &c->core, dq);
	if (ret != 0) {
		COMCH_LOG(ERR, "connection %u: create consumer: driver %s: %s", conn->id,
			conn->ops->name, strerror(-ret));
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
		ret = comch_queue_reserve(conn, "consumer");
	if (ret != 0)
		goto err;
	ret = conf_check(conn, &conf);
	if (ret == 0)
		ret = consumer_alloc(conn, &conf, &c, &dq);
	if (ret != 0)
		goto err_cancel;
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
	comch_conn_check_wake(conn, &c->q.obj);
	return c;

err_detach:
	comch_queue_detach(&c->q);
	comch_poll_detach(c->q.obj.poll);
err_release:
	release_mrs(c);
	dq->ops->dq_destroy(dq);
	rte_free(c);
err_cancel:
	comch_queue_cancel(conn);
err:
	rte_errno = -ret;
	return NULL;
}

/* The application's calls */

static void
use_begin(const struct rte_comch_consumer *c)
{
	uint32_t i;

	for (i = 0; i < c->mrs.nb; i++)
		comch_mem_use_begin(c->mrs.mr[i].mr, comch_consumer_exports(c));
}

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
	/* Without the lock: this may copy the memory. */
	use_begin(c);
	pthread_mutex_lock(&conn->lock);
	if (comch_obj_state(&c->q.obj) != RTE_COMCH_STATE_IDLE) {
		COMCH_LOG(ERR, "consumer %u of connection %u: start while %s", c->q.id, conn->id,
			rte_comch_state_name(comch_obj_state(&c->q.obj)));
		ret = -EBADFD;
	} else if (!comch_conn_is_up(conn)) {
		ret = -ECONNRESET;
	} else {
		/* Ids are not reused: a restart announces a new consumer to the peer. */
		if (c->started)
			comch_store_relaxed(&c->q.id, ++conn->fast->next_consumer_id);
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
		comch_consumer_use_end(c);
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
		/* Its thread is to receive the rest, and may sleep. */
		comch_poll_note(&c->q.obj);
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
	comch_obj_free_later(&c->q.obj);
	return 0;
}

int
rte_comch_consumer_mr_add(struct rte_comch_consumer *c, struct rte_comch_mr *mr)
{
	struct rte_comch_conn *conn;
	int ret;

	if (c == NULL || mr == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	conn = c->q.conn;
	/* Without the lock: this may copy the memory. */
	comch_mem_use_begin(mr, comch_consumer_exports(c));
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
