/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The descriptors of a poll: a set of all, and one for each class that was asked for. */

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "sdk/comch_log.h"
#include "base/comch_poll.h"

/* Descriptors that one look takes. */
#define LOOK_EVENTS 64
/* Looks for each regular one while a task waits for something: 50,000 a second. */
#define BUSY_LOOKS 50

static const uint32_t class_of[COMCH_POLL_NB_CLASSES] = {
	RTE_COMCH_POLL_RX, RTE_COMCH_POLL_TX, RTE_COMCH_POLL_LINK,
};

static uint32_t
epoll_events(const struct comch_fd *cfd)
{
	return EPOLLIN | (cfd->is_level ? 0 : (uint32_t)EPOLLET);
}

int
comch_poll_fd_add(struct rte_comch_poll *poll, struct comch_fd *cfd)
{
	struct epoll_event ev = { .events = epoll_events(cfd), .data.ptr = cfd };
	int i, ret = 0;

	pthread_mutex_lock(&poll->lock);
	if (epoll_ctl(poll->epoll_fd, EPOLL_CTL_ADD, cfd->fd, &ev) != 0)
		ret = -errno;
	for (i = 0; i < COMCH_POLL_NB_CLASSES && ret == 0; i++)
		if (poll->class_fd[i] >= 0 && (cfd->classes & class_of[i]) != 0 &&
				epoll_ctl(poll->class_fd[i], EPOLL_CTL_ADD, cfd->fd, &ev) != 0)
			ret = -errno;
	if (ret == 0)
		TAILQ_INSERT_TAIL(&poll->fds, cfd, next);
	pthread_mutex_unlock(&poll->lock);
	return ret;
}

void
comch_poll_fd_del(struct rte_comch_poll *poll, struct comch_fd *cfd)
{
	int i;

	if (cfd->fd < 0)
		return;
	pthread_mutex_lock(&poll->lock);
	epoll_ctl(poll->epoll_fd, EPOLL_CTL_DEL, cfd->fd, NULL);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		if (poll->class_fd[i] >= 0)
			epoll_ctl(poll->class_fd[i], EPOLL_CTL_DEL, cfd->fd, NULL);
	TAILQ_REMOVE(&poll->fds, cfd, next);
	pthread_mutex_unlock(&poll->lock);
	cfd->fd = -1;
}

bool
comch_poll_look(struct rte_comch_poll *poll, uint64_t now)
{
	struct epoll_event ev[LOOK_EVENTS];
	struct comch_poll_task *task;
	struct comch_fd *cfd;
	bool waits = false;
	int i, n;

	n = epoll_wait(poll->epoll_fd, ev, LOOK_EVENTS, 0);
	for (i = 0; i < n; i++) {
		cfd = ev[i].data.ptr;
		/* Closed since the kernel listed it; its memory lives until the next run. */
		if (cfd->fd >= 0)
			cfd->ready(cfd);
	}
	for (task = comch_load_acquire(&poll->tasks); task != NULL; task = task->next)
		waits |= task->ops->look(task, now, n < LOOK_EVENTS);
	poll->next_look = now + (waits ? poll->look_cycles / BUSY_LOOKS : poll->look_cycles);
	return n > 0;
}

static int
class_fd_open(struct rte_comch_poll *poll, int idx)
{
	struct epoll_event ev;
	struct comch_fd *cfd;
	int fd;

	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return -errno;
	pthread_mutex_lock(&poll->lock);
	poll->class_fd[idx] = fd;
	TAILQ_FOREACH(cfd, &poll->fds, next) {
		ev.events = epoll_events(cfd);
		ev.data.ptr = cfd;
		if ((cfd->classes & class_of[idx]) != 0)
			epoll_ctl(fd, EPOLL_CTL_ADD, cfd->fd, &ev);
	}
	pthread_mutex_unlock(&poll->lock);
	return fd;
}

int
rte_comch_poll_fd(struct rte_comch_poll *poll, uint32_t cls)
{
	int i;

	if (poll == NULL)
		return -EINVAL;
	if (cls == RTE_COMCH_POLL_ANY)
		return poll->epoll_fd;
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		if (cls == class_of[i])
			return poll->class_fd[i] >= 0 ? poll->class_fd[i] :
				class_fd_open(poll, i);
	COMCH_LOG(ERR, "poll %s: no class %#x has a descriptor", poll->name, cls);
	return -EINVAL;
}

void
comch_poll_harvest(struct rte_comch_poll *poll)
{
	struct epoll_event ev[LOOK_EVENTS];
	int i;

	/* Edges are remembered by each set: these are told again below, by the set of all. */
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		while (poll->class_fd[i] >= 0 &&
				epoll_wait(poll->class_fd[i], ev, LOOK_EVENTS, 0) == LOOK_EVENTS)
			;
	comch_poll_look(poll, rte_rdtsc());
}
