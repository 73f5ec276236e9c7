/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Many producers of one connection, each with its own lcore and its own poll. Each
 * sends to all consumers of the other side in turn.
 *
 * The main lcore runs the connection's poll, which reports the consumers. It creates
 * and destroys all objects; the workers only send.
 */

#include <rte_launch.h>

#include <rte_comch_dp.h>
#include <rte_comch_mem.h>

#include "../common/example.h"
#include "multi.h"

#define QUEUE 256

struct worker {
	struct app *app;
	struct rte_comch_poll *poll;
	struct rte_comch_producer *producer;
	uint64_t left;
	uint64_t in_flight;
	uint64_t done;
	uint64_t number[MAX_WORKERS]; /* Next sequence number for each consumer. */
	uint32_t turn;                /* Index of the consumer that is next. */
	bool failed;
};

struct app {
	/* Options. */
	const char *dev;
	const char *name;
	uint64_t nb_workers;
	uint64_t nb_msgs;
	uint64_t msg_size;
	uint64_t wait_ms;
	bool busy;

	int16_t dev_id;
	struct rte_comch_poll *poll;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;
	uint32_t ids[MAX_WORKERS]; /* The peer's consumers. */
	uint32_t nb_ids;
	uint8_t *mem;              /* The payload, the same for all messages. */
	struct rte_comch_mr *mr;
	struct worker workers[MAX_WORKERS];
	uint64_t nb_launched;
	uint64_t nb_ended;         /* Incremented by the workers. */
	bool told_end;
	bool complete;
	bool ended;                /* The client is IDLE again. */
	double begin;
};

/* Send a burst to the next consumer. Returns the number of messages sent. */
static uint16_t
worker_send(struct worker *w)
{
	const struct app *app = w->app;
	struct rte_comch_op ops[BURST];
	uint64_t numbers[BURST];
	uint32_t turn = w->turn;
	uint16_t i, n;

	n = (uint16_t)RTE_MIN(w->left, RTE_MIN((uint64_t)BURST, QUEUE - w->in_flight));
	for (i = 0; i < n; i++) {
		numbers[i] = w->number[turn] + i;
		ops[i] = (struct rte_comch_op){
			.addr = app->mem,
			.mr = app->mr,
			.len = (uint32_t)app->msg_size,
			.consumer_id = app->ids[turn],
			.imm = &numbers[i],
			.imm_len = sizeof(numbers[i]),
		};
	}
	n = rte_comch_producer_send_burst(w->producer, ops, n);
	w->number[turn] += n;
	w->left -= n;
	w->in_flight += n;
	/* Continue with the next consumer even if this one is slow. */
	w->turn = (turn + 1) % app->nb_ids;
	return n;
}

static uint16_t
worker_done(struct worker *w)
{
	struct rte_comch_cpl cpls[BURST];
	uint16_t n, i;

	n = rte_comch_producer_done_burst(w->producer, cpls, BURST);
	for (i = 0; i < n; i++) {
		w->in_flight--;
		if (cpls[i].status == 0) {
			w->done++;
			continue;
		}
		if (!w->failed)
			example_error("message not delivered", cpls[i].status);
		w->failed = true;
	}
	return n;
}

/* Main loop of a worker lcore, until everything is sent or sending fails. */
static int
worker_main(void *arg)
{
	struct worker *w = arg;
	struct rte_comch_event events[8];
	uint32_t nothing = 0;

	while (w->left + w->in_flight > 0 && !w->failed && !example_quit) {
		if (worker_send(w) + worker_done(w) > 0) {
			nothing = 0;
			continue;
		}
		/* Try all consumers once before sleeping. */
		if (++nothing < w->app->nb_ids || w->app->busy)
			continue;
		if (rte_comch_poll_run(w->poll, events, RTE_DIM(events)) == 0)
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
	struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf),
		.queue_size = QUEUE,
	};
	int ret;

	w->app = app;
	w->left = app->nb_msgs;
	w->poll = conf.poll = rte_comch_poll_create(NULL);
	if (w->poll == NULL)
		return example_error("create poll", rte_errno);
	w->producer = rte_comch_producer_create(app->conn, &conf);
	if (w->producer == NULL)
		return example_error("create producer", rte_errno);
	ret = rte_comch_producer_start(w->producer);
	if (ret < 0)
		return example_error("start producer", ret);
	return rte_eal_remote_launch(worker_main, w, lcore);
}

static void
workers_begin(struct app *app)
{
	unsigned int lcore = -1;

	if (app->nb_launched > 0 || app->nb_ids == 0)
		return;
	printf("%u consumers, %" PRIu64 " producers, %" PRIu64 " messages each\n",
			app->nb_ids, app->nb_workers, app->nb_msgs);
	app->begin = example_now();
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
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		app->conn = ev->conn;
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		if (app->nb_ids < MAX_WORKERS)
			app->ids[app->nb_ids++] = ev->consumer.id;
		break;
	case RTE_COMCH_EVENT_MSG:
		if (multi_says(ev, MULTI_READY))
			workers_begin(app);
		else if (multi_says(ev, MULTI_COMPLETE))
			app->complete = true;
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		app->conn = NULL;
		break;
	case RTE_COMCH_EVENT_STATE:
		if (ev->obj_type != RTE_COMCH_OBJ_CLIENT ||
				ev->state.next != RTE_COMCH_STATE_IDLE)
			break;
		app->ended = true;
		if (ev->status < 0 && !app->complete)
			example_error(ev->text != NULL ? ev->text : app->name, ev->status);
		break;
	default:
		break;
	}
}

