/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* net_comch by the calls of ethdev: both ports in this process, which is a comch user too. */

#include <pthread.h>
#include <sys/epoll.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <rte_comch.h>

#include "t_main.h"
#include "t_pair.h"
#include "u_net.h"

static void
begin_jumbo(struct net_ports *p)
{
	net_open(p, 2, 9000, RTE_ETH_RX_OFFLOAD_SCATTER);
	net_start(p);
}

T_CASE_OF(struct net_ports, net_begin, net_end, both_ways, p)
{
	struct rte_eth_stats st;

	net_ping_pong(p, 1000);
	T_EQ(rte_eth_stats_get(p->dpu.id, &st), 0);
	T_EQ(st.ipackets, 1000);
	T_EQ(st.opackets, 1000);
	T_EQ(st.ibytes, st.obytes);
	T_EQ(st.imissed + st.ierrors + st.oerrors, 0);
	T_EQ(rte_eth_stats_reset(p->dpu.id), 0);
	T_EQ(rte_eth_stats_get(p->dpu.id, &st), 0);
	T_EQ(st.ipackets + st.opackets + st.ibytes + st.obytes, 0);
}

static void *
stop_port(void *arg)
{
	const struct net_port *e = arg;

	T_EQ(rte_eth_dev_stop(e->id), 0);
	return NULL;
}

/* Start does not wait, the link follows the peer, and each packet is accounted for. */
T_CASE_OF(struct net_ports, net_begin, net_end, link_follows_peer, p)
{
	struct rte_eth_stats st;
	struct rte_mbuf *m;
	pthread_t thread;
	uint64_t sent;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		sent = net_fill(&p->host, 0);
		T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
		T_AWAIT(!net_is_up(&p->host));
		T_CHECK(!net_is_up(&p->dpu));
		/* Not accepted without a link. */
		m = net_frame(p->host.mp, NET_MIN_FRAME, 0);
		T_EQ(rte_eth_tx_burst(p->host.id, 0, &m, 1), 0);
		rte_pktmbuf_free(m);
		T_EQ(rte_eth_stats_get(p->dpu.id, &st), 0);
		T_EQ(st.imissed, sent);
		T_EQ(net_xstat(&p->dpu, "rx_q0_discarded_packets"), sent);
		T_EQ(rte_eth_stats_get(p->host.id, &st), 0);
		T_EQ(st.opackets, sent);
		T_EQ(net_xstat(&p->host, "tx_q0_unconfirmed_packets"), 0);
		T_EQ(rte_eth_dev_start(p->dpu.id), 0);
		T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
		T_EQ(rte_eth_stats_reset(p->dpu.id), 0);
		T_EQ(rte_eth_stats_reset(p->host.id), 0);
		net_ping_pong(p, 10);
		T_EQ(rte_eth_stats_reset(p->dpu.id), 0);
		T_EQ(rte_eth_stats_reset(p->host.id), 0);
	}
	T_AWAIT(__atomic_load_n(&p->host.nb_lsc, __ATOMIC_RELAXED) == 7);
	T_AWAIT(__atomic_load_n(&p->dpu.nb_lsc, __ATOMIC_RELAXED) == 7);
	/* What the port that stops has sent is still received. */
	sent = net_fill(&p->dpu, 0);
	T_EQ(pthread_create(&thread, NULL, stop_port, &p->dpu), 0);
	for (i = 0; i < sent; i++)
		net_check_frame(&p->host, net_receive(&p->host, 0), NET_MIN_FRAME, (uint8_t)i);
	T_EQ(pthread_join(thread, NULL), 0);
	T_EQ(net_xstat(&p->host, "rx_q0_discarded_packets"), 0);
}

