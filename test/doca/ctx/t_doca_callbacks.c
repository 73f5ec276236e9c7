/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What programs do within callbacks, and what nobody should. */

#include "t_main.h"
#include "comch/sleeper.h"

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

/* behaviour: C17 */
static void
client_stops_in_msg(void)
{
	struct td t;

	td_open(&t);
	td_traffic(&t);
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
	td_traffic(&t);
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
	td_traffic(&t);
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
	td_traffic(&t);
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
	td_traffic(&t);
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
	td_traffic(&t);
	t.server.hooks.msg = cut_at_msg;
	was_cut(&t);
	/* No message after the one in whose callback it went. */
	T_EQ(nb_cuts, 1);

	nb_cuts = 0;
	td_open(&t);
	td_traffic(&t);
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
