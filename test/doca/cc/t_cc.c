/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_cc: what DOCA 2.5 and 2.6 have in common. */

#include <stdlib.h>

#include "cc/program.h"

/* behaviour: A3 */
static_assert(DOCA_CC_COUNTER_SENT_MESSAGES == 1 && DOCA_CC_COUNTER_SENT_BYTES == 2 &&
	DOCA_CC_COUNTER_RECV_MESSAGES == 3 && DOCA_CC_COUNTER_RECV_BYTES == 4, "counters");

struct tcc_side *
tcc_side_of(const struct doca_cc_connection *conn)
{
	struct doca_cc_server *server = doca_cc_server_get_server_ctx(conn);
	struct doca_cc_client *client = doca_cc_client_get_client_ctx(conn);
	union doca_data data;

	T_CHECK((server == NULL) != (client == NULL));
	TD_OK(doca_ctx_get_user_data(server != NULL ? doca_cc_server_as_ctx(server) :
		doca_cc_client_as_ctx(client), &data));
	return data.ptr;
}

static void
on_new(struct doca_cc_event_consumer *event, struct doca_cc_connection *conn, uint32_t id)
{
	struct tcc_side *s = tcc_side_of(conn);

	T_CHECK(event != NULL);
	s->nb_new++;
	s->new_id = id;
}

static void
on_gone(struct doca_cc_event_consumer *event, struct doca_cc_connection *conn, uint32_t id)
{
	struct tcc_side *s = tcc_side_of(conn);

	T_CHECK(event != NULL);
	T_EQ(id, s->new_id);
	s->nb_gone++;
}

static struct doca_pe *
engine(struct doca_ctx *ctx, void *user_data)
{
	const union doca_data data = { .ptr = user_data };
	struct doca_pe *pe;

	TD_OK(doca_pe_create(&pe));
	TD_OK(doca_pe_connect_ctx(pe, ctx));
	TD_OK(doca_ctx_set_user_data(ctx, data));
	return pe;
}

void
tcc_server_create(struct tcc_side *s)
{
	memset(s, 0, sizeof(*s));
	s->dev = td_dev_open("dpu", "03:00.0");
	s->rep = td_rep_open(s->dev, "b1:00.0");
	TD_OK(doca_cc_server_create(s->dev, s->rep, "td", &s->server));
	s->ctx = doca_cc_server_as_ctx(s->server);
	s->pe = engine(s->ctx, s);
	tcc_server_conf(s);
	TD_OK(doca_cc_server_event_consumer_register(s->server, on_new, on_gone));
}

void
tcc_client_create(struct tcc_side *s)
{
	memset(s, 0, sizeof(*s));
	s->dev = td_dev_open("host", "b1:00.0");
	TD_OK(doca_cc_client_create(s->dev, "td", &s->client));
	s->ctx = doca_cc_client_as_ctx(s->client);
	s->pe = engine(s->ctx, s);
	tcc_client_conf(s);
	TD_OK(doca_cc_client_event_consumer_register(s->client, on_new, on_gone));
}

void
tcc_side_destroy(struct tcc_side *s)
{
	if (s->server != NULL)
		TD_OK(doca_cc_server_destroy(s->server));
	else
		TD_OK(doca_cc_client_destroy(s->client));
	TD_OK(doca_pe_destroy(s->pe));
	if (s->rep != NULL)
		TD_OK(doca_dev_rep_close(s->rep));
	TD_OK(doca_dev_close(s->dev));
}

