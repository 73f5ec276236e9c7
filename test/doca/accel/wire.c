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

#include <rte_jhash.h>

#include "accel/wire.h"

/* Of a descriptor, which is little-endian. */
#define DESC_LEN 224
#define DESC_VERSION 2
#define DESC_KEY 76
#define DESC_PATH 108
#define DESC_CHECK 220
/* Of a message. */
#define MAX_FDS 3

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int
wire_connect(const struct exporter *e)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	T_CHECK(fd >= 0);
	memcpy(addr.sun_path, e->shared->desc + DESC_PATH, sizeof(addr.sun_path));
	T_EQ(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

void
wire_hello(int fd, const struct exporter *e, const uint8_t *key)
{
	struct comch_remote_hello hello = {
		.magic = COMCH_REMOTE_MAGIC,
		.version = COMCH_REMOTE_VERSION,
	};

	memcpy(hello.key, key != NULL ? key : e->shared->desc + DESC_KEY, sizeof(hello.key));
	T_EQ(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
}

union control {
	struct cmsghdr hdr;
	char space[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

/* Send a message with descriptors. */
static void
send_fds(int fd, void *data, size_t len, const int *fds, unsigned int nb_fds)
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
	T_EQ(sendmsg(fd, &msg, MSG_NOSIGNAL), len);
}

void
wire_window(int fd, const int *fds, unsigned int nb_fds)
{
	struct comch_remote_window window = { .magic = COMCH_REMOTE_MAGIC };

	send_fds(fd, &window, sizeof(window), fds, nb_fds);
}

int
wire_hear(int fd)
{
	struct comch_remote_welcome welcome;
	ssize_t n = recv(fd, &welcome, sizeof(welcome), 0);

	if (n <= 0)
		return -EPIPE;
	T_EQ(n, sizeof(welcome));
	T_EQ(welcome.version, COMCH_REMOTE_VERSION);
	return welcome.status;
}

uint8_t *
wire_up(int fd, const struct exporter *e)
{
	int window = wire_memfd(COMCH_REMOTE_WINDOW, true);
	uint8_t *addr;

	addr = mmap(NULL, COMCH_REMOTE_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, window, 0);
	T_CHECK(addr != MAP_FAILED);
	wire_hello(fd, e, NULL);
	wire_window(fd, &window, 1);
	T_EQ(wire_hear(fd), 0);
	T_EQ(close(window), 0);
	return addr;
}

int
wire_ask(int fd, uint32_t op, uint32_t slot, uint64_t addr, uint32_t len)
{
	const struct comch_remote_request request = {
		.op = op, .slot = slot, .number = 77, .len = len, .addr = addr,
	};
	struct comch_remote_reply reply;
	ssize_t n;

	T_EQ(send(fd, &request, sizeof(request), MSG_NOSIGNAL), sizeof(request));
	n = recv(fd, &reply, sizeof(reply), 0);
	if (n <= 0)
		return -EPIPE;
	T_EQ(n, sizeof(reply));
	T_EQ(reply.slot, slot);
	T_EQ(reply.number, 77);
	return reply.status;
}

void
wire_closed(int fd)
{
	char byte;

	T_LE(recv(fd, &byte, 1, 0), 0);
	T_EQ(close(fd), 0);
}

void
wire_seal(uint8_t *desc)
{
	uint32_t check = rte_jhash(desc, DESC_CHECK, DESC_VERSION);

	memcpy(desc + DESC_CHECK, &check, sizeof(check));
}

int
wire_listen(struct exporter_shared *shared)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *dir = getenv("COMCH_DIR");
	uint8_t *desc = shared->desc;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	T_LT(snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/comch-mem-%032x.sock",
		dir != NULL ? dir : "/tmp", (unsigned int)getpid()), (int)sizeof(addr.sun_path));
	T_EQ(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	T_EQ(listen(fd, 8), 0);
	T_EQ(shared->desc_len, DESC_LEN);
	memset(desc + DESC_PATH, 0, sizeof(addr.sun_path));
	strcpy((char *)desc + DESC_PATH, addr.sun_path);
	wire_seal(desc);
	return fd;
}

void
wire_replace_by_link(struct exporter_shared *shared)
{
	char *path = (char *)shared->desc + DESC_PATH, link[108];

	/* Another name of the same form: the first digit is 0. */
	strcpy(link, path);
	strrchr(link, '-')[1] = 'f';
	T_EQ(symlink(path, link), 0);
	strcpy(path, link);
	wire_seal(shared->desc);
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
wire_take(int fd)
{
	struct comch_remote_hello hello;
	struct comch_remote_window window;

	T_EQ(recv(fd, &hello, sizeof(hello), 0), sizeof(hello));
	return take_fd(fd, &window, sizeof(window));
}

int
wire_take_page(int fd)
{
	struct comch_remote_welcome welcome;
	int page = take_fd(fd, &welcome, sizeof(welcome));

	T_EQ(welcome.status, 0);
	T_EQ(welcome.version, COMCH_REMOTE_VERSION);
	return page;
}

void
wire_seal_window(int window)
{
	T_EQ(fcntl(window, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL), 0);
}

void
wire_welcome(int fd, const int *fds, unsigned int nb_fds)
{
	struct comch_remote_welcome welcome = { .version = COMCH_REMOTE_VERSION };

	send_fds(fd, &welcome, sizeof(welcome), fds, nb_fds);
}

int
wire_memfd(size_t len, bool is_sealed)
{
	int fd = memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	T_CHECK(fd >= 0);
	/* With its pages: a store into a hole could be a signal. */
	T_EQ(posix_fallocate(fd, 0, (off_t)len), 0);
	if (is_sealed)
		T_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}
