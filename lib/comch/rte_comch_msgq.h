/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_MSGQ_H
#define RTE_COMCH_MSGQ_H

/**
 * @file
 * MsgQ: small messages between lcores of one process.
 *
 * The model
 * ---------
 *
 * A MsgQ needs no device, server, client or connection. It has one direction: its
 * *producers* send, its *consumers* receive. A message is up to 32 bytes of immediate
 * data, addressed to the id of a consumer, and occupies one cache line. A consumer
 * gives *credits*, one for each message that it can receive; without credit a send
 * accepts nothing ("later").
 *
 *     lcore 1                                lcore 2
 *     +------------+                         +------------+
 *     | producer 1 |---- 64-byte lines ----->| consumer 1 |
 *     +------------+   .--------------.      +------------+
 *     lcore 3      \   | l | l | l |  |      lcore 4
 *     +------------+\  '--------------'      +------------+
 *     | producer 2 | '---------------------->| consumer 2 |
 *     +------------+                         +------------+
 *         <------------------ credits ----------
 *
 * Create two for both directions. All producers of a MsgQ may send to all its
 * consumers; the messages of one producer to one consumer stay in order.
 *
 * A *completion queue* receives the messages of several consumers, also of several
 * MsgQs, in the order of arrival, so that one lcore serves many with one burst.
 *
 * rte_comch_msgq_copy_burst() copies memory before it sends the message: the receiver
 * of the message sees the data. With a DMA device (rte_dmadev) the device copies, and
 * the message is sent when the copy is done.
 *
 * Order of calls
 * --------------
 *
 *     q = rte_comch_msgq_create(NULL)
 *     c = rte_comch_msgq_consumer_create(q, NULL)     on any thread
 *     p = rte_comch_msgq_producer_create(q, NULL)
 *     rte_comch_msgq_credit(c, 64)                    the consumer's lcore
 *     rte_comch_msgq_send_burst(p, ops, n)            the producer's lcore
 *     n = rte_comch_msgq_recv_burst(c, cpls, 32), rte_comch_msgq_credit(c, n)
 *     rte_comch_msgq_consumer_stop(c)
 *     ... recv_burst() until rte_comch_msgq_consumer_state(c) is IDLE
 *     rte_comch_msgq_consumer_destroy(c), rte_comch_msgq_producer_destroy(p)
 *     rte_comch_msgq_destroy(q)
 *
 * Producers and consumers work as soon as they are created. As in rte_comch_dp.h,
 * completions on both sides report errors (struct rte_comch_cpl):
 *
 * | status      | producer                                                  |
 * |-------------|-----------------------------------------------------------|
 * | -EMSGSIZE   | more immediate data than the consumer accepts, or a copy  |
 * |             | of more than 1 GiB                                        |
 * | -ENOENT     | unknown consumer id, or the consumer is stopped           |
 * | -EINVAL     | a payload (addr, mr or len), an unknown flag; a copy      |
 * |             | without an address, or with overlapping memory            |
 * | -EIO        | the DMA device failed to copy                             |
 *
 * | status      | consumer                                                  |
 * |-------------|-----------------------------------------------------------|
 * | -ECANCELED  | a credit returned by a stop                               |
 *
 * Threads
 * -------
 *
 * Each producer, consumer and completion queue belongs to one thread at a time, an EAL
 * lcore or any other. A consumer with a completion queue belongs to the queue's thread.
 * Any thread may create and destroy them and get statistics, but not destroy one during
 * a burst of the same object.
 *
 * To sleep, give a producer or consumer a poll (rte_comch_poll.h), which then also
 * wakes for it, or a function to call: see *notify*.
 *
 * Both sides trust each other, as threads of one process do. In a forked child a MsgQ
 * must not be used: it belongs to the parent; stop and destroy return -EBADFD.
 *
 * Reference: DOCA Comch guide 2.10, "MsgQ (DPA Communication)".
 */

#include <rte_comch_dp.h>
#include <rte_comch_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum producers, and maximum consumers, of a MsgQ. */
#define RTE_COMCH_MSGQ_MAX_ENDS 256

