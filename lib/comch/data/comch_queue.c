/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The common base of consumers and producers: their poll and their wake-ups. */

#include <errno.h>
#include <string.h>

#include "sdk/comch_log.h"
#include "data/comch_queue.h"

/* May it have a fast path? Then it has one now. */
static int
check_fast_path(struct rte_comch_conn *conn, const char *what)
{
	if (conn->ctrl_only == 0 && comch_fast_path_get(conn) == NULL) {
		COMCH_LOG(ERR, "connection %u: create %s: no memory for the fast path", conn->id,
			what);
		return -ENOMEM;
	}
	if (conn->ctrl_only == 0)
		return 0;
	if (conn->ops->data == NULL) {
		COMCH_LOG(ERR, "connection %u of %s: create %s: driver %s has no fast path",
			conn->id, comch_conn_name(conn), what, conn->ops->name);
		return -ENOTSUP;
	}
	COMCH_LOG(ERR, "connection %u of %s: create %s: no fast path: %s requested control "
		"messages only", conn->id, comch_conn_name(conn), what,
		(conn->ctrl_only & COMCH_CTRL_ONLY_PEER) == 0 ? "this side" :
		conn->server != NULL ? "the client" : "the server");
	return -ENOTSUP;
}

int
comch_queue_reserve(struct rte_comch_conn *conn, const char *what)
{
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (comch_conn_is_up(conn))
		conn->nb_queues++;
	else
		ret = -EBADFD;
	pthread_mutex_unlock(&conn->lock);
	if (ret != 0) {
		COMCH_LOG(ERR, "connection %u: create %s: connection is not established",
			conn->id, what);
		return ret;
	}
	ret = check_fast_path(conn, what);
	if (ret != 0)
		comch_queue_cancel(conn);
	return ret;
}

void
comch_queue_unreserve(struct rte_comch_conn *conn)
{
	conn->nb_queues--;
	/* With the lock held: a connection without queues may be freed. */
	comch_poll_note(&conn->obj);
}

void
comch_queue_cancel(struct rte_comch_conn *conn)
{
	pthread_mutex_lock(&conn->lock);
	comch_queue_unreserve(conn);
	pthread_mutex_unlock(&conn->lock);
}

/*
 * The three callbacks below take the connection's lock: entries of the directory and regions of
 * a consumer stay valid.
 */

static bool
source_arm(struct comch_poll_source *source)
{
	struct comch_queue *q = container_of(source, struct comch_queue, source);
	bool heavy;

	pthread_mutex_lock(&q->conn->lock);
	heavy = comch_queue_ops(q)->dq_arm(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
	return heavy;
}

static void
source_rest(struct comch_poll_source *source)
{
	struct comch_queue *q = container_of(source, struct comch_queue, source);

	if (comch_queue_ops(q)->dq_rest == NULL)
		return;
	pthread_mutex_lock(&q->conn->lock);
	comch_queue_ops(q)->dq_rest(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
}

static bool
source_pending(struct comch_poll_source *source)
{
	struct comch_queue *q = container_of(source, struct comch_queue, source);
	bool pending;

	pthread_mutex_lock(&q->conn->lock);
	pending = comch_queue_ops(q)->dq_pending(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
	return pending;
}

/* Make the queue's descriptor unreadable again. The lock: as above. */
static void
fd_ready(struct comch_fd *cfd)
{
	struct comch_queue *q = container_of(cfd, struct comch_queue, fd);

	pthread_mutex_lock(&q->conn->lock);
	comch_queue_ops(q)->dq_clear(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
}

int
comch_queue_init(struct comch_queue *q, enum rte_comch_obj_type type, void *self,
		struct rte_comch_conn *conn, struct rte_comch_poll *poll, uint64_t user_data,
		struct rte_comch_dq *dq)
{
	/* A consumer stops in bursts: its state may be waiting for one. */
	const uint32_t cls = type == RTE_COMCH_OBJ_CONSUMER ?
		RTE_COMCH_POLL_RX | RTE_COMCH_POLL_LINK : RTE_COMCH_POLL_TX;
	int ret;

	if (poll == NULL)
		poll = conn->obj.poll;
	comch_obj_init(&q->obj, type, self, poll, user_data);
	q->conn = conn;
	q->dq = dq;
	q->fd = (struct comch_fd){
		.fd = dq->ops->dq_fd(dq), .classes = cls, .ready = fd_ready,
	};
	ret = q->fd.fd >= 0 ? comch_poll_fd_add(poll, &q->fd) : 0;
	if (ret != 0) {
		COMCH_LOG(ERR, "connection %u: create %s: cannot add its descriptor to poll %s: "
			"%s", conn->id, type == RTE_COMCH_OBJ_CONSUMER ? "consumer" : "producer",
			poll->name, strerror(-ret));
		return ret;
	}
	/* A producer's are notes, which wake a poll that sleeps for any class. */
	q->source = (struct comch_poll_source){
		.classes = cls, .arm = source_arm, .rest = source_rest,
		.pending = source_pending,
	};
	comch_poll_source_add(poll, &q->source);
	comch_poll_attach(poll);
	return 0;
}

void
comch_queue_detach(struct comch_queue *q)
{
	struct rte_comch_poll *poll = q->obj.poll;

	comch_poll_fd_del(poll, &q->fd);
	comch_poll_source_del(poll, &q->source);
}

void
comch_queue_on_fault(void *ctx, int err, const char *text)
{
	const struct comch_queue *q = ctx;

	comch_conn_fault(q->conn, err, text);
}
