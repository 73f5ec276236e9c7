/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Fast path, receiving end: a server with one consumer. Its buffers are in shareable
 * memory, so that the producer writes straight into them.
 *
 * Received data is counted, summed and, with --output, written to a file. The
 * producer sends its own totals in a control message, which may overtake the last
 * data, so the transfer is complete when both have arrived. The answer tells whether
 * they agree.
 */

#include <fcntl.h>
#include <unistd.h>

#include <rte_comch_dp.h>
#include <rte_comch_mem.h>

#include "../common/example.h"
#include "transfer.h"

#define BURST 32

struct app {
	/* Options. */
	const char *dev;
	const char *name;
	const char *output;
	uint64_t buf_size;
	uint64_t nb_bufs;
	bool no_check;
	bool busy;
	struct transfer_progress progress;

	int16_t dev_id;
	struct rte_comch_poll *poll;
	struct rte_comch_server *server;
	struct rte_comch_conn *conn;
	uint8_t *mem;
	struct rte_comch_mr *mr;
	struct rte_comch_consumer *consumer;
	int out_fd;
	bool ended;            /* The producer's totals are in `theirs`. */
	bool failed;
	bool over;
	double begin;
	struct transfer ours;
	struct transfer theirs;
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

/* Buffer number i, for posting. The cookie identifies it in the completion. */
static struct rte_comch_buf
buffer(const struct app *app, uint64_t i)
{
	return (struct rte_comch_buf){
		.addr = app->mem + i * app->buf_size,
		.mr = app->mr,
		.cookie = i,
		.len = (uint32_t)app->buf_size,
	};
}

static void
post_all(struct app *app)
{
	struct rte_comch_buf buf;
	uint64_t i;

	for (i = 0; i < app->nb_bufs; i++) {
		buf = buffer(app, i);
		/* The queue holds all buffers, so this always succeeds. */
		rte_comch_consumer_post_burst(app->consumer, &buf, 1);
	}
}

/* A long write() may write less than all. */
static void
write_all(struct app *app, const uint8_t *data, size_t len)
{
	ssize_t n;

	for (; len > 0; data += n, len -= (size_t)n) {
		n = write(app->out_fd, data, len);
		if (n < 0) {
			fail(app, app->output, errno);
			return;
		}
	}
}

static void
take(struct app *app, const struct rte_comch_cpl *cpl)
{
	const uint8_t *data = app->mem + cpl->cookie * app->buf_size;

	app->ours.msgs++;
	app->ours.bytes += cpl->len;
	if (!app->no_check)
		app->ours.sum = example_sum(app->ours.sum, data, cpl->len);
	if (app->out_fd >= 0 && !app->failed)
		write_all(app, data, cpl->len);
	transfer_progress_show(&app->progress, "received", app->ours.bytes, UINT64_MAX,
			example_now() - app->begin);
}

/* Returns the number of completed buffers: with messages, or empty after a stop. */
static uint16_t
receive(struct app *app)
{
	struct rte_comch_cpl cpls[BURST];
	struct rte_comch_buf again[BURST];
	uint16_t n, i, nb_again = 0;

	if (app->consumer == NULL)
		return 0;
	n = rte_comch_consumer_recv_burst(app->consumer, cpls, BURST);
	for (i = 0; i < n; i++) {
		if (cpls[i].status == 0) {
			take(app, &cpls[i]);
			again[nb_again++] = buffer(app, cpls[i].cookie);
		} else if (cpls[i].status != -ECANCELED) {
			fail(app, "receive", cpls[i].status);
		}
	}
	if (nb_again > 0 && rte_comch_consumer_state(app->consumer) == RTE_COMCH_STATE_RUNNING)
		rte_comch_consumer_post_burst(app->consumer, again, nb_again);
	return n;
}

/* Answer once, after the producer's totals and all its messages have arrived. */
static void
finish(struct app *app)
{
	struct rte_comch_msg msg = { .data = TRANSFER_GOOD, .len = strlen(TRANSFER_GOOD) };

	if (app->over || !app->ended || app->ours.msgs < app->theirs.msgs)
		return;
	app->over = true;
	transfer_progress_end(&app->progress);
	transfer_print("received", &app->ours, example_now() - app->begin);
	if (!transfer_equal(&app->ours, &app->theirs)) {
		msg.data = TRANSFER_BAD;
		msg.len = strlen(TRANSFER_BAD);
		fail(app, "received data differs from sent data", EBADMSG);
	}
	/* The first message of the connection always finds room. */
	if (rte_comch_conn_send_burst(app->conn, &msg, 1) != 1)
		fail(app, "send answer", EAGAIN);
}

static void
consumer_begin(struct app *app)
{
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = (uint32_t)app->nb_bufs,
		.mrs = &app->mr,
		.nb_mrs = 1,
	};

	app->consumer = rte_comch_consumer_create(app->conn, &conf);
	if (app->consumer == NULL || rte_comch_consumer_start(app->consumer) != -EINPROGRESS)
		fail(app, "start consumer", rte_errno);
}

static void
on_state(struct app *app, const struct rte_comch_event *ev)
{
	if (ev->obj_type != RTE_COMCH_OBJ_CONSUMER)
		return;
	if (ev->state.next == RTE_COMCH_STATE_RUNNING) {
		post_all(app);
	} else if (ev->state.next == RTE_COMCH_STATE_IDLE) {
		/* We stopped it, or the producer's process has exited. */
		rte_comch_consumer_destroy(app->consumer);
		app->consumer = NULL;
	}
}