struct rte_comch_msgq;
struct rte_comch_msgq_producer;
struct rte_comch_msgq_consumer;
struct rte_comch_msgq_cq;

/** Configuration of a MsgQ. Zero means default. */
struct rte_comch_msgq_conf {
	size_t conf_size;        /**< sizeof(struct rte_comch_msgq_conf) */
	const char *name;        /**< For logs and telemetry; copied; may be NULL. */
	int socket_id;           /**< NUMA socket of its memory; SOCKET_ID_ANY. */
	uint32_t max_producers;  /**< Default 16. */
	uint32_t max_consumers;  /**< Default 16. */
};

/**
 * Create a MsgQ. Any thread.
 *
 * @param conf
 *   NULL for defaults.
 * @return
 *   The MsgQ, or NULL with rte_errno: EINVAL (more than RTE_COMCH_MSGQ_MAX_ENDS),
 *   ENOMEM.
 */
struct rte_comch_msgq *rte_comch_msgq_create(const struct rte_comch_msgq_conf *conf);

/** Destroy a MsgQ. Any thread. @return 0, -EINVAL, -EBUSY (it has producers or consumers). */
int rte_comch_msgq_destroy(struct rte_comch_msgq *msgq);

/**
 * Called once for each successful rte_comch_msgq_*_arm(), when the event has occurred.
 * It runs in a burst of the thread that caused it: it must not block or call functions
 * of a MsgQ.
 */
typedef void (*rte_comch_msgq_notify_t)(void *arg);

/** @name Consumers
 * @{
 */

/** Configuration of a completion queue. Zero means default. */
struct rte_comch_msgq_cq_conf {
	size_t conf_size;                /**< sizeof(struct rte_comch_msgq_cq_conf) */
	uint32_t size;                   /**< Messages; default 1024; rounded up to 2^n. */
	int socket_id;                   /**< NUMA socket of its memory. */
	struct rte_comch_poll *poll;     /**< Wakes when a message arrives; or NULL. */
	rte_comch_msgq_notify_t notify;  /**< For rte_comch_msgq_cq_arm(); or NULL. */
	void *notify_arg;
};

/**
 * Create a completion queue. Any thread.
 *
 * @return
 *   The queue, or NULL with rte_errno: EINVAL (a size over 2^20, or both poll and
 *   notify), ENOMEM.
 */
struct rte_comch_msgq_cq *rte_comch_msgq_cq_create(const struct rte_comch_msgq_cq_conf *conf);

/** Destroy a completion queue. Any thread. @return 0, -EINVAL, -EBUSY (it has consumers). */
int rte_comch_msgq_cq_destroy(struct rte_comch_msgq_cq *cq);

/**
 * Receive messages of all its consumers, in the order of arrival.
 *
 * @return
 *   Number of completions written to *cpls*; *user_data* is that of the consumer.
 */
uint16_t rte_comch_msgq_cq_recv_burst(struct rte_comch_msgq_cq *cq,
		struct rte_comch_cpl *cpls, uint16_t n);

/**
 * Request one call of notify when a message is there.
 *
 * @return
 *   0 (armed); -EAGAIN: a message is already there; -EINVAL: no notify.
 */
int rte_comch_msgq_cq_arm(struct rte_comch_msgq_cq *cq);

/** Configuration of a consumer. Zero means default. */
struct rte_comch_msgq_consumer_conf {
	size_t conf_size;                /**< sizeof(struct rte_comch_msgq_consumer_conf) */
	uint32_t id;                     /**< Id; 0: the lowest free one, from 1. */
	uint32_t queue_size;             /**< Maximum credits, rounded up to a power of
					  * two; default 1024. */
	uint32_t imm_size;               /**< Longest immediate data; default 32. */
	struct rte_comch_msgq_cq *cq;    /**< Completion queue; NULL: its own queue. */
	struct rte_comch_poll *poll;     /**< Wakes when a message arrives; or NULL. */
	rte_comch_msgq_notify_t notify;  /**< For rte_comch_msgq_consumer_arm(); or NULL. */
	void *notify_arg;
	uint64_t user_data;              /**< Returned in each completion. */
};

