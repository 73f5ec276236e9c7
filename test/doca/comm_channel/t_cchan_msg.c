/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Messages of doca_comm_channel, whole and in order, and what is counted of them. */

#include "comm_channel/endpoint.h"
#include "t_main.h"

#define ADDR struct doca_comm_channel_addr_t

#if defined(__SANITIZE_THREAD__)
#define STREAM 5000
#else
#define STREAM 50000
#endif

/* Connected, with sizes of the test's. */
static void
open_sized(struct channel *t, uint16_t service_size, uint16_t client_size, uint16_t queue)
{
	service_endpoint_create(&t->service, CHANNEL_PF0);
	client_endpoint_create(&t->client, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_set_max_msg_size(t->service.ep, service_size));
	T_OK(doca_comm_channel_ep_set_max_msg_size(t->client.ep, client_size));
	T_OK(doca_comm_channel_ep_set_send_queue_size(t->service.ep, queue));
	T_OK(doca_comm_channel_ep_set_recv_queue_size(t->service.ep, queue));
	T_OK(doca_comm_channel_ep_set_send_queue_size(t->client.ep, queue));
	T_OK(doca_comm_channel_ep_set_recv_queue_size(t->client.ep, queue));
	T_OK(doca_comm_channel_ep_listen(t->service.ep, CHANNEL_NAME));
	endpoint_connect(&t->client, &t->service);
}

static void
one_message(struct endpoint *from, struct endpoint *to, size_t len)
{
	uint8_t out[CHANNEL_MSG_MAX + 1], in[CHANNEL_MSG_MAX];

	t_fill(out, len, len + 1);
	endpoint_send(from, out, len);
	/* Ours again: it was copied. */
	memset(out, 0, sizeof(out));
	T_EQ(endpoint_recv(to, in), len);
	T_VERIFY(in, len, len + 1);
}

/* behaviour: L6, L8, L9 */
CHANNEL_CASE(both_ways, t)
{
	static const size_t lens[] = { 1, 2, 7, 8, 255, 256, 257, 4079, 4080, 0, 64 };
	ADDR *client = NULL, *service;
	unsigned int i;

	service = t->client.peer;
	for (i = 0; i < RTE_DIM(lens); i++) {
		one_message(&t->client, &t->service, lens[i]);
		T_CHECK(client == NULL || t->service.peer == client);
		client = t->service.peer;
		one_message(&t->service, &t->client, lens[i]);
		T_CHECK(t->client.peer == service);
		endpoint_recv_none(&t->client);
		endpoint_recv_none(&t->service);
	}
}

static void
check_limit(struct endpoint *from, struct endpoint *to, size_t limit)
{
	static const uint8_t msg[CHANNEL_MSG_MAX + 1];

	T_INVALID(doca_comm_channel_ep_sendto(from->ep, msg, limit + 1, 0, from->peer));
	T_INVALID(doca_comm_channel_ep_sendto(from->ep, msg, SIZE_MAX, 0, from->peer));
	one_message(from, to, limit);
}

/* Each side's limit counts for both. behaviour: L7, L11 */
T_CASE(limits)
{
	static const struct {
		uint16_t service, client, limit;
	} sizes[] = {
		{ CHANNEL_MSG_MAX, CHANNEL_MSG_MAX, CHANNEL_MSG_MAX },
		{ 300, CHANNEL_MSG_MAX, 300 }, { CHANNEL_MSG_MAX, 300, 300 },
		{ 1, CHANNEL_MSG_MAX, 256 }, { 1000, 999, 999 },
	};
	unsigned int i;
	struct channel t;

	for (i = 0; i < RTE_DIM(sizes); i++) {
		open_sized(&t, sizes[i].service, sizes[i].client, 16);
		check_limit(&t.client, &t.service, sizes[i].limit);
		check_limit(&t.service, &t.client, sizes[i].limit);
		channel_close(&t);
	}
}

