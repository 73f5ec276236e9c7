/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tasks that are freed or submitted, and contexts that start again, within callbacks. */

#include "comch/sleeper.h"
#include "t_main.h"

/* Queues that live within one callback */

struct brief {
	struct memory mem;
	struct queue cons, prod;
	unsigned int rounds;
};

static void
brief_life(struct side *side, struct doca_comch_connection *conn, uint8_t *msg __rte_unused,
		uint32_t len __rte_unused)
{
	struct brief *b = side->arg;

	b->rounds++;
	producer_create(&b->prod, conn, side->pe, 8);
	T_OK(doca_ctx_start(b->prod.ctx));
	T_IS(doca_ctx_stop(b->prod.ctx), DOCA_ERROR_IN_PROGRESS);
	consumer_create(&b->cons, conn, b->mem.mmap, side->pe, 8);
	T_IS(doca_ctx_start(b->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_ctx_stop(b->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_comch_producer_destroy(b->prod.producer), DOCA_ERROR_IN_USE);
	T_IS(doca_comch_consumer_destroy(b->cons.consumer), DOCA_ERROR_IN_USE);
}

PAIR_CASE(queues_in_msg, t)
{
	struct brief b = { .rounds = 0 };
	unsigned int i;

	memory_create(&b.mem, t->server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	t->server.arg = &b;
	t->server.hooks.msg = brief_life;
	for (i = 1; i <= 10; i++) {
		side_send(&t->client, "go", 2);
		T_WAIT(pair_progress(t), b.rounds == i);
		T_WAIT(pair_progress(t), ctx_is_idle(b.prod.ctx) && ctx_is_idle(b.cons.ctx));
		/* No RUNNING: it was stopped before. */
		T_EQ(b.cons.states.nb, 3);
		queue_destroy(t, &b.prod);
		queue_destroy(t, &b.cons);
	}
	memory_destroy(&b.mem);
}

/* Tasks */

#define NB_TASKS 16

static struct doca_task *all[NB_TASKS];
static unsigned int nb_back;

/* The first one takes the others with it. */
static void
free_all(struct queue *q, struct doca_task *task)
{
	unsigned int i;
	size_t n;

	T_CHECK(task == all[0]);
	T_EQ(nb_back++, 0);
	for (i = 0; i < NB_TASKS; i++)
		doca_task_free(all[i]);
	T_GETS(doca_ctx_get_num_inflight_tasks(q->ctx, &n), n, 0);
}

/* behaviour: K16, P16 */
PAIR_CASE(all_freed_in_one_error, t)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct queue cons;
	unsigned int i;

	consumer_open(&cons, &t->client, t->client.pe, NB_TASKS);
	consumer_start(t, &cons);
	for (i = 0; i < NB_TASKS; i++) {
		T_OK(doca_comch_consumer_task_post_recv_alloc_init(cons.consumer, NULL, &recv));
		all[i] = doca_comch_consumer_task_post_recv_as_task(recv);
		T_OK(doca_task_submit(all[i]));
	}
	nb_back = 0;
	cons.done = free_all;
	T_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(cons.ctx));
	T_EQ(nb_back, 1);
	queue_destroy(t, &cons);
}

#define SHORT_QUEUE 4

/* The first that fails takes all with it, those that are done as well. */
static void
free_all_sends(struct side *side, struct doca_comch_task_send *task __rte_unused)
{
	unsigned int i;

	if (side->nb_send_errors == 0)
		return;
	T_EQ(nb_back++, 0);
	for (i = 0; i < NB_TASKS; i++)
		doca_task_free(all[i]);
}

/* behaviour: T11 */
PAIR_CASE_CREATED(all_sends_freed_in_one_error, t)
{
	unsigned int i;

	T_OK(doca_comch_client_set_recv_queue_size(t->client.client, SHORT_QUEUE));
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	/* The client's queue takes some, the others wait. */
	for (i = 0; i < NB_TASKS; i++) {
		all[i] = doca_comch_task_send_as_task(side_task(&t->server, "lost", 4));
		T_OK(doca_task_submit(all[i]));
	}
	nb_back = 0;
	t->server.hooks.sent = free_all_sends;
	T_OK(doca_comch_server_disconnect(t->server.server, t->server.conn));
	/* A client that looks away takes no more. */
	T_WAIT(doca_pe_progress(t->server.pe), nb_back != 0);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->server.nb_sent, SHORT_QUEUE);
	T_EQ(t->server.nb_send_errors, 1);
	/* All of them can be had again. */
	t->server.hooks.sent = NULL;
	pair_connect(t);
	pair_traffic(t);
}

static void
submit_again(struct queue *q, struct doca_task *task)
{
	union doca_data times = doca_task_get_user_data(task);

	T_NE(ctx_state(q->ctx), DOCA_CTX_STATE_RUNNING);
	if (times.u64++ < 2) {
		doca_task_set_user_data(task, times);
		T_OK(doca_task_submit(task));
		T_INVALID(doca_task_submit(task));
		return;
	}
	doca_task_free(task);
	T_INVALID(doca_task_submit(task));
}

static void
send_again(struct side *side, struct doca_comch_task_send *task)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);

	T_EQ(ctx_state(side->ctx), DOCA_CTX_STATE_STOPPING);
	if (side->nb_sent + side->nb_send_errors <= 200)
		T_OK(doca_task_submit(t));
	else
		doca_task_free(t);
}

