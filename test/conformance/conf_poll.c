/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Polls: runs, descriptors, arming, waking. */

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conf.h"
#include "t_figures.h"

/* An armed poll has something, sooner or later: -EAGAIN or a readable fd. */
static void
check_woken(struct t_node *node, uint32_t cls, int armed)
{
	if (armed == -EAGAIN)
		return;
	T_EQ(armed, 0);
	if (!t_readable(rte_comch_poll_fd(node->poll, cls), T_TIMEOUT_MS))
		T_FAIL("no wake-up for class %u", cls);
}

/* The same for one that stays armed, while the peer goes on: its steps are to wake it. */
static void
check_woken_by_peer(struct t_node *node, uint32_t cls)
{
	const bool was_paused = node->paused;

	node->paused = true;
	T_UNTIL(t_readable(rte_comch_poll_fd(node->poll, cls), 0));
	node->paused = was_paused;
}

/* Arm until it stays armed with nothing to do: earlier things are done with. */
static void
arm_quiet(struct t_node *node, uint32_t cls)
{
	int rc, fd = rte_comch_poll_fd(node->poll, cls);
	unsigned int i;

	/* Several classes together have no descriptor of their own. */
	if (fd < 0)
		fd = rte_comch_poll_fd(node->poll, RTE_COMCH_POLL_ANY);
	for (i = 0; i < 100000; i++) {
		while (t_step(node) > 0)
			;
		rc = rte_comch_poll_arm(node->poll, cls);
		if (rc == -EAGAIN)
			continue;
		T_EQ(rc, 0);
		if (!t_readable(fd, 5))
			return;
	}
	T_FAIL("it never gets quiet");
}

void
conf_poll_create(void)
{
	struct rte_comch_poll_conf conf = {
		.conf_size = sizeof(conf), .name = "my poll", .socket_id = -1,
	};
	struct rte_comch_poll *poll;
	struct t_pair p;
	unsigned int fds;

	/* The first device has the process keep a few, and another thread closes the others. */
	t_pair_open(&p, NULL);
	t_pair_close(&p);
	fds = t_figures_least().fds;
	T_EQ(rte_comch_poll_destroy(NULL), -EINVAL);
	poll = rte_comch_poll_create(&conf);
	T_CHECK(poll != NULL);
	T_EQ(rte_comch_poll_destroy(poll), 0);
	T_UNTIL(t_fd_count() == fds);
	conf.conf_size = 0;
	T_NULL_ERRNO(rte_comch_poll_create(&conf), EINVAL);
	t_pair_ends(&p, NULL);
	T_EQ(rte_comch_poll_destroy(p.dpu->poll), -EBUSY);
	T_EQ(rte_comch_poll_destroy(p.host->poll), -EBUSY);
	t_pair_connect(&p);
	t_pair_close(&p);
	T_UNTIL(t_fd_count() == fds);
}

void
conf_poll_max(void)
{
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	for (i = 0; i < 10; i++)
		t_send(p.cconn, &i, sizeof(i), i);
	for (i = 0; i < 50; i++)
		T_EQ(rte_comch_poll_run(p.dpu->poll, NULL, 0), 0);
	while (p.dpu->nb_evs < 10)
		T_LE(t_step_max(p.dpu, 1), 1);
	conf_check_counting(p.dpu);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 10);
	t_pair_close(&p);
}

static bool
runs_until_connected(const struct t_pair *p)
{
	T_EQ(rte_comch_poll_run(p->dpu->poll, NULL, 0), 0);
	T_EQ(rte_comch_poll_run(p->host->poll, NULL, 0), 0);
	return rte_comch_client_state(p->client) == RTE_COMCH_STATE_RUNNING;
}

/* With max 0 states advance, and the events wait. */
void
conf_poll_max_zero_connects(void)
{
	struct t_pair p;

	t_pair_ends(&p, NULL);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_AWAIT(runs_until_connected(&p));
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_STATE, NULL) == 1);
	t_pair_close(&p);
}

