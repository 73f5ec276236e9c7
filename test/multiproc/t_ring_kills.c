/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A process of an EAL is killed again and again in the middle of allocations, frees and
 * bursts, secondaries and the primary. The other one never hangs, works on at once, and
 * misses no more mbufs than the victim may have held.
 *
 * T_KILLS: how often, 20 by default. T_POOL: another mempool handler than that of
 * rte_comch_pktmbuf_pool_create_multiproc(), to see why there is that one.
 */

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mp_mbuf.h"

#define NB_MBUFS 4095
#define DEPTH 64
/* Kills in an EAL; the last one is the primary's. */
#define KILLS 10

enum phase {
	PHASE_OTHER,
	PHASE_ALLOC,
	PHASE_FREE,
	PHASE_SEND,
	PHASE_RECV,
	NB_PHASES,
};

static const char *const phase_names[NB_PHASES] = {
	"other", "allocation", "free", "send", "receive",
};

/* Of all processes. */
struct board {
	uint32_t phase;    /* of the victim */
	uint32_t is_under_way;
};

struct kill_case {
	struct mp_eal eal;
	struct board *board;
	bool server_is_primary;
};

static struct rte_mempool *
pool_new(void)
{
	const char *ops = getenv("T_POOL");
	struct rte_mempool *mp;

	if (ops == NULL)
		return mp_pool_new("pool", NB_MBUFS);
	mp = rte_pktmbuf_pool_create_by_ops("pool", NB_MBUFS, 0, 0, MP_ROOM + RTE_PKTMBUF_HEADROOM,
			SOCKET_ID_ANY, ops);
	T_CHECK(mp != NULL);
	T_CHECK(rte_comch_mempool_register(mp, 0) != NULL);
	return mp;
}

static struct rte_mempool *
join(const struct kill_case *c, bool is_primary, int fd)
{
	struct rte_mempool *pool;

	mp_eal_join(&c->eal, is_primary, is_primary ? 0 : 1);
	pool = is_primary ? pool_new() : mp_pool_find("pool");
	if (is_primary)
		t_say(fd, 'R', 0);
	return pool;
}

static void
set_phase(const struct kill_case *c, enum phase phase)
{
	__atomic_store_n(&c->board->phase, phase, __ATOMIC_RELEASE);
}

/* Free some, in the phase for it. */
static void
free_some(const struct kill_case *c, struct rte_mbuf **mbufs, unsigned int n)
{
	set_phase(c, PHASE_FREE);
	rte_pktmbuf_free_bulk(mbufs, n);
}

/* It holds a burst of mbufs at most. */
static void
be_busy(const struct kill_case *c, struct mp_mbuf *m, struct rte_mempool *pool)
{
	struct rte_mbuf *mbufs[MP_BURST];
	uint16_t n = MP_BURST / 2;

	set_phase(c, PHASE_ALLOC);
	if (rte_pktmbuf_alloc_bulk(pool, mbufs, MP_BURST) == 0) {
		free_some(c, &mbufs[n], MP_BURST - n);
		set_phase(c, PHASE_SEND);
		n = rte_comch_tx_burst(m->prod, m->id, mbufs, n);
		free_some(c, &mbufs[n], MP_BURST / 2 - n);
	}
	set_phase(c, PHASE_RECV);
	n = rte_comch_rx_burst(m->cons, mbufs, MP_BURST);
	free_some(c, mbufs, n);
	__atomic_fetch_add(&c->board->is_under_way, n, __ATOMIC_RELAXED);
}

static int
victim(int fd, const struct kill_case *c, bool is_primary)
{
	struct rte_mempool *pool;
	struct mp_mbuf m;
	unsigned int i;
	struct mp_end e;

	pool = join(c, is_primary, fd);
	if (is_primary == c->server_is_primary) {
		mp_server_open(&e, NULL);
		e.conn = mp_server_accept(&e, 0);
	} else {
		mp_client_open(&e, NULL);
	}
	mp_mbuf_open(&m, &e, e.conn, pool, DEPTH, 0);
	for (i = 1; ; i++) {
		be_busy(c, &m, pool);
		set_phase(c, PHASE_OTHER);
		if (i % 64 == 0)
			t_step_all();
	}
	return 1;
}

static int
secondary_victim(int fd, void *arg)
{
	return victim(fd, arg, false);
}

static int
primary_victim(int fd, void *arg)
{
	return victim(fd, arg, true);
}

/* All that the pool has can be had. */
static unsigned int
check_pool(struct rte_mempool *pool)
{
	static struct rte_mbuf *mbufs[NB_MBUFS];
	unsigned int n = 0;

	while (n < NB_MBUFS && (mbufs[n] = rte_pktmbuf_alloc(pool)) != NULL)
		n++;
	T_EQ(rte_mempool_avail_count(pool), 0);
	rte_pktmbuf_free_bulk(mbufs, n);
	T_EQ(rte_mempool_avail_count(pool), n);
	return n;
}

