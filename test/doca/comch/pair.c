/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <string.h>

#include "comch/pair.h"

#define DPU_PCI "03:00.0"
#define HOST_PCI "b1:00.0"

/* States */

static void
note_state(struct td_states *s, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	T_LT(s->nb, TD_STATES);
	s->prev[s->nb] = prev;
	s->next[s->nb++] = next;
	s->ctx = ctx;
	T_EQ(td_state(ctx), next);
}

enum doca_ctx_states
td_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	TD_OK(doca_ctx_get_state(ctx, &state));
	return state;
}

/* Devices */

struct doca_dev *
td_dev_open(const char *role, const char *pci)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t i, nb;
	uint8_t equal;

	setenv("COMCH_ROLE", role, 1);
	TD_OK(doca_devinfo_create_list(&list, &nb));
	for (i = 0; i < nb && dev == NULL; i++) {
		TD_OK(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			TD_OK(doca_dev_open(list[i], &dev));
	}
	TD_OK(doca_devinfo_destroy_list(list));
	T_CHECK(dev != NULL);
	return dev;
}

struct doca_dev_rep *
td_rep_open(struct doca_dev *dev, const char *pci)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t i, nb;
	uint8_t equal;

	TD_OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &nb));
	for (i = 0; i < nb && rep == NULL; i++) {
		TD_OK(doca_devinfo_rep_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			TD_OK(doca_dev_rep_open(list[i], &rep));
	}
	TD_OK(doca_devinfo_rep_destroy_list(list));
	T_CHECK(rep != NULL);
	return rep;
}

/* Callbacks of servers and clients */

static struct td_node *
node_of(struct doca_comch_connection *conn)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(conn);
	union doca_data data;

	T_CHECK((server == NULL) != (client == NULL));
	TD_OK(doca_ctx_get_user_data(server != NULL ? doca_comch_server_as_ctx(server) :
		doca_comch_client_as_ctx(client), &data));
	return data.ptr;
}

static void
on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	struct td_node *node = user_data.ptr;

	node->states.user_data = user_data;
	note_state(&node->states, ctx, prev, next);
	if (node->client != NULL && next == DOCA_CTX_STATE_RUNNING)
		TD_OK(doca_comch_client_get_connection(node->client, &node->conn));
	if (node->hooks.state != NULL)
		node->hooks.state(node, next);
}

static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	struct td_node *node = node_of(conn);

	T_CHECK(event != NULL);
	T_EQ(change_successful, 1);
	if (node->nb_connects < TD_CONNS)
		node->conns[node->nb_connects] = conn;
	node->nb_connects++;
	node->conn = conn;
	if (node->hooks.connected != NULL)
		node->hooks.connected(node, conn);
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t change_successful)
{
	struct td_node *node = node_of(conn);

	T_CHECK(event != NULL);
	T_EQ(change_successful, 1);
	node->nb_disconnects++;
	if (node->hooks.disconnected != NULL)
		node->hooks.disconnected(node, conn);
	if (node->conn == conn)
		node->conn = NULL;
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len,
		struct doca_comch_connection *conn)
{
	struct td_node *node = node_of(conn);

	T_CHECK(event != NULL);
	T_LE(msg_len, sizeof(node->msg));
	memcpy(node->msg, recv_buffer, msg_len);
	/* It may be written to. */
	memset(recv_buffer, 0xee, msg_len);
	node->msg_len = msg_len;
	node->nb_msgs++;
	node->msg_bytes += msg_len;
	if (node->hooks.msg != NULL)
		node->hooks.msg(node, conn, node->msg, msg_len);
}

static void
task_back(struct td_node *node, struct doca_comch_task_send *task, union doca_data task_data)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);

	T_CHECK(doca_task_get_ctx(t) == node->ctx);
	T_EQ(doca_task_get_user_data(t).u64, task_data.u64);
	node->send_status = doca_task_get_status(t);
	node->sent_data = task_data;
	if (node->hooks.sent != NULL)
		node->hooks.sent(node, task);
	else if (!node->keep_tasks)
		doca_task_free(t);
}

static void
on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct td_node *node = ctx_data.ptr;

	node->nb_sent++;
	TD_OK(doca_task_get_status(doca_comch_task_send_as_task(task)));
	task_back(node, task, task_data);
}

static void
on_send_error(struct doca_comch_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct td_node *node = ctx_data.ptr;

	node->nb_send_errors++;
	T_NE(doca_task_get_status(doca_comch_task_send_as_task(task)), DOCA_SUCCESS);
	task_back(node, task, task_data);
}

