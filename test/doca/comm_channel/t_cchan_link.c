/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections of doca_comm_channel: how they come about, and how they end. */

#include "comm_channel/endpoint.h"
#include "t_main.h"

#define ADDR struct doca_comm_channel_addr_t

/* More calls than anything takes that happens by itself. */
#define CALLS 1000

static doca_error_t
try_recv(struct endpoint *e)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);

	return doca_comm_channel_ep_recvfrom(e->ep, msg, &len, 0, &e->peer);
}

static doca_error_t
try_send(struct endpoint *e)
{
	return doca_comm_channel_ep_sendto(e->ep, "try", 3, 0, e->peer);
}

/* A client whose connection never came about: all it is told, and a new one. */
static void
check_aborted(struct endpoint *client)
{
	ADDR *peer = client->peer;

	T_AWAIT(endpoint_state(client) != DOCA_ERROR_CONNECTION_INPROGRESS);
	T_IS(endpoint_state(client), DOCA_ERROR_CONNECTION_ABORTED);
	T_IS(try_recv(client), DOCA_ERROR_CONNECTION_ABORTED);
	T_CHECK(client->peer == peer);
	T_NE(try_send(client), DOCA_SUCCESS);
	T_IS(endpoint_state(client), DOCA_ERROR_CONNECTION_ABORTED);
	T_OK(doca_comm_channel_ep_disconnect(client->ep, client->peer));
}

/* behaviour: L4, L21 */
T_CASE(nobody_listens)
{
	doca_error_t ret;
	unsigned int i;
	struct channel t;

	client_endpoint_create(&t.client, CHANNEL_PF0);
	for (i = 0; i < 3; i++) {
		t.client.peer = (ADDR *)&t;
		ret = doca_comm_channel_ep_connect(t.client.ep, CHANNEL_NAME, &t.client.peer);
		if (ret == DOCA_SUCCESS) {
			check_aborted(&t.client);
			continue;
		}
		T_IS(ret, DOCA_ERROR_CONNECTION_ABORTED);
		T_CHECK(t.client.peer == NULL);
		/* It is as it was before. */
		T_OK(doca_comm_channel_ep_set_recv_queue_size(t.client.ep, 16));
		T_IS(try_recv(&t.client), DOCA_ERROR_NOT_CONNECTED);
	}
	service_endpoint_create(&t.service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(t.service.ep, CHANNEL_NAME));
	endpoint_connect(&t.client, &t.service);
	channel_meet(&t);
	channel_close(&t);
}

/* behaviour: L5, L6, L18 */
CHANNEL_CASE_CREATED(in_progress, t)
{
	unsigned int i;

	T_EQ(service_pending(&t->service), 0);
	endpoint_dial(&t->client, CHANNEL_NAME);
	for (i = 0; i < CALLS; i++) {
		T_IS(endpoint_state(&t->client), DOCA_ERROR_CONNECTION_INPROGRESS);
		T_IS(try_send(&t->client), DOCA_ERROR_AGAIN);
		endpoint_recv_none(&t->client);
		/* To look is not to accept. */
		T_LE(service_pending(&t->service), 1);
	}
	T_AWAIT((endpoint_state(&t->client), service_pending(&t->service) == 1));
	T_AWAIT((endpoint_recv_none(&t->service), endpoint_state(&t->client) == DOCA_SUCCESS));
	T_EQ(service_pending(&t->service), 0);
	channel_meet(t);
}

/* Another service of the same name. */
static void
listen_anew(struct endpoint *service)
{
	service_endpoint_create(service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(service->ep, CHANNEL_NAME));
}

/* The service leaves without having accepted. behaviour: L5 */
T_CASE(refused)
{
	unsigned int i;
	struct channel t;

	for (i = 0; i < 2; i++) {
		channel_create(&t);
		endpoint_dial(&t.client, CHANNEL_NAME);
		if (i == 1)
			T_AWAIT((endpoint_state(&t.client), service_pending(&t.service) == 1));
		endpoint_destroy(&t.service);
		check_aborted(&t.client);
		listen_anew(&t.service);
		endpoint_connect(&t.client, &t.service);
		channel_meet(&t);
		channel_close(&t);
	}
}

/* behaviour: L5 */
CHANNEL_CASE_CREATED(not_accepted_in_time, t)
{
	endpoint_dial(&t->client, CHANNEL_NAME);
	T_AWAIT((endpoint_state(&t->client), service_pending(&t->service) == 1));
	check_aborted(&t->client);
	T_AWAIT(service_pending(&t->service) == 0);
	endpoint_connect(&t->client, &t->service);
	channel_meet(t);
}

