/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Limits of the device table: what a card would refuse is refused here. */

#include "comch/queue.h"
#include "common/file.h"
#include "t_main.h"

#define NB 4
#define TABLE "[device dpu]\npci = 03:00.0\n" \
	"limit.max_msg_size = 512\nlimit.max_recv_queue_size = 32\nlimit.max_send_tasks = 1024\n" \
	"limit.max_clients = 1\nlimit.max_num_tasks = 4\nlimit.max_buf_size = 1000\n" \
	"limit.max_imm_data_len = 16\nlimit.max_consumers = 1\nlimit.max_producers = 1\n" \
	"[function pf0]\npci = b1:00.0\n"

static void
limited_open(struct flow *f)
{
	device_table_write(TABLE);
	flow_open(f, 4096, NB);
}

#define LIMITED_CASE(name, f) T_CASE_OF(struct flow, limited_open, flow_close, name, f)

LIMITED_CASE(capabilities_of_a_card, f)
{
	typedef doca_error_t (*cap_fn)(const struct doca_devinfo *info, uint32_t *value);
	static const struct {
		cap_fn fn;
		uint32_t value;
	} caps[] = {
		{ doca_comch_cap_get_max_name_len, 120 },
		{ doca_comch_cap_get_max_msg_size, 512 },
		{ doca_comch_cap_get_max_recv_queue_size, 32 },
		{ doca_comch_cap_get_max_clients, 1 },
		{ doca_comch_cap_get_max_send_tasks, 1024 },
		{ doca_comch_producer_cap_get_max_num_tasks, 4 },
		{ doca_comch_producer_cap_get_max_buf_size, 1000 },
		{ doca_comch_producer_cap_get_max_producers, 1 },
		{ doca_comch_consumer_cap_get_max_num_tasks, 4 },
		{ doca_comch_consumer_cap_get_max_buf_size, 1000 },
		{ doca_comch_consumer_cap_get_max_consumers, 1 },
		{ doca_comch_consumer_cap_get_max_imm_data_len, 16 },
	};
	struct doca_dev *devs[] = { f->t.server.dev, f->t.client.dev };
	uint32_t i, value;

	/* The function has those of its device. */
	for (i = 0; i < 2 * RTE_DIM(caps); i++) {
		T_OK(caps[i / 2].fn(doca_dev_as_devinfo(devs[i % 2]), &value));
		T_EQ(value, caps[i / 2].value);
	}
}

static void
nothing(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

LIMITED_CASE(sizes_and_queues, f)
{
	struct doca_comch_client *client;
	uint32_t size;

	T_OK(doca_comch_client_create(f->t.client.dev, "other", &client));
	T_OK(doca_comch_client_get_max_msg_size(client, &size));
	T_EQ(size, 512);
	T_OK(doca_comch_client_get_recv_queue_size(client, &size));
	T_EQ(size, 32);
	T_INVALID(doca_comch_client_set_max_msg_size(client, 513));
	T_OK(doca_comch_client_set_max_msg_size(client, 512));
	T_INVALID(doca_comch_client_set_recv_queue_size(client, 33));
	T_OK(doca_comch_client_set_recv_queue_size(client, 32));
	T_INVALID(doca_comch_client_task_send_set_conf(client, nothing, nothing, 1025));
	T_OK(doca_comch_client_task_send_set_conf(client, nothing, nothing, 1024));
	T_OK(doca_comch_client_destroy(client));
}

LIMITED_CASE(messages, f)
{
	static const uint8_t msg[513];
	struct doca_comch_task_send *task;

	T_INVALID(doca_comch_client_task_send_alloc_init(f->t.client.client, f->t.client.conn, msg,
		513, &task));
	side_send(&f->t.client, msg, 512);
	T_WAIT(pair_progress(&f->t), f->t.server.nb_msgs == 1);
}

static void
put(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

LIMITED_CASE(queues_of_a_connection, f)
{
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	uint32_t len;

	T_IS(doca_comch_producer_create(f->t.client.conn, &producer), DOCA_ERROR_NO_MEMORY);
	T_IS(doca_comch_consumer_create(f->t.server.conn, f->dst.mmap, &consumer),
		DOCA_ERROR_NO_MEMORY);
	/* The other end has its own. */
	T_OK(doca_comch_producer_create(f->t.server.conn, &producer));
	T_INVALID(doca_comch_producer_task_send_set_conf(producer, put, put, 5));
	T_OK(doca_comch_producer_task_send_set_conf(producer, put, put, 4));
	T_OK(doca_comch_producer_destroy(producer));
	T_OK(doca_comch_consumer_get_imm_data_len(f->c.consumer, &len));
	T_EQ(len, 16);
	T_INVALID(doca_comch_consumer_set_imm_data_len(f->c.consumer, 17));
}

/* Of what is longer than the card's buffers, nothing is sent. */
LIMITED_CASE(buffers, f)
{
	struct doca_buf *in = memory_buf(&f->dst, 0, 1001, false);
	struct doca_buf *fits = memory_buf(&f->src, 0, 1000, true);
	struct doca_buf *large = memory_buf(&f->src, 0, 1001, true);
	struct doca_comch_producer_task_send *task;
	size_t len;

	queue_post(&f->c, in);
	T_INVALID(doca_comch_producer_task_send_alloc_init(f->p.producer, large, NULL, 0, f->id,
		&task));
	queue_put(&f->t, &f->p, fits, f->id);
	T_WAIT(flow_progress(f), f->c.nb_done == 1 && f->p.nb_done == 1);
	T_OK(doca_buf_get_data_len(in, &len));
	T_EQ(len, 1000);
	T_OK(doca_buf_dec_refcount(in, NULL));
	T_OK(doca_buf_dec_refcount(fits, NULL));
	T_OK(doca_buf_dec_refcount(large, NULL));
}

/* One client more than a card takes. */
LIMITED_CASE(clients, f)
{
	struct side second = { .pe = NULL };

	client_create(&second, PAIR_NAME);
	T_IS(doca_ctx_start(second.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT((pair_progress(&f->t), doca_pe_progress(second.pe)), ctx_is_idle(second.ctx));
	T_EQ(second.nb_connects, 0);
	T_EQ(f->t.server.nb_connects, 1);
	side_destroy(&second);
}
