/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ: how it is set up, what is refused, and both ends on the CPU. */

#include "t_main.h"
#include "msgq/ends.h"

#define BAD DOCA_ERROR_BAD_STATE
#define INVALID DOCA_ERROR_INVALID_VALUE

static void
kernel(uint64_t arg)
{
	RTE_SET_USED(arg);
}

TDPA_KERNEL(kernel)
TDPA_RPC(tmsgq_rpc)

static const struct comch_doca_dpa_func funcs[] = {
	TDPA_FUNC(kernel, 0), TDPA_FUNC(tmsgq_rpc, 1),
};
TDPA_APP(app, funcs);

/* behaviour: Q1, Q2, Q3 */
static void
life(void)
{
	struct doca_comch_consumer *c, *c2;
	struct doca_comch_producer *p;
	struct doca_comch_msgq *msgq;
	struct doca_dpa *dpa, *other;
	struct doca_dev *dev, *dev2;
	uint32_t id;

	dpa = tdpa_start(&app);
	dev = tdpa_dev(0);
	dev2 = tdpa_dev(1);
	TD_OK(doca_dpa_create(dev2, &other));
	TD_IS(doca_comch_msgq_create(NULL, &msgq), INVALID);
	TD_IS(doca_comch_msgq_create(dev, NULL), INVALID);
	TD_OK(doca_comch_msgq_create(dev, &msgq));
	TD_IS(doca_comch_msgq_set_dpa_consumer(NULL, dpa), INVALID);
	TD_IS(doca_comch_msgq_set_dpa_consumer(msgq, NULL), INVALID);
	TD_IS(doca_comch_msgq_set_dpa_consumer(msgq, other), INVALID);
	TD_IS(doca_comch_msgq_set_dpa_producer(NULL, dpa), INVALID);
	TD_IS(doca_comch_msgq_set_dpa_producer(msgq, NULL), INVALID);
	TD_IS(doca_comch_msgq_set_max_num_consumers(NULL, 1), INVALID);
	TD_IS(doca_comch_msgq_set_max_num_consumers(msgq, 0), INVALID);
	TD_IS(doca_comch_msgq_set_max_num_consumers(msgq, 257), INVALID);
	TD_IS(doca_comch_msgq_set_max_num_producers(NULL, 1), INVALID);
	TD_IS(doca_comch_msgq_set_max_num_producers(msgq, 0), INVALID);
	TD_IS(doca_comch_msgq_set_max_num_producers(msgq, 257), INVALID);
	TD_IS(doca_comch_msgq_start(NULL), INVALID);
	TD_IS(doca_comch_msgq_stop(NULL), INVALID);
	TD_IS(doca_comch_msgq_destroy(NULL), INVALID);
	TD_IS(doca_comch_msgq_stop(msgq), BAD);
	TD_IS(doca_comch_msgq_consumer_create(msgq, &c), BAD);
	TD_IS(doca_comch_msgq_producer_create(msgq, &p), BAD);
	TD_OK(doca_comch_msgq_set_max_num_consumers(msgq, 2));
	TD_OK(doca_comch_msgq_start(msgq));
	TD_IS(doca_comch_msgq_start(msgq), BAD);
	TD_IS(doca_comch_msgq_set_dpa_consumer(msgq, dpa), BAD);
	TD_IS(doca_comch_msgq_set_dpa_producer(msgq, dpa), BAD);
	TD_IS(doca_comch_msgq_set_max_num_consumers(msgq, 1), BAD);
	TD_IS(doca_comch_msgq_set_max_num_producers(msgq, 1), BAD);
	TD_IS(doca_comch_msgq_destroy(msgq), DOCA_ERROR_IN_USE);
	TD_IS(doca_comch_msgq_consumer_create(NULL, &c), INVALID);
	TD_IS(doca_comch_msgq_consumer_create(msgq, NULL), INVALID);
	TD_IS(doca_comch_msgq_producer_create(NULL, &p), INVALID);
	TD_IS(doca_comch_msgq_producer_create(msgq, NULL), INVALID);
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c));
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c2));
	TD_OK(doca_comch_consumer_get_id(c, &id));
	T_EQ(id, 1);
	TD_OK(doca_comch_consumer_get_id(c2, &id));
	T_EQ(id, 2);
	TD_OK(doca_comch_consumer_destroy(c));
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c));
	TD_OK(doca_comch_consumer_get_id(c, &id));
	T_EQ(id, 1);
	TD_IS(doca_comch_msgq_stop(msgq), DOCA_ERROR_IN_USE);
	TD_OK(doca_comch_msgq_producer_create(msgq, &p));
	TD_OK(doca_comch_producer_get_id(p, &id));
	T_EQ(id, 1);
	TD_OK(doca_comch_consumer_destroy(c));
	TD_OK(doca_comch_consumer_destroy(c2));
	TD_IS(doca_comch_msgq_stop(msgq), DOCA_ERROR_IN_USE);
	TD_OK(doca_comch_producer_destroy(p));
	TD_OK(doca_comch_msgq_stop(msgq));
	TD_OK(doca_comch_msgq_destroy(msgq));
	TD_OK(doca_dpa_destroy(other));
	TD_OK(doca_dev_close(dev2));
	TD_OK(doca_dev_close(dev));
	tdpa_end(dpa);
}

