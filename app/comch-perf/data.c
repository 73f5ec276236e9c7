/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include <rte_comch_stats.h>

#include "base/clock.h"
#include "data.h"
#include "proc.h"
#include "sync.h"

#define STEP_MS     10000
#define NAP_US      50
/* Refuse to allocate more than this for the buffers of one consumer. */
#define MAX_POSTED  (UINT64_C(4) << 30)
/* What is left of a data room of 16 bits in whole lines. */
#define MBUF_MAX    65344

bool
data_sends(const struct perf_run *run)
{
	return run->leader || run->params.bidir;
}

bool
data_receives(const struct perf_run *run)
{
	return !run->leader || run->params.bidir;
}

static int
refuse(char *error, const char *text)
{
	snprintf(error, PERF_ERROR_SIZE, "%s", text);
	return -EINVAL;
}

static int
check_mbuf(const struct perf_params *p, char *error)
{
	if (p->imm > 0)
		return refuse(error, "--imm: mbufs carry no immediate data");
	if (p->size < 1 || p->size > MBUF_MAX)
		return refuse(error, "--size: one mbuf carries 1 to "
				RTE_STR(MBUF_MAX) " bytes");
	if (p->memory == PERF_MEMORY_HEAP)
		return refuse(error, "--memory heap: mbuf pools lie in shared or eal memory");
	return 0;
}

static int
check_device(const struct perf_params *p, const struct rte_comch_dev_info *info,
		char *error)
{
	if ((info->capa & RTE_COMCH_CAPA_DATA) == 0)
		return refuse(error, "the device has no fast path");
	if (p->imm > info->max_imm_len)
		return refuse(error, "--imm: more than the device carries");
	if (p->size > info->max_buf_len)
		return refuse(error, "--size: more than the device carries");
	if (p->queue > info->max_dp_queue)
		return refuse(error, "--queue: deeper than the device's");
	if (p->producers > info->max_producers || p->consumers > info->max_consumers)
		return refuse(error, "--producers or --consumers: more than the device has");
	return 0;
}

int
data_check(const struct perf_params *p, const struct rte_comch_dev_info *info,
		char *error)
{
	uint64_t stamp_room = p->size > 0 ? p->size : p->imm;

	if (p->api == PERF_API_MBUF && check_mbuf(p, error) != 0)
		return -EINVAL;
	if (p->api == PERF_API_COMM_CHANNEL)
		return refuse(error, "--api comm_channel: has control messages only");
	if (p->api == PERF_API_DOCA && p->size == 0 && p->imm == 0)
		return refuse(error, "--api doca: a message has a byte at least, of --size or "
				"of --imm");
	if (p->connections > 1 && p->producers != p->consumers)
		return refuse(error, "--connections: with more than one, --producers and "
				"--consumers must be equal: each pair has one connection");
	if (p->verify && p->producers > p->consumers && stamp_room < sizeof(uint64_t))
		return refuse(error, "--verify: to tell several producers apart, a message "
				"(without payload: its immediate data) has 8 bytes at least");
	if (p->burst > p->queue)
		return refuse(error, "--burst is more than --queue holds");
	if ((uint64_t)p->queue * data_stride(p) > MAX_POSTED)
		return refuse(error, "--queue times --size is more than 4 GiB");
	return info == NULL ? 0 : check_device(p, info, error);
}

int
data_check_bw(const struct perf_params *p, const struct rte_comch_dev_info *info,
		char *error)
{
	if (p->size == 0)
		return refuse(error, "--size: bandwidth takes a byte at least");
	return data_check(p, info, error);
}

/* Which consumers a producer sends to: together all are served. */
static void
set_targets(struct data_tx *tx, const struct sync_consumer *to)
{
	const struct perf_params *p = tx->params;
	uint32_t first = tx->number % p->consumers;
	uint32_t step = RTE_MIN(p->producers, p->consumers);
	uint32_t i;

	for (i = first; i < p->consumers; i += step) {
		tx->targets[tx->nb_targets].id = to[i].id;
		tx->targets[tx->nb_targets++].number = i;
		if (p->producers > p->consumers)
			break;
	}
}

