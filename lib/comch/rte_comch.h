/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_H
#define RTE_COMCH_H

/**
 * @file
 * comch: a host <-> DPU communication channel.
 *
 * The model
 * ---------
 *
 * A *device* is one end of a host/DPU pair. It has a role: the host side sees
 * one PCI function (a PF, VF or SF); the DPU side sees *representors*, one for
 * each host function it serves. A *server* lives on the DPU side, on a device
 * and a representor, under a name. A *client* lives on the host side and
 * connects to a name on its own function; nobody else can reach that server.
 * What joins them is a *connection*:
 *
 *     host process                              DPU process
 *     +-------------------+                     +-------------------+
 *     | client "telemetry"|==== connection ====>| server "telemetry"|
 *     |   control msgs    |<--- reliable, ----->|   control msgs    |
 *     |                   |     ordered         |                   |
 *     |   producer 1 -----|--- fast path ------>|-> consumer 1      |
 *     |   consumer 1 <----|-------------------- |-- producer 1, 2   |
 *     +-------------------+                     +-------------------+
 *
 * Control messages are small, reliable and ordered (this file). The fast path
 * (rte_comch_dp.h, rte_comch_mbuf.h) moves up to 1 GiB a message from a
 * *producer* straight into a buffer that a *consumer* posted. Both ends of a
 * connection may have many of each.
 *
 * Objects and their states
 * ------------------------
 *
 * create -> IDLE -> start -> STARTING -> RUNNING -> stop -> STOPPING -> IDLE
 * -> destroy. Start and stop return 0 when the change is complete (no event
 * follows), -EINPROGRESS when an event RTE_COMCH_EVENT_STATE will tell its
 * end, or an error, after which nothing has changed.
 *
 * Nothing happens behind the application's back: there is no callback, and no
 * thread but a few that receive and close the descriptors of peers. An
 * object belongs to a *poll* (rte_comch_poll.h); its state, its
 * messages and its connections advance only while somebody calls
 * rte_comch_poll_run() for that poll, which returns what happened as a burst
 * of events.
 *
 * The order of calls
 * ------------------
 *
 *     rte_eal_init()
 *     rte_comch_dev_probe("comch_shm0,role=dpu,rep=pf0", &dev)
 *     poll = rte_comch_poll_create(NULL)
 *     server = rte_comch_server_create(dev, &conf)    conf.poll = poll
 *     rte_comch_server_start(server)
 *     for (;;) {
 *         n = rte_comch_poll_run(poll, ev, 32);
 *         ... RTE_COMCH_EVENT_CONNECTED: remember ev.conn
 *         ... RTE_COMCH_EVENT_MSG: rte_comch_conn_send_burst(ev.conn, ...)
 *     }
 *
 * Threads
 * -------
 *
 * A poll, and the servers, clients and connections attached to it, belong to
 * one thread at a time (EAL lcore or plain pthread); they may be handed over
 * by anything that orders memory, such as a lock or a join. Functions marked
 * "any thread" are the exception. Device functions are safe from any thread
 * and meant for set-up.
 *
 * Errors
 * ------
 *
 * Functions return 0 or a negative errno; those that create return NULL and
 * set rte_errno. Bursts return how many they took: a short count always means
 * "later, offer the rest again", never an error. The first function that
 * decides on an error writes one log line that names the object and the
 * reason (log type lib.comch or pmd.comch.shm).
 *
 * | value        | meaning                                              |
 * |--------------|------------------------------------------------------|
 * | -EINVAL      | an argument is wrong                                 |
 * | -EBADFD      | the object is in the wrong state                     |
 * | -ENOTSUP     | this role, device or driver cannot do it             |
 * | -EAGAIN      | not now; try again after rte_comch_poll_run()        |
 * | -EBUSY       | something still uses the object                      |
 * | -EADDRINUSE  | the server name is taken                             |
 * | -ENOENT      | nothing has that name or id                          |
 * | -EMSGSIZE    | too long                                             |
 * | -ECONNRESET  | the peer is gone                                     |
 * | -ECONNREFUSED| the server refused the connection                    |
 * | -ECANCELED   | flushed by a stop or a disconnect                    |
 * | -EPROTO      | the peer broke the protocol; the connection is down  |
 * | -ETIMEDOUT   | the peer did not answer in time                      |
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Longest name of a server, with its NUL. */
#define RTE_COMCH_NAME_SIZE 120
/** Longest name of a device or host function, with its NUL. */
#define RTE_COMCH_DEV_NAME_SIZE 64
/** Longest reason given for a refused or ended connection, with its NUL. */
#define RTE_COMCH_REASON_SIZE 128
/** Immediate data that every driver carries at least, bytes. */
#define RTE_COMCH_IMM_SIZE 32

