/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Many consumers of one connection, each with its own lcore and its own poll.
 *
 * The main lcore runs the connection's poll all the time, because this announces our
 * consumers to the other side. It creates and destroys all objects; the workers only
 * receive.
 */

#include <rte_launch.h>

#include <rte_comch_dp.h>
#include <rte_comch_mem.h>

#include "../common/example.h"
#include "multi.h"

#define MAX_PRODUCER_ID 256

struct worker {
	struct app *app;
	unsigned int lcore;
	struct rte_comch_poll *poll;
	struct rte_comch_consumer *consumer;
	uint8_t *mem;
	struct rte_comch_mr *mr;
	uint64_t msgs;         /* Also read by the main lcore. */
	uint64_t disorder;
	uint64_t next[MAX_PRODUCER_ID + 1]; /* Number expected from each producer. */
};

struct app {
	/* Options. */
	const char *dev;
	const char *name;
	uint64_t nb_workers;
	uint64_t buf_size;
	uint64_t depth;
	bool busy;

	int16_t dev_id;
	struct rte_comch_poll *poll;
	struct rte_comch_server *server;
	struct rte_comch_conn *conn;
	struct worker workers[MAX_WORKERS];
	uint64_t nb_launched;
	uint64_t nb_running;   /* Incremented by the workers. */
	uint64_t nb_ended;     /* Likewise. */
	bool told_ready;
	bool told_complete;
	bool end_known;
	uint64_t end;          /* Total number of messages sent by the producers. */
	double begin;
};

static struct rte_comch_buf
buffer(const struct worker *w, uint64_t i)
{
	return (struct rte_comch_buf){
		.addr = w->mem + i * w->app->buf_size,
		.mr = w->mr,
		.cookie = i,
		.len = (uint32_t)w->app->buf_size,
	};
}

/* RUNNING: post all buffers, then notify the main lcore. */
static void
worker_running(struct worker *w)
{
	struct rte_comch_buf buf;
	uint64_t i;

	for (i = 0; i < w->app->depth; i++) {
		buf = buffer(w, i);
		rte_comch_consumer_post_burst(w->consumer, &buf, 1);
	}
	multi_add(&w->app->nb_running, 1);
	rte_comch_poll_notify(w->app->poll);
}

/* Messages of one producer to one consumer arrive in the order of sending. */
static void
worker_check(struct worker *w, const struct rte_comch_cpl *cpl)
{
	uint64_t number;

	if (cpl->imm_len != sizeof(number) || cpl->peer_id > MAX_PRODUCER_ID) {
		w->disorder++;
		return;
	}
	memcpy(&number, cpl->imm, sizeof(number));
	if (number != w->next[cpl->peer_id])
		w->disorder++;
	w->next[cpl->peer_id] = number + 1;
}

static uint16_t
worker_receive(struct worker *w)
{
	struct rte_comch_cpl cpls[BURST];
	struct rte_comch_buf again[BURST];
	uint16_t n, i, nb_again = 0;

	n = rte_comch_consumer_recv_burst(w->consumer, cpls, BURST);
	for (i = 0; i < n; i++) {
		/* Returned empty: the consumer is stopping. */
		if (cpls[i].status < 0)
			continue;
		worker_check(w, &cpls[i]);
		again[nb_again++] = buffer(w, cpls[i].cookie);
	}
	if (nb_again > 0) {
		multi_add(&w->msgs, nb_again);
		rte_comch_consumer_post_burst(w->consumer, again, nb_again);
	}
	return n;
}

static bool
state_is(const struct worker *w, enum rte_comch_state state)
{
	return rte_comch_consumer_state(w->consumer) == state;
}

/* Main loop of a worker lcore, until its consumer is IDLE again. */
static int
worker_main(void *arg)
{
	struct worker *w = arg;
	struct rte_comch_event events[8];
	bool idle = false;
	uint16_t n, i;

	while (!idle) {
		n = rte_comch_poll_run(w->poll, events, RTE_DIM(events));
		for (i = 0; i < n; i++) {
			if (events[i].type != RTE_COMCH_EVENT_STATE)
				continue;
			if (events[i].state.next == RTE_COMCH_STATE_RUNNING)
				worker_running(w);
			idle |= events[i].state.next == RTE_COMCH_STATE_IDLE;
		}
		n += worker_receive(w);
		if (example_quit && (state_is(w, RTE_COMCH_STATE_STARTING) ||
				state_is(w, RTE_COMCH_STATE_RUNNING)))
			rte_comch_consumer_stop(w->consumer);
		else if (n == 0 && !idle && !w->app->busy)
			example_sleep(w->poll, -1);
	}
	multi_add(&w->app->nb_ended, 1);
	rte_comch_poll_notify(w->app->poll);
	return 0;
}

/* Called on the main lcore, which outlives the connection. */
static int
worker_begin(struct app *app, struct worker *w, unsigned int lcore)
{
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = (uint32_t)app->depth,
		.mrs = &w->mr,
		.nb_mrs = 1,
	};
	size_t len = app->buf_size * app->depth;

	w->app = app;
	w->lcore = lcore;
	w->mem = rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	w->mr = w->mem != NULL ? rte_comch_mem_register(w->mem, len, 0) : NULL;
	w->poll = rte_comch_poll_create(NULL);
	if (w->mr == NULL || w->poll == NULL)
		return example_error("create memory or poll", rte_errno);
	conf.poll = w->poll;
	w->consumer = rte_comch_consumer_create(app->conn, &conf);
	if (w->consumer == NULL)
		return example_error("create consumer", rte_errno);
	if (rte_comch_consumer_start(w->consumer) != -EINPROGRESS)
		return example_error("start consumer", ECONNRESET);
	return rte_eal_remote_launch(worker_main, w, lcore);
}

