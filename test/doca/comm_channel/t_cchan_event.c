/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Event channels of doca_comm_channel: what makes them readable, and what does not. */

#include <dirent.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "comm_channel/endpoint.h"
#include "t_main.h"

#define ADDR struct doca_comm_channel_addr_t

static int
recv_fd(const struct endpoint *e)
{
	int fd;

	T_OK(doca_comm_channel_ep_get_event_channel(e->ep, NULL, &fd));
	return fd;
}

static int
send_fd(const struct endpoint *e)
{
	int fd;

	T_OK(doca_comm_channel_ep_get_event_channel(e->ep, &fd, NULL));
	return fd;
}

static int
service_fd(const struct endpoint *e)
{
	int fd;

	T_OK(doca_comm_channel_ep_get_service_event_channel(e->ep, &fd));
	return fd;
}

static void
arm_recv(const struct endpoint *e)
{
	T_OK(doca_comm_channel_ep_event_handle_arm_recv(e->ep));
}

static void
arm_send(const struct endpoint *e)
{
	T_OK(doca_comm_channel_ep_event_handle_arm_send(e->ep));
}

/* One thread sees what another process would: soon. */
#define WAKES(fd) T_CHECK(t_readable(fd, T_TIMEOUT_MS))

/* behaviour: L13, L15, L32 */
CHANNEL_CASE(recv_event, t)
{
	struct endpoint *e[2], *other;
	unsigned int i;
	int fd;

	channel_meet(t);
	e[0] = &t->client;
	e[1] = &t->service;
	for (i = 0; i < 6; i++) {
		other = e[(i + 1) % 2];
		fd = recv_fd(e[i % 2]);
		/* Not armed: nothing. */
		T_CHECK(!t_readable(fd, 0));
		endpoint_send_number(other, 1);
		T_CHECK(!t_readable(fd, 0));
		/* One waits already. */
		arm_recv(e[i % 2]);
		WAKES(fd);
		endpoint_recv_number(e[i % 2], 1);
		endpoint_recv_none(e[i % 2]);
		T_CHECK(!t_readable(fd, 0));
		/* Armed, and then it comes. */
		T_OK(doca_comm_channel_ep_event_handle_arm_rcv(e[i % 2]->ep));
		T_CHECK(!t_readable(fd, 0));
		endpoint_send_number(other, 2);
		WAKES(fd);
		endpoint_recv_number(e[i % 2], 2);
		/* That was the one event. */
		T_CHECK(!t_readable(fd, 0));
		endpoint_send_number(other, 3);
		endpoint_recv_number(e[i % 2], 3);
		endpoint_send_number(other, 4);
		endpoint_recv_number(e[i % 2], 4);
		endpoint_recv_none(e[i % 2]);
		T_CHECK(!t_readable(fd, 0));
	}
}

/* Arming counts through any number of calls that find nothing. behaviour: L13, L31 */
CHANNEL_CASE(armed_for_long, t)
{
	unsigned int i;
	int fd;

	fd = recv_fd(&t->client);
	arm_recv(&t->client);
	for (i = 0; i < 100; i++) {
		T_OK(endpoint_state(&t->client));
		endpoint_send_number(&t->client, i);
		endpoint_recv_number(&t->service, i);
		if (i % 10 == 0)
			arm_recv(&t->client);
		/* Woken for nothing, it may be; not for good. */
		endpoint_recv_none(&t->client);
		T_CHECK(!t_readable(fd, 0));
	}
	endpoint_send_number(&t->service, 1);
	/* Another call of this endpoint is the first to see it. */
	T_OK(endpoint_state(&t->client));
	WAKES(fd);
	endpoint_recv_number(&t->client, 1);
	T_CHECK(!t_readable(fd, 0));
}

/* A client to be accepted, and a service that is lost. behaviour: L13 */
CHANNEL_CASE_CREATED(recv_event_of_links, t)
{
	int fd;

	fd = recv_fd(&t->service);
	arm_recv(&t->service);
	T_CHECK(!t_readable(fd, 0));
	endpoint_dial(&t->client, CHANNEL_NAME);
	T_AWAIT((endpoint_state(&t->client), t_readable(fd, 0)));
	T_AWAIT((endpoint_recv_none(&t->service), endpoint_state(&t->client) == DOCA_SUCCESS));
	channel_meet(t);

	fd = recv_fd(&t->client);
	arm_recv(&t->client);
	T_CHECK(!t_readable(fd, 0));
	T_OK(doca_comm_channel_ep_disconnect(t->service.ep, t->service.peer));
	WAKES(fd);
	T_AWAIT(endpoint_state(&t->client) == DOCA_ERROR_CONNECTION_RESET);
	/* It has something to say from now on. */
	arm_recv(&t->client);
	WAKES(fd);
}

