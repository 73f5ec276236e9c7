/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_MSGQ_H
#define RTE_COMCH_MSGQ_H

/**
 * @file
 * MsgQ: small messages from lcore to lcore of one process.
 *
 * The model
 * ---------
 *
 * A MsgQ needs no device, server, client or connection. It has one direction:
 * its *producers* send, its *consumers* receive. A message is up to 32 bytes
 * of immediate data, addressed to the id of a consumer, and travels in one
 * cache line. A consumer gives *credits*, one for each message that it is
 * ready for; with none left a send takes nothing ("later").
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
 * For both directions make two. All producers of a MsgQ may send to all its
 * consumers; the messages of one producer to one consumer stay in order.
 *
 * A *completion queue* takes what arrives for several consumers, also of
 * several MsgQs, in the order of arrival: one lcore serves many with one burst.
 *
 * rte_comch_msgq_copy_burst() copies a block before it sends the message: who
 * receives the message sees the data. With a DMA device (rte_dmadev) the copy
 * is its work and the message goes out once it is done.
 *
 * The order of calls
 * ------------------
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
 * Ends work from their creation on. What becomes of one message is said as in
 * rte_comch_dp.h, by completions of both sides (struct rte_comch_cpl):
 *
 * | status      | producer                                                  |
 * |-------------|-----------------------------------------------------------|
 * | -EMSGSIZE   | more immediate data than the consumer takes, or a copy of |
 * |             | more than 1 GiB                                           |
 * | -ENOENT     | no consumer has that id, or it is stopped                 |
 * | -EINVAL     | a payload (addr, mr or len), an unknown flag; a copy      |
 * |             | without an address, or onto itself                        |
 * | -EIO        | the DMA device says that the copy failed                  |
 *
 * | status      | consumer                                                  |
 * |-------------|-----------------------------------------------------------|
 * | -ECANCELED  | a credit that comes back by a stop                        |
 *
 * Threads
 * -------
 *
 * Each producer, consumer and completion queue belongs to one thread at a
 * time, an EAL lcore or any other; a consumer with a completion queue belongs
 * to that one's thread. Create, destroy and statistics are for any thread,
 * destroy not while another one is in a burst of the same object.
 *
 * Who sleeps gives an end a poll (rte_comch_poll.h), which then wakes for it
 * as for all its others, or a function to call: see *notify*.
 *
 * The sides trust each other as threads of one process do. In a forked child a
 * MsgQ is its parent's: stop and destroy say -EBADFD, and it must not be used.
 *
 * Comes from: DOCA Comch guide 2.10, "MsgQ (DPA Communication)".
 */

#include <rte_comch_dp.h>
#include <rte_comch_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Producers and consumers of one MsgQ that may be asked for. */
#define RTE_COMCH_MSGQ_MAX_ENDS 256

struct rte_comch_msgq;
struct rte_comch_msgq_producer;
struct rte_comch_msgq_consumer;
struct rte_comch_msgq_cq;