/* Frames longer than the receive buffers, with ends at and beside their borders. */
T_CASE_OF(struct net_ports, begin_jumbo, net_end, scattered_frames, p)
{
	static const uint32_t lens[] = {
		NET_MIN_FRAME, NET_ROOM - 1, NET_ROOM, NET_ROOM + 1, 2 * NET_ROOM - 1,
		2 * NET_ROOM, 2 * NET_ROOM + 1,
		4 * NET_ROOM, 9000, 9026,
	};
	struct rte_mbuf *m;
	uint16_t mtu;
	uint64_t n;
	uint32_t i, len;

	T_EQ(rte_eth_dev_get_mtu(p->dpu.id, &mtu), 0);
	T_EQ(mtu, 9000);
	for (i = 0; i < 10 * RTE_DIM(lens); i++) {
		len = lens[i % RTE_DIM(lens)];
		net_send(&p->host, i % 2, net_frame(p->host.mp, len, (uint8_t)i));
		m = net_receive(&p->dpu, i % 2);
		T_EQ(m->nb_segs, (len + NET_ROOM - 1) / NET_ROOM);
		net_check_frame(&p->dpu, m, len, (uint8_t)i);
	}
	/* A frame of which only a part found room is sent without another burst. */
	n = net_fill(&p->host, 0);
	for (i = 0; i < n; i++) {
		if (i == 3) {
			m = net_frame(p->host.mp, 9000, 5);
			net_send(&p->host, 0, m);
		}
		net_check_frame(&p->dpu, net_receive(&p->dpu, 0), NET_MIN_FRAME, (uint8_t)i);
	}
	net_check_frame(&p->dpu, net_receive(&p->dpu, 0), 9000, 5);
	/* Longer than the peer's MTU: accepted, dropped and counted. */
	net_send(&p->host, 0, net_frame(p->host.mp, 9027, 0));
	T_EQ(net_xstat(&p->host, "tx_q0_oversize_packets"), 1);
	T_EQ(rte_eth_rx_burst(p->dpu.id, 0, &m, 1), 0);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, 1500), -EBUSY);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, 1500), 0);
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_AWAIT(net_is_up(&p->dpu) && net_is_up(&p->host));
	net_send(&p->host, 0, net_frame(p->host.mp, 9000, 0));
	T_EQ(net_xstat(&p->host, "tx_q0_oversize_packets"), 2);
}

T_CASE_OF(struct net_ports, net_begin, net_end, mtu_needs_room, p)
{
	struct rte_eth_dev_info info;

	T_EQ(rte_eth_dev_info_get(p->dpu.id, &info), 0);
	T_EQ(info.rx_offload_capa, RTE_ETH_RX_OFFLOAD_SCATTER);
	T_EQ(info.tx_offload_capa, RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, NET_ROOM - 26), -EINVAL);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, NET_ROOM - 27), 0);
}

/* An offload that was not announced: tx_prepare refuses, a burst drops and counts. */
T_CASE_OF(struct net_ports, net_begin, net_end, offloads_are_refused, p)
{
	struct rte_mbuf *m = net_frame(p->host.mp, NET_MIN_FRAME, 1);

	T_EQ(rte_eth_tx_prepare(p->host.id, 0, &m, 1), 1);
	m->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
	T_EQ(rte_eth_tx_prepare(p->host.id, 0, &m, 1), 0);
	T_EQ(rte_errno, ENOTSUP);
	net_send(&p->host, 0, m);
	T_EQ(net_xstat(&p->host, "tx_q0_offload_packets"), 1);
	/* Too short for a frame. */
	m = net_frame(p->host.mp, RTE_ETHER_HDR_LEN - 1, 1);
	net_send(&p->host, 0, m);
	net_ping_pong(p, 1);
	T_EQ(net_xstat(&p->dpu, "rx_q0_error_packets"), 1);
}

static void
send_to(const struct net_ports *p, const struct rte_ether_addr *dst)
{
	struct rte_mbuf *m = net_frame(p->host.mp, NET_MIN_FRAME, 1);

	rte_ether_addr_copy(dst, rte_pktmbuf_mtod(m, struct rte_ether_addr *));
	net_send(&p->host, 0, m);
}

