/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_cc: what DOCA 2.5 and 2.6 have in common. */

#include <stdlib.h>

#include "cc/program.h"

/* behaviour: A3 */
static_assert(DOCA_CC_COUNTER_SENT_MESSAGES == 1 && DOCA_CC_COUNTER_SENT_BYTES == 2 &&
	DOCA_CC_COUNTER_RECV_MESSAGES == 3 && DOCA_CC_COUNTER_RECV_BYTES == 4, "counters");

struct cc_side *
cc_side_of(const struct doca_cc_connection *conn)
{
	struct doca_cc_server *server = doca_cc_server_get_server_ctx(conn);
	struct doca_cc_client *client = doca_cc_client_get_client_ctx(conn);
	union doca_data data;

	T_CHECK((server == NULL) != (client == NULL));
	T_OK(doca_ctx_get_user_data(server != NULL ? doca_cc_server_as_ctx(server) :
		doca_cc_client_as_ctx(client), &data));
	return data.ptr;
}

static void
on_new(struct doca_cc_event_consumer *event, struct doca_cc_connection *conn, uint32_t id)
{
	struct cc_side *s = cc_side_of(conn);

	T_CHECK(event != NULL);
	s->nb_new++;
	s->new_id = id;
}

static void
on_gone(struct doca_cc_event_consumer *event, struct doca_cc_connection *conn, uint32_t id)
{
	struct cc_side *s = cc_side_of(conn);

	T_CHECK(event != NULL);
	T_EQ(id, s->new_id);
	s->nb_gone++;
}

static struct doca_pe *
engine(struct doca_ctx *ctx, void *user_data)
{
	const union doca_data data = { .ptr = user_data };
	struct doca_pe *pe;

	T_OK(doca_pe_create(&pe));
	T_OK(doca_pe_connect_ctx(pe, ctx));
	T_OK(doca_ctx_set_user_data(ctx, data));
	return pe;
}

void
cc_server_create(struct cc_side *s)
{
	memset(s, 0, sizeof(*s));
	s->dev = dev_open("dpu", "03:00.0");
	s->rep = rep_open(s->dev, "b1:00.0");
	T_OK(doca_cc_server_create(s->dev, s->rep, PAIR_NAME, &s->server));
	s->ctx = doca_cc_server_as_ctx(s->server);
	s->pe = engine(s->ctx, s);
	cc_server_conf(s);
	T_OK(doca_cc_server_event_consumer_register(s->server, on_new, on_gone));
}

void
cc_client_create(struct cc_side *s)
{
	memset(s, 0, sizeof(*s));
	s->dev = dev_open("host", "b1:00.0");
	T_OK(doca_cc_client_create(s->dev, PAIR_NAME, &s->client));
	s->ctx = doca_cc_client_as_ctx(s->client);
	s->pe = engine(s->ctx, s);
	cc_client_conf(s);
	T_OK(doca_cc_client_event_consumer_register(s->client, on_new, on_gone));
}

void
cc_side_destroy(struct cc_side *s)
{
	if (s->server != NULL)
		T_OK(doca_cc_server_destroy(s->server));
	else
		T_OK(doca_cc_client_destroy(s->client));
	T_OK(doca_pe_destroy(s->pe));
	if (s->rep != NULL)
		T_OK(doca_dev_rep_close(s->rep));
	T_OK(doca_dev_close(s->dev));
}

