/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_DATA_H
#define ENGINE_DATA_H

/**
 * @file
 * Producers and consumers under test, and the threads that drive them.
 *
 * A sending side has `producers` producers, a receiving side `consumers`
 * consumers; with --bidir each side has both. Worker *i* drives producer *i* and
 * consumer *i* of its side, if they exist. Worker 0 is the main thread, which also
 * polls the connections and the session from time to time. Control messages are
 * modelled as a producer and a consumer that share a connection.
 *
 * Local tests have no other side: they have the workers of both, the host's first, then the
 * single one of the DPU. That one, and all workers of the DPU side in the process of the host
 * side, are threads of their own; the others are EAL lcores.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "base/window.h"
#include "engine/run.h"
#include "engine/verify.h"

struct data;
struct data_rx;
struct data_tx;
struct data_worker;

/** The backend of one API; it extends struct data_tx and struct data_rx. */
struct data_ops {
	size_t tx_size;
	size_t rx_size;
	/** Create and start it, and its receive buffers. @return 0 or perf_run_fail() */
	int (*rx_open)(struct perf_run *run, struct data_rx *rx);
	/** Is it RUNNING? If so, `id` is set. NULL: always, and it is not announced. */
	bool (*rx_running)(struct data_rx *rx);
	/** Post all buffers for the first time. NULL: repost() does it. */
	int (*rx_start)(struct perf_run *run, struct data_rx *rx);
	/** Receive and check up to n messages. @return number received */
	uint16_t (*recv)(struct data_rx *rx, uint16_t n);
	/** Post the `unposted` buffers. NULL: there are none. */
	void (*repost)(struct data_rx *rx);
	/** Stop it if it is RUNNING. @return true: it is IDLE. NULL: always IDLE */
	bool (*rx_stop)(struct data_rx *rx);
	/** Add the library's statistics. NULL: none */
	void (*rx_stats)(struct data_rx *rx, struct perf_result *r);
	/** Free all resources, also after a failed open. */
	void (*rx_close)(struct data_rx *rx);
	/** Create and start it, and its send buffers. @return 0 or perf_run_fail() */
	int (*tx_open)(struct perf_run *run, struct data_tx *tx);
	/** Stamp up to n messages for the next target, unless some are ready. */
	void (*prepare)(struct data_tx *tx, uint16_t n);
	/** Send ready messages; prepare up to n if none are. @return number accepted */
	uint16_t (*send)(struct data_tx *tx, uint16_t n);
	/** Take completions, and move staged data. */
	void (*reap)(struct data_tx *tx);
	bool (*tx_stop)(struct data_tx *tx);
	void (*tx_stats)(struct data_tx *tx, struct perf_result *r);
	/** Has the receiver returned all buffers that it got? NULL: it never gets any. */
	bool (*tx_returned)(struct data_tx *tx);
	void (*tx_close)(struct data_tx *tx);
	/** Body of a worker in latency tests; NULL: the generic one. */
	int (*pingpong)(void *worker);
};

/** Control messages, sent with the link's operations. */
extern const struct data_ops data_ops_ctrl;

/** A consumer to send to, and the sequence number of its next message. */
struct data_target {
	uint32_t id;
	uint32_t number;
	uint64_t seq;
};

/** A producer and its messages. */
struct data_tx {
	const struct data_ops *ops;
	const struct perf_params *params;
	struct link *link;
	struct data_worker *worker;
	void *conn;              /**< Connection handle of the API. */
	struct data_rx *to;      /**< Its consumer, if in this process. */
	uint32_t number;
	uint32_t sender;         /**< Sender number in stamps. */
	uint64_t left;           /**< Messages not prepared yet. */
	uint64_t sent;           /**< Messages accepted. */
	uint64_t failed;         /**< Completions with an error. */
	bool flushed;            /**< The last message is complete. */
	uint32_t nb_slots;       /**< Maximum messages in flight. */
	uint32_t ready;          /**< Stamped, not accepted yet. */
	uint32_t in_flight;      /**< Accepted, not complete. */
	uint32_t nb_targets;
	uint32_t target;         /**< Current one; advances per burst. */
	struct data_target targets[PERF_MAX_WORKERS];
} __rte_cache_aligned;

/** A consumer and its receive statistics. */
struct data_rx {
	const struct data_ops *ops;
	const struct perf_params *params;
	struct link *link;
	struct data_worker *worker;
	void *conn;              /**< Connection handle of the API. */
	uint32_t number;
	uint32_t conn_number;
	uint32_t id;             /**< ID that producers send to. */
	uint32_t first_sender;   /**< Stamp number of the peer's producer 0. */
	uint32_t nb_senders;     /**< Producers that send here. */
	uint32_t only_sender;    /**< The sender, if nb_senders is 1. */
	bool stopping;           /**< Cancelled buffers are not failures. */
	uint32_t unposted;       /**< Buffers to post, initially or again. */
	uint64_t count;          /**< Messages received. */
	struct perf_faults faults;
	uint64_t next[PERF_MAX_WORKERS]; /**< Next sequence number, by sender. */
	_Atomic uint64_t expected;       /**< Total to receive; UINT64_MAX: unknown. */
	struct window window;
} __rte_cache_aligned;

