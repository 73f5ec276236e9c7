/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers: behaviours K, R and F. */

#include <poll.h>

#include "comch/queue.h"
#include "t_main.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE

static size_t
data_len(const struct doca_buf *buf)
{
	size_t len;

	T_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

/* behaviour: K8, K10, K11, K12, K13, R6, F1, F3, F4 */
FLOW_CASE(one_message, f, 4096, 4)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	struct doca_buf *to, *to2, *from, *alien;
	uint32_t id;

	to = memory_buf(&f->dst, 100, 1000, false);
	to2 = memory_buf(&f->dst, 2000, 1000, false);
	from = memory_buf(&f->src, 64, 500, true);
	alien = memory_buf(&f->src, 0, 64, false);
	t_fill(f->src.addr + 64, 500, 1);
	T_INVALID(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, alien, &recv));
	T_OK(doca_buf_chain_list(to, to2));
	T_INVALID(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, to, &recv));
	T_INVALID(doca_comch_producer_task_send_alloc_init(f->p.producer, to, NULL, 0, f->id,
		&send));
	T_OK(doca_buf_unchain_list(to, to2));
	queue_post(&f->c, to);
	T_SETTLE(flow_progress(f));
	T_EQ(f->c.nb_done + f->c.nb_errors, 0);
	queue_put(&f->t, &f->p, from, f->id);
	/* Nothing of the sender is needed any more. */
	T_WAIT(doca_pe_progress(f->c.pe), f->c.nb_done != 0);
	T_EQ(data_len(to), 500);
	T_VERIFY(f->dst.addr + 100, 500, 1);
	T_EQ(f->dst.addr[99], 0);
	T_EQ(f->dst.addr[600], 0);
	T_OK(doca_comch_producer_get_id(f->p.producer, &id));
	T_EQ(f->c.producer_id, id);
	T_EQ(f->c.imm_len, 0);
	T_WAIT(flow_progress(f), f->p.nb_done == 1);
	/* Behind what is there already. */
	queue_post(&f->c, to);
	T_OK(doca_buf_set_data(from, f->src.addr + 100, 10));
	queue_put(&f->t, &f->p, from, f->id);
	T_WAIT(flow_progress(f), f->c.nb_done == 2);
	T_EQ(data_len(to), 510);
	T_CHECK(memcmp(f->dst.addr + 600, f->src.addr + 100, 10) == 0);
	T_OK(doca_buf_dec_refcount(to, NULL));
	T_OK(doca_buf_dec_refcount(to2, NULL));
	T_OK(doca_buf_dec_refcount(from, NULL));
	T_OK(doca_buf_dec_refcount(alien, NULL));
}

/* behaviour: F1, F3 */
FLOW_CASE(sizes, f, 4 << 20, 2)
{
	static const size_t lens[] = { 1, 63, 64, 4081, 65535, 1 << 20, (3 << 20) + 5 };
	struct doca_buf *to, *from;
	unsigned int i;

	for (i = 0; i < RTE_DIM(lens); i++) {
		to = memory_buf(&f->dst, 3, lens[i], false);
		from = memory_buf(&f->src, 7, lens[i], true);
		t_fill(f->src.addr + 7, lens[i], i);
		queue_post(&f->c, to);
		queue_submit(&f->t, queue_put_task(&f->p, from, NULL, 0, f->id));
		T_WAIT(flow_progress(f), f->c.nb_done == i + 1 && f->p.nb_done == i + 1);
		T_EQ(data_len(to), lens[i]);
		T_VERIFY(f->dst.addr + 3, lens[i], i);
		T_OK(doca_buf_dec_refcount(to, NULL));
		T_OK(doca_buf_dec_refcount(from, NULL));
	}
}

