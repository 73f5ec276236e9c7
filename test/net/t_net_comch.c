/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * net_comch by the calls of ethdev: both ports in this process, which is a comch user of
 * its own as well. The plugin's path is in the variable T_NET_COMCH.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>

#include "t.h"
#include "t_main.h"

#define NB_MBUFS 2047
#define DESC 64
#define BURST 32
#define ROOM 2048
#define MIN_FRAME 60

/* A port and its pool. */
struct end {
	const char *name;  /* of the vdev */
	uint16_t id;
	uint16_t nb_queues;
	struct rte_mempool *mp;
	uint32_t nb_lsc;   /* atomic */
};

struct ports {
	struct end dpu;
	struct end host;
};

static void
load(void)
{
	const char *path = getenv("T_NET_COMCH");

	if (path == NULL)
		t_skip("T_NET_COMCH is not set: net_comch was not built");
	t_eal_start(2);
	if (dlopen(path, RTLD_NOW) == NULL)
		T_FAIL("%s", dlerror());
}

static int
on_lsc(uint16_t port __rte_unused, enum rte_eth_event_type type __rte_unused, void *arg,
		void *ret __rte_unused)
{
	struct end *e = arg;

	__atomic_fetch_add(&e->nb_lsc, 1, __ATOMIC_RELAXED);
	return 0;
}

static void
plug(struct end *e, const char *args)
{
	T_EQ(rte_eal_hotplug_add("vdev", e->name, args), 0);
	T_EQ(rte_eth_dev_get_port_by_name(e->name, &e->id), 0);
	T_EQ(rte_eth_dev_callback_register(e->id, RTE_ETH_EVENT_INTR_LSC, on_lsc, e), 0);
}

static void
unplug(struct end *e)
{
	T_EQ(rte_eal_hotplug_remove("vdev", e->name), 0);
	T_CHECK(rte_eth_dev_is_valid_port(e->id) == 0);
}

static void
set_up(struct end *e, uint16_t mtu, uint64_t rx_offloads)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mtu = mtu, .offloads = rx_offloads },
		.intr_conf = { .lsc = 1, .rxq = 1 },
	};
	uint16_t i;

	if (mtu > ROOM)
		conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	T_EQ(rte_eth_dev_configure(e->id, e->nb_queues, e->nb_queues, &conf), 0);
	for (i = 0; i < e->nb_queues; i++) {
		T_EQ(rte_eth_rx_queue_setup(e->id, i, DESC, SOCKET_ID_ANY, NULL, e->mp), 0);
		T_EQ(rte_eth_tx_queue_setup(e->id, i, DESC, SOCKET_ID_ANY, NULL), 0);
	}
}

static struct rte_mempool *
pool(const char *name, unsigned int n)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create(name, n, 0, 0,
			ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);

	T_CHECK(mp != NULL);
	return mp;
}

static bool
is_up(const struct end *e)
{
	struct rte_eth_link link;

	T_EQ(rte_eth_link_get_nowait(e->id, &link), 0);
	return link.link_status == RTE_ETH_LINK_UP;
}

static void
start(struct ports *p)
{
	T_EQ(rte_eth_dev_start(p->host.id), 0);
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_EQ(rte_eth_promiscuous_enable(p->host.id), 0);
	T_EQ(rte_eth_promiscuous_enable(p->dpu.id), 0);
	T_AWAIT(is_up(&p->host) && is_up(&p->dpu));
}

static void
open_ports(struct ports *p, uint16_t nb_queues, uint16_t mtu, uint64_t rx_offloads)
{
	char args[1024];

	load();
	*p = (struct ports){
		.dpu = { .name = "net_comch_a", .nb_queues = nb_queues },
		.host = { .name = "net_comch_b", .nb_queues = nb_queues },
	};
	p->dpu.mp = pool("a", NB_MBUFS);
	p->host.mp = pool("b", NB_MBUFS);
	snprintf(args, sizeof(args), "role=dpu,rep=pf0,name=lan,queues=%u,dir=%s", nb_queues,
		t_dir());
	plug(&p->dpu, args);
	snprintf(args, sizeof(args), "role=host,func=pf0,name=lan,queues=%u,dir=%s", nb_queues,
		t_dir());
	plug(&p->host, args);
	set_up(&p->dpu, mtu, rx_offloads);
	set_up(&p->host, mtu, rx_offloads);
}