struct rte_comch_server;
struct rte_comch_client;
struct rte_comch_conn;
struct rte_comch_poll;
struct rte_comch_producer;
struct rte_comch_consumer;
struct rte_comch_mr;

/** Which end of the host/DPU pair a device is. */
enum rte_comch_role {
	RTE_COMCH_ROLE_HOST, /**< Clients live here. */
	RTE_COMCH_ROLE_DPU,  /**< Servers live here. */
};

/** What kind of PCI function a representor stands for. */
enum rte_comch_func_type {
	RTE_COMCH_FUNC_PF, /**< Physical function, `pf0`. */
	RTE_COMCH_FUNC_VF, /**< Virtual function, `pf0vf3`. */
	RTE_COMCH_FUNC_SF, /**< Scalable function, `pf0sf7`. */
};

/** States of a server, client, producer or consumer. */
enum rte_comch_state {
	RTE_COMCH_STATE_IDLE,
	RTE_COMCH_STATE_STARTING,
	RTE_COMCH_STATE_RUNNING,
	RTE_COMCH_STATE_STOPPING,
};

/**
 * Name of a state, for messages.
 *
 * @return
 *   "IDLE", "STARTING", "RUNNING", "STOPPING" or "?".
 */
const char *rte_comch_state_name(enum rte_comch_state state);

/** @name Devices
 * @{
 */

/** The device can be the server's side of a connection. */
#define RTE_COMCH_CAPA_SERVER   (UINT64_C(1) << 0)
/** The device can be the client's side of a connection. */
#define RTE_COMCH_CAPA_CLIENT   (UINT64_C(1) << 1)
/** Producers and consumers are available. */
#define RTE_COMCH_CAPA_DATA     (UINT64_C(1) << 2)
/** A producer writes straight into sealed shareable memory. */
#define RTE_COMCH_CAPA_DIRECT   (UINT64_C(1) << 3)
/** Sleeping on a poll's fd is available. */
#define RTE_COMCH_CAPA_EVENT_FD (UINT64_C(1) << 4)
/**
 * Payload is the application's again when send_burst() returns, and not only when
 * done_burst() returned the operation; but for a message that streams through a
 * staging ring. See rte_comch_producer_send_burst().
 */
#define RTE_COMCH_CAPA_SYNC_SEND (UINT64_C(1) << 5)

/** What a device is and what it can do. */
struct rte_comch_dev_info {
	char name[RTE_COMCH_DEV_NAME_SIZE];   /**< As in the device string. */
	char driver[RTE_COMCH_DEV_NAME_SIZE]; /**< "comch_shm". */
	enum rte_comch_role role;
	uint64_t capa;             /**< RTE_COMCH_CAPA_* */
	uint16_t nb_reps;          /**< Representors; on the host side 1: the function itself. */
	uint32_t max_name_size;    /**< Server name, bytes with the NUL. */
	uint32_t max_msg_size;     /**< Control message, bytes. */
	uint32_t max_recv_queue;   /**< Control messages waiting for the receiver. */
	uint32_t max_send_queue;   /**< Control messages waiting for the sender's completion. */
	uint32_t max_clients;      /**< Connections of one server. */
	uint32_t max_producers;    /**< Of one connection, on this side. */
	uint32_t max_consumers;    /**< Of one connection, on this side. */
	uint32_t max_dp_queue;     /**< Operations of one producer or consumer. */
	uint32_t max_imm_len;      /**< Immediate data, bytes. */
	uint64_t max_buf_len;      /**< Fast-path message, bytes. */
	uint64_t max_import;       /**< Peer's memory that one connection maps, bytes. */
	uint64_t total_import;     /**< The same of all connections. */
	uint64_t max_staging;      /**< Record regions and staging rings that one connection
				    * allocates for the peer's consumers, bytes. */
	uint64_t total_staging;    /**< The same of all connections. */
};