/* behaviour: K9, K13, K14, R8, R9, R10 */
FLOW_CASE(immediate_data, f, 4096, 4)
{
	uint8_t imm[33] = "immediate data of up to 32 bytes";
	struct doca_comch_producer_task_send *send;
	struct doca_task *task;

	queue_post(&f->c, NULL);
	task = queue_put_task(&f->p, NULL, imm, 32, f->id);
	memset(imm, 0, 4);
	queue_submit(&f->t, task);
	T_WAIT(flow_progress(f), f->c.nb_done == 1);
	T_EQ(f->c.imm_len, 32);
	T_CHECK(memcmp(f->c.imm, "immediate data of up to 32 bytes", 32) == 0);
	T_INVALID(doca_comch_producer_task_send_alloc_init(f->p.producer, NULL, imm, 33, f->id,
		&send));
	T_INVALID(doca_comch_producer_task_send_alloc_init(f->p.producer, NULL, NULL, 1, f->id,
		&send));
	T_INVALID(doca_comch_producer_task_send_alloc_init(f->p.producer, NULL, NULL, 0, f->id,
		&send));
	T_OK(doca_comch_producer_task_send_alloc_init(f->p.producer, NULL, imm, 5, 99, &send));
	T_CHECK(doca_comch_producer_task_send_get_buf(send) == NULL);
	T_EQ(doca_comch_producer_task_send_get_consumer_id(send), 99);
	T_EQ(doca_comch_producer_task_send_get_imm_data_len(send), 5);
	T_CHECK(memcmp(doca_comch_producer_task_send_get_imm_data(send), imm, 5) == 0);
	doca_comch_producer_task_send_set_consumer_id(send, f->id);
	doca_comch_producer_task_send_set_imm_data(send, imm, 33);
	task = doca_comch_producer_task_send_as_task(send);
	T_INVALID(doca_task_submit(task));
	doca_comch_producer_task_send_set_imm_data(send, NULL, 3);
	T_INVALID(doca_task_submit(task));
	doca_comch_producer_task_send_set_imm_data(send, NULL, 0);
	T_CHECK(doca_comch_producer_task_send_get_imm_data(send) == NULL);
	T_INVALID(doca_task_submit(task));
	doca_comch_producer_task_send_set_imm_data(send, imm, 3);
	queue_post(&f->c, NULL);
	queue_submit(&f->t, task);
	T_WAIT(flow_progress(f), f->c.nb_done == 2);
	T_EQ(f->c.imm_len, 3);
}

/* behaviour: K14 */
PAIR_CASE(too_much_immediate_data, t)
{
	struct queue c, p;
	uint8_t imm[9] = { 0 };
	uint32_t id;

	consumer_open(&c, &t->server, t->server.pe, 2);
	T_OK(doca_comch_consumer_set_imm_data_len(c.consumer, 8));
	id = consumer_start(t, &c);
	producer_create(&p, t->client.conn, t->client.pe, 2);
	T_OK(doca_ctx_start(p.ctx));
	queue_post(&c, NULL);
	queue_submit(t, queue_put_task(&p, NULL, imm, 9, id));
	T_WAIT(pair_progress(t), p.nb_errors == 1);
	T_INVALID(p.status);
	queue_submit(t, queue_put_task(&p, NULL, imm, 8, id));
	T_WAIT(pair_progress(t), c.nb_done == 1);
	T_EQ(c.imm_len, 8);
	queue_destroy(t, &p);
	queue_destroy(t, &c);
}

T_CASE(null_tasks)
{
	T_CHECK(doca_comch_consumer_task_post_recv_get_buf(NULL) == NULL);
	doca_comch_consumer_task_post_recv_set_buf(NULL, NULL);
	T_EQ(doca_comch_consumer_task_post_recv_get_producer_id(NULL), 0);
	T_CHECK(doca_comch_consumer_task_post_recv_get_imm_data(NULL) == NULL);
	T_EQ(doca_comch_consumer_task_post_recv_get_imm_data_len(NULL), 0);
	T_CHECK(doca_comch_consumer_task_post_recv_as_task(NULL) == NULL);
	T_CHECK(doca_comch_producer_task_send_get_buf(NULL) == NULL);
	doca_comch_producer_task_send_set_buf(NULL, NULL);
	T_EQ(doca_comch_producer_task_send_get_consumer_id(NULL), 0);
	doca_comch_producer_task_send_set_consumer_id(NULL, 1);
	T_CHECK(doca_comch_producer_task_send_get_imm_data(NULL) == NULL);
	T_EQ(doca_comch_producer_task_send_get_imm_data_len(NULL), 0);
	doca_comch_producer_task_send_set_imm_data(NULL, NULL, 0);
	T_CHECK(doca_comch_producer_task_send_as_task(NULL) == NULL);
}