/* behaviour: L34 */
CHANNEL_CASE(no_room, t)
{
	ADDR *peer, *first;
	uint8_t msg[CHANNEL_MSG_MAX];
	struct endpoint other;
	doca_error_t ret;
	unsigned int i;
	size_t len;

	client_endpoint_create(&other, CHANNEL_PF0);
	endpoint_connect(&other, &t->service);
	t_fill(msg, 100, 1);
	endpoint_send(&t->client, msg, 100);
	memset(msg, 0x33, sizeof(msg));
	for (i = 0; i < 100; i++) {
		peer = NULL;
		T_AWAIT((len = i, ret = doca_comm_channel_ep_recvfrom(t->service.ep, msg, &len, 0,
			&peer)) != DOCA_ERROR_AGAIN);
		T_INVALID(ret);
		T_EQ(len, 100);
		T_EQ(msg[0], 0x33);
		/* What else is done of the endpoint does not lose it, nor does another message. */
		T_EQ(service_pending(&t->service), 0);
		if (i == 0)
			endpoint_send(&other, "b", 1);
	}
	T_OK(doca_comm_channel_ep_recvfrom(t->service.ep, msg, &len, 0, &first));
	T_EQ(len, 100);
	T_VERIFY(msg, 100, 1);
	T_EQ(endpoint_recv(&t->service, msg), 1);
	T_EQ(msg[0], 'b');
	T_CHECK(t->service.peer != first);
	endpoint_destroy(&other);
}

/* Send numbers until there is no room. */
static uint32_t
fill_up(struct endpoint *from, uint32_t number)
{
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_sendto(from->ep, &number, sizeof(number), 0,
			from->peer)) == DOCA_SUCCESS)
		number++;
	T_IS(ret, DOCA_ERROR_AGAIN);
	return number;
}

static uint64_t
in_flight(const struct endpoint *e)
{
	struct peer_stats s;

	T_OK(endpoint_state(e));
	peer_stats_get(e->peer, &s);
	return s.in_flight;
}

static void
fill_and_drain(struct endpoint *from, struct endpoint *to)
{
	uint32_t end, i, j;

	/* What was sent before is acknowledged: on a driver with delays that takes a while. */
	T_OK(endpoint_state(to));
	T_AWAIT(in_flight(from) == 0);
	end = fill_up(from, 0);
	/* At least one of the queues is full, and both cannot hold more. */
	T_GE(end, 16);
	T_LE(end, 32);
	T_EQ(in_flight(from), end);
	/* It stays so. */
	for (i = 0; i < 100; i++)
		T_EQ(fill_up(from, end), end);
	/* One for one; the sender is told with the receiver's next call. */
	for (i = 0; i < 10; i++) {
		endpoint_recv_number(to, i);
		T_OK(endpoint_state(to));
		endpoint_send_number(from, end++);
	}
	for (j = i; j < end; j++) {
		endpoint_recv_number(to, j);
		T_OK(endpoint_state(to));
		T_AWAIT(in_flight(from) <= end - j - 1);
	}
	/* behaviour: L23 */
	T_AWAIT(in_flight(from) == 0);
	endpoint_recv_none(to);
}

/* behaviour: L7, L23 */
T_CASE(full_queues)
{
	unsigned int i;
	struct channel t;

	open_sized(&t, CHANNEL_MSG_MAX, CHANNEL_MSG_MAX, 16);
	channel_meet(&t);
	/* The peer is told of what was received with the next call. */
	endpoint_recv_none(&t.service);
	for (i = 0; i < 3; i++) {
		fill_and_drain(&t.client, &t.service);
		fill_and_drain(&t.service, &t.client);
	}
	channel_close(&t);
}

