/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A bare connect: see floor/connect.h. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/window.h"
#include "floor/connect.h"
#include "floor/floor.h"

#define REGION_SIZE (64 << 10)
#define BACKLOG     16

/* A connection of one side: its own region of memory, and that of the other. */
struct end {
	int sock;
	int fd[2];
	volatile uint8_t *mem[2];
};

/* Room for the one descriptor of a message. */
union one_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static struct msghdr
message(struct iovec *iov, union one_fd *control)
{
	return (struct msghdr){
		.msg_iov = iov, .msg_iovlen = 1,
		.msg_control = control->bytes, .msg_controllen = sizeof(control->bytes),
	};
}

int
floor_connect_listen(void)
{
	/* The kernel chooses a name. */
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) == 0 &&
			listen(fd, BACKLOG) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool
map(struct end *end, int i, int prot)
{
	void *mem = mmap(NULL, REGION_SIZE, prot, MAP_SHARED, end->fd[i], 0);

	end->mem[i] = mem == MAP_FAILED ? NULL : mem;
	return mem != MAP_FAILED;
}

static bool
make_region(struct end *end)
{
	end->fd[0] = memfd_create("comch-perf-floor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (end->fd[0] < 0 || ftruncate(end->fd[0], REGION_SIZE) != 0 ||
			!map(end, 0, PROT_READ | PROT_WRITE))
		return false;
	end->mem[0][0] = 1;
	return fcntl(end->fd[0], F_ADD_SEALS,
		F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE) == 0;
}

static bool
send_region(const struct end *end)
{
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	union one_fd control;
	struct msghdr msg = message(&iov, &control);
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &end->fd[0], sizeof(int));
	return sendmsg(end->sock, &msg, MSG_NOSIGNAL) == 1;
}

/* Wait for a message, with a descriptor in *fd. @return false: the other side is gone */
static bool
receive(int sock, int *fd, bool crowded)
{
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	union one_fd control;
	struct msghdr msg;
	ssize_t n;

	do {
		if (crowded)
			sched_yield();
		msg = message(&iov, &control);
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (n < 0 && errno == EAGAIN);
	if (n != 1 || CMSG_FIRSTHDR(&msg) == NULL)
		return false;
	memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(*fd));
	return true;
}

static bool
take_region(struct end *end, bool crowded)
{
	return receive(end->sock, &end->fd[1], crowded) && map(end, 1, PROT_READ) &&
		end->mem[1][0] == 1;
}

static void
close_end(const struct end *end)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (end->mem[i] != NULL)
			munmap((void *)(uintptr_t)end->mem[i], REGION_SIZE);
		if (end->fd[i] >= 0)
			close(end->fd[i]);
	}
	if (end->sock >= 0)
		close(end->sock);
}

static bool
connect_once(struct end *end, const struct sockaddr_un *to, socklen_t len, bool crowded)
{
	end->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return end->sock >= 0 && make_region(end) &&
		connect(end->sock, (const struct sockaddr *)to, len) == 0 &&
		send_region(end) && take_region(end, crowded);
}

double
floor_connect_ask(int listener, uint32_t ms, bool crowded)
{
	struct sockaddr_un to;
	socklen_t len = sizeof(to);
	static struct hist hist;
	struct laps laps;
	struct end end;
	bool ok, over = false;

	ok = getsockname(listener, (struct sockaddr *)&to, &len) == 0;
	laps_init(&laps, &hist, ms * UINT64_C(1000), 0);
	while (ok && !over) {
		end = (struct end){ .sock = -1, .fd = { -1, -1 } };
		laps_begin(&laps);
		ok = connect_once(&end, &to, len, crowded);
		over = laps_round(&laps);
		close_end(&end);
	}
	return ok ? floor_whole(&hist) : -1;
}

void
floor_connect_serve(int listener, const _Atomic uint64_t *over, bool crowded)
{
	struct end end;

	while (atomic_load_explicit(over, memory_order_relaxed) == 0) {
		end = (struct end){ .fd = { -1, -1 } };
		if (crowded)
			sched_yield();
		end.sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (end.sock < 0)
			continue;
		if (make_region(&end) && take_region(&end, crowded) && send_region(&end)) {
			/* Until the client closes. */
			int none = -1;

			(void)receive(end.sock, &none, crowded);
		}
		close_end(&end);
	}
}
