/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The queues of a connection: a consumer for each receive queue, a producer for each
 * transmit queue. The control thread makes them, opens them to bursts, closes them and
 * destroys them.
 */

#include <errno.h>
#include <inttypes.h>

#include <rte_errno.h>

#include <rte_comch_mem.h>
#include <rte_comch_stats.h>

#include "comch_ethdev.h"

/* Mbufs of frames that are sent as several messages: some may wait for completion. */
#define NB_PIECE_MBUFS (4 * COMCH_ETHDEV_MAX_PIECES - 1)

/*
 * If the peer cannot write to the application's pool, messages would be staged, one at a time.
 * Bursts to memory that is shared with this peer alone, and a copy from there, cost half.
 */
static bool
needs_bounce(const struct comch_port *port, const struct comch_rxq *rxq)
{
	struct rte_comch_mr_info info;

	if (!port->stages_heap || rte_comch_mem_info_get(rte_comch_mempool_mr(rxq->mp), &info) != 0)
		return false;
	return info.kind == RTE_COMCH_MEM_HEAP ||
		(info.kind == RTE_COMCH_MEM_EAL && !port->exports_eal);
}

static int
make_bounce(struct comch_port *port, struct comch_rxq *rxq)
{
	int ret = comch_bounce_free(&rxq->bounce);

	if (ret != 0 || !needs_bounce(port, rxq))
		return ret;
	ret = comch_bounce_create(&rxq->bounce, rxq->nb_desc, rxq->room);
	if (ret != 0)
		PMD_LOG(ERR, "port %u: no memory for the buffers of receive queue %u: %s",
			rxq->port_id, rxq->id, rte_strerror(-ret));
	return ret;
}

static int
make_rx(struct comch_port *port, struct comch_rxq *rxq)
{
	int ret = make_bounce(port, rxq);
	struct rte_comch_mr *mr = rxq->bounce.mem != NULL ? rxq->bounce.mr :
		rte_comch_mempool_mr(rxq->mp);
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf), .poll = rxq->poll, .queue_size = rxq->nb_desc,
		.mrs = &mr, .nb_mrs = 1,
	};
	struct rte_comch_consumer *cons;

	if (ret != 0)
		return ret;
	if (mr == NULL)
		return -EINVAL;
	cons = rte_comch_consumer_create(port->peer->conn, &conf);
	if (cons == NULL)
		return -rte_errno;
	rte_spinlock_lock(&rxq->lock);
	rxq->made = cons;
	rte_spinlock_unlock(&rxq->lock);
	if (rte_comch_consumer_start(rxq->made) != -EINPROGRESS)
		return -ECONNRESET;
	return 0;
}

static int
make_tx(struct comch_port *port, struct comch_txq *txq)
{
	struct rte_comch_producer_conf conf = {
		.conf_size = sizeof(conf), .poll = port->prod_poll, .queue_size = txq->nb_desc,
	};
	struct rte_comch_producer *prod;

	prod = rte_comch_producer_create(port->peer->conn, &conf);
	if (prod == NULL)
		return -rte_errno;
	rte_spinlock_lock(&txq->lock);
	txq->made = prod;
	rte_spinlock_unlock(&txq->lock);
	return rte_comch_producer_start(txq->made);
}

int
comch_link_make_queues(struct comch_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	int ret = 0;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues && ret == 0; i++)
		ret = make_rx(port, data->rx_queues[i]);
	for (i = 0; i < data->nb_tx_queues && ret == 0; i++)
		ret = make_tx(port, data->tx_queues[i]);
	return ret;
}

/* Open the queue to bursts with a consumer, or close it: NULL. */
static void
rxq_install(struct comch_rxq *rxq, struct rte_comch_consumer *cons)
{
	rte_spinlock_lock(&rxq->lock);
	rxq->cons = cons;
	if (cons == NULL)
		comch_rxq_forget(rxq);
	rte_spinlock_unlock(&rxq->lock);
	/* A thread that sleeps on the queue was not armed for this consumer. */
	rte_comch_poll_notify(rxq->poll);
}