T_CASE_OF(struct net_ports, net_begin, net_end, addresses, p)
{
	struct rte_ether_addr mine, other = { { 2, 0, 0, 0, 0, 1 } };
	const struct rte_ether_addr multicast = { { 1, 0, 0x5e, 0, 0, 1 } };
	const struct rte_ether_addr broadcast = { { 255, 255, 255, 255, 255, 255 } };
	struct rte_mbuf *m;

	T_EQ(rte_eth_macaddr_get(p->dpu.id, &mine), 0);
	T_EQ(rte_eth_promiscuous_disable(p->dpu.id), 0);
	send_to(p, &other);
	send_to(p, &multicast);
	send_to(p, &mine);
	send_to(p, &broadcast);
	m = net_receive(&p->dpu, 0);
	T_CHECK(rte_is_same_ether_addr(rte_pktmbuf_mtod(m, struct rte_ether_addr *), &mine));
	rte_pktmbuf_free(m);
	m = net_receive(&p->dpu, 0);
	T_CHECK(rte_is_broadcast_ether_addr(rte_pktmbuf_mtod(m, struct rte_ether_addr *)));
	rte_pktmbuf_free(m);
	T_EQ(net_xstat(&p->dpu, "rx_q0_filtered_packets"), 2);
	T_EQ(rte_eth_allmulticast_enable(p->dpu.id), 0);
	send_to(p, &multicast);
	rte_pktmbuf_free(net_receive(&p->dpu, 0));
	T_EQ(rte_eth_dev_default_mac_addr_set(p->dpu.id, &other), 0);
	send_to(p, &mine);
	send_to(p, &other);
	rte_pktmbuf_free(net_receive(&p->dpu, 0));
	T_EQ(net_xstat(&p->dpu, "rx_q0_filtered_packets"), 3);
	T_EQ(rte_eth_promiscuous_enable(p->dpu.id), 0);
	send_to(p, &mine);
	rte_pktmbuf_free(net_receive(&p->dpu, 0));
}

/* A pool of exactly one burst never runs dry. */
T_CASE_OF(struct net_ports, net_begin, net_end, one_burst, p)
{
	struct rte_mempool *mp = net_pool("one", NET_BURST);
	struct rte_mbuf *mbufs[NET_BURST];
	uint32_t i, round;

	for (round = 0; round < 1000; round++) {
		T_AWAIT(rte_eth_tx_done_cleanup(p->host.id, 0, 0) >= 0 &&
			rte_mempool_full(mp));
		for (i = 0; i < NET_BURST; i++)
			mbufs[i] = net_frame(mp, NET_MIN_FRAME, (uint8_t)i);
		for (i = 0; i < NET_BURST;)
			i += rte_eth_tx_burst(p->host.id, 0, &mbufs[i], (uint16_t)(NET_BURST - i));
		for (i = 0; i < NET_BURST; i++)
			net_check_frame(&p->dpu, net_receive(&p->dpu, 0), NET_MIN_FRAME,
				(uint8_t)i);
	}
	T_AWAIT(rte_eth_tx_done_cleanup(p->host.id, 0, 0) >= 0 && rte_mempool_full(mp));
	rte_mempool_free(mp);
}

/* Send a burst to a port that has no mbuf left, until it has noticed that. */
static void
starve(struct net_ports *p)
{
	const uint64_t before = net_xstat(&p->dpu, "rx_q0_mbuf_shortages");
	struct rte_mbuf *mbufs[NET_BURST];
	uint32_t i;

	for (i = 0; i < NET_BURST; i++)
		net_send(&p->host, 0, net_frame(p->host.mp, NET_MIN_FRAME, (uint8_t)i));
	T_AWAIT(rte_eth_rx_burst(p->dpu.id, 0, mbufs, NET_BURST) == 0 &&
		net_xstat(&p->dpu, "rx_q0_mbuf_shortages") > before);
}

/* Frames wait while the application's pool is empty. A port that stops counts them. */
T_CASE_OF(struct net_ports, net_begin, net_end, empty_pool, p)
{
	struct rte_mbuf *taken[NET_MBUFS];
	struct rte_eth_stats stats;
	uint32_t i;

	T_EQ(rte_pktmbuf_alloc_bulk(p->dpu.mp, taken, NET_MBUFS), 0);
	starve(p);
	/* They come one by one through the only mbuf, in order. */
	rte_pktmbuf_free(taken[0]);
	for (i = 0; i < NET_BURST; i++)
		net_check_frame(&p->dpu, net_receive(&p->dpu, 0), NET_MIN_FRAME, (uint8_t)i);
	taken[0] = rte_pktmbuf_alloc(p->dpu.mp);
	T_CHECK(taken[0] != NULL);
	starve(p);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_stats_get(p->dpu.id, &stats), 0);
	T_EQ(stats.ipackets, NET_BURST);
	T_EQ(stats.imissed, NET_BURST);
	rte_pktmbuf_free_bulk(taken, NET_MBUFS);
}

