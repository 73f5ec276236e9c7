/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Clients that always send do not keep a server from hearing one that was idle. */

#include "comch/pair.h"

#define NB_BUSY 16
/* Tasks of each that are under way. */
#define NB_TASKS 4
/*
 * Calls of the server's progress, each for one event, in which the idle client is heard: in the
 * second run of the poll, and a run is for 16 events.
 */
#define MAX_CALLS 32
/* And those without it before: it counts as idle. */
#define NB_CALLS 500

struct turns {
	struct pair pair;
	struct side busy[NB_BUSY];
	struct doca_comch_connection *idle; /* the server's end */
	unsigned int nb_busy_msgs;
	bool is_ending;
	bool is_heard;
};

/* The same message again. */
static void
on_sent(struct side *side, struct doca_comch_task_send *task)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);
	const struct turns *turns = side->arg;

	if (turns->is_ending || doca_task_submit(t) != DOCA_SUCCESS)
		doca_task_free(t);
}

static void
on_msg(struct side *side, struct doca_comch_connection *conn, uint8_t *msg, uint32_t len)
{
	struct turns *turns = side->arg;

	RTE_SET_USED(msg);
	RTE_SET_USED(len);
	if (conn == turns->idle)
		turns->is_heard = true;
	else
		turns->nb_busy_msgs++;
}

/* All clients do what they can. */
static void
busy_progress(struct turns *t)
{
	unsigned int i;

	for (i = 0; i < 2 * NB_BUSY * NB_TASKS && doca_pe_progress(t->busy[0].pe) != 0; i++)
		;
}

static void
turns_open(struct turns *t)
{
	unsigned int i, k;

	pair_open(&t->pair);
	t->idle = t->pair.server.conn;
	t->pair.server.hooks.msg = on_msg;
	t->pair.server.arg = t;
	for (i = 0; i < NB_BUSY; i++) {
		if (i == 0)
			client_create(&t->busy[i], PAIR_NAME);
		else
			client_create_on(&t->busy[i], PAIR_NAME, t->busy[0].pe);
		t->busy[i].hooks.sent = on_sent;
		t->busy[i].arg = t;
		T_IS(doca_ctx_start(t->busy[i].ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(doca_pe_progress(t->busy[0].pe) | pair_progress(&t->pair),
			ctx_is_running(t->busy[i].ctx));
		for (k = 0; k < NB_TASKS; k++)
			side_send(&t->busy[i], "busy", 4);
	}
}

static void
turns_close(struct turns *t)
{
	unsigned int i;

	t->is_ending = true;
	for (i = 0; i < NB_BUSY; i++) {
		if (doca_ctx_stop(t->busy[i].ctx) != DOCA_SUCCESS)
			T_WAIT(doca_pe_progress(t->busy[0].pe) | pair_progress(&t->pair),
				ctx_is_idle(t->busy[i].ctx));
	}
	/* The first one has the engine. */
	for (i = NB_BUSY; i-- > 0;)
		side_destroy(&t->busy[i]);
	pair_close(&t->pair);
}

T_CASE_OF(struct turns, turns_open, turns_close, idle_is_heard, t)
{
	unsigned int round, i, calls, most = 0;

	for (round = 0; round < 20; round++) {
		/* Long enough for it to count as idle. */
		t->nb_busy_msgs = 0;
		for (i = 0; i < NB_CALLS; i++) {
			busy_progress(t);
			doca_pe_progress(t->pair.server.pe);
		}
		T_EQ(t->nb_busy_msgs, NB_CALLS);
		t->is_heard = false;
		side_send(&t->pair.client, "help", 4);
		for (calls = 0; !t->is_heard && calls < 1000; calls++) {
			busy_progress(t);
			doca_pe_progress(t->pair.server.pe);
		}
		most = RTE_MAX(most, calls);
		T_WAIT(pair_progress(&t->pair), t->pair.client.nb_sent == round + 1);
	}
	fprintf(stderr, "heard within %u calls\n", most);
	T_LE(most, MAX_CALLS);
}
