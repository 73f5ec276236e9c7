/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Files of exporters' sockets. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include <rte_common.h>

#include "remote/comch_export_place.h"
#include "sdk/comch_log.h"
#include "sdk/comch_stale.h"

#define PREFIX "comch-mem-"
#define SUFFIX ".sock"
#define NB_RANDOM 16
#define NAME_LEN (strlen(PREFIX) + 2 * NB_RANDOM + strlen(SUFFIX))
/* Files that a search for stale ones looks at. */
#define MAX_LOOKS 256

static bool
is_name(const char *name)
{
	return strlen(name) == NAME_LEN && strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
		strcmp(name + NAME_LEN - strlen(SUFFIX), SUFFIX) == 0 &&
		strspn(name + strlen(PREFIX), "0123456789abcdef") == 2 * NB_RANDOM;
}

/* It goes into the log, and from there to terminals. */
static bool
is_printable(const char *path)
{
	for (; *path != '\0'; path++)
		if (*path < 0x20 || *path > 0x7e)
			return false;
	return true;
}

bool
comch_export_place_is_valid(const char *path)
{
	const char *name = strrchr(path, '/');

	return path[0] == '/' && is_printable(path) && is_name(name + 1);
}

static bool
set_path(struct sockaddr_un *addr, const char *dir, const char *name)
{
	int n = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/%s", dir, name);

	addr->sun_family = AF_UNIX;
	return n > 0 && (size_t)n < sizeof(addr->sun_path);
}

/* Remove the files of processes that were killed. */
static void
remove_stale(const char *dir)
{
	unsigned int nb = 0;
	struct sockaddr_un addr;
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (d == NULL)
		return;
	while ((entry = readdir(d)) != NULL && nb < MAX_LOOKS) {
		if (!is_name(entry->d_name) || !set_path(&addr, dir, entry->d_name))
			continue;
		nb++;
		if (comch_stale_socket(addr.sun_path) == 1)
			unlink(addr.sun_path);
	}
	closedir(d);
}

static int
listen_in(const char *dir, struct sockaddr_un *addr)
{
	uint8_t random[NB_RANDOM];
	char name[NAME_MAX + 1];
	size_t i, n;
	int fd, err;

	n = strlcpy(name, PREFIX, sizeof(name));
	arc4random_buf(random, sizeof(random));
	for (i = 0; i < NB_RANDOM; i++)
		n += (size_t)snprintf(name + n, sizeof(name) - n, "%02x", random[i]);
	strlcat(name, SUFFIX, sizeof(name));
	if (!set_path(addr, dir, name))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Before the file is there: its mode is that of the socket. */
	if (fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0) {
		if (listen(fd, SOMAXCONN) == 0)
			return fd;
		err = errno;
		unlink(addr->sun_path);
	} else {
		err = errno;
	}
	close(fd);
	return -err;
}

int
comch_export_place_listen(const char *dir, char *path, size_t size)
{
	const char *const dirs[] = { dir, getenv("XDG_RUNTIME_DIR"), "/tmp" };
	struct sockaddr_un addr;
	int fd, first = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(dirs); i++) {
		if (dirs[i] == NULL || dirs[i][0] != '/')
			continue;
		remove_stale(dirs[i]);
		fd = listen_in(dirs[i], &addr);
		if (fd >= 0) {
			if (first != 0)
				COMCH_LOG(NOTICE, "export: cannot create a socket in %s: %s; "
					"importers find it as %s", dir, strerror(-first),
					addr.sun_path);
			strlcpy(path, addr.sun_path, size);
			return fd;
		}
		if (first == 0)
			first = fd;
	}
	COMCH_LOG(ERR, "export: cannot create a socket in %s: %s; nor in $XDG_RUNTIME_DIR or /tmp",
		dir, strerror(-first));
	return first;
}
