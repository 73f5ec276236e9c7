/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include "msgq/ends.h"

/* Ends on the CPU */

static void
on_recv(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
		union doca_data ctx_user_data)
{
	struct tmsgq_consumer *c = ctx_user_data.ptr;

	RTE_SET_USED(task_user_data);
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
		TD_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void
on_recv_error(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
		union doca_data ctx_user_data)
{
	struct tmsgq_consumer *c = ctx_user_data.ptr;

	RTE_SET_USED(task_user_data);
	c->nb_errors++;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void
sent(struct doca_comch_producer_task_send *task, struct tmsgq_producer *p, unsigned int *nb)
{
	struct doca_task *t = doca_comch_producer_task_send_as_task(task);

	++*nb;
	p->status = doca_task_get_status(t);
	doca_task_free(t);
}

static void
on_sent(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
		union doca_data ctx_user_data)
{
	struct tmsgq_producer *p = ctx_user_data.ptr;

	RTE_SET_USED(task_user_data);
	sent(task, p, &p->nb_sent);
}

static void
on_send_error(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
		union doca_data ctx_user_data)
{
	struct tmsgq_producer *p = ctx_user_data.ptr;

	RTE_SET_USED(task_user_data);
	sent(task, p, &p->nb_errors);
}

void
tmsgq_consumer_on_cpu(struct tmsgq_consumer *c, struct doca_comch_msgq *msgq, struct doca_pe *pe)
{
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c->consumer));
	TD_OK(doca_comch_consumer_get_id(c->consumer, &c->id));
	c->ctx = doca_comch_consumer_as_ctx(c->consumer);
	c->pe = pe;
	TD_OK(doca_pe_connect_ctx(pe, c->ctx));
	TD_OK(doca_ctx_set_user_data(c->ctx, (union doca_data){ .ptr = c }));
	TD_OK(doca_comch_consumer_task_post_recv_set_conf(c->consumer, on_recv, on_recv_error,
		TMSGQ_TASKS));
	TD_OK(doca_ctx_start(c->ctx));
}

void
tmsgq_producer_on_cpu(struct tmsgq_producer *p, struct doca_comch_msgq *msgq, struct doca_pe *pe)
{
	TD_OK(doca_comch_msgq_producer_create(msgq, &p->producer));
	TD_OK(doca_comch_producer_get_id(p->producer, &p->id));
	p->ctx = doca_comch_producer_as_ctx(p->producer);
	p->pe = pe;
	TD_OK(doca_pe_connect_ctx(pe, p->ctx));
	TD_OK(doca_ctx_set_user_data(p->ctx, (union doca_data){ .ptr = p }));
	TD_OK(doca_comch_producer_task_send_set_conf(p->producer, on_sent, on_send_error,
		TMSGQ_TASKS));
	TD_OK(doca_ctx_start(p->ctx));
}

/* Ends on the DPA */

void
tmsgq_consumer_on_dpa(struct tmsgq_consumer *c, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_comch_consumer_completion *comp,
		uint32_t max_recv)
{
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c->consumer));
	TD_OK(doca_comch_consumer_get_id(c->consumer, &c->id));
	c->ctx = doca_comch_consumer_as_ctx(c->consumer);
	c->comp = comp;
	TD_OK(doca_ctx_set_datapath_on_dpa(c->ctx, dpa));
	TD_OK(doca_comch_consumer_set_completion(c->consumer, comp, 7));
	TD_OK(doca_comch_consumer_set_dev_max_num_recv(c->consumer, max_recv));
	TD_OK(doca_ctx_start(c->ctx));
	TD_OK(doca_comch_consumer_get_dpa_handle(c->consumer, &c->handle));
	TD_OK(doca_comch_consumer_completion_get_dpa_handle(comp, &c->comp_handle));
}

