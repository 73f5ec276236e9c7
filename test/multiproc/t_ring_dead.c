/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A process of an EAL is killed: the mbufs that it had received or allocated are lost, no
 * others, and the pool's books say how many.
 */

#include <signal.h>
#include <unistd.h>

#include "mp_mbuf.h"

#define NB_MBUFS 1023
#define DEPTH 64
/* What the victim has when it is killed. */
#define NB_ALLOCATED 10
#define NB_RECEIVED 20
#define NB_WAITING 15  /* in the queue of its consumer */
#define NB_SENT 5      /* in that of the survivor's */

struct dead_case {
	struct mp_eal eal;
	bool victim_is_primary;
	bool victim_is_server;
};

static struct rte_mempool *
join(const struct dead_case *c, bool is_primary, unsigned int lcore, int fd)
{
	struct rte_mempool *pool;

	mp_eal_join(&c->eal, is_primary, lcore);
	pool = is_primary ? mp_pool_new("pool", NB_MBUFS) : mp_pool_find("pool");
	if (is_primary)
		t_say(fd, 'R', 0);
	return pool;
}

static void
send_new(struct mp_mbuf *m, struct rte_mempool *pool, unsigned int n)
{
	struct rte_mbuf *out[MP_BURST * 2];

	T_EQ(rte_pktmbuf_alloc_bulk(pool, out, n), 0);
	mp_mbuf_send(m, out, n);
}

static int
victim(int fd, void *arg)
{
	const struct dead_case *c = arg;
	struct rte_mbuf *held[NB_ALLOCATED + NB_RECEIVED];
	struct rte_mempool *pool;
	struct mp_mbuf m;
	struct mp_end e;

	pool = join(c, c->victim_is_primary, c->victim_is_primary ? 0 : 1, fd);
	mp_end_open(&e, c->victim_is_server);
	mp_mbuf_open(&m, &e, e.conn, pool, DEPTH, 0);
	t_say(fd, 'O', 0);
	mp_hear(fd, 'G');
	mp_mbuf_recv(&m, held, NB_RECEIVED);
	T_EQ(rte_pktmbuf_alloc_bulk(pool, &held[NB_RECEIVED], NB_ALLOCATED), 0);
	send_new(&m, pool, NB_SENT);
	t_say(fd, 'H', 0);
	for (;;)
		pause();
	return 1;
}

