/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_NET_H
#define U_NET_H

/*
 * Ports of net_comch in this process: the DPU's and the host's of the link "lan". The
 * plugin's path is in the variable T_NET_COMCH.
 */

#include <rte_mbuf.h>

#include "t.h"

#define NET_MBUFS 2047
#define NET_DESC 64
#define NET_BURST 32
#define NET_ROOM 2048
#define NET_MIN_FRAME 60

/* A port and its pool. */
struct net_port {
	const char *name;  /* of the vdev */
	uint16_t id;
	uint16_t nb_queues;
	struct rte_mempool *mp;
	uint32_t nb_lsc;   /* atomic */
};

struct net_ports {
	struct net_port dpu;
	struct net_port host;
};

/* Start EAL and load the plugin. */
void net_load(void);

void net_plug(struct net_port *e, const char *args);
void net_unplug(struct net_port *e);
void net_set_up(struct net_port *e, uint16_t mtu, uint64_t rx_offloads);
/* A pool whose mbufs have NET_ROOM bytes for data, or room bytes. */
struct rte_mempool *net_pool(const char *name, unsigned int n);
struct rte_mempool *net_pool_of(const char *name, unsigned int n, uint16_t room);

/* Both ports, not started. */
void net_open(struct net_ports *p, uint16_t nb_queues, uint16_t mtu, uint64_t rx_offloads);
/* Start both, promiscuous, and wait for the link. */
void net_start(struct net_ports *p);
/* Both with one queue, and their link. */
void net_begin(struct net_ports *p);
/* All mbufs are back when the ports are gone. */
void net_end(struct net_ports *p);
bool net_is_up(const struct net_port *e);

/* Bytes of frame number seed, to a unicast address that no port has. */
struct rte_mbuf *net_frame(struct rte_mempool *mp, uint32_t len, uint8_t seed);
/* Check and free it. */
void net_check_frame(const struct net_port *at, struct rte_mbuf *m, uint32_t len, uint8_t seed);
void net_send(const struct net_port *from, uint16_t queue, struct rte_mbuf *m);
struct rte_mbuf *net_receive(const struct net_port *at, uint16_t queue);
/* As much as fits, until the other's queue is full. Returns the number sent. */
uint64_t net_fill(const struct net_port *from, uint16_t queue);
/* A frame each way, count times. */
void net_ping_pong(struct net_ports *p, uint32_t count);

uint64_t net_xstat(const struct net_port *e, const char *name);

#endif /* U_NET_H */
