/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Endpoints of doca_comm_channel and those of other generations and of doca_comch. */

#include <pthread.h>
#include <stdlib.h>

#include "t_main.h"
#include "comm_channel/endpoint.h"
#include "comm_channel/endpoint_102.h"

#define ADDR struct doca_comm_channel_addr_t

/* The other side runs, until the condition is true. */
#define COMCH_UNTIL(node, cond) TCH_UNTIL((doca_pe_progress((node)->pe), (cond)))

/* Both ways, all lengths at the limits; the peer of the endpoint is known or not yet. */
static void
messages(struct td_node *node, struct tch_end *e, bool endpoint_first)
{
	static const size_t lens[] = { 1, 8, 255, 256, 257, 4079, 4080 };
	uint8_t msg[TCH_MAX], in[TCH_MAX];
	unsigned int i, sent;

	for (i = 0; i < 2 * RTE_DIM(lens); i++) {
		const size_t len = lens[i / 2];

		t_fill(msg, len, i);
		if ((i % 2 == 0) == endpoint_first) {
			sent = node->nb_msgs;
			tch_send(e, msg, len);
			COMCH_UNTIL(node, node->nb_msgs == sent + 1);
			T_EQ(node->msg_len, len);
			T_VERIFY(node->msg, len, i);
		} else {
			sent = node->nb_sent;
			td_send(node, msg, (uint32_t)len);
			T_EQ(tch_recv(e, in), len);
			T_VERIFY(in, len, i);
			COMCH_UNTIL(node, (tch_recv_none(e), node->nb_sent == sent + 1));
		}
	}
}

/* A stream to the endpoint, which does not look for a while. */
static void
stream(struct td_node *node, struct tch_end *e)
{
	const unsigned int before = node->nb_sent;
	doca_error_t ret;
	unsigned int i;
	uint32_t n;

	for (i = 0; i < 500; i++)
		td_send(node, &i, sizeof(i));
	for (i = 0; i < 1000; i++)
		doca_pe_progress(node->pe);
	for (i = 0; i < 500; i++) {
		size_t len = sizeof(n);

		COMCH_UNTIL(node, (ret = doca_comm_channel_ep_recvfrom(e->ep, &n, &len, 0,
			&e->peer)) != DOCA_ERROR_AGAIN);
		TD_OK(ret);
		T_EQ(n, i);
	}
	COMCH_UNTIL(node, (tch_recv_none(e), node->nb_sent == before + 500));
}