/** How to create a MsgQ. Zero means default. */
struct rte_comch_msgq_conf {
	size_t conf_size;        /**< sizeof(struct rte_comch_msgq_conf) */
	const char *name;        /**< For logs and telemetry; copied; may be NULL. */
	int socket_id;           /**< NUMA socket of its memory; SOCKET_ID_ANY. */
	uint32_t max_producers;  /**< At a time; default 16. */
	uint32_t max_consumers;  /**< At a time; default 16. */
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
 * Called once for each successful rte_comch_msgq_*_arm(), when there is what
 * the end waited for. By the thread that caused it, within its burst: it must
 * not block, nor call anything of a MsgQ.
 */
typedef void (*rte_comch_msgq_notify_t)(void *arg);

/** @name Consumers
 * @{
 */

/** How to create a completion queue. Zero means default. */
struct rte_comch_msgq_cq_conf {
	size_t conf_size;                /**< sizeof(struct rte_comch_msgq_cq_conf) */
	uint32_t size;                   /**< Messages; default 1024; raised to a power of two. */
	int socket_id;                   /**< NUMA socket of its memory. */
	struct rte_comch_poll *poll;     /**< Wakes when something arrives; or NULL. */
	rte_comch_msgq_notify_t notify;  /**< For rte_comch_msgq_cq_arm(); or NULL. */
	void *notify_arg;
};

/**
 * Create a completion queue. Any thread.
 *
 * @return
 *   The queue, or NULL with rte_errno: EINVAL (a size over 2^20, both a poll
 *   and a notify), ENOMEM.
 */
struct rte_comch_msgq_cq *rte_comch_msgq_cq_create(const struct rte_comch_msgq_cq_conf *conf);

/** Destroy a completion queue. Any thread. @return 0, -EINVAL, -EBUSY (it has consumers). */
int rte_comch_msgq_cq_destroy(struct rte_comch_msgq_cq *cq);

/**
 * Receive what arrived for any of its consumers, in the order of arrival.
 *
 * @return
 *   How many completions were written to *cpls*; *user_data* of each is that
 *   of its consumer.
 */
uint16_t rte_comch_msgq_cq_recv_burst(struct rte_comch_msgq_cq *cq,
		struct rte_comch_cpl *cpls, uint16_t n);

/**
 * Ask for one call of notify when a message is there.
 *
 * @return
 *   0 (armed); -EAGAIN: something is there already; -EINVAL: no notify.
 */
int rte_comch_msgq_cq_arm(struct rte_comch_msgq_cq *cq);

/** How to create a consumer. Zero means default. */
struct rte_comch_msgq_consumer_conf {
	size_t conf_size;                /**< sizeof(struct rte_comch_msgq_consumer_conf) */
	uint32_t id;                     /**< Its id; 0: the lowest that is free, from 1. */
	uint32_t queue_size;             /**< Credits at a time; default 1024; raised to
					  * a power of two. */
	uint32_t imm_size;               /**< Immediate data that it takes; default 32. */
	struct rte_comch_msgq_cq *cq;    /**< Where its messages arrive; NULL: its own. */
	struct rte_comch_poll *poll;     /**< Wakes when something arrives; or NULL. */
	rte_comch_msgq_notify_t notify;  /**< For rte_comch_msgq_consumer_arm(); or NULL. */
	void *notify_arg;
	uint64_t user_data;              /**< In each completion. */
};

/**
 * Create a consumer. Any thread.
 *
 * @return
 *   The consumer, RUNNING, without credits; or NULL with rte_errno: EINVAL (no
 *   MsgQ, an imm_size over 32, a queue_size over 2^20, a cq and a way to sleep
 *   of its own, both a poll and a notify, an id over the limit), EEXIST (the id
 *   is taken), ENOSPC (as many as the MsgQ may have), ENOMEM.
 */
struct rte_comch_msgq_consumer *rte_comch_msgq_consumer_create(struct rte_comch_msgq *msgq,
		const struct rte_comch_msgq_consumer_conf *conf);

/**
 * Stop a consumer: sends to it fail from now on. What has arrived is received,
 * then each credit that is left comes back with -ECANCELED (not so with a
 * completion queue); then it is IDLE. The consumer's thread, or that of its
 * completion queue; waits for the end of a burst in which a producer of the MsgQ is.
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

/** State. Any thread. NULL: IDLE. */
enum rte_comch_state rte_comch_msgq_consumer_state(
		const struct rte_comch_msgq_consumer *consumer);
/** Its id. Any thread. NULL: 0. */
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
 *   For how many messages more.
 * @return
 *   How many were given; fewer than *n*: its queue, or the completion queue,
 *   is full; 0 when it is not RUNNING. Completions have cookie 0.
 */
uint32_t rte_comch_msgq_credit(struct rte_comch_msgq_consumer *consumer, uint32_t n);

/**
 * The same with a cookie for each credit, as rte_comch_consumer_post_burst()
 * does: buffers are empty (addr and mr NULL, len 0), others are not taken.
 *
 * @return
 *   How many were taken.
 */
uint16_t rte_comch_msgq_post_burst(struct rte_comch_msgq_consumer *consumer,
		const struct rte_comch_buf *bufs, uint16_t n);

/**
 * Receive messages.
 *
 * @return
 *   How many completions were written to *cpls*: imm, imm_len, peer_id (the
 *   producer), len (bytes copied before it), cookie, user_data.
 */
uint16_t rte_comch_msgq_recv_burst(struct rte_comch_msgq_consumer *consumer,
		struct rte_comch_cpl *cpls, uint16_t n);

/** As rte_comch_msgq_cq_arm(), of a consumer's own queue. */
int rte_comch_msgq_consumer_arm(struct rte_comch_msgq_consumer *consumer);

/** @} */
/** @name Producers
 * @{
 */

/** A DMA device that does the copies of a producer, and of nobody else. */
struct rte_comch_msgq_dma {
	int16_t dev_id;  /**< Of rte_dmadev, configured and started. */
	uint16_t vchan;  /**< Memory to memory. */
};

/** How to create a producer. Zero means default. */
struct rte_comch_msgq_producer_conf {
	size_t conf_size;                /**< sizeof(struct rte_comch_msgq_producer_conf) */
	uint32_t id;                     /**< Its id; 0: the lowest that is free, from 1. */
	uint32_t queue_size;             /**< Operations between send and done; default 1024;
					  * raised to a power of two. */
	const struct rte_comch_msgq_dma *dma; /**< NULL: the CPU copies. */
	struct rte_comch_poll *poll;     /**< Wakes when there is credit again; or NULL. */
	rte_comch_msgq_notify_t notify;  /**< For rte_comch_msgq_producer_arm(); or NULL. */
	void *notify_arg;
};

/**
 * Create a producer. Any thread.
 *
 * @return
 *   The producer, or NULL with rte_errno: EINVAL (as for a consumer; a DMA
 *   device that does not exist or cannot copy memory), ENOTSUP (a DMA device
 *   while EAL's addresses are physical ones), EEXIST, ENOSPC, ENOMEM.
 */
struct rte_comch_msgq_producer *rte_comch_msgq_producer_create(struct rte_comch_msgq *msgq,
		const struct rte_comch_msgq_producer_conf *conf);

/**
 * Destroy a producer. Any thread.
 *
 * @return
 *   0, -EINVAL, -EBUSY (copies are not done: rte_comch_msgq_done_burst()).
 */
int rte_comch_msgq_producer_destroy(struct rte_comch_msgq_producer *producer);

/** Its id. Any thread. NULL: 0. */
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
 *   The messages; free on return, with all that they point to.
 * @param n
 *   Number of messages.
 * @return
 *   How many were taken; fewer than *n*: no credit, or our queue is full.
 */
uint16_t rte_comch_msgq_send_burst(struct rte_comch_msgq_producer *producer,
		const struct rte_comch_op *ops, uint16_t n);

/** A copy, and a message when it is done. */
struct rte_comch_msgq_copy {
	void *dst;            /**< Any memory of the process; of EAL's or registered
			       * with it where a DMA device copies. */
	const void *src;      /**< Must not overlap dst. */
	uint64_t cookie;      /**< Comes back from rte_comch_msgq_done_burst(). */
	uint32_t len;         /**< Bytes, 0 to 1 GiB. */
	uint32_t consumer_id;
	const void *imm;      /**< Immediate data; copied. */
	uint16_t imm_len;
	uint16_t flags;       /**< RTE_COMCH_OP_F_SILENT or 0. */
	uint32_t reserved;    /**< 0 */
};

/**
 * Copy blocks and send a message after each. The destination is visible to
 * whoever received the message.
 *
 * @return
 *   How many were taken. By the CPU the copy is done on return. By a DMA device
 *   source and destination are the application's again when done_burst()
 *   returned the operation (so do not use RTE_COMCH_OP_F_SILENT there unless
 *   the message itself tells you); done_burst() and the sends carry it on.
 */
uint16_t rte_comch_msgq_copy_burst(struct rte_comch_msgq_producer *producer,
		const struct rte_comch_msgq_copy *ops, uint16_t n);

/**
 * Take completions of sends and copies, in their order. Status 0: the message
 * has been published; the consumer will receive it.
 *
 * @return
 *   How many were written to *cpls*.
 */
uint16_t rte_comch_msgq_done_burst(struct rte_comch_msgq_producer *producer,
		struct rte_comch_cpl *cpls, uint16_t n);

/**
 * Has a consumer no credit left?
 *
 * @return
 *   1: none; a send would take nothing. 0: some. -ENOENT: no such consumer.
 *   -EINVAL: no producer.
 */
int rte_comch_msgq_consumer_empty(struct rte_comch_msgq_producer *producer,
		uint32_t consumer_id);

/**
 * Ask for one call of notify when the consumer to which the last send was cut
 * short has credit again, or is gone.
 *
 * @return
 *   0 (armed); -EAGAIN: try again now, or completions are there (said of a send
 *   that was cut short only once); -EINVAL: no notify.
 */
int rte_comch_msgq_producer_arm(struct rte_comch_msgq_producer *producer);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_MSGQ_H */