/* Send until there is no room. */
static uint32_t
fill_up(struct endpoint *from)
{
	uint32_t n = 0;
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_sendto(from->ep, &n, sizeof(n), 0, from->peer)) ==
			DOCA_SUCCESS)
		n++;
	T_IS(ret, DOCA_ERROR_AGAIN);
	return n;
}

/* behaviour: L14, L15 */
CHANNEL_CASE(send_event, t)
{
	struct endpoint *e[2], *from, *to;
	unsigned int i;
	uint32_t n, k;
	int fd;

	channel_meet(t);
	endpoint_recv_none(&t->service);
	e[0] = &t->client;
	e[1] = &t->service;
	for (i = 0; i < 4; i++) {
		from = e[i % 2];
		to = e[(i + 1) % 2];
		fd = send_fd(from);
		/* There is room, and nothing on its way. */
		T_CHECK(!t_readable(fd, 0));
		arm_send(from);
		WAKES(fd);
		n = fill_up(from);
		arm_send(from);
		T_CHECK(!t_readable(fd, 0));
		endpoint_recv_number(to, 0);
		endpoint_recv_number(to, 1);
		/* Told with its next call. */
		T_OK(endpoint_state(to));
		WAKES(fd);
		endpoint_send_number(from, n++);
		endpoint_send_number(from, n++);
		/* That was the one event. */
		for (k = 2; k < n - 1; k++)
			endpoint_recv_number(to, k);
		T_CHECK(!t_readable(fd, 0));
		/* There is room but for one message, which may be received at last. */
		arm_send(from);
		endpoint_recv_number(to, n - 1);
		endpoint_recv_none(to);
		WAKES(fd);
		T_OK(endpoint_state(from));
		endpoint_send_number(from, 5);
		endpoint_recv_number(to, 5);
		endpoint_recv_none(to);
		T_OK(endpoint_state(from));
	}
}

/* A sender that waits for room learns that the connection has ended. behaviour: L14 */
T_CASE(send_event_of_loss)
{
	unsigned int i;
	struct channel t;
	int fd;

	for (i = 0; i < 3; i++) {
		channel_open(&t);
		channel_meet(&t);
		fd = send_fd(&t.client);
		fill_up(&t.client);
		arm_send(&t.client);
		T_CHECK(!t_readable(fd, 0));
		if (i == 0)
			T_OK(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer));
		else if (i == 1)
			endpoint_destroy(&t.service);
		else
			T_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
		if (i < 2) {
			WAKES(fd);
			T_AWAIT(endpoint_state(&t.client) == DOCA_ERROR_CONNECTION_RESET);
		}
		if (i != 1)
			endpoint_destroy(&t.service);
		endpoint_destroy(&t.client);
	}
}

/* Room for one client is told, though another one was sent to meanwhile. behaviour: L7, L14 */
CHANNEL_CASE(send_event_of_two, t)
{
	struct doca_comm_channel_addr_t *first, *second;
	struct endpoint other;
	unsigned int i;
	uint32_t n, k;
	int fd;

	channel_meet(t);
	first = t->service.peer;
	client_endpoint_create(&other, CHANNEL_PF0);
	endpoint_connect(&other, &t->service);
	endpoint_send_number(&other, 1);
	endpoint_recv_number(&t->service, 1);
	second = t->service.peer;
	fd = send_fd(&t->service);
	for (i = 0; i < 3; i++) {
		t->service.peer = first;
		n = fill_up(&t->service);
		arm_send(&t->service);
		T_CHECK(!t_readable(fd, 0));
		t->service.peer = second;
		/* Before, or after, the room was made. */
		if (i == 0)
			endpoint_send_number(&t->service, 7);
		for (k = 0; k < n; k++)
			endpoint_recv_number(&t->client, k);
		endpoint_recv_none(&t->client);
		if (i == 1)
			endpoint_send_number(&t->service, 7);
		WAKES(fd);
		if (i < 2)
			endpoint_recv_number(&other, 7);
		t->service.peer = first;
		endpoint_send_number(&t->service, 5);
		endpoint_recv_number(&t->client, 5);
		endpoint_recv_none(&t->client);
		T_CHECK(!t_readable(fd, 0));
	}
	endpoint_destroy(&other);
}