static bool
workers_ended(const struct app *app)
{
	return multi_get(&app->nb_ended) == app->nb_launched;
}

/* When all workers have finished, send the number of delivered messages, once. */
static void
tell_end(struct app *app)
{
	char text[32];
	uint64_t msgs = 0, i;
	double seconds;

	if (app->told_end || app->conn == NULL || app->nb_launched == 0 || !workers_ended(app))
		return;
	for (i = 0; i < app->nb_launched; i++)
		msgs += app->workers[i].done;
	snprintf(text, sizeof(text), MULTI_END "%" PRIu64, msgs);
	app->told_end = multi_say(app->conn, text);
	seconds = example_now() - app->begin;
	printf("%" PRIu64 " messages of %" PRIu64 " bytes in %.3f s, %.2f M/s\n",
			msgs, app->msg_size, seconds, (double)msgs / seconds / 1e6);
}

/* Returns whether the client was stopped. */
static bool
close_step(struct app *app)
{
	enum rte_comch_state state;
	uint64_t i;

	if (!workers_ended(app))
		return false;
	rte_eal_mp_wait_lcore();
	for (i = 0; i < app->nb_workers; i++) {
		if (app->workers[i].producer == NULL)
			continue;
		state = rte_comch_producer_state(app->workers[i].producer);
		if (state == RTE_COMCH_STATE_RUNNING)
			rte_comch_producer_stop(app->workers[i].producer);
		/* Sends in flight complete first: within a second, even if the peer is gone. */
		while (rte_comch_producer_destroy(app->workers[i].producer) == -EBUSY) {
			worker_done(&app->workers[i]);
			rte_comch_poll_run(app->workers[i].poll, NULL, 0);
			rte_comch_poll_run(app->poll, NULL, 0);
		}
		app->workers[i].producer = NULL;
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
	bool connected = false;
	uint16_t n, i;

	/* The client becomes IDLE only after its producers are destroyed. */
	while (!app->ended) {
		n = rte_comch_poll_run(app->poll, events, RTE_DIM(events));
		for (i = 0; i < n; i++)
			on_event(app, &events[i]);
		tell_end(app);
		connected = connected || app->conn != NULL;
		if ((example_quit || app->complete || (connected && app->conn == NULL)) &&
				close_step(app))
			continue;
		if (n == 0 && !app->busy)
			example_sleep(app->poll, -1);
	}
}

static int
set_up(struct app *app)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.name = app->name,
		.connect_timeout_ms = app->wait_ms,
	};
	int ret;

	app->mem = calloc(1, app->msg_size);
	if (app->mem == NULL)
		return example_error("allocate payload", ENOMEM);
	app->mr = rte_comch_mem_register(app->mem, app->msg_size, 0);
	if (app->mr == NULL)
		return example_error("register memory", rte_errno);
	ret = rte_comch_dev_probe(app->dev, &app->dev_id);
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

/* Returns whether every producer delivered all its messages. */
static bool
tear_down(struct app *app)
{
	bool good = app->complete;
	uint64_t i;

	for (i = 0; i < app->nb_workers; i++) {
		good = good && app->workers[i].done == app->nb_msgs;
		if (app->workers[i].poll != NULL)
			rte_comch_poll_destroy(app->workers[i].poll);
	}
	if (app->client != NULL)
		rte_comch_client_destroy(app->client);
	if (app->poll != NULL)
		rte_comch_poll_destroy(app->poll);
	if (app->dev_id >= 0)
		rte_comch_dev_close(app->dev_id);
	if (app->mr != NULL)
		rte_comch_mem_unregister(app->mr);
	free(app->mem);
	return good;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.dev = "comch_shm0,role=host,func=pf0",
		.name = "multi_consumer",
		.nb_workers = 2,
		.nb_msgs = 1000000,
		.msg_size = 256,
		.wait_ms = 10000,
		.dev_id = -1,
	};
	const struct example_option options[] = {
		EXAMPLE_TEXT('d', "dev", "DEVARGS", "device string", &app.dev),
		EXAMPLE_TEXT('n', "name", "NAME", "server name", &app.name),
		EXAMPLE_NUMBER('N', "producers", "N", "number of producers, one lcore each",
				&app.nb_workers, 1, MAX_WORKERS),
		EXAMPLE_NUMBER('c', "count", "N", "messages per producer",
				&app.nb_msgs, 0, UINT64_MAX / MAX_WORKERS),
		EXAMPLE_NUMBER('s', "size", "BYTES", "message length",
				&app.msg_size, 1, 1 << 20),
		EXAMPLE_NUMBER('w', "wait", "MS", "how long to retry without a server, ms",
				&app.wait_ms, 0, UINT32_MAX),
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