static void
begin(struct ports *p)
{
	open_ports(p, 1, RTE_ETHER_MTU, 0);
	start(p);
}

static void
begin_jumbo(struct ports *p)
{
	open_ports(p, 2, 9000, RTE_ETH_RX_OFFLOAD_SCATTER);
	start(p);
}

/* All mbufs are back when the ports are gone. */
static void
end(struct ports *p)
{
	unplug(&p->host);
	unplug(&p->dpu);
	T_EQ(rte_comch_dev_count(), 0);
	T_CHECK(rte_mempool_full(p->dpu.mp));
	T_CHECK(rte_mempool_full(p->host.mp));
	rte_mempool_free(p->dpu.mp);
	rte_mempool_free(p->host.mp);
	t_eal_stop();
	t_dir_remove();
}

/* Bytes of frame number seed, to a unicast address that no port has. */
static struct rte_mbuf *
frame(struct rte_mempool *mp, uint32_t len, uint8_t seed)
{
	struct rte_mbuf *head = NULL, *m;
	uint32_t off = 0, part, i;
	char *data;

	do {
		m = rte_pktmbuf_alloc(mp);
		T_CHECK(m != NULL);
		part = RTE_MIN(len - off, 1999u);
		data = rte_pktmbuf_append(m, (uint16_t)part);
		T_CHECK(data != NULL);
		for (i = 0; i < part; i++)
			data[i] = off + i == 0 ? 2 : (char)(seed + (off + i) * 7);
		if (head == NULL)
			head = m;
		else
			T_EQ(rte_pktmbuf_chain(head, m), 0);
		off += part;
	} while (off < len);
	return head;
}

static void
check_frame(const struct end *at, struct rte_mbuf *m, uint32_t len, uint8_t seed)
{
	const struct rte_mbuf *s;
	uint32_t off = 0, i;

	T_EQ(rte_mbuf_check(m, 1, NULL), 0);
	T_EQ(m->pkt_len, len);
	T_EQ(m->port, at->id);
	for (s = m; s != NULL; s = s->next)
		for (i = 0; i < s->data_len; i++, off++)
			T_EQ(*rte_pktmbuf_mtod_offset(s, const char *, i),
				off == 0 ? 2 : (char)(seed + off * 7));
	T_EQ(off, len);
	rte_pktmbuf_free(m);
}

static void
send_one(const struct end *from, uint16_t queue, struct rte_mbuf *m)
{
	T_AWAIT(rte_eth_tx_burst(from->id, queue, &m, 1) == 1);
}

static struct rte_mbuf *
receive(const struct end *at, uint16_t queue)
{
	struct rte_mbuf *m = NULL;

	/* Sending continues what was sent in pieces. */
	T_AWAIT(rte_eth_rx_burst(at->id, queue, &m, 1) == 1);
	return m;
}

static uint64_t
xstat(const struct end *e, const char *name)
{
	uint64_t id, value;

	T_EQ(rte_eth_xstats_get_id_by_name(e->id, name, &id), 0);
	T_EQ(rte_eth_xstats_get_by_id(e->id, &id, &value, 1), 1);
	return value;
}

/* As much as fits, until the other's queue is full. Returns the number sent. */
static uint64_t
fill(const struct end *from, uint16_t queue)
{
	struct rte_mbuf *m;
	uint64_t n;

	for (n = 0;; n++) {
		m = frame(from->mp, MIN_FRAME, (uint8_t)n);
		if (rte_eth_tx_burst(from->id, queue, &m, 1) == 0)
			break;
	}
	rte_pktmbuf_free(m);
	return n;
}

