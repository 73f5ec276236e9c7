/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* net_comch and the mempools of its queues, and of the packets that it sends. */

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <rte_comch.h>
#include <rte_comch_mem.h>

#include "t_main.h"
#include "u_net.h"

static void
begin_jumbo_later(struct net_ports *p)
{
	net_open(p, 2, 9000, RTE_ETH_RX_OFFLOAD_SCATTER);
}

static void
begin_jumbo(struct net_ports *p)
{
	begin_jumbo_later(p);
	net_start(p);
}

/*
 * Receive queues whose pools have different rooms: the peer sends messages of the smallest, to
 * the queue with longer buffers as well.
 */
T_CASE_OF(struct net_ports, begin_jumbo, net_end, rooms_differ, p)
{
	static const uint32_t lens[] = {
		NET_MIN_FRAME, NET_ROOM - 1, NET_ROOM, NET_ROOM + 1, 2 * NET_ROOM,
		2 * NET_ROOM + 1, 9000,
	};
	struct rte_mempool *wide = net_pool_of("wide", NET_MBUFS, 2 * NET_ROOM);
	struct rte_eth_rxq_info info;
	uint32_t i;

	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_rx_queue_setup(p->dpu.id, 1, NET_DESC, SOCKET_ID_ANY, NULL, wide), 0);
	T_AWAIT(!net_is_up(&p->host));
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
	for (i = 0; i < 4 * RTE_DIM(lens); i++) {
		net_send(&p->host, i % 2, net_frame(p->host.mp, lens[i / 4], (uint8_t)i));
		net_check_frame(&p->dpu, net_receive(&p->dpu, i % 2), lens[i / 4], (uint8_t)i);
	}
	T_EQ(rte_eth_rx_queue_info_get(p->dpu.id, 1, &info), 0);
	T_EQ(info.rx_buf_size, NET_ROOM);
	/* All queues have longer buffers now: the limit was not that of the queues for ever. */
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_rx_queue_setup(p->dpu.id, 0, NET_DESC, SOCKET_ID_ANY, NULL, wide), 0);
	T_AWAIT(!net_is_up(&p->host));
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
	T_EQ(rte_eth_rx_queue_info_get(p->dpu.id, 1, &info), 0);
	T_EQ(info.rx_buf_size, 2 * NET_ROOM);
	net_send(&p->host, 1, net_frame(p->host.mp, 2 * NET_ROOM, 1));
	net_check_frame(&p->dpu, net_receive(&p->dpu, 1), 2 * NET_ROOM, 1);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_AWAIT(!net_is_up(&p->host));
	/* Before the pool is freed. */
	net_set_up(&p->dpu, 9000, RTE_ETH_RX_OFFLOAD_SCATTER);
	rte_mempool_free(wide);
}

/* Pools of one mbuf: all that can be registered, and one more. */
struct crowd {
	struct rte_mempool *pools[300];
	uint32_t n;
};

static void
crowd_in(struct crowd *c)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	for (c->n = 0; c->n < RTE_DIM(c->pools); c->n++) {
		snprintf(name, sizeof(name), "pool%u", c->n);
		c->pools[c->n] = net_pool(name, 1);
		if (rte_comch_mempool_register(c->pools[c->n], 0) == NULL)
			break;
	}
	T_LT(c->n, RTE_DIM(c->pools));
	T_EQ(rte_errno, ENOSPC);
	T_EQ(rte_comch_mempool_unregister(c->pools[c->n]), -ENOENT);
}

/* All but the first some, which are not registered any more. */
static void
crowd_out(const struct crowd *c, uint32_t first)
{
	uint32_t i;

	for (i = first; i < c->n; i++)
		T_EQ(rte_comch_mempool_unregister(c->pools[i]), 0);
	for (i = 0; i <= c->n; i++)
		rte_mempool_free(c->pools[i]);
}

static void
pass(struct net_ports *p, struct rte_mempool *mp)
{
	net_send(&p->host, 0, net_frame(mp, NET_MIN_FRAME, 3));
	net_check_frame(&p->dpu, net_receive(&p->dpu, 0), NET_MIN_FRAME, 3);
	T_AWAIT(rte_eth_tx_done_cleanup(p->host.id, 0, 0) >= 0 && rte_mempool_full(mp));
}

