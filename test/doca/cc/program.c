/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_cc: callbacks, tasks and their errors, by the names of DOCA 2.6. */

#include <string.h>

#include "cc/program.h"

/* Callbacks */

static void
on_connect(struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *conn, flag_t change_successful)
{
	struct cc_side *s = cc_side_of(conn);

	T_CHECK(event != NULL);
	T_EQ(change_successful, 1);
	s->nb_connects++;
	s->conn = conn;
}

static void
on_disconnect(struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *conn, flag_t change_successful)
{
	T_CHECK(event != NULL);
	T_EQ(change_successful, 1);
	cc_side_of(conn)->nb_disconnects++;
}

static void
on_msg(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer, msg_len_t msg_len,
		struct doca_cc_connection *conn)
{
	struct cc_side *s = cc_side_of(conn);

	T_CHECK(event != NULL);
	T_LE(msg_len, sizeof(s->msg));
	memcpy(s->msg, recv_buffer, msg_len);
	s->msg_len = msg_len;
	s->nb_msgs++;
}

static void
on_sent(struct doca_cc_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct cc_side *s = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	T_OK(doca_task_get_status(doca_cc_task_send_as_task(task)));
	s->nb_sent++;
	doca_task_free(doca_cc_task_send_as_task(task));
}

static void
on_send_error(struct doca_cc_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_side *s = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	s->nb_send_errors++;
	doca_task_free(doca_cc_task_send_as_task(task));
}

static void
on_put(struct doca_cc_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_done++;
	doca_task_free(doca_cc_producer_task_send_as_task(task));
}

static void
on_put_error(struct doca_cc_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_errors++;
	doca_task_free(doca_cc_producer_task_send_as_task(task));
}

static void
on_got(struct doca_cc_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
#if COMCH_DOCA_GENERATION == 206
	T_NE(doca_cc_consumer_task_post_recv_get_producer_id(task), 0);
#endif
	q->nb_done++;
	doca_task_free(doca_cc_consumer_task_post_recv_as_task(task));
}

static void
on_got_error(struct doca_cc_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_errors++;
	doca_task_free(doca_cc_consumer_task_post_recv_as_task(task));
}

/* Configuration */

void
cc_server_conf(struct cc_side *s)
{
	T_OK(doca_cc_server_task_send_set_conf(s->server, on_sent, on_send_error, CC_NB_TASKS));
	T_OK(doca_cc_server_event_msg_recv_register(s->server, on_msg));
	T_OK(doca_cc_server_event_connection_register(s->server, on_connect, on_disconnect));
}

void
cc_client_conf(struct cc_side *s)
{
	T_OK(doca_cc_client_task_send_set_conf(s->client, on_sent, on_send_error, CC_NB_TASKS));
	T_OK(doca_cc_client_event_msg_recv_register(s->client, on_msg));
}

void
cc_producer_conf(struct cc_queue *q)
{
	T_OK(doca_cc_producer_task_send_set_conf(q->producer, on_put, on_put_error,
		CC_QUEUE_TASKS));
}

void
cc_consumer_conf(struct cc_queue *q)
{
	T_OK(doca_cc_consumer_task_post_recv_set_conf(q->consumer, on_got, on_got_error,
		CC_QUEUE_TASKS));
}

/* Tasks */

static doca_error_t
alloc_send(struct cc_side *s, const void *msg, msg_len_t len, struct doca_cc_task_send **task)
{
	if (s->server != NULL)
		return doca_cc_server_task_send_alloc_init(s->server, s->conn, msg, len, task);
	return doca_cc_client_task_send_alloc_init(s->client, s->conn, msg, len, task);
}

void
cc_send(struct cc_side *s, const char *text)
{
	const union doca_data data = { .u64 = 5 };
	struct doca_cc_task_send *task;

	T_OK(alloc_send(s, text, (msg_len_t)strlen(text) + 1, &task));
	doca_task_set_user_data(doca_cc_task_send_as_task(task), data);
	T_OK(doca_task_submit(doca_cc_task_send_as_task(task)));
}

