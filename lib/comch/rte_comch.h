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
 * A *device* is one end of a host/DPU pair and has a role. A device of the host is one PCI
 * function (a PF, VF or SF). A device of the DPU has *representors*, one for each host function it
 * serves. A *server* is created on the DPU, on a device and a representor, with a name. A *client*
 * is created on the host and connects to a name on its function; clients of other functions cannot
 * reach that server. A *connection* joins the two:
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
 * Control messages are small, reliable and ordered (this file). The fast path (rte_comch_dp.h,
 * rte_comch_mbuf.h) moves messages of up to 1 GiB from a *producer* directly into a buffer that a
 * *consumer* has posted. Both ends of a connection may have many of each.
 *
 * Objects and their states
 * ------------------------
 *
 * create -> IDLE -> start -> STARTING -> RUNNING -> stop -> STOPPING -> IDLE ->
 * destroy. Start and stop return 0 when the change is complete (no event follows),
 * -EINPROGRESS when an RTE_COMCH_EVENT_STATE event will report it, or an error, which
 * leaves the state unchanged.
 *
 * Nothing happens in the background: there are no callbacks, and no threads but a few that receive
 * and close the descriptors of peers. An object belongs to a *poll* (rte_comch_poll.h). Its state,
 * messages and connections advance only during rte_comch_poll_run() of that poll, which returns
 * what happened as a burst of events.
 *
 * Order of calls
 * --------------
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
 * A poll, with its servers, clients and connections, belongs to one thread at a time (EAL lcore or
 * plain pthread). Another thread may take over after anything that orders memory, such as a lock
 * or a join. Functions marked "any thread" are the exception. Device functions may be called by
 * any thread and are meant for set-up.
 *
 * Errors
 * ------
 *
 * Functions return 0 or a negative errno. Those that create objects return NULL and set rte_errno.
 * Bursts return how many they accepted: a short count always means "later, offer the rest again",
 * never an error. The first function that detects an error writes one log line with the object and
 * the reason (log type lib.comch or pmd.comch.shm).
 *
 * | value        | meaning                                              |
 * |--------------|------------------------------------------------------|
 * | -EINVAL      | invalid argument                                     |
 * | -EBADFD      | the object is in the wrong state                     |
 * | -ENOTSUP     | not supported by this role, device or driver         |
 * | -EAGAIN      | not now; try again after rte_comch_poll_run()        |
 * | -EBUSY       | the object is in use                                 |
 * | -EADDRINUSE  | the server name is in use                            |
 * | -ENOENT      | unknown name or id                                   |
 * | -EMSGSIZE    | too long                                             |
 * | -ECONNRESET  | the connection was lost                              |
 * | -ECONNREFUSED| the server refused the connection                    |
 * | -ECANCELED   | canceled by a stop or a disconnect                   |
 * | -EPROTO      | protocol violation by the peer; the connection ends  |
 * | -ETIMEDOUT   | the peer did not answer in time                      |
 * | -EHOSTUNREACH| no route to the peer's address                       |
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_compat.h>

#include <rte_comch_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Size of a server name, with its NUL. */
#define RTE_COMCH_NAME_SIZE 120
/** Size of the reason for refusing or ending a connection, with its NUL. */
#define RTE_COMCH_REASON_SIZE 128
/** Size of immediate data that every driver supports, in bytes. */
#define RTE_COMCH_IMM_SIZE 32

struct rte_comch_server;
struct rte_comch_client;
struct rte_comch_conn;
struct rte_comch_poll;
struct rte_comch_producer;
struct rte_comch_consumer;
struct rte_comch_mr;

/** States of a server, client, producer or consumer. */
enum rte_comch_state {
	RTE_COMCH_STATE_IDLE,
	RTE_COMCH_STATE_STARTING,
	RTE_COMCH_STATE_RUNNING,
	RTE_COMCH_STATE_STOPPING,
};

