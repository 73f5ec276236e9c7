/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Endpoints of doca_comm_channel that sleep on their event channels. If a wake-up is lost, the
 * endpoint sleeps until the test times out.
 */

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "comm_channel/endpoint.h"
#include "t_main.h"
#include "t_proc.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SCALE(n) ((n) / 10)
#else
#define SCALE(n) (n)
#endif

enum how {
	BY_POLL,
	BY_SELECT,
	BY_EPOLL,
	BY_EDGE,   /* EPOLLET */
};

struct sleeper {
	enum how how;
	int fd, set;
};

static void
sleeper_open(struct sleeper *s, enum how how, int fd)
{
	struct epoll_event e = { .events = EPOLLIN | (how == BY_EDGE ? EPOLLET : 0) };

	s->how = how;
	s->fd = fd;
	s->set = epoll_create1(EPOLL_CLOEXEC);
	T_CHECK(s->set >= 0);
	T_EQ(epoll_ctl(s->set, EPOLL_CTL_ADD, fd, &e), 0);
}

static int
sleep_once(struct sleeper *s)
{
	struct timeval tv = { .tv_sec = T_TIMEOUT_MS / 1000 };
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct epoll_event e;
	fd_set set;

	if (s->how == BY_POLL)
		return poll(&p, 1, T_TIMEOUT_MS);
	if (s->how != BY_SELECT)
		return epoll_wait(s->set, &e, 1, T_TIMEOUT_MS);
	FD_ZERO(&set);
	T_LT(s->fd, FD_SETSIZE);
	FD_SET(s->fd, &set);
	return select(s->fd + 1, &set, NULL, NULL, &tv);
}

