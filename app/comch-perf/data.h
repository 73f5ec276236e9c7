/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DATA_H
#define DATA_H

/**
 * @file
 * Producers and consumers under test, and the threads that drive them.
 *
 * A side that sends has `producers` of them, a side that receives has
 * `consumers`; with --bidir each side has both. Worker *i* drives producer *i*
 * and consumer *i* of its side, as far as there are any. Worker 0 is the main
 * thread, and also looks after the connections and the session every now and
 * then.
 *
 * The tests of MsgQ have both sides in one process: see msgq.h.
 */

#include <pthread.h>
#include <stdatomic.h>

#include <rte_comch_dp.h>
#include <rte_comch_msgq.h>
#include <rte_mbuf.h>

#include "perf_test.h"
#include "verify.h"
#include "window.h"

struct data;
struct data_tx;
struct data_rx;

struct data_worker;
struct data_doca_slot;
struct doca_buf_inventory;
struct doca_comch_consumer;
struct doca_comch_producer;
struct doca_ctx;
struct doca_mmap;
struct doca_pe;

/** A registered piece of memory. */
struct data_mem {
	void *addr;
	uint64_t len;
	uint8_t memory; /**< enum perf_memory */
	struct rte_comch_mr *mr;
};

/** Producers, consumers and what drives them: those of librte_comch, or of DOCA. */
struct data_ends {
	/** Worker 0 has the connections' engine, others get one; 0 or perf_run_fail(). */
	int (*worker_open)(struct perf_run *run, struct data_worker *w);
	void (*worker_close)(struct data_worker *w);
	/** Events of a worker's own engine. */
	void (*worker_poll)(struct data_worker *w);
	/** Sleep until something of these RTE_COMCH_POLL_* classes happens. */
	void (*worker_sleep)(struct data_worker *w, uint32_t cls);
	/** Create and start; 0 or perf_run_fail(). */
	int (*rx_create)(struct perf_run *run, struct data_rx *rx, struct data_worker *w);
	int (*tx_create)(struct perf_run *run, struct data_tx *tx, struct data_worker *w);
	bool (*rx_running)(const struct data_rx *rx);
	uint32_t (*rx_id)(const struct data_rx *rx);
	/** Stop, if that is possible; wait for it to be idle; destroy. */
	void (*rx_stop)(struct data_rx *rx);
	void (*tx_stop)(struct data_tx *tx);
	bool (*rx_idle)(const struct data_rx *rx);
	bool (*tx_idle)(const struct data_tx *tx);
	void (*rx_destroy)(struct data_rx *rx);
	void (*tx_destroy)(struct data_tx *tx);
	/** Add what the library has counted. */
	void (*rx_stats)(const struct data_rx *rx, struct perf_result *r);
	void (*tx_stats)(const struct data_tx *tx, struct perf_result *r);
};

extern const struct data_ends data_ends_native;
extern const struct data_ends data_ends_doca;

/** The calls of one API; each end keeps what it needs in its own struct. */
struct data_api {
	const struct data_ends *ends;
	/** Make what is sent from; the producer is created by the caller. */
	int (*tx_open)(struct perf_run *run, struct data_tx *tx);
	void (*tx_close)(struct data_tx *tx);
	/**
	 * Stamp and fill up to n messages for the next target, unless some are
	 * ready still.
	 */
	void (*prepare)(struct data_tx *tx, uint16_t n);
	/** Offer what is ready; prepares up to n first if nothing is. @return taken */
	uint16_t (*send)(struct data_tx *tx, uint16_t n);
	/** Take completions; also moves what is staged. */
	void (*reap)(struct data_tx *tx);
	/** Make what is received into. */
	int (*rx_open)(struct perf_run *run, struct data_rx *rx);
	/** Post for the first time, once the consumer is RUNNING. */
	int (*rx_start)(struct perf_run *run, struct data_rx *rx);
	/** Receive and check up to n messages. @return how many */
	uint16_t (*recv)(struct data_rx *rx, uint16_t n);
	/** Post again what was received. */
	void (*repost)(struct data_rx *rx);
	/** Take back what was posted, after the stop of the consumer. */
	void (*rx_drain)(struct data_rx *rx);
	void (*rx_close)(struct data_rx *rx);
};

extern const struct data_api data_api_desc;
extern const struct data_api data_api_mbuf;
extern const struct data_api data_api_doca;

/** A consumer to send to, and the number of the next message to it. */
struct data_target {
	uint32_t id;
	uint32_t number;
	uint64_t seq;
};

