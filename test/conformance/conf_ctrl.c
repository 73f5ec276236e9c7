/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Control messages; connections that are accepted by hand. */

#include <stdlib.h>

#include "conf.h"

static void
check_sizes(struct t_pair *p, bool to_host, uint32_t max)
{
	struct rte_comch_conn *from = to_host ? p->sconn : p->cconn;
	struct rte_comch_conn *to = to_host ? p->cconn : p->sconn;
	struct t_node *here = to_host ? p->dpu : p->host;
	struct t_node *there = to_host ? p->host : p->dpu;
	const uint32_t sizes[] = {
		0, 1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 1000, max - 1, max,
	};
	const struct t_ev *ev;
	uint8_t buf[4096];
	unsigned int i;

	T_LE(max, sizeof(buf));
	for (i = 0; i < RTE_DIM(sizes); i++) {
		t_fill(buf, sizes[i], i);
		t_send(from, sizes[i] == 0 ? NULL : buf, sizes[i], 1000 + i);
		/* It was copied. */
		memset(buf, 0, sizeof(buf));
	}
	T_UNTIL(t_count(there, RTE_COMCH_EVENT_MSG, to) == RTE_DIM(sizes));
	T_UNTIL(t_count(here, RTE_COMCH_EVENT_SENT, from) == RTE_DIM(sizes));
	for (i = 0; i < RTE_DIM(sizes); i++) {
		ev = t_find(there, RTE_COMCH_EVENT_MSG, to, i);
		T_EQ(ev->len, sizes[i]);
		T_VERIFY(ev->data, ev->len, i);
		ev = t_find(here, RTE_COMCH_EVENT_SENT, from, i);
		T_EQ(ev->e.sent.cookie, 1000 + i);
		T_EQ(ev->e.status, 0);
	}
}

void
conf_ctrl_sizes(void)
{
	struct rte_comch_conn_info info;
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_conn_info_get(p.cconn, &info), 0);
	check_sizes(&p, false, info.max_msg_size);
	check_sizes(&p, true, info.max_msg_size);
	t_pair_close(&p);
}

void
conf_ctrl_too_long(void)
{
	struct rte_comch_conn_info info;
	const struct t_ev *ev;
	struct t_pair p;
	uint8_t *buf;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_conn_info_get(p.cconn, &info), 0);
	buf = calloc(1, info.max_msg_size + 1);
	T_CHECK(buf != NULL);
	t_send(p.cconn, "a", 1, 1);
	t_send(p.cconn, buf, info.max_msg_size + 1, 2);
	t_send(p.cconn, buf, UINT32_MAX, 3);
	t_send(p.cconn, "b", 1, 4);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 4);
	T_EQ(conf_sent_status(p.host, 1), 0);
	T_EQ(conf_sent_status(p.host, 2), -EMSGSIZE);
	T_EQ(conf_sent_status(p.host, 3), -EMSGSIZE);
	T_EQ(conf_sent_status(p.host, 4), 0);
	t_settle();
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 2);
	ev = t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, 0);
	T_EQ(ev->data[0], 'a');
	ev = t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, 1);
	T_EQ(ev->data[0], 'b');
	free(buf);
	t_pair_close(&p);
}

void
conf_ctrl_bad_msg(void)
{
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_CHECK(t_offer(p.cconn, NULL, 5, 1, 0));
	T_CHECK(t_offer(p.cconn, "x", 1, 2, UINT32_C(1) << 31));
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 2);
	T_EQ(conf_sent_status(p.host, 1), -EINVAL);
	T_EQ(conf_sent_status(p.host, 2), -EINVAL);
	t_settle();
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 0);
	t_pair_close(&p);
}

/* A burst is taken as one message after the other. */
void
conf_ctrl_burst(void)
{
	struct rte_comch_msg msgs[32];
	const struct t_ev *ev;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	memset(msgs, 0, sizeof(msgs));
	for (i = 0; i < RTE_DIM(msgs); i++) {
		msgs[i].data = &msgs[i];
		msgs[i].len = sizeof(msgs[i]);
		msgs[i].cookie = i;
	}
	T_EQ(rte_comch_conn_send_burst(p.cconn, msgs, 0), 0);
	T_EQ(rte_comch_conn_send_burst(p.cconn, msgs, RTE_DIM(msgs)), RTE_DIM(msgs));
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == RTE_DIM(msgs));
	for (i = 0; i < RTE_DIM(msgs); i++) {
		ev = t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, i);
		T_EQ(ev->len, sizeof(msgs[i]));
		T_EQ(memcmp(ev->data, &msgs[i], ev->len), 0);
	}
	t_pair_close(&p);
}

