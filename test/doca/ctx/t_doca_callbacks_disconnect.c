/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections that end within callbacks. */

#include "comch/queue.h"
#include "t_main.h"

static unsigned int nb_cuts;

static void
cut(struct side *side, struct doca_comch_connection *conn)
{
	if (nb_cuts++ == 0)
		T_OK(doca_comch_server_disconnect(side->server, conn));
	else
		T_INVALID(doca_comch_server_disconnect(side->server, conn));
}

static void
cut_at_msg(struct side *side, struct doca_comch_connection *conn, uint8_t *msg __rte_unused,
		uint32_t len __rte_unused)
{
	cut(side, conn);
}

static void
cut_at_sent(struct side *side, struct doca_comch_task_send *task)
{
	cut(side, side->conn);
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void
cut_at_consumer(struct side *side, uint32_t id __rte_unused)
{
	cut(side, side->conn);
}

static void
not_twice(struct side *side, struct doca_comch_connection *conn)
{
	T_INVALID(doca_comch_server_disconnect(side->server, conn));
}

static void
was_cut(struct pair *t)
{
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_GE(nb_cuts, 1);
	/* The side that disconnects gets no event. */
	T_EQ(t->server.nb_disconnects, 0);
	memset(&t->server.hooks, 0, sizeof(t->server.hooks));
	pair_connect(t);
	pair_close(t);
}

static void
cut_in_traffic(struct side_hooks hooks)
{
	struct pair t;

	nb_cuts = 0;
	pair_open(&t);
	pair_traffic(&t);
	t.server.hooks = hooks;
	was_cut(&t);
}

/* behaviour: S19, S22 */
T_CASE(cut_in_callbacks)
{
	struct queue cons;
	struct pair t;

	nb_cuts = 0;
	pair_create(&t);
	t.server.hooks.connected = cut;
	T_OK(doca_ctx_start(t.server.ctx));
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	was_cut(&t);

	cut_in_traffic((struct side_hooks){ .msg = cut_at_msg });
	/* No message after the one in whose callback it went. */
	T_EQ(nb_cuts, 1);
	cut_in_traffic((struct side_hooks){ .sent = cut_at_sent });

	nb_cuts = 0;
	pair_open(&t);
	consumer_open(&cons, &t.client, NULL, 4);
	t.server.hooks.consumer = cut_at_consumer;
	T_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(&t), doca_pe_progress(cons.pe)), ctx_is_idle(cons.ctx));
	queue_destroy(&t, &cons);
	was_cut(&t);

	pair_open(&t);
	t.server.hooks.disconnected = not_twice;
	T_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), t.server.nb_disconnects == 1);
	pair_close(&t);
}

/* A stop with messages in flight: all tasks complete, and what the client sent arrives. */
PAIR_CASE(leaves_amid_messages, t)
{
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		side_send(&t->client, &i, sizeof(i));
		side_send(&t->server, &i, sizeof(i));
	}
	for (i = 0; i < 5; i++)
		pair_progress(t);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->client.nb_sent + t->client.nb_send_errors, 1000);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_EQ(t->server.nb_sent + t->server.nb_send_errors, 1000);
	T_GE(t->server.nb_msgs, t->client.nb_sent);
}

static void
dial_from(struct side *side, struct doca_comch_connection *conn __rte_unused)
{
	struct side *second = side->arg;

	if (ctx_is_idle(second->ctx))
		T_IS(doca_ctx_start(second->ctx), DOCA_ERROR_IN_PROGRESS);
}

/* Another client is started while one says goodbye. */
PAIR_CASE(second_connect_in_disconnect, t)
{
	struct side second;

	client_create_on(&second, PAIR_NAME, t->server.pe);
	t->server.arg = &second;
	t->server.hooks.disconnected = dial_from;
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_running(second.ctx) && t->server.nb_connects == 2);
	T_EQ(t->server.nb_disconnects, 1);
	t->server.hooks.disconnected = NULL;
	T_IS(doca_ctx_stop(second.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(second.ctx) && t->server.nb_disconnects == 2);
	side_destroy(&second);
}
