/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Rings that grow when they are full, and peers that lie about theirs. */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(grow);

#define BIG 4080u
/* Messages of BIG bytes that a ring holds, at least, once it has grown. */
#define NB_BIG 48u
/* And before. */
#define NB_BIG_SMALL 3u
#define NEW_LEN (SHM_GROWN_CELLS * sizeof(struct shm_cell))

/* Mappings of larger rings in this process, and what they have of pages. */
struct rings {
	unsigned int nb;
	unsigned int kib;
};

static struct rings
rings_now(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	struct rings r = { 0 };
	bool is_one = false;
	char line[512], perms[8];
	unsigned int kib;

	T_CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%*x-%*x %4s", perms) == 1) {
			is_one = strstr(line, "memfd:comch_ring") != NULL;
			r.nb += is_one;
		} else if (is_one && sscanf(line, "Rss: %u", &kib) == 1) {
			r.kib += kib;
		}
	}
	fclose(f);
	return r;
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

/* A pair whose ends have mapped each other's larger ring: they have since they are connected. */
static void
open_pair(struct t_pair *p, const struct t_pair_conf *conf)
{
	t_pair_open(p, conf);
	T_EQ(rings_now().nb, 4);
}

/* The peer does not run. The sender runs once, and has the room then. */
static void
room(bool to_host, uint32_t server_flags)
{
	const struct t_pair_conf conf = { .server.flags = server_flags };
	struct rte_comch_conn *conn;
	struct t_node *from, *to;
	uint64_t seed = 0;
	struct t_pair p;
	unsigned int i;

	open_pair(&p, &conf);
	conn = to_host ? p.sconn : p.cconn;
	from = to_host ? p.dpu : p.host;
	to = to_host ? p.host : p.dpu;
	T_EQ(rings_now().kib, 0);
	fill(conn, BIG, &seed);
	t_step(from);
	T_GE(rings_now().kib, NEW_LEN / 1024);
	fill(conn, BIG, &seed);
	T_GE(seed, NB_BIG);
	/* Round the new ring some times, with what is left of the old one to read first. */
	for (i = 0; i < 5; i++) {
		t_step_all();
		t_step_all();
		fill(conn, BIG, &seed);
	}
	check_all(to, BIG, seed);
	t_pair_close(&p);
	T_EQ(rings_now().nb, 0);
}

Test(grow, room_for_big_messages)
{
	room(false, 0);
	room(true, 0);
	room(false, RTE_COMCH_SERVER_F_ORDERED);
}

/* The queues are full before the ring is: its pages are never needed. */
Test(grow, not_for_small_messages)
{
	uint64_t seed = 0;
	struct t_pair p;
	unsigned int i;

	open_pair(&p, NULL);
	for (i = 0; i < 100; i++) {
		T_EQ(fill(p.cconn, 64, &seed), 64);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, NULL) == seed);
		t_settle();
	}
	T_EQ(rings_now().kib, 0);
	t_pair_close(&p);
}

/* Small queues need none, nor do short messages. */
Test(grow, not_offered)
{
	const struct t_pair_conf few = {
		.server = { .recv_queue = 3, .send_queue = 3 },
		.client = { .recv_queue = 3, .send_queue = 3 },
	}, shorter = {
		.server.max_msg_size = 128, .client.max_msg_size = 128,
	}, agreed = {
		.server.max_msg_size = 128,
	};
	struct t_pair p;

	t_pair_open(&p, &few);
	t_settle();
	T_EQ(rings_now().nb, 0);
	t_pair_close(&p);
	t_pair_open(&p, &shorter);
	t_settle();
	T_EQ(rings_now().nb, 0);
	t_pair_close(&p);
	/* The client does not know yet. */
	t_pair_open(&p, &agreed);
	t_settle();
	T_EQ(rings_now().nb, 2);
	T_EQ(rings_now().kib, 0);
	t_pair_close(&p);
}

/* A link with these flags in the peer's hello. */
static void
link_with(struct raw_peer *a, uint32_t link_flags)
{
	raw_prepare(a, v_dial(), RAW_CELLS);
	a->link_flags = link_flags;
	raw_hello(a);
	T_UNTIL(raw_is_up(a));
}

/* A connection over it. */
static struct rte_comch_conn *
connect_over(struct victim *v, struct raw_peer *a)
{
	unsigned int before = t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL);

	raw_send_hello(a, V_NAME, BIG, 64);
	T_UNTIL(t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) > before);
	return t_find(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, before)->e.conn;
}

static struct rte_comch_conn *
connect_with(struct victim *v, struct raw_peer *a, uint32_t link_flags)
{
	link_with(a, link_flags);
	return connect_over(v, a);
}