/* SENT says that the peer's application was given the message. */
void
conf_ctrl_sent_is_delivered(void)
{
	unsigned int i;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_send(p.cconn, "one", 3, 1);
	t_send(p.cconn, "two", 3, 2);
	/* The peer does not run at all. */
	t_steps(p.host, 500);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 0);
	/* It runs, but takes no event. */
	for (i = 0; i < 100; i++) {
		T_EQ(t_step_max(p.dpu, 0), 0);
		t_step(p.host);
	}
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 0);
	/* It takes one. */
	while (t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 0)
		t_step_max(p.dpu, 1);
	for (i = 0; i < 100; i++) {
		T_EQ(t_step_max(p.dpu, 0), 0);
		t_step(p.host);
	}
	T_LE(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 1);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 2);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 2);
	T_EQ(t_find(p.host, RTE_COMCH_EVENT_SENT, NULL, 0)->e.sent.cookie, 1);
	T_EQ(t_find(p.host, RTE_COMCH_EVENT_SENT, NULL, 1)->e.sent.cookie, 2);
	t_pair_close(&p);
}

/* A frame that the peer answers within the run that returns a message acknowledges none. */
static void
sent_is_returned(uint32_t flags, unsigned int nb_runs)
{
	const struct t_pair_conf conf = { .server.flags = flags };
	struct rte_comch_consumer *cons;
	struct t_pair p;
	struct t_mem m;

	t_pair_open(&p, &conf);
	t_mem_new(&m, RTE_COMCH_MEM_SEALED, 4096, 0);
	cons = t_consumer_new(p.cconn, NULL, m.mr);
	p.dpu->paused = true;
	t_steps(p.dpu, nb_runs);
	t_send(p.cconn, "one", 3, 1);
	/* Its memory and the consumer have answers. */
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	t_settle();
	while (t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 0)
		t_step(p.dpu);
	t_settle();
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 0);
	p.dpu->paused = false;
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 1);
	t_consumer_end(cons);
	t_mem_free(&m);
	t_pair_close(&p);
}

void
conf_ctrl_sent_is_returned(void)
{
	sent_is_returned(0, 0);
	if ((conf_capa() & RTE_COMCH_CAPA_ORDERED) == 0)
		return;
	/* Ordered connections come first in every second run. */
	sent_is_returned(RTE_COMCH_SERVER_F_ORDERED, 0);
	sent_is_returned(RTE_COMCH_SERVER_F_ORDERED, 1);
}

/* One message alone is told as sent without any further traffic. */
void
conf_ctrl_sent_of_one(void)
{
	struct t_pair_conf conf = {
		.server.recv_queue = 64, .client.send_queue = 64,
	};
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, &conf);
	for (i = 0; i < 100; i++) {
		t_send(p.cconn, &i, sizeof(i), i);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
		t_send(p.sconn, &i, sizeof(i), i);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
	}
	t_pair_close(&p);
}

void
conf_ctrl_silent(void)
{
	uint8_t buf[2000] = { 0 };
	struct t_pair_conf conf = { .server.max_msg_size = 1000 };
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, &conf);
	for (i = 0; i < 10; i++)
		T_CHECK(t_offer(p.cconn, buf, i, i, RTE_COMCH_MSG_F_SILENT));
	/* Silent is for those that are delivered. */
	T_CHECK(t_offer(p.cconn, buf, 2000, 77, RTE_COMCH_MSG_F_SILENT));
	t_send(p.cconn, buf, 1, 78);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 11 &&
		t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) >= 2);
	t_settle();
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 2);
	T_EQ(conf_sent_status(p.host, 77), -EMSGSIZE);
	T_EQ(conf_sent_status(p.host, 78), 0);
	t_pair_close(&p);
}