static void
limits(void)
{
	struct doca_comch_consumer *c[3];
	struct doca_comch_producer *p[2];
	struct doca_comch_msgq *msgq;
	struct doca_dpa *dpa;
	struct doca_dev *dev;

	dpa = tdpa_start(&app);
	dev = tdpa_dev(0);
	msgq = tmsgq_create(dev, dpa, TMSGQ_CPU, 2, 1);
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c[0]));
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c[1]));
	TD_IS(doca_comch_msgq_consumer_create(msgq, &c[2]), DOCA_ERROR_FULL);
	TD_OK(doca_comch_msgq_producer_create(msgq, &p[0]));
	TD_IS(doca_comch_msgq_producer_create(msgq, &p[1]), DOCA_ERROR_FULL);
	TD_OK(doca_comch_consumer_destroy(c[0]));
	TD_OK(doca_comch_consumer_destroy(c[1]));
	TD_OK(doca_comch_producer_destroy(p[0]));
	TD_OK(doca_comch_msgq_stop(msgq));
	/* One direction, and a DPA that is there. */
	TD_OK(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	TD_OK(doca_comch_msgq_set_dpa_producer(msgq, dpa));
	TD_IS(doca_comch_msgq_start(msgq), INVALID);
	TD_OK(doca_comch_msgq_destroy(msgq));
	TD_OK(doca_dev_close(dev));
	tdpa_end(dpa);
}

