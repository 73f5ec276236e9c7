/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Full queues: a short count, nothing lost, and on it goes. */

#include <stdlib.h>

#include "conf.h"

/* Offer counted messages from *next* on until one is not taken. */
static unsigned int
offer_all(struct rte_comch_conn *conn, uint32_t *next, uint32_t end, uint32_t flags)
{
	unsigned int n = 0;

	while (*next < end && t_offer(conn, next, sizeof(*next), *next, flags)) {
		(*next)++;
		n++;
	}
	return n;
}

void
conf_credit_full_queue(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 4, .client.send_queue = 8 };
	struct rte_comch_conn_stats st;
	uint32_t next = 0, k;
	struct t_pair p;

	t_pair_open(&p, &conf);
	k = offer_all(p.cconn, &next, 64, 0);
	T_GE(k, 1);
	/* What the peer queues and what we queue, and no more. */
	T_LE(k, 4 + 8);
	t_steps(p.host, 100);
	k += offer_all(p.cconn, &next, 64, 0);
	T_LE(k, 4 + 8);
	/* Full stays full, whatever is offered. */
	T_CHECK(!t_offer(p.cconn, NULL, 0, 0, 0));
	T_CHECK(!t_offer(p.cconn, NULL, 0, 0, RTE_COMCH_MSG_F_SILENT));
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 0);
	T_EQ(rte_comch_conn_stats_get(p.cconn, &st), 0);
	T_GE(st.tx_full, 1);
	T_EQ(st.in_flight, k);
	while (next < 64) {
		offer_all(p.cconn, &next, 64, 0);
		T_UNTIL(t_step_all() == 0);
	}
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 64);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 64);
	conf_check_counting(p.dpu);
	t_pair_close(&p);
}

static void
flood(uint32_t depth, uint32_t nb)
{
	struct t_pair_conf conf = {
		.server = { .recv_queue = depth, .send_queue = depth },
		.client = { .recv_queue = depth, .send_queue = depth },
	};
	uint32_t s = 0, c = 0;
	struct t_pair p;

	t_pair_open(&p, &conf);
	while (s < nb || c < nb) {
		offer_all(p.cconn, &c, nb, 0);
		offer_all(p.sconn, &s, nb, 0);
		t_step_all();
	}
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_SENT, NULL) == nb &&
			t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == nb);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), nb);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL), nb);
	conf_check_counting(p.dpu);
	conf_check_counting(p.host);
	t_pair_close(&p);
}

CONF_CASE(credit, flood_one_deep, flood(1, 1000))
CONF_CASE(credit, flood_odd_depth, flood(3, 2000); flood(7, 2000))
CONF_CASE(credit, flood_default, flood(0, 10000))

/* Messages without SENT take credits all the same, and give them back. */
void
conf_credit_silent_flood(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 4, .client.send_queue = 4 };
	uint32_t next = 0;
	struct t_pair p;

	t_pair_open(&p, &conf);
	T_LE(offer_all(p.cconn, &next, 1000, RTE_COMCH_MSG_F_SILENT), 8);
	while (next < 1000) {
		offer_all(p.cconn, &next, 1000, RTE_COMCH_MSG_F_SILENT);
		t_step_all();
	}
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 1000);
	conf_check_counting(p.dpu);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 0);
	t_pair_close(&p);
}

/* The greatest messages fill bytes before they fill the count. */
void
conf_credit_big_messages(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 64 };
	struct rte_comch_conn_info info;
	uint32_t sent = 0, i;
	const struct t_ev *ev;
	struct t_pair p;
	uint8_t *buf;

	t_pair_open(&p, &conf);
	T_EQ(rte_comch_conn_info_get(p.cconn, &info), 0);
	buf = malloc(info.max_msg_size);
	T_CHECK(buf != NULL);
	while (sent < 500) {
		t_fill(buf, info.max_msg_size, sent);
		if (t_offer(p.cconn, buf, info.max_msg_size, sent, 0))
			sent++;
		else
			t_step_all();
	}
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == sent);
	for (i = 0; i < sent; i++) {
		ev = t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, i);
		T_EQ(ev->len, info.max_msg_size);
		T_VERIFY(ev->data, ev->len, i);
	}
	free(buf);
	t_pair_close(&p);
}

/*
 * A queue is so many messages, whatever their size, as far as the driver's
 * ring goes: three of the longest at least. The rest is "later", not lost.
 */
void
conf_credit_depth_of_big(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 16, .client.send_queue = 16 };
	struct rte_comch_conn_info info;
	uint32_t taken = 0;
	struct t_pair p;
	uint8_t *buf;

	t_pair_open(&p, &conf);
	T_EQ(rte_comch_conn_info_get(p.cconn, &info), 0);
	buf = calloc(1, info.max_msg_size);
	T_CHECK(buf != NULL);
	while (taken < 16 && t_offer(p.cconn, buf, info.max_msg_size, taken, 0))
		taken++;
	T_GE(taken, 3);
	while (taken < 16) {
		t_step_all();
		taken += t_offer(p.cconn, buf, info.max_msg_size, taken, 0);
	}
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 16);
	free(buf);
	t_pair_close(&p);
}

