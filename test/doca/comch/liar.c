/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comch/liar.h"

#define NB_BUFS (LIAR_POSTS * LIAR_LEN)
/* One object is started so often. */
#define STARTS 3

/* What the program is told */

/* Neither before its start nor after it is IDLE. */
static void
check_due(const struct liar *l)
{
	const enum doca_ctx_states state = ctx_state(l->client.ctx);

	T_CHECK(state == DOCA_CTX_STATE_RUNNING || state == DOCA_CTX_STATE_STOPPING);
}

static void
on_msg(struct side *side, struct doca_comch_connection *conn, uint8_t *msg, uint32_t len)
{
	struct liar *l = side->arg;

	RTE_SET_USED(msg);
	check_due(l);
	T_CHECK(conn == side->conn);
	T_LE(len, 4080);
	if (l->answers)
		liar_send(l, "answer", 6);
}

/* The place of an id; nb_ids: it is unknown. */
static unsigned int
find_id(const struct liar *l, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < l->nb_ids && l->ids[i] != id; i++)
		;
	return i;
}

static void
on_consumer(struct side *side, uint32_t id)
{
	struct liar *l = side->arg;
	unsigned int i;

	check_due(l);
	T_NE(id, 0);
	T_EQ(find_id(l, id), l->nb_ids);
	T_LT(l->nb_ids, LIAR_MAX_CONSUMERS);
	l->ids[l->nb_ids++] = id;
	/* Programs send in this callback, too. */
	if (l->has_queues && ctx_is_running(l->prod.ctx))
		for (i = 0; i < l->nb_puts && l->nb_ids <= LIAR_POSTS; i++)
			l->nb_accepted += liar_submit(l, queue_put_task(&l->prod, l->from, "imm",
				3, id)) == DOCA_SUCCESS;
}

static void
on_consumer_gone(struct side *side, uint32_t id)
{
	struct liar *l = side->arg;
	const unsigned int i = find_id(l, id);

	check_due(l);
	T_LT(i, l->nb_ids);
	l->ids[i] = l->ids[--l->nb_ids];
}

/* As doca_task_get_status() documents. */
static bool
is_documented(const struct liar *l, doca_error_t status, bool is_put)
{
	switch (status) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_SHUTDOWN:
	case DOCA_ERROR_CONNECTION_RESET:
		return true;
	case DOCA_ERROR_INVALID_VALUE:
		return is_put || l->is_shorter;
	default:
		return is_put && status == DOCA_ERROR_NOT_FOUND;
	}
}

static void
task_back(struct liar *l, struct doca_task *task, bool is_put)
{
	const uint64_t n = doca_task_get_user_data(task).u64;
	const doca_error_t status = doca_task_get_status(task);

	T_LT(n, LIAR_TASKS);
	T_CHECK(l->out[n] == task);
	l->out[n] = NULL;
	if (!is_documented(l, status, is_put))
		T_FAIL("a task came back with %s", doca_error_get_name(status));
	doca_task_free(task);
}

static void
on_sent(struct side *side, struct doca_comch_task_send *task)
{
	task_back(side->arg, doca_comch_task_send_as_task(task), false);
}

static void
on_queue_task(struct queue *q, struct doca_task *task)
{
	task_back(q->arg, task, q->producer != NULL);
}

doca_error_t
liar_submit(struct liar *l, struct doca_task *task)
{
	union doca_data data = { .u64 = 0 };
	doca_error_t ret;

	while (l->out[data.u64] != NULL)
		T_LT(++data.u64, LIAR_TASKS);
	doca_task_set_user_data(task, data);
	l->out[data.u64] = task;
	ret = doca_task_submit(task);
	if (ret == DOCA_SUCCESS)
		return ret;
	l->out[data.u64] = NULL;
	doca_task_free(task);
	return ret;
}

void
liar_send(struct liar *l, const void *msg, uint32_t len)
{
	T_OK(liar_submit(l, doca_comch_task_send_as_task(side_task(&l->client, msg, len))));
}

/* Were all messages sent, or can they no longer be? */
static bool
has_sent_all(const struct liar *l)
{
	uint64_t n;

	if (doca_comch_connection_update_info(l->client.conn) != DOCA_SUCCESS)
		return true;
	T_OK(doca_comch_connection_get_counter(l->client.conn, DOCA_COMCH_COUNTER_SENT_MESSAGES,
		&n));
	return n == LIAR_SENDS;
}

