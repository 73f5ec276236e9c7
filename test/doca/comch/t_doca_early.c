/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tasks of contexts that are not RUNNING yet, or no longer. */

#include "t_main.h"
#include "comch/pair.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE
#define NB 80

/* A pair with a consumer at one end, on an engine of its own, that is STARTING. */
struct early {
	struct td t;
	struct td_mem mem;
	struct td_queue c;
};

static void
early_open(struct early *e, bool at_server)
{
	struct td_node *node = at_server ? &e->t.server : &e->t.client;

	td_open(&e->t);
	td_mem_create(&e->mem, node->dev, 4096, RW);
	td_consumer_create(&e->c, node->conn, e->mem.mmap, NULL, NB);
	TD_IS(doca_ctx_start(e->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_EQ(td_state(e->c.ctx), DOCA_CTX_STATE_STARTING);
}

#define EARLY_UNTIL(e, cond) TD_UNTIL(&(e)->t, (doca_pe_progress((e)->c.pe), (cond)))

static void
early_close(struct early *e)
{
	EARLY_UNTIL(e, td_state(e->c.ctx) == DOCA_CTX_STATE_IDLE);
	TD_OK(doca_comch_consumer_destroy(e->c.consumer));
	TD_OK(doca_pe_destroy(e->c.pe));
	td_mem_destroy(&e->mem);
	td_close(&e->t);
}

/* A receive that has a number. */
static struct doca_task *
post(struct td_queue *q, uint64_t number)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_task *task;

	TD_OK(doca_comch_consumer_task_post_recv_alloc_init(q->consumer, NULL, &recv));
	task = doca_comch_consumer_task_post_recv_as_task(recv);
	doca_task_set_user_data(task, (union doca_data){ .u64 = number });
	TD_OK(doca_task_submit(task));
	return task;
}

/* They come in order, with what was sent in that order. */
static void
got_in_order(struct td_queue *q, struct doca_task *task)
{
	uint32_t imm;

	TD_OK(q->status);
	T_EQ(q->imm_len, sizeof(imm));
	memcpy(&imm, q->imm, sizeof(imm));
	T_EQ(imm + 1, q->nb_done);
	T_EQ(doca_task_get_user_data(task).u64, imm);
	doca_task_free(task);
}

static void
post_rest(struct td_queue *q, enum doca_ctx_states next)
{
	uint32_t i;

	/* What was posted before is the channel's when the program hears of RUNNING. */
	if (next == DOCA_CTX_STATE_RUNNING)
		for (i = NB / 2; i < NB; i++)
			post(q, i);
}

/* Receives that are posted while STARTING go first. behaviour: K15, P7, P14 */
static void
posted_while_starting(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct td_queue prod;
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
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(e.c.consumer, NULL, &recv),
		DOCA_ERROR_NO_MEMORY);
	TD_OK(doca_ctx_get_num_inflight_tasks(e.c.ctx, &n));
	T_EQ(n, NB / 2);
	/* Tasks that were freed can be had again with RUNNING. */
	EARLY_UNTIL(&e, td_state(e.c.ctx) == DOCA_CTX_STATE_RUNNING);
	T_EQ(e.c.nb_done + e.c.nb_errors, 0);
	TD_OK(doca_comch_consumer_get_id(e.c.consumer, &id));
	EARLY_UNTIL(&e, e.t.client.new_id == id);
	td_producer_create(&prod, e.t.client.conn, e.t.client.pe, NB);
	TD_OK(doca_ctx_start(prod.ctx));
	for (i = 0; i < NB; i++) {
		task = td_put_task(&prod, NULL, &i, sizeof(i), id);
		EARLY_UNTIL(&e, doca_task_submit(task) == DOCA_SUCCESS);
	}
	EARLY_UNTIL(&e, e.c.nb_done == NB && prod.nb_done == NB);
	T_EQ(e.c.nb_errors, 0);
	td_queue_destroy(&e.t, &prod);
	doca_ctx_stop(e.c.ctx);
	early_close(&e);
}

