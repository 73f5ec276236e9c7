/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Thousands of clients of one server, and what happens where descriptors end. */

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "mp.h"

#define NB_MANY 4096
#define ENOUGH_FDS 20000
#define FEW_FDS 1024
/*
 * What a connection may cost its process that has used no fast path, all included. It has two
 * locks, of 40 bytes on x86-64 and of 48 on arm64.
 */
#define CTRL_ONLY_BYTES (2048 - 2 * 40 + 2 * sizeof(pthread_mutex_t))

/** What the hooks count, so that nothing is recorded for so many. */
struct tally {
	unsigned int connected, disconnected, msgs, sent, up, down, errors;
	int last_error;
};

static void
count_event(struct t_node *node, const struct rte_comch_event *ev)
{
	struct tally *t = node->hook_arg;

	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		t->connected++;
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		t->disconnected++;
		break;
	case RTE_COMCH_EVENT_MSG:
		t->msgs++;
		/* Each client hears what it said; others would fail the count. */
		if (rte_comch_conn_server(ev->conn) != NULL)
			t_send(ev->conn, ev->msg.data, ev->msg.len, 0);
		else
			T_EQ(memcmp(ev->msg.data, &ev->conn, sizeof(ev->conn)), 0);
		break;
	case RTE_COMCH_EVENT_SENT:
		T_EQ(ev->status, 0);
		t->sent++;
		break;
	case RTE_COMCH_EVENT_STATE:
		if (ev->state.next == RTE_COMCH_STATE_RUNNING) {
			t->up++;
			break;
		}
		t->down++;
		if (ev->state.prev == RTE_COMCH_STATE_STARTING) {
			t->errors++;
			t->last_error = ev->status;
			T_LT(ev->status, 0);
			T_CHECK(ev->text != NULL && ev->text[0] != '\0');
		}
		break;
	default:
		break;
	}
}

/* Step, count, and keep no record. The other processes may need this CPU. */
static void
step(struct t_node *node)
{
	t_step(node);
	t_forget(node);
	sched_yield();
}

struct many_case {
	bool default_queues; /* not the smallest */
	unsigned int nb;
	uint64_t server_fds;
	uint64_t client_fds;
	unsigned int rounds;
};

/* Once EAL runs: its start raises the soft limit to the hard one. */
static void
fds_limit(uint64_t nb)
{
	if (!t_nofile_set(nb))
		t_skip("no %u descriptors here", (unsigned int)nb);
}

static int
server(int fd, void *arg)
{
	const struct many_case *c = arg;
	struct rte_comch_server_stats stats;
	struct tally t = { 0 };
	struct t_step s = { 0 };
	unsigned int fds;
	struct mp_end e;

	mp_server_open(&e, &(struct rte_comch_server_conf){ .max_clients = c->nb });
	fds_limit(c->server_fds);
	e.node->hook = count_event;
	e.node->hook_arg = &t;
	t_steps(e.node, 10);
	fds = t_fd_count();
	t_say(fd, 'R', 0);
	while (!t_listen(fd, &s))
		step(e.node);
	T_EQ(s.code, 'E');
	T_WAIT(step(e.node), rte_comch_server_nb_conns(e.server) == 0);
	T_WAIT(step(e.node), t.disconnected == t.connected);
	t_settle();
	T_WAIT(step(e.node), t_fd_count() == fds);
	T_EQ(rte_comch_server_stats_get(e.server, &stats), 0);
	t_say(fd, 'A', stats.accepted);
	t_say(fd, 'X', stats.accept_errors);
	mp_close(&e);
	return 0;
}

static struct rte_comch_client **
clients_new(struct mp_end *e, const struct many_case *c)
{
	struct rte_comch_client **cl;
	struct rte_comch_client_conf conf = {
		.recv_queue = 4, .send_queue = 4, .connect_timeout_ms = T_TIMEOUT_MS,
	};
	unsigned int i;

	if (c->default_queues)
		conf.recv_queue = conf.send_queue = 0;
	cl = calloc(c->nb, sizeof(struct rte_comch_client *));
	T_CHECK(cl != NULL);
	for (i = 0; i < c->nb; i++)
		cl[i] = t_client_new(e->node, e->dev, MP_NAME, &conf);
	return cl;
}

static void
clients_free(struct rte_comch_client **cl, unsigned int nb)
{
	unsigned int i;

	for (i = 0; i < nb; i++)
		T_EQ(rte_comch_client_destroy(cl[i]), 0);
	free(cl);
}

/* Connect all, exchange a message each, disconnect all. Returns the heap that one took. */
static size_t
one_round(struct mp_end *e, struct rte_comch_client **cl, unsigned int nb,
		struct tally *t)
{
	size_t heap = mallinfo2().uordblks;
	struct rte_comch_conn *conn;
	unsigned int i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < nb; i++) {
		T_EQ(rte_comch_client_start(cl[i]), -EINPROGRESS);
		/* A backlog is finite: not all at once. */
		T_WAIT(step(e->node), t->up + 64 > i || t->errors > 0);
	}
	T_WAIT(step(e->node), t->up == nb || t->errors > 0);
	if (t->errors > 0)
		T_FAIL("%u clients are up, %u failed: %d", t->up, t->errors, t->last_error);
	for (i = 0; i < nb; i++) {
		conn = rte_comch_client_conn(cl[i]);
		t_send(conn, &conn, sizeof(conn), i);
	}
	T_WAIT(step(e->node), t->msgs == nb && t->sent == nb);
	heap = mallinfo2().uordblks - heap;
	for (i = 0; i < nb; i++)
		T_EQ(rte_comch_client_stop(cl[i]), -EINPROGRESS);
	T_WAIT(step(e->node), t->down == nb && t->disconnected == nb);
	return heap / nb;
}

