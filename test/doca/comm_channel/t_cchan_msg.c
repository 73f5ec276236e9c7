/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Messages of doca_comm_channel, whole and in order, and what is counted of them. */

#include "t_main.h"
#include "comm_channel/endpoint.h"

#define ADDR struct doca_comm_channel_addr_t

#if defined(__SANITIZE_THREAD__)
#define STREAM 5000
#else
#define STREAM 50000
#endif

/* Connected, with sizes of the test's. */
static void
open_sized(struct tch *t, uint16_t service_size, uint16_t client_size, uint16_t queue)
{
	tch_service_create(&t->service, TCH_PF0);
	tch_client_create(&t->client, TCH_PF0);
	TD_OK(doca_comm_channel_ep_set_max_msg_size(t->service.ep, service_size));
	TD_OK(doca_comm_channel_ep_set_max_msg_size(t->client.ep, client_size));
	TD_OK(doca_comm_channel_ep_set_send_queue_size(t->service.ep, queue));
	TD_OK(doca_comm_channel_ep_set_recv_queue_size(t->service.ep, queue));
	TD_OK(doca_comm_channel_ep_set_send_queue_size(t->client.ep, queue));
	TD_OK(doca_comm_channel_ep_set_recv_queue_size(t->client.ep, queue));
	TD_OK(doca_comm_channel_ep_listen(t->service.ep, TCH_NAME));
	tch_connect(&t->client, &t->service);
}

static void
one_message(struct tch_end *from, struct tch_end *to, size_t len)
{
	uint8_t out[TCH_MAX + 1], in[TCH_MAX];

	t_fill(out, len, len + 1);
	tch_send(from, out, len);
	/* Ours again: it was copied. */
	memset(out, 0, sizeof(out));
	T_EQ(tch_recv(to, in), len);
	T_VERIFY(in, len, len + 1);
}

/* behaviour: L6, L8, L9 */
static void
both_ways(void)
{
	static const size_t lens[] = { 1, 2, 7, 8, 255, 256, 257, 4079, 4080, 0, 64 };
	ADDR *client = NULL, *service;
	unsigned int i;
	struct tch t;

	tch_open(&t);
	service = t.client.peer;
	for (i = 0; i < RTE_DIM(lens); i++) {
		one_message(&t.client, &t.service, lens[i]);
		T_CHECK(client == NULL || t.service.peer == client);
		client = t.service.peer;
		one_message(&t.service, &t.client, lens[i]);
		T_CHECK(t.client.peer == service);
		tch_recv_none(&t.client);
		tch_recv_none(&t.service);
	}
	tch_close(&t);
}

static void
check_limit(struct tch_end *from, struct tch_end *to, size_t limit)
{
	static const uint8_t msg[TCH_MAX + 1];

	TD_IS(doca_comm_channel_ep_sendto(from->ep, msg, limit + 1, 0, from->peer),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_sendto(from->ep, msg, SIZE_MAX, 0, from->peer),
		DOCA_ERROR_INVALID_VALUE);
	one_message(from, to, limit);
}

/* Each side's limit counts for both. behaviour: L7, L11 */
static void
limits(void)
{
	static const struct {
		uint16_t service, client, limit;
	} sizes[] = {
		{ TCH_MAX, TCH_MAX, TCH_MAX }, { 300, TCH_MAX, 300 }, { TCH_MAX, 300, 300 },
		{ 1, TCH_MAX, 256 }, { 1000, 999, 999 },
	};
	unsigned int i;
	struct tch t;

	for (i = 0; i < RTE_DIM(sizes); i++) {
		open_sized(&t, sizes[i].service, sizes[i].client, 16);
		check_limit(&t.client, &t.service, sizes[i].limit);
		check_limit(&t.service, &t.client, sizes[i].limit);
		tch_close(&t);
	}
}

