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
	const uint64_t end = t_now_ms() + 4 * T_TIMEOUT_MS;
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

static void
check(const struct rte_comch_event *ev, uint32_t *seen)
{
	uint32_t got;

	if (ev->type != RTE_COMCH_EVENT_MSG)
		return;
	T_EQ(ev->msg.len, sizeof(got));
	memcpy(&got, ev->msg.data, sizeof(got));
	T_EQ(got, *seen);
	(*seen)++;
}

void
t_token_serve(struct t_token *t, struct rte_comch_poll *poll, uint32_t nb_clients, bool sleepy)
{
	const uint64_t end = t_now_ms() + 4 * T_TIMEOUT_MS;
	struct rte_comch_event ev[32];
	uint32_t seen = 0;
	uint16_t i, n;

	while (seen < t->total || load(&t->nb_ended) < nb_clients) {
		n = rte_comch_poll_run(poll, ev, RTE_DIM(ev));
		for (i = 0; i < n; i++)
			check(&ev[i], &seen);
		T_LT(t_now_ms(), end);
		if (n > 0)
			continue;
		if (sleepy && rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY) == 0)
			/* Who has ended wakes nobody: look again in a while. */
			t_readable(rte_comch_poll_fd(poll, RTE_COMCH_POLL_ANY),
				seen < t->total ? T_TIMEOUT_MS : 10);
		else
			sched_yield();
	}
	T_EQ(seen, t->total);
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
		uint32_t nb_clients, uint32_t total, bool sleepy)
{
	const struct rte_comch_server_conf conf = { .flags = RTE_COMCH_SERVER_F_ORDERED };
	struct rte_comch_server *server[MAX_SERVERS];
	struct client_thread c[MAX_CLIENTS];
	struct t_token token = { .total = total };
	struct t_node *node = t_node_new();
	uint32_t i;

	T_LE(nb_names, MAX_SERVERS);
	T_LE(nb_clients, MAX_CLIENTS);
	for (i = 0; i < nb_names; i++)
		server[i] = t_server_new(node, dpu_dev, names[i], 0, &conf);
	for (i = 0; i < nb_clients; i++) {
		c[i].token = &token;
		c[i].dev = host_dev;
		c[i].name = names[i % nb_names];
		T_EQ(pthread_create(&c[i].id, NULL, client_main, &c[i]), 0);
	}
	t_token_serve(&token, node->poll, nb_clients, sleepy);
	for (i = 0; i < nb_clients; i++)
		T_EQ(pthread_join(c[i].id, NULL), 0);
	for (i = 0; i < nb_names; i++)
		t_server_end(server[i]);
	t_node_free(node);
}