/* behaviour: R2, R3 */
FLOW_CASE(nothing_posted, f, 4096, 2)
{
	struct doca_comch_producer_task_send *more;
	struct doca_buf *to, *from;
	struct doca_task *task[2];
	unsigned int i;

	to = memory_buf(&f->dst, 0, 64, false);
	from = memory_buf(&f->src, 0, 64, true);
	task[0] = queue_put_task(&f->p, from, NULL, 0, f->id);
	task[1] = queue_put_task(&f->p, from, NULL, 0, f->id);
	T_IS(doca_comch_producer_task_send_alloc_init(f->p.producer, from, NULL, 0, f->id, &more),
		DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < 1000; i++)
		T_IS(doca_task_submit(task[0]), DOCA_ERROR_AGAIN);
	T_EQ(f->p.nb_done + f->p.nb_errors, 0);
	queue_post(&f->c, to);
	/* No progress of this side. */
	T_AWAIT(doca_task_submit(task[0]) != DOCA_ERROR_AGAIN);
	T_IS(doca_task_submit(task[1]), DOCA_ERROR_AGAIN);
	T_WAIT(flow_progress(f), f->c.nb_done == 1 && f->p.nb_done == 1);
	doca_task_free(task[1]);
	T_OK(doca_buf_dec_refcount(to, NULL));
	T_OK(doca_buf_dec_refcount(from, NULL));
}

/* behaviour: R4, R5, F5 */
FLOW_CASE(refused_messages, f, 4096, 4)
{
	struct doca_buf *to, *from;
	uint16_t refs;
	void *data;

	to = memory_buf(&f->dst, 0, 64, false);
	from = memory_buf(&f->src, 0, 65, true);
	queue_submit(&f->t, queue_put_task(&f->p, from, NULL, 0, f->id + 1));
	T_WAIT(flow_progress(f), f->p.nb_errors == 1);
	T_IS(f->p.status, DOCA_ERROR_NOT_FOUND);
	queue_post(&f->c, to);
	queue_submit(&f->t, queue_put_task(&f->p, from, NULL, 0, f->id));
	T_WAIT(flow_progress(f), f->p.nb_errors == 2);
	T_INVALID(f->p.status);
	T_EQ(f->c.nb_done + f->c.nb_errors, 0);
	T_EQ(data_len(to), 0);
	T_EQ(data_len(from), 65);
	T_GETS(doca_buf_get_data(from, &data), data, f->src.addr);
	T_GETS(doca_buf_get_refcount(from, &refs), refs, 1);
	/* The buffer is there still. */
	T_OK(doca_buf_set_data_len(from, 64));
	queue_submit(&f->t, queue_put_task(&f->p, from, NULL, 0, f->id));
	T_WAIT(flow_progress(f), f->c.nb_done == 1);
	T_EQ(data_len(to), 64);
	/* One that has gone. */
	T_OK(doca_buf_dec_refcount(to, NULL));
	T_IS(doca_ctx_stop(f->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), f->t.client.nb_gone == 1);
	queue_submit(&f->t, queue_put_task(&f->p, from, NULL, 0, f->id));
	T_WAIT(flow_progress(f), f->p.nb_errors == 3);
	T_IS(f->p.status, DOCA_ERROR_NOT_FOUND);
	T_OK(doca_buf_dec_refcount(from, NULL));
}

static void
check_posted_order(struct queue *q, struct doca_task *task)
{
	T_EQ(doca_task_get_user_data(task).u64 + 1, q->nb_done);
	doca_task_free(task);
}