/* A client that is started and its server's engine: until it is connected. */
static void
dial(struct cc_side *client, struct doca_pe *server_pe)
{
	T_IS(doca_ctx_start(client->ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_cc_client_get_connection(client->client, &client->conn), DOCA_ERROR_BAD_STATE);
	T_WAIT(cc_progress(client->pe, server_pe), doca_cc_client_get_connection(client->client,
		&client->conn) == DOCA_SUCCESS);
	T_EQ(ctx_state(client->ctx), DOCA_CTX_STATE_RUNNING);
}

static void
hang_up(struct doca_ctx *client, struct doca_pe *client_pe, struct doca_ctx *server,
		struct doca_pe *server_pe)
{
	T_IS(doca_ctx_stop(client), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(client_pe, server_pe), ctx_is_idle(client));
	doca_ctx_stop(server);
	T_WAIT(cc_progress(client_pe, server_pe), ctx_is_idle(server));
}

void
cc_open(struct cc_side *server, struct cc_side *client)
{
	cc_server_create(server);
	cc_client_create(client);
	T_OK(doca_ctx_start(server->ctx));
	dial(client, server->pe);
	T_WAIT(cc_progress(client->pe, server->pe), server->conn != NULL);
}

void
cc_close(struct cc_side *server, struct cc_side *client)
{
	hang_up(client->ctx, client->pe, server->ctx, server->pe);
	cc_side_destroy(client);
	cc_side_destroy(server);
}

static void
queue_ready(struct cc_queue *q, struct doca_ctx *ctx, struct doca_pe *pe)
{
	const union doca_data data = { .ptr = q };

	q->ctx = ctx;
	T_OK(doca_pe_connect_ctx(pe, ctx));
	T_OK(doca_ctx_set_user_data(ctx, data));
}

void
cc_producer_create(struct cc_queue *q, struct cc_side *s)
{
	memset(q, 0, sizeof(*q));
	T_OK(doca_cc_producer_create(s->conn, &q->producer));
	queue_ready(q, doca_cc_producer_as_ctx(q->producer), s->pe);
	cc_producer_conf(q);
}

void
cc_consumer_create(struct cc_queue *q, struct cc_side *s, struct doca_mmap *mmap)
{
	memset(q, 0, sizeof(*q));
	T_OK(doca_cc_consumer_create(s->conn, mmap, &q->consumer));
	queue_ready(q, doca_cc_consumer_as_ctx(q->consumer), s->pe);
	cc_consumer_conf(q);
}

void
cc_queue_destroy(struct cc_queue *q, struct doca_pe *pe1, struct doca_pe *pe2)
{
	if (!ctx_is_idle(q->ctx))
		doca_ctx_stop(q->ctx);
	T_WAIT(cc_progress(pe1, pe2), ctx_is_idle(q->ctx));
	if (q->producer != NULL)
		T_OK(doca_cc_producer_destroy(q->producer));
	else
		T_OK(doca_cc_consumer_destroy(q->consumer));
}

/* Cases */

T_CASE(create)
{
	struct doca_dev *dpu = dev_open("dpu", "03:00.0");
	struct doca_dev_rep *rep = rep_open(dpu, "b1:00.0");
	struct doca_dev *host = dev_open("host", "b1:00.0");
	struct doca_cc_server *server;
	struct doca_cc_client *client;
	struct doca_dev_rep *got_rep;
	struct doca_dev *got_dev;

	T_INVALID(doca_cc_server_create(NULL, rep, "x", &server));
	T_INVALID(doca_cc_server_create(dpu, NULL, "x", &server));
	T_INVALID(doca_cc_server_create(dpu, rep, NULL, &server));
	T_INVALID(doca_cc_server_create(dpu, rep, "x", NULL));
	T_IS(doca_cc_server_create(host, rep, "x", &server), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULLS(doca_cc_client_create, host, "x", &client);
	T_IS(doca_cc_client_create(dpu, "x", &client), DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_cc_server_create(dpu, rep, "x", &server));
	T_OK(doca_cc_client_create(host, "x", &client));
	T_GETS(doca_cc_server_get_device(server, &got_dev), got_dev, dpu);
	T_INVALID(doca_cc_server_get_device(server, NULL));
	T_GETS(doca_cc_client_get_device(client, &got_dev), got_dev, host);
	T_INVALID(doca_cc_client_get_device(client, NULL));
	T_GETS(doca_cc_server_get_device_repr(server, &got_rep), got_rep, rep);
	T_INVALID(doca_cc_server_get_device_repr(server, NULL));
	T_IS(doca_ctx_start(doca_cc_client_as_ctx(client)), DOCA_ERROR_NOT_CONNECTED);
	T_OK(doca_cc_server_destroy(server));
	T_OK(doca_cc_client_destroy(client));
	T_OK(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

T_CASE(null_arguments)
{
	const union doca_data data = { .u64 = 1 };
	struct doca_cc_connection *conn;
	struct doca_cc_producer *producer;
	struct doca_cc_consumer *consumer;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint64_t count;
	uint32_t n;

	T_INVALID(doca_cc_server_destroy(NULL));
	T_INVALID(doca_cc_client_destroy(NULL));
	T_INVALID(doca_cc_server_get_device(NULL, &dev));
	T_INVALID(doca_cc_client_get_device(NULL, &dev));
	T_INVALID(doca_cc_server_get_device_repr(NULL, &rep));
	T_INVALID(doca_cc_client_get_connection(NULL, &conn));
	T_INVALID(doca_cc_connection_set_user_data(NULL, data));
	T_EQ(doca_cc_connection_get_user_data(NULL).u64, 0);
	T_CHECK(doca_cc_server_get_server_ctx(NULL) == NULL);
	T_CHECK(doca_cc_client_get_client_ctx(NULL) == NULL);
	T_INVALID(doca_cc_connection_update_info(NULL));
	T_INVALID(doca_cc_connection_get_counter(NULL, DOCA_CC_COUNTER_SENT_BYTES, &count));
	T_CHECK(doca_cc_server_as_ctx(NULL) == NULL);
	T_CHECK(doca_cc_client_as_ctx(NULL) == NULL);
	T_INVALID(doca_cc_producer_create(NULL, &producer));
	T_INVALID(doca_cc_producer_destroy(NULL));
	T_INVALID(doca_cc_producer_get_id(NULL, &n));
	T_CHECK(doca_cc_producer_as_ctx(NULL) == NULL);
	T_INVALID(doca_cc_consumer_create(NULL, NULL, &consumer));
	T_INVALID(doca_cc_consumer_destroy(NULL));
	T_INVALID(doca_cc_consumer_get_id(NULL, &n));
	T_CHECK(doca_cc_consumer_as_ctx(NULL) == NULL);
}

T_CASE(capabilities)
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
	struct doca_dev *dpu = dev_open("dpu", "03:00.0");
	struct doca_dev *host = dev_open("host", "b1:00.0");
	uint32_t i, a, b;

	for (i = 0; i < RTE_DIM(caps); i++) {
		T_OK(caps[i].cc(doca_dev_as_devinfo(dpu), &a));
		T_OK(caps[i].comch(doca_dev_as_devinfo(dpu), &b));
		T_EQ(a, b);
		T_INVALID(caps[i].cc(NULL, &a));
		T_INVALID(caps[i].cc(doca_dev_as_devinfo(dpu), NULL));
	}
	T_OK(doca_cc_cap_server_is_supported(doca_dev_as_devinfo(dpu)));
	T_IS(doca_cc_cap_server_is_supported(doca_dev_as_devinfo(host)), DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_cc_cap_server_is_supported(NULL));
	T_OK(doca_cc_cap_client_is_supported(doca_dev_as_devinfo(host)));
	T_IS(doca_cc_cap_client_is_supported(doca_dev_as_devinfo(dpu)), DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_cc_cap_client_is_supported(NULL));
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

T_CASE(settings)
{
	struct doca_cc_connection *conn;
	struct cc_side s, c;
	uint32_t n;

	cc_server_create(&s);
	cc_client_create(&c);
	T_OK(doca_cc_server_set_max_msg_size(s.server, 1000));
	T_GETS(doca_cc_server_get_max_msg_size(s.server, &n), n, 1000);
	T_INVALID(doca_cc_server_set_max_msg_size(s.server, 0));
	T_INVALID(doca_cc_server_get_max_msg_size(s.server, NULL));
	T_OK(doca_cc_client_set_max_msg_size(c.client, 1000));
	T_GETS(doca_cc_client_get_max_msg_size(c.client, &n), n, 1000);
	T_INVALID(doca_cc_client_set_max_msg_size(c.client, 4081));
	T_INVALID(doca_cc_client_get_max_msg_size(c.client, NULL));
	T_OK(doca_cc_server_set_recv_queue_size(s.server, 10));
	T_GETS(doca_cc_server_get_recv_queue_size(s.server, &n), n, 10);
	T_INVALID(doca_cc_server_set_recv_queue_size(s.server, 0));
	T_INVALID(doca_cc_server_get_recv_queue_size(s.server, NULL));
	T_OK(doca_cc_client_set_recv_queue_size(c.client, 11));
	T_GETS(doca_cc_client_get_recv_queue_size(c.client, &n), n, 11);
	T_INVALID(doca_cc_client_set_recv_queue_size(c.client, 0));
	T_INVALID(doca_cc_client_get_recv_queue_size(c.client, NULL));
	T_INVALID(doca_cc_server_event_consumer_register(s.server, NULL, on_gone));
	T_INVALID(doca_cc_client_event_consumer_register(c.client, on_new, NULL));
	T_IS(doca_cc_client_get_connection(c.client, &conn), DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_cc_client_get_connection(c.client, NULL));

	T_OK(doca_ctx_start(s.ctx));
	T_IS(doca_cc_server_set_max_msg_size(s.server, 1000), DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_server_set_recv_queue_size(s.server, 10), DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_server_event_consumer_register(s.server, on_new, on_gone),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_cc_server_destroy(s.server), DOCA_ERROR_IN_USE);
	T_OK(doca_ctx_stop(s.ctx));
	cc_side_destroy(&s);
	cc_side_destroy(&c);
}

/* One message each way, whatever the other side is. */
T_CASE(connections)
{
	static const char question[] = "from the client", answer[] = "from the server";
	struct cc_side s, c;
	union doca_data data = { .u64 = 77 };
	uint64_t count;

	cc_open(&s, &c);
	T_EQ(s.nb_connects, 1);
	T_CHECK(doca_cc_server_get_server_ctx(s.conn) == s.server);
	T_CHECK(doca_cc_client_get_client_ctx(s.conn) == NULL);
	T_CHECK(doca_cc_client_get_client_ctx(c.conn) == c.client);
	T_CHECK(doca_cc_server_get_server_ctx(c.conn) == NULL);
	T_EQ(doca_cc_connection_get_user_data(s.conn).u64, 0);
	T_OK(doca_cc_connection_set_user_data(s.conn, data));
	T_EQ(doca_cc_connection_get_user_data(s.conn).u64, 77);

	cc_send(&c, question);
	T_WAIT(cc_progress(s.pe, c.pe), s.nb_msgs == 1 && c.nb_sent == 1);
	T_EQ(s.msg_len, sizeof(question));
	T_STR_EQ(s.msg, question);
	cc_send(&s, answer);
	T_WAIT(cc_progress(s.pe, c.pe), c.nb_msgs == 1 && s.nb_sent == 1);
	T_STR_EQ(c.msg, answer);

	/* behaviour: A3 */
	T_OK(doca_cc_connection_update_info(s.conn));
	T_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_SENT_MESSAGES, &count));
	T_EQ(count, 1);
	T_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_SENT_BYTES, &count));
	T_EQ(count, sizeof(answer));
	T_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_RECV_MESSAGES, &count));
	T_EQ(count, 1);
	T_OK(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_RECV_BYTES, &count));
	T_EQ(count, sizeof(question));
	T_INVALID(doca_cc_connection_get_counter(s.conn, (enum doca_cc_counter)0, &count));
	T_INVALID(doca_cc_connection_get_counter(s.conn, (enum doca_cc_counter)5, &count));
	T_INVALID(doca_cc_connection_get_counter(s.conn, DOCA_CC_COUNTER_SENT_BYTES, NULL));

	T_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(s.pe, c.pe), s.nb_disconnects == 1 && ctx_is_idle(c.ctx));
	T_IS(doca_cc_connection_update_info(c.conn), DOCA_ERROR_CONNECTION_ABORTED);
	T_EQ(s.nb_send_errors + c.nb_send_errors, 0);
	T_OK(doca_ctx_stop(s.ctx));
	cc_side_destroy(&c);
	cc_side_destroy(&s);
}