static void
on_consumer_new(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	struct td_node *node = node_of(conn);

	T_CHECK(event != NULL);
	node->nb_new++;
	node->new_id = id;
	if (node->hooks.consumer != NULL)
		node->hooks.consumer(node, id);
}

static void
on_consumer_gone(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	struct td_node *node = node_of(conn);

	T_CHECK(event != NULL);
	node->nb_gone++;
	node->gone_id = id;
	if (node->hooks.consumer_gone != NULL)
		node->hooks.consumer_gone(node, id);
}

/* Servers and clients */

static void
node_ready(struct td_node *node, struct doca_ctx *ctx, struct doca_pe *pe)
{
	const union doca_data data = { .ptr = node };

	node->ctx = ctx;
	node->pe = pe;
	node->shares_pe = pe != NULL;
	if (pe == NULL)
		TD_OK(doca_pe_create(&node->pe));
	TD_OK(doca_pe_connect_ctx(node->pe, ctx));
	TD_OK(doca_ctx_set_user_data(ctx, data));
	TD_OK(doca_ctx_set_state_changed_cb(ctx, on_state));
}

void
td_server_create_on(struct td_node *node, const char *name, struct doca_pe *pe)
{
	memset(node, 0, sizeof(*node));
	node->dev = td_dev_open("dpu", DPU_PCI);
	node->rep = td_rep_open(node->dev, HOST_PCI);
	TD_OK(doca_comch_server_create(node->dev, node->rep, name, &node->server));
	node_ready(node, doca_comch_server_as_ctx(node->server), pe);
	TD_OK(doca_comch_server_task_send_set_conf(node->server, on_sent, on_send_error, 1024));
	TD_OK(doca_comch_server_event_msg_recv_register(node->server, on_msg));
	TD_OK(doca_comch_server_event_connection_status_changed_register(node->server,
		on_connected, on_disconnected));
	TD_OK(doca_comch_server_event_consumer_register(node->server, on_consumer_new,
		on_consumer_gone));
}

void
td_client_create_on(struct td_node *node, const char *name, struct doca_pe *pe)
{
	memset(node, 0, sizeof(*node));
	node->dev = td_dev_open("host", HOST_PCI);
	TD_OK(doca_comch_client_create(node->dev, name, &node->client));
	node_ready(node, doca_comch_client_as_ctx(node->client), pe);
	TD_OK(doca_comch_client_task_send_set_conf(node->client, on_sent, on_send_error, 1024));
	TD_OK(doca_comch_client_event_msg_recv_register(node->client, on_msg));
	TD_OK(doca_comch_client_event_consumer_register(node->client, on_consumer_new,
		on_consumer_gone));
}

void
td_server_create(struct td_node *node, const char *name)
{
	td_server_create_on(node, name, NULL);
}

void
td_client_create(struct td_node *node, const char *name)
{
	td_client_create_on(node, name, NULL);
}

void
td_node_cleanup(struct td_node *node)
{
	if (!node->shares_pe)
		TD_OK(doca_pe_destroy(node->pe));
	if (node->rep != NULL)
		TD_OK(doca_dev_rep_close(node->rep));
	TD_OK(doca_dev_close(node->dev));
}

void
td_node_destroy(struct td_node *node)
{
	T_EQ(td_state(node->ctx), DOCA_CTX_STATE_IDLE);
	if (node->server != NULL)
		TD_OK(doca_comch_server_destroy(node->server));
	else
		TD_OK(doca_comch_client_destroy(node->client));
	td_node_cleanup(node);
}

/* Pairs */

void
td_create(struct td *t)
{
	td_server_create(&t->server, "td");
	td_client_create(&t->client, "td");
}

bool
td_progress(struct td *t)
{
	bool done = doca_pe_progress(t->server.pe) != 0;

	return (doca_pe_progress(t->client.pe) != 0) | done;
}

void
td_connect(struct td *t)
{
	unsigned int before = t->server.nb_connects;

	TD_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(t, td_state(t->client.ctx) == DOCA_CTX_STATE_RUNNING &&
		t->server.nb_connects > before);
}

void
td_open(struct td *t)
{
	td_create(t);
	TD_OK(doca_ctx_start(t->server.ctx));
	td_connect(t);
}

void
td_close(struct td *t)
{
	if (td_state(t->client.ctx) != DOCA_CTX_STATE_IDLE)
		TD_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(t, td_state(t->client.ctx) == DOCA_CTX_STATE_IDLE);
	if (td_state(t->server.ctx) != DOCA_CTX_STATE_IDLE)
		doca_ctx_stop(t->server.ctx);
	TD_UNTIL(t, td_state(t->server.ctx) == DOCA_CTX_STATE_IDLE);
	td_node_destroy(&t->client);
	td_node_destroy(&t->server);
}