/* All that is news of a service. behaviour: L16, L17, L18 */
CHANNEL_CASE_CREATED(service_event, t)
{
	struct endpoint more;
	ADDR **list;
	int fd;

	fd = service_fd(&t->service);
	T_EQ(service_pending(&t->service), 0);
	T_CHECK(!t_readable(fd, 0));
	/* One that wants to be accepted. */
	endpoint_dial(&t->client, CHANNEL_NAME);
	T_AWAIT((endpoint_state(&t->client), t_readable(fd, 0)));
	T_AWAIT((endpoint_state(&t->client), service_pending(&t->service) == 1));
	T_CHECK(!t_readable(fd, 0));
	/* One that is connected. */
	T_AWAIT((endpoint_recv_none(&t->service), endpoint_state(&t->client) == DOCA_SUCCESS));
	WAKES(fd);
	T_AWAIT(service_list(&t->service, &list) == 1);
	T_CHECK(!t_readable(fd, 0));
	t->service.peer = list[0];
	/* Messages do not trigger this event. */
	endpoint_send_number(&t->client, 1);
	endpoint_recv_number(&t->service, 1);
	T_CHECK(t->service.peer == list[0]);
	service_list(&t->service, &list);
	T_CHECK(!t_readable(fd, 0));
	endpoint_send_number(&t->service, 2);
	endpoint_recv_number(&t->client, 2);
	/* Each arming gives one event. */
	client_endpoint_create(&more, CHANNEL_PF0);
	endpoint_connect(&more, &t->service);
	WAKES(fd);
	T_EQ(service_list(&t->service, &list), 2);
	T_CHECK(!t_readable(fd, 0));
	/* One that goes. */
	endpoint_destroy(&more);
	WAKES(fd);
	T_AWAIT(service_list(&t->service, &list) == 1);
	T_CHECK(list[0] == t->service.peer);
	T_CHECK(!t_readable(fd, 0));
	T_OK(doca_comm_channel_ep_disconnect(t->client.ep, t->client.peer));
	WAKES(fd);
	T_AWAIT(service_list(&t->service, &list) == 0);
}

/* A connect gets on by calls of the client only. behaviour: L5, L18 */
CHANNEL_CASE_CREATED(connect_needs_calls, t)
{
	unsigned int i;
	ADDR **list;

	endpoint_dial(&t->client, CHANNEL_NAME);
	for (i = 0; i < 100; i++) {
		endpoint_recv_none(&t->service);
		T_EQ(service_pending(&t->service), 0);
		T_EQ(service_list(&t->service, &list), 0);
	}
	T_AWAIT((endpoint_state(&t->client), endpoint_recv_none(&t->service),
		service_list(&t->service, &list) == 1));
	T_AWAIT(endpoint_state(&t->client) == DOCA_SUCCESS);
}

/* Each way in which a client may go. */
static void
leave(struct endpoint *client, unsigned int how)
{
	uint32_t i;

	/* It may have sent what the service has not received yet, up to a full queue. */
	for (i = 0; i < how / 2 * 32; i++)
		endpoint_send_number(client, i);
	if (how % 2 == 0)
		T_OK(doca_comm_channel_ep_disconnect(client->ep, client->peer));
	endpoint_destroy(client);
}

/* One update after an event lists exactly the connected clients. behaviour: L16, L17 */
T_CASE(service_event_once)
{
	struct endpoint service, stays, goes;
	unsigned int i, how;
	ADDR **list;
	int fd;

	service_endpoint_create(&service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(service.ep, CHANNEL_NAME));
	fd = service_fd(&service);
	client_endpoint_create(&stays, CHANNEL_PF0);
	endpoint_connect(&stays, &service);
	for (i = 0; i < 60; i++) {
		how = i % 6;
		client_endpoint_create(&goes, CHANNEL_PF0);
		endpoint_connect(&goes, &service);
		T_EQ(service_list(&service, &list), 2);
		T_CHECK(!t_readable(fd, 0));
		leave(&goes, how);
		WAKES(fd);
		T_EQ(service_list(&service, &list), 1);
		T_CHECK(!t_readable(fd, 0));
		for (how = how / 2 * 32; how > 0; how--)
			endpoint_recv_number(&service, (i % 6) / 2 * 32 - how);
	}
	endpoint_destroy(&stays);
	endpoint_destroy(&service);
}

