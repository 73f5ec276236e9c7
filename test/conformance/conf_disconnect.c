/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Ends of connections: every message arrives first, DISCONNECTED comes last,
 * and it can begin anew. With producers and consumers: conf_disconnect_dp.c.
 */

#include <stdlib.h>

#include "conf.h"

void
conf_disconnect_by_server(void)
{
	struct rte_comch_client *other;
	struct rte_comch_conn_info info;
	const struct t_ev *ev;
	struct t_pair p;

	t_pair_open(&p, NULL);
	other = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(other), -EINPROGRESS);
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 2 &&
			rte_comch_client_state(other) == RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_conn_disconnect(NULL, NULL), -EINVAL);
	T_EQ(rte_comch_conn_disconnect(p.cconn, NULL), -ENOTSUP);
	T_EQ(rte_comch_conn_disconnect(p.sconn, "closing time"), -EINPROGRESS);
	T_EQ(rte_comch_conn_disconnect(p.sconn, "again"), -EBADFD);
	T_EQ(rte_comch_conn_info_get(p.sconn, &info), 0);
	T_CHECK(!info.established);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, p.sconn) == 1);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_state_is(p.host, p.client, RTE_COMCH_STATE_IDLE));
	conf_check_last(p.dpu, p.sconn);
	ev = conf_check_last(p.host, p.cconn);
	T_STR_HAS(ev->text, "closing time");
	T_LT(ev->e.status, 0);
	T_LT(t_pos(p.host, ev), t_pos(p.host, t_state_ev(p.host, p.client)));
	T_CHECK(rte_comch_client_conn(p.client) == NULL);
	/* The other one lives. */
	T_EQ(rte_comch_server_nb_conns(p.server), 1);
	t_send(rte_comch_client_conn(other), "x", 1, 5);
	T_UNTIL(conf_sent_status(p.host, 5) == 0);
	t_client_end(other);
	/* The same client object connects again. */
	t_pair_connect(&p);
	t_pair_close(&p);
}

/* Either end may end it as if it had been lost, with a consumer on it. */
static void
aborted(bool by_server)
{
	struct rte_comch_conn *from, *to;
	struct t_node *here, *there;
	struct t_pair p;
	struct t_flow f;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	from = by_server ? p.sconn : p.cconn;
	to = by_server ? p.cconn : p.sconn;
	here = by_server ? p.dpu : p.host;
	there = by_server ? p.host : p.dpu;
	T_EQ(rte_comch_conn_abort(NULL), -EINVAL);
	T_EQ(rte_comch_conn_abort(from), 0);
	T_EQ(rte_comch_conn_abort(from), 0);
	T_UNTIL(t_count(here, RTE_COMCH_EVENT_DISCONNECTED, from) == 1 &&
		t_count(there, RTE_COMCH_EVENT_DISCONNECTED, to) == 1);
	T_EQ(t_find(here, RTE_COMCH_EVENT_DISCONNECTED, from, 0)->e.status, -ECONNRESET);
	T_STR_HAS(t_find(here, RTE_COMCH_EVENT_DISCONNECTED, from, 0)->text, "aborted");
	T_EQ(t_find(there, RTE_COMCH_EVENT_DISCONNECTED, to, 0)->e.status, -ECONNRESET);
	t_flow_close(&f);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	/* Both ends can go on. */
	t_pair_connect(&p);
	t_pair_close(&p);
}

CONF_CASE(disconnect, aborted, aborted(true); aborted(false))

