/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A client that lies on the wire to a server that uses doca_comch: its callbacks get what the
 * headers promise, and another client is served meanwhile.
 */

#include <stdlib.h>

#include "comch/prey.h"
#include "lies.h"
#include "t_main.h"

/* What comes from the attacker: of its connection, between its two callbacks. */
struct watch {
	struct doca_comch_connection *honest;
	struct doca_comch_connection *conn;
	unsigned int msgs;
	unsigned int consumers;
	unsigned int nb_ended, nb_alive, nb_quiet;
};

static void
on_connected(struct side *side, struct doca_comch_connection *conn)
{
	struct watch *w = side->arg;

	T_CHECK(w->conn == NULL && conn != w->honest);
	w->conn = conn;
	w->msgs = 0;
	w->consumers = 0;
}

static void
on_disconnected(struct side *side, struct doca_comch_connection *conn)
{
	struct watch *w = side->arg;

	T_CHECK(conn == w->conn);
	w->conn = NULL;
}

static void
on_msg(struct side *side, struct doca_comch_connection *conn, uint8_t *msg, uint32_t len)
{
	struct watch *w = side->arg;

	RTE_SET_USED(msg);
	T_LE(len, 4080);
	if (conn == w->honest)
		return;
	T_CHECK(conn == w->conn);
	w->msgs++;
}

static void
on_consumer(struct side *side, uint32_t id)
{
	struct watch *w = side->arg;

	T_NE(id, 0);
	T_CHECK(w->conn != NULL);
	w->consumers++;
}

static void
on_consumer_gone(struct side *side, uint32_t id)
{
	struct watch *w = side->arg;

	T_NE(id, 0);
	T_GT(w->consumers, 0);
	w->consumers--;
}

/* The attacker's link, and as far as the step says. */
static void
reach(struct pair *t, struct raw_peer *a, enum lie_step step)
{
	struct watch *w = t->server.arg;
	struct raw_frame f;

	raw_open(a, raw_dial(getenv("COMCH_DIR"), "pf0", PAIR_NAME), RAW_CELLS);
	T_WAIT(pair_progress(t), raw_is_up(a));
	if (step == LIE_LINKED)
		return;
	raw_send_hello(a, PAIR_NAME, 4080, 64);
	T_WAIT(pair_progress(t), raw_recv(a, &f));
	T_EQ(f.type, COMCH_WIRE_ACCEPT);
	raw_frame_free(&f);
	T_WAIT(pair_progress(t), w->conn != NULL);
}

static void
say(void *arg, const struct lie_frame *f, const uint8_t *bytes, uint32_t len, const int *fds)
{
	struct pair *t = arg;
	struct watch *w = t->server.arg;
	struct raw_peer a;
	unsigned int i, before;

	reach(t, &a, f->step);
	before = w->msgs;
	lie_send(&a, f, bytes, len, fds);
	(void)raw_try(&a, &(struct raw_send){ .type = COMCH_WIRE_MSG });
	for (i = 0; i < 300 && !raw_is_hung_up(&a) && w->msgs == before; i++)
		pair_progress(t);
	if (!raw_is_hung_up(&a) && w->msgs == before)
		T_SETTLE(pair_progress(t));
	if (raw_is_hung_up(&a)) {
		T_WAIT(pair_progress(t), w->conn == NULL);
		w->nb_ended++;
	} else if (w->msgs > before) {
		w->nb_alive++;
	} else {
		w->nb_quiet++;
	}
	before = t->server.nb_msgs;
	side_send(&t->client, "honest", 6);
	T_WAIT(pair_progress(t), t->server.nb_msgs > before);
	raw_close(&a);
	T_WAIT(pair_progress(t), w->conn == NULL);
}

