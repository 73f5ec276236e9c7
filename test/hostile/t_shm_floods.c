/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Too much of everything: work, memory and patience of the victim are bounded. */

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/comch_poll.h"
#include "ctrl/comch_conn.h"
#include "victim.h"

V_SUITE(floods);

/* Runs, none of which may go on for as long as a thread attacks. */
static void
runs_during(struct victim *v, struct v_thread *t, void (*fn)(void *arg), void *arg)
{
	uint64_t end;

	v_thread_start(t, fn, arg);
	end = t_now_ms() + 2000;
	while (t_now_ms() < end) {
		v_trip(v);
		t_forget(v->p.dpu);
	}
	v_thread_stop(t);
	v_check_runs(v);
}

/* CREDIT frames, prepared once: then only the sequence of each cell is written. */
static void
put_credits(void *arg)
{
	static const uint32_t frame[6] = { 16, 0, COMCH_WIRE_CREDIT };
	static uint64_t end, room;
	struct raw_peer *a = arg;
	struct shm_cell *cell;
	unsigned int i;

	/* No longer than the test may take, should the victim never come back. */
	if (end == 0)
		end = t_now_ms() + 6000;
	for (i = 0; i < 100000; i++) {
		if (a->tx_pos >= room && t_now_ms() < end)
			room = __atomic_load_n(&a->vic->rx_pos, __ATOMIC_ACQUIRE) + a->cells;
		if (a->tx_pos >= room)
			return;
		cell = &a->own->cell[a->tx_pos & (a->cells - 1)];
		if (a->tx_pos < 2 * a->cells)
			memcpy(cell->data, frame, sizeof(frame));
		__atomic_store_n(&cell->seq, ++a->tx_pos, __ATOMIC_RELEASE);
	}
}

/* Frames without an event, as fast as they are read: a run ends all the same. */
static void
flood_of_credits(uint32_t server_flags)
{
	const struct t_pair_conf conf = { .server.flags = server_flags };
	struct v_thread t;
	struct raw_peer a;
	struct victim v;

	v_open(&v, &conf);
	v_connect_cells(&v, &a, SHM_MAX_CELLS);
	runs_during(&v, &t, put_credits, &a);
	raw_close(&a);
	v_close(&v);
}

Test(floods, credits)
{
	flood_of_credits(0);
}

Test(floods, credits_ordered)
{
	flood_of_credits(RTE_COMCH_SERVER_F_ORDERED);
}

/* The attacker that sends a wake-up for each one that the victim reads. */
static struct raw_peer *endless;
static unsigned int nb_reads;

/* Instead of libc's: the library reads wake-ups by recv(). */
ssize_t
recv(int fd, void *buf, size_t len, int flags)
{
	nb_reads++;
	/* An end all the same, or a victim that goes on reading would never come back. */
	if (endless != NULL && nb_reads < 100000)
		raw_wake(endless);
	return recvfrom(fd, buf, len, flags, NULL, NULL);
}

/* The first run that reads them says that they are too many. */
static const char *
wakes_without_end(struct victim *v, struct raw_peer *a, const struct rte_comch_conn *conn,
		unsigned int max_reads)
{
	const struct t_ev *ev;
	unsigned int i;

	for (i = 0; i < 4; i++)
		raw_wake(a);
	nb_reads = 0;
	endless = a;
	ev = v_expect_down(v, conn);
	endless = NULL;
	T_EQ(ev->e.status, -EPROTO);
	T_GT(nb_reads, 4);
	T_LE(nb_reads, max_reads);
	v_expect_hangup(a);
	raw_close(a);
	return ev->text;
}

/* While the victim looks for the descriptors of a frame, and without one. */
Test(floods, wakes_before_fds)
{
	const struct raw_send s = {
		.type = COMCH_WIRE_MSG, .lie = true, .say_len = 16, .say_fds = 1,
	};
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	T_STR_HAS(wakes_without_end(&v, &a, conn, 32), "wake-ups");
	t_forget(v.p.dpu);
	conn = v_connect(&v, &a);
	raw_send(&a, &s);
	T_STR_HAS(wakes_without_end(&v, &a, conn, 32), "wake-ups");
	v_close(&v);
}

