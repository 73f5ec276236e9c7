/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Descriptors that the kernel made for verbs and for the connection manager.
 *
 * The kernel frees what was created by such a descriptor when its last copy is closed. A
 * forked child has copies: its parent's queue pairs would answer the peer, and its memory
 * would stay pinned, for as long as the child lives. So a child replaces them by
 * /dev/null. It does not close them, since both libraries remember their numbers and use
 * them when the child exits.
 *
 * Only those of links: the child of a process without connections may use the devices.
 */

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <rte_common.h>

#include "mlx5_private.h"

/* Taken for moments, and never by a thread that takes another lock meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, mlx5_link_fds) all = TAILQ_HEAD_INITIALIZER(all); /* guarded by lock */

void
mlx5_fd_add(struct mlx5_link_fds *fds, int cm_fd, int cmd_fd)
{
	fds->cm_fd = cm_fd;
	fds->cmd_fd = cmd_fd;
	fds->is_listed = true;
	pthread_mutex_lock(&lock);
	TAILQ_INSERT_TAIL(&all, fds, next);
	pthread_mutex_unlock(&lock);
}

void
mlx5_fd_del(struct mlx5_link_fds *fds)
{
	if (!fds->is_listed)
		return;
	pthread_mutex_lock(&lock);
	TAILQ_REMOVE(&all, fds, next);
	pthread_mutex_unlock(&lock);
	fds->is_listed = false;
}

static void
replace(int fd, int null_fd)
{
	if (fd < 0)
		return;
	if (null_fd < 0 || dup3(null_fd, fd, O_CLOEXEC) < 0)
		close(fd);
}

/*
 * Without a handler before the fork, which would order this lock before those of other
 * handlers. Another thread may hold it: then the list may be incomplete, and the child
 * keeps its copies.
 */
static void
in_child(void)
{
	const struct mlx5_link_fds *fds;
	int null_fd;

	if (pthread_mutex_trylock(&lock) != 0)
		return;
	null_fd = TAILQ_EMPTY(&all) ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
	TAILQ_FOREACH(fds, &all, next) {
		replace(fds->cm_fd, null_fd);
		replace(fds->cmd_fd, null_fd);
	}
	if (null_fd >= 0)
		close(null_fd);
	pthread_mutex_unlock(&lock);
}

RTE_INIT(mlx5_fd_init)
{
	pthread_atfork(NULL, NULL, in_child);
}
