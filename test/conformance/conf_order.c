/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Several clients of ordered servers: their messages in the order of sending. And what
 * holds without: each client's order.
 */

#include <stdio.h>
#include <stdlib.h>

#include <rte_log.h>

#include "conf.h"
#include "t_token.h"

#define NB_CLIENTS 5
#define OTHER "the other one"

/* One poll with two servers, and clients of both by turns. */
struct group {
	struct t_pair p;
	struct rte_comch_server *other;
	struct rte_comch_client *client[NB_CLIENTS];
	struct rte_comch_conn *conn[NB_CLIENTS];
};

static void
group_open(struct group *g, uint32_t flags, uint32_t queue)
{
	const struct rte_comch_server_conf sc = {
		.flags = flags, .recv_queue = queue,
	};
	unsigned int i;

	t_pair_devs(&g->p, NULL);
	g->p.server = t_server_new(g->p.dpu, g->p.dpu_dev, T_NAME, 0, &sc);
	g->other = t_server_new(g->p.dpu, g->p.dpu_dev, OTHER, 0, &sc);
	for (i = 0; i < NB_CLIENTS; i++) {
		g->client[i] = t_client_new(g->p.host, g->p.host_dev,
			i % 2 == 0 ? T_NAME : OTHER, NULL);
		T_EQ(rte_comch_client_start(g->client[i]), -EINPROGRESS);
		T_UNTIL(rte_comch_client_state(g->client[i]) == RTE_COMCH_STATE_RUNNING);
		g->conn[i] = rte_comch_client_conn(g->client[i]);
	}
	T_UNTIL(t_count(g->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == NB_CLIENTS);
	t_forget(g->p.dpu);
}

static void
group_close(struct group *g)
{
	unsigned int i;

	for (i = 0; i < NB_CLIENTS; i++)
		t_client_end(g->client[i]);
	t_server_end(g->other);
	t_pair_close(&g->p);
}

/* Start a server on a device that lacks the capability: the log line says so. */
static void
start_refused(struct rte_comch_server *server)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	f = open_memstream(&text, &size);
	T_CHECK(f != NULL);
	rte_log_set_level_pattern("*comch*", RTE_LOG_ERR);
	rte_log_set_global_level(RTE_LOG_ERR);
	T_EQ(rte_openlog_stream(f), 0);
	T_EQ(rte_comch_server_start(server), -ENOTSUP);
	T_EQ(rte_openlog_stream(NULL), 0);
	fclose(f);
	T_STR_HAS(text, "server " T_NAME);
	T_STR_HAS(text, conf_dev_name(0));
	T_STR_HAS(text, "RTE_COMCH_CAPA_ORDERED");
	free(text);
	T_EQ(rte_comch_server_state(server), RTE_COMCH_STATE_IDLE);
}

/* Only a device with the capability starts an ordered server; others all the same. */
void
conf_order_capability(void)
{
	const bool can_order = (conf_capa() & RTE_COMCH_CAPA_ORDERED) != 0;
	struct rte_comch_server *server;
	struct t_pair p;

	t_pair_devs(&p, NULL);
	server = rte_comch_server_create(p.dpu_dev, &(struct rte_comch_server_conf){
		.conf_size = sizeof(struct rte_comch_server_conf), .poll = p.dpu->poll,
		.name = T_NAME, .flags = RTE_COMCH_SERVER_F_ORDERED });
	T_CHECK(server != NULL);
	if (can_order) {
		T_EQ(rte_comch_server_start(server), 0);
		T_EQ(rte_comch_server_stop(server), 0);
	} else {
		start_refused(server);
	}
	T_EQ(rte_comch_server_destroy(server), 0);
	/* The name is free. */
	server = t_server_new(p.dpu, p.dpu_dev, T_NAME, 0, NULL);
	t_server_end(server);
	t_pair_close(&p);
}

/* The sender of message number n: the connections take no regular turns. */
static unsigned int
sender_of(uint32_t n)
{
	return n * 7 / 3 % NB_CLIENTS;
}

static void
burst(struct group *g, uint32_t *next, uint32_t nb)
{
	for (; nb > 0; nb--, (*next)++)
		t_send(g->conn[sender_of(*next)], next, sizeof(*next), *next);
}