/* What the victim sends to a peer that knows of larger rings, or does not. */
static void
sent_to(uint32_t link_flags, bool maps, uint32_t least, uint32_t most)
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
	if (maps)
		T_UNTIL(raw_has_ring(&a));
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
	T_CHECK((a.vic_cell == a.vic_grown) == maps);
	v_expect_alive(&v, &a, conn);
	raw_close(&a);
	v_close(&v);
}

Test(grow, peers_that_know_nothing_of_it)
{
	sent_to(0, false, NB_BIG_SMALL, NB_BIG_SMALL);
	sent_to(SHM_HELLO_F_GROWS, false, NB_BIG_SMALL, NB_BIG_SMALL);
	sent_to(SHM_HELLO_F_GROWS, true, NB_BIG, 64);
}

/* It says that it has mapped what it was never offered. */
Test(grow, claims_a_ring)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct raw_frame f;
	uint64_t seed = 0;
	struct victim v;
	uint32_t i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, 0);
	v_hear(&a, &f, COMCH_WIRE_ACCEPT);
	a.own->has_ring = SHM_HAS_RING;
	for (i = 0; i < 3; i++) {
		fill(conn, BIG, &seed);
		t_steps(v.p.dpu, 3);
	}
	T_EQ(seed, NB_BIG_SMALL);
	for (i = 0; i < seed; i++)
		v_hear(&a, &f, COMCH_WIRE_MSG);
	v_expect_alive(&v, &a, conn);
	raw_close(&a);
	v_close(&v);
}

/* How an attacker makes its ring larger. */
struct growth {
	uint32_t link_flags;
	size_t file_len;
	unsigned int seals;
	unsigned int nb_offers;
	uint32_t nb_fds;        /* in each */
	unsigned int nb_frames;
	uint32_t frame_len;     /* in their prefixes */
};

static const struct growth good = {
	.link_flags = SHM_HELLO_F_GROWS, .file_len = NEW_LEN, .seals = RAW_SEALS,
	.nb_offers = 1, .nb_fds = 1, .nb_frames = 1, .frame_len = SHM_RING_FRAME,
};

static void
offer(struct raw_peer *a, const struct growth *g, struct raw_mem *m)
{
	int fds[RTE_COMCH_FRAME_FDS];
	unsigned int i;

	raw_mem_new(m, g->file_len, MFD_ALLOW_SEALING, g->seals);
	for (i = 0; i < g->nb_fds; i++)
		fds[i] = m->fd;
	for (i = 0; i < g->nb_offers; i++)
		T_EQ(raw_sock_send(a->sock, &(char){ SHM_SOCK_RING }, 1, fds, g->nb_fds), 1);
}

/* The cells behind this frame are in the new ring. */
static void
grow(struct raw_peer *a, const struct growth *g, const struct raw_mem *m)
{
	const struct {
		struct shm_frame_prefix prefix;
		uint8_t zero[SHM_RING_FRAME];
	} bytes = {
		.prefix = { .len = g->frame_len, .nb_fds = SHM_PREFIX_RING },
	};

	raw_put(a, &bytes, sizeof(bytes));
	a->own_cell = m->addr;
	a->cells = SHM_GROWN_CELLS;
}

static bool
victim_has_ring(const struct raw_peer *a)
{
	return __atomic_load_n(&a->vic->has_ring, __ATOMIC_RELAXED) == SHM_HAS_RING;
}

/* Go round the new ring twice. */
static void
go_round(struct victim *v, struct raw_peer *a, const struct rte_comch_conn *conn)
{
	const unsigned int before = t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, conn);
	uint32_t i;

	for (i = 0; i < 2 * SHM_GROWN_CELLS; i++) {
		raw_send_msg(a, &i, sizeof(i));
		if (i % 32 == 31)
			t_step_all();
	}
	T_UNTIL(t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, conn) == before + 2 * SHM_GROWN_CELLS);
	for (i = 0; i < 2 * SHM_GROWN_CELLS; i++)
		T_EQ(memcmp(t_find(v->p.dpu, RTE_COMCH_EVENT_MSG, conn, before + i)->data, &i,
			sizeof(i)), 0);
}

/* One that keeps to the rules. */
Test(grow, ring_of_a_peer)
{
	struct rte_comch_conn *conn;
	struct raw_mem m;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, SHM_HELLO_F_GROWS);
	raw_send_msg(&a, "before", 6);
	offer(&a, &good, &m);
	T_UNTIL(victim_has_ring(&a));
	grow(&a, &good, &m);
	go_round(&v, &a, conn);
	raw_close(&a);
	raw_mem_free(&m);
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 1);
	v_close(&v);
}

