/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LINK_H
#define LINK_H

/**
 * @file
 * The connections that a test measures. Both sides number them alike: a
 * client says its number in the first control message.
 *
 * All functions are for the main thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>

struct perf_run;

/** A consumer of the other side that was announced. */
struct link_ann {
	const struct rte_comch_conn *conn;
	uint32_t id;
};

/** The connections of one run, on one side. */
struct link {
	struct rte_comch_poll *poll;
	int fd;                           /**< To sleep on; -1: cannot. */
	struct rte_comch_server *server;  /**< DPU side. */
	struct rte_comch_client **clients; /**< Host side. */
	struct rte_comch_conn **conns;    /**< By number; NULL: not up. */
	uint32_t nb_conns;
	uint32_t nb_started;
	uint32_t nb_up;
	bool closing;                     /**< Disconnecting is no error now. */
	struct link_ann *anns;
	uint32_t nb_anns;
	uint32_t idle;                    /**< Calls of link_idle(). */
	uint64_t nb_unsent;               /**< Control messages that came back. */
	/** Test connections' messages once they are up; NULL: none expected. */
	void (*on_msg)(struct perf_run *run, struct rte_comch_conn *conn,
			const void *data, uint32_t len);
	/** Every other event first; true: it was the test's. NULL: none. */
	bool (*on_event)(struct perf_run *run, const struct rte_comch_event *ev);
};

/** Create the poll, and on the DPU side the server. 0 or perf_run_fail(). */
int link_open(struct perf_run *run);

/** Host: connect all clients; DPU: wait for them. 0 or perf_run_fail(). */
int link_up(struct perf_run *run);

/** Run the poll once and deal with what happened. @return events seen */
uint16_t link_poll(struct perf_run *run);

/** Nothing happened: yield, or sleep for these RTE_COMCH_POLL_* classes. */
void link_idle(struct perf_run *run, uint32_t cls);

/** link_poll() as a sync_pump_t; negative once the run is over. */
int link_pump(void *run);

/** Run link_poll() until *done*, nudged by *step*; 0 or perf_run_fail(). */
int link_wait(struct perf_run *run, const char *what, int timeout_ms,
		bool (*done)(struct perf_run *run), void (*step)(struct perf_run *run));

/** Was this consumer announced? */
bool link_announced(const struct link *link, const struct rte_comch_conn *conn,
		uint32_t id);

/** Disconnect and destroy everything. */
void link_close(struct perf_run *run);

/** Name of the server of the connections under test. */
#define LINK_SERVER_NAME "comch-perf.test"

/** Connection time-out of a client, ms. */
#define LINK_TIMEOUT_MS 10000

#endif /* LINK_H */
