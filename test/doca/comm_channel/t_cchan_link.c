/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections of doca_comm_channel: how they come about, and how they end. */

#include "t_main.h"
#include "comm_channel/endpoint.h"

#define ADDR struct doca_comm_channel_addr_t

/* More calls than anything takes that happens by itself. */
#define CALLS 1000

static doca_error_t
try_recv(struct tch_end *e)
{
	uint8_t msg[TCH_MAX];
	size_t len = sizeof(msg);

	return doca_comm_channel_ep_recvfrom(e->ep, msg, &len, 0, &e->peer);
}

static doca_error_t
try_send(struct tch_end *e)
{
	return doca_comm_channel_ep_sendto(e->ep, "try", 3, 0, e->peer);
}

/* A client whose connection never came about: all it is told, and a new one. */
static void
check_aborted(struct tch_end *client)
{
	ADDR *peer = client->peer;

	TCH_UNTIL(tch_state(client) != DOCA_ERROR_CONNECTION_INPROGRESS);
	TD_IS(tch_state(client), DOCA_ERROR_CONNECTION_ABORTED);
	TD_IS(try_recv(client), DOCA_ERROR_CONNECTION_ABORTED);
	T_CHECK(client->peer == peer);
	T_NE(try_send(client), DOCA_SUCCESS);
	TD_IS(tch_state(client), DOCA_ERROR_CONNECTION_ABORTED);
	TD_OK(doca_comm_channel_ep_disconnect(client->ep, client->peer));
}

/* behaviour: L4, L21 */
static void
nobody_listens(void)
{
	doca_error_t ret;
	unsigned int i;
	struct tch t;

	tch_client_create(&t.client, TCH_PF0);
	for (i = 0; i < 3; i++) {
		t.client.peer = (ADDR *)&t;
		ret = doca_comm_channel_ep_connect(t.client.ep, TCH_NAME, &t.client.peer);
		if (ret == DOCA_SUCCESS) {
			check_aborted(&t.client);
			continue;
		}
		TD_IS(ret, DOCA_ERROR_CONNECTION_ABORTED);
		T_CHECK(t.client.peer == NULL);
		/* It is as it was before. */
		TD_OK(doca_comm_channel_ep_set_recv_queue_size(t.client.ep, 16));
		TD_IS(try_recv(&t.client), DOCA_ERROR_NOT_CONNECTED);
	}
	tch_service_create(&t.service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(t.service.ep, TCH_NAME));
	tch_connect(&t.client, &t.service);
	tch_meet(&t);
	tch_close(&t);
}

/* behaviour: L5, L6, L18 */
static void
in_progress(void)
{
	unsigned int i;
	struct tch t;

	tch_create(&t);
	T_EQ(tch_pending(&t.service), 0);
	tch_dial(&t.client, TCH_NAME);
	for (i = 0; i < CALLS; i++) {
		TD_IS(tch_state(&t.client), DOCA_ERROR_CONNECTION_INPROGRESS);
		TD_IS(try_send(&t.client), DOCA_ERROR_AGAIN);
		tch_recv_none(&t.client);
		/* To look is not to accept. */
		T_LE(tch_pending(&t.service), 1);
	}
	TCH_UNTIL((tch_state(&t.client), tch_pending(&t.service) == 1));
	TCH_UNTIL((tch_recv_none(&t.service), tch_state(&t.client) == DOCA_SUCCESS));
	T_EQ(tch_pending(&t.service), 0);
	tch_meet(&t);
	tch_close(&t);
}

/* Another service of the same name. */
static void
listen_anew(struct tch_end *service)
{
	tch_service_create(service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(service->ep, TCH_NAME));
}

/* The service leaves without having accepted. behaviour: L5 */
static void
refused(void)
{
	unsigned int i;
	struct tch t;

	for (i = 0; i < 2; i++) {
		tch_create(&t);
		tch_dial(&t.client, TCH_NAME);
		if (i == 1)
			TCH_UNTIL((tch_state(&t.client), tch_pending(&t.service) == 1));
		tch_end_destroy(&t.service);
		check_aborted(&t.client);
		listen_anew(&t.service);
		tch_connect(&t.client, &t.service);
		tch_meet(&t);
		tch_close(&t);
	}
}

/* behaviour: L5 */
static void
not_accepted_in_time(void)
{
	struct tch t;

	tch_create(&t);
	tch_dial(&t.client, TCH_NAME);
	TCH_UNTIL((tch_state(&t.client), tch_pending(&t.service) == 1));
	check_aborted(&t.client);
	TCH_UNTIL(tch_pending(&t.service) == 0);
	tch_connect(&t.client, &t.service);
	tch_meet(&t);
	tch_close(&t);
}