/* As the library does it: before HELLO. It may also use the ring from then on. */
Test(grow, ring_before_hello)
{
	struct rte_comch_conn *conn;
	struct raw_mem m;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	for (i = 0; i < 2; i++) {
		link_with(&a, SHM_HELLO_F_GROWS);
		offer(&a, &good, &m);
		if (i == 0) {
			conn = connect_over(&v, &a);
			T_CHECK(victim_has_ring(&a));
			grow(&a, &good, &m);
		} else {
			T_UNTIL(victim_has_ring(&a));
			grow(&a, &good, &m);
			conn = connect_over(&v, &a);
		}
		go_round(&v, &a, conn);
		raw_close(&a);
		raw_mem_free(&m);
		T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 1);
	}
	v_close(&v);
}

/* Frames before the victim has the ring, or another number of them than one. */
static void
lie(const struct growth *g, bool waits)
{
	struct rte_comch_conn *conn;
	struct raw_mem m;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, g->link_flags);
	offer(&a, g, &m);
	if (waits)
		T_UNTIL(victim_has_ring(&a) ||
			t_count(v.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) > 0);
	for (i = 0; i < g->nb_frames; i++)
		grow(&a, g, &m);
	v_expect_end(&v, conn);
	T_EQ(t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, conn), 0);
	raw_close(&a);
	raw_mem_free(&m);
	v_close(&v);
}

#define LIE(name, field, value) \
	Test(grow, name) \
	{ \
		struct growth g_ = good; \
		g_.field = value; \
		lie(&g_, g_.nb_offers > 0); \
	}

LIE(not_agreed, link_flags, 0)
LIE(offered_twice, nb_offers, 2)
LIE(never_offered, nb_offers, 0)
LIE(more_files, nb_fds, 2)
LIE(grows_twice, nb_frames, 2)
LIE(short_file, file_len, NEW_LEN / 2)
LIE(long_file, file_len, NEW_LEN * 2)
LIE(not_sealed, seals, F_SEAL_SEAL)
LIE(may_shrink, seals, RAW_SEALS & ~F_SEAL_SHRINK)
LIE(long_frame, frame_len, SHM_RING_FRAME + 1)
LIE(short_frame, frame_len, 0)

/* The same before HELLO: the handshake ends. */
static void
lie_before_hello(struct victim *v, const struct growth *g)
{
	struct raw_mem m;
	struct raw_peer a;
	unsigned int i;

	link_with(&a, g->link_flags);
	offer(&a, g, &m);
	for (i = 0; g->nb_offers == 0 && i < g->nb_frames; i++)
		grow(&a, g, &m);
	v_expect_hangup(&a);
	raw_close(&a);
	raw_mem_free(&m);
	v_check(v);
}

Test(grow, lies_before_hello)
{
	struct growth lies[] = { good, good, good, good, good, good };
	struct victim v;
	unsigned int i;

	lies[0].link_flags = 0;
	lies[1].nb_offers = 2;
	lies[2].nb_offers = 0;
	lies[3].nb_fds = 2;
	lies[4].file_len = NEW_LEN / 2;
	lies[5].seals = F_SEAL_SEAL;
	v_open(&v, NULL);
	for (i = 0; i < RTE_DIM(lies); i++)
		lie_before_hello(&v, &lies[i]);
	T_EQ(rings_now().nb, 4);
	v_close(&v);
}

/* A file of another kind, which the victim must not be made to wait for. */
Test(grow, no_memory_file)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	int fds[2];

	v_open(&v, NULL);
	conn = connect_with(&v, &a, SHM_HELLO_F_GROWS);
	T_EQ(pipe(fds), 0);
	raw_sock_send(a.sock, &(char){ SHM_SOCK_RING }, 1, fds, 1);
	v_expect_end(&v, conn);
	close(fds[0]);
	close(fds[1]);
	raw_close(&a);
	v_close(&v);
}

/* Its pages are missing: the victim allocates them, within the peer's share. */
Test(grow, ring_without_pages)
{
	struct rte_comch_conn *conn;
	struct stat st;
	struct raw_mem m;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, SHM_HELLO_F_GROWS);
	offer(&a, &(struct growth){ .file_len = NEW_LEN }, &m);
	T_EQ(fallocate(m.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, NEW_LEN), 0);
	T_EQ(fcntl(m.fd, F_ADD_SEALS, RAW_SEALS), 0);
	raw_sock_send(a.sock, &(char){ SHM_SOCK_RING }, 1, &m.fd, 1);
	T_UNTIL(victim_has_ring(&a));
	T_EQ(fstat(m.fd, &st), 0);
	T_EQ(st.st_blocks, 0);
	grow(&a, &good, &m);
	/* All of them are there before the first one is needed. */
	v_expect_alive(&v, &a, conn);
	T_EQ(fstat(m.fd, &st), 0);
	T_EQ(st.st_blocks * 512, NEW_LEN);
	raw_close(&a);
	raw_mem_free(&m);
	v_close(&v);
}
