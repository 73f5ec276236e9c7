/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How producers, consumers and their connections end: behaviours K, R, P and X. */

#include "common/capture.h"
#include "t_main.h"
#include "comch/pair.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE

/* behaviour: K16, R13, N6 */
static void
stop_with_tasks(void)
{
	struct doca_buf *to, *from;
	uint64_t count;
	unsigned int i;
	struct td_flow f;

	td_flow_open(&f, 4096, 8);
	to = td_buf(&f.dst, 0, 64, false);
	from = td_buf(&f.src, 0, 64, true);
	for (i = 0; i < 5; i++)
		td_post(&f.c, i == 0 ? to : NULL);
	TD_OK(doca_task_submit(td_put_task(&f.p, from, NULL, 0, f.id)));
	TD_IS(doca_ctx_stop(f.p.ctx), DOCA_ERROR_IN_PROGRESS);
	T_EQ(td_state(f.p.ctx), DOCA_CTX_STATE_STOPPING);
	TD_FLOW_UNTIL(&f, td_state(f.p.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(f.p.nb_done + f.p.nb_errors, 1);
	TD_FLOW_UNTIL(&f, f.c.nb_done == 1);
	TD_IS(doca_ctx_stop(f.c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, td_state(f.c.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(f.c.nb_errors, 4);
	T_EQ(f.c.status, DOCA_ERROR_SHUTDOWN);
	TD_OK(doca_comch_connection_update_info(f.t.client.conn));
	TD_OK(doca_comch_connection_get_counter(f.t.client.conn, DOCA_COMCH_COUNTER_SENT_MESSAGES,
		&count));
	T_EQ(count, 0);
	TD_OK(doca_buf_dec_refcount(to, NULL));
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

/* behaviour: P16 */
static void
free_what_is_posted(void)
{
	struct doca_comch_consumer_task_post_recv *recv[4], *more;
	struct doca_buf *to[4], *from;
	unsigned int i;
	size_t n;
	struct td_flow f;

	td_flow_open(&f, 4096, 4);
	for (i = 0; i < RTE_DIM(to); i++) {
		to[i] = td_buf(&f.dst, i * 64, 64, false);
		TD_OK(doca_comch_consumer_task_post_recv_alloc_init(f.c.consumer, to[i],
			&recv[i]));
		TD_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv[i])));
	}
	for (i = 0; i < RTE_DIM(to); i++) {
		TD_OK(doca_buf_dec_refcount(to[i], NULL));
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(recv[i]));
	}
	TD_OK(doca_ctx_get_num_inflight_tasks(f.c.ctx, &n));
	T_EQ(n, 0);
	/* They are with the channel still. */
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(f.c.consumer, NULL, &more),
		DOCA_ERROR_NO_MEMORY);
	from = td_buf(&f.src, 0, 64, true);
	td_put(&f.t, &f.p, from, f.id);
	while (td_flow_progress(&f))
		;
	T_EQ(f.c.nb_done + f.c.nb_errors, 0);
	TD_OK(doca_comch_consumer_task_post_recv_alloc_init(f.c.consumer, NULL, &more));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(more));
	TD_IS(doca_ctx_stop(f.c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, td_state(f.c.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(f.c.nb_done + f.c.nb_errors, 0);
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

static void
destroy_when_idle(struct td_queue *q, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_IDLE) {
		TD_OK(doca_comch_consumer_destroy(q->consumer));
		q->consumer = NULL;
	}
}

/* behaviour: K17 */
static void
destroy_in_its_callback(void)
{
	struct td_queue c;
	struct td_mem mem;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.server.dev, 64, RW);
	td_consumer_create(&c, t.server.conn, mem.mmap, NULL, 2);
	c.state = destroy_when_idle;
	td_consumer_start(&t, &c);
	td_post(&c, NULL);
	TD_IS(doca_comch_consumer_destroy(c.consumer), DOCA_ERROR_IN_USE);
	TD_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, (doca_pe_progress(c.pe), c.consumer == NULL));
	TD_OK(doca_pe_destroy(c.pe));
	td_mem_destroy(&mem);
	td_close(&t);
}

/* behaviour: K18 */
static void
starting_when_it_ends(void)
{
	struct td_queue c;
	struct td_mem mem;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.server.dev, 64, RW);
	td_consumer_create(&c, t.server.conn, mem.mmap, NULL, 2);
	TD_IS(doca_ctx_start(c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, t.server.nb_disconnects == 1);
	TD_UNTIL(&t, (doca_pe_progress(c.pe), td_state(c.ctx) == DOCA_CTX_STATE_IDLE));
	T_GE(c.states.nb, 2);
	TD_IS(doca_ctx_start(c.ctx), DOCA_ERROR_NOT_CONNECTED);
	T_EQ(td_state(c.ctx), DOCA_CTX_STATE_IDLE);
	TD_OK(doca_comch_consumer_destroy(c.consumer));
	TD_OK(doca_pe_destroy(c.pe));
	td_mem_destroy(&mem);
	td_close(&t);
}

static void
stop_on_message(struct td_node *node, struct doca_comch_connection *conn, uint8_t *msg,
		uint32_t len)
{
	RTE_SET_USED(conn);
	RTE_SET_USED(msg);
	RTE_SET_USED(len);
	TD_IS(doca_ctx_stop(node->ctx), DOCA_ERROR_IN_PROGRESS);
}

/*
 * Both sides stop: whoever comes second stops what is stopping already. That is no
 * error, and no line says so. behaviour: C17, S24
 */
static void
both_stop(void)
{
	const char *said;
	struct td_flow f;

	td_flow_open(&f, 64, 2);
	t_capture_begin();
	/* The consumer's connection has ended, which its own engine has not seen yet. */
	TD_IS(doca_ctx_stop(f.p.ctx), DOCA_SUCCESS);
	TD_IS(doca_ctx_stop(f.t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&f.t, f.t.server.nb_disconnects == 1);
	TD_IS(doca_ctx_stop(f.c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, td_state(f.c.ctx) == DOCA_CTX_STATE_IDLE &&
		td_state(f.t.client.ctx) == DOCA_CTX_STATE_IDLE);
	/* A last message, and the end right behind it. */
	td_connect(&f.t);
	f.t.client.hooks.msg = stop_on_message;
	td_send(&f.t.server, "bye", 3);
	TD_IS(doca_ctx_stop(f.t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	while (f.t.server.nb_sent + f.t.server.nb_send_errors == 0)
		doca_pe_progress(f.t.server.pe);
	TD_UNTIL(&f.t, td_state(f.t.client.ctx) == DOCA_CTX_STATE_IDLE &&
		td_state(f.t.server.ctx) == DOCA_CTX_STATE_IDLE);
	said = t_capture_end();
	if (said[0] != '\0')
		T_FAIL("said: %s", said);
	td_flow_close(&f);
}

/* behaviour: S20, X1, X2, X4 */
static void
in_use(void)
{
	struct td_flow f;

	td_flow_open(&f, 64, 2);
	TD_IS(doca_ctx_stop(f.t.server.ctx), DOCA_ERROR_IN_USE);
	TD_IS(doca_ctx_stop(f.t.client.ctx), DOCA_ERROR_IN_USE);
	TD_IS(doca_comch_server_disconnect(f.t.server.server, f.t.server.conn),
		DOCA_ERROR_IN_USE);
	T_EQ(td_state(f.t.server.ctx), DOCA_CTX_STATE_RUNNING);
	T_EQ(td_state(f.t.client.ctx), DOCA_CTX_STATE_RUNNING);
	td_send(&f.t.client, "x", 1);
	TD_FLOW_UNTIL(&f, f.t.server.nb_msgs == 1);
	/* Stopped is enough; to be destroyed is for later. */
	TD_OK(doca_ctx_stop(f.p.ctx));
	TD_IS(doca_ctx_stop(f.c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, td_state(f.c.ctx) == DOCA_CTX_STATE_IDLE);
	TD_IS(doca_ctx_stop(f.t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, td_state(f.t.client.ctx) == DOCA_CTX_STATE_IDLE);
	td_flow_close(&f);
}

/* behaviour: X3, X7 */
static void
the_other_side_leaves(void)
{
	struct doca_buf *to;
	struct td_flow f;

	/* The consumer's side is the server's, the client has none. */
	td_flow_open(&f, 4096, 4);
	to = td_buf(&f.dst, 0, 64, false);
	td_post(&f.c, to);
	td_queue_destroy(&f.t, &f.p);
	TD_IS(doca_ctx_stop(f.t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&f.t, (doca_pe_progress(f.c.pe), td_state(f.c.ctx) == DOCA_CTX_STATE_IDLE &&
		td_state(f.t.client.ctx) == DOCA_CTX_STATE_IDLE));
	T_EQ(f.c.nb_errors, 1);
	T_EQ(f.c.states.next[f.c.states.nb - 2], DOCA_CTX_STATE_STOPPING);
	TD_UNTIL(&f.t, f.t.server.nb_disconnects == 1);
	TD_OK(doca_buf_dec_refcount(to, NULL));
	td_queue_destroy(&f.t, &f.c);
	td_mem_destroy(&f.src);
	td_mem_destroy(&f.dst);
	td_close(&f.t);
}

/* behaviour: X3 */
static void
a_producer_is_left(void)
{
	struct td_queue p;
	struct td t;

	td_open(&t);
	td_producer_create(&p, t.client.conn, NULL, 4);
	TD_OK(doca_ctx_start(p.ctx));
	TD_IS(doca_ctx_stop(t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, (doca_pe_progress(p.pe), td_state(p.ctx) == DOCA_CTX_STATE_IDLE));
	T_EQ(p.states.next[p.states.nb - 2], DOCA_CTX_STATE_STOPPING);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	td_queue_destroy(&t, &p);
	td_close(&t);
}

static struct doca_task *more[4];

/* In the callback of the first: three that there are no buffers for. */
static void
three_more(struct td_queue *q, struct doca_task *task)
{
	unsigned int i;

	if (q->nb_done + q->nb_errors > 1) {
		doca_task_free(task);
		return;
	}
	more[3] = task;
	for (i = 0; i < 3; i++)
		TD_OK(doca_task_submit(more[i]));
}

/* A flow with three submits that were put by in a callback and did not go. */
static void
put_by_open(struct td_flow *f, struct doca_buf **from)
{
	unsigned int i;

	td_flow_open(f, 4096, 8);
	*from = td_buf(&f->src, 0, 64, true);
	for (i = 0; i < 3; i++)
		more[i] = td_put_task(&f->p, *from, &i, sizeof(i), f->id);
	f->p.done = three_more;
	td_post(&f->c, NULL);
	TD_OK(doca_task_submit(td_put_task(&f->p, NULL, "x", 1, f->id)));
	TD_FLOW_UNTIL(f, f->p.nb_done == 1 && f->c.nb_done == 1);
	T_EQ(f->p.nb_errors, 0);
	TD_IS(doca_task_submit(more[3]), DOCA_ERROR_AGAIN);
}

/* behaviour: R2, R3, F2 */
static void
put_by_and_sent(void)
{
	struct doca_buf *to[4], *from;
	struct td_flow f;
	unsigned int i;
	uint32_t got;

	put_by_open(&f, &from);
	for (i = 0; i < RTE_DIM(to); i++)
		to[i] = td_buf(&f.dst, i * 64, 64, false);
	/* One place is not enough for three, nor for what comes behind them. */
	td_post(&f.c, to[0]);
	TD_IS(doca_task_submit(more[3]), DOCA_ERROR_AGAIN);
	for (i = 1; i < RTE_DIM(to); i++)
		td_post(&f.c, to[i]);
	/* No progress of this side. */
	TD_OK(doca_task_submit(more[3]));
	for (i = 0; i < 3; i++) {
		while (f.c.nb_done == i + 1)
			doca_pe_progress(f.c.pe);
		if (f.c.nb_done == i + 2) {
			memcpy(&got, f.c.imm, sizeof(got));
			T_EQ(got, i);
		}
	}
	TD_FLOW_UNTIL(&f, f.c.nb_done == 5 && f.p.nb_done == 5);
	T_EQ(f.c.imm_len, 1);
	for (i = 0; i < RTE_DIM(to); i++)
		TD_OK(doca_buf_dec_refcount(to[i], NULL));
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

/* behaviour: R13 */
static void
put_by_and_stopped(void)
{
	struct doca_buf *from;
	struct td_flow f;

	put_by_open(&f, &from);
	doca_task_free(more[3]);
	TD_IS(doca_ctx_stop(f.p.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, td_state(f.p.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(f.p.nb_errors, 3);
	T_EQ(f.p.status, DOCA_ERROR_SHUTDOWN);
	T_EQ(f.c.nb_done, 1);
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

/* behaviour: P16 */
static void
put_by_and_freed(void)
{
	struct doca_buf *to[2], *from;
	struct td_flow f;
	size_t n;

	put_by_open(&f, &from);
	doca_task_free(more[1]);
	TD_OK(doca_ctx_get_num_inflight_tasks(f.p.ctx, &n));
	T_EQ(n, 2);
	to[0] = td_buf(&f.dst, 0, 64, false);
	to[1] = td_buf(&f.dst, 64, 64, false);
	td_post(&f.c, to[0]);
	td_post(&f.c, to[1]);
	TD_FLOW_UNTIL(&f, f.c.nb_done == 3 && f.p.nb_done == 3);
	/* The second of the three did not go. */
	T_EQ(f.c.imm[0], 2);
	doca_task_free(more[3]);
	TD_OK(doca_buf_dec_refcount(to[0], NULL));
	TD_OK(doca_buf_dec_refcount(to[1], NULL));
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

/* behaviour: X3 */
static void
put_by_and_disconnected(void)
{
	struct doca_buf *from;
	struct td_flow f;

	put_by_open(&f, &from);
	doca_task_free(more[3]);
	td_queue_destroy(&f.t, &f.c);
	TD_IS(doca_ctx_stop(f.t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&f.t, (doca_pe_progress(f.p.pe), td_state(f.p.ctx) == DOCA_CTX_STATE_IDLE));
	T_EQ(f.p.nb_errors, 3);
	T_NE(f.p.status, DOCA_SUCCESS);
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_queue_destroy(&f.t, &f.p);
	td_mem_destroy(&f.src);
	td_mem_destroy(&f.dst);
	td_close(&f.t);
}

static const struct t_case cases[] = {
	{ "stop_with_tasks", stop_with_tasks },
	{ "free_what_is_posted", free_what_is_posted },
	{ "destroy_in_its_callback", destroy_in_its_callback },
	{ "starting_when_it_ends", starting_when_it_ends },
	{ "both_stop", both_stop },
	{ "in_use", in_use },
	{ "the_other_side_leaves", the_other_side_leaves },
	{ "a_producer_is_left", a_producer_is_left },
	{ "put_by_and_sent", put_by_and_sent },
	{ "put_by_and_stopped", put_by_and_stopped },
	{ "put_by_and_freed", put_by_and_freed },
	{ "put_by_and_disconnected", put_by_and_disconnected },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
