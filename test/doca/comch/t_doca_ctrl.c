/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Servers, clients, connections, messages: behaviours S, T and N. */

#include <poll.h>

#include "comch/queue.h"
#include "t_main.h"

/* behaviour: S4, S5 */
PAIR_CASE(names, t)
{
	struct side twin, other;

	server_create(&twin, PAIR_NAME);
	T_IS(doca_ctx_start(twin.ctx), DOCA_ERROR_IN_USE);
	T_EQ(ctx_state(twin.ctx), DOCA_CTX_STATE_IDLE);
	/* On another representor it is another name. */
	server_create_second(&other, PAIR_NAME);
	T_OK(doca_ctx_start(other.ctx));
	T_OK(doca_ctx_stop(other.ctx));
	side_destroy(&other);
	/* And free again when its server has stopped. */
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_OK(doca_ctx_stop(t->server.ctx));
	T_OK(doca_ctx_start(twin.ctx));
	T_OK(doca_ctx_stop(twin.ctx));
	side_destroy(&twin);
}

/* behaviour: S8, S10 */
PAIR_CASE_CREATED(nobody_there, t)
{
	struct side stranger;
	unsigned int i;

	T_OK(doca_ctx_start(t->server.ctx));
	client_create(&stranger, "another");
	T_IS(doca_ctx_start(stranger.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(t), doca_pe_progress(stranger.pe)), ctx_is_idle(stranger.ctx));
	for (i = 0; i < stranger.states.nb; i++)
		T_NE(stranger.states.next[i], DOCA_CTX_STATE_RUNNING);
	T_EQ(t->server.nb_connects, 0);
	side_destroy(&stranger);
}

/* behaviour: S9 */
T_CASE(other_function)
{
	struct pair t;

	server_create(&t.server, PAIR_NAME);
	client_create_second(&t.client, PAIR_NAME);
	T_OK(doca_ctx_start(t.server.ctx));
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_idle(t.client.ctx));
	T_EQ(t.client.states.nb, 2);
	T_EQ(t.server.nb_connects, 0);
	pair_close(&t);
}

/* behaviour: S11, S15, S19, S21, N1 */
PAIR_CASE(several_clients, t)
{
	struct doca_comch_connection *mine;
	struct side more[3];
	union doca_data data;
	unsigned int i;

	for (i = 0; i < RTE_DIM(more); i++) {
		client_create(&more[i], PAIR_NAME);
		T_IS(doca_ctx_start(more[i].ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT((pair_progress(t), doca_pe_progress(more[i].pe)),
			ctx_is_running(more[i].ctx) && t->server.nb_connects == i + 2);
		T_CHECK(t->server.conns[i + 1] != t->server.conns[i]);
		T_EQ(doca_comch_connection_get_user_data(t->server.conns[i + 1]).u64, 0);
		data.u64 = i + 100;
		T_OK(doca_comch_connection_set_user_data(t->server.conns[i + 1], data));
	}
	for (i = 0; i < RTE_DIM(more); i++)
		T_EQ(doca_comch_connection_get_user_data(t->server.conns[i + 1]).u64, i + 100);
	T_CHECK(doca_comch_server_get_server_ctx(t->server.conns[2]) == t->server.server);
	T_CHECK(doca_comch_client_get_client_ctx(t->server.conns[2]) == NULL);
	mine = more[1].conn;
	T_CHECK(doca_comch_client_get_client_ctx(mine) == more[1].client);
	T_CHECK(doca_comch_server_get_server_ctx(mine) == NULL);

	T_REFUSES_NULL(doca_comch_server_disconnect, t->server.server, t->server.conns[2]);
	T_INVALID(doca_comch_server_disconnect(t->server.server, mine));
	T_OK(doca_comch_server_disconnect(t->server.server, t->server.conns[2]));
	T_INVALID(doca_comch_server_disconnect(t->server.server, t->server.conns[2]));
	T_WAIT((pair_progress(t), doca_pe_progress(more[1].pe)), ctx_is_idle(more[1].ctx));
	/* The others are as they were, and its own goodbye is not told back. */
	side_send(&t->client, "x", 1);
	T_WAIT(pair_progress(t), t->client.nb_sent == 1);
	T_SETTLE(pair_progress(t));
	T_EQ(t->server.nb_msgs, 1);
	T_EQ(t->server.nb_disconnects, 0);
	for (i = 0; i < RTE_DIM(more); i++) {
		doca_ctx_stop(more[i].ctx);
		T_WAIT((pair_progress(t), doca_pe_progress(more[i].pe)), ctx_is_idle(more[i].ctx));
		side_destroy(&more[i]);
	}
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 2);
}

static void
reject_all_but_one(struct side *side, struct doca_comch_connection *conn)
{
	if (side->nb_connects > 1)
		T_OK(doca_comch_server_disconnect(side->server, conn));
}

/* behaviour: S22 */
PAIR_CASE_CREATED(reject_in_callback, t)
{
	struct side second;

	t->server.hooks.connected = reject_all_but_one;
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	client_create(&second, PAIR_NAME);
	T_IS(doca_ctx_start(second.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(t), doca_pe_progress(second.pe)), ctx_is_idle(second.ctx));
	T_EQ(t->server.nb_connects, 2);
	T_EQ(t->server.nb_disconnects, 0);
	side_destroy(&second);
	t->server.conn = t->server.conns[0];
	side_send(&t->server, "x", 1);
	T_WAIT(pair_progress(t), t->client.nb_msgs == 1 && t->server.nb_sent == 1);
}

/* behaviour: S14 */
PAIR_CASE_CREATED(needs_the_server, t)
{
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_SETTLE(doca_pe_progress(t->client.pe));
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_STARTING);
	T_WAIT(pair_progress(t), ctx_is_running(t->client.ctx));
}

