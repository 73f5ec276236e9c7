/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers under test, with the mbuf calls of librte_comch. As in
 * an ethdev application, the sender allocates mbufs and the library frees them
 * once sent; the receiver frees those that it gets.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <rte_comch_mbuf.h>

#include "api/api.h"
#include "api/native.h"
#include "app_mem.h"
#include "base/pool.h"
#include "engine/loop.h"
#include "engine/sync.h"

struct mbuf_tx {
	struct ends_tx end;
	struct rte_mempool *pool;
	bool handover;                          /* the receiver frees sent ones */
	uint32_t head;                          /* first ready one */
	struct rte_mbuf *mbufs[PERF_MAX_BURST]; /* stamped, not accepted yet */
};

struct mbuf_rx {
	struct ends_rx end;
	struct rte_mempool *pool;
	struct rte_mbuf *mbufs[PERF_MAX_BURST]; /* received, not freed yet */
};

static inline struct mbuf_tx *
mbuf_tx(struct data_tx *tx)
{
	return container_of(tx, struct mbuf_tx, end.base);
}

static inline struct mbuf_rx *
mbuf_rx(struct data_rx *rx)
{
	return container_of(rx, struct mbuf_rx, end.base);
}

/* Create the pool of one end; an mbuf holds one message. Both sides may be in one EAL. */
static struct rte_mempool *
pool_create(struct perf_run *run, const char *kind, uint32_t number, uint32_t nb, bool shared)
{
	uint16_t data_room = (uint16_t)(RTE_PKTMBUF_HEADROOM + run->params.size);
	struct rte_mempool *mp;
	char name[RTE_MEMZONE_NAMESIZE];

	snprintf(name, sizeof(name), "perf_%c%s%u_%u", run->leader ? 'h' : 'd', kind, number,
			run->sync->run);
	if (shared) {
		mp = rte_comch_pktmbuf_pool_create(name, nb, POOL_CACHE, 0, data_room,
				SOCKET_ID_ANY);
	} else {
		mp = rte_pktmbuf_pool_create(name, nb, POOL_CACHE, 0, data_room, SOCKET_ID_ANY);
		if (mp != NULL && rte_comch_mempool_register(mp, 0) == NULL) {
			rte_mempool_free(mp);
			mp = NULL;
		}
	}
	if (mp == NULL)
		perf_run_fail(run, "create a pool of %u mbufs: %s", nb, rte_strerror(rte_errno));
	return mp;
}

static void
pool_free(struct rte_mempool *mp, bool shared)
{
	if (mp == NULL)
		return;
	if (shared) {
		rte_comch_pktmbuf_pool_free(mp);
		return;
	}
	rte_comch_mempool_unregister(mp);
	rte_mempool_free(mp);
}

static int
mbuf_tx_open(struct perf_run *run, struct data_tx *tx)
{
	const struct perf_params *p = &run->params;
	struct mbuf_tx *m = mbuf_tx(tx);

	m->handover = (run->info.capa & RTE_COMCH_CAPA_HANDOVER) != 0;
	tx->nb_slots = 1; /* never half full: stream_tx() reaps only if a send accepts nothing */
	if (ends_tx_open(run, tx) != 0)
		return -ECANCELED;
	m->pool = pool_create(run, "tx", tx->number, m->handover ?
			pool_mbufs_to_send(p->queue, p->burst, tx->nb_targets) :
			p->queue + p->burst + pool_mbufs_per_thread(p->burst), false);
	return m->pool == NULL ? -ENOMEM : 0;
}

static bool
mbuf_tx_returned(struct data_tx *tx)
{
	const struct mbuf_tx *m = mbuf_tx(tx);

	return !m->handover || m->pool == NULL ||
		rte_mempool_avail_count(m->pool) + tx->ready == m->pool->size;
}

static void
mbuf_tx_close(struct data_tx *tx)
{
	struct mbuf_tx *m = mbuf_tx(tx);
	bool returned = mbuf_tx_returned(tx);

	rte_comch_producer_destroy(m->end.producer);
	if (tx->ready > 0)
		rte_pktmbuf_free_bulk(m->mbufs + m->head, tx->ready);
	/* A peer that ended without closing may still write to its mbufs. */
	if (returned)
		pool_free(m->pool, false);
}

static void
mbuf_prepare(struct data_tx *tx, uint16_t most)
{
	struct mbuf_tx *b = mbuf_tx(tx);
	uint32_t n = (uint32_t)RTE_MIN(tx->left, most);
	struct data_target *to;
	uint32_t i;

	if (tx->ready > 0)
		return;
	if (n == 0 || rte_pktmbuf_alloc_bulk(b->pool, b->mbufs, n) != 0)
		return;
	to = data_next_target(tx);
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = b->mbufs[i];

		m->data_len = (uint16_t)tx->params->size;
		m->pkt_len = m->data_len;
		/* An mbuf has no immediate data: check_mbuf() refuses --imm. */
		data_write(tx, to, rte_pktmbuf_mtod(m, uint8_t *),
				rte_pktmbuf_mtod(m, uint8_t *));
	}
	b->head = 0;
	tx->ready = n;
	tx->left -= n;
}