void
cc_post(struct cc_queue *q, struct doca_buf *buf)
{
	struct doca_cc_consumer_task_post_recv *task;

	T_OK(doca_cc_consumer_task_post_recv_alloc_init(q->consumer, buf, &task));
	T_CHECK(doca_cc_consumer_task_post_recv_get_buf(task) == buf);
#if COMCH_DOCA_GENERATION == 206
	T_EQ(doca_cc_consumer_task_post_recv_get_producer_id(task), 0);
#endif
	T_OK(doca_task_submit(doca_cc_consumer_task_post_recv_as_task(task)));
}

struct doca_task *
cc_put_task(struct cc_queue *q, struct doca_buf *buf, uint32_t id)
{
	struct doca_cc_producer_task_send *task;

	T_OK(doca_cc_producer_task_send_alloc_init(q->producer, buf, id, &task));
	return doca_cc_producer_task_send_as_task(task);
}

T_CASE(tasks_null_arguments)
{
	struct doca_cc_consumer_task_post_recv *post;
	struct doca_cc_producer_task_send *put;
	struct doca_cc_task_send *task;

	T_INVALID(doca_cc_producer_cap_is_supported(NULL));
	T_INVALID(doca_cc_consumer_cap_is_supported(NULL));
	T_INVALID(doca_cc_server_task_send_set_conf(NULL, on_sent, on_send_error, 1));
	T_INVALID(doca_cc_client_task_send_set_conf(NULL, on_sent, on_send_error, 1));
	T_INVALID(doca_cc_server_event_msg_recv_register(NULL, on_msg));
	T_INVALID(doca_cc_client_event_msg_recv_register(NULL, on_msg));
	T_INVALID(doca_cc_server_event_connection_register(NULL, on_connect, on_disconnect));
	T_INVALID(doca_cc_server_task_send_alloc_init(NULL, NULL, "", 1, &task));
	T_INVALID(doca_cc_client_task_send_alloc_init(NULL, NULL, "", 1, &task));
	T_CHECK(doca_cc_task_send_as_task(NULL) == NULL);
	T_INVALID(doca_cc_producer_task_send_set_conf(NULL, on_put, on_put_error, 1));
	T_INVALID(doca_cc_producer_task_send_alloc_init(NULL, NULL, 1, &put));
	T_CHECK(doca_cc_producer_task_send_get_buf(NULL) == NULL);
	T_CHECK(doca_cc_producer_task_send_as_task(NULL) == NULL);
	T_INVALID(doca_cc_consumer_task_post_recv_set_conf(NULL, on_got, on_got_error, 1));
	T_INVALID(doca_cc_consumer_task_post_recv_alloc_init(NULL, NULL, &post));
	T_CHECK(doca_cc_consumer_task_post_recv_get_buf(NULL) == NULL);
	T_CHECK(doca_cc_consumer_task_post_recv_as_task(NULL) == NULL);
}

