/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Fast path, sending end: a client with one producer, which sends a file or a pattern
 * to the server's consumer.
 *
 * Its buffers can be in any memory, because only the consumer's memory is exported to
 * the other side. A buffer is reused after done_burst() has returned it.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_comch_dp.h>
#include <rte_comch_mem.h>

#include "../common/example.h"
#include "../common/text.h"
#include "transfer.h"

#define BURST 32

struct app {
	/* Options. */
	const char *dev;
	const char *name;
	const char *input;
	uint64_t pattern_len;
	uint64_t msg_size;
	uint64_t wait_ms;
	bool no_check;
	bool busy;
	struct transfer_progress progress;

	int16_t dev_id;
	struct rte_comch_poll *poll;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;
	struct rte_comch_producer *producer;
	uint32_t consumer_id;
	uint64_t total;        /* Bytes to send; UINT64_MAX: until the end of the input. */
	uint64_t buf_size;
	uint8_t *mem;
	struct rte_comch_mr *mr;
	uint64_t free_bufs[TRANSFER_BUFS];
	uint16_t nb_bufs;
	uint16_t nb_free;
	struct rte_comch_op ops[BURST]; /* Filled, but not taken yet. */
	uint16_t nb_ops;
	int in_fd;
	bool input_ended;
	bool told;             /* Our totals are sent. */
	bool over;             /* The consumer has answered. */
	bool failed;
	bool ended;            /* The client is IDLE again. */
	double begin;
	struct transfer figures;
};

/* Report only the first failure; later ones follow from it. */
static void
fail(struct app *app, const char *what, int err)
{
	transfer_progress_end(&app->progress);
	if (!app->failed)
		example_error(what, err);
	app->failed = true;
}

/* Read until the buffer is full or the input ends. A pipe gives it in pieces. */
static size_t
read_all(struct app *app, uint8_t *buf)
{
	size_t len = 0;
	ssize_t n = 1;

	while (len < app->buf_size && n > 0 && !example_quit) {
		n = read(app->in_fd, buf + len, app->buf_size - len);
		if (n < 0) {
			fail(app, app->input, errno);
			return 0;
		}
		len += (size_t)n;
	}
	return len;
}

/* Fill a buffer with the next piece of input. Returns its length; 0: end of input. */
static size_t
fill(struct app *app, uint8_t *buf)
{
	if (app->in_fd >= 0)
		return read_all(app, buf);
	/* set_up_buffers() has filled in the pattern; the number makes each message unique. */
	if (app->buf_size >= sizeof(uint64_t))
		memcpy(buf, &app->figures.msgs, sizeof(uint64_t));
	return RTE_MIN(app->total - app->figures.bytes, app->buf_size);
}

static void
prepare(struct app *app)
{
	uint64_t i;
	uint8_t *buf;
	size_t len;

	while (!app->input_ended && app->nb_ops < BURST && app->nb_free > 0) {
		i = app->free_bufs[app->nb_free - 1];
		buf = app->mem + i * app->buf_size;
		len = fill(app, buf);
		if (len == 0) {
			app->input_ended = true;
			return;
		}
		app->nb_free--;
		app->ops[app->nb_ops++] = (struct rte_comch_op){
			.addr = buf,
			.mr = app->mr,
			.cookie = i,
			.len = (uint32_t)len,
			.consumer_id = app->consumer_id,
		};
		app->figures.msgs++;
		app->figures.bytes += len;
		if (!app->no_check)
			app->figures.sum = example_sum(app->figures.sum, buf, len);
	}
}

/* Take back buffers of completed messages. Returns their number. */
static uint16_t
take_back(struct app *app)
{
	struct rte_comch_cpl cpls[BURST];
	uint16_t n, i;

	n = rte_comch_producer_done_burst(app->producer, cpls, BURST);
	for (i = 0; i < n; i++) {
		app->free_bufs[app->nb_free++] = cpls[i].cookie;
		if (cpls[i].status == -EMSGSIZE)
			fail(app, "the consumer's buffers are too short, see its --size", EMSGSIZE);
		else if (cpls[i].status < 0)
			fail(app, "message not delivered", cpls[i].status);
	}
	return n;
}

