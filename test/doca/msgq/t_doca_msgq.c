/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ: how it is set up, what is refused, and both ends on the CPU. */

#include "msgq/ends.h"
#include "t_main.h"

static void
kernel(uint64_t arg __rte_unused)
{
}

DPA_KERNEL(kernel)
DPA_RPC(msgq_rpc)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(kernel, 0), DPA_FUNC(msgq_rpc, 1),
};
DPA_APP(app, funcs);

/* behaviour: Q1, Q2, Q3 */
T_CASE(life)
{
	struct doca_comch_consumer *c, *c2;
	struct doca_comch_producer *p;
	struct doca_comch_msgq *msgq;
	struct doca_dpa *dpa, *other;
	struct doca_dev *dev, *dev2;
	uint32_t id;

	dpa = dpa_program_start(&app);
	dev = host_dev(0);
	dev2 = host_dev(1);
	T_OK(doca_dpa_create(dev2, &other));
	T_REFUSES_NULL(doca_comch_msgq_create, dev, &msgq);
	T_OK(doca_comch_msgq_create(dev, &msgq));
	T_REFUSES_NULL(doca_comch_msgq_set_dpa_consumer, msgq, dpa);
	T_INVALID(doca_comch_msgq_set_dpa_consumer(msgq, other));
	T_REFUSES_NULL(doca_comch_msgq_set_dpa_producer, msgq, dpa);
	T_INVALID(doca_comch_msgq_set_max_num_consumers(NULL, 1));
	T_INVALID(doca_comch_msgq_set_max_num_consumers(msgq, 0));
	T_INVALID(doca_comch_msgq_set_max_num_consumers(msgq, 257));
	T_INVALID(doca_comch_msgq_set_max_num_producers(NULL, 1));
	T_INVALID(doca_comch_msgq_set_max_num_producers(msgq, 0));
	T_INVALID(doca_comch_msgq_set_max_num_producers(msgq, 257));
	T_INVALID(doca_comch_msgq_start(NULL));
	T_INVALID(doca_comch_msgq_stop(NULL));
	T_INVALID(doca_comch_msgq_destroy(NULL));
	T_IS(doca_comch_msgq_stop(msgq), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_msgq_consumer_create(msgq, &c), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_msgq_producer_create(msgq, &p), DOCA_ERROR_BAD_STATE);
	T_OK(doca_comch_msgq_set_max_num_consumers(msgq, 2));
	T_OK(doca_comch_msgq_start(msgq));
	T_IS(doca_comch_msgq_start(msgq), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_msgq_set_dpa_consumer(msgq, dpa), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_msgq_set_dpa_producer(msgq, dpa), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_msgq_set_max_num_consumers(msgq, 1), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_msgq_set_max_num_producers(msgq, 1), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_msgq_destroy(msgq), DOCA_ERROR_IN_USE);
	T_REFUSES_NULL(doca_comch_msgq_consumer_create, msgq, &c);
	T_REFUSES_NULL(doca_comch_msgq_producer_create, msgq, &p);
	T_OK(doca_comch_msgq_consumer_create(msgq, &c));
	T_OK(doca_comch_msgq_consumer_create(msgq, &c2));
	T_GETS(doca_comch_consumer_get_id(c, &id), id, 1);
	T_GETS(doca_comch_consumer_get_id(c2, &id), id, 2);
	T_OK(doca_comch_consumer_destroy(c));
	T_OK(doca_comch_msgq_consumer_create(msgq, &c));
	T_GETS(doca_comch_consumer_get_id(c, &id), id, 1);
	T_IS(doca_comch_msgq_stop(msgq), DOCA_ERROR_IN_USE);
	T_OK(doca_comch_msgq_producer_create(msgq, &p));
	T_GETS(doca_comch_producer_get_id(p, &id), id, 1);
	T_OK(doca_comch_consumer_destroy(c));
	T_OK(doca_comch_consumer_destroy(c2));
	T_IS(doca_comch_msgq_stop(msgq), DOCA_ERROR_IN_USE);
	T_OK(doca_comch_producer_destroy(p));
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_dpa_destroy(other));
	T_OK(doca_dev_close(dev2));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

