/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A server that falls silent, closes, floods, or writes wild positions, at each step. */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctrl/comch_conn.h"
#include "liar.h"
#include "lies.h"

TestSuite(steps, .init = v_start, .fini = v_stop);

#define NB_STEPS 5

static void (*const go[NB_STEPS])(struct liar *l) = {
	liar_connect, liar_link, liar_up, liar_shown, liar_offered,
};

/* Nothing more comes: within the handshake for ten seconds, later for as long as it likes. */
Test(steps, silence)
{
	struct rte_comch_client *client[2];
	struct raw_peer a[2];
	struct liar l;
	unsigned int i;

	liar_begin(&l);
	for (i = 0; i < 2; i++) {
		go[i](&l);
		client[i] = l.client;
		a[i] = l.a;
	}
	T_WAIT(liar_check_honest(&l), t_state_is(l.v.p.host, client[0], RTE_COMCH_STATE_IDLE) &&
		t_state_is(l.v.p.host, client[1], RTE_COMCH_STATE_IDLE));
	for (i = 0; i < 2; i++) {
		T_EQ(t_state_ev(l.v.p.host, client[i])->e.status, -ETIMEDOUT);
		T_STR_HAS(t_state_ev(l.v.p.host, client[i])->text, "did not answer");
		t_client_end(client[i]);
		raw_close(&a[i]);
	}
	for (i = 2; i < NB_STEPS; i++) {
		go[i](&l);
		t_settle();
		liar_check_honest(&l);
		T_CHECK(!liar_is_over(&l));
		/* A program that has waited enough can stop all the same. */
		if (l.cons != NULL)
			t_consumer_end(l.cons);
		T_EQ(rte_comch_client_stop(l.client), -EINPROGRESS);
		T_UNTIL(t_state_is(l.v.p.host, l.client, RTE_COMCH_STATE_IDLE));
		T_EQ(t_state_ev(l.v.p.host, l.client)->e.status, 0);
		t_client_end(l.client);
		raw_close(&l.a);
		t_forget(l.v.p.host);
	}
	liar_end(&l);
}

/* The end, with and without something before it that is not read yet. */
static void
close_at(struct liar *l, unsigned int step, unsigned int how)
{
	go[step](l);
	if (how < RAW_NB_SCRAPS) {
		raw_leave(&l->a, how);
	} else {
		/* It reads no more, and then says no more. */
		shutdown(l->a.sock, SHUT_RD);
		t_settle();
		shutdown(l->a.sock, SHUT_WR);
	}
	liar_check_honest(l);
	liar_close(l);
}

/*
 * The server stops before it has read the HELLO: its link is up and down, and the reason is in
 * the ring, before the client looks.
 */
Test(steps, stops_at_once)
{
	static const char text[] = "server stopped";
	struct liar l;

	liar_begin(&l);
	liar_connect(&l);
	raw_hello(&l.a);
	raw_send_reason(&l.a, COMCH_WIRE_DISCONNECT, -ECONNRESET, text, sizeof(text) - 1);
	shutdown(l.a.sock, SHUT_RDWR);
	T_UNTIL(liar_is_over(&l));
	T_STR_HAS(t_state_ev(l.v.p.host, l.client)->text, text);
	T_EQ(liar_close(&l), -ECONNRESET);
	liar_end(&l);
}

Test(steps, closes)
{
	unsigned int step, how;
	struct liar l;

	liar_begin(&l);
	for (step = 0; step < NB_STEPS; step++)
		for (how = 0; how <= RAW_NB_SCRAPS; how++)
			close_at(&l, step, how);
	liar_end(&l);
}

/*
 * The ring is full whenever the client looks: no run reads more than it may, and the honest
 * client is served. Returns how the flood ended; 0: it has not, after that many rounds.
 */
static int
flood(struct liar *l, const struct lie_goods *g, struct lie_flood *f, unsigned int rounds)
{
	uint64_t before, most = 0;
	struct raw_frame answer;
	unsigned int i;

	for (i = 0; i < rounds && !liar_is_over(l); i++) {
		lie_pour(&l->a, g, f);
		while (raw_recv(&l->a, &answer))
			raw_frame_free(&answer);
		before = l->a.vic->rx_pos;
		t_step(l->v.p.host);
		most = RTE_MAX(most, l->a.vic->rx_pos - before);
		if (i % 16 == 0)
			liar_check_honest(l);
	}
	T_GT(l->a.vic->rx_pos, 0);
	T_LE(most, COMCH_RX_BURST);
	return liar_is_over(l) ? t_find(l->v.p.host, RTE_COMCH_EVENT_DISCONNECTED, l->conn,
		0)->e.status : 0;
}