void
liar_ack(struct liar *l)
{
	const struct raw_send credit = { .type = COMCH_WIRE_CREDIT };

	l->a.acked = LIAR_CREDITS;
	T_WAIT(liar_progress(l), raw_try(&l->a, &credit));
	T_WAIT(liar_progress(l), has_sent_all(l));
	l->a.acked = LIAR_SENDS;
	T_WAIT(liar_progress(l), raw_try(&l->a, &credit));
}

/* Begin, end */

void
liar_open(struct liar *l)
{
	unsigned int i;

	memset(l, 0, sizeof(*l));
	l->nb_puts = 1;
	pair_open(&l->honest);
	memory_create_shared(&l->mem, l->honest.client.dev, NB_BUFS,
		DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memory_create(&l->src, l->honest.client.dev, LIAR_SRC_LEN,
		DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	for (i = 0; i < LIAR_POSTS; i++)
		l->to[i] = memory_buf(&l->mem, i * LIAR_LEN, LIAR_LEN, false);
	l->from = memory_buf(&l->src, 0, LIAR_LEN, true);
	l->listener = raw_listen(getenv("COMCH_DIR"), "pf0", LIAR);
	/* What is allocated once. */
	liar_reach(l, LIE_OFFERED);
	liar_close(l);
	side_destroy(&l->client);
	l->client.client = NULL;
	t_figures_begin();
	l->figures = t_figures_least();
	l->raw_maps = t_maps_count("/memfd:raw");
	l->heap = t_heap_bytes();
}

void
liar_end(struct liar *l)
{
	unsigned int i;

	if (l->client.client != NULL)
		side_destroy(&l->client);
	l->client.client = NULL;
	runs_check(&l->runs);
	t_figures_wait(&l->figures);
	/* Of a few hundred connections nothing is kept each. */
	T_LE(t_heap_bytes(), l->heap + 65536);
	T_WAIT(liar_progress(l), t_maps_count("/memfd:raw") <= l->raw_maps);
	close(l->listener);
	for (i = 0; i < LIAR_POSTS; i++)
		T_OK(doca_buf_dec_refcount(l->to[i], NULL));
	T_OK(doca_buf_dec_refcount(l->from, NULL));
	memory_destroy(&l->mem);
	memory_destroy(&l->src);
	pair_close(&l->honest);
}

bool
liar_progress(struct liar *l)
{
	bool done = doca_pe_progress(l->honest.server.pe) != 0;
	const uint64_t ns = l->is_timed ? t_own_ns() : 0;

	done |= doca_pe_progress(l->honest.client.pe) != 0;
	if (l->has_queues) {
		done |= queue_progress(&l->cons);
		done |= queue_progress(&l->prod);
	}
	if (l->is_timed)
		runs_note(&l->runs, t_own_since(ns));
	return done;
}

/* Steps */

static void
create(struct liar *l)
{
	client_create_on(&l->client, LIAR, l->honest.client.pe);
	l->client.arg = l;
	l->client.hooks = (struct side_hooks){
		.msg = on_msg, .sent = on_sent, .consumer = on_consumer,
		.consumer_gone = on_consumer_gone,
	};
}

static void
connect_it(struct liar *l)
{
	int sock;

	if (l->client.client == NULL)
		create(l);
	l->client.states.nb = 0;
	l->nb_ids = 0;
	l->has_queues = false;
	l->nb_accepted = 0;
	l->nb_starts++;
	T_IS(doca_ctx_start(l->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(liar_progress(l),
		(sock = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
	raw_prepare(&l->a, sock, RAW_CELLS);
}

void
liar_hear(struct liar *l, struct raw_frame *f, uint32_t type)
{
	do {
		T_WAIT(liar_progress(l), raw_recv(&l->a, f));
		raw_frame_free(f);
	} while (f->type != type);
}

static void
link_up(struct liar *l)
{
	struct raw_frame f;

	raw_hello(&l->a);
	T_WAIT(liar_progress(l), raw_is_up(&l->a));
	liar_hear(l, &f, COMCH_WIRE_HELLO);
}

static void
accept_it(struct liar *l)
{
	unsigned int i;

	raw_send_accept(&l->a, 4080, LIAR_CREDITS);
	T_WAIT(liar_progress(l), ctx_is_running(l->client.ctx));
	for (i = 0; i < LIAR_SENDS; i++)
		liar_send(l, "hello", 5);
}

/* The receives are submitted while the consumer is STARTING. */
void
liar_start_queues(struct liar *l)
{
	struct doca_comch_consumer_task_post_recv *recv;
	/* On the engine of the connection, or each on its own. */
	struct doca_pe *pe = l->nb_starts % 2 == 0 ? l->honest.client.pe : NULL;
	unsigned int i;

	producer_create(&l->prod, l->client.conn, pe, LIAR_TASKS);
	consumer_create(&l->cons, l->client.conn, l->mem.mmap, pe, LIAR_POSTS);
	l->prod.arg = l->cons.arg = l;
	l->prod.done = l->cons.done = on_queue_task;
	l->has_queues = true;
	T_OK(doca_ctx_start(l->prod.ctx));
	T_IS(doca_ctx_start(l->cons.ctx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < LIAR_POSTS; i++) {
		T_OK(doca_buf_reset_data_len(l->to[i]));
		T_OK(doca_comch_consumer_task_post_recv_alloc_init(l->cons.consumer, l->to[i],
			&recv));
		T_OK(liar_submit(l, doca_comch_consumer_task_post_recv_as_task(recv)));
	}
}

static void
show(struct liar *l)
{
	struct raw_frame f;

	liar_start_queues(l);
	liar_hear(l, &f, COMCH_WIRE_MR_ADD);
}

static void
offer(struct liar *l)
{
	struct raw_frame f;

	raw_send_status(&l->a, COMCH_WIRE_MR_ACK, 0, 0, -1);
	liar_hear(l, &f, COMCH_WIRE_CONSUMER_NEW);
}

void
liar_reach(struct liar *l, int step)
{
	static void (*const go[LIE_NB_STEPS])(struct liar *l) = {
		[LIE_LINKED] = link_up, [LIE_UP] = accept_it, [LIE_SHOWN] = show,
		[LIE_OFFERED] = offer,
	};
	int i;

	connect_it(l);
	for (i = LIE_LINKED; i <= step; i++)
		go[i](l);
}

/* Ends */

bool
liar_is_over(const struct liar *l)
{
	return ctx_is_idle(l->client.ctx);
}

void
liar_check_honest(struct liar *l)
{
	struct pair *p = &l->honest;
	const unsigned int down = p->client.nb_msgs, up = p->server.nb_msgs;
	unsigned int i;

	side_send(&p->server, "honest", 6);
	for (i = 0; p->client.nb_msgs == down; i++) {
		T_LT(i, LIAR_MAX_RUNS);
		doca_pe_progress(p->client.pe);
	}
	side_send(&p->client, "answer", 6);
	for (i = 0; p->server.nb_msgs == up; i++) {
		T_LT(i, LIAR_MAX_RUNS);
		doca_pe_progress(p->server.pe);
	}
	T_EQ(p->client.nb_send_errors + p->server.nb_send_errors, 0);
}

static void
check_over(struct liar *l)
{
	unsigned int i;
	size_t n;

	T_GETS(doca_ctx_get_num_inflight_tasks(l->client.ctx, &n), n, 0);
	for (i = 0; i < LIAR_TASKS; i++)
		T_CHECK(l->out[i] == NULL);
	state_log_check(&l->client.states);
	if (l->has_queues) {
		state_log_check(&l->cons.states);
		state_log_check(&l->prod.states);
	}
}

static void
leave(struct liar *l)
{
	T_WAIT(liar_progress(l), liar_is_over(l));
	if (l->has_queues)
		T_WAIT(liar_progress(l), ctx_is_idle(l->cons.ctx) && ctx_is_idle(l->prod.ctx));
	check_over(l);
	if (l->has_queues) {
		queue_destroy(&l->honest, &l->cons);
		queue_destroy(&l->honest, &l->prod);
		l->has_queues = false;
	}
	if (l->nb_starts < STARTS)
		return;
	side_destroy(&l->client);
	l->client.client = NULL;
	l->nb_starts = 0;
}

void
liar_close(struct liar *l)
{
	raw_close(&l->a);
	leave(l);
}

static void
stop(struct liar *l, struct doca_ctx *ctx)
{
	if (!ctx_is_idle(ctx))
		(void)doca_ctx_stop(ctx);
	T_WAIT(liar_progress(l), ctx_is_idle(ctx));
}

void
liar_stop_queues(struct liar *l)
{
	stop(l, l->cons.ctx);
	stop(l, l->prod.ctx);
}

void
liar_stop(struct liar *l)
{
	if (l->has_queues)
		liar_stop_queues(l);
	stop(l, l->client.ctx);
	leave(l);
	raw_close(&l->a);
}
