/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

/**
 * @file
 * The connections of one side: those under test, or that of the session. Both
 * sides use the same numbers: a client sends its number as the first control
 * message.
 *
 * Call all functions on the main thread, except those for a worker's own poll.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>

#include "engine/params.h"

struct link;

/** A poll or progress engine; each API extends it. */
struct link_poll {
	int fd; /**< To sleep on; -1: none. */
};

/** The operations of an API. Those with a result return 0 or link_fail(). */
struct link_ops {
	size_t priv_size;   /**< Size of `priv`, which starts zeroed */
	size_t client_size; /**< ... and ends in an array of clients of this size. */
	/** Open the device and create `poll`. */
	int (*open)(struct link *link);
	/** Create a poll for one worker; its events are ignored. */
	struct link_poll *(*poll_open)(struct link *link);
	void (*poll_close)(struct link_poll *poll);
	/** Run the poll. @return number of events */
	uint16_t (*poll_run)(struct link_poll *poll);
	/** Sleep until something of these RTE_COMCH_POLL_* classes happens. */
	void (*poll_sleep)(struct link_poll *poll, uint32_t cls, int timeout_ms);
	/** DPU side: start listening. */
	int (*listen)(struct link *link);
	/** Host side: start connecting client *i*. */
	int (*connect)(struct link *link, uint32_t i);
	/** Start stopping client *i*, or the server on the DPU side; is it IDLE? */
	void (*stop)(struct link *link, uint32_t i);
	bool (*idle)(struct link *link, uint32_t i);
	/** Host side: destroy client *i*. NULL: stop() does. */
	void (*destroy)(struct link *link, uint32_t i);
	/** Send control messages; their memory must stay unchanged. @return accepted */
	uint16_t (*send)(struct link *link, void *conn, const struct rte_comch_msg *msgs,
			uint16_t n);
	/** DPU side: are all clients disconnected? */
	bool (*drained)(struct link *link);
	/** Free all but `priv`, also after a failed open. */
	void (*close)(struct link *link);
};

/** An announced consumer of the peer. */
struct link_ann {
	const void *conn;
	uint32_t id;
};

/** First message of a client. */
struct link_number {
	uint32_t magic;
	uint32_t number;
};
static_assert(sizeof(struct link_number) == 8, "wire");

/** The connections of one side. The caller sets the first part. */
struct link {
	const struct link_ops *ops;
	const char *name;          /**< Server name. */
	bool host;
	int16_t dev_id;            /**< -1: none; the API opens its own. */
	const struct rte_comch_dev_info *info;
	uint32_t nb_conns;
	uint32_t max_clients;      /**< 0: the library's default. */
	uint32_t queue;            /**< Depth of the control queues; 0: default. */
	uint32_t max_msg_size;
	uint32_t burst;            /**< Messages to receive per run, where settable. */
	uint32_t timeout_ms;       /**< Connect timeout. */
	bool sleeps;               /**< The poll must have a descriptor. */
	bool crowded;              /**< Yield when idle. */
	void *owner;
	/** An operation failed; *text* is the reason. */
	void (*on_fail)(struct link *link, const char *text);
	/** Run polls while link_wait() waits. @return events; negative: abort the wait */
	int (*pump)(struct link *link);
	/** Control message, once all connections are up; NULL: none expected. */
	void (*on_msg)(void *msg_arg, void *conn, const void *data, uint32_t len);
	void *msg_arg;
	/** Client *i* is up; it is down, with the reason in *why* if it failed. */
	void (*on_up)(struct link *link, uint32_t i);
	void (*on_down)(struct link *link, uint32_t i, const char *why);
	/* While it is open: */
	struct link_poll *poll;
	void *priv;                /**< State of the API. */
	bool opened;
	bool closing;              /**< Disconnecting is expected. */
	struct link_number *numbers;
	void **conns;              /**< Handles of the API, by number; NULL: not up. */
	uint32_t nb_started;
	uint32_t nb_up;            /**< Up, with the number exchanged. */
	uint64_t nb_joined;        /**< DPU side: clients accepted so far. */
	uint64_t nb_unsent;        /**< Control messages completed with an error. */
	struct link_ann *anns;
	uint32_t nb_anns;
	uint32_t nb_idle;          /**< Calls of link_idle(). */
};

/** Name of the server of the connections under test. */
#define LINK_SERVER_NAME "comch-perf.test"
/** Pause between two idle polls of a thread that only waits, us. */
#define LINK_NAP_US   50
/** Upper limit of a sleep, so that a lost wake-up does not hang a measurement, ms. */
#define LINK_SLEEP_MS 10
/** Connect timeout of a client, ms. */
#define LINK_TIMEOUT_MS 10000
/** Idle runs before a thread that shares its CPU yields. */
#define LINK_SPINS 64

/** Create the poll and, on the DPU side of a link with connections, the server. */
int link_open(struct link *link);

/** Host: connect all clients; DPU: wait for them. */
int link_up(struct link *link);

/** Run the poll once. @return number of events */
static inline uint16_t
link_poll(struct link *link)
{
	return link->poll == NULL ? 0 : link->ops->poll_run(link->poll);
}

/** Sleep until an event of these RTE_COMCH_POLL_* classes, or LINK_SLEEP_MS. */
void link_sleep(const struct link *link, struct link_poll *poll, uint32_t cls);

/** No events: yield, or sleep. */
void link_idle(struct link *link, uint32_t cls);

/** Pump until *done*. @return 0, -ETIMEDOUT, or -ECANCELED if the pump aborted */
int link_until(struct link *link, int timeout_ms, bool (*done)(struct link *link, void *arg),
		void *arg);

/** As link_until(), without an argument. @return 0 or link_fail(), naming *what* */
int link_wait(struct link *link, const char *what, int timeout_ms,
		bool (*done)(struct link *link, void *arg));

/** Was this consumer announced? */
bool link_announced(const struct link *link, const void *conn, uint32_t id);

/** Destroy a client that is IDLE. */
void link_destroy(struct link *link, uint32_t i);

/** Disconnect and destroy everything; *peer_lost*: do not wait for the peer. */
void link_close(struct link *link, bool peer_lost);

/** @name Events that the API backends report
 * @{
 */
/** Report the reason of a failure. @return -ECANCELED */
int link_fail(struct link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** A client's connection is up. */
void link_client_up(struct link *link, uint32_t i, void *conn);
/** A client stopped; *why* is NULL if it was requested. */
void link_client_down(struct link *link, uint32_t i, const char *why);
/** A connection ended. */
void link_lost(struct link *link, const char *why);
/** A control message arrived. */
void link_got_msg(struct link *link, void *conn, const void *data, uint32_t len);
/** The peer announced a consumer. */
void link_got_consumer(struct link *link, const void *conn, uint32_t id);
/** @} */

#endif /* ENGINE_LINK_H */
