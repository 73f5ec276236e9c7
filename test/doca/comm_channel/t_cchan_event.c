/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Event channels of doca_comm_channel: what makes them readable, and what does not. */

#include <dirent.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "t_main.h"
#include "comm_channel/endpoint.h"

#define ADDR struct doca_comm_channel_addr_t

static int
recv_fd(const struct tch_end *e)
{
	int fd;

	TD_OK(doca_comm_channel_ep_get_event_channel(e->ep, NULL, &fd));
	return fd;
}

static int
send_fd(const struct tch_end *e)
{
	int fd;

	TD_OK(doca_comm_channel_ep_get_event_channel(e->ep, &fd, NULL));
	return fd;
}

static int
service_fd(const struct tch_end *e)
{
	int fd;

	TD_OK(doca_comm_channel_ep_get_service_event_channel(e->ep, &fd));
	return fd;
}

static void
arm_recv(const struct tch_end *e)
{
	TD_OK(doca_comm_channel_ep_event_handle_arm_recv(e->ep));
}

static void
arm_send(const struct tch_end *e)
{
	TD_OK(doca_comm_channel_ep_event_handle_arm_send(e->ep));
}

/* One thread sees what another process would: soon. */
#define WAKES(fd) T_CHECK(t_readable(fd, T_TIMEOUT_MS))

/* behaviour: L13, L15, L32 */
static void
recv_event(void)
{
	struct tch_end *e[2], *other;
	struct tch t;
	unsigned int i;
	int fd;

	tch_open(&t);
	tch_meet(&t);
	e[0] = &t.client;
	e[1] = &t.service;
	for (i = 0; i < 6; i++) {
		other = e[(i + 1) % 2];
		fd = recv_fd(e[i % 2]);
		/* Not armed: nothing. */
		T_CHECK(!tch_is_readable(fd));
		tch_send_number(other, 1);
		T_CHECK(!tch_is_readable(fd));
		/* One waits already. */
		arm_recv(e[i % 2]);
		WAKES(fd);
		tch_recv_number(e[i % 2], 1);
		tch_recv_none(e[i % 2]);
		T_CHECK(!tch_is_readable(fd));
		/* Armed, and then it comes. */
		TD_OK(doca_comm_channel_ep_event_handle_arm_rcv(e[i % 2]->ep));
		T_CHECK(!tch_is_readable(fd));
		tch_send_number(other, 2);
		WAKES(fd);
		tch_recv_number(e[i % 2], 2);
		/* That was the one event. */
		T_CHECK(!tch_is_readable(fd));
		tch_send_number(other, 3);
		tch_recv_number(e[i % 2], 3);
		tch_send_number(other, 4);
		tch_recv_number(e[i % 2], 4);
		tch_recv_none(e[i % 2]);
		T_CHECK(!tch_is_readable(fd));
	}
	tch_close(&t);
}

/* Arming counts through any number of calls that find nothing. behaviour: L13, L31 */
static void
armed_for_long(void)
{
	unsigned int i;
	struct tch t;
	int fd;

	tch_open(&t);
	fd = recv_fd(&t.client);
	arm_recv(&t.client);
	for (i = 0; i < 100; i++) {
		TD_OK(tch_state(&t.client));
		tch_send_number(&t.client, i);
		tch_recv_number(&t.service, i);
		if (i % 10 == 0)
			arm_recv(&t.client);
		/* Woken for nothing, it may be; not for good. */
		tch_recv_none(&t.client);
		T_CHECK(!tch_is_readable(fd));
	}
	tch_send_number(&t.service, 1);
	/* Another call of this endpoint is the first to see it. */
	TD_OK(tch_state(&t.client));
	WAKES(fd);
	tch_recv_number(&t.client, 1);
	T_CHECK(!tch_is_readable(fd));
	tch_close(&t);
}

/* A client to be accepted, and a service that is lost. behaviour: L13 */
static void
recv_event_of_links(void)
{
	struct tch t;
	int fd;

	tch_create(&t);
	fd = recv_fd(&t.service);
	arm_recv(&t.service);
	T_CHECK(!tch_is_readable(fd));
	tch_dial(&t.client, TCH_NAME);
	TCH_UNTIL((tch_state(&t.client), tch_is_readable(fd)));
	TCH_UNTIL((tch_recv_none(&t.service), tch_state(&t.client) == DOCA_SUCCESS));
	tch_meet(&t);

	fd = recv_fd(&t.client);
	arm_recv(&t.client);
	T_CHECK(!tch_is_readable(fd));
	TD_OK(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer));
	WAKES(fd);
	TCH_UNTIL(tch_state(&t.client) == DOCA_ERROR_CONNECTION_RESET);
	/* It has something to say from now on. */
	arm_recv(&t.client);
	WAKES(fd);
	tch_close(&t);
}

