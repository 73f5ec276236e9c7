/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Watches the file by which clients find a server, or its lock: a cleanup of the
 * directory may remove it while the server runs.
 */

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_log.h>
#include <rte_string_fns.h>

#include "comch_place.h"

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
no_watch(const struct comch_watch *w, const struct comch_place *p, int err)
{
	static uint32_t said;

	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
		rte_log(RTE_LOG_NOTICE, p->logtype,
			"%s: no inotify (%s): removal of %s %s will not be detected\n", p->tag,
			strerror(err), w->what, w->path);
}

void
comch_watch_open(struct comch_watch *w, const struct comch_place *p, const char *what,
		const char *path)
{
	w->what = what;
	w->path = path;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0)
		no_watch(w, p, errno);
}

/* Watch the file and its directory, which may be moved. */
void
comch_watch_start(struct comch_watch *w, const struct comch_place *p)
{
	char dir[PATH_MAX];

	/* Already removed. */
	if (!stat_of(w->path, &w->dev, &w->ino) || w->fd < 0)
		return;
	rte_strscpy(dir, w->path, sizeof(dir));
	if (inotify_add_watch(w->fd, w->path, FILE_EVENTS) >= 0 &&
			inotify_add_watch(w->fd, dirname(dir), DIR_EVENTS) >= 0)
		return;
	no_watch(w, p, errno);
	comch_watch_close(w);
}

void
comch_watch_add(struct comch_watch *w, const char *path)
{
	if (w->fd >= 0)
		(void)inotify_add_watch(w->fd, path, FILE_EVENTS);
}

void
comch_watch_close(struct comch_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

bool
comch_watch_is_ours(const struct comch_watch *w)
{
	dev_t dev;
	ino_t ino;

	return stat_of(w->path, &dev, &ino) && dev == w->dev && ino == w->ino;
}

int
comch_watch_check(struct comch_watch *w, char *text, size_t size)
{
	char buf[4096];
	dev_t dev;
	ino_t ino;

	/* Discard the events: check the current state. */
	while (w->fd >= 0 && read(w->fd, buf, sizeof(buf)) > 0)
		;
	if (comch_watch_is_ours(w))
		return 0;
	snprintf(text, size, "%s %s was %s", w->what, w->path,
		stat_of(w->path, &dev, &ino) ? "replaced" : "removed");
	return -ENOENT;
}