/** Name of a state, for messages: "IDLE", "STARTING", "RUNNING", "STOPPING" or "?". */
const char *rte_comch_state_name(enum rte_comch_state state);

/** @name Servers
 * @{
 */

/** Connections are pending until rte_comch_conn_accept() or rte_comch_conn_reject(). */
#define RTE_COMCH_SERVER_F_MANUAL_ACCEPT (UINT32_C(1) << 0)
/**
 * Refuse clients with another message size, with a reason; else the smaller one is used. (DOCA
 * Comch guide 2.10, "Optional Configurations": the sizes must match.)
 */
#define RTE_COMCH_SERVER_F_EXACT         (UINT32_C(1) << 1)
/**
 * Preserve the order of sending across clients: messages of all clients of all servers of one poll
 * with this flag are received in the order they were sent. If one client's send returned before
 * another's began, its message event comes first, however the second client learned of the first.
 * Clients timestamp each send with the TSC; a client with false timestamps gets ahead by at most
 * two of its receive queues. Concurrent messages come in any order, and other events as without
 * the flag. A client's messages may be late if it does not run its poll, and after it registers
 * memory or opens a queue.
 *
 * The cost is a check of each such connection in each run, and a copy and a few tens of
 * nanoseconds per message. Other servers are not affected. Clients older than wire version 1.1 are
 * refused. The device must have RTE_COMCH_CAPA_ORDERED.
 */
#define RTE_COMCH_SERVER_F_ORDERED       (UINT32_C(1) << 2)
/**
 * Connections without a fast path: neither side can create producers or consumers. A
 * peer that tries violates the protocol.
 */
#define RTE_COMCH_SERVER_F_CTRL_ONLY     (UINT32_C(1) << 3)
/**
 * A message counts as delivered when rte_comch_conn_msgs_done() is called, not when its event is
 * returned. For applications that take events at any time and keep messages for later. The peer
 * never has more than recv_queue messages that are not done.
 */
#define RTE_COMCH_SERVER_F_MANUAL_CREDIT (UINT32_C(1) << 4)

/** For rte_comch_server_conf.reserve. */
#define RTE_COMCH_RESERVE_NONE UINT32_MAX

/** Configuration of a server. Zero means default. */
struct rte_comch_server_conf {
	size_t conf_size;             /**< sizeof(struct rte_comch_server_conf) */
	struct rte_comch_poll *poll;  /**< Poll that advances it. */
	const char *name;             /**< Unique per device and representor; copied. */
	uint16_t rep;                 /**< Number of the representor. */
	uint32_t flags;               /**< RTE_COMCH_SERVER_F_* */
	uint32_t max_msg_size;        /**< Bytes; default 4080 (or the device's limit). */
	uint32_t recv_queue;          /**< Messages per connection; default 64. */
	uint32_t send_queue;          /**< Messages per connection; default 64. */
	uint32_t max_clients;         /**< Default: the device's limit. */
	uint64_t user_data;           /**< Returned in each event of the server. */
	/**
	 * Of max_clients, the last ones: for processes without a connection to the server,
	 * and half of them for users without one. Default: none, and of the default
	 * max_clients a sixteenth, unless RTE_COMCH_RESERVE_NONE. Without effect over RDMA,
	 * where processes are unknown.
	 */
	uint32_t reserve;
};

/**
 * Create a server, on the DPU.
 *
 * Reference: DOCA Comch guide 2.10, "doca_comch_server Initialization Flow".
 *
 * @return
 *   The server in IDLE, or NULL with rte_errno:
 *   - EINVAL: no conf, poll or name; name empty or longer than RTE_COMCH_NAME_SIZE with
 *     its NUL; a size or depth over the device's limit; reserve not below max_clients;
 *     unknown flag.
 *   - ENODEV: unknown device.
 *   - ENOENT: unknown representor.
 *   - ENOTSUP: a device of the host.
 *   - ENOMEM.
 */
