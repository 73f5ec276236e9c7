/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Memory and consumers that must be refused, again and again. */

#include <stdlib.h>
#include <unistd.h>

#include "ctrl/comch_conn.h"
#include "victim.h"

V_SUITE(refused);

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
Test(refused, refused_memory)
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
Test(refused, reconnecting)
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
Test(refused, refused_consumers)
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
