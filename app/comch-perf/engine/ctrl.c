/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Control messages under test, for all APIs: the sending and the receiving half of
 * connection 0, driven by the main thread.
 */

#include <errno.h>
#include <stdlib.h>

#include "engine/data.h"

struct ctrl_tx {
	struct data_tx base;
	struct rte_comch_msg *msgs; /* a ring; `ready` stamped ones start at head */
	uint8_t *bufs;
	uint32_t nb_msgs;
	uint32_t head;              /* next to send */
};

struct ctrl_rx {
	struct data_rx base;
	uint64_t seen;              /* messages reported by ctrl_recv() */
};

static void
on_msg(void *arg, void *conn, const void *data, uint32_t len)
{
	struct data_rx *rx = arg;

	/* Control messages have no immediate data: imm_len 0. */
	data_take(rx, 0, conn == rx->conn ? len : UINT64_MAX, 0, data, data);
}

static int
ctrl_rx_open(struct perf_run *run, struct data_rx *rx)
{
	(void)run;
	rx->link->on_msg = on_msg;
	rx->link->msg_arg = rx;
	return 0;
}

static uint16_t
ctrl_recv(struct data_rx *rx, uint16_t n)
{
	struct ctrl_rx *c = container_of(rx, struct ctrl_rx, base);

	(void)n;
	link_poll(rx->link);
	n = (uint16_t)RTE_MIN(rx->count - c->seen, (uint64_t)UINT16_MAX);
	c->seen += n;
	return n;
}

static void
ctrl_rx_close(struct data_rx *rx)
{
	rx->link->on_msg = NULL;
}

static int
ctrl_tx_open(struct perf_run *run, struct data_tx *tx)
{
	const struct perf_params *p = &run->params;
	uint64_t stride = RTE_ALIGN_CEIL(p->size + 1, UINT64_C(64));
	struct ctrl_tx *c = container_of(tx, struct ctrl_tx, base);
	uint32_t i;

	/* A worker with a receiving half polls there and need not reap to do so. */
	tx->nb_slots = tx->worker->rx != NULL ? UINT32_MAX : 0;
	/* DOCA reads a message until its task completes: one buffer per task. */
	c->nb_msgs = p->api == PERF_API_DOCA ? p->queue + 2 * p->burst : p->burst;
	c->bufs = calloc(c->nb_msgs, stride);
	c->msgs = calloc(c->nb_msgs, sizeof(c->msgs[0]));
	if (c->bufs == NULL || c->msgs == NULL)
		return perf_run_fail(run, "not enough memory for %u messages of %llu bytes",
				c->nb_msgs, (unsigned long long)p->size);
	for (i = 0; i < c->nb_msgs; i++) {
		c->msgs[i].data = c->bufs + i * stride;
		c->msgs[i].len = (uint32_t)p->size;
		c->msgs[i].flags = RTE_COMCH_MSG_F_SILENT;
	}
	return 0;
}

static void
ctrl_prepare(struct data_tx *tx, uint16_t most)
{
	struct ctrl_tx *c = container_of(tx, struct ctrl_tx, base);
	uint32_t n = (uint32_t)RTE_MIN(tx->left, most);
	uint32_t i;

	if (tx->ready > 0)
		return;
	if (c->head + n > c->nb_msgs)
		c->head = 0;
	for (i = c->head; i < c->head + n; i++) {
		uint8_t *data = (uint8_t *)(uintptr_t)c->msgs[i].data;

		data_write(tx, &tx->targets[0], data, data);
	}
	tx->ready = n;
	tx->left -= n;
}

static uint16_t
ctrl_send(struct data_tx *tx, uint16_t n)
{
	struct ctrl_tx *c = container_of(tx, struct ctrl_tx, base);
	uint16_t taken;

	if (tx->ready == 0)
		ctrl_prepare(tx, n);
	if (tx->ready == 0)
		return 0;
	taken = tx->link->ops->send(tx->link, tx->conn, &c->msgs[c->head], (uint16_t)tx->ready);
	c->head += taken;
	tx->ready -= taken;
	tx->sent += taken;
	return taken;
}

/* Silent messages have no completion: an accepted one is done. */
static void
ctrl_reap(struct data_tx *tx)
{
	link_poll(tx->link);
	tx->flushed = tx->left == 0 && tx->ready == 0;
}

static void
ctrl_tx_stats(struct data_tx *tx, struct perf_result *r)
{
	(void)r;
	tx->failed = tx->link->nb_unsent;
}

static void
ctrl_tx_close(struct data_tx *tx)
{
	struct ctrl_tx *c = container_of(tx, struct ctrl_tx, base);

	free(c->msgs);
	free(c->bufs);
}

const struct data_ops data_ops_ctrl = {
	.tx_size = sizeof(struct ctrl_tx),
	.rx_size = sizeof(struct ctrl_rx),
	.rx_open = ctrl_rx_open,
	.recv = ctrl_recv,
	.rx_close = ctrl_rx_close,
	.tx_open = ctrl_tx_open,
	.prepare = ctrl_prepare,
	.send = ctrl_send,
	.reap = ctrl_reap,
	.tx_stats = ctrl_tx_stats,
	.tx_close = ctrl_tx_close,
};