/* As silent ones, for those that are delivered. */
void
conf_ctrl_no_sent(void)
{
	struct t_pair_conf conf = { .server.max_msg_size = 1000 };
	uint8_t buf[2000] = { 0 };
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, &conf);
	for (i = 0; i < 10; i++)
		T_CHECK(t_offer(p.cconn, buf, i, i, RTE_COMCH_MSG_F_NO_SENT));
	T_CHECK(t_offer(p.cconn, buf, 2000, 77, RTE_COMCH_MSG_F_NO_SENT));
	t_send(p.cconn, buf, 1, 78);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 11 &&
		t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) >= 2);
	t_settle();
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL), 2);
	T_EQ(conf_sent_status(p.host, 77), -EMSGSIZE);
	T_EQ(conf_sent_status(p.host, 78), 0);
	t_pair_close(&p);
}

void
conf_ctrl_order_both_ways(void)
{
	enum { NB = 5000 };
	unsigned int i, sent_s = 0, sent_c = 0;
	const struct t_ev *ev;
	struct t_pair p;

	t_pair_open(&p, NULL);
	while (sent_s < NB || sent_c < NB) {
		if (sent_c < NB && t_offer(p.cconn, &sent_c, 4, sent_c, 0))
			sent_c++;
		if (sent_s < NB && t_offer(p.sconn, &sent_s, 4, sent_s, 0))
			sent_s++;
		t_step_all();
	}
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_SENT, NULL) == NB &&
			t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == NB);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), NB);
	T_EQ(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL), NB);
	conf_check_counting(p.dpu);
	conf_check_counting(p.host);
	for (i = 0; i < NB; i += 499) {
		ev = t_find(p.dpu, RTE_COMCH_EVENT_SENT, NULL, i);
		T_EQ(ev->e.sent.cookie, i);
		T_EQ(ev->e.status, 0);
	}
	t_pair_close(&p);
}

/* Before it is established, nothing is sent; and the application is told. */
void
conf_ctrl_not_established(void)
{
	struct rte_comch_conn_info info;
	struct rte_comch_conn *conn;
	struct t_pair p;

	t_pair_ends(&p, NULL);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	conn = rte_comch_client_conn(p.client);
	T_CHECK(conn != NULL);
	T_EQ(rte_comch_conn_info_get(conn, &info), 0);
	T_CHECK(!info.established);
	t_send(conn, "x", 1, 1);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 1);
	T_EQ(conf_sent_status(p.host, 1), -EBADFD);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	t_settle();
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL), 0);
	t_pair_close(&p);
}

/* The pointers of a burst are all good until the next run. */
static void
check_burst_data(struct t_pair *p)
{
	struct rte_comch_event evs[16];
	unsigned int got = 0;
	uint16_t i, n;
	uint32_t val;

	while (got < 16) {
		n = rte_comch_poll_run(p->dpu->poll, evs, 16);
		for (i = 0; i < n; i++) {
			T_EQ(evs[i].type, RTE_COMCH_EVENT_MSG);
			T_CHECK(evs[i].conn == p->sconn);
			T_EQ(evs[i].msg.len, 200);
		}
		for (i = 0; i < n; i++, got++) {
			memcpy(&val, evs[i].msg.data, sizeof(val));
			T_EQ(val, got);
			T_VERIFY((const uint8_t *)evs[i].msg.data + 8, 192, val);
		}
	}
}

void
conf_ctrl_borrowed_data(void)
{
	struct t_pair p;
	uint8_t buf[200];
	uint32_t i;

	t_pair_open(&p, NULL);
	for (i = 0; i < 16; i++) {
		t_fill(buf + 8, sizeof(buf) - 8, i);
		memcpy(buf, &i, sizeof(i));
		t_send(p.cconn, buf, sizeof(buf), i);
	}
	check_burst_data(&p);
	t_pair_close(&p);
}

static struct rte_comch_conn *
wait_request(struct t_pair *p, unsigned int i)
{
	const struct t_ev *ev;

	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL) > i);
	ev = t_find(p->dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL, i);
	return ev->e.conn;
}

