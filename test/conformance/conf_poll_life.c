/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Polls that sleep whenever they can, and one that changes threads; group poll. */

#include <pthread.h>

#include "conf.h"

/* A whole life that sleeps whenever it can: nothing is ever missed. */
void
conf_poll_sleepy_life(void)
{
	struct t_pair_conf conf = {
		.server.recv_queue = 2, .client.send_queue = 2,
		.client.connect_timeout_ms = 20000,
	};
	uint32_t i, sent = 0;
	struct t_pair p;

	t_pair_devs(&p, &conf);
	p.client = t_client_new(p.host, p.host_dev, T_NAME, &conf.client);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	/* Without a server, the client is woken by its own clock. */
	t_step_all();
	p.server = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0, &conf.server);
	T_SLEEP_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING &&
			t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	p.cconn = rte_comch_client_conn(p.client);
	p.sconn = t_find(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	while (sent < 500) {
		while (sent < 500 && t_offer(p.cconn, &sent, sizeof(sent), sent, 0))
			sent++;
		i = t_count(p.host, RTE_COMCH_EVENT_SENT, NULL);
		T_SLEEP_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) > i);
	}
	T_SLEEP_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 500);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 500);
	conf_check_counting(p.dpu);
	T_EQ(rte_comch_conn_disconnect(p.sconn, "enough"), -EINPROGRESS);
	T_SLEEP_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1 &&
			rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	t_pair_close(&p);
}

void
conf_poll_sleepy_timeout(void)
{
	struct t_pair_conf conf = { .client.connect_timeout_ms = 100 };
	struct t_pair p;

	t_pair_devs(&p, &conf);
	p.client = t_client_new(p.host, p.host_dev, T_NAME, &conf.client);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_SLEEP_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE &&
			t_state_ev(p.host, p.client) != NULL);
	t_pair_close(&p);
}

void
conf_poll_sleepy_data(void)
{
	struct rte_comch_cpl cpl;
	unsigned int i;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < t_repeat(500); i++) {
		T_EQ(t_post(&f, 0, 64, i), 1);
		T_SLEEP_UNTIL(t_put(&f, 0, 64, i) == 1);
		T_SLEEP_UNTIL(rte_comch_consumer_recv_burst(f.cons, &cpl, 1) == 1);
		T_EQ(cpl.cookie, i);
		T_SLEEP_UNTIL(rte_comch_producer_done_burst(f.prod, &cpl, 1) == 1);
	}
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	T_SLEEP_UNTIL(rte_comch_consumer_recv_burst(f.cons, &cpl, 1) == 0 &&
			rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	t_flow_close(&f);
	t_pair_close(&p);
}

struct handover {
	struct rte_comch_poll *poll;
	struct rte_comch_conn *conn;
	unsigned int got;
};

static void *
handover_main(void *arg)
{
	const uint64_t end = t_deadline();
	struct handover *h = arg;
	struct rte_comch_event evs[4];
	uint16_t i, n;

	h->got = 0;
	while (h->got < 10 && t_now_ms() < end) {
		n = rte_comch_poll_run(h->poll, evs, RTE_DIM(evs));
		for (i = 0; i < n; i++)
			if (evs[i].type == RTE_COMCH_EVENT_MSG &&
					t_offer(h->conn, evs[i].msg.data, evs[i].msg.len,
						h->got, RTE_COMCH_MSG_F_SILENT))
				h->got++;
	}
	return NULL;
}

/* A poll may go from thread to thread, one at a time. */
void
conf_poll_handover(void)
{
	struct handover h;
	unsigned int round, i;
	pthread_t th;
	struct t_pair p;

	t_pair_open(&p, NULL);
	h.poll = p.dpu->poll;
	h.conn = p.sconn;
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 10; i++)
			t_send(p.cconn, &i, sizeof(i), i);
		T_EQ(pthread_create(&th, NULL, handover_main, &h), 0);
		T_EQ(pthread_join(th, NULL), 0);
		T_EQ(h.got, 10);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL) == 10 * (round + 1));
	}
	t_pair_close(&p);
}
