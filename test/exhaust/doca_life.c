/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "doca_life.h"

#define DPU_PCI "03:00.0"
#define HOST_PCI "b1:00.0"
#define NAME "exhaust"
#define GIVE_UP_MS 20
#define MEM_SIZE 4096

/** What a callback adds up. */
struct counts {
	unsigned int connects, msgs, done, errors, consumers;
	uint32_t consumer_id;
	struct doca_comch_connection *conn;
};

/** Memory, its mmap and a buffer of it. */
struct piece {
	uint8_t *addr;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv;
	struct doca_buf *buf;
};

struct life {
	const struct life_conf *conf;
	const char *step;
	uint64_t give_up;
	struct doca_dev *dpu, *host;
	struct doca_dev_rep *rep;
	struct doca_pe *server_pe, *client_pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct counts of_server, of_client, of_consumer, of_producer;
	struct piece dst, src;
};

static int
failed(struct life *l, const char *step, doca_error_t err)
{
	T_CHECK(err != DOCA_SUCCESS && err != DOCA_ERROR_UNEXPECTED);
	l->step = step;
	return -(int)err;
}

#define D_TRY(l, call) \
	do { \
		const doca_error_t err_ = (call); \
		if (err_ != DOCA_SUCCESS) \
			return failed(l, #call, err_); \
	} while (0)

/* A start that ends later. */
#define D_BEGIN(l, call) \
	do { \
		const doca_error_t err_ = (call); \
		if (err_ != DOCA_SUCCESS && err_ != DOCA_ERROR_IN_PROGRESS) \
			return failed(l, #call, err_); \
	} while (0)

#define D_WAIT(l, cond) \
	do { \
		const struct t_wait wait_ = t_wait_begin(__FILE__, __LINE__, #cond); \
		while (!(cond)) { \
			if (over(l)) \
				return failed(l, #cond, DOCA_ERROR_CONNECTION_ABORTED); \
			t_wait_check(&wait_); \
			progress(l); \
		} \
	} while (0)

static bool
progress(struct life *l)
{
	bool moved = l->server_pe != NULL && doca_pe_progress(l->server_pe) != 0;

	return (l->client_pe != NULL && doca_pe_progress(l->client_pe) != 0) || moved;
}

static bool
is_idle(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	T_EQ(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	return state == DOCA_CTX_STATE_IDLE;
}

static bool
is_running(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	T_EQ(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	return state == DOCA_CTX_STATE_RUNNING;
}

/* A context that has stopped by itself, or a task that has failed. */
static bool
over(struct life *l)
{
	if (is_idle(doca_comch_client_as_ctx(l->client)) ||
			(l->of_server.connects > 0 && l->of_server.conn == NULL) ||
			(l->consumer != NULL && is_idle(doca_comch_consumer_as_ctx(l->consumer))) ||
			l->of_server.errors + l->of_client.errors + l->of_consumer.errors +
			l->of_producer.errors > 0)
		return true;
	if (l->conf->gives_up == NULL || !l->conf->gives_up())
		return false;
	if (l->give_up == 0)
		l->give_up = t_now_ms() + GIVE_UP_MS * t_patience();
	return t_now_ms() >= l->give_up;
}

/* Callbacks. The user data of each context is its counts. */

static struct counts *
counts_of(struct doca_comch_connection *conn)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(conn);
	union doca_data data;

	T_EQ(doca_ctx_get_user_data(server != NULL ? doca_comch_server_as_ctx(server) :
		doca_comch_client_as_ctx(client), &data), DOCA_SUCCESS);
	return data.ptr;
}

static void
on_connected(struct doca_comch_event_connection_status_changed *event __rte_unused,
		struct doca_comch_connection *conn, uint8_t ok __rte_unused)
{
	struct counts *c = counts_of(conn);

	c->connects++;
	c->conn = conn;
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event __rte_unused,
		struct doca_comch_connection *conn, uint8_t ok __rte_unused)
{
	counts_of(conn)->conn = NULL;
}

static void
on_msg(struct doca_comch_event_msg_recv *event __rte_unused, uint8_t *data __rte_unused,
		uint32_t len __rte_unused, struct doca_comch_connection *conn)
{
	counts_of(conn)->msgs++;
}

static void
on_consumer(struct doca_comch_event_consumer *event __rte_unused,
		struct doca_comch_connection *conn, uint32_t id)
{
	struct counts *c = counts_of(conn);

	c->consumers++;
	c->consumer_id = id;
}

static void
on_consumer_gone(struct doca_comch_event_consumer *event __rte_unused,
		struct doca_comch_connection *conn __rte_unused, uint32_t id __rte_unused)
{
}

#define TASK_CALLBACKS(type) \
	static void \
	type##_done(struct doca_comch_##type *task, union doca_data data __rte_unused, \
			union doca_data ctx_data) \
	{ \
		((struct counts *)ctx_data.ptr)->done++; \
		doca_task_free(doca_comch_##type##_as_task(task)); \
	} \
	static void \
	type##_error(struct doca_comch_##type *task, union doca_data data __rte_unused, \
			union doca_data ctx_data) \
	{ \
		((struct counts *)ctx_data.ptr)->errors++; \
		doca_task_free(doca_comch_##type##_as_task(task)); \
	}

TASK_CALLBACKS(task_send)
TASK_CALLBACKS(producer_task_send)
TASK_CALLBACKS(consumer_task_post_recv)

/* Devices */

static int
open_dev(struct life *l, const char *role, const char *pci, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	doca_error_t err = DOCA_SUCCESS;
	uint32_t i, nb;
	uint8_t equal;

	setenv("COMCH_ROLE", role, 1);
	D_TRY(l, doca_devinfo_create_list(&list, &nb));
	for (i = 0; i < nb && err == DOCA_SUCCESS && *dev == NULL; i++)
		if (doca_devinfo_is_equal_pci_addr(list[i], pci, &equal) == DOCA_SUCCESS && equal)
			err = doca_dev_open(list[i], dev);
	T_EQ(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
	D_TRY(l, err);
	return 0;
}

static int
open_rep(struct life *l)
{
	struct doca_devinfo_rep **list;
	doca_error_t err = DOCA_SUCCESS;
	uint32_t i, nb;
	uint8_t equal;

	D_TRY(l, doca_devinfo_rep_create_list(l->dpu, DOCA_DEVINFO_REP_FILTER_NET, &list, &nb));
	for (i = 0; i < nb && err == DOCA_SUCCESS && l->rep == NULL; i++)
		if (doca_devinfo_rep_is_equal_pci_addr(list[i], HOST_PCI, &equal) ==
				DOCA_SUCCESS && equal)
			err = doca_dev_rep_open(list[i], &l->rep);
	T_EQ(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	D_TRY(l, err);
	return 0;
}

/* Servers and clients */

static int
connect_ctx(struct life *l, struct doca_pe **pe, struct doca_ctx *ctx, struct counts *counts)
{
	const union doca_data data = { .ptr = counts };
	doca_event_handle_t handle;

	if (*pe == NULL) {
		D_TRY(l, doca_pe_create(pe));
		D_TRY(l, doca_pe_get_notification_handle(*pe, &handle));
	}
	D_TRY(l, doca_pe_connect_ctx(*pe, ctx));
	D_TRY(l, doca_ctx_set_user_data(ctx, data));
	return 0;
}

static int
open_server(struct life *l)
{
	struct doca_ctx *ctx;
	int ret;

	D_TRY(l, doca_comch_server_create(l->dpu, l->rep, NAME, &l->server));
	ctx = doca_comch_server_as_ctx(l->server);
	ret = connect_ctx(l, &l->server_pe, ctx, &l->of_server);
	if (ret != 0)
		return ret;
	D_TRY(l, doca_comch_server_task_send_set_conf(l->server, task_send_done, task_send_error,
		16));
	D_TRY(l, doca_comch_server_event_msg_recv_register(l->server, on_msg));
	D_TRY(l, doca_comch_server_event_connection_status_changed_register(l->server,
		on_connected, on_disconnected));
	D_TRY(l, doca_comch_server_event_consumer_register(l->server, on_consumer,
		on_consumer_gone));
	D_TRY(l, doca_ctx_start(ctx));
	return 0;
}

static int
open_client(struct life *l)
{
	struct doca_ctx *ctx;
	int ret;

	D_TRY(l, doca_comch_client_create(l->host, NAME, &l->client));
	ctx = doca_comch_client_as_ctx(l->client);
	ret = connect_ctx(l, &l->client_pe, ctx, &l->of_client);
	if (ret != 0)
		return ret;
	D_TRY(l, doca_comch_client_task_send_set_conf(l->client, task_send_done, task_send_error,
		16));
	D_TRY(l, doca_comch_client_event_msg_recv_register(l->client, on_msg));
	D_TRY(l, doca_comch_client_event_consumer_register(l->client, on_consumer,
		on_consumer_gone));
	D_BEGIN(l, doca_ctx_start(ctx));
	D_WAIT(l, is_running(ctx) && l->of_server.connects == 1);
	D_TRY(l, doca_comch_client_get_connection(l->client, &l->of_client.conn));
	return 0;
}

/* Submit, or free: a task that was not taken is the caller's. */
static int
submit(struct life *l, struct doca_task *task)
{
	doca_error_t err;

	do {
		progress(l);
		err = doca_task_submit(task);
	} while (err == DOCA_ERROR_AGAIN && !over(l));
	if (err == DOCA_SUCCESS)
		return 0;
	doca_task_free(task);
	return failed(l, "submit", err);
}

static int
send_messages(struct life *l)
{
	struct doca_comch_task_send *task;
	int ret;

	D_TRY(l, doca_comch_server_task_send_alloc_init(l->server, l->of_server.conn, "x", 1,
		&task));
	ret = submit(l, doca_comch_task_send_as_task(task));
	if (ret != 0)
		return ret;
	D_TRY(l, doca_comch_client_task_send_alloc_init(l->client, l->of_client.conn, "x", 1,
		&task));
	ret = submit(l, doca_comch_task_send_as_task(task));
	if (ret != 0)
		return ret;
	D_WAIT(l, l->of_server.msgs == 1 && l->of_client.msgs == 1 && l->of_server.done == 1 &&
		l->of_client.done == 1);
	return 0;
}

/* Producers and consumers */

static int
open_piece(struct life *l, struct piece *p, struct doca_dev *dev, bool has_data)
{
	p->addr = calloc(1, MEM_SIZE);
	D_TRY(l, doca_mmap_create(&p->mmap));
	D_TRY(l, doca_mmap_add_dev(p->mmap, dev));
	D_TRY(l, doca_mmap_set_permissions(p->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	D_TRY(l, doca_mmap_set_memrange(p->mmap, p->addr, MEM_SIZE));
	D_TRY(l, doca_mmap_start(p->mmap));
	D_TRY(l, doca_buf_inventory_create(16, &p->inv));
	D_TRY(l, doca_buf_inventory_start(p->inv));
	if (has_data)
		D_TRY(l, doca_buf_inventory_buf_get_by_data(p->inv, p->mmap, p->addr, MEM_SIZE,
			&p->buf));
	else
		D_TRY(l, doca_buf_inventory_buf_get_by_addr(p->inv, p->mmap, p->addr, MEM_SIZE,
			&p->buf));
	return 0;
}

static void
close_piece(struct piece *p)
{
	if (p->buf != NULL)
		T_EQ(doca_buf_dec_refcount(p->buf, NULL), DOCA_SUCCESS);
	if (p->inv != NULL)
		T_EQ(doca_buf_inventory_destroy(p->inv), DOCA_SUCCESS);
	if (p->mmap != NULL)
		T_EQ(doca_mmap_destroy(p->mmap), DOCA_SUCCESS);
	free(p->addr);
}

static int
open_queues(struct life *l)
{
	struct doca_ctx *ctx;
	int ret;

	ret = open_piece(l, &l->dst, l->dpu, false);
	if (ret == 0)
		ret = open_piece(l, &l->src, l->host, true);
	if (ret != 0)
		return ret;
	D_TRY(l, doca_comch_consumer_create(l->of_server.conn, l->dst.mmap, &l->consumer));
	ctx = doca_comch_consumer_as_ctx(l->consumer);
	ret = connect_ctx(l, &l->server_pe, ctx, &l->of_consumer);
	if (ret != 0)
		return ret;
	D_TRY(l, doca_comch_consumer_task_post_recv_set_conf(l->consumer,
		consumer_task_post_recv_done, consumer_task_post_recv_error, 16));
	D_BEGIN(l, doca_ctx_start(ctx));
	D_WAIT(l, is_running(ctx) && l->of_client.consumers == 1);
	D_TRY(l, doca_comch_producer_create(l->of_client.conn, &l->producer));
	ctx = doca_comch_producer_as_ctx(l->producer);
	ret = connect_ctx(l, &l->client_pe, ctx, &l->of_producer);
	if (ret != 0)
		return ret;
	D_TRY(l, doca_comch_producer_task_send_set_conf(l->producer, producer_task_send_done,
		producer_task_send_error, 16));
	D_TRY(l, doca_ctx_start(ctx));
	return 0;
}

static int
send_data(struct life *l)
{
	struct doca_comch_consumer_task_post_recv *post;
	struct doca_comch_producer_task_send *put;
	uint8_t imm[] = "imm";
	int ret;

	D_TRY(l, doca_comch_consumer_task_post_recv_alloc_init(l->consumer, l->dst.buf, &post));
	ret = submit(l, doca_comch_consumer_task_post_recv_as_task(post));
	if (ret != 0)
		return ret;
	D_TRY(l, doca_comch_producer_task_send_alloc_init(l->producer, l->src.buf, imm,
		sizeof(imm), l->of_client.consumer_id, &put));
	ret = submit(l, doca_comch_producer_task_send_as_task(put));
	if (ret != 0)
		return ret;
	D_WAIT(l, l->of_consumer.done == 1 && l->of_producer.done == 1);
	return 0;
}

/* The end. A context that does not run may refuse to stop. */

static void
stop(struct life *l, struct doca_ctx *ctx)
{
	if (!is_idle(ctx))
		(void)doca_ctx_stop(ctx);
	T_WAIT(progress(l), is_idle(ctx));
}

static void
close_all(struct life *l)
{
	if (l->producer != NULL) {
		stop(l, doca_comch_producer_as_ctx(l->producer));
		T_EQ(doca_comch_producer_destroy(l->producer), DOCA_SUCCESS);
	}
	if (l->consumer != NULL) {
		stop(l, doca_comch_consumer_as_ctx(l->consumer));
		T_EQ(doca_comch_consumer_destroy(l->consumer), DOCA_SUCCESS);
	}
	close_piece(&l->dst);
	close_piece(&l->src);
	if (l->client != NULL) {
		stop(l, doca_comch_client_as_ctx(l->client));
		T_EQ(doca_comch_client_destroy(l->client), DOCA_SUCCESS);
	}
	if (l->server != NULL) {
		stop(l, doca_comch_server_as_ctx(l->server));
		T_EQ(doca_comch_server_destroy(l->server), DOCA_SUCCESS);
	}
	if (l->client_pe != NULL)
		T_EQ(doca_pe_destroy(l->client_pe), DOCA_SUCCESS);
	if (l->server_pe != NULL)
		T_EQ(doca_pe_destroy(l->server_pe), DOCA_SUCCESS);
	if (l->rep != NULL)
		T_EQ(doca_dev_rep_close(l->rep), DOCA_SUCCESS);
	if (l->host != NULL)
		T_EQ(doca_dev_close(l->host), DOCA_SUCCESS);
	if (l->dpu != NULL)
		T_EQ(doca_dev_close(l->dpu), DOCA_SUCCESS);
}

int
doca_life_run(const struct life_conf *conf, const char **step)
{
	struct life l = { .conf = conf };
	int ret;

	ret = open_dev(&l, "dpu", DPU_PCI, &l.dpu);
	if (ret == 0)
		ret = open_rep(&l);
	if (ret == 0)
		ret = open_dev(&l, "host", HOST_PCI, &l.host);
	if (ret == 0)
		ret = open_server(&l);
	if (ret == 0)
		ret = open_client(&l);
	if (ret == 0)
		ret = send_messages(&l);
	if (ret == 0)
		ret = open_queues(&l);
	if (ret == 0)
		ret = send_data(&l);
	close_all(&l);
	*step = l.step;
	return ret;
}
