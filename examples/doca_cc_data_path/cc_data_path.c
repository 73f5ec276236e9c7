/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The data path of DOCA 2.5 and 2.6 (doca_cc): a producer on the host sends a file or
 * generated data to a consumer on the DPU. doca_cc has no immediate data, so each block
 * begins with a header. At the end the DPU sends a verdict, a control message.
 *
 *     doca_cc_data_path_dpu  -p 03:00.0 -r b1:00.0 -f copy &
 *     doca_cc_data_path_host -p b1:00.0 -f original
 *
 *     host                                   DPU
 *     connected                              connected
 *                        <------------------ consumer
 *     producer: blocks -------------------->
 *                        <------------------ verdict
 *     disconnects
 *
 * ../doca_data_path is the same for DOCA 2.7 and later, and sends both ways.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#include <doca_log.h>

#include "../doca_common/blocks.h"
#include "../doca_common/engine.h"
#include "names.h"

DOCA_LOG_REGISTER(CC_DATA_PATH);

#define LOG_NB_BLOCKS 5
/* Control messages in flight: each has a task. */
#define NB_MSGS 4

_Static_assert(NB_BLOCKS == 1 << LOG_NB_BLOCKS, "a task for each block");

struct header {
	uint64_t number;
	uint64_t sum;     /* of the payload */
	uint64_t len;
	uint64_t is_last;
};

struct verdict {
	uint64_t bytes;   /* received */
	uint64_t is_good;
};

/* The two sides may be of different architectures: both read these as they are. */
_Static_assert(sizeof(struct header) == 32 && sizeof(struct verdict) == 16, "wire");

#define PAYLOAD (BLOCK_SIZE - sizeof(struct header))

struct app {
	struct side side;     /* first: see side_options() */
	FILE *file;
	uint64_t size;        /* host: bytes to send */
	struct doca_pe *pe;
	struct doca_cc_server *server; /* DPU */
	struct doca_cc_client *client; /* host */
	struct doca_ctx *ctx;          /* of the server or client */
	struct doca_cc_connection *conn; /* NULL while not connected */
	bool was_up;
	/* The producer, or the consumer. */
	struct doca_ctx *end_ctx;
	struct doca_cc_producer *producer;
	struct doca_cc_consumer *consumer;
	struct blocks blocks;
	uint64_t bytes;       /* sent or received */
	uint64_t next;        /* number of the next block */
	double begin, seconds;
	bool is_over;         /* the last block is complete */
	/* Host. */
	struct doca_cc_producer_task_send *free[NB_BLOCKS]; /* not submitted */
	uint32_t nb_free;
	bool is_filled;       /* the last free task has its block filled */
	bool is_closing;
	bool has_verdict;
	/* Host: the DPU's. DPU: ours, which must not change until it is sent. */
	struct verdict verdict;
};

/* The server or client has the application as user data of its context. */
static struct app *
app_of(const struct doca_cc_connection *conn)
{
	union doca_data data = { .ptr = NULL };

	doca_ctx_get_user_data(SIDE_IS_DPU ?
			doca_cc_server_as_ctx(doca_cc_server_get_server_ctx(conn)) :
			doca_cc_client_as_ctx(doca_cc_client_get_client_ctx(conn)), &data);
	return data.ptr;
}

/* Control messages */

static void
on_msg(struct doca_cc_event_msg_recv *event, uint8_t *data, cc_len_t len,
		struct doca_cc_connection *conn)
{
	struct app *app = app_of(conn);

	(void)event;
	if (SIDE_IS_DPU || len != sizeof(app->verdict)) {
		side_check(&app->side, DOCA_ERROR_UNEXPECTED, "control message");
		return;
	}
	memcpy(&app->verdict, data, sizeof(app->verdict));
	app->has_verdict = true;
}

static void
on_sent(struct doca_cc_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_cc_task_send_as_task(task));
}

static void
on_unsent(struct doca_cc_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct app *app = ctx_data.ptr;

	/* Expected after a disconnect. */
	if (app->conn != NULL)
		side_check(&app->side, doca_task_get_status(doca_cc_task_send_as_task(task)),
				"send message");
	on_sent(task, task_data, ctx_data);
}

static void
ignore_consumer(struct doca_cc_event_consumer *event, struct doca_cc_connection *conn,
		uint32_t id)
{
	(void)event;
	(void)conn;
	(void)id;
}

#ifdef DOCA_ARCH_DPU /* receives */

static doca_error_t
send_verdict(struct app *app)
{
	struct doca_cc_task_send *task;
	doca_error_t result;

	result = doca_cc_server_task_send_alloc_init(app->server, app->conn, &app->verdict,
			sizeof(app->verdict), &task);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(doca_cc_task_send_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_cc_task_send_as_task(task));
	return result;
}

