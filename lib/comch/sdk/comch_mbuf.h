/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MBUF_H
#define COMCH_MBUF_H

/*
 * Steps of bursts of mbufs, for the core and for drivers.
 *
 * Mbufs that are posted are as their pool holds them, but for data_off: rte_mbuf_raw_alloc() says
 * what that is. The rest of what rte_pktmbuf_reset() sets is set once a message is there, as PMDs
 * do: the lines of a posted mbuf are written when it is at hand, not twice.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

/* A message of len bytes is in an mbuf that was posted. */
static __rte_always_inline void
comch_mbuf_received(struct rte_mbuf *m, uint32_t len)
{
	m->port = RTE_MBUF_PORT_INVALID;
	m->ol_flags &= RTE_MBUF_F_EXTERNAL;
	m->packet_type = 0;
	m->pkt_len = len;
	m->data_len = (uint16_t)len;
	m->vlan_tci = 0;
}

/* Would rte_pktmbuf_free() only put it back into this pool? is_pinned: its data are external. */
static __rte_always_inline bool
comch_mbuf_is_plain(const struct rte_mbuf *m, const struct rte_mempool *mp, bool is_pinned)
{
	if (m->pool != mp || m->nb_segs != 1 || m->next != NULL || rte_mbuf_refcnt_read(m) != 1)
		return false;
	if (is_pinned)
		return RTE_MBUF_HAS_EXTBUF(m) && rte_mbuf_ext_refcnt_read(m->shinfo) == 1;
	return RTE_MBUF_DIRECT(m);
}

/* As rte_pktmbuf_free_bulk(), in a third of the steps for what bursts are mostly made of. */
static inline void
comch_mbuf_free_bulk(struct rte_mbuf **mbufs, uint16_t n)
{
	struct rte_mempool *mp;
	uint16_t i = 0, k;
	bool is_pinned;

	while (i < n) {
		mp = mbufs[i]->pool;
		is_pinned = (rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) != 0;
		for (k = i; k < n && likely(comch_mbuf_is_plain(mbufs[k], mp, is_pinned)); k++)
			;
		if (likely(k > i))
			rte_mempool_put_bulk(mp, (void **)&mbufs[i], k - i);
		else
			rte_pktmbuf_free(mbufs[k++]);
		i = k;
	}
}

#endif /* COMCH_MBUF_H */
