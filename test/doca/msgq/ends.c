/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include "msgq/ends.h"

/* Ends on the CPU */

static void
on_recv(struct doca_comch_consumer_task_post_recv *task,
		union doca_data task_user_data __rte_unused, union doca_data ctx_user_data)
{
	struct msgq_consumer *c = ctx_user_data.ptr;

	c->nb_recv++;
	c->imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	c->producer_id = doca_comch_consumer_task_post_recv_get_producer_id(task);
	if (c->imm_len > 0)
		memcpy(c->imm, doca_comch_consumer_task_post_recv_get_imm_data(task), c->imm_len);
	if (c->on_recv != NULL)
		c->on_recv(c);
	/* Post it again, or give it back. */
	if (c->arg == NULL)
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
	else
		T_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void
on_recv_error(struct doca_comch_consumer_task_post_recv *task,
		union doca_data task_user_data __rte_unused, union doca_data ctx_user_data)
{
	struct msgq_consumer *c = ctx_user_data.ptr;

	c->nb_errors++;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void
sent(struct doca_comch_producer_task_send *task, struct msgq_producer *p, unsigned int *nb)
{
	struct doca_task *t = doca_comch_producer_task_send_as_task(task);

	++*nb;
	p->status = doca_task_get_status(t);
	doca_task_free(t);
}

static void
on_sent(struct doca_comch_producer_task_send *task, union doca_data task_user_data __rte_unused,
		union doca_data ctx_user_data)
{
	struct msgq_producer *p = ctx_user_data.ptr;

	sent(task, p, &p->nb_sent);
}

static void
on_send_error(struct doca_comch_producer_task_send *task,
		union doca_data task_user_data __rte_unused, union doca_data ctx_user_data)
{
	struct msgq_producer *p = ctx_user_data.ptr;