/* The reverse: who sends to a consumer. */
static void
set_senders(struct data_rx *rx)
{
	const struct perf_params *p = rx->params;

	rx->only_sender = rx->number % p->producers;
	rx->nb_senders = p->producers <= p->consumers ? 1 :
			(p->producers - rx->number - 1) / p->consumers + 1;
}

void
data_check_slow(struct data_rx *rx, const uint8_t *payload, const uint8_t *imm,
		uint64_t stamp)
{
	const struct perf_params *p = rx->params;
	uint64_t room = p->size > 0 ? p->size : p->imm;
	uint32_t sender = rx->only_sender;
	uint64_t seed;
	uint64_t want;

	/* Of several, one who has no room for its name: such messages are but counted. */
	if (rx->nb_senders > 1 && room < sizeof(stamp))
		return;
	if (rx->nb_senders > 1)
		sender = (uint32_t)(stamp >> VERIFY_SEQ_BITS) - rx->first_sender;
	if (sender >= p->producers) {
		rx->torn++;
		return;
	}
	want = verify_stamp(rx->first_sender + sender, rx->next[sender]++);
	if (((stamp ^ want) & verify_stamp_mask(room)) != 0) {
		rx->disorder++;
		/* Count a gap once: what is missing shows in the total. */
		if (room >= sizeof(stamp) && (stamp ^ want) >> VERIFY_SEQ_BITS == 0 &&
				stamp > want)
			rx->next[sender] = (stamp & VERIFY_SEQ_MASK) + 1;
		want = room >= sizeof(stamp) ? stamp : want;
	}
	if (!p->verify)
		return;
	seed = verify_seed(want, rx->number);
	if (p->size > 0 && !verify_check(payload, p->size,
			RTE_MIN(p->size, UINT64_C(8)), seed))
		rx->torn++;
	else if (p->imm > 0 && !verify_check(imm, p->imm,
			p->size > 0 ? 0 : RTE_MIN(p->imm, 8u), ~seed))
		rx->torn++;
}

static bool
all_running(struct perf_run *run)
{
	const struct data *d = run->priv;
	uint32_t i;

	for (i = 0; i < d->nb_rx; i++) {
		if (!d->api->ends->rx_running(&d->rxs[i]))
			return false;
	}
	return true;
}

/* The workers' own polls; the events only repeat what the states say. */
static void
run_polls(struct perf_run *run)
{
	struct data *d = run->priv;
	uint32_t i;

	for (i = 0; i < d->nb_workers; i++) {
		if (d->workers[i].own_poll)
			d->api->ends->worker_poll(&d->workers[i]);
	}
}

static int
open_consumer(struct perf_run *run, struct data_rx *rx, struct data_worker *w)
{
	struct data *d = run->priv;

	rx->api = d->api;
	rx->params = &run->params;
	rx->number = (uint32_t)(rx - d->rxs);
	rx->conn = rx->number % run->params.connections;
	rx->first_sender = run->leader ? VERIFY_DPU_SENDER : 0;
	set_senders(rx);
	return rx->api->rx_open(run, rx) != 0 ? -ECANCELED :
		rx->api->ends->rx_create(run, rx, w);
}

static int
open_producer(struct perf_run *run, struct data_tx *tx, struct data_worker *w,
		const struct sync_consumer *to)
{
	struct data *d = run->priv;

	tx->api = d->api;
	tx->params = &run->params;
	tx->number = (uint32_t)(tx - d->txs);
	tx->sender = tx->number + (run->leader ? 0 : VERIFY_DPU_SENDER);
	tx->left = run->params.iters > 0 ? run->params.iters : UINT64_MAX;
	set_targets(tx, to);
	return tx->api->ends->tx_create(run, tx, w) != 0 ? -ECANCELED :
		tx->api->tx_open(run, tx);
}