/**
 * Create a consumer. Any thread.
 *
 * @return
 *   The consumer, RUNNING, without credits; or NULL with rte_errno: EINVAL (no MsgQ, an
 *   imm_size over 32, a queue_size over 2^20, a cq together with poll or notify, both
 *   poll and notify, an id over the limit), EEXIST (the id is in use), ENOSPC (the
 *   MsgQ's limit is reached), ENOMEM.
 */
struct rte_comch_msgq_consumer *rte_comch_msgq_consumer_create(struct rte_comch_msgq *msgq,
		const struct rte_comch_msgq_consumer_conf *conf);

/**
 * Stop a consumer: sends to it fail from now on. recv_burst() first returns messages
 * that have arrived, then each remaining credit with -ECANCELED (not with a completion
 * queue); then it is IDLE. Called by the consumer's thread or that of its completion
 * queue. Waits for a running burst of a producer of the MsgQ.
 *
 * @return
 *   0 (IDLE), -EINPROGRESS (receive until IDLE), -EINVAL, -EBADFD (not RUNNING).
 */
int rte_comch_msgq_consumer_stop(struct rte_comch_msgq_consumer *consumer);

/**
 * Destroy a consumer. Any thread; waits for bursts as the stop does.
 *
 * @return
 *   0, -EINVAL, -EBUSY (not IDLE).
 */
int rte_comch_msgq_consumer_destroy(struct rte_comch_msgq_consumer *consumer);

/** State of a consumer. NULL: IDLE. Any thread. */
enum rte_comch_state rte_comch_msgq_consumer_state(
		const struct rte_comch_msgq_consumer *consumer);
/** Id of a consumer. NULL: 0. Any thread. */
uint32_t rte_comch_msgq_consumer_id(const struct rte_comch_msgq_consumer *consumer);
/** Any thread. @return 0, -EINVAL. */
int rte_comch_msgq_consumer_stats_get(const struct rte_comch_msgq_consumer *consumer,
		struct rte_comch_consumer_stats *stats);

/**
 * Give credits.
 *
 * @param consumer
 *   The consumer.
 * @param n
 *   Number of messages to allow.
 * @return
 *   Number of credits given. If it is less than *n*, the consumer's or completion queue
 *   is full; 0 if it is not RUNNING. Completions have cookie 0.
 */
uint32_t rte_comch_msgq_credit(struct rte_comch_msgq_consumer *consumer, uint32_t n);

/**
 * Give credits with a cookie each, as rte_comch_consumer_post_burst(). Buffers must be
 * empty (addr and mr NULL, len 0); others are not accepted.
 *
 * @return
 *   Number of buffers accepted.
 */
uint16_t rte_comch_msgq_post_burst(struct rte_comch_msgq_consumer *consumer,
		const struct rte_comch_buf *bufs, uint16_t n);

/**
 * Receive messages.
 *
 * @return
 *   Number of completions written to *cpls*: imm, imm_len, peer_id (the producer), len
 *   (bytes copied before it), cookie, user_data.
 */
uint16_t rte_comch_msgq_recv_burst(struct rte_comch_msgq_consumer *consumer,
		struct rte_comch_cpl *cpls, uint16_t n);

/** As rte_comch_msgq_cq_arm(), for a consumer without a completion queue. */
int rte_comch_msgq_consumer_arm(struct rte_comch_msgq_consumer *consumer);

/** @} */
/** @name Producers
 * @{
 */

/** A DMA device for the copies of one producer only. */
struct rte_comch_msgq_dma {
	int16_t dev_id;  /**< rte_dmadev id, configured and started. */
	uint16_t vchan;  /**< Memory to memory. */
};

/** Configuration of a producer. Zero means default. */
struct rte_comch_msgq_producer_conf {
	size_t conf_size;                /**< sizeof(struct rte_comch_msgq_producer_conf) */
	uint32_t id;                     /**< Id; 0: the lowest free one, from 1. */
	uint32_t queue_size;             /**< Operations between send and done, rounded up
					  * to a power of two; default 1024. */
	const struct rte_comch_msgq_dma *dma; /**< NULL: the CPU copies. */
	struct rte_comch_poll *poll;     /**< Wakes when there is credit; or NULL. */
	rte_comch_msgq_notify_t notify;  /**< For rte_comch_msgq_producer_arm(); or NULL. */
	void *notify_arg;
};