static void
sleep_on(struct sleeper *s)
{
	int n;

	do {
		n = sleep_once(s);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		T_FAIL("nothing woke the sleeper by %d: %d", s->how, n);
}

/* One side, in its process or thread. */
struct side {
	struct endpoint e;
	struct sleeper recv, send;
	pthread_mutex_t lock;
};

static void
side_ready(struct side *s, enum how how)
{
	int send_fd, recv_fd;

	T_OK(doca_comm_channel_ep_get_event_channel(s->e.ep, &send_fd, &recv_fd));
	sleeper_open(&s->recv, how, recv_fd);
	sleeper_open(&s->send, how, send_fd);
	T_EQ(pthread_mutex_init(&s->lock, NULL), 0);
}

static void
side_close(struct side *s)
{
	close(s->recv.set);
	close(s->send.set);
	endpoint_destroy(&s->e);
}

/* Arm and sleep, and only then look; or look first. */
static void
recv_asleep(struct side *s, uint32_t number, bool sleep_first)
{
	struct doca_comm_channel_addr_t *peer;
	doca_error_t ret;
	uint32_t got;
	size_t len;

	for (;;) {
		if (sleep_first) {
			pthread_mutex_lock(&s->lock);
			T_OK(doca_comm_channel_ep_event_handle_arm_recv(s->e.ep));
			pthread_mutex_unlock(&s->lock);
			sleep_on(&s->recv);
		}
		sleep_first = true;
		len = sizeof(got);
		pthread_mutex_lock(&s->lock);
		ret = doca_comm_channel_ep_recvfrom(s->e.ep, &got, &len, 0, &peer);
		pthread_mutex_unlock(&s->lock);
		if (ret == DOCA_ERROR_AGAIN)
			continue;
		T_OK(ret);
		T_EQ(got, number);
		s->e.peer = peer;
		return;
	}
}

static void
send_asleep(struct side *s, struct doca_comm_channel_addr_t *peer, uint32_t number)
{
	doca_error_t ret;

	for (;;) {
		pthread_mutex_lock(&s->lock);
		ret = doca_comm_channel_ep_sendto(s->e.ep, &number, sizeof(number), 0, peer);
		pthread_mutex_unlock(&s->lock);
		if (ret != DOCA_ERROR_AGAIN)
			break;
		pthread_mutex_lock(&s->lock);
		T_OK(doca_comm_channel_ep_event_handle_arm_send(s->e.ep));
		pthread_mutex_unlock(&s->lock);
		sleep_on(&s->send);
	}
	T_OK(ret);
}

static void
set_queues(struct side *s, uint16_t size)
{
	T_OK(doca_comm_channel_ep_set_send_queue_size(s->e.ep, size));
	T_OK(doca_comm_channel_ep_set_recv_queue_size(s->e.ep, size));
}

/* A service that got its only client's first message. */
static void
service_open(struct side *s, enum how how, uint16_t queue, int fd)
{
	service_endpoint_create(&s->e, CHANNEL_PF0);
	set_queues(s, queue);
	T_OK(doca_comm_channel_ep_listen(s->e.ep, CHANNEL_NAME));
	side_ready(s, how);
	t_say(fd, 'R', 0);
	recv_asleep(s, 0, true);
}

static void
client_open(struct side *s, enum how how, uint16_t queue)
{
	client_endpoint_create(&s->e, CHANNEL_PF0);
	set_queues(s, queue);
	endpoint_connect_away(&s->e);
	side_ready(s, how);
	send_asleep(s, s->e.peer, 0);
}

struct plan {
	enum how how;
	uint32_t nb;
};

/* Neither looks before it has slept; or each time the other way. */
static bool
sleeps_first(uint32_t number)
{
	return number % 5 != 0;
}

static int
ping_service(int fd, void *arg)
{
	const struct plan *p = arg;
	struct side s;
	uint32_t i;

	service_open(&s, p->how, 64, fd);
	for (i = 1; i <= p->nb; i++) {
		recv_asleep(&s, i, sleeps_first(i));
		send_asleep(&s, s.e.peer, i);
	}
	/* The client has all. */
	t_hear(fd, 'Q');
	side_close(&s);
	return 0;
}

static int
ping_client(int fd, void *arg)
{
	const struct plan *p = arg;
	struct side s;
	uint32_t i;

	client_open(&s, p->how, 64);
	for (i = 1; i <= p->nb; i++) {
		send_asleep(&s, s.e.peer, i);
		recv_asleep(&s, i, sleeps_first(i / 2));
	}
	t_say(fd, 'Q', 0);
	t_hear(fd, 'Q');
	side_close(&s);
	return 0;
}

static void
run_two(int (*service)(int fd, void *arg), int (*client)(int fd, void *arg), void *arg)
{
	struct t_proc s, c;

	t_proc_start(&s, "service", service, arg);
	t_hear(s.fd, 'R');
	t_proc_start(&c, "client", client, arg);
	t_hear(c.fd, 'Q');
	t_say(s.fd, 'Q', 0);
	t_proc_join(&s);
	t_say(c.fd, 'Q', 0);
	t_proc_join(&c);
}

static void
ping_pong(enum how how, uint32_t nb)
{
	struct plan p = { how, nb };

	run_two(ping_service, ping_client, &p);
}

/* behaviour: L13, L15 */
T_CASE(ping_pong_poll)
{
	ping_pong(BY_POLL, SCALE(20000));
}

/* behaviour: L13, L15 */
T_CASE(ping_pong_select)
{
	ping_pong(BY_SELECT, SCALE(20000));
}

/* behaviour: L13, L15 */
T_CASE(ping_pong_epoll)
{
	ping_pong(BY_EPOLL, SCALE(20000));
}

/* behaviour: L13, L15 */
T_CASE(ping_pong_edge)
{
	ping_pong(BY_EDGE, SCALE(20000));
}

static int
flood_service(int fd, void *arg)
{
	const struct plan *p = arg;
	struct side s;
	uint32_t i;

	service_open(&s, p->how, 16, fd);
	for (i = 1; i <= p->nb; i++)
		recv_asleep(&s, i, i % 1000 == 0);
	/* And back. */
	for (i = 1; i <= p->nb; i++)
		send_asleep(&s, s.e.peer, i);
	t_hear(fd, 'Q');
	side_close(&s);
	return 0;
}

static int
flood_client(int fd, void *arg)
{
	const struct plan *p = arg;
	struct side s;
	uint32_t i;

	client_open(&s, p->how, 16);
	for (i = 1; i <= p->nb; i++)
		send_asleep(&s, s.e.peer, i);
	for (i = 1; i <= p->nb; i++)
		recv_asleep(&s, i, i % 1000 == 0);
	t_say(fd, 'Q', 0);
	t_hear(fd, 'Q');
	side_close(&s);
	return 0;
}

/* A sender that sleeps whenever the queue is full. behaviour: L7, L14 */
T_CASE(flood)
{
	struct plan p = { BY_POLL, SCALE(50000) };

	run_two(flood_service, flood_client, &p);
	p.how = BY_EDGE;
	run_two(flood_service, flood_client, &p);
}

struct worker {
	struct side *side;
	struct doca_comm_channel_addr_t *peer;
	pthread_t thread;
};

#define THREADS_NB SCALE(30000)

static void *
worker_send(void *arg)
{
	struct worker *w = arg;
	uint32_t i;

	for (i = 1; i <= THREADS_NB; i++)
		send_asleep(w->side, w->peer, i);
	return NULL;
}

static void *
worker_recv(void *arg)
{
	struct worker *w = arg;
	uint32_t i;

	for (i = 1; i <= THREADS_NB; i++)
		recv_asleep(w->side, i, i % 3 == 0);
	return NULL;
}

/* Both endpoints have a thread that sends and one that receives. */
static void
two_threads_by(enum how how)
{
	struct worker w[4];
	struct side s, c;
	unsigned int i;
	struct channel t;

	channel_open(&t);
	channel_meet(&t);
	s.e = t.service;
	c.e = t.client;
	side_ready(&s, how);
	side_ready(&c, how);
	for (i = 0; i < RTE_DIM(w); i++) {
		w[i].side = i < 2 ? &s : &c;
		w[i].peer = w[i].side->e.peer;
		T_EQ(pthread_create(&w[i].thread, NULL, i % 2 == 0 ? worker_send : worker_recv,
			&w[i]), 0);
	}
	for (i = 0; i < RTE_DIM(w); i++)
		T_EQ(pthread_join(w[i].thread, NULL), 0);
	side_close(&c);
	side_close(&s);
}

/* behaviour: L31 */
T_CASE(two_threads)
{
	two_threads_by(BY_POLL);
	two_threads_by(BY_EPOLL);
	two_threads_by(BY_EDGE);
}

/* One message at a time, each way, by the threads that sleep. behaviour: L31 */
T_CASE(two_threads_slow)
{
	struct side s, c;
	struct worker w;
	struct channel t;
	uint32_t i;

	channel_open(&t);
	channel_meet(&t);
	s.e = t.service;
	c.e = t.client;
	side_ready(&s, BY_EPOLL);
	side_ready(&c, BY_EPOLL);
	w.side = &s;
	w.peer = s.e.peer;
	T_EQ(pthread_create(&w.thread, NULL, worker_recv, &w), 0);
	/* While that one sleeps we send for the same endpoint. */
	for (i = 1; i <= THREADS_NB; i++) {
		send_asleep(&s, w.peer, i);
		recv_asleep(&c, i, i % 2 == 0);
		send_asleep(&c, c.e.peer, i);
	}
	T_EQ(pthread_join(w.thread, NULL), 0);
	side_close(&c);
	side_close(&s);
}
