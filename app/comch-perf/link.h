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
struct link_cchan;
struct link_doca;
struct link_number;

/** A consumer of the other side that was announced. */
struct link_ann {
	const void *conn;
	uint32_t id;
};

/** What is done by each API in its own way; 0 or perf_run_fail(). */
struct link_ops {
	/** Make what drives the connections, and `fd`. */
	int (*open)(struct perf_run *run);
	/** DPU side: listen. */
	int (*listen)(struct perf_run *run);
	/** Host side: client *i* begins to connect. */
	int (*start_client)(struct perf_run *run, uint32_t i);
	/** Send control messages, whose memory stays as it is. @return taken */
	uint16_t (*send)(struct perf_run *run, void *conn, const struct rte_comch_msg *msgs,
			uint16_t n);
	/** Deal with what has happened. @return how much */
	uint16_t (*poll)(struct perf_run *run);
	/** Sleep until something of these RTE_COMCH_POLL_* classes happens. */
	void (*sleep)(struct perf_run *run, uint32_t cls);
	/** Coming down: clients, or the server, stop; all are gone; free them. */
	void (*stop_clients)(struct perf_run *run);
	bool (*all_left)(struct perf_run *run);
	void (*stop_server)(struct perf_run *run);
	bool (*all_idle)(struct perf_run *run);
	void (*close)(struct perf_run *run);
};

/** The connections of one run, on one side. */
struct link {
	const struct link_ops *ops;       /**< NULL: not open. */
	struct rte_comch_poll *poll;
	int fd;                           /**< To sleep on; -1: cannot. */
	struct rte_comch_server *server;  /**< DPU side. */
	struct rte_comch_client **clients; /**< Host side. */
	struct link_doca *doca;           /**< With --api doca, instead of these. */
	struct link_cchan *cchan;         /**< With --api comm_channel. */
	struct link_number *numbers;      /**< By number: a client's first message. */
	void **conns;                     /**< The API's, by number; NULL: not up. */
	uint32_t nb_conns;
	uint32_t nb_started;
	uint32_t nb_up;
	bool closing;                     /**< Disconnecting is no error now. */
	struct link_ann *anns;
	uint32_t nb_anns;
	uint32_t idle;                    /**< Calls of link_idle(). */
	uint64_t nb_unsent;               /**< Control messages that came back. */
	/** Test connections' messages once they are up; NULL: none expected. */
	void (*on_msg)(struct perf_run *run, const void *conn, const void *data,
			uint32_t len);
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
bool link_announced(const struct link *link, const void *conn, uint32_t id);

/** Disconnect and destroy everything. */
void link_close(struct perf_run *run);

/** @name For the APIs: what has happened
 * @{
 */
/** Client *number*'s connection is up. */
void link_client_up(struct perf_run *run, uint64_t number, void *conn);
/** A control message. */
void link_got_msg(struct perf_run *run, void *conn, const void *data, uint32_t len);
/** The other side has a new consumer. */
void link_got_consumer(struct perf_run *run, const void *conn, uint32_t id);
/** Depth of the control queues; 0: as the API likes. */
uint32_t link_ctrl_queue(const struct perf_run *run);
/** The longest control message. */
uint32_t link_ctrl_size(const struct perf_run *run);
/** @} */

extern const struct link_ops link_ops_native;
extern const struct link_ops link_ops_doca;
extern const struct link_ops link_ops_cchan;

/** Name of the server of the connections under test. */
#define LINK_SERVER_NAME "comch-perf.test"

/** A lost wake-up must not hang a measurement. */
#define LINK_SLEEP_MS 10

/** Connection time-out of a client, ms. */
#define LINK_TIMEOUT_MS 10000

#endif /* LINK_H */
