/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_mbuf.h>

#include "deaths.h"

const struct t_driver deaths_driver = {
	.name = "comch_shm", .has_dir = true, .has_kernel_peer = true,
};

struct rte_mempool *
deaths_pool(void)
{
	struct rte_mempool *pool;

	pool = rte_comch_pktmbuf_pool_create("deaths", DEATHS_NB_MBUFS, 0, 0,
		RTE_PKTMBUF_HEADROOM + DEATHS_MBUF_LEN, SOCKET_ID_ANY);
	T_CHECK(pool != NULL);
	return pool;
}

void
deaths_mbufs_recv(struct deaths_mbufs *m)
{
	struct rte_mbuf *mbuf;

	while (rte_comch_rx_burst(m->cons, &mbuf, 1) == 1) {
		T_EQ(rte_pktmbuf_pkt_len(mbuf), DEATHS_MBUF_LEN);
		T_VERIFY(rte_pktmbuf_mtod(mbuf, void *), DEATHS_MBUF_LEN, m->got);
		m->got++;
		rte_pktmbuf_free(mbuf);
	}
}

void
deaths_mbufs_send(struct deaths_mbufs *m, struct rte_mempool *pool, uint64_t end)
{
	struct rte_mbuf *mbuf;

	while (m->sent < end) {
		mbuf = rte_pktmbuf_alloc(pool);
		if (mbuf == NULL)
			return;
		t_fill(rte_pktmbuf_append(mbuf, DEATHS_MBUF_LEN), DEATHS_MBUF_LEN, m->sent);
		if (rte_comch_tx_burst(m->prod, m->id, &mbuf, 1) == 0) {
			rte_pktmbuf_free(mbuf);
			return;
		}
		m->sent++;
	}
}