/* A client that is started and its server's engine: until it is connected. */
static void
dial(struct tcc_side *client, struct doca_pe *server_pe)
{
	TD_IS(doca_ctx_start(client->ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_cc_client_get_connection(client->client, &client->conn), DOCA_ERROR_BAD_STATE);
	TCC_UNTIL(client->pe, server_pe, doca_cc_client_get_connection(client->client,
		&client->conn) == DOCA_SUCCESS);
	T_EQ(td_state(client->ctx), DOCA_CTX_STATE_RUNNING);
}

static void
hang_up(struct doca_ctx *client, struct doca_pe *client_pe, struct doca_ctx *server,
		struct doca_pe *server_pe)
{
	TD_IS(doca_ctx_stop(client), DOCA_ERROR_IN_PROGRESS);
	TCC_UNTIL(client_pe, server_pe, td_state(client) == DOCA_CTX_STATE_IDLE);
	doca_ctx_stop(server);
	TCC_UNTIL(client_pe, server_pe, td_state(server) == DOCA_CTX_STATE_IDLE);
}

void
tcc_open(struct tcc_side *server, struct tcc_side *client)
{
	tcc_server_create(server);
	tcc_client_create(client);
	TD_OK(doca_ctx_start(server->ctx));
	dial(client, server->pe);
	TCC_UNTIL(client->pe, server->pe, server->conn != NULL);
}

void
tcc_close(struct tcc_side *server, struct tcc_side *client)
{
	hang_up(client->ctx, client->pe, server->ctx, server->pe);
	tcc_side_destroy(client);
	tcc_side_destroy(server);
}

static void
queue_ready(struct tcc_queue *q, struct doca_ctx *ctx, struct doca_pe *pe)
{
	const union doca_data data = { .ptr = q };

	q->ctx = ctx;
	TD_OK(doca_pe_connect_ctx(pe, ctx));
	TD_OK(doca_ctx_set_user_data(ctx, data));
}

void
tcc_producer_create(struct tcc_queue *q, struct tcc_side *s)
{
	memset(q, 0, sizeof(*q));
	TD_OK(doca_cc_producer_create(s->conn, &q->producer));
	queue_ready(q, doca_cc_producer_as_ctx(q->producer), s->pe);
	tcc_producer_conf(q);
}

void
tcc_consumer_create(struct tcc_queue *q, struct tcc_side *s, struct doca_mmap *mmap)
{
	memset(q, 0, sizeof(*q));
	TD_OK(doca_cc_consumer_create(s->conn, mmap, &q->consumer));
	queue_ready(q, doca_cc_consumer_as_ctx(q->consumer), s->pe);
	tcc_consumer_conf(q);
}

void
tcc_queue_destroy(struct tcc_queue *q, struct doca_pe *pe1, struct doca_pe *pe2)
{
	if (td_state(q->ctx) != DOCA_CTX_STATE_IDLE)
		doca_ctx_stop(q->ctx);
	TCC_UNTIL(pe1, pe2, td_state(q->ctx) == DOCA_CTX_STATE_IDLE);
	if (q->producer != NULL)
		TD_OK(doca_cc_producer_destroy(q->producer));
	else
		TD_OK(doca_cc_consumer_destroy(q->consumer));
}

/* Cases */

static void
create(void)
{
	struct doca_dev *dpu = td_dev_open("dpu", "03:00.0");
	struct doca_dev_rep *rep = td_rep_open(dpu, "b1:00.0");
	struct doca_dev *host = td_dev_open("host", "b1:00.0");
	struct doca_cc_server *server;
	struct doca_cc_client *client;
	struct doca_dev_rep *got_rep;
	struct doca_dev *got_dev;

	TD_IS(doca_cc_server_create(NULL, rep, "x", &server), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_create(dpu, NULL, "x", &server), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_create(dpu, rep, NULL, &server), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_create(dpu, rep, "x", NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_create(host, rep, "x", &server), DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_cc_client_create(NULL, "x", &client), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_create(host, NULL, &client), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_create(host, "x", NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_create(dpu, "x", &client), DOCA_ERROR_NOT_SUPPORTED);
	TD_OK(doca_cc_server_create(dpu, rep, "x", &server));
	TD_OK(doca_cc_client_create(host, "x", &client));
	TD_OK(doca_cc_server_get_device(server, &got_dev));
	T_CHECK(got_dev == dpu);
	TD_IS(doca_cc_server_get_device(server, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_cc_client_get_device(client, &got_dev));
	T_CHECK(got_dev == host);
	TD_IS(doca_cc_client_get_device(client, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_cc_server_get_device_repr(server, &got_rep));
	T_CHECK(got_rep == rep);
	TD_IS(doca_cc_server_get_device_repr(server, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_ctx_start(doca_cc_client_as_ctx(client)), DOCA_ERROR_NOT_CONNECTED);
	TD_OK(doca_cc_server_destroy(server));
	TD_OK(doca_cc_client_destroy(client));
	TD_OK(doca_dev_rep_close(rep));
	TD_OK(doca_dev_close(dpu));
	TD_OK(doca_dev_close(host));
}

static void
null_arguments(void)
{
	const union doca_data data = { .u64 = 1 };
	struct doca_cc_connection *conn;
	struct doca_cc_producer *producer;
	struct doca_cc_consumer *consumer;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint64_t count;
	uint32_t n;

	TD_IS(doca_cc_server_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_get_device(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_get_device(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_get_device_repr(NULL, &rep), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_get_connection(NULL, &conn), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_connection_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	T_EQ(doca_cc_connection_get_user_data(NULL).u64, 0);
	T_CHECK(doca_cc_server_get_server_ctx(NULL) == NULL);
	T_CHECK(doca_cc_client_get_client_ctx(NULL) == NULL);
	TD_IS(doca_cc_connection_update_info(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_connection_get_counter(NULL, DOCA_CC_COUNTER_SENT_BYTES, &count),
		DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_server_as_ctx(NULL) == NULL);
	T_CHECK(doca_cc_client_as_ctx(NULL) == NULL);
	TD_IS(doca_cc_producer_create(NULL, &producer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_producer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_producer_get_id(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_producer_as_ctx(NULL) == NULL);
	TD_IS(doca_cc_consumer_create(NULL, NULL, &consumer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_consumer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_consumer_get_id(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_cc_consumer_as_ctx(NULL) == NULL);
}

static void
capabilities(void)
{
	typedef doca_error_t (*cap_fn)(const struct doca_devinfo *info, uint32_t *value);
	static const struct {
		cap_fn cc, comch;
	} caps[] = {
		{ doca_cc_cap_get_max_name_len, doca_comch_cap_get_max_name_len },
		{ doca_cc_cap_get_max_msg_size, doca_comch_cap_get_max_msg_size },
		{ doca_cc_cap_get_max_recv_queue_size, doca_comch_cap_get_max_recv_queue_size },
		{ doca_cc_cap_get_max_clients, doca_comch_cap_get_max_clients },
		{ doca_cc_cap_get_max_send_tasks, doca_comch_cap_get_max_send_tasks },
		{ doca_cc_producer_cap_get_max_num_tasks,
			doca_comch_producer_cap_get_max_num_tasks },
		{ doca_cc_producer_cap_get_max_buf_size,
			doca_comch_producer_cap_get_max_buf_size },
		{ doca_cc_producer_cap_get_max_producers,
			doca_comch_producer_cap_get_max_producers },
		{ doca_cc_consumer_cap_get_max_num_tasks,
			doca_comch_consumer_cap_get_max_num_tasks },
		{ doca_cc_consumer_cap_get_max_buf_size,
			doca_comch_consumer_cap_get_max_buf_size },
		{ doca_cc_consumer_cap_get_max_consumers,
			doca_comch_consumer_cap_get_max_consumers },
	};
	struct doca_dev *dpu = td_dev_open("dpu", "03:00.0");
	struct doca_dev *host = td_dev_open("host", "b1:00.0");
	uint32_t i, a, b;

	for (i = 0; i < RTE_DIM(caps); i++) {
		TD_OK(caps[i].cc(doca_dev_as_devinfo(dpu), &a));
		TD_OK(caps[i].comch(doca_dev_as_devinfo(dpu), &b));
		T_EQ(a, b);
		TD_IS(caps[i].cc(NULL, &a), DOCA_ERROR_INVALID_VALUE);
		TD_IS(caps[i].cc(doca_dev_as_devinfo(dpu), NULL), DOCA_ERROR_INVALID_VALUE);
	}
	TD_OK(doca_cc_cap_server_is_supported(doca_dev_as_devinfo(dpu)));
	TD_IS(doca_cc_cap_server_is_supported(doca_dev_as_devinfo(host)),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_cc_cap_server_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_cc_cap_client_is_supported(doca_dev_as_devinfo(host)));
	TD_IS(doca_cc_cap_client_is_supported(doca_dev_as_devinfo(dpu)),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_cc_cap_client_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_dev_close(dpu));
	TD_OK(doca_dev_close(host));
}

static void
settings(void)
{
	struct doca_cc_connection *conn;
	struct tcc_side s, c;
	uint32_t n;

	tcc_server_create(&s);
	tcc_client_create(&c);
	TD_OK(doca_cc_server_set_max_msg_size(s.server, 1000));
	TD_OK(doca_cc_server_get_max_msg_size(s.server, &n));
	T_EQ(n, 1000);
	TD_IS(doca_cc_server_set_max_msg_size(s.server, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_get_max_msg_size(s.server, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_cc_client_set_max_msg_size(c.client, 1000));
	TD_OK(doca_cc_client_get_max_msg_size(c.client, &n));
	T_EQ(n, 1000);
	TD_IS(doca_cc_client_set_max_msg_size(c.client, 4081), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_get_max_msg_size(c.client, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_cc_server_set_recv_queue_size(s.server, 10));
	TD_OK(doca_cc_server_get_recv_queue_size(s.server, &n));
	T_EQ(n, 10);
	TD_IS(doca_cc_server_set_recv_queue_size(s.server, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_get_recv_queue_size(s.server, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_cc_client_set_recv_queue_size(c.client, 11));
	TD_OK(doca_cc_client_get_recv_queue_size(c.client, &n));
	T_EQ(n, 11);
	TD_IS(doca_cc_client_set_recv_queue_size(c.client, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_get_recv_queue_size(c.client, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_server_event_consumer_register(s.server, NULL, on_gone),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_event_consumer_register(c.client, on_new, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_client_get_connection(c.client, &conn), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_client_get_connection(c.client, NULL), DOCA_ERROR_INVALID_VALUE);

	TD_OK(doca_ctx_start(s.ctx));
	TD_IS(doca_cc_server_set_max_msg_size(s.server, 1000), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_server_set_recv_queue_size(s.server, 10), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_server_event_consumer_register(s.server, on_new, on_gone),
		DOCA_ERROR_BAD_STATE);
	TD_IS(doca_cc_server_destroy(s.server), DOCA_ERROR_IN_USE);
	TD_OK(doca_ctx_stop(s.ctx));
	tcc_side_destroy(&s);
	tcc_side_destroy(&c);
}

/* One message each way, whatever the other side is. */
static void
connections(void)
{
	static const char question[] = "from the client", answer[] = "from the server";
	struct tcc_side s, c;
	union doca_data data = { .u64 = 77 };
	uint64_t count;

	tcc_open(&s, &c);
	T_EQ(s.nb_connects, 1);
	T_CHECK(doca_cc_server_get_server_ctx(s.conn) == s.server);
	T_CHECK(doca_cc_client_get_client_ctx(s.conn) == NULL);
	T_CHECK(doca_cc_client_get_client_ctx(c.conn) == c.client);
	T_CHECK(doca_cc_server_get_server_ctx(c.conn) == NULL);
	T_EQ(doca_cc_connection_get_user_data(s.conn).u64, 0);
	TD_OK(doca_cc_connection_set_user_data(s.conn, data));
	T_EQ(doca_cc_connection_get_user_data(s.conn).u64, 77);

	tcc_send(&c, question);
	TCC_UNTIL(s.pe, c.pe, s.nb_msgs == 1 && c.nb_sent == 1);
	T_EQ(s.msg_len, sizeof(question));
	T_STR_EQ(s.msg, question);
	tcc_send(&s, answer);
	TCC_UNTIL(s.pe, c.pe, c.nb_msgs == 1 && s.nb_sent == 1);
	T_STR_EQ(c.msg, answer);

	/* behaviour: A3 */
	TD_OK(doca_cc_connection_update_info(s.conn));
	TD_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_SENT_MESSAGES, &count));
	T_EQ(count, 1);
	TD_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_SENT_BYTES, &count));
	T_EQ(count, sizeof(answer));
	TD_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_RECV_MESSAGES, &count));
	T_EQ(count, 1);
	TD_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_RECV_BYTES, &count));
	T_EQ(count, sizeof(question));
	TD_IS(doca_cc_connection_get_counter(s.conn, (enum doca_cc_counter)0, &count),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_connection_get_counter(s.conn, (enum doca_cc_counter)5, &count),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_SENT_BYTES, NULL),
		DOCA_ERROR_INVALID_VALUE);

	TD_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	TCC_UNTIL(s.pe, c.pe, s.nb_disconnects == 1 &&
		td_state(c.ctx) == DOCA_CTX_STATE_IDLE);
	TD_IS(doca_cc_connection_update_info(c.conn), DOCA_ERROR_CONNECTION_ABORTED);
	T_EQ(s.nb_send_errors + c.nb_send_errors, 0);
	TD_OK(doca_ctx_stop(s.ctx));
	tcc_side_destroy(&c);
	tcc_side_destroy(&s);
}

#define LEN 4096

/* From a producer of one side to a consumer of the other. */
static void
transfer(struct tcc_side *from, struct tcc_side *to)
{
	struct tcc_queue producer, consumer;
	struct td_mem src, dst;
	struct doca_buf *in, *out;
	struct doca_task *task;
	doca_error_t ret;
	uint32_t id;
	size_t len;

	td_mem_create(&src, from->dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	td_mem_create(&dst, to->dev, LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memset(src.addr, 0x5a, LEN);
	tcc_producer_create(&producer, from);
	tcc_consumer_create(&consumer, to, dst.mmap);
	TD_IS(doca_cc_producer_get_id(producer.producer, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_cc_consumer_get_id(consumer.consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_ctx_start(producer.ctx));
	TD_OK(doca_cc_producer_get_id(producer.producer, &id));
	TD_IS(doca_cc_producer_destroy(producer.producer), DOCA_ERROR_IN_USE);
	TD_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	TCC_UNTIL(from->pe, to->pe, from->nb_new > 0 &&
		td_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING);
	TD_IS(doca_cc_consumer_destroy(consumer.consumer), DOCA_ERROR_IN_USE);
	TD_OK(doca_cc_consumer_get_id(consumer.consumer, &id));
	T_EQ(from->new_id, id);

	in = td_buf(&dst, 0, LEN, false);
	out = td_buf(&src, 0, LEN, true);
	tcc_post(&consumer, in);
	task = tcc_put_task(&producer, out, id);
	TCC_UNTIL(from->pe, to->pe, (ret = doca_task_submit(task)) != DOCA_ERROR_AGAIN);
	TD_OK(ret);
	TCC_UNTIL(from->pe, to->pe, producer.nb_done == 1 && consumer.nb_done == 1);
	TD_OK(doca_buf_get_data_len(in, &len));
	T_EQ(len, LEN);
	T_CHECK(memcmp(src.addr, dst.addr, LEN) == 0);

	/* One that nobody writes to comes back. */
	TD_OK(doca_buf_reset_data_len(in));
	tcc_post(&consumer, in);
	tcc_queue_destroy(&consumer, from->pe, to->pe);
	T_EQ(consumer.nb_errors, 1);
	TCC_UNTIL(from->pe, to->pe, from->nb_gone == from->nb_new);
	tcc_queue_destroy(&producer, from->pe, to->pe);
	TD_OK(doca_buf_dec_refcount(in, NULL));
	TD_OK(doca_buf_dec_refcount(out, NULL));
	td_mem_destroy(&src);
	td_mem_destroy(&dst);
}

static void
data(void)
{
	struct tcc_side s, c;

	tcc_open(&s, &c);
	transfer(&s, &c);
	transfer(&c, &s);
	tcc_close(&s, &c);
}

/* Receives that are posted before the consumer runs, and while it stops. behaviour: C14, P14 */
static void
early_and_late(void)
{
	struct tcc_queue consumer, producer;
	struct doca_buf *in, *out;
	struct td_mem src, dst;
	struct tcc_side s, c;
	struct doca_task *task;

	tcc_open(&s, &c);
	td_mem_create(&src, c.dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	td_mem_create(&dst, s.dev, LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memset(src.addr, 0x5a, LEN);
	in = td_buf(&dst, 0, LEN, false);
	out = td_buf(&src, 0, LEN, true);
	tcc_consumer_create(&consumer, &s, dst.mmap);
	TD_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	tcc_post(&consumer, in);
	TCC_UNTIL(s.pe, c.pe, c.nb_new == 1);
	tcc_producer_create(&producer, &c);
	TD_OK(doca_ctx_start(producer.ctx));
	task = tcc_put_task(&producer, out, c.new_id);
	TCC_UNTIL(s.pe, c.pe, doca_task_submit(task) == DOCA_SUCCESS);
	TCC_UNTIL(s.pe, c.pe, producer.nb_done == 1 && consumer.nb_done == 1);
	T_CHECK(memcmp(src.addr, dst.addr, LEN) == 0);
	/* A task of the program's holds it. */
	task = tcc_put_task(&producer, out, c.new_id);
	TD_IS(doca_ctx_stop(producer.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_OK(doca_task_submit(task));
	TD_OK(doca_task_submit(tcc_put_task(&producer, out, c.new_id)));
	TCC_UNTIL(s.pe, c.pe, td_state(producer.ctx) == DOCA_CTX_STATE_IDLE);
	T_EQ(producer.nb_done, 1);
	T_EQ(producer.nb_errors, 2);
	tcc_queue_destroy(&producer, s.pe, c.pe);
	tcc_queue_destroy(&consumer, s.pe, c.pe);
	TD_OK(doca_buf_dec_refcount(in, NULL));
	TD_OK(doca_buf_dec_refcount(out, NULL));
	td_mem_destroy(&src);
	td_mem_destroy(&dst);
	tcc_close(&s, &c);
}

/* A server of doca_cc, a client of doca_comch. behaviour: A1 */
static void
comch_client(void)
{
	struct td_queue producer;
	struct tcc_queue consumer;
	struct doca_buf *in, *out;
	struct td_mem src, dst;
	struct tcc_side s;
	struct td_node c;
	struct td both;

	tcc_server_create(&s);
	TD_OK(doca_ctx_start(s.ctx));
	td_client_create(&c, "td");
	TD_IS(doca_ctx_start(c.ctx), DOCA_ERROR_IN_PROGRESS);
	TCC_UNTIL(s.pe, c.pe, s.conn != NULL && td_state(c.ctx) == DOCA_CTX_STATE_RUNNING);
	td_send(&c, "comch", 6);
	tcc_send(&s, "cc");
	TCC_UNTIL(s.pe, c.pe, s.nb_msgs == 1 && c.nb_msgs == 1 && s.nb_sent == 1 &&
		c.nb_sent == 1);
	T_STR_EQ(s.msg, "comch");
	T_STR_EQ((char *)c.msg, "cc");

	td_mem_create(&src, c.dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	td_mem_create(&dst, s.dev, LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memset(src.addr, 0xa5, LEN);
	tcc_consumer_create(&consumer, &s, dst.mmap);
	TD_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	TCC_UNTIL(s.pe, c.pe, c.nb_new == 1 &&
		td_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING);
	in = td_buf(&dst, 0, LEN, false);
	out = td_buf(&src, 0, LEN, true);
	tcc_post(&consumer, in);
	td_producer_create(&producer, c.conn, c.pe, 1);
	TD_OK(doca_ctx_start(producer.ctx));
	both.server.pe = s.pe;
	both.client.pe = c.pe;
	td_put(&both, &producer, out, c.new_id);
	TCC_UNTIL(s.pe, c.pe, producer.nb_done == 1 && consumer.nb_done == 1);
	T_CHECK(memcmp(src.addr, dst.addr, LEN) == 0);
	td_queue_destroy(&both, &producer);
	tcc_queue_destroy(&consumer, s.pe, c.pe);
	TD_OK(doca_buf_dec_refcount(in, NULL));
	TD_OK(doca_buf_dec_refcount(out, NULL));
	td_mem_destroy(&src);
	td_mem_destroy(&dst);

	hang_up(c.ctx, c.pe, s.ctx, s.pe);
	T_EQ(s.nb_disconnects, 1);
	td_node_destroy(&c);
	tcc_side_destroy(&s);
}

/* And the other way round. behaviour: A1 */
static void
comch_server(void)
{
	struct td_node s;
	struct tcc_side c;

	td_server_create(&s, "td");
	TD_OK(doca_ctx_start(s.ctx));
	tcc_client_create(&c);
	dial(&c, s.pe);
	TCC_UNTIL(s.pe, c.pe, s.nb_connects == 1);
	td_send(&s, "comch", 6);
	tcc_send(&c, "cc");
	TCC_UNTIL(s.pe, c.pe, s.nb_msgs == 1 && c.nb_msgs == 1 && s.nb_sent == 1 &&
		c.nb_sent == 1);
	T_STR_EQ(c.msg, "comch");
	T_STR_EQ((char *)s.msg, "cc");
	hang_up(c.ctx, c.pe, s.ctx, s.pe);
	T_EQ(s.nb_disconnects, 1);
	tcc_side_destroy(&c);
	td_node_destroy(&s);
}

static const struct t_case common_cases[] = {
	{ "create", create },
	{ "null_arguments", null_arguments },
	{ "capabilities", capabilities },
	{ "settings", settings },
	{ "connections", connections },
	{ "data", data },
	{ "early_and_late", early_and_late },
	{ "comch_client", comch_client },
	{ "comch_server", comch_server },
};

int
main(int argc, char **argv)
{
	struct t_case cases[RTE_DIM(common_cases) + 8];

	T_LE(tcc_nb_cases, 8);
	memcpy(cases, common_cases, sizeof(common_cases));
	memcpy(cases + RTE_DIM(common_cases), tcc_cases, tcc_nb_cases * sizeof(cases[0]));
	return t_main(cases, RTE_DIM(common_cases) + tcc_nb_cases, argc, argv);
}
