/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Turns: whatever busy clients do, each client is heard within a number of runs. */

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/comch_poll.h"
#include "victim.h"

V_SUITE(turns);

#define MAX_BUSY 16
/* Of the scheduler: idle clients that one run looks at, and one after a full run. */
#define COLD_PER_RUN 2
#define COLD_PER_FULL_RUN 8
/* And runs after which a client counts as idle. */
#define HOT_RUNS 64

/* Clients that always have messages of this size under way. */
struct busy {
	struct rte_comch_client *client[MAX_BUSY];
	struct rte_comch_conn *theirs[MAX_BUSY];
	struct rte_comch_conn *ours[MAX_BUSY];
	unsigned int nb;
	uint8_t *data;
	uint32_t len;
	uint16_t max;        /* events of a run of the server */
	bool answers;        /* the server answers each message */
	uintptr_t begin;     /* where the data of a run is */
	uintptr_t end;
};

static void
on_server_event(struct t_node *node, const struct rte_comch_event *ev)
{
	struct busy *b = node->hook_arg;

	if (ev->type != RTE_COMCH_EVENT_MSG)
		return;
	b->begin = RTE_MIN(b->begin, (uintptr_t)ev->msg.data);
	b->end = RTE_MAX(b->end, (uintptr_t)ev->msg.data + ev->msg.len);
	if (b->answers)
		t_offer(ev->conn, "answer", 6, 0, 0);
}

static void
busy_open(struct busy *b, struct victim *v)
{
	const struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf), .max_msg_size = b->len,
	};
	unsigned int i;

	b->data = calloc(1, b->len);
	T_CHECK(b->data != NULL);
	for (i = 0; i < b->nb; i++) {
		b->client[i] = t_client_new(v->p.host, v->p.host_dev, V_NAME, &conf);
		t_forget(v->p.dpu);
		T_EQ(rte_comch_client_start(b->client[i]), -EINPROGRESS);
		T_UNTIL(t_state_is(v->p.host, b->client[i], RTE_COMCH_STATE_RUNNING) &&
			t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
		b->theirs[i] = rte_comch_client_conn(b->client[i]);
		b->ours[i] = t_find(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	}
	v->p.dpu->hook = on_server_event;
	v->p.dpu->hook_arg = b;
}

static void
busy_close(struct busy *b, struct victim *v)
{
	unsigned int i;

	v->p.dpu->hook = NULL;
	for (i = 0; i < b->nb; i++)
		t_client_end(b->client[i]);
	free(b->data);
}

/* All clients send what they can, then the server runs once. */
static void
busy_run(struct busy *b, struct victim *v)
{
	unsigned int i;

	for (i = 0; i < b->nb; i++)
		while (t_offer(b->theirs[i], b->data, b->len, 0, RTE_COMCH_MSG_F_SILENT))
			;
	b->begin = UINTPTR_MAX;
	b->end = 0;
	t_step_max(v->p.dpu, b->max);
	/* All of it is in the arena. */
	if (b->end > b->begin)
		T_LE(b->end - b->begin, COMCH_POLL_ARENA);
	t_step(v->p.host);
	t_forget(v->p.host);
}

/* Each of the clients that are as busy gets as much. */
static void
equal_turns(struct busy *b, struct victim *v)
{
	unsigned int i, n, least = UINT_MAX, most = 0;

	t_forget(v->p.dpu);
	for (i = 0; i < 40 * MAX_BUSY; i++)
		busy_run(b, v);
	for (i = 0; i < b->nb; i++) {
		n = t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, b->ours[i]);
		least = RTE_MIN(least, n);
		most = RTE_MAX(most, n);
	}
	if (least == 0 || most > 2 * least)
		T_FAIL("%u to %u messages of each client", least, most);
}

/* So does one that was idle, after a run that was full before its turn at most. */
static void
idle_is_heard(struct busy *b, struct victim *v)
{
	unsigned int i, heard = 0;

	t_forget(v->p.dpu);
	t_send(v->p.cconn, "help", 4, 1);
	for (i = 0; i < 100 && heard == 0; i++) {
		busy_run(b, v);
		heard = t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, v->p.sconn);
	}
	if (heard == 0 || i > 2)
		T_FAIL("the idle client was heard in run %u", i);
}

