/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Two processes, one of which is killed. The other is told soon, gets all its
 * tasks back, comes to rest, and meets the next one.
 */

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "comch/sleeper.h"
#include "common/file.h"
#include "t_main.h"
#include "t_proc.h"

#define NAME "kill"
#define DEPTH 16
#define LEN 4096
/* More calls than a progress has reason to return 1 for. */
#define REST_CALLS 100000

enum stage {
	STAGE_IDLE,
	STAGE_MESSAGES,
	STAGE_DATA,
	STAGE_STARTING, /* the other side is stopped while our consumer starts */
};

struct kill_case {
	bool server_dies;
	bool asleep;     /* the survivor sleeps */
	enum stage stage;
};

struct end {
	struct side side;
	struct queue cons, prod;
	struct memory mem;
	struct sleeper ev;
	struct doca_buf *in[DEPTH], *out[DEPTH];
	enum stage stage;
	bool asleep, has_queues;
	unsigned int posted, sent;
};

/* One turn of this side. */
static void
turn(struct end *e)
{
	if (e->asleep) {
		T_CHECK(sleeper_step(&e->ev, T_TIMEOUT_MS));
		return;
	}
	doca_pe_progress(e->side.pe);
	if (e->has_queues) {
		doca_pe_progress(e->cons.pe);
		doca_pe_progress(e->prod.pe);
	}
}

/* Messages go on by themselves. */
static void
send_again(struct side *side __rte_unused, struct doca_comch_task_send *task)
{
	if (doca_task_submit(doca_comch_task_send_as_task(task)) != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
}

/* So do data. */
static void
post(struct end *e, unsigned int slot)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_task *task;

	T_OK(doca_comch_consumer_task_post_recv_alloc_init(e->cons.consumer, e->in[slot], &recv));
	task = doca_comch_consumer_task_post_recv_as_task(recv);
	doca_task_set_user_data(task, (union doca_data){ .u64 = slot });
	T_OK(doca_task_submit(task));
	e->posted++;
}

static void
post_again(struct queue *q, struct doca_task *task)
{
	unsigned int slot = (unsigned int)doca_task_get_user_data(task).u64;
	struct end *e = q->arg;

	e->posted--;
	doca_task_free(task);
	if (q->status != DOCA_SUCCESS || !ctx_is_running(q->ctx))
		return;
	T_OK(doca_buf_reset_data_len(e->in[slot]));
	post(e, slot);
}

static void
put_more(struct end *e)
{
	struct doca_task *task;

	while (ctx_is_running(e->prod.ctx) && e->sent < DEPTH) {
		task = queue_put_task(&e->prod, e->out[e->sent], NULL, 0, e->side.new_id);
		if (doca_task_submit(task) != DOCA_SUCCESS) {
			doca_task_free(task);
			return;
		}
		e->sent++;
	}
}

static void
put_back(struct queue *q, struct doca_task *task)
{
	struct end *e = q->arg;

	e->sent--;
	doca_task_free(task);
}

/* Up to the point where a side may be killed */