static void
dpa_has_to_be_started(void)
{
	struct doca_comch_msgq *msgq;
	struct doca_dpa *dpa;
	struct doca_dev *dev;

	dev = tdpa_dev(0);
	TD_OK(doca_dpa_create(dev, &dpa));
	TD_OK(doca_comch_msgq_create(dev, &msgq));
	TD_OK(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	TD_IS(doca_comch_msgq_start(msgq), BAD);
	TD_IS(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	TD_OK(doca_comch_msgq_destroy(msgq));
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
}

/* behaviour: Q13 */
static void
set_completion(void)
{
	struct doca_comch_consumer_completion *comp;
	uint32_t val;

	TD_IS(doca_comch_consumer_completion_create(NULL), INVALID);
	TD_OK(doca_comch_consumer_completion_create(&comp));
	TD_IS(doca_comch_consumer_completion_start(NULL), INVALID);
	TD_IS(doca_comch_consumer_completion_stop(NULL), INVALID);
	TD_IS(doca_comch_consumer_completion_destroy(NULL), INVALID);
	TD_IS(doca_comch_consumer_completion_start(comp), INVALID);
	TD_IS(doca_comch_consumer_completion_set_dpa_thread(comp, NULL), INVALID);
	TD_IS(doca_comch_consumer_completion_set_max_num_consumers(comp, 0), INVALID);
	TD_IS(doca_comch_consumer_completion_set_max_num_consumers(NULL, 1), INVALID);
	TD_IS(doca_comch_consumer_completion_set_max_num_recv(comp, 65537), INVALID);
	TD_IS(doca_comch_consumer_completion_set_max_num_recv(NULL, 1), INVALID);
	TD_IS(doca_comch_consumer_completion_set_imm_data_len(comp, 33), INVALID);
	TD_IS(doca_comch_consumer_completion_set_imm_data_len(NULL, 1), INVALID);
	TD_OK(doca_comch_consumer_completion_set_max_num_consumers(comp, 3));
	TD_OK(doca_comch_consumer_completion_get_max_num_consumers(comp, &val));
	T_EQ(val, 4);
	TD_IS(doca_comch_consumer_completion_get_max_num_consumers(comp, NULL), INVALID);
	TD_IS(doca_comch_consumer_completion_get_max_num_consumers(NULL, &val), INVALID);
	TD_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 5));
	TD_OK(doca_comch_consumer_completion_get_max_num_recv(comp, &val));
	T_EQ(val, 8);
	TD_IS(doca_comch_consumer_completion_get_max_num_recv(comp, NULL), INVALID);
	TD_OK(doca_comch_consumer_completion_get_imm_data_len(comp, &val));
	T_EQ(val, 32);
	TD_IS(doca_comch_consumer_completion_get_imm_data_len(comp, NULL), INVALID);
	TD_OK(doca_comch_consumer_completion_set_imm_data_len(comp, 8));
	TD_OK(doca_comch_consumer_completion_get_imm_data_len(comp, &val));
	T_EQ(val, 8);
	TD_IS(doca_comch_consumer_completion_stop(comp), BAD);
	TD_OK(doca_comch_consumer_completion_destroy(comp));
}

static struct doca_dpa *dpa;
static struct doca_dev *dev;
static struct doca_dpa_thread *thread;

static void
dpa_begin(void)
{
	dpa = tdpa_start(&app);
	dev = tdpa_dev(0);
	TD_OK(doca_dpa_thread_create(dpa, &thread));
	TD_OK(doca_dpa_thread_set_func_arg(thread, TDPA_F(kernel), 0));
}

static void
dpa_end(void)
{
	TD_OK(doca_dpa_thread_stop(thread));
	TD_OK(doca_dpa_thread_destroy(thread));
	TD_OK(doca_dev_close(dev));
	tdpa_end(dpa);
}

/* behaviour: Q12 */
static void
start_completion(void)
{
	doca_dpa_dev_comch_consumer_completion_t handle;
	struct doca_comch_consumer_completion *comp;

	dpa_begin();
	TD_OK(doca_comch_consumer_completion_create(&comp));
	TD_IS(doca_comch_consumer_completion_set_dpa_thread(NULL, thread), INVALID);
	TD_OK(doca_comch_consumer_completion_set_dpa_thread(comp, thread));
	TD_IS(doca_comch_consumer_completion_start(comp), BAD);
	TD_OK(doca_dpa_thread_start(thread));
	TD_IS(doca_comch_consumer_completion_get_dpa_handle(comp, &handle), BAD);
	TD_OK(doca_comch_consumer_completion_set_max_num_consumers(comp, 256));
	TD_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 65536));
	TD_IS(doca_comch_consumer_completion_start(comp), INVALID);
	TD_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 8));
	TD_OK(doca_comch_consumer_completion_start(comp));
	TD_IS(doca_comch_consumer_completion_start(comp), BAD);
	TD_IS(doca_comch_consumer_completion_set_imm_data_len(comp, 8), BAD);
	TD_IS(doca_comch_consumer_completion_set_max_num_recv(comp, 8), BAD);
	TD_IS(doca_comch_consumer_completion_set_dpa_thread(comp, thread), BAD);
	TD_IS(doca_comch_consumer_completion_destroy(comp), DOCA_ERROR_IN_USE);
	TD_OK(doca_comch_consumer_completion_get_dpa_handle(comp, &handle));
	TD_IS(doca_comch_consumer_completion_get_dpa_handle(NULL, &handle), INVALID);
	TD_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	TD_OK(doca_comch_consumer_completion_stop(comp));
	TD_OK(doca_comch_consumer_completion_destroy(comp));
	dpa_end();
}