struct doca_comch_task_send *
td_task(struct td_node *node, const void *msg, uint32_t len)
{
	struct doca_comch_task_send *task;

	if (node->server != NULL)
		TD_OK(doca_comch_server_task_send_alloc_init(node->server, node->conn, msg, len,
			&task));
	else
		TD_OK(doca_comch_client_task_send_alloc_init(node->client, node->conn, msg, len,
			&task));
	return task;
}

void
td_send(struct td_node *node, const void *msg, uint32_t len)
{
	TD_OK(doca_task_submit(doca_comch_task_send_as_task(td_task(node, msg, len))));
}

/* Memory */

void
td_mem_create(struct td_mem *mem, struct doca_dev *dev, size_t len, uint32_t access)
{
	mem->len = len;
	mem->addr = calloc(1, len);
	T_CHECK(mem->addr != NULL);
	TD_OK(doca_mmap_create(&mem->mmap));
	TD_OK(doca_mmap_add_dev(mem->mmap, dev));
	TD_OK(doca_mmap_set_permissions(mem->mmap, access));
	TD_OK(doca_mmap_set_memrange(mem->mmap, mem->addr, len));
	TD_OK(doca_mmap_start(mem->mmap));
	TD_OK(doca_buf_inventory_create(2048, &mem->inv));
	TD_OK(doca_buf_inventory_start(mem->inv));
}

void
td_mem_destroy(struct td_mem *mem)
{
	TD_OK(doca_mmap_destroy(mem->mmap));
	TD_OK(doca_buf_inventory_destroy(mem->inv));
	free(mem->addr);
}

struct doca_buf *
td_buf(struct td_mem *mem, size_t off, size_t len, bool data)
{
	struct doca_buf *buf;

	if (data)
		TD_OK(doca_buf_inventory_buf_get_by_data(mem->inv, mem->mmap, mem->addr + off,
			len, &buf));
	else
		TD_OK(doca_buf_inventory_buf_get_by_addr(mem->inv, mem->mmap, mem->addr + off,
			len, &buf));
	return buf;
}

/* Producers and consumers */

static void
on_queue_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	struct td_queue *q = user_data.ptr;

	q->states.user_data = user_data;
	note_state(&q->states, ctx, prev, next);
	if (q->state != NULL)
		q->state(q, next);
}

static void
queue_task_back(struct td_queue *q, struct doca_task *task)
{
	T_CHECK(doca_task_get_ctx(task) == q->ctx);
	q->status = doca_task_get_status(task);
	if (q->done != NULL)
		q->done(q, task);
	else if (!q->keep_tasks)
		doca_task_free(task);
}

static void
on_put(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct td_queue *q = ctx_data.ptr;

	RTE_SET_USED(task_data);
	q->nb_done++;
	queue_task_back(q, doca_comch_producer_task_send_as_task(task));
	TD_OK(q->status);
}

static void
on_put_error(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct td_queue *q = ctx_data.ptr;

	RTE_SET_USED(task_data);
	q->nb_errors++;
	queue_task_back(q, doca_comch_producer_task_send_as_task(task));
	T_NE(q->status, DOCA_SUCCESS);
}

static void
on_got(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct td_queue *q = ctx_data.ptr;

	RTE_SET_USED(task_data);
	q->nb_done++;
	q->producer_id = doca_comch_consumer_task_post_recv_get_producer_id(task);
	q->imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	T_EQ(doca_comch_consumer_task_post_recv_get_imm_data(task) == NULL, q->imm_len == 0);
	if (q->imm_len > 0)
		memcpy(q->imm, doca_comch_consumer_task_post_recv_get_imm_data(task), q->imm_len);
	queue_task_back(q, doca_comch_consumer_task_post_recv_as_task(task));
	TD_OK(q->status);
}

static void
on_got_error(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct td_queue *q = ctx_data.ptr;

	RTE_SET_USED(task_data);
	q->nb_errors++;
	queue_task_back(q, doca_comch_consumer_task_post_recv_as_task(task));
	T_NE(q->status, DOCA_SUCCESS);
}

static void
queue_ready(struct td_queue *q, struct doca_ctx *ctx, struct doca_pe *pe)
{
	const union doca_data data = { .ptr = q };

	q->ctx = ctx;
	if (pe == NULL) {
		TD_OK(doca_pe_create(&q->pe));
		pe = q->pe;
	}
	TD_OK(doca_pe_connect_ctx(pe, ctx));
	TD_OK(doca_ctx_set_user_data(ctx, data));
	TD_OK(doca_ctx_set_state_changed_cb(ctx, on_queue_state));
}

