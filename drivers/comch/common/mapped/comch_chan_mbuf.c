/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Sends of mbufs without operations in between: of those that are simple messages
 * (comch_chan_group.h), with data in the memory of the first one's pool. At others, and at errors,
 * a burst ends, and the core goes on with operations.
 */

#include <errno.h>

#include <rte_mbuf.h>

#include "rte_comch_mbuf.h"
#include "comch_chan_group.h"

struct source {
	struct rte_mbuf **mbufs;
	const struct rte_comch_mr *mr; /* of all */
};

static __rte_always_inline bool
is_simple(const struct rte_mbuf *m, const struct rte_comch_mr *mr)
{
	return m->nb_segs == 1 && m->data_len > 0 &&
		(m->ol_flags & RTE_COMCH_MBUF_TX_OFFLOADS) == 0 &&
		comch_mem_within(mr, rte_pktmbuf_mtod(m, const void *), m->data_len);
}

static __rte_always_inline uint32_t
plan(struct comch_chan_prod *p, const struct comch_chan_remote *rc, uint64_t pos,
		uint32_t posted, const void *source, uint32_t n, struct comch_group *g)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	const struct source *from = source;
	const struct rte_mbuf *m;
	uint32_t i;

	for (i = 0; i < n; i++) {
		m = from->mbufs[i];
		if (unlikely(!is_simple(m, from->mr) || !comch_group_add(p, rc, pos, posted,
				&cache, g, i, rte_pktmbuf_mtod(m, const void *), m->data_len)))
			break;
		/* A program that forwards has not read it. */
		rte_prefetch0(g->src[i]);
	}
	return i;
}

static __rte_always_inline int
send_all(struct comch_chan_prod *p, struct comch_chan_remote *rc, const struct rte_comch_mr *mr,
		struct rte_mbuf **mbufs, uint16_t n, uint16_t *done)
{
	struct comch_group g;
	uint16_t i = 0;
	int k;

	do {
		const struct source from = { .mbufs = &mbufs[i], .mr = mr };

		k = comch_group_send(p, rc, plan, &from,
			RTE_MIN((uint32_t)(n - i), (uint32_t)COMCH_SEND_GROUP), &g);
		/* What can never be sent does not wait for a buffer. */
		if (k == 0 && !is_simple(mbufs[i], mr))
			k = -ENOTSUP;
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