/* A client whose queue is full does not block others. */
T_CASE(full_queue_of_one)
{
	uint32_t i, end, number, next = 0;
	uint8_t msg[CHANNEL_MSG_MAX];
	struct endpoint other;
	ADDR *peer;
	struct channel t;

	open_sized(&t, CHANNEL_MSG_MAX, CHANNEL_MSG_MAX, 16);
	client_endpoint_create(&other, CHANNEL_PF0);
	endpoint_connect(&other, &t.service);
	channel_meet(&t);
	endpoint_send_number(&other, 77);
	endpoint_recv_number(&t.service, 77);
	peer = t.service.peer;
	end = fill_up(&t.client, 0);
	endpoint_send_number(&other, 1000);
	/* Those of one client are in order, with the other's somewhere between. */
	for (i = 0; i <= end; i++) {
		T_EQ(endpoint_recv(&t.service, msg), sizeof(number));
		memcpy(&number, msg, sizeof(number));
		T_EQ(number, t.service.peer == peer ? 1000 : next++);
	}
	T_EQ(next, end);
	/* Nor is one that does not receive. */
	t.service.peer = peer;
	end = fill_up(&t.service, 0);
	endpoint_send_number(&t.client, 5);
	endpoint_recv_number(&t.service, 5);
	endpoint_send_number(&t.service, 6);
	endpoint_recv_number(&t.client, 6);
	for (i = 0; i < end; i++)
		endpoint_recv_number(&other, i);
	endpoint_destroy(&other);
	channel_close(&t);
}

/* One way of a stream: lengths and contents follow from a message's number. */
struct stream {
	uint32_t sent, got;
};

static size_t
length(uint32_t number)
{
	return number % 97 == 0 ? CHANNEL_MSG_MAX : number * 2654435761u % 600;
}

static void
stream_send(struct endpoint *e, struct stream *s)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	doca_error_t ret;

	if (s->sent == STREAM)
		return;
	t_fill(msg, length(s->sent), s->sent);
	ret = doca_comm_channel_ep_sendto(e->ep, msg, length(s->sent), 0, e->peer);
	if (ret == DOCA_ERROR_AGAIN)
		return;
	T_OK(ret);
	s->sent++;
}

static void
stream_recv(struct endpoint *e, struct stream *s)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);
	doca_error_t ret;

	ret = doca_comm_channel_ep_recvfrom(e->ep, msg, &len, 0, &e->peer);
	if (ret == DOCA_ERROR_AGAIN)
		return;
	T_OK(ret);
	T_EQ(len, length(s->got));
	T_VERIFY(msg, len, s->got);
	s->got++;
}

static void
check_totals(struct endpoint *e, uint64_t messages, uint64_t bytes)
{
	struct peer_stats s;

	T_AWAIT(in_flight(e) == 0);
	peer_stats_get(e->peer, &s);
	T_EQ(s.send_messages, messages);
	T_EQ(s.recv_messages, messages);
	T_EQ(s.send_bytes, bytes);
	T_EQ(s.recv_bytes, bytes);
}

/* behaviour: L7, L9, L23, L24 */
CHANNEL_CASE(streams, t)
{
	struct stream up = { 0, 0 }, down = { 0, 0 };
	uint64_t bytes = 4;
	uint32_t i;

	channel_meet(t);
	endpoint_send_number(&t->service, 0);
	endpoint_recv_number(&t->client, 0);
	for (i = 0; i < STREAM; i++)
		bytes += length(i);
	/* Each side a few calls at a time, in a rhythm that changes. */
	for (i = 0; up.got < STREAM || down.got < STREAM; i++) {
		if (i % 7 < 5) {
			stream_send(&t->client, &up);
			stream_recv(&t->service, &up);
		}
		if (i % 11 < 9)
			stream_send(&t->service, &down);
		if (i / 1000 % 3 != 1)
			stream_recv(&t->client, &down);
	}
	check_totals(&t->client, STREAM + 1, bytes);
	check_totals(&t->service, STREAM + 1, bytes);
}

