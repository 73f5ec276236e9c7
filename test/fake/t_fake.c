/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tests of the core on a driver that fails, by device keys of the driver in memory. */

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "ctrl/comch_conn.h"
#include "t_figures.h"
#include "t_log.h"
#include "t_pair.h"

#include "fake_private.h"

static const struct t_driver driver_fake = { .name = "comch_fake" };

static void
start(void)
{
	t_driver = &driver_fake;
	t_eal_start(1);
}

static void
stop(void)
{
	T_EQ(rte_comch_dev_count(), 0);
	t_eal_stop();
	t_dir_remove();
}

TestSuite(fake, .init = start, .fini = stop);

/* Frames are refused now and then: all messages arrive, in order. */
static void
check_eagain(const char *args)
{
	struct t_pair_conf conf = { .dpu_args = args, .host_args = args };
	struct t_flow f;
	struct t_pair p;
	uint32_t sent = 0, i, val;

	t_pair_open(&p, &conf);
	while (sent < 500) {
		if (t_offer(p.cconn, &sent, sizeof(sent), sent, 0))
			sent++;
		t_step_all();
	}
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 500);
	for (i = 0; i < 500; i++) {
		memcpy(&val, t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, i)->data, sizeof(val));
		T_EQ(val, i);
	}
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < 20; i++)
		t_flow_once(&f, 1000 + i, i);
	t_flow_close(&f);
	t_pair_close(&p);
}

Test(fake, eagain_every_2)
{
	check_eagain(",eagain_every=2");
}

Test(fake, eagain_every_3)
{
	check_eagain(",eagain_every=3");
}

/* Run a session until the link breaks; then all objects can be destroyed. */
static void
session_until_drop(struct t_pair *p)
{
	struct rte_comch_consumer *cons;
	uint64_t cookie = 0;
	struct t_mem mem;

	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(p->client) != RTE_COMCH_STATE_STARTING);
	if (rte_comch_client_state(p->client) != RTE_COMCH_STATE_RUNNING)
		return;
	p->cconn = rte_comch_client_conn(p->client);
	t_mem_new(&mem, RTE_COMCH_MEM_SEALED, 4096, 0);
	cons = t_consumer_new(p->cconn, NULL, mem.mr);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	T_UNTIL(rte_comch_consumer_state(cons) != RTE_COMCH_STATE_STARTING);
	/* Send until the link breaks. */
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1 ||
		(t_offer(p->cconn, "x", 1, cookie++, 0) && false));
	t_consumer_end(cons);
	T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_IDLE);
	t_mem_free(&mem);
}

static void
check_drops(bool at_host)
{
	unsigned int before = 0, n;
	char args[32];
	struct t_pair_conf conf = { 0 };
	struct t_pair p;

	for (n = 1; n < 24; n++) {
		snprintf(args, sizeof(args), ",drop_at=%u", n);
		conf.host_args = at_host ? args : NULL;
		conf.dpu_args = at_host ? NULL : args;
		t_pair_ends(&p, &conf);
		session_until_drop(&p);
		T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
		T_UNTIL(rte_comch_server_nb_conns(p.server) == 0);
		t_pair_close(&p);
		if (n == 2)
			before = t_figures_least().fds;
	}
	T_UNTIL(t_fd_count() == before);
}

Test(fake, drop_at_host)
{
	check_drops(true);
}

Test(fake, drop_at_dpu)
{
	check_drops(false);
}

/*
 * The link breaks while an application sends more than it handles events: it still
 * receives the peer's last message and DISCONNECTED.
 */
Test(fake, drop_under_a_talker)
{
	struct t_pair_conf conf = { .dpu_args = ",drop_at=40" };
	unsigned int turns = 0;
	uint64_t cookie = 0;
	struct t_pair p;

	t_pair_open(&p, &conf);
	while (t_offer(p.sconn, "x", 1, cookie++, 0) && cookie < 64)
		t_step_max(p.dpu, 32);
	T_LT(cookie, 64);
	usleep(2000); /* the next run polls the link */
	t_step_max(p.host, 1);
	while (t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 0) {
		T_LT(turns++, 1000);
		t_offer(p.cconn, "y", 1, cookie++, 0);
		t_offer(p.cconn, "y", 1, cookie++, 0);
		t_step_max(p.host, 1);
		t_step_max(p.dpu, 32);
	}
	T_LT(0, t_count(p.host, RTE_COMCH_EVENT_MSG, NULL));
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(rte_comch_server_nb_conns(p.server) == 0);
	t_pair_close(&p);
}