static void
turns_of(unsigned int nb, uint32_t len, uint16_t max, bool answers)
{
	const struct t_pair_conf conf = {
		.dpu_args = ",max_msg_size=131072", .host_args = ",max_msg_size=131072",
		.server.max_msg_size = len,
	};
	struct busy b = { .nb = nb, .len = len, .max = max, .answers = answers };
	struct victim v;
	unsigned int i;

	v_open(&v, &conf);
	busy_open(&b, &v);
	for (i = 0; i < 500; i++)
		busy_run(&b, &v);
	equal_turns(&b, &v);
	idle_is_heard(&b, &v);
	busy_close(&b, &v);
	v_close(&v);
}

Test(turns, turns_of_small)
{
	turns_of(MAX_BUSY, 16, 32, false);
}

Test(turns, turns_of_large)
{
	turns_of(MAX_BUSY, 4080, 256, false);
}

/* Not a whole number of cache lines, of which the data of a run consists. */
Test(turns, turns_of_odd)
{
	turns_of(MAX_BUSY, 1000, 256, false);
	turns_of(MAX_BUSY, 4030, 256, false);
}

/* Two messages fill a run. */
Test(turns, turns_of_huge)
{
	turns_of(1, 131072 - 64, 32, false);
	turns_of(3, 131072 - 64, 32, false);
}

Test(turns, turns_in_small_runs)
{
	turns_of(MAX_BUSY, 16, 4, false);
}

/* The server's SENT events ask for another look at a client. */
Test(turns, turns_of_answered)
{
	turns_of(MAX_BUSY, 16, 32, true);
	turns_of(MAX_BUSY, 4080, 256, true);
}

/* A client fills each other run: the next one has room for all, and so ends the equal shares. */
static void
fill_by_turns(struct busy *b, struct victim *v, unsigned int run)
{
	unsigned int i;

	for (i = 0; run % 2 == 0 && i < b->max; i++)
		T_CHECK(t_offer(b->theirs[0], b->data, b->len, 0, RTE_COMCH_MSG_F_SILENT));
	t_step_max(v->p.dpu, b->max);
	t_step(v->p.host);
	t_forget(v->p.host);
}

/* A client has a message in each run, which is nowhere near full. */
static void
one_each_run(struct busy *b, struct victim *v, unsigned int run __rte_unused)
{
	t_send(b->theirs[0], b->data, b->len, 0);
	t_step_max(v->p.dpu, b->max);
	t_step(v->p.host);
	t_forget(v->p.host);
}

/* All but the first client are idle. Each is heard within that many of these runs. */
static void
idle_are_heard(struct busy *b, struct victim *v, unsigned int most,
		void (*step)(struct busy *b, struct victim *v, unsigned int run))
{
	unsigned int i, runs, run = 0;

	for (i = 1; i < b->nb; i++) {
		for (runs = 0; runs <= 2 * HOT_RUNS; runs++)
			step(b, v, run++);
		t_forget(v->p.dpu);
		t_send(b->theirs[i], "help", 4, 1);
		for (runs = 0; t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, b->ours[i]) == 0; runs++) {
			if (runs == most)
				T_FAIL("idle client %u was not heard in %u runs", i, most);
			step(b, v, run++);
		}
	}
}

/*
 * With the honest one, 16 are idle: two rounds of them. Meanwhile a stranger's handshake waits, for
 * which full runs go on, and do not take an idle client's turn.
 */
Test(turns, of_idle_clients)
{
	struct busy b = { .nb = MAX_BUSY, .len = 16, .max = 4 };
	struct victim v;
	int stranger;

	v_open(&v, NULL);
	busy_open(&b, &v);
	stranger = v_dial();
	t_settle();
	idle_are_heard(&b, &v, 1 + 2 * ((b.nb + COLD_PER_FULL_RUN - 1) / COLD_PER_FULL_RUN),
		fill_by_turns);
	close(stranger);
	busy_close(&b, &v);
	v_close(&v);
}