/* behaviour: S18 */
PAIR_CASE_CREATED(sizes_differ, t)
{
	T_OK(doca_comch_client_set_max_msg_size(t->client.client, 1024));
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->client.states.nb, 2);
	T_EQ(t->server.nb_connects, 0);
	T_OK(doca_comch_client_set_max_msg_size(t->client.client, 4080));
	pair_connect(t);
}

/* behaviour: S24, N2 */
PAIR_CASE_CREATED(server_stops, t)
{
	struct doca_comch_connection *conn;

	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_running(t->client.ctx) && t->server.nb_connects == 1);
	T_OK(doca_comch_client_get_connection(t->client.client, &conn));
	T_CHECK(t->client.conn == conn);
	T_OK(doca_comch_connection_update_info(conn));
	T_OK(doca_comch_connection_update_info(t->server.conn));
	T_IS(doca_ctx_stop(t->server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx) && ctx_is_idle(t->server.ctx));
	T_EQ(t->server.nb_disconnects, 1);
	T_IS(doca_comch_connection_update_info(conn), DOCA_ERROR_CONNECTION_ABORTED);
}

/* behaviour: T1, T2, T4, T9, T12 */
PAIR_CASE(messages, t)
{
	static const uint32_t lens[] = { 0, 1, 2, 7, 64, 100, 1024, 4079, 4080 };
	struct doca_comch_task_send *task;
	uint8_t msg[4081];
	unsigned int i;

	for (i = 0; i < RTE_DIM(lens); i++) {
		t_fill(msg, lens[i], i);
		side_send(&t->server, msg, lens[i]);
		/* Nothing more of the sender is needed, which may wait for something else now. */
		T_WAIT(doca_pe_progress(t->client.pe), t->client.nb_msgs == i + 1);
		T_WAIT(pair_progress(t), t->server.nb_sent == i + 1);
		T_EQ(t->client.msg_len, lens[i]);
		T_VERIFY(t->client.msg, lens[i], i);
		t_fill(msg, lens[i], i + 100);
		side_send(&t->client, msg, lens[i]);
		T_WAIT(doca_pe_progress(t->server.pe), t->server.nb_msgs >= i + 1);
		T_EQ(t->server.msg_len, lens[i]);
		T_VERIFY(t->server.msg, lens[i], i + 100);
	}
	T_WAIT(pair_progress(t), t->client.nb_sent == RTE_DIM(lens));
	T_INVALID(doca_comch_client_task_send_alloc_init(t->client.client, t->client.conn, msg,
		4081, &task));
	T_INVALID(doca_comch_server_task_send_alloc_init(t->server.server, t->server.conn, msg,
		4081, &task));
	T_INVALID(doca_comch_client_task_send_alloc_init(t->client.client, NULL, msg, 1, &task));
	T_INVALID(doca_comch_client_task_send_alloc_init(t->client.client, t->client.conn, NULL, 1,
		&task));
	T_INVALID(doca_comch_client_task_send_alloc_init(t->client.client, t->client.conn, msg, 1,
		NULL));
	T_INVALID(doca_comch_client_task_send_alloc_init(NULL, t->client.conn, msg, 1, &task));
	/* The connection object of the other side. */
	T_INVALID(doca_comch_client_task_send_alloc_init(t->client.client, t->server.conn, msg, 1,
		&task));
	T_INVALID(doca_comch_server_task_send_alloc_init(t->server.server, t->client.conn, msg, 1,
		&task));
}

