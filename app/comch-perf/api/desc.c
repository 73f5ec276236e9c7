/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers under test, with the descriptor calls of librte_comch. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/native.h"
#include "api/ops.h"

struct desc_tx {
	struct ends_tx end;
	struct ops_ring ring;
};

struct desc_rx {
	struct ends_rx end;
	struct rte_comch_buf *bufs; /* a ring, in posting order */
	uint32_t nb_bufs;
	uint32_t head;              /* next to receive; the unposted ones precede it */
	struct app_mem mem;
};

static inline struct desc_tx *
desc_tx(struct data_tx *tx)
{
	return container_of(tx, struct desc_tx, end.base);
}

static inline struct desc_rx *
desc_rx(struct data_rx *rx)
{
	return container_of(rx, struct desc_rx, end.base);
}

static int
desc_tx_open(struct perf_run *run, struct data_tx *tx)
{
	return ends_tx_open(run, tx) != 0 ? -ECANCELED :
		ops_open(run, tx, &desc_tx(tx)->ring);
}

static void
desc_prepare(struct data_tx *tx, uint16_t n)
{
	ops_prepare(tx, &desc_tx(tx)->ring, n);
}

static void
desc_reap(struct data_tx *tx)
{
	struct rte_comch_cpl cpls[OPS_SIGNALS];

	ops_done(tx, &desc_tx(tx)->ring, cpls, rte_comch_producer_done_burst(
			desc_tx(tx)->end.producer, cpls, OPS_SIGNALS));
}

static uint16_t
desc_send(struct data_tx *tx, uint16_t n)
{
	struct ops_ring *ring = &desc_tx(tx)->ring;

	if (tx->ready == 0)
		ops_prepare(tx, ring, n);
	if (tx->ready == 0)
		return 0;
	return ops_sent(tx, ring, rte_comch_producer_send_burst(desc_tx(tx)->end.producer,
			&ring->ops[ring->head], (uint16_t)tx->ready));
}

static void
desc_tx_close(struct data_tx *tx)
{
	rte_comch_producer_destroy(desc_tx(tx)->end.producer);
	ops_close(&desc_tx(tx)->ring);
}

static int
desc_rx_open(struct perf_run *run, struct data_rx *rx)
{
	const struct perf_params *p = rx->params;
	struct desc_rx *d = desc_rx(rx);
	uint64_t stride = data_stride(p);
	uint32_t i;
	int rc;

	d->nb_bufs = p->queue;
	d->bufs = calloc(d->nb_bufs, sizeof(d->bufs[0]));
	rc = d->bufs == NULL ? -ENOMEM :
		p->size > 0 ? app_mem_open(&d->mem, d->nb_bufs * stride, p->memory) : 0;
	if (rc != 0)
		return perf_run_fail(run, "create %u receive buffers of %llu bytes: %s",
				d->nb_bufs, (unsigned long long)stride, strerror(-rc));
	for (i = 0; i < d->nb_bufs; i++) {
		d->bufs[i].cookie = i;
		d->bufs[i].len = (uint32_t)p->size;
		d->bufs[i].mr = d->mem.mr;
		d->bufs[i].addr = p->size > 0 ? (uint8_t *)d->mem.addr + i * stride : NULL;
	}
	return ends_rx_open(run, rx, d->mem.mr);
}

static void
desc_repost(struct data_rx *rx)
{
	struct desc_rx *d = desc_rx(rx);

	while (rx->unposted > 0) {
		uint32_t from = (d->head + d->nb_bufs - rx->unposted) % d->nb_bufs;
		uint32_t n = RTE_MIN(rx->unposted, d->nb_bufs - from);

		n = rte_comch_consumer_post_burst(d->end.consumer, &d->bufs[from],
				(uint16_t)RTE_MIN(n, (uint32_t)UINT16_MAX));
		rx->unposted -= n;
		if (n == 0)
			break;
	}
}

static uint16_t
desc_recv(struct data_rx *rx, uint16_t n)
{
	struct desc_rx *d = desc_rx(rx);
	struct rte_comch_cpl cpls[PERF_MAX_BURST];
	uint16_t i;

	n = rte_comch_consumer_recv_burst(d->end.consumer, cpls, n);
	for (i = 0; i < n; i++) {
		const struct rte_comch_buf *buf = &d->bufs[d->head];

		/* Buffers complete in posting order. */
		if (unlikely(cpls[i].cookie != d->head))
			rx->faults.disorder++;
		d->head = d->head + 1 == d->nb_bufs ? 0 : d->head + 1;
		rx->unposted++;
		data_take(rx, cpls[i].status, cpls[i].len, cpls[i].imm_len, buf->addr,
				cpls[i].imm);
	}
	return n;
}

static void
desc_rx_close(struct data_rx *rx)
{
	rte_comch_consumer_destroy(desc_rx(rx)->end.consumer);
	app_mem_close(&desc_rx(rx)->mem);
	free(desc_rx(rx)->bufs);
}

const struct data_ops data_ops_desc = {
	.tx_size = sizeof(struct desc_tx),
	.rx_size = sizeof(struct desc_rx),
	.rx_open = desc_rx_open,
	.rx_running = ends_rx_running,
	.recv = desc_recv,
	.repost = desc_repost,
	.rx_stop = ends_rx_stop,
	.rx_stats = ends_rx_stats,
	.rx_close = desc_rx_close,
	.tx_open = desc_tx_open,
	.prepare = desc_prepare,
	.send = desc_send,
	.reap = desc_reap,
	.tx_stop = ends_tx_stop,
	.tx_stats = ends_tx_stats,
	.tx_close = desc_tx_close,
};