/* behaviour: K15, R7, F2 */
FLOW_CASE(order, f, 1024 * 64, 1024)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_buf *to[1024], *from;
	struct doca_task *task;
	union doca_data data;
	uint32_t i;

	f->c.done = check_posted_order;
	f->p.done = check_posted_order;
	for (i = 0; i < RTE_DIM(to); i++) {
		to[i] = memory_buf(&f->dst, i * 64, 64, false);
		T_OK(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, to[i], &recv));
		T_CHECK(doca_comch_consumer_task_post_recv_get_buf(recv) == to[i]);
		task = doca_comch_consumer_task_post_recv_as_task(recv);
		data.u64 = i;
		doca_task_set_user_data(task, data);
		queue_submit(&f->t, task);
	}
	/* One buf, many tasks. */
	from = memory_buf(&f->src, 0, 64, true);
	for (i = 0; i < RTE_DIM(to); i++) {
		task = queue_put_task(&f->p, from, &i, sizeof(i), f->id);
		data.u64 = i;
		doca_task_set_user_data(task, data);
		queue_submit(&f->t, task);
	}
	T_WAIT(flow_progress(f), f->c.nb_done == RTE_DIM(to) && f->p.nb_done == RTE_DIM(to));
	T_EQ(data_len(from), 64);
	for (i = 0; i < RTE_DIM(to); i++) {
		T_EQ(data_len(to[i]), 64);
		T_OK(doca_buf_dec_refcount(to[i], NULL));
	}
	T_OK(doca_buf_dec_refcount(from, NULL));
}

/* Whether a sleep of a queue's engine ends at once. */
static bool
sleep_ends(struct queue *q)
{
	doca_notification_handle_t handle;
	struct pollfd pfd = { .events = POLLIN };
	int n;

	T_OK(doca_pe_get_notification_handle(q->pe, &handle));
	T_OK(doca_pe_request_notification(q->pe));
	pfd.fd = handle;
	n = poll(&pfd, 1, 0);
	T_OK(doca_pe_clear_notification(q->pe, handle));
	return n == 1;
}

/* 80 completions take three progresses. Those left are work for an engine that sleeps. */
static void
complete_80(struct queue *q)
{
	unsigned int i;

	for (i = 0; q->nb_done < 80; i++) {
		T_CHECK(sleep_ends(q));
		T_EQ(doca_pe_progress(q->pe), 1);
		T_LE(q->nb_done, (i + 1) * 32);
	}
	T_EQ(i, 3);
	T_EQ(doca_pe_progress(q->pe), 0);
	T_CHECK(!sleep_ends(q));
}

FLOW_CASE(more_than_a_burst, f, 4096, 80)
{
	unsigned int i;

	for (i = 0; i < 80; i++)
		queue_post(&f->c, NULL);
	for (i = 0; i < 80; i++)
		queue_submit(&f->t, queue_put_task(&f->p, NULL, &i, sizeof(i), f->id));
	complete_80(&f->p);
	complete_80(&f->c);
}

