/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The mbuf calls: as an ethdev application does, mbufs are allocated, sent and
 * freed by the library, or received and freed here.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <rte_comch_mbuf.h>

#include "data.h"
#include "sync.h"

#define CACHE 256

/* A pool for one end; its mbufs hold a message each. */
static struct rte_mempool *
pool_create(struct perf_run *run, const char *kind, uint32_t number, bool shared)
{
	const struct perf_params *p = &run->params;
	uint32_t nb = p->queue + 2 * p->burst + 2 * CACHE;
	uint16_t room = (uint16_t)(RTE_PKTMBUF_HEADROOM + p->size);
	struct rte_mempool *mp;
	char name[32];

	snprintf(name, sizeof(name), "perf_%s%u_%u", kind, number,
			sync_run_get(run->sync));
	if (shared) {
		mp = rte_comch_pktmbuf_pool_create(name, nb, CACHE, 0, room,
				SOCKET_ID_ANY);
	} else {
		mp = rte_pktmbuf_pool_create(name, nb, CACHE, 0, room, SOCKET_ID_ANY);
		if (mp != NULL && rte_comch_mempool_register(mp, 0) == NULL) {
			rte_mempool_free(mp);
			mp = NULL;
		}
	}
	if (mp == NULL)
		perf_run_fail(run, "no pool of %u mbufs: %s", nb, rte_strerror(rte_errno));
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
	tx->nb_slots = 1; /* never half full: see worker_stream() */
	tx->mbufs = calloc(PERF_MAX_BURST, sizeof(tx->mbufs[0]));
	if (tx->mbufs == NULL)
		return perf_run_fail(run, "no memory to send from");
	tx->pool = pool_create(run, "tx", tx->number, false);
	return tx->pool == NULL ? -ENOMEM : 0;
}

static void
mbuf_tx_close(struct data_tx *tx)
{
	if (tx->ready > 0)
		rte_pktmbuf_free_bulk(tx->mbufs + tx->head, tx->ready);
	pool_free(tx->pool, false);
	free(tx->mbufs);
}

static void
mbuf_prepare(struct data_tx *tx, uint16_t most)
{
	uint32_t n = (uint32_t)RTE_MIN(tx->left, most);
	struct data_target *to;
	uint32_t i;

	if (tx->ready > 0)
		return;
	if (n == 0 || rte_pktmbuf_alloc_bulk(tx->pool, tx->mbufs, n) != 0)
		return;
	tx->target = tx->target + 1 < tx->nb_targets ? tx->target + 1 : 0;
	to = &tx->targets[tx->target];
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = tx->mbufs[i];

		m->data_len = (uint16_t)tx->params->size;
		m->pkt_len = m->data_len;
		/* No immediate data: check_mbuf(). */
		data_write(tx, to, rte_pktmbuf_mtod(m, uint8_t *),
				rte_pktmbuf_mtod(m, uint8_t *));
	}
	tx->head = 0;
	tx->ready = n;
	tx->left -= n;
}

static uint16_t
mbuf_send(struct data_tx *tx, uint16_t n)
{
	uint16_t taken;

	if (tx->ready == 0)
		mbuf_prepare(tx, n);
	if (tx->ready == 0)
		return 0;
	taken = rte_comch_tx_burst(tx->producer, tx->targets[tx->target].id,
			tx->mbufs + tx->head, (uint16_t)tx->ready);
	tx->head += taken;
	tx->ready -= taken;
	tx->sent += taken;
	return taken;
}

/* The library frees what was sent, and moves what is staged, in any call. */
static void
mbuf_reap(struct data_tx *tx)
{
	rte_comch_tx_burst(tx->producer, tx->targets[tx->target].id, tx->mbufs, 0);
	tx->flushed = tx->left == 0 && tx->ready == 0;
}

static int
mbuf_rx_open(struct perf_run *run, struct data_rx *rx)
{
	rx->mbufs = calloc(PERF_MAX_BURST, sizeof(rx->mbufs[0]));
	if (rx->mbufs == NULL)
		return perf_run_fail(run, "no memory to receive into");
	rx->pool = pool_create(run, "rx", rx->number,
			rx->params->memory == PERF_MEMORY_SHARED);
	if (rx->pool == NULL)
		return -ECANCELED;
	rx->mr = rte_comch_mempool_mr(rx->pool);
	return 0;
}

static int
mbuf_rx_start(struct perf_run *run, struct data_rx *rx)
{
	int rc = rte_comch_consumer_rx_setup(rx->consumer, rx->pool);

	return rc == 0 ? 0 : perf_run_fail(run, "consumer %u takes no mbufs: %s",
			rx->number, strerror(-rc));
}

static void
mbuf_repost(struct data_rx *rx)
{
	rte_pktmbuf_free_bulk(rx->mbufs, rx->owed);
	rx->owed = 0;
}

static uint16_t
mbuf_recv(struct data_rx *rx, uint16_t n)
{
	const struct perf_params *p = rx->params;
	uint16_t i;

	n = rte_comch_rx_burst(rx->consumer, rx->mbufs, n);
	for (i = 0; i < n; i++) {
		const struct rte_mbuf *m = rx->mbufs[i];
		const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

		if (likely(m->pkt_len == p->size && m->nb_segs == 1)) {
			data_check_msg(rx, data, data);
			continue;
		}
		rx->count++;
		rx->torn++;
	}
	rx->owed = n;
	return n;
}

static void
mbuf_rx_drain(struct data_rx *rx)
{
	mbuf_repost(rx);
	mbuf_recv(rx, PERF_MAX_BURST);
	mbuf_repost(rx);
}

static void
mbuf_rx_close(struct data_rx *rx)
{
	mbuf_repost(rx);
	pool_free(rx->pool, rx->params->memory == PERF_MEMORY_SHARED);
	free(rx->mbufs);
}

const struct data_api data_api_mbuf = {
	.ends = &data_ends_native,
	.tx_open = mbuf_tx_open,
	.tx_close = mbuf_tx_close,
	.prepare = mbuf_prepare,
	.send = mbuf_send,
	.reap = mbuf_reap,
	.rx_open = mbuf_rx_open,
	.rx_start = mbuf_rx_start,
	.recv = mbuf_recv,
	.repost = mbuf_repost,
	.rx_drain = mbuf_rx_drain,
	.rx_close = mbuf_rx_close,
};
