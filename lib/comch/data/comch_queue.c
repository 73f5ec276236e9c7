/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What consumers and producers share: a poll of their own, and a way to be woken. */

#include <errno.h>

#include "sdk/comch_log.h"
#include "data/comch_queue.h"

int
comch_queue_check(struct rte_comch_conn *conn, const char *what)
{
	if (!comch_conn_is_up(conn)) {
		COMCH_LOG(ERR, "connection %u: %s, but it is not established", conn->id, what);
		return -EBADFD;
	}
	if (conn->ctrl_only == 0 && comch_data_get(conn) == NULL) {
		COMCH_LOG(ERR, "connection %u: %s: no memory for the fast path", conn->id, what);
		return -ENOMEM;
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

/* The lock keeps the directory's entries and a consumer's regions alive. */

static void
guest_arm(struct comch_poll_guest *guest)
{
	struct comch_queue *q = container_of(guest, struct comch_queue, guest);

	pthread_mutex_lock(&q->conn->lock);
	comch_queue_ops(q)->dq_arm(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
}

static bool
guest_pending(struct comch_poll_guest *guest)
{
	struct comch_queue *q = container_of(guest, struct comch_queue, guest);
	bool pending;

	pthread_mutex_lock(&q->conn->lock);
	pending = comch_queue_ops(q)->dq_pending(q->dq);
	pthread_mutex_unlock(&q->conn->lock);
	return pending;
}

/* Take back what made its descriptor readable. */
static void
fd_ready(struct comch_fd *cfd)
{
	struct comch_queue *q = container_of(cfd, struct comch_queue, fd);

	comch_queue_ops(q)->dq_clear(q->dq);
}

int
comch_queue_init(struct comch_queue *q, enum rte_comch_obj_type type, void *self,
		struct rte_comch_conn *conn, struct rte_comch_poll *poll, uint64_t user_data,
		struct rte_comch_dq *dq)
{
	uint32_t classes = RTE_COMCH_POLL_LINK | (type == RTE_COMCH_OBJ_CONSUMER ?
			RTE_COMCH_POLL_RX : RTE_COMCH_POLL_TX);
	int ret;

	if (poll == NULL)
		poll = conn->obj.poll;
	comch_obj_init(&q->obj, type, self, poll, user_data);
	q->conn = conn;
	q->dq = dq;
	q->fd = (struct comch_fd){
		.fd = dq->ops->dq_fd(dq), .classes = classes, .ready = fd_ready,
	};
	ret = q->fd.fd >= 0 ? comch_poll_fd_add(poll, &q->fd) : 0;
	if (ret != 0)
		return ret;
	q->guest = (struct comch_poll_guest){
		.classes = classes, .arm = guest_arm, .pending = guest_pending,
	};
	comch_poll_guest_add(poll, &q->guest);
	comch_poll_attach(poll);
	return 0;
}

void
comch_queue_detach(struct comch_queue *q)
{
	struct rte_comch_poll *poll = q->obj.poll;

	comch_poll_fd_del(poll, &q->fd);
	comch_poll_guest_del(poll, &q->guest);
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
