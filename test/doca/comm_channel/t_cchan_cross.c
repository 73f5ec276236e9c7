/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Endpoints of doca_comm_channel and those of other generations and of doca_comch. */

#include <pthread.h>
#include <stdlib.h>

#include "comch/queue.h"
#include "comm_channel/endpoint.h"
#include "comm_channel/endpoint_102.h"
#include "t_main.h"

#define ADDR struct doca_comm_channel_addr_t

/* Both ways, all lengths at the limits; the peer of the endpoint is known or not yet. */
static void
messages(struct side *side, struct endpoint *e, bool endpoint_first)
{
	static const size_t lens[] = { 1, 8, 255, 256, 257, 4079, 4080 };
	uint8_t msg[CHANNEL_MSG_MAX], in[CHANNEL_MSG_MAX];
	unsigned int i, sent;

	for (i = 0; i < 2 * RTE_DIM(lens); i++) {
		const size_t len = lens[i / 2];

		t_fill(msg, len, i);
		if ((i % 2 == 0) == endpoint_first) {
			sent = side->nb_msgs;
			endpoint_send(e, msg, len);
			T_WAIT(doca_pe_progress(side->pe), side->nb_msgs == sent + 1);
			T_EQ(side->msg_len, len);
			T_VERIFY(side->msg, len, i);
		} else {
			sent = side->nb_sent;
			side_send(side, msg, (uint32_t)len);
			T_EQ(endpoint_recv(e, in), len);
			T_VERIFY(in, len, i);
			T_WAIT(doca_pe_progress(side->pe), (endpoint_recv_none(e),
				side->nb_sent == sent + 1));
		}
	}
}

/* A stream to the endpoint, which does not look for a while. */
static void
stream(struct side *side, struct endpoint *e)
{
	const unsigned int before = side->nb_sent;
	doca_error_t ret;
	unsigned int i;
	uint32_t n;

	for (i = 0; i < 500; i++)
		side_send(side, &i, sizeof(i));
	for (i = 0; i < 1000; i++)
		doca_pe_progress(side->pe);
	for (i = 0; i < 500; i++) {
		size_t len = sizeof(n);

		T_WAIT(doca_pe_progress(side->pe), (ret = doca_comm_channel_ep_recvfrom(e->ep, &n,
			&len, 0, &e->peer)) != DOCA_ERROR_AGAIN);
		T_OK(ret);
		T_EQ(n, i);
	}
	T_WAIT(doca_pe_progress(side->pe), (endpoint_recv_none(e), side->nb_sent == before + 500));
}

