/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Bounce buffers: posting them, and copying packets from them to mbufs. */

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include <rte_comch_mem.h>

#include "comch_bounce.h"

/*
 * Distance of buffers: an odd number of cache lines, so that packets of a few lines use all
 * sets of a cache.
 */
static uint32_t
stride_of(uint16_t room)
{
	const uint32_t lines = (room + RTE_CACHE_LINE_SIZE - 1u) / RTE_CACHE_LINE_SIZE;

	return (lines | 1) * RTE_CACHE_LINE_SIZE;
}

int
comch_bounce_create(struct comch_bounce *b, uint32_t nb, uint16_t room)
{
	const size_t len = (size_t)nb * stride_of(room);
	uint8_t *mem;
	int ret;

	mem = rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	if (mem == NULL)
		return -rte_errno;
	b->mr = rte_comch_mem_register(mem, len, 0);
	if (b->mr == NULL) {
		ret = -rte_errno;
		rte_comch_mem_free(mem);
		return ret;
	}
	b->mem = mem;
	b->nb = nb;
	b->room = room;
	b->group = (uint16_t)RTE_MIN(RTE_MAX(nb / 4, 1u), (uint32_t)COMCH_BOUNCE_BURST);
	return 0;
}

int
comch_bounce_free(struct comch_bounce *b)
{
	if (b->mem == NULL)
		return 0;
	if (rte_comch_mem_unregister(b->mr) != 0)
		return -EBUSY;
	rte_comch_mem_free(b->mem);
	b->mem = NULL;
	b->nb_spare = 0;
	return 0;
}

/* The buffer may be posted. In groups: single posts would cost the peer a cache line each. */
static inline void
give_back(struct comch_bounce *b, struct rte_comch_consumer *cons, uint64_t cookie)
{
	struct rte_comch_buf *buf = &b->spare[b->nb_spare++];

	buf->addr = (void *)(uintptr_t)cookie;
	buf->mr = b->mr;
	buf->cookie = cookie;
	buf->len = b->room;
	buf->reserved = 0;
	if (b->nb_spare < b->group)
		return;
	rte_comch_consumer_post_burst(cons, b->spare, b->nb_spare);
	b->nb_spare = 0;
}

void
comch_bounce_post(struct comch_bounce *b, struct rte_comch_consumer *cons)
{
	const uint32_t stride = stride_of(b->room);
	uint32_t i;

	for (i = 0; i < b->nb; i++)
		give_back(b, cons, (uint64_t)(uintptr_t)(b->mem + (size_t)i * stride));
}

/*
 * Keep the completions of packets, at the front. The others are of buffers that come back
 * empty, from a consumer that ends or by a message that its sender gave up: not posted again.
 */
static uint16_t
keep_packets(struct comch_bounce *b, uint16_t n)
{
	const struct rte_comch_cpl *cpl;
	uint16_t i, k = 0;

	for (i = 0; i < n; i++) {
		cpl = &b->held[i];
		if (unlikely(cpl->status != 0))
			continue;
		rte_prefetch0((const void *)(uintptr_t)cpl->cookie);
		if (unlikely(k < i))
			b->held[k] = *cpl;
		k++;
	}
	return k;
}

uint16_t
comch_bounce_fetch(struct comch_bounce *b, struct rte_comch_consumer *cons, uint16_t n)
{
	uint16_t got;

	n = RTE_MIN(n, (uint16_t)COMCH_BOUNCE_BURST);
	while (b->nb_held == 0 && n > 0) {
		got = rte_comch_consumer_recv_burst(cons, b->held, n);
		b->nb_held = keep_packets(b, got);
		b->next_held = 0;
		if (got < n)
			break;
	}
	return RTE_MIN(n, b->nb_held);
}

bool
comch_bounce_copy(struct comch_bounce *b, struct rte_comch_consumer *cons,
		struct rte_mempool *mp, struct rte_mbuf **pkts, uint16_t n)
{
	const struct rte_comch_cpl *cpl = &b->held[b->next_held];
	uint16_t i;

	if (unlikely(rte_pktmbuf_alloc_bulk(mp, pkts, n) != 0))
		return false;
	for (i = 0; i < n; i++, cpl++) {
		pkts[i]->data_len = (uint16_t)cpl->len;
		pkts[i]->pkt_len = cpl->len;
		rte_memcpy(rte_pktmbuf_mtod(pkts[i], void *),
				(const void *)(uintptr_t)cpl->cookie, cpl->len);
		give_back(b, cons, cpl->cookie);
	}
	b->next_held += n;
	b->nb_held -= n;
	return true;
}

uint16_t
comch_bounce_drop(struct comch_bounce *b)
{
	const struct rte_comch_cpl *cpl = &b->held[b->next_held];
	uint16_t i, k = 0;

	for (i = 0; i < b->nb_held; i++)
		k += cpl[i].len < b->room;
	b->nb_held = 0;
	return k;
}