static void
ping_pong(struct ports *p, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		send_one(&p->host, 0, frame(p->host.mp, MIN_FRAME + i % 1000, (uint8_t)i));
		check_frame(&p->dpu, receive(&p->dpu, 0), MIN_FRAME + i % 1000, (uint8_t)i);
		send_one(&p->dpu, 0, frame(p->dpu.mp, MIN_FRAME + i % 1000, (uint8_t)i));
		check_frame(&p->host, receive(&p->host, 0), MIN_FRAME + i % 1000, (uint8_t)i);
	}
}

T_CASE_OF(struct ports, begin, end, both_ways, p)
{
	struct rte_eth_stats st;

	ping_pong(p, 1000);
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
	const struct end *e = arg;

	T_EQ(rte_eth_dev_stop(e->id), 0);
	return NULL;
}

/* Start does not wait, the link follows the peer, and each packet is accounted for. */
T_CASE_OF(struct ports, begin, end, link_follows_peer, p)
{
	struct rte_eth_stats st;
	struct rte_mbuf *m;
	pthread_t thread;
	uint64_t sent;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		sent = fill(&p->host, 0);
		/* Buffers are posted in groups of a quarter of the queue at most. */
		T_GT(sent, DESC - DESC / 4);
		T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
		T_AWAIT(!is_up(&p->host));
		T_CHECK(!is_up(&p->dpu));
		/* Not accepted without a link. */
		m = frame(p->host.mp, MIN_FRAME, 0);
		T_EQ(rte_eth_tx_burst(p->host.id, 0, &m, 1), 0);
		rte_pktmbuf_free(m);
		T_EQ(rte_eth_stats_get(p->dpu.id, &st), 0);
		T_EQ(st.imissed, sent);
		T_EQ(xstat(&p->dpu, "rx_q0_discarded_packets"), sent);
		T_EQ(rte_eth_stats_get(p->host.id, &st), 0);
		T_EQ(st.opackets, sent);
		T_EQ(xstat(&p->host, "tx_q0_unconfirmed_packets"), 0);
		T_EQ(rte_eth_dev_start(p->dpu.id), 0);
		T_AWAIT(is_up(&p->host) && is_up(&p->dpu));
		T_EQ(rte_eth_stats_reset(p->dpu.id), 0);
		T_EQ(rte_eth_stats_reset(p->host.id), 0);
		ping_pong(p, 10);
		T_EQ(rte_eth_stats_reset(p->dpu.id), 0);
		T_EQ(rte_eth_stats_reset(p->host.id), 0);
	}
	T_AWAIT(__atomic_load_n(&p->host.nb_lsc, __ATOMIC_RELAXED) == 7);
	T_AWAIT(__atomic_load_n(&p->dpu.nb_lsc, __ATOMIC_RELAXED) == 7);
	/* What the port that stops has sent is still received. */
	sent = fill(&p->dpu, 0);
	T_EQ(pthread_create(&thread, NULL, stop_port, &p->dpu), 0);
	for (i = 0; i < sent; i++)
		check_frame(&p->host, receive(&p->host, 0), MIN_FRAME, (uint8_t)i);
	T_EQ(pthread_join(thread, NULL), 0);
	T_EQ(xstat(&p->host, "rx_q0_discarded_packets"), 0);
}

