/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PACKET_H
#define PACKET_H

/*
 * The packets of traffic.c: an Ethernet frame with a number, a flow and a pattern. The other
 * side sends them back with the addresses swapped, and keeps the order within each flow.
 */

#include <rte_ether.h>
#include <rte_mbuf.h>

/* For local experiments (IEEE 802). */
#define PACKET_TYPE 0x88b5

struct packet {
	struct rte_ether_hdr eth;
	uint16_t flow;
	uint64_t number;
	uint8_t pattern[];
};

/* Swap the addresses. Peers may send anything, so check the length first. */
static inline bool
packet_swap(struct rte_mbuf *m)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ether_addr addr;

	if (rte_pktmbuf_data_len(m) < sizeof(*eth))
		return false;
	addr = eth->dst_addr;
	eth->dst_addr = eth->src_addr;
	eth->src_addr = addr;
	return true;
}

/* The flow of a packet; 0 for others. */
static inline uint16_t
packet_flow(const struct rte_mbuf *m)
{
	const struct packet *p = rte_pktmbuf_mtod(m, const struct packet *);

	return rte_pktmbuf_data_len(m) < sizeof(*p) ? 0 : p->flow;
}

#endif /* PACKET_H */