/** A host function as the DPU side sees it. */
struct rte_comch_rep_info {
	char name[RTE_COMCH_DEV_NAME_SIZE]; /**< "pf0", "pf0vf3", "pf0sf7". */
	enum rte_comch_func_type type;
	uint16_t pf;    /**< Number of the physical function. */
	uint16_t index; /**< Number of the VF or SF; 0 for a PF. */
};

/**
 * Open a device by its device string, `DRIVER[NUMBER][,KEY=VALUE...]`.
 *
 * For the shared-memory driver: `comch_shm0,role=dpu,rep=pf0,rep=pf0vf0` and
 * `comch_shm0,role=host,func=pf0`; the other keys are in the guide, chapter
 * "The shm driver".
 *
 * @param devargs
 *   The device string. Not kept.
 * @param[out] dev_id
 *   Number of the new device.
 * @return
 *   - 0: done.
 *   - -EINVAL: malformed string, or a key or value that the driver does not
 *     know; the log line lists the valid ones.
 *   - -ENODEV: no driver of that name.
 *   - -EEXIST: a device of that name is open.
 *   - -ENOSPC: too many devices.
 *   - other: from the driver (say, a directory that cannot be made).
 */
int rte_comch_dev_probe(const char *devargs, int16_t *dev_id);

/**
 * Close a device.
 *
 * @return
 *   - 0: done.
 *   - -ENODEV: no such device.
 *   - -EBUSY: servers or clients of the device exist.
 */
int rte_comch_dev_close(int16_t dev_id);

/** Number of open devices. */
uint16_t rte_comch_dev_count(void);

/**
 * The open device with the smallest number that is at least *from*.
 *
 * @return
 *   The device's number, or -1.
 */
int16_t rte_comch_dev_next(int16_t from);

/** Walk over all open devices. */
#define RTE_COMCH_DEV_FOREACH(dev_id) \
	for ((dev_id) = rte_comch_dev_next(0); (dev_id) >= 0; \
			(dev_id) = rte_comch_dev_next((int16_t)((dev_id) + 1)))

/**
 * Find an open device by name.
 *
 * @return
 *   The device's number, -EINVAL without a name, -ENODEV.
 */
int rte_comch_dev_by_name(const char *name);

/**
 * What a device is and can do.
 *
 * @return
 *   0, -EINVAL (no *info*), -ENODEV.
 */
int rte_comch_dev_info_get(int16_t dev_id, struct rte_comch_dev_info *info);

/**
 * Describe representor number *rep* of a device (0 to nb_reps - 1).
 *
 * @return
 *   0, -EINVAL (no *info*), -ENODEV, -ENOENT (no such representor).
 */
int rte_comch_dev_rep_info_get(int16_t dev_id, uint16_t rep,
		struct rte_comch_rep_info *info);

/**
 * Find a representor by its name.
 *
 * @return
 *   The representor's number, -EINVAL without a name, -ENODEV, -ENOENT.
 */
int rte_comch_dev_rep_by_name(int16_t dev_id, const char *name);

/** @} */
/** @name Servers
 * @{
 */

/** Connections wait for rte_comch_conn_accept() or rte_comch_conn_reject(). */
#define RTE_COMCH_SERVER_F_MANUAL_ACCEPT (UINT32_C(1) << 0)
/**
 * A client whose message size differs is refused, with both figures in the
 * reason; without it the smaller of the two counts. (DOCA Comch guide 2.10,
 * "Optional Configurations": the size must match.)
 */
#define RTE_COMCH_SERVER_F_EXACT         (UINT32_C(1) << 1)
/**
 * Arrival order across clients: messages of all clients of all servers of one
 * poll that have this flag come in the order of their sending. If one client's
 * send had returned before another's began, its message event comes first,
 * whoever the clients are and whatever way the second knew of the first. The
 * clients' clock is the TSC, read in each send; a client that lies about it
 * gets ahead by two of its receive queues at most. Messages that knew nothing
 * of each other come in any order, other events as without the flag. A client
 * that does not run its poll for long has its messages read later.
 *
 * Costs a look at each such connection in each run, and a copy and a few ten
 * nanoseconds for each message; other servers pay nothing. A client older than
 * wire version 1.1 is refused.
 */
