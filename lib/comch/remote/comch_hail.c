/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The first steps of an importer. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/comch_registry.h"
#include "remote/comch_export_place.h"
#include "remote/comch_hail.h"
#include "sdk/comch_foreign.h"

bool
comch_hail_is_valid(const struct comch_remote_desc *desc)
{
	return desc->version == COMCH_REMOTE_VERSION &&
		strnlen(desc->path, sizeof(desc->path)) < sizeof(desc->path) &&
		comch_export_place_is_valid(desc->path);
}

int
comch_hail_set_fd(int *place, int fd)
{
	int old;

	pthread_mutex_lock(&comch_registry.lock);
	old = *place;
	*place = fd;
	pthread_mutex_unlock(&comch_registry.lock);
	return old;
}

int
comch_hail_open(int *place)
{
	int ret = comch_foreign_start();

	/* No threads: -EAGAIN has another meaning here. */
	if (ret != 0)
		return ret == -EAGAIN ? -ENOMEM : ret;
	pthread_mutex_lock(&comch_registry.lock);
	*place = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ret = *place < 0 ? -errno : 0;
	pthread_mutex_unlock(&comch_registry.lock);
	return ret;
}

/* To the socket of the path, and not to what a link there leads to. */
int
comch_hail_connect(int sock, const struct comch_remote_desc *desc)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	fd = open(desc->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d", fd);
	ret = connect(sock, (const struct sockaddr *)&addr, sizeof(addr)) == 0 ? 0 : -errno;
	close(fd);
	return ret;
}

bool
comch_hail_is_of_us(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

bool
comch_hail_greet(int sock, const struct comch_remote_desc *desc, enum comch_remote_kind kind)
{
	struct comch_remote_hello hello = {
		.magic = COMCH_REMOTE_MAGIC,
		.version = COMCH_REMOTE_VERSION,
		.kind = kind,
	};

	memcpy(hello.key, desc->key, sizeof(hello.key));
	return send(sock, &hello, sizeof(hello), MSG_NOSIGNAL | MSG_DONTWAIT) ==
		(ssize_t)sizeof(hello);
}

const char *
comch_hail_reason(int error)
{
	return error == -ENOENT || error == -ECONNREFUSED ? "the exporter is gone" :
		strerror(-error);
}