/* Check a block. The peer may send anything. */
static bool
take_block(struct app *app, const uint8_t *data, size_t len, bool *is_last)
{
	struct header header;

	*is_last = false;
	if (len < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	data += sizeof(header);
	len -= sizeof(header);
	*is_last = header.is_last != 0;
	app->bytes += len;
	return header.number == app->next++ && header.len == len &&
		header.sum == blocks_checksum(data, len) &&
		(app->file == NULL || fwrite(data, 1, len, app->file) == len);
}

/* Empty the buf and resubmit the same task for another block. */
static void
on_block(struct doca_cc_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_cc_consumer_task_post_recv_as_task(task);
	struct doca_buf *buf = doca_cc_consumer_task_post_recv_get_buf(task);
	struct app *app = ctx_data.ptr;
	void *data = NULL;
	size_t len = 0;
	bool is_last;

	(void)task_data;
	if (app->next == 0)
		app->begin = blocks_now();
	doca_buf_get_data(buf, &data);
	doca_buf_get_data_len(buf, &len);
	if (!take_block(app, data, len, &is_last))
		app->verdict.is_good = false;
	if (is_last) {
		app->seconds = blocks_now() - app->begin;
		app->is_over = true;
		app->verdict.bytes = app->bytes;
		side_check(&app->side, send_verdict(app), "send verdict");
	}
	doca_buf_reset_data_len(buf);
	/* A stopping consumer may refuse it. */
	if (doca_task_submit(t) != DOCA_SUCCESS)
		doca_task_free(t);
}

/* Posted receives complete here when the consumer stops. */
static void
on_no_block(struct doca_cc_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_cc_consumer_task_post_recv_as_task(task));
}

/* When the consumer is RUNNING, allocate and post its tasks. */
static void
on_consumer_state(const union doca_data user_data, struct doca_ctx *ctx,
		enum doca_ctx_states before, enum doca_ctx_states state)
{
	struct doca_cc_consumer_task_post_recv *task;
	struct app *app = user_data.ptr;
	doca_error_t result = DOCA_SUCCESS;
	int i;

	(void)ctx;
	(void)before;
	for (i = 0; state == DOCA_CTX_STATE_RUNNING && i < NB_BLOCKS &&
			result == DOCA_SUCCESS; i++) {
		result = doca_cc_consumer_task_post_recv_alloc_init(app->consumer,
				app->blocks.buf[i], &task);
		if (result == DOCA_SUCCESS)
			result = doca_task_submit(
				doca_cc_consumer_task_post_recv_as_task(task));
	}
	side_check(&app->side, result, "post receive");
}

