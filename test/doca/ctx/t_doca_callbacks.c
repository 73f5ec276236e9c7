/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What programs do within callbacks, and what they should not. */

#include "comch/sleeper.h"
#include "t_main.h"

/* Stops */

static void
stop_it(struct side *side)
{
	doca_error_t ret = doca_ctx_stop(side->ctx);

	/* Within a callback it is never over at once. */
	T_CHECK(ret == DOCA_ERROR_IN_PROGRESS);
	T_EQ(ctx_state(side->ctx), DOCA_CTX_STATE_STOPPING);
	T_IS(doca_ctx_stop(side->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void
stop_at_conn(struct side *side, struct doca_comch_connection *conn)
{
	T_CHECK(conn != NULL);
	stop_it(side);
}

static void
stop_at_msg(struct side *side, struct doca_comch_connection *conn, uint8_t *msg __rte_unused,
		uint32_t len __rte_unused)
{
	stop_at_conn(side, conn);
}

static void
stop_at_sent(struct side *side, struct doca_comch_task_send *task)
{
	doca_task_free(doca_comch_task_send_as_task(task));
	if (ctx_is_running(side->ctx))
		stop_it(side);
}

static void
stop_at_consumer(struct side *side, uint32_t id)
{
	T_GT(id, 0);
	stop_it(side);
}

/* behaviour: C17 */
PAIR_CASE(client_stops_in_msg, t)
{
	pair_traffic(t);
	t->client.hooks.msg = stop_at_msg;
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->client.nb_sent + t->client.nb_send_errors, 40);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_WAIT(pair_progress(t), t->server.nb_sent + t->server.nb_send_errors == 40);
	t->client.hooks.msg = NULL;
	pair_connect(t);
}

static void
stopped(struct pair *t, unsigned int nb_connects)
{
	T_WAIT(pair_progress(t), ctx_is_idle(t->server.ctx));
	T_EQ(t->server.nb_connects, nb_connects);
	/* Before it was IDLE each connection has said goodbye. */
	T_EQ(t->server.nb_disconnects, nb_connects);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	memset(&t->server.hooks, 0, sizeof(t->server.hooks));
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	pair_close(t);
}

static void
stopped_in_traffic(struct side_hooks hooks)
{
	struct pair t;

	pair_open(&t);
	pair_traffic(&t);
	t.server.hooks = hooks;
	stopped(&t, 1);
	T_EQ(t.server.nb_sent + t.server.nb_send_errors, 40);
}

/* behaviour: C17 */
T_CASE(server_stops_in_msg)
{
	stopped_in_traffic((struct side_hooks){ .msg = stop_at_msg });
}

/* behaviour: C17 */
T_CASE(server_stops_in_sent)
{
	stopped_in_traffic((struct side_hooks){ .sent = stop_at_sent });
}

/* behaviour: C17 */
T_CASE(server_stops_in_connect)
{
	struct pair t;

	pair_create(&t);
	T_OK(doca_ctx_start(t.server.ctx));
	t.server.hooks.connected = stop_at_conn;
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	stopped(&t, 1);
}

/* behaviour: C17 */
T_CASE(server_stops_in_disconnect)
{
	struct pair t;

	pair_open(&t);
	t.server.hooks.disconnected = stop_at_conn;
	T_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	stopped(&t, 1);
}

/* behaviour: C17 */
T_CASE(server_stops_in_consumer)
{
	struct queue cons;
	struct pair t;

	pair_open(&t);
	consumer_open(&cons, &t.client, NULL, 4);
	t.server.hooks.consumer = stop_at_consumer;
	T_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(&t), doca_pe_progress(cons.pe)), ctx_is_idle(cons.ctx));
	queue_destroy(&t, &cons);
	stopped(&t, 1);
}

/* Ends of objects */

static doca_error_t
destroy(struct side *side)
{
	return side->server != NULL ? doca_comch_server_destroy(side->server) :
		doca_comch_client_destroy(side->client);
}

static void
destroy_when_idle(struct side *side, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE) {
		T_IS(destroy(side), DOCA_ERROR_IN_USE);
		return;
	}
	T_IS(doca_pe_destroy(side->pe), DOCA_ERROR_IN_USE);
	T_OK(destroy(side));
	side->ctx = NULL;
}

/* The engine keeps its memory until the next progress, so it can still tell. */
static void
destroy_twice_when_idle(struct side *side, enum doca_ctx_states next)
{
	destroy_when_idle(side, next);
	if (next == DOCA_CTX_STATE_IDLE)
		T_INVALID(destroy(side));
}