static void
client_end_open(struct mp_end *e, struct tally *t)
{
	mp_client_open(e, NULL); /* a first one: it shows that the server is there */
	t_client_end(e->client);
	e->client = NULL;
	t_settle();
	t_forget(e->node);
	e->node->hook = count_event;
	e->node->hook_arg = t;
}

static int
clients(int fd, void *arg)
{
	const struct many_case *c = arg;
	struct rte_comch_client **cl;
	unsigned int fds, i;
	struct tally t = { 0 };
	uint64_t rss = 0;
	struct mp_end e;
	size_t heap;

	client_end_open(&e, &t);
	fds_limit(c->client_fds);
	fds = t_fd_count();
	for (i = 0; i < c->rounds; i++) {
		cl = clients_new(&e, c);
		heap = one_round(&e, cl, c->nb, &t);
		/* A sanitizer's heap does not count. */
		if (!t_sanitized())
			T_LT(heap, CTRL_ONLY_BYTES);
		printf("%u control-only connections: %zu bytes each\n", c->nb, heap);
		clients_free(cl, c->nb);
		t_settle();
		t_forget(e.node);
		T_WAIT(step(e.node), t_fd_count() == fds);
		/* What is free counts or not, as blocks that stay lie behind it or not. */
		malloc_trim(0);
		if (i == 0)
			rss = t_rss_kb();
	}
	if (!t_sanitized())
		T_LT(t_rss_kb(), rss + 8192);
	t_say(fd, 'D', 0);
	mp_close(&e);
	return 0;
}

static void
enough(void)
{
	struct many_case c = {
		.nb = NB_MANY, .server_fds = ENOUGH_FDS, .client_fds = ENOUGH_FDS,
		.rounds = 3, .default_queues = true,
	};
	struct t_proc s, cl;

	t_proc_start(&s, "server", server, &c);
	t_hear(s.fd, 'R'); /* it counted its descriptors before any client connected */
	t_proc_start(&cl, "clients", clients, &c);
	/* So many take their time: wait for the end, not for a step. */
	while (!t_readable(cl.fd, T_TIMEOUT_MS))
		;
	t_hear(cl.fd, 'D');
	t_say(s.fd, 'E', 0);
	T_EQ(t_hear(s.fd, 'A'), c.rounds * NB_MANY + 1);
	T_EQ(t_hear(s.fd, 'X'), 0);
	t_proc_join(&cl);
	t_proc_join(&s);
}

/* The clients' process has too few descriptors: an error each, and no crash. */
static int
too_many_clients(int fd, void *arg)
{
	const struct many_case *c = arg;
	struct rte_comch_client **cl;
	struct tally t = { 0 };
	unsigned int i, fds;
	struct mp_end e;
	int rc;

	client_end_open(&e, &t);
	fds_limit(c->client_fds);
	fds = t_fd_count();
	cl = clients_new(&e, c);
	for (i = 0; i < c->nb; i++) {
		rc = rte_comch_client_start(cl[i]);
		if (rc != -EINPROGRESS) {
			T_LT(rc, 0);
			t.errors++;
		}
		T_WAIT(step(e.node), t.up + t.errors + 64 > i);
	}
	T_WAIT(step(e.node), t.up + t.errors == c->nb);
	T_GE(t.up, 100);
	T_GE(t.errors, 1);
	/* Those that are up work. */
	for (i = 0; i < c->nb; i++)
		if (rte_comch_client_state(cl[i]) == RTE_COMCH_STATE_RUNNING) {
			struct rte_comch_conn *conn = rte_comch_client_conn(cl[i]);

			t_send(conn, &conn, sizeof(conn), i);
		}
	T_WAIT(step(e.node), t.msgs == t.up);
	t.down = 0;
	for (i = 0; i < c->nb; i++)
		if (rte_comch_client_state(cl[i]) == RTE_COMCH_STATE_RUNNING)
			T_EQ(rte_comch_client_stop(cl[i]), -EINPROGRESS);
	T_WAIT(step(e.node), t.down == t.up);
	clients_free(cl, c->nb);
	t_settle();
	T_WAIT(step(e.node), t_fd_count() == fds);
	t_say(fd, 'D', t.up);
	mp_close(&e);
	return 0;
}

static void
run_few(uint64_t server_fds, uint64_t client_fds)
{
	struct many_case c = {
		.nb = 1500, .server_fds = server_fds, .client_fds = client_fds,
	};
	struct t_proc s, cl;
	uint64_t errors;

	t_proc_start(&s, "server", server, &c);
	t_hear(s.fd, 'R');
	t_proc_start(&cl, "clients", too_many_clients, &c);
	while (!t_readable(cl.fd, T_TIMEOUT_MS))
		;
	t_hear(cl.fd, 'D');
	t_say(s.fd, 'E', 0);
	t_hear(s.fd, 'A');
	errors = t_hear(s.fd, 'X');
	/* The server refuses those for whom it has none, before it runs out of them. */
	T_EQ(errors, 0);
	t_proc_join(&cl);
	t_proc_join(&s);
}

static void
few_at_clients(void)
{
	run_few(ENOUGH_FDS, FEW_FDS);
}

static void
few_at_server(void)
{
	run_few(FEW_FDS, ENOUGH_FDS);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "enough", enough },
		{ "few_at_clients", few_at_clients },
		{ "few_at_server", few_at_server },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
