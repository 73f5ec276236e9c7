/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A program of MsgQ as DOCA's guides teach it: texts to a thread on the DPA, which
 * sends them back in capitals.
 *
 * usage: upper TEXT...
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dpa.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_pe.h>
#include <doca_version.h>

#include "upper_common.h"

DOCA_LOG_REGISTER(UPPER);

#define DO(expr) \
	do { \
		doca_error_t result_ = (expr); \
		if (result_ != DOCA_SUCCESS) { \
			DOCA_LOG_ERR("%s: %s", #expr, doca_error_get_descr(result_)); \
			exit(EXIT_FAILURE); \
		} \
	} while (0)

extern struct doca_dpa_app *upper_app;
extern doca_dpa_func_t upper_thread;
extern doca_dpa_func_t upper_init_rpc;
extern doca_dpa_func_t upper_count_rpc;

/* Not those of device code. */
int num_texts;
void convert(const char *text);

static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_dpa *dpa;
static struct doca_dpa_thread *thread;
static doca_dpa_dev_uintptr_t dev_arg;
static struct doca_comch_consumer_completion *consumer_comp;
static struct doca_dpa_completion *producer_comp;
static struct doca_comch_msgq *to_dpa, *to_host;
static struct doca_comch_consumer *dpa_consumer, *host_consumer;
static struct doca_comch_producer *dpa_producer, *host_producer;
static struct upper_thread_arg arg;

static void
open_device(void)
{
	struct doca_devinfo **list;
	uint32_t n, i;

	DO(doca_devinfo_create_list(&list, &n));
	for (i = 0; i < n && dev == NULL; i++)
		if (doca_dpa_cap_is_supported(list[i]) == DOCA_SUCCESS)
			DO(doca_dev_open(list[i], &dev));
	DO(doca_devinfo_destroy_list(list));
	if (dev == NULL)
		exit(EXIT_FAILURE);
}

static void
create_dpa(void)
{
	DO(doca_dpa_create(dev, &dpa));
	DO(doca_dpa_set_app(dpa, upper_app));
	DO(doca_dpa_start(dpa));
	DO(doca_dpa_mem_alloc(dpa, sizeof(arg), &dev_arg));
	DO(doca_dpa_thread_create(dpa, &thread));
	DO(doca_dpa_thread_set_func_arg(thread, upper_thread, dev_arg));
	DO(doca_dpa_thread_start(thread));

	DO(doca_comch_consumer_completion_create(&consumer_comp));
	DO(doca_comch_consumer_completion_set_max_num_recv(consumer_comp, UPPER_NUM_RECV));
#if DOCA_VERSION_MAJOR > 2 || DOCA_VERSION_MINOR >= 9
	DO(doca_comch_consumer_completion_set_imm_data_len(consumer_comp, UPPER_IMM_LEN));
#endif
	DO(doca_comch_consumer_completion_set_dpa_thread(consumer_comp, thread));
	DO(doca_comch_consumer_completion_start(consumer_comp));
	DO(doca_comch_consumer_completion_get_dpa_handle(consumer_comp, &arg.consumer_comp));
	DO(doca_dpa_completion_create(dpa, UPPER_NUM_RECV, &producer_comp));
	DO(doca_dpa_completion_set_thread(producer_comp, thread));
	DO(doca_dpa_completion_start(producer_comp));
	DO(doca_dpa_completion_get_dpa_handle(producer_comp, &arg.producer_comp));
}

static void
create_msgqs(void)
{
	DO(doca_comch_msgq_create(dev, &to_dpa));
	DO(doca_comch_msgq_set_max_num_consumers(to_dpa, 1));
	DO(doca_comch_msgq_set_max_num_producers(to_dpa, 1));
	DO(doca_comch_msgq_set_dpa_consumer(to_dpa, dpa));
	DO(doca_comch_msgq_start(to_dpa));
	DO(doca_comch_msgq_create(dev, &to_host));
	DO(doca_comch_msgq_set_max_num_consumers(to_host, 1));
	DO(doca_comch_msgq_set_max_num_producers(to_host, 1));
	DO(doca_comch_msgq_set_dpa_producer(to_host, dpa));
	DO(doca_comch_msgq_start(to_host));
}

static void
on_send(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void
on_recv(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	printf("the DPA says: %.*s\n",
			(int)doca_comch_consumer_task_post_recv_get_imm_data_len(task),
			(const char *)doca_comch_consumer_task_post_recv_get_imm_data(task));
	num_texts++;
	DO(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void
on_no_recv(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void
create_consumers(void)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_ctx *ctx;

	DO(doca_comch_msgq_consumer_create(to_dpa, &dpa_consumer));
	ctx = doca_comch_consumer_as_ctx(dpa_consumer);
	DO(doca_comch_consumer_set_imm_data_len(dpa_consumer, UPPER_IMM_LEN));
	DO(doca_ctx_set_datapath_on_dpa(ctx, dpa));
	DO(doca_comch_consumer_set_completion(dpa_consumer, consumer_comp, 0));
#if DOCA_VERSION_MAJOR > 2 || DOCA_VERSION_MINOR >= 9
	DO(doca_comch_consumer_set_dev_max_num_recv(dpa_consumer, UPPER_NUM_RECV));
#else
	DO(doca_comch_consumer_set_dev_num_recv(dpa_consumer, UPPER_NUM_RECV));
#endif
	DO(doca_ctx_start(ctx));
	DO(doca_comch_consumer_get_dpa_handle(dpa_consumer, &arg.consumer));

	DO(doca_comch_msgq_consumer_create(to_host, &host_consumer));
	ctx = doca_comch_consumer_as_ctx(host_consumer);
	DO(doca_comch_consumer_set_imm_data_len(host_consumer, UPPER_IMM_LEN));
	DO(doca_pe_connect_ctx(pe, ctx));
	DO(doca_comch_consumer_task_post_recv_set_conf(host_consumer, on_recv, on_no_recv, 1));
	DO(doca_ctx_start(ctx));
	DO(doca_comch_consumer_get_id(host_consumer, &arg.host_consumer_id));
	DO(doca_comch_consumer_task_post_recv_alloc_init(host_consumer, NULL, &task));
	DO(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void
create_producers(void)
{
	struct doca_ctx *ctx;

	DO(doca_comch_msgq_producer_create(to_host, &dpa_producer));
	ctx = doca_comch_producer_as_ctx(dpa_producer);
	DO(doca_ctx_set_datapath_on_dpa(ctx, dpa));
#if DOCA_VERSION_MAJOR > 2 || DOCA_VERSION_MINOR >= 9
	DO(doca_comch_producer_set_dev_max_num_send(dpa_producer, UPPER_NUM_RECV));
#else
	DO(doca_comch_producer_set_dev_num_send(dpa_producer, UPPER_NUM_RECV));
#endif
	DO(doca_comch_producer_dpa_completion_attach(dpa_producer, producer_comp));
	DO(doca_ctx_start(ctx));
	DO(doca_comch_producer_get_dpa_handle(dpa_producer, &arg.producer));

	DO(doca_comch_msgq_producer_create(to_dpa, &host_producer));
	ctx = doca_comch_producer_as_ctx(host_producer);
	DO(doca_pe_connect_ctx(pe, ctx));
	DO(doca_comch_producer_task_send_set_conf(host_producer, on_send, on_send, 1));
	DO(doca_ctx_start(ctx));
}

void
convert(const char *text)
{
	struct doca_comch_producer_task_send *task;
	int before = num_texts;
	uint32_t id;

	DO(doca_comch_consumer_get_id(dpa_consumer, &id));
	DO(doca_comch_producer_task_send_alloc_init(host_producer, NULL, (uint8_t *)text,
			(uint32_t)strlen(text), id, &task));
	DO(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
	while (num_texts == before) {
		DO(doca_dpa_peek_at_last_error(dpa));
		doca_pe_progress(pe);
	}
	while (doca_pe_progress(pe) != 0)
		;
}

static void
stop(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
	doca_error_t result = doca_ctx_stop(ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		DO(result);
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(pe);
		DO(doca_ctx_get_state(ctx, &state));
	}
}

static void
destroy_all(void)
{
	stop(doca_comch_producer_as_ctx(host_producer));
	DO(doca_comch_producer_destroy(host_producer));
	stop(doca_comch_producer_as_ctx(dpa_producer));
	DO(doca_comch_producer_destroy(dpa_producer));
	stop(doca_comch_consumer_as_ctx(host_consumer));
	DO(doca_comch_consumer_destroy(host_consumer));
	stop(doca_comch_consumer_as_ctx(dpa_consumer));
	DO(doca_comch_consumer_destroy(dpa_consumer));
	DO(doca_comch_msgq_stop(to_host));
	DO(doca_comch_msgq_destroy(to_host));
	DO(doca_comch_msgq_stop(to_dpa));
	DO(doca_comch_msgq_destroy(to_dpa));
	DO(doca_dpa_completion_stop(producer_comp));
	DO(doca_dpa_completion_destroy(producer_comp));
	DO(doca_comch_consumer_completion_stop(consumer_comp));
	DO(doca_comch_consumer_completion_destroy(consumer_comp));
	DO(doca_dpa_thread_stop(thread));
	DO(doca_dpa_thread_destroy(thread));
	DO(doca_dpa_mem_free(dpa, dev_arg));
	DO(doca_dpa_stop(dpa));
	DO(doca_dpa_destroy(dpa));
	DO(doca_pe_destroy(pe));
	DO(doca_dev_close(dev));
}

int
main(int argc, char **argv)
{
	uint64_t count;
	int i;

	DO(doca_log_backend_create_standard());
	open_device();
	DO(doca_pe_create(&pe));
	create_dpa();
	create_msgqs();
	create_consumers();
	create_producers();
	DO(doca_dpa_h2d_memcpy(dpa, dev_arg, &arg, sizeof(arg)));
	DO(doca_dpa_thread_run(thread));
	DO(doca_dpa_rpc(dpa, upper_init_rpc, &count, arg));
	for (i = 1; i < argc; i++)
		convert(argv[i]);
	DO(doca_dpa_rpc(dpa, upper_count_rpc, &count));
	DO(doca_dpa_d2h_memcpy(dpa, &arg, dev_arg, sizeof(arg)));
	printf("%d sent, %d came back, the DPA counts %u and %u\n", argc - 1, num_texts,
			(unsigned)count, arg.num_texts);
	destroy_all();
	return num_texts == argc - 1 && count == arg.num_texts ? EXIT_SUCCESS : EXIT_FAILURE;
}
