/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How producers, consumers and their connections end: behaviours K, R, P and X. */

#include "comch/queue.h"
#include "common/capture.h"
#include "t_main.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE

/* behaviour: K16, R13, N6 */
FLOW_CASE(stop_with_tasks, f, 4096, 8)
{
	struct doca_buf *to, *from;
	uint64_t count;
	unsigned int i;

	to = memory_buf(&f->dst, 0, 64, false);
	from = memory_buf(&f->src, 0, 64, true);
	for (i = 0; i < 5; i++)
		queue_post(&f->c, i == 0 ? to : NULL);
	queue_submit(&f->t, queue_put_task(&f->p, from, NULL, 0, f->id));
	T_IS(doca_ctx_stop(f->p.ctx), DOCA_ERROR_IN_PROGRESS);
	T_EQ(ctx_state(f->p.ctx), DOCA_CTX_STATE_STOPPING);
	T_WAIT(flow_progress(f), ctx_is_idle(f->p.ctx));
	T_EQ(f->p.nb_done + f->p.nb_errors, 1);
	T_WAIT(flow_progress(f), f->c.nb_done == 1);
	T_IS(doca_ctx_stop(f->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), ctx_is_idle(f->c.ctx));
	T_EQ(f->c.nb_errors, 4);
	T_IS(f->c.status, DOCA_ERROR_SHUTDOWN);
	T_OK(doca_comch_connection_update_info(f->t.client.conn));
	T_OK(doca_comch_connection_get_counter(f->t.client.conn, DOCA_COMCH_COUNTER_SENT_MESSAGES,
		&count));
	T_EQ(count, 0);
	T_OK(doca_buf_dec_refcount(to, NULL));
	T_OK(doca_buf_dec_refcount(from, NULL));
}

/* behaviour: P16 */
FLOW_CASE(free_what_is_posted, f, 4096, 4)
{
	struct doca_comch_consumer_task_post_recv *recv[4], *more;
	struct doca_buf *to[4], *from;
	unsigned int i;
	size_t n;

	for (i = 0; i < RTE_DIM(to); i++) {
		to[i] = memory_buf(&f->dst, i * 64, 64, false);
		T_OK(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, to[i], &recv[i]));
		T_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv[i])));
	}
	for (i = 0; i < RTE_DIM(to); i++) {
		T_OK(doca_buf_dec_refcount(to[i], NULL));
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(recv[i]));
	}
	T_GETS(doca_ctx_get_num_inflight_tasks(f->c.ctx, &n), n, 0);
	/* They are with the channel still. */
	T_IS(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, NULL, &more),
		DOCA_ERROR_NO_MEMORY);
	from = memory_buf(&f->src, 0, 64, true);
	queue_put(&f->t, &f->p, from, f->id);
	T_SETTLE(flow_progress(f));
	T_EQ(f->c.nb_done + f->c.nb_errors, 0);
	T_OK(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, NULL, &more));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(more));
	T_IS(doca_ctx_stop(f->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), ctx_is_idle(f->c.ctx));
	T_EQ(f->c.nb_done + f->c.nb_errors, 0);
	T_OK(doca_buf_dec_refcount(from, NULL));
}

static void
destroy_when_idle(struct queue *q, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_IDLE) {
		T_OK(doca_comch_consumer_destroy(q->consumer));
		q->consumer = NULL;
	}
}

/* behaviour: K17 */
PAIR_CASE(destroy_in_its_callback, t)
{
	struct queue c;

	consumer_open(&c, &t->server, NULL, 2);
	c.state = destroy_when_idle;
	consumer_start(t, &c);
	queue_post(&c, NULL);
	T_IS(doca_comch_consumer_destroy(c.consumer), DOCA_ERROR_IN_USE);
	T_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(t), doca_pe_progress(c.pe)), c.consumer == NULL);
	T_OK(doca_pe_destroy(c.pe));
	memory_destroy(&c.mem);
}