void
conf_poll_fds(void)
{
	static const uint32_t cls[] = {
		RTE_COMCH_POLL_ANY, RTE_COMCH_POLL_RX, RTE_COMCH_POLL_TX,
		RTE_COMCH_POLL_LINK,
	};
	int fd[RTE_DIM(cls)];
	unsigned int i, k;
	struct t_pair p;

	t_pair_open(&p, NULL);
	for (i = 0; i < RTE_DIM(cls); i++) {
		fd[i] = rte_comch_poll_fd(p.dpu->poll, cls[i]);
		T_GE(fd[i], 0);
		T_CHECK((fcntl(fd[i], F_GETFD) & FD_CLOEXEC) != 0);
		for (k = 0; k < i; k++)
			T_NE(fd[i], fd[k]);
	}
	t_send(p.cconn, "x", 1, 0);
	t_settle();
	for (i = 0; i < RTE_DIM(cls); i++)
		T_EQ(rte_comch_poll_fd(p.dpu->poll, cls[i]), fd[i]);
	T_EQ(rte_comch_poll_fd(NULL, RTE_COMCH_POLL_ANY), -EINVAL);
	T_EQ(rte_comch_poll_fd(p.dpu->poll, 0), -EINVAL);
	T_EQ(rte_comch_poll_fd(p.dpu->poll, RTE_COMCH_POLL_RX | RTE_COMCH_POLL_TX),
			-EINVAL);
	T_EQ(rte_comch_poll_fd(p.dpu->poll, UINT32_C(1) << 30), -EINVAL);
	T_EQ(rte_comch_poll_arm(NULL, RTE_COMCH_POLL_ANY), -EINVAL);
	T_EQ(rte_comch_poll_arm(p.dpu->poll, 0), -EINVAL);
	T_EQ(rte_comch_poll_arm(p.dpu->poll, UINT32_C(1) << 30), -EINVAL);
	T_EQ(rte_comch_poll_clear(NULL), -EINVAL);
	T_EQ(rte_comch_poll_notify(NULL), -EINVAL);
	t_pair_close(&p);
}

void
conf_poll_wake_message(void)
{
	static const uint32_t cls[] = {
		RTE_COMCH_POLL_RX, RTE_COMCH_POLL_ANY,
		RTE_COMCH_POLL_RX | RTE_COMCH_POLL_LINK,
	};
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	for (i = 0; i < t_repeat(300); i++) {
		arm_quiet(p.dpu, cls[i % RTE_DIM(cls)] == RTE_COMCH_POLL_ANY ?
				RTE_COMCH_POLL_ANY : RTE_COMCH_POLL_RX);
		T_EQ(rte_comch_poll_arm(p.dpu->poll, cls[i % RTE_DIM(cls)]), 0);
		t_send(p.cconn, &i, sizeof(i), i);
		/* It is of class RX, and so of class ANY. */
		if (cls[i % RTE_DIM(cls)] != RTE_COMCH_POLL_ANY)
			check_woken(p.dpu, RTE_COMCH_POLL_RX, 0);
		check_woken(p.dpu, RTE_COMCH_POLL_ANY, 0);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == i + 1);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
	}
	t_pair_close(&p);
}

void
conf_poll_message_before_arm(void)
{
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	for (i = 0; i < t_repeat(300); i++) {
		t_send(p.cconn, &i, sizeof(i), i);
		check_woken(p.dpu, RTE_COMCH_POLL_ANY,
				rte_comch_poll_arm(p.dpu->poll, RTE_COMCH_POLL_ANY));
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == i + 1);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
	}
	t_pair_close(&p);
}

static uint64_t
nb_wakes(const struct rte_comch_conn *conn)
{
	struct rte_comch_conn_stats st;

	T_EQ(rte_comch_conn_stats_get(conn, &st), 0);
	return st.wakes;
}

/* Not armed: there is no wake-up. Armed: one, whatever the peer sends. */
void
conf_poll_wake_once(void)
{
	const struct rte_comch_conn *counts;
	uint64_t before;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	counts = t_driver->wakes_itself ? p.sconn : p.cconn;
	for (i = 0; i < 32; i++)
		t_send(p.cconn, &i, sizeof(i), i);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 32);
	T_EQ(nb_wakes(counts), 0);
	arm_quiet(p.dpu, RTE_COMCH_POLL_ANY);
	before = nb_wakes(counts);
	for (i = 0; i < 32; i++)
		t_send(p.cconn, &i, sizeof(i), i);
	check_woken(p.dpu, RTE_COMCH_POLL_ANY, 0);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == 64);
	T_EQ(nb_wakes(counts) - before, 1);
	t_pair_close(&p);
}

