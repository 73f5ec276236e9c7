/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Set up and tear down producers, consumers and workers; check received messages. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "base/clock.h"
#include "engine/data.h"
#include "engine/sync.h"

#define STOP_MS 20000

/* Assign consumers to a producer, so that each consumer has a producer. */
static void
set_targets(struct data_tx *tx, const struct sync_consumer *to)
{
	const struct perf_params *p = tx->params;
	uint32_t step = RTE_MIN(p->producers, p->consumers);
	uint32_t i;

	for (i = tx->number % p->consumers; i < p->consumers; i += step) {
		tx->targets[tx->nb_targets].id = to[i].id;
		tx->targets[tx->nb_targets++].number = i;
		if (p->producers > p->consumers)
			break;
	}
}

/* The inverse of set_targets(): the producers that send to a consumer. */
static void
set_senders(struct data_rx *rx)
{
	const struct perf_params *p = rx->params;
	uint32_t producers = RTE_MAX(p->producers, 1u);

	rx->only_sender = rx->number % producers;
	rx->nb_senders = producers <= p->consumers ? 1 :
			(producers - rx->number - 1) / p->consumers + 1;
}

void
data_check_slow(struct data_rx *rx, const uint8_t *payload, const uint8_t *imm, uint64_t stamp)
{
	const struct perf_params *p = rx->params;
	uint64_t len = p->size > 0 ? p->size : p->imm;
	uint32_t sender = rx->only_sender;
	uint64_t seed;
	uint64_t want;

	/* A message too short for a sender number is only counted. */
	if (rx->nb_senders > 1 && len < sizeof(stamp))
		return;
	if (rx->nb_senders > 1)
		sender = (uint32_t)(stamp >> VERIFY_SEQ_BITS) - rx->first_sender;
	if (sender >= p->producers) {
		rx->faults.torn++;
		return;
	}
	want = verify_stamp(rx->first_sender + sender, rx->next[sender]++);
	if (((stamp ^ want) & verify_stamp_mask(len)) != 0) {
		rx->faults.disorder++;
		/* Count a gap once: the missing messages show in the total. */
		if (len >= sizeof(stamp) && (stamp ^ want) >> VERIFY_SEQ_BITS == 0 &&
				stamp > want)
			rx->next[sender] = (stamp & VERIFY_SEQ_MASK) + 1;
		want = len >= sizeof(stamp) ? stamp : want;
	}
	if (!p->verify)
		return;
	seed = verify_seed(want, rx->number);
	if (p->size > 0 && !verify_check(payload, p->size, RTE_MIN(p->size, UINT64_C(8)), seed))
		rx->faults.torn++;
	else if (p->imm > 0 && !verify_check(imm, p->imm,
			p->size > 0 ? 0 : RTE_MIN(p->imm, 8u), ~seed))
		rx->faults.torn++;
}

/* Run all polls. Events of the workers' own polls are ignored: states suffice. */
static void
run_polls(struct perf_run *run)
{
	struct data *d = run->priv;
	uint32_t i;

	perf_run_poll(run);
	for (i = 1; i < d->nb_workers; i++) {
		struct data_worker *w = &d->workers[i];

		if (w->own_poll && w->poll != NULL)
			w->link->ops->poll_run(w->poll);
	}
}

static bool
all_running(struct link *link, void *unused)
{
	struct perf_run *run = link->owner;
	const struct data *d = run->priv;
	uint32_t i;

	(void)unused;
	run_polls(run);
	for (i = 0; i < d->nb_rx; i++) {
		if (d->ops->rx_running != NULL && !d->ops->rx_running(d->rxs[i]))
			return false;
	}
	return true;
}

static int
open_consumer(struct perf_run *run, struct data_worker *w)
{
	struct data_rx *rx = w->rx;

	rx->conn_number = rx->number % run->params.connections;
	rx->conn = w->link->conns[rx->conn_number];
	rx->first_sender = w->host ? VERIFY_DPU_SENDER : 0;
	set_senders(rx);
	return rx->ops->rx_open(run, rx);
}

