/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PLACE_H
#define COMCH_PLACE_H

/*
 * Where a driver's servers are found, in files: a directory per host function, whose
 * permissions control who may serve, and in it a lock file per server for the ownership
 * of its name. The kernel drops the lock when its process ends.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "comch_args.h"
#include "rte_comch_driver.h"

struct comch_place {
	char dir[PATH_MAX];
	bool is_below_tmp; /* any user may have created it first */
	int logtype;
	const char *tag;   /* "COMCH_SHM" */
};

/*
 * Set dir: dir= of the device string, $COMCH_DIR, or a directory that depends on the user.
 * 0 or an errno.
 */
int comch_place_init(struct comch_place *p, const struct comch_args *a);
/* Check the owner and mode of a directory below /tmp. 0, -ENOENT or -EACCES. */
int comch_place_check(const struct comch_place *p);
/* Create the missing directories of the host functions. */
int comch_place_make(const struct comch_place *p, const struct rte_comch_dev *dev);
/* "DIR/FUNC/HASH.SUFFIX": a hash, as names can be longer than a file's. 0 or -ENAMETOOLONG. */
int comch_place_path(const struct comch_place *p, const char *func, const char *name,
		const char *suffix, char *path, size_t size);

/* Create and lock a file. Its descriptor, -EADDRINUSE (it is locked), or an errno, logged. */
int comch_place_lock(const struct comch_place *p, const char *path);
/* Does the path still refer to this file? */
bool comch_place_is_ours(int fd, const char *path);
/* Lock the path anew, if its file was removed: *fd changes. 0, or as comch_place_lock(). */
int comch_place_relock(const struct comch_place *p, int *fd, const char *path);

/* comch_watch.c: detects that a file was removed, and a cleanup may do that. */

struct comch_watch {
	int fd;            /* inotify; -1: unavailable */
	const char *what;  /* "socket" */
	const char *path;  /* of the owner */
	dev_t dev;         /* identity of the file */
	ino_t ino;
};

/*
 * Open the inotify before a socket, and watch the socket's file later. The kernel
 * takes long to release an inotify of a dead process: opened first, it does not keep
 * the socket alive meanwhile, when clients could connect to a dead server.
 */
void comch_watch_open(struct comch_watch *w, const struct comch_place *p, const char *what,
		const char *path);
void comch_watch_start(struct comch_watch *w, const struct comch_place *p);
void comch_watch_close(struct comch_watch *w);
/* Watch another file of the same directory, too: its owner looks at it after each check. */
void comch_watch_add(struct comch_watch *w, const char *path);
/* Does the path still refer to the file of comch_watch_start()? */
bool comch_watch_is_ours(const struct comch_watch *w);
/* Clear fd. 0, or -ENOENT with the reason in *text*. */
int comch_watch_check(struct comch_watch *w, char *text, size_t size);

#endif /* COMCH_PLACE_H */
