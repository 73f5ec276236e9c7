/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Contexts, the progress engine, tasks: behaviours C and P. */

#include "comch/queue.h"
#include "t_main.h"
#include "t_proc.h"

static bool
went(const struct state_log *s, unsigned int i, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	return i < s->nb && s->prev[i] == prev && s->next[i] == next;
}

/* behaviour: C1, C10, P14, C16, S13 */
PAIR_CASE_CREATED(fresh, t)
{
	struct doca_comch_connection *conn;
	struct doca_comch_task_send *task;
	union doca_data data;
	doca_error_t ret;
	size_t n;

	T_EQ(ctx_state(t->server.ctx), DOCA_CTX_STATE_IDLE);
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_IDLE);
	T_OK(doca_ctx_get_user_data(t->client.ctx, &data));
	T_CHECK(data.ptr == &t->client);
	/* It is where a stop leads to. */
	T_OK(doca_ctx_stop(t->server.ctx));
	T_EQ(t->server.states.nb, 0);
	T_IS(doca_comch_client_get_connection(t->client.client, &conn), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_GETS(doca_ctx_get_num_inflight_tasks(t->client.ctx, &n), n, 0);
	/* Programs ask for it until it is there, and then send at once. */
	T_WAIT(pair_progress(t), (ret = doca_comch_client_get_connection(t->client.client,
		&conn)) != DOCA_ERROR_BAD_STATE);
	T_OK(ret);
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_RUNNING);
	T_OK(doca_comch_client_task_send_alloc_init(t->client.client, conn, "x", 1, &task));
	T_OK(doca_task_submit(doca_comch_task_send_as_task(task)));
	T_WAIT(pair_progress(t), t->server.nb_msgs == 1 && t->client.nb_sent == 1);
}

/* behaviour: C10 */
T_CASE(user_data_is_zero_at_first)
{
	struct doca_dev *dev = dev_open("host", "b1:00.0");
	struct doca_comch_client *client;
	union doca_data data = { .u64 = 7 };

	T_OK(doca_comch_client_create(dev, "x", &client));
	T_OK(doca_ctx_get_user_data(doca_comch_client_as_ctx(client), &data));
	T_EQ(data.u64, 0);
	T_OK(doca_comch_client_destroy(client));
	T_OK(doca_dev_close(dev));
}

