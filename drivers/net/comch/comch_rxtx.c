/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The bursts of a port. */

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>

#include <rte_comch_mem.h>

#include "comch_ethdev.h"

/* Packets that the control thread takes out of a closed queue at a time. */
#define DISCARD_BURST 32

/* Receiving */

static void
drop(struct comch_rxq *rxq, struct rte_mbuf *m, enum comch_rxq_count why)
{
	rte_pktmbuf_free(m);
	comch_queue_count(&rxq->count[why], 1);
}

static void
chain_add(struct comch_rxq *rxq, struct rte_mbuf *m)
{
	struct rte_mbuf *head = rxq->chain;

	if (head == NULL) {
		rxq->chain = m;
	} else if (m->data_len == 0) {
		/* A frame of whole rooms ends with an empty message. */
		rte_pktmbuf_free(m);
		return;
	} else {
		rxq->chain_last->next = m;
		head->nb_segs++;
		head->pkt_len += m->data_len;
	}
	rxq->chain_last = m;
}

/* A message of a frame of several. Returns the frame if it is complete. */
static struct rte_mbuf *
rx_piece(struct comch_rxq *rxq, struct rte_mbuf *m)
{
	const bool is_last = m->data_len < rxq->room;
	struct rte_mbuf *head;

	if (rxq->skips) {
		rte_pktmbuf_free(m);
		rxq->skips = !is_last;
		return NULL;
	}
	chain_add(rxq, m);
	head = rxq->chain;
	if (!is_last && head->pkt_len <= comch_port_max_frame(rxq->port))
		return NULL;
	rxq->chain = NULL;
	if (is_last)
		return head;
	drop(rxq, head, COMCH_RXQ_ERRORS);
	rxq->skips = true;
	return NULL;
}

/* Is the frame for this port? */
static bool
rx_is_ours(const struct comch_rxq *rxq, const struct rte_mbuf *m)
{
	const struct rte_eth_dev_data *data = rxq->port->dev->data;
	const struct rte_ether_addr *dst = rte_pktmbuf_mtod(m, const struct rte_ether_addr *);

	if (rte_is_broadcast_ether_addr(dst))
		return true;
	if (rte_is_multicast_ether_addr(dst))
		return data->all_multicast != 0;
	return rte_is_same_ether_addr(dst, &data->mac_addrs[0]);
}

/* Turn messages into frames, in place. Returns the number of frames. */
static uint16_t
rx_frames(struct comch_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	const bool filters = __atomic_load_n(&rxq->port->filters, __ATOMIC_RELAXED);
	const uint32_t max_frame = comch_port_max_frame(rxq->port);
	uint64_t bytes = 0;
	struct rte_mbuf *m;
	uint16_t i, k = 0;

	for (i = 0; i < n; i++) {
		m = pkts[i];
		if (unlikely(m->data_len >= rxq->room || rxq->chain != NULL || rxq->skips)) {
			m = rx_piece(rxq, m);
			if (m == NULL)
				continue;
		}
		if (unlikely(m->data_len < RTE_ETHER_HDR_LEN || m->pkt_len > max_frame)) {
			drop(rxq, m, COMCH_RXQ_ERRORS);
			continue;
		}
		if (unlikely(filters) && !rx_is_ours(rxq, m)) {
			drop(rxq, m, COMCH_RXQ_FILTERED);
			continue;
		}
		m->port = rxq->port_id;
		bytes += m->pkt_len;
		pkts[k++] = m;
	}
	comch_queue_count(&rxq->count[COMCH_RXQ_PACKETS], k);
	comch_queue_count(&rxq->count[COMCH_RXQ_BYTES], bytes);
	return k;
}

/*
 * Free mbufs whose sends have completed: an application that receives only, until mbufs
 * come back, gets them. Queues that send now do so themselves.
 */
static void
rx_reap(struct comch_rxq *rxq)
{
	const struct rte_eth_dev_data *data = rxq->port->dev->data;
	struct comch_txq *txq;
	uint16_t i;

	for (i = rxq->id; i < data->nb_tx_queues; i += data->nb_rx_queues) {
		txq = data->tx_queues[i];
		if (txq == NULL || !rte_spinlock_trylock(&txq->lock))
			continue;
		if (txq->prod != NULL)
			rte_comch_tx_done_cleanup(txq->prod, 0);
		comch_queue_leave(&txq->lock);
	}
}

/* Receive up to n messages through the bounce buffers, at most COMCH_BOUNCE_BURST. */
static uint16_t
rx_copied(struct comch_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct comch_bounce *b = &rxq->bounce;
	uint16_t k = comch_bounce_fetch(b, rxq->cons, n);

	if (k == 0 || likely(comch_bounce_copy(b, rxq->cons, rxq->mp, pkts, k)))
		return k;
	comch_queue_count(&rxq->count[COMCH_RXQ_NO_MBUF], 1);
	while ((k /= 2) > 0)
		if (comch_bounce_copy(b, rxq->cons, rxq->mp, pkts, k))
			break;
	return k;
}

