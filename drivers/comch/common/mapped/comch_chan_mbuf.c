/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Sends of mbufs, which are those of comch_chan_prod.c without operations in between: for mbufs of
 * one segment, with data in the memory of the first one's pool, to buffers that are mapped. At
 * others, and at errors, a burst ends, and the core goes on with operations.
 */

#include <errno.h>

#include <rte_mbuf.h>

#include "rte_comch_mbuf.h"
#include "comch_chan.h"

/* What a group sends, and where to. */
struct group {
	const void *src[COMCH_SEND_GROUP];
	uint8_t *dst[COMCH_SEND_GROUP];
	uint32_t len[COMCH_SEND_GROUP];
	uint64_t bytes;
};

static __rte_always_inline bool
is_simple(const struct rte_mbuf *m, const struct rte_comch_mr *mr)
{
	return m->nb_segs == 1 && m->data_len > 0 &&
		(m->ol_flags & RTE_COMCH_MBUF_TX_OFFLOADS) == 0 &&
		comch_mem_within(mr, rte_pktmbuf_mtod(m, const void *), m->data_len);
}

/* Assign up to n mbufs to the buffers from pos on. Returns their number. */
static __rte_always_inline uint32_t
plan(struct comch_chan_prod *p, const struct comch_chan_remote *rc, uint64_t pos,
		uint32_t posted, const struct rte_comch_mr *mr, struct rte_mbuf **mbufs,
		uint32_t n, struct group *g)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	const struct comch_desc *desc;
	const struct rte_mbuf *m;
	uint64_t bytes = 0;
	uint32_t i;

	comch_send_begin_ahead(&p->tx.ahead, &rc->to);
	for (i = 0; i < n; i++) {
		m = mbufs[i];
		if (unlikely(!is_simple(m, mr)))
			break;
		desc = comch_send_desc(&p->tx.ahead, &rc->to, pos + i, posted - i);
		if (unlikely(comch_send_check_desc(&rc->to, desc, m->data_len, &cache,
				&g->dst[i]) != 0))
			break;
		g->src[i] = rte_pktmbuf_mtod(m, const void *);
		/* A program that forwards has not read it. */
		rte_prefetch0(g->src[i]);
		g->len[i] = m->data_len;
		bytes += m->data_len;
	}
	g->bytes = bytes;
	return i;
}

/* Publish n positions with as few records as possible. */
static __rte_always_inline void
commit(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos,
		const struct group *g, uint32_t n)
{
	struct comch_rec *rec;
	uint32_t i, k, nb;

	for (i = 0; i < n; i += nb) {
		nb = RTE_MIN(n - i, (uint32_t)COMCH_REC_BATCH);
		rec = comch_rec_begin(p, rc, pos + i, (uint8_t)nb, COMCH_REC_DIRECT);
		for (k = 0; k < nb; k++)
			rec->len[k] = g->len[i + k];
		comch_store_release(&rec->seq, pos + i + 1); /* R: ring.pml, commit */
	}
}

/* Copy the payloads, publish them, and count them. */
static __rte_always_inline void
put(struct comch_chan_prod *p, struct comch_chan_remote *rc, uint64_t pos, const struct group *g,
		uint32_t n)
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
	commit(p, rc, pos, g, n);
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
 * Send up to COMCH_SEND_GROUP mbufs. Returns their number; 0: nothing is posted; -ENOTSUP: not the
 * first one.
 */
static __rte_always_inline int
send_group(struct comch_chan_prod *p, struct comch_chan_remote *rc, const struct rte_comch_mr *mr,
		struct rte_mbuf **mbufs, uint32_t n)
{
	struct group g;
	int64_t posted;
	uint64_t pos;
	uint32_t k;

	do {
		pos = comch_load_relaxed(&rc->rec->claim);
		posted = comch_send_posted(&rc->to, pos, n);
		/* What can never be sent does not wait for a buffer. */
		if (unlikely(posted <= 0))
			return posted == 0 && is_simple(mbufs[0], mr) ? 0 : -ENOTSUP;
		k = plan(p, rc, pos, (uint32_t)posted, mr, mbufs,
			(uint32_t)RTE_MIN((int64_t)n, posted), &g);
		if (unlikely(k == 0))
			return -ENOTSUP;
	} while (unlikely(!comch_chan_claim(rc, pos, k)));

	if (likely(peer_load_relaxed_u32(&rc->to.post_shared->closed) == 0)) { /* C */
		put(p, rc, pos, &g, k);
	} else {
		comch_chan_abort_positions(p, rc, pos, k);
		comch_count(&p->tx.stats.errors, k);
	}
	return (int)k;
}

static __rte_always_inline int
send_all(struct comch_chan_prod *p, struct comch_chan_remote *rc, const struct rte_comch_mr *mr,
		struct rte_mbuf **mbufs, uint16_t n, uint16_t *done)
{
	uint16_t i = 0;
	int k;

	do {
		k = send_group(p, rc, mr, &mbufs[i],
			RTE_MIN((uint32_t)(n - i), (uint32_t)COMCH_SEND_GROUP));
		i += (uint16_t)RTE_MAX(k, 0);
	} while (k > 0 && i < n);
	*done = i;
	return RTE_MIN(k, 0);
}

int
comch_chan_send_mbufs(struct comch_chan_prod *p, uint32_t consumer_id,
		const struct rte_comch_mr *mr, struct rte_mbuf **mbufs, uint16_t n, uint16_t *done)
{
	struct comch_send_remote *to;
	int ret = -ENOTSUP;

	p->tx.short_id = 0;
	p->short_space = 0;
	/* Acquire: as in comch_send_burst(). Model: publish.pml, find. */
	if (unlikely(mr == NULL || comch_load_acquire(&p->tx.halt) != RTE_COMCH_HALT_NONE ||
			comch_chan_is_streaming(&p->tx)))
		return ret;
	comch_epoch_enter(&p->tx.epoch);
	to = comch_send_find(&p->tx, consumer_id, &p->tx.last_slot);
	if (likely(to != NULL))
		ret = send_all(p, container_of(to, struct comch_chan_remote, to), mr, mbufs, n,
			done);
	comch_epoch_leave(&p->tx.epoch);
	if (ret == 0 && unlikely(*done < n)) {
		p->tx.short_id = consumer_id;
		comch_count(&p->tx.stats.later, 1);
	}
	return ret;
}