/* Fewer are looked at beside a client that is served at once, but each in its turn. */
Test(turns, of_idle_clients_beside_one_that_is_not)
{
	struct busy b = { .nb = MAX_BUSY, .len = 16, .max = 32 };
	struct victim v;

	v_open(&v, NULL);
	busy_open(&b, &v);
	idle_are_heard(&b, &v, 1 + (b.nb + COLD_PER_RUN - 1) / COLD_PER_RUN, one_each_run);
	busy_close(&b, &v);
	v_close(&v);
}

/* Nor do those beside it that are in the handshake, and those that are gone, take its turn. */
Test(turns, of_idle_clients_beside_strangers)
{
	struct busy b = { .nb = 3, .len = 16, .max = 32 }, gone = { .nb = MAX_BUSY, .len = 16 };
	int strangers[64];
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	busy_open(&gone, &v);
	busy_open(&b, &v);
	busy_close(&gone, &v);
	v.p.dpu->hook = on_server_event;
	for (i = 0; i < RTE_DIM(strangers); i++)
		strangers[i] = v_dial();
	t_settle();
	/* With the honest one and the first client, four are established. */
	idle_are_heard(&b, &v, 1 + (4 + COLD_PER_RUN - 1) / COLD_PER_RUN, one_each_run);
	for (i = 0; i < RTE_DIM(strangers); i++)
		close(strangers[i]);
	busy_close(&b, &v);
	v_close(&v);
}

/* A poll that is kept from sleeping by an idle client's message reads it in the next run. */
Test(turns, of_idle_clients_before_a_sleep)
{
	struct busy b = { .nb = MAX_BUSY, .len = 16, .max = 32 };
	struct victim v;
	unsigned int i, runs;

	v_open(&v, NULL);
	busy_open(&b, &v);
	for (runs = 0; runs <= 2 * HOT_RUNS; runs++)
		t_step(v.p.dpu);
	for (i = 0; i < b.nb; i++) {
		t_forget(v.p.dpu);
		t_send(b.theirs[i], "help", 4, 1);
		T_EQ(rte_comch_poll_arm(v.p.dpu->poll, RTE_COMCH_POLL_ANY), -EAGAIN);
		t_step_max(v.p.dpu, b.max);
		T_EQ(t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, b.ours[i]), 1);
	}
	busy_close(&b, &v);
	v_close(&v);
}

static uint32_t
largest_msg(const struct t_node *node)
{
	uint32_t len = 0;
	unsigned int i;

	for (i = 0; i < node->nb_evs; i++)
		if (node->evs[i].e.type == RTE_COMCH_EVENT_MSG)
			len = RTE_MAX(len, node->evs[i].len);
	return len;
}

/* Larger messages agreed by a client that connects while others fill the runs. */
Test(turns, large_messages_agreed_in_full_runs)
{
	const uint32_t len = 131072 - 64;
	const struct t_pair_conf conf = {
		.dpu_args = ",max_msg_size=131072", .host_args = ",max_msg_size=131072",
		.server.max_msg_size = len,
	};
	const struct rte_comch_client_conf large = {
		.conf_size = sizeof(large), .max_msg_size = len,
	};
	struct busy b = { .nb = MAX_BUSY, .len = 4080, .max = 256 };
	struct rte_comch_client *client;
	struct victim v;
	unsigned int i;
	uint8_t *data;

	v_open(&v, &conf);
	busy_open(&b, &v);
	for (i = 0; i < 50; i++)
		busy_run(&b, &v);
	client = t_client_new(v.p.host, v.p.host_dev, V_NAME, &large);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	for (i = 0; i < 100000 && rte_comch_client_state(client) != RTE_COMCH_STATE_RUNNING; i++)
		busy_run(&b, &v);
	T_EQ(rte_comch_client_state(client), RTE_COMCH_STATE_RUNNING);
	data = calloc(1, len);
	T_CHECK(data != NULL);
	t_send(rte_comch_client_conn(client), data, len, 0);
	free(data);
	busy_close(&b, &v);
	T_UNTIL(largest_msg(v.p.dpu) == len);
	t_client_end(client);
	v_close(&v);
}
