/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The producer API, but for the bursts, which the driver implements. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_trace.h"
#include "data/comch_producer.h"

/* A copy of a DMA device cannot be aborted: after that long, a warning says so. */
#define OVERDUE_MS 10000

/* Sends that take too long are aborted. */
static void
give_up(struct rte_comch_producer *p, const struct rte_comch_data_ops *ops)
{
	const uint64_t overdue = rte_get_tsc_hz() / 1000 * (OVERDUE_MS - COMCH_STOP_MS);

	if (ops->prod_abort(p->q.dq, p->is_lost ? -ECONNRESET : -ECANCELED) || p->is_overdue ||
			ops->prod_step == NULL || rte_rdtsc() - p->stop_deadline < overdue)
		return;
	p->is_overdue = true;
	COMCH_LOG(WARNING, "producer %u of connection %u: sends are in flight %u s after its stop, "
		"and cannot be aborted; it is IDLE when they are complete: check the DMA device",
		p->q.id, p->q.conn->id, OVERDUE_MS / 1000);
}

/* A stop, or a loss of the connection, waits for sends in flight, up to a deadline. */
static bool
producer_service(struct comch_obj *obj, struct comch_run *run)
{
	struct rte_comch_producer *p = container_of(COMCH_OBJ_OF(comch_queue, obj),
			struct rte_comch_producer, q);
	const struct rte_comch_data_ops *ops = comch_queue_ops(&p->q);
	bool more;

	if (comch_obj_is_dead(obj))
		return false;
	if (comch_obj_state(obj) == RTE_COMCH_STATE_STOPPING) {
		if (rte_rdtsc() > p->stop_deadline)
			give_up(p, ops);
		if (ops->prod_idle(p->q.dq))
			comch_obj_state_event(obj, RTE_COMCH_STATE_IDLE,
				p->is_lost ? -ECONNRESET : 0,
				p->is_lost ? comch_conn_reason(p->q.conn) : NULL);
	}
	more = comch_obj_state(obj) == RTE_COMCH_STATE_STOPPING ||
		(ops->prod_step != NULL && ops->prod_step(p->q.dq));
	return !comch_obj_events(obj, run, p->q.conn) || more;
}

static void
producer_free(struct comch_obj *obj)
{
	struct rte_comch_producer *p = container_of(COMCH_OBJ_OF(comch_queue, obj),
			struct rte_comch_producer, q);

	comch_queue_ops(&p->q)->dq_destroy(p->q.dq);
	rte_free(p);
}

/* The producer is idle: its own poll returns the event of the stop. */
static void
on_idle(void *ctx)
{
	struct comch_queue *q = ctx;

	comch_poll_note(&q->obj);
}

static int
producer_alloc(struct rte_comch_conn *conn, const struct rte_comch_producer_conf *conf,
		struct rte_comch_producer **prod, struct rte_comch_dq **dq)
{
	struct rte_comch_prod_args args = {
		.queue_size = conf->queue_size, .flags = conf->flags,
		.socket_id = conn->obj.poll->socket_id,
		.dir = &conn->fast->dir, .fault = comch_queue_on_fault, .idle_cb = on_idle,
	};
	struct rte_comch_producer *p;
	int ret;

	p = rte_zmalloc_socket("comch_producer", sizeof(*p), COMCH_LINE, args.socket_id);
	if (p == NULL) {
		COMCH_LOG(ERR, "connection %u: create producer: no memory", conn->id);
		return -ENOMEM;
	}
	args.ctx = &p->q;
	ret = conn->ops->data->prod_create(conn->link, &args, &p->core, dq);
	if (ret != 0) {
		COMCH_LOG(ERR, "connection %u: create producer: driver %s: %s", conn->id,
			conn->ops->name, strerror(-ret));
		rte_free(p);
		return ret;
	}
	p->q.depth = conf->queue_size;
	p->sync_send = (conn->dev->info.capa & RTE_COMCH_CAPA_SYNC_SEND) != 0;
	*prod = p;
	return 0;
}