/* Clients that give up before they are accepted, and others that wait. behaviour: L18 */
CHANNEL_CASE_CREATED(pending_clients, t)
{
	ADDR **list;
	struct endpoint c[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		client_endpoint_create(&c[i], CHANNEL_PF0);
		endpoint_dial(&c[i], CHANNEL_NAME);
		T_AWAIT((endpoint_state(&c[i]), service_pending(&t->service) == i + 1));
		T_EQ(service_list(&t->service, &list), 0);
	}
	T_OK(doca_comm_channel_ep_disconnect(c[0].ep, c[0].peer));
	T_AWAIT(service_pending(&t->service) == 2);
	endpoint_destroy(&c[1]);
	T_AWAIT((endpoint_state(&t->client), service_pending(&t->service) == 1));
	T_AWAIT((endpoint_recv_none(&t->service), endpoint_state(&c[2]) == DOCA_SUCCESS));
	T_AWAIT(service_list(&t->service, &list) == 1);
	T_EQ(service_pending(&t->service), 0);
	endpoint_connect(&c[0], &t->service);
	T_AWAIT(service_list(&t->service, &list) == 2);
	endpoint_destroy(&c[0]);
	endpoint_destroy(&c[2]);
}

static void
peer_send_numbers(struct endpoint *from, uint32_t nb)
{
	uint32_t i;

	for (i = 0; i < nb; i++)
		endpoint_send_number(from, i);
}

/* Whose peer has left: what it is told, again and again. */
static void
check_lost(struct endpoint *e, bool is_client)
{
	ADDR *peer = e->peer;
	struct peer_stats s;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		T_IS(endpoint_state(e), DOCA_ERROR_CONNECTION_RESET);
		T_IS(try_send(e), DOCA_ERROR_CONNECTION_RESET);
		T_IS(try_recv(e), is_client ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_AGAIN);
		T_CHECK(e->peer == peer);
	}
	peer_stats_get(peer, &s);
	T_EQ(s.recv_messages, 11);
}

/* behaviour: L20, L21, L33 */
CHANNEL_CASE(client_leaves, t)
{
	unsigned int i, round;
	ADDR **list, *peer;

	for (round = 0; round < 3; round++) {
		channel_meet(t);
		peer_send_numbers(&t->client, 10);
		peer = t->client.peer;
		T_OK(doca_comm_channel_ep_disconnect(t->client.ep, peer));
		/* For the client, it is as if it had never been. */
		T_IS(doca_comm_channel_ep_disconnect(t->client.ep, peer), DOCA_ERROR_NOT_CONNECTED);
		T_IS(try_send(&t->client), DOCA_ERROR_NOT_CONNECTED);
		T_IS(try_recv(&t->client), DOCA_ERROR_NOT_CONNECTED);
		T_INVALID(endpoint_state(&t->client));
		/* The service gets all. */
		for (i = 0; i < 10; i++) {
			endpoint_recv_number(&t->service, i);
			if (i == 0)
				peer = t->service.peer;
			T_CHECK(t->service.peer == peer);
		}
		T_AWAIT(endpoint_state(&t->service) != DOCA_SUCCESS);
		check_lost(&t->service, false);
		/* behaviour: L17 */
		T_EQ(service_list(&t->service, &list), 0);
		T_OK(doca_comm_channel_ep_disconnect(t->service.ep, t->service.peer));
		T_IS(doca_comm_channel_ep_disconnect(t->service.ep, t->service.peer),
			DOCA_ERROR_NOT_CONNECTED);
		T_IS(try_send(&t->service), DOCA_ERROR_NOT_CONNECTED);
		T_INVALID(endpoint_state(&t->service));
		endpoint_connect(&t->client, &t->service);
	}
	channel_meet(t);
}

/* behaviour: L20, L21, L33 */
CHANNEL_CASE(service_leaves, t)
{
	unsigned int i, round;

	for (round = 0; round < 4; round++) {
		channel_meet(t);
		endpoint_send_number(&t->service, 100);
		peer_send_numbers(&t->service, 10);
		if (round % 2 == 0)
			T_OK(doca_comm_channel_ep_disconnect(t->service.ep, t->service.peer));
		else
			endpoint_destroy(&t->service);
		endpoint_recv_number(&t->client, 100);
		for (i = 0; i < 10; i++)
			endpoint_recv_number(&t->client, i);
		T_AWAIT(endpoint_state(&t->client) != DOCA_SUCCESS);
		check_lost(&t->client, true);
		T_OK(doca_comm_channel_ep_disconnect(t->client.ep, t->client.peer));
		if (round % 2 == 1)
			listen_anew(&t->service);
		endpoint_connect(&t->client, &t->service);
	}
	channel_meet(t);
}

