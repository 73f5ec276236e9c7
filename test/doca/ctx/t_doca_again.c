/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tasks that are freed or submitted, and contexts that start again, within callbacks. */

#include "t_main.h"
#include "comch/sleeper.h"

/* Queues that live within one callback */

struct brief {
	struct td_mem mem;
	struct td_queue cons, prod;
	unsigned int rounds;
};

static void
brief_life(struct td_node *node, struct doca_comch_connection *conn, uint8_t *msg, uint32_t len)
{
	struct brief *b = node->arg;

	RTE_SET_USED(msg);
	RTE_SET_USED(len);
	b->rounds++;
	td_producer_create(&b->prod, conn, node->pe, 8);
	TD_OK(doca_ctx_start(b->prod.ctx));
	TD_IS(doca_ctx_stop(b->prod.ctx), DOCA_ERROR_IN_PROGRESS);
	td_consumer_create(&b->cons, conn, b->mem.mmap, node->pe, 8);
	TD_IS(doca_ctx_start(b->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_ctx_stop(b->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_comch_producer_destroy(b->prod.producer), DOCA_ERROR_IN_USE);
	TD_IS(doca_comch_consumer_destroy(b->cons.consumer), DOCA_ERROR_IN_USE);
}

static void
queues_in_msg(void)
{
	struct brief b = { .rounds = 0 };
	unsigned int i;
	struct td t;

	td_open(&t);
	td_mem_create(&b.mem, t.server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	t.server.arg = &b;
	t.server.hooks.msg = brief_life;
	for (i = 1; i <= 10; i++) {
		td_send(&t.client, "go", 2);
		TD_UNTIL(&t, b.rounds == i);
		TD_UNTIL(&t, td_state(b.prod.ctx) == DOCA_CTX_STATE_IDLE &&
			td_state(b.cons.ctx) == DOCA_CTX_STATE_IDLE);
		/* No RUNNING: it was stopped before. */
		T_EQ(b.cons.states.nb, 3);
		td_queue_destroy(&t, &b.prod);
		td_queue_destroy(&t, &b.cons);
	}
	td_mem_destroy(&b.mem);
	td_close(&t);
}

/* Tasks */

#define NB_TASKS 16

static struct doca_task *all[NB_TASKS];
static unsigned int nb_back;

/* The first one takes the others with it. */
static void
free_all(struct td_queue *q, struct doca_task *task)
{
	unsigned int i;
	size_t n;

	T_CHECK(task == all[0]);
	T_EQ(nb_back++, 0);
	for (i = 0; i < NB_TASKS; i++)
		doca_task_free(all[i]);
	TD_OK(doca_ctx_get_num_inflight_tasks(q->ctx, &n));
	T_EQ(n, 0);
}

/* behaviour: K16, P16 */
static void
all_freed_in_one_error(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct td_queue cons;
	struct td_mem mem;
	unsigned int i;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, t.client.pe, NB_TASKS);
	td_consumer_start(&t, &cons);
	for (i = 0; i < NB_TASKS; i++) {
		TD_OK(doca_comch_consumer_task_post_recv_alloc_init(cons.consumer, NULL, &recv));
		all[i] = doca_comch_consumer_task_post_recv_as_task(recv);
		TD_OK(doca_task_submit(all[i]));
	}
	nb_back = 0;
	cons.done = free_all;
	TD_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(cons.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(nb_back, 1);
	td_queue_destroy(&t, &cons);
	td_mem_destroy(&mem);
	td_close(&t);
}

static void
free_all_sends(struct td_node *node, struct doca_comch_task_send *task)
{
	unsigned int i;

	RTE_SET_USED(task);
	T_EQ(node->nb_send_errors, 1);
	nb_back++;
	for (i = 0; i < NB_TASKS; i++)
		doca_task_free(all[i]);
}

/* behaviour: T11 */
static void
all_sends_freed_in_one_error(void)
{
	unsigned int i;
	struct td t;

	td_create(&t);
	TD_OK(doca_comch_client_set_recv_queue_size(t.client.client, 4));
	TD_OK(doca_ctx_start(t.server.ctx));
	td_connect(&t);
	/* Some are on their way, others wait. */
	for (i = 0; i < NB_TASKS; i++) {
		all[i] = doca_comch_task_send_as_task(td_task(&t.server, "lost", 4));
		TD_OK(doca_task_submit(all[i]));
	}
	nb_back = 0;
	t.server.hooks.sent = free_all_sends;
	TD_OK(doca_comch_server_disconnect(t.server.server, t.server.conn));
	/* A client that looks away takes none. */
	while (nb_back == 0)
		doca_pe_progress(t.server.pe);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	/* All of them can be had again. */
	td_connect(&t);
	T_EQ(t.server.nb_sent, 0);
	T_EQ(t.server.nb_send_errors, 1);
	td_close(&t);
}

static void
submit_again(struct td_queue *q, struct doca_task *task)
{
	union doca_data times = doca_task_get_user_data(task);

	T_NE(td_state(q->ctx), DOCA_CTX_STATE_RUNNING);
	if (times.u64++ < 2) {
		doca_task_set_user_data(task, times);
		TD_OK(doca_task_submit(task));
		TD_IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
		return;
	}
	doca_task_free(task);
	TD_IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
}

static void
send_again(struct td_node *node, struct doca_comch_task_send *task)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);

	T_EQ(td_state(node->ctx), DOCA_CTX_STATE_STOPPING);
	if (node->nb_sent + node->nb_send_errors <= 200)
		TD_OK(doca_task_submit(t));
	else
		doca_task_free(t);
}

/* behaviour: C14, K16 */
static void
submitted_again_in_error(void)
{
	struct td_queue cons;
	struct td_mem mem;
	unsigned int i;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, t.client.pe, NB_TASKS);
	td_consumer_start(&t, &cons);
	for (i = 0; i < NB_TASKS; i++)
		td_post(&cons, NULL);
	cons.done = submit_again;
	TD_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(cons.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(cons.nb_errors, 3 * NB_TASKS);
	td_queue_destroy(&t, &cons);
	td_mem_destroy(&mem);
	for (i = 0; i < 200; i++)
		td_send(&t.client, "x", 1);
	t.client.hooks.sent = send_again;
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(t.client.nb_sent + t.client.nb_send_errors, 400);
	T_GE(t.client.nb_send_errors, 200);
	td_close(&t);
}

/* Taken until the end is told, and not any more from then on. */
static void
submit_in_vain(struct td_node *node, struct doca_comch_task_send *task)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);
	doca_error_t ret = DOCA_SUCCESS;

	if (node->send_status != DOCA_SUCCESS)
		ret = doca_task_submit(t);
	if (ret == DOCA_ERROR_NOT_CONNECTED || node->send_status == DOCA_SUCCESS)
		doca_task_free(t);
	else
		TD_OK(ret);
}