/** A worker thread. */
struct data_worker {
	struct perf_run *run;
	struct data *data;
	uint32_t number;
	bool host;
	bool own_poll;           /**< False: uses the link's poll. */
	struct link *link;
	struct link_poll *poll;
	struct data_tx *tx;      /**< NULL: does not send. */
	struct data_rx *rx;
	bool tx_done;
	bool rx_done;
	bool sleeps;             /**< Sleeps when there is nothing to do. */
	bool spins;              /**< Spins: never sleeps or yields. */
	bool over;               /**< The run must stop; updated by ticks. */
	uint32_t loops;
	uint32_t idle;
	uint64_t next_poll;      /**< Time of the next poll run, TSC. */
	uint64_t tx_end;         /**< End of sending, TSC. */
	uint64_t progress;       /**< Messages at the last progress. */
	uint64_t progress_tsc;
	uint64_t stuck_cycles;   /**< perf_run_stuck_ms() */
	bool has_thread;         /**< A pthread bound to `cpu`, not an EAL lcore. */
	bool launched;
	uint16_t cpu;
	unsigned int lcore;
	pthread_t thread;
	_Atomic bool running;
	int (*body)(void *worker);
	char error[PERF_ERROR_SIZE];
} __rte_cache_aligned;

/** State of one side, or of both within one process. */
struct data {
	const struct data_ops *ops;
	struct data_tx *txs[2 * PERF_MAX_WORKERS];
	struct data_rx *rxs[2 * PERF_MAX_WORKERS];
	struct data_worker *workers;
	uint32_t nb_tx;
	uint32_t nb_rx;
	uint32_t nb_workers;
	bool counts_sent;
	_Atomic uint32_t nb_sending;     /**< Workers still sending. */
	_Atomic uint64_t counts[PERF_MAX_WORKERS]; /**< Messages sent, by consumer. */
};

/** Set up and tear down; called on the main thread. */
int data_setup(struct perf_run *run);
void data_teardown(struct perf_run *run);

/** Run the stream or ping-pong loop on all workers and collect the results. */
int data_launch(struct perf_run *run);
/** Add the faults and statistics of all ends to the result. */
void data_collect(struct perf_run *run);
/** No progress: yield, or sleep for these RTE_COMCH_POLL_* classes. */
void worker_idle(struct data_worker *w, uint32_t cls);
/** Periodic work: the poll, the session, the measured window, stuck detection. */
void worker_tick(struct data_worker *w, uint64_t now);
/** Mark the producer as done and publish its message counts. */
void worker_tx_done(struct data_worker *w);

/** Payload memory of a producer, bytes; reused, so that it stays in the cache. */
#define DATA_SOURCE_BYTES (UINT64_C(16) << 10)

/** Distance between two buffers, bytes. */
static inline uint64_t
data_stride(const struct perf_params *p)
{
	return p->stride > 0 ? p->stride : RTE_ALIGN_CEIL(p->size, UINT64_C(64));
}

/** Advance to the target of the next burst. */
static inline struct data_target *
data_next_target(struct data_tx *tx)
{
	tx->target = tx->target + 1 < tx->nb_targets ? tx->target + 1 : 0;
	return &tx->targets[tx->target];
}

/** Stamp a message and, with --verify, fill it. */
static inline void
data_write(const struct data_tx *tx, struct data_target *to, uint8_t *payload, uint8_t *imm)
{
	const struct perf_params *p = tx->params;
	uint64_t stamp = verify_stamp(tx->sender, to->seq++);

	if (p->size > 0)
		verify_stamp_put(payload, p->size, stamp);
	else
		verify_stamp_put(imm, p->imm, stamp);
	if (likely(!p->verify))
		return;
	if (p->size > 0)
		verify_fill(payload, p->size, RTE_MIN(p->size, UINT64_C(8)),
				verify_seed(stamp, to->number));
	if (p->imm > 0)
		verify_fill(imm, p->imm, p->size > 0 ? 0 : RTE_MIN(p->imm, 8u),
				~verify_seed(stamp, to->number));
}

/** Slow path of data_check_msg(): several senders, --verify, or a bad stamp. */
void data_check_slow(struct data_rx *rx, const uint8_t *payload,
		const uint8_t *imm, uint64_t stamp);

/** Check a message of valid length; touches its first and last cache line. */
static inline void
data_check_msg(struct data_rx *rx, const uint8_t *payload, const uint8_t *imm)
{
	const struct perf_params *p = rx->params;
	uint64_t want;
	uint64_t stamp;

	if (p->size > 0) {
		stamp = verify_stamp_get(payload, p->size);
		(void)*(const volatile uint8_t *)(payload + p->size - 1);
	} else {
		stamp = verify_stamp_get(imm, p->imm);
	}
	want = verify_stamp(rx->first_sender + rx->only_sender, rx->next[rx->only_sender]);
	rx->count++;
	if (likely(rx->nb_senders == 1 && stamp == want && !p->verify))
		rx->next[rx->only_sender]++;
	else
		data_check_slow(rx, payload, imm, stamp);
}

/** Check a received message with the status and lengths of its completion. */
static inline void
data_take(struct data_rx *rx, int status, uint64_t len, uint32_t imm_len,
		const uint8_t *payload, const uint8_t *imm)
{
	if (unlikely(status != 0)) {
		rx->faults.failed += !rx->stopping;
	} else if (unlikely(len != rx->params->size || imm_len != rx->params->imm)) {
		rx->count++;
		rx->faults.torn++;
	} else {
		data_check_msg(rx, payload, imm);
	}
}

#endif /* ENGINE_DATA_H */