/* Send until there is no room. */
static uint32_t
fill_up(struct tch_end *from)
{
	uint32_t n = 0;
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_sendto(from->ep, &n, sizeof(n), 0, from->peer)) ==
			DOCA_SUCCESS)
		n++;
	TD_IS(ret, DOCA_ERROR_AGAIN);
	return n;
}

/* behaviour: L14, L15 */
static void
send_event(void)
{
	struct tch_end *e[2], *from, *to;
	unsigned int i;
	uint32_t n, k;
	struct tch t;
	int fd;

	tch_open(&t);
	tch_meet(&t);
	tch_recv_none(&t.service);
	e[0] = &t.client;
	e[1] = &t.service;
	for (i = 0; i < 4; i++) {
		from = e[i % 2];
		to = e[(i + 1) % 2];
		fd = send_fd(from);
		/* There is room, and nothing on its way. */
		T_CHECK(!tch_is_readable(fd));
		arm_send(from);
		WAKES(fd);
		n = fill_up(from);
		arm_send(from);
		T_CHECK(!tch_is_readable(fd));
		tch_recv_number(to, 0);
		tch_recv_number(to, 1);
		/* Told with its next call. */
		TD_OK(tch_state(to));
		WAKES(fd);
		tch_send_number(from, n++);
		tch_send_number(from, n++);
		/* That was the one event. */
		for (k = 2; k < n - 1; k++)
			tch_recv_number(to, k);
		T_CHECK(!tch_is_readable(fd));
		/* There is room but for one message, which may be received at last. */
		arm_send(from);
		tch_recv_number(to, n - 1);
		tch_recv_none(to);
		WAKES(fd);
		TD_OK(tch_state(from));
		tch_send_number(from, 5);
		tch_recv_number(to, 5);
		tch_recv_none(to);
		TD_OK(tch_state(from));
	}
	tch_close(&t);
}

/* Whoever waits for room is told that none will come. behaviour: L14 */
static void
send_event_of_loss(void)
{
	unsigned int i;
	struct tch t;
	int fd;

	for (i = 0; i < 3; i++) {
		tch_open(&t);
		tch_meet(&t);
		fd = send_fd(&t.client);
		fill_up(&t.client);
		arm_send(&t.client);
		T_CHECK(!tch_is_readable(fd));
		if (i == 0)
			TD_OK(doca_comm_channel_ep_disconnect(t.service.ep, t.service.peer));
		else if (i == 1)
			tch_end_destroy(&t.service);
		else
			TD_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
		if (i < 2) {
			WAKES(fd);
			TCH_UNTIL(tch_state(&t.client) == DOCA_ERROR_CONNECTION_RESET);
		}
		if (i != 1)
			tch_end_destroy(&t.service);
		tch_end_destroy(&t.client);
	}
}

/* Room for one client is told, though another one was sent to meanwhile. behaviour: L7, L14 */
static void
send_event_of_two(void)
{
	struct doca_comm_channel_addr_t *first, *second;
	struct tch_end other;
	unsigned int i;
	uint32_t n, k;
	struct tch t;
	int fd;

	tch_open(&t);
	tch_meet(&t);
	first = t.service.peer;
	tch_client_create(&other, TCH_PF0);
	tch_connect(&other, &t.service);
	tch_send_number(&other, 1);
	tch_recv_number(&t.service, 1);
	second = t.service.peer;
	fd = send_fd(&t.service);
	for (i = 0; i < 3; i++) {
		t.service.peer = first;
		n = fill_up(&t.service);
		arm_send(&t.service);
		T_CHECK(!tch_is_readable(fd));
		t.service.peer = second;
		/* Before, or after, the room was made. */
		if (i == 0)
			tch_send_number(&t.service, 7);
		for (k = 0; k < n; k++)
			tch_recv_number(&t.client, k);
		tch_recv_none(&t.client);
		if (i == 1)
			tch_send_number(&t.service, 7);
		WAKES(fd);
		if (i < 2)
			tch_recv_number(&other, 7);
		t.service.peer = first;
		tch_send_number(&t.service, 5);
		tch_recv_number(&t.client, 5);
		tch_recv_none(&t.client);
		T_CHECK(!tch_is_readable(fd));
	}
	tch_end_destroy(&other);
	tch_close(&t);
}