/* A client retries a refused HELLO: the handshake times out after seconds only. */
Test(fake, hello_finds_no_room)
{
	struct t_pair_conf conf = { 0 };
	struct t_pair p;
	int ms;

	t_pair_ends(&p, &conf);
	fake_full = true;
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	for (ms = 0; ms < 30; ms++) {
		t_step_all();
		usleep(1000);
	}
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_STARTING);
	fake_full = false;
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	t_pair_close(&p);
}

/* Nothing would wake the sleeper: the poll is not armed while such objects are there. */
Test(fake, no_event_fd)
{
	struct t_pair_conf conf = { .host_args = ",no_event_fd=1" };
	struct rte_comch_producer *prod;
	struct rte_comch_poll *poll;
	struct t_pair p;

	t_pair_open(&p, &conf);
	t_settle();
	T_EQ(rte_comch_poll_arm(p.host->poll, RTE_COMCH_POLL_ANY), -ENOTSUP);
	T_WAIT(t_step_all(), rte_comch_poll_arm(p.dpu->poll, RTE_COMCH_POLL_ANY) == 0);
	/* A poll of its own likewise. */
	poll = rte_comch_poll_create(NULL);
	T_CHECK(poll != NULL);
	T_EQ(rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY), 0);
	prod = rte_comch_producer_create(p.cconn, &(struct rte_comch_producer_conf){
		.conf_size = sizeof(struct rte_comch_producer_conf), .poll = poll });
	T_CHECK(prod != NULL);
	T_EQ(rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY), -ENOTSUP);
	T_EQ(rte_comch_producer_destroy(prod), 0);
	rte_comch_poll_run(poll, NULL, 0);
	rte_comch_poll_run(poll, NULL, 0);
	T_EQ(rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY), 0);
	T_EQ(rte_comch_poll_destroy(poll), 0);
	t_pair_close(&p);
}

Test(fake, slow_accept)
{
	struct t_pair_conf conf = { .dpu_args = ",slow_accept=50" };
	struct t_pair p;

	t_pair_open(&p, &conf);
	t_send(p.cconn, "x", 1, 1);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
	t_pair_close(&p);
}

/* The same with polls that sleep. */
Test(fake, slow_accept_asleep)
{
	struct t_pair_conf conf = { .dpu_args = ",slow_accept=5" };
	struct t_pair p;

	t_pair_ends(&p, &conf);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_SLEEP_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	t_pair_close(&p);
}

/* A poll that slept while something waited is not woken for that when it is over. */
Test(fake, timer_of_what_is_over)
{
	struct t_pair p;
	int ret;

	t_pair_ends(&p, NULL);
	p.dpu->paused = true;
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	t_step(p.host);
	/* Its handshake has a deadline. */
	while ((ret = rte_comch_poll_arm(p.host->poll, RTE_COMCH_POLL_ANY)) == -EAGAIN)
		t_step(p.host);
	T_EQ(ret, 0);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	while (rte_comch_client_state(p.client) != RTE_COMCH_STATE_IDLE)
		t_step(p.host);
	while ((ret = rte_comch_poll_arm(p.host->poll, RTE_COMCH_POLL_ANY)) == -EAGAIN)
		t_step(p.host);
	T_EQ(ret, 0);
	T_CHECK(!t_readable(rte_comch_poll_fd(p.host->poll, RTE_COMCH_POLL_ANY), 50));
	p.dpu->paused = false;
	t_pair_close(&p);
}

/* A peer with unread messages has a second from the stop on, whenever its handshake began. */
Test(fake, stop_has_a_deadline_of_its_own)
{
	const uint64_t second = rte_get_tsc_hz() / 1000 * COMCH_CLOSE_MS;
	uint64_t before;
	struct t_pair p;

	t_pair_open(&p, NULL);
	p.dpu->paused = true;
	t_send(p.cconn, "x", 1, 1);
	before = rte_rdtsc();
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	T_EQ(p.cconn->phase, COMCH_PHASE_DRAINING);
	T_GE(p.cconn->deadline, before + second);
	T_LE(p.cconn->deadline, rte_rdtsc() + second);
	p.dpu->paused = false;
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	t_pair_close(&p);
}

/* Messages to memory that the peer does not import are staged; the copy is counted. */
Test(fake, short_import)
{
	struct t_pair_conf conf = { .host_args = ",short_import=1" };
	struct rte_comch_consumer_stats st;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, &conf);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < 20; i++)
		t_flow_once(&f, 4096 + i, i);
	T_EQ(rte_comch_consumer_stats_get(f.cons, &st), 0);
	T_EQ(st.staged, 20);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* A consumer that lacks memory does not start; the connection stays up. */