static int
join_conn(struct rte_comch_conn *conn, struct rte_comch_producer *p)
{
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (!comch_conn_is_up(conn)) {
		COMCH_LOG(ERR, "connection %u: create producer: connection is not established",
			conn->id);
		ret = -EBADFD;
	} else if (conn->fast->nb_producers + conn->fast->nb_gone_producers >=
			conn->dev->info.max_producers) {
		COMCH_LOG(ERR, "connection %u: limit of %u producers reached", conn->id,
			conn->dev->info.max_producers);
		ret = -ENOSPC;
	} else {
		p->q.id = ++conn->fast->next_producer_id;
		conn->fast->nb_producers++;
		TAILQ_INSERT_TAIL(&conn->fast->producers, p, next);
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

struct rte_comch_producer *
rte_comch_producer_create(struct rte_comch_conn *conn,
		const struct rte_comch_producer_conf *user_conf)
{
	struct rte_comch_producer_conf conf;
	struct rte_comch_producer *p;
	struct rte_comch_dq *dq;
	int ret;

	ret = comch_obj_conf(&conf, sizeof(conf), user_conf, "producer");
	if (ret == 0 && conn == NULL)
		ret = -EINVAL;
	if (ret == 0 && (conf.flags & ~RTE_COMCH_PRODUCER_F_PAUSES) != 0) {
		COMCH_LOG(ERR, "connection %u: producer: unknown flag in %#x", conn->id,
			conf.flags);
		ret = -EINVAL;
	}
	if (ret == 0)
		ret = comch_queue_reserve(conn, "producer");
	if (ret != 0)
		goto err;
	if (conf.queue_size == 0)
		conf.queue_size = RTE_MIN((uint32_t)COMCH_DEFAULT_DP_QUEUE,
				conn->dev->info.max_dp_queue);
	if (conf.queue_size > conn->dev->info.max_dp_queue) {
		COMCH_LOG(ERR, "connection %u: producer: queue_size %u exceeds the limit of %u",
			conn->id, conf.queue_size, conn->dev->info.max_dp_queue);
		ret = -EINVAL;
		goto err_cancel;
	}
	ret = producer_alloc(conn, &conf, &p, &dq);
	if (ret != 0)
		goto err_cancel;
	ret = comch_queue_init(&p->q, RTE_COMCH_OBJ_PRODUCER, p, conn, conf.poll,
			conf.user_data, dq);
	if (ret != 0)
		goto err_free;
	p->q.obj.service = producer_service;
	p->q.obj.free = producer_free;
	ret = join_conn(conn, p);
	if (ret != 0)
		goto err_detach;
	comch_conn_check_wake(conn, &p->q.obj);
	return p;

err_detach:
	comch_queue_detach(&p->q);
	comch_poll_detach(p->q.obj.poll);
err_free:
	dq->ops->dq_destroy(dq);
	rte_free(p);
err_cancel:
	comch_queue_cancel(conn);
err:
	rte_errno = -ret;
	return NULL;
}

/* The peer wakes the producers that it knows by these frames. */
void
comch_producer_steps(struct rte_comch_conn *conn)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_PRODUCER_GONE };
	struct rte_comch_ticket ticket;
	struct rte_comch_producer *p;

	pthread_mutex_lock(&conn->lock);
	while (conn->fast->nb_gone_producers > 0) {
		f.id = conn->fast->gone_producers[--conn->fast->nb_gone_producers];
		comch_tx_frame(conn, &f, NULL, 0);
	}
	f.type = COMCH_WIRE_PRODUCER_NEW;
	TAILQ_FOREACH(p, &conn->fast->producers, next) {
		if (!p->announce)
			continue;
		p->announce = false;
		ticket = (struct rte_comch_ticket){ 0 };
		if (!comch_queue_ops(&p->q)->prod_offer(p->q.dq, &ticket))
			continue;
		p->announced = true;
		f.id = p->q.id;
		comch_tx_ticket(conn, &f, &ticket);
	}
	pthread_mutex_unlock(&conn->lock);
}

/* The connection is lost. The producer is IDLE once no send reads its memory any more. */
static void
producer_lost(struct rte_comch_producer *p, const char *reason)
{
	const struct rte_comch_data_ops *ops = comch_queue_ops(&p->q);
	bool is_idle;

	ops->prod_halt(p->q.dq, RTE_COMCH_HALT_DOWN);
	if (comch_obj_state(&p->q.obj) != RTE_COMCH_STATE_RUNNING)
		return;
	is_idle = ops->prod_idle(p->q.dq);
	p->is_lost = true;
	p->stop_deadline = comch_conn_in_ms(COMCH_STOP_MS);
	comch_obj_state_event(&p->q.obj, is_idle ? RTE_COMCH_STATE_IDLE : RTE_COMCH_STATE_STOPPING,
		-ECONNRESET, reason);
}

void
comch_producer_halt_all(struct rte_comch_conn *conn)
{
	struct rte_comch_producer *p;

	pthread_mutex_lock(&conn->lock);
	TAILQ_FOREACH(p, &conn->fast->producers, next)
		producer_lost(p, comch_conn_reason(conn));
	pthread_mutex_unlock(&conn->lock);
}