static int
fill_rx(struct comch_rxq *rxq)
{
	if (rxq->bounce.mem == NULL)
		return rte_comch_consumer_rx_setup(rxq->made, rxq->mp);
	comch_bounce_post(&rxq->bounce, rxq->made);
	return 0;
}

int
comch_link_open_rx(struct comch_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	struct comch_rxq *rxq;
	uint16_t i;
	int ret;

	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		if (rte_comch_consumer_state(rxq->made) == RTE_COMCH_STATE_IDLE)
			return -ECONNRESET;
		if (rte_comch_consumer_state(rxq->made) != RTE_COMCH_STATE_RUNNING)
			return -EAGAIN;
	}
	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		rxq->reaps = !port->sync_send;
		ret = fill_rx(rxq);
		if (ret != 0)
			return ret;
		rxq_install(rxq, rxq->made);
	}
	return 0;
}

/* The pool of frames that are longer than the peer's messages, kept until the port closes. */
static bool
piece_pool_ready(struct comch_txq *txq, uint16_t room)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	if (room > UINT16_MAX - RTE_PKTMBUF_HEADROOM)
		return false;
	if (txq->piece_pool == NULL || rte_pktmbuf_data_room_size(txq->piece_pool) <
			room + RTE_PKTMBUF_HEADROOM) {
		rte_mempool_free(txq->piece_pool);
		snprintf(name, sizeof(name), "comch_p%u_t%u", txq->port_id, txq->id);
		txq->piece_pool = rte_pktmbuf_pool_create(name, NB_PIECE_MBUFS, 0, 0,
				room + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	}
	/* It may be there since an earlier link, and not be registered: there was no room. */
	if (txq->piece_pool != NULL && comch_ethdev_pool_register(txq->piece_pool))
		return true;
	PMD_LOG(ERR, "port %u: transmit queue %u has no pool for frames longer than %u bytes, "
		"which it drops", txq->port_id, txq->id, room);
	return false;
}

void
comch_link_open_tx(struct comch_port *port)
{
	const struct comch_hello *hello = &port->peer->hello;
	const struct rte_eth_dev_data *data = port->dev->data;
	struct comch_txq *txq;
	bool splits;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		txq = data->tx_queues[i];
		/* Messages of two producers would mix: one for each receive queue. */
		splits = data->nb_tx_queues <= hello->nb_queues &&
			hello->max_frame >= hello->room &&
			piece_pool_ready(txq, (uint16_t)hello->room);
		rte_spinlock_lock(&txq->lock);
		txq->consumer_id = hello->ids[i % hello->nb_queues];
		txq->room = (uint16_t)hello->room;
		txq->max_frame = hello->max_frame;
		txq->splits = splits;
		/* A new link tries it again. */
		txq->bad_pool = NULL;
		txq->prod = txq->made;
		rte_spinlock_unlock(&txq->lock);
	}
}

/*
 * What was sent to a consumer whose process died may not have been received: at most what
 * its queue holds. A consumer that retired has counted what it did not deliver.
 */
static uint64_t
nb_unconfirmed(const struct comch_peer *peer, const struct comch_txq *txq)
{
	struct rte_comch_producer_stats stats;
	uint16_t i;

	for (i = 0; peer->ended && i < peer->nb_consumers; i++)
		if (peer->consumers[i].id == txq->consumer_id &&
				rte_comch_producer_stats_get(txq->made, &stats) == 0)
			return RTE_MIN(stats.msgs, (uint64_t)peer->consumers[i].depth);
	return 0;
}

/* Close the queue to bursts. It is locked. */
static void
shut_tx(struct comch_port *port, struct comch_txq *txq)
{
	if (txq->prod == NULL)
		return;
	comch_txq_forget_frame(txq);
	comch_queue_count(&txq->count[COMCH_TXQ_UNCONFIRMED], nb_unconfirmed(port->peer, txq));
	txq->prod = NULL;
}