/* The server lives on, its connection does not. behaviour: T10 */
static void
sent_again_in_error(void)
{
	unsigned int i;
	struct td t;
	size_t n;

	td_open(&t);
	for (i = 0; i < 200; i++)
		td_send(&t.server, "x", 1);
	t.server.hooks.sent = submit_in_vain;
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, t.server.nb_disconnects == 1);
	T_GE(t.server.nb_sent + t.server.nb_send_errors, 200);
	T_LE(t.server.nb_sent + t.server.nb_send_errors, 400);
	TD_OK(doca_ctx_get_num_inflight_tasks(t.server.ctx, &n));
	T_EQ(n, 0);
	td_close(&t);
}

/* Again and again */

static void
start_again(struct td_node *node, enum doca_ctx_states next)
{
	unsigned int *left = node->arg;

	/* Room for more states. */
	node->states.nb = 0;
	if (next == DOCA_CTX_STATE_IDLE && *left > 0) {
		(*left)--;
		TD_IS(doca_ctx_start(node->ctx), node->server != NULL ? DOCA_SUCCESS :
			DOCA_ERROR_IN_PROGRESS);
	}
}

/* behaviour: C19, S26 */
static void
restarted_in_idle(void)
{
	unsigned int left = 5, rounds = 0, server_left = 5;
	struct td t;

	td_open(&t);
	t.client.arg = &left;
	t.client.hooks.state = start_again;
	while (left > 0) {
		td_traffic(&t);
		T_EQ(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
		rounds++;
		TD_UNTIL(&t, t.server.nb_disconnects == rounds && t.server.nb_connects ==
			rounds + 1 && td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING);
	}
	T_EQ(rounds, 5);
	/* Both at once. */
	left = 5;
	t.server.arg = &server_left;
	t.server.hooks.state = start_again;
	while (server_left > 0) {
		TD_IS(doca_ctx_stop(t.server.ctx), DOCA_ERROR_IN_PROGRESS);
		rounds++;
		TD_UNTIL(&t, t.server.nb_disconnects == rounds && t.server.nb_connects ==
			rounds + 1 && td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING);
	}
	left = 0;
	server_left = 0;
	td_close(&t);
}

/* A client that gives up tries again, each time from its callback. */
static void
restarted_in_vain(void)
{
	uint64_t end = t_now_ms() + T_TIMEOUT_MS;
	struct td_node client;
	unsigned int left = 3;

	td_client_create(&client, "nobody");
	client.arg = &left;
	client.hooks.state = start_again;
	TD_IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	while (td_state(client.ctx) != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(client.pe);
		T_LT(t_now_ms(), end);
	}
	T_EQ(left, 0);
	td_node_destroy(&client);
}

static void
queue_again(struct td_queue *q, enum doca_ctx_states next)
{
	unsigned int *left = q->arg;

	q->states.nb = 0;
	if (next == DOCA_CTX_STATE_IDLE && (*left)-- > 0)
		TD_IS(doca_ctx_start(q->ctx), q->producer != NULL ? DOCA_SUCCESS :
			DOCA_ERROR_IN_PROGRESS);
}

/* behaviour: C19 */
static void
queues_restarted_in_idle(void)
{
	unsigned int left, left_prod = 5, gone = 0;
	struct td_queue cons, prod;
	struct td_mem mem;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, t.client.pe, NB_TASKS);
	td_producer_create(&prod, t.client.conn, t.client.pe, NB_TASKS);
	cons.arg = &left;
	prod.arg = &left_prod;
	prod.state = queue_again;
	cons.state = queue_again;
	TD_OK(doca_ctx_start(prod.ctx));
	while (left_prod > 0) {
		left_prod = 1;
		TD_OK(doca_ctx_stop(prod.ctx));
		T_EQ(td_state(prod.ctx), DOCA_CTX_STATE_RUNNING);
	}
	TD_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	left = 5;
	while (left > 0) {
		TD_UNTIL(&t, td_state(cons.ctx) == DOCA_CTX_STATE_RUNNING);
		td_post(&cons, NULL);
		TD_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
		gone++;
		TD_UNTIL(&t, t.server.nb_gone == gone);
	}
	TD_UNTIL(&t, td_state(cons.ctx) == DOCA_CTX_STATE_RUNNING);
	td_queue_destroy(&t, &cons);
	left_prod = 0;
	td_queue_destroy(&t, &prod);
	td_mem_destroy(&mem);
	td_close(&t);
}

/* User data */

static const struct t_case cases[] = {
	{ "queues_in_msg", queues_in_msg },
	{ "all_freed_in_one_error", all_freed_in_one_error },
	{ "all_sends_freed_in_one_error", all_sends_freed_in_one_error },
	{ "submitted_again_in_error", submitted_again_in_error },
	{ "sent_again_in_error", sent_again_in_error },
	{ "restarted_in_idle", restarted_in_idle },
	{ "restarted_in_vain", restarted_in_vain },
	{ "queues_restarted_in_idle", queues_restarted_in_idle },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