static uint16_t
mbuf_send(struct data_tx *tx, uint16_t n)
{
	struct mbuf_tx *m = mbuf_tx(tx);
	uint16_t taken;

	if (tx->ready == 0)
		mbuf_prepare(tx, n);
	if (tx->ready == 0)
		return 0;
	taken = rte_comch_tx_burst(m->end.producer, tx->targets[tx->target].id,
			m->mbufs + m->head, (uint16_t)tx->ready);
	m->head += taken;
	tx->ready -= taken;
	tx->sent += taken;
	return taken;
}

/* Each call, even of an empty burst, frees sent mbufs and moves staged data. */
static void
mbuf_reap(struct data_tx *tx)
{
	rte_comch_tx_burst(mbuf_tx(tx)->end.producer, tx->targets[tx->target].id,
			mbuf_tx(tx)->mbufs, 0);
	tx->flushed = tx->left == 0 && tx->ready == 0;
}

static int
mbuf_rx_open(struct perf_run *run, struct data_rx *rx)
{
	const struct perf_params *p = rx->params;
	struct mbuf_rx *m = mbuf_rx(rx);

	m->pool = pool_create(run, "rx", rx->number,
			p->queue + p->burst + pool_mbufs_per_thread(p->burst),
			p->memory == APP_MEMORY_SHARED);
	return m->pool == NULL ? -ECANCELED :
		ends_rx_open(run, rx, rte_comch_mempool_mr(m->pool));
}

static int
mbuf_rx_start(struct perf_run *run, struct data_rx *rx)
{
	int rc = rte_comch_consumer_rx_setup(mbuf_rx(rx)->end.consumer, mbuf_rx(rx)->pool);

	return rc == 0 ? 0 : perf_run_fail(run, "set up consumer %u for mbufs: %s",
			rx->number, strerror(-rc));
}

static void
mbuf_repost(struct data_rx *rx)
{
	rte_pktmbuf_free_bulk(mbuf_rx(rx)->mbufs, rx->unposted);
	rx->unposted = 0;
}

static bool
mbuf_rx_stop(struct data_rx *rx)
{
	mbuf_repost(rx);
	return ends_rx_stop(rx);
}

static uint16_t
mbuf_recv(struct data_rx *rx, uint16_t n)
{
	const struct perf_params *p = rx->params;
	struct mbuf_rx *b = mbuf_rx(rx);
	uint16_t i;

	if (unlikely(rx->unposted > 0))
		mbuf_repost(rx);
	n = rte_comch_rx_burst(b->end.consumer, b->mbufs, n);
	for (i = 0; i < n; i++) {
		const struct rte_mbuf *m = b->mbufs[i];
		const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

		if (likely(m->pkt_len == p->size && m->nb_segs == 1)) {
			data_check_msg(rx, data, data);
			continue;
		}
		rx->count++;
		rx->faults.torn++;
	}
	rx->unposted = n;
	return n;
}

static void
mbuf_rx_close(struct data_rx *rx)
{
	mbuf_repost(rx);
	rte_comch_consumer_destroy(mbuf_rx(rx)->end.consumer);
	pool_free(mbuf_rx(rx)->pool, rx->params->memory == APP_MEMORY_SHARED);
}

static int mbuf_pingpong(void *worker);

const struct data_ops data_ops_mbuf = {
	.tx_size = sizeof(struct mbuf_tx),
	.rx_size = sizeof(struct mbuf_rx),
	.rx_open = mbuf_rx_open,
	.rx_running = ends_rx_running,
	.rx_start = mbuf_rx_start,
	.recv = mbuf_recv,
	.repost = mbuf_repost,
	.rx_stop = mbuf_rx_stop,
	.rx_stats = ends_rx_stats,
	.rx_close = mbuf_rx_close,
	.tx_open = mbuf_tx_open,
	.prepare = mbuf_prepare,
	.send = mbuf_send,
	.reap = mbuf_reap,
	.tx_stop = ends_tx_stop,
	.tx_stats = ends_tx_stats,
	.tx_returned = mbuf_tx_returned,
	.tx_close = mbuf_tx_close,
	.pingpong = mbuf_pingpong,
};

/* The calls above, inlined: the floor has none. */
static int
mbuf_pingpong(void *worker)
{
	return loop_pingpong(worker, &data_ops_mbuf);
}
