/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Messages to DPA code and back through two MsgQs, and a block that the DPA copies. This
 * needs no server, client or connection, and no other program.
 *
 *     comch-doca-env host -- build/doca_msgq_host -n 100000
 *
 *     this program                           the DPA (doca_msgq_dev.c)
 *     producer: a number  ----- to_dpa ----> consumer; wakes the thread
 *     consumer            <---- to_cpu ----- producer: the answer
 *       ... -n times, up to -w in flight
 *     producer: copy!     ----- to_dpa ----> consumer
 *     consumer            <---- to_cpu ----- producer: dma_copy, then the message
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dpa.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "../doca_common/side.h"
#include "doca_msgq_common.h"

DOCA_LOG_REGISTER(MSGQ);

#define WINDOW_MAX 64      /* maximum number of messages in flight, see -w */
#define BLOCK 65536

/* Built by build_device_code.sh: the application and its functions. */
extern struct doca_dpa_app *doca_msgq_app;
extern doca_dpa_func_t serve;
extern doca_dpa_func_t open_consumer;

/* One direction. */
struct queue {
	struct doca_comch_msgq *msgq;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_ctx *consumer_ctx;
	struct doca_ctx *producer_ctx;
};

struct app {
	struct side side;      /* first: see side_options() */
	uint32_t count;
	uint32_t window;
	struct doca_pe *pe;
	struct doca_dpa *dpa;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t arg;                     /* of the thread, on the DPA */
	struct doca_comch_consumer_completion *arrived; /* of to_dpa's consumer */
	struct doca_dpa_completion *sent;               /* of to_cpu's producer */
	struct queue to_dpa;
	struct queue to_cpu;
	uint8_t *block[2];     /* copied from, and to */
	struct doca_mmap *mmap[2];
	/* Sending. */
	struct doca_comch_producer_task_send *free[WINDOW_MAX]; /* not submitted */
	uint32_t nb_free;
	uint32_t nb_sent;
	uint32_t nb_answers;
	uint32_t nb_wrong;
	bool is_copied;
	bool is_closing;
};

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Messages */

/* AGAIN: the DPA has not returned the credit yet; the task stays free. */
static void
send_msg(struct app *app, struct msg msg)
{
	struct doca_comch_producer_task_send *task = app->free[app->nb_free - 1];
	doca_error_t result;

	/* Copied. */
	doca_comch_producer_task_send_set_imm_data(task, (uint8_t *)&msg, sizeof(msg));
	result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
	if (result == DOCA_ERROR_AGAIN || !side_check(&app->side, result, "send message"))
		return;
	app->nb_free--;
	app->nb_sent++;
}

static void
on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct app *app = ctx_data.ptr;

	(void)task_data;
	app->free[app->nb_free++] = task;
}

static void
on_unsent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_comch_producer_task_send_as_task(task);
	struct app *app = ctx_data.ptr;

	(void)task_data;
	if (!app->is_closing)
		side_check(&app->side, doca_task_get_status(t), "send message");
	doca_task_free(t);
}

/* The copied data is visible before the message. */
static void
check_copy(struct app *app)
{
	app->is_copied = true;
	if (memcmp(app->block[0], app->block[1], BLOCK) != 0)
		app->nb_wrong++;
}

static void
on_msg(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_comch_consumer_task_post_recv_as_task(task);
	struct app *app = ctx_data.ptr;
	struct msg msg = { .kind = NUMBER };

	(void)task_data;
	if (doca_comch_consumer_task_post_recv_get_imm_data_len(task) == sizeof(msg))
		memcpy(&msg, doca_comch_consumer_task_post_recv_get_imm_data(task), sizeof(msg));
	if (msg.kind == COPY)
		check_copy(app);
	else if (msg.seq != app->nb_answers || msg.value != value_for(msg.seq))
		app->nb_wrong++;
	app->nb_answers++;
	/* Resubmit the same task for another message. */
	if (!side_check(&app->side, doca_task_submit(t), "post receive"))
		doca_task_free(t);
}

