/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Messages of several clients, sent one after the other: each is sent when the
 * one before has been. The service sees them in that order, on a device that supports
 * it; on others, it sees those of each client in their order.
 */

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "comm_channel/endpoint.h"
#include "t_main.h"
#include "t_proc.h"

#define CLIENTS 5
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define MESSAGES t_repeat(4000)
#define PAIRS t_repeat(5000)
#else
#define MESSAGES t_repeat(40000)
#define PAIRS t_repeat(200000)
#endif

/* The number of the next message; in memory that all share. */
static uint32_t *token;

static uint32_t
token_get(void)
{
	return __atomic_load_n(token, __ATOMIC_ACQUIRE);
}

/* Whose turn a number is: not always in a circle. */
static unsigned int
turn(uint32_t number)
{
	return (number / 100 % 2 == 0 ? number : number * 7 / 3) % CLIENTS;
}

static void
token_create(void)
{
	token = mmap(NULL, sizeof(*token), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	T_CHECK(token != MAP_FAILED);
}

struct message {
	uint32_t number;
	uint32_t client;
};

/* Send whatever is ours until all are sent. */
static void
take_turns(struct endpoint *e, unsigned int me)
{
	struct message m = { .client = me };

	for (;;) {
		T_AWAIT((m.number = token_get()) >= MESSAGES || turn(m.number) == me);
		if (m.number >= MESSAGES)
			return;
		endpoint_send(e, &m, sizeof(m));
		__atomic_store_n(token, m.number + 1, __ATOMIC_RELEASE);
	}
}

/*
 * All messages in the order of sending, or only those of each client; and each client has
 * a pointer.
 */
static void
check_order(struct endpoint *service, bool across_clients)
{
	struct doca_comm_channel_addr_t *peers[CLIENTS] = { NULL };
	uint32_t i, k, next[CLIENTS] = { 0 };
	uint8_t room[CHANNEL_MSG_MAX];
	struct message m;

	for (i = 0; i < MESSAGES; i++) {
		T_EQ(endpoint_recv(service, room), sizeof(m));
		memcpy(&m, room, sizeof(m));
		if (across_clients)
			T_EQ(m.number, i);
		T_LT(m.number, MESSAGES);
		T_EQ(m.client, turn(m.number));
		T_GE(m.number, next[m.client]);
		next[m.client] = m.number + 1;
		if (peers[m.client] == NULL)
			peers[m.client] = service->peer;
		T_CHECK(peers[m.client] == service->peer);
	}
	for (i = 0; i < CLIENTS; i++)
		for (k = 0; k < i; k++)
			T_CHECK(peers[i] != peers[k]);
	endpoint_recv_none(service);
}

struct client {
	struct endpoint e;
	unsigned int me;
	pthread_t thread;
};

static void *
client_thread(void *arg)
{
	struct client *c = arg;

	take_turns(&c->e, c->me);
	return NULL;
}

static void
client_threads(bool across_clients)
{
	struct client c[CLIENTS];
	struct endpoint service;
	unsigned int i;

	token_create();
	service_endpoint_create(&service, CHANNEL_PF0);
	if (across_clients)
		endpoint_need_order();
	T_OK(doca_comm_channel_ep_listen(service.ep, CHANNEL_NAME));
	for (i = 0; i < CLIENTS; i++) {
		c[i].me = i;
		client_endpoint_create(&c[i].e, CHANNEL_PF0);
		endpoint_connect(&c[i].e, &service);
	}
	for (i = 0; i < CLIENTS; i++)
		T_EQ(pthread_create(&c[i].thread, NULL, client_thread, &c[i]), 0);
	check_order(&service, across_clients);
	for (i = 0; i < CLIENTS; i++) {
		T_EQ(pthread_join(c[i].thread, NULL), 0);
		endpoint_destroy(&c[i].e);
	}
	endpoint_destroy(&service);
}

/* behaviour: L9 */
T_CASE(threads)
{
	client_threads(true);
}

/* On any device. behaviour: L9 */
T_CASE(each_client)
{
	client_threads(false);
}

static int
client_process(int fd, void *arg)
{
	struct endpoint e;

	client_endpoint_create(&e, CHANNEL_PF0);
	endpoint_connect_away(&e);
	t_say(fd, 'C', 0);
	t_hear(fd, 'G');
	take_turns(&e, *(unsigned int *)arg);
	t_hear(fd, 'Q');
	endpoint_destroy(&e);
	return 0;
}

static int
service_process(int fd, void *arg __rte_unused)
{
	struct doca_comm_channel_addr_t **list;
	struct endpoint e;

	service_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(e.ep, CHANNEL_NAME));
	t_say(fd, 'R', 0);
	T_AWAIT((endpoint_recv_none(&e), service_list(&e, &list) == CLIENTS));
	t_hear(fd, 'G');
	check_order(&e, true);
	t_say(fd, 'Q', 0);
	t_hear(fd, 'Q');
	endpoint_destroy(&e);
	return 0;
}

/* behaviour: L9 */
T_CASE(processes)
{
	struct t_proc service, client[CLIENTS];
	unsigned int me[CLIENTS], i;

	token_create();
	t_proc_start(&service, "service", service_process, NULL);
	t_hear(service.fd, 'R');
	for (i = 0; i < CLIENTS; i++) {
		me[i] = i;
		t_proc_start(&client[i], "client", client_process, &me[i]);
	}
	for (i = 0; i < CLIENTS; i++)
		t_hear(client[i].fd, 'C');
	t_say(service.fd, 'G', 0);
	for (i = 0; i < CLIENTS; i++)
		t_say(client[i].fd, 'G', 0);
	t_hear(service.fd, 'Q');
	for (i = 0; i < CLIENTS; i++)
		t_say(client[i].fd, 'Q', 0);
	for (i = 0; i < CLIENTS; i++)
		t_proc_join(&client[i]);
	t_say(service.fd, 'Q', 0);
	t_proc_join(&service);
}

static void *
pair_thread(void *arg)
{
	struct endpoint *e = arg;
	uint32_t i;

	for (i = 0; i < PAIRS; i++) {
		/* The service has seen the last pair: it looks at empty links. */
		T_AWAIT(token_get() == i);
		endpoint_send_number(&e[i % 2], 2 * i);
		endpoint_send_number(&e[(i + 1) % 2], 2 * i + 1);
	}
	return NULL;
}

/* One thread with two clients: it has sent by one before it sends by the other. behaviour: L9 */
T_CASE(one_thread)
{
	struct endpoint client[2], service;
	pthread_t thread;
	uint32_t i;

	token_create();
	service_endpoint_create(&service, CHANNEL_PF0);
	endpoint_need_order();
	T_OK(doca_comm_channel_ep_listen(service.ep, CHANNEL_NAME));
	for (i = 0; i < 2; i++) {
		client_endpoint_create(&client[i], CHANNEL_PF0);
		endpoint_connect(&client[i], &service);
	}
	T_EQ(pthread_create(&thread, NULL, pair_thread, client), 0);
	for (i = 0; i < 2 * PAIRS; i++) {
		endpoint_recv_number(&service, i);
		__atomic_store_n(token, (i + 1) / 2, __ATOMIC_RELEASE);
	}
	T_EQ(pthread_join(thread, NULL), 0);
	for (i = 0; i < 2; i++)
		endpoint_destroy(&client[i]);
	endpoint_destroy(&service);
}