/* A last message before a disconnect is reported as sent or not. */
void
conf_disconnect_last_word(void)
{
	struct rte_comch_conn_info info;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_send(p.sconn, "bye", 3, 1);
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EBADFD);
	T_EQ(rte_comch_conn_info_get(p.sconn, &info), 0);
	T_CHECK(!info.established);
	/* No more words. */
	T_EQ(rte_comch_conn_send_burst(p.sconn, &(struct rte_comch_msg){ .data = "x", .len = 1 },
			1), 0);
	T_UNTIL(t_state_is(p.host, p.client, RTE_COMCH_STATE_IDLE) &&
			t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, p.sconn) == 1);
	T_EQ(conf_sent_status(p.dpu, 1), 0);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL), 1);
	/* The client's, and the server's to all. */
	t_pair_connect(&p);
	t_send(p.cconn, "bye", 3, 2);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_UNTIL(t_state_is(p.host, p.client, RTE_COMCH_STATE_IDLE) &&
			rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_EQ(conf_sent_status(p.host, 2), 0);
	t_pair_connect(&p);
	t_send(p.sconn, "bye", 3, 3);
	T_EQ(rte_comch_server_stop(p.server), -EINPROGRESS);
	T_UNTIL(rte_comch_server_state(p.server) == RTE_COMCH_STATE_IDLE &&
			rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_EQ(conf_sent_status(p.dpu, 3), 0);
	t_pair_close(&p);
}

/* One without SENT is delivered, too. */
void
conf_disconnect_unsent_last_word(void)
{
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_CHECK(t_offer(p.sconn, "bye", 3, 1, RTE_COMCH_MSG_F_NO_SENT));
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	T_UNTIL(t_state_is(p.host, p.client, RTE_COMCH_STATE_IDLE) &&
			t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, p.sconn) == 1);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL), 1);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_SENT, NULL), 0);
	t_pair_close(&p);
}

/* A pending silent message does not delay a disconnect. */
void
conf_disconnect_silent_last_word(void)
{
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	T_CHECK(t_offer(p.sconn, "bye", 3, 1, RTE_COMCH_MSG_F_SILENT));
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	/* The sender does nothing more: all is there. */
	for (i = 0; i < 100000 && t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, p.cconn) == 0; i++)
		t_step(p.host);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_MSG, p.cconn), 1);
	conf_check_last(p.host, p.cconn);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, p.sconn) == 1 &&
			t_state_is(p.host, p.client, RTE_COMCH_STATE_IDLE));
	t_pair_close(&p);
}

/* A peer that never reads does not block a disconnect for ever. */
void
conf_disconnect_deaf_peer(void)
{
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_send(p.sconn, "bye", 3, 1);
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	p.host->paused = true;
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, p.sconn) == 1);
	T_EQ(conf_sent_status(p.dpu, 1), -ECONNRESET);
	p.host->paused = false;
	t_pair_close(&p);
}

/* The connection is good until DISCONNECTED was returned and the next run begins. */
static void
last_look(struct t_node *node, const struct rte_comch_event *ev)
{
	struct rte_comch_conn_info info;

	if (ev->type != RTE_COMCH_EVENT_DISCONNECTED)
		return;
	T_EQ(rte_comch_conn_info_get(ev->conn, &info), 0);
	T_CHECK(!info.established);
	T_STR_HAS(info.reason, "because");
	T_EQ(rte_comch_conn_user_data_get(ev->conn), 31);
	(*(unsigned int *)node->hook_arg)++;
}

void
conf_disconnect_last_look(void)
{
	unsigned int seen = 0;
	struct t_pair p;

	t_pair_open(&p, NULL);
	p.dpu->hook = last_look;
	p.dpu->hook_arg = &seen;
	p.host->hook = last_look;
	p.host->hook_arg = &seen;
	rte_comch_conn_user_data_set(p.sconn, 31);
	rte_comch_conn_user_data_set(p.cconn, 31);
	T_EQ(rte_comch_conn_disconnect(p.sconn, "because"), -EINPROGRESS);
	T_UNTIL(seen == 2);
	p.dpu->hook = NULL;
	p.host->hook = NULL;
	t_pair_close(&p);
}

void
conf_disconnect_by_client(void)
{
	struct rte_comch_conn *cconn;
	struct rte_comch_server_stats st;
	struct t_pair p;

	t_pair_open(&p, NULL);
	cconn = p.cconn;
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE &&
			t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	conf_check_last(p.host, cconn);
	conf_check_last(p.dpu, p.sconn);
	T_EQ(t_state_ev(p.host, p.client)->e.status, 0);
	T_EQ(rte_comch_server_nb_conns(p.server), 0);
	T_EQ(rte_comch_server_stats_get(p.server, &st), 0);
	T_EQ(st.accepted, 1);
	T_EQ(st.disconnected, 1);
	T_EQ(st.refused, 0);
	T_EQ(rte_comch_server_stats_get(NULL, &st), -EINVAL);
	T_EQ(rte_comch_server_stats_get(p.server, NULL), -EINVAL);
	t_pair_close(&p);
}