/* Posted receives complete here when the consumer stops. */
static void
on_no_msg(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

/* The DPA */

/* The DPA thread. It sleeps until messages arrive. */
static doca_error_t
open_dpa(struct app *app)
{
	doca_error_t result;

	result = doca_dpa_create(app->side.dev, &app->dpa);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_set_app(app->dpa, doca_msgq_app);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_start(app->dpa);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_mem_alloc(app->dpa, sizeof(struct thread_arg), &app->arg);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_thread_create(app->dpa, &app->thread);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_thread_set_func_arg(app->thread, serve, app->arg);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_thread_start(app->thread);
	return result;
}

/* Completions: arriving messages wake the thread; the DPA reads those of its sends. */
static doca_error_t
open_completions(struct app *app)
{
	doca_error_t result;

	result = doca_comch_consumer_completion_create(&app->arrived);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_completion_set_max_num_recv(app->arrived, WINDOW_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_completion_set_imm_data_len(app->arrived,
				sizeof(struct msg));
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_completion_set_dpa_thread(app->arrived, app->thread);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_completion_start(app->arrived);
	/* No thread waits for these: the kernel reads them when it sends. */
	if (result == DOCA_SUCCESS)
		result = doca_dpa_completion_create(app->dpa, 2 * WINDOW_MAX, &app->sent);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_completion_start(app->sent);
	return result;
}

/* Allocate a block (0: source, 1: destination) and get its DPA handle. */
static doca_error_t
open_block(struct app *app, int i, uint32_t permissions, uint32_t *handle)
{
	doca_error_t result;

	app->block[i] = calloc(1, BLOCK);
	if (app->block[i] == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_mmap_create(&app->mmap[i]);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(app->mmap[i], app->side.dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(app->mmap[i], permissions);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(app->mmap[i], app->block[i], BLOCK);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(app->mmap[i]);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_dev_get_dpa_handle(app->mmap[i], app->side.dev, handle);
	return result;
}

/* MsgQs */

static doca_error_t
open_queue(struct app *app, struct queue *queue, bool is_to_dpa)
{
	doca_error_t result;

	result = doca_comch_msgq_create(app->side.dev, &queue->msgq);
	if (result == DOCA_SUCCESS)
		result = doca_comch_msgq_set_max_num_consumers(queue->msgq, 1);
	if (result == DOCA_SUCCESS)
		result = doca_comch_msgq_set_max_num_producers(queue->msgq, 1);
	if (result == DOCA_SUCCESS)
		result = is_to_dpa ? doca_comch_msgq_set_dpa_consumer(queue->msgq, app->dpa) :
			doca_comch_msgq_set_dpa_producer(queue->msgq, app->dpa);
	if (result == DOCA_SUCCESS)
		result = doca_comch_msgq_start(queue->msgq);
	if (result == DOCA_SUCCESS)
		result = doca_comch_msgq_consumer_create(queue->msgq, &queue->consumer);
	if (result == DOCA_SUCCESS)
		result = doca_comch_msgq_producer_create(queue->msgq, &queue->producer);
	if (result != DOCA_SUCCESS)
		return result;
	queue->consumer_ctx = doca_comch_consumer_as_ctx(queue->consumer);
	queue->producer_ctx = doca_comch_producer_as_ctx(queue->producer);
	return doca_comch_consumer_set_imm_data_len(queue->consumer, sizeof(struct msg));
}

/* Start the ends on the DPA, which are driven by device code. */
static doca_error_t
start_on_dpa(struct app *app)
{
	struct doca_comch_consumer *consumer = app->to_dpa.consumer;
	struct doca_comch_producer *producer = app->to_cpu.producer;
	doca_error_t result;

	result = doca_ctx_set_datapath_on_dpa(app->to_dpa.consumer_ctx, app->dpa);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_set_completion(consumer, app->arrived, 0);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_set_dev_max_num_recv(consumer, WINDOW_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(app->to_dpa.consumer_ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_datapath_on_dpa(app->to_cpu.producer_ctx, app->dpa);
	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_set_dev_max_num_send(producer, 2 * WINDOW_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_dpa_completion_attach(producer, app->sent);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(app->to_cpu.producer_ctx);
	return result;
}

/* Start an end on the CPU, like that of a connection. It uses no bufs. */
static doca_error_t
start_on_cpu(struct app *app, struct doca_ctx *ctx)
{
	const union doca_data data = { .ptr = app };
	doca_error_t result;

	result = doca_pe_connect_ctx(app->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, data);
	return result == DOCA_SUCCESS ? doca_ctx_start(ctx) : result;
}

static doca_error_t
start_consumer(struct app *app)
{
	struct doca_comch_consumer *consumer = app->to_cpu.consumer;
	struct doca_comch_consumer_task_post_recv *task;
	doca_error_t result;
	uint32_t i;

	result = doca_comch_consumer_task_post_recv_set_conf(consumer, on_msg, on_no_msg,
			WINDOW_MAX);
	if (result == DOCA_SUCCESS)
		result = start_on_cpu(app, app->to_cpu.consumer_ctx);
	for (i = 0; i < WINDOW_MAX && result == DOCA_SUCCESS; i++) {
		result = doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, &task);
		if (result == DOCA_SUCCESS)
			result = doca_task_submit(
				doca_comch_consumer_task_post_recv_as_task(task));
	}
	return result;
}

static doca_error_t
start_producer(struct app *app)
{
	struct doca_comch_producer *producer = app->to_dpa.producer;
	struct msg msg = { .kind = NUMBER }; /* replaced for each message */
	doca_error_t result;
	uint32_t id;

	result = doca_comch_producer_task_send_set_conf(producer, on_sent, on_unsent, WINDOW_MAX);
	if (result == DOCA_SUCCESS)
		result = start_on_cpu(app, app->to_dpa.producer_ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_get_id(app->to_dpa.consumer, &id);
	for (; app->nb_free < WINDOW_MAX && result == DOCA_SUCCESS; app->nb_free++) {
		result = doca_comch_producer_task_send_alloc_init(producer, NULL,
				(uint8_t *)&msg, sizeof(msg), id, &app->free[app->nb_free]);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return result;
}

/* Pass the kernel its arguments and run it. */
static doca_error_t
start_thread(struct app *app, struct thread_arg *arg)
{
	doca_error_t result;
	uint64_t status;

	result = doca_comch_consumer_get_dpa_handle(app->to_dpa.consumer, &arg->consumer);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_completion_get_dpa_handle(app->arrived,
				&arg->consumer_completion);
	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_get_dpa_handle(app->to_cpu.producer, &arg->producer);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_completion_get_dpa_handle(app->sent, &arg->producer_completion);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_get_id(app->to_cpu.consumer, &arg->to);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_h2d_memcpy(app->dpa, app->arg, arg, sizeof(*arg));
	if (result == DOCA_SUCCESS)
		result = doca_dpa_thread_run(app->thread);
	if (result == DOCA_SUCCESS)
		result = doca_dpa_rpc(app->dpa, open_consumer, &status, arg->consumer, WINDOW_MAX);
	return result;
}

static bool
open_all(struct app *app)
{
	struct side *side = &app->side;
	struct thread_arg arg;
	uint32_t i;

	memset(&arg, 0, sizeof(arg));
	if (!side_check(side, open_block(app, 0, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY,
			&arg.source_mmap), "open block") ||
			!side_check(side, open_block(app, 1, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
			&arg.copy_mmap), "open block"))
		return false;
	for (i = 0; i < BLOCK; i++)
		app->block[0][i] = (uint8_t)(i * 7 + i / 256);
	arg.source = (uint64_t)app->block[0];
	arg.copy = (uint64_t)app->block[1];
	return side_check(side, doca_pe_create(&app->pe), "create progress engine") &&
		side_check(side, open_dpa(app), "open DPA") &&
		side_check(side, open_completions(app), "open completions") &&
		side_check(side, open_queue(app, &app->to_dpa, true), "open MsgQ to DPA") &&
		side_check(side, open_queue(app, &app->to_cpu, false), "open MsgQ from DPA") &&
		side_check(side, start_on_dpa(app), "start DPA ends") &&
		side_check(side, start_consumer(app), "start consumer") &&
		side_check(side, start_producer(app), "start producer") &&
		side_check(side, start_thread(app, &arg), "start DPA thread");
}

/* The end */

static void
stop_ctx(struct app *app, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	if (ctx == NULL || doca_ctx_get_state(ctx, &state) != DOCA_SUCCESS ||
			state == DOCA_CTX_STATE_IDLE)
		return;
	doca_ctx_stop(ctx);
	while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(app->pe);
}

static void
close_queue(struct app *app, struct queue *queue)
{
	stop_ctx(app, queue->producer_ctx);
	if (queue->producer != NULL)
		doca_comch_producer_destroy(queue->producer);
	stop_ctx(app, queue->consumer_ctx);
	if (queue->consumer != NULL)
		doca_comch_consumer_destroy(queue->consumer);
	if (queue->msgq != NULL) {
		doca_comch_msgq_stop(queue->msgq);
		doca_comch_msgq_destroy(queue->msgq);
	}
}

static void
close_dpa(struct app *app)
{
	if (app->arrived != NULL) {
		doca_comch_consumer_completion_stop(app->arrived);
		doca_comch_consumer_completion_destroy(app->arrived);
	}
	if (app->sent != NULL) {
		doca_dpa_completion_stop(app->sent);
		doca_dpa_completion_destroy(app->sent);
	}
	if (app->thread != NULL) {
		doca_dpa_thread_stop(app->thread);
		doca_dpa_thread_destroy(app->thread);
	}
	if (app->arg != 0)
		doca_dpa_mem_free(app->dpa, app->arg);
	if (app->dpa != NULL) {
		doca_dpa_stop(app->dpa);
		doca_dpa_destroy(app->dpa);
	}
}

/* Destroy in reverse order. */
static void
close_all(struct app *app)
{
	int i;

	app->is_closing = true;
	while (app->nb_free > 0)
		doca_task_free(doca_comch_producer_task_send_as_task(app->free[--app->nb_free]));
	close_queue(app, &app->to_dpa);
	close_queue(app, &app->to_cpu);
	close_dpa(app);
	for (i = 0; i < 2; i++) {
		if (app->mmap[i] != NULL)
			doca_mmap_destroy(app->mmap[i]);
		free(app->block[i]);
	}
	if (app->pe != NULL)
		doca_pe_destroy(app->pe);
}

/* Round trips */

/*
 * Called while idle: lets other threads run and Ctrl-C through, and detects a failed
 * kernel, which would never answer.
 */
static bool
is_over(struct app *app)
{
	static const struct timespec no_time;

	ppoll(NULL, 0, &no_time, side_sleep_mask);
	return side_is_ending() || app->side.error != DOCA_SUCCESS ||
		!side_check(&app->side, doca_dpa_peek_at_last_error(app->dpa), "DPA code");
}

/* Send the next message if there is one and the window allows it. */
static bool
send_next(struct app *app)
{
	struct msg msg = { .kind = NUMBER, .seq = app->nb_sent, .value = app->nb_sent };
	uint32_t before = app->nb_sent;

	if (app->nb_sent == app->count) {
		/* The last message, after all answers. */
		if (app->nb_answers < app->count)
			return false;
		msg = (struct msg){ .kind = COPY, .value = BLOCK };
	}
	if (app->nb_sent > app->count || app->nb_free == 0 ||
			app->nb_sent - app->nb_answers >= app->window)
		return false;
	send_msg(app, msg);
	return app->nb_sent != before;
}

static void
run(struct app *app)
{
	double begin = now(), seconds;
	uint32_t quarter = 1;

	while (app->nb_answers <= app->count) {
		bool is_busy = doca_pe_progress(app->pe) != 0;

		while (send_next(app))
			is_busy = true;
		if (app->count >= 1000 && quarter < 4 &&
				app->nb_answers >= app->count / 4 * quarter) {
			DOCA_LOG_INFO("%u of %u messages answered", app->nb_answers, app->count);
			quarter++;
		}
		if (!is_busy && is_over(app))
			break;
	}
	seconds = now() - begin;
	printf("%u messages to the DPA and back in %.3f s: %.0f per second, %.2f us each\n",
		app->nb_answers, seconds, app->nb_answers / seconds,
		seconds / app->nb_answers * 1e6);
}

/* Returns whether everything succeeded, according to both sides. */
static bool
is_good(struct app *app)
{
	struct thread_arg arg;

	if (!side_check(&app->side, doca_dpa_d2h_memcpy(app->dpa, &arg, app->arg, sizeof(arg)),
			"read DPA counters"))
		return false;
	printf("the DPA was woken up %llu times\n", (unsigned long long)arg.nb_activations);
	printf("the DPA: %llu messages, %llu failed\n", (unsigned long long)arg.nb_msgs,
		(unsigned long long)arg.nb_failed);
	return app->is_copied && app->nb_wrong == 0 && arg.nb_failed == 0 &&
		arg.nb_msgs == app->count + 1;
}

/* Options */

static doca_error_t
take_number(const char *what, int value, int most, uint32_t *to)
{
	if (value < 1 || value > most) {
		DOCA_LOG_ERR("%s is %d, must be 1 to %d", what, value, most);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*to = (uint32_t)value;
	return DOCA_SUCCESS;
}

static doca_error_t
take_count(void *value, void *config)
{
	return take_number("message count", *(int *)value, 1000000000,
			&((struct app *)config)->count);
}

static doca_error_t
take_window(void *value, void *config)
{
	return take_number("window", *(int *)value, WINDOW_MAX,
			&((struct app *)config)->window);
}

static doca_error_t
read_options(struct app *app, int argc, char **argv)
{
	doca_error_t result;

	result = doca_argp_init("doca_msgq", app);
	if (result != DOCA_SUCCESS)
		return result;
	result = side_options(&app->side);
	if (result == DOCA_SUCCESS)
		result = side_option("n", "count", "<n>", "number of messages (10000)",
				DOCA_ARGP_TYPE_INT, take_count);
	if (result == DOCA_SUCCESS)
		result = side_option("w", "window", "<n>", "messages in flight (1)",
				DOCA_ARGP_TYPE_INT, take_window);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

int
main(int argc, char **argv)
{
	static struct app app = { .count = 10000, .window = 1 };
	doca_error_t result = DOCA_ERROR_INITIALIZATION;
	bool good = false;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (doca_log_backend_create_standard() == DOCA_SUCCESS)
		result = read_options(&app, argc, argv);
	if (result == DOCA_SUCCESS && side_open(&app.side) == DOCA_SUCCESS && open_all(&app)) {
		run(&app);
		good = is_good(&app);
		printf("%s\n", good ? "all answers are right, and the block was copied" :
			"NOT all answers are right");
	}
	close_all(&app);
	side_close(&app.side);
	doca_argp_destroy();
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