#define RTE_COMCH_SERVER_F_ORDERED       (UINT32_C(1) << 2)
/**
 * No fast path on the server's connections: neither side can create producers
 * or consumers, and a peer that tries breaks the protocol.
 */
#define RTE_COMCH_SERVER_F_CTRL_ONLY     (UINT32_C(1) << 3)
/**
 * A message counts as delivered when rte_comch_conn_msgs_done() says so, not
 * when its event was returned: for applications that take events at any time
 * and keep messages for later. The peer still has no more than recv_queue
 * messages that are not done.
 */
#define RTE_COMCH_SERVER_F_MANUAL_CREDIT (UINT32_C(1) << 4)

/** How to create a server. Zero in a number means its default. */
struct rte_comch_server_conf {
	size_t conf_size;             /**< sizeof(struct rte_comch_server_conf) */
	struct rte_comch_poll *poll;  /**< The poll that drives it. */
	const char *name;             /**< Unique per device and representor; copied. */
	uint16_t rep;                 /**< Number of the representor. */
	uint32_t flags;               /**< RTE_COMCH_SERVER_F_* */
	uint32_t max_msg_size;        /**< Bytes; default 4080 (or the device's limit). */
	uint32_t recv_queue;          /**< Messages per connection; default 64. */
	uint32_t send_queue;          /**< Messages per connection; default 64. */
	uint32_t max_clients;         /**< Default: the device's limit. */
	uint64_t user_data;           /**< Comes back in each event of the server. */
};

/**
 * Create a server (DPU side only).
 *
 * Comes from: DOCA Comch guide 2.10, "doca_comch_server Initialization Flow".
 *
 * @return
 *   The server in IDLE, or NULL with rte_errno:
 *   - EINVAL: no conf, poll or name; name empty or longer than
 *     RTE_COMCH_NAME_SIZE with its NUL; a size or depth over the device's
 *     limit; unknown flag.
 *   - ENODEV: no such device.
 *   - ENOENT: no such representor.
 *   - ENOTSUP: the device is on the host side.
 *   - ENOMEM.
 */
struct rte_comch_server *rte_comch_server_create(int16_t dev_id,
		const struct rte_comch_server_conf *conf);

/**
 * Start listening. RUNNING on return.
 *
 * A server that can no longer be found, because somebody took its place away
 * (on shared memory, the file of its socket), stops by itself: a STATE event
 * says STOPPING with status -ENOENT and the reason in its text, its connections
 * end, those with producers and consumers too, and another event says IDLE. It
 * may be started again then.
 *
 * @return
 *   - 0: done.
 *   - -EINVAL: no server.
 *   - -EBADFD: not IDLE.
 *   - -EADDRINUSE: a server of that name is RUNNING on this representor, in
 *     this process or another one.
 *   - other: from the driver; EMFILE, EACCES...
 */
int rte_comch_server_start(struct rte_comch_server *server);

/**
 * Stop listening and disconnect all clients.
 *
 * @return
 *   - 0: done, IDLE (nobody was connected).
 *   - -EINPROGRESS: STOPPING; a DISCONNECTED event per connection and a STATE
 *     event follow.
 *   - -EBUSY: a connection has producers or consumers; nothing has changed.
 *   - -EBADFD: not RUNNING.
 *   - -EINVAL: no server.
 */
int rte_comch_server_stop(struct rte_comch_server *server);

/**
 * Destroy a server. Its memory lives until the next rte_comch_poll_run() of
 * its poll, so that events already returned stay valid.
 *
 * @return
 *   0, -EINVAL (no server), -EBUSY (not IDLE).
 */
int rte_comch_server_destroy(struct rte_comch_server *server);

/** State of a server; exact at any time. Any thread. NULL: IDLE. */
enum rte_comch_state rte_comch_server_state(const struct rte_comch_server *server);

/** Connections that are established or wait for an answer. */
uint32_t rte_comch_server_nb_conns(const struct rte_comch_server *server);

/** Connections that wait for rte_comch_conn_accept(). */
uint32_t rte_comch_server_nb_pending(const struct rte_comch_server *server);

/** @} */
/** @name Clients
 * @{
 */

