/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What consumers and producers share: a poll of their own, and a way to be woken. */

#include <errno.h>

#include "sdk/comch_log.h"
#include "comch_private.h"

int
comch_queue_check(const struct rte_comch_conn *conn, const char *what)
{
	if (!comch_conn_is_up(conn)) {
		COMCH_LOG(ERR, "connection %u: %s, but it is not established", conn->id, what);
		return -EBADFD;
	}
	if (conn->ctrl_only == 0)
		return 0;
	if (conn->ops->data == NULL) {
		COMCH_LOG(ERR, "connection %u of %s: %s: driver %s has no fast path", conn->id,
			comch_conn_name(conn), what, conn->ops->name);
		return -ENOTSUP;
	}
	COMCH_LOG(ERR, "connection %u of %s: %s, but it has no fast path: %s wants control "
		"messages only", conn->id, comch_conn_name(conn), what,
		(conn->ctrl_only & COMCH_CTRL_ONLY_PEER) == 0 ? "this side" :
		conn->server != NULL ? "the client" : "the server");
	return -ENOTSUP;
}

int
comch_queue_init(struct comch_queue *q, enum rte_comch_obj_type type, void *self,
		struct rte_comch_conn *conn, struct rte_comch_poll *poll, uint64_t user_data,
		struct rte_comch_dq *dq)
{
	int ret;

	if (poll == NULL)
		poll = conn->obj.poll;
	comch_obj_init(&q->obj, type, self, poll, user_data);
	q->conn = conn;
	q->dq = dq;
	q->fd = (struct comch_fd){
		.type = COMCH_FD_QUEUE, .fd = dq->ops->dq_fd(dq), .obj = &q->obj,
		.classes = RTE_COMCH_POLL_LINK | (type == RTE_COMCH_OBJ_CONSUMER ?
			RTE_COMCH_POLL_RX : RTE_COMCH_POLL_TX),
	};
	ret = q->fd.fd >= 0 ? comch_poll_fd_add(poll, &q->fd) : 0;
	if (ret != 0)
		return ret;
	pthread_mutex_lock(&poll->lock);
	TAILQ_INSERT_TAIL(&poll->queues, q, poll_next);
	pthread_mutex_unlock(&poll->lock);
	comch_poll_attach(poll);
	return 0;
}

void
comch_queue_detach(struct comch_queue *q)
{
	struct rte_comch_poll *poll = q->obj.poll;

	comch_poll_fd_del(poll, &q->fd);
	pthread_mutex_lock(&poll->lock);
	TAILQ_REMOVE(&poll->queues, q, poll_next);
	pthread_mutex_unlock(&poll->lock);
}

void
comch_queue_clear(struct comch_queue *q)
{
	comch_queue_ops(q)->dq_clear(q->dq);
}

/* The lock keeps the directory's entries and a consumer's regions alive. */

bool
comch_queue_pending(struct comch_queue *q)
{
	bool pending;

	pthread_mutex_lock(&q->conn->lock);
	pending = comch_queue_ops(q)->dq_pending(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
	return pending;
}

void
comch_queue_arm(struct comch_queue *q)
{
	pthread_mutex_lock(&q->conn->lock);
	comch_queue_ops(q)->dq_arm(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
}

void
comch_queue_on_fault(void *ctx, int err, const char *text)
{
	const struct comch_queue *q = ctx;

	comch_conn_fault(q->conn, err, text);
}

/* Drained or idle: the connection's thread goes on. */
void
comch_queue_on_news(void *ctx)
{
	const struct comch_queue *q = ctx;

	comch_poll_note(&q->conn->obj);
}
