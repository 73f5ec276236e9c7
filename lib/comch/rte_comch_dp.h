/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_DP_H
#define RTE_COMCH_DP_H

/**
 * @file
 * The fast path: producers and consumers.
 *
 * The model
 * ---------
 *
 * A consumer posts buffers. A producer on the other side of the connection sends a
 * message to the consumer's id. The message goes into the next buffer in the order of
 * posting, and the consumer receives a completion with the cookie of that buffer. A
 * posted buffer *is* the credit: with nothing posted, a send accepts nothing ("later").
 *
 *     consumer                                producer
 *     post_burst({mr, addr, len, cookie})
 *         |---- descriptors ----------------->|
 *         |                                   send_burst({consumer_id, addr, len, imm})
 *         |<--- payload into the buffer ------|
 *         |<--- completion record ------------|
 *     recv_burst() -> {cookie, len, imm}      done_burst() -> {cookie, status}
 *
 * A buffer may be empty (addr NULL, len 0), for messages of immediate data only.
 *
 * Consumers are announced to the peer with their id (RTE_COMCH_EVENT_CONSUMER_NEW,
 * RTE_COMCH_EVENT_CONSUMER_GONE). Ids count from 1 and are not reused within a
 * connection; producers have separate ids.
 *
 * Order of calls
 * --------------
 *
 *     consumer = rte_comch_consumer_create(conn, &conf)
 *     rte_comch_consumer_start(consumer)     -EINPROGRESS
 *     ... RTE_COMCH_EVENT_STATE: RUNNING, from the consumer's poll; meanwhile
 *         the connection's poll runs on both sides
 *     rte_comch_consumer_post_burst(), rte_comch_consumer_recv_burst()
 *     rte_comch_consumer_stop(consumer)
 *     ... recv_burst() until all posted buffers were returned
 *     ... RTE_COMCH_EVENT_STATE: IDLE
 *     rte_comch_consumer_destroy(consumer)
 *
 * A producer starts at once; its stop may take until its operations are done.
 *
 * Errors of a message
 * -------------------
 *
 * A short count means "later". An operation that can never succeed is accepted, moves
 * nothing, leaves the posted buffer in place, and is returned by done_burst() or
 * recv_burst() in order, with a negative status:
 *
 * | status      | producer                                                 |
 * |-------------|----------------------------------------------------------|
 * | -EMSGSIZE   | longer than the next posted buffer or the device's limit;|
 * |             | immediate data longer than the consumer accepts          |
 * | -ENOENT     | unknown consumer id, or the consumer is gone             |
 * | -EFAULT     | addr and len are not within mr                           |
 * | -EINVAL     | no mr or address with len > 0, unknown flag, bad segments|
 * | -EBADFD     | the producer is not RUNNING                              |
 * | -ECONNRESET | the connection has ended                                 |
 * | -EPROTO     | the peer posted a buffer outside the memory it exported  |
 *
 * | status      | consumer                                                 |
 * |-------------|----------------------------------------------------------|
 * | -EFAULT     | addr and len are not within mr                           |
 * | -EINVAL     | mr was not passed at creation or to mr_add()             |
 * | -EBADFD     | the consumer is not RUNNING                              |
 * | -ECANCELED  | canceled by a stop or a disconnect                       |
 *
 * Threads
 * -------
 *
 * Each producer and consumer belongs to one thread at a time. Many may work on one
 * connection at once, each on another lcore, and each with any poll (also the
 * connection's). Any thread may create, start, stop and destroy them, also while the
 * connection's poll runs elsewhere, but not during a burst of the same object in
 * another thread. A thread that sleeps between bursts must run and arm the object's
 * poll itself: another thread's poll may see a queue in the middle of a burst. Several
 * producers may send to one consumer; the messages of each stay in order.
 *
 * In a forked child no burst may be called: what it would use is the parent's.
 *
 * Large messages
 * --------------
 *
 * A send to shareable memory copies the whole message within the call: if that matters,
 * give a producer of large messages a separate lcore, or have a DMA device copy (key dma= of
 * comch_shm). To other memory (staged), a
 * message longer than the staging ring streams through it, pushed by send_burst() and
 * done_burst() and pulled by recv_burst().
 */