struct rte_comch_server *rte_comch_server_create(int16_t dev_id,
		const struct rte_comch_server_conf *conf);

/**
 * Start listening. RUNNING on return.
 *
 * If clients can no longer find the server because its socket was removed (shared memory), it
 * stops by itself. A STATE event reports STOPPING with status -ENOENT and the reason in its text,
 * its connections end, including those with producers and consumers, and another STATE event
 * reports IDLE. The server can then be started again.
 *
 * @return
 *   - 0: done.
 *   - -EINVAL: NULL.
 *   - -EBADFD: not IDLE.
 *   - -EADDRINUSE: a server of that name is RUNNING on this representor, in this or
 *     another process.
 *   - -ENOTSUP: RTE_COMCH_SERVER_F_ORDERED, and the device lacks
 *     RTE_COMCH_CAPA_ORDERED.
 *   - other: from the driver, such as EMFILE or EACCES.
 */
int rte_comch_server_start(struct rte_comch_server *server);

/**
 * Stop listening and disconnect all clients.
 *
 * @return
 *   - 0: done, IDLE (no clients were connected).
 *   - -EINPROGRESS: STOPPING; a DISCONNECTED event per connection and a STATE event
 *     follow.
 *   - -EBUSY: a connection has producers or consumers; nothing has changed.
 *   - -EBADFD: not RUNNING.
 *   - -EINVAL: NULL.
 */
int rte_comch_server_stop(struct rte_comch_server *server);

/**
 * Destroy a server. Its memory is freed by the next rte_comch_poll_run() of its poll,
 * so that events already returned stay valid.
 *
 * @return
 *   0, -EINVAL (NULL), -EBUSY (not IDLE).
 */
int rte_comch_server_destroy(struct rte_comch_server *server);

/** State of a server, always up to date. NULL: IDLE. Any thread. */
enum rte_comch_state rte_comch_server_state(const struct rte_comch_server *server);

/** Number of connections that are established or pending. */
uint32_t rte_comch_server_nb_conns(const struct rte_comch_server *server);

/** Number of connections that wait for rte_comch_conn_accept(). */
uint32_t rte_comch_server_nb_pending(const struct rte_comch_server *server);

/** @} */
/** @name Clients
 * @{
 */

/** As RTE_COMCH_SERVER_F_CTRL_ONLY, for the client's connection. */
#define RTE_COMCH_CLIENT_F_CTRL_ONLY     (UINT32_C(1) << 0)
/** As RTE_COMCH_SERVER_F_MANUAL_CREDIT, for the client's connection. */
#define RTE_COMCH_CLIENT_F_MANUAL_CREDIT (UINT32_C(1) << 1)

/** Configuration of a client. Zero means default. */
struct rte_comch_client_conf {
	size_t conf_size;            /**< sizeof(struct rte_comch_client_conf) */
	struct rte_comch_poll *poll; /**< Poll that advances it. */
	const char *name;            /**< The server's name; copied. */
	uint32_t max_msg_size;       /**< Bytes; default 4080 (or the device's limit). */
	uint32_t recv_queue;         /**< Messages; default 64. */
	uint32_t send_queue;         /**< Messages; default 64. */
	/**
	 * How long to retry while there is no server of that name, ms. 0: fail at
	 * once. A server that is found has 10 s to answer.
	 */
	uint32_t connect_timeout_ms;
	uint64_t user_data;          /**< Returned in each event of the client. */
	uint32_t flags;              /**< RTE_COMCH_CLIENT_F_* */
};

/**
 * Create a client, on the host.
 *
 * Reference: DOCA Comch guide 2.10, "doca_comch_client Initialization Flow".
 *
 * @return
 *   The client in IDLE, or NULL with rte_errno as for rte_comch_server_create():
 *   EINVAL, ENODEV, ENOTSUP (a device of the DPU), ENOMEM.
 */
struct rte_comch_client *rte_comch_client_create(int16_t dev_id,
		const struct rte_comch_client_conf *conf);

