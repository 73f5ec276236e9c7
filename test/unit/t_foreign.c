/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Messages with descriptors, received by the threads. comch_foreign.c, comch_foreign_threads.c. */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "sdk/comch_foreign.h"
#include "t.h"

static bool
no_news(void *ctx, bool can_wake)
{
	RTE_SET_USED(ctx);
	RTE_SET_USED(can_wake);
	return false;
}

static void
send_fd(int sock, int fd)
{
	struct iovec iov = { .iov_base = &(char){ 'm' }, .iov_len = 1 };
	union comch_foreign_control control;
	struct msghdr msg;

	comch_foreign_pack(&msg, &iov, &control, &fd, 1);
	cr_assert_eq(sendmsg(sock, &msg, 0), 1);
}

/* The kernel reports unread data of a peer that is gone first, once, and then its messages. */
Test(foreign, last_message_of_a_peer_that_left_data_unread)
{
	struct comch_foreign_peer peer = { 0 };
	struct comch_foreign_job *job;
	struct comch_foreign_msg msg;
	int sv[2], fd;

	t_eal_start(1);
	cr_assert_eq(comch_foreign_start(), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv), 0);
	fd = memfd_create("t_foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert(fd >= 0);
	send_fd(sv[1], fd);
	cr_assert_eq(send(sv[0], "x", 1, 0), 1);
	close(sv[1]);
	cr_assert_eq(comch_foreign_recv(sv[0], &peer, NULL, no_news, NULL, &job), 0);
	T_AWAIT(comch_foreign_take(job, &msg) == 0);
	cr_assert_eq(msg.len, 1, "%d", msg.len);
	cr_assert_eq(msg.nb_fds, 1);
	cr_assert_eq(msg.data[0], 'm');
	close(msg.fds[0]);
	comch_foreign_unmap(&msg);
	cr_assert_eq(comch_foreign_next(sv[0]), COMCH_FOREIGN_END);
	close(sv[0]);
	close(fd);
	t_eal_stop();
}