T_CASE(control_errors)
{
	struct doca_cc_task_send *tasks[CC_NB_TASKS], *task;
	struct cc_side s, c;
	uint32_t i;

	cc_open(&s, &c);
	T_IS(doca_cc_server_task_send_set_conf(s.server, on_sent, on_send_error, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_client_task_send_set_conf(c.client, on_sent, on_send_error, 1),
		DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_cc_client_task_send_set_conf(c.client, NULL, on_send_error, 1));
	T_INVALID(doca_cc_server_event_msg_recv_register(s.server, NULL));
	T_IS(doca_cc_server_event_msg_recv_register(s.server, on_msg), DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_client_event_msg_recv_register(c.client, on_msg), DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_cc_server_event_connection_register(s.server, on_connect, NULL));
	T_IS(doca_cc_server_event_connection_register(s.server, on_connect, on_disconnect),
		DOCA_ERROR_BAD_STATE);
	for (i = 0; i < CC_NB_TASKS; i++)
		T_OK(alloc_send(&s, "x", 1, &tasks[i]));
	T_IS(alloc_send(&s, "x", 1, &task), DOCA_ERROR_NO_MEMORY);
	T_INVALID(alloc_send(&c, "x", 4081, &task));
#if COMCH_DOCA_GENERATION == 205
	/* Not of 1 byte. */
	T_INVALID(alloc_send(&c, "x", (1ULL << 32) + 1, &task));
#endif
	T_INVALID(alloc_send(&c, "x", 1, NULL));
	for (i = 0; i < CC_NB_TASKS; i++)
		doca_task_free(doca_cc_task_send_as_task(tasks[i]));
	cc_close(&s, &c);
}

/* A producer and a consumer of a server that is connected, not started, and bufs. */
struct cc_data {
	struct cc_side s, c;
	struct cc_queue producer, consumer;
	struct memory mem;
	struct doca_buf *bufs[2];
};

static void
cc_data_open(struct cc_data *d)
{
	cc_open(&d->s, &d->c);
	memory_create(&d->mem, d->s.dev, 128, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	d->bufs[0] = memory_buf(&d->mem, 0, 64, true);
	d->bufs[1] = memory_buf(&d->mem, 64, 64, true);
	cc_producer_create(&d->producer, &d->s);
	cc_consumer_create(&d->consumer, &d->s, d->mem.mmap);
}

static void
cc_data_start(struct cc_data *d)
{
	T_OK(doca_ctx_start(d->producer.ctx));
	T_IS(doca_ctx_start(d->consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(d->s.pe, d->c.pe), ctx_is_running(d->consumer.ctx));
}

static void
cc_data_close(struct cc_data *d)
{
	cc_queue_destroy(&d->producer, d->s.pe, d->c.pe);
	cc_queue_destroy(&d->consumer, d->s.pe, d->c.pe);
	T_OK(doca_buf_dec_refcount(d->bufs[0], NULL));
	T_OK(doca_buf_dec_refcount(d->bufs[1], NULL));
	memory_destroy(&d->mem);
	cc_close(&d->s, &d->c);
}

/* Before and after RUNNING. */
T_CASE(data_errors)
{
	struct doca_cc_consumer_task_post_recv *post;
	struct doca_cc_producer_task_send *put;
	struct cc_data d;

	cc_data_open(&d);
	T_OK(doca_cc_producer_cap_is_supported(doca_dev_as_devinfo(d.s.dev)));
	T_OK(doca_cc_consumer_cap_is_supported(doca_dev_as_devinfo(d.s.dev)));
	T_IS(doca_cc_producer_task_send_alloc_init(d.producer.producer, d.bufs[0], 1, &put),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_consumer_task_post_recv_alloc_init(d.consumer.consumer, d.bufs[0], &post),
		DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_cc_consumer_task_post_recv_set_conf(d.consumer.consumer, on_got, NULL, 1));
	cc_data_start(&d);
	T_IS(doca_cc_producer_task_send_set_conf(d.producer.producer, on_put, on_put_error, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_consumer_task_post_recv_set_conf(d.consumer.consumer, on_got,
		on_got_error, 1), DOCA_ERROR_BAD_STATE);
	/* There is no message without a buf. */
	T_INVALID(doca_cc_producer_task_send_alloc_init(d.producer.producer, NULL, 1, &put));
	T_OK(doca_cc_producer_task_send_alloc_init(d.producer.producer, d.bufs[0], 1, &put));
	T_CHECK(doca_cc_producer_task_send_get_buf(put) == d.bufs[0]);
	doca_task_free(doca_cc_producer_task_send_as_task(put));
	cc_data_close(&d);
}

#if COMCH_DOCA_GENERATION == 206
/* What the tasks of 2.6 say besides, and their setters. */
T_CASE(data_tasks)
{
	struct doca_cc_consumer_task_post_recv *post;
	struct doca_cc_producer_task_send *put;
	struct cc_data d;

	T_EQ(doca_cc_producer_task_send_get_consumer_id(NULL), 0);
	doca_cc_producer_task_send_set_buf(NULL, NULL);
	doca_cc_producer_task_send_set_consumer_id(NULL, 1);
	doca_cc_consumer_task_post_recv_set_buf(NULL, NULL);
	T_EQ(doca_cc_consumer_task_post_recv_get_producer_id(NULL), 0);
	cc_data_open(&d);
	T_INVALID(doca_cc_producer_task_send_set_conf(d.producer.producer, on_put, on_put_error,
		0));
	cc_data_start(&d);
	T_OK(doca_cc_producer_task_send_alloc_init(d.producer.producer, d.bufs[0], 1, &put));
	T_EQ(doca_cc_producer_task_send_get_consumer_id(put), 1);
	doca_cc_producer_task_send_set_buf(put, d.bufs[1]);
	doca_cc_producer_task_send_set_consumer_id(put, 2);
	T_CHECK(doca_cc_producer_task_send_get_buf(put) == d.bufs[1]);
	T_EQ(doca_cc_producer_task_send_get_consumer_id(put), 2);
	doca_task_free(doca_cc_producer_task_send_as_task(put));
	T_OK(doca_cc_consumer_task_post_recv_alloc_init(d.consumer.consumer, d.bufs[0], &post));
	doca_cc_consumer_task_post_recv_set_buf(post, d.bufs[1]);
	T_CHECK(doca_cc_consumer_task_post_recv_get_buf(post) == d.bufs[1]);
	doca_task_free(doca_cc_consumer_task_post_recv_as_task(post));
	cc_data_close(&d);
}
#else
/* Counts are 2 to the power of the number, and no more. */
T_CASE(counts)
{
	struct doca_cc_consumer_task_post_recv *posts[CC_NB_TASKS], *post;
	struct doca_cc_producer_task_send *puts[CC_NB_TASKS], *put;
	static const uint32_t too_much[] = { 17, 31, 32, 33, UINT32_MAX };
	struct doca_cc_producer *producer;
	struct doca_cc_consumer *consumer;
	struct doca_devinfo *info;
	struct cc_data d;
	uint32_t i, log;

	cc_data_open(&d);
	info = doca_dev_as_devinfo(d.s.dev);
	producer = d.producer.producer;
	consumer = d.consumer.consumer;
	T_GETS(doca_cc_consumer_cap_get_max_log_num_tasks(info, &log), log, 16);
	T_REFUSES_NULL(doca_cc_consumer_cap_get_max_log_num_tasks, info, &log);
	for (i = 0; i < RTE_DIM(too_much); i++) {
		T_INVALID(doca_cc_producer_task_send_set_conf(producer, on_put, on_put_error,
			too_much[i]));
		T_INVALID(doca_cc_consumer_task_post_recv_set_conf(consumer, on_got, on_got_error,
			too_much[i]));
	}
	T_OK(doca_cc_producer_task_send_set_conf(producer, on_put, on_put_error, 16));
	T_OK(doca_cc_consumer_task_post_recv_set_conf(consumer, on_got, on_got_error, 16));
	cc_producer_conf(&d.producer);
	cc_consumer_conf(&d.consumer);
	cc_data_start(&d);
	for (i = 0; i < CC_NB_TASKS; i++) {
		T_OK(doca_cc_producer_task_send_alloc_init(producer, d.bufs[0], 1, &puts[i]));
		T_OK(doca_cc_consumer_task_post_recv_alloc_init(consumer, d.bufs[0], &posts[i]));
	}
	T_IS(doca_cc_producer_task_send_alloc_init(producer, d.bufs[0], 1, &put),
		DOCA_ERROR_NO_MEMORY);
	T_IS(doca_cc_consumer_task_post_recv_alloc_init(consumer, d.bufs[0], &post),
		DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < CC_NB_TASKS; i++) {
		doca_task_free(doca_cc_producer_task_send_as_task(puts[i]));
		doca_task_free(doca_cc_consumer_task_post_recv_as_task(posts[i]));
	}
	cc_data_close(&d);
}
#endif