/* behaviour: C14, K16 */
PAIR_CASE(submitted_again_in_error, t)
{
	struct queue cons;
	unsigned int i;

	consumer_open(&cons, &t->client, t->client.pe, NB_TASKS);
	consumer_start(t, &cons);
	for (i = 0; i < NB_TASKS; i++)
		queue_post(&cons, NULL);
	cons.done = submit_again;
	T_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(cons.ctx));
	T_EQ(cons.nb_errors, 3 * NB_TASKS);
	queue_destroy(t, &cons);
	for (i = 0; i < 200; i++)
		side_send(&t->client, "x", 1);
	t->client.hooks.sent = send_again;
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->client.nb_sent + t->client.nb_send_errors, 400);
	T_GE(t->client.nb_send_errors, 200);
}

/* Taken until the end is told, and not any more from then on. */
static void
submit_in_vain(struct side *side, struct doca_comch_task_send *task)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);
	doca_error_t ret = DOCA_SUCCESS;

	if (side->send_status != DOCA_SUCCESS)
		ret = doca_task_submit(t);
	if (ret == DOCA_ERROR_NOT_CONNECTED || side->send_status == DOCA_SUCCESS)
		doca_task_free(t);
	else
		T_OK(ret);
}

/* The server lives on, its connection does not. behaviour: T10 */
PAIR_CASE(sent_again_in_error, t)
{
	unsigned int i;
	size_t n;

	for (i = 0; i < 200; i++)
		side_send(&t->server, "x", 1);
	t->server.hooks.sent = submit_in_vain;
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_GE(t->server.nb_sent + t->server.nb_send_errors, 200);
	T_LE(t->server.nb_sent + t->server.nb_send_errors, 400);
	T_GETS(doca_ctx_get_num_inflight_tasks(t->server.ctx, &n), n, 0);
}

/* Again and again */

static void
start_again(struct side *side, enum doca_ctx_states next)
{
	unsigned int *left = side->arg;

	/* Room for more states. */
	side->states.nb = 0;
	if (next == DOCA_CTX_STATE_IDLE && *left > 0) {
		(*left)--;
		T_IS(doca_ctx_start(side->ctx), side->server != NULL ? DOCA_SUCCESS :
			DOCA_ERROR_IN_PROGRESS);
	}
}

/* behaviour: C19, S26 */
PAIR_CASE(restarted_in_idle, t)
{
	unsigned int left = 5, rounds = 0, server_left = 5;

	t->client.arg = &left;
	t->client.hooks.state = start_again;
	while (left > 0) {
		pair_traffic(t);
		T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
		rounds++;
		T_WAIT(pair_progress(t), t->server.nb_disconnects == rounds &&
			t->server.nb_connects == rounds + 1 && ctx_is_running(t->client.ctx));
	}
	T_EQ(rounds, 5);
	/* Both at once. */
	left = 5;
	t->server.arg = &server_left;
	t->server.hooks.state = start_again;
	while (server_left > 0) {
		T_IS(doca_ctx_stop(t->server.ctx), DOCA_ERROR_IN_PROGRESS);
		rounds++;
		T_WAIT(pair_progress(t), t->server.nb_disconnects == rounds &&
			t->server.nb_connects == rounds + 1 && ctx_is_running(t->client.ctx));
	}
	/* The pair is closed after this function's variables are gone. */
	t->client.hooks.state = NULL;
	t->server.hooks.state = NULL;
}

/* A client that gives up tries again, each time from its callback. */
T_CASE(restarted_in_vain)
{
	struct side client;
	unsigned int left = 3;

	client_create(&client, "nobody");
	client.arg = &left;
	client.hooks.state = start_again;
	T_IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(client.pe), ctx_is_idle(client.ctx));
	T_EQ(left, 0);
	side_destroy(&client);
}

static void
queue_again(struct queue *q, enum doca_ctx_states next)
{
	unsigned int *left = q->arg;

	q->states.nb = 0;
	if (next == DOCA_CTX_STATE_IDLE && (*left)-- > 0)
		T_IS(doca_ctx_start(q->ctx), q->producer != NULL ? DOCA_SUCCESS :
			DOCA_ERROR_IN_PROGRESS);
}

/* behaviour: C19 */
PAIR_CASE(queues_restarted_in_idle, t)
{
	unsigned int left, before, left_prod = 5, gone = 0;
	struct queue cons, prod;

	consumer_open(&cons, &t->client, t->client.pe, NB_TASKS);
	producer_create(&prod, t->client.conn, t->client.pe, NB_TASKS);
	cons.arg = &left;
	prod.arg = &left_prod;
	prod.state = queue_again;
	cons.state = queue_again;
	T_OK(doca_ctx_start(prod.ctx));
	while (left_prod > 0) {
		left_prod = 1;
		T_OK(doca_ctx_stop(prod.ctx));
		T_EQ(ctx_state(prod.ctx), DOCA_CTX_STATE_RUNNING);
	}
	T_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	left = 5;
	while (left > 0) {
		T_WAIT(pair_progress(t), ctx_is_running(cons.ctx));
		queue_post(&cons, NULL);
		before = left;
		T_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
		gone++;
		/* Either may come first. */
		T_WAIT(pair_progress(t), t->server.nb_gone == gone && left < before);
	}
	T_WAIT(pair_progress(t), ctx_is_running(cons.ctx));
	queue_destroy(t, &cons);
	left_prod = 0;
	queue_destroy(t, &prod);
}
