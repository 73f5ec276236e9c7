/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Streams: creation, start, stop, and their counters. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "lcore.h"
#include "stream.h"

static const char *const mode_names[] = {
	"source", "sink", "drop", "echo", "relay", "io", "send", "receive",
};

/* By what its consumer, or a source itself, works with. */
static const struct tc_engine *const engines[TC_NB_MODES][2] = {
	[TC_SOURCE] = { &tc_engine_source, &tc_engine_source_mbuf },
	[TC_SINK] = { &tc_engine_sink, &tc_engine_sink_mbuf },
	[TC_DROP] = { &tc_engine_drop, &tc_engine_drop_mbuf },
	[TC_ECHO] = { &tc_engine_pass, &tc_engine_pass_mbuf },
	[TC_RELAY] = { &tc_engine_pass, &tc_engine_pass_mbuf },
	[TC_IO] = { NULL, &tc_engine_io },
	[TC_SEND] = { &tc_engine_send, NULL },
	[TC_RECEIVE] = { &tc_engine_receive, NULL },
};

const char *
tc_mode_name(enum tc_mode mode)
{
	return mode_names[mode];
}

int
tc_stream_check_unused(const char *name, const struct tc_stream *user)
{
	if (user == NULL)
		return 0;
	tc_fail("%s: %s uses it; destroy that first", name, user->obj.name);
	return -1;
}