/* behaviour: L34 */
static void
no_room(void)
{
	ADDR *peer, *first;
	uint8_t msg[TCH_MAX];
	struct tch_end other;
	unsigned int i;
	struct tch t;
	size_t len;

	tch_open(&t);
	tch_client_create(&other, TCH_PF0);
	tch_connect(&other, &t.service);
	t_fill(msg, 100, 1);
	tch_send(&t.client, msg, 100);
	tch_send(&other, "b", 1);
	memset(msg, 0x33, sizeof(msg));
	for (i = 0; i < 100; i++) {
		len = i;
		peer = NULL;
		TD_IS(doca_comm_channel_ep_recvfrom(t.service.ep, msg, &len, 0, &peer),
			DOCA_ERROR_INVALID_VALUE);
		T_EQ(len, 100);
		T_EQ(msg[0], 0x33);
		/* What else is done of the endpoint does not lose it. */
		T_EQ(tch_pending(&t.service), 0);
	}
	TD_OK(doca_comm_channel_ep_recvfrom(t.service.ep, msg, &len, 0, &first));
	T_EQ(len, 100);
	T_VERIFY(msg, 100, 1);
	T_EQ(tch_recv(&t.service, msg), 1);
	T_EQ(msg[0], 'b');
	T_CHECK(t.service.peer != first);
	tch_end_destroy(&other);
	tch_close(&t);
}

/* Send numbers until there is no room. */
static uint32_t
fill_up(struct tch_end *from, uint32_t number)
{
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_sendto(from->ep, &number, sizeof(number), 0,
			from->peer)) == DOCA_SUCCESS)
		number++;
	TD_IS(ret, DOCA_ERROR_AGAIN);
	return number;
}

static uint64_t
in_flight(const struct tch_end *e)
{
	struct tch_stats s;

	TD_OK(tch_state(e));
	tch_stats_get(e->peer, &s);
	return s.in_flight;
}

static void
fill_and_drain(struct tch_end *from, struct tch_end *to)
{
	uint32_t end = fill_up(from, 0), i, j;

	/* At least one of the queues is full, and both cannot hold more. */
	T_GE(end, 16);
	T_LE(end, 32);
	T_EQ(in_flight(from), end);
	/* It stays so. */
	for (i = 0; i < 100; i++)
		T_EQ(fill_up(from, end), end);
	/* One for one; the sender is told with the receiver's next call. */
	for (i = 0; i < 10; i++) {
		tch_recv_number(to, i);
		TD_OK(tch_state(to));
		tch_send_number(from, end++);
	}
	for (j = i; j < end; j++) {
		tch_recv_number(to, j);
		TD_OK(tch_state(to));
		TCH_UNTIL(in_flight(from) <= end - j - 1);
	}
	/* behaviour: L23 */
	TCH_UNTIL(in_flight(from) == 0);
	tch_recv_none(to);
}

/* behaviour: L7, L23 */
static void
full_queues(void)
{
	unsigned int i;
	struct tch t;

	open_sized(&t, TCH_MAX, TCH_MAX, 16);
	tch_meet(&t);
	/* The peer is told of what was received with the next call. */
	tch_recv_none(&t.service);
	for (i = 0; i < 3; i++) {
		fill_and_drain(&t.client, &t.service);
		fill_and_drain(&t.service, &t.client);
	}
	tch_close(&t);
}

/* A client whose queue is full is in nobody's way. */
static void
full_queue_of_one(void)
{
	struct tch_end other;
	uint32_t i, end;
	struct tch t;

	open_sized(&t, TCH_MAX, TCH_MAX, 16);
	tch_client_create(&other, TCH_PF0);
	tch_connect(&other, &t.service);
	tch_meet(&t);
	tch_send_number(&other, 77);
	tch_recv_number(&t.service, 77);
	end = fill_up(&t.client, 0);
	tch_send_number(&other, 1000);
	for (i = 0; i < end; i++)
		tch_recv_number(&t.service, i);
	tch_recv_number(&t.service, 1000);
	/* Nor is one that does not receive. */
	end = fill_up(&t.service, 0);
	tch_send_number(&t.client, 5);
	tch_recv_number(&t.service, 5);
	tch_send_number(&t.service, 6);
	tch_recv_number(&t.client, 6);
	for (i = 0; i < end; i++)
		tch_recv_number(&other, i);
	tch_end_destroy(&other);
	tch_close(&t);
}