	sent(task, p, &p->nb_errors);
}

void
msgq_consumer_on_cpu(struct msgq_consumer *c, struct doca_comch_msgq *msgq, struct doca_pe *pe)
{
	T_OK(doca_comch_msgq_consumer_create(msgq, &c->consumer));
	T_OK(doca_comch_consumer_get_id(c->consumer, &c->id));
	c->ctx = doca_comch_consumer_as_ctx(c->consumer);
	c->pe = pe;
	T_OK(doca_pe_connect_ctx(pe, c->ctx));
	T_OK(doca_ctx_set_user_data(c->ctx, (union doca_data){ .ptr = c }));
	T_OK(doca_comch_consumer_task_post_recv_set_conf(c->consumer, on_recv, on_recv_error,
		MSGQ_TASKS));
	T_OK(doca_ctx_start(c->ctx));
}

void
msgq_producer_on_cpu(struct msgq_producer *p, struct doca_comch_msgq *msgq, struct doca_pe *pe)
{
	T_OK(doca_comch_msgq_producer_create(msgq, &p->producer));
	T_OK(doca_comch_producer_get_id(p->producer, &p->id));
	p->ctx = doca_comch_producer_as_ctx(p->producer);
	p->pe = pe;
	T_OK(doca_pe_connect_ctx(pe, p->ctx));
	T_OK(doca_ctx_set_user_data(p->ctx, (union doca_data){ .ptr = p }));
	T_OK(doca_comch_producer_task_send_set_conf(p->producer, on_sent, on_send_error,
		MSGQ_TASKS));
	T_OK(doca_ctx_start(p->ctx));
}

/* Ends on the DPA */

void
msgq_consumer_on_dpa(struct msgq_consumer *c, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_comch_consumer_completion *comp,
		uint32_t max_recv)
{
	T_OK(doca_comch_msgq_consumer_create(msgq, &c->consumer));
	T_OK(doca_comch_consumer_get_id(c->consumer, &c->id));
	c->ctx = doca_comch_consumer_as_ctx(c->consumer);
	c->comp = comp;
	T_OK(doca_ctx_set_datapath_on_dpa(c->ctx, dpa));
	T_OK(doca_comch_consumer_set_completion(c->consumer, comp, 7));
	T_OK(doca_comch_consumer_set_dev_max_num_recv(c->consumer, max_recv));
	T_OK(doca_ctx_start(c->ctx));
	T_OK(doca_comch_consumer_get_dpa_handle(c->consumer, &c->handle));
	T_OK(doca_comch_consumer_completion_get_dpa_handle(comp, &c->comp_handle));
}

void
msgq_producer_on_dpa(struct msgq_producer *p, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_dpa_completion *comp)
{
	T_OK(doca_comch_msgq_producer_create(msgq, &p->producer));
	T_OK(doca_comch_producer_get_id(p->producer, &p->id));
	p->ctx = doca_comch_producer_as_ctx(p->producer);
	p->comp = comp;
	T_OK(doca_ctx_set_datapath_on_dpa(p->ctx, dpa));
	T_OK(doca_ctx_set_user_data(p->ctx, (union doca_data){ .u64 = 0xabcdef }));
	T_OK(doca_comch_producer_set_dev_max_num_send(p->producer, 32));
	T_OK(doca_comch_producer_dpa_completion_attach(p->producer, comp));
	T_OK(doca_ctx_start(p->ctx));
	T_OK(doca_comch_producer_get_dpa_handle(p->producer, &p->handle));
	T_OK(doca_dpa_completion_get_dpa_handle(comp, &p->comp_handle));
}

/* IDLE, and gone. */
static void
end_ctx(struct doca_ctx *ctx, struct doca_pe *pe)
{
	doca_error_t ret = doca_ctx_stop(ctx);

	if (ret == DOCA_SUCCESS)
		return;
	T_IS(ret, DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(pe), ctx_is_idle(ctx));
}

void
msgq_consumer_end(struct msgq_consumer *c)
{
	end_ctx(c->ctx, c->pe);
	T_OK(doca_comch_consumer_destroy(c->consumer));
}

void
msgq_producer_end(struct msgq_producer *p)
{
	end_ctx(p->ctx, p->pe);
	T_OK(doca_comch_producer_destroy(p->producer));
}

struct doca_comch_consumer_completion *
msgq_consumer_completion(struct doca_dpa_thread *thread, uint32_t nb_consumers,
		uint32_t max_recv)
{
	struct doca_comch_consumer_completion *comp;

	T_OK(doca_comch_consumer_completion_create(&comp));
	T_OK(doca_comch_consumer_completion_set_max_num_consumers(comp, nb_consumers));
	T_OK(doca_comch_consumer_completion_set_max_num_recv(comp, max_recv));
	T_OK(doca_comch_consumer_completion_set_dpa_thread(comp, thread));
	T_OK(doca_comch_consumer_completion_start(comp));
	return comp;
}

struct doca_dpa_completion *
msgq_completion(struct doca_dpa *dpa, struct doca_dpa_thread *thread)
{
	struct doca_dpa_completion *comp;

	T_OK(doca_dpa_completion_create(dpa, 64, &comp));
	if (thread != NULL)
		T_OK(doca_dpa_completion_set_thread(comp, thread));
	T_OK(doca_dpa_completion_start(comp));
	return comp;
}

/* All of it */

struct doca_comch_msgq *
msgq_create(struct doca_dev *dev, struct doca_dpa *dpa, enum msgq_way way,
		uint32_t nb_consumers, uint32_t nb_producers)
{
	struct doca_comch_msgq *msgq;

	T_OK(doca_comch_msgq_create(dev, &msgq));
	T_OK(doca_comch_msgq_set_max_num_consumers(msgq, nb_consumers));
	T_OK(doca_comch_msgq_set_max_num_producers(msgq, nb_producers));
	if (way == MSGQ_TO_DPA)
		T_OK(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	if (way == MSGQ_FROM_DPA)
		T_OK(doca_comch_msgq_set_dpa_producer(msgq, dpa));
	T_OK(doca_comch_msgq_start(msgq));
	return msgq;
}

void
msgq_open(struct msgq *m, struct doca_dpa_app *app, enum msgq_way way, doca_dpa_func_t *kernel,
		uint64_t arg)
{
	struct doca_pe *pe;

	memset(m, 0, sizeof(*m));
	m->way = way;
	m->dpa = dpa_program_start(app);
	T_OK(doca_dpa_thread_create(m->dpa, &m->thread));
	T_OK(doca_dpa_thread_set_func_arg(m->thread, kernel, arg));
	T_OK(doca_dpa_thread_start(m->thread));
	T_OK(doca_pe_create(&pe));
	m->msgq = msgq_create(host_dev(0), m->dpa, way, 1, 1);
	if (way == MSGQ_TO_DPA) {
		m->c.comp = msgq_consumer_completion(m->thread, 1, 16);
		msgq_consumer_on_dpa(&m->c, m->msgq, m->dpa, m->c.comp, 16);
		msgq_producer_on_cpu(&m->p, m->msgq, pe);
	} else {
		msgq_consumer_on_cpu(&m->c, m->msgq, pe);
		m->p.comp = msgq_completion(m->dpa, m->thread);
		msgq_producer_on_dpa(&m->p, m->msgq, m->dpa, m->p.comp);
	}
	T_OK(doca_dpa_thread_run(m->thread));
}

void
msgq_close(struct msgq *m)
{
	struct doca_dev *dev = host_dev(0);

	msgq_producer_end(&m->p);
	msgq_consumer_end(&m->c);
	T_OK(doca_comch_msgq_stop(m->msgq));
	T_OK(doca_comch_msgq_destroy(m->msgq));
	if (m->c.comp != NULL) {
		T_OK(doca_comch_consumer_completion_stop(m->c.comp));
		T_OK(doca_comch_consumer_completion_destroy(m->c.comp));
	}
	if (m->p.comp != NULL) {
		T_OK(doca_dpa_completion_stop(m->p.comp));
		T_OK(doca_dpa_completion_destroy(m->p.comp));
	}
	T_OK(doca_pe_destroy(m->way == MSGQ_TO_DPA ? m->p.pe : m->c.pe));
	T_OK(doca_dpa_thread_stop(m->thread));
	T_OK(doca_dpa_thread_destroy(m->thread));
	/* Opened by msgq_open(), and just now. */
	T_OK(doca_dev_close(dev));
	T_OK(doca_dev_close(dev));
	dpa_program_end(m->dpa);
}

void
msgq_post(struct msgq_consumer *c, unsigned int n)
{
	struct doca_comch_consumer_task_post_recv *task;

	for (; n > 0; n--) {
		T_OK(doca_comch_consumer_task_post_recv_alloc_init(c->consumer, NULL, &task));
		T_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
}

doca_error_t
msgq_send(struct msgq_producer *p, uint32_t consumer_id, const void *imm, uint32_t len)
{
	struct doca_comch_producer_task_send *task;
	struct doca_task *t;
	uint8_t copy[32];
	doca_error_t ret;

	memcpy(copy, imm, len);
	T_OK(doca_comch_producer_task_send_alloc_init(p->producer, NULL, copy, len, consumer_id,
		&task));
	t = doca_comch_producer_task_send_as_task(task);
	ret = doca_task_submit(t);
	if (ret != DOCA_SUCCESS)
		doca_task_free(t);
	return ret;
}

doca_error_t
msgq_send_u64(struct msgq_producer *p, uint32_t consumer_id, uint64_t val)
{
	return msgq_send(p, consumer_id, &val, sizeof(val));
}

void
msgq_send_all(struct msgq_producer *p, uint32_t consumer_id, uint64_t val)
{
	doca_error_t ret;

	T_AWAIT((ret = msgq_send_u64(p, consumer_id, val)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
	doca_pe_progress(p->pe);
}

uint64_t
msgq_rpc(uint64_t call)
{
	const struct msgq_call *c = (const struct msgq_call *)(uintptr_t)call;

	return c->fn(c->arg);
}

doca_error_t
msgq_run(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg, uint64_t *ret)
{
	const struct msgq_call call = { .fn = fn, .arg = arg };

	return doca_dpa_rpc(dpa, DPA_HOST_FUNC(msgq_rpc), ret, (uint64_t)(uintptr_t)&call);
}

void
msgq_is_fault(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg)
{
	uint64_t ret;

	T_OK(doca_dpa_peek_at_last_error(dpa));
	T_IS(msgq_run(dpa, fn, arg, &ret), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
}
