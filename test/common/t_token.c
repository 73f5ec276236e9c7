/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <pthread.h>
#include <sched.h>

#include "t_token.h"

#define MAX_CLIENTS 16
#define MAX_SERVERS 4

static uint32_t
load(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* Send the next number, if the token is free and there is room. */
static void
turn(struct t_token *t, struct rte_comch_conn *conn)
{
	if (__atomic_exchange_n(&t->taken, 1, __ATOMIC_ACQUIRE) != 0) {
		sched_yield();
		return;
	}
	if (t->next < t->total && t_offer(conn, &t->next, sizeof(t->next), 0,
			RTE_COMCH_MSG_F_SILENT))
		__atomic_store_n(&t->next, t->next + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&t->taken, 0, __ATOMIC_RELEASE);
}

void
t_token_client(struct t_token *t, int16_t dev, const char *name)
{
	const struct rte_comch_client_conf conf = { .connect_timeout_ms = T_TIMEOUT_MS };
	const uint64_t end = t_now_ms() + 4 * (uint64_t)T_TIMEOUT_MS;
	struct t_node *node = t_node_new();
	struct rte_comch_client *client;

	client = t_client_new(node, dev, name, &conf);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_RUNNING);
	while (load(&t->next) < t->total) {
		turn(t, rte_comch_client_conn(client));
		t_step(node);
		T_LT(t_now_ms(), end);
	}
	t_client_end(client);
	t_node_free(node);
	__atomic_fetch_add(&t->nb_ended, 1, __ATOMIC_RELEASE);
}

/* What servers have received. */
struct order {
	uint32_t seen;
	bool is_broken;
	uint32_t got, want;
	struct {
		const struct rte_comch_conn *conn;
		uint32_t next;
	} of[MAX_CLIENTS]; /* if unordered */
};

/*
 * Keep the token: the clients end. A test that fails does not wait for them, and they
 * would go on with a token and devices that are gone.
 */
static void
stop_clients(struct t_token *t)
{
	while (__atomic_exchange_n(&t->taken, 1, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
	__atomic_store_n(&t->next, t->total, __ATOMIC_RELEASE);
}

/* The lowest number that a message of a connection may have. */
static uint32_t *
next_of(struct order *o, const struct rte_comch_conn *conn)
{
	uint32_t i;

	for (i = 0; o->of[i].conn != conn && o->of[i].conn != NULL; i++)
		T_LT(i, MAX_CLIENTS - 1);
	o->of[i].conn = conn;
	return &o->of[i].next;
}

static void
check(struct t_token *t, const struct rte_comch_event *ev, struct order *o)
{
	uint32_t got, *next;
	bool in_order;

	if (ev->type != RTE_COMCH_EVENT_MSG || o->is_broken)
		return;
	T_EQ(ev->msg.len, sizeof(got));
	memcpy(&got, ev->msg.data, sizeof(got));
	next = t->is_unordered ? next_of(o, ev->conn) : &o->seen;
	in_order = t->is_unordered ? got >= *next && got < t->total : got == *next;
	if (!in_order) {
		o->is_broken = true;
		o->got = got;
		o->want = *next;
		stop_clients(t);
		return;
	}
	if (t->is_unordered)
		*next = got + 1;
	o->seen++;
}

static bool
is_over(const struct t_token *t, uint32_t nb_clients, const struct order *o)
{
	return (o->is_broken || o->seen >= t->total) && load(&t->nb_ended) >= nb_clients;
}

void
t_token_serve(struct t_token *t, struct rte_comch_poll *poll, uint32_t nb_clients, bool sleepy)
{
	const uint64_t end = t_now_ms() + 4 * (uint64_t)T_TIMEOUT_MS;
	struct rte_comch_event ev[32];
	struct order o = { .seen = 0 };
	unsigned int nb_naps = 0;
	uint16_t i, n;
	int ms;

	while (!is_over(t, nb_clients, &o)) {
		n = rte_comch_poll_run(poll, ev, RTE_DIM(ev));
		for (i = 0; i < n; i++)
			check(t, &ev[i], &o);
		T_LT(t_now_ms(), end);
		if (n > 0)
			continue;
		/* Nothing wakes the poll when a client ends: look again in a while. */
		ms = !o.is_broken && o.seen < t->total ? T_TIMEOUT_MS : 10;
		if (sleepy && ++nb_naps % 2 == 0)
			rte_comch_poll_wait(poll, RTE_COMCH_POLL_ANY, ms);
		else if (sleepy && rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY) == 0)
			t_readable(rte_comch_poll_fd(poll, RTE_COMCH_POLL_ANY), ms);
		else
			sched_yield();
	}
	if (o.is_broken)
		T_FAIL("message %u instead of %u", o.got, o.want);
	T_EQ(o.seen, t->total);
}

struct client_thread {
	pthread_t id;
	struct t_token *token;
	int16_t dev;
	const char *name;
};

static void *
client_main(void *arg)
{
	const struct client_thread *c = arg;

	t_token_client(c->token, c->dev, c->name);
	return NULL;
}

void
t_token_threads(int16_t dpu_dev, int16_t host_dev, const char *const *names, uint32_t nb_names,
		const struct t_token_conf *conf)
{
	const struct rte_comch_server_conf server_conf = {
		.flags = conf->is_unordered ? 0 : RTE_COMCH_SERVER_F_ORDERED,
	};
	struct rte_comch_server *server[MAX_SERVERS];
	struct client_thread c[MAX_CLIENTS];
	/* Not of this frame: a test that times out here leaves the threads behind. */
	static struct t_token token;
	struct t_node *node = t_node_new();
	uint32_t i;

	T_LE(nb_names, MAX_SERVERS);
	T_LE(conf->nb_clients, MAX_CLIENTS);
	token = (struct t_token){ .total = conf->total, .is_unordered = conf->is_unordered };
	for (i = 0; i < nb_names; i++)
		server[i] = t_server_new(node, dpu_dev, names[i], 0, &server_conf);
	for (i = 0; i < conf->nb_clients; i++) {
		c[i].token = &token;
		c[i].dev = host_dev;
		c[i].name = names[i % nb_names];
		T_EQ(pthread_create(&c[i].id, NULL, client_main, &c[i]), 0);
	}
	t_token_serve(&token, node->poll, conf->nb_clients, conf->sleepy);
	for (i = 0; i < conf->nb_clients; i++)
		T_EQ(pthread_join(c[i].id, NULL), 0);
	for (i = 0; i < nb_names; i++)
		t_server_end(server[i]);
	t_node_free(node);
}
