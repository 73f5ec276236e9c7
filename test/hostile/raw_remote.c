/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "raw_remote.h"
#include "t.h"

/* Of a message. */
#define MAX_FDS 3
/* Of requests. */
#define NUMBER 77

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int
raw_remote_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	T_GE(fd, 0);
	strcpy(addr.sun_path, path);
	T_EQ(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

void
raw_remote_hello(int fd, const uint8_t *key, uint32_t kind)
{
	struct comch_remote_hello hello = {
		.magic = COMCH_REMOTE_MAGIC,
		.version = COMCH_REMOTE_VERSION,
		.kind = kind,
	};

	memcpy(hello.key, key, sizeof(hello.key));
	T_EQ(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
}

union control {
	struct cmsghdr hdr;
	char space[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

ssize_t
raw_remote_recv(int fd, void *data, size_t len)
{
	ssize_t n;

	do {
		n = recv(fd, data, len, MSG_TRUNC);
	} while (n < 0 && errno == EINTR);
	return n;
}

ssize_t
raw_remote_try_send(int fd, void *data, size_t len, const int *fds, unsigned int nb_fds)
{
	struct iovec iov = { .iov_base = data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control = { .hdr.cmsg_level = SOL_SOCKET };

	T_LE(nb_fds, MAX_FDS);
	if (nb_fds > 0) {
		control.hdr.cmsg_type = SCM_RIGHTS;
		control.hdr.cmsg_len = CMSG_LEN(nb_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.hdr), fds, nb_fds * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(nb_fds * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

void
raw_remote_send(int fd, void *data, size_t len, const int *fds, unsigned int nb_fds)
{
	const ssize_t n = raw_remote_try_send(fd, data, len, fds, nb_fds);

	if (n != (ssize_t)len)
		T_FAIL("%zd of %zu bytes, %u descriptors: %s", n, len, nb_fds, strerror(errno));
}

void
raw_remote_window(int fd, const int *fds, unsigned int nb_fds)
{
	struct comch_remote_window window = { .magic = COMCH_REMOTE_MAGIC };

	raw_remote_send(fd, &window, sizeof(window), fds, nb_fds);
}

int
raw_remote_hear(int fd)
{
	struct comch_remote_welcome welcome;
	ssize_t n = raw_remote_recv(fd, &welcome, sizeof(welcome));

	if (n <= 0)
		return -EPIPE;
	T_EQ(n, sizeof(welcome));
	T_EQ(welcome.version, COMCH_REMOTE_VERSION);
	return welcome.status;
}

uint8_t *
raw_remote_up(int fd, const uint8_t *key)
{
	int window = raw_remote_memfd(COMCH_REMOTE_WINDOW, true);
	uint8_t *addr;

	addr = mmap(NULL, COMCH_REMOTE_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, window, 0);
	T_CHECK(addr != MAP_FAILED);
	raw_remote_hello(fd, key, COMCH_REMOTE_MEMORY);
	raw_remote_window(fd, &window, 1);
	T_EQ(raw_remote_hear(fd), 0);
	T_EQ(close(window), 0);
	return addr;
}

void
raw_remote_request(int fd, uint32_t op, uint32_t slot, uint64_t addr, uint32_t len)
{
	const struct comch_remote_request request = {
		.op = op, .slot = slot, .number = NUMBER, .len = len, .addr = addr,
	};

	T_EQ(send(fd, &request, sizeof(request), MSG_NOSIGNAL), sizeof(request));
}

int
raw_remote_ask(int fd, uint32_t op, uint32_t slot, uint64_t addr, uint32_t len)
{
	struct comch_remote_reply reply;
	ssize_t n;

	raw_remote_request(fd, op, slot, addr, len);
	n = raw_remote_recv(fd, &reply, sizeof(reply));
	if (n <= 0)
		return -EPIPE;
	T_EQ(n, sizeof(reply));
	T_EQ(reply.slot, slot);
	T_EQ(reply.number, NUMBER);
	return reply.status;
}

void
raw_remote_closed(int fd)
{
	char byte;

	T_LE(raw_remote_recv(fd, &byte, 1), 0);
	T_EQ(close(fd), 0);
}

int
raw_remote_listen(char *path, size_t size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *dir = getenv("COMCH_DIR");
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	T_GE(fd, 0);
	T_LT(snprintf(path, size, "%s/comch-mem-%032x.sock", dir != NULL ? dir : t_dir(),
		(unsigned int)getpid()), (int)RTE_MIN(size, sizeof(addr.sun_path)));
	strcpy(addr.sun_path, path);
	T_EQ(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	T_EQ(listen(fd, 8), 0);
	return fd;
}

/* Receive a message with one descriptor. */
static int
take_fd(int fd, void *data, size_t len)
{
	struct iovec iov = { .iov_base = data, .iov_len = len };
	union control control = { .hdr.cmsg_len = 0 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int memfd;

	T_EQ(recvmsg(fd, &msg, MSG_CMSG_CLOEXEC), len);
	T_EQ(control.hdr.cmsg_len, CMSG_LEN(sizeof(int)));
	memcpy(&memfd, CMSG_DATA(&control.hdr), sizeof(memfd));
	return memfd;
}

int
raw_remote_take(int fd)
{
	struct comch_remote_hello hello;
	struct comch_remote_window window;

	T_EQ(raw_remote_recv(fd, &hello, sizeof(hello)), sizeof(hello));
	return take_fd(fd, &window, sizeof(window));
}

int
raw_remote_take_page(int fd)
{
	struct comch_remote_welcome welcome;
	int page = take_fd(fd, &welcome, sizeof(welcome));

	T_EQ(welcome.status, 0);
	T_EQ(welcome.version, COMCH_REMOTE_VERSION);
	return page;
}

void
raw_remote_seal(int window)
{
	T_EQ(fcntl(window, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL), 0);
}

void
raw_remote_welcome(int fd, const int *fds, unsigned int nb_fds)
{
	struct comch_remote_welcome welcome = { .version = COMCH_REMOTE_VERSION };

	raw_remote_send(fd, &welcome, sizeof(welcome), fds, nb_fds);
}

int
raw_remote_memfd(size_t len, bool is_sealed)
{
	int fd = memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	T_CHECK(fd >= 0);
	/* With its pages: a store into a hole could be a signal. */
	T_EQ(posix_fallocate(fd, 0, (off_t)len), 0);
	if (is_sealed)
		T_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}