/* Frames longer than the receive buffers, with ends at and beside their borders. */
T_CASE_OF(struct ports, begin_jumbo, end, scattered_frames, p)
{
	static const uint32_t lens[] = {
		MIN_FRAME, ROOM - 1, ROOM, ROOM + 1, 2 * ROOM - 1, 2 * ROOM, 2 * ROOM + 1,
		4 * ROOM, 9000, 9026,
	};
	struct rte_mbuf *m;
	uint16_t mtu;
	uint64_t n;
	uint32_t i;

	T_EQ(rte_eth_dev_get_mtu(p->dpu.id, &mtu), 0);
	T_EQ(mtu, 9000);
	for (i = 0; i < 10 * RTE_DIM(lens); i++) {
		send_one(&p->host, i % 2, frame(p->host.mp, lens[i % RTE_DIM(lens)], (uint8_t)i));
		m = receive(&p->dpu, i % 2);
		T_EQ(m->nb_segs, (lens[i % RTE_DIM(lens)] + ROOM - 1) / ROOM);
		check_frame(&p->dpu, m, lens[i % RTE_DIM(lens)], (uint8_t)i);
	}
	/* A frame of which only a part found room is sent without another burst. */
	n = fill(&p->host, 0);
	for (i = 0; i < n; i++) {
		if (i == 3) {
			m = frame(p->host.mp, 9000, 5);
			T_EQ(rte_eth_tx_burst(p->host.id, 0, &m, 1), 1);
		}
		check_frame(&p->dpu, receive(&p->dpu, 0), MIN_FRAME, (uint8_t)i);
	}
	check_frame(&p->dpu, receive(&p->dpu, 0), 9000, 5);
	/* Longer than the peer's MTU: accepted, dropped and counted. */
	send_one(&p->host, 0, frame(p->host.mp, 9027, 0));
	T_EQ(xstat(&p->host, "tx_q0_oversize_packets"), 1);
	T_EQ(rte_eth_rx_burst(p->dpu.id, 0, &m, 1), 0);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, 1500), -EBUSY);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, 1500), 0);
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_AWAIT(is_up(&p->dpu) && is_up(&p->host));
	send_one(&p->host, 0, frame(p->host.mp, 9000, 0));
	T_EQ(xstat(&p->host, "tx_q0_oversize_packets"), 2);
}

T_CASE_OF(struct ports, begin, end, mtu_needs_room, p)
{
	struct rte_eth_dev_info info;

	T_EQ(rte_eth_dev_info_get(p->dpu.id, &info), 0);
	T_EQ(info.rx_offload_capa, RTE_ETH_RX_OFFLOAD_SCATTER);
	T_EQ(info.tx_offload_capa, RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, ROOM - 26), -EINVAL);
	T_EQ(rte_eth_dev_set_mtu(p->dpu.id, ROOM - 27), 0);
}

/* An offload that was not announced: tx_prepare refuses, a burst drops and counts. */
T_CASE_OF(struct ports, begin, end, offloads_are_refused, p)
{
	struct rte_mbuf *m = frame(p->host.mp, MIN_FRAME, 1);

	T_EQ(rte_eth_tx_prepare(p->host.id, 0, &m, 1), 1);
	m->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
	T_EQ(rte_eth_tx_prepare(p->host.id, 0, &m, 1), 0);
	T_EQ(rte_errno, ENOTSUP);
	send_one(&p->host, 0, m);
	T_EQ(xstat(&p->host, "tx_q0_offload_packets"), 1);
	/* Too short for a frame. */
	m = frame(p->host.mp, RTE_ETHER_HDR_LEN - 1, 1);
	send_one(&p->host, 0, m);
	ping_pong(p, 1);
	T_EQ(xstat(&p->dpu, "rx_q0_error_packets"), 1);
}

static void
send_to(const struct ports *p, const struct rte_ether_addr *dst)
{
	struct rte_mbuf *m = frame(p->host.mp, MIN_FRAME, 1);

	rte_ether_addr_copy(dst, rte_pktmbuf_mtod(m, struct rte_ether_addr *));
	send_one(&p->host, 0, m);
}

T_CASE_OF(struct ports, begin, end, addresses, p)
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
	m = receive(&p->dpu, 0);
	T_CHECK(rte_is_same_ether_addr(rte_pktmbuf_mtod(m, struct rte_ether_addr *), &mine));
	rte_pktmbuf_free(m);
	m = receive(&p->dpu, 0);
	T_CHECK(rte_is_broadcast_ether_addr(rte_pktmbuf_mtod(m, struct rte_ether_addr *)));
	rte_pktmbuf_free(m);
	T_EQ(xstat(&p->dpu, "rx_q0_filtered_packets"), 2);
	T_EQ(rte_eth_allmulticast_enable(p->dpu.id), 0);
	send_to(p, &multicast);
	rte_pktmbuf_free(receive(&p->dpu, 0));
	T_EQ(rte_eth_dev_default_mac_addr_set(p->dpu.id, &other), 0);
	send_to(p, &mine);
	send_to(p, &other);
	rte_pktmbuf_free(receive(&p->dpu, 0));
	T_EQ(xstat(&p->dpu, "rx_q0_filtered_packets"), 3);
	T_EQ(rte_eth_promiscuous_enable(p->dpu.id), 0);
	send_to(p, &mine);
	rte_pktmbuf_free(receive(&p->dpu, 0));
}

