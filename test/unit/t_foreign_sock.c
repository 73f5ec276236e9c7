/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Which sockets may be closed by a thread that must not block. comch_foreign_sock.c. */

#include <criterion/criterion.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "t.h"

#include "sdk/comch_foreign_private.h"


static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM, SOCK_DGRAM };

static void
put(int sock, size_t len, int fd)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)"x", .iov_len = len };
	union comch_foreign_control control;
	struct msghdr msg;

	comch_foreign_pack(&msg, &iov, &control, &fd, fd >= 0);
	T_EQ(sendmsg(sock, &msg, MSG_NOSIGNAL), (ssize_t)len);
}

Test(foreign_sock, empty)
{
	unsigned int i;
	int sv[2];

	for (i = 0; i < RTE_DIM(types); i++) {
		T_EQ(socketpair(AF_UNIX, types[i], 0, sv), 0);
		T_CHECK(comch_foreign_is_drained(sv[0]) == (types[i] == SOCK_SEQPACKET));
		/* Nothing can be added. */
		T_EQ(send(sv[1], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT), -1);
		close(sv[0]);
		close(sv[1]);
	}
}

/* The peer is gone. It may have left unread data, which is an error for us. */
Test(foreign_sock, peer_gone)
{
	unsigned int unread;
	int sv[2];

	for (unread = 0; unread < 2; unread++) {
		T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv), 0);
		if (unread)
			put(sv[0], 1, -1);
		close(sv[1]);
		T_CHECK(comch_foreign_is_drained(sv[0]));
		close(sv[0]);
	}
}

/* Messages, also those that look like the end of a stream. */
Test(foreign_sock, not_empty)
{
	unsigned int i, how;
	int sv[2];

	for (i = 0; i < 2; i++)
		for (how = 0; how < 4; how++) {
			T_EQ(socketpair(AF_UNIX, types[i], 0, sv), 0);
			switch (how) {
			case 0:
				put(sv[1], 1, -1);
				break;
			case 1:
				put(sv[1], 1, sv[1]);
				break;
			case 2: /* an empty message, in front of one with a descriptor */
				put(sv[1], types[i] == SOCK_SEQPACKET ? 0 : 1, -1);
				put(sv[1], 1, sv[1]);
				break;
			default:
				put(sv[1], types[i] == SOCK_SEQPACKET ? 0 : 1, sv[1]);
			}
			T_CHECK(!comch_foreign_is_drained(sv[0]));
			close(sv[1]);
			T_CHECK(!comch_foreign_is_drained(sv[0]));
			close(sv[0]);
		}
}

/* Its queue are connections, and what they have sent. */
Test(foreign_sock, listener)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "" };
	socklen_t len = sizeof(addr.sun_family);
	int sock[2];

	sock[0] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	sock[1] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	/* A name of the kernel's choice. */
	T_EQ(bind(sock[0], (struct sockaddr *)&addr, len), 0);
	T_EQ(listen(sock[0], 1), 0);
	len = sizeof(addr);
	T_EQ(getsockname(sock[0], (struct sockaddr *)&addr, &len), 0);
	T_EQ(connect(sock[1], (struct sockaddr *)&addr, len), 0);
	put(sock[1], 1, sock[1]);
	T_CHECK(!comch_foreign_is_drained(sock[0]));
	close(sock[0]);
	close(sock[1]);
}

Test(foreign_sock, no_socket)
{
	int fds[2];

	T_EQ(pipe(fds), 0);
	T_CHECK(!comch_foreign_is_drained(fds[0]));
	close(fds[0]);
	close(fds[1]);
}