/* The victim has asked for many, of which none came so far. */
Test(floods, wakes_after_many_arms)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	for (i = 0; i < 2000; i++) {
		rte_comch_poll_arm(v.p.dpu->poll, RTE_COMCH_POLL_ANY);
		t_step(v.p.dpu);
	}
	T_STR_HAS(wakes_without_end(&v, &a, conn, 300), "wake-ups");
	v_close(&v);
}

static bool has_big_sockets;

/* Instead of libc's: as on a machine whose net.core.wmem_default is larger than Linux's. */
int
socketpair(int domain, int type, int protocol, int fds[2])
{
	const int size = 4 << 20;
	int i, ret = (int)syscall(SYS_socketpair, domain, type, protocol, fds);

	for (i = 0; ret == 0 && has_big_sockets && i < 2; i++)
		T_EQ(setsockopt(fds[i], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)), 0);
	return ret;
}

/* An honest peer wakes all producers, and the thread of one of them comes late. */
Test(floods, honest_wakes)
{
	struct rte_comch_producer_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_producer *late;
	struct t_node *node, *late_node;
	struct t_flow_conf fc = { 0 };
	struct rte_comch_cpl cpl;
	unsigned int i;
	struct t_flow f;
	struct victim v;

	has_big_sockets = true;
	v_open(&v, NULL);
	node = t_node_new();
	late_node = t_node_new();
	fc.prod.poll = node->poll;
	t_flow_open(&f, &v.p, &fc);
	conf.poll = late_node->poll;
	late = t_producer_new(f.prod_conn, &conf);
	t_settle();
	late_node->paused = true;
	for (i = 0; i < 1000; i++) {
		T_EQ(t_put(&f, 0, 8, i), 0);
		T_WAIT(t_step(node), rte_comch_poll_arm(node->poll, RTE_COMCH_POLL_TX) == 0);
		T_EQ(t_post(&f, 0, 8, i), 1);
		t_submit(&f, 0, 8, i);
		t_recv(f.cons, &cpl);
		t_done(f.prod, &cpl);
	}
	late_node->paused = false;
	t_settle();
	t_no_end(v.p.host, f.prod_conn);
	t_producer_end(late);
	t_flow_close(&f);
	t_node_free(late_node);
	t_node_free(node);
	v_close(&v);
	has_big_sockets = false;
}

/* Run until nb_ended connections have ended. Returns the most wake-ups that a run read. */
static unsigned int
most_reads(struct victim *v, unsigned int nb_ended)
{
	const uint64_t end = t_deadline();
	unsigned int most = 0;

	while (t_count(v->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) < nb_ended) {
		nb_reads = 0;
		v_run(v);
		most = RTE_MAX(most, nb_reads);
		T_LT(t_now_ms(), end);
	}
	return most;
}

/* Many at once, all of whose sockets are full when the victim looks: few are read in a run. */
Test(floods, wakes_of_many)
{
	enum { NB = 16, MAX_READS = 32 };
	const struct rte_comch_conn *conn[NB];
	struct raw_peer a[NB];
	struct victim v;
	unsigned int i, round;

	v_open(&v, NULL);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < NB; i++)
			conn[i] = v_connect(&v, &a[i]);
		for (i = 0; i < NB; i++)
			while (raw_sock_send(a[i].sock, "w", 1, NULL, 0) == 1)
				;
		T_LE(most_reads(&v, NB), NB * MAX_READS);
		v_trip(&v);
		for (i = 0; i < NB; i++)
			T_STR_HAS(v_expect_down(&v, conn[i])->text, "wake-ups");
		for (i = 0; i < NB; i++)
			raw_close(&a[i]);
		t_forget(v.p.dpu);
	}
	v_check_runs(&v);
	v_close(&v);
}

static unsigned int
count_of(const char *text, const char *part)
{
	unsigned int n = 0;

	for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
		n++;
	return n;
}

