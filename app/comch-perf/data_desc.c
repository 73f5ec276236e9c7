/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The descriptor calls: operations and buffers that lie ready in rings, so
 * that the loop does no more for a message than stamp it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

/* Payload that a producer sends from, over and over: it stays warm. */
#define SOURCE_BYTES (UINT64_C(16) << 10)

/* A ring that holds whole bursts: of large messages one, as the floor copies
 * from one source.
 */
static uint32_t
source_slots(const struct perf_params *p)
{
	uint64_t nb = SOURCE_BYTES / RTE_MAX(data_stride(p), UINT64_C(64));

	nb = RTE_MAX(nb, (uint64_t)p->burst);
	nb = RTE_MIN(nb, RTE_MAX(p->queue, p->burst));
	return (uint32_t)(nb - nb % p->burst);
}

int
data_ops_open(struct perf_run *run, struct data_tx *tx)
{
	const struct perf_params *p = tx->params;
	uint64_t stride = data_stride(p);
	uint32_t every;
	uint32_t i;

	tx->nb_slots = source_slots(p);
	tx->ops = calloc(tx->nb_slots, sizeof(tx->ops[0]));
	tx->imms = calloc(tx->nb_slots, RTE_COMCH_IMM_SIZE);
	if (tx->ops == NULL || tx->imms == NULL || (p->size > 0 &&
			data_mem_open(&tx->mem, tx->nb_slots * stride,
				PERF_MEMORY_HEAP) != 0))
		return perf_run_fail(run, "no memory to send from");
	every = RTE_MAX(tx->nb_slots / DATA_OPS_SIGNALS, 1u);
	for (i = 0; i < tx->nb_slots; i++) {
		struct rte_comch_op *op = &tx->ops[i];

		op->cookie = i;
		op->len = (uint32_t)p->size;
		op->addr = p->size > 0 ? (uint8_t *)tx->mem.addr + i * stride : NULL;
		op->mr = tx->mem.mr;
		op->imm = p->imm > 0 ? tx->imms + i * RTE_COMCH_IMM_SIZE : NULL;
		op->imm_len = (uint16_t)p->imm;
		op->consumer_id = tx->targets[0].id;
		op->flags = (i + 1) % every == 0 ? 0 : RTE_COMCH_OP_F_SILENT;
	}
	return 0;
}

void
data_ops_close(struct data_tx *tx)
{
	data_mem_close(&tx->mem);
	free(tx->imms);
	free(tx->ops);
}

void
data_ops_prepare(struct data_tx *tx, uint16_t most)
{
	struct data_target *to;
	uint32_t n = most;
	uint32_t i;

	if (tx->ready > 0)
		return;
	n = RTE_MIN(n, tx->nb_slots - tx->head);
	n = RTE_MIN(n, tx->nb_slots - tx->in_flight);
	if (n == 0 || tx->left == 0)
		return;
	/* The very last one is alone, and tells when all are done. */
	if (tx->left == 1)
		tx->ops[tx->head].flags = 0;
	if (tx->left <= n)
		n = tx->left == 1 ? 1 : (uint32_t)tx->left - 1;
	tx->target = tx->target + 1 < tx->nb_targets ? tx->target + 1 : 0;
	to = &tx->targets[tx->target];
	for (i = tx->head; i < tx->head + n; i++) {
		struct rte_comch_op *op = &tx->ops[i];

		op->consumer_id = to->id;
		data_write(tx, to, tx->mem.addr == NULL ? NULL : (uint8_t *)tx->mem.addr +
				i * data_stride(tx->params),
				tx->imms + i * RTE_COMCH_IMM_SIZE);
	}
	tx->ready = n;
	tx->left -= n;
}

void
data_ops_done(struct data_tx *tx, const struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++) {
		/* In order: whatever was sent before it is done too. */
		uint32_t slot = (uint32_t)cpls[i].cookie % tx->nb_slots;
		uint32_t done = (slot + tx->nb_slots - tx->tail) % tx->nb_slots + 1;

		tx->failed += cpls[i].status != 0;
		tx->tail = slot + 1 == tx->nb_slots ? 0 : slot + 1;
		tx->in_flight -= RTE_MIN(done, tx->in_flight);
	}
	tx->flushed = tx->left == 0 && tx->ready == 0 && tx->in_flight == 0;
}

uint16_t
data_ops_sent(struct data_tx *tx, uint16_t taken)
{
	tx->head += taken;
	if (tx->head == tx->nb_slots)
		tx->head = 0;
	tx->ready -= taken;
	tx->in_flight += taken;
	tx->sent += taken;
	return taken;
}

