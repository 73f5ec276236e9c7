/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The data path with the DOCA API: a producer on the host sends a file or generated data
 * to the DPU. With --both the DPU sends the same amount back. Each message is a block;
 * its immediate data has the block number and the checksum. At the end, each receiver
 * sends a verdict.
 *
 *     doca_data_path_dpu  -p 03:00.0 -r b1:00.0 -f copy &
 *     doca_data_path_host -p b1:00.0 -f original
 *
 *     host                                   DPU
 *     connected, HELLO --------------------> amount to send back
 *                        <------------------ consumer
 *     producer: blocks --------------------> (and a producer, with --both)
 *                        <------------------ VERDICT, a control message
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_log.h>

#include "../doca_common/blocks.h"
#include "../doca_common/link.h"

DOCA_LOG_REGISTER(DATA_PATH);

/* Immediate data of a block. */
struct stamp {
	uint64_t number;
	uint64_t sum;
	uint64_t is_last;
};

/* Control messages. */
struct word {
	enum { HELLO, VERDICT } kind;
	uint32_t is_good;
	uint64_t bytes; /* HELLO: to send back; VERDICT: received */
};

/* The two sides may be of different architectures: both read these as they are. */
_Static_assert(sizeof(struct stamp) == 24 && sizeof(struct word) == 16, "wire");

/* A producer or a consumer. */
struct end {
	struct doca_ctx *ctx;
	struct blocks blocks;
	uint64_t bytes;       /* sent or received */
	uint64_t next;        /* number of the next block */
	double begin, seconds;
	bool is_over;         /* the last block is complete */
};

struct app {
	struct link link;     /* first: see side_options() */
	uint64_t size;
	bool both;
	FILE *file;
	/* Sending. */
	struct end out;
	struct doca_comch_producer *producer;
	struct doca_comch_producer_task_send *free[NB_BLOCKS]; /* not submitted */
	uint32_t nb_free;
	bool is_filled;       /* the last free task has its block filled */
	uint64_t left;        /* bytes still to send */
	uint32_t consumer_id; /* the peer's; 0: not announced yet */
	/* Receiving. */
	struct end in;
	struct doca_comch_consumer *consumer;
	bool is_bad;
	struct word word;     /* ours: must not change until sent */
	struct word verdict;  /* the peer's */
	bool has_verdict;
	bool is_closing;
};

/* Sending */

/* Fill the next block: its data and its stamp. */
static doca_error_t
fill(struct app *app, struct doca_comch_producer_task_send *task)
{
	/* The task's buf is const, but we created it. */
	struct doca_buf *buf = doca_task_get_user_data(
			doca_comch_producer_task_send_as_task(task)).ptr;
	size_t len = app->left < BLOCK_SIZE ? (size_t)app->left : BLOCK_SIZE;
	struct stamp stamp = { .number = app->out.next, .is_last = app->left <= BLOCK_SIZE };
	void *data;
	doca_error_t result;

	result = doca_buf_get_data(buf, &data);
	if (result != DOCA_SUCCESS)
		return result;
	/* The DPU's file is for what it receives. */
	result = blocks_fill(data, len, SIDE_IS_DPU ? NULL : app->file, stamp.number);
	if (result != DOCA_SUCCESS)
		return result;
	stamp.sum = blocks_checksum(data, len);
	doca_comch_producer_task_send_set_imm_data(task, (uint8_t *)&stamp, sizeof(stamp));
	doca_comch_producer_task_send_set_consumer_id(task, app->consumer_id);
	return doca_buf_set_data_len(buf, len);
}

/*
 * Send a block per free task. AGAIN means that the consumer has no buffer posted: keep
 * the filled block for a later turn.
 */
static void
send_blocks(struct link *link)
{
	struct app *app = (struct app *)link;
	struct doca_comch_producer_task_send *task;
	doca_error_t result;
	size_t len;

	while (app->nb_free > 0 && app->left > 0 && link->conn != NULL) {
		task = app->free[app->nb_free - 1];
		if (!app->is_filled &&
				!side_check(&link->side, fill(app, task), "fill block"))
			return;
		app->is_filled = true;
		result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
		if (result == DOCA_ERROR_AGAIN ||
				!side_check(&link->side, result, "send block"))
			return;
		app->is_filled = false;
		app->nb_free--;
		len = app->left < BLOCK_SIZE ? (size_t)app->left : BLOCK_SIZE;
		app->out.next++;
		app->out.bytes += len;
		app->left -= len;
	}
}

static void
on_block_sent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct app *app = ctx_data.ptr;

	(void)task_data;
	if (app->is_closing) {
		doca_task_free(doca_comch_producer_task_send_as_task(task));
		return;
	}
	/* Keep a filled task last: it is the next to be sent. */
	app->free[app->nb_free] = task;
	if (app->is_filled) {
		app->free[app->nb_free] = app->free[app->nb_free - 1];
		app->free[app->nb_free - 1] = task;
	}
	app->nb_free++;
	if (app->left > 0 || app->nb_free < NB_BLOCKS)
		return;
	app->out.seconds = blocks_now() - app->out.begin;
	app->out.is_over = true;
}