void
conf_poll_epoll_edge(void)
{
	struct epoll_event ee = { .events = EPOLLIN | EPOLLET };
	struct t_pair p;
	unsigned int i;
	int ep, n;

	t_pair_open(&p, NULL);
	ep = epoll_create1(EPOLL_CLOEXEC);
	T_GE(ep, 0);
	T_EQ(epoll_ctl(ep, EPOLL_CTL_ADD,
			rte_comch_poll_fd(p.dpu->poll, RTE_COMCH_POLL_ANY), &ee), 0);
	for (i = 0; i < t_repeat(300); i++) {
		while (rte_comch_poll_arm(p.dpu->poll, RTE_COMCH_POLL_ANY) == -EAGAIN)
			t_step(p.dpu);
		t_send(p.cconn, &i, sizeof(i), i);
		while (t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == i) {
			n = epoll_wait(ep, &ee, 1, T_TIMEOUT_MS);
			T_EQ(n, 1);
			while (t_step(p.dpu) > 0)
				;
			if (t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == i)
				while (rte_comch_poll_arm(p.dpu->poll,
						RTE_COMCH_POLL_ANY) == -EAGAIN)
					t_step(p.dpu);
		}
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
	}
	close(ep);
	t_pair_close(&p);
}

/* The spent descriptor is not readable any more; what waits is told anew. */
void
conf_poll_clear(void)
{
	struct t_pair p;
	int fd;

	t_pair_open(&p, NULL);
	fd = rte_comch_poll_fd(p.dpu->poll, RTE_COMCH_POLL_ANY);
	arm_quiet(p.dpu, RTE_COMCH_POLL_ANY);
	t_send(p.cconn, "x", 1, 1);
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_EQ(rte_comch_poll_clear(p.dpu->poll), 0);
	T_CHECK(!t_readable(fd, 0));
	check_woken(p.dpu, RTE_COMCH_POLL_ANY,
			rte_comch_poll_arm(p.dpu->poll, RTE_COMCH_POLL_ANY));
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
	/* A run clears by itself. */
	arm_quiet(p.dpu, RTE_COMCH_POLL_ANY);
	t_send(p.cconn, "y", 1, 2);
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	while (t_step(p.dpu) > 0)
		;
	T_CHECK(!t_readable(fd, 0));
	t_pair_close(&p);
}

static void *
notify_main(void *arg)
{
	if (rte_comch_poll_notify(arg) != 0)
		T_FAIL("notify");
	return NULL;
}

void
conf_poll_notify(void)
{
	pthread_t th;
	struct t_pair p;
	unsigned int i;
	int fd;

	t_pair_open(&p, NULL);
	fd = rte_comch_poll_fd(p.dpu->poll, RTE_COMCH_POLL_ANY);
	for (i = 0; i < t_repeat(100); i++) {
		arm_quiet(p.dpu, RTE_COMCH_POLL_ANY);
		T_EQ(pthread_create(&th, NULL, notify_main, p.dpu->poll), 0);
		T_CHECK(t_readable(fd, T_TIMEOUT_MS));
		T_EQ(pthread_join(th, NULL), 0);
	}
	/* Before it is armed: not lost either. */
	t_settle();
	T_EQ(rte_comch_poll_notify(p.dpu->poll), 0);
	check_woken(p.dpu, RTE_COMCH_POLL_ANY,
			rte_comch_poll_arm(p.dpu->poll, RTE_COMCH_POLL_ANY));
	t_pair_close(&p);
}