void
comch_link_hold_tx(struct comch_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	struct comch_txq *txq;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		txq = data->tx_queues[i];
		rte_spinlock_lock(&txq->lock);
	}
}

void
comch_link_release_tx(struct comch_port *port, bool shut)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	struct comch_txq *txq;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		txq = data->tx_queues[i];
		if (shut)
			shut_tx(port, txq);
		rte_spinlock_unlock(&txq->lock);
	}
}

static void
close_tx(struct comch_port *port, struct comch_txq *txq)
{
	rte_spinlock_lock(&txq->lock);
	shut_tx(port, txq);
	rte_spinlock_unlock(&txq->lock);
	if (rte_comch_producer_state(txq->made) == RTE_COMCH_STATE_RUNNING)
		rte_comch_producer_stop(txq->made);
}

/* Bursts go on: they take what was sent before the end. The stop is not during one. */
static void
close_rx(struct comch_rxq *rxq)
{
	enum rte_comch_state state;

	rte_spinlock_lock(&rxq->lock);
	state = rte_comch_consumer_state(rxq->made);
	if (state == RTE_COMCH_STATE_RUNNING || state == RTE_COMCH_STATE_STARTING)
		rte_comch_consumer_stop(rxq->made);
	rte_spinlock_unlock(&rxq->lock);
	rte_comch_poll_notify(rxq->poll);
}

void
comch_link_close_queues(struct comch_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++)
		close_tx(port, data->tx_queues[i]);
	for (i = 0; i < data->nb_rx_queues; i++)
		close_rx(data->rx_queues[i]);
}

/* Destroy a consumer that is drained. */
static bool
end_rx(struct comch_rxq *rxq, bool drain)
{
	struct rte_comch_consumer *cons = rxq->made;
	struct rte_comch_consumer_stats stats = { 0 };

	if (cons == NULL)
		return true;
	if (drain && rxq->cons != NULL)
		rxq_install(rxq, NULL);
	if (drain)
		comch_rxq_discard(rxq, cons);
	if (rte_comch_consumer_state(cons) != RTE_COMCH_STATE_IDLE)
		return false;
	if (rxq->cons != NULL)
		rxq_install(rxq, NULL);
	rte_spinlock_lock(&rxq->lock);
	rte_comch_consumer_stats_get(cons, &stats);
	comch_queue_count(&rxq->count[COMCH_RXQ_NO_MBUF], stats.no_mbuf);
	rxq->made = NULL;
	rte_comch_consumer_destroy(cons);
	/* One run services it, the next frees it. */
	rte_comch_poll_run(rxq->poll, NULL, 0);
	rte_comch_poll_run(rxq->poll, NULL, 0);
	rte_spinlock_unlock(&rxq->lock);
	comch_bounce_free(&rxq->bounce);
	return true;
}

static bool
end_tx(struct comch_txq *txq)
{
	struct rte_comch_producer *prod = txq->made;
	struct rte_comch_producer_stats stats = { 0 };

	if (prod == NULL)
		return true;
	if (rte_comch_producer_state(prod) != RTE_COMCH_STATE_IDLE) {
		rte_comch_tx_done_cleanup(prod, 0);
		return false;
	}
	rte_spinlock_lock(&txq->lock);
	rte_comch_producer_stats_get(prod, &stats);
	comch_queue_count(&txq->count[COMCH_TXQ_LOST], stats.errors);
	txq->made = NULL;
	rte_spinlock_unlock(&txq->lock);
	rte_comch_producer_destroy(prod);
	return true;
}

bool
comch_link_end_queues(struct comch_port *port, bool drain)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	bool done = true;
	uint16_t i;

	/* Ends stops that take too long, and frees what was destroyed. */
	rte_comch_poll_run(port->prod_poll, NULL, 0);
	for (i = 0; i < data->nb_tx_queues; i++)
		done &= end_tx(data->tx_queues[i]);
	for (i = 0; i < data->nb_rx_queues; i++)
		done &= end_rx(data->rx_queues[i], drain);
	return done;
}
