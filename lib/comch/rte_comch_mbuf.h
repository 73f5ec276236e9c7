/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_MBUF_H
#define RTE_COMCH_MBUF_H

/**
 * @file
 * mbufs over producers and consumers, with bursts as of an ethdev.
 *
 * A consumer in mbuf mode posts mbufs of one mempool and receives filled ones; each
 * receive refills the queue as far as the pool allows. One message is one mbuf. A
 * producer sends any mbuf, including multi-segment ones, whose pools are registered
 * (rte_comch_mempool_register(), or pools of rte_comch_pktmbuf_pool_create()).
 *
 *     rte_comch_consumer_rx_setup(consumer, pool)      once it is RUNNING
 *     n = rte_comch_rx_burst(consumer, mbufs, 32)
 *
 *     n = rte_comch_tx_burst(producer, consumer_id, mbufs, 32)
 *     rte_comch_tx_done_cleanup(producer, 0)           frees mbufs that were sent
 *
 * On a device with RTE_COMCH_CAPA_HANDOVER the mbufs are handed over: what is received is
 * the mbuf that was sent, of the sender's pool and with its metadata. The consumer posts
 * nothing, and mbufs to send need not be registered. What cannot be handed over is copied
 * to an mbuf of the consumer's pool, with its metadata: see the guide, "The ring driver".
 * Between processes the consumer's pool must be EAL memory, else its mbufs are posted and
 * nothing is handed over; use rte_comch_pktmbuf_pool_create_multiproc(). Other devices carry
 * the data of an mbuf only.
 *
 * Threads: as for the producer or consumer. Use only rte_comch_rx_burst() on a consumer
 * in mbuf mode, and only rte_comch_tx_burst() and rte_comch_tx_done_cleanup() on a producer
 * on which the former was called.
 */

/* DPDK's rings use ssize_t without it. */
#include <sys/types.h>

#include <rte_mbuf.h>

#include <rte_comch_dp.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Requests in ol_flags for work on transmission: checksums, segmentation, VLAN insertion.
 * Flags that only describe the packet are not among them. A device without
 * RTE_COMCH_CAPA_HANDOVER carries the data of an mbuf only, and refuses mbufs with such a
 * request.
 */
#define RTE_COMCH_MBUF_TX_OFFLOADS (RTE_MBUF_F_TX_OFFLOAD_MASK & \
	~(RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6 | \
	  RTE_MBUF_F_TX_OUTER_IPV4 | RTE_MBUF_F_TX_OUTER_IPV6))

/**
 * Put a RUNNING consumer with nothing posted into mbuf mode and fill its queue. The
 * pool's registration must be one of the consumer's.
 *
 * @return
 *   - 0: done.
 *   - -EINVAL: NULL, or the pool is not registered.
 *   - -EBADFD: not RUNNING, or something was posted already.
 *   - -ENOMEM.
 */
int rte_comch_consumer_rx_setup(struct rte_comch_consumer *consumer,
		struct rte_mempool *mp);

/**
 * Receive messages as mbufs, at most one per posted mbuf, and post new ones. Immediate
 * data is dropped. After a stop or disconnect this returns the posted mbufs to their
 * pool. Without RTE_COMCH_CAPA_HANDOVER an mbuf has one segment, the default headroom, no
 * ol_flags (but RTE_MBUF_F_EXTERNAL) and no port; as with an ethdev, fields of which ol_flags
 * says nothing, such as tx_offload and hash, are undefined.
 *
 * @return
 *   Number of mbufs; the caller owns them.
 */
uint16_t rte_comch_rx_burst(struct rte_comch_consumer *consumer,
		struct rte_mbuf **mbufs, uint16_t n);

/**
 * Send mbufs, each as one message.
 *
 * @param producer
 *   The producer.
 * @param consumer_id
 *   Destination.
 * @param mbufs
 *   The mbufs. The library frees those that it accepts when they are sent: before this
 *   call returns if the device has RTE_COMCH_CAPA_SYNC_SEND; otherwise in a later call,
 *   which may have *n* 0, in rte_comch_tx_done_cleanup(), or when the producer is
 *   destroyed.
 * @param n
 *   Number of mbufs.
 * @return
 *   Number of mbufs accepted. One that can never be sent (too long, pool not
 *   registered, consumer gone, RTE_COMCH_MBUF_TX_OFFLOADS) is accepted, freed and counted
 *   in rte_comch_producer_stats.errors.
 */
uint16_t rte_comch_tx_burst(struct rte_comch_producer *producer,
		uint32_t consumer_id, struct rte_mbuf **mbufs, uint16_t n);

/**
 * Free mbufs that were sent. Without RTE_COMCH_CAPA_SYNC_SEND a producer has them until a
 * later call: make this one where no rte_comch_tx_burst() follows soon, such as after a
 * receive, or before the pool runs empty. As rte_eth_tx_done_cleanup().
 *
 * @param producer
 *   The producer. Only its thread.
 * @param free_cnt
 *   Maximum number of mbufs (chains) to free; 0: all whose sends have completed.
 * @return
 *   Number of mbufs freed, or -EINVAL (NULL).
 */
int rte_comch_tx_done_cleanup(struct rte_comch_producer *producer, uint32_t free_cnt);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_MBUF_H */
