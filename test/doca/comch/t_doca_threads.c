/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Many threads on one connection: its engine on one thread for each side, each
 * producer and consumer on a thread and an engine of its own.
 */

#include <pthread.h>
#include <stdlib.h>

#include "comch/queue.h"
#include "t_main.h"

#define NB_TASKS 1024
#define LEN 256

#if defined(__SANITIZE_THREAD__)
#define SCALE(n) ((n) / 20)
#else
#define SCALE(n) (n)
#endif

/* One side's connection, on a thread of its own. */
struct front {
	struct side side;
	pthread_t thread;
	uint32_t go_on;
	uint32_t up;        /* connected */
	uint32_t down;      /* and not any more */
	uint32_t new_id;    /* of the peer's newest consumer */
	struct doca_comch_connection *conn;
};

static uint32_t
get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void
set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void
front_up(struct side *side, struct doca_comch_connection *conn)
{
	struct front *f = side->arg;

	f->conn = conn;
	set(&f->up, 1);
}

static void
front_state(struct side *side, enum doca_ctx_states next)
{
	struct front *f = side->arg;

	if (side->client != NULL && next == DOCA_CTX_STATE_RUNNING)
		front_up(side, side->conn);
	if (side->client != NULL && next == DOCA_CTX_STATE_STOPPING)
		set(&f->down, 1);
}

static void
front_down(struct side *side, struct doca_comch_connection *conn __rte_unused)
{
	struct front *f = side->arg;

	set(&f->down, 1);
}

static void
front_new(struct side *side, uint32_t id)
{
	struct front *f = side->arg;

	set(&f->new_id, id);
}

static void *
front_main(void *arg)
{
	struct front *f = arg;

	while (get(&f->go_on))
		doca_pe_progress(f->side.pe);
	return NULL;
}

static void
front_prepare(struct front *f)
{
	f->go_on = 1;
	f->up = f->down = f->new_id = 0;
	f->side.arg = f;
	f->side.hooks.connected = front_up;
	f->side.hooks.disconnected = front_down;
	f->side.hooks.state = front_state;
	f->side.hooks.consumer = front_new;
}

static void
front_run(struct front *f)
{
	set(&f->go_on, 1);
	T_EQ(pthread_create(&f->thread, NULL, front_main, f), 0);
}

static void
front_join(struct front *f)
{
	set(&f->go_on, 0);
	T_EQ(pthread_join(f->thread, NULL), 0);
}

static void
fronts_open(struct front *s, struct front *c)
{
	server_create(&s->side, "threads");
	client_create(&c->side, "threads");
	front_prepare(s);
	front_prepare(c);
	T_OK(doca_ctx_start(s->side.ctx));
	T_IS(doca_ctx_start(c->side.ctx), DOCA_ERROR_IN_PROGRESS);
	front_run(s);
	front_run(c);
	T_AWAIT(get(&s->up) && get(&c->up));
}

static void
fronts_close(struct front *s, struct front *c)
{
	struct pair t;

	front_join(s);
	front_join(c);
	t.server = s->side;
	t.client = c->side;
	memset(&t.server.hooks, 0, sizeof(t.server.hooks));
	memset(&t.client.hooks, 0, sizeof(t.client.hooks));
	T_OK(doca_ctx_set_user_data(t.server.ctx, (union doca_data){ .ptr = &t.server }));
	T_OK(doca_ctx_set_user_data(t.client.ctx, (union doca_data){ .ptr = &t.client }));
	pair_close(&t);
}

/* A producer's thread: so many messages, at most NB_TASKS at a time. */
struct sender {
	struct front *front;
	pthread_t thread;
	struct queue q;
	struct memory mem;
	struct doca_buf *bufs[NB_TASKS];
	uint32_t consumer_id;
	uint32_t nb_tasks;
	uint64_t seed, total, sent, back;
	bool may_fail;         /* the connection goes meanwhile */
};

static void
sender_fill(struct sender *s, unsigned int slot)
{
	uint64_t *words = (uint64_t *)(void *)(s->mem.addr + (size_t)slot * LEN);

	t_fill(words + 2, LEN - 2 * sizeof(*words), s->seed + s->sent);
	words[0] = s->seed;
	words[1] = s->sent;
}