/* A stop completes what a progress has left, but for a task that was freed meanwhile. */
FLOW_CASE(stop_between_bursts, f, 4096, 80)
{
	struct doca_comch_consumer_task_post_recv *recv;
	unsigned int i;

	for (i = 0; i < 40; i++)
		queue_post(&f->c, NULL);
	T_OK(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, NULL, &recv));
	T_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	for (i = 41; i < 80; i++)
		queue_post(&f->c, NULL);
	for (i = 0; i < 70; i++)
		queue_submit(&f->t, queue_put_task(&f->p, NULL, &i, sizeof(i), f->id));
	T_WAIT(doca_pe_progress(f->p.pe), f->p.nb_done == 70);
	T_EQ(doca_pe_progress(f->c.pe), 1);
	T_EQ(f->c.nb_done, 32);
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(recv));
	T_IS(doca_ctx_stop(f->c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(flow_progress(f), ctx_state(f->c.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(f->c.nb_done, 69);
	T_EQ(f->c.nb_errors, 10);
}

static void
put_again(struct queue *q, struct doca_task *task)
{
	/* The first 32, so that those of the second progress are sent by the first. */
	if (q->nb_done <= 32)
		T_OK(doca_task_submit(task));
	else
		doca_task_free(task);
}

/* A progress completes a burst, if there is one: also if it knows of a part of it already. */
FLOW_CASE(less_than_two_bursts, f, 4096, 80)
{
	unsigned int i;

	for (i = 0; i < 80; i++)
		queue_post(&f->c, NULL);
	f->p.done = put_again;
	for (i = 0; i < 40; i++)
		queue_submit(&f->t, queue_put_task(&f->p, NULL, &i, sizeof(i), f->id));
	T_EQ(doca_pe_progress(f->p.pe), 1);
	T_EQ(f->p.nb_done, 32);
	T_EQ(doca_pe_progress(f->p.pe), 1);
	T_EQ(f->p.nb_done, 64);
	T_EQ(doca_pe_progress(f->p.pe), 1);
	T_EQ(f->p.nb_done, 72);
	T_WAIT(flow_progress(f), f->c.nb_done == 72);
}

/* behaviour: R1, R11 */
PAIR_CASE(producers, t)
{
	struct queue p[3];
	uint32_t id[3];
	unsigned int i;

	for (i = 0; i < RTE_DIM(p); i++) {
		producer_create(&p[i], t->client.conn, NULL, 4);
		T_IS(doca_comch_producer_get_id(p[i].producer, &id[i]), DOCA_ERROR_BAD_STATE);
		T_OK(doca_ctx_start(p[i].ctx));
		T_EQ(p[i].states.nb, 1);
		T_EQ(p[i].states.next[0], DOCA_CTX_STATE_RUNNING);
		T_IS(doca_comch_producer_destroy(p[i].producer), DOCA_ERROR_IN_USE);
		T_OK(doca_comch_producer_get_id(p[i].producer, &id[i]));
		T_CHECK(i == 0 || id[i] != id[i - 1]);
	}
	T_OK(doca_ctx_stop(p[0].ctx));
	T_EQ(ctx_state(p[0].ctx), DOCA_CTX_STATE_IDLE);
	for (i = 0; i < RTE_DIM(p); i++)
		queue_destroy(t, &p[i]);
}

/* behaviour: R12 */
PAIR_CASE(many_to_many, t)
{
	struct queue c[2][2], p[2][2];
	struct side *side[2];
	struct memory mem[2];
	uint32_t id[2][2];
	unsigned int s, i, k;

	side[0] = &t->server;
	side[1] = &t->client;
	for (s = 0; s < 2; s++) {
		memory_create(&mem[s], side[s]->dev, 4096, RW);
		for (i = 0; i < 2; i++) {
			consumer_create(&c[s][i], side[s]->conn, mem[s].mmap, side[s]->pe, 64);
			id[s][i] = consumer_start(t, &c[s][i]);
			producer_create(&p[s][i], side[s]->conn, side[s]->pe, 64);
			T_OK(doca_ctx_start(p[s][i].ctx));
			for (k = 0; k < 64; k++)
				queue_post(&c[s][i], NULL);
		}
	}
	/* Each to both of the other side. */
	for (s = 0; s < 2; s++)
		for (i = 0; i < 2; i++)
			for (k = 0; k < 64; k++)
				queue_submit(t, queue_put_task(&p[s][i], NULL, &k, sizeof(k),
					id[1 - s][k % 2]));
	T_WAIT(pair_progress(t), c[0][0].nb_done == 64 && c[0][1].nb_done == 64 &&
		c[1][0].nb_done == 64 && c[1][1].nb_done == 64);
	T_SETTLE(pair_progress(t));
	for (s = 0; s < 2; s++)
		for (i = 0; i < 2; i++) {
			T_EQ(p[s][i].nb_done, 64);
			queue_destroy(t, &p[s][i]);
			queue_destroy(t, &c[s][i]);
		}
	memory_destroy(&mem[0]);
	memory_destroy(&mem[1]);
}

static struct memory early_mem;
static struct queue early;

static void
consumer_at_once(struct side *side, struct doca_comch_connection *conn)
{
	consumer_create(&early, conn, early_mem.mmap, side->pe, 4);
	T_IS(doca_ctx_start(early.ctx), DOCA_ERROR_IN_PROGRESS);
}

/* behaviour: F8 */
PAIR_CASE_CREATED(started_in_the_connect_callback, t)
{
	memory_create(&early_mem, t->server.dev, 64, RW);
	t->server.hooks.connected = consumer_at_once;
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	T_WAIT(pair_progress(t), t->client.nb_new == 1 && ctx_is_running(early.ctx));
	queue_destroy(t, &early);
	memory_destroy(&early_mem);
}
