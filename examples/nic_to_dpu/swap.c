/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The DPU's side: sends each packet back with its addresses swapped. It forwards the mbuf
 * that it has received, without a copy of its own.
 */

#include "../mbuf_common/packet.h"
#include "swap.h"

static struct rte_mbuf *mbufs[ENDS_BURST]; /* received, not sent yet */
static uint16_t nb_mbufs;
static uint64_t nb_received, nb_sent;

static int
build(void)
{
	return 0;
}

static uint64_t
work(const struct ends *e)
{
	const uint64_t before = nb_received + nb_sent;
	uint16_t i, n;

	if (nb_mbufs == 0) {
		nb_mbufs = rte_comch_rx_burst(e->consumer, mbufs, RTE_DIM(mbufs));
		nb_received += nb_mbufs;
		for (i = 0; i < nb_mbufs; i++)
			packet_swap(mbufs[i]);
	}
	/* A short count means that the peer has posted no more. Send the rest later. */
	n = rte_comch_tx_burst(e->producer, e->consumer_id, mbufs, nb_mbufs);
	nb_sent += n;
	nb_mbufs -= n;
	memmove(mbufs, &mbufs[n], nb_mbufs * sizeof(mbufs[0]));
	return nb_received + nb_sent - before;
}

static void
unbind(void)
{
	rte_pktmbuf_free_bulk(mbufs, nb_mbufs);
	nb_mbufs = 0;
}

static void
destroy(void)
{
	printf("%" PRIu64 " packets received, %" PRIu64 " sent back\n", nb_received, nb_sent);
}

const struct serve_ops swap_ops = {
	.build = build, .work = work, .unbind = unbind, .destroy = destroy,
};
