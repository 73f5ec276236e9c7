/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * One process, many threads: each end of a connection on a thread of its own,
 * and producers and consumers on others, each with a poll of its own. Plain
 * program: it runs under TSan, too.
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "mp.h"

#define MAX_WORKERS 8
#define QUEUE 16
#define LEN 64

static const struct t_driver driver = { .name = "comch_shm", .has_dir = true };

/** How a case runs. */
struct plan {
	bool sleepy;             /**< Threads sleep when they can. */
	bool lcores;             /**< Workers are EAL lcores. */
	enum rte_comch_mem_kind kind;
	unsigned int nb_cons;
	unsigned int nb_prod;    /**< For each consumer. */
	uint32_t nb_msgs;        /**< Of each producer. */
};

static struct plan plan;

/* Shared by the threads: atomics. */
static struct rte_comch_conn *dpu_conn, *host_conn;
static struct rte_comch_poll *host_poll;
static uint32_t cons_ids[MAX_WORKERS];
static uint32_t stop_host;
static uint32_t nb_produced; /* producers whose messages have all arrived */
static uint32_t nb_finished;
static struct rte_comch_poll *main_poll;

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)

/* One step of whichever kind, of all nodes of this thread. */
static void
pass(const struct t_wait *wait)
{
	if (plan.sleepy)
		t_sleep_step(wait);
	else
		t_until_step(wait);
}

/** A message: its sender, and its number. */
struct stamp {
	uint32_t producer;
	uint32_t seq;
	uint8_t fill[LEN - 8];
};

struct worker {
	pthread_t thread;
	unsigned int index;
	unsigned int consumer; /**< Index of the one that is sent to. */
};

static void
consumer_post(struct rte_comch_consumer *cons, const struct t_mem *m, uint64_t *posted,
		uint64_t got, uint64_t total)
{
	struct rte_comch_buf buf = { .mr = m->mr, .len = LEN };

	while (*posted < total && *posted - got < QUEUE) {
		buf.addr = m->addr + *posted % QUEUE * LEN;
		buf.cookie = *posted;
		if (rte_comch_consumer_post_burst(cons, &buf, 1) == 0)
			break;
		(*posted)++;
	}
}

/* Take what is there; each producer's messages count up. */
static bool
consumer_take(struct rte_comch_consumer *cons, const struct t_mem *m, uint64_t *got,
		uint32_t *next)
{
	struct rte_comch_cpl cpl;
	struct stamp st;
	bool any = false;

	while (rte_comch_consumer_recv_burst(cons, &cpl, 1) == 1) {
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, *got);
		T_EQ(cpl.len, LEN);
		memcpy(&st, m->addr + *got % QUEUE * LEN, sizeof(st));
		T_LT(st.producer, MAX_WORKERS);
		T_EQ(st.seq, next[st.producer]);
		T_VERIFY(st.fill, sizeof(st.fill), st.seq);
		next[st.producer]++;
		(*got)++;
		any = true;
	}
	return any;
}

static void
finished(void)
{
	__atomic_fetch_add(&nb_finished, 1, __ATOMIC_ACQ_REL);
	T_EQ(rte_comch_poll_notify(main_poll), 0);
}

static void *
consumer_main(void *arg)
{
	const uint64_t total = (uint64_t)plan.nb_msgs * plan.nb_prod;
	struct rte_comch_consumer_conf conf = { .queue_size = QUEUE };
	uint64_t posted = 0, got = 0;
	struct t_wait wait;
	uint32_t next[MAX_WORKERS] = { 0 };
	struct rte_comch_consumer *cons;
	const struct worker *w = arg;
	struct t_node *node;
	struct t_mem m;

	node = t_node_new();
	conf.poll = node->poll;
	t_mem_new(&m, plan.kind, QUEUE * LEN, 0);
	cons = t_consumer_new(LOAD(dpu_conn), &conf, m.mr);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	T_WAIT_STEP(pass, rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING);
	STORE(cons_ids[w->index], rte_comch_consumer_id(cons));
	wait = t_wait_begin(__FILE__, __LINE__, "a thread's work");
	while (got < total) {
		consumer_post(cons, &m, &posted, got, total);
		if (consumer_take(cons, &m, &got, next))
			wait.deadline = t_deadline();
		else
			pass(&wait);
	}
	/* With the consumer gone, a producer that has not looked yet is told -ENOENT. */
	while (LOAD(nb_produced) < plan.nb_cons * plan.nb_prod)
		sched_yield();
	T_EQ(rte_comch_consumer_stop(cons), -EINPROGRESS);
	T_WAIT_STEP(pass, rte_comch_consumer_state(cons) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_consumer_destroy(cons), 0);
	t_mem_free(&m);
	t_node_free(node);
	finished();
	return NULL;
}

