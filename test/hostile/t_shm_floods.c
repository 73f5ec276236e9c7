/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Too much of everything: work, memory and patience of the victim are bounded. */

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/comch_poll.h"
#include "victim.h"

V_SUITE(floods);

/* A few runs, none of which may take long, while a thread attacks. */
static void
timed_runs(struct victim *v, struct v_thread *t, void (*fn)(void *arg), void *arg)
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
	timed_runs(&v, &t, put_credits, &a);
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

/* By many a call: one by one they come slower than they are read. */
static void
put_wakes(void *arg)
{
	static struct iovec iov = { .iov_base = (void *)(uintptr_t)"w", .iov_len = 1 };
	static struct mmsghdr msgs[256];
	static uint64_t end;
	struct raw_peer *a = arg;
	unsigned int i;

	if (end == 0)
		end = t_now_ms() + 6000;
	for (i = 0; i < RTE_DIM(msgs); i++)
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 };
	if (t_now_ms() < end)
		(void)sendmmsg(a->sock, msgs, RTE_DIM(msgs), MSG_NOSIGNAL);
}

/* A frame whose descriptors do not come, behind wake-ups without end. */
Test(floods, wakes_before_fds)
{
	const struct raw_send s = {
		.type = COMCH_WIRE_MSG, .lie = true, .say_len = 16, .say_fds = 1,
	};
	struct v_thread t, more[3];
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	v_connect(&v, &a);
	for (i = 0; i < 200; i++)
		raw_wake(&a);
	raw_send(&a, &s);
	/* Several: one is slower than who reads. */
	for (i = 0; i < RTE_DIM(more); i++)
		v_thread_start(&more[i], put_wakes, &a);
	timed_runs(&v, &t, put_wakes, &a);
	for (i = 0; i < RTE_DIM(more); i++)
		v_thread_stop(&more[i]);
	v_expect_hangup(&a);
	raw_close(&a);
	v_close(&v);
}

/* Many at once, all of whose sockets are full when the victim looks: still a short run. */
Test(floods, wakes_of_many)
{
	enum { NB = 16 };
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
	struct v_log log;
	struct victim v;
	struct raw_mem m;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_mem_new(&m, 65536, 0, 0);
	s.fds[0] = m.fd;
	v_log_begin(&log, RTE_LOG_WARNING);
	for (i = 0; i < 1000; i++) {
		raw_send_mr_add(&a, i % 16, 0, 65536, m.fd);
		T_LT(v_hear_status(&a, COMCH_WIRE_MR_ACK), 0);
	}
	v_expect_alive(&v, &a, conn);
	T_EQ(rte_comch_conn_stats_get(conn, &stats), 0);
	T_EQ(stats.refused, 1000);
	flood_until_down(&v, conn, &a, &s);
	v_log_end(&log);
	T_EQ(count_of(log.text, "refused"), 1);
	free(log.text);
	raw_mem_free(&m);
	raw_close(&a);
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

#define MAX_BUSY 16

/* Clients that always have messages of this size under way. */
struct busy {
	struct rte_comch_client *client[MAX_BUSY];
	struct rte_comch_conn *theirs[MAX_BUSY];
	struct rte_comch_conn *ours[MAX_BUSY];
	unsigned int nb;
	uint8_t *data;
	uint32_t len;
	uint16_t max;        /* events of a run of the server */
	bool answers;        /* the server answers each message */
	uintptr_t begin;     /* where the data of a run is */
	uintptr_t end;
};

static void
on_server_event(struct t_node *node, const struct rte_comch_event *ev)
{
	struct busy *b = node->hook_arg;

	if (ev->type != RTE_COMCH_EVENT_MSG)
		return;
	b->begin = RTE_MIN(b->begin, (uintptr_t)ev->msg.data);
	b->end = RTE_MAX(b->end, (uintptr_t)ev->msg.data + ev->msg.len);
	if (b->answers)
		t_offer(ev->conn, "answer", 6, 0, 0);
}

static void
busy_open(struct busy *b, struct victim *v)
{
	const struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf), .max_msg_size = b->len,
	};
	unsigned int i;

	b->data = calloc(1, b->len);
	T_CHECK(b->data != NULL);
	for (i = 0; i < b->nb; i++) {
		b->client[i] = t_client_new(v->p.host, v->p.host_dev, V_NAME, &conf);
		t_forget(v->p.dpu);
		T_EQ(rte_comch_client_start(b->client[i]), -EINPROGRESS);
		T_UNTIL(t_state_is(v->p.host, b->client[i], RTE_COMCH_STATE_RUNNING) &&
			t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
		b->theirs[i] = rte_comch_client_conn(b->client[i]);
		b->ours[i] = t_find(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	}
	v->p.dpu->hook = on_server_event;
	v->p.dpu->hook_arg = b;
}

static void
busy_close(struct busy *b, struct victim *v)
{
	unsigned int i;

	v->p.dpu->hook = NULL;
	for (i = 0; i < b->nb; i++)
		t_client_end(b->client[i]);
	free(b->data);
}

/* All clients send what they can, then the server runs once. */
static void
busy_run(struct busy *b, struct victim *v)
{
	unsigned int i;

	for (i = 0; i < b->nb; i++)
		while (t_offer(b->theirs[i], b->data, b->len, 0, RTE_COMCH_MSG_F_SILENT))
			;
	b->begin = UINTPTR_MAX;
	b->end = 0;
	t_step_max(v->p.dpu, b->max);
	/* All of it is in the arena. */
	if (b->end > b->begin)
		T_LE(b->end - b->begin, COMCH_POLL_ARENA);
	t_step(v->p.host);
	t_forget(v->p.host);
}

/* Each of the clients that are as busy gets as much. */
static void
equal_turns(struct busy *b, struct victim *v)
{
	unsigned int i, n, least = UINT_MAX, most = 0;

	t_forget(v->p.dpu);
	for (i = 0; i < 40 * MAX_BUSY; i++)
		busy_run(b, v);
	for (i = 0; i < b->nb; i++) {
		n = t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, b->ours[i]);
		least = RTE_MIN(least, n);
		most = RTE_MAX(most, n);
	}
	if (least == 0 || most > 2 * least)
		T_FAIL("%u to %u messages of each client", least, most);
}