static void
on_task(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
		union doca_data ctx_user_data)
{
	RTE_SET_USED(task);
	RTE_SET_USED(task_user_data);
	RTE_SET_USED(ctx_user_data);
	T_FAIL("there are no tasks");
}

/* behaviour: Q12, Q13, Q14, Q15 */
static void
dpa_consumers(void)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_comch_consumer_completion *comp;
	doca_dpa_dev_comch_consumer_t handle;
	struct doca_comch_consumer *c;
	struct doca_comch_msgq *msgq;
	struct doca_ctx *ctx;

	dpa_begin();
	TD_OK(doca_dpa_thread_start(thread));
	TD_OK(doca_comch_consumer_completion_create(&comp));
	TD_OK(doca_comch_consumer_completion_set_dpa_thread(comp, thread));
	TD_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 8));
	TD_OK(doca_comch_consumer_completion_set_imm_data_len(comp, 8));
	msgq = tmsgq_create(dev, dpa, TMSGQ_TO_DPA, 1, 1);
	TD_OK(doca_comch_msgq_consumer_create(msgq, &c));
	ctx = doca_comch_consumer_as_ctx(c);
	/* On the CPU by mistake. */
	TD_IS(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	TD_IS(doca_comch_consumer_set_completion(c, comp, 0), BAD);
	TD_IS(doca_ctx_set_datapath_on_dpa(NULL, dpa), INVALID);
	TD_IS(doca_ctx_set_datapath_on_dpa(ctx, NULL), INVALID);
	TD_OK(doca_ctx_set_datapath_on_dpa(ctx, dpa));
	TD_IS(doca_ctx_start(ctx), INVALID);
	TD_IS(doca_comch_consumer_set_completion(NULL, comp, 0), INVALID);
	TD_IS(doca_comch_consumer_set_completion(c, NULL, 0), INVALID);
	TD_OK(doca_comch_consumer_set_completion(c, comp, 0));
	TD_IS(doca_ctx_start(ctx), INVALID);
	TD_IS(doca_comch_consumer_set_dev_max_num_recv(NULL, 1), INVALID);
	TD_IS(doca_comch_consumer_set_dev_max_num_recv(c, 0), INVALID);
	TD_OK(doca_comch_consumer_set_dev_max_num_recv(c, 9));
	TD_IS(doca_ctx_start(ctx), BAD);
	TD_OK(doca_comch_consumer_completion_start(comp));
	/* More receives, then more immediate data, than the completion takes. */
	TD_IS(doca_ctx_start(ctx), INVALID);
	TD_OK(doca_comch_consumer_set_dev_num_recv(c, 7));
	TD_IS(doca_ctx_start(ctx), INVALID);
	TD_OK(doca_comch_consumer_set_imm_data_len(c, 8));
	TD_IS(doca_comch_consumer_get_dpa_handle(c, &handle), BAD);
	TD_OK(doca_ctx_start(ctx));
	TD_OK(doca_comch_consumer_get_dpa_handle(c, &handle));
	TD_IS(doca_comch_consumer_get_dpa_handle(NULL, &handle), INVALID);
	TD_IS(doca_comch_consumer_get_dpa_handle(c, NULL), INVALID);
	TD_IS(doca_ctx_set_datapath_on_dpa(ctx, dpa), BAD);
	TD_IS(doca_comch_consumer_set_dev_max_num_recv(c, 8), BAD);
	TD_IS(doca_comch_consumer_set_completion(c, comp, 0), BAD);
	TD_IS(doca_comch_consumer_completion_stop(comp), DOCA_ERROR_IN_USE);
	/* There are no tasks on the DPA. */
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(c, NULL, &task), BAD);
	TD_OK(doca_ctx_stop(ctx));
	TD_IS(doca_comch_consumer_task_post_recv_set_conf(c, on_task, on_task, 1), BAD);
	TD_IS(doca_comch_consumer_get_dpa_handle(c, &handle), BAD);
	/* And again. */
	TD_OK(doca_ctx_start(ctx));
	TD_OK(doca_ctx_stop(ctx));
	TD_OK(doca_comch_consumer_completion_stop(comp));
	TD_IS(doca_comch_consumer_completion_destroy(comp), DOCA_ERROR_IN_USE);
	T_CHECK(doca_dpa_thread_destroy(thread) != DOCA_SUCCESS);
	TD_OK(doca_comch_consumer_destroy(c));
	TD_OK(doca_comch_consumer_completion_destroy(comp));
	TD_OK(doca_comch_msgq_stop(msgq));
	TD_OK(doca_comch_msgq_destroy(msgq));
	dpa_end();
}

