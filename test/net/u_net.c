/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dlfcn.h>
#include <stdlib.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <rte_comch.h>

#include "u_net.h"

void
net_load(void)
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
	struct net_port *e = arg;

	__atomic_fetch_add(&e->nb_lsc, 1, __ATOMIC_RELAXED);
	return 0;
}

void
net_plug(struct net_port *e, const char *args)
{
	T_EQ(rte_eal_hotplug_add("vdev", e->name, args), 0);
	T_EQ(rte_eth_dev_get_port_by_name(e->name, &e->id), 0);
	T_EQ(rte_eth_dev_callback_register(e->id, RTE_ETH_EVENT_INTR_LSC, on_lsc, e), 0);
}

void
net_unplug(struct net_port *e)
{
	T_EQ(rte_eal_hotplug_remove("vdev", e->name), 0);
	T_CHECK(rte_eth_dev_is_valid_port(e->id) == 0);
}

void
net_set_up(struct net_port *e, uint16_t mtu, uint64_t rx_offloads)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mtu = mtu, .offloads = rx_offloads },
		.intr_conf = { .lsc = 1, .rxq = 1 },
	};
	uint16_t i;

	if (mtu > NET_ROOM)
		conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	T_EQ(rte_eth_dev_configure(e->id, e->nb_queues, e->nb_queues, &conf), 0);
	for (i = 0; i < e->nb_queues; i++) {
		T_EQ(rte_eth_rx_queue_setup(e->id, i, NET_DESC, SOCKET_ID_ANY, NULL, e->mp), 0);
		T_EQ(rte_eth_tx_queue_setup(e->id, i, NET_DESC, SOCKET_ID_ANY, NULL), 0);
	}
}

struct rte_mempool *
net_pool_of(const char *name, unsigned int n, uint16_t room)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create(name, n, 0, 0,
			room + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);

	T_CHECK(mp != NULL);
	return mp;
}

struct rte_mempool *
net_pool(const char *name, unsigned int n)
{
	return net_pool_of(name, n, NET_ROOM);
}

bool
net_is_up(const struct net_port *e)
{
	struct rte_eth_link link;

	T_EQ(rte_eth_link_get_nowait(e->id, &link), 0);
	return link.link_status == RTE_ETH_LINK_UP;
}

void
net_start(struct net_ports *p)
{
	T_EQ(rte_eth_dev_start(p->host.id), 0);
	T_EQ(rte_eth_dev_start(p->dpu.id), 0);
	T_EQ(rte_eth_promiscuous_enable(p->host.id), 0);
	T_EQ(rte_eth_promiscuous_enable(p->dpu.id), 0);
	T_AWAIT(net_is_up(&p->host) && net_is_up(&p->dpu));
}

void
net_open(struct net_ports *p, uint16_t nb_queues, uint16_t mtu, uint64_t rx_offloads)
{
	char args[1024];

	net_load();
	*p = (struct net_ports){
		.dpu = { .name = "net_comch_a", .nb_queues = nb_queues },
		.host = { .name = "net_comch_b", .nb_queues = nb_queues },
	};
	p->dpu.mp = net_pool("a", NET_MBUFS);
	p->host.mp = net_pool("b", NET_MBUFS);
	snprintf(args, sizeof(args), "role=dpu,rep=pf0,name=lan,queues=%u,dir=%s", nb_queues,
		t_dir());
	net_plug(&p->dpu, args);
	snprintf(args, sizeof(args), "role=host,func=pf0,name=lan,queues=%u,dir=%s", nb_queues,
		t_dir());
	net_plug(&p->host, args);
	net_set_up(&p->dpu, mtu, rx_offloads);
	net_set_up(&p->host, mtu, rx_offloads);
}

void
net_begin(struct net_ports *p)
{
	net_open(p, 1, RTE_ETHER_MTU, 0);
	net_start(p);
}

void
net_end(struct net_ports *p)
{
	net_unplug(&p->host);
	net_unplug(&p->dpu);
	T_EQ(rte_comch_dev_count(), 0);
	T_CHECK(rte_mempool_full(p->dpu.mp));
	T_CHECK(rte_mempool_full(p->host.mp));
	rte_mempool_free(p->dpu.mp);
	rte_mempool_free(p->host.mp);
	t_eal_stop();
	t_dir_remove();
}

struct rte_mbuf *
net_frame(struct rte_mempool *mp, uint32_t len, uint8_t seed)
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

void
net_check_frame(const struct net_port *at, struct rte_mbuf *m, uint32_t len, uint8_t seed)
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

void
net_send(const struct net_port *from, uint16_t queue, struct rte_mbuf *m)
{
	T_AWAIT(rte_eth_tx_burst(from->id, queue, &m, 1) == 1);
}

struct rte_mbuf *
net_receive(const struct net_port *at, uint16_t queue)
{
	struct rte_mbuf *m = NULL;

	/* Sending continues what was sent in pieces. */
	T_AWAIT(rte_eth_rx_burst(at->id, queue, &m, 1) == 1);
	return m;
}

uint64_t
net_xstat(const struct net_port *e, const char *name)
{
	uint64_t id, value;

	T_EQ(rte_eth_xstats_get_id_by_name(e->id, name, &id), 0);
	T_EQ(rte_eth_xstats_get_by_id(e->id, &id, &value, 1), 1);
	return value;
}

/* Send a frame if there is room. */
static bool
try_send(const struct net_port *from, uint16_t queue, uint8_t seed)
{
	struct rte_mbuf *m = net_frame(from->mp, NET_MIN_FRAME, seed);

	if (rte_eth_tx_burst(from->id, queue, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

uint64_t
net_fill(const struct net_port *from, uint16_t queue)
{
	uint64_t n;

	/*
	 * One refusal does not tell that the other's queue is full: none is accepted while the
	 * control thread has the queue either. Buffers are posted in groups of a quarter of the
	 * queue at most, so that there is room for the other three.
	 */
	for (n = 0; n <= NET_DESC - NET_DESC / 4; n++)
		T_AWAIT(try_send(from, queue, (uint8_t)n));
	T_SETTLE(try_send(from, queue, (uint8_t)n) ? ++n : 0);
	return n;
}

static void
pass(const struct net_port *from, const struct net_port *to, uint32_t len, uint8_t seed)
{
	net_send(from, 0, net_frame(from->mp, len, seed));
	net_check_frame(to, net_receive(to, 0), len, seed);
}

void
net_ping_pong(struct net_ports *p, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		pass(&p->host, &p->dpu, NET_MIN_FRAME + i % 1000, (uint8_t)i);
		pass(&p->dpu, &p->host, NET_MIN_FRAME + i % 1000, (uint8_t)i);
	}
}
