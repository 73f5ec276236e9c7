/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A process with an endpoint of doca_comm_channel is killed: what the other is told. */

#include <sys/mman.h>

#include "comm_channel/endpoint.h"
#include "t_main.h"
#include "t_proc.h"

#define ADDR struct doca_comm_channel_addr_t

/* What the victim did, seen from outside of it. */
struct seen {
	uint64_t sent, sent_bytes; /* sendto has returned */
};
static struct seen *seen;

static void
seen_create(void)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_CHECK(seen != MAP_FAILED);
}

static size_t
length(uint64_t number)
{
	return number * 37 % 500;
}

/* Send numbered messages until killed; tell when so many have gone out. */
static void __attribute__((noreturn))
send_for_ever(struct endpoint *e, int fd)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	uint64_t i;

	for (i = 0;; i++) {
		t_fill(msg, length(i), i);
		/* The receiver may be slow, or wait for the kill. */
		while (doca_comm_channel_ep_sendto(e->ep, msg, length(i), 0, e->peer) !=
				DOCA_SUCCESS)
			;
		seen->sent_bytes += length(i);
		__atomic_store_n(&seen->sent, i + 1, __ATOMIC_RELEASE);
		if (i == 40)
			t_say(fd, 'T', 0);
	}
}

/* All messages of one that is dead; those that it knew to be sent, and perhaps one more. */
static void
recv_rest(struct endpoint *e, uint64_t got, doca_error_t end)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	struct peer_stats s;
	doca_error_t ret;
	uint64_t bytes = 0, i;
	size_t len;

	for (i = 0; i < got; i++)
		bytes += length(i);
	T_AWAIT(endpoint_state(e) == DOCA_ERROR_CONNECTION_RESET);
	for (i = got;; i++) {
		len = sizeof(msg);
		ret = doca_comm_channel_ep_recvfrom(e->ep, msg, &len, 0, &e->peer);
		if (ret != DOCA_SUCCESS)
			break;
		T_EQ(len, length(i));
		T_VERIFY(msg, len, i);
		bytes += len;
	}
	T_IS(ret, end);
	T_GE(i, seen->sent);
	T_LE(i, seen->sent + 1);
	T_IS(doca_comm_channel_ep_sendto(e->ep, "x", 1, 0, e->peer), DOCA_ERROR_CONNECTION_RESET);
	T_IS(endpoint_state(e), DOCA_ERROR_CONNECTION_RESET);
	peer_stats_get(e->peer, &s);
	T_EQ(s.recv_messages, i);
	T_EQ(s.recv_bytes, bytes);
}

static void
recv_some(struct endpoint *e, uint64_t nb)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	uint64_t i;

	for (i = 0; i < nb; i++) {
		T_EQ(endpoint_recv(e, msg), length(i));
		T_VERIFY(msg, length(i), i);
	}
}

static int
doomed_client(int fd, void *arg __rte_unused)
{
	struct endpoint e;

	client_endpoint_create(&e, CHANNEL_PF0);
	endpoint_connect_away(&e);
	send_for_ever(&e, fd);
}

/* Asleep until the news has come. */
static void
wait_for_service(struct endpoint *e, uint32_t nb)
{
	ADDR **list;
	int fd;

	T_OK(doca_comm_channel_ep_get_service_event_channel(e->ep, &fd));
	T_WAIT(t_readable(fd, T_TIMEOUT_MS), service_list(e, &list) == nb);
}

static int
lasting_service(int fd, void *arg __rte_unused)
{
	struct endpoint e;
	unsigned int i;
	uint32_t n;

	service_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(e.ep, CHANNEL_NAME));
	t_say(fd, 'R', 0);
	for (i = 0; i < 4; i++) {
		recv_some(&e, 20 + i);
		t_say(fd, 'S', 0);
		if (i % 2 == 0) {
			t_hear(fd, 'K');
			wait_for_service(&e, 0);
		} else {
			wait_for_service(&e, 0);
			t_hear(fd, 'K');
		}
		recv_rest(&e, 20 + i, DOCA_ERROR_AGAIN);
		T_OK(doca_comm_channel_ep_disconnect(e.ep, e.peer));
		T_OK(doca_comm_channel_ep_update_service_state_info(e.ep));
		T_GETS(doca_comm_channel_ep_get_pending_connections(e.ep, &n), n, 0);
		t_say(fd, 'N', 0);
	}
	endpoint_destroy(&e);
	return 0;
}

/* behaviour: L16, L17, L20, L24, L33 */
T_CASE(client_dies)
{
	struct t_proc service, client;
	unsigned int i;

	seen_create();
	t_proc_start(&service, "service", lasting_service, NULL);
	t_hear(service.fd, 'R');
	for (i = 0; i < 4; i++) {
		seen->sent = seen->sent_bytes = 0;
		t_proc_start(&client, "client", doomed_client, NULL);
		t_hear(client.fd, 'T');
		t_hear(service.fd, 'S');
		t_proc_kill(&client);
		t_say(service.fd, 'K', 0);
		t_hear(service.fd, 'N');
	}
	t_proc_join(&service);
}

static int
doomed_service(int fd, void *arg __rte_unused)
{
	struct endpoint e;

	service_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(e.ep, CHANNEL_NAME));
	t_say(fd, 'R', 0);
	endpoint_recv_number(&e, 0);
	send_for_ever(&e, fd);
}

/* Asleep for messages until the peer is lost. */
static void
sleep_recv(struct endpoint *e)
{
	int fd;

	T_OK(doca_comm_channel_ep_get_event_channel(e->ep, NULL, &fd));
	T_OK(doca_comm_channel_ep_event_handle_arm_recv(e->ep));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
}