/**
 * Start to connect. A STATE event reports the result: RUNNING (after a CONNECTED
 * event), or IDLE with the reason in status and text: -ENOENT (no server of that name),
 * -ECONNREFUSED (rejected), -EACCES, -ETIMEDOUT, -ECONNRESET, -EPROTO, -EMFILE or -ENOMEM (this
 * process is out of descriptors or memory). RDMA only: -EHOSTUNREACH (no route to the peer's
 * address), -ENODEV (device removed, or not on the route), -EIO (the device failed).
 *
 * @return
 *   -EINPROGRESS, never 0; -EINVAL (NULL), -EBADFD (not IDLE), -ENOMEM.
 */
int rte_comch_client_start(struct rte_comch_client *client);

/**
 * Disconnect, or stop connecting.
 *
 * @return
 *   - -EINPROGRESS: STOPPING; a DISCONNECTED event (if there was a connection) and a
 *     STATE event follow.
 *   - -EBUSY: the connection has producers or consumers; nothing has changed.
 *   - -EBADFD: IDLE or STOPPING.
 *   - -EINVAL: NULL.
 */
int rte_comch_client_stop(struct rte_comch_client *client);

/** Destroy a client. As rte_comch_server_destroy(). */
int rte_comch_client_destroy(struct rte_comch_client *client);

/** State of a client, always up to date. NULL: IDLE. Any thread. */
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

/** Properties of a connection. Sizes are those agreed with the peer. */
struct rte_comch_conn_info {
	uint32_t id;                    /**< Unique in this process. */
	int16_t dev_id;
	uint16_t rep;
	bool established;
	char name[RTE_COMCH_NAME_SIZE]; /**< The server's name. */
	uint32_t max_msg_size;          /**< Bytes, both directions; 0 until agreed. */
	uint32_t send_credits;          /**< Messages that the peer queues; 0 until agreed. */
	uint32_t recv_queue;            /**< Messages queued from the peer. */
	int32_t peer_pid;               /**< From the kernel; -1: unknown. */
	int32_t peer_uid;               /**< From the kernel; -1: unknown. */
	int32_t peer_gid;               /**< From the kernel; -1: unknown. */
	char reason[RTE_COMCH_REASON_SIZE]; /**< Why it ended; empty before. */
	bool ctrl_only;                 /**< No fast path: one side disabled it. */
};

/** Any thread. @return 0, -EINVAL. */
int rte_comch_conn_info_get(const struct rte_comch_conn *conn,
		struct rte_comch_conn_info *info);

/**
 * Accept a connection offered by a CONNECT_REQUEST event
 * (RTE_COMCH_SERVER_F_MANUAL_ACCEPT). A CONNECTED event follows.
 *
 * @return
 *   0, -EINVAL, -EBADFD (not pending), -ECONNRESET (the client has given up).
 */
int rte_comch_conn_accept(struct rte_comch_conn *conn);

/**
 * Refuse a connection offered by a CONNECT_REQUEST event. The pointer is valid until
 * the next rte_comch_poll_run(); no event follows.
 *
 * @param conn
 *   The connection.
 * @param reason
 *   Sentence for the client, truncated to RTE_COMCH_REASON_SIZE; may be NULL.
 * @return
 *   0, -EINVAL, -EBADFD (not pending).
 */
int rte_comch_conn_reject(struct rte_comch_conn *conn, const char *reason);

/**
 * Close a connection. The peer first receives all messages sent before, and has up to a second to
 * accept those that are not silent. Until then their SENT events and further messages of the peer
 * still arrive. For a client's connection use rte_comch_client_stop().
 *
 * Reference: DOCA Comch guide 2.10, "Disconnecting Specific Connection".
 *
 * @param conn
 *   The connection.
 * @param reason
 *   Sentence for the peer and both logs; may be NULL.
 * @return
 *   - -EINPROGRESS: a DISCONNECTED event follows; the connection is valid until the run
 *     after that event.
 *   - -EBUSY: producers or consumers of the connection exist on this side.
 *   - -ENOTSUP: a client's connection.
 *   - -EBADFD: not established.
 *   - -EINVAL: NULL.
 */