void
td_producer_create(struct td_queue *q, struct doca_comch_connection *conn, struct doca_pe *pe,
		uint32_t nb_tasks)
{
	memset(q, 0, sizeof(*q));
	TD_OK(doca_comch_producer_create(conn, &q->producer));
	queue_ready(q, doca_comch_producer_as_ctx(q->producer), pe);
	TD_OK(doca_comch_producer_task_send_set_conf(q->producer, on_put, on_put_error, nb_tasks));
}

void
td_consumer_create(struct td_queue *q, struct doca_comch_connection *conn,
		struct doca_mmap *mmap, struct doca_pe *pe, uint32_t nb_tasks)
{
	memset(q, 0, sizeof(*q));
	TD_OK(doca_comch_consumer_create(conn, mmap, &q->consumer));
	queue_ready(q, doca_comch_consumer_as_ctx(q->consumer), pe);
	TD_OK(doca_comch_consumer_task_post_recv_set_conf(q->consumer, on_got, on_got_error,
		nb_tasks));
}

static void
queue_progress(struct td_queue *q)
{
	if (q->pe != NULL)
		doca_pe_progress(q->pe);
}

uint32_t
td_consumer_start(struct td *t, struct td_queue *q)
{
	uint32_t id;

	TD_IS(doca_ctx_start(q->ctx), DOCA_ERROR_IN_PROGRESS);
	TD_UNTIL(t, (queue_progress(q), td_state(q->ctx) == DOCA_CTX_STATE_RUNNING));
	TD_OK(doca_comch_consumer_get_id(q->consumer, &id));
	/* The peer hears of it before or after. */
	TD_UNTIL(t, t->server.new_id == id || t->client.new_id == id);
	return id;
}

void
td_post(struct td_queue *q, struct doca_buf *buf)
{
	struct doca_comch_consumer_task_post_recv *task;

	TD_OK(doca_comch_consumer_task_post_recv_alloc_init(q->consumer, buf, &task));
	TD_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

struct doca_task *
td_put_task(struct td_queue *q, const struct doca_buf *buf, const void *imm, uint32_t imm_len,
		uint32_t id)
{
	struct doca_comch_producer_task_send *task;

	TD_OK(doca_comch_producer_task_send_alloc_init(q->producer, buf,
		(uint8_t *)(uintptr_t)imm, imm_len, id, &task));
	return doca_comch_producer_task_send_as_task(task);
}

void
td_put(struct td *t, struct td_queue *q, const struct doca_buf *buf, uint32_t id)
{
	struct doca_task *task = td_put_task(q, buf, NULL, 0, id);
	doca_error_t ret;

	TD_UNTIL(t, (ret = doca_task_submit(task)) != DOCA_ERROR_AGAIN);
	TD_OK(ret);
}

void
td_queue_destroy(struct td *t, struct td_queue *q)
{
	if (td_state(q->ctx) == DOCA_CTX_STATE_RUNNING ||
			td_state(q->ctx) == DOCA_CTX_STATE_STARTING)
		doca_ctx_stop(q->ctx);
	TD_UNTIL(t, (queue_progress(q), td_state(q->ctx) == DOCA_CTX_STATE_IDLE));
	if (q->producer != NULL)
		TD_OK(doca_comch_producer_destroy(q->producer));
	else
		TD_OK(doca_comch_consumer_destroy(q->consumer));
	if (q->pe != NULL)
		TD_OK(doca_pe_destroy(q->pe));
}

/* Flows */

void
td_flow_open(struct td_flow *f, size_t len, uint32_t nb_tasks)
{
	td_open(&f->t);
	td_mem_create(&f->dst, f->t.server.dev, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	td_mem_create(&f->src, f->t.client.dev, len, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	td_consumer_create(&f->c, f->t.server.conn, f->dst.mmap, NULL, nb_tasks);
	f->id = td_consumer_start(&f->t, &f->c);
	td_producer_create(&f->p, f->t.client.conn, NULL, nb_tasks);
	TD_OK(doca_ctx_start(f->p.ctx));
}

void
td_flow_close(struct td_flow *f)
{
	td_queue_destroy(&f->t, &f->p);
	td_queue_destroy(&f->t, &f->c);
	td_mem_destroy(&f->src);
	td_mem_destroy(&f->dst);
	td_close(&f->t);
}

bool
td_flow_progress(struct td_flow *f)
{
	bool done = doca_pe_progress(f->c.pe) != 0;

	done |= doca_pe_progress(f->p.pe) != 0;
	return td_progress(&f->t) | done;
}