/* Arming, sleeping and disarming by one call. */
void
conf_poll_wait(void)
{
	struct rte_comch_poll *poll;
	pthread_t th;
	struct t_pair p;
	unsigned int i;

	T_EQ(rte_comch_poll_wait(NULL, RTE_COMCH_POLL_ANY, 0), -EINVAL);
	t_pair_open(&p, NULL);
	poll = p.dpu->poll;
	T_EQ(rte_comch_poll_wait(poll, 0, 0), -EINVAL);
	T_EQ(rte_comch_poll_wait(poll, UINT32_C(1) << 30, 0), -EINVAL);
	for (i = 0; i < t_repeat(100); i++) {
		arm_quiet(p.dpu, RTE_COMCH_POLL_ANY);
		T_EQ(rte_comch_poll_wait(poll, RTE_COMCH_POLL_ANY, i % 3), 0);
		/* It slept, and is woken. */
		T_EQ(pthread_create(&th, NULL, notify_main, poll), 0);
		T_EQ(rte_comch_poll_wait(poll, RTE_COMCH_POLL_ANY, T_TIMEOUT_MS), 1);
		T_EQ(pthread_join(th, NULL), 0);
		/* What is there is told, as long as it is there. */
		t_send(p.cconn, &i, sizeof(i), i);
		do {
			T_EQ(rte_comch_poll_wait(poll, i % 2 ? RTE_COMCH_POLL_ANY :
				RTE_COMCH_POLL_RX, T_TIMEOUT_MS), 1);
			t_step(p.dpu);
		} while (t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == i);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
	}
	t_pair_close(&p);
}

void
conf_poll_wake_credit(void)
{
	struct t_pair_conf conf = { .server.recv_queue = 2, .client.send_queue = 2 };
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, &conf);
	for (i = 0; i < t_repeat(100); i++) {
		p.dpu->paused = true;
		/* Credits that are on the way arrive while the host falls silent. */
		do {
			while (t_offer(p.cconn, &i, sizeof(i), 0, 0))
				;
			arm_quiet(p.host, RTE_COMCH_POLL_TX);
		} while (t_offer(p.cconn, &i, sizeof(i), 0, 0));
		p.dpu->paused = false;
		check_woken_by_peer(p.host, RTE_COMCH_POLL_TX);
		T_UNTIL(t_offer(p.cconn, &i, sizeof(i), 0, 0));
	}
	t_pair_close(&p);
}

/* Have one message of ours taken, with a credit that a sleeper is told of. */
static void
be_credited(struct t_pair *p, uint32_t cls, uint32_t n)
{
	t_send(p->cconn, &n, sizeof(n), n);
	p->dpu->paused = true;
	arm_quiet(p->host, cls);
	p->host->paused = true;
	p->dpu->paused = false;
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, NULL) == n + 1);
	t_settle();
}

/* A poll armed without TX is not woken by credits, but by everything else. */
void
conf_poll_credit_lets_sleep(void)
{
	static const uint32_t cls[] = {
		RTE_COMCH_POLL_RX, RTE_COMCH_POLL_LINK, RTE_COMCH_POLL_RX | RTE_COMCH_POLL_LINK,
	};
	struct rte_comch_conn_stats st;
	struct t_pair p;
	uint64_t before;
	uint32_t i;

	t_pair_open(&p, NULL);
	for (i = 0; i < 60; i++) {
		T_EQ(rte_comch_conn_stats_get(p.sconn, &st), 0);
		before = st.wakes;
		be_credited(&p, cls[i % RTE_DIM(cls)], i);
		T_EQ(rte_comch_conn_stats_get(p.sconn, &st), 0);
		T_EQ(st.wakes, before);
		T_CHECK(!t_readable(rte_comch_poll_fd(p.host->poll, RTE_COMCH_POLL_ANY), 0));
		/* Asleep still: the same word is answered by a message. */
		if (i % 2 == 0) {
			t_send(p.sconn, "wake up", 7, i);
			check_woken(p.host, RTE_COMCH_POLL_RX, 0);
		}
		/* The credit was there all the time. */
		check_woken(p.host, RTE_COMCH_POLL_TX,
			rte_comch_poll_arm(p.host->poll, RTE_COMCH_POLL_TX));
		p.host->paused = false;
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
	}
	for (i = 60; i < 90; i++) {
		be_credited(&p, i % 2 == 0 ? RTE_COMCH_POLL_TX : RTE_COMCH_POLL_ANY, i);
		check_woken_by_peer(p.host, RTE_COMCH_POLL_ANY);
		p.host->paused = false;
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, NULL) == i + 1);
	}
	t_pair_close(&p);
}

void
conf_poll_wake_connect(void)
{
	struct t_pair p;

	t_pair_ends(&p, NULL);
	arm_quiet(p.dpu, RTE_COMCH_POLL_LINK);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	check_woken_by_peer(p.dpu, RTE_COMCH_POLL_LINK);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	t_pair_close(&p);
}