/* behaviour: C17, X1 */
T_CASE(destroyed_in_idle)
{
	struct pair t;

	pair_open(&t);
	pair_traffic(&t);
	t.client.hooks.state = destroy_twice_when_idle;
	t.server.hooks.state = destroy_twice_when_idle;
	T_IS(doca_ctx_stop(t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), t.server.ctx == NULL && t.client.ctx == NULL);
	T_EQ(t.server.nb_disconnects, 1);
	pair_progress(&t);
	side_cleanup(&t.client);
	side_cleanup(&t.server);
}

/* Its connection is never established. */
T_CASE(destroyed_in_idle_of_start)
{
	struct side client;

	client_create(&client, "nobody");
	client.hooks.state = destroy_when_idle;
	T_IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(client.pe), client.ctx == NULL);
	side_cleanup(&client);
}

/* The stop is over within the call, and so is the object. */
T_CASE(destroyed_in_stop)
{
	struct side server;

	server_create(&server, "short");
	T_OK(doca_ctx_start(server.ctx));
	server.hooks.state = destroy_when_idle;
	T_OK(doca_ctx_stop(server.ctx));
	T_CHECK(server.ctx == NULL);
	side_cleanup(&server);
}

#define NB_VICTIMS 6

static struct queue victims[NB_VICTIMS];
static unsigned int nb_victims;

static void
kill_all_others(struct queue *q __rte_unused, struct doca_task *task)
{
	unsigned int i;

	doca_task_free(task);
	for (i = 0; i < nb_victims; i++) {
		if (victims[i].producer != NULL)
			T_OK(doca_comch_producer_destroy(victims[i].producer));
		else
			T_OK(doca_comch_consumer_destroy(victims[i].consumer));
	}
	nb_victims = 0;
}

/* Contexts next to the one whose callback runs go away. */
PAIR_CASE(others_destroyed, t)
{
	struct queue cons, prod;
	unsigned int i;
	uint32_t id;

	consumer_open(&cons, &t->client, NULL, 4);
	id = consumer_start(t, &cons);
	for (i = 0; i < NB_VICTIMS; i++) {
		/* In the middle of them. */
		if (i == NB_VICTIMS / 2)
			producer_create(&prod, t->server.conn, t->server.pe, 4);
		if (i % 2 == 0) {
			producer_create(&victims[i], t->server.conn, t->server.pe, 4);
			T_OK(doca_ctx_start(victims[i].ctx));
			T_OK(doca_ctx_stop(victims[i].ctx));
		} else {
			producer_create(&victims[i], t->server.conn, t->server.pe, 4);
		}
	}
	nb_victims = NB_VICTIMS;
	T_OK(doca_ctx_start(prod.ctx));
	prod.done = kill_all_others;
	queue_post(&cons, NULL);
	queue_submit(t, queue_put_task(&prod, NULL, "x", 1, id));
	T_WAIT(pair_progress(t), prod.nb_done == 1);
	T_EQ(nb_victims, 0);
	T_WAIT((pair_progress(t), doca_pe_progress(cons.pe)), cons.nb_done == 1);
	queue_destroy(t, &prod);
	queue_destroy(t, &cons);
}

/*
 * A client's RUNNING interrupts an engine's events. The server beside it is
 * stopped right then, while the end of its connection waits to be told.
 */
struct neighbours {
	struct pair pair; /* the server in question, and its client */
	struct side far;  /* another server */
	struct side near; /* its client, on the first server's engine */
};

static void
stop_neighbour(struct side *side, enum doca_ctx_states next)
{
	struct neighbours *n = side->arg;

	if (next == DOCA_CTX_STATE_RUNNING)
		stop_it(&n->pair.server);
}

