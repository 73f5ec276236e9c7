/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What producers and consumers are created with, and their limits: behaviours K and R. */

#include <stdlib.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>

#include "comch/queue.h"
#include "t_main.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE

/* behaviour: K1, R1, X8 */
PAIR_CASE_CREATED(need_a_connection, t)
{
	struct doca_comch_connection *conn;
	struct doca_comch_consumer *c;
	struct doca_comch_producer *p;
	struct memory mem;

	memory_create(&mem, t->client.dev, 64, RW);
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_INVALID(doca_comch_consumer_create(NULL, mem.mmap, &c));
	T_INVALID(doca_comch_producer_create(NULL, &p));
	T_WAIT(pair_progress(t), ctx_is_running(t->client.ctx));
	T_OK(doca_comch_client_get_connection(t->client.client, &conn));
	T_INVALID(doca_comch_consumer_create(conn, NULL, &c));
	T_INVALID(doca_comch_consumer_create(conn, mem.mmap, NULL));
	T_INVALID(doca_comch_producer_create(conn, NULL));
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	/* The client's, until it starts again. */
	T_IS(doca_comch_consumer_create(conn, mem.mmap, &c), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_producer_create(conn, &p), DOCA_ERROR_BAD_STATE);
	memory_destroy(&mem);
}

/* A device of the host's side, as the library below knows it. */
static int16_t
native_host_dev(void)
{
	struct rte_comch_dev_info info;
	int16_t id;

	RTE_COMCH_DEV_FOREACH(id)
		if (rte_comch_dev_info_get(id, &info) == 0 && info.role == RTE_COMCH_ROLE_HOST)
			return id;
	T_FAIL("no device of the host's side");
}

/* A client that wants control messages only, and no object of DOCA. */
PAIR_CASE_CREATED(need_a_fast_path, t)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf), .name = PAIR_NAME,
		.flags = RTE_COMCH_CLIENT_F_CTRL_ONLY,
	};
	struct doca_comch_consumer *c = NULL;
	struct doca_comch_producer *p = NULL;
	struct rte_comch_client *client;
	struct rte_comch_event ev;
	struct memory mem;

	memory_create(&mem, t->server.dev, 64, RW);
	T_OK(doca_ctx_start(t->server.ctx));
	conf.poll = rte_comch_poll_create(NULL);
	client = rte_comch_client_create(native_host_dev(), &conf);
	T_CHECK(client != NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_WAIT(pair_progress(t), (rte_comch_poll_run(conf.poll, &ev, 1),
		t->server.nb_connects == 1 &&
		rte_comch_client_state(client) == RTE_COMCH_STATE_RUNNING));
	T_IS(doca_comch_consumer_create(t->server.conn, mem.mmap, &c), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_comch_producer_create(t->server.conn, &p), DOCA_ERROR_NOT_PERMITTED);
	T_CHECK(c == NULL && p == NULL);
	T_EQ(rte_comch_client_stop(client), -EINPROGRESS);
	T_WAIT(pair_progress(t), (rte_comch_poll_run(conf.poll, &ev, 1),
		t->server.nb_disconnects == 1 &&
		rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE));
	T_EQ(rte_comch_client_destroy(client), 0);
	T_EQ(rte_comch_poll_destroy(conf.poll), 0);
	memory_destroy(&mem);
}

