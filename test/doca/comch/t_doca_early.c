/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tasks of contexts that are not RUNNING yet, or no longer. */

#include "comch/queue.h"
#include "t_main.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE
#define NB 80

/* A pair with a consumer at one end, on an engine of its own, that is STARTING. */
struct early {
	struct pair t;
	struct memory mem;
	struct queue c;
};

static bool
early_progress(struct early *e)
{
	doca_pe_progress(e->c.pe);
	return pair_progress(&e->t);
}

static void
early_open(struct early *e, bool at_server)
{
	struct side *side = at_server ? &e->t.server : &e->t.client;

	pair_open(&e->t);
	memory_create(&e->mem, side->dev, 4096, RW);
	consumer_create(&e->c, side->conn, e->mem.mmap, NULL, NB);
	T_IS(doca_ctx_start(e->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_EQ(ctx_state(e->c.ctx), DOCA_CTX_STATE_STARTING);
}

static void
early_close(struct early *e)
{
	T_WAIT(early_progress(e), ctx_is_idle(e->c.ctx));
	T_OK(doca_comch_consumer_destroy(e->c.consumer));
	T_OK(doca_pe_destroy(e->c.pe));
	memory_destroy(&e->mem);
	pair_close(&e->t);
}

/* A receive that has a number. */
static struct doca_task *
post(struct queue *q, uint64_t number)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_task *task;

	T_OK(doca_comch_consumer_task_post_recv_alloc_init(q->consumer, NULL, &recv));
	task = doca_comch_consumer_task_post_recv_as_task(recv);
	doca_task_set_user_data(task, (union doca_data){ .u64 = number });
	T_OK(doca_task_submit(task));
	return task;
}

/* They come in order, with what was sent in that order. */
static void
got_in_order(struct queue *q, struct doca_task *task)
{
	uint32_t imm;

	T_OK(q->status);
	T_EQ(q->imm_len, sizeof(imm));
	memcpy(&imm, q->imm, sizeof(imm));
	T_EQ(imm + 1, q->nb_done);
	T_EQ(doca_task_get_user_data(task).u64, imm);
	doca_task_free(task);
}

static void
post_rest(struct queue *q, enum doca_ctx_states next)
{
	uint32_t i;

	/* What was posted before is the channel's when the program hears of RUNNING. */
	if (next == DOCA_CTX_STATE_RUNNING)
		for (i = NB / 2; i < NB; i++)
			post(q, i);
}

/* Receives that are posted while STARTING go first. behaviour: K15, P7, P14 */
T_CASE(posted_while_starting)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct queue prod;
	struct doca_task *task;
	uint32_t i, id;
	struct early e;
	size_t n;

	early_open(&e, true);
	e.c.done = got_in_order;
	e.c.state = post_rest;
	/* Some think better of it. */
	for (i = 0; i < NB / 2; i++)
		doca_task_free(post(&e.c, 1000 + i));
	for (i = 0; i < NB / 2; i++)
		post(&e.c, i);
	T_IS(doca_comch_consumer_task_post_recv_alloc_init(e.c.consumer, NULL, &recv),
		DOCA_ERROR_NO_MEMORY);
	T_GETS(doca_ctx_get_num_inflight_tasks(e.c.ctx, &n), n, NB / 2);
	/* Tasks that were freed can be had again with RUNNING. */
	T_WAIT(early_progress(&e), ctx_is_running(e.c.ctx));
	T_EQ(e.c.nb_done + e.c.nb_errors, 0);
	T_OK(doca_comch_consumer_get_id(e.c.consumer, &id));
	T_WAIT(early_progress(&e), e.t.client.new_id == id);
	producer_create(&prod, e.t.client.conn, e.t.client.pe, NB);
	T_OK(doca_ctx_start(prod.ctx));
	for (i = 0; i < NB; i++) {
		task = queue_put_task(&prod, NULL, &i, sizeof(i), id);
		T_WAIT(early_progress(&e), doca_task_submit(task) == DOCA_SUCCESS);
	}
	T_WAIT(early_progress(&e), e.c.nb_done == NB && prod.nb_done == NB);
	T_EQ(e.c.nb_errors, 0);
	queue_destroy(&e.t, &prod);
	doca_ctx_stop(e.c.ctx);
	early_close(&e);
}

