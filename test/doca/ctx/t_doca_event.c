/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Engines that sleep: behaviours E. */

#include <stdlib.h>

#include "t_main.h"
#include "t_proc.h"
#include "comch/sleeper.h"

#define PING_PONGS 2000
#define MSG_LEN 64

/* behaviour: E1, E7, E8 */
static void
handle(void)
{
	struct doca_pe *pe;
	int fd, again;

	TD_OK(doca_pe_create(&pe));
	TD_OK(doca_pe_get_notification_handle(pe, &fd));
	T_GE(fd, 0);
	TD_OK(doca_pe_request_notification(pe));
	TD_OK(doca_pe_clear_notification(pe, 0));
	TD_OK(doca_pe_clear_notification(pe, fd));
	doca_pe_progress(pe);
	TD_OK(doca_pe_get_notification_handle(pe, &again));
	T_EQ(fd, again);
	TD_OK(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE));
	TD_OK(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	TD_IS(doca_pe_set_event_mode(pe, (enum doca_pe_event_mode)2), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_pe_set_event_mode(NULL, DOCA_PE_EVENT_MODE_PROGRESS_ALL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_pe_get_notification_handle(NULL, &fd), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_pe_get_notification_handle(pe, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_pe_request_notification(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_pe_clear_notification(NULL, fd), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_pe_destroy(pe));
}

/* behaviour: E2, E3, E4 */
static void
arm_and_clear(void)
{
	struct td t;
	int fd;

	td_open(&t);
	while (td_progress(&t))
		;
	TD_OK(doca_pe_get_notification_handle(t.client.pe, &fd));
	TD_OK(doca_pe_request_notification(t.client.pe));
	T_CHECK(!t_readable(fd, 0));
	td_send(&t.server, "a", 1);
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	/* Cleared: quiet, whatever comes; nothing is lost by it. */
	TD_OK(doca_pe_clear_notification(t.client.pe, fd));
	T_CHECK(!t_readable(fd, 0));
	td_send(&t.server, "b", 1);
	T_CHECK(!t_readable(fd, 0));
	TD_OK(doca_pe_request_notification(t.client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	TD_OK(doca_pe_clear_notification(t.client.pe, fd));
	/* It happened before it was armed. */
	TD_OK(doca_pe_request_notification(t.client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	/* Armed twice. */
	TD_OK(doca_pe_request_notification(t.client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	TD_OK(doca_pe_clear_notification(t.client.pe, fd));
	TD_UNTIL(&t, t.client.nb_msgs == 2 && t.server.nb_sent == 2);
	td_close(&t);
}

/* behaviour: E3, E5 */
static void
armed_then_submitted(void)
{
	struct doca_task *task;
	struct td_queue cons, prod;
	struct doca_buf *in, *out;
	struct td_mem mem;
	uint32_t id;
	struct td t;
	int fd;

	td_open(&t);
	td_mem_create(&mem, t.server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.server.conn, mem.mmap, t.server.pe, 4);
	id = td_consumer_start(&t, &cons);
	td_producer_create(&prod, t.client.conn, NULL, 4);
	TD_OK(doca_ctx_start(prod.ctx));
	in = td_buf(&mem, 0, 64, false);
	td_post(&cons, in);
	out = td_buf(&mem, 1024, 64, true);
	while (td_progress(&t) || doca_pe_progress(prod.pe) != 0)
		;
	/* The completion of a send is there before anybody looks for it. */
	TD_OK(doca_pe_get_notification_handle(prod.pe, &fd));
	TD_OK(doca_pe_request_notification(prod.pe));
	T_CHECK(!t_readable(fd, 0));
	task = td_put_task(&prod, out, NULL, 0, id);
	TD_OK(doca_task_submit(task));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	TD_OK(doca_pe_clear_notification(prod.pe, 0));
	while (doca_pe_progress(prod.pe) != 0)
		;
	T_EQ(prod.nb_done, 1);
	/* And one that was done before. */
	TD_UNTIL(&t, cons.nb_done == 1);
	td_post(&cons, NULL);
	task = td_put_task(&prod, NULL, "x", 1, id);
	TD_OK(doca_task_submit(task));
	TD_OK(doca_pe_request_notification(prod.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	while (doca_pe_progress(prod.pe) != 0)
		;
	T_EQ(prod.nb_done, 2);
	td_queue_destroy(&t, &prod);
	td_queue_destroy(&t, &cons);
	TD_OK(doca_buf_dec_refcount(in, NULL));
	TD_OK(doca_buf_dec_refcount(out, NULL));
	td_mem_destroy(&mem);
	td_close(&t);
}

/* Consumer and producer, on engines of their own or the connection's. */
struct side {
	struct td_mem mem;
	struct td_queue cons, prod;
	uint32_t id;
};

static void
side_open(struct td_ev *ev, struct side *s, struct td_node *node, bool own_pe)
{
	struct doca_pe *pe = own_pe ? NULL : node->pe;

	td_mem_create(&s->mem, node->dev, 1 << 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&s->cons, node->conn, s->mem.mmap, pe, 16);
	td_producer_create(&s->prod, node->conn, pe, 16);
	if (own_pe) {
		td_ev_add(ev, s->cons.pe);
		td_ev_add(ev, s->prod.pe);
	}
	TD_OK(doca_ctx_start(s->prod.ctx));
	TD_IS(doca_ctx_start(s->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(ev, td_state(s->cons.ctx) == DOCA_CTX_STATE_RUNNING);
	TD_OK(doca_comch_consumer_get_id(s->cons.consumer, &s->id));
}

static void
side_exchange(struct td_ev *ev, struct side *from, struct side *to)
{
	unsigned int done = from->prod.nb_done, got = to->cons.nb_done;
	struct doca_buf *in = td_buf(&to->mem, 0, 1024, false);
	struct doca_buf *out = td_buf(&from->mem, 4096, 1000, true);

	t_fill(from->mem.addr + 4096, 1000, got);
	td_post(&to->cons, in);
	/* In one process a posted buffer is seen at once. */
	TD_OK(doca_task_submit(td_put_task(&from->prod, out, NULL, 0, to->id)));
	TD_EV_UNTIL(ev, from->prod.nb_done == done + 1);
	TD_EV_UNTIL(ev, to->cons.nb_done == got + 1);
	T_VERIFY(to->mem.addr, 1000, got);
	TD_OK(doca_buf_dec_refcount(in, NULL));
	TD_OK(doca_buf_dec_refcount(out, NULL));
}

static void
side_close(struct td_ev *ev, struct side *s)
{
	struct doca_buf *in = td_buf(&s->mem, 0, 1024, false);

	td_post(&s->cons, in);
	TD_IS(doca_ctx_stop(s->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(ev, td_state(s->cons.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(s->cons.nb_errors, 1);
	TD_OK(doca_ctx_stop(s->prod.ctx));
	TD_OK(doca_comch_consumer_destroy(s->cons.consumer));
	TD_OK(doca_comch_producer_destroy(s->prod.producer));
	if (s->cons.pe != NULL) {
		td_ev_del(ev, s->cons.pe);
		td_ev_del(ev, s->prod.pe);
		TD_OK(doca_pe_destroy(s->cons.pe));
		TD_OK(doca_pe_destroy(s->prod.pe));
	}
	TD_OK(doca_buf_dec_refcount(in, NULL));
	td_mem_destroy(&s->mem);
}

/* Each kind of event there is, and each has to wake who waits for it. */
static void
life(unsigned int flags, bool own_pes)
{
	struct side s, c;
	struct td_ev ev;
	unsigned int i;
	struct td t;

	td_create(&t);
	td_ev_open(&ev, flags);
	td_ev_add(&ev, t.server.pe);
	td_ev_add(&ev, t.client.pe);
	TD_OK(doca_ctx_start(t.server.ctx));
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING);
	TD_EV_UNTIL(&ev, t.server.nb_connects == 1);
	for (i = 1; i <= 20; i++) {
		td_send(&t.client, "ping", 4);
		TD_EV_UNTIL(&ev, t.server.nb_msgs == i);
		TD_EV_UNTIL(&ev, t.client.nb_sent == i);
		td_send(&t.server, "pong", 4);
		TD_EV_UNTIL(&ev, t.server.nb_sent == i);
		TD_EV_UNTIL(&ev, t.client.nb_msgs == i);
	}
	side_open(&ev, &s, &t.server, own_pes);
	TD_EV_UNTIL(&ev, t.client.nb_new == 1);
	side_open(&ev, &c, &t.client, own_pes);
	TD_EV_UNTIL(&ev, t.server.nb_new == 1);
	for (i = 0; i < 20; i++) {
		side_exchange(&ev, &s, &c);
		side_exchange(&ev, &c, &s);
	}
	td_ev_rest(&ev);
	side_close(&ev, &s);
	TD_EV_UNTIL(&ev, t.client.nb_gone == 1);
	side_close(&ev, &c);
	TD_EV_UNTIL(&ev, t.server.nb_gone == 1);
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	TD_EV_UNTIL(&ev, t.server.nb_disconnects == 1);
	/* Once more, and the server leaves. */
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING &&
		t.server.nb_connects == 2);
	TD_IS(doca_ctx_stop(t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(t.server.ctx) == DOCA_CTX_STATE_IDLE);
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	td_ev_rest(&ev);
	td_ev_close(&ev);
	td_node_destroy(&t.client);
	td_node_destroy(&t.server);
}

/* behaviour: E5, E6, E8 */
static void
life_armed(void)
{
	life(TD_EV_ZERO, true);
	life(0, false);
}

/* behaviour: E3, E5 */
static void
life_unarmed(void)
{
	life(TD_EV_LATE, true);
	life(TD_EV_LATE, false);
}

/* behaviour: E9 */
static void
life_on_the_edge(void)
{
	life(TD_EV_EDGE, true);
	life(TD_EV_EDGE | TD_EV_LATE, false);
	life(TD_EV_EDGE | TD_EV_NO_CLEAR, true);
}

/* behaviour: E9 */
static void
life_in_two_sets(void)
{
	life(TD_EV_TWO_SETS, true);
	life(TD_EV_TWO_SETS | TD_EV_LATE, false);
}

/* behaviour: E7 */
static void
life_without_clear(void)
{
	life(TD_EV_NO_CLEAR, true);
	life(TD_EV_NO_CLEAR | TD_EV_LATE, false);
}

/* behaviour: E5, E6, S8 */
static void
nobody_there(void)
{
	struct td_node client;
	struct td_ev ev;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		td_client_create(&client, "nobody");
		td_ev_open(&ev, i == 0 ? 0 : TD_EV_LATE);
		td_ev_add(&ev, client.pe);
		TD_IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
		TD_EV_UNTIL(&ev, td_state(client.ctx) == DOCA_CTX_STATE_IDLE);
		td_ev_rest(&ev);
		td_ev_close(&ev);
		td_node_destroy(&client);
	}
}

/* The client is asleep before there is a server. behaviour: E5, E6 */
static void
server_comes_later(void)
{
	struct td_ev ev;
	struct td t;

	td_create(&t);
	td_ev_open(&ev, 0);
	td_ev_add(&ev, t.client.pe);
	td_ev_add(&ev, t.server.pe);
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	/* At least one try was in vain. */
	T_CHECK(td_ev_step(&ev, T_TIMEOUT_MS));
	TD_OK(doca_ctx_start(t.server.ctx));
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING &&
		t.server.nb_connects == 1);
	td_ev_close(&ev);
	td_close(&t);
}

/* A stop of whatever is STARTING, armed. behaviour: C15, E5 */
static void
stop_while_starting(void)
{
	struct td_queue cons;
	struct td_mem mem;
	struct td_ev ev;
	struct td t;

	td_create(&t);
	td_ev_open(&ev, 0);
	td_ev_add(&ev, t.client.pe);
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	td_ev_add(&ev, t.server.pe);
	TD_OK(doca_ctx_start(t.server.ctx));
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING &&
		t.server.nb_connects == 1);
	td_mem_create(&mem, t.client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&cons, t.client.conn, mem.mmap, NULL, 4);
	td_ev_add(&ev, cons.pe);
	TD_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(cons.ctx) == DOCA_CTX_STATE_IDLE);
	td_ev_close(&ev);
	td_queue_destroy(&t, &cons);
	td_mem_destroy(&mem);
	td_close(&t);
}

/* Armed, STOPPING: only the application's last task is missing. behaviour: E5, C14 */
static void
last_task_freed(void)
{
	struct doca_comch_task_send *task;
	struct td_ev ev;
	struct td t;

	td_open(&t);
	task = td_task(&t.client, "x", 1);
	td_ev_open(&ev, 0);
	td_ev_add(&ev, t.client.pe);
	td_ev_add(&ev, t.server.pe);
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, t.server.nb_disconnects == 1);
	td_ev_rest(&ev);
	T_EQ(td_state(t.client.ctx), DOCA_CTX_STATE_STOPPING);
	doca_task_free(doca_comch_task_send_as_task(task));
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	td_ev_close(&ev);
	td_close(&t);
}

/*
 * More messages than the receiver takes: each wake-up of the sender has to
 * come from the receiver. behaviour: T5, E5
 */
static void
flood(uint32_t recv_queue, uint32_t len, unsigned int flags)
{
	static uint8_t msg[4080];
	struct td_ev ev;
	unsigned int i;
	struct td t;

	td_create(&t);
	TD_OK(doca_comch_server_set_recv_queue_size(t.server.server, recv_queue));
	TD_OK(doca_ctx_start(t.server.ctx));
	td_connect(&t);
	td_ev_open(&ev, flags);
	td_ev_add(&ev, t.client.pe);
	for (i = 0; i < 1000; i++)
		td_send(&t.client, msg, len);
	/* The receiver is away: who cannot send does not run in circles. */
	td_ev_rest(&ev);
	td_ev_add(&ev, t.server.pe);
	TD_EV_UNTIL(&ev, t.server.nb_msgs == 1000);
	TD_EV_UNTIL(&ev, t.client.nb_sent == 1000);
	td_ev_rest(&ev);
	td_ev_close(&ev);
	td_close(&t);
}

static void
floods(void)
{
	flood(1, 1, 0);
	flood(10, 4080, TD_EV_LATE);
	flood(8192, 4080, 0);
	flood(8192, 4080, TD_EV_EDGE | TD_EV_LATE);
}

/* Each consumer's engine is told of the end of its connection. behaviour: E5, X3 */
static void
connection_lost(void)
{
	struct side s, c;
	struct td_ev ev;
	struct td t;

	td_create(&t);
	td_ev_open(&ev, 0);
	td_ev_add(&ev, t.server.pe);
	td_ev_add(&ev, t.client.pe);
	TD_OK(doca_ctx_start(t.server.ctx));
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING &&
		t.server.nb_connects == 1);
	side_open(&ev, &s, &t.server, true);
	side_open(&ev, &c, &t.client, true);
	side_exchange(&ev, &s, &c);
	side_close(&ev, &s);
	/* The client's consumer has a buffer posted. */
	td_post(&c.cons, NULL);
	TD_OK(doca_comch_server_disconnect(t.server.server, t.server.conn));
	TD_EV_UNTIL(&ev, td_state(c.cons.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(c.cons.nb_errors, 1);
	TD_EV_UNTIL(&ev, td_state(c.prod.ctx) == DOCA_CTX_STATE_IDLE);
	td_ev_rest(&ev);
	TD_OK(doca_comch_consumer_destroy(c.cons.consumer));
	TD_OK(doca_comch_producer_destroy(c.prod.producer));
	TD_EV_UNTIL(&ev, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	td_ev_rest(&ev);
	td_ev_close(&ev);
	TD_OK(doca_pe_destroy(c.cons.pe));
	TD_OK(doca_pe_destroy(c.prod.pe));
	td_mem_destroy(&c.mem);
	td_close(&t);
}

/* Two processes, each asleep until the other has spoken. */

struct end {
	struct td_node node;
	struct td_queue cons, prod;
	struct td_mem mem;
	struct td_ev ev;
};

static void
end_open(struct end *e, bool is_server, int fd)
{
	if (is_server)
		td_server_create(&e->node, "sleepers");
	else
		td_client_create(&e->node, "sleepers");
	td_ev_open(&e->ev, is_server ? 0 : TD_EV_LATE | TD_EV_EDGE);
	td_ev_add(&e->ev, e->node.pe);
	if (is_server) {
		TD_OK(doca_ctx_start(e->node.ctx));
		t_say(fd, 'R', 0);
		TD_EV_UNTIL(&e->ev, e->node.nb_connects == 1);
	} else {
		TD_IS(doca_ctx_start(e->node.ctx), DOCA_ERROR_IN_PROGRESS);
		TD_EV_UNTIL(&e->ev, td_state(e->node.ctx) == DOCA_CTX_STATE_RUNNING);
	}
	td_mem_create(&e->mem, e->node.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_consumer_create(&e->cons, e->node.conn, e->mem.mmap, NULL, 4);
	td_producer_create(&e->prod, e->node.conn, NULL, 4);
	td_ev_add(&e->ev, e->cons.pe);
	td_ev_add(&e->ev, e->prod.pe);
	TD_OK(doca_ctx_start(e->prod.ctx));
}

static void
end_messages(struct end *e, bool first)
{
	unsigned int i;

	for (i = 1; i <= PING_PONGS; i++) {
		if (first)
			td_send(&e->node, &i, sizeof(i));
		TD_EV_UNTIL(&e->ev, e->node.nb_msgs == i);
		T_EQ(memcmp(e->node.msg, &i, sizeof(i)), 0);
		if (!first)
			td_send(&e->node, &i, sizeof(i));
	}
	TD_EV_UNTIL(&e->ev, e->node.nb_sent == PING_PONGS);
}

static void
put(struct end *e, const struct doca_buf *out)
{
	struct doca_task *task = td_put_task(&e->prod, out, NULL, 0, e->node.new_id);

	TD_OK(doca_task_submit(task));
}

/* Before a message is answered the next buffer is posted: a send always finds one. */
static void
end_data(struct end *e, bool first)
{
	struct doca_buf *in = td_buf(&e->mem, 0, MSG_LEN, false);
	struct doca_buf *out = td_buf(&e->mem, 1024, MSG_LEN, true);
	unsigned int i;

	TD_IS(doca_ctx_start(e->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&e->ev, td_state(e->cons.ctx) == DOCA_CTX_STATE_RUNNING);
	td_post(&e->cons, in);
	TD_EV_UNTIL(&e->ev, e->node.nb_new == 1);
	/* The other one has posted as well. */
	td_send(&e->node, "posted", 6);
	TD_EV_UNTIL(&e->ev, e->node.nb_msgs == PING_PONGS + 1);
	for (i = 1; i <= PING_PONGS; i++) {
		t_fill(e->mem.addr + 1024, MSG_LEN, i);
		if (first)
			put(e, out);
		TD_EV_UNTIL(&e->ev, e->cons.nb_done == i);
		T_VERIFY(e->mem.addr, MSG_LEN, i);
		TD_OK(doca_buf_reset_data_len(in));
		td_post(&e->cons, in);
		if (!first)
			put(e, out);
		TD_EV_UNTIL(&e->ev, e->prod.nb_done == i);
	}
	TD_OK(doca_buf_dec_refcount(in, NULL));
	TD_OK(doca_buf_dec_refcount(out, NULL));
}

static void
end_close(struct end *e)
{
	TD_IS(doca_ctx_stop(e->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_EV_UNTIL(&e->ev, td_state(e->cons.ctx) == DOCA_CTX_STATE_IDLE);
	TD_EV_UNTIL(&e->ev, e->node.nb_gone == 1);
	/* The other side may be gone already. */
	if (td_state(e->prod.ctx) == DOCA_CTX_STATE_RUNNING)
		doca_ctx_stop(e->prod.ctx);
	TD_EV_UNTIL(&e->ev, td_state(e->prod.ctx) == DOCA_CTX_STATE_IDLE);
	TD_OK(doca_comch_consumer_destroy(e->cons.consumer));
	TD_OK(doca_comch_producer_destroy(e->prod.producer));
}

static int
sleeper(int fd, void *arg)
{
	bool is_server = arg != NULL;
	static struct end e;

	end_open(&e, is_server, fd);
	end_messages(&e, is_server);
	end_data(&e, is_server);
	/* Nobody speaks any more. */
	td_ev_rest(&e.ev);
	t_say(fd, 'Q', 0);
	t_hear(fd, 'G');
	end_close(&e);
	if (is_server) {
		TD_EV_UNTIL(&e.ev, e.node.nb_disconnects == 1);
		/* At once, or by one more wake-up. */
		doca_ctx_stop(e.node.ctx);
	} else {
		TD_IS(doca_ctx_stop(e.node.ctx), DOCA_ERROR_IN_PROGRESS);
	}
	TD_EV_UNTIL(&e.ev, td_state(e.node.ctx) == DOCA_CTX_STATE_IDLE);
	td_ev_rest(&e.ev);
	td_ev_close(&e.ev);
	TD_OK(doca_pe_destroy(e.cons.pe));
	TD_OK(doca_pe_destroy(e.prod.pe));
	td_mem_destroy(&e.mem);
	td_node_destroy(&e.node);
	return 0;
}

/* behaviour: E5 */
static void
two_processes(void)
{
	struct t_proc server, client;
	char yes;

	t_proc_start(&server, "server", sleeper, &yes);
	t_hear(server.fd, 'R');
	t_proc_start(&client, "client", sleeper, NULL);
	t_hear(server.fd, 'Q');
	t_hear(client.fd, 'Q');
	t_say(server.fd, 'G', 0);
	t_say(client.fd, 'G', 0);
	t_proc_join(&client);
	t_proc_join(&server);
}

static const struct t_case cases[] = {
	{ "handle", handle },
	{ "arm_and_clear", arm_and_clear },
	{ "armed_then_submitted", armed_then_submitted },
	{ "life_armed", life_armed },
	{ "life_unarmed", life_unarmed },
	{ "life_on_the_edge", life_on_the_edge },
	{ "life_in_two_sets", life_in_two_sets },
	{ "life_without_clear", life_without_clear },
	{ "nobody_there", nobody_there },
	{ "server_comes_later", server_comes_later },
	{ "stop_while_starting", stop_while_starting },
	{ "last_task_freed", last_task_freed },
	{ "floods", floods },
	{ "connection_lost", connection_lost },
	{ "two_processes", two_processes },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