/* Asleep for room, of which there is none. */
static void
sleep_send(struct endpoint *e)
{
	doca_error_t ret;
	int fd;

	T_OK(doca_comm_channel_ep_get_event_channel(e->ep, &fd, NULL));
	for (;;) {
		ret = doca_comm_channel_ep_sendto(e->ep, "x", 1, 0, e->peer);
		if (ret == DOCA_SUCCESS)
			continue;
		if (ret != DOCA_ERROR_AGAIN)
			break;
		T_OK(doca_comm_channel_ep_event_handle_arm_send(e->ep));
		T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	}
	T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
}

static int
lasting_client(int fd, void *arg __rte_unused)
{
	struct endpoint e;
	unsigned int i;

	client_endpoint_create(&e, CHANNEL_PF0);
	for (i = 0; i < 4; i++) {
		t_hear(fd, 'G');
		endpoint_connect_away(&e);
		endpoint_send_number(&e, 0);
		recv_some(&e, 20 + i);
		t_say(fd, 'S', 0);
		if (i % 2 == 0)
			sleep_send(&e);
		t_hear(fd, 'K');
		if (i % 2 == 1)
			sleep_recv(&e);
		recv_rest(&e, 20 + i, DOCA_ERROR_CONNECTION_RESET);
		sleep_recv(&e);
		T_OK(doca_comm_channel_ep_disconnect(e.ep, e.peer));
		t_say(fd, 'N', 0);
	}
	t_hear(fd, 'G');
	endpoint_connect_away(&e);
	endpoint_send_number(&e, 1);
	endpoint_recv_number(&e, 2);
	endpoint_destroy(&e);
	return 0;
}

static int
last_service(int fd, void *arg __rte_unused)
{
	struct endpoint e;

	service_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(e.ep, CHANNEL_NAME));
	t_say(fd, 'R', 0);
	endpoint_recv_number(&e, 1);
	endpoint_send_number(&e, 2);
	T_AWAIT(endpoint_state(&e) == DOCA_ERROR_CONNECTION_RESET);
	endpoint_destroy(&e);
	return 0;
}

/* The name is free at once. behaviour: L14, L20, L21, L24, L33 */
T_CASE(service_dies)
{
	struct t_proc service, client;
	unsigned int i;

	seen_create();
	t_proc_start(&client, "client", lasting_client, NULL);
	for (i = 0; i < 4; i++) {
		seen->sent = seen->sent_bytes = 0;
		t_proc_start(&service, "service", doomed_service, NULL);
		t_hear(service.fd, 'R');
		t_say(client.fd, 'G', 0);
		t_hear(service.fd, 'T');
		t_hear(client.fd, 'S');
		t_proc_kill(&service);
		t_say(client.fd, 'K', 0);
		t_hear(client.fd, 'N');
	}
	t_proc_start(&service, "service", last_service, NULL);
	t_hear(service.fd, 'R');
	t_say(client.fd, 'G', 0);
	t_proc_join(&client);
	t_proc_join(&service);
}

/* Asks to be accepted, and is not there any more when it would be. */
static int
hasty_client(int fd, void *arg __rte_unused)
{
	struct endpoint e;

	client_endpoint_create(&e, CHANNEL_PF0);
	endpoint_dial(&e, CHANNEL_NAME);
	t_say(fd, 'T', 0);
	for (;;)
		T_IS(endpoint_state(&e), DOCA_ERROR_CONNECTION_INPROGRESS);
}

static int
patient_service(int fd, void *arg __rte_unused)
{
	struct endpoint e;

	service_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(e.ep, CHANNEL_NAME));
	t_say(fd, 'R', 0);
	T_AWAIT(service_pending(&e) == 1);
	t_say(fd, 'S', 0);
	T_AWAIT(service_pending(&e) == 0);
	wait_for_service(&e, 0);
	endpoint_recv_none(&e);
	endpoint_destroy(&e);
	return 0;
}

/* behaviour: L18 */
T_CASE(pending_client_dies)
{
	struct t_proc service, client;

	t_proc_start(&service, "service", patient_service, NULL);
	t_hear(service.fd, 'R');
	t_proc_start(&client, "client", hasty_client, NULL);
	t_hear(client.fd, 'T');
	t_hear(service.fd, 'S');
	t_proc_kill(&client);
	t_proc_join(&service);
}

/* Never accepted. */
static int
waiting_client(int fd, void *arg __rte_unused)
{
	struct endpoint e;

	client_endpoint_create(&e, CHANNEL_PF0);
	endpoint_dial(&e, CHANNEL_NAME);
	t_say(fd, 'T', 0);
	T_AWAIT(endpoint_state(&e) != DOCA_ERROR_CONNECTION_INPROGRESS);
	T_IS(endpoint_state(&e), DOCA_ERROR_CONNECTION_ABORTED);
	endpoint_destroy(&e);
	return 0;
}

static int
absent_service(int fd, void *arg __rte_unused)
{
	struct endpoint e;

	service_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(e.ep, CHANNEL_NAME));
	t_say(fd, 'R', 0);
	t_hear(fd, 'N');
	return 0;
}

/* behaviour: L5 */
T_CASE(service_dies_before)
{
	struct t_proc service, client;

	t_proc_start(&service, "service", absent_service, NULL);
	t_hear(service.fd, 'R');
	t_proc_start(&client, "client", waiting_client, NULL);
	t_hear(client.fd, 'T');
	t_proc_kill(&service);
	t_proc_join(&client);
}
