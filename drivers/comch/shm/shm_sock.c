/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Rendezvous of servers and clients: a directory per host function, whose permissions
 * control access; in it, per server, a socket, named by a hash of the server's name
 * (names can be longer than a socket's path), and a lock file for the ownership of
 * the name. The kernel drops the lock when its process ends.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "sdk/comch_stale.h"
#include "shm_private.h"

#define BACKLOG 1024
/* Of a server's socket. */
#define MODE 0666

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static int
name_path(const struct rte_comch_dev *dev, uint16_t rep, const char *name, const char *suffix,
		char *path, size_t size)
{
	const struct shm_dev *shm = dev->priv;
	int ret;

	ret = comch_place_path(&shm->place, dev->reps[rep].name, name, suffix, path, size);
	if (ret != 0)
		SHM_LOG(ERR, "directory %s: the paths of files in it are too long: use a shorter "
			"dir", shm->place.dir);
	return ret;
}

static int
sock_address(const char *path, struct sockaddr_un *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	if (rte_strscpy(addr->sun_path, path, sizeof(addr->sun_path)) < 0) {
		SHM_LOG(ERR, "socket path %s exceeds %zu bytes: use a shorter dir", path,
			sizeof(addr->sun_path) - 1);
		return -ENAMETOOLONG;
	}
	return 0;
}

/* Log a call that failed with errno, which is returned. */
static int
failed(const char *call, const char *path, const char *remedy)
{
	int err = errno; /* logging may change it */

	SHM_LOG(ERR, "%s %s: %s%s", call, path, strerror(err), remedy);
	return -err;
}

/* Set the mode of a file by its descriptor, which has no more than its path. */
static int
set_mode(int fd, const char *path, mode_t mode)
{
	char proc[sizeof("/proc/self/fd/") + 11], remedy[96];

	/* Since Linux 6.6. Seccomp filters that do not know it have errors of their own. */
	if (syscall(SYS_fchmodat2, fd, "", MODE, AT_EMPTY_PATH) == 0)
		return 0;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (chmod(proc, MODE) == 0)
		return 0;
	snprintf(remedy, sizeof(remedy), ": the umask took %04o away, and without /proc it "
		"cannot be given back", MODE & ~mode);
	return failed("chmod", path, remedy);
}

/*
 * Any user may connect: the directory's permissions control access. The socket has the mode
 * from bind(), but for what the umask took. If others may write to the directory, the path may
 * refer to another file by now, so set the mode through a descriptor, and only if that is a
 * socket of ours.
 */
static int
open_to_all(const char *path)
{
	struct stat st;
	int fd, ret = 0;

	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return failed("open", path, errno == ENOENT ? ": it was removed during start "
			"(check the directory's write permissions)" : "");
	if (fstat(fd, &st) != 0) {
		ret = failed("fstat", path, "");
	} else if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid()) {
		SHM_LOG(ERR, "%s was replaced during start by a file of uid %u (check the "
			"directory's write permissions)", path, st.st_uid);
		ret = -EACCES;
	} else if ((st.st_mode & 0777) != MODE) {
		ret = set_mode(fd, path, st.st_mode);
	}
	close(fd);
	return ret;
}

static int
bind_failed(const char *path)
{
	/* Something that cannot be unlinked, such as a directory. */
	if (errno == EADDRINUSE)
		return -EADDRINUSE;
	return failed("bind", path, errno == EOPNOTSUPP || errno == EPERM ?
		": no sockets on this file system, use a local directory (dir=, COMCH_DIR)" : "");
}

static int
bind_and_listen(const char *path)
{
	struct sockaddr_un addr;
	int sock, ret;

	ret = sock_address(path, &addr);
	if (ret != 0)
		return ret;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return failed("socket for", path, "");
	/* We have the lock, but that of a live server may have been removed. */
	ret = comch_stale_socket(path);
	if (ret <= 0) {
		errno = -ret;
		ret = ret == 0 ? -EADDRINUSE : failed("socket for", path, "");
		goto err_close;
	}
	unlink(path);
	/* The mode of the file, less the umask. */
	if (fchmod(sock, MODE) != 0 || bind(sock, (struct sockaddr *)&addr, sizeof(addr)) != 0) {
		ret = bind_failed(path);
		goto err_close;
	}
	ret = open_to_all(path);
	if (ret != 0)
		goto err_unlink;
	if (listen(sock, BACKLOG) == 0)
		return sock;
	ret = failed("listen", path, "");

err_unlink:
	unlink(path);
err_close:
	close(sock);
	return ret;
}