void
tmsgq_producer_on_dpa(struct tmsgq_producer *p, struct doca_comch_msgq *msgq,
		struct doca_dpa *dpa, struct doca_dpa_completion *comp)
{
	TD_OK(doca_comch_msgq_producer_create(msgq, &p->producer));
	TD_OK(doca_comch_producer_get_id(p->producer, &p->id));
	p->ctx = doca_comch_producer_as_ctx(p->producer);
	p->comp = comp;
	TD_OK(doca_ctx_set_datapath_on_dpa(p->ctx, dpa));
	TD_OK(doca_ctx_set_user_data(p->ctx, (union doca_data){ .u64 = 0xabcdef }));
	TD_OK(doca_comch_producer_set_dev_max_num_send(p->producer, 32));
	TD_OK(doca_comch_producer_dpa_completion_attach(p->producer, comp));
	TD_OK(doca_ctx_start(p->ctx));
	TD_OK(doca_comch_producer_get_dpa_handle(p->producer, &p->handle));
	TD_OK(doca_dpa_completion_get_dpa_handle(comp, &p->comp_handle));
}

/* IDLE, and gone. */
static void
end_ctx(struct doca_ctx *ctx, struct doca_pe *pe)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
	doca_error_t ret = doca_ctx_stop(ctx);

	if (ret == DOCA_SUCCESS)
		return;
	TD_IS(ret, DOCA_ERROR_IN_PROGRESS);
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(pe);
		TD_OK(doca_ctx_get_state(ctx, &state));
	}
}

void
tmsgq_consumer_end(struct tmsgq_consumer *c)
{
	end_ctx(c->ctx, c->pe);
	TD_OK(doca_comch_consumer_destroy(c->consumer));
}

void
tmsgq_producer_end(struct tmsgq_producer *p)
{
	end_ctx(p->ctx, p->pe);
	TD_OK(doca_comch_producer_destroy(p->producer));
}

struct doca_comch_consumer_completion *
tmsgq_consumer_completion(struct doca_dpa_thread *thread, uint32_t nb_consumers,
		uint32_t max_recv)
{
	struct doca_comch_consumer_completion *comp;

	TD_OK(doca_comch_consumer_completion_create(&comp));
	TD_OK(doca_comch_consumer_completion_set_max_num_consumers(comp, nb_consumers));
	TD_OK(doca_comch_consumer_completion_set_max_num_recv(comp, max_recv));
	TD_OK(doca_comch_consumer_completion_set_dpa_thread(comp, thread));
	TD_OK(doca_comch_consumer_completion_start(comp));
	return comp;
}

struct doca_dpa_completion *
tmsgq_completion(struct doca_dpa *dpa, struct doca_dpa_thread *thread)
{
	struct doca_dpa_completion *comp;

	TD_OK(doca_dpa_completion_create(dpa, 64, &comp));
	if (thread != NULL)
		TD_OK(doca_dpa_completion_set_thread(comp, thread));
	TD_OK(doca_dpa_completion_start(comp));
	return comp;
}

/* All of it */

