/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A server that closes, floods, or gives reasons, at each step of a client of doca_comch. */

#include <sys/socket.h>

#include "comch/liar.h"
#include "common/logged.h"
#include "ctrl/comch_conn.h"

/* Close */

/* The end, with and without something before it that is not read yet. */
static void
close_at(struct liar *l, int step, unsigned int how)
{
	liar_reach(l, step);
	if (how < RAW_NB_SCRAPS) {
		raw_leave(&l->a, how);
	} else if (how == RAW_NB_SCRAPS) {
		/* It reads no more, and then says no more. */
		shutdown(l->a.sock, SHUT_RD);
		T_SETTLE(liar_progress(l));
		shutdown(l->a.sock, SHUT_WR);
	} else if (step >= LIE_UP) {
		/* All at once, with acknowledgements of what was and was not sent. */
		l->a.acked = LIAR_CREDITS + how - (RAW_NB_SCRAPS + 2);
		(void)raw_try(&l->a, &(struct raw_send){ .type = COMCH_WIRE_CREDIT });
	}
	liar_check_honest(l);
	liar_close(l);
}

LIAR_CASE(closes, l)
{
	unsigned int how;
	int step;

	for (step = LIE_CONNECTED; step < LIE_NB_STEPS; step++)
		for (how = 0; how < RAW_NB_SCRAPS + 4; how++)
			close_at(l, step, how);
}

/* Floods */

struct torrent {
	struct lie_flood flood;
	bool is_refused;         /* too many end the connection */
};

/* Cells that the client has read. */
static uint64_t
nb_read(const struct liar *l)
{
	return __atomic_load_n(&l->a.vic->rx_pos, __ATOMIC_ACQUIRE);
}

/* The ring is full whenever the client looks. */
static void
flood(struct liar *l, const struct lie_goods *g, const struct torrent *torrent)
{
	const struct t_wait wait = t_wait_begin(__FILE__, __LINE__, "flood ends");
	struct lie_flood f = torrent->flood;
	struct raw_frame answer;
	uint64_t before, begin, most = 0;
	const uint64_t rss = t_rss_kb();
	unsigned int i;

	liar_reach(l, LIE_OFFERED);
	begin = nb_read(l);
	for (i = 0; !liar_is_over(l) && (torrent->is_refused || i < 300); i++) {
		t_wait_check(&wait);
		lie_pour(&l->a, g, &f);
		while (raw_recv(&l->a, &answer))
			raw_frame_free(&answer);
		before = nb_read(l);
		liar_progress(l);
		most = RTE_MAX(most, nb_read(l) - before);
		if (i % 16 == 0)
			liar_check_honest(l);
	}
	T_EQ(liar_is_over(l), torrent->is_refused);
	T_GT(nb_read(l), begin);
	T_LE(most, COMCH_RX_BURST);
	if (!t_sanitized())
		T_LE(t_rss_kb(), rss + 16384);
	liar_close(l);
}

LIAR_CASE(floods, l)
{
	static const struct torrent torrents[] = {
		{ { .type = COMCH_WIRE_CREDIT }, false },
		{ { .type = COMCH_WIRE_MSG }, false },
		/* The id is taken; there are too many. */
		{ { .type = COMCH_WIRE_MR_ADD }, true },
		{ { .type = COMCH_WIRE_MR_ADD, .counts_up = true }, true },
		{ { .type = COMCH_WIRE_CONSUMER_NEW }, true },
		{ { .type = COMCH_WIRE_CONSUMER_NEW, .counts_up = true }, true },
		{ { .type = COMCH_WIRE_PRODUCER_NEW }, true },
		{ { .type = COMCH_WIRE_PRODUCER_NEW, .counts_up = true }, true },
	};
	struct lie_goods g;
	unsigned int i;

	l->is_timed = true;
	lie_goods_new(&g);
	for (i = 0; i < RTE_DIM(torrents); i++)
		flood(l, &g, &torrents[i]);
	lie_goods_free(&g);
}

/* More than a link may have that were not requested. */
LIAR_CASE(wake_ups, l)
{
	unsigned int i;
	int step;

	l->is_timed = true;
	for (step = LIE_CONNECTED; step < LIE_NB_STEPS; step++) {
		liar_reach(l, step);
		for (i = 0; i < 100; i++)
			raw_wake(&l->a);
		T_WAIT(liar_progress(l), liar_is_over(l));
		liar_check_honest(l);
		liar_close(l);
	}
}

/* Reasons */

static void
give_reason(struct liar *l, uint32_t type, const struct lie_reason *reason)
{
	static const int32_t statuses[] = { -ECONNREFUSED, -1, 0, 1, INT32_MIN, INT32_MAX, -4096 };
	unsigned int i;

	for (i = 0; i < RTE_DIM(statuses); i++) {
		liar_reach(l, type == COMCH_WIRE_REJECT ? LIE_LINKED : LIE_OFFERED);
		raw_send_reason(&l->a, type, statuses[i], reason->text, reason->len);
		T_WAIT(liar_progress(l), liar_is_over(l));
		liar_check_honest(l);
		liar_close(l);
	}
}

/* They are logged, without what controls a terminal. */
LIAR_CASE(reasons, l)
{
	static const uint32_t types[] = { COMCH_WIRE_REJECT, COMCH_WIRE_DISCONNECT };
	unsigned int i, k;
	const char *text;

	for (i = 0; i < RTE_DIM(types); i++) {
		logged_begin();
		for (k = 0; k < lie_nb_reasons; k++)
			give_reason(l, types[i], &lie_reasons[k]);
		text = logged_end();
		T_STR_HAS(text, LIE_REASON_PLAIN "\n");
		T_STR_HAS(text, LIE_REASON_CLEAN "\n");
	}
}
