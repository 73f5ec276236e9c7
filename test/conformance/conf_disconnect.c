/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Ends: what was published is delivered first, then what is outstanding is
 * flushed with an error each, DISCONNECTED comes last; and it can begin anew.
 */

#include <stdlib.h>

#include "conf.h"

/*
 * DISCONNECTED is there once, and is the last event of the connection itself.
 * Its client follows, and its consumers when the application has drained them.
 */
static const struct t_ev *
check_last(const struct t_node *node, const struct rte_comch_conn *conn)
{
	const struct t_ev *ev;
	unsigned int i;

	T_EQ(t_count(node, RTE_COMCH_EVENT_DISCONNECTED, conn), 1);
	ev = t_find(node, RTE_COMCH_EVENT_DISCONNECTED, conn, 0);
	for (i = t_pos(node, ev) + 1; i < node->nb_evs; i++)
		if (node->evs[i].e.conn == conn &&
				node->evs[i].e.obj_type == RTE_COMCH_OBJ_CONN)
			T_FAIL("%s after DISCONNECTED",
					rte_comch_event_name(node->evs[i].e.type));
	return ev;
}

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
	check_last(p.dpu, p.sconn);
	ev = check_last(p.host, p.cconn);
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

/* Who says his last word and goes, learns whether it was heard. */
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

/* Of a silent message nobody wants to know: its sender says goodbye at once. */
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
	check_last(p.host, p.cconn);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, p.sconn) == 1 &&
			t_state_is(p.host, p.client, RTE_COMCH_STATE_IDLE));
	t_pair_close(&p);
}

/* A peer that takes nothing does not keep anybody for ever. */
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
	check_last(p.host, cconn);
	check_last(p.dpu, p.sconn);
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

/* With producers or consumers, nothing ends and nothing has changed. */
void
conf_disconnect_busy(void)
{
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_EQ(rte_comch_client_stop(p.client), -EBUSY);
	T_EQ(rte_comch_server_stop(p.server), -EBUSY);
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EBUSY);
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_server_state(p.server), RTE_COMCH_STATE_RUNNING);
	t_flow_once(&f, 1000, 1);
	/* IDLE ones count as well: it is their existence that matters. */
	t_producer_stop(f.prod);
	T_EQ(rte_comch_client_stop(p.client), -EBUSY);
	t_flow_close(&f);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	t_pair_close(&p);
}

/* Who ends it has said all before: the peer gets every message, then the end. */
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
	check_last(there, to);
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

/* Receive what was published, then each posted buffer flushed. */
static void
expect_drain(struct t_flow *f, unsigned int whole, unsigned int flushed)
{
	struct rte_comch_cpl cpl;
	unsigned int i;

	for (i = 0; i < whole; i++) {
		t_recv(f->cons, &cpl);
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.len, 64);
		T_VERIFY(f->dst.addr + i * 64, 64, i);
	}
	for (; i < whole + flushed; i++) {
		t_recv(f->cons, &cpl);
		T_EQ(cpl.status, -ECANCELED);
		T_EQ(cpl.cookie, i);
	}
	T_CHECK(t_no_recv(f->cons));
}

static void
publish(struct t_flow *f, unsigned int posted, unsigned int sent)
{
	unsigned int i;

	for (i = 0; i < posted; i++)
		T_EQ(t_post(f, i * 64, 64, i), 1);
	for (i = 0; i < sent; i++) {
		t_fill(f->src.addr + i * 64, 64, i);
		t_submit(f, i * 64, 64, i);
	}
}

/* The first n operations are done: their messages are published, whatever comes now. */
static void
published(struct t_flow *f, unsigned int n)
{
	struct rte_comch_cpl cpl;
	unsigned int i;

	for (i = 0; i < n; i++) {
		t_done(f->prod, &cpl);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, 0);
	}
}

static void
consumer_stop(enum rte_comch_mem_kind kind)
{
	struct t_flow_conf fc = { .kind = kind };
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	publish(&f, 10, 3);
	published(&f, 3);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	t_settle();
	/* Not IDLE before all is taken. */
	T_EQ(rte_comch_consumer_state(f.cons), RTE_COMCH_STATE_STOPPING);
	T_EQ(rte_comch_consumer_destroy(f.cons), -EBUSY);
	expect_drain(&f, 3, 7);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_state_is(f.cons_node, f.cons, RTE_COMCH_STATE_IDLE));
	/* The peer's producers cannot reach it any more. */
	T_UNTIL(t_count(f.prod_node, RTE_COMCH_EVENT_CONSUMER_GONE, NULL) == 1);
	t_submit(&f, 0, 8, 77);
	t_done(f.prod, &cpl);
	T_EQ(cpl.status, -ENOENT);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(disconnect, consumer_stop, consumer_stop(RTE_COMCH_MEM_SEALED))
CONF_CASE(disconnect, consumer_stop_staged, consumer_stop(RTE_COMCH_MEM_HEAP))