static doca_error_t
open_consumer(struct app *app)
{
	doca_error_t result;

	app->verdict.is_good = true;
	result = blocks_open(&app->blocks, app->side.dev, BLOCK_SIZE,
			DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_cc_consumer_create(app->conn, app->blocks.mmap, &app->consumer);
	if (result != DOCA_SUCCESS)
		return result;
	app->end_ctx = doca_cc_consumer_as_ctx(app->consumer);
	result = doca_cc_consumer_task_post_recv_set_conf(app->consumer, on_block, on_no_block,
			NB_TASKS(LOG_NB_BLOCKS));
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(app->end_ctx, on_consumer_state);
	return result == DOCA_SUCCESS ? engine_start(app->pe, app->end_ctx, app) : result;
}

static void
on_connected(struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *conn, cc_success_t is_good)
{
	struct app *app = app_of(conn);

	(void)event;
	/* This example serves the first client only. */
	if (!is_good || app->was_up)
		return;
	app->conn = conn;
	app->was_up = true;
	side_check(&app->side, open_consumer(app), "open consumer");
}

static void
on_disconnected(struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *conn, cc_success_t is_good)
{
	struct app *app = app_of(conn);

	(void)event;
	(void)is_good;
	if (app->conn == conn)
		app->conn = NULL;
}

static doca_error_t
open_channel(struct app *app)
{
	doca_error_t result;

	result = doca_cc_server_create(app->side.dev, app->side.rep, app->side.name,
			&app->server);
	if (result != DOCA_SUCCESS)
		return result;
	app->ctx = doca_cc_server_as_ctx(app->server);
	result = doca_cc_server_task_send_set_conf(app->server, on_sent, on_unsent, NB_MSGS);
	if (result == DOCA_SUCCESS)
		result = doca_cc_server_event_msg_recv_register(app->server, on_msg);
	if (result == DOCA_SUCCESS)
		result = doca_cc_server_event_connection_register(app->server, on_connected,
				on_disconnected);
	if (result == DOCA_SUCCESS)
		result = doca_cc_server_event_consumer_register(app->server,
				ignore_consumer, ignore_consumer);
	return result == DOCA_SUCCESS ? engine_start(app->pe, app->ctx, app) : result;
}

#else /* the host: sends */

/* Fill the next block: its header and its payload. */
static doca_error_t
fill(struct app *app, struct doca_cc_producer_task_send *task)
{
	struct doca_buf *buf = doca_task_get_user_data(
			doca_cc_producer_task_send_as_task(task)).ptr;
	const uint64_t left = app->size - app->bytes;
	struct header header = {
		.number = app->next,
		.len = left < PAYLOAD ? left : PAYLOAD,
		.is_last = left <= PAYLOAD,
	};
	doca_error_t result;
	uint8_t *payload;
	void *data;

	result = doca_buf_get_data(buf, &data);
	if (result != DOCA_SUCCESS)
		return result;
	payload = (uint8_t *)data + sizeof(header);
	result = blocks_fill(payload, header.len, app->file, header.number);
	if (result != DOCA_SUCCESS)
		return result;
	header.sum = blocks_checksum(payload, header.len);
	memcpy(data, &header, sizeof(header));
	return doca_buf_set_data_len(buf, sizeof(header) + header.len);
}

/*
 * Send a block per free task. AGAIN means that the consumer has no buffer posted: keep
 * the filled block for a later turn.
 */
static void
send_blocks(struct app *app)
{
	struct doca_cc_producer_task_send *task;
	const uint64_t payload = PAYLOAD;
	doca_error_t result;
	uint64_t left;

	while (app->nb_free > 0 && app->bytes < app->size && app->conn != NULL) {
		task = app->free[app->nb_free - 1];
		if (!app->is_filled && !side_check(&app->side, fill(app, task), "fill block"))
			return;
		app->is_filled = true;
		result = doca_task_submit(doca_cc_producer_task_send_as_task(task));
		if (result == DOCA_ERROR_AGAIN ||
				!side_check(&app->side, result, "send block"))
			return;
		app->is_filled = false;
		app->nb_free--;
		app->next++;
		left = app->size - app->bytes;
		app->bytes += left < payload ? left : payload;
	}
}

static void
on_block_sent(struct doca_cc_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct app *app = ctx_data.ptr;

	(void)task_data;
	if (app->is_closing) {
		doca_task_free(doca_cc_producer_task_send_as_task(task));
		return;
	}
	/* Keep a filled task last: it is the next to be sent. */
	app->free[app->nb_free] = task;
	if (app->is_filled) {
		app->free[app->nb_free] = app->free[app->nb_free - 1];
		app->free[app->nb_free - 1] = task;
	}
	app->nb_free++;
	if (app->bytes < app->size || app->nb_free < NB_BLOCKS)
		return;
	app->seconds = blocks_now() - app->begin;
	app->is_over = true;
}

static void
on_block_unsent(struct doca_cc_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_cc_producer_task_send_as_task(task);
	struct app *app = ctx_data.ptr;

	(void)task_data;
	side_check(&app->side, doca_task_get_status(t), "send block");
	doca_task_free(t);
}

/* A producer is RUNNING as soon as it is started; then tasks can be allocated. */
static doca_error_t
open_producer(struct app *app, uint32_t consumer_id)
{
	struct doca_cc_producer_task_send **task;
	doca_error_t result;
	int i;

	result = blocks_open(&app->blocks, app->side.dev, BLOCK_SIZE,
			DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_cc_producer_create(app->conn, &app->producer);
	if (result != DOCA_SUCCESS)
		return result;
	app->end_ctx = doca_cc_producer_as_ctx(app->producer);
	result = doca_cc_producer_task_send_set_conf(app->producer, on_block_sent,
			on_block_unsent, NB_TASKS(LOG_NB_BLOCKS));
	if (result == DOCA_SUCCESS)
		result = engine_start(app->pe, app->end_ctx, app);
	for (i = 0; i < NB_BLOCKS && result == DOCA_SUCCESS; i++) {
		const union doca_data task_data = { .ptr = app->blocks.buf[i] };

		task = &app->free[app->nb_free];
		result = doca_cc_producer_task_send_alloc_init(app->producer,
				app->blocks.buf[i], consumer_id, task);
		if (result != DOCA_SUCCESS)
			return result;
		doca_task_set_user_data(doca_cc_producer_task_send_as_task(*task), task_data);
		app->nb_free++;
	}
	app->begin = blocks_now();
	return result;
}

static void
on_consumer(struct doca_cc_event_consumer *event, struct doca_cc_connection *conn, uint32_t id)
{
	struct app *app = app_of(conn);

	(void)event;
	if (app->producer == NULL)
		side_check(&app->side, open_producer(app, id), "open producer");
}

static void
on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states before,
		enum doca_ctx_states state)
{
	struct app *app = user_data.ptr;

	(void)ctx;
	(void)before;
	if (state != DOCA_CTX_STATE_RUNNING)
		app->conn = NULL;
	else if (side_check(&app->side, doca_cc_client_get_connection(app->client, &app->conn),
			"get connection"))
		app->was_up = true;
}

static doca_error_t
open_channel(struct app *app)
{
	doca_error_t result;

	result = doca_cc_client_create(app->side.dev, app->side.name, &app->client);
	if (result != DOCA_SUCCESS)
		return result;
	app->ctx = doca_cc_client_as_ctx(app->client);
	result = doca_cc_client_task_send_set_conf(app->client, on_sent, on_unsent, NB_MSGS);
	if (result == DOCA_SUCCESS)
		result = doca_cc_client_event_msg_recv_register(app->client, on_msg);
	if (result == DOCA_SUCCESS)
		result = doca_cc_client_event_consumer_register(app->client, on_consumer,
				ignore_consumer);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(app->ctx, on_state);
	return result == DOCA_SUCCESS ? engine_connect(app->pe, app->ctx, app) : result;
}

#endif

static void
open_app(struct app *app)
{
	if (side_open(&app->side) == DOCA_SUCCESS &&
			side_check(&app->side, doca_pe_create(&app->pe), "create engine"))
		side_check(&app->side, open_channel(app), SIDE_IS_DPU ? "listen" : "connect");
}

/* The host ends when it has the verdict, the DPU when the host disconnects. */
static void
run(struct app *app)
{
	uint8_t is_busy;

	while (!side_is_ending() && app->side.error == DOCA_SUCCESS &&
			!(app->is_over && app->has_verdict) &&
			!(app->was_up && app->conn == NULL)) {
		is_busy = doca_pe_progress(app->pe);
#ifndef DOCA_ARCH_DPU
		send_blocks(app);
#endif
		if (!is_busy)
			engine_sleep(app->pe, &app->side);
	}
	if (side_is_ending())
		DOCA_LOG_INFO("Interrupted");
}

/* First the producer or consumer, because they need the connection. */
static void
close_app(struct app *app)
{
	app->is_closing = true;
	while (app->nb_free > 0)
		doca_task_free(doca_cc_producer_task_send_as_task(app->free[--app->nb_free]));
	engine_stop(app->pe, app->end_ctx);
	if (app->producer != NULL)
		doca_cc_producer_destroy(app->producer);
	if (app->consumer != NULL)
		doca_cc_consumer_destroy(app->consumer);
	blocks_close(&app->blocks);
	engine_stop(app->pe, app->ctx);
	if (app->server != NULL)
		doca_cc_server_destroy(app->server);
	if (app->client != NULL)
		doca_cc_client_destroy(app->client);
	if (app->pe != NULL)
		doca_pe_destroy(app->pe);
	side_close(&app->side);
}

/* Options */

static doca_error_t
read_options(struct app *app, int argc, char **argv)
{
	doca_error_t result;

	result = doca_argp_init("doca_cc_data_path", app);
	if (result != DOCA_SUCCESS)
		return result;
	result = side_options(&app->side);
	if (result == DOCA_SUCCESS)
		result = blocks_options(&app->file, &app->size);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

/* Returns whether everything arrived. */
static bool
is_good(const struct app *app)
{
	return app->side.error == DOCA_SUCCESS && app->is_over && app->verdict.is_good &&
		app->verdict.bytes == app->bytes;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.side.name = "doca_cc_data_path",
		.size = UINT64_C(64) << 20,
	};
	doca_error_t result = DOCA_ERROR_INITIALIZATION;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (doca_log_backend_create_standard() == DOCA_SUCCESS)
		result = read_options(&app, argc, argv);
	if (result == DOCA_SUCCESS) {
		open_app(&app);
		run(&app);
	}
	if (app.is_over)
		blocks_report(SIDE_IS_DPU ? "received" : "sent", app.bytes, app.seconds);
	close_app(&app);
	if (app.file != NULL && fclose(app.file) != 0)
		result = DOCA_ERROR_IO_FAILED;
	doca_argp_destroy();
	if (result != DOCA_SUCCESS)
		return EXIT_FAILURE;
	printf("%s: %s\n", SIDE_NAME, is_good(&app) ? "all blocks are intact" :
		"some blocks are missing or damaged");
	return is_good(&app) ? EXIT_SUCCESS : EXIT_FAILURE;
}