/* Frames that are refused, until the victim says that there are too many. */
static void
flood_until_down(struct victim *v, const struct rte_comch_conn *conn, struct raw_peer *a,
		const struct raw_send *s)
{
	/* Even a slow machine forgives fewer meanwhile. */
	const uint64_t end = t_now_ms() + 20000;
	struct raw_frame f;
	unsigned int i;

	while (t_count(v->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 0 && t_now_ms() < end) {
		/* More than a run handles: some are deferred. */
		for (i = 0; i < 4; i++)
			raw_try(a, s);
		while (raw_recv(a, &f))
			raw_frame_free(&f);
		t_step(v->p.dpu);
	}
	T_STR_HAS(v_expect_down(v, conn)->text, "refused");
}

/* Memory that is refused: some is an honest mistake, a flood is not, and no log is filled. */
Test(floods, refused_memory)
{
	uint8_t body[24] = { [17] = 16 }; /* 4096 bytes */
	struct raw_send s = { .type = COMCH_WIRE_MR_ADD, .body = body, .len = 24, .nb_fds = 1 };
	struct rte_comch_conn_stats stats;
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct t_log log;
	struct victim v;
	struct raw_mem m;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_mem_new(&m, 65536, 0, 0);
	s.fds[0] = m.fd;
	t_log_begin_at(&log, RTE_LOG_WARNING);
	for (i = 0; i < 1000; i++) {
		raw_send_mr_add(&a, i % 16, 0, 65536, m.fd);
		T_LT(v_hear_status(&a, COMCH_WIRE_MR_ACK), 0);
	}
	v_expect_alive(&v, &a, conn);
	T_EQ(rte_comch_conn_stats_get(conn, &stats), 0);
	T_EQ(stats.refused, 1000);
	flood_until_down(&v, conn, &a, &s);
	t_log_stop(&log);
	/* The first one, and the end. */
	T_EQ(count_of(log.text, "refused"), 2);
	free(log.text);
	raw_mem_free(&m);
	raw_close(&a);
	v_close(&v);
}

/* A peer that comes again for each violation does not fill the log either. */
Test(floods, reconnecting)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	struct t_log log;
	unsigned int i, nb;
	uint64_t begin;

	v_open(&v, NULL);
	t_log_begin_at(&log, RTE_LOG_WARNING);
	begin = t_now_ms();
	for (i = 0; i < 100; i++) {
		conn = v_connect(&v, &a);
		raw_send_id(&a, COMCH_WIRE_CONSUMER_GONE, 1);
		v_expect_end(&v, conn);
		raw_close(&a);
	}
	t_log_stop(&log);
	nb = count_of(log.text, "connection ");
	T_GE(nb, 1);
	/* One a second. */
	T_LE(nb, (t_now_ms() - begin) / 1000 + 1);
	free(log.text);
	v_close(&v);
}

/*
 * Consumers that are refused in a later run than they came in: the descriptors of the one
 * that ends the connection are closed once, not those that got their numbers since.
 */
Test(floods, refused_consumers)
{
	const uint32_t body[4] = { 1, 1024, 0, 64u << 20 }; /* staging over max_staging */
	struct raw_send s = {
		.type = COMCH_WIRE_CONSUMER_NEW, .body = body, .len = sizeof(body), .nb_fds = 2,
	};
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct raw_cons c;
	struct victim v;
	unsigned int i;
	int fds[64][2];
	uint64_t end;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_cons_new(&c, 1, 1024, 1024, 64u << 20);
	s.fds[0] = c.post.fd;
	s.fds[1] = c.wake[1];
	flood_until_down(&v, conn, &a, &s);
	for (i = 0; i < RTE_DIM(fds); i++)
		T_EQ(pipe(fds[i]), 0);
	end = t_now_ms() + 100;
	while (t_now_ms() < end)
		t_step(v.p.dpu);
	for (i = 0; i < 2 * RTE_DIM(fds); i++)
		T_EQ(close(fds[i / 2][i % 2]), 0);
	raw_cons_free(&c);
	raw_close(&a);
	v_close(&v);
}

#define NB_FLOODERS 8

/* As many frames as fit into each flooder's ring. */
static void
refill(struct raw_peer *a, const struct raw_send *s, unsigned int *left)
{
	unsigned int i;

	for (i = 0; i < NB_FLOODERS; i++)
		while (left[i] > 0 && raw_try(&a[i], s))
			left[i]--;
}

/* Read by one run of the victim, the frames of one flooder at most. */
static uint64_t
run_and_count(struct victim *v, struct raw_peer *a)
{
	uint64_t before[NB_FLOODERS], most = 0;
	unsigned int i;

	for (i = 0; i < NB_FLOODERS; i++)
		before[i] = a[i].vic->rx_pos;
	t_step(v->p.dpu);
	for (i = 0; i < NB_FLOODERS; i++)
		most = RTE_MAX(most, a[i].vic->rx_pos - before[i]);
	return most;
}