/* A receive that is wrong is refused then, too. behaviour: K8, P6, P12 */
static void
refused_while_starting(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct td_mem other;
	struct doca_buf *buf;
	struct early e;

	early_open(&e, false);
	td_mem_create(&other, e.t.client.dev, 4096, RW);
	buf = td_buf(&other, 0, 64, false);
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(e.c.consumer, buf, &recv),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_comch_consumer_task_post_recv_alloc_init(e.c.consumer, NULL, &recv));
	doca_comch_consumer_task_post_recv_set_buf(recv, buf);
	TD_IS(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)),
		DOCA_ERROR_INVALID_VALUE);
	doca_comch_consumer_task_post_recv_set_buf(recv, NULL);
	TD_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	TD_IS(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)),
		DOCA_ERROR_INVALID_VALUE);
	EARLY_UNTIL(&e, td_state(e.c.ctx) == DOCA_CTX_STATE_RUNNING);
	doca_ctx_stop(e.c.ctx);
	EARLY_UNTIL(&e, e.c.nb_errors == 1);
	TD_OK(doca_buf_dec_refcount(buf, NULL));
	td_mem_destroy(&other);
	early_close(&e);
}

/* Early receives come back by their error callbacks. behaviour: C14, C15, K16, K18 */
static void
never_running(void)
{
	unsigned int i, how;
	struct early e;

	for (how = 0; how < 2; how++) {
		early_open(&e, true);
		for (i = 0; i < NB; i++)
			post(&e.c, i);
		if (how == 0)
			TD_IS(doca_ctx_stop(e.c.ctx), DOCA_ERROR_IN_PROGRESS);
		else
			TD_IS(doca_ctx_stop(e.t.client.ctx), DOCA_ERROR_IN_PROGRESS);
		EARLY_UNTIL(&e, td_state(e.c.ctx) == DOCA_CTX_STATE_IDLE);
		T_EQ(e.c.nb_errors, NB);
		T_EQ(e.c.nb_done, 0);
		for (i = 0; i < e.c.states.nb; i++)
			T_NE(e.c.states.next[i], DOCA_CTX_STATE_RUNNING);
		early_close(&e);
	}
}

/* A program's way: once the peer's consumer is there it posts for its own. */
struct party {
	struct td_node *node;
	struct td_mem mem;
	struct td_queue c;
};

static void
post_for_own(struct td_node *node, uint32_t id)
{
	struct party *p = node->arg;
	uint32_t i;

	RTE_SET_USED(id);
	for (i = 0; i < 4; i++)
		post(&p->c, i);
}

static void
party_join(struct party *p, struct td_node *node)
{
	memset(p, 0, sizeof(*p));
	p->node = node;
	node->arg = p;
	node->hooks.consumer = post_for_own;
	td_mem_create(&p->mem, node->dev, 64, RW);
	td_consumer_create(&p->c, node->conn, p->mem.mmap, node->pe, 4);
	TD_IS(doca_ctx_start(p->c.ctx), DOCA_ERROR_IN_PROGRESS);
}

/* behaviour: P14 */
static void
posted_when_announced(void)
{
	struct party server, client;
	unsigned int i;
	struct td t;

	/* Each of the two is the first to start, and to look. */
	for (i = 0; i < 20; i++) {
		td_open(&t);
		party_join(i % 2 == 0 ? &server : &client, i % 2 == 0 ? &t.server : &t.client);
		if (i % 4 < 2)
			doca_pe_progress(i % 2 == 0 ? t.client.pe : t.server.pe);
		party_join(i % 2 == 0 ? &client : &server, i % 2 == 0 ? &t.client : &t.server);
		TD_UNTIL(&t, t.server.nb_new == 1 && t.client.nb_new == 1 &&
			td_state(server.c.ctx) == DOCA_CTX_STATE_RUNNING &&
			td_state(client.c.ctx) == DOCA_CTX_STATE_RUNNING);
		T_EQ(server.c.nb_errors + client.c.nb_errors, 0);
		td_queue_destroy(&t, &server.c);
		td_queue_destroy(&t, &client.c);
		T_EQ(server.c.nb_errors, 4);
		T_EQ(client.c.nb_errors, 4);
		td_mem_destroy(&server.mem);
		td_mem_destroy(&client.mem);
		td_close(&t);
	}
}