/* Clients that give up before they are accepted, and those who do not. behaviour: L18 */
static void
pending_clients(void)
{
	ADDR **list;
	struct tch_end c[3];
	struct tch t;
	unsigned int i;

	tch_create(&t);
	for (i = 0; i < 3; i++) {
		tch_client_create(&c[i], TCH_PF0);
		tch_dial(&c[i], TCH_NAME);
		TCH_UNTIL((tch_state(&c[i]), tch_pending(&t.service) == i + 1));
		T_EQ(tch_list(&t.service, &list), 0);
	}
	TD_OK(doca_comm_channel_ep_disconnect(c[0].ep, c[0].peer));
	TCH_UNTIL(tch_pending(&t.service) == 2);
	tch_end_destroy(&c[1]);
	TCH_UNTIL((tch_state(&t.client), tch_pending(&t.service) == 1));
	TCH_UNTIL((tch_recv_none(&t.service), tch_state(&c[2]) == DOCA_SUCCESS));
	TCH_UNTIL(tch_list(&t.service, &list) == 1);
	T_EQ(tch_pending(&t.service), 0);
	tch_connect(&c[0], &t.service);
	TCH_UNTIL(tch_list(&t.service, &list) == 2);
	tch_end_destroy(&c[0]);
	tch_end_destroy(&c[2]);
	tch_close(&t);
}

static void
peer_send_numbers(struct tch_end *from, uint32_t nb)
{
	uint32_t i;

	for (i = 0; i < nb; i++)
		tch_send_number(from, i);
}

/* Whose peer has left: what it is told, again and again. */
static void
check_lost(struct tch_end *e, bool is_client)
{
	ADDR *peer = e->peer;
	struct tch_stats s;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		TD_IS(tch_state(e), DOCA_ERROR_CONNECTION_RESET);
		TD_IS(try_send(e), DOCA_ERROR_CONNECTION_RESET);
		TD_IS(try_recv(e), is_client ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_AGAIN);
		T_CHECK(e->peer == peer);
	}
	tch_stats_get(peer, &s);
	T_EQ(s.recv_messages, 11);
}

/* behaviour: L20, L21, L33 */
static void
client_leaves(void)
{
	unsigned int i, round;
	ADDR **list, *peer;
	struct tch t;

	tch_open(&t);
	for (round = 0; round < 3; round++) {
		tch_meet(&t);
		peer_send_numbers(&t.client, 10);
		peer = t.client.peer;
		TD_OK(doca_comm_channel_ep_disconnect(t.client.ep, peer));
		/* For the client, it is as if it had never been. */
		TD_IS(doca_comm_channel_ep_disconnect(t.client.ep, peer),
			DOCA_ERROR_NOT_CONNECTED);
		TD_IS(try_send(&t.client), DOCA_ERROR_NOT_CONNECTED);
		TD_IS(try_recv(&t.client), DOCA_ERROR_NOT_CONNECTED);
		TD_IS(tch_state(&t.client), DOCA_ERROR_INVALID_VALUE);
		/* The service gets all. */
		for (i = 0; i < 10; i++) {
			tch_recv_number(&t.service, i);
			if (i == 0)
				peer = t.service.peer;
			T_CHECK(t.service.peer == peer);
		}
		TCH_UNTIL(tch_state(&t.service) != DOCA_SUCCESS);
		check_lost(&t.service, false);
		/* behaviour: L17 */
		T_EQ(tch_list(&t.service, &list), 0);
		TD_OK(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer));
		TD_IS(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer),
			DOCA_ERROR_NOT_CONNECTED);
		TD_IS(try_send(&t.service), DOCA_ERROR_NOT_CONNECTED);
		TD_IS(tch_state(&t.service), DOCA_ERROR_INVALID_VALUE);
		tch_connect(&t.client, &t.service);
	}
	tch_meet(&t);
	tch_close(&t);
}

/* behaviour: L20, L21, L33 */
static void
service_leaves(void)
{
	unsigned int i, round;
	struct tch t;

	tch_open(&t);
	for (round = 0; round < 4; round++) {
		tch_meet(&t);
		tch_send_number(&t.service, 100);
		peer_send_numbers(&t.service, 10);
		if (round % 2 == 0)
			TD_OK(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer));
		else
			tch_end_destroy(&t.service);
		tch_recv_number(&t.client, 100);
		for (i = 0; i < 10; i++)
			tch_recv_number(&t.client, i);
		TCH_UNTIL(tch_state(&t.client) != DOCA_SUCCESS);
		check_lost(&t.client, true);
		TD_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
		if (round % 2 == 1)
			listen_anew(&t.service);
		tch_connect(&t.client, &t.service);
	}
	tch_meet(&t);
	tch_close(&t);
}

