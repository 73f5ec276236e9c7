/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * net_comch: an Ethernet port that is one end of a comch connection. The DPU's port is a
 * server with room for one client, the host's port is its client.
 *
 *     port A                                            port B
 *     transmit queue i  -> producer ==> consumer ->  receive queue i
 *     receive queue i   <- consumer <== producer <-  transmit queue i
 *     control thread    <- control messages (HELLO) -> control thread
 *
 * A transmit queue sends to receive queue i modulo the number of them that the peer has.
 *
 * Threads
 * -------
 *
 * A control thread for each port lives from start to stop. It alone runs the poll of the
 * server or client and its connection, and makes, starts, stops and destroys the
 * producers and consumers. It sleeps on the poll's descriptor without the class TX, and
 * producers and consumers have other polls: traffic does not wake it, except a frame of several
 * messages that finds the peer's queue full: it sends the rest. Start creates the server
 * or client, so that its errors are start's, but does not wait for a peer. Stop tells the
 * thread to end and joins it.
 *
 * The application's lcores call the bursts. They know nothing of connections: a queue
 * has a consumer or producer, or has none and moves nothing. A consumer's own poll is run
 * and armed only for receive interrupts, by the thread that receives.
 *
 * Locks
 * -----
 *
 * Each queue has a spinlock, which a burst takes for its duration: one uncontended atomic
 * exchange, and a store at the end. The control thread takes it for the stores that open or
 * close the queue, after which no burst uses the object any more. Statistics, receive
 * interrupts and the reaping of sends by a receive (which only tries) take it, too. A burst
 * gives up instead of waiting for a holder that was preempted. No two of these locks are
 * waited for at once, and no other lock is held while waiting for one.
 *
 * Life of a link, and the death of the peer
 * -----------------------------------------
 *
 *     WAIT     no connection. A client retries; a server listens.
 *     QUEUES   CONNECTED: consumers start, producers are RUNNING.
 *              Death: the consumers become IDLE without having received: CLOSING.
 *     HELLO    consumers are RUNNING, filled and open to bursts; our HELLO is sent.
 *              Death: as UP; nothing was sent.
 *     UP       the peer's HELLO was valid: producers are open to bursts.
 *              Death: sends fail and are counted (tx lost) until DISCONNECTED closes the
 *              queue. What was sent and may be unread in the dead process' queue is counted
 *              as unconfirmed. What it had sent is received.
 *     CLOSING  DISCONNECTED, a retired consumer of the peer, an invalid message, or stop.
 *              Transmit queues are closed. Bursts drain the consumers; after 250 ms, or at
 *              once if the port stops, the control thread does so, and counts (rx
 *              discarded). Drained queues are destroyed.
 *              Death: the library gives up stops within a second.
 *     END      no queues: disconnect; DISCONNECTED leads to WAIT.
 *
 * A peer that stops retires its consumers first, and has then received or counted all that
 * was sent to it.
 *
 * A peer is not trusted: HELLO is checked, frames have limits, and received data is only
 * data. A port has a comch device of its own, unless the application names one.
 */

#include <errno.h>

#include <bus_vdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "comch_ethdev.h"

#define DEFAULT_DESC 1024
#define DEFAULT_BURST 32
#define MIN_DESC 32

static int
dev_configure(struct rte_eth_dev *dev)
{
	const struct comch_port *port = dev->data->dev_private;

	if (dev->data->nb_rx_queues == 0 || dev->data->nb_tx_queues == 0) {
		PMD_LOG(ERR, "port %u: %u receive and %u transmit queues: at least one of each "
			"expected", dev->data->port_id, dev->data->nb_rx_queues,
			dev->data->nb_tx_queues);
		return -EINVAL;
	}
	return dev->data->nb_rx_queues <= port->max_queues &&
		dev->data->nb_tx_queues <= port->max_queues ? 0 : -EINVAL;
}

