/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_SYNC_H
#define ENGINE_SYNC_H

/**
 * @file
 * The session: a connection of its own over which the two sides agree what to
 * measure, start together, and exchange results as control messages. Nothing
 * else passes between them, so they may as well be on two machines.
 *
 * Its poll is its own too: a test's is not disturbed. All functions are for
 * the main thread. Tests within one process have none (NULL): sending then
 * does nothing, and nothing arrives.
 */

#include "engine/link.h"

/** What a message says. */
enum sync_type {
	SYNC_HELLO = 1, /**< struct sync_hello, each way, first. */
	SYNC_RUN,       /**< struct sync_run, leader to follower. */
	SYNC_READY,     /**< The follower listens. */
	SYNC_CONSUMERS, /**< struct sync_consumer array: whom to send to. */
	SYNC_GO,        /**< Ready to launch; each way. */
	SYNC_COUNTS,    /**< uint64_t array: messages sent to each consumer. */
	SYNC_RESULT,    /**< struct perf_result, follower to leader. */
	SYNC_CLOSED,    /**< The follower has come down. */
	SYNC_ERROR,     /**< Text: this run has failed. */
	SYNC_BYE,       /**< No more runs, leader to follower. */
};

/** What a side says of itself. */
struct sync_hello {
	char version[32];
	char boot_id[40];                /**< Same: same machine, floors count. */
	uint32_t nb_workers;             /**< Threads that this side has. */
	uint16_t cpus[PERF_MAX_WORKERS]; /**< Where they run. */
};

/** What to run. */
struct sync_run {
	char test[32];
	struct perf_params params;
};

/** A consumer to send to. */
struct sync_consumer {
	uint32_t conn;
	uint32_t id;
};

struct sync_frame;

/** A session. Others read `peer`, `run` and `error`. */
struct sync {
	struct link link;
	struct rte_comch_dev_info info;
	bool lost;                   /**< The other side is gone. */
	bool failed;                 /**< ... says that the run has failed. */
	uint32_t run;                /**< Number of the current run. */
	struct sync_hello peer;      /**< What the other side has said of itself. */
	char error[PERF_ERROR_SIZE]; /**< ... of its failure, or why it is gone. */
	uint32_t nb_inbox;
	struct sync_frame *inbox;    /**< What has arrived and was not taken. */
};

/** Called over and over while waiting; a negative value ends the wait. */
typedef int (*sync_pump_t)(void *arg);

/**
 * Open the session: listen (DPU) or connect (host), and exchange HELLOs.
 *
 * @return
 *   The session, or NULL; stderr says why.
 */
struct sync *sync_open(const struct link_ops *ops, int16_t dev_id, bool leader,
		const struct sync_hello *mine, int timeout_ms);

/** Close it. */
void sync_close(struct sync *sync);

/**
 * Begin the next run: what belongs to another one is dropped from now on. The
 * follower's begins with the SYNC_RUN that it takes.
 */
void sync_run_begin(struct sync *sync);

/** Go on although the other side said that the run has failed. */
void sync_forgive(struct sync *sync);

/** Send a message. @return 0 or a negative errno. */
int sync_send(struct sync *sync, enum sync_type type, const void *data, size_t len);

/**
 * Take what has arrived; never blocks.
 *
 * @return
 *   0; -EPIPE: the other side is gone; -ECANCELED: it says that the run has
 *   failed (`error`).
 */
int sync_poll(struct sync *sync);

/** Take a message of a type that has arrived. @return its length, or -EAGAIN */
int sync_take(struct sync *sync, enum sync_type type, void *data, size_t size);

/**
 * Wait for a message. Without *pump* this thread sleeps meanwhile and leaves
 * its CPU alone.
 *
 * @return
 *   Its length; -ETIMEDOUT, -EINTR (told to end), as sync_poll(), or what the
 *   pump returned.
 */
int sync_wait(struct sync *sync, enum sync_type type, void *data, size_t size,
		int timeout_ms, sync_pump_t pump, void *arg);

#endif /* ENGINE_SYNC_H */