#include <rte_comch.h>
#include <rte_comch_core.h>
#include <rte_comch_mem.h>
#include <rte_comch_trace_fp.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Producers
 * @{
 */

/**
 * A hint: between two bursts, the program works for longer than the peer takes to read one, in
 * callbacks for instance. A producer prefetches lines of the peer's buffers after each burst, for
 * the next one; with this flag it does not, since the peer's CPU would have taken them back.
 * Measure both; messages are the same.
 */
#define RTE_COMCH_PRODUCER_F_PAUSES (UINT32_C(1) << 0)

/** Configuration of a producer. Zero means default. */
struct rte_comch_producer_conf {
	size_t conf_size;            /**< sizeof(struct rte_comch_producer_conf) */
	struct rte_comch_poll *poll; /**< Its poll; NULL: the connection's. */
	uint32_t queue_size;         /**< Operations between send and done; default 1024. */
	uint64_t user_data;          /**< Returned in each event. */
	uint32_t flags;              /**< RTE_COMCH_PRODUCER_F_* */
};

/**
 * Create a producer. Any thread.
 *
 * Reference: DOCA Comch guide 2.10, "Objects", doca_comch_producer.
 *
 * @return
 *   The producer in IDLE, or NULL with rte_errno: EINVAL (no connection or conf, a depth
 *   over the device's limit, or an unknown flag), EBADFD (the connection is not
 *   established), ENOTSUP (it has no fast path, see RTE_COMCH_SERVER_F_CTRL_ONLY), ENOSPC
 *   (its limit of producers is reached), ENOMEM, EMFILE.
 */
struct rte_comch_producer *rte_comch_producer_create(struct rte_comch_conn *conn,
		const struct rte_comch_producer_conf *conf);

/**
 * Start a producer. RUNNING on return. Any thread.
 *
 * @return
 *   0, -EINVAL, -EBADFD (not IDLE), -ECONNRESET.
 */
int rte_comch_producer_start(struct rte_comch_producer *producer);

/**
 * Stop a producer. Completed operations stay in the queue for
 * rte_comch_producer_done_burst(). Any thread.
 *
 * @return
 *   - 0: IDLE.
 *   - -EINPROGRESS: messages are not done yet. done_burst() continues a message that is
 *     partly in a staging ring. A STATE event follows. They are given up after 1 s, but for
 *     copies of a DMA device.
 *   - -EINVAL, -EBADFD (not RUNNING).
 *
 * A producer whose connection is lost stops by itself: STOPPING until its messages are done,
 * for 1 s at most (longer for copies of a DMA device), and then IDLE. rte_comch_poll_arm()
 * returns -EAGAIN meanwhile.
 */
int rte_comch_producer_stop(struct rte_comch_producer *producer);

/** Destroy a producer. Any thread. @return 0, -EINVAL, -EBUSY (not IDLE). */
int rte_comch_producer_destroy(struct rte_comch_producer *producer);

/** State, always up to date. NULL: IDLE. Any thread. */
enum rte_comch_state rte_comch_producer_state(const struct rte_comch_producer *producer);

/** Id, unique among the producers of this side of the connection. Any thread. */
uint32_t rte_comch_producer_id(const struct rte_comch_producer *producer);

/** Connection of a producer. Any thread. */
struct rte_comch_conn *rte_comch_producer_conn(const struct rte_comch_producer *producer);

/** No completion for this operation. Failures are counted. */
#define RTE_COMCH_OP_F_SILENT (UINT16_C(1) << 0)
/** addr points to nb_sges struct rte_comch_sge; len is their sum. */
#define RTE_COMCH_OP_F_SGL    (UINT16_C(1) << 1)

/** One segment of a message. */
struct rte_comch_sge {
	struct rte_comch_mr *mr;
	const void *addr;
	uint32_t len;
};

/** A message to send. */
struct rte_comch_op {
	const void *addr;        /**< Payload, or segments (RTE_COMCH_OP_F_SGL). */
	struct rte_comch_mr *mr; /**< Registration of addr; NULL if len is 0 or for segments. */
	uint64_t cookie;         /**< Returned by done_burst(). */
	uint32_t len;            /**< Bytes, 0 to 1 GiB. */
	uint32_t consumer_id;    /**< From RTE_COMCH_EVENT_CONSUMER_NEW. */
	const void *imm;         /**< Immediate data; copied. */
	uint16_t imm_len;        /**< Bytes, up to what the consumer accepts. */
	uint16_t flags;          /**< RTE_COMCH_OP_F_* */
	uint16_t nb_sges;        /**< Segments, with RTE_COMCH_OP_F_SGL. */
	uint16_t reserved;       /**< 0 */
};

/** Completion of an operation, on both sides. */
struct rte_comch_cpl {
	uint64_t cookie;   /**< Of the operation or the posted buffer. */
	int32_t status;    /**< 0, or a negative errno. */
	uint32_t len;      /**< Payload bytes. */
	uint32_t peer_id;  /**< Consumer: the sender's producer id. Producer: the consumer id. */
	uint16_t imm_len;  /**< Bytes of imm. Consumer only. */
	uint16_t copies;   /**< CPU copies of the payload made on this side. */
	uint8_t imm[RTE_COMCH_IMM_SIZE]; /**< Immediate data. Consumer only. */
	uint64_t user_data; /**< User data of the consumer. MsgQ only: rte_comch_msgq.h. */
};

/**
 * Send messages.
 *
 * @param producer
 *   The producer.
 * @param ops
 *   The messages. The array and immediate data are copied. The payload and the array of
 *   segments belong to the channel until done_burst() returns the operation; with
 *   RTE_COMCH_CAPA_SYNC_SEND, until this call returns, except for a message that is
 *   longer than the staging ring. Those of a silent operation belong to the channel
 *   until a later operation to the same consumer is done, or the producer is IDLE.
 * @param n
 *   Number of messages.
 * @return
 *   Number of messages accepted. If it is less than *n*, nothing is posted or the queue
 *   is full, or, on a device with a DMA device, 32 copies are in flight, that one has no
 *   room, or another thread looks at it: offer the rest again.
 */
static inline uint16_t
rte_comch_producer_send_burst(struct rte_comch_producer *producer,
		const struct rte_comch_op *ops, uint16_t n)
{
	const struct rte_comch_producer_core *core =
		(const struct rte_comch_producer_core *)producer;
	const uint16_t taken = core->send(core->queue, ops, n);

	rte_comch_trace_send(producer, n, taken);
	return taken;
}

/**
 * Get completions of sends, in the order of sending. Status 0: the message is in the
 * consumer's buffer and its completion was published; the consumer will receive it
 * without further action here. Exceptions: the connection ends with -ETIMEDOUT, see
 * rte_comch_consumer_stop(); several producers send to one consumer and this process dies
 * inside a send_burst() of one of them, or while a DMA device copies: then messages of the
 * others may be lost.
 *
 * @return
 *   Number of completions written to *cpls*.
 */
static inline uint16_t
rte_comch_producer_done_burst(struct rte_comch_producer *producer,
		struct rte_comch_cpl *cpls, uint16_t n)
{
	const struct rte_comch_producer_core *core =
		(const struct rte_comch_producer_core *)producer;
	const uint16_t taken = core->done(core->queue, cpls, n);

	rte_comch_trace_done(producer, n, taken);
	return taken;
}

/** @} */
/** @name Consumers
 * @{
 */

/**
 * Export no memory to the peer: each message is copied out of a staging ring, so the
 * peer cannot change delivered data.
 */
#define RTE_COMCH_CONSUMER_F_SNAPSHOT (UINT32_C(1) << 0)
/**
 * In mbuf mode, take chains of mbufs as they are. Otherwise, and with a driver that does
 * not hand mbufs over (RTE_COMCH_CAPA_HANDOVER), a message is one segment.
 */
#define RTE_COMCH_CONSUMER_F_CHAINS   (UINT32_C(1) << 1)

/** Configuration of a consumer. Zero means default. */
struct rte_comch_consumer_conf {
	size_t conf_size;            /**< sizeof(struct rte_comch_consumer_conf) */
	struct rte_comch_poll *poll; /**< Its poll; NULL: the connection's. */
	uint32_t queue_size;         /**< Posted buffers; default 1024; rounded up to 2^n. */
	uint32_t imm_size;           /**< Longest immediate data, bytes; default 32. */
	uint32_t staging_size;       /**< Staging ring for memory that is not
				      * shareable, bytes; default 1 MiB, less
				      * if the peer allows less. */
	uint32_t flags;              /**< RTE_COMCH_CONSUMER_F_* */
	struct rte_comch_mr *const *mrs; /**< Registrations of the buffers. */
	uint16_t nb_mrs;
	uint64_t user_data;          /**< Returned in each event. */
};

/**
 * Create a consumer. Any thread.
 *
 * Reference: DOCA Comch guide 2.10, "doca_comch_consumer Initialization Flow".
 *
 * @return
 *   The consumer in IDLE, or NULL with rte_errno: EINVAL (no connection or conf, depth
 *   or immediate size over the device's limit, unknown flag), EBADFD (the connection is
 *   not established), ENOTSUP (it has no fast path, see RTE_COMCH_SERVER_F_CTRL_ONLY),
 *   EPERM (a registration is bound to another peer), ENOSPC (its limit of consumers is
 *   reached), ENOMEM, EMFILE.
 */
struct rte_comch_consumer *rte_comch_consumer_create(struct rte_comch_conn *conn,
		const struct rte_comch_consumer_conf *conf);

/**
 * Start a consumer: export its memory to the peer and announce it. A STATE event from
 * the consumer's poll reports RUNNING, or IDLE with the reason (-EDQUOT: over the
 * peer's limits). Any thread.
 *
 * If an earlier peer process has mapped the memory and no consumer uses it, this call
 * replaces its pages by new ones with the same contents. No other thread may write to
 * the memory meanwhile.
 *
 * @return
 *   -EINPROGRESS, never 0; -EINVAL, -EBADFD (not IDLE), -ECONNRESET, -EMFILE.
 */
int rte_comch_consumer_start(struct rte_comch_consumer *consumer);

/**
 * Stop a consumer. recv_burst() first returns published messages, then each posted
 * buffer with -ECANCELED. Any thread.
 *
 * If the peer is still writing a message, the consumer waits for it, 1 s at most, because
 * others may be behind it. Then the connection ends with -ETIMEDOUT, and these are canceled.
 *
 * @return
 *   - -EINPROGRESS: a STATE event reports IDLE when all buffers are returned.
 *   - -EINVAL, -EBADFD (IDLE or STOPPING).
 */
int rte_comch_consumer_stop(struct rte_comch_consumer *consumer);

/** Destroy a consumer. Any thread. @return 0, -EINVAL, -EBUSY (not IDLE). */
int rte_comch_consumer_destroy(struct rte_comch_consumer *consumer);

/** State, always up to date. NULL: IDLE. Any thread. */
enum rte_comch_state rte_comch_consumer_state(const struct rte_comch_consumer *consumer);

/** Id, as announced to the peer. Any thread. */
uint32_t rte_comch_consumer_id(const struct rte_comch_consumer *consumer);

/** Connection of a consumer. Any thread. */
struct rte_comch_conn *rte_comch_consumer_conn(const struct rte_comch_consumer *consumer);

/**
 * Add a registration to post from. RTE_COMCH_EVENT_MR_ADDED reports that the peer has
 * it. If the consumer is stopped before that, there is no event, and its next start includes
 * the registration. Only the consumer's thread.
 *
 * @return
 *   0 (the event follows), -EINVAL, -EBADFD (not RUNNING), -EPERM (bound to another
 *   peer), -EEXIST, -ENOSPC.
 */
int rte_comch_consumer_mr_add(struct rte_comch_consumer *consumer,
		struct rte_comch_mr *mr);

/** A buffer to post. */
struct rte_comch_buf {
	void *addr;              /**< NULL for an empty buffer. */
	struct rte_comch_mr *mr; /**< NULL for an empty buffer. */
	uint64_t cookie;         /**< Returned by recv_burst(). */
	uint32_t len;            /**< Bytes. */
	uint32_t reserved;       /**< 0 */
};

/**
 * Post buffers.
 *
 * @param consumer
 *   The consumer.
 * @param bufs
 *   The buffers. The array may be reused on return; the memory belongs to the channel
 *   until recv_burst() returns its cookie.
 * @param n
 *   Number of buffers.
 * @return
 *   Number of buffers accepted. If it is less than *n*, the queue is full.
 */
static inline uint16_t
rte_comch_consumer_post_burst(struct rte_comch_consumer *consumer,
		const struct rte_comch_buf *bufs, uint16_t n)
{
	const struct rte_comch_consumer_core *core =
		(const struct rte_comch_consumer_core *)consumer;
	const uint16_t taken = core->post(core->queue, bufs, n);

	rte_comch_trace_post(consumer, n, taken);
	return taken;
}

/**
 * Receive messages, in the order in which their buffers were posted.
 *
 * @return
 *   Number of completions written to *cpls*.
 */
static inline uint16_t
rte_comch_consumer_recv_burst(struct rte_comch_consumer *consumer,
		struct rte_comch_cpl *cpls, uint16_t n)
{
	const struct rte_comch_consumer_core *core =
		(const struct rte_comch_consumer_core *)consumer;
	const uint16_t taken = core->recv(core->queue, cpls, n);

	rte_comch_trace_recv(consumer, n, taken);
	return taken;
}

/** @} */
/** @name The bursts as non-inline functions, for other languages
 * @{
 */
uint16_t rte_comch_producer_send(struct rte_comch_producer *producer,
		const struct rte_comch_op *ops, uint16_t n);
uint16_t rte_comch_producer_done(struct rte_comch_producer *producer,
		struct rte_comch_cpl *cpls, uint16_t n);
uint16_t rte_comch_consumer_post(struct rte_comch_consumer *consumer,
		const struct rte_comch_buf *bufs, uint16_t n);
uint16_t rte_comch_consumer_recv(struct rte_comch_consumer *consumer,
		struct rte_comch_cpl *cpls, uint16_t n);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_DP_H */
