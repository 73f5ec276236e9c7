/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_SYNC_H
#define ENGINE_SYNC_H

/**
 * @file
 * The session: a connection of its own on which the two sides agree on the test,
 * start together, and exchange results as control messages. They share nothing
 * else, so they can be on two machines, of different architectures: the messages have
 * fixed widths and no holes, and both are little endian.
 *
 * It has a poll of its own and so does not disturb that of a test. Call all
 * functions on the main thread. Tests within one process have no session (NULL):
 * sends do nothing, and no message arrives.
 */

#include "engine/link.h"

/** Message types. */
enum sync_type {
	SYNC_HELLO = 1, /**< struct sync_hello, each way, first. */
	SYNC_RUN,       /**< struct sync_run, leader to follower. */
	SYNC_READY,     /**< The follower listens. */
	SYNC_CONSUMERS, /**< struct sync_consumer array: consumers to send to. */
	SYNC_GO,        /**< Ready to launch; each way. */
	SYNC_COUNTS,    /**< uint64_t array: messages sent to each consumer. */
	SYNC_RESULT,    /**< struct perf_result, follower to leader. */
	SYNC_CLOSED,    /**< The follower has closed the run. */
	SYNC_ERROR,     /**< Text: the reason why this run failed. */
	SYNC_BYE,       /**< No more runs, leader to follower. */
	SYNC_EXPORT,    /**< struct accel_export, follower to leader: memory to copy. */
};

/** Description of a side. */
struct sync_hello {
	char version[32];
	char boot_id[40];                /**< Equal IDs: same machine, floors apply. */
	uint32_t nb_workers;             /**< Threads of this side. */
	uint16_t cpus[PERF_MAX_WORKERS]; /**< CPU of each thread. */
};
static_assert(sizeof(struct sync_hello) == 204, "wire");
static_assert(offsetof(struct sync_hello, nb_workers) == 72, "wire");
static_assert(offsetof(struct sync_hello, cpus) == 76, "wire");

/** The test to run. */
struct sync_run {
	char test[32];
	struct perf_params params;
};
static_assert(sizeof(struct sync_run) == 96, "wire");
static_assert(offsetof(struct sync_run, params) == 32, "wire");

/** A consumer to send to. */
struct sync_consumer {
	uint32_t conn;
	uint32_t id;
};
static_assert(sizeof(struct sync_consumer) == 8, "wire");

struct sync_frame;

/** A session. Other files read `peer`, `run` and `error`. */
struct sync {
	struct link link;
	struct rte_comch_dev_info info;
	bool lost;                   /**< The peer disconnected. */
	bool failed;                 /**< The peer reported that the run failed. */
	uint32_t run;                /**< Number of the current run. */
	struct sync_hello peer;      /**< The peer's HELLO. */
	char error[PERF_ERROR_SIZE]; /**< Its reason, or why the session is lost. */
	uint32_t nb_inbox;
	struct sync_frame *inbox;    /**< Messages received, not taken. */
};

/** Called repeatedly while waiting; a negative value ends the wait. */
typedef int (*sync_pump_t)(void *arg);

/**
 * Open the session: listen (DPU) or connect (host), and exchange HELLOs.
 *
 * @return
 *   The session, or NULL, with the reason on stderr.
 */
struct sync *sync_open(const struct link_ops *ops, int16_t dev_id, bool leader,
		const struct sync_hello *mine, int timeout_ms);

/** Close the session. */
void sync_close(struct sync *sync);

/**
 * Start the next run: messages of other runs are dropped from now on. The follower
 * starts one by taking SYNC_RUN.
 */
void sync_run_begin(struct sync *sync);

/** Clear the failure that the peer reported. */
void sync_forgive(struct sync *sync);

/** Send a message. @return 0 or a negative errno */
int sync_send(struct sync *sync, enum sync_type type, const void *data, size_t len);

/**
 * Receive pending messages; never blocks.
 *
 * @return
 *   0; -EPIPE: the session is lost; -ECANCELED: the peer reported that the run
 *   failed. `error` has the reason.
 */
int sync_poll(struct sync *sync);

/** Take a received message of a type. @return its length, or -EAGAIN */
int sync_take(struct sync *sync, enum sync_type type, void *data, size_t size);

/**
 * Wait for a message. Without *pump*, this thread sleeps meanwhile.
 *
 * @return
 *   Its length; -ETIMEDOUT; -EINTR (a signal asked to exit); an error of
 *   sync_poll(), or that of the pump.
 */
int sync_wait(struct sync *sync, enum sync_type type, void *data, size_t size,
		int timeout_ms, sync_pump_t pump, void *arg);

#endif /* ENGINE_SYNC_H */
