/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Bursts of descriptors between two devices of this process. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "base/clock.h"
#include "data.h"
#include "t_doca_cost.h"

#define NAME    "comch-perf.cost"
#define STEP_MS 5000

/* Both sides. */
struct pair {
	struct perf_run *run;
	int16_t devs[2]; /* DPU, host; -1: not open */
	struct rte_comch_poll *poll;
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_conn *conns[2];
	struct rte_comch_consumer *consumer; /* of the server */
	struct rte_comch_producer *producer; /* of the client */
	struct data_mem mem;
	struct rte_comch_op ops[COST_BURST];
	struct rte_comch_buf bufs[COST_BURST];
	uint32_t announced;
};

static bool
fail(struct pair *pair, const char *what, int error)
{
	perf_run_fail(pair->run, "%s: %s", what, strerror(error));
	return false;
}

static void
step(struct pair *pair)
{
	struct rte_comch_event evs[8];
	uint16_t i, n = rte_comch_poll_run(pair->poll, evs, RTE_DIM(evs));

	for (i = 0; i < n; i++) {
		if (evs[i].type == RTE_COMCH_EVENT_CONNECTED)
			pair->conns[rte_comch_conn_server(evs[i].conn) == NULL] = evs[i].conn;
		if (evs[i].type == RTE_COMCH_EVENT_CONSUMER_NEW)
			pair->announced = evs[i].consumer.id;
	}
}

static bool
is_connected(const struct pair *pair)
{
	return pair->conns[0] != NULL && pair->conns[1] != NULL;
}

static bool
is_announced(const struct pair *pair)
{
	return pair->announced != 0 &&
		rte_comch_consumer_state(pair->consumer) == RTE_COMCH_STATE_RUNNING;
}

static bool
is_gone(const struct pair *pair)
{
	return rte_comch_client_state(pair->client) == RTE_COMCH_STATE_IDLE &&
		rte_comch_server_state(pair->server) == RTE_COMCH_STATE_IDLE;
}

static bool
until(struct pair *pair, bool (*done)(const struct pair *pair), const char *what)
{
	uint64_t end = clock_mono_ns() + STEP_MS * UINT64_C(1000000);

	while (!done(pair) && clock_mono_ns() < end)
		step(pair);
	return done(pair) || fail(pair, what, ETIMEDOUT);
}

static bool
open_connection(struct pair *pair)
{
	struct rte_comch_server_conf server = { .conf_size = sizeof(server), .name = NAME };
	struct rte_comch_client_conf client = { .conf_size = sizeof(client), .name = NAME };
	int rc;

	rc = rte_comch_dev_probe("comch_shm8,role=dpu,rep=pf0", &pair->devs[0]);
	if (rc == 0)
		rc = rte_comch_dev_probe("comch_shm9,role=host,func=pf0", &pair->devs[1]);
	if (rc != 0)
		return fail(pair, "a device", -rc);
	pair->poll = rte_comch_poll_create(NULL);
	server.poll = pair->poll;
	client.poll = pair->poll;
	pair->server = rte_comch_server_create(pair->devs[0], &server);
	pair->client = rte_comch_client_create(pair->devs[1], &client);
	if (pair->poll == NULL || pair->server == NULL || pair->client == NULL)
		return fail(pair, "a connection", rte_errno);
	rc = rte_comch_server_start(pair->server);
	if (rc == 0)
		rc = rte_comch_client_start(pair->client);
	if (rc != -EINPROGRESS)
		return fail(pair, "connecting", -rc);
	return until(pair, is_connected, "connecting");
}