/* All that is news of a service. behaviour: L16, L17, L18 */
static void
service_event(void)
{
	struct tch_end more;
	ADDR **list;
	struct tch t;
	int fd;

	tch_create(&t);
	fd = service_fd(&t.service);
	T_EQ(tch_pending(&t.service), 0);
	T_CHECK(!tch_is_readable(fd));
	/* One that wants to be accepted. */
	tch_dial(&t.client, TCH_NAME);
	TCH_UNTIL((tch_state(&t.client), tch_is_readable(fd)));
	TCH_UNTIL((tch_state(&t.client), tch_pending(&t.service) == 1));
	T_CHECK(!tch_is_readable(fd));
	/* One that is connected. */
	TCH_UNTIL((tch_recv_none(&t.service), tch_state(&t.client) == DOCA_SUCCESS));
	WAKES(fd);
	TCH_UNTIL(tch_list(&t.service, &list) == 1);
	T_CHECK(!tch_is_readable(fd));
	t.service.peer = list[0];
	/* Messages are no news of that kind. */
	tch_send_number(&t.client, 1);
	tch_recv_number(&t.service, 1);
	T_CHECK(t.service.peer == list[0]);
	tch_list(&t.service, &list);
	T_CHECK(!tch_is_readable(fd));
	tch_send_number(&t.service, 2);
	tch_recv_number(&t.client, 2);
	/* Each arming gives one event. */
	tch_client_create(&more, TCH_PF0);
	tch_connect(&more, &t.service);
	WAKES(fd);
	T_EQ(tch_list(&t.service, &list), 2);
	T_CHECK(!tch_is_readable(fd));
	/* One that goes. */
	tch_end_destroy(&more);
	WAKES(fd);
	TCH_UNTIL(tch_list(&t.service, &list) == 1);
	T_CHECK(list[0] == t.service.peer);
	T_CHECK(!tch_is_readable(fd));
	TD_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
	WAKES(fd);
	TCH_UNTIL(tch_list(&t.service, &list) == 0);
	tch_close(&t);
}

/* A connect gets on by calls of the client only. behaviour: L5, L18 */
static void
connect_needs_calls(void)
{
	unsigned int i;
	ADDR **list;
	struct tch t;

	tch_create(&t);
	tch_dial(&t.client, TCH_NAME);
	for (i = 0; i < 100; i++) {
		tch_recv_none(&t.service);
		T_EQ(tch_pending(&t.service), 0);
		T_EQ(tch_list(&t.service, &list), 0);
	}
	TCH_UNTIL((tch_state(&t.client), tch_recv_none(&t.service),
		tch_list(&t.service, &list) == 1));
	TCH_UNTIL(tch_state(&t.client) == DOCA_SUCCESS);
	tch_close(&t);
}

/* Each way in which a client may go. */
static void
leave(struct tch_end *client, unsigned int how)
{
	uint32_t i;

	/* It may have sent what the service has not received yet, up to a full queue. */
	for (i = 0; i < how / 2 * 32; i++)
		tch_send_number(client, i);
	if (how % 2 == 0)
		TD_OK(doca_comm_channel_ep_disconnect(client->ep, client->peer));
	tch_end_destroy(client);
}