static void
in_order(uint32_t flags, uint16_t max)
{
	uint32_t next = 0, round;
	struct group g;

	group_open(&g, RTE_COMCH_SERVER_F_ORDERED | flags, 0);
	for (round = 0; round < 50; round++) {
		burst(&g, &next, 40);
		while (g.p.dpu->nb_of[RTE_COMCH_EVENT_MSG] < next) {
			t_step_max(g.p.dpu, max);
			conf_check_counting(g.p.dpu);
		}
		T_UNTIL(t_count(g.p.host, RTE_COMCH_EVENT_SENT, NULL) == next);
	}
	group_close(&g);
}

/* The numbers of each connection go up: no client's message overtakes another of its own. */
static void
check_each_client(const struct t_node *node)
{
	const struct rte_comch_conn *conn[NB_CLIENTS] = { NULL };
	uint32_t val, next[NB_CLIENTS] = { 0 };
	const struct t_ev *ev;
	unsigned int i, k;

	for (i = 0; (ev = t_find(node, RTE_COMCH_EVENT_MSG, NULL, i)) != NULL; i++) {
		for (k = 0; conn[k] != ev->e.conn && conn[k] != NULL; k++)
			T_LT(k, NB_CLIENTS - 1);
		conn[k] = ev->e.conn;
		T_EQ(ev->len, sizeof(val));
		memcpy(&val, ev->data, sizeof(val));
		T_GE(val, next[k]);
		next[k] = val + 1;
	}
}

/* Without the flag: on every device, each client's messages keep their order. */
void
conf_order_each_client(void)
{
	uint32_t next = 0, round;
	struct group g;

	group_open(&g, 0, 0);
	for (round = 0; round < 10; round++) {
		burst(&g, &next, 40);
		T_UNTIL(t_count(g.p.dpu, RTE_COMCH_EVENT_MSG, NULL) == next);
		T_UNTIL(t_count(g.p.host, RTE_COMCH_EVENT_SENT, NULL) == next);
	}
	check_each_client(g.p.dpu);
	group_close(&g);
}

CONF_CASE(order, by_sending, in_order(0, T_BURST))
CONF_CASE(order, one_at_a_time, in_order(0, 1))
CONF_CASE(order, ctrl_only, in_order(RTE_COMCH_SERVER_F_CTRL_ONLY, 7))

/* Credits by hand, a queue of one, and an empty one in between. */
void
conf_order_manual_credit(void)
{
	uint32_t next = 0, i;
	struct group g;

	group_open(&g, RTE_COMCH_SERVER_F_ORDERED | RTE_COMCH_SERVER_F_MANUAL_CREDIT, 1);
	while (next < 500) {
		for (i = 0; i < NB_CLIENTS; i++, next++)
			t_send(g.conn[(i + next) % NB_CLIENTS], &next, sizeof(next), next);
		T_CHECK(!t_offer(g.conn[0], &next, sizeof(next), next, 0));
		T_UNTIL(t_count(g.p.dpu, RTE_COMCH_EVENT_MSG, NULL) == next);
		for (i = 0; i < NB_CLIENTS; i++)
			T_EQ(rte_comch_conn_msgs_done(t_find(g.p.dpu, RTE_COMCH_EVENT_MSG, NULL,
				next - 1 - i)->e.conn, 1), 0);
		T_UNTIL(t_count(g.p.host, RTE_COMCH_EVENT_SENT, NULL) == next);
	}
	conf_check_counting(g.p.dpu);
	group_close(&g);
}

/* The longest, and none at all. */
void
conf_order_sizes(void)
{
	struct rte_comch_conn_info info;
	const struct t_ev *ev;
	uint32_t i, len;
	struct group g;
	uint8_t *buf;

	group_open(&g, RTE_COMCH_SERVER_F_ORDERED, 0);
	T_EQ(rte_comch_conn_info_get(g.conn[0], &info), 0);
	buf = malloc(info.max_msg_size);
	T_CHECK(buf != NULL);
	for (i = 0; i < 200; i++) {
		len = i % 3 == 0 ? 0 : i % 3 == 1 ? info.max_msg_size : i;
		t_fill(buf, len, i);
		T_UNTIL(t_offer(g.conn[sender_of(i)], buf, len, i, 0));
	}
	T_UNTIL(t_count(g.p.dpu, RTE_COMCH_EVENT_MSG, NULL) == i);
	while (i-- > 0) {
		ev = t_find(g.p.dpu, RTE_COMCH_EVENT_MSG, NULL, i);
		T_EQ(ev->len, i % 3 == 0 ? 0 : i % 3 == 1 ? info.max_msg_size : i);
		T_VERIFY(ev->data, ev->len, i);
	}
	free(buf);
	group_close(&g);
}

