/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A forked child has nothing to do with its parent's connections: our
 * mappings are not inherited (MADV_DONTFORK), and the descriptors that would
 * hide the parent's death from its peers are closed here. What the child
 * still calls says -EBADFD, or does nothing.
 *
 * Polls and servers may lie in memory that the child shares with its parent:
 * EAL maps its heap so. The parent goes on at once, so the child may not follow
 * their lists; what it has to close is noted before the fork.
 */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "comch_registry.h"

bool comch_forked;

/* What a child has to let go of: private memory. */
static struct {
	int *fds;
	struct rte_comch_listener **listeners;
	size_t nb_fds, max_fds;
	size_t nb_listeners, max_listeners;
	bool has_objects;
} noted;

/* Room for one more element of an array. False: no memory, the child keeps one open. */
static bool
grow(void **array, size_t *max, size_t n, size_t size)
{
	void *larger;

	if (n < *max)
		return true;
	larger = realloc(*array, 2 * (n + 8) * size);
	if (larger == NULL) {
		COMCH_LOG(WARNING, "fork: no memory: the child keeps a descriptor");
		return false;
	}
	*array = larger;
	*max = 2 * (n + 8);
	return true;
}

static void
note_fd(int fd)
{
	void *fds = noted.fds;

	if (fd < 0 || !grow(&fds, &noted.max_fds, noted.nb_fds, sizeof(*noted.fds)))
		return;
	noted.fds = fds;
	noted.fds[noted.nb_fds++] = fd;
}

static void
note_listener(struct rte_comch_listener *listener)
{
	void *listeners = noted.listeners;

	if (listener == NULL || !grow(&listeners, &noted.max_listeners, noted.nb_listeners,
			sizeof(*noted.listeners)))
		return;
	noted.listeners = listeners;
	noted.listeners[noted.nb_listeners++] = listener;
}

static void
note_poll(struct rte_comch_poll *poll)
{
	struct comch_fd *cfd;
	int i;

	pthread_mutex_lock(&poll->lock);
	TAILQ_FOREACH(cfd, &poll->fds, next)
		note_fd(cfd->fd);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		note_fd(poll->class_fd[i]);
	note_fd(poll->epoll_fd);
	pthread_mutex_unlock(&poll->lock);
}

static void
before_fork(void)
{
	struct rte_comch_server *server;
	struct rte_comch_poll *poll;

	pthread_mutex_lock(&comch_registry.lock);
	noted.nb_fds = noted.nb_listeners = 0;
	/* A parent without a poll has no objects to keep its child from. */
	noted.has_objects = !TAILQ_EMPTY(&comch_registry.polls) ||
		!TAILQ_EMPTY(&comch_registry.msgqs);
	TAILQ_FOREACH(server, &comch_registry.servers, next)
		note_listener(server->listener);
	TAILQ_FOREACH(poll, &comch_registry.polls, next)
		note_poll(poll);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&comch_registry.lock);
}

static void
in_child(void)
{
	size_t i;

	comch_forked = noted.has_objects;
	for (i = 0; i < noted.nb_listeners; i++)
		noted.listeners[i]->ops->listener_forked(noted.listeners[i]);
	for (i = 0; i < noted.nb_fds; i++)
		close(noted.fds[i]);
	pthread_mutex_unlock(&comch_registry.lock);
}

RTE_INIT(comch_fork_init)
{
	pthread_atfork(before_fork, in_parent, in_child);
}