int rte_comch_conn_disconnect(struct rte_comch_conn *conn, const char *reason);

/**
 * End a connection at once, as if its link had failed, so that error paths can be tested. Messages
 * that are under way may be lost. Either end; producers and consumers may exist. Any thread.
 *
 * @return
 *   0: DISCONNECTED with -ECONNRESET follows at both ends, if it is established; -EINVAL: NULL;
 *   -EBADFD: in a forked child.
 */
int rte_comch_conn_abort(struct rte_comch_conn *conn);

/** Set the connection's user data. Any thread. */
void rte_comch_conn_user_data_set(struct rte_comch_conn *conn, uint64_t user_data);

/** The connection's user data; 0 at first. Any thread. */
uint64_t rte_comch_conn_user_data_get(const struct rte_comch_conn *conn);

/** The server of a connection; NULL on a client. Any thread. */
struct rte_comch_server *rte_comch_conn_server(const struct rte_comch_conn *conn);

/** The client of a connection; NULL on a server. Any thread. */
struct rte_comch_client *rte_comch_conn_client(const struct rte_comch_conn *conn);

/** No SENT event if the message is delivered; disconnects do not wait for its delivery. */
#define RTE_COMCH_MSG_F_SILENT (UINT32_C(1) << 0)
/** No SENT event if the message is delivered; disconnects wait for its delivery, as for others. */
#define RTE_COMCH_MSG_F_NO_SENT (UINT32_C(1) << 1)

/** A control message to send. */
struct rte_comch_msg {
	const void *data; /**< Copied during the call. */
	uint32_t len;     /**< Bytes, 0 to the connection's max_msg_size. */
	uint32_t flags;   /**< RTE_COMCH_MSG_F_* */
	uint64_t cookie;  /**< Returned in the SENT event. */
};

/**
 * Send control messages. They arrive whole, once and in order.
 *
 * A SENT event per message reports that the peer's application received it (status 0), that it was
 * not sent (-EMSGSIZE: too long; -EBADFD: not established; -EINVAL), or that its delivery is
 * unknown (-ECONNRESET).
 *
 * Reference: DOCA Comch guide 2.10, "Control Channel Send Task".
 *
 * @param conn
 *   The connection.
 * @param msgs
 *   The messages. Data and array may be reused on return.
 * @param n
 *   Number of messages.
 * @return
 *   Number of messages accepted. If it is less than *n*, the peer's queue, the own
 *   queue or the driver's ring (which has room for at least three of the longest
 *   messages on shared memory) is full, or the connection is about to end. Run the poll
 *   and offer the rest again.
 */
uint16_t rte_comch_conn_send_burst(struct rte_comch_conn *conn,
		const struct rte_comch_msg *msgs, uint16_t n);

/**
 * Release the oldest received messages, on a connection with RTE_COMCH_SERVER_F_MANUAL_CREDIT or
 * RTE_COMCH_CLIENT_F_MANUAL_CREDIT. This frees their places in the receive queue, and the peer
 * gets their SENT events. The peer is notified with the next frame, or when the poll is run or
 * armed next, so call this before arming.
 *
 * When the peer closes the connection, it waits up to a second for messages that are
 * not done here.
 *
 * @param conn
 *   The connection.
 * @param n
 *   Number of messages.
 * @return
 *   - 0: done. Also after the connection has ended, while the pointer is valid; it then
 *     has no effect.
 *   - -EINVAL: NULL, a connection without the flag, or *n* exceeds the messages
 *     received and not done.
 *   - -EBADFD: in a forked child.
 */
int rte_comch_conn_msgs_done(struct rte_comch_conn *conn, uint32_t n);

/** @} */
/** @name Events
 * @{
 */