/** As RTE_COMCH_SERVER_F_CTRL_ONLY, for the client's connection. */
#define RTE_COMCH_CLIENT_F_CTRL_ONLY     (UINT32_C(1) << 0)
/** As RTE_COMCH_SERVER_F_MANUAL_CREDIT, for the client's connection. */
#define RTE_COMCH_CLIENT_F_MANUAL_CREDIT (UINT32_C(1) << 1)

/** How to create a client. Zero in a number means its default. */
struct rte_comch_client_conf {
	size_t conf_size;            /**< sizeof(struct rte_comch_client_conf) */
	struct rte_comch_poll *poll; /**< The poll that drives it. */
	const char *name;            /**< The server's name; copied. */
	uint32_t max_msg_size;       /**< Bytes; default 4080 (or the device's limit). */
	uint32_t recv_queue;         /**< Messages; default 64. */
	uint32_t send_queue;         /**< Messages; default 64. */
	/**
	 * How long to go on trying while nobody listens on the name, ms.
	 * 0: fail at once. A server that is found has 10 s to answer.
	 */
	uint32_t connect_timeout_ms;
	uint64_t user_data;          /**< Comes back in each event of the client. */
	uint32_t flags;              /**< RTE_COMCH_CLIENT_F_* */
};

/**
 * Create a client (host side only).
 *
 * Comes from: DOCA Comch guide 2.10, "doca_comch_client Initialization Flow".
 *
 * @return
 *   The client in IDLE, or NULL with rte_errno: EINVAL (unknown flags, too),
 *   ENODEV, ENOTSUP (the device is on the DPU side), ENOMEM; as
 *   rte_comch_server_create().
 */
struct rte_comch_client *rte_comch_client_create(int16_t dev_id,
		const struct rte_comch_client_conf *conf);

/**
 * Begin to connect. A STATE event says the end: RUNNING (a CONNECTED event
 * goes before it), or IDLE with the reason in status and text: -ENOENT
 * (nobody listens on the name), -ECONNREFUSED (rejected), -EACCES,
 * -ETIMEDOUT, -ECONNRESET, -EPROTO.
 *
 * @return
 *   -EINPROGRESS, never 0; -EINVAL (no client), -EBADFD (not IDLE), -ENOMEM.
 */
int rte_comch_client_start(struct rte_comch_client *client);

/**
 * Disconnect, or give up connecting.
 *
 * @return
 *   - -EINPROGRESS: STOPPING; events DISCONNECTED (if there was a
 *     connection) and STATE follow.
 *   - -EBUSY: the connection has producers or consumers; nothing has changed.
 *   - -EBADFD: IDLE or STOPPING.
 *   - -EINVAL: no client.
 */
int rte_comch_client_stop(struct rte_comch_client *client);

/** Destroy a client. As rte_comch_server_destroy(). */
int rte_comch_client_destroy(struct rte_comch_client *client);

/** State of a client; exact at any time. Any thread. NULL: IDLE. */
enum rte_comch_state rte_comch_client_state(const struct rte_comch_client *client);

/**
 * The client's connection.
 *
 * @return
 *   The connection from STARTING on; NULL in IDLE.
 */
struct rte_comch_conn *rte_comch_client_conn(const struct rte_comch_client *client);

/** @} */
/** @name Connections and control messages
 * @{
 */

/** What is known of a connection. Sizes are those agreed with the peer. */
struct rte_comch_conn_info {
	uint32_t id;                    /**< Unique in this process. */
	int16_t dev_id;
	uint16_t rep;
	bool established;
	char name[RTE_COMCH_NAME_SIZE]; /**< The server's name. */
	uint32_t max_msg_size;          /**< Bytes, both directions; 0 until they agreed. */
	uint32_t send_credits;          /**< Messages that the peer queues for us; 0 until then. */
	uint32_t recv_queue;            /**< Messages that we queue for the peer. */
	int32_t peer_pid;               /**< As the kernel vouches; -1 unknown. */
	int32_t peer_uid;               /**< As the kernel vouches; -1 unknown. */
	int32_t peer_gid;               /**< As the kernel vouches; -1 unknown. */
	char reason[RTE_COMCH_REASON_SIZE]; /**< Why it ended; empty while it lives. */
	bool ctrl_only;                 /**< No fast path: one side said so. */
};