/* Take a service's socket from below the directory. */
static void
remove_socket(const char *dir)
{
	unsigned int nb = 0;
	struct dirent *e;
	char path[600];
	DIR *d;

	snprintf(path, sizeof(path), "%s/pf0", dir);
	d = opendir(path);
	T_CHECK(d != NULL);
	while ((e = readdir(d)) != NULL) {
		if (strstr(e->d_name, ".sock") == NULL)
			continue;
		snprintf(path, sizeof(path), "%s/pf0/%s", dir, e->d_name);
		T_EQ(unlink(path), 0);
		nb++;
	}
	closedir(d);
	T_EQ(nb, 1);
}

/* behaviour: L16, L19 */
T_CASE(service_failure)
{
	ADDR *peer = NULL;
	struct endpoint more;
	unsigned int i;
	struct channel t;
	int fd;

	setenv("COMCH_DIR", t_dir(), 1);
	channel_open(&t);
	channel_meet(&t);
	client_endpoint_create(&more, CHANNEL_PF0);
	fd = service_fd(&t.service);
	T_AWAIT((service_pending(&t.service), !t_readable(fd, 0)));
	remove_socket(t_dir());
	WAKES(fd);
	T_AWAIT(doca_comm_channel_ep_update_service_state_info(t.service.ep) != DOCA_SUCCESS);
	for (i = 0; i < 3; i++)
		T_IS(doca_comm_channel_ep_update_service_state_info(t.service.ep),
			DOCA_ERROR_CONNECTION_RESET);
	if (doca_comm_channel_ep_connect(more.ep, CHANNEL_NAME, &peer) == DOCA_SUCCESS)
		T_AWAIT(doca_comm_channel_peer_addr_update_info(peer) ==
			DOCA_ERROR_CONNECTION_ABORTED);
	endpoint_destroy(&more);
	endpoint_destroy(&t.service);
	/* And another one. */
	T_AWAIT(endpoint_state(&t.client) == DOCA_ERROR_CONNECTION_RESET);
	T_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
	service_endpoint_create(&t.service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(t.service.ep, CHANNEL_NAME));
	endpoint_connect(&t.client, &t.service);
	channel_meet(&t);
	channel_close(&t);
}

#define IDLERS 8

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	T_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts), 0);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void
add_fd(int ep, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	T_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
}

/* Arm whatever may sleep. */
static void
arm_all(struct endpoint *service, struct endpoint *clients)
{
	unsigned int i;

	endpoint_recv_none(service);
	arm_recv(service);
	T_OK(doca_comm_channel_ep_update_service_state_info(service->ep));
	for (i = 0; i < IDLERS; i++) {
		endpoint_recv_none(&clients[i]);
		arm_recv(&clients[i]);
	}
}

/* behaviour: L37 */
T_CASE(idle)
{
	struct endpoint service, clients[IDLERS];
	struct epoll_event e;
	unsigned int i, turns = 0;
	uint64_t before;
	uint32_t n = 0;
	int ep;

	service_endpoint_create(&service, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(service.ep, CHANNEL_NAME));
	ep = epoll_create1(EPOLL_CLOEXEC);
	add_fd(ep, recv_fd(&service));
	add_fd(ep, service_fd(&service));
	for (i = 0; i < IDLERS; i++) {
		client_endpoint_create(&clients[i], CHANNEL_PF0);
		endpoint_connect(&clients[i], &service);
		add_fd(ep, recv_fd(&clients[i]));
		endpoint_send_number(&clients[i], i);
		endpoint_recv_number(&service, i);
	}
	/* They come to rest, */
	do {
		T_LT(++turns, 100);
		arm_all(&service, clients);
	} while (epoll_wait(ep, &e, 1, 100) > 0);
	/* and stay there. */
	before = cpu_ns();
	T_EQ(epoll_wait(ep, &e, 1, 1000), 0);
	T_TIME_LE(cpu_ns() - before, 50000000);
	/* They were not dead. */
	endpoint_send_number(&clients[3], 77);
	T_EQ(epoll_wait(ep, &e, 1, T_TIMEOUT_MS), 1);
	endpoint_recv_number(&service, 77);
	T_OK(doca_comm_channel_ep_sendto(service.ep, &n, sizeof(n), 0, service.peer));
	T_CHECK(t_readable(recv_fd(&clients[3]), T_TIMEOUT_MS));
	for (i = 0; i < IDLERS; i++)
		endpoint_destroy(&clients[i]);
	endpoint_destroy(&service);
	close(ep);
}
