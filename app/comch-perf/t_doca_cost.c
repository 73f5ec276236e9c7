/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What DOCA's calls cost by themselves: both sides are in this one thread, so
 * that nothing has to be waited for. An idle look at a progress engine with one
 * context, two and three; and a message, from submit to the return of the
 * callback of its completion, with the receiving of it, beside the same by
 * descriptors of librte_comch.
 */

#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>
#include <rte_errno.h>

#include "base/clock.h"
#include "data.h"
#include "link_doca.h"
#include "t_doca_cost.h"

#define NAME     "comch-perf.cost"
#define STEP_MS  5000
/* Calls that are timed together. */
#define CALLS    64

/* Both sides. */
struct pair {
	struct perf_run *run;
	struct dev_doca devs[2];        /* DPU, host */
	struct doca_pe *pes[2];
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_connection *conns[2];
	struct doca_comch_consumer *consumer;  /* of the server */
	struct doca_comch_producer *producer;  /* of the client, or an idle one */
	struct doca_mmap *mmap;
	struct doca_buf_inventory *bufs;
	uint8_t *memory;
	struct doca_buf *buf[2 * COST_BURST];
	struct doca_task *sends[COST_BURST];
	uint32_t announced;             /* the consumer's number */
	uint32_t nb_sent;
	uint32_t nb_received;
	bool closing;
};

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		struct doca_comch_connection *conn)
{
	(void)event;
	(void)data;
	(void)len;
	(void)conn;
}

static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	union doca_data data = { .ptr = NULL };
	struct pair *pair;

	(void)event;
	(void)is_good;
	doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &data);
	pair = data.ptr;
	pair->conns[0] = conn;
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	(void)event;
	(void)conn;
	(void)is_good;
}

/* At the client. */
static void
on_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(conn);
	union doca_data data = { .ptr = NULL };
	struct pair *pair;

	(void)event;
	doca_ctx_get_user_data(doca_comch_client_as_ctx(client), &data);
	pair = data.ptr;
	pair->announced = id;
}

static void
on_task(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void
on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct pair *pair = ctx_data.ptr;

	(void)task_data;
	pair->nb_sent++;
	if (pair->closing)
		doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void
on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct doca_task *t = doca_comch_consumer_task_post_recv_as_task(task);
	struct pair *pair = ctx_data.ptr;

	(void)task_data;
	pair->nb_received++;
	doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task));
	if (pair->closing || doca_task_submit(t) != DOCA_SUCCESS)
		doca_task_free(t);
}

static void
on_not_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static bool
ok(struct pair *pair, doca_error_t ret, const char *what)
{
	return dev_doca_ok(pair->run, ret, what);
}

static bool
begin(struct pair *pair, struct doca_pe *pe, struct doca_ctx *ctx, const char *what)
{
	const union doca_data data = { .ptr = pair };

	return ok(pair, doca_pe_connect_ctx(pe, ctx), what) &&
		ok(pair, doca_ctx_set_user_data(ctx, data), what) &&
		ok(pair, doca_ctx_start(ctx), what);
}

static void
progress(struct pair *pair)
{
	uint32_t i;

	for (i = 0; i < RTE_DIM(pair->pes); i++)
		doca_pe_progress(pair->pes[i]);
}

static bool
until_state(struct pair *pair, struct doca_ctx *ctx, enum doca_ctx_states state)
{
	uint64_t end = clock_mono_ns() + STEP_MS * UINT64_C(1000000);

	while (link_doca_state(ctx) != state && clock_mono_ns() < end)
		progress(pair);
	if (link_doca_state(ctx) == state)
		return true;
	perf_run_fail(pair->run, "a context does not change its state");
	return false;
}

static bool
open_server(struct pair *pair)
{
	return dev_doca_open(pair->run, &pair->devs[0], false) == 0 &&
		ok(pair, doca_pe_create(&pair->pes[0]), "a progress engine") &&
		ok(pair, doca_comch_server_create(pair->devs[0].dev, pair->devs[0].rep, NAME,
			&pair->server), "a server") &&
		ok(pair, doca_comch_server_task_send_set_conf(pair->server, on_task, on_task, 1),
			"a server's tasks") &&
		ok(pair, doca_comch_server_event_msg_recv_register(pair->server, on_msg),
			"a server's messages") &&
		ok(pair, doca_comch_server_event_connection_status_changed_register(pair->server,
			on_connected, on_disconnected), "a server's connections") &&
		begin(pair, pair->pes[0], doca_comch_server_as_ctx(pair->server), "a server");
}