int
shm_sock_listen(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_listener **listener)
{
	const struct shm_dev *shm = dev->priv;
	struct shm_listener *l;
	int ret;

	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	l->base.ops = dev->ops;
	l->base.dev = dev;
	ret = name_path(dev, rep, name, shm_kind_of(dev)->sock_suffix, l->sock_path,
		sizeof(l->sock_path));
	if (ret == 0)
		ret = name_path(dev, rep, name, shm_kind_of(dev)->lock_suffix, l->lock_path,
			sizeof(l->lock_path));
	if (ret != 0)
		goto err_free;
	ret = comch_place_lock(&shm->place, l->lock_path);
	if (ret < 0)
		goto err_free;
	l->lock_fd = ret;
	comch_watch_open(&l->watch, &shm->place, "socket", l->sock_path);
	ret = bind_and_listen(l->sock_path);
	if (ret < 0)
		goto err_unlock;
	l->sock = ret;
	comch_watch_start(&l->watch, &shm->place);
	comch_watch_add(&l->watch, l->lock_path);
	*listener = &l->base;
	return 0;

err_unlock:
	comch_watch_close(&l->watch);
	unlink(l->lock_path);
	close(l->lock_fd);
err_free:
	/* What else failed has been logged by the function that saw it. */
	if (ret == -EADDRINUSE)
		SHM_LOG(ERR, "server %s on %s of %s: name is in use", name, dev->reps[rep].name,
			dev->info.name);
	free(l);
	return ret;
}

void
shm_sock_unlisten(struct rte_comch_listener *listener)
{
	struct shm_listener *l = container_of(listener, struct shm_listener, base);

	/* If our lock file was removed, the socket may be another server's. */
	bool owner = comch_place_is_ours(l->lock_fd, l->lock_path);

	/* The socket first: the next owner of the lock finds none. */
	if (owner && comch_watch_is_ours(&l->watch))
		unlink(l->sock_path);
	comch_watch_close(&l->watch);
	/* This also drops the clients that are not accepted, and their messages. */
	shutdown(l->sock, SHUT_RDWR);
	comch_foreign_close(l->sock);
	if (owner)
		unlink(l->lock_path);
	close(l->lock_fd);
	free(l);
}

void
shm_sock_listener_forked(struct rte_comch_listener *listener)
{
	/* The child shares the lock while this is open. The poll closes the socket. */
	close(container_of(listener, struct shm_listener, base)->lock_fd);
}

int
shm_sock_listener_fd(const struct rte_comch_listener *listener)
{
	return container_of(listener, const struct shm_listener, base)->sock;
}

int
shm_sock_watch_fd(const struct rte_comch_listener *listener)
{
	return container_of(listener, const struct shm_listener, base)->watch.fd;
}

/* Our lock file may have been removed by a cleanup, which spares sockets in use. */
static void
renew_lock(struct shm_listener *l)
{
	const struct shm_dev *shm = l->base.dev->priv;
	int ret = comch_place_relock(&shm->place, &l->lock_fd, l->lock_path);

	if (ret == 0)
		comch_watch_add(&l->watch, l->lock_path);
	else
		SHM_LOG(WARNING, "lock file %s was removed and cannot be made again: %s",
			l->lock_path, strerror(-ret));
}

int
shm_sock_check(struct rte_comch_listener *listener, char *text, size_t size)
{
	struct shm_listener *l = container_of(listener, struct shm_listener, base);
	int ret = comch_watch_check(&l->watch, text, size);

	if (ret == 0 && !comch_place_is_ours(l->lock_fd, l->lock_path))
		renew_lock(l);
	return ret;
}