static void
desc_reap(struct data_tx *tx)
{
	struct rte_comch_cpl cpls[DATA_OPS_SIGNALS];

	data_ops_done(tx, cpls, rte_comch_producer_done_burst(tx->producer, cpls,
			DATA_OPS_SIGNALS));
}

static uint16_t
desc_send(struct data_tx *tx, uint16_t n)
{
	if (tx->ready == 0)
		data_ops_prepare(tx, n);
	if (tx->ready == 0)
		return 0;
	return data_ops_sent(tx, rte_comch_producer_send_burst(tx->producer,
			&tx->ops[tx->head], (uint16_t)tx->ready));
}

static int
desc_rx_open(struct perf_run *run, struct data_rx *rx)
{
	const struct perf_params *p = rx->params;
	uint64_t stride = data_stride(p);
	uint32_t i;

	rx->nb_bufs = p->queue;
	rx->bufs = calloc(rx->nb_bufs, sizeof(rx->bufs[0]));
	if (rx->bufs == NULL || (p->size > 0 && data_mem_open(&rx->mem,
			rx->nb_bufs * stride, p->memory) != 0))
		return perf_run_fail(run, "no memory to receive into");
	for (i = 0; i < rx->nb_bufs; i++) {
		rx->bufs[i].cookie = i;
		rx->bufs[i].len = (uint32_t)p->size;
		rx->bufs[i].mr = rx->mem.mr;
		rx->bufs[i].addr = p->size > 0 ?
				(uint8_t *)rx->mem.addr + i * stride : NULL;
	}
	rx->mr = rx->mem.mr;
	return 0;
}

static void
desc_rx_close(struct data_rx *rx)
{
	data_mem_close(&rx->mem);
	free(rx->bufs);
}

static void
desc_repost(struct data_rx *rx)
{
	while (rx->owed > 0) {
		uint32_t from = (rx->head + rx->nb_bufs - rx->owed) % rx->nb_bufs;
		uint32_t n = RTE_MIN(rx->owed, rx->nb_bufs - from);

		n = rte_comch_consumer_post_burst(rx->consumer, &rx->bufs[from],
				(uint16_t)RTE_MIN(n, (uint32_t)UINT16_MAX));
		rx->owed -= n;
		if (n == 0)
			break;
	}
}

static int
desc_rx_start(struct perf_run *run, struct data_rx *rx)
{
	rx->owed = rx->nb_bufs;
	desc_repost(rx);
	if (rx->owed > 0)
		return perf_run_fail(run, "consumer %u takes %u buffers only",
				rx->number, rx->nb_bufs - rx->owed);
	return 0;
}

/* One completion; buffers come back in the order of posting. */
static inline void
take(struct data_rx *rx, const struct rte_comch_cpl *cpl)
{
	const struct perf_params *p = rx->params;
	const struct rte_comch_buf *buf = &rx->bufs[rx->head];

	if (unlikely(cpl->cookie != rx->head))
		rx->disorder++;
	rx->head = rx->head + 1 == rx->nb_bufs ? 0 : rx->head + 1;
	rx->owed++;
	if (unlikely(cpl->status != 0)) {
		rx->failed += !rx->stopping;
	} else if (unlikely(cpl->len != p->size || cpl->imm_len != p->imm)) {
		rx->count++;
		rx->torn++;
	} else {
		data_check_msg(rx, buf->addr, cpl->imm);
	}
}

static uint16_t
desc_recv(struct data_rx *rx, uint16_t n)
{
	struct rte_comch_cpl cpls[PERF_MAX_BURST];
	uint16_t i;

	n = rte_comch_consumer_recv_burst(rx->consumer, cpls, n);
	for (i = 0; i < n; i++)
		take(rx, &cpls[i]);
	return n;
}

static void
desc_rx_drain(struct data_rx *rx)
{
	desc_recv(rx, PERF_MAX_BURST);
}

const struct data_api data_api_desc = {
	.ends = &data_ends_native,
	.tx_open = data_ops_open,
	.tx_close = data_ops_close,
	.prepare = data_ops_prepare,
	.send = desc_send,
	.reap = desc_reap,
	.rx_open = desc_rx_open,
	.rx_start = desc_rx_start,
	.recv = desc_recv,
	.repost = desc_repost,
	.rx_drain = desc_rx_drain,
	.rx_close = desc_rx_close,
};
