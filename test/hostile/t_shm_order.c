/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Clients of an ordered server that lie about their clocks. */

#include <unistd.h>

#include <rte_cycles.h>

#include "victim.h"

V_SUITE(order);

#define QUEUE 4

/* An ordered server with an honest client, and the attacker. */
struct scene {
	struct t_pair p;
	struct raw_peer a;
	struct rte_comch_conn *liar; /* the server's end */
	uint32_t sent;               /* by the attacker */
	uint32_t acked;              /* of them, as he was told */
};

static void
scene_open(struct scene *s, uint32_t queue)
{
	const struct t_pair_conf conf = {
		.name = V_NAME,
		.server = { .flags = RTE_COMCH_SERVER_F_ORDERED, .recv_queue = queue },
	};

	memset(s, 0, sizeof(*s));
	t_pair_open(&s->p, &conf);
	v_link(&s->a, RAW_CELLS);
	raw_send_hello(&s->a, V_NAME, 4080, 64);
	T_UNTIL(t_count(s->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	s->liar = t_find(s->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
}

static void
scene_close(struct scene *s)
{
	raw_close(&s->a);
	t_pair_close(&s->p);
}

static void
say_at(struct scene *s, uint64_t clock)
{
	uint64_t body[2] = { clock, s->sent };

	raw_send(&s->a, &(struct raw_send){
		.type = COMCH_WIRE_MSG_AT, .body = body, .len = sizeof(body),
	});
	s->sent++;
}

/* As much as he may, all with this clock. */
static void
say_all(struct scene *s, uint64_t clock, uint32_t queue)
{
	struct raw_frame f;

	while (raw_recv(&s->a, &f)) {
		s->acked = f.acked;
		raw_frame_free(&f);
	}
	while (s->sent - s->acked < queue)
		say_at(s, clock);
}

static unsigned int
heard(const struct scene *s, const struct rte_comch_conn *conn)
{
	return t_count(s->p.dpu, RTE_COMCH_EVENT_MSG, conn);
}

/* All of the liar's messages so far, in their order. */
static void
check_liar(const struct scene *s)
{
	const struct t_ev *ev;
	uint64_t i, number;

	for (i = 0; (ev = t_find(s->p.dpu, RTE_COMCH_EVENT_MSG, s->liar, i)) != NULL; i++) {
		T_EQ(ev->len, sizeof(number));
		memcpy(&number, ev->data, sizeof(number));
		T_EQ(number, i);
	}
}

/* A client with forged early stamps gets ahead by at most two queues. */
static void
always_first(uint64_t clock)
{
	const uint64_t end = t_deadline();
	unsigned int ahead = 0;
	struct scene s;

	scene_open(&s, QUEUE);
	while (heard(&s, s.liar) < 50) {
		say_all(&s, clock, QUEUE);
		t_step_max(s.p.dpu, 1);
		T_LT(t_now_ms(), end);
	}
	t_send(s.p.cconn, "honest", 6, 1);
	while (heard(&s, s.p.sconn) == 0) {
		say_all(&s, clock, QUEUE);
		ahead += t_step_max(s.p.dpu, 1);
		T_LE(ahead, 2 * QUEUE + 1);
	}
	check_liar(&s);
	scene_close(&s);
}

Test(order, clock_0)
{
	always_first(0);
}

Test(order, clock_of_connecting)
{
	always_first(rte_rdtsc());
}

/* A clock of the future is that of the receipt. */
Test(order, clock_of_the_future)
{
	struct scene s;
	unsigned int i;

	scene_open(&s, 64);
	for (i = 0; i < 20; i++) {
		say_at(&s, UINT64_MAX - i);
		/* Held from here on, or delivered. */
		t_step(s.p.dpu);
		/* Messages of one tick of the clock have no order. */
		usleep(10);
		t_send(s.p.cconn, "later", 5, i);
		T_UNTIL(heard(&s, s.p.sconn) == i + 1);
		T_EQ(heard(&s, s.liar), i + 1);
	}
	check_liar(&s);
	scene_close(&s);
}

/* Whatever the clocks of one are, its messages are in order; so are the others'. */
Test(order, clock_goes_back)
{
	static const uint64_t clocks[] = { UINT64_MAX, 0, 1, UINT64_MAX / 2, 2 };
	struct scene s;
	uint32_t i;

	scene_open(&s, 64);
	for (i = 0; i < 500; i++) {
		T_UNTIL(t_offer(s.p.cconn, &i, sizeof(i), i, RTE_COMCH_MSG_F_SILENT));
		if (i % 3 == 0)
			say_at(&s, clocks[i % RTE_DIM(clocks)]);
		if (i % 7 == 0)
			T_UNTIL(heard(&s, s.liar) == s.sent);
	}
	T_UNTIL(heard(&s, s.p.sconn) == 500 && heard(&s, s.liar) == s.sent);
	check_liar(&s);
	for (i = 0; i < 500; i++)
		T_EQ(memcmp(t_find(s.p.dpu, RTE_COMCH_EVENT_MSG, s.p.sconn, i)->data, &i,
			sizeof(i)), 0);
	scene_close(&s);
}

/* What a dead one had sent comes first, all of it. */
Test(order, dies)
{
	const struct t_ev *ev;
	struct scene s;
	unsigned int i;

	scene_open(&s, 64);
	for (i = 0; i < 20; i++)
		say_at(&s, i % 2 == 0 ? rte_rdtsc() : UINT64_MAX);
	raw_close(&s.a);
	T_UNTIL(t_count(s.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, s.liar) == 1);
	T_EQ(heard(&s, s.liar), 20);
	ev = t_find(s.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, s.liar, 0);
	T_GT(t_pos(s.p.dpu, ev), t_pos(s.p.dpu, t_find(s.p.dpu, RTE_COMCH_EVENT_MSG, s.liar, 19)));
	check_liar(&s);
	t_pair_close(&s.p);
}

static void
ends_it(const struct raw_send *what)
{
	const struct t_ev *ev;
	struct scene s;

	scene_open(&s, 64);
	say_at(&s, 0);
	raw_send(&s.a, what);
	T_UNTIL(t_count(s.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, s.liar) == 1);
	ev = t_find(s.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, s.liar, 0);
	T_EQ(ev->e.status, -EPROTO);
	T_EQ(heard(&s, s.liar), 1);
	scene_close(&s);
}

Test(order, no_clock)
{
	static const uint8_t body[4096 + 8];

	ends_it(&(struct raw_send){ .type = COMCH_WIRE_MSG, .body = body, .len = 16 });
	ends_it(&(struct raw_send){ .type = COMCH_WIRE_MSG_AT, .body = body, .len = 7 });
	ends_it(&(struct raw_send){ .type = COMCH_WIRE_MSG_AT });
	ends_it(&(struct raw_send){ .type = COMCH_WIRE_MSG_AT, .body = body, .len = 4080 + 9 });
}

/* One message more than there is room for. */
Test(order, without_credit)
{
	struct scene s;
	uint32_t i;

	scene_open(&s, QUEUE);
	/* All are due at once: no credit is given between two of them. */
	for (i = 0; i < QUEUE + 1; i++)
		say_at(&s, 0);
	T_UNTIL(t_count(s.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, s.liar) == 1);
	T_EQ(t_find(s.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, s.liar, 0)->e.status, -EPROTO);
	T_EQ(heard(&s, s.liar), QUEUE);
	scene_close(&s);
}

/* A client of 1.0 has no clocks to say. */
Test(order, hello_1_0)
{
	const struct t_pair_conf conf = {
		.name = V_NAME, .server.flags = RTE_COMCH_SERVER_F_ORDERED,
	};
	uint8_t body[18 + sizeof(V_NAME) - 1];
	const uint32_t words[] = { COMCH_WIRE_MAGIC, 1, 4080, 64 };
	const uint16_t len = sizeof(V_NAME) - 1;
	struct raw_frame f;
	struct raw_peer a;
	struct t_pair p;

	t_pair_open(&p, &conf);
	v_link(&a, RAW_CELLS);
	memcpy(body, words, sizeof(words));
	memcpy(body + 16, &len, sizeof(len));
	memcpy(body + 18, V_NAME, len);
	raw_send(&a, &(struct raw_send){
		.type = COMCH_WIRE_HELLO, .body = body, .len = sizeof(body),
	});
	v_hear(&a, &f, COMCH_WIRE_REJECT);
	raw_close(&a);
	t_pair_close(&p);
}