static bool
readable(int epfd, int timeout)
{
	struct rte_epoll_event ev;

	return rte_epoll_wait(epfd, &ev, 1, timeout) == 1;
}

T_CASE_OF(struct net_ports, net_begin, net_end, receive_interrupts, p)
{
	const int epfd = epoll_create1(EPOLL_CLOEXEC);
	struct rte_mbuf *m;
	uint32_t i;

	T_EQ(rte_eth_dev_rx_intr_ctl_q(p->dpu.id, 0, epfd, RTE_INTR_EVENT_ADD, NULL), 0);
	/* The link came up meanwhile. */
	while (readable(epfd, 0))
		T_EQ(rte_eth_rx_burst(p->dpu.id, 0, &m, 1), 0);
	for (i = 0; i < 100; i++) {
		T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), 0);
		T_CHECK(!readable(epfd, 0));
		net_send(&p->host, 0, net_frame(p->host.mp, NET_MIN_FRAME, (uint8_t)i));
		T_CHECK(readable(epfd, T_TIMEOUT_MS));
		T_EQ(rte_eth_dev_rx_intr_disable(p->dpu.id, 0), 0);
		net_check_frame(&p->dpu, net_receive(&p->dpu, 0), NET_MIN_FRAME, (uint8_t)i);
		/* Something is there already. */
		net_send(&p->host, 0, net_frame(p->host.mp, NET_MIN_FRAME, (uint8_t)i));
		T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), 0);
		T_CHECK(readable(epfd, T_TIMEOUT_MS));
		T_EQ(rte_eth_dev_rx_intr_disable(p->dpu.id, 0), 0);
		net_check_frame(&p->dpu, net_receive(&p->dpu, 0), NET_MIN_FRAME, (uint8_t)i);
		T_EQ(rte_eth_rx_burst(p->dpu.id, 0, &m, 1), 0);
	}
	/* A queue that sleeps hears of a peer that comes back. */
	T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), 0);
	T_EQ(rte_eth_dev_stop(p->host.id), 0);
	T_EQ(rte_eth_dev_start(p->host.id), 0);
	T_CHECK(readable(epfd, T_TIMEOUT_MS));
	T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
	while (readable(epfd, 0))
		T_EQ(rte_eth_rx_burst(p->dpu.id, 0, &m, 1), 0);
	T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), 0);
	net_send(&p->host, 0, net_frame(p->host.mp, NET_MIN_FRAME, 1));
	T_CHECK(readable(epfd, T_TIMEOUT_MS));
	net_check_frame(&p->dpu, net_receive(&p->dpu, 0), NET_MIN_FRAME, 1);
	T_EQ(rte_eth_dev_rx_intr_ctl_q(p->dpu.id, 0, epfd, RTE_INTR_EVENT_DEL, NULL), 0);
}

/* A port is pulled while it runs, with packets on their way, and comes back. */
T_CASE_OF(struct net_ports, net_begin, net_end, hot_unplug, p)
{
	char args[1024];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		net_fill(&p->host, 0);
		net_fill(&p->dpu, 0);
		net_unplug(&p->dpu);
		T_AWAIT(!net_is_up(&p->host));
		snprintf(args, sizeof(args), "role=dpu,name=lan,dir=%s", t_dir());
		net_plug(&p->dpu, args);
		net_set_up(&p->dpu, RTE_ETHER_MTU, 0);
		T_EQ(rte_eth_dev_start(p->dpu.id), 0);
		T_EQ(rte_eth_promiscuous_enable(p->dpu.id), 0);
		T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
		T_EQ(rte_eth_stats_reset(p->host.id), 0);
	}
	/* What the first one had sent may still be there. */
	T_AWAIT(rte_eth_rx_burst(p->host.id, 0, (struct rte_mbuf *[1]){ NULL }, 0) == 0);
	net_ping_pong(p, 10);
}

static void
refuse(const char *args)
{
	char all[1024];

	snprintf(all, sizeof(all), "%s,dir=%s", args, t_dir());
	T_NE(rte_eal_hotplug_add("vdev", "net_comch_x", all), 0);
	T_EQ(rte_comch_dev_count(), 0);
	T_EQ(rte_eth_dev_count_avail(), 0);
}

