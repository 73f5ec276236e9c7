/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_STALE_H
#define COMCH_STALE_H

/* Files of sockets that no process listens on any more. */

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>

/* Does no process have a socket at this path? 1, 0, or a negative errno of socket(). */
static inline int
comch_stale_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock, stale;

	if (strlcpy(addr.sun_path, path, sizeof(addr.sun_path)) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	/*
	 * Of another type than any server's: the kernel looks the socket up and refuses us with
	 * EPROTOTYPE, so a live server has no connection of ours to accept.
	 */
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return -errno;
	stale = connect(sock, (const struct sockaddr *)&addr, sizeof(addr)) != 0 &&
		(errno == ECONNREFUSED || errno == ENOENT);
	close(sock);
	return stale;
}

#endif /* COMCH_STALE_H */
