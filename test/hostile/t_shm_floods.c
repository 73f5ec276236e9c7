/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Too much of everything: work, memory and patience of the victim are bounded. */

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