static void
check_order(struct side *side, struct doca_comch_connection *conn __rte_unused, uint8_t *msg,
		uint32_t len)
{
	uint32_t seq;

	T_EQ(len, sizeof(seq));
	memcpy(&seq, msg, sizeof(seq));
	T_EQ(seq + 1, side->nb_msgs);
}

static void
check_sent_order(struct side *side, struct doca_comch_task_send *task)
{
	T_EQ(side->sent_data.u64 + 1, side->nb_sent);
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* behaviour: T3, T5, T6 */
PAIR_CASE_CREATED(slow_receiver, t)
{
	struct doca_comch_task_send *task;
	union doca_data data;
	uint32_t seq[1000];
	unsigned int i;

	T_OK(doca_comch_server_set_recv_queue_size(t->server.server, 10));
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	t->server.hooks.msg = check_order;
	t->client.hooks.sent = check_sent_order;
	for (i = 0; i < RTE_DIM(seq); i++) {
		seq[i] = i;
		task = side_task(&t->client, &seq[i], sizeof(seq[i]));
		data.u64 = i;
		doca_task_set_user_data(doca_comch_task_send_as_task(task), data);
		T_OK(doca_task_submit(doca_comch_task_send_as_task(task)));
		doca_pe_progress(t->client.pe);
	}
	/* An engine with nothing but a full peer has nothing to do. */
	T_SETTLE(doca_pe_progress(t->client.pe) != 0);
	T_EQ(t->client.nb_sent, 10);
	T_WAIT(pair_progress(t), t->client.nb_sent == RTE_DIM(seq) &&
		t->server.nb_msgs == RTE_DIM(seq));
}

static void
reply(struct side *side, struct doca_comch_connection *conn __rte_unused, uint8_t *msg,
		uint32_t len)
{
	if (side->nb_msgs < 100)
		side_send(side, msg, len);
}

static void
greet(struct side *side, struct doca_comch_connection *conn __rte_unused)
{
	side_send(side, "hello", 5);
}

/* behaviour: T7, T8 */
PAIR_CASE_CREATED(send_in_callbacks, t)
{
	t->server.hooks.connected = greet;
	t->server.hooks.msg = reply;
	t->client.hooks.msg = reply;
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	T_WAIT(pair_progress(t), t->client.nb_msgs == 100);
	T_SETTLE(pair_progress(t));
	T_EQ(t->server.nb_msgs, 99);
	T_EQ(t->client.msg_len, 5);
	T_CHECK(memcmp(t->client.msg, "hello", 5) == 0);
}

/* Progress one side only; each progress may report one completion. */
static void
progress_one(struct side *side, unsigned int nb)
{
	unsigned int before;

	while (nb-- > 0) {
		before = side->nb_sent;
		doca_pe_progress(side->pe);
		T_LE(side->nb_sent - before, 1);
	}
}

/* behaviour: P17, T14 */
PAIR_CASE_CREATED(sent_is_in_the_queue, t)
{
	static const char big[4080];
	unsigned int i;

	T_OK(doca_comch_client_set_recv_queue_size(t->client.client, 40));
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	T_SETTLE(pair_progress(t));
	/* The client does nothing from here on. */
	for (i = 0; i < 50; i++)
		side_send(&t->server, big, sizeof(big));
	/* Never within the submit. */
	T_EQ(t->server.nb_sent, 0);
	progress_one(&t->server, 200);
	T_EQ(t->server.nb_sent, 40);
	T_EQ(t->server.nb_send_errors, 0);
	T_WAIT(pair_progress(t), t->client.nb_msgs == 50 && t->server.nb_sent == 50);
	T_EQ(t->client.msg_bytes, 50 * sizeof(big));
}

/* A completion that waits wakes a program that is about to sleep. */
/* behaviour: P17, T14 */
PAIR_CASE(sent_wakes, t)
{
	doca_notification_handle_t fd;
	struct pollfd pfd;

	T_OK(doca_pe_get_notification_handle(t->server.pe, &fd));
	T_SETTLE(pair_progress(t));
	pfd = (struct pollfd){ .fd = fd, .events = POLLIN };
	side_send(&t->server, "x", 1);
	T_OK(doca_pe_request_notification(t->server.pe));
	T_EQ(poll(&pfd, 1, 0), 1);
	T_OK(doca_pe_clear_notification(t->server.pe, fd));
	T_EQ(doca_pe_progress(t->server.pe), 1);
	T_EQ(t->server.nb_sent, 1);
	/* The same if it arms first. */
	T_SETTLE(pair_progress(t));
	T_OK(doca_pe_request_notification(t->server.pe));
	T_EQ(poll(&pfd, 1, 0), 0);
	side_send(&t->server, "x", 1);
	T_EQ(poll(&pfd, 1, 0), 1);
	T_OK(doca_pe_clear_notification(t->server.pe, fd));
	T_WAIT(pair_progress(t), t->server.nb_sent == 2 && t->client.nb_msgs == 2);
}

/* One that sends in each completion receives all the same. */
static void
send_again(struct side *side, struct doca_comch_task_send *task)
{
	doca_task_free(doca_comch_task_send_as_task(task));
	if (side->nb_sent < 1000)
		side_send(side, "x", 1);
}

/* behaviour: P17, T14 */
PAIR_CASE(completions_and_messages_take_turns, t)
{
	unsigned int i;

	for (i = 0; i < 10; i++)
		side_send(&t->client, &i, sizeof(i));
	/* All have arrived. */
	T_SETTLE(doca_pe_progress(t->client.pe));
	t->server.hooks.sent = send_again;
	side_send(&t->server, "x", 1);
	/* As many of both, one after the other. */
	progress_one(&t->server, 20);
	T_EQ(t->server.nb_msgs, 10);
	T_WAIT(pair_progress(t), t->client.nb_msgs == 1000 && t->client.nb_sent == 10);
}

/* One that completes a send in each progress is told all the rest, too. */
/* behaviour: P17, T14 */
PAIR_CASE(completions_and_events_take_turns, t)
{
	unsigned int i;

	for (i = 0; i < 200; i++) {
		side_send(&t->client, &i, sizeof(i));
		T_EQ(doca_pe_progress(t->client.pe), 1);
		progress_one(&t->server, 4);
		T_EQ(t->server.nb_msgs, i + 1);
	}
}

static void
nothing_follows(struct side *side, struct doca_comch_connection *conn)
{
	RTE_SET_USED(conn);
	T_EQ(side->nb_sent, 20);
}

/* The peer ends before this side has looked at its completions. */
/* behaviour: T15 */
PAIR_CASE(completions_come_before_the_end, t)
{
	unsigned int i;

	t->server.hooks.disconnected = nothing_follows;
	for (i = 0; i < 20; i++)
		side_send(&t->server, "x", 1);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(t->client.pe), ctx_state(t->client.ctx) == DOCA_CTX_STATE_IDLE);
	T_WAIT(doca_pe_progress(t->server.pe), t->server.nb_disconnects == 1);
	T_EQ(t->server.nb_sent, 20);
}