/* Return what comes, until the victim is gone; then clean up. */
static void
outlive(struct mp_end *e, struct rte_mempool *pool)
{
	struct rte_mbuf *mbufs[MP_BURST];
	struct mp_mbuf m;
	uint16_t n, sent;

	mp_mbuf_open(&m, e, e->conn, pool, DEPTH, 0);
	while (t_count(e->node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 0) {
		n = rte_comch_rx_burst(m.cons, mbufs, MP_BURST);
		sent = rte_comch_tx_burst(m.prod, m.id, mbufs, n);
		rte_pktmbuf_free_bulk(&mbufs[sent], n - sent);
		t_step_all();
	}
	mp_mbuf_close(&m);
}

static void
connect_to_next(struct mp_end *e)
{
	t_forget(e->node);
	if (e->server != NULL) {
		e->conn = mp_server_accept(e, 0);
	} else {
		T_UNTIL(rte_comch_client_state(e->client) == RTE_COMCH_STATE_IDLE);
		mp_client_connect(e);
	}
}

static int
survivor(int fd, const struct kill_case *c, bool is_primary)
{
	const struct rte_comch_client_conf conf = { .connect_timeout_ms = T_TIMEOUT_MS };
	struct rte_mempool *pool;
	struct t_step step;
	struct mp_end e;

	pool = join(c, is_primary, fd);
	if (is_primary == c->server_is_primary) {
		mp_server_open(&e, NULL);
	} else {
		mp_node_open(&e, 1, "role=host,func=pf0");
		e.client = t_client_new(e.node, e.dev, MP_NAME, &conf);
	}
	for (;;) {
		T_UNTIL(t_listen(fd, &step));
		if (step.code != 'N')
			break;
		connect_to_next(&e);
		outlive(&e, pool);
		t_settle();
		t_say(fd, 'A', check_pool(pool));
	}
	T_EQ(step.code, 'E');
	mp_close(&e);
	return 0;
}

static int
primary_survivor(int fd, void *arg)
{
	return survivor(fd, arg, true);
}

static int
secondary_survivor(int fd, void *arg)
{
	return survivor(fd, arg, false);
}

static uint32_t
board_phase(const struct board *b)
{
	return __atomic_load_n(&b->phase, __ATOMIC_ACQUIRE);
}

/* Kill the victim where it is wanted, at a random time. Returns where it was. */
static uint32_t
kill_in(struct t_proc *dies, const struct board *b, uint32_t want)
{
	unsigned int i, delay = (unsigned int)rand() % 2000;

	T_AWAIT(__atomic_load_n(&b->is_under_way, __ATOMIC_RELAXED) > 1000);
	for (i = 0; i < delay; i++)
		rte_pause();
	T_WAIT(rte_pause(), board_phase(b) == want);
	t_proc_kill(dies);
	return board_phase(b);
}

/* The primary is killed at last. */
static void
last_kill(struct t_proc *dies, struct kill_case *c, uint32_t want, uint32_t *killed)
{
	struct t_proc lives;
	uint64_t avail;

	memset(c->board, 0, sizeof(*c->board));
	t_proc_start(&lives, "secondary survivor", secondary_survivor, c);
	t_say(lives.fd, 'N', 0);
	killed[kill_in(dies, c->board, want)]++;
	avail = t_hear(lives.fd, 'A');
	T_GE(avail, NB_MBUFS - MP_BURST);
	t_say(lives.fd, 'E', 0);
	t_proc_join(&lives);
}

static void
kill_primary(struct kill_case *c, uint32_t want, uint32_t *killed)
{
	struct t_proc dies;

	mp_eal_new(&c->eal);
	t_proc_start(&dies, "primary victim", primary_victim, c);
	t_hear(dies.fd, 'R');
	last_kill(&dies, c, want, killed);
	mp_eal_remove(&c->eal);
}

static void
kill_secondaries(struct kill_case *c, unsigned int n, uint32_t *killed)
{
	uint64_t avail = NB_MBUFS, now;
	struct t_proc lives, dies;
	unsigned int i;

	mp_eal_new(&c->eal);
	t_proc_start(&lives, "primary survivor", primary_survivor, c);
	t_hear(lives.fd, 'R');
	for (i = 0; i < n; i++) {
		memset(c->board, 0, sizeof(*c->board));
		t_proc_start(&dies, "secondary victim", secondary_victim, c);
		t_say(lives.fd, 'N', 0);
		killed[kill_in(&dies, c->board, PHASE_ALLOC + i % (NB_PHASES - 1))]++;
		now = t_hear(lives.fd, 'A');
		T_LE(now, avail);
		T_GE(now, avail - MP_BURST);
		avail = now;
	}
	t_say(lives.fd, 'E', 0);
	t_proc_join(&lives);
	mp_eal_remove(&c->eal);
	printf("   %u mbufs of %u killed processes are lost\n", NB_MBUFS - (unsigned int)avail, n);
}

static void
kill_many(bool server_is_primary)
{
	struct kill_case c = { .server_is_primary = server_is_primary };
	const char *env = getenv("T_KILLS");
	const int total = env == NULL ? KILLS : RTE_MAX(atoi(env) / 2, KILLS);
	uint32_t killed[NB_PHASES] = { 0 };
	unsigned int i;
	int done;

	c.board = mmap(NULL, sizeof(*c.board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	T_CHECK(c.board != MAP_FAILED);
	/* A long run may take longer than other cases. */
	alarm(280 + 5 * (unsigned int)total);
	for (done = 0, i = 0; done < total; done += KILLS, i++) {
		kill_secondaries(&c, RTE_MIN(KILLS, total - done) - 1U, killed);
		kill_primary(&c, PHASE_ALLOC + i % (NB_PHASES - 1), killed);
	}
	for (i = 0; i < NB_PHASES; i++)
		printf("   %u killed in: %s\n", killed[i], phase_names[i]);
	munmap(c.board, sizeof(*c.board));
}

static void
server_in_primary(void)
{
	kill_many(true);
}

static void
client_in_primary(void)
{
	kill_many(false);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "server_in_primary", server_in_primary },
		{ "client_in_primary", client_in_primary },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