/* A receiver that takes one event at a time, then none for a while. */
void
conf_credit_slow_receiver(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 8, .client.send_queue = 8 };
	unsigned int round;
	uint32_t next = 0;
	struct t_pair p;

	t_pair_open(&p, &conf);
	p.dpu->paused = true;
	for (round = 0; next < 300; round++) {
		offer_all(p.cconn, &next, 300, 0);
		t_step(p.host);
		if (round % 3 == 0)
			t_step_max(p.dpu, 1);
	}
	p.dpu->paused = false;
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 300);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 300);
	conf_check_counting(p.dpu);
	t_pair_close(&p);
}

/* A sender that does not run its poll is neither told nor blocks the peer. */
void
conf_credit_sender_asleep(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 4, .client.send_queue = 64 };
	uint32_t next = 0, k;
	struct t_pair p;

	t_pair_open(&p, &conf);
	k = offer_all(p.cconn, &next, 64, 0);
	p.host->paused = true;
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) >= RTE_MIN(k, 4U));
	/* The peer can send meanwhile, until its own queue is full. */
	next = 0;
	T_GE(offer_all(p.sconn, &next, 1000, 0), 1);
	T_LT(next, 1000);
	p.host->paused = false;
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == k);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL) == next);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), k);
	t_pair_close(&p);
}

/* Two connections of one poll: a flood on one does not starve the other. */
void
conf_credit_fair(void)
{
	struct rte_comch_client *second;
	uint32_t flooded = 0, asked = 0;
	struct rte_comch_conn *calm;
	struct t_pair p;

	t_pair_open(&p, NULL);
	second = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(second), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	calm = t_find(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	T_UNTIL(rte_comch_client_state(second) == RTE_COMCH_STATE_RUNNING);
	while (asked < 20) {
		t_send(rte_comch_client_conn(second), &asked, sizeof(asked), asked);
		asked++;
		while (t_count(p.dpu, RTE_COMCH_EVENT_MSG, calm) < asked) {
			offer_all(p.cconn, &flooded, UINT32_MAX, 0);
			t_step_max(p.dpu, 8);
			t_step(p.host);
			/* It had a hundred times its share meanwhile. */
			T_LT(p.dpu->nb_evs, 100000);
		}
	}
	t_client_end(second);
	t_pair_close(&p);
}

#define NB_BUSY 16
#define NB_ROUNDS 8
/* Until a client that does nothing counts as idle, and more. */
#define NB_RUNS 200

/* Clients that send all that they can. */
struct busy {
	struct rte_comch_client *client[NB_BUSY];
	uint32_t next[NB_BUSY];
	bool is_late; /* the driver may deliver later */
};

static void
busy_start(struct busy *b, struct t_pair *p)
{
	unsigned int i;

	for (i = 0; i < NB_BUSY; i++) {
		b->client[i] = t_client_new(p->host, p->host_dev, T_NAME, NULL);
		T_EQ(rte_comch_client_start(b->client[i]), -EINPROGRESS);
		T_UNTIL(rte_comch_client_state(b->client[i]) == RTE_COMCH_STATE_RUNNING);
	}
	b->is_late = getenv("T_KEYS") != NULL || (t_driver->deliver != NULL ?
			!t_driver->deliver() : t_driver->wakes_itself);
}

/* They do so, all of it arrives, and the server runs once. */
static void
busy_run(struct busy *b, struct t_pair *p)
{
	unsigned int i;

	for (i = 0; i < NB_BUSY; i++)
		offer_all(rte_comch_client_conn(b->client[i]), &b->next[i], UINT32_MAX,
			RTE_COMCH_MSG_F_SILENT);
	t_step(p->host);
	t_forget(p->host);
	if (t_driver->deliver != NULL)
		t_driver->deliver();
	t_step_max(p->dpu, 32);
}

/* A client that was idle beside them is heard in the second run after its message is there. */
void
conf_credit_idle_among_busy(void)
{
	unsigned int i, k, most = 0;
	struct busy b = { 0 };
	struct t_pair p;

	t_pair_open(&p, NULL);
	busy_start(&b, &p);
	for (i = 0; i < NB_ROUNDS; i++) {
		for (k = 0; k < NB_RUNS; k++)
			busy_run(&b, &p);
		t_forget(p.dpu);
		t_send(p.cconn, "help", 4, i);
		for (k = 0; t_count(p.dpu, RTE_COMCH_EVENT_MSG, p.sconn) == 0; k++) {
			busy_run(&b, &p);
			T_LT(k, 100000);
		}
		most = RTE_MAX(most, k);
	}
	fprintf(stderr, "heard within %u runs\n", most);
	if (!b.is_late)
		T_LE(most, 2);
	for (i = 0; i < NB_BUSY; i++)
		t_client_end(b.client[i]);
	t_pair_close(&p);
}
