/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Statistics since the last reset. A reset records the values; counters are never cleared. */

#include <stdio.h>

#include <rte_comch_stats.h>

#include "comch_ethdev.h"

static const struct {
	const char *name;
	enum comch_rxq_count count;
} rxq_names[] = {
	{ "discarded_packets", COMCH_RXQ_DISCARDED },
	{ "filtered_packets", COMCH_RXQ_FILTERED },
	{ "error_packets", COMCH_RXQ_ERRORS },
	{ "mbuf_shortages", COMCH_RXQ_NO_MBUF },
};

static const struct {
	const char *name;
	enum comch_txq_count count;
} txq_names[] = {
	{ "lost_packets", COMCH_TXQ_LOST },
	{ "oversize_packets", COMCH_TXQ_OVERSIZE },
	{ "offload_packets", COMCH_TXQ_OFFLOAD },
	{ "no_pool_packets", COMCH_TXQ_NO_POOL },
	{ "unconfirmed_packets", COMCH_TXQ_UNCONFIRMED },
};

/* All counters of a receive queue, with those of its consumer. */
static void
rxq_counters(struct comch_rxq *rxq, uint64_t count[COMCH_RXQ_NB])
{
	struct rte_comch_consumer_stats stats;
	unsigned int i;

	/* The consumer is not destroyed meanwhile. */
	rte_spinlock_lock(&rxq->lock);
	for (i = 0; i < COMCH_RXQ_NB; i++)
		count[i] = __atomic_load_n(&rxq->count[i], __ATOMIC_RELAXED);
	if (rxq->made != NULL && rte_comch_consumer_stats_get(rxq->made, &stats) == 0)
		count[COMCH_RXQ_NO_MBUF] += stats.no_mbuf;
	rte_spinlock_unlock(&rxq->lock);
}

static void
txq_counters(struct comch_txq *txq, uint64_t count[COMCH_TXQ_NB])
{
	struct rte_comch_producer_stats stats;
	unsigned int i;

	rte_spinlock_lock(&txq->lock);
	for (i = 0; i < COMCH_TXQ_NB; i++)
		count[i] = __atomic_load_n(&txq->count[i], __ATOMIC_RELAXED);
	if (txq->made != NULL && rte_comch_producer_stats_get(txq->made, &stats) == 0)
		count[COMCH_TXQ_LOST] += stats.errors;
	rte_spinlock_unlock(&txq->lock);
}

/* The same since the last reset. */
static void
rxq_since(struct comch_rxq *rxq, uint64_t count[COMCH_RXQ_NB])
{
	unsigned int i;

	rxq_counters(rxq, count);
	for (i = 0; i < COMCH_RXQ_NB; i++)
		count[i] -= rxq->base[i];
}

static void
txq_since(struct comch_txq *txq, uint64_t count[COMCH_TXQ_NB])
{
	unsigned int i;

	txq_counters(txq, count);
	for (i = 0; i < COMCH_TXQ_NB; i++)
		count[i] -= txq->base[i];
}

static void
add_rxq(struct rte_eth_stats *stats, uint16_t i, const uint64_t c[COMCH_RXQ_NB])
{
	stats->ipackets += c[COMCH_RXQ_PACKETS];
	stats->ibytes += c[COMCH_RXQ_BYTES];
	stats->imissed += c[COMCH_RXQ_DISCARDED];
	stats->ierrors += c[COMCH_RXQ_ERRORS];
	stats->rx_nombuf += c[COMCH_RXQ_NO_MBUF];
	if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS)
		return;
	stats->q_ipackets[i] = c[COMCH_RXQ_PACKETS];
	stats->q_ibytes[i] = c[COMCH_RXQ_BYTES];
	stats->q_errors[i] = c[COMCH_RXQ_ERRORS] + c[COMCH_RXQ_DISCARDED];
}

