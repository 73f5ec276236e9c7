/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_cc: what only DOCA 2.5 has. */

#include <string.h>

#include "cc/program.h"

static_assert(COMCH_DOCA_GENERATION == 205, "generation");

/* Tasks of producers and consumers are counted by logarithms. */
#define LOG_NB_TASKS 2
static_assert(1 << LOG_NB_TASKS == CC_NB_TASKS, "tasks");

/* Callbacks */

static void
on_connect(struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *conn, bool change_success)
{
	struct cc_side *s = cc_side_of(conn);

	T_CHECK(event != NULL);
	T_CHECK(change_success);
	s->nb_connects++;
	s->conn = conn;
}

static void
on_disconnect(struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *conn, bool change_success)
{
	T_CHECK(event != NULL);
	T_CHECK(change_success);
	cc_side_of(conn)->nb_disconnects++;
}

static void
on_msg(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer, size_t msg_len,
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
on_sent(struct doca_cc_send_task *task, union doca_data task_data, union doca_data ctx_data)
{
	struct cc_side *s = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	T_OK(doca_task_get_status(doca_cc_send_task_as_task(task)));
	s->nb_sent++;
	doca_task_free(doca_cc_send_task_as_task(task));
}

static void
on_send_error(struct doca_cc_send_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_side *s = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	s->nb_send_errors++;
	doca_task_free(doca_cc_send_task_as_task(task));
}

static void
on_put(struct doca_cc_producer_send_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_done++;
	doca_task_free(doca_cc_producer_send_task_as_task(task));
}

static void
on_put_error(struct doca_cc_producer_send_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_errors++;
	doca_task_free(doca_cc_producer_send_task_as_task(task));
}

static void
on_got(struct doca_cc_consumer_post_recv_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_done++;
	doca_task_free(doca_cc_consumer_post_recv_task_as_task(task));
}

static void
on_got_error(struct doca_cc_consumer_post_recv_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct cc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_errors++;
	doca_task_free(doca_cc_consumer_post_recv_task_as_task(task));
}

/* Configuration */

void
cc_server_conf(struct cc_side *s)
{
	T_OK(doca_cc_server_send_task_set_conf(s->server, on_sent, on_send_error, CC_NB_TASKS));
	T_OK(doca_cc_server_event_msg_recv_register(s->server, on_msg));
	T_OK(doca_cc_server_event_connection_register(s->server, on_connect, on_disconnect));
}

void
cc_client_conf(struct cc_side *s)
{
	T_OK(doca_cc_client_send_task_set_conf(s->client, on_sent, on_send_error, CC_NB_TASKS));
	T_OK(doca_cc_client_event_msg_recv_register(s->client, on_msg));
}

void
cc_producer_conf(struct cc_queue *q)
{
	T_OK(doca_cc_producer_send_task_set_conf(q->producer, on_put, on_put_error, LOG_NB_TASKS));
}

void
cc_consumer_conf(struct cc_queue *q)
{
	T_OK(doca_cc_consumer_post_recv_task_set_conf(q->consumer, on_got, on_got_error,
		LOG_NB_TASKS));
}

/* Tasks */

static doca_error_t
alloc_send(struct cc_side *s, const void *msg, size_t len, struct doca_cc_send_task **task)
{
	if (s->server != NULL)
		return doca_cc_server_send_task_alloc_init(s->server, s->conn, msg, len, task);
	return doca_cc_client_send_task_alloc_init(s->client, s->conn, msg, len, task);
}

void
cc_send(struct cc_side *s, const char *text)
{
	const union doca_data data = { .u64 = 5 };
	struct doca_cc_send_task *task;

	T_OK(alloc_send(s, text, strlen(text) + 1, &task));
	doca_task_set_user_data(doca_cc_send_task_as_task(task), data);
	T_OK(doca_task_submit(doca_cc_send_task_as_task(task)));
}

void
cc_post(struct cc_queue *q, struct doca_buf *buf)
{
	struct doca_cc_consumer_post_recv_task *task;

	T_OK(doca_cc_consumer_post_recv_task_alloc_init(q->consumer, buf, &task));
	T_CHECK(doca_cc_consumer_post_recv_task_get_buf(task) == buf);
	T_OK(doca_task_submit(doca_cc_consumer_post_recv_task_as_task(task)));
}

struct doca_task *
cc_put_task(struct cc_queue *q, struct doca_buf *buf, uint32_t id)
{
	struct doca_cc_producer_send_task *task;

	T_OK(doca_cc_producer_send_task_alloc_init(q->producer, buf, id, &task));
	return doca_cc_producer_send_task_as_task(task);
}

/* Cases */

T_CASE(tasks_null_arguments)
{
	struct doca_cc_consumer_post_recv_task *post;
	struct doca_cc_producer_send_task *put;
	struct doca_cc_send_task *task;

	T_IS(doca_cc_cap_is_producer_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_cap_is_consumer_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_server_send_task_set_conf(NULL, on_sent, on_send_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_client_send_task_set_conf(NULL, on_sent, on_send_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_server_event_msg_recv_register(NULL, on_msg), DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_client_event_msg_recv_register(NULL, on_msg), DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_server_event_connection_register(NULL, on_connect, on_disconnect),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_server_send_task_alloc_init(NULL, NULL, "", 1, &task),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_client_send_task_alloc_init(NULL, NULL, "", 1, &task),
		DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_send_task_as_task(NULL) == NULL);
	T_IS(doca_cc_producer_send_task_set_conf(NULL, on_put, on_put_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_producer_send_task_alloc_init(NULL, NULL, 1, &put), DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_producer_send_task_get_buf(NULL) == NULL);
	T_CHECK(doca_cc_producer_send_task_as_task(NULL) == NULL);
	T_IS(doca_cc_consumer_post_recv_task_set_conf(NULL, on_got, on_got_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_consumer_post_recv_task_alloc_init(NULL, NULL, &post),
		DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_consumer_post_recv_task_get_buf(NULL) == NULL);
	T_CHECK(doca_cc_consumer_post_recv_task_as_task(NULL) == NULL);
}

T_CASE(control_errors)
{
	struct doca_cc_send_task *tasks[CC_NB_TASKS], *task;
	struct cc_side s, c;
	uint32_t i;

	cc_open(&s, &c);
	T_IS(doca_cc_server_send_task_set_conf(s.server, on_sent, on_send_error, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_client_send_task_set_conf(c.client, on_sent, on_send_error, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_client_send_task_set_conf(c.client, NULL, on_send_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_server_event_msg_recv_register(s.server, NULL), DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_server_event_msg_recv_register(s.server, on_msg), DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_client_event_msg_recv_register(c.client, on_msg), DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_server_event_connection_register(s.server, on_connect, NULL),
		DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_server_event_connection_register(s.server, on_connect, on_disconnect),
		DOCA_ERROR_BAD_STATE);
	for (i = 0; i < CC_NB_TASKS; i++)
		T_OK(alloc_send(&s, "x", 1, &tasks[i]));
	T_IS(alloc_send(&s, "x", 1, &task), DOCA_ERROR_NO_MEMORY);
	T_IS(alloc_send(&c, "x", 4081, &task), DOCA_ERROR_INVALID_VALUE);
	/* Not of 1 byte. */
	T_IS(alloc_send(&c, "x", (1ULL << 32) + 1, &task), DOCA_ERROR_INVALID_VALUE);
	T_IS(alloc_send(&c, "x", 1, NULL), DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < CC_NB_TASKS; i++)
		doca_task_free(doca_cc_send_task_as_task(tasks[i]));
	cc_close(&s, &c);
}

T_CASE(data_errors)
{
	struct doca_cc_consumer_post_recv_task *post;
	struct doca_cc_producer_send_task *put;
	struct cc_queue producer, consumer;
	struct doca_devinfo *info;
	struct cc_side s, c;
	struct doca_buf *buf;
	struct memory mem;
	uint32_t log;

	cc_open(&s, &c);
	info = doca_dev_as_devinfo(s.dev);
	T_OK(doca_cc_cap_is_producer_supported(info));
	T_OK(doca_cc_cap_is_consumer_supported(info));
	T_OK(doca_cc_consumer_cap_get_max_log_num_tasks(info, &log));
	T_EQ(log, 16);
	T_IS(doca_cc_consumer_cap_get_max_log_num_tasks(NULL, &log), DOCA_ERROR_INVALID_VALUE);
	T_IS(doca_cc_consumer_cap_get_max_log_num_tasks(info, NULL), DOCA_ERROR_INVALID_VALUE);
	memory_create(&mem, s.dev, 64, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	buf = memory_buf(&mem, 0, 64, true);
	cc_producer_create(&producer, &s);
	cc_consumer_create(&consumer, &s, mem.mmap);
	T_IS(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1, &put),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_consumer_post_recv_task_alloc_init(consumer.consumer, buf, &post),
		DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_start(producer.ctx));
	T_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(s.pe, c.pe), ctx_is_running(consumer.ctx));
	T_IS(doca_cc_producer_send_task_set_conf(producer.producer, on_put, on_put_error, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_consumer_post_recv_task_set_conf(consumer.consumer, on_got,
		on_got_error, 1), DOCA_ERROR_BAD_STATE);
	/* There is no message without a buf. */
	T_IS(doca_cc_producer_send_task_alloc_init(producer.producer, NULL, 1, &put),
		DOCA_ERROR_INVALID_VALUE);
	T_OK(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1, &put));
	T_CHECK(doca_cc_producer_send_task_get_buf(put) == buf);
	doca_task_free(doca_cc_producer_send_task_as_task(put));
	cc_queue_destroy(&producer, s.pe, c.pe);
	cc_queue_destroy(&consumer, s.pe, c.pe);
	T_OK(doca_buf_dec_refcount(buf, NULL));
	memory_destroy(&mem);
	cc_close(&s, &c);
}

/* 2 to the power of the count, and no more. */
T_CASE(counts)
{
	struct doca_cc_consumer_post_recv_task *posts[CC_NB_TASKS], *post;
	struct doca_cc_producer_send_task *puts[CC_NB_TASKS], *put;
	static const uint32_t too_much[] = { 17, 31, 32, 33, UINT32_MAX };
	struct cc_queue producer, consumer;
	struct cc_side s, c;
	struct doca_buf *buf;
	struct memory mem;
	uint32_t i;

	cc_open(&s, &c);
	memory_create(&mem, s.dev, 64, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	buf = memory_buf(&mem, 0, 64, true);
	cc_producer_create(&producer, &s);
	cc_consumer_create(&consumer, &s, mem.mmap);
	for (i = 0; i < RTE_DIM(too_much); i++) {
		T_IS(doca_cc_producer_send_task_set_conf(producer.producer, on_put,
			on_put_error, too_much[i]), DOCA_ERROR_INVALID_VALUE);
		T_IS(doca_cc_consumer_post_recv_task_set_conf(consumer.consumer, on_got,
			on_got_error, too_much[i]), DOCA_ERROR_INVALID_VALUE);
	}
	T_OK(doca_cc_producer_send_task_set_conf(producer.producer, on_put, on_put_error, 16));
	T_OK(doca_cc_consumer_post_recv_task_set_conf(consumer.consumer, on_got, on_got_error, 16));
	cc_producer_conf(&producer);
	cc_consumer_conf(&consumer);
	T_OK(doca_ctx_start(producer.ctx));
	T_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(s.pe, c.pe), ctx_is_running(consumer.ctx));
	for (i = 0; i < CC_NB_TASKS; i++) {
		T_OK(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1, &puts[i]));
		T_OK(doca_cc_consumer_post_recv_task_alloc_init(consumer.consumer, buf, &posts[i]));
	}
	T_IS(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1, &put),
		DOCA_ERROR_NO_MEMORY);
	T_IS(doca_cc_consumer_post_recv_task_alloc_init(consumer.consumer, buf, &post),
		DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < CC_NB_TASKS; i++) {
		doca_task_free(doca_cc_producer_send_task_as_task(puts[i]));
		doca_task_free(doca_cc_consumer_post_recv_task_as_task(posts[i]));
	}
	cc_queue_destroy(&producer, s.pe, c.pe);
	cc_queue_destroy(&consumer, s.pe, c.pe);
	T_OK(doca_buf_dec_refcount(buf, NULL));
	memory_destroy(&mem);
	cc_close(&s, &c);
}