/* So does one that was idle. */
static void
idle_is_heard(struct busy *b, struct victim *v)
{
	unsigned int i, heard = 0;

	t_forget(v->p.dpu);
	t_send(v->p.cconn, "help", 4, 1);
	for (i = 0; i < 100 && heard == 0; i++) {
		busy_run(b, v);
		heard = t_count(v->p.dpu, RTE_COMCH_EVENT_MSG, v->p.sconn);
	}
	if (heard == 0 || i > 10)
		T_FAIL("the idle client was heard in run %u", i);
}

static void
turns_of(unsigned int nb, uint32_t len, uint16_t max, bool answers)
{
	const struct t_pair_conf conf = {
		.dpu_args = ",max_msg_size=131072", .host_args = ",max_msg_size=131072",
		.server.max_msg_size = len,
	};
	struct busy b = { .nb = nb, .len = len, .max = max, .answers = answers };
	struct victim v;
	unsigned int i;

	v_open(&v, &conf);
	busy_open(&b, &v);
	for (i = 0; i < 500; i++)
		busy_run(&b, &v);
	equal_turns(&b, &v);
	idle_is_heard(&b, &v);
	busy_close(&b, &v);
	v_close(&v);
}

Test(floods, turns_of_small)
{
	turns_of(MAX_BUSY, 16, 32, false);
}

Test(floods, turns_of_large)
{
	turns_of(MAX_BUSY, 4080, 256, false);
}

/* Not a whole number of cache lines, of which the data of a run consists. */
Test(floods, turns_of_odd)
{
	turns_of(MAX_BUSY, 1000, 256, false);
	turns_of(MAX_BUSY, 4030, 256, false);
}

/* Two messages fill a run. */
Test(floods, turns_of_huge)
{
	turns_of(1, 131072 - 64, 32, false);
	turns_of(3, 131072 - 64, 32, false);
}

Test(floods, turns_in_small_runs)
{
	turns_of(MAX_BUSY, 16, 4, false);
}

/* The server's SENT events ask for another look at a client. */
Test(floods, turns_of_answered)
{
	turns_of(MAX_BUSY, 16, 32, true);
	turns_of(MAX_BUSY, 4080, 256, true);
}

/* A flood of one who does not read must not starve the others. */
Test(floods, starves_nobody)
{
	const struct raw_send s = { .type = COMCH_WIRE_MSG };
	struct raw_peer a;
	struct victim v;
	unsigned int i;
	bool got = false;

	v_open(&v, NULL);
	v_connect_cells(&v, &a, 4096);
	v_clog(&v, &a, 10);
	t_forget(v.p.dpu);
	while (raw_try(&a, &s))
		;
	t_send(v.p.cconn, "help", 4, 1);
	for (i = 0; i < 5000 && !got; i++) {
		while (raw_try(&a, &s))
			;
		t_step(v.p.dpu);
		got = t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, v.p.sconn) > 0;
		t_forget(v.p.dpu);
	}
	raw_close(&a);
	if (!got)
		T_FAIL("the honest client was not heard in %u runs", i);
	v_close(&v);
}

/* How much the victim allocates for a peer is not the peer's to say. */
Test(floods, staging_memory)
{
	struct t_pair_conf conf = { .dpu_args = ",max_import=67108864" };
	struct raw_cons c[8];
	struct raw_frame f;
	struct raw_peer a;
	struct victim v;
	uint64_t before;
	unsigned int i;

	v_open(&v, &conf);
	v_connect(&v, &a);
	before = t_mapped_kb();
	for (i = 0; i < RTE_DIM(c); i++) {
		raw_cons_new(&c[i], i + 1, 64, 64, 64 << 20);
		raw_cons_announce(&a, &c[i]);
		v_hear(&a, &f, COMCH_WIRE_CONSUMER_ACK);
		raw_frame_free(&f);
	}
	before = t_mapped_kb() - before;
	for (i = 0; i < RTE_DIM(c); i++)
		raw_cons_free(&c[i]);
	raw_close(&a);
	if (before > 256 * 1024)
		T_FAIL("a peer made the victim allocate %u MiB; max_import is 64",
				(unsigned int)(before / 1024));
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