/* behaviour: C2, C3, C4 */
T_CASE(start_refused)
{
	struct doca_dev *dev = dev_open("host", "b1:00.0");
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct pair t;

	T_OK(doca_comch_client_create(dev, "x", &client));
	ctx = doca_comch_client_as_ctx(client);
	T_IS(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	T_OK(doca_pe_create(&pe));
	T_OK(doca_pe_connect_ctx(pe, ctx));
	/* No tasks, and then no callbacks. */
	T_INVALID(doca_ctx_start(ctx));
	T_EQ(ctx_state(ctx), DOCA_CTX_STATE_IDLE);
	T_OK(doca_comch_client_destroy(client));
	T_OK(doca_pe_destroy(pe));
	T_OK(doca_dev_close(dev));

	pair_create(&t);
	T_OK(doca_ctx_start(t.server.ctx));
	T_IS(doca_ctx_start(t.server.ctx), DOCA_ERROR_BAD_STATE);
	T_EQ(ctx_state(t.server.ctx), DOCA_CTX_STATE_RUNNING);
	pair_connect(&t);
	T_IS(doca_ctx_start(t.client.ctx), DOCA_ERROR_BAD_STATE);
	T_EQ(ctx_state(t.client.ctx), DOCA_CTX_STATE_RUNNING);
	pair_close(&t);
}

static void
no_sent(struct doca_comch_task_send *task __rte_unused, union doca_data a __rte_unused,
		union doca_data b __rte_unused)
{
}

static void
no_msg(struct doca_comch_event_msg_recv *event __rte_unused, uint8_t *buf __rte_unused,
		uint32_t len __rte_unused, struct doca_comch_connection *conn __rte_unused)
{
}

static void
no_connection(struct doca_comch_event_connection_status_changed *event __rte_unused,
		struct doca_comch_connection *conn __rte_unused,
		uint8_t change_successful __rte_unused)
{
}

/* behaviour: C4 */
T_CASE(mandatory_callbacks)
{
	struct doca_dev *dpu = dev_open("dpu", "03:00.0"), *host;
	struct doca_dev_rep *rep = rep_open(dpu, "b1:00.0");
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	unsigned int i;

	T_OK(doca_pe_create(&pe));
	for (i = 0; i < 2; i++) {
		T_OK(doca_comch_server_create(dpu, rep, "x", &server));
		ctx = doca_comch_server_as_ctx(server);
		T_OK(doca_pe_connect_ctx(pe, ctx));
		T_INVALID(doca_ctx_start(ctx));
		T_OK(doca_comch_server_task_send_set_conf(server, no_sent, no_sent, 1));
		T_INVALID(doca_ctx_start(ctx));
		if (i == 0)
			T_OK(doca_comch_server_event_msg_recv_register(server, no_msg));
		else
			T_OK(doca_comch_server_event_connection_register(server, no_connection,
				no_connection));
		T_INVALID(doca_ctx_start(ctx));
		T_EQ(ctx_state(ctx), DOCA_CTX_STATE_IDLE);
		T_OK(doca_comch_server_destroy(server));
	}
	host = dev_open("host", "b1:00.0");
	T_OK(doca_comch_client_create(host, "x", &client));
	ctx = doca_comch_client_as_ctx(client);
	T_OK(doca_pe_connect_ctx(pe, ctx));
	T_OK(doca_comch_client_task_send_set_conf(client, no_sent, no_sent, 1));
	T_INVALID(doca_ctx_start(ctx));
	T_OK(doca_comch_client_destroy(client));
	T_OK(doca_pe_destroy(pe));
	T_OK(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

/* behaviour: C5, C6, C7, C8, C9, C12, C13, S3, S6, S7, S23 */
PAIR_CASE_CREATED(life, t)
{
	const struct state_log *s, *c;

	s = &t->server.states;
	c = &t->client.states;
	T_OK(doca_ctx_start(t->server.ctx));
	T_EQ(s->nb, 1);
	T_CHECK(went(s, 0, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_RUNNING));
	T_CHECK(s->user_data.ptr == &t->server && s->ctx == t->server.ctx);
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_EQ(c->nb, 1);
	T_CHECK(went(c, 0, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_STARTING));
	T_WAIT(pair_progress(t), c->nb == 2);
	T_CHECK(went(c, 1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING));
	T_WAIT(pair_progress(t), t->server.nb_connects == 1);
	/* With a connection. */
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_CHECK(went(c, 2, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING));
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), c->nb == 4 && t->server.nb_disconnects == 1);
	T_CHECK(went(c, 3, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE));
	/* With nothing at all. */
	T_OK(doca_ctx_stop(t->server.ctx));
	T_EQ(s->nb, 2);
	T_CHECK(went(s, 1, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_IDLE));
}

/* behaviour: C11, S16 */
PAIR_CASE(setters_in_their_time, t)
{
	uint32_t size;

	T_IS(doca_comch_server_set_max_msg_size(t->server.server, 100), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_client_set_max_msg_size(t->client.client, 100), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_server_set_recv_queue_size(t->server.server, 10), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_client_set_recv_queue_size(t->client.client, 10), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_server_task_send_set_conf(t->server.server, no_sent, no_sent, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_client_task_send_set_conf(t->client.client, no_sent, no_sent, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_client_event_msg_recv_register(t->client.client, no_msg),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_server_event_msg_recv_register(t->server.server, no_msg),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_OK(doca_comch_client_set_max_msg_size(t->client.client, 100));
	T_GETS(doca_comch_client_get_max_msg_size(t->client.client, &size), size, 100);
}

/* behaviour: C14, C18, P15 */
PAIR_CASE(stop_waits_for_tasks, t)
{
	struct doca_comch_task_send *task, *kept;
	size_t n;

	task = side_task(&t->client, "abc", 3);
	T_GETS(doca_ctx_get_num_inflight_tasks(t->client.ctx, &n), n, 0);
	t->client.keep_tasks = true;
	kept = side_task(&t->client, "def", 3);
	T_OK(doca_task_submit(doca_comch_task_send_as_task(kept)));
	T_GETS(doca_ctx_get_num_inflight_tasks(t->client.ctx, &n), n, 1);
	T_GETS(doca_pe_get_num_inflight_tasks(t->client.pe, &n), n, 1);
	T_WAIT(pair_progress(t), t->client.nb_sent == 1);
	T_GETS(doca_ctx_get_num_inflight_tasks(t->client.ctx, &n), n, 0);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(pair_progress(t), t->server.nb_disconnects == 1);
	T_SETTLE(pair_progress(t));
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_STOPPING);
	/* It may be submitted, but does not go. */
	T_OK(doca_task_submit(doca_comch_task_send_as_task(task)));
	T_GETS(doca_ctx_get_num_inflight_tasks(t->client.ctx, &n), n, 1);
	T_EQ(doca_pe_progress(t->client.pe), 1);
	T_EQ(t->client.nb_send_errors, 1);
	T_IS(t->client.send_status, DOCA_ERROR_SHUTDOWN);
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_STOPPING);
	doca_task_free(doca_comch_task_send_as_task(task));
	pair_progress(t);
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_STOPPING);
	doca_task_free(doca_comch_task_send_as_task(kept));
	/* Not here: callbacks are the progress's. */
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_STOPPING);
	T_EQ(doca_pe_progress(t->client.pe), 1);
	T_EQ(ctx_state(t->client.ctx), DOCA_CTX_STATE_IDLE);
}