/* The loss comes out by each call alone. behaviour: L20, L33 */
T_CASE(loss_by_one_call)
{
	doca_error_t ret;
	unsigned int i;
	struct channel t;

	for (i = 0; i < 3; i++) {
		channel_open(&t);
		channel_meet(&t);
		T_OK(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer));
		if (i == 0)
			T_AWAIT((ret = try_recv(&t.client)) != DOCA_ERROR_AGAIN);
		else if (i == 1)
			T_AWAIT((ret = try_send(&t.client)) != DOCA_SUCCESS &&
				ret != DOCA_ERROR_AGAIN);
		else
			T_AWAIT((ret = endpoint_state(&t.client)) != DOCA_SUCCESS);
		T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
		channel_close(&t);

		channel_open(&t);
		channel_meet(&t);
		T_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
		if (i == 1)
			T_AWAIT((ret = try_send(&t.service)) != DOCA_SUCCESS &&
				ret != DOCA_ERROR_AGAIN);
		else
			T_AWAIT((ret = endpoint_state(&t.service)) != DOCA_SUCCESS);
		T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
		channel_close(&t);
	}
}

/* Messages of the peer that was disconnected go, the others stay. */
T_CASE(unread_messages)
{
	ADDR **list, *gone;
	struct endpoint other;
	unsigned int i, turn;
	struct channel t;

	for (turn = 0; turn < 2; turn++) {
		channel_open(&t);
		channel_meet(&t);
		gone = t.service.peer;
		client_endpoint_create(&other, CHANNEL_PF0);
		endpoint_connect(&other, &t.service);
		for (i = 0; i < 30; i++) {
			endpoint_send_number(&t.client, 1000 + i);
			endpoint_send_number(&other, i);
		}
		/* The service has seen them, in one turn. */
		if (turn == 1)
			T_EQ(service_list(&t.service, &list), 2);
		T_OK(doca_comm_channel_ep_disconnect(t.service.ep, gone));
		for (i = 0; i < 30; i++)
			endpoint_recv_number(&t.service, i);
		endpoint_recv_none(&t.service);
		T_EQ(service_list(&t.service, &list), 1);
		T_AWAIT(endpoint_state(&t.client) == DOCA_ERROR_CONNECTION_RESET);
		endpoint_destroy(&other);
		channel_close(&t);
	}
}

/* behaviour: L25 */
T_CASE(two_representors)
{
	struct channel one, two;
	struct endpoint twice;

	channel_open(&one);
	service_endpoint_create(&two.service, CHANNEL_PF1);
	client_endpoint_create(&two.client, CHANNEL_PF1);
	T_OK(doca_comm_channel_ep_listen(two.service.ep, CHANNEL_NAME));
	endpoint_connect(&two.client, &two.service);
	endpoint_send_number(&one.client, 1);
	endpoint_send_number(&two.client, 2);
	endpoint_recv_number(&one.service, 1);
	endpoint_recv_number(&two.service, 2);
	endpoint_recv_none(&one.service);
	endpoint_recv_none(&two.service);

	service_endpoint_create(&twice, CHANNEL_PF0);
	T_IS(doca_comm_channel_ep_listen(twice.ep, CHANNEL_NAME), DOCA_ERROR_CONNECTION_ABORTED);
	/* It may have another name; and that one, once it is free. */
	T_OK(doca_comm_channel_ep_set_max_msg_size(twice.ep, 1000));
	T_OK(doca_comm_channel_ep_listen(twice.ep, "another"));
	endpoint_destroy(&twice);
	endpoint_destroy(&one.service);
	service_endpoint_create(&one.service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(one.service.ep, CHANNEL_NAME));
	T_AWAIT(endpoint_state(&one.client) == DOCA_ERROR_CONNECTION_RESET);
	T_OK(doca_comm_channel_ep_disconnect(one.client.ep, one.client.peer));
	endpoint_connect(&one.client, &one.service);
	channel_meet(&one);
	channel_meet(&two);
	channel_close(&one);
	channel_close(&two);
}

/* At every stage, either side first. behaviour: L22 */
T_CASE(destroyed_first)
{
	unsigned int stage;
	struct channel t;

	for (stage = 0; stage < 8; stage++) {
		channel_create(&t);
		if (stage / 2 == 1)
			endpoint_dial(&t.client, CHANNEL_NAME);
		else if (stage / 2 > 1)
			endpoint_connect(&t.client, &t.service);
		if (stage / 2 == 3) {
			channel_meet(&t);
			peer_send_numbers(&t.client, 50);
			peer_send_numbers(&t.service, 50);
		}
		if (stage % 2 == 0) {
			endpoint_destroy(&t.client);
			endpoint_destroy(&t.service);
		} else {
			endpoint_destroy(&t.service);
			endpoint_destroy(&t.client);
		}
	}
}
