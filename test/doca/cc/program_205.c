/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_cc: what only DOCA 2.5 has. */

#include <string.h>

#include "cc/program.h"

static_assert(COMCH_DOCA_GENERATION == 205, "generation");

/* Tasks of producers and consumers are counted by logarithms. */
#define LOG_NB_TASKS 2
static_assert(1 << LOG_NB_TASKS == TCC_NB_TASKS, "tasks");

/* Callbacks */

static void
on_connect(struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *conn, bool change_success)
{
	struct tcc_side *s = tcc_side_of(conn);

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
	tcc_side_of(conn)->nb_disconnects++;
}

static void
on_msg(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer, size_t msg_len,
		struct doca_cc_connection *conn)
{
	struct tcc_side *s = tcc_side_of(conn);

	T_CHECK(event != NULL);
	T_LE(msg_len, sizeof(s->msg));
	memcpy(s->msg, recv_buffer, msg_len);
	s->msg_len = msg_len;
	s->nb_msgs++;
}

static void
on_sent(struct doca_cc_send_task *task, union doca_data task_data, union doca_data ctx_data)
{
	struct tcc_side *s = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	TD_OK(doca_task_get_status(doca_cc_send_task_as_task(task)));
	s->nb_sent++;
	doca_task_free(doca_cc_send_task_as_task(task));
}

static void
on_send_error(struct doca_cc_send_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct tcc_side *s = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	s->nb_send_errors++;
	doca_task_free(doca_cc_send_task_as_task(task));
}

static void
on_put(struct doca_cc_producer_send_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct tcc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_done++;
	doca_task_free(doca_cc_producer_send_task_as_task(task));
}

static void
on_put_error(struct doca_cc_producer_send_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct tcc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_errors++;
	doca_task_free(doca_cc_producer_send_task_as_task(task));
}

static void
on_got(struct doca_cc_consumer_post_recv_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct tcc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_done++;
	doca_task_free(doca_cc_consumer_post_recv_task_as_task(task));
}

static void
on_got_error(struct doca_cc_consumer_post_recv_task *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct tcc_queue *q = ctx_data.ptr;

	T_EQ(task_data.u64, 0);
	q->nb_errors++;
	doca_task_free(doca_cc_consumer_post_recv_task_as_task(task));
}

/* Configuration */

void
tcc_server_conf(struct tcc_side *s)
{
	TD_OK(doca_cc_server_send_task_set_conf(s->server, on_sent, on_send_error,
		TCC_NB_TASKS));
	TD_OK(doca_cc_server_event_msg_recv_register(s->server, on_msg));
	TD_OK(doca_cc_server_event_connection_register(s->server, on_connect, on_disconnect));
}

void
tcc_client_conf(struct tcc_side *s)
{
	TD_OK(doca_cc_client_send_task_set_conf(s->client, on_sent, on_send_error,
		TCC_NB_TASKS));
	TD_OK(doca_cc_client_event_msg_recv_register(s->client, on_msg));
}

void
tcc_producer_conf(struct tcc_queue *q)
{
	TD_OK(doca_cc_producer_send_task_set_conf(q->producer, on_put, on_put_error,
		LOG_NB_TASKS));
}

void
tcc_consumer_conf(struct tcc_queue *q)
{
	TD_OK(doca_cc_consumer_post_recv_task_set_conf(q->consumer, on_got, on_got_error,
		LOG_NB_TASKS));
}

/* Tasks */

static doca_error_t
alloc_send(struct tcc_side *s, const void *msg, size_t len, struct doca_cc_send_task **task)
{
	if (s->server != NULL)
		return doca_cc_server_send_task_alloc_init(s->server, s->conn, msg, len, task);
	return doca_cc_client_send_task_alloc_init(s->client, s->conn, msg, len, task);
}

void
tcc_send(struct tcc_side *s, const char *text)
{
	const union doca_data data = { .u64 = 5 };
	struct doca_cc_send_task *task;

	TD_OK(alloc_send(s, text, strlen(text) + 1, &task));
	doca_task_set_user_data(doca_cc_send_task_as_task(task), data);
	TD_OK(doca_task_submit(doca_cc_send_task_as_task(task)));
}

void
tcc_post(struct tcc_queue *q, struct doca_buf *buf)
{
	struct doca_cc_consumer_post_recv_task *task;

	TD_OK(doca_cc_consumer_post_recv_task_alloc_init(q->consumer, buf, &task));
	T_CHECK(doca_cc_consumer_post_recv_task_get_buf(task) == buf);
	TD_OK(doca_task_submit(doca_cc_consumer_post_recv_task_as_task(task)));
}