struct tc_stream *
tc_stream_new(enum tc_mode mode, struct tc_consumer *rx, struct tc_producer *tx)
{
	struct tc_stream *s;

	if ((rx != NULL && tc_stream_check_unused(rx->obj.name, rx->stream) != 0) ||
			(tx != NULL && tc_stream_check_unused(tx->obj.name, tx->stream) != 0))
		return NULL;
	s = tc_obj_new(TC_STREAM, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->mode = mode;
	s->rx = rx;
	s->tx = tx;
	s->lcore = lcore_default();
	s->burst = 32;
	s->size = 64;
	s->fd = -1;
	if (rx != NULL)
		rx->stream = s;
	if (tx != NULL)
		tx->stream = s;
	return s;
}

/* Choose the consumer to send to. */
static int
find_target(struct tc_stream *s)
{
	const struct tc_conn *c = s->tx->conn;
	uint32_t i;

	if (c->nb_targets == 0) {
		tc_fail("%s: the peer of %s has no consumer yet; \"wait %s consumer SECONDS\"",
			s->obj.name, c->obj.name, c->obj.name);
		return -1;
	}
	for (i = 0; i < c->nb_targets; i++)
		if (s->target == 0 || c->targets[i] == s->target) {
			s->target_id = c->targets[i];
			return 0;
		}
	tc_fail("%s: the peer of %s has no consumer %u; it has %u others, from %u", s->obj.name,
		c->obj.name, s->target, c->nb_targets, c->targets[0]);
	return -1;
}

static int
check_queues(const struct tc_stream *s)
{
	const struct tc_consumer *rx = s->rx;
	const struct tc_producer *tx = s->tx;

	if (rx != NULL && (rte_comch_consumer_state(rx->consumer) != RTE_COMCH_STATE_RUNNING ||
			!rx->ready)) {
		tc_fail("%s: %s is %s, expected RUNNING; \"consumer start %s\", then \"wait %s "
			"running SECONDS\"", s->obj.name, rx->obj.name,
			rte_comch_state_name(rte_comch_consumer_state(rx->consumer)),
			rx->obj.name, rx->obj.name);
		return -1;
	}
	if (s->mode == TC_IO && !tc_port_started(s->port)) {
		tc_fail("port %u: is stopped; \"port start %u\"", s->port, s->port);
		return -1;
	}
	if (tx != NULL && rte_comch_producer_state(tx->producer) != RTE_COMCH_STATE_RUNNING) {
		tc_fail("%s: %s is %s, expected RUNNING; \"producer start %s\"", s->obj.name,
			tx->obj.name, rte_comch_state_name(rte_comch_producer_state(tx->producer)),
			tx->obj.name);
		return -1;
	}
	return 0;
}

/* Descriptors or mbufs, and what a source sends from. */
static int
choose_engine(struct tc_stream *s)
{
	bool mbufs = s->rx != NULL ? s->rx->api == TC_API_MBUF : s->mbufs;
	enum tc_api api = mbufs ? TC_API_MBUF : TC_API_DESC;
	int ret = 0;

	s->engine = engines[s->mode][mbufs];
	if (s->engine == NULL) {
		tc_fail("%s: %s requires %s; \"consumer set %s memory %s\" while it is IDLE",
			s->obj.name, tc_mode_name(s->mode), mbufs ? "descriptors" : "mbufs",
			s->rx->obj.name, mbufs ? "shared" : "mbuf");
		return -1;
	}
	if (s->tx == NULL)
		return 0;
	if (s->tx->api != TC_API_NONE && s->tx->api != api) {
		tc_fail("%s: %s has sent %s, and a producer stays with that until it is IDLE",
			s->obj.name, s->tx->obj.name, mbufs ? "descriptors" : "mbufs");
		return -1;
	}
	if (s->mode == TC_SOURCE || s->mode == TC_SEND)
		ret = mbufs ? tc_source_pool(s->tx, s->size) : tc_source_bufs(s->tx, s->size);
	if (ret != 0) {
		tc_fail("%s: buffers of %u bytes: %s", s->obj.name, s->size, rte_strerror(-ret));
		return -1;
	}
	s->tx->api = api;
	return 0;
}

/* Let the port read the memory that the consumer receives into. */
static int
map_port(struct tc_stream *s)
{
	struct tc_consumer *c = s->rx;

	if (c->dma_mapped || rte_comch_pktmbuf_pool_dma_map(c->pool, s->port) == 0) {
		c->dma_mapped = true;
		return 0;
	}
	tc_fail("%s: port %u cannot map the memory of %s: %s", s->obj.name, s->port, c->obj.name,
		rte_strerror(rte_errno));
	return -1;
}

int
tc_stream_start(struct tc_stream *s)
{
	int ret;

	if (s->running) {
		tc_fail("%s: is running", s->obj.name);
		return -1;
	}
	if (check_queues(s) != 0 || (s->tx != NULL && find_target(s) != 0) ||
			choose_engine(s) != 0 || (s->mode == TC_IO && map_port(s) != 0))
		return -1;
	memset(&s->n, 0, sizeof(s->n));
	memset(&s->shown, 0, sizeof(s->shown));
	s->shown_at = tc_now();
	s->left = s->count != 0 ? s->count : UINT64_MAX;
	s->next = 0;
	s->done = false;
	s->failed = false;
	s->last_error = 0;
	s->running = true;
	ret = lcore_add(s->lcore, s);
	if (ret == 0)
		return 0;
	s->running = false;
	tc_fail("%s: lcore %u: %s", s->obj.name, s->lcore, rte_strerror(-ret));
	return -1;
}

void
tc_stream_stop(struct tc_stream *s)
{
	if (!s->running)
		return;
	lcore_remove(s->lcore, s);
	s->running = false;
	s->engine->stop(s);
}

void
tc_stream_destroy(struct tc_stream *s)
{
	tc_stream_stop(s);
	if (s->fd >= 0)
		close(s->fd);
	if (s->rx != NULL)
		s->rx->stream = NULL;
	if (s->tx != NULL)
		s->tx->stream = NULL;
	tc_obj_free(&s->obj);
}

const char *
tc_stream_totals(const struct tc_stream *s, char *buf, size_t size)
{
	const struct tc_counters *n = &s->n;
	int len = 0;

	*buf = '\0';
	if (s->rx != NULL)
		len += snprintf(buf, size, ", received %" PRIu64 " messages, %" PRIu64 " bytes",
				n->rx_msgs, n->rx_bytes);
	if (s->tx != NULL)
		len += snprintf(buf + len, size - (size_t)len, ", sent %" PRIu64 " messages, %"
				PRIu64 " bytes", n->tx_msgs, n->tx_bytes);
	if (n->lost > 0)
		len += snprintf(buf + len, size - (size_t)len, ", %" PRIu64 " lost", n->lost);
	if (n->errors > 0)
		snprintf(buf + len, size - (size_t)len, ", %" PRIu64 " errors (%s)", n->errors,
			s->last_error != 0 ? rte_strerror(-s->last_error) : "?");
	return *buf != '\0' ? buf + 2 : buf;
}

/* Receive what a peer had sent before its connection ended. These messages are already in
 * the consumer's queue, so there are at most as many as it holds.
 */
static void
receive_rest(struct tc_stream *s)
{
	uint32_t left = s->rx->queue;

	lcore_remove(s->lcore, s);
	while (left-- > 0 && tc_stream_pass(s) > 0)
		;
}

void
tc_stream_end(struct tc_stream *s, const char *why)
{
	char text[256];

	if (s == NULL)
		return;
	if (s->running && s->tx == NULL)
		receive_rest(s);
	tc_stream_stop(s);
	if (s->failed || (s->mode == TC_RECEIVE && !s->end_of_file))
		tc.any_failed = true;
	tc_notice("%s: destroyed with %s: %s", s->obj.name, why,
		tc_stream_totals(s, text, sizeof(text)));
	tc_stream_destroy(s);
}

void
tc_stream_target_gone(const struct tc_conn *c, uint32_t id)
{
	char text[256];
	struct tc_stream *s;

	TC_FOREACH(TC_STREAM, s) {
		if (!s->running || s->tx == NULL || s->tx->conn != c || s->target_id != id)
			continue;
		tc_stream_stop(s);
		tc_notice("%s: stopped with the peer's consumer %u: %s", s->obj.name, id,
			tc_stream_totals(s, text, sizeof(text)));
	}
}

uint32_t
tc_stream_pass(struct tc_stream *s)
{
	return s->done ? 0 : s->engine->pass(s);
}

void
tc_stream_done(struct tc_stream *s)
{
	/* Pairs with the acquire in tc_streams_step(): its counters. */
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	rte_comch_poll_notify(tc.poll);
}

void
tc_streams_step(void)
{
	char text[256];
	struct tc_stream *s;

	TC_FOREACH(TC_STREAM, s) {
		/* Pairs with the release in tc_stream_done(). */
		if (!s->running || !__atomic_load_n(&s->done, __ATOMIC_ACQUIRE))
			continue;
		tc_stream_stop(s);
		if (s->failed)
			tc.any_failed = true;
		tc_notice("%s: %s: %s", s->obj.name, s->failed ? "failed" : "done",
			tc_stream_totals(s, text, sizeof(text)));
		if (s->fd >= 0)
			tc_stream_destroy(s);
	}
}

void
tc_streams_destroy(void)
{
	struct tc_stream *s;

	TC_FOREACH(TC_STREAM, s)
		tc_stream_destroy(s);
}

/* A copy of counters that another lcore writes. */
static void
counters_read(const struct tc_counters *from, struct tc_counters *to)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}