T_CASE(arguments)
{
	struct net_port e = { .name = "net_comch_a", .nb_queues = 1 };
	struct net_port twin = { .name = "net_comch_b" };
	char args[1024];
	int16_t dev;

	net_load();
	refuse("name=lan");
	refuse("role=both,name=lan");
	refuse("role=dpu");
	refuse("role=dpu,name=lan,queues=0");
	refuse("role=dpu,name=lan,queues=65");
	refuse("role=dpu,name=lan,queues=four");
	refuse("role=dpu,name=lan,mac=01:00:00:00:00:01");
	refuse("role=dpu,name=lan,mac=00:00:00:00:00:00");
	refuse("role=dpu,name=lan,role=dpu");
	refuse("role=dpu,name=lan,color=blue");
	refuse("role=dpu,name=lan,driver=comch_none");
	refuse("role=dpu,name=lan,dev=comch_shm7");
	refuse("role=dpu,name=lan,mac=");
	refuse("role=dpu,name=[lan");
	memset(args, 'x', sizeof(args));
	memcpy(args, "role=dpu,name=", 14);
	args[14 + RTE_COMCH_NAME_SIZE] = '\0';
	refuse(args);

	/* By a device of the application's, which stays. */
	snprintf(args, sizeof(args), "comch_shm0,role=dpu,rep=pf0,rep=pf1,dir=%s", t_dir());
	T_EQ(rte_comch_dev_probe(args, &dev), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name,
		"role=dpu,name=lan,dev=comch_shm0,export_eal=1"), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name,
		"role=dpu,name=lan,dev=comch_shm0,driver=comch_ring"), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name, "role=host,name=lan,dev=comch_shm0"), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name, "role=dpu,name=lan,dev=comch_shm0,rep=pf2"), 0);
	e.mp = net_pool("a", 255);
	net_plug(&e, "role=dpu,name=lan,dev=comch_shm0,rep=pf1,mac=02:00:00:00:00:77");
	net_set_up(&e, RTE_ETHER_MTU, 0);
	T_EQ(rte_eth_dev_start(e.id), 0);
	/* The name is in use: start says so. */
	twin.mp = net_pool("b", 255);
	twin.nb_queues = 1;
	snprintf(args, sizeof(args), "role=dpu,name=lan,rep=pf1,dir=%s", t_dir());
	net_plug(&twin, args);
	net_set_up(&twin, RTE_ETHER_MTU, 0);
	T_EQ(rte_eth_dev_start(twin.id), -EADDRINUSE);
	net_unplug(&twin);
	net_unplug(&e);
	T_EQ(rte_comch_dev_count(), 1);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
	t_dir_remove();
}

/* A frame that is a clone: its data is in the pool of another mbuf. */
T_CASE_OF(struct net_ports, net_begin, net_end, cloned_frame, p)
{
	struct rte_mempool *clones = net_pool("clones", 1);
	struct rte_mbuf *m = net_frame(p->host.mp, 100, 7), *clone;

	clone = rte_pktmbuf_clone(m, clones);
	T_CHECK(clone != NULL);
	net_send(&p->host, 0, clone);
	net_check_frame(&p->dpu, net_receive(&p->dpu, 0), 100, 7);
	T_AWAIT(rte_eth_tx_done_cleanup(p->host.id, 0, 0) >= 0 && rte_mempool_full(clones));
	rte_pktmbuf_free(m);
	rte_mempool_free(clones);
}

static int
stop_in_callback(uint16_t port, enum rte_eth_event_type type __rte_unused, void *arg,
		void *ret __rte_unused)
{
	int *result = arg;

	__atomic_store_n(result, rte_eth_dev_stop(port), __ATOMIC_RELEASE);
	return 0;
}

/* A callback is the control thread's: it cannot wait for that. */
T_CASE_OF(struct net_ports, net_begin, net_end, stop_within_callback, p)
{
	/* Not written here: TSan does not see the lock of ethdev's list of callbacks. */
	static int result;

	T_EQ(rte_eth_dev_callback_register(p->dpu.id, RTE_ETH_EVENT_INTR_LSC, stop_in_callback,
		&result), 0);
	T_EQ(rte_eth_dev_stop(p->host.id), 0);
	T_AWAIT(__atomic_load_n(&result, __ATOMIC_ACQUIRE) == -EBUSY);
	T_EQ(rte_eth_dev_callback_unregister(p->dpu.id, RTE_ETH_EVENT_INTR_LSC,
		stop_in_callback, &result), 0);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	net_start(p);
	net_ping_pong(p, 1);
}

