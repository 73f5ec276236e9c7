/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Directories and lock files of servers. */

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_log.h>
#include <rte_string_fns.h>

#include "comch_place.h"

/* 128 bits of the hash, in hex. */
#define HASH_HEX 32
/* Retries: another process may remove the lock file between our open and our lock. */
#define LOCK_TRIES 16

#define PLACE_LOG(p, level, fmt, ...) \
	rte_log(RTE_LOG_##level, (p)->logtype, "%s: " fmt "\n", (p)->tag, ##__VA_ARGS__)

static int
parse_dir(const struct comch_args *a, const char *key, const char *value, void *arg)
{
	struct comch_place *p = arg;

	if (value[0] != '/')
		return comch_args_bad(a, key, value, "an absolute path");
	if (rte_strscpy(p->dir, value, sizeof(p->dir)) < 0)
		return comch_args_bad(a, key, value, "a shorter path");
	p->is_below_tmp = false;
	return 0;
}

static int
set_default(struct comch_place *p)
{
	const char *env = getenv("COMCH_DIR");
	size_t size = sizeof(p->dir);
	char *dir = p->dir;
	int n;

	if (env != NULL && env[0] != '\0' && env[0] != '/') {
		PLACE_LOG(p, ERR, "COMCH_DIR=%s: expected an absolute path", env);
		return -EINVAL;
	}
	if (env != NULL && env[0] == '/')
		n = snprintf(dir, size, "%s", env);
	else if (geteuid() == 0)
		n = snprintf(dir, size, "/run/comch");
	else if ((env = getenv("XDG_RUNTIME_DIR")) != NULL && env[0] == '/')
		n = snprintf(dir, size, "%s/comch", env);
	else {
		n = snprintf(dir, size, "/tmp/comch-%u", geteuid());
		p->is_below_tmp = true;
	}
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int
comch_place_init(struct comch_place *p, const struct comch_args *a)
{
	int ret;

	p->logtype = a->logtype;
	p->tag = a->tag;
	ret = set_default(p);
	return ret == 0 ? comch_args_each(a, COMCH_ARGS_DIR, parse_dir, p) : ret;
}

/* Is it what the kernel shows for users that a user namespace does not have? */
static bool
is_unmapped(uid_t uid)
{
	unsigned int overflow = 0;
	bool unmapped;
	FILE *f;

	f = fopen("/proc/sys/kernel/overflowuid", "re");
	if (f == NULL)
		return false;
	unmapped = fscanf(f, "%u", &overflow) == 1 && uid == overflow;
	fclose(f);
	return unmapped;
}

/* Refuse a directory that belongs to another user, who could replace files in it. */
static int
make_dir(const struct comch_place *p, const char *path, mode_t mode)
{
	struct stat st;
	int err;

	if (mkdir(path, mode) != 0 && errno != EEXIST) {
		err = errno; /* logging may change it */
		PLACE_LOG(p, ERR, "cannot create directory %s: %s", path, strerror(err));
		return -err;
	}
	if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		PLACE_LOG(p, ERR, "%s is not a directory", path);
		return -ENOTDIR;
	}
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		PLACE_LOG(p, ERR, "directory %s: expected owner uid %u or root, found uid %u%s",
			path, geteuid(), st.st_uid, is_unmapped(st.st_uid) ? ": not mapped in this "
			"user namespace, use another directory (dir=, COMCH_DIR)" : "");
		return -EACCES;
	}
	return 0;
}

int
comch_place_check(const struct comch_place *p)
{
	struct stat st;

	if (!p->is_below_tmp)
		return 0;
	if (lstat(p->dir, &st) != 0)
		return -errno;
	if (S_ISDIR(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) &&
			(st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	PLACE_LOG(p, ERR, "%s refused: owner uid %u, mode %04o; expected a directory of uid %u or "
		"root that others cannot write to", p->dir, st.st_uid, st.st_mode & 07777,
		geteuid());
	return -EACCES;
}

int
comch_place_make(const struct comch_place *p, const struct rte_comch_dev *dev)
{
	char path[PATH_MAX + RTE_COMCH_DEV_NAME_SIZE + 1];
	uint16_t i;
	int ret;

	/* Search permission for all as root: access is controlled per function's directory. */
	ret = make_dir(p, p->dir, geteuid() == 0 ? 0755 : 0700);
	if (ret == 0)
		ret = comch_place_check(p);
	for (i = 0; i < dev->info.nb_reps && ret == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", p->dir, dev->reps[i].name);
		ret = make_dir(p, path, 0700);
	}
	return ret;
}

int
comch_place_path(const struct comch_place *p, const char *func, const char *name,
		const char *suffix, char *path, size_t size)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[HASH_HEX + 1];
	SHA2_CTX ctx;
	int i, n;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)name, strlen(name));
	SHA256Final(digest, &ctx);
	for (i = 0; i < HASH_HEX / 2; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	n = snprintf(path, size, "%s/%s/%s.%s", p->dir, func, hex, suffix);
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

bool
comch_place_is_ours(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino;
}

static int
lock_error(const struct comch_place *p, const char *path, int err)
{
	if (err == EWOULDBLOCK)
		return -EADDRINUSE;
	PLACE_LOG(p, ERR, "cannot lock %s: %s%s", path, strerror(err), err == ENOLCK ?
		": this file system has no locks, use a local directory (dir=, COMCH_DIR)" : "");
	return -err;
}

int
comch_place_lock(const struct comch_place *p, const char *path)
{
	int fd, err, i;

	for (i = 0; i < LOCK_TRIES; i++) {
		fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0) {
			err = errno; /* logging may change it */
			PLACE_LOG(p, ERR, "cannot create lock file %s: %s", path, strerror(err));
			return -err;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			err = errno;
			close(fd);
			return lock_error(p, path, err);
		}
		if (comch_place_is_ours(fd, path))
			return fd;
		close(fd);
	}
	return -EADDRINUSE;
}

int
comch_place_relock(const struct comch_place *p, int *fd, const char *path)
{
	int ret;

	if (comch_place_is_ours(*fd, path))
		return 0;
	ret = comch_place_lock(p, path);
	if (ret < 0)
		return ret;
	close(*fd);
	*fd = ret;
	return 0;
}