int
rte_comch_producer_start(struct rte_comch_producer *p)
{
	struct rte_comch_conn *conn;
	int ret = 0;

	if (p == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	conn = p->q.conn;
	pthread_mutex_lock(&conn->lock);
	if (comch_obj_state(&p->q.obj) != RTE_COMCH_STATE_IDLE) {
		COMCH_LOG(ERR, "producer %u of connection %u: start while %s", p->q.id, conn->id,
			rte_comch_state_name(comch_obj_state(&p->q.obj)));
		ret = -EBADFD;
	} else if (!comch_conn_is_up(conn)) {
		ret = -ECONNRESET;
	} else {
		p->is_overdue = false;
		comch_queue_ops(&p->q)->prod_begin(p->q.dq, p->q.id);
		comch_obj_state_set(&p->q.obj, RTE_COMCH_STATE_RUNNING);
		comch_trace_producer_start(conn->id, p->q.id);
		p->announce = !p->announced;
		comch_poll_note(&conn->obj);
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

int
rte_comch_producer_stop(struct rte_comch_producer *p)
{
	int ret = 0;

	if (p == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	pthread_mutex_lock(&p->q.conn->lock);
	if (comch_obj_state(&p->q.obj) != RTE_COMCH_STATE_RUNNING) {
		COMCH_LOG(ERR, "producer %u of connection %u: stop while %s", p->q.id,
			p->q.conn->id, rte_comch_state_name(comch_obj_state(&p->q.obj)));
		ret = -EBADFD;
	} else {
		comch_queue_ops(&p->q)->prod_halt(p->q.dq, RTE_COMCH_HALT_STOP);
		ret = comch_queue_ops(&p->q)->prod_idle(p->q.dq) ? 0 : -EINPROGRESS;
		p->stop_deadline = comch_conn_in_ms(COMCH_STOP_MS);
		comch_obj_state_set(&p->q.obj, ret == 0 ? RTE_COMCH_STATE_IDLE :
			RTE_COMCH_STATE_STOPPING);
		comch_trace_producer_stop(p->q.conn->id, p->q.id, ret);
		if (ret != 0)
			comch_poll_note(&p->q.obj);
	}
	pthread_mutex_unlock(&p->q.conn->lock);
	return ret;
}

int
rte_comch_producer_destroy(struct rte_comch_producer *p)
{
	struct rte_comch_conn *conn;

	if (p == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	conn = p->q.conn;
	if (comch_obj_state(&p->q.obj) != RTE_COMCH_STATE_IDLE) {
		COMCH_LOG(ERR, "producer %u of connection %u: destroy while %s", p->q.id, conn->id,
			rte_comch_state_name(comch_obj_state(&p->q.obj)));
		return -EBUSY;
	}
	/* The connection's thread must not announce it after its descriptor is closed. */
	pthread_mutex_lock(&conn->lock);
	p->announce = false;
	pthread_mutex_unlock(&conn->lock);
	comch_queue_ops(&p->q)->prod_abort(p->q.dq, -ECONNRESET);
	comch_mbuf_tx_free(p);
	comch_queue_detach(&p->q);
	pthread_mutex_lock(&conn->lock);
	TAILQ_REMOVE(&conn->fast->producers, p, next);
	conn->fast->nb_producers--;
	if (p->announced && comch_conn_is_up(conn))
		conn->fast->gone_producers[conn->fast->nb_gone_producers++] = p->q.id;
	comch_queue_unreserve(conn);
	pthread_mutex_unlock(&conn->lock);
	comch_obj_free_later(&p->q.obj);
	return 0;
}

enum rte_comch_state
rte_comch_producer_state(const struct rte_comch_producer *p)
{
	return p == NULL ? RTE_COMCH_STATE_IDLE : comch_obj_state(&p->q.obj);
}

uint32_t
rte_comch_producer_id(const struct rte_comch_producer *p)
{
	return p == NULL ? 0 : p->q.id;
}

struct rte_comch_conn *
rte_comch_producer_conn(const struct rte_comch_producer *p)
{
	return p == NULL ? NULL : p->q.conn;
}

uint16_t
rte_comch_producer_send(struct rte_comch_producer *producer,
		const struct rte_comch_op *ops, uint16_t n)
{
	return rte_comch_producer_send_burst(producer, ops, n);
}

uint16_t
rte_comch_producer_done(struct rte_comch_producer *producer, struct rte_comch_cpl *cpls,
		uint16_t n)
{
	return rte_comch_producer_done_burst(producer, cpls, n);
}