/* behaviour: Q12, Q13, Q18 */
static void
dpa_producers(void)
{
	doca_dpa_dev_comch_producer_t handle;
	struct doca_dpa_completion *comp;
	struct doca_comch_producer *p;
	struct doca_comch_msgq *msgq;
	struct doca_ctx *ctx;

	dpa = tdpa_start(&app);
	dev = tdpa_dev(0);
	TD_OK(doca_dpa_completion_create(dpa, 8, &comp));
	msgq = tmsgq_create(dev, dpa, TMSGQ_FROM_DPA, 1, 1);
	TD_OK(doca_comch_msgq_producer_create(msgq, &p));
	ctx = doca_comch_producer_as_ctx(p);
	TD_IS(doca_comch_producer_dpa_completion_attach(p, comp), BAD);
	TD_OK(doca_ctx_set_datapath_on_dpa(ctx, dpa));
	TD_IS(doca_ctx_start(ctx), INVALID);
	TD_IS(doca_comch_producer_dpa_completion_attach(NULL, comp), INVALID);
	TD_IS(doca_comch_producer_dpa_completion_attach(p, NULL), INVALID);
	TD_IS(doca_comch_producer_dpa_completion_attach(p, comp), BAD);
	TD_OK(doca_dpa_completion_start(comp));
	TD_OK(doca_comch_producer_dpa_completion_attach(p, comp));
	TD_IS(doca_ctx_start(ctx), INVALID);
	TD_IS(doca_comch_producer_set_dev_max_num_send(NULL, 1), INVALID);
	TD_IS(doca_comch_producer_set_dev_max_num_send(p, 0), INVALID);
	TD_IS(doca_comch_producer_set_dev_max_num_send(p, 65537), INVALID);
	TD_OK(doca_comch_producer_set_dev_max_num_send(p, 5));
	TD_OK(doca_comch_producer_set_dev_num_send(p, 5));
	TD_OK(doca_comch_producer_set_dev_num_recv(p, 5));
	TD_IS(doca_comch_producer_get_dpa_handle(p, &handle), BAD);
	TD_OK(doca_ctx_start(ctx));
	TD_IS(doca_comch_producer_set_dev_max_num_send(p, 5), BAD);
	TD_IS(doca_comch_producer_dpa_completion_attach(p, comp), BAD);
	TD_OK(doca_comch_producer_get_dpa_handle(p, &handle));
	TD_IS(doca_comch_producer_get_dpa_handle(NULL, &handle), INVALID);
	TD_IS(doca_comch_producer_get_dpa_handle(p, NULL), INVALID);
	T_CHECK(doca_dpa_completion_stop(comp) != DOCA_SUCCESS);
	TD_IS(doca_comch_producer_destroy(p), DOCA_ERROR_IN_USE);
	TD_OK(doca_ctx_stop(ctx));
	TD_IS(doca_comch_producer_get_dpa_handle(p, &handle), BAD);
	TD_OK(doca_comch_producer_destroy(p));
	TD_OK(doca_dpa_completion_stop(comp));
	TD_OK(doca_dpa_completion_destroy(comp));
	TD_OK(doca_comch_msgq_stop(msgq));
	TD_OK(doca_comch_msgq_destroy(msgq));
	TD_OK(doca_dev_close(dev));
	tdpa_end(dpa);
}