/** Any thread. @return 0, -EINVAL. */
int rte_comch_conn_info_get(const struct rte_comch_conn *conn,
		struct rte_comch_conn_info *info);

/**
 * Accept a connection that a CONNECT_REQUEST event offered
 * (RTE_COMCH_SERVER_F_MANUAL_ACCEPT). A CONNECTED event follows.
 *
 * @return
 *   0, -EINVAL, -EBADFD (it does not wait for this), -ECONNRESET (the client
 *   has given up meanwhile).
 */
int rte_comch_conn_accept(struct rte_comch_conn *conn);

/**
 * Refuse a connection that a CONNECT_REQUEST event offered. The pointer is
 * good until the next rte_comch_poll_run(); no event follows.
 *
 * @param conn
 *   The connection.
 * @param reason
 *   A sentence for the client; NULL for none. Cut at RTE_COMCH_REASON_SIZE.
 * @return
 *   0, -EINVAL, -EBADFD (it does not wait for this).
 */
int rte_comch_conn_reject(struct rte_comch_conn *conn, const char *reason);

/**
 * End a connection. The peer first gets all messages sent before, and has up
 * to a second to take those that are not silent: their SENT events come first,
 * and messages of the peer go on coming until then. On a client's connection use
 * rte_comch_client_stop().
 *
 * Comes from: DOCA Comch guide 2.10, "Disconnecting Specific Connection".
 *
 * @param conn
 *   The connection.
 * @param reason
 *   A sentence for the peer and both logs; NULL for none.
 * @return
 *   - -EINPROGRESS: a DISCONNECTED event follows; the connection is good
 *     until it was returned and the next run begins.
 *   - -EBUSY: producers or consumers of the connection exist on this side.
 *   - -ENOTSUP: a client's connection.
 *   - -EBADFD: not established.
 *   - -EINVAL: no connection.
 */
int rte_comch_conn_disconnect(struct rte_comch_conn *conn, const char *reason);

/** Set the connection's user data. Any thread. */
void rte_comch_conn_user_data_set(struct rte_comch_conn *conn, uint64_t user_data);

/** The connection's user data; 0 at first. Any thread. */
uint64_t rte_comch_conn_user_data_get(const struct rte_comch_conn *conn);

/** The server of a connection; NULL on the client's side. Any thread. */
struct rte_comch_server *rte_comch_conn_server(const struct rte_comch_conn *conn);

/** The client of a connection; NULL on the server's side. Any thread. */
struct rte_comch_client *rte_comch_conn_client(const struct rte_comch_conn *conn);

/** No SENT event for this message if it is delivered; no end waits for that. */
#define RTE_COMCH_MSG_F_SILENT (UINT32_C(1) << 0)

/** A control message to send. */
struct rte_comch_msg {
	const void *data; /**< Copied during the call. */
	uint32_t len;     /**< Bytes; 0 to the connection's max_msg_size. */
	uint32_t flags;   /**< RTE_COMCH_MSG_F_* */
	uint64_t cookie;  /**< Comes back in the SENT event. */
};

/**
 * Send control messages. They arrive whole, once and in order.
 *
 * A SENT event per message says that the peer's application was given it
 * (status 0), that the message is too long or the connection is not
 * established (-EMSGSIZE, -EBADFD, -EINVAL: nothing was sent), or that it
 * cannot be known any more (-ECONNRESET).
 *
 * Comes from: DOCA Comch guide 2.10, "Control Channel Send Task".
 *
 * @param conn
 *   The connection.
 * @param msgs
 *   The messages; data and array are free on return.
 * @param n
 *   Number of messages.
 * @return
 *   How many were taken. Fewer than *n*: the peer's queue or our own is full,
 *   or the driver's ring (which holds at least three of the longest messages
 *   on shared memory), or the connection is about to end; run the poll and
 *   offer the rest again.
 */
uint16_t rte_comch_conn_send_burst(struct rte_comch_conn *conn,
		const struct rte_comch_msg *msgs, uint16_t n);

