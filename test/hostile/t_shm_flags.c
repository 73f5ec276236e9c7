/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Peers that know no flags, or do what flags forbid; credits that were not granted. */

#include "victim.h"

V_SUITE(flags);

/* More than the victim has granted. */
static void
too_many(uint32_t flags, uint32_t queue, uint32_t nb)
{
	struct t_pair_conf conf = {
		.name = V_NAME, .server = { .recv_queue = queue, .flags = flags },
	};
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct t_pair p;
	uint32_t i;

	t_pair_ends(&p, &conf);
	v_link(&a, RAW_CELLS);
	raw_send_hello(&a, V_NAME, 4080, 64);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	conn = t_find(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	for (i = 0; i < nb; i++)
		raw_send_msg(&a, &i, sizeof(i));
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, conn) == RTE_MIN(nb, queue));
	t_settle();
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn), nb > queue);
	if (nb > queue)
		T_EQ(t_find(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn, 0)->e.status, -EPROTO);
	raw_close(&a);
	t_pair_close(&p);
}

Test(flags, msgs_without_credit)
{
	too_many(0, 8, 8);
	too_many(0, 8, 9);
	too_many(RTE_COMCH_SERVER_F_MANUAL_CREDIT, 8, 8);
	too_many(RTE_COMCH_SERVER_F_MANUAL_CREDIT, 8, 9);
}

/* Does DISCONNECT come before the last message is acknowledged? */
static void
last_word(uint32_t flags, bool awaited)
{
	struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_peer a;
	struct victim v;
	uint64_t begin;
	bool came;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	T_CHECK(t_offer(conn, "bye", 3, 1, flags));
	begin = t_now_ms();
	T_EQ(rte_comch_conn_disconnect(conn, NULL), -EINPROGRESS);
	t_steps(v.p.dpu, 10);
	v_hear(&a, &f, COMCH_WIRE_MSG);
	came = raw_recv(&a, &f);
	/* It waits for a second. */
	if (!awaited || t_now_ms() - begin < 900)
		T_EQ(came, !awaited);
	if (!came) {
		a.acked = 1;
		raw_send(&a, &(struct raw_send){ .type = COMCH_WIRE_CREDIT });
		T_UNTIL(raw_recv(&a, &f));
	}
	T_EQ(f.type, COMCH_WIRE_DISCONNECT);
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 1);
	/* A silent one that was never acknowledged has failed, which is said. */
	T_EQ(t_count(v.p.dpu, RTE_COMCH_EVENT_SENT, conn), flags == 0 || !awaited);
	raw_close(&a);
	v_close(&v);
}

Test(flags, last_words)
{
	last_word(0, true);
	last_word(RTE_COMCH_MSG_F_NO_SENT, true);
	last_word(RTE_COMCH_MSG_F_SILENT, false);
}

/* What belongs to the fast path, on a connection that has none. */
static void
no_fast_path(uint32_t server_flags, uint32_t wire_flags, uint32_t type)
{
	struct t_pair_conf conf = { .name = V_NAME, .server.flags = server_flags };
	struct rte_comch_conn *conn;
	struct raw_cons c;
	struct raw_peer a;
	struct t_pair p;

	t_pair_ends(&p, &conf);
	v_link(&a, RAW_CELLS);
	a.flags = wire_flags;
	raw_send_hello(&a, V_NAME, 4080, 64);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	conn = t_find(p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	raw_cons_new(&c, 1, 64, 64, 0);
	if (type == COMCH_WIRE_CONSUMER_NEW)
		raw_cons_announce(&a, &c);
	else if (type == COMCH_WIRE_PRODUCER_NEW)
		raw_send_producer(&a, 1, c.wake[1]);
	else
		raw_send_mr_add(&a, 1, 0, 4096, c.post.fd);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) == 1);
	T_EQ(t_find(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn, 0)->e.status, -EPROTO);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_CONSUMER_NEW, NULL), 0);
	raw_cons_free(&c);
	raw_close(&a);
	t_pair_close(&p);
}

Test(flags, no_fast_path)
{
	static const uint32_t types[] = {
		COMCH_WIRE_CONSUMER_NEW, COMCH_WIRE_PRODUCER_NEW, COMCH_WIRE_MR_ADD,
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(types); i++) {
		no_fast_path(RTE_COMCH_SERVER_F_CTRL_ONLY, 0, types[i]);
		no_fast_path(0, COMCH_WIRE_F_CTRL_ONLY, types[i]);
	}
}

/* One of version 1.0, which knows of no flags, is as welcome as ever. */
Test(flags, hello_1_0)
{
	uint8_t body[18 + sizeof(V_NAME) - 1];
	struct raw_send s = {
		.type = COMCH_WIRE_HELLO, .body = body, .len = sizeof(body),
	};
	const uint32_t words[] = { COMCH_WIRE_MAGIC, 1, 4080, 64 };
	const uint16_t len = sizeof(V_NAME) - 1;
	struct rte_comch_conn_info info;
	struct rte_comch_conn *conn;
	unsigned int before;
	struct raw_frame f;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	before = t_count(v.p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL);
	v_link(&a, RAW_CELLS);
	memcpy(body, words, sizeof(words));
	memcpy(body + 16, &len, sizeof(len));
	memcpy(body + 18, V_NAME, len);
	raw_send(&a, &s);
	v_hear(&a, &f, COMCH_WIRE_ACCEPT);
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) > before);
	conn = t_find(v.p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, before)->e.conn;
	T_EQ(rte_comch_conn_info_get(conn, &info), 0);
	T_EQ(info.ctrl_only, false);
	v_expect_alive(&v, &a, conn);
	raw_close(&a);
	v_close(&v);
}
