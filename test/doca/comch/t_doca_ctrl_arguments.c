/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What servers and clients are created with: behaviours D and S. */

#include "comch/queue.h"
#include "t_main.h"

/* behaviour: S1, S2, D10 */
T_CASE(create)
{
	struct doca_dev *dpu = dev_open("dpu", "03:00.0");
	struct doca_dev_rep *rep = rep_open(dpu, "b1:00.0");
	struct doca_dev *host = dev_open("host", "b1:00.0");
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_dev_rep *got_rep;
	struct doca_dev *got_dev;
	char name[121];
	uint32_t len;

	T_OK(doca_comch_cap_get_max_name_len(doca_dev_as_devinfo(dpu), &len));
	T_EQ(len, sizeof(name) - 1);
	memset(name, 'n', sizeof(name));
	name[len] = '\0';
	T_INVALID(doca_comch_server_create(NULL, rep, "x", &server));
	T_INVALID(doca_comch_server_create(dpu, NULL, "x", &server));
	T_INVALID(doca_comch_server_create(dpu, rep, NULL, &server));
	T_INVALID(doca_comch_server_create(dpu, rep, "x", NULL));
	T_INVALID(doca_comch_server_create(dpu, rep, "", &server));
	T_INVALID(doca_comch_server_create(dpu, rep, name, &server));
	T_IS(doca_comch_server_create(host, rep, "x", &server), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULLS(doca_comch_client_create, host, "x", &client);
	T_INVALID(doca_comch_client_create(host, "", &client));
	T_INVALID(doca_comch_client_create(host, name, &client));
	T_IS(doca_comch_client_create(dpu, "x", &client), DOCA_ERROR_NOT_SUPPORTED);
	name[len - 1] = '\0';
	T_OK(doca_comch_server_create(dpu, rep, name, &server));
	T_OK(doca_comch_client_create(host, name, &client));
	T_GETS(doca_comch_server_get_device(server, &got_dev), got_dev, dpu);
	T_GETS(doca_comch_client_get_device(client, &got_dev), got_dev, host);
	T_GETS(doca_comch_server_get_device_rep(server, &got_rep), got_rep, rep);
	got_rep = NULL;
	T_GETS(doca_comch_server_get_device_repr(server, &got_rep), got_rep, rep);
	T_OK(doca_comch_server_destroy(server));
	T_OK(doca_comch_client_destroy(client));
	T_OK(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

PAIR_CASE_CREATED(null_arguments, t)
{
	const union doca_data data = { .u64 = 1 };
	struct doca_comch_connection *conn;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint64_t count;
	uint32_t n;

	T_INVALID(doca_comch_server_destroy(NULL));
	T_INVALID(doca_comch_client_destroy(NULL));
	T_REFUSES_NULL(doca_comch_server_get_max_msg_size, t->server.server, &n);
	T_REFUSES_NULL(doca_comch_client_get_max_msg_size, t->client.client, &n);
	T_REFUSES_NULL(doca_comch_server_get_recv_queue_size, t->server.server, &n);
	T_REFUSES_NULL(doca_comch_client_get_recv_queue_size, t->client.client, &n);
	T_REFUSES_NULL(doca_comch_server_get_device, t->server.server, &dev);
	T_REFUSES_NULL(doca_comch_client_get_device, t->client.client, &dev);
	T_REFUSES_NULL(doca_comch_server_get_device_rep, t->server.server, &rep);
	T_INVALID(doca_comch_server_get_device_repr(t->server.server, NULL));
	T_REFUSES_NULL(doca_comch_client_get_connection, t->client.client, &conn);
	T_INVALID(doca_comch_connection_set_user_data(NULL, data));
	T_EQ(doca_comch_connection_get_user_data(NULL).u64, 0);
	T_CHECK(doca_comch_server_get_server_ctx(NULL) == NULL);
	T_CHECK(doca_comch_client_get_client_ctx(NULL) == NULL);
	T_INVALID(doca_comch_connection_update_info(NULL));
	T_INVALID(doca_comch_connection_get_counter(NULL, DOCA_COMCH_COUNTER_SENT_BYTES, &count));
	T_CHECK(doca_comch_server_as_ctx(NULL) == NULL);
	T_CHECK(doca_comch_client_as_ctx(NULL) == NULL);
	T_CHECK(doca_comch_task_send_as_task(NULL) == NULL);
}

static void
no_sent(struct doca_comch_task_send *task __rte_unused, union doca_data a __rte_unused,
		union doca_data b __rte_unused)
{
}

static void
no_consumer(struct doca_comch_event_consumer *event __rte_unused,
		struct doca_comch_connection *conn __rte_unused, uint32_t id __rte_unused)
{
}

static void
no_connection(struct doca_comch_event_connection_status_changed *event __rte_unused,
		struct doca_comch_connection *conn __rte_unused,
		uint8_t change_successful __rte_unused)
{
}

/* behaviour: S16, S17, D13, D14, T13 */
PAIR_CASE_CREATED(configuration, t)
{
	struct doca_devinfo *info;
	uint32_t n, max;

	info = doca_dev_as_devinfo(t->server.dev);
	T_GETS(doca_comch_cap_get_max_msg_size(info, &max), max, 4080);
	T_OK(doca_comch_server_get_max_msg_size(t->server.server, &n));
	T_CHECK(n > 0 && n <= max);
	T_OK(doca_comch_client_get_max_msg_size(t->client.client, &n));
	T_CHECK(n > 0 && n <= max);
	T_INVALID(doca_comch_server_set_max_msg_size(t->server.server, 0));
	T_INVALID(doca_comch_server_set_max_msg_size(t->server.server, max + 1));
	T_INVALID(doca_comch_server_set_max_msg_size(NULL, 1));
	T_INVALID(doca_comch_client_set_max_msg_size(t->client.client, 0));
	T_INVALID(doca_comch_client_set_max_msg_size(t->client.client, max + 1));
	T_INVALID(doca_comch_client_set_max_msg_size(NULL, 1));
	T_OK(doca_comch_server_set_max_msg_size(t->server.server, 1000));
	T_GETS(doca_comch_server_get_max_msg_size(t->server.server, &n), n, 1000);

	T_OK(doca_comch_cap_get_max_recv_queue_size(info, &max));
	T_GE(max, 16);
	T_OK(doca_comch_server_get_recv_queue_size(t->server.server, &n));
	T_CHECK(n > 0 && n <= max);
	T_OK(doca_comch_client_get_recv_queue_size(t->client.client, &n));
	T_CHECK(n > 0 && n <= max);
	T_INVALID(doca_comch_server_set_recv_queue_size(t->server.server, 0));
	T_INVALID(doca_comch_client_set_recv_queue_size(t->client.client, max + 1));
	T_OK(doca_comch_server_set_recv_queue_size(t->server.server, 10));
	T_OK(doca_comch_client_set_recv_queue_size(t->client.client, 10));
	T_GETS(doca_comch_client_get_recv_queue_size(t->client.client, &n), n, 10);

	T_OK(doca_comch_cap_get_max_send_tasks(info, &max));
	T_GE(max, 1024);
	T_OK(doca_comch_server_task_send_set_conf(t->server.server, no_sent, no_sent, 1024));
	T_OK(doca_comch_client_task_send_set_conf(t->client.client, no_sent, no_sent, max));
	T_INVALID(doca_comch_client_task_send_set_conf(t->client.client, no_sent, no_sent,
		max + 1));
	T_INVALID(doca_comch_client_task_send_set_conf(t->client.client, no_sent, no_sent, 0));
	T_INVALID(doca_comch_client_task_send_set_conf(t->client.client, NULL, no_sent, 1));
	T_INVALID(doca_comch_server_task_send_set_conf(t->server.server, no_sent, NULL, 1));
	T_INVALID(doca_comch_server_event_msg_recv_register(t->server.server, NULL));
	T_INVALID(doca_comch_client_event_msg_recv_register(t->client.client, NULL));
	T_INVALID(doca_comch_server_event_consumer_register(t->server.server, NULL, no_consumer));
	T_INVALID(doca_comch_client_event_consumer_register(t->client.client, no_consumer, NULL));
	T_INVALID(doca_comch_server_event_connection_status_changed_register(t->server.server,
		no_connection, NULL));
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_comch_server_event_consumer_register(t->server.server, no_consumer,
		no_consumer), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_server_event_connection_status_changed_register(t->server.server,
		no_connection, no_connection), DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_comch_client_event_consumer_register(t->client.client, no_consumer,
		no_consumer), DOCA_ERROR_BAD_STATE);
}

/* behaviour: D11, D12 */
PAIR_CASE_CREATED(capabilities, t)
{
	typedef doca_error_t (*cap_fn)(const struct doca_devinfo *info, uint32_t *value);
	static const struct {
		cap_fn fn;
		uint32_t least;
	} caps[] = {
		{ doca_comch_cap_get_max_name_len, 120 },
		{ doca_comch_cap_get_max_msg_size, 4080 },
		{ doca_comch_cap_get_max_recv_queue_size, 16 },
		{ doca_comch_cap_get_max_clients, 4096 },
		{ doca_comch_cap_get_max_send_tasks, 1024 },
		{ doca_comch_producer_cap_get_max_num_tasks, 1024 },
		{ doca_comch_producer_cap_get_max_buf_size, 1 << 30 },
		{ doca_comch_producer_cap_get_max_buf_list_len, 1 },
		{ doca_comch_producer_cap_get_max_producers, 64 },
		{ doca_comch_consumer_cap_get_max_num_tasks, 1024 },
		{ doca_comch_consumer_cap_get_max_buf_size, 1 << 30 },
		{ doca_comch_consumer_cap_get_max_buf_list_len, 1 },
		{ doca_comch_consumer_cap_get_max_consumers, 64 },
		{ doca_comch_consumer_cap_get_max_imm_data_len, 32 },
	};
	struct doca_devinfo *dpu, *host;
	uint32_t i, a, b;

	dpu = doca_dev_as_devinfo(t->server.dev);
	host = doca_dev_as_devinfo(t->client.dev);
	for (i = 0; i < RTE_DIM(caps); i++) {
		T_OK(caps[i].fn(dpu, &a));
		T_OK(caps[i].fn(host, &b));
		T_EQ(a, b);
		T_GE(a, caps[i].least);
		T_INVALID(caps[i].fn(NULL, &a));
		T_INVALID(caps[i].fn(dpu, NULL));
	}
	T_OK(doca_comch_cap_server_is_supported(dpu));
	T_IS(doca_comch_cap_server_is_supported(host), DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_comch_cap_server_is_supported(NULL));
	T_OK(doca_comch_cap_client_is_supported(host));
	T_IS(doca_comch_cap_client_is_supported(dpu), DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_comch_cap_client_is_supported(NULL));
	T_OK(doca_comch_producer_cap_is_supported(host));
	T_OK(doca_comch_producer_cap_is_supported(dpu));
	T_INVALID(doca_comch_producer_cap_is_supported(NULL));
	T_OK(doca_comch_consumer_cap_is_supported(host));
	T_OK(doca_comch_consumer_cap_is_supported(dpu));
	T_INVALID(doca_comch_consumer_cap_is_supported(NULL));
}