void
conf_ctrl_manual_accept(void)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT };
	struct rte_comch_conn_info info;
	struct rte_comch_conn *conn;
	struct t_pair p;

	T_EQ(rte_comch_conn_accept(NULL), -EINVAL);
	T_EQ(rte_comch_conn_reject(NULL, "x"), -EINVAL);
	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	conn = wait_request(&p, 0);
	T_EQ(rte_comch_server_nb_pending(p.server), 1);
	T_EQ(rte_comch_server_nb_conns(p.server), 1);
	t_settle();
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_STARTING);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL), 0);
	T_EQ(rte_comch_conn_info_get(conn, &info), 0);
	T_CHECK(!info.established);
	T_EQ(rte_comch_conn_disconnect(conn, NULL), -EBADFD);
	T_EQ(rte_comch_conn_accept(conn), 0);
	T_EQ(rte_comch_conn_accept(conn), -EBADFD);
	T_EQ(rte_comch_conn_reject(conn, "x"), -EBADFD);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, conn) == 1);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_server_nb_pending(p.server), 0);
	T_EQ(rte_comch_server_nb_conns(p.server), 1);
	T_EQ(rte_comch_conn_accept(rte_comch_client_conn(p.client)), -EBADFD);
	t_send(conn, "hello", 5, 0);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL) == 1);
	t_pair_close(&p);
}

void
conf_ctrl_manual_reject(void)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT };
	struct rte_comch_server_stats stats;
	char reason[3 * RTE_COMCH_REASON_SIZE];
	struct t_pair p;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_EQ(rte_comch_conn_reject(wait_request(&p, 0), "come back on Monday"), 0);
	T_EQ(rte_comch_server_nb_pending(p.server), 0);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	T_EQ(t_state_ev(p.host, p.client)->e.status, -ECONNREFUSED);
	T_EQ(t_state_ev(p.host, p.client)->e.state.next, RTE_COMCH_STATE_IDLE);
	T_STR_HAS(t_state_ev(p.host, p.client)->text, "come back on Monday");
	/* Without a reason. */
	t_forget(p.host);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_EQ(rte_comch_conn_reject(wait_request(&p, 1), NULL), 0);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	T_EQ(t_state_ev(p.host, p.client)->e.status, -ECONNREFUSED);
	/* A reason that is too long is cut. */
	memset(reason, 'r', sizeof(reason));
	reason[sizeof(reason) - 1] = '\0';
	t_forget(p.host);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_EQ(rte_comch_conn_reject(wait_request(&p, 2), reason), 0);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	T_STR_HAS(t_state_ev(p.host, p.client)->text, "rrrrrrrrrrrrrrrrrrrrrrrr");
	t_settle();
	/* Requests are all that the server heard of. */
	T_EQ(p.dpu->nb_evs, 3);
	T_EQ(rte_comch_server_nb_conns(p.server), 0);
	T_EQ(rte_comch_server_stats_get(p.server, &stats), 0);
	T_EQ(stats.refused, 3);
	T_EQ(stats.accepted, 0);
	t_pair_close(&p);
}

/* Several wait; they are answered in any order, each on its own. */
void
conf_ctrl_manual_several(void)
{
	enum { NB = 5 };
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT };
	struct rte_comch_client *client[NB];
	struct t_pair p;
	unsigned int i;

	t_pair_ends(&p, &conf);
	for (i = 0; i < NB; i++) {
		client[i] = t_client_new(p.host, p.host_dev, T_NAME, NULL);
		T_EQ(rte_comch_client_start(client[i]), -EINPROGRESS);
		wait_request(&p, i);
		T_EQ(rte_comch_server_nb_pending(p.server), i + 1);
	}
	for (i = NB; i-- > 0; ) {
		if (i == 2)
			T_EQ(rte_comch_conn_reject(wait_request(&p, i), "no"), 0);
		else
			T_EQ(rte_comch_conn_accept(wait_request(&p, i)), 0);
		T_UNTIL(rte_comch_client_state(client[i]) != RTE_COMCH_STATE_STARTING);
		T_EQ(rte_comch_client_state(client[i]), i == 2 ?
				RTE_COMCH_STATE_IDLE : RTE_COMCH_STATE_RUNNING);
		T_EQ(rte_comch_server_nb_pending(p.server), i);
	}
	T_UNTIL(rte_comch_server_nb_conns(p.server) == NB - 1);
	for (i = 0; i < NB; i++)
		t_client_end(client[i]);
	t_pair_close(&p);
}