/** Type of an event. */
enum rte_comch_event_type {
	/** The state of a server, client, producer or consumer has changed, other
	 * than within a start or stop: `state`, `status`, `text`.
	 */
	RTE_COMCH_EVENT_STATE,
	/** A client requests a connection (manual accept): `conn`. */
	RTE_COMCH_EVENT_CONNECT_REQUEST,
	/** A connection is established: `conn`. */
	RTE_COMCH_EVENT_CONNECTED,
	/** A connection has ended: `conn`, `status`, `text`. The last event of a
	 * connection, after all that the peer sent.
	 */
	RTE_COMCH_EVENT_DISCONNECTED,
	/** A control message was received: `conn`, `msg`. */
	RTE_COMCH_EVENT_MSG,
	/** A control message was delivered or failed: `conn`, `sent.cookie`, `status`. */
	RTE_COMCH_EVENT_SENT,
	/** The peer has a new consumer: `conn`, `consumer`. */
	RTE_COMCH_EVENT_CONSUMER_NEW,
	/** A consumer of the peer is gone: `conn`, `consumer`. */
	RTE_COMCH_EVENT_CONSUMER_GONE,
	/** An asynchronous rte_comch_consumer_mr_add() is done: `status`. */
	RTE_COMCH_EVENT_MR_ADDED,
};

/** Name of an event type, for messages. */
const char *rte_comch_event_name(enum rte_comch_event_type type);

/** Type of an event's object. */
enum rte_comch_obj_type {
	RTE_COMCH_OBJ_SERVER,
	RTE_COMCH_OBJ_CLIENT,
	RTE_COMCH_OBJ_CONN,
	RTE_COMCH_OBJ_PRODUCER,
	RTE_COMCH_OBJ_CONSUMER,
};

/** Of RTE_COMCH_EVENT_STATE. */
struct rte_comch_event_state { enum rte_comch_state prev, next; };

/** Of RTE_COMCH_EVENT_MSG. */
struct rte_comch_event_msg {
	const void *data;
	uint32_t len;
};

/** Of RTE_COMCH_EVENT_SENT. */
struct rte_comch_event_sent { uint64_t cookie; };

/** Of RTE_COMCH_EVENT_CONSUMER_NEW and _GONE. */
struct rte_comch_event_consumer {
	uint32_t id;       /**< For rte_comch_producer_send_burst(). */
	uint32_t imm_size; /**< Longest immediate data, bytes. */
	uint32_t depth;    /**< Maximum posted buffers. */
};

/** Of RTE_COMCH_EVENT_MR_ADDED. */
struct rte_comch_event_mr { struct rte_comch_mr *mr; };

/**
 * One event. All pointers are valid until the next rte_comch_poll_run() of the same
 * poll.
 */
struct rte_comch_event {
	enum rte_comch_event_type type;
	enum rte_comch_obj_type obj_type; /**< Type of `obj`. */
	union {
		void *ptr;
		struct rte_comch_server *server;
		struct rte_comch_client *client;
		struct rte_comch_conn *conn;
		struct rte_comch_producer *producer;
		struct rte_comch_consumer *consumer;
	} obj;                        /**< The object that the event belongs to. */
	struct rte_comch_conn *conn;  /**< Its connection, if it has one. */
	uint64_t user_data;           /**< User data of obj. */
	int32_t status;               /**< 0 or a negative errno. */
	union {
		struct rte_comch_event_state state;
		struct rte_comch_event_msg msg;
		struct rte_comch_event_sent sent;
		struct rte_comch_event_consumer consumer;
		struct rte_comch_event_mr mr;
	};
	const char *text;             /**< Reason as text, or NULL. */
};

/** @} */

/** Version of this header. */
#define RTE_COMCH_VERSION_STRING "0.2.0"

/** Version of the library in use. */
const char *rte_comch_version(void);

/** Write all open devices and objects to a file, for humans. */
void rte_comch_dump(FILE *f);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_H */