static int
start_consumer(struct perf_run *run, struct data_rx *rx)
{
	if (rx->ops->rx_start != NULL)
		return rx->ops->rx_start(run, rx);
	if (rx->ops->repost == NULL)
		return 0;
	rx->unposted = run->params.queue;
	rx->ops->repost(rx);
	return rx->unposted == 0 ? 0 : perf_run_fail(run, "consumer %u accepted %u of %u buffers",
			rx->number, run->params.queue - rx->unposted, run->params.queue);
}

/* Create and start all consumers, and post their buffers. */
static int
open_consumers(struct perf_run *run)
{
	struct data *d = run->priv;
	uint32_t i;

	for (i = 0; i < d->nb_workers; i++) {
		if (d->workers[i].rx != NULL && open_consumer(run, &d->workers[i]) != 0)
			return -ECANCELED;
		/* Allocation may take long: check that the peer still waits. */
		perf_run_poll(run);
		perf_run_sync(run);
		if (perf_run_over(run))
			return perf_run_fail(run, "interrupted");
	}
	if (d->nb_rx > 0 && link_wait(d->rxs[0]->link, "start consumers",
			perf_run_step_ms(run), all_running) != 0)
		return -ECANCELED;
	for (i = 0; i < d->nb_rx; i++) {
		if (start_consumer(run, d->rxs[i]) != 0)
			return -ECANCELED;
	}
	return 0;
}

/* The peer announces a consumer on its connection before it lists it in the
 * session, but the announcement arrives only when the poll of that connection runs.
 */
static bool
is_announced(struct link *link, void *arg)
{
	const struct sync_consumer *c = arg;

	return link_announced(link, link->conns[c->conn], c->id);
}

static int
await_announced(struct perf_run *run, struct link *link, struct sync_consumer *c)
{
	int timeout_ms = perf_run_step_ms(run);
	int rc;

	if (c->conn >= link->nb_conns)
		return perf_run_fail(run, "consumer %u: connection %u is out of range (0 to %u)",
				c->id, c->conn, link->nb_conns - 1);
	rc = link_until(link, timeout_ms, is_announced, c);
	if (rc == -ECANCELED)
		return perf_run_fail(run, "interrupted");
	return rc == 0 ? 0 : perf_run_fail(run, "consumer %u was not announced on connection %u "
			"within %d s", c->id, c->conn, timeout_ms / 1000);
}

static int
open_producer(struct perf_run *run, struct data_worker *w, struct sync_consumer *to)
{
	struct data_tx *tx = w->tx;
	uint32_t i;

	tx->conn = w->link->conns[tx->number % run->params.connections];
	tx->sender = tx->number + (w->host ? 0 : VERIFY_DPU_SENDER);
	tx->left = run->params.iters > 0 ? run->params.iters : UINT64_MAX;
	set_targets(tx, to);
	for (i = 0; w->link->nb_conns > 0 && tx->ops->rx_running != NULL &&
			i < run->params.consumers; i++) {
		if (await_announced(run, w->link, &to[i]) != 0)
			return -ECANCELED;
	}
	return tx->ops->tx_open(run, tx);
}

/* List the consumers of one side, as far as they are in this process. */
static void
list_consumers(const struct data *d, bool host, struct sync_consumer *list)
{
	uint32_t i;

	for (i = 0; i < d->nb_rx; i++) {
		const struct data_rx *rx = d->rxs[i];

		if (rx->worker->host == host)
			list[rx->number] = (struct sync_consumer){ rx->conn_number, rx->id };
	}
}

/* The consumer on the other side of a MsgQ; each side has one. */
static struct data_rx *
local_consumer(const struct data_worker *w)
{
	const struct data *d = w->data;
	uint32_t i;

	for (i = 0; i < d->nb_rx; i++) {
		if (d->rxs[i]->worker->host != w->host)
			return d->rxs[i];
	}
	return NULL;
}