/* What the port's pool table and the library's can hold is used up. */
T_CASE_OF(struct net_ports, net_begin, net_end, too_many_pools, p)
{
	struct rte_mempool *other;
	struct rte_mbuf *m;
	struct crowd c;
	uint32_t i;

	crowd_in(&c);
	other = c.pools[c.n];
	/* Accepted, dropped and counted, whichever packet of the pool it is. */
	for (i = 0; i < 2; i++) {
		m = net_frame(other, NET_MIN_FRAME, 0);
		net_send(&p->host, 0, m);
		T_EQ(net_xstat(&p->host, "tx_q0_no_pool_packets"), i + 1);
		T_CHECK(rte_mempool_full(other));
	}
	/* One goes, and there is room again. */
	T_EQ(rte_comch_mempool_unregister(c.pools[0]), 0);
	rte_mempool_free(c.pools[0]);
	pass(p, other);
	T_EQ(net_xstat(&p->host, "tx_q0_no_pool_packets"), 2);
	/* The application makes room, and registers it. */
	c.pools[0] = net_pool("late", 1);
	net_send(&p->host, 0, net_frame(c.pools[0], NET_MIN_FRAME, 0));
	T_EQ(net_xstat(&p->host, "tx_q0_no_pool_packets"), 3);
	T_EQ(rte_comch_mempool_unregister(c.pools[1]), 0);
	T_CHECK(rte_comch_mempool_register(c.pools[0], RTE_COMCH_MEM_F_SHARED) != NULL);
	pass(p, c.pools[0]);
	T_EQ(net_xstat(&p->host, "tx_q0_no_pool_packets"), 3);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_rx_queue_setup(p->dpu.id, 0, NET_DESC, SOCKET_ID_ANY, NULL, c.pools[1]),
		-ENOTSUP);
	T_EQ(rte_comch_mempool_unregister(c.pools[0]), 0);
	T_EQ(rte_eth_rx_queue_setup(p->dpu.id, 0, NET_DESC, SOCKET_ID_ANY, NULL, c.pools[1]), 0);
	T_EQ(rte_eth_rx_queue_setup(p->dpu.id, 0, NET_DESC, SOCKET_ID_ANY, NULL, p->dpu.mp), 0);
	crowd_out(&c, 2);
}

/* A pool is freed, and another one is where it was: that one is not registered yet. */
T_CASE_OF(struct net_ports, net_begin, net_end, pool_at_the_same_place, p)
{
	const struct rte_mempool *was;
	struct rte_mempool *mp;
	uint32_t i, nb_same = 0;

	for (i = 0, was = NULL; i < 8; i++, was = mp) {
		mp = net_pool("visitor", 7);
		nb_same += mp == was;
		pass(p, mp);
		rte_mempool_free(mp);
	}
	/* EAL's heap has the place free for the next one. */
	T_GT(nb_same, 0);
}

static void
come_back(struct net_ports *p)
{
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_AWAIT(!net_is_up(&p->host));
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
}

/* The port's own pool, for frames of several messages, could not be registered. */
T_CASE_OF(struct net_ports, begin_jumbo_later, net_end, no_room_for_pieces, p)
{
	struct crowd c;
	uint32_t i;

	crowd_in(&c);
	net_start(p);
	/* Nor when the peer comes back. */
	for (i = 0; i < 3; i++, come_back(p)) {
		net_send(&p->host, 0, net_frame(p->host.mp, 9000, (uint8_t)i));
		T_EQ(net_xstat(&p->host, "tx_q0_oversize_packets"), i + 1);
	}
	crowd_out(&c, 0);
	come_back(p);
	net_send(&p->host, 0, net_frame(p->host.mp, 9000, 7));
	net_check_frame(&p->dpu, net_receive(&p->dpu, 0), 9000, 7);
	T_EQ(net_xstat(&p->host, "tx_q0_oversize_packets"), 3);
}