static void
wait_for_end(struct mp_end *e)
{
	T_UNTIL(t_count(e->node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(t_find(e->node, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0)->e.status, -ECONNRESET);
}

static int
survivor(int fd, void *arg)
{
	const struct dead_case *c = arg;
	struct rte_mbuf *in[NB_SENT];
	struct rte_mempool *pool;
	struct mp_mbuf m;
	struct mp_end e;

	pool = join(c, !c->victim_is_primary, c->victim_is_primary ? 1 : 0, fd);
	mp_end_open(&e, !c->victim_is_server);
	mp_mbuf_open(&m, &e, e.conn, pool, DEPTH, 0);
	t_say(fd, 'O', 0);
	mp_hear(fd, 'G');
	send_new(&m, pool, NB_RECEIVED + NB_WAITING);
	t_say(fd, 'H', 0);
	wait_for_end(&e);
	T_EQ(rte_mempool_in_use_count(pool),
		NB_ALLOCATED + NB_RECEIVED + NB_WAITING + NB_SENT);
	mp_mbuf_recv(&m, in, NB_SENT);
	rte_pktmbuf_free_bulk(in, NB_SENT);
	mp_mbuf_close(&m);
	/* The connection goes: what waited in the victim's queue comes back. */
	T_UNTIL(rte_mempool_in_use_count(pool) <= NB_ALLOCATED + NB_RECEIVED);
	T_EQ(rte_mempool_avail_count(pool), NB_MBUFS - NB_ALLOCATED - NB_RECEIVED);
	mp_close(&e);
	return 0;
}

static void
kill_one(bool victim_is_primary, bool victim_is_server)
{
	struct dead_case c = {
		.victim_is_primary = victim_is_primary, .victim_is_server = victim_is_server,
	};
	struct t_proc dies, lives;

	mp_eal_new(&c.eal);
	if (victim_is_primary) {
		t_proc_start(&dies, "victim", victim, &c);
		t_hear(dies.fd, 'R');
		t_proc_start(&lives, "survivor", survivor, &c);
	} else {
		t_proc_start(&lives, "survivor", survivor, &c);
		t_hear(lives.fd, 'R');
		t_proc_start(&dies, "victim", victim, &c);
	}
	t_hear(lives.fd, 'O');
	t_hear(dies.fd, 'O');
	t_say(lives.fd, 'G', 0);
	t_say(dies.fd, 'G', 0);
	t_hear(lives.fd, 'H');
	t_hear(dies.fd, 'H');
	/* The survivor notices while the victim is a zombie: its parent has not waited yet. */
	t_proc_signal(&dies, SIGKILL);
	t_proc_join(&lives);
	t_proc_kill(&dies);
	mp_eal_remove(&c.eal);
}

static void
secondary_client(void)
{
	kill_one(false, false);
}

static void
secondary_server(void)
{
	kill_one(false, true);
}

static void
primary_client(void)
{
	kill_one(true, false);
}

static void
primary_server(void)
{
	kill_one(true, true);
}

/* Two clients, each in a secondary. */

static int
two_clients(int fd, void *arg)
{
	const struct dead_case *c = arg;
	struct rte_mempool *pool;
	struct mp_mbuf m;
	struct mp_end e;

	pool = join(c, false, 1, fd);
	mp_end_open(&e, false);
	mp_mbuf_open(&m, &e, e.conn, pool, DEPTH, 0);
	send_new(&m, pool, NB_SENT);
	t_say(fd, 'H', 0);
	mp_hear(fd, 'E');
	mp_mbuf_close(&m);
	mp_close(&e);
	return 0;
}

/*
 * What the first client has sent is still there when the next one comes, although its
 * process is gone: a queue is not used again before its consumer has let go.
 */
static int
slow_server(int fd, void *arg)
{
	const struct dead_case *c = arg;
	struct rte_mbuf *in[NB_SENT];
	struct rte_comch_conn *second;
	struct rte_mempool *pool;
	struct mp_mbuf m, next;
	struct mp_end e;

	pool = join(c, true, 0, fd);
	mp_end_open(&e, true);
	mp_mbuf_open(&m, &e, e.conn, pool, DEPTH, 0);
	wait_for_end(&e);
	t_say(fd, 'O', 0);
	second = mp_server_accept(&e, 1);
	mp_mbuf_open(&next, &e, second, pool, DEPTH, 0);
	mp_mbuf_recv(&next, in, NB_SENT);
	rte_pktmbuf_free_bulk(in, NB_SENT);
	mp_mbuf_recv(&m, in, NB_SENT);
	rte_pktmbuf_free_bulk(in, NB_SENT);
	mp_mbuf_close(&m);
	t_say(fd, 'L', 0);
	mp_hear(fd, 'E');
	mp_mbuf_close(&next);
	T_UNTIL(rte_mempool_full(pool));
	mp_close(&e);
	return 0;
}

static void
next_client(void)
{
	struct t_proc srv, first, second;
	struct dead_case c = { 0 };

	mp_eal_new(&c.eal);
	t_proc_start(&srv, "server", slow_server, &c);
	t_hear(srv.fd, 'R');
	t_proc_start(&first, "first", two_clients, &c);
	t_hear(first.fd, 'H');
	t_proc_kill(&first);
	t_hear(srv.fd, 'O');
	t_proc_start(&second, "second", two_clients, &c);
	t_hear(second.fd, 'H');
	t_hear(srv.fd, 'L');
	t_say(second.fd, 'E', 0);
	t_proc_join(&second);
	t_say(srv.fd, 'E', 0);
	t_proc_join(&srv);
	mp_eal_remove(&c.eal);
}

/* Two secondaries go on when the primary is killed. */

static int
bystander(int fd, void *arg)
{
	join(arg, true, 0, fd);
	for (;;)
		pause();
	return 1;
}

static void
there_and_back(struct mp_mbuf *m, struct rte_mempool *pool, bool is_server)
{
	struct rte_mbuf *mbufs[MP_BURST];
	unsigned int i;

	for (i = 0; i < 500; i++) {
		if (is_server) {
			mp_mbuf_recv(m, mbufs, MP_BURST);
			mp_mbuf_send(m, mbufs, MP_BURST);
		} else {
			T_EQ(rte_pktmbuf_alloc_bulk(pool, mbufs, MP_BURST), 0);
			mp_mbuf_send(m, mbufs, MP_BURST);
			mp_mbuf_recv(m, mbufs, MP_BURST);
			rte_pktmbuf_free_bulk(mbufs, MP_BURST);
		}
	}
}

static int
secondary(int fd, const struct dead_case *c, bool is_server)
{
	struct rte_mempool *pool;
	struct mp_mbuf m;
	struct mp_end e;

	pool = join(c, false, is_server ? 1 : 2, fd);
	mp_end_open(&e, is_server);
	mp_mbuf_open(&m, &e, e.conn, pool, DEPTH, 0);
	t_say(fd, 'O', 0);
	mp_hear(fd, 'G');
	there_and_back(&m, pool, is_server);
	t_say(fd, 'H', 0);
	mp_hear(fd, 'K');
	t_no_end(e.node, NULL);
	there_and_back(&m, pool, is_server);
	t_say(fd, 'L', 0);
	mp_hear(fd, 'E');
	mp_mbuf_close(&m);
	T_CHECK(is_server || rte_mempool_full(pool));
	mp_close(&e);
	return 0;
}

static int
secondary_srv(int fd, void *arg)
{
	return secondary(fd, arg, true);
}

static int
secondary_cli(int fd, void *arg)
{
	return secondary(fd, arg, false);
}

static void
tell_both(const struct t_proc *a, char after, const struct t_proc *b, char code)
{
	t_hear(a->fd, after);
	t_hear(b->fd, after);
	t_say(a->fd, code, 0);
	t_say(b->fd, code, 0);
}

static void
without_primary(void)
{
	struct t_proc primary, srv, cli;
	struct dead_case c = { 0 };

	mp_eal_new(&c.eal);
	t_proc_start(&primary, "primary", bystander, &c);
	t_hear(primary.fd, 'R');
	t_proc_start(&srv, "server", secondary_srv, &c);
	t_proc_start(&cli, "client", secondary_cli, &c);
	tell_both(&srv, 'O', &cli, 'G');
	t_hear(srv.fd, 'H');
	t_hear(cli.fd, 'H');
	t_proc_kill(&primary);
	t_say(srv.fd, 'K', 0);
	t_say(cli.fd, 'K', 0);
	tell_both(&srv, 'L', &cli, 'E');
	t_proc_join(&cli);
	t_proc_join(&srv);
	mp_eal_remove(&c.eal);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "secondary_client", secondary_client },
		{ "secondary_server", secondary_server },
		{ "primary_client", primary_client },
		{ "primary_server", primary_server },
		{ "next_client", next_client },
		{ "without_primary", without_primary },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