static void
check_no_queue(const char *dpu_args, const char *host_args)
{
	struct t_pair_conf conf = { .dpu_args = dpu_args, .host_args = host_args };
	struct rte_comch_consumer *cons;
	struct t_pair p;

	t_pair_open(&p, &conf);
	cons = t_consumer_new(p.sconn, NULL, NULL);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	T_UNTIL(t_state_ev(p.dpu, cons) != NULL);
	T_EQ(t_state_ev(p.dpu, cons)->e.state.next, RTE_COMCH_STATE_IDLE);
	T_EQ(t_state_ev(p.dpu, cons)->e.status, -ENOMEM);
	t_consumer_end(cons);
	t_send(p.cconn, "x", 1, 1);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
	t_pair_close(&p);
}

Test(fake, no_queue_here)
{
	check_no_queue(",no_queue=1", NULL);
}

Test(fake, no_queue_there)
{
	check_no_queue(NULL, ",no_queue=1");
}

/* Two clients of an ordered server, which send while it polls its links. */
static struct rte_comch_conn *order_conn[2];
static unsigned int order_polls;

static void
send_both(void)
{
	if (++order_polls != 1)
		return;
	/* The first link was found empty and gets the earlier message; the second is next. */
	t_send(order_conn[0], "early", 5, 0);
	t_send(order_conn[1], "later on", 8, 0);
}

/* A message waits for an earlier one on a link that was polled before it arrived. */
Test(fake, order_polled_too_early)
{
	const struct t_pair_conf conf = { .server.flags = RTE_COMCH_SERVER_F_ORDERED };
	struct rte_comch_client *second;
	const struct t_ev *ev;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, &conf);
	second = t_client_new(p.host, p.host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(second), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1 &&
		rte_comch_client_state(second) == RTE_COMCH_STATE_RUNNING);
	order_conn[0] = p.cconn;
	order_conn[1] = rte_comch_client_conn(second);
	for (i = 0; i < 20; i++) {
		t_settle();
		order_polls = 0;
		fake_after_pending = send_both;
		t_step(p.dpu);
		fake_after_pending = NULL;
		T_GE(order_polls, 2);
		/* A message is pending, so the poll does not sleep. */
		if (t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) < 2 * i + 2)
			T_EQ(rte_comch_poll_arm(p.dpu->poll, RTE_COMCH_POLL_ANY), -EAGAIN);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 2 * i + 2);
		ev = t_find(p.dpu, RTE_COMCH_EVENT_MSG, NULL, 2 * i);
		T_EQ(ev->len, 5);
	}
	t_client_end(second);
	t_pair_close(&p);
}

/* Counters of the driver: the first n are stored, and the number of all is returned. */
Test(fake, xstats)
{
	struct rte_comch_xstat x[3] = { { NULL, 77 }, { NULL, 77 }, { NULL, 77 } };
	struct t_pair p;
	uint64_t frames;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_dev_xstats_get(p.host_dev, NULL, 0), 2);
	T_EQ(rte_comch_dev_xstats_get(p.host_dev, x, 1), 2);
	T_STR_EQ(x[0].name, "frames");
	T_GT(x[0].value, 0);
	T_EQ(x[1].value, 77);
	frames = x[0].value;
	T_CHECK(t_offer(p.cconn, "hello", 5, 0, 0));
	T_EQ(rte_comch_dev_xstats_get(p.host_dev, x, 3), 2);
	T_EQ(x[0].value, frames + 1);
	T_STR_EQ(x[1].name, "ticks");
	T_EQ(x[2].value, 77);
	T_EQ(rte_comch_dev_xstats_get(p.host_dev, NULL, 1), -EINVAL);
	t_pair_close(&p);
	T_EQ(rte_comch_dev_xstats_get(p.host_dev, x, 3), -ENODEV);
}

/* A thread is reading counters; the device was closed. */
static uint32_t is_reading, was_closed;

static void
linger(void)
{
	unsigned int i;

	__atomic_store_n(&is_reading, 1, __ATOMIC_RELEASE);
	for (i = 0; i < 1000 && __atomic_load_n(&was_closed, __ATOMIC_ACQUIRE) == 0; i++)
		sched_yield();
}

static void *
read_counters(void *dev)
{
	T_EQ(rte_comch_dev_xstats_get(*(int16_t *)dev, NULL, 0), 2);
	return NULL;
}

