/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A peer that speaks the protocol by hand, in a process of its own, killed on entry to and exit
 * from each of its system calls, and some instructions later.
 */

#include "steps.h"
#include "t_proc.h"
#include "victim.h"

V_SUITE(deaths);

#define NB_STEPS 9
/* A little, and another number each time. */
#define INSNS(k) ((k) * 37 % 400)

/* The victim runs at a mark. */
#define AWAIT(cond) \
	do { \
		while (!(cond)) \
			steps_mark(); \
	} while (0)

/* In the child: no EAL call. */
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
		AWAIT(raw_is_up(a));
		break;
	case 4:
		raw_send_hello(a, V_NAME, 4080, 64);
		break;
	case 5:
		AWAIT(raw_recv(a, &f));
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
		AWAIT(raw_recv(a, &f));
		raw_send_id(a, COMCH_WIRE_CONSUMER_GONE, 1);
		break;
	}
}

/* All steps, then wait to be killed. */
static int
attacker(int fd, void *arg)
{
	struct raw_peer a;
	struct raw_cons c;
	unsigned int i;

	RTE_SET_USED(arg);
	t_hear(fd, 'G');
	for (i = 0; i < NB_STEPS; i++)
		attacker_step(&a, &c, i);
	t_say(fd, 'E', 0);
	for (;;)
		steps_mark();
	return 1;
}

/* After k calls; false: there are less. */
static bool
die_at(struct victim *v, unsigned int k)
{
	struct t_step end = { 0 };
	unsigned int i = 0, insns;
	struct t_proc p;

	t_proc_start(&p, "attacker", attacker, NULL);
	steps_begin(&p);
	t_say(p.fd, 'G', 0);
	while (i < k && !t_listen(p.fd, &end)) {
		if (steps_one(&p, STEPS_CALLS))
			i++;
		else
			i -= STEPS_OF_MARK;
		t_step_all();
	}
	for (insns = INSNS(k); insns > 0 && end.code == 0; insns--)
		steps_one(&p, STEPS_INSNS);
	t_proc_kill(&p);
	T_UNTIL(rte_comch_server_nb_conns(v->p.server) == 1);
	v_check(v);
	return end.code == 0;
}

Test(deaths, each_step)
{
	unsigned int k = 1;
	struct victim v;

	v_open(&v, NULL);
	while (die_at(&v, k))
		k++;
	/* It does more than that. */
	T_GT(k, 40);
	v_close(&v);
}