/* behaviour: T11 */
PAIR_CASE(stop_waits_for_the_peer, t)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		side_send(&t->server, &i, sizeof(i));
	progress_one(&t->server, 50);
	T_EQ(t->server.nb_sent, 20);
	/* They have completed, and the client has read none. */
	T_IS(doca_ctx_stop(t->server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx) && ctx_is_idle(t->server.ctx));
	T_EQ(t->client.nb_msgs, 20);
}

/* behaviour: T10, T11 */
PAIR_CASE_CREATED(peer_gone, t)
{
	struct doca_comch_task_send *task;
	unsigned int i;

	T_OK(doca_comch_client_set_recv_queue_size(t->client.client, 4));
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	/* Some are on their way, some wait; the client reads none. */
	for (i = 0; i < 20; i++)
		side_send(&t->server, &i, sizeof(i));
	task = side_task(&t->server, "x", 1);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_EQ(t->server.nb_sent + t->server.nb_send_errors, 20);
	T_GT(t->server.nb_send_errors, 0);
	T_IS(t->server.send_status, DOCA_ERROR_CONNECTION_RESET);
	T_IS(doca_task_submit(doca_comch_task_send_as_task(task)), DOCA_ERROR_NOT_CONNECTED);
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* behaviour: T11 */
PAIR_CASE_CREATED(own_stop, t)
{
	unsigned int i;

	T_OK(doca_comch_server_set_recv_queue_size(t->server.server, 4));
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	for (i = 0; i < 20; i++)
		side_send(&t->client, &i, sizeof(i));
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(t->client.nb_sent + t->client.nb_send_errors, 20);
	T_GE(t->client.nb_send_errors, 16);
}

static uint64_t
counter(struct doca_comch_connection *conn, enum doca_comch_counter which)
{
	uint64_t value;

	T_OK(doca_comch_connection_get_counter(conn, which, &value));
	return value;
}

/* behaviour: N3, N4, N5, A3 */
PAIR_CASE(counters, t)
{
	static const struct {
		enum doca_comch_counter counter;
		uint64_t client, server;
	} wanted[] = {
		{ DOCA_COMCH_COUNTER_SENT_MESSAGES, 7, 0 },
		{ DOCA_COMCH_COUNTER_SENT_BYTES, 70, 0 },
		{ DOCA_COMCH_COUNTER_RECV_MESSAGES, 0, 7 },
		{ DOCA_COMCH_COUNTER_RECV_BYTES, 0, 70 },
	};
	uint64_t value;
	unsigned int i;

	for (i = 0; i < 7; i++)
		side_send(&t->client, "0123456789", 10);
	T_WAIT(pair_progress(t), t->client.nb_sent == 7);
	T_EQ(counter(t->client.conn, DOCA_COMCH_COUNTER_SENT_MESSAGES), 0);
	T_OK(doca_comch_connection_update_info(t->client.conn));
	T_OK(doca_comch_connection_update_info(t->server.conn));
	for (i = 0; i < RTE_DIM(wanted); i++) {
		T_EQ(counter(t->client.conn, wanted[i].counter), wanted[i].client);
		T_EQ(counter(t->server.conn, wanted[i].counter), wanted[i].server);
	}
	side_send(&t->client, "x", 1);
	T_WAIT(pair_progress(t), t->client.nb_sent == 8);
	T_EQ(counter(t->client.conn, DOCA_COMCH_COUNTER_SENT_MESSAGES), 7);
	T_INVALID(doca_comch_connection_get_counter(t->client.conn, 0, &value));
	T_INVALID(doca_comch_connection_get_counter(t->client.conn, 5, &value));
	T_INVALID(doca_comch_connection_get_counter(t->client.conn, DOCA_COMCH_COUNTER_SENT_BYTES,
		NULL));
	T_EQ((int)DOCA_COMCH_COUNTER_SENT_MESSAGES, 1);
	T_EQ((int)DOCA_COMCH_COUNTER_RECV_BYTES, 4);
}

static void
count_in_goodbye(struct side *side, struct doca_comch_connection *conn)
{
	const union doca_data data = doca_comch_connection_get_user_data(conn);

	T_EQ(data.u64, 42);
	T_EQ(counter(conn, DOCA_COMCH_COUNTER_RECV_MESSAGES), 1);
	T_CHECK(doca_comch_server_get_server_ctx(conn) == side->server);
}

/* behaviour: X8 */
PAIR_CASE(in_the_disconnect_callback, t)
{
	const union doca_data data = { .u64 = 42 };

	T_OK(doca_comch_connection_set_user_data(t->server.conn, data));
	t->server.hooks.disconnected = count_in_goodbye;
	side_send(&t->client, "x", 1);
	T_WAIT(pair_progress(t), t->client.nb_sent == 1);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
}