/* Clients that leave at once: what they said comes first, and in order. */
void
conf_order_leaving(void)
{
	uint32_t next = 0, i;
	struct group g;

	group_open(&g, RTE_COMCH_SERVER_F_ORDERED, 0);
	g.p.dpu->paused = true;
	burst(&g, &next, 60);
	for (i = 0; i < NB_CLIENTS; i++)
		T_EQ(rte_comch_client_stop(g.client[i]), -EINPROGRESS);
	g.p.dpu->paused = false;
	while (t_count(g.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) < NB_CLIENTS) {
		t_step(g.p.host);
		t_step_max(g.p.dpu, 3);
	}
	T_EQ(t_count(g.p.dpu, RTE_COMCH_EVENT_MSG, NULL), next);
	conf_check_counting(g.p.dpu);
	group_close(&g);
}

/* A poll that sleeps whenever it can; what it holds keeps it awake. */
void
conf_order_asleep(void)
{
	uint32_t next = 0, before;
	struct group g;

	group_open(&g, RTE_COMCH_SERVER_F_ORDERED, 0);
	while (next < 1000) {
		burst(&g, &next, 1 + next % 9);
		before = g.p.dpu->nb_of[RTE_COMCH_EVENT_MSG];
		T_EQ(before + (next - before), next);
		T_SLEEP_UNTIL(t_count(g.p.dpu, RTE_COMCH_EVENT_MSG, NULL) == next);
		T_SLEEP_UNTIL(t_count(g.p.host, RTE_COMCH_EVENT_SENT, NULL) == next);
	}
	conf_check_counting(g.p.dpu);
	group_close(&g);
}

/* The flag of an ordered server, where the device supports it. */
static uint32_t
ordered_flag(void)
{
	return (conf_capa() & RTE_COMCH_CAPA_ORDERED) != 0 ? RTE_COMCH_SERVER_F_ORDERED : 0;
}

/* The rest of a connection works as ever: answers, queues, accepting by hand. */
void
conf_order_and_all_the_rest(void)
{
	struct t_pair_conf conf = {
		.server.flags = ordered_flag() | RTE_COMCH_SERVER_F_MANUAL_ACCEPT,
	};
	struct t_flow flow;
	struct t_pair p;
	uint32_t i;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL) == 1);
	p.sconn = t_find(p.dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL, 0)->e.conn;
	T_EQ(rte_comch_conn_accept(p.sconn), 0);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING &&
		t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	p.cconn = rte_comch_client_conn(p.client);
	t_flow_open(&flow, &p, NULL);
	for (i = 0; i < 200; i++) {
		t_send(p.cconn, &i, sizeof(i), i);
		t_send(p.sconn, &i, sizeof(i), i);
		t_flow_once(&flow, 100, i);
		T_UNTIL(conf_sent_status(p.host, i) == 0 && conf_sent_status(p.dpu, i) == 0);
	}
	conf_check_counting(p.host);
	conf_check_counting(p.dpu);
	t_flow_close(&flow);
	t_pair_close(&p);
}

/* Threads that pass a token on: each send knows of all before it. */
static void
token(uint32_t nb_servers, const struct t_token_conf *conf)
{
	static const char *const names[] = { T_NAME, OTHER };
	struct t_token_conf repeated = *conf;
	struct t_pair p;

	repeated.total = t_repeat(conf->total);
	t_pair_devs(&p, NULL);
	t_token_threads(p.dpu_dev, p.host_dev, names, nb_servers, &repeated);
	t_pair_close(&p);
}

CONF_CASE(order, token, token(1, &(struct t_token_conf){
	.nb_clients = 4, .total = 100000 }))
CONF_CASE(order, token_two_servers, token(2, &(struct t_token_conf){
	.nb_clients = 4, .total = 100000 }))
CONF_CASE(order, token_asleep, token(2, &(struct t_token_conf){
	.nb_clients = 4, .total = 20000, .sleepy = true }))
CONF_CASE(order, token_unordered, token(2, &(struct t_token_conf){
	.nb_clients = 4, .total = 4000, .is_unordered = true }))
CONF_CASE(order, token_unordered_asleep, token(2, &(struct t_token_conf){
	.nb_clients = 4, .total = 2000, .sleepy = true, .is_unordered = true }))
