/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * doca_comm_channel of DOCA 1.2 to 1.4: threads that wait in calls for one
 * endpoint, without a lock of the program's.
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <doca_comm_channel.h>

#include "comm_channel/endpoint_102.h"
#include "common/result.h"
#include "common/thread.h"
#include "t_main.h"
#include "t_proc.h"

#if COMCH_DOCA_GENERATION != 102
#error "to be built for DOCA 1.2"
#endif

#define NAME "t102"
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define NB t_repeat(2000)
#else
#define NB t_repeat(5000)
#endif
#define MAX_MSGS 16
#define EP struct doca_comm_channel_ep_t
#define ADDR struct doca_comm_channel_addr_t

struct side {
	EP *ep;
	ADDR *peer;
	bool done;
};

static void *
meet_main(void *arg)
{
	struct side *s = arg;

	endpoint_102_recv_number(s->ep, &s->peer);
	return NULL;
}

/* The client connects, and sends one message. */
static void
meet(struct side *service, struct side *client)
{
	pthread_t thread;

	T_EQ(pthread_create(&thread, NULL, meet_main, service), 0);
	T_OK(doca_comm_channel_ep_connect(client->ep, NAME, &client->peer));
	endpoint_102_send_number(client->ep, client->peer, 0);
	T_EQ(pthread_join(thread, NULL), 0);
}

/* A service and a client of it that has sent one message. */
static void
open_both(struct side *service, struct side *client)
{
	memset(service, 0, sizeof(*service));
	memset(client, 0, sizeof(*client));
	service->ep = endpoint_102_create(MAX_MSGS, 0);
	client->ep = endpoint_102_create(MAX_MSGS, 0);
	setenv("COMCH_ROLE", "dpu", 1);
	T_OK(doca_comm_channel_ep_listen(service->ep, NAME));
	setenv("COMCH_ROLE", "host", 1);
	meet(service, client);
}

static void
close_both(struct side *service, struct side *client)
{
	T_OK(doca_comm_channel_ep_destroy(client->ep));
	T_OK(doca_comm_channel_ep_destroy(service->ep));
}

static void *
send_main(void *arg)
{
	struct side *s = arg;
	uint32_t i;

	for (i = 0; i < NB; i++)
		T_OK(doca_comm_channel_ep_sendto(s->ep, &i, sizeof(i), 0, s->peer));
	return NULL;
}

static void *
recv_main(void *arg)
{
	struct side *s = arg;
	uint32_t i, got;
	ADDR *peer;
	size_t len;

	for (i = 0; i < NB; i++) {
		len = sizeof(got);
		T_GETS(doca_comm_channel_ep_recvfrom(s->ep, &got, &len, 0, &peer), peer, s->peer);
		T_EQ(got, i);
	}
	return NULL;
}

/* Runs the poll of the others, which wait for what it finds. */
static void *
look_main(void *arg)
{
	struct doca_comm_channel_peer_addr_info info;
	struct side *s = arg;

	while (!__atomic_load_n(&s->done, __ATOMIC_RELAXED)) {
		T_OK(doca_comm_channel_peer_addr_info_get(s->peer, &info));
		T_CHECK(doca_comm_channel_ep_event_channel_get(s->ep) >= 0);
		sched_yield();
	}
	return NULL;
}

/* behaviour: L26, L31 */
T_CASE(both_ways)
{
	static void *(*const mains[])(void *) = { send_main, recv_main, look_main };
	pthread_t thread[2][RTE_DIM(mains)];
	struct side s[2];
	unsigned int i, j;

	open_both(&s[0], &s[1]);
	for (i = 0; i < 2; i++)
		for (j = 0; j < RTE_DIM(mains); j++)
			T_EQ(pthread_create(&thread[i][j], NULL, mains[j], &s[i]), 0);
	/* Messages are received, whichever thread runs which poll. */
	for (j = 0; j < RTE_DIM(mains); j++)
		for (i = 0; i < 2; i++) {
			__atomic_store_n(&s[i].done, mains[j] == look_main, __ATOMIC_RELAXED);
			T_EQ(pthread_join(thread[i][j], NULL), 0);
		}
	close_both(&s[0], &s[1]);
}

struct waiter {
	struct side *side;
	pthread_t thread;
	uint32_t is_near; /* the next call is the one that waits */
	uint32_t nb_sent;
	uint32_t is_over;
	doca_error_t ret;
};

static void *
wait_recv_main(void *arg)
{
	struct waiter *w = arg;
	uint32_t number;
	size_t len = sizeof(number);
	ADDR *peer;

	__atomic_store_n(&w->is_near, 1, __ATOMIC_RELEASE);
	w->ret = doca_comm_channel_ep_recvfrom(w->side->ep, &number, &len, 0, &peer);
	__atomic_store_n(&w->is_over, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *
wait_send_main(void *arg)
{
	struct waiter *w = arg;

	do {
		/* The service may have the credit of the first message still. */
		__atomic_store_n(&w->is_near, ++w->nb_sent >= MAX_MSGS, __ATOMIC_RELEASE);
		w->ret = doca_comm_channel_ep_sendto(w->side->ep, w, sizeof(*w), 0, w->side->peer);
	} while (w->ret == DOCA_SUCCESS);
	return NULL;
}

static void
waiter_start(struct waiter *w, struct side *s, void *(*fn)(void *))
{
	static unsigned int nb;
	char name[16];

	memset(w, 0, sizeof(*w));
	w->side = s;
	T_EQ(pthread_create(&w->thread, NULL, fn, w), 0);
	snprintf(name, sizeof(name), "waiter-%u", nb++);
	T_EQ(pthread_setname_np(w->thread, name), 0);
	T_AWAIT(__atomic_load_n(&w->is_near, __ATOMIC_ACQUIRE) != 0 && thread_state(name) == 'S');
}

/* A disconnect by one thread ends the waits of the others. behaviour: L31 */
T_CASE(disconnect_ends_waits)
{
	struct side service, client;
	struct waiter w[3];
	unsigned int i;

	open_both(&service, &client);
	waiter_start(&w[0], &client, wait_recv_main);
	waiter_start(&w[1], &client, wait_recv_main);
	waiter_start(&w[2], &client, wait_send_main);
	T_OK(doca_comm_channel_ep_disconnect(client.ep, client.peer));
	for (i = 0; i < RTE_DIM(w); i++) {
		T_EQ(pthread_join(w[i].thread, NULL), 0);
		T_IS(w[i].ret, DOCA_ERROR_NOT_CONNECTED);
	}
	close_both(&service, &client);
}

/* So do waits whose thread wakes when the endpoint has another connection. behaviour: L31 */
T_CASE(connect_after_disconnect)
{
	struct side service, client;
	struct waiter w;
	unsigned int i;

	open_both(&service, &client);
	for (i = 0; i < 6; i++) {
		waiter_start(&w, &client, wait_recv_main);
		T_OK(doca_comm_channel_ep_disconnect(client.ep, client.peer));
		meet(&service, &client);
		T_AWAIT(__atomic_load_n(&w.is_over, __ATOMIC_ACQUIRE) != 0);
		T_EQ(pthread_join(w.thread, NULL), 0);
		T_IS(w.ret, DOCA_ERROR_NOT_CONNECTED);
	}
	close_both(&service, &client);
}
