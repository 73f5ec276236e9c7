/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Endpoints of doca_comm_channel that several threads use, without a lock of the
 * program's: they send, receive, arm and sleep, and ask for this and that.
 */

#include <pthread.h>
#include <sched.h>

#include "comm_channel/endpoint.h"
#include "t_main.h"

/* Messages each way. */
#define NB t_repeat(200000)

struct side {
	struct endpoint e;
	bool is_service;
	int send_fd, recv_fd;
	bool done; /* both threads of messages are through */
};

static void
side_ready(struct side *s, bool is_service)
{
	s->is_service = is_service;
	T_OK(doca_comm_channel_ep_get_event_channel(s->e.ep, &s->send_fd, &s->recv_fd));
}

static void
sleep_on(int fd, const char *what, uint32_t number)
{
	if (!t_readable(fd, T_TIMEOUT_MS))
		T_FAIL("nothing woke the %s at message %u", what, number);
}

static void *
send_main(void *arg)
{
	struct side *s = arg;
	doca_error_t ret;
	uint32_t i;

	for (i = 0; i < NB;) {
		ret = doca_comm_channel_ep_sendto(s->e.ep, &i, sizeof(i), 0, s->e.peer);
		if (ret == DOCA_SUCCESS) {
			i++;
			continue;
		}
		T_IS(ret, DOCA_ERROR_AGAIN);
		T_OK(doca_comm_channel_ep_event_handle_arm_send(s->e.ep));
		sleep_on(s->send_fd, "sender", i);
	}
	return NULL;
}

static void *
recv_main(void *arg)
{
	struct doca_comm_channel_addr_t *peer;
	struct side *s = arg;
	doca_error_t ret;
	uint32_t i, got;
	size_t len;

	for (i = 0; i < NB;) {
		len = sizeof(got);
		ret = doca_comm_channel_ep_recvfrom(s->e.ep, &got, &len, 0, &peer);
		if (ret == DOCA_SUCCESS) {
			T_CHECK(peer == s->e.peer);
			T_EQ(len, sizeof(got));
			T_EQ(got, i++);
			continue;
		}
		T_IS(ret, DOCA_ERROR_AGAIN);
		T_OK(doca_comm_channel_ep_event_handle_arm_recv(s->e.ep));
		sleep_on(s->recv_fd, "receiver", i);
	}
	return NULL;
}

/* All that does not take a message, again and again. */
static void *
other_main(void *arg)
{
	struct side *s = arg;
	struct peer_stats stats, last = { 0 };
	uint64_t data, n = 0;

	while (!__atomic_load_n(&s->done, __ATOMIC_RELAXED)) {
		T_OK(doca_comm_channel_ep_event_handle_arm_send(s->e.ep));
		T_OK(doca_comm_channel_ep_event_handle_arm_recv(s->e.ep));
		T_OK(endpoint_state(&s->e));
		peer_stats_get(s->e.peer, &stats);
		T_CHECK(stats.send_messages >= last.send_messages);
		T_CHECK(stats.recv_messages >= last.recv_messages);
		last = stats;
		T_OK(doca_comm_channel_peer_addr_set_user_data(s->e.peer, ++n));
		T_GETS(doca_comm_channel_peer_addr_get_user_data(s->e.peer, &data), data, n);
		if (s->is_service)
			T_EQ(service_pending(&s->e), 0);
		sched_yield();
	}
	return NULL;
}

/* behaviour: L31 */
CHANNEL_CASE(both_ways, t)
{
	struct side s[2];
	pthread_t send[2], recv[2], other[2];
	struct peer_stats stats;
	unsigned int i;

	channel_meet(t);
	memset(s, 0, sizeof(s));
	s[0].e = t->service;
	s[1].e = t->client;
	for (i = 0; i < 2; i++)
		side_ready(&s[i], i == 0);
	for (i = 0; i < 2; i++) {
		T_EQ(pthread_create(&send[i], NULL, send_main, &s[i]), 0);
		T_EQ(pthread_create(&recv[i], NULL, recv_main, &s[i]), 0);
		T_EQ(pthread_create(&other[i], NULL, other_main, &s[i]), 0);
	}
	for (i = 0; i < 2; i++) {
		T_EQ(pthread_join(send[i], NULL), 0);
		T_EQ(pthread_join(recv[i], NULL), 0);
	}
	for (i = 0; i < 2; i++) {
		__atomic_store_n(&s[i].done, true, __ATOMIC_RELAXED);
		T_EQ(pthread_join(other[i], NULL), 0);
		T_OK(endpoint_state(&s[i].e));
		peer_stats_get(s[i].e.peer, &stats);
		/* The client's first was to meet. */
		T_EQ(stats.send_messages, NB + i);
		T_EQ(stats.recv_messages, NB + 1 - i);
	}
}
