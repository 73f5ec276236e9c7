/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What programs do within callbacks, and what nobody should. */

#include "t_main.h"
#include "td_ev.h"

/* Stops */

static void
stop_it(struct td_node *node)
{
	doca_error_t ret = doca_ctx_stop(node->ctx);

	/* Within a callback it is never over at once. */
	T_CHECK(ret == DOCA_ERROR_IN_PROGRESS);
	T_EQ(td_state(node->ctx), DOCA_CTX_STATE_STOPPING);
	TD_IS(doca_ctx_stop(node->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void
stop_at_conn(struct td_node *node, struct doca_comch_connection *conn)
{
	T_CHECK(conn != NULL);
	stop_it(node);
}

static void
stop_at_msg(struct td_node *node, struct doca_comch_connection *conn, uint8_t *msg, uint32_t len)
{
	RTE_SET_USED(msg);
	RTE_SET_USED(len);
	stop_at_conn(node, conn);
}

static void
stop_at_sent(struct td_node *node, struct doca_comch_task_send *task)
{
	doca_task_free(doca_comch_task_send_as_task(task));
	if (td_state(node->ctx) == DOCA_CTX_STATE_RUNNING)
		stop_it(node);
}

static void
stop_at_consumer(struct td_node *node, uint32_t id)
{
	T_GT(id, 0);
	stop_it(node);
}

static void
traffic(struct td *t)
{
	unsigned int i;

	for (i = 0; i < 40; i++) {
		td_send(&t->client, "to the server", 13);
		td_send(&t->server, "to the client", 13);
	}
}

/* behaviour: C17 */
static void
client_stops_in_msg(void)
{
	struct td t;

	td_open(&t);
	traffic(&t);
	t.client.hooks.msg = stop_at_msg;
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(t.client.nb_sent + t.client.nb_send_errors, 40);
	TD_UNTIL(&t, t.server.nb_disconnects == 1);
	TD_UNTIL(&t, t.server.nb_sent + t.server.nb_send_errors == 40);
	t.client.hooks.msg = NULL;
	td_connect(&t);
	td_close(&t);
}

static void
stopped(struct td *t, unsigned int nb_connects)
{
	TD_UNTIL(t, td_state(t->server.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(t->server.nb_connects, nb_connects);
	/* Before it was IDLE each connection has said goodbye. */
	T_EQ(t->server.nb_disconnects, nb_connects);
	TD_UNTIL(t, td_state(t->client.ctx) == DOCA_CTX_STATE_IDLE);
	memset(&t->server.hooks, 0, sizeof(t->server.hooks));
	TD_OK(doca_ctx_start(t->server.ctx));
	td_connect(t);
	td_close(t);
}

/* behaviour: C17 */
static void
server_stops_in_msg(void)
{
	struct td t;

	td_open(&t);
	traffic(&t);
	t.server.hooks.msg = stop_at_msg;
	stopped(&t, 1);
	T_EQ(t.server.nb_sent + t.server.nb_send_errors, 40);
}

/* behaviour: C17 */
static void
server_stops_in_sent(void)
{
	struct td t;

	td_open(&t);
	traffic(&t);
	t.server.hooks.sent = stop_at_sent;
	stopped(&t, 1);
}

/* behaviour: C17 */
static void
server_stops_in_connect(void)
{
	struct td t;

	td_create(&t);
	TD_OK(doca_ctx_start(t.server.ctx));
	t.server.hooks.connected = stop_at_conn;
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	stopped(&t, 1);
}

/* behaviour: C17 */
static void
server_stops_in_disconnect(void)
{
	struct td t;

	td_open(&t);
	t.server.hooks.disconnected = stop_at_conn;
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	stopped(&t, 1);
}

/* behaviour: C17 */
static void
server_stops_in_consumer(void)
{
	struct td_queue cons;
	struct td_mem mem;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, NULL, 4);
	t.server.hooks.consumer = stop_at_consumer;
	TD_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, (doca_pe_progress(cons.pe), td_state(cons.ctx) == DOCA_CTX_STATE_IDLE));
	td_queue_destroy(&t, &cons);
	td_mem_destroy(&mem);
	stopped(&t, 1);
}

/* Ends of objects */

static doca_error_t
destroy(struct td_node *node)
{
	return node->server != NULL ? doca_comch_server_destroy(node->server) :
		doca_comch_client_destroy(node->client);
}

static void
destroy_when_idle(struct td_node *node, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE) {
		TD_IS(destroy(node), DOCA_ERROR_IN_USE);
		return;
	}
	TD_IS(doca_pe_destroy(node->pe), DOCA_ERROR_IN_USE);
	TD_OK(destroy(node));
	node->ctx = NULL;
}

/* The engine keeps its memory until the next progress, so it can still tell. */
static void
destroy_twice_when_idle(struct td_node *node, enum doca_ctx_states next)
{
	destroy_when_idle(node, next);
	if (next == DOCA_CTX_STATE_IDLE)
		TD_IS(destroy(node), DOCA_ERROR_INVALID_VALUE);
}

/* behaviour: C17, X1 */
static void
destroyed_in_idle(void)
{
	struct td t;

	td_open(&t);
	traffic(&t);
	t.client.hooks.state = destroy_twice_when_idle;
	t.server.hooks.state = destroy_twice_when_idle;
	TD_IS(doca_ctx_stop(t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, t.server.ctx == NULL && t.client.ctx == NULL);
	T_EQ(t.server.nb_disconnects, 1);
	td_progress(&t);
	td_node_cleanup(&t.client);
	td_node_cleanup(&t.server);
}

/* Its connection is never established. */
static void
destroyed_in_idle_of_start(void)
{
	struct td_node client;
	uint64_t end = t_now_ms() + T_TIMEOUT_MS;

	td_client_create(&client, "nobody");
	client.hooks.state = destroy_when_idle;
	TD_IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	while (client.ctx != NULL) {
		doca_pe_progress(client.pe);
		T_LT(t_now_ms(), end);
	}
	td_node_cleanup(&client);
}

/* The stop is over within the call, and so is the object. */
static void
destroyed_in_stop(void)
{
	struct td_node server;

	td_server_create(&server, "short");
	TD_OK(doca_ctx_start(server.ctx));
	server.hooks.state = destroy_when_idle;
	TD_OK(doca_ctx_stop(server.ctx));
	T_CHECK(server.ctx == NULL);
	td_node_cleanup(&server);
}

#define NB_VICTIMS 6

static struct td_queue victims[NB_VICTIMS];
static unsigned int nb_victims;

static void
kill_all_others(struct td_queue *q, struct doca_task *task)
{
	unsigned int i;

	doca_task_free(task);
	RTE_SET_USED(q);
	for (i = 0; i < nb_victims; i++) {
		if (victims[i].producer != NULL)
			TD_OK(doca_comch_producer_destroy(victims[i].producer));
		else
			TD_OK(doca_comch_consumer_destroy(victims[i].consumer));
	}
	nb_victims = 0;
}

/* Contexts next to the one whose callback runs go away. */
static void
others_destroyed(void)
{
	struct td_queue cons, prod;
	struct td_mem mem;
	unsigned int i;
	uint32_t id;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, NULL, 4);
	id = td_consumer_start(&t, &cons);
	for (i = 0; i < NB_VICTIMS; i++) {
		/* In the middle of them. */
		if (i == NB_VICTIMS / 2)
			td_producer_create(&prod, t.server.conn, t.server.pe, 4);
		if (i % 2 == 0) {
			td_producer_create(&victims[i], t.server.conn, t.server.pe, 4);
			TD_OK(doca_ctx_start(victims[i].ctx));
			TD_OK(doca_ctx_stop(victims[i].ctx));
		} else {
			td_producer_create(&victims[i], t.server.conn, t.server.pe, 4);
		}
	}
	nb_victims = NB_VICTIMS;
	TD_OK(doca_ctx_start(prod.ctx));
	prod.done = kill_all_others;
	td_post(&cons, NULL);
	TD_OK(doca_task_submit(td_put_task(&prod, NULL, "x", 1, id)));
	TD_UNTIL(&t, prod.nb_done == 1);
	T_EQ(nb_victims, 0);
	TD_UNTIL(&t, (doca_pe_progress(cons.pe), cons.nb_done == 1));
	td_queue_destroy(&t, &prod);
	td_queue_destroy(&t, &cons);
	td_mem_destroy(&mem);
	td_close(&t);
}

/*
 * A client's RUNNING interrupts an engine's events. The server beside it is
 * stopped right then, while the end of its connection waits to be told.
 */
struct neighbours {
	struct td td;             /* the server in question, and its client */
	struct td_node far;       /* another server */
	struct td_node near;      /* its client, on the first server's engine */
};

static void
stop_neighbour(struct td_node *node, enum doca_ctx_states next)
{
	struct neighbours *n = node->arg;

	if (next == DOCA_CTX_STATE_RUNNING)
		stop_it(&n->td.server);
}

static void
neighbours_round(bool in_callback, unsigned int pause)
{
	struct neighbours n;
	unsigned int i;

	td_open(&n.td);
	td_server_create(&n.far, "far");
	TD_OK(doca_ctx_start(n.far.ctx));
	td_client_create_on(&n.near, "far", n.td.server.pe);
	n.near.arg = &n;
	if (in_callback)
		n.near.hooks.state = stop_neighbour;
	TD_IS(doca_ctx_start(n.near.ctx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < pause; i++) {
		doca_pe_progress(n.td.server.pe);
		doca_pe_progress(n.far.pe);
	}
	if (td_state(n.near.ctx) != DOCA_CTX_STATE_RUNNING) {
		TD_IS(doca_ctx_stop(n.td.client.ctx), DOCA_ERROR_IN_PROGRESS);
		for (i = 0; i < 4; i++)
			doca_pe_progress(n.td.client.pe);
	}
	while (td_state(n.near.ctx) != DOCA_CTX_STATE_RUNNING) {
		doca_pe_progress(n.far.pe);
		doca_pe_progress(n.td.server.pe);
	}
	if (!in_callback)
		doca_ctx_stop(n.td.server.ctx);
	TD_UNTIL(&n.td, td_state(n.td.server.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(n.td.server.nb_disconnects, n.td.server.nb_connects);
	TD_OK(doca_comch_server_destroy(n.td.server.server));
	TD_IS(doca_ctx_stop(n.near.ctx), DOCA_ERROR_IN_PROGRESS);
	while (td_state(n.near.ctx) != DOCA_CTX_STATE_IDLE || n.far.nb_disconnects < 1) {
		doca_pe_progress(n.far.pe);
		doca_pe_progress(n.td.server.pe);
	}
	td_node_destroy(&n.near);
	td_node_cleanup(&n.td.server);
	TD_OK(doca_ctx_stop(n.far.ctx));
	td_node_destroy(&n.far);
	if (td_state(n.td.client.ctx) == DOCA_CTX_STATE_RUNNING)
		doca_ctx_stop(n.td.client.ctx);
	while (td_state(n.td.client.ctx) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(n.td.client.pe);
	td_node_destroy(&n.td.client);
}

/* behaviour: S24, P5 */
static void
stopped_between_events(void)
{
	unsigned int pause;

	for (pause = 0; pause < 12; pause++) {
		neighbours_round(true, pause);
		neighbours_round(false, pause);
	}
}

/* The engine within its callbacks. */

static void
abuse_engine(struct td_node *node)
{
	int fd;

	T_EQ(doca_pe_progress(node->pe), 0);
	TD_IS(doca_pe_destroy(node->pe), DOCA_ERROR_IN_USE);
	TD_OK(doca_pe_get_notification_handle(node->pe, &fd));
	TD_OK(doca_pe_request_notification(node->pe));
	TD_OK(doca_pe_clear_notification(node->pe, fd));
	TD_OK(doca_pe_request_notification(node->pe));
	T_EQ(doca_pe_progress(node->pe), 0);
}

static void
abuse_at_conn(struct td_node *node, struct doca_comch_connection *conn)
{
	RTE_SET_USED(conn);
	abuse_engine(node);
}

static void
abuse_at_msg(struct td_node *node, struct doca_comch_connection *conn, uint8_t *msg, uint32_t len)
{
	RTE_SET_USED(msg);
	RTE_SET_USED(len);
	abuse_at_conn(node, conn);
}

static void
abuse_at_sent(struct td_node *node, struct doca_comch_task_send *task)
{
	abuse_engine(node);
	doca_task_free(doca_comch_task_send_as_task(task));
	abuse_engine(node);
}

static void
abuse_at_state(struct td_node *node, enum doca_ctx_states next)
{
	/* RUNNING of a server, and STOPPING, come from within the application's call. */
	if (node->client != NULL && next == DOCA_CTX_STATE_RUNNING)
		abuse_engine(node);
}

static void
abuse_at_consumer(struct td_node *node, uint32_t id)
{
	RTE_SET_USED(id);
	abuse_engine(node);
}

static void
abuse(struct td_node *node)
{
	node->hooks = (struct td_hooks){
		.connected = abuse_at_conn, .disconnected = abuse_at_conn, .msg = abuse_at_msg,
		.sent = abuse_at_sent, .state = abuse_at_state, .consumer = abuse_at_consumer,
		.consumer_gone = abuse_at_consumer,
	};
}

/* behaviour: P2 */
static void
engine_in_callbacks(void)
{
	struct td_queue cons;
	struct td_mem mem;
	struct td t;

	td_create(&t);
	abuse(&t.server);
	abuse(&t.client);
	TD_OK(doca_ctx_start(t.server.ctx));
	td_connect(&t);
	traffic(&t);
	TD_UNTIL(&t, t.server.nb_sent == 40 && t.client.nb_sent == 40 && t.server.nb_msgs == 40 &&
		t.client.nb_msgs == 40);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, NULL, 4);
	td_consumer_start(&t, &cons);
	td_queue_destroy(&t, &cons);
	TD_UNTIL(&t, t.server.nb_gone == 1);
	td_mem_destroy(&mem);
	td_close(&t);
}

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
	RTE_SET_USED(node);
	T_EQ(nb_back++, 0);
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
	T_NE(td_state(q->ctx), DOCA_CTX_STATE_RUNNING);
	TD_IS(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	TD_IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
}

static void
send_again(struct td_node *node, struct doca_comch_task_send *task)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);

	T_EQ(td_state(node->ctx), DOCA_CTX_STATE_STOPPING);
	TD_IS(doca_task_submit(t), DOCA_ERROR_BAD_STATE);
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
	T_EQ(cons.nb_errors, NB_TASKS);
	td_queue_destroy(&t, &cons);
	td_mem_destroy(&mem);
	for (i = 0; i < 200; i++)
		td_send(&t.client, "x", 1);
	t.client.hooks.sent = send_again;
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(t.client.nb_sent + t.client.nb_send_errors, 200);
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
		traffic(&t);
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
	for (left = 5; left > 0;) {
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

static unsigned int nb_second;

static void
second_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	RTE_SET_USED(ctx);
	RTE_SET_USED(prev);
	RTE_SET_USED(next);
	T_EQ(user_data.u64, 4711);
	nb_second++;
}

static void
change_data(struct td_node *node, enum doca_ctx_states next)
{
	const union doca_data data = { .u64 = 4711 };

	T_EQ(next, DOCA_CTX_STATE_STOPPING);
	TD_OK(doca_ctx_set_user_data(node->ctx, data));
	TD_OK(doca_ctx_set_state_changed_cb(node->ctx, second_state));
}

/* behaviour: C9, C10 */
static void
data_changed(void)
{
	struct td t;

	td_open(&t);
	nb_second = 0;
	t.client.hooks.state = change_data;
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(nb_second, 1);
	TD_OK(doca_ctx_set_state_changed_cb(t.client.ctx, NULL));
	td_close(&t);
}

/* Disconnects */

static unsigned int nb_cuts;

static void
cut(struct td_node *node, struct doca_comch_connection *conn)
{
	if (nb_cuts++ == 0)
		TD_OK(doca_comch_server_disconnect(node->server, conn));
	else
		TD_IS(doca_comch_server_disconnect(node->server, conn),
			DOCA_ERROR_INVALID_VALUE);
}

static void
cut_at_msg(struct td_node *node, struct doca_comch_connection *conn, uint8_t *msg, uint32_t len)
{
	RTE_SET_USED(msg);
	RTE_SET_USED(len);
	cut(node, conn);
}

static void
cut_at_sent(struct td_node *node, struct doca_comch_task_send *task)
{
	cut(node, node->conn);
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void
cut_at_consumer(struct td_node *node, uint32_t id)
{
	RTE_SET_USED(id);
	cut(node, node->conn);
}

static void
not_twice(struct td_node *node, struct doca_comch_connection *conn)
{
	TD_IS(doca_comch_server_disconnect(node->server, conn), DOCA_ERROR_INVALID_VALUE);
}

static void
was_cut(struct td *t)
{
	TD_UNTIL(t, td_state(t->client.ctx) == DOCA_CTX_STATE_IDLE);
	T_GE(nb_cuts, 1);
	/* Who has cut it is not told. */
	T_EQ(t->server.nb_disconnects, 0);
	memset(&t->server.hooks, 0, sizeof(t->server.hooks));
	td_connect(t);
	td_close(t);
}

/* behaviour: S19, S22 */
static void
cut_in_callbacks(void)
{
	struct td_queue cons;
	struct td_mem mem;
	struct td t;

	nb_cuts = 0;
	td_create(&t);
	t.server.hooks.connected = cut;
	TD_OK(doca_ctx_start(t.server.ctx));
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	was_cut(&t);

	nb_cuts = 0;
	td_open(&t);
	traffic(&t);
	t.server.hooks.msg = cut_at_msg;
	was_cut(&t);
	/* No message after the one in whose callback it went. */
	T_EQ(nb_cuts, 1);

	nb_cuts = 0;
	td_open(&t);
	traffic(&t);
	t.server.hooks.sent = cut_at_sent;
	was_cut(&t);

	nb_cuts = 0;
	td_open(&t);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, NULL, 4);
	t.server.hooks.consumer = cut_at_consumer;
	TD_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, (doca_pe_progress(cons.pe), td_state(cons.ctx) == DOCA_CTX_STATE_IDLE));
	td_queue_destroy(&t, &cons);
	td_mem_destroy(&mem);
	was_cut(&t);

	td_open(&t);
	t.server.hooks.disconnected = not_twice;
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, t.server.nb_disconnects == 1);
	td_close(&t);
}

/* The server's last word finds nobody; the client's last words find the server. */
static void
leaves_amid_messages(void)
{
	unsigned int i;
	struct td t;

	td_open(&t);
	for (i = 0; i < 1000; i++) {
		td_send(&t.client, &i, sizeof(i));
		td_send(&t.server, &i, sizeof(i));
	}
	for (i = 0; i < 5; i++)
		td_progress(&t);
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(t.client.nb_sent + t.client.nb_send_errors, 1000);
	TD_UNTIL(&t, t.server.nb_disconnects == 1);
	T_EQ(t.server.nb_sent + t.server.nb_send_errors, 1000);
	T_GE(t.server.nb_msgs, t.client.nb_sent);
	td_close(&t);
}

static void
dial_from(struct td_node *node, struct doca_comch_connection *conn)
{
	struct td_node *second = node->arg;

	RTE_SET_USED(conn);
	if (td_state(second->ctx) == DOCA_CTX_STATE_IDLE)
		TD_IS(doca_ctx_start(second->ctx), DOCA_ERROR_IN_PROGRESS);
}

/* Another client is started while one says goodbye. */
static void
second_connect_in_disconnect(void)
{
	struct td_node second;
	struct td t;

	td_open(&t);
	td_client_create_on(&second, "td", t.server.pe);
	t.server.arg = &second;
	t.server.hooks.disconnected = dial_from;
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(second.ctx) == DOCA_CTX_STATE_RUNNING && t.server.nb_connects == 2);
	T_EQ(t.server.nb_disconnects, 1);
	t.server.hooks.disconnected = NULL;
	TD_IS(doca_ctx_stop(second.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(second.ctx) == DOCA_CTX_STATE_IDLE && t.server.nb_disconnects == 2);
	td_node_destroy(&second);
	td_close(&t);
}

static const struct t_case cases[] = {
	{ "client_stops_in_msg", client_stops_in_msg },
	{ "server_stops_in_msg", server_stops_in_msg },
	{ "server_stops_in_sent", server_stops_in_sent },
	{ "server_stops_in_connect", server_stops_in_connect },
	{ "server_stops_in_disconnect", server_stops_in_disconnect },
	{ "server_stops_in_consumer", server_stops_in_consumer },
	{ "destroyed_in_idle", destroyed_in_idle },
	{ "destroyed_in_idle_of_start", destroyed_in_idle_of_start },
	{ "destroyed_in_stop", destroyed_in_stop },
	{ "others_destroyed", others_destroyed },
	{ "stopped_between_events", stopped_between_events },
	{ "engine_in_callbacks", engine_in_callbacks },
	{ "queues_in_msg", queues_in_msg },
	{ "all_freed_in_one_error", all_freed_in_one_error },
	{ "all_sends_freed_in_one_error", all_sends_freed_in_one_error },
	{ "submitted_again_in_error", submitted_again_in_error },
	{ "sent_again_in_error", sent_again_in_error },
	{ "restarted_in_idle", restarted_in_idle },
	{ "restarted_in_vain", restarted_in_vain },
	{ "queues_restarted_in_idle", queues_restarted_in_idle },
	{ "data_changed", data_changed },
	{ "cut_in_callbacks", cut_in_callbacks },
	{ "leaves_amid_messages", leaves_amid_messages },
	{ "second_connect_in_disconnect", second_connect_in_disconnect },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