/* A receive that is wrong is refused then, too. behaviour: K8, P6, P12 */
T_CASE(refused_while_starting)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct memory other;
	struct doca_buf *buf;
	struct early e;

	early_open(&e, false);
	memory_create(&other, e.t.client.dev, 4096, RW);
	buf = memory_buf(&other, 0, 64, false);
	T_INVALID(doca_comch_consumer_task_post_recv_alloc_init(e.c.consumer, buf, &recv));
	T_OK(doca_comch_consumer_task_post_recv_alloc_init(e.c.consumer, NULL, &recv));
	doca_comch_consumer_task_post_recv_set_buf(recv, buf);
	T_INVALID(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	doca_comch_consumer_task_post_recv_set_buf(recv, NULL);
	T_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	T_INVALID(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	T_WAIT(early_progress(&e), ctx_is_running(e.c.ctx));
	doca_ctx_stop(e.c.ctx);
	T_WAIT(early_progress(&e), e.c.nb_errors == 1);
	T_OK(doca_buf_dec_refcount(buf, NULL));
	memory_destroy(&other);
	early_close(&e);
}

/* Early receives come back by their error callbacks. behaviour: C14, C15, K16, K18 */
T_CASE(never_running)
{
	unsigned int i, how;
	struct early e;

	for (how = 0; how < 2; how++) {
		early_open(&e, true);
		for (i = 0; i < NB; i++)
			post(&e.c, i);
		if (how == 0)
			T_IS(doca_ctx_stop(e.c.ctx), DOCA_ERROR_IN_PROGRESS);
		else
			T_IS(doca_ctx_stop(e.t.client.ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(early_progress(&e), ctx_is_idle(e.c.ctx));
		T_EQ(e.c.nb_errors, NB);
		T_EQ(e.c.nb_done, 0);
		for (i = 0; i < e.c.states.nb; i++)
			T_NE(e.c.states.next[i], DOCA_CTX_STATE_RUNNING);
		early_close(&e);
	}
}

/* A program's way: once the peer's consumer is there it posts for its own. */
struct party {
	struct side *side;
	struct memory mem;
	struct queue c;
};

static void
post_for_own(struct side *side, uint32_t id __rte_unused)
{
	struct party *p = side->arg;
	uint32_t i;

	for (i = 0; i < 4; i++)
		post(&p->c, i);
}

static void
party_join(struct party *p, struct side *side)
{
	memset(p, 0, sizeof(*p));
	p->side = side;
	side->arg = p;
	side->hooks.consumer = post_for_own;
	memory_create(&p->mem, side->dev, 64, RW);
	consumer_create(&p->c, side->conn, p->mem.mmap, side->pe, 4);
	T_IS(doca_ctx_start(p->c.ctx), DOCA_ERROR_IN_PROGRESS);
}

/* behaviour: P14 */
T_CASE(posted_when_announced)
{
	struct party server, client;
	unsigned int i;
	struct pair t;

	/* Each of the two is the first to start, and to look. */
	for (i = 0; i < 20; i++) {
		pair_open(&t);
		party_join(i % 2 == 0 ? &server : &client, i % 2 == 0 ? &t.server : &t.client);
		if (i % 4 < 2)
			doca_pe_progress(i % 2 == 0 ? t.client.pe : t.server.pe);
		party_join(i % 2 == 0 ? &client : &server, i % 2 == 0 ? &t.client : &t.server);
		T_WAIT(pair_progress(&t), t.server.nb_new == 1 && t.client.nb_new == 1 &&
			ctx_is_running(server.c.ctx) && ctx_is_running(client.c.ctx));
		T_EQ(server.c.nb_errors + client.c.nb_errors, 0);
		queue_destroy(&t, &server.c);
		queue_destroy(&t, &client.c);
		T_EQ(server.c.nb_errors, 4);
		T_EQ(client.c.nb_errors, 4);
		memory_destroy(&server.mem);
		memory_destroy(&client.mem);
		pair_close(&t);
	}
}

/* Once a stop has begun, all kinds of tasks may be had, and come back. */

static void
submit_each(struct flow *f)
{
	struct doca_comch_task_send *send;
	struct doca_task *task;

	T_OK(doca_comch_server_task_send_alloc_init(f->t.server.server, f->t.server.conn, "x", 1,
		&send));
	T_OK(doca_task_submit(doca_comch_task_send_as_task(send)));
	task = queue_put_task(&f->p, NULL, "imm", 3, f->id);
	T_OK(doca_task_submit(task));
	post(&f->c, 0);
}

/* behaviour: C14, P7, P9 */
FLOW_CASE(submitted_while_stopping, f, 64, 4)
{
	struct doca_comch_task_send *held;
	struct doca_task *put, *recv;

	/* A task that the program has not freed holds each of them. */
	held = side_task(&f->t.server, "held", 4);
	put = queue_put_task(&f->p, NULL, "imm", 3, f->id);
	recv = post(&f->c, 7);
	f->c.keep_tasks = true;
	T_IS(doca_ctx_stop(f->p.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_ctx_stop(f->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), f->c.nb_errors == 1);
	T_SETTLE(flow_progress(f));
	f->c.keep_tasks = false;
	/* The server has to stay until they are IDLE, so it runs, as does its task. */
	submit_each(f);
	T_EQ(ctx_state(f->p.ctx), DOCA_CTX_STATE_STOPPING);
	T_EQ(ctx_state(f->c.ctx), DOCA_CTX_STATE_STOPPING);
	T_WAIT(flow_progress(f), f->p.nb_errors == 1 && f->c.nb_errors == 2 &&
		f->t.server.nb_sent == 1);
	T_IS(f->p.status, DOCA_ERROR_SHUTDOWN);
	T_IS(f->c.status, DOCA_ERROR_SHUTDOWN);
	T_EQ(f->p.nb_done + f->c.nb_done, 0);
	/* One that is submitted and freed is no one's. */
	T_OK(doca_task_submit(put));
	doca_task_free(put);
	doca_task_free(recv);
	T_WAIT(flow_progress(f), ctx_is_idle(f->p.ctx) && ctx_is_idle(f->c.ctx));
	T_EQ(f->p.nb_errors, 1);
	/* And the server. */
	T_IS(doca_ctx_stop(f->t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), ctx_is_idle(f->t.client.ctx));
	T_SETTLE(flow_progress(f));
	T_EQ(ctx_state(f->t.server.ctx), DOCA_CTX_STATE_STOPPING);
	T_OK(doca_task_submit(doca_comch_task_send_as_task(held)));
	T_WAIT(flow_progress(f), ctx_is_idle(f->t.server.ctx));
	T_EQ(f->t.server.nb_send_errors, 1);
}

/* A sleeper hears of a task that is submitted while it stops. behaviour: C14, E5 */
PAIR_CASE(stopping_wakes, t)
{
	struct doca_task *task;
	int fd;

	task = doca_comch_task_send_as_task(side_task(&t->client, "x", 1));
	T_OK(doca_pe_get_notification_handle(t->client.pe, &fd));
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_SETTLE(pair_progress(t));
	T_OK(doca_pe_request_notification(t->client.pe));
	T_CHECK(!t_readable(fd, 0));
	T_OK(doca_task_submit(task));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_OK(doca_pe_clear_notification(t->client.pe, fd));
	/* Asked for after the submit. */
	T_OK(doca_pe_request_notification(t->client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_OK(doca_pe_clear_notification(t->client.pe, fd));
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->client.nb_send_errors, 1);
}