static int
send_consumers(struct perf_run *run)
{
	const struct data *d = run->priv;
	struct sync_consumer list[PERF_MAX_WORKERS];
	int rc;

	list_consumers(d, run->leader, list);
	rc = sync_send(run->sync, SYNC_CONSUMERS, list, d->nb_rx * sizeof(list[0]));
	return rc == 0 ? 0 :
		perf_run_fail(run, "send the consumers to the peer: %s", strerror(-rc));
}

static int
open_producers(struct perf_run *run)
{
	struct data *d = run->priv;
	struct sync_consumer to[PERF_MAX_WORKERS] = { 0 };
	uint32_t i;

	if (d->nb_tx == 0)
		return 0;
	if (run->sync != NULL &&
			perf_run_await(run, SYNC_CONSUMERS, to, sizeof(to), "consumers") != 0)
		return -ECANCELED;
	for (i = 0; i < d->nb_workers; i++) {
		struct data_worker *w = &d->workers[i];

		if (w->tx == NULL)
			continue;
		if (run->sync == NULL) {
			list_consumers(d, !w->host, to);
			w->tx->to = local_consumer(w);
		}
		if (open_producer(run, w, to) != 0)
			return -ECANCELED;
	}
	return 0;
}

static void *
zalloc(size_t nb, size_t size)
{
	return rte_zmalloc("comch-perf", RTE_MAX(nb, (size_t)1) * size, RTE_CACHE_LINE_SIZE);
}

/* Number of producers, consumers and driving threads of one side. */
static uint32_t
side_workers(const struct perf_params *p, bool host, uint32_t *nb_tx, uint32_t *nb_rx)
{
	*nb_tx = host || p->bidir ? p->producers : 0;
	*nb_rx = !host || p->bidir ? p->consumers : 0;
	return RTE_MAX(*nb_tx, *nb_rx);
}

/* Allocate the ends of a worker: a producer, a consumer, or both. */
static int
alloc_ends(struct data_worker *w, uint32_t number, bool sends, bool receives)
{
	const struct perf_params *p = &w->run->params;
	struct data *d = w->data;

	w->tx = sends ? zalloc(1, d->ops->tx_size) : NULL;
	w->rx = receives ? zalloc(1, d->ops->rx_size) : NULL;
	if (w->tx != NULL) {
		*w->tx = (struct data_tx){ .ops = d->ops, .params = p, .link = w->link,
			.worker = w, .number = number };
		d->txs[d->nb_tx++] = w->tx;
	}
	if (w->rx != NULL) {
		*w->rx = (struct data_rx){ .ops = d->ops, .params = p, .link = w->link,
			.worker = w, .number = number, .expected = UINT64_MAX };
		d->rxs[d->nb_rx++] = w->rx;
	}
	return sends == (w->tx != NULL) && receives == (w->rx != NULL) ? 0 :
		perf_run_fail(w->run, "worker %u: not enough EAL memory", w->number);
}

/* Create the workers of one side and allocate their ends, not opened yet. */
static int
open_side(struct perf_run *run, bool host)
{
	struct data *d = run->priv;
	struct link *link = &run->links[!host && run->nb_links > 1];
	uint32_t nb_tx, nb_rx;
	uint32_t nb = side_workers(&run->params, host, &nb_tx, &nb_rx);
	uint32_t i;

	for (i = 0; i < nb; i++) {
		struct data_worker *w = &d->workers[d->nb_workers++];

		w->run = run;
		w->data = d;
		w->number = d->nb_workers - 1;
		w->host = host;
		w->link = link;
		w->has_thread = !host && (run->sync == NULL || run->same_process);
		w->cpu = run->sync == NULL ? (uint16_t)run->floor_req.cpu_b : run->self->cpus[i];
		w->sleeps = run->params.wait == PERF_WAIT_EVENT ||
			(run->params.wait == PERF_WAIT_RECEIVER && i >= nb_tx);
		w->spins = !w->sleeps && !run->params.crowded;
		/* The first worker of a link uses its poll. */
		w->own_poll = w->number > 0 && (w - 1)->link == link;
		w->poll = w->own_poll ? link->ops->poll_open(link) : link->poll;
		if (w->poll == NULL || alloc_ends(w, i, i < nb_tx, i < nb_rx) != 0)
			return -ECANCELED;
	}
	return 0;
}