/* A service of such endpoints has no fast path. */
static void
no_fast_path(struct side *side)
{
	struct doca_comch_producer *producer;
	struct doca_comch_consumer *consumer;
	struct memory mem;

	T_IS(doca_comch_producer_create(side->conn, &producer), DOCA_ERROR_NOT_PERMITTED);
	memory_create(&mem, side->dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	T_IS(doca_comch_consumer_create(side->conn, mem.mmap, &consumer), DOCA_ERROR_NOT_PERMITTED);
	memory_destroy(&mem);
	T_EQ(side->nb_new, 0);
}

static void
comch_client_up(struct side *side, struct endpoint *service)
{
	client_create(side, CHANNEL_NAME);
	T_IS(doca_ctx_start(side->ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(side->pe), (endpoint_recv_none(service),
		ctx_is_running(side->ctx)));
}

/* behaviour: L30 */
T_CASE(comch_client)
{
	struct endpoint service;
	struct side client;
	struct peer_stats s;
	ADDR **list;

	service_endpoint_create(&service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(service.ep, CHANNEL_NAME));
	comch_client_up(&client, &service);
	messages(&client, &service, false);
	stream(&client, &service);
	no_fast_path(&client);
	T_OK(endpoint_state(&service));
	peer_stats_get(service.peer, &s);
	T_EQ(s.recv_messages, 507);
	T_EQ(s.send_messages, 7);
	/* It leaves. */
	T_IS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(client.pe), (service_list(&service, &list),
		ctx_is_idle(client.ctx)));
	T_AWAIT(endpoint_state(&service) == DOCA_ERROR_CONNECTION_RESET);
	T_OK(doca_comm_channel_ep_disconnect(service.ep, service.peer));
	side_destroy(&client);
	/* Another one, which the service leaves. */
	comch_client_up(&client, &service);
	messages(&client, &service, false);
	T_OK(doca_comm_channel_ep_disconnect(service.ep, service.peer));
	T_WAIT(doca_pe_progress(client.pe), ctx_is_idle(client.ctx));
	side_destroy(&client);
	endpoint_destroy(&service);
}

static void
comch_server_meets(struct side *server, struct endpoint *client, unsigned int nb)
{
	endpoint_dial(client, CHANNEL_NAME);
	T_WAIT(doca_pe_progress(server->pe), endpoint_state(client) == DOCA_SUCCESS &&
		server->nb_connects == nb);
}

/* behaviour: L30 */
T_CASE(comch_server)
{
	struct endpoint client;
	struct side server;

	server_create(&server, CHANNEL_NAME);
	T_OK(doca_ctx_start(server.ctx));
	client_endpoint_create(&client, CHANNEL_PF0);
	comch_server_meets(&server, &client, 1);
	messages(&server, &client, true);
	stream(&server, &client);
	no_fast_path(&server);
	T_OK(doca_comm_channel_ep_disconnect(client.ep, client.peer));
	T_WAIT(doca_pe_progress(server.pe), server.nb_disconnects == 1);
	comch_server_meets(&server, &client, 2);
	messages(&server, &client, true);
	T_OK(doca_comch_server_disconnect(server.server, server.conn));
	T_WAIT(doca_pe_progress(server.pe), endpoint_state(&client) == DOCA_ERROR_CONNECTION_RESET);
	endpoint_destroy(&client);
	doca_ctx_stop(server.ctx);
	T_WAIT(doca_pe_progress(server.pe), ctx_is_idle(server.ctx));
	side_destroy(&server);
}

/* A client of each at once. behaviour: L9, L30 */
CHANNEL_CASE(mixed_clients, t)
{
	struct doca_comm_channel_addr_t *peers[2];
	struct side comch;
	uint32_t i;

	comch_client_up(&comch, &t->service);
	for (i = 0; i < 1000; i++) {
		if (i % 2 == 0)
			endpoint_send_number(&t->client, i);
		else
			side_send(&comch, &i, sizeof(i));
		endpoint_recv_number(&t->service, i);
		if (i < 2)
			peers[i] = t->service.peer;
		T_CHECK(t->service.peer == peers[i % 2]);
		doca_pe_progress(comch.pe);
	}
	T_IS(doca_ctx_stop(comch.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(comch.pe), (endpoint_recv_none(&t->service),
		ctx_is_idle(comch.ctx)));
	side_destroy(&comch);
}

/* A message of each side; *old* is of 1.2. */
static void
exchange(struct endpoint *e, struct doca_comm_channel_ep_t *old, ADDR *to_new, bool old_first)
{
	uint8_t in[CHANNEL_MSG_MAX];
	unsigned int i;

	for (i = 0; i < 100; i++) {
		if ((i % 2 == 0) == old_first) {
			T_OK(doca_comm_channel_ep_sendto(old, &i, sizeof(i), 0, to_new));
			endpoint_recv_number(e, i);
			continue;
		}
		endpoint_send_number(e, i);
		T_EQ(endpoint_102_recv(old, in, sizeof(in), &to_new), sizeof(i));
		T_EQ(memcmp(in, &i, sizeof(i)), 0);
	}
}

static doca_error_t
old_try(struct doca_comm_channel_ep_t *old)
{
	uint8_t in[16];
	size_t len = sizeof(in);
	ADDR *peer;

	return doca_comm_channel_ep_recvfrom(old, in, &len, 0, &peer);
}

/* A service of 1.2. behaviour: L28, L30 */
T_CASE(old_service)
{
	struct doca_comm_channel_ep_t *old = endpoint_102_create_nonblock(64, 0);
	struct endpoint client, second;
	uint8_t in[CHANNEL_MSG_MAX];
	doca_error_t ret;
	ADDR *peer;

	setenv("COMCH_ROLE", "dpu", 1);
	T_OK(doca_comm_channel_ep_listen(old, CHANNEL_NAME));
	client_endpoint_create(&client, CHANNEL_PF0);
	endpoint_dial(&client, CHANNEL_NAME);
	T_AWAIT((ret = old_try(old), endpoint_state(&client) == DOCA_SUCCESS));
	T_IS(ret, DOCA_ERROR_AGAIN);
	endpoint_send(&client, "new", 4);
	T_EQ(endpoint_102_recv(old, in, sizeof(in), &peer), 4);
	exchange(&client, old, peer, false);
	/* Its rule counts for clients of any generation. */
	client_endpoint_create(&second, CHANNEL_PF0);
	endpoint_dial(&second, CHANNEL_NAME);
	T_AWAIT((endpoint_state(&second), (ret = old_try(old)) != DOCA_ERROR_AGAIN));
	T_IS(ret, DOCA_ERROR_CONNECTION_ABORTED);
	T_AWAIT(endpoint_state(&second) == DOCA_ERROR_CONNECTION_ABORTED);
	endpoint_destroy(&second);
	endpoint_destroy(&client);
	T_OK(doca_comm_channel_ep_destroy(old));
}

static void *
old_connect(void *arg __rte_unused)
{
	struct doca_comm_channel_ep_t *old = endpoint_102_create_nonblock(64, 0);
	ADDR *peer = NULL;

	T_OK(doca_comm_channel_ep_connect(old, CHANNEL_NAME, &peer));
	T_OK(doca_comm_channel_ep_sendto(old, "old", 4, 0, peer));
	return old;
}

/* A client of 1.2, whose connect waits. behaviour: L30 */
T_CASE(old_client)
{
	struct endpoint service;
	uint8_t in[CHANNEL_MSG_MAX];
	pthread_t thread;
	ADDR *peer;
	void *old;

	service_endpoint_create(&service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(service.ep, CHANNEL_NAME));
	setenv("COMCH_ROLE", "host", 1);
	T_EQ(pthread_create(&thread, NULL, old_connect, NULL), 0);
	T_EQ(endpoint_recv(&service, in), 4);
	T_STR_EQ((char *)in, "old");
	T_EQ(pthread_join(thread, &old), 0);
	endpoint_send(&service, "new", 4);
	T_EQ(endpoint_102_recv(old, in, sizeof(in), &peer), 4);
	T_STR_EQ((char *)in, "new");
	exchange(&service, old, peer, true);
	T_OK(doca_comm_channel_ep_destroy(old));
	T_AWAIT(endpoint_state(&service) == DOCA_ERROR_CONNECTION_RESET);
	endpoint_destroy(&service);
}