/* The wrong place for an end. behaviour: Q12 */
static void
wrong_places(void)
{
	doca_dpa_dev_comch_consumer_t c_handle;
	doca_dpa_dev_comch_producer_t p_handle;
	struct tmsgq_consumer c = { .pe = NULL };
	struct doca_comch_consumer *cons;
	struct doca_comch_producer *prod;
	struct doca_comch_msgq *msgq;
	struct doca_pe *pe;

	dpa = tdpa_start(&app);
	dev = tdpa_dev(0);
	TD_OK(doca_pe_create(&pe));
	msgq = tmsgq_create(dev, dpa, TMSGQ_FROM_DPA, 2, 1);
	TD_OK(doca_comch_msgq_consumer_create(msgq, &cons));
	TD_IS(doca_ctx_set_datapath_on_dpa(doca_comch_consumer_as_ctx(cons), dpa), INVALID);
	TD_OK(doca_comch_consumer_destroy(cons));
	tmsgq_consumer_on_cpu(&c, msgq, pe);
	TD_IS(doca_comch_consumer_get_dpa_handle(c.consumer, &c_handle), BAD);
	TD_OK(doca_comch_msgq_producer_create(msgq, &prod));
	TD_OK(doca_pe_connect_ctx(pe, doca_comch_producer_as_ctx(prod)));
	TD_IS(doca_comch_producer_get_dpa_handle(prod, &p_handle), BAD);
	/* It has no tasks, and is not where it should be. */
	TD_IS(doca_ctx_start(doca_comch_producer_as_ctx(prod)), INVALID);
	TD_OK(doca_comch_producer_destroy(prod));
	tmsgq_consumer_end(&c);
	TD_OK(doca_comch_msgq_stop(msgq));
	TD_OK(doca_comch_msgq_destroy(msgq));
	TD_OK(doca_pe_destroy(pe));
	TD_OK(doca_dev_close(dev));
	tdpa_end(dpa);
}

/* behaviour: Q5, Q17 */
static void
cpu_to_cpu(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *task;
	struct tmsgq_consumer c = { .pe = NULL };
	struct tmsgq_producer p = { .pe = NULL };
	struct doca_buf *buf = (struct doca_buf *)(uintptr_t)64;
	struct doca_comch_msgq *msgq;
	uint8_t imm[33];
	struct doca_pe *pe;

	t_fill(imm, sizeof(imm), 1);
	dev = tdpa_dev(0);
	TD_OK(doca_pe_create(&pe));
	msgq = tmsgq_create(dev, NULL, TMSGQ_CPU, 1, 1);
	tmsgq_consumer_on_cpu(&c, msgq, pe);
	tmsgq_producer_on_cpu(&p, msgq, pe);
	TD_IS(tmsgq_send_u64(&p, c.id, 1), DOCA_ERROR_AGAIN);
	tmsgq_post(&c, 2);
	TD_OK(tmsgq_send(&p, c.id, imm, 32));
	TD_OK(tmsgq_send(&p, c.id, imm, 1));
	TD_IS(tmsgq_send(&p, c.id, imm, 1), DOCA_ERROR_AGAIN);
	while (c.nb_recv < 1 || p.nb_sent < 2)
		doca_pe_progress(pe);
	while (c.nb_recv < 2)
		doca_pe_progress(pe);
	T_EQ(c.imm_len, 1);
	T_EQ(c.imm[0], imm[0]);
	T_EQ(c.imm[31], imm[31]);
	T_EQ(c.producer_id, p.id);
	T_EQ(p.nb_errors, 0);
	TD_IS(doca_comch_producer_task_send_alloc_init(p.producer, NULL, imm, 33, c.id, &task),
		INVALID);
	/* No bufs, either way. */
	TD_IS(doca_comch_producer_task_send_alloc_init(p.producer, buf, NULL, 0, c.id, &task),
		INVALID);
	TD_IS(doca_comch_consumer_task_post_recv_alloc_init(c.consumer, buf, &recv), INVALID);
	/* Nobody has that id. */
	TD_OK(tmsgq_send(&p, c.id + 1, imm, 1));
	while (p.nb_errors < 1)
		doca_pe_progress(pe);
	/* A stop brings back what is posted. */
	tmsgq_post(&c, 3);
	tmsgq_consumer_end(&c);
	T_EQ(c.nb_errors, 3);
	tmsgq_producer_end(&p);
	TD_OK(doca_comch_msgq_stop(msgq));
	TD_OK(doca_comch_msgq_destroy(msgq));
	TD_OK(doca_pe_destroy(pe));
	TD_OK(doca_dev_close(dev));
}