/* The kernel looks for a free descriptor before it looks for a client. */
static int
accept_error(int sock, int err)
{
	struct pollfd pfd = { .fd = sock, .events = POLLIN };

	if (err == EWOULDBLOCK)
		return -EAGAIN;
	if ((err == EMFILE || err == ENFILE) && poll(&pfd, 1, 0) == 0)
		return -EAGAIN;
	return -err;
}

int
shm_sock_accept(struct rte_comch_listener *listener, struct rte_comch_link **link)
{
	struct shm_listener *l = container_of(listener, struct shm_listener, base);
	struct shm_link *s;
	int sock;

	do {
		sock = accept4(l->sock, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	} while (sock < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (sock < 0)
		return accept_error(l->sock, errno);
	s = shm_link_create(listener->dev, sock, false);
	if (s == NULL) {
		comch_foreign_close(sock);
		return -ENOMEM;
	}
	*link = &s->base;
	return 0;
}

/* Map an errno of connect() to the driver interface. */
static int
connect_error(int err)
{
	switch (err) {
	case ECONNREFUSED: /* stale socket */
	case ENOENT:
	case ENOTDIR:
		return -ENOENT;
	case EWOULDBLOCK:  /* its backlog is full */
		return -EAGAIN;
	default:
		return -err;
	}
}

static int
server_address(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct sockaddr_un *addr)
{
	const struct shm_dev *shm = dev->priv;
	char path[PATH_MAX];
	int ret;

	/* The owner of the directory could impersonate the server. */
	ret = comch_place_check(&shm->place);
	if (ret == 0)
		ret = name_path(dev, rep, name, shm_kind_of(dev)->sock_suffix, path,
			sizeof(path));
	return ret == 0 ? sock_address(path, addr) : ret;
}

/* A socket that is connected to the server, or -errno. */
static int
connect_to(const struct sockaddr_un *addr)
{
	int sock, ret;

	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return -errno;
	if (connect(sock, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
		return sock;
	ret = connect_error(errno);
	/* The client tries again, and says in the end that there was none. */
	SHM_LOG(DEBUG, "no server at %s: %s", addr->sun_path, strerror(errno));
	close(sock);
	return ret;
}

/* Takes over the socket and our region. */
static int
make_link(struct rte_comch_dev *dev, int sock, struct shm_own *own, struct rte_comch_link **link)
{
	struct shm_link *s = shm_link_create(dev, sock, true);
	int ret;

	if (s == NULL) {
		shm_own_free(dev, own);
		comch_foreign_close(sock);
		return -ENOMEM;
	}
	ret = shm_link_say_hello(s, own);
	if (ret != 0) {
		shm_link_close(&s->base);
		/* Too many descriptors are in flight: a place is used up, so not at once again. */
		return ret == -EAGAIN ? -EBUSY : ret;
	}
	*link = &s->base;
	return 0;
}

int
shm_sock_connect(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_link **link)
{
	struct sockaddr_un addr;
	struct shm_own own;
	int sock, ret;

	ret = server_address(dev, rep, name, &addr);
	if (ret != 0)
		return ret;
	/* The usual case of a client that waits for its server. */
	if (access(addr.sun_path, F_OK) != 0)
		return connect_error(errno);
	/* Before the server knows of us: then it finds our hello when it accepts. */
	ret = shm_own_create(dev, &own);
	if (ret != 0)
		return ret;
	sock = connect_to(&addr);
	if (sock >= 0)
		return make_link(dev, sock, &own, link);
	shm_own_free(dev, &own);
	return sock;
}

int
shm_sock_send(int sock, const void *data, size_t len, const int *fds, uint32_t nb_fds)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	union comch_foreign_control control;
	struct msghdr msg;

	comch_foreign_pack(&msg, &iov, &control, fds, nb_fds);
	if (sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	/* ETOOMANYREFS: the user's limit of descriptors in flight; temporary. */
	if (errno == EWOULDBLOCK || errno == ETOOMANYREFS)
		return -EAGAIN;
	/* A peer that is gone has one errno, whenever it went. */
	return errno == EPIPE ? -ECONNRESET : -errno;
}
