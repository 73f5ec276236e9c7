/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_MBUF_H
#define RTE_COMCH_MBUF_H

/**
 * @file
 * mbufs over producers and consumers: the calls of an ethdev.
 *
 * A consumer in mbuf mode posts mbufs of one mempool and receives filled
 * ones; each receive posts as many new ones as the pool gives. One message is
 * one mbuf. A producer takes any mbuf, of several segments too, whose pools
 * are registered (rte_comch_mempool_register(), or pools of
 * rte_comch_pktmbuf_pool_create()).
 *
 *     rte_comch_consumer_rx_setup(consumer, pool)      once it is RUNNING
 *     n = rte_comch_rx_burst(consumer, mbufs, 32)
 *
 *     n = rte_comch_tx_burst(producer, consumer_id, mbufs, 32)
 *
 * Thread rule: that of the producer or consumer. A consumer in mbuf mode is
 * received from by rte_comch_rx_burst() only, and a producer that
 * rte_comch_tx_burst() was called on by that only.
 */

#include <rte_mbuf.h>

#include <rte_comch_dp.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Put a RUNNING consumer with nothing posted into mbuf mode and fill its
 * queue. The pool's registration must be one of the consumer's.
 *
 * @return
 *   - 0: done.
 *   - -EINVAL: no consumer or pool, or the pool is not registered.
 *   - -EBADFD: not RUNNING, or something was posted already.
 *   - -ENOMEM.
 */
int rte_comch_consumer_rx_setup(struct rte_comch_consumer *consumer,
		struct rte_mempool *mp);

/**
 * Receive messages as mbufs, at most one per posted mbuf, and post new ones.
 * Immediate data is dropped. After a stop or disconnect the posted mbufs go
 * back to their pool during this call.
 *
 * @return
 *   Number of mbufs, which are the caller's.
 */
uint16_t rte_comch_rx_burst(struct rte_comch_consumer *consumer,
		struct rte_mbuf **mbufs, uint16_t n);

/**
 * Send mbufs, each as one message.
 *
 * @param producer
 *   The producer.
 * @param consumer_id
 *   Whom to.
 * @param mbufs
 *   The mbufs. Those taken are freed once they are done: on return with
 *   RTE_COMCH_CAPA_SYNC_SEND, otherwise by a later call, which may be for no mbufs, or
 *   when the producer is destroyed.
 * @param n
 *   Number of mbufs.
 * @return
 *   How many were taken. One that can never be sent (too long, pool not
 *   registered, consumer retired) is taken, freed and counted in
 *   rte_comch_producer_stats.errors.
 */
uint16_t rte_comch_tx_burst(struct rte_comch_producer *producer,
		uint32_t consumer_id, struct rte_mbuf **mbufs, uint16_t n);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_MBUF_H */
