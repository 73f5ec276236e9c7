/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* One process takes all places of a server that it can get: others still get one. */

#include "comch/pair.h"
#include "common/file.h"
#include "t_proc.h"

/* As many as the server has places; the last sixteenth of them is for others. */
#define NB_PLACES 32
#define NB_OWN (NB_PLACES - NB_PLACES / 16)

static int
other_main(int fd, void *arg)
{
	struct side side;

	RTE_SET_USED(arg);
	t_hear(fd, 'G');
	client_create(&side, PAIR_NAME);
	T_IS(doca_ctx_start(side.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(side.pe), ctx_is_running(side.ctx));
	T_IS(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(side.pe), ctx_is_idle(side.ctx));
	side_destroy(&side);
	return 0;
}

/* behaviour: S12 */
T_CASE(some_are_for_others)
{
	static struct side more[NB_OWN];
	struct t_proc other;
	struct pair t;
	unsigned int i;

	device_table_write("[device dpu0]\npci = 0000:03:00.0\nargs = max_clients=32\n"
		"[function pf0]\npci = 0000:b1:00.0\nargs = max_msg_size=4080\n");
	t_proc_start(&other, "other", other_main, NULL);
	pair_open(&t);
	for (i = 0; i < NB_OWN; i++) {
		client_create_on(&more[i], PAIR_NAME, t.client.pe);
		T_IS(doca_ctx_start(more[i].ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(pair_progress(&t),
			ctx_is_running(more[i].ctx) || ctx_is_idle(more[i].ctx));
		/* The first one is the pair's. */
		T_EQ(ctx_is_running(more[i].ctx), i < NB_OWN - 1);
	}
	t_say(other.fd, 'G', 0);
	T_WAIT(pair_progress(&t), t.server.nb_connects == NB_OWN + 1);
	T_WAIT(pair_progress(&t), t_proc_has_ended(&other));
	t_proc_join(&other);
	for (i = 0; i < NB_OWN - 1; i++) {
		T_IS(doca_ctx_stop(more[i].ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(pair_progress(&t), ctx_is_idle(more[i].ctx));
	}
	for (i = 0; i < NB_OWN; i++)
		side_destroy(&more[i]);
	pair_close(&t);
}