/* behaviour: K18 */
PAIR_CASE(starting_when_it_ends, t)
{
	struct queue c;

	consumer_open(&c, &t->server, NULL, 2);
	T_IS(doca_ctx_start(c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_WAIT((pair_progress(t), doca_pe_progress(c.pe)), ctx_is_idle(c.ctx));
	T_GE(c.states.nb, 2);
	T_IS(doca_ctx_start(c.ctx), DOCA_ERROR_NOT_CONNECTED);
	T_EQ(ctx_state(c.ctx), DOCA_CTX_STATE_IDLE);
	T_OK(doca_comch_consumer_destroy(c.consumer));
	T_OK(doca_pe_destroy(c.pe));
	memory_destroy(&c.mem);
}

static void
stop_on_message(struct side *side, struct doca_comch_connection *conn __rte_unused,
		uint8_t *msg __rte_unused, uint32_t len __rte_unused)
{
	T_IS(doca_ctx_stop(side->ctx), DOCA_ERROR_IN_PROGRESS);
}

/*
 * Both sides stop: the second stop finds the connection closing, which is not an error and not
 * logged. behaviour: C17, S24
 */
FLOW_CASE(both_stop, f, 64, 2)
{
	const char *said;

	t_capture_begin();
	/* The consumer's connection has ended, which its own engine has not seen yet. */
	T_OK(doca_ctx_stop(f->p.ctx));
	T_IS(doca_ctx_stop(f->t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&f->t), f->t.server.nb_disconnects == 1);
	T_IS(doca_ctx_stop(f->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), ctx_is_idle(f->c.ctx) && ctx_is_idle(f->t.client.ctx));
	/* A last message, and the end right behind it. */
	pair_connect(&f->t);
	f->t.client.hooks.msg = stop_on_message;
	side_send(&f->t.server, "bye", 3);
	T_IS(doca_ctx_stop(f->t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(f->t.server.pe),
		f->t.server.nb_sent + f->t.server.nb_send_errors != 0);
	T_WAIT(pair_progress(&f->t), ctx_is_idle(f->t.client.ctx) && ctx_is_idle(f->t.server.ctx));
	said = t_capture_end();
	if (said[0] != '\0')
		T_FAIL("said: %s", said);
}

/* behaviour: S20, X1, X2, X4 */
FLOW_CASE(in_use, f, 64, 2)
{
	T_IS(doca_ctx_stop(f->t.server.ctx), DOCA_ERROR_IN_USE);
	T_IS(doca_ctx_stop(f->t.client.ctx), DOCA_ERROR_IN_USE);
	T_IS(doca_comch_server_disconnect(f->t.server.server, f->t.server.conn), DOCA_ERROR_IN_USE);
	T_EQ(ctx_state(f->t.server.ctx), DOCA_CTX_STATE_RUNNING);
	T_EQ(ctx_state(f->t.client.ctx), DOCA_CTX_STATE_RUNNING);
	side_send(&f->t.client, "x", 1);
	T_WAIT(flow_progress(f), f->t.server.nb_msgs == 1);
	/* Stopped is enough; to be destroyed is for later. */
	T_OK(doca_ctx_stop(f->p.ctx));
	T_IS(doca_ctx_stop(f->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), ctx_is_idle(f->c.ctx));
	T_IS(doca_ctx_stop(f->t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), ctx_is_idle(f->t.client.ctx));
}

/* behaviour: X3, X7 */
T_CASE(the_other_side_leaves)
{
	struct doca_buf *to;
	struct flow f;

	/* The consumer's side is the server's, the client has none. */
	flow_open(&f, 4096, 4);
	to = memory_buf(&f.dst, 0, 64, false);
	queue_post(&f.c, to);
	queue_destroy(&f.t, &f.p);
	T_IS(doca_ctx_stop(f.t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(&f.t), doca_pe_progress(f.c.pe)), ctx_is_idle(f.c.ctx) &&
		ctx_is_idle(f.t.client.ctx));
	T_EQ(f.c.nb_errors, 1);
	T_EQ(f.c.states.next[f.c.states.nb - 2], DOCA_CTX_STATE_STOPPING);
	T_WAIT(pair_progress(&f.t), f.t.server.nb_disconnects == 1);
	T_OK(doca_buf_dec_refcount(to, NULL));
	queue_destroy(&f.t, &f.c);
	memory_destroy(&f.src);
	memory_destroy(&f.dst);
	pair_close(&f.t);
}

/* behaviour: X3 */
PAIR_CASE(a_producer_is_left, t)
{
	struct queue p;

	producer_create(&p, t->client.conn, NULL, 4);
	T_OK(doca_ctx_start(p.ctx));
	T_IS(doca_ctx_stop(t->server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(t), doca_pe_progress(p.pe)), ctx_is_idle(p.ctx));
	T_EQ(p.states.next[p.states.nb - 2], DOCA_CTX_STATE_STOPPING);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	queue_destroy(t, &p);
}

/* A producer is left of a connection that has ended, and its server too. behaviour: X8 */
T_CASE(a_server_is_gone)
{
	struct doca_comch_connection *conn;
	struct doca_comch_task_send *task;
	struct queue p;
	struct pair t;

	pair_open(&t);
	conn = t.server.conn;
	producer_create(&p, conn, NULL, 4);
	T_OK(doca_ctx_start(p.ctx));
	T_CHECK(doca_comch_server_get_server_ctx(conn) == t.server.server);
	T_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(&t), doca_pe_progress(p.pe)), ctx_is_idle(p.ctx) &&
		ctx_is_idle(t.client.ctx) && t.server.nb_disconnects == 1);
	T_INVALID(doca_comch_server_task_send_alloc_init(t.server.server, conn, "x", 1, &task));
	T_CHECK(doca_comch_server_get_server_ctx(conn) == NULL);
	doca_ctx_stop(t.server.ctx);
	T_WAIT(pair_progress(&t), ctx_is_idle(t.server.ctx));
	side_destroy(&t.server);
	T_CHECK(doca_comch_server_get_server_ctx(conn) == NULL);
	T_CHECK(doca_comch_client_get_client_ctx(conn) == NULL);
	T_OK(doca_comch_producer_destroy(p.producer));
	T_OK(doca_pe_destroy(p.pe));
	side_destroy(&t.client);
}

static struct doca_task *more[4];

/* In the callback of the first: three that there are no buffers for. */
static void
three_more(struct queue *q, struct doca_task *task)
{
	unsigned int i;

	if (q->nb_done + q->nb_errors > 1) {
		doca_task_free(task);
		return;
	}
	more[3] = task;
	for (i = 0; i < 3; i++)
		T_OK(doca_task_submit(more[i]));
}

/* A flow with three submits that were put by in a callback and did not go. */
static void
put_by_open(struct flow *f, struct doca_buf **from)
{
	unsigned int i;

	flow_open(f, 4096, 8);
	*from = memory_buf(&f->src, 0, 64, true);
	for (i = 0; i < 3; i++)
		more[i] = queue_put_task(&f->p, *from, &i, sizeof(i), f->id);
	f->p.done = three_more;
	queue_post(&f->c, NULL);
	queue_submit(&f->t, queue_put_task(&f->p, NULL, "x", 1, f->id));
	T_WAIT(flow_progress(f), f->p.nb_done == 1 && f->c.nb_done == 1);
	T_EQ(f->p.nb_errors, 0);
	T_IS(doca_task_submit(more[3]), DOCA_ERROR_AGAIN);
}

/* behaviour: R2, R3, F2 */
T_CASE(put_by_and_sent)
{
	struct doca_buf *to[4], *from;
	struct flow f;
	unsigned int i;
	uint32_t got;

	put_by_open(&f, &from);
	for (i = 0; i < RTE_DIM(to); i++)
		to[i] = memory_buf(&f.dst, i * 64, 64, false);
	/* One place is not enough for three, nor for what comes behind them. */
	queue_post(&f.c, to[0]);
	T_IS(doca_task_submit(more[3]), DOCA_ERROR_AGAIN);
	for (i = 1; i < RTE_DIM(to); i++)
		queue_post(&f.c, to[i]);
	/* No progress of this side. */
	T_WAIT(doca_pe_progress(f.c.pe), doca_task_submit(more[3]) != DOCA_ERROR_AGAIN);
	for (i = 0; i < 3; i++) {
		T_WAIT(doca_pe_progress(f.c.pe), f.c.nb_done != i + 1);
		if (f.c.nb_done == i + 2) {
			memcpy(&got, f.c.imm, sizeof(got));
			T_EQ(got, i);
		}
	}
	T_WAIT(flow_progress(&f), f.c.nb_done == 5 && f.p.nb_done == 5);
	T_EQ(f.c.imm_len, 1);
	for (i = 0; i < RTE_DIM(to); i++)
		T_OK(doca_buf_dec_refcount(to[i], NULL));
	T_OK(doca_buf_dec_refcount(from, NULL));
	flow_close(&f);
}

/* behaviour: R13 */
T_CASE(put_by_and_stopped)
{
	struct doca_buf *from;
	struct flow f;

	put_by_open(&f, &from);
	doca_task_free(more[3]);
	T_IS(doca_ctx_stop(f.p.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(&f), ctx_is_idle(f.p.ctx));
	T_EQ(f.p.nb_errors, 3);
	T_IS(f.p.status, DOCA_ERROR_SHUTDOWN);
	T_EQ(f.c.nb_done, 1);
	T_OK(doca_buf_dec_refcount(from, NULL));
	flow_close(&f);
}

/* behaviour: P16 */
T_CASE(put_by_and_freed)
{
	struct doca_buf *to[2], *from;
	struct flow f;
	size_t n;

	put_by_open(&f, &from);
	doca_task_free(more[1]);
	T_GETS(doca_ctx_get_num_inflight_tasks(f.p.ctx, &n), n, 2);
	to[0] = memory_buf(&f.dst, 0, 64, false);
	to[1] = memory_buf(&f.dst, 64, 64, false);
	queue_post(&f.c, to[0]);
	queue_post(&f.c, to[1]);
	T_WAIT(flow_progress(&f), f.c.nb_done == 3 && f.p.nb_done == 3);
	/* The second of the three did not go. */
	T_EQ(f.c.imm[0], 2);
	doca_task_free(more[3]);
	T_OK(doca_buf_dec_refcount(to[0], NULL));
	T_OK(doca_buf_dec_refcount(to[1], NULL));
	T_OK(doca_buf_dec_refcount(from, NULL));
	flow_close(&f);
}

/* behaviour: X3 */
T_CASE(put_by_and_disconnected)
{
	struct doca_buf *from;
	struct flow f;

	put_by_open(&f, &from);
	doca_task_free(more[3]);
	queue_destroy(&f.t, &f.c);
	T_IS(doca_ctx_stop(f.t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(&f.t), doca_pe_progress(f.p.pe)), ctx_is_idle(f.p.ctx));
	T_EQ(f.p.nb_errors, 3);
	T_NE(f.p.status, DOCA_SUCCESS);
	T_OK(doca_buf_dec_refcount(from, NULL));
	queue_destroy(&f.t, &f.p);
	memory_destroy(&f.src);
	memory_destroy(&f.dst);
	pair_close(&f.t);
}