static void
add_txq(struct rte_eth_stats *stats, uint16_t i, const uint64_t c[COMCH_TXQ_NB])
{
	/* A frame of several messages may be lost more than once. */
	const uint64_t sent = c[COMCH_TXQ_PACKETS] - RTE_MIN(c[COMCH_TXQ_PACKETS],
			c[COMCH_TXQ_LOST]);

	stats->opackets += sent;
	stats->obytes += c[COMCH_TXQ_BYTES];
	stats->oerrors += c[COMCH_TXQ_LOST] + c[COMCH_TXQ_OVERSIZE] + c[COMCH_TXQ_OFFLOAD] +
		c[COMCH_TXQ_NO_POOL];
	if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS)
		return;
	stats->q_opackets[i] = sent;
	stats->q_obytes[i] = c[COMCH_TXQ_BYTES];
}

int
comch_ethdev_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	uint64_t rx[COMCH_RXQ_NB], tx[COMCH_TXQ_NB];
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] == NULL)
			continue;
		rxq_since(dev->data->rx_queues[i], rx);
		add_rxq(stats, i, rx);
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] == NULL)
			continue;
		txq_since(dev->data->tx_queues[i], tx);
		add_txq(stats, i, tx);
	}
	return 0;
}

int
comch_ethdev_stats_reset(struct rte_eth_dev *dev)
{
	struct comch_port *port = dev->data->dev_private;
	struct comch_rxq *rxq;
	struct comch_txq *txq;
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		rxq = dev->data->rx_queues[i];
		if (rxq != NULL)
			rxq_counters(rxq, rxq->base);
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		txq = dev->data->tx_queues[i];
		if (txq != NULL)
			txq_counters(txq, txq->base);
	}
	port->base_ups = __atomic_load_n(&port->nb_ups, __ATOMIC_RELAXED);
	port->base_downs = __atomic_load_n(&port->nb_downs, __ATOMIC_RELAXED);
	return 0;
}

static unsigned int
nb_xstats(const struct rte_eth_dev *dev)
{
	return 2 + dev->data->nb_rx_queues * (unsigned int)RTE_DIM(rxq_names) +
		dev->data->nb_tx_queues * (unsigned int)RTE_DIM(txq_names);
}

int
comch_ethdev_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names,
		unsigned int n)
{
	unsigned int i, k, at = 0;

	if (names == NULL || n < nb_xstats(dev))
		return (int)nb_xstats(dev);
	snprintf(names[at++].name, sizeof(names[0].name), "link_ups");
	snprintf(names[at++].name, sizeof(names[0].name), "link_downs");
	for (i = 0; i < dev->data->nb_rx_queues; i++)
		for (k = 0; k < RTE_DIM(rxq_names); k++)
			snprintf(names[at++].name, sizeof(names[0].name), "rx_q%u_%s", i,
				rxq_names[k].name);
	for (i = 0; i < dev->data->nb_tx_queues; i++)
		for (k = 0; k < RTE_DIM(txq_names); k++)
			snprintf(names[at++].name, sizeof(names[0].name), "tx_q%u_%s", i,
				txq_names[k].name);
	return (int)at;
}

int
comch_ethdev_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct comch_port *port = dev->data->dev_private;
	uint64_t rx[COMCH_RXQ_NB] = { 0 }, tx[COMCH_TXQ_NB] = { 0 };
	unsigned int i, k, at = 0;

	if (xstats == NULL || n < nb_xstats(dev))
		return (int)nb_xstats(dev);
	xstats[at++].value = __atomic_load_n(&port->nb_ups, __ATOMIC_RELAXED) - port->base_ups;
	xstats[at++].value = __atomic_load_n(&port->nb_downs, __ATOMIC_RELAXED) -
		port->base_downs;
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			rxq_since(dev->data->rx_queues[i], rx);
		for (k = 0; k < RTE_DIM(rxq_names); k++)
			xstats[at++].value = rx[rxq_names[k].count];
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] != NULL)
			txq_since(dev->data->tx_queues[i], tx);
		for (k = 0; k < RTE_DIM(txq_names); k++)
			xstats[at++].value = tx[txq_names[k].count];
	}
	for (i = 0; i < at; i++)
		xstats[i].id = i;
	return (int)at;
}