/* behaviour: C15 */
PAIR_CASE_CREATED(stop_while_starting, t)
{
	struct doca_comch_connection *conn;
	const struct state_log *c;

	c = &t->client.states;
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_start(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
	/* It never was up. */
	T_IS(doca_comch_client_get_connection(t->client.client, &conn), DOCA_ERROR_BAD_STATE);
	T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx));
	T_EQ(c->nb, 3);
	T_CHECK(went(c, 1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_STOPPING));
	T_CHECK(went(c, 2, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE));
}

/* behaviour: C19, S26 */
PAIR_CASE(again, t)
{
	unsigned int i;

	for (i = 1; i <= 5; i++) {
		side_send(&t->client, &i, sizeof(i));
		T_WAIT(pair_progress(t), t->server.nb_msgs == i && t->client.nb_sent == i);
		T_IS(doca_ctx_stop(t->client.ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(pair_progress(t), ctx_is_idle(t->client.ctx) &&
			t->server.nb_disconnects == i);
		if (i == 3) {
			T_OK(doca_ctx_stop(t->server.ctx));
			T_OK(doca_ctx_start(t->server.ctx));
		}
		t->client.states.nb = 0;
		pair_connect(t);
	}
}

/* behaviour: C21 */
PAIR_CASE_CREATED(no_other_data_path, t)
{
	struct doca_devinfo *info;
	uint32_t n = 7;

	T_IS(doca_ctx_set_datapath_on_dpa(t->client.ctx, (struct doca_dpa *)t),
		DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_ctx_set_datapath_on_gpu(t->client.ctx, (struct doca_gpu *)t),
		DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_ctx_set_completion_vector(t->client.ctx, 0), DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_ctx_start(t->server.ctx));
	T_IS(doca_ctx_set_datapath_on_dpa(t->server.ctx, (struct doca_dpa *)t),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_set_datapath_on_gpu(t->server.ctx, (struct doca_gpu *)t),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_ctx_set_completion_vector(t->server.ctx, 0), DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_ctx_set_datapath_on_dpa(NULL, (struct doca_dpa *)t));
	T_INVALID(doca_ctx_set_datapath_on_gpu(t->client.ctx, NULL));
	T_INVALID(doca_ctx_set_completion_vector(NULL, 0));
	info = doca_dev_as_devinfo(t->client.dev);
	T_GETS(doca_ctx_cap_get_num_completion_vectors(info, &n), n, 0);
	T_REFUSES_NULL(doca_ctx_cap_get_num_completion_vectors, info, &n);
	doca_ctx_flush_tasks(t->client.ctx);
}

T_CASE(null_arguments)
{
	enum doca_ctx_states state;
	union doca_data data = { .u64 = 0 };
	struct doca_pe *pe;
	size_t n;
	int fd;

	T_INVALID(doca_ctx_start(NULL));
	T_INVALID(doca_ctx_stop(NULL));
	T_INVALID(doca_ctx_get_num_inflight_tasks(NULL, &n));
	T_INVALID(doca_ctx_set_user_data(NULL, data));
	T_INVALID(doca_ctx_get_user_data(NULL, &data));
	T_INVALID(doca_ctx_set_state_changed_cb(NULL, NULL));
	T_INVALID(doca_ctx_get_state(NULL, &state));
	T_INVALID(doca_pe_create(NULL));
	T_INVALID(doca_pe_destroy(NULL));
	T_EQ(doca_pe_progress(NULL), 0);
	T_OK(doca_pe_create(&pe));
	T_REFUSES_NULL(doca_pe_get_notification_handle, pe, &fd);
	T_INVALID(doca_pe_clear_notification(NULL, 0));
	T_INVALID(doca_pe_request_notification(NULL));
	T_REFUSES_NULL(doca_pe_get_num_inflight_tasks, pe, &n);
	T_REFUSES_NULL(doca_pe_connect_ctx, pe, NULL);
	T_OK(doca_pe_destroy(pe));
	T_INVALID(doca_task_submit(NULL));
	T_INVALID(doca_task_try_submit(NULL));
	T_INVALID(doca_task_submit_ex(NULL, 0));
	T_INVALID(doca_task_get_status(NULL));
	doca_task_set_user_data(NULL, data);
	T_EQ(doca_task_get_user_data(NULL).u64, 0);
	T_CHECK(doca_task_get_ctx(NULL) == NULL);
	doca_task_free(NULL);
}

T_CASE(batches_are_not_here)
{
	union doca_data data = { .u64 = 1 };

	T_IS(doca_task_batch_submit(NULL), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_task_batch_try_submit(NULL), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_task_batch_get_status(NULL), DOCA_ERROR_NOT_SUPPORTED);
	doca_task_batch_free(NULL);
	doca_task_batch_set_user_data(NULL, data);
	T_EQ(doca_task_batch_get_user_data(NULL).u64, 0);
	T_EQ(doca_task_batch_get_ctx_user_data(NULL).u64, 0);
	T_CHECK(doca_task_batch_get_ctx(NULL) == NULL);
	T_EQ(doca_task_batch_get_tasks_num(NULL), 0);
}

/* behaviour: P1, P3, P4, S27 */
T_CASE(engine)
{
	struct doca_pe *pe;
	struct pair t;

	pair_create(&t);
	T_OK(doca_pe_create(&pe));
	T_EQ(doca_pe_progress(pe), 0);
	T_IS(doca_pe_connect_ctx(pe, t.server.ctx), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_pe_connect_ctx(t.server.pe, t.server.ctx), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_ctx_start(t.server.ctx));
	T_IS(doca_pe_connect_ctx(pe, t.server.ctx), DOCA_ERROR_BAD_STATE);
	T_IS(doca_pe_destroy(t.server.pe), DOCA_ERROR_IN_USE);
	T_IS(doca_comch_server_destroy(t.server.server), DOCA_ERROR_IN_USE);
	pair_connect(&t);
	T_IS(doca_comch_client_destroy(t.client.client), DOCA_ERROR_IN_USE);
	while (pair_progress(&t))
		;
	pair_close(&t);
	T_OK(doca_pe_destroy(pe));
}

/* behaviour: P5 */
PAIR_CASE(one_engine_for_all, t)
{
	struct memory mem;
	struct queue c, p;
	struct doca_buf *buf;
	uint32_t id;

	memory_create(&mem, t->server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	consumer_create(&c, t->server.conn, mem.mmap, t->server.pe, 4);
	id = consumer_start(t, &c);
	producer_create(&p, t->client.conn, t->client.pe, 4);
	T_OK(doca_ctx_start(p.ctx));
	buf = memory_buf(&mem, 0, 64, false);
	queue_post(&c, buf);
	queue_submit(t, queue_put_task(&p, NULL, "hi", 2, id));
	side_send(&t->client, "msg", 3);
	T_WAIT(pair_progress(t), c.nb_done == 1 && p.nb_done == 1 && t->server.nb_msgs == 1);
	queue_destroy(t, &p);
	queue_destroy(t, &c);
	T_OK(doca_buf_dec_refcount(buf, NULL));
	memory_destroy(&mem);
}

static void
resubmit(struct side *side, struct doca_comch_task_send *task)
{
	struct doca_task *t = doca_comch_task_send_as_task(task);

	if (side->nb_sent < 10)
		T_OK(doca_task_submit(t));
	else
		doca_task_free(t);
}

/* behaviour: P2, P7, P8, P9, P10, P11 */
PAIR_CASE(tasks, t)
{
	const union doca_data data = { .u64 = 0x1234567890 };
	struct doca_task *task;

	t->client.hooks.sent = resubmit;
	task = doca_comch_task_send_as_task(side_task(&t->client, "abc", 3));
	T_EQ(doca_task_get_user_data(task).u64, 0);
	doca_task_set_user_data(task, data);
	T_EQ(doca_task_get_user_data(task).u64, data.u64);
	T_CHECK(doca_task_get_ctx(task) == t->client.ctx);
	T_OK(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH));
	/* It is the library's now. */
	T_INVALID(doca_task_submit(task));
	T_EQ(t->client.nb_sent, 0);
	T_WAIT(pair_progress(t), t->client.nb_sent == 10 && t->server.nb_msgs == 10);
	T_EQ(t->client.sent_data.u64, data.u64);
	T_EQ(t->client.nb_send_errors, 0);
}

/* behaviour: P6, P12, P13 */
PAIR_CASE_CREATED(pool_of_tasks, t)
{
	struct doca_comch_task_send *task[4], *more;
	unsigned int i;

	T_OK(doca_comch_client_task_send_set_conf(t->client.client, no_sent, no_sent, 4));
	T_OK(doca_ctx_start(t->server.ctx));
	pair_connect(t);
	for (i = 0; i < RTE_DIM(task); i++)
		task[i] = side_task(&t->client, "abc", 3);
	T_IS(doca_comch_client_task_send_alloc_init(t->client.client, t->client.conn, "x", 1,
		&more), DOCA_ERROR_NO_MEMORY);
	doca_task_free(doca_comch_task_send_as_task(task[2]));
	/* Once only. */
	doca_task_free(doca_comch_task_send_as_task(task[2]));
	T_INVALID(doca_task_try_submit(doca_comch_task_send_as_task(task[2])));
	T_INVALID(doca_task_submit_ex(doca_comch_task_send_as_task(task[1]), 1 << 7));
	T_OK(doca_task_try_submit(doca_comch_task_send_as_task(task[1])));
	task[2] = side_task(&t->client, "abc", 3);
	T_IS(doca_comch_client_task_send_alloc_init(t->client.client, t->client.conn, "x", 1,
		&more), DOCA_ERROR_NO_MEMORY);
	T_WAIT(pair_progress(t), t->server.nb_msgs == 1);
	T_SETTLE(pair_progress(t));
	for (i = 0; i < RTE_DIM(task); i++)
		doca_task_free(doca_comch_task_send_as_task(task[i]));
}

/* What a flow's parent leaves to its child: tasks, some of them submitted. */
struct legacy {
	struct flow *f;
	struct doca_task *send;
	struct doca_comch_consumer_task_post_recv *recv;
};

static int
use_legacy(int fd __rte_unused, void *arg)
{
	struct legacy *l = arg;

	T_EQ(doca_pe_progress(l->f->p.pe), 0);
	T_EQ(doca_pe_progress(l->f->c.pe), 0);
	T_CHECK(!pair_progress(&l->f->t));
	T_IS(doca_task_submit(l->send), DOCA_ERROR_BAD_STATE);
	T_IS(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(l->recv)),
		DOCA_ERROR_BAD_STATE);
	T_EQ(ctx_state(l->f->p.ctx), DOCA_CTX_STATE_IDLE);
	T_OK(doca_ctx_stop(l->f->c.ctx));
	T_CHECK(doca_ctx_start(l->f->p.ctx) != DOCA_SUCCESS);
	T_EQ(doca_pe_progress(l->f->p.pe), 0);
	return 0;
}

/* A forked child has the memory of its parent's contexts, but not that of the channel. */
FLOW_CASE(forked_child, f, 4096, 4)
{
	struct legacy l = { .f = f };
	struct t_proc child;

	queue_post(&f->c, NULL);
	queue_post(&f->c, NULL);
	queue_submit(&f->t, queue_put_task(&f->p, NULL, "x", 1, f->id));
	l.send = queue_put_task(&f->p, NULL, "y", 1, f->id);
	T_OK(doca_comch_consumer_task_post_recv_alloc_init(f->c.consumer, NULL, &l.recv));
	t_proc_start(&child, "child", use_legacy, &l);
	t_proc_join(&child);
	/* The parent notices nothing. */
	T_OK(doca_task_submit(l.send));
	T_WAIT(flow_progress(f), f->p.nb_done == 2 && f->c.nb_done == 2);
	T_EQ(f->c.imm[0], 'y');
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(l.recv));
}