struct doca_comch_msgq *
tmsgq_create(struct doca_dev *dev, struct doca_dpa *dpa, enum tmsgq_way way,
		uint32_t nb_consumers, uint32_t nb_producers)
{
	struct doca_comch_msgq *msgq;

	TD_OK(doca_comch_msgq_create(dev, &msgq));
	TD_OK(doca_comch_msgq_set_max_num_consumers(msgq, nb_consumers));
	TD_OK(doca_comch_msgq_set_max_num_producers(msgq, nb_producers));
	if (way == TMSGQ_TO_DPA)
		TD_OK(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	if (way == TMSGQ_FROM_DPA)
		TD_OK(doca_comch_msgq_set_dpa_producer(msgq, dpa));
	TD_OK(doca_comch_msgq_start(msgq));
	return msgq;
}

void
tmsgq_open(struct tmsgq *m, struct doca_dpa_app *app, enum tmsgq_way way, doca_dpa_func_t *kernel,
		uint64_t arg)
{
	struct doca_pe *pe;

	memset(m, 0, sizeof(*m));
	m->way = way;
	m->dpa = tdpa_start(app);
	TD_OK(doca_dpa_thread_create(m->dpa, &m->thread));
	TD_OK(doca_dpa_thread_set_func_arg(m->thread, kernel, arg));
	TD_OK(doca_dpa_thread_start(m->thread));
	TD_OK(doca_pe_create(&pe));
	m->msgq = tmsgq_create(tdpa_dev(0), m->dpa, way, 1, 1);
	if (way == TMSGQ_TO_DPA) {
		m->c.comp = tmsgq_consumer_completion(m->thread, 1, 16);
		tmsgq_consumer_on_dpa(&m->c, m->msgq, m->dpa, m->c.comp, 16);
		tmsgq_producer_on_cpu(&m->p, m->msgq, pe);
	} else {
		tmsgq_consumer_on_cpu(&m->c, m->msgq, pe);
		m->p.comp = tmsgq_completion(m->dpa, m->thread);
		tmsgq_producer_on_dpa(&m->p, m->msgq, m->dpa, m->p.comp);
	}
	TD_OK(doca_dpa_thread_run(m->thread));
}

void
tmsgq_close(struct tmsgq *m)
{
	struct doca_dev *dev = tdpa_dev(0);

	tmsgq_producer_end(&m->p);
	tmsgq_consumer_end(&m->c);
	TD_OK(doca_comch_msgq_stop(m->msgq));
	TD_OK(doca_comch_msgq_destroy(m->msgq));
	if (m->c.comp != NULL) {
		TD_OK(doca_comch_consumer_completion_stop(m->c.comp));
		TD_OK(doca_comch_consumer_completion_destroy(m->c.comp));
	}
	if (m->p.comp != NULL) {
		TD_OK(doca_dpa_completion_stop(m->p.comp));
		TD_OK(doca_dpa_completion_destroy(m->p.comp));
	}
	TD_OK(doca_pe_destroy(m->way == TMSGQ_TO_DPA ? m->p.pe : m->c.pe));
	TD_OK(doca_dpa_thread_stop(m->thread));
	TD_OK(doca_dpa_thread_destroy(m->thread));
	/* Opened by tmsgq_open(), and just now. */
	TD_OK(doca_dev_close(dev));
	TD_OK(doca_dev_close(dev));
	tdpa_end(m->dpa);
}

void
tmsgq_post(struct tmsgq_consumer *c, unsigned int n)
{
	struct doca_comch_consumer_task_post_recv *task;

	for (; n > 0; n--) {
		TD_OK(doca_comch_consumer_task_post_recv_alloc_init(c->consumer, NULL, &task));
		TD_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
}

doca_error_t
tmsgq_send(struct tmsgq_producer *p, uint32_t consumer_id, const void *imm, uint32_t len)
{
	struct doca_comch_producer_task_send *task;
	struct doca_task *t;
	uint8_t copy[32];
	doca_error_t ret;

	memcpy(copy, imm, len);
	TD_OK(doca_comch_producer_task_send_alloc_init(p->producer, NULL, copy, len, consumer_id,
		&task));
	t = doca_comch_producer_task_send_as_task(task);
	ret = doca_task_submit(t);
	if (ret != DOCA_SUCCESS)
		doca_task_free(t);
	return ret;
}

doca_error_t
tmsgq_send_u64(struct tmsgq_producer *p, uint32_t consumer_id, uint64_t val)
{
	return tmsgq_send(p, consumer_id, &val, sizeof(val));
}

void
tmsgq_send_all(struct tmsgq_producer *p, uint32_t consumer_id, uint64_t val)
{
	doca_error_t ret;

	while ((ret = tmsgq_send_u64(p, consumer_id, val)) != DOCA_SUCCESS)
		TD_IS(ret, DOCA_ERROR_AGAIN);
	doca_pe_progress(p->pe);
}

uint64_t
tmsgq_rpc(uint64_t call)
{
	const struct tmsgq_call *c = (const struct tmsgq_call *)(uintptr_t)call;

	return c->fn(c->arg);
}

doca_error_t
tmsgq_run(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg, uint64_t *ret)
{
	const struct tmsgq_call call = { .fn = fn, .arg = arg };

	return doca_dpa_rpc(dpa, TDPA_F(tmsgq_rpc), ret, (uint64_t)(uintptr_t)&call);
}

void
tmsgq_is_fault(struct doca_dpa *dpa, uint64_t (*fn)(void *arg), void *arg)
{
	uint64_t ret;

	TD_OK(doca_dpa_peek_at_last_error(dpa));
	TD_IS(tmsgq_run(dpa, fn, arg, &ret), DOCA_ERROR_DRIVER);
	TD_IS(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
}