PAIR_CASE(each_invalid_field, t)
{
	struct watch w = { .honest = t->server.conn };
	struct lie_goods g;
	unsigned int i, fds;
	size_t n;

	t->server.arg = &w;
	t->server.hooks = (struct side_hooks){
		.connected = on_connected, .disconnected = on_disconnected, .msg = on_msg,
		.consumer = on_consumer, .consumer_gone = on_consumer_gone,
	};
	lie_goods_new(&g);
	fds = t_fd_count();
	for (i = 0; i < lie_nb_frames; i++)
		if ((lie_frames[i].by & LIE_BY_CLIENT) != 0)
			lie_each(&lie_frames[i], &g, say, t);
	fprintf(stderr, "   %u ended, %u lived, %u waited\n", w.nb_ended, w.nb_alive, w.nb_quiet);
	T_GT(w.nb_alive, 0);
	T_GT(w.nb_ended, 0);
	T_WAIT(pair_progress(t), t_fd_count() <= fds);
	T_GETS(doca_ctx_get_num_inflight_tasks(t->server.ctx, &n), n, 0);
	T_EQ(t->server.nb_send_errors, 0);
	T_EQ(ctx_state(t->server.ctx), DOCA_CTX_STATE_RUNNING);
	lie_goods_free(&g);
	t->server.hooks = (struct side_hooks){ 0 };
}

/* Send to a client that never reads, then end: each task returns, with a documented error. */
PAIR_CASE(sends_to_client_that_never_reads, t)
{
	struct watch w = { .honest = t->server.conn };
	/* The queue that the client says it has. */
	enum { NB = 500, QUEUE = 64 };
	struct raw_peer a;
	unsigned int i;

	t->server.arg = &w;
	t->server.hooks = (struct side_hooks){
		.connected = on_connected, .disconnected = on_disconnected,
	};
	reach(t, &a, LIE_UP);
	T_CHECK(t->server.conn == w.conn);
	for (i = 0; i < NB; i++)
		side_send(&t->server, "to nobody", 9);
	T_SETTLE(pair_progress(t));
	T_EQ(t->server.nb_sent, QUEUE);
	T_EQ(t->server.nb_send_errors, 0);
	/* More acknowledged than was sent. */
	a.acked = NB + 1;
	(void)raw_try(&a, &(struct raw_send){ .type = COMCH_WIRE_CREDIT });
	T_WAIT(pair_progress(t), w.conn == NULL);
	T_WAIT(pair_progress(t), t->server.nb_send_errors == NB - QUEUE);
	T_IS(t->server.send_status, DOCA_ERROR_CONNECTION_RESET);
	raw_close(&a);
	t->server.hooks = (struct side_hooks){ 0 };
}

#define NB_POSTED 4

/* Its tasks come back with an error, and nothing else does. */
static void
wild_record(struct pair *t, const struct prey_record *wild)
{
	struct watch *w = t->server.arg;
	struct doca_buf *buf[NB_POSTED];
	unsigned int i, before;
	struct raw_peer a;
	struct queue q;
	struct prey p;

	reach(t, &a, LIE_UP);
	consumer_open(&q, &t->server, t->server.pe, NB_POSTED);
	T_IS(doca_ctx_start(q.ctx), DOCA_ERROR_IN_PROGRESS);
	prey_run(&p, t, &a, &q, false);
	for (i = 0; i < NB_POSTED; i++) {
		buf[i] = memory_buf(&q.mem, i * 256, 256, false);
		queue_post(&q, buf[i]);
	}
	prey_write(&p, 0, &wild->rec, wild->staging_head);
	T_WAIT(pair_progress(t), q.nb_errors + q.nb_done == NB_POSTED);
	T_EQ(q.nb_done, 0);
	T_CHECK(q.status == DOCA_ERROR_CONNECTION_RESET || q.status == DOCA_ERROR_SHUTDOWN);
	for (i = 0; i < NB_POSTED; i++)
		T_OK(doca_buf_dec_refcount(buf[i], NULL));
	queue_destroy(t, &q);
	T_WAIT(pair_progress(t), w->conn == NULL);
	before = t->server.nb_msgs;
	side_send(&t->client, "honest", 6);
	T_WAIT(pair_progress(t), t->server.nb_msgs > before);
	prey_free(&p);
	raw_close(&a);
}

PAIR_CASE(invalid_records, t)
{
	struct watch w = { .honest = t->server.conn };
	unsigned int i;

	t->server.arg = &w;
	t->server.hooks = (struct side_hooks){
		.connected = on_connected, .disconnected = on_disconnected, .msg = on_msg,
	};
	for (i = 0; i < prey_nb_records; i++)
		if ((prey_records[i].when & PREY_STAGED) != 0)
			wild_record(t, &prey_records[i]);
	t->server.hooks = (struct side_hooks){ 0 };
}