/* Check that each worker has a thread. */
static int
check_threads(struct perf_run *run, uint32_t nb)
{
	uint32_t most = run->self->nb_workers;

	if (run->sync == NULL && run->floor_req.cpu_b < 0)
		return perf_run_fail(run, "both sides must run on one machine");
	if (nb <= most)
		return 0;
	return run->sync == NULL ?
		perf_run_fail(run, "needs %u lcores, has %u", nb, most) :
		perf_run_fail(run, "this side needs %u threads, has %u: start it with more "
				"--producers and --consumers", nb, most);
}

int
data_setup(struct perf_run *run)
{
	bool local = run->sync == NULL;
	uint32_t nb_tx, nb_rx, nb;
	struct data *d;

	if (run->test->hops == 2)
		run->params.bidir = 1;
	nb = side_workers(&run->params, run->leader, &nb_tx, &nb_rx);
	if (check_threads(run, nb) != 0)
		return -ECANCELED;
	d = zalloc(1, sizeof(*d));
	if (d == NULL)
		return perf_run_fail(run, "not enough EAL memory for the workers");
	run->priv = d;
	d->ops = run->test->calls[run->params.api].data;
	if (local)
		nb += side_workers(&run->params, false, &nb_tx, &nb_rx);
	d->workers = zalloc(nb, sizeof(d->workers[0]));
	if (d->workers == NULL)
		return perf_run_fail(run, "not enough EAL memory for the workers");
	if (open_side(run, run->leader) != 0 || (local && open_side(run, false) != 0))
		return -ECANCELED;
	/* Within one process, the host side ends the run. */
	atomic_init(&d->nb_sending, local ? run->params.producers : d->nb_tx);
	if (open_consumers(run) != 0)
		return -ECANCELED;
	if (!local && d->nb_rx > 0 && send_consumers(run) != 0)
		return -ECANCELED;
	return open_producers(run);
}

/* Producers stop first, then consumers. */
static bool
all_stopped(struct link *link, void *arg)
{
	struct perf_run *run = link->owner;
	const struct data *d = arg;
	bool idle = true;
	uint32_t i;

	for (i = 0; i < d->nb_tx && d->ops->tx_stop != NULL; i++) {
		if (d->ops->tx_stop(d->txs[i]))
			continue;
		d->ops->reap(d->txs[i]);
		idle = false;
	}
	for (i = 0; i < d->nb_rx && d->ops->rx_stop != NULL && idle; i++) {
		d->rxs[i]->stopping = true;
		if (d->ops->rx_stop(d->rxs[i]))
			continue;
		d->ops->recv(d->rxs[i], PERF_MAX_BURST);
		idle = false;
	}
	run_polls(run);
	return idle;
}

/* The peer frees what it has received as it stops its consumers. */
static bool
all_returned(struct link *link, void *arg)
{
	const struct data *d = arg;
	uint32_t i;

	run_polls(link->owner);
	for (i = 0; i < d->nb_tx && d->ops->tx_returned != NULL; i++) {
		if (!d->ops->tx_returned(d->txs[i]))
			return false;
	}
	return true;
}

void
data_teardown(struct perf_run *run)
{
	struct data *d = run->priv;
	uint32_t i;

	if (d == NULL)
		return;
	link_until(&run->links[0], STOP_MS, all_stopped, d);
	link_until(&run->links[0], STOP_MS, all_returned, d);
	for (i = 0; i < d->nb_tx; i++) {
		d->ops->tx_close(d->txs[i]);
		rte_free(d->txs[i]);
	}
	for (i = 0; i < d->nb_rx; i++) {
		d->ops->rx_close(d->rxs[i]);
		rte_free(d->rxs[i]);
	}
	for (i = 0; i < d->nb_workers; i++) {
		struct data_worker *w = &d->workers[i];

		if (w->own_poll && w->poll != NULL)
			w->link->ops->poll_close(w->poll);
	}
	rte_free(d->workers);
	rte_free(d);
	run->priv = NULL;
}