void
conf_disconnect_server_stop(void)
{
	enum { NB = 5 };
	struct rte_comch_client *client[NB];
	const struct t_ev *ev;
	struct t_pair p;
	unsigned int i;

	t_pair_ends(&p, NULL);
	for (i = 0; i < NB; i++) {
		client[i] = t_client_new(p.host, p.host_dev, T_NAME, NULL);
		T_EQ(rte_comch_client_start(client[i]), -EINPROGRESS);
		T_UNTIL(rte_comch_client_state(client[i]) == RTE_COMCH_STATE_RUNNING);
	}
	T_UNTIL(rte_comch_server_nb_conns(p.server) == NB);
	T_EQ(rte_comch_server_stop(p.server), -EINPROGRESS);
	T_EQ(rte_comch_server_state(p.server), RTE_COMCH_STATE_STOPPING);
	T_EQ(rte_comch_server_stop(p.server), -EBADFD);
	T_EQ(rte_comch_server_start(p.server), -EBADFD);
	T_EQ(rte_comch_server_destroy(p.server), -EBUSY);
	T_UNTIL(t_state_ev(p.dpu, p.server) != NULL);
	ev = t_state_ev(p.dpu, p.server);
	T_EQ(ev->e.obj_type, RTE_COMCH_OBJ_SERVER);
	T_EQ(ev->e.state.prev, RTE_COMCH_STATE_STOPPING);
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_IDLE);
	T_EQ(ev->e.status, 0);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL), NB);
	T_EQ(t_pos(p.dpu, ev), p.dpu->nb_evs - 1);
	for (i = 0; i < NB; i++) {
		T_UNTIL(rte_comch_client_state(client[i]) == RTE_COMCH_STATE_IDLE);
		t_client_end(client[i]);
	}
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL), NB);
	T_EQ(rte_comch_server_start(p.server), 0);
	t_pair_connect(&p);
	t_pair_close(&p);
}

/* Messages sent before a disconnect all arrive, then its event. */
static void
drain_messages(bool by_server)
{
	struct rte_comch_conn *from, *to;
	struct t_node *there;
	uint32_t i = 0;
	struct t_pair p;

	t_pair_open(&p, NULL);
	from = by_server ? p.sconn : p.cconn;
	to = by_server ? p.cconn : p.sconn;
	there = by_server ? p.host : p.dpu;
	while (i < 20) {
		t_send(from, &i, sizeof(i), i);
		i++;
	}
	there->paused = true;
	if (by_server)
		T_EQ(rte_comch_conn_disconnect(from, "bye"), -EINPROGRESS);
	else
		T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	t_settle();
	there->paused = false;
	T_UNTIL(t_count(there, RTE_COMCH_EVENT_DISCONNECTED, to) == 1);
	T_EQ(t_count(there, RTE_COMCH_EVENT_MSG, to), 20);
	conf_check_counting(there);
	conf_check_last(there, to);
	t_pair_close(&p);
}

CONF_CASE(disconnect, drains_messages, drain_messages(true); drain_messages(false))

/* Each message that was taken has one SENT: delivered, or not known. */
void
conf_disconnect_sent_of_all(void)
{
	struct t_pair_conf conf = { .client.send_queue = 32, .server.recv_queue = 32 };
	unsigned int taken = 0, got;
	const struct t_ev *ev;
	uint32_t i;
	struct t_pair p;

	t_pair_open(&p, &conf);
	while (taken < 30 && t_offer(p.cconn, &taken, 4, taken, 0))
		taken++;
	T_GE(taken, 4);
	for (i = 0; i < 3; i++)
		t_step_max(p.dpu, 1);
	got = t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL);
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1 &&
			rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	got = RTE_MAX(got, t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL));
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), taken);
	for (i = 0; i < taken; i++) {
		ev = t_find(p.host, RTE_COMCH_EVENT_SENT, NULL, i);
		T_EQ(ev->e.sent.cookie, i);
		T_CHECK(ev->e.status == 0 || ev->e.status == -ECONNRESET);
		/* None is called delivered that was not. */
		if (ev->e.status == 0)
			T_LT(i, got);
	}
	t_pair_close(&p);
}

/* Both sides end it at the same moment. */
void
conf_disconnect_both(void)
{
	struct t_pair p;
	unsigned int i;

	t_pair_ends(&p, NULL);
	for (i = 0; i < 20; i++) {
		t_forget(p.dpu);
		t_forget(p.host);
		t_pair_connect(&p);
		t_send(p.cconn, "a", 1, 1);
		t_send(p.sconn, "b", 1, 2);
		T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
		T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1 &&
			t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
		T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	}
	t_pair_close(&p);
}