T_CASE(limits)
{
	struct doca_comch_consumer *c[3];
	struct doca_comch_producer *p[2];
	struct doca_comch_msgq *msgq;
	struct doca_dpa *dpa;
	struct doca_dev *dev;

	dpa = dpa_program_start(&app);
	dev = host_dev(0);
	msgq = msgq_create(dev, dpa, MSGQ_CPU, 2, 1);
	T_OK(doca_comch_msgq_consumer_create(msgq, &c[0]));
	T_OK(doca_comch_msgq_consumer_create(msgq, &c[1]));
	T_IS(doca_comch_msgq_consumer_create(msgq, &c[2]), DOCA_ERROR_FULL);
	T_OK(doca_comch_msgq_producer_create(msgq, &p[0]));
	T_IS(doca_comch_msgq_producer_create(msgq, &p[1]), DOCA_ERROR_FULL);
	T_OK(doca_comch_consumer_destroy(c[0]));
	T_OK(doca_comch_consumer_destroy(c[1]));
	T_OK(doca_comch_producer_destroy(p[0]));
	T_OK(doca_comch_msgq_stop(msgq));
	/* One direction, and a DPA that is there. */
	T_OK(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	T_OK(doca_comch_msgq_set_dpa_producer(msgq, dpa));
	T_INVALID(doca_comch_msgq_start(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

T_CASE(dpa_has_to_be_started)
{
	struct doca_comch_msgq *msgq;
	struct doca_dpa *dpa;
	struct doca_dev *dev;

	dev = host_dev(0);
	T_OK(doca_dpa_create(dev, &dpa));
	T_OK(doca_comch_msgq_create(dev, &msgq));
	T_OK(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	T_IS(doca_comch_msgq_start(msgq), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

/* behaviour: Q13 */
T_CASE(set_completion)
{
	struct doca_comch_consumer_completion *comp;
	uint32_t val;

	T_INVALID(doca_comch_consumer_completion_create(NULL));
	T_OK(doca_comch_consumer_completion_create(&comp));
	T_INVALID(doca_comch_consumer_completion_start(NULL));
	T_INVALID(doca_comch_consumer_completion_stop(NULL));
	T_INVALID(doca_comch_consumer_completion_destroy(NULL));
	T_INVALID(doca_comch_consumer_completion_start(comp));
	T_INVALID(doca_comch_consumer_completion_set_dpa_thread(comp, NULL));
	T_INVALID(doca_comch_consumer_completion_set_max_num_consumers(comp, 0));
	T_INVALID(doca_comch_consumer_completion_set_max_num_consumers(NULL, 1));
	T_INVALID(doca_comch_consumer_completion_set_max_num_recv(comp, 65537));
	T_INVALID(doca_comch_consumer_completion_set_max_num_recv(NULL, 1));
	T_INVALID(doca_comch_consumer_completion_set_imm_data_len(comp, 33));
	T_INVALID(doca_comch_consumer_completion_set_imm_data_len(NULL, 1));
	T_OK(doca_comch_consumer_completion_set_max_num_consumers(comp, 3));
	T_GETS(doca_comch_consumer_completion_get_max_num_consumers(comp, &val), val, 4);
	T_REFUSES_NULL(doca_comch_consumer_completion_get_max_num_consumers, comp, &val);
	T_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 5));
	T_GETS(doca_comch_consumer_completion_get_max_num_recv(comp, &val), val, 8);
	T_INVALID(doca_comch_consumer_completion_get_max_num_recv(comp, NULL));
	T_GETS(doca_comch_consumer_completion_get_imm_data_len(comp, &val), val, 32);
	T_INVALID(doca_comch_consumer_completion_get_imm_data_len(comp, NULL));
	T_OK(doca_comch_consumer_completion_set_imm_data_len(comp, 8));
	T_GETS(doca_comch_consumer_completion_get_imm_data_len(comp, &val), val, 8);
	T_IS(doca_comch_consumer_completion_stop(comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_comch_consumer_completion_destroy(comp));
}

static struct doca_dpa *dpa;
static struct doca_dev *dev;
static struct doca_dpa_thread *thread;

static void
dpa_begin(void)
{
	dpa = dpa_program_start(&app);
	dev = host_dev(0);
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(kernel), 0));
}

static void
dpa_end(void)
{
	T_OK(doca_dpa_thread_stop(thread));
	T_OK(doca_dpa_thread_destroy(thread));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

/* behaviour: Q12 */
T_CASE(start_completion)
{
	doca_dpa_dev_comch_consumer_completion_t handle;
	struct doca_comch_consumer_completion *comp;

	dpa_begin();
	T_OK(doca_comch_consumer_completion_create(&comp));
	T_INVALID(doca_comch_consumer_completion_set_dpa_thread(NULL, thread));
	T_OK(doca_comch_consumer_completion_set_dpa_thread(comp, thread));
	T_IS(doca_comch_consumer_completion_start(comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_start(thread));
	T_IS(doca_comch_consumer_completion_get_dpa_handle(comp, &handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_comch_consumer_completion_set_max_num_consumers(comp, 256));
	T_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 65536));
	T_INVALID(doca_comch_consumer_completion_start(comp));
	T_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 8));
	T_OK(doca_comch_consumer_completion_start(comp));
	T_IS(doca_comch_consumer_completion_start(comp), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_completion_set_imm_data_len(comp, 8), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_completion_set_max_num_recv(comp, 8), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_completion_set_dpa_thread(comp, thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_completion_destroy(comp), DOCA_ERROR_IN_USE);
	T_OK(doca_comch_consumer_completion_get_dpa_handle(comp, &handle));
	T_INVALID(doca_comch_consumer_completion_get_dpa_handle(NULL, &handle));
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_comch_consumer_completion_stop(comp));
	T_OK(doca_comch_consumer_completion_destroy(comp));
	dpa_end();
}

static void
on_task(struct doca_comch_consumer_task_post_recv *task __rte_unused,
		union doca_data task_user_data __rte_unused,
		union doca_data ctx_user_data __rte_unused)
{
	T_FAIL("there are no tasks");
}

/* behaviour: Q12, Q13, Q14, Q15 */
T_CASE(dpa_consumers)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_comch_consumer_completion *comp;
	doca_dpa_dev_comch_consumer_t handle;
	struct doca_comch_consumer *c;
	struct doca_comch_msgq *msgq;
	struct doca_ctx *ctx;

	dpa_begin();
	T_OK(doca_dpa_thread_start(thread));
	T_OK(doca_comch_consumer_completion_create(&comp));
	T_OK(doca_comch_consumer_completion_set_dpa_thread(comp, thread));
	T_OK(doca_comch_consumer_completion_set_max_num_recv(comp, 8));
	T_OK(doca_comch_consumer_completion_set_imm_data_len(comp, 8));
	msgq = msgq_create(dev, dpa, MSGQ_TO_DPA, 1, 1);
	T_OK(doca_comch_msgq_consumer_create(msgq, &c));
	ctx = doca_comch_consumer_as_ctx(c);
	/* On the CPU by mistake. */
	T_IS(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comch_consumer_set_completion(c, comp, 0), DOCA_ERROR_BAD_STATE);
	T_REFUSES_NULL(doca_ctx_set_datapath_on_dpa, ctx, dpa);
	T_OK(doca_ctx_set_datapath_on_dpa(ctx, dpa));
	T_INVALID(doca_ctx_start(ctx));
	T_INVALID(doca_comch_consumer_set_completion(NULL, comp, 0));
	T_INVALID(doca_comch_consumer_set_completion(c, NULL, 0));
	T_OK(doca_comch_consumer_set_completion(c, comp, 0));
	T_INVALID(doca_ctx_start(ctx));
	T_INVALID(doca_comch_consumer_set_dev_max_num_recv(NULL, 1));
	T_INVALID(doca_comch_consumer_set_dev_max_num_recv(c, 0));
	T_OK(doca_comch_consumer_set_dev_max_num_recv(c, 9));
	T_IS(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	T_OK(doca_comch_consumer_completion_start(comp));
	/* More receives, then more immediate data, than the completion takes. */
	T_INVALID(doca_ctx_start(ctx));
	T_OK(doca_comch_consumer_set_dev_num_recv(c, 7));
	T_INVALID(doca_ctx_start(ctx));
	T_OK(doca_comch_consumer_set_imm_data_len(c, 8));
	T_IS(doca_comch_consumer_get_dpa_handle(c, &handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_start(ctx));
	T_OK(doca_comch_consumer_get_dpa_handle(c, &handle));
	T_REFUSES_NULL(doca_comch_consumer_get_dpa_handle, c, &handle);
	T_IS(doca_ctx_set_datapath_on_dpa(ctx, dpa), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_set_dev_max_num_recv(c, 8), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_set_completion(c, comp, 0), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_completion_stop(comp), DOCA_ERROR_IN_USE);
	/* There are no tasks on the DPA. */
	T_IS(doca_comch_consumer_task_post_recv_alloc_init(c, NULL, &task), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_stop(ctx));
	T_IS(doca_comch_consumer_task_post_recv_set_conf(c, on_task, on_task, 1),
		DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_consumer_get_dpa_handle(c, &handle), DOCA_ERROR_BAD_STATE);
	/* And again. */
	T_OK(doca_ctx_start(ctx));
	T_OK(doca_ctx_stop(ctx));
	T_OK(doca_comch_consumer_completion_stop(comp));
	T_IS(doca_comch_consumer_completion_destroy(comp), DOCA_ERROR_IN_USE);
	T_CHECK(doca_dpa_thread_destroy(thread) != DOCA_SUCCESS);
	T_OK(doca_comch_consumer_destroy(c));
	T_OK(doca_comch_consumer_completion_destroy(comp));
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	dpa_end();
}

/* behaviour: Q12, Q13, Q18 */
T_CASE(dpa_producers)
{
	doca_dpa_dev_comch_producer_t handle;
	struct doca_dpa_completion *comp;
	struct doca_comch_producer *p;
	struct doca_comch_msgq *msgq;
	struct doca_ctx *ctx;

	dpa = dpa_program_start(&app);
	dev = host_dev(0);
	T_OK(doca_dpa_completion_create(dpa, 8, &comp));
	msgq = msgq_create(dev, dpa, MSGQ_FROM_DPA, 1, 1);
	T_OK(doca_comch_msgq_producer_create(msgq, &p));
	ctx = doca_comch_producer_as_ctx(p);
	T_IS(doca_comch_producer_dpa_completion_attach(p, comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_set_datapath_on_dpa(ctx, dpa));
	T_INVALID(doca_ctx_start(ctx));
	T_REFUSES_NULL(doca_comch_producer_dpa_completion_attach, p, comp);
	T_IS(doca_comch_producer_dpa_completion_attach(p, comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_completion_start(comp));
	T_OK(doca_comch_producer_dpa_completion_attach(p, comp));
	T_INVALID(doca_ctx_start(ctx));
	T_INVALID(doca_comch_producer_set_dev_max_num_send(NULL, 1));
	T_INVALID(doca_comch_producer_set_dev_max_num_send(p, 0));
	T_INVALID(doca_comch_producer_set_dev_max_num_send(p, 65537));
	T_OK(doca_comch_producer_set_dev_max_num_send(p, 5));
	T_OK(doca_comch_producer_set_dev_num_send(p, 5));
	T_OK(doca_comch_producer_set_dev_num_recv(p, 5));
	T_IS(doca_comch_producer_get_dpa_handle(p, &handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_start(ctx));
	T_IS(doca_comch_producer_set_dev_max_num_send(p, 5), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comch_producer_dpa_completion_attach(p, comp), DOCA_ERROR_BAD_STATE);
	T_OK(doca_comch_producer_get_dpa_handle(p, &handle));
	T_REFUSES_NULL(doca_comch_producer_get_dpa_handle, p, &handle);
	T_CHECK(doca_dpa_completion_stop(comp) != DOCA_SUCCESS);
	T_IS(doca_comch_producer_destroy(p), DOCA_ERROR_IN_USE);
	T_OK(doca_ctx_stop(ctx));
	T_IS(doca_comch_producer_get_dpa_handle(p, &handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_comch_producer_destroy(p));
	T_OK(doca_dpa_completion_stop(comp));
	T_OK(doca_dpa_completion_destroy(comp));
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

/* The wrong place for an end. behaviour: Q12 */
T_CASE(wrong_places)
{
	doca_dpa_dev_comch_consumer_t c_handle;
	doca_dpa_dev_comch_producer_t p_handle;
	struct msgq_consumer c = { .pe = NULL };
	struct doca_comch_consumer *cons;
	struct doca_comch_producer *prod;
	struct doca_comch_msgq *msgq;
	struct doca_pe *pe;

	dpa = dpa_program_start(&app);
	dev = host_dev(0);
	T_OK(doca_pe_create(&pe));
	msgq = msgq_create(dev, dpa, MSGQ_FROM_DPA, 2, 1);
	T_OK(doca_comch_msgq_consumer_create(msgq, &cons));
	T_INVALID(doca_ctx_set_datapath_on_dpa(doca_comch_consumer_as_ctx(cons), dpa));
	T_OK(doca_comch_consumer_destroy(cons));
	msgq_consumer_on_cpu(&c, msgq, pe);
	T_IS(doca_comch_consumer_get_dpa_handle(c.consumer, &c_handle), DOCA_ERROR_BAD_STATE);
	T_OK(doca_comch_msgq_producer_create(msgq, &prod));
	T_OK(doca_pe_connect_ctx(pe, doca_comch_producer_as_ctx(prod)));
	T_IS(doca_comch_producer_get_dpa_handle(prod, &p_handle), DOCA_ERROR_BAD_STATE);
	/* It has no tasks, and is not where it should be. */
	T_INVALID(doca_ctx_start(doca_comch_producer_as_ctx(prod)));
	T_OK(doca_comch_producer_destroy(prod));
	msgq_consumer_end(&c);
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_pe_destroy(pe));
	T_OK(doca_dev_close(dev));
	dpa_program_end(dpa);
}

/* behaviour: Q5, Q17 */
T_CASE(cpu_to_cpu)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *task;
	struct msgq_consumer c = { .pe = NULL };
	struct msgq_producer p = { .pe = NULL };
	struct doca_buf *buf = (struct doca_buf *)(uintptr_t)64;
	struct doca_comch_msgq *msgq;
	uint8_t imm[33];
	struct doca_pe *pe;

	t_fill(imm, sizeof(imm), 1);
	dev = host_dev(0);
	T_OK(doca_pe_create(&pe));
	msgq = msgq_create(dev, NULL, MSGQ_CPU, 1, 1);
	msgq_consumer_on_cpu(&c, msgq, pe);
	msgq_producer_on_cpu(&p, msgq, pe);
	T_IS(msgq_send_u64(&p, c.id, 1), DOCA_ERROR_AGAIN);
	msgq_post(&c, 2);
	T_OK(msgq_send(&p, c.id, imm, 32));
	T_OK(msgq_send(&p, c.id, imm, 1));
	T_IS(msgq_send(&p, c.id, imm, 1), DOCA_ERROR_AGAIN);
	T_WAIT(doca_pe_progress(pe), c.nb_recv >= 1 && p.nb_sent >= 2);
	T_WAIT(doca_pe_progress(pe), c.nb_recv >= 2);
	T_EQ(c.imm_len, 1);
	T_EQ(c.imm[0], imm[0]);
	T_EQ(c.imm[31], imm[31]);
	T_EQ(c.producer_id, p.id);
	T_EQ(p.nb_errors, 0);
	T_INVALID(doca_comch_producer_task_send_alloc_init(p.producer, NULL, imm, 33, c.id, &task));
	/* No bufs, either way. */
	T_INVALID(doca_comch_producer_task_send_alloc_init(p.producer, buf, NULL, 0, c.id, &task));
	T_INVALID(doca_comch_consumer_task_post_recv_alloc_init(c.consumer, buf, &recv));
	/* No consumer has that id. */
	T_OK(msgq_send(&p, c.id + 1, imm, 1));
	T_WAIT(doca_pe_progress(pe), p.nb_errors >= 1);
	/* A stop brings back what is posted. */
	msgq_post(&c, 3);
	msgq_consumer_end(&c);
	T_EQ(c.nb_errors, 3);
	msgq_producer_end(&p);
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_pe_destroy(pe));
	T_OK(doca_dev_close(dev));
}

/* An engine that sleeps wakes for a message, and for a receive that was posted. */
T_CASE(asleep)
{
	struct msgq_consumer c = { .pe = NULL };
	struct msgq_producer p = { .pe = NULL };
	doca_notification_handle_t fd[2];
	struct doca_comch_msgq *msgq;
	struct doca_pe *pe[2];
	int i;

	dev = host_dev(0);
	msgq = msgq_create(dev, NULL, MSGQ_CPU, 1, 1);
	for (i = 0; i < 2; i++) {
		T_OK(doca_pe_create(&pe[i]));
		T_OK(doca_pe_get_notification_handle(pe[i], &fd[i]));
	}
	msgq_consumer_on_cpu(&c, msgq, pe[0]);
	msgq_producer_on_cpu(&p, msgq, pe[1]);
	for (i = 1; i <= 100; i++) {
		T_IS(msgq_send_u64(&p, c.id, 1), DOCA_ERROR_AGAIN);
		while (doca_pe_progress(pe[1]) != 0)
			;
		T_OK(doca_pe_request_notification(pe[1]));
		T_CHECK(!t_readable(fd[1], 0));
		msgq_post(&c, 1);
		T_CHECK(t_readable(fd[1], T_TIMEOUT_MS));
		T_OK(doca_pe_clear_notification(pe[1], fd[1]));
		while (doca_pe_progress(pe[0]) != 0)
			;
		T_OK(doca_pe_request_notification(pe[0]));
		T_CHECK(!t_readable(fd[0], 0));
		T_OK(msgq_send_u64(&p, c.id, 1));
		T_CHECK(t_readable(fd[0], T_TIMEOUT_MS));
		T_OK(doca_pe_clear_notification(pe[0], fd[0]));
		T_WAIT(doca_pe_progress(pe[0]), c.nb_recv >= (unsigned int)i);
		T_WAIT(doca_pe_progress(pe[1]), p.nb_sent >= (unsigned int)i);
	}
	/* A stop has something to bring. */
	msgq_post(&c, 1);
	while (doca_pe_progress(pe[0]) != 0)
		;
	T_IS(doca_ctx_stop(c.ctx), DOCA_ERROR_IN_PROGRESS);
	T_OK(doca_pe_request_notification(pe[0]));
	T_CHECK(t_readable(fd[0], T_TIMEOUT_MS));
	T_WAIT(doca_pe_progress(pe[0]), c.nb_errors >= 1);
	doca_pe_progress(pe[0]);
	T_OK(doca_comch_consumer_destroy(c.consumer));
	msgq_producer_end(&p);
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_pe_destroy(pe[0]));
	T_OK(doca_pe_destroy(pe[1]));
	T_OK(doca_dev_close(dev));
}

static void
send_two(struct msgq_consumer *c)
{
	T_OK(msgq_send_u64(c->arg, c->id, 1));
	T_OK(msgq_send_u64(c->arg, c->id, 1));
	c->arg = NULL;
}

/* An engine that sleeps wakes for sends that found no room, once their producer stops. */
T_CASE(stop_with_a_backlog)
{
	struct msgq_consumer c = { .pe = NULL };
	struct msgq_producer p = { .pe = NULL };
	doca_notification_handle_t fd;
	struct doca_comch_msgq *msgq;
	struct doca_pe *pe;

	dev = host_dev(0);
	msgq = msgq_create(dev, NULL, MSGQ_CPU, 1, 1);
	T_OK(doca_pe_create(&pe));
	T_OK(doca_pe_get_notification_handle(pe, &fd));
	msgq_consumer_on_cpu(&c, msgq, pe);
	msgq_producer_on_cpu(&p, msgq, pe);
	c.on_recv = send_two;
	c.arg = &p;
	msgq_post(&c, 1);
	T_OK(msgq_send_u64(&p, c.id, 1));
	T_WAIT(doca_pe_progress(pe), c.nb_recv >= 1 && p.nb_sent >= 1);
	T_IS(doca_ctx_stop(p.ctx), DOCA_ERROR_IN_PROGRESS);
	T_OK(doca_pe_request_notification(pe));
	T_CHECK(t_readable(fd, T_TIMEOUT_MS));
	T_OK(doca_pe_clear_notification(pe, fd));
	T_WAIT(doca_pe_progress(pe), ctx_is_idle(p.ctx));
	T_EQ(p.nb_errors, 2);
	T_EQ(p.status, DOCA_ERROR_SHUTDOWN);
	T_OK(doca_comch_producer_destroy(p.producer));
	msgq_consumer_end(&c);
	T_OK(doca_comch_msgq_stop(msgq));
	T_OK(doca_comch_msgq_destroy(msgq));
	T_OK(doca_pe_destroy(pe));
	T_OK(doca_dev_close(dev));
}