static void
on_block_unsent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_comch_producer_task_send_as_task(task);
	struct app *app = ctx_data.ptr;

	(void)task_data;
	side_check(&app->link.side, doca_task_get_status(t), "send block");
	doca_task_free(t);
}

/* A producer is RUNNING as soon as it is started; then tasks can be allocated. */
static doca_error_t
open_producer(struct app *app)
{
	struct end *out = &app->out;
	doca_error_t result;
	int i;

	result = blocks_open(&out->blocks, app->link.side.dev, BLOCK_SIZE,
			DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_create(app->link.conn, &app->producer);
	if (result != DOCA_SUCCESS)
		return result;
	out->ctx = doca_comch_producer_as_ctx(app->producer);
	result = doca_comch_producer_task_send_set_conf(app->producer, on_block_sent,
			on_block_unsent, NB_BLOCKS);
	if (result == DOCA_SUCCESS)
		result = engine_start(app->link.pe, out->ctx, app);
	for (i = 0; i < NB_BLOCKS && result == DOCA_SUCCESS; i++) {
		const union doca_data task_data = { .ptr = out->blocks.buf[i] };
		struct doca_comch_producer_task_send **task = &app->free[app->nb_free];

		result = doca_comch_producer_task_send_alloc_init(app->producer, out->blocks.buf[i],
				NULL, 0, app->consumer_id, task);
		if (result != DOCA_SUCCESS)
			return result;
		doca_task_set_user_data(doca_comch_producer_task_send_as_task(*task), task_data);
		app->nb_free++;
	}
	out->begin = blocks_now();
	return result;
}

/* Start sending when both the consumer and the amount are known, in either order. */
static void
begin_to_send(struct app *app)
{
	if (app->consumer_id != 0 && app->left > 0 && app->producer == NULL)
		side_check(&app->link.side, open_producer(app), "open producer");
}

/* Receiving */

static void
send_verdict(struct app *app)
{
	struct end *in = &app->in;

	in->seconds = blocks_now() - in->begin;
	in->is_over = true;
	app->word = (struct word){ .kind = VERDICT, .is_good = !app->is_bad,
		.bytes = in->bytes };
	side_check(&app->link.side, link_send(&app->link, &app->word, sizeof(app->word)),
			"send verdict");
}

static void
take_block(struct app *app, struct doca_comch_consumer_task_post_recv *task)
{
	const struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
	struct end *in = &app->in;
	struct stamp stamp = { .number = UINT64_MAX };
	void *data = NULL;
	size_t len = 0;

	if (in->next == 0)
		in->begin = blocks_now();
	doca_buf_get_data(buf, &data);
	doca_buf_get_data_len(buf, &len);
	if (doca_comch_consumer_task_post_recv_get_imm_data_len(task) == sizeof(stamp))
		memcpy(&stamp, doca_comch_consumer_task_post_recv_get_imm_data(task),
				sizeof(stamp));
	if (stamp.number != in->next || stamp.sum != blocks_checksum(data, len))
		app->is_bad = true;
	if (SIDE_IS_DPU && app->file != NULL && fwrite(data, 1, len, app->file) != len)
		app->is_bad = true;
	in->next++;
	in->bytes += len;
	if (stamp.is_last)
		send_verdict(app);
}

/* Empty the buf and resubmit the same task for another block. */
static void
on_block(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_comch_consumer_task_post_recv_as_task(task);
	struct app *app = ctx_data.ptr;

	(void)task_data;
	take_block(app, task);
	doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task));
	/* A stopping consumer may refuse it. */
	if (doca_task_submit(t) != DOCA_SUCCESS)
		doca_task_free(t);
}

/* Posted receives complete here when the consumer stops. */
static void
on_no_block(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

/* When the consumer is RUNNING, allocate and post its tasks. */
static void
on_consumer_state(const union doca_data user_data, struct doca_ctx *ctx,
		enum doca_ctx_states before, enum doca_ctx_states state)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct app *app = user_data.ptr;
	doca_error_t result = DOCA_SUCCESS;
	int i;

	(void)ctx;
	(void)before;
	for (i = 0; state == DOCA_CTX_STATE_RUNNING && i < NB_BLOCKS &&
			result == DOCA_SUCCESS; i++) {
		result = doca_comch_consumer_task_post_recv_alloc_init(app->consumer,
				app->in.blocks.buf[i], &task);
		if (result == DOCA_SUCCESS)
			result = doca_task_submit(
				doca_comch_consumer_task_post_recv_as_task(task));
	}
	side_check(&app->link.side, result, "post receive");
}