/* Send as much as fits. Returns the number of messages sent. */
static uint16_t
send_some(struct app *app)
{
	uint16_t sent;

	if (app->told || app->failed || example_quit)
		return 0;
	prepare(app);
	if (app->nb_ops == 0)
		return 0;
	/* A short count means no more posted buffers. Send the rest later. */
	sent = rte_comch_producer_send_burst(app->producer, app->ops, app->nb_ops);
	app->nb_ops -= sent;
	memmove(app->ops, &app->ops[sent], app->nb_ops * sizeof(app->ops[0]));
	return sent;
}

static void
show_progress(struct app *app)
{
	uint64_t bytes = app->figures.bytes;
	uint16_t i;

	for (i = 0; i < app->nb_ops; i++)
		bytes -= app->ops[i].len;
	transfer_progress_show(&app->progress, "sent", bytes, app->total,
			example_now() - app->begin);
}

/* When everything is sent and completed, send our totals to the consumer. */
static void
tell_figures(struct app *app)
{
	char text[80];
	struct rte_comch_msg msg = { .data = text };

	if (app->told || app->failed || app->conn == NULL || !app->input_ended ||
			app->nb_ops > 0 || app->nb_free < app->nb_bufs)
		return;
	msg.len = transfer_format(&app->figures, text, sizeof(text));
	app->told = rte_comch_conn_send_burst(app->conn, &msg, 1) == 1;
	transfer_progress_end(&app->progress);
	if (app->told)
		transfer_print("sent", &app->figures, example_now() - app->begin);
}

static void
on_consumer(struct app *app, const struct rte_comch_event *ev)
{
	struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = app->nb_bufs,
	};
	int ret;

	if (app->producer != NULL)
		return;
	app->consumer_id = ev->consumer.id;
	app->producer = rte_comch_producer_create(ev->conn, &conf);
	ret = app->producer != NULL ? rte_comch_producer_start(app->producer) : -rte_errno;
	if (ret < 0)
		fail(app, "start producer", ret);
	app->begin = example_now();
}

static void
on_event(struct app *app, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		app->conn = ev->conn;
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		on_consumer(app, ev);
		break;
	case RTE_COMCH_EVENT_MSG:
		text_print("consumer: ", ev->msg.data, ev->msg.len, "\n");
		app->over = true;
		if (ev->msg.len != strlen(TRANSFER_GOOD) ||
				memcmp(ev->msg.data, TRANSFER_GOOD, ev->msg.len) != 0)
			app->failed = true;
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		app->conn = NULL;
		if (!app->over && !example_quit)
			fail(app, ev->text != NULL ? ev->text : "disconnected", ECONNRESET);
		break;
	case RTE_COMCH_EVENT_STATE:
		if (ev->obj_type != RTE_COMCH_OBJ_CLIENT)
			break;
		app->ended = ev->state.next == RTE_COMCH_STATE_IDLE;
		if (ev->status < 0 && !app->failed && !app->over)
			fail(app, ev->text != NULL ? ev->text : app->name, ev->status);
		break;
	default:
		break;
	}
}

/* One step of the teardown: producer, then client. Returns whether one was started. */
static bool
close_step(struct app *app)
{
	enum rte_comch_state state;

	if (app->producer != NULL) {
		if (rte_comch_producer_state(app->producer) == RTE_COMCH_STATE_RUNNING)
			rte_comch_producer_stop(app->producer);
		if (rte_comch_producer_state(app->producer) != RTE_COMCH_STATE_IDLE)
			return false;
		rte_comch_producer_destroy(app->producer);
		app->producer = NULL;
	}
	state = rte_comch_client_state(app->client);
	if (state != RTE_COMCH_STATE_STARTING && state != RTE_COMCH_STATE_RUNNING)
		return false;
	rte_comch_client_stop(app->client);
	return true;
}

static void
run(struct app *app)
{
	struct rte_comch_event events[32];
	uint16_t n, i;

	/* The client becomes IDLE only after its producer is destroyed. */
	while (!app->ended) {
		n = rte_comch_poll_run(app->poll, events, RTE_DIM(events));
		for (i = 0; i < n; i++)
			on_event(app, &events[i]);
		if (app->producer != NULL) {
			n += take_back(app);
			n += send_some(app);
			show_progress(app);
			tell_figures(app);
		}
		if ((app->over || app->failed || example_quit) && close_step(app))
			continue;
		if (n == 0 && !app->busy)
			example_sleep(app->poll, -1);
	}
}

