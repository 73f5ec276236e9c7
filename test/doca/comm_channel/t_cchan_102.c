/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_comm_channel of DOCA 1.2 to 1.4: calls that wait. */

#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <doca_comm_channel.h>

#include "comm_channel/endpoint_102.h"
#include "common/result.h"
#include "common/thread.h"
#include "t_main.h"
#include "t_proc.h"

#if COMCH_DOCA_GENERATION != 102
#error "to be built for DOCA 1.2"
#endif

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SCALE(n) ((n) / 10)
#else
#define SCALE(n) (n)
#endif

#define NAME "t102"
#define MAX 4080
#define NOW DOCA_CC_MSG_FLAG_DONTWAIT
#define EP struct doca_comm_channel_ep_t
#define ADDR struct doca_comm_channel_addr_t

static EP *
create(uint32_t flags, uint32_t maxmsgs, uint32_t cookie)
{
	return flags == 0 ? endpoint_102_create(maxmsgs, cookie) :
		endpoint_102_create_nonblock(maxmsgs, cookie);
}

static EP *
listening(uint32_t flags, uint32_t maxmsgs)
{
	EP *ep = create(flags, maxmsgs, 11);

	setenv("COMCH_ROLE", "dpu", 1);
	T_OK(doca_comm_channel_ep_listen(ep, NAME));
	return ep;
}

/* A connection within this process: a thread accepts while we connect. */
struct pair {
	EP *service, *client;
	ADDR *to_service, *to_client;
	uint32_t connected;
};

static doca_error_t
try_recv(EP *ep, ADDR **peer)
{
	uint8_t msg[MAX];
	size_t len = sizeof(msg);

	return doca_comm_channel_ep_recvfrom(ep, msg, &len, NOW, peer);
}

static void *
accept_main(void *arg)
{
	struct pair *p = arg;
	ADDR *peer;

	while (__atomic_load_n(&p->connected, __ATOMIC_ACQUIRE) == 0)
		T_IS(try_recv(p->service, &peer), DOCA_ERROR_AGAIN);
	return NULL;
}

static void
join_in(struct pair *p)
{
	pthread_t thread;

	setenv("COMCH_ROLE", "host", 1);
	p->connected = 0;
	T_EQ(pthread_create(&thread, NULL, accept_main, p), 0);
	T_OK(doca_comm_channel_ep_connect(p->client, NAME, &p->to_service));
	T_CHECK(p->to_service != NULL);
	__atomic_store_n(&p->connected, 1, __ATOMIC_RELEASE);
	T_EQ(pthread_join(thread, NULL), 0);
}

/* A number that has to come, and from whom. */
static ADDR *
recv_number(EP *ep, uint32_t number)
{
	ADDR *peer = NULL;

	T_EQ(endpoint_102_recv_number(ep, &peer), number);
	return peer;
}

static void
open_pair(struct pair *p, uint32_t flags, uint32_t maxmsgs)
{
	p->service = listening(flags, maxmsgs);
	p->client = create(flags, maxmsgs, 22);
	join_in(p);
	endpoint_102_send_number(p->client, p->to_service, 0);
	p->to_client = recv_number(p->service, 0);
	/* The client is told. */
	T_IS(try_recv(p->service, &p->to_client), DOCA_ERROR_AGAIN);
}

static void
close_pair(struct pair *p)
{
	T_OK(doca_comm_channel_ep_destroy(p->client));
	T_OK(doca_comm_channel_ep_destroy(p->service));
}