/* Create, start and fill all consumers, and tell the other side. */
static int
open_consumers(struct perf_run *run)
{
	struct data *d = run->priv;
	struct sync_consumer told[PERF_MAX_WORKERS];
	uint32_t i;
	int rc;

	for (i = 0; i < d->nb_rx; i++) {
		if (open_consumer(run, &d->rxs[i], &d->workers[i]) != 0)
			return -ECANCELED;
		/* Its memory may have taken long: is anybody still waiting for the rest? */
		link_poll(run);
		perf_run_sync(run);
		if (perf_run_over(run))
			return perf_run_fail(run, "interrupted");
	}
	if (link_wait(run, "starting consumers", perf_run_step_ms(run), all_running,
			run_polls) != 0)
		return -ECANCELED;
	for (i = 0; i < d->nb_rx; i++) {
		if (d->api->rx_start(run, &d->rxs[i]) != 0)
			return -ECANCELED;
		told[i].conn = d->rxs[i].conn;
		told[i].id = d->api->ends->rx_id(&d->rxs[i]);
	}
	rc = sync_send(run->sync, SYNC_CONSUMERS, told, d->nb_rx * sizeof(told[0]));
	return rc == 0 ? 0 : perf_run_fail(run, "the other side is gone");
}

/* Consumers were announced on their connections before we heard of them, but
 * an announcement is seen only when its connection's poll runs.
 */
static int
await_announced(struct perf_run *run, const struct sync_consumer *c)
{
	int timeout_ms = perf_run_step_ms(run);
	uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * 1000000;

	if (c->conn >= run->link.nb_conns)
		return perf_run_fail(run, "a consumer on no connection");
	while (!link_announced(&run->link, run->link.conns[c->conn], c->id)) {
		if (link_poll(run) == 0)
			usleep(NAP_US);
		perf_run_sync(run);
		if (perf_run_over(run))
			return perf_run_fail(run, "interrupted");
		if (clock_mono_ns() > end)
			return perf_run_fail(run, "consumer %u was not announced on "
					"connection %u in %d s", c->id, c->conn,
					timeout_ms / 1000);
	}
	return 0;
}

static int
open_producers(struct perf_run *run)
{
	struct data *d = run->priv;
	struct sync_consumer to[PERF_MAX_WORKERS];
	uint32_t i;

	memset(to, 0, sizeof(to));
	if (perf_run_await(run, SYNC_CONSUMERS, to, sizeof(to), "consumers") != 0)
		return -ECANCELED;
	for (i = 0; i < run->params.consumers; i++) {
		if (await_announced(run, &to[i]) != 0)
			return -ECANCELED;
	}
	for (i = 0; i < d->nb_tx; i++) {
		if (open_producer(run, &d->txs[i], &d->workers[i], to) != 0)
			return -ECANCELED;
	}
	return 0;
}

static int
open_worker(struct perf_run *run, struct data_worker *w)
{
	struct data *d = run->priv;

	w->run = run;
	w->data = d;
	w->number = (uint32_t)(w - d->workers);
	w->tx = w->number < d->nb_tx ? &d->txs[w->number] : NULL;
	w->rx = w->number < d->nb_rx ? &d->rxs[w->number] : NULL;
	w->own_poll = w->number > 0;
	return d->api->ends->worker_open(run, w);
}

static void *
zalloc(size_t nb, size_t size)
{
	return rte_zmalloc("comch-perf", RTE_MAX(nb, 1u) * size, RTE_CACHE_LINE_SIZE);
}

static const struct data_api *const apis[] = {
	[PERF_API_DESC] = &data_api_desc,
	[PERF_API_MBUF] = &data_api_mbuf,
#ifdef COMCH_APP_DOCA
	[PERF_API_DOCA] = &data_api_doca,
#endif
};