static void
neighbours_round(bool in_callback, unsigned int pause)
{
	struct neighbours n;
	unsigned int i;

	pair_open(&n.pair);
	server_create(&n.far, "far");
	T_OK(doca_ctx_start(n.far.ctx));
	client_create_on(&n.near, "far", n.pair.server.pe);
	n.near.arg = &n;
	if (in_callback)
		n.near.hooks.state = stop_neighbour;
	T_IS(doca_ctx_start(n.near.ctx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < pause; i++) {
		doca_pe_progress(n.pair.server.pe);
		doca_pe_progress(n.far.pe);
	}
	if (!ctx_is_running(n.near.ctx)) {
		T_IS(doca_ctx_stop(n.pair.client.ctx), DOCA_ERROR_IN_PROGRESS);
		for (i = 0; i < 4; i++)
			doca_pe_progress(n.pair.client.pe);
	}
	T_WAIT((doca_pe_progress(n.far.pe), doca_pe_progress(n.pair.server.pe)),
		ctx_is_running(n.near.ctx));
	if (!in_callback)
		doca_ctx_stop(n.pair.server.ctx);
	T_WAIT(pair_progress(&n.pair), ctx_is_idle(n.pair.server.ctx));
	T_EQ(n.pair.server.nb_disconnects, n.pair.server.nb_connects);
	T_OK(doca_comch_server_destroy(n.pair.server.server));
	T_IS(doca_ctx_stop(n.near.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((doca_pe_progress(n.far.pe), doca_pe_progress(n.pair.server.pe)),
		ctx_is_idle(n.near.ctx) && n.far.nb_disconnects >= 1);
	side_destroy(&n.near);
	side_cleanup(&n.pair.server);
	T_OK(doca_ctx_stop(n.far.ctx));
	side_destroy(&n.far);
	if (ctx_is_running(n.pair.client.ctx))
		doca_ctx_stop(n.pair.client.ctx);
	T_WAIT(doca_pe_progress(n.pair.client.pe), ctx_is_idle(n.pair.client.ctx));
	side_destroy(&n.pair.client);
}

/* behaviour: S24, P5 */
T_CASE(stopped_between_events)
{
	unsigned int pause;

	for (pause = 0; pause < 12; pause++) {
		neighbours_round(true, pause);
		neighbours_round(false, pause);
	}
}

/* The engine within its callbacks. */

static void
abuse_engine(struct side *side)
{
	int fd;

	T_EQ(doca_pe_progress(side->pe), 0);
	T_IS(doca_pe_destroy(side->pe), DOCA_ERROR_IN_USE);
	T_OK(doca_pe_get_notification_handle(side->pe, &fd));
	T_OK(doca_pe_request_notification(side->pe));
	T_OK(doca_pe_clear_notification(side->pe, fd));
	T_OK(doca_pe_request_notification(side->pe));
	T_EQ(doca_pe_progress(side->pe), 0);
}

static void
abuse_at_conn(struct side *side, struct doca_comch_connection *conn __rte_unused)
{
	abuse_engine(side);
}

static void
abuse_at_msg(struct side *side, struct doca_comch_connection *conn, uint8_t *msg __rte_unused,
		uint32_t len __rte_unused)
{
	abuse_at_conn(side, conn);
}

static void
abuse_at_sent(struct side *side, struct doca_comch_task_send *task)
{
	abuse_engine(side);
	doca_task_free(doca_comch_task_send_as_task(task));
	abuse_engine(side);
}

static void
abuse_at_state(struct side *side, enum doca_ctx_states next)
{
	/* RUNNING of a server, and STOPPING, come from within the application's call. */
	if (side->client != NULL && next == DOCA_CTX_STATE_RUNNING)
		abuse_engine(side);
}

static void
abuse_at_consumer(struct side *side, uint32_t id __rte_unused)
{
	abuse_engine(side);
}

static void
abuse(struct side *side)
{
	side->hooks = (struct side_hooks){
		.connected = abuse_at_conn, .disconnected = abuse_at_conn, .msg = abuse_at_msg,
		.sent = abuse_at_sent, .state = abuse_at_state, .consumer = abuse_at_consumer,
		.consumer_gone = abuse_at_consumer,
	};
}

/* behaviour: P2 */
PAIR_CASE_CREATED(engine_in_callbacks, t)
{
	struct queue cons;

	abuse(&t->server);
	abuse(&t->client);
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	pair_traffic(t);
	T_WAIT(pair_progress(t), t->server.nb_sent == 40 && t->client.nb_sent == 40 &&
		t->server.nb_msgs == 40 && t->client.nb_msgs == 40);
	consumer_open(&cons, &t->client, NULL, 4);
	consumer_start(t, &cons);
	queue_destroy(t, &cons);
	T_WAIT(pair_progress(t), t->server.nb_gone == 1);
}

static unsigned int nb_second;

static void
second_state(const union doca_data user_data, struct doca_ctx *ctx __rte_unused,
		enum doca_ctx_states prev __rte_unused, enum doca_ctx_states next __rte_unused)
{
	T_EQ(user_data.u64, 4711);
	nb_second++;
}

static void
change_data(struct side *side, enum doca_ctx_states next)
{
	const union doca_data data = { .u64 = 4711 };

	T_EQ(next, DOCA_CTX_STATE_STOPPING);
	T_OK(doca_ctx_set_user_data(side->ctx, data));
	T_OK(doca_ctx_set_state_changed_cb(side->ctx, second_state));
}

/* behaviour: C9, C10 */
PAIR_CASE(data_changed, t)
{
	nb_second = 0;
	t->client.hooks.state = change_data;
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(nb_second, 1);
	T_OK(doca_ctx_set_state_changed_cb(t->client.ctx, NULL));
}