static void
on_event(struct app *app, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		app->conn = ev->conn;
		app->begin = example_now();
		consumer_begin(app);
		break;
	case RTE_COMCH_EVENT_STATE:
		on_state(app, ev);
		break;
	case RTE_COMCH_EVENT_MSG:
		if (transfer_parse(ev->msg.data, ev->msg.len, &app->theirs) < 0)
			fail(app, "invalid totals from producer", EPROTO);
		else
			app->ended = true;
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		printf("disconnected: %s\n", ev->text != NULL ? ev->text : "no reason given");
		app->conn = NULL;
		if (!app->over)
			fail(app, "incomplete transfer", ECONNRESET);
		break;
	default:
		break;
	}
}

/*
 * One step of the teardown: first the consumer, then the server. After a successful
 * transfer, the producer disconnects when it has read our answer. Returns whether a
 * step was started.
 */
static bool
close_step(struct app *app)
{
	enum rte_comch_state state;

	if (app->consumer != NULL) {
		state = rte_comch_consumer_state(app->consumer);
		return (state == RTE_COMCH_STATE_STARTING || state == RTE_COMCH_STATE_RUNNING) &&
			rte_comch_consumer_stop(app->consumer) == -EINPROGRESS;
	}
	if (app->conn != NULL && !app->failed && !example_quit)
		return false;
	if (rte_comch_server_state(app->server) != RTE_COMCH_STATE_RUNNING)
		return false;
	rte_comch_server_stop(app->server);
	return true;
}

static void
run(struct app *app)
{
	struct rte_comch_event events[32];
	uint16_t n, i;

	while (rte_comch_server_state(app->server) != RTE_COMCH_STATE_IDLE) {
		n = rte_comch_poll_run(app->poll, events, RTE_DIM(events));
		for (i = 0; i < n; i++)
			on_event(app, &events[i]);
		n += receive(app);
		finish(app);
		if ((app->over || app->failed || example_quit) && close_step(app))
			continue;
		if (n == 0 && !app->busy)
			example_sleep(app->poll, -1);
	}
}

static int
set_up_memory(struct app *app)
{
	const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			(uint64_t)sysconf(_SC_PAGESIZE);
	size_t len;

	if (app->nb_bufs == 0)
		app->nb_bufs = transfer_nb_bufs(app->buf_size);
	len = app->buf_size * app->nb_bufs;
	/* Pages are allocated when the producer writes them: too late for an error. */
	if (len > machine) {
		EXAMPLE_ERR("--size times --buffers is %.1f GiB, this machine has %.1f GiB",
				(double)len / (1 << 30), (double)machine / (1 << 30));
		return -1;
	}
	if (app->output != NULL) {
		app->out_fd = open(app->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (app->out_fd < 0)
			return example_error(app->output, errno);
	}
	/* The peer can access all of this memory: keep only buffers in it. */
	app->mem = rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	if (app->mem == NULL)
		return example_error("allocate shareable memory", rte_errno);
	app->mr = rte_comch_mem_register(app->mem, len, 0);
	return app->mr != NULL ? 0 : example_error("register memory", rte_errno);
}

static int
set_up(struct app *app)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .name = app->name, .max_clients = 1,
	};
	int ret = rte_comch_dev_probe(app->dev, &app->dev_id);

	if (ret < 0)
		return example_error(app->dev, ret);
	conf.poll = app->poll = rte_comch_poll_create(NULL);
	if (app->poll == NULL)
		return example_error("create poll", rte_errno);
	app->server = rte_comch_server_create(app->dev_id, &conf);
	if (app->server == NULL)
		return example_error("create server", rte_errno);
	ret = rte_comch_server_start(app->server);
	if (ret < 0)
		return example_error(app->name, ret);
	printf("server '%s' waits for a producer, %" PRIu64 " buffer%s of %" PRIu64 " bytes\n",
			app->name, app->nb_bufs, app->nb_bufs == 1 ? "" : "s", app->buf_size);
	return 0;
}

static void
tear_down(struct app *app)
{
	if (app->server != NULL)
		rte_comch_server_destroy(app->server);
	if (app->poll != NULL)
		rte_comch_poll_destroy(app->poll);
	if (app->dev_id >= 0)
		rte_comch_dev_close(app->dev_id);
	if (app->mr != NULL)
		rte_comch_mem_unregister(app->mr);
	rte_comch_mem_free(app->mem);
	if (app->out_fd >= 0)
		close(app->out_fd);
}

int
main(int argc, char **argv)
{
	struct app app = {
		.dev = "comch_shm0,role=dpu,rep=pf0",
		.name = "data_path",
		.buf_size = 64 << 10,
		.progress.interval_ms = 1000,
		.dev_id = -1,
		.out_fd = -1,
	};
	const struct example_option options[] = {
		EXAMPLE_TEXT('d', "dev", "DEVARGS", "device string", &app.dev),
		EXAMPLE_TEXT('n', "name", "NAME", "server name", &app.name),
		EXAMPLE_TEXT('o', "output", "FILE", "write received data to a file", &app.output),
		EXAMPLE_NUMBER('s', "size", "BYTES", "buffer size",
				&app.buf_size, 1, TRANSFER_MAX_LEN),
		EXAMPLE_NUMBER('B', "buffers", "N", "posted buffers; 0: up to 64 in 64 MiB",
				&app.nb_bufs, 0, 1 << 16),
		EXAMPLE_NUMBER('p', "progress", "MS", "interval of progress lines, ms; 0: none",
				&app.progress.interval_ms, 0, UINT32_MAX),
		EXAMPLE_FLAG('x', "no-check", "skip the checksum", &app.no_check),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &app.busy),
	};
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start(1);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	ret = set_up_memory(&app) == 0 ? set_up(&app) : -1;
	if (ret == 0)
		run(&app);
	tear_down(&app);
	example_end();
	return ret == 0 && app.over && !app.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