/* A pool of exactly one burst never runs dry. */
T_CASE_OF(struct ports, begin, end, one_burst, p)
{
	struct rte_mempool *mp = pool("one", BURST);
	struct rte_mbuf *mbufs[BURST];
	uint32_t i, round;

	for (round = 0; round < 1000; round++) {
		T_AWAIT(rte_eth_tx_done_cleanup(p->host.id, 0, 0) >= 0 &&
			rte_mempool_full(mp));
		for (i = 0; i < BURST; i++)
			mbufs[i] = frame(mp, MIN_FRAME, (uint8_t)i);
		for (i = 0; i < BURST;)
			i += rte_eth_tx_burst(p->host.id, 0, &mbufs[i], (uint16_t)(BURST - i));
		for (i = 0; i < BURST; i++)
			check_frame(&p->dpu, receive(&p->dpu, 0), MIN_FRAME, (uint8_t)i);
	}
	T_AWAIT(rte_eth_tx_done_cleanup(p->host.id, 0, 0) >= 0 && rte_mempool_full(mp));
	rte_mempool_free(mp);
}

/* Send a burst to a port that has no mbuf left, until it has noticed that. */
static void
starve(struct ports *p)
{
	const uint64_t before = xstat(&p->dpu, "rx_q0_mbuf_shortages");
	struct rte_mbuf *mbufs[BURST];
	uint32_t i;

	for (i = 0; i < BURST; i++)
		send_one(&p->host, 0, frame(p->host.mp, MIN_FRAME, (uint8_t)i));
	T_AWAIT(rte_eth_rx_burst(p->dpu.id, 0, mbufs, BURST) == 0 &&
		xstat(&p->dpu, "rx_q0_mbuf_shortages") > before);
}

/* Frames wait while the application's pool is empty. A port that stops counts them. */
T_CASE_OF(struct ports, begin, end, empty_pool, p)
{
	struct rte_mbuf *taken[NB_MBUFS];
	struct rte_eth_stats stats;
	uint32_t i;

	T_EQ(rte_pktmbuf_alloc_bulk(p->dpu.mp, taken, NB_MBUFS), 0);
	starve(p);
	/* They come one by one through the only mbuf, in order. */
	rte_pktmbuf_free(taken[0]);
	for (i = 0; i < BURST; i++)
		check_frame(&p->dpu, receive(&p->dpu, 0), MIN_FRAME, (uint8_t)i);
	taken[0] = rte_pktmbuf_alloc(p->dpu.mp);
	T_CHECK(taken[0] != NULL);
	starve(p);
	T_EQ(rte_eth_dev_stop(p->dpu.id), 0);
	T_EQ(rte_eth_stats_get(p->dpu.id, &stats), 0);
	T_EQ(stats.ipackets, BURST);
	T_EQ(stats.imissed, BURST);
	rte_pktmbuf_free_bulk(taken, NB_MBUFS);
}

static bool
readable(int epfd, int timeout)
{
	struct rte_epoll_event ev;

	return rte_epoll_wait(epfd, &ev, 1, timeout) == 1;
}