/* Fill and submit; nothing of this side's progress is needed for it. */
static bool
sender_submit(struct sender *s, struct doca_task *task)
{
	doca_error_t ret;

	sender_fill(s, (unsigned int)doca_task_get_user_data(task).u64);
	T_AWAIT((ret = doca_task_submit(task)) != DOCA_ERROR_AGAIN ||
		(s->may_fail && get(&s->front->down)));
	if (ret != DOCA_SUCCESS && s->may_fail)
		return false;
	T_OK(ret);
	s->sent++;
	return true;
}

static void
sender_done(struct queue *q, struct doca_task *task)
{
	struct sender *s = q->arg;

	s->back++;
	if (!s->may_fail)
		T_OK(q->status);
	if (q->status != DOCA_SUCCESS || s->sent == s->total || !sender_submit(s, task))
		doca_task_free(task);
}

static void
sender_start(struct sender *s)
{
	unsigned int i;

	memory_create(&s->mem, s->front->side.dev, (size_t)s->nb_tasks * LEN,
		DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	producer_create(&s->q, s->front->conn, NULL, s->nb_tasks);
	s->q.arg = s;
	s->q.done = sender_done;
	T_OK(doca_ctx_start(s->q.ctx));
	for (i = 0; i < s->nb_tasks; i++)
		s->bufs[i] = memory_buf(&s->mem, (size_t)i * LEN, LEN, true);
}

static void *
sender_main(void *arg)
{
	struct sender *s = arg;
	struct doca_task *task;
	unsigned int i;

	for (i = 0; i < s->nb_tasks && s->sent < s->total; i++) {
		task = queue_put_task(&s->q, s->bufs[i], NULL, 0, s->consumer_id);
		doca_task_set_user_data(task, (union doca_data){ .u64 = i });
		if (!sender_submit(s, task))
			doca_task_free(task);
	}
	T_WAIT(doca_pe_progress(s->q.pe), s->may_fail ? get(&s->front->down) : s->back == s->total);
	if (ctx_is_running(s->q.ctx))
		doca_ctx_stop(s->q.ctx);
	T_WAIT(doca_pe_progress(s->q.pe), ctx_is_idle(s->q.ctx));
	T_EQ(s->back, s->sent);
	T_OK(doca_comch_producer_destroy(s->q.producer));
	T_OK(doca_pe_destroy(s->q.pe));
	for (i = 0; i < s->nb_tasks; i++)
		T_OK(doca_buf_dec_refcount(s->bufs[i], NULL));
	memory_destroy(&s->mem);
	return NULL;
}

#define MAX_SENDERS 4

/* A consumer's thread. */
struct receiver {
	struct front *front;
	pthread_t thread;
	struct queue q;
	struct memory mem;
	struct doca_buf *bufs[NB_TASKS];
	uint32_t nb_tasks;
	uint64_t total, got, posted, back;
	uint64_t next[MAX_SENDERS]; /* of each seed */
	uint32_t id;                /* once it is RUNNING */
	uint32_t leave;             /* once total is reached; else stay */
	bool may_fail;              /* the connection goes meanwhile */
};

static void
receiver_check(struct receiver *r, const struct doca_buf *buf)
{
	const uint64_t *words;
	void *data;
	size_t len;

	T_OK(doca_buf_get_data((struct doca_buf *)(uintptr_t)buf, &data));
	T_GETS(doca_buf_get_data_len((struct doca_buf *)(uintptr_t)buf, &len), len, LEN);
	words = data;
	T_LT(words[0], MAX_SENDERS);
	T_EQ(words[1], r->next[words[0]]++);
	T_VERIFY(words + 2, LEN - 2 * sizeof(*words), words[0] + words[1]);
}

static void
receiver_done(struct queue *q, struct doca_task *task)
{
	struct receiver *r = q->arg;
	struct doca_buf *buf = r->bufs[doca_task_get_user_data(task).u64];

	r->back++;
	if (q->status != DOCA_SUCCESS) {
		doca_task_free(task);
		return;
	}
	r->got++;
	receiver_check(r, buf);
	T_OK(doca_buf_reset_data_len(buf));
	/* While it stops, it comes back at once. */
	T_OK(doca_task_submit(task));
	r->posted++;
}

static void
receiver_post(struct receiver *r)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_task *task;
	unsigned int i;

	for (i = 0; i < r->nb_tasks; i++) {
		T_OK(doca_comch_consumer_task_post_recv_alloc_init(r->q.consumer, r->bufs[i],
			&recv));
		task = doca_comch_consumer_task_post_recv_as_task(recv);
		doca_task_set_user_data(task, (union doca_data){ .u64 = i });
		T_OK(doca_task_submit(task));
		r->posted++;
	}
}