/* A stopped consumer has a fresh start under an id of its own. */
void
conf_disconnect_consumer_restart(void)
{
	struct t_flow f;
	struct t_pair p;
	uint32_t id;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	publish(&f, 4, 2);
	published(&f, 2);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	expect_drain(&f, 2, 2);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	id = f.id;
	t_consumer_run(f.cons);
	f.id = rte_comch_consumer_id(f.cons);
	T_NE(f.id, id);
	T_UNTIL(t_knows_consumer(f.prod_node, f.prod_conn, f.id));
	t_flow_once(&f, 1000, 5);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* The producer's side ends the connection while the consumer has buffers out. */
static void
peer_leaves(enum rte_comch_mem_kind kind, bool to_host)
{
	struct t_flow_conf fc = { .kind = kind, .to_host = to_host };
	const struct t_ev *ev;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	publish(&f, 10, 4);
	published(&f, 4);
	t_producer_end(f.prod);
	f.prod = NULL;
	t_send(f.prod_conn, "bye", 3, 0);
	if (to_host)
		T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	else
		T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	t_settle();
	expect_drain(&f, 4, 6);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_count(f.cons_node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(t_count(f.cons_node, RTE_COMCH_EVENT_MSG, NULL), 1);
	T_UNTIL(t_state_is(f.cons_node, f.cons, RTE_COMCH_STATE_IDLE));
	ev = t_state_ev(f.cons_node, f.cons);
	T_LE(ev->e.status, 0);
	check_last(f.cons_node, f.cons_conn);
	T_EQ(rte_comch_consumer_start(f.cons), -ECONNRESET);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(disconnect, peer_leaves_consumer,
	peer_leaves(RTE_COMCH_MEM_SEALED, false);
	peer_leaves(RTE_COMCH_MEM_SEALED, true))

CONF_CASE(disconnect, peer_leaves_consumer_staged, peer_leaves(RTE_COMCH_MEM_HEAP, false))

/* The consumer's side ends the connection; the producer is told. */
void
conf_disconnect_peer_leaves_producer(void)
{
	struct rte_comch_producer *late;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	late = rte_comch_producer_create(f.prod_conn,
			&(struct rte_comch_producer_conf){
				.conf_size = sizeof(struct rte_comch_producer_conf) });
	T_CHECK(late != NULL);
	publish(&f, 4, 4);
	t_settle();
	t_consumer_end(f.cons);
	f.cons = NULL;
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	t_settle();
	/* What was done stays done. */
	published(&f, 4);
	t_submit(&f, 0, 8, 77);
	t_done(f.prod, &cpl);
	T_EQ(cpl.cookie, 77);
	T_EQ(cpl.status, -ECONNRESET);
	T_EQ(rte_comch_producer_start(late), -ECONNRESET);
	T_EQ(rte_comch_producer_destroy(late), 0);
	t_producer_end(f.prod);
	f.prod = NULL;
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	t_flow_close(&f);
	t_pair_connect(&p);
	t_pair_close(&p);
}

/* Stop a producer in the middle of a message: it waits for the rest. */
static bool
stop_in_stream(struct rte_comch_producer *prod)
{
	int rc = rte_comch_producer_stop(prod);

	/* Without a staging ring there may be no rest. */
	if (rc == 0 && !t_driver->maps_memory)
		return false;
	T_EQ(rc, -EINPROGRESS);
	T_EQ(rte_comch_producer_state(prod), RTE_COMCH_STATE_STOPPING);
	return true;
}

/* A stream of a staged message that the consumer's stop cuts off. */
void
conf_disconnect_stream_cut(void)
{
	struct t_flow_conf fc = {
		.kind = RTE_COMCH_MEM_HEAP, .size = 512 * 1024,
		.cons.staging_size = 16 * 1024,
	};
	struct rte_comch_cpl in, out;
	struct t_flow f;
	struct t_pair p;
	bool in_stream;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	T_EQ(t_post(&f, 0, 400000, 1), 1);
	t_submit(&f, 0, 400000, 1);
	in_stream = stop_in_stream(f.prod);
	/* done_burst() and recv_burst() carry it on. */
	t_both(&f, &in, &out);
	T_EQ(in.status, 0);
	T_EQ(in.len, 400000);
	T_EQ(out.status, 0);
	T_UNTIL(rte_comch_producer_state(f.prod) == RTE_COMCH_STATE_IDLE);
	if (in_stream) {
		T_UNTIL(t_state_ev(f.prod_node, f.prod) != NULL);
		T_EQ(t_state_ev(f.prod_node, f.prod)->e.obj_type, RTE_COMCH_OBJ_PRODUCER);
	}
	/* This one nobody carries on: the producer gives up, the stop ends. */
	T_EQ(rte_comch_producer_start(f.prod), 0);
	T_EQ(t_post(&f, 0, 400000, 2), 1);
	t_submit(&f, 0, 400000, 2);
	stop_in_stream(f.prod);
	T_UNTIL(rte_comch_producer_state(f.prod) == RTE_COMCH_STATE_IDLE ||
			rte_comch_producer_done_burst(f.prod, &out, 1) == 1);
	t_producer_end(f.prod);
	f.prod = NULL;
	t_flow_close(&f);
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

/* Coming and going leaves nothing behind. */
void
conf_disconnect_no_leak(void)
{
	unsigned int fds = 0, i;
	uint64_t rss = 0;
	struct t_flow f;
	struct t_pair p;

	t_pair_ends(&p, NULL);
	for (i = 0; i < 150; i++) {
		t_forget(p.dpu);
		t_forget(p.host);
		t_pair_connect(&p);
		t_flow_open(&f, &p, &(struct t_flow_conf){ .size = 4096,
			.to_host = i % 2 == 0,
			.kind = i % 3 == 0 ? RTE_COMCH_MEM_HEAP : RTE_COMCH_MEM_SEALED });
		t_flow_once(&f, 4096, i);
		t_flow_close(&f);
		t_pair_disconnect(&p);
		t_settle();
		if (i == 50) {
			fds = t_fd_count();
			rss = t_rss_kb();
		}
	}
	T_UNTIL(t_fd_count() == fds);
	if (!t_sanitized() && !t_emulated())
		T_LT(t_rss_kb(), rss + 2048);
	t_pair_close(&p);
}