/* One way of a stream: lengths and contents follow from a message's number. */
struct stream {
	uint32_t sent, got;
};

static size_t
length(uint32_t number)
{
	return number % 97 == 0 ? TCH_MAX : number * 2654435761u % 600;
}

static void
stream_send(struct tch_end *e, struct stream *s)
{
	uint8_t msg[TCH_MAX];
	doca_error_t ret;

	if (s->sent == STREAM)
		return;
	t_fill(msg, length(s->sent), s->sent);
	ret = doca_comm_channel_ep_sendto(e->ep, msg, length(s->sent), 0, e->peer);
	if (ret == DOCA_ERROR_AGAIN)
		return;
	TD_OK(ret);
	s->sent++;
}

static void
stream_recv(struct tch_end *e, struct stream *s)
{
	uint8_t msg[TCH_MAX];
	size_t len = sizeof(msg);
	doca_error_t ret;

	ret = doca_comm_channel_ep_recvfrom(e->ep, msg, &len, 0, &e->peer);
	if (ret == DOCA_ERROR_AGAIN)
		return;
	TD_OK(ret);
	T_EQ(len, length(s->got));
	T_VERIFY(msg, len, s->got);
	s->got++;
}

static void
check_totals(struct tch_end *e, uint64_t messages, uint64_t bytes)
{
	struct tch_stats s;

	TCH_UNTIL(in_flight(e) == 0);
	tch_stats_get(e->peer, &s);
	T_EQ(s.send_messages, messages);
	T_EQ(s.recv_messages, messages);
	T_EQ(s.send_bytes, bytes);
	T_EQ(s.recv_bytes, bytes);
}

/* behaviour: L7, L9, L23, L24 */
static void
streams(void)
{
	struct stream up = { 0, 0 }, down = { 0, 0 };
	uint64_t bytes = 4;
	struct tch t;
	uint32_t i;

	tch_open(&t);
	tch_meet(&t);
	tch_send_number(&t.service, 0);
	tch_recv_number(&t.client, 0);
	for (i = 0; i < STREAM; i++)
		bytes += length(i);
	/* Each side a few calls at a time, in a rhythm that changes. */
	for (i = 0; up.got < STREAM || down.got < STREAM; i++) {
		if (i % 7 < 5) {
			stream_send(&t.client, &up);
			stream_recv(&t.service, &up);
		}
		if (i % 11 < 9)
			stream_send(&t.service, &down);
		if (i / 1000 % 3 != 1)
			stream_recv(&t.client, &down);
	}
	check_totals(&t.client, STREAM + 1, bytes);
	check_totals(&t.service, STREAM + 1, bytes);
	tch_close(&t);
}