/* Once a stop has begun, all kinds of tasks may be had, and come back. */

static void
submit_each(struct td_flow *f)
{
	struct doca_comch_task_send *send;
	struct doca_task *task;

	TD_OK(doca_comch_server_task_send_alloc_init(f->t.server.server, f->t.server.conn, "x", 1,
		&send));
	TD_OK(doca_task_submit(doca_comch_task_send_as_task(send)));
	task = td_put_task(&f->p, NULL, "imm", 3, f->id);
	TD_OK(doca_task_submit(task));
	post(&f->c, 0);
}

/* behaviour: C14, P7, P9 */
static void
submitted_while_stopping(void)
{
	struct doca_comch_task_send *held;
	struct doca_task *put, *recv;
	struct td_flow f;

	td_flow_open(&f, 64, 4);
	/* A task that the program has not freed holds each of them. */
	held = td_task(&f.t.server, "held", 4);
	put = td_put_task(&f.p, NULL, "imm", 3, f.id);
	recv = post(&f.c, 7);
	f.c.keep_tasks = true;
	TD_IS(doca_ctx_stop(f.p.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_ctx_stop(f.c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, f.c.nb_errors == 1 && !td_flow_progress(&f));
	f.c.keep_tasks = false;
	/* The server has to stay until they are IDLE, so it runs, as does its task. */
	submit_each(&f);
	T_EQ(td_state(f.p.ctx), DOCA_CTX_STATE_STOPPING);
	T_EQ(td_state(f.c.ctx), DOCA_CTX_STATE_STOPPING);
	TD_FLOW_UNTIL(&f, f.p.nb_errors == 1 && f.c.nb_errors == 2 && f.t.server.nb_sent == 1);
	T_EQ(f.p.status, DOCA_ERROR_SHUTDOWN);
	T_EQ(f.c.status, DOCA_ERROR_SHUTDOWN);
	T_EQ(f.p.nb_done + f.c.nb_done, 0);
	/* One that is submitted and freed is no one's. */
	TD_OK(doca_task_submit(put));
	doca_task_free(put);
	doca_task_free(recv);
	TD_FLOW_UNTIL(&f, td_state(f.p.ctx) == DOCA_CTX_STATE_IDLE &&
		td_state(f.c.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(f.p.nb_errors, 1);
	/* And the server. */
	TD_IS(doca_ctx_stop(f.t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, td_state(f.t.client.ctx) == DOCA_CTX_STATE_IDLE &&
		!td_flow_progress(&f));
	T_EQ(td_state(f.t.server.ctx), DOCA_CTX_STATE_STOPPING);
	TD_OK(doca_task_submit(doca_comch_task_send_as_task(held)));
	TD_FLOW_UNTIL(&f, td_state(f.t.server.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(f.t.server.nb_send_errors, 1);
	td_flow_close(&f);
}

/* A sleeper hears of a task that is submitted while it stops. behaviour: C14, E5 */
static void
stopping_wakes(void)
{
	struct doca_task *task;
	struct td t;
	int fd;

	td_open(&t);
	task = doca_comch_task_send_as_task(td_task(&t.client, "x", 1));
	TD_OK(doca_pe_get_notification_handle(t.client.pe, &fd));
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, t.server.nb_disconnects == 1 && !td_progress(&t));
	TD_OK(doca_pe_request_notification(t.client.pe));
	T_CHECK(!t_readable(fd, 0));
	TD_OK(doca_task_submit(task));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	TD_OK(doca_pe_clear_notification(t.client.pe, fd));
	/* Asked for after the submit. */
	TD_OK(doca_pe_request_notification(t.client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	TD_OK(doca_pe_clear_notification(t.client.pe, fd));
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(t.client.nb_send_errors, 1);
	td_close(&t);
}

static const struct t_case cases[] = {
	{ "posted_while_starting", posted_while_starting },
	{ "refused_while_starting", refused_while_starting },
	{ "never_running", never_running },
	{ "posted_when_announced", posted_when_announced },
	{ "submitted_while_stopping", submitted_while_stopping },
	{ "stopping_wakes", stopping_wakes },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
