/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Peers whose hello cannot be answered at once: too many descriptors are in flight. */

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(unanswered);

/* Runs. */
#define SOON 1000

/* Answers that do not go out. */
static unsigned int nb_held;

/* Instead of libc's. */
ssize_t
sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (nb_held > 0 && msg->msg_iov->iov_len == sizeof(struct shm_hello)) {
		nb_held--;
		errno = ETOOMANYREFS;
		return -1;
	}
	return syscall(SYS_sendmsg, fd, msg, flags);
}

/* Hellos of which the first answers fail. */
static void
knock(struct raw_peer *a, unsigned int nb)
{
	raw_prepare(a, v_dial(), RAW_CELLS);
	raw_hello(a);
	nb_held = nb;
}

/* It is answered later. */
Test(unanswered, waits)
{
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	knock(&a, 3);
	T_UNTIL(raw_is_up(&a));
	T_EQ(nb_held, 0);
	v_check(&v);
	raw_close(&a);
	v_close(&v);
}

/* What follows the hello ends the link, and the answer does not begin it again. */
Test(unanswered, says_more)
{
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	knock(&a, 1);
	T_EQ(raw_sock_send(a.sock, "odd", 3, NULL, 0), 3);
	T_UNTIL(raw_is_up(&a));
	/* Not when its time for the handshake is over. */
	for (i = 0; i < SOON; i++)
		t_step(v.p.dpu);
	T_CHECK(raw_is_hung_up(&a));
	v_check(&v);
	raw_close(&a);
	v_close(&v);
}

/* It is gone before: the frame that it has left is not read. */
Test(unanswered, gone)
{
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	raw_prepare(&a, v_dial(), RAW_CELLS);
	raw_send_hello(&a, V_NAME, 4080, 64);
	raw_hello(&a);
	T_EQ(shutdown(a.sock, SHUT_RDWR), 0);
	t_step(v.p.dpu);
	T_UNTIL(rte_comch_server_nb_conns(v.p.server) == 1);
	v_check(&v);
	raw_close(&a);
	v_close(&v);
}