/* The loss comes out by each call alone. behaviour: L20, L33 */
static void
loss_by_one_call(void)
{
	doca_error_t ret;
	unsigned int i;
	struct tch t;

	for (i = 0; i < 3; i++) {
		tch_open(&t);
		tch_meet(&t);
		TD_OK(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer));
		if (i == 0)
			TCH_UNTIL((ret = try_recv(&t.client)) != DOCA_ERROR_AGAIN);
		else if (i == 1)
			TCH_UNTIL((ret = try_send(&t.client)) != DOCA_SUCCESS &&
				ret != DOCA_ERROR_AGAIN);
		else
			TCH_UNTIL((ret = tch_state(&t.client)) != DOCA_SUCCESS);
		TD_IS(ret, DOCA_ERROR_CONNECTION_RESET);
		tch_close(&t);

		tch_open(&t);
		tch_meet(&t);
		TD_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
		if (i == 1)
			TCH_UNTIL((ret = try_send(&t.service)) != DOCA_SUCCESS &&
				ret != DOCA_ERROR_AGAIN);
		else
			TCH_UNTIL((ret = tch_state(&t.service)) != DOCA_SUCCESS);
		TD_IS(ret, DOCA_ERROR_CONNECTION_RESET);
		tch_close(&t);
	}
}

/* Messages of the peer that was disconnected go, the others stay. */
static void
unread_messages(void)
{
	ADDR **list, *gone;
	struct tch_end other;
	unsigned int i, turn;
	struct tch t;

	for (turn = 0; turn < 2; turn++) {
		tch_open(&t);
		tch_meet(&t);
		gone = t.service.peer;
		tch_client_create(&other, TCH_PF0);
		tch_connect(&other, &t.service);
		for (i = 0; i < 30; i++) {
			tch_send_number(&t.client, 1000 + i);
			tch_send_number(&other, i);
		}
		/* The service has seen them, in one turn. */
		if (turn == 1)
			T_EQ(tch_list(&t.service, &list), 2);
		TD_OK(doca_comm_channel_ep_disconnect(t.service.ep, gone));
		for (i = 0; i < 30; i++)
			tch_recv_number(&t.service, i);
		tch_recv_none(&t.service);
		T_EQ(tch_list(&t.service, &list), 1);
		TCH_UNTIL(tch_state(&t.client) == DOCA_ERROR_CONNECTION_RESET);
		tch_end_destroy(&other);
		tch_close(&t);
	}
}

/* behaviour: L25 */
static void
two_representors(void)
{
	struct tch one, two;
	struct tch_end twice;

	tch_open(&one);
	tch_service_create(&two.service, TCH_PF1);
	tch_client_create(&two.client, TCH_PF1);
	TD_OK(doca_comm_channel_ep_listen(two.service.ep, TCH_NAME));
	tch_connect(&two.client, &two.service);
	tch_send_number(&one.client, 1);
	tch_send_number(&two.client, 2);
	tch_recv_number(&one.service, 1);
	tch_recv_number(&two.service, 2);
	tch_recv_none(&one.service);
	tch_recv_none(&two.service);

	tch_service_create(&twice, TCH_PF0);
	TD_IS(doca_comm_channel_ep_listen(twice.ep, TCH_NAME), DOCA_ERROR_CONNECTION_ABORTED);
	/* It may have another name; and that one, once it is free. */
	TD_OK(doca_comm_channel_ep_set_max_msg_size(twice.ep, 1000));
	TD_OK(doca_comm_channel_ep_listen(twice.ep, "another"));
	tch_end_destroy(&twice);
	tch_end_destroy(&one.service);
	tch_service_create(&one.service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(one.service.ep, TCH_NAME));
	TCH_UNTIL(tch_state(&one.client) == DOCA_ERROR_CONNECTION_RESET);
	TD_OK(doca_comm_channel_ep_disconnect(one.client.ep, one.client.peer));
	tch_connect(&one.client, &one.service);
	tch_meet(&one);
	tch_meet(&two);
	tch_close(&one);
	tch_close(&two);
}

/* At every stage, either side first. behaviour: L22 */
static void
destroyed_first(void)
{
	unsigned int stage;
	struct tch t;

	for (stage = 0; stage < 8; stage++) {
		tch_create(&t);
		if (stage / 2 == 1)
			tch_dial(&t.client, TCH_NAME);
		else if (stage / 2 > 1)
			tch_connect(&t.client, &t.service);
		if (stage / 2 == 3) {
			tch_meet(&t);
			peer_send_numbers(&t.client, 50);
			peer_send_numbers(&t.service, 50);
		}
		if (stage % 2 == 0) {
			tch_end_destroy(&t.client);
			tch_end_destroy(&t.service);
		} else {
			tch_end_destroy(&t.service);
			tch_end_destroy(&t.client);
		}
	}
}

static const struct t_case cases[] = {
	{ "nobody_listens", nobody_listens },
	{ "in_progress", in_progress },
	{ "refused", refused },
	{ "not_accepted_in_time", not_accepted_in_time },
	{ "pending_clients", pending_clients },
	{ "client_leaves", client_leaves },
	{ "service_leaves", service_leaves },
	{ "loss_by_one_call", loss_by_one_call },
	{ "unread_messages", unread_messages },
	{ "two_representors", two_representors },
	{ "destroyed_first", destroyed_first },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