static void
stats_row(struct tc_stream *s, double now)
{
	double seconds = RTE_MAX(now - s->shown_at, 1e-6);
	const struct tc_counters *old = &s->shown;
	struct tc_counters n;

	counters_read(&s->n, &n);
	tc_cell(TC_PLAIN, "%s", s->obj.name);
	tc_cell(s->running ? TC_GOOD : TC_PLAIN, "%s", s->running ? "running" : "stopped");
	tc_cell_number(n.rx_msgs);
	tc_cell_rate((double)(n.rx_msgs - old->rx_msgs) / seconds);
	tc_cell_rate((double)(n.rx_bytes - old->rx_bytes) / seconds);
	tc_cell_number(n.tx_msgs);
	tc_cell_rate((double)(n.tx_msgs - old->tx_msgs) / seconds);
	tc_cell_rate((double)(n.tx_bytes - old->tx_bytes) / seconds);
	tc_cell_number(n.later);
	tc_cell(n.lost > 0 ? TC_BAD : TC_PLAIN, "%" PRIu64, n.lost);
	tc_cell(n.errors > 0 ? TC_BAD : TC_PLAIN, "%" PRIu64, n.errors);
	s->shown = n;
	s->shown_at = now;
}

void
tc_stream_stats(bool quiet)
{
	double now = tc_now();
	struct tc_stream *s;

	if (tc_obj_next(TC_STREAM, 0) == NULL) {
		if (!quiet)
			tc_out("no streams\n");
		return;
	}
	tc_table_begin(NULL, "stream state rx rx/s rxB/s tx tx/s txB/s later lost errors");
	TC_FOREACH(TC_STREAM, s)
		stats_row(s, now);
	tc_table_end();
}
