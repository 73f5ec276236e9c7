/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Engines that sleep: behaviours E. */

#include <stdlib.h>

#include "comch/sleeper.h"
#include "t_main.h"
#include "t_proc.h"

#define PING_PONGS 2000
#define MSG_LEN 64

/* behaviour: E1, E7, E8 */
T_CASE(handle)
{
	struct doca_pe *pe;
	int fd, again;

	T_OK(doca_pe_create(&pe));
	T_OK(doca_pe_get_notification_handle(pe, &fd));
	T_GE(fd, 0);
	T_OK(doca_pe_request_notification(pe));
	T_OK(doca_pe_clear_notification(pe, 0));
	T_OK(doca_pe_clear_notification(pe, fd));
	doca_pe_progress(pe);
	T_OK(doca_pe_get_notification_handle(pe, &again));
	T_EQ(fd, again);
	T_OK(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE));
	T_OK(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	T_INVALID(doca_pe_set_event_mode(pe, (enum doca_pe_event_mode)2));
	T_INVALID(doca_pe_set_event_mode(NULL, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	T_REFUSES_NULL(doca_pe_get_notification_handle, pe, &fd);
	T_INVALID(doca_pe_request_notification(NULL));
	T_INVALID(doca_pe_clear_notification(NULL, fd));
	T_OK(doca_pe_destroy(pe));
}

/* behaviour: E2, E3, E4 */
PAIR_CASE(arm_and_clear, t)
{
	int fd;

	T_SETTLE(pair_progress(t));
	T_OK(doca_pe_get_notification_handle(t->client.pe, &fd));
	T_OK(doca_pe_request_notification(t->client.pe));
	T_CHECK(!t_readable(fd, 0));
	side_send(&t->server, "a", 1);
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	/* Cleared: quiet, whatever comes; nothing is lost by it. */
	T_OK(doca_pe_clear_notification(t->client.pe, fd));
	T_CHECK(!t_readable(fd, 0));
	side_send(&t->server, "b", 1);
	T_CHECK(!t_readable(fd, 0));
	T_OK(doca_pe_request_notification(t->client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_OK(doca_pe_clear_notification(t->client.pe, fd));
	/* It happened before it was armed. */
	T_OK(doca_pe_request_notification(t->client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	/* Armed twice. */
	T_OK(doca_pe_request_notification(t->client.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_OK(doca_pe_clear_notification(t->client.pe, fd));
	T_WAIT(pair_progress(t), t->client.nb_msgs == 2 && t->server.nb_sent == 2);
}

/* behaviour: E3, E5 */
PAIR_CASE(armed_then_submitted, t)
{
	struct doca_task *task;
	struct queue cons, prod;
	struct doca_buf *in, *out;
	struct memory mem;
	uint32_t id;
	int fd;

	memory_create(&mem, t->server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	consumer_create(&cons, t->server.conn, mem.mmap, t->server.pe, 4);
	id = consumer_start(t, &cons);
	producer_create(&prod, t->client.conn, NULL, 4);
	T_OK(doca_ctx_start(prod.ctx));
	in = memory_buf(&mem, 0, 64, false);
	queue_post(&cons, in);
	out = memory_buf(&mem, 1024, 64, true);
	T_SETTLE(pair_progress(t) || doca_pe_progress(prod.pe) != 0);
	/* A send completes before its completion is read. */
	T_OK(doca_pe_get_notification_handle(prod.pe, &fd));
	T_OK(doca_pe_request_notification(prod.pe));
	T_CHECK(!t_readable(fd, 0));
	task = queue_put_task(&prod, out, NULL, 0, id);
	T_OK(doca_task_submit(task));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_OK(doca_pe_clear_notification(prod.pe, 0));
	T_WAIT(doca_pe_progress(prod.pe), prod.nb_done == 1);
	/* And one that was done before. */
	T_WAIT(pair_progress(t), cons.nb_done == 1);
	queue_post(&cons, NULL);
	task = queue_put_task(&prod, NULL, "x", 1, id);
	queue_submit(t, task);
	T_OK(doca_pe_request_notification(prod.pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_WAIT(doca_pe_progress(prod.pe), prod.nb_done == 2);
	queue_destroy(t, &prod);
	queue_destroy(t, &cons);
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(out, NULL));
	memory_destroy(&mem);
}

/* Consumer and producer, on engines of their own or the connection's. */
struct sleeping_side {
	struct memory mem;
	struct queue cons, prod;
	uint32_t id;
};

static void
sleeping_open(struct sleeper *ev, struct sleeping_side *s, struct side *side, bool own_pe)
{
	struct doca_pe *pe = own_pe ? NULL : side->pe;

	memory_create(&s->mem, side->dev, 1 << 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	consumer_create(&s->cons, side->conn, s->mem.mmap, pe, 16);
	producer_create(&s->prod, side->conn, pe, 16);
	if (own_pe) {
		sleeper_add(ev, s->cons.pe);
		sleeper_add(ev, s->prod.pe);
	}
	T_OK(doca_ctx_start(s->prod.ctx));
	T_IS(doca_ctx_start(s->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(ev), ctx_is_running(s->cons.ctx));
	T_OK(doca_comch_consumer_get_id(s->cons.consumer, &s->id));
}

static void
sleeping_exchange(struct sleeper *ev, struct sleeping_side *from, struct sleeping_side *to)
{
	unsigned int done = from->prod.nb_done, got = to->cons.nb_done;
	struct doca_buf *in = memory_buf(&to->mem, 0, 1024, false);
	struct doca_buf *out = memory_buf(&from->mem, 4096, 1000, true);
	struct doca_task *task;
	doca_error_t ret;

	t_fill(from->mem.addr + 4096, 1000, got);
	queue_post(&to->cons, in);
	task = queue_put_task(&from->prod, out, NULL, 0, to->id);
	T_WAIT(sleeper_sleep(ev), (ret = doca_task_submit(task)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
	T_WAIT(sleeper_sleep(ev), from->prod.nb_done == done + 1);
	T_WAIT(sleeper_sleep(ev), to->cons.nb_done == got + 1);
	T_VERIFY(to->mem.addr, 1000, got);
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(out, NULL));
}

static void
sleeping_close(struct sleeper *ev, struct sleeping_side *s)
{
	struct doca_buf *in = memory_buf(&s->mem, 0, 1024, false);

	queue_post(&s->cons, in);
	T_IS(doca_ctx_stop(s->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(ev), ctx_is_idle(s->cons.ctx));
	T_EQ(s->cons.nb_errors, 1);
	T_OK(doca_ctx_stop(s->prod.ctx));
	T_OK(doca_comch_consumer_destroy(s->cons.consumer));
	T_OK(doca_comch_producer_destroy(s->prod.producer));
	if (s->cons.pe != NULL) {
		sleeper_del(ev, s->cons.pe);
		sleeper_del(ev, s->prod.pe);
		T_OK(doca_pe_destroy(s->cons.pe));
		T_OK(doca_pe_destroy(s->prod.pe));
	}
	T_OK(doca_buf_dec_refcount(in, NULL));
	memory_destroy(&s->mem);
}

/* Each kind of event must wake a thread that waits for it. */
static void
life(unsigned int flags, bool own_pes)
{
	struct sleeping_side s, c;
	struct sleeper ev;
	unsigned int i;
	struct pair t;

	pair_create(&t);
	sleeper_open(&ev, flags);
	sleeper_add(&ev, t.server.pe);
	sleeper_add(&ev, t.client.pe);
	T_OK(doca_ctx_start(t.server.ctx));
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_running(t.client.ctx));
	T_WAIT(sleeper_sleep(&ev), t.server.nb_connects == 1);
	for (i = 1; i <= 20; i++) {
		side_send(&t.client, "ping", 4);
		T_WAIT(sleeper_sleep(&ev), t.server.nb_msgs == i);
		T_WAIT(sleeper_sleep(&ev), t.client.nb_sent == i);
		side_send(&t.server, "pong", 4);
		T_WAIT(sleeper_sleep(&ev), t.server.nb_sent == i);
		T_WAIT(sleeper_sleep(&ev), t.client.nb_msgs == i);
	}
	sleeping_open(&ev, &s, &t.server, own_pes);
	T_WAIT(sleeper_sleep(&ev), t.client.nb_new == 1);
	sleeping_open(&ev, &c, &t.client, own_pes);
	T_WAIT(sleeper_sleep(&ev), t.server.nb_new == 1);
	for (i = 0; i < 20; i++) {
		sleeping_exchange(&ev, &s, &c);
		sleeping_exchange(&ev, &c, &s);
	}
	sleeper_rest(&ev);
	sleeping_close(&ev, &s);
	T_WAIT(sleeper_sleep(&ev), t.client.nb_gone == 1);
	sleeping_close(&ev, &c);
	T_WAIT(sleeper_sleep(&ev), t.server.nb_gone == 1);
	T_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(t.client.ctx));
	T_WAIT(sleeper_sleep(&ev), t.server.nb_disconnects == 1);
	/* Once more, and the server leaves. */
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_running(t.client.ctx) && t.server.nb_connects == 2);
	T_IS(doca_ctx_stop(t.server.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(t.server.ctx));
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(t.client.ctx));
	sleeper_rest(&ev);
	sleeper_close(&ev);
	side_destroy(&t.client);
	side_destroy(&t.server);
}

/* behaviour: E5, E6, E8 */
T_CASE(life_armed)
{
	life(SLEEPER_ZERO, true);
	life(0, false);
}

/* behaviour: E3, E5 */
T_CASE(life_unarmed)
{
	life(SLEEPER_LATE, true);
	life(SLEEPER_LATE, false);
}

/* behaviour: E9 */
T_CASE(life_on_the_edge)
{
	life(SLEEPER_EDGE, true);
	life(SLEEPER_EDGE | SLEEPER_LATE, false);
	life(SLEEPER_EDGE | SLEEPER_NO_CLEAR, true);
}

/* behaviour: E9 */
T_CASE(life_in_two_sets)
{
	life(SLEEPER_TWO_SETS, true);
	life(SLEEPER_TWO_SETS | SLEEPER_LATE, false);
}

/* behaviour: E7 */
T_CASE(life_without_clear)
{
	life(SLEEPER_NO_CLEAR, true);
	life(SLEEPER_NO_CLEAR | SLEEPER_LATE, false);
}

/* behaviour: E5, E6, S8 */
T_CASE(nobody_there)
{
	struct side client;
	struct sleeper ev;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		client_create(&client, "nobody");
		sleeper_open(&ev, i == 0 ? 0 : SLEEPER_LATE);
		sleeper_add(&ev, client.pe);
		T_IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(sleeper_sleep(&ev), ctx_is_idle(client.ctx));
		sleeper_rest(&ev);
		sleeper_close(&ev);
		side_destroy(&client);
	}
}

/* The client is asleep before there is a server. behaviour: E5, E6 */
PAIR_CASE_CREATED(server_comes_later, t)
{
	struct sleeper ev;

	sleeper_open(&ev, 0);
	sleeper_add(&ev, t->client.pe);
	sleeper_add(&ev, t->server.pe);
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	/* At least one try was in vain. */
	T_CHECK(sleeper_step(&ev, T_TIMEOUT_MS));
	T_OK(doca_ctx_start(t->server.ctx));
	T_WAIT(sleeper_sleep(&ev), ctx_is_running(t->client.ctx) && t->server.nb_connects == 1);
	sleeper_close(&ev);
}

/* A stop of whatever is STARTING, armed. behaviour: C15, E5 */
PAIR_CASE_CREATED(stop_while_starting, t)
{
	struct queue cons;
	struct sleeper ev;

	sleeper_open(&ev, 0);
	sleeper_add(&ev, t->client.pe);
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(t->client.ctx));
	sleeper_add(&ev, t->server.pe);
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_running(t->client.ctx) && t->server.nb_connects == 1);
	consumer_open(&cons, &t->client, NULL, 4);
	sleeper_add(&ev, cons.pe);
	T_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(cons.ctx));
	sleeper_close(&ev);
	queue_destroy(t, &cons);
}

/* Armed, STOPPING: only the application's last task is missing. behaviour: E5, C14 */
PAIR_CASE(last_task_freed, t)
{
	struct doca_comch_task_send *task;
	struct sleeper ev;

	task = side_task(&t->client, "x", 1);
	sleeper_open(&ev, 0);
	sleeper_add(&ev, t->client.pe);
	sleeper_add(&ev, t->server.pe);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), t->server.nb_disconnects == 1);
	sleeper_rest(&ev);
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_STOPPING);
	doca_task_free(doca_comch_task_send_as_task(task));
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(t->client.ctx));
	sleeper_close(&ev);
}

static void
send_on(struct queue *q, struct doca_task *task)
{
	const struct flow *f = q->arg;

	doca_task_free(task);
	if (q->nb_errors == 0)
		T_OK(doca_task_submit(queue_put_task(q, NULL, "x", 1, f->id)));
}

/* Asleep, STOPPING: what is missing is a send that found no room. behaviour: E5, C14 */
T_CASE(stop_with_a_backlog)
{
	struct sleeper ev;
	struct flow f;

	flow_open(&f, 64, 4);
	queue_post(&f.c, NULL);
	queue_submit(&f.t, queue_put_task(&f.p, NULL, "x", 1, f.id));
	f.p.done = send_on;
	f.p.arg = &f;
	T_WAIT(doca_pe_progress(f.p.pe), f.p.nb_done == 1);
	T_IS(doca_ctx_stop(f.p.ctx), DOCA_ERROR_IN_PROGRESS);
	sleeper_open(&ev, SLEEPER_LATE);
	sleeper_add(&ev, f.p.pe);
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(f.p.ctx));
	T_EQ(f.p.nb_errors, 1);
	sleeper_close(&ev);
	flow_close(&f);
}

/*
 * More messages than the receiver takes: each wake-up of the sender has to
 * come from the receiver. behaviour: T5, E5
 */
static void
flood(uint32_t recv_queue, uint32_t len, unsigned int flags)
{
	static uint8_t msg[4080];
	struct sleeper ev;
	unsigned int i;
	struct pair t;

	pair_create(&t);
	T_OK(doca_comch_server_set_recv_queue_size(t.server.server, recv_queue));
	T_OK(doca_ctx_start(t.server.ctx));
	pair_connect(&t);
	sleeper_open(&ev, flags);
	sleeper_add(&ev, t.client.pe);
	for (i = 0; i < 1000; i++)
		side_send(&t.client, msg, len);
	/* The receiver is stopped: a sender that must wait does not spin. */
	sleeper_rest(&ev);
	sleeper_add(&ev, t.server.pe);
	T_WAIT(sleeper_sleep(&ev), t.server.nb_msgs == 1000);
	T_WAIT(sleeper_sleep(&ev), t.client.nb_sent == 1000);
	sleeper_rest(&ev);
	sleeper_close(&ev);
	pair_close(&t);
}

T_CASE(floods)
{
	flood(1, 1, 0);
	flood(10, 4080, SLEEPER_LATE);
	flood(8192, 4080, 0);
	flood(8192, 4080, SLEEPER_EDGE | SLEEPER_LATE);
}

/* Each consumer's engine is told of the end of its connection. behaviour: E5, X3 */
PAIR_CASE_CREATED(connection_lost, t)
{
	struct sleeping_side s, c;
	struct sleeper ev;

	sleeper_open(&ev, 0);
	sleeper_add(&ev, t->server.pe);
	sleeper_add(&ev, t->client.pe);
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&ev), ctx_is_running(t->client.ctx) && t->server.nb_connects == 1);
	sleeping_open(&ev, &s, &t->server, true);
	sleeping_open(&ev, &c, &t->client, true);
	sleeping_exchange(&ev, &s, &c);
	sleeping_close(&ev, &s);
	/* The client's consumer has a buffer posted. */
	queue_post(&c.cons, NULL);
	T_OK(doca_comch_server_disconnect(t->server.server, t->server.conn));
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(c.cons.ctx));
	T_EQ(c.cons.nb_errors, 1);
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(c.prod.ctx));
	sleeper_rest(&ev);
	T_OK(doca_comch_consumer_destroy(c.cons.consumer));
	T_OK(doca_comch_producer_destroy(c.prod.producer));
	T_WAIT(sleeper_sleep(&ev), ctx_is_idle(t->client.ctx));
	sleeper_rest(&ev);
	sleeper_close(&ev);
	T_OK(doca_pe_destroy(c.cons.pe));
	T_OK(doca_pe_destroy(c.prod.pe));
	memory_destroy(&c.mem);
}