static uint64_t
producer_done(struct rte_comch_producer *prod, uint64_t done)
{
	struct rte_comch_cpl cpl;

	while (rte_comch_producer_done_burst(prod, &cpl, 1) == 1) {
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, done);
		done++;
	}
	return done;
}

static void *
producer_main(void *arg)
{
	struct rte_comch_producer_conf conf = { .queue_size = QUEUE };
	struct rte_comch_op op = { .len = LEN };
	struct rte_comch_producer *prod;
	uint64_t sent = 0, done = 0, before;
	struct t_wait wait;
	const struct worker *w = arg;
	struct t_node *node;
	struct stamp *st;
	struct t_mem m;

	while (LOAD(cons_ids[w->consumer]) == 0)
		sched_yield();
	node = t_node_new();
	conf.poll = node->poll;
	t_mem_new(&m, RTE_COMCH_MEM_HEAP, QUEUE * LEN, 0);
	prod = t_producer_new(LOAD(host_conn), &conf);
	op.mr = m.mr;
	op.consumer_id = LOAD(cons_ids[w->consumer]);
	wait = t_wait_begin(__FILE__, __LINE__, "a thread's work");
	while (done < plan.nb_msgs) {
		before = sent + done;
		while (sent < plan.nb_msgs && sent - done < QUEUE) {
			st = (struct stamp *)(m.addr + sent % QUEUE * LEN);
			st->producer = w->index;
			st->seq = (uint32_t)sent;
			t_fill(st->fill, sizeof(st->fill), sent);
			op.addr = st;
			op.cookie = sent;
			if (rte_comch_producer_send_burst(prod, &op, 1) == 0)
				break;
			sent++;
		}
		done = producer_done(prod, done);
		if (sent + done != before)
			wait.deadline = t_deadline();
		else
			pass(&wait);
	}
	__atomic_fetch_add(&nb_produced, 1, __ATOMIC_ACQ_REL);
	t_producer_end(prod);
	t_mem_free(&m);
	t_node_free(node);
	finished();
	return NULL;
}