static uint16_t
rx_messages(struct comch_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t k, sum = 0;

	if (rxq->bounce.mem == NULL)
		return rte_comch_rx_burst(rxq->cons, pkts, n);
	do {
		k = rx_copied(rxq, &pkts[sum], n - sum);
		sum += k;
	} while (k == COMCH_BOUNCE_BURST && sum < n);
	return sum;
}

uint16_t
comch_ethdev_rx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct comch_rxq *rxq = queue;
	uint16_t k = 0;

	if (unlikely(!comch_queue_enter(&rxq->lock)))
		return 0;
	if (likely(rxq->cons != NULL)) {
		k = rx_messages(rxq, pkts, n);
		if (k > 0)
			k = rx_frames(rxq, pkts, k);
		if (unlikely(rxq->reaps))
			rx_reap(rxq);
	}
	comch_queue_leave(&rxq->lock);
	return k;
}

/* Frees packets. Returns the number of frames that end among them. */
static uint16_t
free_packets(const struct comch_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t k = 0, i;

	for (i = 0; i < n; i++)
		k += pkts[i]->data_len < rxq->room;
	rte_pktmbuf_free_bulk(pkts, n);
	return k;
}

void
comch_rxq_discard(struct comch_rxq *rxq, struct rte_comch_consumer *cons)
{
	struct rte_mbuf *pkts[DISCARD_BURST];
	uint64_t frames = 0;
	uint16_t n;

	do {
		if (rxq->bounce.mem != NULL) {
			n = comch_bounce_fetch(&rxq->bounce, cons, DISCARD_BURST);
			frames += comch_bounce_drop(&rxq->bounce);
		} else {
			n = rte_comch_rx_burst(cons, pkts, DISCARD_BURST);
			frames += free_packets(rxq, pkts, n);
		}
	} while (n == DISCARD_BURST);
	comch_queue_count(&rxq->count[COMCH_RXQ_DISCARDED], frames);
}

void
comch_rxq_forget(struct comch_rxq *rxq)
{
	comch_queue_count(&rxq->count[COMCH_RXQ_DISCARDED], comch_bounce_drop(&rxq->bounce));
	if (rxq->chain != NULL)
		drop(rxq, rxq->chain, COMCH_RXQ_ERRORS);
	rxq->chain = NULL;
	rxq->skips = false;
}

/* Sending */

/* Forget pools that may have changed. */
static inline void
tx_forget_pools(struct comch_txq *txq)
{
	const uint32_t changes = comch_ethdev_pool_changes();

	if (likely(changes == txq->pool_changes))
		return;
	txq->pool_changes = changes;
	txq->good_pool = NULL;
	txq->bad_pool = NULL;
}

/* Are all pools of the frame's data registered? */
static bool
tx_pools_ok(struct comch_txq *txq, const struct rte_mbuf *m)
{
	struct rte_mempool *mp;

	for (; m != NULL; m = m->next) {
		mp = RTE_MBUF_CLONED(m) ?
			rte_mbuf_from_indirect((struct rte_mbuf *)(uintptr_t)m)->pool : m->pool;
		if (likely(mp == txq->good_pool))
			continue;
		/* The application may have registered it meanwhile. */
		if (mp == txq->bad_pool && rte_comch_mempool_mr(mp) == NULL)
			return false;
		if (!comch_ethdev_pool_register(mp)) {
			txq->bad_pool = mp;
			return false;
		}
		txq->good_pool = mp;
	}
	return true;
}

/* The number of leading packets that are one message each, and their bytes. */
static uint16_t
tx_plain(struct comch_txq *txq, struct rte_mbuf **pkts, uint16_t n, uint64_t *bytes)
{
	uint64_t sum = 0;
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (unlikely((pkts[i]->ol_flags & RTE_COMCH_MBUF_TX_OFFLOADS) != 0 ||
				pkts[i]->pkt_len >= txq->room ||
				pkts[i]->pkt_len > txq->max_frame ||
				!tx_pools_ok(txq, pkts[i])))
			break;
		sum += pkts[i]->pkt_len;
	}
	*bytes = sum;
	return i;
}

/* Send what is left of a frame. True: it is sent. */
static bool
tx_flush(struct comch_txq *txq)
{
	txq->next_piece += rte_comch_tx_burst(txq->prod, txq->consumer_id,
			&txq->pieces[txq->next_piece], txq->nb_pieces - txq->next_piece);
	if (txq->next_piece < txq->nb_pieces)
		return false;
	txq->nb_pieces = 0;
	txq->next_piece = 0;
	return true;
}

/*
 * Copy a frame into messages of room bytes and a shorter one. Copies, because an indirect
 * mbuf of external memory does not name the pool of its data. False: no mbufs, later.
 */