/* Telemetry reads devices at any time: a close waits for it, and does not fail. */
Test(fake, close_while_counters_are_read)
{
	pthread_t thread;
	struct t_pair p;

	t_pair_devs(&p, NULL);
	fake_on_xstats = linger;
	T_EQ(pthread_create(&thread, NULL, read_counters, &p.host_dev), 0);
	T_AWAIT(__atomic_load_n(&is_reading, __ATOMIC_ACQUIRE) != 0);
	T_EQ(rte_comch_dev_close(p.host_dev), 0);
	__atomic_store_n(&was_closed, 1, __ATOMIC_RELEASE);
	T_EQ(pthread_join(thread, NULL), 0);
	fake_on_xstats = NULL;
	T_EQ(rte_comch_dev_close(p.dpu_dev), 0);
	t_node_free(p.host);
	t_node_free(p.dpu);
}

/* Each open device learns that a registration ends, or that its pages are others. */
Test(fake, mem_gone)
{
	const struct rte_comch_mr *last;
	int16_t dev[2];
	struct t_mem a, b;
	uint64_t n;

	dev[0] = t_dev_open(0, "role=host,func=pf0");
	dev[1] = t_dev_open(1, "role=dpu,rep=pf0");
	t_mem_new(&a, RTE_COMCH_MEM_SEALED, 4096, 0);
	t_mem_new(&b, RTE_COMCH_MEM_HEAP, 4096, 0);
	n = fake_mems_gone(&last);
	T_EQ(rte_comch_mem_renew(a.addr), 0);
	T_EQ(fake_mems_gone(&last), n + 2);
	T_CHECK(last == a.mr);
	t_mem_free(&b);
	T_EQ(fake_mems_gone(&last), n + 4);
	T_CHECK(last == b.mr);
	T_EQ(rte_comch_dev_close(dev[1]), 0);
	t_mem_free(&a);
	T_EQ(fake_mems_gone(&last), n + 5);
	T_EQ(rte_comch_dev_close(dev[0]), 0);
}

/* A consumer that stops while a device takes long to forget a registration. */
static struct {
	struct rte_comch_poll *poll;
	struct rte_comch_consumer *cons;
	unsigned int nb_gone;
	bool is_idle;
} meanwhile;

/* Ends the use of the consumer's memory, for which it locks the table of memory. */
static void *
poll_main(void *arg)
{
	struct rte_comch_event ev;

	while (rte_comch_consumer_state(meanwhile.cons) != RTE_COMCH_STATE_IDLE)
		rte_comch_poll_run(meanwhile.poll, &ev, 1);
	__atomic_store_n(&meanwhile.is_idle, true, __ATOMIC_RELEASE);
	return arg;
}

static void
poll_in_gone(void)
{
	pthread_t th;

	if (meanwhile.nb_gone++ > 0)
		return;
	T_EQ(rte_comch_consumer_stop(meanwhile.cons), -EINPROGRESS);
	T_EQ(pthread_create(&th, NULL, poll_main, NULL), 0);
	T_AWAIT(__atomic_load_n(&meanwhile.is_idle, __ATOMIC_ACQUIRE));
	T_EQ(pthread_join(th, NULL), 0);
}

/* Polls go on while a device forgets a registration, by each call that makes it do so. */
static void
check_gone(void (*act)(struct t_pair *p, struct t_mem *m))
{
	struct t_mem used, m;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_mem_new(&used, RTE_COMCH_MEM_SEALED, 4096, 0);
	t_mem_new(&m, RTE_COMCH_MEM_SEALED, 4096, 0);
	memset(&meanwhile, 0, sizeof(meanwhile));
	meanwhile.poll = p.host->poll;
	meanwhile.cons = t_consumer_new(p.cconn, NULL, used.mr);
	t_consumer_run(meanwhile.cons);
	fake_in_gone = poll_in_gone;
	act(&p, &m);
	fake_in_gone = NULL;
	T_EQ(meanwhile.nb_gone, 2);
	t_consumer_end(meanwhile.cons);
	t_mem_free(&m);
	t_mem_free(&used);
	t_pair_close(&p);
}

static void
renew(struct t_pair *p __rte_unused, struct t_mem *m)
{
	T_EQ(rte_comch_mem_renew(m->addr), 0);
}

static void
unregister(struct t_pair *p __rte_unused, struct t_mem *m)
{
	T_EQ(rte_comch_mem_unregister(m->mr), 0);
	m->mr = rte_comch_mem_register(m->addr, m->len, 0);
	T_CHECK(m->mr != NULL);
}