static void
flood_case(uint32_t type, bool counts_up, unsigned int rounds, int status)
{
	struct lie_flood f = { .type = type, .counts_up = counts_up };
	struct lie_goods g;
	struct liar l;
	uint64_t rss;

	lie_goods_new(&g);
	liar_begin(&l);
	liar_up(&l);
	rss = t_rss_kb();
	T_EQ(flood(&l, &g, &f, rounds), status);
	/* Events are recorded; the rest is little. */
	if (!t_sanitized())
		T_LE(t_rss_kb(), rss + 16384);
	liar_close(&l);
	liar_end(&l);
	lie_goods_free(&g);
}

Test(steps, flood_of_credits)
{
	flood_case(COMCH_WIRE_CREDIT, false, 500, 0);
}

/* More than the client has given credit for: as it reads no more in a run, that is harmless. */
Test(steps, flood_of_messages)
{
	flood_case(COMCH_WIRE_MSG, false, 500, 0);
}

/* Registrations of numbers that are taken. */
Test(steps, flood_of_registrations)
{
	flood_case(COMCH_WIRE_MR_ADD, false, 1000000, -EPROTO);
}

/* More consumers than there may be: those beyond are refused, and then are too many. */
Test(steps, flood_of_consumers)
{
	flood_case(COMCH_WIRE_CONSUMER_NEW, true, 1000000, -EPROTO);
}

Test(steps, flood_of_producers)
{
	flood_case(COMCH_WIRE_PRODUCER_NEW, true, 1000000, -EPROTO);
}

/* Of the ring in which the client's frames are: it may fill up, or the link ends. */
static void
wild_position(struct liar *l, uint64_t pos)
{
	unsigned int i;

	liar_up(l);
	__atomic_store_n(&l->a.own->rx_pos, pos, __ATOMIC_RELEASE);
	for (i = 0; i < 4 * RAW_CELLS && !liar_is_over(l); i++) {
		t_offer(l->conn, "x", 1, 0, RTE_COMCH_MSG_F_SILENT);
		/* Credits for more, and something to answer. */
		l->a.acked = i + 1;
		(void)raw_try(&l->a, &(struct raw_send){ .type = COMCH_WIRE_MSG });
		t_step(l->v.p.host);
		__atomic_add_fetch(&l->a.own->armed, 1, __ATOMIC_RELEASE);
	}
	liar_check_honest(l);
	liar_close(l);
}

Test(steps, ring_positions)
{
	static const uint64_t pos[] = {
		1, RAW_CELLS, RAW_CELLS + 1, UINT32_MAX, INT64_MAX, UINT64_MAX,
		UINT64_MAX - RAW_CELLS, (uint64_t)1 << 63,
	};
	struct liar l;
	unsigned int i;

	liar_begin(&l);
	for (i = 0; i < RTE_DIM(pos); i++)
		wild_position(&l, pos[i]);
	liar_end(&l);
}

/* Sequences of cells that were not written, or will be later. */
Test(steps, ring_sequences)
{
	static const uint64_t offset[] = { 0, 2, RAW_CELLS, RAW_CELLS + 1, UINT64_MAX, UINT32_MAX };
	struct liar l;
	unsigned int i, k;

	liar_begin(&l);
	for (i = 0; i < RTE_DIM(offset); i++) {
		liar_up(&l);
		for (k = 0; k < RAW_CELLS; k++)
			if (k != l.a.tx_pos)
				__atomic_store_n(&l.a.own->cell[k].seq, k + offset[i],
					__ATOMIC_RELEASE);
		t_steps(l.v.p.host, 20);
		/* Nothing was said: nothing is heard. */
		T_EQ(l.a.vic->rx_pos, l.a.tx_pos);
		T_CHECK(!liar_is_over(&l));
		liar_check_honest(&l);
		liar_close(&l);
	}
	liar_end(&l);
}