/** What both ends have with DOCA. */
struct data_doca {
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *bufs;
	struct data_doca_slot *slots;   /**< Tasks, each with its buf. */
	struct data_doca_slot **free;   /**< Producer: tasks that are not submitted. */
	uint32_t nb_free;
	uint32_t nb_burst;              /**< Messages yet to go to this target. */
	struct data_doca_slot *stamped; /**< Ready, but not taken yet. */
	uint64_t seen;                  /**< Messages that were told of. */
	bool streams;                   /**< A callback may send. */
	bool stopping;
};

/** A producer and its messages. */
struct data_tx {
	union {
		struct rte_comch_producer *producer;
		struct doca_comch_producer *doca_producer;
		struct rte_comch_msgq_producer *msgq_producer;
	};
	const struct data_api *api;
	const struct perf_params *params;
	uint32_t number;
	uint32_t sender;         /**< For stamps. */
	uint64_t left;           /**< Messages yet to be prepared. */
	uint64_t sent;           /**< Messages taken. */
	uint64_t failed;         /**< Completions with an error. */
	bool flushed;            /**< The last one is complete. */
	uint32_t nb_targets;
	uint32_t target;         /**< Current one; the next with the next burst. */
	struct data_target targets[PERF_MAX_WORKERS];
	/* Descriptors: a ring of prepared operations, each with its payload. */
	struct rte_comch_op *ops;
	uint8_t *imms;
	uint32_t nb_slots;
	uint32_t head;           /**< Next to be offered. */
	uint32_t ready;          /**< Stamped from there on. */
	uint32_t in_flight;      /**< Offered and not complete. */
	uint32_t tail;           /**< Oldest of these. */
	struct data_mem mem;
	/* mbufs: those that were stamped but not taken yet. */
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs;
	/* MsgQ: its consumer, in whose window copies go. */
	const struct data_rx *to;
	struct data_doca doca;
} __rte_cache_aligned;

/** A consumer and what it received. */
struct data_rx {
	union {
		struct rte_comch_consumer *consumer;
		struct doca_comch_consumer *doca_consumer;
		struct rte_comch_msgq_consumer *msgq_consumer;
	};
	const struct data_api *api;
	const struct perf_params *params;
	uint32_t number;
	uint32_t conn;
	uint32_t first_sender;   /**< For stamps: number 0 of the other side. */
	uint32_t nb_senders;     /**< That send here. */
	uint32_t only_sender;    /**< If that is one. */
	uint32_t stamp_len;      /**< Bytes of a stamp that a message carries. */
	uint64_t count;          /**< Messages received. */
	uint64_t disorder;
	uint64_t torn;
	uint64_t failed;
	uint64_t lost;
	uint64_t next[PERF_MAX_WORKERS]; /**< Expected number, by sender. */
	struct window window;
	/* Descriptors: buffers in the order of posting, which is a ring. */
	struct rte_comch_buf *bufs;
	uint32_t nb_bufs;
	uint32_t head;           /**< Next to be received. */
	uint32_t owed;           /**< Received before it and not posted again. */
	bool stopping;           /**< Cancelled buffers are no failure now. */
	struct data_mem mem;
	struct rte_comch_mr *mr; /**< Of what is received into. */
	/* mbufs: those that were received and not freed yet. */
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs;
	struct rte_comch_msgq *msgq;
	struct data_doca doca;
} __rte_cache_aligned;

/** A thread. */
struct data_worker {
	struct perf_run *run;
	struct data *data;
	uint32_t number;
	struct rte_comch_poll *poll; /**< Worker 0: the connections'. */
	struct doca_pe *pe;      /**< With --api doca, instead of it. */
	int fd;
	struct data_tx *tx;      /**< NULL: this side or worker does not send. */
	struct data_rx *rx;
	bool tx_done;
	bool rx_done;
	bool over;               /**< The run is to be given up; since the last tick. */
	uint32_t loops;
	uint32_t idle;
	uint64_t next_poll;      /**< When to run the poll again, TSC. */
	uint64_t tx_end;         /**< When to stop sending, TSC. */
	uint64_t progress;       /**< Messages when it was last seen to move. */
	uint64_t progress_tsc;
	bool own_poll;
	bool has_thread;         /**< Not an lcore of EAL's: one that is bound to cpu. */
	int cpu;
	pthread_t thread;
	_Atomic bool running;
	int (*body)(void *worker);
	char error[PERF_ERROR_SIZE];
} __rte_cache_aligned;

