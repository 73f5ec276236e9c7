/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers: behaviours K, R and F. */

#include <stdlib.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>

#include "t_main.h"
#include "comch/pair.h"

#define RW DOCA_ACCESS_FLAG_PCI_READ_WRITE

static size_t
data_len(const struct doca_buf *buf)
{
	size_t len;

	TD_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

/* behaviour: K1, R1, X8 */
static void
need_a_connection(void)
{
	struct doca_comch_connection *conn;
	struct doca_comch_consumer *c;
	struct doca_comch_producer *p;
	struct td_mem mem;
	struct td t;

	td_create(&t);
	td_mem_create(&mem, t.client.dev, 64, RW);
	TD_OK(doca_ctx_start(t.server.ctx));
	TD_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_IS(doca_comch_consumer_create(NULL, mem.mmap, &c), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_create(NULL, &p), DOCA_ERROR_INVALID_VALUE);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_RUNNING);
	TD_OK(doca_comch_client_get_connection(t.client.client, &conn));
	TD_IS(doca_comch_consumer_create(conn, NULL, &c), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_create(conn, mem.mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_create(conn, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_ctx_stop(t.client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(&t, td_state(t.client.ctx) == DOCA_CTX_STATE_IDLE);
	/* The client's, until it starts again. */
	TD_IS(doca_comch_consumer_create(conn, mem.mmap, &c), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comch_producer_create(conn, &p), DOCA_ERROR_BAD_STATE);
	td_mem_destroy(&mem);
	td_close(&t);
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
static void
need_a_fast_path(void)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf), .name = "td",
		.flags = RTE_COMCH_CLIENT_F_CTRL_ONLY,
	};
	struct doca_comch_consumer *c = NULL;
	struct doca_comch_producer *p = NULL;
	struct rte_comch_client *client;
	struct rte_comch_event ev;
	struct td_mem mem;
	struct td t;

	td_create(&t);
	td_mem_create(&mem, t.server.dev, 64, RW);
	TD_OK(doca_ctx_start(t.server.ctx));
	conf.poll = rte_comch_poll_create(NULL);
	client = rte_comch_client_create(native_host_dev(), &conf);
	T_CHECK(client != NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	TD_UNTIL(&t, (rte_comch_poll_run(conf.poll, &ev, 1), t.server.nb_connects == 1 &&
		rte_comch_client_state(client) == RTE_COMCH_STATE_RUNNING));
	TD_IS(doca_comch_consumer_create(t.server.conn, mem.mmap, &c), DOCA_ERROR_NOT_PERMITTED);
	TD_IS(doca_comch_producer_create(t.server.conn, &p), DOCA_ERROR_NOT_PERMITTED);
	T_CHECK(c == NULL && p == NULL);
	T_EQ(rte_comch_client_stop(client), -EINPROGRESS);
	TD_UNTIL(&t, (rte_comch_poll_run(conf.poll, &ev, 1), t.server.nb_disconnects == 1 &&
		rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE));
	T_EQ(rte_comch_client_destroy(client), 0);
	T_EQ(rte_comch_poll_destroy(conf.poll), 0);
	td_mem_destroy(&mem);
	td_close(&t);
}

/* behaviour: K2 */
static void
need_writable_memory(void)
{
	struct doca_comch_consumer *c;
	struct doca_mmap *mmap;
	struct td_mem mem;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.client.dev, 64, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	TD_IS(doca_comch_consumer_create(t.client.conn, mem.mmap, &c), DOCA_ERROR_NOT_PERMITTED);
	TD_OK(doca_mmap_create(&mmap));
	TD_IS(doca_comch_consumer_create(t.client.conn, mmap, &c), DOCA_ERROR_BAD_STATE);
	TD_OK(doca_mmap_destroy(mmap));
	td_mem_destroy(&mem);
	td_close(&t);
}

/* behaviour: K3, K4, K5, K6, F7 */
static void
come_and_go(void)
{
	struct td_queue c[3];
	struct td_mem mem;
	uint32_t id[3], got;
	unsigned int i;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.server.dev, 4096, RW);
	for (i = 0; i < RTE_DIM(c); i++) {
		td_consumer_create(&c[i], t.server.conn, mem.mmap, NULL, 4);
		TD_IS(doca_comch_consumer_get_id(c[i].consumer, &got), DOCA_ERROR_BAD_STATE);
		id[i] = td_consumer_start(&t, &c[i]);
		T_EQ(c[i].states.nb, 2);
		T_EQ(c[i].states.next[0], DOCA_CTX_STATE_STARTING);
		T_EQ(c[i].states.next[1], DOCA_CTX_STATE_RUNNING);
		T_EQ(t.client.nb_new, i + 1);
		T_EQ(t.client.new_id, id[i]);
		T_GT(id[i], i == 0 ? 0 : id[i - 1]);
	}
	T_EQ(t.server.nb_new, 0);
	for (i = 0; i < RTE_DIM(c); i++) {
		td_queue_destroy(&t, &c[i]);
		TD_UNTIL(&t, t.client.nb_gone == i + 1);
		T_EQ(t.client.gone_id, id[i]);
	}
	td_mem_destroy(&mem);
	td_close(&t);
}

/* behaviour: K7 */
static void
limits(void)
{
	struct doca_comch_consumer **c, *more_c;
	struct doca_comch_producer **p, *more_p;
	struct doca_devinfo *info;
	uint32_t i, max_c, max_p;
	struct td_mem mem;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.server.dev, 64, RW);
	info = doca_dev_as_devinfo(t.server.dev);
	TD_OK(doca_comch_consumer_cap_get_max_consumers(info, &max_c));
	TD_OK(doca_comch_producer_cap_get_max_producers(info, &max_p));
	c = calloc(max_c, sizeof(*c));
	p = calloc(max_p, sizeof(*p));
	for (i = 0; i < max_c; i++)
		TD_OK(doca_comch_consumer_create(t.server.conn, mem.mmap, &c[i]));
	TD_IS(doca_comch_consumer_create(t.server.conn, mem.mmap, &more_c), DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < max_p; i++)
		TD_OK(doca_comch_producer_create(t.server.conn, &p[i]));
	TD_IS(doca_comch_producer_create(t.server.conn, &more_p), DOCA_ERROR_NO_MEMORY);
	TD_OK(doca_comch_consumer_destroy(c[7]));
	TD_OK(doca_comch_consumer_create(t.server.conn, mem.mmap, &c[7]));
	TD_OK(doca_comch_producer_destroy(p[7]));
	TD_OK(doca_comch_producer_create(t.server.conn, &p[7]));
	for (i = 0; i < max_c; i++)
		TD_OK(doca_comch_consumer_destroy(c[i]));
	for (i = 0; i < max_p; i++)
		TD_OK(doca_comch_producer_destroy(p[i]));
	free(c);
	free(p);
	td_mem_destroy(&mem);
	td_close(&t);
}

static void
configuration(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	uint32_t n, max;
	struct td_flow f;

	td_flow_open(&f, 4096, 2);
	TD_OK(doca_comch_consumer_cap_get_max_num_tasks(doca_dev_as_devinfo(f.t.server.dev), &max));
	T_GE(max, 1024);
	TD_IS(doca_comch_consumer_get_id(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_get_id(f.c.consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_get_id(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_get_id(f.p.producer, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	T_CHECK(doca_comch_consumer_as_ctx(NULL) == NULL);
	T_CHECK(doca_comch_producer_as_ctx(NULL) == NULL);
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(NULL, NULL, &recv),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(f.c.consumer, NULL, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_task_send_alloc_init(NULL, NULL, NULL, 0, 1, &send),
		DOCA_ERROR_INVALID_VALUE);
	/* Running. */
	TD_IS(doca_comch_consumer_task_post_recv_set_conf(f.c.consumer, NULL, NULL, 1),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_task_send_set_conf(f.p.producer, NULL, NULL, 1),
		DOCA_ERROR_INVALID_VALUE);
	td_flow_close(&f);
}

static void
got(struct doca_comch_consumer_task_post_recv *task, union doca_data a, union doca_data b)
{
	RTE_SET_USED(task);
	RTE_SET_USED(a);
	RTE_SET_USED(b);
}

static void
put(struct doca_comch_producer_task_send *task, union doca_data a, union doca_data b)
{
	RTE_SET_USED(task);
	RTE_SET_USED(a);
	RTE_SET_USED(b);
}

/* behaviour: C11, K14, K19, P14 */
static void
setters_in_their_time(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	struct td_queue c, p;
	struct td_mem mem;
	uint32_t n, max;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.server.dev, 64, RW);
	td_consumer_create(&c, t.server.conn, mem.mmap, t.server.pe, 2);
	td_producer_create(&p, t.server.conn, t.server.pe, 2);
	TD_OK(doca_comch_consumer_get_imm_data_len(c.consumer, &n));
	TD_OK(doca_comch_consumer_cap_get_max_imm_data_len(doca_dev_as_devinfo(t.server.dev),
		&max));
	T_CHECK(n > 0 && n <= max);
	TD_IS(doca_comch_consumer_get_imm_data_len(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_get_imm_data_len(c.consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_set_imm_data_len(c.consumer, max + 1), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_set_imm_data_len(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_comch_consumer_set_imm_data_len(c.consumer, 8));
	TD_OK(doca_comch_consumer_get_imm_data_len(c.consumer, &n));
	T_EQ(n, 8);
	TD_IS(doca_comch_consumer_task_post_recv_set_conf(c.consumer, got, got, 0),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_task_post_recv_set_conf(c.consumer, got, got, 1 << 20),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_task_send_set_conf(p.producer, put, put, 0),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_task_send_set_conf(p.producer, put, put, 1 << 20),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(c.consumer, NULL, &recv),
		DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comch_producer_task_send_alloc_init(p.producer, NULL, (uint8_t *)&n, 4, 1,
		&send), DOCA_ERROR_BAD_STATE);
	td_consumer_start(&t, &c);
	TD_OK(doca_ctx_start(p.ctx));
	TD_IS(doca_comch_consumer_set_imm_data_len(c.consumer, 8), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comch_consumer_task_post_recv_set_conf(c.consumer, got, got, 1),
		DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comch_producer_task_send_set_conf(p.producer, put, put, 1),
		DOCA_ERROR_BAD_STATE);
	td_queue_destroy(&t, &p);
	td_queue_destroy(&t, &c);
	td_mem_destroy(&mem);
	td_close(&t);
}

/* behaviour: K8, K10, K11, K12, K13, R6, F1, F3, F4 */
static void
one_message(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	struct doca_buf *to, *to2, *from, *alien;
	struct td_flow f;
	uint32_t id;

	td_flow_open(&f, 4096, 4);
	to = td_buf(&f.dst, 100, 1000, false);
	to2 = td_buf(&f.dst, 2000, 1000, false);
	from = td_buf(&f.src, 64, 500, true);
	alien = td_buf(&f.src, 0, 64, false);
	t_fill(f.src.addr + 64, 500, 1);
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(f.c.consumer, alien, &recv),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_buf_chain_list(to, to2));
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(f.c.consumer, to, &recv),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_task_send_alloc_init(f.p.producer, to, NULL, 0, f.id, &send),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_buf_unchain_list(to, to2));
	td_post(&f.c, to);
	while (td_flow_progress(&f))
		;
	T_EQ(f.c.nb_done + f.c.nb_errors, 0);
	td_put(&f.t, &f.p, from, f.id);
	/* Nothing of the sender is needed any more. */
	while (f.c.nb_done == 0)
		doca_pe_progress(f.c.pe);
	T_EQ(data_len(to), 500);
	T_VERIFY(f.dst.addr + 100, 500, 1);
	T_EQ(f.dst.addr[99], 0);
	T_EQ(f.dst.addr[600], 0);
	TD_OK(doca_comch_producer_get_id(f.p.producer, &id));
	T_EQ(f.c.producer_id, id);
	T_EQ(f.c.imm_len, 0);
	TD_FLOW_UNTIL(&f, f.p.nb_done == 1);
	/* Behind what is there already. */
	td_post(&f.c, to);
	TD_OK(doca_buf_set_data(from, f.src.addr + 100, 10));
	td_put(&f.t, &f.p, from, f.id);
	TD_FLOW_UNTIL(&f, f.c.nb_done == 2);
	T_EQ(data_len(to), 510);
	T_CHECK(memcmp(f.dst.addr + 600, f.src.addr + 100, 10) == 0);
	TD_OK(doca_buf_dec_refcount(to, NULL));
	TD_OK(doca_buf_dec_refcount(to2, NULL));
	TD_OK(doca_buf_dec_refcount(from, NULL));
	TD_OK(doca_buf_dec_refcount(alien, NULL));
	td_flow_close(&f);
}

/* behaviour: F1, F3 */
static void
sizes(void)
{
	static const size_t lens[] = { 1, 63, 64, 4081, 65535, 1 << 20, (3 << 20) + 5 };
	struct doca_buf *to, *from;
	unsigned int i;
	struct td_flow f;

	td_flow_open(&f, 4 << 20, 2);
	for (i = 0; i < RTE_DIM(lens); i++) {
		to = td_buf(&f.dst, 3, lens[i], false);
		from = td_buf(&f.src, 7, lens[i], true);
		t_fill(f.src.addr + 7, lens[i], i);
		td_post(&f.c, to);
		TD_OK(doca_task_submit(td_put_task(&f.p, from, NULL, 0, f.id)));
		TD_FLOW_UNTIL(&f, f.c.nb_done == i + 1 && f.p.nb_done == i + 1);
		T_EQ(data_len(to), lens[i]);
		T_VERIFY(f.dst.addr + 3, lens[i], i);
		TD_OK(doca_buf_dec_refcount(to, NULL));
		TD_OK(doca_buf_dec_refcount(from, NULL));
	}
	td_flow_close(&f);
}

/* behaviour: K9, K13, K14, R8, R9, R10 */
static void
immediate_data(void)
{
	uint8_t imm[33] = "immediate data of up to 32 bytes";
	struct doca_comch_producer_task_send *send;
	struct doca_task *task;
	struct td_flow f;

	td_flow_open(&f, 4096, 4);
	td_post(&f.c, NULL);
	task = td_put_task(&f.p, NULL, imm, 32, f.id);
	memset(imm, 0, 4);
	TD_OK(doca_task_submit(task));
	TD_FLOW_UNTIL(&f, f.c.nb_done == 1);
	T_EQ(f.c.imm_len, 32);
	T_CHECK(memcmp(f.c.imm, "immediate data of up to 32 bytes", 32) == 0);
	TD_IS(doca_comch_producer_task_send_alloc_init(f.p.producer, NULL, imm, 33, f.id, &send),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_task_send_alloc_init(f.p.producer, NULL, NULL, 1, f.id, &send),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comch_producer_task_send_alloc_init(f.p.producer, NULL, NULL, 0, f.id, &send),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_comch_producer_task_send_alloc_init(f.p.producer, NULL, imm, 5, 99, &send));
	T_CHECK(doca_comch_producer_task_send_get_buf(send) == NULL);
	T_EQ(doca_comch_producer_task_send_get_consumer_id(send), 99);
	T_EQ(doca_comch_producer_task_send_get_imm_data_len(send), 5);
	T_CHECK(memcmp(doca_comch_producer_task_send_get_imm_data(send), imm, 5) == 0);
	doca_comch_producer_task_send_set_consumer_id(send, f.id);
	doca_comch_producer_task_send_set_imm_data(send, imm, 33);
	task = doca_comch_producer_task_send_as_task(send);
	TD_IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	doca_comch_producer_task_send_set_imm_data(send, NULL, 3);
	TD_IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	doca_comch_producer_task_send_set_imm_data(send, NULL, 0);
	T_CHECK(doca_comch_producer_task_send_get_imm_data(send) == NULL);
	TD_IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	doca_comch_producer_task_send_set_imm_data(send, imm, 3);
	td_post(&f.c, NULL);
	TD_OK(doca_task_submit(task));
	TD_FLOW_UNTIL(&f, f.c.nb_done == 2);
	T_EQ(f.c.imm_len, 3);
	td_flow_close(&f);
}

/* behaviour: K14 */
static void
too_much_immediate_data(void)
{
	struct td_queue c, p;
	struct td_mem mem;
	uint8_t imm[9] = { 0 };
	uint32_t id;
	struct td t;

	td_open(&t);
	td_mem_create(&mem, t.server.dev, 64, RW);
	td_consumer_create(&c, t.server.conn, mem.mmap, t.server.pe, 2);
	TD_OK(doca_comch_consumer_set_imm_data_len(c.consumer, 8));
	id = td_consumer_start(&t, &c);
	td_producer_create(&p, t.client.conn, t.client.pe, 2);
	TD_OK(doca_ctx_start(p.ctx));
	td_post(&c, NULL);
	TD_OK(doca_task_submit(td_put_task(&p, NULL, imm, 9, id)));
	TD_UNTIL(&t, p.nb_errors == 1);
	T_EQ(p.status, DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_task_submit(td_put_task(&p, NULL, imm, 8, id)));
	TD_UNTIL(&t, c.nb_done == 1);
	T_EQ(c.imm_len, 8);
	td_queue_destroy(&t, &p);
	td_queue_destroy(&t, &c);
	td_mem_destroy(&mem);
	td_close(&t);
}

static void
null_tasks(void)
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
static void
nothing_posted(void)
{
	struct doca_comch_producer_task_send *more;
	struct doca_buf *to, *from;
	struct doca_task *task[2];
	unsigned int i;
	struct td_flow f;

	td_flow_open(&f, 4096, 2);
	to = td_buf(&f.dst, 0, 64, false);
	from = td_buf(&f.src, 0, 64, true);
	task[0] = td_put_task(&f.p, from, NULL, 0, f.id);
	task[1] = td_put_task(&f.p, from, NULL, 0, f.id);
	TD_IS(doca_comch_producer_task_send_alloc_init(f.p.producer, from, NULL, 0, f.id, &more),
		DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < 1000; i++)
		TD_IS(doca_task_submit(task[0]), DOCA_ERROR_AGAIN);
	T_EQ(f.p.nb_done + f.p.nb_errors, 0);
	td_post(&f.c, to);
	/* No progress of this side. */
	while (doca_task_submit(task[0]) == DOCA_ERROR_AGAIN)
		;
	TD_IS(doca_task_submit(task[1]), DOCA_ERROR_AGAIN);
	TD_FLOW_UNTIL(&f, f.c.nb_done == 1 && f.p.nb_done == 1);
	doca_task_free(task[1]);
	TD_OK(doca_buf_dec_refcount(to, NULL));
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

/* behaviour: R4, R5, F5 */
static void
refused_messages(void)
{
	struct doca_buf *to, *from;
	uint16_t refs;
	void *data;
	struct td_flow f;

	td_flow_open(&f, 4096, 4);
	to = td_buf(&f.dst, 0, 64, false);
	from = td_buf(&f.src, 0, 65, true);
	TD_OK(doca_task_submit(td_put_task(&f.p, from, NULL, 0, f.id + 1)));
	TD_FLOW_UNTIL(&f, f.p.nb_errors == 1);
	T_EQ(f.p.status, DOCA_ERROR_NOT_FOUND);
	td_post(&f.c, to);
	TD_OK(doca_task_submit(td_put_task(&f.p, from, NULL, 0, f.id)));
	TD_FLOW_UNTIL(&f, f.p.nb_errors == 2);
	T_EQ(f.p.status, DOCA_ERROR_INVALID_VALUE);
	T_EQ(f.c.nb_done + f.c.nb_errors, 0);
	T_EQ(data_len(to), 0);
	T_EQ(data_len(from), 65);
	TD_OK(doca_buf_get_data(from, &data));
	T_CHECK(data == f.src.addr);
	TD_OK(doca_buf_get_refcount(from, &refs));
	T_EQ(refs, 1);
	/* The buffer is there still. */
	TD_OK(doca_buf_set_data_len(from, 64));
	TD_OK(doca_task_submit(td_put_task(&f.p, from, NULL, 0, f.id)));
	TD_FLOW_UNTIL(&f, f.c.nb_done == 1);
	T_EQ(data_len(to), 64);
	/* One that has gone. */
	TD_OK(doca_buf_dec_refcount(to, NULL));
	TD_IS(doca_ctx_stop(f.c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_FLOW_UNTIL(&f, f.t.client.nb_gone == 1);
	TD_OK(doca_task_submit(td_put_task(&f.p, from, NULL, 0, f.id)));
	TD_FLOW_UNTIL(&f, f.p.nb_errors == 3);
	T_EQ(f.p.status, DOCA_ERROR_NOT_FOUND);
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

static void
check_posted_order(struct td_queue *q, struct doca_task *task)
{
	T_EQ(doca_task_get_user_data(task).u64 + 1, q->nb_done);
	doca_task_free(task);
}

/* behaviour: K15, R7, F2 */
static void
order(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_buf *to[1024], *from;
	struct doca_task *task;
	union doca_data data;
	uint32_t i;
	struct td_flow f;

	td_flow_open(&f, 1024 * 64, 1024);
	f.c.done = check_posted_order;
	f.p.done = check_posted_order;
	for (i = 0; i < RTE_DIM(to); i++) {
		to[i] = td_buf(&f.dst, i * 64, 64, false);
		TD_OK(doca_comch_consumer_task_post_recv_alloc_init(f.c.consumer, to[i], &recv));
		T_CHECK(doca_comch_consumer_task_post_recv_get_buf(recv) == to[i]);
		task = doca_comch_consumer_task_post_recv_as_task(recv);
		data.u64 = i;
		doca_task_set_user_data(task, data);
		TD_OK(doca_task_submit(task));
	}
	/* One buf, many tasks. */
	from = td_buf(&f.src, 0, 64, true);
	for (i = 0; i < RTE_DIM(to); i++) {
		task = td_put_task(&f.p, from, &i, sizeof(i), f.id);
		data.u64 = i;
		doca_task_set_user_data(task, data);
		TD_OK(doca_task_submit(task));
	}
	TD_FLOW_UNTIL(&f, f.c.nb_done == RTE_DIM(to) && f.p.nb_done == RTE_DIM(to));
	T_EQ(data_len(from), 64);
	for (i = 0; i < RTE_DIM(to); i++) {
		T_EQ(data_len(to[i]), 64);
		TD_OK(doca_buf_dec_refcount(to[i], NULL));
	}
	TD_OK(doca_buf_dec_refcount(from, NULL));
	td_flow_close(&f);
}

/* behaviour: R1, R11 */
static void
producers(void)
{
	struct td_queue p[3];
	uint32_t id[3];
	unsigned int i;
	struct td t;

	td_open(&t);
	for (i = 0; i < RTE_DIM(p); i++) {
		td_producer_create(&p[i], t.client.conn, NULL, 4);
		TD_IS(doca_comch_producer_get_id(p[i].producer, &id[i]), DOCA_ERROR_BAD_STATE);
		TD_OK(doca_ctx_start(p[i].ctx));
		T_EQ(p[i].states.nb, 1);
		T_EQ(p[i].states.next[0], DOCA_CTX_STATE_RUNNING);
		TD_IS(doca_comch_producer_destroy(p[i].producer), DOCA_ERROR_IN_USE);
		TD_OK(doca_comch_producer_get_id(p[i].producer, &id[i]));
		T_CHECK(i == 0 || id[i] != id[i - 1]);
	}
	TD_OK(doca_ctx_stop(p[0].ctx));
	T_EQ(td_state(p[0].ctx), DOCA_CTX_STATE_IDLE);
	for (i = 0; i < RTE_DIM(p); i++)
		td_queue_destroy(&t, &p[i]);
	td_close(&t);
}

/* behaviour: R12 */
static void
many_to_many(void)
{
	struct td_queue c[2][2], p[2][2];
	struct td_node *node[2];
	struct td_mem mem[2];
	uint32_t id[2][2];
	unsigned int s, i, k;
	struct td t;

	td_open(&t);
	node[0] = &t.server;
	node[1] = &t.client;
	for (s = 0; s < 2; s++) {
		td_mem_create(&mem[s], node[s]->dev, 4096, RW);
		for (i = 0; i < 2; i++) {
			td_consumer_create(&c[s][i], node[s]->conn, mem[s].mmap, node[s]->pe, 64);
			id[s][i] = td_consumer_start(&t, &c[s][i]);
			td_producer_create(&p[s][i], node[s]->conn, node[s]->pe, 64);
			TD_OK(doca_ctx_start(p[s][i].ctx));
			for (k = 0; k < 64; k++)
				td_post(&c[s][i], NULL);
		}
	}
	/* Each to both of the other side. */
	for (s = 0; s < 2; s++)
		for (i = 0; i < 2; i++)
			for (k = 0; k < 64; k++)
				TD_OK(doca_task_submit(td_put_task(&p[s][i], NULL, &k, sizeof(k),
					id[1 - s][k % 2])));
	TD_UNTIL(&t, c[0][0].nb_done == 64 && c[0][1].nb_done == 64 && c[1][0].nb_done == 64 &&
		c[1][1].nb_done == 64 && !td_progress(&t));
	for (s = 0; s < 2; s++)
		for (i = 0; i < 2; i++) {
			T_EQ(p[s][i].nb_done, 64);
			td_queue_destroy(&t, &p[s][i]);
			td_queue_destroy(&t, &c[s][i]);
		}
	td_mem_destroy(&mem[0]);
	td_mem_destroy(&mem[1]);
	td_close(&t);
}

static struct td_mem early_mem;
static struct td_queue early;

static void
consumer_at_once(struct td_node *node, struct doca_comch_connection *conn)
{
	td_consumer_create(&early, conn, early_mem.mmap, node->pe, 4);
	TD_IS(doca_ctx_start(early.ctx), DOCA_ERROR_IN_PROGRESS);
}

/* behaviour: F8 */
static void
started_in_the_connect_callback(void)
{
	struct td t;

	td_create(&t);
	td_mem_create(&early_mem, t.server.dev, 64, RW);
	t.server.hooks.connected = consumer_at_once;
	TD_OK(doca_ctx_start(t.server.ctx));
	td_connect(&t);
	TD_UNTIL(&t, t.client.nb_new == 1 && td_state(early.ctx) == DOCA_CTX_STATE_RUNNING);
	td_queue_destroy(&t, &early);
	td_mem_destroy(&early_mem);
	td_close(&t);
}

static const struct t_case cases[] = {
	{ "need_a_connection", need_a_connection },
	{ "need_a_fast_path", need_a_fast_path },
	{ "need_writable_memory", need_writable_memory },
	{ "come_and_go", come_and_go },
	{ "limits", limits },
	{ "configuration", configuration },
	{ "setters_in_their_time", setters_in_their_time },
	{ "one_message", one_message },
	{ "sizes", sizes },
	{ "immediate_data", immediate_data },
	{ "too_much_immediate_data", too_much_immediate_data },
	{ "null_tasks", null_tasks },
	{ "nothing_posted", nothing_posted },
	{ "refused_messages", refused_messages },
	{ "order", order },
	{ "producers", producers },
	{ "many_to_many", many_to_many },
	{ "started_in_the_connect_callback", started_in_the_connect_callback },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
