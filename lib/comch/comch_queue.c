/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What consumers and producers share: a poll of their own, and a way to be woken. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comch_foreign.h"
#include "comch_log.h"
#include "comch_private.h"

/* Wake-ups taken at once: more than honest peers leave there, one for each time we armed. */
#define DRAIN_MAX 512

/* A pair of ours: an eventfd shared with a peer could be made to block us. */
static int
wake_pair(struct comch_queue *q)
{
	int fds[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
		return -errno;
	q->fd.fd = fds[0];
	q->refuses_fds = comch_foreign_refuse(fds[0]);
	ret = comch_poll_fd_add(q->obj.poll, &q->fd);
	if (ret != 0) {
		q->fd.fd = -1;
		close(fds[0]);
		close(fds[1]);
		return ret;
	}
	q->peer_fd = fds[1];
	return 0;
}

/* What the peer sent there goes with our end. */
static void
close_wake(struct comch_queue *q, int fd)
{
	if (fd < 0)
		return;
	if (q->refuses_fds)
		close(fd);
	else
		comch_foreign_close(fd);
}

int
comch_queue_renew(struct comch_queue *q)
{
	int fd = q->fd.fd;

	if (q->peer_fd >= 0)
		return 0;
	comch_poll_fd_del(q->obj.poll, &q->fd);
	close_wake(q, fd);
	return wake_pair(q);
}

int
comch_queue_check(const struct rte_comch_conn *conn, const char *what)
{
	if (!comch_conn_is_up(conn)) {
		COMCH_LOG(ERR, "connection %u: %s, but it is not established", conn->id, what);
		return -EBADFD;
	}
	if (conn->ctrl_only == 0)
		return 0;
	COMCH_LOG(ERR, "connection %u of %s: %s, but it has no fast path: %s wants control "
		"messages only", conn->id, comch_conn_name(conn), what,
		(conn->ctrl_only & COMCH_CTRL_ONLY_PEER) == 0 ? "this side" :
		conn->server != NULL ? "the client" : "the server");
	return -ENOTSUP;
}

int
comch_queue_init(struct comch_queue *q, enum rte_comch_obj_type type, void *self,
		struct rte_comch_conn *conn, struct rte_comch_poll *poll, uint64_t user_data)
{
	int ret;

	if (poll == NULL)
		poll = conn->obj.poll;
	comch_obj_init(&q->obj, type, self, poll, user_data);
	q->conn = conn;
	q->fd = (struct comch_fd){
		.type = COMCH_FD_QUEUE, .fd = -1, .obj = &q->obj,
		.classes = RTE_COMCH_POLL_LINK | (type == RTE_COMCH_OBJ_CONSUMER ?
			RTE_COMCH_POLL_RX : RTE_COMCH_POLL_TX),
	};
	ret = wake_pair(q);
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
	int fd = q->fd.fd;

	comch_poll_fd_del(poll, &q->fd);
	pthread_mutex_lock(&poll->lock);
	TAILQ_REMOVE(&poll->queues, q, poll_next);
	pthread_mutex_unlock(&poll->lock);
	close_wake(q, fd);
	if (q->peer_fd >= 0)
		close(q->peer_fd);
	q->peer_fd = -1;
}

void
comch_queue_drain_wake(struct comch_queue *q)
{
	char buf[16];
	int i;

	for (i = 0; i < DRAIN_MAX; i++) {
		if (!q->refuses_fds && comch_foreign_next(q->fd.fd) == COMCH_FOREIGN_FDS_NEXT) {
			comch_queue_fault(q, -EPROTO, "peer sent descriptors on a wake socket");
			return;
		}
		/* peer-read: without descriptors, as was seen. */
		if (recv(q->fd.fd, buf, sizeof(buf), MSG_DONTWAIT) <= 0)
			return;
	}
	comch_queue_fault(q, -EPROTO, "peer floods a wake socket");
}

/* The lock keeps the directory's entries and a consumer's regions alive. */

bool
comch_queue_pending(struct comch_queue *q)
{
	bool pending;

	pthread_mutex_lock(&q->conn->lock);
	if (q->obj.type == RTE_COMCH_OBJ_CONSUMER)
		pending = comch_chan_cons_pending(
				&((struct rte_comch_consumer *)q->obj.self)->chan);
	else
		pending = comch_chan_prod_pending(
				&((struct rte_comch_producer *)q->obj.self)->chan);
	pthread_mutex_unlock(&q->conn->lock);
	return pending;
}

void
comch_queue_arm(struct comch_queue *q)
{
	pthread_mutex_lock(&q->conn->lock);
	if (q->obj.type == RTE_COMCH_OBJ_CONSUMER)
		comch_chan_cons_arm(&((struct rte_comch_consumer *)q->obj.self)->chan);
	else
		comch_chan_prod_arm(&((struct rte_comch_producer *)q->obj.self)->chan);
	pthread_mutex_unlock(&q->conn->lock);
}

void
comch_queue_fault(struct comch_queue *q, int status, const char *text)
{
	comch_conn_fault(q->conn, status, text);
}