static doca_error_t
open_consumer(struct app *app)
{
	struct end *in = &app->in;
	doca_error_t result;

	result = blocks_open(&in->blocks, app->link.side.dev, BLOCK_SIZE,
			DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_create(app->link.conn, in->blocks.mmap,
				&app->consumer);
	if (result != DOCA_SUCCESS)
		return result;
	in->ctx = doca_comch_consumer_as_ctx(app->consumer);
	result = doca_comch_consumer_set_imm_data_len(app->consumer, sizeof(struct stamp));
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_task_post_recv_set_conf(app->consumer, on_block,
				on_no_block, NB_BLOCKS);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(in->ctx, on_consumer_state);
	return result == DOCA_SUCCESS ? engine_start(app->link.pe, in->ctx, app) : result;
}

/* The connection */

static void
on_up(struct link *link)
{
	struct app *app = (struct app *)link;

	if (SIDE_IS_DPU || app->both)
		side_check(&link->side, open_consumer(app), "open consumer");
	if (SIDE_IS_DPU)
		return;
	app->left = app->size;
	app->word = (struct word){ .kind = HELLO, .bytes = app->both ? app->size : 0 };
	side_check(&link->side, link_send(link, &app->word, sizeof(app->word)), "send HELLO");
}

static void
on_msg(struct link *link, const void *data, uint32_t len)
{
	struct app *app = (struct app *)link;
	struct word word;

	if (len != sizeof(word)) {
		side_check(&link->side, DOCA_ERROR_UNEXPECTED, "control message");
		return;
	}
	memcpy(&word, data, sizeof(word));
	if (word.kind == VERDICT) {
		app->verdict = word;
		app->has_verdict = true;
	} else if (SIDE_IS_DPU) {
		app->left = word.bytes;
		app->both = word.bytes > 0;
		begin_to_send(app);
	}
}

static void
on_consumer(struct link *link, uint32_t id)
{
	struct app *app = (struct app *)link;

	app->consumer_id = id;
	begin_to_send(app);
}

/* The DPU runs until the host disconnects. */
static bool
is_done(const struct link *link)
{
	const struct app *app = (const struct app *)link;

	return !SIDE_IS_DPU && app->out.is_over && app->has_verdict &&
		(!app->both || app->in.is_over);
}

/* Close producers and consumers first, because they need the connection. */
static void
close_ends(struct app *app)
{
	app->is_closing = true;
	while (app->nb_free > 0)
		doca_task_free(doca_comch_producer_task_send_as_task(app->free[--app->nb_free]));
	engine_stop(app->link.pe, app->out.ctx);
	engine_stop(app->link.pe, app->in.ctx);
	if (app->producer != NULL)
		doca_comch_producer_destroy(app->producer);
	if (app->consumer != NULL)
		doca_comch_consumer_destroy(app->consumer);
	blocks_close(&app->out.blocks);
	blocks_close(&app->in.blocks);
}

/* Options */

static doca_error_t
take_both(void *value, void *config)
{
	struct app *app = config;

	app->both = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t
read_options(struct app *app, int argc, char **argv)
{
	doca_error_t result;

	result = doca_argp_init("doca_data_path", app);
	if (result != DOCA_SUCCESS)
		return result;
	result = side_options(&app->link.side);
	if (result == DOCA_SUCCESS)
		result = blocks_options(&app->file, &app->size);
	if (result == DOCA_SUCCESS && !SIDE_IS_DPU)
		result = side_option("b", "both", NULL, "let the DPU send the same amount back",
				DOCA_ARGP_TYPE_BOOLEAN, take_both);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

static void
report(const char *what, const struct end *end)
{
	if (end->is_over)
		blocks_report(what, end->bytes, end->seconds);
}

/* Returns whether everything arrived, according to both sides. */
static bool
is_good(const struct app *app)
{
	bool sends = !SIDE_IS_DPU || app->both, receives = SIDE_IS_DPU || app->both;

	if (app->link.side.error != DOCA_SUCCESS)
		return false;
	return (!sends || (app->out.is_over && app->has_verdict && app->verdict.is_good &&
			app->verdict.bytes == app->out.bytes)) &&
		(!receives || (app->in.is_over && !app->is_bad));
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.link = {
			.side.name = "doca_data_path",
			.on_up = on_up,
			.on_msg = on_msg,
			.on_consumer = on_consumer,
			.on_turn = send_blocks,
			.is_done = is_done,
		},
		.size = UINT64_C(64) << 20,
	};
	doca_error_t result = DOCA_ERROR_INITIALIZATION;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (doca_log_backend_create_standard() == DOCA_SUCCESS)
		result = read_options(&app, argc, argv);
	if (result == DOCA_SUCCESS && link_open(&app.link) == DOCA_SUCCESS)
		link_run(&app.link);
	report("sent", &app.out);
	report("received", &app.in);
	close_ends(&app);
	link_close(&app.link);
	if (app.file != NULL && fclose(app.file) != 0)
		result = DOCA_ERROR_IO_FAILED;
	doca_argp_destroy();
	if (result != DOCA_SUCCESS)
		return EXIT_FAILURE;
	printf("%s: %s\n", SIDE_NAME, is_good(&app) ? "all blocks are intact" :
		"some blocks are missing or damaged");
	return is_good(&app) ? EXIT_SUCCESS : EXIT_FAILURE;
}