static int
dev_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct comch_port *port = dev->data->dev_private;
	const uint16_t max_desc = (uint16_t)RTE_MIN(port->max_dp_queue,
			(uint32_t)COMCH_ETHDEV_MAX_DESC);
	const struct rte_eth_desc_lim lim = {
		.nb_min = MIN_DESC, .nb_max = max_desc, .nb_align = 1,
		.nb_seg_max = UINT16_MAX, .nb_mtu_seg_max = UINT16_MAX,
	};

	info->max_mac_addrs = 1;
	info->max_rx_queues = port->max_queues;
	info->max_tx_queues = port->max_queues;
	info->min_rx_bufsize = COMCH_ETHDEV_MIN_ROOM;
	info->max_rx_pktlen = COMCH_ETHDEV_MAX_FRAME;
	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_mtu = COMCH_ETHDEV_MAX_FRAME - COMCH_ETHDEV_OVERHEAD;
	info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER;
	info->tx_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	info->rx_desc_lim = lim;
	info->tx_desc_lim = lim;
	info->default_rxportconf = (struct rte_eth_dev_portconf){
		.burst_size = DEFAULT_BURST, .ring_size = RTE_MIN(max_desc, DEFAULT_DESC),
		.nb_queues = port->max_queues,
	};
	info->default_txportconf = info->default_rxportconf;
	info->dev_capa &= ~RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP;
	return 0;
}

/* Bytes of data in an mbuf that the port fills. */
static uint16_t
pool_room(struct rte_mempool *mp)
{
	return rte_pktmbuf_data_room_size(mp) - RTE_PKTMBUF_HEADROOM;
}

/* Does the longest frame of an MTU fit into the receive buffers? */
static int
check_mtu(const struct rte_eth_dev *dev, uint16_t mtu)
{
	const bool scatters = (dev->data->dev_conf.rxmode.offloads &
			RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	const struct comch_rxq *rxq;
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues && !scatters; i++) {
		rxq = dev->data->rx_queues[i];
		/* A message of the whole room does not end a frame. */
		if (rxq == NULL || mtu + COMCH_ETHDEV_OVERHEAD < pool_room(rxq->mp))
			continue;
		PMD_LOG(ERR, "port %u: MTU %u needs receive buffers of %u bytes, or scattered "
			"receive; queue %u has %u", dev->data->port_id, mtu,
			mtu + COMCH_ETHDEV_OVERHEAD + 1u, i, pool_room(rxq->mp));
		return -EINVAL;
	}
	return 0;
}

static int
mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	/* The peer knows the old one. */
	if (dev->data->dev_started) {
		PMD_LOG(ERR, "port %u: stop it to change its MTU", dev->data->port_id);
		return -EBUSY;
	}
	return check_mtu(dev, mtu);
}

static void
close_polls(struct rte_eth_dev *dev)
{
	struct rte_comch_poll *poll;
	struct comch_rxq *rxq;
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		rxq = dev->data->rx_queues[i];
		if (rxq == NULL || rxq->poll == NULL)
			continue;
		rte_spinlock_lock(&rxq->lock);
		poll = rxq->poll;
		rxq->poll = NULL;
		rte_spinlock_unlock(&rxq->lock);
		rte_comch_poll_destroy(poll);
	}
}

static int
open_polls(struct rte_eth_dev *dev)
{
	struct comch_rxq *rxq;
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		rxq = dev->data->rx_queues[i];
		rxq->poll = rte_comch_poll_create(NULL);
		if (rxq->poll == NULL)
			return -rte_errno;
	}
	return 0;
}

static void
set_queue_states(struct rte_eth_dev *dev, uint8_t state)
{
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++)
		dev->data->rx_queue_state[i] = state;
	for (i = 0; i < dev->data->nb_tx_queues; i++)
		dev->data->tx_queue_state[i] = state;
}