/* The client gives up while it waits. */
void
conf_ctrl_manual_given_up(void)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT };
	struct rte_comch_conn *conn;
	struct t_pair p;
	int rc;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	conn = wait_request(&p, 0);
	p.dpu->paused = true;
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	rc = rte_comch_conn_accept(conn);
	T_CHECK(rc == 0 || rc == -ECONNRESET);
	p.dpu->paused = false;
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 0);
	T_EQ(rte_comch_server_nb_pending(p.server), 0);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_EQ(rte_comch_conn_accept(wait_request(&p, 1)), 0);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	t_pair_close(&p);
}

/* A server that stops refuses or drops those that wait. */
void
conf_ctrl_manual_server_stop(void)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT };
	const struct t_ev *ev;
	struct t_pair p;
	int rc;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	wait_request(&p, 0);
	rc = rte_comch_server_stop(p.server);
	T_CHECK(rc == 0 || rc == -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL);
	ev = t_state_ev(p.host, p.client);
	T_EQ(ev->e.state.next, RTE_COMCH_STATE_IDLE);
	T_CHECK(ev->e.status == -ECONNREFUSED || ev->e.status == -ECONNRESET);
	T_UNTIL(rte_comch_server_state(p.server) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_server_nb_conns(p.server), 0);
	T_EQ(rte_comch_server_nb_pending(p.server), 0);
	t_pair_close(&p);
}

/* Before the server's application has heard of the client: it never does. */
void
conf_ctrl_manual_stop_at_once(void)
{
	struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT };
	unsigned int requests;
	struct t_pair p;
	int rc;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_WAIT((t_step(p.host), t_step(p.dpu)), rte_comch_server_nb_pending(p.server) == 1);
	requests = t_count(p.dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL);
	rc = rte_comch_server_stop(p.server);
	T_CHECK(rc == 0 || rc == -EINPROGRESS);
	T_UNTIL(t_state_ev(p.host, p.client) != NULL &&
		rte_comch_server_state(p.server) == RTE_COMCH_STATE_IDLE);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL), 0);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL), requests);
	T_EQ(rte_comch_server_nb_pending(p.server), 0);
	t_pair_close(&p);
}

void
conf_ctrl_stats(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 8, .client.send_queue = 8 };
	struct rte_comch_conn_stats st;
	uint64_t bytes = 0;
	struct t_pair p;
	uint8_t buf[4200] = { 0 };
	uint32_t i, taken = 0;

	t_pair_open(&p, &conf);
	T_EQ(rte_comch_conn_stats_get(NULL, &st), -EINVAL);
	T_EQ(rte_comch_conn_stats_get(p.cconn, NULL), -EINVAL);
	T_EQ(rte_comch_conn_stats_get(p.cconn, &st), 0);
	T_EQ(st.tx_msgs, 0);
	T_EQ(st.tx_bytes, 0);
	T_EQ(st.in_flight, 0);
	for (i = 0; i < 100 && t_offer(p.cconn, buf, i * 10, i, 0); i++) {
		bytes += i * 10;
		taken++;
	}
	T_LT(taken, 100);
	T_EQ(rte_comch_conn_stats_get(p.cconn, &st), 0);
	T_EQ(st.in_flight, taken);
	T_GE(st.tx_full, 1);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == taken);
	t_send(p.cconn, buf, sizeof(buf), 999);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == taken + 1);
	T_EQ(rte_comch_conn_stats_get(p.cconn, &st), 0);
	T_EQ(st.tx_msgs, taken);
	T_EQ(st.tx_bytes, bytes);
	T_EQ(st.in_flight, 0);
	T_EQ(st.tx_errors, 1);
	T_EQ(st.rx_msgs, 0);
	T_EQ(st.rx_bytes, 0);
	T_EQ(rte_comch_conn_stats_get(p.sconn, &st), 0);
	T_EQ(st.rx_msgs, taken);
	T_EQ(st.rx_bytes, bytes);
	T_EQ(st.tx_msgs, 0);
	T_EQ(st.tx_errors, 0);
	t_pair_close(&p);
}
