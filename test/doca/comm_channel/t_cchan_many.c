/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A service of as many clients as it can have. */

#include <stdlib.h>

#include "comm_channel/endpoint.h"
#include "t_main.h"
#include "t_proc.h"

#define ADDR struct doca_comm_channel_addr_t

#define CLIENTS 512
#define PROCESSES 8
#define EACH (CLIENTS / PROCESSES)
#define ROUNDS 10

struct message {
	uint32_t client;
	uint32_t round;
};

/* A round: all ask, then all wait for the answer. */
static void
ask_all(struct endpoint *e, uint32_t first, uint32_t round)
{
	uint8_t room[CHANNEL_MSG_MAX];
	struct message m, *got = (struct message *)(void *)room;
	unsigned int i;

	m.round = round;
	for (i = 0; i < EACH; i++) {
		m.client = first + i;
		endpoint_send(&e[i], &m, sizeof(m));
	}
	for (i = 0; i < EACH; i++) {
		T_EQ(endpoint_recv(&e[i], room), sizeof(m));
		T_EQ(got->client, first + i);
		T_EQ(got->round, round);
	}
}

static int
client_process(int fd, void *arg)
{
	const uint32_t first = *(uint32_t *)arg;
	struct endpoint e[EACH];
	unsigned int i;

	T_CHECK(t_nofile_set(8192));
	for (i = 0; i < EACH; i++) {
		client_endpoint_create(&e[i], CHANNEL_PF0);
		endpoint_connect_away(&e[i]);
	}
	t_say(fd, 'C', 0);
	for (i = 0; i < ROUNDS; i++)
		ask_all(e, first, i);
	t_say(fd, 'D', 0);
	t_hear(fd, 'Q');
	/* Half of them take their leave, half just go. */
	for (i = 0; i < EACH; i++) {
		if (i % 2 == 0)
			T_OK(doca_comm_channel_ep_disconnect(e[i].ep, e[i].peer));
		endpoint_destroy(&e[i]);
	}
	return 0;
}

static int
by_address(const void *a, const void *b)
{
	const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/* Each has a pointer of its own. */
static void
check_all(struct endpoint *service, ADDR **peers)
{
	uintptr_t sorted[CLIENTS];
	struct peer_stats s;
	ADDR **list;
	unsigned int i;

	T_EQ(service_list(service, &list), CLIENTS);
	for (i = 0; i < CLIENTS; i++)
		sorted[i] = (uintptr_t)list[i];
	qsort(sorted, CLIENTS, sizeof(sorted[0]), by_address);
	for (i = 1; i < CLIENTS; i++)
		T_NE(sorted[i], sorted[i - 1]);
	for (i = 0; i < CLIENTS; i++) {
		T_CHECK(bsearch(&peers[i], sorted, CLIENTS, sizeof(sorted[0]), by_address) != NULL);
		T_OK(doca_comm_channel_peer_addr_update_info(peers[i]));
		peer_stats_get(peers[i], &s);
		T_EQ(s.recv_messages, ROUNDS);
		T_EQ(s.recv_bytes, ROUNDS * sizeof(struct message));
		T_EQ(s.send_messages, ROUNDS);
	}
}

static int
service_process(int fd, void *arg __rte_unused)
{
	static ADDR *peers[CLIENTS];
	uint8_t room[CHANNEL_MSG_MAX];
	struct message *m = (struct message *)(void *)room;
	struct endpoint e;
	ADDR **list;
	unsigned int i;

	T_CHECK(t_nofile_set(16384));
	service_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(e.ep, CHANNEL_NAME));
	t_say(fd, 'R', 0);
	for (i = 0; i < CLIENTS * ROUNDS; i++) {
		T_EQ(endpoint_recv(&e, room), sizeof(*m));
		T_LT(m->client, CLIENTS);
		if (m->round == 0)
			peers[m->client] = e.peer;
		T_CHECK(peers[m->client] == e.peer);
		endpoint_send(&e, m, sizeof(*m));
	}
	check_all(&e, peers);
	t_say(fd, 'D', 0);
	T_AWAIT((endpoint_recv_none(&e), service_list(&e, &list) == 0));
	for (i = 0; i < CLIENTS; i++) {
		T_IS(doca_comm_channel_peer_addr_update_info(peers[i]),
			DOCA_ERROR_CONNECTION_RESET);
		T_OK(doca_comm_channel_ep_disconnect(e.ep, peers[i]));
	}
	endpoint_destroy(&e);
	return 0;
}

/* behaviour: L9, L17 */
T_CASE(all_clients)
{
	struct t_proc service, client[PROCESSES];
	uint32_t first[PROCESSES];
	unsigned int i;

	t_proc_start(&service, "service", service_process, NULL);
	t_hear(service.fd, 'R');
	for (i = 0; i < PROCESSES; i++) {
		first[i] = i * EACH;
		t_proc_start(&client[i], "clients", client_process, &first[i]);
	}
	for (i = 0; i < PROCESSES; i++) {
		t_hear(client[i].fd, 'C');
		t_hear(client[i].fd, 'D');
	}
	t_hear(service.fd, 'D');
	for (i = 0; i < PROCESSES; i++)
		t_say(client[i].fd, 'Q', 0);
	for (i = 0; i < PROCESSES; i++)
		t_proc_join(&client[i]);
	t_proc_join(&service);
}
