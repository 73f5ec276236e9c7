/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Watches the file of a server's socket, by which clients find the server: a cleanup
 * of the directory may remove it while the server runs.
 */

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "shm_private.h"

/* IN_ATTRIB: removal changes the link count of a file that is still open. */
#define FILE_EVENTS (IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
#define DIR_EVENTS (IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

static bool
stat_of(const char *path, dev_t *dev, ino_t *ino)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return false;
	*dev = st.st_dev;
	*ino = st.st_ino;
	return true;
}

/* Not fatal, since users have few inotify instances: logged once. */
static void
no_watch(const struct shm_listener *l, int err)
{
	static uint32_t said;

	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
		SHM_LOG(NOTICE, "no inotify (%s): removal of socket %s will not be detected",
			strerror(err), l->sock_path);
}

void
shm_watch_open(struct shm_listener *l)
{
	l->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (l->watch_fd < 0)
		no_watch(l, errno);
}

/* Watch the file and its directory, which may be moved. */
void
shm_watch_start(struct shm_listener *l)
{
	char dir[PATH_MAX];

	/* Already removed. */
	if (!stat_of(l->sock_path, &l->sock_dev, &l->sock_ino) || l->watch_fd < 0)
		return;
	rte_strscpy(dir, l->sock_path, sizeof(dir));
	if (inotify_add_watch(l->watch_fd, l->sock_path, FILE_EVENTS) >= 0 &&
			inotify_add_watch(l->watch_fd, dirname(dir), DIR_EVENTS) >= 0)
		return;
	no_watch(l, errno);
	shm_watch_close(l);
}

void
shm_watch_close(struct shm_listener *l)
{
	if (l->watch_fd >= 0)
		close(l->watch_fd);
	l->watch_fd = -1;
}

int
shm_watch_fd(const struct rte_comch_listener *listener)
{
	return container_of(listener, const struct shm_listener, base)->watch_fd;
}

bool
shm_watch_is_ours(const struct shm_listener *l)
{
	dev_t dev;
	ino_t ino;

	return stat_of(l->sock_path, &dev, &ino) && dev == l->sock_dev && ino == l->sock_ino;
}

int
shm_watch_check(struct rte_comch_listener *listener, char *text, size_t size)
{
	struct shm_listener *l = container_of(listener, struct shm_listener, base);
	char buf[4096];
	dev_t dev;
	ino_t ino;

	/* Discard the events: check the current state. */
	while (l->watch_fd >= 0 && read(l->watch_fd, buf, sizeof(buf)) > 0)
		;
	if (shm_watch_is_ours(l))
		return 0;
	snprintf(text, size, "socket %s was %s", l->sock_path,
		stat_of(l->sock_path, &dev, &ino) ? "replaced" : "removed");
	return -ENOENT;
}
