/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Rings that grow when they are full, and peers that lie about theirs. */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(grow);

#define BIG 4080u
/* Messages of BIG bytes that a ring holds, at least, once it has grown. */
#define NB_BIG 48u
/* And before. */
#define NB_BIG_SMALL 3u
#define NEW_LEN (SHM_GROWN_CELLS * sizeof(struct shm_cell))

/* Mappings of larger rings in this process. */
static unsigned int
nb_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int n = 0;
	char line[512];

	T_CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, "memfd:comch_ring") != NULL;
	fclose(f);
	return n;
}

/* Offer messages of len bytes until one is not taken; *seed counts them. */
static uint32_t
fill(struct rte_comch_conn *conn, uint32_t len, uint64_t *seed)
{
	uint8_t buf[BIG];
	uint32_t n = 0;

	for (;; n++, (*seed)++) {
		t_fill(buf, len, *seed);
		if (!t_offer(conn, buf, len, *seed, 0))
			return n;
	}
}

/* All messages of one end have come, whole and in order. */
static void
check_all(const struct t_node *node, uint32_t len, uint64_t nb)
{
	const struct t_ev *ev;
	uint64_t i;

	T_UNTIL(t_count(node, RTE_COMCH_EVENT_MSG, NULL) == nb);
	for (i = 0; i < nb; i++) {
		ev = t_find(node, RTE_COMCH_EVENT_MSG, NULL, (unsigned int)i);
		T_EQ(ev->len, len);
		T_VERIFY(ev->data, len, i);
	}
}

/* The peer does not run. The sender runs once, and has the room then. */
static void
room(bool to_host, uint32_t len, uint32_t least)
{
	struct t_node *from, *to;
	uint64_t seed = 0;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	from = to_host ? p.dpu : p.host;
	to = to_host ? p.host : p.dpu;
	t_settle();
	t_forget(to);
	fill(to_host ? p.sconn : p.cconn, len, &seed);
	t_step(from);
	fill(to_host ? p.sconn : p.cconn, len, &seed);
	T_GE(seed, least);
	/* Round the new ring some times, with what is left of the old one to read first. */
	for (i = 0; i < 5; i++) {
		t_step_all();
		t_step_all();
		fill(to_host ? p.sconn : p.cconn, len, &seed);
	}
	check_all(to, len, seed);
	t_pair_close(&p);
	T_EQ(nb_rings(), 0);
}

Test(grow, room_for_big_messages)
{
	room(false, BIG, NB_BIG);
	room(true, BIG, NB_BIG);
}

/* The queues are full before the ring is: it stays as it is. */
Test(grow, not_for_small_messages)
{
	uint64_t seed = 0;
	struct t_pair p;

	t_pair_open(&p, NULL);
	T_EQ(fill(p.cconn, 64, &seed), 64);
	t_settle();
	T_EQ(nb_rings(), 0);
	fill(p.cconn, BIG, &seed);
	t_settle();
	/* Both ends have it. */
	T_EQ(nb_rings(), 2);
	t_pair_close(&p);
	T_EQ(nb_rings(), 0);
}

/* A link with these flags in the peer's hello, and a connection over it. */
static struct rte_comch_conn *
connect_with(struct victim *v, struct raw_peer *a, uint32_t link_flags)
{
	unsigned int before = t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL);

	raw_prepare(a, v_dial(), RAW_CELLS);
	a->link_flags = link_flags;
	raw_hello(a);
	T_UNTIL(raw_is_up(a));
	raw_send_hello(a, V_NAME, BIG, 64);
	T_UNTIL(t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) > before);
	return t_find(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, before)->e.conn;
}

/* What the victim sends to a peer that knows of larger rings, or does not. */
static void
sent_to(uint32_t link_flags, uint32_t least, uint32_t most)
{
	struct rte_comch_conn *conn;
	uint8_t want[BIG];
	struct raw_frame f;
	struct raw_peer a;
	uint64_t seed = 0;
	struct victim v;
	uint32_t i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, link_flags);
	v_hear(&a, &f, COMCH_WIRE_ACCEPT);
	for (i = 0; i < 3; i++) {
		fill(conn, BIG, &seed);
		t_steps(v.p.dpu, 3);
	}
	T_GE(seed, least);
	T_LE(seed, most);
	for (i = 0; i < seed; i++) {
		v_hear(&a, &f, COMCH_WIRE_MSG);
		t_fill(want, BIG, i);
		T_EQ(f.len, BIG);
		T_EQ(memcmp(f.body, want, BIG), 0);
	}
	T_CHECK((a.vic_grown != NULL) == (most > NB_BIG_SMALL));
	v_expect_alive(&v, &a, conn);
	raw_close(&a);
	v_close(&v);
}