/* Two processes, each asleep until the other has spoken. */

struct end {
	struct side side;
	struct queue cons, prod;
	struct memory mem;
	struct sleeper ev;
};

static void
end_open(struct end *e, bool is_server, int fd)
{
	if (is_server)
		server_create(&e->side, "sleepers");
	else
		client_create(&e->side, "sleepers");
	sleeper_open(&e->ev, is_server ? 0 : SLEEPER_LATE | SLEEPER_EDGE);
	sleeper_add(&e->ev, e->side.pe);
	if (is_server) {
		T_OK(doca_ctx_start(e->side.ctx));
		t_say(fd, 'R', 0);
		T_WAIT(sleeper_sleep(&e->ev), e->side.nb_connects == 1);
	} else {
		T_IS(doca_ctx_start(e->side.ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(sleeper_sleep(&e->ev), ctx_is_running(e->side.ctx));
	}
	memory_create(&e->mem, e->side.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	consumer_create(&e->cons, e->side.conn, e->mem.mmap, NULL, 4);
	producer_create(&e->prod, e->side.conn, NULL, 4);
	sleeper_add(&e->ev, e->cons.pe);
	sleeper_add(&e->ev, e->prod.pe);
	T_OK(doca_ctx_start(e->prod.ctx));
}

static void
end_messages(struct end *e, bool first)
{
	unsigned int i;

	for (i = 1; i <= PING_PONGS; i++) {
		if (first)
			side_send(&e->side, &i, sizeof(i));
		T_WAIT(sleeper_sleep(&e->ev), e->side.nb_msgs == i);
		T_EQ(memcmp(e->side.msg, &i, sizeof(i)), 0);
		if (!first)
			side_send(&e->side, &i, sizeof(i));
	}
	T_WAIT(sleeper_sleep(&e->ev), e->side.nb_sent == PING_PONGS);
}

static void
put(struct end *e, const struct doca_buf *out)
{
	struct doca_task *task = queue_put_task(&e->prod, out, NULL, 0, e->side.new_id);

	T_OK(doca_task_submit(task));
}

/* Before a message is answered the next buffer is posted: a send always finds one. */
static void
end_data(struct end *e, bool first)
{
	struct doca_buf *in = memory_buf(&e->mem, 0, MSG_LEN, false);
	struct doca_buf *out = memory_buf(&e->mem, 1024, MSG_LEN, true);
	unsigned int i;

	T_IS(doca_ctx_start(e->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&e->ev), ctx_is_running(e->cons.ctx));
	queue_post(&e->cons, in);
	T_WAIT(sleeper_sleep(&e->ev), e->side.nb_new == 1);
	/* The other one has posted as well. */
	side_send(&e->side, "posted", 6);
	T_WAIT(sleeper_sleep(&e->ev), e->side.nb_msgs == PING_PONGS + 1);
	for (i = 1; i <= PING_PONGS; i++) {
		t_fill(e->mem.addr + 1024, MSG_LEN, i);
		if (first)
			put(e, out);
		T_WAIT(sleeper_sleep(&e->ev), e->cons.nb_done == i);
		T_VERIFY(e->mem.addr, MSG_LEN, i);
		T_OK(doca_buf_reset_data_len(in));
		queue_post(&e->cons, in);
		if (!first)
			put(e, out);
		T_WAIT(sleeper_sleep(&e->ev), e->prod.nb_done == i);
	}
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(out, NULL));
}

static void
end_close(struct end *e)
{
	T_IS(doca_ctx_stop(e->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(sleeper_sleep(&e->ev), ctx_is_idle(e->cons.ctx));
	T_WAIT(sleeper_sleep(&e->ev), e->side.nb_gone == 1);
	/* The other side may be gone already. */
	if (ctx_is_running(e->prod.ctx))
		doca_ctx_stop(e->prod.ctx);
	T_WAIT(sleeper_sleep(&e->ev), ctx_is_idle(e->prod.ctx));
	T_OK(doca_comch_consumer_destroy(e->cons.consumer));
	T_OK(doca_comch_producer_destroy(e->prod.producer));
}

static int
sleeper(int fd, void *arg)
{
	bool is_server = arg != NULL;
	static struct end e;

	end_open(&e, is_server, fd);
	end_messages(&e, is_server);
	end_data(&e, is_server);
	/* No side sends any more. */
	sleeper_rest(&e.ev);
	t_say(fd, 'Q', 0);
	t_hear(fd, 'G');
	end_close(&e);
	if (is_server) {
		T_WAIT(sleeper_sleep(&e.ev), e.side.nb_disconnects == 1);
		/* At once, or by one more wake-up. */
		doca_ctx_stop(e.side.ctx);
	} else {
		T_IS(doca_ctx_stop(e.side.ctx), DOCA_ERROR_IN_PROGRESS);
	}
	T_WAIT(sleeper_sleep(&e.ev), ctx_is_idle(e.side.ctx));
	sleeper_rest(&e.ev);
	sleeper_close(&e.ev);
	T_OK(doca_pe_destroy(e.cons.pe));
	T_OK(doca_pe_destroy(e.prod.pe));
	memory_destroy(&e.mem);
	side_destroy(&e.side);
	return 0;
}

/* behaviour: E5 */
T_CASE(two_processes)
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