void
conf_poll_wake_disconnect(void)
{
	struct t_pair p;

	t_pair_open(&p, NULL);
	arm_quiet(p.dpu, RTE_COMCH_POLL_LINK);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	check_woken_by_peer(p.dpu, RTE_COMCH_POLL_LINK);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	t_pair_close(&p);
}

void
conf_poll_wake_consumer(void)
{
	struct rte_comch_consumer *cons;
	struct t_pair p;
	struct t_mem m;

	t_pair_open(&p, NULL);
	t_mem_new(&m, RTE_COMCH_MEM_SEALED, 4096, 0);
	cons = t_consumer_new(p.sconn, NULL, m.mr);
	arm_quiet(p.host, RTE_COMCH_POLL_LINK);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	check_woken_by_peer(p.host, RTE_COMCH_POLL_LINK);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_CONSUMER_NEW, NULL) == 1);
	T_UNTIL(rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING);
	arm_quiet(p.host, RTE_COMCH_POLL_LINK);
	T_EQ(rte_comch_consumer_stop(cons), -EINPROGRESS);
	check_woken_by_peer(p.host, RTE_COMCH_POLL_LINK);
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_CONSUMER_GONE, NULL) == 1);
	t_consumer_end(cons);
	t_mem_free(&m);
	t_pair_close(&p);
}

/* A message for a posted buffer wakes the sleeping poll of the consumer. */
static void
wake_receiver(struct t_flow *f, struct t_node *cons_node, uint64_t cookie)
{
	struct rte_comch_cpl cpl;

	arm_quiet(cons_node, RTE_COMCH_POLL_RX);
	cons_node->paused = true;
	t_submit(f, 0, 64, cookie);
	check_woken(cons_node, RTE_COMCH_POLL_RX, 0);
	cons_node->paused = false;
	t_recv(f->cons, &cpl);
	T_EQ(cpl.cookie, cookie);
	t_done(f->prod, &cpl);
}

/* A buffer posted is room to send; a message is something to receive. */
static void
wake_data(struct t_flow_conf *fc)
{
	struct rte_comch_cpl cpl;
	struct t_node *cons_node, *prod_node;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	/* Each end has a poll of its own. */
	cons_node = t_node_new();
	prod_node = t_node_new();
	fc->cons.poll = cons_node->poll;
	fc->prod.poll = prod_node->poll;
	t_flow_open(&f, &p, fc);
	for (i = 0; i < t_repeat(200); i++) {
		/* Short: from now on the producer waits for room. */
		t_settle();
		T_EQ(t_put(&f, 0, 64, i), 0);
		arm_quiet(prod_node, RTE_COMCH_POLL_TX);
		T_EQ(t_post(&f, 0, 64, i), 1);
		check_woken(prod_node, RTE_COMCH_POLL_TX, 0);
		wake_receiver(&f, cons_node, i);
		/* Something is there before it is armed. */
		T_EQ(t_post(&f, 0, 64, i), 1);
		t_submit(&f, 0, 64, i);
		check_woken(cons_node, RTE_COMCH_POLL_RX,
			rte_comch_poll_arm(cons_node->poll, RTE_COMCH_POLL_RX));
		t_recv(f.cons, &cpl);
		t_done(f.prod, &cpl);
	}
	t_flow_close(&f);
	t_node_free(prod_node);
	t_node_free(cons_node);
	t_pair_close(&p);
}

CONF_CASE(poll, wake_data, wake_data(&(struct t_flow_conf){ .to_host = false }))
CONF_CASE(poll, wake_data_staged, wake_data(&(struct t_flow_conf){
	.to_host = true, .kind = RTE_COMCH_MEM_HEAP }))

/* A producer that waits for room learns in its own poll that there will be none. */
void
conf_poll_wake_gone(void)
{
	struct t_flow_conf fc = { .to_host = false };
	struct rte_comch_cpl cpl;
	struct t_node *prod_node;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	prod_node = t_node_new();
	fc.prod.poll = prod_node->poll;
	t_flow_open(&f, &p, &fc);
	t_settle();
	T_EQ(t_put(&f, 0, 64, 1), 0);
	arm_quiet(prod_node, RTE_COMCH_POLL_TX);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	check_woken_by_peer(prod_node, RTE_COMCH_POLL_TX);
	t_submit(&f, 0, 64, 1);
	T_UNTIL(rte_comch_producer_done_burst(f.prod, &cpl, 1) == 1);
	T_EQ(cpl.status, -ENOENT);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	t_flow_close(&f);
	t_node_free(prod_node);
	t_pair_close(&p);
}