static void *
receiver_main(void *arg)
{
	struct receiver *r = arg;
	unsigned int i;
	uint32_t id;

	memory_create(&r->mem, r->front->side.dev, (size_t)r->nb_tasks * LEN,
		DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (i = 0; i < r->nb_tasks; i++)
		r->bufs[i] = memory_buf(&r->mem, (size_t)i * LEN, LEN, false);
	consumer_create(&r->q, r->front->conn, r->mem.mmap, NULL, r->nb_tasks);
	r->q.arg = r;
	r->q.done = receiver_done;
	T_IS(doca_ctx_start(r->q.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(r->q.pe), ctx_state(r->q.ctx) != DOCA_CTX_STATE_STARTING);
	T_EQ(ctx_state(r->q.ctx), DOCA_CTX_STATE_RUNNING);
	T_OK(doca_comch_consumer_get_id(r->q.consumer, &id));
	receiver_post(r);
	set(&r->id, id);
	T_WAIT(doca_pe_progress(r->q.pe), r->may_fail ? get(&r->front->down) :
		(r->got >= r->total && get(&r->leave)));
	if (ctx_is_running(r->q.ctx))
		doca_ctx_stop(r->q.ctx);
	T_WAIT(doca_pe_progress(r->q.pe), ctx_is_idle(r->q.ctx));
	T_EQ(r->back, r->posted);
	T_OK(doca_comch_consumer_destroy(r->q.consumer));
	T_OK(doca_pe_destroy(r->q.pe));
	for (i = 0; i < r->nb_tasks; i++)
		T_OK(doca_buf_dec_refcount(r->bufs[i], NULL));
	memory_destroy(&r->mem);
	return NULL;
}

static void
receiver_begin(struct receiver *r, struct front *front, uint32_t nb_tasks, uint64_t total,
		bool may_fail)
{
	memset(r, 0, sizeof(*r));
	r->front = front;
	r->nb_tasks = nb_tasks;
	r->total = total;
	r->may_fail = may_fail;
	T_EQ(pthread_create(&r->thread, NULL, receiver_main, r), 0);
	T_AWAIT(get(&r->id));
}

/* The peer's consumer has to be known to our side before we send to it. */
static void
sender_begin(struct sender *s, struct front *front, const struct receiver *to, uint32_t nb_tasks,
		uint64_t seed, uint64_t total, bool may_fail)
{
	memset(s, 0, sizeof(*s));
	T_AWAIT(get(&front->new_id) >= to->id);
	s->front = front;
	s->nb_tasks = nb_tasks;
	s->seed = seed;
	s->total = total;
	s->may_fail = may_fail;
	s->consumer_id = to->id;
	sender_start(s);
	T_EQ(pthread_create(&s->thread, NULL, sender_main, s), 0);
}

/* The shape of public programs: six threads. behaviour: F6, P8 */
T_CASE(both_ways)
{
	const uint64_t total = SCALE(40000);
	static struct front s, c;
	static struct receiver rs, rc;
	static struct sender ss, sc;

	fronts_open(&s, &c);
	receiver_begin(&rs, &s, NB_TASKS, total, false);
	receiver_begin(&rc, &c, NB_TASKS, total, false);
	sender_begin(&ss, &s, &rc, NB_TASKS, 0, total, false);
	sender_begin(&sc, &c, &rs, NB_TASKS, 1, total, false);
	T_EQ(pthread_join(ss.thread, NULL), 0);
	T_EQ(pthread_join(sc.thread, NULL), 0);
	set(&rs.leave, 1);
	set(&rc.leave, 1);
	T_EQ(pthread_join(rs.thread, NULL), 0);
	T_EQ(pthread_join(rc.thread, NULL), 0);
	fronts_close(&s, &c);
}

/* Few buffers: submits spin within the callbacks. behaviour: R2, R12, F2, F6 */
T_CASE(several_to_one)
{
	const uint64_t total = SCALE(10000);
	static struct sender senders[MAX_SENDERS];
	static struct receiver r;
	static struct front s, c;
	unsigned int i;

	fronts_open(&s, &c);
	receiver_begin(&r, &s, 8, MAX_SENDERS * total, false);
	for (i = 0; i < MAX_SENDERS; i++)
		sender_begin(&senders[i], &c, &r, 64, i, total, false);
	for (i = 0; i < MAX_SENDERS; i++)
		T_EQ(pthread_join(senders[i].thread, NULL), 0);
	set(&r.leave, 1);
	T_EQ(pthread_join(r.thread, NULL), 0);
	fronts_close(&s, &c);
}

/* Queues that come and go, on a thread that is not the connection's. */
struct visitor {
	struct front *front;
	pthread_t thread;
	unsigned int rounds;
	bool produces;
};

static void
visit_consumer(struct visitor *v, struct memory *mem, unsigned int round)
{
	struct queue cons;

	consumer_create(&cons, v->front->conn, mem->mmap, NULL, 16);
	T_IS(doca_ctx_start(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	if (round % 3 != 0)
		T_WAIT(doca_pe_progress(cons.pe), ctx_is_running(cons.ctx));
	if (round % 3 == 1)
		queue_post(&cons, NULL);
	T_IS(doca_ctx_stop(cons.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(cons.pe), ctx_is_idle(cons.ctx));
	T_OK(doca_comch_consumer_destroy(cons.consumer));
	T_OK(doca_pe_destroy(cons.pe));
}

/* Gone before the connection's thread has heard of it. */
static void
visit_producer(struct visitor *v)
{
	struct queue prod;

	producer_create(&prod, v->front->conn, NULL, 16);
	T_OK(doca_ctx_start(prod.ctx));
	T_OK(doca_ctx_stop(prod.ctx));
	T_OK(doca_comch_producer_destroy(prod.producer));
	T_OK(doca_pe_destroy(prod.pe));
}

static void *
visitor_main(void *arg)
{
	struct visitor *v = arg;
	struct memory mem;
	unsigned int i;

	memory_create(&mem, v->front->side.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (i = 0; i < v->rounds; i++)
		if (v->produces)
			visit_producer(v);
		else
			visit_consumer(v, &mem, i);
	memory_destroy(&mem);
	return NULL;
}

static void
visits(bool produce)
{
	const uint64_t total = SCALE(10000);
	struct visitor visitors[4];
	static struct sender send;
	static struct receiver r;
	static struct front s, c;
	unsigned int i;

	fronts_open(&s, &c);
	receiver_begin(&r, &c, 16, total, false);
	sender_begin(&send, &s, &r, 16, 3, total, false);
	for (i = 0; i < RTE_DIM(visitors); i++) {
		visitors[i].front = i % 2 == 0 ? &s : &c;
		visitors[i].rounds = SCALE(400);
		visitors[i].produces = produce;
		T_EQ(pthread_create(&visitors[i].thread, NULL, visitor_main, &visitors[i]), 0);
	}
	for (i = 0; i < RTE_DIM(visitors); i++)
		T_EQ(pthread_join(visitors[i].thread, NULL), 0);
	T_EQ(pthread_join(send.thread, NULL), 0);
	set(&r.leave, 1);
	T_EQ(pthread_join(r.thread, NULL), 0);
	fronts_close(&s, &c);
}

/* behaviour: K5, F6 */
T_CASE(consumers_come_and_go)
{
	visits(false);
}

/* behaviour: R11, F6 */
T_CASE(producers_come_and_go)
{
	visits(true);
}

/* The server may cut when nothing of its own is left; the client's queues run on. */
static void
cut_round(uint64_t after)
{
	static struct receiver rs, rc;
	static struct sender sc;
	static struct front s, c;

	fronts_open(&s, &c);
	receiver_begin(&rc, &c, 32, 0, true);
	receiver_begin(&rs, &s, 8, after, false);
	set(&rs.leave, 1);
	sender_begin(&sc, &c, &rs, 64, 2, UINT64_MAX, true);
	/* The server's consumer leaves, then the server cuts what is left. */
	T_EQ(pthread_join(rs.thread, NULL), 0);
	front_join(&s);
	T_OK(doca_comch_server_disconnect(s.side.server, s.conn));
	front_run(&s);
	T_EQ(pthread_join(sc.thread, NULL), 0);
	T_EQ(pthread_join(rc.thread, NULL), 0);
	fronts_close(&s, &c);
}

/* behaviour: X3, F6 */
T_CASE(lost_under_them)
{
	unsigned int i;

	for (i = 0; i < 5; i++)
		cut_round(1 + i * SCALE(1000));
}