struct doca_task *
tcc_put_task(struct tcc_queue *q, struct doca_buf *buf, uint32_t id)
{
	struct doca_cc_producer_send_task *task;

	TD_OK(doca_cc_producer_send_task_alloc_init(q->producer, buf, id, &task));
	return doca_cc_producer_send_task_as_task(task);
}

/* Cases */

static void
null_arguments(void)
{
	struct doca_cc_consumer_post_recv_task *post;
	struct doca_cc_producer_send_task *put;
	struct doca_cc_send_task *task;

	TD_IS(doca_cc_cap_is_producer_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_cap_is_consumer_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_send_task_set_conf(NULL, on_sent, on_send_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_send_task_set_conf(NULL, on_sent, on_send_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_event_msg_recv_register(NULL, on_msg), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_event_msg_recv_register(NULL, on_msg), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_event_connection_register(NULL, on_connect, on_disconnect),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_send_task_alloc_init(NULL, NULL, "", 1, &task),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_send_task_alloc_init(NULL, NULL, "", 1, &task),
		DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_send_task_as_task(NULL) == NULL);
	TD_IS(doca_cc_producer_send_task_set_conf(NULL, on_put, on_put_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_producer_send_task_alloc_init(NULL, NULL, 1, &put),
		DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_producer_send_task_get_buf(NULL) == NULL);
	T_CHECK(doca_cc_producer_send_task_as_task(NULL) == NULL);
	TD_IS(doca_cc_consumer_post_recv_task_set_conf(NULL, on_got, on_got_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_consumer_post_recv_task_alloc_init(NULL, NULL, &post),
		DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_consumer_post_recv_task_get_buf(NULL) == NULL);
	T_CHECK(doca_cc_consumer_post_recv_task_as_task(NULL) == NULL);
}

static void
control_errors(void)
{
	struct doca_cc_send_task *tasks[TCC_NB_TASKS], *task;
	struct tcc_side s, c;
	uint32_t i;

	tcc_open(&s, &c);
	TD_IS(doca_cc_server_send_task_set_conf(s.server, on_sent, on_send_error, 1),
		DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_client_send_task_set_conf(c.client, on_sent, on_send_error, 1),
		DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_client_send_task_set_conf(c.client, NULL, on_send_error, 1),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_event_msg_recv_register(s.server, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_event_msg_recv_register(s.server, on_msg), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_client_event_msg_recv_register(c.client, on_msg), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_server_event_connection_register(s.server, on_connect, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_event_connection_register(s.server, on_connect, on_disconnect),
		DOCA_ERROR_BAD_STATE);
	for (i = 0; i < TCC_NB_TASKS; i++)
		TD_OK(alloc_send(&s, "x", 1, &tasks[i]));
	TD_IS(alloc_send(&s, "x", 1, &task), DOCA_ERROR_NO_MEMORY);
	TD_IS(alloc_send(&c, "x", 4081, &task), DOCA_ERROR_INVALID_VALUE);
	/* Not of 1 byte. */
	TD_IS(alloc_send(&c, "x", (1ULL << 32) + 1, &task), DOCA_ERROR_INVALID_VALUE);
	TD_IS(alloc_send(&c, "x", 1, NULL), DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < TCC_NB_TASKS; i++)
		doca_task_free(doca_cc_send_task_as_task(tasks[i]));
	tcc_close(&s, &c);
}

static void
data_errors(void)
{
	struct doca_cc_consumer_post_recv_task *post;
	struct doca_cc_producer_send_task *put;
	struct tcc_queue producer, consumer;
	struct doca_devinfo *info;
	struct tcc_side s, c;
	struct doca_buf *buf;
	struct td_mem mem;
	uint32_t log;

	tcc_open(&s, &c);
	info = doca_dev_as_devinfo(s.dev);
	TD_OK(doca_cc_cap_is_producer_supported(info));
	TD_OK(doca_cc_cap_is_consumer_supported(info));
	TD_OK(doca_cc_consumer_cap_get_max_log_num_tasks(info, &log));
	T_EQ(log, 16);
	TD_IS(doca_cc_consumer_cap_get_max_log_num_tasks(NULL, &log), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_consumer_cap_get_max_log_num_tasks(info, NULL), DOCA_ERROR_INVALID_VALUE);
	td_mem_create(&mem, s.dev, 64, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	buf = td_buf(&mem, 0, 64, true);
	tcc_producer_create(&producer, &s);
	tcc_consumer_create(&consumer, &s, mem.mmap);
	TD_IS(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1, &put),
		DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_consumer_post_recv_task_alloc_init(consumer.consumer, buf, &post),
		DOCA_ERROR_BAD_STATE);
	TD_OK(doca_ctx_start(producer.ctx));
	TD_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	TCC_UNTIL(s.pe, c.pe, td_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING);
	TD_IS(doca_cc_producer_send_task_set_conf(producer.producer, on_put, on_put_error, 1),
		DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_consumer_post_recv_task_set_conf(consumer.consumer, on_got,
		on_got_error, 1), DOCA_ERROR_BAD_STATE);
	/* There is no message without a buf. */
	TD_IS(doca_cc_producer_send_task_alloc_init(producer.producer, NULL, 1, &put),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1, &put));
	T_CHECK(doca_cc_producer_send_task_get_buf(put) == buf);
	doca_task_free(doca_cc_producer_send_task_as_task(put));
	tcc_queue_destroy(&producer, s.pe, c.pe);
	tcc_queue_destroy(&consumer, s.pe, c.pe);
	TD_OK(doca_buf_dec_refcount(buf, NULL));
	td_mem_destroy(&mem);
	tcc_close(&s, &c);
}

/* 2 to the power of the count, and no more. */
static void
counts(void)
{
	struct doca_cc_consumer_post_recv_task *posts[TCC_NB_TASKS], *post;
	struct doca_cc_producer_send_task *puts[TCC_NB_TASKS], *put;
	static const uint32_t too_much[] = { 17, 31, 32, 33, UINT32_MAX };
	struct tcc_queue producer, consumer;
	struct tcc_side s, c;
	struct doca_buf *buf;
	struct td_mem mem;
	uint32_t i;

	tcc_open(&s, &c);
	td_mem_create(&mem, s.dev, 64, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	buf = td_buf(&mem, 0, 64, true);
	tcc_producer_create(&producer, &s);
	tcc_consumer_create(&consumer, &s, mem.mmap);
	for (i = 0; i < RTE_DIM(too_much); i++) {
		TD_IS(doca_cc_producer_send_task_set_conf(producer.producer, on_put,
			on_put_error, too_much[i]), DOCA_ERROR_INVALID_VALUE);
		TD_IS(doca_cc_consumer_post_recv_task_set_conf(consumer.consumer, on_got,
			on_got_error, too_much[i]), DOCA_ERROR_INVALID_VALUE);
	}
	TD_OK(doca_cc_producer_send_task_set_conf(producer.producer, on_put, on_put_error, 16));
	TD_OK(doca_cc_consumer_post_recv_task_set_conf(consumer.consumer, on_got,
		on_got_error, 16));
	tcc_producer_conf(&producer);
	tcc_consumer_conf(&consumer);
	TD_OK(doca_ctx_start(producer.ctx));
	TD_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	TCC_UNTIL(s.pe, c.pe, td_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING);
	for (i = 0; i < TCC_NB_TASKS; i++) {
		TD_OK(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1,
			&puts[i]));
		TD_OK(doca_cc_consumer_post_recv_task_alloc_init(consumer.consumer, buf,
			&posts[i]));
	}
	TD_IS(doca_cc_producer_send_task_alloc_init(producer.producer, buf, 1, &put),
		DOCA_ERROR_NO_MEMORY);
	TD_IS(doca_cc_consumer_post_recv_task_alloc_init(consumer.consumer, buf, &post),
		DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < TCC_NB_TASKS; i++) {
		doca_task_free(doca_cc_producer_send_task_as_task(puts[i]));
		doca_task_free(doca_cc_consumer_post_recv_task_as_task(posts[i]));
	}
	tcc_queue_destroy(&producer, s.pe, c.pe);
	tcc_queue_destroy(&consumer, s.pe, c.pe);
	TD_OK(doca_buf_dec_refcount(buf, NULL));
	td_mem_destroy(&mem);
	tcc_close(&s, &c);
}

const struct t_case tcc_cases[] = {
	{ "tasks_null_arguments", null_arguments },
	{ "control_errors", control_errors },
	{ "data_errors", data_errors },
	{ "counts", counts },
};
const unsigned int tcc_nb_cases = RTE_DIM(tcc_cases);
