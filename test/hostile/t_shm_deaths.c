/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* An attacker in a process of its own, killed at each step of a session. */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(deaths);

#define NB_STEPS 9

/* In the child: no check of the test's may run here, and no EAL call. */
static void
attacker_step(struct raw_peer *a, struct raw_cons *c, unsigned int step)
{
	struct raw_frame f;

	switch (step) {
	case 0:
		*a = (struct raw_peer){ .own_fd = -1 };
		a->sock = raw_dial(t_dir(), "pf0", V_NAME);
		break;
	case 1:
		raw_prepare(a, a->sock, RAW_CELLS);
		break;
	case 2:
		raw_hello(a);
		break;
	case 3:
		while (!raw_is_up(a))
			;
		break;
	case 4:
		raw_send_hello(a, V_NAME, 4080, 64);
		break;
	case 5:
		while (!raw_recv(a, &f))
			;
		break;
	case 6:
		raw_send_msg(a, "x", 1);
		raw_send_mr_add(a, 0, 0, 4096, a->own_fd);
		break;
	case 7:
		raw_cons_new(c, 1, 64, 64, 4096);
		raw_cons_announce(a, c);
		break;
	default:
		while (!raw_recv(a, &f))
			;
		raw_send_id(a, COMCH_WIRE_CONSUMER_GONE, 1);
		break;
	}
}

/* Do k steps, say so, and wait to be killed. */
static void
attacker(unsigned int k, int fd)
{
	struct raw_peer a;
	struct raw_cons c;
	unsigned int i;

	for (i = 0; i <= k; i++)
		attacker_step(&a, &c, i);
	if (write(fd, "k", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void
die_at(struct victim *v, unsigned int k)
{
	int fds[2], status = 0;
	pid_t pid;
	char c;

	T_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0)
		attacker(k, fds[1]);
	T_UNTIL(read(fds[0], &c, 1) == 1 || waitpid(pid, &status, WNOHANG) == pid);
	if (status != 0)
		T_FAIL("the attacker ended by itself at step %u: status %#x", k,
			(unsigned int)status);
	T_EQ(kill(pid, SIGKILL), 0);
	T_EQ(waitpid(pid, NULL, 0), pid);
	close(fds[0]);
	close(fds[1]);
	T_UNTIL(rte_comch_server_nb_conns(v->p.server) == 1);
	v_check(v);
}

Test(deaths, each_step)
{
	unsigned int k, round;
	struct victim v;

	v_open(&v, NULL);
	for (round = 0; round < 3; round++)
		for (k = 0; k < NB_STEPS; k++)
			die_at(&v, k);
	v_close(&v);
}