/* The host's end of the connection, on its own thread. */
static void *
host_main(void *arg)
{
	struct rte_comch_client *client;
	struct t_node *node;
	int16_t dev;

	RTE_SET_USED(arg);
	node = t_node_new();
	dev = t_dev_open(1, "role=host,func=pf0");
	client = t_client_new(node, dev, MP_NAME, NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_WAIT_STEP(pass, rte_comch_client_state(client) == RTE_COMCH_STATE_RUNNING);
	STORE(host_poll, node->poll);
	STORE(host_conn, rte_comch_client_conn(client));
	T_WAIT_STEP(pass, LOAD(stop_host) != 0);
	t_client_end(client);
	t_settle();
	T_EQ(rte_comch_dev_close(dev), 0);
	t_node_free(node);
	finished();
	return NULL;
}

/* lcore workers take their part by number: consumers first. */
static struct worker workers[2 * MAX_WORKERS];

static int
lcore_main(void *arg)
{
	struct worker *w = arg;

	if (w->consumer == UINT32_MAX)
		consumer_main(w);
	else
		producer_main(w);
	return 0;
}

static void
launch(struct worker *w, unsigned int nth)
{
	unsigned int lcore, i = 0;

	if (!plan.lcores) {
		T_EQ(pthread_create(&w->thread, NULL, w->consumer == UINT32_MAX ?
				consumer_main : producer_main, w), 0);
		return;
	}
	RTE_LCORE_FOREACH_WORKER(lcore)
		if (i++ == nth) {
			T_EQ(rte_eal_remote_launch(lcore_main, w, lcore), 0);
			return;
		}
	T_FAIL("no lcore %u", nth);
}

static unsigned int
launch_all(void)
{
	unsigned int i, n = 0;

	T_LE(plan.nb_cons, MAX_WORKERS);
	T_LE(plan.nb_cons * plan.nb_prod, MAX_WORKERS);
	for (i = 0; i < plan.nb_cons; i++, n++) {
		workers[n] = (struct worker){ .index = i, .consumer = UINT32_MAX };
		launch(&workers[n], n);
	}
	for (i = 0; i < plan.nb_cons * plan.nb_prod; i++, n++) {
		workers[n] = (struct worker){ .index = i, .consumer = i % plan.nb_cons };
		launch(&workers[n], n);
	}
	return n;
}

static void
run(const struct plan *how)
{
	struct rte_comch_server *server;
	unsigned int i, n;
	struct t_node *node;
	pthread_t host;
	int16_t dev;

	plan = *how;
	t_driver = &driver;
	t_eal_start(plan.lcores ? 1 + plan.nb_cons * (1 + plan.nb_prod) : 1);
	node = t_node_new();
	main_poll = node->poll;
	dev = t_dev_open(0, "role=dpu,rep=pf0");
	server = t_server_new(node, dev, MP_NAME, 0, NULL);
	T_EQ(pthread_create(&host, NULL, host_main, NULL), 0);
	T_WAIT_STEP(pass, t_count(node, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	STORE(dpu_conn, t_find(node, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn);
	/* Busy here: this wait is the test's, not the library's. */
	T_UNTIL(LOAD(host_conn) != NULL);
	n = launch_all();
	T_WAIT_STEP(pass, LOAD(nb_finished) == n);
	if (plan.lcores)
		rte_eal_mp_wait_lcore();
	else
		for (i = 0; i < n; i++)
			T_EQ(pthread_join(workers[i].thread, NULL), 0);
	STORE(stop_host, 1);
	T_EQ(rte_comch_poll_notify(LOAD(host_poll)), 0);
	T_WAIT_STEP(pass, LOAD(nb_finished) == n + 1);
	T_EQ(pthread_join(host, NULL), 0);
	T_UNTIL(rte_comch_server_nb_conns(server) == 0);
	t_server_end(server);
	t_settle();
	T_EQ(rte_comch_dev_close(dev), 0);
	t_node_free(node);
	t_eal_stop();
}

static void
one_to_one(void)
{
	run(&(struct plan){ .nb_cons = 1, .nb_prod = 1, .nb_msgs = 5000 });
}

static void
many_to_one(void)
{
	run(&(struct plan){ .nb_cons = 1, .nb_prod = 4, .nb_msgs = 2000 });
}

static void
many_to_one_staged(void)
{
	run(&(struct plan){ .nb_cons = 1, .nb_prod = 4, .nb_msgs = 2000,
		.kind = RTE_COMCH_MEM_HEAP });
}

static void
many_to_many(void)
{
	run(&(struct plan){ .nb_cons = 3, .nb_prod = 2, .nb_msgs = 1000 });
}

static void
event_mode(void)
{
	run(&(struct plan){ .nb_cons = 1, .nb_prod = 1, .nb_msgs = 5000, .sleepy = true });
}

static void
event_mode_many(void)
{
	run(&(struct plan){ .nb_cons = 2, .nb_prod = 2, .nb_msgs = 2000, .sleepy = true });
}

static void
event_mode_staged(void)
{
	run(&(struct plan){ .nb_cons = 1, .nb_prod = 3, .nb_msgs = 2000, .sleepy = true,
		.kind = RTE_COMCH_MEM_HEAP });
}

static void
lcores(void)
{
	run(&(struct plan){ .nb_cons = 2, .nb_prod = 1, .nb_msgs = 2000, .lcores = true });
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "one_to_one", one_to_one },
		{ "many_to_one", many_to_one },
		{ "many_to_one_staged", many_to_one_staged },
		{ "many_to_many", many_to_many },
		{ "event_mode", event_mode },
		{ "event_mode_many", event_mode_many },
		{ "event_mode_staged", event_mode_staged },
		{ "lcores", lcores },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
