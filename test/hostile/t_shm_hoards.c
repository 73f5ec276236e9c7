/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A process takes all the scarce resources it can; others still get their share. */

#include "attacks.h"
#include "victim.h"

V_SUITE(hoards);

/* Descriptors of the victim's process; the hoarder has more. */
#define NB_FILES 512

/* A client and all that it needs: a connection, a consumer, a producer, a message. */
static void
have_one_more(struct victim *v)
{
	struct rte_comch_client *c = t_client_new(v->p.host, v->p.host_dev, V_NAME, NULL);
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;

	T_EQ(rte_comch_client_start(c), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(c) == RTE_COMCH_STATE_RUNNING);
	cons = t_consumer_new(rte_comch_client_conn(c), NULL, NULL);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	prod = t_producer_new(rte_comch_client_conn(c), NULL);
	T_UNTIL(rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING);
	t_producer_end(prod);
	t_consumer_end(cons);
	t_client_end(c);
	t_forget(v->p.dpu);
	t_forget(v->p.host);
}

static void
besieged(const struct attack *attack)
{
	const struct t_pair_conf conf = { .server.max_clients = 4096 };
	struct t_proc p;
	struct victim v;
	unsigned int i, k;

	T_CHECK(t_nofile_set(attack->nofile));
	v_open(&v, &conf);
	t_proc_start(&p, attack->name, attack_run, (void *)(uintptr_t)attack);
	T_CHECK(t_nofile_set(NB_FILES));
	/* It has most of what it can have. */
	while (t_fd_count() < NB_FILES / 3)
		v_trip(&v);
	for (i = 0; i < 20; i++) {
		have_one_more(&v);
		for (k = 0; k < 100; k++)
			v_trip(&v);
	}
	t_say(p.fd, 'E', 0);
	T_UNTIL(t_proc_has_ended(&p));
	t_proc_join(&p);
	v_close(&v);
}

Test(hoards, connections)
{
	besieged(&attack_connections);
}

Test(hoards, producers)
{
	besieged(&attack_producers);
}

Test(hoards, frameless)
{
	besieged(&attack_frameless);
}