T_CASE_OF(struct ports, begin, end, receive_interrupts, p)
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
		send_one(&p->host, 0, frame(p->host.mp, MIN_FRAME, (uint8_t)i));
		T_CHECK(readable(epfd, T_TIMEOUT_MS));
		T_EQ(rte_eth_dev_rx_intr_disable(p->dpu.id, 0), 0);
		check_frame(&p->dpu, receive(&p->dpu, 0), MIN_FRAME, (uint8_t)i);
		/* Something is there already. */
		send_one(&p->host, 0, frame(p->host.mp, MIN_FRAME, (uint8_t)i));
		T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), 0);
		T_CHECK(readable(epfd, T_TIMEOUT_MS));
		T_EQ(rte_eth_dev_rx_intr_disable(p->dpu.id, 0), 0);
		check_frame(&p->dpu, receive(&p->dpu, 0), MIN_FRAME, (uint8_t)i);
		T_EQ(rte_eth_rx_burst(p->dpu.id, 0, &m, 1), 0);
	}
	/* A queue that sleeps hears of a peer that comes back. */
	T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), 0);
	T_EQ(rte_eth_dev_stop(p->host.id), 0);
	T_EQ(rte_eth_dev_start(p->host.id), 0);
	T_CHECK(readable(epfd, T_TIMEOUT_MS));
	T_AWAIT(is_up(&p->host) && is_up(&p->dpu));
	while (readable(epfd, 0))
		T_EQ(rte_eth_rx_burst(p->dpu.id, 0, &m, 1), 0);
	T_EQ(rte_eth_dev_rx_intr_enable(p->dpu.id, 0), 0);
	send_one(&p->host, 0, frame(p->host.mp, MIN_FRAME, 1));
	T_CHECK(readable(epfd, T_TIMEOUT_MS));
	check_frame(&p->dpu, receive(&p->dpu, 0), MIN_FRAME, 1);
	T_EQ(rte_eth_dev_rx_intr_ctl_q(p->dpu.id, 0, epfd, RTE_INTR_EVENT_DEL, NULL), 0);
}

/* A port is pulled while it runs, with packets on their way, and comes back. */
T_CASE_OF(struct ports, begin, end, hot_unplug, p)
{
	char args[1024];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		fill(&p->host, 0);
		fill(&p->dpu, 0);
		unplug(&p->dpu);
		T_AWAIT(!is_up(&p->host));
		snprintf(args, sizeof(args), "role=dpu,name=lan,dir=%s", t_dir());
		plug(&p->dpu, args);
		set_up(&p->dpu, RTE_ETHER_MTU, 0);
		T_EQ(rte_eth_dev_start(p->dpu.id), 0);
		T_EQ(rte_eth_promiscuous_enable(p->dpu.id), 0);
		T_AWAIT(is_up(&p->host) && is_up(&p->dpu));
		T_EQ(rte_eth_stats_reset(p->host.id), 0);
	}
	/* What the first one had sent may still be there. */
	T_AWAIT(rte_eth_rx_burst(p->host.id, 0, (struct rte_mbuf *[1]){ NULL }, 0) == 0);
	ping_pong(p, 10);
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
	struct end e = { .name = "net_comch_a", .nb_queues = 1 }, twin = { .name = "net_comch_b" };
	char args[1024];
	int16_t dev;

	load();
	refuse("name=lan");
	refuse("role=both,name=lan");
	refuse("role=dpu");
	refuse("role=dpu,name=lan,queues=0");
	refuse("role=dpu,name=lan,queues=65");
	refuse("role=dpu,name=lan,queues=four");
	refuse("role=dpu,name=lan,mac=01:00:00:00:00:01");
	refuse("role=dpu,name=lan,role=dpu");
	refuse("role=dpu,name=lan,color=blue");
	refuse("role=dpu,name=lan,driver=comch_none");
	refuse("role=dpu,name=lan,dev=comch_shm7");

	/* By a device of the application's, which stays. */
	snprintf(args, sizeof(args), "comch_shm0,role=dpu,rep=pf0,rep=pf1,dir=%s", t_dir());
	T_EQ(rte_comch_dev_probe(args, &dev), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name,
		"role=dpu,name=lan,dev=comch_shm0,export_eal=1"), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name,
		"role=dpu,name=lan,dev=comch_shm0,driver=comch_ring"), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name, "role=host,name=lan,dev=comch_shm0"), 0);
	T_NE(rte_eal_hotplug_add("vdev", e.name, "role=dpu,name=lan,dev=comch_shm0,rep=pf2"), 0);
	e.mp = pool("a", 255);
	plug(&e, "role=dpu,name=lan,dev=comch_shm0,rep=pf1,mac=02:00:00:00:00:77");
	set_up(&e, RTE_ETHER_MTU, 0);
	T_EQ(rte_eth_dev_start(e.id), 0);
	/* The name is in use: start says so. */
	twin.mp = pool("b", 255);
	twin.nb_queues = 1;
	snprintf(args, sizeof(args), "role=dpu,name=lan,rep=pf1,dir=%s", t_dir());
	plug(&twin, args);
	set_up(&twin, RTE_ETHER_MTU, 0);
	T_EQ(rte_eth_dev_start(twin.id), -EADDRINUSE);
	unplug(&twin);
	unplug(&e);
	T_EQ(rte_comch_dev_count(), 1);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
	t_dir_remove();
}