/* A peer's process sealed the memory for itself, and has ended: the start renews it. */
static void
start_renews(struct t_pair *p, struct t_mem *m)
{
	struct rte_comch_consumer *cons = t_consumer_new(p->sconn, NULL, m->mr);
	uint64_t offset;
	int fd = rte_comch_mr_fd(m->mr, &offset);

	T_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	t_consumer_run(cons);
	t_consumer_end(cons);
}

Test(fake, polls_go_on_while_memory_is_renewed)
{
	check_gone(renew);
}

Test(fake, polls_go_on_while_memory_is_unregistered)
{
	check_gone(unregister);
}

Test(fake, polls_go_on_while_a_start_renews_memory)
{
	check_gone(start_renews);
}

static struct t_pair *leaving;

/* In the middle of the creation the peer leaves, and the connection's poll runs elsewhere. */
static void
peer_leaves(void)
{
	fake_in_create = NULL;
	t_client_stop(leaving->client);
	T_UNTIL(t_count(leaving->dpu, RTE_COMCH_EVENT_DISCONNECTED, leaving->sconn) == 1);
	t_settle();
	T_CHECK(leaving->sconn->link != NULL && leaving->sconn->fast != NULL);
}

Test(fake, peer_leaves_while_a_queue_is_created)
{
	struct rte_comch_producer_conf prod = { .conf_size = sizeof(prod) };
	struct rte_comch_consumer_conf cons = { .conf_size = sizeof(cons) };
	unsigned int i;
	struct t_pair p;

	for (i = 0; i < 2; i++) {
		t_pair_open(&p, NULL);
		leaving = &p;
		fake_in_create = peer_leaves;
		if (i == 0)
			T_CHECK(rte_comch_producer_create(p.sconn, &prod) == NULL);
		else
			T_CHECK(rte_comch_consumer_create(p.sconn, &cons) == NULL);
		T_EQ(rte_errno, EBADFD);
		/* Nothing holds the connection any more. */
		T_UNTIL(rte_comch_server_nb_conns(p.server) == 0);
		t_pair_close(&p);
	}
}

/* One for each host function: as many as a device of the DPU has representors. */
Test(fake, many_devices)
{
	int16_t dev[RTE_COMCH_MAX_REPS];
	unsigned int i;

	for (i = 0; i < RTE_DIM(dev); i++)
		dev[i] = t_dev_open(i, "role=host,func=pf0");
	T_EQ(rte_comch_dev_count(), RTE_DIM(dev));
	for (i = 0; i < RTE_DIM(dev); i++)
		T_EQ(rte_comch_dev_close(dev[i]), 0);
}

/* Start it, once or again, and wait until it has failed. */
static void
start_in_vain(struct rte_comch_client *client)
{
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE);
}

/* A program tries until its server is there: with a client that it keeps, or with new ones. */
static void
retry_in_vain(bool keeps)
{
	struct rte_comch_client *client;
	struct t_log log;
	struct t_pair p;
	unsigned int i;

	t_pair_devs(&p, NULL);
	t_log_begin_at(&log, RTE_LOG_WARNING);
	client = t_client_new(p.host, p.host_dev, "nobody", NULL);
	for (i = 0; i < 100; i++) {
		start_in_vain(client);
		if (keeps)
			continue;
		t_client_end(client);
		client = t_client_new(p.host, p.host_dev, "nobody", NULL);
	}
	T_EQ(t_log_count(&log, "\n"), 3);
	T_EQ(t_log_count(&log, "client of nobody: cannot connect"), 3);
	t_log_has(&log, "listens on that name\n");
	t_log_has(&log, "listens on that name (10 times in a row)\n");
	t_log_end(&log, "listens on that name (100 times in a row)\n");
	t_client_end(client);
	t_pair_close(&p);
}

Test(fake, client_that_tries_again)
{
	retry_in_vain(true);
}

Test(fake, clients_that_try_again)
{
	retry_in_vain(false);
}

/* After a connection that worked, the first failure is news. */
Test(fake, failure_after_a_connection)
{
	struct t_log log;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_log_begin_at(&log, RTE_LOG_WARNING);
	for (i = 0; i < 3; i++) {
		t_client_stop(p.client);
		t_settle();
		T_EQ(rte_comch_server_stop(p.server), 0);
		start_in_vain(p.client);
		start_in_vain(p.client);
		T_EQ(t_log_count(&log, "cannot connect"), i + 1);
		T_EQ(rte_comch_server_start(p.server), 0);
		t_pair_connect(&p);
	}
	t_log_end(&log, "");
	t_pair_close(&p);
}