/* Somebody removes the server's socket: the port makes another one. */
T_CASE_OF(struct net_ports, net_begin, net_end, socket_is_removed, p)
{
	T_EQ(rte_eth_dev_stop(p->host.id), 0);
	T_AWAIT(!net_is_up(&p->dpu));
	t_place_lose("pf0", "sock");
	T_EQ(rte_eth_dev_start(p->host.id), 0);
	T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
	net_ping_pong(p, 1);
}

static void
begin_two_queues(struct net_ports *p)
{
	net_open(p, 2, RTE_ETHER_MTU, 0);
}

/* Ethdev lets a port start whose queues were not all set up. */
T_CASE_OF(struct net_ports, begin_two_queues, net_end, queue_not_set_up, p)
{
	const struct rte_eth_conf conf = { .rxmode = { .mtu = RTE_ETHER_MTU } };
	const uint16_t id = p->dpu.id;

	/* The second queues go. */
	T_EQ(rte_eth_dev_configure(id, 1, 1, &conf), 0);
	T_EQ(rte_eth_dev_configure(id, 2, 2, &conf), 0);
	T_EQ(rte_eth_dev_start(id), -EINVAL);
	T_EQ(rte_eth_tx_queue_setup(id, 1, NET_DESC, SOCKET_ID_ANY, NULL), 0);
	T_EQ(rte_eth_dev_start(id), -EINVAL);
	T_EQ(rte_eth_rx_queue_setup(id, 1, NET_DESC, SOCKET_ID_ANY, NULL, p->dpu.mp), 0);
	T_EQ(rte_eth_dev_configure(id, 2, 1, &conf), 0);
	T_EQ(rte_eth_dev_configure(id, 2, 2, &conf), 0);
	T_EQ(rte_eth_dev_start(id), -EINVAL);
	T_EQ(rte_eth_tx_queue_setup(id, 1, NET_DESC, SOCKET_ID_ANY, NULL), 0);
	net_start(p);
	net_ping_pong(p, 1);
}

/* Configurations that ethdev allows, and this port does not. */
T_CASE_OF(struct net_ports, net_begin, net_end, configurations, p)
{
	struct rte_eth_conf conf = { .rxmode = { .mtu = 9000 }, .intr_conf = { .rxq = 1 } };
	struct rte_eth_rxq_info rxq;
	struct rte_eth_txq_info txq;

	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), -EINVAL);
	T_EQ(rte_eth_dev_rx_intr_disable(p->dpu.id, 0), -EINVAL);
	T_EQ(rte_eth_rx_queue_info_get(p->dpu.id, 0, &rxq), 0);
	T_EQ(rxq.nb_desc, NET_DESC);
	T_EQ(rxq.rx_buf_size, NET_ROOM);
	T_CHECK(rxq.mp == p->dpu.mp);
	T_EQ(rte_eth_tx_queue_info_get(p->dpu.id, 0, &txq), 0);
	T_EQ(txq.nb_desc, NET_DESC);
	T_EQ(rte_eth_dev_configure(p->dpu.id, 1, 0, &conf), -EINVAL);
	T_EQ(rte_eth_dev_configure(p->dpu.id, 0, 1, &conf), -EINVAL);
	/* Frames of 9026 bytes do not fit into one mbuf. */
	T_EQ(rte_eth_dev_configure(p->dpu.id, 1, 1, &conf), 0);
	T_EQ(rte_eth_rx_queue_setup(p->dpu.id, 0, NET_DESC, SOCKET_ID_ANY, NULL, p->dpu.mp), 0);
	T_EQ(rte_eth_tx_queue_setup(p->dpu.id, 0, NET_DESC, SOCKET_ID_ANY, NULL), 0);
	T_EQ(rte_eth_dev_start(p->dpu.id), -EINVAL);
	net_set_up(&p->dpu, RTE_ETHER_MTU, 0);
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_EQ(rte_eth_promiscuous_enable(p->dpu.id), 0);
	T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
	net_ping_pong(p, 1);
}