/* A flow to the DPU, whose consumer has a poll of its own. */
static struct t_node *
own_poll_open(struct t_pair *p, struct t_flow *f, uint32_t queue_size)
{
	struct t_flow_conf fc = { .cons.queue_size = queue_size };
	struct t_node *cons_node;

	t_pair_open(p, NULL);
	cons_node = t_node_new();
	fc.cons.poll = cons_node->poll;
	t_flow_open(f, p, &fc);
	return cons_node;
}

static void
own_poll_close(struct t_pair *p, struct t_flow *f, struct t_node *cons_node)
{
	t_flow_close(f);
	t_node_free(cons_node);
	t_pair_close(p);
}

/* What a driver does for buffers posted is nothing to receive. */
void
conf_poll_posts_let_sleep(void)
{
	struct t_node *cons_node;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	cons_node = own_poll_open(&p, &f, 128);
	for (i = 0; i < 128; i++) {
		T_EQ(t_post(&f, 0, 64, i), 1);
		t_settle();
		arm_quiet(cons_node, RTE_COMCH_POLL_RX);
	}
	own_poll_close(&p, &f, cons_node);
}

/* A stop by another thread wakes the poll whose thread is to receive the rest. */
void
conf_poll_wake_stopped(void)
{
	struct t_node *cons_node;
	struct t_flow f;
	struct t_pair p;

	cons_node = own_poll_open(&p, &f, 0);
	T_EQ(t_post(&f, 0, 64, 1), 1);
	t_settle();
	arm_quiet(cons_node, RTE_COMCH_POLL_RX);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	check_woken(cons_node, RTE_COMCH_POLL_RX, 0);
	own_poll_close(&p, &f, cons_node);
}

/* A consumer that was stopped is woken again after its next start. */
void
conf_poll_wake_restarted(void)
{
	struct t_node *cons_node;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	cons_node = own_poll_open(&p, &f, 0);
	for (i = 0; i < 5; i++) {
		T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
		T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
		/* The peer has dropped what it had for the last start. */
		t_settle();
		t_consumer_run(f.cons);
		f.id = rte_comch_consumer_id(f.cons);
		T_UNTIL(t_knows_consumer(f.prod_node, f.prod_conn, f.id));
		T_EQ(t_post(&f, 0, 64, i), 1);
		t_settle();
		wake_receiver(&f, cons_node, i);
	}
	own_poll_close(&p, &f, cons_node);
}

void
conf_poll_stats(void)
{
	const uint64_t begin_ms = t_now_ms();
	struct rte_comch_poll_stats a, b;
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_poll_stats_get(NULL, &a), -EINVAL);
	T_EQ(rte_comch_poll_stats_get(p.dpu->poll, NULL), -EINVAL);
	t_settle();
	T_EQ(rte_comch_poll_stats_get(p.dpu->poll, &a), 0);
	/* It has connected. */
	T_GT(a.longest_run_ns, 0);
	T_LE(a.longest_run_ns, (t_now_ms() - begin_ms + 1) * 1000000);
	t_steps(p.dpu, 10);
	T_EQ(rte_comch_poll_stats_get(p.dpu->poll, &b), 0);
	T_EQ(b.runs - a.runs, 10);
	T_EQ(b.busy_runs, a.busy_runs);
	T_EQ(b.events, a.events);
	T_EQ(b.arms, a.arms);
	arm_quiet(p.dpu, RTE_COMCH_POLL_ANY);
	T_EQ(rte_comch_poll_stats_get(p.dpu->poll, &a), 0);
	T_GT(a.arms, b.arms);
	t_send(p.cconn, "x", 1, 0);
	T_CHECK(t_readable(rte_comch_poll_fd(p.dpu->poll, RTE_COMCH_POLL_ANY),
			T_TIMEOUT_MS));
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
	T_EQ(rte_comch_poll_stats_get(p.dpu->poll, &b), 0);
	T_EQ(b.busy_runs - a.busy_runs, 1);
	T_EQ(b.events - a.events, 1);
	T_EQ(b.wakes - a.wakes, 1);
	t_pair_close(&p);
}