static int
open_input(struct app *app)
{
	struct stat st;

	app->in_fd = open(app->input, O_RDONLY | O_CLOEXEC);
	if (app->in_fd < 0 || fstat(app->in_fd, &st) != 0)
		return example_error(app->input, errno);
	if (S_ISDIR(st.st_mode))
		return example_error(app->input, EISDIR);
	/* A pipe does not tell its length. */
	app->total = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : UINT64_MAX;
	return 0;
}

/* Not more buffers than the input fills, nor longer ones. */
static int
set_up_buffers(struct app *app)
{
	size_t len;
	uint64_t i;

	app->total = app->pattern_len;
	if (app->input != NULL && open_input(app) < 0)
		return -1;
	app->buf_size = RTE_MAX(RTE_MIN(app->msg_size, app->total), UINT64_C(1));
	app->nb_bufs = (uint16_t)RTE_MAX(RTE_MIN(transfer_nb_bufs(app->buf_size),
			app->total / app->buf_size + (app->total % app->buf_size != 0)),
			UINT64_C(1));
	len = app->buf_size * app->nb_bufs;
	app->mem = malloc(len);
	if (app->mem == NULL)
		return example_error("allocate buffers", ENOMEM);
	for (i = 0; app->input == NULL && i + sizeof(i) <= len; i += sizeof(i))
		memcpy(&app->mem[i], &i, sizeof(i));
	for (i = 0; i < app->nb_bufs; i++)
		app->free_bufs[app->nb_free++] = i;
	app->mr = rte_comch_mem_register(app->mem, len, 0);
	return app->mr != NULL ? 0 : example_error("register memory", rte_errno);
}

static int
set_up(struct app *app)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.name = app->name,
		.connect_timeout_ms = app->wait_ms,
	};
	int ret = rte_comch_dev_probe(app->dev, &app->dev_id);

	if (ret < 0)
		return example_error(app->dev, ret);
	conf.poll = app->poll = rte_comch_poll_create(NULL);
	if (app->poll == NULL)
		return example_error("create poll", rte_errno);
	app->client = rte_comch_client_create(app->dev_id, &conf);
	if (app->client == NULL)
		return example_error("create client", rte_errno);
	ret = rte_comch_client_start(app->client);
	return ret == -EINPROGRESS ? 0 : example_error(app->name, ret);
}

static void
tear_down(struct app *app)
{
	if (app->client != NULL)
		rte_comch_client_destroy(app->client);
	if (app->poll != NULL)
		rte_comch_poll_destroy(app->poll);
	if (app->dev_id >= 0)
		rte_comch_dev_close(app->dev_id);
	if (app->mr != NULL)
		rte_comch_mem_unregister(app->mr);
	free(app->mem);
	if (app->in_fd >= 0)
		close(app->in_fd);
}

int
main(int argc, char **argv)
{
	struct app app = {
		.dev = "comch_shm0,role=host,func=pf0",
		.name = "data_path",
		.pattern_len = 1 << 30,
		.msg_size = 64 << 10,
		.wait_ms = 10000,
		.progress.interval_ms = 1000,
		.dev_id = -1,
		.in_fd = -1,
	};
	const struct example_option options[] = {
		EXAMPLE_TEXT('d', "dev", "DEVARGS", "device string", &app.dev),
		EXAMPLE_TEXT('n', "name", "NAME", "server name", &app.name),
		EXAMPLE_TEXT('i', "input", "FILE", "send a file instead of a pattern", &app.input),
		EXAMPLE_NUMBER('l', "length", "BYTES", "pattern length",
				&app.pattern_len, 0, UINT64_MAX),
		EXAMPLE_NUMBER('s', "size", "BYTES", "message length",
				&app.msg_size, 1, TRANSFER_MAX_LEN),
		EXAMPLE_NUMBER('p', "progress", "MS", "interval of progress lines, ms; 0: none",
				&app.progress.interval_ms, 0, UINT32_MAX),
		EXAMPLE_NUMBER('w', "wait", "MS", "how long to retry without a server, ms",
				&app.wait_ms, 0, UINT32_MAX),
		EXAMPLE_FLAG('x', "no-check", "skip the checksum", &app.no_check),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &app.busy),
	};
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start(1);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	ret = set_up_buffers(&app) == 0 ? set_up(&app) : -1;
	if (ret == 0)
		run(&app);
	tear_down(&app);
	example_end();
	return ret == 0 && app.over && !app.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