/* Ethdev starts a port whose queues were configured, but never set up. */
static int
check_queues(const struct rte_eth_dev *dev)
{
	const struct rte_eth_dev_data *data = dev->data;
	uint16_t rx = 0, tx = 0;

	while (rx < data->nb_rx_queues && data->rx_queues[rx] != NULL)
		rx++;
	while (tx < data->nb_tx_queues && data->tx_queues[tx] != NULL)
		tx++;
	if (rx == data->nb_rx_queues && tx == data->nb_tx_queues)
		return 0;
	PMD_LOG(ERR, "port %u: %s queue %u of %u was not set up before the start", data->port_id,
		rx < data->nb_rx_queues ? "receive" : "transmit",
		rx < data->nb_rx_queues ? rx : tx,
		rx < data->nb_rx_queues ? data->nb_rx_queues : data->nb_tx_queues);
	return -EINVAL;
}

/*
 * HELLO has one room for all queues, the smallest: the peer splits frames by it, whichever
 * queue they go to.
 */
static void
set_rooms(const struct rte_eth_dev *dev)
{
	const struct rte_eth_dev_data *data = dev->data;
	uint16_t room = UINT16_MAX, i;
	struct comch_rxq *rxq;

	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		room = RTE_MIN(room, pool_room(rxq->mp));
	}
	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		rxq->room = room;
	}
}

