/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

/**
 * @file
 * The connections of one side: those that a test measures, or that of the
 * session. Both sides number them alike: a client says its number in the first
 * control message.
 *
 * All functions are for the main thread, but for those of a worker's own poll.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_comch.h>
#include <rte_comch_poll.h>

#include "engine/params.h"

struct link;

/** What drives objects; each API extends it. */
struct link_poll {
	int fd; /**< To sleep on; -1: cannot. */
};

/** What is done by each API in its own way; 0, or link_fail(). */
struct link_ops {
	size_t priv_size;   /**< Of `priv`, which begins as zeroes */
	size_t client_size; /**< ... and ends in an array of clients. */
	/** Make `poll`. */
	int (*open)(struct link *link);
	/** A poll for a worker of its own; its events are not looked at. */
	struct link_poll *(*poll_open)(struct link *link);
	void (*poll_close)(struct link_poll *poll);
	/** Deal with what has happened. @return how much */
	uint16_t (*poll_run)(struct link_poll *poll);
	/** Wake from `fd` for these RTE_COMCH_POLL_* classes; false: no need to sleep. */
	bool (*poll_arm)(struct link_poll *poll, uint32_t cls);
	void (*poll_disarm)(struct link_poll *poll); /**< NULL: needs none. */
	/** DPU side: listen. */
	int (*listen)(struct link *link);
	/** Host side: client *i* begins to connect. */
	int (*connect)(struct link *link, uint32_t i);
	/** Client *i*, or on the DPU side the server, begins to stop; is it IDLE? */
	void (*stop)(struct link *link, uint32_t i);
	bool (*idle)(struct link *link, uint32_t i);
	/** Host side. NULL: stopping has done so. */
	void (*destroy)(struct link *link, uint32_t i);
	/** Send control messages, whose memory stays as it is. @return taken */
	uint16_t (*send)(struct link *link, void *conn, const struct rte_comch_msg *msgs,
			uint16_t n);
	/** DPU side: have all clients left? */
	bool (*left)(struct link *link);
	/** Give back all but `priv`, after a failed open too. */
	void (*close)(struct link *link);
};

/** A consumer of the other side that was announced. */
struct link_ann {
	const void *conn;
	uint32_t id;
};

/** A client's first message. */
struct link_number {
	uint32_t magic;
	uint32_t number;
};

/** The connections of one side. The caller fills in the first part. */
struct link {
	const struct link_ops *ops;
	const char *name;          /**< Of the server. */
	bool host;
	int16_t dev_id;            /**< -1: none; the API opens what it needs. */
	const struct rte_comch_dev_info *info;
	uint32_t nb_conns;
	uint32_t max_clients;      /**< 0: as the library likes. */
	uint32_t queue;            /**< Depth of the control queues; 0: the same. */
	uint32_t max_msg_size;
	uint32_t burst;            /**< Messages to take in one run, if that can be said. */
	uint32_t timeout_ms;       /**< Of connecting. */
	bool sleeps;               /**< The poll is to have a descriptor. */
	bool crowded;              /**< Yield when idle. */
	void *owner;
	/** Something failed, in words. */
	void (*on_fail)(struct link *link, const char *text);
	/** Time passes in link_wait(): run polls. @return events; negative: give up */
	int (*pump)(struct link *link);
	/** Control messages once all are up; NULL: none are expected. */
	void (*on_msg)(void *msg_arg, void *conn, const void *data, uint32_t len);
	void *msg_arg;
	/** Clients come and go: *i* is up; it is down, *why* in words if it failed. */
	void (*on_up)(struct link *link, uint32_t i);
	void (*on_down)(struct link *link, uint32_t i, const char *why);
	/* While it is open: */
	struct link_poll *poll;
	void *priv;                /**< The API's. */
	bool opened;
	bool closing;              /**< Disconnecting is expected. */
	struct link_number *numbers;
	void **conns;              /**< The API's, by number; NULL: not up. */
	uint32_t nb_started;
	uint32_t nb_up;            /**< ... and have said their number. */
	uint64_t nb_joined;        /**< DPU side: clients that have ever come. */
	uint64_t nb_unsent;        /**< Control messages that came back. */
	struct link_ann *anns;
	uint32_t nb_anns;
	uint32_t nb_idle;          /**< Calls of link_idle(). */
};

/** Name of the server of the connections under test. */
#define LINK_SERVER_NAME "comch-perf.test"
/** Between two fruitless looks of a thread that only waits. */
#define LINK_NAP_US   50
/** A lost wake-up must not hang a measurement. */
#define LINK_SLEEP_MS 10
/** Connection time-out of a client, ms. */
#define LINK_TIMEOUT_MS 10000
/** Fruitless runs before a thread without a CPU of its own gives it away. */
#define LINK_SPINS 64

/** Make the poll, and on the DPU side the server, if there are to be connections. */
int link_open(struct link *link);

/** Host: connect all clients; DPU: wait for them. */
int link_up(struct link *link);

/** Run the poll once. @return events seen */
static inline uint16_t
link_poll(struct link *link)
{
	return link->poll == NULL ? 0 : link->ops->poll_run(link->poll);
}

/** Sleep until something of these RTE_COMCH_POLL_* classes happens. */
void link_sleep(const struct link *link, struct link_poll *poll, uint32_t cls);

/** Nothing happened: yield, or sleep. */
void link_idle(struct link *link, uint32_t cls);

/** Pump until *done*. @return 0, -ETIMEDOUT, or -ECANCELED if the pump gave up */
int link_until(struct link *link, int timeout_ms, bool (*done)(struct link *link, void *arg),
		void *arg);

/** As link_until(), without an argument; 0 or link_fail() with a sentence about *what*. */
int link_wait(struct link *link, const char *what, int timeout_ms,
		bool (*done)(struct link *link, void *arg));

/** Was this consumer announced? */
bool link_announced(const struct link *link, const void *conn, uint32_t id);

/** Destroy a client that is IDLE. */
void link_destroy(struct link *link, uint32_t i);

/** Disconnect and destroy everything; *gone*: the other side is not waited for. */
void link_close(struct link *link, bool gone);

/** @name For the APIs: what has happened
 * @{
 */
/** Say why something failed. @return -ECANCELED */
int link_fail(struct link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** A client's connection is up. */
void link_client_up(struct link *link, uint32_t i, void *conn);
/** A client has stopped; *why* is NULL if it was told to. */
void link_client_down(struct link *link, uint32_t i, const char *why);
/** A connection has ended. */
void link_lost(struct link *link, const char *why);
/** A control message. */
void link_got_msg(struct link *link, void *conn, const void *data, uint32_t len);
/** The other side has a new consumer. */
void link_got_consumer(struct link *link, const void *conn, uint32_t id);
/** @} */

#endif /* ENGINE_LINK_H */