/* behaviour: L24, L32 */
static void
statistics(void)
{
	uint8_t msg[TCH_MAX];
	struct tch_stats s;
	struct tch t;
	uint64_t n;

	tch_open(&t);
	tch_send(&t.client, "12345", 5);
	tch_send(&t.client, "678", 3);
	tch_stats_get(t.client.peer, &s);
	T_EQ(s.send_messages + s.send_bytes + s.recv_messages + s.recv_bytes + s.in_flight, 0);
	TD_OK(tch_state(&t.client));
	tch_stats_get(t.client.peer, &s);
	T_EQ(s.send_messages, 2);
	T_EQ(s.send_bytes, 8);
	T_EQ(s.recv_messages + s.recv_bytes, 0);
	T_EQ(s.in_flight, 2);
	T_EQ(tch_recv(&t.service, msg), 5);
	T_EQ(tch_recv(&t.service, msg), 3);
	tch_send(&t.service, "9", 1);
	T_EQ(tch_recv(&t.client, msg), 1);
	/* The snapshot is what it was. */
	tch_stats_get(t.client.peer, &s);
	T_EQ(s.send_messages, 2);
	T_EQ(s.recv_messages, 0);
	T_EQ(s.in_flight, 2);
	tch_close(&t);

	tch_open(&t);
	one_message(&t.client, &t.service, 10);
	one_message(&t.service, &t.client, 100);
	one_message(&t.service, &t.client, 0);
	TD_OK(tch_state(&t.service));
	tch_stats_get(t.service.peer, &s);
	T_EQ(s.recv_messages, 1);
	T_EQ(s.recv_bytes, 10);
	T_EQ(s.send_messages, 2);
	T_EQ(s.send_bytes, 100);
	TD_OK(doca_comm_channel_peer_addr_get_rcv_messages(t.service.peer, &n));
	T_EQ(n, 1);
	TD_OK(doca_comm_channel_peer_addr_get_rcv_bytes(t.service.peer, &n));
	T_EQ(n, 10);
	/* Refused messages do not count. */
	TD_IS(doca_comm_channel_ep_sendto(t.service.ep, NULL, 5, 0, t.service.peer),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(tch_state(&t.service));
	tch_stats_get(t.service.peer, &s);
	T_EQ(s.send_messages, 2);
	tch_close(&t);
}

/* The names of the guides. behaviour: L32 */
static void
spellings(void)
{
	ADDR *a = NULL, *b = NULL;
	uint8_t msg[TCH_MAX];
	struct tch t;
	size_t len;

	tch_open(&t);
	tch_send(&t.client, "one", 3);
	tch_send(&t.client, "two2", 4);
	len = sizeof(msg);
	TD_OK(doca_comm_channel_ep_rcvfrom(t.service.ep, msg, &len, 0, &a));
	T_EQ(len, 3);
	T_EQ(memcmp(msg, "one", 3), 0);
	len = sizeof(msg);
	TD_OK(doca_comm_channel_rp_recvfrom(t.service.ep, msg, &len, 0, &b));
	T_EQ(len, 4);
	T_EQ(memcmp(msg, "two2", 4), 0);
	T_CHECK(a == b && a != NULL);
	TD_IS(doca_comm_channel_ep_rcvfrom(t.service.ep, msg, &len, 0, &a), DOCA_ERROR_AGAIN);
	TD_IS(doca_comm_channel_rp_recvfrom(t.service.ep, msg, &len, 0, &a), DOCA_ERROR_AGAIN);
	TD_IS(doca_comm_channel_ep_rcvfrom(NULL, msg, &len, 0, &a), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_rp_recvfrom(NULL, msg, &len, 0, &a), DOCA_ERROR_INVALID_VALUE);
	tch_close(&t);
}

/* Three clients whose messages are mixed. behaviour: L9 */
static void
order_of_clients(void)
{
	ADDR *peers[3] = { NULL };
	struct tch_end more[2];
	struct tch_end *clients[3];
	uint32_t i, number = 0, turn;
	struct tch t;

	tch_open(&t);
	tch_client_create(&more[0], TCH_PF0);
	tch_client_create(&more[1], TCH_PF0);
	tch_connect(&more[0], &t.service);
	tch_connect(&more[1], &t.service);
	clients[0] = &t.client;
	clients[1] = &more[0];
	clients[2] = &more[1];
	for (turn = 0; turn < 1000; turn++) {
		for (i = 0; i < 40; i++)
			tch_send_number(clients[(turn + i * i) % 3], number + i);
		for (i = 0; i < 40; i++) {
			tch_recv_number(&t.service, number + i);
			if (peers[(turn + i * i) % 3] == NULL)
				peers[(turn + i * i) % 3] = t.service.peer;
			T_CHECK(peers[(turn + i * i) % 3] == t.service.peer);
		}
		number += 40;
	}
	T_CHECK(peers[0] != peers[1] && peers[0] != peers[2] && peers[1] != peers[2]);
	tch_end_destroy(&more[0]);
	tch_end_destroy(&more[1]);
	tch_close(&t);
}

static const struct t_case cases[] = {
	{ "both_ways", both_ways },
	{ "limits", limits },
	{ "no_room", no_room },
	{ "full_queues", full_queues },
	{ "full_queue_of_one", full_queue_of_one },
	{ "streams", streams },
	{ "statistics", statistics },
	{ "spellings", spellings },
	{ "order_of_clients", order_of_clients },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