/** All of a side. */
struct data {
	const struct data_api *api;
	struct data_tx *txs;
	struct data_rx *rxs;
	struct data_worker *workers;
	uint32_t nb_tx;
	uint32_t nb_rx;
	uint32_t nb_workers;
	bool counts_sent;
	_Atomic uint32_t nb_sending;     /**< Workers whose producer goes on. */
	_Atomic uint64_t counts[PERF_MAX_WORKERS];   /**< Sent by those that do not, by consumer. */
	_Atomic uint64_t expected[PERF_MAX_WORKERS]; /**< By consumer. */
};

/** @name data.c: setting up and tearing down; main thread
 * @{
 */
int data_setup(struct perf_run *run);
/** Its beginning: the run's ends and workers, none of them open yet. */
int data_alloc(struct perf_run *run, const struct data_api *api, uint32_t nb_tx,
		uint32_t nb_rx, uint32_t nb_workers);
void data_teardown(struct perf_run *run);
/** Run a function on all workers and collect the results. */
int data_launch(struct perf_run *run, int (*body)(void *worker));
/** Refusals that all data tests share. */
int data_check(const struct perf_params *params,
		const struct rte_comch_dev_info *info, char *error);
/** ... and those of bandwidth. */
int data_check_bw(const struct perf_params *params,
		const struct rte_comch_dev_info *info, char *error);
/** Does this side send? */
bool data_sends(const struct perf_run *run);
/** Does this side receive? */
bool data_receives(const struct perf_run *run);
/** @} */

/** @name worker.c: in the loop; a worker's own thread
 * @{
 */
/** Nothing could be done: yield, or sleep for these RTE_COMCH_POLL_* classes. */
void worker_idle(struct data_worker *w, uint32_t cls);
/** Look at the clock and at the outside world. */
void worker_tick(struct data_worker *w, uint64_t now);
/** The producer's last message is out. */
void worker_tx_done(struct data_worker *w);

/** In a ping-pong: what can be done while a message is on its way. */
static inline void
worker_tidy(struct data_worker *w)
{
	w->rx->api->repost(w->rx);
	if (w->tx->in_flight * 2 >= w->tx->nb_slots)
		w->tx->api->reap(w->tx);
	w->tx->api->prepare(w->tx, 1);
}
/** Session messages that concern a run that is under way; worker 0. */
void worker_sync(struct perf_run *run);
/** The loop of the rate and bandwidth tests. */
int worker_stream(void *worker);
/** @} */

/** @name data_desc.c: rings of prepared operations
 * @{
 */
int data_ops_open(struct perf_run *run, struct data_tx *tx);
void data_ops_close(struct data_tx *tx);
/** Stamp the next ones: one burst, all to one consumer. */
void data_ops_prepare(struct data_tx *tx, uint16_t n);
/** So many of them were taken. @return that */
uint16_t data_ops_sent(struct data_tx *tx, uint16_t taken);
/** Completions have come. */
void data_ops_done(struct data_tx *tx, const struct rte_comch_cpl *cpls, uint16_t n);
/** Completions wanted for each turn of the ring. */
#define DATA_OPS_SIGNALS 4
/** @} */

/** @name data_native.c: workers with a poll of librte_comch
 * @{
 */
int data_poll_open(struct perf_run *run, struct data_worker *w);
void data_poll_close(struct data_worker *w);
void data_poll_run(struct data_worker *w);
void data_poll_sleep(struct data_worker *w, uint32_t cls);
/** @} */

/** @name data_mem.c
 * @{
 */
/** Get it, cleared and its pages there; then it can be registered, with librte_comch. */
int data_mem_get(struct data_mem *mem, uint64_t len, uint8_t memory);
int data_mem_open(struct data_mem *mem, uint64_t len, uint8_t memory);
void data_mem_close(struct data_mem *mem);
/** @} */

/** Bytes between the starts of two buffers. */
static inline uint64_t
data_stride(const struct perf_params *p)
{
	return RTE_ALIGN_CEIL(p->size, UINT64_C(64));
}

/** Stamp a message and, with --verify, fill it. */
static inline void
data_write(const struct data_tx *tx, struct data_target *to, uint8_t *payload,
		uint8_t *imm)
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
	want = verify_stamp(rx->first_sender + rx->only_sender,
			rx->next[rx->only_sender]);
	rx->count++;
	if (likely(rx->nb_senders == 1 && stamp == want && !p->verify))
		rx->next[rx->only_sender]++;
	else
		data_check_slow(rx, payload, imm, stamp);
}

#endif /* DATA_H */