/* An engine that sleeps wakes for a message, and for a receive that was posted. */
static void
asleep(void)
{
	struct tmsgq_consumer c = { .pe = NULL };
	struct tmsgq_producer p = { .pe = NULL };
	doca_notification_handle_t fd[2];
	struct doca_comch_msgq *msgq;
	struct doca_pe *pe[2];
	int i;

	dev = tdpa_dev(0);
	msgq = tmsgq_create(dev, NULL, TMSGQ_CPU, 1, 1);
	for (i = 0; i < 2; i++) {
		TD_OK(doca_pe_create(&pe[i]));
		TD_OK(doca_pe_get_notification_handle(pe[i], &fd[i]));
	}
	tmsgq_consumer_on_cpu(&c, msgq, pe[0]);
	tmsgq_producer_on_cpu(&p, msgq, pe[1]);
	for (i = 1; i <= 100; i++) {
		TD_IS(tmsgq_send_u64(&p, c.id, 1), DOCA_ERROR_AGAIN);
		while (doca_pe_progress(pe[1]) != 0)
			;
		TD_OK(doca_pe_request_notification(pe[1]));
		T_CHECK(!t_readable(fd[1], 0));
		tmsgq_post(&c, 1);
		T_CHECK(t_readable(fd[1], T_TIMEOUT_MS));
		TD_OK(doca_pe_clear_notification(pe[1], fd[1]));
		while (doca_pe_progress(pe[0]) != 0)
			;
		TD_OK(doca_pe_request_notification(pe[0]));
		T_CHECK(!t_readable(fd[0], 0));
		TD_OK(tmsgq_send_u64(&p, c.id, 1));
		T_CHECK(t_readable(fd[0], T_TIMEOUT_MS));
		TD_OK(doca_pe_clear_notification(pe[0], fd[0]));
		while (c.nb_recv < (unsigned int)i)
			doca_pe_progress(pe[0]);
		while (p.nb_sent < (unsigned int)i)
			doca_pe_progress(pe[1]);
	}
	/* A stop has something to bring. */
	tmsgq_post(&c, 1);
	while (doca_pe_progress(pe[0]) != 0)
		;
	TD_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	TD_OK(doca_pe_request_notification(pe[0]));
	T_CHECK(t_readable(fd[0], T_TIMEOUT_MS));
	while (c.nb_errors < 1)
		doca_pe_progress(pe[0]);
	doca_pe_progress(pe[0]);
	TD_OK(doca_comch_consumer_destroy(c.consumer));
	tmsgq_producer_end(&p);
	TD_OK(doca_comch_msgq_stop(msgq));
	TD_OK(doca_comch_msgq_destroy(msgq));
	TD_OK(doca_pe_destroy(pe[0]));
	TD_OK(doca_pe_destroy(pe[1]));
	TD_OK(doca_dev_close(dev));
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "life", life },
		{ "limits", limits },
		{ "dpa_has_to_be_started", dpa_has_to_be_started },
		{ "set_completion", set_completion },
		{ "start_completion", start_completion },
		{ "dpa_consumers", dpa_consumers },
		{ "dpa_producers", dpa_producers },
		{ "wrong_places", wrong_places },
		{ "cpu_to_cpu", cpu_to_cpu },
		{ "asleep", asleep },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