int
data_alloc(struct perf_run *run, const struct data_api *api, uint32_t nb_tx,
		uint32_t nb_rx, uint32_t nb_workers)
{
	struct data *d = zalloc(1, sizeof(*d));
	uint32_t i;

	if (d == NULL)
		return perf_run_fail(run, "no memory");
	run->priv = d;
	d->api = api;
	d->nb_tx = nb_tx;
	d->nb_rx = nb_rx;
	d->nb_workers = nb_workers;
	d->txs = zalloc(d->nb_tx, sizeof(d->txs[0]));
	d->rxs = zalloc(d->nb_rx, sizeof(d->rxs[0]));
	d->workers = zalloc(d->nb_workers, sizeof(d->workers[0]));
	if (d->txs == NULL || d->rxs == NULL || d->workers == NULL)
		return perf_run_fail(run, "no memory");
	atomic_init(&d->nb_sending, d->nb_tx);
	for (i = 0; i < PERF_MAX_WORKERS; i++) {
		atomic_init(&d->counts[i], 0);
		atomic_init(&d->expected[i], UINT64_MAX);
	}
	return 0;
}

int
data_setup(struct perf_run *run)
{
	uint32_t nb_tx = data_sends(run) ? run->params.producers : 0;
	uint32_t nb_rx = data_receives(run) ? run->params.consumers : 0;
	uint32_t nb_workers = RTE_MAX(nb_tx, nb_rx);
	struct data *d;
	uint32_t i;

	if (nb_workers > rte_lcore_count())
		return perf_run_fail(run, "%u threads are needed, and this side has %u: "
				"start it with more --producers and --consumers",
				nb_workers, rte_lcore_count());
	if (data_alloc(run, apis[run->params.api], nb_tx, nb_rx, nb_workers) != 0)
		return -ECANCELED;
	d = run->priv;
	for (i = 0; i < d->nb_workers; i++) {
		if (open_worker(run, &d->workers[i]) != 0)
			return -ECANCELED;
	}
	if (d->nb_rx > 0 && open_consumers(run) != 0)
		return -ECANCELED;
	return d->nb_tx > 0 ? open_producers(run) : 0;
}

static void
close_producer(struct perf_run *run, struct data_tx *tx)
{
	uint64_t end = clock_mono_ns() + STEP_MS * UINT64_C(1000000);

	if (tx->producer != NULL) {
		tx->api->ends->tx_stop(tx);
		while (!tx->api->ends->tx_idle(tx) && clock_mono_ns() < end) {
			tx->api->reap(tx);
			link_poll(run);
			run_polls(run);
		}
		tx->api->ends->tx_destroy(tx);
	}
	if (tx->api != NULL)
		tx->api->tx_close(tx);
}

static void
close_consumer(struct perf_run *run, struct data_rx *rx)
{
	uint64_t end = clock_mono_ns() + STEP_MS * UINT64_C(1000000);

	rx->stopping = true;
	if (rx->consumer != NULL) {
		rx->api->ends->rx_stop(rx);
		while (!rx->api->ends->rx_idle(rx) && clock_mono_ns() < end) {
			rx->api->rx_drain(rx);
			link_poll(run);
			run_polls(run);
		}
		rx->api->ends->rx_destroy(rx);
	}
	if (rx->api != NULL)
		rx->api->rx_close(rx);
}

void
data_teardown(struct perf_run *run)
{
	struct data *d = run->priv;
	uint32_t i;

	if (d == NULL)
		return;
	for (i = 0; d->txs != NULL && i < d->nb_tx; i++)
		close_producer(run, &d->txs[i]);
	for (i = 0; d->rxs != NULL && i < d->nb_rx; i++)
		close_consumer(run, &d->rxs[i]);
	for (i = 0; d->workers != NULL && i < d->nb_workers; i++) {
		struct data_worker *w = &d->workers[i];

		if (w->own_poll)
			d->api->ends->worker_close(w);
	}
	rte_free(d->workers);
	rte_free(d->rxs);
	rte_free(d->txs);
	rte_free(d);
	run->priv = NULL;
}

static void
add_tx_result(struct perf_result *r, const struct data_tx *tx)
{
	tx->api->ends->tx_stats(tx, r);
}

static void
add_rx_result(struct perf_run *run, const struct data_rx *rx)
{
	struct perf_result *r = &run->result;

	rx->api->ends->rx_stats(rx, r);
	if (run->test->ways == 0) {
		r->messages += window_msgs(&rx->window);
		r->window_ns = RTE_MAX(r->window_ns, window_ns(&rx->window));
	}
	r->lost += rx->lost;
	r->disorder += rx->disorder;
	r->torn += rx->torn;
	r->failed += rx->failed;
}