/* behaviour: L24, L32 */
T_CASE(statistics)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	struct peer_stats s;
	struct channel t;
	uint64_t n;

	channel_open(&t);
	endpoint_send(&t.client, "12345", 5);
	endpoint_send(&t.client, "678", 3);
	peer_stats_get(t.client.peer, &s);
	T_EQ(s.send_messages + s.send_bytes + s.recv_messages + s.recv_bytes + s.in_flight, 0);
	T_OK(endpoint_state(&t.client));
	peer_stats_get(t.client.peer, &s);
	T_EQ(s.send_messages, 2);
	T_EQ(s.send_bytes, 8);
	T_EQ(s.recv_messages + s.recv_bytes, 0);
	T_EQ(s.in_flight, 2);
	T_EQ(endpoint_recv(&t.service, msg), 5);
	T_EQ(endpoint_recv(&t.service, msg), 3);
	endpoint_send(&t.service, "9", 1);
	T_EQ(endpoint_recv(&t.client, msg), 1);
	/* The snapshot is what it was. */
	peer_stats_get(t.client.peer, &s);
	T_EQ(s.send_messages, 2);
	T_EQ(s.recv_messages, 0);
	T_EQ(s.in_flight, 2);
	channel_close(&t);

	channel_open(&t);
	one_message(&t.client, &t.service, 10);
	one_message(&t.service, &t.client, 100);
	one_message(&t.service, &t.client, 0);
	T_OK(endpoint_state(&t.service));
	peer_stats_get(t.service.peer, &s);
	T_EQ(s.recv_messages, 1);
	T_EQ(s.recv_bytes, 10);
	T_EQ(s.send_messages, 2);
	T_EQ(s.send_bytes, 100);
	T_GETS(doca_comm_channel_peer_addr_get_rcv_messages(t.service.peer, &n), n, 1);
	T_GETS(doca_comm_channel_peer_addr_get_rcv_bytes(t.service.peer, &n), n, 10);
	/* Refused messages do not count. */
	T_INVALID(doca_comm_channel_ep_sendto(t.service.ep, NULL, 5, 0, t.service.peer));
	T_OK(endpoint_state(&t.service));
	peer_stats_get(t.service.peer, &s);
	T_EQ(s.send_messages, 2);
	channel_close(&t);
}

/* The names of the guides. behaviour: L32 */
CHANNEL_CASE(spellings, t)
{
	ADDR *a = NULL, *b = NULL;
	uint8_t msg[CHANNEL_MSG_MAX];
	doca_error_t ret;
	size_t len;

	endpoint_send(&t->client, "one", 3);
	endpoint_send(&t->client, "two2", 4);
	T_AWAIT((len = sizeof(msg), ret = doca_comm_channel_ep_rcvfrom(t->service.ep, msg, &len, 0,
		&a)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
	T_EQ(len, 3);
	T_EQ(memcmp(msg, "one", 3), 0);
	len = sizeof(msg);
	T_OK(doca_comm_channel_rp_recvfrom(t->service.ep, msg, &len, 0, &b));
	T_EQ(len, 4);
	T_EQ(memcmp(msg, "two2", 4), 0);
	T_CHECK(a == b && a != NULL);
	T_IS(doca_comm_channel_ep_rcvfrom(t->service.ep, msg, &len, 0, &a), DOCA_ERROR_AGAIN);
	T_IS(doca_comm_channel_rp_recvfrom(t->service.ep, msg, &len, 0, &a), DOCA_ERROR_AGAIN);
	T_INVALID(doca_comm_channel_ep_rcvfrom(NULL, msg, &len, 0, &a));
	T_INVALID(doca_comm_channel_rp_recvfrom(NULL, msg, &len, 0, &a));
}

/* Three clients whose messages are mixed. behaviour: L9 */
CHANNEL_CASE(order_of_clients, t)
{
	ADDR *peers[3] = { NULL };
	struct endpoint more[2];
	struct endpoint *clients[3];
	uint32_t i, number = 0, turn;

	endpoint_need_order();
	client_endpoint_create(&more[0], CHANNEL_PF0);
	client_endpoint_create(&more[1], CHANNEL_PF0);
	endpoint_connect(&more[0], &t->service);
	endpoint_connect(&more[1], &t->service);
	clients[0] = &t->client;
	clients[1] = &more[0];
	clients[2] = &more[1];
	for (turn = 0; turn < 1000; turn++) {
		for (i = 0; i < 40; i++)
			endpoint_send_number(clients[(turn + i * i) % 3], number + i);
		for (i = 0; i < 40; i++) {
			endpoint_recv_number(&t->service, number + i);
			if (peers[(turn + i * i) % 3] == NULL)
				peers[(turn + i * i) % 3] = t->service.peer;
			T_CHECK(peers[(turn + i * i) % 3] == t->service.peer);
		}
		number += 40;
	}
	T_CHECK(peers[0] != peers[1] && peers[0] != peers[2] && peers[1] != peers[2]);
	endpoint_destroy(&more[0]);
	endpoint_destroy(&more[1]);
}