/* Messages of a peer that is not a port, or a hostile one. */
struct evil {
	const void *data;
	uint32_t len;
};

static void
be_evil(struct rte_comch_poll *poll, int16_t dev, const struct evil *evil)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf), .poll = poll, .name = "lan", .connect_timeout_ms = 10000,
	};
	struct rte_comch_msg msg = { .data = evil->data, .len = evil->len };
	struct rte_comch_client *client = rte_comch_client_create(dev, &conf);
	struct rte_comch_event ev[8];

	T_CHECK(client != NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_WAIT(rte_comch_poll_run(poll, ev, RTE_DIM(ev)),
		rte_comch_client_state(client) == RTE_COMCH_STATE_RUNNING);
	T_WAIT(rte_comch_poll_run(poll, ev, RTE_DIM(ev)),
		rte_comch_conn_send_burst(rte_comch_client_conn(client), &msg, 1) == 1);
	/* The port ends the connection. */
	T_WAIT(rte_comch_poll_run(poll, ev, RTE_DIM(ev)),
		rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_client_destroy(client), 0);
}

T_CASE_OF(struct ports, begin, end, invalid_hello, p)
{
	/* Queues 1, frame 1526, room 2048, and consumer 99, which does not exist. */
	static const uint8_t no_consumer[] = {
		'N', 'E', 'T', 'C', 1, 0, 1, 0, 0xf6, 5, 0, 0, 0, 8, 0, 0, 99, 0, 0, 0,
	};
	static const uint8_t no_room[] = {
		'N', 'E', 'T', 'C', 1, 0, 1, 0, 0xf6, 5, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
	};
	static const uint8_t long_message[300];
	static const struct evil evils[] = {
		{ "", 0 }, { "hello", 5 }, { no_consumer, sizeof(no_consumer) },
		{ no_room, sizeof(no_room) }, { no_consumer, sizeof(no_consumer) - 1 },
		{ long_message, sizeof(long_message) },
	};
	struct rte_comch_poll *poll;
	char args[1024];
	int16_t dev;
	uint32_t i;

	T_EQ(rte_eth_dev_stop(p->host.id), 0);
	snprintf(args, sizeof(args), "comch_shm0,role=host,dir=%s", t_dir());
	T_EQ(rte_comch_dev_probe(args, &dev), 0);
	poll = rte_comch_poll_create(NULL);
	T_CHECK(poll != NULL);
	for (i = 0; i < RTE_DIM(evils); i++)
		be_evil(poll, dev, &evils[i]);
	T_EQ(rte_comch_poll_destroy(poll), 0);
	T_EQ(rte_comch_dev_close(dev), 0);
	T_CHECK(!is_up(&p->dpu));
	T_EQ(rte_eth_dev_start(p->host.id), 0);
	T_AWAIT(is_up(&p->host) && is_up(&p->dpu));
	ping_pong(p, 10);
}