static void
start_worker(struct data_worker *w, uint64_t now)
{
	const struct perf_params *p = &w->run->params;
	uint64_t window = clock_us_to_cycles(p->duration_us);

	/* Go on for longer than the receivers measure, who may start later. */
	w->tx_end = p->iters > 0 ? UINT64_MAX :
			now + 2 * window_warm_cycles(p) + window + window / 20;
	w->tx_done = w->tx == NULL;
	w->rx_done = w->rx == NULL;
	w->progress_tsc = now;
	if (w->rx != NULL)
		window_init(&w->rx->window, p, now);
}

static int
run_body(void *arg)
{
	struct data_worker *w = arg;
	int rc = w->body(w);

	/* Pairs with the acquire in workers_running(). */
	atomic_store_explicit(&w->running, false, memory_order_release);
	return rc;
}

static void *
run_thread(void *arg)
{
	run_body(arg);
	return NULL;
}

static int
start_thread(struct data_worker *w)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	rc = pthread_attr_init(&attr);
	if (rc != 0)
		return -rc;
	rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (rc == 0)
		rc = pthread_create(&w->thread, &attr, run_thread, w);
	pthread_attr_destroy(&attr);
	return -rc;
}

static bool
workers_running(struct data *d)
{
	uint32_t i;

	for (i = 1; i < d->nb_workers; i++) {
		if (atomic_load_explicit(&d->workers[i].running, memory_order_acquire))
			return true;
	}
	return false;
}

/* Start all workers but the main thread. */
static void
launch_workers(struct perf_run *run)
{
	struct data *d = run->priv;
	unsigned int lcore = rte_lcore_id();
	uint32_t i;
	int rc;

	for (i = 1; i < d->nb_workers; i++) {
		struct data_worker *w = &d->workers[i];

		atomic_store_explicit(&w->running, true, memory_order_relaxed);
		if (w->has_thread) {
			rc = start_thread(w);
		} else {
			lcore = rte_get_next_lcore(lcore, 1, 1);
			rc = rte_eal_remote_launch(run_body, w, lcore);
		}
		if (rc == 0)
			continue;
		w->has_thread = false;
		atomic_store_explicit(&w->running, false, memory_order_relaxed);
		perf_run_fail(run, "worker %u does not start: %s", i, strerror(-rc));
	}
}

/* Worker 0 on this thread, the others on lcores or threads of their own. */
static void
run_workers(struct perf_run *run, int (*body)(void *worker))
{
	struct data *d = run->priv;
	uint32_t i;

	for (i = 0; i < d->nb_workers; i++)
		d->workers[i].body = body;
	launch_workers(run);
	body(&d->workers[0]);
	while (workers_running(d)) {
		link_poll(run);
		worker_sync(run);
		usleep(NAP_US);
	}
	rte_eal_mp_wait_lcore();
	for (i = 1; i < d->nb_workers; i++) {
		if (d->workers[i].has_thread)
			pthread_join(d->workers[i].thread, NULL);
	}
}

int
data_launch(struct perf_run *run, int (*body)(void *worker))
{
	struct data *d = run->priv;
	uint64_t now = clock_tsc();
	uint32_t i;

	for (i = 0; i < d->nb_workers; i++)
		start_worker(&d->workers[i], now);
	run_workers(run, body);
	worker_sync(run);
	for (i = 0; i < d->nb_workers; i++) {
		if (d->workers[i].error[0] != '\0')
			perf_run_fail(run, "worker %u: %s", i, d->workers[i].error);
	}
	for (i = 0; i < d->nb_tx; i++)
		add_tx_result(&run->result, &d->txs[i]);
	for (i = 0; i < d->nb_rx; i++)
		add_rx_result(run, &d->rxs[i]);
	if (proc_quit())
		return perf_run_fail(run, "interrupted");
	return run->error[0] == '\0' ? 0 : -ECANCELED;
}