/*
 * The rings of several are full whenever the victim looks: it reads them, but no more of one
 * than it may in a run, and hears the honest client each time.
 */
static void
flooders(const struct raw_send *s, unsigned int nb_frames, uint64_t most_of_one)
{
	const struct t_pair_conf conf = {
		.server.recv_queue = s->type == COMCH_WIRE_MSG ? nb_frames : 0,
	};
	unsigned int left[NB_FLOODERS], i, k, longest = 0;
	struct raw_peer a[NB_FLOODERS];
	struct victim v;
	uint64_t most = 0, n;

	v_open(&v, &conf);
	for (i = 0; i < NB_FLOODERS; i++) {
		v_connect_cells(&v, &a[i], 4096);
		left[i] = nb_frames;
	}
	for (i = 0; i < 100; i++) {
		t_forget(v.p.dpu);
		t_send(v.p.cconn, "help", 4, 1);
		for (k = 0; t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, v.p.sconn) == 0; k++) {
			refill(a, s, left);
			n = run_and_count(&v, a);
			most = RTE_MAX(most, n);
			/* If frames were missing, nothing was flooded. */
			T_GT(left[0], 0);
			T_LT(k, 10);
		}
		longest = RTE_MAX(longest, k);
		t_step(v.p.host);
		t_forget(v.p.host);
	}
	fprintf(stderr, "heard within %u runs; up to %u frames of a flooder in a run\n", longest,
		(unsigned int)most);
	T_GT(most, 0);
	T_LE(most, most_of_one);
	for (i = 0; i < NB_FLOODERS; i++)
		raw_close(&a[i]);
	v_close(&v);
}

/* Each is an event, for which a run has room, and is shared. */
Test(floods, starves_nobody)
{
	flooders(&(struct raw_send){ .type = COMCH_WIRE_MSG }, 60000, T_BURST);
}

/* None is an event. */
Test(floods, starves_nobody_by_credits)
{
	flooders(&(struct raw_send){ .type = COMCH_WIRE_CREDIT }, 2000000, COMCH_RX_BURST);
}

/* How much the victim allocates for a peer is not the peer's to say. */
Test(floods, staging_memory)
{
	struct t_pair_conf conf = { .dpu_args = ",max_import=67108864" };
	struct raw_cons c[8];
	struct raw_frame f;
	struct raw_peer a;
	struct victim v;
	uint64_t before, after;
	unsigned int i;

	v_open(&v, &conf);
	v_connect(&v, &a);
	before = t_shared_kb();
	for (i = 0; i < RTE_DIM(c); i++) {
		raw_cons_new(&c[i], i + 1, 64, 64, 64 << 20);
		raw_cons_announce(&a, &c[i]);
		v_hear(&a, &f, COMCH_WIRE_CONSUMER_ACK);
		raw_frame_free(&f);
	}
	after = t_shared_kb();
	for (i = 0; i < RTE_DIM(c); i++)
		raw_cons_free(&c[i]);
	raw_close(&a);
	/* Something else may have been unmapped meanwhile. */
	if (after > before + 256 * 1024)
		T_FAIL("a peer made the victim allocate %u MiB; max_import is 64",
				(unsigned int)((after - before) / 1024));
	v_close(&v);
}

/* Consumers that come and go. */
Test(floods, consumers)
{
	struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_cons c;
	struct raw_peer a;
	struct victim v;
	uint32_t id;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_cons_new(&c, 1, 64, 64, 4096);
	for (id = 1; id <= 1000; id++) {
		c.id = id;
		raw_cons_announce(&a, &c);
		v_hear(&a, &f, COMCH_WIRE_CONSUMER_ACK);
		raw_frame_free(&f);
		raw_send_id(&a, COMCH_WIRE_CONSUMER_GONE, id);
		t_step_all();
	}
	v_expect_alive(&v, &a, conn);
	raw_send_id(&a, COMCH_WIRE_CONSUMER_GONE, 5);
	v_expect_end(&v, conn);
	raw_cons_free(&c);
	raw_close(&a);
	v_close(&v);
}