static void
end_open(struct end *e, bool is_server, int fd)
{
	if (is_server)
		server_create(&e->side, NAME);
	else
		client_create(&e->side, NAME);
	e->side.arg = e;
	if (e->asleep) {
		sleeper_open(&e->ev, 0);
		sleeper_add(&e->ev, e->side.pe);
	}
	if (is_server) {
		T_OK(doca_ctx_start(e->side.ctx));
		t_say(fd, 'R', 0);
		T_WAIT(turn(e), e->side.nb_connects == 1);
	} else {
		T_IS(doca_ctx_start(e->side.ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(turn(e), ctx_is_running(e->side.ctx));
	}
}

static void
queues_create(struct end *e)
{
	unsigned int i;

	memory_create(&e->mem, e->side.dev, 2 * DEPTH * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (i = 0; i < DEPTH; i++) {
		e->in[i] = memory_buf(&e->mem, (size_t)i * LEN, LEN, false);
		e->out[i] = memory_buf(&e->mem, (size_t)(DEPTH + i) * LEN, LEN, true);
	}
	consumer_create(&e->cons, e->side.conn, e->mem.mmap, NULL, DEPTH);
	producer_create(&e->prod, e->side.conn, NULL, DEPTH);
	e->cons.arg = e;
	e->prod.arg = e;
	e->cons.done = post_again;
	e->prod.done = put_back;
	e->has_queues = true;
	if (e->asleep) {
		sleeper_add(&e->ev, e->cons.pe);
		sleeper_add(&e->ev, e->prod.pe);
	}
	T_OK(doca_ctx_start(e->prod.ctx));
	T_IS(doca_ctx_start(e->cons.ctx), DOCA_ERROR_IN_PROGRESS);
}

static void
queues_destroy(struct end *e)
{
	unsigned int i;

	T_OK(doca_comch_consumer_destroy(e->cons.consumer));
	T_OK(doca_comch_producer_destroy(e->prod.producer));
	if (e->asleep) {
		sleeper_del(&e->ev, e->cons.pe);
		sleeper_del(&e->ev, e->prod.pe);
	}
	T_OK(doca_pe_destroy(e->cons.pe));
	T_OK(doca_pe_destroy(e->prod.pe));
	e->has_queues = false;
	for (i = 0; i < DEPTH; i++) {
		T_OK(doca_buf_dec_refcount(e->in[i], NULL));
		T_OK(doca_buf_dec_refcount(e->out[i], NULL));
	}
	memory_destroy(&e->mem);
}

static void
stage_set(struct end *e)
{
	static uint8_t msg[1024];
	unsigned int i;

	if (e->stage == STAGE_MESSAGES) {
		e->side.hooks.sent = send_again;
		for (i = 0; i < 200; i++)
			side_send(&e->side, msg, sizeof(msg));
		T_WAIT(turn(e), e->side.nb_msgs > 100);
	}
	if (e->stage != STAGE_DATA)
		return;
	queues_create(e);
	T_WAIT(turn(e), ctx_is_running(e->cons.ctx) && e->side.nb_new == 1);
	for (i = 0; i < DEPTH; i++)
		post(e, i);
	T_WAIT(turn(e), (put_more(e), e->cons.nb_done > 3 * DEPTH && e->prod.nb_done > DEPTH));
}

/* The process that is killed: it never ends by itself. */
static int __attribute__((noreturn))
victim(int fd, void *arg)
{
	const struct kill_case *k = arg;
	static struct end e;

	e.stage = k->stage;
	end_open(&e, k->server_dies, fd);
	stage_set(&e);
	t_say(fd, 'T', 0);
	for (;;) {
		turn(&e);
		if (e.stage == STAGE_DATA)
			put_more(&e);
	}
}

/* What is left of the connection is told and taken back. */
static bool
is_over(struct end *e)
{
	if (e->has_queues) {
		if (e->stage == STAGE_DATA)
			put_more(e);
		if (!ctx_is_idle(e->cons.ctx) ||
				!ctx_is_idle(e->prod.ctx))
			return false;
		T_EQ(e->posted, 0);
		T_EQ(e->sent, 0);
		queues_destroy(e);
	}
	return e->side.client != NULL ? ctx_is_idle(e->side.ctx) :
		e->side.nb_disconnects == 1;
}

static void
rest(struct end *e)
{
	unsigned int n = 0;

	if (e->asleep)
		sleeper_rest(&e->ev);
	while (doca_pe_progress(e->side.pe) != 0)
		T_LT(++n, REST_CALLS);
}

/* One message each way with the successor, until it leaves. */
static void
meet_again(struct end *e, int fd)
{
	unsigned int before = e->side.nb_msgs, sent = e->side.nb_sent;

	e->side.hooks.sent = NULL;
	e->side.states.nb = 0;
	if (e->side.client != NULL) {
		t_hear(fd, 'G');
		T_IS(doca_ctx_start(e->side.ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(turn(e), ctx_is_running(e->side.ctx));
	} else {
		T_WAIT(turn(e), e->side.nb_connects == 2);
	}
	side_send(&e->side, "again", 5);
	T_WAIT(turn(e), e->side.nb_msgs == before + 1 && e->side.nb_sent == sent + 1);
	if (e->side.client != NULL) {
		T_IS(doca_ctx_stop(e->side.ctx), DOCA_ERROR_IN_PROGRESS);
	} else {
		T_WAIT(turn(e), e->side.nb_disconnects == 2);
		doca_ctx_stop(e->side.ctx);
	}
	T_WAIT(turn(e), ctx_is_idle(e->side.ctx));
}

static int
survivor(int fd, void *arg)
{
	const struct kill_case *k = arg;
	static struct end e;
	uint64_t when;
	size_t n;

	e.stage = k->stage;
	e.asleep = k->asleep;
	end_open(&e, !k->server_dies, fd);
	stage_set(&e);
	if (e.stage == STAGE_STARTING) {
		t_say(fd, 'C', 0);
		t_hear(fd, 'S');
		queues_create(&e);
	}
	t_say(fd, 'T', 0);
	T_WAIT(turn(&e), is_over(&e));
	when = t_now_ms();
	/* It stopped by itself. */
	if (e.side.client != NULL)
		T_EQ(e.side.states.next[e.side.states.nb - 2], DOCA_CTX_STATE_STOPPING);
	T_GETS(doca_pe_get_num_inflight_tasks(e.side.pe, &n), n, 0);
	rest(&e);
	t_say(fd, 'D', when);
	meet_again(&e, fd);
	if (e.asleep)
		sleeper_close(&e.ev);
	side_destroy(&e.side);
	return 0;
}

/* The successor of the killed process. */
static int
successor(int fd, void *arg)
{
	const struct kill_case *k = arg;
	static struct end e;

	end_open(&e, k->server_dies, fd);
	side_send(&e.side, "new", 3);
	T_WAIT(turn(&e), e.side.nb_msgs == 1 && e.side.nb_sent == 1);
	if (k->server_dies) {
		T_WAIT(turn(&e), e.side.nb_disconnects == 1);
		T_OK(doca_ctx_stop(e.side.ctx));
	} else {
		T_IS(doca_ctx_stop(e.side.ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(turn(&e), ctx_is_idle(e.side.ctx));
	}
	side_destroy(&e.side);
	return 0;
}

/* At whatever moment. */
static void
doze(void)
{
	const struct timespec ts = { .tv_nsec = random() % 20000000 };

	nanosleep(&ts, NULL);
}

static void
kill_one(const struct kill_case *k)
{
	struct t_proc dies, lives, next;
	struct t_proc *server = k->server_dies ? &dies : &lives;
	uint64_t when;

	t_proc_start(server, "server", k->server_dies ? victim : survivor, (void *)(uintptr_t)k);
	t_hear(server->fd, 'R');
	t_proc_start(k->server_dies ? &lives : &dies, "client",
		k->server_dies ? survivor : victim, (void *)(uintptr_t)k);
	t_hear(dies.fd, 'T');
	if (k->stage == STAGE_STARTING) {
		t_hear(lives.fd, 'C');
		t_proc_stop(&dies);
		t_say(lives.fd, 'S', 0);
	}
	t_hear(lives.fd, 'T');
	doze();
	when = t_now_ms();
	t_proc_kill(&dies);
	/* At once: nothing of the dead is in the way. */
	t_proc_start(&next, "successor", successor, (void *)(uintptr_t)k);
	if (k->server_dies)
		t_hear(next.fd, 'R');
	when = t_hear(lives.fd, 'D') - when;
	printf("   stage %d, %s dies: told after %u ms\n", k->stage,
		k->server_dies ? "server" : "client", (unsigned int)when);
	T_LT(when, T_TIMEOUT_MS);
	if (k->server_dies)
		t_say(lives.fd, 'G', 0);
	t_proc_join(&next);
	t_proc_join(&lives);
}

static void
kill_all(bool server_dies, bool asleep)
{
	struct kill_case k = { .server_dies = server_dies, .asleep = asleep };
	unsigned int i;

	srandom((unsigned int)t_now_ms());
	for (k.stage = STAGE_IDLE; k.stage <= STAGE_STARTING; k.stage++)
		for (i = 0; i < 3; i++)
			kill_one(&k);
}

/* behaviour: S5, S25, S26, X3, K16, K18, C20 */
T_CASE(server_dies)
{
	kill_all(true, false);
}

/* behaviour: S5, S25, S26, X3, K16, K18, C20, E5 */
T_CASE(server_dies_client_sleeps)
{
	kill_all(true, true);
}

/* behaviour: S25, X3, K16, K18 */
T_CASE(client_dies)
{
	kill_all(false, false);
}

/* behaviour: S25, X3, K16, K18, E5 */
T_CASE(client_dies_server_sleeps)
{
	kill_all(false, true);
}

/* A limit of two, which a third client learns. behaviour: S12 */
T_CASE(too_many_clients)
{
	struct side more[2];
	struct pair t;

	device_table_write("[device dpu0]\npci = 0000:03:00.0\nargs = max_clients=2\n"
		"[function pf0]\npci = 0000:b1:00.0\nargs = max_msg_size=4080\n");
	pair_open(&t);
	client_create_on(&more[0], PAIR_NAME, t.client.pe);
	client_create_on(&more[1], PAIR_NAME, t.client.pe);
	T_IS(doca_ctx_start(more[0].ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_running(more[0].ctx) && t.server.nb_connects == 2);
	T_IS(doca_ctx_start(more[1].ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_idle(more[1].ctx));
	T_EQ(t.server.nb_connects, 2);
	/* The others do not notice; and when one leaves there is room. */
	side_send(&t.client, "here", 4);
	T_WAIT(pair_progress(&t), t.server.nb_msgs == 1);
	T_IS(doca_ctx_stop(more[0].ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_idle(more[0].ctx) && t.server.nb_disconnects == 1);
	T_IS(doca_ctx_start(more[1].ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_running(more[1].ctx) && t.server.nb_connects == 3);
	T_IS(doca_ctx_stop(more[1].ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(&t), ctx_is_idle(more[1].ctx));
	side_destroy(&more[0]);
	side_destroy(&more[1]);
	pair_close(&t);
}
