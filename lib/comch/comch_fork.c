/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A forked child has nothing to do with its parent's connections: our
 * mappings are not inherited (MADV_DONTFORK), and the descriptors that would
 * hide the parent's death from its peers are closed here. What the child
 * still calls says -EBADFD, or does nothing.
 */

#include <pthread.h>
#include <unistd.h>

#include <rte_common.h>

#include "comch_fork.h"
#include "comch_registry.h"

bool comch_forked;

static void
before_fork(void)
{
	pthread_mutex_lock(&comch_registry.lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&comch_registry.lock);
}

static void
close_poll(struct rte_comch_poll *poll)
{
	struct comch_fd *cfd;
	int i;

	TAILQ_FOREACH(cfd, &poll->fds, next)
		close(cfd->fd);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		if (poll->class_fd[i] >= 0)
			close(poll->class_fd[i]);
	close(poll->epoll_fd);
}

static void
in_child(void)
{
	struct rte_comch_server *server;
	struct rte_comch_poll *poll;

	/* A parent without a poll has no objects to keep us from. */
	comch_forked = !TAILQ_EMPTY(&comch_registry.polls) ||
		!TAILQ_EMPTY(&comch_registry.msgqs);
	TAILQ_FOREACH(server, &comch_registry.servers, next)
		if (server->listener != NULL)
			server->dev->ops->listener_forked(server->listener);
	TAILQ_FOREACH(poll, &comch_registry.polls, next)
		close_poll(poll);
	pthread_mutex_unlock(&comch_registry.lock);
}

RTE_INIT(comch_fork_init)
{
	pthread_atfork(before_fork, in_parent, in_child);
}
