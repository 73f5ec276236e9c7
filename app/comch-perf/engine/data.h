/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_DATA_H
#define ENGINE_DATA_H

/**
 * @file
 * Producers and consumers under test, and the threads that drive them.
 *
 * A side that sends has `producers` of them, a side that receives has
 * `consumers`; with --bidir each side has both. Worker *i* drives producer *i*
 * and consumer *i* of its side, as far as there are any. Worker 0 is the main
 * thread, and also looks after the connections and the session every now and
 * then. Control messages count as a producer and a consumer that share their
 * connection.
 *
 * Tests within one process have the workers of both sides: first the host's,
 * then the DPU's one, a thread that is not an lcore of EAL's.
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

/** The calls of one API; each extends struct data_tx and struct data_rx. */
struct data_ops {
	size_t tx_size;
	size_t rx_size;
	/** Create and start it, and make what is received into; 0 or perf_run_fail(). */
	int (*rx_open)(struct perf_run *run, struct data_rx *rx);
	/** Is it RUNNING? Its `id` is set then. NULL: always, and it is not announced. */
	bool (*rx_running)(struct data_rx *rx);
	/** Post for the first time. NULL: repost() takes all that is `owed`. */
	int (*rx_start)(struct perf_run *run, struct data_rx *rx);
	/** Receive and check up to n messages. @return how many */
	uint16_t (*recv)(struct data_rx *rx, uint16_t n);
	/** Post again what is `owed`. NULL: nothing ever is. */
	void (*repost)(struct data_rx *rx);
	/** Stop it if it is RUNNING. @return is it IDLE? NULL: always */
	bool (*rx_stop)(struct data_rx *rx);
	/** Add what the library has counted. NULL: nothing */
	void (*rx_stats)(struct data_rx *rx, struct perf_result *r);
	/** Free all, after a failed open too. */
	void (*rx_close)(struct data_rx *rx);
	/** Create and start it, and make what is sent from. */
	int (*tx_open)(struct perf_run *run, struct data_tx *tx);
	/** Stamp and fill up to n messages for the next target, unless some are ready. */
	void (*prepare)(struct data_tx *tx, uint16_t n);
	/** Offer what is ready; prepares up to n first if nothing is. @return taken */
	uint16_t (*send)(struct data_tx *tx, uint16_t n);
	/** Take completions; also moves what is staged. */
	void (*reap)(struct data_tx *tx);
	bool (*tx_stop)(struct data_tx *tx);
	void (*tx_stats)(struct data_tx *tx, struct perf_result *r);
	void (*tx_close)(struct data_tx *tx);
	/** A worker's body of latency tests; NULL: the one for any API. */
	int (*pingpong)(void *worker);
};

/** Control messages, by the link's calls. */
extern const struct data_ops data_ops_ctrl;

/** A consumer to send to, and the number of the next message to it. */
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
	void *conn;              /**< The API's. */
	struct data_rx *to;      /**< Its consumer, if that is of this process. */
	uint32_t number;
	uint32_t sender;         /**< For stamps. */
	uint64_t left;           /**< Messages yet to be prepared. */
	uint64_t sent;           /**< Messages taken. */
	uint64_t failed;         /**< Completions with an error. */
	bool flushed;            /**< The last one is complete. */
	uint32_t nb_slots;       /**< Messages that can be in flight. */
	uint32_t ready;          /**< Stamped and not taken yet. */
	uint32_t in_flight;      /**< Taken and not complete. */
	uint32_t nb_targets;
	uint32_t target;         /**< Current one; the next with the next burst. */
	struct data_target targets[PERF_MAX_WORKERS];
} __rte_cache_aligned;

/** A consumer and what it received. */
struct data_rx {
	const struct data_ops *ops;
	const struct perf_params *params;
	struct link *link;
	struct data_worker *worker;
	void *conn;              /**< The API's. */
	uint32_t number;
	uint32_t conn_number;
	uint32_t id;             /**< For producers. */
	uint32_t first_sender;   /**< For stamps: number 0 of the other side. */
	uint32_t nb_senders;     /**< That send here. */
	uint32_t only_sender;    /**< If that is one. */
	bool stopping;           /**< Cancelled buffers are no failure now. */
	uint32_t owed;           /**< To be posted, first of all or again. */
	uint64_t count;          /**< Messages received. */
	struct perf_faults faults;
	uint64_t next[PERF_MAX_WORKERS]; /**< Expected number, by sender. */
	_Atomic uint64_t expected;       /**< How many will come; UINT64_MAX: not known. */
	struct window window;
} __rte_cache_aligned;

/** A thread. */
struct data_worker {
	struct perf_run *run;
	struct data *data;
	uint32_t number;
	bool host;
	bool own_poll;           /**< Others have the link's. */
	struct link *link;
	struct link_poll *poll;
	struct data_tx *tx;      /**< NULL: this side or worker does not send. */
	struct data_rx *rx;
	bool tx_done;
	bool rx_done;
	bool spins;              /**< Never sleeps or yields. */
	bool over;               /**< The run is to be given up; since the last tick. */
	uint32_t loops;
	uint32_t idle;
	uint64_t next_poll;      /**< When to run the poll again, TSC. */
	uint64_t tx_end;         /**< When to stop sending, TSC. */
	uint64_t progress;       /**< Messages when it was last seen to move. */
	uint64_t progress_tsc;
	bool has_thread;         /**< Not an lcore of EAL's: one that is bound to cpu_b. */
	pthread_t thread;
	_Atomic bool running;
	int (*body)(void *worker);
	char error[PERF_ERROR_SIZE];
} __rte_cache_aligned;

/** All of a side, or of both in one process. */
struct data {
	const struct data_ops *ops;
	struct data_tx *txs[2 * PERF_MAX_WORKERS];
	struct data_rx *rxs[2 * PERF_MAX_WORKERS];
	struct data_worker *workers;
	uint32_t nb_tx;
	uint32_t nb_rx;
	uint32_t nb_workers;
	bool counts_sent;
	_Atomic uint32_t nb_sending;     /**< Workers whose producer goes on. */
	_Atomic uint64_t counts[PERF_MAX_WORKERS]; /**< Sent by others, by consumer. */
};

/** Set up and tear down; main thread. */
int data_setup(struct perf_run *run);
void data_teardown(struct perf_run *run);

/** Run stream or ping-pong on all workers and collect the results. */
int data_launch(struct perf_run *run);
/** Add the faults and statistics of all ends to the result. */
void data_collect(struct perf_run *run);
/** Nothing could be done: yield, or sleep for these RTE_COMCH_POLL_* classes. */
void worker_idle(struct data_worker *w, uint32_t cls);
/** Look at the clock and at the outside world; every now and then. */
void worker_tick(struct data_worker *w, uint64_t now);
/** The producer's last message is out. */
void worker_tx_done(struct data_worker *w);

/** Bytes between the starts of two buffers. */
static inline uint64_t
data_stride(const struct perf_params *p)
{
	return RTE_ALIGN_CEIL(p->size, UINT64_C(64));
}

/** The next burst goes to the next target. */
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

/** What data_check_msg() does when something is wrong, or may be. */
void data_check_slow(struct data_rx *rx, const uint8_t *payload,
		const uint8_t *imm, uint64_t stamp);

/** Check a message of the right length; touches its first and last line. */
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

/** Check a message whose lengths are the completion's. */
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
