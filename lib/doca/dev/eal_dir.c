/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "dev/eal_dir.h"

/* Several processes in one directory append ":1" and so on. */
#define SOCKET_NAME "dpdk_telemetry.v2"
/* Of directories that another pid namespace has for the same pid. */
#define MAX_SAME_PID 1000

const char *
impl_eal_dir_base(void)
{
	const char *dir = getenv("RUNTIME_DIRECTORY");

	if (dir != NULL)
		return dir;
	if (getuid() == 0)
		return "/var/run";
	dir = getenv("XDG_RUNTIME_DIR");
	return dir != NULL ? dir : "/tmp";
}

bool
impl_eal_dir_is_writable(const char *base)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/dpdk", base);
	if (access(path, W_OK | X_OK) == 0)
		return true;
	return errno == ENOENT && access(base, W_OK | X_OK) == 0;
}

/* Is this still the directory of that name? Another program may have removed it. */
static bool
is_at(int fd, const char *path)
{
	struct stat own, there;

	return fstat(fd, &own) == 0 && stat(path, &there) == 0 &&
		own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

/*
 * Open and lock a directory. Returns its descriptor or -errno: -EWOULDBLOCK: its program
 * lives; -ESTALE: it was removed meanwhile.
 */
static int
lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;

	if (fd < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		err = errno;
	else if (!is_at(fd, path))
		err = ESTALE;
	else
		return fd;
	close(fd);
	return -err;
}

/*
 * Create and lock a directory. Whether that fails does not matter but for -EWOULDBLOCK: EAL
 * tells what is wrong with it, and a file system without locks has none for others either.
 */
static int
create(const char *path)
{
	unsigned int tries;
	int fd = -ESTALE;

	for (tries = 0; tries < 10 && fd == -ESTALE; tries++) {
		mkdir(path, 0700);
		fd = lock(path);
	}
	return fd;
}

void
impl_eal_dir_take(const char *base, char *name, size_t size)
{
	char path[PATH_MAX];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/dpdk", base);
	mkdir(path, 0700);
	snprintf(name, size, IMPL_EAL_DIR_PREFIX "%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/dpdk/%s", base, name);
	/* The descriptor stays open: the kernel ends the lock with this process. */
	for (i = 1; create(path) == -EWOULDBLOCK && i <= MAX_SAME_PID; i++) {
		snprintf(name, size, IMPL_EAL_DIR_PREFIX "%d-%u", (int)getpid(), i);
		snprintf(path, sizeof(path), "%s/dpdk/%s", base, name);
	}
}

/* Does no process listen there? */
static bool
is_dead(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	bool dead;
	int fd;

	if (strlen(path) >= sizeof(sun.sun_path))
		return false;
	memcpy(sun.sun_path, path, strlen(path));
	/* Of another type than telemetry's: a process that listens does not notice. */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	dead = connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) != 0 &&
		errno == ECONNREFUSED;
	close(fd);
	return dead;
}

/* Remove a directory without a lock, unless a program listens: older releases take no lock. */
static void
sweep_one(const char *path)
{
	char file[PATH_MAX + 2 * NAME_MAX + 4];
	struct dirent *e;
	DIR *d;

	d = opendir(path);
	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, SOCKET_NAME, strlen(SOCKET_NAME)) != 0)
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		if (is_dead(file))
			unlink(file);
	}
	closedir(d);
	/* Fails if anything is left. */
	rmdir(path);
}

void
impl_eal_dir_sweep(const char *base)
{
	char dir[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	struct dirent *e;
	DIR *d;
	int fd;

	snprintf(dir, sizeof(dir), "%s/dpdk", base);
	d = opendir(dir);
	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, IMPL_EAL_DIR_PREFIX, strlen(IMPL_EAL_DIR_PREFIX)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		fd = lock(path);
		if (fd < 0)
			continue;
		sweep_one(path);
		close(fd);
	}
	closedir(d);
}