/**
 * Say that the oldest messages received are done with, on a connection with
 * RTE_COMCH_SERVER_F_MANUAL_CREDIT or RTE_COMCH_CLIENT_F_MANUAL_CREDIT. Their
 * places in our queue are free again, and the peer's SENT events follow. It is
 * told with the next frame, or when the poll is run or armed next; so say it
 * before the poll is armed.
 *
 * A connection that ends by rte_comch_conn_disconnect() or a stop waits a
 * second, on the peer's side, for what is not done here.
 *
 * @param conn
 *   The connection.
 * @param n
 *   Number of messages.
 * @return
 *   - 0: done. Also once the connection has ended, while the pointer is good:
 *     then it tells nobody.
 *   - -EINVAL: no connection, not one with that flag, or more than were
 *     received and not done yet.
 *   - -EBADFD: in a forked child.
 */
int rte_comch_conn_msgs_done(struct rte_comch_conn *conn, uint32_t n);

/** @} */
/** @name Events
 * @{
 */

/** What happened. */
enum rte_comch_event_type {
	/** A server, client, producer or consumer changed its state by itself
	 * or finished a start or stop: `state`, `status`, `text`.
	 */
	RTE_COMCH_EVENT_STATE,
	/** A client asks (manual accept): `conn`. */
	RTE_COMCH_EVENT_CONNECT_REQUEST,
	/** A connection is established: `conn`. */
	RTE_COMCH_EVENT_CONNECTED,
	/** A connection ended: `conn`, `status`, `text`. The last event of a
	 * connection; everything that the peer had sent went before it.
	 */
	RTE_COMCH_EVENT_DISCONNECTED,
	/** A control message: `conn`, `msg`. */
	RTE_COMCH_EVENT_MSG,
	/** A control message of ours: `conn`, `sent.cookie`, `status`. */
	RTE_COMCH_EVENT_SENT,
	/** The peer has a new consumer: `conn`, `consumer`. */
	RTE_COMCH_EVENT_CONSUMER_NEW,
	/** A consumer of the peer has retired: `conn`, `consumer`. */
	RTE_COMCH_EVENT_CONSUMER_GONE,
	/** An asynchronous rte_comch_consumer_mr_add() is done: `status`. */
	RTE_COMCH_EVENT_MR_ADDED,
};

/** Name of an event type, for messages. */
const char *rte_comch_event_name(enum rte_comch_event_type type);

/** What kind of object an event belongs to. */
enum rte_comch_obj_type {
	RTE_COMCH_OBJ_SERVER,
	RTE_COMCH_OBJ_CLIENT,
	RTE_COMCH_OBJ_CONN,
	RTE_COMCH_OBJ_PRODUCER,
	RTE_COMCH_OBJ_CONSUMER,
};

/**
 * One event. All pointers are good until the next rte_comch_poll_run() of
 * the same poll.
 */
struct rte_comch_event {
	enum rte_comch_event_type type;
	enum rte_comch_obj_type obj_type; /**< Which of the pointers `obj` is. */
	union {
		void *ptr;
		struct rte_comch_server *server;
		struct rte_comch_client *client;
		struct rte_comch_conn *conn;
		struct rte_comch_producer *producer;
		struct rte_comch_consumer *consumer;
	} obj;                        /**< The object that the event belongs to. */
	struct rte_comch_conn *conn;  /**< Its connection, if it has one. */
	uint64_t user_data;           /**< Of obj. */
	int32_t status;               /**< 0 or a negative errno. */
	union {
		struct {
			enum rte_comch_state prev;
			enum rte_comch_state next;
		} state;
		struct {
			const void *data;
			uint32_t len;
		} msg;
		struct {
			uint64_t cookie;
		} sent;
		struct {
			uint32_t id;       /**< Give it to rte_comch_producer_send_burst(). */
			uint32_t imm_size; /**< Immediate data that it takes, bytes. */
			uint32_t depth;    /**< Buffers that it posts at most. */
		} consumer;
		struct {
			struct rte_comch_mr *mr;
		} mr;
	};
	const char *text;             /**< A reason in words, or NULL. */
};

/** @} */

/** Version of this header, as in VERSION. */
#define RTE_COMCH_VERSION_STRING "0.1.0"

/** Version of the library in use. */
const char *rte_comch_version(void);

/** Write all open devices and live objects to a file, for people. */
void rte_comch_dump(FILE *f);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_H */