/* A service of such endpoints has no fast path. */
static void
no_fast_path(struct td_node *node)
{
	struct doca_comch_producer *producer;
	struct doca_comch_consumer *consumer;
	struct td_mem mem;

	TD_IS(doca_comch_producer_create(node->conn, &producer), DOCA_ERROR_NOT_PERMITTED);
	td_mem_create(&mem, node->dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	TD_IS(doca_comch_consumer_create(node->conn, mem.mmap, &consumer),
		DOCA_ERROR_NOT_PERMITTED);
	td_mem_destroy(&mem);
	T_EQ(node->nb_new, 0);
}

static void
comch_client_up(struct td_node *node, struct tch_end *service)
{
	td_client_create(node, TCH_NAME);
	TD_IS(doca_ctx_start(node->ctx), DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(node, (tch_recv_none(service), td_state(node->ctx) ==
		DOCA_CTX_STATE_RUNNING));
}

/* behaviour: L30 */
static void
comch_client(void)
{
	struct tch_end service;
	struct td_node client;
	struct tch_stats s;
	ADDR **list;

	tch_service_create(&service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(service.ep, TCH_NAME));
	comch_client_up(&client, &service);
	messages(&client, &service, false);
	stream(&client, &service);
	no_fast_path(&client);
	TD_OK(tch_state(&service));
	tch_stats_get(service.peer, &s);
	T_EQ(s.recv_messages, 507);
	T_EQ(s.send_messages, 7);
	/* It leaves. */
	TD_IS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(&client, (tch_list(&service, &list), td_state(client.ctx) ==
		DOCA_CTX_STATE_IDLE));
	TCH_UNTIL(tch_state(&service) == DOCA_ERROR_CONNECTION_RESET);
	TD_OK(doca_comm_channel_ep_disconnect(service.ep, service.peer));
	td_node_destroy(&client);
	/* Another one, which the service leaves. */
	comch_client_up(&client, &service);
	messages(&client, &service, false);
	TD_OK(doca_comm_channel_ep_disconnect(service.ep, service.peer));
	COMCH_UNTIL(&client, td_state(client.ctx) == DOCA_CTX_STATE_IDLE);
	td_node_destroy(&client);
	tch_end_destroy(&service);
}

static void
comch_server_meets(struct td_node *server, struct tch_end *client, unsigned int nb)
{
	tch_dial(client, TCH_NAME);
	COMCH_UNTIL(server, tch_state(client) == DOCA_SUCCESS && server->nb_connects == nb);
}

/* behaviour: L30 */
static void
comch_server(void)
{
	struct tch_end client;
	struct td_node server;

	td_server_create(&server, TCH_NAME);
	TD_OK(doca_ctx_start(server.ctx));
	tch_client_create(&client, TCH_PF0);
	comch_server_meets(&server, &client, 1);
	messages(&server, &client, true);
	stream(&server, &client);
	no_fast_path(&server);
	TD_OK(doca_comm_channel_ep_disconnect(client.ep, client.peer));
	COMCH_UNTIL(&server, server.nb_disconnects == 1);
	comch_server_meets(&server, &client, 2);
	messages(&server, &client, true);
	TD_OK(doca_comch_server_disconnect(server.server, server.conn));
	COMCH_UNTIL(&server, tch_state(&client) == DOCA_ERROR_CONNECTION_RESET);
	tch_end_destroy(&client);
	doca_ctx_stop(server.ctx);
	COMCH_UNTIL(&server, td_state(server.ctx) == DOCA_CTX_STATE_IDLE);
	td_node_destroy(&server);
}

/* A client of each at once. behaviour: L9, L30 */
static void
mixed_clients(void)
{
	struct doca_comm_channel_addr_t *peers[2];
	struct td_node comch;
	struct tch t;
	uint32_t i;

	tch_open(&t);
	comch_client_up(&comch, &t.service);
	for (i = 0; i < 1000; i++) {
		if (i % 2 == 0)
			tch_send_number(&t.client, i);
		else
			td_send(&comch, &i, sizeof(i));
		tch_recv_number(&t.service, i);
		if (i < 2)
			peers[i] = t.service.peer;
		T_CHECK(t.service.peer == peers[i % 2]);
		doca_pe_progress(comch.pe);
	}
	TD_IS(doca_ctx_stop(comch.ctx), DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(&comch, (tch_recv_none(&t.service), td_state(comch.ctx) ==
		DOCA_CTX_STATE_IDLE));
	td_node_destroy(&comch);
	tch_close(&t);
}

/* A message of each side; *old* is of 1.2. */
static void
exchange(struct tch_end *e, struct doca_comm_channel_ep_t *old, ADDR *to_new, bool old_first)
{
	uint8_t in[TCH_MAX];
	unsigned int i;

	for (i = 0; i < 100; i++) {
		if ((i % 2 == 0) == old_first) {
			TD_OK(doca_comm_channel_ep_sendto(old, &i, sizeof(i), 0, to_new));
			tch_recv_number(e, i);
			continue;
		}
		tch_send_number(e, i);
		T_EQ(tch_102_recv(old, in, sizeof(in), &to_new), sizeof(i));
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
static void
old_service(void)
{
	struct doca_comm_channel_ep_t *old = tch_102_create();
	struct tch_end client, second;
	uint8_t in[TCH_MAX];
	doca_error_t ret;
	ADDR *peer;

	setenv("COMCH_ROLE", "dpu", 1);
	TD_OK(doca_comm_channel_ep_listen(old, TCH_NAME));
	tch_client_create(&client, TCH_PF0);
	tch_dial(&client, TCH_NAME);
	TCH_UNTIL((ret = old_try(old), tch_state(&client) == DOCA_SUCCESS));
	TD_IS(ret, DOCA_ERROR_AGAIN);
	tch_send(&client, "new", 4);
	T_EQ(tch_102_recv(old, in, sizeof(in), &peer), 4);
	exchange(&client, old, peer, false);
	/* Its rule counts for clients of any generation. */
	tch_client_create(&second, TCH_PF0);
	tch_dial(&second, TCH_NAME);
	TCH_UNTIL((tch_state(&second), (ret = old_try(old)) != DOCA_ERROR_AGAIN));
	TD_IS(ret, DOCA_ERROR_CONNECTION_ABORTED);
	TCH_UNTIL(tch_state(&second) == DOCA_ERROR_CONNECTION_ABORTED);
	tch_end_destroy(&second);
	tch_end_destroy(&client);
	TD_OK(doca_comm_channel_ep_destroy(old));
}

static void *
old_connect(void *arg)
{
	struct doca_comm_channel_ep_t *old = tch_102_create();
	ADDR *peer = NULL;

	RTE_SET_USED(arg);
	TD_OK(doca_comm_channel_ep_connect(old, TCH_NAME, &peer));
	TD_OK(doca_comm_channel_ep_sendto(old, "old", 4, 0, peer));
	return old;
}

/* A client of 1.2, whose connect waits. behaviour: L30 */
static void
old_client(void)
{
	struct tch_end service;
	uint8_t in[TCH_MAX];
	pthread_t thread;
	ADDR *peer;
	void *old;

	tch_service_create(&service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(service.ep, TCH_NAME));
	setenv("COMCH_ROLE", "host", 1);
	T_EQ(pthread_create(&thread, NULL, old_connect, NULL), 0);
	T_EQ(tch_recv(&service, in), 4);
	T_STR_EQ((char *)in, "old");
	T_EQ(pthread_join(thread, &old), 0);
	tch_send(&service, "new", 4);
	T_EQ(tch_102_recv(old, in, sizeof(in), &peer), 4);
	T_STR_EQ((char *)in, "new");
	exchange(&service, old, peer, true);
	TD_OK(doca_comm_channel_ep_destroy(old));
	TCH_UNTIL(tch_state(&service) == DOCA_ERROR_CONNECTION_RESET);
	tch_end_destroy(&service);
}

static const struct t_case cases[] = {
	{ "comch_client", comch_client },
	{ "comch_server", comch_server },
	{ "mixed_clients", mixed_clients },
	{ "old_service", old_service },
	{ "old_client", old_client },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