static bool
tx_split(struct comch_txq *txq, struct rte_mbuf *m)
{
	uint32_t off, len;
	uint16_t n = 0;

	for (off = 0; off <= m->pkt_len; off += txq->room) {
		len = RTE_MIN(m->pkt_len - off, (uint32_t)txq->room);
		txq->pieces[n] = len > 0 ? rte_pktmbuf_copy(m, txq->piece_pool, off, len) :
			rte_pktmbuf_alloc(txq->piece_pool);
		if (txq->pieces[n] == NULL) {
			rte_pktmbuf_free_bulk(txq->pieces, n);
			return false;
		}
		n++;
	}
	txq->nb_pieces = n;
	comch_queue_count(&txq->count[COMCH_TXQ_PACKETS], 1);
	comch_queue_count(&txq->count[COMCH_TXQ_BYTES], m->pkt_len);
	rte_pktmbuf_free(m);
	return true;
}

static void
tx_drop(struct comch_txq *txq, struct rte_mbuf *m, enum comch_txq_count why)
{
	rte_pktmbuf_free(m);
	comch_queue_count(&txq->count[why], 1);
}

/* A packet that is not one message. False: later. */
static bool
tx_special(struct comch_txq *txq, struct rte_mbuf *m)
{
	if ((m->ol_flags & RTE_COMCH_MBUF_TX_OFFLOADS) != 0) {
		tx_drop(txq, m, COMCH_TXQ_OFFLOAD);
		return true;
	}
	if (m->pkt_len > txq->max_frame || (m->pkt_len >= txq->room && !txq->splits)) {
		tx_drop(txq, m, COMCH_TXQ_OVERSIZE);
		return true;
	}
	if (m->pkt_len < txq->room) {
		tx_drop(txq, m, COMCH_TXQ_NO_POOL);
		return true;
	}
	return tx_split(txq, m);
}

static uint16_t
tx_locked(struct comch_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = 0, k, took, i;
	uint64_t bytes;

	tx_forget_pools(txq);
	while (sent < n) {
		if (unlikely(txq->nb_pieces > 0) && !tx_flush(txq))
			break;
		k = tx_plain(txq, &pkts[sent], n - sent, &bytes);
		if (unlikely(k == 0)) {
			if (!tx_special(txq, pkts[sent]))
				break;
			sent++;
			continue;
		}
		took = rte_comch_tx_burst(txq->prod, txq->consumer_id, &pkts[sent], k);
		for (i = took; i < k; i++)
			bytes -= pkts[sent + i]->pkt_len;
		comch_queue_count(&txq->count[COMCH_TXQ_PACKETS], took);
		comch_queue_count(&txq->count[COMCH_TXQ_BYTES], bytes);
		sent += took;
		if (took < k)
			break;
	}
	/* The last frame. The control thread sends the rest if no burst follows. */
	if (unlikely(txq->nb_pieces > 0) && !tx_flush(txq) &&
			!__atomic_exchange_n(&txq->port->flush, true, __ATOMIC_ACQ_REL))
		rte_comch_poll_notify(txq->port->poll);
	return sent;
}

void
comch_txq_flush(struct comch_txq *txq)
{
	rte_spinlock_lock(&txq->lock);
	if (txq->prod != NULL && txq->nb_pieces > 0 && !tx_flush(txq))
		__atomic_store_n(&txq->port->flush, true, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&txq->lock);
}

uint16_t
comch_ethdev_tx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct comch_txq *txq = queue;
	uint16_t sent = 0;

	if (unlikely(!comch_queue_enter(&txq->lock)))
		return 0;
	if (likely(txq->prod != NULL))
		sent = tx_locked(txq, pkts, n);
	comch_queue_leave(&txq->lock);
	return sent;
}

uint16_t
comch_ethdev_tx_prepare(void *queue __rte_unused, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++) {
		if ((pkts[i]->ol_flags & RTE_COMCH_MBUF_TX_OFFLOADS) == 0)
			continue;
		rte_errno = ENOTSUP;
		break;
	}
	return i;
}

int
comch_ethdev_tx_done_cleanup(void *queue, uint32_t free_cnt)
{
	struct comch_txq *txq = queue;
	int ret = 0;

	if (!comch_queue_enter(&txq->lock))
		return 0;
	if (txq->prod != NULL) {
		if (txq->nb_pieces > 0)
			tx_flush(txq);
		ret = rte_comch_tx_done_cleanup(txq->prod, free_cnt);
	}
	comch_queue_leave(&txq->lock);
	return ret;
}

void
comch_txq_forget_frame(struct comch_txq *txq)
{
	if (txq->nb_pieces == 0)
		return;
	rte_pktmbuf_free_bulk(&txq->pieces[txq->next_piece], txq->nb_pieces - txq->next_piece);
	comch_queue_count(&txq->count[COMCH_TXQ_LOST], 1);
	txq->nb_pieces = 0;
	txq->next_piece = 0;
}
