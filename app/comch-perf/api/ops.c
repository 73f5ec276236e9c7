/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The ring of prefilled operations of a producer. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/ops.h"

/* Size of the ring: whole bursts. Large messages get one burst, as the floor copies
 * from one source.
 */
static uint32_t
source_slots(const struct perf_params *p)
{
	uint64_t nb = DATA_SOURCE_BYTES / RTE_MAX(data_stride(p), UINT64_C(64));

	nb = RTE_MAX(nb, (uint64_t)p->burst);
	nb = RTE_MIN(nb, RTE_MAX(p->queue, p->burst));
	return (uint32_t)(nb - nb % p->burst);
}

int
ops_open(struct perf_run *run, struct data_tx *tx, struct ops_ring *ring)
{
	const struct perf_params *p = &run->params;
	uint32_t nb = source_slots(p);
	uint64_t stride = data_stride(p);
	uint32_t every;
	uint32_t i;
	int rc;

	tx->nb_slots = nb;
	ring->ops = calloc(nb, sizeof(ring->ops[0]));
	ring->imms = calloc(nb, RTE_COMCH_IMM_SIZE);
	rc = ring->ops == NULL || ring->imms == NULL ? -ENOMEM :
		p->size > 0 ? app_mem_open(&ring->mem, nb * stride, APP_MEMORY_HEAP) : 0;
	if (rc != 0)
		return perf_run_fail(run, "create %u send buffers of %llu bytes: %s",
				nb, (unsigned long long)stride, strerror(-rc));
	every = RTE_MAX(nb / OPS_SIGNALS, 1u);
	for (i = 0; i < nb; i++) {
		struct rte_comch_op *op = &ring->ops[i];

		op->cookie = i;
		op->len = (uint32_t)p->size;
		op->addr = p->size > 0 ? (uint8_t *)ring->mem.addr + i * stride : NULL;
		op->mr = ring->mem.mr;
		op->imm = p->imm > 0 ? ring->imms + i * RTE_COMCH_IMM_SIZE : NULL;
		op->imm_len = (uint16_t)p->imm;
		op->consumer_id = tx->targets[0].id;
		op->flags = (i + 1) % every == 0 ? 0 : RTE_COMCH_OP_F_SILENT;
	}
	return 0;
}

void
ops_close(struct ops_ring *ring)
{
	app_mem_close(&ring->mem);
	free(ring->imms);
	free(ring->ops);
}

void
ops_prepare(struct data_tx *tx, struct ops_ring *o, uint16_t most)
{
	uint64_t stride = data_stride(tx->params);
	struct data_target *to;
	uint32_t n = most;
	uint32_t i;

	if (tx->ready > 0)
		return;
	n = RTE_MIN(n, tx->nb_slots - o->head);
	n = RTE_MIN(n, tx->nb_slots - tx->in_flight);
	if (n == 0 || tx->left == 0)
		return;
	/* Send the last message alone and signalled: its completion ends the stream. */
	if (tx->left == 1)
		o->ops[o->head].flags = 0;
	if (tx->left <= n)
		n = tx->left == 1 ? 1 : (uint32_t)tx->left - 1;
	to = data_next_target(tx);
	for (i = o->head; i < o->head + n; i++) {
		o->ops[i].consumer_id = to->id;
		data_write(tx, to, o->mem.addr == NULL ? NULL :
				(uint8_t *)o->mem.addr + i * stride,
				o->imms + i * RTE_COMCH_IMM_SIZE);
	}
	tx->ready = n;
	tx->left -= n;
}

void
ops_done(struct data_tx *tx, struct ops_ring *ring, const struct rte_comch_cpl *cpls, uint16_t n)
{
	uint32_t nb = tx->nb_slots;
	uint16_t i;

	for (i = 0; i < n; i++) {
		/* Completions are in order: earlier operations are done too. */
		uint32_t slot = (uint32_t)cpls[i].cookie % nb;
		uint32_t done = (slot + nb - ring->tail) % nb + 1;

		tx->failed += cpls[i].status != 0;
		ring->tail = slot + 1 == nb ? 0 : slot + 1;
		tx->in_flight -= RTE_MIN(done, tx->in_flight);
	}
	tx->flushed = tx->left == 0 && tx->ready == 0 && tx->in_flight == 0;
}