/* One update after an event shows who is there, and no more. behaviour: L16, L17 */
static void
service_event_once(void)
{
	struct tch_end service, stays, goes;
	unsigned int i, how;
	ADDR **list;
	int fd;

	tch_service_create(&service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(service.ep, TCH_NAME));
	fd = service_fd(&service);
	tch_client_create(&stays, TCH_PF0);
	tch_connect(&stays, &service);
	for (i = 0; i < 60; i++) {
		how = i % 6;
		tch_client_create(&goes, TCH_PF0);
		tch_connect(&goes, &service);
		T_EQ(tch_list(&service, &list), 2);
		T_CHECK(!tch_is_readable(fd));
		leave(&goes, how);
		WAKES(fd);
		T_EQ(tch_list(&service, &list), 1);
		T_CHECK(!tch_is_readable(fd));
		for (how = how / 2 * 32; how > 0; how--)
			tch_recv_number(&service, (i % 6) / 2 * 32 - how);
	}
	tch_end_destroy(&stays);
	tch_end_destroy(&service);
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
static void
service_failure(void)
{
	ADDR *peer = NULL;
	struct tch_end more;
	unsigned int i;
	struct tch t;
	int fd;

	setenv("COMCH_DIR", t_dir(), 1);
	tch_open(&t);
	tch_meet(&t);
	tch_client_create(&more, TCH_PF0);
	fd = service_fd(&t.service);
	TCH_UNTIL((tch_pending(&t.service), !tch_is_readable(fd)));
	remove_socket(t_dir());
	WAKES(fd);
	TCH_UNTIL(doca_comm_channel_ep_update_service_state_info(t.service.ep) != DOCA_SUCCESS);
	for (i = 0; i < 3; i++)
		TD_IS(doca_comm_channel_ep_update_service_state_info(t.service.ep),
			DOCA_ERROR_CONNECTION_RESET);
	if (doca_comm_channel_ep_connect(more.ep, TCH_NAME, &peer) == DOCA_SUCCESS)
		TCH_UNTIL(doca_comm_channel_peer_addr_update_info(peer) ==
			DOCA_ERROR_CONNECTION_ABORTED);
	tch_end_destroy(&more);
	tch_end_destroy(&t.service);
	/* And another one. */
	TCH_UNTIL(tch_state(&t.client) == DOCA_ERROR_CONNECTION_RESET);
	TD_OK(doca_comm_channel_ep_disconnect(t.client.ep, t.client.peer));
	tch_service_create(&t.service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(t.service.ep, TCH_NAME));
	tch_connect(&t.client, &t.service);
	tch_meet(&t);
	tch_close(&t);
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
arm_all(struct tch_end *service, struct tch_end *clients)
{
	unsigned int i;

	tch_recv_none(service);
	arm_recv(service);
	TD_OK(doca_comm_channel_ep_update_service_state_info(service->ep));
	for (i = 0; i < IDLERS; i++) {
		tch_recv_none(&clients[i]);
		arm_recv(&clients[i]);
	}
}

/* behaviour: L37 */
static void
idle(void)
{
	struct tch_end service, clients[IDLERS];
	struct epoll_event e;
	unsigned int i, turns = 0;
	uint64_t before;
	uint32_t n = 0;
	int ep;

	tch_service_create(&service, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(service.ep, TCH_NAME));
	ep = epoll_create1(EPOLL_CLOEXEC);
	add_fd(ep, recv_fd(&service));
	add_fd(ep, service_fd(&service));
	for (i = 0; i < IDLERS; i++) {
		tch_client_create(&clients[i], TCH_PF0);
		tch_connect(&clients[i], &service);
		add_fd(ep, recv_fd(&clients[i]));
		tch_send_number(&clients[i], i);
		tch_recv_number(&service, i);
	}
	/* They come to rest, */
	do {
		T_LT(++turns, 100);
		arm_all(&service, clients);
	} while (epoll_wait(ep, &e, 1, 100) > 0);
	/* and stay there. */
	before = cpu_ns();
	T_EQ(epoll_wait(ep, &e, 1, 1000), 0);
	T_LT(cpu_ns() - before, 50000000);
	/* They were not dead. */
	tch_send_number(&clients[3], 77);
	T_EQ(epoll_wait(ep, &e, 1, T_TIMEOUT_MS), 1);
	tch_recv_number(&service, 77);
	TD_OK(doca_comm_channel_ep_sendto(service.ep, &n, sizeof(n), 0, service.peer));
	T_CHECK(t_readable(recv_fd(&clients[3]), T_TIMEOUT_MS));
	for (i = 0; i < IDLERS; i++)
		tch_end_destroy(&clients[i]);
	tch_end_destroy(&service);
	close(ep);
}

static const struct t_case cases[] = {
	{ "recv_event", recv_event },
	{ "armed_for_long", armed_for_long },
	{ "recv_event_of_links", recv_event_of_links },
	{ "send_event", send_event },
	{ "send_event_of_loss", send_event_of_loss },
	{ "send_event_of_two", send_event_of_two },
	{ "service_event", service_event },
	{ "connect_needs_calls", connect_needs_calls },
	{ "service_event_once", service_event_once },
	{ "service_failure", service_failure },
	{ "idle", idle },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