static bool
open_client(struct pair *pair)
{
	struct doca_ctx *ctx;

	if (dev_doca_open(pair->run, &pair->devs[1], true) != 0 ||
			!ok(pair, doca_pe_create(&pair->pes[1]), "a progress engine") ||
			!ok(pair, doca_comch_client_create(pair->devs[1].dev, NAME,
				&pair->client), "a client"))
		return false;
	ctx = doca_comch_client_as_ctx(pair->client);
	return ok(pair, doca_comch_client_task_send_set_conf(pair->client, on_task, on_task, 1),
			"a client's tasks") &&
		ok(pair, doca_comch_client_event_msg_recv_register(pair->client, on_msg),
			"a client's messages") &&
		ok(pair, doca_comch_client_event_consumer_register(pair->client, on_consumer,
			on_consumer), "a client's consumers") &&
		begin(pair, pair->pes[1], ctx, "a client") &&
		until_state(pair, ctx, DOCA_CTX_STATE_RUNNING) &&
		ok(pair, doca_comch_client_get_connection(pair->client, &pair->conns[1]),
			"a client's connection");
}

static bool
open_memory(struct pair *pair)
{
	size_t len = 2 * COST_BURST * COST_SIZE;
	uint32_t i;

	pair->memory = rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	if (pair->memory == NULL) {
		perf_run_fail(pair->run, "no memory");
		return false;
	}
	memset(pair->memory, 0, len);
	if (!ok(pair, doca_mmap_create(&pair->mmap), "an mmap") ||
			!ok(pair, doca_mmap_add_dev(pair->mmap, pair->devs[0].dev),
				"an mmap's device") ||
			!ok(pair, doca_mmap_set_permissions(pair->mmap,
				DOCA_ACCESS_FLAG_PCI_READ_WRITE), "an mmap's permissions") ||
			!ok(pair, doca_mmap_set_memrange(pair->mmap, pair->memory, len),
				"an mmap's memory") ||
			!ok(pair, doca_mmap_start(pair->mmap), "starting an mmap") ||
			!ok(pair, doca_buf_inventory_create(2 * COST_BURST, &pair->bufs),
				"bufs") ||
			!ok(pair, doca_buf_inventory_start(pair->bufs), "bufs"))
		return false;
	for (i = 0; i < RTE_DIM(pair->buf); i++) {
		if (!ok(pair, doca_buf_inventory_buf_get_by_addr(pair->bufs, pair->mmap,
				pair->memory + i * COST_SIZE, COST_SIZE, &pair->buf[i]),
				"a buf"))
			return false;
	}
	return true;
}

static bool
open_consumer(struct pair *pair)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_ctx *ctx;
	uint32_t i;

	if (!ok(pair, doca_comch_consumer_create(pair->conns[0], pair->mmap, &pair->consumer),
			"a consumer"))
		return false;
	ctx = doca_comch_consumer_as_ctx(pair->consumer);
	if (!ok(pair, doca_comch_consumer_task_post_recv_set_conf(pair->consumer, on_received,
				on_not_received, COST_BURST), "a consumer's tasks") ||
			!begin(pair, pair->pes[0], ctx, "a consumer") ||
			!until_state(pair, ctx, DOCA_CTX_STATE_RUNNING))
		return false;
	for (i = 0; i < COST_BURST; i++) {
		if (!ok(pair, doca_comch_consumer_task_post_recv_alloc_init(pair->consumer,
				pair->buf[i], &task), "a task") ||
				!ok(pair, doca_task_submit(
				doca_comch_consumer_task_post_recv_as_task(task)), "a buffer"))
			return false;
	}
	return true;
}

/* The server has one that idles, the client one that sends. */
static bool
open_producer(struct pair *pair, int side)
{
	struct doca_comch_producer_task_send *task;
	struct doca_ctx *ctx;
	uint32_t i;

	if (!ok(pair, doca_comch_producer_create(pair->conns[side], &pair->producer),
			"a producer"))
		return false;
	ctx = doca_comch_producer_as_ctx(pair->producer);
	if (!ok(pair, doca_comch_producer_task_send_set_conf(pair->producer, on_sent, on_sent,
				COST_BURST), "a producer's tasks") ||
			!begin(pair, pair->pes[side], ctx, "a producer"))
		return false;
	if (side == 0)
		return true;
	while (pair->announced == 0 && !perf_run_over(pair->run))
		progress(pair);
	for (i = 0; i < COST_BURST; i++) {
		struct doca_buf *buf = pair->buf[COST_BURST + i];

		if (!ok(pair, doca_buf_set_data_len(buf, COST_SIZE), "a buf's data") ||
				!ok(pair, doca_comch_producer_task_send_alloc_init(pair->producer,
				buf, NULL, 0, pair->announced, &task), "a task"))
			return false;
		pair->sends[i] = doca_comch_producer_task_send_as_task(task);
	}
	return true;
}

static void
stop(struct pair *pair, struct doca_ctx *ctx)
{
	if (link_doca_state(ctx) == DOCA_CTX_STATE_IDLE)
		return;
	doca_ctx_stop(ctx);
	until_state(pair, ctx, DOCA_CTX_STATE_IDLE);
}