/* behaviour: K2 */
PAIR_CASE(need_writable_memory, t)
{
	struct doca_comch_consumer *c;
	struct doca_mmap *mmap;
	struct memory mem;

	memory_create(&mem, t->client.dev, 64, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	T_IS(doca_comch_consumer_create(t->client.conn, mem.mmap, &c), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_create(&mmap));
	T_IS(doca_comch_consumer_create(t->client.conn, mmap, &c), DOCA_ERROR_BAD_STATE);
	T_OK(doca_mmap_destroy(mmap));
	memory_destroy(&mem);
}

/* behaviour: K3, K4, K5, K6, F7 */
PAIR_CASE(come_and_go, t)
{
	struct queue c[3];
	struct memory mem;
	uint32_t id[3], got;
	unsigned int i;

	memory_create(&mem, t->server.dev, 4096, RW);
	for (i = 0; i < RTE_DIM(c); i++) {
		consumer_create(&c[i], t->server.conn, mem.mmap, NULL, 4);
		T_IS(doca_comch_consumer_get_id(c[i].consumer, &got), DOCA_ERROR_BAD_STATE);
		id[i] = consumer_start(t, &c[i]);
		T_EQ(c[i].states.nb, 2);
		T_EQ(c[i].states.next[0], DOCA_CTX_STATE_STARTING);
		T_EQ(c[i].states.next[1], DOCA_CTX_STATE_RUNNING);
		T_EQ(t->client.nb_new, i + 1);
		T_EQ(t->client.new_id, id[i]);
		T_GT(id[i], i == 0 ? 0 : id[i - 1]);
	}
	T_EQ(t->server.nb_new, 0);
	for (i = 0; i < RTE_DIM(c); i++) {
		queue_destroy(t, &c[i]);
		T_WAIT(pair_progress(t), t->client.nb_gone == i + 1);
		T_EQ(t->client.gone_id, id[i]);
	}
	memory_destroy(&mem);
}

/* behaviour: K7 */
PAIR_CASE(limits, t)
{
	struct doca_comch_consumer **c, *more_c;
	struct doca_comch_producer **p, *more_p;
	struct doca_devinfo *info;
	uint32_t i, max_c, max_p;
	struct memory mem;

	memory_create(&mem, t->server.dev, 64, RW);
	info = doca_dev_as_devinfo(t->server.dev);
	T_OK(doca_comch_consumer_cap_get_max_consumers(info, &max_c));
	T_OK(doca_comch_producer_cap_get_max_producers(info, &max_p));
	c = calloc(max_c, sizeof(*c));
	p = calloc(max_p, sizeof(*p));
	for (i = 0; i < max_c; i++)
		T_OK(doca_comch_consumer_create(t->server.conn, mem.mmap, &c[i]));
	T_IS(doca_comch_consumer_create(t->server.conn, mem.mmap, &more_c), DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < max_p; i++)
		T_OK(doca_comch_producer_create(t->server.conn, &p[i]));
	T_IS(doca_comch_producer_create(t->server.conn, &more_p), DOCA_ERROR_NO_MEMORY);
	T_OK(doca_comch_consumer_destroy(c[7]));
	T_OK(doca_comch_consumer_create(t->server.conn, mem.mmap, &c[7]));
	T_OK(doca_comch_producer_destroy(p[7]));
	T_OK(doca_comch_producer_create(t->server.conn, &p[7]));
	for (i = 0; i < max_c; i++)
		T_OK(doca_comch_consumer_destroy(c[i]));
	for (i = 0; i < max_p; i++)
		T_OK(doca_comch_producer_destroy(p[i]));
	free(c);
	free(p);
	memory_destroy(&mem);
}

FLOW_CASE(configuration, f, 4096, 2)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	uint32_t n, max;

	T_OK(doca_comch_consumer_cap_get_max_num_tasks(doca_dev_as_devinfo(f->t.server.dev), &max));
	T_GE(max, 1024);
	T_REFUSES_NULL(doca_comch_consumer_get_id, f->c.consumer, &n);
	T_REFUSES_NULL(doca_comch_producer_get_id, f->p.producer, &n);
	T_INVALID(doca_comch_consumer_destroy(NULL));
	T_INVALID(doca_comch_producer_destroy(NULL));
	T_CHECK(doca_comch_consumer_as_ctx(NULL) == NULL);
	T_CHECK(doca_comch_producer_as_ctx(NULL) == NULL);
	T_INVALID(doca_comch_consumer_task_post_recv_alloc_init(NULL, NULL, &recv));
	T_INVALID(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, NULL, NULL));
	T_INVALID(doca_comch_producer_task_send_alloc_init(NULL, NULL, NULL, 0, 1, &send));
	/* Running. */
	T_INVALID(doca_comch_consumer_task_post_recv_set_conf(f->c.consumer, NULL, NULL, 1));
	T_INVALID(doca_comch_producer_task_send_set_conf(f->p.producer, NULL, NULL, 1));
}

static void
got(struct doca_comch_consumer_task_post_recv *task __rte_unused, union doca_data a __rte_unused,
		union doca_data b __rte_unused)
{
}

static void
put(struct doca_comch_producer_task_send *task __rte_unused, union doca_data a __rte_unused,
		union doca_data b __rte_unused)
{
}

/* behaviour: C11, K14, K19, P14 */
PAIR_CASE(setters_in_their_time, t)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	struct queue c, p;
	uint32_t n, max;

	consumer_open(&c, &t->server, t->server.pe, 2);
	producer_create(&p, t->server.conn, t->server.pe, 2);
	T_OK(doca_comch_consumer_get_imm_data_len(c.consumer, &n));
	T_OK(doca_comch_consumer_cap_get_max_imm_data_len(doca_dev_as_devinfo(t->server.dev),
		&max));
	T_CHECK(n > 0 && n <= max);
	T_REFUSES_NULL(doca_comch_consumer_get_imm_data_len, c.consumer, &n);
	T_INVALID(doca_comch_consumer_set_imm_data_len(c.consumer, max + 1));
	T_INVALID(doca_comch_consumer_set_imm_data_len(NULL, 1));
	T_OK(doca_comch_consumer_set_imm_data_len(c.consumer, 8));
	T_GETS(doca_comch_consumer_get_imm_data_len(c.consumer, &n), n, 8);
	T_INVALID(doca_comch_consumer_task_post_recv_set_conf(c.consumer, got, got, 0));
	T_INVALID(doca_comch_consumer_task_post_recv_set_conf(c.consumer, got, got, 1 << 20));
	T_INVALID(doca_comch_producer_task_send_set_conf(p.producer, put, put, 0));
	T_INVALID(doca_comch_producer_task_send_set_conf(p.producer, put, put, 1 << 20));
	T_IS(doca_comch_consumer_task_post_recv_alloc_init(c.consumer, NULL, &recv),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_producer_task_send_alloc_init(p.producer, NULL, (uint8_t *)&n, 4, 1,
		&send), DOCA_ERROR_BAD_STATE);
	consumer_start(t, &c);
	T_OK(doca_ctx_start(p.ctx));
	T_IS(doca_comch_consumer_set_imm_data_len(c.consumer, 8), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_task_post_recv_set_conf(c.consumer, got, got, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_producer_task_send_set_conf(p.producer, put, put, 1), DOCA_ERROR_BAD_STATE);
	queue_destroy(t, &p);
	queue_destroy(t, &c);
}