/* behaviour: L27 */
T_CASE(attributes)
{
	static const struct {
		uint32_t maxmsgs, msgsize, flags;
		doca_error_t want;
	} attrs[] = {
		{ 0, 0, 0, DOCA_SUCCESS },
		{ 8191, 4080, DOCA_CC_INIT_FLAG_NONBLOCK, DOCA_SUCCESS },
		{ 8192, 256, 0, DOCA_ERROR_INVALID_VALUE },
		{ UINT32_MAX, 256, 0, DOCA_ERROR_INVALID_VALUE },
		{ 16, 4081, 0, DOCA_ERROR_NOT_PERMITTED },
		{ 16, UINT32_MAX, 0, DOCA_ERROR_NOT_PERMITTED },
		{ 16, 256, 2, DOCA_ERROR_INVALID_VALUE },
	};
	struct doca_comm_channel_init_attr attr = { 0 };
	unsigned int i;
	EP *ep;

	T_REFUSES_NULL(doca_comm_channel_ep_create, &attr, &ep);
	for (i = 0; i < RTE_DIM(attrs); i++) {
		attr.maxmsgs = attrs[i].maxmsgs;
		attr.msgsize = attrs[i].msgsize;
		attr.flags = attrs[i].flags;
		T_EQ(doca_comm_channel_ep_create(&attr, &ep), attrs[i].want);
		if (attrs[i].want == DOCA_SUCCESS)
			T_OK(doca_comm_channel_ep_destroy(ep));
	}
	T_IS(doca_comm_channel_ep_destroy(NULL), DOCA_ERROR_NOT_CONNECTED);
	T_EQ(DOCA_CC_INIT_FLAG_NONBLOCK, DOCA_COMM_CHANNEL_INIT_FLAG_NONBLOCK);
}