static void
close_pair(struct pair *pair)
{
	uint32_t i;

	pair->closing = true;
	for (i = 0; i < COST_BURST; i++)
		doca_task_free(pair->sends[i]);
	stop(pair, doca_comch_producer_as_ctx(pair->producer));
	doca_comch_producer_destroy(pair->producer);
	stop(pair, doca_comch_consumer_as_ctx(pair->consumer));
	doca_comch_consumer_destroy(pair->consumer);
	stop(pair, doca_comch_client_as_ctx(pair->client));
	doca_comch_client_destroy(pair->client);
	stop(pair, doca_comch_server_as_ctx(pair->server));
	doca_comch_server_destroy(pair->server);
	for (i = 0; i < RTE_DIM(pair->buf) && pair->buf[i] != NULL; i++)
		doca_buf_dec_refcount(pair->buf[i], NULL);
	doca_buf_inventory_destroy(pair->bufs);
	doca_mmap_destroy(pair->mmap);
	rte_comch_mem_free(pair->memory);
	for (i = 0; i < RTE_DIM(pair->pes); i++) {
		doca_pe_destroy(pair->pes[i]);
		dev_doca_close(&pair->devs[i]);
	}
}

static uint32_t
idle_once(void *arg)
{
	struct pair *pair = arg;
	uint32_t i;

	for (i = 0; i < CALLS; i++)
		doca_pe_progress(pair->pes[0]);
	return CALLS;
}

static uint32_t
burst_once(void *arg)
{
	struct pair *pair = arg;
	uint32_t i;

	pair->nb_sent = 0;
	pair->nb_received = 0;
	for (i = 0; i < COST_BURST; i++) {
		if (doca_task_submit(pair->sends[i]) != DOCA_SUCCESS) {
			perf_run_fail(pair->run, "a task is not taken");
			return 0;
		}
	}
	while (pair->nb_received < COST_BURST || pair->nb_sent < COST_BURST) {
		progress(pair);
		if (perf_run_over(pair->run))
			return 0;
	}
	return COST_BURST;
}

void
cost_measure(struct perf_run *run, uint32_t (*once)(void *arg), void *arg)
{
	uint64_t begin_tsc = clock_tsc();
	uint64_t open = begin_tsc + window_warm_cycles(&run->params);
	uint64_t end = open + clock_us_to_cycles(run->params.duration_us);
	uint64_t last = begin_tsc;
	uint64_t now;
	uint32_t n;

	hist_reset(run->hist);
	while (last < end && !perf_run_over(run)) {
		last = clock_tsc();
		n = once(arg);
		now = clock_tsc();
		if (n == 0 || now < open)
			continue;
		hist_add(run->hist, (now - last) / n);
		run->result.messages += n;
	}
	run->result.window_ns = run->params.duration_us * 1000;
}

static void
run_doca(struct perf_run *run)
{
	bool bursts = run->params.burst > 1;
	struct pair *pair = calloc(1, sizeof(*pair));

	if (pair == NULL) {
		perf_run_fail(run, "no memory");
		return;
	}
	pair->run = run;
	if (open_server(pair) && open_client(pair) && open_memory(pair) &&
			(run->params.consumers == 0 || open_consumer(pair)) &&
			(run->params.producers == 0 || open_producer(pair, bursts))) {
		/* All that has happened has been told. */
		while (doca_pe_progress(pair->pes[0]) != 0)
			;
		cost_measure(run, bursts ? burst_once : idle_once, pair);
	}
	close_pair(pair);
	free(pair);
}

static int
doca_cost_launch(struct perf_run *run)
{
	if (run->params.api == PERF_API_DOCA)
		run_doca(run);
	else
		cost_native(run);
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}

static const char *
doca_cost_label(const struct perf_params *p)
{
	if (p->burst > 1)
		return "task";
	return p->producers > 0 ? "idle server+consumer+producer" :
		p->consumers > 0 ? "idle server+consumer" : "idle server";
}

static enum floor_kind
doca_cost_floor(const struct perf_params *params)
{
	(void)params;
	return FLOOR_LINE;
}

#define COST_FIXED (PERF_OPT_PRODUCERS | PERF_OPT_CONSUMERS | PERF_OPT_BURST | PERF_OPT_API)

static const struct perf_variant doca_cost_variants[] = {
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = 1 } },
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = 1, .consumers = 1 } },
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = 1, .consumers = 1, .producers = 1 } },
	{ 0, COST_FIXED, { .api = PERF_API_DOCA, .burst = COST_BURST, .consumers = 1,
			.producers = 1 } },
	{ 0, COST_FIXED, { .api = PERF_API_DESC, .burst = COST_BURST, .consumers = 1,
			.producers = 1 } },
};

static struct perf_test doca_cost = {
	.name = "doca-cost",
	.what = "one thread: an idle look at a progress engine; a message of 64 B, sent and "
		"received in bursts of " RTE_STR(COST_BURST),
	.order = 80,
	.alone = true,
	.library = true,
	.ways = 1,
	.options = PERF_OPT_DURATION | PERF_OPT_HISTOGRAM,
	.base = { .duration_us = 300000, .connections = 1 },
	.variants = doca_cost_variants,
	.nb_variants = RTE_DIM(doca_cost_variants),
	.label = doca_cost_label,
	.floor = doca_cost_floor,
	.launch = doca_cost_launch,
};

PERF_TEST_REGISTER(doca_cost)