/**
 * Create a producer. Any thread.
 *
 * @return
 *   The producer, or NULL with rte_errno: EINVAL (as for a consumer; an unknown DMA
 *   device or one that cannot copy memory), ENOTSUP (a DMA device while EAL uses
 *   physical addresses), EEXIST, ENOSPC, ENOMEM.
 */
struct rte_comch_msgq_producer *rte_comch_msgq_producer_create(struct rte_comch_msgq *msgq,
		const struct rte_comch_msgq_producer_conf *conf);

/**
 * Destroy a producer. Any thread.
 *
 * @return
 *   0, -EINVAL, -EBUSY (copies are in progress: rte_comch_msgq_done_burst()).
 */
int rte_comch_msgq_producer_destroy(struct rte_comch_msgq_producer *producer);

/** Id of a producer. NULL: 0. Any thread. */
uint32_t rte_comch_msgq_producer_id(const struct rte_comch_msgq_producer *producer);
/** Any thread. @return 0, -EINVAL. */
int rte_comch_msgq_producer_stats_get(const struct rte_comch_msgq_producer *producer,
		struct rte_comch_producer_stats *stats);

/**
 * Send messages: immediate data only.
 *
 * @param producer
 *   The producer.
 * @param ops
 *   The messages. They and what they point to may be reused on return.
 * @param n
 *   Number of messages.
 * @return
 *   Number of messages accepted. If it is less than *n*, there is no credit or the
 *   queue is full.
 */
uint16_t rte_comch_msgq_send_burst(struct rte_comch_msgq_producer *producer,
		const struct rte_comch_op *ops, uint16_t n);

/** A copy, and a message to send when it is done. */
struct rte_comch_msgq_copy {
	void *dst;            /**< Any memory of the process. For a DMA device,
			       * EAL memory or memory registered with EAL. */
	const void *src;      /**< Must not overlap dst. */
	uint64_t cookie;      /**< Returned by rte_comch_msgq_done_burst(). */
	uint32_t len;         /**< Bytes, 0 to 1 GiB. */
	uint32_t consumer_id;
	const void *imm;      /**< Immediate data; copied. */
	uint16_t imm_len;
	uint16_t flags;       /**< RTE_COMCH_OP_F_SILENT or 0. */
	uint32_t reserved;    /**< 0 */
};

/**
 * Copy memory and send a message after each copy. The receiver of the message sees the
 * destination.
 *
 * @return
 *   Number of copies accepted. Without a DMA device the copies are done on return. With
 *   one, source and destination belong to the channel until done_burst() returns the
 *   operation (so use RTE_COMCH_OP_F_SILENT only if the message itself tells you), and
 *   done_burst() and sends continue it.
 */
uint16_t rte_comch_msgq_copy_burst(struct rte_comch_msgq_producer *producer,
		const struct rte_comch_msgq_copy *ops, uint16_t n);

/**
 * Get completions of sends and copies, in order. Status 0: the message was published;
 * the consumer will receive it.
 *
 * @return
 *   Number of completions written to *cpls*.
 */
uint16_t rte_comch_msgq_done_burst(struct rte_comch_msgq_producer *producer,
		struct rte_comch_cpl *cpls, uint16_t n);

/**
 * Whether a consumer has no credit left.
 *
 * @return
 *   1: none; a send would accept nothing. 0: some. -ENOENT: unknown consumer. -EINVAL:
 *   NULL.
 */
int rte_comch_msgq_consumer_empty(struct rte_comch_msgq_producer *producer,
		uint32_t consumer_id);

/**
 * Request one call of notify when the consumer of the last short send has credit again
 * or is gone.
 *
 * @return
 *   0 (armed); -EAGAIN: try again now, or completions are there (returned once per
 *   short send); -EINVAL: no notify.
 */
int rte_comch_msgq_producer_arm(struct rte_comch_msgq_producer *producer);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_MSGQ_H */