static bool
open_ends(struct pair *pair)
{
	struct rte_comch_consumer_conf in = { .conf_size = sizeof(in), .poll = pair->poll,
		.queue_size = COST_BURST, .mrs = &pair->mem.mr, .nb_mrs = 1 };
	struct rte_comch_producer_conf out = { .conf_size = sizeof(out), .poll = pair->poll,
		.queue_size = COST_BURST };
	int rc;

	if (data_mem_open(&pair->mem, 2 * COST_BURST * COST_SIZE, PERF_MEMORY_SHARED) != 0)
		return fail(pair, "memory", ENOMEM);
	pair->consumer = rte_comch_consumer_create(pair->conns[0], &in);
	pair->producer = rte_comch_producer_create(pair->conns[1], &out);
	if (pair->consumer == NULL || pair->producer == NULL)
		return fail(pair, "a consumer or producer", rte_errno);
	rc = rte_comch_producer_start(pair->producer);
	if (rc == 0)
		rc = rte_comch_consumer_start(pair->consumer);
	if (rc != -EINPROGRESS)
		return fail(pair, "starting a consumer or producer", -rc);
	return until(pair, is_announced, "a consumer");
}

static void
fill_rings(struct pair *pair)
{
	uint8_t *memory = pair->mem.addr;
	uint32_t i;

	for (i = 0; i < COST_BURST; i++) {
		pair->bufs[i] = (struct rte_comch_buf){ .cookie = i, .len = COST_SIZE,
			.mr = pair->mem.mr, .addr = memory + i * COST_SIZE };
		pair->ops[i] = (struct rte_comch_op){ .cookie = i, .len = COST_SIZE,
			.mr = pair->mem.mr, .addr = memory + (COST_BURST + i) * COST_SIZE,
			.consumer_id = pair->announced };
	}
}

/* As a program of descriptors does it: all of a burst at once. */
static uint32_t
burst_once(void *arg)
{
	struct pair *pair = arg;
	struct rte_comch_cpl cpls[COST_BURST];
	uint32_t sent = 0, received = 0, done = 0;

	while (done < COST_BURST || received < COST_BURST) {
		sent += rte_comch_producer_send_burst(pair->producer, &pair->ops[sent],
				(uint16_t)(COST_BURST - sent));
		received += rte_comch_consumer_recv_burst(pair->consumer, cpls, COST_BURST);
		done += rte_comch_producer_done_burst(pair->producer, cpls, COST_BURST);
		if (perf_run_over(pair->run))
			return 0;
	}
	rte_comch_consumer_post_burst(pair->consumer, pair->bufs, COST_BURST);
	return COST_BURST;
}

static bool
ends_are_idle(const struct pair *pair)
{
	struct rte_comch_cpl cpls[COST_BURST];

	rte_comch_consumer_recv_burst(pair->consumer, cpls, COST_BURST);
	rte_comch_producer_done_burst(pair->producer, cpls, COST_BURST);
	return rte_comch_consumer_state(pair->consumer) == RTE_COMCH_STATE_IDLE &&
		rte_comch_producer_state(pair->producer) == RTE_COMCH_STATE_IDLE;
}

static void
close_pair(struct pair *pair)
{
	int i;

	if (pair->consumer != NULL && pair->producer != NULL) {
		rte_comch_producer_stop(pair->producer);
		rte_comch_consumer_stop(pair->consumer);
		until(pair, ends_are_idle, "stopping");
	}
	rte_comch_producer_destroy(pair->producer);
	rte_comch_consumer_destroy(pair->consumer);
	if (pair->client != NULL && pair->server != NULL) {
		rte_comch_client_stop(pair->client);
		rte_comch_server_stop(pair->server);
		until(pair, is_gone, "disconnecting");
	}
	rte_comch_client_destroy(pair->client);
	rte_comch_server_destroy(pair->server);
	if (pair->poll != NULL) {
		rte_comch_poll_run(pair->poll, NULL, 0);
		rte_comch_poll_destroy(pair->poll);
	}
	data_mem_close(&pair->mem);
	for (i = 0; i < 2; i++) {
		if (pair->devs[i] >= 0)
			rte_comch_dev_close(pair->devs[i]);
	}
}

void
cost_native(struct perf_run *run)
{
	struct pair pair = { .run = run, .devs = { -1, -1 } };

	if (open_connection(&pair) && open_ends(&pair)) {
		fill_rings(&pair);
		rte_comch_consumer_post_burst(pair.consumer, pair.bufs, COST_BURST);
		cost_measure(run, burst_once, &pair);
	}
	close_pair(&pair);
}