/* behaviour: L11, L27 */
T_CASE(raised)
{
	struct doca_comm_channel_init_attr attr = { .maxmsgs = 1, .msgsize = 1 };
	struct doca_comm_channel_peer_addr_info info;
	uint8_t msg[257] = { 0 };
	doca_error_t ret;
	struct pair p;

	p.service = listening(0, 100);
	T_OK(doca_comm_channel_ep_create(&attr, &p.client));
	join_in(&p);
	T_OK(doca_comm_channel_peer_addr_info_get(p.to_service, &info));
	T_EQ(info.msgsize, 256);
	T_EQ(info.maxmsgs, 16);
	T_INVALID(doca_comm_channel_ep_sendto(p.client, msg, 257, 0, p.to_service));
	T_OK(doca_comm_channel_ep_sendto(p.client, msg, 256, 0, p.to_service));
	T_AWAIT((ret = try_recv(p.service, &p.to_client)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
	T_OK(doca_comm_channel_peer_addr_info_get(p.to_client, &info));
	T_EQ(info.msgsize, 256);
	T_GE(info.maxmsgs, 100);
	T_EQ(info.rx_msgs, 1);
	T_EQ(info.rx_bytes, 256);
	close_pair(&p);
}

/* behaviour: L2, L3, L4, L8, L29 */
T_CASE(link_errors)
{
	ADDR *peer = NULL;
	char name[121];
	struct pair p;
	EP *ep;

	memset(name, 'x', sizeof(name));
	name[120] = '\0';
	ep = create(0, 16, 0);
	T_IS(try_recv(ep, &peer), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comm_channel_ep_sendto(ep, "x", 1, NOW, NULL), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comm_channel_ep_disconnect(ep, NULL), DOCA_ERROR_NOT_CONNECTED);
	T_EQ(doca_comm_channel_ep_event_channel_get(ep), -1);
	T_EQ(doca_comm_channel_ep_event_channel_get(NULL), -1);
	setenv("COMCH_ROLE", "host", 1);
	T_IS(doca_comm_channel_ep_listen(ep, NAME), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_comm_channel_ep_connect(ep, NAME, &peer), DOCA_ERROR_CONNECTION_ABORTED);
	T_CHECK(peer == NULL);
	T_INVALID(doca_comm_channel_ep_connect(ep, name, &peer));
	T_INVALID(doca_comm_channel_ep_connect(ep, "", &peer));
	T_INVALID(doca_comm_channel_ep_connect(ep, NULL, &peer));
	T_INVALID(doca_comm_channel_ep_connect(ep, NAME, NULL));
	T_INVALID(doca_comm_channel_ep_connect(NULL, NAME, &peer));
	setenv("COMCH_ROLE", "dpu", 1);
	T_IS(doca_comm_channel_ep_connect(ep, NAME, &peer), DOCA_ERROR_NOT_PERMITTED);
	T_INVALID(doca_comm_channel_ep_listen(ep, name));
	T_INVALID(doca_comm_channel_ep_listen(ep, ""));
	T_REFUSES_NULL(doca_comm_channel_ep_listen, ep, NAME);
	name[119] = '\0';
	T_OK(doca_comm_channel_ep_listen(ep, name));
	T_IS(doca_comm_channel_ep_listen(ep, NAME), DOCA_ERROR_NOT_PERMITTED);
	p.service = listening(0, 16);
	T_OK(doca_comm_channel_ep_destroy(ep));
	/* The name is taken. */
	ep = create(0, 16, 0);
	T_IS(doca_comm_channel_ep_listen(ep, NAME), DOCA_ERROR_CONNECTION_ABORTED);
	T_OK(doca_comm_channel_ep_destroy(ep));
	p.client = create(0, 16, 0);
	join_in(&p);
	T_IS(doca_comm_channel_ep_connect(p.client, NAME, &peer), DOCA_ERROR_NOT_PERMITTED);
	close_pair(&p);
}

static void
check_recv_none(EP *ep, int flags)
{
	size_t len = 4;
	uint32_t got;
	ADDR *peer;

	T_IS(doca_comm_channel_ep_recvfrom(ep, &got, &len, flags, &peer), DOCA_ERROR_AGAIN);
	T_IS(doca_comm_channel_ep_rcvfrom(ep, &got, &len, flags, &peer), DOCA_ERROR_AGAIN);
	T_IS(doca_comm_channel_rp_recvfrom(ep, &got, &len, flags, &peer), DOCA_ERROR_AGAIN);
	T_EQ(len, 4);
}

static void
check_send_full(EP *ep, ADDR *to, int flags)
{
	struct doca_comm_channel_peer_addr_info info;
	doca_error_t ret;
	uint32_t n = 0;

	while ((ret = doca_comm_channel_ep_sendto(ep, &n, sizeof(n), flags, to)) == DOCA_SUCCESS)
		n++;
	T_IS(ret, DOCA_ERROR_AGAIN);
	T_GE(n, 16);
	T_OK(doca_comm_channel_peer_addr_info_get(to, &info));
	T_EQ(info.curmsgs, n);
}

static void
check_no_wait(const struct pair *p, int flags)
{
	check_recv_none(p->client, flags);
	check_recv_none(p->service, flags);
	check_send_full(p->client, p->to_service, flags);
	check_send_full(p->service, p->to_client, flags);
}

/* behaviour: L26, L7 */
T_CASE(flags)
{
	uint8_t msg[8] = { 0 };
	size_t len = sizeof(msg);
	struct pair p;
	ADDR *peer;

	open_pair(&p, 0, 16);
	check_no_wait(&p, NOW);
	T_IS(doca_comm_channel_ep_sendto(p.client, msg, 1, DOCA_CC_MSG_FLAG_MORE, p.to_service),
		DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_comm_channel_ep_sendto(p.client, msg, 1, 4, p.to_service));
	T_INVALID(doca_comm_channel_ep_recvfrom(p.client, msg, &len, 4, &peer));
	T_INVALID(doca_comm_channel_ep_recvfrom(p.client, msg, NULL, 0, &peer));
	T_INVALID(doca_comm_channel_ep_sendto(p.client, msg, 4081, 0, p.to_service));
	T_IS(doca_comm_channel_ep_sendto(p.client, msg, 1, 0, p.to_client),
		DOCA_ERROR_NOT_CONNECTED);
	close_pair(&p);
	open_pair(&p, DOCA_CC_INIT_FLAG_NONBLOCK, 16);
	check_no_wait(&p, 0);
	close_pair(&p);
}

/* behaviour: L24, L32 */
T_CASE(peer_info)
{
	struct doca_comm_channel_peer_addr_info info;
	struct pair p;
	uint64_t data;

	open_pair(&p, 0, 32);
	T_REFUSES_NULL(doca_comm_channel_peer_addr_info_get, p.to_client, &info);
	endpoint_102_send_number(p.service, p.to_client, 1);
	endpoint_102_send_number(p.service, p.to_client, 2);
	T_OK(doca_comm_channel_peer_addr_info_get(p.to_client, &info));
	T_EQ(info.msgsize, MAX);
	T_EQ(info.maxmsgs, 32);
	T_EQ(info.curmsgs, 2);
	T_EQ(info.tx_msgs, 2);
	T_EQ(info.tx_bytes, 8);
	T_EQ(info.rx_msgs, 1);
	T_EQ(info.rx_bytes, 4);
	recv_number(p.client, 1);
	recv_number(p.client, 2);
	T_IS(try_recv(p.client, &p.to_service), DOCA_ERROR_AGAIN);
	T_AWAIT((doca_comm_channel_peer_addr_info_get(p.to_client, &info), info.curmsgs == 0));
	T_REFUSES_NULL(doca_comm_channel_peer_addr_user_data_get, p.to_client, &data);
	T_INVALID(doca_comm_channel_peer_addr_user_data_set(NULL, 1));
	T_GETS(doca_comm_channel_peer_addr_user_data_get(p.to_client, &data), data, 0);
	T_OK(doca_comm_channel_peer_addr_user_data_set(p.to_client, 1234567890123));
	T_GETS(doca_comm_channel_peer_addr_user_data_get(p.to_client, &data), data, 1234567890123);
	T_OK(doca_comm_channel_ep_disconnect(p.service, p.to_client));
	T_AWAIT(doca_comm_channel_peer_addr_info_get(p.to_service,
		&info) == DOCA_ERROR_CONNECTION_RESET);
	T_EQ(info.rx_msgs, 2);
	close_pair(&p);
}

#define PINGS t_repeat(SCALE(20000))

static void *
echo_main(void *arg)
{
	struct pair *p = arg;
	uint32_t i;

	for (i = 1; i <= PINGS; i++)
		endpoint_102_send_number(p->service, recv_number(p->service, i), i);
	return NULL;
}

/* Each waits for the other. behaviour: L26 */
T_CASE(woken_by_message)
{
	pthread_t thread;
	struct pair p;
	uint32_t i;

	open_pair(&p, 0, 16);
	T_EQ(pthread_create(&thread, NULL, echo_main, &p), 0);
	for (i = 1; i <= PINGS; i++) {
		endpoint_102_send_number(p.client, p.to_service, i);
		T_CHECK(recv_number(p.client, i) == p.to_service);
	}
	T_EQ(pthread_join(thread, NULL), 0);
	close_pair(&p);
}

static void *
flood_main(void *arg)
{
	struct pair *p = arg;
	uint32_t i;

	for (i = 1; i <= PINGS; i++)
		endpoint_102_send_number(p->client, p->to_service, i);
	return NULL;
}

/* A full queue, and a receiver that takes its time. behaviour: L26 */
T_CASE(woken_by_room)
{
	pthread_t thread;
	struct pair p;
	uint32_t i;

	open_pair(&p, 0, 16);
	T_EQ(pthread_create(&thread, NULL, flood_main, &p), 0);
	T_EQ(pthread_setname_np(thread, "flood"), 0);
	for (i = 1; i <= PINGS; i++) {
		/* It falls asleep, unless it has sent all. */
		if (i % 64 == 0)
			T_AWAIT(thread_state("flood") != 'R');
		recv_number(p.service, i);
	}
	T_EQ(pthread_join(thread, NULL), 0);
	close_pair(&p);
}

struct waiter {
	EP *ep;
	ADDR *peer;
	doca_error_t ret;
	pthread_t thread;
};

static void *
wait_recv(void *arg)
{
	struct waiter *w = arg;
	uint8_t msg[MAX];
	size_t len = sizeof(msg);

	w->ret = doca_comm_channel_ep_recvfrom(w->ep, msg, &len, 0, &w->peer);
	return NULL;
}

static void *
wait_send(void *arg)
{
	struct waiter *w = arg;

	do {
		w->ret = doca_comm_channel_ep_sendto(w->ep, "room", 4, 0, w->peer);
	} while (w->ret == DOCA_SUCCESS);
	return NULL;
}

static uint64_t
thread_cpu_ns(pthread_t thread)
{
	struct timespec ts;
	clockid_t clock;

	T_EQ(pthread_getcpuclockid(thread, &clock), 0);
	T_EQ(clock_gettime(clock, &ts), 0);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Until it has used no CPU for a while: it sleeps. behaviour: L37 */
static void
wait_until_asleep(pthread_t thread)
{
	const struct timespec while_ = { .tv_nsec = 20000000 };
	uint64_t before, after;

	T_AWAIT((before = thread_cpu_ns(thread), nanosleep(&while_, NULL),
		after = thread_cpu_ns(thread), after == before));
}

static void
start_waiter(struct waiter *w, void *(*fn)(void *arg), EP *ep, ADDR *peer)
{
	w->ep = ep;
	w->peer = peer;
	T_EQ(pthread_create(&w->thread, NULL, fn, w), 0);
	wait_until_asleep(w->thread);
}

/* behaviour: L20, L26, L33 */
T_CASE(woken_by_disconnect)
{
	struct waiter w;
	struct pair p;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		open_pair(&p, 0, 16);
		if (i < 2)
			start_waiter(&w, i == 0 ? wait_recv : wait_send, p.client, p.to_service);
		else
			start_waiter(&w, wait_send, p.service, p.to_client);
		if (i < 2)
			T_OK(doca_comm_channel_ep_disconnect(p.service, p.to_client));
		else
			T_OK(doca_comm_channel_ep_disconnect(p.client, p.to_service));
		T_EQ(pthread_join(w.thread, NULL), 0);
		T_IS(w.ret, DOCA_ERROR_CONNECTION_RESET);
		/* Once lost, no call waits. */
		if (i < 2)
			T_IS(doca_comm_channel_ep_sendto(p.client, "x", 1, 0, p.to_service),
				DOCA_ERROR_CONNECTION_RESET);
		if (i < 2)
			wait_recv(&w);
		T_IS(w.ret, DOCA_ERROR_CONNECTION_RESET);
		close_pair(&p);
	}
}

/* A service sleeps on while its client leaves; the next one wakes it. behaviour: L26, L33 */
T_CASE(client_changes)
{
	struct waiter w;
	struct pair p;

	open_pair(&p, 0, 16);
	start_waiter(&w, wait_recv, p.service, NULL);
	T_OK(doca_comm_channel_ep_disconnect(p.client, p.to_service));
	wait_until_asleep(w.thread);
	setenv("COMCH_ROLE", "host", 1);
	T_OK(doca_comm_channel_ep_connect(p.client, NAME, &p.to_service));
	wait_until_asleep(w.thread);
	endpoint_102_send_number(p.client, p.to_service, 5);
	T_EQ(pthread_join(w.thread, NULL), 0);
	T_OK(w.ret);
	T_CHECK(w.peer != NULL && w.peer != p.to_client);
	close_pair(&p);
}

/* One client of a function. behaviour: L28 */
T_CASE(second_client)
{
	struct waiter w;
	struct pair p;
	ADDR *peer = NULL;
	EP *second;

	open_pair(&p, 0, 16);
	start_waiter(&w, wait_recv, p.service, NULL);
	second = create(0, 16, 0);
	T_IS(doca_comm_channel_ep_connect(second, NAME, &peer), DOCA_ERROR_CONNECTION_ABORTED);
	T_CHECK(peer == NULL);
	T_EQ(pthread_join(w.thread, NULL), 0);
	T_IS(w.ret, DOCA_ERROR_CONNECTION_ABORTED);
	T_IS(try_recv(p.service, &peer), DOCA_ERROR_AGAIN);
	/* The first is not concerned; and when it leaves, its place is free. */
	endpoint_102_send_number(p.client, p.to_service, 9);
	T_CHECK(recv_number(p.service, 9) == p.to_client);
	T_OK(doca_comm_channel_ep_destroy(p.client));
	p.client = second;
	join_in(&p);
	endpoint_102_send_number(p.client, p.to_service, 10);
	recv_number(p.service, 10);
	close_pair(&p);
}

/* behaviour: L35 */
T_CASE(cookie)
{
	struct epoll_event e;
	unsigned int i;
	struct pair p;
	ADDR *peer;
	int fd, cfd;

	open_pair(&p, DOCA_CC_INIT_FLAG_NONBLOCK, 16);
	fd = doca_comm_channel_ep_event_channel_get(p.service);
	cfd = doca_comm_channel_ep_event_channel_get(p.client);
	T_CHECK(fd >= 0 && cfd >= 0);
	T_EQ(doca_comm_channel_ep_event_channel_get(p.service), fd);
	for (i = 0; i < 5; i++) {
		T_IS(try_recv(p.service, &peer), DOCA_ERROR_AGAIN);
		T_CHECK(!t_readable(fd, 0));
		endpoint_102_send_number(p.client, p.to_service, 1);
		endpoint_102_send_number(p.client, p.to_service, 2);
		T_EQ(epoll_wait(fd, &e, 1, T_TIMEOUT_MS), 1);
		T_EQ(e.data.u32, 11);
		recv_number(p.service, 1);
		/* There is more. */
		T_EQ(epoll_wait(fd, &e, 1, 0), 1);
		T_EQ(e.data.u32, 11);
		T_CHECK(t_readable(fd, 0));
		recv_number(p.service, 2);
		T_IS(try_recv(p.service, &peer), DOCA_ERROR_AGAIN);
		T_CHECK(!t_readable(fd, 0));
		endpoint_102_send_number(p.service, p.to_client, 3);
		T_EQ(epoll_wait(cfd, &e, 1, T_TIMEOUT_MS), 1);
		T_EQ(e.data.u32, 22);
		recv_number(p.client, 3);
	}
	T_OK(doca_comm_channel_ep_disconnect(p.service, p.to_client));
	T_EQ(epoll_wait(cfd, &e, 1, T_TIMEOUT_MS), 1);
	close_pair(&p);
}

/* behaviour: L35 */
T_CASE(cookie_of_room)
{
	struct epoll_event e;
	doca_error_t ret;
	uint32_t n = 0, i;
	struct pair p;
	ADDR *peer;
	int fd;

	open_pair(&p, DOCA_CC_INIT_FLAG_NONBLOCK, 16);
	fd = doca_comm_channel_ep_event_channel_get(p.client);
	while ((ret = doca_comm_channel_ep_sendto(p.client, &n, sizeof(n), 0, p.to_service)) ==
			DOCA_SUCCESS)
		n++;
	T_IS(ret, DOCA_ERROR_AGAIN);
	for (i = 0; i < n; i++)
		recv_number(p.service, i);
	T_IS(try_recv(p.service, &peer), DOCA_ERROR_AGAIN);
	do {
		T_EQ(epoll_wait(fd, &e, 1, T_TIMEOUT_MS), 1);
		T_EQ(e.data.u32, 22);
		ret = doca_comm_channel_ep_sendto(p.client, &n, sizeof(n), 0, p.to_service);
	} while (ret == DOCA_ERROR_AGAIN);
	T_OK(ret);
	close_pair(&p);
}