Test(grow, peers_that_know_nothing_of_it)
{
	sent_to(0, NB_BIG_SMALL, NB_BIG_SMALL);
	sent_to(SHM_HELLO_F_GROWS, NB_BIG, 64);
}

/* How an attacker makes its ring larger. */
struct growth {
	uint32_t link_flags;
	uint32_t cells;      /* that the frame says */
	size_t file_len;
	unsigned int seals;
	uint32_t frame_len;  /* in the prefix */
	uint32_t nb_fds;
};

static const struct growth good = {
	.link_flags = SHM_HELLO_F_GROWS, .cells = SHM_GROWN_CELLS, .file_len = NEW_LEN,
	.seals = RAW_SEALS, .frame_len = sizeof(struct shm_ring_frame), .nb_fds = 1,
};

static void
grow(struct raw_peer *a, const struct growth *g, struct raw_mem *m)
{
	const struct {
		struct shm_frame_prefix prefix;
		struct shm_ring_frame frame;
	} bytes = {
		.prefix = { .len = g->frame_len, .nb_fds = SHM_PREFIX_RING },
		.frame = { .cells = g->cells },
	};
	int fds[RTE_COMCH_FRAME_FDS];
	uint32_t i;

	raw_mem_new(m, g->file_len, MFD_ALLOW_SEALING, g->seals);
	for (i = 0; i < g->nb_fds; i++)
		fds[i] = m->fd;
	if (g->nb_fds > 0)
		T_EQ(raw_sock_send(a->sock, "f", 1, fds, g->nb_fds), 1);
	raw_put(a, &bytes, sizeof(bytes));
}

static void
use(struct raw_peer *a, const struct raw_mem *m)
{
	a->own_cell = m->addr;
	a->cells = SHM_GROWN_CELLS;
}

/* One that keeps to the rules, and goes round its new ring. */
Test(grow, ring_of_a_peer)
{
	struct rte_comch_conn *conn;
	struct raw_mem m;
	struct raw_peer a;
	struct victim v;
	uint32_t i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, SHM_HELLO_F_GROWS);
	raw_send_msg(&a, "before", 6);
	grow(&a, &good, &m);
	use(&a, &m);
	for (i = 0; i < 2 * SHM_GROWN_CELLS; i++) {
		raw_send_msg(&a, &i, sizeof(i));
		if (i % 32 == 31)
			t_step_all();
	}
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, conn) == 1 + 2 * SHM_GROWN_CELLS);
	for (i = 0; i < 2 * SHM_GROWN_CELLS; i++)
		T_EQ(memcmp(t_find(v.p.dpu, RTE_COMCH_EVENT_MSG, conn, 1 + i)->data, &i,
			sizeof(i)), 0);
	raw_close(&a);
	raw_mem_free(&m);
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 1);
	v_close(&v);
}

static void
lie(const struct growth *g, unsigned int times)
{
	struct rte_comch_conn *conn;
	struct raw_mem m[2];
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, g->link_flags);
	for (i = 0; i < times; i++) {
		grow(&a, g, &m[i]);
		use(&a, &m[i]);
	}
	raw_send_msg(&a, "x", 1);
	v_expect_end(&v, conn);
	T_EQ(t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, conn), 0);
	raw_close(&a);
	while (i > 0)
		raw_mem_free(&m[--i]);
	v_close(&v);
}

#define LIE(name, times, field, value) \
	Test(grow, name) \
	{ \
		struct growth g_ = good; \
		g_.field = value; \
		lie(&g_, times); \
	}

LIE(not_agreed, 1, link_flags, 0)
LIE(twice, 2, cells, SHM_GROWN_CELLS)
LIE(no_cells, 1, cells, 0)
LIE(smaller, 1, cells, SHM_MIN_CELLS)
LIE(as_small_as_before, 1, cells, RAW_CELLS)
LIE(larger_than_any, 1, cells, 2 * SHM_GROWN_CELLS)
LIE(no_power_of_2, 1, cells, SHM_GROWN_CELLS - 1)
LIE(short_file, 1, file_len, NEW_LEN / 2)
LIE(long_file, 1, file_len, NEW_LEN * 2)
LIE(not_sealed, 1, seals, F_SEAL_SEAL)
LIE(may_shrink, 1, seals, RAW_SEALS & ~F_SEAL_SHRINK)
LIE(long_frame, 1, frame_len, sizeof(struct shm_ring_frame) + 1)
LIE(short_frame, 1, frame_len, 0)
LIE(no_descriptor, 1, nb_fds, 0)