static void
worker_end(struct worker *w)
{
	if (w->poll != NULL)
		rte_comch_poll_destroy(w->poll);
	if (w->mr != NULL)
		rte_comch_mem_unregister(w->mr);
	rte_comch_mem_free(w->mem);
}

static void
on_connected(struct app *app, const struct rte_comch_event *ev)
{
	unsigned int lcore = -1;

	app->conn = ev->conn;
	while (app->nb_launched < app->nb_workers) {
		lcore = rte_get_next_lcore(lcore, true, false);
		if (worker_begin(app, &app->workers[app->nb_launched], lcore) < 0) {
			example_stop();
			return;
		}
		app->nb_launched++;
	}
}

static void
on_event(struct app *app, const struct rte_comch_event *ev)
{
	if (ev->type == RTE_COMCH_EVENT_CONNECTED) {
		on_connected(app, ev);
	} else if (ev->type == RTE_COMCH_EVENT_DISCONNECTED) {
		printf("disconnected: %s\n", ev->text != NULL ? ev->text : "no reason given");
		app->conn = NULL;
	} else if (ev->type == RTE_COMCH_EVENT_MSG && multi_says(ev, MULTI_END)) {
		app->end = multi_number(ev, MULTI_END);
		app->end_known = true;
	}
}

static uint64_t
total(const struct app *app)
{
	uint64_t msgs = 0, i;

	for (i = 0; i < app->nb_launched; i++)
		msgs += multi_get(&app->workers[i].msgs);
	return msgs;
}

/* Send READY and COMPLETE, once each, when they are due. */
static void
talk(struct app *app)
{
	if (app->conn == NULL)
		return;
	if (!app->told_ready && multi_get(&app->nb_running) == app->nb_workers) {
		/* The peer gets this after the announcements of all our consumers. */
		app->told_ready = multi_say(app->conn, MULTI_READY);
		app->begin = example_now();
	}
	/* The end message may overtake the last data. */
	if (app->end_known && !app->told_complete && total(app) >= app->end) {
		app->told_complete = multi_say(app->conn, MULTI_COMPLETE);
		printf("%" PRIu64 " messages in %.3f s\n", app->end, example_now() - app->begin);
	}
}

/* Returns whether the server was stopped. */
static bool
close_step(struct app *app)
{
	uint64_t i;

	if (multi_get(&app->nb_ended) < app->nb_launched)
		return false;
	rte_eal_mp_wait_lcore();
	for (i = 0; i < app->nb_workers; i++) {
		if (app->workers[i].consumer != NULL)
			rte_comch_consumer_destroy(app->workers[i].consumer);
		app->workers[i].consumer = NULL;
	}
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
		talk(app);
		/* Exit after one client. */
		if ((example_quit || (app->nb_launched > 0 && app->conn == NULL)) &&
				close_step(app))
			continue;
		/* Workers do not report each message: check every 10 ms. */
		if (n == 0 && !app->busy)
			example_sleep(app->poll, app->end_known && !app->told_complete ? 10 : -1);
	}
}

static int
set_up(struct app *app)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf),
		.name = app->name,
		.max_clients = 1,
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
	printf("server '%s' waits for producers, %" PRIu64 " consumers\n",
			app->name, app->nb_workers);
	return 0;
}

static bool
tear_down(struct app *app)
{
	bool good = app->told_complete && !example_quit;
	uint64_t i;

	for (i = 0; i < app->nb_launched; i++) {
		printf("consumer %" PRIu64 ": %" PRIu64 " messages, %" PRIu64 " out of order\n",
				i, app->workers[i].msgs, app->workers[i].disorder);
		good = good && app->workers[i].disorder == 0;
	}
	for (i = 0; i < app->nb_workers; i++)
		worker_end(&app->workers[i]);
	if (app->server != NULL)
		rte_comch_server_destroy(app->server);
	if (app->poll != NULL)
		rte_comch_poll_destroy(app->poll);
	if (app->dev_id >= 0)
		rte_comch_dev_close(app->dev_id);
	return good;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.dev = "comch_shm0,role=dpu,rep=pf0",
		.name = "multi_consumer",
		.nb_workers = 2,
		.buf_size = 2048,
		.depth = 1024,
		.dev_id = -1,
	};
	const struct example_option options[] = {
		EXAMPLE_TEXT('d', "dev", "DEVARGS", "device string", &app.dev),
		EXAMPLE_TEXT('n', "name", "NAME", "server name", &app.name),
		EXAMPLE_NUMBER('N', "consumers", "N", "number of consumers, one lcore each",
				&app.nb_workers, 1, MAX_WORKERS),
		EXAMPLE_NUMBER('s', "size", "BYTES", "buffer size",
				&app.buf_size, 1, 1 << 20),
		EXAMPLE_NUMBER('B', "buffers", "N", "buffers per consumer",
				&app.depth, 1, 1 << 14),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &app.busy),
	};
	bool good;
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start((unsigned int)app.nb_workers + 1);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	ret = set_up(&app);
	if (ret == 0)
		run(&app);
	good = tear_down(&app) && ret == 0;
	example_end();
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
