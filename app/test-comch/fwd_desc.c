/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Streams of descriptors: source, sink, drop, echo and relay. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "stream.h"

int
tc_source_bufs(struct tc_producer *p, uint32_t size)
{
	struct tc_bufs bufs;
	uint32_t i;
	int ret;

	if (p->bufs.nb > 0 && p->bufs.size == size)
		return 0;
	/* Some may still be on their way since an earlier start. */
	if (p->bufs.nb_free < p->bufs.nb)
		return -EBUSY;
	ret = tc_bufs_open(&bufs, p->queue, size, APP_MEMORY_HEAP);
	if (ret != 0)
		return ret;
	tc_bufs_close(&p->bufs);
	p->bufs = bufs;
	for (i = 0; i < bufs.nb; i++)
		p->bufs.slots[i].bufs = &p->bufs;
	return 0;
}

uint16_t
tc_ops_send(struct tc_stream *s)
{
	uint16_t taken, i;
	uint64_t bytes = 0;

	if (s->nb_ops == 0)
		return 0;
	taken = rte_comch_producer_send_burst(s->tx->producer, &s->ops[s->head], s->nb_ops);
	for (i = 0; i < taken; i++)
		bytes += s->ops[s->head + i].len;
	s->head += taken;
	s->nb_ops -= taken;
	tc_count(&s->n.tx_msgs, taken);
	tc_count(&s->n.tx_bytes, bytes);
	if (s->nb_ops > 0)
		tc_count(&s->n.later, 1);
	return taken;
}

void
tc_ops_stop(struct tc_stream *s)
{
	for (; s->nb_ops > 0; s->nb_ops--, s->head++)
		if (s->ops[s->head].cookie != 0)
			tc_slot_put((struct tc_slot *)(uintptr_t)s->ops[s->head].cookie);
	if (s->rx != NULL &&
			rte_comch_consumer_state(s->rx->consumer) == RTE_COMCH_STATE_RUNNING)
		tc_consumer_post(s->rx);
}

/* Fill operations with new messages. */
static void
source_fill(struct tc_stream *s)
{
	struct tc_bufs *bufs = &s->tx->bufs;
	uint16_t n, i;

	n = (uint16_t)RTE_MIN(RTE_MIN((uint64_t)s->burst, s->left), (uint64_t)bufs->nb_free);
	for (i = 0; i < n; i++) {
		struct tc_slot *slot = bufs->free[--bufs->nb_free];

		tc_stamp_write(s, slot->addr, bufs->size);
		s->ops[i] = (struct rte_comch_op){
			.addr = slot->addr,
			.mr = bufs->mem.mr,
			.cookie = (uintptr_t)slot,
			.len = bufs->size,
			.consumer_id = s->target_id,
		};
	}
	s->head = 0;
	s->nb_ops = n;
	s->left -= n;
}

static uint32_t
source_pass(struct tc_stream *s)
{
	uint16_t done = tc_producer_reap(s->tx, s->target_id, &s->n.errors, &s->last_error);

	if (s->nb_ops == 0)
		source_fill(s);
	if (s->nb_ops == 0 && s->left == 0 && s->tx->bufs.nb_free == s->tx->bufs.nb)
		tc_stream_done(s);
	return tc_ops_send(s) + done;
}

/* Count what a completion says. @return whether it is a message */
static bool
received(struct tc_stream *s, const struct rte_comch_cpl *cpl)
{
	if (likely(cpl->status == 0)) {
		tc_count(&s->n.rx_msgs, 1);
		tc_count(&s->n.rx_bytes, cpl->len);
		return true;
	}
	/* Buffers of a consumer that ends come back empty. */
	if (cpl->status != -ECANCELED) {
		tc_count(&s->n.errors, 1);
		s->last_error = cpl->status;
	}
	return false;
}

static inline uint32_t
receive_pass(struct tc_stream *s, bool check)
{
	uint16_t max = (uint16_t)RTE_MIN((uint64_t)s->burst, s->left), n, i;
	struct rte_comch_cpl *cpls = s->cpls;
	bool ended = false;

	n = rte_comch_consumer_recv_burst(s->rx->consumer, cpls, max);
	for (i = 0; i < n; i++) {
		struct tc_slot *slot = (struct tc_slot *)(uintptr_t)cpls[i].cookie;

		if (!received(s, &cpls[i]))
			ended = true;
		else if (check)
			tc_stamp_check(s, slot->addr, cpls[i].len);
		tc_slot_put(slot);
	}
	if (n > 0 && !ended)
		tc_consumer_post(s->rx);
	s->left -= n;
	if (s->left == 0)
		tc_stream_done(s);
	return n;
}

static uint32_t
sink_pass(struct tc_stream *s)
{
	return receive_pass(s, true);
}

static uint32_t
drop_pass(struct tc_stream *s)
{
	return receive_pass(s, false);
}

/* Turn received messages into operations that send them on, out of the same buffers. */
static uint16_t
forward_fill(struct tc_stream *s)
{
	uint16_t max = (uint16_t)RTE_MIN((uint64_t)s->burst, s->left), n, i;
	struct tc_bufs *bufs = &s->rx->bufs;

	n = rte_comch_consumer_recv_burst(s->rx->consumer, s->cpls, max);
	s->head = 0;
	for (i = 0; i < n; i++) {
		const struct rte_comch_cpl *cpl = &s->cpls[i];
		struct tc_slot *slot = (struct tc_slot *)(uintptr_t)cpl->cookie;

		if (!received(s, cpl)) {
			tc_slot_put(slot);
			continue;
		}
		s->ops[s->nb_ops++] = (struct rte_comch_op){
			.addr = slot->addr,
			.mr = cpl->len > 0 ? bufs->mem.mr : NULL,
			.cookie = (uintptr_t)slot,
			.len = cpl->len,
			.consumer_id = s->target_id,
			.imm = cpl->imm_len > 0 ? cpl->imm : NULL,
			.imm_len = cpl->imm_len,
		};
	}
	s->left -= s->nb_ops;
	return n;
}

static uint32_t
forward_pass(struct tc_stream *s)
{
	uint16_t done = tc_producer_reap(s->tx, s->target_id, &s->n.errors, &s->last_error);
	uint16_t n = 0;

	if (done > 0 && rte_comch_consumer_state(s->rx->consumer) == RTE_COMCH_STATE_RUNNING)
		tc_consumer_post(s->rx);
	if (s->nb_ops == 0)
		n = forward_fill(s);
	if (s->nb_ops == 0 && s->left == 0)
		tc_stream_done(s);
	return tc_ops_send(s) + n + done;
}

const struct tc_engine tc_engine_source = { source_pass, tc_ops_stop };
const struct tc_engine tc_engine_sink = { sink_pass, tc_ops_stop };
const struct tc_engine tc_engine_drop = { drop_pass, tc_ops_stop };
const struct tc_engine tc_engine_pass = { forward_pass, tc_ops_stop };
