/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CHAN_GROUP_H
#define COMCH_CHAN_GROUP_H

/*
 * Sends of simple messages, which bursts are mostly made of: each is in one piece, without
 * immediate data or flags, and goes to a buffer that is mapped. The steps that all sends have are
 * in comch_chan_prod.c; here they have no branches for what is not simple.
 *
 * A source of messages gives a plan, which is a constant, so that the compiler generates one
 * function.
 */

#include <errno.h>
#include <stdint.h>

#include "comch_chan.h"

/* What a group sends, and where to. */
struct comch_group {
	const void *src[COMCH_SEND_GROUP];
	uint8_t *dst[COMCH_SEND_GROUP];
	uint32_t len[COMCH_SEND_GROUP];
	uint64_t bytes;
	int status; /* of all: 0, or -ENOENT if the consumer closed before the claim */
};

/*
 * Check up to n messages of a source, and put each into the group with comch_group_add(), up to the
 * first that is not simple. posted: number of buffers posted from pos on. Returns the number of
 * messages in the group.
 */
typedef uint32_t (*comch_group_plan_t)(struct comch_chan_prod *p,
		const struct comch_chan_remote *rc, uint64_t pos, uint32_t posted,
		const void *source, uint32_t n, struct comch_group *g);

/*
 * Add message i, of which the source is checked. False: it is longer than its buffer, or that is
 * not mapped.
 */
static __rte_always_inline bool
comch_group_add(struct comch_chan_prod *p, const struct comch_chan_remote *rc, uint64_t pos,
		uint32_t posted, struct comch_import_cache *cache, struct comch_group *g,
		uint32_t i, const void *src, uint32_t len)
{
	const struct comch_desc *desc = comch_send_desc(&p->tx.ahead, &rc->to, pos + i,
		posted - i);

	if (unlikely(comch_send_check_desc(&rc->to, desc, len, cache, &g->dst[i]) != 0))
		return false;
	g->src[i] = src;
	g->len[i] = len;
	g->bytes += len;
	return true;
}

/* Publish n positions with as few records as possible. */
static __rte_always_inline void
comch_group_commit(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct comch_group *g, uint32_t n)
{
	struct comch_rec *rec;
	uint32_t i, k, nb;

	for (i = 0; i < n; i += nb) {
		nb = RTE_MIN(n - i, (uint32_t)COMCH_REC_BATCH);
		rec = comch_rec_begin(p, rc, pos + i, (uint8_t)nb, COMCH_REC_DIRECT);
		/* One by one: gcc makes rep movsq of plain stores, which takes longer. */
		for (k = 0; k < nb; k++)
			comch_store_relaxed(&rec->len[k], g->len[i + k]);
		comch_store_release(&rec->seq, pos + i + 1); /* R: ring.pml, commit */
	}
}

/* Copy the payloads, publish them, and count them. */
static __rte_always_inline void
comch_group_put(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct comch_group *g, uint32_t n)
{
	const uint32_t last_len = g->len[n - 1];
	uint32_t i;

	/* Not before the claim: another producer may have won it, and write there now. */
	for (i = 0; i < n && n > 1; i++)
		comch_prefetch_write(g->dst[i]);
	for (i = 0; i < n && n > 1; i += COMCH_REC_BATCH)
		comch_chan_fetch_rec(rc, pos + i);
	for (i = 0; i < n; i++)
		comch_chan_copy(g->dst[i], g->src[i], g->len[i]);
	comch_group_commit(p, rc, pos, g, n);
	comch_chan_wake(p, rc);
	comch_count(&p->tx.stats.msgs, n);
	comch_count(&p->tx.stats.bytes, g->bytes);
	comch_count(&p->tx.stats.copies, n);
	if (n == 1)
		comch_chan_fetch_next(p, rc, pos, last_len);
	else
		comch_chan_fetch_burst(p, rc, pos + n, last_len, n);
	comch_chan_fetch_desc(p, rc, pos + n);
}

/*
 * Send up to n messages, at most COMCH_SEND_GROUP, and say in g what became of them. Returns their
 * number; 0: nothing is posted; -ENOTSUP: the first one is not simple, or has a fault.
 */
static __rte_always_inline int
comch_group_send(struct comch_chan_prod *p, struct comch_chan_remote *rc, comch_group_plan_t plan,
		const void *source, uint32_t n, struct comch_group *g)
{
	int64_t posted;
	uint64_t pos;
	uint32_t k;

	do {
		pos = comch_load_relaxed(&rc->rec->claim);
		posted = comch_send_posted(&rc->to, pos, n);
		if (unlikely(posted <= 0))
			return posted == 0 ? 0 : -ENOTSUP;
		comch_send_begin_ahead(&p->tx.ahead, &rc->to);
		g->bytes = 0;
		k = plan(p, rc, pos, (uint32_t)posted, source,
			(uint32_t)RTE_MIN((int64_t)n, posted), g);
		if (unlikely(k == 0))
			return -ENOTSUP;
	} while (unlikely(!comch_chan_claim(rc, pos, k)));

	g->status = 0;
	if (likely(peer_load_relaxed_u32(&rc->to.post_shared->closed) == 0)) { /* C */
		comch_group_put(p, rc, pos, g, k);
	} else {
		comch_chan_abort_positions(p, rc, pos, k);
		comch_count(&p->tx.stats.errors, k);
		g->status = -ENOENT;
	}
	return (int)k;
}

#endif /* COMCH_CHAN_GROUP_H */