#define LEN 4096

/* From a producer of one side to a consumer of the other. */
static void
transfer(struct cc_side *from, struct cc_side *to)
{
	struct cc_queue producer, consumer;
	struct memory src, dst;
	struct doca_buf *in, *out;
	struct doca_task *task;
	doca_error_t ret;
	uint32_t id;
	size_t len;

	memory_create(&src, from->dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	memory_create(&dst, to->dev, LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memset(src.addr, 0x5a, LEN);
	cc_producer_create(&producer, from);
	cc_consumer_create(&consumer, to, dst.mmap);
	T_INVALID(doca_cc_producer_get_id(producer.producer, NULL));
	T_INVALID(doca_cc_consumer_get_id(consumer.consumer, NULL));
	T_OK(doca_ctx_start(producer.ctx));
	T_OK(doca_cc_producer_get_id(producer.producer, &id));
	T_IS(doca_cc_producer_destroy(producer.producer), DOCA_ERROR_IN_USE);
	T_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(from->pe, to->pe), from->nb_new > 0 && ctx_is_running(consumer.ctx));
	T_IS(doca_cc_consumer_destroy(consumer.consumer), DOCA_ERROR_IN_USE);
	T_OK(doca_cc_consumer_get_id(consumer.consumer, &id));
	T_EQ(from->new_id, id);

	in = memory_buf(&dst, 0, LEN, false);
	out = memory_buf(&src, 0, LEN, true);
	cc_post(&consumer, in);
	task = cc_put_task(&producer, out, id);
	T_WAIT(cc_progress(from->pe, to->pe), (ret = doca_task_submit(task)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
	T_WAIT(cc_progress(from->pe, to->pe), producer.nb_done == 1 && consumer.nb_done == 1);
	T_GETS(doca_buf_get_data_len(in, &len), len, LEN);
	T_CHECK(memcmp(src.addr, dst.addr, LEN) == 0);

	/* A receive without a message is returned at stop. */
	T_OK(doca_buf_reset_data_len(in));
	cc_post(&consumer, in);
	cc_queue_destroy(&consumer, from->pe, to->pe);
	T_EQ(consumer.nb_errors, 1);
	T_WAIT(cc_progress(from->pe, to->pe), from->nb_gone == from->nb_new);
	cc_queue_destroy(&producer, from->pe, to->pe);
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(out, NULL));
	memory_destroy(&src);
	memory_destroy(&dst);
}

T_CASE(data)
{
	struct cc_side s, c;

	cc_open(&s, &c);
	transfer(&s, &c);
	transfer(&c, &s);
	cc_close(&s, &c);
}

/* Receives that are posted before the consumer runs, and while it stops. behaviour: C14, P14 */
T_CASE(early_and_late)
{
	struct cc_queue consumer, producer;
	struct doca_buf *in, *out;
	struct memory src, dst;
	struct cc_side s, c;
	struct doca_task *task;

	cc_open(&s, &c);
	memory_create(&src, c.dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	memory_create(&dst, s.dev, LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memset(src.addr, 0x5a, LEN);
	in = memory_buf(&dst, 0, LEN, false);
	out = memory_buf(&src, 0, LEN, true);
	cc_consumer_create(&consumer, &s, dst.mmap);
	T_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	cc_post(&consumer, in);
	T_WAIT(cc_progress(s.pe, c.pe), c.nb_new == 1);
	cc_producer_create(&producer, &c);
	T_OK(doca_ctx_start(producer.ctx));
	task = cc_put_task(&producer, out, c.new_id);
	T_WAIT(cc_progress(s.pe, c.pe), doca_task_submit(task) == DOCA_SUCCESS);
	T_WAIT(cc_progress(s.pe, c.pe), producer.nb_done == 1 && consumer.nb_done == 1);
	T_CHECK(memcmp(src.addr, dst.addr, LEN) == 0);
	/* A task of the program's holds it. */
	task = cc_put_task(&producer, out, c.new_id);
	T_IS(doca_ctx_stop(producer.ctx), DOCA_ERROR_IN_PROGRESS);
	T_OK(doca_task_submit(task));
	T_OK(doca_task_submit(cc_put_task(&producer, out, c.new_id)));
	T_WAIT(cc_progress(s.pe, c.pe), ctx_is_idle(producer.ctx));
	T_EQ(producer.nb_done, 1);
	T_EQ(producer.nb_errors, 2);
	cc_queue_destroy(&producer, s.pe, c.pe);
	cc_queue_destroy(&consumer, s.pe, c.pe);
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(out, NULL));
	memory_destroy(&src);
	memory_destroy(&dst);
	cc_close(&s, &c);
}

/* A server of doca_cc, a client of doca_comch. behaviour: A1 */
T_CASE(comch_client)
{
	struct queue producer;
	struct cc_queue consumer;
	struct doca_buf *in, *out;
	struct memory src, dst;
	struct cc_side s;
	struct side c;
	struct pair both;

	cc_server_create(&s);
	T_OK(doca_ctx_start(s.ctx));
	client_create(&c, PAIR_NAME);
	T_IS(doca_ctx_start(c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(s.pe, c.pe), s.conn != NULL && ctx_is_running(c.ctx));
	side_send(&c, "comch", 6);
	cc_send(&s, "cc");
	T_WAIT(cc_progress(s.pe, c.pe), s.nb_msgs == 1 && c.nb_msgs == 1 && s.nb_sent == 1 &&
		c.nb_sent == 1);
	T_STR_EQ(s.msg, "comch");
	T_STR_EQ((char *)c.msg, "cc");

	memory_create(&src, c.dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	memory_create(&dst, s.dev, LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memset(src.addr, 0xa5, LEN);
	cc_consumer_create(&consumer, &s, dst.mmap);
	T_IS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(cc_progress(s.pe, c.pe), c.nb_new == 1 && ctx_is_running(consumer.ctx));
	in = memory_buf(&dst, 0, LEN, false);
	out = memory_buf(&src, 0, LEN, true);
	cc_post(&consumer, in);
	producer_create(&producer, c.conn, c.pe, 1);
	T_OK(doca_ctx_start(producer.ctx));
	both.server.pe = s.pe;
	both.client.pe = c.pe;
	queue_put(&both, &producer, out, c.new_id);
	T_WAIT(cc_progress(s.pe, c.pe), producer.nb_done == 1 && consumer.nb_done == 1);
	T_CHECK(memcmp(src.addr, dst.addr, LEN) == 0);
	queue_destroy(&both, &producer);
	cc_queue_destroy(&consumer, s.pe, c.pe);
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(out, NULL));
	memory_destroy(&src);
	memory_destroy(&dst);

	hang_up(c.ctx, c.pe, s.ctx, s.pe);
	T_EQ(s.nb_disconnects, 1);
	side_destroy(&c);
	cc_side_destroy(&s);
}

/* And the other way round. behaviour: A1 */
T_CASE(comch_server)
{
	struct side s;
	struct cc_side c;

	server_create(&s, PAIR_NAME);
	T_OK(doca_ctx_start(s.ctx));
	cc_client_create(&c);
	dial(&c, s.pe);
	T_WAIT(cc_progress(s.pe, c.pe), s.nb_connects == 1);
	side_send(&s, "comch", 6);
	cc_send(&c, "cc");
	T_WAIT(cc_progress(s.pe, c.pe), s.nb_msgs == 1 && c.nb_msgs == 1 && s.nb_sent == 1 &&
		c.nb_sent == 1);
	T_STR_EQ(c.msg, "comch");
	T_STR_EQ((char *)s.msg, "cc");
	hang_up(c.ctx, c.pe, s.ctx, s.pe);
	T_EQ(s.nb_disconnects, 1);
	cc_side_destroy(&c);
	side_destroy(&s);
}