static int
dev_start(struct rte_eth_dev *dev)
{
	struct comch_port *port = dev->data->dev_private;
	int ret;

	ret = check_queues(dev);
	if (ret != 0)
		return ret;
	set_rooms(dev);
	ret = check_mtu(dev, dev->data->mtu);
	if (ret != 0)
		return ret;
	ret = open_polls(dev);
	if (ret == 0)
		ret = comch_ethdev_intr_open(port);
	/* Before the link's thread exists: its callbacks may call dev_stop(). */
	port->started = true;
	if (ret == 0)
		ret = comch_link_start(port);
	if (ret != 0) {
		port->started = false;
		comch_ethdev_intr_close(port);
		close_polls(dev);
		PMD_LOG(ERR, "port %u: cannot start link %s: %s", dev->data->port_id,
			port->name, rte_strerror(-ret));
		return ret;
	}
	dev->data->scattered_rx = (dev->data->dev_conf.rxmode.offloads &
			RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	set_queue_states(dev, RTE_ETH_QUEUE_STATE_STARTED);
	return 0;
}

static int
dev_stop(struct rte_eth_dev *dev)
{
	struct comch_port *port = dev->data->dev_private;

	if (!port->started)
		return 0;
	if (pthread_equal(pthread_self(), port->thread)) {
		PMD_LOG(ERR, "port %u: a callback cannot stop its port", dev->data->port_id);
		return -EBUSY;
	}
	comch_link_stop(port);
	comch_ethdev_intr_close(port);
	close_polls(dev);
	port->started = false;
	set_queue_states(dev, RTE_ETH_QUEUE_STATE_STOPPED);
	return 0;
}

static void
rx_queue_release(struct rte_eth_dev *dev, uint16_t i)
{
	struct comch_rxq *rxq = dev->data->rx_queues[i];

	if (rxq == NULL)
		return;
	comch_bounce_free(&rxq->bounce);
	rte_free(rxq);
	dev->data->rx_queues[i] = NULL;
}

static void
tx_queue_release(struct rte_eth_dev *dev, uint16_t i)
{
	struct comch_txq *txq = dev->data->tx_queues[i];

	if (txq == NULL)
		return;
	rte_mempool_free(txq->piece_pool);
	rte_free(txq);
	dev->data->tx_queues[i] = NULL;
}

static int
rx_queue_setup(struct rte_eth_dev *dev, uint16_t i, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_rxconf *conf __rte_unused, struct rte_mempool *mp)
{
	struct comch_rxq *rxq;

	if (!comch_ethdev_pool_register(mp))
		return -ENOTSUP;
	rxq = rte_zmalloc_socket("comch_rxq", sizeof(*rxq), RTE_CACHE_LINE_SIZE, (int)socket);
	if (rxq == NULL)
		return -ENOMEM;
	rte_spinlock_init(&rxq->lock);
	rxq->id = i;
	rxq->port_id = dev->data->port_id;
	rxq->port = dev->data->dev_private;
	rxq->mp = mp;
	rxq->nb_desc = nb_desc;
	rxq->room = pool_room(mp);
	dev->data->rx_queues[i] = rxq;
	return 0;
}

static int
tx_queue_setup(struct rte_eth_dev *dev, uint16_t i, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_txconf *conf __rte_unused)
{
	struct comch_txq *txq;

	txq = rte_zmalloc_socket("comch_txq", sizeof(*txq), RTE_CACHE_LINE_SIZE, (int)socket);
	if (txq == NULL)
		return -ENOMEM;
	rte_spinlock_init(&txq->lock);
	txq->id = i;
	txq->port_id = dev->data->port_id;
	txq->port = dev->data->dev_private;
	txq->nb_desc = nb_desc;
	dev->data->tx_queues[i] = txq;
	return 0;
}

static void
rxq_info_get(struct rte_eth_dev *dev, uint16_t i, struct rte_eth_rxq_info *info)
{
	const struct comch_rxq *rxq = dev->data->rx_queues[i];

	info->mp = rxq->mp;
	info->nb_desc = rxq->nb_desc;
	info->rx_buf_size = rxq->room;
	info->scattered_rx = dev->data->scattered_rx;
	info->conf.offloads = dev->data->dev_conf.rxmode.offloads;
}

static void
txq_info_get(struct rte_eth_dev *dev, uint16_t i, struct rte_eth_txq_info *info)
{
	const struct comch_txq *txq = dev->data->tx_queues[i];

	info->nb_desc = txq->nb_desc;
	info->conf.offloads = dev->data->dev_conf.txmode.offloads;
}

/* The control thread keeps it up to date. */
static int
link_update(struct rte_eth_dev *dev __rte_unused, int wait __rte_unused)
{
	return 0;
}

static int
promiscuous_enable(struct rte_eth_dev *dev)
{
	struct comch_port *port = dev->data->dev_private;

	__atomic_store_n(&port->filters, false, __ATOMIC_RELAXED);
	return 0;
}

static int
promiscuous_disable(struct rte_eth_dev *dev)
{
	struct comch_port *port = dev->data->dev_private;

	__atomic_store_n(&port->filters, true, __ATOMIC_RELAXED);
	return 0;
}

/* Receiving looks at data->all_multicast and at the address in data. */
static int
allmulticast_set(struct rte_eth_dev *dev __rte_unused)
{
	return 0;
}

static int
mac_addr_set(struct rte_eth_dev *dev __rte_unused, struct rte_ether_addr *addr __rte_unused)
{
	return 0;
}

static void
close_dev(struct comch_port *port)
{
	if (port->owns_dev)
		rte_comch_dev_close(port->dev_id);
	port->owns_dev = false;
}

static int
dev_close(struct rte_eth_dev *dev)
{
	struct comch_port *port = dev->data->dev_private;
	uint16_t i;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	ret = dev_stop(dev);
	if (ret != 0)
		return ret;
	for (i = 0; i < dev->data->nb_rx_queues; i++)
		rx_queue_release(dev, i);
	for (i = 0; i < dev->data->nb_tx_queues; i++)
		tx_queue_release(dev, i);
	close_dev(port);
	comch_ethdev_pools_close();
	/* Part of the private data, which ethdev frees. */
	dev->data->mac_addrs = NULL;
	return 0;
}

static const struct eth_dev_ops ops = {
	.dev_configure = dev_configure,
	.dev_start = dev_start,
	.dev_stop = dev_stop,
	.dev_close = dev_close,
	.dev_infos_get = dev_infos_get,
	.link_update = link_update,
	.promiscuous_enable = promiscuous_enable,
	.promiscuous_disable = promiscuous_disable,
	.allmulticast_enable = allmulticast_set,
	.allmulticast_disable = allmulticast_set,
	.mac_addr_set = mac_addr_set,
	.mtu_set = mtu_set,
	.stats_get = comch_ethdev_stats_get,
	.stats_reset = comch_ethdev_stats_reset,
	.xstats_get = comch_ethdev_xstats_get,
	.xstats_reset = comch_ethdev_stats_reset,
	.xstats_get_names = comch_ethdev_xstats_get_names,
	.rx_queue_setup = rx_queue_setup,
	.rx_queue_release = rx_queue_release,
	.rx_queue_intr_enable = comch_ethdev_intr_enable,
	.rx_queue_intr_disable = comch_ethdev_intr_disable,
	.rxq_info_get = rxq_info_get,
	.tx_queue_setup = tx_queue_setup,
	.tx_queue_release = tx_queue_release,
	.txq_info_get = txq_info_get,
	.tx_done_cleanup = comch_ethdev_tx_done_cleanup,
};

static int
check_dev(struct comch_port *port)
{
	struct rte_comch_dev_info info;

	if (rte_comch_dev_info_get(port->dev_id, &info) != 0)
		return -ENODEV;
	if ((info.capa & RTE_COMCH_CAPA_DATA) == 0) {
		PMD_LOG(ERR, "device %s has no fast path", info.name);
		return -ENOTSUP;
	}
	port->sync_send = (info.capa & RTE_COMCH_CAPA_SYNC_SEND) != 0;
	port->stages_heap = strcmp(info.driver, "comch_shm") == 0;
	port->exports_eal = (info.capa & RTE_COMCH_CAPA_EXPORT_EAL) != 0;
	port->hands_over = (info.capa & RTE_COMCH_CAPA_HANDOVER) != 0;
	port->max_dp_queue = info.max_dp_queue;
	return 0;
}

static void
port_init(struct comch_port *port, struct rte_eth_dev *dev)
{
	struct rte_eth_dev_data *data = dev->data;

	port->dev = dev;
	port->filters = true;
	data->mac_addrs = &port->mac;
	data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	data->dev_link = (struct rte_eth_link){
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX, .link_autoneg = RTE_ETH_LINK_FIXED,
	};
	dev->dev_ops = &ops;
	dev->rx_pkt_burst = comch_ethdev_rx_burst;
	dev->tx_pkt_burst = comch_ethdev_tx_burst;
	dev->tx_pkt_prepare = comch_ethdev_tx_prepare;
}

static int
comch_pmd_probe(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev;
	struct comch_port *port;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		PMD_LOG(ERR, "%s: secondary processes are unsupported: give each its own port",
			rte_vdev_device_name(vdev));
		return -ENOTSUP;
	}
	dev = rte_eth_vdev_allocate(vdev, sizeof(*port));
	if (dev == NULL)
		return -ENOMEM;
	port = dev->data->dev_private;
	ret = comch_ethdev_args(port, rte_vdev_device_args(vdev));
	if (ret != 0)
		goto err;
	ret = check_dev(port);
	if (ret != 0)
		goto err_dev;
	port_init(port, dev);
	comch_ethdev_pools_open();
	rte_eth_dev_probing_finish(dev);
	return 0;

err_dev:
	close_dev(port);
err:
	rte_eth_dev_release_port(dev);
	return ret;
}

static int
comch_pmd_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	int ret;

	if (dev == NULL)
		return 0;
	/* Unplugged while it runs: ethdev does not close it so. */
	ret = rte_eth_dev_stop(dev->data->port_id);
	return ret != 0 ? ret : rte_eth_dev_close(dev->data->port_id);
}

static struct rte_vdev_driver comch_pmd = {
	.probe = comch_pmd_probe,
	.remove = comch_pmd_remove,
};

RTE_PMD_REGISTER_VDEV(net_comch, comch_pmd);
RTE_PMD_REGISTER_PARAM_STRING(net_comch,
	"role=dpu|host "
	"name=<string> "
	"rep=<function> "
	"func=<function> "
	"queues=<int> "
	"mac=xx:xx:xx:xx:xx:xx "
	"driver=<string> "
	"dev=<string>");
RTE_LOG_REGISTER(comch_ethdev_logtype, pmd.net.comch, NOTICE);
